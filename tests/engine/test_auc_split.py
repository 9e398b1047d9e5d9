"""AUCsplit against exhaustive search, and the identities it is built on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from aucstudio.engine.methods import tree_growth
from aucstudio.engine.methods.auc_split import AUCSplit, laplace, misranked
from aucstudio.engine.monitor import Monitor


def sample(seed, N=24, ties=True, gaps=0.15):
    rng = np.random.default_rng(seed)
    y = (rng.random(N) < 0.4).astype(int)
    y[:2] = 0, 1
    X = rng.standard_normal((N, 3)) + 0.7 * y[:, None]
    X = np.round(X * 2) / 2 if ties else X
    X[rng.random(X.shape) < gaps] = np.nan
    return X, y


# --- the tree of an exhaustive search --------------------------------------------------------


def every_split(X, rows):
    """Yield all splits of the rows as (feature, left rows), in the order that resolves ties."""
    for f in range(X.shape[1]):
        column = X[rows, f]
        gap = np.isnan(column)
        for value in np.unique(column[~gap]):
            for left in (column <= value, (column <= value) | gap):
                yield f, frozenset(rows[left])


def local_auc(y, rows, left):
    """Return the AUC of 'is on the left', or of its opposite, by counting pairs."""
    sides = [(row in left, y[row]) for row in rows]
    positives = [side for side, label in sides if label]
    negatives = [side for side, label in sides if not label]
    if not positives or not negatives:
        return Fraction(1, 2)
    wins = sum(Fraction((s > t) * 2 + (s == t), 2) for s in positives for t in negatives)
    area = wins / (len(positives) * len(negatives))
    return max(area, 1 - area)


def best_split(X, y, rows, least):
    """Return the first of the best splits, with its global gain times P Q."""
    best = (Fraction(0), None, None)
    pairs = int(y[rows].sum()) * int((1 - y[rows]).sum())
    for f, left in every_split(X, rows):
        if least <= len(left) <= len(rows) - least:
            gain = pairs * (local_auc(y, rows, left) - Fraction(1, 2))
            if gain > best[0]:
                best = (gain, f, left)
    return best


def grow_exhaustively(X, y, least=1, depth=20, leaves=None):
    """Return the splits in order, as (node, feature, rows on the left, rows on the right)."""
    nodes = [(np.arange(len(y)), 0)]
    offers = {0: best_split(X, y, nodes[0][0], least)}
    splits = []
    while offers and len(splits) + 1 != leaves:
        node = max(offers, key=lambda v: (offers[v][0], -v))
        gain, feature, left = offers.pop(node)
        rows, level = nodes[node]
        if not gain:
            continue
        sides = [np.array([r for r in rows if (r in left) == side]) for side in (True, False)]
        splits.append((node, feature, *(set(side) for side in sides)))
        for side in sides:
            if level + 1 < depth:
                offers[len(nodes)] = best_split(X, y, side, least)
            nodes.append((side, level + 1))
    return splits


def rows_of_nodes(scorer, X):
    """Return the set of rows that reach each node."""
    through = [set() for _ in scorer.left]
    for r, row in enumerate(X):
        node = 0
        through[0].add(r)
        while scorer.left[node] != node:
            value = row[scorer.feature[node]]
            if np.isnan(value):
                goes_left = scorer.gaps_left[node]
            else:
                goes_left = value <= scorer.threshold[node]
            node = scorer.left[node] if goes_left else scorer.right[node]
            through[node].add(r)
    return through


def splits_of(scorer, X):
    through = rows_of_nodes(scorer, X)
    inner = [v for v in range(len(scorer.left)) if scorer.left[v] != v]
    return [
        (v, scorer.feature[v], through[scorer.left[v]], through[scorer.right[v]])
        for v in sorted(inner, key=lambda v: scorer.left[v])
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_tree_equals_that_of_exhaustive_search(seed):
    least, depth, leaves = [(1, 20, None), (2, 20, None), (3, 2, None), (1, 20, 4)][seed % 4]
    X, y = sample(seed, ties=seed % 3 > 0, gaps=0.15 * (seed % 2))
    model = AUCSplit(min_samples_leaf=least, max_depth=depth, max_leaf_nodes=leaves).fit(X, y)
    expected = grow_exhaustively(X, y, least, depth, leaves)
    assert splits_of(model.scorer_, X) == expected
    assert model.n_iter_ == len(expected) > 1


@pytest.mark.parametrize("cells", [1, 30])
def test_small_work_portions_give_the_same_tree(cells, monkeypatch):
    X, y = sample(3, N=300)
    whole = AUCSplit().fit(X, y)
    monkeypatch.setattr(tree_growth, "CELLS_PER_LOOK", cells)
    parts = AUCSplit().fit(X, y)
    for name, expected in whole.scorer_.arrays().items():
        np.testing.assert_array_equal(parts.scorer_.arrays()[name], expected)


# --- scores and objective --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_leaves_have_laplace_scores_and_objective_is_their_auc(seed):
    X, y = sample(seed, N=150)
    model = AUCSplit(min_samples_leaf=4).fit(X, y)
    scorer = model.scorer_
    scores = scorer(X)
    for node, rows in enumerate(rows_of_nodes(scorer, X)):
        p = sum(y[r] for r in rows)
        assert model.node_counts_[node].tolist() == [p, len(rows) - p]
        if scorer.left[node] == node:
            assert set(scores[list(rows)]) == {(p + 1) / (len(rows) + 2)}
    assert model.objective_ == pytest.approx(1 - roc_auc_score(y, scores), abs=1e-12)
    assert model.dual_gap_ is None


def test_misranked_share_from_counts_equals_one_minus_auc():
    rng = np.random.default_rng(0)
    for _ in range(20):
        counts = rng.integers(0, 5, (6, 2))
        counts[0] += 1
        scores = rng.integers(0, 4, 6) / 4
        y = np.repeat(np.tile([1, 0], 6), counts.ravel())
        s = np.repeat(np.repeat(scores, 2), counts.ravel())
        assert misranked(counts, scores) == pytest.approx(1 - roc_auc_score(y, s), abs=1e-12)


# --- the identities of the split quality -----------------------------------------------------


def test_split_that_raises_the_objective_is_reported():
    # The leaf of 10 : 3 is split into 9 : 3, scored 10/14, and 1 : 0, scored 2/3: the wrong order.
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [12, 1, 9], axis=0)
    y = np.repeat([1, 0, 1, 1, 0], [9, 3, 1, 2, 7])
    steps = []
    model = AUCSplit(min_samples_leaf=1).fit(
        X, y, callback=lambda step: steps.append(step.objective) if step.iteration else None
    )
    assert len(steps) == 2
    assert steps[0] < steps[1] == model.objective_
    assert model.objective_ == pytest.approx(1 - roc_auc_score(y, model.scorer_(X)), abs=1e-12)


# --- watching and stopping -------------------------------------------------------------------


def test_step_scorer_is_the_tree_with_that_many_splits():
    X, y = sample(5, N=400)
    steps = []

    def record_step(step):
        if step.iteration:
            steps.append((step.iteration, step.objective, step.scorer()(X)))

    model = AUCSplit(min_samples_leaf=1).fit(X, y, callback=record_step)
    counts = [count for count, _, _ in steps]
    assert counts[:15] == list(range(1, 16))
    assert counts[-1] == model.n_iter_ > 40
    assert len(counts) < model.n_iter_
    for count, objective, scores in steps[::5]:
        smaller = AUCSplit(min_samples_leaf=1, max_leaf_nodes=count + 1).fit(X, y)
        np.testing.assert_array_equal(scores, smaller.scorer_(X))
        assert objective == smaller.objective_


# --- limits ----------------------------------------------------------------------------------


def test_leaf_size_and_depth_limits_are_respected():
    X, y = sample(7, N=300, ties=False)
    model = AUCSplit(min_samples_leaf=7, max_depth=4).fit(X, y)
    leaf = model.scorer_.left == np.arange(len(model.scorer_.left))
    assert model.node_counts_[leaf].sum(axis=1).min() >= 7
    assert model.node_counts_[leaf].sum(axis=0).tolist() == [y.sum(), (1 - y).sum()]
    depth = np.zeros(len(leaf), int)
    for node in np.flatnonzero(~leaf):
        depth[[model.scorer_.left[node], model.scorer_.right[node]]] = depth[node] + 1
    assert depth.max() == 4


def test_min_gain_is_measured_in_training_auc():
    X, y = sample(7, N=300, ties=False)
    gain = 0.5 - AUCSplit(max_leaf_nodes=2).fit(X, y).objective_
    assert AUCSplit(min_gain=gain * 0.999).fit(X, y).n_iter_ >= 1
    assert AUCSplit(min_gain=gain * 1.001).fit(X, y).n_iter_ == 0
    assert AUCSplit(min_gain=0.0).fit(X, y).n_iter_ > 10


# --- missing values --------------------------------------------------------------------------


def test_missing_values_can_separate_the_classes():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    X[y == 1, 1] = np.nan
    model = AUCSplit().fit(X, y)
    assert (model.objective_, model.n_iter_) == (0.0, 1)
    assert np.isfinite(model.scorer_.threshold).all()
    far = np.array([[0.0, 1e300], [0.0, -1e300], [0.0, np.nan]])
    np.testing.assert_array_equal(model.predict(far), [0, 0, 1])


@pytest.mark.parametrize("sign", [1, -1])
def test_missing_values_unseen_in_training_follow_most_rows(sign):
    X, y = sign * np.arange(10.0)[:, None], np.arange(10) >= 7
    model = AUCSplit().fit(X, y)
    assert model.n_iter_ == 1
    assert not model.predict([[np.nan]])[0]


def test_feature_without_values_is_ignored():
    X, y = sample(2, N=60)
    wider = np.column_stack([np.full(60, np.nan), X])
    first, second = AUCSplit().fit(X, y), AUCSplit().fit(wider, y)
    np.testing.assert_array_equal(first.train_scores_, second.train_scores_)
    nothing = AUCSplit().fit(wider[:, :1], y)
    assert np.ptp(nothing.train_scores_) == 0
    assert nothing.notes_


# --- awkward data ----------------------------------------------------------------------------


def test_note_reports_that_no_split_separates_the_classes():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, float), np.array([0, 1, 1, 0] * 3)
    model = AUCSplit(min_samples_leaf=1).fit(X, y)
    assert (model.n_iter_, model.objective_) == (0, 0.5)
    assert model.notes_[0].code == "no_split"
    assert AUCSplit().fit(*sample(0)).notes_ == ()


HUGE = np.finfo(float).max


@pytest.mark.parametrize(
    "values",
    [(1.0, np.nextafter(1.0, 2)), (-HUGE, HUGE), (0.0, 5e-324), (5e-324, 1e-323), (-5e-324, 0.0)],
)
def test_threshold_separates_any_two_values(values):
    low, high = values
    assert low <= tree_growth.midway(low, high) < high
    model = AUCSplit(min_samples_leaf=1).fit([[low], [high]], [0, 1])
    np.testing.assert_array_equal(model.predict([[low], [high]]), [0, 1])


# --- cells -----------------------------------------------------------------------------------


def test_reordered_cells_stay_sorted_on_both_sides():
    X, y = sample(9, N=80)
    cells = tree_growth.sort_cells(X, y == 1, Monitor())
    before = cells.copy()
    left = np.random.default_rng(0).random(80) < 0.4
    tree_growth.reorder_cells(cells, (1, 3), (0, 80), left, np.empty(80, dtype=np.int64))
    np.testing.assert_array_equal(cells[0], before[0])
    for f in (1, 2):
        rows = [tree_growth.row_of(cell) for cell in before[f].tolist()]
        assert sorted(rows) == list(range(80))
        expected = np.r_[before[f][left[rows]], before[f][~left[rows]]]
        np.testing.assert_array_equal(cells[f], expected)


def test_node_of_one_class_is_a_leaf():
    model = AUCSplit(min_samples_leaf=1).fit(np.arange(9.0)[:, None], [0] * 4 + [1] * 5)
    assert model.n_iter_ == 1
    np.testing.assert_allclose(laplace(model.node_counts_[1:]), [1 / 6, 6 / 7])
