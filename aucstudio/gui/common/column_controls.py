"""Findings about the columns of a table, and the choice of the parts of a date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QFrame, QMenu, QPushButton, QToolButton, QWidget

from aucstudio.gui.common.buttons import fold_mark, link_button, push_button
from aucstudio.gui.common.layouts import LEFT, Part, across, discard, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import label, named
from aucstudio.notices import text
from aucstudio.notices.controls import control_words
from aucstudio.notices.words import counted
from aucstudio.project.data.columns import Column, ColumnInfo
from aucstudio.project.data.finding import TIME_ORDER, Finding
from aucstudio.project.data.preparing.preparation_choice import PreparationChoice
from aucstudio.project.data.preparing.scales import levels_left_out
from aucstudio.project.data.table import Table
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.dates import PARTS, WHOLE, useful
from aucstudio.project.data.validation import FORWARD

# Kinds that the card shows by its fields, cautions and notes.
_QUIET = ("label", "positive", "ignored", "missing", "import_encoding")
_MARGINS = (10, 6, 6, 8)
_MOST = 20  # rows; a table of a thousand columns may have as many findings

# The words on the button, the change of roles, and the text of undo.
Action = tuple[str, dict[str, Any], str]


def is_loud(finding: Finding) -> bool:
    """Return whether a finding may need an action, and is no remark on how the file was read."""
    return finding.kind not in _QUIET and finding.code not in _QUIET


def levels_words(columns: Iterable[Column], choice: PreparationChoice) -> str:
    """Name a category of which only the most frequent levels are used; empty if there is none."""
    lost = [(column, left) for column in columns if (left := levels_left_out(column, choice))]
    if not lost:
        return ""
    (column, left), count = lost[0], lost[0][0].distinct
    facts = {"name": column.name, "count": count, "kept": count - left}
    return text("levels_unused", more=len(lost) - 1 or None, **facts)


def actions(finding: Finding, table: Table) -> list[Action]:
    """Return the actions on a finding, the most likely first."""
    columns = [column for column in table.columns if column.name in finding.columns]
    if not columns or len(columns) < len(finding.columns):
        return []
    names, first = [column.name for column in columns], columns[0]
    several = f" in {len(names)} columns" if len(names) > 1 else ""
    shown = f"{len(names)} columns" if several else names[0]
    used = [column.name for column in columns if column.role != "ignore"]
    words = "Ignore columns" if several else "Ignore column"
    ignore = [(words, {"ignore": used}, f"Ignore {shown}")] if used else []
    if finding.code == TIME_ORDER:
        forward = {"validation": {"scheme": FORWARD, "time": names[0]}}
        words = "Validate forward in time"
        return [(words, forward, words)]
    if finding.kind == "identifier":
        is_one = not several and first.distinct == first.height - first.missing
        use = ("Use as identifier", {"roles": {names[0]: "id"}}, f"{shown} as identifier")
        return [use, *ignore] if is_one else ignore
    if finding.kind == "leak":
        return ignore
    if finding.code == "sign_may_be_missing":
        missing = (*table.dialect.missing, *finding.values)
        return [("Read as missing", {"dialect": {"missing": missing}}, "")]
    if finding.kind == "kind" and finding.values:  # codes
        words = "Make them categories" if several else "Make it a category"
        return [(words, {"roles": dict.fromkeys(names, "category")}, f"{shown} as category")]
    if finding.code == "import_unreadable" and not table.limited.keys().isdisjoint(names):
        return [(f"Read as {way}", {"dialect": {"limits": way}}, "") for way in ("limit", "half")]
    if finding.kind == "group" and not several:
        return [("Keep together", {"roles": {names[0]: "group"}}, f"Group by {shown}"), *ignore]
    if finding.code == "may_be_weights":
        return [("Use as weight", {"roles": {names[0]: "weight"}}, f"Weight rows by {shown}")]
    if finding.kind == "sentinel":
        numbers = tuple(map(float, finding.values))
        absent = {column.name: (*column.absent, *numbers) for column in columns}
        words = "Treat as missing" if len(numbers) > 1 else f"Treat {finding.values[0]} as missing"
        return [(words + several, {"absent": absent}, f"{words}: {shown}")]
    if finding.kind == "spelling":
        of_label = names == [table.label]
        merge = {"merge": True} if of_label else {"same": {names[0]: True}}
        words = "Merge spellings"
        return [(words, merge, words if of_label else f"{words} of {shown}")]
    return []


def role_words(role: str, column: ColumnInfo | None = None) -> str:
    """Return the name of a role, which for a column of dates or times is what it holds."""
    if role == "number" and column is not None and column.is_date:
        return "Time" if column.layout == dates.CLOCK else "Date"
    return str(control_words("column_role")["choices"][role])


class FindingRows(QWidget):
    """Findings below each other; all but the first are folded.

    A finding stays in its place after an action on it, with Undo, as long as the action holds.

    Signals
    -------
    asked(dict, str)
        A change of roles, and its text for undo; an empty one undoes the last change.
    """

    asked = Signal(dict, str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("findings")
        self.more = link_button("findings_more")
        self.more.toggled.connect(self._show_others)
        self._rows: list[QWidget] = []
        self._shown: tuple[list[tuple[Finding, list[Action]]], list[str]] = [], []
        self._others = 0
        self._lines = down((self.more, LEFT))
        self.setLayout(self._lines)
        self._show_rows()

    def show_findings(
        self, findings: Sequence[Finding], table: Table | None, done: Sequence[str] = ()
    ) -> None:
        """Show the findings about a table, but for the quiet kinds.

        ``done`` are the texts of undo of the changes that hold, the last one at the end.
        """
        loud = [one for one in findings if is_loud(one)] if table is not None else []
        offered = [(one, actions(one, table)) for one in loud if table is not None]
        offered.sort(key=lambda pair: not pair[1])  # what can be answered comes first
        for place, (finding, found) in enumerate(self._shown[0]):
            if any(undo in done for *_, undo in found):
                offered = [pair for pair in offered if pair[0] != finding]
                offered.insert(place, (finding, found))
        if (offered, [*done]) != self._shown:
            self._shown = offered, [*done]
            self._show_rows()

    def _show_rows(self) -> None:
        focus = QApplication.focusWidget()
        name = focus.objectName() if focus is not None and self.isAncestorOf(focus) else ""
        for row in self._rows:
            self._lines.removeWidget(row)
            discard(row)
        self._rows = [self._row(*numbered) for numbered in enumerate(self._shown[0][:_MOST])]
        for place, row in enumerate(self._rows):
            # The others are below the button that shows them.
            self._lines.insertWidget(place + (place > 0), row)
        self._others = max(0, len(self._shown[0]) - 1)
        self.more.setVisible(self._others > 0)
        self.setVisible(bool(self._rows))
        self._show_others(self.more.isChecked())
        if name and (button := self.findChild(QPushButton, name)) is not None:
            button.setFocus()

    def _show_others(self, shown: bool) -> None:
        for place, row in enumerate(self._rows):
            row.setVisible(shown or place == 0)
        count = counted(self._others, "more finding")
        beyond = self._others + 1 - len(self._rows)
        hidden = f", the first {len(self._rows) - 1} shown" if shown and beyond > 0 else ""
        self.more.setText(f"{fold_mark(shown)} {count}{hidden}")

    def _row(self, place: int, about: tuple[Finding, list[Action]]) -> QWidget:
        (finding, found), done = about, self._shown[1]
        made = QFrame(self)
        made.setObjectName(f"finding_{place}")
        made.setProperty("role", "finding" if place == 0 else "")
        sentence = finding.sentence[:1].upper() + finding.sentence[1:]
        role = "muted" if place else ""
        parts: list[Part] = [label(sentence, role, wrap=True, name=f"finding_{place}_sentence")]
        taken = next((undo for *_, undo in found if undo in done), "")
        buttons = across()
        for n, (words, change, undo) in enumerate([("Undo", {}, taken)] if taken else found):
            said = f"{words}: {taken or ', '.join(finding.columns)}"
            verb, name = partial(self.asked.emit, change, undo), f"finding_{place}_action_{n}"
            buttons.addWidget(button := push_button(name, words, "", verb, accessible=said))
            button.setEnabled(not taken or taken == done[-1])
            plain_tooltip(
                button, "" if button.isEnabled() else text("undo_later_first", done=done[-1])
            )
        buttons.addStretch(1)
        made.setLayout(
            down(*parts, *([buttons] if found else []), gap=4, around=0 if place else _MARGINS)
        )
        return made


class _Staying(QMenu):
    """A menu that stays open when an entry is ticked."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not _tick(self.actionAt(event.position().toPoint())):
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Space or not _tick(self.activeAction()):
            super().keyPressEvent(event)


