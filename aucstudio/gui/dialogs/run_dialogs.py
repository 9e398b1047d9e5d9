"""Dialogs of the Run menu: find the best model, add scores, connect to a cluster."""

from __future__ import annotations

import contextlib
from typing import Any

from PySide6.QtCore import QLocale
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QWidget,
)

from aucstudio.engine import METHODS, declared_params
from aucstudio.engine.params import InvalidSetting
from aucstudio.gui.common import prompts
from aucstudio.gui.common.form import Form, RangeBox, choice_box, number_box
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import (
    FIELD_MARGINS,
    STRETCH,
    across,
    answers,
    check_box,
    dialog_buttons,
    down,
    holding,
    label,
    make_combo,
    named,
    primary,
    push_button,
    set_role,
    show_note,
)
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.state.session import Session
from aucstudio.notices.words import as_sentence
from aucstudio.project.data.readers.registry import dialog_filter
from aucstudio.project.data.score_file import Joined, join_scores, read_score_file
from aucstudio.project.data.splitting.validation import FORWARD
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.planning import MARKER, score_columns
from aucstudio.project.work.job import Job

_WIDTH = 440
_LEAST_MINUTES, _MOST_MINUTES = 0.1, 10_080.0
_ABOUT = (
    "Methods are compared by how well they rank in this range of false-positive rates; 0 … 1 "
    "is the whole AUC. The best one is tested on held-out rows that no choice has used, then "
    "refit on all rows."
)
_NOT_IN_TIME = (
    "Validation is forward in time, but this search holds out rows and draws folds at random. "
    "For figures forward in time, run the best method afterwards or test it on a later file."
)


