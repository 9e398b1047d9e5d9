"""What logs, consoles and instruments write, and headings that people put among rows."""

from tests.project.awkward.case import Y, case

A, B = [1, 2, 3, 4], [2.5, 3.5, 4.5, 5.5]
ABY = {"a": A, "b": B, "y": Y}
ROWS = [[str(a), str(b), y] for a, b, y in zip(A, B, Y, strict=True)]
PLAIN = "".join(",".join(row) + "\n" for row in ROWS)
NOON = 19692 + 0.5  # 2023-12-01 12:00

LABELLED = [
    case(
        "ltsv",
        "each cell has its name, and some names are missing",
        "host:h1\tstatus:200\tsize:5\nhost:h2\tstatus:500\nhost:h1\tstatus:200\tsize:7\n",
        {"host": ["h1", "h2", "h1"], "status": [200, 500, 200], "size": [5, None, 7]},
        notes="each cell contains its column name",
    ),
    case(
        "logfmt-stamped",
        "a moment before the pairs",
        "".join(f"2023-12-0{k}T12:00:00Z ok level=i{k % 2} took={k}.5\n" for k in range(1, 7)),
        {
            "c1": [NOON + k for k in range(6)],
            "c2": ["ok"] * 6,
            "level": [f"i{k % 2}" for k in range(1, 7)],
            "took": [k + 0.5 for k in range(1, 7)],
        },
    ),
    case(
        "logfmt",
        "pairs between blanks, with blanks in quoted values, and a line that is none",
        'ip=10.0.0.1 dev="FG 1" sent=5\nip=10.0.0.2 dev="FG 2" sent=7 took=0.5\n'
        'ip=10.0.0.3 dev="say \\"x\\"" sent=9\n' + "ip=10.0.0.4 dev=FG sent=8\n" * 3,
        {
            "ip": [f"10.0.0.{k}" for k in (1, 2, 3, 4, 4, 4)],
            "dev": ["FG 1", "FG 2", 'say "x"', "FG", "FG", "FG"],
            "sent": [5, 7, 9, 8, 8, 8],
            "took": [None, 0.5, None, None, None, None],
        },
    ),
    case(
        "python-records",
        "each line is a record as Python prints it",
        "{'a': 1, 'y': 'u'}\n{'a': None, 'y': 'v, w'}\n{'a': 3, 'y': 'u'}\n",
        {"a": [1, None, 3], "y": ["u", "v, w", "u"]},
    ),
    case(
        "web-log",
        "a time in square brackets, and delimiters in quotations alone",
        "".join(
            f'h{a} - [01/Dec/2023:12:00:00 +0000] "GET /{y} HTTP" {b} "Mozilla (X11; Linux)"\n'
            for a, b, y in zip(A, B, Y, strict=True)
        ),
        {
            "c1": ["h1", "h2", "h3", "h4"],
            "c2": [None] * 4,
            "c3": [NOON] * 4,
            "c4": [f"GET /{y} HTTP" for y in Y],
            "c5": B,
            "c6": ["Mozilla (X11; Linux)"] * 4,
        },
        notes="square brackets are read as quoted",
    ),
    case(
        "zeek",
        "names and types in remarks that begin with words",
        "#separator \\x09\n#open\tnow\n#fields\tts\tuid\tsent\n#types\ttime\tstring\tcount\n"
        "1.5\tCa\t3\n2.5\tCb\t-\n3.5\tCa\t5\n#close\tlater\n",
        {"ts": [1.5, 2.5, 3.5], "uid": ["Ca", "Cb", "Ca"], "sent": [3, None, 5]},
    ),
    case(
        "records-and-a-remark",
        "rows as paragraphs of names and values, and a remark that looks like a row",
        "".join(f"a: {a}\ny: {y}\n\n" for a, _, y in ROWS * 60) + "seen, by me\n\na: 9\ny: u\n",
        {"a": [*A * 60, 9], "y": [*Y * 60, "u"]},
        rejected=(721,),
    ),
    case(
        "blast",
        "names between commas in a remark, which comes again, and counts below it",
        "# BLASTN\n# Fields: query acc., % identity, evalue\n# 2 hits found\nq1\t98.5\t1e-5\n"
        "q1\t97.5\t2e-5\n# BLASTN\n# Fields: query acc., % identity, evalue\n# 2 hits found\n"
        "q2\t96.5\t3e-5\nq2\t95.5\t4e-5\n",
        {
            "query acc.": ["q1", "q1", "q2", "q2"],
            "% identity": [98.5, 97.5, 96.5, 95.5],
            "evalue": [1e-5, 2e-5, 3e-5, 4e-5],
        },
    ),
    case(
        "hmmer",
        "names of two words in a remark, a ruler below them",
        "# target name  E-value  score\n#------------ -------- ------\n"
        "seq1            1e-30   12.5\nseq2            2e-05    7.5\nseq3            3e-05    8.5\n"
        "#\n# [ok]\n",
        {
            "target name": ["seq1", "seq2", "seq3"],
            "E-value": [1e-30, 2e-5, 3e-5],
            "score": [12.5, 7.5, 8.5],
        },
    ),
    case(
        "ps",
        "the last cells hold blanks, and names are too few",
        "USER PID COMMAND\n" + "".join(f"root {k} /bin/p -x {k}.5\n" for k in range(4)),
        {
            "c1": ["root"] * 4,
            "c2": [0, 1, 2, 3],
            "c3": ["/bin/p"] * 4,
            "c4": ["-x"] * 4,
            "c5": [0.5, 1.5, 2.5, 3.5],
        },
        notes="line 1 may hold names, but it has 3 and most rows have 5 cells",
    ),
    case(
        "numbered-names",
        "the first name is what remarks begin with, and another one looks like a number",
        "#\tsample\t260/280\n" + "".join(f"{a}\t{y}\t{b}\n" for a, b, y in ROWS),
        {"#": A, "sample": Y, "260/280": B},
    ),
]

