"""Calibration: predicted probabilities against observed shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QModelIndex, Qt, Signal

from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.plots.legend import Legend
from aucstudio.gui.common.plots.rate_axes import LINEAR, ROOT, Axis, RateAxis, place
from aucstudio.gui.common.plotting import (
    Dots,
    class_steps,
    faded,
    make_plot,
    pen,
    run_pen,
    show_dots,
    style_classes,
)
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.table import Row, SheetTable, in_columns, sheet_blocks, worded_columns
from aucstudio.gui.common.theme import current_theme, run_colour, run_symbol, scaled
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import quietly
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.notices.words import as_sentence
from aucstudio.project.errors import InputError
from aucstudio.project.explain.trees import plain_number
from aucstudio.project.results.calibration import (
    AS_IT_STANDS,
    TITLES,
    CalibrationEstimate,
    estimate_calibration,
)
from aucstudio.project.results.page import Block
from aucstudio.project.runs.record import RunRecord

_LEAST_REACH = 0.02  # of the axes: rarer positives than these would be drawn as large
_CROWDED = 0.125  # of linear axes, below which half of the points lie on top of each other


def reach_of(judged: Sequence[CalibrationEstimate]) -> float:
    """Return the upper end of the axes."""
    tops = [float(max(one.diagram.mean.max(), one.diagram.high.max())) for one in judged]
    return min(1.0, 1.1 * max([_LEAST_REACH, *tops]))


def suitable_axis(judged: Sequence[CalibrationEstimate]) -> Axis:
    """Return square-root axes where most probabilities lie in the corner, else linear ones."""
    places = np.concatenate([one.diagram.mean for one in judged])
    return ROOT if np.median(places) < _CROWDED * reach_of(judged) else LINEAR


class ReliabilityPlot:
    """Shares of positives against probabilities; calibrated ones lie on the diagonal.

    Attributes
    ----------
    plot : Plot
    lines : list of PlotCurveItem
        One a run.
    whiskers : list of PlotCurveItem
        The intervals of its shares.
    before : list of PlotCurveItem
        The scores read as log-odds.
    """

    def __init__(self) -> None:
        self._sides = RateAxis("bottom"), RateAxis("left")
        titles = "Probability", "Share of positives"
        self.plot = make_plot("calibration_plot", *titles, axes=self._sides)
        self.diagonal = pg.PlotCurveItem([0.0, 1.0], [0.0, 1.0])
        self.plot.addItem(self.diagonal, ignoreBounds=True)
        self.legend = Legend(self.plot)
        self._dots = pg.ScatterPlotItem(size=9)
        self._dots.setZValue(1)
        self.plot.addItem(self._dots, ignoreBounds=True)
        self.lines: list[pg.PlotCurveItem] = []
        self.whiskers: list[pg.PlotCurveItem] = []
        self.before: list[pg.PlotCurveItem] = []

    def show(
        self,
        judged: Sequence[tuple[RunLook, CalibrationEstimate]],
        before: Sequence[tuple[RunLook, CalibrationEstimate]],
        axis: Axis,
    ) -> None:
        """Draw calibrated runs, and the same runs uncalibrated, on two equal axes."""
        for side in self._sides:
            side.show_axis(axis)
        self.plot.removeItem(*self.lines, *self.whiskers, *self.before)
        self.lines, self.whiskers, self.before = [], [], []
        theme = current_theme()
        self.diagonal.setPen(pen(theme.neutral, 1.2, (4.0, 4.0)))
        for look, one in before:
            drawn = pen(faded(run_colour(theme, look.colour), 130), 1.4, (1.5, 3.0))
            ends = map(axis.forward, (one.diagram.mean, one.diagram.share))
            self.before.append(pg.PlotCurveItem(*ends, pen=drawn))
        dots = [self._add(look, one, axis) for look, one in judged]
        show_dots(self._dots, dots)
        self.plot.addItem(*self.before, *self.whiskers, *self.lines, ignoreBounds=True)
        dotted = ("score as log-odds", pen(theme.muted, 1.4, (1.5, 3.0)))
        known = [(look.name, look) for look, _ in judged]
        self.legend.explain([*known, dotted] if self.before else known)
        whole = 0.0, place(axis, reach_of([one for _, one in judged]))
        self.plot.set_whole(whole, whole)

    def _add(self, look: RunLook, one: CalibrationEstimate, axis: Axis) -> Dots:
        """Draw the line and the whiskers of a run; return its markers."""
        bins, colour = one.diagram, run_colour(current_theme(), look.colour)
        mean, share, low, high = map(axis.forward, (bins.mean, bins.share, bins.low, bins.high))
        ends = np.stack([low, high], axis=1).ravel()
        self.whiskers.append(
            pg.PlotCurveItem(
                np.repeat(mean, 2), ends, connect="pairs", pen=pen(faded(colour, 170), 1.4)
            )
        )
        self.lines.append(pg.PlotCurveItem(mean, share, pen=run_pen(look, 1.8)))
        edge = pen(current_theme().card, 1.0)
        return (mean, share), run_symbol(look.colour), edge, pg.mkBrush(colour)


class ProbabilityPlot:
    """Histograms of the probabilities of a run by class.

    Attributes
    ----------
    plot : Plot
    curves : list of two PlotCurveItem
        Positives and negatives: shares of the class in each bin.
    """

    def __init__(self) -> None:
        self.plot = make_plot("probability_plot", "Probability", "Share of the class in a bin")
        self.curves = [class_steps(), class_steps()]
        self.plot.addItem(*self.curves)
        self.legend = Legend(self.plot)

    def show(self, one: CalibrationEstimate, names: tuple[str, str]) -> None:
        """Draw the probabilities of a run."""
        for item, shares in zip(self.curves, one.shares, strict=True):
            item.setData(one.edges, shares)
        style_classes(self.curves)
        pens = (item.opts["pen"] for item in self.curves)
        self.legend.explain(zip(names, pens, strict=True))
        self.plot.set_whole(
            (0.0, float(one.edges[-1])), (0.0, 1.05 * float(one.shares.max())), air=0.0
        )


_HEADS, _TIPS = worded_columns("calibration_table")
_HEIGHT, _LEAST = 190, 100  # pixels
_SHARE = 0.3  # of the page: the pictures come first

# By run and map: its figures, or why there are none.
Found = dict[tuple[RunRecord, str], CalibrationEstimate | str]


class CalibrationTable(SheetTable):
    """Figures of the checked runs with every calibration.

    Attributes
    ----------
    chosen : Signal(str, str)
        The run and the map of a line that was clicked.
    sheet : SheetModel
    """

    chosen = Signal(str, str)

    def __init__(self) -> None:
        super().__init__(
            "calibration_table",
            "Figures of the probabilities",
            _HEADS,
            26,
            tips=_TIPS,
            words=(0, 1),
        )
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names differ at their ends
        self._places: list[tuple[str, str]] = []
        self.clicked.connect(self._on_click)

    def fit_page(self, height: int) -> None:
        """Limit the height to a share of the page height."""
        self.setFixedHeight(max(scaled(_LEAST), min(scaled(_HEIGHT), int(_SHARE * height))))

    def show_figures(self, runs: Sequence[ShownRun], found: Found, chosen: str) -> None:
        """Show the available figures; highlight those of the chosen calibration."""
        rows, self._places = [], []
        for run in runs:
            for kind, title in TITLES.items():
                short = title.partition(":")[0]
                one = found.get((run.record, kind))
                if isinstance(one, CalibrationEstimate):
                    cells = (run.look.name, short, *_figures(one))
                    rows.append(Row(cells, run.look, strong=kind == chosen))
                    self._places.append((run.record.id, kind))
        self.show_rows(rows)

    def _on_click(self, index: QModelIndex) -> None:
        self.chosen.emit(*self._places[index.row()])


def _figures(one: CalibrationEstimate) -> tuple[str, ...]:
    brier = one.brier
    values = (brier.value, brier.miscalibration, brier.discrimination, one.log.value, one.error)
    # Where positives are rare, all scores are small and differ in their third digit.
    return tuple("–" if value != value else plain_number(value, 3) for value in values)


class CalibrationView(PageView):
    """Reliability diagram of the checked and the selected runs, with probabilities and figures.

    Attributes
    ----------
    map_combo, axes_combo : QComboBox
        The axes suit the data until the user chooses others.
    before_check : QCheckBox
    diagram : ReliabilityPlot
    histogram : ProbabilityPlot
    table : CalibrationTable
    """

    listens_to: ClassVar = {**PageView.listens_to, "plan": "mark_stale"}
    lacks: ClassVar = "scores"
    soon: ClassVar = "calibration follows when it has ended"
    aim: ClassVar = "how accurate the probabilities are"

    def __init__(self, session: Session) -> None:
        super().__init__(session, "calibration_view", "Calibration")
        self._known: Found = {}
        self._chose_axes = False
        self._answer = Answer(self, self._on_judged, self.sentence.setText, self._on_progress)
        session.listen(self._forget, "table")
        self._make_controls()
        self._lay_out()

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        row, titles = self.controls, [(title, kind) for kind, title in TITLES.items()]
        self.map_combo = row.choice("calibration_map_combo", self.mark_stale, titles)
        self.map_combo.setCurrentIndex(self.map_combo.findData("platt"))
        kinds = [("Linear", LINEAR), ("Square root", ROOT)]
        self.axes_combo = row.choice("calibration_axes_combo", self.mark_stale, kinds)
        self.axes_combo.activated.connect(self._on_axes)
        self.axes = (self.axes_combo,)
        self.before_check = row.check("calibration_before_check", self.mark_stale)
        self.controls.addStretch(1)

    def _lay_out(self) -> None:
        self.diagram, self.histogram = ReliabilityPlot(), ProbabilityPlot()
        self.pictures = self.diagram.plot, self.histogram.plot
        self.table = CalibrationTable()
        self.table.chosen.connect(self._on_row)
        pictures = across((self.diagram.plot, 3), (self.histogram.plot, 2), gap=12)
        self.set_content(down((pictures, 1), self.table), "No probabilities yet")

    def fit_page(self) -> None:
        self.table.fit_page(self.height())

    def figure_data(self) -> Mapping[str, Sequence[object]]:
        lines = [
            (run.look.name, kind, k + 1, *cells)
            for run in self.seen_runs()
            for kind in TITLES
            if isinstance(one := self._known.get((run.record, kind)), CalibrationEstimate)
            for k, cells in enumerate(_bins(one))
        ]
        return in_columns(("run", "calibrated by", "bin", *_BIN_COLUMNS), lines)

    def report_blocks(self) -> Sequence[Block]:
        return sheet_blocks("Calibration", self.table, self.sentence.text())

    # ------------------------------------------------------------- computing

    def refresh(self) -> None:
        runs = self.seen_runs()
        records, known = tuple(run.record for run in runs), self._known
        if all((record, kind) in known for record in records for kind in TITLES):
            self._answer.drop()
        else:
            self._answer.ask(records, lambda post: _judge_all(records, known, post))
        self._show(runs)

    def _on_judged(self, _known: Found) -> None:
        self._show(self.seen_runs())

    def _on_progress(self, words: str) -> None:
        if words:  # another run is done
            self.mark_stale()  # drawn once for several
            self.session.message.emit(words)

    def _forget(self) -> None:
        """Drop the records of another study."""
        self.forget_answers()
        self.table.show_rows([])
        self._known = {}

    # ------------------------------------------------------------- showing

    def _show(self, runs: Sequence[ShownRun]) -> None:
        kind = str(self.map_combo.currentData())
        drawn = self._judged(runs, kind)
        self.before_check.setEnabled(kind != AS_IT_STANDS)
        is_before = self.before_check.isChecked() and kind != AS_IT_STANDS
        before = self._judged(runs, AS_IT_STANDS) if is_before else []
        self.show_content(bool(drawn))
        if drawn:
            if not self._chose_axes:
                suits = suitable_axis([one for _, one in drawn])
                quietly(self.axes_combo.setCurrentIndex, self.axes_combo.findData(suits))
            seen, axis = [(run.look, one) for run, one in drawn], self.axes_combo.currentData()
            self.diagram.show(seen, [(run.look, one) for run, one in before], axis)
            chosen_first = sorted(runs, key=lambda run: run.record.id != self.session.selected)
            self.table.show_figures(chosen_first, self._known, kind)
            self._show_one(drawn)
        else:
            self._show_nothing(runs, kind)

    def _judged(
        self, runs: Sequence[ShownRun], kind: str
    ) -> list[tuple[ShownRun, CalibrationEstimate]]:
        found = [(run, self._known.get((run.record, kind))) for run in runs]
        return [(run, one) for run, one in found if isinstance(one, CalibrationEstimate)]

    def _show_one(self, drawn: Sequence[tuple[ShownRun, CalibrationEstimate]]) -> None:
        """Show the probabilities of the selected run, or of the first, and their errors."""
        chosen = [pair for pair in drawn if pair[0].record.id == self.session.selected]
        run, one = (chosen or drawn)[0]
        names = run.record.experiment.data.positive, run.record.splits[0].model.negative
        self.histogram.show(one, names)
        self.sentence.setText(_words(run, one))

    def _show_nothing(self, runs: Sequence[ShownRun], kind: str) -> None:
        self.hint.setText("Calibrating…" if self.busy() else "No probabilities yet")
        reasons = [self._known.get((run.record, kind)) for run in runs]
        reason = next((one for one in reasons if isinstance(one, str)), "")
        run = self.session.run(self.session.selected)
        why = self.why_empty(None if runs else run)
        if runs:
            why = as_sentence(reason) if reason else "Calibrating…"
        self.sentence.setText(why)

    def _on_axes(self) -> None:
        self._chose_axes = True

    def _on_row(self, run: str, kind: str) -> None:
        self.map_combo.setCurrentIndex(self.map_combo.findData(kind))
        self.session.select(run)


_BIN_COLUMNS = ("rows", "positives", "lowest", "highest", "mean", "share", "low", "high")


def _bins(one: CalibrationEstimate) -> list[tuple[Any, ...]]:
    columns = (getattr(one.diagram, name).tolist() for name in _BIN_COLUMNS)
    return list(zip(*columns, strict=True))


def _judge_all(records: Sequence[RunRecord], known: Found, post: Callable[[Any], bool]) -> Found:
    """Evaluate runs with every unknown calibration; report each when done."""
    for done, record in enumerate(records, 1):
        for kind in [kind for kind in TITLES if (record, kind) not in known]:
            try:
                known[record, kind] = estimate_calibration(record, kind, lambda: bool(post("")))
            except InputError as error:
                known[record, kind] = str(error)
        if done < len(records):
            post(text("calibrating_runs", done=done, of=len(records)))
    return known


def _words(run: ShownRun, one: CalibrationEstimate) -> Statement:
    is_map, name = one.kind != AS_IT_STANDS, run.look.name
    known = text("calibration_error", name=name, error=one.error)
    unknown = text("calibration_error_unknown", name=name, reason=one.error_reason)
    rows = "probabilities_of_map" if is_map else "probabilities_of_scores"
    return Statement.of(
        unknown if one.error_reason else known,
        one.caution,
        text("brier_score", brier=one.brier, skill=1 - one.brier.value / one.brier.uncertainty),
        text(rows, rows=one.rows),
        text("bins_of_diagram"),
        text("probabilities_valid") if is_map else "",
    )
