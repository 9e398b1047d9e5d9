"""Standings as plain data, shown and stored.

Runs are named by their ids; whoever shows the standings looks them up.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import inference, roc
from aucstudio.engine.ensembles.combined import MemberShare
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.project import typed
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.results.summary import LEVEL, WHOLE
from aucstudio.project.runs.record import RunRecord

Band = tuple[float, float]

WAITS, TRAINS, READY, JUDGED = "waiting", "training", "ready", "judged"
LEFT, FAILED = "not begun", "failed"
RUNNING, DONE, TIME, STOPPED = "running", "done", "time", "stopped"


@dataclasses.dataclass(frozen=True)
class Estimate:
    """The criterion on rows that were neither trained on nor had a part in a choice.

    Attributes
    ----------
    value : float
    low, high : float or None
        The blend of the bounds of AUC and partial AUC: never narrower than an interval of the
        blend, for one may be high where the other is low. None where there are too few rows.
    """

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(
        cls,
        criterion: Criterion,
        positive: NDArray[np.bool_],
        scores: NDArray[np.float64],
        weights: NDArray[np.float64] | None = None,
        weight_kind: str = roc.SAMPLING,
        groups: NDArray[np.intp] | None = None,
    ) -> Estimate:
        """Estimate it from scores of rows; with ``groups``, groups are the sampling unit."""
        sampled: roc.Sampled = {"weights": weights, "weight_kind": weight_kind, "groups": groups}
        ranking, share = roc.Ranking.of(positive, scores, **sampled), criterion.share
        parts = [(WHOLE, 1.0 - share), ((criterion.low, criterion.high), share)]
        found = [(inference.interval_of(ranking, *b, LEVEL), s) for b, s in parts if s > 0.0]
        low, high = (float(sum(s * getattr(i, end) for i, s in found)) for end in ("low", "high"))
        value = criterion(positive, scores, weights)
        if not np.isfinite([low, high]).all():
            return cls(value)
        return cls(value, min(low, value), max(high, value))


@dataclasses.dataclass(frozen=True)
class Lead:
    """The best entry minus another one on the held-out rows.

    Attributes
    ----------
    difference : float
        Of the AUC, or of the partial AUC where a range was asked for.
    low, high, p : float or None
        ``p`` is corrected for all the others (Holm).
    reason : str
        Why there is no test.
    """

    difference: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class Standing:
    """One entry: a method with the settings that did best so far, or the combination.

    Attributes
    ----------
    method : str
    state : str
        "waiting", "training", "ready", "judged", "not begun" or "failed".
    params : dict
        The settings that are not as usual.
    settings : str
        Those that set it apart from others, in words.
    tried : int
        How many settings were trained on any fold.
    inner, held_out : Estimate or None
        On rows of the training part, held out in folds, settings and weights chosen without the
        rows judged; on the rows that no choice has seen.
    seconds : float
        What its fits took, all together.
    run : str
        The id of the run that was judged on the held-out rows; empty without one.
    behind : Lead or None
    why : str
        Why it failed, or was not tested.
    area : Estimate or None
        The AUC on the held-out rows; where a range was asked for, the partial AUC of the range.
    """

    method: str
    state: str
    params: dict[str, Any] = dataclasses.field(default_factory=dict)
    settings: str = ""
    tried: int = 0
    inner: Estimate | None = None
    held_out: Estimate | None = None
    seconds: float = 0.0
    run: str = ""
    behind: Lead | None = None
    why: str = ""
    area: Estimate | None = None

    @property
    def optimism(self) -> float | None:
        """How much better it looked where it was chosen."""
        if self.inner is None or self.held_out is None:
            return None
        return self.inner.value - self.held_out.value


@dataclasses.dataclass(frozen=True)
class Milestone:
    """A method with settings that had been trained on all folds, and when."""

    seconds: float
    value: float
    method: str


@dataclasses.dataclass(frozen=True)
class RowCounts:
    """How many rows there are of each class."""

    positives: int
    negatives: int

    @classmethod
    def of(cls, positive: NDArray[np.bool_]) -> RowCounts:
        """Count them."""
        m = int(np.count_nonzero(positive))
        return cls(m, len(positive) - m)

    @property
    def all(self) -> int:
        """Both together."""
        return self.positives + self.negatives


@dataclasses.dataclass(frozen=True)
class OperatingPoint:
    """A threshold on the held-out rows, with its rates there."""

    threshold: float
    fpr: float
    tpr: float


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What a tournament came to, a sentence each; empty where there is nothing to say.

    Attributes
    ----------
    best, threshold : str
        The best model with its figures; its decision threshold.
    rests : str
        The members of a combination.
    runner_up, settles : str
        The second, and the results of the tests.
    simpler : str
        The simplest method that costs little for certain.
    choice : str
        Why the combination, or a single method, is handed over.
    refit : str
        Which rows the model to take away was trained on.
    """

    best: str
    threshold: str = ""
    rests: str = ""
    runner_up: str = ""
    settles: str = ""
    simpler: str = ""
    choice: str = ""
    refit: str = ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return those that are not empty, in the order in which they are read."""
        first = self.best, self.threshold, self.choice, self.refit, self.rests
        return tuple(filter(None, (*first, self.runner_up, self.settles, self.simpler)))


@dataclasses.dataclass(frozen=True)
class Standings:
    """Standings of a search, running or ended.

    Attributes
    ----------
    created : str
        When it began, ISO 8601 with offset.
    fpr_range : (float, float) or None
        What was asked for; None is the AUC.
    share : float
        Weight of the partial AUC of that range in the ranking criterion; the rest is the AUC's.
    budget : float or None
        Seconds; None without a limit.
    validation : Validation
        What is held out.
    preparation : PreparationChoice
    train, held : RowCounts
    entries : tuple of Standing
        The best first.
    course : tuple of Milestone
    ended : str
        "running", "done", "time", "stopped" or "failed".
    spent : float
    fits : int
    doing : str
        What is being done.
    error : str
        Why it failed.
    best, simpler : str
        The runs of the entry that is handed over, and of the simplest one that costs little for
        certain.
    point : OperatingPoint or None
        The threshold of the best model, at the end of the range.
    members : tuple of MemberShare
        Of the best model, if it is a combination.
    verdict : Verdict or None
    remarks : tuple of str
        What was not done, and what the figures are worth.
    id : str
        Its identity, drawn when it begins.
    folds : int
        Of the training rows.
    """

    created: str
    fpr_range: Band | None = None
    share: float = 0.0
    budget: float | None = None
    validation: Validation = dataclasses.field(default_factory=Validation)
    preparation: PreparationChoice = USUAL
    train: RowCounts = RowCounts(0, 0)
    held: RowCounts = RowCounts(0, 0)
    entries: tuple[Standing, ...] = ()
    course: tuple[Milestone, ...] = ()
    ended: str = RUNNING
    spent: float = 0.0
    fits: int = 0
    doing: str = ""
    error: str = ""
    best: str = ""
    simpler: str = ""
    point: OperatingPoint | None = None
    members: tuple[MemberShare, ...] = ()
    verdict: Verdict | None = None
    remarks: tuple[str, ...] = ()
    id: str = ""
    folds: int = 5

    @classmethod
    def begun(cls, fpr_range: Band | None, **known: Any) -> Standings:
        """Return the standings of a tournament that begins now, with an identity of their own."""
        return cls(RunRecord.now(), fpr_range, id=uuid.uuid4().hex, **known)

    @property
    def key(self) -> str:
        """Name under which they are stored: ordered by time and unique."""
        return f"{self.created} {self.id}"

    @property
    def fraction(self) -> float | None:
        """The share of its time that is gone."""
        return None if not self.budget else min(1.0, self.spent / self.budget)

    def of_run(self, run: str) -> Standing | None:
        """Find the entry of a run."""
        return next((one for one in self.entries if run and one.run == run), None)

    def renamed(self, ids: Mapping[str, str]) -> Standings:
        """Return the same with the ids that runs have where they are stored."""
        entries = tuple(
            dataclasses.replace(one, run=ids.get(one.run, one.run)) for one in self.entries
        )
        best, simpler = (ids.get(run, run) for run in (self.best, self.simpler))
        return dataclasses.replace(self, entries=entries, best=best, simpler=simpler)

    def broken_off(self, ended: str, error: str = "") -> Standings:
        """Return the standings of a tournament that was interrupted."""
        entries = tuple(
            dataclasses.replace(one, state=LEFT) if one.state in (WAITS, TRAINS) else one
            for one in self.entries
        )
        return dataclasses.replace(self, entries=entries, ended=ended, error=error, doing="")

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document

    @classmethod
    def from_json(cls, document: object) -> Standings:
        """Read what :meth:`as_json` returned.

        Raises
        ------
        ValueError
            If it is not laid out as one.
        """
        return typed.convert(document, cls)
