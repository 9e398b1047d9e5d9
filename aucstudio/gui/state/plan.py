"""The editable plan: immutable, so that undo is a swap."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from aucstudio.engine import METHODS
from aucstudio.engine.params import declared_params
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.results.deployment import Stakes
from aucstudio.project.results.threshold_choice import Target
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.tuning import PAUC

RANGE = "fpr_range"
"""The setting of methods that train for a range of false-positive rates."""

_LINKS = "linked"  # says in a document that ranges which are not given follow the band


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
        Only what differs from the defaults. A method that trains for an FPR range trains for
        the band, unless a range of its own stands here.
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
    preparation : PreparationChoice
        What is done with columns before the fit.
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

    def with_look(self, run: str, **changes: Any) -> Plan:
        """Return the plan with one run shown differently."""
        return self.with_looks((run,), **changes)

    def with_looks(self, runs: Iterable[str], **changes: Any) -> Plan:
        """Return the plan with several runs shown differently."""
        changed = {run: dataclasses.replace(self.looks[run], **changes) for run in runs}
        return dataclasses.replace(self, looks={**self.looks, **changed})

    def fresh(self) -> Plan:
        """Return the plan of another study: the form stays, what is about runs goes."""
        return dataclasses.replace(self, looks={}, stakes=Stakes(), target=Target())

    def set_as(self, record: RunRecord) -> Plan:
        """Return the plan with the form set to what a run was made with."""
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
        """Return what a run of a method is to be made with, where it is not the default."""
        linked = {RANGE: self.band} if RANGE in declared_params(METHODS[method]) else {}
        return {**linked, **self.params.get(method, {})}

    def is_linked(self, method: str) -> bool:
        """Return whether a method trains for the evaluation range of the study."""
        takes_range = RANGE in declared_params(METHODS[method])
        return takes_range and RANGE not in self.params.get(method, {})

    def with_setting(self, method: str, name: str, value: Any) -> Plan:
        """Return the plan with one setting changed; a range of its own unlinks the method."""
        settings = {**self.params.get(method, {}), name: value}
        if name != RANGE and value == declared_params(METHODS[method])[name].default:
            del settings[name]
        return dataclasses.replace(self, params={**self.params, method: settings})

    def with_link(self, method: str, linked: bool) -> Plan:
        """Return the plan with a method that trains for the band, or for a range of its own."""
        if not linked:
            return self.with_setting(method, RANGE, self.band)
        settings = {k: v for k, v in self.params.get(method, {}).items() if k != RANGE}
        return dataclasses.replace(self, params={**self.params, method: settings})

    # ------------------------------------------------------------- looks

    def free_look(self, wanted: str, waiting: Iterable[RunLook] = ()) -> RunLook:
        """Return a look whose name and colour neither a listed nor a waiting run has."""
        queued = {f"waiting {k}": look for k, look in enumerate(waiting)}
        plan = dataclasses.replace(self, looks={**self.looks, **queued})
        return RunLook(plan.free_name(wanted), plan.free_colour())

    def free_colour(self) -> int:
        """Return the first colour that no listed run has."""
        used = {look.colour for look in self.looks.values() if not look.removed}
        return next(k for k in itertools.count() if k not in used)

    def free_name(self, wanted: str) -> str:
        """Return ``wanted``, with a number if a listed run has that name already."""
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
        document["preparation"] = self.preparation.given()
        document[_LINKS] = True
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Plan:
        params = {
            method: {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
            for method, values in document["params"].items()
        }
        band = (float(document["band"][0]), float(document["band"][1]))
        if not document.get(_LINKS):
            params = _unlinked(params, document["method"], band)
        return cls(
            Validation.from_json(document["validation"]),
            document["method"],
            params,
            band,
            {run: RunLook(**look) for run, look in document["looks"].items()},
            document.get("tune_by", PAUC),
            document.get("layout", {}),
            Stakes(**document.get("stakes", {})),
            Target(**document.get("target", {})),
            PreparationChoice(**document.get("preparation", {})),
        )


def linked_settings(settings: Mapping[str, Any], band: Band) -> dict[str, Any]:
    """Return settings without the range to train for where that is the band: it then follows it."""
    kept = dict(settings)
    if RANGE in kept and tuple(kept[RANGE]) == tuple(band):
        del kept[RANGE]
    return kept


def _unlinked(
    params: Mapping[str, Mapping[str, Any]], chosen: str, band: Band
) -> dict[str, dict[str, Any]]:
    """Read settings of earlier programs, where a range that is not given was the default one."""
    found: dict[str, dict[str, Any]] = {}
    for method in dict.fromkeys((*params, chosen)):
        declared = declared_params(METHODS[method]).get(RANGE) if method in METHODS else None
        usual = {} if declared is None else {RANGE: declared.default}
        found[method] = linked_settings({**usual, **params.get(method, {})}, band)
    return {method: settings for method, settings in found.items() if settings or method in params}
