"""The tight partial-AUC surrogates against exhaustive search, linear programmes and bounds."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from aucstudio.engine.losses.partial_auc import DifferenceRisk, StructuralRisk, TightRisk
from aucstudio.engine.methods.structural import RiskMinimiser, SVMpAUC, SVMpAUCTight
from aucstudio.notices import notice
from tests.engine.oracles import rank_pauc
from tests.engine.test_partial_auc import RANGES, overlapping, parts, random_range

pytestmark = pytest.mark.slow


def risk_by_orders(positive, scores, alpha, beta):
    """Try every order of the negatives, and for each every r of every positive."""
    s, t = scores[positive], scores[~positive]
    g, f = parts(len(t), alpha, beta), parts(len(t), 0.0, beta)
    best = 0.0
    for order in itertools.permutations(t):
        sums = np.cumsum(g - f * (s[:, None] - np.array(order)), axis=1)
        best = max(best, float(np.maximum(sums.max(axis=1), 0.0).sum()))
    return best / (len(s) * g.sum())


def hinge_by_pairs(positive, scores, alpha, beta):
    """Return sum_ij g_j (1 - M_i(j))_+ / (m n (beta - alpha)) pair by pair."""
    v = np.sort(scores[~positive])[::-1]
    g = parts(len(v), alpha, beta)
    s = scores[positive]
    total = sum(g_j * max(0.0, 1 - (s_i - v_j)) for s_i in s for g_j, v_j in zip(g, v, strict=True))
    return total / (len(s) * g.sum())


def random_case(rng, m, n):
    scores = rng.normal(size=m + n) * rng.choice([0.1, 1.0, 5.0])
    if rng.random() < 0.5:
        scores = np.round(scores)
    return rng.permutation(np.arange(m + n) < m), scores


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (3, 1), (2, 3), (3, 4), (2, 5)])
def test_risk_is_the_maximum_over_all_orders_of_negatives(m, n):
    rng = np.random.default_rng(m + 10 * n)
    for _ in range(25):
        positive, scores = random_case(rng, m, n)
        alpha, beta = random_range(rng)
        expected = risk_by_orders(positive, scores, alpha, beta)
        assert_allclose(TightRisk(positive, alpha, beta)(scores)[0], expected, atol=1e-10)


def test_tight_risk_from_0_equals_the_pair_hinge_in_the_range():
    rng = np.random.default_rng(0)
    for _ in range(200):
        positive, scores = random_case(rng, *rng.integers(1, 15, 2))
        beta = rng.choice([rng.random(), 0.5, 1.0])
        expected = hinge_by_pairs(positive, scores, 0.0, beta)
        assert_allclose(TightRisk(positive, 0.0, beta)(scores)[0], expected, atol=1e-12)


def test_tight_risk_up_to_1_equals_the_structural_surrogate():
    rng = np.random.default_rng(1)
    for _ in range(50):
        positive, scores = random_case(rng, *rng.integers(1, 20, 2))
        for alpha in (0.0, 0.4):
            tight = TightRisk(positive, alpha, 1.0)(scores)
            loose = StructuralRisk(positive, alpha, 1.0)(scores)
            assert_allclose(tight[0], loose[0], atol=1e-12)
            assert_allclose(tight[1].sum(), 0.0, atol=1e-12)


@pytest.mark.parametrize(("alpha", "beta"), RANGES)
def test_all_surrogates_bound_one_minus_the_partial_auc(alpha, beta):
    rng = np.random.default_rng(3)
    for _ in range(60):
        positive, scores = random_case(rng, *rng.integers(1, 20, 2))
        loss = 1 - rank_pauc(positive, scores, alpha, beta)
        for surrogate in (StructuralRisk, TightRisk):
            assert surrogate(positive, alpha, beta)(scores)[0] >= loss - 1e-12
        if alpha > 0:
            assert DifferenceRisk(positive, alpha, beta)(scores) >= loss - 1e-9


def test_difference_of_convex_risk_equals_the_hinge_of_the_range():
    rng = np.random.default_rng(5)
    non_convex = 0
    for _ in range(200):
        positive, scores = random_case(rng, *rng.integers(1, 15, 2))
        alpha, beta = np.sort(rng.uniform(0.05, 1.0, 2))
        risk = DifferenceRisk(positive, alpha, beta)
        assert_allclose(risk(scores), hinge_by_pairs(positive, scores, alpha, beta), atol=1e-9)
        other = rng.permutation(scores)
        # The convex majorant touches the risk at the tangent point and is never below it.
        above = risk.above(risk.tangent(other))
        assert_allclose(above(other)[0], risk(other), atol=1e-9)
        assert above(scores)[0] >= risk(scores) - 1e-9
        non_convex += risk((scores + other) / 2) > (risk(scores) + risk(other)) / 2 + 1e-9
    assert non_convex > 0


def means_coincide(X, positive, beta):
    """Return by an LP whether bounded weights of negatives reach the positives' mean."""
    Z = X[~positive]
    A = np.vstack([Z.T, np.ones(len(Z))])
    b = np.append(X[positive].mean(axis=0), 1.0)
    found = linprog(np.zeros(len(Z)), A_eq=A, b_eq=b, bounds=(0, 1 / (len(Z) * beta)))
    return found.status == 0


