"""Tables in all formats are recognised by content and read to the same cells, or refused."""

import bz2
import csv
import datetime
import gzip
import html
import io
import json
import lzma
import random
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import duckdb
import numpy as np
import openpyxl
import pytest
import zstandard

from aucstudio.cli import main
from aucstudio.project import child_process
from aucstudio.project.data import input_files
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.input_files import join
from aucstudio.project.data.preview import heading
from aucstudio.project.data.readers import formats
from aucstudio.project.data.readers.reading import make_plain
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import Cancelled, InputError
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.experiment_file import read_study, write_study
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.store.workspace import keep_text, read_text
from tests.conftest import write_file

FIXTURES = Path(__file__).parent / "fixtures" / "formats"
CSV = FIXTURES / "cases.csv"


def rows_of_cases():
    with CSV.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def typed(name, cell):
    if cell == "":
        return None
    if name in ("x", "score"):
        return float(cell)
    if name in ("n", "smokes"):
        return int(cell)
    return datetime.date.fromisoformat(cell) if name == "day" else cell


def typed_cases():
    names, *rows = rows_of_cases()
    return names, [[typed(n, c) for n, c in zip(names, row, strict=True)] for row in rows]


def write_workbook(path, sheets, hidden=()):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        sheet.sheet_state = "hidden" if name in hidden else "visible"
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def make_xlsx(path):
    names, rows = typed_cases()
    write_workbook(path, {"Cases": [names, *rows]})


def make_sqlite(path):
    names, rows = typed_cases()
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE cases ({', '.join(names)})")
        plain = [[str(c) if isinstance(c, datetime.date) else c for c in row] for row in rows]
        connection.executemany("INSERT INTO cases VALUES (?, ?, ?, ?, ?, ?, ?)", plain)
    connection.close()


def make_duckdb(path):
    with duckdb.connect(str(path)) as connection:
        kinds = "{'x': 'DOUBLE', 'n': 'INT', 'city': 'TEXT', 'smokes': 'INT', 'score': 'DOUBLE', "
        kinds += "'day': 'DATE', 'y': 'TEXT'}"
        connection.execute(f"CREATE TABLE cases AS FROM read_csv('{CSV}', columns = {kinds})")


def make_records(path):
    names, rows = typed_cases()
    return [
        {n: str(c) if isinstance(c, datetime.date) else c for n, c in zip(names, row, strict=True)}
        for row in rows
    ]


def make_jsonl(path):
    path.write_text("".join(json.dumps(one) + "\n" for one in make_records(path)))


def make_json(path):
    path.write_text(json.dumps(make_records(path), indent=1))


def make_arff(path):
    names, *rows = rows_of_cases()
    kinds = dict.fromkeys(names, "numeric") | {
        "city": "{Bern, Genf, 'Zürich'}",
        "day": "date 'yyyy-MM-dd'",
        "y": "{yes,no}",
    }
    head = "".join(f"@ATTRIBUTE {name} {kinds[name]}\n" for name in names)
    body = "".join(",".join(cell or "?" for cell in row) + "\n" for row in rows)
    path.write_text(f"% cases\n@RELATION 'some cases'\n\n{head}\n@DATA\n{body}", encoding="utf-8")


def make_xml(path):
    names, rows = typed_cases()

    def cell(k, value):
        if value is None:
            return ""
        kind = {str: "String", datetime.date: "DateTime"}.get(type(value), "Number")
        text = f"{value}T00:00:00.000" if kind == "DateTime" else html.escape(str(value))
        return f'<Cell ss:Index="{k + 1}"><Data ss:Type="{kind}">{text}</Data></Cell>'

    lines = [
        f"<Row>{''.join(cell(k, value) for k, value in enumerate(row))}</Row>"
        for row in (names, *rows)
    ]
    space = "urn:schemas-microsoft-com:office:spreadsheet"
    path.write_text(
        f'<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n'
        f'<Workbook xmlns="{space}" xmlns:ss="{space}"><Worksheet ss:Name="Cases"><Table>'
        f"{chr(10).join(lines)}</Table></Worksheet></Workbook>",
        encoding="utf-8",
    )


def make_html(path):
    names, *rows = rows_of_cases()
    lines = ["".join(f"<th>{html.escape(name)}</th>" for name in names)]
    lines += ["".join(f"<td>{html.escape(cell) or '&nbsp;'}" for cell in row) for row in rows]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    path.write_text(f"<!DOCTYPE html>\n<html><table>{body}</table></html>", encoding="utf-8")


