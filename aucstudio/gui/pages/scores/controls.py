"""The controls above the Scores picture: split, threshold, heights."""

from __future__ import annotations

import math

from PySide6.QtCore import QLocale, QSignalBlocker
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QHBoxLayout, QLabel, QPushButton, QWidget

from aucstudio.gui.common.plain import PlainLabel, plain_tooltip
from aucstudio.gui.common.widgets import FIELD_MARGINS, follow_check, named
from aucstudio.gui.pages.scores.plot import COUNTS, DENSITY
from aucstudio.project.results.distribution import ScoreDistribution

_DECIMALS = 4


class ScoreControls:
    """Makes them and shows the state in them; the view listens.

    Attributes
    ----------
    split_combo, scale_combo : QComboBox
    threshold_box : QDoubleSpinBox
    own_button : QPushButton
    follow_check : QCheckBox
    """

    def __init__(self, layout: QHBoxLayout) -> None:
        self.split_combo = named(QComboBox(), "scores_split_combo", "Split")
        plain_tooltip(
            self.split_combo, "Each split has a model, and so a scale of scores, of its own"
        )
        self.split_label = _buddy("S&plit", self.split_combo)
        self.threshold_box = _threshold_box()
        self.threshold_label = _buddy("&Threshold", self.threshold_box)
        button = QPushButton("&Model's own")
        self.own_button = named(button, "own_threshold_button", "Model's own threshold")
        plain_tooltip(self.own_button, "Back to 0, where the model itself decides")
        self.scale_combo = named(QComboBox(), "scores_scale_combo", "Heights")
        self.scale_combo.addItem("Density", DENSITY)
        self.scale_combo.addItem("Count, log", COUNTS)
        plain_tooltip(
            self.scale_combo,
            "Density makes both classes equally large; counts on a logarithmic axis show how rare "
            "one of them is, and its single rows",
        )
        self.scale_label = _buddy("Hei&ghts", self.scale_combo)
        self.follow_check = follow_check("scores_follow_check")
        for widget in (self.split_label, self.split_combo, self.threshold_label):
            layout.addWidget(widget)
        for control in (self.threshold_box, self.own_button, self.scale_label, self.scale_combo):
            layout.addWidget(control)
        layout.addWidget(self.follow_check)
        layout.addStretch(1)

    def offer_splits(self, count: int, chosen: int) -> None:
        """Offer so many splits, one of them chosen."""
        with QSignalBlocker(self.split_combo):
            if self.split_combo.count() != count:
                self.split_combo.clear()
                self.split_combo.addItems([f"{k + 1} of {count}" for k in range(count)])
            self.split_combo.setCurrentIndex(chosen)

    def fit(self, distribution: ScoreDistribution) -> None:
        """Let the threshold move in steps that suit the scores."""
        span = float(distribution.edges[-1] - distribution.edges[0])
        with QSignalBlocker(self.threshold_box):
            # Fewer decimals round the value, which is no wish of anybody.
            decimals = max(_DECIMALS, 3 - math.floor(math.log10(span)))
            self.threshold_box.setDecimals(decimals)
            self.threshold_box.setSingleStep(float(f"{span / 100:.0e}"))

    def show_threshold(self, threshold: float) -> None:
        """Show where the threshold lies."""
        with QSignalBlocker(self.threshold_box):
            self.threshold_box.setValue(threshold)
        self.own_button.setEnabled(threshold != 0.0)

    def show_parts(self, decided: bool, *, threshold: bool) -> None:
        """Show what belongs to a finished run, the threshold too, or what any picture has."""
        several = decided and self.split_combo.count() > 1
        for widget in (self.split_label, self.split_combo):
            widget.setVisible(several)
        for control in (self.threshold_label, self.threshold_box, self.own_button):
            control.setVisible(decided and threshold)


def _threshold_box() -> QDoubleSpinBox:
    box = named(QDoubleSpinBox(), "threshold_box", "Threshold")
    box.lineEdit().setTextMargins(*FIELD_MARGINS)
    box.setDecimals(_DECIMALS)
    box.setKeyboardTracking(False)
    box.setLocale(QLocale.c())
    box.setRange(-1e9, 1e9)
    box.setMinimumWidth(64)
    box.setMaximumWidth(112)
    plain_tooltip(box, "The positive class is predicted where the score exceeds this")
    return box


def _buddy(text: str, widget: QWidget) -> QLabel:
    made = PlainLabel(text)
    made.setBuddy(widget)
    return made
