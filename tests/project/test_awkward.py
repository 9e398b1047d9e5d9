"""Files that are hard to read, each with the content that a careful person finds in it."""

import re

import pytest

from aucstudio.project.data.table import read_table
from aucstudio.project.data.text.container_records import find_blocks
from tests.project.awkward import (
    cells,
    dialects,
    encodings,
    exports,
    headers,
    logs,
    polluted,
    printed,
    reports,
    working,
)

CASES = [
    (module.__name__.rpartition(".")[2], case)
    for module in (
        headers,
        dialects,
        encodings,
        cells,
        exports,
        reports,
        printed,
        logs,
        working,
        polluted,
    )
    for case in module.CASES
]


def understood(table):
    return {
        column.name: [None if v is None or v != v else v for v in column.values.tolist()]
        for column in table.columns
    }


@pytest.mark.parametrize("case", [pytest.param(c, id=f"{group}-{c.name}") for group, c in CASES])
def test_awkward_file(tmp_path, case):
    path = tmp_path / "data.csv"
    path.write_bytes(case.content)
    table = read_table(path, dialect=case.given, roles=case.roles)
    assert understood(table) == case.columns, case.awkward
    assert tuple(row.line for row in table.rejected) == case.rejected
    assert case.label is None or table.label == case.label
    for note in case.notes:
        assert any(re.search(note, text) for text in table.notes), (note, table.notes)


def test_collection():
    assert len(CASES) >= 120
    assert len({(group, case.name) for group, case in CASES}) == len(CASES)
    assert all(case.awkward for _, case in CASES)


def test_blocks_with_the_same_names_are_separate_tables():
    printed = ["  a y", "1 5 u", "2 6 v", "3 7 u"]
    assert find_blocks([*printed, "  b z", *printed[1:]])
    assert not find_blocks([*printed, *printed])
    assert not find_blocks([*printed, "  b z", *printed[1:3], "9 9 9"])
