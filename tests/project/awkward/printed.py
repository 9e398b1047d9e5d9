"""Tables of wikis, papers, databases and statistics programs, and remarks below tables."""

from tests.project.awkward.case import Y, case

ABC = {"a": [1, 2, 3, 4], "b": [2.5, 3.5, 4.5, 5.5], "y": Y}
LINES = [["1", "2.5", "u"], ["2", "3.5", "v"], ["3", "4.5", "u"], ["4", "5.5", "v"]]
ROWS = "".join(",".join(row) + "\n" for row in LINES)
WIKI = '{| class="wikitable sortable"\n|+ Results\n|-\n'
DAYS = [20089, 20150, 20206, 20427]  # 2025-01-01, 2025-03-03, 2025-04-28, 2025-12-05
SITES = {"site": ["A", "A", "B", "B"], "n": [3, 4, 5, 6], "m": [1.5, 2.5, 3.5, 4.5]}


def dates(name, awkward, days, delimiter=";"):
    lines = [delimiter.join([day, y]) for day, y in zip(days, Y, strict=True)]
    return case(
        name, awkward, "\n".join([f"day{delimiter}y", *lines]) + "\n", {"day": DAYS, "y": Y}
    )


MARKUP = [
    case(
        "wiki",
        "a table of a wiki, a row a line, a link and bold words in it",
        f"{WIKI}! a !! b !! y\n"
        + "".join(f"|-\n| {a} || '''{b}''' || [[page|{y}]]\n" for a, b, y in LINES)
        + "|}\nSee also, below.\n",
        ABC,
        notes="wiki markup",
    ),
    case(
        "wiki-cells",
        "a wiki table with one cell a line, and attributes before cells",
        "{|\n! scope=col | a\n! b\n! y\n"
        + "".join(f'|-\n| {a}\n| align="right" | {b}\n| {y}\n' for a, b, y in LINES)
        + "|}\n",
        ABC,
        notes="wiki markup",
    ),
    case(
        "jira",
        "bars that are doubled around names",
        "||a||b||y||\n" + "".join(f"|{'|'.join(row)}|\n" for row in LINES),
        ABC,
    ),
    case(
        "latex",
        "a table of LaTeX, with rules, a name in bold and a sign that is escaped",
        "\\begin{tabular}{rrl}\n\\toprule\n\\textbf{a} & b & y \\\\ \\midrule % names\n"
        + "".join(f"{a} & ${b}$ &\n {y}\\% \\\\\n" for a, b, y in LINES)
        + "\\bottomrule\n\\end{tabular}\n",
        ABC | {"y": [f"{y}%" for y in Y]},
        notes="written in LaTeX",
    ),
    case(
        "asciidoc",
        "a table of AsciiDoc",
        ".Results\n|===\n|a |b |y\n\n"
        + "".join(f"|{a} |{b} | {y}\n" for a, b, y in LINES)
        + "|===\n",
        ABC,
        notes="written in AsciiDoc",
    ),
    case(
        "keyed",
        "a row is a paragraph, a cell a line with its name; one is missing",
        "\n".join(f"a: {a}\nb: {b if k else ''}\ny: {y}\n" for k, (a, b, y) in enumerate(LINES)),
        ABC | {"b": [None, 3.5, 4.5, 5.5]},
        notes="each row was written as lines of names and values",
    ),
    case(
        "keyed-stars",
        "the same as databases print it",
        "".join(
            f"******** {k}. row ********\n  a: {a}\n  b: {b}\n  y: {y}\n"
            for k, (a, b, y) in enumerate(LINES)
        ),
        ABC,
    ),
    case(
        "keyed-none",
        "times and words with colons are no names",
        "a,y\n" + "".join(f"at 10:{k}0: x{k},{y}\n" for k, (_, _, y) in enumerate(LINES)),
        {"a": [f"at 10:{k}0: x{k}" for k in range(4)], "y": Y},
    ),
    case(
        "rst",
        "a simple table between rulers",
        "===  ===  =\na    b    y\n===  ===  =\n"
        + "".join("    ".join(row[:1]) + "    " + "  ".join(row[1:]) + "\n" for row in LINES)
        + "===  ===  =\n",
        ABC,
    ),
    case(
        "matrix",
        "a matrix, as Matlab shows it",
        "X =\n\n"
        + "".join(f"   {a}.0000   {b}000   {k % 2}\n" for k, (a, b, _) in enumerate(LINES)),
        {"c1": ABC["a"], "c2": ABC["b"], "c3": [0, 1, 0, 1]},
        notes="no header row",
    ),
]
BOXES = [
    case(
        "box",
        "a table of DuckDB: a box, and types below the names",
        "┌───────┬────────┬─────────┐\n│   a   │   b    │    y    │\n│ int64 │ double │ varchar │\n"
        "├───────┼────────┼─────────┤\n"
        + "".join(f"│ {a:>5} │ {b:>6} │ {y:7} │\n" for a, b, y in LINES)
        + "└───────┴────────┴─────────┘\n",
        ABC,
        notes=("the frame drawn", "line 3 holds units or types"),
    ),
    case(
        "frame",
        "a list of Stata: a frame, and row numbers on the left",
        "\n     +-------------+\n     | a    b   y  |\n     |-------------|\n"
        + "".join(f"{k:3}. | {a}  {b}   {y}  |\n" for k, (a, b, y) in enumerate(LINES, 1))
        + "     +-------------+\n",
        ABC,
        notes="the frame drawn",
    ),
    case(
        "box-polars",
        "what polars prints, its rows and columns above",
        "shape: (4, 3)\n┌─────┬─────┬─────┐\n│ a   ┆ b   ┆ y   │\n│ --- ┆ --- ┆ --- │\n"
        "│ i64 ┆ f64 ┆ str │\n╞═════╪═════╪═════╡\n"
        + "".join(f"│ {a:3} ┆ {b:3} ┆ {y:3} │\n" for a, b, y in LINES)
        + "└─────┴─────┴─────┘\n",
        ABC,
    ),
    case(
        "tibble",
        "what R prints of a tibble: types below names, and numbers of rows without one",
        "# A tibble: 4 x 3\n      a     b y    \n  <dbl> <dbl> <chr>\n"
        + "".join(f"{k}     {a}   {b} {y}    \n" for k, (a, b, y) in enumerate(LINES, 1)),
        {"row": [1, 2, 3, 4], **ABC},
        notes="line 3 holds units or types, not a row: a <dbl>, b <dbl>, y <chr>",
    ),
    case(
        "direction",
        "marks of direction around cells, as Windows copies days",
        "a,b,y\n" + "".join(f"\u200e{a}\u200f,\u200f{b},{y}\u200e\n" for a, b, y in LINES),
        ABC,
    ),
    case(
        "shorthand",
        "what is withheld, in the shorthand of an office",
        "a,b,y\n1,2.5,u\n2,[c],v\n3,4.5,u\n4,[low],v\n5,6.5,u\n6,7.5,v\n",
        {"a": [1, 2, 3, 4, 5, 6], "b": [2.5, None, 4.5, None, 6.5, 7.5], "y": ["u", "v"] * 3},
    ),
    case(
        "thai",
        "Thai in its Windows page",
        "อายุ,ผล\n20,บวก\n31,ลบ\n42,บวก\n53,ลบ\n",
        {"อายุ": [20, 31, 42, 53], "ผล": ["บวก", "ลบ"] * 2},
        encoding="cp874",
        notes="cp874",
    ),
]
QUOTES = [
    case(
        "smart",
        "typographic quotation marks around cells with commas, others in them",
        'w,b,y\n“p, q”,2.5,u\n“say "r", s”,3.5,v\nt,4.5,u\n“x, z”,5.5,v\n',
        {"w": ["p, q", 'say "r", s', "t", "x, z"], "b": ABC["b"], "y": Y},
        notes="typographic quotation marks",
    ),
    case(
        "smart-low",
        "the same as Germans write them",
        "w;b;y\n„p; q“;2,5;u\n„r; s“;3,5;v\n„t“;4,5;u\n„x“;5,5;v\n",
        {"w": ["p; q", "r; s", "t", "x"], "b": ABC["b"], "y": Y},
    ),
    case(
        "smart-french",
        "the same in French",
        "w;b;y\n«p; q»;2,5;u\n«r; s»;3,5;v\nt;4,5;u\nx;5,5;v\n",
        {"w": ["p; q", "r; s", "t", "x"], "b": ABC["b"], "y": Y},
    ),
    case(
        "smart-inside",
        "typographic marks in a cell are no delimiters of it",
        "w,b,y\nsay “p”,2.5,u\n“q” r,3.5,v\ns,4.5,u\nt,5.5,v\n",
        {"w": ["say “p”", "“q” r", "s", "t"], "b": ABC["b"], "y": Y},
    ),
    case(
        "doubled",
        "two bars between cells, four where one is empty",
        "a||b||y\n1||2.5||u\n2||||v\n3||4.5||u\n4||5.5||v\n",
        ABC | {"b": [2.5, None, 4.5, 5.5]},
        notes="delimiters are doubled",
    ),
    case(
        "doubled-not",
        "a column of nothing between two is no doubled comma",
        "a,,b\n1,,u\n2,,v\n3,,u\n4,,v\n",
        {"a": ABC["a"], "c2": [None] * 4, "b": Y},
    ),
]
BELOW = [
    case(
        "sums-of-sites",
        "sums of each site that have numbers in all columns",
        "site,n,m\nA,3,1.5\nA,4,2.5\nA Total,7,4.0\nB,5,3.5\nB,6,4.5\nB Total,11,8.0\n"
        "Grand Total,18,12.0\n",
        SITES,
        rejected=(4, 7, 8),
    ),
    case(
        "sums-of-sites-only",
        "the same without a sum of all",
        "site,n,m\nA,3,1.5\nA,4,2.5\nA Total,7,4.0\nB,5,3.5\nB,6,4.5\nB Total,11,8.0\n",
        SITES,
        rejected=(4, 7),
    ),
    case(
        "sum-none",
        "a name that ends so, of something that has no rows",
        "drink,n,m\nA,3,1.5\nVittel Total,4,2.5\nB,5,3.5\nEvian Total,6,4.5\n",
        {
            "drink": ["A", "Vittel Total", "B", "Evian Total"],
            "n": SITES["n"],
            "m": SITES["m"],
        },
    ),
    case(
        "counted",
        "a count of the rows below, in as many words as there are cells",
        "a b y\n1 2.5 u\n2 3.5 v\n3 4.5 u\n4 5.5 v\n\n4 rows selected.\n",
        ABC,
        rejected=(7,),
    ),
    case(
        "source",
        "a source below, with as many commas as rows have",
        "a,b,y\n" + ROWS + "Source: the office,,\n",
        ABC,
        rejected=(6,),
        notes="line 6 left out: a comment below the table",
    ),
    case(
        "remarks",
        "sentences below a row of nothing",
        "a,b,y\n"
        + ROWS
        + ",,\nAll figures are provisional,,\n* estimated,,\nSee the annex too,,\n",
        ABC,
        rejected=(7, 8, 9),
    ),
    case(
        "remarks-none",
        "a name of several words that has nothing else is a row",
        "a,b,y\nBo van der Li,2.5,u\nCy de la Ra,3.5,v\nDi zu der Au,4.5,u\nEd von der To,,\n",
        {
            "a": ["Bo van der Li", "Cy de la Ra", "Di zu der Au", "Ed von der To"],
            "b": [2.5, 3.5, 4.5, None],
            "y": ["u", "v", "u", None],
        },
    ),
    case(
        "groups",
        "names above others, and a last column that is in no group",
        ",Visit 1,Visit 2,\nid,dose,dose,y\n7,2.5,1.5,u\n8,3.5,2.5,v\n9,4.5,3.5,u\n5,5.5,4.5,v\n",
        {
            "id": [7, 8, 9, 5],
            "Visit 1 dose": ABC["b"],
            "Visit 2 dose": [1.5, 2.5, 3.5, 4.5],
            "y": Y,
        },
    ),
]
PLACES = [
    case(
        "long-names",
        "names of two words above columns of numbers",
        "A   BLOOD VALUE  Y\n" + "".join(f"{a}  {b:>12}  {y}\n" for a, b, y in LINES),
        {"A": ABC["a"], "BLOOD VALUE": ABC["b"], "Y": Y},
    ),
    case(
        "remarked-units",
        "names in a remark, and units in the next one",
        "# a,b,y\n# mg,cm,\n" + ROWS,
        ABC,
    ),
    case(
        "facts-above",
        "facts of fewer cells above names that could be types",
        "Account,Checking\nBalance,5\n\nDate,Amount,Category\n"
        + "".join(f"2025-01-{k:02d},{b},{y}\n" for k, (_, b, y) in enumerate(LINES, 1)),
        {"Date": [20089, 20090, 20091, 20092], "Amount": ABC["b"], "Category": Y},
    ),
    case(
        "months-or-days",
        "two digits after a month may be a year or a day",
        "m,y\nJan 20,u\nFeb 20,v\nMar 20,u\nApr 20,v\n",
        {"m": ["Jan 20", "Feb 20", "Mar 20", "Apr 20"], "y": Y},
        notes="may be a year or a day, e.g. 'Jan 20'",
    ),
]
MONTHS = [
    dates(
        "french", "days in French", ["1er janv. 2025", "3 mars 2025", "28 avr. 2025", "5 déc. 2025"]
    ),
    dates(
        "german",
        "days in German",
        ["1. Januar 2025", "3. März 2025", "28. Apr. 2025", "5. Dez. 2025"],
    ),
    dates(
        "spanish",
        "days in Spanish",
        [
            "1 de enero de 2025",
            "3 de marzo de 2025",
            "28 de abril de 2025",
            "5 de diciembre de 2025",
        ],
    ),
    dates("italian", "days in Italian", ["1-gen-25", "3-mar-25", "28-apr-25", "5-dic-25"]),
    dates(
        "russian",
        "days in Russian",
        ["1 января 2025", "3 марта 2025", "28 апр. 2025", "5 дек. 2025"],
    ),
]
CASES = [*MARKUP, *BOXES, *QUOTES, *BELOW, *PLACES, *MONTHS]