CONSOLES = [
    case(
        "folded-r",
        "R prints columns that do not fit below the others",
        "  age sex\n1 1.5   u\n2 2.5   v\n3 3.5   u\n"
        "  crp dead\n1   7 TRUE\n2   8 FALSE\n3   9 TRUE\n",
        {
            "row": [1, 2, 3],
            "age": [1.5, 2.5, 3.5],
            "sex": ["u", "v", "u"],
            "crp": [7, 8, 9],
            "dead": ["TRUE", "FALSE", "TRUE"],
        },
        notes="the columns were printed in several blocks below each other",
    ),
    case(
        "folded-pandas",
        "the same of pandas, with a stroke at the end and the count of rows",
        "   age sex  \\\n0  1.5   u   \n1  2.5   v   \n2  3.5   u   \n\n"
        "   crp  \n0    7  \n1    8  \n2    9  \n\n[3 rows x 3 columns]\n",
        {"row": [0, 1, 2], "age": [1.5, 2.5, 3.5], "sex": ["u", "v", "u"], "crp": [7, 8, 9]},
    ),
    case(
        "counted-by-pandas",
        "the count of rows is in square brackets",
        "   a    b  y\n0  1  2.5  u\n1  2  3.5  v\n2  3  4.5  u\n3  4  5.5  v\n"
        "\n[4 rows x 3 columns]\n",
        {"row": [0, 1, 2, 3], **ABY},
        rejected=(7,),
        notes="5 cells instead of 4",
    ),
    case(
        "strokes",
        "a ruler shows the columns, though numbers and words touch; with prompts and counts",
        "SQL> select * from t;\n\n        NO NAME       COMM\n---------- ---- ----------\n"
        "         1 u             5\n         2 v\n         3 u             7\n"
        "         4 v             9\n\n4 rows selected.\n\nSQL> spool off\n",
        {"NO": A, "NAME": Y, "COMM": [5, None, 7, 9]},
        rejected=(10, 12),
    ),
    case(
        "matlab",
        "lines below the names are drawn with underscores",
        "    a     b     y \n    _    ___    ____\n\n"
        + "".join(f"    {a}    {b}    {y}\n" for a, b, y in ROWS),
        ABY,
    ),
    case(
        "julia",
        "a bar separates row numbers from cells, and blanks separate cells",
        "4×3 DataFrame\n Row │ a      b         y\n     │ Int64  Float64?  String\n"
        "─────┼─────────────────────────\n"
        + "".join(f"{a:>4} │ {a:>5}  {b:>8}  {y}\n" for a, b, y in ROWS),
        {"Row": A, **ABY},
        notes="the frame drawn",
    ),
    case(
        "stata-command",
        "the command is above the frame",
        ". list a b y\n\n     +------------+\n     | a    b   y |\n     |------------|\n"
        + "".join(f"  {a}. | {a}  {b}   {y} |\n" for a, b, y in ROWS)
        + "     +------------+\n",
        ABY,
        notes="the frame drawn",
    ),
    case(
        "org",
        "rules between bars are no rows",
        "| a |   b | y |\n|---+-----+---|\n"
        + "".join(f"| {a} | {b} | {y} |\n" for a, b, y in ROWS[:2])
        + "|---+-----+---|\n"
        + "".join(f"| {a} | {b} | {y} |\n" for a, b, y in ROWS[2:]),
        ABY,
    ),
    case(
        "escaped-ends",
        "a backslash protects the end of a line, as MySQL writes it",
        "a\tb\ty\n1\t2.5\tu\\\nw\n2\t3.5\tv\n3\t4.5\tu\\\nw\n4\t5.5\tv\n",
        {"a": A, "b": B, "y": ["u\nw", "v", "u\nw", "v"]},
    ),
]

