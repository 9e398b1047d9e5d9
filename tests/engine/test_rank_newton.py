"""The squared pair hinge and its Newton solver against explicit pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize

from aucstudio.engine.features.spaces import Expansion, Vectors
from aucstudio.engine.linalg import kernel_factor
from aucstudio.engine.losses.hinges import SquaredHinge
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.scorers import LinearScorer
from aucstudio.engine.solvers import rank_newton

CYCLE = np.array(
    [[-1.717, -0.646], [-0.974, 1.562], [1.896, 5.520], [-0.946, -1.264], [-0.119, -0.076]]
)
CYCLE_C = 88.47


def cloud(m, n, d, seed=0):
    """Return two overlapping clouds in random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(m + n) < m)
    return rng.standard_normal((m + n, d)) + 0.7 * y[:, None], y


def tables():
    X, y = cloud(14, 22, 3)
    rounded = np.round(X)
    constant = X.copy()
    constant[:, 1] = 0.1
    return {
        "random": (X, y),
        "mostly positive": (X, ~y),
        "tied": (rounded, y),
        "duplicated": (np.tile(X, (2, 1)), np.tile(y, 2)),
        "one positive": (X, np.arange(36) == 7),
        "one negative": (X, np.arange(36) != 7),
        "constant feature": (constant, y),
        "more features than rows": cloud(5, 6, 30),
        "many features": cloud(20, 25, 300),
        "far away": (X + 1e8, y),
    }


every_table = pytest.mark.parametrize("name", list(tables()))


def differences(X, y):
    return (X[y][:, None] - X[~y][None]).reshape(-1, X.shape[1])


def slacks(u, y):
    return np.maximum(0.0, 1.0 - np.subtract.outer(u[y], u[~y]))


def centred(X):
    return X - X.mean(axis=0)


def optimum(X, y, C):
    """Minimise by L-BFGS on difference vectors."""
    D = differences(X, y)

    def objective(w):
        slack = np.maximum(0.0, 1.0 - D @ w)
        return w @ w / 2 + C * np.mean(slack**2), w - 2 * C / len(D) * (D.T @ slack)

    start = np.zeros(X.shape[1])
    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-11, "maxcor": 30}
    return minimize(objective, start, jac=True, method="L-BFGS-B", options=options)


def solve(X, y, C, design=Vectors, tol=1e-12, callback=None, **more):
    return rank_newton.minimise(design(X), y, C, tol=tol, monitor=Monitor(callback), **more)


# --- the loss --------------------------------------------------------------------------------


