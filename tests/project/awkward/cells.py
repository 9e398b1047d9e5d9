"""Contents of cells: numbers, dates, missing values, codes."""

from tests.project.awkward.case import case


def column(cells, delimiter=";", rows=2):
    """Write a table with one awkward column."""
    lines = [delimiter.join(["k", "v", "y"])]
    lines += [delimiter.join([str(k), cell, "uv"[k % 2]]) for k, cell in enumerate(cells * rows)]
    return "\n".join(lines) + "\n"


def read(values, rows=2):
    values = list(values) * rows
    return {
        "k": list(range(len(values))),
        "v": values,
        "y": ["uv"[k % 2] for k in range(len(values))],
    }


def cells(name, awkward, spelled, values, notes=(), delimiter=";", **more):
    return case(name, awkward, column(spelled, delimiter), read(values), notes=notes, **more)


NUMBERS = ["3.5", "4.25", "5.125", "17", "0.5", "9.75", "2.5", "8.5", "7.25", "6.5"] * 6
VALUES = [float(cell) for cell in NUMBERS]


def odd(name, awkward, cell, value=None, notes=(), **more):
    """Put one odd cell into a column of numbers."""
    return case(
        name,
        awkward,
        column([*NUMBERS[:-1], cell], rows=1),
        read([*VALUES[:-1], value], rows=1),
        notes=notes,
        **more,
    )


MIXED = ["low", "high", "mid", "high"]

