"""Which model of a run is taken, and from which score on it says positive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QRadioButton,
    QWidget,
)

from aucstudio.engine.roc import ThresholdRule
from aucstudio.gui.common.widgets import FIELD_MARGINS, label, named
from aucstudio.gui.state.focus import Focus
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.data.split import LEAVE_PAIR_OUT
from aucstudio.project.results.operating import model_at
from aucstudio.project.runs.execute import refit
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.take_model import rethresholded, validated_model

VALIDATED, ANEW = 0, 1

_PICTURE = "picture"
_RULES = {
    "equal-error": "where both error rates are equal",
    "fpr": "up to a false-positive rate of",
    "cost": "at least cost, a miss being",
    "min-max": "midway between the classes",
}


class ModelChoice(QObject):
    """Controls that choose between the model that was validated and one trained on all rows.

    Parameters
    ----------
    session : Session
    run : ShownRun
    parent : QWidget

    Signals
    -------
    changed
        Another model or threshold is chosen.

    Attributes
    ----------
    kinds : QButtonGroup
        Its buttons :data:`VALIDATED` and :data:`ANEW`; a dialog may add others.
    """

    changed = Signal()

    def __init__(self, session: Session, run: ShownRun, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._run, self._table = session, run, session.table
        # The focus is on the chosen run; of another one nothing is pointed at.
        focus = session.focus if run.record.id == session.selected else Focus()
        self._threshold = focus.threshold
        self._split = min(focus.split, len(run.record.splits) - 1)
        self._anew: Model | None = None
        self.kinds = QButtonGroup(self)
        for k, text in enumerate(self._choices()):
            self.kinds.addButton(named(QRadioButton(text), f"model_choice_{k}", text), k)
        self.kinds.button(VALIDATED).setChecked(True)
        self.kinds.button(ANEW).setEnabled(self._table is not None)
        self._make_threshold(parent)

    def _make_threshold(self, parent: QWidget) -> None:
        self.rule = named(QComboBox(), "threshold_combo", "Threshold")
        self.rule.addItem("as the method chose it", None)
        if self._threshold != 0.0:
            self.rule.addItem("at the operating point of the picture", _PICTURE)
        for key, words in _RULES.items():
            self.rule.addItem(words, key)
        self.rule.setCurrentIndex(max(0, self.rule.findData(_PICTURE)))
        self.bound = named(QDoubleSpinBox(), "threshold_fpr", "Highest false-positive rate")
        self.bound.setRange(0.0, 1.0)
        self.bound.setDecimals(4)
        self.bound.setSingleStep(0.01)
        self.bound.setValue(self._session.plan.band[1])
        self.ratio = named(QDoubleSpinBox(), "threshold_cost", "Cost of a miss in false alarms")
        self.ratio.setRange(0.1, 10_000.0)
        self.ratio.setDecimals(1)
        self.ratio.setSuffix(" false alarms")
        self.ratio.setValue(10.0)
        for field in (self.bound, self.ratio):
            field.lineEdit().setTextMargins(*FIELD_MARGINS)
            field.setMaximumWidth(160)
        self.effect = label("", "muted", wrap=True, name="threshold_effect")
        self.title = label("Says positive")
        self.title.setBuddy(self.rule)
        for widget in self._fields():
            widget.setParent(parent)  # at once: what is shown without one is a window
        self.rule.currentIndexChanged.connect(self._on_change)
        self.bound.valueChanged.connect(self._on_change)
        self.ratio.valueChanged.connect(self._on_change)
        self.kinds.idToggled.connect(lambda _kind, on: self._on_change() if on else None)
        self._show_effect()

    def _fields(self) -> tuple[QWidget, ...]:
        return self.title, self.rule, self.bound, self.ratio, self.effect

    def add_threshold(self, grid: QGridLayout, row: int) -> None:
        """Put the threshold into two rows of a form."""
        fields = QHBoxLayout()
        fields.setSpacing(8)
        fields.addWidget(self.rule, stretch=1)
        fields.addWidget(self.bound)
        fields.addWidget(self.ratio)
        grid.addWidget(self.title, row, 0)
        grid.addLayout(fields, row, 1)
        grid.addWidget(self.effect, row + 1, 1)

    @property
    def is_of_run(self) -> bool:
        """Whether the model is one of the run's, not of another choice that was added."""
        return self.kinds.checkedId() in (VALIDATED, ANEW)

    def threshold_rule(self) -> ThresholdRule | None:
        """Give the rule that is chosen; None leaves the threshold as it is.

        A threshold of the picture means nothing on other scores, those of a model trained anew or
        of its own training rows: what is carried over is its false-positive rate.
        """
        rule = self.rule.currentData()
        if rule is None:
            return None
        if rule == _PICTURE:
            split = self._run.record.splits[self._split]
            alarms = split.test_scores[~split.test_positive] > self._threshold
            return ThresholdRule("fpr", fpr=float(alarms.mean()))
        return ThresholdRule(rule, fpr=self.bound.value(), cost_fn=self.ratio.value())

    def validated(self) -> Model:
        """Give the model of the split that is looked at, with its threshold where it is wished."""
        if self.rule.currentData() == _PICTURE and not self._in_sample():
            return model_at(self._run.record.splits[self._split], self._threshold)
        return validated_model(self._run.record, self._split, self.threshold_rule())

    def making(self) -> Callable[[Callable[[Any], bool]], Model]:
        """Give what makes the chosen model, on another thread: it may have to be trained."""
        if self.kinds.checkedId() == VALIDATED:
            model = self.validated()
            return lambda _post: model
        rule, table, experiment = self.threshold_rule(), self._table, self._run.record.experiment
        assert table is not None

        def make(post: Callable[[Any], bool]) -> Model:
            # Trained once: another threshold needs no other training.
            if self._anew is None:
                self._anew = refit(experiment, table, post)
            return rethresholded(self._anew, experiment, table, rule)

        return make

    def _rates(self, threshold: float) -> tuple[float, float]:
        """Compute TPR and FPR of a threshold on the rows that thresholds are chosen on."""
        split = self._run.record.splits[self._split]
        y = split.train_positive if self._in_sample() else split.test_positive
        called = (split.train_scores if self._in_sample() else split.test_scores) > threshold
        return float(called[y].mean()), float(called[~y].mean())

    def _in_sample(self) -> bool:
        return self._run.record.experiment.validation.scheme == LEAVE_PAIR_OUT

    def _on_change(self) -> None:
        self._show_effect()
        self.changed.emit()

    def _show_effect(self) -> None:
        key = self.rule.currentData()
        hidden = {self.bound} if key != "fpr" else set()
        hidden |= {self.ratio} if key != "cost" else set()
        for field in self._fields():
            field.setVisible(self.is_of_run and field not in hidden)
        own = self._run.record.splits[self._split].model.intercept
        tpr, fpr = self._rates(own - self.validated().intercept)
        rows = "training" if self._in_sample() else "held-out"
        anew = key == _PICTURE and self.kinds.checkedId() == ANEW
        self.effect.setText(
            f"TPR {tpr:.3f}, FPR {fpr:.3f} on the {rows} rows"
            + ("; trained anew, the same FPR on its training rows" if anew else "")
        )

    def _choices(self) -> list[str]:
        splits, at = self._run.record.splits, self._split
        which = "model" if len(splits) == 1 else f"model of split {at + 1} of {len(splits)}"
        return [
            f"The {which} that was validated ({len(splits[at].train_rows):,} training rows)",
            "Trained anew on all labelled rows",
        ]