def make_zip(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/cases.csv", CSV.read_bytes())
        archive.writestr("__MACOSX/folder/._cases.csv", b"clutter")


PACKERS = {
    ".csv.gz": gzip.compress,
    ".csv.bz2": bz2.compress,
    ".csv.xz": lzma.compress,
    ".csv.zst": zstandard.ZstdCompressor().compress,
}
MAKERS = {
    ".xlsx": make_xlsx,
    ".sqlite": make_sqlite,
    ".duckdb": make_duckdb,
    ".jsonl": make_jsonl,
    ".json": make_json,
    ".arff": make_arff,
    ".html": make_html,
    ".xml": make_xml,
    ".zip": make_zip,
    **{
        ending: lambda path, pack=pack: path.write_bytes(pack(CSV.read_bytes()))
        for ending, pack in PACKERS.items()
    },
}
KEPT = [".xls", ".ods", ".dta", ".sav", ".zsav", ".xpt", ".feather"]
ALL = [*MAKERS, *KEPT]


def made(folder, ending):
    path = folder / f"cases{ending}"
    if ending in MAKERS:
        MAKERS[ending](path)
    else:
        path.write_bytes((FIXTURES / f"cases{ending}").read_bytes())
    return path


def cells(table, name):
    return [None if value != value else value for value in table.column(name).values.tolist()]


# ------------------------------------------------------------------ the same cells


@pytest.fixture(scope="module")
def whole():
    return read_table(CSV)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ALL)
def test_every_format_has_the_cells_of_the_csv(tmp_path, ending, whole):
    path = made(tmp_path, ending)
    table = read_table(path)
    assert [column.name for column in table.columns] == [column.name for column in whole.columns]
    # Value labels and declared missing values are tested below.
    special = {"smokes", "score"} if ending in (".sav", ".zsav", ".dta") else set()
    for column in whole.columns:
        if column.name not in special:
            assert cells(table, column.name) == cells(whole, column.name), column.name
    assert table.label == "y"
    assert table.path == path
    assert table.sha256 == read_table(path).sha256 != whole.sha256
    assert not any(str(tmp_path.parent) in note for note in table.notes)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".xlsx", ".sav", ".arff", ".csv.gz"])
def test_later_file_in_any_format_is_read_by_the_same_schema(tmp_path, ending):
    path = made(tmp_path, ending)
    trained = read_table(path)
    later = read_table(CSV, schema=trained.schema, label="y", positive="yes")
    other = read_table(path, schema=read_table(CSV).schema, label="y", positive="yes")
    for name in ("x", "n", "city", "day"):
        assert cells(later, name) == cells(trained, name) == cells(other, name)
    assert heading(path, trained.schema) == tuple(rows_of_cases()[0])
    assert not later.unreadable
    assert later.is_positive().tolist() == trained.is_positive().tolist()


@pytest.mark.slow
def test_equal_values_have_equal_scores_in_any_format(tmp_path, capsys):
    book, model = made(tmp_path, ".xlsx"), tmp_path / "m.aucmodel"
    ignored = [word for name in ("smokes", "score", "day") for word in ("--ignore", name)]
    command = ["train", str(book), "--method", "auc-rls", "--save-model", str(model), *ignored]
    assert main(command) == 0
    scores = []
    for ending in (".xlsx", ".csv", ".sav", ".arff", ".csv.zst", ".sqlite"):
        path = CSV if ending == ".csv" else made(tmp_path, ending)
        out = tmp_path / f"scores{ending}.csv"
        assert main(["score", str(model), str(path), "-o", str(out)]) == 0
        scores.append(out.read_text())
    assert len(set(scores)) == 1
    assert len(scores[0].splitlines()) == 61


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".xlsx", ".csv.gz", ".duckdb"])
def test_any_format_can_be_streamed(tmp_path, ending):
    table = open_stream(made(tmp_path, ending))
    try:
        whole = read_table(table.path)
        assert (table.format, table.sha256) == (whole.format, whole.sha256)
        first = next(table.windows(100, ["x"]))[1]
        assert np.array_equal(first.column("x").values, whole.column("x").values, equal_nan=True)
    finally:
        table.close()


# ------------------------------------------------------------------ statistics packages


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta"])
def test_value_labels_become_categories(tmp_path, ending):
    table, whole = read_table(FIXTURES / f"cases{ending}"), read_table(CSV)
    names = {1.0: "never", 2.0: "daily"}
    assert cells(table, "smokes") == [names[code] for code in cells(whole, "smokes")]
    if ending == ".sav":  # where 9 is declared as missing
        assert cells(table, "score") == [None if v == 9 else v for v in cells(whole, "score")]


