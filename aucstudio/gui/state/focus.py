"""What all views point at together: one split, one threshold, one row, one pair."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Focus:
    """What a person points at within the chosen run; the same in every view.

    Attributes
    ----------
    split : int
        Which split of the chosen run; every split has a model, and a scale of scores, of its own.
    threshold : float
        Scores above it are called positive; 0 is the model's own.
    row : int or None
        Number of a row of the table.
    pair : (int, int) or None
        Numbers of a positive and a negative row.
    """

    split: int = 0
    threshold: float = 0.0
    row: int | None = None
    pair: tuple[int, int] | None = None
