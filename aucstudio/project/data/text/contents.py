"""What a delimited text file holds, in arrays or left in DuckDB."""

from __future__ import annotations

import dataclasses

from aucstudio.project.data.gathering import Cells
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.data.text.rejects import (
    Numbers,
    Rejected,
)

# How the numbers of each column are written; None for text.
Formats = dict[int, NumberFormat | None]
Others = dict[int, tuple[tuple[str, int], ...]]


@dataclasses.dataclass(frozen=True, eq=False)
class Contents:
    """What a delimited file holds.

    Attributes
    ----------
    cells : list of Cells
        In the order of the columns.
    forms : dict of int to NumberFormat or None
        How the numbers of each column are written; None for text.
    strays : dict of int to str
        For text columns that the sample showed as numbers, a cell that is none.
    rejected : list of Rejected
        The first hundred.
    rejected_rows : int
    row_numbers : ndarray of int64, shape (rows,), or None
        The place of each row among the data rows of the file, counted from 1, those that were left
        out included; None if there are none.
    others : dict of int to pairs of text and int
        How cells of columns of numbers are spelled that are none.
    astray : pair of int
        See :class:`~aucstudio.project.data.text.rejects.LeftOut`.
    """

    cells: list[Cells]
    forms: Formats
    strays: dict[int, str]
    rejected: list[Rejected]
    rejected_rows: int
    row_numbers: Numbers | None
    others: Others = dataclasses.field(default_factory=dict)
    astray: tuple[int, int] = (0, 0)


@dataclasses.dataclass(frozen=True, eq=False)
class Kept:
    """The same where the cells stay in DuckDB; ``rows`` is how many there are."""

    rows: int
    forms: Formats
    strays: dict[int, str]
    rejected: list[Rejected]
    rejected_rows: int
    row_numbers: Numbers | None
    others: Others = dataclasses.field(default_factory=dict)
    astray: tuple[int, int] = (0, 0)