@pytest.mark.slow
def test_spss_portable_file_is_read():
    assert cells(read_table(FIXTURES / "cases.por"), "X") == cells(read_table(CSV), "x")


def test_new_code_does_not_revert_value_labels():
    from aucstudio.project.data.readers.statistics import replace_codes

    names = {1.0: "never", 2.0: "daily"}
    assert replace_codes([1.0, 2.0, None], names, None) == (["never", "daily", None], True)
    assert replace_codes([1.0, 7.0], names, None) == ([1.0, 7.0], False)
    assert replace_codes([1.0, 7.0], names, "text") == (["never", 7.0], True)
    assert replace_codes([1.0, 2.0], names, "number") == ([1.0, 2.0], False)
    same = {1.0: "no", 2.0: "no"}
    assert replace_codes([1.0, 2.0], same, None)[0] == ["no (1.0)", "no (2.0)"]


# ------------------------------------------------------------------ workbooks


def cohort(rows=30):
    drawn = random.Random(3)
    body = [[k * 0.5, drawn.choice(["a", "b"]), drawn.choice([0, 1])] for k in range(rows)]
    return [["dose", "arm", "died"], *body]


@pytest.mark.slow
def test_title_rows_and_empty_edges_of_a_sheet_are_skipped(tmp_path):
    rows = [[None, "Cohort of 2024"], [], *([None, *row] for row in cohort())]
    table = read_table(write_workbook(tmp_path / "b.xlsx", {"S": rows}))
    assert [column.name for column in table.columns] == ["dose", "arm", "died"]
    assert table.rows == 30
    assert table.label == "died"


@pytest.mark.slow
def test_first_sheet_with_a_table_is_read_and_others_are_listed(tmp_path, capsys, printed, refused):
    sheets = {"About": [["made by us"]], "Data": cohort(), "More": cohort(5)}
    path = write_workbook(tmp_path / "b.xlsx", sheets)
    table = read_table(path)
    assert table.rows == 30
    assert table.sheets == ("About", "Data", "More")
    assert "sheet 'Data' is read; there are also the sheets 'About', 'More'" in table.notes
    found = printed("inspect", path, "--sheet", "More")
    assert (found["format"], found["rows"], found["sheet"]) == ("excel", 5, "More")
    assert found["sheets"] == ["About", "Data", "More"]
    assert main(["inspect", str(path)]) == 0
    assert "excel, 'Data' of 'About', 'Data', 'More'" in capsys.readouterr().out
    said = refused("inspect", path, "--sheet", "Dat")
    assert "has no sheet 'Dat'" in said
    assert "'Data'?" in said or "Data" in said


@pytest.mark.slow
def test_chosen_sheet_without_a_table_is_refused(tmp_path):
    path = write_workbook(tmp_path / "b.xlsx", {"About": [["made by us"]], "Data": cohort()})
    with pytest.raises(InputError, match=r"sheet 'About' of .*b\.xlsx holds no table"):
        read_table(path, dialect={"sheet": "About"})


def test_errors_times_and_booleans_in_cells_are_read(tmp_path):
    when = datetime.datetime(2024, 5, 1, 12, 30)
    rows = [["when", "ok", "ratio", "y"]]
    hours = map(datetime.timedelta, np.arange(20) / 24)
    rows += [[when + hour, k % 2 == 0, k / 8, "pn"[k % 2]] for k, hour in enumerate(hours)]
    path = write_workbook(tmp_path / "b.xlsx", {"S": rows})
    book = openpyxl.load_workbook(path)
    book["S"]["C3"].value = "#DIV/0!"
    book["S"]["A4"].value = datetime.datetime(2024, 5, 1)
    book.save(path)
    table = read_table(path, label="y")
    assert table.column("ratio").kind == "number"
    assert table.column("ratio").missing == 1
    assert np.nanmax(table.column("ratio").values) == 19 / 8
    assert set(cells(table, "ok")) == {"TRUE", "FALSE"}
    plain = table.column("when").values.tolist()
    assert len(set(map(type, plain))) == 1


@pytest.mark.slow
def test_sheet_with_a_cell_in_the_last_corner_is_refused(tmp_path):
    path = write_workbook(tmp_path / "b.xlsx", {"S": cohort()})
    book = openpyxl.load_workbook(path)
    book["S"]["XFD1048576"].value = 1
    book.save(path)
    with pytest.raises(InputError, match=r"b\.xlsx cannot be read as an Excel workbook"):
        read_table(path)


