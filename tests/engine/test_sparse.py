"""Fits to sparse rows equal fits to dense rows, without densifying."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from aucstudio.engine import METHODS
from aucstudio.engine.roc import auc

ABLE = [key for key, method in METHODS.items() if method().stays_sparse()]
UNABLE = [key for key in METHODS if key not in ABLE]
every_able = pytest.mark.parametrize("method", [METHODS[key] for key in ABLE], ids=ABLE)


def texts(rows, words, density=0.05, seed=0):
    """Return sparse rows whose first ten columns separate the classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % 4 == 0).astype(int)
    X = sparse.random_array((rows, words), density=density, rng=rng, format="lil")
    X[:, :10] = (rng.random((rows, 10)) < 0.1 + 0.3 * y[:, None]).astype(float)
    return X.tocsr(), y


def test_methods_that_take_sparse_rows():
    families = {"pairs": {"auc-svm", "roc-svm", "rank-svm", "auc-rls"}}
    families |= {"structural": {"svm-auc", "svm-pauc", "svm-pauc-tight"}}
    families |= {"baselines": {"logistic", "svm", "rls"}}
    assert set(ABLE) == set().union(*families.values())
    assert {key for key, method in METHODS.items() if method.takes_sparse} == set(ABLE)


@every_able
@pytest.mark.parametrize("words", [30, 200])
def test_fit_to_sparse_rows_equals_fit_to_dense_rows(method, words):
    X, y = texts(120, words)
    settings = {"tol": 1e-9} if "tol" in method().get_params() else {}
    thin, full = method(**settings).fit(X, y), method(**settings).fit(X.toarray(), y)
    a, b = thin.decision_function(X), full.decision_function(X.toarray())
    np.testing.assert_allclose(a - a.mean(), b - b.mean(), atol=0.02 * b.std())
    assert thin.objective_ == pytest.approx(full.objective_, rel=2e-4)
    np.testing.assert_array_equal(thin.predict(X.toarray()), thin.predict(X))


@pytest.mark.slow
@every_able
def test_wide_sparse_rows_stay_sparse(method, monkeypatch):
    X, y = texts(300, 60_000, density=2e-4)
    size = 300 * 60_000

    def refuse(self, *arguments, **more):
        assert self.shape[0] * self.shape[1] < size, "the rows were made dense"
        return whole(self, *arguments, **more)

    whole = sparse.csr_array.toarray
    monkeypatch.setattr(sparse.csr_array, "toarray", refuse)
    fitted = method().fit(X, y)
    assert auc(y, fitted.decision_function(X)) > 0.8


@pytest.mark.parametrize("key", UNABLE)
def test_other_methods_refuse_sparse_rows(key):
    X, y = texts(40, 20)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        METHODS[key]().fit(X, y)


@pytest.mark.parametrize("key", [key for key in ABLE if hasattr(METHODS[key], "kernel")])
def test_kernels_refuse_sparse_rows(key):
    X, y = texts(40, 20)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        METHODS[key](kernel="rbf").fit(X, y)
