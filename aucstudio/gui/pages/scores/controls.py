"""The controls above the Scores picture: split, threshold, heights."""

from __future__ import annotations

import math

from PySide6.QtCore import QLocale, QSignalBlocker
from PySide6.QtWidgets import QDoubleSpinBox

from aucstudio.gui.common.control_row import ControlRow
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

    def __init__(self, row: ControlRow) -> None:
        self._row = row
        self.split_combo = row.choice(
            "scores_split_combo",
            "S&plit",
            "Each split has a model, and so a scale of scores, of its own",
        )
        self.threshold_box = row.put(
            _threshold_box(),
            "&Threshold",
            "The positive class is predicted where the score exceeds this",
        )
        self.own_button = row.button(
            "own_threshold_button",
            "&Model's own",
            "Back to 0, where the model itself decides",
            lambda: self.threshold_box.setValue(0.0),
        )
        self.scale_combo = row.choice(
            "scores_scale_combo",
            "Hei&ghts",
            "Density makes both classes equally large; counts on a logarithmic axis show how rare "
            "one of them is, and its single rows",
            (("Density", DENSITY), ("Count, log", COUNTS)),
        )
        self.follow_check = row.put(follow_check("scores_follow_check"))
        row.addStretch(1)

    def offer_splits(self, count: int, chosen: int) -> None:
        """Offer so many splits, one of them chosen."""
        with QSignalBlocker(self.split_combo):
            if self.split_combo.count() != count:
                self.split_combo.clear()
                self.split_combo.addItems([f"{k + 1} of {count}" for k in range(count)])
            self.split_combo.setCurrentIndex(chosen)

    def fit(self, distribution: ScoreDistribution) -> None:
        """Set the threshold's step to suit the scores."""
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
        self._row.show(decided and self.split_combo.count() > 1, self.split_combo)
        self._row.show(decided and threshold, self.threshold_box, self.own_button)


def _threshold_box() -> QDoubleSpinBox:
    box = named(QDoubleSpinBox(), "threshold_box", "Threshold")
    box.lineEdit().setTextMargins(*FIELD_MARGINS)
    box.setDecimals(_DECIMALS)
    box.setKeyboardTracking(False)
    box.setLocale(QLocale.c())
    box.setRange(-1e9, 1e9)
    box.setMinimumWidth(64)
    box.setMaximumWidth(112)
    return box
