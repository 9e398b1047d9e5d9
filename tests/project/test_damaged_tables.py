"""Damaged, misnamed or missing files are read or refused with a clear error."""

import os
import random

import pytest

from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from tests.conftest import write_parquet

MIXED = (
    "SELECT (i * 37 % 101)::DOUBLE AS x, (i % 7)::BIGINT AS n, 'level ' || (i % 5) AS t, "
    "(i / 3)::DECIMAL(10, 2) AS d, DATE '2020-01-01' + (i % 300)::INT AS day, "
    "CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END AS y FROM range(2000) AS r(i)"
)


@pytest.mark.slow
@pytest.mark.parametrize("opened", ["memory", "disk"])
@pytest.mark.parametrize("part", range(3))
def test_damaged_parquet_is_read_or_refused(tmp_path, part, opened):
    whole, path = tmp_path / "whole.parquet", tmp_path / "damaged.parquet"
    write_parquet(whole, MIXED)
    content = whole.read_bytes()
    chosen = random.Random(part)
    refused = []
    for _ in range(30):
        path.write_bytes(_damaged(content, chosen))
        try:
            _read_all(path, opened)
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 5
    assert all(str(path) in said and "\n" not in said for said in refused)


def _damaged(content, chosen):
    changed = bytearray(content)
    # Half of the damage is in the footer, which stores the shape.
    first = chosen.choice([4, len(content) - 1500])
    start = chosen.randrange(first, len(content))
    kind = chosen.randrange(4)
    if kind == 0:
        changed[start] ^= 1 << chosen.randrange(8)
    elif kind == 1:
        changed[start : start + 50] = chosen.randbytes(50)[: len(content) - start]
    elif kind == 2:
        del changed[start : start + chosen.randint(1, 20)]
    else:
        del changed[start:]
    return bytes(changed)


def _read_all(path, opened):
    if opened == "memory":
        read_table(path)
        return
    table = open_stream(path)
    try:
        list(table.windows(500))
    finally:
        table.close()


# Content of Parquet files


def _as_opened(path, opened):
    table = read_table(path, label="y") if opened == "memory" else open_stream(path, label="y")
    rows = table if opened == "memory" else table.window(0, table.rows, table.feature_names)
    return table, {c.name: c for c in (*table.columns, *rows.columns)}


@pytest.mark.parametrize("opened", ["memory", "disk"])
def test_integers_beyond_2_53_are_read_as_text(tmp_path, opened):
    path = tmp_path / "long.parquet"
    write_parquet(
        path,
        "SELECT 9007199254740992 + i % 200 AS code, (9007199254740992 - i % 200) AS exact, "
        "(18446744073709551000 + i % 3)::UBIGINT AS big, "
        "(12345678901234567890 + i % 3)::DECIMAL(38, 0) AS decimals, "
        "NULL::BIGINT AS nothing, i % 2 AS y FROM range(1000) AS r(i)",
    )
    table, columns = _as_opened(path, opened)
    assert [columns[name].kind for name in ("code", "big", "decimals")] == ["text"] * 3
    assert [columns[name].kind for name in ("exact", "nothing", "y")] == ["number"] * 3
    assert columns["code"].distinct == 200
    assert {columns["code"].values[k] for k in (0, 1)} == {"9007199254740992", "9007199254740993"}
    said = [note for note in table.notes if "2^53" in note]
    assert said[0] == (
        "column code holds whole numbers beyond 2^53, which cannot be represented exactly, "
        "and is read as text"
    )
    assert len(said) == 3


@pytest.mark.parametrize("opened", ["memory", "disk"])
def test_columns_keep_names_that_differ_in_case_only(tmp_path, opened):
    path = tmp_path / "cases.parquet"
    write_parquet(
        path, "SELECT i AS aaaa, 10 * i AS bbbb, {'aaaa': i} AS s, i % 2 AS y FROM range(9) AS r(i)"
    )
    path.write_bytes(path.read_bytes().replace(b"bbbb", b"AAAA"))
    _, columns = _as_opened(path, opened)
    assert list(columns)[:4] == ["aaaa", "AAAA", "s.aaaa", "y"]
    assert columns["AAAA"].values.tolist() == [10.0 * k for k in range(9)]


def test_columns_with_the_same_name_are_renamed(tmp_path):
    path = tmp_path / "cases.parquet"
    write_parquet(path, "SELECT i AS aaaa, 10 * i AS bbbb, i % 2 AS y FROM range(9) AS r(i)")
    path.write_bytes(path.read_bytes().replace(b"bbbb", b"aaaa"))
    table = read_table(path)
    assert [column.name for column in table.columns] == ["aaaa", "aaaa_2", "y"]
    assert table.column("aaaa_2").values.tolist() == [10.0 * k for k in range(9)]
    assert "column 2 repeats the name 'aaaa' and is named 'aaaa_2'" in table.notes


# Names and kinds of files


@pytest.mark.parametrize("opened", ["memory", "disk"])
@pytest.mark.parametrize("kind", ["csv", "long csv", "parquet"])
def test_file_name_that_is_not_utf8_is_read(tmp_path, kind, opened):
    path = tmp_path / os.fsdecode(b"caf\xe9.data")
    rows = 200_000 if kind == "long csv" else 50
    if kind == "parquet":
        write_parquet(tmp_path / "plain", f"SELECT i AS x, i % 2 AS y FROM range({rows}) AS r(i)")
        (tmp_path / "plain").rename(path)
    else:
        path.write_text("x,y\n" + "".join(f"{k},{k % 2}\n" for k in range(rows)))
    if opened == "memory":
        table = read_table(path)
    else:
        table = open_stream(path)
        assert table.window(0, 3).column("x").values.tolist() == [0.0, 1.0, 2.0]
        table.close()
    assert (table.rows, table.path) == (rows, path)


@pytest.mark.parametrize("read", [read_table, open_stream])
def test_paths_that_are_not_files_are_refused(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    for name, words in [
        ("pipe", "is a pipe or a device"),
        ("/dev/null", "is a pipe or a device"),
        ("n" * 300, "cannot be read"),
        ("a/" * 3000, "cannot be read"),
        ("nul\0", "cannot be read"),
        ("none.csv", "does not exist"),
        (".", "is a folder"),
    ]:
        with pytest.raises(InputError, match=words):
            read(tmp_path / name)
