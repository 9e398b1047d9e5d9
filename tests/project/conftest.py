"""Small experiments and projects for the tests of the project layer."""

import contextlib
import sqlite3

import pytest

from aucstudio.project.data.readers import isolated
from aucstudio.project.data.validation import Validation
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.store.project.project_file import ProjectFile
from tests.project.shared_reader import SharedReader


@pytest.fixture(scope="session")
def shared_reader():
    made = SharedReader()
    yield made
    made.close()


@pytest.fixture
def reader_of_its_own():
    """Read each foreign file in a process of its own, as the program does."""


@pytest.fixture(autouse=True)
def readers(request, monkeypatch, shared_reader):
    """Read foreign files in one process; see :mod:`tests.project.shared_reader`."""
    if "reader_of_its_own" not in request.fixturenames:
        monkeypatch.setattr(isolated, "call", shared_reader)


def run_sql(path, query, values=()):
    """Run a statement on the database of a project and return its rows."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        return database.execute(query, values).fetchall()


@pytest.fixture
def project(tmp_path):
    return ProjectFile.create(tmp_path / "study.aucproj")


@pytest.fixture
def plan(table):
    def make(method="auc-rls", settings=None, **validation):
        data = DataReference.to_table(table)
        scheme = Validation(**({"test_size": 0.5} | validation))
        return plan_experiment(data, method, settings or {}, scheme)

    return make
