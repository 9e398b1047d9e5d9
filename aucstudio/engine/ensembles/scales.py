"""Common scale of scores of different members, fitted on held-out scores."""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np

from aucstudio.engine.types import Array


@dataclasses.dataclass(frozen=True)
class Scale:
    """An increasing map of a member's scores: (link(s) - shift) / spread.

    Attributes
    ----------
    smoothing : float
        Where it is not 0 the scores are shares in [0, 1], and the link is their log-odds with so
        much added to both sides, ``log((s + smoothing) / (1 - s + smoothing))``; else there is
        none.
    shift, spread : float
        Mean and standard deviation of the linked held-out scores; a spread of 1 where all are
        equal.
    """

    smoothing: float
    shift: float
    spread: float

    @classmethod
    def learn(cls, scores: Array, smoothing: float = 0.0, weights: Array | None = None) -> Self:
        """Fit the map to held-out scores, shape (N,), whose rows may weigh differently."""
        linked = link(scores, smoothing)
        # Far from 0, or of huge scores, a plain mean and deviation lose their digits.
        unit = float(np.abs(linked).max()) or 1.0
        shift = float(np.average(linked / unit, weights=weights))
        spread = float(np.sqrt(np.average((linked / unit - shift) ** 2, weights=weights)))
        return cls(smoothing, shift * unit, spread * unit if spread > 1e-12 else 1.0)

    def __call__(self, scores: Array) -> Array:
        """Map scores, shape (N,)."""
        return np.asarray((link(scores, self.smoothing) - self.shift) / self.spread)


AS_IT_IS = Scale(0.0, 0.0, 1.0)


def link(scores: Array, smoothing: float) -> Array:
    """Return smoothed log-odds of shares; scores as they are where ``smoothing`` is 0."""
    if smoothing == 0.0:
        return scores
    return np.asarray(np.log((scores + smoothing) / (1.0 - scores + smoothing)))
