"""p-values corrected for there being several of them; those that are missing do not count."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.types import Array


def bonferroni(p: ArrayLike) -> Array:
    """Multiply p-values by their number.

    Parameters
    ----------
    p : array-like of shape (n_tests,)
        NaN where there was no test; it stays NaN.

    Returns
    -------
    ndarray of shape (n_tests,)
        At most 1. Rejecting those below a bound errs anywhere with at most that probability.

    Raises
    ------
    ValueError
        Unless every p is NaN or within [0, 1].
    """
    checked = _checked(p)
    return np.minimum(checked * np.count_nonzero(~np.isnan(checked)), 1.0)


def holm(p: ArrayLike) -> Array:
    """Correct p-values by Holm's step-down method: as safe as Bonferroni's and never larger.

    Parameters, result and errors are those of :func:`bonferroni`.
    Source: Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    corrected = _checked(p)
    order = np.argsort(corrected)[: np.count_nonzero(~np.isnan(corrected))]  # NaN sorts last
    raised = corrected[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected


def settled(p: float, level: float = 0.95) -> bool:
    """Return whether a difference stands: the one rule by which the program says so.

    ``p`` is corrected for every test that it was picked from; missing, nothing is settled.
    """
    return p < 1 - level


def _checked(p: ArrayLike) -> Array:
    values = np.array(p, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1) | np.isnan(values)).all():
        raise ValueError("p must be one column of numbers within [0, 1], or NaN where missing.")
    return values
