"""The linear SVM: its loss against a search, its optimum against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from aucstudio.engine import METHODS
from aucstudio.engine.losses.hinges import FreeConstantHinge
from aucstudio.engine.methods import svm


def drawn(seed, rows=80, features=5, share=0.3):
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < share
    positive[:2] = True, False
    return rng.standard_normal((rows, features)) + 0.7 * positive[:, None], positive


def costs_of(positive, kind, seed=0):
    if kind == "equal":
        return np.full(len(positive), 0.6)
    if kind == "by class":
        return np.where(positive, 3.0, 0.5)
    return np.random.default_rng(seed).uniform(0.1, 2.0, len(positive))


# --- the loss --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["equal", "by class", "by row"])
@pytest.mark.parametrize("ties", [False, True])
def test_best_intercept_minimises_the_loss(kind, ties):
    for seed in range(20):
        X, positive = drawn(seed, rows=2 + 3 * seed)
        u = np.round(X[:, 0]) if ties else X[:, 0]
        loss = FreeConstantHinge(positive, costs_of(positive, kind, seed))
        value, _ = loss(u)
        others = min(loss.at(u, b) for b in np.concatenate([loss.y - u, np.linspace(-9, 9, 50)]))
        assert value == pytest.approx(others, rel=1e-12, abs=1e-12)
        assert loss.at(u, loss.best_constant(u)) == pytest.approx(value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", ["equal", "by class", "by row"])
@pytest.mark.parametrize("ties", [False, True])
def test_subgradient_is_valid_and_sums_to_zero(kind, ties):
    rng = np.random.default_rng(1)
    for seed in range(20):
        X, positive = drawn(seed, rows=2 + 3 * seed)
        u = np.round(X[:, 0]) if ties else X[:, 0]
        costs = costs_of(positive, kind, seed)
        loss = FreeConstantHinge(positive, costs)
        value, gradient = loss(u)
        assert abs(gradient.sum()) < 1e-12 * costs.sum()
        assert np.all(np.abs(gradient) <= costs)
        for size in (0.1, 1.0, 10.0):
            v = u + size * rng.standard_normal(len(u))
            assert loss(v)[0] >= value + gradient @ (v - u) - 1e-12 * costs.sum()


# --- the solver ------------------------------------------------------------------------------


def finest(X, positive, C, weights=None):
    """Return the dual and primal value of libsvm at a fine tolerance, and its model."""
    library = SVC(kernel="linear", C=C, class_weight=weights, tol=1e-9).fit(X, positive)
    margins = np.where(positive, 1.0, -1.0) * library.decision_function(X)
    w, costs = library.coef_[0], C * library.class_weight_[positive.astype(int)]
    dual = np.abs(library.dual_coef_).sum() - w @ w / 2
    return dual, w @ w / 2 + costs @ np.maximum(1.0 - margins, 0.0), library


def assert_is_optimum(ours, X, positive, gap=1e-6, **settings):
    lower, upper, library = finest(X, positive, ours.C, **settings)
    assert ours.converged_
    assert 0 <= ours.dual_gap_ <= gap * ours.objective_
    assert ours.objective_ - ours.dual_gap_ <= upper * (1 + 1e-9)
    assert lower * (1 - 1e-9) <= ours.objective_
    return library


@pytest.mark.slow
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("weights", [None, "balanced", {0: 1.0, 1: 3.0}])
def test_svm_reaches_the_library_optimum(C, weights):
    X, positive = drawn(0)
    ours = METHODS["svm"](C=C, class_weight=weights).fit(X, positive.astype(int))
    library = assert_is_optimum(ours, X, positive, weights=weights)
    np.testing.assert_allclose(ours.coef_, library.coef_, atol=0.02)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e3, 1e9])
def test_svm_is_scale_equivariant(scale):
    X, positive = drawn(1)
    ours = METHODS["svm"](C=1.0 / scale**2).fit(scale * X, positive)
    plain = METHODS["svm"](C=1.0).fit(X, positive)
    np.testing.assert_allclose(scale * ours.coef_, plain.coef_, rtol=1e-3, atol=1e-3)
    assert ours.converged_


@pytest.mark.parametrize("C", [1.0, 1e6])
def test_svm_on_separable_classes(C):
    X, positive = drawn(2)
    X[:, 0] += 6.0 * positive
    ours = METHODS["svm"](C=C).fit(X, positive)
    assert_is_optimum(ours, X, positive)


def test_svm_with_equal_features_and_equal_rows():
    X, positive = drawn(3)
    X, positive = (
        np.repeat(np.column_stack([X, X[:, :2], np.ones(80)]), 2, axis=0),
        positive.repeat(2),
    )
    ours = METHODS["svm"](C=1.0).fit(X, positive)
    assert_is_optimum(ours, X, positive)


@pytest.mark.parametrize("features", [5, 200])
def test_svm_by_cutting_planes_on_sparse_or_many_features(features):
    X, positive = drawn(4, features=features)
    rows = sparse.csr_array(X) if features == 5 else X
    ours = METHODS["svm"](C=1.0).fit(rows, positive)
    assert_is_optimum(ours, X, positive, gap=1e-4)


def test_both_solvers_agree(monkeypatch):
    X, positive = drawn(5, rows=300)
    inner = METHODS["svm"](class_weight="balanced").fit(X, positive)
    monkeypatch.setattr(svm, "MOST_FEATURES", 0)
    outer = METHODS["svm"](class_weight="balanced").fit(X, positive)
    assert outer.objective_ == pytest.approx(inner.objective_, rel=2e-4)
    assert inner.objective_ - inner.dual_gap_ <= outer.objective_
