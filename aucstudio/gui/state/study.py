"""A study as its project file holds it: what the window writes into it, and finds there again."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from aucstudio.engine import METHODS
from aucstudio.engine.params import InvalidSetting, declared_params
from aucstudio.gui.state.plan import Plan, RunLook
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiment import DataReference, Experiment
from aucstudio.project.runs.planning import check_band
from aucstudio.project.runs.record import FAILED, RunRecord
from aucstudio.project.store.files import same_file
from aucstudio.project.store.project.contents import read_through
from aucstudio.project.store.project.owner import Owner
from aucstudio.project.store.project.plan_merge import merged
from aucstudio.project.store.project.project_file import (
    ProjectFile,
    StalePlanError,
    free_id,
    write_project,
)
from aucstudio.project.store.project.sealed import DamagedError, plain

_READ_SECONDS = 0.4  # that opening a project may take to find damaged runs
_MOST_DRAWN = 30  # of runs that no window has seen
_MERGES = 5  # with a window that writes at the very same moments


@dataclasses.dataclass(frozen=True, eq=False)
class Study:
    """What a project file holds.

    Attributes
    ----------
    file : ProjectFile
    kept : Plan or None
        None where no window has seen the project, or its plan is damaged.
    records : list of RunRecord
    table : Table or None
        None if there is none, or it cannot be read.
    warnings : list of str
        What to tell: what is damaged, a table that is gone, a run that was lost in flight.
    unread : list of RunRecord
        Those that there was no time to read through: some may prove to be damaged.
    """

    file: ProjectFile
    kept: Plan | None
    records: list[RunRecord]
    table: Table | None
    warnings: list[str]
    unread: list[RunRecord]

    def plan(self, present: Plan) -> Plan:
        """Give the plan of the file; without one ``present``, set as the last run was made."""
        plan = _first_plan(present, self.records) if self.kept is None else self.kept
        return _with_all_looks(plan, self.records)


class ProjectHandle:
    """Where the runs of one study are kept: its present project file, and all that ended.

    A job holds the handle, not the file. When the study moves to another file, a run that is
    under way ends there; and the new file is written from what the handle holds, so that it
    does not matter what has become of the old one. Calls may come from any thread.

    Parameters
    ----------
    file : ProjectFile
    records : iterable of RunRecord
        What the file holds.

    Attributes
    ----------
    file : ProjectFile
    unsaved : dict
        By id, why a run could not be written into the file.
    """

    def __init__(self, file: ProjectFile, records: Iterable[RunRecord] = ()) -> None:
        self.file = file
        self.unsaved: dict[str, str] = {}
        self._ended = {record.id: record for record in records}
        self._flying: dict[str, Experiment] = {}
        self._lock = threading.Lock()

    def take_off(self, experiment: Experiment) -> None:
        """Note that a run is under way, in whichever file is the present one until it ends."""
        with self._lock:
            self._flying[experiment.id] = experiment
            self.file.take_off(experiment)

    def add_run(self, record: RunRecord) -> RunRecord:
        """Keep a run; why it could not be written, if so, is in ``unsaved``.

        Returns
        -------
        record
            The same, with a free id if the study holds that experiment already.
        """
        with self._lock:
            self._flying.pop(record.experiment.id, None)
            kept = dataclasses.replace(record, id=free_id(self._ended, record.id))
            try:
                kept = self.file.add_run(kept)
                if kept.id != record.experiment.id:
                    self.file.land(record.experiment)
            except InputError as error:
                # Another dictionary, not another entry: the window may be reading this one.
                self.unsaved = {**self.unsaved, kept.id: str(error)}
            self._ended[kept.id] = kept
        return kept

    def leave_out(self, runs: Iterable[str]) -> None:
        """Let runs go that cannot be read, so that they keep nobody from saving the others."""
        with self._lock:
            for run in runs:
                self._ended.pop(run, None)

    def move_to(self, path: Path, document: Mapping[str, Any]) -> None:
        """Write all runs and a plan into a new file, and go on there.

        Raises
        ------
        InputError
            If it cannot be written; everything stays as it was.
        """
        with self._lock:
            old = self.file
            self.file = write_project(path, self._ended.values(), document)
            self.unsaved = {}
            for experiment in self._flying.values():
                with contextlib.suppress(InputError):
                    self.file.take_off(experiment)
                    if old.path.is_file() and not same_file(old.path, path):
                        old.land(experiment)


class PlanKeeper:
    """Writes plans into project files one after the other, without holding up the window.

    Parameters
    ----------
    joined : callable
        Told what was to be written and what was, where another window had changed the plan
        meanwhile; called on the keeper's thread.
    """

    def __init__(self, joined: Callable[[object, object], object]) -> None:
        self._joined = joined
        self.is_closed = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aucstudio-keeper")

    def write(self, project: ProjectFile, document: dict[str, Any]) -> None:
        """Have a plan written; one that cannot be is written again with the next change."""
        self._thread.submit(self._put_down, project, document)

    def wait(self) -> None:
        """Wait until everything is written."""
        self._thread.submit(lambda: None).result()

    def close(self) -> None:
        """Write what is left and end the thread."""
        self.is_closed = True
        self._thread.shutdown(wait=True)

    def _put_down(self, project: ProjectFile, document: dict[str, Any]) -> None:
        with contextlib.suppress(InputError):
            wanted = joined = plain(document)
            for _ in range(_MERGES):
                base = project.known_plan
                try:
                    project.set_plan(joined)
                except StalePlanError:
                    joined = merged(base, joined, project.plan())
                    continue
                break
            if joined != wanted:
                self._joined(wanted, joined)


def joined_plan(plan: Plan, wanted: dict[str, Any], joined: dict[str, Any]) -> Plan:
    """Give a plan with what another window changed; ``wanted`` became ``joined`` by that."""
    present = plain(plan.as_json())
    return read_plan(merged(wanted.get("window"), present, joined.get("window")))


def read_plan(document: Any) -> Plan:
    """Read a plan that may be anybody's.

    Raises
    ------
    ValueError
        If it holds what no plan can.
    """
    try:
        checked = msgspec.convert(document, Plan)
        plan = Plan.from_json(document)
        check_band(checked.band)
        declared = declared_params(METHODS[checked.method])
        for name, value in plan.params.get(plan.method, {}).items():
            declared[name].check(value)
    except (msgspec.ValidationError, KeyError, TypeError, InvalidSetting) as error:
        raise ValueError(f"it holds what no plan can: {error}") from error
    return plan


def plan_document(plan: Plan, table: Table | None) -> dict[str, Any]:
    """Write a plan and where its table is as plain data."""
    document: dict[str, Any] = {"window": plan.as_json()}
    if table is not None:
        with contextlib.suppress(InputError):
            data = DataReference.to_table(table)
            document["data"] = data.as_json()
    return document


def read_study(path: Path) -> Study:
    """Read a project file and, where it is still there, its table.

    Raises
    ------
    InputError
        If the file is no project, or of a newer format.
    """
    file = ProjectFile(path)
    contents = file.read()
    warnings = contents.warnings(path)
    document, plan = contents.plan, None
    try:
        plan = read_plan(document["window"]) if "window" in document else None
    except ValueError as error:
        warnings.append(f"The plan is damaged ({error}): the default one takes its place.")
    broken, unread = find_damaged(contents.records, _READ_SECONDS)
    records = [record for record in contents.records if record.id not in broken]
    warnings += broken.values()
    flights = file.flights()
    told = [_lost_sentence(experiment) for experiment in flights.lost]
    told += [_elsewhere_sentence(*flight) for flight in flights.elsewhere]
    try:
        data = _reference(document, records)
        table = None if data is None else data.open()
    except InputError as error:
        table, told = None, [f"{error}. The finished runs are all here.", *told]
    return Study(file, plan, records, table, [*warnings, *told], unread)


def find_damaged(
    records: Sequence[RunRecord], seconds: float = math.inf, stop: Callable[[], bool] | None = None
) -> tuple[dict[str, str], list[RunRecord]]:
    """Read runs through, the last first; give what is wrong by id, and those not come to."""
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


class RunReader:
    """Reads runs through beside the window, which need not wait for what it does not show.

    Parameters
    ----------
    found : callable
        Told what is damaged, by run, if anything is; on the reader's thread.
    """

    def __init__(self, found: Callable[[object], object]) -> None:
        self._found, self._stop = found, threading.Event()

    def start(self, records: Sequence[RunRecord]) -> None:
        """Begin with these, and leave what was begun before."""
        self._stop.set()
        stop = self._stop = threading.Event()

        def read() -> None:
            broken, _ = find_damaged(records, stop=stop.is_set)
            if broken and not stop.is_set():
                self._found(broken)

        if records:
            threading.Thread(target=read, name="aucstudio-reader", daemon=True).start()

    def stop(self) -> None:
        """Leave what was begun."""
        self._stop.set()


def _reference(document: dict[str, Any], records: list[RunRecord]) -> DataReference | None:
    """Find which table a project is about: its plan says, or the last run of a script's project."""
    if "data" in document:
        try:
            return DataReference.from_json(document["data"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"which table the project is about is damaged ({error})") from error
    return records[-1].experiment.data if records else None


def _first_plan(plan: Plan, records: list[RunRecord]) -> Plan:
    """Set the form of a project that no window has seen to what its last run was made with."""
    if not records:
        return plan
    last = records[-1]
    return dataclasses.replace(plan.set_as(last), band=last.experiment.band)


def _with_all_looks(plan: Plan, records: list[RunRecord]) -> Plan:
    """Give every record a look: one may have been stored just before the program was killed.

    Of the many runs of a script's project the last are drawn.
    """
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
