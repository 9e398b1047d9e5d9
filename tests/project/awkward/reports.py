"""Files with more in them than a table: records, sums, other tables, empty cells and rows."""

from tests.project.awkward.case import X, Y, case

ABC = {"a": [1, 2, 3, 4], "b": [2.5, 3.5, 4.5, 5.5], "y": Y}
ROWS = "1,2.5,u\n2,3.5,v\n3,4.5,u\n4,5.5,v\n"
THOUSANDS = ["8.593", "682", "7.713", "105", "1.200", "1.007", "999", "54"]
BARS = ROWS.replace(",", "|")

RECORDS = [
    case(
        "records",
        "a record before the rows, of as many cells, and one behind",
        "HDR|2023|ACME|X\n" + "".join(f"DTL|{row}\n" for row in BARS.split()) + "TRL|4|16.0|\n",
        {"c1": ["DTL"] * 4, "c2": ABC["a"], "c3": ABC["b"], "c4": Y},
        rejected=(6,),
        notes="no header row",
    ),
    case(
        "records-letters",
        "the same, one letter each",
        "H,2023,ACME,\n" + "".join(f"D,{row}\n" for row in ROWS.split()) + "T,4,16.0,\n",
        {"c1": ["D"] * 4, "c2": ABC["a"], "c3": ABC["b"], "c4": Y},
        rejected=(6,),
    ),
    case(
        "truths",
        "T in the last row is no record, though blank ones follow",
        "t,b,y\nF,2.5,u\nT,3.5,v\nF,4.5,u\nT,5.5,v\n,,\n",
        {"t": ["F", "T", "F", "T"], "b": ABC["b"], "y": Y},
    ),
]
SUMS = [
    case(
        "sums-full",
        "means of all columns",
        "a,b,z\n1,2.5,0\n2,3.5,1\n3,4.5,0\n4,5.5,1\nAverage,4,0.5\nStd dev,1.3,0.58\n",
        {"a": ABC["a"], "b": ABC["b"], "z": [0, 1, 0, 1]},
        rejected=(6, 7),
        notes="lines 6, 7 left out",
    ),
    case(
        "sums-between",
        "sums of each site, and of all",
        "site,n,y\nA,3,u\nA,4,v\nA Total,7,\nB,5,u\nB,6,v\nB Total,11,\nGrand Total,18,\n",
        {"site": ["A", "A", "B", "B"], "n": [3, 4, 5, 6], "y": Y},
        rejected=(4, 7, 8),
    ),
    case(
        "sum-level",
        "a level that is called so",
        "how,n,z\nsum,3,0\nmean,4,1\nmean,7,0\nsum,5,1\nmean,6,0\nsum,8,1\n",
        {
            "how": ["sum", "mean", "mean", "sum", "mean", "sum"],
            "n": [3, 4, 7, 5, 6, 8],
            "z": [0, 1] * 3,
        },
    ),
]
SECOND = [
    case(
        "second",
        "another table below, as wide",
        "a,b,y\n" + ROWS + "\nsite,dose,unit\nBern,5,mg\nRome,7,mg\n",
        ABC,
        notes="another table begins in line 7, with the names site, dose, unit: it and everything",
    ),
    case(
        "second-wider",
        "another table below, wider, with a title",
        "a,b,y\n" + ROWS + "\nVisits\nname,site,dose,unit\nx,Bern,5,mg\nz,Rome,7,mg\n",
        ABC,
        notes="another table begins in line 7",
    ),
    case(
        "second-none",
        "a blank line before a row of words is no other table",
        "a,b,y\np,2.5,u\nq,3.5,v\nr,4.5,u\n\ns,NA,v\nt,5.5,v\n",
        {
            "a": ["p", "q", "r", "s", "t"],
            "b": [2.5, 3.5, 4.5, None, 5.5],
            "y": ["u", "v", "u", "v", "v"],
        },
    ),
    case(
        "second-longer",
        "the words of an instrument above the table",
        "Operator,Smith\nSite,Bern\nPlate,4\n\na,b,y\n" + ROWS,
        ABC,
    ),
]
EMPTY = [
    case("blank-rows", "rows of nothing at the end", "a,b,y\n" + ROWS + ",,\n" * 50, ABC),
    case(
        "blank-columns",
        "columns of nothing at the end",
        ("a,b,y\n" + ROWS).replace("\n", "," * 40 + "\n"),
        ABC,
    ),
]
CELLS = [
    case(
        "protected-tabs",
        "a backslash before a tab that is part of a cell",
        "a\tw\tb\ty\n1\tp\\\tq\t2.5\tu\n2\tr\t3.5\tv\n3\ts\\\\\t4.5\tu\n4\tt\\N\t5.5\tv\n",
        {"a": ABC["a"], "w": ["p\tq", "r", "s\\", "t\\N"], "b": ABC["b"], "y": Y},
    ),
    case(
        "protected-commas",
        "a backslash before a comma, and quoted cells",
        'a,w,y\n1,p\\,q,u\n2,"r, s",v\n3,t,u\n4,"x",v\n',
        {"a": ABC["a"], "w": ["p,q", "r, s", "t", "x"], "y": Y},
    ),
    case(
        "full-commas",
        "full-width commas",
        "年龄，性别，y\n34，男，u\n45，女，v\n51，男，u\n29，女，v\n",
        {"年龄": [34, 45, 51, 29], "性别": ["男", "女"] * 2, "y": Y},
    ),
    case(
        "letters-only",
        "letters for levels, and no names",
        "p,x,s,n\ne,x,s,y\ne,b,s,w\np,x,y,w\ne,x,s,g\n",
        {
            "c1": list("peepe"),
            "c2": list("xxbxx"),
            "c3": list("sssys"),
            "c4": list("nywwg"),
        },
        notes="no header row",
    ),
    case(
        "report-bars",
        "a report between bars, with titles",
        "Table: ZSALES\nDisplayed: 3\n-------------\n|a |b  |y|\n-------------\n"
        + "".join(f"|{row}|\n" for row in BARS.split()),
        ABC,
    ),
    case(
        "instrument",
        "an instrument that is below its detection limit",
        "well,od,y\nA1,0.512,u\nA2,OVRFLW,v\nA3,0.3,u\nB1,0.44,v\nB2,Loading...,u\n",
        {
            "well": ["A1", "A2", "A3", "B1", "B2"],
            "od": [0.512, None, 0.3, 0.44, None],
            "y": ["u", "v", "u", "v", "u"],
        },
        notes="2 cells are not numbers",
    ),
    case(
        "spread",
        "numbers with errors are reported",
        "v;y\n1.5±0.2;u\n2.5±0.3;v\n3.5±0.1;u\n",
        {"v": ["1.5±0.2", "2.5±0.3", "3.5±0.1"], "y": ["u", "v", "u"]},
        notes="not plain numbers, e.g. '1.5±0.2'",
    ),
    case(
        "powers-typeset",
        "printed powers of ten are reported",
        "v;y\n1.2×10^5;u\n3.4×10^4;v\n7×10^5;u\n",
        {"v": ["1.2×10^5", "3.4×10^4", "7×10^5"], "y": ["u", "v", "u"]},
        notes="not plain numbers, e.g. '1.2×10\\^5'",
    ),
    case(
        "intervals",
        "numbers with intervals are reported",
        "v;y\n12.5 [10.1-15.0];u\n3.4 [2.0-5.5];v\n7.0 [6.1-8.2];u\n",
        {"v": ["12.5 [10.1-15.0]", "3.4 [2.0-5.5]", "7.0 [6.1-8.2]"], "y": ["u", "v", "u"]},
        notes="not plain numbers",
    ),
    case(
        "fractions",
        "fractions are reported",
        "v;y\n½;u\n¼;v\n1 ½;u\n2;v\n",
        {"v": ["½", "¼", "1 ½", "2"], "y": Y},
        notes="not plain numbers, e.g. '½'",
    ),
    case(
        "nines",
        "a day of nines for none",
        "d;y\n2021-01-31;u\n9999-99-99;v\n9999-99-99;u\n2021-02-01;v\n",
        {"d": [18658, None, None, 18659], "y": Y},
        notes="2 cells are not numbers and count as missing: '9999-99-99' \\(2\\)",
    ),
    case(
        "answered",
        "a table in an answer to a letter",
        "".join(f"> {line}\n" for line in ("a,b,y\n" + ROWS).splitlines()),
        ABC,
        notes="each line began with >",
    ),
    case(
        "keys-above",
        "remarks of keys and values name no columns",
        "##TITLE=x\n##XUNITS=nm\n400.0 0.12\n401.0 0.13\n402.0 0.11\n403.0 0.15\n",
        {"c1": [400, 401, 402, 403], "c2": [0.12, 0.13, 0.11, 0.15]},
    ),
    case(
        "lasting",
        "how long something takes is hours",
        "v;y\n1:02:03;u\n25:00:00;v\n0:30:00;u\n",
        {"v": [3723 / 3600, 25, 0.5], "y": ["u", "v", "u"]},
        notes="column v holds durations, read as hours",
    ),
    case(
        "lasting-in-doubt",
        "ambiguous durations are reported",
        "v;y\n1:02;u\n25:00;v\n0:30;u\n",
        {"v": ["1:02", "25:00", "0:30"], "y": ["u", "v", "u"]},
        notes="durations, e.g. '1:02'",
    ),
    case(
        "half-words",
        "numbers and words in one column are reported",
        "v;y\n1.5;u\nleft;v\n3.5;u\nright;v\n4;u\n",
        {"v": ["1.5", "left", "3.5", "right", "4"], "y": ["u", "v", "u", "v", "u"]},
        notes="column v is read as text, because 'left' in it is not a number",
    ),
    case(
        "result-before-last",
        "a result of three classes before a last column of two",
        "result,a,flag\n" + "".join(f"{'pqr'[k % 3]},{k},{k % 2}\n" for k in range(12)),
        {"result": list("pqr") * 4, "a": list(range(12)), "flag": [0, 1] * 6},
        label="flag",
    ),
]

