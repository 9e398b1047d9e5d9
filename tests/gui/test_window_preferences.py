"""The Preferences dialog, and windows restored as they were closed."""

import pytest
from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QPushButton, QWidget

from aucstudio.gui.app import make_application
from aucstudio.gui.common import prompts
from aucstudio.gui.common.layouts import FRAME, on_some_screen, within
from aucstudio.gui.common.theme import current_theme, set_text_size
from aucstudio.gui.dialogs.preferences import PreferencesDialog
from aucstudio.gui.main_window import MainWindow
from aucstudio.gui.pages.compare.compare_view import CompareView
from aucstudio.gui.pages.roc.roc_view import RocView
from aucstudio.gui.state.preferences import FigureRules, preferences
from aucstudio.project.store.workspace import home
from tests.gui.file_dialogs import Typist


@pytest.fixture
def start(qtbot):
    """Return a function that opens a window of the program."""
    made = []

    def start():
        make_application()
        window = MainWindow()
        made.append(window)
        with qtbot.waitExposed(window):
            window.show()
        return window

    yield start
    for window in made:
        window.close()
        window.deleteLater()
    set_text_size(QApplication.instance(), 100)
    make_application("light")


def test_window_reopens_at_its_last_place_and_size(start, qtbot):
    first = start()
    first.setGeometry(20, 40, 760, 620)
    qtbot.waitUntil(lambda: first.width() == 760)
    first.close()
    assert preferences().path.is_file()
    again = start()
    assert again.geometry().getRect() == (20, 40, 760, 620)


def test_window_of_a_missing_screen_reopens_on_another(start, qtbot):
    first = start()
    first.setGeometry(90_000, 90_000, 900, 600)
    qtbot.waitUntil(lambda: "main_window" in preferences().now.windows)
    first.close()
    again = start()
    assert again.screen().availableGeometry().intersects(again.geometry())


@pytest.mark.slow
def test_theme_is_kept_and_applied_to_every_window(start):
    first, second = start(), start()
    first.findChild(QAction, "action_theme_dark").trigger()
    assert current_theme().name == "dark"
    assert second.findChild(QAction, "action_theme_dark").isChecked()
    third = start()
    assert current_theme().name == "dark"
    assert third.findChild(QAction, "action_theme_dark").isChecked()


def test_dialog_changes_the_preferences(start, qtbot):
    window = start()
    window.actions_.preferences.trigger()
    dialog = window.findChild(PreferencesDialog)
    assert dialog.focusWidget() is dialog.fields["theme"]
    assert dialog.isVisible()
    before = window.menuBar().fontMetrics().height()
    dialog.fields.write({"theme": "dark", "text_size": 150, "fpr_range": (0.0, 0.2)})
    dialog.figure.write({"width": 120.0})
    dialog.findChild(QPushButton, "preferences_ok_button").click()
    now = preferences().now
    assert (now.theme, now.text_size, now.fpr_range) == ("dark", 150, (0.0, 0.2))
    assert now.figure == FigureRules(width=120.0)
    assert current_theme().name == "dark"
    assert window.session.plan.band == (0.0, 0.2)
    qtbot.waitUntil(lambda: window.menuBar().fontMetrics().height() > 1.3 * before)


def test_dialog_scrolls_on_a_low_screen(start, qtbot):
    window = start()
    window.actions_.preferences.trigger()
    dialog = window.findChild(PreferencesDialog)
    dialog.resize(dialog.width(), 300)
    qtbot.waitUntil(lambda: dialog.area.verticalScrollBar().maximum() > 0)
    for field in (*dialog.fields.values(), *dialog.figure.values()):
        assert field.height() >= field.sizeHint().height()
    below = dialog.buttons.mapTo(dialog, dialog.buttons.rect().bottomLeft()).y()
    assert below < 300
    dialog.figure["dpi"].setFocus()
    qtbot.keyClick(dialog.figure["dpi"], Qt.Key.Key_Tab)
    assert not dialog.figure["caption"].visibleRegion().isEmpty()  # Tab scrolls to hidden fields
    dialog.reject()


def test_cancel_changes_nothing_and_an_invalid_range_is_reported(start):
    window = start()
    window.actions_.preferences.trigger()
    dialog = window.findChild(PreferencesDialog)
    dialog.fields["fpr_range"].low.setValue(0.5)
    assert "lower end must be below" in dialog.problem.text()
    assert not dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()
    before = preferences().now
    dialog.reject()
    assert preferences().now == before


def test_damaged_preferences_are_reported_at_startup(start):
    path = home() / "preferences.json"
    path.parent.mkdir(parents=True)
    path.write_text("{ this is no preference")
    window = start()
    assert window.isVisible()
    assert "damaged" in window.statusBar().currentMessage()


def test_file_dialogs_start_in_the_last_folder(qtbot, tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("AUCSTUDIO_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "study.csv").write_text("a")
    desk = QWidget()
    qtbot.addWidget(desk)
    answers = (folder / "study.csv", ""), ("", ""), (folder / "study.aucmodel", ""), ("", "")
    typist = Typist(desk, *answers)
    for _ in range(2):
        prompts.ask_open_path(desk, "Open a table", prompts.TABLES)
    for _ in range(2):
        prompts.ask_save_path(desk, "Save", "model.aucmodel", prompts.MODELS)
    model = str(folder / "model.aucmodel")
    assert [path for path, _kind in typist.asked] == [str(tmp_path), str(folder), model, model]
    # The list of all extensions of tables is wider than a screen.
    assert typist.asked[0][1] == prompts.TABLES.split(" (")[0]


def test_roc_page_keeps_its_curve_axes_and_layers(session, qtbot):
    first = RocView(session)
    qtbot.addWidget(first)
    choices = first.choices
    choices.axis_combo.setCurrentIndex(1)
    choices.axis_combo.activated.emit(1)
    switch = next(a for a in choices.show_menu.actions() if a.objectName() == "inset_action")
    switch.trigger()
    choices.choose(area="mcclish")
    again = RocView(session)
    qtbot.addWidget(again)
    assert again.choices.axis == choices.axis == choices.axis_combo.itemData(1)
    assert again.choices.area == "mcclish"
    assert again.choices.inset_action.isChecked() == switch.isChecked()
    assert preferences().now.layers == {"inset_action": switch.isChecked()}


def test_window_of_a_larger_screen_is_fitted_to_a_smaller_one(qapp):
    area = qapp.primaryScreen().availableGeometry()
    for corner in (area.topLeft(), area.topLeft() + QPoint(90, 60)):
        large = QRect(corner, 2 * area.size())
        found = on_some_screen(large, QSize(320, 240))
        assert area.contains(found.marginsAdded(QMargins(8, 40, 8, 8)))  # including the frame
    aside = QRect(area.right() - 200, area.top() + 90, 400, 300)  # as the user left it
    assert on_some_screen(aside, QSize(320, 240)) == aside
    found = within(QRect(area.topLeft() + QPoint(40, 60), area.size() - FRAME), area)
    assert area.contains(found.marginsAdded(QMargins(8, 40, 8, 8)))


def test_compare_page_keeps_its_measure(session, qtbot):
    first = CompareView(session)
    qtbot.addWidget(first)
    combo = first.measure_combo
    last = combo.count() - 1
    combo.setCurrentIndex(last)
    combo.activated.emit(last)
    again = CompareView(session)
    qtbot.addWidget(again)
    assert again.measure_combo.currentData() == combo.itemData(last) != combo.itemData(0)
