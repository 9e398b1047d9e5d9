"""A cell is parsed to the same number or text by every reader and at every position."""

import random
import subprocess
import sys

import duckdb
import numpy as np
import pytest

from aucstudio.project.data.cells import number_sql
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.findings.inspection import inspection
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text import delimited, encoding
from aucstudio.project.data.text.column_types import guess_form
from aucstudio.project.data.text.contents import Rejected
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import (
    BLANKS,
    MISSING_NUMBER,
    MISSING_TEXT,
    NumberFormat,
    is_missing_number,
    read_number,
)
from aucstudio.project.errors import InputError
from tests.conftest import write_file

_SPELLED = (
    "1_000 +-5 -+5 --5 nan(5) nan() -nan +nan NaN nAn nan inf_ in infin 1e5 1E+05 1e-5 1e 1e+ "
    "e5 .5 5. . -. +. .e5 5.e3 5.e 00 007 0x10 1f 1d5 1d true 1,234 1,23 1,234.5 1.234,5 "
    "1'234 12,34,567 +1,234 -0 +0 -0.0 1e-400 4.9e-324 2.4703282292062327e-324 "
    "1.7976931348623157e308 999999999999999 1000000000000000 0000000000000001 "
    "00000000000000001234567890123456 +12345678901234567890 -1234567890123456 "
    "12345678901234567890.0 1234567890123456e0 "
    "0.1000000000000000055511151231257827021181583404541015625 9007199254740993.0 "
    "\u0661\u0662 \uff11\uff12 \xbd 1\xb2 none None - -- ? n/a #N/A null NULL nul \u0131nf K "
    "1;5 1:5 1/5 5% $5 (5) 1e5_0 _ __ _1 1_ 1__0 1._5 1_.5 1e_5 +_5 1\xa0234 1\u202f234 "
    "1\u2009234 \xa05 5\xa0 \ufeff5 5\u2003 \x0b5 5\x0c 5\x1c \x855 +\xa05 -\xa05 nan\xa0 "
    "\xa0nan(1) 5\x01b 1e0.5 0e0 -0e-0 1e00005"
)
HOSTILE = _SPELLED.split(" ")
COMPANIONS = (
    ["1", "2", "3"],
    ["1.5", "-2.25", ".5e3"],
    ["1,5", "-2,25", ",5"],
    ["1,234", "5,678.25", "12,345,678"],
    ["1.234", "5.678,25", "12.345.678"],
    ["1 234", "12 345,5", "7"],
    ["NA", "1", "nan"],
    ["", "?", "-"],
    ["a", "b", "1"],
)
ALPHABET = "0123456789" * 3 + "..,,++--__eEnNaA() '" + "\t\v\f\u00a0\u2003ifx"


def hostile_cells(count, seed):
    chosen = random.Random(seed)
    made = []
    while len(made) < count:
        if chosen.random() < 0.5:
            cell = chosen.choice(HOSTILE)
        else:
            cell = "".join(chosen.choices(ALPHABET, k=chosen.randint(1, 8)))
        if chosen.random() < 0.2:
            cell = chosen.choice([" ", "\t", "\u00a0", "\v"]) + cell
        if chosen.random() < 0.2:
            cell += chosen.choice(["  ", "\f", "\u00a0", " \t"])
        made.append(cell)
    return made


def as_python_reads(cells, decimal):
    """Read a column: its kind, and its values."""
    stripped = [cell.strip(BLANKS) for cell in cells]
    form = guess_form(stripped, decimal)
    if form is None:
        return "text", [None if c.lower() in MISSING_TEXT else c for c in stripped]
    numbers = [np.nan if is_missing_number(c) else _number(form, c) for c in stripped]
    return "number", np.array(numbers).view(np.int64).tolist()


def _number(form, cell):
    value = form.read(cell) if form.matches(cell) else np.inf
    return np.nan if np.isinf(value) else value


def as_read(column):
    if column.kind == "text":
        return "text", column.values.tolist()
    values = np.where(np.isnan(column.values), np.nan, column.values)
    return "number", values.view(np.int64).tolist()


