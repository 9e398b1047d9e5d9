"""Export a model: the validated one, or one refit on all rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QDialogButtonBox,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common import prompts
from aucstudio.gui.common.form import choice_box
from aucstudio.gui.common.layouts import STRETCH, across, down
from aucstudio.gui.common.widgets import answers, label, show_note
from aucstudio.gui.dialogs.model_choice import VALIDATED, ModelChoice
from aucstudio.gui.state.answer import Answer
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.data.splitting.validation import LEAVE_PAIR_OUT
from aucstudio.project.errors import InputError
from aucstudio.project.results.calibration import KINDS, TITLES
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.progress import Progress
from aucstudio.project.store.export import FORMATS, NATIVE, ExportFormat
from aucstudio.project.store.files import write_atomically
from aucstudio.project.work.job import Job, describe_failure


class ExportModelDialog(prompts.Dialog):
    """Dialog that chooses a model, refits it if requested, and saves it."""

    def __init__(self, session: Session, run: ShownRun, parent: QWidget) -> None:
        super().__init__("export_model_dialog", f"Export {run.look.name}", parent)
        self._session, self._run = session, run
        self._work = Background(self, self._on_made)
        self._writing = Background(self, self._on_written)
        self._refusal = Answer[str](self, self._show_about, self._show_about, keep=len(FORMATS) + 1)
        self._refused = ""
        self.choice = ModelChoice(session, run, self)
        beside = down(label("Which threshold?", "title"), self.choice.chooser, STRETCH)
        columns = across((self._which_and_how(), 1), beside, gap=32)
        self.words = label("", "muted", wrap=True, name="export_words")
        self.words.hide()
        self.progress = prompts.WorkRow("export", "the export", self._on_cancel)
        save = QDialogButtonBox.StandardButton.Save
        self.buttons = answers(self, "export", self._on_save, "&Save…", save)
        self.choice.changed.connect(self._refresh)
        self._on_format()
        self.setLayout(down(columns, self.words, STRETCH, self.progress, self.buttons, around=16))
        self._order_tabs()

    def _order_tabs(self) -> None:
        """Set the tab order to reading order; focus the first question."""
        kinds = self.choice.kinds
        fields = [*kinds.buttons(), self.format, self.calibration, *self.choice.chooser.controls()]
        for one, other in itertools.pairwise([*fields, *self.buttons.buttons()]):
            QWidget.setTabOrder(one, other)
        next(filter(QAbstractButton.isChecked, kinds.buttons())).setFocus()

    def _which_and_how(self) -> QVBoxLayout:
        """Build the form: model and format."""
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
        return made

    def _make_format(self) -> QComboBox:
        formats = {made.key: made.title for made in (NATIVE, *FORMATS.values())}
        self.format = choice_box("format_combo", "Format", formats)
        self.format.currentIndexChanged.connect(self._on_format)
        return self.format

    def _make_calibration(self) -> QComboBox:
        kinds = {None: "No, scores only"} | {k: f"{TITLES[k]} calibration" for k in KINDS}
        self.calibration = choice_box("calibration_combo", "Calibration", kinds)
        scheme = self._run.record.experiment.validation.scheme
        self.calibration.setEnabled(scheme != LEAVE_PAIR_OUT)
        self.calibration.currentIndexChanged.connect(self._on_calibration)
        return self.calibration

    def _on_calibration(self) -> None:
        self.choice.calibration = self.calibration.currentData()
        if not self.calibration.isEnabled():
            about = "Leave-pair-out holds out no rows to fit a calibration on."
        elif self.choice.calibration is None:
            about = "Scores ▸ Calibration shows how accurate the probabilities of this run are."
        else:
            about = (
                "Fitted on held-out rows; the ranking does not change. Valid where positives are "
                "as frequent as in the table."
            )
        self.about_map.setText(about)

    def chosen_format(self) -> ExportFormat:
        """Return the format that is chosen."""
        return FORMATS.get(self.format.currentData(), NATIVE)

    def _on_format(self) -> None:
        """Check whether the chosen format can hold the model; for many trees this takes a while."""
        chosen, model = self.chosen_format(), self._run.record.splits[0].model
        self._refused, self._is_known = "", False
        self.about.setText(chosen.about)
        self._refusal.ask(chosen.key, lambda _post: chosen.refusal(model))
        self._refresh()

    def _show_about(self, refusal: str) -> None:
        self._refused, self._is_known = refusal, True
        self.about.setText(refusal or self.chosen_format().about)
        self._refresh()

    def _refresh(self) -> None:
        busy = self._work.busy or self._writing.busy
        self.progress.setVisible(busy)
        save = self.buttons.button(QDialogButtonBox.StandardButton.Save)
        able = self._is_known and not self._refused
        save.setEnabled(self.choice.has_threshold and able and not busy)

    def _on_cancel(self) -> None:
        """Cancel refitting and writing."""
        self._work.drop()
        self._writing.drop()
        show_note(self.words, "")
        self._refresh()

    def _on_save(self) -> None:
        is_validated = self.choice.kinds.checkedId() == VALIDATED
        if is_validated and self.choice.calibration is None:
            self._save(self.choice.validated())
            return
        doing = "fitting the calibration" if is_validated else "training on all rows"
        self.progress.show_work(None, doing)
        self._work.start(None, self.choice.making())
        self._refresh()

    def _on_made(self, _key: object, job: Job[Progress, Model]) -> None:
        self._refresh()
        if job.result is not None:
            show_note(self.words, self.choice.words(job.result))
            self._save(job.result)
        else:
            show_note(self.words, str(job.error), "error")

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
        except InputError as error:
            show_note(self.words, str(error), "error")
            return
        self.progress.show_work(None, f"writing {target.name}")

        def write(post: Callable[[None], bool]) -> None:
            content = chosen.write(model)
            if not post(None):  # not cancelled
                write_atomically(target, content)

        self._writing.start((target, model), write)
        self._refresh()

    def _on_written(self, key: tuple[Path, Model], job: Job[object, None]) -> None:
        self._refresh()
        if job.error is not None:
            show_note(self.words, describe_failure(job.error)[0], "error")
            return
        target, model = key
        parts = (f"Saved {target}", self.choice.words(model))
        self._session.message.emit(": ".join(filter(None, parts)))
        self.accept()

    def reject(self) -> None:
        """Cancel and close."""
        self._on_cancel()
        super().reject()
