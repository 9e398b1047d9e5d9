"""The cutting-plane solver and its QP against independent solvers and closed forms."""

import copy

import cvxopt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from aucstudio.engine.losses.pairs import PairHinge
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.solvers.cuts import Cuts, solve_simplex
from aucstudio.engine.solvers.cutting_plane import minimise

QUIET = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12}


def qp(P, q, G, h):
    """Solve min x'Px/2 + q'x, Gx <= h by an interior point."""
    parts = (cvxopt.matrix(np.asarray(part, dtype=float)) for part in (P, q, G, h))
    return np.array(cvxopt.solvers.qp(*parts, options=QUIET)["x"]).ravel()


def overlapping(rows=60, features=3, seed=0, gap=0.7):
    rng = np.random.default_rng(seed)
    positive = np.arange(rows) % 3 == 0
    return rng.normal(size=(rows, features)) + gap * positive[:, None], positive


def absolute_risk(targets):
    """Return the risk mean |u - target|: convex, with a closed form along one feature."""

    def risk(u):
        return float(np.abs(u - targets).mean()), np.sign(u - targets) / len(u)

    return risk


def pair_qp_optimum(X, positive, C):
    """Give the optimum of |w|^2/2 + C mean pair hinge from the dual over explicit pairs."""
    D = (X[positive][:, None] - X[~positive][None]).reshape(-1, X.shape[1])
    n = len(D)
    box = np.vstack([-np.eye(n), np.eye(n)])
    bounds = np.concatenate([np.zeros(n), np.full(n, C / n)])
    a = qp(D @ D.T, -np.ones(n), box, bounds)
    w = D.T @ a
    return w, w @ w / 2 + C * np.maximum(1 - D @ w, 0).mean()


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 10_000.0])
def test_pair_hinge_reaches_the_optimum_of_the_pair_qp(C):
    X, positive = overlapping(30)
    w, optimum = pair_qp_optimum(X, positive, C)
    found = minimise(X, PairHinge(positive), C, tol=1e-9, monitor=Monitor())
    assert found.converged
    assert_allclose(found.objective, optimum, rtol=1e-7)
    assert_allclose(found.weights, w, rtol=1e-3, atol=1e-4 * np.abs(w).max())


@pytest.mark.parametrize(
    ("C", "expected"), [(0.5, 0.5), (1.5, 1.0), (4.5, 1.5), (5.7, 1.9), (30.0, 2.0)]
)
def test_penalised_median_is_found_at_kinks_and_between_them(C, expected):
    # w^2/2 + C mean(|w-1|, |w-2|, |w-3|): slope w - C below 1, w - C/3 to 2, w + C/3 beyond.
    X, targets = np.ones((3, 1)), np.array([1.0, 2.0, 3.0])
    found = minimise(X, absolute_risk(targets), C, tol=1e-10, monitor=Monitor())
    assert_allclose(found.weights, [expected], atol=1e-4)
    optimum = expected**2 / 2 + C * np.abs(expected - targets).mean()
    assert_allclose(found.objective, optimum, rtol=1e-9)


@pytest.mark.parametrize("C", [1.0, 1e3, 1e5])
def test_smooth_risk_matches_a_quasi_newton_method(C):
    X, positive = overlapping(200, 8, gap=0.4)
    sign = np.where(positive, 1.0, -1.0)

    def logistic(u):
        return float(np.logaddexp(0, -sign * u).mean()), -sign / (1 + np.exp(sign * u)) / len(u)

    def whole(w):
        value, gradient = logistic(X @ w)
        return w @ w / 2 + C * value, w + C * (X.T @ gradient)

    exact = minimize(whole, np.zeros(8), jac=True, options={"gtol": 1e-9, "maxiter": 1000})
    found = minimise(X, logistic, C, tol=1e-6, monitor=Monitor())
    assert found.converged
    assert 0 <= found.objective - exact.fun + 1e-9 * exact.fun <= 1.01e-6 * exact.fun


@pytest.mark.parametrize("C", [1.0, 100.0, 1e5])
def test_every_gap_bounds_the_distance_to_the_optimum(C):
    X, positive = overlapping(150, 6)
    risk = PairHinge(positive)
    optimum = minimise(X, risk, C, tol=1e-9, monitor=Monitor()).objective
    steps = []
    found = minimise(X, risk, C, tol=1e-5, monitor=Monitor(lambda step: steps.append(step)))
    assert found.converged
    assert found.gap <= 1e-5 * found.objective
    assert [step.iteration for step in steps] == list(range(1, found.n_iter + 1))
    for step in steps:
        assert step.objective - step.gap <= optimum * (1 + 1e-12)
        assert optimum <= step.objective * (1 + 1e-9)
    objectives = [step.objective for step in steps]
    assert objectives == sorted(objectives, reverse=True)
    assert (steps[-1].objective, steps[-1].gap) == (found.objective, found.gap)


def test_converges_in_few_iterations():
    X, positive = overlapping(2000, 30, gap=0.3)
    for C, most in ((1.0, 15), (100.0, 40)):
        found = minimise(X, PairHinge(positive), C, tol=1e-4, monitor=Monitor())
        assert found.converged
        assert found.n_iter <= most