CASES = [
    case(
        "stars",
        "stars of significance behind most numbers",
        "b,y\n1.5*,u\n2.5,v\n3.5***,u\n4.5**,v\n",
        {"b": [1.5, 2.5, 3.5, 4.5], "y": ["u", "v", "u", "v"]},
        notes="marks after numbers",
    ),
    case(
        "days-of-east-asia",
        "days as 2024年3月5日",
        "d,y\n1970年1月2日,u\n1970年1月3日,v\n1970年02月01日,u\n1970年1月12日,v\n",
        {"d": [1, 2, 31, 11], "y": ["u", "v", "u", "v"]},
        notes="holds dates",
    ),
    cells(
        "german",
        "decimal commas and points for thousands",
        ["1.234,5", "12,25", "3,5", "7.000.000"],
        [1234.5, 12.25, 3.5, 7e6],
        "thousands separators",
    ),
    cells(
        "english",
        "commas for thousands",
        ["1,234.5", "12.25", "3.5", "7,000,000"],
        [1234.5, 12.25, 3.5, 7e6],
        "thousands separators",
    ),
    cells(
        "french",
        "no-break blanks for thousands",
        ["1\xa0234,5", "12,25", "3,5", "7\xa0000\xa0000"],
        [1234.5, 12.25, 3.5, 7e6],
    ),
    cells(
        "french-narrow",
        "narrow blanks",
        ["1\u202f234,5", "12,25", "3,5", "7\u202f000\u202f000"],
        [1234.5, 12.25, 3.5, 7e6],
    ),
    cells(
        "french-thin",
        "thin blanks",
        ["1\u2009234,5", "12,25", "3,5", "7\u2009000\u2009000"],
        [1234.5, 12.25, 3.5, 7e6],
    ),
    cells(
        "swiss",
        "apostrophes for thousands",
        ["1'234.5", "12.25", "3.5", "7'000'000"],
        [1234.5, 12.25, 3.5, 7e6],
    ),
    cells(
        "swiss-typographic",
        "typographic apostrophes",
        ["1’234.5", "12.25", "3.5", "7’000’000"],
        [1234.5, 12.25, 3.5, 7e6],
    ),
    cells(
        "quoted-english",
        "quoted numbers with commas",
        ['"1,234.5"', "12.25", "3.5", '"7,000"'],
        [1234.5, 12.25, 3.5, 7e3],
        delimiter=",",
    ),
    cells(
        "per-cent",
        "signs of per cent",
        ["4.5%", "12%", "0.25%", "100%"],
        [4.5, 12, 0.25, 100],
        "per cent",
    ),
    cells(
        "per-cent-blank",
        "a blank before it",
        ["4,5 %", "12 %", "0,25 %", "100 %"],
        [4.5, 12, 0.25, 100],
        "per cent",
    ),
    cells(
        "dollars",
        "dollars before",
        ["$1,234.50", "$3", "$0.5", "$17"],
        [1234.5, 3, 0.5, 17],
        r"in \$",
    ),
    cells(
        "euros",
        "euros behind",
        ["12,50 €", "3 €", "1.234,75 €", "7 €"],
        [12.5, 3, 1234.75, 7],
        "in €",
    ),
    cells("pounds", "pounds", ["£12.50", "£3", "£1,234", "£7"], [12.5, 3, 1234, 7], "in £"),
    cells(
        "codes-before",
        "codes of currencies",
        ["USD 12.5", "USD 3", "USD 1,234", "USD 7"],
        [12.5, 3, 1234, 7],
        "in USD",
    ),
    cells(
        "codes-behind",
        "codes behind",
        ["12.5 EUR", "3 EUR", "1,234 EUR", "7 EUR"],
        [12.5, 3, 1234, 7],
        "in EUR",
    ),
    cells(
        "two-currencies",
        "two currencies",
        ["$12.5", "€3.5", "$7.5", "€9.5"],
        ["$12.5", "€3.5", "$7.5", "€9.5"],
    ),
    cells(
        "brackets",
        "negative in brackets",
        ["(1,234)", "12", "(3.5)", "7"],
        [-1234, 12, -3.5, 7],
        "another notation",
    ),
    cells(
        "dollars-brackets",
        "negative amounts",
        ["($1,234.50)", "$3", "-$0.5", "$17"],
        [-1234.5, 3, -0.5, 17],
    ),
    cells("minus-behind", "a minus behind", ["12.5-", "3.5", "7-", "9"], [-12.5, 3.5, -7, 9]),
    cells(
        "minus-typographic", "a typographic minus", ["−12.5", "3.5", "−7", "9"], [-12.5, 3.5, -7, 9]
    ),
    cells("plus", "plus signs", ["+12.5", "+3", "-7", "9"], [12.5, 3, -7, 9]),
    cells(
        "fortran",
        "Fortran's exponents",
        ["1.2D+01", "3.5D-02", "7.0D+00", "-1.5d1"],
        [12, 0.035, 7, -15],
    ),
    cells("exponents", "exponents", ["1e3", "2.5E-2", "-1E+2", "7"], [1000, 0.025, -100, 7]),
    cells(
        "bare-points",
        "no digit before or after the point",
        [".5", "3.", "-.25", "7"],
        [0.5, 3, -0.25, 7],
    ),
    cells(
        "blanks-around", "no-break blanks around", ["\xa05.5", " 3 ", "7\xa0", "9"], [5.5, 3, 7, 9]
    ),
    cells(
        "measured",
        "a unit in every cell",
        ["12 kg", "7.5 kg", "80 kg", "0.5kg"],
        [12, 7.5, 80, 0.5],
        "in kg",
    ),
    cells(
        "booleans",
        "truth values",
        ["TRUE", "FALSE", "FALSE", "TRUE"],
        ["TRUE", "FALSE", "FALSE", "TRUE"],
    ),
    # missing values
    *(
        cells(
            f"missing-{name}",
            f"{word!r} for a missing value",
            ["3.5", word, "7", "9.5"],
            [3.5, None, 7, 9.5],
        )
        for name, word in [
            ("na", "NA"),
            ("dotted", "n.a."),
            ("slash", "N/A"),
            ("null", "NULL"),
            ("minus", "-"),
            ("question", "?"),
            ("point", "."),
            ("nan", "NaN"),
            ("sql", r"\N"),
            ("word", "missing"),
            ("excel", "#N/A"),
            ("division", "#DIV/0!"),
            ("value", "#VALUE!"),
            ("below", "<0.5"),
            ("below-lod", "< LOD"),
            ("stata", ".a"),
            ("nd", "n.d."),
            ("unknown", "unknown"),
            ("none", "None"),
            ("minuses", "---"),
            ("star", "*"),
            ("dash", "–"),
            ("angle", "<NA>"),
            ("not-available", "not available"),
        ]
    ),
    cells(
        "missing-words",
        "missing values in a text column",
        ["red", "N/A", "blue", "n.a."],
        ["red", None, "blue", None],
    ),
    cells(
        "missing-errors",
        "Excel's errors among words",
        ["red", "#REF!", "blue", "red"],
        ["red", None, "blue", "red"],
    ),
    cells(
        "missing-told",
        "a given spelling of missing values",
        ["3.5", "-999", "7", "9.5"],
        [3.5, None, 7, 9.5],
        given={"missing": ("-999",)},
    ),
    cells(
        "missing-told-words",
        "a given spelling in a text column",
        ["red", "leer", "blue", "red"],
        ["red", None, "blue", "red"],
        given={"missing": ("leer",)},
    ),
    # nearly numbers
    odd(
        "inf",
        "an infinite value",
        "inf",
        notes="column v: 1 cell is not a number .* 'inf'; .* line 61",
    ),
    odd("minus-inf", "a negative infinite value", "-Infinity", notes="'-Infinity'"),
    odd("too-large", "a number too large", "1e999", notes="'1e999'"),
    odd(
        "stray-word", "one word", "see note", notes="column v: 1 cell is not a number .* 'see note'"
    ),
    odd("stray-remark", "one remark", "not measured", notes="'not measured'"),
    odd("censored", "a limit of detection", "<0.01", notes="'<0.01'"),
    odd("stray-german", "one word in German", "keine Angabe", notes="keine Angabe"),
    case(
        "stray-many",
        "a word in three of sixty",
        column([*NUMBERS[:-3], *["broken"] * 3], rows=1),
        read([*VALUES[:-3], *[None] * 3], rows=1),
        notes=r"3 cells are not numbers .* 'broken' \(3\)",
    ),
    case(
        "remarks-many",
        "remarks in every third",
        column(["1.5", "2.5", "n.d."], rows=9),
        read([1.5, 2.5, None], rows=9),
        notes=r"'n.d.' \(9\)",
    ),
    # what stays text
    cells(
        "codes-letters",
        "codes, most of them digits",
        ["250", "401", "V45", "276"],
        ["250", "401", "V45", "276"],
    ),
    cells("levels-plus", "counts and more", ["0", "1", "2", "3+"], ["0", "1", "2", "3+"]),
    case(
        "chromosomes",
        "names of chromosomes",
        column([*map(str, range(1, 23)), "X"], rows=3),
        read([*map(str, range(1, 23)), "X"], rows=3),
    ),
    cells(
        "ranges",
        "ranges",
        ["10-20", "20-30", "30-40", "10-20"],
        ["10-20", "20-30", "30-40", "10-20"],
    ),
    cells(
        "zip",
        "codes with leading zeros",
        ["01234", "98765", "00501", "10001"],
        ["01234", "98765", "00501", "10001"],
        "leading zeros and is read as text",
    ),
    cells(
        "long-codes",
        "numbers longer than doubles",
        ["12345678901234567", "12345678901234568"] * 2,
        ["12345678901234567", "12345678901234568"] * 2,
    ),
    cells("words", "levels", MIXED, MIXED),
    cells(
        "phones",
        "telephones",
        ["+41 31 555", "+41 44 123", "+49 30 99", "+1 212 5"],
        ["+41 31 555", "+41 44 123", "+49 30 99", "+1 212 5"],
    ),
    cells(
        "pressure",
        "two numbers in a cell",
        ["120/80", "135/90", "110/70", "140/95"],
        ["120/80", "135/90", "110/70", "140/95"],
    ),
    cells(
        "versions",
        "versions",
        ["1.2.3", "1.10.0", "2.0.1", "1.2.4"],
        ["1.2.3", "1.10.0", "2.0.1", "1.2.4"],
    ),
    case(
        "number-told",
        "a text column that is declared to be numbers",
        column(["1", "2", "3+", "1"]),
        read([1, 2, None, 1]),
        roles={"v": "number"},
        notes="'3\\+'",
    ),
    # dates
    cells(
        "iso",
        "days",
        ["2020-01-31", "2020-02-29", "1969-12-31", "2020-12-01"],
        [18292, 18321, -1, 18597],
        "dates",
    ),
    cells(
        "iso-times",
        "days and times",
        ["2020-01-31T12:00:00", "2020-02-01 06:00", "2020-02-02 00:00:00", ""],
        [18292.5, 18293.25, 18294, None],
        "dates",
    ),
    cells(
        "iso-zones",
        "times with zones",
        ["2020-01-31T12:00:00Z", "2020-01-31T12:00:00+06:00"] * 2,
        [18292.5, 18292.25] * 2,
        "dates",
    ),
    cells(
        "points",
        "day, month, year with points",
        ["31.01.2020", "29.02.2020", "1.12.2020", "02.03.2020"],
        [18292, 18321, 18597, 18323],
        "day, month, year",
    ),
    cells(
        "american",
        "month, day, year",
        ["01/31/2020", "02/29/2020", "12/01/2020", "3/2/2020"],
        [18292, 18321, 18597, 18323],
        "month, day, year",
    ),
    cells(
        "british",
        "day, month, year with strokes",
        ["31/01/2020", "29/02/2020", "01/12/2020", "2/3/2020"],
        [18292, 18321, 18597, 18323],
        "day, month, year",
    ),
    cells(
        "ambiguous",
        "ambiguous days and months",
        ["01/02/2020", "03/04/2020", "05/06/2020", "02/02/2020"],
        [18263, 18325, 18388, 18294],
        "the other way round",
    ),
    cells(
        "short-years",
        "years of two digits",
        ["31.01.20", "29.02.20", "01.12.99", "2.3.20"],
        [18292, 18321, 10926, 18323],
    ),
    cells(
        "month-names",
        "names of months",
        ["31-Jan-2020", "29 Feb 2020", "1 December 2020", "02-MAR-2020"],
        [18292, 18321, 18597, 18323],
    ),
    cells(
        "quarters",
        "quarters, which are their first days",
        ["Q1 2020", "Q2 2020", "Q4 2019", "Q3 2020"],
        [18262, 18353, 18170, 18444],
    ),
    cells(
        "weeks",
        "weeks of ISO 8601, which are their Mondays",
        ["2020-W01", "2020-W53", "2021-W01", "2020-W02"],
        [18260, 18624, 18631, 18267],
    ),
    cells(
        "american-names",
        "names of months first",
        ["Jan 31, 2020", "February 29, 2020", "Dec 1, 2020", "Mar 2, 2020"],
        [18292, 18321, 18597, 18323],
        delimiter=";",
    ),
    cells(
        "digits",
        "days without marks",
        ["20200131", "20200229", "20201201", "20200302"],
        [18292, 18321, 18597, 18323],
        "dates",
    ),
    cells(
        "months",
        "years and months",
        ["2020-01", "2020-02", "2020-12", "2020-03"],
        [18262, 18293, 18597, 18322],
        "dates",
    ),
    cells(
        "clock",
        "times of day",
        ["12:30", "06:15", "23:45", "00:00"],
        [12.5, 6.25, 23.75, 0],
        "times of day",
    ),
    cells(
        "afternoon",
        "times in halves of the day",
        ["12:30 PM", "06:15 AM", "11:45 pm", "12:00 am"],
        [12.5, 6.25, 23.75, 0],
    ),
    case(
        "no-day",
        "a day that is none",
        column(["2020-01-31", "2020-02-28"] * 10 + ["2021-02-30"], rows=1),
        read([18292, 18320] * 10 + [None], rows=1),
        notes="'2021-02-30'",
    ),
    cells(
        "sas-times",
        "days and times as SAS prints them",
        ["31JAN2020:12:00:00", "29FEB2020:00:00:00", "01DEC2020:06:00:00", "02MAR2020:00:00:00"],
        [18292.5, 18321, 18597.25, 18323],
    ),
    cells("days-hungarian", "days as in Hungary", ["2024.01.02.", "2024.12.31."], [19724, 20088]),
    cells("basis-points", "basis points", ["118bps", "20bps"], [118, 20], "is in bps"),
    cells("thousands", "k for thousands", ["118k", "20k"], [118, 20], "is in k"),
    case(
        "accounts",
        "accounts of more digits than a number has",
        "acct;y\n" + "".join(f"{10**17 + 7 * k};{'uv'[k % 2]}\n" for k in range(8)),
        {"acct": [str(10**17 + 7 * k) for k in range(8)], "y": ["uv"[k % 2] for k in range(8)]},
        notes="acct looks like an identifier",
    ),
    case(
        "serials",
        "days as spreadsheets count them",
        "admit_date;y\n44000;u\n44003;v\n44001;u\n44012;v\n",
        {"admit_date": [44000, 44003, 44001, 44012], "y": ["u", "v", "u", "v"]},
        notes="days since 1899-12-30",
    ),
    case(
        "stamps",
        "seconds of computers",
        "time;y\n1580000000;u\n1580000500;v\n1580086400;u\n1580001111;v\n",
        {"time": [1580000000, 1580000500, 1580086400, 1580001111], "y": ["u", "v", "u", "v"]},
        notes="seconds since 1970-01-01",
    ),
]
