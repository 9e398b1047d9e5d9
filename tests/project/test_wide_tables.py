"""Wide tables are read a row at a time, to what column by column gives."""

import numpy as np
import pytest

from aucstudio.project.data.table import read_table
from aucstudio.project.data.text import short, wide
from aucstudio.project.data.text.rows import judged_rows
from aucstudio.project.errors import InputError

COLUMNS = 40


def lines_of(rng, rows=30):
    cells = [[f"{value:.4f}" for value in row] for row in rng.normal(size=(rows, COLUMNS))]
    names = [f"g{k}" for k in range(COLUMNS)]
    return [names, *cells]


def write(path, lines):
    labelled = [[*row, "outcome" if k == 0 else "ab"[k % 2]] for k, row in enumerate(lines)]
    path.write_text("".join(",".join(row) + "\n" for row in labelled), encoding="utf-8")
    return path


def put(lines, row, column, cell):
    lines[row][column] = cell
    return lines


KINDS = {
    "plain": lambda lines: lines,
    "missing": lambda lines: put(put(lines, 3, 5, "NA"), 25, 5, ""),
    "blanks": lambda lines: put(lines, 4, 7, "  1.5 "),
    "exponents": lambda lines: put(lines, 29, 9, "1.5e-7"),
    "too large": lambda lines: put(lines, 29, 9, "1e999"),
    "a text among numbers": lambda lines: put(lines, 28, 11, "broken"),
    "texts": lambda lines: [[*row[:6], f"t{k % 3}", *row[7:]] for k, row in enumerate(lines)],
    "too few cells": lambda lines: [*lines[:9], lines[9][:-3], *lines[10:]],
    "quoted": lambda lines: put(lines, 6, 2, '"2.25"'),
    "grouped": lambda lines: [[*row[:6], f'"{k},234.5"', *row[7:]] for k, row in enumerate(lines)],
}


@pytest.fixture
def by_rows(monkeypatch):
    """Read tables of so many columns by rows, and count how often that is done."""
    used = []
    plain = short.read_wide
    monkeypatch.setattr(short, "_WIDE", COLUMNS)
    monkeypatch.setattr(short, "read_wide", lambda *given: used.append(1) or plain(*given))
    return used


@pytest.mark.parametrize("kind", KINDS)
def test_both_ways_give_the_same(tmp_path, kind, by_rows, monkeypatch):
    path = write(tmp_path / "wide.csv", KINDS[kind](lines_of(np.random.default_rng(0))))
    found = read_table(path)
    assert by_rows
    monkeypatch.setattr(short, "_NEARLY_ALL", 2.0)
    by_rows.clear()
    expected = read_table(path)
    assert not by_rows
    assert found.schema == expected.schema
    assert found.notes == expected.notes
    assert found.rejected == expected.rejected
    for one, other in zip(found.columns, expected.columns, strict=True):
        if one.kind == "number":
            assert one.values.tobytes() == other.values.tobytes()
        else:
            assert one.values.tolist() == other.values.tolist()


def test_the_rows_are_walked_over_once(tmp_path, by_rows, monkeypatch):
    walks = []

    def walk(source):
        walks.append(1)
        return judged_rows(source)

    monkeypatch.setattr(short, "_MOST_BYTES", 1_000)  # a part of few columns
    for module in (short, wide):
        monkeypatch.setattr(module, "judged_rows", walk)
    path = write(tmp_path / "wide.csv", lines_of(np.random.default_rng(1)))
    assert read_table(path).rows == 30
    assert (len(walks), len(by_rows)) == (1, 1)


def test_a_column_with_a_strange_cell_alone_is_read_again(tmp_path, by_rows, monkeypatch):
    read = []
    plain = short._read_column
    monkeypatch.setattr(
        short, "_read_column", lambda *given, **said: read.append(given[2]) or plain(*given, **said)
    )
    lines = put(lines_of(np.random.default_rng(2)), 28, 11, "broken")
    table = read_table(write(tmp_path / "wide.csv", lines))
    assert sorted(read) == [11, COLUMNS]
    assert np.isfinite(table.column("g10").values).all()


def test_an_empty_wide_table_is_refused_as_before(tmp_path, by_rows):
    path = write(tmp_path / "wide.csv", lines_of(np.random.default_rng(3), rows=0))
    with pytest.raises(InputError):
        read_table(path)