def test_stopping_keeps_the_best_point():
    X, positive = overlapping(150, 6)
    asked = []

    def callback(step):
        asked.append((step.objective, step.scorer().weights))
        return step.iteration == 2

    monitor = Monitor(callback)
    found = minimise(X, PairHinge(positive), 1e3, tol=1e-8, monitor=monitor)
    assert monitor.stopped
    assert not found.converged
    assert len(asked) == found.n_iter == 2
    assert found.objective == asked[-1][0]
    assert_array_equal(found.weights, asked[-1][1])


def test_iterations_are_limited_and_continue_the_numbering():
    X, positive = overlapping(150, 6)
    numbers = []
    found = minimise(
        X,
        PairHinge(positive),
        1e4,
        tol=1e-9,
        monitor=Monitor(lambda step: numbers.append(step.iteration)),
        max_iter=3,
        done=10,
    )
    assert (found.n_iter, found.converged, numbers) == (3, False, [11, 12, 13])


def test_tolerance_below_rounding_error_terminates():
    X, positive = overlapping(60, 4)
    found = minimise(X, PairHinge(positive), 1e3, tol=1e-300, monitor=Monitor())
    assert found.n_iter < 500
    assert found.gap <= 1e-9 * found.objective


@pytest.mark.parametrize("C", [1.0, 1e3])
def test_gap_that_cannot_close_for_rounding_ends_unconverged(C):
    # A large constant added to the risk uses up the digits that would close the gap.
    X, positive = overlapping(60, 4)
    hinge = PairHinge(positive)

    def risk(u):
        value, gradient = hinge(u)
        return value + 1e6 / 3, gradient

    found = minimise(X, risk, C, tol=1e-300, monitor=Monitor(), max_iter=1000)
    assert (found.converged, found.n_iter < 200) == (False, True)
    alone = minimise(X, hinge, C, tol=1e-9, monitor=Monitor())
    assert_allclose(found.objective - C * 1e6 / 3, alone.objective, rtol=1e-3)


def simplex_by_interior_point(G, b, C):
    n = len(b)
    limits = np.vstack([-np.eye(n), np.ones((1, n))])
    return qp(G, -b, limits, np.append(np.zeros(n), C))


def value(G, b, lam):
    return lam @ G @ lam / 2 - b @ lam


@pytest.mark.parametrize("C", [0.1, 1.0, 1000.0])
@pytest.mark.parametrize(("cuts", "features"), [(1, 2), (6, 3), (40, 10), (80, 60)])
def test_simplex_qp_matches_an_interior_point(cuts, features, C):
    rng = np.random.default_rng(cuts)
    A, b = rng.normal(size=(cuts, features)), 2 * rng.random(cuts)
    lam = solve_simplex(A @ A.T, b, C, np.zeros(cuts))
    best = value(A @ A.T, b, simplex_by_interior_point(A @ A.T, b, C))
    assert lam.min() >= 0
    assert lam.sum() <= C * (1 + 1e-14)
    assert value(A @ A.T, b, lam) <= best + 1e-8 * abs(best)


def test_warm_start_reaches_the_same_optimum():
    rng = np.random.default_rng(5)
    A, b = rng.normal(size=(40, 12)), rng.random(40)
    G = A @ A.T
    cold = solve_simplex(G, b, 10.0, np.zeros(40))
    for start in (cold, np.full(40, 10 / 40), np.full(40, 1e-3)):
        warm = solve_simplex(G, b, 10.0, start)
        assert_allclose(value(G, b, warm), value(G, b, cold), rtol=1e-9)


def test_tolerance_and_stop_save_steps():
    rng = np.random.default_rng(6)
    A, b = rng.normal(size=(60, 40)), rng.random(60)
    G = A @ A.T
    best = value(G, b, solve_simplex(G, b, 1.0, np.zeros(60)))
    asked, counts = [], []
    for tolerance in (0.0, 0.5 * abs(best)):
        asked.clear()
        lam = solve_simplex(G, b, 1.0, np.zeros(60), tolerance, lambda: bool(asked.append(None)))
        assert value(G, b, lam) <= best + tolerance + 1e-9
        counts.append(len(asked))
    assert counts[0] > counts[1] > 1
    start = np.full(60, 0.01)
    assert_allclose(solve_simplex(G, b, 1.0, start, stop=lambda: True), start, rtol=1e-14)


def test_simplex_qp_handles_zero_directions():
    assert_array_equal(solve_simplex(np.zeros((1, 1)), np.ones(1), 3.0, np.zeros(1)), [3.0])
    lam = solve_simplex(np.zeros((3, 3)), np.array([0.2, 0.5, -1.0]), 2.0, np.zeros(3))
    assert_array_equal(lam, [0.0, 2.0, 0.0])
    assert_array_equal(solve_simplex(np.eye(2), -np.ones(2), 2.0, np.zeros(2)), [0.0, 0.0])


