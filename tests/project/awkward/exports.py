"""What programs, offices and laboratories of many countries write."""

from tests.project.awkward.case import Y, case
from tests.project.awkward.cells import cells, odd

ABC = {"a": [1, 2, 3, 4], "b": [2.5, 3.5, 4.5, 5.5], "y": Y}
ROWS = "1,2.5,u\n2,3.5,v\n3,4.5,u\n4,5.5,v\n"
BOM = "\ufeff"
MONEY = [1234.5, 12.25, 3.5, 7e6]
POINTS = ["1.234,5", "12,25", "3,5", "7.000.000"]
COMMAS = ["1,234.5", "12.25", "3.5", "7,000,000"]
ARABIC = str.maketrans("0123456789.", "٠١٢٣٤٥٦٧٨٩٫")
WIDE = str.maketrans("0123456789.", "０１２３４５６７８９．")
MEASURED = ["27.1", "24.9", "23.5", "35.9", "29.9", "26.3", "22.7", "18.3", "31.5", "21.7"]


def money(name, awkward, written, numbers=POINTS, **more):
    return cells(name, awkward, [written.format(n) for n in numbers], MONEY, **more)


def marked(name, awkward, places, notes, **more):
    """Put marks behind some of the numbers of a column."""
    spelled = [c + places.get(k, "") for k, c in enumerate(MEASURED)]
    return cells(name, awkward, spelled, map(float, MEASURED), notes, **more)


