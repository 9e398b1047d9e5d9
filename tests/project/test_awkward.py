"""Files that are hard to read, each with its correct content."""

import re

import pytest

from aucstudio.project.data.table import read_table
from aucstudio.project.data.text.containers import find_blocks
from aucstudio.project.errors import InputError
from tests.project.awkward import CASES, understood, without_nan, write


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES])
def test_awkward_file_is_read_correctly_or_refused(tmp_path, case):
    if "error" in case:
        with pytest.raises(InputError) as refused:
            read_table(tmp_path / "data.csv", **write(tmp_path / "data.csv", case))
        assert refused.value.code == case["error"]
        return
    table = read_table(tmp_path / "data.csv", **write(tmp_path / "data.csv", case))
    assert understood(table) == without_nan(case["columns"]), case["awkward"]
    assert [row.line for row in table.rejected] == case.get("rejected", [])
    assert table.label == case.get("label", table.label)
    for note in case.get("notes", ()):
        assert any(re.search(note, text) for text in table.notes), (note, table.notes)


def test_collection_of_awkward_files_is_complete():
    assert len(CASES) >= 470


def test_blocks_with_the_same_names_are_separate_tables():
    printed = ["  a y", "1 5 u", "2 6 v", "3 7 u"]
    assert find_blocks([*printed, "  b z", *printed[1:]])
    assert not find_blocks([*printed, *printed])
    assert not find_blocks([*printed, "  b z", *printed[1:3], "9 9 9"])
