"""Results of a run by subgroup, with a test of equality.

Rows of different levels are different rows, so that their areas are independent given the models.
Of several folds the area of a level is the mean over folds, weighted by pairs; of repeated splits
the first repeat counts, as rows would be there several times.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import inference, roc
from aucstudio.engine.arrays import Array
from aucstudio.engine.roc import position
from aucstudio.notices import Notice
from aucstudio.project.data.columns import Column, spell_cell
from aucstudio.project.data.preparing.scales import MISSING
from aucstudio.project.data.table import Table
from aucstudio.project.data.validation import FILE, LEAVE_PAIR_OUT
from aucstudio.project.errors import input_error
from aucstudio.project.results.summary import LEVEL, WHOLE, Estimate, Scores, few_in_range
from aucstudio.project.results.thresholds import estimate_share
from aucstudio.project.runs.experiment import Band, DataReference
from aucstudio.project.runs.record import RunRecord, SplitResult
from aucstudio.project.typed import plain

Parts = list[Scores]
Labelled = tuple[roc.Ranking, NDArray[np.intp] | None]

_MOST_POINTS = 2_000  # of a curve
_FEW = 10  # rows of a class: fewer make the figures of a level unreliable


@dataclasses.dataclass(frozen=True)
class Subgroup:
    """One level of the column, on held-out rows.

    Attributes
    ----------
    level : str
    positives, negatives : int
    auc, pauc : Estimate
        The partial AUC is normalised; its range is that of the level's own negatives.
    threshold : float
        The lowest one with no more false positives in the level than the range allows; NaN where
        folds have scales of their own.
    tpr, fpr : Estimate
        At the thresholds of the whole run, one a split, whose counts are added up.
    curve : (ndarray, ndarray)
        FPR and TPR; the mean of the folds that have both classes.
    notices : tuple of Notice
        What puts the partial AUC in doubt.
    """

    level: str
    positives: int
    negatives: int
    auc: Estimate
    pauc: Estimate
    threshold: float
    tpr: Estimate
    fpr: Estimate
    curve: tuple[Array, Array]
    notices: tuple[Notice, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.positives + self.negatives

    @property
    def few(self) -> bool:
        """Whether a class has too few rows for reliable figures and for the tests."""
        return min(self.positives, self.negatives) < _FEW

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        found: dict[str, Any] = plain(self, "curve")
        return found


@dataclasses.dataclass(frozen=True)
class Subgroups:
    """The levels of a column, and the tests that their areas are equal.

    Attributes
    ----------
    column : str
    groups : tuple of Subgroup
    p_auc, p_pauc : float
        NaN where fewer than two levels have rows enough.
    merged : int
        How many levels are merged into one group.
    silent, silent_pauc : int
        How many groups are left out of the test of the AUC, and of the partial AUC, for too few
        rows: those of :attr:`Subgroup.few` and others.
    """

    column: str
    groups: tuple[Subgroup, ...]
    p_auc: float
    p_pauc: float
    merged: int = 0
    silent: int = 0
    silent_pauc: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return them as plain data."""
        found: dict[str, Any] = plain(self, "merged", "silent", "silent_pauc")
        return found


def subgroups(
    record: RunRecord,
    table: Table,
    column: str,
    band: Band,
    cuts: Sequence[float] = (),
    thresholds: Sequence[float] | None = None,
) -> Subgroups:
    """Compute the results of a run by the levels of a column, on held-out rows with a weight.

    Parameters
    ----------
    record : RunRecord
    table : Table
        The one whose rows were held out, with all of its columns.
    column : str
        Of any role.
    band : (float, float)
    cuts : sequence of float
        Cut points of a number column; see
        :func:`~aucstudio.project.results.subgroups.part_rows`.
    thresholds : sequence of float, optional
        One for each split; by default the lowest ones that keep to the range among all held-out
        negatives.

    Raises
    ------
    InputError
        If there is no such column, or it gives one group alone.
    """
    parting = part_rows(table, column, cuts)
    splits = [split for split in record.splits if split.repeat == record.splits[0].repeat]
    if thresholds is None:
        thresholds = [_whole(split, band[1]) for split in splits]
    groups, ranked = [], []
    for k, level in enumerate(parting.names):
        picked = [(s, (parting.part[s.test_rows] == k) & _counts(s)) for s in splits]
        parts = [Scores.of(split).at(rows) for split, rows in picked]
        if any(len(part.positive) for part in parts):
            ranked.append(_ranked(parts))
            groups.append(_group(level, parts, [one for one, _ in ranked[-1]], band, thresholds))
    tested = [one for one, group in zip(ranked, groups, strict=True) if not group.few]
    (p_auc, silent), (p_pauc, silent_pauc) = (
        (p, len(groups) - used) for p, used in (_equality(tested, of) for of in (WHOLE, band))
    )
    return Subgroups(column, tuple(groups), p_auc, p_pauc, parting.merged, silent, silent_pauc)


