"""Taking a model away: the one that was validated, or one trained on everything."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common import prompts
from aucstudio.gui.common.widgets import dialog_buttons, label, named, primary, tell
from aucstudio.gui.dialogs.model_choice import VALIDATED, ModelChoice
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.errors import InputError
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.watch import Progress
from aucstudio.project.store.export import FORMATS, NATIVE, Format
from aucstudio.project.store.files import write_atomically
from aucstudio.project.work.job import Job


class ExportModelDialog(QDialog):
    """Asks which model, trains anew where that is wished, and saves it."""

    def __init__(self, session: Session, run: ShownRun, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("export_model_dialog")
        self.setWindowTitle(f"Export {run.look.name}")
        self.setMinimumWidth(540)
        self._session, self._run = session, run
        self._work = Background(self, self._land)
        self.choice = ModelChoice(session, run, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(label("Which model?", "title"))
        for button in self.choice.kinds.buttons():
            layout.addWidget(button)
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        self.choice.add_threshold(grid, 0)
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

    def _on_save(self) -> None:
        if self.choice.kinds.checkedId() == VALIDATED:
            self._save(self.choice.validated())
            return
        self.buttons.button(QDialogButtonBox.StandardButton.Save).setEnabled(False)
        tell(self.words, "training on all rows…")
        self._work.start(None, self.choice.making())

    def _land(self, _key: object, job: Job[Progress, Model]) -> None:
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