class FindBestDialog(Dialog):
    """Asks for the FPR range and the time limit.

    Parameters
    ----------
    session : Session
        With a table.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("find_best_dialog", "Find the best", parent)
        self._session = session
        ends = "Lowest false-positive rate", "Highest false-positive rate"
        self.band = RangeBox("best", *ends)
        self.band.setValue(session.plan.band)
        minutes, most = preferences().now.best_minutes, _MOST_MINUTES
        self.minutes = number_box(
            "best_minutes", "Time limit in minutes", _LEAST_MINUTES, most, value=minutes
        )
        self.minutes.setLocale(QLocale.c())
        self.minutes.setFixedWidth(scaled(96))
        self.rows = label("", "muted", wrap=True, name="best_rows")
        self.caution = label("", "warning", wrap=True, name="best_caution")
        self.problem = label("", "error", wrap=True, name="best_problem")
        self.ends = answers(self, "find_best", self._on_start, "&Begin")
        self._lay_out()
        self._warn()

    def _lay_out(self) -> None:
        about = label(_ABOUT, "muted", wrap=True, name="best_about")
        form = Form(
            ("FPR &range", self.band),
            ("&Minutes", self.minutes, "Time limit; Stop ends the search at any time"),
        )
        notes = (self.rows, self.caution, self.problem)
        self.setLayout(down(about, form, *notes, STRETCH, self.ends, gap=12, around=16))
        self.setMinimumWidth(scaled(_WIDTH))

    def _warn(self) -> None:
        """Show which rows are held out, and warn where they are few."""
        # Imports libraries that the start page does without.
        from aucstudio.project.tournament.search import few_rows_words, plan_words

        table = self._session.table
        words = ""
        self.rows.setText(plan_words(self._session.plan.validation))
        if table is not None and table.positive is not None:
            validation = self._session.plan.validation
            with contextlib.suppress(InputError):  # shown when the search starts
                words = few_rows_words(table, validation)
            if validation.scheme == FORWARD:
                words = f"{words} {_NOT_IN_TIME}".strip()
        show_note(self.caution, words, "warning")
        show_note(self.problem, "", "error")

    def _on_start(self) -> None:
        minutes = self.minutes.value()
        try:
            self._session.best.begin(self.band.value(), minutes)
        except (InputError, InvalidSetting) as error:
            show_note(self.problem, as_sentence(str(error)), "error")
            return
        preferences().put(best_minutes=minutes)
        self.accept()


_GIVEN_SCORES_WIDTH = 420
_GIVEN_SCORES_ABOUT = (
    "The column becomes a run: nothing is trained, and its scores are compared with those of "
    "other runs on the same held-out rows. Rows without a score are left out."
)
_TABLE, _FILE = "table", "file"
_SOURCES = {_TABLE: "A column of the table", _FILE: "A separate file"}
_NO_COLUMN = "The table has no number column besides the label."


class GivenScoresDialog(prompts.Dialog):
    """Asks for the column of scores, its direction, and whether it stays a feature.

    A file of scores is read and joined to the table in the background.

    Parameters
    ----------
    session : Session
        With a table that has two classes.

    Attributes
    ----------
    joined : Joined or None
        The scores of a file, joined to the rows of the table.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("given_scores_dialog", "Add scores", parent)
        assert session.table is not None
        self._session, self._table = session, session.table
        self._scores: Table | None = None
        self.joined: Joined | None = None
        self._problem = ""
        self._work = Background(self, self._on_finished)
        self.source = choice_box("score_source", "Where the scores are", _SOURCES)
        self.choose = push_button(
            *("score_file_button", "C&hoose…", "", self._on_choose),
            accessible="Choose the score file",
        )
        self.file_name = label("none chosen", "muted", wrap=True, name="score_file_name")
        self.column = make_combo("score_column", "Column that holds the scores")
        self.key = make_combo("score_key", "Row identifier in the file")
        self.identifier = make_combo("score_identifier", "Row identifier in the table")
        self.identifier.addItems(self._row_columns())
        choices = declared_params(METHODS[MARKER])["direction"].choices
        directions = {key: words[0].upper() + words[1:] for key, words in choices.items()}
        self.direction = choice_box("score_direction", "Direction of the scores", directions)
        self.learnt = check_box("score_learnt", "&Also use it as a feature of other methods")
        self.matched = label("", "muted", wrap=True, name="given_scores_matched")
        self.problem = label("", "error", wrap=True, name="given_scores_problem")
        self.ends = answers(self, "given_scores", self._on_add, "&Add")
        self._lay_out()
        for combo in (self.column, self.key, self.identifier):
            combo.activated.connect(lambda _place: self.join())
        self.source.currentIndexChanged.connect(self._on_source)
        self._on_source()

    def _lay_out(self) -> None:
        self._file_row = holding(across((self.file_name, 1), self.choose))
        self._form = Form(
            ("Scores are in", self.source),
            ("File", self._file_row),
            ("Column", self.column),
            ("Row names", self.key),
            ("In the table", self.identifier),
            ("Positive is", self.direction),
        )
        about = label(_GIVEN_SCORES_ABOUT, "muted", wrap=True, name="given_scores_about")
        notes = (self.learnt, self.matched, self.problem)
        self.setLayout(down(about, self._form, *notes, self.ends, gap=12, around=16))
        self.setMinimumWidth(_GIVEN_SCORES_WIDTH)
        self.source.setFocus()

    @property
    def _of_file(self) -> bool:
        return bool(self.source.currentData() == _FILE)

    def _row_columns(self) -> list[str]:
        return [column.name for column in self._table.columns if column.role != "label"]

    def _on_source(self) -> None:
        source = self._scores if self._of_file else self._table
        self.column.clear()
        self.column.addItems([] if source is None else list(score_columns(source)))
        if self._of_file:
            self.join()
        self.learnt.setVisible(not self._of_file)
        for field in (self._file_row, self.key, self.identifier):
            self._form.setRowVisible(field, self._of_file)
        self._refresh()
        self.adjustSize()

    def _refresh(self) -> None:
        """Show the matched rows, or why there is nothing to add."""
        joined, problem = self.joined, self._problem
        if not self._of_file:
            joined, problem = None, "" if self.column.count() else _NO_COLUMN
        show_note(self.matched, "" if joined is None else joined.sentence(), "muted")
        show_note(self.problem, problem, "error")
        ready = joined is not None if self._of_file else not problem
        self.ends.button(QDialogButtonBox.StandardButton.Ok).setEnabled(ready)

    # ------------------------------------------------------------- a file

    def _on_choose(self) -> None:
        path = prompts.ask_open_path(self, "Scores to add", dialog_filter())
        if path:
            self.read(path)

    def read(self, path: str) -> None:
        """Start to read a file."""
        self._scores, self.joined, self._problem = None, None, ""
        self.file_name.setText(path.rpartition("/")[2])
        plain_tooltip(self.file_name, path)
        self._work.start(path, lambda _post: read_score_file(path))
        self._refresh()

    def join(self) -> None:
        """Start to join the scores by the chosen columns."""
        scores, table = self._scores, self._table
        if scores is None:
            return
        self.joined, self._problem = None, ""
        chosen = [combo.currentText() for combo in (self.column, self.key, self.identifier)]
        if chosen[0]:
            self._work.start(chosen, lambda _post: join_scores(table, scores, *chosen))
        else:
            self._problem = f"{scores.path} has no column of numbers."
        self._refresh()

    def _on_finished(self, _key: object, job: Job[Any, Table | Joined]) -> None:
        if job.error is not None:
            self._problem = str(job.error)
        elif isinstance(job.result, Joined):
            self.joined = job.result
        elif isinstance(job.result, Table):
            self._scores = job.result
            self._match()
            self._on_source()
        self._refresh()

    def _match(self) -> None:
        """Choose the columns that identify rows: the identifier, or a name in both tables."""
        assert self._scores is not None
        names = [column.name for column in self._scores.columns]
        self.key.clear()
        self.key.addItems(names)
        known = [column.name for column in self._table.columns if column.role == "id"]
        both = [name for name in self._row_columns() if name in names]
        found = [name for name in known if name in names] or known or both or [""]
        self.identifier.setCurrentIndex(max(0, self.identifier.findText(found[0])))
        self.key.setCurrentIndex(max(0, self.key.findText(found[0])))

    # ------------------------------------------------------------- ending

    def _on_add(self) -> None:
        column, joined = self.column.currentText(), self.joined if self._of_file else None
        try:
            self._session.runs.run_scores(self.direction.currentData(), column, joined)
            if not self._of_file and not self.learnt.isChecked():
                self._session.keep_from_methods(column)
        except InputError as error:
            show_note(self.problem, str(error), "error")
            return
        self.accept()

    def done(self, result: int) -> None:
        """Cancel and close."""
        self._work.drop()
        super().done(result)


