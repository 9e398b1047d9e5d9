"""Model of a combination: one scorer and one preparation.

Members may differ in columns, in scales and in whether missing values are filled in. If all prepare
their columns in the same way, that preparation is used. Otherwise missing values are kept, and each
member receives the prepared rows through a view that selects its columns, converts them to its
scale and fills in missing values.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from aucstudio.engine.ensembles.combined import combine, member_shares, seen_through
from aucstudio.engine.ensembles.remapped import View
from aucstudio.project.combination.parts import ChosenWeights, SharedSplit
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.scales import KNOTS
from aucstudio.project.data.preparing.stored import arrays_of, settings_of
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.models.model import Model


def combined_model(
    experiment: Experiment, names: Sequence[str], part: SharedSplit, chosen: ChosenWeights
) -> Model:
    """Join the models of the members to one, with the equal-error threshold.

    Raises
    ------
    InputError
        If members prepare a column in incompatible ways; the sentence names the run.
    """
    preparation, views = _preparation(names, part.models)
    by_view: dict[tuple[bytes, ...], list[int]] = {}
    for place, view in enumerate(views):
        by_view.setdefault(() if view is None else view.identity, []).append(place)
    groups = []
    for places in by_view.values():
        members = [
            ([part.models[m].scorer], [part.scales[m]], float(chosen.weights[m])) for m in places
        ]
        groups.append(seen_through(combine(members), views[places[0]]))
    shares = member_shares(
        names,
        chosen.positive,
        chosen.z,
        chosen.weights,
        chosen.criterion,
        chosen.counts,
    )
    scorer = dataclasses.replace(
        groups[0],
        parts=tuple(p for one in groups for p in one.parts),
        base=sum(one.base for one in groups),
        members=tuple(shares),
    )
    return dataclasses.replace(
        part.models[0],
        preparation=preparation,
        scorer=scorer,
        intercept=-chosen.threshold,
        method=experiment.method,
        params=msgspec.to_builtins(dict(experiment.params)),
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


class PreparationsDifferError(ValueError):
    """Runs prepare a column in incompatible ways.

    Attributes
    ----------
    column : str
    place : int
        Number of the preparation that differs from those before it.
    """

    def __init__(self, column: str, place: int) -> None:
        super().__init__(column)
        self.column, self.place = column, place


def common_preparation(
    preparations: Sequence[Preparation],
) -> tuple[Preparation, list[View | None]]:
    """Return one preparation for all, and the view of each; None if no view is needed.

    A cell beyond the limits of one preparation is missing for those without limits too.

    Raises
    ------
    PreparationsDifferError
    """
    first = preparations[0]
    if all(_same(first, other) for other in preparations):
        return first, [None] * len(preparations)
    _check(preparations)
    # A method that takes one column unchanged comes last: others have limits for it.
    order = sorted(preparations, key=lambda one: not np.isfinite(one.lows).any())
    common = _united(order)
    return common, [_view(one, common) for one in preparations]


def _same(a: Preparation, b: Preparation) -> bool:
    known, arrays = arrays_of(a), arrays_of(b)
    return (
        settings_of(a) == settings_of(b)
        and known.keys() == arrays.keys()
        and all(np.array_equal(array, arrays[name]) for name, array in known.items())
    )


def _check(preparations: Sequence[Preparation]) -> None:
    """Refuse columns whose preparations differ by more than shift and scale."""
    known: dict[str, Any] = {}
    ranked = [bool(len(one.knots)) for one in preparations if one.numbers]
    for place, one in enumerate(preparations):
        if one.numbers and bool(len(one.knots)) != ranked[0]:
            raise PreparationsDifferError(one.numbers[0], place)
    for place, one in enumerate(preparations):
        for name, way in _ways(one):
            if known.setdefault(name, way) != way:
                raise PreparationsDifferError(name, place)


def _ways(one: Preparation) -> Iterator[tuple[str, Any]]:
    for k, name in enumerate(one.numbers):
        curve = (one.knots[k].tobytes(), one.heights[k].tobytes()) if len(one.knots) else None
        shares = one.shares.get(name)
        absent, part = one.absent.get(one.source(name)), one.parts.get(name)
        yield name, ("number", absent, shares and dict(shares), curve, part)
    for name, levels in zip(one.categories, one.levels, strict=True):
        yield name, ("category", levels, one.same.get(name), name in one.rest)


def _united(order: Sequence[Preparation]) -> Preparation:
    """Take each column from the first preparation that has it."""
    numbers: dict[str, tuple[Preparation, int]] = {}
    levels: dict[str, tuple[str, ...]] = {}
    for one in order:
        for k, name in enumerate(one.numbers):
            numbers.setdefault(name, (one, k))
        for name, of in zip(one.categories, one.levels, strict=True):
            levels.setdefault(name, of)
    figures = {
        name: np.array([getattr(one, name)[k] for one, k in numbers.values()])
        for name in ("medians", "means", "scales", "lows", "highs")
    }
    ranked = any(len(one.knots) for one in order)
    curves = {
        name: np.array([getattr(one, name)[k] for one, k in numbers.values()]).reshape(-1, KNOTS)
        for name in (("knots", "heights") if ranked else ())
    }
    columns = dict.fromkeys(one.source(name) for name, (one, _) in numbers.items())
    marked = {name for one in order for name in one.indicated}
    return Preparation(
        numbers=tuple(numbers),
        categories=tuple(levels),
        levels=tuple(levels.values()),
        keep_gaps=True,
        absent=_all_of([one.absent for one in order]),
        same=_all_of([one.same for one in order]),
        indicated=tuple(name for name in columns if name in marked),
        rest=tuple(name for name in levels if any(name in one.rest for one in order)),
        shares=_all_of([one.shares for one in order]),
        parts=_all_of([one.parts for one in order]),
        choice=order[0].choice,
        keeps_zeros=False,
        **figures,
        **curves,
    )


def _all_of(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: value for part in reversed(parts) for name, value in part.items()}


def _view(one: Preparation, common: Preparation) -> View:
    places = {key: place for place, key in enumerate(_features(common))}
    columns = np.array([places[key] for key in _features(one)])
    count, rest = len(one.numbers), len(columns) - len(one.numbers)
    at = columns[:count]
    scales, means = common.scales[at], common.means[at]
    factors = scales / one.scales
    shifts = (means - one.means) / one.scales
    fills = np.full(count, np.nan)
    if not one.keep_gaps:
        fills = np.array([one.scaled(k, m)[0] for k, m in enumerate(one.medians[:, None].copy())])
    return View(
        columns,
        np.concatenate([factors, np.ones(rest)]),
        np.concatenate([shifts, np.zeros(rest)]),
        np.concatenate([fills, np.full(rest, np.nan)]),
    )


def _features(one: Preparation) -> Iterator[tuple[str, ...]]:
    """Name the prepared columns uniquely."""
    yield from (("number", name) for name in one.numbers)
    for name, levels in zip(one.categories, one.levels, strict=True):
        yield from (("level", name, level) for level in levels)
    yield from (("missing", name) for name in one.indicated)
