"""Row filters: conditions, class and predicted class."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from aucstudio.gui.common.controls import fill_combo
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import (
    ElidedCombo,
    across,
    down,
    enable_item,
    label,
    named,
    quietly,
    search_field,
    show_note,
)
from aucstudio.gui.pages.data.row_query import RowFilter
from aucstudio.gui.state.background import delayed
from aucstudio.notices import text
from aucstudio.project.data.table import Table
from aucstudio.project.survey.rows import (
    ALL,
    CHOSEN,
    FALSE_ALARM,
    HELD,
    MISRANKED,
    MISSED,
    TRAINED_ON,
    Condition,
)

_TYPING_MILLISECONDS = 300
_PARTS = {
    ALL: "All rows",
    HELD: "Held out",
    TRAINED_ON: "Trained on",
    MISRANKED: "In misranked pairs",
    FALSE_ALARM: "False positives",
    MISSED: "Missed positives",
    CHOSEN: "Chosen on another page",
}


class Filters(QWidget):
    """Controls of a row query; ``changed`` is emitted when the query changes."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        named(self, "data_filters", "Which rows are shown")
        self.row_filter = RowFilter()
        hint = "Filter rows, e.g. age >= 40; town = Bern; income missing"
        self.field = search_field("data_filter_edit", "Conditions on cells", hint)
        plain_tooltip(self.field, text("data_filter_tip"))
        self.class_combo = named(ElidedCombo(), "data_class_combo", "Class of the rows")
        self.part_combo = named(ElidedCombo(), "data_part_combo", "Predicted class")
        plain_tooltip(self.part_combo, text("data_part_tip"))
        for part, words in _PARTS.items():
            self.part_combo.addItem(words, part)
        self.count = label("", "muted", name="data_count")
        self.problem = label("", "error", wrap=True, name="data_problem")
        self.problem.hide()
        self.setLayout(down(across((self.field, 1), self.count), self.problem, gap=4))
        self._typing = delayed(self, _TYPING_MILLISECONDS, self._take)
        self.field.textChanged.connect(lambda _text: self._typing.start())
        self.field.returnPressed.connect(self._take)
        for combo in (self.class_combo, self.part_combo):
            combo.activated.connect(lambda _index: self._take())

    def offer(self, table: Table, has_run: bool) -> None:
        """Offer the classes of a table, and the parts of a run where there is one."""
        wanted: list[tuple[str, object]] = [("All classes", None)]
        wanted += [(name, name) for name in table.classes]
        wanted += [("Without a label", "")] if table.unlabelled else []
        fill_combo(self.class_combo, wanted)
        for part in _PARTS:
            here = part == ALL or (bool(self.row_filter.chosen) if part == CHOSEN else has_run)
            enable_item(self.part_combo, part, here)
        row_filter = self.row_filter
        if row_filter.of_class not in {data for _words, data in wanted}:
            row_filter = dataclasses.replace(row_filter, of_class=None)
        if not has_run and row_filter.part not in (ALL, CHOSEN):
            row_filter = dataclasses.replace(row_filter, part=ALL)
        self.put(row_filter)

    def put(self, row_filter: RowFilter) -> None:
        """Show another query without emitting a signal."""
        self.row_filter = row_filter
        self._typing.stop()
        if self._typed() != row_filter.text:
            quietly(self.field.setText, row_filter.text)
        _choose(self.class_combo, row_filter.of_class)
        enable_item(self.part_combo, CHOSEN, bool(row_filter.chosen))
        _choose(self.part_combo, row_filter.part)

    def ask(self, **changes: object) -> None:
        """Change the query, and notify."""
        row_filter = dataclasses.replace(self.row_filter, **changes)  # type: ignore[arg-type]
        if row_filter != self.row_filter:
            self.put(row_filter)
            self.changed.emit()

    def narrow(self, condition: Condition) -> None:
        """Add a condition."""
        parts = [part for part in (self._typed(), str(condition)) if part]
        self.ask(text="; ".join(dict.fromkeys(parts)))

    def show_count(self, shown: int, rows: int) -> None:
        """Show how many rows there are."""
        self.count.setText(f"{shown:,} of {rows:,} rows")

    def show_problem(self, words: str) -> None:
        """Show the error in the conditions, if any."""
        show_note(self.problem, words, "error")
        self.field.setProperty("invalid", bool(words))
        self.field.style().unpolish(self.field)
        self.field.style().polish(self.field)

    def _typed(self) -> str:
        return self.field.text().strip().rstrip(";").strip()

    def _take(self) -> None:
        self._typing.stop()
        self.ask(
            text=self._typed(),
            of_class=self.class_combo.currentData(),
            part=self.part_combo.currentData() or ALL,
        )


def _choose(combo: QComboBox, data: object) -> None:
    for k in range(combo.count()):
        # Not by findData, which takes None and an empty text for the same.
        if combo.itemData(k) == data and (combo.itemData(k) is None) == (data is None):
            combo.setCurrentIndex(k)
            return
