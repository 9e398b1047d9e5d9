"""Properties that every registered method has."""

from __future__ import annotations

import inspect
import itertools
import json
import math
import pickle
import pydoc
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.estimator_checks import check_estimator

from aucstudio import engine
from aucstudio.engine import DECLARED, METHODS, InvalidSetting, Stopped, declared_params, restore
from aucstudio.engine.roc import auc
from tests.conftest import small_settings


def cases(*, without=(), kernels_without=(), every_kernel=lambda key: True):
    """Return each method with each kernel as pytest parameters, without those with a trait.

    Methods for which ``every_kernel`` is False have their first kernel only.
    """
    found = []
    for key, method in METHODS.items():
        if any(getattr(method, trait) for trait in without):
            continue
        declared = declared_params(method)
        kernels = list(declared["kernel"].choices) if "kernel" in declared else [None]
        for kernel in kernels if every_kernel(key) else kernels[:1]:
            if kernel in kernels_without:
                continue
            chosen = {} if kernel is None else {"kernel": kernel}
            made = method(**small_settings(key), **chosen)
            found.append(pytest.param(made, id=key if kernel is None else f"{key}-{kernel}"))
    return found


def parameters():
    return [
        pytest.param(method, declared, id=f"{key}-{name}")
        for key, method in METHODS.items()
        for name, declared in declared_params(method).items()
    ]


every_case = pytest.mark.parametrize("method", cases())
every_method = pytest.mark.parametrize("method", list(METHODS.values()), ids=list(METHODS))
every_parameter = pytest.mark.parametrize(("method", "declared"), parameters())


@pytest.fixture(scope="module")
def data():
    """Return two overlapping clouds, 14 positives and 22 negatives, in random order."""
    rng = np.random.default_rng(5)
    y = rng.permutation(np.r_[np.ones(14, int), np.zeros(22, int)])
    X = rng.standard_normal((36, 3)) + np.outer(y, [1.5, 1.0, 0.0])
    return X, y


def exact(method):
    """Return the method with a fine tolerance, a shift-invariant kernel, and an FPR
    range that splits no negative, however often the rows are repeated.
    """
    declared = declared_params(type(method))
    finer = {"tol": 1e-9, "gamma": 0.3, "fpr_range": (0.0, 0.5), "fit_intercept": True}
    return clone(method).set_params(**{k: v for k, v in finer.items() if k in declared})


def standardised(scores):
    assert scores.std() > 0
    return (scores - scores.mean()) / scores.std()


def assert_same_ranking(first, second):
    np.testing.assert_allclose(standardised(first), standardised(second), atol=0.01)


# --- identity and declarations ---------------------------------------------------------------


@pytest.mark.parametrize("key", METHODS)
def test_declared_class_creates_a_scikit_learn_estimator(key):
    made = DECLARED[key]()
    assert type(made) is METHODS[key]
    assert isinstance(made, DECLARED[key])
    assert issubclass(METHODS[key], BaseEstimator)
    assert issubclass(METHODS[key], ClassifierMixin)
    for copied in (clone(made), pickle.loads(pickle.dumps(made))):  # noqa: S301
        assert type(copied) is METHODS[key]
        assert copied.get_params() == made.get_params()


def test_methods_are_exported_by_class_name():
    assert all(method.key == key for key, method in METHODS.items())
    for key, method in METHODS.items():
        assert method.__name__.lower() == key.replace("-", "")
        assert getattr(engine, method.__name__) is method
    assert list(METHODS)[:2] == ["auc-rls", "rls"]
    assert list(METHODS)[-1] == "marker"
    with pytest.raises(AttributeError, match="AUCRlS"):
        engine.AUCRlS  # noqa: B018


@every_method
def test_settings_are_keyword_only(method):
    kinds = {one.kind for one in inspect.signature(method).parameters.values()}
    assert kinds <= {inspect.Parameter.KEYWORD_ONLY}


@every_method
def test_method_has_title_family_source_and_summary(method):
    for words in (method.title, method.family, method.source, method.summary):
        assert words.strip() == words != ""
    assert "Minimises" in method.__doc__


