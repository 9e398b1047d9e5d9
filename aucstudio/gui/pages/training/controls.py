"""The controls of the Training page: the horizontal axis, what both plots show, which split."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal

from aucstudio.gui.common.view import PageView
from aucstudio.gui.pages.training.course import ITERATION, SECONDS
from aucstudio.gui.pages.training.plots import DISTANCE, OBJECTIVE
from aucstudio.gui.state.session import Session
from aucstudio.project.runs.experiments.experiment import Band

AUC, PAUC = "auc", "pauc"


class TrainingControls(PageView):
    """The page with its controls and no picture yet."""

    chosen = Signal()  # a control was used

    def __init__(self, session: Session) -> None:
        super().__init__(session, "training_view", "Training")
        row = self.controls
        self.x_combo = row.choice(
            "x_combo",
            "&X axis",
            "Seconds count the fit alone, not the time spent watching it",
            (("Iterations", ITERATION), ("Seconds", SECONDS)),
            self._on_choice,
            says="What runs to the right",
        )
        self.split_combo = row.splits(
            "training_split",
            "All: the split pointed at is strong, the others are thin",
            self._on_split,
            every=True,
        )
        self._wished = DISTANCE
        self.upper_combo = row.choice(
            "upper_combo",
            "&Upper plot",
            "Gap to optimum: upper bound on the remaining improvement of the objective (dual "
            "gap), logarithmic, where the method has one. Objective: its value",
            (("Gap to optimum", DISTANCE), ("Objective", OBJECTIVE)),
            self._on_upper,
            says="What the upper plot shows",
        )
        self.lower_combo = row.choice(
            "lower_combo",
            "&Lower plot",
            "The area over the same rows at every look at the scorer; partial: in the FPR range, "
            "divided by its width",
            (("AUC", AUC), ("pAUC", PAUC)),
            self._on_choice,
            says="What the lower plot shows",
        )
        row.addStretch(1)

    # ------------------------------------------------------------- reading

    def axis(self) -> str:
        """Return the horizontal axis."""
        return str(self.x_combo.currentData())

    def what(self) -> str:
        """Return what the upper plot shows."""
        return str(self.upper_combo.currentData())

    def band(self) -> Band | None:
        """Return the FPR range whose partial area is shown, or None for the whole area."""
        return self.session.plan.band if self.lower_combo.currentData() == PAUC else None

    def is_one_split(self) -> bool:
        """Return whether only the split pointed at is shown."""
        return self.split_combo.is_one

    def fill_splits(self) -> None:
        """Offer the splits of the chosen run, where there are several."""
        run = self.session.run(self.session.selected)
        count = 0 if run is None else len(run.record.splits)
        self.split_combo.offer(count, self.session.focus.split)
        self.controls.show(count > 1, self.split_combo)

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
