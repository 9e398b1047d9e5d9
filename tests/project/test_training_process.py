import dataclasses

import numpy as np
import pytest

from aucstudio.engine.monitor import Stopped
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.record import DONE, FAILED, STOPPED
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.work.job import run_job
from aucstudio.project.work.training_process import TrainingProcess

PATIENCE = 60.0


@pytest.fixture(scope="module")
def process():
    made = TrainingProcess()
    assert made.start()
    yield made
    made.close()


class Ears:
    """Keeps what is told; asks to stop, or does something, once it has heard enough."""

    def __init__(self, enough=None, then=lambda: True):
        self.told, self._enough, self._then = [], enough or (lambda _told: False), then

    def __call__(self, progress):
        self.told.append(progress)
        return self._then() if self._enough(progress) else False


def same_splits(first, second):
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        for name in ("train_rows", "test_rows", "train_scores", "test_scores", "support_pairs"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert (one.objective, one.gap, one.notes) == (other.objective, other.gap, other.notes)


@pytest.mark.parametrize("method", ["auc-svm", "gradient-boosting", "svm"])
def test_a_run_gives_what_it_gives_here(process, plan, table, method):
    experiment = plan(method, repeats=2)
    ears = Ears()
    found, here = process.execute(experiment, table, None, ears), execute(experiment, table)
    assert found.status == DONE
    assert found.id == here.id
    same_splits(found.splits, here.splits)
    told = [progress.finished for progress in ears.told if progress.finished]
    assert all(one is other for one, other in zip(told, found.splits, strict=True))
    assert all(progress.preparation is not None for progress in ears.told)


def test_what_a_search_finds_is_told_and_recorded(process, plan, table):
    experiment = dataclasses.replace(plan("auc-svm"), tuning=Tuning("auc", folds=2))
    ears = Ears()
    found, here = process.execute(experiment, table, None, ears), execute(experiment, table)
    assert found.searches[0].chosen == here.searches[0].chosen
    assert any(progress.search is not None for progress in ears.told)
    same_splits(found.splits, here.splits)


def test_another_table_replaces_the_one_that_is_there(process, plan, table):
    column = table.columns[0]
    other = dataclasses.replace(column, values=np.ascontiguousarray(column.values[::-1]))
    turned = dataclasses.replace(table, columns=(other, *table.columns[1:]))
    for used in (table, turned, table):
        found = process.execute(plan(), used, None, Ears())
        same_splits(found.splits, execute(plan(), used).splits)


def test_a_stop_keeps_what_is_finished(process, plan, table):
    experiment = plan("auc-svm", repeats=5_000)
    found = process.execute(experiment, table, None, Ears(lambda progress: progress.finished))
    assert found.status == STOPPED
    assert 1 <= len(found.splits) < 5_000
    # A stop is for one run alone.
    assert process.execute(plan(), table, None, Ears()).status == DONE


def test_a_run_that_fails_there_is_recorded_here(process, plan, table):
    experiment = plan(scheme="folds", folds=100)
    found, here = process.execute(experiment, table, None, Ears()), execute(experiment, table)
    assert found.status == FAILED
    assert found.error == here.error


@pytest.mark.slow
def test_what_was_finished_outlives_the_process(process, plan, table):
    def kill():
        process._process.kill()

    ears = Ears(lambda progress: progress.finished, kill)
    found = process.execute(plan("auc-svm", repeats=5_000), table, None, ears)
    assert found.status == FAILED
    assert "ended unexpectedly (SIGKILL)" in found.error
    assert len(found.splits) >= 1
    assert process.execute(plan(), table, None, Ears()).status == DONE


@pytest.mark.slow
def test_a_run_that_is_given_up_ends_with_its_process(process, plan, table):
    before = process._process
    with pytest.raises(Stopped):
        process.execute(plan("svm"), table, None, Ears(), given_up=lambda: True)
    assert before.poll() is not None
    assert process.execute(plan(), table, None, Ears()).status == DONE


def test_without_a_process_the_run_is_made_here(plan, table, monkeypatch):
    def refuse(*_arguments, **_options):
        raise OSError("no more processes")

    monkeypatch.setattr("subprocess.Popen", refuse)
    process = TrainingProcess()
    assert not process.start()
    assert process.execute(plan(), table, None, Ears()).status == DONE


def test_a_job_may_run_there(process, plan, table):
    job = run_job(plan("auc-svm"), table, process=process)
    job.start()
    assert job.wait(PATIENCE)
    same_splits(job.result.record.splits, execute(plan("auc-svm"), table).splits)
    assert job.drain()
