"""Help pages are searched by headings and by words."""

from functools import partial

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QImage, QTextDocument
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QLabel, QWidget

from aucstudio.engine import METHODS
from aucstudio.gui.common.focus import focus_within
from aucstudio.gui.common.theme import apply_theme
from aucstudio.gui.dialogs.help import CHAPTERS, TITLES, HelpDialog, help_page
from aucstudio.project import guide
from tests.gui.conftest import expose


@pytest.fixture
def dialog(qtbot):
    def show(name="manual"):
        return expose(qtbot, HelpDialog(None, name))

    return show


def selected(shown):
    return shown.browser.textCursor().selectedText()


def test_search_steps_through_matches_and_wraps(dialog, qtbot):
    shown = dialog()
    finder = shown.finder
    qtbot.keyClick(shown, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(finder.field.hasFocus)
    qtbot.keyClicks(finder.field, "partial auc")
    count = len(finder.hits)
    assert count > 2
    assert selected(shown).lower() == "partial auc"
    assert finder.status.text() == f"1 of {count}"
    first = shown.browser.textCursor().position()
    place = finder.sections.currentIndex()
    assert finder.sections.itemData(place) <= first < finder.sections.itemData(place + 1)
    qtbot.keyClick(finder.field, Qt.Key.Key_Return)
    assert finder.status.text() == f"2 of {count}"
    assert shown.browser.textCursor().position() > first
    for _ in range(2):
        qtbot.keyClick(finder.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert finder.status.text() == f"{count} of {count}"
    qtbot.keyClick(finder.field, Qt.Key.Key_F3)
    assert finder.status.text() == f"1 of {count}"
    assert shown.isVisible()


def test_search_without_a_match_says_not_found(dialog, qtbot):
    shown = dialog()
    qtbot.keyClicks(shown.finder.field, "xylophone")
    assert shown.finder.status.text() == "not found"
    qtbot.keyClick(shown.finder.field, Qt.Key.Key_Return)
    shown.finder.field.clear()
    assert shown.finder.status.text() == ""
    assert shown.browser.extraSelections() == []
    qtbot.keyClicks(shown.finder.field, "a")
    assert shown.finder.status.text().endswith("or more")


@pytest.mark.parametrize("name", ["manual", "methods", "whatsnew"])
def test_section_list_scrolls_to_the_section(dialog, qtbot, name):
    shown = dialog(name)
    sections = shown.finder.sections
    last = sections.count() - 1
    assert last > 0
    sections.setCurrentIndex(last)
    sections.activated.emit(last)
    block = shown.browser.textCursor().block()
    assert block.text() == sections.itemText(last).strip()
    assert shown.browser.rect().contains(shown.browser.cursorRect().center())


@pytest.mark.parametrize("name", TITLES)
def test_escape_closes_every_page(dialog, qtbot, name):
    shown = dialog(name)
    assert shown.findChildren(QDialogButtonBox)
    assert all(found.objectName() for found in shown.findChildren(QLabel, "help_found_label"))
    qtbot.keyClick(shown.browser, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not shown.isVisible())


@pytest.mark.parametrize("name", ["dark", "light"])
def test_pictures_follow_the_theme_of_the_window(dialog, name):
    apply_theme(QApplication.instance(), name)
    shown = dialog()
    address = f"pictures/roc-{name}.png"
    assert address in help_page("manual")
    picture = shown.browser.loadResource(QTextDocument.ResourceType.ImageResource, QUrl(address))
    assert QImage.fromData(picture).width() > 600


def test_methods_page_states_how_row_weights_are_used():
    page = guide.page("methods")
    for method in METHODS.values():
        _, _, text = page.partition(f"## {method.title}\n")
        assert method.weights_words() in text.partition("\n## ")[0]


def opened_chapter(window, qtbot):
    """Return the heading at which the guide of a window opens, and close it."""
    dialogs = partial(window.findChildren, HelpDialog)
    qtbot.waitUntil(lambda: any(one.isVisible() for one in dialogs()))
    (guide_window,) = (one for one in dialogs() if one.isVisible())
    bar = guide_window.browser.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() > 0)
    heading = guide_window.finder.sections.currentText()
    guide_window.reject()
    return heading


def test_f1_opens_the_chapter_on_the_part_in_focus(window, table_file, qtbot):
    window.open_now(table_file)
    window.show()
    page, _ = window.deck.visit("compare_view")
    focus_within(page)
    window.actions_.help_manual.trigger()
    assert opened_chapter(window, qtbot) == "Page: Compare"
    field = window.workplace.validation_panel.fields["scheme"]
    window.activateWindow()
    window.workplace.sides.call("setup", field)
    qtbot.waitUntil(field.hasFocus)
    window.actions_.help_manual.trigger()
    assert opened_chapter(window, qtbot) == "Validation"
    window.actions_.preferences.trigger()
    (dialog,) = (one for one in window.findChildren(QWidget, "preferences_dialog"))
    qtbot.waitExposed(dialog)
    qtbot.keyClick(dialog, Qt.Key.Key_F1)
    assert opened_chapter(dialog, qtbot) == "Window"
    dialog.reject()


def test_every_chapter_of_a_part_of_the_window_exists(window, table_file):
    window.open_now(table_file)
    assert window.views
    classes = {type(one).__name__ for one in window.findChildren(QWidget)}
    assert set(CHAPTERS.values()) <= set(guide.CHAPTERS)
    assert {name for name in CHAPTERS if name.endswith(("View", "Page", "Panel"))} <= classes
