"""Rows in a plane: samples of rows, the planes they are seen in, and directions among them.

Symbols: x⁺, x⁻ prepared rows of the two classes, m and n of them; z = x⁺ − x⁻; w a direction,
f a score; u⁺, u⁻ and Σ⁺, Σ⁻ class means and covariances (divisors m and n); δ = u⁺ − u⁻ and
Σ = Σ⁺ + Σ⁻ mean and covariance of z over all pairs (SAUC-SVM paper, section 3).
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.prepare import Preparation
from aucstudio.project.record import SplitResult
from aucstudio.project.table import Table

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

LIVE_ROWS = 2_000

SCORE, FEATURES, COMPONENTS = "score", "features", "components"

_EXACT_FEATURES = 256
_POWER_STEPS = 60


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """Prepared rows with what is known of them.

    Attributes
    ----------
    X : ndarray of shape (N, d)
    positive : ndarray of bool, shape (N,)
    scores : ndarray of shape (N,) or None
        With the constant; None where no finished run scored them.
    numbers : ndarray of int, shape (N,)
        Row numbers in the table.
    """

    X: Array
    positive: Mask
    scores: Array | None
    numbers: Index


def split_sample(table: Table, split: SplitResult, held_out: bool = False) -> Sample:
    """Take the rows a split was trained on, or those it was tested on, as its method saw them.

    Raises
    ------
    InputError
        If the table lacks columns of the model.
    """
    rows = split.test_rows if held_out else split.train_rows
    positive = split.test_positive if held_out else split.train_positive
    scores = split.test_scores if held_out else split.train_scores
    return Sample(split.model.preparation.apply(table, rows), positive, scores, rows)


def labelled_sample(table: Table, preparation: Preparation, limit: int = LIVE_ROWS) -> Sample:
    """Take labelled rows, at most ``limit``, for a picture before any run has ended.

    Raises
    ------
    InputError
        If the table has no two classes, or lacks columns of the preparation.
    """
    positive = table.is_positive()
    kept = thinned(positive, limit)
    rows = np.flatnonzero(table.labelled())[kept]
    return Sample(preparation.apply(table, rows), positive[kept], None, rows)


def thinned(positive: Mask, limit: int) -> Index:
    """Choose at most ``limit`` places, evenly within each class, in proportion to its size.

    The rarer class keeps at least a tenth of ``limit``, or all its rows.
    """
    if len(positive) <= limit:
        return np.arange(len(positive))
    classes = np.flatnonzero(positive), np.flatnonzero(~positive)
    rare = min(classes, key=len)
    few = min(len(rare), max(limit // 10, limit * len(rare) // len(positive)))
    sizes = [few if rows is rare else limit - few for rows in classes]
    return np.sort(np.concatenate([evenly(r, k) for r, k in zip(classes, sizes, strict=True)]))


def evenly(rows: Index, size: int) -> Index:
    """Choose at most ``size`` of some rows, evenly spaced."""
    if len(rows) <= size:
        return rows
    return rows[np.linspace(0, len(rows) - 1, size).astype(np.intp)]


# ------------------------------------------------------------------------ planes


@dataclasses.dataclass(frozen=True, eq=False)
class Plane:
    """Two coordinates for a row, linear in its features and its score.

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
    """

    directions: Array
    of_score: Array
    kind: str
    features: tuple[int, int] | None = None

    @property
    def is_straight(self) -> bool:
        """Whether the plane lies in feature space, so that hyperplanes cut it in lines."""
        return not self.of_score.any()

    def place(self, sample: Sample) -> Array:
        """Give the places of the rows, shape (N, 2); differences of rows are theirs."""
        places: Array = sample.X @ self.directions
        if not self.is_straight and sample.scores is not None:
            places += np.outer(sample.scores, self.of_score)
        return places

    def normal(self, weights: Array) -> Array | None:
        """Give a with ⟨w, z⟩ = a·c at the place c of a z in the plane; None if w misses it."""
        inside: Array = self.directions.T @ weights
        return inside if self.is_straight and np.linalg.norm(inside) > 1e-12 else None

    def level(self, weights: Array, intercept: float, mean: Array) -> float:
        """Give l with a·c = l where ⟨w, x⟩ + b = 0, x at its mean in all other directions."""
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

    Across: the leading eigenvector of E[zzᵀ] = Σ + δδᵀ (of pairs) or of the covariance of all
    rows, with w projected off. If w is 0, δ takes its place.
    """
    spread = _spread(sample.X, sample.positive, of_pairs)
    delta = mean_difference(sample.X, sample.positive)
    if of_pairs:
        spread = np.vstack([spread, delta])
    along = _unit(weights if weights.any() else delta)
    return Plane(np.stack([along, strongest(spread, along)], axis=1), np.zeros(2), SCORE)


def curved_plane(sample: Sample, of_pairs: bool) -> Plane:
    """Make the plane of a score f that is no direction, and of the strongest spread beside it.

    First coordinate f. Second: with b the regression of the features on f, over all pairs of
    rows (z on f(x⁺) − f(x⁻)) or over all rows, u the leading eigenvector of the covariance of
    the residuals x − b f; the coordinate ⟨u, x⟩ − ⟨u, b⟩ f is uncorrelated with f.
    """
    assert sample.scores is not None
    spread = _spread(sample.X, sample.positive, of_pairs)
    f = _spread(sample.scores[:, None], sample.positive, of_pairs)[:, 0]
    power = float(f @ f)
    b = spread.T @ f / power if power > 0 else np.zeros(sample.X.shape[1])
    u = strongest(spread - np.outer(f, b))
    return Plane(np.stack([np.zeros(len(u)), u], axis=1), np.array([1.0, -float(u @ b)]), SCORE)


