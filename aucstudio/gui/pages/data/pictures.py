"""The two pictures of the page with what is worked out for them: gaps and correlations."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from aucstudio.gui.common.widgets import hint_label, make_combo, named
from aucstudio.gui.pages.data import words as saying
from aucstudio.gui.pages.data.lookup import FoundRows, stop_if_asked
from aucstudio.gui.pages.data.maps import CellMap, CorrelationPicture, GapPicture
from aucstudio.gui.state.background import Background
from aucstudio.project.data.table import Table
from aucstudio.project.survey.classes import Classes
from aucstudio.project.survey.correlation import (
    PEARSON,
    SPEARMAN,
    Correlation,
    correlate,
    most_telling,
)
from aucstudio.project.survey.gaps import GapMap, gap_columns, map_gaps
from aucstudio.project.work.job import Job, describe_failure


class _PicturePage(QWidget):
    """A picture, or words where there is none; ``said`` tells the sentence of the page."""

    said = Signal(object)

    def __init__(self, picture: CellMap, name: str, accessible: str) -> None:
        super().__init__()
        named(self, name, accessible)
        self.hint = hint_label(f"{name}_hint")
        self.hint.hide()
        self._work = Background(self, self._on_job)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(picture.plot, stretch=1)
        layout.addWidget(self.hint, stretch=1)
        self._plot = picture.plot

    def busy(self) -> bool:
        """Return whether the picture is being worked out."""
        return self._work.busy

    def forget(self) -> None:
        """Leave what is being worked out; the next picture is of something else."""
        self._work.drop()

    def _begin(self, key: Any, work: Any) -> None:
        """Work something out, if it is not what is shown or under way already."""
        if key == self._work.key:
            if not self._work.busy:
                self._say()
            return
        self._work.start(key, work)
        if self._work.busy:
            self.said.emit("Working it out…")

    def _on_job(self, key: Any, job: Job[float, Any]) -> None:
        if job.error is not None:
            self.said.emit(describe_failure(job.error)[0])
            return
        self._show(key, job.result)
        self._say()

    def _show_hint(self, text: str) -> None:
        """Show words in place of the picture, or the picture."""
        self.hint.setText(text)
        self.hint.setVisible(bool(text))
        self._plot.setVisible(not text)

    @abstractmethod
    def _show(self, key: Any, result: Any) -> None:
        """Draw what was worked out."""

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

    def controls(self) -> list[QWidget]:
        """List what belongs above the picture."""
        return [self.kind_combo]

    def show_controls(self, shown: bool) -> None:
        """Show them, or not."""
        self.kind_combo.setVisible(shown)

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
