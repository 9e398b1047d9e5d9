"""Score a table with a model."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialogButtonBox,
    QLabel,
    QSizePolicy,
    QWidget,
)

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common import prompts
from aucstudio.gui.common.buttons import Radio, dialog_buttons, primary, push_button
from aucstudio.gui.common.controls import fill_combo
from aucstudio.gui.common.form import Form, choice_box
from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.prompts import FileWriter
from aucstudio.gui.common.widgets import (
    ElidedCombo,
    hint_label,
    label,
    named,
    show_note,
)
from aucstudio.gui.dialogs.export_model import REFIT, ModelChoice
from aucstudio.gui.dialogs.score_report import AllowedColumns, ScoreReport
from aucstudio.gui.dialogs.scored import MakeModel, Post, Scored, scoring
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.notices.words import listed
from aucstudio.project.data.preparing.acceptance import UNKNOWN, RefusedColumnsError
from aucstudio.project.data.preview import heading
from aucstudio.project.errors import Cancelled, InputError
from aucstudio.project.runs.execute import failure_sentence
from aucstudio.project.runs.model import Model
from aucstudio.project.store.model_file import load_model
from aucstudio.project.store.scores_file import AS_INPUT, CSV, PARQUET, copy_file
from aucstudio.project.work.job import Job

MODEL_ENDING = ".aucmodel"
_NONE = "no file; choose one or drop it here"

_FILE = 2  # beside the two choices of a run
_FIELD_WIDTH, _KIND_HEIGHT = 320, 26


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
        self._parent, self._session = parent, session
        self.run_model: Model = run.record.splits[0].model
        self.table: Path | None = None
        self._file: Path | None = None  # of a model
        self._was_from_file = False
        self._looked_at: Model | None = None
        self.columns: tuple[str, ...] = ()
        self.choice = ModelChoice(session, run, parent, small=True)
        self.layout = Form()
        self._add_table()
        self._add_model(run)
        self.layout.add("&Threshold", self.choice.chooser)
        self.own_threshold = label("", wrap=True, name="score_own_threshold")
        self.layout.add("Threshold", self.own_threshold)
        self.layout.setRowVisible(self.own_threshold, False)
        self.identifier, self.label = _combo("score_identifier"), _combo("score_label")
        self.layout.add("&Identifier", self.identifier, "Columns written with each score")
        self.layout.add("&Label", self.label, "Column that holds the class, for the AUC")
        self.forget_columns()
        self.choice.changed.connect(self._on_choice)
        self.identifier.currentIndexChanged.connect(self.changed)
        self.label.currentIndexChanged.connect(self.changed)

    # ------------------------------------------------------------- assembly

    def _add_table(self) -> None:
        self.table_name = label(_NONE, elided=True, name="score_table_name")
        self.choose_table = push_button("score_table_button", verb=self._on_choose_table)
        self.layout.add("Table", across((self.table_name, 1), self.choose_table))

    def _add_model(self, run: ShownRun) -> None:
        self.from_file = named(Radio("From a &file"), "model_choice_file")
        self.choice.kinds.addButton(self.from_file, _FILE)
        self.file_name = label(elided=True, name="score_model_name")
        self.choose_model = push_button("score_model_button", verb=self._on_choose_model)
        *kinds, _file = buttons = self.choice.kinds.buttons()
        for button in buttons:
            button.setMinimumHeight(_KIND_HEIGHT)
        file = across(self.from_file, (self.file_name, 1), self.choose_model)
        self.layout.add("Model", down(*kinds, file, gap=0))

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

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns to write with each score."""
        chosen = self.identifier.currentData() or ()
        return (chosen,) if isinstance(chosen, str) else tuple(chosen)

    def make_model(self) -> MakeModel:
        """Return a function that returns the chosen model on another thread.

        Its argument is a function to which it posts progress.
        """
        model = self.known_model
        return self.choice.making() if self.choice.is_of_run else lambda _post: model

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
        likely = tuple(filter(columns.__contains__, model.schema.identifiers or self._likely()))
        several = [(listed(likely), likely)] if len(likely) > 1 else []
        _fill(self.identifier, "none", [*several, *((name, name) for name in columns)])
        place = 1 if several else self.identifier.findData(likely[0]) if likely else 0
        self.identifier.setCurrentIndex(place)
        own = text("threshold_of_file", threshold=model.threshold, rule=model.threshold_rule)
        self.own_threshold.setText(own)
        _fill(self.label, default, [(name, name) for name in others if name != model.label])

    def _likely(self) -> list[str]:
        """Return the columns of the study that name its rows."""
        table = self._session.table
        of_study = () if table is None else table.columns
        return [column.name for column in of_study if column.identifies]

    def forget_columns(self) -> None:
        """Offer no columns, as the table has not been read."""
        self._looked_at, self.columns = None, ()
        self.own_threshold.setText("")
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
        self.layout.setRowVisible(self.own_threshold, from_file)
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


