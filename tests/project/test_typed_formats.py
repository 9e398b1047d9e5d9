"""What formats with types of their own hold besides numbers and words: read, or told."""

import datetime
import sqlite3
import struct

import duckdb
import openpyxl
import pytest

from aucstudio.project.data.readers.arff_syntax import day_reader
from aucstudio.project.data.readers.statistics import _counted
from aucstudio.project.data.table import read_table

ROWS = [[k / 4, k % 9, "ab"[k % 2], "yes" if k % 3 else "no"] for k in range(40)]


def told(table, *parts):
    return any(all(part in note for part in parts) for note in table.notes)


def write_workbook(path, sheets, hidden=()):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        sheet.sheet_state = "hidden" if name in hidden else "visible"
    book.save(path)
    return path


CODES = [["variable", "meaning"], ["x", "a measure"], ["n", "age"]]
TABLE = [["x", "n", "c", "y"], *ROWS]


def test_a_list_of_codes_before_the_table_is_passed_over(tmp_path):
    path = write_workbook(tmp_path / "t.xlsx", {"Codes": CODES, "Data": TABLE})
    table = read_table(path)
    assert (table.dialect.sheet, table.rows) == ("Data", 40)
    assert told(table, "sheet 'Data' is read; there is also the sheet 'Codes'")


@pytest.mark.slow
def test_a_hidden_sheet_is_not_read_for_its_width(tmp_path):
    narrow = [["x", "y"], *([row[0], row[3]] for row in ROWS)]
    path = write_workbook(tmp_path / "t.xlsx", {"Lists": TABLE, "Data": narrow}, {"Lists"})
    assert read_table(path).dialect.sheet == "Data"


def test_bytes_in_a_database_are_ignored(tmp_path):
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x, picture, y)")
        rows = [(row[0], struct.pack("d", row[0]), row[3]) for row in ROWS]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    connection.close()
    table = read_table(path)
    assert table.column("picture").role == "ignore"
    assert told(table, "stored as bytes is ignored: 'picture'")


def parquet(path, columns):
    duckdb.sql(f"COPY (SELECT {columns}, x % 2 AS y FROM range(40) t(x)) TO '{path}'")
    return read_table(path)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("(x / 8)::VARCHAR AS a", "although its cells are numbers"),
        ("(DATE '2024-01-01' + x::INT)::VARCHAR AS a", "although its cells are dates"),
        ("[x, x] AS a", "column a holds lists or records"),
        ("{'u': x} AS a", "column a holds lists or records"),
        ("TIMESTAMPTZ '2024-01-01 00:00:00+00' + x * INTERVAL 1 HOUR AS a", "count in UTC"),
    ],
)
def test_what_parquet_holds_as_text_or_with_a_zone_is_told(tmp_path, column, words):
    assert told(parquet(tmp_path / "t.parquet", f"x AS n, {column}"), words)


def test_codes_and_words_in_parquet_are_worth_no_word(tmp_path):
    columns = "x AS n, (x + 100)::VARCHAR AS code, 'w' || (x % 3) AS word"
    table = parquet(tmp_path / "t.parquet", columns)
    assert not any("although" in note or "lists" in note for note in table.notes)


def test_days_counted_by_a_spreadsheet_are_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("admission date,y\n" + "".join(f"{45000 + k},{k % 2}\n" for k in range(30)))
    assert told(read_table(path), "admission date", "days since 1899-12-30")


def test_times_with_a_zone_are_said_to_count_in_utc(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"2024-01-{k + 1:02d}T23:10+05:00,{k % 2}\n" for k in range(28)]
    path.write_text("at,y\n" + "".join(lines))
    assert told(read_table(path), "'2024-01-01T23:10+05:00' is 2024-01-01 18:10")
    path.write_text("at,y\n" + "".join(lines).replace("+05:00", "Z"))
    assert not told(read_table(path), "UTC")


HEAD = (
    "@relation r\n@attribute x numeric\n@attribute at date {form}\n@attribute y {{no,yes}}\n@data\n"
)


@pytest.mark.parametrize(
    ("form", "spelled"),
    [('"dd/MM/yyyy"', "%d/%m/%Y"), ("'MM-dd-yy'", "%m-%d-%y"), ("'d MMM yyyy'", "%d %b %Y")],
)
def test_days_of_arff_are_read_as_they_are_declared(tmp_path, form, spelled):
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=k % 11) for k in range(40)]
    path = tmp_path / "t.arff"
    lines = [
        f"{k},'{d.strftime(spelled)}',{'yes' if k % 3 else 'no'}\n" for k, d in enumerate(days)
    ]
    path.write_text(HEAD.format(form=form) + "".join(lines))
    epoch = datetime.date(1970, 1, 1)
    assert read_table(path).column("at").values.tolist() == [(d - epoch).days for d in days]


def test_an_unknown_way_to_write_days_leaves_them_as_they_are():
    assert day_reader("EEE, yyyy")("Mon, 2024") == "Mon, 2024"
    assert day_reader("yyyy-MM-dd'T'HH:mm:ss")("2024-02-03T04:05:06") == "2024-02-03 04:05:06"
    assert day_reader("dd.MM.yyyy")("31.02.2024") == "31.02.2024"


def test_levels_that_are_not_declared_are_named(tmp_path):
    path = tmp_path / "t.arff"
    head = "@relation r\n@attribute x numeric\n@attribute c {a,b}\n@attribute y {no,yes}\n@data\n"
    path.write_text(
        head + "".join(f"{k},{'abz'[k % 3]},{'yes' if k % 2 else 'no'}\n" for k in range(30))
    )
    assert told(read_table(path), "column c has levels", "'z'")


def test_months_of_stata_are_told():
    assert list(_counted({"a": "%tm", "b": "%9.0g", "c": "%td"})) == [
        "columns that count months since 1960-01 are read as these numbers: 'a'"
    ]
