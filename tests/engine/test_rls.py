"""RLS against explicit normal equations and scikit-learn; the path of AUC-RLS against AUCRLS."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from aucstudio.engine import AUCRLS
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.methods.least_squares import RLS, LeastSquares
from aucstudio.engine.methods.least_squares_systems import class_moments
from aucstudio.engine.monitor import Monitor

both = pytest.mark.parametrize("fit_intercept", [False, True])
either_shape = pytest.mark.parametrize("features", [4, 60])

# The polynomial kernel of degree 1 is the linear one, solved in the dual.
ROWS = {"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": 0.0}


def overlapping(rows=40, features=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % 3 == 0).astype(int)
    return rng.standard_normal((rows, features)) + y[:, None] * 0.7 + 0.4, y


def signs(y):
    return np.where(y == 1, 1.0, -1.0)


# --- against independent formulas ------------------------------------------------------------


def test_kernel_with_an_intercept_solves_the_bordered_equations():
    X, y = overlapping(30)
    fitted = RLS(kernel="rbf", gamma=0.3, regularization=0.1, fit_intercept=True).fit(X, y)
    K, ones = Kernel("rbf", 0.3)(X, X), np.ones((30, 1))
    bordered = np.block([[K + 0.1 * 30 * np.eye(30), ones], [ones.T, np.zeros((1, 1))]])
    expected = np.linalg.solve(bordered, np.append(signs(y), 0))
    np.testing.assert_allclose(fitted.scorer_.weights, expected[:-1], atol=1e-12)
    assert fitted.intercept_ == pytest.approx(expected[-1], abs=1e-12)


@either_shape
@pytest.mark.parametrize("method", [AUCRLS(), RLS(), RLS(fit_intercept=True)])
def test_primal_and_dual_agree(method, features):
    X, y = overlapping(features=features)
    linear = clone(method).set_params(regularization=0.05).fit(X, y)
    rows = clone(linear).set_params(**ROWS).fit(X, y)
    np.testing.assert_allclose(rows.decision_function(X), linear.decision_function(X), atol=1e-10)
    assert rows.objective_ == pytest.approx(linear.objective_, rel=1e-11)


def test_intercept_with_equal_classes_yields_fishers_direction():
    X, y = overlapping()
    X, y = np.vstack([X[y == 1], X[y == 0][: np.sum(y)]]), np.repeat([1, 0], np.sum(y))
    spread = np.cov(X[y == 1].T, bias=True) + np.cov(X[y == 0].T, bias=True)
    best = np.linalg.solve(spread, X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    w = RLS(regularization=0.0, fit_intercept=True).fit(X, y).coef_[0]
    np.testing.assert_allclose(w / np.linalg.norm(w), best / np.linalg.norm(best), atol=1e-12)


# --- the constant ----------------------------------------------------------------------------


def test_threshold_without_an_intercept_is_chosen_after_fitting():
    X, y = overlapping()
    method = RLS().fit(X, y)
    before = method.intercept_
    called = method.predict(X)
    assert abs(np.mean(called[y == 0]) - np.mean(1 - called[y == 1])) < 0.1
    assert before != RLS(fit_intercept=True).fit(X, y).intercept_


def test_only_fits_without_an_intercept_depend_on_the_origin():
    X, y = overlapping()
    directions = [
        RLS(fit_intercept=c).fit(X + s, y).coef_[0] for c in (False, True) for s in (0, 5)
    ]
    assert np.abs(directions[0] - directions[1]).max() > 0.01
    np.testing.assert_allclose(directions[2], directions[3], atol=1e-12)


# --- limits ----------------------------------------------------------------------------------


@either_shape
@both
def test_singular_problem_has_the_least_norm_solution(features, fit_intercept):
    X, y = overlapping(features=features)
    X = np.column_stack([X, X[:, 0], np.full(len(X), 0.1)])
    fitted = RLS(regularization=0.0, fit_intercept=fit_intercept).fit(X, y)
    Z, t = (X - X.mean(axis=0), signs(y) - signs(y).mean()) if fit_intercept else (X, signs(y))
    expected = np.linalg.lstsq(Z, t, rcond=1e-10)[0]
    np.testing.assert_allclose(fitted.coef_[0], expected, atol=1e-9)
    assert fitted.dual_gap_ is None


# --- the path along the regularisation -------------------------------------------------------


def counted(monkeypatch, name):
    """Record the regularisation each time a method sets up its equations."""
    made, whole = [], getattr(LeastSquares, name)

    def count(self, *arguments):
        made.append(self.regularization)
        return whole(self, *arguments)

    monkeypatch.setattr(LeastSquares, name, count)
    return made


@either_shape
@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf", "gamma": 0.3}], ids=["w", "rbf"])
@pytest.mark.parametrize("method", [AUCRLS(), RLS(), RLS(fit_intercept=True)])
def test_regularization_path_equals_single_fits(method, settings, features, monkeypatch):
    X, y = overlapping(50, features)
    grid = [2.0**10, 0.1, 0.0, 1e-3]
    made = counted(monkeypatch, "_system")
    path = list(method.set_params(**settings).fit_path(X, y, "regularization", grid))
    assert made == grid[:1]
    for lam, fitted in zip(grid, path, strict=True):
        alone = clone(method).set_params(regularization=lam).fit(X, y)
        np.testing.assert_allclose(fitted.train_scores_, alone.train_scores_, rtol=1e-9, atol=1e-9)
        assert fitted.objective_ == pytest.approx(alone.objective_, rel=1e-12, abs=1e-20)
        assert fitted.converged_ == alone.converged_
        assert fitted.regularization == lam


def test_gamma_path_sets_up_the_equations_again(monkeypatch):
    X, y = overlapping(30)
    made = counted(monkeypatch, "_system")
    path = AUCRLS(kernel="rbf").fit_path(X, y, "gamma", [0.1, 1.0])
    for gamma, fitted in zip([0.1, 1.0], path, strict=True):
        alone = AUCRLS(kernel="rbf", gamma=gamma).fit(X, y)
        np.testing.assert_array_equal(fitted.train_scores_, alone.train_scores_)
    assert len(made) == 4


# --- moments taken from 0 --------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
@pytest.mark.parametrize("offset", [0.0, 0.5, 30.0])
@pytest.mark.parametrize("spread", [1.0, 1e-6])
def test_moments_are_accurate_at_any_offset(share, offset, spread):
    rng = np.random.default_rng(8)
    positive = rng.permutation(np.arange(3000) < share * 3000)
    X = rng.standard_normal((3000, 5)) * np.where(positive, 1.0, spread)[:, None]
    X += offset * (np.arange(5) == 2)
    for weights in (None, np.ones(3000)):
        classes = class_moments(X, positive, weights, Monitor())
        for label, found in zip((False, True), classes, strict=True):
            rows = X[positive == label].astype(np.longdouble)
            mean, centred = rows.mean(axis=0).astype(float), rows - rows.mean(axis=0)
            np.testing.assert_allclose(found.origin + found.mean, mean, atol=1e-13 * (1 + offset))
            scatter = (centred.T @ centred).astype(float)
            near = {"rtol": 1e-10, "atol": 1e-12 * np.abs(scatter).max()}
            np.testing.assert_allclose(found.scatter(), scatter, **near)