@every_method
def test_docstring_lists_every_declared_setting(method):
    assert inspect.getdoc(method).count("\n----------\n") >= 1
    _, _, found = method.__doc__.partition("\nParameters\n----------\n")
    found, *_ = re.split(r"\n\n(?:Attributes|Raises|References)\n-", found)
    assert "Parameters\n" not in found
    entries = dict(re.findall(r"^(\w+) : (.*\n(?: {4}.*(?:\n|$))+)", found, flags=re.MULTILINE))
    declared = declared_params(method)
    assert list(entries) == list(declared)
    for name, text in entries.items():
        one = declared[name]
        head, *rest = text.splitlines()
        assert head.startswith(one.allowed())
        assert head.endswith(f"default {one.spell(one.default)}")
        assert one.unit in head
        assert one.help in rest[0]
        assert one.symbol in rest[0]
        assert all(words in text for words in one.choices.values())
    assert "Parameters" in pydoc.plain(pydoc.render_doc(method))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", cases(every_kernel=lambda key: key in ("svm-auc", "nsauc")))
def test_method_passes_scikit_learn_estimator_checks(method):
    """Check kernels of one method of each kind: they share the code of the kernels."""
    reason = method.weights_differ
    known = {"check_sample_weight_equivalence_on_dense_data": reason} if reason else {}
    results = check_estimator(method, on_fail=None, on_skip=None, expected_failed_checks=known)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
    assert sum(r["status"] == "passed" for r in results) > 40


@every_parameter
def test_declaration_is_complete(method, declared):
    assert declared.help.endswith(".")
    assert declared.label
    assert all(declared.choices.values())
    for value in (declared.default, *declared.grid, *declared.choices, *declared.words):
        declared.check(value)
    others = declared_params(method)
    for name, values in declared.when.items():
        for value in values:
            others[name].check(value)


@every_parameter
def test_parameter_values_round_trip_as_text(method, declared):
    for value in (declared.default, *declared.grid, *declared.choices, *declared.words):
        assert declared.parse(declared.spell(value)) == value


def bad_values(declared):
    """Yield values that contradict the declared kind and range."""
    yield from (object(), "no such word")
    if not declared.none and None not in declared.choices:
        yield None
    if declared.kind in ("float", "int"):
        yield from (math.nan, math.inf, True)
        if declared.low is not None:
            yield declared.low - 1
            if declared.low_open:
                yield declared.low
        if declared.high is not None:
            yield declared.high + 1
    if declared.kind == "int":
        yield declared.low + 0.5
    if declared.kind == "range":
        middle = (declared.low + declared.high) / 2
        yield from (
            (middle, middle),
            (declared.high, declared.low),
            (declared.low - 1, middle),
            (middle, declared.high + 1),
            (math.nan, middle),
        )


@every_parameter
def test_invalid_settings_are_refused_by_name(method, declared, data):
    for value in bad_values(declared):
        with pytest.raises(InvalidSetting, match=declared.name) as refused:
            method(**{declared.name: value}).fit(*data)
        assert refused.value.setting == declared.name


# --- bad data --------------------------------------------------------------------------------


@every_case
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_missing_and_infinite_values_are_refused(method, value, word, data):
    X, y = data
    X = X.copy()
    X[3, 1] = value
    if method.takes_missing and np.isnan(value):
        assert np.isfinite(clone(method).fit(X, y).decision_function(X)).all()
        return
    with pytest.raises(ValueError, match=word):
        clone(method).fit(X, y)


@every_case
def test_two_classes_are_needed(method, data):
    X, y = data
    with pytest.raises(ValueError, match="one class"):
        clone(method).fit(X, np.ones_like(y))
    with pytest.raises(ValueError, match="Only binary"):
        clone(method).fit(X, np.arange(len(y)) % 3)


# --- watching and stopping -------------------------------------------------------------------


