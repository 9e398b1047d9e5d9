"""Rows drawn with replacement within a class, portion by portion, so that it can be stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from aucstudio.engine.monitor import Stopped
from aucstudio.engine.types import RowNumbers

Progress = Callable[[float], object]

_ROWS_PER_PORTION = 200_000


def resamples(
    m: int, n: int, draws: int, seed: int, progress: Progress | None
) -> Iterator[tuple[slice, RowNumbers, RowNumbers]]:
    """Draw the rows of each class anew, ``draws`` times, in portions that fit the cache.

    Parameters
    ----------
    m, n : int
        Rows of the two classes.
    draws, seed : int
    progress : callable or None
        Hears the fraction done after every portion; returning True stops.

    Yields
    ------
    part : slice
        Which of the draws these are.
    positives, negatives : ndarray of int, shapes (portion, m) and (portion, n)
        Row numbers within the class.

    Raises
    ------
    Stopped
        If ``progress`` returned True.
    ValueError
        If draws is less than 2.
    """
    if draws < 2:
        raise ValueError(f"draws must be at least 2; it is {draws}.")
    rng = np.random.default_rng(seed)
    size = max(1, _ROWS_PER_PORTION // (m + n))
    for start in range(0, draws, size):
        stop = min(start + size, draws)
        positives, negatives = (
            rng.integers(0, rows, (stop - start, rows), dtype=np.int32) for rows in (m, n)
        )
        yield slice(start, stop), positives, negatives
        if progress is not None and progress(stop / draws):
            raise Stopped("bootstrap")
