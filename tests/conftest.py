"""Fixtures shared by all tests; Qt is offscreen before anything imports it."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import csv
import dataclasses
import gc
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

_HOMES = itertools.count()


@pytest.fixture(autouse=True)
def own_home(monkeypatch, tmp_path_factory):
    """Keep every test's studies, recent files and settings in a folder of its own."""
    home = tmp_path_factory.getbasetemp() / f"home-{next(_HOMES)}"
    monkeypatch.setenv("AUCSTUDIO_HOME", str(home))
    return home


def write_file(path: Path, content: str | bytes) -> Path:
    """Write a file; return its path."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_parquet(path: Path, query: str, metadata: str = "") -> Path:
    """Write the rows of a query to a Parquet file; return its path."""
    import duckdb

    known = f", KV_METADATA {{{metadata}}}" if metadata else ""
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet{known})")
    return path


def write_table(path: Path, rows: int = 160, seed: int = 0, features: int = 4) -> Path:
    """Write a small two-class table: numbers, a category, missing values, the label last."""
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.3
    X = rng.normal(size=(rows, features)) + positive[:, None] * np.linspace(1.2, 0.0, features)
    town = np.where(rng.random(rows) < 0.3 + 0.4 * positive, "north", "south")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"x{k}" for k in range(features)), "town", "outcome"])
        for i in range(rows):
            cells = [f"{value:.6f}" for value in X[i]]
            if i % 37 == 5:
                cells[1] = ""
            writer.writerow([*cells, town[i], "yes" if positive[i] else "no"])
    return path


@pytest.fixture
def table_file(tmp_path) -> Path:
    """A small CSV with numbers, a category, missing values and a two-class label."""
    return write_table(tmp_path / "study.csv")


@pytest.fixture(scope="session")
def table_once(tmp_path_factory):
    from aucstudio.project.data.table import read_table

    made = read_table(write_table(tmp_path_factory.mktemp("table") / "study.csv"))
    for column in made.columns:
        column.values.setflags(write=False)
    return made


def with_cells(table, rows, value):
    """Return the table with another value in some rows of its number columns."""
    columns = []
    for column in table.columns:
        if column.role == "number":
            values = column.values.copy()
            values[rows] = value
            column = dataclasses.replace(column, values=values)
        columns.append(column)
    return dataclasses.replace(table, columns=tuple(columns))


@pytest.fixture
def table(table_file, table_once):
    """The table of ``table_file``, read once for all tests: a table never changes."""
    return dataclasses.replace(table_once, path=table_file)


def small_settings(method, **more):
    """Return those settings of a method that make it fast on a small table."""
    from aucstudio.engine import METHODS, declared_params

    small = {"library": "few", "n_trees": 30, "n_rounds": 20} | more
    declared = declared_params(METHODS[method])
    return {name: value for name, value in small.items() if name in declared}


@pytest.fixture
def run(capsys):
    """Call the command line; return its exit status, output and messages."""
    from aucstudio.cli import main

    def call(*arguments):
        status = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return call


@pytest.fixture
def printed(run, capsys):
    """Call a command that prints one JSON document; return it."""

    def call(*arguments):
        capsys.readouterr()
        status, out, err = run(*arguments, "--json")
        assert status == 0, err
        return json.loads(out)

    return call


@pytest.fixture
def refused(run, capsys):
    """Call a command that is refused in one line; return that line."""

    def call(*arguments):
        capsys.readouterr()
        status, out, err = run(*arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)
        return err

    return call


@pytest.fixture
def ended_owner(monkeypatch):
    """Record runs as started by a program that has ended; call it to use this process again."""
    import os
    import socket

    from aucstudio.project.store.project.unfinished_runs import Owner

    # The id of a running process, with another start time.
    gone = Owner(os.getpid(), 1.0, socket.gethostname(), "gone", 1.0)
    with monkeypatch.context() as patch:
        patch.setattr(Owner, "this", classmethod(lambda cls: gone))
        yield patch.undo


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the collector from passing over the modules and the tests, which stay to the end."""
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    return result


def pytest_collection_modifyitems(config, items):
    """Give slow tests a longer limit, and leave out those of packages without -m packages."""
    for item in items:
        if item.get_closest_marker("packages") and "packages" not in config.option.markexpr:
            item.add_marker(pytest.mark.skip(reason="builds a package: run with -m packages"))
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(900))
