"""Which finished runs can be combined: those that held out the same rows."""

from __future__ import annotations

from collections.abc import Sequence

from aucstudio.project.data.splitting.validation import LEAVE_PAIR_OUT
from aucstudio.project.errors import InputError
from aucstudio.project.results.other_rows import Apart, planned_apart, why_not_comparable
from aucstudio.project.runs.record import DONE, RunRecord

Named = tuple[str, RunRecord]


def why_not(runs: Sequence[Named]) -> str:
    """Say why runs cannot be combined, as far as that is known without reading their scores.

    Parameters
    ----------
    runs : sequence of (name, record)

    Returns
    -------
    str
        A sentence without its full stop that names the run; empty if nothing speaks against it.
    """
    if len(runs) < 2:
        return f"a combination takes two runs or more, and there {_are(len(runs))}"
    for name, record in runs:
        if reason := _alone(record):
            return f"{name} {reason}"
    first, record = runs[0]
    for name, other in runs[1:]:
        if not _share(record, other):
            return _apart((name, other), (first, record))
        if other.experiment.weight != record.experiment.weight:
            return f"{name} uses other row weights than {first}"
    return ""


def _are(count: int) -> str:
    return "are none" if count == 0 else "is one"


def _alone(record: RunRecord) -> str:
    experiment = record.experiment
    if experiment.members:
        return "is a combination of runs itself: take the runs that it consists of"
    if record.status != DONE or not record.splits:
        return "was not finished"
    if experiment.validation.scheme == LEAVE_PAIR_OUT:
        return "ordered pairs, and held no rows out"
    return ""


def _apart(one: Named, first: Named) -> str:
    """Say what sets the rows of two runs apart, and what can be done about it."""
    found = planned_apart(first[1], one[1]) or Apart(
        "their tables were read in different ways", "on the same rows"
    )
    words = f"{one[0]} shares no held-out rows with {first[0]}: {found.why}"
    return f"{words}; train one of them again {found.remedy}" if found.remedy else words


def _share(a: RunRecord, b: RunRecord) -> bool:
    return a.experiment.rows_of() == b.experiment.rows_of() and len(a.splits) == len(b.splits)


def require_likely(runs: Sequence[Named]) -> None:
    """Make sure that nothing speaks against combining runs, before their scores are read.

    Raises
    ------
    InputError
        That names the run which does not fit, and says why.
    """
    reason, known = why_not(runs), dict[str, str]()
    for name, record in runs:
        twin = known.get(record.experiment.id)
        if twin is not None and not reason:
            same = "is named twice" if twin == name else f"is the same run as {twin}"
            reason = f"{name} {same}"
        known[record.experiment.id] = name
    if reason:
        raise InputError(reason, setting="runs")


def require_sharing(runs: Sequence[Named]) -> None:
    """Make sure that runs held out the same rows.

    Raises
    ------
    InputError
        That names the run which does not fit, and says why.
    """
    require_likely(runs)
    reason = ""
    for name, record in runs[1:]:
        why = why_not_comparable(runs[0][1], record)
        if why:
            reason = f"{name} shares no held-out rows with {runs[0][0]}: {why}"
            break
    if reason:
        raise InputError(reason, setting="runs")
