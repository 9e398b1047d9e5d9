"""Hidden rows and columns and leading zeros of .xls and .ods files are reported as those of .xlsx.

Each fixture holds the columns town, age and y. Rows 4 and 8 and the second column of ``hidden.xls``
are hidden, as are two rows and a column of ``hidden-*.ods``; ``chart.xls`` also has a chart.
"""

import pytest

from aucstudio.project.data.readers.workbook import looks
from aucstudio.project.data.table import read_table
from tests.project.test_formats import FIXTURES
from tests.project.test_workbook_looks import hidden_parts


@pytest.mark.parametrize("name", ["hidden.xls", "hidden-collapse.ods", "hidden-filter.ods"])
def test_hidden_parts_of_old_workbooks_are_reported(name):
    table = read_table(FIXTURES / name)
    assert hidden_parts(table) == {(2, "row"), (1, "column")}
    assert (table.rows, table.column("age").kind) == (40, "number")


@pytest.mark.parametrize("name", ["chart.xls", "shown.ods"])
def test_old_workbooks_without_hidden_parts_have_no_notice(name):
    assert not hidden_parts(read_table(FIXTURES / name))


def test_old_workbook_numbers_displayed_with_leading_zeros_are_codes():
    table = read_table(FIXTURES / "hidden.xls")
    assert table.column("town").values[:3].tolist() == ["01068", "01069", "01067"]
    assert table.column("age").values[:3].tolist() == [21, 22, 23]


def test_damaged_old_workbooks_have_no_display_properties(tmp_path):
    content = (FIXTURES / "hidden.xls").read_bytes()
    path = tmp_path / "t.xls"
    for place in range(0, 1600, 21):
        path.write_bytes(content[:place])
        assert not looks(path, "Data").rows
        path.write_bytes(content[:place] + b"\xff\xff" + content[place + 2 :])
        assert looks(path, "Data").rows <= set(range(1 << 16))