def write_columns(path, columns, delimiter):
    """Write columns; cells that hold the delimiter or a quotation mark are quoted."""

    def quoted(cell):
        return '"' + cell.replace('"', '""') + '"' if delimiter in cell or '"' in cell else cell

    lines = [delimiter.join(f"v{k}" for k in range(len(columns)))]
    lines += [delimiter.join(map(quoted, row)) for row in zip(*columns, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


@pytest.mark.parametrize("reader", ["short", pytest.param("duckdb", marks=pytest.mark.slow)])
@pytest.mark.parametrize("place", ["in the sample", "beyond it"])
@pytest.mark.parametrize(("delimiter", "decimal"), [(";", "."), (";", ","), ("|", ".")])
def test_cell_is_read_equally_by_all_readers(
    tmp_path, monkeypatch, delimiter, decimal, place, reader
):
    monkeypatch.setattr(delimited, "is_small", lambda *_: reader == "short")
    monkeypatch.setattr(encoding, "SAMPLE", 4096)
    chosen = random.Random(f"{delimiter}{decimal}{place}")
    rows = 60
    columns = []
    # DuckDB rereads the file when a later row changes a column: fewer columns for it.
    for cell in hostile_cells(250 if reader == "short" else 120, f"{delimiter}{decimal}"):
        companions = chosen.choice(COMPANIONS)
        column = [companions[row % 3] for row in range(rows)]
        column[3 if place == "in the sample" else rows - 2] = cell
        columns.append(column)
    path = tmp_path / "data.csv"
    write_columns(path, columns, delimiter)
    text, whole = encoding.head_of(path)
    assert not whole
    assert text.count("\n") < rows - 20
    table = read_table(path, label=False, dialect=Dialect("utf-8", delimiter, '"', decimal))
    assert table.rows == rows
    for column, found in zip(columns, table.columns, strict=True):
        assert as_read(found) == as_python_reads(column, decimal), column


# Rows in both readers

_PIECES = ["1", "2", "", " ", "a", '"a"', '"a,b"', '"a""b"', '""', 'a"b', '"a"b', ' "a"', '"a" ']


def understood(path):
    try:
        table = read_table(path, label=False, dialect=Dialect())
    except InputError as error:
        return str(error)
    columns = [as_read(column) for column in table.columns]
    numbers = None if table.row_numbers is None else table.row_numbers.tolist()
    return columns, table.rejected, table.rejected_rows, numbers, table.notes


@pytest.mark.parametrize("seed", range(25))
def test_both_readers_split_rows_equally(tmp_path, monkeypatch, seed):
    chosen = random.Random(seed)
    pieces = _PIECES if seed % 2 else _PIECES[:9]
    lines = ["a,b,c"] + ["1,2,3"] * 12
    for _ in range(chosen.randint(1, 8)):
        cells = chosen.choices(pieces, k=chosen.choice([1, 2, 3, 3, 3, 4, 5]))
        lines.insert(chosen.randint(1, len(lines)), ",".join(cells))
        if chosen.random() < 0.4:
            lines.insert(chosen.randint(1, len(lines)), "")
    path = tmp_path / "data.csv"
    end = chosen.choice(["\n", "\r\n"])
    path.write_text(end.join(lines) + chosen.choice(["", end, end * 2]), newline="")
    short = understood(path)
    monkeypatch.setattr(delimited, "is_small", lambda *_: False)
    assert understood(path) == short


# Row numbers of the file


@pytest.mark.parametrize("reader", ["short", "duckdb", "disk"])
def test_rows_keep_their_numbers_in_the_file(tmp_path, monkeypatch, reader):
    monkeypatch.setattr(delimited, "is_small", lambda *_: reader == "short")
    path = tmp_path / "data.csv"
    text = 'title\nrow,x,y\n1,0,a\n\n2,1\n3,0,"b\n\n"\n4,1,a\n\n\n5\n6,1,b,7\n7,0,a\n'
    path.write_text(text.replace('"b\n\n"', "b") if reader == "short" else text)
    more = 0 if reader == "short" else 2
    table = _opened(path, reader, Dialect(skip=1))
    assert table.row_numbers.tolist() == [1, 3, 4, 7]
    assert table.rows == 4
    found = [(r.row, r.line, r.reason) for r in table.rejected]
    assert found == [
        (2, 5, "2 cells instead of 3"),
        (5, 10 + more, "1 cell instead of 3"),
        (6, 11 + more, "4 cells instead of 3"),
    ]
    if reader != "disk":
        assert inspection(table)["rejected"][0]["row"] == 2


# More rows than a row group of DuckDB has.
@pytest.mark.parametrize("rows", [60, pytest.param(150_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("reader", ["duckdb", "disk"])
def test_bad_rows_are_listed_without_writing_all_rows_again(
    tmp_path, monkeypatch, reader, end, rows
):
    monkeypatch.setattr(delimited, "is_small", lambda *_: False)
    monkeypatch.setattr(delimited, "tidy", None)
    lines, bad, kept = ["title", "row,x,y"], [], []
    for row in range(1, rows + 1):
        if row % 40 == 7:
            bad.append(Rejected(len(lines) + 1, "2 cells instead of 3", row))
            lines.append(f'{row},"a"')
            continue
        kept.append(row)
        lines += [f'{row},"b', 'c",u'] if row % 3 == 0 else [f'{row},"d",v']
    path = write_file(tmp_path / "data.csv", b"\xef\xbb\xbf" + end.join([*lines, ""]).encode())
    table = _opened(path, reader, Dialect(skip=1))
    assert (table.rejected, table.rejected_rows) == (tuple(bad[:100]), len(bad))
    assert table.row_numbers.tolist() == kept


def _opened(path, reader, dialect=None):
    if reader == "disk":
        return open_stream(path, label="y", dialect=dialect)
    return read_table(path, label="y", dialect=dialect)


def test_table_without_rejected_rows_has_no_row_numbers(tmp_path):
    path = write_file(tmp_path / "data.csv", "x,y\n1,a\n\n2,b\n")
    assert read_table(path).row_numbers is None


_PEAK = """
import sys
from aucstudio.project.data.table import read_table

def memory(what):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(what)) * 1024

read_table(sys.argv[1])
before = memory("VmRSS:")
table = read_table(sys.argv[2])
print(memory("VmHWM:") - before, sum(column.values.nbytes for column in table.columns))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for the peak")
def test_reading_needs_little_more_memory_than_its_arrays(tmp_path):
    header = ",".join(f"x{k}" for k in range(12)) + "\n"
    rows = ["".join(f"{(j + k) % 10 / 4}," for k in range(11)) + f"{j % 2}\n" for j in range(1000)]
    for name, times in (("some", 50), ("many", 2_500)):
        with (tmp_path / name).open("w") as file:
            file.write(header)
            file.writelines("".join(rows) for _ in range(times))
    command = [sys.executable, "-c", _PEAK, str(tmp_path / "some"), str(tmp_path / "many")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, arrays = map(int, done.stdout.split())
    assert arrays == 8 * 12 * 2_500_000
    # The buffers of DuckDB do not grow with the file.
    assert peak < 1.3 * arrays + 100e6


@pytest.mark.parametrize(
    ("form", "cells"),
    [
        (
            NumberFormat(",", True, True, "€"),
            {"€ 74.000,-": 74e3, "-5,-": -5, "45,-- €": 45, "(45,-)": -45, "3,5-": -3.5, "5,–": 5},
        ),
        (NumberFormat(".", True, True), {"4.5(P)": 4.5, "45.-": 45, "45.-5": None, "(-5)": -5}),
        (NumberFormat(".", True, True), {"1,234.–": 1234, "4.5(pre)": None, "1,23,456": 123456}),
        (NumberFormat(",", True, True, "%"), {"%12,5": 12.5, "-%1,5": -1.5, "%-1": -1, "5": None}),
        (NumberFormat(layout="d.m.y"), {"01.12.2023 г.": 19692, "01.12.2023 @ 12:00": 19692.5}),
        (NumberFormat(layout="ymdhms"), {"20231201120000": 19692.5, "20231332120000": None}),
        (NumberFormat(layout="y q"), {"2024Q1": 19723, "2024 3Q": 19905, "2024 Q5": None}),
        (NumberFormat(layout="q y"), {"Q4 2024": 19997, "q2/2024": 19814, "Q12024": 19723}),
        (NumberFormat(layout="y-w"), {"2020-W53": 18624, "2021-W53": np.inf, "2024-W54": None}),
        (NumberFormat(layout="y-m-d"), {"2023/12/01 12:00 pm gmt+1": 19692 + 11 / 24}),
        (NumberFormat(layout="y-m-d"), {"2023-12-01 12:00-3": 19692.625, "2023-02-30": np.inf}),
    ],
)
def test_cells_are_parsed_in_their_number_format(form, cells):
    for cell, value in cells.items():
        assert form.matches(cell) == (value is not None), cell
        assert form.read(cell) == (np.inf if value is None else value), cell


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("affix", ["", "$", "kg", "days", "%", "mm Hg", "m2", "10^9/L", "d'or"])
def test_duckdb_reads_amounts_like_python(decimal, affix):
    form = NumberFormat(decimal, grouped=True, dressed=bool(affix), affix=affix)
    pieces = ["-", "1", "12", "000", ",", ".", " ", "(", ")", "1,234", "1.234.567", ",123", "\n"]
    pieces += [affix, affix, affix[:-1], "12345678901234567", "e5", "\u00a0"]
    chosen = random.Random(1)
    cells = ["".join(chosen.choices(pieces, k=chosen.randint(1, 5))) for _ in range(5_000)]
    read = [read_number(form, MISSING_NUMBER, cell) for cell in cells]
    asked = []
    with duckdb.connect() as connection:
        connection.create_function(
            "read_number",
            lambda text, k: asked.append(text) or read_number(form, MISSING_NUMBER, text),
            ["VARCHAR", "INTEGER"],
            "DOUBLE",
        )
        number = number_sql("cell", 0, form, MISSING_NUMBER)
        sql = f"SELECT {number} FROM (SELECT unnest($1) AS cell)"
        found = [value for (value,) in connection.execute(sql, [cells]).fetchall()]
    np.testing.assert_array_equal(found, read)
    assert len(asked) < len(cells)
