"""Taking a model away: the one that was validated, or one trained on everything."""

from __future__ import annotations

import itertools

from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common import prompts
from aucstudio.gui.common.boxes import STRETCH, across, down
from aucstudio.gui.common.widgets import answers, label, named, tell
from aucstudio.gui.dialogs.model_choice import VALIDATED, ModelChoice
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.data.splitting.validation import LEAVE_PAIR_OUT
from aucstudio.project.errors import InputError
from aucstudio.project.results.calibration import KINDS, TITLES
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.watch import Progress
from aucstudio.project.store.export import FORMATS, NATIVE, ExportFormat
from aucstudio.project.store.files import write_atomically
from aucstudio.project.work.job import Job


class ExportModelDialog(QDialog):
    """Asks which model, trains anew where that is wished, and saves it."""

    def __init__(self, session: Session, run: ShownRun, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("export_model_dialog")
        self.setWindowTitle(f"Export {run.look.name}")
        self._session, self._run = session, run
        self._work = Background(self, self._land)
        self._refusals: dict[str, str] = {}  # by format
        self.choice = ModelChoice(session, run, self)
        beside = down(label("Which threshold?", "title"), self.choice.chooser, STRETCH)
        columns = across((self._which_and_how(), 1), beside, gap=32)
        self.words = label("", "muted", wrap=True, name="export_words")
        self.words.hide()
        save = QDialogButtonBox.StandardButton.Save
        self.buttons = answers(self, "export", self._on_save, "&Save…", save)
        self.choice.changed.connect(self._refresh)
        self._refresh()
        self.setLayout(down(columns, self.words, STRETCH, self.buttons, around=16))
        self._order_tabs()

    def _order_tabs(self) -> None:
        """Set the tab order to reading order; focus the first question."""
        kinds = self.choice.kinds
        fields = [*kinds.buttons(), self.format, self.calibration, *self.choice.chooser.controls()]
        for one, other in itertools.pairwise([*fields, *self.buttons.buttons()]):
            QWidget.setTabOrder(one, other)
        next(filter(QAbstractButton.isChecked, kinds.buttons())).setFocus()

    def _which_and_how(self) -> QVBoxLayout:
        """Lay out the choice of the model and of the format."""
        self.about = label("", "muted", wrap=True, name="format_about")
        self.about.setMinimumWidth(300)
        self.about_map = label("", "muted", wrap=True, name="calibration_about")
        made = down(
            label("Which model?", "title"),
            *self.choice.kinds.buttons(),
            8,
            label("In which format?", "title"),
            self._make_format(),
            self.about,
            8,
            label("With probabilities?", "title"),
            self._make_calibration(),
            self.about_map,
            STRETCH,
        )
        self._on_calibration()
        self._show_about()
        return made

    def _make_format(self) -> QComboBox:
        self.format = named(QComboBox(), "format_combo", "Format")
        for made in (NATIVE, *FORMATS.values()):
            self.format.addItem(made.title, made.key)
        self.format.currentIndexChanged.connect(self._on_format)
        return self.format

    def _make_calibration(self) -> QComboBox:
        self.calibration = named(QComboBox(), "calibration_combo", "Calibration")
        self.calibration.addItem("No, scores alone", None)
        for kind in KINDS:
            self.calibration.addItem(f"{TITLES[kind]} calibration", kind)
        scheme = self._run.record.experiment.validation.scheme
        self.calibration.setEnabled(scheme != LEAVE_PAIR_OUT)
        self.calibration.currentIndexChanged.connect(self._on_calibration)
        return self.calibration

    def _on_calibration(self) -> None:
        self.choice.calibration = self.calibration.currentData()
        if not self.calibration.isEnabled():
            about = "Leave-pair-out holds out no rows to fit a calibration on."
        elif self.choice.calibration is None:
            about = "Scores ▸ Calibration shows how well probabilities of this run hold."
        else:
            about = (
                "Fitted on held-out rows; the ranking does not change. Valid where positives are "
                "as frequent as in the table."
            )
        self.about_map.setText(about)

    def chosen_format(self) -> ExportFormat:
        """Return the format that is chosen."""
        return FORMATS.get(self.format.currentData(), NATIVE)

    def _refusal(self) -> str:
        """Return why the chosen format cannot hold the model of this run; empty if it can."""
        chosen = self.chosen_format()
        if chosen.key not in self._refusals:
            self._refusals[chosen.key] = chosen.refusal(self._run.record.splits[0].model)
        return self._refusals[chosen.key]

    def _on_format(self) -> None:
        self._show_about()
        self._refresh()

    def _show_about(self) -> None:
        self.about.setText(self._refusal() or self.chosen_format().about)

    def _refresh(self) -> None:
        save = self.buttons.button(QDialogButtonBox.StandardButton.Save)
        ready = self.choice.has_threshold and not self._work.busy
        save.setEnabled(ready and not self._refusal())

    def _on_save(self) -> None:
        is_validated = self.choice.kinds.checkedId() == VALIDATED
        if is_validated and self.choice.calibration is None:
            self._save(self.choice.validated())
            return
        tell(self.words, "fitting the calibration…" if is_validated else "training on all rows…")
        self._work.start(None, self.choice.making())
        self._refresh()

    def _land(self, _key: object, job: Job[Progress, Model]) -> None:
        self._refresh()
        if job.result is not None:
            tell(self.words, self.choice.words(job.result))
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
        said = (f"Saved {target}", self.choice.words(model))
        self._session.told.emit(": ".join(filter(None, said)))
        self.accept()

    def reject(self) -> None:
        """Stop the training that is under way, and leave."""
        self._work.drop()
        super().reject()
