"""Scaled kernel RankSVM: column factors and the fit to scaled columns."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from aucstudio.engine import METHODS, roc
from aucstudio.engine.methods.rank_svm import importance_factors
from aucstudio.engine.monitor import Monitor


def rows(seed, N=240, noise=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2 + noise))
    return X, X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=N) > 1


@pytest.mark.parametrize("weighted", [False, True])
def test_factors_are_roots_of_scikit_learn_forest_importances(weighted):
    X, y = rows(0)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    each = np.ones(len(y)) if weights is None else weights
    each = np.round(each / each.min(), 9)
    balanced = each * np.where(y, each[~y].sum(), each[y].sum())
    low = X.min(axis=0)
    forest = ExtraTreesClassifier(
        20, min_weight_fraction_leaf=0.005, max_features=1 / 3, random_state=7
    )
    forest.fit(((X - low) / (X.max(axis=0) - low)).astype(np.float32), y, balanced)
    importance = forest.feature_importances_
    factors = importance_factors(X, y, 20, 7, Monitor(), weights)
    squares = importance + importance.mean() / 1000
    np.testing.assert_allclose(factors**2 / (factors**2).sum(), squares / squares.sum(), rtol=1e-6)
    spread = [np.cov(Z.T, aweights=each).trace() for Z in (X * factors, X)]
    np.testing.assert_allclose(*spread)


def test_uninformative_columns_have_equal_factors():
    y = np.arange(12) % 2 == 0
    factors = importance_factors(np.ones((12, 3)), y, 5, 0, Monitor())
    assert factors[0] > 0
    assert (factors == factors[0]).all()
    X = np.repeat(np.arange(6.0), 2)[:, None] * [1.0, 10.0]
    factors = importance_factors(X, y, 5, 0, Monitor())
    assert np.isfinite(factors).all()
    assert (factors > 0).all()


def test_scaled_rank_svm_equals_kernel_rank_svm_on_scaled_columns():
    X, y = rows(2)
    Z = rows(3)[0]
    ours = METHODS["scaled-rank-svm"](C=30.0, n_trees=12, random_state=4, tol=1e-9).fit(X, y)
    factors = importance_factors(X, y, 12, 4, Monitor())
    plain = METHODS["kernel-rank-svm"](C=30.0, tol=1e-9).fit(X * factors, y)
    np.testing.assert_allclose(ours.scorer_.view.factors, factors)
    np.testing.assert_allclose(ours.scorer_(Z), plain.scorer_(Z * factors), rtol=1e-9, atol=1e-12)
    assert ours.objective_ == pytest.approx(plain.objective_, rel=1e-12)
    assert ours.dual_gap_ == pytest.approx(plain.dual_gap_, abs=1e-9)


def test_scaling_beats_the_plain_kernel_with_noise_columns():
    X, y = rows(5, N=600, noise=30)
    areas = {
        key: roc.auc(y[300:], METHODS[key](C=10.0).fit(X[:300], y[:300]).scorer_(X[300:]))
        for key in ("kernel-rank-svm", "scaled-rank-svm")
    }
    assert areas["scaled-rank-svm"] > areas["kernel-rank-svm"] + 0.05
