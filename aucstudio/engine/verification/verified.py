"""Result of a verification."""

from __future__ import annotations

import dataclasses

from aucstudio.engine.arrays import Array, Mask, Rows


@dataclasses.dataclass(frozen=True)
class CheckedArea:
    """One area, as the program computes it and as it is counted.

    Attributes
    ----------
    rows : {"training", "held-out"}
    alpha, beta : float
        FPR range; 0 and 1 for the AUC.
    computed, counted : float
    """

    rows: str
    alpha: float
    beta: float
    computed: float
    counted: float

    @property
    def difference(self) -> float:
        """How far they are apart."""
        return abs(self.computed - self.counted)


@dataclasses.dataclass(frozen=True)
class Verified:
    """What was found about one fit.

    Attributes
    ----------
    objective : float
        As the fit reported it.
    gap : float or None
        The certificate that the fit reported.
    counted : float or None
        The objective of its scorer, counted pair by pair or row by row.
    score_difference : float or None
        Largest difference between the scores that were kept and those of the scorer on the rows as
        they were prepared again, training rows and held-out ones; None if it has no size.
    spread : float
        From the least training score to the largest.
    route : str
        How the problem was solved again; empty where it was not.
    solved, bound : float or None
        The objective that was found there, and what no objective is below.
    solution_difference : float or None
        Largest difference of the training scores of the two solutions, a constant aside where the
        problem leaves one free.
    repeated : float or None
        Largest difference between the kept scores and those of the same fit done once more, where
        that is what can be done.
    areas : tuple of CheckedArea
    seconds : float
    reasons : tuple of str
        What could not be done, and why.
    faults : tuple of str
        What does not agree, a sentence each.
    weighted : bool
        Whether rows are weighted, for which no problem is solved again.
    """

    objective: float
    gap: float | None
    counted: float | None
    score_difference: float | None
    spread: float
    route: str
    solved: float | None
    bound: float | None
    solution_difference: float | None
    repeated: float | None
    areas: tuple[CheckedArea, ...]
    seconds: float
    reasons: tuple[str, ...]
    faults: tuple[str, ...]
    weighted: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows that were held out, with their scores as kept; and the FPR range that is reported.

    X are the rows as prepared, where their scores are the scorer's; weights what they weigh, if
    they do not all count once.
    """

    positive: Mask
    scores: Array
    band: tuple[float, float]
    X: Rows | None = None
    weights: Array | None = None