@pytest.mark.slow
def test_password_protected_workbook_is_refused(tmp_path):
    # Excel writes a compound file that contains the encrypted workbook.
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + b"\x3e\0\x03\0\xfe\xff\x09\0\x06\0"
    path = tmp_path / "b.xlsx"
    path.write_bytes(header + bytes(478) + "EncryptedPackage".encode("utf-16-le") + bytes(4000))
    with pytest.raises(InputError, match="protected by a password"):
        read_table(path)


# ------------------------------------------------------------------ ARFF and KEEL

ODD_ARFF = """% about
@relation 'my data'
@attribute 'x y' numeric
@attribute city {Bern, 'Z\\'rich, West', Genf}
@attribute code {0,1}
@attribute note string
@attribute class {good,bad}

@data
1.5,'Z\\'rich, West',0,"hi, there",good
?,Bern,1,x,bad

% in between
2,Genf,0,y,bad
2,5
{0 7, 4 bad}
"""


def test_arff_file_with_quotes_missing_values_and_sparse_rows(tmp_path):
    table = read_table(write_file(tmp_path / "odd.arff", ODD_ARFF))
    assert table.format == "arff"
    assert cells(table, "x y") == [1.5, None, 2.0, 7.0]
    assert cells(table, "city") == ["Z'rich, West", "Bern", "Genf", "Bern"]
    assert cells(table, "code") == ["0", "1", "0", "0"]
    assert cells(table, "class") == ["good", "bad", "bad", "bad"]
    assert table.label == "class"
    assert "label" not in table.guessed
    assert not any("before the table" in note for note in table.notes)
    assert [(row.line, row.reason) for row in table.rejected] == [(15, "2 cells instead of 5")]


def test_keel_file_declares_its_label(tmp_path):
    path = tmp_path / "iris.dat"
    path.write_text(
        "@relation iris\n@attribute length real [4.3, 7.9]\n@attribute kind {pos, neg}\n"
        "@attribute n integer[0,9]\n@inputs length, n\n@outputs kind\n@data\n"
        "4.5, pos, 1\n5.5, neg, 2\n<null>, neg, 3\n"
    )
    table = read_table(path)
    assert (table.format, table.label) == ("keel", "kind")
    assert cells(table, "length") == [4.5, 5.5, None]
    assert not any("ending" in note for note in table.notes)
    assert read_table(path, label=False).label is None
    assert read_table(path, roles={"kind": "ignore"}).label != "kind"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("@relation a\n@attribute x numeric\n@attribute y {a,b}\n", "before its @data line"),
        ("@relation a\n@attribute x relational\n@attribute y {a}\n@data\n", "line 2.*relational"),
        ("@relation a\n@attribute x real\n@attribute x real\n@data\n1,2\n", "declared twice"),
        ("@relation a\n@attribute x real\n@attribute y real\n@data\n", "no rows below @data"),
        ("@relation a\n@attribute x\n@data\n", "line 2.*a name and a type"),
        ("@relation a\n@attribute x real\n@attribute y real\n@data\n{7 1}\n", "line 5.*number '7'"),
    ],
)
def test_arff_errors_name_their_line(tmp_path, text, sentence):
    path = write_file(tmp_path / "a.arff", text)
    with pytest.raises(InputError, match=sentence):
        read_table(path)


# ------------------------------------------------------------------ svmlight


@pytest.mark.slow
def test_svmlight_file_is_read_as_a_table(tmp_path):
    path = tmp_path / "s.svm"
    path.write_text("# c\n+1 qid:1 1:0.5 7000000:2 # x\n-1 qid:1 3:1\n-1 qid:2 1:2 3:1\n+1 qid:2\n")
    table = read_table(path)
    assert [c.name for c in table.columns] == ["label", "qid", "f1", "f3", "f7000000"]
    assert cells(table, "f1") == [0.5, 0.0, 2.0, 0.0]
    assert (table.label, table.column("qid").role) == ("label", "group")
    later = write_file(tmp_path / "later.svm", "1 1:4 9:1\n-1 1:1 2:2\n")
    again = read_table(later, schema=table.schema)
    assert cells(again, "f3") == [0.0, 0.0]
    assert again.column("f9").role == "ignore"
    assert "f3" in heading(later, table.schema)


