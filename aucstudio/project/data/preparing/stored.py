"""Preprocessing in a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from aucstudio.engine.arrays import Array
from aucstudio.project import typed
from aucstudio.project.data.columns import fields_of
from aucstudio.project.data.preparing.preparation import Preparation, PreparationSettings
from aucstudio.project.data.preparing.scales import KNOTS, RARE
from aucstudio.project.data.schema import bare

# Names of the fitted arrays, with a number for each column; those of ranks may be absent.
FITTED, CURVES = ("medians", "means", "scales", "lows", "highs"), ("knots", "heights")


def arrays_of(p: Preparation) -> dict[str, Array]:
    """Return the fitted numbers by name."""
    return {name: getattr(p, name) for name in (*FITTED, *(CURVES if len(p.knots) else ()))}


def settings_of(p: Preparation) -> dict[str, Any]:
    """Return the settings as a document, without defaults."""
    document: dict[str, Any] = bare(PreparationSettings(**fields_of(p, PreparationSettings)))
    return document


def restored(
    settings: Mapping[str, Any] | PreparationSettings, arrays: Mapping[str, Array]
) -> Preparation:
    """Restore a preprocessing from :func:`settings_of` and :func:`arrays_of`.

    Raises
    ------
    ValueError
        If they are invalid or inconsistent.
    """
    given = settings if isinstance(settings, PreparationSettings) else _read(settings)
    curves = {name: array for name, array in arrays.items() if name in CURVES}
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(FITTED, (len(given.numbers),))
    if curves:
        shapes |= dict.fromkeys(CURVES, (len(given.numbers), KNOTS))
    if {name: array.shape for name, array in arrays.items()} != shapes:
        raise ValueError("the preprocessing arrays do not match its columns")
    if problem := _problem(given, arrays, curves):
        raise ValueError(f"the preprocessing {problem}")
    fitted: dict[str, Any] = dict(arrays)
    return Preparation(**fields_of(given, PreparationSettings), **fitted)


def _read(settings: Mapping[str, Any]) -> PreparationSettings:
    try:
        return typed.convert(settings, PreparationSettings)
    except msgspec.ValidationError as error:
        raise ValueError(f"the preprocessing is invalid: {error}") from error


def _problem(
    given: PreparationSettings, arrays: Mapping[str, Array], curves: Mapping[str, Array]
) -> str:
    """Return what is wrong with settings and arrays; empty if nothing is."""
    medians, means, scales, lows, highs = (arrays[name] for name in FITTED)
    for name, array in {"medians": medians, "means": means, "scales": scales, **curves}.items():
        if not np.isfinite(array).all():  # any finite size is valid
            return f"has numbers in the array {name} that are not finite"
    if not (lows <= highs).all():
        return "has limits that are not numbers, or a lower limit above the upper one"
    if (scales <= 0).any():
        return "has a scale that is not above 0"
    if any((np.diff(array, axis=1) < 0).any() for array in curves.values()):
        return "has knots that fall"
    if given.keeps_zeros and (curves or means.any() or (lows > 0).any() or (highs < 0).any()):
        return "does not keep zeros, although it declares that it does"
    levels = dict(zip(given.categories, given.levels, strict=True))
    sources = {given.parts[name].column if name in given.parts else name for name in given.numbers}
    sound = (
        {*given.indicated} <= sources
        and {*given.shares, *given.parts} <= {*given.numbers}
        and not {*given.shares} & {*given.parts, *given.indicated}
        and all(name == part.name and part.is_known for name, part in given.parts.items())
        and len({*given.indicated}) == len(given.indicated)
        and all(RARE in levels.get(name, ()) for name in given.rest)
        and all(0 <= share <= 1 for known in given.shares.values() for share in known.values())
    )
    return "" if sound else "has choices that do not fit its columns"
