"""Verification accepts correct fits of every method and detects altered ones."""

import dataclasses

import numpy as np
import pytest

from aucstudio.engine import METHODS, declared_params, roc
from aucstudio.engine.fit import without_convergence_warnings
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.scorers import LinearScorer
from aucstudio.engine.verification import problems, space
from aucstudio.engine.verification.counting import counted_area
from aucstudio.engine.verification.optimum import by_cutting_planes
from aucstudio.engine.verification.problems import PROBLEMS, Trained
from aucstudio.engine.verification.verified import HeldOutRows
from aucstudio.engine.verification.verifying import verify
from tests.conftest import small_settings

BAND = (0.0, 0.3)
# Small settings for quick fits.
QUICK = {"max_iter": 100, "n_landmarks": 15, "n_components": 30, "n_epochs": 2, "max_leaf_nodes": 5}
CONVEX = [key for key in METHODS if PROBLEMS[METHODS[key].solves].convex]


def silent(_stage, _share):
    """Ignore the progress."""


def sample(kind="random", N=48, d=3, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(N) < 0.35
    X = rng.normal(size=(N, d)) + positive[:, None] * np.linspace(1.0, 0.0, d)
    if kind == "tied":
        X = np.round(X)
    elif kind == "all alike":
        X[:] = 2.0
    elif kind == "separable":
        X[:, 0] += 20 * positive
    elif kind == "one positive":
        positive[:] = False
        positive[3] = True
    elif kind == "ill-scaled":
        X = X * 10.0 ** np.linspace(-4, 4, d)
    elif kind == "wide":
        X = rng.normal(size=(N, 80)) / 4
    return X, positive


def settings(key, **more):
    known = declared_params(METHODS[key])
    usual = small_settings(key, **QUICK)
    if key == "logistic":
        usual["max_iter"] = 1000
    if "kernel" not in known and key not in ("nbauc", "nsauc", "noam", "nsolam", "nsvmsgd2"):
        usual.pop("n_landmarks", None)
    return usual | {name: value for name, value in more.items() if name in known}


def fitted(key, X, positive, **more):
    return METHODS[key](**settings(key, **more)).fit(X, positive)


def as_trained(model, X, positive):
    return Trained(
        model.key,
        model.get_params(deep=False),
        X,
        positive,
        model.scorer_,
        float(model.intercept_),
        model.train_scores_,
        float(model.objective_),
        model.dual_gap_,
        getattr(model, "fpr_range_used_", None),
    )


def verified(model, X, positive):
    held = HeldOutRows(positive, model.train_scores_, BAND, X)
    return verify(as_trained(model, X, positive), held, silent)


# --- correct fits


def methods_with_kernels():
    for key in METHODS:
        kernel = declared_params(METHODS[key]).get("kernel")
        yield from ((key, kind) for kind in (kernel.choices if kernel else ["none"]))


@pytest.mark.parametrize(("key", "kernel"), [*methods_with_kernels()])
def test_correct_fit_of_every_method_is_verified(key, kernel):
    X, positive = sample()
    found = verified(fitted(key, X, positive, kernel=kernel), X, positive)
    assert found.faults == ()
    assert len(found.areas) == 4
    if key in CONVEX:
        assert found.solved is not None, found.reasons
        assert found.bound <= found.solved * (1 + 1e-6) + 1e-9
        # A reported gap is checked against the independent bound.
        if found.gap is not None:
            assert found.counted - found.bound <= found.gap + 1e-5 * abs(found.counted)
    else:
        assert found.repeated == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["tied", "all alike", "separable", "one positive", "ill-scaled", "wide"]
)
@pytest.mark.parametrize("key", CONVEX)
def test_fits_to_degenerate_rows_are_verified(key, kind):
    X, positive = sample(kind)
    with without_convergence_warnings():
        model = fitted(key, X, positive)
    found = verified(model, X, positive)
    assert found.faults == ()
    assert found.counted is not None


