"""The message bar: non-modal, and no message is lost."""

import pytest
from PySide6.QtCore import Qt

from aucstudio.gui.app import make_application
from aucstudio.gui.panels.status import MessageBar, StatusLine


@pytest.fixture
def bar(qtbot):
    make_application("light")
    made = MessageBar()
    qtbot.addWidget(made)
    made.resize(900, 60)
    return made


def test_bar_is_visible_only_with_messages(bar):
    assert bar.isHidden()
    bar.add("the disk is full")
    assert not bar.isHidden()
    assert bar.words.text() == "The disk is full"
    assert bar.more.isHidden()
    assert bar.next.isHidden()
    bar.dismiss.click()
    assert bar.isHidden()


def test_information_is_not_styled_as_a_failure(bar):
    bar.add("the disk is full")
    assert bar.property("role") == "failure"
    bar.inform("Two runs kept")
    assert bar.property("role") == "info"
    bar.previous.click()
    assert bar.property("role") == "failure"


def test_several_messages_are_counted_and_browsed(bar):
    for sentence in ("First", "Second", "Third"):
        bar.add(sentence)
    assert bar.words.text() == "Third"
    assert bar.count.text() == "3 of 3"
    bar.previous.click()
    bar.previous.click()
    assert (bar.words.text(), bar.count.text()) == ("First", "1 of 3")
    assert not bar.previous.isEnabled()
    bar.dismiss.click()
    assert (bar.words.text(), bar.count.text()) == ("Second", "1 of 2")
    bar.next.click()
    bar.dismiss.click()
    assert bar.words.text() == "Second"
    assert bar.count.isHidden()


def test_long_text_is_shown_under_details(bar):
    bar.add("Run a is damaged\n\nRun b is damaged", "Traceback: here")
    assert bar.words.text() == "Run a is damaged"
    assert bar.details.isHidden()
    bar.more.click()
    assert not bar.details.isHidden()
    assert bar.details.toPlainText() == "Run b is damaged\n\nTraceback: here"
    bar.add("Another")
    assert bar.details.isHidden()


def test_bar_works_by_keyboard_and_screen_reader(bar, qtbot):
    bar.add("First", "more")
    bar.add("Second")
    assert bar.accessibleName() == "Messages"
    assert bar.accessibleDescription() == "Second"
    bar.show()
    bar.dismiss.setFocus()
    qtbot.keyClick(bar.dismiss, Qt.Key.Key_Escape)
    assert bar.words.text() == "First"
    qtbot.keyClick(bar.more, Qt.Key.Key_Space)
    assert not bar.details.isHidden()
    qtbot.keyClick(bar.dismiss, Qt.Key.Key_Space)
    assert bar.isHidden()


def test_only_the_latest_messages_are_kept(bar):
    for k in range(500):
        bar.add(f"message {k}")
    assert len(bar.messages) == 200
    assert bar.count.text() == "200 of 200"
    assert bar.words.text() == "Message 499"


def test_messages_are_capitalised_except_file_names(qtbot):
    bar = MessageBar()
    qtbot.addWidget(bar)
    bar.add("the run failed")
    assert bar.shown.sentence == "The run failed"
    bar.add("pima.csv, row 3: not a number")
    assert bar.shown.sentence == "pima.csv, row 3: not a number"


def test_wide_status_text_is_elided(qtbot):
    make_application("light")
    line = StatusLine()
    qtbot.addWidget(line)
    line.resize(300, 24)
    line.show()
    words = "Unsaved study: every finished run is kept and can be reopened from the start page"
    room = line.width() - line.height() - 8
    line.showMessage(line.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room))
    elided = line.grab().toImage()
    line.showMessage(words)
    assert line.toolTip() == line.currentMessage() == words
    assert line.grab().toImage() == elided
