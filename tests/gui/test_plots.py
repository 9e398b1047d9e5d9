"""Every plot: bounded zoom, reset, one menu and one read-out."""

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QMenu

from aucstudio.gui.app import make_application
from aucstudio.gui.common.layouts import down, scrolled
from aucstudio.gui.common.plots.legend import CornerLegend
from aucstudio.gui.common.plots.plot import Readout, in_lines, plot_menu
from aucstudio.gui.common.plotting import make_plot
from aucstudio.gui.pages.roc.roc_view import RocView
from aucstudio.gui.state.plan import RunLook
from tests.gui.conftest import add_line, expose, make_record, put

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture(autouse=True)
def _every_move_counts():
    """Process every mouse move; pyqtgraph skips moves within a few milliseconds."""
    before = pg.getConfigOption("mouseRateLimit")
    pg.setConfigOption("mouseRateLimit", -1)
    yield
    pg.setConfigOption("mouseRateLimit", before)


@pytest.fixture
def plot(qtbot):
    make_application("light")
    made = make_plot("some_plot", "x", "y")
    add_line(made, np.linspace(0, 10, 50), np.linspace(0, 5, 50))
    expose(qtbot, made, 500, 400)
    made.set_whole((0.0, 10.0), (0.0, 5.0))
    return made


def shown(plot):
    return np.array(plot.getViewBox().viewRange())


