"""The format of project files: its number and tables, and arrays that are read when needed."""

import copy
import dataclasses

import numpy as np
import pytest

from aucstudio.project.results.documents import named_runs
from aucstudio.project.runs.execute import execute
from aucstudio.project.scratch import BoundedCache
from aucstudio.project.store.project import database as source
from aucstudio.project.store.project.database import ProjectSource
from aucstudio.project.store.project.project_file import ProjectFile, write_project
from tests.project.conftest import run_sql


def test_new_project_has_format_1(project):
    assert run_sql(project.path, "SELECT value FROM meta WHERE name = 'format'") == [("1",)]


def count_reads(monkeypatch):
    read = []
    blob = ProjectSource.blob
    # Other tests may have read the same arrays.
    monkeypatch.setattr(source, "shared_cache", BoundedCache(1 << 20))
    monkeypatch.setattr(
        ProjectSource, "blob", lambda self, key: read.append(key) or blob(self, key)
    )
    return read


def test_listing_runs_reads_no_arrays(project, plan, table, monkeypatch):
    for seed in range(3):
        project.add_run(execute(plan(seed=seed), table))
    read = count_reads(monkeypatch)
    records = ProjectFile.open(project.path).runs()
    named_runs(project.path)
    assert [split.n_test for record in records for split in record.splits] == [80, 80, 80]
    assert [split.n_train for record in records for split in record.splits] == [80, 80, 80]
    assert read == []
    assert len(records[0].splits[0].test_scores) == 80
    assert len(read) == 1
    assert len(records[0].splits[0].test_scores) == 80
    assert len(read) == 1


def test_runs_on_the_same_rows_share_arrays(project, plan, table):
    for method in ("auc-rls", "rls", "svm"):
        project.add_run(execute(plan(method), table))
    ((count,),) = run_sql(project.path, "SELECT count(*) FROM blobs")
    records = project.runs()
    assert records[0].splits[0].test_rows is records[2].splits[0].test_rows
    separate = 18 * len(records)
    assert count < separate - 7


def test_stored_split_can_be_copied_and_replaced(project, plan, table):
    record = project.add_run(execute(plan("auc-svm"), table))
    (stored,) = project.runs()[0].splits
    changed = dataclasses.replace(stored, test_scores=-stored.test_scores)
    np.testing.assert_array_equal(changed.test_scores, -record.splits[0].test_scores)
    np.testing.assert_array_equal(changed.train_rows, record.splits[0].train_rows)
    travelled = copy.copy(stored)
    np.testing.assert_array_equal(travelled.test_scores, record.splits[0].test_scores)
    assert stored.trajectory is stored.trajectory
    with pytest.raises(AttributeError):
        stored.nothing  # noqa: B018
    with pytest.raises(dataclasses.FrozenInstanceError):
        stored.fold = 3


def test_opened_runs_stay_readable_after_file_deletion(project, plan, table):
    record = project.add_run(execute(plan(), table))
    (stored,) = project.runs()
    project.path.unlink()
    np.testing.assert_array_equal(stored.splits[0].test_scores, record.splits[0].test_scores)
    saved = write_project(project.path, [stored], {"name": "saved"})
    assert saved.plan() == {"name": "saved"}
    np.testing.assert_array_equal(
        saved.runs()[0].splits[0].train_scores, record.splits[0].train_scores
    )
