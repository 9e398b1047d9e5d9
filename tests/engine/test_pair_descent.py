"""Coordinate descent on pairs against dense quadratic programs, with progress and stopping."""

import numpy as np
import pytest

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.linalg import gram, kernel_factor
from aucstudio.engine.losses.pairs import AllPairs, PairList, neighbour_pairs
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.solvers import pair_descent
from aucstudio.engine.solvers.pair_descent import solve_pair_descent
from aucstudio.engine.solvers.pair_interior_point import solve_box_qp
from tests.engine.test_pair_svm import oracle, pair_rows, sample

KINDS = ["plain", "tied", "duplicated", "constant feature", "offset", "wide"]


def problem(kind="plain", N=30, k=4, seed=0, kernel="rbf", gamma=0.3):
    """Return neighbour pairs over the rows they use, and the kernel matrix of these rows."""
    X, positive = sample(kind, N=N, seed=seed)
    rows, pairs = neighbour_pairs(X, positive, k).compact()
    Z = (X - X.mean(axis=0))[rows]
    return pairs, Kernel(kernel, gamma)(Z, Z)


def solve(pairs, K, C, monitor=None, scorer=None, **options):
    return solve_pair_descent(
        pairs,
        K.copy(),
        C / pairs.count,
        monitor=monitor or Monitor(),
        scorer=scorer or (lambda beta: pytest.fail("unasked")),
        **options,
    )


def primal(pairs, K, C, beta, margin=1.0):
    scores = K @ beta
    loss = np.maximum(0.0, margin - pairs.margins(scores)).mean()
    return 0.5 * beta @ scores + C * loss


# --- the optimum