def wheel(plot, notches, at=None, modifiers=NONE):
    at = QPointF(plot.viewport().rect().center() if at is None else at)
    for _ in range(abs(notches)):
        event = QWheelEvent(
            at,
            QPointF(plot.viewport().mapToGlobal(at.toPoint())),
            QPoint(),
            QPoint(0, 120 if notches > 0 else -120),
            Qt.MouseButton.NoButton,
            modifiers,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(plot.viewport(), event)
    return event.isAccepted()


def mouse(plot, kind, place, button=LEFT, modifiers=NONE):
    """Send a mouse event directly; QTest fails if the scene ignores one."""
    kinds = QEvent.Type
    where = QPointF(place)
    held = Qt.MouseButton.NoButton if kind == kinds.MouseButtonRelease else button
    caused = Qt.MouseButton.NoButton if kind == kinds.MouseMove else button
    port = plot.viewport()
    event = QMouseEvent(
        kind, where, QPointF(port.mapToGlobal(where.toPoint())), caused, held, modifiers
    )
    QApplication.sendEvent(port, event)


def click(plot, button=LEFT):
    place = plot.viewport().rect().center()
    mouse(plot, QEvent.Type.MouseButtonPress, place, button)
    mouse(plot, QEvent.Type.MouseButtonRelease, place, button)


def double_click(plot):
    click(plot)
    place = plot.viewport().rect().center()
    mouse(plot, QEvent.Type.MouseButtonDblClick, place)
    mouse(plot, QEvent.Type.MouseButtonRelease, place)


def drag(plot, start, end, modifiers=NONE):
    mouse(plot, QEvent.Type.MouseButtonPress, start, LEFT, modifiers)
    for share in (0.3, 0.6, 1.0):
        mouse(plot, QEvent.Type.MouseMove, start + (end - start) * share, LEFT, modifiers)
    mouse(plot, QEvent.Type.MouseButtonRelease, end, LEFT, modifiers)


def at(plot, x, y):
    return plot.place_of(x, y).toPoint()


def test_large_legend_leaves_a_zoomed_picture_free(plot):
    plot.resize(300, 260)
    plot.show_whole()
    legend = CornerLegend(plot)
    legend.explain([("Logistic", RunLook("a", 0)), ("Forest", RunLook("b", 1))])
    assert legend.isVisible()
    plot.zoom(0.2)
    legend.fit()
    assert not legend.isVisible()
    assert len(plot.hidden_legend) == 2
    plot.reset()
    legend.fit()
    assert legend.isVisible()


def test_wheel_scrolls_a_page_that_scrolls_and_zooms_with_control(plot, qtbot):
    area = scrolled(down(plot))
    qtbot.addWidget(area)
    plot.setMinimumHeight(600)
    area.resize(300, 300)
    area.show()
    plot.show()
    before = shown(plot)
    assert not wheel(plot, 2)  # left to the page
    assert np.array_equal(shown(plot), before)
    wheel(plot, 2, modifiers=Qt.KeyboardModifier.ControlModifier)
    assert not np.array_equal(shown(plot), before)
    plot.setParent(None)


@pytest.mark.slow
def test_wheel_zoom_is_limited_to_the_data(plot):
    home = shown(plot)
    wheel(plot, -60)
    low, high = shown(plot).T
    assert (low >= [-0.26 * 10 - 0.5, -0.26 * 5 - 0.5]).all()
    assert (high <= [1.26 * 10 + 0.5, 1.26 * 5 + 0.5]).all()
    wheel(plot, 200)
    size = np.diff(shown(plot), axis=1).ravel()
    assert (size >= 0.99e-3 * np.array([10, 5])).all()
    assert (size < 0.1 * np.diff(home, axis=1).ravel()).all()


@pytest.mark.parametrize("way", ["double click", "button", "key", "menu"])
def test_reset_restores_both_axes(plot, qtbot, way):
    home = shown(plot)
    assert not plot.reset_button.isVisible()
    wheel(plot, 4, at(plot, 5.0, 2.5))
    assert plot.reset_button.isVisible()
    curves = plot.mapFromScene(plot.getViewBox().sceneBoundingRect()).boundingRect()
    assert not curves.adjusted(6, 6, -6, -6).intersects(plot.reset_button.geometry())
    assert plot.is_zoomed()
    if way == "double click":
        double_click(plot)
    elif way == "button":
        qtbot.mouseClick(plot.reset_button, LEFT)
    elif way == "key":
        qtbot.keyClick(plot, Qt.Key.Key_0)
    else:
        menu = plot_menu(plot, (), ())
        menu.findChild(QAction, "plot_reset_action").trigger()
    plot.grab()
    np.testing.assert_allclose(shown(plot), home, atol=0.05)
    assert not plot.reset_button.isVisible()
    plot.set_whole((0.0, 100.0), (0.0, 5.0))  # the view follows the full extent again
    np.testing.assert_allclose(shown(plot)[0], (0, 100))


def test_view_follows_a_much_smaller_extent(plot):
    plot.set_whole((0.0, 60.0), (0.0, 5e6))
    plot.set_whole((0.0, 0.001), (0.0, 1.0))
    np.testing.assert_allclose(shown(plot), [(0, 0.001), (0, 1)])
    assert not plot.is_zoomed()
    assert not plot.reset_button.isVisible()
    plot.set_whole((0.0, 30.0), (0.0, 1.0))
    np.testing.assert_allclose(shown(plot), [(0, 30), (0, 1)])


def test_reset_restores_the_declared_extent(plot):
    plot.set_whole((0.0, 4.0), (1.0, 3.0), air=0.0)
    np.testing.assert_allclose(shown(plot), [(0, 4), (1, 3)])
    plot.getViewBox().setRange(xRange=(-9, 9), yRange=(-9, 9), padding=0)
    np.testing.assert_allclose(shown(plot), [(0, 4), (1, 3)])  # never beyond
    wheel(plot, 4, at(plot, 2.0, 1.5))
    zoomed = shown(plot)
    plot.set_whole((0.0, 5.0), (1.0, 3.0), air=0.0)
    np.testing.assert_allclose(shown(plot), zoomed)  # a view zoomed by the user is kept
    double_click(plot)
    np.testing.assert_allclose(shown(plot), [(0, 5), (1, 3)])


def test_shift_drag_zooms_to_a_box_and_moves_nothing_else(plot):
    region = pg.LinearRegionItem((0.0, 10.0))
    plot.addItem(region, ignoreBounds=True)
    plot.grab()
    drag(plot, at(plot, 2.0, 0.5), at(plot, 6.0, 4.0), SHIFT)
    np.testing.assert_allclose(shown(plot), [(2, 6), (0.5, 4)], atol=0.1)
    assert region.getRegion() == (0.0, 10.0)


def test_menu_makes_the_next_drag_zoom_to_a_box(plot):
    menu = plot_menu(plot, (), ())
    menu.findChild(QAction, "plot_box_action").trigger()
    drag(plot, at(plot, 2.0, 0.5), at(plot, 6.0, 4.0))
    boxed = shown(plot)
    np.testing.assert_allclose(boxed, [(2, 6), (0.5, 4)], atol=0.1)
    drag(plot, at(plot, 3.0, 2.0), at(plot, 4.0, 2.0))
    np.testing.assert_allclose(np.diff(shown(plot)), np.diff(boxed))  # panned, no second box
    assert shown(plot)[0][0] < boxed[0][0] - 0.5


def test_zoom_box_is_cancelled_by_escape_or_a_tiny_drag(plot, qtbot):
    home = shown(plot)
    plot.draw_box()
    qtbot.keyClick(plot, Qt.Key.Key_Escape)
    drag(plot, at(plot, 2.0, 2.0), at(plot, 2.0, 2.0) + QPoint(3, 2), SHIFT)
    np.testing.assert_allclose(shown(plot), home)


def test_keys_zoom_and_pan(plot, qtbot):
    home = shown(plot)
    qtbot.keyClick(plot, Qt.Key.Key_Plus)
    zoomed = shown(plot)
    np.testing.assert_allclose(np.diff(zoomed), np.diff(home) / 1.25)
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    qtbot.keyClick(plot, Qt.Key.Key_Up)
    assert (shown(plot) > zoomed).all()
    qtbot.keyClick(plot, Qt.Key.Key_Left)
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    np.testing.assert_allclose(shown(plot), zoomed)
    qtbot.keyClick(plot, Qt.Key.Key_Minus)
    np.testing.assert_allclose(shown(plot), home)


def test_fixed_plot_cannot_be_zoomed(plot):
    plot.getViewBox().setMouseEnabled(False, False)
    plot.getViewBox().setXRange(2, 3)
    before = shown(plot)
    double_click(plot)
    drag(plot, at(plot, 2.2, 1.0), at(plot, 2.8, 3.0), SHIFT)
    np.testing.assert_allclose(shown(plot), before)
    assert not plot.reset_button.isVisible()


def test_plot_menu_has_its_actions_and_axes(plot, qtbot):
    done = []
    verb = QAction("Copy picture", plot)
    verb.triggered.connect(lambda: done.append("copied"))
    combo = QComboBox()
    qtbot.addWidget(combo)
    combo.setObjectName("axis_combo")
    combo.addItems(["Linear", "Logarithmic"])
    combo.show()
    menu = plot_menu(plot, [verb], [combo])
    verb.trigger()
    assert done == ["copied"]
    names = [action.text() for action in menu.actions() if not action.isSeparator()]
    assert names[0] == "Copy picture"
    axes = menu.findChild(QMenu, "plot_axes_menu")
    linear, logarithmic = (a for a in axes.actions() if not a.isSeparator())
    assert linear.isChecked()
    logarithmic.trigger()
    assert combo.currentText() == "Logarithmic"


def test_right_click_opens_the_menu_and_selects_nothing(table_session, open_view, monkeypatch):
    opened = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, place: opened.append(menu))
    view = open_view(RocView, table_session)
    put(table_session, make_record(table_session.table, "auc-rls"), "Run")
    view.picture_verbs = [QAction("Copy picture", view)]
    before = table_session.focus
    click(view.plot, RIGHT)
    (menu,) = opened
    assert menu.actions()[0].text() == "Copy picture"
    assert menu.findChild(QMenu, "plot_axes_menu") is not None
    assert table_session.focus == before
    place = view.plot.rect().center()
    reason = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(view.plot.viewport(), QContextMenuEvent(reason, place, place))
    assert len(opened) == 2


