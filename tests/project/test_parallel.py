"""Runs on workers: same numbers as locally, stops, and lost workers."""

import dataclasses
import math
import pickle
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

from aucstudio.engine import METHODS
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.roc import UnreachableTargetError
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.planning import PlannedRun
from aucstudio.project.runs.tuning import LEAVE_PAIR_OUT, Tuning
from aucstudio.project.work import cluster, parallel
from aucstudio.project.work.cluster import Cluster, WorkerCount, WorkersLostError, call_all
from aucstudio.project.work.parallel import ClusterPlace
from aucstudio.project.work.submit import submit

pytestmark = pytest.mark.slow


class Client:
    """A client whose workers are threads of this process; counts their tasks."""

    status = "running"

    def __init__(self, executor):
        self.executor, self.given, self.most = executor, 0, math.inf

    def get_executor(self, pure):
        return self

    def nthreads(self):
        return {"here": 3}

    def submit(self, function, *arguments, **_how):
        if function is cluster.identity:
            return arguments[0]
        self.given += 1
        if self.given > self.most:
            gone = Future()
            gone.cancel()
            gone.set_running_or_notify_cancel()
            return gone
        return self.executor.submit(function, *arguments)


@pytest.fixture
def client():
    with ThreadPoolExecutor(3) as executor:
        yield Client(executor)


@pytest.fixture
def workers(client, monkeypatch):
    monkeypatch.setattr(parallel, "one_thread", lambda: None)
    return Cluster(client, "tcp://here", WorkerCount(1, 3))


def execute_on(workers, experiment, table, listen=lambda _progress: False):
    return ClusterPlace(workers).execute(PlannedRun(experiment, table, None), listen, lambda: False)


def tuned(experiment, metric="auc"):
    return dataclasses.replace(experiment, tuning=Tuning(metric, folds=3))


@pytest.mark.parametrize("metric", ["auc", "pauc", LEAVE_PAIR_OUT])
def test_tuning_on_workers_equals_tuning_locally(workers, client, plan, table, metric):
    experiment = tuned(plan("auc-rls", scheme="folds", folds=3), metric)
    far, here = execute_on(workers, experiment, table), execute(experiment, table)
    assert far.status == here.status == "done"
    # Candidates that differ only along the path are one task per fold.
    names = set(here.searches[0].candidates[0]) - {METHODS["auc-rls"].path_setting}
    count = len({tuple(one[name] for name in names) for one in here.searches[0].candidates})
    assert client.given == 3 * (1 if metric == LEAVE_PAIR_OUT else 3 * count) + 3
    for found, other in zip(far.searches, here.searches, strict=True):
        np.testing.assert_array_equal(found.areas, other.areas)
        assert (found.candidates, found.problems) == (other.candidates, other.problems)
    for split, other in zip(far.splits, here.splits, strict=True):
        np.testing.assert_array_equal(split.test_scores, other.test_scores)
        assert split.notes == other.notes


def test_candidates_fail_on_workers_like_locally(workers, plan, table, monkeypatch):
    method = METHODS["logistic"]
    fit = method._fit

    def fails_on_some_rows(self, X, *more):
        if self.C > 1 and X[0, 0] > 0:
            raise MemoryError
        return fit(self, X, *more)

    monkeypatch.setattr(method, "_fit", fails_on_some_rows)
    experiment = tuned(plan("logistic", repeats=2, seed=1))
    far, here = execute_on(workers, experiment, table), execute(experiment, table)
    assert (far.status, far.error) == (here.status, here.error)
    assert any(found.problems for found in here.searches)
    assert any(not found.problems or np.isfinite(found.areas[-1]).any() for found in here.searches)
    for found, other in zip(far.searches, here.searches, strict=True):
        assert found.problems == other.problems
        np.testing.assert_array_equal(found.areas, other.areas)


def test_impossible_tuning_is_recorded_like_locally(workers, plan, table):
    experiment = tuned(plan("auc-rls", scheme="folds", folds=100))
    far, here = execute_on(workers, experiment, table), execute(experiment, table)
    assert (far.status, far.error) == (here.status, here.error)
    assert far.status == "failed"


def test_stop_keeps_finished_splits_and_cancels_the_rest(workers, client, plan, table):
    experiment = plan("auc-rls", scheme="folds", folds=5, repeats=20)
    record = execute_on(workers, experiment, table, lambda p: p.finished is not None)
    assert record.status == "stopped"
    assert 1 <= len(record.splits) < 20
    assert client.given < 20
    stopped = execute_on(workers, tuned(plan("auc-svm")), table, lambda p: True)
    assert (stopped.status, stopped.splits) == ("stopped", ())
    assert len(stopped.searches) == 1


def test_errors_survive_pickling():
    for error in (InvalidSetting("C", "must be positive"), UnreachableTargetError("none", 0.5)):
        sent = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert (type(sent), str(sent), vars(sent)) == (type(error), str(error), vars(error))


def test_out_of_memory_table_is_not_sent_to_workers(workers, client, plan, table_file):
    streamed = open_stream(table_file)
    try:
        with pytest.raises(InputError, match="an out-of-memory table is not sent to a cluster"):
            execute_on(workers, plan(), streamed)
    finally:
        streamed.close()
    assert client.given == 0


def test_progress_is_monotonic_and_names_the_cluster(workers, plan, table):
    reports = []
    experiment = tuned(plan("auc-rls", scheme="folds", folds=3))
    execute_on(workers, experiment, table, reports.append)
    shares = [progress.remote.fraction for progress in reports]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert {progress.remote.where for progress in reports} == {"on 1 worker of tcp://here"}
    assert sum(progress.finished is not None for progress in reports) == 3
    assert any(
        progress.search is not None and progress.search.fraction_done for progress in reports
    )


def test_lost_workers_keep_the_finished_splits(workers, client, plan, table):
    client.most = 2
    place = ClusterPlace(workers)
    job = submit(PlannedRun(plan("auc-rls", scheme="folds", folds=5), table, None), place)
    assert job.wait(60)
    assert job.error is None
    record = job.result.record
    assert (record.status, record.error) == ("failed", place.lost)
    assert "tcp://here was lost" in place.lost
    assert len(record.splits) <= 2


def test_calls_return_in_order_and_can_be_stopped(workers, client):
    calls = [(pow, 2, k) for k in range(20)]
    reports = []
    expected = [2**k for k in range(20)]
    assert call_all(workers, calls, reports.append) == expected == call_all(None, calls)
    assert reports == sorted(reports)
    assert reports[-1] == 1.0
    for place in (None, workers):
        with pytest.raises(Stopped):
            call_all(place, calls, lambda fraction: fraction > 0)
    client.executor.shutdown()
    with pytest.raises(WorkersLostError, match="was lost"):
        call_all(workers, calls)
