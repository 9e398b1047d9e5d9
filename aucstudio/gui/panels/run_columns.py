"""Columns of the run list: texts and figures."""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject, Signal

from aucstudio.engine import METHODS
from aucstudio.gui.common.table import ColumnSpec
from aucstudio.gui.state.background import Background, delayed
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices import Notice, text, texts
from aucstudio.notices.controls import control_words
from aucstudio.notices.words import (
    counted,
    figure_words,
    interval_words,
    range_words,
    seconds_words,
)
from aucstudio.project.data.columns import ColumnChoices
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.comparison import other_columns
from aucstudio.project.results.summary import (
    WHOLE,
    Estimate,
    auc_summary,
    band_negatives,
    caution_words,
    measures,
    part_name,
    pauc_summary,
    tpr_summary,
    train_auc,
    trained_elsewhere,
    trained_for,
)
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import DONE, FAILED, STOPPED, RunRecord
from aucstudio.project.runs.settings_shown import (
    differing_settings,
    settings_sentence,
    unfinished_words,
)

DEFAULTS = "defaults"


@dataclasses.dataclass(frozen=True)
class Facts:
    """How a run was made, in words.

    Attributes
    ----------
    method, scheme, settings, range, table, day : str
        ``settings`` are those that differ from the defaults.
    created : datetime or None
    caution : str
        Warning about its result in a few words; mostly empty.
    text : str
        All of these and every setting in lower case, for the search.
    """

    method: str
    scheme: str
    settings: str
    range: str
    table: str
    day: str
    created: datetime.datetime | None
    caution: str
    text: str


_known: WeakKeyDictionary[RunRecord, Facts] = WeakKeyDictionary()


def facts_of(record: RunRecord) -> Facts:
    """Return the facts of a run."""
    if record not in _known:
        _known[record] = _find(record)
    return _known[record]


def known_facts(record: RunRecord) -> Facts | None:
    """Return the facts of a run if they are cached."""
    return _known.get(record)


def _find(record: RunRecord) -> Facts:
    experiment, trained = record.experiment, trained_for(record)
    created = _moment(record.created)
    texts = {
        "method": METHODS[experiment.method].title,
        "scheme": unfinished_words(record) or scheme_words(experiment.validation),
        "settings": differing_settings(record) or DEFAULTS,
        "range": "" if trained is None else range_words(trained),
        "table": PurePath(experiment.data.path).name,
        "day": "" if created is None else f"{created:%Y-%m-%d %H:%M}",
        "caution": caution_words(record),
    }
    every = (*texts.values(), settings_sentence(experiment), experiment.method, record.status)
    text = "\n".join(every).replace("\N{NO-BREAK SPACE}", " ").casefold()
    return Facts(**texts, created=created, text=text)


def scheme_words(validation: Validation) -> str:
    """Describe how rows were held out."""
    repeats = validation.repeats if validation.repeats > 1 else None
    values = dataclasses.asdict(validation) | {"repeats": repeats}
    values["test_file"] = PurePath(validation.test_file).name
    return text(f"scheme_{validation.scheme}", **values)


