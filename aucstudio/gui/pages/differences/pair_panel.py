"""The two rows of a pair, and the columns that decide their ranking."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QWidget,
)

from aucstudio.gui.common.table import Row, SheetTable
from aucstudio.gui.common.widgets import (
    across,
    data_button,
    down,
    label,
    named,
    push_button,
    show_note,
)
from aucstudio.gui.pages.differences.words import margin_words, row_name
from aucstudio.gui.state.background import Answer
from aucstudio.project.data.table import Table
from aucstudio.project.explain.pair_detail import ColumnShare, PairDetail, explain_pair
from aucstudio.project.runs.experiments.experiment import DataReference
from aucstudio.project.runs.models.model import Model

_ROW, _MOST_ROWS, _LEAST = 24, 4, 72
_HEADED = 440
_TIPS = {
    1: "Cells as in the table",
    2: "Cells as in the table",
    3: "z: positive minus negative, as preprocessing scales them",
    4: "What the column adds to the positive's lead over the negative. Linear scores: w·z. "
    "Other scores: how much of the lead is lost when the two rows swap this column",
}


class PairPanel(QWidget):
    """The selected pair, column by column; the most important columns come first.

    Attributes
    ----------
    stepped : Signal(int)
        Select the next (+1) or the previous (−1) worst pair.
    closed, data_asked : Signal
    detail : PairDetail or None
    """

    stepped = Signal(int)
    closed = Signal()
    data_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        named(self, "pair_panel", "The two rows of a pair")
        self.detail: PairDetail | None = None
        self._classes, self._unit = ("", ""), "sd"
        self._answer = Answer[PairDetail](self, self._show, self._on_failed)
        self.heading = label("", "title", name="pair_heading")
        self.message = label("", "muted", name="pair_words", wrap=True)
        heads = ("Column", "", "", "Difference (sd)", "To the lead")
        self.table = SheetTable("pair_table", "Columns of the two rows", heads, _ROW, tips=_TIPS)
        self.table.setMinimumHeight(_LEAST)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.table.horizontalHeader().setMaximumSectionSize(240)
        self.data_button = data_button("pair_data_button", self.data_asked.emit)
        back, on, close = (
            push_button(f"{name}_button", words, tip, verb)
            for words, name, tip, verb in (
                (
                    "Pre&vious",
                    "pair_previous",
                    "The next worse pair (Shift+F8)",
                    lambda: self.stepped.emit(-1),
                ),
                (
                    "&Next",
                    "pair_next",
                    "The pair ranked next worst (F8)",
                    lambda: self.stepped.emit(1),
                ),
                ("C&lose", "pair_close", "Deselect the pair", self.closed.emit),
            )
        )
        head = across((self.heading, 1), back, on, self.data_button, close)
        self.setLayout(down(head, self.message, self.table, gap=4))
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The table's head names the rows too.
        self.heading.setVisible(self.width() >= _HEADED)

    # ------------------------------------------------------------- showing

    def show_pair(
        self, table: Table, data: DataReference, model: Model, rows: tuple[int, int]
    ) -> None:
        """Show a pair; its contributions are computed in the background."""
        request = table, model, rows
        if request != self._answer.key:
            first, second = (row_name(row) for row in rows)
            self.heading.setText(f"{first.capitalize()} against {second}")
            self._classes = model.positive, model.negative
            self._unit = model.preparation.choice.unit
            self.message.setText("computing the reasons for this ranking…")
            self._answer.ask(
                request, lambda _post: explain_pair(data.with_scores(table), model, rows)
            )
        self.show()

    def show_nothing(self) -> None:
        """Hide and stop the computation."""
        self._answer.forget()
        self.detail = None
        self.hide()

    def _on_failed(self, words: str) -> None:
        self.detail = None
        self.table.show_rows([])
        show_note(self.message, words, "error")

    def _show(self, detail: PairDetail) -> None:
        self.detail = detail
        names = [
            f"{row_name(row).capitalize()} ({kind})"
            for row, kind in zip(detail.rows, self._classes, strict=True)
        ]
        difference = f"Difference ({self._unit})"
        heads = self.table.sheet.heads
        heads = (heads[0], *names, difference, heads[4])
        self.table.show_rows([_row(part) for part in detail.parts], heads)
        # Complete rows only: half a row looks like an error.
        seen = min(len(detail.parts), _MOST_ROWS)
        head = self.table.horizontalHeader().sizeHint().height()
        self.table.setMaximumHeight(max(_LEAST, head + seen * _ROW + 2))
        show_note(self.message, " ".join(_decided(detail)))


def _row(part: ColumnShare) -> Row:
    difference = "–" if part.difference != part.difference else _signed(part.difference, ".2f")
    cells = (part.column, *part.cells, difference, _signed(part.contribution, ".3g"))
    return Row(cells)


def _signed(value: float, digits: str) -> str:
    return format(value, f"+{digits}").replace("-", "−")


def _decided(detail: PairDetail) -> list[str]:
    """State the margin of the pair, and the columns that contribute most."""
    words = [f"{margin_words(detail.margin).capitalize()}."]
    against = [part for part in detail.parts if part.contribution * _side(detail.margin) > 0][:3]
    if against:
        names = ", ".join(
            f"{part.column} ({_signed(part.contribution, '.2g')})" for part in against
        )
        words.append(f"The main reasons are {names}.")
    if abs(detail.interplay) > 0.005 * max(abs(detail.margin), 1e-12):
        words.append(f"Interactions of columns: {_signed(detail.interplay, '.2g')}.")
    return words


def _side(margin: float) -> float:
    return -1.0 if margin < 0 else 1.0
