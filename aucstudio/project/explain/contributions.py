"""Contributions of columns to the score of a row, and to the order of a pair.

Symbols: x⁺, x⁻ the two prepared rows of a pair, z = x⁺ − x⁻; f score; x[k ← y] a row with column k
taken from y.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from aucstudio.engine.arrays import Array, Index
from aucstudio.engine.scorers import LinearScorer
from aucstudio.notices import Notice, notice
from aucstudio.notices.words import aligned
from aucstudio.project.data.columns import Column, spell_cell, without
from aucstudio.project.data.preparing.preparation import column_features, feature_groups
from aucstudio.project.data.table import Table
from aucstudio.project.explain.shapley import Contributions, SumOfTerms, contributions
from aucstudio.project.explain.trees import plain_number
from aucstudio.project.geometry.planes import by_weight, evenly
from aucstudio.project.runs.model import Model

MISSING = "missing"
COLUMNS_PER_CHUNK = 128  # whose values are replaced at once


@dataclasses.dataclass(frozen=True)
class ColumnShare:
    """Contribution of one column to a pair.

    Attributes
    ----------
    column : str
    cells : (str, str)
        Of the positive and the negative row, as the table has them.
    difference : float
        z in standard deviations of training; NaN for a category or a missing value.
    contribution : float
        To the difference of the scores; see :func:`explain_pair`.
    """

    column: str
    cells: tuple[str, str]
    difference: float
    contribution: float


@dataclasses.dataclass(frozen=True)
class PairDetail:
    """A pair of rows with the contributions of the columns.

    Attributes
    ----------
    rows : (int, int)
        Row numbers of the positive and the negative in the table.
    margin : float
        f(x⁺) − f(x⁻).
    parts : tuple of ColumnShare
        The largest contribution, whatever its sign, first.
    """

    rows: tuple[int, int]
    margin: float
    parts: tuple[ColumnShare, ...]

    @property
    def interplay(self) -> float:
        """The margin minus the sum of the contributions."""
        return self.margin - sum(part.contribution for part in self.parts)


def explain_pair(table: Table, model: Model, rows: tuple[int, int]) -> PairDetail:
    """Return which columns decided a pair.

    For a linear scorer column k contributes w_k z_k, summed over its levels if it is a
    category. For any other the rows swap the column, one way and the other:
    ½ (f(x⁺) − f(x⁺[k ← x⁻]) + f(x⁻[k ← x⁺]) − f(x⁻)), which for a linear one is the same.

    Raises
    ------
    InputError
        If the table lacks columns of the model.
    """
    preparation = model.preparation
    X = preparation.apply(table, np.array(rows))
    groups = feature_groups(preparation)
    scores = model.scorer(X)
    if isinstance(model.scorer, LinearScorer):
        products = model.scorer.weights * (X[0] - X[1])
        shares = np.array([products[group].sum() for group in groups.values()])
    else:
        shares = _swapped(model, X, scores, list(groups.values()))
    columns = {column.name: column for column in table.columns}
    sources = {f"{name} = missing": columns[name] for name in preparation.indicated} | columns
    sources |= {part.together: columns[part.column] for part in preparation.parts.values()}
    numbers, differences = len(preparation.numbers), X[0] - X[1]
    parts = []
    for (name, group), share in zip(groups.items(), shares.tolist(), strict=True):
        is_number = group.stop <= numbers and group.stop == group.start + 1
        difference = float(differences[group.start]) if is_number else np.nan
        first, second = (cell_words(sources[name], row) for row in rows)
        parts.append(ColumnShare(name, (first, second), difference, share))
    parts.sort(key=lambda part: -abs(part.contribution))
    return PairDetail(rows, float(scores[0] - scores[1]), tuple(parts))


def _swapped(model: Model, X: Array, scores: Array, groups: list[slice]) -> Array:
    shares = []
    for start in range(0, len(groups), COLUMNS_PER_CHUNK):
        some = groups[start : start + COLUMNS_PER_CHUNK]
        pairs = np.repeat(X[None], len(some), axis=0)
        for pair, group in zip(pairs, some, strict=True):
            pair[:, group] = X[::-1, group]
        other = model.scorer(pairs.reshape(-1, X.shape[1])).reshape(-1, 2)
        shares.append(0.5 * (scores[0] - other[:, 0] + other[:, 1] - scores[1]))
    return np.concatenate(shares)


def cell_words(column: Column, row: int) -> str:
    """Write a cell as the table has it."""
    value = column.values[row]
    if column.kind == "number":
        return MISSING if np.isnan(value) else spell_cell(column, value)
    return MISSING if value is None else str(value)


def row_name(table: Table, row: int) -> str:
    """Name a row by its number, and by its identifier where the table has one."""
    return " ".join([f"Row {row + 1:,}", *(f"({name})" for name in identifiers(table, row))])


def identifiers(table: Table, row: int) -> list[str]:
    """Return the identifiers of a row, without one that repeats its number."""
    cells = (cell_words(column, row) for column in table.columns if column.identifies)
    return [words for words in cells if words != str(row + 1)]


def signed_cell(words: str) -> str:
    """Return a cell with a minus sign in place of a leading hyphen."""
    return re.sub(r"^-(?=[0-9.])", "−", words)


MOST_ROWS = 10_000  # of the background; more add time and no precision
_MOST_CELLS = 20_000_000


@dataclasses.dataclass(frozen=True)
class Contribution:
    """The contribution of one column, or of several together, to the score of a row.

    Attributes
    ----------
    column : str
    value : str
        The row's cell as the table has it; empty for several columns.
    usual : str
        What the background rows have in the column, in words.
    contribution : float
    standard_error : float
        0 if the contribution is exact.
    """

    column: str
    value: str
    usual: str
    contribution: float
    standard_error: float


@dataclasses.dataclass(frozen=True, eq=False)
class RowDetail:
    """The score of a row as a sum of contributions.

    Attributes
    ----------
    row : int
        Its number in the table, from 0.
    score, mean : float
        Raw scores: of the row, and the mean over the background rows.
    parts : tuple of Contribution
        The largest contribution, whatever its sign, first; they sum to ``score - mean``.
    found : Contributions
        Of the columns in the order of the parts.
    background, of_rows : int
        How many rows it was compared with, and of how many these were taken.
    by_weight : bool
        Whether they were taken as often as their weights say.
    """

    row: int
    score: float
    mean: float
    parts: tuple[Contribution, ...]
    found: Contributions
    background: int
    of_rows: int
    by_weight: bool = False

    @property
    def exact(self) -> bool:
        """Whether the contributions follow from the formula of the score, for the rows taken."""
        return self.found.exact

    @property
    def draws(self) -> int:
        """How many pairs of orders were drawn; 0 where it is exact."""
        return len(self.found.noise)

    def shown(self, most: int) -> tuple[Contribution, ...]:
        """Return at most so many parts: the smallest are merged into one that comes last."""
        if len(self.parts) <= most:
            return self.parts
        rest = range(most - 1, len(self.parts))
        together = float(sum(self.parts[k].contribution for k in rest))
        error = self.found.error(list(rest))
        merged = Contribution(f"and {len(rest)} others", "", "", together, error)
        return (*self.parts[: most - 1], merged)

    def as_json(self) -> dict[str, Any]:
        return {
            "row": self.row + 1,
            "score": self.score,
            "mean": self.mean,
            "exact": self.exact,
            "complete": self.found.complete,
            "draws": self.draws,
            "background": self.background,
            "of_rows": self.of_rows,
            "by_weight": self.by_weight,
            "contributions": [dataclasses.asdict(part) for part in self.parts],
        }


def explain_row(
    table: Table,
    model: Model,
    row: int,
    background: Index,
    *,
    against: Table | None = None,
    weights: Array | None = None,
    seed: int = 0,
    listen: Callable[[float, RowDetail | None], bool] = lambda _fraction, _sofar: False,
) -> RowDetail:
    """Compute the contribution of each column to the score of a row.

    Parameters
    ----------
    table : Table
    model : Model
    row : int
    background : ndarray of int
        Rows that it is compared with: those that the model was trained on. If the score is not a
        sum of terms by its form, 10,000 of many are taken evenly.
    against : Table, optional
        Where these rows are, if not in the same table.
    weights : ndarray of shape (rows of the background,), optional
        What each of them weighs; one of weight 0 is not compared with.
    seed : int
    listen : callable
        Receives the share done and what is known so far; stops if it returns True, and keeps it.

    Raises
    ------
    InputError
        If a table lacks columns of the model.
    Stopped
        If stopped before anything is known.
    """
    others = table if against is None else against
    for one in (table, others):
        model.check_columns(one)
    preparation, columns = model.preparation, column_features(model.preparation)
    kept, of_rows = _compared_rows(background, weights, model)
    x = preparation.apply(table, np.array([row], dtype=np.intp))[0]
    Z = preparation.apply(others, kept)
    numbers = {preparation.source(name) for name in preparation.numbers}
    pairs = [(table.column(name), others.column(name)) for name in columns]
    cells = [
        (mine.name, cell_words(mine, row), _usual(mine, theirs, row, kept, mine.name in numbers))
        for mine, theirs in pairs
    ]
    compared = len(kept), of_rows, weights is not None
    detail_of = functools.partial(_detail, row, cells, model.intercept, compared)

    def report(fraction: float, sofar: Contributions | None) -> bool:
        return listen(fraction, None if sofar is None else detail_of(sofar))

    return detail_of(
        contributions(model.scorer, x, Z, list(columns.values()), seed=seed, listen=report)
    )


def _detail(
    row: int,
    cells: list[tuple[str, str, str]],
    intercept: float,
    compared: tuple[int, int, bool],
    found: Contributions,
) -> RowDetail:
    """Set the contributions beside the cells, the largest first."""
    order = np.argsort(-np.abs(found.values), kind="stable")
    figures = np.stack([found.values, found.errors], axis=1).tolist()
    parts = tuple(Contribution(*cells[k], *figures[k]) for k in order.tolist())
    score, mean = found.score + intercept, found.mean + intercept
    found = dataclasses.replace(found, values=found.values[order], noise=found.noise[:, order])
    return RowDetail(row, score, mean, parts, found, *compared)


def _compared_rows(background: Index, weights: Array | None, model: Model) -> tuple[Index, int]:
    """Choose the rows to compare with, and count those that they are chosen from."""
    most = max(2, _MOST_CELLS // max(1, len(model.preparation.feature_names)))
    if weights is not None or not isinstance(model.scorer, SumOfTerms):
        most = min(MOST_ROWS, most)
    if weights is None:
        return evenly(background, most), len(background)
    return by_weight(background, weights, most), int(np.count_nonzero(weights))


def _usual(mine: Column, others: Column, row: int, rows: Index, number: bool) -> str:
    """Describe what the background rows have in a column."""
    cells = without(others.values[rows], others.absent)
    if number and others.kind == "number":
        known = cells[~np.isnan(cells)]
        if not len(known):
            return MISSING
        mean = float(known.mean())
        shown = f"{mean:.4g}".replace("-", "−")
        return f"mean {spell_cell(others, mean) if others.is_date else shown}"
    cell = mine.values[row]
    missing = cell is None or cell != cell
    same = ~others.known()[rows] if missing else (cells == cell).astype(bool)
    return f"the same in {100 * float(same.mean()):.0f} %"


CSV_HEAD = tuple(field.name for field in dataclasses.fields(Contribution))
_NAMED = 3


def score_headline(detail: RowDetail, number: int, others: str, label: str = "") -> str:
    """Describe the difference of a score from the mean.

    ``label`` is the class of the row, if it is known.
    """
    difference, score = detail.score - detail.mean, plain_number(detail.score, 3)
    facts: dict[str, Any] = {"row": number, "score": score, "others": others, "label": label}
    facts["sample"] = detail.background if detail.background < detail.of_rows else None
    if not difference:
        return notice("row_score_equal", **facts).text
    facts |= {"size": plain_number(abs(difference), 3), "above": difference > 0}
    return notice("row_score_apart", **facts).text


def named_contribution(part: Contribution) -> str:
    """Name a column with the row's cell and its contribution."""
    return f"{part.column} = {signed_cell(part.value)} ({_signed(part.contribution)})"


