"""Groups of rows that share a value, and random splits of whole groups, balanced by class."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.arrays import Index, Mask
from aucstudio.project.data.columns import spell_number

if TYPE_CHECKING:
    from aucstudio.project.data.any_table import AnyTable


_WINDOW = 100_000
_ORDERS = 20
_CLOSE = 0.01


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
    codes: Index
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

    def digests(self) -> tuple[NDArray[np.uint64], ...]:
        """Return the sorted digests of the values of each column."""
        return tuple(map(digests, self.values))

    def part(self, rows: Index) -> Groups:
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

    def held_out(self, positive: Mask, share: float, seed: tuple[int, int]) -> Mask:
        """Draw groups that together hold a share of each class, as closely as whole groups can.

        Groups with equal class counts are of one kind. Of each kind the share of groups, rounded
        down, is drawn. One more group of each kind is assigned in random order to the part where it
        brings the shares closer. This is repeated until both shares are within a hundredth, at most
        in twenty orders; the best one is kept.

        Parameters
        ----------
        positive : ndarray of bool
            Each class is in at least two groups.
        share : float
        seed : tuple of int

        Returns
        -------
        ndarray of bool, shape (labelled rows,)
            The rows of the test part. Both parts have rows of both classes.
        """
        from aucstudio.engine.crossfit.folds import GroupKinds

        rng, counts = np.random.default_rng(seed), self.class_counts(positive)
        alike = GroupKinds(counts, rng)
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
        return drawn[self.codes]


def digests(values: Iterable[str]) -> NDArray[np.uint64]:
    """Return sorted digests of distinct values, by which they are recognised but not read."""
    found = [hashlib.blake2b(value.encode(), digest_size=8).digest() for value in values]
    return np.unique(np.frombuffer(b"".join(found), "<u8"))


def find_groups(table: AnyTable, names: Sequence[str]) -> Groups:
    """Find groups of labelled rows by some columns, also of rows connected through other rows."""
    labelled = table.labelled()
    numbers: list[dict[str | float, int]] = [{} for _ in names]
    parts: list[list[Index]] = [[] for _ in names]
    for start, window in table.windows(_WINDOW, names):
        rows = np.flatnonzero(labelled[start : start + window.rows])
        for known, part, name in zip(numbers, parts, names, strict=True):
            part.append(_value_numbers(window.column(name).values[rows], known))
    values = tuple(
        frozenset(v if isinstance(v, str) else spell_number(v) for v in known) for known in numbers
    )
    return Groups(tuple(names), _joined([np.concatenate(part) for part in parts]), values)


def _value_numbers(cells: NDArray[Any], known: dict[str | float, int]) -> Index:
    """Number values in the order of their appearance, -1 where missing; extend those known."""
    numbers = (
        -1 if cell is None or cell != cell else known.setdefault(cell, len(known))
        for cell in cells.tolist()
    )
    return np.fromiter(numbers, dtype=np.intp, count=len(cells))


def _joined(codes: Sequence[Index]) -> Index:
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
    group: Index = labels[:rows].astype(np.intp)
    return group


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
