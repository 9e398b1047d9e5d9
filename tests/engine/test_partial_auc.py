"""SVM-pAUC against exhaustive search, golden values and explicit quadratic programmes."""

import itertools

import numpy as np
import pytest
import scipy
from numpy.testing import assert_allclose, assert_array_equal

from aucstudio.engine.features import centred
from aucstudio.engine.losses.pairs import PairHinge
from aucstudio.engine.losses.partial_auc import StructuralRisk, TightRisk
from aucstudio.engine.methods.structural import SVMpAUC
from aucstudio.notices import notice
from tests.engine.oracles import rank_pauc

RANGES = [(0.0, 1.0), (0.0, 0.3), (0.1, 0.6), (0.25, 0.5), (0.03, 0.04), (0.37, 1.0), (0.5, 0.8)]


def parts(n, alpha, beta):
    """Return g_j by the definition, one negative at a time."""
    return np.array([max(0.0, min(j, n * beta) - max(j - 1, n * alpha)) for j in range(1, n + 1)])


def risk_by_rows(positive, scores, alpha, beta):
    """Try every r for every positive, with the negatives in descending order."""
    s, v = scores[positive], -np.sort(-scores[~positive])
    g = parts(len(v), alpha, beta)
    total = sum(
        max(sum(g[j] + v[j] - s_i for j in range(r)) for r in range(len(v) + 1)) for s_i in s
    )
    return total / (len(s) * g.sum())


def orderings(positive, alpha, beta):
    """List (pi, loss) for every ordering of all rows; pi has a row for each positive."""
    rows = np.arange(len(positive))
    pos, neg = rows[positive], rows[~positive]
    g = parts(len(neg), alpha, beta)
    found = {}
    for ordering in itertools.permutations(rows):
        place = np.empty(len(rows), dtype=int)
        place[list(ordering)] = rows
        pi = place[pos][:, None] > place[neg][None]
        rank = np.argsort(np.argsort(place[neg]))
        found[pi.tobytes()] = (pi, float((pi * g[rank]).sum()) / (len(pos) * g.sum()))
    return list(found.values())


def risk_by_orderings(positive, scores, alpha, beta):
    margins = scores[positive][:, None] - scores[~positive][None]
    scale = len(margins) * parts(margins.shape[1], alpha, beta).sum()
    return max(loss - (pi * margins).sum() / scale for pi, loss in orderings(positive, alpha, beta))


def random_range(rng):
    return tuple(np.sort(rng.choice([rng.random(), 0.0, 1.0, 0.25, 0.5], 2, replace=False)))


def random_case(rng, most):
    m, n = rng.integers(1, most + 1, 2)
    scores = rng.normal(size=m + n) * rng.choice([0.1, 1.0, 5.0])
    if rng.random() < 0.5:
        scores = np.round(scores)
    return rng.permutation(np.arange(m + n) < m), scores


def test_risk_is_the_maximum_over_all_r_of_every_row():
    rng = np.random.default_rng(0)
    for _ in range(400):
        positive, scores = random_case(rng, 12)
        alpha, beta = random_range(rng)
        expected = risk_by_rows(positive, scores, alpha, beta)
        assert_allclose(StructuralRisk(positive, alpha, beta)(scores)[0], expected, atol=1e-10)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (4, 1), (2, 3), (3, 3), (2, 4)])
def test_risk_is_the_maximum_over_all_orderings(m, n):
    rng = np.random.default_rng(m + 10 * n)
    positive = rng.permutation(np.arange(m + n) < m)
    for alpha, beta in [(0.0, 1.0), (0.0, 0.3), (0.1, 0.6), (0.45, 0.55)]:
        scores = np.round(rng.normal(size=m + n), rng.integers(0, 3))
        expected = risk_by_orderings(positive, scores, alpha, beta)
        assert_allclose(StructuralRisk(positive, alpha, beta)(scores)[0], expected, atol=1e-12)


def test_risk_over_the_full_range_is_the_mean_pair_hinge():
    rng = np.random.default_rng(1)
    for _ in range(50):
        positive, scores = random_case(rng, 30)
        risk, gradient = StructuralRisk(positive, 0.0, 1.0)(scores)
        margins = scores[positive][:, None] - scores[~positive][None]
        assert_allclose(risk, np.maximum(1 - margins, 0).mean(), rtol=1e-12, atol=1e-14)
        assert_allclose(gradient.sum(), 0.0, atol=1e-12)
    scores = rng.normal(size=len(positive))
    ours, theirs = StructuralRisk(positive, 0.0, 1.0)(scores), PairHinge(positive)(scores)
    assert_allclose(ours[0], theirs[0])
    assert_allclose(ours[1], theirs[1], atol=1e-15)


@pytest.mark.parametrize("surrogate", [StructuralRisk, TightRisk])
@pytest.mark.parametrize(("alpha", "beta"), RANGES)
def test_risk_is_convex_with_a_valid_subgradient(alpha, beta, surrogate):
    rng = np.random.default_rng(2)
    positive = np.arange(40) < 12
    risk = surrogate(positive, alpha, beta)
    for _ in range(100):
        a, b = rng.normal(size=(2, 40)) * rng.choice([0.05, 1.0, 4.0], (2, 1))
        (value_a, gradient), value_b = risk(a), risk(b)[0]
        assert risk((a + b) / 2)[0] <= (value_a + value_b) / 2 + 1e-12
        assert value_b >= value_a + gradient @ (b - a) - 1e-12
        assert_allclose(gradient.sum(), 0.0, atol=1e-12)


