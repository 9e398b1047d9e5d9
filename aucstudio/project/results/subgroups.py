"""How well a run ranks within each level of a column, and whether the levels differ.

Rows of different levels are different rows, so that their areas are independent given the models.
That all are equal is tested on the scale of the logit: the weighted sum of squares about the common
mean is chi-square with one degree of freedom fewer than levels. Of several folds the area of a
level is the mean over folds, weighted by pairs; of repeated splits the first repeat counts, as rows
would be there several times.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine import inference, roc
from aucstudio.project.data.columns import spelled
from aucstudio.project.data.levels import MISSING
from aucstudio.project.data.split import FILE, LEAVE_PAIR_OUT
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.results.common_rows import Scores
from aucstudio.project.results.summary import LEVEL, WHOLE, number
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.words import interval_words, p_words, range_words

MOST_LEVELS = 20
Parts = list[Scores]


@dataclasses.dataclass(frozen=True)
class Subgroup:
    """One level of the column, on held-out rows.

    Attributes
    ----------
    level : str
    positives, negatives : int
    auc, pauc : Interval
        The partial AUC is normalised; its range is that of the level's own negatives.
    threshold : float
        The lowest one with no more false positives in the level than the range allows; NaN where
        folds have scales of their own.
    """

    level: str
    positives: int
    negatives: int
    auc: inference.Interval
    pauc: inference.Interval
    threshold: float

    def as_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        areas = {
            name: {
                "value": number(area.value),
                "low": number(area.low),
                "high": number(area.high),
                "reason": area.reason,
            }
            for name, area in (("auc", self.auc), ("pauc", self.pauc))
        }
        counts = {"positives": self.positives, "negatives": self.negatives}
        return {"level": self.level, **counts, **areas, "threshold": number(self.threshold)}


@dataclasses.dataclass(frozen=True)
class Subgroups:
    """The levels of a column, and the tests that their areas are equal.

    Attributes
    ----------
    column : str
    groups : tuple of Subgroup
    p_auc, p_pauc : float
        NaN where fewer than two levels have an area with a standard error.
    """

    column: str
    groups: tuple[Subgroup, ...]
    p_auc: float
    p_pauc: float

    def as_json(self) -> dict[str, Any]:
        """Give them as plain data."""
        groups = [group.as_json() for group in self.groups]
        p = {"p_auc": number(self.p_auc), "p_pauc": number(self.p_pauc)}
        return {"column": self.column, "groups": groups, **p}


def subgroups(record: RunRecord, table: Table, column: str, band: Band) -> Subgroups:
    """Look at a run's held-out rows by the levels of a column.

    Parameters
    ----------
    record : RunRecord
    table : Table
        The one whose rows were held out, with all of its columns.
    column : str
        Of any role, with at most 20 levels; missing cells are one.
    band : (float, float)

    Raises
    ------
    InputError
        If there is no such column, or it has too many levels or one alone.
    """
    levels = _levels(table, column)
    splits = [split for split in record.splits if split.repeat == record.splits[0].repeat]
    groups = []
    for level in _in_order(levels, table.column(column).kind):
        picked = [(split, levels[split.test_rows] == level) for split in splits]
        parts = [
            (
                split.test_positive[rows],
                split.test_scores[rows],
                None if split.test_weights is None else split.test_weights[rows],
            )
            for split, rows in picked
        ]
        groups.append(_group(level, parts, band))
    areas = [group.auc for group in groups], [group.pauc for group in groups]
    return Subgroups(column, tuple(groups), *map(equality, areas))


def equality(areas: Sequence[inference.Interval]) -> float:
    """Test whether independent areas are equal; gives the p-value, NaN with fewer than two.

    Areas without a standard error, or at 0 or 1, where the logit has none, are left out.
    """
    told = [(a.value, a.se) for a in areas if 0.0 < a.value < 1.0 and a.se > 0.0]
    if len(told) < 2:
        return math.nan
    values, errors = np.array(told).T
    weights = (values * (1.0 - values) / errors) ** 2
    logits = scipy.special.logit(values)
    spread = weights @ (logits - np.average(logits, weights=weights)) ** 2
    return float(scipy.special.chdtrc(len(told) - 1, spread))


def _levels(table: Table, column: str) -> NDArray[np.object_]:
    found = table.column(column)
    if not 2 <= found.distinct + bool(found.missing) <= MOST_LEVELS:
        raise InputError(
            f"column {column!r} of {table.path} has {found.distinct:,} values: groups are formed "
            f"by a column with 2 to {MOST_LEVELS}",
            file=str(table.path),
            column=column,
            setting="by",
        )
    texts = spelled(found)
    return np.where(found.known(), texts, MISSING).astype(object)


def _in_order(levels: NDArray[np.object_], kind: str) -> list[str]:
    """List the levels once: numbers by size, texts by letters, what is missing last."""

    def place(level: str) -> tuple[bool, float, str]:
        missing = level == MISSING
        return missing, float(level) if kind == "number" and not missing else 0.0, level

    return sorted(set(levels.tolist()), key=place)


def _group(level: str, parts: Parts, band: Band) -> Subgroup:
    positives = sum(int(np.count_nonzero(positive)) for positive, *_ in parts)
    rows = sum(len(positive) for positive, *_ in parts)
    ranked = [
        roc.Ranking.of(positive, scores, weights=weights)
        for positive, scores, weights in parts
        if _both_count(positive, weights)
    ]
    threshold = math.nan
    if len(parts) == 1 and ranked:
        one = ranked[0]
        negatives = np.sort(one.t)[::-1]
        place = int(band[1] * len(negatives))
        if one.weight_t is not None:
            shares = np.cumsum(one.weight_t[::-1]) / one.weight_t.sum()
            place = int(np.searchsorted(shares, band[1] * (1 + 1e-12), "right"))
        threshold = float(negatives[min(place, len(negatives) - 1)])
    auc, pauc = _area(ranked, WHOLE), _area(ranked, band)
    return Subgroup(level, positives, rows - positives, auc, pauc, threshold)


def _both_count(positive: NDArray[np.bool_], weights: NDArray[np.float64] | None) -> bool:
    """Tell whether there are rows of both classes, with a weight if they have any."""
    counted = positive if weights is None else positive[weights > 0]
    return 0 < int(np.count_nonzero(counted)) < len(counted)


def _area(ranked: Sequence[roc.Ranking], band: Band) -> inference.Interval:
    """Give the area of a level: the mean over folds, weighted by pairs."""
    found = [inference.interval_of(one, *band, LEVEL) for one in ranked]
    if not found:
        nan = math.nan
        return inference.Interval(nan, nan, nan, LEVEL, "", nan, "one class only")
    if len(found) == 1:
        return found[0]
    shares = np.array([one.curve.positives * one.curve.negatives for one in ranked], float)
    shares /= shares.sum()
    value = float(shares @ [one.value for one in found])
    se = float(np.sqrt(shares**2 @ np.square([one.se for one in found])))
    if not (0.0 < value < 1.0 and se > 0.0):
        reason = "too few rows in a fold"
        return inference.Interval(value, math.nan, math.nan, LEVEL, "", se, reason)
    reach = float(scipy.special.ndtri((1 + LEVEL) / 2)) * se / (value * (1 - value))
    logit = float(scipy.special.logit(value))
    low, high = scipy.special.expit([logit - reach, logit + reach]).tolist()
    return inference.Interval(value, low, high, LEVEL, "mean of folds, logit scale", se)


def subgroups_of(
    named: Sequence[tuple[str, RunRecord]], column: str, band: Band
) -> list[tuple[str, Subgroups]]:
    """Look at several runs by one column, in the tables that their rows were held out of.

    Raises
    ------
    InputError
        As :func:`subgroups`, and if a table cannot be read any more or does not say which rows
        were held out.
    """
    tables: dict[object, Table] = {}
    found = []
    for name, record in named:
        experiment = record.experiment
        scheme = experiment.validation.scheme
        data = experiment.test if scheme == FILE else experiment.data
        if data is None or scheme == LEAVE_PAIR_OUT:
            why = (
                "leave-pair-out orders pairs of all rows"
                if scheme == LEAVE_PAIR_OUT
                else "an earlier program did not write down what the test file held"
            )
            raise InputError(f"{name} cannot be parted into groups: {why}", setting="by")
        if data not in tables:
            tables[data] = data.open()
        found.append((name, subgroups(record, tables[data], column, band)))
    return found


def as_markdown(found: Sequence[tuple[str, Subgroups]], band: Band) -> str:
    """Write a table for each run, and under it what the tests say."""
    return "\n\n".join(f"## {name}, by {of.column}\n\n{_sheet(of, band)}" for name, of in found)


def _sheet(found: Subgroups, band: Band) -> str:
    heads = [found.column, "positives", "negatives", "AUC", f"pAUC in FPR {range_words(band)}"]
    heads.append(f"threshold for FPR {band[1]:g}")
    rows = [
        [
            " ".join(group.level.split()).replace("|", "\\|"),
            str(group.positives),
            str(group.negatives),
            *(_area_words(area) for area in (group.auc, group.pauc)),
            "–" if math.isnan(group.threshold) else f"{group.threshold:.4g}",
        ]
        for group in found.groups
    ]
    lines = [heads, ["---"] * len(heads), *rows]
    written = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{written}\n\n{_verdict('AUC', found.p_auc)} {_verdict('pAUC', found.p_pauc)}"


def _area_words(area: inference.Interval) -> str:
    if math.isnan(area.value):
        return f"– ({area.reason})"
    bounds = area.reason or interval_words(area.low, area.high)
    return f"{area.value:.3f} ({bounds})"


def _verdict(what: str, p: float) -> str:
    if math.isnan(p):
        return f"{what}: too few rows to test whether the groups are equal."
    return f"{what}: that all groups are equal has {p_words(p)}."
