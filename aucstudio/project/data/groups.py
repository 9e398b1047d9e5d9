"""Groups of rows that share a value, and random splits of whole groups, balanced by class."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.project.data.columns import Column, spell_number

if TYPE_CHECKING:
    from aucstudio.project.data.any_table import AnyTable
    from aucstudio.project.data.table import Table


Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]


@dataclasses.dataclass(frozen=True, eq=False)
class Groups:
    """Groups of labelled rows.

    Attributes
    ----------
    columns : tuple of str
        Rows that share a value of any of these columns are in one group.
    codes : ndarray of int, shape (labelled rows,)
        The group of each row, numbered from 0 by its first row.
    values : tuple of frozenset of str
        The values of each column, spelled as text.
    """

    columns: tuple[str, ...]
    codes: Rows
    values: tuple[frozenset[str], ...] = ()

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self.codes.max(initial=-1)) + 1

    @property
    def words(self) -> str:
        """Name the columns: ``patient``, or ``patient and clinic``."""
        return " and ".join(self.columns)

    def describe(self) -> str:
        """Describe which rows are kept together."""
        return f"grouped by {self.words} ({self.count:,} group{'s' * (self.count != 1)})"

    def part(self, rows: Rows) -> Groups:
        """Return the groups of some of the labelled rows, renumbered."""
        _, codes = np.unique(self.codes[rows], return_inverse=True)
        return Groups(self.columns, codes.astype(np.intp))

    def class_counts(self, positive: Mask) -> NDArray[np.intp]:
        """Count the rows of each group by class: positive and negative, shape (groups, 2)."""
        parts = [
            np.bincount(self.codes[rows], minlength=self.count) for rows in (positive, ~positive)
        ]
        return np.stack(parts, axis=1)

    def fewest(self, positive: Mask) -> int:
        """Return the smaller number of groups that contain a class."""
        return int(np.count_nonzero(self.class_counts(positive), axis=0).min())


def find_groups(
    names: tuple[str, ...], windows: Iterable[tuple[int, Table]], labelled: Mask
) -> Groups:
    """Find groups of labelled rows, also of rows that are connected through other rows.

    Parameters
    ----------
    names : tuple of str
        The columns.
    windows : iterable of (int, Table)
        The rows in windows: the number of the first row, and the cells.
    labelled : ndarray of bool
        Which rows have a label.
    """
    seen = [_Values() for _ in names]
    parts: list[list[Rows]] = [[] for _ in names]
    for start, window in windows:
        rows = np.flatnonzero(labelled[start : start + window.rows])
        for values, part, name in zip(seen, parts, names, strict=True):
            part.append(values.codes(window.column(name), rows))
    found = [np.concatenate(part) for part in parts]
    return Groups(names, _joined(found), tuple(frozenset(values.spelled()) for values in seen))


def groups_by(table: AnyTable, names: tuple[str, ...]) -> Groups:
    """Find the groups of labelled rows of a table by some columns."""
    return find_groups(names, table.windows(table.rows, names), table.labelled())


def _joined(codes: Sequence[Rows]) -> Rows:
    """Number the connected groups of rows; a value of -1 connects nothing."""
    rows = len(codes[0])
    if not rows:
        return codes[0]
    nodes, sources, targets = rows, [], []
    for values in codes:
        known = np.flatnonzero(values >= 0)
        sources.append(known)
        targets.append(nodes + values[known])
        nodes += int(values.max(initial=-1)) + 1
    start, end = np.concatenate(sources), np.concatenate(targets)
    graph = scipy.sparse.coo_array(
        (np.ones(len(start), dtype=np.int8), (start, end)), shape=(nodes, nodes)
    )
    _, labels = scipy.sparse.csgraph.connected_components(graph, directed=False)
    # Rows precede values among the nodes, so that groups are numbered by their first rows.
    group: Rows = labels[:rows].astype(np.intp)
    return group


class _Values:
    """Numbers the values of a column in order of appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str | float, int] = {}

    def codes(self, column: Column, rows: Rows) -> Rows:
        """Return the number of each cell's value, -1 where it is missing."""
        cells = column.values[rows]
        if column.kind == "text":
            numbers = (-1 if cell is None else self._number(cell) for cell in cells)
            return np.fromiter(numbers, dtype=np.intp, count=len(cells))
        known = ~np.isnan(cells)
        values, place = np.unique(cells[known], return_inverse=True)
        found = np.full(len(cells), -1, dtype=np.intp)
        found[known] = np.array([self._number(v) for v in values.tolist()], dtype=np.intp)[place]
        return found

    def _number(self, value: str | float) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def spelled(self) -> list[str]:
        return [v if isinstance(v, str) else spell_number(v) for v in self._numbers]


_ORDERS = 20
_CLOSE = 0.01