CURRENCIES = [
    money("real", "Brazilian money", "R$ {}", notes="is in R\\$"),
    money("rouble", "Russian money", "{} руб.", notes="is in руб"),
    money("lira", "Turkish money", "{} TL"),
    money("dong", "Vietnamese money", "{}\u00a0₫"),
    money("won", "Korean money, the sign not apart", "{}원", COMMAS),
    money("yen-old", "yen in Shift-JIS, where a backslash is one", "\\{}", COMMAS),
    money("taiwan", "dollars of Taiwan", "NT${}", COMMAS),
    cells(
        "lakh",
        "groups of two digits, as in India",
        ["₹1,23,456.50", "₹5,50,055", "₹999.25", "₹1,00,00,000"],
        [123456.5, 550055, 999.25, 1e7],
    ),
    cells(
        "lakh-bare",
        "the same without a sign",
        ["1,23,456.50", "5,50,055", "999.25", "1,00,00,000"],
        [123456.5, 550055, 999.25, 1e7],
        notes="another notation: '1,23,456.50' is read as 123456.5",
    ),
    cells(
        "two-currencies",
        "money of two kinds is no number",
        ["$1.5", "€2.5", "$3.5", "€4.5"],
        ["$1.5", "€2.5", "$3.5", "€4.5"],
        "column v is read as text, because its numbers have several units, e.g. '\\$', '€'",
    ),
]
UNITS = [
    cells("count", "a word behind", ["3 rooms", "4 rooms", "2 rooms", "9 rooms"], [3, 4, 2, 9]),
    cells(
        "plural",
        "of one there is no plural",
        ["1 month", "24 months", "36 months", "1 month"],
        [1, 24, 36, 1],
        "is in months",
    ),
    cells(
        "square", "a raised figure of a unit", ["81 m²", "9 m²", "6.5 m²", "7 m²"], [81, 9, 6.5, 7]
    ),
    cells(
        "myriads", "a number word in a unit", ["60万円", "8万円", "79万円", "7万円"], [60, 8, 79, 7]
    ),
    cells(
        "plus-behind",
        "text after numbers is reported",
        ["1,000+", "500+", "10+", "50+"],
        ["1,000+", "500+", "10+", "50+"],
        "some values are not plain numbers, e.g. '1,000\\+'",
    ),
    cells(
        "dash-minus",
        "a dash for a minus",
        ["–0.25", "0.5", "–1.5", "2.5"],
        [-0.25, 0.5, -1.5, 2.5],
        "'–0.25' is read as -0.25",
    ),
    cells(
        "month-day",
        "a month and a day without a year",
        ["Jan 15", "Feb 02", "Mar 30", "Dec 24"],
        ["Jan 15", "Feb 02", "Mar 30", "Dec 24"],
    ),
    cells(
        "month-or-year",
        "a month and a year, or a day",
        ["Jan-15", "Feb-02", "Mar-30", "Dec-24"],
        [16436, 11719, 21974, 20058],
        "the part read as year could be the day",
    ),
    cells("age-cjk", "a character behind", ["35歳", "7歳", "64歳", "21歳"], [35, 7, 64, 21]),
    cells(
        "several-units",
        "different units are reported",
        ["12 mg", "0.5 g", "30 mg", "1 g"],
        ["12 mg", "0.5 g", "30 mg", "1 g"],
        "several units, e.g. 'mg', 'g'",
    ),
    cells(
        "thousands-letter",
        "K and M for thousands and millions",
        ["1.2K", "3M", "450K", "2M"],
        ["1.2K", "3M", "450K", "2M"],
        "several units, e.g. 'K', 'M'",
    ),
]
VARIOUS = [
    cells(
        "two-decimals",
        "decimal points and commas in one column",
        ["1.5", "2,5", "3.5", "4,5"],
        ["1.5", "2,5", "3.5", "4,5"],
        "column v is read as text, because its cells have several formats, e.g. '1.5' and",
    ),
    cells(
        "two-days",
        "days in two ways in one column",
        ["2021-01-31", "31.01.2021", "2021-02-01", "03.02.2021"],
        [18658.0, 18658.0, 18659.0, 18661.0],
        "some have the year first, such as '2021-01-31'",
    ),
    cells(
        "no-day-at-all",
        "a day of noughts for none",
        ["2021-01-31", "0000-00-00", "2021-02-01", "2021-02-03"],
        [18658, None, 18659, 18661],
        "'0000-00-00'",
    ),
]
SCRIPTS = [
    cells("wide", "full-width digits", [c.translate(WIDE) for c in MEASURED], map(float, MEASURED)),
    cells("arabic", "Arabic digits", [c.translate(ARABIC) for c in MEASURED], map(float, MEASURED)),
]
MARKS = [
    marked("stars", "stars of significance", {1: "***", 4: "*"}, "'24.9\\*\\*\\*' is 24.9"),
    marked(
        "footnotes",
        "marks of footnotes",
        {2: "[3]", 5: "†"},
        "which are ignored: '23.5\\[3\\]' is 23.5",
    ),
    marked("raised", "raised figures", {0: "¹", 7: "²"}, "'27.1¹' is 27.1"),
    marked("flags", "high and low of a laboratory", {3: " H", 7: " L"}, "'35.9 H' is 35.9"),
    marked("offices", "flags of an office of statistics", {1: " b", 2: " p"}, "'24.9 b' is 24.9"),
    cells(
        "sizes",
        "letters behind most numbers belong to them",
        ["36 H", "38 L", "40 H", "42 L"],
        ["36 H", "38 L", "40 H", "42 L"],
    ),
    odd("eurostat-gap", "a colon for a missing value", ":", notes="':'"),
    odd("infinity-sign", "a sign of infinity", "∞", notes="'∞'"),
    odd("circa", "a number that is about right", "ca. 7", notes="'ca. 7'"),
    case(
        "suppressed",
        "one word in many cells among whole numbers",
        "v;y\n" + "".join(f"{'x' if k % 9 == 0 else 3 * k};{'uv'[k % 2]}\n" for k in range(90)),
        {
            "v": [None if k % 9 == 0 else 3 * k for k in range(90)],
            "y": ["uv"[k % 2] for k in range(90)],
        },
        notes="10 cells are not numbers and count as missing: 'x' \\(10\\)",
    ),
    cells(
        "powers",
        "codes that look like powers of ten are reported",
        ["1E2", "3E4", "2E1", "1E3"],
        [100, 30000, 20, 1000],
        "read as powers of ten: '1E2' is 100",
    ),
]
NAMES = [
    case(
        "questions",
        "a survey repeats its questions, and its identifiers, below the names",
        'Q1,Q2,y\nHow old are you?,How tall?,Again?\n"{""Id"":""QID1""}","{""Id"":""QID2""}",'
        '"{""Id"":""QID3""}"\n' + ROWS,
        {"Q1": ABC["a"], "Q2": ABC["b"], "y": Y},
        label="y",
        notes="line 2 describes the columns and is not a row: Q1 How old are you\\?",
    ),
    case(
        "described",
        "words on each column below its name",
        "a,b,y\nAge at entry,Body mass index,Group\n" + ROWS,
        ABC,
        notes="line 2 describes the columns",
    ),
    case(
        "log-fields",
        "a server names its fields in a remark",
        "#Version: 1.0\n#Date: 2023-01-01\n#Fields: a b y\n" + ROWS.replace(",", " "),
        ABC,
    ),
    case(
        "logger",
        "a logger writes about itself, then names, units and ways of sampling",
        '"TOA5","CR1","CR1","1234","Table1"\n"a","b","y"\n"RN","Volts",""\n"","Avg","Smp"\n' + ROWS,
        ABC,
        notes="line 3 describes",
    ),
    case(
        "days-for-names",
        "days as names of columns",
        "id,2023-01-01,2023-01-02,y\na,1.5,2,u\nb,2.5,3,v\nc,3.5,4,u\nd,4.5,5,v\n",
        {
            "id": ["a", "b", "c", "d"],
            "2023-01-01": [1.5, 2.5, 3.5, 4.5],
            "2023-01-02": [2, 3, 4, 5],
            "y": Y,
        },
    ),
    case("ruled-cells", "a rule of as many cells", "a,b,y\n---,---,--\n" + ROWS, ABC),
    case(
        "two-marks",
        "the names have another delimiter than the rows",
        "a;b;y\n" + ROWS,
        ABC,
        notes="the names are separated by ';', the rows by ','",
    ),
    case(
        "marks-twice",
        "a byte-order mark twice",
        b"\xef\xbb\xbf\xef\xbb\xbfa,b,y\n" + ROWS.encode(),
        ABC,
    ),
    case(
        "joined-files",
        "files put together with their marks and names",
        b"\xef\xbb\xbfa,b,y\n1,2.5,u\n2,3.5,v\n\xef\xbb\xbfa,b,y\n3,4.5,u\n4,5.5,v\n",
        ABC,
        rejected=(4,),
        notes="the names of the columns again",
    ),
    case(
        "sure-name",
        "y is the label, not default",
        "default,b,y\nno,2.5,u\nno,3.5,v\nyes,4.5,u\nno,5.5,v\n",
        {"default": ["no", "no", "yes", "no"], "b": ABC["b"], "y": Y},
        label="y",
    ),
]
LINES = [
    case(
        "quoted-lines",
        "a spreadsheet put each line into quotation marks",
        '"a,w,y"\n"1,""p, q"",u"\n"2,""r"",v"\n"3,s,u"\n',
        {"a": [1, 2, 3], "w": ["p, q", "r", "s"], "y": ["u", "v", "u"]},
        notes="each whole line was in quotation marks",
    ),
    case(
        "boxed",
        "a table in a box of characters",
        "+---+-----+---+\n| a | b   | y |\n+---+-----+---+\n| 1 | 2.5 | u |\n| 2 | 3.5 | v |\n"
        "| 3 | 4.5 | u |\n| 4 | 5.5 | v |\n+---+-----+---+\n4 rows in set (0.01 sec)\n",
        ABC,
        rejected=(9,),
    ),
    case(
        "guarded",
        "codes guarded against Excel",
        'zip;y\n="00123";u\n="00456";v\n="01200";u\n="00123";v\n',
        {"zip": ["00123", "00456", "01200", "00123"], "y": Y},
        notes="cells were written as",
    ),
    case(
        "guarded-quoted",
        "the same where all cells are quoted",
        '"zip","y"\n"=""00123""","u"\n"=""00456""","v"\n"=""01200""","u"\n"=""00123""","v"\n',
        {"zip": ["00123", "00456", "01200", "00123"], "y": Y},
    ),
    case(
        "protected",
        "a backslash before a delimiter is reported",
        "a\tw\tv\ty\n1\tp\\\tq\tu\n2\tr\ts\tv\n3\tp\tq\tu\n4\tr\ts\tv\n",
        {"a": [1, 2, 3, 4], "w": ["p\\", "r", "p", "r"], "v": ["q", "s"] * 2, "y": Y},
        notes="cells end in a backslash",
    ),
    case(
        "mark-never-closed",
        "a quotation mark that is never closed is reported",
        'a,w,y\n1,p,u\n2,"q,v\n3,p,u\n4,q,v\n',
        {"a": [1, 2, 3, 4], "w": ["p", '"q', "p", "q"], "y": Y},
        notes="1 row has quotation marks that are never closed .*, the first in line 3",
    ),
    case("padded-end", "NUL bytes at the end", b"a,b,y\n" + ROWS.encode() + b"\0" * 300, ABC),
    case(
        "control-mark",
        "a control character between cells",
        "a\x01b\x01y\n" + ROWS.replace(",", "\x01"),
        ABC,
    ),
]
LETTERS = [
    case(
        "twice",
        "UTF-8 that was read as something else and written again",
        "a,w,y\n1,MÃ¼ller,u\n2,JÃ¤ger,v\n3,MÃ¼ller,u\n4,JÃ¤ger,v\n",
        {"a": [1, 2, 3, 4], "w": ["MÃ¼ller", "JÃ¤ger"] * 2, "y": Y},
        notes="encoded twice; 'MÃ¼ller' is read as 'Müller'",
    ),
    case(
        "euros",
        "more euros and blanks in numbers than letters in words",
        "Âge;Coût;y\n"
        + "".join(f"{20 + k};{k + 1}\u00a0500,25 €;{'uv'[k % 2]}\n" for k in range(8)),
        {
            "Âge": [20 + k for k in range(8)],
            "Coût": [1000 * k + 1500.25 for k in range(8)],
            "y": Y * 2,
        },
        encoding="cp1252",
        notes="read as cp1252",
    ),
    case(
        "euros-1999",
        "the euro's own byte in ISO 8859-15",
        "Prénom;Coût;y\nZoé;5,25 €;u\nNoël;6,5 €;v\nInès;7,75 €;u\nZoé;1,5 €;v\n",
        {"Prénom": ["Zoé", "Noël", "Inès", "Zoé"], "Coût": [5.25, 6.5, 7.75, 1.5], "y": Y},
        encoding="iso8859_15",
        notes="read as iso8859_15",
    ),
]  # fmt: skip

CASES = [*CURRENCIES, *UNITS, *VARIOUS, *SCRIPTS, *MARKS, *NAMES, *LINES, *LETTERS]
