"""Highest-density regions of a class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from aucstudio.project.geometry.score_map import ScoreMap

Array = NDArray[np.float64]
Contour = tuple[Array, NDArray[np.int32]]  # places, and which of them are joined to the next

SHARES = (0.5, 0.9)
_BINS = 160
_REACH = 3.0  # of the smoothing, in its widths
_QUARTILES = 1.349  # of a normal distribution, apart, in standard deviations
_FAR = 0.001  # so far out in each direction nothing is smoothed


def share_contours(places: Array, shares: tuple[float, ...] = SHARES) -> list[Contour]:
    """Trace the narrowest regions that hold given shares of some places.

    The density is a smoothed histogram: a region is where it is higher than at all other places.

    Parameters
    ----------
    places : ndarray of shape (N, 2)
        At least one.
    shares : tuple of float

    Returns
    -------
    list of (ndarray of shape (k, 2), ndarray of int)
        For each share the lines, and 1 where a place is joined to the next one.
    """
    widths = _widths(places)
    low, high = np.quantile(places, (_FAR, 1.0 - _FAR), axis=0)
    low, high = low - _REACH * widths, high + _REACH * widths
    step = (high - low) / _BINS
    cells = ((places - low) / step).astype(np.int64)
    inside = ((cells >= 0) & (cells < _BINS)).all(axis=1)
    flat = cells[inside, 0] * _BINS + cells[inside, 1]
    counts = np.bincount(flat, minlength=_BINS * _BINS).reshape(_BINS, _BINS)
    density = gaussian_filter(counts.astype(np.float64), widths / step, mode="constant")
    x, y = (low[axis] + (np.arange(_BINS) + 0.5) * step[axis] for axis in range(2))
    mapped = ScoreMap(x, y, density, 1)
    known = np.zeros(len(places))
    known[inside] = density.ravel()[flat]
    return [mapped.contour(float(np.quantile(known, 1.0 - share))) for share in shares]


def _widths(places: Array) -> Array:
    """Return how far to smooth: Scott's rule on the inner half, which nothing far off touches."""
    first, third = np.quantile(places, (0.25, 0.75), axis=0)
    spread = np.minimum(places.std(axis=0), (third - first) / _QUARTILES)
    least = 1e-6 * np.maximum(np.abs(places).max(axis=0), 1e-6)
    widths: Array = np.maximum(spread * len(places) ** (-1 / 6), least)
    return widths
