"""Linear, logarithmic, probit and square-root axes, and lines of rates as places along them.

A place is where a rate is along an axis. On a non-linear axis a slanted line is curved, while the
steps of a ROC curve stay steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import scipy

from aucstudio.engine.arrays import Array
from aucstudio.gui.common.plots.axes import NumberAxis
from aucstudio.gui.common.plots.curves import Window
from aucstudio.gui.common.theme import scaled


@dataclasses.dataclass(frozen=True)
class Axis:
    """How rates become places along one axis.

    Attributes
    ----------
    key : str
        One of :data:`KINDS`, or "root".
    forward, backward : callable
        From rates to places and back; rates beyond the ends are clipped.
    low, high : float
        The rates at the ends of the axis.
    """

    key: str
    forward: Callable[[Array], Array]
    backward: Callable[[Array], Array]
    low: float = 0.0
    high: float = 1.0


Points = tuple[Array, Array]
LINEAR = Axis("linear", np.asarray, np.asarray)
ROOT = Axis("root", np.sqrt, np.square)
KINDS = {"linear": "Linear", "log": "Log FPR", "probit": "Probit"}

_PIECES = 256  # of either axis, between which a curved line is drawn straight
_FEWEST = 25  # rows of a class: a non-linear axis reaches as far where there are fewer


def _non_linear(
    key: str,
    low: float,
    high: float,
    onto: Callable[[Array], Array],
    back: Callable[[Array], Array],
) -> Axis:
    """Make an axis from ``low`` to ``high``, at whose ends 0 and 1 are drawn."""

    def forward(rates: Array) -> Array:
        return np.asarray(onto(np.clip(rates, low, high)), dtype=np.float64)

    def backward(places: Array) -> Array:
        rates = back(places)
        rates = np.where(rates <= low * (1 + 1e-9), 0.0, rates)
        return np.where(1 - rates <= (1 - high) * (1 + 1e-9), 1.0, rates)

    return Axis(key, forward, backward, low, high)


def _probit(low: float) -> Axis:
    return _non_linear("probit", low, 1 - low, scipy.special.ndtri, scipy.special.ndtr)


def make_axes(kind: str, positives: int, negatives: int) -> tuple[Axis, Axis]:
    """Make the axes of the FPR and of the TPR for one of ``KINDS``.

    A rate of 0 is drawn half a row from it, where the logarithm and the probit still exist; so is
    a rate of 1 on probit axes. With few rows the axis goes on: an end of the FPR range that is
    less than half a row would be drawn where 0 is.
    """
    x, y = (0.5 / max(rows, _FEWEST) for rows in (negatives, positives))
    if kind == "log":
        return _non_linear("log", x, 1.0, np.log10, lambda places: 10.0**places), LINEAR
    return (_probit(x), _probit(y)) if kind == "probit" else (LINEAR, LINEAR)


def ends(axis: Axis) -> tuple[float, float]:
    """Return the places of the axis's ends."""
    return place(axis, axis.low), place(axis, axis.high)


def place(axis: Axis, rate: float) -> float:
    """Return the place of one rate."""
    return float(axis.forward(np.array([rate]))[0])


def rate_at(axis: Axis, place: float) -> float:
    """Return the rate at one place."""
    return float(axis.backward(np.array([place]))[0])


def placed(x: Array, y: Array, along: Axis, up: Axis) -> Points:
    """Return the places of a line of rates; a rising one is curved on non-linear axes."""
    if along.key == up.key == "linear":
        return x, y
    return filled(x, y, along, up, (*ends(along), *ends(up)))


def filled(x: Array, y: Array, along: Axis, up: Axis, window: Window) -> Points:
    """Return the places of a rising line of rates, with points between evenly over a window."""
    if not len(x):
        return x, y
    across, upward = _even(along, window[:2], x), _even(up, window[2:], y)
    more_x = np.concatenate([across, np.interp(upward, y, x)])
    more_y = np.concatenate([np.interp(across, x, y), upward])
    order = np.argsort(more_x + more_y)
    at = np.searchsorted(x + y, (more_x + more_y)[order])
    slanted = (np.diff(x) != 0) & (np.diff(y) != 0)
    kept = slanted[np.clip(at - 1, 0, len(slanted) - 1)]
    order, at = order[kept], at[kept]
    # Rounding must not let the line turn back.
    x, y = (
        np.maximum.accumulate(np.insert(rates, at, more[order]))
        for rates, more in ((x, more_x), (y, more_y))
    )
    return along.forward(x), up.forward(y)