def overlapping(rows=60, features=3, seed=0, gap=1.0, every=3):
    rng = np.random.default_rng(seed)
    y = (np.arange(rows) % every == 0).astype(int)
    return rng.normal(size=(rows, features)) + gap * y[:, None], y


def direct_objective(model, X, y):
    w = model.coef_[0]
    risk = risk_by_rows(y == 1, X @ w, *model.fpr_range_used_)
    return w @ w / 2 + model.C * risk


@pytest.mark.slow
def test_narrow_range_without_a_direction_is_widened():
    X, y = overlapping(40, 3, seed=1, gap=0.4)
    model = SVMpAUC(C=100.0, fpr_range=(0.0, 0.1)).fit(X, y)
    alpha, beta = model.fpr_range_used_
    assert alpha == 0.0
    assert beta in (0.2, 0.4, 0.8, 1.0)
    assert np.linalg.norm(model.coef_) > 0.01
    assert model.notes_[0] == notice("range_widened", asked=(0.0, 0.1), used=(0.0, beta))
    assert_allclose(model.objective_, direct_objective(model, X, y), rtol=1e-10)
    # Independently: no direction lowers the risk in the skipped ranges (R is convex, so a
    # short step is enough), and the range used has one.
    directions = np.random.default_rng(0).normal(size=(3000, 3))
    for skipped in (0.1, 0.2, 0.4, 0.8):
        risk = StructuralRisk(y == 1, 0.0, skipped)
        lowest = min(risk(1e-4 * (X @ w))[0] for w in directions)
        assert (lowest >= 1 - 1e-12) == (skipped < beta)
        if skipped == beta:
            break


def test_ranges_that_rank_nothing_are_left_early():
    rng, levels = np.random.default_rng(0), 40
    Z = np.concatenate([np.eye(levels)[rng.integers(levels, size=4000)] for _ in "ab"], axis=1)
    effect = Z @ rng.normal(0.0, 1.2, 2 * levels) + rng.normal(0.0, 0.1, 4000)
    y = (rng.random(4000) < scipy.special.expit(1.25 * effect - 5.0)).astype(int)
    X = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    model = SVMpAUC(C=10.0, fpr_range=(0.0, 0.01)).fit(X, y)
    assert model.fpr_range_used_ == (0.0, 0.08)
    assert model.dual_gap_ <= 1e-4 * model.objective_
    # To know of each of the three narrower ranges that w = 0 is best takes some 300.
    assert model.n_iter_ < 450


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0, 1e4])
def test_small_costs_and_units_do_not_widen_the_range(C, scale):
    X, y = overlapping()
    model = SVMpAUC(C=C, fpr_range=(0.0, 0.5)).fit(X * scale, y)
    assert model.fpr_range_used_ == (0.0, 0.5)
    assert rank_pauc(y, model.decision_function(X * scale), 0.0, 0.5) > 0.7


def test_centring_copies_only_when_needed():
    X, _ = overlapping()
    near = X - X.mean(axis=0) + 0.1
    assert centred(near) is near
    far = centred(near + np.array([0.0, 1e8, 0.0]))
    assert_allclose(far.mean(axis=0), 0.0, atol=1e-7)
    assert_array_equal(centred(np.full((4, 2), 0.5)), 0.0)


def test_narrow_range_improves_its_part_of_the_curve():
    # One feature lifts a tenth of the positives far above everything, the other nearly all of
    # them a little: the best weights differ between a narrow range and the whole curve.
    rng = np.random.default_rng(0)
    y = (np.arange(600) % 4 == 0).astype(int)
    top = rng.normal(size=600) + np.where((y == 1) & (rng.random(600) < 0.6), 4.0, 0.0)
    X = np.column_stack([top, rng.normal(size=600) + 1.5 * y])
    narrow = SVMpAUC(C=100.0, fpr_range=(0.0, 0.1)).fit(X, y)
    full = SVMpAUC(C=100.0, fpr_range=(0.0, 1.0)).fit(X, y)
    assert narrow.fpr_range_used_ == (0.0, 0.1)
    paucs = [rank_pauc(y, m.decision_function(X), 0.0, 0.1) for m in (narrow, full)]
    aucs = [rank_pauc(y, m.decision_function(X)) for m in (narrow, full)]
    assert paucs[0] > paucs[1]
    assert aucs[0] < aucs[1]


def test_stop_before_the_first_step_returns_the_mean_difference():
    X, y = overlapping(40, 3, seed=1, gap=0.4)
    model = SVMpAUC(C=100.0, fpr_range=(0.0, 0.1)).fit(X, y, callback=lambda step: True)
    positive = y == model.classes_[1]
    assert_allclose(model.coef_[0], X[positive].mean(axis=0) - X[~positive].mean(axis=0))
    assert not model.converged_
    risk, _ = StructuralRisk(positive, 0.0, 0.1)(X @ model.coef_[0])
    assert model.objective_ == pytest.approx(0.5 * model.coef_[0] @ model.coef_[0] + 100.0 * risk)
