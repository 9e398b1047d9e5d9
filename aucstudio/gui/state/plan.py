"""The editable plan: immutable, so that undo is a swap; its form in project files."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from aucstudio.engine import METHODS
from aucstudio.engine.params import InvalidSetting, declared_params
from aucstudio.project import typed
from aucstudio.project.data.import_choices import FirstReading
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.table import Table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.results.thresholds import Stakes, Target, range_end
from aucstudio.project.runs.experiment import Band, DataReference, require_band
from aucstudio.project.runs.record import FAILED, RunRecord
from aucstudio.project.runs.tuning import PAUC
from aucstudio.project.store.project.database import as_stored
from aucstudio.project.store.project.project_file import ProjectFile, StalePlanError, merged_plans

RANGE = "fpr_range"
"""The setting of methods that train for a range of false-positive rates."""
_MOST_DRAWN = 30  # of the runs that no window has listed


@dataclasses.dataclass(frozen=True)
class RunLook:
    """Name, colour, check mark and notes of a run.

    Attributes
    ----------
    name : str
    colour : int
        Index into the theme's run colours, the dashes and the markers; negative for what is no run.
    visible : bool
        Whether it is checked; views draw the checked runs.
    removed : bool
        Whether it was removed from the list; the record stays in the project file.
    notes : str
    """

    name: str
    colour: int
    visible: bool = True
    removed: bool = False
    notes: str = ""


@dataclasses.dataclass(frozen=True)
class Plan:
    """The settings of the window.

    Attributes
    ----------
    validation : Validation
    method : str
    params : mapping of method id to its settings
        Only settings that differ from the defaults. A method that trains for an FPR range trains
        for the band, unless it has a range here.
    band : (float, float)
    tune_by : str
        Key into :data:`aucstudio.project.runs.tuning.METRICS`.
    looks : mapping of run id to RunLook
        In the order of the list.
    layout : mapping
        Arrangement of the views as ``Deck.arrangement`` returns it; empty for a single tile.
    stakes : Stakes
        Prior and costs of operating points.
    target : Target or None
        Target of the threshold of every run without one of its own; None is the end of its range.
    targets : mapping of run id to Target
    preparation : PreparationChoice
        Preprocessing of the columns.
    """

    validation: Validation = dataclasses.field(default_factory=Validation)
    method: str = "auc-rls"
    params: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    band: tuple[float, float] = (0.0, 0.1)
    looks: Mapping[str, RunLook] = dataclasses.field(default_factory=dict)
    tune_by: str = PAUC
    layout: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    stakes: Stakes = dataclasses.field(default_factory=Stakes)
    target: Target | None = None
    targets: Mapping[str, Target] = dataclasses.field(default_factory=dict)
    preparation: PreparationChoice = USUAL

    def with_looks(self, runs: Iterable[str], **changes: Any) -> Plan:
        """Return the plan with several runs shown differently."""
        changed = {run: dataclasses.replace(self.looks[run], **changes) for run in runs}
        return dataclasses.replace(self, looks={**self.looks, **changed})

    def fresh(self) -> Plan:
        """Return the plan for another study: the settings of the form stay."""
        return dataclasses.replace(self, looks={}, stakes=Stakes(), target=None, targets={})

    def target_of(self, record: RunRecord | None) -> Target:
        """Return the target of the threshold of a run."""
        if record is None:
            return Target()
        return self.targets.get(record.id, self.target) or range_end(record, self.band)

    def set_as(self, record: RunRecord) -> Plan:
        """Return the plan with the settings of a run."""
        experiment = record.experiment
        settings = linked_settings(record.params, self.band)
        return dataclasses.replace(
            self,
            validation=experiment.validation,
            method=experiment.method,
            params={**self.params, experiment.method: settings},
            preparation=experiment.preparation,
        )

    def with_target(self, record: RunRecord, target: Target) -> Plan:
        """Return the plan with a target of the threshold of one run."""
        others = {run: kept for run, kept in self.targets.items() if run != record.id}
        plan = dataclasses.replace(self, targets=others)
        if target == plan.target_of(record):
            return plan
        return dataclasses.replace(plan, targets={**others, record.id: target})

    # ------------------------------------------------------------- settings

    def settings(self, method: str) -> dict[str, Any]:
        """Return the settings of a method that differ from its defaults."""
        linked = {RANGE: self.band} if RANGE in declared_params(METHODS[method]) else {}
        return {**linked, **self.params.get(method, {})}

    def is_linked(self, method: str) -> bool:
        """Return whether a method trains for the evaluation range of the study."""
        takes_range = RANGE in declared_params(METHODS[method])
        return takes_range and RANGE not in self.params.get(method, {})

    def with_setting(self, method: str, name: str, value: Any) -> Plan:
        """Return the plan with one setting changed; a range unlinks the method from the band."""
        settings = {**self.params.get(method, {}), name: value}
        if name != RANGE and value == declared_params(METHODS[method])[name].default:
            del settings[name]
        return dataclasses.replace(self, params={**self.params, method: settings})

    def with_link(self, method: str, linked: bool) -> Plan:
        """Return the plan with a method that trains for the band, or for its own range."""
        if not linked:
            return self.with_setting(method, RANGE, self.band)
        settings = {k: v for k, v in self.params.get(method, {}).items() if k != RANGE}
        return dataclasses.replace(self, params={**self.params, method: settings})

    # ------------------------------------------------------------- looks

    def free_looks(
        self, titles: Iterable[str], waiting: Iterable[RunLook] = ()
    ) -> Iterator[RunLook]:
        """Yield a look for each title: a name and a colour of no listed, waiting or earlier run.

        A title that is taken gets a number. Removed runs keep their colours: they may return.
        """
        every = [*self.looks.values(), *waiting]
        names = {look.name for look in every if not look.removed}
        colours = {look.colour for look in every}
        free = (colour for colour in itertools.count() if colour not in colours)
        numbers = Counter[str]()
        for title in titles:
            name = title
            while name in names:
                numbers[title] += 1
                name = f"{title} ({numbers[title] + 1})"
            names.add(name)
            yield RunLook(name, next(free))

    def with_all_looks(self, records: Sequence[RunRecord]) -> Plan:
        """Return the plan with a look for every run; of many new runs the last are drawn."""
        new = [record for record in records if record.id not in self.looks]
        looks = dict(self.looks)
        found = self.free_looks(record.experiment.title for record in new)
        for k, (record, look) in enumerate(zip(new, found, strict=True)):
            visible = record.status != FAILED and len(new) - k <= _MOST_DRAWN
            looks[record.id] = dataclasses.replace(look, visible=visible)
        return dataclasses.replace(self, looks=looks)

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return dataclasses.asdict(self) | {"preparation": self.preparation.given()}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Plan:
        """Read a plan.

        Raises
        ------
        msgspec.ValidationError
            If a value has another type, or is one that no plan can have.
        """
        plan = typed.convert(document, cls)
        params = {method: typed.with_tuples(values) for method, values in plan.params.items()}
        return dataclasses.replace(plan, params=params)


def linked_settings(settings: Mapping[str, Any], band: Band) -> dict[str, Any]:
    """Return settings without the range if it is the band, so that it follows the band."""
    kept = dict(settings)
    if RANGE in kept and tuple(kept[RANGE]) == tuple(band):
        del kept[RANGE]
    return kept


_MERGES = 5  # with another window that writes at the same time


class PlanKeeper:
    """Writes plans into project files, one after the other, on a thread.

    Parameters
    ----------
    joined : callable
        Called on the thread with the owner, the plan as sent and the plan as stored, if another
        window has changed the plan meanwhile.
    """

    def __init__(self, joined: Callable[[object, object, object], object]) -> None:
        self._joined = joined
        self.is_closed = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aucstudio-keeper")

    def write(
        self, owner: object, project: ProjectFile, document: Callable[[], dict[str, Any]]
    ) -> None:
        """Write a plan; a failed write is repeated with the next change.

        Parameters
        ----------
        owner : object
            Owner of the plan.
        project : ProjectFile
        document : callable
            Returns the content on the thread, as that of a wide table takes a while.
        """
        self._thread.submit(self._write, owner, project, document)

    def wait(self) -> None:
        """Wait until everything is written."""
        if not self.is_closed:
            self._thread.submit(lambda: None).result()

    def close(self) -> None:
        """Finish writing and end the thread."""
        self.is_closed = True
        self._thread.shutdown(wait=True)

    def _write(
        self, owner: object, project: ProjectFile, document: Callable[[], dict[str, Any]]
    ) -> None:
        with contextlib.suppress(InputError):
            sent = joined = as_stored(document())
            for _ in range(_MERGES):
                base = project.known_plan
                try:
                    project.set_plan(joined)
                except StalePlanError:
                    joined = merged_plans(base, joined, project.plan())
                    continue
                break
            if joined.get("window") != sent.get("window"):
                self._joined(owner, sent, joined)


def joined_plan(plan: Plan, sent: dict[str, Any], joined: dict[str, Any]) -> Plan:
    """Return a plan with the changes of another window, which made ``joined`` of ``sent``."""
    present = as_stored(plan.as_json())
    return read_plan(merged_plans(sent.get("window"), present, joined.get("window")))


def read_plan(document: Any) -> Plan:
    """Read a plan from an untrusted document.

    Raises
    ------
    ValueError
        If it is not a valid plan.
    """
    try:
        plan = Plan.from_json(document)
        require_band(plan.band)
        declared = declared_params(METHODS[plan.method])
        for name, value in plan.params.get(plan.method, {}).items():
            declared[name].check(value)
    except (msgspec.ValidationError, KeyError, TypeError, InvalidSetting) as error:
        raise ValueError(f"its content is not a valid plan: {error}") from error
    return plan


def plan_document(plan: Plan, table: Table | None, selected: str | None = None) -> dict[str, Any]:
    """Return a plan, the reference to its table and the selected run as plain data."""
    document: dict[str, Any] = {"window": plan.as_json(), "selected": selected}
    if table is not None:
        with contextlib.suppress(InputError):
            data = DataReference.to_table(table)
            document["data"] = data.as_json()
            document["first_reading"] = FirstReading.of(table).as_json()
    return document