def _even(axis: Axis, part: tuple[float, float], rates: Array) -> Array:
    """Return evenly placed rates between the first and the last of some rates."""
    # Where the axis begins and ends a line has a corner.
    even = np.r_[axis.backward(np.linspace(*part, _PIECES + 1)), axis.low, axis.high]
    found: Array = even[(even > rates[0]) & (even < rates[-1])]
    return found


def nearest(
    line: Points, place: tuple[float, float], pixel: tuple[float, float]
) -> tuple[float, int]:
    """Return the distance in pixels of a line's point nearest to a place, and which it is.

    The line is monotone in x, so only vertices within the current best distance are checked.
    """

    def away(part: slice) -> Array:
        sides = (
            (values[part] - at) / size for values, at, size in zip(line, place, pixel, strict=True)
        )
        return np.hypot(*sides)

    x = line[0]
    at = int(np.clip(np.searchsorted(x, place[0]), 1, len(x) - 1))
    reach = float(away(slice(at - 1, at + 1)).min()) * pixel[0]
    first, last = np.searchsorted(x, (place[0] - reach, place[0] + reach))
    part = slice(max(min(int(first), at - 1), 0), max(int(last), at) + 1)
    distance = away(part)
    vertex = int(distance.argmin())
    return float(distance[vertex]), part.start + vertex


class RateAxis(NumberAxis):
    """Tick marks at round rates, with the digits that the visible range needs.

    Attributes
    ----------
    axis : Axis
    """

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self.axis = LINEAR

    def show_axis(self, axis: Axis) -> None:
        """Mark another axis."""
        self.axis = axis
        self.picture = None
        self.update()

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        if self.axis.key == "linear":
            return super().tickValues(low, high, size)
        rates = tick_rates(self.axis, low, high)
        at = self.axis.forward(rates)
        seen = (at >= low - 1e-9) & (at <= high + 1e-9)
        apart = scaled(44 if self.orientation in ("bottom", "top") else 28)
        kept = _spaced(at[seen], apart * (high - low) / max(size, 1.0))
        return [(1.0, [float(value) for value in kept])]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        if self.axis.key == "linear":
            return super().tickStrings(values, scale, spacing)
        rates = self.axis.backward(np.array(values))
        return [rate_words(self.axis, float(rate)) for rate in rates]


def rate_words(axis: Axis, rate: float) -> str:
    """Write a rate as the axis's ticks do: a share, or percent where both ends are stretched."""
    if axis.key == "probit":
        return f"{float(f'{100 * rate:.6g}'):.10g} %"
    return f"{float(f'{rate:.4g}'):.10g}" if rate >= 1e-5 or rate == 0 else f"{rate:.0e}"


def tick_rates(axis: Axis, low: float, high: float) -> Array:
    """Return the round rates between two places that may be marked, the most important first."""
    first, last = (rate_at(axis, value) for value in (low, high))
    decades = 10.0 ** -np.arange(1.0, 9.0)
    found = [np.array([0.0, 1.0]), decades, 1 - decades, np.array([0.5])]
    if axis.key == "log":
        found[2] = np.array([])
    found += [2 * decades, 5 * decades]
    found += [1 - 2 * decades[1:], 1 - 5 * decades[1:]] if axis.key == "probit" else []
    step = 10.0 ** np.floor(np.log10(max(last - first, 1e-9) / 3))
    for width in (5 * step, 2 * step, step):
        count = int((last - first) / width) + 2
        found.append((np.floor(first / width) + np.arange(count + 1)) * width)
    rates = np.round(np.concatenate(found), 12)
    # The left end is FPR 0; smaller rates share its place.
    own = (rates == 0) | (rates == 1) | ((rates > axis.low * 1.2) & (rates < 1))
    inside: Array = rates[own]
    _, where = np.unique(inside, return_index=True)
    return inside[np.sort(where)]


def _spaced(places: Array, apart: float) -> list[float]:
    """Keep those that are far enough from all kept before."""
    kept: list[float] = []
    for value in places:
        if all(abs(value - other) >= apart for other in kept):
            kept.append(float(value))
    return sorted(kept)