def component_plane(sample: Sample) -> Plane:
    """Make the plane of the first two principal components of all rows."""
    spread = _spread(sample.X, sample.positive, of_pairs=False)
    first = strongest(spread)
    directions = np.stack([first, strongest(spread, first)], axis=1)
    return Plane(directions, np.zeros(2), COMPONENTS)


def choose_plane(
    sample: Sample,
    weights: Array | None,
    kind: str,
    features: tuple[int, int] | None,
    of_pairs: bool,
) -> Plane:
    """Make the plane of a kind; ``weights`` is None for a scorer that is no direction.

    Without ``features``, the two with the largest weights are taken (without weights, those
    with the largest mean difference).
    """
    delta = mean_difference(sample.X, sample.positive)
    if kind == FEATURES:
        return feature_plane(sample.X.shape[1], *(features or _largest(weights, delta)))
    if kind == COMPONENTS:
        return component_plane(sample)
    if weights is None and sample.scores is not None:
        return curved_plane(sample, of_pairs)
    return score_plane(sample, delta if weights is None else weights, of_pairs)


def _largest(weights: Array | None, delta: Array) -> tuple[int, int]:
    size = np.abs(weights if weights is not None and weights.any() else delta)
    order = np.argsort(-size, kind="stable")
    return int(order[0]), int(order[min(1, len(order) - 1)])


def mean_difference(values: Array, positive: Mask) -> Array:
    """Compute δ of any row values, shape (d,)."""
    delta: Array = values[positive].mean(axis=0) - values[~positive].mean(axis=0)
    return delta


def _spread(values: Array, positive: Mask, of_pairs: bool) -> Array:
    """Give rows R with RᵀR = Σ⁺ + Σ⁻, or the covariance of all rows."""
    groups = (positive, ~positive) if of_pairs else (np.ones(len(values), dtype=bool),)
    spread = np.empty_like(values)
    for rows in groups:
        spread[rows] = (values[rows] - values[rows].mean(axis=0)) / np.sqrt(rows.sum())
    return spread


def _unit(v: Array) -> Array:
    """Scale to length 1; the zero vector gives the first axis."""
    size = np.abs(v).max()
    if size == 0:
        first: Array = np.eye(1, len(v))[0]
        return first
    # Scaled first: weights may be so small that their squares vanish.
    scaled: Array = v / size
    unit: Array = scaled / np.linalg.norm(scaled)
    return unit


def strongest(spread: Array, off: Array | None = None) -> Array:
    """Compute the leading eigenvector of RᵀR for rows R, a unit vector ``off`` projected off.

    Its largest entry is positive. It is 0 where nothing but ``off`` is left. Above 256
    features it is found by power iteration, which is exact enough for a picture.
    """
    if off is None:
        v = _leading(spread)
    else:
        v = _leading(spread - np.outer(spread @ off, off))
        v = v - (v @ off) * off
    length = np.linalg.norm(v)
    if length < 1e-6:
        return np.zeros(len(v))
    found: Array = v * (np.sign(v[np.abs(v).argmax()]) / length)
    return found


def _leading(spread: Array) -> Array:
    if spread.shape[1] <= _EXACT_FEATURES:
        vectors: Array = np.linalg.eigh(spread.T @ spread)[1]
        return vectors[:, -1]
    v: Array = spread[np.einsum("ij,ij->i", spread, spread).argmax()]
    for _ in range(_POWER_STEPS):
        v = spread.T @ (spread @ v)
        v /= np.linalg.norm(v) or 1.0
    return v


# ------------------------------------------------------------------------ directions


def carried(
    weights: Array, intercept: float, source: Preparation, target: Preparation
) -> tuple[Array, float] | None:
    """Write ⟨w, x⟩ + b on one preparation's features as the same function on another's.

    Returns
    -------
    (weights, intercept), or None if ``target`` lacks a feature that w uses.
    """
    place = {name: k for k, name in enumerate(target.feature_names)}
    names = source.feature_names
    if any(weights[k] and name not in place for k, name in enumerate(names)):
        return None
    (means, scales), (new_means, new_scales) = _scaling(source), _scaling(target)
    moved = np.zeros(len(place))
    for k, name in enumerate(names):
        if weights[k]:
            slope = weights[k] / scales[k]
            moved[place[name]] = slope * new_scales[place[name]]
            intercept += slope * (new_means[place[name]] - means[k])
    return moved, float(intercept)


def _scaling(preparation: Preparation) -> tuple[Array, Array]:
    levels = sum(len(levels) for levels in preparation.levels)
    means = np.concatenate([preparation.means, np.zeros(levels)])
    return means, np.concatenate([preparation.scales, np.ones(levels)])


def angle(a: Array, b: Array) -> float:
    """Give the angle between two directions in degrees; NaN if one is 0."""
    if not a.any() or not b.any():
        return float("nan")
    a, b = _unit(a), _unit(b)
    # Not the arc cosine: it loses half the digits of a small angle.
    return float(np.degrees(2.0 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b))))
