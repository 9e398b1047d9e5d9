"""Runs on workers: the same numbers as here, stops, and lost workers."""

import dataclasses
import pickle
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

from aucstudio.engine import METHODS
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.roc import UnreachableTargetError
from aucstudio.notices import notice
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.errors import InputError
from aucstudio.project.runs import search
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiments.planning import PlannedRun
from aucstudio.project.runs.tuning import LEAVE_PAIR_OUT, Tuning
from aucstudio.project.work import parallel
from aucstudio.project.work.parallel import WorkersPlace
from aucstudio.project.work.submit import submit
from aucstudio.project.work.workers import Workers, WorkersLostError, answers

pytestmark = pytest.mark.slow


class Counting(Workers):
    """Threads of this process, and how many tasks they were given."""

    def __init__(self, executor, places=3):
        super().__init__(executor, places)
        self.given = 0

    def submit(self, function, *arguments):
        self.given += 1
        return super().submit(function, *arguments)


@pytest.fixture
def workers(monkeypatch):
    monkeypatch.setattr(parallel, "alone", lambda: None)
    with ThreadPoolExecutor(3) as executor:
        yield Counting(executor)


def execute_on(workers, experiment, table, listen=lambda _progress: False):
    return WorkersPlace(workers).execute(PlannedRun(experiment, table, None), listen, lambda: False)


def tuned(experiment, metric="auc"):
    return dataclasses.replace(experiment, tuning=Tuning(metric, folds=3))


@pytest.mark.parametrize("metric", ["auc", "pauc", LEAVE_PAIR_OUT])
def test_a_search_by_tasks_finds_what_it_finds_here(workers, plan, table, metric):
    experiment = tuned(plan("auc-rls", scheme="folds", folds=3), metric)
    far, here = execute_on(workers, experiment, table), execute(experiment, table)
    assert far.status == here.status == "done"
    # Candidates that differ along the path alone are one task in each fold.
    names = set(here.searches[0].candidates[0]) - {METHODS["auc-rls"].path_setting}
    count = len({tuple(one[name] for name in names) for one in here.searches[0].candidates})
    assert workers.given == 3 * (1 if metric == LEAVE_PAIR_OUT else 3 * count) + 3
    for found, other in zip(far.searches, here.searches, strict=True):
        np.testing.assert_array_equal(found.areas, other.areas)
        assert (found.candidates, found.problems) == (other.candidates, other.problems)
    for split, other in zip(far.splits, here.splits, strict=True):
        np.testing.assert_array_equal(split.test_scores, other.test_scores)
        assert split.notes == other.notes


def test_candidates_fail_on_workers_as_here(workers, plan, table, monkeypatch):
    method = METHODS["logistic"]
    train = method._train

    def fails_on_some_rows(self, X, y, *more, **named):
        if self.C > 1 and X[0, 0] > 0:
            raise MemoryError
        return train(self, X, y, *more, **named)

    monkeypatch.setattr(method, "_train", fails_on_some_rows)
    experiment = tuned(plan("logistic", repeats=2, seed=1))
    far, here = execute_on(workers, experiment, table), execute(experiment, table)
    assert (far.status, far.error) == (here.status, here.error)
    assert any(found.problems for found in here.searches)
    assert any(not found.problems or np.isfinite(found.areas[-1]).any() for found in here.searches)
    for found, other in zip(far.searches, here.searches, strict=True):
        assert found.problems == other.problems
        np.testing.assert_array_equal(found.areas, other.areas)


def test_a_search_that_cannot_be_is_recorded_as_here(workers, plan, table):
    experiment = tuned(plan("auc-rls", scheme="folds", folds=100))
    far, here = execute_on(workers, experiment, table), execute(experiment, table)
    assert (far.status, far.error) == (here.status, here.error)
    assert far.status == "failed"


def test_a_stop_keeps_what_is_finished_and_calls_the_rest_back(workers, plan, table):
    experiment = plan("auc-rls", scheme="folds", folds=5, repeats=20)
    record = execute_on(workers, experiment, table, lambda p: p.finished is not None)
    assert record.status == "stopped"
    assert 1 <= len(record.splits) < 20
    assert workers.given < 20
    stopped = execute_on(workers, tuned(plan("auc-svm")), table, lambda p: True)
    assert (stopped.status, stopped.splits) == ("stopped", ())
    assert len(stopped.searches) == 1


def ensemble(plan, **validation):
    return plan("auc-ensemble", {"library": "few", "n_folds": 3}, **validation)


def test_parts_of_a_fit_make_what_the_fit_makes_here(workers, plan, table):
    experiment = ensemble(plan, scheme="folds", folds=2)
    reports = []
    far, here = execute_on(workers, experiment, table, reports.append), execute(experiment, table)
    assert far.status == here.status == "done"
    assert workers.given == 2 * (1 + 3 * 3 + 1)
    for split, other in zip(far.splits, here.splits, strict=True):
        np.testing.assert_array_equal(split.test_scores, other.test_scores)
        np.testing.assert_array_equal(split.train_scores, other.train_scores)
        assert split.model.scorer.members == other.model.scorer.members
        assert split.notes == other.notes
    shares = [progress.elsewhere.fraction for progress in reports]
    assert shares == sorted(shares)
    words = [progress.describe()[1] for progress in reports]
    assert any(
        "0 of 2 splits" in output and "of 3 members trained in 3" in output for output in words
    )


