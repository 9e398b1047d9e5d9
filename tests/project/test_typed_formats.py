"""Special content of typed formats is read or reported."""

import datetime
import json
import sqlite3
import struct

import duckdb
import openpyxl
import pytest

from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.data.preview import HeadReader
from aucstudio.project.data.readers.arff import day_reader
from aucstudio.project.data.readers.rejected import write_rejected
from aucstudio.project.data.readers.statistics import counted_units
from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from tests.conftest import write_file, write_parquet
from tests.project.test_formats import FIXTURES, write_workbook

ROWS = [[k / 4, k % 9, "ab"[k % 2], "yes" if k % 3 else "no"] for k in range(40)]


def has_note(table, *parts):
    return any(all(part in note for part in parts) for note in table.notes)


CODES = [["variable", "meaning"], ["x", "a measure"], ["n", "age"]]
TABLE = [["x", "n", "c", "y"], *ROWS]


def test_code_list_sheet_before_the_table_is_skipped(tmp_path):
    path = write_workbook(tmp_path / "t.xlsx", {"Codes": CODES, "Data": TABLE})
    table = read_table(path)
    assert (table.dialect.sheet, table.rows) == ("Data", 40)
    assert has_note(table, "sheet 'Data' is read; there is also the sheet 'Codes'")


@pytest.mark.slow
def test_wider_hidden_sheet_is_not_preferred(tmp_path):
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
    assert has_note(table, "stored as bytes are ignored: 'picture'")


def parquet(path, columns):
    return read_table(write_parquet(path, f"SELECT {columns}, x % 2 AS y FROM range(40) t(x)"))


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("(x / 8)::VARCHAR AS a", "although its cells are numbers"),
        ("(DATE '2024-01-01' + x::INT)::VARCHAR AS a", "although its cells are dates"),
        ("[x, x] AS a", "column a holds lists or records"),
        ("[{'u': x}] AS a", "column a holds lists or records"),
        ("TIMESTAMPTZ '2024-01-01 00:00:00+00' + x * INTERVAL 1 HOUR AS a", "converted to UTC"),
    ],
)
def test_parquet_texts_lists_and_time_zones_are_noted(tmp_path, column, words):
    assert has_note(parquet(tmp_path / "t.parquet", f"x AS n, {column}"), words)


def test_fields_of_records_in_parquet_are_columns(tmp_path):
    at = "{'place': {'x': x / 2, 'far': x > 9}, 'site': CASE WHEN x % 3 = 0 THEN 'a' ELSE 'b' END}"
    path = tmp_path / "t.parquet"
    table = parquet(path, f"x AS n, {at} AS at, {{'n': x}} AS AT2, 3 * x AS \"at.site\"")
    names = [column.name for column in table.columns]
    assert names[1:6] == ["at.place.x", "at.place.far", "at.site", "AT2.n", "at.site_2"]
    assert table.column("at.place.x").values.tolist()[:3] == [0.0, 0.5, 1.0]
    assert table.column("at.site").values.tolist()[:4] == ["a", "b", "b", "a"]


def test_infinite_field_of_a_record_is_missing(tmp_path):
    cells = "{'v': CASE WHEN x = 3 THEN 'inf'::DOUBLE ELSE x END}"
    table = parquet(tmp_path / "t.parquet", f"x AS n, {cells} AS r")
    assert table.column("r.v").missing == 1


def test_parquet_durations_are_read_as_hours(tmp_path):
    table = parquet(tmp_path / "t.parquet", "x AS n, x * INTERVAL 30 MINUTE AS stay")
    assert table.column("stay").values.tolist()[:3] == [0.0, 0.5, 1.0]
    assert has_note(table, "durations in column stay are read as hours")


def test_pandas_durations_are_read_as_hours(tmp_path):
    said = '{"field_name":"stay","numpy_type":"timedelta64[us]"}'
    cells = "SELECT x AS n, 900000000 * x AS stay, x % 2 AS y FROM range(20) AS r(x)"
    pandas = f"pandas: '{{\"columns\":[{said}]}}'"
    table = read_table(write_parquet(tmp_path / "t.parquet", cells, pandas))
    assert table.column("stay").values.tolist()[:3] == [0.0, 0.25, 0.5]
    assert has_note(table, "durations in column stay are read as hours")


