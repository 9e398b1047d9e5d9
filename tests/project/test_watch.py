"""The history of a fit: stored evaluations, stages and their cost."""

import time

import numpy as np
import pytest

from aucstudio.engine import roc
from aucstudio.engine.monitor import Step
from aucstudio.engine.scorers import LinearScorer
from aucstudio.project.runs import progress as watching
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.progress import StageLog, Thinned, Watch, balanced_rows, following
from aucstudio.project.runs.record import ScoresDuringTraining, Stage
from aucstudio.project.runs.rows import PreparedRows


class Clock:
    """A clock that advances only when a test moves it."""

    def __init__(self):
        self.now = 100.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(watching, "time", made)
    return made


class SlowScorer:
    """A scorer of a given duration."""

    def __init__(self, clock, seconds):
        self.clock, self.seconds, self.calls = clock, seconds, 0

    def __call__(self, X):
        self.calls += 1
        self.clock.now += self.seconds
        return X @ np.arange(1.0, X.shape[1] + 1)


def parts(train=40, held=30, seed=0):
    rng = np.random.default_rng(seed)
    made = []
    for rows in (train, held):
        X = rng.normal(size=(rows, 3))
        made.append(PreparedRows(X, np.arange(rows) % 3 == 0, np.arange(rows)))
    return made


def train_for(clock, seconds, step_seconds, scorer, count=1):
    """Make steps for a time; return the watch and its messages."""
    messages = []
    watch = Watch(lambda p: bool(messages.append(p)), 0, count, None, *parts())
    iteration = 0
    while watch.seconds() < seconds:
        clock.now += step_seconds
        iteration += 1
        watch(Step(iteration, objective=1.0 / iteration, scorer=lambda: scorer))
    return watch, messages


@pytest.mark.parametrize("took", [1e-4, 2e-3, 3.8e-3, 0.05])
def test_live_looks_take_at_most_4_percent_of_the_time(clock, took):
    scorer = SlowScorer(clock, took)
    watch, _ = train_for(clock, 4.0, 1e-3, scorer)
    kept = len(watch.trajectory(np.zeros(40), np.zeros(30)).iteration)
    # The first look comes before any time has passed.
    assert (scorer.calls - kept - 1) * took <= watch.seconds() / 25


@pytest.mark.parametrize("took", [1e-4, 3.8e-3])
def test_cheap_looks_are_reported_ten_times_a_second(clock, took):
    _, messages = train_for(clock, 4.0, 1e-3, SlowScorer(clock, took))
    looks = [p.look for p in messages if p.look is not None]
    assert 40 <= len(looks) <= 61
    assert np.diff([look.seconds for look in looks]).max() <= 0.1


def test_history_is_evaluated_at_few_fixed_iterations():
    points = [1]
    while points[-1] < 1_000_000:
        points.append(following(points[-1]))
    assert points[:8] == [1, 2, 3, 4, 5, 7, 9, 12]
    assert sum(point <= 100 for point in points) < 20
    assert sum(point <= 10_000 for point in points) < 40
    assert len(points) <= watching.MOST_LOOKS


@pytest.mark.parametrize("step_seconds", [1e-5, 3e-2])
def test_history_does_not_depend_on_the_time(clock, step_seconds):
    watch = Watch(lambda _: False, 0, 1, None, *parts())
    for iteration in range(1, 401):
        clock.now += step_seconds
        scorer = LinearScorer(np.array([1.0, iteration, -(iteration**2)]))
        if step_seconds > 1e-2:  # a busy machine also reports from within an iteration
            within = LinearScorer(np.ones(3))
            watch(Step(iteration, objective=9.0, scorer=lambda w=within: w, is_partial=True))
        watch(Step(iteration, objective=1.0 / iteration, scorer=lambda s=scorer: s))
    looks, curve = watch.trajectory(np.zeros(40), np.zeros(30)), watch.curve()
    np.testing.assert_array_equal(curve.iteration, np.arange(1, 401))
    np.testing.assert_array_equal(curve.objective, 1.0 / np.arange(1, 401))
    expected = [1]
    while expected[-1] < 400:
        expected.append(min(following(expected[-1]), 400))
    np.testing.assert_array_equal(looks.iteration, expected)
    X = parts()[0].X
    weights = np.array([[1.0, k, -(k**2)] for k in expected[:-1]])
    np.testing.assert_allclose(looks.train.scores[:-1], weights @ X.T, rtol=1e-4)