def _show_path(target: QLabel, path: Path) -> None:
    target.setText(path.name)
    plain_tooltip(target, str(path))


def _fill(combo: QComboBox, first: str, items: Sequence[tuple[str, object]]) -> None:
    """List items after a placeholder; keep the selection if possible."""
    fill_combo(combo, [(first, None), *items])
    combo.setEnabled(bool(items))


_SIZE = QSize(840, 980)  # with room for the report, so that the buttons stay in place
_FORMATS = {AS_INPUT: "CSV for spreadsheets", CSV: "CSV", PARQUET: "Parquet"}
_SAVE, _DISCARD = "save", "discard"
_CHOOSE = "Choose a table; it need not have a label."


class ScoreTableDialog(prompts.Dialog):
    """Dialog that scores a table with a model in the background and saves the scores.

    Attributes
    ----------
    scored : Scored or None
        The scores, until a choice changes.
    """

    def __init__(self, session: Session, run: ShownRun, parent: QWidget) -> None:
        super().__init__("score_table_dialog", f"Score a table with {run.look.name}", parent)
        self.setAcceptDrops(True)
        self._session, self._run_name = session, run.look.name
        self.scored: Scored | None = None
        self._is_saved = True
        self._looking = Background(self, self._on_looked, self._on_progress)
        self._working = Background(self, self._on_scored, self._on_progress)
        self._saving = FileWriter(self, self._on_saved, self._on_unsaved)
        self.form = ScoreForm(session, run, self)
        self.allowed = AllowedColumns()
        self.words = label("", "error", wrap=True, name="score_words")
        self.hint = hint_label("score_hint")
        self.report = ScoreReport()
        self.progress = prompts.WorkRow("score", "scoring", self._on_cancel)
        self._make_buttons()
        self._lay_out()
        self.form.files_changed.connect(self._look)
        self.form.changed.connect(self._forget)
        self.allowed.changed.connect(self._forget)
        self.form.choose_table.setFocus()
        self._forget()
        self.fit(_SIZE)

    def _lay_out(self) -> None:
        above = (self.form.layout, self.allowed, (self.report, 1), (self.hint, 1))
        ends = across(self.format, (self.buttons, 1))
        self.lay_out(down(*above), self.words, self.progress, ends)
        self.score.setDefault(True)  # which a button outside of the dialog cannot be

    def _make_buttons(self) -> None:
        self.score = primary(push_button("score_button", verb=self._on_score))
        self.save = push_button("score_save_button", verb=self._on_save)
        self.format = choice_box("score_format_combo", _FORMATS)
        self._offer_formats((CSV, PARQUET))
        self.buttons = dialog_buttons(QDialogButtonBox.StandardButton.Close, name="score")
        self.buttons.addButton(self.save, QDialogButtonBox.ButtonRole.ActionRole)
        self.buttons.addButton(self.score, QDialogButtonBox.ButtonRole.ActionRole)
        self.buttons.rejected.connect(self.reject)

    def _offer_formats(self, kinds: Iterable[str]) -> None:
        """Offer formats of the scores; CSV for spreadsheets replaces CSV where it is new."""
        is_csv = self.format.currentData() == CSV and self.format.findData(AS_INPUT) < 0
        fill_combo(self.format, [(_FORMATS[kind], kind) for kind in kinds])
        if is_csv:
            self.format.setCurrentIndex(0)

    # ------------------------------------------------------------- state

    def choose_file(self, path: str | Path) -> None:
        """Choose a table, or a model if the file is one."""
        self.form.choose_file(Path(path))

    def _forget(self) -> None:
        """Discard the results of other choices."""
        self._working.drop()
        if self.scored is not None:
            for file in self.scored.files.values():
                with contextlib.suppress(OSError):  # such as while it is copied
                    file.unlink()
            self.scored, self._is_saved = None, True
        show_note(self.words, "")
        self._refresh()

    def _refresh(self) -> None:
        model = self.form.model_file
        self.setWindowTitle(f"Score a table with {model.name if model else self._run_name}")
        at_work = self._looking.busy or self._working.busy
        self.progress.setVisible(at_work)
        known = bool(self.form.columns) and not self.allowed.sentence.text()
        self.report.setVisible(self.scored is not None or known)
        self.hint.setVisible(not self.report.isVisibleTo(self))
        self.hint.setText(_CHOOSE if self.form.table is None else "")
        if self.scored is None and known:
            form = self.form
            table = form.known_model, form.columns, form.label_column
            self.report.show_columns(*table, *form.identifiers)
        self.score.setEnabled(not self.busy and self.form.is_complete)
        self.save.setEnabled(self.scored is not None and not self._saving.busy)

    def _on_progress(self, message: tuple[float | None, str]) -> None:
        self.progress.show_work(*message)

    def _on_cancel(self) -> None:
        if self._looking.busy:
            self._looking.drop()
            self.form.forget_files()
        self._working.drop()
        self._refresh()

    def _complain(self, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, (Stopped, Cancelled)):
            assert isinstance(error, Exception)
            show_note(self.words, failure_sentence(error), "error")

    def _refuse(self, error: BaseException | None) -> None:
        """Offer ways to score refused columns; report other errors."""
        if isinstance(error, RefusedColumnsError):
            self.allowed.refuse(str(error), error.refusals)
        else:
            self._complain(error)

    # ------------------------------------------------------------- reading

    def _look(self) -> None:
        """Start to read the names of the columns of the chosen files."""
        self.allowed.clear()
        self._forget()
        table, model_file, known = self.form.table, self.form.model_file, self.form.run_model

        def look(post: Post) -> tuple[Model, tuple[str, ...]]:
            model = known if model_file is None else load_model(model_file)
            if table is None:
                return model, ()
            return model, heading(table, model.schema, lambda done, words: post((done, words)))

        self._on_progress((None, "looking at the file"))
        self._looking.start(table, look)
        self._refresh()

    def _on_looked(self, _key: object, job: Job[Any, tuple[Model, tuple[str, ...]]]) -> None:
        if job.result is None:
            self._complain(job.error)
            self.form.forget_columns()
        else:
            self.form.show_columns(*job.result)
        self._refresh()

    # ------------------------------------------------------------- scoring

    def _on_score(self) -> None:
        self._forget()
        form, more = self.form, self.allowed.accepted()
        assert form.table is not None
        try:  # before a model is refit
            names = {*form.columns, *more["allowed"][UNKNOWN]}
            form.known_model.check_names(names, form.table)
            folder = self.scratch_folder()
        except InputError as error:
            self._refuse(error)
            self._refresh()
            return
        self._on_progress((None, text("refitting", step="") if self.form.trains else "reading"))
        where, label = (folder, self._session.plan.band), form.label.currentData()
        work = scoring(form.make_model(), form.table, form.identifiers, *where, label=label, **more)
        self._working.start(form.table, work)
        self._refresh()

    def _on_scored(self, _key: object, job: Job[Any, Scored]) -> None:
        if job.result is None:
            self._refuse(job.error)
        else:
            self.scored, self._is_saved = job.result, False
            self._offer_formats(job.result.files)
            self.allowed.accept_all()
            self.report.show_report(job.result)
            self.area.ensureWidgetVisible(self.report)
        self._refresh()
        # Score was disabled and lost the focus to Close.
        (self.save if self.save.isEnabled() else self.score).setFocus()

    # ------------------------------------------------------------- saving

    def _on_save(self) -> None:
        table, scored = self.form.table, self.scored
        assert table is not None
        assert scored is not None
        chosen = self.format.currentData()
        plain = table.suffix if chosen == AS_INPUT and table.suffix in (".tsv", ".tab") else CSV
        csv, ending = (chosen, plain) if chosen != PARQUET else (CSV, PARQUET)
        kinds = sorted(((csv, plain), (PARQUET, PARQUET)), key=lambda kind: kind[1] != ending)
        own = None if self._session.table is None else self._session.table.path
        self._saving.ask(  # the ending of the name decides the format
            "Save the scores",
            str(table.with_name(f"{table.stem}-scores{ending}")),
            ";;".join(f"{_FORMATS[kind]} (*{one})" for kind, one in kinds),
            lambda path: copy_file(
                scored.files[PARQUET if path.suffix.lower() == PARQUET else csv], path
            ),
            [table, self.form.model_file, own],
        )
        self._refresh()

    def _on_saved(self, target: Path) -> None:
        self._is_saved = True
        show_note(self.words, f"Saved {target}")
        self._session.message.emit(f"Saved {target}")
        self._refresh()

    def _on_unsaved(self, sentence: str, _trace: str) -> None:
        show_note(self.words, sentence, "error")
        self._refresh()

    # ------------------------------------------------------------- Qt

    def reject(self) -> None:
        """Close; ask first if scores would be lost."""
        if self._is_saved:
            super().reject()
            return

        def answered(choice: str | None) -> None:
            if choice == _SAVE:
                self._on_save()
            elif choice == _DISCARD:
                self.done(self.DialogCode.Rejected)

        choices = (_SAVE, "&Save scores…"), (_DISCARD, "&Discard them")
        prompts.ask_choice(self, "Close", text("scores_unsaved"), choices, answered)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        urls = event.mimeData().urls()
        if urls and urls[0].isLocalFile():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.choose_file(event.mimeData().urls()[0].toLocalFile())
