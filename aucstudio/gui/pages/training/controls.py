"""The controls of the Training page: the horizontal axis, what both plots show, which split."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QHBoxLayout, QLabel

from aucstudio.gui.common.choices import SplitCombo
from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import make_buddy, make_combo
from aucstudio.gui.pages.training.course import ITERATION, SECONDS
from aucstudio.gui.pages.training.plots import DISTANCE, OBJECTIVE
from aucstudio.gui.state.session import Session
from aucstudio.project.runs.experiments.experiment import Band

AUC, PAUC = "auc", "pauc"
_ONE_ROW, _LABELLED = 620, 330


class TrainingControls(PageView):
    """The page with its controls and no picture yet."""

    chosen = Signal()  # a control was used

    def __init__(self, session: Session) -> None:
        super().__init__(session, "training_view", "Training")
        self._labels: dict[QComboBox, QLabel] = {}
        # One row, or two where the page is narrow.
        self._rows = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._rows.setSpacing(8)
        self.controls.addLayout(self._rows)
        self.controls.addStretch(1)
        self._row = self._add_row()
        self._make_axis()
        tip = "All: the split pointed at is strong, the others are thin"
        self.split_combo = SplitCombo("training_split", tip, every=True)
        self._add(self.split_combo, "Spl&it")
        self.split_combo.currentIndexChanged.connect(self._on_split)
        self._row = self._add_row()
        self._make_plots_choice()

    def _add_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self._rows.addLayout(row)
        return row

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = self.width()
        directions = QBoxLayout.Direction
        self._rows.setDirection(
            directions.LeftToRight if width > _ONE_ROW else directions.TopToBottom
        )
        # The lists say what they are by themselves; their labels give way first.
        for combo, label in self._labels.items():
            label.setVisible(width > _LABELLED and combo.isVisibleTo(self))

    def _make_axis(self) -> None:
        self.x_combo = self._add_combo("x_combo", "&X axis", "What runs to the right")
        self.x_combo.addItem("Iterations", ITERATION)
        self.x_combo.addItem("Seconds", SECONDS)
        plain_tooltip(self.x_combo, "Seconds count the fit alone, not the time spent watching it")
        self.x_combo.currentIndexChanged.connect(self._on_choice)

    def _make_plots_choice(self) -> None:
        self.upper_combo = self._add_combo(
            "upper_combo", "&Upper plot", "What the upper plot shows"
        )
        self.upper_combo.addItem("Gap to optimum", DISTANCE)
        self.upper_combo.addItem("Objective", OBJECTIVE)
        plain_tooltip(
            self.upper_combo,
            "Gap to optimum: upper bound on the remaining improvement of the objective (dual "
            "gap), logarithmic, where the method has one. Objective: its value",
        )
        self.lower_combo = self._add_combo(
            "lower_combo", "&Lower plot", "What the lower plot shows"
        )
        self.lower_combo.addItem("AUC", AUC)
        self.lower_combo.addItem("pAUC", PAUC)
        plain_tooltip(
            self.lower_combo,
            "The area over the same rows at every look at the scorer; partial: in the FPR range, "
            "divided by its width",
        )
        self._wished = DISTANCE
        self.upper_combo.currentIndexChanged.connect(self._on_upper)
        self.lower_combo.currentIndexChanged.connect(self._on_choice)

    def _add_combo(self, name: str, words: str, accessible: str) -> QComboBox:
        combo = make_combo(name, accessible)
        self._add(combo, words)
        return combo

    def _add(self, combo: QComboBox, words: str) -> None:
        self._labels[combo] = make_buddy(words, combo)
        self._row.addWidget(self._labels[combo])
        self._row.addWidget(combo)

    # ------------------------------------------------------------- reading

    def axis(self) -> str:
        """Give the horizontal axis."""
        return str(self.x_combo.currentData())

    def what(self) -> str:
        """Give what the upper plot shows."""
        return str(self.upper_combo.currentData())

    def band(self) -> Band | None:
        """Give the FPR range whose partial area is shown, or None for the whole area."""
        return self.session.plan.band if self.lower_combo.currentData() == PAUC else None

    def is_one_split(self) -> bool:
        """Tell whether only the split pointed at is shown."""
        return self.split_combo.is_one

    def fill_splits(self) -> None:
        """Offer the splits of the chosen run, where there are several."""
        run = self.session.run(self.session.selected)
        count = 0 if run is None else len(run.record.splits)
        self.split_combo.offer(count, self.session.focus.split)
        self.split_combo.setVisible(count > 1)
        self._labels[self.split_combo].setVisible(count > 1 and self.width() > _LABELLED)

    def offer_gap(self, proven: bool) -> None:
        """Offer the gap where one is proven; elsewhere the objective is all there is to show."""
        self.upper_combo.setEnabled(proven)
        with QSignalBlocker(self.upper_combo):
            wanted = self._wished if proven else OBJECTIVE
            self.upper_combo.setCurrentIndex(self.upper_combo.findData(wanted))

    def _on_upper(self) -> None:
        self._wished = self.what()
        self._on_choice()

    def _on_choice(self) -> None:
        self.chosen.emit()
        self.mark_stale()

    def _on_split(self) -> None:
        if self.is_one_split():
            self.session.point_at(split=self.split_combo.currentData())
        self._on_choice()
