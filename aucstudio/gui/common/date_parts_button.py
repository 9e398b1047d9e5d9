"""Button that chooses the parts of dates used in training."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import named
from aucstudio.notices.words import counted
from aucstudio.project.data.columns import ColumnInfo
from aucstudio.project.data.date_parts import PARTS, WHOLE, offered
from aucstudio.project.data.text import dates

_TITLES = {
    "year": "Year",
    "quarter": "Quarter",
    "month": "Month",
    "month-circle": "Month, cyclic",
    "week": "Week of the year",
    "day": "Day of the month",
    "yearday": "Day of the year",
    "weekday": "Day of the week",
    "weekday-circle": "Day of the week, cyclic",
    "weekend": "Weekend",
    "hour": "Hour",
    "hour-circle": "Hour, cyclic",
    "minute": "Minute",
    "daytime": "Part of the day",
}


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

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, name, "Parts of the dates used in training")
        self.setProperty("role", "link")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.list = named(_Staying(self), f"{name}_menu", "Parts of the dates")
        self.list.setToolTipsVisible(True)
        self.setMenu(self.list)
        self._column: ColumnInfo | None = None
        self.list.aboutToHide.connect(self._on_closed)

    @staticmethod
    def fits(column: ColumnInfo) -> bool:
        """Return whether a column has date parts used in training."""
        return column.is_date and column.role == "number"

    def show_column(self, column: ColumnInfo) -> None:
        """Offer the parts of a column of dates."""
        self._column = column
        self.list.clear()
        for part in offered(column.layout):
            clock = column.layout == dates.CLOCK
            whole = "Hours as one number" if clock else "Days as one number"
            action = self.list.addAction(whole if part == WHOLE else _TITLES[part])
            action.setObjectName(f"{self.objectName()}_{part}")
            action.setCheckable(True)
            action.setChecked(part in (column.parts or (WHOLE,)))
            plain_tooltip(action, f"{column.name}: {PARTS[part]}")
        count = len(column.parts)
        self.setText(counted(count, "part") if count else "Parts")
        taken = ", ".join(column.parts) if count else "days as one number"
        self.setAccessibleName(f"Parts of {column.name} used in training")
        plain_tooltip(
            self, f"Parts of {column.name} used in training: {taken}. Choose parts of the date"
        )

    def ticked(self) -> tuple[str, ...]:
        """Return the ticked parts; empty for the number alone."""
        parts = () if self._column is None else offered(self._column.layout)
        listed = zip(parts, self.list.actions(), strict=True)
        found = tuple(part for part, action in listed if action.isChecked())
        return () if found == (WHOLE,) else found

    def _on_closed(self) -> None:
        if self._column is not None and self.ticked() != self._column.parts:
            self.chosen.emit(self._column.name, self.ticked())
