"""Preprocessing in a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.date_parts import DatePart
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.preparing.scales import KNOTS, RARE
from aucstudio.project.data.schema import bare

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Names of the fitted arrays.
LEARNT, LIMITS, CURVES = ("medians", "means", "scales"), ("lows", "highs"), ("knots", "heights")


def arrays_of(p: Preparation) -> dict[str, Array]:
    """Return the fitted numbers by name."""
    curves = CURVES if len(p.knots) else ()
    return {name: getattr(p, name) for name in (*LEARNT, *LIMITS, *curves)}


def settings_of(p: Preparation) -> dict[str, Any]:
    """Return the settings as a document."""
    where_chosen = {
        "absent": {name: list(cells) for name, cells in p.absent.items()},
        "same": {name: bare(groups) for name, groups in p.same.items()},
        "indicated": list(p.indicated),
        "rest": list(p.rest),
        "parts": {name: bare(part) for name, part in p.parts.items()},
        "choice": {} if p.choice == USUAL else p.choice.given(),
        "shares": {name: dict(shares) for name, shares in p.shares.items()},
        "keeps_zeros": p.keeps_zeros,
    }
    return {
        "numbers": list(p.numbers),
        "categories": list(p.categories),
        "levels": [list(levels) for levels in p.levels],
        "keep_gaps": p.keep_gaps,
        **{name: value for name, value in where_chosen.items() if value},
    }


def restored(settings: Mapping[str, Any], arrays: Mapping[str, Array]) -> Preparation:
    """Restore a preprocessing from :func:`settings_of` and :func:`arrays_of`.

    Raises
    ------
    ValueError
        If they are inconsistent.
    """
    count = len(settings["numbers"])
    limits = {name: arrays[name] for name in LIMITS if name in arrays}
    if any(arrays[name].shape != (count,) for name in (*LEARNT, *limits)):
        raise ValueError("the preprocessing arrays do not match its columns")
    curves = {name: arrays[name] for name in CURVES if name in arrays}
    _check_choices(settings, curves, count)
    for name in (*LEARNT, *curves):
        # Any finite size is valid.
        if not np.isfinite(arrays[name]).all():
            raise ValueError(
                f"the array {name} of the preprocessing holds numbers that are not finite"
            )
    if any(np.isnan(array).any() for array in limits.values()):
        raise ValueError("the preprocessing holds limits that are not numbers")
    if len(limits) == len(LIMITS) and (limits["lows"] > limits["highs"]).any():
        raise ValueError("the preprocessing holds a lower limit above the upper one")
    if (arrays["scales"] <= 0).any():
        raise ValueError("the preprocessing has a scale that is not above 0")
    return Preparation(
        tuple(settings["numbers"]),
        arrays["medians"],
        arrays["means"],
        arrays["scales"],
        tuple(settings["categories"]),
        tuple(tuple(levels) for levels in settings["levels"]),
        bool(settings.get("keep_gaps", False)),
        **limits,
        absent={name: tuple(cells) for name, cells in settings.get("absent", {}).items()},
        same={n: tuple(map(tuple, groups)) for n, groups in settings.get("same", {}).items()},
        **curves,
        indicated=tuple(settings.get("indicated", ())),
        rest=tuple(settings.get("rest", ())),
        shares={name: dict(shares) for name, shares in settings.get("shares", {}).items()},
        parts={n: DatePart(**part) for n, part in settings.get("parts", {}).items()},
        choice=PreparationChoice(**settings.get("choice", {})),
        keeps_zeros=_keeps_zeros(settings, arrays, curves),
    )


def _keeps_zeros(
    settings: Mapping[str, Any], arrays: Mapping[str, Array], curves: Mapping[str, Array]
) -> bool:
    """Return whether zeros stay zero; raise ValueError if the arrays contradict the document."""
    declared = settings.get("keeps_zeros", False)
    moved = bool(curves) or arrays["means"].any()
    limits = [(name, arrays[name]) for name in LIMITS if name in arrays]
    beyond = any((a > 0).any() if name == "lows" else (a < 0).any() for name, a in limits)
    if not isinstance(declared, bool) or (declared and (moved or beyond)):
        raise ValueError("the preprocessing does not keep zeros, although it declares that it does")
    return declared


def _check_choices(settings: Mapping[str, Any], curves: Mapping[str, Array], numbers: int) -> None:
    """Raise ValueError if the options do not match the columns."""
    if curves and (
        set(curves) != set(CURVES)
        or any(array.shape != (numbers, KNOTS) for array in curves.values())
        or any((np.diff(array, axis=1) < 0).any() for array in curves.values())
    ):
        raise ValueError("the knots of the preprocessing do not fit its columns")
    indicated, rest = settings.get("indicated", ()), settings.get("rest", ())
    shares = settings.get("shares", {})
    levels = dict(zip(settings["categories"], settings["levels"], strict=True))
    parts = {name: DatePart(**part) for name, part in settings.get("parts", {}).items()}
    columns = {parts[name].column if name in parts else name for name in settings["numbers"]}
    sound = (
        {*indicated} <= columns
        and {*shares, *parts} <= set(settings["numbers"])
        and not {*shares} & {*parts}
        and all(name == part.name and part.is_known for name, part in parts.items())
        and not {*indicated} & {*shares}
        and len(set(indicated)) == len(indicated)
        and all(RARE in levels.get(name, ()) for name in rest)
        and all(0 <= share <= 1 for known in shares.values() for share in known.values())
    )
    if not sound:
        raise ValueError("the choices of the preprocessing do not fit its columns")
