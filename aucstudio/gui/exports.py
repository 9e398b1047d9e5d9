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
from aucstudio.gui.dialogs.scoring import ScoreTableDialog
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.errors import InputError
from aucstudio.project.results.report import write_model_card, write_report
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.experiments.experiment_file import command_line, write_study
from aucstudio.project.store.files import write_atomically
from aucstudio.project.store.scores_file import write_rows
from aucstudio.project.work.job import Job, describe_failure

_COPY_DPI = 2 * printing.SCREEN_DPI
_REPORT_SHEET = printing.Sheet(width=170.0, height=120.0, font=9.0)
_PAGES = "Web page (*.html);;Markdown (*.md)"
_SCRIPTS = "Experiment (*.toml);;Shell script (*.sh)"


class Exports(QObject):
    """Handles the actions that write files or fill the clipboard.

    Parameters
    ----------
    window : QWidget
        Parent of the dialogs.
    session : Session
    deck : Deck
        Its active view is the one that is saved and copied.
    actions : Actions
    """

    def __init__(self, window: QWidget, session: Session, deck: Deck, actions: Actions) -> None:
        super().__init__(window)
        self._window, self._session, self._deck, self._actions = window, session, deck, actions
        self._writing = Background(self, self._on_written)
        for action, verb in (
            (actions.export_model, self._on_model),
            (actions.score_table, self._on_score),
            (actions.export_figure, self._on_figure),
            (actions.export_figure_data, self._on_figure_data),
            (actions.copy_figure, self._on_copy),
            (actions.copy_figure_data, self._on_copy_data),
            (actions.export_report, self._on_report),
            (actions.model_card, self._on_card),
            (actions.export_script, self._on_script),
        ):
            action.triggered.connect(verb)
        deck.offer_in_pictures(actions.of_picture())

    def refresh(self) -> None:
        """Enable the actions that have something to export."""
        session, actions = self._session, self._actions
        chosen = session.run(session.selected)
        shows_views = session.table is not None or bool(session.shown_runs())
        has_figure = shows_views and bool(self._deck.active().plots())
        has_model = chosen is not None and bool(chosen.record.splits)
        has_results = any(run.record.splits for run in session.shown_runs())
        for group, enabled in (
            ((actions.export_model, actions.score_table, actions.model_card), has_model),
            ((actions.export_script,), chosen is not None),
            ((actions.export_report,), has_results),
            ((actions.export_figure, actions.copy_figure), has_figure),
            ((actions.export_figure_data, actions.copy_figure_data), shows_views),
        ):
            for action in group:
                action.setEnabled(enabled)

    def _chosen(self) -> ShownRun:
        """Return the chosen run; the actions of a run are enabled only if there is one."""
        run = self._session.run(self._session.selected)
        assert run is not None
        return run

    def _on_model(self) -> None:
        ExportModelDialog(self._session, self._chosen(), self._window).ask()

    def _on_score(self) -> None:
        ScoreTableDialog(self._session, self._chosen(), self._window).ask(modal=False)

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
        """Return the numbers of the active view; report it if there are none."""
        view = self._deck.active()
        columns = view.figure_data()
        if not columns:
            self._session.message.emit(f"{view.title} shows no numbers yet: run a method first")
        return columns

    def _on_copy_data(self) -> None:
        columns = self._columns()
        if columns:
            QGuiApplication.clipboard().setText(columns_as_csv(columns, "\t"))
            self._session.message.emit("Numbers copied")

    def _on_copy(self) -> None:
        printing.copy_to_clipboard(printing.on_screen(self._deck.active()), _COPY_DPI)
        self._session.message.emit("Picture copied")

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
        chosen = self._chosen()
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
        experiment = self._chosen().record.experiment
        title, filters = "Save a file that repeats this run", _SCRIPTS
        path = prompts.ask_save_path(self._window, title, "run.toml", filters)
        if path:
            text = _script(experiment, Path(path), self._deck.side_by_side())
            self._write(lambda: write_atomically(Path(path), text), path)

    def _write(self, write: Callable[[], object], path: str) -> None:
        """Write in the background: a report of many runs takes a while."""
        self._writing.finish()
        self._writing.start(path, lambda _post: write())

    def _on_written(self, path: str, job: Job[object, object]) -> None:
        if job.error is None:
            self._session.message.emit(f"Saved {path}")
        elif isinstance(job.error, InputError):
            self._session.failed.emit(str(job.error), "")
        else:
            self._session.failed.emit(*describe_failure(job.error))


def columns_as_csv(
    columns: Mapping[str, Sequence[object] | np.ndarray[Any, Any]], delimiter: str = ","
) -> str:
    """Return columns as CSV with a header; numbers keep every digit, missing values are empty."""
    text = io.StringIO()
    write_rows(text, [columns, *zip(*columns.values(), strict=True)], delimiter)
    return text.getvalue()


def _script(experiment: Experiment, path: Path, views: Sequence[str]) -> str:
    """Return an experiment as a shell script or an experiment file, by the ending of the path."""
    if path.suffix == ".sh":
        return f"#!/bin/sh\n{command_line(experiment)}\n"
    return write_study([experiment], path.resolve().parent, views)
