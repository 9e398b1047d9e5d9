"""What stands still while a run is in progress is painted from pictures, and looks the same."""

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QBuffer
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsItem

from aucstudio.gui.app import make_application
from aucstudio.gui.common.plots.stepwise_view import SteadyBox, sides_of
from aucstudio.gui.common.plotting import make_plot

KEPT = QGraphicsItem.CacheMode.DeviceCoordinateCache
PLAIN = QGraphicsItem.CacheMode.NoCache


@pytest.fixture
def plot(qtbot):
    make_application("light")
    made = make_plot("moving", "x", "y")
    qtbot.addWidget(made)
    made.resize(320, 240)
    with qtbot.waitExposed(made):
        made.show()
    return made


def pixels(plot):
    image = plot.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)
    return rows.astype(int)


def test_kept_pictures_look_as_the_items_do(plot, qtbot):
    still = plot.plot([0, 1, 2], [0, 1, 0], pen="r")
    moving = plot.plot([0, 1, 2], [1, 0, 1], pen="b")
    qtbot.wait(1)
    before = pixels(plot)
    plot.keep_still([moving])
    assert still.curve.cacheMode() == plot.getAxis("left").cacheMode() == KEPT
    assert moving.curve.cacheMode() == PLAIN
    assert np.abs(pixels(plot) - before).max() <= 2
    moving.setData([0, 1, 2], [0.5, 0.5, 0.5])
    still.setData([0, 1, 2], [0, 0.8, 0])
    kept = pixels(plot)
    plot.let_go()
    assert still.curve.cacheMode() == PLAIN
    assert np.abs(pixels(plot) - kept).max() <= 2


def test_what_comes_later_is_kept_too(plot):
    plot.keep_still([])
    late = plot.plot([0, 1], [0, 1])
    plot.keep_still([])
    assert late.curve.cacheMode() == KEPT


def test_on_paper_lines_stay_lines(plot):
    plot.plot([0, 1, 2], [0, 1, 0], pen="r")
    plot.keep_still([])
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    painter = QPainter(generator)
    plot.render(painter)
    painter.end()
    assert b"<image" not in buffer.data().data()
    assert plot.getAxis("left").cacheMode() == KEPT


def test_the_range_stays_until_what_flies_leaves_it(qtbot):
    make_application("light")
    box = SteadyBox()
    plot = make_plot("steady", "x", "y", box)
    qtbot.addWidget(plot)
    item = pg.PlotCurveItem()
    plot.addItem(item)
    seen = []
    for end in range(2, 60):
        x = np.arange(end, dtype=float)
        item.setData(x, np.sqrt(x))
        box.flying = sides_of([(x, np.sqrt(x))])
        box.updateAutoRange()
        (left, right), (bottom, top) = box.viewRange()
        assert left <= 0
        assert right >= x[-1]
        assert bottom <= 0
        assert top >= np.sqrt(x[-1])
        seen.append(right)
    assert len(set(seen)) < 25
    box.flying = None
    box.updateAutoRange()
    assert box.viewRange()[0][1] == pytest.approx(58, rel=0.1)


def test_sides_are_those_of_the_finite_points():
    nan = np.nan
    found = sides_of([(np.array([1.0, 2.0]), np.array([nan, 3.0])), (np.ones(1), np.zeros(1))])
    assert found == ((1.0, 2.0), (0.0, 3.0))
    assert sides_of([]) is None
    assert sides_of([(np.ones(2), np.full(2, nan))]) is None
