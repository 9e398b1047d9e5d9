"""A closed window is deleted with everything it owns, at once and without the collector."""

import gc

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit

from aucstudio.gui.app import create_window, make_application
from aucstudio.gui.common.plotting import make_plot
from aucstudio.gui.main_window import MainWindow
from aucstudio.gui.panels.data_panel import SEVERAL, DataPanel
from tests.gui.conftest import expose, pick
from tests.gui.leftovers import Leftovers


def run_pending_deletions():
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def closing(qtbot, table_file):
    """A window that is deleted on close, as in the program."""
    make_application("light")
    made = create_window(table_file)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    with qtbot.waitExposed(made):
        made.show()
    qtbot.waitUntil(lambda: made.session.table is not None)
    return made


@pytest.mark.slow
def test_closed_window_is_deleted_completely(closing, qtbot, run_to_end):
    run_to_end(closing)
    for view in closing.views:
        closing.deck.show_view(view)
        qtbot.waitUntil(lambda view=view: not view.busy())
    closing.findChild(QAction, "action_tear_off").trigger()
    (torn,) = closing.deck.windows.values()
    parts = [*closing.findChildren(QObject), *torn.findChildren(QObject), torn, closing]
    assert not gc.isenabled()
    closing.close()
    run_pending_deletions()
    assert [part for part in parts if shiboken6.isValid(part)] == []
    assert QApplication.topLevelWidgets() == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["compare_view", "data_view", "model_view", "scores_view"])
def test_window_closed_while_a_page_is_made_is_deleted_completely(name, qtbot, table_file):
    for turns in range(1, 6):
        window = MainWindow()
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        with qtbot.waitExposed(window):
            window.show()
        window.open_now(table_file)
        qtbot.waitUntil(lambda deck=window.deck: len(deck.made_views()) == 1)
        window.deck.bring_forward(name)
        for _ in range(turns):
            QApplication.processEvents()
        is_made = len(window.deck.made_views()) == 2
        window.close()
        run_pending_deletions()
        assert QApplication.topLevelWidgets() == []
        assert turns > 1 or not is_made


@pytest.mark.slow
def test_closed_window_receives_no_later_events(closing, qtbot):
    closing.close()
    run_pending_deletions()
    field = expose(qtbot, QLineEdit())
    hints = QApplication.styleHints()
    for scheme in (Qt.ColorScheme.Dark, Qt.ColorScheme.Light, Qt.ColorScheme.Unknown):
        hints.setColorScheme(scheme)
    field.setFocus()
    QApplication.processEvents()


def test_finished_dialog_is_deleted(table_session, qtbot):
    panel = DataPanel(table_session)
    qtbot.addWidget(panel)
    panel.refresh()
    pick(panel.positive_combo, SEVERAL)
    (dialog,) = panel.findChildren(QDialog)
    dialog.reject()
    run_pending_deletions()
    assert not shiboken6.isValid(dialog)


def test_plot_has_no_hidden_widgets_and_none_outlives_it(qtbot):
    before = set(QApplication.allWidgets())
    plot = make_plot("some_plot", "across", "up")
    parts = set(QApplication.allWidgets()) - before
    assert len(parts) < 12  # each takes part in every change of the style
    plot.close()
    plot.deleteLater()
    run_pending_deletions()
    assert not any(shiboken6.isValid(part) for part in parts)


def test_leftover_objects_are_found(qapp):
    before = Leftovers()
    kept = QLineEdit(objectName="forgotten")
    cycle = [QLineEdit(objectName="in_a_cycle")]
    cycle.append(cycle)
    del cycle
    assert before.found() == ["QLineEdit in_a_cycle, for the collector", "QLineEdit forgotten"]
    kept.deleteLater()
    gc.disable()
