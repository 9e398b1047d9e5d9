"""Taking a model away: the one that was validated, or one trained on everything."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui import prompts
from aucstudio.gui.background import Background
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.widgets import dialog_buttons, label, named, tell
from aucstudio.project.errors import InputError
from aucstudio.project.execute import Progress, refit
from aucstudio.project.job import Job
from aucstudio.project.model import Model

MODELS = "AUC Studio models (*.aucmodel)"


class ExportModelDialog(QDialog):
    """Asks which model, trains anew where that is wished, and saves it."""

    def __init__(self, session: Session, run: ShownRun, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("export_model_dialog")
        self.setWindowTitle(f"Export {run.look.name}")
        self.setMinimumWidth(460)
        self._session, self._run = session, run
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
        layout.addWidget(
            label(
                "The file holds arrays and JSON, preprocessing included; loading it runs no code. "
                "Score a new table with: aucstudio score MODEL TABLE",
                "muted",
                wrap=True,
            )
        )
        self.words = label("", "muted", wrap=True, name="export_words")
        self.words.hide()
        layout.addWidget(self.words)
        self.buttons = dialog_buttons(
            QDialogButtonBox.StandardButton.Save,
            QDialogButtonBox.StandardButton.Cancel,
            name="export",
        )
        self.buttons.accepted.connect(self._on_save)
        self.buttons.rejected.connect(self.reject)
        layout.addWidget(self.buttons)

    def _choices(self) -> list[str]:
        splits = self._run.record.splits
        which = "model" if len(splits) == 1 else f"first of the {len(splits)} models"
        return [
            f"The {which} that was validated ({len(splits[0].train_rows):,} training rows)",
            "Trained anew on all labelled rows",
        ]

    def _on_save(self) -> None:
        if self.kinds.checkedId() == 0:
            self._save(self._run.record.splits[0].model)
            return
        table, experiment = self._session.table, self._run.record.experiment
        assert table is not None
        self.buttons.button(QDialogButtonBox.StandardButton.Save).setEnabled(False)
        tell(self.words, "training on all rows…")
        self._work.start(lambda post: refit(experiment, table, post))

    def _land(self, job: Job[Progress, Model]) -> None:
        self.buttons.button(QDialogButtonBox.StandardButton.Save).setEnabled(True)
        if job.result is not None:
            tell(self.words, "")
            self._save(job.result)
        else:
            tell(self.words, str(job.error), "error")

    def _save(self, model: Model) -> None:
        path = prompts.ask_save_path(
            self, "Save the model", f"{self._run.look.name}.aucmodel", MODELS
        )
        if not path:
            return
        try:
            model.save(Path(path).with_suffix(".aucmodel"))
        except InputError as error:
            tell(self.words, str(error), "error")
            return
        self._session.told.emit(f"Saved {path}")
        self.accept()

    def reject(self) -> None:
        """Stop the training that is under way, and leave."""
        self._work.drop()
        super().reject()
