"""Choose methods: purpose, estimated time and suggestions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from aucstudio.engine import METHODS
from aucstudio.engine.declared import AIMS, FAMILIES
from aucstudio.gui.common.buttons import primary, push_button
from aucstudio.gui.common.controls import WrappingRow
from aucstudio.gui.common.layouts import down
from aucstudio.gui.common.plain_text import plain_tooltip, tip_text
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import bold, label, named, search_field, show_note
from aucstudio.notices import text
from aucstudio.notices.controls import control_words
from aucstudio.notices.words import as_sentence
from aucstudio.project.runs.outlook import Outlook

_KEY, _TIP = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.ToolTipRole
_TIME = 5  # column
_SIZE = QSize(980, 640)
_LEAST_NAME = 200  # pixels
_AIR = 16  # pixels beside the columns
_LEAST_ROWS, _ROW_AIR = 10, 6
_START, _RECENT = "Start here", "Recently used"

Group = tuple[str, dict[str, str]]
"A title, and methods with the reasons for their recommendation, if any."


class _Tree(QTreeWidget):
    """A list of methods that asks for the width of all its columns."""

    def sizeHint(self) -> QSize:
        if self.sizeHintForColumn(0) < 0:
            self.doItemsLayout()  # which is delayed; without it there are no widths
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(sum(self._widths()) + bar + _AIR, super().sizeHint().height())

    def _widths(self) -> list[int]:
        heads, columns = self.header(), range(self.columnCount())
        return [max(self.sizeHintForColumn(k), heads.sectionSizeHint(k)) for k in columns]

    def fit(self) -> None:
        """Make the first column narrower if all columns then fit into the list."""
        first, *others = self._widths()
        whole, room = first + _AIR, self.viewport().width() - sum(others) - _AIR
        self.header().resizeSection(0, room if scaled(_LEAST_NAME) <= room < whole else whole)

    def moveCursor(
        self, action: QTreeWidget.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Pass headings and reasons."""
        index = super().moveCursor(action, modifiers)
        step = self.indexAbove if action == self.CursorAction.MoveUp else self.indexBelow
        while index.isValid() and index.data(_KEY) is None:
            index = step(index)
        return index if index.isValid() else self.currentIndex()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()


