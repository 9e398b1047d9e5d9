"""The two classes of a table as masks."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.table import Table
from aucstudio.project.survey.conditions import by_windows

Mask = NDArray[np.bool_]


@dataclasses.dataclass(frozen=True, eq=False)
class Classes:
    """Who is positive, who negative, and what they are called.

    Attributes
    ----------
    names : (str, str)
    positive, negative : ndarray of bool, shape (rows,)
        Rows without a label are neither.
    """

    names: tuple[str, str]
    positive: Mask
    negative: Mask

    @classmethod
    def of(cls, table: Table) -> Classes | None:
        """Find them; None where the table has no positive class, or no other one."""
        if table.label is None or table.positive is None or len(table.classes) < 2:
            return None
        label, wanted = table.column(table.label), table.positive
        cells, one = label.values, label.part(slice(0))
        positive = by_windows(cells, lambda part: table.rule.marks(one.holding(part), wanted))
        known = by_windows(cells, lambda part: one.holding(part).known())
        others = [name for name in table.classes if name != wanted]
        return cls(
            (wanted, others[0] if len(others) == 1 else "the rest"), positive, known & ~positive
        )