def test_every_plot_menu_exports_picture_and_numbers(window, run_to_end, qtbot):
    window.open_example("two-gaussians")
    run_to_end(window)
    for view in window.views:
        texts = [verb.text().replace("&", "") for verb in view.picture_verbs]
        assert texts == [
            "Copy picture",
            "Save picture…",
            "Copy numbers",
            "Save numbers behind the picture…",
        ]
    window.deck.show_view(window.views[0])
    qtbot.waitUntil(lambda: not window.views[0].busy())
    window.actions_.copy_figure_data.trigger()
    copied = QGuiApplication.clipboard().text().splitlines()
    head, first = copied[0].split("\t"), copied[1].split("\t")
    assert head[:2] == ["run", "split"]
    assert len(head) == len(first)


# ------------------------------------------------------------- the read-out


def test_readout_is_never_cut(plot):
    readout = Readout("some_readout", "Words at the pointer", plot)
    words = "Run   threshold 0.4   FPR 0.100   TPR 0.800   precision 0.500   F1 0.62   TP 8 of 10"
    inside = plot.rect()
    for place in (QPointF(1, 1), QPointF(499, 1), QPointF(1, 399), QPointF(499, 399)):
        there = plot.getViewBox().mapSceneToView(plot.mapToScene(place.toPoint()))
        readout.show_at(plot, there, words)
        assert readout.isVisible()
        assert inside.contains(readout.geometry())
        assert not readout.geometry().contains(place.toPoint())
        assert readout.text() == words
    readout.show_nothing()
    assert not readout.isVisible()


