"""Wide tables read row by row equal those read column by column."""

import numpy as np
import pytest

from aucstudio.project.data.table import read_table
from aucstudio.project.data.text import delimited
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


@pytest.mark.parametrize("kind", KINDS)
def test_wide_table_is_read_like_any_other(tmp_path, kind, monkeypatch):
    path = write(tmp_path / "wide.csv", KINDS[kind](lines_of(np.random.default_rng(0))))
    expected = read_table(path)
    monkeypatch.setattr(delimited, "WIDE", COLUMNS)
    monkeypatch.setattr(delimited, "BLOCK_CELLS", 7 * COLUMNS)
    found = read_table(path)
    assert found.schema == expected.schema
    assert found.notes == expected.notes
    assert found.rejected == expected.rejected
    for one, other in zip(found.columns, expected.columns, strict=True):
        assert one.kind == other.kind
        np.testing.assert_array_equal(one.values, other.values)


def test_wide_table_without_rows_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "WIDE", COLUMNS)
    path = write(tmp_path / "wide.csv", lines_of(np.random.default_rng(3), rows=0))
    with pytest.raises(InputError):
        read_table(path)
