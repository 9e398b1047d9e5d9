"""Files that demand excessive memory or time, or access other files, are refused clearly."""

import csv
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import duckdb
import psutil
import pytest

from aucstudio.project.data import input_files
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.data.input_files import MOST_COLUMNS, MOST_DEPTH
from aucstudio.project.data.preview import HeadReader
from aucstudio.project.data.readers import isolated
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text.cutter import Cutter
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiment_file import read_study
from tests.conftest import write_file, write_parquet
from tests.test_ends import until


def refused(path, seconds=30.0, **how):
    """Read a file that must be refused quickly; return the error message."""
    began = time.monotonic()
    with pytest.raises(InputError) as caught:
        read_table(path, **how)
    assert time.monotonic() - began < seconds
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def sqlite_file(path, *statements):
    with sqlite3.connect(path) as database:
        for statement in statements:
            database.execute(statement)
    database.close()
    return path


def endless_file(folder):
    """Write a database with a view that has no last row."""
    return sqlite_file(
        folder / "endless.sqlite",
        "CREATE VIEW v AS WITH RECURSIVE r(i, y) AS (SELECT 1, 0 UNION ALL "
        "SELECT i + 1, (i + 1) % 2 FROM r) SELECT * FROM r",
    )


# SQLite


def test_huge_generated_column_is_refused(tmp_path):
    path = sqlite_file(
        tmp_path / "long.sqlite",
        "CREATE TABLE t (a, y, b GENERATED ALWAYS AS (hex(zeroblob(300000000))) VIRTUAL)",
        "INSERT INTO t(a, y) VALUES (1, 0), (2, 1)",
    )
    assert "64 MB" in refused(path)


def test_endless_view_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(input_files, "BASE_SECONDS", 2)
    path = endless_file(tmp_path)
    assert "2 s of processor time" in refused(path)


def test_exceeded_memory_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(input_files, "BASE_MEMORY", 400_000_000)
    path = tmp_path / "wide.html"
    row = "<tr><td colspan=10000>1</td><td>2</td></tr>"
    path.write_text(f"<html><table>{row * 8_000}</table></html>")
    assert "of memory" in refused(path)


def test_killed_reader_is_not_reported_as_damage(tmp_path, reader_of_its_own):
    path = endless_file(tmp_path)
    threading.Timer(1.5, lambda: [one.kill() for one in readers(os.getpid())]).start()
    assert "damaged" not in refused(path)


def readers(process):
    """Return the processes in which a process reads files."""
    children = psutil.Process(process).children()
    return [child for child in children if isolated.__name__ in " ".join(child.cmdline())]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_is_not_reported_as_damage(tmp_path, number, status):
    process = subprocess.Popen(
        [sys.executable, "-m", "aucstudio", "inspect", str(endless_file(tmp_path))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts the tests in the background has its children ignore the signal.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    until(lambda: any(reader.cpu_times().user > 1.0 for reader in readers(process.pid)))
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == status
    assert "damaged" not in out + err


# DuckDB


@pytest.mark.parametrize(
    "view",
    [
        "SELECT content a, 'yes' y FROM read_text('{other}')",
        "SELECT * FROM read_csv('{other}', header = true)",
        "SELECT file a, 1 y FROM glob('{folder}/*')",
        "SELECT * FROM looked()",
        "SELECT * FROM read_csv('https://localhost:9/x.csv', columns = {{'a': 'INT', 'y': 'INT'}})",
    ],
    ids=["text", "csv", "glob", "macro", "address"],
)
def test_views_cannot_read_other_files(tmp_path, view):
    other = write_file(tmp_path / "secret.csv", "a,y\nsecret,1\n")
    path = tmp_path / "views.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute(
            f"CREATE MACRO looked() AS TABLE SELECT content a, 1 y FROM read_text('{other}')"
        )
        sql = view.format(other=other, folder=tmp_path)
        try:
            database.execute(f"CREATE VIEW v AS {sql}")
        except duckdb.Error:
            pytest.skip("this DuckDB cannot make the view here")
        database.execute("CREATE TABLE t AS SELECT i a, i % 2 y FROM range(9) r(i)")
    assert "not allowed" in refused(path, dialect={"sheet": "v"})
    assert read_table(path).rows == 9


# Parquet and Arrow

REPEATED = "SELECT i x, i % 2 y, {text} t FROM range({rows}) r(i)"


@pytest.mark.parametrize(
    ("text", "rows", "said"),
    [
        ("repeat('x', 100000)", 100, "MB of text"),
        ("repeat('x', 100000)::BLOB", 100, "MB of text"),
        ("[{'a': repeat('x', 100000)}, NULL]", 100, "MB of text"),
        ("MAP {'key': repeat('x', 100000)}", 100, "MB of text"),
        ("{'a': 1, 'b': repeat('x', 100000)}", 100, "MB of text"),
        ("repeat('x', 70000000)", 1, "64 MB"),
        ("list_resize([1], 70000, 7)", 100, "MB of text"),
    ],
    ids=["text", "bytes", "list", "map", "record", "one", "numbers"],
)
@pytest.mark.parametrize("head", [True, False], ids=["head", "whole"])
def test_excessively_long_texts_are_refused(tmp_path, monkeypatch, text, rows, said, head):
    monkeypatch.setattr(input_files, "BASE_WRITTEN", 5_000_000)
    monkeypatch.setattr(input_files, "WRITTEN_PER_BYTE", 1)
    path = write_parquet(tmp_path / "repeated.parquet", REPEATED.format(text=text, rows=rows))
    if head:
        with pytest.raises(InputError, match=said):
            HeadReader(path, tmp_path).read(ImportChoices())
    else:
        assert said in refused(path)


def test_texts_of_normal_length_are_read(tmp_path):
    text = "[{'a': 'one ' || i, 'b': ['two']}, NULL]"
    path = write_parquet(tmp_path / "usual.parquet", REPEATED.format(text=text, rows=300))
    assert read_table(path, label="y").rows == 300


# Text and JSON


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("commas.csv", lambda: "a,b,c\n" + "," * 5_000_000, f"{MOST_COLUMNS:,}"),
        ("deep.jsonl", lambda: '{"a":' * 100_000 + "1" + "}" * 100_000 + "\n", f"{MOST_DEPTH}"),
        ("quote.csv", lambda: 'a,b,y\n1,"2,yes\n' + "1,2,no\n3,4,yes\n" * 1_200_000, "line 2"),
    ],
)
def test_too_large_texts_are_refused(tmp_path, name, content, said):
    assert said in refused(write_file(tmp_path / name, content()))


