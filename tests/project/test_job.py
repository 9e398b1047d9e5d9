"""Jobs on threads, and runs that are submitted, stopped and stored."""

import dataclasses
import threading

import numpy as np
import pytest

from aucstudio.engine import METHODS, roc
from aucstudio.engine.monitor import Stopped
from aucstudio.project.results.summary import WHOLE, compute_figures, measures
from aucstudio.project.runs.planning import PlannedRun
from aucstudio.project.runs.record import DONE, STOPPED
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.work.job import Job, describe_failure
from aucstudio.project.work.submit import Here, submit

PATIENCE = 20.0


def ended(job):
    assert job.wait(PATIENCE)
    return job


def done(work):
    job = Job(work)
    job.start()
    return ended(job)


def test_job_returns_its_result_and_messages():
    job = done(lambda post: [post(k) for k in range(5)])
    assert job.result == [False] * 5
    assert job.drain() == [0, 1, 2, 3, 4]
    assert job.drain() == []


def test_mailbox_drops_the_oldest_messages():
    kept = done(lambda post: [post(k) for k in range(10_000)] and None).drain()
    assert kept[-1] == 9_999
    assert len(kept) < 1_000


def test_error_is_stored_as_the_outcome():
    sentence, trace = describe_failure(done(lambda post: 1 / 0).error)
    assert "division" in sentence
    assert "Traceback" in trace


def test_work_observes_a_stop():
    began = threading.Event()

    def work(post):
        began.set()
        while not post(None):
            threading.Event().wait(0.001)
        return "kept"

    job = Job(work)
    job.start()
    assert began.wait(PATIENCE)
    job.stop()
    assert ended(job).result == "kept"


@pytest.mark.slow
@pytest.mark.parametrize("leftover", [lambda: "leftover", None])
def test_uninterruptible_work_is_abandoned_with_its_leftovers(leftover):
    release = threading.Event()
    job = Job(lambda post: release.wait(PATIENCE) and "late", leftover)
    job.start()
    job.stop()
    expected = ("leftover", type(None)) if leftover else (None, Stopped)
    assert (ended(job).result, type(job.error)) == expected
    release.set()
    job.thread.join(PATIENCE)
    assert (job.result, type(job.error)) == expected


def test_run_is_stored_before_its_outcome_is_available(plan, table, tmp_path):
    project = ProjectFile.create(tmp_path / "p.aucproj")
    job = ended(submit(PlannedRun(plan("auc-svm"), table, None), Here(), project=project))
    assert job.result.unsaved == ""
    stored = project.runs()[0]
    assert stored.status == DONE
    np.testing.assert_array_equal(
        stored.splits[0].test_scores, job.result.record.splits[0].test_scores
    )
    assert project.unfinished_runs().lost == []


def test_measures_are_computed_with_the_run(plan, table, monkeypatch):
    asked = []
    whole = roc.describe
    monkeypatch.setattr(roc, "describe", lambda *data: asked.append(1) or whole(*data))
    job = ended(
        submit(PlannedRun(plan("auc-rls"), table, None), Here(), afterwards=compute_figures)
    )
    assert len(asked) == 1
    found = measures(job.result.record, WHOLE)
    assert len(asked) == 1
    assert 0.0 < found["h"] < 1.0


def test_run_that_cannot_be_stored_is_returned(plan, table, tmp_path):
    project = ProjectFile(tmp_path / "no such folder" / "p.aucproj")
    job = ended(submit(PlannedRun(plan(), table, None), Here(), project=project))
    assert "cannot read or write the project" in job.result.unsaved
    assert job.result.record.status == DONE


@pytest.fixture
def stubborn(monkeypatch):
    """Let a method hang in one of its fits; return when it is reached, and what ends it."""

    def make(method, number):
        release, reached, fits = threading.Event(), threading.Event(), []
        fit = METHODS[method]._fit

        def hang(self, X, positive, monitor):
            fits.append(1)
            if len(fits) == number:
                reached.set()
                release.wait(PATIENCE)
            return fit(self, X, positive, monitor)

        monkeypatch.setattr(METHODS[method], "_fit", hang)
        return reached, release

    return make


@pytest.mark.slow
def test_abandoned_run_keeps_finished_splits_and_is_stored_once(plan, table, tmp_path, stubborn):
    reached, release = stubborn("auc-rls", 3)
    project = ProjectFile.create(tmp_path / "p.aucproj")
    job = submit(
        PlannedRun(plan("auc-rls", scheme="folds", folds=4), table, None), Here(), project=project
    )
    assert reached.wait(PATIENCE)
    job.stop()
    assert ended(job).result.record.status == STOPPED
    assert len(job.result.record.splits) == 2
    release.set()
    job.thread.join(PATIENCE)
    assert len(project.runs()) == 1


@pytest.mark.slow
def test_abandoned_search_keeps_evaluated_candidates(plan, table, stubborn):
    reached, release = stubborn("svm", 10)
    experiment = dataclasses.replace(plan("svm"), tuning=Tuning("auc", folds=2))
    job = submit(PlannedRun(experiment, table, None), Here())
    assert reached.wait(PATIENCE)
    job.stop()
    ended(job)
    release.set()
    (found,) = job.result.record.searches
    assert np.isfinite(found.areas).sum() == 9


def test_stopping_twice_or_late_is_harmless():
    job = done(lambda post: 7)
    job.stop()
    job.stop()
    assert job.result == 7
    with pytest.raises(RuntimeError):
        job.start()
