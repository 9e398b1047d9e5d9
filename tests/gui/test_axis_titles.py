"""Titles of axes are never longer than their axis, and are written in full where they fit."""

import pytest
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication

from aucstudio.gui.app import make_application
from aucstudio.gui.common.plots.axes import fitting
from aucstudio.gui.common.plotting import make_plot, style_plot
from aucstudio.gui.common.printing import Sheet, draw
from aucstudio.gui.pages.roc.roc_view import RocView
from tests.gui.conftest import expose, make_record, put, refresh_and_wait

LONG = "a column of sixty letters & more that goes on < and on and on (sd)"


@pytest.fixture
def plot(qtbot):
    make_application("light")
    return expose(qtbot, make_plot("titled", LONG, "Density within the class"))


def title(plot, side):
    """Return the title shown beside an axis, and the length of the axis."""
    axis = plot.getAxis(side)
    return axis.label.toPlainText(), axis.width() if side == "bottom" else axis.height()


def resize(plot, width, height):
    plot.resize(width, height)
    QApplication.processEvents()


@pytest.mark.parametrize("size", [(900, 700), (420, 260), (240, 150), (120, 110)])
def test_axis_title_is_never_longer_than_its_axis(plot, size):
    resize(plot, *size)
    metrics = QFontMetricsF(plot.getAxis("left").label.font())
    for side, full in (("bottom", LONG), ("left", "Density within the class")):
        words, room = title(plot, side)
        assert metrics.horizontalAdvance(words) <= room
        assert (words == full) == (metrics.horizontalAdvance(full) <= room)
        axis = plot.getAxis(side)
        assert axis.labelText == full
        assert axis.label.toolTip() == ("" if words == full else full)


def test_axis_title_expands_with_its_axis(plot):
    resize(plot, 240, 150)
    assert title(plot, "left")[0] == "Density"
    style_plot(plot)
    assert title(plot, "left")[0] == "Density"
    resize(plot, 900, 700)
    assert title(plot, "left")[0] == "Density within the class"
    assert title(plot, "bottom")[0] == LONG


@pytest.mark.parametrize(
    ("full", "forms"),
    [
        ("False-positive rate, logarithmic", ["FPR, logarithmic", "FPR"]),
        ("z along w (score difference)", ["z along w"]),
        ("Share of rows predicted positive", ["Predicted positive"]),
        (
            "Score of the positive − score of the negative (sd)",
            ["Score difference (sd)", "Score difference"],
        ),
        ("Objective", []),
    ],
)
def test_longest_fitting_form_is_chosen(qapp, full, forms):
    metrics = QFontMetricsF(qapp.font())
    for form in [full, *forms]:
        room = metrics.horizontalAdvance(form)
        assert fitting(full, room, metrics) == form
    last = [full, *forms][-1]
    room = metrics.horizontalAdvance(last) - 1
    cut = fitting(full, room, metrics)
    assert "…" in cut if len(last) > 4 else not cut
    assert metrics.horizontalAdvance(cut) <= room


def test_saved_picture_has_full_axis_titles(qtbot, table_session, open_view):
    view = open_view(RocView, table_session, (330, 260))
    put(table_session, make_record(table_session.table))
    table_session.set_threshold(threshold=0.0)  # which the conclusion does not describe
    refresh_and_wait(qtbot, view)
    QApplication.processEvents()
    assert title(view.figure(), "left")[0] == "TPR"
    drawn = draw(view, Sheet(width=160.0, height=120.0)).svg().decode()
    assert "True-positive rate" in drawn
    assert "TPR" not in drawn
    assert title(view.figure(), "left")[0] == "TPR"