@pytest.mark.parametrize("listed", [True, False])
def test_records_with_too_many_keys_are_refused(tmp_path, listed):
    path = tmp_path / "keys.json"
    records = [{f"k{i}_{j}": j for j in range(500)} for i in range(400)]
    lines = map(json.dumps, records)
    path.write_text(json.dumps(records) if listed else "\n".join(lines))
    assert f"{MOST_COLUMNS:,}" in refused(path)


def test_keys_and_brackets_in_texts_are_not_counted(tmp_path):
    path = tmp_path / "texts.jsonl"
    text = "[" * 300 + ' {"x": '
    rows = ({"note": f"{k}{text}", "x": k, "y": k % 2} for k in range(60))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_table(path, label="y").rows == 60


@pytest.mark.parametrize("name", ["a[b]*?.json", "two words.jsonl", "quote's.json"])
def test_json_file_with_special_characters_in_its_name_is_read(tmp_path, name):
    path = tmp_path / name
    path.write_text("".join(json.dumps({"x": k, "y": k % 2}) + "\n" for k in range(60)))
    assert read_table(path, label="y").rows == 60


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("below", [0, 300])
def test_too_long_line_is_refused_with_its_number(tmp_path, end, below):
    path = tmp_path / "long.csv"
    lines = ["a,b,y", "1,2,yes", "3," + "x" * 9_000_000 + ",no", *["1,2,no"] * below]
    path.write_text("".join(line + end for line in lines), newline="")
    sentence = refused(path)
    assert "line 3" in sentence
    assert "8 MB" in sentence
    assert len(sentence) < 400


def test_toml_key_with_too_many_parts_is_refused(tmp_path):
    path = write_file(tmp_path / "dotted.toml", ".".join(["a"] * 100_000) + " = 1\n")
    began = time.monotonic()
    with pytest.raises(InputError, match="parts"):
        read_study(path)
    assert time.monotonic() - began < 5


# Cells of many lines


def many_lines(path, rows, lines, only=None):
    rng = random.Random(1)
    words = ["pain, mild", "since", "2019", "- none", "# plan", 'said ""no""'[:9], "follow-up"]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "age", "bmi", "note", "outcome"])
        for k in range(rows):
            count = lines if only in (None, k) else 1
            note = "\n".join(" ".join(rng.choice(words) for _ in range(6)) for _ in range(count))
            bmi = f"{rng.uniform(18, 35):.1f}"
            writer.writerow([f"p{k}", rng.randint(20, 80), bmi, note, rng.choice(["yes", "no"])])
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "lines", "only"),
    [
        (300, 60, None),
        (300, 120, None),
        (300, 150, None),
        (60, 2_000, None),
        (500, 1_999, 30),
        (500, 5_000, 30),
    ],
)
def test_cells_of_many_lines_are_read(tmp_path, rows, lines, only):
    table = read_table(many_lines(tmp_path / "notes.csv", rows, lines, only), label="outcome")
    assert table.rows == rows
    assert table.rejected_rows == 0
    kinds = {column.name: column.kind for column in table.columns}
    assert (kinds["age"], kinds["bmi"], kinds["note"]) == ("number", "number", "text")
    notes = table.column("note").values
    assert notes[only or 0].count("\n") == lines - 1


def test_splitting_time_is_linear_in_the_text_length():
    def seconds(lines):
        text = ['1,"' + "word " * 10, *["word " * 10] * lines, 'end",yes', "2,b,no"]
        began = time.process_time()
        rows = list(Cutter(Dialect(quote='"')).rows(text))
        assert [len(cells) for _, cells in rows] == [3, 3]
        assert [line for line, _ in rows] == [1, lines + 3]
        return time.process_time() - began

    seconds(100)
    assert seconds(80_000) < 40 * max(seconds(8_000), 0.01)


@pytest.mark.skipif(not os.path.exists("/proc/kmsg"), reason="there is no file that waits here")
def test_blocking_device_file_is_refused():
    refused("/proc/kmsg", seconds=5)
    with pytest.raises(InputError, match="empty"):
        read_study("/proc/kmsg")
