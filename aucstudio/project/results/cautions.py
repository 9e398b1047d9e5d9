"""What a person must know before trusting a run: said of the run, and apart from mere remarks."""

from __future__ import annotations

import re

from aucstudio.project.results.comparison import trained_for
from aucstudio.project.results.summary import Summary
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import STOPPED, RunRecord
from aucstudio.project.words import counted, range_words

# Records keep what a fit noted as sentences. These tell of a result that is not what was asked for.
_GRAVE = re.compile(
    r"widened to|same score|score alike|not reached|had settled|wrong way round|[Oo]verfitted"
    r"|converge|too few|add nothing|cannot be told|apart by itself"
)
_CHANCE = 0.5
_WIDENED = "widened to"
_CONVERGENCE = re.compile(r"not reached|had settled|converge")


def cautions(record: RunRecord) -> list[str]:
    """List the sentences that put a run's result in doubt: a fallback, no convergence, few rows."""
    told = [*record.warnings, *(note for note in _notes(record) if _GRAVE.search(note))]
    unfinished = sum(not split.converged for split in record.splits)
    if unfinished and record.status != STOPPED and not any(map(_CONVERGENCE.search, told)):
        fits = counted(len(record.splits), "fit")
        which = f"{unfinished} of {fits}" if len(record.splits) > 1 else "The fit"
        told.append(f"{which} ended before the optimum was reached within the tolerance.")
    return told


def stopped_words(record: RunRecord) -> str:
    """Say of a run that was stopped by hand what its figures rest on; empty of any other."""
    if record.status != STOPPED:
        return ""
    there, asked = len(record.splits), record.experiment.validation.splits
    if not there:
        return "Stopped by hand before a fit had ended: there is nothing to show."
    if there == 1 and not record.splits[0].converged:
        fit = "the fit" if asked == 1 else f"the first of {asked} fits"
        return f"Stopped by hand within {fit}: the model is as it stood then, not fully trained."
    if there < asked:
        return f"Stopped by hand after {there} of {asked} splits: figures rest on these alone."
    return "Stopped by hand: what was finished is kept."


def remarks(record: RunRecord) -> list[str]:
    """List what else the fits noted."""
    return [note for note in _notes(record) if not _GRAVE.search(note)]


def _notes(record: RunRecord) -> list[str]:
    """List the fits' notes, but for those that say what the record itself knows."""
    known = bool(record.widened)  # a record of an early version has the note alone
    return [note for note in record.notes if not (known and _WIDENED in note)]


def caution_words(record: RunRecord) -> str:
    """Say in a few words what the cautions are about; empty where there are none."""
    if record.widened:
        return f"FPR range widened to {range_words(max(record.widened))}"
    return next(iter(cautions(record)), "")


def ranks_backwards(area: Summary) -> bool:
    """Tell whether an AUC is below one half for sure: its interval lies there as a whole."""
    return area.high < _CHANCE


def trained_elsewhere_words(record: RunRecord, band: Band) -> str:
    """Say that a run was trained for another FPR range than the one shown; empty if it was not."""
    trained = trained_for(record)
    if trained is None or max(abs(a - b) for a, b in zip(trained, band, strict=True)) <= 1e-9:
        return ""
    verb = "Asked to train" if record.widened else "Trained"
    return f"{verb} for FPR {range_words(trained)}, not for the range shown, {range_words(band)}."
