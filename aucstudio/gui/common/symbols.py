"""Shapes of markers that are told apart at nine pixels, without their colours."""

from __future__ import annotations

import math
from collections.abc import Iterable

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath, QPolygonF, QTransform


def _polygon(corners: Iterable[tuple[float, float]]) -> QPainterPath:
    made = QPainterPath()
    made.addPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
    made.closeSubpath()
    return made


def _circle(radius: float) -> QPainterPath:
    made = QPainterPath()
    made.addEllipse(QPointF(), radius, radius)
    return made


def _square(half: float) -> QPainterPath:
    return _polygon([(-half, -half), (half, -half), (half, half), (-half, half)])


def _plus(length: float, half: float) -> QPainterPath:
    """Make four arms, of a length from the middle and of half a width."""
    arm = [(-half, -half), (-half, -length), (half, -length)]
    turned = [arm]
    for _ in range(3):
        turned.append([(-y, x) for x, y in turned[-1]])
    return _polygon(corner for each in turned for corner in each)


def _star(outer: float, inner: float) -> QPainterPath:
    turns = [(radius, math.pi * k / 5) for k, radius in enumerate([outer, inner] * 5)]
    # Its box is in the middle, its points are not.
    low = (outer - outer * math.cos(math.pi / 5)) / 2
    return _polygon((r * math.sin(turn), low - r * math.cos(turn)) for r, turn in turns)


_UP = _polygon([(-0.5, 0.42), (0.0, -0.5), (0.5, 0.42)])
_HOURGLASS = _polygon(
    [(-0.46, -0.5), (0.46, -0.5), (0.12, 0.0), (0.46, 0.5), (-0.46, 0.5), (-0.12, 0.0)]
)

# About as heavy as each other within a square of side 1, so that a size in pixels holds for all;
# arms are wide enough to be filled inside an outline. A diamond is no run's: pictures mark a best
# or a mean by it.
SYMBOLS: tuple[QPainterPath, ...] = (
    _circle(0.46),
    _square(0.45),
    _UP,
    _plus(0.5, 0.18),
    QTransform().scale(1.0, -1.0).map(_UP),
    QTransform().rotate(45.0).map(_plus(0.54, 0.16)),
    _star(0.525, 0.26),
    _HOURGLASS,
)
