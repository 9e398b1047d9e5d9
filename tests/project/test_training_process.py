"""Runs in child processes: same numbers as locally, stops, and killed processes."""

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
    return process.execute(
        PlannedRun(experiment, table, None), listen or ProgressRecorder(), given_up
    )


class ProgressRecorder:
    """A progress callback that records reports and asks to stop at a condition."""

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
def test_run_in_a_process_equals_the_local_run(process, plan, table, method):
    experiment = plan(method, repeats=2)
    recorder = ProgressRecorder()
    found, here = run(process, experiment, table, recorder), execute(experiment, table)
    assert found.status == DONE
    assert found.id == here.id
    same_splits(found.splits, here.splits)
    messages = [progress.finished for progress in recorder.told if progress.finished]
    assert all(one is other for one, other in zip(messages, found.splits, strict=True))
    assert all(progress.preparation is not None for progress in recorder.told)


@pytest.mark.slow
def test_tuning_result_is_reported_and_recorded(process, plan, table):
    experiment = dataclasses.replace(plan("auc-svm"), tuning=Tuning("auc", folds=2))
    recorder = ProgressRecorder()
    found, here = run(process, experiment, table, recorder), execute(experiment, table)
    assert found.searches[0].chosen == here.searches[0].chosen
    assert any(progress.search is not None for progress in recorder.told)
    same_splits(found.splits, here.splits)


def test_process_uses_the_table_of_each_run(process, plan, table):
    column = table.columns[0]
    other = dataclasses.replace(column, values=np.ascontiguousarray(column.values[::-1]))
    turned = dataclasses.replace(table, columns=(other, *table.columns[1:]))
    for used in (table, turned, table):
        found = run(process, plan(), used)
        same_splits(found.splits, execute(plan(), used).splits)


@pytest.mark.slow
def test_stop_keeps_the_finished_splits(process, plan, table):
    experiment = plan("auc-svm", repeats=5_000)
    found = run(process, experiment, table, ProgressRecorder(lambda progress: progress.finished))
    assert found.status == STOPPED
    assert 1 <= len(found.splits) < 5_000
    # A stop applies to one run only.
    assert run(process, plan(), table).status == DONE


def test_failed_run_is_recorded(process, plan, table):
    experiment = plan(scheme="folds", folds=100)
    found, here = run(process, experiment, table), execute(experiment, table)
    assert found.status == FAILED
    assert found.error == here.error


@pytest.mark.slow
def test_killed_process_keeps_the_finished_splits(process, plan, table):
    task = submit(PlannedRun(plan("auc-svm", repeats=5_000), table, None), process)
    messages = []
    while not any(progress.finished for progress in messages):
        assert not task.wait(0.01)
        messages += task.drain()
    (busy,) = process.busy
    os.kill(busy.pid, signal.SIGKILL)
    assert task.wait(PATIENCE)
    record = task.result.record
    assert record.status == FAILED
    assert "ended unexpectedly (SIGKILL)" in record.error
    assert len(record.splits) >= 1
    assert run(process, plan(), table).status == DONE


@pytest.mark.slow
def test_abandoned_run_ends_its_process(process, plan, table):
    before = process.idle[0]
    with pytest.raises(Stopped):
        run(process, plan("svm"), table, given_up=lambda: True)
    assert not before.alive
    assert run(process, plan(), table).status == DONE


def test_run_is_local_if_no_process_can_start(plan, table, monkeypatch):
    def refuse(*_arguments, **_options):
        raise OSError("no more processes")

    monkeypatch.setattr("subprocess.Popen", refuse)
    with Processes() as none:
        assert not none.start()
        assert run(none, plan(), table).status == DONE


@pytest.mark.slow
def test_processes_run_in_parallel_and_are_reused(plan, table):
    with Processes(2) as both:
        tasks = [
            submit(PlannedRun(plan("auc-svm", seed=seed), table, None), both) for seed in range(2)
        ]
        assert all(task.wait(PATIENCE) for task in tasks)
        used = set(both.idle)
        assert len(used) == 2
        for seed, task in enumerate(tasks):
            here = execute(plan("auc-svm", seed=seed), table)
            same_splits(task.result.record.splits, here.splits)
        run(both, plan(), table)
        assert set(both.idle) == used
    assert not any(process.alive for process in used)


# A fault, the method of the run that meets it, the error of that run, and the splits it keeps.
FAULTS = [
    ("no_memory_for_the_end", "auc-svm", NOT_ENOUGH_MEMORY, 2),
    ("no_memory_for_an_order", "auc-svm", NOT_ENOUGH_MEMORY, 0),
    ("a_bug_in_sending", "auc-svm", "ended unexpectedly (exit status 1)", 0),
    ("gibberish", "auc-svm", "ended unexpectedly", 0),
    ("no_memory_for_fits", "auc-rls", NOT_ENOUGH_MEMORY, 0),
]


@pytest.mark.slow
def test_each_faulty_process_fails_only_its_run(plan, table, monkeypatch, capfd):
    """Each process has another fault; the one that follows them has none."""
    commands = iter([_command_with_fault(how) for how, *_ in FAULTS])
    command = child_process.child_command
    monkeypatch.setattr(
        child_process, "child_command", lambda *words: next(commands, None) or command(*words)
    )
    with Processes() as place:
        assert place.start()
        for how, method, words, kept in FAULTS:
            (faulty,) = place.idle
            task = submit(PlannedRun(plan(method, repeats=2), table, None), place)
            assert task.wait(PATIENCE)
            record = task.result.record
            assert (record.status, len(record.splits)) == (FAILED, kept), how
            assert words in record.error
            assert not faulty.alive
        assert next(commands, None) is None
        assert run(place, plan(), table).status == DONE
    capfd.readouterr()


def _command_with_fault(how):
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; "
        "from aucstudio.project import child_process; "
        f"from tests.project import spoiled; spoiled.{how}(); "
        "child_process.serve(['aucstudio.project.work.processes', '0'])"
    )
    return [sys.executable, "-c", code]


@pytest.mark.slow
def test_blocked_process_can_be_abandoned(process, plan, table):
    first = process.idle[0]
    os.kill(first.pid, signal.SIGSTOP)
    wide = [
        dataclasses.replace(column, values=np.tile(column.values, 2_000))
        for column in table.columns
    ]
    task = submit(
        PlannedRun(plan(), dataclasses.replace(table, columns=tuple(wide)), None), process
    )
    while not process.busy:
        assert not task.wait(0.01)
    task.stop()
    assert task.wait(PATIENCE)
    assert task.result.record.status == STOPPED
    until = time.monotonic() + PATIENCE
    while first.alive and time.monotonic() < until:
        time.sleep(0.01)
    assert not first.alive
    assert run(process, plan(), table).status == DONE
