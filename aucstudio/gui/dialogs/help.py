"""The help window."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QColor, QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QTextBrowser, QTextEdit, QWidget

from aucstudio.gui.common.buttons import dialog_buttons
from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import (
    ElidedCombo,
    label,
    make_buddy,
    named,
    search_field,
    show_note,
)
from aucstudio.project import guide
from aucstudio.project.resources import resource_path

TITLES = {
    "manual": "User guide",
    "methods": "Methods and settings",
    "whatsnew": "What is new",
    "about": "About AUC Studio",
}


# The chapter of the guide about a part of the window, by its class.
CHAPTERS = {
    "WelcomePage": "first-steps",
    "DataPanel": "data",
    "ValidationPanel": "validation",
    "MethodPanel": "method",
    "RunsPanel": "method",
    "RocView": "page-roc",
    "CompareView": "page-compare",
    "DifferenceView": "page-differences",
    "FeatureView": "page-feature-space",
    "ModelView": "page-model",
    "ScoresView": "page-scores",
    "CalibrationView": "page-calibration",
    "DataView": "page-data",
    "TrainingView": "page-training",
    "SearchView": "page-search",
    "BestView": "page-best",
    "ImportDialog": "data",
    "ClassesDialog": "data",
    "MethodChooser": "method",
    "FindBestDialog": "page-best",
    "ExportModelDialog": "export",
    "ScoreTableDialog": "export",
    "PreferencesDialog": "window",
}

_CLOSE = QDialogButtonBox.StandardButton.Close
_SIZE, _SMALL = QSize(840, 640), QSize(560, 250)


def help_page(name: str) -> str:
    """Return a help page as Markdown, with pictures in the theme of the window."""
    return guide.page(name).replace("-light.png", f"-{current_theme().name}.png")


class HelpDialog(Dialog):
    """Shows one page."""

    def __init__(self, parent: QWidget, name: str) -> None:
        super().__init__("help_dialog", TITLES[name], parent)
        self.fit(_SMALL if name == "about" else _SIZE)
        self.browser = named(QTextBrowser(), "help_text", TITLES[name])
        self.browser.setOpenExternalLinks(True)
        self.browser.document().setDocumentMargin(16)
        self.browser.setSearchPaths([str(resource_path("help"))])
        self.browser.setMarkdown(help_page(name))
        buttons = dialog_buttons(_CLOSE, name="help")
        buttons.rejected.connect(self.reject)
        above = []
        if name != "about":
            self.finder = HelpFinder(self.browser)
            above.append(self.finder)
            # Enter goes to the next match; Esc closes.
            buttons.button(_CLOSE).setAutoDefault(False)
        self.lay_out(down(*above, self.browser), buttons)
        self.browser.setFocus()


def show_help(parent: QWidget, name: str) -> None:
    """Show a help page in a separate window, the guide at the chapter on the part in focus."""
    chapter = chapter_in_focus(parent) if name == "manual" else ""
    # A modal dialog blocks windows that are not its own.
    owner = QApplication.activeModalWidget() or parent
    open_ones = (one for one in owner.findChildren(HelpDialog) if one.isVisible())
    dialog = next((one for one in open_ones if one.windowTitle() == TITLES[name]), None)
    if dialog is None:
        dialog = HelpDialog(owner, name)
        dialog.ask(modal=False)
    dialog.activateWindow()
    if chapter:
        heading = guide.page(chapter).partition("\n")[0].removeprefix("# ")
        # The text is laid out for its width when it is shown.
        QTimer.singleShot(0, dialog, partial(dialog.finder.go_to, heading))


def chapter_in_focus(window: QWidget) -> str:
    """Return the chapter on the part of a window that has the focus, or on a page it shows."""
    part = QApplication.focusWidget() or QApplication.activeModalWidget()
    while part is not None:
        if chapter := CHAPTERS.get(type(part).__name__):
            return chapter
        part = part.parentWidget()
    shown = (one for one in window.findChildren(QWidget) if one.isVisible())
    found = (CHAPTERS.get(type(one).__name__, "") for one in shown)
    return next((chapter for chapter in found if chapter.startswith("page-")), "")


_LEVELS = 3  # of headings in the list
_MOST = 500  # matches that are marked and counted


class HelpFinder(QWidget):
    """A list of the sections of a page, and a search field.

    Enter or F3 goes to the next match, with Shift to the one before; Ctrl+F goes to the field.
    """

    def __init__(self, browser: QTextBrowser) -> None:
        super().__init__()
        self._browser = browser
        self.hits: list[QTextCursor] = []
        self.sections = named(ElidedCombo(), "help_section_combo")
        self.field = search_field("help_find_field")
        self.field.setMinimumWidth(160)
        self.status = label("", name="help_found_label")
        self.status.setVisible(False)
        self._list_sections()
        section, find = make_buddy("&Section", self.sections), make_buddy("&Find", self.field)
        self.setLayout(across(section, (self.sections, 1), find, (self.field, 1), self.status))
        self.sections.activated.connect(self._go_to_section)
        self.field.textChanged.connect(self._find)
        for keys, step in (("F3", 1), ("Shift+F3", -1), ("Return", 1), ("Shift+Return", -1)):
            # Return belongs to the field; elsewhere it presses buttons.
            shortcut = QShortcut(QKeySequence(keys), self.field if "Return" in keys else self)
            if "Return" in keys:
                shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(partial(self.step, step))
        find_words = QShortcut(QKeySequence.StandardKey.Find, self)
        find_words.activated.connect(self._ask)

    def _list_sections(self) -> None:
        block = self._browser.document().begin()
        while block.isValid():
            level = block.blockFormat().headingLevel()
            if 0 < level <= _LEVELS:
                blanks = "\N{NO-BREAK SPACE}" * 4 * (level - 1)
                self.sections.addItem(blanks + block.text(), block.position())
            block = block.next()

    def go_to(self, heading: str) -> None:
        """Show the section of a heading."""
        self.sections.setCurrentIndex(self.sections.findText(heading))
        self._go_to_section(self.sections.currentIndex())

    def _go_to_section(self, place: int) -> None:
        """Show a section at the top."""
        cursor = QTextCursor(self._browser.document())
        cursor.setPosition(self.sections.itemData(place))
        self._browser.setTextCursor(cursor)
        page = self._browser.document().documentLayout()
        top = page.blockBoundingRect(cursor.block()).top()
        self._browser.verticalScrollBar().setValue(round(top))

    # ------------------------------------------------------------- words

    def _ask(self) -> None:
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def _find(self, words: str) -> None:
        """Mark all matches, and go to the first one after the present position."""
        self.hits = []
        cursor = self._browser.document().find(words) if words.strip() else QTextCursor()
        while not cursor.isNull() and len(self.hits) < _MOST:
            self.hits.append(cursor)
            cursor = self._browser.document().find(words, cursor)
        marks = []
        for hit in self.hits:
            mark = QTextEdit.ExtraSelection()
            mark.cursor = hit
            mark.format.setBackground(QColor(current_theme().selection))
            marks.append(mark)
        self._browser.setExtraSelections(marks)
        self._go(self._next_from(self._browser.textCursor().selectionStart()))

    def step(self, by: int) -> None:
        """Go to the next or the previous match; the first follows the last."""
        here = self._browser.textCursor()
        chosen = [k for k, hit in enumerate(self.hits) if hit.position() == here.position()]
        first = self._next_from(here.position()) - (by < 0)
        self._go(chosen[0] + by if chosen and here.hasSelection() else first)

    def _next_from(self, position: int) -> int:
        return sum(hit.selectionStart() < position for hit in self.hits)

    def _go(self, place: int) -> None:
        if not self.hits:
            show_note(self.status, "not found" if self.field.text().strip() else "")
            return
        place %= len(self.hits)
        self._browser.setTextCursor(self.hits[place])
        self._browser.ensureCursorVisible()
        more = " or more" if len(self.hits) == _MOST else ""
        show_note(self.status, f"{place + 1} of {len(self.hits)}{more}")
        here = self._browser.textCursor().selectionStart()
        begun = [k for k in range(self.sections.count()) if self.sections.itemData(k) <= here]
        self.sections.setCurrentIndex(max(begun, default=0))
