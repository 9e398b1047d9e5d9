"""Choose methods: purpose, estimated time and suggestions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication, QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent
from PySide6.QtWidgets import (
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from aucstudio.engine import METHODS
from aucstudio.engine.catalogue import AIMS, FAMILIES, shape_words
from aucstudio.gui.common.layouts import STRETCH, across, down
from aucstudio.gui.common.plain_text import tip_text
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import clearable, label, named, primary, tell
from aucstudio.project.runs.method_advice import Outlook

_HEADS = ("Method", "Name", "Trains for", "Scorer", "Missing values", "Time here")
_TIPS = {
    2: "pAUC: the area under a range of false-positive rates",
    3: "Model that ranks the rows: a weighted sum, a kernel, trees",
    4: ("Whether the method accepts missing values; for other methods they are filled in"),
    5: "Estimated time of a run on this table with this validation, on this computer",
}
_KEY = Qt.ItemDataRole.UserRole
_SIZE = QSize(920, 640)
_MARGIN = 40
_START, _RECENT = "Start here", "Recently used"

Group = tuple[str, dict[str, str]]
"A title, and methods, each with the reason for its place, if there is one."


class MethodChooser(Dialog):
    """A list to search, read and tick.

    Parameters
    ----------
    chosen : str
        The present method.
    outlooks : mapping of method id to Outlook
        Empty without a table.
    recommended : mapping of method id to reason
    recent : sequence of str
        Methods of the last runs, the last first.
    can_run : bool
    parent : QWidget

    Signals
    -------
    chosen(str)
        The form is to show this method.
    runs_asked(list, bool)
        Run these methods; the second says whether settings are searched first.
    """

    chosen = Signal(str)
    runs_asked = Signal(list, bool)

    def __init__(
        self,
        chosen: str,
        outlooks: Mapping[str, Outlook],
        recommended: Mapping[str, str],
        recent: Sequence[str],
        can_run: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("method_chooser", "Choose methods", parent)
        self._outlooks, self._can_run = outlooks, can_run
        self._first: list[Group] = [
            (_START, dict(recommended)),
            (_RECENT, dict.fromkeys(recent, "")),
        ]
        self._rows: list[QTreeWidgetItem] = []
        self.ticked: set[str] = set()
        self._make_parts()
        self._lay_out()
        self._fill()
        self._go_to(chosen)
        self.search.setFocus()
        self.resize(_SIZE if parent is None else _within(parent.window().size()))

    def _make_parts(self) -> None:
        self.search = clearable(named(QLineEdit(), "method_search", "Search methods"))
        self.search.setPlaceholderText("Search by name, family or words")
        self.search.textChanged.connect(self._on_search)
        self.search.returnPressed.connect(self._choose)
        self.tree = named(QTreeWidget(), "method_tree", "Methods")
        self.tree.setHeaderLabels(list(_HEADS))
        for column, tip in _TIPS.items():
            self.tree.headerItem().setData(column, Qt.ItemDataRole.ToolTipRole, tip_text(tip))
        self.tree.setRootIsDecorated(False)
        self.tree.setItemsExpandable(False)
        self.tree.setIndentation(12)
        self.tree.setAllColumnsShowFocus(True)
        header = self.tree.header()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setStretchLastSection(False)
        self.tree.currentItemChanged.connect(self._on_current)
        self.tree.itemChanged.connect(self._on_ticked)
        self.tree.itemActivated.connect(self._choose)
        self.title = label("", "title", name="method_chosen_title")
        self.words = label("", wrap=True, name="method_chosen_words")
        self.facts = label("", "muted", wrap=True, name="method_chosen_facts")
        self.problem = label("", "error", wrap=True, name="method_chooser_problem")
        self.problem.hide()
        self.run = named(QPushButton(), "run_methods_button", "Run")
        self.tune = named(QPushButton(), "tune_methods_button", "Tune and run")
        self.close_button = named(QPushButton("Close"), "close_methods_button", "Close")
        self.choose = primary(named(QPushButton(), "choose_method_button", "Choose"))
        self.run.clicked.connect(lambda: self.runs_asked.emit(self.asked(), False))
        self.tune.clicked.connect(lambda: self.runs_asked.emit(self.asked(), True))
        self.choose.clicked.connect(self._choose)
        self.close_button.clicked.connect(self.reject)
        for button in (self.run, self.tune, self.choose, self.close_button):
            button.setAutoDefault(False)

    def _lay_out(self) -> None:
        hint = label("Tick several methods to run or tune all of them on the same splits.", "muted")
        top = across((self.search, 1), hint, gap=16)
        buttons = across(self.run, self.tune, STRETCH, self.close_button, self.choose)
        about = (self.title, self.words, self.facts, self.problem)
        self.setLayout(down(top, (self.tree, 1), *about, buttons, around=16))

    # ------------------------------------------------------------- the list

    def _fill(self) -> None:
        """List the groups; search matches are listed in their family."""
        wanted = self.search.text().casefold().split()
        families: list[Group] = [
            (
                title,
                {k: "" for k, m in METHODS.items() if m.family == family and _speaks_of(k, wanted)},
            )
            for family, title in FAMILIES.items()
        ]
        self.tree.blockSignals(True)
        self.tree.clear()
        self._rows = []
        for title, methods in families if wanted else self._first + families:
            if methods:
                self._add_group(title, methods)
        self.tree.blockSignals(False)

    def _add_group(self, title: str, methods: Mapping[str, str]) -> None:
        head = QTreeWidgetItem(self.tree, [title])
        head.setFlags(Qt.ItemFlag.ItemIsEnabled)
        font = QFont(self.tree.font())
        font.setBold(True)
        head.setFont(0, font)
        head.setFirstColumnSpanned(True)
        head.setExpanded(True)
        for key, reason in methods.items():
            self._add_method(head, key)
            if reason:
                why = QTreeWidgetItem(head, [f"      {reason}"])
                why.setFlags(Qt.ItemFlag.NoItemFlags)
                why.setForeground(0, QColor(current_theme().muted))
                why.setFirstColumnSpanned(True)

    def _add_method(self, head: QTreeWidgetItem, key: str) -> None:
        method, outlook = METHODS[key], self._outlooks.get(key)
        item = QTreeWidgetItem(
            head,
            [
                method.in_words,
                method.title,
                method.trains_for,
                shape_words(method),
                "taken" if method.takes_missing else "filled in",
                "–" if outlook is None else outlook.words,
            ],
        )
        self._rows.append(item)
        item.setData(0, _KEY, key)
        item.setCheckState(0, _check(key in self.ticked))
        item.setData(0, Qt.ItemDataRole.ToolTipRole, tip_text(method.summary))
        if outlook is not None:
            item.setData(5, Qt.ItemDataRole.ToolTipRole, tip_text(outlook.details))
            if outlook.problem:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
                for column in range(len(_HEADS)):
                    item.setForeground(column, QColor(current_theme().muted))

    def _go_to(self, key: str) -> None:
        """Make a row the current one: the method's, else the first."""
        found = [row for row in self._rows if row.data(0, _KEY) == key] or self._rows[:1]
        if found:
            self.tree.setCurrentItem(found[0])
        else:
            self.tree.setCurrentIndex(QModelIndex())
        self._on_current()

    # ------------------------------------------------------------- what is chosen

    def current(self) -> str | None:
        """Return the method whose row is the current one."""
        item = self.tree.currentItem()
        return None if item is None else item.data(0, _KEY)

    def asked(self) -> list[str]:
        """Return the methods to run.

        Those that are ticked, in the list's order, else the current.
        """
        ticked = [key for key in METHODS if key in self.ticked]
        return ticked or [key for key in (self.current(),) if key]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # From the search field the arrows go into the list.
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up) and self.search.hasFocus():
            self.tree.setFocus()
            QCoreApplication.sendEvent(self.tree, event)
        else:
            super().keyPressEvent(event)

    def show_problem(self, sentence: str) -> None:
        """Show why the methods that were asked for cannot be run."""
        tell(self.problem, sentence, "error")

    def _on_search(self) -> None:
        before, phrase = self.current() or "", self.search.text().strip().casefold()
        self._fill()
        shown = [row.data(0, _KEY) for row in self._rows]
        called = [key for key in shown if phrase and phrase in _name(key)]
        self._go_to(next(iter(called), before))

    def _on_ticked(self, item: QTreeWidgetItem, _column: int) -> None:
        key, on = item.data(0, _KEY), item.checkState(0) == Qt.CheckState.Checked
        if key is None or on == (key in self.ticked):
            return
        (self.ticked.add if on else self.ticked.discard)(key)
        for row in self._rows:  # it may stand in several groups
            if row.data(0, _KEY) == key:
                row.setCheckState(0, _check(on))
        self.tree.setCurrentItem(item)
        self._name_buttons()

    def _on_current(self, *_items: object) -> None:
        key = self.current()
        tell(self.problem, "")
        if key is None:
            self.title.setText(f"No method matches “{self.search.text().strip()}”")
            tell(self.words, "Search for a name, a family or what a method trains for.", "")
            tell(self.facts, "")
        else:
            method, outlook = METHODS[key], self._outlooks.get(key)
            self.title.setText(f"{method.in_words} ({method.title})")
            tell(self.words, f"{method.use_when} {method.summary}", "")
            takes = "" if outlook is None else f" {_sentence(outlook.details)}"
            aim = f"Trains for {AIMS[method.trains_for]}. {method.weights_words()}"
            tell(self.facts, f"{aim}{takes} Source: {method.source}.")
        self._name_buttons()

    def _name_buttons(self) -> None:
        key, asked = self.current(), self.asked()
        several = f"{len(asked)} methods" if len(asked) > 1 else ""
        what = several or "".join(METHODS[one].title for one in asked)
        able = self._can_run and bool(asked)
        if not self.ticked and key is not None and key in self._outlooks:
            able = able and not self._outlooks[key].problem
        for button, verb in ((self.run, "Run"), (self.tune, "Tune")):
            button.setText(f"{verb} {what}".strip())
            button.setAccessibleName(button.text())
            button.setEnabled(able)
        self.choose.setText(f"Choose {METHODS[key].title}" if key else "Choose")
        # Ticked methods are run together: one of them chosen for the form would not be all.
        self.choose.setEnabled(key is not None and not self.ticked)

    def _choose(self) -> None:
        if (key := self.current()) is not None and self.choose.isEnabled():
            self.chosen.emit(key)
            self.accept()


def _speaks_of(key: str, wanted: Sequence[str]) -> bool:
    """Return whether a method's words hold all that was typed."""
    method = METHODS[key]
    text = " ".join(
        (
            key,
            method.title,
            method.in_words,
            method.family,
            FAMILIES[method.family],
            method.trains_for,
            AIMS[method.trains_for],
            shape_words(method),
            method.use_when,
            method.summary,
            method.source,
        )
    ).casefold()
    return all(word in text for word in wanted)


def _name(key: str) -> str:
    return f"{METHODS[key].in_words} {METHODS[key].title}".casefold()


def _check(on: bool) -> Qt.CheckState:
    return Qt.CheckState.Checked if on else Qt.CheckState.Unchecked


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "." if text else ""


def _within(size: QSize) -> QSize:
    return _SIZE.boundedTo(size - QSize(_MARGIN, _MARGIN))