@pytest.mark.slow
def test_svmlight_file_too_wide_for_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "s.svm"
    path.write_text("".join(f"{k % 2} 1:{k} 2:1 3:{k % 3} {k % 4 + 4}:1\n" for k in range(1, 201)))
    monkeypatch.setattr("aucstudio.project.data.readers.sparse_file.MOST_OF_MEMORY", 1e-9)
    with pytest.raises(InputError, match=r"s\.svm has 200 rows of 7 features"):
        read_table(path)


# ------------------------------------------------------------------ databases, JSON, archives


def test_table_of_a_database_can_be_chosen(tmp_path):
    path = tmp_path / "d.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE meta (key)")
        connection.execute('CREATE TABLE "my cases" (x, y)')
        connection.execute("CREATE VIEW upper AS SELECT x + 1 AS x, y FROM [my cases]")
        values = [(k, "ab"[k % 2]) for k in range(10)]
        connection.executemany('INSERT INTO "my cases" VALUES (?, ?)', values)
    connection.close()
    before = path.read_bytes()
    table = read_table(path)
    assert table.dialect.sheet == "my cases"
    assert cells(read_table(path, dialect={"sheet": "upper"}), "x") == [k + 1 for k in range(10)]
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.db"]
    with pytest.raises(InputError, match=r"no table 'case'.*'my cases'"):
        read_table(path, dialect={"sheet": "case"})


@pytest.mark.slow
def test_reading_an_endless_view_can_be_cancelled(tmp_path, reader_of_its_own):
    path = tmp_path / "d.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE VIEW endless AS WITH RECURSIVE r(a, b) AS "
            "(SELECT 1, 2 UNION ALL SELECT a + 1, b FROM r) SELECT a, b FROM r"
        )
    connection.close()
    told = []

    def stop(_share, _words):
        told.append(1)
        return len(told) > 20

    with pytest.raises(Cancelled):
        read_table(path, progress=stop)


def make_tar(path, mode="w", **members):
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(f"./all/{name}.csv")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    ("name", "mode"), [("t.tar", "w"), ("t.tgz", "w:gz"), ("t.tar.xz", "w:xz")]
)
def test_table_in_a_tar_archive_is_read(tmp_path, name, mode):
    members = {"readme": b"Read me first\n", "._cases": b"\0\5", "cases": CSV.read_bytes()}
    table = read_table(make_tar(tmp_path / name, mode, **members))
    assert (table.rows, table.dialect.sheet) == (60, "all/cases.csv")
    assert not any("ending" in note for note in table.notes)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_concatenated_multi_line_json_records_are_read(tmp_path, end):
    path = tmp_path / "t.json"
    records = [json.dumps({"x": k, "at": {"y": "ab"[k % 2]}}, indent=2) for k in range(30)]
    path.write_bytes("\n".join(records).replace("\n", end).encode())
    table = read_table(path)
    assert [column.name for column in table.columns] == ["x", "at.y"]
    assert table.column("x").values.tolist() == [*range(30)]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="damaged"):
        read_table(path)


def make_archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


TABLE, ABOUT = CSV.read_bytes(), "Cases of ward 3, asked in May\n"


@pytest.mark.parametrize(
    ("members", "read"),
    [
        ({"about.txt": ABOUT, "cases.CSV.gz": gzip.compress(TABLE)}, "cases.CSV.gz"),
        ({"README.txt": ABOUT, "names.md": ABOUT, "d/cases.csv": TABLE}, "d/cases.csv"),
        # A text file is read if there is no other.
        ({"cases.txt": TABLE, "about.txt": ABOUT}, "cases.txt"),
        ({"README": TABLE, "LICENSE": "none"}, "README"),
        ({"Index": ABOUT, "Data_Dictionary.csv": "name,text\nx,y\n" * 99, "c.csv": TABLE}, "c.csv"),
    ],
)
def test_documentation_in_an_archive_is_skipped(tmp_path, members, read):
    table = read_table(make_archive(tmp_path / "t.zip", members))
    assert (table.rows, table.dialect.sheet) == (60, read)


def test_member_of_an_archive_can_be_chosen(tmp_path):
    members = {"a.csv": "x,y\n1,a\n2,b\n", "b.csv.gz": gzip.compress(TABLE)}
    path = make_archive(tmp_path / "z.zip", members)
    assert read_table(path, dialect={"sheet": "a.csv"}).rows == 2
    # The largest member is read otherwise.
    table = read_table(path)
    assert (table.rows, table.dialect.sheet) == (60, "b.csv.gz")
    assert "packed by gzip in zip" in table.notes


