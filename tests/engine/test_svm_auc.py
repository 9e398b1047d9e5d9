"""SVM-AUC and its relatives: warm starts and kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification

from aucstudio.engine.features import spaces
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.losses.partial_auc import StructuralRisk, TightRisk
from aucstudio.engine.methods.pair_svm import AUCSVM
from aucstudio.engine.methods.structural import SVMAUC, SVMpAUC, SVMpAUCTight
from aucstudio.engine.scorers import KernelScorer
from aucstudio.notices import notice

QUIET = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12}
FAMILY = [SVMAUC(), SVMpAUC(fpr_range=(0.0, 0.5)), SVMpAUCTight(fpr_range=(0.1, 0.5))]
COSTS = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]

every_method = pytest.mark.parametrize("method", FAMILY, ids=lambda method: type(method).key)


def overlapping(rows=120, features=4, seed=0, gap=0.8, every=3):
    rng = np.random.default_rng(seed)
    y = (np.arange(rows) % every == 0).astype(int)
    return rng.normal(size=(rows, features)) + gap * y[:, None], y


@pytest.fixture(scope="module")
def mixed():
    """Return rows that need many iterations at large costs."""
    return make_classification(
        1000, 20, n_informative=8, weights=[0.8], class_sep=0.6, flip_y=0.05, random_state=0
    )


# --- the AUC ---------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_result_equals_auc_svm_on_all_pairs(kernel, C):
    X, y = overlapping(60)
    settings = {"C": C, "kernel": kernel, "tol": 1e-8}
    ours, theirs = SVMAUC(**settings).fit(X, y), AUCSVM(**settings).fit(X, y)
    assert_allclose(ours.objective_, theirs.objective_, rtol=1e-6)
    a, b = ours.scorer_(X), theirs.scorer_(X)
    assert_allclose(a - a.mean(), b - b.mean(), atol=2e-3 * b.std())


def test_full_range_of_svm_pauc_is_the_same_problem():
    X, y = overlapping()
    models = [
        method(C=5.0, tol=1e-9, **settings).fit(X, y)
        for method, settings in (
            (SVMAUC, {}),
            (SVMpAUC, {"fpr_range": (0.0, 1.0)}),
            (SVMpAUCTight, {"fpr_range": (0.0, 1.0)}),
        )
    ]
    for model in models[1:]:
        assert_allclose(model.objective_, models[0].objective_, rtol=1e-8)
        assert_allclose(model.coef_, models[0].coef_, atol=1e-4)


# --- warm starts -----------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("costs", [COSTS, COSTS[::-1]], ids=["up", "down"])
def test_cost_path_reaches_the_same_optima_in_fewer_iterations(method, costs, mixed):
    X, y = mixed
    cold = [clone(method).set_params(C=C).fit(X, y) for C in costs]
    warm = list(method.fit_path(X, y, "C", costs))
    assert [model.C for model in warm] == costs
    for one, other in zip(cold, warm, strict=True):
        assert other.converged_
        assert other.dual_gap_ <= 1e-4 * other.objective_
        assert_allclose(other.objective_, one.objective_, rtol=1.1e-4)
    assert sum(m.n_iter_ for m in warm) < 0.85 * sum(m.n_iter_ for m in cold)
    assert not hasattr(method, "scorer_")


def test_range_path_uses_warm_starts():
    X, y = overlapping(400, 12, gap=0.4)
    ranges = [(0.0, 0.8), (0.0, 0.7), (0.0, 0.6), (0.1, 0.6)]
    method = SVMpAUC(C=10.0)
    warm = list(method.fit_path(X, y, "fpr_range", ranges))
    cold = [clone(method).set_params(fpr_range=r).fit(X, y) for r in ranges]
    for one, other in zip(cold, warm, strict=True):
        assert one.fpr_range_used_ == other.fpr_range_used_
        assert_allclose(other.objective_, one.objective_, rtol=1.1e-4)
    assert sum(m.n_iter_ for m in warm) < sum(m.n_iter_ for m in cold)


def test_kernel_path_recomputes_the_features():
    X, y = overlapping(60)
    for name, values in (("gamma", [0.1, 1.0]), ("kernel", ["linear", "rbf", "linear"])):
        method = SVMAUC(kernel="rbf", gamma=0.5, tol=1e-7)
        for warm, value in zip(method.fit_path(X, y, name, values), values, strict=True):
            cold = clone(method).set_params(**{name: value}).fit(X, y)
            assert_allclose(warm.objective_, cold.objective_, rtol=1e-6)


# --- kernels ---------------------------------------------------------------------------------


@every_method
def test_kernel_scorer_reaches_the_objective(method):
    X, y = overlapping(90)
    model = clone(method).set_params(kernel="rbf", gamma=0.5, C=10.0).fit(X, y)
    scorer = model.scorer_
    assert isinstance(scorer, KernelScorer)
    norm = scorer.weights @ Kernel("rbf", 0.5)(scorer.points, scorer.points) @ scorer.weights
    used = getattr(model, "fpr_range_used_", (0.0, 1.0))
    risk = (TightRisk if isinstance(model, SVMpAUCTight) else StructuralRisk)(y == 1, *used)
    assert_allclose(model.objective_, norm / 2 + 10 * risk(scorer(X))[0], rtol=1e-6)
    assert model.notes_ == ()
    assert_allclose(model.train_scores_, scorer(X) + model.intercept_)


@every_method
def test_all_rows_as_landmarks_equal_the_exact_kernel(method):
    X, y = overlapping(60)
    settings = {"kernel": "rbf", "gamma": 0.5, "tol": 1e-7}
    exact = clone(method).set_params(**settings).fit(X, y)
    model = clone(method).set_params(n_landmarks=60, **settings).fit(X, y)
    assert_allclose(model.objective_, exact.objective_, rtol=1e-5)
    assert len(model.scorer_.points) == 60
    assert model.notes_ == (notice("landmarks", count=60),)


def test_many_rows_are_approximated_by_landmarks(monkeypatch):
    monkeypatch.setattr(spaces, "MAX_EXACT_ROWS", 100)
    monkeypatch.setattr(spaces, "DEFAULT_LANDMARKS", 40)
    X, y = overlapping(400)
    one, two = (SVMAUC(kernel="rbf").fit(X, y) for _ in range(2))
    assert one.scorer_.points.shape == (40, 4)
    assert one.notes_[0] == notice("landmarks", count=40)
    assert_array_equal(one.decision_function(X), two.decision_function(X))
    exact = AUCSVM(kernel="rbf").fit(X, y)
    assert np.corrcoef(one.decision_function(X), exact.decision_function(X))[0, 1] > 0.98
    assert one.objective_ >= exact.objective_ * (1 - 1e-4)


# --- sparse rows -----------------------------------------------------------------------------


# --- watching --------------------------------------------------------------------------------
