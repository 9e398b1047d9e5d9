"""The course of training: objective and certificate of the chosen run, or of the one in flight."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QComboBox, QLabel, QSizePolicy, QVBoxLayout

from aucstudio.engine import roc
from aucstudio.gui.live import LiveRun
from aucstudio.gui.plotting import dress_plot, make_plot, run_pen
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.theme import current_theme
from aucstudio.gui.view import View
from aucstudio.gui.widgets import follow_check, hint_label, named
from aucstudio.project.record import STOPPED, SplitResult
from aucstudio.project.words import power_words, seconds_words

Array = NDArray[np.float64]

ITERATION, SECONDS = "iteration", "seconds"
_LIVE_POINTS = 4_000
_AXIS_WIDTH = 72


@dataclasses.dataclass(frozen=True, eq=False)
class Course:
    """The steps of one fit as they are drawn; arrays of equal length.

    Attributes
    ----------
    x, objective, gap : ndarray of float
        ``gap`` is NaN where there is no certificate, and where it is 0: the axis is logarithmic.
    """

    x: Array
    objective: Array
    gap: Array


class TrainingView(View):
    """Objective and certificate against iterations or seconds.

    Attributes
    ----------
    plot, gap_plot : PlotWidget
    lines, gap_lines : list of PlotDataItem
        One a fit.
    live_auc : list of (iteration, AUC)
        Held-out AUC at each look at the fit in flight.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, "training_view", "Training")
        self.lines: list[pg.PlotDataItem] = []
        self.gap_lines: list[pg.PlotDataItem] = []
        self.live_auc: list[tuple[int, float]] = []
        self._fit: tuple[LiveRun, int] | None = None
        self._look: object = None
        self._shown: object = None
        self._named: tuple[str, bool, str] | None = None
        self._make_controls()
        self._make_plots()
        session.live_changed.connect(self._keep_look)
        session.plan_changed.connect(self.mark_stale)

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        self.x_combo = named(QComboBox(), "x_combo", "Horizontal axis")
        self.x_combo.addItem("Iterations", ITERATION)
        self.x_combo.addItem("Seconds", SECONDS)
        self.x_combo.setToolTip("Seconds count the fit alone, not the time spent watching it")
        self.x_combo.currentIndexChanged.connect(self._on_axis)
        label = QLabel("&Against")
        label.setBuddy(self.x_combo)
        self.follow_check = follow_check("training_follow_check")
        self.follow_check.toggled.connect(self.mark_stale)
        self.readout = named(QLabel(), "training_readout", "Run in flight")
        self.readout.setProperty("role", "muted")
        self.readout.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        # What it says changes all the time; the window must not.
        self.readout.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.controls.addWidget(label)
        self.controls.addWidget(self.x_combo)
        self.controls.addWidget(self.follow_check)
        self.controls.addWidget(self.readout, stretch=1)

    def _make_plots(self) -> None:
        self.plot = make_plot("training_plot", "", "Objective")
        self.gap_plot = make_plot("certificate_plot", "Iteration", "Certificate")
        self.gap_plot.setAxisItems({"left": _PowerAxis("left")})
        self.gap_plot.setLabel("left", "Certificate")
        dress_plot(self.gap_plot)
        self.gap_plot.setToolTip("At most this far is the objective from its optimum")
        self.gap_plot.setLogMode(y=True)
        self.gap_plot.setXLink(self.plot)
        for plot in self.plots():
            plot.getAxis("left").setWidth(_AXIS_WIDTH)
            for side in ("left", "bottom"):
                plot.getAxis(side).enableAutoSIPrefix(False)
            plot.scene().sigMouseClicked.connect(self._on_click)
        self.hint = hint_label("training_hint")
        column = QVBoxLayout()
        column.setSpacing(8)
        column.addWidget(self.hint, stretch=1)
        column.addWidget(self.plot, stretch=3)
        column.addWidget(self.gap_plot, stretch=2)
        self.body.addLayout(column)

    def figure(self) -> pg.PlotWidget:
        return self.plot

    def plots(self) -> list[pg.PlotWidget]:
        return [self.plot, self.gap_plot]

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        live = self._followed()
        run = self.session.run(self.session.selected)
        self.follow_check.setVisible(self.session.live is not None)
        self._tell_live()
        if live is not None:
            self._show(live, [_live_course(live, self._x())], run_pen(live.look))
            self.sentence.setText(live_sentence(live, self.live_auc))
        elif run is not None and run.record.splits:
            self._show_run(run)
        else:
            self._show_nothing(
                "Nothing trained yet",
                self.why_empty(
                    run,
                    "finished fit",
                    "its course appears with its first step",
                    "how its training goes",
                ),
            )

    def refresh_live(self) -> None:
        self._keep_look()
        live = self._followed()
        if live is not None or isinstance(self._shown, LiveRun):
            self.refresh()
        else:
            self.follow_check.setVisible(self.session.live is not None)
            self._tell_live()

    def _followed(self) -> LiveRun | None:
        """Give the run in flight if it is what is to be seen: wished, and with a step taken."""
        live = self.session.live
        if live is None or not live.points or not self.follow_check.isChecked():
            return None
        return live

    def _show_run(self, run: ShownRun) -> None:
        courses = [_course(split, self._x()) for split in run.record.splits]
        thin = len(courses) > 1
        if max(len(course.x) for course in courses) > 1:
            self._show(run.record.id, courses, run_pen(run.look, 1.2 if thin else 2.0))
            self.sentence.setText(run_sentence(run))
        else:
            self._show_nothing("One step: there is no course to draw", run_sentence(run))

    def _show_nothing(self, hint: str, sentence: str) -> None:
        self._show(None, [], QPen())
        self.hint.setText(hint)
        self.sentence.setText(sentence)

    def _show(self, subject: object, courses: list[Course], drawn: QPen) -> None:
        """Draw fits; the view goes back to the whole picture when it is about another run."""
        certified = any(not np.isnan(course.gap).all() for course in courses)
        self.hint.setVisible(not courses)
        self.plot.setVisible(bool(courses))
        self.gap_plot.setVisible(certified)
        self._name_axis(certified)
        _draw(self.plot, self.lines, [(c.x, c.objective) for c in courses], drawn)
        shown = [(c.x, c.gap) for c in courses] if certified else []
        _draw(self.gap_plot, self.gap_lines, shown, drawn)
        if subject != self._shown:
            self._shown = subject
            self._show_all()

    def _name_axis(self, certified: bool) -> None:
        """Write the horizontal axis once, under the lowest plot that is seen."""
        title, theme = ("Iteration" if self._x() == ITERATION else "Seconds"), current_theme()
        if self._named == (title, certified, theme.name):
            return
        self._named = (title, certified, theme.name)
        colour = theme.muted
        self.gap_plot.setLabel("bottom", title, color=colour)
        axis = self.plot.getAxis("bottom")
        axis.setStyle(showValues=not certified)
        if certified:
            axis.setLabel("")
            axis.showLabel(False)
        else:
            self.plot.setLabel("bottom", title, color=colour)

    def _x(self) -> str:
        return str(self.x_combo.currentData())

    def _show_all(self) -> None:
        for plot in self.plots():
            plot.enableAutoRange()

    def _on_axis(self) -> None:
        self._shown = None
        self.mark_stale()

    def _on_click(self, event: Any) -> None:
        if event.double():
            self._show_all()

    # ------------------------------------------------------------- the run in flight

    def _keep_look(self) -> None:
        """Keep the held-out AUC of each new look; another fit begins another series."""
        live = self.session.live
        fit = None if live is None else (live, live.split)
        if fit != self._fit:
            self._fit, self._look, self.live_auc = fit, None, []
        if live is None or live.picture is None or live.picture is self._look:
            return
        self._look = live.picture
        iteration = live.points[-1][0] if live.points else 0
        area = roc.auc(live.picture.positive, live.picture.scores)
        self.live_auc.append((iteration, area))

    def _tell_live(self) -> None:
        live = self.session.live
        words = "" if live is None else f"{live.look.name}: {live.words}"
        if live is not None and self.live_auc:
            words = f"{live.look.name}: held-out AUC {auc_course(self.live_auc)}"
        self.readout.setText(words)