@pytest.mark.slow
def test_json_keys_may_differ_between_records(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"x": 1, "y": "a"}\n{"x": 2.5, "z": true}\n{"y": "b", "x": null}\n')
    table = read_table(path, label="y")
    assert cells(table, "x") == [1.0, 2.5, None]
    assert table.column("z").missing == 2


# ------------------------------------------------------------------ recognised by bytes


@pytest.mark.slow
def test_misleading_extension_is_reported(tmp_path):
    path = tmp_path / "data.csv"
    make_xlsx(path)
    table = read_table(path)
    assert table.format == "excel"
    assert "read as an Excel workbook, despite the ending of data.csv" in table.notes
    # As statistics offices publish tables, too.
    for encoding in ("utf-8", "utf-16-le"):
        content = CSV.read_text().replace(",", "\t").encode(encoding)
        table = read_table(write_file(tmp_path / "data.xls", content))
        assert table.format == "csv"
        assert any("read as a text table" in note for note in table.notes)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"<html><p>Sign in to see the table</p></html>", "a web page without a table"),
        (b"%PDF-1.7\n", "a PDF"),
        (b"FEA1" + bytes(8), "a Feather file of the first version"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"MATLAB 5.0", "a Matlab file"),
        (b"DATA LIST FREE / age y.\nBEGIN DATA\n1 0\nEND DATA.\n", "an SPSS syntax file"),
    ],
)
def test_unsupported_formats_are_named(tmp_path, content, sentence):
    path = write_file(tmp_path / "file.bin", content)
    with pytest.raises(InputError, match=f"is {sentence}.*save the table in it as CSV or Parquet"):
        read_table(path)


def test_file_of_nul_bytes_is_empty(tmp_path):
    with pytest.raises(InputError, match=r"lost\.csv is empty"):
        read_table(write_file(tmp_path / "lost.csv", bytes(5_000)))


def test_content_not_matching_the_extension_is_refused(tmp_path):
    path = write_file(tmp_path / "a.sas7bdat", bytes(range(256)) * 4)
    with pytest.raises(
        InputError, match=r"the ending \.sas7bdat but does not begin like a SAS table"
    ):
        read_table(path)


@pytest.mark.slow
def test_import_option_foreign_to_the_format_is_refused(tmp_path):
    path = made(tmp_path, ".xlsx")
    with pytest.raises(InputError, match="an Excel workbook, which has no delimiter: leave it out"):
        read_table(path, dialect={"delimiter": ";"})
    with pytest.raises(InputError, match="one table only; leave the sheet 'A' out"):
        read_table(CSV, dialect={"sheet": "A"})
    assert read_table(made(tmp_path, ".csv.gz"), dialect={"delimiter": ","}).rows == 60


def test_file_dialog_offers_every_format():
    offered = formats.dialog_filter()
    assert offered.startswith("Tables (*.csv")
    assert offered.endswith(";;All files (*)")
    for form in formats.FORMATS:
        assert all(f"*{ending}" in offered for ending in form.endings)


# ------------------------------------------------------------------ bombs, damage, ends


@pytest.mark.parametrize("ending", [*PACKERS, ".zip"])
def test_decompression_bomb_is_refused(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(input_files, "BASE_WRITTEN", 500_000)
    monkeypatch.setattr(input_files, "WRITTEN_PER_BYTE", 1)
    path, content = tmp_path / f"bomb{ending}", bytes(1_500_000)
    if ending == ".zip":
        make_archive(path, {"a.csv": content})
    else:
        path.write_bytes(PACKERS[ending](content))
    with pytest.raises(InputError, match="too much for a table"):
        read_table(path)


@pytest.mark.parametrize("ending", [*PACKERS, ".tar"])
def test_truncated_archive_is_refused(tmp_path, ending):
    if ending == ".tar":
        path = make_tar(tmp_path / "cases.tar", cases=TABLE)
    else:
        path = made(tmp_path, ending)
    path.write_bytes(path.read_bytes()[: 900 if ending == ".tar" else -9])
    with pytest.raises(InputError, match=r"cases\..*may be damaged"):
        read_table(path)


def damaged(content, chosen):
    changed = bytearray(content)
    start = chosen.randrange(len(content))
    kind = chosen.randrange(4)
    if kind == 0:
        for _ in range(chosen.choice([1, 8])):
            changed[chosen.randrange(len(changed))] ^= 1 << chosen.randrange(8)
    elif kind == 1:
        changed[start : start + 40] = chosen.randbytes(40)[: len(content) - start]
    elif kind == 2:
        changed[start:start] = chosen.randbytes(chosen.randint(1, 30))
    else:
        del changed[start:]
    return bytes(changed)


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "ending",
    [
        *MAKERS,
        *(".xls", ".ods", ".sav", ".feather"),
        *(pytest.param(end, marks=pytest.mark.slow) for end in (".zsav", ".dta", ".xpt", ".por")),
    ],
)
def test_damaged_files_are_read_or_refused_with_a_clear_error(tmp_path, ending, part):
    path = made(tmp_path, ending)
    content = path.read_bytes()
    chosen = random.Random(f"{ending}{part}")
    refused = []
    for _ in range(7 if part else 3):
        path.write_bytes(damaged(content, chosen))
        try:
            read_table(path)
        except InputError as error:
            refused.append(str(error))
    # The error names the given file, on one line, without internal paths.
    assert all(str(path) in said for said in refused)
    assert not any("\n" in said or "/plain" in said or "Traceback" in said for said in refused)


