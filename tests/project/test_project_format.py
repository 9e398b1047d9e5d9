"""Project files of both formats: read as they are, carried over on the first write, read lazily."""

import copy
import dataclasses
import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from aucstudio.project.results.documents import named_runs
from aucstudio.project.results.summary import auc_summary, pauc_summary, train_auc
from aucstudio.project.runs.execute import execute
from aucstudio.project.store.project import source
from aucstudio.project.store.project.project_file import ProjectFile, write_project
from aucstudio.project.store.project.source import ProjectSource, Shelf

STORED = Path(__file__).parent / "fixtures" / "format-1.aucproj"
BAND = (0.0, 0.25)


@pytest.fixture
def older(tmp_path):
    """A project that format 1 wrote: one run, one in folds, one tuned, one stopped; one lost."""
    return Path(shutil.copy(STORED, tmp_path / "older.aucproj"))


@pytest.fixture
def project(tmp_path):
    return ProjectFile.create(tmp_path / "study.aucproj")


def numbers(records):
    return [
        {
            "id": r.id,
            "method": r.experiment.method,
            "status": r.status,
            "splits": len(r.splits),
            "auc": rounded(auc_summary(r).per_split),
            "pauc": rounded(pauc_summary(r, BAND).per_split),
            "train_auc": train_auc(r),
            "searches": len(r.searches),
            "chosen": [dict(search.chosen) for search in r.searches],
            "first_scores": [s.test_scores[:3].tolist() for s in r.splits],
        }
        for r in records
    ]


def rounded(areas):
    return [round(area, 12) for area in areas]


def expected():
    stored = json.loads(STORED.with_suffix(".json").read_text(encoding="utf-8"))
    return [run | {name: rounded(run[name]) for name in ("auc", "pauc")} for run in stored]


def format_number(path):
    with sqlite3.connect(path) as database:
        (found,) = database.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
    database.close()
    return int(found)


def test_a_project_of_format_1_is_read_and_left_alone(older):
    before = older.read_bytes()
    contents = ProjectFile.open(older).read()
    assert contents.damaged == []
    assert contents.notes == []
    assert numbers(contents.records) == expected()
    for record in contents.records:
        for split in record.splits:
            assert split.curve.objective.ndim == 1
            assert split.trajectory is not None
            assert split.model.method == record.experiment.method
    named, band = named_runs(older)
    assert band == BAND
    assert [name for name, _ in named] == ["run 0", "run 1", "run 2"]
    assert older.read_bytes() == before


def test_a_lost_run_of_format_1_is_told_once_without_carrying_the_file_over(older):
    project = ProjectFile.open(older)
    assert [e.method for e in project.flights().lost] == ["svm-auc"]
    assert project.flights().lost == []
    assert format_number(older) == 1


def test_format_1_is_carried_over_when_it_is_first_written_to(older, plan, table):
    project = ProjectFile.open(older)
    contents = project.read()
    added = project.add_run(execute(plan(), table))
    assert format_number(older) == 2
    again = ProjectFile.open(older).read()
    assert again.damaged == []
    assert again.plan == contents.plan
    assert numbers(again.records[:-1]) == expected()
    assert again.records[-1].id == added.id
    # Records that were read before go on reading: what they refer to has moved.
    assert numbers(contents.records) == expected()
    project.set_plan({"name": "written"})
    assert project.plan() == {"name": "written"}
    assert [e.method for e in project.flights().lost] == ["svm-auc"]


def test_an_interrupted_migration_leaves_format_1(older, monkeypatch):
    from aucstudio.project.store.project import migrations

    def broken(*_arguments, **_options):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(migrations, "write_contents", broken)
    with pytest.raises(ValueError, match="disk I/O error"):
        ProjectFile.open(older).set_plan({})
    assert format_number(older) == 1
    assert numbers(ProjectFile.open(older).runs()) == expected()


def test_a_run_without_its_course_is_read(older):
    with sqlite3.connect(older) as database:
        query = "DELETE FROM arrays WHERE name LIKE 'looks.%' OR name LIKE 'stages.%'"
        assert database.execute(query).rowcount > 8
    database.close()
    for record in ProjectFile.open(older).runs():
        for split in record.splits:
            assert split.trajectory is None
            assert split.curve.stages == ()


def count_reads(monkeypatch):
    read = []
    blob = ProjectSource.blob
    # What other tests have read may be the same.
    monkeypatch.setattr(source, "_shelf", Shelf(1 << 20))
    monkeypatch.setattr(
        ProjectSource, "blob", lambda self, key: read.append(key) or blob(self, key)
    )
    return read


def test_listing_runs_reads_none_of_their_arrays(project, plan, table, monkeypatch):
    for seed in range(3):
        project.add_run(execute(plan(seed=seed), table))
    read = count_reads(monkeypatch)
    records = ProjectFile.open(project.path).runs()
    named_runs(project.path)
    assert [split.n_test for record in records for split in record.splits] == [80, 80, 80]
    assert [split.n_train for record in records for split in record.splits] == [80, 80, 80]
    assert read == []
    assert len(records[0].splits[0].test_scores) == 80
    assert len(read) == 3
    assert len(records[0].splits[0].test_positive) == 80
    assert len(read) == 3


def test_runs_on_the_same_rows_share_them(project, plan, table):
    for method in ("auc-rls", "rls", "svm"):
        project.add_run(execute(plan(method), table))
    with sqlite3.connect(project.path) as database:
        count = database.execute("SELECT count(*) FROM blobs").fetchone()[0]
    database.close()
    records = project.runs()
    assert records[0].splits[0].test_rows is records[2].splits[0].test_rows
    separate = 18 * len(records)
    assert count < separate - 7


def test_a_stored_split_is_a_value_like_any(project, plan, table):
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


def test_runs_go_on_being_read_when_their_file_is_gone(project, plan, table):
    record = project.add_run(execute(plan(), table))
    (stored,) = project.runs()
    project.path.unlink()
    np.testing.assert_array_equal(stored.splits[0].test_scores, record.splits[0].test_scores)
    saved = write_project(project.path, [stored], {"name": "saved"})
    assert saved.plan() == {"name": "saved"}
    np.testing.assert_array_equal(
        saved.runs()[0].splits[0].train_scores, record.splits[0].train_scores
    )
