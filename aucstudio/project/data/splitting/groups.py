"""Groups of rows that share a value of a group column."""

from __future__ import annotations

import dataclasses
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
    """Which labelled rows belong together.

    Attributes
    ----------
    columns : tuple of str
        Rows that share a value in any of them are of one group.
    codes : ndarray of int, shape (labelled rows,)
        The group of each row, numbered from 0 in the order of the first rows.
    values : tuple of frozenset of str
        The values of each column, spelled as text.
    """

    columns: tuple[str, ...]
    codes: Rows
    values: tuple[frozenset[str], ...] = ()

    @property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.codes.max(initial=-1)) + 1

    @property
    def words(self) -> str:
        """Name the columns: ``patient``, or ``patient and clinic``."""
        return " and ".join(self.columns)

    def describe(self) -> str:
        """Describe in a few words which rows are kept together."""
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
        """Return the number of groups of the class with the fewest."""
        return int(np.count_nonzero(self.class_counts(positive), axis=0).min())


def find_groups(
    names: tuple[str, ...], windows: Iterable[tuple[int, Table]], labelled: Mask
) -> Groups:
    """Find the labelled rows that belong together, directly or through others.

    Parameters
    ----------
    names : tuple of str
        The columns.
    windows : iterable of (int, Table)
        The rows, some at a time: the number of the first, and their cells.
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
    """Find the labelled rows of a table that belong together by some of its columns."""
    return find_groups(names, table.windows(table.rows, names), table.labelled())


def _joined(codes: Sequence[Rows]) -> Rows:
    """Number the groups that rows form by their values; -1 joins a row to none."""
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
    # Rows come before values among the nodes, so that groups are numbered by their first rows.
    group: Rows = labels[:rows].astype(np.intp)
    return group


class _Values:
    """Numbers the values of a column as they come."""

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
