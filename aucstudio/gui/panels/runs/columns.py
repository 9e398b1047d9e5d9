"""Columns of the run list."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from aucstudio.gui.common.table import ColumnSpec
from aucstudio.gui.panels.runs.figures import RunFigures
from aucstudio.gui.panels.runs.run_texts import Facts, facts_of
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices.words import (
    counted,
    figure_words,
    interval_words,
    range_words,
    seconds_words,
)
from aucstudio.project.results.summary import Summary, trained_elsewhere
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import DONE, FAILED, STOPPED

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
    figures : RunFigures or None
        None until they are computed.
    band : (float, float)
        FPR range.
    failed_to_load : bool
        Whether the figures cannot be computed.
    """

    run: ShownRun
    figures: RunFigures | None
    band: Band
    failed_to_load: bool = False

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
    sample : str
        A wide text, which sets the width of the column.
    below : callable or None
        A second, smaller line.
    """

    key: str
    sample: str
    below: Callable[[RowContent], str] | None = None


def _figure(
    value: Callable[[RunFigures], float], write: Callable[[float], str] = figure_words
) -> tuple[Callable[[RowContent], str], Callable[[RowContent], float | None]]:
    """Return the functions for the text and the sort key of a figure."""

    def words(row: RowContent) -> str:
        if not row.run.record.splits:
            return NONE
        if row.figures is None:
            return NONE if row.failed_to_load else COMING
        return write(value(row.figures))

    def order(row: RowContent) -> float | None:
        found = math.nan if row.figures is None else value(row.figures)
        return None if math.isnan(found) else found

    return words, order


def _interval(of: Callable[[RunFigures], Summary]) -> Callable[[RowContent], str]:
    """Return the function for an interval in a narrow column: ``.000–.618``."""

    def below(row: RowContent) -> str:
        found = None if row.figures is None else of(row.figures)
        if found is None or math.isnan(found.low):
            return ""
        return "–".join(f"{end:.3f}".removeprefix("0") for end in (found.low, found.high))

    return below


def _about(name: str, of: Callable[[RunFigures], Summary]) -> Callable[[RowContent], str]:
    def about(row: RowContent) -> str:
        if row.figures is None or math.isnan(of(row.figures).value):
            return ""
        return summary_sentence(name, of(row.figures))

    return about


def summary_sentence(name: str, found: Summary) -> str:
    """Describe a figure with its interval, or why it has none, and the range over splits."""
    told = f"{name} {figure_words(found.value)}, {found.interval}"
    if len(found.per_split) > 1:
        low, high = min(found.per_split), max(found.per_split)
        told += f"; mean of {counted(len(found.per_split), 'split')}, {interval_words(low, high)}"
    return told


def _part_below(row: RowContent) -> str:
    mark = f" {ELSEWHERE}" if trained_elsewhere(row.run.record, row.band) else ""
    return _interval(lambda f: f.part)(row) + mark


def _part_about(row: RowContent) -> str:
    told = _about(f"pAUC in FPR {range_words(row.band)}", lambda f: f.part)(row)
    elsewhere = trained_elsewhere(row.run.record, row.band)
    return "\n".join([told, *(f"{ELSEWHERE} {found}" for found in elsewhere)])


def _name(row: RowContent) -> str:
    return _MARKS[row.run.record.status] + row.run.look.name


def _name_about(row: RowContent) -> str:
    record, facts = row.run.record, row.facts
    made = f"{facts.method}, {facts.settings}, {facts.scheme}"
    state = _STATES.get(record.status, "")
    told = (made, record.error or state, facts.caution, row.run.look.notes)
    return "\n".join(filter(None, told))


def _seconds(row: RowContent) -> float | None:
    seconds = row.run.record.fit_seconds
    return None if math.isnan(seconds) else seconds


def _time(row: RowContent) -> str:
    seconds = _seconds(row)
    return NONE if seconds is None else seconds_words(seconds)


def _area(row: RowContent) -> str:
    failed = not row.run.record.splits and row.run.record.status == FAILED
    return "failed" if failed else _AUC[0](row)


_AUC = _figure(lambda f: f.area.value)
_PART = _figure(lambda f: f.part.value)
_GAP = _figure(lambda f: f.gap, lambda value: figure_words(value, "+"))
_TPR = _figure(lambda f: f.tpr.value)

NAME, AREA, PART, NOTES = "name", "auc", "pauc", "notes"

# In the order in which a wider list shows them.
COLUMNS = (
    ListColumn(
        "Run",
        _name,
        tip="Checked runs are drawn. Double-click a run to rename it.",
        order=lambda row: row.run.look.name.casefold(),
        key=NAME,
        sample="AUC-RLS, tuned (12)",
        about=_name_about,
    ),
    ListColumn(
        "AUC",
        _area,
        tip=(
            "Held-out AUC: how often a positive row scores above a negative one, and its 95 % "
            "interval."
        ),
        order=_AUC[1],
        key=AREA,
        sample=".000–.99",
        below=_interval(lambda f: f.area),
        about=_about("AUC", lambda f: f.area),
        is_figure=True,
    ),
    ListColumn(
        "pAUC",
        _PART[0],
        tip=(
            "Held-out partial AUC: the mean TPR over the FPR range shown, and its 95 % interval. "
            f"{ELSEWHERE} marks a run that was trained for another range."
        ),
        order=_PART[1],
        key=PART,
        sample=".000–.99",
        below=_part_below,
        about=_part_about,
        is_figure=True,
    ),
    ListColumn(
        "TPR",
        _TPR[0],
        tip="Share of the positives found at the upper end of the FPR range",
        order=_TPR[1],
        key="tpr",
        sample="0.9999",
        is_figure=True,
        about=lambda row: f"At FPR {row.band[1]:g}",
    ),
    ListColumn(
        "Gap",
        _GAP[0],
        tip="Training AUC minus held-out AUC; a large gap suggests overfitting",
        order=_GAP[1],
        key="gap",
        sample="+0.0001",
        is_figure=True,
    ),
    ListColumn(
        "Validation",
        lambda row: row.facts.scheme,
        tip="How rows were held out",
        order=lambda row: row.facts.scheme,
        key="scheme",
        sample="hold-out 25 % × 10",
    ),
    ListColumn(
        "Settings",
        lambda row: row.facts.settings,
        tip="The settings that are not the method's defaults",
        order=lambda row: row.facts.settings.casefold(),
        key="settings",
        sample="kernel = rbf, C = 1000",
    ),
    ListColumn(
        "Trained for",
        lambda row: row.facts.range,
        tip="FPR range that the method was trained for, if it uses one",
        order=lambda row: row.facts.range or None,
        key="range",
        sample="0 … 0.125",
    ),
    ListColumn(
        "Notes",
        lambda row: " ".join(row.run.look.notes.split()),
        tip="Your notes on the run. Double-click to edit.",
        order=lambda row: row.run.look.notes.casefold() or None,
        key=NOTES,
        sample="as a start, too wide",
        about=lambda row: row.run.look.notes,
    ),
    ListColumn(
        "Time",
        _time,
        tip="Time of one fit",
        order=_seconds,
        key="time",
        sample="999 ms",
        is_figure=True,
    ),
    ListColumn(
        "Day",
        lambda row: row.facts.day,
        tip="When the run began",
        order=lambda row: row.facts.created and row.facts.created.timestamp(),
        key="day",
        sample="2026-12-31 23:59",
    ),
    ListColumn(
        "Method",
        lambda row: row.facts.method,
        tip="The method that was trained",
        order=lambda row: row.facts.method.casefold(),
        key="method",
        sample="gradient boosting",
    ),
    ListColumn(
        "Table",
        lambda row: row.facts.table,
        tip="The table that it was trained on",
        order=lambda row: row.facts.table.casefold(),
        key="table",
        sample="transactions.csv",
    ),
)
KEYS = tuple(column.key for column in COLUMNS)