def test_settings_are_searched_before_the_parts_are_made(workers, plan, table, monkeypatch):
    tried = [{"library": "logistic"}, {"library": "logistic; auc-rls"}]
    monkeypatch.setattr(search, "candidates", lambda *_: tried)
    experiment = dataclasses.replace(ensemble(plan), tuning=Tuning("auc", folds=2))
    far, here = execute_on(workers, experiment, table), execute(experiment, table)
    assert far.status == here.status == "done"
    assert far.searches[0].chosen == here.searches[0].chosen
    np.testing.assert_array_equal(far.splits[0].test_scores, here.splits[0].test_scores)


def never_ends(workers, member):
    """Have workers that never come back from one member."""

    def submit(function, *arguments):
        if function is parallel.make_part and arguments[-1][0].method == member:
            return Future()
        return workers.executor.submit(function, *arguments)

    workers.submit = submit


def test_a_stop_keeps_the_members_that_are_ready(workers, plan, table):
    never_ends(workers, "rankboost")
    reports = []

    def listen(progress):
        reports.append(progress)
        return progress.elsewhere.doing == "2 of 3 members trained" and progress.finished is None

    record = execute_on(workers, ensemble(plan), table, listen)
    (split,) = record.splits
    assert (record.status, record.error, split.converged) == ("stopped", "", False)
    assert len(split.model.scorer.members) == 2
    assert notice("member_stopped", member="RankBoost") in split.notes
    assert reports[-1].finished is split


def test_a_stop_before_any_member_is_ready_keeps_nothing(workers, plan, table):
    never_ends(workers, "logistic")
    stopped = execute_on(workers, ensemble(plan), table, lambda p: "0 of 3" in p.elsewhere.doing)
    assert (stopped.status, stopped.error, stopped.splits) == ("stopped", "", ())


def test_a_member_that_fails_is_named_as_here(workers, plan, table, monkeypatch):
    def refuses(self, *_given, **_named):
        raise InvalidSetting("C", "no luck")

    monkeypatch.setattr(METHODS["logistic"], "_train", refuses)
    far, here = execute_on(workers, ensemble(plan), table), execute(ensemble(plan), table)
    assert far.splits[0].notes == here.splits[0].notes
    assert (
        notice("member_failed", member="Logistic regression", reason="no luck")
        in far.splits[0].notes
    )
    monkeypatch.setattr(METHODS["auc-ensemble"], "_train", refuses)
    far, here = execute_on(workers, ensemble(plan), table), execute(ensemble(plan), table)
    assert (far.status, far.error) == (here.status, here.error) == ("failed", "no luck")


def test_a_refusal_is_sent_whole():
    for error in (InvalidSetting("C", "must be positive"), UnreachableTargetError("none", 0.5)):
        sent = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert (type(sent), str(sent), vars(sent)) == (type(error), str(error), vars(error))


def test_a_table_that_stays_on_disk_is_not_sent(workers, plan, table_file):
    streamed = open_stream(table_file)
    try:
        with pytest.raises(InputError, match="an out-of-memory table is not sent to a cluster"):
            execute_on(workers, plan(), streamed)
    finally:
        streamed.close()
    assert workers.given == 0


def test_progress_never_goes_back_and_names_the_place(workers, plan, table):
    reports = []
    experiment = tuned(plan("auc-rls", scheme="folds", folds=3))
    execute_on(workers, experiment, table, reports.append)
    shares = [progress.elsewhere.fraction for progress in reports]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert {progress.elsewhere.where for progress in reports} == {"in 3 processes"}
    assert sum(progress.finished is not None for progress in reports) == 3
    assert any(progress.search is not None and progress.search.judged for progress in reports)


def test_lost_workers_leave_what_was_finished(workers, plan, table):
    def lose(function, *arguments):
        workers.given += 1
        if workers.given > 2:
            gone = Future()
            gone.cancel()
            gone.set_running_or_notify_cancel()
            return gone
        return workers.executor.submit(function, *arguments)

    workers.submit = lose
    place = WorkersPlace(workers)
    job = submit(PlannedRun(plan("auc-rls", scheme="folds", folds=5), table, None), place)
    assert job.wait(60)
    assert job.error is None
    record = job.result.record
    assert (record.status, record.error) == ("failed", Workers.lost)
    assert len(record.splits) <= 2
    assert place.lost == Workers.lost


def test_calls_are_answered_in_order_and_stopped_between(workers):
    calls = [(pow, 2, k) for k in range(20)]
    reports = []
    expected = [2**k for k in range(20)]
    assert answers(workers, calls, reports.append) == expected == answers(None, calls)
    assert reports == sorted(reports)
    assert reports[-1] == 1.0
    for place in (None, workers):
        with pytest.raises(Stopped):
            answers(place, calls, lambda fraction: fraction > 0)
    workers.executor.shutdown()
    with pytest.raises(WorkersLostError, match="processes ended"):
        answers(workers, calls)
