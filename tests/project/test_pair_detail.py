"""Explanation of a pair against scores of rows with swapped columns."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from aucstudio.project.data.preparing.preparation import feature_groups
from aucstudio.project.data.validation import Validation
from aucstudio.project.explain.contributions import MISSING, explain_pair
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment


def trained(table, method, **params):
    data = DataReference.to_table(table)
    return execute(plan_experiment(data, method, params, Validation()), table).splits[0]


def any_pair(split):
    positive = split.train_positive
    return int(split.train_rows[positive][3]), int(split.train_rows[~positive][7])


def test_linear_contributions_are_weight_times_difference(table):
    split = trained(table, "auc-rls")
    rows = any_pair(split)
    detail = explain_pair(table, split.model, rows)
    X = split.model.preparation.apply(table, np.array(rows))
    groups = feature_groups(split.model.preparation)
    for part in detail.parts:
        group = groups[part.column]
        assert_allclose(part.contribution, (split.coef * (X[0] - X[1]))[group].sum())
    assert detail.interplay == pytest.approx(0.0, abs=1e-12)
    sizes = [abs(part.contribution) for part in detail.parts]
    assert sizes == sorted(sizes, reverse=True)
    assert {part.column for part in detail.parts} == {"x0", "x1", "x2", "x3", "town"}


def test_swapping_columns_of_a_linear_model_matches_the_weights(table, monkeypatch):
    split = trained(table, "auc-rls")
    rows = any_pair(split)
    expected = explain_pair(table, split.model, rows)
    monkeypatch.setattr("aucstudio.project.explain.contributions.COLUMNS_PER_CHUNK", 2)
    hidden = dataclasses.replace(split.model, scorer=lambda X: X @ split.coef)
    found = explain_pair(table, hidden, rows)
    assert [part.column for part in found.parts] == [part.column for part in expected.parts]
    for a, b in zip(found.parts, expected.parts, strict=True):
        assert_allclose(a.contribution, b.contribution, atol=1e-12)


def test_non_linear_models_swap_columns_both_ways(table):
    split = trained(table, "svm", kernel="rbf")
    rows, f = any_pair(split), split.model.scorer
    detail = explain_pair(table, split.model, rows)
    X = split.model.preparation.apply(table, np.array(rows))
    for part in detail.parts:
        group = feature_groups(split.model.preparation)[part.column]
        first, second = X[0].copy(), X[1].copy()
        first[group], second[group] = X[1][group], X[0][group]
        scores = [float(f(row[None])[0]) for row in (X[0], first, second, X[1])]
        expected = (scores[0] - scores[1] + scores[2] - scores[3]) / 2
        assert part.contribution == pytest.approx(expected)
    margin = float(f(X)[0] - f(X)[1])
    assert detail.margin == pytest.approx(margin)
    assert detail.interplay == pytest.approx(margin - sum(p.contribution for p in detail.parts))


def test_explained_cells_are_those_of_the_table(table):
    split = trained(table, "gradient-boosting", max_iter=5)
    x1 = next(column for column in table.columns if column.name == "x1")
    gap = int(np.flatnonzero(np.isnan(x1.values))[0])
    other = int(np.flatnonzero(~np.isnan(x1.values))[0])
    detail = explain_pair(table, split.model, (gap, other))
    parts = {part.column: part for part in detail.parts}
    assert parts["x1"].cells == (MISSING, repr(float(x1.values[other])))
    assert np.isnan(parts["x1"].difference)
    assert np.isnan(parts["town"].difference)
    assert parts["town"].cells[0] in {"north", "south"}
    assert np.isfinite(detail.margin)
    x0 = next(column for column in table.columns if column.name == "x0").values
    scale = split.model.preparation.scales[0]
    assert parts["x0"].difference == pytest.approx((x0[gap] - x0[other]) / scale)