@pytest.mark.parametrize("method", ["gradient-boosting", "svm-auc", "rankboost", "auc-ensemble"])
def test_busy_machine_stores_the_same_history(plan, table, method, monkeypatch):
    settings = {"library": "logistic; rankboost n_rounds=5; rls"} if "ensemble" in method else {}

    def course(listen):
        split = execute(plan(method, settings), table, listen=listen).splits[0]
        return split.trajectory, split.curve

    def slow(progress):
        if progress.step is not None and progress.step.iteration % 3 == 0:
            time.sleep(0.01)

    quiet, curve = course(None)
    # Steps reported after a time interval are now reported at every occasion.
    monkeypatch.setattr("aucstudio.engine.monitor.INTERVAL", 0.0)
    busy, other = course(slow)
    assert len(quiet.iteration) > 2
    np.testing.assert_array_equal(quiet.iteration, busy.iteration)
    np.testing.assert_array_equal(quiet.held.scores, busy.held.scores)
    np.testing.assert_array_equal(quiet.train.scores, busy.train.scores)
    np.testing.assert_array_equal(curve.iteration, other.iteration)
    np.testing.assert_array_equal(curve.objective, other.objective)


def test_few_of_many_steps_are_reported_and_all_are_stored(clock):
    watch, messages = train_for(clock, 1.0, 1e-4, SlowScorer(clock, 1e-5))
    assert len(messages) <= 520
    assert messages[0].step.iteration == 1
    steps = watch.curve().iteration
    np.testing.assert_array_equal(steps, np.arange(1, len(steps) + 1))


def test_trajectory_contains_scores_of_the_same_rows(clock):
    watch, _ = train_for(clock, 1.0, 1e-3, SlowScorer(clock, 1e-4))
    train, held = parts()
    (X, positive), (Z, outcome) = (train.X, train.positive), (held.X, held.positive)
    final = np.linspace(0, 1, len(X)), np.linspace(1, 0, len(Z))
    looks = watch.trajectory(*final)
    assert 2 <= len(looks.iteration) <= 64
    assert (np.diff(looks.iteration) > 0).all()
    weights = np.arange(1.0, 4.0)
    for part, rows, y, last in (
        (looks.train, X, positive, final[0]),
        (looks.held, Z, outcome, final[1]),
    ):
        assert part.scores.dtype == np.float32
        np.testing.assert_array_equal(part.positive, y)
        np.testing.assert_allclose(part.scores[0], rows @ weights, rtol=1e-6)
        np.testing.assert_allclose(part.scores[-1], last, rtol=1e-6)
    assert looks.iteration[-1] == watch.curve().iteration[-1]


def test_record_of_many_fits_keeps_fewer_looks_per_fit(clock, monkeypatch):
    monkeypatch.setattr(watching, "RECORD_BYTES", 70 * 4 * 20)
    for fits, most in ((1, 20), (4, 5), (100, 2)):
        watch, _ = train_for(clock, 2.0, 1e-3, SlowScorer(clock, 1e-4), fits)
        looks = watch.trajectory(np.zeros(40), np.zeros(30))
        assert 2 <= len(looks.iteration) <= most + 1


def test_single_step_has_one_look(plan, table):
    looks = execute(plan("auc-rls"), table).splits[0].trajectory
    assert looks.iteration.tolist() == [1]


@pytest.mark.parametrize("method", ["auc-svm", "rank-svm", "pauc-boost"])
def test_last_look_shows_the_final_scorer(plan, table, method):
    split = execute(plan(method), table).splits[0]
    looks = split.trajectory
    assert looks.held.auc()[-1] == pytest.approx(roc.auc(split.test_positive, split.test_scores))
    assert looks.train.auc()[-1] == pytest.approx(roc.auc(split.train_positive, split.train_scores))
    assert looks.iteration[-1] == split.curve.iteration[-1]