@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_range_is_widened_exactly_for_degenerate_data(alpha):
    rng = np.random.default_rng(6)
    seen = set()
    for _ in range(4):
        X = rng.normal(size=(40, 3))
        positive = np.arange(40) < 15
        X[positive] += rng.uniform(0.2, 0.6)
        for beta in (0.1, 0.23, 0.4, 0.6):
            model = SVMpAUCTight(C=1000.0, fpr_range=(alpha, beta)).fit(X, positive)
            degenerate = means_coincide(X, positive, beta)
            assert (model.fpr_range_used_ != (alpha, beta)) == degenerate
            assert (model.notes_ != ()) == degenerate
            assert np.linalg.norm(model.coef_) > 1e-3
            seen.add(degenerate)
    assert seen == {True, False}


def test_range_is_widened_no_more_than_by_the_structural_surrogate():
    X, y = overlapping(40, 3, seed=1, gap=0.6)
    tight = SVMpAUCTight(C=100.0, fpr_range=(0.0, 0.1)).fit(X, y)
    loose = SVMpAUC(C=100.0, fpr_range=(0.0, 0.1)).fit(X, y)
    assert 0.1 < tight.fpr_range_used_[1] <= loose.fpr_range_used_[1]
    assert tight.notes_[0] == notice("range_widened", asked=(0.0, 0.1), used=tight.fpr_range_used_)


def dc_objective(X, y, w, C, fpr_range):
    return w @ w / 2 + C * hinge_by_pairs(y == 1, X @ w, *fpr_range)


@pytest.mark.parametrize("C", [1.0, 30.0])
def test_dc_rounds_never_raise_the_objective(C, monkeypatch):
    X, y = overlapping(150, 5, seed=3, gap=0.7)
    fpr_range, seen, go_on = (0.2, 0.5), [], RiskMinimiser.go_on

    def watched(self, risk, start, cuts, *more):
        found = go_on(self, risk, start, cuts)
        if start is not None:
            seen.append((start, found.weights))
        return found

    monkeypatch.setattr(RiskMinimiser, "go_on", watched)
    model = SVMpAUCTight(C=C, fpr_range=fpr_range, surrogate="dc").fit(X, y)
    objectives = [dc_objective(X, y, w, C, fpr_range) for w in (seen[0][0], *(w for _, w in seen))]
    assert len(seen) > 1
    assert all(b <= a + 1e-9 * C for a, b in itertools.pairwise(objectives))
    assert objectives[-1] < 0.999 * objectives[0]
    assert_allclose(model.objective_, objectives[-1], rtol=1e-9)
    assert (model.dual_gap_, model.converged_, model.fpr_range_used_) == (None, True, fpr_range)
    convex = SVMpAUCTight(C=C, fpr_range=fpr_range).fit(X, y)
    assert_allclose(seen[0][0], convex.coef_[0])


def test_dc_converges_to_a_local_minimum():
    X, y = overlapping(150, 3, seed=3, gap=0.7)
    settings = {"C": 3.0, "fpr_range": (0.2, 0.5)}
    model = SVMpAUCTight(surrogate="dc", tol=1e-7, **settings).fit(X, y)
    rng = np.random.default_rng(0)
    for _ in range(100):
        w = model.coef_[0] + 1e-3 * rng.normal(size=3)
        assert dc_objective(X, y, w, **settings) >= model.objective_ * (1 - 1e-5)


def test_dc_without_a_direction_falls_back_to_the_convex_surrogate():
    X, y = overlapping(40, 3, seed=1, gap=0.4)
    model = SVMpAUCTight(C=100.0, fpr_range=(0.02, 0.1), surrogate="dc").fit(X, y)
    convex = SVMpAUCTight(C=100.0, fpr_range=(0.02, 0.1)).fit(X, y)
    assert model.notes_[0].code == "convex_surrogate_used"
    assert model.fpr_range_used_ == convex.fpr_range_used_ != (0.02, 0.1)
    assert_array_equal(model.coef_, convex.coef_)
    assert model.objective_ == convex.objective_


def test_dc_reports_its_own_objective_and_can_be_stopped():
    X, y = overlapping(150, 5, seed=3, gap=0.7)
    settings = {"C": 30.0, "fpr_range": (0.2, 0.5)}

    def watch(most):
        heard = []

        def record_step(step):
            if step.iteration:
                heard.append((step.iteration, step.objective, step.gap, step.scorer().weights))
            return len(heard) == most

        return SVMpAUCTight(surrogate="dc", **settings).fit(X, y, callback=record_step), heard

    model, heard = watch(None)
    assert [number for number, *_ in heard] == list(range(1, model.n_iter_ + 1))
    for _, objective, gap, w in heard:
        assert gap is None
        assert_allclose(objective, dc_objective(X, y, w, **settings), rtol=1e-9)
    for most in (2, len(heard) - 1):
        stopped, seen = watch(most)
        assert not stopped.converged_
        assert stopped.objective_ == pytest.approx(seen[-1][1])
        assert_array_equal(stopped.coef_[0], seen[-1][3])
