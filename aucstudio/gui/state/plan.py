"""The editable plan: everything a person can change, frozen, so that undo is a swap."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from aucstudio.project.data.split import Validation
from aucstudio.project.results.choosing import Target
from aucstudio.project.results.stakes import Stakes
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.tuning import PAUC


@dataclasses.dataclass(frozen=True)
class RunLook:
    """How one run is shown.

    Attributes
    ----------
    name : str
    colour : int
        Index into the theme's run colours, the dashes and the markers.
    visible : bool
        Whether its check mark is set: the views draw the checked runs.
    removed : bool
        Taken out of the list; the record stays in the project file.
    notes : str
        What a person wrote down about the run.
    """

    name: str
    colour: int
    visible: bool = True
    removed: bool = False
    notes: str = ""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What the window is set to.

    Attributes
    ----------
    validation : Validation
    method : str
    params : mapping of method id to its settings
        Only what differs from the defaults.
    band : (float, float)
    tune_by : str
        Key into :data:`aucstudio.project.runs.tuning.METRICS`.
    looks : mapping of run id to RunLook
        In the order of the list.
    layout : mapping
        Where the views are, as ``Deck.arrangement`` writes it; empty for
        all in one. Plain data.
    stakes : Stakes
        What operating points are weighed by.
    target : Target
        What is asked of the threshold of every run.
    """

    validation: Validation = dataclasses.field(default_factory=Validation)
    method: str = "auc-rls"
    params: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    band: tuple[float, float] = (0.0, 0.1)
    looks: Mapping[str, RunLook] = dataclasses.field(default_factory=dict)
    tune_by: str = PAUC
    layout: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    stakes: Stakes = dataclasses.field(default_factory=Stakes)
    target: Target = dataclasses.field(default_factory=Target)

    def with_look(self, run: str, **changes: Any) -> Plan:
        """Give the plan with one run shown differently."""
        return self.with_looks((run,), **changes)

    def with_looks(self, runs: Iterable[str], **changes: Any) -> Plan:
        """Give the plan with several runs shown differently."""
        changed = {run: dataclasses.replace(self.looks[run], **changes) for run in runs}
        return dataclasses.replace(self, looks={**self.looks, **changed})

    def fresh(self) -> Plan:
        """Give the plan of another study: the form stays, what is about runs goes."""
        return dataclasses.replace(self, looks={}, stakes=Stakes(), target=Target())

    def set_as(self, record: RunRecord) -> Plan:
        """Give the plan with the form set to what a run was made with."""
        experiment = record.experiment
        method = experiment.method
        params = {**self.params, method: dict(record.params)}
        return dataclasses.replace(
            self, validation=experiment.validation, method=method, params=params
        )

    def free_look(self, wanted: str, waiting: Iterable[RunLook] = ()) -> RunLook:
        """Give a look whose name and colour neither a listed nor a waiting run has."""
        queued = {f"waiting {k}": look for k, look in enumerate(waiting)}
        plan = dataclasses.replace(self, looks={**self.looks, **queued})
        return RunLook(plan.free_name(wanted), plan.free_colour())

    def free_colour(self) -> int:
        """Give the first colour that no listed run has."""
        used = {look.colour for look in self.looks.values() if not look.removed}
        return next(k for k in itertools.count() if k not in used)

    def free_name(self, wanted: str) -> str:
        """Give ``wanted``, with a number if a listed run has that name already."""
        taken = {look.name for look in self.looks.values() if not look.removed}
        candidate, count = wanted, 1
        while candidate in taken:
            count += 1
            candidate = f"{wanted} ({count})"
        return candidate

    def as_json(self) -> dict[str, Any]:
        document = dataclasses.asdict(self)
        document["params"] = {
            method: {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
            for method, values in self.params.items()
        }
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Plan:
        params = {
            method: {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
            for method, values in document["params"].items()
        }
        return cls(
            Validation.from_json(document["validation"]),
            document["method"],
            params,
            (float(document["band"][0]), float(document["band"][1])),
            {run: RunLook(**look) for run, look in document["looks"].items()},
            document.get("tune_by", PAUC),
            document.get("layout", {}),
            Stakes(**document.get("stakes", {})),
            Target(**document.get("target", {})),
        )
