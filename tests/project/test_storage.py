import dataclasses
import os
import signal
import subprocess
import sys
import textwrap
import weakref

import numpy as np
import pytest

from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.record import Stage
from aucstudio.project.scratch import BoundedCache
from aucstudio.project.store.project import project_file
from aucstudio.project.store.project.database import ProjectSource
from aucstudio.project.store.project.project_file import ProjectFile, write_project
from tests.conftest import write_file
from tests.project.conftest import run_sql
from tests.project.test_project_damage import fingerprint


def test_stored_runs_are_read_back_unchanged(project, plan, table):
    records = [
        execute(plan("auc-svm", {"kernel": "rbf"}, scheme="folds", folds=3), table),
        execute(plan("svm-pauc", {"fpr_range": (0.1, 0.4)}), table),
    ]
    for record in records:
        project.add_run(record)
    for before, after in zip(records, ProjectFile.open(project.path).runs(), strict=True):
        assert after.header() == before.header()
        assert after.experiment == before.experiment
        for a, b in zip(before.splits, after.splits, strict=True):
            assert fingerprint(b) == fingerprint(a)
            np.testing.assert_array_equal(a.model.score(table), b.model.score(table))
            assert a.fit_seconds == b.fit_seconds


def test_training_history_is_stored(project, plan, table):
    record = execute(plan("auc-svm", scheme="folds", folds=2), table)
    stages = (Stage("kernel matrix", 0.25), Stage("training", 1.5))
    curve = dataclasses.replace(record.splits[0].curve, stages=stages)
    first = dataclasses.replace(record.splits[0], curve=curve)
    project.add_run(dataclasses.replace(record, splits=(first, record.splits[1])))
    (after,) = ProjectFile.open(project.path).runs()
    assert after.splits[0].curve.stages == stages
    before, found = first.trajectory, after.splits[0].trajectory
    for a, b in ((before.train, found.train), (before.held, found.held)):
        np.testing.assert_array_equal(a.positive, b.positive)
        np.testing.assert_array_equal(a.scores, b.scores)
        assert b.scores.dtype == np.float32
    assert fingerprint(after.splits[1]) == fingerprint(record.splits[1])


def test_widened_range_is_stored_as_a_warning(project, plan, table):
    record = execute(plan("svm-pauc", {"fpr_range": (0.0, 1.0)}, scheme="folds", folds=3), table)
    assert [split.trained_range for split in record.splits] == [(0.0, 1.0)] * 3
    assert record.warnings == ()
    wider = dataclasses.replace(record.splits[1], trained_range=(0.0, 0.4))
    splits = (record.splits[0], wider, record.splits[2])
    project.add_run(dataclasses.replace(record, splits=splits))
    (after,) = ProjectFile.open(project.path).runs()
    assert after.splits[1].trained_range == (0.0, 0.4)
    (warning,) = after.warnings
    assert warning.code == "splits_trained_for_wider_range"
    assert dict(warning.values) == {"asked": (0.0, 1.0), "used": (0.0, 0.4), "count": 1, "total": 3}
    assert execute(plan("auc-rls"), table).splits[0].trained_range is None


def test_repeated_experiment_is_stored_as_two_runs(project, plan, table):
    record = execute(plan(), table)
    ids = [project.add_run(record).id for _ in range(3)]
    assert ids == [record.id, f"{record.id}-2", f"{record.id}-3"]
    assert [run.id for run in project.runs()] == ids


def test_plan_is_stored(project):
    assert project.plan() == {}
    project.set_plan({"window": {"band": [0, 0.2]}, "name": "größe"})
    assert ProjectFile.open(project.path).plan()["name"] == "größe"


def test_newer_format_is_refused_without_changes(project):
    run_sql(project.path, "UPDATE meta SET value = '99' WHERE name = 'format'")
    before = project.path.read_bytes()
    with pytest.raises(InputError, match=r"newer AUC Studio \(project format 99"):
        ProjectFile.open(project.path)
    assert project.path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 100])
def test_files_that_are_not_projects_are_refused(tmp_path, content):
    path = write_file(tmp_path / "no.aucproj", content)
    with pytest.raises(InputError, match="not an AUC Studio project"):
        ProjectFile.open(path)


def test_missing_project_is_reported(tmp_path):
    with pytest.raises(InputError, match="there is no project"):
        ProjectFile.open(tmp_path / "absent.aucproj")


def test_creating_never_overwrites(project):
    with pytest.raises(InputError, match="exists already"):
        ProjectFile.create(project.path)


def test_project_is_written_atomically(plan, table, tmp_path):
    records = [execute(plan(), table), execute(plan("auc-svm"), table)]
    target = write_file(tmp_path / "copy.aucproj", "an older file")
    stored = write_project(target, records, {"name": "größe"})
    assert [run.id for run in stored.runs()] == [record.id for record in records]
    assert stored.plan() == {"name": "größe"}
    before = target.read_bytes()
    with pytest.raises(InputError, match="cannot save the project as"):
        write_project(tmp_path / "no such folder" / "copy.aucproj", records, {})
    with pytest.raises(TypeError):
        write_project(target, records, {"name": object()})
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_full_disk_keeps_the_stored_runs(project, plan, table, monkeypatch):
    record = execute(plan(scheme="folds", folds=8), table)
    project.add_run(record)
    real = project_file.connect

    def nearly_full(path, **options):
        database = real(path, **options)
        pages = database.execute("PRAGMA page_count").fetchone()[0]
        database.execute(f"PRAGMA max_page_count = {pages + 1}")
        return database

    monkeypatch.setattr(project_file, "connect", nearly_full)
    with pytest.raises(InputError, match="full"):
        project.add_run(execute(plan("rls", scheme="folds", folds=8), table))
    assert len(project.runs()) == 1


@pytest.mark.slow
def test_killed_program_loses_no_finished_run(table_file, tmp_path):
    """A second process finishes one run, begins an endless one, and is killed with SIGKILL."""
    project = tmp_path / "killed.aucproj"
    script = textwrap.dedent(
        f"""
        import sys, threading
        from aucstudio.engine import METHODS
        from aucstudio.project.runs.experiment_keys import plan_runs
        from aucstudio.project.work.submit import open_place, run_experiments

        def run(method):
            data = {{"file": {str(table_file)!r}}}
            study = plan_runs({{"data": data, "runs": [{{"method": method}}]}})
            run_experiments(study.plans, open_place(), {str(project)!r})

        run("auc-svm")
        def endless(self, X, positive, monitor):
            print("in progress", flush=True)
            threading.Event().wait()
        METHODS["logistic"]._fit = endless
        run("logistic")
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout.readline().strip() == "in progress"
    process.send_signal(signal.SIGKILL)
    process.wait(20)
    process.stdout.close()
    reopened = ProjectFile.open(project)
    runs = reopened.runs()
    assert [run.experiment.method for run in runs] == ["auc-svm"]
    assert np.isfinite(runs[0].splits[0].test_scores).all()
    assert [e.method for e in reopened.unfinished_runs().lost] == ["logistic"]


def test_cached_objects_are_evicted(project):
    source = ProjectSource(project.path, BoundedCache(10_000))

    def made():
        return np.zeros(500), 4_000

    first = weakref.ref(source.remembered("first", made))
    assert source.remembered("first", made) is first()
    for name in ("second", "third"):
        source.remembered(name, made)
    assert first() is None