INVALID = {
    "pandas": ["no JSON", "[]", '{"columns":3}', '{"columns":[{}]}'],
    "aucstudio.names": ['["x"]', '{"x": 1}', "3", "[1, 2]"],
}


@pytest.mark.parametrize(("key", "text"), [(key, one) for key in INVALID for one in INVALID[key]])
def test_invalid_metadata_of_a_parquet_file_are_ignored(tmp_path, key, text):
    rows = "SELECT x AS n, x % 2 AS y FROM range(20) AS r(x)"
    path = write_parquet(tmp_path / "t.parquet", rows, f"'{key}': '{text}'")
    assert read_table(path).rows == 20


def merged_workbook(path, *ranges, title=False):
    book = openpyxl.Workbook()
    sheet = book.active
    above = [["Report", None, None, None]] if title else []
    rows = [*above, ["site", "ward", "dose", "y"]]
    rows += [[None, None, 1.5 * k, "no" if k % 3 else "yes"] for k in range(12)]
    for row in rows:
        sheet.append(row)
    for cells, value in ranges:
        sheet[cells.split(":")[0]] = value
        sheet.merge_cells(cells)
    book.save(path)
    return read_table(path)


def test_vertically_merged_cell_fills_all_its_rows(tmp_path):
    sites = ("A2:A7", "a"), ("A8:A13", "b")
    wards = (("B2:B4", "w"), ("B5:B7", "v"), ("B8:B13", "w"))
    table = merged_workbook(tmp_path / "m.xlsx", *sites, *wards)
    assert table.column("site").values.tolist() == ["a"] * 6 + ["b"] * 6
    assert table.column("ward").values.tolist() == ["w"] * 3 + ["v"] * 3 + ["w"] * 6
    assert has_note(table, "19 cells merged with the cells above over several rows")


def test_merged_titles_are_not_filled_into_rows(tmp_path):
    path = tmp_path / "m.xlsx"
    table = merged_workbook(path, ("A1:D1", "Report"), ("A3:A14", "a"), ("B3:B14", "b"), title=True)
    assert [column.name for column in table.columns] == ["site", "ward", "dose", "y"]
    assert table.rows == 12
    assert table.column("site").missing == 0


@pytest.mark.parametrize("name", ["a[1].parquet", "b*'.parquet", "c?.parquet"])
def test_parquet_in_a_linked_folder_with_marks_of_patterns_is_read(tmp_path, name):
    folder, link = tmp_path / "real", tmp_path / "link [x]"
    folder.mkdir()
    link.symlink_to(folder)
    parquet(folder / "t.parquet", "x AS n, 2 * x AS m")
    path = (folder / "t.parquet").rename(folder / name)
    assert read_table(link / path.name).column("m").values.tolist() == [
        2 * x for x in read_table(path).column("n").values.tolist()
    ]


def test_parquet_codes_and_words_have_no_note(tmp_path):
    columns = "x AS n, (x + 100)::VARCHAR AS code, 'w' || (x % 3) AS word"
    table = parquet(tmp_path / "t.parquet", columns)
    assert not any("although" in note or "lists" in note for note in table.notes)


def test_spreadsheet_day_numbers_are_noted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("admission date,y\n" + "".join(f"{45000 + k},{k % 2}\n" for k in range(30)))
    assert has_note(read_table(path), "admission date", "days since 1899-12-30")


def test_times_with_a_zone_are_noted_as_utc(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"2024-01-{k + 1:02d}T23:10+05:00,{k % 2}\n" for k in range(28)]
    path.write_text("at,y\n" + "".join(lines))
    assert has_note(read_table(path), "'2024-01-01T23:10+05:00' is 2024-01-01 18:10")
    path.write_text("at,y\n" + "".join(lines).replace("+05:00", "Z"))
    assert not has_note(read_table(path), "UTC")


