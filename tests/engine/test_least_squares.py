"""AUC-RLS against explicit pairs, the paper's dense formulas and hand-checked values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from aucstudio.engine import AUCRLS, METHODS
from aucstudio.engine.fit import without_convergence_warnings
from aucstudio.engine.linalg import Symmetric


def overlapping(rows=40, features=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % 3 == 0).astype(int)
    return rng.standard_normal((rows, features)) + y[:, None] * 0.7, y


def pair_differences(X, y):
    """Return x_i - z_j for every pair, one per row."""
    return (X[y == 1][:, None, :] - X[y == 0][None, :, :]).reshape(-1, X.shape[1])


# --- independent formulas --------------------------------------------------------------------


def test_constant_added_to_the_kernel_does_not_change_weights():
    X, y = overlapping()
    settings = {"kernel": "poly", "degree": 1, "gamma": 0.5, "regularization": 0.1}
    first = AUCRLS(coef0=0.0, **settings).fit(X, y)
    second = AUCRLS(coef0=50.0, **settings).fit(X, y)
    np.testing.assert_allclose(first.scorer_.weights, second.scorer_.weights, atol=1e-11)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_row_weights_sum_to_zero(kernel):
    X, y = overlapping()
    weights = AUCRLS(kernel=kernel).fit(X, y).scorer_.weights
    assert abs(weights.sum()) < 1e-12 * np.abs(weights).sum()


# --- limits ----------------------------------------------------------------------------------


def test_unregularised_direction_equals_that_of_su_and_liu():
    X, y = overlapping()
    P, Q = X[y == 1], X[y == 0]
    spread = np.cov(P.T, bias=True) + np.cov(Q.T, bias=True)
    best = np.linalg.solve(spread, P.mean(axis=0) - Q.mean(axis=0))
    for lam, tolerance in [(0.0, 1e-12), (1e-9, 1e-8)]:
        w = AUCRLS(regularization=lam).fit(X, y).coef_[0]
        np.testing.assert_allclose(
            w / np.linalg.norm(w), best / np.linalg.norm(best), atol=tolerance
        )


def test_heavy_regularisation_yields_the_difference_of_means():
    X, y = overlapping()
    w = AUCRLS(regularization=1e9).fit(X, y).coef_[0]
    delta = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    np.testing.assert_allclose(w * 1e9, 2 * delta, rtol=1e-8)


@pytest.mark.parametrize("features", [4, 60])
def test_singular_problem_has_the_least_norm_solution(features):
    X, y = overlapping(features=features)
    X = np.column_stack([X, X[:, 0], np.full(len(X), 0.1)])
    fitted = AUCRLS(regularization=0.0).fit(X, y)
    D = pair_differences(X, y)
    expected = np.linalg.lstsq(D, np.full(len(D), 2.0), rcond=1e-10)[0]
    np.testing.assert_allclose(fitted.coef_[0], expected, atol=1e-9)
    assert fitted.coef_[0, -1] == pytest.approx(0, abs=1e-12)
    assert fitted.dual_gap_ is None


def test_unregularised_gaussian_reaches_every_margin():
    X, y = overlapping(20)
    fitted = AUCRLS(kernel="rbf", gamma=1.0, regularization=0.0).fit(X, y)
    scores = fitted.scorer_(X)
    np.testing.assert_allclose(scores[y == 1][:, None] - scores[y == 0], 2, atol=1e-6)
    assert fitted.objective_ < 1e-12


def test_rows_beyond_one_chunk_are_summed():
    X, y = overlapping(3000, 70, seed=4)
    fitted = AUCRLS(regularization=0.01).fit(X, y)
    P, Q = X[y == 1], X[y == 0]
    delta = P.mean(axis=0) - Q.mean(axis=0)
    spread = np.cov(P.T, bias=True) + np.cov(Q.T, bias=True)
    u = np.linalg.solve(spread + 0.01 * np.eye(70), delta)
    np.testing.assert_allclose(fitted.coef_[0], 2 * u / (1 + delta @ u), rtol=1e-9)


# --- the system in one square of numbers -----------------------------------------------------


def positive_matrix(size, rank=None, seed=0):
    Z = np.random.default_rng(seed).standard_normal((size, rank or size))
    return Z @ Z.T


@pytest.mark.parametrize("size", [0, 1, 7, 29, 200])
def test_symmetric_solve_matches_numpy(size):
    A, b = positive_matrix(size), np.arange(size) - 2.0
    system = Symmetric(A.copy())
    expected = np.linalg.solve(A + 0.5 * np.eye(size), b)
    np.testing.assert_allclose(system.solve(0.5, b), expected, rtol=1e-9)
    np.testing.assert_allclose(system @ b, A @ b, atol=1e-11)


@pytest.mark.parametrize("shift", [0.0, 1e-30])
def test_singular_matrix_has_the_least_norm_solution(shift):
    A = positive_matrix(20, rank=5)
    b = A @ np.ones(20)
    solution = Symmetric(A.copy()).solve(shift, b, noise=1e-12)
    np.testing.assert_allclose(solution, np.linalg.pinv(A, rcond=1e-10) @ b, atol=1e-10)


def test_failed_factorisation_keeps_the_matrix():
    A = positive_matrix(20, rank=5)
    system = Symmetric(A.copy())
    system.solve(1e-30, A[0])
    np.testing.assert_allclose(system @ np.ones(20), A.sum(axis=1), atol=1e-12)


def test_zero_matrix_has_a_zero_solution():
    np.testing.assert_array_equal(Symmetric(np.zeros((3, 3))).solve(0.0, np.ones(3)), 0)


@pytest.mark.parametrize("key", ["auc-rls", "rls"])
@pytest.mark.parametrize("seed", [2, 5, 8])
def test_objective_is_accurate_with_outliers_and_offsets(key, seed):
    rng = np.random.default_rng(seed)
    y = rng.random(40) < 0.4
    X = 1e-3 * (rng.standard_normal((40, 3)) + np.outer(y, [1.0, 0.5, 0.0])) + 1e6
    X[rng.integers(40), 1:] = [-3e5, 1e6]
    with without_convergence_warnings():
        fitted = METHODS[key](regularization=1e-3).fit(X, y)
    # Compute the objective of the fitted weights in exact arithmetic.
    w = [Fraction(value) for value in fitted.coef_[0]]
    scores = [sum(Fraction(float(a)) * b for a, b in zip(row, w, strict=True)) for row in X]
    if key == "auc-rls":
        above, below = ([s for s, of in zip(scores, y, strict=True) if of == k] for k in (1, 0))
        losses = [(2 - (s - t)) ** 2 for s in above for t in below]
    else:
        losses = [((1 if of else -1) - s) ** 2 for s, of in zip(scores, y, strict=True)]
    exact = sum(losses) / len(losses) + Fraction(1e-3) * sum(value**2 for value in w)
    assert fitted.objective_ == pytest.approx(float(exact), rel=1e-12)
    assert fitted.dual_gap_ <= fitted.objective_