class MethodChooser(Dialog):
    """A list of methods to search, read about and tick.

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

    Attributes
    ----------
    rows : list of QTreeWidgetItem
        The listed methods; one may be in several groups.

    Signals
    -------
    chosen(str)
        Show this method in the form.
    runs_asked(list, bool)
        Run these methods; the second value is whether to tune them first.
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
        self.rows: list[QTreeWidgetItem] = []
        self.ticked: set[str] = set()
        self._make_parts()
        self._fill()
        self.tree.updateGeometry()
        self._go_to(chosen)
        self.search.setFocus()
        self.fit(_SIZE)

    def _make_parts(self) -> None:
        self.search = search_field("method_search")
        self.search.textChanged.connect(self._on_search)
        self.search.returnPressed.connect(self._choose)
        for key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            # As a shortcut: the area around the field would scroll by these keys.
            arrow = QShortcut(QKeySequence(key), self.search, partial(self._move_to_list, key))
            arrow.setContext(Qt.ShortcutContext.WidgetShortcut)
        self.tree = named(_Tree(), "method_tree")
        heads = control_words("method_tree")["choices"]
        self.tree.setHeaderLabels([*heads])
        for column, tip in enumerate(heads.values()):
            self.tree.headerItem().setData(column, _TIP, tip_text(tip))
        self.tree.setRootIsDecorated(False)
        self.tree.setItemsExpandable(False)
        self.tree.setIndentation(12)
        self.tree.setAllColumnsShowFocus(True)
        # With large text the description is scrolled, not the list squeezed.
        row = self.tree.fontMetrics().lineSpacing() + _ROW_AIR
        self.tree.setMinimumHeight(_LEAST_ROWS * row)
        header = self.tree.header()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        self.tree.currentItemChanged.connect(self._on_current)
        self.tree.itemChanged.connect(self._on_ticked)
        self.tree.itemActivated.connect(self._choose)
        self.title = label("", "title", name="method_chosen_title")
        self.words = label("", wrap=True, name="method_chosen_words")
        self.facts = label("", "muted", wrap=True, name="method_chosen_facts")
        self.problem = label("", "error", wrap=True, name="method_chooser_problem")
        self.problem.hide()
        verbs = {False: "run_methods_button", True: "tune_methods_button"}
        self.run, self.tune = (
            push_button(name, verb=partial(self._run, tuned=tuned), enter=False)
            for tuned, name in verbs.items()
        )
        self.close_button = push_button("close_methods_button", verb=self.reject, enter=False)
        self.choose = primary(push_button("choose_method_button", verb=self._choose, enter=False))
        hint = label("", "muted", name="methods_hint")
        hint.setWordWrap(True)
        buttons = WrappingRow()
        for button in (self.run, self.tune, None, self.close_button, self.choose):
            if button is None:
                buttons.addStretch(1)
            else:
                buttons.addWidget(button)
        about = (self.title, self.words, self.facts, self.problem)
        self.lay_out(down(self.search, hint, (self.tree, 1), *about), buttons)

    # ------------------------------------------------------------- the list

    def _fill(self) -> None:
        """List the groups; matches of a search are listed by family."""
        wanted = self.search.text().casefold().split()
        families: list[Group] = []
        for family, title in FAMILIES.items():
            keys = [k for k, m in METHODS.items() if m.family == family and _matches(k, wanted)]
            families.append((title, dict.fromkeys(keys, "")))
        self.tree.blockSignals(True)
        self.tree.clear()
        self.rows = []
        for title, methods in families if wanted else self._first + families:
            if methods:
                self._add_group(title, methods)
        self.tree.blockSignals(False)
        self.tree.fit()

    def _add_group(self, title: str, methods: Mapping[str, str]) -> None:
        head = QTreeWidgetItem(self.tree, [title])
        head.setFlags(Qt.ItemFlag.ItemIsEnabled)
        head.setFont(0, bold(self.tree.font()))
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
        takes = "used" if method.takes_missing else "filled in"
        time = "–" if outlook is None else outlook.words
        aims = method.trains_for, method.shape_words()
        item = QTreeWidgetItem(head, [method.in_words, method.title, *aims, takes, time])
        self.rows.append(item)
        item.setData(0, _KEY, key)
        item.setCheckState(0, _check(key in self.ticked))
        item.setData(0, _TIP, tip_text(method.summary))
        if outlook is not None:
            item.setData(_TIME, _TIP, tip_text(outlook.details))
            if outlook.problem:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
                for column in range(item.columnCount()):
                    item.setForeground(column, QColor(current_theme().muted))

    def _go_to(self, key: str) -> None:
        """Make the row of a method the current one, or the first row."""
        found = [row for row in self.rows if row.data(0, _KEY) == key] or self.rows[:1]
        if found:
            self.tree.setCurrentItem(found[0])
        else:
            self.tree.setCurrentIndex(QModelIndex())
        self._on_current()

    # ------------------------------------------------------------- choosing

    def current(self) -> str | None:
        """Return the method of the current row."""
        item = self.tree.currentItem()
        return None if item is None else item.data(0, _KEY)

    def asked(self) -> list[str]:
        """Return the ticked methods in the order of the list, or the current one."""
        ticked = [key for key in METHODS if key in self.ticked]
        return ticked or [key for key in (self.current(),) if key]

    def _move_to_list(self, key: Qt.Key) -> None:
        """Press an arrow key of the search field in the list."""
        self.tree.setFocus()
        event = QKeyEvent(QKeyEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier)
        QCoreApplication.sendEvent(self.tree, event)

    def show_problem(self, sentence: str) -> None:
        """Show why the requested methods cannot be run."""
        show_note(self.problem, sentence, "error")

    def _on_search(self) -> None:
        before, phrase = self.current() or "", self.search.text().strip().casefold()
        self._fill()
        shown = [row.data(0, _KEY) for row in self.rows]
        named = [key for key in shown if phrase and phrase in _name(key)]
        self._go_to(next(iter(named), before))

    def _on_ticked(self, item: QTreeWidgetItem, _column: int) -> None:
        key, on = item.data(0, _KEY), item.checkState(0) == Qt.CheckState.Checked
        if key is None or on == (key in self.ticked):
            return
        (self.ticked.add if on else self.ticked.discard)(key)
        for row in self.rows:  # a method may be in several groups
            if row.data(0, _KEY) == key:
                row.setCheckState(0, _check(on))
        self.tree.setCurrentItem(item)
        self._name_buttons()

    def _on_current(self, *_items: object) -> None:
        key = self.current()
        if key is None:
            unfound = f"No method matches “{self.search.text().strip()}”"
            self.title.setText("" if self.rows else unfound)
            show_note(self.words, "Search for a name, a family or what a method trains for.", "")
            show_note(self.facts, "")
        else:
            self.title.setText(METHODS[key].full_title())
            words, facts = self._describe(key)
            show_note(self.words, words, "")
            show_note(self.facts, facts)
        self._name_buttons()

    def _describe(self, key: str) -> tuple[str, str]:
        """Return what a method is for, and facts about it."""
        method, outlook = METHODS[key], self._outlooks.get(key)
        takes = "" if outlook is None else f" {as_sentence(outlook.details)}"
        aim = f"Trains for {AIMS[method.trains_for]}. {method.weights_words()}"
        return f"{method.use_when} {method.summary}", f"{aim}{takes} Source: {method.source}."

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.tree.scrollToTop()  # to the first heading, if the current method stays visible
        self.tree.scrollTo(self.tree.currentIndex())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep room for the longest description: rows must not move under the pointer."""
        super().resizeEvent(event)
        texts = zip(*map(self._describe, METHODS), strict=True)
        for shown, every in zip((self.words, self.facts), texts, strict=True):
            room = QRect(0, 0, self.tree.width(), 0)
            metrics, wrap = shown.fontMetrics(), Qt.TextFlag.TextWordWrap
            most = max(metrics.boundingRect(room, wrap, one).height() for one in every)
            shown.setMinimumHeight(most)
            shown.setAlignment(Qt.AlignmentFlag.AlignTop)

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
        # Ticked methods run together; the form can show only one.
        self.choose.setEnabled(key is not None and not self.ticked)
        why = as_sentence(text("choose_one_method")) if self.ticked else ""
        show_note(self.problem, why)
        plain_tooltip(self.choose, why)

    def _run(self, *, tuned: bool) -> None:
        self.runs_asked.emit(self.asked(), tuned)

    def _choose(self) -> None:
        if (key := self.current()) is not None and self.choose.isEnabled():
            self.chosen.emit(key)
            self.accept()


def _matches(key: str, wanted: Sequence[str]) -> bool:
    """Return whether the description of a method contains all words."""
    method = METHODS[key]
    aim, family = AIMS[method.trains_for], FAMILIES[method.family]
    parts = [key, method.title, method.in_words, method.family, family, method.trains_for, aim]
    parts += [method.shape_words(), method.use_when, method.summary, method.source]
    text = " ".join(parts).casefold()
    return all(word in text for word in wanted)


def _name(key: str) -> str:
    return f"{METHODS[key].in_words} {METHODS[key].title}".casefold()


def _check(on: bool) -> Qt.CheckState:
    return Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
