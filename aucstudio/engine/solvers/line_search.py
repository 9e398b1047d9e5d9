"""A line search for the cutting-plane solver, in the scores alone.

Symbols: P(w) = |w|^2 / 2 + C R(Xw); u = Xw scores; d direction of the line, p = Xd.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from aucstudio.engine.losses import Risk
from aucstudio.engine.types import Array

_STEPS = 30


@dataclasses.dataclass(frozen=True, eq=False)
class Point:
    """A point of the line: P and its slope along the line, R and its subgradient."""

    step: float
    objective: float
    slope: float
    value: float
    gradient: Array


class Ray:
    """P along the ray from one w (step 0) to another (step 1), without further use of X.

    Parameters
    ----------
    risk : callable
        R and a subgradient of it, from the scores.
    C : float
    w, target : ndarray of shape (n_features,)
    u, u_target : ndarray of shape (N,)
        Their scores.
    stop : callable
        Asked before each evaluation of the risk; True ends the search where it is.
    """

    def __init__(
        self,
        risk: Risk,
        C: float,
        w: Array,
        target: Array,
        u: Array,
        u_target: Array,
        stop: Callable[[], bool],
    ) -> None:
        self._risk, self._C, self._w, self._u = risk, C, w, u
        self._d, self._p = target - w, u_target - u
        self._ww, self._wd, self._dd = w @ w, w @ self._d, self._d @ self._d
        self.stop = stop

    def weights(self, step: float) -> Array:
        return self._w + step * self._d

    def scores(self, step: float) -> Array:
        return self._u + step * self._p

    def start(self, objective: float, gradient: Array) -> Point:
        """Return the point of step 0, of which P and a subgradient are known."""
        slope = float(self._wd + self._C * (gradient @ self._p))
        return Point(0.0, objective, slope, np.nan, gradient)

    def at(self, step: float) -> Point:
        value, gradient = self._risk(self.scores(step))
        square = self._ww + step * (2 * self._wd + step * self._dd)
        slope = self._wd + step * self._dd + self._C * (gradient @ self._p)
        return Point(step, float(square / 2 + self._C * value), float(slope), value, gradient)


def bracket(line: Ray, start: Point, tolerance: float) -> tuple[Point, Point]:
    """Find two points round the minimum on the line, neither above it by more than tolerance.

    Regula falsi on the slope with the Illinois rule. The second point has slope >= 0; the first
    has slope < 0, unless it is the start.
    """
    below, above = start, line.at(1.0)
    while above.slope < 0.0 and not line.stop():
        below, above = above, line.at(2 * above.step)
    left, right = min(below.slope, 0.0), above.slope
    moved = 0
    for _ in range(_STEPS):
        if line.stop() or _height(below, above) <= tolerance:
            break
        share = min(max(left / (left - right), 0.02), 0.98) if left < right else 0.5
        point = line.at(below.step + share * (above.step - below.step))
        if point.slope < 0.0:
            below, left = point, point.slope
            right = right / 2 if moved < 0 else above.slope
            moved = -1
        else:
            above, right = point, point.slope
            left = left / 2 if moved > 0 else min(below.slope, 0.0)
            moved = 1
    return below, above


def _height(below: Point, above: Point) -> float:
    """Bound how far the worse of two points lies above the minimum, by the tangents at both."""
    floor = below.objective
    if below.slope < 0.0:
        width = above.step - below.step
        rise = above.objective - above.slope * width - below.objective
        floor += below.slope * rise / (below.slope - above.slope)
    return max(below.objective, above.objective) - floor
