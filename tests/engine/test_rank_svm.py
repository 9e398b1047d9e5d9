"""RankSVM and kernel RankSVM as estimators."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from aucstudio.engine.methods.nbauc import NBAUC, RFAUC
from aucstudio.engine.methods.rank_svm import KernelRankSVM, RankSVM, ScaledRankSVM
from aucstudio.engine.roc import auc

BOTH = pytest.mark.parametrize("method", [RankSVM(), KernelRankSVM(gamma=0.3)], ids=["w", "beta"])


def cloud(m=40, n=70, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(m + n) < m).astype(int)
    return rng.standard_normal((m + n, d)) + 0.7 * y[:, None], y


def ring(count, seed=0):
    """Return positives inside a circle, which no direction ranks."""
    X = np.random.default_rng(seed).standard_normal((count, 2))
    return X, ((X**2).sum(axis=1) < 1.0).astype(int)


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_linear_kernel_equals_the_linear_method(shift):
    X, y = cloud()
    X = np.round(X * 64) / 64 + shift
    linear = RankSVM(C=30.0, tol=1e-10).fit(X, y)
    in_rows = KernelRankSVM(kernel="linear", C=30.0, tol=1e-10).fit(X, y)
    assert in_rows.objective_ == pytest.approx(linear.objective_, rel=1e-9)
    assert_allclose(in_rows.coef_, linear.coef_, atol=1e-5)


def test_kernel_ranks_non_linear_data():
    X, y = ring(300)
    X_test, y_test = ring(400, seed=1)
    non_linear = KernelRankSVM(gamma=0.5).fit(X, y).decision_function(X_test)
    linear = RankSVM().fit(X, y).decision_function(X_test)
    assert auc(y_test, non_linear) > 0.99
    assert auc(y_test, linear) < 0.7


def test_precomputed_kernel_equals_the_computed_one():
    X, y = cloud()
    K = rbf_kernel(X, gamma=0.3)
    given = KernelRankSVM(kernel="precomputed", tol=1e-9).fit(K, y)
    computed = KernelRankSVM(gamma=0.3, tol=1e-9).fit(X, y)
    assert given.objective_ == pytest.approx(computed.objective_, rel=1e-9)
    assert_allclose(given.decision_function(K), computed.decision_function(X), atol=1e-5)


@pytest.mark.parametrize(
    "method",
    [
        RankSVM(),
        KernelRankSVM(gamma=0.3),
        ScaledRankSVM(n_trees=5),
        NBAUC(n_landmarks=40, gamma=0.3),
        RFAUC(n_components=60, gamma=0.3),
    ],
    ids=lambda method: type(method).key,
)
def test_cost_path_equals_single_fits_and_maps_features_once(method, monkeypatch):
    X, y = cloud()
    made = []
    whole = type(method)._space
    monkeypatch.setattr(
        type(method), "_space", lambda self, *rest: made.append(self.C) or whole(self, *rest)
    )
    method = clone(method).set_params(tol=1e-10)
    costs = [0.1, 10.0, 1e3, 1.0]
    path = list(method.fit_path(X, y, "C", costs))
    assert made == [0.1]
    for C, fitted in zip(costs, path, strict=True):
        single = clone(method).set_params(C=C).fit(X, y)
        assert fitted.C == C
        assert fitted.objective_ == pytest.approx(single.objective_, rel=1e-8)
        assert_allclose(fitted.scorer_(X), single.scorer_(X), atol=1e-3)


def test_gamma_path_recomputes_the_features():
    X, y = cloud()
    path = list(KernelRankSVM(tol=1e-10).fit_path(X, y, "gamma", [0.1, 1.0]))
    for fitted in path:
        single = KernelRankSVM(gamma=fitted.gamma, tol=1e-10).fit(X, y)
        assert fitted.objective_ == single.objective_


@BOTH
def test_tiny_cost_still_ranks(method):
    X, y = cloud()
    fitted = clone(method).set_params(C=1e-6).fit(X, y)
    assert auc(y, fitted.scorer_(X)) > 0.7
    assert fitted.notes_ == ()


def test_kernel_matrix_is_reported_as_a_stage(monkeypatch):
    monkeypatch.setattr("aucstudio.engine.monitor.STAGE_INTERVAL", 0.0)
    stages = []
    KernelRankSVM().fit(*cloud(), callback=lambda step: stages.append(step.stage))
    assert stages.index("kernel matrix") < stages.index("iterating")