@every_case
def test_callback_receives_a_usable_scorer(method, data):
    X, y = data
    steps, bounds = [], []

    def record_step(step):
        if step.iteration:
            assert math.isfinite(step.objective)
            assert step.gap is None or step.gap >= 0
            bounds.append(-math.inf if step.gap is None else step.objective - step.gap)
            steps.append((step.iteration, step.objective, step.scorer()(X)))

    fitted = clone(method).fit(X, y, callback=record_step)
    iterations, objectives, scores = zip(*steps, strict=True)
    if not hasattr(
        fitted, "fpr_range_used_"
    ):  # a bound for one range does not hold for a wider one
        assert max(bounds) <= fitted.objective_ + 1e-9 * abs(fitted.objective_)
    # A long iteration is reported repeatedly so that it can be stopped.
    assert all(a <= b for a, b in itertools.pairwise(iterations))
    if method.descends:
        assert min(objectives) >= fitted.objective_ - 1e-3 * abs(fitted.objective_)
    assert np.isfinite(scores).all()
    assert auc(y, scores[-1]) > 0.7
    assert fitted.converged_


@every_case
def test_objective_and_gap_are_finite(method, data):
    fitted = clone(method).fit(*data)
    assert math.isfinite(fitted.objective_)
    assert fitted.dual_gap_ is None or 0 <= fitted.dual_gap_ <= 0.05 * abs(fitted.objective_)


@every_case
def test_fit_stopped_at_its_first_ranking_keeps_that_scorer(method, data):
    X, y = data
    shown = [np.zeros(len(y))]

    def stop(step):
        shown.append(step.scorer()(X) if step.iteration else shown[-1])
        return np.ptp(shown[-1]) > 0

    fitted = clone(method).fit(X, y, callback=stop)
    assert not fitted.converged_
    assert_same_ranking(fitted.scorer_(X), shown[-1])
    assert auc(y, fitted.decision_function(X)) > 0.7
    assert set(fitted.predict(X)) <= {0, 1}


@every_case
def test_callback_can_stop_the_fit_at_any_time(method, data, monkeypatch):
    monkeypatch.setattr("aucstudio.engine.monitor.STAGE_INTERVAL", 0.0)
    X, y = data
    usable = []

    def refuse(step):
        usable.append(step.scorer is not None and np.ptp(step.scorer()(X)) > 0)
        return True

    try:
        assert not clone(method).fit(X, y, callback=refuse).converged_
    except Stopped:
        assert not usable[-1]
    assert len(usable) == 1


@every_case
def test_fit_stores_no_working_state_on_the_estimator(method, data, monkeypatch):
    X, y = data
    settings, inside, train = set(declared_params(type(method))), [], type(method)._fit

    def fit(self, X, positive, context):
        inside.append({name for name in vars(self) if not name.endswith("_")})
        return train(self, X, positive, context)

    monkeypatch.setattr(type(method), "_fit", fit)
    clone(method).fit(X, y)
    list(clone(method).fit_path(X, y, "", [0, 1]))
    if hasattr(method, "resolve_kernel"):
        clone(method).set_params(kernel="precomputed").fit(X @ X.T, y)
    assert len(inside) >= 3
    assert all(names == settings for names in inside)


# --- the same result from the same problem ---------------------------------------------------


