"""Confusion matrix of a threshold: counts, counts per 10,000 cases, rates, alerts."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QGridLayout, QWidget

from aucstudio.gui.common.eliding import told_apart
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import label, named
from aucstudio.notices.words import class_words, interval_words
from aucstudio.project.results.summary import Estimate
from aucstudio.project.results.thresholds import (
    CASES,
    Stakes,
    ThresholdFigures,
    amount_words,
    case_counts,
    point_measures,
    share_words,
)

CARD_WIDTH = 272
_NAME_WIDTHS = 60, 84  # pixels, beside the counts and above them
_RIGHT = Qt.AlignmentFlag.AlignRight
_COUNTS = ("tp", "fn", "fp", "tn")
_RATES = {
    "tpr": ("TPR", "Share of the positives found (recall), with its exact 95 % interval"),
    "fpr": ("FPR", "Share of the negatives predicted positive, with its exact 95 % interval"),
    "precision": (
        "Precision",
        "Share of the predicted positives that are positive, with its 95 % interval",
    ),
    "f1": ("F1", "Harmonic mean of precision and TPR"),
    "accuracy": ("Accuracy", "Accuracy"),
}
_ALERTS = {"alerts": "per 1,000", "daily": "a day"}


class ConfusionCard(QWidget):
    """Counts of a threshold on held-out rows, also for 10,000 cases at another prior.

    Attributes
    ----------
    cells, cases : dict of str to QLabel
        Counts "tp", "fn", "fp" and "tn" of the rows, and of 10,000 cases at the prior.
    rates, notes : dict of str to QLabel
        Values and intervals: TPR and FPR of the rows, the others at the prior.
    """

    def __init__(self, name: str = "confusion") -> None:
        super().__init__()
        named(self, name, "Confusion matrix")
        self.setFixedWidth(scaled(CARD_WIDTH))
        self.grid = QGridLayout(self)
        self.grid.setContentsMargins(0, 0, 0, 0)
        self.grid.setHorizontalSpacing(6)
        self.grid.setVerticalSpacing(1)
        self.grid.setColumnStretch(2, 1)
        self.heads = [label("", "muted", name=f"called_{s}") for s in ("positive", "negative")]
        self.sides = [label("", name=f"actual_{s}") for s in ("positive", "negative")]
        self.cells = {key: label("", name=f"count_{key}") for key in _COUNTS}
        self.cases = {key: label("", "muted", name=f"cases_{key}") for key in _COUNTS}
        self.caption = label("", "muted", name="cases_caption")
        self._lay_out_matrix()
        self.rates = {key: label("", name=f"rate_{key}") for key in (*_RATES, *_ALERTS)}
        self.notes = {key: label("", "muted", name=f"note_{key}") for key in _RATES}
        self._lay_out_rates()

    def _lay_out_matrix(self) -> None:
        for k, (head, side) in enumerate(zip(self.heads, self.sides, strict=True)):
            head.setAlignment(_RIGHT)
            self.grid.addWidget(head, 0, k + 1, _RIGHT | Qt.AlignmentFlag.AlignBottom)
            self.grid.addWidget(side, 2 * k + 1, 0)
        for k, key in enumerate(_COUNTS):
            row, column = 2 * (k // 2) + 1, 1 + k % 2
            self.grid.addWidget(self.cells[key], row, column, _RIGHT)
            self.grid.addWidget(self.cases[key], row + 1, column, _RIGHT)
        self.grid.addWidget(self.caption, 5, 0, 1, 3, _RIGHT)
        self.grid.setRowMinimumHeight(6, 8)

    def _lay_out_rates(self) -> None:
        for row, (key, (title, tip)) in enumerate(_RATES.items(), 7):
            head = label(title, "muted")
            plain_tooltip(head, tip)
            for column, widget in enumerate((head, self.rates[key], self.notes[key])):
                side = _RIGHT if column else Qt.AlignmentFlag.AlignLeft
                self.grid.addWidget(widget, row, column, side)
        first = 7 + len(_RATES)
        self.grid.addWidget(label("Alerts", "muted"), first, 0)
        for row, key in enumerate(_ALERTS, first):
            plain_tooltip(self.rates[key], "Cases predicted positive, with the 95 % interval")
            self.grid.addWidget(self.rates[key], row, 0, 1, 3, _RIGHT)

    def name_classes(self, positive: str, negative: str) -> None:
        """Show the names of the classes; a long name is shortened, with the tooltip in full."""
        names = positive, negative
        width = QFontMetrics(self.font()).horizontalAdvance
        cut = [told_apart(*names, scaled(w), width) for w in _NAME_WIDTHS]
        for k, (name, side, head) in enumerate(zip(names, *cut, strict=True)):
            whole = side == name
            self.heads[k].setText(f"predicted\n{class_words(name) if whole else head}")
            self.sides[k].setText(f"is {class_words(side)}")
            for widget in (self.heads[k], self.sides[k]):
                plain_tooltip(widget, name)

    def show_figures(self, figures: ThresholdFigures, stakes: Stakes) -> None:
        """Show the figures of a threshold under the stakes."""
        counts, prior = figures.counts, figures.prior
        shares = case_counts(counts.tpr, counts.fpr, prior)
        for key, cases in zip(_COUNTS, shares, strict=True):
            self.cells[key].setText(f"{key.upper()}  {getattr(counts, key):,}")
            self.cases[key].setText(amount_words(cases))
        share = "–" if math.isnan(prior) else share_words(prior)
        self.caption.setText(f"per {CASES:,} cases, {share} positive")
        for key in ("tpr", "fpr", "precision"):
            self._show_rate(key, getattr(figures, key))
        measures = point_measures(counts.tpr, counts.fpr, prior)
        for key in ("f1", "accuracy"):
            self.rates[key].setText(_rate(measures[key]))
        self._show_amount("alerts", figures.alerts, 1000.0)
        self._show_amount("daily", figures.alerts, stakes.cases or math.nan)
        self.rates["daily"].setVisible(stakes.cases is not None)

    def _show_rate(self, key: str, rate: Estimate) -> None:
        self.rates[key].setText(_rate(rate.value))
        self.notes[key].setText("" if math.isnan(rate.value) else interval_words(*rate.bounds))

    def _show_amount(self, key: str, rate: Estimate, cases: float) -> None:
        value, low, high = (amount_words(share * cases) for share in (rate.value, *rate.bounds))
        interval = "" if math.isnan(rate.value) else f" ({low}–{high})"
        self.rates[key].setText(f"{value} {_ALERTS[key]}{interval}")


def _rate(value: float) -> str:
    """Write a rate; a small one with two significant digits."""
    if math.isnan(value):
        return "–"
    return f"{value:.2g}" if 0 < value < 0.00995 else f"{value:.3f}"