@pytest.mark.parametrize("positives", [1, 9, 20, 39])
@pytest.mark.parametrize("digits", [0, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_loss_gradient_and_hessian_match_explicit_pairs(positives, digits, weighted):
    rng = np.random.default_rng(positives)
    y = rng.permutation(np.arange(40) < positives)
    u = np.round(rng.standard_normal(40), digits)
    weights = rng.exponential(1.0, 40) if weighted else np.ones(40)
    hinge = SquaredHinge(y, weights)
    point, slack = hinge.at(u), slacks(u, y)
    shares = np.outer(weights[y], weights[~y])
    shares /= shares.sum()
    assert point.value == pytest.approx((shares * slack**2).sum(), abs=1e-13)
    assert point.active == pytest.approx(shares[slack > 0].sum())
    gradient, steep = np.zeros(40), 2 * shares * slack
    gradient[y], gradient[~y] = -steep.sum(axis=1), steep.sum(axis=0)
    assert_allclose(point.gradient, gradient, atol=1e-13)
    value, same = hinge(u)
    assert value == point.value
    assert_array_equal(same, point.gradient)

    active = slack.ravel() > 0
    A = differences(np.eye(40), y)[active]
    H = 2 * A.T @ (shares.ravel()[active, None] * A)
    v, X = rng.standard_normal(40), rng.standard_normal((40, 4))
    assert_allclose(point.product(v), H @ v, atol=1e-12)
    assert_allclose(point.gram(X, lambda: None), X.T @ H @ X, atol=1e-12)
    single = point.gram(X.astype(np.float32), lambda: None)
    assert_allclose(single, X.T @ H @ X, atol=1e-4)


def test_pair_at_the_margin_is_not_active():
    point = SquaredHinge(np.array([True, False])).at(np.array([1.5, 0.5]))
    assert (point.value, point.active) == (0.0, 0.0)
    assert_array_equal(point.product(np.ones(2)), [0.0, 0.0])


def test_constant_added_to_all_scores_keeps_accuracy():
    X, y = cloud(30, 50, 1)
    near, far = SquaredHinge(y).at(X[:, 0]), SquaredHinge(y).at(X[:, 0] + 2.0**20)
    assert far.value == pytest.approx(near.value, rel=1e-9)


# --- the optimum -----------------------------------------------------------------------------


@every_table
@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_optimum_equals_that_of_explicit_pairs(name, C):
    X, y = tables()[name]
    X = centred(X) if name == "far away" else X
    reference, found = optimum(X, y, C), solve(X, y, C)
    assert found.converged
    assert found.objective <= reference.fun * (1 + 1e-12)
    assert found.objective == pytest.approx(reference.fun, rel=1e-6)
    size = np.linalg.norm(reference.x)
    assert_allclose(found.weights, reference.x, atol=2e-3 * size)
    slack = np.maximum(0.0, 1.0 - differences(X, y) @ found.weights)
    P = found.weights @ found.weights / 2 + C * np.mean(slack**2)
    assert found.objective == pytest.approx(P, rel=1e-10)


def expansion(K):
    return Expansion(K, LinearScorer)


def full_steps(D, C, count):
    """Return the iterates of Newton's method without a line search on difference vectors."""
    w, visited = np.zeros(D.shape[1]), []
    for _ in range(count):
        active = D[D @ w < 1]
        w = np.linalg.solve(np.eye(2) / (2 * C) + active.T @ active, active.sum(axis=0))
        visited.append(w)
    return np.array(visited)


def test_line_search_converges_where_full_steps_cycle():
    visited = full_steps(CYCLE, CYCLE_C, 60)
    for corner in ([-2.616, 1.082], [-4.650, -2.970]):
        assert np.abs(visited[-20:] - corner).max(axis=1).min() < 2e-3
    assert np.ptp(visited[-20:], axis=0).min() > 1.0

    X, y = np.vstack([CYCLE, np.zeros(2)]), np.arange(6) < 5
    for design in (Vectors, lambda X: expansion(X @ X.T)):
        found = solve(X, y, 5 * CYCLE_C, design)
        assert found.objective == pytest.approx(38.83394348, abs=1e-7)
        assert found.n_iter <= 10
    assert_allclose(solve(X, y, 5 * CYCLE_C).weights, [-6.27610821, 2.33535890], atol=1e-6)


def test_large_samples_converge_from_a_subsample():
    X, y = cloud(1_500, 4_000, 4)
    found = solve(X, y, 100.0, tol=1e-9)
    value, gradient = SquaredHinge(y)(X @ found.weights)
    slope = found.weights + 100.0 * X.T @ gradient
    assert found.converged
    assert slope @ slope / 2 <= 2e-9 * found.objective
    assert found.objective == pytest.approx(found.weights @ found.weights / 2 + 100.0 * value)


# --- other kinds of rows ---------------------------------------------------------------------


@every_table
def test_row_weights_and_feature_weights_have_the_same_optimum(name):
    X, y = tables()[name]
    X = centred(X)
    in_rows = solve(X @ X.T, y, 20.0, expansion)
    in_features = solve(X, y, 20.0)
    assert in_rows.objective == pytest.approx(in_features.objective, rel=1e-9)
    assert_allclose(X.T @ in_rows.weights, in_features.weights, atol=1e-4)


def test_kernel_and_its_factor_have_the_same_optimum():
    X, y = cloud(30, 40, 2)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    F = kernel_factor(K.copy()).F
    in_rows, in_factor = solve(K, y, 1e3, expansion), solve(F, y, 1e3)
    assert in_rows.objective == pytest.approx(in_factor.objective, rel=1e-9)
    assert_allclose(K @ in_rows.weights, F @ in_factor.weights, atol=1e-4)


@pytest.mark.parametrize("features", [5, 300])
def test_sparse_and_single_precision_rows_reach_the_optimum(features):
    X, y = cloud(40, 60, features)
    X[np.abs(X) < 1.0] = 0.0
    full = solve(X, y, 10.0)
    thin = solve(sparse.csr_array(X), y, 10.0)
    assert thin.objective == pytest.approx(full.objective, rel=1e-9)
    assert_allclose(thin.weights, full.weights, atol=1e-5)
    short = solve(X.astype(np.float32), y, 10.0, tol=1e-5)
    assert short.converged
    assert short.objective == pytest.approx(full.objective, rel=2e-5)


# --- starts and stops ------------------------------------------------------------------------


def test_warm_start_converges_in_one_iteration():
    X, y = cloud(50, 80, 4)
    cold = solve(X, y, 10.0)
    warm = solve(X, y, 10.0, start=cold.weights)
    assert warm.n_iter == 1
    assert warm.objective == pytest.approx(cold.objective, rel=1e-12)


def test_stop_keeps_the_current_point():
    X, y = cloud(50, 80, 4)
    seen = []

    def stop(step):
        seen.append((step.objective, step.scorer().weights))
        return True

    found = solve(X, y, 1e3, callback=stop)
    assert len(seen) == found.n_iter == 1
    assert found.objective == seen[0][0]
    assert_array_equal(found.weights, seen[0][1])


@pytest.mark.parametrize("features", [4, 300])
def test_stop_before_the_first_step_returns_the_mean_difference(features, monkeypatch):
    monkeypatch.setattr("aucstudio.engine.monitor.INTERVAL", 0.0)
    X, y = cloud(50, 80, features)
    found = solve(X, y, 2.0, callback=lambda step: True)
    delta = X[y].mean(axis=0) - X[~y].mean(axis=0)
    assert not found.converged
    assert_allclose(found.weights, 4.0 * delta, atol=1e-9)
    assert found.objective - solve(X, y, 2.0).objective <= found.gap


def test_iteration_limit_is_respected():
    X, y = cloud(50, 80, 4)
    assert not (found := solve(X, y, 1e3, max_iter=2)).converged
    assert found.n_iter == 2
