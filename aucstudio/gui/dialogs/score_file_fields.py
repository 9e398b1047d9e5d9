"""A file of scores, and which columns match its rows with those of the table."""

from __future__ import annotations

import dataclasses
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget

from aucstudio.gui.common import prompts
from aucstudio.gui.common.boxes import across, holding
from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.widgets import label, make_combo, named
from aucstudio.gui.state.background import Background
from aucstudio.project.data.readers.registry import dialog_filter
from aucstudio.project.data.score_file import Joined, join_scores, read_score_file
from aucstudio.project.data.table import Table
from aucstudio.project.runs.given_scores import score_columns
from aucstudio.project.work.job import Job


@dataclasses.dataclass(frozen=True)
class _Asked:
    """What is to be joined."""

    path: str
    column: str = ""
    key: str = ""
    identifier: str = ""


class ScoreFileFields(QObject):
    """The fields of a file; reading and joining are done beside the window.

    Parameters
    ----------
    table : Table
        Whose rows are to have the scores.
    columns : QComboBox
        Which column holds the scores: filled with those of the file.
    parent : QWidget

    Attributes
    ----------
    changed : Signal
        Something was read or joined, or could not be.
    joined : Joined or None
    problem : str
        Why there is none, as far as that is known.
    """

    changed = Signal()

    def __init__(self, table: Table, columns: QComboBox, parent: QWidget) -> None:
        super().__init__(parent)
        self._table, self._columns, self._parent = table, columns, parent
        self._scores: Table | None = None
        self.joined: Joined | None = None
        self.problem = ""
        self.choose = named(QPushButton("C&hoose…"), "score_file_button", "Choose the score file")
        self.file_name = label("none chosen", "muted", wrap=True, name="score_file_name")
        self.key = make_combo("score_key", "Column of the file that names the rows")
        self.identifier = make_combo("score_identifier", "Column of the table that names the rows")
        self.identifier.addItems(
            [column.name for column in table.columns if column.role != "label"]
        )
        self.choose.clicked.connect(self._on_choose)
        for combo in (columns, self.key, self.identifier):
            combo.activated.connect(lambda _at: self.join())
        self._background = Background(self, self._on_landed)
        self.destroyed.connect(self._background.stop)

    def file_row(self) -> QWidget:
        """Make the row with the file's name and the button."""
        return holding(across((self.file_name, 1), self.choose))

    @property
    def has_file(self) -> bool:
        """Whether a file was read."""
        return self._scores is not None

    def fill(self) -> None:
        """List the columns of the file that can be scores."""
        self._columns.clear()
        if self._scores is not None:
            self._columns.addItems(score_columns(self._scores))

    def take(self, path: str) -> None:
        """Begin to read a file."""
        self._forget()
        self.file_name.setText(path.rpartition("/")[2])
        plain_tooltip(self.file_name, path)
        self._background.start(_Asked(path), lambda _post: read_score_file(path))

    def join(self) -> None:
        """Begin to join the scores by the chosen columns."""
        scores, table = self._scores, self._table
        if scores is None:
            return
        asked = _Asked(
            str(scores.path),
            self._columns.currentText(),
            self.key.currentText(),
            self.identifier.currentText(),
        )
        self.joined, self.problem = None, ""
        if not asked.column:
            self.problem = f"{asked.path} has no column of numbers."
            self.changed.emit()
            return
        self._background.start(
            asked,
            lambda _post: join_scores(table, scores, asked.column, asked.key, asked.identifier),
        )

    def _on_choose(self) -> None:
        path = prompts.ask_open_path(self._parent, "Scores to add", dialog_filter())
        if path:
            self.take(path)

    def _forget(self) -> None:
        self._scores = self.joined = None
        self.problem = ""
        self.changed.emit()

    def _on_landed(self, asked: _Asked, job: Job[Any, Table | Joined]) -> None:
        if job.error is not None:
            self.problem = str(job.error)
        elif isinstance(job.result, Joined):
            self.joined = job.result
        elif isinstance(job.result, Table):
            self._scores = job.result
            self._match()
            self.fill()
            self.join()
        self.changed.emit()

    def _match(self) -> None:
        """Propose the columns that name the rows: the study's identifier, or one name in both."""
        assert self._scores is not None
        names = [column.name for column in self._scores.columns]
        self.key.clear()
        self.key.addItems(names)
        own = [column for column in self._table.columns if column.role != "label"]
        known = [column.name for column in own if column.role == "id"]
        both = [column.name for column in own if column.name in names]
        identifier = next(iter([n for n in known if n in names] or known or both), "")
        self.identifier.setCurrentIndex(max(0, self.identifier.findText(identifier)))
        self.key.setCurrentIndex(max(0, self.key.findText(identifier)))
