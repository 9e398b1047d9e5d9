"""Who takes part in a tournament: methods as they are, and settings drawn from their grids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aucstudio.engine import METHODS
from aucstudio.engine.methods.combination._library import Member
from aucstudio.engine.params import declared_params
from aucstudio.project.runs.tuning import candidates

SETTINGS = 8
"""Settings of a method that are tried beside the usual ones."""

# Beyond so many rows a kernel method would take longer than all the others; landmarks stand in.
_MOST_KERNEL_ROWS = 4_000


def openers(rows: int, seed: int, fpr_range: tuple[float, float] | None) -> list[Member]:
    """List methods with their usual settings, the simplest first.

    Simple is what a person can look through: a weighted sum before a sum of curves, that before
    trees, those before distances to rows.
    """
    curves, kernel = Member.of("rankboost"), Member.of("nbauc", random_state=seed)
    if rows <= _MOST_KERNEL_ROWS:
        curves = Member.of("additive-logistic")
        kernel = Member.of("scaled-rank-svm", random_state=seed)
    ranged = [] if fpr_range is None else [Member.of("svm-pauc", fpr_range=fpr_range)]
    return [
        Member.of("logistic"),
        Member.of("auc-rls"),
        *ranged,
        curves,
        Member.of("gradient-boosting"),
        Member.of("random-forest", random_state=seed),
        Member.of("extra-trees", random_state=seed),
        kernel,
    ]


def settings_of(opener: Member, seed: int, count: int = SETTINGS) -> list[Member]:
    """Draw settings of a method from its declared grids, other than those of the opener."""
    known = declared_params(METHODS[opener.method])
    usual = {name: declared.default for name, declared in known.items()} | dict(opener.params)
    found = [
        Member(opener.method, tuple((dict(opener.params) | changed).items()))
        for candidate in candidates(METHODS[opener.method], usual, seed)
        if (changed := _changed(candidate, usual))
    ]
    if len(found) > count:
        drawn = np.random.default_rng(seed).choice(len(found), count, replace=False)
        found = [found[k] for k in np.sort(drawn)]
    return found


def _changed(candidate: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in candidate.items() if value != usual[name]}


def of_method(members: Sequence[Member], method: str) -> list[Member]:
    """List those of one method."""
    return [member for member in members if member.method == method]
