"""The chosen run: what it is made from and what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QPushButton

from aucstudio.engine import METHODS
from aucstudio.engine.params import declared_params
from aucstudio.gui.common import prompts
from aucstudio.gui.common.widgets import Card, label, named, tell
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.data.split import FILE, Validation
from aucstudio.project.results.summary import WHOLE, auc_summary, measures, pauc_summary, train_auc
from aucstudio.project.runs.progress_words import search_result
from aucstudio.project.runs.record import STOPPED
from aucstudio.project.runs.tuning import candidates, symbols
from aucstudio.project.words import figure_words, interval_words, seconds_words

_SEARCHES = 5  # more splits than these would fill the card


class RunDetails(Card):
    """What the chosen run is made from and what it found."""

    def __init__(self, session: Session) -> None:
        super().__init__("Chosen run")
        self.session = session
        self.name = label("", "title", wrap=True, name="run_name")
        self.figure = label("", "figure", name="run_auc")
        self.lines = label("", "muted", wrap=True, name="run_details")
        self.notes = label("", "muted", wrap=True, name="run_notes")
        self.error = label("", "error", wrap=True, name="run_error")
        self.trace = named(QPushButton("Details…"), "run_trace", "Error details")
        self.reuse = named(QPushButton("Use settings"), "reuse_button", "Use these settings")
        self.export = named(QPushButton("Export model…"), "export_button", "Export model")
        for widget in (self.name, self.figure, self.lines, self.notes, self.error, self.trace):
            self.rows.addWidget(widget)
        buttons = QHBoxLayout()
        buttons.addWidget(self.reuse)
        buttons.addWidget(self.export)
        self.rows.addLayout(buttons)
        self.trace.clicked.connect(self._on_trace)
        self.reuse.clicked.connect(self._on_reuse)
        session.selection_changed.connect(self.refresh)
        session.runs_changed.connect(self.refresh)
        session.band_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the chosen run."""
        shown = self.session.run(self.session.selected)
        self.setVisible(shown is not None)
        if shown is None:
            return
        record = shown.record
        self.name.setText(shown.look.name)
        self.figure.setVisible(bool(record.splits))
        self.figure.setText(
            f"AUC {figure_words(auc_summary(record).value)}" if record.splits else ""
        )
        tell(self.lines, "\n".join(self._lines(shown)))
        tell(self.notes, "\n".join(record.notes))
        tell(self.error, record.error, "error")
        self.trace.setVisible(bool(record.traceback))
        self.export.setVisible(bool(record.splits))

    def _lines(self, shown: ShownRun) -> list[str]:
        record = shown.record
        lines = [settings_sentence(shown), _scheme_words(record.experiment.validation)]
        if record.experiment.tuning is not None:
            lines.append(record.experiment.tuning.describe())
            names = symbols(record.experiment.method)
            lines += [search_result(found, names) for found in record.searches[:_SEARCHES]]
        if not record.splits:
            return lines
        band = self.session.plan.band
        area, part = auc_summary(record), pauc_summary(record, band)
        several = f", mean of {len(record.splits)} splits" if len(record.splits) > 1 else ""
        gap = train_auc(record) - area.value
        found = [
            f"AUC 95 % {interval_words(area.low, area.high)}{several}",
            f"pAUC {figure_words(part.value)} in FPR {band[0]:g} … {band[1]:g}, "
            f"95 % {interval_words(part.low, part.high)}",
            _measures_line(measures(record, WHOLE)),
            f"training AUC {figure_words(train_auc(record))}, {_gap_words(gap)}",
            f"{seconds_words(record.fit_seconds)} per fit",
        ]
        if record.status == STOPPED:
            found.insert(0, "stopped by hand: what was finished is kept")
        unsaved = self.session.unsaved.get(record.id)
        return found + lines + ([f"not saved: {unsaved}"] if unsaved else [])

    def _on_trace(self) -> None:
        shown = self.session.run(self.session.selected)
        if shown is not None:
            prompts.show_error(self, shown.record.error, shown.record.traceback)

    def _on_reuse(self) -> None:
        if self.session.selected is not None:
            self.session.reuse_settings(self.session.selected)


def _gap_words(gap: float) -> str:
    """Say how far the training rows are ranked better than the held-out ones."""
    told = figure_words(abs(gap))
    if not float(told):
        return "as on held-out rows"
    return f"{told} {'above' if gap > 0 else 'below'} held-out rows"


def _measures_line(found: Mapping[str, float]) -> str:
    shown = {"h": "H", "ks": "KS", "eer": "EER", "ap": "AP"}
    return ", ".join(f"{title} {figure_words(found[name])}" for name, title in shown.items())


def _scheme_words(validation: Validation) -> str:
    # The whole path would fill the card.
    name = PurePath(validation.test_file).name
    return f"test file {name}" if validation.scheme == FILE else validation.describe()


def settings_sentence(shown: ShownRun) -> str:
    """Name a run's method and the settings that mean something for it and were not searched."""
    experiment = shown.record.experiment
    method, params = METHODS[experiment.method], experiment.params
    searched = set(candidates(method, params, 0)[0]) if experiment.tuning is not None else set()
    meant = {
        name: declared
        for name, declared in declared_params(method).items()
        if name in params and declared.matters(params) and name not in searched
    }
    seen = Counter(declared.symbol for declared in meant.values())
    parts = [
        f"{declared.symbol if seen[declared.symbol] == 1 and declared.symbol else declared.label}"
        f" = {_spelled(declared, params[name])}"
        for name, declared in meant.items()
    ]
    # A setting and its value stay on one line.
    told = ", ".join(part.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}") for part in parts)
    return f"{method.title}: {told}" if parts else method.title


def _spelled(declared: Any, value: Any) -> str:
    if value is None and declared.none:
        return str(declared.none)
    if declared.kind == "range":
        return f"{value[0]:g} … {value[1]:g}"
    return f"{value:.4g}" if isinstance(value, float) else str(declared.spell(value))
