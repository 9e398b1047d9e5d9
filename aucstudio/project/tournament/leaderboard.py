"""The result of a tournament: its entries, with figures within the training rows and beyond."""

from __future__ import annotations

import dataclasses

from aucstudio.engine import DECLARED
from aucstudio.engine.crossfit.members import Member
from aucstudio.engine.ensembles.combined import CombinationScorer, MemberShare
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.inference import TestResult
from aucstudio.engine.scorers import Scorer
from aucstudio.project.results.summary import number
from aucstudio.project.runs.experiments.settings_shown import chosen_settings
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.contest import Choice
from aucstudio.project.tournament.standings import Estimate, Lead

COMBINATION = "auc-ensemble"

MOST_COMPLEX = 9
"""The rank of the combination."""

MOST_COST = 0.02
"""Most that a simpler method may cost, in AUC or partial AUC, to be offered."""


@dataclasses.dataclass(frozen=True, eq=False)
class Candidate:
    """An entry that may be judged on the held-out rows.

    Attributes
    ----------
    member : Member
    inner : Estimate
        On rows of the training part, held out in folds, that had no part in the choice of its
        settings or weights.
    seconds : float
        Time of all its fits.
    opened : Member or None
        The member that was trained in the folds; None for the combination of their models.
    """

    member: Member
    inner: Estimate
    seconds: float
    opened: Member | None

    @property
    def settings(self) -> str:
        """The settings that are not the default, as far as they set it apart from others."""
        return ", ".join(f"{n} = {v}" for n, v in self.member.params if n not in self._alike)

    @property
    def in_words(self) -> str:
        """The same in the words of the form."""
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
    why : str
        Why it was not judged on the held-out rows.
    """

    candidate: Candidate
    record: RunRecord | None
    criterion: Criterion
    rank: int = 0
    why: str = ""

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
        """The criterion within the training part, see :class:`Candidate`."""
        return self.candidate.inner.value

    @property
    def title(self) -> str:
        """Its method and settings as the command line takes them."""
        return f"{self.method} ({self.settings})" if self.settings else self.method

    @property
    def name(self) -> str:
        """What people call it."""
        settings = self.candidate.in_words
        return DECLARED[self.method].title + (f" ({settings})" if settings else "")

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
    """The entry that is handed over against another one on the held-out rows.

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
    def cost(self) -> float:
        """The most that taking the other one may cost: the upper limit of the interval."""
        return self.test.high

    @property
    def lead(self) -> Lead:
        """The difference as plain numbers, None where there is none."""
        test = self.test
        ends = number(test.low), number(test.high), number(self.p)
        return Lead(test.difference, *ends, test.reason)


@dataclasses.dataclass(frozen=True, eq=False)
class Leaderboard:
    """The result of a tournament.

    Attributes
    ----------
    entries : tuple of Entry
        The one that is handed over, then the others by falling inner criterion: the order is
        decided without the held-out rows.
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
        Whether no held-out row is a training row too, as far as is known.
    choice : Choice or None
        Why the first entry is handed over.
    model : Model or None
        That of the first entry, trained once more on all labelled rows.
    not_refit : str
        Why there is none; empty where the model that was judged was trained on all rows.
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

    choice: Choice | None = None
    model: Model | None = None
    not_refit: str = ""

    @property
    def simplest(self) -> Duel | None:
        """The simplest entry that costs less than :data:`MOST_COST` for certain, if one is simpler.

        Where the held-out rows are too few to exclude a larger loss, none is offered.
        """
        best = self.best
        simpler = [
            duel
            for duel in self.duels
            if best is not None and duel.other.rank < best.rank and duel.cost <= MOST_COST
        ]
        return min(simpler, key=lambda duel: duel.other.rank, default=None)

    @property
    def best(self) -> Entry | None:
        """The first that was judged on the held-out rows."""
        return next((entry for entry in self.entries if entry.record is not None), None)


def in_order(entries: list[Entry], first: Candidate | None) -> tuple[Entry, ...]:
    """Sort by falling inner criterion, after the one that is handed over."""
    places = sorted(entries, key=lambda one: (one.candidate is not first, -one.inner))
    return tuple(places)


def simplicity(member: Member, scorer: Scorer) -> int:
    """Return how simple a model is: 0 for a weighted sum, then curves, trees, and all others."""
    if scorer.kind == "linear":
        return 0
    shapes = ("a curve per feature", "thresholds", "one tree", "trees")
    shape = DECLARED[member.method].shape
    return 1 + shapes.index(shape) if shape in shapes else 1 + len(shapes)
