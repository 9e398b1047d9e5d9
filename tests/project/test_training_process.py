"""Runs in child processes: the same numbers as here, stops, and processes that die."""

import dataclasses
import os
import signal
import sys
import time

import numpy as np
import pytest

from aucstudio.engine.monitor import Stopped
from aucstudio.project import child_process
from aucstudio.project.runs.execute import NOT_ENOUGH_MEMORY, execute
from aucstudio.project.runs.planning import PlannedRun
from aucstudio.project.runs.record import DONE, FAILED, STOPPED
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.work.processes import Processes
from aucstudio.project.work.submit import submit

PATIENCE = 60.0


@pytest.fixture(scope="module")
def process():
    with Processes() as made:
        assert made.start()
        yield made


def run(process, experiment, table, listen=None, given_up=lambda: False):
    return process.execute(PlannedRun(experiment, table, None), listen or Ears(), given_up)


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


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auc-svm", "gradient-boosting", "svm"])
def test_a_run_gives_what_it_gives_here(process, plan, table, method):
    experiment = plan(method, repeats=2)
    ears = Ears()
    found, here = run(process, experiment, table, ears), execute(experiment, table)
    assert found.status == DONE
    assert found.id == here.id
    same_splits(found.splits, here.splits)
    messages = [progress.finished for progress in ears.told if progress.finished]
    assert all(one is other for one, other in zip(messages, found.splits, strict=True))
    assert all(progress.preparation is not None for progress in ears.told)


@pytest.mark.slow
def test_the_result_of_a_search_is_reported_and_recorded(process, plan, table):
    experiment = dataclasses.replace(plan("auc-svm"), tuning=Tuning("auc", folds=2))
    ears = Ears()
    found, here = run(process, experiment, table, ears), execute(experiment, table)
    assert found.searches[0].chosen == here.searches[0].chosen
    assert any(progress.search is not None for progress in ears.told)
    same_splits(found.splits, here.splits)


def test_another_table_replaces_the_one_that_is_there(process, plan, table):
    column = table.columns[0]
    other = dataclasses.replace(column, values=np.ascontiguousarray(column.values[::-1]))
    turned = dataclasses.replace(table, columns=(other, *table.columns[1:]))
    for used in (table, turned, table):
        found = run(process, plan(), used)
        same_splits(found.splits, execute(plan(), used).splits)


@pytest.mark.slow
def test_a_stop_keeps_what_is_finished(process, plan, table):
    experiment = plan("auc-svm", repeats=5_000)
    found = run(process, experiment, table, Ears(lambda progress: progress.finished))
    assert found.status == STOPPED
    assert 1 <= len(found.splits) < 5_000
    # A stop is for one run alone.
    assert run(process, plan(), table).status == DONE


def test_a_run_that_fails_there_is_recorded_here(process, plan, table):
    experiment = plan(scheme="folds", folds=100)
    found, here = run(process, experiment, table), execute(experiment, table)
    assert found.status == FAILED
    assert found.error == here.error


@pytest.mark.slow
def test_what_was_finished_outlives_the_process(process, plan, table):
    task = submit(PlannedRun(plan("auc-svm", repeats=5_000), table, None), process)
    messages = []
    while not any(progress.finished for progress in messages):
        assert not task.wait(0.01)
        messages += task.drain()
    (busy,) = process._busy
    os.kill(busy.pid, signal.SIGKILL)
    assert task.wait(PATIENCE)
    record = task.result.record
    assert record.status == FAILED
    assert "ended unexpectedly (SIGKILL)" in record.error
    assert len(record.splits) >= 1
    assert run(process, plan(), table).status == DONE


@pytest.mark.slow
def test_a_run_that_is_given_up_ends_with_its_process(process, plan, table):
    before = process._idle[0]
    with pytest.raises(Stopped):
        run(process, plan("svm"), table, given_up=lambda: True)
    assert not before.alive
    assert run(process, plan(), table).status == DONE


def test_without_a_process_the_run_is_made_here(plan, table, monkeypatch):
    def refuse(*_arguments, **_options):
        raise OSError("no more processes")

    monkeypatch.setattr("subprocess.Popen", refuse)
    with Processes() as none:
        assert not none.start()
        assert run(none, plan(), table).status == DONE


@pytest.mark.slow
def test_several_run_at_once_and_processes_are_kept_for_the_next(plan, table):
    with Processes(2) as both:
        tasks = [
            submit(PlannedRun(plan("auc-svm", seed=seed), table, None), both) for seed in range(2)
        ]
        assert all(task.wait(PATIENCE) for task in tasks)
        used = set(both._idle)
        assert len(used) == 2
        for seed, task in enumerate(tasks):
            here = execute(plan("auc-svm", seed=seed), table)
            same_splits(task.result.record.splits, here.splits)
        run(both, plan(), table)
        assert set(both._idle) == used
    assert not any(process.alive for process in used)


@pytest.fixture
def spoiled(monkeypatch):
    """Processes of which each does something to itself before it serves."""
    made = []

    def make(how):
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            "from aucstudio.project import child_process; "
            f"from tests.project import spoiled; spoiled.{how}(); "
            "child_process.serve(['aucstudio.project.work.processes', '0'])"
        )
        with monkeypatch.context() as patched:
            patched.setattr(child_process, "child_command", lambda *_: [sys.executable, "-c", code])
            made.append(Processes())
            assert made[0].start()
        return made[0]

    yield make
    for one in made:
        one.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("no_memory_for_the_end", NOT_ENOUGH_MEMORY),
        ("no_memory_for_an_order", NOT_ENOUGH_MEMORY),
        ("a_bug_in_sending", "ended unexpectedly (exit status 1)"),
        ("gibberish", "ended unexpectedly"),
    ],
)
def test_a_process_that_cannot_answer_fails_its_run_alone(spoiled, plan, table, how, words, capfd):
    place = spoiled(how)
    first = place._idle[0]
    task = submit(PlannedRun(plan("auc-svm", repeats=2), table, None), place)
    assert task.wait(PATIENCE)
    record = task.result.record
    assert record.status == FAILED
    assert words in record.error
    assert len(record.splits) == (2 if how == "no_memory_for_the_end" else 0)
    assert not first.alive
    assert run(place, plan(), table).status == DONE
    capfd.readouterr()


@pytest.mark.slow
def test_after_a_run_without_memory_the_next_has_a_fresh_process(spoiled, plan, table):
    place = spoiled("no_memory_for_fits")
    first = place._idle[0]
    found = run(place, plan(), table)
    assert (found.status, found.error) == (FAILED, NOT_ENOUGH_MEMORY)
    assert not first.alive
    assert run(place, plan(), table).status == DONE


@pytest.mark.slow
def test_a_process_that_reads_nothing_does_not_hold_up_who_gives_it_up(process, plan, table):
    first = process._idle[0]
    os.kill(first.pid, signal.SIGSTOP)
    wide = [
        dataclasses.replace(column, values=np.tile(column.values, 2_000))
        for column in table.columns
    ]
    task = submit(
        PlannedRun(plan(), dataclasses.replace(table, columns=tuple(wide)), None), process
    )
    task.stop()
    assert task.wait(PATIENCE)
    assert task.result.record.status == STOPPED
    until = time.monotonic() + PATIENCE
    while first.alive and time.monotonic() < until:
        time.sleep(0.01)
    assert not first.alive
    assert run(process, plan(), table).status == DONE