@every_case
def test_refits_are_bit_identical_with_or_without_callback(method, data):
    first = clone(method).fit(*data)
    second = clone(method).fit(*data, callback=lambda step: False)
    assert first.objective_ == second.objective_
    assert first.intercept_ == second.intercept_
    for one, other in zip(
        first.scorer_.arrays().values(), second.scorer_.arrays().values(), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("method", cases(without=["follows_order"]))
def test_row_order_does_not_change_the_ranking(method, data):
    X, y = data
    order = np.random.default_rng(1).permutation(len(y))
    first, second = exact(method).fit(X, y), exact(method).fit(X[order], y[order])
    assert first.objective_ == pytest.approx(second.objective_, rel=1e-3)
    assert_same_ranking(first.scorer_(X), second.scorer_(X))


@pytest.mark.parametrize("method", cases(kernels_without=["poly"]))
def test_shift_of_all_rows_does_not_change_the_ranking(method, data):
    X, y = data
    shift = np.array([7.0, -3.0, 100.0])
    first, second = exact(method).fit(X, y), exact(method).fit(X + shift, y)
    assert_same_ranking(first.scorer_(X), second.scorer_(X + shift))
    if not method.as_given:  # a threshold at 0 has no meaning for raw feature values
        np.testing.assert_array_equal(first.predict(X), second.predict(X + shift))


@pytest.mark.parametrize("method", cases(without=["one_sided"]))
def test_swapped_labels_reverse_the_ranking(method, data):
    X, y = data
    first, second = exact(method).fit(X, y), exact(method).fit(X, 1 - y)
    assert_same_ranking(first.scorer_(X), -second.scorer_(X))


@pytest.mark.parametrize("method", cases(without=["counts_rows"]))
def test_repeated_rows_do_not_change_a_pairwise_method(method, data):
    X, y = data
    first = exact(method).fit(X, y)
    second = exact(method).fit(np.tile(X, (3, 1)), np.tile(y, 3))
    assert first.objective_ == pytest.approx(second.objective_, rel=1e-3)
    a, b = first.scorer_(X), second.scorer_(X)
    np.testing.assert_allclose(a - a.mean(), b - b.mean(), atol=0.01 * a.std())


@every_case
def test_scorer_is_restored_from_its_settings_and_arrays(method, data):
    X, y = data
    scorer = clone(method).fit(X, y).scorer_
    settings = json.loads(json.dumps(scorer.settings()))
    again = restore(scorer.kind, settings, scorer.arrays())
    np.testing.assert_array_equal(again(X), scorer(X))


# --- degenerate but legal data ---------------------------------------------------------------


def degenerate():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((12, 3)), np.arange(12) % 2
    constant = X.copy()
    constant[:, 1] = 0.1
    return {
        "one positive": (X, (np.arange(12) == 4).astype(int)),
        "one negative": (X, (np.arange(12) != 4).astype(int)),
        "two rows": (X[:2], y[:2]),
        "constant feature": (constant, y),
        "single feature": (X[:, :1], y),
        "more features than rows": (rng.standard_normal((6, 20)), y[:6]),
        "equal rows": (np.full((8, 2), 0.3), y[:8]),
        "same rows in both classes": (np.repeat(X[:6], 2, axis=0), y),
        "repeated rows": (np.vstack([X, X[:4]]), np.r_[y, y[:4]]),
    }


@every_case
@pytest.mark.parametrize("name", list(degenerate()))
def test_degenerate_data_yield_finite_scores(method, name):
    X, y = degenerate()[name]
    fitted = clone(method).fit(X, y)
    assert np.isfinite(fitted.decision_function(X)).all()
    assert math.isfinite(fitted.objective_)
    assert set(fitted.predict(X)) <= {0, 1}
    assert name != "equal rows" or np.ptp(fitted.scorer_(X)) <= 1e-9


@pytest.mark.parametrize("method", cases(kernels_without=["poly"]))
def test_large_offset_does_not_change_the_ranking(method, data):
    X, y = data
    X = np.round(X * 64) / 64  # exact at the offset
    first, second = exact(method).fit(X, y), exact(method).fit(X + 1e8, y)
    assert_same_ranking(first.scorer_(X), second.scorer_(X + 1e8))


def test_training_auc_below_one_half_is_noted():
    rng = np.random.default_rng(7)
    y = np.zeros(500, dtype=bool)
    y[:3] = True
    noise = rng.normal(size=(500, 5))
    fitted = METHODS["rls"]().fit(noise, y)
    assert auc(y, fitted.train_scores_) < 0.5
    assert [note.code for note in fitted.notes_] == ["training_ranked_backwards"]
    assert METHODS["rls"]().fit(noise + 9 * y[:, None], y).notes_ == ()


@pytest.mark.parametrize(
    "key", ["svm-auc", "svm-pauc", "svm-pauc-tight", "rank-svm", "kernel-rank-svm", "nbauc"]
)
def test_rows_without_a_separating_direction_are_noted(key, data):
    X, _ = data
    fitted = METHODS[key]().fit(np.vstack([X, X]), np.arange(72) < 36)
    assert "no_direction" in [note.code for note in fitted.notes_]
    assert fitted.objective_ == pytest.approx(fitted.C)
    assert fitted.converged_
