"""XML spreadsheets of 2003."""

import pytest

from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError

SPACE = "urn:schemas-microsoft-com:office:spreadsheet"


def book(tmp_path, sheets, name="report.xls", encoding="utf-8"):
    made = "".join(
        f'<Worksheet ss:Name="{title}"><Table>{body}</Table></Worksheet>'
        for title, body in sheets.items()
    )
    path = tmp_path / name
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    text = f'{head}<ss:Workbook xmlns="{SPACE}" xmlns:ss="{SPACE}">{made}</ss:Workbook>'
    path.write_bytes(text.encode(encoding))
    return path


def row(*cells, index=""):
    made = "".join(
        f'<Cell{more}><Data ss:Type="{kind}">{v}</Data></Cell>' for kind, v, more in cells
    )
    return f"<Row{index}>{made}</Row>"


def text(value, more=""):
    return "String", value, more


NAMES = row(text("x"), text("when"), text("smokes"), text("y"))


def case(k):
    cells = [("Number", k + 0.5, ""), ("DateTime", f"2024-02-{k + 1:02d}T00:00:00.000", "")]
    return row(*cells, ("Boolean", k % 2, ""), text(("yes", "no")[k % 2]))


BODY = NAMES + "".join(map(case, range(20)))


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_cell_types_become_column_types(tmp_path, encoding):
    table = read_table(book(tmp_path, {"Caf\u00e9": BODY}, encoding=encoding))
    assert table.format == "excel-xml"
    assert [c.name for c in table.columns] == ["x", "when", "smokes", "y"]
    assert table.column("x").values.tolist() == [k + 0.5 for k in range(20)]
    assert table.column("when").is_date
    assert table.label == "y"


@pytest.mark.slow
def test_empty_sheets_are_skipped_and_empty_cells_are_missing(tmp_path):
    missing = row(("Number", 7, ""), text("no", ' ss:Index="4"'), index=' ss:Index="24"')
    path = book(tmp_path, {"Cover": row(text("Report")), "Data": BODY + missing})
    table = read_table(path)
    assert table.rows == 21
    assert table.column("smokes").missing == 1
    assert any("sheet 'Data' is read" in note for note in table.notes)
    with pytest.raises(InputError, match="no sheet 'Dta'"):
        read_table(path, dialect={"sheet": "Dta"})


def test_error_cells_are_missing(tmp_path):
    wrong = row(("Error", "#DIV/0!", ""), text("2024-03-01"), ("Boolean", 1, ""), text("no"))
    assert read_table(book(tmp_path, {"Data": BODY + wrong})).column("x").missing == 1


@pytest.mark.slow
def test_entity_bombs_and_indices_beyond_a_sheet_are_refused(tmp_path):
    path = book(tmp_path, {"Data": BODY + row(text("a", ' ss:Index="99999999999"'))})
    with pytest.raises(InputError, match="beyond the limits of a sheet"):
        read_table(path)
    levels = "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 20}">' for k in range(9))
    bomb = f'<!DOCTYPE b [<!ENTITY e0 "boom">{levels}]>'
    path = book(tmp_path, {"Data": row(text("&e9;"), text("y")) * 3})
    path.write_text(path.read_text().replace("?>", f"?>{bomb}", 1))
    with pytest.raises(InputError, match=r"report\.xls"):
        read_table(path)
