"""The card of the chosen run."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import (
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QWidget,
)

from aucstudio.engine import METHODS
from aucstudio.engine.params import declared_params
from aucstudio.gui.common import prompts
from aucstudio.gui.common.buttons import Fold, push_button
from aucstudio.gui.common.layouts import (
    STRETCH,
    TOP,
    Card,
    across,
    down,
    empty,
    grid,
    holding,
    scrolled,
)
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plotting import SWATCH, swatch
from aucstudio.gui.common.theme import icon
from aucstudio.gui.common.widgets import label, named, show_note
from aucstudio.gui.panels.run_columns import (
    COMING,
    ELSEWHERE,
    NONE,
    ListedFigures,
    RunValues,
    facts_of,
    present_columns,
)
from aucstudio.gui.state.background import Answer, delayed
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import Notice, text, texts
from aucstudio.notices.words import (
    counted,
    figure_words,
    interval_words,
    range_words,
    seconds_words,
)
from aucstudio.project.data.validation import FILE
from aucstudio.project.results.leaks import leaks_used
from aucstudio.project.results.summary import (
    WHOLE,
    Estimate,
    cautions,
    fit_remarks,
    range_notices,
    ranks_backwards,
    stopped,
    trained_elsewhere,
)
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.settings_shown import shown_settings
from aucstudio.project.runs.tuning import symbols

_TOP = Qt.AlignmentFlag.AlignTop


@dataclasses.dataclass(frozen=True)
class TableLine:
    """One line of a table.

    Attributes
    ----------
    title, value, beside : str
        ``beside`` is an interval or a remark.
    tip : str
        One plain sentence.
    """

    title: str
    value: str
    beside: str = ""
    tip: str = ""


class FigureTable(QWidget):
    """A table of labels.

    Parameters
    ----------
    name : str
    wrap : bool
        Whether values are wrapped texts; otherwise they are figures aligned right.
    """

    def __init__(self, name: str, *, wrap: bool = False) -> None:
        super().__init__()
        self.setObjectName(name)
        self._name, self._wrap = name, wrap
        self._grid = grid(gaps=(10, 4), wide=1 if wrap else 2)
        self.setLayout(self._grid)
        self._cells: list[tuple[QLabel, ...]] = []

    def show_lines(self, lines: Sequence[TableLine]) -> None:
        """Show these lines and no others."""
        while len(self._cells) < len(lines):
            self._add_row()
        for k, cells in enumerate(self._cells):
            shown = k < len(lines)
            for cell in cells:
                cell.setVisible(shown)
            if shown:
                self._fill(cells, lines[k])

    def _add_row(self) -> None:
        k = len(self._cells)
        cells = title, value, beside = tuple(
            label("", role, wrap=self._wrap and part == "value", name=f"{self._name}_{k}_{part}")
            for part, role in _PARTS
        )
        self._grid.addWidget(title, k, 0, _TOP)
        if self._wrap:
            self._grid.addWidget(value, k, 1, _TOP)
            beside.setParent(self)
        else:
            self._grid.addWidget(value, k, 1, _TOP | Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(beside, k, 2, _TOP)
        self._cells.append(cells)

    def _fill(self, cells: tuple[QLabel, ...], line: TableLine) -> None:
        for cell, words in zip(cells, (line.title, line.value, line.beside), strict=True):
            cell.setText(words)
            plain_tooltip(cell, line.tip)
        cells[2].setVisible(bool(line.beside))


_PARTS = (("title", "muted"), ("value", ""), ("beside", "muted"))


def headline_words(band: Band) -> str:
    """Return the name of the main figure."""
    return "AUC" if band == WHOLE else f"pAUC in FPR {range_words(band)}"


def under_headline(found: ListedFigures) -> str:
    """Return the interval of the main figure, and the number of negatives in the range."""
    top = found.headline
    # A reason states how few rows there are.
    if not found.has_range or (math.isnan(top.low) and top.reason):
        return top.interval
    negatives = text("card_negatives", negatives=found.negatives, each=found.each)
    return f"{top.interval} · {negatives}"


def key_lines(record: RunRecord, found: ListedFigures | None, band: Band) -> list[TableLine]:
    """Return lines of AUC and TPR with their intervals; dots until they are computed."""
    values = {"splits": len(record.splits) if len(record.splits) > 1 else None, "end": band[1]}
    lines = [_summary_line("auc", None if found is None else found.area, values)]
    if band != WHOLE:
        lines.append(_summary_line("tpr", None if found is None else found.tpr, values))
    return lines


def _summary_line(key: str, found: Estimate | None, values: dict[str, Any]) -> TableLine:
    if found is None:
        return _line(key, COMING, **values, reason="")
    beside = interval_words(*found.bounds) if found.known else text("no_interval_words", reason="")
    return _line(key, figure_words(found.value), beside, **values, reason=found.reason)


def _line(key: str, value: str, beside: str = "", **values: Any) -> TableLine:
    """Return a line with the title and the tip of the catalogue."""
    title, tip = text(f"card_{key}", **values), text(f"card_{key}_tip", **values)
    return TableLine(title, value, beside, tip)


def other_lines(record: RunRecord, found: ListedFigures | None) -> list[TableLine]:
    """Return lines of the other figures; dots until they are computed."""
    if found is None:
        lines = [_line("gap", COMING, training=None)]
        lines += [_line(name, COMING) for name in _MEASURES]
    else:
        lines = [_line("gap", figure_words(found.gap, "+"), training=found.training)]
        lines += [_line(name, figure_words(found.measures[name])) for name in _MEASURES]
    seconds, count = record.fit_seconds, len(record.splits)
    time = NONE if math.isnan(seconds) else seconds_words(seconds)
    return [*lines, _line("time", time, f"× {count}" if count > 1 else "")]


_MEASURES = ("ap", "h", "ks", "eer")
_KEPT = 64  # runs whose columns were searched for leaks
_SEARCHES = 5  # splits whose search is listed
_SIGN = QSize(16, 16)
_LEAST = 200  # pixels of height


class RunDetails(Card):
    """Results, settings and notes of the chosen run."""

    def __init__(self, session: Session, figures: RunValues, parent: QWidget) -> None:
        super().__init__()
        self.setParent(parent)  # without a parent it would be shown as a window
        self.session = session
        self._figures = figures
        self._run: str | None = None
        self._reveals: list[Notice] = []
        self._leaks = Answer[list[Notice]](self, self._on_leaks, lambda _why: None, keep=_KEPT)
        self.rows.setContentsMargins(16, 12, 8, 12)
        self._add_head()
        self._add_body()
        self._add_buttons()
        figures.arrived.connect(self._on_figures)
        session.listen(self.refresh, "selection", "runs", "table")
        session.listen(self._show_figures, "band_rested")
        self.refresh()

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), _LEAST)

    # ------------------------------------------------------------- parts

    def _add_head(self) -> None:
        self.rows.addWidget(label("CHOSEN RUN", "heading"))
        self.line = label(name="run_line")
        self.name = label("", "title", wrap=True, name="run_name")
        self.rows.addLayout(across((self.line, TOP), (self.name, 1)))

    def _add_body(self) -> None:
        self.figure = label("", "figure", name="run_figure")
        self.measure = label("", "muted", name="run_measure")
        self.sure = label("", "muted", wrap=True, name="run_interval")
        self.error = label("", "error", wrap=True, name="run_error")
        self.trace = push_button("run_trace", verb=self._on_trace)
        self.warnings = _Warnings()
        self.table = FigureTable("run_figures")
        self.others = FigureTable("run_other_figures")
        self.settings = FigureTable("run_settings", wrap=True)
        self.remarks = label("", "muted", wrap=True, name="run_remarks")
        self.notes = NotesEdit(self.session)
        self.measure.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        bottom = Qt.AlignmentFlag.AlignBottom
        top = across((self.figure, bottom), (self.measure, bottom))
        self.all_figures = Fold("run_all_figures_button", "All figures", [self.others])
        all_settings = Fold("run_settings_button", "Settings", [self.settings, self.remarks])
        above = (top, self.sure, self.error, self.trace, self.warnings, self.table)
        below = (self.all_figures, all_settings, self.notes, STRETCH)
        body = down(*above, *below, around=(0, 0, 8, 0))
        self.area = scrolled(holding(body), "run_card_area")
        self.rows.addWidget(self.area, stretch=1)

    def _add_buttons(self) -> None:
        self.reuse = push_button(
            "reuse_button", verb=lambda: self.session.reuse_settings(self._run or "")
        )
        self.export = push_button("export_button")
        self.rows.addLayout(across(self.reuse, self.export, around=(0, 0, 8, 0)))

    # ------------------------------------------------------------- what is shown

    def refresh(self) -> None:
        """Show the chosen run."""
        shown = self.session.run(self.session.selected)
        self.setVisible(shown is not None)
        self.notes.show_run(None if shown is None else shown.record.id)
        if shown is None:
            return
        record = shown.record
        if record.id != self._run:
            self._run = record.id
            self.area.verticalScrollBar().setValue(0)
        self.name.setText(shown.look.name)
        self.line.setPixmap(swatch(shown.look).pixmap(SWATCH))
        show_note(self.error, record.error, "error")
        self.trace.setVisible(bool(record.traceback))
        self.export.setVisible(bool(record.splits))
        self.settings.show_lines(_settings_lines(shown))
        show_note(self.remarks, "\n".join(texts(fit_remarks(record))))
        self._ask_for_leaks(record)
        self._show_figures()

    def _show_figures(self) -> None:
        shown = self.session.run(self.session.selected)
        if shown is None:
            return
        record, band = shown.record, self.session.plan.band
        has_figures = bool(record.splits)
        for widget in (self.figure, self.measure, self.sure, self.table, self.all_figures):
            widget.setVisible(has_figures)
        found = self._figures.of(record) if has_figures else None
        if not self._figures.is_current(record):
            found = None  # figures of another range must not look like those of the present one
        self.warnings.show_sentences(self._cautions(shown, found))
        if not has_figures:
            return
        mark = f" {ELSEWHERE}" if trained_elsewhere(record, band) else ""
        lost = NONE if self._figures.is_current(record) else COMING
        self.figure.setText(lost if found is None else figure_words(found.headline.value))
        self.measure.setText(headline_words(band) + mark)
        self.sure.setText("" if found is None else under_headline(found))
        self.table.show_lines(key_lines(record, found, band))
        self.others.show_lines(other_lines(record, found))

    def _ask_for_leaks(self, record: RunRecord) -> None:
        """Search the columns of the run for those that reveal the label, once for each table."""
        table = self.session.table
        key = record.id, None if table is None else table.sha256
        if key != self._leaks.key:
            self._reveals = []
            self._leaks.ask(key, lambda _post: leaks_used(record.experiment.data, table))

    def _on_leaks(self, found: list[Notice]) -> None:
        if found != self._reveals:
            self._reveals = found
            self._show_figures()

    def _cautions(self, shown: ShownRun, found: ListedFigures | None) -> list[str]:
        record = shown.record
        band, unsaved = self.session.plan.band, self.session.unsaved.get(record.id, "")
        reverse = found is not None and ranks_backwards(found.area)
        parts = [
            *texts(stopped(record)),
            f"Not saved: {unsaved}" if unsaved else "",
            "Ranks in reverse: check which class is the positive one." if reverse else "",
            *texts([*self._reveals, *cautions(record), *range_notices(record, band)]),
            *(f"{ELSEWHERE} {one}" for one in trained_elsewhere(record, band)),
            *texts(present_columns(shown, self.session.table)),
        ]
        return [part for part in parts if part]

    # ------------------------------------------------------------- actions

    def edit_notes(self) -> None:
        """Show a field for notes on the chosen run."""
        self.area.ensureWidgetVisible(self.notes)
        self.notes.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_figures(self, records: list[RunRecord]) -> None:
        if any(record.id == self.session.selected for record in records):
            self._show_figures()

    def _on_trace(self) -> None:
        shown = self.session.run(self.session.selected)
        if shown is not None:
            prompts.show_error(self, shown.record.error, shown.record.traceback)


class _Warnings(QWidget):
    """Sentences in the colour of warnings, each with the sign."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("run_warnings")
        self.sentences: list[str] = []
        self._lines = down(gap=4)
        self.setLayout(self._lines)

    def show_sentences(self, sentences: list[str]) -> None:
        """Show other sentences."""
        if sentences != self.sentences:
            empty(self._lines)
            for k, sentence in enumerate(sentences):
                sign = label()
                sign.setAccessibleName("Warning")
                sign.setPixmap(icon("warning", "warning").pixmap(_SIGN))
                words = label(sentence, "warning", wrap=True, name=f"run_warning_{k}")
                line = holding(across((sign, TOP), (words, 1), gap=6))
                self._lines.addWidget(line)
                line.show()
        self.sentences = sentences
        self.setVisible(bool(sentences))


