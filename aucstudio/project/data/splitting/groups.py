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
