"""Weights over splits, score curves and trees, against the scorers themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.inspection import partial_dependence

from aucstudio.project.data.preparing.preparation import feature_groups
from aucstudio.project.explain.effects import coefficients, rough_spans, score_curve
from aucstudio.project.explain.trees import feature_use, plain_number, read_tree
from aucstudio.project.runs.execute import execute


def rows_of(record, table, split=0):
    one = record.splits[split]
    return one.model.preparation.apply(table, one.train_rows), one


def silent(_what, _fraction):
    return None


def test_coefficients_collect_the_weights_of_all_splits(table, plan):
    record = execute(plan(repeats=3), table)
    found = coefficients(record.splits)
    assert (np.diff(np.abs(found.mean)) <= 1e-12).all()
    for s, split in enumerate(record.splits):
        learnt = split.model.preparation
        for name, w in zip(learnt.feature_names, split.coef, strict=True):
            k = found.names.index(name)
            assert found.weights[s, k] == w
            assert found.is_level[k] == (name not in learnt.numbers)
            signs = np.sign(found.weights[:, k])
            assert found.same_sign[k] == np.mean(signs == np.sign(found.weights[:, k].mean()))
    assert coefficients(execute(plan("auc-split"), table).splits) is None


def test_shares_of_features_add_up_to_those_of_their_columns(table, plan):
    found = coefficients(execute(plan(repeats=3), table).splits)
    assert found.shares.sum() == pytest.approx(1.0)
    several = {}
    for name, share in zip(found.names, found.shares, strict=True):
        column = name.partition(" = ")[0]
        count, known = several.get(column, (0, 0.0))
        several[column] = count + 1, known + share
    several = {column: found for column, found in several.items() if found[0] > 1}
    assert several
    assert found.of_columns.keys() == several.keys()
    for column, (count, share) in several.items():
        assert found.of_columns[column] == (count, pytest.approx(share))


@pytest.mark.parametrize("method", ["pauc-boost", "rankboost"])
def test_curves_of_an_additive_model_sum_to_its_score(table, plan, method):
    X, split = rows_of(execute(plan(method), table), table)
    model = split.model
    summed = np.zeros(len(X))
    for column, group in feature_groups(model.preparation).items():
        curve = score_curve(model, X, column, points=10**6)
        assert curve.exact
        k = group.start
        if curve.levels:
            assert curve.levels == model.preparation.levels[-1]
            summed += curve.y[X[:, group].argmax(axis=1)]
            continue
        own = X[:, k] * model.preparation.scales[k] + model.preparation.means[k]
        summed += curve.y[np.abs(curve.x[:, None] - own).argmin(axis=0)]
    rest = (model.scorer(X) - summed)[~np.isnan(X).any(axis=1)]
    assert_allclose(rest, rest[0], atol=1e-8)


@pytest.mark.parametrize(("method", "exact"), [("auc-split", False), ("auc-rls", True)])
def test_only_additive_models_have_exact_curves(table, plan, method, exact):
    X, split = rows_of(execute(plan(method), table), table)
    assert score_curve(split.model, X, "x0").exact is exact


def test_partial_dependence_matches_scikit_learn(table, plan):
    from sklearn.base import BaseEstimator, RegressorMixin

    class Scored(RegressorMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.fitted_ = True
            return self

        def predict(self, X):
            return split.model.scorer(X)

    X, split = rows_of(execute(plan("svm", {"kernel": "rbf"}), table), table)
    column = split.model.preparation.numbers[0]
    curve = score_curve(split.model, X, column, points=9, most_rows=10**6)
    low, high = np.quantile(X[:, 0], (0.01, 0.99))
    found = partial_dependence(
        Scored().fit(X), X, [0], percentiles=(0, 1), custom_values={0: np.linspace(low, high, 9)}
    )["average"][0]
    assert_allclose(curve.y, found - found.mean(), atol=1e-10)
    assert not curve.exact
    scale, mean = split.model.preparation.scales[0], split.model.preparation.means[0]
    assert_allclose(curve.x, np.linspace(low, high, 9) * scale + mean)


def test_rough_spans_cover_all_columns(table, plan):
    X, split = rows_of(execute(plan("auc-split"), table), table)
    spans = rough_spans(split.model, X, silent)
    assert set(spans) == set(table.feature_names)
    assert max(spans.values()) > 0


def test_tree_nodes_match_its_scores_and_counts(table, plan):
    X, split = rows_of(execute(plan("auc-split", {"max_leaf_nodes": 9}), table), table)
    scorer, preparation = split.model.scorer, split.model.preparation
    root = read_tree(scorer, 0, preparation, X, split.train_positive)
    assert (root.positives, root.negatives) == (
        split.train_positive.sum(),
        (~split.train_positive).sum(),
    )
    scores, seen = scorer(X), 0
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_leaf:
            inside = scores == scorer.base + node.value
            assert inside[split.train_positive].sum() >= node.positives
            # AUCsplit's own score of a leaf with these counts.
            size = node.positives + node.negatives
            assert node.value == pytest.approx((node.positives + 1) / (size + 2))
            seen += 1
            continue
        assert node.positives == node.left.positives + node.right.positives
        assert node.leaves == node.left.leaves + node.right.leaves
        assert node.left.depth == node.depth + 1
        waiting += [node.left, node.right]
    assert root.leaves == seen == 9


def test_conditions_are_in_the_units_of_the_table(table, plan):
    X, split = rows_of(execute(plan("auc-split", {"max_leaf_nodes": 2}), table), table)
    preparation, scorer = split.model.preparation, split.model.scorer
    root = read_tree(scorer, 0, preparation, X, split.train_positive)
    name, value = root.condition.split(" ≤ ")
    column = next(c for c in table.columns if c.name == name)
    cells = column.values[split.train_rows]
    left = np.nan_to_num(cells, nan=np.inf) <= float(value.replace("−", "-").replace(",", ""))
    known = ~np.isnan(cells)
    k = preparation.numbers.index(name)
    assert_array_equal(left[known], (X[:, k] <= scorer.threshold[root.index])[known])


def test_gains_of_an_ensemble_sum_to_one(table, plan):
    record = execute(plan("gradient-boosting"), table)
    X, split = rows_of(record, table)
    scorer = split.model.scorer
    found = feature_use(scorer, split.model.preparation, X)
    inner = scorer.left != np.arange(len(scorer.left))
    assert found.splits.sum() == inner.sum()
    assert found.gain.sum() == pytest.approx(1.0)
    # A tree of two leaves has all its variance on one column.
    top = [scorer.roots[t] for t in range(len(scorer.roots)) if inner[scorer.roots[t]]]
    assert top
    assert (found.gain[found.splits == 0] == 0).all()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (-1.5, "−1.5"),
        (12345.678, "12,346"),
        (0.012345, "0.01235"),
        (100.0, "100"),
        (2e-7, "2e−07"),
    ],
)
def test_numbers_are_formatted_plainly(value, words):
    assert plain_number(value) == words
