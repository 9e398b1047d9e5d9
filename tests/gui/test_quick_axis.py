"""The quick axis against pyqtgraph's own, number for number and line for line."""

from unittest import mock

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from aucstudio.gui.app import make_application
from aucstudio.gui.common.plotting import NumberAxis, make_plot

RANGES = [
    (0.0, 1.0),
    (-0.02, 1.02),
    (0.1234, 0.1239),
    (-3e6, 7e5),
    (5.0, 5.0 + 1e-9),
    (-1e-12, 3e-12),
]


class SlowAxis(pg.AxisItem):
    """Pyqtgraph's own, with our minus."""

    def __init__(self, orientation):
        super().__init__(orientation)
        self.enableAutoSIPrefix(False)

    def tickStrings(self, values, scale, spacing):
        return [text.replace("-", "−") for text in super().tickStrings(values, scale, spacing)]


def shown(qtbot, kind, span, *, log=False):
    make_application("light")
    plot = make_plot("plot", "Across", "Up", axes=[kind("bottom"), kind("left")])
    plot.setLogMode(y=log)
    qtbot.addWidget(plot)
    plot.resize(520, 360)
    plot.setXRange(*span, padding=0)
    plot.setYRange(*((-3.0, 1.5) if log else span), padding=0)
    with qtbot.waitExposed(plot):
        plot.show()
    for _ in range(3):  # the width of an axis is known once its numbers are written
        plot.grab()
        QApplication.processEvents()
    return plot


def of_pyqtgraph(axis):
    image = QImage(8, 8, QImage.Format.Format_ARGB32)
    painter = QPainter(image)
    painter.setFont(axis.style["tickFont"] or painter.font())
    bounds = pg.AxisItem.boundingRect(axis)
    with mock.patch.object(axis, "boundingRect", return_value=bounds):
        (_, *ends), ticks, texts = pg.AxisItem.generateDrawSpecs(axis, painter)
    painter.end()
    lines = [(pen.color(), QPointF(a), QPointF(b)) for pen, a, b in ticks]
    return [QPointF(end) for end in ends], lines, [(text, rect) for rect, _, text in texts]


def painted(colour, behind):
    """Give what a colour that lets something through looks like over another, as Qt mixes them."""
    image = QImage(1, 1, QImage.Format.Format_RGB32)
    image.fill(behind)
    painter = QPainter(image)
    painter.fillRect(image.rect(), colour)
    painter.end()
    return image.pixelColor(0, 0).getRgb()[:3]


def near(first, second):
    assert abs(first.x() - second.x()) < 1e-6
    assert abs(first.y() - second.y()) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("side", ["bottom", "left"])
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("span", RANGES)
def test_lines_and_numbers_are_those_of_pyqtgraph(qtbot, span, log, side):
    plot = shown(qtbot, NumberAxis, span, log=log)
    axis = plot.getAxis(side)
    ends, ticks, texts = of_pyqtgraph(axis)
    plot.grab()
    (_, [line]), *levels = axis.picture.lines
    near(line.p1(), ends[0])
    near(line.p2(), ends[1])
    drawn = [(axis.covering(pen).color(), one) for pen, lines in levels for one in lines]
    assert all(colour.alpha() == 255 for colour, _ in drawn)
    behind = plot.backgroundBrush().color()
    looks = np.array([colour.getRgb()[:3] for colour, _ in drawn])
    meant = np.array([painted(colour, behind) for colour, *_ in ticks])
    assert np.abs(looks - meant).max() <= 2  # of 255
    for (_, one), (_, a, b) in zip(drawn, ticks, strict=True):
        near(one.p1(), a)
        near(one.p2(), b)
    bounds = pg.AxisItem.boundingRect(axis)  # pyqtgraph leaves out what reaches beyond
    numbers = [(place, text) for place, text in axis.picture.numbers if bounds & place == place]
    assert [text for _, text in numbers] == [text for text, _ in texts]
    for (place, _), (_, rect) in zip(numbers, texts, strict=True):
        near(place.topLeft(), rect.topLeft())
        near(place.bottomRight(), rect.bottomRight())


@pytest.mark.parametrize("side", ["bottom", "left"])
def test_the_numbers_at_both_ends_of_an_axis_are_seen_whole(qtbot, side):
    plot = shown(qtbot, NumberAxis, (0.0, 1.0))
    axis = plot.getAxis(side)
    numbers = {text: place for place, text in axis.picture.numbers}
    assert {"0", "1.0"} <= set(numbers)
    for text in ("0", "1.0"):
        place = axis.mapRectToScene(numbers[text])
        assert plot.sceneRect().contains(place)
        assert axis.mapRectToScene(axis.boundingRect()).contains(place)


def test_an_axis_takes_the_room_that_pyqtgraph_gives_it(qtbot):
    quick, slow = (shown(qtbot, kind, (-30_000.0, 12.5)) for kind in (NumberAxis, SlowAxis))
    for side in ("bottom", "left"):
        assert quick.getAxis(side).geometry() == slow.getAxis(side).geometry()


def test_ticks_of_ones_own_and_hidden_numbers_stay_what_they_are(qtbot):
    plot = shown(qtbot, NumberAxis, (0.0, 2.0))
    bottom, left = plot.getAxis("bottom"), plot.getAxis("left")
    before = plot.grab().toImage()
    bottom.setTicks([[(0.5, "half"), (1.5, "more")]])
    left.setStyle(showValues=False)
    plot.grab()
    assert left.picture.numbers == []
    assert plot.grab().toImage() != before
    bottom.setTicks(None)
    left.setStyle(showValues=True)
    plot.grab()
    assert plot.grab().toImage() == before
    assert np.isclose(left.picture.numbers[0][0].height(), left.picture.numbers[-1][0].height())