PEOPLE = [
    case(
        "two-rows-of-names",
        "each of two rows of names has blanks that the other one fills",
        "id,Before,,After,,y\n,sys,dia,sys,dia,\n"
        + "".join(f"p{a},{a},{b},{a},{b},{y}\n" for a, b, y in ROWS),
        {
            "id": ["p1", "p2", "p3", "p4"],
            "Before sys": A,
            "Before dia": B,
            "After sys": A,
            "After dia": B,
            "y": Y,
        },
        notes="combined from 2 rows",
    ),
    case(
        "choices",
        "a question of several answers has one column each, without numbers below",
        "id,Smoker,Colours,,\n,Response,Red,Blue,Other\n"
        "11,yes,Red,,\n12,no,,Blue,x\n13,no,Red,Blue,\n14,yes,Red,Blue,\n",
        {
            "id": [11, 12, 13, 14],
            "Smoker Response": ["yes", "no", "no", "yes"],
            "Colours Red": ["Red", None, "Red", "Red"],
            "Colours Blue": [None, "Blue", "Blue", "Blue"],
            "Colours Other": [None, "x", None, None],
        },
    ),
    case(
        "padded-titles",
        "names and values above the table, filled up with delimiters",
        "Station:,7,,\nDate,3/4/2021,,\n[Data],,,\nid,a,b,y\n"
        + "".join(f"s{a},{a},{b},{y}\n" for a, b, y in ROWS),
        {"id": ["s1", "s2", "s3", "s4"], **ABY},
        notes="3 lines before the table skipped",
    ),
    case(
        "headings",
        "wards as headings among the rows",
        "case,age,y\nWard A,,\nA1,1,u\nA2,2,v\nA3,5,v\nWard B,,\nB1,3,u\nB2,4,v\n",
        {
            "case": ["A1", "A2", "A3", "B1", "B2"],
            "age": [1, 2, 5, 3, 4],
            "y": ["u", "v", "v", "u", "v"],
        },
        rejected=(2, 6),
        notes="lines 2, 6 left out: a heading of the rows below it",
    ),
    case(
        "apostrophes",
        "an apostrophe before cells that Excel is to take for text",
        "code,a,y\n'007,'1,u\n'008,'2,v\n'009,'3,u\n'010,'4,v\n",
        {"code": ["007", "008", "009", "010"], "a": A, "y": Y},
        notes="began with an apostrophe",
    ),
    case(
        "no-cents",
        "strokes in place of cents",
        "pay;y\n€ 45.000,-;u\n€ 7.250,50;v\n€ 38.100,-;u\n€ 940,-;v\n",
        {"pay": [45000, 7250.5, 38100, 940], "y": Y},
        notes="column pay is in €",
    ),
    case(
        "per-cent-tells-the-mark",
        "the decimal mark occurs only in per cent",
        'share,depth,y\n"12,5%","1,582",u\n"7,25%","2,104",v\n"9,5%","3,771",u\n',
        {"share": [12.5, 7.25, 9.5], "depth": [1.582, 2.104, 3.771], "y": ["u", "v", "u"]},
    ),
    case(
        "results-within",
        "sums after their region, and of an account",
        "region,product,item,sales\nN,P1,a,5\nN,P2,b,6\nN,Result,,11\nS,P1,c,7\nS,P2,d,8\n"
        "S,Result,,15\nTotal: account,,,26\n",
        {
            "region": ["N", "N", "S", "S"],
            "product": ["P1", "P2", "P1", "P2"],
            "item": ["a", "b", "c", "d"],
            "sales": [5, 6, 7, 8],
        },
        rejected=(4, 7, 8),
    ),
    case(
        "less-than-per-cent",
        "limits with the sign of per cent",
        "a,share,y\n"
        + "".join(f"{k},{'< 10%' if k % 5 == 1 else f'{k}.5%'},u\n" for k in range(20)),
        {
            "a": [*range(20)],
            "share": [None if k % 5 == 1 else k + 0.5 for k in range(20)],
            "y": ["u"] * 20,
        },
    ),
    case(
        "means-in-per-cent",
        "means below rows, of which some have units",
        ",share,n,\nf1,10.5 %,3,\nf2,20.5 %,4,\nf3,30.5 %,5,\nMean,20.5 %,4,\nSD,8.1 %,1,\n",
        {"row": ["f1", "f2", "f3"], "share": [10.5, 20.5, 30.5], "n": [3, 4, 5]},
        rejected=(5, 6),
    ),
    case(
        "preliminary",
        "capitals in brackets after numbers mark provisional values",
        "year,rate,y\n2001,1.5,u\n2002,2.5,v\n2003,3.5,u\n2004,4.5(P),v\n",
        {"year": [2001, 2002, 2003, 2004], "rate": [1.5, 2.5, 3.5, 4.5], "y": Y},
        notes="marks after numbers",
    ),
    case(
        "thousands-beside-commas",
        "decimal commas in a column with remarks, points of thousands in another one",
        "total;rate;y\n1.500;1,5;u\n2.500;..;v\n3.500;3,5;u\n4.500;4,5;v\n",
        {"total": [1500, 2500, 3500, 4500], "rate": [1.5, None, 3.5, 4.5], "y": Y},
    ),
    case(
        "one-word-among-decimals",
        "most cells of a column of measurements hold a word",
        "t,wave,y\n"
        + "".join(f"{k},{'MM' if k % 3 else f'{k / 8:.3f}'},{'uv'[k % 2]}\n" for k in range(30)),
        {
            "t": [*range(30)],
            "wave": [None if k % 3 else round(k / 8, 3) for k in range(30)],
            "y": ["u", "v"] * 15,
        },
        notes="column wave: 20 cells are not numbers and count as missing: 'MM'",
    ),
    case(
        "zones-by-name",
        "times behind which the zone has a name and a distance",
        "t;y\n2023/12/01 12:00:00 pm GMT+1;u\n2023/12/01 2:00:00 pm GMT+2;v\n"
        "2023/12/01 11:00:00 am GMT-1;u\n",
        {"t": [NOON - 1 / 24, NOON, NOON], "y": ["u", "v", "u"]},
        notes="times are converted to UTC",
    ),
    case(
        "kibana",
        "times behind an at sign",
        't,y\n"Dec 1, 2023 @ 12:00:00.000",u\n"Dec 2, 2023 @ 00:00:00.000",v\n'
        '"Dec 3, 2023 @ 18:00:00.000",u\n',
        {"t": [NOON, NOON + 0.5, NOON + 2.25], "y": ["u", "v", "u"]},
    ),
    case(
        "years-of-russia",
        "the word for year behind days",
        "t;y\n01.12.2023 г.;u\n02.12.2023 г.;v\n13.12.2023 г;u\n",
        {"t": [NOON - 0.5, NOON + 0.5, NOON + 11.5], "y": ["u", "v", "u"]},
    ),
    case(
        "years-of-iran",
        "days of another calendar",
        "t,y\n1402/03/05,u\n1402/04/16,v\n1402/11/07,u\n",
        {"t": [-207395.0, -207353.0, -207148.0], "y": ["u", "v", "u"]},
        notes="column t has the years 1402, which may be of another calendar",
    ),
    case(
        "per-cent-in-front",
        "the per cent sign is before numbers, as in Turkey",
        "oran;y\n%12,5;u\n%7,25;v\n%-3,5;u\n-%1,5;v\n",
        {"oran": [12.5, 7.25, -3.5, -1.5], "y": Y},
        notes="column oran is in per cent",
    ),
    case(
        "times-without-marks",
        "days and times of 14 digits",
        "t;y\n20231201120000;u\n20231202000000;v\n20231203180000;u\n",
        {"t": [NOON, NOON + 0.5, NOON + 2.25 - 0.0], "y": ["u", "v", "u"]},
        notes=r"column t holds dates \(year, month, day, time\)",
    ),
    case(
        "euro-alone",
        "the euro sign is alone, a letter in another encoding",
        "Kosten €;Geschlecht;y\n1,5;männlich;u\n2,5;weiblich;v\n3,5;männlich;u\n4,5;weiblich;v\n",
        {
            "Kosten €": [1.5, 2.5, 3.5, 4.5],
            "Geschlecht": ["männlich", "weiblich", "männlich", "weiblich"],
            "y": Y,
        },
        encoding="cp1252",
    ),
]

CASES = [*LABELLED, *CONSOLES, *PEOPLE]