def test_readout_parts_are_placed_on_lines():
    assert in_lines("Run   a 1   b 2") == "Run\na 1   b 2"
    assert in_lines("Run") == "Run"
    long = in_lines("Run   " + "   ".join(f"part {k} of many" for k in range(6)))
    assert max(map(len, long.splitlines())) <= 40


@pytest.fixture
def roc_view(table_session, open_view, qtbot):
    view = open_view(RocView, table_session)
    for name, method in (("First", "auc-rls"), ("Chosen", "logistic")):
        put(table_session, make_record(table_session.table, method), name)
    qtbot.waitUntil(lambda: len(view.lines.drawn) == 2)
    return view


def test_readout_shows_the_point_being_dragged(roc_view, table_session):
    view, box = roc_view, roc_view.canvas.box
    first = next(view.lines.of(table_session.shown_runs()[0].record.id))
    x, y = (float(values[len(values) // 2]) for values in first.points)
    handle = view.layers.point.handle
    handle.dragged.emit(0.4, 0.6)
    assert view.readout.text().startswith("Chosen   threshold ")
    view.plot.scene().sigMouseMoved.emit(box.mapViewToScene(QPointF(x, y)))
    assert view.readout.text().startswith("Chosen   threshold ")  # not the curve at the same place
    handle.released.emit()
    assert not view.readout.isVisible()
    view.plot.scene().sigMouseMoved.emit(box.mapViewToScene(QPointF(x, y)))
    assert view.readout.isVisible()


def test_readout_shows_the_partial_auc_of_a_dragged_range(roc_view, table_session):
    view = roc_view
    view.canvas.band_item.setRegion((0.1, 0.4))
    assert view.readout.text().startswith("Chosen   FPR 0.1 … 0.4   pAUC 0.")
    assert " negatives" in view.readout.text()
    view.canvas.band_item.released.emit()
    assert not view.readout.isVisible()


def test_operating_point_over_a_range_edge_is_dragged_first(roc_view, table_session):
    view = roc_view
    point = view.layers.point.point
    table_session.set_threshold(threshold=table_session.focus.threshold)
    table_session.set_band(point.fpr, point.fpr + 0.2)
    view.grab()
    band, before = table_session.plan.band, table_session.focus.threshold
    start, end = at(view.plot, point.fpr, point.tpr), at(view.plot, 0.9, 0.95)
    mouse(view.plot, QEvent.Type.MouseMove, start, Qt.MouseButton.NoButton)
    drag(view.plot, start, end)
    assert table_session.plan.band == band
    assert table_session.focus.threshold != before
