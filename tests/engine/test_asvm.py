"""The ASVM-style SVM against a general QP solver, its optimality conditions and an ordinary SVM."""

from __future__ import annotations

import math

import cvxopt
import numpy as np
import pytest
from sklearn.svm import SVC

from aucstudio.engine import InvalidSetting
from aucstudio.engine.methods.asvm import ASVM
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.roc import auc
from aucstudio.engine.scorers import LinearScorer
from aucstudio.engine.solvers.two_margins import Costs, solve_two_margins

QP = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}


def clouds(m, n, shift, seed=0, d=3):
    rng = np.random.default_rng(seed)
    y = np.r_[np.ones(m, int), np.zeros(n, int)]
    order = rng.permutation(m + n)
    return (rng.standard_normal((m + n, d)) + shift * y[:, None])[order], y[order]


CASES = {
    "overlapping": (clouds(17, 23, 0.5), {"C": 1.0, "mu": 0.1, "nu": 0.5, "class_ratio": 1.0}),
    "much reward": (clouds(17, 23, 0.5), {"C": 1.0, "mu": 8.0, "nu": 0.7, "class_ratio": 10.0}),
    "separable": (clouds(12, 15, 6.0), {"C": 5.0, "mu": 1.0, "nu": 0.3, "class_ratio": 1.0}),
    "no signal": (clouds(20, 20, 0.0, 3), {"C": 0.5, "mu": 0.5, "nu": 0.9, "class_ratio": 1}),
    "few positives": (clouds(3, 40, 2.0), {"C": 2.0, "mu": 1.0, "nu": 0.5, "class_ratio": 1.0}),
    "mu near its bound": (clouds(9, 8, 1.0), {"C": 1.0, "mu": 7.9, "nu": 0.5, "class_ratio": 1.0}),
}
every_case = pytest.mark.parametrize(("data", "settings"), CASES.values(), ids=CASES)


def constants(y, settings):
    C, mu = settings["C"], settings["mu"]
    return C, mu / (settings["nu"] * y.sum()), C * settings["class_ratio"], mu


def general_qp(P, q, G, h, A=None, b=None):
    matrices = [cvxopt.matrix(np.asarray(M, float)) for M in (P, q, G, h)]
    if A is not None:
        matrices += [cvxopt.matrix(np.asarray(A, float)), cvxopt.matrix(b)]
    found = cvxopt.solvers.qp(*matrices, options=QP)
    return np.ravel(found["x"]), found["primal objective"]


def primal(X, y, settings, *, bounded=True):
    """Solve the published primal with all its slacks; return w, b, rho and the objective."""
    C1, C2, C3, mu = constants(y, settings)
    Xp, Z = X[y == 1], X[y == 0]
    (m, d), n = Xp.shape, len(Z)
    slacks, zeros = np.eye(2 * m + n), np.zeros((2 * m + n, d + 2))
    rows = np.block(
        [
            [Xp, np.ones((m, 1)), np.zeros((m, 1))],
            [Xp, np.ones((m, 1)), -np.ones((m, 1))],
            [-Z, -np.ones((n, 1)), np.zeros((n, 1))],
        ]
    )
    G = -np.block([[rows, slacks], [zeros, slacks]])
    h = -np.r_[np.ones(m), np.zeros(m), np.ones(n), np.zeros(2 * m + n)]
    if bounded:
        G, h = np.vstack([G, np.zeros(G.shape[1])]), np.r_[h, -1.0]
        G[-1, d + 1] = -1.0
    P = np.zeros((G.shape[1], G.shape[1]))
    P[:d, :d] = np.eye(d)
    costs = np.repeat([C1, C2, C3], [m, m, n])
    x, value = general_qp(P, np.r_[np.zeros(d + 1), -mu, costs], G, h)
    return x[:d], x[d], x[d + 1], value


@every_case
def test_optimum_equals_that_of_the_published_primal(data, settings):
    X, y = data
    fitted = ASVM(tol=1e-9, **settings).fit(X, y)
    w, _, rho, value = primal(X, y, settings)
    scale = abs(value) + settings["mu"] * rho
    assert fitted.converged_
    assert fitted.objective_ == pytest.approx(value, abs=1e-7 * scale)
    assert 0 <= fitted.dual_gap_ <= 2e-9 * (abs(fitted.objective_) + 2 * settings["mu"] * rho)
    np.testing.assert_allclose(fitted.coef_[0], w, atol=1e-5 * max(1, np.abs(w).max()))


def solved(X, y, settings, tol=1e-10):
    return solve_two_margins(
        X,
        y == 1,
        Costs(*constants(y, settings)),
        tol=tol,
        monitor=Monitor(),
        scorer=lambda w, beta: LinearScorer(w),
    )


