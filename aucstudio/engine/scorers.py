"""Scorers: the result of training, as arrays and plain settings.

A scorer ranks rows; it knows nothing of thresholds or of how it was trained.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import compiled
from aucstudio.engine.arrays import Array, Index, Mask, portions
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.linalg import COPY, chunks

ABOVE_ALL = float(np.finfo(np.float64).max)
"""The threshold of a tree that separates known values from missing ones."""


def midway(low: float, high: float) -> float:
    """Return a threshold t with low <= t < high, in the middle as far as rounding allows."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


_PULSE_ROWS = 1_024
_PULSE_CELLS = 1 << 20  # of a linear scorer, some milliseconds
_ROWS_PER_WALK = 1_024


class Scorer(Protocol):
    """Anything that scores rows and can be stored as arrays and settings."""

    kind: ClassVar[str]

    def __call__(self, X: Array) -> Array:
        """Score the rows of X; higher means more likely positive. Shape (len(X),)."""

    # For each array its type and its sizes: n_features is d, equal letters are equal sizes.
    layout: ClassVar[Mapping[str, str]]

    @property
    def within(self) -> tuple[Scorer, ...]:
        """The scorers that this one consists of."""
        return ()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that define the scorer."""
        return {name: getattr(self, name) for name in self.layout}

    def settings(self) -> dict[str, Any]:
        """Return the remaining constants as plain JSON values."""
        return {}


def inner_scorers(scorer: Scorer) -> Iterator[Scorer]:
    """Yield the scorers that a scorer consists of, at every depth."""
    for inner in scorer.within:
        yield inner
        yield from inner_scorers(inner)


@dataclasses.dataclass(frozen=True, eq=False)
class LinearScorer(Scorer):
    """Scores <w, x>.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
    """

    weights: Array
    kind: ClassVar[str] = "linear"
    layout: ClassVar[Mapping[str, str]] = {"weights": "float d"}

    def __call__(self, X: Array) -> Array:
        return X @ self.weights


@dataclasses.dataclass(frozen=True, eq=False)
class KernelScorer(Scorer):
    """Scores sum_l weights_l k(points_l, x).

    Attributes
    ----------
    kernel : Kernel
    points : ndarray of shape (n_points, n_features)
    weights : ndarray of shape (n_points,)
    """

    kernel: Kernel
    points: Array
    weights: Array
    kind: ClassVar[str] = "kernel"
    layout: ClassVar[Mapping[str, str]] = {"points": "float n d", "weights": "float n"}

    def __call__(self, X: Array) -> Array:
        scores, values = np.empty(len(X)), self.kernel.against(self.points)
        for rows in chunks(len(X), COPY * len(self.points)):
            scores[rows] = values(X[rows]) @ self.weights
        return scores

    def settings(self) -> dict[str, Any]:
        return dataclasses.asdict(self.kernel)


@dataclasses.dataclass(frozen=True, eq=False)
class FourierScorer(Scorer):
    """Scores sum_l weights_l cos(frequencies_l . x + phases_l).

    Attributes
    ----------
    frequencies : ndarray of shape (q, n_features)
    phases, weights : ndarray of shape (q,)
    """

    frequencies: Array
    phases: Array
    weights: Array
    kind: ClassVar[str] = "fourier"
    layout: ClassVar[Mapping[str, str]] = {
        "frequencies": "float n d",
        "phases": "float n",
        "weights": "float n",
    }

    def __call__(self, X: Array) -> Array:
        scores = np.empty(len(X))
        for rows in chunks(len(X), COPY * len(self.phases)):
            angles = X[rows] @ self.frequencies.T + self.phases
            scores[rows] = np.cos(angles, out=angles) @ self.weights
        return scores


@dataclasses.dataclass(frozen=True, eq=False)
class EnsembleScorer(Scorer):
    """Scores ``base`` plus one value from each of several decision trees.

    Node p sends a row on to ``left[p]`` if its feature ``feature[p]`` is at most
    ``threshold[p]``, else to ``right[p]``; a row whose feature is NaN goes left where
    ``gaps_left[p]`` is set. A leaf sends a row to itself. No node sends a row to a node before it.

    Attributes
    ----------
    roots : ndarray of int, shape (n_trees,)
        First node of each tree.
    feature, left, right : ndarray of int, shape (n_nodes,)
    threshold, value : ndarray of shape (n_nodes,)
        ``value`` counts at leaves only.
    base : float
    gaps_left : ndarray of bool, shape (n_nodes,)
        Without it all missing values go right.

    Raises
    ------
    ValueError
        If the arrays are no trees.
    """

    roots: Index
    feature: Index
    threshold: Array
    left: Index
    right: Index
    value: Array
    base: float
    gaps_left: Mask = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=bool))
    kind: ClassVar[str] = "trees"
    layout: ClassVar[Mapping[str, str]] = {
        "roots": "int t",
        "feature": "int n",
        "threshold": "float n",
        "left": "int n",
        "right": "int n",
        "value": "float n",
        "gaps_left": "bool n",
    }

    def __post_init__(self) -> None:
        if not len(self.gaps_left):
            object.__setattr__(self, "gaps_left", np.zeros(len(self.value), dtype=bool))
        nodes = np.arange(len(self.value))
        same_length = {len(part) for name, part in self.arrays().items() if name != "roots"}
        sound = same_length == {len(nodes)} and all(
            (child >= nodes).all() and (child < len(nodes)).all()
            for child in (self.left, self.right)
        )
        within = (self.roots >= 0).all() and (self.roots < len(nodes)).all()
        if not sound or not within or (self.feature < 0).any():
            raise ValueError("the nodes of the trees do not fit together")

    def __call__(self, X: Array) -> Array:
        if len(self.feature) and X.shape[1] <= self.feature.max():
            raise ValueError(f"the trees need {self.feature.max() + 1} features")
        return self._add_trees(X, self.roots, np.full(len(X), self.base))

    def _add_trees(self, X: Array, roots: Index, scores: Array) -> Array:
        nodes = self.feature, self.threshold, self.left, self.right, self.value, self.gaps_left
        # The rows of a chunk stay in the processor's cache while tree after tree sees them.
        for rows in chunks(len(X), most=_ROWS_PER_WALK):
            cells = np.ascontiguousarray(X[rows], dtype=np.float64)
            _walk(cells, roots, *nodes, scores[rows])
        return scores

    def extended(self, before: EnsembleScorer, scores: Array, X: Array) -> Array | None:
        """Return the scores of X, given those of an ensemble that this one extends.

        Only the trees that were added are walked through.

        Parameters
        ----------
        before : EnsembleScorer
        scores : ndarray of shape (len(X),)
            Those of ``before``.
        X : ndarray of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (len(X),), or None
            None where this ensemble does not begin with the trees of ``before``, with their values
            all multiplied by one factor.
        """
        trees, nodes = len(before.roots), len(before.value)
        parts = ("feature", "threshold", "left", "right", "gaps_left")
        if not nodes or not np.array_equal(before.roots, self.roots[:trees]):
            return None
        if any(not np.array_equal(getattr(before, p), getattr(self, p)[:nodes]) for p in parts):
            return None
        largest = int(np.argmax(np.abs(before.value)))
        factor = self.value[largest] / before.value[largest] if before.value[largest] else 1.0
        if not np.allclose(self.value[:nodes], factor * before.value, rtol=1e-12, atol=0.0):
            return None
        if factor == 1.0 and self.base == before.base:
            begun = scores.copy()  # equal to all trees in turn, to the last bit
        else:
            begun = self.base + factor * (scores - before.base)
        return self._add_trees(X, self.roots[trees:], begun)

    def settings(self) -> dict[str, Any]:
        return {"base": self.base}


@compiled.kernel
def _walk(
    X: Array,
    roots: Index,
    feature: Index,
    threshold: Array,
    left: Index,
    right: Index,
    value: Array,
    gaps_left: Mask,
    scores: Array,
) -> None:
    """Add the values of the leaves that rows come to.

    Adding tree after tree, as libraries do, gives their scores to the last bit.
    """
    for root in roots:
        for i in range(len(X)):
            node, following = -1, root
            while following != node:
                node = following
                cell = X[i, feature[node]]
                if cell <= threshold[node] or (gaps_left[node] and np.isnan(cell)):
                    following = left[node]
                else:
                    following = right[node]
            scores[i] += value[node]


def joined_trees(
    trees: Sequence[EnsembleScorer], base: float, factors: Sequence[float] | None = None
) -> EnsembleScorer:
    """Make one ensemble of several, at least one; their own ``base`` is dropped.

    ``factors`` are what the values of each are multiplied by. Nothing is copied twice: of forests
    the copies would take more memory than their rows.
    """
    found: dict[str, Any] = {
        name: np.concatenate([getattr(tree, name) for tree in trees])
        for name in EnsembleScorer.layout
    }
    roots = nodes = 0
    for k, tree in enumerate(trees):
        here = slice(nodes, nodes + len(tree.value))
        found["roots"][roots : roots + len(tree.roots)] += nodes
        found["left"][here] += nodes
        found["right"][here] += nodes
        if factors is not None:
            found["value"][here] *= factors[k]
        roots, nodes = roots + len(tree.roots), here.stop
    return EnsembleScorer(base=base, **found)


def divided(named: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the arrays or settings of a scorer itself, and those inside it by their prefix."""
    own: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    for name, value in named.items():
        first, dot, rest = name.partition(".")
        if dot:
            inner.setdefault(first, {})[rest] = value
        else:
            own[name] = value
    return own, inner


def score_rows(scorer: Scorer, X: Array, pulse: Callable[[str, float], None]) -> Array:
    """Score the rows of X; ``pulse("scoring", fraction)`` is called after every chunk."""
    count, step = X.shape[0], _PULSE_ROWS
    if isinstance(scorer, LinearScorer):
        step = max(step, _PULSE_CELLS // max(1, X.shape[1]))
    scores = np.empty(count)
    for rows in portions(count, 1, step):
        scores[rows] = scorer(X[rows])
        pulse("scoring", rows.stop / count)
    return scores


def trimmed(kernel: Kernel, points: Array, weights: Array) -> Scorer:
    """Make the smallest equal scorer: no points without weight, a plain direction if linear."""
    if kernel.is_linear:
        return LinearScorer(points.T @ weights)
    used = np.flatnonzero(weights)
    return KernelScorer(kernel, points[used], weights[used])
