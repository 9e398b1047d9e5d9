"""What all views point at together: one split, one threshold, one row, one pair."""

from __future__ import annotations

import dataclasses
from typing import Any

from aucstudio.project.results.choosing import Target, choose
from aucstudio.project.results.stakes import Stakes
from aucstudio.project.runs.record import RunRecord


@dataclasses.dataclass(frozen=True)
class Focus:
    """What a person points at within the chosen run; the same in every view.

    Attributes
    ----------
    split : int
        Which split of the chosen run; every split has a model, and a scale of scores, of its own.
    threshold : float
        Scores above it are called positive; 0 is the model's own.
    target : Target
        What the threshold came from.
    row : int or None
        Number of a row of the table.
    pair : (int, int) or None
        Numbers of a positive and a negative row.
    """

    split: int = 0
    threshold: float = 0.0
    row: int | None = None
    pair: tuple[int, int] | None = None
    target: Target = dataclasses.field(default_factory=Target)

    def moved(
        self, record: RunRecord | None, stakes: Stakes, usual: Target, changes: dict[str, Any]
    ) -> Focus:
        """Point at something else within a run.

        A threshold that is given is a typed one; a target finds its own on the scores of the split;
        on another split the usual target does, as its scores are others.
        """
        focus = dataclasses.replace(self, **changes)
        if record is not None and focus.split >= len(record.splits):
            record = None
        if "threshold" in changes:
            value = focus.threshold
            target = Target.typed(record, focus.split, value) if record else Target()
            return dataclasses.replace(focus, target=target)
        if not {"target", "split"} & set(changes):
            return focus
        target = changes.get("target", usual)
        threshold = choose(record, focus.split, target, stakes).threshold if record else 0.0
        return dataclasses.replace(focus, target=target, threshold=threshold)
