"""Scores: how both classes score on the held-out rows, and what a threshold gets wrong."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLocale, QSignalBlocker, Qt
from PySide6.QtGui import QColor, QFontMetrics
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.live import LiveRun
from aucstudio.gui.plotting import faded, make_plot, pen
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.theme import current_theme
from aucstudio.gui.view import View
from aucstudio.gui.widgets import FIELD_MARGINS, follow_check, hint_label, label, named
from aucstudio.project.distribution import Confusion, Distribution

_FILL, _WRONG_FILL = 56, 150
_NAME_WIDTH = 112


class ScoresView(View):
    """Score distributions of the chosen run, or of the one in flight, and a threshold to drag.

    Attributes
    ----------
    plot : PlotWidget
    curves, wrong_curves : list of two PlotCurveItem
        Positives and negatives; their parts on the wrong side.
    line : InfiniteLine
        The threshold; 0 is the model's own.
    distribution : Distribution or None
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, "scores_view", "Scores")
        self.distribution: Distribution | None = None
        self.threshold = 0.0
        self._names = ("", "")
        self._dressed: tuple[str, ...] = ()
        self._subject: tuple[object, ...] = ()
        self._make_controls()
        self._make_plot()
        self._make_readout()
        self._lay_out()
        self._dress()
        session.plan_changed.connect(self.mark_stale)

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        self.split_combo = named(QComboBox(), "scores_split_combo", "Split")
        self.split_combo.setToolTip("Each split has a model, and so a scale of scores, of its own")
        self.split_combo.currentIndexChanged.connect(self.mark_stale)
        self.split_label = QLabel("S&plit")
        self.split_label.setBuddy(self.split_combo)
        self.threshold_box = named(QDoubleSpinBox(), "threshold_box", "Threshold")
        self.threshold_box.lineEdit().setTextMargins(*FIELD_MARGINS)
        self.threshold_box.setDecimals(4)
        self.threshold_box.setKeyboardTracking(False)
        self.threshold_box.setLocale(QLocale.c())
        self.threshold_box.setRange(-1e9, 1e9)
        self.threshold_box.setFixedWidth(112)
        self.threshold_box.setToolTip("A row is called positive where its score exceeds this")
        self.threshold_box.valueChanged.connect(self.set_threshold)
        self.threshold_label = QLabel("&Threshold")
        self.threshold_label.setBuddy(self.threshold_box)
        button = QPushButton("&Model's own")
        self.own_button = named(button, "own_threshold_button", "Model's own threshold")
        self.own_button.setToolTip("Back to 0, where the model itself decides")
        self.own_button.clicked.connect(lambda: self.set_threshold(0.0))
        self.follow_check = follow_check("scores_follow_check")
        self.follow_check.toggled.connect(self.mark_stale)
        for widget in (self.split_label, self.split_combo, self.threshold_label):
            self.controls.addWidget(widget)
        for control in (self.threshold_box, self.own_button, self.follow_check):
            self.controls.addWidget(control)
        self.controls.addStretch(1)

    def _make_plot(self) -> None:
        self.plot = make_plot("scores_plot", "Score", "Density within the class")
        for side in ("left", "bottom"):
            self.plot.getAxis(side).enableAutoSIPrefix(False)
        self.wrong_curves, self.curves = [_steps(), _steps()], [_steps(), _steps()]
        self.own_line = pg.InfiniteLine(0.0, angle=90)
        self.line = pg.InfiniteLine(0.0, angle=90, movable=True)
        self.line.setCursor(Qt.CursorShape.SizeHorCursor)
        self.line.sigPositionChanged.connect(lambda line: self.set_threshold(float(line.value())))
        for item in self.curves:
            self.plot.addItem(item)
        for item in (*self.wrong_curves, self.own_line, self.line):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.scene().sigMouseClicked.connect(self._on_click)

    def _make_readout(self) -> None:
        """Lay the confusion matrix out as a grid of labels that keep their place."""
        self.readout = named(QWidget(), "confusion", "Confusion matrix")
        # A long class name is cut off rather than widening the window.
        self.readout.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        grid = QGridLayout(self.readout)
        grid.setContentsMargins(2, 0, 0, 0)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(2)
        self.heads = [
            label("", "muted", name=f"called_{side}") for side in ("positive", "negative")
        ]
        self.sides = [label("", name=f"actual_{side}") for side in ("positive", "negative")]
        self.cells = {name: label("", name=f"count_{name}") for name in ("tp", "fn", "fp", "tn")}
        self.rates = {name: label("", name=f"rate_{name}") for name in ("tpr", "fpr", "precision")}
        right = Qt.AlignmentFlag.AlignRight
        for k, (head, side) in enumerate(zip(self.heads, self.sides, strict=True)):
            grid.addWidget(head, 0, k + 1, right)
            grid.addWidget(side, k + 1, 0)
        for k, cell in enumerate(self.cells.values()):
            grid.addWidget(cell, 1 + k // 2, 1 + k % 2, right)
        titles = {"tpr": "TPR", "fpr": "FPR", "precision": "Precision"}
        tips = {
            "tpr": "Share of the positives found (recall)",
            "fpr": "Share of the negatives called positive",
            "precision": "Share of those called positive that are",
        }
        for k, (name, rate) in enumerate(self.rates.items()):
            head = label(titles[name], "muted")
            head.setToolTip(tips[name])
            grid.addWidget(head, 0, 4 + k, right)
            grid.addWidget(rate, 1, 4 + k, right)
        shade = label("full colour: on the wrong side", "muted")
        grid.addWidget(shade, 2, 4, 1, 4, Qt.AlignmentFlag.AlignLeft)
        grid.setColumnMinimumWidth(3, 16)
        grid.setColumnStretch(7, 1)

    def _lay_out(self) -> None:
        self.hint = hint_label("scores_hint")
        column = QVBoxLayout()
        column.setSpacing(8)
        column.addWidget(self.readout)
        column.addWidget(self.hint, stretch=1)
        column.addWidget(self.plot, stretch=3)
        self.body.addLayout(column)

    def figure(self) -> pg.PlotWidget:
        return self.plot

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        live, run = self._followed(), self.session.run(self.session.selected)
        self.follow_check.setVisible(self.session.live is not None)
        self._dress()
        if live is not None:
            self._show_live(live)
        elif run is not None and run.record.splits:
            self._show_run(run)
        else:
            self._show_nothing(run)

    def refresh_live(self) -> None:
        live = self._followed()
        picture = () if live is None else (live, live.picture)
        was_live = bool(self._subject) and isinstance(self._subject[0], LiveRun)
        if (live is not None or was_live) and picture != self._subject:
            self.refresh()
        self.follow_check.setVisible(self.session.live is not None)

    def _followed(self) -> LiveRun | None:
        """Give the run in flight if it is what is to be seen: wished, and with a scorer."""
        live = self.session.live
        if live is None or live.picture is None or not self.follow_check.isChecked():
            return None
        return live

    def _show_run(self, run: ShownRun) -> None:
        splits = run.record.splits
        self._offer_splits(len(splits))
        index = min(max(self.split_combo.currentIndex(), 0), len(splits) - 1)
        split = splits[index]
        self._names = (run.record.experiment.data.positive, split.model.negative)
        if self._subject != (run.record.id, index):
            self._subject = (run.record.id, index)
            self.threshold = 0.0
            self._draw(Distribution.of(split.test_positive, split.test_scores))
            self.plot.enableAutoRange()
        self._name_classes()
        self._show_parts(True)
        self._show_threshold()

    def _show_live(self, live: LiveRun) -> None:
        picture = live.picture
        assert picture is not None
        self._subject = (live, picture)
        table = self.session.table
        positive = live.experiment.data.positive
        others = [] if table is None else [name for name in table.classes if name != positive]
        self._names = (positive, others[0] if len(others) == 1 else "the rest")
        self._draw(Distribution.of(picture.positive, picture.scores))
        self._name_classes()
        self._show_parts(False)
        rows = len(picture.positive)
        self.sentence.setText(
            f"{live.look.name} is training: scores of {rows:,} held-out rows as they stand. The "
            "threshold is set when it ends."
        )

    def _show_nothing(self, run: ShownRun | None) -> None:
        self._subject, self.distribution = (), None
        self._show_parts(False)
        self.plot.setVisible(False)
        self.hint.setText("No scores yet")
        self.hint.setVisible(True)
        self.sentence.setText(
            self.why_empty(
                run, "scores", "its scores appear with its first scorer", "how both classes score"
            )
        )

    def _show_parts(self, decided: bool) -> None:
        """Show what belongs to a finished run, or only the distributions."""
        self.hint.setVisible(False)
        self.plot.setVisible(True)
        several = decided and self.split_combo.count() > 1
        for widget in (self.split_label, self.split_combo):
            widget.setVisible(several)
        for control in (self.threshold_label, self.threshold_box, self.own_button, self.readout):
            control.setVisible(decided)
        for item in (self.line, self.own_line, *self.wrong_curves):
            item.setVisible(decided)

    def _offer_splits(self, count: int) -> None:
        if self.split_combo.count() != count:
            with QSignalBlocker(self.split_combo):
                self.split_combo.clear()
                self.split_combo.addItems([f"{k + 1} of {count}" for k in range(count)])

    def _draw(self, distribution: Distribution) -> None:
        self.distribution = distribution
        for item, heights in zip(self.curves, distribution.heights, strict=True):
            item.setData(distribution.edges, heights)
        peak = max(float(heights.max()) for heights in distribution.heights)
        self.plot.setLimits(yMin=0, yMax=1.05 * peak)
        self.plot.setYRange(0, 1.05 * peak, padding=0)
        span = float(distribution.edges[-1] - distribution.edges[0])
        self.threshold_box.setSingleStep(float(f"{span / 100:.0e}"))

    # ------------------------------------------------------------- threshold

    def set_threshold(self, value: float) -> None:
        """Move the threshold; local to this picture."""
        if value != self.threshold:
            self.threshold = value
            self._show_threshold()

    def _show_threshold(self) -> None:
        distribution = self.distribution
        if distribution is None:
            return
        with QSignalBlocker(self.line), QSignalBlocker(self.threshold_box):
            self.line.setValue(self.threshold)
            self.threshold_box.setValue(self.threshold)
        self.own_button.setEnabled(self.threshold != 0.0)
        parts = distribution.wrong_parts(self.threshold)
        for item, (x, y) in zip(self.wrong_curves, parts, strict=True):
            item.setData(x, y)
        counts = distribution.confusion(self.threshold)
        for name, cell in self.cells.items():
            cell.setText(f"{name.upper()}  {getattr(counts, name):,}")
        for name, rate in self.rates.items():
            value = getattr(counts, name)
            rate.setText("–" if np.isnan(value) else f"{value:.3f}")
        self._tell(counts)

    def _tell(self, counts: Confusion) -> None:
        run = self.session.run(self.session.selected)
        positive, negative = self._names
        value = f"{self.threshold:.4g}".replace("-", "−")
        where = "its own threshold, 0," if self.threshold == 0 else f"threshold {value}"
        name = run.look.name if run is not None else "the run"
        m, n = counts.tp + counts.fn, counts.fp + counts.tn
        missed = f"{counts.fn:,} of {m:,} {positive}"
        alarms = f"{counts.fp:,} of {n:,} {negative}"
        precise = "" if np.isnan(counts.precision) else f", precision {counts.precision:.3f}"
        self.sentence.setText(
            f"At {where} {name} misses {missed} and takes {alarms} for {positive}: TPR "
            f"{counts.tpr:.3f}, FPR {counts.fpr:.3f}{precise}."
        )

    # ------------------------------------------------------------- dress

    def _dress(self) -> None:
        theme = current_theme()
        for k, colour in enumerate((theme.positive, theme.negative)):
            self.curves[k].setPen(pen(colour, 1.8, () if k == 0 else (6.0, 3.0)))
            self.curves[k].setBrush(faded(colour, _FILL))
            self.wrong_curves[k].setPen(pen(QColor(0, 0, 0, 0), 0.0))
            self.wrong_curves[k].setBrush(faded(colour, _WRONG_FILL))
        self.line.setPen(pen(theme.accent, 2.0))
        self.line.setHoverPen(pen(theme.accent, 4.0))
        self.own_line.setPen(pen(theme.neutral, 1.2, (1.5, 3.0)))

    def _name_classes(self) -> None:
        dressed = (*self._names, current_theme().name)
        if dressed == self._dressed:
            return
        self._dressed = dressed
        metrics = QFontMetrics(self.font())
        short = [
            metrics.elidedText(n, Qt.TextElideMode.ElideRight, _NAME_WIDTH) for n in self._names
        ]
        for k, name in enumerate(short):
            self.heads[k].setText(f"called {name}")
            self.sides[k].setText(f"is {name}")
            for widget in (self.heads[k], self.sides[k]):
                widget.setToolTip(self._names[k])
        theme = current_theme()
        samples = ((theme.positive, "━━"), (theme.negative, "╍╍"))
        key = (
            f'<span style="color:{colour}">{line}</span> {escape(name)}'
            for (colour, line), name in zip(samples, short, strict=True)
        )
        # The title is the legend: it lies outside the plot, where it covers nothing.
        self.plot.setTitle("&nbsp;&nbsp;&nbsp;&nbsp;".join(key), color=theme.text, size="10pt")

    def _on_click(self, event: Any) -> None:
        if event.double():
            self.plot.enableAutoRange(axis="x")


def _steps() -> pg.PlotCurveItem:
    """Make an empty histogram: one edge, no bin."""
    return pg.PlotCurveItem(np.zeros(1), np.empty(0), stepMode="center", fillLevel=0)
