"""Unusual tables of other programs: JSON, databases, Parquet, ARFF with weights."""

import contextlib
import json
import sqlite3

import duckdb
import pytest

from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from tests.conftest import write_file, write_parquet
from tests.project.test_awkward import understood

ABC = {"a": [1, 2, 3], "b": [2.5, None, 4.5], "y": ["u", "v", "u"]}


RECORDS = [
    {"a": 1, "b": 2.5, "y": "u"},
    {"a": 2, "b": None, "y": "v"},
    {"a": 3, "b": 4.5, "y": "u"},
]
ROWS = [[*record.values()] for record in RECORDS]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "names"),
    [
        ([[*"aby"], *ROWS], {}),
        ({"columns": [*"aby"], "index": [0, 1, 2], "data": ROWS}, {}),
        (dict(zip("pqr", RECORDS, strict=True)), {"row": ["p", "q", "r"]}),
    ],
)
def test_json_rows_may_be_lists_or_named(tmp_path, content, names):
    path = write_file(tmp_path / "data.json", json.dumps(content))
    assert understood(read_table(path)) == names | ABC


@pytest.mark.parametrize(
    ("values", "between"), [([[*"aby"], *ROWS], "\n"), (RECORDS, ""), (RECORDS, " ")]
)
def test_json_rows_may_follow_each_other(tmp_path, values, between):
    path = tmp_path / "data.json"
    path.write_text(between.join(map(json.dumps, values)))
    assert understood(read_table(path)) == ABC


def test_jsonl_with_bom_and_text_numbers_is_read(tmp_path):
    path = tmp_path / "data.jsonl"
    rows = [*RECORDS[:2], RECORDS[2] | {"b": "4.5"}]
    path.write_text("\ufeff" + "".join(f"{json.dumps(row)}\r\n" for row in rows), "utf-8")
    assert understood(read_table(path)) == ABC


@pytest.mark.slow
def test_nested_records_become_columns(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text(
        '{"a": 1, "at": {"site": "p", "room": {"n o": 4}}, "y": "u"}\n'
        '{"a": 2, "at": {"site": "q"}, "y": "v"}\n{"a": 3, "y": "u"}\n'
    )
    assert understood(read_table(path)) == {
        "a": [1, 2, 3],
        "at.site": ["p", "q", None],
        "at.room.n o": [4, None, None],
        "y": ["u", "v", "u"],
    }


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".sqlite", ".duckdb"])
def test_main_table_is_chosen_over_a_settings_table(tmp_path, ending):
    path = tmp_path / f"data{ending}"
    connect = sqlite3.connect if ending == ".sqlite" else duckdb.connect
    with contextlib.closing(connect(str(path))) as connection:
        connection.execute("CREATE TABLE about (k TEXT, v TEXT)")
        connection.execute("INSERT INTO about VALUES ('version', '3')")
        connection.execute("CREATE TABLE rows (a INTEGER, b DOUBLE, y TEXT)")
        connection.execute("INSERT INTO rows VALUES (1, 2.5, 'u'), (2, NULL, 'v'), (3, 4.5, 'u')")
        connection.commit()
    table = read_table(path)
    assert understood(table) == ABC
    assert any("there is also the table 'about'" in note for note in table.notes)
    assert understood(read_table(path, dialect={"sheet": "about"}))["k"] == ["version"]


@pytest.mark.parametrize("name", ["t", "T", "cells"])
def test_timestamp_column_may_have_any_name(tmp_path, name):
    day = f"TIMESTAMP '2023-01-05 12:00:00' + INTERVAL (k) DAY AS {name}"
    path = write_parquet(tmp_path / "data.parquet", f"SELECT {day}, k % 2 AS y FROM range(4) r(k)")
    assert understood(read_table(path))[name] == [19362.5, 19363.5, 19364.5, 19365.5]


def test_arff_row_weights_become_a_column(tmp_path):
    path = tmp_path / "data.arff"
    path.write_text(
        "@relation w\n@attribute a numeric\n@attribute b {p,q}\n@attribute class {n,y}\n@data\n"
        "1.5,p,y,{2}\n% none\n2.5,q,n\n{0 3.5, 2 y}, {0.5}\n"
    )
    table = read_table(path)
    assert understood(table) == {
        "a": [1.5, 2.5, 3.5],
        "b": ["p", "q", "p"],
        "class": ["y", "n", "y"],
        "weight": [2, 1, 0.5],
    }
    assert (table.label, table.weight) == ("class", "weight")


def test_invalid_json_lines_are_skipped_and_reported(tmp_path):
    path = tmp_path / "events.jsonl"
    lines = [f'{{"x": {k}, "y": "{"uv"[k % 2]}"}}' for k in range(9)]
    lines[3], lines[6] = lines[3][:7], "[]"
    path.write_text("\n".join(lines))
    table = read_table(path)
    assert table.column("x").values.tolist() == [0, 1, 2, 4, 5, 7, 8]
    (rejected,) = [finding for finding in table.findings if finding.kind == "rejected"]
    assert rejected.sentence == "2 lines are not records and were left out: 4, 7"
    assert table.notes.count(rejected.sentence) == 1
    with pytest.raises(InputError, match="may be damaged"):
        read_table(path, dialect={"strict": True})


def test_file_of_mostly_invalid_json_lines_is_refused(tmp_path):
    path = write_file(tmp_path / "events.jsonl", '{"x": 1, "y": "u"}\n' + '{"x": \n' * 3)
    with pytest.raises(InputError, match="may be damaged") as refused:
        read_table(path)
    reason = str(refused.value).partition("may be damaged")[2]
    assert "Malformed JSON at byte" in reason
    assert "LINE" not in reason
