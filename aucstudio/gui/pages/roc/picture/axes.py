"""Linear, logarithmic and probit axes.

A place is where a rate stands along an axis. On a bent axis a slanted line is bent too, while the
steps of a ROC curve stay steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.types import Array
from aucstudio.gui.common.plots.axes import NumberAxis
from aucstudio.gui.pages.roc.picture.scene import Axis

LINEAR = Axis("linear", "Linear", np.asarray, np.asarray)

KINDS = {"linear": "Linear", "log": "Log FPR", "probit": "Probit"}

_PIECES = 256  # of the axis, of which a slanted segment gets as many as it crosses
_DENSE = np.linspace(0.0, 1.0, 513)
_FEWEST = 25  # rows of a class: a bent axis reaches as far where there are fewer


def log_axis(low: float) -> Axis:
    """Make a logarithmic axis from ``low`` to 1; smaller values are at its left end."""

    def forward(rates: Array) -> Array:
        return np.asarray(np.log10(np.clip(rates, low, 1.0)), dtype=np.float64)

    def backward(places: Array) -> Array:
        rates = 10.0 ** np.minimum(places, 0.0)
        # The left end is where FPR 0 is drawn.
        return np.asarray(np.where(rates <= low * (1 + 1e-9), 0.0, rates), dtype=np.float64)

    return Axis("log", "Log", forward, backward, low, 1.0)


def probit_axis(low: float, high: float) -> Axis:
    """Make a probit axis; rates beyond ``low`` and ``high`` are at its ends."""

    def forward(rates: Array) -> Array:
        return np.asarray(scipy.special.ndtri(np.clip(rates, low, high)), dtype=np.float64)

    def backward(places: Array) -> Array:
        rates = scipy.special.ndtr(places)
        rates = np.where(rates <= low * (1 + 1e-9), 0.0, rates)
        beyond = 1 - rates <= (1 - high) * (1 + 1e-9)
        return np.asarray(np.where(beyond, 1.0, rates), dtype=np.float64)

    return Axis("probit", "Probit", forward, backward, low, high)


def make_axes(kind: str, positives: int, negatives: int) -> tuple[Axis, Axis]:
    """Make the axes of the FPR and of the TPR for one of ``KINDS``.

    A rate of 0 is drawn half a row from it, where the logarithm and the probit still exist; so is
    a rate of 1 on probit axes. With few rows the axis goes on: an end of the FPR range that is
    less than half a row would stand where 0 stands.
    """
    x, y = (0.5 / max(rows, _FEWEST) for rows in (negatives, positives))
    if kind == "log":
        return log_axis(x), LINEAR
    if kind == "probit":
        return probit_axis(x, 1 - x), probit_axis(y, 1 - y)
    return LINEAR, LINEAR


def ends(axis: Axis) -> tuple[float, float]:
    """Return the places of the axis's ends."""
    low, high = axis.forward(np.array([axis.low, axis.high]))
    return float(low), float(high)


def place(axis: Axis, rate: float) -> float:
    """Return the place of one rate."""
    return float(axis.forward(np.array([rate]))[0])


def rate_at(axis: Axis, place: float) -> float:
    """Return the rate at one place."""
    return float(axis.backward(np.array([place]))[0])


def draw(x: Array, y: Array, along: Axis, up: Axis) -> tuple[Array, Array]:
    """Return the places of a line of rates, slanted segments cut short on bent axes."""
    if along.key == "linear" and up.key == "linear":
        return x, y
    sides = (x, along), (y, up)
    places = [axis.forward(rates) for rates, axis in sides]
    lengths = [
        np.diff(at) / np.subtract(*ends(axis)[::-1])
        for at, (_, axis) in zip(places, sides, strict=True)
    ]
    slanted = (np.diff(x) != 0) & (np.diff(y) != 0)
    # No more than some hundred segments are that long.
    long = np.flatnonzero(slanted & (np.hypot(*lengths) > 1 / _PIECES))
    if not len(long):
        return places[0], places[1]
    shares = [_shares(int(k), sides) for k in long]
    after = np.repeat(long, [len(one) for one in shares])
    share = np.concatenate(shares)
    cuts = [rates[after] + share * np.diff(rates)[after] for rates, _ in sides]
    x, y = (np.insert(rates, after + 1, more) for (rates, _), more in zip(sides, cuts, strict=True))
    return along.forward(x), up.forward(y)


def _shares(segment: int, sides: tuple[tuple[Array, Axis], tuple[Array, Axis]]) -> Array:
    """Return the shares of a rising segment at which it is evenly cut, in places of either axis."""
    found = []
    for rates, axis in sides:
        start, stop = rates[segment : segment + 2]
        low, high = axis.forward(np.array([start, stop]))
        first, last = ends(axis)
        pieces = max(int(np.ceil(_PIECES * abs(high - low) / (last - first))), 1)
        even = axis.backward(np.linspace(low, high, pieces + 1)[1:-1])
        # Where the axis begins and ends the line bends.
        rates_there = np.r_[even, axis.low, axis.high]
        found.append((rates_there - start) / (stop - start))
    shares = np.unique(np.concatenate(found))
    return shares[(shares > 0) & (shares < 1)]


def cut(values: Array, pieces: NDArray[np.int64]) -> Array:
    """Cut each segment of a line into so many equal pieces; at least one."""
    pieces = np.maximum(pieces, 1)
    segment = np.repeat(np.arange(len(pieces)), pieces)
    first = np.repeat(np.cumsum(pieces) - pieces, pieces)
    share = (np.arange(len(segment)) - first) / pieces[segment]
    inner = values[segment] + share * np.diff(values)[segment]
    return np.append(inner, values[-1])


def chance_line(along: Axis, up: Axis) -> tuple[Array, Array]:
    """Return the places of the diagonal, TPR = FPR."""
    low, high = ends(along)
    if along.key == up.key == "linear":
        return np.array([low, high]), np.array([low, high])
    rates = along.backward(low + (high - low) * _DENSE)
    return along.forward(rates), up.forward(rates)


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
            found: list[tuple[float, list[float]]] = super().tickValues(low, high, size)
            return found
        rates = tick_rates(self.axis, low, high)
        at = self.axis.forward(rates)
        seen = (at >= low - 1e-9) & (at <= high + 1e-9)
        apart = 44.0 if self.orientation in ("bottom", "top") else 28.0
        kept = _spaced(at[seen], apart * (high - low) / max(size, 1.0))
        return [(1.0, [float(value) for value in kept])]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        if self.axis.key == "linear":
            words: list[str] = super().tickStrings(values, scale, spacing)
            return words
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