def test_long_iteration_can_be_stopped_in_its_middle(monkeypatch):
    monkeypatch.setattr("aucstudio.engine.monitor.INTERVAL", 0.0)
    X, positive = overlapping(150, 6)
    full, calls, risks = [], [], []
    minimise(X, PairHinge(positive), 1e3, tol=1e-6, monitor=Monitor(full.append))
    assert len(full) > full[-1].iteration
    assert [step.iteration for step in full] == sorted(step.iteration for step in full)

    def callback(step):
        calls.append((step.iteration, len(risks)))
        return len(calls) == 3

    def risk(scores):
        risks.append(scores)
        return PairHinge(positive)(scores)

    found = minimise(X, risk, 1e3, tol=1e-6, monitor=Monitor(callback))
    assert not found.converged
    assert len(calls) == 3
    assert len(risks) <= calls[-1][1] + 2


def test_many_features_at_a_large_cost_converge():
    # Pure noise: without a proximal term the model's optimum oscillates for 1,000 iterations.
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(400, 100)), rng.random(400) < 0.2
    found = minimise(X, PairHinge(positive), 1e4, tol=1e-3, monitor=Monitor())
    assert found.converged
    assert found.n_iter <= 120


def test_known_cuts_speed_up_a_fit_at_another_cost():
    X, positive = overlapping(400, 10, gap=0.4)
    risk, cuts = PairHinge(positive), Cuts(10)
    known = minimise(X, risk, 1000.0, tol=1e-6, monitor=Monitor(), cuts=cuts)
    settings = {"tol": 1e-6, "monitor": Monitor()}
    for C in (1000.0, 900.0, 1100.0):
        cold = minimise(X, risk, C, **settings)
        warm = minimise(X, risk, C, start=known.weights, cuts=copy.copy(cuts), **settings)
        assert warm.n_iter < cold.n_iter
        assert warm.objective - warm.gap <= cold.objective
        assert_allclose(warm.objective, cold.objective, rtol=1e-6)


def test_start_is_used_at_any_length():
    X, positive = overlapping(400, 10, gap=0.4)
    risk = PairHinge(positive)
    best = minimise(X, risk, 10.0, tol=1e-9, monitor=Monitor())
    for length in (0.1, 1.0, 10.0):
        steps = []
        found = minimise(
            X,
            risk,
            10.0,
            tol=1e-6,
            monitor=Monitor(lambda step, steps=steps: steps.append(step.objective)),
            start=length * best.weights,
        )
        assert steps[0] <= 1.02 * best.objective
        assert_allclose(found.objective, best.objective, rtol=1e-6)
    assert_array_equal(
        minimise(X, risk, 10.0, tol=1e-6, monitor=Monitor(), start=np.zeros(10)).weights != 0, True
    )


def test_monitor_reports_the_given_objective():
    X, positive = overlapping(100, 5)
    steps_seen = []

    def record_step(step):
        steps_seen.append((step.objective, step.gap, step.scorer().weights))

    def meant(w, scores):
        assert_allclose(X @ w, scores, atol=1e-10)
        return float(w[0])

    minimise(X, PairHinge(positive), 5.0, tol=1e-6, monitor=Monitor(record_step), meant=meant)
    assert all((objective, gap) == (w[0], None) for objective, gap, w in steps_seen)


def random_cuts(count=12, features=5, seed=0):
    rng = np.random.default_rng(seed)
    slopes, offsets = rng.normal(size=(count, features)), rng.random(count)
    cuts = Cuts(features)
    for slope, offset in zip(slopes, offsets, strict=True):
        cuts.add(slope, offset)
    return cuts, slopes, offsets


@pytest.mark.parametrize("mu", [0.0, 0.5, 40.0])
def test_model_optimum_is_minimal_and_its_bound_holds(mu):
    cuts, slopes, offsets = random_cuts()
    near = np.linspace(-1, 1, 5)
    w, bound = cuts.optimum(3.0, near, mu, 0.0, lambda: False)
    target = (w + mu * near) / (1 + mu)

    def model(v):
        height = max((slopes @ v + offsets).max(), 0.0)
        return v @ v / 2 + 3.0 * height, mu * (v - near) @ (v - near) / 2

    rng = np.random.default_rng(1)
    lowest = sum(model(target))
    for scale in (1e-3, 1e-1, 1.0):
        for v in target + scale * rng.normal(size=(200, 5)):
            assert sum(model(v)) >= lowest - 1e-9
            assert model(v)[0] >= bound - 1e-9
    # The solver accounts for the amount that the proximal term takes from the bound.
    pull = mu / (1 + mu) * (w - near) @ (w - near) / 2
    assert_allclose(bound + pull, lowest, rtol=1e-8)


def test_tilted_cuts_equal_cuts_of_the_tilted_risk():
    cuts, slopes, offsets = random_cuts()
    tilt, rise = np.arange(5.0), 0.3
    cuts.tilt(tilt, rise)
    fresh = Cuts(5)
    for slope, offset in zip(slopes + tilt, offsets + rise, strict=True):
        fresh.add(slope, offset)
    one, other = (c.optimum(2.0, np.zeros(5), 0.0, 0.0, lambda: False) for c in (cuts, fresh))
    assert_allclose(one[0], other[0], atol=1e-9)
    assert_allclose(one[1], other[1], rtol=1e-9)