@pytest.mark.parametrize(
    ("key", "more"),
    [
        *(("auc-svm", {"C": 0.05, "kernel": kernel}) for kernel in ("linear", "rbf", "poly")),
        *(("auc-svm", {"C": 1e4, "kernel": kernel}) for kernel in ("linear", "rbf", "poly")),
        ("auc-svm", {"n_neighbors": 4}),
        ("roc-svm", {"margin": 0.3}),
        ("sauc-svm", {"structure": 30.0, "kernel": "rbf"}),
        ("sauc-svm", {"structure": 1e-3, "n_neighbors": 3}),
        ("sauc-svm", {"structure": 1e3, "n_neighbors": 3, "kernel": "poly"}),
        ("svm-auc", {"kernel": "rbf", "n_landmarks": 12}),
        *(("svm-auc", {"C": C, "tol": 1e-8}) for C in (0.01, 1e4)),
        *(("rank-svm", {"C": C, "tol": 1e-10}) for C in (0.1, 1e3)),
        ("nsauc", {"regularization": 0.01, "kernel": "linear"}),
        ("svm-pauc", {"fpr_range": (0.1, 0.7)}),
        ("svm-pauc-tight", {"fpr_range": (0.1, 0.7)}),
        ("svm-pauc-tight", {"fpr_range": (0.1, 0.7), "surrogate": "dc"}),
        ("rls", {"fit_intercept": True}),
        ("auc-rls", {"regularization": 0.0}),
        ("svm", {"class_weight": "balanced", "kernel": "rbf"}),
        *(("svm-2norm", {"class_weight": "balanced", "C": C}) for C in (0.01, 100.0)),
        ("svm-2norm", {"C": 100.0, "kernel": "rbf"}),
        ("logistic", {"C": 0.01}),
        ("logistic", {"class_weight": "balanced", "C": 100.0}),
        ("asvm", {"mu": 4.0, "class_ratio": 10.0}),
        ("asvm", {"mu": 1.0, "nu": 0.3, "C": 5.0}),
        ("nsvmsgd2", {"loss": "balanced-rows"}),
        ("gradient-boosting", {"class_weight": "balanced"}),
    ],
)
def test_verification_respects_the_settings(key, more):
    X, positive = sample(N=60)
    found = verified(fitted(key, X, positive, **more), X, positive)
    assert found.faults == ()
    assert found.counted == pytest.approx(found.objective, rel=1e-5)


# --- altered fits


@pytest.mark.parametrize("key", ["auc-svm", "svm-pauc", "rank-svm", "logistic", "rls", "asvm"])
def test_altered_weights_are_detected(key):
    X, positive = sample()
    good = as_trained(fitted(key, X, positive, tol=1e-6), X, positive)
    scorer = LinearScorer(good.scorer.weights + np.array([0.3, -0.2, 0.1]))
    scores = scorer(X) + good.intercept
    held = HeldOutRows(positive, scores, BAND)
    inconsistent = verify(dataclasses.replace(good, scorer=scorer), held, silent)
    assert any("stored training scores" in fault for fault in inconsistent.faults)
    consistent = dataclasses.replace(good, scorer=scorer, scores=scores)
    assert any("the fit reported" in fault for fault in verify(consistent, held, silent).faults)


@pytest.mark.parametrize("key", ["auc-svm", "svm-pauc", "rank-svm", "logistic", "rls", "asvm"])
def test_false_optimality_gap_is_detected(key):
    X, positive = sample()
    good = as_trained(fitted(key, X, positive, tol=1e-6), X, positive)
    scorer = LinearScorer(good.scorer.weights + np.array([0.3, -0.2, 0.1]))
    scores = scorer(X)
    worse = dataclasses.replace(good, scorer=scorer, scores=scores + good.intercept, gap=0.0)
    objective = PROBLEMS[METHODS[key].solves](worse, silent).objective(scores, good.intercept)
    worse = dataclasses.replace(worse, objective=objective)
    found = verify(worse, HeldOutRows(positive, worse.scores, BAND), silent)
    assert [fault for fault in found.faults if "An independent solver finds" in fault]


