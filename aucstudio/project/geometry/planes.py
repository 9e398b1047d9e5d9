"""Planes onto which rows or differences are projected.

Symbols are those of :mod:`directions`; f is a score.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import Scorer
from aucstudio.project.geometry.directions import (
    across_score,
    mean_difference,
    spread_rows,
    strongest,
    strongest_across,
    unit,
)
from aucstudio.project.geometry.sampling import (
    Sample,
    thinned,
)

Array = NDArray[np.float64]

SCORE, FEATURES, COMPONENTS = "score", "features", "components"

_ROWS = 100_000  # that a direction is computed from


@dataclasses.dataclass(frozen=True, eq=False)
class Plane:
    """Two coordinates for a row, linear in its features, its score and ``across``.

    Attributes
    ----------
    directions : ndarray of shape (d, 2)
        Orthonormal where no score takes part; a column is zero where the rows have no further
        direction.
    of_score : ndarray of shape (2,)
        How much of the score each coordinate takes.
    kind : {"score", "features", "components"}
    features : (int, int) or None
        The two features, where the plane is theirs.
    across : Scorer or None
        Second coordinate in the space of a kernel; then ``directions`` are 0.
    """

    directions: Array
    of_score: Array
    kind: str
    features: tuple[int, int] | None = None
    across: Scorer | None = None

    @property
    def is_straight(self) -> bool:
        """Whether the plane is in feature space, so that hyperplanes are lines in it."""
        return not self.of_score.any()

    def place(self, sample: Sample) -> Array:
        """Return the places of the rows, shape (N, 2); differences of rows are theirs."""
        places: Array = sample.X @ self.directions
        if not self.is_straight and sample.scores is not None:
            places += np.outer(sample.scores, self.of_score)
        if self.across is not None:
            places[:, 1] += self.across(sample.X)
        return places

    def normal(self, weights: Array) -> Array | None:
        """Return a with ⟨w, z⟩ = a·c at the place c of a z in the plane; None if w misses it."""
        inside: Array = self.directions.T @ weights
        return inside if self.is_straight and np.linalg.norm(inside) > 1e-12 else None

    def level(self, weights: Array, intercept: float, mean: Array) -> float:
        """Return l with a·c = l where ⟨w, x⟩ + b = 0, x at its mean in all other directions."""
        rest = mean - self.directions @ (self.directions.T @ mean)
        return -float(intercept + weights @ rest)


def feature_plane(d: int, i: int, j: int) -> Plane:
    """Make the plane of the features i and j of d."""
    directions = np.zeros((d, 2))
    directions[i, 0] = 1.0
    directions[j, 1] = 0.0 if i == j else 1.0
    return Plane(directions, np.zeros(2), FEATURES, (i, j))


def score_plane(sample: Sample, weights: Array, of_pairs: bool) -> Plane:
    """Make the plane of w and of the strongest direction across it.

    If w is 0, δ takes its place.
    """
    delta = mean_difference(sample.X, sample.positive)
    along = unit(weights if weights.any() else delta)
    across = strongest_across(sample.X, sample.positive, along, of_pairs)
    return Plane(np.stack([along, across], axis=1), np.zeros(2), SCORE)


def curved_plane(sample: Sample, of_pairs: bool, scorer: Scorer | None = None) -> Plane:
    """Make the plane of a score f that is no direction, and of the strongest spread across it.

    First coordinate f. Second, for a kernel: the strongest direction across f in the kernel's
    space. For other scorers: with b the regression of the features on f, over all pairs of
    rows (z on f(x⁺) − f(x⁻)) or over all rows, u the leading eigenvector of the covariance of
    the residuals x − b f; the coordinate ⟨u, x⟩ − ⟨u, b⟩ f is uncorrelated with f.
    """
    assert sample.scores is not None
    d = sample.X.shape[1]
    across = None if scorer is None else across_score(sample, scorer, of_pairs)
    if across is not None:
        return Plane(np.zeros((d, 2)), np.array([1.0, 0.0]), SCORE, across=across)
    spread = spread_rows(sample.X, sample.positive, of_pairs)
    f = spread_rows(sample.scores[:, None], sample.positive, of_pairs)[:, 0]
    power = float(f @ f)
    b = spread.T @ f / power if power > 0 else np.zeros(d)
    u = strongest(spread - np.outer(f, b))
    return Plane(np.stack([np.zeros(d), u], axis=1), np.array([1.0, -float(u @ b)]), SCORE)


def component_plane(sample: Sample, of_pairs: bool = False) -> Plane:
    """Make the plane of the first two principal components of all rows, or of the pairs (Σ)."""
    spread = spread_rows(sample.X, sample.positive, of_pairs)
    first = strongest(spread)
    directions = np.stack([first, strongest(spread, first)], axis=1)
    return Plane(directions, np.zeros(2), COMPONENTS)


def choose_plane(
    sample: Sample,
    weights: Array | None,
    kind: str,
    features: tuple[int, int] | None,
    of_pairs: bool,
    scorer: Scorer | None = None,
) -> Plane:
    """Make the plane of a kind; ``weights`` is None for a scorer that is no direction.

    Without ``features``, the two with the largest weights are taken (without weights, those
    with the largest mean difference). Of many rows an even sample gives the directions.
    """
    kept = thinned(sample.positive, _ROWS)
    if len(kept) < len(sample.positive):
        scores = None if sample.scores is None else sample.scores[kept]
        sample = Sample(sample.X[kept], sample.positive[kept], scores, sample.numbers[kept])
    delta = mean_difference(sample.X, sample.positive)
    if kind == FEATURES:
        return feature_plane(sample.X.shape[1], *(features or _largest(weights, delta)))
    if kind == COMPONENTS:
        return component_plane(sample, of_pairs)
    if weights is None and sample.scores is not None:
        return curved_plane(sample, of_pairs, scorer)
    return score_plane(sample, delta if weights is None else weights, of_pairs)


def _largest(weights: Array | None, delta: Array) -> tuple[int, int]:
    size = np.abs(weights if weights is not None and weights.any() else delta)
    order = np.argsort(-size, kind="stable")
    return int(order[0]), int(order[min(1, len(order) - 1)])