def test_reading_in_a_child_process_can_be_cancelled(tmp_path, reader_of_its_own):
    path = made(tmp_path, ".xlsx")
    with pytest.raises(Cancelled):
        read_table(path, progress=lambda _share, words: words == "reading excel")


def test_crashing_reader_is_reported_as_an_error(tmp_path, monkeypatch, reader_of_its_own):
    dies = [sys.executable, "-c", "import os; os.abort()"]
    monkeypatch.setattr(child_process, "child_command", lambda *_: dies)
    with pytest.raises(InputError, match="it is damaged"):
        read_table(made(tmp_path, ".xlsx"))


# ------------------------------------------------------------------ runs repeat


@pytest.mark.slow
def test_chosen_sheet_is_stored_in_references_and_experiments(tmp_path):
    path = write_workbook(tmp_path / "b.xlsx", {"A": cohort(40), "B": cohort(60)})
    table = read_table(path, dialect={"sheet": "B"}, label="died", positive="1")
    data = DataReference.to_table(table)
    assert DataReference.from_json(json.loads(json.dumps(data.as_json()))).open().rows == 60
    experiment = plan_experiment(data, "auc-rls", {}, Validation(test_size=0.5))
    file = write_file(tmp_path / "study.toml", write_study([experiment], tmp_path))
    assert 'sheet = "B"' in file.read_text()
    study = read_study(file)
    assert study.table.rows == 60
    assert study.experiments[0].data.identity() == data.identity()


def test_identity_of_tables_without_sheets_is_unchanged(table):
    assert "sheet" not in DataReference.to_table(table).identity()["reading"]["dialect"]


@pytest.mark.slow
def test_later_workbook_is_read_from_the_same_sheet(tmp_path):
    first = write_workbook(tmp_path / "a.xlsx", {"A": cohort(4), "B": cohort(60)})
    second = write_workbook(tmp_path / "b.xlsx", {"A": cohort(4), "B": cohort(30)})
    third = write_workbook(tmp_path / "c.xlsx", {"Other": cohort(20)})
    schema = read_table(first, dialect={"sheet": "B"}).schema
    assert read_table(second, schema=schema).rows == 30
    assert read_table(third, schema=schema).rows == 20


# ------------------------------------------------------------------ several files, pipes, pastes


def write(path, text):
    path.write_text(text)
    return path


def test_binary_excel_workbook_is_read():
    """Read a file by pyxlsbwriter: two sheets, dates, booleans, text, a missing value."""
    table = read_table(FIXTURES / "binary.xlsb", label="y", roles={"flag": "ignore"})
    assert (table.rows, table.sheets, table.dialect.sheet) == (40, ("Notes", "Daten"), "Daten")
    assert cells(table, "age")[:3] == [20, 21, 22]
    assert cells(table, "bmi")[:6] == [20, 20.37, 20.74, 21.11, None, 21.85]
    assert cells(table, "city")[:3] == ["Zürich", "Łódź", "x"]
    assert table.column("visit").is_date
    assert cells(table, "visit")[:2] == [18628, 18629]
    assert cells(table, "flag")[:2] == ["TRUE", "FALSE"]


