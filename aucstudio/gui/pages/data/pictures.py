"""Pages of missing values and correlations."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from aucstudio.gui.common.layouts import down
from aucstudio.gui.common.widgets import hint_label, make_combo, named
from aucstudio.gui.pages.data import words as saying
from aucstudio.gui.pages.data.grid_plots import CellMap, CorrelationPicture, GapPicture
from aucstudio.gui.pages.data.row_query import FoundRows, stop_if_asked
from aucstudio.gui.state.answer import Asker
from aucstudio.project.data.table import Table
from aucstudio.project.survey.classes import Classes
from aucstudio.project.survey.correlation import (
    PEARSON,
    SPEARMAN,
    Correlation,
    correlate,
    most_telling,
)
from aucstudio.project.survey.missing_pattern import GapMap, gap_columns, map_gaps


class _PicturePage(Asker, QWidget):
    """A picture or a hint in its place; ``said`` emits the conclusion."""

    said = Signal(object)

    def __init__(self, picture: CellMap, name: str, accessible: str) -> None:
        super().__init__()
        named(self, name, accessible)
        self.hint = hint_label(f"{name}_hint")
        self.hint.hide()
        self._answer = self.answer(self._on_result, self.said.emit)
        self.setLayout(down((picture.plot, 1), (self.hint, 1)))
        self.plot = picture.plot

    def forget(self) -> None:
        """Abandon the computation; the next picture is different."""
        self._answer.forget()

    def _begin(self, key: Any, work: Any) -> None:
        """Compute the picture, unless it is shown or on its way."""
        if key != self._answer.key:
            if self._answer.ask(key, work):
                self.said.emit("Computing…")
        elif not self._answer.busy:
            self._say()

    def _on_result(self, result: Any) -> None:
        self._show(self._answer.key, result)
        self._say()

    def _show_hint(self, text: str) -> None:
        """Show words in place of the picture, or the picture."""
        self.hint.setText(text)
        self.hint.setVisible(bool(text))
        self.plot.setVisible(not text)

    @abstractmethod
    def _show(self, key: Any, result: Any) -> None:
        """Draw the computed content."""

    @abstractmethod
    def _say(self) -> None:
        """Show in words what the picture shows."""


class GapPage(_PicturePage):
    """Where values are missing, in the rows that are shown and in their order.

    Signals
    -------
    clicked(int, str)
        A row of the table, and a column.
    """

    clicked = Signal(int, str)

    def __init__(self) -> None:
        self.picture = GapPicture()
        super().__init__(self.picture, "data_gaps", "Missing values")
        self._shown: tuple[FoundRows, int] | None = None
        self.picture.clicked.connect(self._on_click)

    def show_found(self, found: FoundRows) -> None:
        """Show the gaps of rows."""
        columns = found.asked.table.columns
        chosen = gap_columns(columns)
        left_out = sum(column.missing > 0 for column in columns) - len(chosen)

        def work(post: Any) -> GapMap:
            return map_gaps(chosen, found.rows, found.classes, lambda: stop_if_asked(post))

        self._begin((found, left_out), work)

    def _show(self, key: tuple[FoundRows, int], result: GapMap) -> None:
        self._shown = key
        self.picture.show(result, key[0].classes)
        empty = not result.missing.size
        self._show_hint("Nothing is missing" if not result.columns else "No rows" if empty else "")

    def retheme(self) -> None:
        """Draw what is shown in the present theme."""
        if self._shown is not None and self.picture.found is not None:
            self.picture.show(self.picture.found, self._shown[0].classes)

    def _say(self) -> None:
        found = self.picture.found
        if self._shown is not None and found is not None:
            shown, left_out = self._shown
            self.said.emit(saying.gaps_sentence(found, len(shown.rows), left_out))

    def _on_click(self, column: int, line: int) -> None:
        found = self.picture.found
        if self._shown is not None and found is not None:
            row = self._shown[0].rows[found.starts[line]]
            self.clicked.emit(int(row), found.columns[column])


class CorrelationPage(_PicturePage):
    """Which columns of numbers go together.

    Signals
    -------
    clicked(str)
        A column; its pair is framed.
    """

    clicked = Signal(str)

    def __init__(self) -> None:
        self.picture = CorrelationPicture()
        super().__init__(self.picture, "data_correlation", "Correlation of columns")
        self.kind_combo = make_combo("data_correlation_combo", "Coefficient")
        for words, kind in (("Spearman (ranks)", SPEARMAN), ("Pearson (values)", PEARSON)):
            self.kind_combo.addItem(words, kind)
        self.kind_combo.hide()
        self._of: tuple[Table, Classes | None] | None = None
        self._pair: tuple[int, int] | None = None
        self._left_out = 0
        self.kind_combo.currentIndexChanged.connect(self._on_kind)
        self.picture.clicked.connect(self._on_click)

    def show_table(self, table: Table, classes: Classes | None) -> None:
        """Show how the columns of numbers of a table go together."""
        self._of = table, classes
        kind = str(self.kind_combo.currentData())
        columns = [column for column in table.columns if column.role == "number"]

        def work(post: Any) -> Correlation:
            def stop() -> None:
                stop_if_asked(post)

            return correlate(most_telling(columns, classes, stop), kind, stop)

        self._begin((table, kind, len(columns)), work)

    def forget(self) -> None:
        super().forget()
        self._pair = None

    def _show(self, key: tuple[Table, str, int], result: Correlation) -> None:
        self._left_out = key[2] - len(result.columns)
        self.picture.show(result, self._pair)
        few = len(result.columns) < 2
        self._show_hint("Fewer than two features are numbers" if few else "")

    def retheme(self) -> None:
        """Draw what is shown in the present theme."""
        if self.picture.found is not None:
            self.picture.show(self.picture.found, self._pair)

    def _say(self) -> None:
        found = self.picture.found
        if found is not None and self._of is not None:
            kind, rows = str(self.kind_combo.currentData()), self._of[0].rows
            self.said.emit(
                saying.correlation_sentence(found, kind, rows, self._left_out, self._pair)
            )

    def _on_kind(self) -> None:
        if self._of is not None:
            self.show_table(*self._of)

    def _on_click(self, column: int, line: int) -> None:
        assert self.picture.found is not None
        self._pair = column, line
        self.picture.mark(self._pair)
        self._say()
        self.clicked.emit(self.picture.found.columns[line])
