"""Fits to a precomputed kernel matrix equal fits to the rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from aucstudio.engine import METHODS, InvalidSetting, declared_params
from aucstudio.engine.kernels import Kernel

KERNEL = Kernel("rbf", gamma=0.3)
ABLE = [
    key
    for key, method in METHODS.items()
    if "kernel" in declared_params(method)
    and "precomputed" in declared_params(method)["kernel"].from_code
]
every_able = pytest.mark.parametrize("method", [METHODS[key] for key in ABLE], ids=ABLE)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    y = rng.permutation(np.arange(50) % 3 == 0).astype(int)
    return rng.standard_normal((50, 3)) + y[:, None] * [1.0, 0.5, 0.0], y


@every_able
def test_precomputed_kernel_equals_the_kernel_on_rows(method, data):
    X, y = data
    new = np.random.default_rng(3).standard_normal((7, 3))
    rows = method(kernel="rbf", gamma=0.3).fit(X, y)
    matrix = method(kernel="precomputed").fit(KERNEL(X, X), y)
    expected = rows.decision_function(new)
    tol = 1e-9 * np.abs(expected).max()
    np.testing.assert_allclose(matrix.decision_function(KERNEL(new, X)), expected, atol=tol)
    np.testing.assert_allclose(matrix.train_scores_, rows.train_scores_, atol=tol)
    assert matrix.objective_ == pytest.approx(rows.objective_, rel=1e-12)
    assert not hasattr(matrix, "coef_")


@every_able
def test_callback_scorer_takes_kernel_values(method, data):
    X, y = data
    K, scores = KERNEL(X, X), []

    def record_scores(step):
        if step.scorer is not None:
            scores.append(step.scorer()(K))

    fitted = method(kernel="precomputed").fit(K, y, callback=record_scores)
    assert np.corrcoef(scores[-1], fitted.train_scores_)[0, 1] > 0.99


@every_able
def test_invalid_kernel_matrices_are_refused(method, data):
    X, y = data
    with pytest.raises(InvalidSetting, match="square matrix") as refused:
        method(kernel="precomputed").fit(X, y)
    assert refused.value.setting == "kernel"
    K = KERNEL(X, X)
    K[3, 4] += 0.1
    with pytest.raises(InvalidSetting, match="symmetric"):
        method(kernel="precomputed").fit(K, y)


@pytest.mark.parametrize("key", ["auc-rls", "rls"])
def test_leave_pair_out_with_a_precomputed_kernel(key, data):
    X, y = data
    (of_rows,) = METHODS[key](kernel="rbf", gamma=0.3).leave_pair_out(X, y)
    (of_matrix,) = METHODS[key](kernel="precomputed").leave_pair_out(KERNEL(X, X), y)
    np.testing.assert_array_equal(of_rows.beaten, of_matrix.beaten)


@every_able
def test_cross_val_score_splits_the_kernel_matrix(method, data):
    X, y = data
    areas = cross_val_score(method(kernel="precomputed"), KERNEL(X, X), y, scoring="roc_auc")
    plain = cross_val_score(method(kernel="rbf", gamma=0.3), X, y, scoring="roc_auc")
    np.testing.assert_allclose(areas, plain, atol=1e-6)


def test_neighbour_pairs_with_a_precomputed_kernel_are_refused(data):
    X, y = data
    for key in set(ABLE) & {"auc-svm", "roc-svm", "sauc-svm"}:
        method = METHODS[key](kernel="precomputed", n_neighbors=3)
        with pytest.raises(InvalidSetting, match="needs rows"):
            clone(method).fit(KERNEL(X, X), y)
