"""Linear, logarithmic and probit axes, and lines of rates as places along them.

A place is where a rate stands along an axis. On a bent axis a slanted line is bent too, while the
steps of a ROC curve stay steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array
from aucstudio.gui.common.curve_figures import Trace
from aucstudio.gui.common.plots.axes import NumberAxis
from aucstudio.gui.state.session import ShownRun
from aucstudio.gui.state.study import Focus


@dataclasses.dataclass(frozen=True)
class Axis:
    """How rates become places along one axis.

    Attributes
    ----------
    key, title : str
        "linear", "log" or "probit", and what a person reads.
    forward, backward : callable
        From rates to places and back; rates beyond the ends are clipped.
    low, high : float
        The rates at the ends of the axis.
    """

    key: str
    title: str
    forward: Callable[[Array], Array]
    backward: Callable[[Array], Array]
    low: float = 0.0
    high: float = 1.0


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """What the picture shows now.

    Attributes
    ----------
    runs : tuple of ShownRun
        The checked runs, in the order of the list.
    traces : tuple of Trace
        One for each of ``runs``: its average curve, or its only one.
    chosen, compared : ShownRun or None
        The chosen run and the second one, where they are checked.
    focus : Focus
    band : (float, float)
    x, y : Axis
        Of the FPR and of the TPR.
    window : (float, float, float, float)
        Left, right, bottom and top of the visible window, as places.
    face : str
        "roc", or which other face of the curves is shown: a layer that is about rates then draws
        nothing.
    """

    runs: tuple[ShownRun, ...]
    traces: tuple[Trace, ...]
    chosen: ShownRun | None
    compared: ShownRun | None
    focus: Focus
    band: tuple[float, float]
    x: Axis
    y: Axis
    window: tuple[float, float, float, float]
    face: str = "roc"


Points = tuple[Array, Array]

_SAMPLES = 200


def trace_of(scene: Scene, run: ShownRun | None) -> Trace | None:
    """Return the line of a run if it is drawn."""
    if run is None:
        return None
    lines = zip(scene.runs, scene.traces, strict=True)
    return next((trace for one, trace in lines if one.record.id == run.record.id), None)


def height(trace: Trace, fpr: float) -> float:
    """Return the TPR of a line at an FPR; the upper end where it is upright."""
    after = int(np.searchsorted(trace.x, fpr, "right"))
    if after == len(trace.x):
        return float(trace.y[-1])
    x, y = trace.x[after - 1 : after + 1], trace.y[after - 1 : after + 1]
    return float(y[0] + (y[1] - y[0]) * (fpr - x[0]) / (x[1] - x[0]))


def curved_path(scene: Scene, fpr: Array, tpr: Array, *, always: bool = False) -> Points:
    """Return places on a rising chain of segments, with points in between on non-linear axes.

    ``always`` puts points between on straight axes too.
    """
    if len(fpr) and (always or not (scene.x.key == scene.y.key == "linear")):
        more_fpr = _rates(scene, 0)
        more_fpr = more_fpr[(more_fpr >= fpr[0]) & (more_fpr <= fpr[-1])]
        more_tpr = _rates(scene, 1)
        more_tpr = more_tpr[(more_tpr >= tpr[0]) & (more_tpr <= tpr[-1])]
        x = np.concatenate([fpr, more_fpr, np.interp(more_tpr, tpr, fpr)])
        y = np.concatenate([tpr, np.interp(more_fpr, fpr, tpr), more_tpr])
        order = np.argsort(x + y, kind="stable")
        fpr, tpr = x[order], y[order]
    return scene.x.forward(fpr), scene.y.forward(tpr)


def line_places(scene: Scene, line: roc.Line) -> Points:
    """Return places of a rising line inside the unit square; may be empty."""
    return curved_path(scene, *line.segment())


def seen_places(scene: Scene, line: roc.Line) -> Points:
    """Return many places on the visible part of a rising line."""
    left, right, bottom, top = scene.window
    x, y = curved_path(scene, *line.segment(), always=True)
    seen = (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
    return x[seen], y[seen]


def _rates(scene: Scene, side: int) -> Array:
    """Return rates that lie evenly in the window, along x (0) or y (1)."""
    axis = (scene.x, scene.y)[side]
    low, high = scene.window[2 * side : 2 * side + 2]
    rates: Array = np.clip(axis.backward(np.linspace(low, high, _SAMPLES)), 0.0, 1.0)
    return rates


def seen_rates(scene: Scene) -> tuple[float, float, float, float]:
    """Return the rates at the left, right, bottom and top of the window."""
    left, right, bottom, top = scene.window
    x = np.clip(scene.x.backward(np.array([left, right])), 0.0, 1.0)
    y = np.clip(scene.y.backward(np.array([bottom, top])), 0.0, 1.0)
    return float(x[0]), float(x[1]), float(y[0]), float(y[1])


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
