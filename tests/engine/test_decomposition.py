"""The SVM with a kernel: its optimality conditions, evicted kernel rows, reports and stops."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from aucstudio.engine import SVM
from aucstudio.engine.solvers import decomposition


def drawn(rows=300, features=4, apart=0.7, seed=0, digits=9):
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.4
    X = rng.standard_normal((rows, features)) + apart * positive[:, None]
    return np.round(X, digits), positive


def violation(fitted, X, K, positive, costs):
    """Return by how much a row violates the optimality conditions, in units of the margin."""
    beta = np.zeros(len(positive))
    left = list(range(len(positive)))
    for point, weight in zip(fitted.scorer_.points, fitted.scorer_.weights, strict=True):
        # Of tied rows, the first that can have this coefficient has it.
        row = next(
            i
            for i in left
            if np.array_equal(X[i], point) and 0 <= weight * (2 * positive[i] - 1) <= costs[i]
        )
        beta[row] = weight
        left.remove(row)
    y = np.where(positive, 1.0, -1.0)
    assert abs(beta.sum()) < 1e-9 * costs.sum()
    slack = 1.0 - y * (K @ beta + fitted.intercept_)
    can_rise, can_fall = y * beta < costs, beta != 0
    return max(slack[can_rise].max(initial=0.0), -slack[can_fall].min(initial=0.0))


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize(
    "table",
    [drawn(), drawn(apart=6.0), drawn(apart=0.0), drawn(rows=700, features=2, digits=0)],
    ids=["overlapping", "separable", "noise", "tied"],
)
def test_every_row_satisfies_its_optimality_condition(table, C, kernel):
    X, positive = table
    weights = np.random.default_rng(1).integers(1, 4, len(X)) / 2
    fitted = SVM(kernel=kernel, C=C, gamma=0.3).fit(X, positive, sample_weight=weights)
    if kernel == "rbf":
        K = rbf_kernel(X, gamma=0.3)
    else:
        K = polynomial_kernel(X, degree=3, gamma=0.3, coef0=1.0)
    assert fitted.converged_
    assert fitted.dual_gap_ < 1e-6 * fitted.objective_
    assert violation(fitted, X, K, positive, C * weights) < 1e-6


def test_kernel_rows_that_exceed_the_memory_are_computed_again(monkeypatch):
    X, positive = drawn(rows=1500)
    kept = SVM(kernel="rbf").fit(X, positive)
    monkeypatch.setattr(decomposition, "CACHED_NUMBERS", 0)
    again = SVM(kernel="rbf").fit(X, positive)
    np.testing.assert_allclose(again.train_scores_, kept.train_scores_, atol=1e-6)
    assert again.converged_


def test_every_round_is_reported_with_a_valid_gap():
    X, positive = drawn(rows=1200)
    steps = []
    fitted = SVM(kernel="rbf").fit(X, positive, callback=steps.append)
    rounds = [step for step in steps if step.stage == "iterating"]
    assert [step.iteration for step in rounds] == list(range(1, fitted.n_iter_ + 1))
    assert len(rounds) > 3
    assert all(step.objective - step.gap <= fitted.objective_ + 1e-9 for step in rounds)
    assert all(step.objective >= fitted.objective_ - 1e-9 for step in rounds)


def test_stopped_fit_keeps_its_scorer():
    X, positive = drawn(rows=1200)
    seen = []

    def stop(step):
        seen.append(step)
        return step.iteration == 3

    fitted = SVM(kernel="rbf").fit(X, positive, callback=stop)
    assert not fitted.converged_
    assert fitted.n_iter_ == 3
    np.testing.assert_array_equal(fitted.scorer_.weights, seen[-1].scorer().weights)


def test_more_free_rows_than_an_ordinary_working_set_take_few_rounds():
    X, positive = drawn(rows=1200, features=8, apart=0.5)
    fitted = SVM(kernel="rbf", C=100.0, gamma=0.1).fit(X, positive)
    sizes = np.abs(fitted.scorer_.weights)
    assert np.count_nonzero(sizes < 100.0) > 400
    assert fitted.n_iter_ < 40
    assert violation(fitted, X, rbf_kernel(X, gamma=0.1), positive, np.full(1200, 100.0)) < 1e-6
