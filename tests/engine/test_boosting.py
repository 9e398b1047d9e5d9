"""Gradient boosting against the library it wraps; its trees as plain arrays."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from aucstudio.engine import restore
from aucstudio.engine.methods.gradient_boosting import GradientBoosting
from aucstudio.engine.scorers import EnsembleScorer
from tests.engine.test_baselines import WEIGHTS

SMALL = {"max_iter": 12, "min_samples_leaf": 5}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    y = (rng.random(600) < 0.3).astype(int)
    X = rng.standard_normal((600, 5)) + y[:, None] * [1.0, 0.5, 0.0, 0.0, 0.2]
    X[:, 2] = np.round(X[:, 2])
    X[:, 4] = 3.0
    return X, y


def library(**settings):
    return HistGradientBoostingClassifier(early_stopping=False, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"learning_rate": 0.5, "max_leaf_nodes": 4},
        {"l2_regularization": 10.0, "min_samples_leaf": 40},
    ],
)
def test_scores_equal_the_library_bit_for_bit(settings, data):
    X, y = data
    settings = SMALL | settings
    ours, theirs = GradientBoosting(**settings).fit(X, y), library(**settings).fit(X, y)
    rows = np.vstack([X, np.random.default_rng(1).normal(size=(50, 5)) * 3])
    np.testing.assert_array_equal(ours.decision_function(rows), theirs.decision_function(rows))
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))


@pytest.mark.parametrize("class_weight", WEIGHTS)
def test_class_weights_on_few_levels_equal_the_library(class_weight, data):
    X, y = data
    X = np.round(X, 1)
    ours = GradientBoosting(class_weight=class_weight, **SMALL).fit(X, y)
    theirs = library(class_weight=class_weight, **SMALL).fit(X, y)
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))


def with_missing_values(X, share=0.2):
    """Remove values from the first two features, more often where they are large."""
    rng = np.random.default_rng(2)
    X = X.copy()
    for k in (0, 1):
        X[rng.random(len(X)) < share * np.where(X[:, k] > 1, 2.0, 1.0), k] = np.nan
    return X


@pytest.mark.parametrize("settings", [{}, {"max_leaf_nodes": 4, "l2_regularization": 1.0}])
@pytest.mark.parametrize("round_to", [None, 0])
def test_scores_with_missing_values_equal_the_library_bit_for_bit(settings, round_to, data):
    X, y = (
        with_missing_values(data[0] if round_to is None else np.round(data[0], round_to)),
        data[1],
    )
    settings = SMALL | settings
    ours, theirs = GradientBoosting(**settings).fit(X, y), library(**settings).fit(X, y)
    unseen = np.random.default_rng(1).normal(size=(200, 5)) * 3
    unseen[np.random.default_rng(3).random(unseen.shape) < 0.3] = np.nan
    rows = np.vstack([X, unseen])
    np.testing.assert_array_equal(ours.decision_function(rows), theirs.decision_function(rows))
    assert 0 < ours.scorer_.gaps_left.sum() < (ours.scorer_.left < ours.scorer_.right).sum()


def test_missing_values_can_separate_the_classes(data):
    X, y = data
    X = X.copy()
    X[y == 1, 3] = np.nan
    ours, theirs = GradientBoosting(**SMALL).fit(X, y), library(**SMALL).fit(X, y)
    assert np.isfinite(ours.scorer_.threshold).all()
    far = np.full((3, 5), 0.0)
    far[:, 3] = [np.nan, 1e300, -1e300]
    for rows in (X, far):
        np.testing.assert_array_equal(ours.decision_function(rows), theirs.decision_function(rows))
    np.testing.assert_array_equal(ours.predict(far), [1, 0, 0])


def test_each_tree_is_reported_with_a_scorer_of_the_trees_so_far(data):
    X, y = data
    steps, scores = [], []

    def record_step(step):
        if step.iteration:
            steps.append(step)
            scores.append(step.scorer()(X))

    model = GradientBoosting(**SMALL).fit(X, y, callback=record_step)
    assert [step.iteration for step in steps] == list(range(1, 13))
    assert {step.total for step in steps} == {12}
    objectives = [step.objective for step in steps]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] == model.objective_
    np.testing.assert_array_equal(scores[-1], model.scorer_(X))
    five = library(**(SMALL | {"max_iter": 5})).fit(X, y)
    np.testing.assert_array_equal(scores[4], five.decision_function(X))


# --- trees as arrays -------------------------------------------------------------------------


def score_by_hand(scorer, row):
    total = scorer.base
    for node in scorer.roots:
        while scorer.left[node] != node:
            value = row[scorer.feature[node]]
            gap = np.isnan(value)
            goes_left = scorer.gaps_left[node] if gap else value <= scorer.threshold[node]
            node = scorer.left[node] if goes_left else scorer.right[node]
        total += scorer.value[node]
    return total


def test_tree_scores_match_manual_traversal_and_survive_storage(data):
    X, y = data
    X = with_missing_values(X)
    scorer = GradientBoosting(**SMALL).fit(X, y).scorer_
    np.testing.assert_array_equal(scorer(X), [score_by_hand(scorer, row) for row in X])
    settings = json.loads(json.dumps(scorer.settings()))
    again = restore("trees", settings, {k: v.copy() for k, v in scorer.arrays().items()})
    np.testing.assert_array_equal(again(X), scorer(X))
    np.testing.assert_array_equal(again(np.asfortranarray(X)[::-1]), scorer(X)[::-1])
    assert again(X[:0]).shape == (0,)


@pytest.mark.slow
def test_trees_score_any_memory_layout(data):
    X, y = data
    X = with_missing_values(X)
    scorer = GradientBoosting(**SMALL).fit(X, y).scorer_
    X = np.tile(X, (4, 1))  # more rows than one batch
    few = np.arange(0, len(X), 29)
    expected = [score_by_hand(scorer, row) for row in X[few]]
    for array in scorer.arrays().values():
        array.flags.writeable = False  # like arrays read from a file
    fixed = X.copy()
    fixed.flags.writeable = False
    for rows in (X, fixed, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(scorer(rows)[few], expected)
    single = X.astype(np.float32)
    np.testing.assert_array_equal(scorer(single), scorer(single.astype(float)))


def stump(**changes):
    parts = {
        "roots": np.array([0]),
        "feature": np.array([1, 0, 0]),
        "threshold": np.array([0.5, 0.0, 0.0]),
        "left": np.array([1, 1, 2]),
        "right": np.array([2, 1, 2]),
        "value": np.array([0.0, -1.0, 2.0]),
    }
    return EnsembleScorer(**(parts | changes), base=10.0)


@pytest.mark.parametrize(
    "damage",
    [
        {"left": np.array([0, 0, 2])},
        {"right": np.array([3, 1, 2])},
        {"roots": np.array([3])},
        {"roots": np.array([-1])},
        {"feature": np.array([-1, 0, 0])},
        {"threshold": np.array([0.5])},
    ],
)
def test_damaged_trees_are_refused(damage):
    with pytest.raises(ValueError, match="do not fit"):
        stump(**damage)


def test_rows_with_too_few_features_are_refused():
    with pytest.raises(ValueError, match="need 2 features"):
        stump()(np.zeros((3, 1)))
