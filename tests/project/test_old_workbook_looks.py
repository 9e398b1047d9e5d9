"""Hidden rows and columns and leading zeros of .xls and .ods files are seen as those of .xlsx."""

import struct
import zipfile

import pytest

from aucstudio.project.data.readers.workbook import looks
from aucstudio.project.data.table import read_table
from tests.project.test_workbook_looks import hidden_parts

SECTOR, END, FREE, TABLE = 512, 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
HEIGHT = 40


def record(kind, layout, *values, text=b""):
    body = struct.pack("<" + layout, *values) + text
    return struct.pack("<HH", kind, len(body)) + body


def short(text):
    return bytes([len(text), 0]) + text.encode("latin-1")


def begin(what):
    return record(0x809, "HHHHII", 0x600, what, 0, 1997, 0, 6)


def sheet_records(hidden_rows=(), hidden_columns=(), chart=b""):
    yield begin(0x10)
    yield record(0x200, "IIHHH", 0, HEIGHT + 1, 0, 3, 0)
    for column in hidden_columns:
        yield record(0x7D, "HHHHHH", column, column, 2560, 0, 1, 0)
    for row in range(HEIGHT + 1):
        yield record(0x208, "HHHHHHI", row, 0, 3, 255, 0, 0, 0x20 * (row in hidden_rows))
    yield chart
    for column, name in enumerate(("town", "age", "y")):
        text = name.encode()
        yield record(0x204, "HHHHB", 0, column, 0, len(text), 0, text=text)
    for k in range(1, HEIGHT + 1):
        yield record(0x203, "HHHd", k, 0, 1, 1067 + k % 3)
        yield record(0xBD, "HHHIHIH", k, 1, 0, (20 + k) << 2 | 2, 0, (k % 2) << 2 | 2, 2)
    yield record(0x0A, "")


def write_xls(path, **kept):
    sheet = b"".join(sheet_records(**kept))
    formats = [
        record(0x42, "H", 1200),
        record(0x41E, "HHB", 164, 5, 0, text=b"00000"),
        *(record(0xE0, "HH16x", 0, key) for key in (0, 164)),
    ]
    before = begin(5) + b"".join(formats)
    place = len(before) + len(record(0x85, "IH", 0, 0, text=short("Data"))) + 4
    book = before + record(0x85, "IH", place, 0, text=short("Data")) + record(0x0A, "") + sheet
    book = book.ljust(max(-(-len(book) // SECTOR) * SECTOR, 4096), b"\0")
    n = len(book) // SECTOR
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIIII", 0, 1, 1, 0, 4096, END, 0, END, 0, 0)[:36]
    header += struct.pack("<109I", 0, *[FREE] * 108)
    following = [TABLE, END, *range(3, n + 2), END]
    table = struct.pack("<128I", *following, *[FREE] * (128 - len(following)))

    def entry(name, kind, child, start, size):
        spelled = (name + "\0").encode("utf-16-le") if name else b""
        return struct.pack(
            "<64sHBBIII36xIQ", spelled, len(spelled), kind, 1, FREE, FREE, child, start, size
        )

    entries = [entry("Root Entry", 5, 1, END, 0), entry("Workbook", 2, FREE, 2, len(book))]
    directory = b"".join([*entries, *[entry("", 0, FREE, 0, 0)] * 2])
    path.write_bytes(header + table + directory + book)
    return path


def write_ods(path, hidden_rows="", hidden_columns=""):
    def cell(value):
        if isinstance(value, str):
            said = 'office:value-type="string"'
            return f"<table:table-cell {said}><text:p>{value}</text:p></table:table-cell>"
        return f'<table:table-cell office:value-type="float" office:value="{value}"/>'

    def row(*values, said=""):
        return f"<table:table-row {said}>{''.join(map(cell, values))}</table:table-row>"

    rows = [row("town", "age", "y"), *(row(k % 3, 20 + k, k % 2) for k in range(HEIGHT - 2))]
    rows += [row(1, 30, 1, said='table:number-rows-repeated="2" ' + hidden_rows)]
    spaces = " ".join(
        f'xmlns:{key}="urn:oasis:names:tc:opendocument:xmlns:{key}:1.0"'
        for key in ("office", "table", "text")
    )
    columns = f"<table:table-column/><table:table-column {hidden_columns}/><table:table-column/>"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="A &amp; B">{columns}{"".join(rows)}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


HIDDEN = {(2, "row"), (1, "column")}


def test_what_an_old_workbook_hides_is_told(tmp_path):
    table = read_table(write_xls(tmp_path / "t.xls", hidden_rows=(3, 7), hidden_columns=(1,)))
    assert hidden_parts(table) == HIDDEN
    assert table.rows == HEIGHT


def test_what_an_old_workbook_shows_is_not_told(tmp_path):
    chart = begin(0x20) + record(0x208, "HHHHHHI", 5, 0, 3, 255, 0, 0, 0x20) + record(0x0A, "")
    found = looks(write_xls(tmp_path / "t.xls", chart=chart), "Data")
    assert (found.rows, found.columns) == (set(), set())


def test_numbers_of_an_old_workbook_shown_with_leading_zeros_are_codes(tmp_path):
    table = read_table(write_xls(tmp_path / "t.xls"))
    assert table.column("town").values[:3].tolist() == ["01068", "01069", "01067"]
    assert table.column("age").values[:3].tolist() == [21, 22, 23]


def test_a_damaged_old_workbook_has_no_looks(tmp_path):
    path = write_xls(tmp_path / "t.xls", hidden_rows=(3,))
    content = path.read_bytes()
    for place in range(0, 1600, 21):
        path.write_bytes(content[:place])
        assert not looks(path, "Data").rows
        path.write_bytes(content[:place] + b"\xff\xff" + content[place + 2 :])
        assert looks(path, "Data").rows <= set(range(1 << 16))


@pytest.mark.parametrize("how", ["collapse", "filter"])
def test_what_an_opendocument_sheet_hides_is_told(tmp_path, how):
    said = f'table:visibility="{how}"'
    table = read_table(write_ods(tmp_path / "t.ods", said, said))
    assert hidden_parts(table) == HIDDEN
    assert (table.rows, table.column("age").kind) == (HEIGHT, "number")
    shown = read_table(write_ods(tmp_path / "s.ods"))
    assert not any("hidden" in note for note in shown.notes)
