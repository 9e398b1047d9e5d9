"""Permutation importance against explicit permutation and scikit-learn's areas."""

import dataclasses
import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.metrics import roc_auc_score, roc_curve

from aucstudio.engine.inference import Placements, splits_interval
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.roc import Ranking
from aucstudio.engine.scorers import LinearScorer
from aucstudio.project.data.preparing.preparation import feature_groups
from aucstudio.project.explain import importance
from aucstudio.project.explain.importance import movers, permutation_importance
from aucstudio.project.runs.execute import execute

BAND = (0.1, 0.6)


def pauc(positive, scores):
    fpr, tpr, _ = roc_curve(positive, scores, drop_intermediate=False)
    grid = np.unique(np.concatenate([BAND, fpr[(fpr > BAND[0]) & (fpr < BAND[1])]]))
    # A vertical step inside the band has two heights: sum the area piece by piece.
    area = 0.0
    for low, high in itertools.pairwise(grid):
        inside = np.array([low + 1e-9, high - 1e-9])
        heights = np.interp(inside, fpr + np.arange(len(fpr)) * 1e-13, tpr)
        area += (high - low) * heights.mean()
    return area / (BAND[1] - BAND[0])


def brute_force_drops(split, table, seed, k, r):
    """Return the drops of both areas for explicitly permuted columns."""
    preparation, scorer = split.model.preparation, split.model.scorer
    X = preparation.apply(table, split.test_rows)
    drops = []
    for c, group in enumerate(feature_groups(preparation).values()):
        order = np.random.default_rng((seed, k, r, c)).permutation(len(X))
        moved = X.copy()
        moved[:, group] = X[order][:, group]
        before, after = scorer(X), scorer(moved)
        drops.append(
            [
                roc_auc_score(split.test_positive, before)
                - roc_auc_score(split.test_positive, after),
                pauc(split.test_positive, before) - pauc(split.test_positive, after),
            ]
        )
    return np.array(drops)


@pytest.mark.parametrize("method", ["auc-rls", "auc-split", "pauc-boost"])
def test_drops_match_explicit_permutation(table, plan, method):
    record = execute(plan(method, repeats=2), table)
    found = permutation_importance(record, table, BAND, repeats=2, seed=7)
    assert found.columns == tuple(table.feature_names)
    assert found.complete
    for k, split in enumerate(record.splits):
        for r in range(2):
            assert_allclose(found.drops[k, r], brute_force_drops(split, table, 7, k, r), atol=1e-6)


def test_levels_of_a_category_form_one_group(table, plan):
    record = execute(plan(), table)
    preparation = record.splits[0].model.preparation
    groups = feature_groups(preparation)
    assert list(groups) == [*preparation.numbers, *preparation.categories]
    width = [group.stop - group.start for group in groups.values()]
    assert width == [1] * len(preparation.numbers) + [len(v) for v in preparation.levels]
    assert sum(width) == len(preparation.feature_names)


def test_intervals_cover_splits_or_the_rows_of_one_split(table, plan):
    record = execute(plan(repeats=3), table)
    found = permutation_importance(record, table, BAND, repeats=4)
    value, low, high = found.summary("auc")
    split = record.splits[0]
    share = len(split.test_rows) / (len(split.test_rows) + len(split.train_rows))
    for c in range(len(found.columns)):
        means = found.drops[:, :, c, 0].mean(axis=1)
        expected = splits_interval(means, 0.95, share, bounds=(-1, 1))
        assert_allclose([value[c], low[c], high[c]], [means.mean(), expected.low, expected.high])
    one = permutation_importance(
        dataclasses.replace(record, splits=record.splits[:1]), table, BAND, repeats=4
    )
    for k, (measure, band) in enumerate({"auc": (0.0, 1.0), "pauc": BAND}.items()):
        value, low, high = one.summary(measure)
        for c in range(len(one.columns)):
            assert_allclose(value[c], one.drops[0, :, c, k].mean())
            widths = list(paired_widths(split, table, 0, 4, c, band))
            assert_allclose(high[c] - low[c], np.sqrt(np.mean(np.square(widths))), atol=1e-12)


def paired_widths(split, table, seed, repeats, c, band):
    """Return the widths of intervals of areas before minus after explicit permutations."""
    X, scorer = split.model.preparation.apply(table, split.test_rows), split.model.scorer
    group = list(feature_groups(split.model.preparation).values())[c]
    for r in range(repeats):
        moved = X.copy()
        order = np.random.default_rng((seed, 0, r, c)).permutation(len(X))
        moved[:, group] = X[order][:, group]
        a, b = (
            Placements(
                Ranking.of(split.test_positive, scorer(rows), groups=split.test_groups), band
            )
            for rows in (X, moved)
        )
        yield 2 * stats.norm.ppf(0.975) * a.difference_variance(b).se


