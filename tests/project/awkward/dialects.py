"""Delimiters and quotation marks."""

from tests.project.awkward.case import X, Y, case, xy

XY = {"x": X, "y": Y}
ABC = {"a": [1, 2, 3, 4], "b": [2.5, 3.5, 4.5, 5.5], "y": Y}


def quoted(cells, header="x,w,y"):
    rows = [f"{k},{cell},{'uv'[k % 2]}" for k, cell in enumerate(cells)]
    return "\n".join([header, *rows]) + "\n"


def words(cells):
    return {"x": list(range(len(cells))), "w": cells, "y": ["uv"[k % 2] for k in range(len(cells))]}


CASES = [
    case("semicolon", "semicolons", xy(delimiter=";"), XY),
    case("tab", "tabs", xy(delimiter="\t"), XY),
    case("bar", "bars", xy(delimiter="|"), XY),
    case("tilde", "tildes, given", xy(delimiter="~"), XY, given={"delimiter": "~"}),
    case(
        "control",
        "a given control character",
        xy(delimiter="\x01"),
        XY,
        given={"delimiter": "\x01"},
    ),
    case(
        "unit-separator",
        "another given control character",
        xy(delimiter="\x1f"),
        XY,
        given={"delimiter": "\x1f"},
    ),
    case("caret", "given carets", xy(delimiter="^"), XY, given={"delimiter": "^"}),
    case("blank", "single blanks", xy(delimiter=" "), XY),
    case("blanks", "runs of blanks", "x     y\n1.5   u\n2.5   v\n 3.5  u\n  4.5 v\n", XY),
    case(
        "blanks-tabs",
        "tabs and blanks mixed",
        "a b y\n1 \t2.5 u\n2\t 3.5\tu\n3  4.5 v\n",
        {"a": [1, 2, 3], "b": [2.5, 3.5, 4.5], "y": ["u", "u", "v"]},
    ),
    case(
        "blanks-quoted",
        "blanks, and quoted cells with them",
        'x w y\n1 "a b" u\n2 "c d" v\n3 e u\n',
        {"x": [1, 2, 3], "w": ["a b", "c d", "e"], "y": ["u", "v", "u"]},
    ),
    case(
        "blanks-comma",
        "blanks and decimal commas",
        "x z y\n1,5 2,5 u\n2,5 3,5 v\n3,5 1,5 u\n",
        {"x": [1.5, 2.5, 3.5], "z": [2.5, 3.5, 1.5], "y": ["u", "v", "u"]},
    ),
    case(
        "fixed",
        "fixed width with missing values",
        "name      age  y\nAnna Bell  31  u\nBo             v\n"
        "Carl       52  u\nDora Egg   40  v\n",
        {"name": ["Anna Bell", "Bo", "Carl", "Dora Egg"], "age": [31, None, 52, 40], "y": Y},
    ),
    case(
        "fixed-blank-names",
        "fixed width, words in cells",
        "city         pop y\nNew York    8.5  u\nBern        0.1  v\n"
        "San Marino  0.03 u\nRome        2.8  v\n",
        {"city": ["New York", "Bern", "San Marino", "Rome"], "pop": [8.5, 0.1, 0.03, 2.8], "y": Y},
    ),
    case(
        "comma-in-tabs",
        "commas in cells, tabs between",
        "x\tw\ty\n1\ta, b\tu\n2\tc, d\tv\n3\te\tu\n",
        {"x": [1, 2, 3], "w": ["a, b", "c, d", "e"], "y": ["u", "v", "u"]},
    ),
    case(
        "semicolon-decimal",
        "semicolons and decimal commas",
        "a;b;y\n1;2,5;u\n2;3,5;v\n3;4,5;u\n4;5,5;v\n",
        ABC,
        notes="decimal comma",
    ),
    case(
        "ruled",
        "a query's answer, ruled",
        " a | b   | y\n---+-----+---\n 1 | 2.5 | u\n 2 | 3.5 | v\n"
        " 3 | 4.5 | u\n 4 | 5.5 | v\n(4 rows)\n",
        ABC,
        rejected=(7,),
    ),
    case(
        "markdown",
        "a table of Markdown",
        "| a | b | y |\n|---|---|---|\n| 1 | 2.5 | u |\n| 2 | 3.5 | v |\n"
        "| 3 | 4.5 | u |\n| 4 | 5.5 | v |\n",
        ABC,
    ),
    case("colon", "colons", "a:b:y\n1:2.5:u\n2:3.5:v\n3:4.5:u\n4:5.5:v\n", ABC),
    case(
        "single-quotes",
        "single quotes",
        "x,w,y\n1,'a, b','u'\n2,'c','v'\n3,'it''s','u'\n",
        {"x": [1, 2, 3], "w": ["a, b", "c", "it's"], "y": ["u", "v", "u"]},
    ),
    case(
        "quotes-doubled",
        "doubled marks",
        quoted(['"a ""b"" c"', "d", '"e, f"', "g"]),
        words(['a "b" c', "d", "e, f", "g"]),
    ),
    case(
        "quotes-escaped",
        "marks after backslashes",
        quoted([r'"a \"b\" c"', '"d"', r'"e, \"f\""', "g"]),
        words(['a "b" c', "d", 'e, "f"', "g"]),
    ),
    case(
        "quotes-inside",
        "inches inside cells",
        quoted(['5" pipe', '6" pipe', "7", 'a"b']),
        words(['5" pipe', '6" pipe', "7", 'a"b']),
    ),
    case(
        "quotes-stray",
        "marks inside a quoted cell",
        quoted(['"a "b" c"', '"d"', "e", "f"]),
        words(['a "b" c', "d", "e", "f"]),
    ),
    case(
        "quotes-open",
        "a mark is never closed",
        quoted(["a", '"b', "c", "d"]),
        words(["a", '"b', "c", "d"]),
    ),
    case(
        "quotes-open-quoted",
        "a mark is never closed, others are",
        quoted(['"a"', '"b', '"c"', '"d"']),
        words(["a", '"b', "c", "d"]),
    ),
    case(
        "quotes-open-last",
        "the last mark is never closed",
        quoted(["a", "b", "c", '"d']),
        words(["a", "b", "c", '"d']),
    ),
    case(
        "quotes-after",
        "words after a closing mark",
        quoted(['"a" x', "b", "c", "d"]),
        words(['"a" x', "b", "c", "d"]),
    ),
    case(
        "quotes-all",
        "every cell is quoted",
        '"x","y"\n"1.5","u"\n"2.5","v"\n"3.5","u"\n"4.5","v"\n',
        XY,
    ),
    case(
        "quotes-blanks",
        "blanks around quoted cells",
        'x,w,y\n1, "a, b" ,u\n2, "c" ,v\n3,d,u\n',
        {"x": [1, 2, 3], "w": ["a, b", "c", "d"], "y": ["u", "v", "u"]},
    ),
    case(
        "quotes-lines",
        "a cell of several lines",
        quoted(['"a\nb"', "c", '"d\n\ne"', "f"]),
        words(["a\nb", "c", "d\n\ne", "f"]),
    ),
    case(
        "apostrophes",
        "apostrophes in words",
        quoted(["it's", "o'clock", "'tis", "x"]),
        words(["it's", "o'clock", "'tis", "x"]),
    ),
    case(
        "no-quotes",
        "quotation marks are characters, as given",
        quoted(['"a', 'b"', '"c"', "d"]),
        words(['"a', 'b"', '"c"', "d"]),
        given={"quote": ""},
    ),
    case("crlf", "carriage returns", xy().replace("\n", "\r\n"), XY),
    case("cr", "old Macintosh", xy().replace("\n", "\r"), XY),
    case("mixed-ends", "mixed line ends", b"x,y\r\n1.5,u\n2.5,v\r3.5,u\r\n4.5,v\n", XY),
    case("no-last-end", "no line end at the end", xy().rstrip("\n"), XY),
    case(
        "blanks-after-commas", "blanks after commas", "x, y\n1.5, u\n2.5, v\n3.5, u\n4.5, v\n", XY
    ),
    case(
        "skip-told",
        "a given number of lines to skip",
        "1,2,3\n4,5,6\nx,y\n1.5,u\n2.5,v\n3.5,u\n4.5,v\n",
        XY,
        given={"skip": 2},
    ),
    case(
        "two-marks",
        "two marks cut all rows alike, one parts numbers from words",
        "a;b;c,x,y\nu;v;w,1.5,u\nw;u;v,2.5,v\nu;v;w,3.5,u\nw;u;v,4.5,v\n",
        {"a;b;c": ["u;v;w", "w;u;v"] * 2, "x": X, "y": Y},
    ),
    case(
        "long-row",
        "a row too long",
        "a,b,y\n1,2.5,u\n2,3.5,v,9\n3,4.5,u\n4,5.5,v\n",
        {"a": [1, 3, 4], "b": [2.5, 4.5, 5.5], "y": ["u", "u", "v"]},
        rejected=(3,),
        notes="line 3: 4 cells instead of 3",
    ),
    case(
        "short-row",
        "a row too short",
        "a,b,y\n1,2.5,u\n2\n3,4.5,u\n4,5.5,v\n",
        {"a": [1, 3, 4], "b": [2.5, 4.5, 5.5], "y": ["u", "u", "v"]},
        rejected=(3,),
        notes="line 3: 1 cell instead of 3",
    ),
]
