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
from aucstudio.gui.common.buttons import answers, check_box, dialog_buttons, primary, push_button
from aucstudio.gui.common.form import Form, RangeBox, choice_box, number_box
from aucstudio.gui.common.layouts import STRETCH, across, down, holding
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.theme import fix_width, scaled
from aucstudio.gui.common.widgets import FIELD_MARGINS, label, named, set_role, show_note
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.notices.words import as_sentence
from aucstudio.project.data.readers.formats import dialog_filter
from aucstudio.project.data.score_file import Joined, join_scores, read_score_file
from aucstudio.project.data.table import Table
from aucstudio.project.data.validation import FORWARD
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiment import MARKER
from aucstudio.project.runs.planning import score_columns
from aucstudio.project.work.job import Job

_WIDTH, _MINUTES_WIDTH = 440, 96
_LEAST_MINUTES, _MOST_MINUTES = 0.1, 10_080.0


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
        self.band = RangeBox("best")
        self.band.setValue(session.plan.band)
        self.minutes = number_box("best_minutes", _LEAST_MINUTES, _MOST_MINUTES)
        self.minutes.setValue(preferences().now.best_minutes)
        self.minutes.setLocale(QLocale.c())
        fix_width(self.minutes, _MINUTES_WIDTH)
        self.rows = label("", "muted", wrap=True, name="best_rows")
        self.caution = label("", "warning", wrap=True, name="best_caution")
        self.problem = label("", "error", wrap=True, name="best_problem")
        self.ends = answers(self, "find_best", self._on_start, "&Begin")
        about = label("", "muted", wrap=True, name="best_about")
        parts = (about, Form(self.band, self.minutes), self.rows, self.caution, self.problem)
        self.lay_out(down(*parts, STRETCH, gap=12), self.ends)
        self.setMinimumWidth(scaled(_WIDTH))
        self.band.valueChanged.connect(self._forget_problem)
        self.minutes.valueChanged.connect(self._forget_problem)
        self._forget_problem()
        self._warn()

    def _forget_problem(self) -> None:
        show_note(self.problem, "", "error")

    def _warn(self) -> None:
        """Show which rows are held out, and warn where they are few."""
        # Imports libraries that the start page does without.
        from aucstudio.project.tournament.search import few_rows_words, plan_words

        table, validation, words = self._session.table, self._session.plan.validation, ""
        groups = None if table is None else table.groups
        rows = [plan_words(validation, grouped=groups is not None)]
        if groups is not None:
            columns, kept = groups.columns, groups.describe()
            rows.append(text("groups_note", columns=columns, groups=kept))
        self.rows.setText(" ".join(rows))
        if table is not None and table.positive is not None:
            with contextlib.suppress(InputError):  # shown when the search starts
                words = few_rows_words(table, validation)
            if validation.scheme == FORWARD:
                words = f"{words} {text('best_not_in_time')}".strip()
        show_note(self.caution, words, "warning")

    def _on_start(self) -> None:
        minutes = self.minutes.value()
        try:
            self._session.best.begin(self.band.value(), minutes)
        except (InputError, InvalidSetting) as error:
            show_note(self.problem, as_sentence(str(error)), "error")
            return
        preferences().put(best_minutes=minutes)
        self.accept()


_FILE = "file"  # the source of scores that is not the table


class GivenScoresDialog(Dialog):
    """Asks for the column of scores, its direction, and whether it stays a feature.

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
        self.source = choice_box("score_source")
        self.choose = push_button("score_file_button", verb=self._on_choose)
        self.file_name = label("none chosen", "muted", wrap=True, name="score_file_name")
        self.column = choice_box("score_column")
        self.key = choice_box("score_key")
        self.identifier = choice_box("score_identifier")
        self.identifier.addItems(self._row_columns())
        choices = declared_params(METHODS[MARKER])["direction"].choices
        directions = {key: words[0].upper() + words[1:] for key, words in choices.items()}
        self.direction = choice_box("score_direction", directions)
        self.learnt = check_box("score_learnt")
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
        rows = self.column, self.key, self.identifier, self.direction
        self._form = Form(self.source, ("File", self._file_row), *rows)
        about = label("", "muted", wrap=True, name="given_scores_about")
        notes = (self.learnt, self.matched, self.problem)
        self.lay_out(down(about, self._form, *notes, gap=12), self.ends)
        self.setMinimumWidth(scaled(_WIDTH))
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
            joined, problem = None, "" if self.column.count() else text("no_score_column")
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
        title = label("Work on other machines", "title")
        about = label("", "muted", wrap=True, name="cluster_about")
        self.lay_out(down(title, about, self._address_row(), self.words, STRETCH), self.buttons)
        self.toggle.setDefault(True)  # possible only inside of a dialog
        self._link.changed.connect(self.refresh)
        session.listen(self.refresh, "live")
        self.refresh()

    def _address_row(self) -> QHBoxLayout:
        title = label("&Scheduler")
        self.address = named(QLineEdit(self._link.address), "cluster_address")
        self.address.setTextMargins(*FIELD_MARGINS)
        title.setBuddy(self.address)
        self.toggle = primary(push_button("cluster_toggle", verb=self._on_toggle))
        self.address.textChanged.connect(self.refresh)
        return across(title, (self.address, 1), self.toggle)

    def refresh(self) -> None:
        """Show the state of the connection."""
        link = self._link
        engaged = link.connecting or link.workers is not None
        self.address.setReadOnly(engaged)
        verb = "Cancel" if link.connecting else "Disconnect" if engaged else "Connect"
        self.toggle.setText(f"&{verb}")
        self.toggle.setAccessibleName(verb)
        at_work = link.workers is not None and self._session.live is not None
        self.toggle.setEnabled(not at_work and (engaged or bool(self._typed())))
        self.words.setText(link.words + (f" {text('cluster_at_work')}" if at_work else ""))
        set_role(self.words, "error" if link.trouble and not engaged else "")

    def _typed(self) -> str:
        return self.address.text().strip()

    def _on_toggle(self) -> None:
        if self._link.connecting or self._link.workers is not None:
            self._link.disconnect_from()
        else:
            self._link.connect_to(self._typed())