def _equality(groups: Sequence[Sequence[Labelled]], band: Band) -> tuple[float, int]:
    """Test whether the areas of groups are equal; count those that take part."""
    areas = []
    for ranked in groups:
        if ranked:
            rankings, labels = zip(*ranked, strict=True)
            known = [of_fold for of_fold in labels if of_fold is not None]
            shared = known if len(known) == len(labels) else None
            areas.append(inference.GroupArea.of(rankings, *band, shared))
    return inference.equality_test(areas), sum(area.speaks for area in areas)


def _counts(split: SplitResult) -> NDArray[np.bool_]:
    """Return which held-out rows have a weight above 0."""
    weights = split.test_weights
    return np.ones(split.n_test, dtype=bool) if weights is None else weights > 0


def _whole(split: SplitResult, fpr: float) -> float:
    rows = ~split.test_positive
    weights = None if split.test_weights is None else split.test_weights[rows]
    return lowest_threshold(split.test_scores[rows], fpr, weights)


def lowest_threshold(
    negatives: NDArray[np.floating[Any]], fpr: float, weights: Array | None = None
) -> float:
    """Return the lowest threshold with no more false positives than a rate allows."""
    if not len(negatives):
        return math.nan
    order = np.argsort(negatives)[::-1]
    place = math.floor(position(len(order), fpr))
    if weights is not None:
        shares = np.cumsum(weights[order]) / weights.sum()
        place = int(np.searchsorted(shares, fpr * (1 + 1e-12), "right"))
    return float(negatives[order[min(place, len(order) - 1)]])


def _ranked(parts: Parts) -> list[Labelled]:
    """Rank the rows of each fold that has both classes, and number its groups over all folds."""
    found: list[Labelled] = []
    for fold, part in enumerate(parts):
        if 0 < int(np.count_nonzero(part.positive)) < len(part.positive):
            labels = None
            if part.groups is not None:
                labels = np.unique(part.groups) * len(parts) + fold
            found.append((part.ranking(), labels))
    return found


def _group(
    level: str,
    parts: Parts,
    ranked: Sequence[roc.Ranking],
    band: Band,
    thresholds: Sequence[float],
) -> Subgroup:
    positives = sum(int(np.count_nonzero(part.positive)) for part in parts)
    rows = sum(len(part.positive) for part in parts)
    threshold = math.nan
    if len(parts) == 1 and ranked:
        threshold = lowest_threshold(
            ranked[0].t, band[1], ranked[0].weights and ranked[0].weights[1]
        )
    return Subgroup(
        level,
        positives,
        rows - positives,
        _area(ranked, WHOLE),
        _area(ranked, band),
        threshold,
        _called(parts, thresholds, of=True),
        _called(parts, thresholds, of=False),
        _curve(ranked),
        _notices(ranked, band),
    )


def _notices(ranked: Sequence[roc.Ranking], band: Band) -> tuple[Notice, ...]:
    """Return what puts the partial AUC of a level in doubt."""
    if not ranked or band == WHOLE:
        return ()
    inside = (roc.partial_auc_of(one.curve, *band).negatives for one in ranked)
    return tuple(few_in_range(min(inside)))


def _called(parts: Parts, thresholds: Sequence[float], of: bool) -> Estimate:
    """Return the share of a class that is predicted positive."""
    called, weight, groups = [], [], []
    for fold, (part, threshold) in enumerate(zip(parts, thresholds, strict=False)):
        rows = part.positive == of
        called.append(part.scores[rows] > threshold)
        weight.append(np.ones(rows.sum()) if part.weights is None else part.weights[rows])
        if part.groups is not None:
            groups.append(part.groups[rows] * len(parts) + fold)
    says, w = np.concatenate(called), np.concatenate(weight)
    if not w.any():
        return estimate_share(0.0, 0.0)
    counted = bool(parts) and parts[0].weight_kind == roc.FREQUENCY
    if not groups and ((w == 1.0).all() or counted):
        return estimate_share(float(w[says].sum()), float(w.sum()))
    rows_said = roc.effective_trials(says, w, np.concatenate(groups) if groups else None)
    return estimate_share(float(w[says].sum() / w.sum() * rows_said), float(rows_said))


