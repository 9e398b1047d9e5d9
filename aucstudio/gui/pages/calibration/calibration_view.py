"""Calibration: whether events that a run calls 30 % likely come true 30 % of the time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.statement import Statement
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import hint_label
from aucstudio.gui.pages.calibration.diagram import ProbabilityPlot, ReliabilityPlot
from aucstudio.gui.pages.calibration.figures import CalibrationTable
from aucstudio.gui.state.answer import Answer
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.errors import InputError
from aucstudio.project.results.calibration import AS_IT_STANDS, TITLES, JudgedMaps, judge
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.words import figure_words

# By run and map: its figures, or why there are none.
Found = dict[tuple[RunRecord, str], JudgedMaps | str]


class CalibrationView(PageView):
    """Reliability diagram of the checked runs with a map, probabilities and figures.

    Attributes
    ----------
    map_combo : QComboBox
    before_check : QCheckBox
    diagram : ReliabilityPlot
    histogram : ProbabilityPlot
    table : CalibrationTable
    """

    listens_to: ClassVar = {**PageView.listens_to, "plan_changed": "mark_stale"}

    def __init__(self, session: Session) -> None:
        super().__init__(session, "calibration_view", "Calibration")
        self._known: Found = {}
        self._answer = Answer(self, self._on_judged, self.sentence.setText)
        session.table_changed.connect(self._forget)
        self._make_controls()
        self._lay_out()

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        self.map_combo = self.controls.choice(
            "calibration_map_combo",
            "Calibrated by",
            "How scores become probabilities: each way rises with the score and keeps the ranking",
            [(title, kind) for kind, title in TITLES.items()],
            self.mark_stale,
        )
        self.map_combo.setCurrentIndex(self.map_combo.findData("platt"))
        self.before_check = self.controls.check(
            "calibration_before_check",
            "Uncalibrated too",
            "Dotted: the raw scores read as log-odds",
            self.mark_stale,
        )
        self.controls.addStretch(1)

    def _lay_out(self) -> None:
        self.diagram, self.histogram = ReliabilityPlot(), ProbabilityPlot()
        self.table = CalibrationTable()
        self.table.chosen.connect(self._on_row)
        self.hint = hint_label("calibration_hint")
        self.pictures = QWidget()
        pictures = QHBoxLayout()
        pictures.setSpacing(12)
        pictures.addWidget(self.diagram.plot, stretch=3)
        pictures.addWidget(self.histogram.plot, stretch=2)
        inside = QVBoxLayout(self.pictures)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(8)
        inside.addLayout(pictures, stretch=1)
        inside.addWidget(self.table)
        column = QVBoxLayout()
        column.addWidget(self.hint, stretch=1)
        column.addWidget(self.pictures, stretch=1)
        self.body.addLayout(column)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.table.fit_page(self.height())

    def figure(self) -> Plot:
        return self.diagram.plot

    def plots(self) -> list[Plot]:
        return [self.diagram.plot, self.histogram.plot]

    def busy(self) -> bool:
        return self._answer.busy

    def figure_data(self) -> Mapping[str, Sequence[object]]:
        lines = [
            (run.look.name, kind, k + 1, *cells)
            for run in self.session.checked_runs()
            for kind in TITLES
            if isinstance(one := self._known.get((run.record, kind)), JudgedMaps)
            for k, cells in enumerate(_bins(one))
        ]
        heads = ("run", "calibrated by", "bin", *_BIN_COLUMNS)
        return {head: [line[k] for line in lines] for k, head in enumerate(heads) if lines}

    # ------------------------------------------------------------- computing

    def refresh(self) -> None:
        runs = self.session.checked_runs()
        records, known = tuple(run.record for run in runs), self._known
        if all((record, kind) in known for record in records for kind in TITLES):
            self._answer.drop()
        else:
            self._answer.ask(records, lambda post: _judge_all(records, known, post))
        self._show(runs)

    def _on_judged(self, _known: Found) -> None:
        self._show(self.session.checked_runs())

    def _forget(self) -> None:
        """Leave the records of another study, which would stay in memory."""
        self._answer.forget()
        self._known = {}

    # ------------------------------------------------------------- showing

    def _show(self, runs: Sequence[ShownRun]) -> None:
        kind = str(self.map_combo.currentData())
        drawn = self._judged(runs, kind)
        self.before_check.setEnabled(kind != AS_IT_STANDS)
        is_before = self.before_check.isChecked() and kind != AS_IT_STANDS
        before = self._judged(runs, AS_IT_STANDS) if is_before else []
        self.hint.setVisible(not drawn)
        self.pictures.setVisible(bool(drawn))
        if drawn:
            self.diagram.show([(r.look, j) for r, j in drawn], [(r.look, j) for r, j in before])
            chosen_first = sorted(runs, key=lambda run: run.record.id != self.session.selected)
            self.table.show_figures(chosen_first, self._known, kind)
            self._show_one(drawn)
        else:
            self._show_nothing(runs, kind)

    def _judged(self, runs: Sequence[ShownRun], kind: str) -> list[tuple[ShownRun, JudgedMaps]]:
        found = [(run, self._known.get((run.record, kind))) for run in runs]
        return [(run, one) for run, one in found if isinstance(one, JudgedMaps)]

    def _show_one(self, drawn: Sequence[tuple[ShownRun, JudgedMaps]]) -> None:
        """Show the probabilities of the chosen run, or of the first; say how well they hold."""
        chosen = [pair for pair in drawn if pair[0].record.id == self.session.selected]
        run, one = (chosen or drawn)[0]
        names = run.record.experiment.data.positive, run.record.splits[0].model.negative
        self.histogram.show(one, names)
        self.sentence.setText(_words(run, one))

    def _show_nothing(self, runs: Sequence[ShownRun], kind: str) -> None:
        self.hint.setText("Calibrating…" if self.busy() else "No probabilities yet")
        reasons = [self._known.get((run.record, kind)) for run in runs]
        told = next((reason for reason in reasons if isinstance(reason, str)), "")
        run = self.session.run(self.session.selected)
        why = self.why_empty(
            None if runs else run, "scores", "calibration follows when it has ended",
            "how well probabilities hold",
        )  # fmt: skip
        if runs:
            why = f"{told[0].upper()}{told[1:]}." if told else "Calibrating…"
        self.sentence.setText(why)

    def _on_row(self, run: str, kind: str) -> None:
        self.map_combo.setCurrentIndex(self.map_combo.findData(kind))
        self.session.select(run)


_BIN_COLUMNS = ("rows", "positives", "lowest", "highest", "mean", "share", "low", "high")


def _bins(one: JudgedMaps) -> list[tuple[Any, ...]]:
    columns = (getattr(one.diagram, name).tolist() for name in _BIN_COLUMNS)
    return list(zip(*columns, strict=True))


def _judge_all(records: Sequence[RunRecord], known: Found, post: Callable[[Any], bool]) -> Found:
    """Judge runs with every map that is not known yet; each is known as soon as it is judged."""
    for record, kind in itertools.product(records, TITLES):
        if (record, kind) not in known:
            try:
                known[record, kind] = judge(record, kind, lambda: bool(post(None)))
            except InputError as error:
                known[record, kind] = str(error)
    return known


def _words(run: ShownRun, one: JudgedMaps) -> Statement:
    name, brier, rows = run.look.name, one.brier, one.rows
    if one.error_reason:
        headline = f"{name}: the error of its probabilities is unknown: {one.error_reason}."
    else:
        off = figure_words(one.error)
        headline = f"{name}: on average its probabilities are off by {off}."
    is_map = one.kind != AS_IT_STANDS
    return Statement.of(
        headline,
        one.caution,
        f"Brier score {figure_words(brier.value)}; it is {figure_words(brier.uncertainty)} where "
        "each row gets the share of positives.",
        f"Of {rows}, each with a probability from a calibration that was fitted without it."
        if is_map
        else f"Of {rows}: 1 / (1 + exp(−score)), though a score of 0 is the threshold and need "
        "not mean one half.",
        "Bins hold about equally many rows; 95 % intervals, all bars together.",
        "The probabilities hold where positives are as frequent as in these rows."
        if is_map
        else "",
    )
