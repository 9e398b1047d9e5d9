"""Leaderboard of a search."""

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
from aucstudio.project.tournament.candidate_comparison import Contest, Selection
from aucstudio.project.tournament.standings import JUDGED, READY, Estimate, Lead, Standing

COMBINATION = "auc-ensemble"

MOST_COMPLEX = 9
"""The rank of the combination."""

MOST_COST = 0.02
"""Most that a simpler method may cost, in AUC or partial AUC, to be offered."""


@dataclasses.dataclass(eq=False)
class Entry:
    """A method with the settings that did best, or the combination.

    Attributes
    ----------
    member : Member
    estimate : Estimate
        On rows of the training part, held out in folds, that had no part in the choice of its
        settings or weights.
    seconds : float
        Time of all its fits.
    opened : Member or None
        The member that was trained in the folds; None for the combination of their models.
    criterion : Criterion
    rank : int
        How simple it is; 0 is the simplest.
    record : RunRecord or None
        Trained on the whole training part and judged on the held-out rows, which no choice has
        seen; None where there was no time for that.
    held_out, area : Estimate or None
        The criterion on the held-out rows, and the AUC; where a range was asked for, its partial
        AUC.
    why : str
        Why it was not judged on the held-out rows.
    failed : bool
        Whether that was tried and failed.
    """

    member: Member
    estimate: Estimate
    seconds: float
    opened: Member | None
    criterion: Criterion
    rank: int = MOST_COMPLEX
    record: RunRecord | None = None
    held_out: Estimate | None = None
    area: Estimate | None = None
    why: str = ""
    failed: bool = False

    @classmethod
    def of_method(cls, contest: Contest, method: str, choice: Selection | None = None) -> Entry:
        """Return the entry of a method that is trained on all folds."""
        best = contest.best_of(method)
        outcome = contest.outcomes[best, 0]
        assert not isinstance(outcome, Exception)
        chosen = choice is not None and best == choice.member
        inner = choice.inner if chosen and choice is not None else contest.estimate(method)
        rank = simplicity(best, outcome[0])
        return cls(best, inner, contest.spent_on(method), best, contest.criterion, rank)

    def judge(self, record: RunRecord) -> None:
        """Take in a run on the held-out rows."""
        (split,) = record.splits
        sampled = split.test_weights, split.weight_kind, split.test_groups
        rows = split.test_positive, split.test_scores, *sampled
        alone = dataclasses.replace(self.criterion, share=float(self.criterion.share > 0.0))
        self.record, self.held_out = record, Estimate.of(self.criterion, *rows)
        self.area = Estimate.of(alone, *rows)

    def standing(self, tried: int = 0) -> Standing:
        """Return the entry as plain data."""
        return Standing(
            self.method,
            READY if self.record is None else JUDGED,
            dict(self.member.params),
            self.settings,
            tried,
            self.estimate,
            self.held_out,
            self.seconds,
            "" if self.record is None else self.record.id,
            why=self.why,
            area=self.area,
        )

    @property
    def method(self) -> str:
        """The id of the method."""
        return self.member.method

    @property
    def settings(self) -> str:
        """The settings that are not the default, as far as they set it apart from others."""
        return ", ".join(f"{n} = {v}" for n, v in self.member.params if n not in self._alike)

    @property
    def _alike(self) -> tuple[str, ...]:
        own = ("library", "n_folds") if self.opened is None else ()
        return (*own, "random_state", "fpr_range")

    @property
    def inner(self) -> float:
        """The criterion within the training part."""
        return self.estimate.value

    @property
    def outer(self) -> float:
        """The criterion on the held-out rows; NaN without a record."""
        return float("nan") if self.held_out is None else self.held_out.value

    @property
    def optimism(self) -> float:
        """How much better it looked where it was chosen."""
        return self.inner - self.outer

    @property
    def title(self) -> str:
        """Its method and settings as the command line takes them."""
        return f"{self.method} ({self.settings})" if self.settings else self.method

    @property
    def name(self) -> str:
        """What people call it."""
        settings = chosen_settings(self.method, dict(self.member.params), self._alike)
        return DECLARED[self.method].title + (f" ({settings})" if settings else "")

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

    choice: Selection | None = None
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
        """The first entry tested on the held-out rows."""
        return next((entry for entry in self.entries if entry.record is not None), None)


def simplicity(member: Member, scorer: Scorer) -> int:
    """Return how simple a model is: 0 for a weighted sum, then curves, trees, and all others."""
    if scorer.kind == "linear":
        return 0
    shapes = ("a curve per feature", "thresholds", "one tree", "trees")
    shape = DECLARED[member.method].shape
    return 1 + shapes.index(shape) if shape in shapes else 1 + len(shapes)