def _settings_lines(shown: ShownRun) -> list[TableLine]:
    record, facts = shown.record, facts_of(shown.record)
    experiment = record.experiment
    method = METHODS[experiment.method]
    title = "Combination of finished runs" if experiment.members else method.title
    lines = [TableLine("Method", title, tip=method.summary)]
    if experiment.members:
        lines.append(_line("members", counted(len(experiment.members), "finished run")))
    if experiment.tuning is not None:
        names = symbols(experiment.method)
        found = [one.describe(names) for one in record.searches[:_SEARCHES]]
        lines.append(_line("tuning", "\n".join([experiment.tuning.describe(), *found])))
    helps = {name: declared.help for name, declared in declared_params(method).items()}
    for setting in shown_settings(experiment):
        title = " ".join(dict.fromkeys((setting.title, setting.short)))
        value = setting.value + (" (default)" if setting.is_default else "")
        lines.append(TableLine(title, value, tip=helps.get(setting.name, "")))
    validation = experiment.validation
    scheme = facts.scheme if validation.scheme == FILE else validation.describe()
    table = f"{facts.table}, {experiment.data.label} = {experiment.data.positive}"
    table += "" if experiment.weight is None else f", weighted by {experiment.weight}"
    lines.append(_line("validation", scheme))
    lines.append(TableLine("Table", table, tip=experiment.data.path))
    return [*lines, _line("made", facts.day)]


