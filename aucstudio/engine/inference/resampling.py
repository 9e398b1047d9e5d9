"""Rows or whole groups drawn with replacement, portion by portion, so that it can be stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from aucstudio.engine.compiled import kernel
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.types import Index, RowNumbers

Progress = Callable[[float], object]
Units = tuple[Index, Index]

_ROWS_PER_PORTION = 200_000
_LEAST_IN_STRATUM = 5
_ATTEMPTS = 1000


def resamples(
    m: int,
    n: int,
    draws: int,
    seed: int,
    progress: Progress | None,
    units: Units | None = None,
) -> Iterator[tuple[slice, RowNumbers, RowNumbers]]:
    """Draw rows of each class, ``draws`` times, in portions that fit the cache.

    Where rows come in groups, whole groups are drawn: those with positives alone, with negatives
    alone and with both classes as strata of fixed size. Strata of fewer than 5 groups are drawn
    together with the largest; draws without a row of either class are drawn again.

    Parameters
    ----------
    m, n : int
        Rows of the two classes.
    draws, seed : int
    progress : callable or None
        Receives the fraction done after every portion; returning True stops.
    units : (ndarray of int, ndarray of int), optional
        The groups of the rows of both classes.

    Yields
    ------
    part : slice
        Which of the draws these are.
    positives, negatives : ndarray of int, shapes (portion, m) and (portion, n)
        How many times each row is drawn.

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
    strata = None if units is None else _strata(units)
    size = max(1, _ROWS_PER_PORTION // (m + n))
    for start in range(0, draws, size):
        stop = min(start + size, draws)
        if units is None or strata is None:
            positives, negatives = (_times(rng, stop - start, rows) for rows in (m, n))
        else:
            positives, negatives = _group_times(rng, stop - start, strata, units)
        yield slice(start, stop), positives, negatives
        if progress is not None and progress(stop / draws):
            raise Stopped("bootstrap")


def _times(rng: np.random.Generator, draws: int, count: int) -> RowNumbers:
    """Draw so many of so many; return how many times each is drawn."""
    times: RowNumbers = _counted(rng.integers(0, count, (draws, count), dtype=np.int32))
    return times


@kernel
def _counted(drawn: RowNumbers) -> RowNumbers:
    times = np.zeros(drawn.shape, np.int32)
    for draw in range(len(drawn)):
        for row in drawn[draw]:
            times[draw, row] += 1
    return times


def _strata(units: Units) -> list[Index]:
    """Divide the groups by the classes that they have rows of."""
    count = 1 + max(int(of_class.max()) for of_class in units)
    has = [np.bincount(of_class, minlength=count) > 0 for of_class in units]
    kind = has[0] + 2 * has[1].astype(np.intp)
    strata = sorted((np.flatnonzero(kind == k) for k in (1, 2, 3)), key=len)
    large = [one for one in strata[:-1] if len(one) >= _LEAST_IN_STRATUM]
    small = [one for one in strata[:-1] if len(one) < _LEAST_IN_STRATUM]
    return [*large, np.concatenate([*small, strata[-1]])]


def _group_times(
    rng: np.random.Generator, draws: int, strata: list[Index], units: Units
) -> tuple[RowNumbers, RowNumbers]:
    """Draw groups within strata until every draw has rows of both classes."""
    times = np.zeros((draws, 1 + max(int(of_class.max()) for of_class in units)), np.int32)
    lacking = np.arange(draws)
    for _ in range(_ATTEMPTS):
        for groups in strata:
            times[np.ix_(lacking, groups)] = _times(rng, len(lacking), len(groups))
        some = [times[np.ix_(lacking, np.unique(of))].any(axis=1) for of in units]
        lacking = lacking[~(some[0] & some[1])]
        if not len(lacking):
            return times[:, units[0]], times[:, units[1]]
    raise ValueError("Hardly any draw of whole groups has rows of both classes.")
