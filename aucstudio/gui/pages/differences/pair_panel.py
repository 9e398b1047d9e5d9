"""The two rows of a pair side by side: which columns decided which of them scores higher."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.table import Row, SheetModel
from aucstudio.gui.common.widgets import data_button, label, named, tell
from aucstudio.gui.pages.differences.words import margin_words, row_name
from aucstudio.gui.state.background import Background
from aucstudio.project.data.table import Table
from aucstudio.project.explain.pair_detail import ColumnShare, PairDetail, explain_pair
from aucstudio.project.runs.experiments.experiment import DataReference
from aucstudio.project.runs.models.model import Model
from aucstudio.project.work.job import Job, describe_failure

_ROW, _MOST_ROWS, _LEAST = 24, 4, 72
_HEADED = 440
_TIPS = {
    1: "Cells as the table has them",
    2: "Cells as the table has them",
    3: "z: positive minus negative, as preprocessing scales them",
    4: "What the column adds to the positive's lead over the negative. Linear scores: w·z. "
    "Other scores: how much of the lead is lost when the two rows swap this column",
}


class PairPanel(QWidget):
    """The pair that is pointed at, column by column; the ones that decided come first.

    Attributes
    ----------
    stepped : Signal(int)
        The next (+1) or the previous (−1) worst pair is asked for.
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
        self._work = Background(self, self._land)
        self.heading = label("", "title", name="pair_heading")
        self.told = label("", "muted", name="pair_words", wrap=True)
        self.model = SheetModel(
            ("Column", "", "", "Difference (sd)", "To the lead"), _TIPS, (0,), self
        )
        self.table = named(QTableView(), "pair_table", "Columns of the two rows")
        self._dress_table()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(self._head())
        layout.addWidget(self.told)
        layout.addWidget(self.table)
        self.hide()

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.heading, stretch=1)
        row.addStretch(0)
        for words, name, tip, verb in (
            ("Pre&vious", "pair_previous", "The next worse pair (Shift+F8)", self._on_previous),
            ("&Next", "pair_next", "The pair ranked next worst (F8)", self._on_next),
            ("C&lose", "pair_close", "Point at no pair", self.closed.emit),
        ):
            button = named(QPushButton(words), f"{name}_button", tip)
            plain_tooltip(button, tip)
            button.clicked.connect(verb)
            row.addWidget(button)
        self.data_button = data_button("pair_data_button")
        self.data_button.clicked.connect(self.data_asked.emit)
        row.insertWidget(row.count() - 1, self.data_button)
        return row

    def _dress_table(self) -> None:
        table = self.table
        table.setModel(self.model)
        table.setShowGrid(False)
        table.setMinimumHeight(_LEAST)
        table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        table.setWordWrap(False)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        table.verticalHeader().setVisible(False)
        table.verticalHeader().setDefaultSectionSize(_ROW)
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setMaximumSectionSize(240)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The table's head names the rows too.
        self.heading.setVisible(self.width() >= _HEADED)

    def _on_previous(self) -> None:
        self.stepped.emit(-1)

    def _on_next(self) -> None:
        self.stepped.emit(1)

    # ------------------------------------------------------------- showing

    def show_pair(
        self, table: Table, data: DataReference, model: Model, rows: tuple[int, int]
    ) -> None:
        """Show a pair as a model sees it; returns at once, the figures follow."""
        request = table, model, rows
        if request != self._work.key:
            first, second = (row_name(row) for row in rows)
            self.heading.setText(f"{first.capitalize()} against {second}")
            self._classes = model.positive, model.negative
            self._unit = model.preparation.choice.unit
            self.told.setText("working out what decided this pair…")
            self._work.start(
                request, lambda _post: explain_pair(data.with_scores(table), model, rows)
            )
        self.show()

    def show_nothing(self) -> None:
        """Hide, and stop what is being worked out."""
        self._work.drop()
        self.detail = None
        self.hide()

    def busy(self) -> bool:
        """Return whether figures are on their way."""
        return self._work.busy

    def _land(self, _key: object, job: Job[None, PairDetail]) -> None:
        if job.error is not None:
            self.detail = None
            self.model.show_rows([])
            tell(self.told, describe_failure(job.error)[0], "error")
            return
        assert job.result is not None
        detail = self.detail = job.result
        names = [
            f"{row_name(row).capitalize()} ({kind})"
            for row, kind in zip(detail.rows, self._classes, strict=True)
        ]
        difference = f"Difference ({self._unit})"
        self.model.heads = (self.model.heads[0], *names, difference, self.model.heads[4])
        self.model.show_rows([_row(part) for part in detail.parts])
        # Whole rows: half a row looks like a fault, and an empty one like a gap.
        seen = min(len(detail.parts), _MOST_ROWS)
        head = self.table.horizontalHeader().sizeHint().height()
        self.table.setMaximumHeight(max(_LEAST, head + seen * _ROW + 2))
        tell(self.told, " ".join(_decided(detail)))


def _row(part: ColumnShare) -> Row:
    difference = "–" if part.difference != part.difference else _signed(part.difference, ".2f")
    cells = (part.column, *part.cells, difference, _signed(part.contribution, ".3g"))
    return Row(cells)


def _signed(value: float, digits: str) -> str:
    return format(value, f"+{digits}").replace("-", "−")


def _decided(detail: PairDetail) -> list[str]:
    """Describe what the pair's margin is, and which columns made most of it."""
    words = [f"{margin_words(detail.margin).capitalize()}."]
    against = [part for part in detail.parts if part.contribution * _side(detail.margin) > 0][:3]
    if against:
        names = ", ".join(
            f"{part.column} ({_signed(part.contribution, '.2g')})" for part in against
        )
        words.append(f"It was decided by {names}.")
    if abs(detail.interplay) > 0.005 * max(abs(detail.margin), 1e-12):
        words.append(f"Columns together, beyond one at a time: {_signed(detail.interplay, '.2g')}.")
    return words


def _side(margin: float) -> float:
    return -1.0 if margin < 0 else 1.0
