"""What comes from ordinary work: registries, devices, offices, consoles and colleagues."""

from tests.project.awkward.case import X, Y, case
from tests.project.awkward.cells import cells, column

ABC = {"a": [1, 2, 3, 4], "b": [2.5, 3.5, 4.5, 5.5], "y": Y}
ROWS = "1,2.5,u\n2,3.5,v\n3,4.5,u\n4,5.5,v\n"
AGES = [31 + (7 * k) % 37 for k in range(40)]
DAY = 19728  # 2024-01-06


def few_words(name, awkward, words, values=(), **more):
    """Put a few words among whole numbers that are measured."""
    spelled = [*words, *map(str, AGES[len(words) :])]
    known = [*([None] * len(words)), *map(float, AGES[len(words) :])]
    content = {"k": list(range(40)), "v": known, "y": ["uv"[k % 2] for k in range(40)]}
    return case(name, awkward, column(spelled, rows=1), content, **more)


CELLS = [
    cells("hours-french", "times as 14h30", ["14h30", "8h05"], [14.5, 8 + 5 / 60], "times of day"),
    cells(
        "days-korean", "days as in Korea", ["2024. 1. 6.", "2024. 1. 16."], [DAY, DAY + 10], "dates"
    ),
    cells("days-czech", "days as in Bohemia", ["6. 1. 2024", "16. 1. 2024"], [DAY, DAY + 10]),
    cells(
        "stamps-db2",
        "times as DB2 writes them",
        ["2024-01-06-12.00.00.000000", "2024-01-06-18.00.00.000000"],
        [DAY + 0.5, DAY + 0.75],
    ),
    cells(
        "stamps-oracle",
        "times as Oracle writes them",
        ["06-JAN-24 12.00.00.000000000 PM", "06-JAN-24 06.00.00.000000000 PM"],
        [DAY + 0.5, DAY + 0.75],
    ),
    cells(
        "named-zones",
        "times with the name of a zone behind them",
        ["Jan 6, 2024 12:00:00 PM PST", "Jan 6, 2024 6:00:00 PM PST"],
        [DAY + 0.5, DAY + 0.75],
        "names of time zones, as in 'Jan 6, 2024 12:00:00 PM PST', are ignored",
    ),
    cells("middle-dot", "the decimal mark of a journal", ["1·5", "22·25"], [1.5, 22.25]),
    cells("undefined", "what MATLAB writes", ["a", "<undefined>", "b"], ["a", None, "b"]),
    few_words("one-word", "a word among few whole numbers", ["QNS"], notes="'QNS'"),
    few_words("two-words", "two words among few whole numbers", ["NSP", "NR"], notes="'NR', 'NSP'"),
    few_words("letter-for-digit", "a letter for a digit", ["4O"], notes="'4O'"),
    case(
        "thousands-beside-a-remark",
        "a remark in the only column that shows which mark is the decimal one",
        "n;p;y\n"
        + "".join(f"{k + 12}.104;{k},{k + 25};{'uv'[k % 2]}\n" for k in range(19))
        + "38.395;s.d.;v\n",
        {
            "n": [*(1000 * k + 12104 for k in range(19)), 38395],
            "p": [*(float(f"{k}.{k + 25}") for k in range(19)), None],
            "y": Y * 5,
        },
        notes="'s.d.'",
    ),
    case(
        "hours-with-points",
        "hours and minutes with a point, where decimals have a comma",
        "Uhrzeit;x;y\n"
        + "".join(f"{k % 24:02d}.{k + 10};{k},5;{'uv'[k % 2]}\n" for k in range(40)),
        {
            "Uhrzeit": [float(f"{k % 24}.{k + 10}") for k in range(40)],
            "x": [k + 0.5 for k in range(40)],
            "y": ["uv"[k % 2] for k in range(40)],
        },
        notes="column Uhrzeit: '00.10' is read as a number; write times with a colon",
    ),
    case(
        "words-before-amounts",
        "words before amounts of money",
        "p;y\n" + "from €5;u\nfrom €7;v\nfrom €5;u\nfrom €9;v\n",
        {"p": ["from €5", "from €7", "from €5", "from €9"], "y": Y},
        notes="column p is read as text, because some values are not plain numbers",
    ),
    case(
        "delimiters-at-the-end",
        "a last line of tabs alone",
        "a\tb\ty\n" + ROWS.replace(",", "\t") + "\t\t\n",
        ABC,
    ),
    case(
        "partial-days",
        "days of which only a part is known",
        "d;y\n"
        + "".join(f"2024-01-{k + 6:02d};{'uv'[k % 2]}\n" for k in range(20))
        + "UN-FEB-2024;u\n2024;v\n2024-UN-UN;u\n",
        {
            "d": [*(DAY + k for k in range(20)), None, None, None],
            "y": [*("uv"[k % 2] for k in range(20)), "u", "v", "u"],
        },
        notes="column d: 3 cells are not numbers",
    ),
    case(
        "versions",
        "numbers of versions, of which two would be one number",
        "v;y\n" + "1.2;u\n1.20;v\n1.9;u\n1.10;v\n" * 4,
        {"v": [1.2, 1.2, 1.9, 1.1] * 4, "y": Y * 4},
        notes="column v: '1.2' and '1.20' are read as the same number",
    ),
    case(
        "turkish-capitals",
        "a capital whose small letter is two characters elsewhere",
        "Müşteri;Şehir;y\nA;İstanbul;u\nB;Ankara;v\nA;Çanakkale;u\nB;İzmir;v\n",
        {
            "Müşteri": ["A", "B", "A", "B"],
            "Şehir": ["İstanbul", "Ankara", "Çanakkale", "İzmir"],
            "y": Y,
        },
        encoding="cp1254",
    ),
    case(
        "lone-tildes",
        "tildes with blanks around them: a column that is ignored",
        "x ~ y\n" + "".join(f"{x} ~ {y}\n" for x, y in zip(X, Y, strict=True)),
        {"x": X, "~": ["~"] * 4, "y": Y},
        notes="column ~ has the same value in all rows and is ignored",
    ),
    case(
        "classes-in-spellings",
        "two classes in several spellings, beside a column of two numbers",
        "a,b,event\n" + "0,1.5,No\n1,2.5,Yes\n0,3.5,no \n1,4.5,YES\n" * 3,
        {
            "a": [0, 1, 0, 1] * 3,
            "b": X * 3,
            "event": ["No", "Yes", "no", "YES"] * 3,
        },
        label="event",
    ),
    case(
        "remarks-last",
        "two remarks in a last column that is blank otherwise",
        "x,y,comments\n" + "1.5,u,\n2.5,v,\n" * 15 + "3.5,u,again\n4.5,v,probe cleaned\n",
        {
            "x": [*[1.5, 2.5] * 15, 3.5, 4.5],
            "y": ["u", "v"] * 16,
            "comments": [*[None] * 30, "again", "probe cleaned"],
        },
        label="y",
    ),
    case(
        "footnotes-and-thousands",
        "thousands that only a number with a footnote shows to be such",
        "n\tm\ty\n1,234,567[3]\t5,123\tu\n765,432\t6,234\tv\n565,432\t7,345\tu\n465,432\t8,456\tv\n",
        {"n": [1234567, 765432, 565432, 465432], "m": [5123, 6234, 7345, 8456], "y": Y},
    ),
    case(
        "degrees",
        "more degrees than letters of a western language",
        "Gerät;t;y\n" + "".join(f"G{k % 2};{k + 20},5 °C;{'uv'[k % 2]}\n" for k in range(12)),
        {
            "Gerät": [f"G{k % 2}" for k in range(12)],
            "t": [k + 20.5 for k in range(12)],
            "y": ["uv"[k % 2] for k in range(12)],
        },
        encoding="cp1252",
        notes="is in °C",
    ),
]

