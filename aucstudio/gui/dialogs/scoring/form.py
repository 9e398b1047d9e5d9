"""Choose table, model, identifier and label for scoring."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QComboBox, QRadioButton, QSizePolicy, QWidget

from aucstudio.gui.common import prompts
from aucstudio.gui.common.choices import fill_combo
from aucstudio.gui.common.form import Form
from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import ElidedCombo, ElidedLabel, named, push_button
from aucstudio.gui.dialogs.model_choice import REFIT, ModelChoice
from aucstudio.gui.dialogs.scoring.allowed_columns import Accepted
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.runs.models.model import Model

MODEL_ENDING = ".aucmodel"
_NONE = "no file; choose one or drop it here"

_FILE = 2  # beside the two choices of a run
_FIELD_WIDTH, _KIND_HEIGHT = 320, 26


@dataclasses.dataclass(frozen=True, eq=False)
class ScoringChoices:
    """The choices of the dialog.

    Attributes
    ----------
    make_model : callable
        Returns the model on another thread; called with a function to which it posts progress.
    table : Path
    identifier, label : str or None
    accepted : Accepted
        What the user has allowed after a refusal.
    """

    make_model: Callable[[Callable[[Any], bool]], Model]
    table: Path
    identifier: str | None
    label: str | None
    accepted: Accepted


class ScoreForm(QObject):
    """The fields of the dialog.

    Signals
    -------
    files_changed
        Another table or model was chosen; the columns must be read.
    changed
        Another choice was made.
    """

    files_changed = Signal()
    changed = Signal()

    def __init__(self, session: Session, run: ShownRun, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self.run_model: Model = run.record.splits[0].model
        self.table: Path | None = None
        self._file: Path | None = None  # of a model
        self._was_from_file = False
        self._looked_at: Model | None = None
        self.columns: tuple[str, ...] = ()
        self.choice = ModelChoice(session, run, parent, small=True)
        # The model that `train --save-model` saves.
        if len(run.record.splits) > 1 and self.choice.kinds.button(REFIT).isEnabled():
            self.choice.kinds.button(REFIT).setChecked(True)
        self.layout = Form()
        self._add_table()
        self._add_model(run)
        self.layout.add("Threshold", self.choice.chooser)
        self.identifier, self.label = _combo("score_identifier"), _combo("score_label")
        self.layout.add("Identifier", self.identifier, "Column written with each score")
        self.layout.add("Label", self.label, "Column that holds the class, for the AUC")
        self.forget_columns()
        self.choice.changed.connect(self._on_choice)
        self.identifier.currentIndexChanged.connect(self.changed)
        self.label.currentIndexChanged.connect(self.changed)

    # ------------------------------------------------------------- assembly

    def _add_table(self) -> None:
        self.table_name = ElidedLabel(_NONE)
        self.table_name.setObjectName("score_table_name")
        self.choose_table = push_button(
            *("score_table_button", "&Choose…", "", self._on_choose_table),
            accessible="Choose the table",
        )
        self.layout.add("Table", across((self.table_name, 1), self.choose_table))

    def _add_model(self, run: ShownRun) -> None:
        text = "From a file"
        self.from_file = named(QRadioButton(text), "model_choice_file", text)
        self.choice.kinds.addButton(self.from_file, _FILE)
        self.file_name = ElidedLabel("")
        self.file_name.setObjectName("score_model_name")
        self.choose_model = push_button(
            *("score_model_button", "C&hoose…", "", self._on_choose_model),
            accessible="Choose the model",
        )
        *kinds, _file = buttons = self.choice.kinds.buttons()
        for button in buttons:
            button.setMinimumHeight(_KIND_HEIGHT)
        file = across(self.from_file, (self.file_name, 1), self.choose_model)
        self.layout.add("Model", down(*kinds, file, gap=0))

    def order_tabs(self) -> None:
        """Set the tab order to reading order; focus the first step."""
        kinds, chooser = self.choice.kinds.buttons(), self.choice.chooser
        fields = [self.choose_table, *kinds, self.choose_model, *chooser.controls()]
        fields += [self.identifier, self.label]
        for one, other in itertools.pairwise(fields):
            QWidget.setTabOrder(one, other)
        self.choose_table.setFocus()

    # ------------------------------------------------------------- reading

    @property
    def model_file(self) -> Path | None:
        """File of the model; None for a model of the run."""
        return None if self.choice.is_of_run else self._file

    @property
    def trains(self) -> bool:
        """Whether the model must be refit first."""
        return self.choice.kinds.checkedId() == REFIT

    @property
    def is_complete(self) -> bool:
        """Whether the table can be scored."""
        known = self.table is not None and bool(self.columns) and self._looked_at is not None
        return known and self.choice.has_threshold

    @property
    def known_model(self) -> Model:
        """The model whose columns are required."""
        assert self._looked_at is not None
        return self._looked_at

    @property
    def label_column(self) -> str | None:
        """The column of the table with the class, if any."""
        assert self._looked_at is not None
        name = self.label.currentData() or self._looked_at.label
        return name if name in self.columns else None

    def chosen(self, accepted: Accepted) -> ScoringChoices:
        """Return the choices; the columns must have been read."""
        model = self._looked_at
        assert self.table is not None
        assert model is not None
        make = self.choice.making() if self.choice.is_of_run else lambda _post: model
        identifier, label = self.identifier.currentData(), self.label.currentData()
        return ScoringChoices(make, self.table, identifier, label, accepted)

    # ------------------------------------------------------------- changing

    def choose_file(self, path: Path) -> None:
        """Choose a table, or a model if the file is one."""
        if path.suffix.lower() == MODEL_ENDING:
            self._file = path
            _show_path(self.file_name, path)
            if not self.from_file.isChecked():
                self.from_file.setChecked(True)  # handled by _on_choice
                return
        else:
            self.table = path
            _show_path(self.table_name, path)
        self._announce()

    def _announce(self) -> None:
        self._was_from_file = not self.choice.is_of_run
        self.files_changed.emit()

    def show_columns(self, model: Model, columns: tuple[str, ...]) -> None:
        """Offer the columns of the table."""
        self._looked_at, self.columns = model, columns
        others = [name for name in columns if name not in model.feature_columns]
        named_as_then = model.label in columns
        default = f"{model.label}, as in training" if named_as_then else "none"
        _fill(self.identifier, "none", columns)
        self.identifier.setCurrentIndex(max(0, self.identifier.findData(model.schema.identifier)))
        _fill(self.label, default, [name for name in others if name != model.label])

    def forget_columns(self) -> None:
        """Offer no columns, as the table has not been read."""
        self._looked_at, self.columns = None, ()
        for combo in (self.identifier, self.label):
            _fill(combo, "none", ())

    def forget_files(self) -> None:
        """Discard a chosen table that was not fully read."""
        self.table = None
        self.table_name.setText(_NONE)
        self.forget_columns()

    def _on_choice(self) -> None:
        from_file = not self.choice.is_of_run
        self.layout.setRowVisible(self.choice.chooser, not from_file)
        if from_file and self._file is None:
            self._on_choose_model()
        elif from_file != self._was_from_file:
            self._announce()
        else:
            self.changed.emit()

    def _on_choose_table(self) -> None:
        path = prompts.ask_open_path(self._parent, "Choose the table to score", prompts.TABLES)
        if path:
            self.choose_file(Path(path))

    def _on_choose_model(self) -> None:
        path = prompts.ask_open_path(self._parent, "Choose the model", prompts.MODELS)
        if path:
            self.choose_file(Path(path))
        elif self._file is None and not self.choice.is_of_run:
            self.choice.kinds.button(0).setChecked(True)


def _combo(name: str) -> QComboBox:
    combo = named(ElidedCombo(), name, name.removeprefix("score_").capitalize())
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumWidth(_FIELD_WIDTH)
    combo.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return combo


def _show_path(target: ElidedLabel, path: Path) -> None:
    target.setText(path.name)
    plain_tooltip(target, str(path))


def _fill(combo: QComboBox, first: str, names: Sequence[str]) -> None:
    """List names after a placeholder; keep the selection if possible."""
    fill_combo(combo, [(first, None), *((name, name) for name in names)])
    combo.setEnabled(bool(names))
