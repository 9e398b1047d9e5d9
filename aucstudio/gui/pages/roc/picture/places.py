"""Where rates lie in the ROC picture: heights on curves, and lines that bend on bent axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.gui.common.curves import Trace
from aucstudio.gui.pages.roc.picture.scene import Scene
from aucstudio.gui.state.session import ShownRun

Array = NDArray[np.float64]
Points = tuple[Array, Array]

_SAMPLES = 200


def trace_of(scene: Scene, run: ShownRun | None) -> Trace | None:
    """Return the line of a run, if it is drawn."""
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
    """Place a rising chain of straight segments, with points between where the axes bend.

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
    """Place the part of a rising line inside the unit square; empty where there is none."""
    return bent(scene, *line.segment())


def seen_places(scene: Scene, line: roc.Line) -> Points:
    """Place the part of a rising line that is seen, by many points."""
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
    """Return the distance in pixels of a rising line's point nearest to a place, and which it is.

    The points within a square are neighbours on the line: few are looked at, however many it has.
    """
    reach = 16.0
    while (found := _within(line, place, pixel, reach))[0] >= found[1]:
        reach *= 4
    # A point beyond the square may be nearer than one in its corner.
    part = slice(*_within(line, place, pixel, 1.5 * reach))
    distance = np.hypot(
        (line[0][part] - place[0]) / pixel[0], (line[1][part] - place[1]) / pixel[1]
    )
    k = int(distance.argmin())
    return float(distance[k]), part.start + k


def _within(
    line: Points, place: tuple[float, float], pixel: tuple[float, float], reach: float
) -> tuple[int, int]:
    """Return the first point of a rising line within a square, and the first one after it."""
    firsts = [np.searchsorted(line[k], place[k] - reach * pixel[k], "left") for k in (0, 1)]
    lasts = [np.searchsorted(line[k], place[k] + reach * pixel[k], "right") for k in (0, 1)]
    return int(max(firsts)), int(min(lasts))