def _moment(text: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        return None  # written by another program


@dataclasses.dataclass(frozen=True)
class ListedFigures:
    """The held-out figures of one run for one range.

    Attributes
    ----------
    band : (float, float)
    area, part, tpr : Estimate
        AUC, normalised partial AUC in the range, and TPR at the end of the range.
    training : float
        AUC on the training rows.
    measures : mapping of str to float
    negatives : int
        Number in the range, in the smallest split.
    each : str
        What one of several held-out parts is called; empty if there is one.
    """

    band: Band
    area: Estimate
    part: Estimate
    tpr: Estimate
    training: float
    measures: Mapping[str, float]
    negatives: int
    each: str = ""

    @property
    def gap(self) -> float:
        """By how much the AUC is higher on the training rows."""
        return self.training - self.area.value

    @property
    def has_range(self) -> bool:
        """Whether the range is only a part of the curve."""
        return self.band != WHOLE

    @property
    def headline(self) -> Estimate:
        """The main figure: the partial AUC if a range is set."""
        return self.part if self.has_range else self.area


def run_figures(record: RunRecord, band: Band) -> ListedFigures:
    """Compute the figures of a run with at least one finished split."""
    return ListedFigures(
        band,
        auc_summary(record),
        pauc_summary(record, band),
        tpr_summary(record, band[1]),
        train_auc(record),
        measures(record, WHOLE),
        band_negatives(record, band),
        part_name(record),
    )


class RunValues(QObject):
    """Computes and caches values of runs for the present range.

    Parameters
    ----------
    parent : QObject
    compute : callable
        Called with a record and a range on a thread.
    band : (float, float)

    Attributes
    ----------
    arrived : Signal(list of RunRecord)
    """

    arrived = Signal(object)

    def __init__(
        self, parent: QObject, compute: Callable[[RunRecord, Band], Any], band: Band
    ) -> None:
        super().__init__(parent)
        self.band = band
        self._compute = compute
        self._known: WeakKeyDictionary[RunRecord, tuple[Band, Any]] = WeakKeyDictionary()
        self._requested: dict[RunRecord, None] = {}  # the last one is computed first
        self._done: deque[tuple[RunRecord, Band, Any]] = deque()
        # Several start in one turn of the event loop, so none waits for its first result.
        finished, report = (lambda *_: self._on_computed()), (lambda _message: self._on_computed())
        self._work = Background(self, finished, report, patience=0.0)
        self._begin = delayed(self, 0, self._start)

    @property
    def busy(self) -> bool:
        """Whether a requested value is being computed."""
        return bool(self._requested or self._done) or self._work.busy

    def of(self, record: RunRecord) -> Any:
        """Return the value of a run and request it if necessary.

        Until it is computed, the value is that of an earlier range, or None.
        """
        self.ask((record,))
        return self.known(record)

    def known(self, record: RunRecord) -> Any:
        """Return the value of a run without a request."""
        known = self._known.get(record)
        return None if known is None else known[1]

    def is_current(self, record: RunRecord) -> bool:
        """Return whether the value of a run is of the present range."""
        known = self._known.get(record)
        return known is not None and known[0] == self.band

    def ask(self, records: Iterable[RunRecord]) -> None:
        """Request values, the last one first, before earlier requests."""
        for record in records:
            if not self.is_current(record):
                self._requested.pop(record, None)
                self._requested[record] = None
        if self._requested and not self._work.busy:
            self._begin.start()

    def set_band(self, band: Band) -> None:
        """Change the range and withdraw all requests."""
        self.band = band
        self._requested.clear()

    def _start(self) -> None:
        if self._requested and not self._work.busy:
            self._work.start(self.band, self._run)

    def _run(self, post: Callable[[None], bool]) -> None:
        while self._requested:
            try:
                record, _ = self._requested.popitem()
            except KeyError:  # the window has withdrawn the last request
                return
            band = self.band
            try:
                found = self._compute(record, band)
            except ValueError:  # damaged scores are reported when the project is checked
                found = None
            self._done.append((record, band, found))
            if post(None):
                return

    def _on_computed(self) -> None:
        came = []
        while self._done:
            record, band, found = self._done.popleft()
            self._known[record] = band, found
            came.append(record)
        if came:
            self.arrived.emit(came)
        if self._requested and not self._work.busy:
            self._begin.start()


def present_columns(run: ShownRun, table: ColumnChoices | None) -> tuple[Notice, ...]:
    """Return how the columns of a run differ from those that a run would use now."""
    if table is None:
        return ()
    present = text("present_columns")
    return other_columns(run.look.name, run.record.experiment, present, table)


ELSEWHERE = "†"
COMING = "…"
NONE = "–"
_MARKS = {DONE: "", STOPPED: "◐ ", FAILED: "✕ "}
_STATES = {STOPPED: "stopped", FAILED: "failed"}


@dataclasses.dataclass(frozen=True)
class RowContent:
    """Content of a row.

    Attributes
    ----------
    run : ShownRun
    figures : ListedFigures or None
        None until they are computed.
    band : (float, float)
        FPR range.
    failed_to_load : bool
        Whether the figures cannot be computed.
    table : ColumnChoices or None
        The open table.
    """

    run: ShownRun
    figures: ListedFigures | None
    band: Band
    failed_to_load: bool = False
    table: ColumnChoices | None = None

    @property
    def other_columns(self) -> tuple[Notice, ...]:
        """How the columns of the run differ from those that a run would use now."""
        return present_columns(self.run, self.table)

    @property
    def facts(self) -> Facts:
        """How the run was made."""
        return facts_of(self.run.record)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ListColumn(ColumnSpec):
    """One column of the list; its functions are called with a RowContent.

    Attributes
    ----------
    key : str
    below : callable, optional
        Returns the second line of a cell.
    """

    key: str
    below: Callable[[RowContent], str] | None = None


def _column(key: str, text: Callable[[RowContent], str], **more: Any) -> ListColumn:
    """Return a column with the head, the tip and the sample of the catalogue."""
    words = control_words(f"run_column_{key}")
    return ListColumn(
        words["title"], text, tip=words["tip"], key=key, sample=words["sample"], **more
    )


def _fact(name: str) -> ListColumn:
    """Return a column of facts, sorted by their texts."""

    def words(row: RowContent) -> str:
        return str(getattr(row.facts, name))

    return _column(name, words, order=lambda row: words(row).casefold() or None)


def _figure(
    key: str,
    value: Callable[[ListedFigures], float],
    write: Callable[[float], str] = figure_words,
    **more: Any,
) -> ListColumn:
    """Return a column of figures, which are computed when they are shown."""

    def words(row: RowContent) -> str:
        record = row.run.record
        if not record.splits:
            return "failed" if key == AREA and record.status == FAILED else NONE
        if row.figures is None:
            return NONE if row.failed_to_load else COMING
        return write(value(row.figures))

    def order(row: RowContent) -> float | None:
        if row.figures is None or row.run.record.planned_splits:
            return None  # unfinished runs come last
        found = value(row.figures)
        return None if math.isnan(found) else found

    return _column(key, words, order=order, is_figure=True, **more)


def _interval(found: Estimate | None) -> str:
    """Return an interval without leading zeros, as in .946–1."""
    if found is None or math.isnan(found.low):
        return ""
    ends = (f"{end:.3f}".removeprefix("0") for end in (found.low, found.high))
    return "–".join("1" if end == "1.000" else end for end in ends)


def _sentence(name: str, found: Estimate | None) -> str:
    """Return a figure with its interval, and its range over several splits."""
    if found is None or math.isnan(found.value):
        return ""
    text = f"{name} {figure_words(found.value)}, {found.interval}"
    if len(found.per_split) > 1:
        low, high = min(found.per_split), max(found.per_split)
        text += f"; mean of {counted(len(found.per_split), 'split')}, {interval_words(low, high)}"
    return text


def _area(row: RowContent) -> Estimate | None:
    return None if row.figures is None else row.figures.area


def _part(row: RowContent) -> Estimate | None:
    return None if row.figures is None else row.figures.part


def _part_below(row: RowContent) -> str:
    mark = ELSEWHERE if trained_elsewhere(row.run.record, row.band) else ""
    return _interval(_part(row)) + mark


def _part_about(row: RowContent) -> str:
    text = _sentence(f"pAUC in FPR {range_words(row.band)}", _part(row))
    elsewhere = trained_elsewhere(row.run.record, row.band)
    return "\n".join([text, *(f"{ELSEWHERE} {found}" for found in elsewhere)])


def _name_about(row: RowContent) -> str:
    record, facts = row.run.record, row.facts
    made = f"{facts.method}, {facts.settings}, {facts.scheme}"
    text = (made, record.error or _STATES.get(record.status), facts.caution, row.run.look.notes)
    return "\n".join(filter(None, (*text, *texts(row.other_columns))))


def _seconds(row: RowContent) -> float | None:
    seconds = row.run.record.fit_seconds
    return None if math.isnan(seconds) else seconds


def _time(row: RowContent) -> str:
    seconds = _seconds(row)
    return NONE if seconds is None else seconds_words(seconds)


NAME, AREA, PART, NOTES = "name", "auc", "pauc", "notes"
# In the order in which a wider list shows them.
COLUMNS = (
    _column(
        NAME,
        lambda row: _MARKS[row.run.record.status] + row.run.look.name,
        order=lambda row: row.run.look.name.casefold(),
        below=lambda row: text("other_columns") if row.other_columns else "",
        about=_name_about,
    ),
    _figure(
        AREA,
        lambda found: found.area.value,
        below=lambda row: _interval(_area(row)),
        about=lambda row: _sentence("AUC", _area(row)),
    ),
    _figure(PART, lambda found: found.part.value, below=_part_below, about=_part_about),
    _figure("tpr", lambda found: found.tpr.value, about=lambda row: f"At FPR {row.band[1]:g}"),
    _figure("gap", lambda found: found.gap, lambda value: figure_words(value, "+")),
    _fact("scheme"),
    _fact("settings"),
    _fact("range"),
    _column(
        NOTES,
        lambda row: " ".join(row.run.look.notes.split()),
        order=lambda row: row.run.look.notes.casefold() or None,
        about=lambda row: row.run.look.notes,
    ),
    _column("time", _time, order=_seconds, is_figure=True),
    _column(
        "day",
        lambda row: row.facts.day,
        order=lambda row: row.facts.created and row.facts.created.timestamp(),
    ),
    _fact("method"),
    _fact("table"),
)
KEYS = tuple(column.key for column in COLUMNS)


def matches(run: ShownRun, words: Sequence[str]) -> bool:
    """Return whether a run matches words; a run without cached facts does not."""
    facts, text = known_facts(run.record), f"{run.look.name}\n{run.look.notes}".casefold()
    return facts is not None and all(word in text or word in facts.text for word in words)
