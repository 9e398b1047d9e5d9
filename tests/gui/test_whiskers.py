"""The dot-and-whisker chart: names, scrolling, and no axes without rows."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip

from aucstudio.gui.common.whiskers import Whisker, WhiskerChart, Whiskers
from aucstudio.gui.state.plan import RunLook
from tests.gui.conftest import tick_texts

LOOK = RunLook("run", 0)


def rows_of(names):
    return [
        Whisker(name, 1.0 - 0.01 * k, np.nan, np.nan, f"tip of {name}")
        for k, name in enumerate(names)
    ]


@pytest.fixture
def chart(qtbot):
    made = WhiskerChart("whisker_chart", "Loss")
    qtbot.addWidget(made)
    made.resize(480, 420)
    made.show()
    QApplication.processEvents()
    return made


def names_at_the_axis(chart):
    return tick_texts(chart.plot.getAxis("left"))


def test_chart_without_rows_has_no_axes(chart):
    assert not chart.plot.frame.isVisible()
    chart.show_rows(rows_of(["a"]), LOOK)
    assert chart.plot.frame.isVisible()
    assert names_at_the_axis(chart) == ["a"]
    chart.show_rows([], LOOK)
    assert not chart.plot.frame.isVisible()
    assert not chart.note.isVisible()


def test_axis_title_is_below_the_rows_from_the_first(chart):
    chart.plot.setLabel("bottom", "Weight")  # while there is no row
    chart.show_rows(rows_of(["a"]), LOOK)
    QApplication.processEvents()
    axis = chart.plot.getAxis("bottom")
    assert axis.height() >= 2 * chart.fontMetrics().height()
    assert chart.plot.getViewBox().geometry().bottom() <= axis.geometry().top() + 0.5


def test_each_split_is_marked_without_an_error_bar(chart):
    splits = np.array([[1.0, -2.0], [3.0, np.nan], [2.0, 4.0]])
    rows = Whiskers.over_splits(["a", "b"], splits, str)
    x, y = rows.marks()
    marks = set(zip(x[::2].tolist(), np.round(y[::2]).tolist(), strict=True))
    assert marks == {(1.0, 0.0), (3.0, 0.0), (2.0, 0.0), (-2.0, 1.0), (4.0, 1.0)}
    assert (x[::2] == x[1::2]).all()  # no line from one split to another
    alone = Whiskers.over_splits(["a"], splits[:1, :1], str)
    assert len(alone.marks()[0]) == 0
    chart.show_rows(rows, LOOK)


def test_long_names_are_elided_with_a_tooltip(chart, monkeypatch):
    tips = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, tip, _on: tips.append(tip))
    long = "a_column_with_a_name_of_more_than_sixty_letters_that_goes_on_and_on_2"
    chart.show_rows(rows_of([long, "b"]), LOOK)
    shown = names_at_the_axis(chart)[0]
    QApplication.processEvents()
    assert "…" in shown
    assert (shown[0], shown[-1]) == (long[0], long[-1])
    assert chart.plot.getAxis("left").width() < 0.5 * chart.width()
    place = QPoint(4, int(chart.plot.place_of(0.0, 0.0).y()))  # beside the first row
    event = QHelpEvent(QEvent.Type.ToolTip, place, chart.plot.mapToGlobal(place))
    QApplication.sendEvent(chart.plot.viewport(), event)
    assert tips == [f"tip of {long}"]


def test_rows_that_do_not_fit_are_scrolled_and_counted(chart):
    names = [f"f{k}" for k in range(64)]
    chart.show_rows(rows_of(names), LOOK)
    QApplication.processEvents()  # the note takes its height
    assert chart.scroller.isVisible()
    fit = 64 - chart.scroller.maximum()
    assert chart.note.text() == f"1 to {fit} of 64: scroll for the others"
    chart.scroller.setValue(chart.scroller.maximum())
    assert chart.note.text() == f"{65 - fit} to 64 of 64: scroll for the others"
    low, high = chart.plot.getViewBox().viewRange()[1]
    assert (low, high) == pytest.approx((64 - fit - 0.5, 63.5))


def test_names_and_tooltips_are_made_only_for_visible_rows(chart):
    asked, names = [], [f"column{k}" for k in range(100_000)]
    values = np.linspace(1.0, 0.0, len(names))
    none = np.full(len(names), np.nan)

    def tip(k):
        asked.append(k)
        return f"tip of {names[k]}"

    chart.show_rows(Whiskers(names, values, none, none, tip), LOOK)
    QApplication.processEvents()
    fit = len(names) - chart.scroller.maximum()
    assert names_at_the_axis(chart) == names[:fit]
    chart.scroller.setValue(50_000)
    assert names_at_the_axis(chart) == names[50_000 : 50_000 + fit]
    assert asked == []
    assert chart.rows[7].tip == "tip of column7"
    room = chart.plot.getAxis("left").width()
    chart.scroller.setValue(chart.scroller.maximum())
    assert chart.plot.getAxis("left").width() == room
