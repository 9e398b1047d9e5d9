"""Save models, scores, pictures, numbers, reports and experiments."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from aucstudio.gui.common import printing, prompts
from aucstudio.gui.desk.actions import Actions
from aucstudio.gui.desk.deck import Deck
from aucstudio.gui.dialogs.export_figure import ExportFigureDialog
from aucstudio.gui.dialogs.export_model import ExportModelDialog, KeptChoice
from aucstudio.gui.dialogs.scoring import ScoreTableDialog
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.results.report import write_model_card, write_report
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.experiment_file import command_line, write_study
from aucstudio.project.store.files import write_atomically
from aucstudio.project.store.scores_file import CsvForm, write_csv

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
        self._export_choices: dict[str, KeptChoice] = {}
        self._files = prompts.FileWriter(
            window, lambda path: session.message.emit(f"Saved {path}"), session.failed.emit
        )
        actions.connect_verbs(
            export_model=self._on_export_model,
            score_table=lambda: ScoreTableDialog(session, self._chosen(), window).ask(modal=False),
            export_figure=lambda: ExportFigureDialog(session, deck.active(), window).ask(),
            export_figure_data=self._on_figure_data,
            copy_figure=self._on_copy,
            copy_figure_data=self._on_copy_data,
            export_report=self._on_report,
            model_card=self._on_card,
            export_script=self._on_script,
        )
        deck.offer_in_pictures(actions.of_picture())
        deck.active_changed.connect(self.refresh)
        session.listen(self.refresh, "table", "runs", "selection")
        self.refresh()

    def refresh(self) -> None:
        """Enable the actions that have something to export."""
        session, actions = self._session, self._actions
        chosen = session.run(session.selected)
        shows_views = session.table is not None or bool(session.shown_runs())
        has_model = chosen is not None and bool(chosen.record.splits)
        has_results = bool(session.checked_runs())
        actions.enable("export_model score_table model_card", has_model)
        actions.enable("export_script", chosen is not None)
        actions.enable("export_report", has_results)
        figures = "export_figure copy_figure export_figure_data copy_figure_data"
        actions.enable(figures, shows_views)

    def _on_export_model(self) -> None:
        run, kept = self._chosen(), self._export_choices
        ExportModelDialog(self._session, run, self._window, kept).ask()

    def _chosen(self) -> ShownRun:
        """Return the chosen run; the actions of a run are enabled only if there is one."""
        run = self._session.run(self._session.selected)
        assert run is not None
        return run

    def _on_figure_data(self) -> None:
        view, columns = self._deck.active(), self._columns()
        if columns:
            title, suggested = "Save the numbers behind the picture", f"{view.title.lower()}.csv"
            text = columns_as_csv(columns)
            self._files.ask(
                title, suggested, "CSV (*.csv)", lambda path: write_atomically(path, text)
            )

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
        checked = [run for run in self._session.shown_runs() if run.look.visible]
        unfinished = [run for run in checked if not run.record.splits]
        named = [*self._session.checked_runs(), *unfinished]
        runs = {run.look.name: run.record for run in named}
        first, active = self._deck.view(self._deck.names[0]), self._deck.active()
        first.refresh()
        views = {view.title: view for view in (first, active)}
        pictures = {t: printing.draw(view, _REPORT_SHEET).svg() for t, view in views.items()}
        band, table = self._session.plan.band, self._session.table
        more = [block for view in self._deck.made_views() for block in view.report_blocks()]
        self._files.ask(
            "Save the report",
            "report.html",
            _PAGES,
            lambda path: write_report(path, runs, band, pictures, table, more),
        )

    def _on_card(self) -> None:
        chosen, none = self._chosen(), "(no subgroups)"
        columns = [name for name, _role in chosen.record.experiment.data.roles]
        title, question = "Save model card", "Results by subgroups of the column:"
        answer = prompts.ask_item(self._window, title, question, [none, *columns])
        if answer is None:
            return
        by = [] if answer == none else [answer]
        look, record, band = chosen.look, chosen.record, self._session.plan.band
        self._files.ask(
            "Save the model card",
            "model-card.html",
            _PAGES,
            lambda path: write_model_card(path, look.name, record, band, by, look.notes),
        )

    def _on_script(self) -> None:
        experiment, views = self._chosen().record.experiment, self._deck.side_by_side()
        self._files.ask(
            "Save a file that repeats this run",
            "run.toml",
            _SCRIPTS,
            lambda path: write_atomically(path, _script(experiment, path, views)),
        )


def columns_as_csv(
    columns: Mapping[str, Sequence[object] | np.ndarray[Any, Any]], delimiter: str = ","
) -> str:
    """Return columns as CSV with a header; numbers keep every digit, missing values are empty."""
    text = io.StringIO()
    write_csv(text, [columns, *zip(*columns.values(), strict=True)], CsvForm(delimiter))
    return text.getvalue().replace("\N{NO-BREAK SPACE}", " ")  # of names of runs


def _script(experiment: Experiment, path: Path, views: Sequence[str]) -> str:
    """Return an experiment as a shell script or an experiment file, by the ending of the path."""
    if path.suffix == ".sh":
        return f"#!/bin/sh\n{command_line(experiment)}\n"
    return write_study([experiment], path.resolve().parent, views)
