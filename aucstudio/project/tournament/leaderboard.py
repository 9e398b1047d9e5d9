"""What came of a tournament: its entries, with figures within the training rows and beyond."""

from __future__ import annotations

import dataclasses

import numpy as np

from aucstudio.engine import METHODS
from aucstudio.engine.ensembles.combined import CombinationScorer, MemberShare
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.inference import TestResult, settled
from aucstudio.engine.methods.combination._library import Member
from aucstudio.project.runs.experiments.settings_shown import chosen_settings
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.standings import Estimate

COMBINATION = "auc-ensemble"


@dataclasses.dataclass(frozen=True, eq=False)
class Candidate:
    """What may be judged on the held-out rows.

    Attributes
    ----------
    member : Member
    inner : Estimate
        On rows of the training part, held out in folds.
    seconds : float
        What its fits took, all together.
    opened : Member or None
        Who was trained in the folds; None for the combination, which consists of their models.
    """

    member: Member
    inner: Estimate
    seconds: float
    opened: Member | None

    @property
    def settings(self) -> str:
        """Tell the settings that are not as usual, as far as they set it apart from others."""
        return ", ".join(f"{n} = {v}" for n, v in self.member.params if n not in self._alike)

    @property
    def in_words(self) -> str:
        """Tell the same as the form calls it."""
        return chosen_settings(self.member.method, dict(self.member.params), self._alike)

    @property
    def _alike(self) -> tuple[str, ...]:
        own = ("library", "n_folds") if self.opened is None else ()
        return (*own, "random_state", "fpr_range")


@dataclasses.dataclass(frozen=True, eq=False)
class Entry:
    """A method with the settings that did best, or the combination.

    Attributes
    ----------
    candidate : Candidate
    record : RunRecord or None
        Trained on the whole training part and judged on the held-out rows, which no choice has
        seen; None where there was no time for that.
    criterion : Criterion
    rank : int
        How simple it is; 0 is the simplest.
    """

    candidate: Candidate
    record: RunRecord | None
    criterion: Criterion
    rank: int = 0

    @property
    def method(self) -> str:
        """The id of the method."""
        return self.candidate.member.method

    @property
    def settings(self) -> str:
        """Its settings that are not as usual."""
        return self.candidate.settings

    @property
    def seconds(self) -> float:
        """What its fits took, all together."""
        return self.candidate.seconds

    @property
    def inner(self) -> float:
        """The criterion on rows of the training part, held out in folds."""
        return self.candidate.inner.value

    @property
    def title(self) -> str:
        """Its method and settings as the command line takes them."""
        return f"{self.method} ({self.settings})" if self.settings else self.method

    @property
    def name(self) -> str:
        """What people call it."""
        settings = self.candidate.in_words
        return METHODS[self.method].title + (f" ({settings})" if settings else "")

    @property
    def outer(self) -> float:
        """The criterion on the held-out rows; NaN without a record."""
        if self.record is None:
            return float("nan")
        (split,) = self.record.splits
        return self.criterion(split.test_positive, split.test_scores, split.test_weights)

    @property
    def optimism(self) -> float:
        """How much better it looked where it was chosen."""
        return self.inner - self.outer

    @property
    def members(self) -> tuple[MemberShare, ...]:
        """What it consists of, where it is a combination."""
        scorer = None if self.record is None else self.record.splits[0].model.scorer
        return scorer.members if isinstance(scorer, CombinationScorer) else ()


@dataclasses.dataclass(frozen=True, eq=False)
class Duel:
    """The best entry against another one on the held-out rows.

    Attributes
    ----------
    other : Entry
    test : TestResult
        The best one minus the other.
    p : float
        Corrected for all the others (Holm).
    """

    other: Entry
    test: TestResult
    p: float

    @property
    def is_behind(self) -> bool:
        """Whether the other one is worse by its own test, not corrected for the others."""
        return settled(self.test.p) and self.test.difference > 0


@dataclasses.dataclass(frozen=True, eq=False)
class Leaderboard:
    """The result of a tournament.

    Attributes
    ----------
    entries : tuple of Entry
        By falling inner criterion: the order is decided without the held-out rows.
    duels : tuple of Duel
    band : (float, float)
        Of the partial AUC that is shown.
    fpr_range : (float, float) or None
        What was asked for; None is the AUC.
    criterion : Criterion
    ended : {"done", "time", "stopped"}
    spent : float
    fits : int
    not_begun, failed : tuple of str
    notes : tuple of str
    unsaved : str
    unseen : bool
        Whether no held-out row is a training row too, as far as that can be told.
    """

    entries: tuple[Entry, ...]
    duels: tuple[Duel, ...]
    band: tuple[float, float]
    fpr_range: tuple[float, float] | None
    criterion: Criterion
    ended: str
    spent: float
    fits: int
    not_begun: tuple[str, ...]
    failed: tuple[str, ...]
    notes: tuple[str, ...]
    unsaved: str = ""
    unseen: bool = True

    @property
    def simplest(self) -> Duel | None:
        """The simplest entry that the held-out rows do not tell from the best, if one is simpler.

        By its own test: corrected for many, a difference would be hardest to see where most
        methods take part. Where nothing can be tested, nothing is told apart.
        """
        best = self.best
        simpler = [
            duel
            for duel in self.duels
            if best is not None and duel.other.rank < best.rank and not duel.is_behind
        ]
        return min(simpler, key=lambda duel: duel.other.rank, default=None)

    @property
    def best(self) -> Entry | None:
        """The first that was judged on the held-out rows."""
        return next((entry for entry in self.entries if entry.record is not None), None)


def in_order(entries: list[Entry]) -> tuple[Entry, ...]:
    """Sort by falling inner criterion; the simpler one, which comes first, wins a tie."""
    return tuple(entries[k] for k in np.argsort([-one.inner for one in entries], kind="stable"))