def draw_fold_numbers(
    positive: Mask, codes: Rows, counts: NDArray[np.intp], folds: int, seed: int
) -> Rows | None:
    """Assign groups to folds.

    Groups with equal class counts are spread evenly; scikit-learn assigns only the last few of each
    kind so that classes are balanced, because it is slow for many groups.

    Parameters
    ----------
    positive : ndarray of bool
    codes : ndarray of int
        The group of each row.
    counts : ndarray of int, shape (groups, 2)
        Rows of each group by class; each class is in at least as many groups as there are folds.
    folds : int
    seed : int

    Returns
    -------
    ndarray of int or None
        The fold of each row; None if a fold would lack a class.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    alike = _Alike(counts, np.random.default_rng(seed))
    # At least one group per fold of each kind is left to scikit-learn, so that no class is short.
    dealt = np.maximum(alike.members // folds - 1, 0) * folds
    numbers = (alike.place % folds)[codes]
    left = np.flatnonzero((alike.place >= dealt[alike.kind])[codes])
    drawn = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    parts = drawn.split(positive[left], positive[left], codes[left])
    for fold, (_, test) in enumerate(parts):
        numbers[left[test]] = fold
    held = np.zeros((folds, 2), dtype=bool)
    held[numbers, positive.astype(np.intp)] = True
    return numbers if held.all() else None


def draw_test_groups(counts: NDArray[np.intp], share: float, seed: tuple[int, int]) -> Mask:
    """Draw groups that together hold a share of each class, as closely as whole groups can.

    Groups with equal class counts are of one kind. Of each kind the share of groups, rounded down,
    is drawn. One more group of each kind is assigned in random order to the part where it brings
    the shares closer. This is repeated until both shares are within a hundredth, at most in twenty
    orders; the best one is kept.

    Parameters
    ----------
    counts : ndarray of int, shape (groups, 2)
        Rows of each group by class; each class is in at least two groups.
    share : float
    seed : tuple of int

    Returns
    -------
    ndarray of bool, shape (groups,)
        The groups of the test part. Both parts have rows of both classes.
    """
    rng = np.random.default_rng(seed)
    alike = _Alike(counts, rng)
    kinds, kind, members, place = alike.kinds, alike.kind, alike.members, alike.place
    sure = np.floor(share * members).astype(np.intp)
    open_kinds = np.flatnonzero(sure < share * members)
    best, least = None, np.inf
    for _ in range(_ORDERS):
        order = rng.permutation(open_kinds)
        chosen, error = _fill(sure @ kinds, kinds[order], counts.sum(axis=0), share)
        if error < least:
            best, least = order[chosen], error
        if least <= _CLOSE:
            break
    drawn: Mask = place < sure[kind]
    if best is not None:
        also = np.zeros(len(kinds), dtype=bool)
        also[best] = True
        drawn |= also[kind] & (place == sure[kind])
    return drawn


class _Alike:
    """Groups by kind, that is by equal class counts, in random order.

    Attributes
    ----------
    kinds : ndarray of int, shape (kinds, 2)
        Rows by class.
    members : ndarray of int, shape (kinds,)
        Number of groups of each kind.
    kind, place : ndarray of int, shape (groups,)
        The kind of each group, and its position among those of its kind.
    """

    def __init__(self, counts: NDArray[np.intp], rng: np.random.Generator) -> None:
        self.kinds, kind, self.members = np.unique(
            counts, axis=0, return_inverse=True, return_counts=True
        )
        self.kind = kind.ravel()
        shuffled = np.lexsort((rng.random(len(counts)), self.kind))
        first = np.cumsum(self.members) - self.members
        self.place = np.empty(len(counts), dtype=np.intp)
        self.place[shuffled] = np.arange(len(counts)) - first[self.kind[shuffled]]


def _fill(
    held: NDArray[np.intp], groups: NDArray[np.intp], totals: NDArray[np.intp], share: float
) -> tuple[list[int], float]:
    """Add groups to a test part while its share of both classes comes closer to the aim.

    Return the added groups, and the remaining error of the shares.
    """
    positives, negatives = totals.tolist()

    def lacking(p: int, n: int) -> int:
        return sum((not p, not n, p == positives, n == negatives))

    def error(p: int, n: int) -> float:
        return math.hypot(p / positives - share, n / negatives - share)

    p, n = held.tolist()
    chosen: list[int] = []
    # First of all both parts need both classes.
    for k, (more_p, more_n) in enumerate(groups.tolist()):
        if lacking(p + more_p, n + more_n) < lacking(p, n):
            chosen.append(k)
            p, n = p + more_p, n + more_n
    for k, (more_p, more_n) in enumerate(groups.tolist()):
        after = p + more_p, n + more_n
        if k not in chosen and error(*after) < error(p, n) and not lacking(*after):
            chosen.append(k)
            p, n = after
    return chosen, error(p, n)
