"""Directions in feature space: mean difference, principal directions, angles.

Symbols: x⁺, x⁻ prepared rows of the two classes, m and n of them; z = x⁺ − x⁻; w a direction;
u⁺, u⁻ and Σ⁺, Σ⁻ class means and covariances (divisors m and n); δ = u⁺ − u⁻ and Σ = Σ⁺ + Σ⁻
mean and covariance of z over all pairs (SAUC-SVM paper, section 3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import FourierScorer, KernelScorer, Scorer
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.geometry.sampling import Sample, thinned

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_EXACT_FEATURES = 256
_POWER_STEPS = 60

LANDMARKS = 256
_ROWS = 2_000
_RANK = 1e-9


def mean_difference(values: Array, positive: Mask) -> Array:
    """Compute δ of any row values, shape (d,)."""
    delta: Array = values[positive].mean(axis=0) - values[~positive].mean(axis=0)
    return delta


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
        first: Array = np.eye(1, len(v))[0]
        return first
    # Scaled first: weights may be so small that their squares vanish.
    scaled: Array = v / size
    found: Array = scaled / np.linalg.norm(scaled)
    return found


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
    names, new_names = source.feature_names, target.feature_names
    used = at = np.flatnonzero(weights)
    if names != new_names:
        place = {name: k for k, name in enumerate(new_names)}
        at = np.array([place.get(names[k], -1) for k in used.tolist()], dtype=np.intp)
        if (at < 0).any():
            return None
    (means, scales), (new_means, new_scales) = source.scaling, target.scaling
    slopes = weights[used] / scales[used]
    moved = np.zeros(len(new_names))
    moved[at] = slopes * new_scales[at]
    return moved, float(intercept + slopes @ (new_means[at] - means[used]))


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
    basis: Array = vectors[:, held] / np.sqrt(values[held])
    return basis


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
