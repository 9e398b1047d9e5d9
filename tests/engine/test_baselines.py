"""The baselines against the library they wrap, and their certificates against other solutions."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from aucstudio.engine import SVM, InvalidSetting, Logistic
from aucstudio.engine.fit import without_convergence_warnings

WEIGHTS = [None, "balanced", {0: 1.0, 1: 3.0}]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    y = (rng.random(60) < 0.3).astype(int)
    return rng.standard_normal((60, 4)) + y[:, None] * [1.0, 0.5, 0.0, 0.0], y


def row_costs(class_weight, y):
    if class_weight == "balanced":
        class_weight = {c: len(y) / (2 * np.sum(y == c)) for c in (0, 1)}
    return np.array([1.0 if class_weight is None else class_weight[label] for label in y])


# --- SVM -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_svm_certificate_holds_against_a_finer_solution(kernel, data):
    X, y = data
    settings = {"kernel": kernel, "gamma": 0.4, "coef0": 1.0}
    fitted = SVM(**settings).fit(X, y)
    finer = SVC(tol=1e-10, **settings).fit(X, y)
    dual = finer.dual_coef_[0]
    # At the optimum the dual objective is the primal one.
    norm = dual @ (finer.decision_function(X)[finer.support_] - finer.intercept_)
    best = np.abs(dual).sum() - norm / 2
    assert fitted.objective_ - fitted.dual_gap_ <= best * (1 + 1e-9)
    assert best <= fitted.objective_ * (1 + 1e-9)
    assert fitted.dual_gap_ < 0.01 * best


def test_svm_stores_only_the_support_vectors(data):
    X, y = data
    fitted = SVM(kernel="rbf", gamma=0.4).fit(X, y)
    library = SVC(gamma=0.4).fit(X, y)
    np.testing.assert_array_equal(fitted.scorer_.points, library.support_vectors_)


def test_svm_that_does_not_reach_the_optimum_warns(data):
    X, y = data
    X = X[:, :2] + 100.0  # of the differences of kernel values, few digits are left
    with pytest.warns(ConvergenceWarning, match=r"^SVM: The optimum was not reached"):
        fitted = SVM(kernel="poly", gamma=0.5).fit(X, y)
    assert not fitted.converged_
    assert fitted.notes_[0].code == "gap_too_large"
    assert fitted.dual_gap_ > 1


def test_svm_with_too_large_values_raises_a_clear_error(data):
    X, y = data
    with pytest.raises(ValueError, match="large values"):
        SVM(kernel="poly").fit(X + 1e8, y)


# --- logistic regression ---------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", WEIGHTS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_logistic_equals_the_library(C, class_weight, data):
    X, y = data
    ours = Logistic(C=C, class_weight=class_weight).fit(X, y)
    library = LogisticRegression(C=C, class_weight=class_weight, solver="newton-cholesky", tol=1e-9)
    library.fit(X, y)
    np.testing.assert_allclose(ours.coef_, library.coef_, atol=1e-5)
    assert ours.intercept_ == pytest.approx(library.intercept_[0], abs=1e-5)


def test_logistic_reports_every_iteration_with_a_valid_gap(data):
    X, y = data
    steps = []
    fitted = Logistic(C=10.0).fit(X, y, callback=steps.append)
    assert [step.iteration for step in steps] == list(range(1, fitted.n_iter_ + 1))
    assert len(steps) > 3
    objectives = [step.objective for step in steps]
    assert objectives == sorted(objectives, reverse=True)
    assert all(step.objective - step.gap <= fitted.objective_ + 1e-9 for step in steps)
    assert steps[0].gap > 1e-3
    assert fitted.dual_gap_ < 1e-7


@pytest.fixture
def rare_levels():
    """Return an ill-conditioned table: a numeric column and indicators of rare levels."""
    rng = np.random.default_rng(3)
    level = (60 * rng.random(4000) ** 4).astype(int)
    X = np.column_stack([rng.normal(size=4000), level[:, None] == np.arange(60)])
    return X, X[:, 0] + rng.normal(size=60)[level] + rng.normal(size=4000) > 1


def test_logistic_with_rare_levels_reaches_the_library_optimum_quickly(rare_levels):
    X, y = rare_levels
    steps = []
    ours = Logistic(C=1e3).fit(X, y, callback=steps.append)
    library = LogisticRegression(C=1e3, solver="newton-cholesky", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, library.coef_, atol=1e-5)
    assert ours.n_iter_ == len(steps) < 20
    assert ours.dual_gap_ < 1e-9 * ours.objective_
    np.testing.assert_array_equal(Logistic(C=1e3).fit(X, y).coef_, ours.coef_)


@pytest.mark.parametrize("last", [8, 9])
def test_logistic_stops_at_the_callback_or_iteration_limit(last, rare_levels):
    X, y = rare_levels
    stopped = Logistic(C=1e3).fit(X, y, callback=lambda step: step.iteration == last)
    assert (stopped.n_iter_, stopped.converged_) == (last, False)
    assert Logistic(C=1e3, max_iter=last).fit(X, y).n_iter_ == last


def test_unconverged_logistic_has_a_notice(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match="optimum was not reached"):
        fitted = Logistic(C=1000.0, max_iter=1).fit(X, y)
    assert not fitted.converged_
    assert fitted.notes_[0].code == "gap_too_large"
    assert fitted.dual_gap_ > 1e-3 * fitted.objective_


# --- both ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [SVM, Logistic])
@pytest.mark.parametrize("bad", [{0: 1.0, 1: 0.0}, {0: -1.0}, {0: "heavy"}, {1: np.nan}])
def test_class_weights_must_be_positive(method, bad, data):
    with pytest.raises(InvalidSetting, match="class_weight") as refused:
        method(class_weight=bad).fit(*data)
    assert refused.value.setting == "class_weight"


@pytest.mark.parametrize("method", [SVM, Logistic])
def test_balanced_class_weight_equals_the_explicit_mapping(method, data):
    X, y = data
    mapping = {c: len(y) / (2 * np.sum(y == c)) for c in (0, 1)}
    first = method(class_weight="balanced").fit(X, y)
    second = method(class_weight=mapping).fit(X, y)
    np.testing.assert_array_equal(first.coef_, second.coef_)


def test_overlapping_fits_are_quiet_until_each_of_them_ends(data):
    X, y = data
    before = list(warnings.filters)
    first_begins, second_begins, first_ends = (threading.Event() for _ in range(3))

    def first():
        with without_convergence_warnings():
            first_begins.set()
            assert second_begins.wait(60)
        first_ends.set()

    def second():
        assert first_begins.wait(60)
        with without_convergence_warnings():
            second_begins.set()
            assert first_ends.wait(60)
            Logistic(max_iter=1).fit(X, y)  # warnings are errors here

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result()
    assert warnings.filters == before
    with pytest.warns(ConvergenceWarning):
        Logistic(max_iter=1).fit(X, y)
