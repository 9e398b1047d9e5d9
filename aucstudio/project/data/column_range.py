"""Range of a number column, and whether a later column is far outside it."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Quantiles are those of so many rows at most, evenly spaced.
SAMPLE_ROWS = 4096
# A median is far outside beyond so many widths of the range on either side; a width counts as at
# least this share of the largest magnitude, so that columns of years have room to grow.
_WIDTHS, _LEAST_WIDTH = 5.0, 0.02
# Medians apart by this factor are on another scale, if there are enough rows to take a median of.
_FACTOR, _ENOUGH_ROWS = 30.0, 5
# So improbable it is taken for another notation that all numbers are whole by chance.
_IMPROBABLE = 0.02
_THOUSAND, _ROUNDING = 1000.0, 1e-9
# Factors between units, and how many times beyond the range a median is then.
_UNITS, _BEYOND = (0.01, 0.001, 100.0, 1000.0), 3.0


@dataclasses.dataclass(frozen=True)
class ColumnRange:
    """What numbers a column holds.

    Attributes
    ----------
    low, high : float
        Minimum and maximum of all rows.
    lower, middle, upper : float
        Quantiles of 5, 50 and 95 %, of :data:`SAMPLE_ROWS` rows at most.
    fractional : float
        Share of these rows that are not whole numbers.
    """

    low: float
    high: float
    lower: float
    middle: float
    upper: float
    fractional: float

    @classmethod
    def of(cls, sample: Array, low: float, high: float) -> ColumnRange | None:
        """Return the range of a column from some of its cells; None if none of them is known.

        Parameters
        ----------
        sample : ndarray of float
            NaN where missing.
        low, high : float
            Minimum and maximum of the whole column.
        """
        cells = sample[np.isfinite(sample)]
        cells.sort()
        if not len(cells):
            return None
        lower, middle, upper = cells[[round(q * (len(cells) - 1)) for q in (0.05, 0.5, 0.95)]]
        fractional = float(np.count_nonzero(cells != np.floor(cells)) / len(cells))
        return cls(low, high, float(lower), float(middle), float(upper), fractional)


def sample_rows(rows: int) -> NDArray[np.intp]:
    """Return the evenly spaced rows that quantiles are taken of."""
    return np.unique(np.linspace(0, rows - 1, min(rows, SAMPLE_ROWS)).astype(np.intp))


@dataclasses.dataclass(frozen=True)
class Far:
    """How the numbers of a later column are far outside the range of training.

    Attributes
    ----------
    words : str
    factor : float or None
        What brings them into the range: 100 or 1000, or one of these parts.
    lost_mark : bool
        Whether a decimal mark may have been read as a thousands mark, or the reverse.
    """

    words: str
    factor: float | None = None
    lost_mark: bool = False


def how_far(trained: ColumnRange, cells: Array, *, grouped: bool) -> Far | None:
    """Return how later cells are far outside the range of training; None if they are not.

    Medians are compared, which single outliers do not move.

    Parameters
    ----------
    trained : ColumnRange
    cells : ndarray of float
        Later cells, NaN where missing.
    grouped : bool
        Whether they were read in a format with thousands marks.
    """
    cells = cells[np.isfinite(cells)]
    if not len(cells):
        return None
    median = float(np.median(cells))
    factor = _factor(trained, median)
    lost_mark = _has_lost_mark(trained, cells, grouped=grouped)
    if factor == 1 / _THOUSAND and grouped:
        lost_mark = bool((cells == np.floor(cells)).all())
    found = f"has the median {_figure(median)}" if len(cells) > 1 else f"is {_figure(median)}"
    usual = f"{_figure(trained.low)} to {_figure(trained.high)}"
    magnitude = max(abs(trained.low), abs(trained.high))
    reach = _WIDTHS * max(trained.high - trained.low, _LEAST_WIDTH * magnitude)
    if not trained.low - reach <= median <= trained.high + reach:
        return Far(f"{found}, far outside the training range, {usual}", factor, lost_mark)
    if factor is not None or _is_on_other_scale(trained, median, len(cells)):
        return Far(f"{found}, on another scale than in training, {usual}", factor, lost_mark)
    if lost_mark:
        kind = "fractions" if trained.fractional else "whole numbers"
        return Far(f"{found}, where training had {kind} from {usual}", None, lost_mark)
    return None


def _is_on_other_scale(trained: ColumnRange, median: float, rows: int) -> bool:
    """Return whether enough rows have a median that is many times that of training, or a part."""
    if rows < _ENOUGH_ROWS or not trained.middle or trained.lower <= median <= trained.upper:
        return False
    ratio = median / trained.middle
    return ratio >= _FACTOR or 0 < ratio <= 1 / _FACTOR


def _factor(trained: ColumnRange, median: float) -> float | None:
    """Return the factor of a unit that brings a median well outside the range into it."""
    if not 0 <= trained.low < trained.high or median <= 0:
        return None
    if trained.low / _BEYOND < median < trained.high * _BEYOND:
        return None
    return next((f for f in _UNITS if trained.low <= f * median <= trained.high), None)


def _has_lost_mark(trained: ColumnRange, cells: Array, *, grouped: bool) -> bool:
    """Return whether a mark was read as the other one: decimals as thousands, or the reverse."""
    whole = cells == np.floor(cells)
    if not trained.fractional:
        larger = _THOUSAND * cells
        in_place = (larger >= trained.low) & (larger <= trained.high)
        is_whole = np.abs(larger - np.rint(larger)) <= _ROUNDING * np.abs(larger)
        return bool(2 * np.count_nonzero(~whole & in_place & is_whole) > len(cells))
    if not (grouped and whole.all()) or (1 - trained.fractional) ** len(cells) > _IMPROBABLE:
        return False
    smaller = cells / _THOUSAND
    in_place = (smaller >= trained.low) & (smaller <= trained.high)
    return bool(2 * np.count_nonzero(in_place & (np.abs(cells) >= _THOUSAND)) > len(cells))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1e4 and abs(value) < 1e15 else f"{value:.6g}"