def _tick(action: QAction | None) -> bool:
    """Trigger a checkable action; return whether it is one."""
    if action is None or not action.isCheckable():
        return False
    action.trigger()
    return True


class DatePartsButton(QToolButton):
    """Shows the number of chosen parts of a date column, and a menu to choose them.

    Signals
    -------
    chosen(str, tuple)
        A column and its parts, when the menu is closed and they have changed.
    """

    chosen = Signal(str, tuple)

    def __init__(self, name: str) -> None:
        super().__init__()
        named(self, name, "Parts of the dates used in training")
        self.setProperty("role", "link")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.list = named(_Staying(self), f"{name}_menu", "Parts of the dates")
        self.list.setToolTipsVisible(True)
        self.setMenu(self.list)
        self._column: Column | None = None
        self.list.aboutToHide.connect(self._on_closed)

    @staticmethod
    def fits(column: ColumnInfo) -> bool:
        """Return whether a column has date parts used in training."""
        return column.is_date and column.role == "number"

    def show_column(self, column: Column) -> None:
        """Offer the parts of a column of dates used as a number; hide for another column."""
        self.setVisible(self.fits(column))
        if not self.fits(column):
            return
        self._column = column
        self.list.clear()
        titles = control_words("date_parts")["choices"]
        clock = column.layout == dates.CLOCK
        whole = "Hours as one number" if clock else "Days as one number"
        for part in useful(column):
            action = self.list.addAction(whole if part == WHOLE else titles[part])
            action.setObjectName(f"{self.objectName()}_{part}")
            action.setData(part)
            action.setCheckable(True)
            action.setChecked(part in (column.parts or (WHOLE,)))
            plain_tooltip(action, f"{column.name}: {PARTS[part]}")
        count = len(set(column.parts) - {WHOLE})
        self.setText(counted(count, "part") if count else "Parts")
        taken = ", ".join(column.parts) or whole.lower()
        self.setAccessibleName(f"Parts of {column.name} used in training")
        plain_tooltip(
            self, f"Parts of {column.name} used in training: {taken}. Choose parts of the date"
        )

    def ticked(self) -> tuple[str, ...]:
        """Return the ticked parts; empty for the number alone."""
        ticked = [action for action in self.list.actions() if action.isChecked()]
        found = tuple(action.data() for action in ticked)
        return () if found == (WHOLE,) else found

    def _on_closed(self) -> None:
        if self._column is not None and self.ticked() != self._column.parts:
            self.chosen.emit(self._column.name, self.ticked())
