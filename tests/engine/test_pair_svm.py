import contextlib

import cvxopt
import numpy as np
import pytest

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.linalg import cholesky, kernel_factor
from aucstudio.engine.losses.pairs import AllPairs, neighbour_pairs
from aucstudio.engine.methods import pair_svm
from aucstudio.engine.methods.pair_svm import AUCSVM, ROCSVM, SAUCSVM
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.solvers.pair_interior_point import solve_box_qp

POSITIVES = [(2, 1), (1, 3), (3, 2), (0, 2)]
NEGATIVES = [(0, 0), (1, 1), (2, 0), (-1, 1), (1, -1), (0, 3)]
TEN = np.array(POSITIVES + NEGATIVES, dtype=float)
TEN_POSITIVE = np.arange(10) < 4
FINE = 1e-9


def sample(kind="plain", N=22, d=3, seed=0):
    """Draw rows and labels; ``kind`` names the difficulty."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, d))
    positive = X[:, 0] + 0.8 * rng.normal(size=N) > np.quantile(X[:, 0], 0.6)
    if kind == "tied":
        X = np.round(X)
    elif kind == "duplicated":
        X[1::2] = X[::2]
    elif kind == "offset":
        X = np.round(X, 3) + 1e8
    elif kind == "ill-scaled":
        X = X * 10.0 ** np.linspace(-3, 3, d)
    elif kind == "constant feature":
        X[:, 1] = 7.0
    elif kind == "wide":
        X = np.hstack([X, rng.normal(size=(N, 40))])
    return X, positive


def pair_rows(pairs):
    return pairs.rows(np.arange(pairs.count))


def oracle(K, i, j, C):
    """Solve the dual of the mean pair hinge as a dense QP over an explicit pair Gram matrix."""
    rows = K[i] - K[j]
    Q = rows[:, i] - rows[:, j]
    P = len(i)
    box = cvxopt.matrix(np.vstack([np.eye(P), -np.eye(P)]))
    bounds = cvxopt.matrix(np.r_[np.full(P, C / P), np.zeros(P)])
    options = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}
    done = cvxopt.solvers.qp(
        cvxopt.matrix(Q), cvxopt.matrix(-1.0, (P, 1)), box, bounds, options=options
    )
    a = np.ravel(done["x"])
    return a.sum() - 0.5 * a @ Q @ a, rows.T @ a


def mean_hinge(scores, i, j):
    return np.maximum(0.0, 1.0 - scores[i] + scores[j]).mean()


# --- against golden values and an independent solver


@pytest.mark.parametrize("C", [0.05, 2.0, 300.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("k", [None, 3])
def test_optimum_equals_that_of_a_dense_quadratic_program(kernel, C, k):
    X, positive = sample()
    model = AUCSVM(C=C, kernel=kernel, gamma=0.3, n_neighbors=k, tol=FINE).fit(X, positive)
    i, j = pair_rows(AllPairs(positive) if k is None else neighbour_pairs(X, positive, k))
    optimum, scores = oracle(Kernel(kernel, 0.3)(X, X), i, j, C)
    assert model.converged_
    assert model.objective_ == pytest.approx(optimum, rel=1e-8)
    close = model.scorer_(X)
    np.testing.assert_allclose(close[i] - close[j], scores[i] - scores[j], atol=2e-4)


@pytest.mark.parametrize("C", [0.5, 50.0])
def test_cutting_planes_reach_the_optimum_of_the_exact_solver(monkeypatch, C):
    X, positive = sample(N=80, seed=3)
    exact = AUCSVM(C=C).fit(X, positive)
    monkeypatch.setattr(pair_svm, "MAX_DENSE_PAIRS", 100)
    planes = AUCSVM(C=C).fit(X + 1e7, positive)
    assert planes.converged_
    assert planes.objective_ == pytest.approx(exact.objective_, rel=1.1e-4)
    assert planes.objective_ >= exact.objective_ - exact.dual_gap_
    assert planes.dual_gap_ <= 1e-4 * planes.objective_
    i, j = planes.support_pairs_
    assert len(i) > 0
    assert (planes.train_scores_[i] - planes.train_scores_[j] < 1.0).all()
    assert planes.notes_[0].code == "cutting_planes"
    assert not exact.notes_


# --- the solver's certificate


def solve(pairs, F, c, **options):
    return solve_box_qp(
        pairs, F, c, monitor=Monitor(), scorer=lambda w, beta: pytest.fail("unasked"), **options
    )


class StopInside(Monitor):
    """A monitor that stops the work at the n-th report between blocks."""

    def __init__(self, at):
        super().__init__()
        self.looks, self._at = 0, at

    def stage(self, name, fraction=None):
        self.looks += 1
        if self.looks == self._at:
            self.stopped = True
            raise Stopped(name)


@pytest.mark.parametrize(("at", "iterations"), [(1, 0), (2, 0), (4, 1)])
def test_stop_within_a_newton_step_keeps_the_last_iterate(at, iterations):
    X, positive = sample(seed=8)
    done = solve_box_qp(
        AllPairs(positive), X, 1.0, monitor=StopInside(at), scorer=lambda w, beta: None
    )
    assert done.n_iter == iterations
    assert not done.converged
    assert np.isfinite(done.objective)
    assert done.weights.any()


def test_unreachable_tolerance_ends_unconverged():
    X, positive = sample(seed=9)
    done = solve(AllPairs(positive), X, 1.0, tol=1e-17)
    assert not done.converged
    assert done.gap <= 1e-8 * done.objective
    assert done.n_iter < 100


# --- which solver


def forbid(monkeypatch, name):
    monkeypatch.setattr(pair_svm, name, lambda *args, **settings: pytest.fail(name))


@pytest.mark.parametrize("method", [AUCSVM, SAUCSVM])
@pytest.mark.parametrize(
    ("kernel", "kind"), [("rbf", "plain"), ("poly", "plain"), ("linear", "wide")]
)
def test_neighbour_pairs_under_a_kernel_use_coordinate_descent(monkeypatch, method, kernel, kind):
    X, positive = sample(kind, N=30, seed=22)
    settings = {"kernel": kernel, "gamma": 0.1, "n_neighbors": 3, "C": 50.0}
    forbid(monkeypatch, "solve_box_qp")
    by_descent = method(**settings).fit(X, positive)
    monkeypatch.undo()
    monkeypatch.setattr(pair_svm, "PairList", type(None))  # no list is recognised any more
    forbid(monkeypatch, "solve_pair_descent")
    by_interior_point = method(**settings).fit(X, positive)
    assert by_descent.converged_
    assert by_descent.objective_ == pytest.approx(by_interior_point.objective_, rel=2e-6)
    np.testing.assert_allclose(by_descent.scorer_(X), by_interior_point.scorer_(X), atol=0.02)


@pytest.mark.parametrize("method", [AUCSVM, ROCSVM, SAUCSVM])
def test_all_pairs_with_a_high_rank_kernel_use_descent(monkeypatch, method):
    X, positive = sample(N=60, seed=23)
    settings = {"kernel": "rbf", "gamma": 2.0, "C": 20.0, "tol": 1e-8}
    by_interior_point = method(**settings).fit(X, positive)
    monkeypatch.setattr(pair_svm, "MIN_DESCENT_ROWS", 60)
    forbid(monkeypatch, "solve_box_qp")
    by_descent = method(**settings).fit(X, positive)
    assert by_descent.objective_ == pytest.approx(by_interior_point.objective_, rel=1e-7)
    np.testing.assert_allclose(by_descent.scorer_(X), by_interior_point.scorer_(X), atol=1e-3)
    i, j = by_descent.support_pairs_
    assert positive[i].all()
    assert not positive[j].any()


def test_all_pairs_with_a_low_rank_kernel_use_the_interior_point(monkeypatch):
    X, positive = sample(N=60, seed=24)
    monkeypatch.setattr(pair_svm, "MIN_DESCENT_ROWS", 60)
    forbid(monkeypatch, "solve_pair_descent")
    for settings in ({"kernel": "linear"}, {"kernel": "rbf", "gamma": 1e-4}):
        assert AUCSVM(**settings).fit(X, positive).converged_


# --- what must not matter, and what must be legal


# --- a margin of choice


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("margin", [0.01, 4.0])
def test_margin_is_redundant_with_cost(kernel, k, margin):
    X, positive = sample(N=40, seed=5)
    settings = {"kernel": kernel, "gamma": 0.3, "n_neighbors": k, "tol": FINE}
    ours = ROCSVM(C=0.7, margin=margin, **settings).fit(X, positive)
    plain = AUCSVM(C=0.7 / margin, **settings).fit(X, positive)
    np.testing.assert_allclose(ours.scorer_(X) / margin, plain.scorer_(X), atol=2e-4)
    assert ours.objective_ == pytest.approx(margin**2 * plain.objective_, rel=1e-8)


def test_margin_one_equals_auc_svm_bit_for_bit():
    X, positive = sample(N=40, seed=5)
    ours, plain = ROCSVM(kernel="rbf").fit(X, positive), AUCSVM(kernel="rbf").fit(X, positive)
    np.testing.assert_array_equal(ours.train_scores_, plain.train_scores_)
    assert ours.objective_ == plain.objective_


@pytest.mark.parametrize("margin", [0.01, 0.5])
def test_cutting_planes_use_the_margin(monkeypatch, margin):
    X, positive = sample(N=80, seed=3)
    exact = ROCSVM(C=5.0, margin=margin).fit(X, positive)
    monkeypatch.setattr(pair_svm, "MAX_DENSE_PAIRS", 100)
    planes = ROCSVM(C=5.0, margin=margin).fit(X, positive)
    assert planes.objective_ == pytest.approx(exact.objective_, rel=1.1e-4)


# --- support pairs


@pytest.mark.parametrize("k", [None, 4])
def test_support_pairs_lie_within_the_margin(k):
    X, positive = sample(N=60, seed=16)
    model = AUCSVM(n_neighbors=k, tol=1e-8).fit(X, positive)
    i, j = model.support_pairs_
    scores = model.scorer_(X)
    assert positive[i].all()
    assert not positive[j].any()
    assert (scores[i] - scores[j] <= 1 + 1e-3).all()
    used = AllPairs(positive) if k is None else neighbour_pairs(X, positive, k)
    margins = used.margins(scores).ravel()
    assert len(i) >= (margins < 1 - 1e-3).sum() > 0


def test_support_pairs_are_sorted_by_strength_and_capped(monkeypatch):
    model = AUCSVM(C=1.2, tol=FINE).fit(TEN, TEN_POSITIVE)
    i, j = model.support_pairs_
    scores = model.scorer_(TEN)
    inside = scores[i] - scores[j] < 1 - 1e-3
    assert inside[: inside.sum()].all()  # pairs at the bound come before those between
    monkeypatch.setattr(pair_svm, "MAX_SUPPORT_PAIRS", 5)
    few = AUCSVM(C=1.2, tol=FINE).fit(TEN, TEN_POSITIVE).support_pairs_
    strong = set(zip(i[inside].tolist(), j[inside].tolist(), strict=True))
    assert len(few[0]) == 5
    assert set(zip(few[0].tolist(), few[1].tolist(), strict=True)) <= strong


# --- limits


@pytest.mark.parametrize("settings", [{"kernel": "rbf"}, {"kernel": "poly"}])
def test_fit_beyond_memory_is_refused_before_any_work(settings, monkeypatch):
    monkeypatch.setattr("aucstudio.engine.cost.machine_memory", lambda: 1e9)
    X, method = np.arange(5000, dtype=float)[:, None], AUCSVM(**settings)
    needed = method.estimate(3000, 2000, 1).bytes
    with pytest.raises(InvalidSetting) as caught:
        method.fit(X, np.arange(5000) < 3000, callback=lambda step: pytest.fail("work"))
    assert caught.value.setting == "n_neighbors"
    words = f"6,000,000 pairs under a kernel would take about {needed / 1e9:.1f} GB of memory"
    assert words in str(caught.value)
    assert "this machine has 1.0 GB" in str(caught.value)
    assert "nearest negatives" in str(caught.value)


def test_memory_check_allows_four_fifths_of_the_memory(monkeypatch):
    method, size = AUCSVM(kernel="rbf"), (3100, 2000, 10)
    needed = method.estimate(*size).bytes
    for memory, fits in ((needed / 0.79, True), (needed / 0.81, False)):
        monkeypatch.setattr("aucstudio.engine.cost.machine_memory", lambda memory=memory: memory)
        with contextlib.nullcontext() if fits else pytest.raises(InvalidSetting):
            method.check_size(*size)


def test_too_many_neighbour_pairs_are_refused(monkeypatch):
    monkeypatch.setattr("aucstudio.engine.cost.machine_memory", lambda: 1e6)
    X, positive = sample()
    with pytest.raises(InvalidSetting, match=r"fewer neighbours, or the linear") as caught:
        AUCSVM(n_neighbors=10).fit(X, positive)
    assert caught.value.setting == "n_neighbors"


# --- factors


@pytest.mark.parametrize(("N", "r"), [(1, 1), (40, 40), (150, 150), (150, 7), (90, 70), (5, 0)])
def test_kernel_factor_reproduces_the_matrix(N, r):
    G = np.random.default_rng(17).normal(size=(N, r)) * 100.0
    K = G @ G.T
    factor = kernel_factor(K.copy())
    assert factor.F.shape == (N, r)
    np.testing.assert_allclose(factor.F @ factor.F.T, K, atol=1e-11 * max(1.0, K.max(initial=0)))
    square = factor.F[factor.pivots]
    np.testing.assert_array_equal(square, np.tril(square))
    assert (np.diff(square.diagonal()) <= 1e-6).all()


def test_kernel_factor_of_a_smooth_kernel_has_low_rank():
    x = np.linspace(0, 1, 200)[:, None]
    K = Kernel("rbf", 1.0)(x, x)
    factor = kernel_factor(K.copy())
    assert factor.F.shape[1] < 30
    np.testing.assert_allclose(factor.F @ factor.F.T, K, atol=3e-12)


def test_row_weights_represent_a_vector_exactly():
    G = np.random.default_rng(18).normal(size=(60, 20))
    factor = kernel_factor(G @ G.T)
    w, near = np.arange(20.0), np.ones(60)
    beta = factor.represent(w, near)
    np.testing.assert_allclose(factor.F.T @ beta, w, atol=1e-9)
    untouched = np.setdiff1d(np.arange(60), factor.pivots)
    np.testing.assert_array_equal(beta[untouched], 1.0)


def test_remainder_of_a_factor_does_not_affect_scores():
    rng = np.random.default_rng(21)
    K = Kernel("poly", 1.0)(Z := rng.normal(size=(60, 3)) * [1e-2, 1.0, 1e5], Z)
    factor = kernel_factor(K.copy())
    assert factor.remainder > 1.0
    w = rng.normal(size=factor.F.shape[1])
    beta = factor.represent(w, np.ones(60))
    np.testing.assert_array_equal(np.setdiff1d(np.flatnonzero(beta), factor.pivots), [])
    np.testing.assert_allclose(beta @ K @ beta, w @ w, rtol=1e-6)


@pytest.mark.parametrize("r", [0, 1, 31, 100])
def test_cholesky_solves_and_whitens(r):
    G = np.random.default_rng(19).normal(size=(r, r + 3))
    S, b = G @ G.T + np.eye(r), np.arange(r, dtype=float)
    L = cholesky(S.copy())
    np.testing.assert_allclose(S @ L.substitute(b), b, atol=1e-9 * (1 + r))
    T = L.whitener()
    np.testing.assert_array_equal(T, np.triu(T))
    np.testing.assert_allclose(T.T @ S @ T, np.eye(r), atol=1e-9)
    np.testing.assert_allclose(L @ b, S @ b, atol=1e-9 * (1 + r))


def test_cholesky_handles_a_pivot_lost_to_rounding():
    v = np.arange(1.0, 51.0)
    S = np.outer(v, v)
    L = cholesky(S.copy()).factor
    np.testing.assert_allclose(L @ L.T, S, atol=1e-9 * S.max())
    with pytest.raises(np.linalg.LinAlgError):
        cholesky(np.array([[-np.inf]]))
    for hole in ((3, 3), (3, 7)):
        broken = S.copy()
        broken[hole] = broken[hole[::-1]] = np.nan
        with pytest.raises(np.linalg.LinAlgError):
            cholesky(broken)


# --- the frame