def test_several_files_are_joined_into_one_table(tmp_path):
    write(tmp_path / "c1.csv", "x,n,y\n1,1,a\n2,2,b\n3\n")
    write(tmp_path / "c2.csv", "y;x;n\na;1.5;7\nb;2.5;many\n")
    table = read_table(tmp_path / "c*.csv", label="y")
    assert cells(table, "x") == [1.0, 2.0, 1.5, 2.5]
    assert cells(table, "n") == ["1", "2", "7", "many"]
    assert cells(table, "file") == ["c1.csv", "c1.csv", "c2.csv", "c2.csv"]
    assert table.column("file").role == "ignore"
    assert [(row.line, row.reason) for row in table.rejected] == [
        (4, "c1.csv: 1 cell instead of 3")
    ]
    assert table.file_rows.tolist() == [1, 2, 4, 5]
    both = read_table(join([tmp_path / "c1.csv", tmp_path / "c2.csv"]), label="y")
    assert cells(both, "x") == cells(table, "x")
    assert both.sha256 == table.sha256
    data = DataReference.to_table(both)
    assert cells(data.open(), "x") == cells(table, "x")


def test_number_role_applies_to_all_joined_files(tmp_path):
    write(tmp_path / "c1.csv", "x,n,y\n1,1,a\n2,2,b\n")
    write(tmp_path / "c2.csv", "x,n,y\n1,many,a\n2,few,b\n3,4,a\n")
    table = read_table(tmp_path / "c*.csv", label="y", roles={"n": "number"})
    assert cells(table, "n") == [1, 2, None, None, 4]
    assert (table.column("n").role, table.column("n").missing) == ("number", 2)
    assert table.unreadable["n"].count == 2


def test_joined_file_that_differs_is_named(tmp_path):
    write(tmp_path / "c1.csv", "x,age,y\n1,1,a\n2,2,b\n")
    write(tmp_path / "c2.csv", "x,Age,y\n1,1,a\n")
    with pytest.raises(InputError, match=r"c2\.csv has no column 'age'.*c1\.csv has x, age, y"):
        read_table(tmp_path / "c*.csv")
    write(tmp_path / "c2.csv", "x;age;y\n1,5;1;a\n2,5;2;b\n")
    write(tmp_path / "c1.csv", "x,age,y\n1.5,1,a\n2,2,b\n")
    with pytest.raises(InputError, match=r"c2\.csv uses the decimal mark ',' in column 'x'"):
        read_table(tmp_path / "c*.csv")
    with pytest.raises(InputError, match=r"no file matches .*d\*\.csv"):
        read_table(tmp_path / "d*.csv")


def test_existing_file_with_pattern_characters_is_read(tmp_path):
    path = write(tmp_path / "c[1].csv", "x,y\n1,a\n2,b\n")
    assert read_table(path).rows == 2


@pytest.mark.slow
def test_table_is_read_from_standard_input(tmp_path, capsys):
    command = [sys.executable, "-m", "aucstudio", "inspect", "-", "--json"]
    with (FIXTURES / "cases.xls").open("rb") as source:
        done = subprocess.run(command, stdin=source, capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert (found["format"], found["rows"], found["label"]) == ("excel", 60, "y")


def test_pasted_text_is_stored_by_content_hash(own_home):
    text = CSV.read_text(encoding="utf-8").replace(",", "\t")
    table = read_text(text, label="y")
    assert table.rows == 60
    assert table.path.parent == own_home / "pasted"
    assert keep_text(text) == table.path
    assert keep_text(text + "\n") != table.path
    assert DataReference.to_table(table).open().rows == 60
    with pytest.raises(InputError, match="the clipboard holds no text"):
        keep_text(" \n")


def test_unpacked_file_is_written_to_the_scratch_folder(tmp_path):
    path, folder = made(tmp_path, ".csv.gz"), tmp_path / "scratch"
    folder.mkdir()
    plain = make_plain(path, {}, folder, lambda *_: None, None)
    assert plain.path.parent == folder
    assert make_plain(CSV, {}, folder, lambda *_: None, None).path == CSV


def test_csv_is_read_without_importing_other_readers(tmp_path):
    path = write_file(tmp_path / "plain.csv", "a,b,y\n" + "1,2,no\n3,4,yes\n" * 20)
    code = (
        "import sys; from aucstudio.project.data.table import read_table; "
        f"read_table({str(path)!r}); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    readers = {form.writer.partition(":")[0] for form in formats.FORMATS if form.writer}
    loaded = set(done.stdout.split())
    assert readers
    libraries = {"pyreadstat", "python_calamine", "zstandard", "pandas"}
    assert not loaded & {*libraries, *(f"aucstudio.project.data.readers.{r}" for r in readers)}