# ----------------------------------------------------------------- drawing


class _PowerAxis(pg.AxisItem):
    """A logarithmic axis that writes every power of ten as such."""

    def logTickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:
        return [power_words(10.0**value).removeprefix("1·") for value in values]


def _course(split: SplitResult, x: str) -> Course:
    curve = split.curve
    along = curve.iteration.astype(np.float64) if x == ITERATION else curve.seconds
    return Course(along, curve.objective, np.where(curve.gap > 0, curve.gap, np.nan))


def _live_course(live: LiveRun, x: str) -> Course:
    """Take the steps so far; of very many every k-th and the last."""
    step = max(1, len(live.points) // _LIVE_POINTS)
    taken = live.points[::step]
    if taken[-1] is not live.points[-1]:
        taken = [*taken, live.points[-1]]
    columns = np.array(taken)
    gap = np.where(columns[:, 3] > 0, columns[:, 3], np.nan)
    return Course(columns[:, 0 if x == ITERATION else 1], columns[:, 2], gap)


def _draw(
    plot: pg.PlotWidget,
    items: list[pg.PlotDataItem],
    data: Sequence[tuple[Array, Array]],
    drawn: QPen,
) -> None:
    while len(items) > len(data):
        plot.removeItem(items.pop())
    while len(items) < len(data):
        item = pg.PlotDataItem(connect="finite", antialias=True)
        item.setDownsampling(auto=True, method="peak")
        plot.addItem(item)
        items.append(item)
    for item, (x, y) in zip(items, data, strict=True):
        item.setPen(drawn)
        item.setOpacity(0.7 if len(items) > 1 else 1.0)
        item.setData(x, y)


# ----------------------------------------------------------------- words


def run_sentence(run: ShownRun) -> str:
    """Say how a run's training went: steps, objective, certificate, time, and whether it ended."""
    splits = run.record.splits
    if len(splits) == 1 and splits[0].n_iter is None:
        return f"{run.look.name} is solved in one step: {_step_words(splits[0])}{_early(run)}."
    counts = [split.n_iter for split in splits if split.n_iter is not None]
    parts = [
        f"{_range([float(count) for count in counts], _count)} iterations"
        if counts
        else "one step",
        f"objective {_range([split.objective for split in splits], _number)}",
        _proof([_relative_gap(split.objective, split.gap) for split in splits]),
        seconds_words(run.record.fit_seconds),
    ]
    several = f", {len(splits)} fits" if len(splits) > 1 else ""
    mean = " a fit" if several else ""
    quiet = max(len(split.curve.iteration) for split in splits) < 2 and bool(counts)
    unseen = " Its solver shows no steps on the way." if quiet else ""
    words = ", ".join(part for part in parts if part)
    return f"{run.look.name}{several}: {words}{mean}{_early(run)}.{unseen}"


def _step_words(split: SplitResult) -> str:
    certificate = "" if split.gap is None else f"certificate {power_words(split.gap)}, "
    time = seconds_words(split.fit_seconds)
    return f"objective {_number(split.objective)}, {certificate}{time}"


def _early(run: ShownRun) -> str:
    """Say which fits ended before their certificate."""
    splits = run.record.splits
    early = sum(not split.converged for split in splits)
    if not early:
        return "; stopped by hand after these" if run.record.status == STOPPED else ""
    who = "" if len(splits) == 1 else f"{early} of {len(splits)} "
    if run.record.status == STOPPED:
        return f"; {who}stopped early, by hand"
    return f"; {who}stopped early: the certificate was not reached"


def live_sentence(live: LiveRun, looks: Sequence[tuple[int, float]]) -> str:
    """Say where the fit in flight is."""
    iteration, seconds, objective, gap = live.points[-1]
    split = f", split {live.split + 1} of {live.splits}" if live.splits > 1 else ""
    parts = [
        f"iteration {iteration:,}",
        f"objective {_number(objective)}",
        _proof([_relative_gap(objective, None if math.isnan(gap) else gap)]),
        seconds_words(seconds),
    ]
    words = ", ".join(part for part in parts if part)
    auc = f" Held-out AUC {looks[-1][1]:.3f}." if looks else ""
    verb = "is stopping" if live.stopping else "is training"
    return f"{live.look.name} {verb}{split}: {words}.{auc}"


def auc_course(looks: Sequence[tuple[int, float]]) -> str:
    """Write the latest AUC and where it came from."""
    (_, first), (_, last) = looks[0], looks[-1]
    return f"{last:.3f}" + (f", {first:.3f} at first" if len(looks) > 1 else "")


def _relative_gap(objective: float, gap: float | None) -> float:
    if gap is None:
        return math.nan
    return gap / abs(objective) if objective else (math.inf if gap else 0.0)


def _proof(gaps: Sequence[float]) -> str:
    """Say how near the optimum the worst of the fits is proven to be."""
    worst = max(gaps, key=lambda gap: math.inf if math.isnan(gap) else gap)
    if not math.isfinite(worst) or worst > 1.0:
        # A bound beyond the objective itself proves nothing yet.
        return ""
    if not worst:
        return "proven optimal"
    near = power_words(worst) if worst < 0.01 else f"{100 * worst:,.0f} %"
    return f"proven within {near} of the optimum"


def _range(values: Sequence[float], write: Callable[[float], str]) -> str:
    low, high = write(min(values)), write(max(values))
    return low if low == high else f"{low} … {high}"


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _number(value: float) -> str:
    """Write a number to three digits, in full where that is short."""
    if value and not 1e-3 <= abs(value) < 1e6:
        return power_words(value, 2)
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f}".replace("-", "−")