LINES = [
    case(
        "made-when",
        "a title as wide as the table that says when it was made",
        "Glucose,Generated on 1,01-02-2023 10:00 UTC\na,b,y\n" + ROWS,
        ABC,
    ),
    case(
        "names-anew",
        "a row about the whole, with names of its own, above the table",
        "Name,Sport,Date\nJo Doe,RUNNING,05-03-2023\na,b,y\n" + ROWS,
        ABC,
    ),
    case(
        "end-of-header",
        "an instrument says where its words end",
        "Writer\t2\nDate\t2023/03/05\n***End_of_Header***\t\nChannels\t2\t\nSamples\t5\t5\n"
        "***End_of_Header***\t\t\na\tb\ty\n" + ROWS.replace(",", "\t"),
        ABC,
    ),
    case(
        "subtotals-before",
        "subtotals that begin with the word",
        "who,n,y\n"
        + "".join(f"C{k},{k + 1},u\nC{k},{k + 2},v\nTotal - C{k},{2 * k + 3},\n" for k in range(4)),
        {
            "who": [f"C{k // 2}" for k in range(8)],
            "n": [k // 2 + 1 + k % 2 for k in range(8)],
            "y": Y * 2,
        },
        rejected=(4, 7, 10, 13),
    ),
    case(
        "expanded",
        "each row as lines, as psql prints it",
        "".join(f"-[ RECORD {k + 1} ]-\nx | {x}\ny | {Y[k]}\n" for k, x in enumerate(X)),
        {"x": X, "y": Y},
    ),
    case(
        "selected",
        "the number of rows below, as DB2 prints it",
        "x          y\n---------- -\n"
        + "".join(f"{x:10} {y}\n" for x, y in zip(X, Y, strict=True))
        + "\n  4 record(s) selected.\n",
        {"x": X, "y": Y},
        rejected=(8,),
    ),
    case(
        "pages",
        "a report of several pages",
        "\f".join(
            f"ACME WORKS      PAGE {page:3}\n\nITEM        COST  OLD\n---------  -----  ---\n"
            + "".join(f"IT{page}{k} bolt  {k + 1:2}.25    {'NY'[k % 2]}\n" for k in range(6))
            for page in (1, 2, 3)
        )
        + "\n*** END OF REPORT ***\n",
        {
            "ITEM": [f"IT{page}{k} bolt" for page in (1, 2, 3) for k in range(6)],
            "COST": [k + 1.25 for _ in range(3) for k in range(6)],
            "OLD": ["NY"[k % 2] for k in range(18)],
        },
        rejected=(32,),
        notes="headers of later pages",
    ),
    case(
        "names-in-another-order",
        "joined files with different column orders",
        "a,b,y\n" + ROWS * 5 + "b,a,y\n" + "2.5,1,u\n" * 4,
        {
            "a": [*ABC["a"] * 5, None, *[2.5] * 4],
            "b": [*ABC["b"] * 5, None, *[1] * 4],
            "y": [*Y * 5, "y", *"uuuu"],
        },
        notes="line 22 repeats the column names in another order",
    ),
]

CASES = [*CELLS, *LINES]