def test_unrepeatable_fit_is_a_fault_only_in_the_same_version():
    X, positive = sample()
    good = as_trained(fitted("rankboost", X, positive), X, positive)
    other = dataclasses.replace(good, params={**good.params, "n_rounds": 3})
    held = HeldOutRows(positive, good.scores, BAND)
    assert any("Repeating the same fit" in fault for fault in verify(other, held, silent).faults)
    found = verify(other, held, silent, same_program=False)
    assert found.faults == ()
    assert any("other versions" in reason for reason in found.reasons)


# --- sizes


def test_pairs_that_do_not_fit_are_reported(monkeypatch):
    X, positive = sample(N=60)
    monkeypatch.setattr(problems, "MOST_NUMBERS", 100)
    for key in ("auc-rls", "rank-svm"):
        found = verified(fitted(key, X, positive), X, positive)
        assert found.faults == ()
        assert found.solved is None
        assert found.counted is not None  # the objective can still be computed
        assert "pairs are more than fit" in found.reasons[0]


def test_matrices_beyond_memory_are_reported(monkeypatch):
    X, positive = sample()
    monkeypatch.setattr(space, "MOST_KERNEL_ROWS", 10)
    found = verified(fitted("svm", X, positive, kernel="rbf"), X, positive)
    assert found.solved is None
    assert "the 48 × 48 kernel matrix is beyond 10 rows" in found.reasons[0]
    monkeypatch.setattr(problems, "MOST_NUMBERS", 10)
    found = verified(fitted("svm", X, positive), X, positive)
    assert "48 margins of 4 features are more" in found.reasons[0]
    assert found.counted is not None


def test_verification_can_be_stopped():
    X, positive = sample()
    trained = as_trained(fitted("auc-svm", X, positive), X, positive)

    def stop(_stage, _share):
        raise Stopped

    with pytest.raises(Stopped):
        verify(trained, HeldOutRows(positive, trained.scores, BAND), stop)


# --- parts


def test_cutting_planes_solve_a_constrained_problem():
    # 1/2 |u|^2 + 3 (1 - u_0)_+ subject to u_1 >= 2: u = (1, 2).
    def cuts(u):
        active = float(u[0] <= 1.0)
        return np.array([[-3.0 * active, 0.0]]), np.array([3.0 * active])

    rows = np.array([[0.0, 1.0]]), np.array([2.0])
    found = by_cutting_planes(np.eye(2), np.zeros(2), cuts, silent, rows)
    np.testing.assert_allclose(found.u, [1.0, 2.0], atol=1e-6)
    assert found.bound == pytest.approx(2.5, abs=1e-6)


@pytest.mark.parametrize("decimals", [0, 1, 9])
@pytest.mark.parametrize("band", [(0.0, 1.0), (0.0, 0.13), (0.21, 0.22), (0.4, 1.0)])
def test_areas_by_counting_equal_those_by_sorting(decimals, band):
    rng = np.random.default_rng(5)
    positive = rng.random(70) < 0.4
    scores = np.round(rng.normal(size=70) + positive, decimals)
    expected = roc.partial_auc(positive, scores, *band).normalized
    assert counted_area(positive, scores, band, silent) == pytest.approx(expected, abs=1e-13)


def test_every_problem_belongs_to_a_method():
    assert set(PROBLEMS) == {method.solves for method in METHODS.values()}


def test_verification_imports_no_solver_loss_or_feature_map():
    from tests.test_architecture import PACKAGE, imports

    allowed = {"scorers", "verification", "roc", "monitor", "arrays"}
    for path in (PACKAGE / "engine" / "verification").glob("*.py"):
        for name in imports(path):
            if name.startswith("aucstudio.engine."):
                assert name.split(".")[2] in allowed, f"{path} imports {name}"
