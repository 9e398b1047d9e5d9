"""Notes on a fit derived from its scores."""

import numpy as np
import pytest

from aucstudio.engine import METHODS
from aucstudio.notices import notice
from aucstudio.project.runs.run_notes import leak_notes, score_notes


def messages(train, test, memorises=False, rows=200, seed=0):
    """Return the notes for scores with the given mean difference between the classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) < rows // 4
    scores = [shift * y + rng.normal(size=rows) for shift in (train, test)]
    return score_notes(
        y,
        scores[0],
        y,
        scores[1],
        method=METHODS["random-forest" if memorises else "logistic"],
        params={},
    )


def test_good_model_has_no_note():
    assert messages(1.5, 1.4) == ()


def test_overfitting_is_reported_with_both_aucs():
    (note,) = messages(4.0, 0.3)
    assert str(note).startswith("Overfitted: the AUC is 0.99")


def test_methods_that_memorise_have_no_overfitting_note():
    assert messages(4.0, 0.3, memorises=True) == ()


def test_few_held_out_rows_have_no_note():
    y = np.array([True, False, False])
    rng = np.random.default_rng(1)
    train = np.arange(100) < 30
    scores = 4.0 * train + rng.normal(size=100)
    assert (
        score_notes(
            train, scores, y, np.array([0.0, 1.0, -1.0]), method=METHODS["logistic"], params={}
        )
        == ()
    )


def test_training_rows_ranked_backwards_are_reported():
    (note,) = messages(-2.0, 0.0)
    assert note.code == "ranks_backwards"


@pytest.mark.parametrize("constant", [0.0, -3.5])
def test_equal_scores_are_reported(constant):
    y = np.array([True, False, True])
    (note,) = score_notes(
        y, np.full(3, constant), y, np.full(3, constant), method=METHODS["logistic"], params={}
    )
    assert note.code == "constant_scores"


@pytest.mark.parametrize(
    ("method", "params", "helps"),
    [
        ("svm", {"kernel": "linear"}, ["balanced class weights", "larger cost C", "Gaussian"]),
        ("svm", {"kernel": "rbf", "class_weight": "balanced"}, ["larger cost C"]),
        ("auc-rls", {"kernel": "rbf"}, ["smaller regularisation λ"]),
        ("random-forest", {}, ["balanced class weights", "fewer rows in a leaf"]),
    ],
)
def test_constant_fit_suggests_settings_of_the_method(method, params, helps):
    y = np.arange(10) < 3
    scores = -1.0 + 1e-12 * np.arange(10)  # tied up to rounding
    (note,) = score_notes(y, scores, y, scores, method=METHODS[method], params=params)
    listed = ["balanced class weights", "larger cost C", "smaller regularisation λ"]
    listed += ["fewer rows in a leaf", "Gaussian"]
    assert [words for words in listed if words in str(note)] == helps


def test_svm_with_a_constant_optimum_has_a_note():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1_500, 8))
    signal = 0.7 * X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.logistic(size=1_500)
    y = signal > np.quantile(signal, 0.9)
    notes = {}
    for weight in (None, "balanced"):
        fitted = METHODS["svm"](class_weight=weight).fit(X, y)
        scores = fitted.train_scores_
        known = {"method": METHODS["svm"], "params": fitted.get_params(deep=False)}
        notes[weight] = score_notes(y, scores, y, scores, **known)
        assert fitted.converged_
    assert notes[None][0].code == "constant_scores"
    assert "balanced class weights" in str(notes[None][0])
    assert notes["balanced"] == ()


def columns_and_classes(rows=60):
    y = np.arange(rows) % 3 == 0
    X = np.random.default_rng(2).normal(size=(rows, 3))
    return X, y


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_column_that_separates_the_classes_is_named(sign):
    X, y = columns_and_classes()
    assert leak_notes(["a", "b", "c"], X, y) == ()
    X[:, 1] = sign * y
    X[5, 1] = np.nan
    (note,) = leak_notes(["a", "b", "c"], X, y)
    assert note == notice("column_separates", column="b")
    X[4, 1] = sign
    assert leak_notes(["a", "b", "c"], X, y) == ()


def test_few_rows_separated_by_chance_name_no_column():
    X, y = columns_and_classes(6)
    assert leak_notes(["a", "b", "c"], np.column_stack([X[:, :2], y]), y) == ()


def test_column_without_values_in_a_class_is_skipped():
    X, y = columns_and_classes()
    X[y, 0] = np.nan
    assert leak_notes(["a", "b", "c"], X, y) == ()
