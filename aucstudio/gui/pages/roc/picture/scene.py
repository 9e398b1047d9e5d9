"""Content of the ROC plot, passed to every layer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Protocol

import numpy as np

from aucstudio.engine import roc
from aucstudio.engine.types import Array
from aucstudio.gui.common.curves import Trace
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


class Layer(Protocol):
    """Something drawn over the ROC curves; its items are added to the plot when it is made."""

    def show(self, scene: Scene) -> None:
        """Draw over the current picture, or nothing if the layer is off."""

    def apply_theme(self) -> None:
        """Apply the current theme."""


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


def bent(scene: Scene, fpr: Array, tpr: Array, *, always: bool = False) -> Points:
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
    return bent(scene, *line.segment())


def seen_places(scene: Scene, line: roc.Line) -> Points:
    """Return many places on the visible part of a rising line."""
    left, right, bottom, top = scene.window
    x, y = bent(scene, *line.segment(), always=True)
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
    x, y = ((values - at) / size for values, at, size in zip(line, place, pixel, strict=True))
    at = int(np.clip(np.searchsorted(x, 0.0), 1, len(x) - 1))
    reach = np.hypot(x[at - 1 : at + 1], y[at - 1 : at + 1]).min()
    first, last = np.searchsorted(x, -reach, "left"), np.searchsorted(x, reach, "right")
    part = slice(max(min(int(first), at - 1), 0), max(int(last), at + 1))
    distance = np.hypot(x[part], y[part])
    vertex = int(distance.argmin())
    return float(distance[vertex]), part.start + vertex
