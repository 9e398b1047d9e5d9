"""Every reader reads awkward files equally; damaged ones yield a table or a clear error."""

import itertools
import random

import duckdb
import pytest

from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.input_files import CLOSED
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text import delimited
from aucstudio.project.errors import InputError
from tests.project.awkward import CASES, content_of, understood, write

PART = 8


def all_of(table):
    numbers = None if table.row_numbers is None else table.row_numbers.tolist()
    notices = {finding.code for finding in table.findings if finding.kind == "rejected"}
    rejected = table.rejected, table.rejected_rows
    return understood(table), rejected, numbers, table.unreadable, notices


def on_disk(path, choices):
    table = open_stream(path, **choices)
    try:
        return understood(table.window(0, table.rows, [c.name for c in table.columns]))
    finally:
        table.close()


class Borrowed:
    """A connection to one database of all tests, in a schema of its own: a new one takes 25 ms."""

    def __init__(self, database, schema):
        self._cursor, self._functions = database.cursor(), []
        self._cursor.execute(f"CREATE SCHEMA {schema}; SET schema = '{schema}'")

    def __getattr__(self, name):
        return getattr(self._cursor, name)

    def create_function(self, name, *how):
        self._functions.append(name)
        self._cursor.create_function(name, *how)

    def close(self):
        for name in self._functions:
            self._cursor.remove_function(name)
        self._cursor.close()


@pytest.fixture(scope="module")
def connect():
    """Return duckdb.connect, but for databases in memory."""
    really, schemas = duckdb.connect, (f"s{k}" for k in itertools.count())
    with really(config=CLOSED) as shared:
        yield (
            lambda database, config: (
                Borrowed(shared, next(schemas))
                if database == ":memory:"
                else really(database, config=config)
            )
        )


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PART))
def test_all_readers_return_the_same_table(tmp_path, monkeypatch, part, connect):
    monkeypatch.setattr(duckdb, "connect", connect)
    path = tmp_path / "data.csv"
    for name, case in [one for one in CASES if "error" not in one[1]][part::PART]:
        choices = write(path, case)
        monkeypatch.setattr(delimited, "is_small", lambda *_: True)
        short = all_of(read_table(path, **choices))
        monkeypatch.setattr(delimited, "is_small", lambda *_: False)
        assert all_of(read_table(path, **choices)) == short, name
        if name.endswith(("names-again", "quotes-open", "-fixed", "-inf", "-iso-times", "-total")):
            assert on_disk(path, choices) == short[0], name


def damaged(content, chosen):
    changed = bytearray(content)
    for _ in range(chosen.randint(1, 4)):
        place = chosen.randrange(len(changed) + 1)
        kind = chosen.randrange(5)
        if kind == 0 and place < len(changed):
            changed[place] ^= 1 << chosen.randrange(8)
        elif kind == 1:
            changed[place:place] = chosen.choice(
                [b'"', b"'", b",", b"\n", b"\0", b"\xff", b"#", b"\r"]
            )
        elif kind == 2:
            del changed[place : place + chosen.randint(1, 9)]
        elif kind == 3:
            changed[place:place] = chosen.randbytes(4)
        elif place > 3:
            del changed[place:]
    return bytes(changed)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(k, marks=pytest.mark.slow) for k in range(4, 20))]
)
def test_damaged_files_yield_a_table_or_a_clear_error(tmp_path, seed):
    chosen = random.Random(seed)
    path = tmp_path / "data.csv"
    read = 0
    for _, case in chosen.sample(CASES, 60):
        choices = write(path, case)
        path.write_bytes(damaged(content_of(case), chosen))
        try:
            table = read_table(path, dialect=choices["dialect"])
        except InputError:
            continue
        read += 1
        assert table.rows == len(table.columns[0].values)
        assert len({column.name for column in table.columns}) == len(table.columns)
    assert read > 20
