"""Export a model: the model of a run, its threshold, and the formats."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDialogButtonBox,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from aucstudio.engine import roc
from aucstudio.engine.calibration import KINDS
from aucstudio.gui.common import prompts
from aucstudio.gui.common.buttons import Radio, answers
from aucstudio.gui.common.form import choice_box
from aucstudio.gui.common.layouts import STRETCH, across, down, keep_room
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.threshold import (
    Chosen,
    ThresholdChooser,
    range_end_words,
    units_words,
)
from aucstudio.gui.common.widgets import label, named, show_note
from aucstudio.gui.state.background import Answer, Background
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.notices.words import score_words
from aucstudio.project.combination.combining import refit_combination
from aucstudio.project.combination.planning import Named
from aucstudio.project.data.validation import LEAVE_PAIR_OUT
from aucstudio.project.results.calibration import TITLES
from aucstudio.project.results.thresholds import (
    OWN,
    Choice,
    Target,
    ThresholdFigures,
    choose,
    counts_at,
    curve_of,
    model_at,
    range_end,
)
from aucstudio.project.runs.execute import refit
from aucstudio.project.runs.final_model import (
    calibrated,
    validated_model,
    with_carried_threshold,
)
from aucstudio.project.runs.model import AS_TRAINED, Model
from aucstudio.project.runs.progress import Progress
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.store.export import FORMATS, NATIVE, ExportFormat
from aucstudio.project.store.files import write_atomically
from aucstudio.project.work.job import Job

VALIDATED, REFIT = 0, 1


class ModelChoice(QObject):
    """Controls that choose between the validated model and one refit on all rows.

    Parameters
    ----------
    session : Session
    run : ShownRun
    parent : QWidget
    small : bool
        Whether the chooser is small.

    Signals
    -------
    changed
        Another model or threshold is chosen.

    Attributes
    ----------
    kinds : QButtonGroup
        Its buttons are :data:`VALIDATED` and :data:`REFIT`; a dialog may add others.
    chooser : ThresholdChooser
        Chooses the threshold, for this dialog only until it is used for all runs.
    target : Target
    calibration : str or None
        Kind of calibration of the model.
    """

    changed = Signal()

    def __init__(
        self, session: Session, run: ShownRun, parent: QWidget, *, small: bool = False
    ) -> None:
        super().__init__(parent)
        self._session, self._run, self._table = session, run, session.table
        # The focus belongs to the selected run; another run gets the target of the study.
        in_focus = run.record.id == session.selected
        split = session.focus.split if in_focus else 0
        self._split = min(split, len(run.record.splits) - 1)
        searches = (one for one in session.best.standings() if one.best == run.record.id)
        self._search = next((one for one in searches if one.refit), None)
        chosen = session.plan.target_of(run.record)
        self.target = self._default_target() if chosen.rule == OWN else chosen
        self.calibration: str | None = None
        self.kinds = QButtonGroup(self)
        for k, words in enumerate(self._choices()):
            self.kinds.addButton(named(Radio(words), f"model_choice_{k}"), k)
        self._members = _members(session, run.record)
        gone = len(run.record.experiment.members) - len(self._members)
        self.kinds.button(REFIT).setEnabled(self._table is not None and not gone)
        if gone:
            reason = "Some of the runs that it combines are no longer in the project"
            plain_tooltip(self.kinds.button(REFIT), reason)
        is_possible = self.kinds.button(REFIT).isEnabled()
        is_usual = self._search is not None or len(run.record.splits) > 1
        kind = REFIT if is_usual and is_possible else VALIDATED
        self.kinds.button(kind).setChecked(True)
        self.chooser = ThresholdChooser("model_threshold", session, small=small)
        self.chooser.setParent(parent)  # without a parent it would be shown as a window
        self.chooser.target_chosen.connect(self.set_target)
        self.chooser.threshold_typed.connect(
            lambda value: self.set_target(Target.typed(run.record, self._split, value))
        )
        self.kinds.idToggled.connect(lambda _kind, on: self._on_change() if on else None)
        session.listen(self._on_stakes, "stakes")
        self._placed = self._show()

    @property
    def is_of_run(self) -> bool:
        """Whether a model of the run is chosen, not a choice that a dialog has added."""
        return self.kinds.checkedId() in (VALIDATED, REFIT)

    @property
    def has_threshold(self) -> bool:
        """Whether the requested threshold exists."""
        return not (self.is_of_run and self._choice().problem)

    def set_target(self, target: Target) -> None:
        """Use another target of the threshold."""
        self.target = target
        self._on_change()

    def threshold_rule(self) -> roc.ThresholdRule | None:
        """Return the chosen rule; None keeps the threshold of the model.

        A typed number means nothing on other scores, such as those of a refit model. Its
        false-positive rate is used there.
        """
        return self.target.as_rule(self._session.stakes)

    def validated(self) -> Model:
        """Return the model of the chosen split, with its threshold where requested."""
        typed = self.target.is_typed_on(self._run.record, self._split)
        if typed and not self._in_sample():
            return model_at(self._run.record.splits[self._split], self.target.value)
        return validated_model(self._run.record, self._split, self.threshold_rule())

    def making(self) -> Callable[[Callable[[Any], bool]], Model]:
        """Return the function that makes, and perhaps refits, the model on another thread."""
        record, calibration = self._run.record, self.calibration
        if self.kinds.checkedId() == VALIDATED:
            model, k = self.validated(), self._split
            return lambda _post: _calibrated(model, record, calibration, k)
        rule, table, experiment = self.threshold_rule(), self._table, record.experiment
        members, refits = self._members, self._session.study.home.refits
        assert table is not None

        def make(post: Callable[[Any], bool]) -> Model:
            made = refits.get(record.id)
            # The table may have been read with other settings since.
            if made is None or made.schema != experiment.data.seen(table).schema:
                if members:
                    made = refit_combination(experiment, members, table, post)
                else:
                    made = refit(experiment, table, post)
                refits[record.id] = made
            if rule is None:  # a search has placed the threshold of its model
                made = dataclasses.replace(made, threshold=0.0, threshold_rule=AS_TRAINED)
            else:
                made = with_carried_threshold(made, record, table, rule)
            return _calibrated(made, record, calibration, None)

        return make

    def words(self, model: Model) -> str:
        """Return the threshold of a model in words; empty for the one that was shown."""
        if self.target.rule == OWN:
            return ""
        return f"Threshold {score_words(model.threshold)}, {model.threshold_rule}."

    # ------------------------------------------------------------- showing

    def _default_target(self) -> Target:
        """Return the rule of the search that found the model, or else the end of the FPR range."""
        band = self._session.plan.band if self._search is None else (0.0, self._search.rule.fpr)
        return range_end(self._run.record, band)

    def _in_sample(self) -> bool:
        return self._run.record.experiment.validation.scheme == LEAVE_PAIR_OUT

    def _curve(self) -> roc.RocCurve:
        """Return the curve of the rows on which thresholds are chosen."""
        split = self._run.record.splits[self._split]
        if self._in_sample():
            rows = split.train_positive, split.train_scores
            return roc.roc_curve(*rows, weights=split.train_weights)
        return curve_of(split)

    def _choice(self) -> Choice:
        record, stakes = self._run.record, self._session.stakes
        curve = self._curve() if self._in_sample() else None
        return choose(record, self._split, self.target, stakes, curve)

    def _on_change(self) -> None:
        self._placed = self._show()
        self.changed.emit()

    def _on_stakes(self) -> None:
        """Show the threshold for other stakes."""
        before, self._placed = self._placed, self._show()
        if self._placed != before:
            self.changed.emit()

    def _show(self) -> Choice:
        record, stakes = self._run.record, self._session.stakes
        choice, model = self._choice(), record.splits[self._split].model
        refits = self.kinds.checkedId() == REFIT
        if self._in_sample() or (len(record.splits) > 1 and not refits):
            figures = ThresholdFigures.of(counts_at(self._curve(), choice.threshold), stakes.prior)
        else:
            figures = ThresholdFigures.of_run(record, self.target, stakes)
        shown = self.target, choice, figures, (model.positive, model.negative), self._where()
        self.chooser.show_chosen(Chosen(*shown, after_refit=refits and self.target.rule != OWN))
        return choice

    def _where(self) -> str:
        """Describe the rows of the figures, and the threshold of the saved model."""
        count, refits = len(self._run.record.splits), self.kinds.checkedId() == REFIT
        split, in_sample = self._split + 1 if count > 1 else None, self._in_sample()
        if refits and split:
            figures = text("figures_over_splits", splits=count)
        else:
            figures = text("figures_of_model", refit=refits, in_sample=in_sample, split=split)
        kept = text("threshold_of_rank", several=count > 1) if refits else text("threshold_kept")
        kept = "" if self.target.rule == OWN else kept
        end = range_end_words(self._run.record, self._session.plan.band, self.target)
        return " ".join(filter(None, [end, figures, units_words(self._run.record), kept]))

    def _choices(self) -> list[str]:
        splits, at = self._run.record.splits, self._split
        split = at + 1 if len(splits) > 1 else None
        rows = len(splits[at].train_rows)
        validated = text("validated_model", split=split, splits=len(splits), rows=rows)
        return [validated, "&Refit on all labelled rows"]


def _members(session: Session, record: RunRecord) -> list[Named]:
    """Return the runs that a combination was made of, with removed ones."""
    looks, made = session.plan.looks, dict[str, Named]()
    for run, member in session.records.items():
        name = looks[run].name if run in looks else member.experiment.title
        made.setdefault(member.experiment.id, (name, member))
    return [made[member] for member in record.experiment.members if member in made]


def _calibrated(model: Model, record: RunRecord, kind: str | None, split: int | None) -> Model:
    return model if kind is None else calibrated(model, record, kind, split)


def _question(words: str, field: QWidget) -> QLabel:
    """Return the title of a field; Alt and the marked letter move the focus there."""
    made = label(words, "title")
    made.setBuddy(field.focusProxy() or field)
    return made


@dataclasses.dataclass(frozen=True)
class KeptChoice:
    """The model and threshold chosen for a run, and the target that was offered first."""

    kind: int
    target: Target
    offered: Target


class ExportModelDialog(prompts.Dialog):
    """Dialog that chooses a model, refits it if requested, and saves it.

    Parameters
    ----------
    session : Session
    run : ShownRun
    parent : QWidget
    kept : dict of str to KeptChoice, optional
        The latest choice by identifier of the run; restored, and kept up to date.
    """

    def __init__(
        self,
        session: Session,
        run: ShownRun,
        parent: QWidget,
        kept: dict[str, KeptChoice] | None = None,
    ) -> None:
        super().__init__("export_model_dialog", f"Export {run.look.name}", parent)
        self._session, self._run = session, run
        self._work = Background(self, self._on_made, self._on_progress)
        self._writing = prompts.FileWriter(self, self._on_written, self._on_failed)
        self._refusal = Answer[str](self, self._show_about, self._show_about, keep=len(FORMATS) + 1)
        self._refused = ""
        self.choice = ModelChoice(session, run, self)
        self._offered, self._kept = self.choice.target, {} if kept is None else kept
        self._restore()
        which = _question("Which &threshold?", self.choice.chooser)
        beside = down(which, self.choice.chooser, STRETCH)
        columns = self.beside((self._which_and_how(), 1), beside, gap=32)
        self.words = label("", "muted", wrap=True, name="export_words")
        self.words.hide()
        self.progress = prompts.WorkRow("export", "the export", self._on_cancel)
        save = QDialogButtonBox.StandardButton.Save
        close = QDialogButtonBox.StandardButton.Close  # as the work is cancelled elsewhere
        self.buttons = answers(self, "export", self._on_save, "&Save…", save, close)
        self.choice.changed.connect(self._refresh)
        self.choice.changed.connect(self._keep)
        self._on_format()
        keep_room(self.progress)  # nothing moves when it is shown
        below = across((self.progress, 1), self.buttons)
        self.lay_out(down(columns, self.words, STRETCH), below)
        self.choice.kinds.button(self.choice.kinds.checkedId()).setFocus()

    def _restore(self) -> None:
        """Restore the choice of an earlier dialog, unless the study has another threshold now."""
        earlier = self._kept.get(self._run.record.id)
        if earlier is None:
            return
        button = self.choice.kinds.button(earlier.kind)
        if button.isEnabled():
            button.setChecked(True)
        if earlier.offered == self._offered:
            self.choice.set_target(earlier.target)

    def _keep(self) -> None:
        made = KeptChoice(self.choice.kinds.checkedId(), self.choice.target, self._offered)
        self._kept[self._run.record.id] = made

    def _which_and_how(self) -> QVBoxLayout:
        """Build the form: model and format."""
        self.about = label("", "muted", wrap=True, name="format_about")
        self.about_model = label("", "muted", wrap=True, name="model_about")
        for words in (self.about, self.about_model):
            words.setMinimumWidth(300)
        self.about_map = label("", "muted", wrap=True, name="calibration_about")
        made = down(
            label("Which model?", "title"),
            *self.choice.kinds.buttons(),
            self.about_model,
            8,
            _question("In which &format?", self._make_format()),
            self.format,
            self.about,
            8,
            _question("With &probabilities?", self._make_calibration()),
            self.calibration,
            self.about_map,
            STRETCH,
        )
        self._on_calibration()
        return made

    def _make_format(self) -> QComboBox:
        formats = {made.key: made.title for made in (NATIVE, *FORMATS.values())}
        self.format = choice_box("format_combo", formats)
        self.format.currentIndexChanged.connect(self._on_format)
        return self.format

    def _make_calibration(self) -> QComboBox:
        kinds = {None: "No, scores only"} | {k: f"{TITLES[k]} calibration" for k in KINDS}
        self.calibration = choice_box("calibration_combo", kinds)
        scheme = self._run.record.experiment.validation.scheme
        self.calibration.setEnabled(scheme != LEAVE_PAIR_OUT)
        self.calibration.currentIndexChanged.connect(self._on_calibration)
        return self.calibration

    def _on_calibration(self) -> None:
        self.choice.calibration = self.calibration.currentData()
        able, kind = self.calibration.isEnabled(), self.choice.calibration
        state = "fitted" if able and kind is not None else "none" if able else "unable"
        self.about_map.setText(text(f"calibration_{state}"))

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
        is_refit = self.choice.kinds.checkedId() == REFIT
        self.about_model.setText(text("about_model", refit=is_refit))
        busy = self._work.busy or self._writing.busy
        self.progress.setVisible(busy)
        save = self.buttons.button(QDialogButtonBox.StandardButton.Save)
        able = self._is_known and not self._refused
        save.setEnabled(self.choice.has_threshold and able and not busy)

    def _on_cancel(self) -> None:
        """Cancel refitting and writing."""
        self._cancelled = True
        self._work.drop()
        self._writing.drop()
        show_note(self.words, "")
        self._refresh()

    def _on_save(self) -> None:
        is_validated = self.choice.kinds.checkedId() == VALIDATED
        if is_validated and self.choice.calibration is None:
            self._save(self.choice.validated())
            return
        doing = "fitting the calibration" if is_validated else text("refitting", step="")
        self.progress.show_work(None, doing)
        self._work.start(None, self.choice.making())
        self._refresh()

    def _on_progress(self, message: Progress) -> None:
        self.progress.show_work(*message.describe_refit())

    def _on_made(self, _key: object, job: Job[Progress, Model]) -> None:
        self._refresh()
        if job.result is not None:
            show_note(self.words, self.choice.words(job.result))
            self._save(job.result)
        else:
            show_note(self.words, str(job.error), "error")

    def _save(self, model: Model) -> None:
        chosen, self._saved = self.chosen_format(), model
        suggested = f"{self._run.look.name}{chosen.ending}"
        filters = f"{chosen.title} (*{chosen.ending})"
        self.progress.show_work(None, "writing the model")
        self._cancelled = False

        def write(path: Path) -> None:
            content = chosen.write(model)
            if not self._cancelled:
                write_atomically(path, content)

        self._writing.ask("Save the model", suggested, filters, write)
        self._refresh()

    def _on_failed(self, sentence: str, _trace: str) -> None:
        show_note(self.words, sentence, "error")
        self._refresh()

    def _on_written(self, target: Path) -> None:
        threshold = score_words(self._saved.threshold)
        said = f"Saved {target}: threshold {threshold}"
        self._session.message.emit(said)
        show_note(self.words, f"{said}.")
        self._refresh()

    def reject(self) -> None:
        """Cancel and close."""
        self._on_cancel()
        super().reject()
