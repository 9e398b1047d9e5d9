"""Display properties of workbooks: hidden parts, leading zeros, percentages, code books."""

import datetime
import zipfile

import openpyxl
import pytest

from aucstudio.project.data.readers.workbook import looks
from aucstudio.project.data.table import read_table
from tests.conftest import write_file

NAMES = ["id", "age", "rate", "town", "y"]


def write_book(path, change=lambda sheet: None, before=()):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Data"
    for row in [NAMES, *([k, 20 + k % 40, k % 9 / 10, 1067 + k % 3, k % 2] for k in range(40))]:
        sheet.append(row)
    change(sheet)
    for rows in before:
        first = book.create_sheet("Variables", 0)
        for row in rows:
            first.append(row)
    book.save(path)
    return path


def hidden_parts(table):
    """Return how many rows or columns are reported as hidden."""
    reported = [notice.notice() for notice in table.notices if notice.code == "format_hidden"]
    return {(one["values"]["count"], one["values"]["what"]) for one in reported}


def hide_rows(sheet):
    for row in (3, 7, 60):
        sheet.row_dimensions[row].hidden = True


def hide_columns(sheet):
    sheet.column_dimensions["C"].hidden = True


@pytest.mark.parametrize(
    ("change", "hidden"), [(hide_rows, (2, "row")), (hide_columns, (1, "column"))]
)
def test_hidden_rows_and_columns_are_read_with_a_notice(tmp_path, change, hidden):
    table = read_table(write_book(tmp_path / "t.xlsx", change))
    assert hidden_parts(table) == {hidden}
    assert (table.rows, [column.name for column in table.columns]) == (40, NAMES)


def test_numbers_displayed_with_leading_zeros_are_codes(tmp_path):
    def show(sheet):
        for cell in sheet["D"]:
            cell.number_format = "00000"
        sheet["D5"] = "10115"

    table = read_table(write_book(tmp_path / "t.xlsx", show))
    assert table.column("town").values[:4].tolist() == ["01067", "01068", "01069", "10115"]
    assert table.column("age").kind == "number"


def test_text_numbers_are_read_like_the_other_cells(tmp_path):
    def write(sheet):
        sheet["C3"], sheet["C4"], sheet["C5"], sheet["B4"] = "64 %", "1.234,5", "7.5%", "45%"

    table = read_table(write_book(tmp_path / "t.xlsx", write))
    assert table.column("rate").values[1:4].tolist() == [0.64, 1234.5, 0.075]
    # Among integers a percentage is ambiguous.
    assert table.column("age").missing == 1


def test_comma_before_three_digits_is_a_thousands_separator(tmp_path):
    def write(sheet):
        sheet["C3"] = "12,500"

    assert read_table(write_book(tmp_path / "t.xlsx", write)).column("rate").values[1] == 12_500


def test_dates_among_words_are_noted(tmp_path):
    def write(sheet):
        for row in range(2, 42):
            sheet.cell(row, 4, ["TP53", "EGFR"][row % 2])
        sheet["D7"] = sheet["D9"] = datetime.date(2024, 3, 1)

    table = read_table(write_book(tmp_path / "t.xlsx", write))
    (note,) = (note for note in table.notes if "among words" in note)
    assert note.startswith("column town: 2 cells among words are dates, the first in row 7")


def test_dates_above_the_table_have_no_note(tmp_path):
    def write(sheet):
        sheet.insert_rows(1, 2)
        sheet["A1"], sheet["B1"] = "As of", datetime.date(2024, 3, 1)
        for row in range(4, 44):
            sheet.cell(row, 2, ["a", "b"][row % 2])

    table = read_table(write_book(tmp_path / "t.xlsx", write))
    assert table.rows == 40
    assert not any("among words" in note for note in table.notes)


def test_code_book_sheet_before_the_table_is_skipped(tmp_path):
    rows = [["variable", "meaning", "values"], *([name, "as asked", "-"] for name in NAMES)]
    path = write_book(tmp_path / "t.xlsx", before=[rows + [["old", "not given", ""]] * 60])
    assert read_table(path).dialect.sheet == "Data"
    # A sheet is a code book only if it names the columns of another sheet.
    others = [["a", "b", "y"], *([k, k % 7, k % 2] for k in range(30))]
    assert read_table(write_book(path, before=[others])).dialect.sheet == "Variables"


def test_workbook_is_recognised_by_content(tmp_path):
    path = write_book(tmp_path / "t.xlsx").rename(tmp_path / "t.xls")
    assert read_table(path).rows == 40


def test_formulas_without_stored_values_are_reported(tmp_path):
    def write(sheet):
        sheet.insert_cols(1)
        for row in range(2, 42):
            sheet.cell(row, 4, f"=C{row}/2")

    table = read_table(write_book(tmp_path / "t.xlsx", write))
    (note,) = (note for note in table.notes if "formulas" in note)
    assert note.startswith("column rate holds formulas whose values were not stored")


def test_formulas_of_empty_text_are_not_reported(tmp_path):
    def write(sheet):
        for row in range(2, 42):
            sheet.cell(row, 3).value = None

    path = write_book(tmp_path / "t.xlsx", write)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    cell = b'<c r="C3" t="str"><f>IF(B3=0,1,"")</f><v></v></c><c r="D3"'
    files[name] = files[name].replace(b'<c r="D3"', cell)
    with zipfile.ZipFile(path, "w") as archive:
        for one, content in files.items():
            archive.writestr(one, content)
    assert cell in files[name]
    assert not any("formulas" in note for note in read_table(path).notes)


def test_invalid_workbooks_have_no_display_properties(tmp_path):
    path = write_file(tmp_path / "t.xlsx", b"no archive")
    assert not looks(path, "Data").rows
    for content in (b"", b"<workbook/>", b"<a><sheet name='Data'/></a>"):
        with zipfile.ZipFile(path, "w") as archive:
            for name in ("xl/styles.xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"):
                archive.writestr(name, content)
        assert not looks(path, "Data").widths


def test_workbook_is_read_by_its_schema_as_it_was(tmp_path):
    def as_text(sheet):
        for k, cell in enumerate(sheet["B"][1:]):
            cell.value = f"1.{100 + k},50 \u20ac"

    path = write_book(tmp_path / "t.xlsx", as_text)
    table = read_table(path, label="y")
    again = read_table(path, schema=table.schema)
    assert again.schema.reading() == table.schema.reading()
    assert again.column("age").values.tolist() == table.column("age").values.tolist()
    assert table.column("age").values[:2].tolist() == [1100.5, 1101.5]


@pytest.mark.parametrize("rows", [40, 20_000])
def test_messages_name_the_rows_of_the_sheet(tmp_path, rows):
    book = openpyxl.Workbook()
    book.active.append(["Portfolio\nof 2026"])
    book.active.append(["id", "loan\n(EUR)", "town", "y"])
    for k in range(rows):
        loan = "n. a. (see remark)" if k == 11 else 100 + k % 37
        book.active.append([k + 1, loan, "a\nb" if k % 9 == 0 else "c", k % 2])
    book.active.append(["Total", 4000, None, None])
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx", label="y", roles={"loan\n(EUR)": "number"})
    assert [row.line for row in table.rejected] == [rows + 3]
    assert table.unreadable["loan\n(EUR)"].line == 14
