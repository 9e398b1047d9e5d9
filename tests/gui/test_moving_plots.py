"""Static plot items are cached as pixmaps during a run and look the same."""

import numpy as np
import pytest
from PySide6.QtCore import QBuffer
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsItem, QWidget

from aucstudio.gui.app import make_application
from aucstudio.gui.common.plotting import make_plot, run_pen
from aucstudio.gui.pages.training.plots import CourseLine, TrainingPlots
from aucstudio.gui.pages.training.progress import run_courses
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import ShownRun
from tests.gui.conftest import add_line, expose, make_record

KEPT = QGraphicsItem.CacheMode.DeviceCoordinateCache
PLAIN = QGraphicsItem.CacheMode.NoCache


@pytest.fixture
def plot(qtbot):
    make_application("light")
    return expose(qtbot, make_plot("moving", "x", "y"), 320, 240)


def pixels(plot):
    image = plot.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)
    return rows.astype(int)


def test_cached_items_look_like_uncached_ones(plot, qtbot):
    still = add_line(plot, [0, 1, 2], [0, 1, 0], pen="r")
    moving = add_line(plot, [0, 1, 2], [1, 0, 1], pen="b")
    qtbot.wait(1)
    before = pixels(plot)
    plot.keep_still([moving])
    assert still.curve.cacheMode() == plot.getAxis("left").cacheMode() == KEPT
    assert moving.curve.cacheMode() == PLAIN
    assert np.abs(pixels(plot) - before).max() <= 2
    moving.setData([0, 1, 2], [0.5, 0.5, 0.5])
    still.setData([0, 1, 2], [0, 0.8, 0])
    kept = pixels(plot)
    plot.keep_still(None)
    assert still.curve.cacheMode() == PLAIN
    assert np.abs(pixels(plot) - kept).max() <= 2


def test_items_added_later_are_cached(plot):
    plot.keep_still([])
    late = add_line(plot, [0, 1], [0, 1])
    plot.keep_still([])
    assert late.curve.cacheMode() == KEPT


def test_saved_picture_has_vector_lines(plot):
    add_line(plot, [0, 1, 2], [0, 1, 0], pen="r")
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


def test_axis_range_grows_in_steps_during_a_fit(qtbot, table_session):
    make_application("light")
    plots, holder = TrainingPlots(), QWidget()
    qtbot.addWidget(holder)
    holder.setLayout(plots)
    course = run_courses(ShownRun(make_record(table_session.table), RunLook("Run", 0)))[0]
    seen = []
    for end in range(3, 60):
        x = np.arange(end, dtype=float)
        y = np.where(x == 1, np.nan, np.sqrt(x))
        plots.lower_lines[True].draw([CourseLine(course, x, y, run_pen(course.look), True)])
        plots.frame(live=True)
        (left, right), (bottom, top) = plots.lower.whole
        assert left <= 0 < x[-1] <= right
        assert bottom <= 0 < np.sqrt(x[-1]) <= top
        seen.append(right)
    assert len(set(seen)) < 25
    plots.frame(live=False)
    assert plots.lower.whole[0][1] == pytest.approx(58, rel=0.1)
