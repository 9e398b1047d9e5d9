"""RankBoost against explicit pair weights, and its threshold search against brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from aucstudio.engine import restore
from aucstudio.engine.features import stumps
from aucstudio.engine.features.stumps import StumpSearch
from aucstudio.engine.methods.rankboost import RankBoost
from aucstudio.engine.roc import auc

RULES = ["bound", "exact"]


def small(seed):
    """Return a small table with ties within and between classes, and missing values."""
    rng = np.random.default_rng(seed)
    N = int(rng.integers(6, 31))
    y = rng.permutation(np.arange(N) < max(1, int(N * rng.uniform(0.1, 0.6)))).astype(int)
    X = rng.normal(size=(N, 4)) + 0.7 * y[:, None]
    X[:, 0], X[:, 1] = np.round(X[:, 0]), np.round(X[:, 1], 1)
    X[rng.random(N) < 0.3, 2] = np.nan
    X[rng.random(N) < 0.4 + 0.4 * y, 3] = np.nan
    return X, y


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    y = (rng.random(400) < 0.3).astype(int)
    X = rng.normal(size=(400, 5)) + y[:, None] * [1.0, 0.5, 0.0, 0.0, 0.3]
    X[:, 1] = np.round(X[:, 1], 1)
    X[rng.random(400) < 0.2, 4] = np.nan
    return X, y


# --- oracles ---------------------------------------------------------------------------------


def learners(X):
    """Yield every learner h in the order that resolves ties."""
    for column in X.T:
        gap = np.isnan(column)
        for value in np.unique(column[~gap]):
            for q in (False, True):
                yield np.where(gap, q, column > value).astype(float)


def on_pairs(X, y, n_rounds, rule):
    """Boost with explicit D(i, j); return the scores, and r and Z of each round."""
    H = np.array(list(learners(X)))
    positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    D = np.full((len(positive), len(negative)), 1 / (len(positive) * len(negative)))
    F, rounds = np.zeros(len(y)), []
    cap = 0.5 * math.log(1e4)
    for _ in range(n_rounds):
        margins = H[:, positive][:, :, None] - H[:, negative][:, None, :]
        r = np.einsum("ij,hij->h", D, margins)
        best = int(np.flatnonzero(np.abs(r) >= np.abs(r).max() - 1e-12)[0])
        right, wrong = (D[margins[best] == side].sum() for side in (1, -1))
        tied = 0.0 if rule == "exact" else (1 - right - wrong) / 2
        with np.errstate(divide="ignore"):
            alpha = float(np.clip(0.5 * np.log((right + tied) / (wrong + tied)), -cap, cap))
        D = D * np.exp(-alpha * margins[best])
        Z = float(D.sum())
        D /= Z
        F += alpha * H[best]
        rounds.append((float(r[best]), Z))
    return F, rounds


def pair_loss(scores, y):
    return np.exp(-np.subtract.outer(scores[y == 1], scores[y == 0])).mean()


# --- the method ------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(12))
def test_scores_match_explicit_pair_weights(seed, rule):
    X, y = small(seed)
    model = RankBoost(n_rounds=8, alpha_rule=rule).fit(X, y)
    scores, rounds = on_pairs(X, y, model.n_iter_, rule)
    np.testing.assert_allclose(model.scorer_(X), scores, atol=1e-9)
    assert model.objective_ == pytest.approx(math.prod(Z for _, Z in rounds), rel=1e-9)
    assert all(Z**2 + r**2 <= 1 + 1e-12 for r, Z in rounds)


@pytest.mark.parametrize("rule", RULES)
def test_every_round_lowers_the_loss_of_its_scorer(rule, data):
    X, y = data
    rounds, losses, areas = [], [], []

    def record_step(step):
        if step.iteration:
            rounds.append(step)
            scores = step.scorer()(X)
            losses.append(pair_loss(scores, y))
            areas.append(auc(y, scores))

    model = RankBoost(n_rounds=60, alpha_rule=rule).fit(X, y, callback=record_step)
    assert [step.iteration for step in rounds] == list(range(1, 61))
    assert {(step.total, step.gap) for step in rounds} == {(60, None)}
    objectives = [step.objective for step in rounds]
    np.testing.assert_allclose(objectives, losses, rtol=1e-12)
    assert all(later < former for former, later in itertools.pairwise([1.0, *objectives]))
    assert all(area >= 1 - loss for area, loss in zip(areas, objectives, strict=True))
    assert (model.objective_, model.converged_, model.dual_gap_) == (objectives[-1], True, None)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("sign", [1, -1])
def test_perfect_learner_ends_training_at_the_weight_cap(rule, sign):
    X = sign * np.array([[0.0, 1], [1, 0], [2, 1], [3, 1], [4, 0]])
    y = np.array([0, 0, 0, 1, 1])
    model = RankBoost(alpha_rule=rule).fit(X, y)
    cap = 0.5 * math.log(1e4)
    assert (model.n_iter_, model.converged_, model.notes_) == (1, True, ())
    assert np.ptp(model.scorer_(X)) == pytest.approx(cap, rel=1e-12)
    assert model.objective_ == pytest.approx(math.exp(-cap), rel=1e-12)
    assert auc(y, model.train_scores_) == 1.0
    np.testing.assert_array_equal(model.predict(X), y)


def test_thousand_rounds_neither_overflow_nor_stall():
    # The majority of three votes: no threshold separates the classes but a sum of three does, so
    # the loss falls without end.
    X = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    y = (X.sum(axis=1) > 1).astype(int)
    objectives = []
    model = RankBoost(n_rounds=1000).fit(
        X, y, callback=lambda step: objectives.append(step.objective) if step.iteration else None
    )
    assert model.n_iter_ == len(objectives) == 1000
    assert all(later < former for former, later in itertools.pairwise(objectives))
    assert 0 < objectives[-1] < 1e-20
    assert auc(y, model.train_scores_) == 1.0
    assert len(model.scorer_.roots) == 3


def test_data_without_a_useful_threshold_are_noted():
    crossed = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([1, 1, 0, 0])
    equal = np.full((6, 2), 0.3), np.arange(6) % 2
    unknown = np.full((6, 2), np.nan), np.arange(6) % 2
    for X, y in (crossed, equal, unknown):
        model = RankBoost().fit(X, y)
        assert (model.n_iter_, model.objective_) == (0, 1.0)
        assert model.notes_[0].code == "no_threshold"
        np.testing.assert_array_equal(model.scorer_(X), 0.0)
        again = restore("trees", model.scorer_.settings(), model.scorer_.arrays())
        np.testing.assert_array_equal(again(X), 0.0)


def test_boosting_ends_when_the_loss_stops_falling():
    # Equal rows with one more label on one side: a single threshold uses all information.
    X, y = np.array([[0.0], [0], [0], [1], [1], [1]]), np.array([0, 0, 1, 0, 1, 1])
    model = RankBoost(alpha_rule="exact").fit(X, y)
    assert model.n_iter_ < 5
    assert model.converged_
    assert model.scorer_(np.array([[1.0]])) == pytest.approx(math.log(4) / 2)


# --- missing values --------------------------------------------------------------------------


def test_missing_values_can_separate_the_classes():
    X = np.array([[1.0], [2], [3], [np.nan], [np.nan], [2]])
    y = np.array([0, 0, 0, 1, 1, 1])
    model = RankBoost(n_rounds=1).fit(X, y)
    scores = model.scorer_(np.array([[np.nan], [-50.0], [1e300]]))
    assert scores[0] > scores[1] == scores[2]


def test_missing_value_unseen_in_training_counts_as_below(data):
    X, y = data
    model = RankBoost(n_rounds=40).fit(X[:, :3], y)
    lowest, unknown = np.full((1, 3), -1e9), np.full((1, 3), np.nan)
    assert model.decision_function(lowest) == model.decision_function(unknown)


# --- the search ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed():
    """Return features of every kind, with enough rows that blocks contain many."""
    rng = np.random.default_rng(4)
    N = 3000
    y = rng.random(N) < 0.25
    X = rng.normal(size=(N, 7)) + 0.2 * y[:, None]
    X[:, 1] = np.round(X[:, 1], 2)
    X[:, 2] = np.round(X[:, 2])
    X[rng.random(N) < 0.7, 3] = 0.05
    X[rng.random(N) < 0.3, 4] = np.nan
    X[:, 5] = 2.5
    X[:, 6] = np.nan
    return X, y


def best_of_all(X, potential):
    """Return the largest \\|r\\| over all thresholds."""
    reached = 0.0
    for column in X.T:
        gap = np.isnan(column)
        values = np.unique(column[~gap])
        above = (column[~gap][:, None] > values).T @ potential[~gap]
        r = np.concatenate([above, above + potential[gap].sum()])
        reached = max(reached, np.abs(r).max(initial=0.0))
    return reached


@pytest.mark.parametrize("power", [0, 1, 30])
@pytest.mark.parametrize("only", [None, 0, 1, 2, 3, 4])
def test_search_matches_all_thresholds(power, only, mixed, monkeypatch):
    monkeypatch.setattr(stumps, "CELLS_PER_CALL", 6000)
    X, y = mixed
    X = X if only is None else X[:, [only]]
    search = StumpSearch(X, y, lambda done: None)
    weights = np.random.default_rng(power).random(len(y)) ** power
    potential = np.where(y[search.rows], weights, 0) / weights[y[search.rows]].sum()
    potential -= np.where(y[search.rows], 0, weights) / weights[~y[search.rows]].sum()
    heard = []
    stump = search.best(potential, heard.append)
    assert abs(stump.r) == pytest.approx(best_of_all(X[search.rows], potential), abs=1e-12)
    cell = X[search.rows, stump.feature]
    above = np.where(np.isnan(cell), stump.gaps_above, cell > stump.threshold)
    assert sorted(stump.above) == np.flatnonzero(above).tolist()
    assert potential @ above == pytest.approx(stump.r, abs=1e-12)
    assert heard == sorted(heard)
    assert len(heard) == 2 * (math.ceil(X.shape[1] / 2) - 1)


@pytest.mark.parametrize("n_values", [0, 1, 2, 5, 254, 255, 256, 5000])
@pytest.mark.parametrize("skew", [0.0, 3.0])
def test_blocks_never_split_equal_values_and_fit_a_byte(n_values, skew):
    rng = np.random.default_rng(n_values)
    sizes = 1 + (rng.pareto(1.0, n_values) * skew).astype(int)
    gaps = n_values % 3
    rising = np.append(np.repeat(np.arange(n_values, dtype=float), sizes), np.full(gaps, np.nan))
    order = rng.permutation(len(rising)).astype(np.int32)
    is_last, block = np.empty(len(rising), bool), np.empty(len(rising), np.uint8)
    bounds, is_pure = np.empty(256, np.int64), np.empty(255, bool)
    stumps.cut_into_blocks(order, rising, is_last, block, bounds, is_pure)
    ends = np.cumsum(sizes)
    np.testing.assert_array_equal(np.flatnonzero(is_last[: sizes.sum()]) + 1, ends)
    assert bounds[0] == 0
    assert bounds[-1] == sizes.sum()
    assert (np.diff(bounds) >= 0).all()
    assert set(bounds[1:]) <= set(ends) | {0}
    largest = np.diff(bounds).max(initial=0)
    assert largest <= max(sizes.max(initial=0), 2 * sizes.sum() / 127 + 1)
    expected = np.append(np.repeat(np.arange(255), np.diff(bounds)), np.full(gaps, 255))
    np.testing.assert_array_equal(block[order], expected)
    held = [len(np.unique(rising[a:b])) for a, b in itertools.pairwise(bounds)]
    np.testing.assert_array_equal(is_pure, np.array(held) < 2)


def test_huge_and_tiny_values_are_separated():
    X = np.array([[-1.7e308], [0.0], [5e-324], [1.7e308]])
    y = np.array([0, 0, 1, 1])
    model = RankBoost().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
