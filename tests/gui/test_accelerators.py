"""Alt and a letter triggers one control: mnemonics are unique on every page."""

from collections import defaultdict

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel

from tests.gui.conftest import make_record, put


def letter(text):
    """Return the mnemonic of a text; empty if it has none."""
    kept = text.replace("&&", "")
    place = kept.find("&")
    return kept[place + 1].lower() if 0 <= place < len(kept) - 1 else ""


def letters_of(window):
    """Return the menus, buttons and field labels of each mnemonic."""
    found = defaultdict(list)
    for action in window.menuBar().actions():
        found[letter(action.text())].append(f"menu {action.text()}")
    for widget in [*window.findChildren(QAbstractButton), *window.findChildren(QLabel)]:
        if widget.isVisible() and widget.window() is window:
            if isinstance(widget, QLabel) and widget.buddy() is None:
                continue
            name = widget.objectName() or (widget.buddy().objectName() if widget.text() else "")
            found[letter(widget.text())].append(f"{name} {widget.text()!r}")
    found.pop("", None)
    return found


def ambiguous(letters):
    return {key: names for key, names in letters.items() if len(names) > 1}


def test_mnemonics_are_unique_on_every_page(window, table, table_file):
    window.open_now(table_file)
    put(window.session, make_record(table), "AUC-RLS")
    put(window.session, make_record(table, "logistic"), "Logistic")
    window.resize(1600, 1000)
    found = {}
    for view in window.views:
        window.deck.show_view(view)
        for _ in range(3):
            QApplication.processEvents()
        if twice := ambiguous(letters_of(window)):
            found[view.title] = twice
    assert found == {}


def test_alt_and_a_letter_reach_the_fields_of_the_set_up(window, table_file, qtbot):
    window.open_now(table_file)
    window.resize(1600, 1000)
    heading = window.workplace.data_panel.heading
    qtbot.waitUntil(lambda: heading.isVisible() and window.isActiveWindow())
    for key, name in (
        *((Qt.Key.Key_1, "label_combo"), (Qt.Key.Key_2, "scheme_combo")),
        *((Qt.Key.Key_3, "method_combo"), (Qt.Key.Key_I, "positive_combo")),
        *((Qt.Key.Key_T, "test_percent"), (Qt.Key.Key_G, "judged_range")),
        *((Qt.Key.Key_B, "label_combo"), (Qt.Key.Key_M, "scheme_combo")),
        (Qt.Key.Key_4, "param_kernel"),
    ):
        qtbot.keyClick(window, key, Qt.KeyboardModifier.AltModifier)
        assert QApplication.focusWidget().objectName() == name


def test_mnemonics_are_unique_in_every_menu(window):
    for action in window.menuBar().actions():
        found = defaultdict(list)
        for entry in action.menu().actions():
            found[letter(entry.text())].append(entry.text())
        found.pop("", None)
        assert ambiguous(found) == {}, action.text()
