"""Greedy merging against brute force: angles, areas, caching and degenerate data."""

import itertools

import numpy as np
import pytest

from aucstudio.engine.methods.greedy_pauc import GreedyPAUC
from aucstudio.engine.roc import auc, partial_auc
from aucstudio.engine.solvers import angle_search
from aucstudio.engine.solvers.angle_search import AngleSearch, PartialArea, direction
from tests.engine.oracles import rank_pauc

pytestmark = pytest.mark.slow

STRATEGIES = ["greedy", "sequential"]
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def table(seed, m=25, n=35, K=4, shift=0.7):
    """Return normal features, all but the last informative, and labels, positives first."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [m, n])
    return rng.standard_normal((m + n, K)) + shift * np.outer(y, np.arange(K)[::-1] / K), y


def sparse(seed, N=300, K=5):
    """Return features that are 0 in most rows, and labels."""
    rng = np.random.default_rng(seed)
    y = (rng.random(N) < 0.4).astype(int)
    on = rng.random((N, K)) < np.where(y[:, None] == 1, 2, 1) * np.linspace(0.02, 0.3, K)
    return on * rng.exponential(size=(N, K)), y


def unit(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def at(theta, u, v):
    cos, sin = direction(theta)
    return cos * u + sin * v


def integers(seed, m, n):
    return np.random.default_rng(seed).integers(-3, 4, (m + n, 2)).astype(float)


# --- the area ------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [1, 2, 5, 10**6])
def test_partial_area_equals_the_area_under_the_curve(levels):
    rng = np.random.default_rng(levels)
    for _ in range(200):
        m, n = rng.integers(1, 13, 2)
        alpha, beta = sorted(rng.choice([0, 0.05, 0.1, 0.3, 1 / 3, 0.5, 0.7, 1], 2, replace=False))
        scores, y = rng.integers(0, levels, m + n).astype(float), np.repeat([1, 0], [m, n])
        area = PartialArea(m, n, alpha, beta)(np.sort(scores[:m]), np.sort(scores[m:]))
        expected = partial_auc(y, scores, alpha, beta).normalized
        assert area == pytest.approx(expected, abs=2e-12)
        if len(np.unique(scores)) == m + n:
            assert area == pytest.approx(rank_pauc(y, scores, alpha, beta), abs=2e-12)


# --- the angle -----------------------------------------------------------------------------------


def best_by_force(u, v, m):
    """Return the largest AUC over a fine grid and the midpoints between breakpoints."""
    du, dv = np.subtract.outer(u[:m], u[m:]).ravel(), np.subtract.outer(v[:m], v[m:]).ravel()
    ends = np.arctan2(dv, du)[:, None] + [np.pi / 2, -np.pi / 2]
    ends = np.unique(np.mod(ends, 2 * np.pi))
    middles = (ends + np.roll(ends, -1)) / 2 + np.pi * (ends > np.roll(ends, -1))
    angles = np.r_[middles, ends, np.linspace(0, 2 * np.pi, 20001)]
    right = np.cos(angles)[:, None] * du + np.sin(angles)[:, None] * dv
    right[np.abs(right) < 1e-12] = 0
    return ((right > 0) + 0.5 * (right == 0)).mean(axis=1).max()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ties", [False, True])
def test_angle_sweep_matches_brute_force(seed, ties):
    m, n = [(1, 1), (1, 6), (5, 1), (4, 5), (6, 7), (7, 4)][seed]
    X = integers(seed, m, n) if ties else table(seed, m, n, 2)[0]
    u, v = unit(X).T if (X.std(axis=0) > 0).all() else X.T
    area, theta = AngleSearch(m, n, 0.0, 1.0).best(u, v)
    assert area == pytest.approx(best_by_force(u, v, m), abs=1e-11)
    assert area == pytest.approx(auc(np.repeat([1, 0], [m, n]), at(theta, u, v)), abs=1e-11)


@pytest.mark.parametrize("band", [(0.0, 0.1), (0.0, 0.3), (0.2, 0.6), (0.0, 1.0)])
def test_grid_search_is_nearly_as_good_as_a_fine_grid(band, monkeypatch):
    monkeypatch.setattr(angle_search, "MAX_SWEEP_PAIRS", 0)
    for seed in range(4):
        X, y = table(seed, 40, 60, 2)
        u, v = unit(X).T
        area, theta = AngleSearch(40, 60, *band).best(u, v)
        fine = [rank_pauc(y, at(t, u, v), *band) for t in np.linspace(-np.pi, np.pi, 1441)]
        assert area == pytest.approx(rank_pauc(y, at(theta, u, v), *band), abs=1e-11)
        assert area >= max(fine) - 0.01
        coarse = max(fine[::8])
        assert area >= coarse - 1e-11


@pytest.mark.parametrize("band", [(0.0, 0.2), (0.0, 1.0)])
def test_ties_choose_the_angle_nearest_0(band):
    X, y = table(1, 20, 20, 2)
    u = unit(X)[:, 0]
    assert AngleSearch(20, 20, *band).best(u, u)[1] == 0.0
    v = unit(np.c_[y + 0.1 * u])[:, 0]
    assert AngleSearch(20, 20, *band).best(v, u) == (1.0, 0.0)


def test_cancelling_columns_are_not_combined_into_rounding_errors():
    X, _ = table(2, 30, 30, 1)
    u = unit(X)[:, 0]
    for v in (u, -u, u * (1 + 1e-15)):
        area, theta = AngleSearch(30, 30, 0.0, 0.1).best(u, v)
        assert at(theta, u, v).std() > 1e-5
        assert area >= AngleSearch(30, 30, 0.0, 0.1).area(u)


def test_quarter_turns_return_a_single_column():
    for theta, expected in [
        (0, (1, 0)),
        (np.pi / 2, (0, 1)),
        (np.pi, (-1, 0)),
        (-np.pi / 2, (0, -1)),
    ]:
        assert direction(theta) == expected


def test_row_sample_is_used_for_the_grid_only(monkeypatch):
    X, _ = table(3, 200, 300, 2)
    u, v = unit(X).T
    whole, _ = AngleSearch(200, 300, 0.0, 0.2).best(u, v)
    monkeypatch.setattr(angle_search, "MAX_COARSE_ROWS", 90)
    search = AngleSearch(200, 300, 0.0, 0.2)
    area, theta = search.best(u, v)
    assert area == search.area(at(theta, u, v))
    assert whole - 0.05 <= area <= whole + 0.01


# --- the merging ---------------------------------------------------------------------------------


@every_strategy
def test_number_of_searches_for_k_features(strategy, monkeypatch):
    called = []
    monkeypatch.setattr(
        AngleSearch, "best", lambda self, u, v: (called.append(1), (self.area(u), 0.0))[1]
    )
    GreedyPAUC(strategy=strategy).fit(*table(0, K=7))
    assert len(called) == {"greedy": 36, "sequential": 21}[strategy]


@pytest.mark.parametrize("seed", range(3))
def test_two_features_over_the_whole_range_reach_the_optimum(seed):
    X, y = table(seed, 8, 9, 2)
    fitted = GreedyPAUC(fpr_range=(0.0, 1.0)).fit(X, y)
    assert 1 - fitted.objective_ == pytest.approx(best_by_force(*X.T, 8), abs=1e-11)


@every_strategy
@pytest.mark.parametrize("band", [(0.0, 0.1), (0.1, 0.4), (0.0, 1.0)])
@pytest.mark.parametrize("made", [table, sparse])
def test_result_is_at_least_as_good_as_any_single_feature(made, band, strategy):
    for seed in range(3):
        X, y = made(seed)
        X[:, 0] *= -1
        fitted = GreedyPAUC(fpr_range=band, strategy=strategy).fit(X, y)
        alone = [partial_auc(y, s * x, *band).normalized for x in X.T for s in (1, -1)]
        reached = partial_auc(y, fitted.decision_function(X), *band).normalized
        assert 1 - fitted.objective_ >= max(alone) - 1e-11
        assert reached == pytest.approx(1 - fitted.objective_, abs=1e-9)


def test_nearly_constant_feature_is_not_preferred():
    X, y = sparse(0)
    nearly_constant = (np.arange(len(y)) == 0).astype(float)
    fitted = GreedyPAUC().fit(np.c_[nearly_constant, X], y)
    assert rank_pauc(y, nearly_constant, 0, 0.1) > 1 - fitted.objective_
    assert len(np.unique(fitted.train_scores_)) > 50


@every_strategy
def test_one_feature_keeps_its_better_sign(strategy):
    X, y = table(0, K=1, shift=0)
    X[:, 0] -= 2 * y
    fitted = GreedyPAUC(strategy=strategy).fit(X, y)
    assert fitted.coef_[0, 0] == pytest.approx(-1 / X.std())
    assert fitted.n_iter_ == 1


@every_strategy
def test_merging_ends_at_a_perfect_score(strategy):
    X, y = table(0, K=5)
    X[:, 2] += 10 * y
    fitted = GreedyPAUC(strategy=strategy).fit(X, y)
    assert fitted.objective_ == 0.0
    assert fitted.n_iter_ == 1
    assert np.flatnonzero(fitted.coef_[0]).tolist() == [2]
    assert fitted.converged_


# --- watching ------------------------------------------------------------------------------------


@every_strategy
def test_each_merge_is_reported_and_never_worse(strategy):
    X, y = table(6, K=5)
    steps = []

    def record_step(step):
        if step.iteration:
            reached = partial_auc(y, step.scorer()(X), 0.0, 0.1).normalized
            assert step.objective == pytest.approx(1 - reached, abs=1e-11)
            assert step.gap is None
            steps.append((step.iteration, step.total, step.objective))

    fitted = GreedyPAUC(strategy=strategy).fit(X, y, callback=record_step)
    assert [(i, total) for i, total, _ in steps] == [(i, 5) for i in range(1, 6)]
    losses = [loss for *_, loss in steps]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == fitted.objective_
    assert losses[0] - losses[-1] > 0.01


# --- degenerate but legal data -------------------------------------------------------------------


def test_constant_features_only_are_noted():
    fitted = GreedyPAUC(fpr_range=(0.1, 0.3)).fit(np.full((6, 2), 0.1), np.arange(6) % 2)
    assert fitted.objective_ == pytest.approx(0.8)
    assert not fitted.coef_.any()
    assert fitted.notes_[0].code == "no_feature"


def greedy_without_cache(X, y, band):
    """Search all pairs before every merge; return the area and the standardised weights."""
    m = int(y.sum())
    search = AngleSearch(m, len(y) - m, *band)
    columns = {k: (unit(X)[:, k], row) for k, row in enumerate(np.eye(X.shape[1]))}
    signed = [(search.area(s * u), s * w) for u, w in columns.values() for s in (1, -1)]
    best = max(signed, key=lambda side: side[0])
    while len(columns) > 1:
        found = {
            (p, q): search.best(columns[p][0], columns[q][0])
            for p, q in itertools.combinations(columns, 2)
        }
        p, q = min(found, key=lambda pair: (-found[pair][0], abs(found[pair][1]), pair[::-1]))
        area, theta = found[p, q]
        (u, a), (v, b) = columns.pop(p), columns.pop(q)
        spread = at(theta, u, v).std()
        columns[max([p, q, *columns]) + 1] = (at(theta, u, v) / spread, at(theta, a, b) / spread)
        if area > best[0]:
            best = (area, list(columns.values())[-1][1])
    return best


@pytest.mark.parametrize("band", [(0.0, 0.2), (0.0, 1.0)])
def test_cached_searches_do_not_change_the_result(band):
    for seed in range(3):
        X, y = table(seed, K=6)
        fitted = GreedyPAUC(fpr_range=band).fit(X, y)
        area, weights = greedy_without_cache(X, y, band)
        assert 1 - fitted.objective_ == pytest.approx(area, abs=1e-12)
        np.testing.assert_allclose(fitted.coef_[0] * X.std(axis=0), weights, atol=1e-9)


def test_constant_features_get_no_weight():
    X, y = table(10)
    fitted = GreedyPAUC().fit(np.c_[np.full(len(y), 0.1), X, np.zeros(len(y))], y)
    np.testing.assert_array_equal(fitted.coef_[0, 1:-1], GreedyPAUC().fit(X, y).coef_[0])
    assert fitted.coef_[0, [0, -1]].tolist() == [0, 0]