def test_leave_pair_out_history_has_training_rows_only(plan, table):
    messages = []
    record = execute(plan("auc-rls", scheme="leave-pair-out"), table, listen=messages.append)
    looks = record.splits[0].trajectory
    assert looks.held.scores.shape[1] == 0
    assert np.isnan(looks.held.auc()).all()
    assert np.isfinite(looks.train.auc()).all()
    assert all(progress.look is None for progress in messages)


@pytest.mark.parametrize("levels", [0, 3, 40])
def test_areas_of_looks_match_their_scores(levels):
    rng = np.random.default_rng(levels)
    positive = rng.random(300) < 0.3
    scores = (rng.normal(size=(5, 300)) + positive).astype(np.float32)
    if levels:
        scores = np.round(scores * levels / 5)
    standing = ScoresDuringTraining(positive, scores)
    assert not standing.is_ready
    expected = [roc.auc(positive, row) for row in scores]
    np.testing.assert_allclose(standing.auc(), expected, atol=1e-6)
    assert standing.is_ready
    n = np.count_nonzero(~positive)
    for band in ((0.0, 1.0), (10 / n, 60 / n)):
        expected = [roc.partial_auc(positive, row, *band).normalized for row in scores]
        np.testing.assert_allclose(standing.pauc(band), expected, atol=1e-6)
    # A range end within one negative's step may also fall inside a tie.
    expected = [roc.partial_auc(positive, row, 0.013, 0.077).normalized for row in scores]
    np.testing.assert_allclose(standing.pauc((0.013, 0.077)), expected, atol=1e-3)


def test_looks_of_one_class_have_no_area():
    standing = ScoresDuringTraining(np.ones(4, dtype=bool), np.zeros((2, 4), dtype=np.float32))
    assert np.isnan(standing.auc()).tolist() == [True, True]
    assert np.isnan(standing.pauc((0.0, 0.1))).all()


@pytest.mark.parametrize("limit", [2, 3, 8, 64])
def test_thinned_series_is_even_and_ends_with_the_last(limit):
    series = Thinned(limit)
    for k in range(1000):
        series.add(k)
        kept = list(series)
        assert kept[0] == 0
        assert kept[-1] == k
        assert len(kept) == len(series) <= limit
        steps = np.diff(kept)
        assert len(set(steps[:-1])) <= 1
        assert k < limit - 1 or limit < 4 or len(kept) > limit // 2


def test_sampled_rows_are_stratified_and_bounded():
    positive = np.arange(10_000) % 100 == 0
    rows = balanced_rows(positive, 2_000)
    assert len(rows) == 2_000
    assert positive[rows].sum() == 100
    assert (np.diff(rows) > 0).all()
    even = np.arange(10_000) % 2 == 0
    assert even[balanced_rows(even, 2_000)].sum() == 1_000
    np.testing.assert_array_equal(balanced_rows(positive, 10_000), np.arange(10_000))


def stages_of(*steps):
    log = StageLog()
    for seconds, (iteration, stage) in enumerate(steps):
        log.add(Step(iteration, stage=stage), float(seconds))
    return log.stages()


def test_stages_precede_the_first_iteration():
    steps = [(0, "landmarks"), (0, "landmarks"), (0, "embedding"), (1, "iterating")]
    assert stages_of(*steps) == (
        Stage("landmarks", 0.0),
        Stage("embedding", 2.0),
        Stage("training", 3.0),
    )
    assert stages_of(*steps[:2]) == (Stage("landmarks", 0.0),)
    assert stages_of((1, "iterating"), (2, "iterating")) == (Stage("training", 0.0),)


def test_recurring_stage_is_part_of_training():
    steps = [(0, "landmarks"), (0, "epoch"), (1, "iterating"), (0, "epoch"), (2, "iterating")]
    assert stages_of(*steps) == (Stage("landmarks", 0.0), Stage("training", 1.0))
    assert stages_of(*steps[1:]) == (Stage("training", 0.0),)


def test_curve_contains_the_stages_of_the_fit(clock):
    watch = Watch(lambda p: False, 0, 1, None, *parts())
    clock.now += 1.0
    watch(Step(0, stage="embedding"))
    clock.now += 2.0
    watch(Step(1, objective=1.0, scorer=lambda: LinearScorer(np.ones(3))))
    assert watch.curve().stages == (Stage("embedding", 1.0), Stage("training", 3.0))