DAILY = [
    case(
        "counted-below",
        "the number of rows, below a blank line",
        "id,x,y\na1,1.5,u\na2,2.5,v\na3,3.5,u\na4,4.5,v\n,,\nn = 4,,\n",
        {"id": ["a1", "a2", "a3", "a4"], "x": X, "y": Y},
        rejected=(7,),
        notes="line 7 left out: a comment below the table",
    ),
    case(
        "absent-pupils",
        "one word in place of many of a few measured numbers",
        "q,y\n" + "".join(f"{'abs' if k % 5 == 0 else k},{'uv'[k % 2]}\n" for k in range(20)),
        {"q": [None if k % 5 == 0 else k for k in range(20)], "y": ["u", "v"] * 10},
        notes="column q: 4 cells are not numbers and count as missing: 'abs' \\(4\\)",
    ),
    case(
        "few-grades",
        "one word among numbers that come again and again is a level",
        "q,y\n" + "".join(f"{'abs' if k % 5 == 0 else k % 4},{'uv'[k % 2]}\n" for k in range(20)),
        {"q": ["abs" if k % 5 == 0 else str(k % 4) for k in range(20)], "y": ["u", "v"] * 10},
        notes="column q is read as text, because 'abs' in it is not a number",
    ),
    case(
        "all-areas",
        "a sum of all below the rows, under another word",
        "area,pop,rate,kind\nA,10,1.5,u\nB,20,2.5,v\nC,30,3.5,u\nD,40,4.5,v\nAll areas,100,3,\n",
        {
            "area": ["A", "B", "C", "D"],
            "pop": [10, 20, 30, 40],
            "rate": [1.5, 2.5, 3.5, 4.5],
            "kind": ["u", "v", "u", "v"],
        },
        rejected=(6,),
        notes="a row of totals",
    ),
    case(
        "statistics-below",
        "several sums of the rows, the least and the greatest among them",
        f"a,b,y\n{ROWS}Mean,3.5,\nSD,1.3,\nMin,2.5,\nMax,5.5,\n",
        ABC,
        rejected=(6, 7, 8, 9),
        notes="a row of totals",
    ),
    case(
        "somebody-called-max",
        "a last row that begins as the greatest of all would",
        "name,a,b\nMia,45,80\nSD,38,74\nMax,41,79\n",
        {"name": ["Mia", "SD", "Max"], "a": [45, 38, 41], "b": [80, 74, 79]},
    ),
    case(
        "some-thousands",
        "points of thousands, and numbers below a thousand without",
        "n;y\n" + "".join(f"{n};{y}\n" for n, y in zip(THOUSANDS, Y * 2, strict=True)),
        {"n": [8593, 682, 7713, 105, 1200, 1007, 999, 54], "y": Y * 2},
        notes="column n has thousands separators in its numbers",
    ),
    case(
        "maybe-thousands",
        "three decimals throughout, which may be thousands, are reported",
        "n;y\n8.593;u\n12.682;v\n7.713;u\n105.444;v\n",
        {"n": [8.593, 12.682, 7.713, 105.444], "y": Y},
        notes="column n: '8.593' is read as 8.593; with a thousands separator it would be 8593",
    ),
    case(
        "three-places",
        "three decimals among numbers that are certainly decimal",
        "n;m;y\n8.593;0.125;u\n12.682;1.5;v\n682;7.713;u\n105;2.25;v\n1.444;3.5;u\n",
        {
            "n": [8.593, 12.682, 682, 105, 1.444],
            "m": [0.125, 1.5, 7.713, 2.25, 3.5],
            "y": [*Y, "u"],
        },
    ),
    case(
        "cut-after-the-last",
        "most rows end at their last value",
        "a,b,flag,remark\n1,2.5\n2,3.5,VIP\n3,4.5\n4,5.5,,late\n5,1.5\n6,2,VIP,left\n",
        {
            "a": [1, 2, 3, 4, 5, 6],
            "b": [2.5, 3.5, 4.5, 5.5, 1.5, 2],
            "flag": [None, "VIP", None, None, None, "VIP"],
            "remark": [None, None, None, "late", None, "left"],
        },
        notes="rows end at their last value; the cells after it are missing",
    ),
    case(
        "dotted-hours",
        "hours and minutes of Italian and Scandinavian spreadsheets",
        "d;y\n1/3/2024 14.30;u\n2/3/2024 0.00;v\n13/3/2024 6.15;u\n4/3/2024 18h45;v\n",
        {"d": [19783 + 14.5 / 24, 19784, 19795 + 6.25 / 24, 19786 + 18.75 / 24], "y": Y},
        notes="column d holds dates \\(day, month, year\\)",
    ),
    case(
        "uhr",
        "times in German",
        "d;y\n01.03.2024 12:00 Uhr;u\n02.03.2024 18:00 Uhr;v\n13.03.2024 6:00 Uhr;u\n",
        {"d": [19783.5, 19784.75, 19795.25], "y": ["u", "v", "u"]},
    ),
    case(
        "words-and-gaps",
        "names above words, and columns without any name or cell",
        "v1,v2,,,\nham,Go until,,,\nspam,Free entry,,,\nham,U dun,,,\n",
        {"v1": ["ham", "spam", "ham"], "v2": ["Go until", "Free entry", "U dun"]},
        label="v1",
    ),
]

CASES = [*DAILY, *RECORDS, *SUMS, *SECOND, *EMPTY, *CELLS]