HEAD = (
    "@relation r\n@attribute x numeric\n@attribute at date {form}\n@attribute y {{no,yes}}\n@data\n"
)


@pytest.mark.parametrize(
    ("form", "spelled"),
    [('"dd/MM/yyyy"', "%d/%m/%Y"), ("'MM-dd-yy'", "%m-%d-%y"), ("'d MMM yyyy'", "%d %b %Y")],
)
def test_arff_dates_are_read_in_their_declared_format(tmp_path, form, spelled):
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=k % 11) for k in range(40)]
    path = tmp_path / "t.arff"
    lines = [
        f"{k},'{d.strftime(spelled)}',{'yes' if k % 3 else 'no'}\n" for k, d in enumerate(days)
    ]
    path.write_text(HEAD.format(form=form) + "".join(lines))
    epoch = datetime.date(1970, 1, 1)
    assert read_table(path).column("at").values.tolist() == [(d - epoch).days for d in days]


def test_unknown_date_format_leaves_cells_unchanged():
    assert day_reader("EEE, yyyy")("Mon, 2024") == "Mon, 2024"
    assert day_reader("yyyy-MM-dd'T'HH:mm:ss")("2024-02-03T04:05:06") == "2024-02-03 04:05:06"
    assert day_reader("dd.MM.yyyy")("31.02.2024") == "31.02.2024"


def test_undeclared_arff_levels_are_noted(tmp_path):
    path = tmp_path / "t.arff"
    head = "@relation r\n@attribute x numeric\n@attribute c {a,b}\n@attribute y {no,yes}\n@data\n"
    path.write_text(
        head + "".join(f"{k},{'abz'[k % 3]},{'yes' if k % 2 else 'no'}\n" for k in range(30))
    )
    assert has_note(read_table(path), "column c has levels", "'z'")


def test_stata_months_are_noted():
    remarks = counted_units({"a": "%tm", "b": "%9.0g", "c": "%td"})
    assert [remark.sentence for remark in remarks] == [
        "columns that count months since 1960-01 are read as numbers: 'a'"
    ]


def test_stata_date_out_of_range_stays_a_number():
    table = read_table(FIXTURES / "far-days.dta")
    assert (table.rows, table.column("seen").kind) == (40, "number")
    assert has_note(table, "column seen: 40 days outside the supported date range stay numbers")


def test_spss_nominal_codes_are_categories():
    table = read_table(FIXTURES / "nominal.sav")
    assert [table.column(name).role for name in ("age", "blood", "y")] == [
        "number",
        "category",
        "label",
    ]
    assert has_note(table, "of nominal codes are categories: 'blood'")
    assert has_note(table, "read as numbers: 'age' (99 is 'not stated')")


def test_duckdb_table_keeps_its_types(tmp_path):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT {'a': k, 'b': k * 0.5} AS s, k * INTERVAL 30 MINUTE AS stay, "
            "TIMESTAMPTZ '2024-01-01 00:00:00+02' + k * INTERVAL 1 HOUR AS at, k % 2 AS y "
            "FROM range(40) AS r(k)"
        )
    table = read_table(path)
    assert [c.name for c in table.columns] == ["s.a", "s.b", "stay", "at", "y"]
    assert table.column("stay").values[:3].tolist() == [0.0, 0.5, 1.0]
    assert has_note(table, "column at holds times with a time zone")


@pytest.mark.parametrize(
    ("last", "label"),
    [("zip {01067,10115,04109}", "outcome"), ("class {01067,10115,04109}", "class")],
)
def test_label_of_arff_is_the_last_or_the_named_attribute(tmp_path, last, label):
    path = tmp_path / "t.arff"
    head = f"@relation r\n@attribute x numeric\n@attribute outcome {{no,yes}}\n@attribute {last}\n"
    lines = [f"{k},{'yes' if k % 3 else 'no'},{['01067', '10115'][k % 2]}\n" for k in range(40)]
    path.write_text(head + "@data\n" + "".join(lines))
    assert read_table(path).label == label


