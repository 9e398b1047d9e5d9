"""Additive logistic regression against a general optimiser and plain logistic regression."""

import numpy as np
import pytest
from scipy.optimize import minimize

from aucstudio.engine import METHODS, roc
from aucstudio.engine.features.splines import basis

ADDITIVE = METHODS["additive-logistic"]


def rows(seed, N=150):
    """Return two non-linear columns, one of three levels, and the classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    X[:, 2] = rng.integers(0, 3, N)
    risk = X[:, 0] ** 2 - np.abs(X[:, 1]) + (X[:, 2] == 1)
    return X, risk + 0.5 * rng.logistic(size=N) > 0.5


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("smoothness", [0.0, 3.0])
def test_objective_and_scores_match_a_general_optimiser(class_weight, smoothness):
    X, y = rows(0)
    fitted = ADDITIVE(C=0.7, smoothness=smoothness, n_knots=5, class_weight=class_weight).fit(X, y)
    bases = [basis(column, 5) for column in X.T]
    N = np.concatenate([one.pieces(column) for one, column in zip(bases, X.T, strict=True)]).T
    costs = np.where(y, len(y) / (2 * y.sum()), len(y) / (2 * (~y).sum()))
    costs = 0.7 * (np.ones(len(y)) if class_weight is None else costs)
    sign, ends = np.where(y, 1.0, -1.0), np.cumsum([len(one) for one in bases])[:-1]

    def objective(v):
        parts = np.split(v[:-1], ends)
        rough = sum(w @ one.roughness @ w for w, one in zip(parts, bases, strict=True))
        loss = costs @ np.logaddexp(0, -sign * (N @ v[:-1] + v[-1]))
        return (v[:-1] @ v[:-1] + smoothness * rough) / 2 + loss

    other = minimize(objective, np.zeros(N.shape[1] + 1), tol=1e-12)
    assert fitted.objective_ == pytest.approx(other.fun, rel=1e-7)
    assert fitted.objective_ - fitted.dual_gap_ <= other.fun + 1e-9
    np.testing.assert_allclose(
        fitted.decision_function(X), N @ other.x[:-1] + other.x[-1], atol=2e-3
    )


def test_two_knots_equal_logistic_regression_on_standardised_columns():
    X = np.random.default_rng(1).normal(size=(120, 3)) * [1.0, 20.0, 0.1] + 5
    y = (X - X.mean(axis=0)) @ [1.0, 0.05, -5.0] > np.random.default_rng(2).logistic(size=120)
    ours = ADDITIVE(n_knots=2, smoothness=5.0).fit(X, y)
    plain = METHODS["logistic"]().fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    np.testing.assert_allclose(ours.train_scores_, plain.train_scores_, rtol=1e-5, atol=1e-5)
    assert ours.objective_ == pytest.approx(plain.objective_, rel=1e-9)


def test_smoothness_reduces_curvature():
    X, y = rows(3, 400)

    def curvature(smoothness):
        scorer = ADDITIVE(smoothness=smoothness).fit(X, y).scorer_
        grid = np.linspace(-2, 2, 9)
        return np.abs(np.diff(scorer.component(0, grid), n=2)).max()

    assert curvature(0.0) > curvature(1.0) > 100 * curvature(1e6)


def test_additive_model_beats_logistic_on_non_linear_data():
    X, y = rows(4, 800)
    areas = {
        key: roc.auc(y[400:], METHODS[key]().fit(X[:400], y[:400]).scorer_(X[400:]))
        for key in ("logistic", "additive-logistic")
    }
    assert areas["additive-logistic"] > 0.8 > areas["logistic"] + 0.1


def test_missing_values_contribute_zero():
    X, y = rows(5)
    X[::7, 0], X[3::9, 2] = np.nan, np.nan
    X = np.column_stack([X, np.full(len(X), np.nan), np.ones(len(X))])
    scorer = ADDITIVE().fit(X, y).scorer_
    parts = sum(scorer.component(k, X[:, k]) for k in range(3))
    np.testing.assert_allclose(scorer(X), parts)
    assert (scorer.component(0, X[::7, 0]) == 0).all()
    assert set(scorer.feature) == {0, 1, 2}
