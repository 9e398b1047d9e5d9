"""Save models, scores, pictures, numbers, reports and experiments."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QInputDialog, QWidget

from aucstudio.gui.common import printing, prompts
from aucstudio.gui.desk.actions import Actions
from aucstudio.gui.desk.deck import Deck
from aucstudio.gui.dialogs.export_figure import ExportFigureDialog
from aucstudio.gui.dialogs.export_model import ExportModelDialog
from aucstudio.gui.dialogs.scoring.dialog import ScoreTableDialog
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import Session
from aucstudio.project.errors import InputError
from aucstudio.project.results.report import write_model_card, write_report
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.experiments.experiment_writing import command_line, write_study
from aucstudio.project.store.files import write_atomically
from aucstudio.project.store.sheets import write_rows
from aucstudio.project.work.job import Job, describe_failure

_COPY_DPI = 2 * printing.SCREEN_DPI
_REPORT_SHEET = printing.Sheet(width=170.0, height=120.0, font=9.0)
_PAGES = "Web page (*.html);;Markdown (*.md)"


class Exports(QObject):
    """Answers the actions that write files or fill the clipboard.

    Parameters
    ----------
    window : QWidget
        Parent of the dialogs.
    session : Session
    deck : Deck
        Its active view is the one that is saved and copied.
    verbs : Actions
    """

    def __init__(self, window: QWidget, session: Session, deck: Deck, verbs: Actions) -> None:
        super().__init__(window)
        self._window, self._session, self._deck, self._verbs = window, session, deck, verbs
        self._writing = Background(self, self._on_written)
        verbs.export_model.triggered.connect(self._on_model)
        verbs.score_table.triggered.connect(self._on_score)
        verbs.export_figure.triggered.connect(self._on_figure)
        verbs.export_figure_data.triggered.connect(self._on_figure_data)
        verbs.copy_figure.triggered.connect(self._on_copy)
        verbs.copy_figure_data.triggered.connect(self._on_copy_data)
        deck.offer_in_pictures(verbs.of_picture())
        verbs.export_report.triggered.connect(self._on_report)
        verbs.model_card.triggered.connect(self._on_card)
        verbs.export_script.triggered.connect(self._on_script)

    def refresh(self) -> None:
        """Offer what there is something of."""
        session, verbs = self._session, self._verbs
        chosen = session.run(session.selected)
        shows_views = session.table is not None or bool(session.shown_runs())
        has_figure = shows_views and bool(self._deck.active().plots())
        has_model = chosen is not None and bool(chosen.record.splits)
        verbs.export_model.setEnabled(has_model)
        verbs.score_table.setEnabled(has_model)
        verbs.model_card.setEnabled(has_model)
        verbs.export_script.setEnabled(chosen is not None)
        verbs.export_report.setEnabled(any(run.record.splits for run in session.shown_runs()))
        verbs.export_figure.setEnabled(has_figure)
        verbs.copy_figure.setEnabled(has_figure)
        verbs.export_figure_data.setEnabled(shows_views)
        verbs.copy_figure_data.setEnabled(shows_views)

    def _on_model(self) -> None:
        chosen = self._session.run(self._session.selected)
        if chosen is None or not chosen.record.splits:
            return
        ExportModelDialog(self._session, chosen, self._window).ask()

    def _on_score(self) -> None:
        chosen = self._session.run(self._session.selected)
        if chosen is None or not chosen.record.splits:
            return
        ScoreTableDialog(self._session, chosen, self._window).ask(modal=False)

    def _on_figure(self) -> None:
        ExportFigureDialog(self._session, self._deck.active(), self._window).ask()

    def _on_figure_data(self) -> None:
        view, columns = self._deck.active(), self._columns()
        if not columns:
            return
        suggested = f"{view.title.lower()}.csv"
        path = prompts.ask_save_path(
            self._window, "Save the numbers behind the picture", suggested, "CSV (*.csv)"
        )
        if path:
            self._write(lambda: write_atomically(Path(path), columns_as_csv(columns)), path)

    def _columns(self) -> Mapping[str, Sequence[object] | np.ndarray[Any, Any]]:
        """Return the numbers of the active view, or say that there are none."""
        view = self._deck.active()
        columns = view.figure_data()
        if not columns:
            self._session.told.emit(f"{view.title} shows no numbers yet: run a method first")
        return columns

    def _on_copy_data(self) -> None:
        columns = self._columns()
        if columns:
            QGuiApplication.clipboard().setText(columns_as_csv(columns, "\t"))
            self._session.told.emit("Numbers copied")

    def _on_copy(self) -> None:
        printing.copy_to_clipboard(printing.on_screen(self._deck.active()), _COPY_DPI)
        self._session.told.emit("Picture copied")

    def _on_report(self) -> None:
        path = prompts.ask_save_path(self._window, "Save the report", "report.html", _PAGES)
        if path:
            runs = {r.look.name: r.record for r in self._session.shown_runs() if r.record.splits}
            first, active = self._deck.made(self._deck.pages[0]), self._deck.active()
            first.refresh()
            views = {view.title: view for view in (first, active) if view.plots()}
            pictures = {t: printing.draw(view, _REPORT_SHEET).svg() for t, view in views.items()}
            band = self._session.plan.band
            self._write(lambda: write_report(Path(path), runs, band, pictures), path)

    def _on_card(self) -> None:
        chosen = self._session.run(self._session.selected)
        if chosen is None:
            return
        columns = [name for name, _role in chosen.record.experiment.data.roles]
        none = "(no subgroups)"
        answer, accepted = QInputDialog.getItem(
            self._window,
            "Save model card",
            "Results by subgroups of the column:",
            [none, *columns],
            editable=False,
        )
        if not accepted:
            return
        by = [] if answer == none else [answer]
        path = prompts.ask_save_path(self._window, "Save the model card", "model-card.html", _PAGES)
        if path:
            look, record, band = chosen.look, chosen.record, self._session.plan.band
            self._write(
                lambda: write_model_card(Path(path), look.name, record, band, by, look.notes), path
            )

    def _on_script(self) -> None:
        chosen = self._session.run(self._session.selected)
        if chosen is None:
            return
        path = prompts.ask_save_path(
            self._window,
            "Save a file that repeats this run",
            "run.toml",
            "Experiment (*.toml);;Shell script (*.sh)",
        )
        if path:
            text = _script(chosen.record.experiment, Path(path), self._deck.side_by_side())
            self._write(lambda: write_atomically(Path(path), text), path)

    def _write(self, write: Callable[[], object], path: str) -> None:
        """Write in the background: a report of many runs takes a while."""
        self._writing.finish()
        self._writing.start(path, lambda _post: write())

    def _on_written(self, path: str, job: Job[object, object]) -> None:
        if job.error is None:
            self._session.told.emit(f"Saved {path}")
        elif isinstance(job.error, InputError):
            self._session.failed.emit(str(job.error), "")
        else:
            self._session.failed.emit(*describe_failure(job.error))


def columns_as_csv(
    columns: Mapping[str, Sequence[object] | np.ndarray[Any, Any]], delimiter: str = ","
) -> str:
    """Write columns as CSV with a header; numbers keep every digit they have.

    What is missing, NaN included, is an empty cell.
    """
    text = io.StringIO()
    write_rows(text, [columns, *zip(*columns.values(), strict=True)], delimiter)
    return text.getvalue()


def _script(experiment: Experiment, path: Path, views: Sequence[str]) -> str:
    """Write what repeats an experiment: a command for a shell script, else an experiment file."""
    if path.suffix == ".sh":
        return f"#!/bin/sh\n{command_line(experiment)}\n"
    return write_study([experiment], path.resolve().parent, views)
