"""Cautions about a run."""

from __future__ import annotations

from aucstudio.notices import WARNING, Notice, notice
from aucstudio.notices.words import range_words
from aucstudio.project.results.comparison import trained_for
from aucstudio.project.results.summary import Summary
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import STOPPED, RunRecord

_CHANCE = 0.5
_WIDENED = ("range_widened", "range_widened_for_learners")
_UNFINISHED = ("not_converged", "gap_too_large")


def cautions(record: RunRecord) -> list[Notice]:
    """Return the notices that put a run's result in doubt: a fallback, no convergence, few rows."""
    found = [*record.warnings, *(note for note in _notes(record) if note.severity == WARNING)]
    unfinished = sum(not split.converged for split in record.splits)
    if unfinished and record.status != STOPPED and not any(n.code in _UNFINISHED for n in found):
        total = len(record.splits)
        found.append(
            notice("splits_not_converged", count=unfinished, total=total)
            if total > 1
            else notice("fit_not_converged")
        )
    return found


def stopped(record: RunRecord) -> list[Notice]:
    """Return what the figures of a run are based on that the user stopped; nothing for others."""
    if record.status != STOPPED:
        return []
    finished, planned = len(record.splits), record.experiment.validation.splits
    if not finished:
        return [notice("stopped_before_first_fit")]
    if finished == 1 and not record.splits[0].converged:
        return [notice("stopped_within_fit", planned=planned)]
    if finished < planned:
        return [notice("stopped_after_splits", finished=finished, planned=planned)]
    return [notice("stopped_by_user")]


def remarks(record: RunRecord) -> list[Notice]:
    """Return what else the fits reported."""
    return [note for note in _notes(record) if note.severity != WARNING]


def _notes(record: RunRecord) -> list[Notice]:
    """Return the fits' notices without those that the record's warnings repeat."""
    known = bool(record.widened)
    return [note for note in record.notes if not (known and note.code in _WIDENED)]


def caution_words(record: RunRecord) -> str:
    """State in a few words what the cautions are about; empty where there are none."""
    if record.widened:
        return f"FPR range widened to {range_words(max(record.widened))}"
    return next(map(str, cautions(record)), "")


def ranks_backwards(area: Summary) -> bool:
    """Return whether an AUC is significantly below 0.5: its whole interval is."""
    return area.high < _CHANCE


def trained_elsewhere(record: RunRecord, band: Band) -> list[Notice]:
    """Return whether a run was trained for another FPR range than the one shown."""
    trained = trained_for(record)
    if trained is None or max(abs(a - b) for a, b in zip(trained, band, strict=True)) <= 1e-9:
        return []
    code = "asked_for_other_range" if record.widened else "trained_for_other_range"
    return [notice(code, trained=trained, shown=band)]