@pytest.mark.parametrize("C", [0.05, 20.0, 1e4])
@pytest.mark.parametrize("kind", KINDS)
def test_descent_matches_a_dense_program_and_the_interior_point(kind, C):
    pairs, K = problem(kind)
    done = solve(pairs, K, C, tol=1e-8)
    optimum, scores = oracle(K, *pair_rows(pairs), C)
    assert done.converged
    assert done.objective == pytest.approx(optimum, rel=1e-6)
    np.testing.assert_allclose(
        pairs.margins(K @ done.coefficients), pairs.margins(scores), atol=1e-3
    )
    settings = {"tol": 1e-8, "monitor": Monitor(), "scorer": lambda w, beta: None}
    other = solve_box_qp(pairs, kernel_factor(K).F, C / pairs.count, **settings)
    assert done.objective == pytest.approx(other.objective, rel=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_low_rank_kernels_converge(kernel):
    pairs, K = problem(kernel=kernel)
    done = solve(pairs, K, 5.0, tol=1e-8)
    assert done.converged
    assert done.objective == pytest.approx(oracle(K, *pair_rows(pairs), 5.0)[0], rel=1e-7)


@pytest.mark.parametrize("margin", [0.01, 1.0, 4.0])
def test_solution_meets_karush_kuhn_tucker_conditions(margin):
    pairs, K = problem(N=60, seed=4)
    C = 40.0 * margin
    done = solve(pairs, K, C, margin=margin, tol=1e-10)
    M = pairs.margins(K @ done.coefficients) / margin
    a = done.multipliers * pairs.count / C
    assert done.converged
    assert (a >= 0.0).all()
    assert (a <= 1.0 + 1e-12).all()
    assert (M[a == 0.0] >= 1.0 - 1e-4).all()
    assert (M[a > 1.0 - 1e-9] <= 1.0 + 1e-4).all()
    between = (a > 1e-6) & (a < 1.0 - 1e-6)
    np.testing.assert_allclose(M[between], 1.0, atol=1e-4)
    assert between.any()
    np.testing.assert_array_equal(pairs.adjoint(done.multipliers), done.coefficients)
    assert done.objective == pytest.approx(primal(pairs, K, C, done.coefficients, margin), rel=1e-9)
    dual = margin * done.multipliers.sum() - 0.5 * done.coefficients @ K @ done.coefficients
    assert done.gap == pytest.approx(done.objective - dual, abs=1e-9 * done.objective)


def test_pairs_of_identical_rows_reach_the_bound():
    X, positive = sample(N=20, seed=2)
    i, j = np.flatnonzero(positive)[:5], np.flatnonzero(~positive)[:5]
    X[j] = X[i]
    done = solve(PairList(i, j, 20), Kernel("rbf", 0.5)(X, X), 2.0)
    assert done.converged
    np.testing.assert_array_equal(done.multipliers, 2.0 / 5)
    assert done.objective == pytest.approx(2.0, rel=1e-12)


def test_zero_kernel_has_the_full_loss():
    pairs, K = problem()
    done = solve(pairs, np.zeros_like(K), 2.0)
    assert done.converged
    assert done.objective == pytest.approx(2.0, rel=1e-12)


def test_all_pairs_and_their_list_have_the_same_solution():
    X, positive = sample(N=40, seed=3)
    everything, K = AllPairs(positive), Kernel("rbf", 0.3)(X, X)
    listed = PairList(*pair_rows(everything), len(X))
    one, two = solve(everything, K, 9.0), solve(listed, K, 9.0)
    assert one.multipliers.shape == everything.shape
    np.testing.assert_allclose(one.multipliers.ravel(), two.multipliers, atol=1e-12)
    assert one.objective == pytest.approx(two.objective, rel=1e-12)


# --- the certificate, and stopping


class RecordingMonitor(Monitor):
    """A monitor that records steps and stops at the n-th one."""

    def __init__(self, stop_at=None):
        super().__init__()
        self.steps, self._stop_at = [], stop_at

    def step(self, iteration, objective, *, gap=None, total=None, scorer=None):
        self.steps.append((iteration, objective, gap, scorer()))
        self.stopped = iteration == self._stop_at
        return self.stopped


@pytest.mark.parametrize("slice_size", [50.0, 1e3, 3e7])
def test_gap_is_valid_at_every_reported_step(monkeypatch, slice_size):
    monkeypatch.setattr(pair_descent, "WORK_PER_SLICE", slice_size)
    pairs, K = problem(N=60, seed=6)
    monitor, C = RecordingMonitor(), 300.0
    done = solve(pairs, K, C, monitor=monitor, scorer=lambda beta: beta)
    optimum, _ = oracle(K, *pair_rows(pairs), C)
    iterations, objectives, gaps, betas = zip(*monitor.steps, strict=True)
    assert iterations == tuple(range(1, done.n_iter + 1))
    assert (np.diff(objectives) <= 0.0).all()
    assert (np.diff(gaps) <= 0.0).all()
    for objective, gap, beta in zip(objectives, gaps, betas, strict=True):
        assert objective == pytest.approx(primal(pairs, K, C, beta), rel=1e-10)
        assert optimum * (1.0 - 1e-9) <= objective <= optimum + gap + 1e-9 * optimum
    assert done.converged
    assert gaps[-1] <= 1e-6 * objectives[-1]


@pytest.mark.parametrize("at", [1, 3])
def test_stop_keeps_the_current_scorer(monkeypatch, at):
    monkeypatch.setattr(pair_descent, "WORK_PER_SLICE", 300.0)
    pairs, K = problem(N=60, seed=7)
    monitor = RecordingMonitor(at)
    done = solve(pairs, K, 100.0, monitor=monitor, scorer=lambda beta: beta)
    assert (done.n_iter, done.converged) == (at, False)
    np.testing.assert_array_equal(done.coefficients, monitor.steps[-1][3])
    assert done.coefficients.any()
    assert np.isfinite(done.objective)


class StopInside(Monitor):
    """A monitor that stops the work at the n-th report of a stage."""

    def __init__(self, stage, at=1):
        super().__init__()
        self._stage, self._left, self.iterations = stage, at, []

    def step(self, iteration, objective, *, gap=None, total=None, scorer=None):
        self.iterations.append(iteration)
        return False

    def stage(self, name, fraction=None):
        self._left -= name == self._stage
        if not self._left:
            self.stopped = True
            raise Stopped(name)


def test_stop_during_scoring_keeps_the_last_measured_iterate():
    pairs, K = problem(N=60, seed=8)
    monitor = StopInside("scores", at=2)
    done = solve(pairs, K, 1e4, monitor=monitor)
    assert not done.converged
    assert (monitor.iterations, done.n_iter) == ([1], 2)
    assert done.objective == pytest.approx(primal(pairs, K, 1e4, done.coefficients), rel=1e-10)


def test_tracked_scores_do_not_drift():
    pairs, K = problem(N=60, seed=9)
    descent = pair_descent.Descent(pairs, K, 5.0, 1.0, 1e-6, lambda: None)
    for _ in range(40):
        descent.advance()
    tracked = descent.measure(None)
    assert not descent.is_fresh
    afresh = descent.measure(lambda: None)
    assert descent.is_fresh
    assert tracked.objective == pytest.approx(afresh.objective, rel=1e-12)


# --- fallback to the interior point


def test_interior_point_takes_over_and_continues_the_numbering():
    pairs, K = problem(N=60, seed=10)
    monitor = RecordingMonitor()
    done = solve(pairs, K, 1e4, monitor=monitor, scorer=lambda beta: beta, limit=0.0)
    optimum, scores = oracle(K, *pair_rows(pairs), 1e4)
    iterations, objectives, gaps, betas = zip(*monitor.steps, strict=True)
    assert done.converged
    assert done.objective == pytest.approx(optimum, rel=1e-6)
    assert iterations == tuple(range(1, done.n_iter + 1))
    assert len(iterations) > 5
    assert (np.diff(objectives) <= 0.0).all()
    assert (np.diff(gaps) <= 0.0).all()
    for objective, beta in zip(objectives, betas, strict=True):
        assert objective == pytest.approx(primal(pairs, K, 1e4, beta), rel=1e-6)
    found = pairs.margins(K @ done.coefficients)
    np.testing.assert_allclose(found, pairs.margins(scores), atol=5e-3)


@pytest.mark.parametrize("stage", ["factorising", "Newton step"])
def test_stop_after_descent_keeps_its_result(stage):
    pairs, K = problem(N=200, seed=11)
    alone = solve(pairs, K, 1e4, monitor=RecordingMonitor(1), scorer=lambda beta: beta, limit=0.0)
    done = solve(pairs, K, 1e4, monitor=StopInside(stage), limit=0.0)
    assert not done.converged
    assert done.objective == alone.objective
    np.testing.assert_array_equal(done.coefficients, alone.coefficients)


def test_ill_conditioned_kernels_converge(monkeypatch):
    X, positive = sample("ill-scaled", N=60, seed=12)
    rows, pairs = neighbour_pairs(X, positive, 4).compact()
    K = Kernel("poly", 0.01)(X[rows], X[rows])
    monitor, looks = RecordingMonitor(), []

    def factor(K):
        looks.append(len(monitor.steps))
        return kernel_factor(K)

    monkeypatch.setattr(pair_descent, "kernel_factor", factor)
    done = solve(pairs, K, 10.0, monitor=monitor, scorer=lambda beta: None, limit=1e6)
    assert done.converged
    _, objective, gap, _ = monitor.steps[looks[0] - 1]
    assert gap > 0.1 * objective
    assert done.objective < 0.9 * objective


# --- the kernel matrix of a factor


@pytest.mark.slow
@pytest.mark.parametrize(("N", "r"), [(1, 1), (40, 7), (700, 30), (3000, 5), (5, 0), (0, 3)])
def test_gram_matrix_matches_numpy(N, r):
    rng = np.random.default_rng(13)
    F, weights, paused = rng.normal(size=(N, r)), rng.random(N), []
    np.testing.assert_allclose(gram(F, pause=lambda: paused.append(1)), F.T @ F, atol=1e-11)
    np.testing.assert_allclose(gram(F.T), F @ F.T, atol=1e-12)
    np.testing.assert_allclose(gram(F, weights), F.T @ (weights[:, None] * F), atol=1e-11)
    assert len(paused) == -(-N // max(1024, 50_000 // max(1, r)))
