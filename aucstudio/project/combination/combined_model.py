"""The model of a combination: one scorer that sees its members' columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from aucstudio.engine.ensembles.combined import combine, seen_through
from aucstudio.engine.ensembles.shares import member_shares
from aucstudio.engine.ensembles.viewed import View
from aucstudio.project.combination.parts import SharedSplit
from aucstudio.project.combination.preparations import PreparationsDifferError, common_preparation
from aucstudio.project.combination.weighing import ChosenWeights
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.models.model import Model


def combined_model(
    experiment: Experiment, names: Sequence[str], part: SharedSplit, chosen: ChosenWeights
) -> Model:
    """Join the members' models to one, which says positive above the equal-error threshold.

    Raises
    ------
    InputError
        If no one model can prepare the columns as all members do; the sentence names the run.
    """
    preparation, views = _preparation(names, part.models)
    by_view: dict[int, list[int]] = {}
    for place, view in enumerate(views):
        by_view.setdefault(_first_alike(views, view), []).append(place)
    whole = []
    for places in by_view.values():
        members = [
            ([part.models[m].scorer], [part.scales[m]], float(chosen.weights[m])) for m in places
        ]
        whole.append(seen_through(combine(members), views[places[0]]))
    shares = member_shares(
        names,
        chosen.positive,
        chosen.z,
        chosen.weights,
        chosen.criterion,
        chosen.counts,
    )
    scorer = dataclasses.replace(
        whole[0],
        parts=tuple(p for one in whole for p in one.parts),
        base=sum(one.base for one in whole),
        members=tuple(shares),
    )
    return dataclasses.replace(
        part.models[0],
        preparation=preparation,
        scorer=scorer,
        intercept=-chosen.threshold,
        method=experiment.method,
        params=_plain(experiment.params),
        threshold=0.0,
        threshold_rule="as trained",
        schema=experiment.data.schema,
        calibration=None,
        calibrated_on="",
    )


def _preparation(
    names: Sequence[str], models: Sequence[Model]
) -> tuple[Preparation, list[View | None]]:
    try:
        return common_preparation([model.preparation for model in models])
    except PreparationsDifferError as error:
        raise InputError(
            f"{names[error.place]} prepares column {error.column!r} differently from the "
            "other runs, so one model cannot combine them: leave it out, or run it again with "
            "their preparation",
            column=error.column,
            setting="runs",
        ) from error


def _first_alike(views: Sequence[View | None], view: View | None) -> int:
    for place, other in enumerate(views):
        if other is view:
            return place
        if other is None or view is None:
            continue
        names = [field.name for field in dataclasses.fields(View)]
        pairs = [(getattr(other, name), getattr(view, name)) for name in names]
        if all(np.array_equal(a, b, equal_nan=True) for a, b in pairs):
            return place
    raise AssertionError("a view is like itself")


def _plain(params: Any) -> dict[str, Any]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in params.items()}
