"""HTML tables saved by portals and spreadsheet programs."""

import pytest

from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from tests.conftest import write_file


def page(tmp_path, body, encoding="utf-8", name="export.xls"):
    return write_file(tmp_path / name, body.encode(encoding))


def rows_of(*rows):
    return "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)


CASES = [[str(k), f"{k},5", ("yes", "no")[k % 2]] for k in range(40)]
TABLE = f"<table><tr><th>n<th>dose<th>sick</tr>{rows_of(*CASES)}</table>"


def values(table, name):
    return table.column(name).values.tolist()


def test_html_saved_by_a_spreadsheet_program_is_read(tmp_path):
    head = "<html xmlns:x=\"urn:schemas\"><head><meta charset=windows-1252><style>td{x:'<table>'}"
    cells = "<tr class=x><th rowspan=2>site</th><th colspan=2>blood</th><th>sick</th></tr>"
    cells += "<tr><th>iron</th><th>zinc</th><th>status</th></tr>"
    for k in range(30):
        cells += f'<tr><td x:num="{k}">Zürich<br>{k % 3}</td><td>{k}</td><td>&nbsp;</td>'
        cells += f"<td><b>{('yes', 'no')[k % 2]}</b></td></tr>"
    path = page(tmp_path, f"{head}</style></head><body><table>{cells}</table>", "cp1252")
    table = read_table(path)
    assert table.format == "html"
    assert table.columns[0].name.startswith("site")
    assert table.rows == 30
    assert values(table, table.columns[0].name)[:2] == ["Zürich 0", "Zürich 1"]
    assert values(table, table.columns[1].name) == list(map(float, range(30)))
    assert any("despite the ending of" in note for note in table.notes)


@pytest.mark.slow
def test_largest_html_table_is_read_and_others_can_be_chosen(tmp_path):
    small = f"<table>{rows_of(['a', 'b'], [1, 2], [3, 4])}</table>"
    layout = f"<table><tr><td>menu</td><td>{TABLE}</td></tr></table>"
    path = page(tmp_path, f"<html>{small}{layout}<script>'<table>'</script>", name="page.html")
    table = read_table(path)
    assert [c.name for c in table.columns] == ["n", "dose", "sick"]
    assert values(table, "dose") == [k + 0.5 for k in range(40)]
    assert any("there is also the table 'table 1'" in note for note in table.notes)
    other = read_table(path, dialect={"sheet": "table 1"})
    assert [c.name for c in other.columns] == ["a", "b"]
    with pytest.raises(InputError, match=r"has no table 'tables 1'.*did you mean 'table 1'"):
        read_table(path, dialect={"sheet": "tables 1"})


def test_spanning_cells_are_repeated(tmp_path):
    body = "<tr><th>site<th>x<th>y</tr><tr><td rowspan=3>A<td>1<td>p</tr><tr><td>2<td>q</tr>"
    body += "<tr><td>3<td>p</tr><tr><td>B<td colspan=2>4</tr><tr><td>B<td>5<td>q"
    table = read_table(page(tmp_path, f"<table>{body}"))
    assert values(table, "site") == ["A", "A", "A", "B", "B"]
    assert values(table, "x") == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_html_in_any_encoding_is_read(tmp_path, encoding):
    body = TABLE.replace("yes", "krank &amp; m\u00fcde").replace("sick", "Gef\u00fchl")
    table = read_table(page(tmp_path, f"<html>{body}</html>", encoding))
    assert table.columns[-1].name == "Gef\u00fchl"
    assert set(values(table, "Gef\u00fchl")) == {"krank & m\u00fcde", "no"}


@pytest.mark.parametrize(
    "body",
    [
        "<html><table></table></html>",
        "<html><table><tr><td>only</td></tr></table>",
        "<html><table><tr><td>one</td></tr><tr><td>column</td></tr></table>",
        "<table>" * 5_000,
    ],
)
def test_pages_without_a_data_table_are_refused(tmp_path, body):
    with pytest.raises(InputError, match="table of at least two columns"):
        read_table(page(tmp_path, body))


def test_huge_cell_spans_are_bounded(tmp_path):
    wide = "<tr><td colspan=999999999999>a<td rowspan=99999999999999999999>b<td>c</tr>"
    path = page(
        tmp_path, f"<table>{rows_of(['x', 'y', 'z'], [1, 2, 'u'], [3, 4, 'v'])}{wide}</table>"
    )
    assert read_table(path).rows >= 2


def test_title_across_the_table_is_not_a_column_name(tmp_path):
    body = TABLE.replace("<tr><th>n", "<tr><td colspan=3>Ward 7, 2024</tr><tr><th>n")
    table = read_table(page(tmp_path, f"<html>{body}"))
    assert [c.name for c in table.columns] == ["n", "dose", "sick"]
