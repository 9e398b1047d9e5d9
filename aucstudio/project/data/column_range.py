"""Range of a number column, and whether a later column is far outside it."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Most rows that quantiles are taken of, evenly spaced.
SAMPLE_ROWS = 4096
# A median is far outside if it is this many widths of the range away; the width is at least this
# share of the largest magnitude, so that columns of years can grow.
_WIDTHS, _LEAST_WIDTH = 5.0, 0.02
# Medians that differ by this factor are on another scale, if there are enough rows.
_FACTOR, _ENOUGH_ROWS = 30.0, 5
# Largest probability that all numbers are whole by chance.
_IMPROBABLE = 0.02
_THOUSAND, _ROUNDING = 1000.0, 1e-9
# Factors between units, and the least factor of the median beyond the range.
_UNITS, _BEYOND = (0.01, 0.001, 100.0, 1000.0), 3.0


@dataclasses.dataclass(frozen=True)
class ColumnRange:
    """Range of the numbers of a column.

    Attributes
    ----------
    low, high : float
        Minimum and maximum over all rows.
    lower, middle, upper : float
        Quantiles of 5, 50 and 95 %, of :data:`SAMPLE_ROWS` rows at most.
    fractional : float
        Share of these rows with a fraction.
    """

    low: float
    high: float
    lower: float
    middle: float
    upper: float
    fractional: float

    @classmethod
    def of(cls, sample: Array, low: float, high: float) -> ColumnRange | None:
        """Return the range of a column from a sample of cells; None if all are missing.

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
    """Return the evenly spaced rows for quantiles."""
    return np.unique(np.linspace(0, rows - 1, min(rows, SAMPLE_ROWS)).astype(np.intp))


@dataclasses.dataclass(frozen=True)
class Far:
    """Deviation of a later column from the training range.

    Attributes
    ----------
    code : str
        Entry of the catalogue that describes the deviation.
    facts : dict of str to value
        The values in its text.
    factor : float or None
        Unit factor that brings the numbers into the range: 100, 1000, 0.01 or 0.001.
    lost_mark : bool
        Whether a decimal mark may have been read as a thousands mark, or vice versa.
    """

    code: str
    facts: dict[str, object]
    factor: float | None = None
    lost_mark: bool = False


def how_far(trained: ColumnRange, cells: Array, *, grouped: bool) -> Far | None:
    """Return the deviation of later cells from the training range; None if there is none.

    Medians are compared, because single outliers do not affect them.

    Parameters
    ----------
    trained : ColumnRange
    cells : ndarray of float
        Later cells, NaN where missing.
    grouped : bool
        Whether their number format has thousands marks.
    """
    cells = cells[np.isfinite(cells)]
    if not len(cells):
        return None
    median = float(np.median(cells))
    factor = _factor(trained, median)
    lost_mark = _has_lost_mark(trained, cells, grouped=grouped)
    if factor == 1 / _THOUSAND and grouped:
        lost_mark = bool((cells == np.floor(cells)).all())
    ends = {"low": _figure(trained.low), "high": _figure(trained.high)}
    facts: dict[str, object] = {"rows": len(cells), "median": _figure(median), **ends}
    magnitude = max(abs(trained.low), abs(trained.high))
    reach = _WIDTHS * max(trained.high - trained.low, _LEAST_WIDTH * magnitude)
    if not trained.low - reach <= median <= trained.high + reach:
        return Far("later_far", facts, factor, lost_mark)
    if factor is not None or _is_on_other_scale(trained, median, len(cells)):
        return Far("later_scale", facts, factor, lost_mark)
    if lost_mark:
        kind = "fractions" if trained.fractional else "whole numbers"
        return Far("later_kind", facts | {"kind": kind}, None, lost_mark)
    return None


def _is_on_other_scale(trained: ColumnRange, median: float, rows: int) -> bool:
    """Return whether enough rows have a median many times larger or smaller than in training."""
    if rows < _ENOUGH_ROWS or not trained.middle or trained.lower <= median <= trained.upper:
        return False
    ratio = median / trained.middle
    return ratio >= _FACTOR or 0 < ratio <= 1 / _FACTOR


def _factor(trained: ColumnRange, median: float) -> float | None:
    """Return the unit factor that brings a median outside the range into it."""
    if not 0 <= trained.low < trained.high or median <= 0:
        return None
    if trained.low / _BEYOND < median < trained.high * _BEYOND:
        return None
    return next((f for f in _UNITS if trained.low <= f * median <= trained.high), None)


def _has_lost_mark(trained: ColumnRange, cells: Array, *, grouped: bool) -> bool:
    """Return whether decimal marks were read as thousands marks, or vice versa."""
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
