"""Planes onto which rows or differences are projected, and the rows for a picture.

Symbols: x⁺, x⁻ prepared rows of the two classes, m and n of them; z = x⁺ − x⁻; w a direction; f a
score; u⁺, u⁻ and Σ⁺, Σ⁻ class means and covariances (divisors m and n); δ = u⁺ − u⁻ and Σ = Σ⁺ + Σ⁻
mean and covariance of z over all pairs (SAUC-SVM paper, section 3).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.scorers import FourierScorer, KernelScorer, Scorer
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.table import Table
from aucstudio.project.runs.record import SplitResult

LIVE_ROWS = 2_000


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """Prepared rows with classes, scores and row numbers.

    Attributes
    ----------
    X : ndarray of shape (N, d)
        Without missing values: a picture needs a place for every row.
    positive : ndarray of bool, shape (N,)
    scores : ndarray of shape (N,) or None
        Including the intercept, from the rows with their missing values; None where no finished
        run scored them.
    numbers : ndarray of int, shape (N,)
        Row numbers in the table.
    gaps : int
        Missing values, which are placed at the training median here.
    """

    X: Array
    positive: Mask
    scores: Array | None
    numbers: Index
    gaps: int = 0


def split_sample(table: Table, split: SplitResult, held_out: bool = False) -> Sample:
    """Take the rows a split was trained on, or those it was tested on.

    Raises
    ------
    InputError
        If the table lacks columns of the model.
    """
    rows = split.test_rows if held_out else split.train_rows
    positive = split.test_positive if held_out else split.train_positive
    scores = split.test_scores if held_out else split.train_scores
    X, gaps = _without_gaps(split.model.preparation, table, rows)
    return Sample(X, positive, scores, rows, gaps)


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
    X, gaps = _without_gaps(preparation, table, rows)
    return Sample(X, positive[kept], None, rows, gaps)


def _without_gaps(preparation: Preparation, table: Table, rows: Index) -> tuple[Array, int]:
    """Prepare rows with missing values at the training median; return how many there were."""
    X = preparation.apply(table, rows)
    at_row, at_feature = np.nonzero(np.isnan(X))
    # Only numbers have missing values, and they come first.
    medians = [preparation.scaled(k, m) for k, m in enumerate(preparation.medians[:, None].copy())]
    X[at_row, at_feature] = np.concatenate(medians)[at_feature] if medians else 0.0
    return X, len(at_row)


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


def by_weight(rows: Index, weights: Array, size: int) -> Index:
    """Choose ``size`` rows in proportion to their weights, by systematic sampling."""
    reached = np.cumsum(weights)
    places = (np.arange(size) + 0.5) / size * reached[-1]
    return np.asarray(rows[np.searchsorted(reached, places, side="right")])


EXACT_FEATURES = 256  # beyond them the leading direction is found by steps
_POWER_STEPS = 60

LANDMARKS = 256
_ROWS = 2_000
_RANK = 1e-9


def mean_difference(values: Array, positive: Mask) -> Array:
    """Compute δ of any row values, shape (d,)."""
    return np.asarray(values[positive].mean(axis=0) - values[~positive].mean(axis=0))


def spread_rows(values: Array, positive: Mask, of_pairs: bool) -> Array:
    """Return rows R with RᵀR = Σ⁺ + Σ⁻, or the covariance of all rows."""
    groups = (positive, ~positive) if of_pairs else (np.ones(len(values), dtype=bool),)
    spread = np.empty_like(values)
    for rows in groups:
        spread[rows] = (values[rows] - values[rows].mean(axis=0)) / np.sqrt(rows.sum())
    return spread


def unit(v: Array) -> Array:
    """Scale to length 1; the zero vector gives the first axis."""
    size = np.abs(v).max()
    if size == 0:
        return np.asarray(np.eye(1, len(v))[0])
    # Scaled first: weights may be so small that their squares vanish.
    scaled: Array = v / size
    return np.asarray(scaled / np.linalg.norm(scaled))


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
    return np.asarray(v * (np.sign(v[np.abs(v).argmax()]) / length))


def _leading(spread: Array) -> Array:
    if spread.shape[1] <= EXACT_FEATURES:
        vectors: Array = np.linalg.eigh(spread.T @ spread)[1]
        return vectors[:, -1]
    v: Array = spread[np.einsum("ij,ij->i", spread, spread).argmax()]
    for _ in range(_POWER_STEPS):
        v = spread.T @ (spread @ v)
        v /= np.linalg.norm(v) or 1.0
    return v


def strongest_across(values: Array, positive: Mask, along: Array, of_pairs: bool) -> Array:
    """Compute the strongest direction across a unit vector ``along``.

    It is the leading eigenvector of E[zzᵀ] = Σ + δδᵀ (of pairs) or of the covariance of all
    rows, with ``along`` projected off.
    """
    spread = spread_rows(values, positive, of_pairs)
    if of_pairs:
        spread = np.vstack([spread, mean_difference(values, positive)])
    return strongest(spread, along)


def carried(
    weights: Array, intercept: float, source: Preparation, target: Preparation
) -> tuple[Array, float] | None:
    """Write ⟨w, x⟩ + b on one preparation's features as the same function on another's.

    Returns
    -------
    (weights, intercept), or None if ``target`` lacks a feature that w uses, or makes other ranks.
    """
    if len(source.knots) or len(target.knots):
        same = source.numbers == target.numbers and np.array_equal(source.knots, target.knots)
        if not same or not np.array_equal(source.heights, target.heights):
            return None
    mine, theirs = common_features(source, target)
    if np.count_nonzero(weights[mine]) < np.count_nonzero(weights):
        return None
    (means, scales), (new_means, new_scales) = source.scaling, target.scaling
    slopes = weights[mine] / scales[mine]
    moved = np.zeros(len(target.feature_names))
    moved[theirs] = slopes * new_scales[theirs]
    return moved, float(intercept + slopes @ (new_means[theirs] - means[mine]))


def common_features(one: Preparation, other: Preparation) -> tuple[Index, Index]:
    """Return the places of the features that both prepare, in one and in the other."""
    if one.feature_names == other.feature_names:
        places = np.arange(len(one.feature_names))
        return places, places
    _, mine, theirs = np.intersect1d(one.feature_names, other.feature_names, return_indices=True)
    return mine, theirs


def angle(a: Array, b: Array) -> float:
    """Return the angle between two directions in degrees; NaN if one is 0."""
    if not a.any() or not b.any():
        return float("nan")
    a, b = unit(a), unit(b)
    # Not the arc cosine: it loses half the digits of a small angle.
    return float(np.degrees(2.0 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b))))


def across_score(sample: Sample, scorer: Scorer, of_pairs: bool) -> Scorer | None:
    """Return the coordinate along v, the strongest direction of the pairs (or rows) across w.

    ⟨v, w⟩ = 0 and |v| = 1 in the space of φ. For a kernel both lie in the span of at most 256
    landmarks (Nyström features), w as its projection; random Fourier features are used as
    they are. None for a scorer without such a space, and where nothing varies across w.
    """
    kept = thinned(sample.positive, _ROWS)
    X, positive = sample.X[kept], sample.positive[kept]
    if isinstance(scorer, KernelScorer):
        return _across_kernel(scorer, X, positive, of_pairs)
    if isinstance(scorer, FourierScorer):
        features = np.cos(X @ scorer.frequencies.T + scorer.phases)
        v = strongest_across(features, positive, unit(scorer.weights), of_pairs)
        return FourierScorer(scorer.frequencies, scorer.phases, v) if v.any() else None
    return None


def _across_kernel(
    scorer: KernelScorer, X: Array, positive: Mask, of_pairs: bool
) -> KernelScorer | None:
    landmarks = X[thinned(positive, LANDMARKS)]
    basis = _basis(scorer, landmarks)
    if not basis.size:
        return None
    w = basis.T @ scorer(landmarks)
    features = scorer.kernel(X, landmarks) @ basis
    v = strongest_across(features, positive, unit(w), of_pairs)
    return KernelScorer(scorer.kernel, landmarks, basis @ v) if v.any() else None


def _basis(scorer: KernelScorer, landmarks: Array) -> Array:
    """Return UΛ^{-1/2}, without directions that are rounding alone."""
    values, vectors = np.linalg.eigh(scorer.kernel(landmarks, landmarks))
    held = values > _RANK * max(values[-1], 0.0)
    return np.asarray(vectors[:, held] / np.sqrt(values[held]))


def kernel_features(
    sample: Sample, scorer: KernelScorer, across: KernelScorer
) -> tuple[Array, Mask, Array]:
    """Return rows in the basis e, their classes, and w and v there, of an axis found before.

    Returns
    -------
    features : ndarray of shape (k, r)
        At most 2,000 rows of the sample.
    positive : ndarray of bool, shape (k,)
    directions : ndarray of shape (r, 2)
    """
    kept = thinned(sample.positive, _ROWS)
    landmarks = across.points
    basis = _basis(scorer, landmarks)
    directions = basis.T @ np.stack([scorer(landmarks), across(landmarks)], axis=1)
    features = scorer.kernel(sample.X[kept], landmarks) @ basis
    return features, sample.positive[kept], directions


SCORE, FEATURES, COMPONENTS = "score", "features", "components"

_ROWS_PLANES = 100_000  # that a direction is computed from


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
    kept = thinned(sample.positive, _ROWS_PLANES)
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
