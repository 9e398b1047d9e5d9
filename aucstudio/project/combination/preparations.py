"""One preparation for the members of a combination."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from aucstudio.engine.ensembles.views import View
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.scales import KNOTS
from aucstudio.project.data.preparing.stored import arrays_of, settings_of
from aucstudio.project.errors import input_error


def common_preparation(
    names: Sequence[str], preparations: Sequence[Preparation]
) -> tuple[Preparation, list[View | None]]:
    """Return one preparation for all, and the view of each; None if no view is needed.

    A cell beyond the limits of one preparation is missing for those without limits too.

    Raises
    ------
    InputError
        If runs prepare a column in incompatible ways; the sentence names the run.
    """
    first = preparations[0]
    if all(_same(first, other) for other in preparations):
        return first, [None] * len(preparations)
    _check(names, preparations)
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


def _check(names: Sequence[str], preparations: Sequence[Preparation]) -> None:
    """Refuse columns whose preparations differ by more than shift and scale."""
    known: dict[str, Any] = {}
    ranked = bool(len(preparations[0].knots))
    for run, one in zip(names, preparations, strict=True):
        if one.numbers and bool(len(one.knots)) != ranked:
            raise input_error("prepared_differently", column=one.numbers[0], run=run)
        for column, way in _ways(one):
            if known.setdefault(column, way) != way:
                raise input_error("prepared_differently", column=column, run=run)


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
