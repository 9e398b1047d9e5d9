"""A study as read from its project file."""

from __future__ import annotations

import dataclasses
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aucstudio.gui.state.plan import Plan, RunLook
from aucstudio.gui.state.stored_plans import read_plan
from aucstudio.project.data.import_choices import FirstReading
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment import DataReference, Experiment
from aucstudio.project.runs.experiments.planning import is_given
from aucstudio.project.runs.record import FAILED, RunRecord
from aucstudio.project.runs.verification import Verification
from aucstudio.project.store.project.database import DamagedError
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.store.project.run_documents import read_through
from aucstudio.project.store.project.unfinished_runs import Owner
from aucstudio.project.tournament.standings import FAILED as FAILED_TO_END
from aucstudio.project.tournament.standings import RUNNING, Standings

_READ_SECONDS = 0.4  # for checking runs while a project is opened
_NO_END = "it had not finished when the project was opened; its program may have been closed"
_MOST_DRAWN = 30  # of the runs that no window has listed


@dataclasses.dataclass(frozen=True, eq=False)
class StoredStudy:
    """The content of a project file.

    Attributes
    ----------
    file : ProjectFile
    kept : Plan or None
        None if no window has opened the project, or its plan is damaged.
    records : list of RunRecord
    table : Table or None
        None if there is none, or it cannot be read.
    warnings : list of str
        About damaged parts, a missing table, and runs that were interrupted.
    unread : list of RunRecord
        Runs that were not yet checked for damage.
    verified : mapping of str to Verification
        By run.
    standings : mapping of str to Standings
        Results of searches, by their start.
    """

    file: ProjectFile
    kept: Plan | None
    records: list[RunRecord]
    table: Table | None
    warnings: list[str]
    unread: list[RunRecord]
    verified: Mapping[str, Verification] = dataclasses.field(default_factory=dict)
    standings: Mapping[str, Standings] = dataclasses.field(default_factory=dict)

    def plan(self, present: Plan) -> Plan:
        """Return the plan of the file, or ``present`` with the settings of the last run."""
        plan = _first_plan(present, self.records) if self.kept is None else self.kept
        return _with_all_looks(plan, self.records)


def read_study(path: Path) -> StoredStudy:
    """Read a project file and its table, if that still exists.

    Raises
    ------
    InputError
        If the file is no project, or has a newer format.
    """
    file = ProjectFile(path)
    contents = file.read()
    warnings = contents.warnings(path)
    document, plan = contents.plan, None
    try:
        plan = read_plan(document["window"]) if "window" in document else None
    except ValueError as error:
        warnings.append(f"The plan is damaged ({error}); the default plan replaces it.")
    standings = dict(_standings(contents.standings, warnings))
    broken, unread = find_damaged(contents.records, _READ_SECONDS)
    records = [record for record in contents.records if record.id not in broken]
    warnings += broken.values()
    unfinished = file.unfinished_runs()
    more = [_lost_sentence(experiment) for experiment in unfinished.lost]
    more += [_elsewhere_sentence(*run) for run in unfinished.elsewhere]
    try:
        data = _reference(document, records)
        first = FirstReading.from_json(document.get("first_reading", {}))
        table = None if data is None else first.applied_to(data.open())
    except InputError as error:
        table, more = None, [f"{error}. All finished runs are here.", *more]
    found = contents.verifications, standings
    return StoredStudy(file, plan, records, table, [*warnings, *more], unread, *found)


def _standings(kept: Mapping[str, Any], warnings: list[str]) -> Iterator[tuple[str, Standings]]:
    """Read the results of searches; one without an end was interrupted or runs elsewhere."""
    for name, document in kept.items():
        try:
            found = Standings.from_json(document)
        except ValueError as error:
            warnings.append(f"The result of the search of {name} is damaged ({error}).")
            continue
        is_open = found.ended == RUNNING
        yield name, found.broken_off(FAILED_TO_END, _NO_END) if is_open else found


def find_damaged(
    records: Sequence[RunRecord], seconds: float = math.inf, stop: Callable[[], bool] | None = None
) -> tuple[dict[str, str], list[RunRecord]]:
    """Check the content of runs, newest first.

    Returns
    -------
    damaged : dict of str to str
        What is wrong, by run.
    unread : list of RunRecord
        Runs that were not reached.
    """
    began = time.monotonic()
    broken: dict[str, str] = {}
    for k in reversed(range(len(records))):
        if time.monotonic() - began > seconds or (stop is not None and stop()):
            return broken, list(records[: k + 1])
        try:
            read_through(records[k])
        except DamagedError as error:
            broken[records[k].id] = str(error)
    return broken, []


def _reference(document: dict[str, Any], records: list[RunRecord]) -> DataReference | None:
    """Return the table of a project, from its plan or from its last run."""
    if "data" in document:
        try:
            return DataReference.from_json(document["data"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"the reference to the project's table is damaged ({error})"
            ) from error
    if not records:
        return None
    # A run of given scores ignores all other columns.
    trained = (record for record in reversed(records) if not is_given(record))
    return next(trained, records[-1]).experiment.data.without_scores()


def _first_plan(plan: Plan, records: list[RunRecord]) -> Plan:
    """Return a plan with the settings of the last run."""
    if not records:
        return plan
    last = records[-1]
    return dataclasses.replace(plan, band=last.experiment.band).set_as(last)


def _with_all_looks(plan: Plan, records: list[RunRecord]) -> Plan:
    """Return a plan in which every record has a look; of many new runs the last are drawn."""
    new = [record for record in records if record.id not in plan.looks]
    looks = dict(plan.looks)
    listed = [look for look in looks.values() if not look.removed]
    names, colours = {look.name for look in listed}, Counter(look.colour for look in listed)
    colour = 0
    counts: Counter[str] = Counter()
    for k, record in enumerate(new):
        title = name = record.experiment.title
        while name in names:
            counts[title] += 1
            name = f"{title} ({counts[title] + 1})"
        names.add(name)
        while colours[colour]:
            colour += 1
        colours[colour] += 1
        visible = record.status != FAILED and len(new) - k <= _MOST_DRAWN
        looks[record.id] = RunLook(name, colour, visible)
    return dataclasses.replace(plan, looks=looks)


def _lost_sentence(experiment: Experiment) -> str:
    return (
        f"{experiment.title} was running when the program last ended; it is lost and can be run "
        "again."
    )


def _elsewhere_sentence(experiment: Experiment, owner: Owner) -> str:
    return (
        f"{experiment.title} is being trained by another program ({owner.describe()}); open the "
        "project again when it has ended to see it."
    )
