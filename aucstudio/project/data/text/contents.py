"""What a delimited text file holds, in arrays or left in DuckDB."""

from __future__ import annotations

import dataclasses
import functools

from aucstudio.project.data.gathering import Cells
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.data.text.rejects import LeftOut, Numbers

# How the numbers of each column are written; None for text.
Formats = dict[int, NumberFormat | None]
Others = dict[int, tuple[tuple[str, int], ...]]


@dataclasses.dataclass(frozen=True, eq=False)
class Contents:
    """What a delimited file holds.

    Attributes
    ----------
    rows : int
        Rows that were kept.
    forms : dict of int to NumberFormat or None
        How the numbers of each column are written; None for text.
    strays : dict of int to str
        For text columns that the sample showed as numbers, a cell that is none.
    left_out : LeftOut
        The rows that were not kept.
    others : dict of int to pairs of text and int
        How cells of columns of numbers are spelled that are none.
    cells : list of Cells
        In the order of the columns; empty where they stay in DuckDB.
    """

    rows: int
    forms: Formats
    strays: dict[int, str]
    left_out: LeftOut
    others: Others = dataclasses.field(default_factory=dict)
    cells: list[Cells] = dataclasses.field(default_factory=list)

    @functools.cached_property
    def row_numbers(self) -> Numbers | None:
        """The places of the rows among all data rows, counted from 1; None if all were kept."""
        return self.left_out.others(self.rows)
