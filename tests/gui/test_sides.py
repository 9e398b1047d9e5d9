"""The columns beside the pictures: two in a wide window, pages of one in a narrow one."""

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.desk.side_columns import NARROW, Sides
from tests.gui.conftest import make_record, put, save_as

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
WIDE, SLIM = NARROW + 200, NARROW - 200


@pytest.fixture
def opened(window, table_file):
    window.open_now(table_file)
    return window


@pytest.fixture
def resize(qtbot, opened):
    def to(width):
        opened.resize(width, 700)
        narrow = opened.workplace.sides.width() < NARROW
        assert narrow == (width == SLIM)
        qtbot.waitUntil(lambda: (opened.workplace.sides.left.count() == 2) == narrow)

    return to


def call(window, name):
    """Press the shortcut of a column."""
    window.findChild(QAction, f"action_show_{name}").trigger()


def hide(window, name):
    """Hide a column by its entry in the menu View."""
    action = window.findChild(QAction, f"action_{name}_shown")
    assert action.isChecked()
    action.trigger()
    assert not action.isChecked()


def focused():
    return QApplication.focusWidget().objectName()


def test_shortcut_of_the_run_list_moves_the_focus_to_its_table(opened, resize, qtbot):
    runs, sides = opened.workplace.runs_panel, opened.workplace.sides
    put(opened.session, make_record(opened.session.table))
    for width in (WIDE, SLIM):
        resize(width)
        sides.left.setCurrentWidget(sides.setup)
        opened.findChild(QWidget, "label_combo").setFocus()
        for _ in range(2):
            qtbot.keyClick(opened, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
            assert runs.isVisible()
            assert QApplication.focusWidget() is runs.view
            runs.details.notes.setFocus()
        hide(opened, "runs")
        assert not runs.isVisible()
        qtbot.keyClick(opened, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
        assert opened.findChild(QAction, "action_runs_shown").isChecked()
        assert QApplication.focusWidget() is runs.view


def test_f6_moves_the_focus_between_set_up_runs_and_page(opened, resize, qtbot):
    sides = opened.workplace.sides
    put(opened.session, make_record(opened.session.table))
    order = [sides.setup, sides.runs, sides.middle]
    for width in (WIDE, SLIM):
        resize(width)
        call(opened, "setup")
        for keys, places in ((Qt.KeyboardModifier.NoModifier, (1, 2, 0)), (SHIFT, (2, 1, 0))):
            for place in places:
                qtbot.keyClick(opened, Qt.Key.Key_F6, keys)
                assert order[place].isAncestorOf(QApplication.focusWidget())


def test_key_of_the_page_shown_moves_the_focus_to_it(opened, qtbot):
    call(opened, "setup")
    qtbot.keyClick(opened, Qt.Key.Key_3, CTRL)
    qtbot.waitUntil(lambda: opened.deck.active().isAncestorOf(QApplication.focusWidget()))
    call(opened, "setup")
    front = opened.deck.active()
    qtbot.keyClick(opened, Qt.Key.Key_3, CTRL)
    assert opened.deck.active() is front
    assert front.isAncestorOf(QApplication.focusWidget())
    qtbot.keyClick(opened, Qt.Key.Key_3, CTRL)
    assert opened.deck.active() is not front


def test_alt_and_a_number_show_a_card_from_its_title(opened, resize, qtbot):
    sides, runs = opened.workplace.sides, opened.workplace.runs_panel
    put(opened.session, make_record(opened.session.table))
    resize(SLIM)
    opened.resize(SLIM, 500)
    for key, name in (
        *((Qt.Key.Key_3, "method_combo"), (Qt.Key.Key_1, "label_combo")),
        (Qt.Key.Key_2, "scheme_combo"),
    ):
        sides.left.setCurrentWidget(runs)
        qtbot.keyClick(opened, key, Qt.KeyboardModifier.AltModifier)
        assert focused() == name
        title = opened.focusWidget().parentWidget().heading
        place = title.mapTo(sides.setup, title.rect().topLeft()).y()
        assert 0 <= place < 100


def test_another_run_is_shown_from_its_top(opened, resize, qtbot):
    first = make_record(opened.session.table)
    put(opened.session, first)
    put(opened.session, make_record(opened.session.table, "logistic"))
    resize(WIDE)
    area = opened.findChild(QScrollArea, "run_card_area")
    opened.findChild(QPushButton, "run_settings_button").click()
    bar = area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    opened.session.select(first.id)
    assert bar.value() == 0


def test_enter_presses_a_link(opened, qtbot):
    link = opened.findChild(QPushButton, "validation_more_button")
    for shown in (True, False):
        qtbot.keyClick(link, Qt.Key.Key_Return)
        assert link.isChecked() == shown


def test_enter_presses_the_button_of_a_notice_and_escape_closes_it(opened, resize, qtbot):
    panel = opened.workplace.runs_panel
    resize(WIDE)
    least = opened.minimumSizeHint()
    for part, key in (
        (panel.notice.close_button, Qt.Key.Key_Return),
        (opened.findChild(QPushButton, "strip_run"), Qt.Key.Key_Escape),
    ):
        panel.notice.offer("Run", lambda: None)
        assert opened.minimumSizeHint() == least
        part.setFocus()
        qtbot.keyClick(part, key)
        assert not panel.notice.isVisible()


def test_run_list_moves_to_the_left_column_in_a_narrow_window(opened, resize, qtbot):
    sides, runs = opened.workplace.sides, opened.workplace.runs_panel
    resize(WIDE)
    assert sides.indexOf(runs) == 2
    assert runs.isVisible()
    assert not sides.left.tabBar().isVisible()
    resize(SLIM)
    assert [sides.left.tabText(k) for k in range(2)] == ["Set-up", "Runs"]
    assert sides.left.tabBar().isVisible()
    assert sides.left.currentWidget() is sides.setup
    sides.left.setCurrentIndex(1)
    assert runs.isVisible()
    assert not sides.setup.isVisible()
    resize(WIDE)
    assert sides.indexOf(runs) == 2
    assert runs.isVisible()
    assert sides.setup.isVisible()
    qtbot.waitUntil(lambda: sides.sizes()[2] >= runs.minimumWidth())


@pytest.mark.parametrize("width", [WIDE, SLIM])
def test_side_columns_can_be_hidden_and_shown(opened, resize, width):
    sides = opened.workplace.sides
    put(opened.session, make_record(opened.session.table))
    resize(width)
    hide(opened, "runs")
    assert not opened.workplace.runs_panel.isVisible()
    assert sides.setup.isVisible()
    assert not sides.left.tabBar().isVisible()  # one page needs no tabs
    hide(opened, "setup")
    assert not sides.left.isVisible()
    call(opened, "runs")
    assert opened.workplace.runs_panel.isVisible()
    assert not sides.setup.isVisible()
    call(opened, "setup")
    assert sides.setup.isVisible()  # the requested page comes to the front
    assert opened.workplace.runs_panel.isVisible() == (width == WIDE)


def test_a_hidden_column_stays_hidden_at_another_width(opened, resize):
    put(opened.session, make_record(opened.session.table))
    resize(SLIM)
    hide(opened, "runs")
    resize(WIDE)
    assert not opened.workplace.runs_panel.isVisible()
    call(opened, "runs")
    assert opened.workplace.runs_panel.isVisible()
    resize(SLIM)
    assert opened.workplace.sides.left.isTabVisible(1)


def test_reopened_study_keeps_the_set_up_in_front(opened, resize, tmp_path):
    resize(SLIM)
    put(opened.session, make_record(opened.session.table))
    save_as(opened.session, tmp_path / "study.aucproj")
    opened.open_now(tmp_path / "study.aucproj")
    assert opened.workplace.sides.left.currentWidget() is opened.workplace.sides.setup


def test_picture_takes_most_of_a_narrow_window(opened, resize, qtbot):
    resize(SLIM)
    qtbot.waitUntil(lambda: opened.deck.width() > 0.55 * opened.workplace.sides.width())


@pytest.mark.parametrize("width", [WIDE, SLIM])
def test_run_strip_is_beside_the_menus(opened, resize, width):
    resize(width)
    bar, strip = opened.menuBar(), opened.strip
    places = [bar.actionGeometry(action) for action in bar.actions()]
    assert all(not place.isEmpty() for place in places)
    assert strip.parentWidget() is bar
    assert strip.x() > max(place.right() for place in places)
    assert strip.geometry().right() <= bar.width()
    assert strip.width() > width / 2  # room for the progress text


def test_all_menus_stay_in_a_narrow_window(opened, qtbot):
    bar, strip = opened.menuBar(), opened.strip
    for width, in_words in ((WIDE, True), (490, False), (WIDE, True)):
        # The columns become pages at the first step, after which the window may be narrower.
        qtbot.waitUntil(lambda width=width: opened.resize(width, 700) or bar.width() == width)
        QApplication.processEvents()
        assert strip.geometry().right() <= width
        places = [bar.actionGeometry(action) for action in bar.actions()]
        assert strip.x() > max(place.right() for place in places)
        run = opened.findChild(QPushButton, "strip_run")
        assert bool(run.text()) == in_words
        assert run.accessibleName()


def test_very_narrow_window_shows_one_column(qtbot):
    sides = Sides(QLabel("set up"), QLabel("look"), QLabel("compare"))
    qtbot.addWidget(sides)
    sides.show()
    for width, columns in ((WIDE, 3), (800, 1), (WIDE, 3), (SLIM, 2), (780, 1), (SLIM, 2)):
        sides.resize(width, 700)
        QApplication.processEvents()
        assert sides.width() == width
        assert len(sides.sizes()) == columns
        if columns == 1:
            assert sides.left.width() == width
        if width == 780:
            sides.left.setCurrentWidget(sides.runs)
    assert sides.left.currentWidget() is sides.runs


def test_hidden_page_does_not_affect_the_minimum_size(qtbot):
    tall = QLabel("compare")
    tall.setMinimumHeight(500)
    sides = Sides(QLabel("set up"), QLabel("look"), tall)
    qtbot.addWidget(sides)
    sides.show()
    sides.resize(780, 520)
    QApplication.processEvents()
    assert sides.left.currentWidget() is sides.middle
    assert sides.minimumSizeHint().height() < 300
    sides.left.setCurrentWidget(tall)
    assert sides.minimumSizeHint().height() > 500


def test_requested_page_comes_to_the_front(opened, qtbot):
    sides = opened.workplace.sides
    opened.resize(780, 700)
    qtbot.waitUntil(lambda: sides.left.indexOf(sides.middle) >= 0)
    for name in ("show_scores_view", "arrange_four_views"):
        sides.left.setCurrentWidget(sides.setup)
        opened.findChild(QAction, f"action_{name}").trigger()
        assert sides.left.currentWidget() is sides.middle


class _Styling(QObject):
    """Counts how often a widget is styled."""

    count = 0

    def eventFilter(self, _watched, event):
        self.count += event.type() == QEvent.Type.StyleChange
        return False


def test_column_is_styled_once(qtbot, apply_style):
    apply_style()
    window, setup, styling = QWidget(), QLabel("set up"), _Styling()
    qtbot.addWidget(window)
    window.resize(WIDE, 700)
    setup.installEventFilter(styling)
    rows, middle = QVBoxLayout(window), QLabel("look", window)
    rows.addWidget(Sides(setup, middle, QLabel("compare")))
    window.show()
    assert styling.count == 1
