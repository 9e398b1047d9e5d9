"""Long files are read like short ones; their distinct numbers are counted."""

import numpy as np
import pytest

from aucstudio.project.data.columns import Column, Count, count_all
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text import delimited, encoding
from aucstudio.project.data.text.dialect import Dialect
from tests.conftest import write_file

_DRAW = np.random.default_rng(3)
_KINDS = {
    "all different": _DRAW.random(70_000),
    "rising": np.arange(70_000.0),
    "rising with one missing": np.append(np.arange(70_000.0), np.nan),
    "whole": _DRAW.integers(-50_000, 50_000, 200_000).astype(float),
    "few": _DRAW.integers(0, 9, 70_000).astype(float),
    "one among many": np.where(_DRAW.random(300_000) < 0.8, 5.0, _DRAW.random(300_000)),
    "missing": np.where(_DRAW.random(90_000) < 0.3, np.nan, _DRAW.random(90_000)),
    "zeros": np.tile([0.0, -0.0], 50_000),
    "decimals": (_DRAW.random(80_000) * 9 - 4).round(3),
    "decimals and a fraction below": np.append(_DRAW.random(80_000).round(2), 1 / 3),
    "times": 1.7e9 + _DRAW.integers(0, 900_000, 80_000) / 8,
    "huge": np.tile([1e300, -1e300, 2.0], 30_000),
    "infinite": np.full(70_000, np.inf),
    "far": np.tile([np.inf, -np.inf, 5e-324, np.nan, -np.nan], 9_000),
    "none": np.full(70_000, np.nan),
    "empty": np.empty(0),
    "one": np.ones(1),
}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("is_long", [False, True])
def test_distinct_numbers_are_counted(kind, is_long):
    values = np.tile(_KINDS[kind], 300_000 // max(len(_KINDS[kind]), 1) + 1 if is_long else 1)
    known = len(np.unique(values[~np.isnan(values)]))
    assert Count(cells=values).total == known
    for most in (0, 1, 2, 8, 9, 300, 100_000):
        assert Count(cells=values).exceeds(most) == (known > most)


def test_counting_columns_reports_progress():
    columns = [Column.of_cells(kind, values, 0) for kind, values in _KINDS.items()]
    fractions = []
    count_all((column.different for column in columns), fractions.append)
    assert fractions[-1] == 1
    assert [column.distinct for column in columns[:2]] == [70_000, 70_000]


def _understood(path, **choices):
    table = read_table(path, label=False, **choices)
    cells = [
        c.values.tolist() if c.kind == "text" else c.values.view(np.int64).tolist()
        for c in table.columns
    ]
    known = [
        (c.name, c.kind, c.missing, c.distinct, c.number, c.role, c.why) for c in table.columns
    ]
    return cells, known, table.notes, table.rejected, table.unreadable


@pytest.mark.parametrize("rows", [1_500, 12_000])
def test_words_for_missing_values_are_named_wherever_they_are(tmp_path, rows):
    path = tmp_path / "late.csv"
    lines = [f"{k}.5,{'abcd'[k % 4]},{k % 9 == 0:d}" for k in range(rows)]
    lines[-9:] = ["#N/A,a,0", " n/a ,b,1", "-,-,0", *lines[-6:-1], "7.5,Null,0"]
    path.write_text("\n".join(["x,town,y", *lines]) + "\n")
    (found,) = (n for n in read_table(path).notices if n.code == "import_missing_words")
    values = dict(found.facts)
    assert values["cells"] == 4
    assert values["words"] == "'#N/A', 'n/a', '-', 'Null'"


_ODD = [
    "",
    " ",
    "NA",
    "-",
    " 7",
    "\t8 ",
    "\u00a09",
    "+5",
    "nan(3)",
    "1_0",
    "1,5",
    "x",
    "1e999",
    "inf",
]


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0015, 0.01, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_unusual_cells_below_the_sample_are_read_like_short_files(
    tmp_path, monkeypatch, share, seed
):
    monkeypatch.setattr(encoding, "SAMPLE", 8192)
    draw = np.random.default_rng(seed)
    lines = ["a;b;word;c"]
    odd = draw.permutation(_ODD)[: 1 + 4 * seed]
    for row in range(2_001):
        cells = [f"{draw.random():.6f}", str(row), draw.choice(["u", " v ", "none"]), "-2.5e3"]
        if row > 1_000:
            for k in np.flatnonzero(draw.random(4) < share):
                cells[k] = str(draw.choice(odd))
        lines.append(";".join(cells))
    path = write_file(tmp_path / "odd.csv", "\n".join(lines) + "\n")
    assert encoding.head_of(path)[0].count("\n") < 1_000
    monkeypatch.setattr(delimited, "is_small", lambda *_: False)
    as_large = _understood(path)
    monkeypatch.setattr(delimited, "is_small", lambda *_: True)
    assert _understood(path) == as_large


_SPELLED = [*_ODD, "nan", "-nan", "NaN", '""', "'5'", '"5"', "0x1A", "5.", ".5", "1e5", "+-5", "-"]
_SPELLED += ["1e-400", "9" * 20, "007", "1 2", "true", "\u0661", "Infinity", "1E+3", "5f", "--5"]


@pytest.mark.parametrize("mark", ".,")
def test_cells_are_read_equally_in_small_and_large_files(tmp_path, monkeypatch, mark):
    """Each column has one unusual cell below the sample, each in a row of its own."""
    monkeypatch.setattr(encoding, "SAMPLE", 4096)
    first, last = ([f"{n}{mark}5"] * len(_SPELLED) for n in (1, 2))
    odd = [[*first[:k], cell, *first[k + 1 :]] for k, cell in enumerate(_SPELLED)]
    names = [f"v{k}" for k in range(len(_SPELLED))]
    rows = [names, *[first] * 300, *odd, *[last] * 9]
    path = write_file(tmp_path / "cells.csv", "".join(";".join(row) + "\n" for row in rows))
    assert encoding.head_of(path)[0].count("\n") < 300
    monkeypatch.setattr(delimited, "is_small", lambda *_: False)
    as_large = _understood(path)
    monkeypatch.setattr(delimited, "is_small", lambda *_: True)
    assert _understood(path) == as_large


@pytest.mark.slow
@pytest.mark.parametrize(
    "late", [",2", "NA,2", "1.5", "1.5,2,3", "1_5,2", "+-5,2", "1e15,2", "x,2"]
)
def test_large_numeric_file_may_have_other_cells_below(tmp_path, monkeypatch, late):
    monkeypatch.setattr(encoding, "SAMPLE", 8192)
    path = write_file(tmp_path / "late.csv", "a,b\n" + "1.5,2\n" * 2_500 + f"{late}\n" * 5)
    table = read_table(path, label=False)
    whole = late.count(",") == 1
    assert (table.rows, table.rejected_rows) == (2_500 + 5 * whole, 5 * (not whole))
    assert table.columns[0].missing == 5 * (whole and late != "1e15,2")


@pytest.mark.parametrize(
    ("names", "row", "mark"),
    [
        ("x,y", "1.5,2", ""),
        ("word,name", "ab,c", ""),
        ("1998,1999", "7,8", ""),
        ("name,y", "1,0", "\ufeff"),
    ],
)
def test_repeated_header_in_a_long_file_is_rejected(tmp_path, monkeypatch, names, row, mark):
    monkeypatch.setattr(delimited, "is_small", lambda *_: False)
    path, rows = tmp_path / "again.csv", f"{row}\n" * 5_000
    path.write_text(f"{mark}{names}\n{rows}{mark}{names}\n" + f"{row}\n" * 10, "utf-8")
    table = read_table(path, label=False, dialect=Dialect())
    assert table.rows == 5_010
    assert [found.line for found in table.rejected] == [5_002]


def codes_below(path, first, later="00501", rows=2_500):
    lines = [f"{first},{k % 7},{'uv'[k % 2]}\n" for k in range(rows - 9)]
    lines += [f"{later if k % 2 else '00601'},{k},u\n" for k in range(9)]
    path.write_text("zip,x,y\n" + "".join(lines))


@pytest.mark.parametrize("rows", [1_800, 2_500])
@pytest.mark.parametrize("first", ["35004", ""])
def test_leading_zeros_below_the_sample_make_codes(tmp_path, monkeypatch, rows, first):
    monkeypatch.setattr(encoding, "SAMPLE", 8192)
    path = tmp_path / "places.csv"
    codes_below(path, first, rows=rows)
    read = read_table(path)
    for table in (read, open_stream(path)):
        assert table.column("zip").kind == "text"
        assert "column zip holds codes with leading zeros and is read as text" in table.notes
    assert read.column("zip").values[-1] == "00601"


@pytest.mark.parametrize("later", ["501", "0501.5", "501.0"])
def test_shorter_numbers_below_the_sample_are_not_codes(tmp_path, monkeypatch, later):
    monkeypatch.setattr(encoding, "SAMPLE", 8192)
    path = tmp_path / "places.csv"
    codes_below(path, "35004", later=later)
    path.write_text(path.read_text().replace("00601", "601"))
    table = read_table(path)
    assert table.column("zip").kind == "number"
    assert table.column("zip").values[-2] == float(later)
