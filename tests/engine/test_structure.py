"""SAUC-SVM against AUC-SVM, Fisher's direction and the corrected formulas of the paper."""

from __future__ import annotations

import numpy as np
import pytest

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.losses.pairs import AllPairs, neighbour_pairs
from aucstudio.engine.methods import pair_svm
from aucstudio.engine.methods.pair_svm import AUCSVM, SAUCSVM
from aucstudio.engine.params import InvalidSetting
from tests.engine.test_pair_svm import FINE, mean_hinge, oracle, pair_rows, sample


def used_pairs(X, positive, k=None):
    return pair_rows(AllPairs(positive) if k is None else neighbour_pairs(X, positive, k))


def centring(positive):
    """The paper's R (eq. 15): Sigma = S R S' for the matrix S of all rows."""
    R = np.zeros((len(positive), len(positive)))
    for rows in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        R[np.ix_(rows, rows)] = (np.eye(len(rows)) - 1 / len(rows)) / len(rows)
    return R


def with_structure(K, positive, weight):
    """The kernel of eq. 19, with the pseudo-inverse of a matrix that has no inverse."""
    R = centring(positive)
    inner = np.linalg.pinv(R + weight * R @ K @ R, rcond=1e-10, hermitian=True)
    return K - weight * K @ R @ inner @ R @ K


def difference_covariance(X, positive):
    """Return Sigma from all difference vectors."""
    Z = (X[positive][:, None, :] - X[~positive][None, :, :]).reshape(-1, X.shape[1])
    return np.cov(Z.T, bias=True).reshape(X.shape[1], X.shape[1])


# --- against golden values and independent solutions -----------------------------------------


@pytest.mark.parametrize("weight", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("k", [None, 3])
def test_optimum_equals_that_of_a_dense_quadratic_program(kernel, weight, k):
    X, positive = sample()
    settings = {"kernel": kernel, "gamma": 0.3, "n_neighbors": k, "tol": FINE}
    model = SAUCSVM(C=20.0, structure=weight, **settings).fit(X, positive)
    K = with_structure(Kernel(kernel, 0.3)(X, X), positive, weight)
    i, j = used_pairs(X, positive, k)
    optimum, scores = oracle(K, i, j, 20.0)
    assert model.converged_
    assert model.objective_ == pytest.approx(optimum, rel=1e-7)
    close = model.scorer_(X)
    scale = np.ptp(scores)
    np.testing.assert_allclose(
        close[i] - close[j], scores[i] - scores[j], atol=2e-4 * max(1.0, scale)
    )


# --- zero and large structure ----------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("k", [None, 3])
def test_zero_structure_equals_auc_svm_bit_for_bit(kernel, k):
    X, positive = sample(N=40)
    settings = {"kernel": kernel, "n_neighbors": k}
    ours = SAUCSVM(structure=0.0, **settings).fit(X, positive)
    plain = AUCSVM(**settings).fit(X, positive)
    np.testing.assert_array_equal(ours.train_scores_, plain.train_scores_)
    np.testing.assert_array_equal(ours.support_pairs_, plain.support_pairs_)
    assert (ours.objective_, ours.dual_gap_, ours.n_iter_) == (
        plain.objective_,
        plain.dual_gap_,
        plain.n_iter_,
    )


def test_large_structure_yields_fishers_direction():
    # With dominant structure all pairs violate the margin and w = C (I + lambda Sigma)^-1 delta.
    X, positive = sample(N=60, seed=5)
    model = SAUCSVM(C=1.0, structure=1e6, tol=FINE).fit(X, positive)
    delta = X[positive].mean(axis=0) - X[~positive].mean(axis=0)
    expected = np.linalg.solve(np.eye(3) + 1e6 * difference_covariance(X, positive), delta)
    np.testing.assert_allclose(model.coef_[0], expected, rtol=1e-3)


# --- cutting planes --------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 2.0**24])
def test_cutting_planes_reach_the_optimum_of_the_exact_solver(monkeypatch, shift):
    X, positive = sample(N=80, seed=3)
    X = np.round(X, 3)
    exact = SAUCSVM(C=50.0, structure=4.0).fit(X, positive)
    monkeypatch.setattr(pair_svm, "MAX_DENSE_PAIRS", 100)
    live = []

    def record_step(step):
        if step.iteration:
            live.append((step.objective, step.scorer()))

    planes = SAUCSVM(C=50.0, structure=4.0).fit(X + shift, positive, callback=record_step)
    assert planes.converged_
    assert planes.objective_ == pytest.approx(exact.objective_, rel=1.1e-4)
    w, i, j = planes.coef_[0], *used_pairs(X, positive)
    Sigma = difference_covariance(X, positive)
    expected = w @ w / 2 + 2 * w @ Sigma @ w + 50 * mean_hinge(X @ w, i, j)
    assert planes.objective_ == pytest.approx(expected, rel=1e-6)
    for objective, scorer in live:
        w = scorer.weights
        expected = w @ w / 2 + 2 * w @ Sigma @ w + 50 * mean_hinge(X @ w, i, j)
        assert objective == pytest.approx(expected, rel=1e-6)


# --- limits ----------------------------------------------------------------------------------


def test_neighbour_pairs_do_not_lower_the_memory_of_the_covariance(monkeypatch):
    monkeypatch.setattr("aucstudio.engine.cost.machine_memory", lambda: 1e6)
    X, positive = sample(N=40)
    settings = {"kernel": "rbf", "n_neighbors": 2}
    with pytest.raises(InvalidSetting, match="40 rows") as refused:
        SAUCSVM(**settings).fit(X, positive)
    assert refused.value.setting == "kernel"
    monkeypatch.setattr("aucstudio.engine.cost.machine_memory", lambda: 1e9)
    assert SAUCSVM(structure=0.0, **settings).fit(X, positive).converged_


def test_small_work_portions_give_the_same_result(monkeypatch):
    X, positive = sample("wide", N=60)
    whole = SAUCSVM(kernel="rbf", tol=FINE).fit(X, positive)
    monkeypatch.setattr("aucstudio.engine.linalg.WORK_PER_CHUNK", 1.0)
    pieces = SAUCSVM(kernel="rbf", tol=FINE).fit(X, positive)
    np.testing.assert_allclose(pieces.scorer_(X), whole.scorer_(X), atol=1e-6)
