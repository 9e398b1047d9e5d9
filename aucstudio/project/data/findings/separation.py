"""AUC of single columns, and what it tells: columns that reveal the label, or hold codes.

Numbers are used as scores, or whether there is one if that separates better. Levels are ranked by
their share of positives in the other half of the rows, so that many levels gain nothing by chance.
"""

from __future__ import annotations

import dataclasses
import math
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from aucstudio.engine.arrays import Array, Index, Mask, class_counts
from aucstudio.project.data.columns import Column, spell_number
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.roles import is_named_code, is_named_identifier
from aucstudio.project.data.sparse_columns import SparseColumn
from aucstudio.project.data.table import Table
from aucstudio.project.data.text import dates

# Most cells that are examined, and the bounds of the rows of a class.
_CELLS = 1_000_000
_FEWEST, _MOST = 200, 50_000
# What ranks rows: numbers, shares of positives by level, or whether there is a number.
VALUE, SHARE, PRESENCE = "value", "share", "presence"
# Numbers with at most this many values may be codes without order.
MOST_CODES = 50


@dataclasses.dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows of the two classes, and which of them are positive."""

    rows: Index
    positive: Mask

    @classmethod
    def of(cls, table: Table) -> ClassRows | None:
        """Return all labelled rows; None unless they have two classes.

        Without a positive class, the most frequent class is compared with the others.
        """
        if table.label is None or len(table.classes) < 2:
            return None
        if table.positive is None:
            table = table.with_roles(positive=max(table.classes, key=lambda n: table.classes[n]))
        found = cls(np.flatnonzero(table.labelled()), table.is_positive())
        return found if all(found.counts) else None

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of positives and negatives."""
        return class_counts(self.positive)

    def thinned(self, columns: int) -> ClassRows:
        """Return a random sample of fixed seed, small enough to be fast."""
        most = int(np.clip(_CELLS // max(columns, 1), _FEWEST, _MOST))
        random, drawn = np.random.default_rng(0), []
        for places in map(np.flatnonzero, (self.positive, ~self.positive)):
            is_large = len(places) > most
            drawn.append(random.choice(places, most, replace=False) if is_large else places)
        kept = np.sort(np.concatenate(drawn))
        return ClassRows(self.rows[kept], self.positive[kept])


class SampledRows:
    """Areas of single features, on a sample if there are many rows; each is computed once.

    Attributes
    ----------
    classes : ClassRows
        All labelled rows.
    rows : ClassRows
        The sample.
    """

    def __init__(self, classes: ClassRows, columns: int) -> None:
        self.classes, self.rows = classes, classes.thinned(columns)
        self._areas: dict[str, float | None] = {}

    def area(self, column: Column) -> float | None:
        """Return the AUC of a column; None if a class has no value."""
        if column.name not in self._areas:
            self._areas[column.name] = area_of(column, self.rows)
        return self._areas[column.name]


# Inspection and findings use the same sample.
_SAMPLES: weakref.WeakKeyDictionary[Table, SampledRows] = weakref.WeakKeyDictionary()


def sampled(table: Table) -> SampledRows | None:
    """Return the sample of a table; None without two classes."""
    if table not in _SAMPLES:
        if (classes := ClassRows.of(table)) is None:
            return None
        _SAMPLES[table] = SampledRows(classes, len(table.features))
    return _SAMPLES[table]


def areas(table: Table) -> dict[str, float]:
    """Return the AUC of every single feature, on a sample if there are many rows.

    Columns without a value in a class are left out. Empty without a positive class.
    """
    sample = None if table.positive is None else sampled(table)
    if sample is None:
        return {}
    return {c.name: area for c in table.features if (area := sample.area(c)) is not None}


def area_of(column: Column, rows: ClassRows) -> float | None:
    """Return the AUC of a single column, ranked by :func:`ranking`; None if it ranks nothing."""
    found = ranking(column, rows.rows, rows.positive)
    return None if found is None else ranked_area(found[1][found[0]], found[1][~found[0]])


def ranking(column: Column, rows: Index, positive: Mask) -> tuple[Mask, Array, str] | None:
    """Return how a column alone ranks rows; None if no row has a value, or a class has no row.

    Returns
    -------
    positive : ndarray of bool
        The classes of the ranked rows.
    scores : ndarray
        Of numbers, the numbers themselves, in the rows that have one; or, if it separates the
        classes better, 1 where there is a number and else 0. Of levels, missing values included,
        the rank by the share of positives in other rows with the level. Of dates used by their
        parts, those of the part that separates best, whose numbers are levels.
    by : {VALUE, SHARE, PRESENCE} or a part of dates
        What the scores are.
    """
    column = column.decoded()
    known = column.known()[rows]
    if not known.any() or not positive.any() or positive.all():
        return None
    if parts := dates.values_of_parts(column, rows):
        scored = {
            part: level_scores(np.unique(cells, return_inverse=True)[1], positive)
            for part, cells in parts.items()
        }
        best = max(
            scored, key=lambda part: ranked_area(scored[part][positive], scored[part][~positive])
        )
        return positive, scored[best], best
    if column.kind == "text" or column.role == "category":
        return positive, level_scores(codes_of(column, rows), positive), SHARE
    values, classes = column.values[rows][known], positive[known]
    if known.all():
        return classes, values, VALUE
    both = all(class_counts(classes))
    area = ranked_area(values[classes], values[~classes]) if both else 0.5
    present = 0.5 + abs(float(known[positive].mean() - known[~positive].mean())) / 2
    if _is_plainly_more(present, max(area, 1 - area), positive):
        return positive, known.astype(float), PRESENCE
    return (classes, values, VALUE) if both else None


def ranked_area(high: Array, low: Array) -> float:
    """Return the share of pairs in which the first number is the greater one; ties are half."""
    high, low = np.sort(high), np.sort(low)  # sorted, so that the search is local in memory
    below = np.searchsorted(low, high, "left").sum() + np.searchsorted(low, high, "right").sum()
    return float(below) / (2.0 * len(high) * len(low))


def area_of_levels(column: Column, rows: ClassRows) -> float:
    """Return the area of levels, ranked by their share of positives in other rows."""
    scores = level_scores(codes_of(column, rows.rows), rows.positive)
    return ranked_area(scores[rows.positive], scores[~rows.positive])


def level_scores(codes: Index, positive: Mask) -> Array:
    """Score rows by the rank of their level among the shares of positives in the other half.

    Shares of levels with few rows are shrunk to the overall share. The halves are stratified. A
    level has a share in each half, but ranks are the same wherever both halves order levels alike.
    """
    random, half = np.random.default_rng(0), np.zeros(len(codes), dtype=bool)
    for one in (positive, ~positive):
        half[random.permutation(np.flatnonzero(one))[::2]] = True
    whole, levels, scores = positive.mean(), int(codes.max(initial=0)) + 1, np.empty(len(codes))
    for seen in (half, ~half):
        rows, of_them = (np.bincount(codes[s], minlength=levels) for s in (seen, seen & positive))
        shares = (of_them + whole) / (rows + 1.0)
        ordered = np.sort(shares)
        ranks = np.searchsorted(ordered, shares) + np.searchsorted(ordered, shares, "right")
        scores[~seen] = ranks[codes[~seen]]
    return scores


def codes_of(column: Column, rows: Index) -> Index:
    """Number the values of a column in some rows, including the missing value."""
    cells = column.values[rows]
    if column.kind == "number":
        return np.unique(cells, return_inverse=True)[1].astype(np.intp)
    # Equal texts are mostly the same object, and addresses are faster to compare.
    addresses = np.frombuffer(np.ascontiguousarray(cells), dtype=np.intp)
    _, first, which = np.unique(addresses, return_index=True, return_inverse=True)
    places: dict[Any, int] = {}
    numbers = [places.setdefault(cell, len(places)) for cell in cells[first].tolist()]
    return np.array(numbers, dtype=np.intp)[which]


# ------------------------------------------------------------------ columns that reveal the label

# Area that a column known before the outcome hardly ever reaches alone.
_TELLING = 0.999
# Area in a sample from which all rows are examined.
_SUSPECT = 0.99
# Largest probability that a column of a small table separates the classes by chance.
_BY_CHANCE = 1e-3
# Largest share of rows, overall and by class, in which a copy of the label may differ.
_ASTRAY = 0.01
_FEWEST_KNOWN, _FEWEST_OF_CLASS = 30, 8
# Numbers are judged as levels if each has this many rows.
_ROWS_EACH = 3


def leaks(table: Table) -> Iterator[Finding]:
    """Find features that are hardly known before the label."""
    sample, features = sampled(table), table.features
    if sample is None or not rules_out_chance(sample.classes.positive, len(features)):
        return
    classes = sample.classes
    is_in = np.zeros((2, table.rows), dtype=bool)
    is_in[classes.positive.astype(np.intp), classes.rows] = True
    others = []
    for column in features:
        if isinstance(column, SparseColumn) and _is_tied(column, is_in):
            continue
        one = _presence_separates(table, column, classes) or _separates(table, column, sample)
        if one := one or _nearly_the_label(table, column):
            yield one
        else:
            others.append(column)
    yield from _finds_alone(table, others, sample)


def _separates(table: Table, column: Column, sample: SampledRows) -> Finding | None:
    """Find a column that separates the classes in a sample, and in all rows."""
    if _area(column, sample.rows, sample.area(column)) < _SUSPECT:
        return None
    area = _area(column, sample.classes, area_of(column, sample.classes))
    if area < _TELLING:
        return None
    code = "copy_of_label" if _is_the_label(table, column) else "separates_classes"
    shown = "1" if area == 1 else f"{math.floor(area * 10_000) / 10_000:.4f}"
    return found(code, column.name, rows=table.rows, label=table.label, area=shown)


def _is_tied(column: SparseColumn, is_in: Mask) -> bool:
    """Return whether pairs tied at zero rule out that a column separates the classes."""
    rows = column.cells[0]
    shares = 1.0 - is_in[:, rows].sum(axis=1) / is_in.sum(axis=1)
    return bool(1.0 - shares[0] * shares[1] / 2 < _SUSPECT)


def rules_out_chance(positive: Mask, columns: int) -> bool:
    """Return whether the rows are too many for one of the columns to separate them by chance."""
    m, n = class_counts(positive)
    orders = math.lgamma(m + n + 1) - math.lgamma(m + 1) - math.lgamma(n + 1)
    return math.log(2 * max(columns, 1)) - orders < math.log(_BY_CHANCE)


def _area(column: Column, rows: ClassRows, area: float | None) -> float:
    """Return the best area of a column, in either direction or as levels."""
    best = 0.5 if area is None else max(area, 1.0 - area)
    if column.role == "number" and _may_be_levels(column):
        best = max(best, area_of_levels(column, rows))
    return best


def _may_be_levels(column: Column) -> bool:
    """Return whether numbers are so few that they may be codes of levels."""
    most = min(MOST_CODES, (column.height - column.missing) // _ROWS_EACH)
    return 2 < column.distinct <= most


def _is_the_label(table: Table, column: Column) -> bool:
    """Return whether values of the column and classes correspond one to one."""
    assert table.label is not None
    label = table.column(table.label)
    if column.distinct != label.distinct or column.distinct > MOST_CODES:
        return False
    known = column.known()
    if not np.array_equal(known, label.known()):
        return False
    (rows,) = np.nonzero(known)
    pairs = codes_of(column, rows) * label.distinct + codes_of(label, rows)
    return len(np.unique(pairs)) == column.distinct


def _nearly_the_label(table: Table, column: Column) -> Finding | None:
    """Find a column of two values that equals the label in all but a few rows."""
    assert table.label is not None
    label = table.column(table.label)
    if any(one.different.exceeds(2) or not one.different.exceeds(1) for one in (column, label)):
        return None
    (rows,) = np.nonzero(column.known() & label.known())
    ours, theirs = codes_of(column, rows), codes_of(label, rows)
    counts = np.zeros((2, 2), dtype=np.int64)
    np.add.at(counts, (ours, theirs), 1)
    astray = counts[[0, 1], [1, 0]] if np.trace(counts) >= len(rows) / 2 else np.diag(counts)
    total = int(astray.sum())
    # Also by class, because in a rare class a few rows matter.
    most = np.maximum(1, _ASTRAY * counts.sum(axis=0))
    if len(rows) < _FEWEST_KNOWN or not total or total > max(1, _ASTRAY * len(rows)):
        return None
    if counts.sum(axis=0).min() < _FEWEST_OF_CLASS or (astray > most).any():
        return None
    facts: dict[str, Any] = {"label": table.label, "astray": total, "known": len(rows)}
    return found("nearly_the_label", column.name, rows=table.rows, **facts)


# Least area, by its lower limit, from which it is hardly known before whether a value is missing.
_LEAST_PRESENCE = 0.9
# Normal quantile of the lower limits.
_QUANTILE = 2.326  # 99 %


def _presence_separates(table: Table, column: Column, classes: ClassRows) -> Finding | None:
    """Find a column that is known in nearly all rows of one class and few of the other."""
    if not column.missing:
        return None
    known = column.known()
    parts = [known[classes.rows[of]] for of in (classes.positive, ~classes.positive)]
    shares = [float(part.mean()) for part in parts]
    (less, few), (more, many) = sorted(zip(shares, map(len, parts), strict=True))
    area = 0.5 + (more - less) / 2
    if area >= _TELLING:
        words = "only" if shares[0] == more else "everywhere but"
        facts: dict[str, Any] = {"words": words, "positive": table.positive or "one class"}
        return found("known_in_one_class", column.name, rows=table.rows, **facts)
    if (_at_least(more, many) + _at_least(1.0 - less, few)) / 2 < _LEAST_PRESENCE:
        return None
    return found("presence_separates", column.name, rows=table.rows, area=area)


def _at_least(share: float, count: int) -> float:
    """Return Wilson's lower limit of a share."""
    spread = _QUANTILE**2 / count
    error = _QUANTILE * math.sqrt((share * (1 - share) + spread / 4) / count)
    return (share + spread / 2 - error) / (1 + spread)


# Largest FPR, and the least TPR there by its lower limit. The odds of the TPR of every other column
# are smaller by this factor: strong markers of a disease have peers.
_FOUND_AT, _TIMES = ((0.01, 0.5), (0.05, 0.8)), 4.0
# One of fewer columns may well be the only one of use.
_LEAST_FEATURES = 4


def _finds_alone(table: Table, features: list[Column], sample: SampledRows) -> Iterator[Finding]:
    """Find a feature that finds most positives at a small FPR, where no other one comes close."""
    is_sparse = any(isinstance(column, SparseColumn) for column in table.features)
    if table.positive is None or len(features) < _LEAST_FEATURES or is_sparse:
        return
    m, n = sample.rows.counts
    every = [_at_few_false(column, sample.rows) for column in features]
    for (most, least), found_by in zip(_FOUND_AT, zip(*every, strict=True), strict=True):
        first, second = sorted(range(len(features)), key=lambda k: -found_by[k][0])[:2]
        (hits, false), others = found_by[first], found_by[second][0] / m
        low = _at_least(hits / m, m)
        is_alone = low >= least and low * (1 - others) >= _TIMES * others * (1 - low)
        if n * most >= 1 and is_alone:
            rates: dict[str, Any] = {"tpr": 100 * hits / m, "fpr": false / n}
            facts = {**rates, "positive": table.positive}
            yield found("finds_alone", features[first].name, rows=table.rows, **facts)
            return


def _at_few_false(column: Column, rows: ClassRows) -> list[tuple[int, int]]:
    """Return the most positives found at each small FPR, and the negatives found with them.

    Numbers are used in both directions, and as levels if they are few, as in :func:`_area`.
    """
    positive, ways = rows.positive, list[Array]()
    if column.role == "number":
        cells = column.values[rows.rows]
        ways = [np.where(np.isnan(cells), -np.inf, sign * cells) for sign in (1.0, -1.0)]
    if column.role != "number" or _may_be_levels(column):
        ways.append(level_scores(codes_of(column, rows.rows), positive))
    found: list[list[tuple[int, int]]] = []
    for scores in ways:
        high, low = scores[positive], np.sort(scores[~positive])
        ends = [low[-1 - int(most * len(low))] for most, _least in _FOUND_AT]
        found.append([(int((high > e).sum()), int((low > e).sum())) for e in ends])
    return [max(at, key=lambda one: (one[0], -one[1])) for at in zip(*found, strict=True)]


# ------------------------------------------------------------------ numbers that are codes

# Two numbers have no order that matters.
_FEWEST_CODES, _SHOWN = 3, 4
# Least gain in area of levels over numbers, absolute and in standard errors.
_GAIN, _ERRORS = 0.05, 3.0


def codes(table: Table) -> Iterator[Finding]:
    """Find features of few whole numbers named like codes, or better as levels."""
    sample = sampled(table)
    for column in table.features:
        if column.role != "number" or not _may_be_codes(column):
            continue
        values = np.unique(column.values[column.known()])
        first = tuple(map(spell_number, values[:_SHOWN].tolist()))
        facts: dict[str, Any] = {
            "rows": column.height - column.missing,
            "values": first,
            "distinct": len(values),
        }
        if sample is not None and (better := _areas(column, sample)) is not None:
            numbers, levels = better
            yield found("better_as_category", column.name, **facts, numbers=numbers, levels=levels)
        elif is_named_code(column.name):
            shown = ", ".join(first) + (" and others" if len(values) > _SHOWN else "")
            yield found("named_like_codes", column.name, **facts, first=shown)


def _may_be_codes(column: Column) -> bool:
    if isinstance(column, SparseColumn) or column.is_date or is_named_identifier(column.name):
        return False  # identifiers have a finding of their own
    most = min(MOST_CODES, (column.height - column.missing) // _ROWS_EACH)
    has_few = column.different.exceeds(_FEWEST_CODES - 1) and not column.different.exceeds(most)
    return has_few and column.is_integer()


def _areas(column: Column, sample: SampledRows) -> tuple[float, float] | None:
    """Return the areas of numbers, in the better direction, and of levels, if these are better."""
    numbers, levels = sample.area(column), area_of_levels(column, sample.rows)
    if numbers is None:
        return None
    numbers = max(numbers, 1 - numbers)
    return (numbers, levels) if _is_plainly_more(levels, numbers, sample.rows.positive) else None


def _is_plainly_more(better: float, area: float, positive: Mask) -> bool:
    """Return whether an area of such rows is greater than another one beyond chance."""
    m, n = class_counts(positive)
    error = math.sqrt((m + n + 1) / (12 * m * n))
    return better - area > max(_GAIN, _ERRORS * error)
