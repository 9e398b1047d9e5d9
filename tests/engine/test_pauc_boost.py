"""pAUCBoost against sums over explicit pairs, finite differences and a general optimiser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import ndtr

from aucstudio.engine.features.splines import basis
from aucstudio.engine.losses.partial_auc import derivatives, fan, smooth_area
from aucstudio.engine.methods.pauc_boost import PAUCBoost
from aucstudio.engine.roc import auc, partial_auc
from aucstudio.notices import notice
from tests.engine.oracles import rank_pauc

pytestmark = pytest.mark.slow

RANGES = [(0.0, 1.0), (0.0, 0.3), (0.1, 0.6), (0.25, 0.5), (0.03, 0.04), (0.37, 1.0), (0.0, 0.07)]

every_range = pytest.mark.parametrize("fpr_range", RANGES)


def cloud(seed, N=120, d=4, shift=1.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) < N // 3).astype(int)
    X = rng.standard_normal((N, d))
    X[:, 0] += shift * y
    return X, y


def step_area(s, t, parts):
    """Return the area with the step function H, where H(0) = 1/2."""
    D = s[:, None] - t
    wins = (D > 0) + 0.5 * (D == 0)
    return (parts.p @ wins @ parts.g + parts.r.sum() * parts.g.sum()) / D.size


def pair_area(s, t, parts):
    D = s[:, None] - t
    return (parts.p @ ndtr(D) @ parts.g + parts.r.sum() * parts.g.sum()) / D.size


# --- the objective ---------------------------------------------------------------------------


@every_range
@pytest.mark.parametrize("levels", [np.inf, 5, 1])
def test_fan_and_rectangle_sum_to_the_partial_area(fpr_range, levels):
    rng = np.random.default_rng(1)
    for _ in range(40):
        m, n = rng.integers(1, 30, 2)
        scores = rng.standard_normal(m + n) + np.r_[np.ones(m), np.zeros(n)]
        if np.isfinite(levels):
            scores = np.floor(ndtr(scores) * levels)
        s, t, y = scores[:m], scores[m:], np.r_[np.ones(m), np.zeros(n)]
        area = step_area(s, t, fan(s, t, *fpr_range))
        assert area == pytest.approx(partial_auc(y, scores, *fpr_range).raw, abs=1e-12)


@pytest.mark.parametrize("fpr_range", [(0.0, 0.07), (0.07, 0.29), (0.29, 0.57), (0.0, 1.0)])
def test_parts_without_ties_equal_the_rank_weights(fpr_range):
    rng = np.random.default_rng(2)
    s, t = rng.standard_normal(40) + 1, rng.standard_normal(100)
    parts = fan(s, t, *fpr_range)
    y, scores = np.r_[np.ones(40), np.zeros(100)], np.r_[s, t]
    alpha, beta = fpr_range
    expected = rank_pauc(y, scores, alpha, beta) * (beta - alpha)
    assert step_area(s, t, parts) == pytest.approx(expected, abs=1e-12)
    # Whole numbers of negatives: rounding of 100 * 0.07 must split none of them.
    assert set(parts.g) <= {0.0, 1.0}
    assert set(parts.p) | set(parts.r) <= {0.0, 1.0}


@every_range
@pytest.mark.parametrize(("m", "n", "spread"), [(7, 5, 2.0), (400, 300, 3.0), (250, 20, 40.0)])
def test_smooth_area_equals_the_sum_over_pairs(fpr_range, m, n, spread):
    rng = np.random.default_rng(3)
    s, t = spread * (rng.standard_normal(m) + 1), spread * rng.standard_normal(n)
    parts = fan(s, t, *fpr_range)
    assert smooth_area(s, t, parts) == pytest.approx(pair_area(s, t, parts), abs=1e-14)


@every_range
@pytest.mark.parametrize("N", [60, 900])
def test_derivatives_match_finite_differences(fpr_range, N):
    X, y = cloud(4, N)
    positive = y == 1
    F, learners = 2 * X[:, 0], np.column_stack([X[:, 1], X[:, 2] > 0, X[:, 3] ** 3])
    parts = fan(F[positive], F[~positive], *fpr_range)
    first, second = derivatives(F, positive, parts, learners)

    def area(step):
        return [
            pair_area((F + step * f)[positive], (F + step * f)[~positive], parts)
            for f in learners.T
        ]

    h = 1e-4
    low, middle, high = np.array(area(-h)), np.array(area(0)), np.array(area(h))
    assert_allclose(first, (high - low) / (2 * h), atol=1e-7)
    assert_allclose(second, (high - 2 * middle + low) / h**2, atol=1e-5)


# --- training --------------------------------------------------------------------------------


@every_range
def test_objective_falls_and_matches_the_scorer(fpr_range):
    X, y = cloud(5)
    steps = []

    def record_step(step):
        if step.iteration:
            steps.append((step.objective, step.scorer()(X)))

    fitted = PAUCBoost(fpr_range=fpr_range, n_rounds=15).fit(X, y, callback=record_step)
    objectives = [value for value, _ in steps]
    assert (np.diff(objectives) < 0).all()
    assert objectives[-1] == fitted.objective_
    assert fitted.n_iter_ == len(steps)
    for value, scores in steps[::7]:
        s, t = scores[y == 1], scores[y == 0]
        area = pair_area(s, t, fan(s, t, *fitted.fpr_range_used_))
        assert -area <= value + 1e-12  # the remainder is the roughness penalty
        assert value + area < 0.05


def test_single_straight_line_keeps_the_auc_of_the_feature():
    X, y = cloud(7, d=1)
    fitted = PAUCBoost(n_knots=2).fit(X, y)
    assert auc(y, fitted.scorer_(X)) == auc(y, X[:, 0])
    turned = PAUCBoost(n_knots=2).fit(-X, y)
    assert auc(y, turned.scorer_(-X)) == auc(y, X[:, 0])


def test_full_range_objective_matches_a_general_optimiser():
    X, y = cloud(8, N=90, d=2, shift=0.8)
    positive, lam = y == 1, 1e-2
    bases = [basis(column, 5) for column in X.T]
    learners = np.vstack([one.pieces(column) for one, column in zip(bases, X.T, strict=True)])
    omega = np.zeros((8, 8))
    omega[:4, :4], omega[4:, 4:] = bases[0].roughness, bases[1].roughness

    def objective(w):
        D = (w @ learners)[positive][:, None] - (w @ learners)[~positive]
        return lam * w @ omega @ w - ndtr(D).mean()

    # The starting point of boosting: the best learner at full length.
    starts = [sign * unit for sign in (1, -1) for unit in np.eye(8)]
    found = minimize(objective, min(starts, key=objective), method="BFGS", options={"gtol": 1e-7})
    fitted = PAUCBoost(fpr_range=(0, 1), smoothness=lam, n_knots=5, n_rounds=1000).fit(X, y)
    assert fitted.objective_ == pytest.approx(found.fun, abs=1e-5)


def test_uninformative_features_have_small_components():
    rng = np.random.default_rng(10)
    y = (np.arange(1500) < 500).astype(int)
    X = rng.standard_normal((1500, 4))
    X[:, 1] += 1.5 * y
    X[:, 2] *= 1 + 1.5 * y  # only the spread differs between the classes
    fitted = PAUCBoost(fpr_range=(0.0, 0.3), n_rounds=60).fit(X, y)
    spread = [fitted.scorer_.component(k, column).std() for k, column in enumerate(X.T)]
    assert min(spread[1:3]) > 3 * max(spread[0], spread[3])


def test_more_smoothness_makes_components_less_rough():
    X, y = cloud(11, N=300, d=2)
    rough = []
    for lam in (1e-6, 1e-3, 1e-1):
        fitted = PAUCBoost(smoothness=lam).fit(X, y)
        u = np.linspace(-2, 2, 400)
        rough.append(sum((np.diff(fitted.scorer_.component(k, u), 2) ** 2).sum() for k in (0, 1)))
    assert rough[0] > 2 * rough[1] > 4 * rough[2]


def test_features_with_few_values_use_steps():
    rng = np.random.default_rng(12)
    X = rng.integers(0, 4, (300, 2)).astype(float)
    y = (rng.random(300) < np.where(X[:, 0] >= 2, 0.8, 0.2)).astype(int)
    fitted = PAUCBoost(fpr_range=(0, 0.5)).fit(X, y)
    curve = fitted.scorer_.component(0, np.array([0.0, 1.0, 1.49, 1.51, 2.0, 3.0]))
    assert curve[1] == curve[2] != curve[3] == curve[4]
    assert np.argmax(np.diff(curve)) == 2


def test_missing_values_contribute_zero():
    X, y = cloud(13, N=300)
    gaps = X.copy()
    gaps[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    gaps[:, 3] = np.nan
    fitted = PAUCBoost(fpr_range=(0, 0.5), n_rounds=30).fit(gaps, y)
    assert 3 not in fitted.scorer_.feature
    assert_array_equal(fitted.scorer_(np.full((1, 4), np.nan)), 0.0)
    assert auc(y, fitted.decision_function(gaps)) > 0.7


# --- early ends ------------------------------------------------------------------------------


def test_range_without_a_useful_learner_is_widened():
    # Negatives at both ends: no straight line has a positive in the first tenth.
    x = np.r_[np.linspace(-3, -2, 15), np.linspace(-1, 0, 10), np.linspace(2, 3, 20)]
    y = np.r_[np.zeros(15), np.ones(10), np.zeros(20)].astype(int)
    fitted = PAUCBoost(n_knots=2).fit(x[:, None], y)
    assert fitted.fpr_range_used_[1] > 0.4
    assert fitted.notes_[0].code == "range_widened_for_learners"
    assert auc(y, fitted.decision_function(x[:, None])) > 0.5
    # A curve can have a positive there.
    curved = PAUCBoost().fit(x[:, None], y)
    assert curved.fpr_range_used_ == (0.0, 0.1)


def test_boosting_stops_without_positives_between_the_thresholds():
    X, y = cloud(14, shift=30.0)
    fitted = PAUCBoost(fpr_range=(0.1, 0.3)).fit(X, y)
    assert fitted.objective_ == pytest.approx(-0.2)
    assert fitted.n_iter_ == 1
    assert fitted.notes_[0] == notice("boosting_without_positives", round=1)


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.0, 1.0), (0.2, 0.4)])
def test_identical_rows_are_tied_with_a_note(fpr_range):
    x = np.repeat(np.arange(20.0), 2)
    fitted = PAUCBoost(fpr_range=fpr_range).fit(np.c_[np.full(40, 0.1)], np.arange(40) % 2)
    assert np.ptp(fitted.decision_function(np.c_[x])) == 0
    assert fitted.notes_[0].code == "no_learner"
    twins = PAUCBoost(fpr_range=fpr_range).fit(x[:, None], np.arange(40) % 2)
    assert np.isfinite(twins.decision_function(x[:, None])).all()


@pytest.mark.parametrize("n_knots", [2, 10])
def test_boosting_without_improvement_makes_no_step(n_knots):
    # Every value has a row of either class: by symmetry any curve has the full area 1/2 of chance.
    x = np.repeat(np.arange(20.0), 2)
    fitted = PAUCBoost(fpr_range=(0.0, 1.0), n_knots=n_knots).fit(x[:, None], np.arange(40) % 2)
    assert fitted.n_iter_ == 0
    assert fitted.objective_ == -0.5
    assert np.ptp(fitted.decision_function(x[:, None])) == 0