def test_stop_keeps_the_finished_permutations(table, plan):
    record = execute(plan(repeats=2), table)
    whole = permutation_importance(record, table, BAND, repeats=5)
    part = permutation_importance(record, table, BAND, repeats=5, listen=lambda done: done > 0.72)
    assert not part.complete
    assert (part.splits, part.repeats) == (2, 5)
    kept = ~np.isnan(part.drops)
    assert kept[0].all()
    assert 0 < kept[1].sum() < kept[0].sum()
    assert_array_equal(part.drops[kept], whole.drops[kept])
    assert np.isfinite(part.summary("auc")[0]).all()
    with pytest.raises(Stopped):
        permutation_importance(record, table, BAND, listen=lambda _: True)


def test_rest_is_computed_where_a_call_left_off(table, plan):
    record, seen = execute(plan(repeats=2), table), []
    whole = permutation_importance(record, table, BAND, repeats=3, report=seen.append)
    first = seen[0]
    assert (~np.isnan(first.drops[..., 0])).sum() == 1  # the first column alone
    assert (first.splits, first.repeats) == (0, 0)
    assert_array_equal(np.isnan(first.summary("auc")[0]), np.arange(len(first.columns)) > 0)
    again = []
    part = permutation_importance(record, table, BAND, repeats=3, listen=lambda done: done > 0.6)
    rest = permutation_importance(
        record,
        table,
        BAND,
        repeats=3,
        known=part,
        listen=lambda done: again.append(done) is not None,
    )
    assert again[0] > 0.6
    assert_array_equal(rest.drops, whole.drops)
    assert_array_equal(rest.areas, whole.areas)
    assert_array_equal(rest.summary("pauc"), whole.summary("pauc"))


def test_progress_runs_from_0_to_1(table, plan):
    record, fractions = execute(plan(repeats=2), table), []
    permutation_importance(
        record, table, BAND, repeats=2, listen=lambda done: fractions.append(done) is not None
    )
    assert fractions == sorted(fractions)
    assert fractions[0] == 0.0
    assert 0.75 < fractions[-1] <= 1.0


def test_many_rows_are_subsampled(table, plan):
    record = execute(plan(), table)
    found = permutation_importance(record, table, BAND, repeats=2, most_rows=40)
    assert found.rows == 40
    assert found.of_rows == len(record.splits[0].test_rows)


def test_only_influential_columns_of_many_are_permuted(table, plan, monkeypatch):
    record = execute(plan(repeats=2), table)
    whole = permutation_importance(record, table, BAND, repeats=3)
    assert whole.of_columns == len(whole.columns)
    monkeypatch.setattr(importance, "MOST_COLUMNS", 1)
    monkeypatch.setattr(importance, "KEPT_COLUMNS", 2)
    fractions = []
    found = permutation_importance(
        record, table, BAND, repeats=3, listen=lambda done: fractions.append(done) is not None
    )
    assert (len(found.columns), found.of_columns) == (2, len(whole.columns))
    places = [whole.columns.index(name) for name in found.columns]
    assert_array_equal(found.drops, whole.drops[:, :, places])
    assert fractions == sorted(fractions)
    assert max(fractions) <= 1.0


@pytest.mark.parametrize("wrap", [LinearScorer, lambda w: lambda X: X @ w], ids=["known", "asked"])
def test_most_influential_columns_are_found_among_many(wrap):
    draw = np.random.default_rng(4)
    X, weights = draw.normal(size=(400, 5_000)), np.zeros(5_000)
    useful = np.sort(draw.choice(5_000, 12, replace=False))
    weights[useful] = draw.choice([-1.0, 1.0], 12) * np.arange(1, 13)
    groups = [slice(k, k + 1) for k in range(5_000)]
    assert set(useful[np.abs(weights[useful]) > 4]) <= set(movers(wrap(weights), X, groups, 200))
    best = movers(wrap(weights), X, groups, 12)
    assert {int(k) for k in useful if abs(weights[k]) > 9} <= set(best)
    assert best == sorted(best)
    squared = movers(lambda X: X[:, 7] ** 2 - X[:, 9], X, groups, 2)
    assert squared == [7, 9]