_PAUSE = 700  # milliseconds after the last key
_LINES = 2


class NotesEdit(QPlainTextEdit):
    """The notes of one run; stored after a pause, and when the editor or the run is left."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        named(self, "run_notes_edit")
        self.setPlaceholderText("Notes: why this run, what it showed…")
        self.setTabChangesFocus(True)
        self._session = session
        self._run: str | None = None
        self._study = session.study
        self._known = ""
        self._later = delayed(self, _PAUSE, self.keep)
        self.textChanged.connect(self._later.start)
        self.setFixedHeight(_LINES * self.fontMetrics().lineSpacing() + 18)

    def show_run(self, run: str | None) -> None:
        """Show the notes of a run; store those of the run before."""
        if run != self._run or self._session.study is not self._study:
            self.keep()
            self._run, self._study = run, self._session.study
            self._known = ""
            self._put("")
        look = self._session.plan.looks.get(run or "")
        notes = look.notes if look is not None else ""
        # Typed text is replaced only by changes made elsewhere (undo, the list).
        if notes != self._known:
            self._known = notes
            if notes != self.toPlainText().strip():
                self._put(notes)

    def keep(self) -> None:
        """Store the text in the plan."""
        self._later.stop()
        text = self.toPlainText().strip()
        run, known = self._run, self._session.plan.looks
        # A text about a run of another study must not become a note of a run of this one.
        same = self._session.study is self._study
        if same and run is not None and run in known and text != self._known:
            self._known = text
            self._session.set_looks((run,), "Edit notes", f"notes {run}", notes=text)

    def _put(self, text: str) -> None:
        self.setPlainText(text)
        self._later.stop()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.keep()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.keep()
            self.clearFocus()
        else:
            super().keyPressEvent(event)
