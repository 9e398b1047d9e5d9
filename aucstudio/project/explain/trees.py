"""Decision trees for display.

Symbols: p a node; n_L, n_R rows it sends left and right; f what the tree adds to a row's score.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator, Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Mask, class_counts
from aucstudio.engine.scorers import EnsembleScorer
from aucstudio.project.data.preparing.preparation import Preparation, feature_groups, level_of
from aucstudio.project.data.text import dates

NO_DATES: Mapping[str, str] = types.MappingProxyType({})


@dataclasses.dataclass(frozen=True, eq=False)
class Node:
    """A node of a tree with what comes to it.

    Attributes
    ----------
    index : int
        In the arrays of the scorer.
    depth : int
        0 for the root.
    positives, negatives : int
        Rows that come to it.
    value : float
        What a leaf adds to the score; NaN for other nodes.
    condition : str
        In the column's own unit; rows that meet it go left. Empty for a leaf.
    gaps_left : bool
        Where rows go whose cell is not known.
    leaves : int
        Leaves under it; 1 for a leaf.
    left, right : Node or None
    """

    index: int
    depth: int
    positives: int
    negatives: int
    value: float
    condition: str
    gaps_left: bool
    leaves: int
    left: Node | None = None
    right: Node | None = None

    @property
    def is_leaf(self) -> bool:
        return self.left is None

    def walk(self) -> Iterator[Node]:
        """Return the node and all under it, from the root down, the left side first."""
        yield self
        if self.left is not None and self.right is not None:
            yield from self.left.walk()
            yield from self.right.walk()


def read_tree(
    scorer: EnsembleScorer,
    tree: int,
    preparation: Preparation,
    X: Array,
    positive: Mask,
    layouts: Mapping[str, str] = NO_DATES,
) -> Node:
    """Read one tree with the rows that come to each node.

    Parameters
    ----------
    scorer : EnsembleScorer
    tree : int
        Which of its trees.
    preparation : Preparation
        Describes the features.
    X : ndarray of shape (N, d)
        Prepared rows to count.
    positive : ndarray of bool, shape (N,)
    layouts : mapping of str to str
        How dates are written, by column of dates.
    """
    counts = node_counts(scorer, tree, X, positive)
    order = _reached(scorer, int(scorer.roots[tree]))
    depth = {order[0]: 0}
    for p in order:
        for child in {int(scorer.left[p]), int(scorer.right[p])} - {p}:
            depth[child] = depth[p] + 1
    dated = [k for k, name in enumerate(preparation.feature_names) if layouts.get(name)]
    whole = {k for k in dated if _holds_days(preparation.in_own_unit(k, X[:, k]))}
    made: dict[int, Node] = {}
    # Children come after their parents: built last to first, both exist before a parent.
    for p in reversed(order):
        known = depth[p], *counts[p]
        gaps_left, value = bool(scorer.gaps_left[p]), float(scorer.value[p])
        if scorer.left[p] == p:
            made[p] = Node(p, *known, value, "", gaps_left, 1)
            continue
        asked = condition(preparation, int(scorer.feature[p]), scorer.threshold[p], layouts, whole)
        left, right = made[int(scorer.left[p])], made[int(scorer.right[p])]
        leaves = left.leaves + right.leaves
        made[p] = Node(p, *known, np.nan, asked, gaps_left, leaves, left, right)
    return made[order[0]]


def node_counts(
    scorer: EnsembleScorer, tree: int, X: Array, positive: Mask
) -> dict[int, tuple[int, int]]:
    """Count the positives and negatives that come to each node of a tree."""
    found: dict[int, tuple[int, int]] = {}
    rows = {int(scorer.roots[tree]): np.arange(len(X))}
    for p in _reached(scorer, int(scorer.roots[tree])):
        here = rows.pop(p)
        found[p] = class_counts(positive[here])
        if scorer.left[p] != p:
            cells = X[here, scorer.feature[p]]
            goes_left = cells <= scorer.threshold[p]
            goes_left |= np.isnan(cells) & scorer.gaps_left[p]
            rows[int(scorer.left[p])] = here[goes_left]
            rows[int(scorer.right[p])] = here[~goes_left]
    return found


@dataclasses.dataclass(frozen=True, eq=False)
class FeatureUse:
    """How much each column contributes to an ensemble.

    Attributes
    ----------
    columns : tuple of str
    splits : ndarray of int, shape (columns,)
        Nodes that split on it.
    gain : ndarray of shape (columns,)
        Share of the variance of the trees' outputs that its nodes make; sums to 1, or is 0
        where no tree separates rows.
    """

    columns: tuple[str, ...]
    splits: NDArray[np.intp]
    gain: Array


def feature_use(scorer: EnsembleScorer, preparation: Preparation, X: Array) -> FeatureUse:
    """Compute what each column does for an ensemble, on prepared rows X.

    A node's gain is n_L n_R / (n_L + n_R) (mean of f on the left - mean of f on the right)^2;
    the gains of a tree sum to the sum of squares of f about its mean.
    """
    groups = feature_groups(preparation)
    column = np.concatenate([np.full(g.stop - g.start, c) for c, g in enumerate(groups.values())])
    splits, gain = np.zeros(len(groups), dtype=np.intp), np.zeros(len(groups))
    for tree in range(len(scorer.roots)):
        for p, share in _gains(scorer, tree, X):
            splits[column[scorer.feature[p]]] += 1
            gain[column[scorer.feature[p]]] += share
    total = gain.sum()
    return FeatureUse(tuple(groups), splits, gain / total if total > 0 else gain)


def side_by_side(found: Sequence[FeatureUse]) -> list[FeatureUse]:
    """Return the uses of several splits for the columns of all: each learns which it marks."""
    columns = tuple(dict.fromkeys(name for use in found for name in use.columns))
    aligned = []
    for use in found:
        place = [columns.index(name) for name in use.columns]
        splits, gain = np.zeros(len(columns), dtype=np.intp), np.zeros(len(columns))
        splits[place], gain[place] = use.splits, use.gain
        aligned.append(FeatureUse(columns, splits, gain))
    return aligned


def _gains(scorer: EnsembleScorer, tree: int, X: Array) -> list[tuple[int, float]]:
    order = _reached(scorer, int(scorer.roots[tree]))
    sizes = {p: m for p, (m, _) in node_counts(scorer, tree, X, np.ones(len(X), bool)).items()}
    sums, gains = {}, []
    for p in reversed(order):
        left, right = int(scorer.left[p]), int(scorer.right[p])
        if left == p:
            sums[p] = sizes[p] * float(scorer.value[p])
            continue
        sums[p] = sums[left] + sums[right]
        n, m = sizes[left], sizes[right]
        apart = sums[left] / n - sums[right] / m if n and m else 0.0
        gains.append((p, n * m / (n + m) * apart**2 if n + m else 0.0))
    return gains


def _reached(scorer: EnsembleScorer, root: int) -> list[int]:
    """List the nodes of a tree, parents before their children."""
    order, at = [root], 0
    while at < len(order):
        p = order[at]
        if scorer.left[p] != p:
            order += [int(scorer.left[p]), int(scorer.right[p])]
        at += 1
    return order


_ROUNDING = 1e-6  # of a day that was scaled there and back


def _holds_days(cells: Array) -> bool:
    known = cells[~np.isnan(cells)]
    return bool((np.abs(known - np.rint(known)) < _ROUNDING).all())


def condition(
    preparation: Preparation,
    feature: int,
    threshold: float,
    layouts: Mapping[str, str] = NO_DATES,
    whole: Set[int] = frozenset(),
) -> str:
    """State in the column's own unit what sends a row left; ``whole`` are days without a time."""
    name = preparation.feature_names[feature]
    if feature >= len(preparation.numbers):
        # A level is 0 or 1, and the left side has the 0.
        column, level = level_of(preparation, feature)
        return f"{column} ≠ {level}"
    value = float(preparation.in_own_unit(feature, np.array([threshold]))[0])
    value = float(np.floor(value + _ROUNDING)) if feature in whole else value
    limit = dates.date_text(value, layouts[name]) if name in layouts else plain_number(value)
    return f"{name} ≤ {limit}"


def plain_number(value: float, digits: int = 4) -> str:
    """Write a cell's value with some four digits and a true minus, if it can be without power."""
    size = abs(value)
    if size and not 1e-4 <= size < 1e9:
        return f"{value:.{digits - 1}g}".replace("-", "−")
    decimals = digits - 1 - int(np.floor(np.log10(size))) if size else 0
    text = f"{value:,.{max(0, decimals)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")