_EXAMPLE = "tcp://host:8786"
_CLUSTER_ABOUT = (
    "Runs and searches are sent to the workers of a Dask scheduler until you disconnect or "
    "close the window. Anyone who can reach the scheduler can run code on its workers, and "
    "their results are trusted here: use only a scheduler that you control."
)
_AT_WORK = " A run is in progress: stop it or wait for it to finish before you disconnect."


class ClusterDialog(Dialog):
    """Connects to a scheduler, and disconnects from it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("cluster_dialog", "Cluster", parent)
        self.setMinimumWidth(560)
        self._session, self._link = session, session.runs.cluster
        self.words = label("", wrap=True, name="cluster_words")
        self.words.setAccessibleName("Connection status")
        self.words.setMinimumHeight(2 * self.words.fontMetrics().lineSpacing())
        self.buttons = dialog_buttons(QDialogButtonBox.StandardButton.Close, name="cluster")
        self.buttons.rejected.connect(self.reject)
        title, about = (
            label("Work on other machines", "title"),
            label(_CLUSTER_ABOUT, "muted", wrap=True),
        )
        parts = (title, about, self._address_row(), self.words, STRETCH, self.buttons)
        self.setLayout(down(*parts, around=16))
        self._link.changed.connect(self.refresh)
        session.listen(self.refresh, "live")
        self.refresh()

    def _address_row(self) -> QHBoxLayout:
        title = label("&Scheduler")
        self.address = named(QLineEdit(self._link.address), "cluster_address", "Scheduler")
        self.address.setPlaceholderText(_EXAMPLE)
        plain_tooltip(self.address, f"Address of the Dask scheduler, such as {_EXAMPLE}")
        self.address.setTextMargins(*FIELD_MARGINS)
        title.setBuddy(self.address)
        self.toggle = primary(push_button("cluster_toggle", "&Connect", "", self._on_toggle))
        self.toggle.setDefault(True)
        self.address.textChanged.connect(self.refresh)
        return across(title, (self.address, 1), self.toggle)

    def refresh(self) -> None:
        """Show the state of the connection."""
        link = self._link
        engaged = link.connecting or link.workers is not None
        self.address.setReadOnly(engaged)
        text = "Cancel" if link.connecting else "Disconnect" if engaged else "Connect"
        self.toggle.setText(f"&{text}")
        self.toggle.setAccessibleName(text)
        at_work = link.workers is not None and self._session.live is not None
        self.toggle.setEnabled(not at_work and (engaged or bool(self._typed())))
        self.words.setText(link.words + (_AT_WORK if at_work else ""))
        set_role(self.words, "error" if link.trouble and not engaged else "")

    def _typed(self) -> str:
        return self.address.text().strip()

    def _on_toggle(self) -> None:
        if self._link.connecting or self._link.workers is not None:
            self._link.disconnect_from()
        else:
            self._link.connect_to(self._typed())