def about(detail: RowDetail) -> list[Notice]:
    """Return the main contributions, precision and the rows compared with."""
    difference, found = detail.score - detail.mean, []
    for code, side in (("contributions_for", difference), ("contributions_against", -difference)):
        main = [named_contribution(part) for part in detail.parts if part.contribution * side > 0][
            :_NAMED
        ]
        found += [notice(code, columns=tuple(main))] if main else []
    if detail.exact:
        found.append(notice("contributions_exact"))
    else:
        worst = max(part.standard_error for part in detail.parts)
        values = {"draws": detail.draws, "error": plain_number(worst, 2)}
        found.append(notice("contributions_sampled", stopped=not detail.found.complete, **values))
    found.append(notice("contributions_of_the_model"))
    rows = {"background": detail.background, "of_rows": detail.of_rows}
    if detail.by_weight:
        found.append(notice("compared_by_weight", **rows))
    elif detail.background < detail.of_rows:
        found.append(notice("compared_with_some", **rows))
    return found


def tip(part: Contribution, *, exact: bool) -> str:
    """Describe a contribution in full."""
    error = "" if exact else f" (standard error {plain_number(part.standard_error, 2)})"
    moved = f"moves the score by {_signed(part.contribution)}{error}"
    if not part.usual:
        return f"{part.column}\ntogether: {moved}"
    return f"{part.column} = {part.value}\n{moved}\nin the rows compared with: {part.usual}"


def as_lines(detail: RowDetail) -> list[tuple[object, ...]]:
    """Return all parts with all digits, as CSV_HEAD names them."""
    return [dataclasses.astuple(part) for part in detail.parts]


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + plain_number(value, 3)


def as_table(detail: RowDetail, most: int) -> str:
    """Return the contributions as aligned lines, the smallest merged."""
    lines = [("column", "value", "moves the score by", "standard error")]
    for part in detail.shown(most):
        error = "" if detail.exact else plain_number(part.standard_error, 2)
        lines.append((part.column, part.value, _signed(part.contribution), error))
    return "\n".join(aligned([line[:3] for line in lines] if detail.exact else lines))
