"""The editable plan: immutable, so that undo is a swap."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from aucstudio.engine import METHODS
from aucstudio.engine.params import declared_params
from aucstudio.project import typed
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.results.thresholds import Stakes, Target
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.tuning import PAUC

RANGE = "fpr_range"
"""The setting of methods that train for a range of false-positive rates."""


@dataclasses.dataclass(frozen=True)
class RunLook:
    """Name, colour, check mark and notes of a run.

    Attributes
    ----------
    name : str
    colour : int
        Index into the theme's run colours, the dashes and the markers.
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
    target : Target
        Target of the threshold of every run.
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
    target: Target = dataclasses.field(default_factory=Target)
    preparation: PreparationChoice = USUAL

    def with_looks(self, runs: Iterable[str], **changes: Any) -> Plan:
        """Return the plan with several runs shown differently."""
        changed = {run: dataclasses.replace(self.looks[run], **changes) for run in runs}
        return dataclasses.replace(self, looks={**self.looks, **changed})

    def fresh(self) -> Plan:
        """Return the plan for another study: the settings of the form stay."""
        return dataclasses.replace(self, looks={}, stakes=Stakes(), target=Target())

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

    def free_look(self, name: str, waiting: Iterable[RunLook] = ()) -> RunLook:
        """Return a look with a name and a colour that no listed or waiting run has."""
        queued = {f"waiting {k}": look for k, look in enumerate(waiting)}
        plan = dataclasses.replace(self, looks={**self.looks, **queued})
        return RunLook(plan.free_name(name), plan.free_colour())

    def free_colour(self) -> int:
        """Return the first colour that no listed run has."""
        used = {look.colour for look in self.looks.values() if not look.removed}
        return next(k for k in itertools.count() if k not in used)

    def free_name(self, name: str) -> str:
        """Return a name, with a number if a listed run has it already."""
        taken = {look.name for look in self.looks.values() if not look.removed}
        candidate, count = name, 1
        while candidate in taken:
            count += 1
            candidate = f"{name} ({count})"
        return candidate

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        document = dataclasses.asdict(self)
        document["params"] = {
            method: {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
            for method, values in self.params.items()
        }
        document["preparation"] = self.preparation.given()
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Plan:
        """Read a plan.

        Raises
        ------
        msgspec.ValidationError
            If a value has another type, or is one that no plan can have.
        """
        plan = typed.convert(document, cls)
        params = {
            method: {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
            for method, values in plan.params.items()
        }
        return dataclasses.replace(plan, params=params)


def linked_settings(settings: Mapping[str, Any], band: Band) -> dict[str, Any]:
    """Return settings without the range if it is the band, so that it follows the band."""
    kept = dict(settings)
    if RANGE in kept and tuple(kept[RANGE]) == tuple(band):
        del kept[RANGE]
    return kept
