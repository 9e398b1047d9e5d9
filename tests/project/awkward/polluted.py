"""Clean tables with one fault each, as in published benchmarks of readers of CSV files."""

from tests.project.awkward.case import X, Y, case

ROWS = "".join(f"{k},{x},{y}\n" for k, (x, y) in enumerate(zip(X, Y, strict=True)))
ABY = {"a": [0, 1, 2, 3], "b": X, "y": Y}
WIDE = "m,n,o,p\n" + "1,2,3,4\n" * 4
NARROW = "m,n\n" + "1,2\n" * 4

CASES = [
    case(
        "header-extra-blank",
        "a delimiter too many among the names",
        "a,,b,y\n" + ROWS,
        ABY,
        notes="1 empty name more than the rows have cells",
    ),
    case(
        "header-extra-name",
        "a name more than the rows have cells",
        "a,b,y,z\n" + ROWS,
        ABY,
        notes="1 name more .*: names were assigned from the left, and no cells are left for z",
    ),
    case(
        "row-extra-delimiter",
        "a delimiter too many moves cells of a row whose last cell is empty",
        "a,b,y,z\n" + ROWS.replace("\n", ",\n", 3) + "7,,7.5,u,\n8,8.5,u,q\n",
        {
            "a": [0, 1, 2, 7, 8],
            "b": [*X[:3], None, 8.5],
            "y": ["u", "v", "u", "7.5", "u"],
            "z": [None, None, None, "u", "q"],
        },
        rejected=(5,),
        notes="1 row has extra empty cells at the end, left out, the first in line 6",
    ),
    case(
        "row-missing-delimiter",
        "a delimiter is missing before a quoted cell, which holds one",
        'a,b,c,y\n1,p,"q, r",u\n2,s,"t",v\n3,boots"red, warm",u\n4,z,"w",v\n',
        {
            "a": [1, 2, 3, 4],
            "b": ["p", "s", 'boots"red', "z"],
            "c": ["q, r", "t", 'warm"', "w"],
            "y": ["u", "v", "u", "v"],
        },
        notes="1 row has quotation marks that are never closed .*, the first in line 4",
    ),
    case(
        "inches",
        "two lengths in inches are no quotation",
        'a,b,y\n1,5" long,u\n2,48",v\n3,6",u\n',
        {"a": [1, 2, 3], "b": ['5" long', '48"', '6"'], "y": ["u", "v", "u"]},
    ),
    case(
        "second-wider-no-gap",
        "a wider table below without a blank line",
        "a,b,y\n" + ROWS + WIDE,
        ABY,
        notes="another table begins in line 6, with the names m, n, o, p",
    ),
    case(
        "second-narrower-no-gap",
        "a narrower table below without a blank line",
        "a,b,y\n" + ROWS + NARROW,
        ABY,
        notes="another table begins in line 6, with the names m, n",
    ),
    case(
        "last-cell-line-end",
        "the last cell of each row is a quoted line end",
        "a,b,y\n" + ROWS.replace("\n", ',"\n"\n'),
        ABY,
    ),
    case(
        "powers-of-codes",
        "codes that look like powers of ten",
        "a,b,y\n0012E3,1.5,u\n0013E1,2.5,v\n0014E7,3.5,u\n",
        {"a": ["0012E3", "0013E1", "0014E7"], "b": X[:3], "y": ["u", "v", "u"]},
        notes="column a holds codes with leading zeros",
    ),
    case(
        "escaped-apostrophes",
        "apostrophes in quoted cells are escaped by backslashes",
        "a,b,y\n1,'it\\'s p',u\n2,'it\\'s q',v\n3,'it\\'s r',u\n",
        {"a": [1, 2, 3], "b": ["it's p", "it's q", "it's r"], "y": ["u", "v", "u"]},
    ),
]
