"""Thinned lines against the full ones, pixel by pixel and vertex by vertex."""

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QTransform

from aucstudio.engine import roc
from aucstudio.gui.common.plots import rate_axes as axes
from aucstudio.gui.common.plots.curves import CurveItem, PlacedLine
from aucstudio.gui.pages.roc.lines import FACES

PIXELS = 320, 240
ROWS = 60_000


def scores(kind):
    rng = np.random.default_rng(7)
    y = rng.random(ROWS) < 0.3
    s = y + rng.normal(size=ROWS)
    if kind == "tied":
        s = np.round(s, 2)
    elif kind == "staircase":  # long runs of one class: steps of every size
        s = np.arange(ROWS, 0, -1.0)
        y = np.repeat(rng.random(400) < 0.5, ROWS // 400)
        y[rng.random(ROWS) < 0.01] ^= True
    return roc.roc_curve(y, s)


@pytest.fixture(scope="module")
def ranked():
    return {kind: scores(kind) for kind in ("random", "tied", "staircase")}


def rates(curve):
    corners = curve.corners()
    return corners.fpr, corners.tpr


def painted(x, y, window, width):
    """Paint a line without antialiasing, which would depend on repeated painting."""
    left, right, bottom, top = window
    image = QImage(*PIXELS, QImage.Format.Format_Grayscale8)
    image.fill(QColor("white"))
    painter = QPainter(image)
    pen = QPen(QColor("black"), width)
    pen.setCosmetic(True)
    painter.setPen(pen)
    onto = QTransform.fromScale(PIXELS[0] / (right - left), -PIXELS[1] / (top - bottom))
    onto.translate(-left, -top)
    painter.setTransform(onto)
    painter.drawPath(pg.arrayToQPath(x, y))
    painter.end()
    return np.array(image.constBits(), dtype=np.uint8).reshape(PIXELS[1], -1)[:, : PIXELS[0]]


def windows(line):
    """Yield the extent of the whole line and of ever smaller parts around some points."""
    width, height = line.x[-1] - line.x[0], line.y[-1] - line.y[0]
    yield line.x[0] - 0.02 * width, line.x[-1] + 0.02 * width, -0.02 * height, 1.02 * height
    for share, part in ((0.2, 3), (0.5, 12), (0.5, 60), (0.8, 300)):
        k = int(share * (len(line.x) - 1))
        # Avoid vertices exactly between two pixels, where rounding decides which one is painted.
        left, bottom = line.x[k] - 0.4123 * width / part, line.y[k] - 0.3987 * height / part
        yield left, left + width / part, bottom, bottom + height / part


@pytest.mark.parametrize("kind", ["random", "tied", "staircase"])
@pytest.mark.parametrize("axis", ["linear", "log", "probit"])
def test_thinned_curve_paints_the_same_pixels(qapp, ranked, kind, axis):
    curve = ranked[kind]
    line = PlacedLine(
        *axes.placed(*rates(curve), *axes.make_axes(axis, curve.positives, curve.negatives))
    )
    assert line.rises
    for window in windows(line):
        x, y = line.seen(window, PIXELS)
        assert len(x) <= 4 * (sum(PIXELS) + 128) + 8
        whole = painted(line.x, line.y, window, 1)
        assert (whole < 255).any()
        assert np.array_equal(painted(x, y, window, 1), whole)


@pytest.mark.parametrize("key", ["precision", "lift"])
def test_thinned_line_keeps_its_extremes(qapp, ranked, key):
    line = PlacedLine(*FACES[key].path(ranked["random"]))
    assert not line.rises
    for part in (1, 4, 40):
        left, right = 0.3001234, 0.3001234 + 0.5 / part
        window = (left, right, 0.0, 4.0 / part)
        x, y = line.seen(window, PIXELS)
        assert len(x) <= 8 * (PIXELS[0] + 40)
        column = np.floor((line.x - left) / (right - left) * PIXELS[0])
        kept = np.floor((x - left) / (right - left) * PIXELS[0])
        for pixel in range(PIXELS[0]):
            whole = line.y[column == pixel]
            if len(whole):
                assert y[kept == pixel].min() == whole.min()
                assert y[kept == pixel].max() == whole.max()
        drawn, whole = (painted(*points, window, 1) < 255 for points in ((x, y), (line.x, line.y)))
        reached = np.argmax(whole, axis=0) - np.argmax(drawn, axis=0)
        assert np.abs(reached).max() <= 1


def test_visible_part_starts_at_the_line_start_to_keep_dashes():
    x = np.linspace(0, 1, 101)
    line = PlacedLine(x, x)
    seen, _ = line.seen((0.5, 0.51, 0.5, 0.51), PIXELS)
    assert seen[0] == 0.0
    assert len(seen) < 8


def test_window_beside_the_line_has_few_points():
    x = np.linspace(0, 1, 10_001)
    line = PlacedLine(x, x**0.5)
    for window in ((2.0, 3.0, 0.0, 1.0), (-2.0, -1.0, 0.0, 1.0), (0.0, 0.1, 0.9, 1.0)):
        assert len(line.seen(window, PIXELS)[0]) <= 6


@pytest.mark.parametrize("turns", [False, True])
@pytest.mark.parametrize("dash", [(), (4.0, 3.0)])
def test_wide_line_covers_the_pixels_of_the_qt_painter(qapp, ranked, turns, dash):
    x, y = rates(ranked["tied"]) if not turns else FACES["precision"].path(ranked["tied"])
    pen = QPen(QColor("black"), 2.0)
    pen.setCosmetic(True)
    if dash:
        pen.setDashPattern(dash)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    solid = QPen(pen)
    solid.setStyle(Qt.PenStyle.SolidLine)
    ink = []
    for kind, drawn in ((CurveItem, pen), (pg.PlotCurveItem, solid)):
        image = QImage(*PIXELS, QImage.Format.Format_Grayscale8)
        image.fill(QColor("white"))
        painter = QPainter(image)
        painter.setTransform(QTransform(300, 0, 0, -220, 10, 230))
        kind(x, y, pen=drawn, antialias=True).paint(painter, None, None)
        painter.end()
        grey = np.array(image.constBits(), dtype=np.uint8).reshape(PIXELS[1], -1)[:, : PIXELS[0]]
        ink.append(1 - grey / 255)
    own, whole = (np.lib.stride_tricks.sliding_window_view(one, (3, 3)) for one in ink)
    assert (whole.max(axis=(2, 3))[own[..., 1, 1] > 0.7] > 0.3).all()
    assert ink[0].sum() == pytest.approx((4 / 7 if dash else 1) * ink[1].sum(), rel=0.25)
    if not dash:
        assert (own.max(axis=(2, 3))[whole[..., 1, 1] > 0.7] > 0.3).all()