@every_case
def test_solution_meets_the_optimality_conditions(data, settings):
    X, y = data
    found = solved(X, y, settings)
    C1, C2, C3, _ = constants(y, settings)
    beta, f = found.coefficients, X @ found.weights + found.b
    np.testing.assert_allclose(X.T @ beta, found.weights, atol=1e-6)
    assert beta.sum() == pytest.approx(0, abs=1e-9 * np.abs(beta).sum())
    s, a, t, c = f[y == 1], beta[y == 1], f[y == 0], -beta[y == 0]
    clear, near = 1e-4, 1e-3 * max(C1, C2, C3)
    np.testing.assert_allclose(a[s > found.rho + clear], 0, atol=near)
    np.testing.assert_allclose(a[s < 1 - clear], C1 + C2, atol=near)
    np.testing.assert_allclose(a[(s > 1 + clear) & (s < found.rho - clear)], C2, atol=near)
    np.testing.assert_allclose(c[t < -1 - clear], 0, atol=near)
    np.testing.assert_allclose(c[t > -1 + clear], C3, atol=near)


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_nu_bounds_the_share_of_positives_outside_the_core(nu):
    X, y = clouds(30, 25, 3.0)
    found = solved(X, y, {"C": 10.0, "mu": 2.0, "nu": nu, "class_ratio": 1.0})
    s = (X @ found.weights + found.b)[y == 1]
    assert found.rho > 1.1
    assert np.mean(s < found.rho - 1e-6) <= nu
    assert np.mean(s < found.rho + 1e-6) >= nu


def test_core_margin_is_bounded_below_by_1():
    (X, y), settings = CASES["much reward"]
    *_, rho, _ = primal(X, y, settings, bounded=False)
    fitted = ASVM(**settings).fit(X, y)
    assert rho < 0
    assert fitted.core_margin_ == 1.0
    assert any(note.code == "core_margin_at_bound" for note in fitted.notes_)


@pytest.mark.parametrize("shift", [0.5, 5.0])
def test_asvm_without_reward_equals_an_ordinary_svm(shift):
    X, y = clouds(15, 20, shift)
    fitted = ASVM(C=2.0, mu=1e-9, tol=1e-9).fit(X, y)
    reference = SVC(C=2.0, kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, reference.coef_, atol=1e-4)


def test_tiny_cost_yields_the_difference_of_class_sums():
    X, y = clouds(15, 15, 0.5)
    fitted = ASVM(C=1e-6, mu=1e-9).fit(X, y)
    expected = 1e-6 * (X[y == 1].sum(axis=0) - X[y == 0].sum(axis=0))
    np.testing.assert_allclose(fitted.coef_[0], expected, rtol=0.02)
    assert fitted.converged_


# --- settings and notes ----------------------------------------------------------------------


def test_reward_without_an_optimum_is_refused():
    X, y = clouds(9, 8, 1.0)
    for mu in (8.0, 20.0):
        with pytest.raises(InvalidSetting, match=r"mu must be less than .* = 8") as refused:
            ASVM(C=0.5, class_ratio=2.0, mu=mu).fit(X, y)
        assert refused.value.setting == "mu"
    assert ASVM(C=0.5, class_ratio=2.0, mu=7.99).fit(X, y).converged_


@pytest.mark.parametrize("fpr", [0.0, 0.1, 0.25, 0.5, 1.0])
def test_threshold_yields_the_requested_false_positive_rate(fpr):
    X, y = clouds(25, 20, 1.0)
    fitted = ASVM(fpr=fpr).fit(X, y)
    assert fitted.predict(X)[y == 0].sum() == math.floor(20 * fpr)
    # Rows predicted one at a time sum in another order and get the same classes.
    assert [fitted.predict(row[None, :])[0] for row in X] == list(fitted.predict(X))


def test_note_suggests_a_class_ratio_when_equal_scores_are_optimal():
    X, y = clouds(4, 60, 0.1)
    fitted = ASVM(C=1.0, class_ratio=10.0).fit(X, y)
    w, *_ = primal(X, y, {"C": 1.0, "class_ratio": 10.0, "mu": 0.1, "nu": 0.5})
    np.testing.assert_allclose(w, 0, atol=1e-8)
    assert "class ratio of about 0.07 " in str(fitted.notes_[0])
    assert auc(y, fitted.decision_function(X)) > 0
    better = ASVM(C=1.0, class_ratio=0.07).fit(X, y)
    assert not any(note.code == "no_direction_for_costs" for note in better.notes_)


# --- watching ----------------------------------------------------------------------------------


# --- degenerate but legal data -----------------------------------------------------------------
