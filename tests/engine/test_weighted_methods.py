"""Row weights: a weight of 2 equals a repeated row, 0 no row; other methods refuse weights."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from aucstudio.engine import METHODS, InvalidSetting, declared_params
from aucstudio.engine.roc import auc
from tests.engine.test_methods import cases, exact

APPROXIMATE = {"gradient-boosting", "random-forest", "extra-trees", "auc-ensemble", "nbauc"}
EXACT = {
    "auc-rls", "rls", "rank-svm", "kernel-rank-svm", "scaled-rank-svm", "rf-auc", "rankboost",
    "svm", "svm-2norm", "logistic", "additive-logistic", "marker", "auc-svm", "roc-svm", "svm-auc",
}  # fmt: skip

weighing = [case for case in cases() if case.values[0].takes_weights]
exactly = [case for case in weighing if case.values[0].weights_kind() == "exact"]
plain = [method for method in METHODS.values() if not method.takes_weights]


@pytest.fixture(scope="module")
def data():
    """Return two overlapping clouds with integer weights, some of them 0."""
    rng = np.random.default_rng(11)
    y = rng.permutation(np.r_[np.ones(16, int), np.zeros(24, int)])
    X = rng.standard_normal((40, 3)) + np.outer(y, [1.0, 0.7, 0.0])
    weights = rng.integers(0, 4, 40).astype(float)
    return X, y, weights


def test_readme_lists_methods_with_approximate_weights():
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    _, _, listed = readme.partition("takes weights except")
    names = re.findall("`([a-z-]+)`", listed.partition(";")[0])
    assert set(names) == {k for k, m in METHODS.items() if m.weights_kind() == "approximate"}


def test_weight_support_of_every_method():
    found = {kind: set() for kind in ("exact", "approximate", "none")}
    for key, method in METHODS.items():
        found[method.weights_kind()].add(key)
    assert found["exact"] == EXACT
    assert found["approximate"] == APPROXIMATE
    assert found["none"] == METHODS.keys() - EXACT - APPROXIMATE


def test_texts_state_the_declared_weight_support():
    for method in METHODS.values():
        kind, words = method.weights_kind(), method.weights_words()
        described = method.describe()
        assert (described["weights"], described["weights_note"]) == (kind, words)
        assert method.weights_differ in words
        assert words.split(":")[0] in " ".join(method.__doc__.split())


@pytest.mark.parametrize("method", plain, ids=[method.key for method in plain])
def test_method_without_weight_support_refuses_weights(method, data):
    X, y, weights = data
    with pytest.raises(InvalidSetting, match="takes no row weights") as refused:
        method().fit(X, y, sample_weight=weights)
    assert method.title in str(refused.value)
    assert refused.value.setting == "sample_weight"
    with pytest.raises(InvalidSetting, match="takes no row weights"):
        next(method().fit_path(X, y, "", [0], sample_weight=weights))


@pytest.fixture(scope="module")
def tables(data):
    """Return tables with integer weights: few features, ties, more features than rows."""
    rng = np.random.default_rng(3)
    y = rng.permutation(np.arange(120) < 45).astype(int)
    tied = np.round(rng.standard_normal((120, 6)) + np.outer(y, np.linspace(1.0, 0.0, 6)), 1)
    wide = rng.standard_normal((60, 80)) + np.outer(y[:60], np.linspace(1.0, 0.0, 80))
    weights = rng.integers(0, 4, 120).astype(float)
    return [data, (tied, y, weights), (wide, y[:60], weights[:60])]


def variants(method):
    """Yield the method with default settings and with balanced class weights if it has them."""
    yield method
    if "class_weight" in declared_params(type(method)):
        yield clone(method).set_params(class_weight="balanced")


@pytest.mark.parametrize("method", exactly)
def test_integer_weights_equal_repeated_rows(method, tables):
    for X, y, weights in tables:
        again = np.repeat(np.arange(len(y)), weights.astype(int))
        again = np.random.default_rng(1).permutation(again)
        for one in variants(method):
            weighted = clone(one).fit(X, y, sample_weight=weights)
            repeated = clone(one).fit(X[again], y[again])
            a, b = weighted.decision_function(X), repeated.decision_function(X)
            np.testing.assert_allclose(a - b, 0.0, atol=1e-6 * np.ptp(b))
            assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
            assert len(weighted.train_scores_) == len(y)


@pytest.mark.parametrize("method", weighing)
def test_rows_of_weight_0_are_ignored(method, data):
    X, y, weights = data
    weights = np.where(weights > 0, 1.5, 0.0)
    counted = weights > 0
    noisy = np.where(counted[:, None], X, 1e3)
    a = clone(method).fit(noisy, y, sample_weight=weights)
    b = clone(method).fit(X[counted], y[counted], sample_weight=weights[counted])
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-9)
    np.testing.assert_allclose(a.train_scores_, a.decision_function(noisy), rtol=1e-9)


@pytest.mark.parametrize("method", weighing)
def test_weights_improve_the_ranking_of_heavy_rows(method, data):
    X, y, _ = data
    rng = np.random.default_rng(2)
    of_interest = rng.random(len(y)) < 0.5
    # The third feature separates the classes in opposite directions in the two halves of the rows.
    X = X.copy()
    X[:, 2] = rng.normal(size=len(y)) + np.where(of_interest, 2.5, -2.5) * y
    weights = np.where(of_interest, 20.0, 1.0)
    plain = clone(method).fit(X, y)
    weighted = clone(method).fit(X, y, sample_weight=weights)
    reached = [auc(y, one.decision_function(X), weights=weights) for one in (plain, weighted)]
    if method.key == "marker":
        assert reached[1] >= reached[0]
    else:
        assert reached[1] > reached[0] or reached[0] > 0.99


@pytest.mark.parametrize("method", weighing)
def test_weights_of_1_equal_no_weights(method, data):
    X, y, _ = data
    a = clone(method).fit(X, y)
    b = clone(method).fit(X, y, sample_weight=np.ones(len(y)))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


@pytest.mark.parametrize("method", weighing)
def test_invalid_weights_are_refused(method, data):
    X, y, weights = data
    for bad, words in (
        (-weights, "not negative"),
        (np.where(np.arange(40) == 7, np.nan, weights), "finite"),
        (weights[1:], "one weight for each row"),
        (np.where(y == 1, 0.0, weights), "positive class"),
    ):
        with pytest.raises(ValueError, match=words):
            clone(method).fit(X, y, sample_weight=bad)


@pytest.mark.parametrize("key", ["rank-svm", "auc-rls", "rls", "svm", "logistic"])
def test_weighted_sparse_rows_equal_dense_rows(key, data):
    from scipy import sparse

    X, y, weights = data
    method = exact(METHODS[key]())
    if "fit_intercept" in declared_params(METHODS[key]):
        method.set_params(fit_intercept=False)
    dense = clone(method).fit(X, y, sample_weight=weights)
    thin = clone(method).fit(sparse.csr_array(X), y, sample_weight=weights)
    one, other = dense.scorer_(X), thin.scorer_(X)
    np.testing.assert_allclose(one - one.mean(), other - other.mean(), atol=0.02 * one.std())


@pytest.mark.parametrize("key", ["auc-rls", "rls"])
def test_weights_agree_in_dual_primal_and_precomputed_fits(key, data):
    X, y, weights = data
    wide = np.hstack([X, np.random.default_rng(0).normal(size=(40, 60))])
    method = METHODS[key](regularization=0.3)
    dual = clone(method).fit(wide, y, sample_weight=weights)
    given = clone(method).set_params(kernel="precomputed").fit(wide @ wide.T, y, weights)
    again = np.repeat(np.arange(len(y)), weights.astype(int))
    primal = clone(method).fit(np.tile(wide[again], (2, 1)), np.tile(y[again], 2))
    expected = primal.scorer_(wide)
    for found in (dual.scorer_(wide), given.scorer_(wide @ wide.T)):
        shift = (found - expected).mean() if key == "auc-rls" else 0.0
        np.testing.assert_allclose(found - shift, expected, atol=1e-6)


def test_weights_with_neighbour_pairs_are_refused(data):
    X, y, weights = data
    with pytest.raises(InvalidSetting, match="row weights need all pairs"):
        METHODS["auc-svm"](n_neighbors=3).fit(X, y, weights)


def test_ensemble_skips_members_without_weight_support(data):
    X, y, weights = data
    made = METHODS["auc-ensemble"](library="logistic; svm-pauc; rankboost n_rounds=20")
    fitted = made.fit(X, y, sample_weight=weights)
    assert len(fitted.scorer_.members) == 2
    assert any("takes no row weights" in str(note) for note in fitted.notes_)
    with pytest.raises(ValueError, match="takes no row weights"):
        METHODS["auc-ensemble"](library="svm-pauc").fit(X, y, sample_weight=weights)


def test_unknown_fit_argument_is_refused():
    for method in (METHODS["logistic"], METHODS["svm-pauc"]):
        with pytest.raises(TypeError, match="sample_weights"):
            method().fit([[0.0], [1.0]], [0, 1], sample_weights=[1, 1])
