"""A narrow tile: its tabs, its least size, and the legends of the pictures in it."""

import pytest
from PySide6.QtCore import QPoint, QSignalBlocker, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolButton, QWidget

from aucstudio.gui.app import make_application
from aucstudio.gui.common.controls import WrappingRow
from aucstudio.gui.desk.deck import Tile, TileColumn

NAMES = ("ROC", "Training", "Search", "Feature space", "Differences", "Scores", "Model", "Compare")


@pytest.fixture
def tile(qtbot):
    make_application("light")
    made = Tile("narrow_tile", "Narrow tile")
    qtbot.addWidget(made)
    for name in NAMES:
        made.addTab(QLabel(name), name)
    made.resize(1000, 200)
    with qtbot.waitExposed(made):
        made.show()
    return made


def resize(widget, width, height=200):
    widget.resize(width, height)
    QApplication.processEvents()


def cut(tile):
    """Names of the tabs that are narrower than they would like to be."""
    bar = tile.bar
    return [
        bar.tabText(k)
        for k in range(bar.count())
        if bar.tabRect(k).width() < bar.tabSizeHint(k).width()
    ]


@pytest.mark.parametrize("current", range(len(NAMES)))
def test_tabs_scroll_instead_of_being_cut(tile, current):
    resize(tile, 480)
    tile.setCurrentIndex(current)
    QApplication.processEvents()
    assert cut(tile) == []
    assert any(button.isVisible() for button in tile.bar.findChildren(QToolButton))
    assert tile.bar.rect().contains(tile.bar.tabRect(current))


def test_tabs_stand_closer_before_they_scroll(tile):
    wide = tile.bar.sizeHint().width()
    resize(tile, wide + 8)
    assert not tile.bar.property("closer")
    resize(tile, wide - 20)
    assert tile.bar.property("closer")
    assert cut(tile) == []
    resize(tile, wide + 8)
    assert not tile.bar.property("closer")
    assert tile.bar.sizeHint().width() == wide


def test_tabs_that_leave_give_their_room_back(tile):
    resize(tile, 480)
    assert tile.bar.property("closer")
    for _ in range(5):
        tile.removeTab(1)
    QApplication.processEvents()
    assert not tile.bar.property("closer")
    assert cut(tile) == []


def test_a_page_that_is_not_seen_takes_no_room(tile):
    tile.widget(3).setMinimumHeight(700)
    assert tile.minimumSizeHint().height() < 200
    tile.setCurrentIndex(3)
    assert tile.minimumSizeHint().height() == 700 + tile.bar.sizeHint().height()


def test_controls_that_wrap_count_with_all_their_lines(qtbot):
    make_application("light")
    page = QWidget()
    qtbot.addWidget(page)
    row = WrappingRow(page)
    row.setContentsMargins(0, 0, 0, 0)
    for name in ("one button", "another button", "a third button"):
        row.addWidget(QPushButton(name))
    with qtbot.waitExposed(page):
        page.show()
    resize(page, row.sizeHint().width() + 20)
    line = row.minimumSize().height()
    resize(page, row.sizeHint().width() - 20)
    assert row.minimumSize().height() == 2 * line + row.spacing()
    resize(page, row.sizeHint().width() + 20)
    assert row.minimumSize().height() == line


def test_controls_of_one_value_wrap_together(qtbot):
    make_application("light")
    page = QWidget()
    qtbot.addWidget(page)
    row = WrappingRow(page)
    row.setContentsMargins(0, 0, 0, 0)
    first, low, high = (QPushButton(name) for name in ("first button", "low", "high"))
    for button in (first, low, high):
        row.addWidget(button)
    row.keep_together(low)
    with qtbot.waitExposed(page):
        page.show()
    resize(page, row.sizeHint().width() - 20)
    assert first.y() < low.y() == high.y()


def test_two_tiles_ask_for_no_more_than_a_small_window_has(qtbot):
    make_application("light")
    column = TileColumn()
    qtbot.addWidget(column)
    pages = []
    for height in (150, 200):
        page = QLabel()
        page.setMinimumHeight(height)
        column.addWidget(page)
        pages.append(page)
    column.show()
    assert column.minimumSizeHint().height() == 350 + column.handleWidth()
    pages[0].setMinimumHeight(700)
    QApplication.processEvents()
    assert column.minimumSizeHint().height() == 600


@pytest.fixture
def dragged(tile, monkeypatch):
    """Numbers of the tabs whose drag began."""
    begun = []
    monkeypatch.setattr(tile.bar, "_drag", begun.append)
    return begun


def far_along(tile, index):
    centre = tile.bar.tabRect(index).center()
    return centre, centre + QPoint(4 * QApplication.startDragDistance(), 0)


def test_hovering_after_a_click_drags_nothing(tile, dragged):
    centre, away = far_along(tile, 1)
    QTest.mouseClick(tile.bar, Qt.MouseButton.LeftButton, pos=centre)
    QTest.mouseMove(tile.bar, away)
    assert tile.currentIndex() == 1
    assert dragged == []


def test_a_tab_is_dragged_while_the_button_is_down(tile, dragged):
    centre, away = far_along(tile, 1)
    QTest.mousePress(tile.bar, Qt.MouseButton.LeftButton, pos=centre)
    QTest.mouseMove(tile.bar, away)
    QTest.mouseRelease(tile.bar, Qt.MouseButton.LeftButton, pos=away)
    assert dragged == [1]


def test_a_release_that_went_elsewhere_leaves_no_drag_behind(tile, dragged):
    centre, away = far_along(tile, 1)
    QTest.mousePress(tile.bar, Qt.MouseButton.LeftButton, pos=centre)
    # The release goes to another window: all that the bar sees is a hover without a button.
    QTest.mouseRelease(tile, Qt.MouseButton.LeftButton)
    QTest.mouseMove(tile.bar, away)
    assert dragged == []


def test_a_page_made_under_the_pointer_is_the_one_that_was_clicked(tile):
    """Tabs that scroll must not jump back while the page of the pressed one is made."""
    new = QLabel("made")
    new.title = "Scores"

    def make(index):
        tile.currentChanged.disconnect(make)
        with QSignalBlocker(tile):
            tile.exchange(tile.widget(index), new)

    tile.setCurrentIndex(len(NAMES) - 1)
    bar = tile.bar
    resize(tile, 480)
    resize(tile, bar.sizeHint().width() - 12)  # all fit, but for one
    tile.currentChanged.connect(make)
    place, at = NAMES.index("Scores"), bar.tabRect(NAMES.index("Scores")).center()
    assert bar.tabRect(0).left() < 0  # they are scrolled
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=at)
    assert tile.currentIndex() == bar.tabAt(at) == place
    assert tile.currentWidget() is new
    assert [bar.tabText(k) for k in range(bar.count())] == list(NAMES)
