"""The strongest direction across a score in the space of its kernel.

Symbols: φ(x) features of a kernel, w with f(x) = ⟨w, φ(x)⟩; Q landmark rows, K their Gram
matrix = UΛUᵀ; e = Λ^{-1/2}Uᵀφ(Q) an orthonormal basis of what the landmarks span.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import FourierScorer, KernelScorer, Scorer
from aucstudio.project.geometry.directions import strongest_across, unit
from aucstudio.project.geometry.sampling import Sample, thinned

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

LANDMARKS = 256
_ROWS = 2_000
_RANK = 1e-9


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