def _curve(ranked: Sequence[roc.Ranking]) -> tuple[Array, Array]:
    """Average the curves of the folds; of many points as many as can be seen."""
    if not ranked:
        return np.empty(0), np.empty(0)
    curves = [one.curve for one in ranked]
    fpr, tpr, _ = roc.vertical_average(curves)
    if len(fpr) > _MOST_POINTS:
        grid = np.linspace(0.0, 1.0, _MOST_POINTS // 2)
        fpr, tpr, _ = roc.vertical_average(curves, grid)
        fpr, tpr = np.append(0.0, fpr), np.append(0.0, tpr)
    return fpr, tpr


def _area(ranked: Sequence[roc.Ranking], band: Band) -> Estimate:
    """Return the area of a level: the mean over folds, weighted by pairs."""
    if not ranked:
        return Estimate(math.nan, math.nan, math.nan, "one class only")
    pairs = [float(one.curve.positives * one.curve.negatives) for one in ranked]
    found = inference.folds_interval(ranked, *band, LEVEL, shares=pairs)
    return Estimate(found.value, found.low, found.high, found.reason)


def subgroups_of(
    named: Sequence[tuple[str, RunRecord]], column: str, band: Band, cuts: Sequence[float] = ()
) -> list[tuple[str, Subgroups]]:
    """Compute the results of several runs by the levels of a column.

    Raises
    ------
    InputError
        As :func:`subgroups`, and if a table cannot be read any more or does not say which rows
        were held out.
    """
    tables: dict[object, Table] = {}
    found = []
    for name, record in named:
        data = held_out_table(name, record)
        if data not in tables:
            tables[data] = data.open()
        found.append((name, subgroups(record, tables[data], column, band, cuts)))
    return found


def held_out_table(name: str, record: RunRecord) -> DataReference:
    """Return the table whose rows a run held out; InputError if there are no single rows."""
    experiment = record.experiment
    scheme = experiment.validation.scheme
    data = experiment.test if scheme == FILE else experiment.data
    if data is None or scheme == LEAVE_PAIR_OUT:
        raise input_error("no_subgroups", run=name, pairs=scheme == LEAVE_PAIR_OUT)
    return data


MOST_LEVELS = 20
QUANTILES = 4  # groups of a column of many numbers
OTHERS = "(others)"


@dataclasses.dataclass(frozen=True, eq=False)
class Parting:
    """The subgroup of each row of a table.

    Attributes
    ----------
    names : tuple of str
        Of the subgroups: numbers by size, texts by letters, then the merged levels and the rows
        without a value.
    part : ndarray of int, shape (rows,)
    merged : int
        Number of levels merged into one subgroup; 0 if none.
    """

    names: tuple[str, ...]
    part: NDArray[np.intp]
    merged: int = 0


def part_rows(table: Table, name: str, cuts: Sequence[float] = ()) -> Parting:
    """Split the rows by a column of any role.

    Numbers are divided at the cut points; without any, a column with at most 20 values by these
    values, one with more by its quartiles. If there are more than 20 levels, the smallest are
    merged into one group. Rows without a value are a group.

    Raises
    ------
    InputError
        If there is no such column, it holds texts and there are cuts, or it gives one part alone.
    """
    column = table.column(name)
    by_value = column.kind == "text" or not (cuts or column.distinct > MOST_LEVELS)
    if cuts and column.kind == "text":
        raise input_error("cuts_of_text", file=table.path, column=name, table=table.path.name)
    found = _by_level(column) if by_value else _by_range(column, cuts)
    if len(found.names) < 2:
        group = found.names[0] if found.names else "none"
        raise input_error(
            "one_subgroup", file=table.path, column=name, table=table.path.name, group=group
        )
    return found


def read_cuts(text: str) -> tuple[float, ...]:
    """Read cut points such as ``40, 65``.

    Raises
    ------
    InputError
    """
    words = [word for word in re.split(r"[;,\s]+", text.strip()) if word]
    try:
        cuts = tuple(sorted({float(word.replace("−", "-")) for word in words}))
    except ValueError:
        cuts = (np.nan,)
    if not np.isfinite(cuts).all() or len(cuts) >= MOST_LEVELS:
        raise input_error("cuts_invalid", most=MOST_LEVELS - 1, given=text)
    return cuts


def _by_level(column: Column) -> Parting:
    known = column.known()
    counts = Counter(column.values[known].tolist())
    most = MOST_LEVELS - bool(not known.all())
    kept = counts.most_common(most if len(counts) <= most else most - 1)
    place = {level: k for k, level in enumerate(sorted(level for level, _ in kept))}
    names = [spell_cell(column, c) if column.kind == "number" else c for c in place]
    part = np.array([place.get(c, len(place)) for c in column.values.tolist()], dtype=np.intp)
    merged = len(counts) - len(place)
    more = [OTHERS] * (merged > 0) + [MISSING] * (not known.all())
    names += [_no_level(name, place) for name in more]
    part[~known] = len(names) - 1
    return Parting(tuple(names), part, merged)


def _no_level(name: str, levels: Collection[str]) -> str:
    """Set a name apart from levels that are called so."""
    while name in levels:
        name = f"({name})"
    return name


def _by_range(column: Column, cuts: Sequence[float]) -> Parting:
    known = column.known()
    values = column.values[known]
    if not cuts and len(values):
        shares = np.arange(1, QUANTILES) / QUANTILES
        cuts = np.unique(np.quantile(values, shares, method="inverted_cdf")).tolist()
    # A cut point below or above all values divides nothing.
    ends = [cut for cut in cuts if values.size and values.min() < cut <= values.max()]
    said = [spell_cell(column, cut) for cut in ends]
    below, above = ("before {}", "from {} on") if column.is_date else ("below {}", "{} and above")
    names = [below.format(said[0])] if said else ["any value"]
    names += [f"{low} to {below.format(high)}" for low, high in itertools.pairwise(said)]
    names += [above.format(said[-1])] if said else []
    part = np.full(len(known), len(names), dtype=np.intp)
    part[known] = np.searchsorted(np.array(ends), values, side="right")
    return Parting(tuple(names) + (MISSING,) * (not known.all()), part)