def test_multi_label_rows_are_refused_with_their_line(tmp_path):
    path = write_file(tmp_path / "t.svm", "1 1:2 2:3\n1,2 1:3 2:4\n" * 20)
    with pytest.raises(InputError, match="line 2: rows with several labels"):
        read_table(path)


def json_table(path, whole, **choices):
    path.write_text(json.dumps(whole))
    return read_table(path, **choices)


RECORDS = [{"x": row[0], "n": row[1], "y": row[3]} for row in ROWS]


def test_one_of_several_json_lists_can_be_chosen(tmp_path):
    whole = {"train": RECORDS, "test": RECORDS[:9]}
    table = json_table(tmp_path / "t.json", whole)
    assert (table.rows, table.dialect.sheet) == (40, "train")
    assert has_note(table, "list 'train' is read; there is also the list 'test'")
    assert json_table(tmp_path / "t.json", whole, dialect={"sheet": "test"}).rows == 9


def test_deeply_nested_json_records_are_found(tmp_path):
    hits = {"total": {"value": 40}, "hits": [{"_source": record} for record in RECORDS]}
    table = json_table(tmp_path / "t.json", {"took": 3, "hits": hits})
    assert [c.name for c in table.columns] == ["_source.x", "_source.n", "_source.y"]
    # Named records are rows, whatever lists they contain.
    named = {f"P{k}": {**record, "visits": [{"at": k}]} for k, record in enumerate(RECORDS)}
    assert json_table(tmp_path / "t.json", named).rows == 40


