"""Taking a model away: the one that was validated, or one trained on everything."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from aucstudio.engine.roc import ThresholdRule
from aucstudio.gui import prompts
from aucstudio.gui.background import Background
from aucstudio.gui.focus import Focus
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.widgets import FIELD_MARGINS, dialog_buttons, label, named, primary, tell
from aucstudio.project.data.split import LEAVE_PAIR_OUT
from aucstudio.project.errors import InputError
from aucstudio.project.results.operating import model_at
from aucstudio.project.runs.execute import refit
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.take_model import rethresholded, validated_model
from aucstudio.project.runs.watch import Progress
from aucstudio.project.store.export import FORMATS, NATIVE, Format
from aucstudio.project.store.files import write_atomically
from aucstudio.project.work.job import Job

_PICTURE = "picture"
_RULES = {
    "equal-error": "where both error rates are equal",
    "fpr": "up to a false-positive rate of",
    "cost": "at least cost, a miss being",
    "min-max": "midway between the classes",
}


class ExportModelDialog(QDialog):
    """Asks which model, trains anew where that is wished, and saves it."""

    def __init__(self, session: Session, run: ShownRun, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("export_model_dialog")
        self.setWindowTitle(f"Export {run.look.name}")
        self.setMinimumWidth(540)
        self._session, self._run = session, run
        # The focus is on the chosen run; of another one nothing is pointed at.
        focus = session.focus if run.record.id == session.selected else Focus()
        self._threshold = focus.threshold
        self._split = min(focus.split, len(run.record.splits) - 1)
        self._work = Background(self, self._land)
        self.kinds = QButtonGroup(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(label("Which model?", "title"))
        for k, text in enumerate(self._choices()):
            button = named(QRadioButton(text), f"model_choice_{k}", text)
            self.kinds.addButton(button, k)
            layout.addWidget(button)
        self.kinds.button(0).setChecked(True)
        self.kinds.button(1).setEnabled(session.table is not None)
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        self._add_threshold(grid)
        self._add_format(grid)
        layout.addLayout(grid)
        self.about = label("", "muted", wrap=True, name="format_about")
        layout.addWidget(self.about)
        self._show_about()
        self.words = label("", "muted", wrap=True, name="export_words")
        self.words.hide()
        layout.addWidget(self.words)
        layout.addStretch(1)
        self.buttons = dialog_buttons(
            QDialogButtonBox.StandardButton.Save,
            QDialogButtonBox.StandardButton.Cancel,
            name="export",
        )
        save = self.buttons.button(QDialogButtonBox.StandardButton.Save)
        save.setText("&Save…")
        primary(save)
        self.buttons.accepted.connect(self._on_save)
        self.buttons.rejected.connect(self.reject)
        layout.addWidget(self.buttons)

    def _add_threshold(self, grid: QGridLayout) -> None:
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
        self.rule.currentIndexChanged.connect(self._show_effect)
        self.bound.valueChanged.connect(self._show_effect)
        self.ratio.valueChanged.connect(self._show_effect)
        self.kinds.idToggled.connect(self._show_effect)
        title = label("Says positive")
        title.setBuddy(self.rule)
        grid.addWidget(title, 0, 0)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.rule, stretch=1)
        row.addWidget(self.bound)
        row.addWidget(self.ratio)
        grid.addLayout(row, 0, 1)
        grid.addWidget(self.effect, 1, 1)
        self._show_effect()

    def _add_format(self, grid: QGridLayout) -> None:
        self.format = named(QComboBox(), "format_combo", "Format")
        for made in (NATIVE, *FORMATS.values()):
            self.format.addItem(made.title, made.key)
        self.format.currentIndexChanged.connect(self._show_about)
        title = label("Format")
        title.setBuddy(self.format)
        grid.addWidget(title, 2, 0)
        grid.addWidget(self.format, 2, 1)

    def chosen_format(self) -> Format:
        """Give the format that is chosen."""
        return FORMATS.get(self.format.currentData(), NATIVE)

    def _show_about(self) -> None:
        self.about.setText(self.chosen_format().about)

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

    def _rates(self, threshold: float) -> tuple[float, float]:
        """Compute TPR and FPR of a threshold on the rows that thresholds are chosen on."""
        split = self._run.record.splits[self._split]
        y = split.train_positive if self._in_sample() else split.test_positive
        called = (split.train_scores if self._in_sample() else split.test_scores) > threshold
        return float(called[y].mean()), float(called[~y].mean())

    def _in_sample(self) -> bool:
        return self._run.record.experiment.validation.scheme == LEAVE_PAIR_OUT

    def _show_effect(self) -> None:
        key = self.rule.currentData()
        self.bound.setVisible(key == "fpr")
        self.ratio.setVisible(key == "cost")
        own = self._run.record.splits[self._split].model.intercept
        tpr, fpr = self._rates(own - self.validated().intercept)
        rows = "training" if self._in_sample() else "held-out"
        anew = key == _PICTURE and self.kinds.checkedId() == 1
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

    def _on_save(self) -> None:
        if self.kinds.checkedId() == 0:
            self._save(self.validated())
            return
        rule = self.threshold_rule()
        table, experiment = self._session.table, self._run.record.experiment
        assert table is not None
        self.buttons.button(QDialogButtonBox.StandardButton.Save).setEnabled(False)
        tell(self.words, "training on all rows…")
        self._work.start(lambda post: rethresholded(refit(experiment, table, post), table, rule))

    def _land(self, job: Job[Progress, Model]) -> None:
        self.buttons.button(QDialogButtonBox.StandardButton.Save).setEnabled(True)
        if job.result is not None:
            tell(self.words, "")
            self._save(job.result)
        else:
            tell(self.words, str(job.error), "error")

    def _save(self, model: Model) -> None:
        chosen = self.chosen_format()
        path = prompts.ask_save_path(
            self,
            "Save the model",
            f"{self._run.look.name}{chosen.ending}",
            f"{chosen.title} (*{chosen.ending})",
        )
        if not path:
            return
        try:
            target = prompts.with_ending(path, chosen.ending)
            write_atomically(target, chosen.write(model))
        except InputError as error:
            tell(self.words, str(error), "error")
            return
        self._session.told.emit(f"Saved {target}")
        self.accept()

    def reject(self) -> None:
        """Stop the training that is under way, and leave."""
        self._work.drop()
        super().reject()
