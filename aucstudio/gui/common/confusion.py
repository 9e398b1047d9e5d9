"""The confusion matrix of a threshold as a card: counts, counts per 10,000 cases, and rates."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import label, named
from aucstudio.project.results.distribution import Confusion
from aucstudio.project.results.operating import (
    CASES,
    amount_words,
    binomial_interval,
    case_counts,
    point_measures,
    share_words,
)
from aucstudio.project.words import interval_words

CARD_WIDTH = 272
_NAME_WIDTH = 56
_RIGHT = Qt.AlignmentFlag.AlignRight
_COUNTS = ("tp", "fn", "fp", "tn")
_RATES = {
    "tpr": ("TPR", "Share of the positives found (recall), with its exact 95 % interval"),
    "fpr": ("FPR", "Share of the negatives called positive, with its exact 95 % interval"),
    "precision": ("Precision", "Share of those called positive that are"),
    "f1": ("F1", "Harmonic mean of precision and TPR"),
    "accuracy": ("Accuracy", "Share of the rows called what they are"),
}


class ConfusionCard(QWidget):
    """Counts of a threshold on held-out rows, and what they mean where positives are rarer.

    Attributes
    ----------
    cells, cases : dict of str to QLabel
        Counts "tp", "fn", "fp" and "tn" of the rows, and of 10,000 cases at the prior.
    rates, notes : dict of str to QLabel
        Values on the rows; beside them the interval, or the value at the chosen prior.
    """

    def __init__(self, name: str = "confusion") -> None:
        super().__init__()
        named(self, name, "Confusion matrix")
        self.setFixedWidth(scaled(CARD_WIDTH))
        self.grid = QGridLayout(self)
        self.grid.setContentsMargins(0, 0, 0, 0)
        self.grid.setHorizontalSpacing(8)
        self.grid.setVerticalSpacing(1)
        self.grid.setColumnStretch(2, 1)
        self.heads = [label("", "muted", name=f"called_{s}") for s in ("positive", "negative")]
        self.sides = [label("", name=f"actual_{s}") for s in ("positive", "negative")]
        self.cells = {key: label("", name=f"count_{key}") for key in _COUNTS}
        self.cases = {key: label("", "muted", name=f"cases_{key}") for key in _COUNTS}
        self.caption = label("", "muted", name="cases_caption")
        self._lay_out_matrix()
        self.rates: dict[str, QLabel] = {}
        self.notes: dict[str, QLabel] = {}
        for k, key in enumerate(_RATES):
            self._add_rate(7 + k, key)

    def _lay_out_matrix(self) -> None:
        for k, (head, side) in enumerate(zip(self.heads, self.sides, strict=True)):
            self.grid.addWidget(head, 0, k + 1, _RIGHT)
            self.grid.addWidget(side, 2 * k + 1, 0)
        for k, key in enumerate(_COUNTS):
            row, column = 2 * (k // 2) + 1, 1 + k % 2
            self.grid.addWidget(self.cells[key], row, column, _RIGHT)
            self.grid.addWidget(self.cases[key], row + 1, column, _RIGHT)
        self.grid.addWidget(self.caption, 5, 0, 1, 3, _RIGHT)
        self.grid.setRowMinimumHeight(6, 8)

    def _add_rate(self, row: int, key: str) -> None:
        title, tip = _RATES[key]
        head = label(title, "muted")
        plain_tooltip(head, tip)
        self.rates[key] = label("", name=f"rate_{key}")
        self.notes[key] = label("", "muted", name=f"note_{key}")
        self.grid.addWidget(head, row, 0)
        self.grid.addWidget(self.rates[key], row, 1, _RIGHT)
        self.grid.addWidget(self.notes[key], row, 2, _RIGHT)

    def name_classes(self, positive: str, negative: str) -> None:
        """Name the classes; a long name is cut off, and whole in the tooltip."""
        metrics = QFontMetrics(self.font())
        for k, name in enumerate((positive, negative)):
            short = metrics.elidedText(name, Qt.TextElideMode.ElideRight, _NAME_WIDTH)
            self.heads[k].setText(f"called {short}")
            self.sides[k].setText(f"is {short}")
            for widget in (self.heads[k], self.sides[k]):
                plain_tooltip(widget, name)

    def show_counts(self, counts: Confusion, prior: float, chosen: bool) -> None:
        """Show what a threshold does.

        Parameters
        ----------
        counts : Confusion
        prior : float
            Share of positives among the 10,000 cases.
        chosen : bool
            Whether a person chose it; else it is that of the data.
        """
        shares = case_counts(counts.tpr, counts.fpr, prior)
        for key, cases in zip(_COUNTS, shares, strict=True):
            self.cells[key].setText(f"{key.upper()}  {getattr(counts, key):,}")
            self.cases[key].setText(amount_words(cases))
        whose = share_words(prior) if chosen else f"{share_words(prior)} as in the data"
        self.caption.setText(f"per {CASES:,} cases: {whose}")
        m, n = counts.tp + counts.fn, counts.fp + counts.tn
        here = point_measures(counts.tpr, counts.fpr, m / (m + n))
        there = point_measures(counts.tpr, counts.fpr, prior) if chosen else {}
        for key, value in ({"tpr": counts.tpr, "fpr": counts.fpr} | here).items():
            self.rates[key].setText(_rate(value))
            self.notes[key].setText(f"{_rate(there[key], 4)} at prior" if key in there else "")
        for key, count, trials in (("tpr", counts.tp, m), ("fpr", counts.fp, n)):
            self.notes[key].setText(interval_words(*binomial_interval(count, trials)))


def _rate(value: float, decimals: int = 3) -> str:
    return "–" if math.isnan(value) else f"{value:.{decimals}f}"