def test_merged_header_is_part_of_each_column_name(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    for row in [[None, "Base", None, "End"], [None, "age", "bmi", "y"], []]:
        sheet.append(row)
    for k in range(30):
        sheet.append([k, 20 + k * 7 % 40, k % 9 / 2, k % 2])
    sheet.merge_cells("B1:C1")
    book.save(tmp_path / "t.xlsx")
    names = [column.name for column in read_table(tmp_path / "t.xlsx").columns]
    assert names == ["row", "Base age", "Base bmi", "End y"]


def test_named_json_records_may_contain_numbers_and_lists(tmp_path):
    named = {f"P{k}": {"x": row[0], "n": row[1], "y": k % 2} for k, row in enumerate(ROWS)}
    assert json_table(tmp_path / "t.json", named).rows == 40
    named = {name: {**record, "tests": [1, 2]} for name, record in named.items()}
    assert json_table(tmp_path / "t.json", named).rows == 40
    columns = {name: {str(k): row[j] for k, row in enumerate(ROWS)} for j, name in enumerate("xny")}
    assert json_table(tmp_path / "t.json", columns).rows == 40


def test_json_list_describing_columns_is_not_the_table(tmp_path):
    fields = [{"id": name, "type": "text"} for name in "xny"]
    answer = {"result": {"fields": fields, "records": RECORDS}}
    assert json_table(tmp_path / "t.json", answer).rows == 40
    rows = [[row[0], row[1], row[3]] for row in ROWS]
    columns = [{"name": name, "format": "a"} for name in "xny"]
    table = json_table(tmp_path / "t.json", {"meta": {"view": {"columns": columns}}, "data": rows})
    assert ([c.name for c in table.columns], table.rows) == (["x", "n", "y"], 40)


def test_json_rows_without_names_are_noted(tmp_path):
    table = json_table(tmp_path / "t.json", [[row[0], row[1], k % 2] for k, row in enumerate(ROWS)])
    assert ([c.name for c in table.columns], table.rows) == (["c1", "c2", "c3"], 40)
    assert has_note(table, "the rows have no field names: the columns are named c1 to c3")


@pytest.mark.parametrize(
    ("other", "columns", "row"),
    [
        ("TABLE django_migrations", "(id, app, name)", "(1, 'a', 'b')"),
        # The internal tables of a full-text index are skipped.
        ("VIRTUAL TABLE docs", "USING fts5(title, body)", "('a', 'b')"),
    ],
)
def test_internal_database_tables_are_skipped(tmp_path, other, columns, row):
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE {other} {columns}")
        connection.execute(f"INSERT INTO {other.split()[-1]} VALUES {row}, {row}")
        connection.execute("CREATE TABLE cases (x, n, c, y)")
        connection.executemany("INSERT INTO cases VALUES (?, ?, ?, ?)", ROWS)
    connection.close()
    assert read_table(path).dialect.sheet == "cases"


def database(path, columns, rows):
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE t ({columns})")
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO t VALUES ({marks})", rows)
    connection.close()
    return path


def test_only_texts_of_a_database_are_classified(tmp_path):
    rows = [
        (k / 4, 20240101 + k % 28, f"{k},5", "n/a" if k == 7 else k, f"{k:05d}", 10**17 + k, k % 2)
        for k in range(60)
    ]
    columns = "x REAL, day INTEGER, dose TEXT, n, code TEXT, account INTEGER, y"
    table = read_table(database(tmp_path / "t.sqlite", columns, rows))
    assert {column.name: column.kind for column in table.columns} == {
        "x": "number",
        "day": "number",
        "dose": "number",
        "n": "number",
        "code": "text",
        "account": "text",
        "y": "number",
    }
    assert table.column("day").is_date
    assert table.column("dose").values[:2].tolist() == [0.5, 1.5]
    assert table.column("n").missing == 1
    assert table.column("account").values[1] == "100000000000000001"
    assert [f.columns for f in table.remarks if f.code == "format_long_integers"] == [("account",)]


def test_declared_days_have_no_notice_about_their_notation():
    table = read_table(FIXTURES / "dates.dta")
    assert table.column("seen").is_date
    assert "import_dates" not in [finding.code for finding in table.remarks]


@pytest.mark.parametrize("ending", ["sqlite", "parquet", "jsonl"])
def test_spellings_of_missing_values_apply_to_numbers_of_typed_files(tmp_path, ending):
    rows = [(-99 if k % 5 == 0 else k, "none" if k % 4 == 0 else "ab"[k % 2]) for k in range(40)]
    path = tmp_path / f"t.{ending}"
    if ending == "sqlite":
        database(path, "x INTEGER, y TEXT", rows)
    elif ending == "jsonl":
        path.write_text("".join(json.dumps({"x": x, "y": y}) + "\n" for x, y in rows))
    else:
        listed = ", ".join(f"({x}, '{y}')" for x, y in rows)
        write_parquet(path, f"FROM (VALUES {listed}) t(x, y)")
    dialect = {"missing": ("-99", "None")}
    table = read_table(path, dialect=dialect)
    assert [column.missing for column in table.columns] == [8, 10]
    later = read_table(path, schema=table.schema)
    assert [column.missing for column in later.columns] == [8, 10]


@pytest.mark.parametrize("read", [read_table, open_stream])
def test_infinite_numbers_of_a_database_are_missing(tmp_path, read):
    rows = [(k, float("inf") if k == 7 else k / 4, k % 2) for k in range(40)]
    table = read(database(tmp_path / "t.sqlite", "n, x, y", rows))
    assert (table.missing()["x"], table.unreadable["x"].count) == (1, 1)


def test_out_of_memory_database_reads_texts_as_numbers(tmp_path):
    rows = [(k / 4, f"{k},5", k % 2) for k in range(40)]
    table = open_stream(database(tmp_path / "t.sqlite", "x, dose TEXT, y", rows))
    assert table.window(1, 3, ["dose"]).column("dose").values.tolist() == [1.5, 2.5]
    table.close()


def first_rows(path):
    return HeadReader(path, path.parent).read(ImportChoices()).table


SITES = [(f"s{k}", k / 4, k % 2) for k in range(40)]
TOTAL = ("Total", 195.0, None)


def sites(folder, ending, rows):
    path = folder / f"t.{ending}"
    if ending == "dta":
        path.write_bytes((FIXTURES / "total.dta").read_bytes())
    elif ending == "json":
        path.write_text(
            json.dumps([dict(zip(("site", "x", "y"), row, strict=True)) for row in rows])
        )
    else:
        database(path, "site, x, y", rows)
    return path


@pytest.mark.parametrize("read", [read_table, open_stream, first_rows])
@pytest.mark.parametrize("ending", ["sqlite", "json", "dta"])
def test_total_below_the_rows_of_a_typed_file_is_left_out(tmp_path, ending, read):
    table = read(sites(tmp_path, ending, [*SITES, TOTAL]))
    assert (table.rows, table.missing()) == (40, {"site": 0, "x": 0, "y": 0})
    assert [(row.row, row.reason) for row in table.rejected] == [(41, "a row of totals")]
    (remark,) = (f for f in table.remarks if f.code == "import_line")
    assert (remark.rows, "row 41 left out" in remark.sentence) == (1, True)
    with pytest.raises(InputError, match="is not a text file") as refused:
        write_rejected(table, tmp_path / "left.csv")
    assert refused.value.code == "rejected_not_text"


@pytest.mark.parametrize("read", [read_table, open_stream, first_rows])
@pytest.mark.parametrize("ending", ["sqlite", "json"])
def test_total_that_occurs_further_above_is_a_level_of_a_typed_file(tmp_path, ending, read):
    table = read(sites(tmp_path, ending, [*SITES[:9], TOTAL, *SITES[9:], TOTAL]))
    assert (table.rows, table.rejected_rows) == (42, 0)


def test_subtotals_of_a_typed_file_are_left_out_with_its_total(tmp_path):
    groups = [*SITES[:20], ("Subtotal", 5.0, None), *SITES[20:], ("Subtotal", 9.0, None)]
    table = read_table(sites(tmp_path, "sqlite", [*groups, TOTAL]))
    assert [row.row for row in table.rejected] == [21, 42, 43]
    assert table.file_rows.tolist() == [*range(1, 21), *range(22, 42)]


def test_total_is_left_out_of_a_later_typed_file_as_in_training(tmp_path):
    later = sites(tmp_path, "json", [*SITES[:5], TOTAL])
    for rows, expected in ([*SITES, TOTAL], 5), (SITES, 6):
        schema = read_table(sites(tmp_path, "sqlite", rows)).schema
        (tmp_path / "t.sqlite").unlink()
        assert read_table(later, schema=schema, need_label=False).rows == expected


@pytest.mark.parametrize("read", [read_table, open_stream])
def test_names_repeated_in_a_database_are_left_out(tmp_path, read):
    path = sites(tmp_path, "sqlite", [*SITES[:20], ("site", "x", "y"), *SITES[20:]])
    table = read(path)
    assert [(row.row, row.reason) for row in table.rejected] == [
        (21, "the names of the columns again")
    ]
    assert [column.kind for column in table.columns] == ["text", "number", "number"]
    numbers = table if read is read_table else table.window(0, 40, ["x"])
    assert numbers.column("x").values.tolist() == [row[1] for row in SITES]


def test_total_of_a_parquet_file_is_a_row(tmp_path):
    listed = ", ".join(f"('{site}', {x}, {y})" for site, x, y in SITES)
    cells = f"FROM (VALUES {listed}, ('Total', 195.0, NULL)) t(site, x, y)"
    assert read_table(write_parquet(tmp_path / "t.parquet", cells)).rows == 41


def test_preview_of_a_long_parquet_file_keeps_names_that_differ_in_case(tmp_path):
    cells = "SELECT x AS c0, 2 * x AS c1, x % 2 AS c2 FROM range(5000) AS r(x)"
    names = '\'aucstudio.names\': \'["a","A","y"]\''
    path = write_parquet(tmp_path / "t.parquet", cells, names)
    head = HeadReader(path, tmp_path).read(ImportChoices())
    assert not head.whole
    assert head.settings == {"missing", "limits"}
    assert [column.name for column in head.table.columns] == ["a", "A", "y"]
    assert [column.name for column in read_table(path).columns] == ["a", "A", "y"]
