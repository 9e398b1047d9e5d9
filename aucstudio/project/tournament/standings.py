"""Standings of a search as plain data, shown and stored.

Runs are referred to by their ids.
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
from aucstudio.engine.ensembles.selection import Criterion
from aucstudio.notices import text
from aucstudio.project import typed
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.summary import LEVEL, WHOLE
from aucstudio.project.runs.planning import DEFAULT_BAND
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.settings_shown import method_words
from aucstudio.project.typed import plain

Band = tuple[float, float]

COMBINATION = "auc-ensemble"
"""The method of the entry that combines all others."""

WAITS, TRAINS, READY, JUDGED = "waiting", "training", "ready", "judged"
LEFT, FAILED, UNABLE = "not begun", "failed", "not possible"
RUNNING, DONE, TIME, STOPPED = "running", "done", "time", "stopped"


@dataclasses.dataclass(frozen=True)
class CriterionEstimate:
    """The ranking criterion on rows that were used for no fit and no selection.

    Attributes
    ----------
    value : float
    low, high : float or None
        Weighted means of the limits of AUC and partial AUC. They are never narrower than an
        interval of the weighted mean. None if there are too few rows.
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
    ) -> CriterionEstimate:
        """Estimate the criterion from scores; with ``groups``, groups are the sampling unit."""
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
        Of the AUC, or of the partial AUC if a range was requested.
    low, high, p : float or None
        ``p`` is corrected for all the other entries (Holm).
    reason : str
        Why there is no test.
    uncorrected : float or None
        The p-value of this test alone.
    """

    difference: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    reason: str = ""
    uncorrected: float | None = None

    @classmethod
    def of(cls, test: inference.TestResult, corrected: float) -> Lead:
        """Return a test as plain numbers, None for those that are missing."""
        low, high, p, alone = map(plain, (test.low, test.high, corrected, test.p))
        return cls(test.difference, low, high, p, test.reason, alone)

    @property
    def is_significant(self) -> bool:
        """Whether the corrected test rejects that both are equal."""
        return self.p is not None and inference.is_significant(self.p)


@dataclasses.dataclass(frozen=True)
class Standing:
    """One entry: a method with its best settings so far, or the combination.

    Attributes
    ----------
    method : str
    state : str
        "waiting", "training", "ready", "judged", "not begun", "failed" or "not possible".
    params : dict
        The settings that are not the default.
    settings : str
        Those that distinguish it from other entries, as text.
    tried : int
        How many settings were trained on any fold.
    inner, held_out : CriterionEstimate or None
        Cross-validated on the training rows, with settings and weights chosen without the rows
        that are scored; and on the held-out rows, which no selection uses.
    seconds : float
        Total time of its fits.
    run : str
        The id of the run that was tested on the held-out rows; empty if there is none.
    behind : Lead or None
    why : str
        Why it failed, or was not tested.
    area : CriterionEstimate or None
        The AUC on the held-out rows, or the partial AUC if a range was requested.
    """

    method: str
    state: str
    params: dict[str, Any] = dataclasses.field(default_factory=dict)
    settings: str = ""
    tried: int = 0
    inner: CriterionEstimate | None = None
    held_out: CriterionEstimate | None = None
    seconds: float = 0.0
    run: str = ""
    behind: Lead | None = None
    why: str = ""
    area: CriterionEstimate | None = None

    @property
    def optimism(self) -> float | None:
        """The cross-validated criterion minus that on the held-out rows."""
        if self.inner is None or self.held_out is None:
            return None
        return self.inner.value - self.held_out.value

    @property
    def title(self) -> str:
        """The method and its settings in the notation of the command line."""
        return f"{self.method} ({self.settings})" if self.settings else self.method

    @property
    def name(self) -> str:
        """The method and its settings as the window shows them."""
        return method_words(self.method, self.params, alike(self.method))


def measure_words(fpr_range: Band | None, share: float) -> str:
    """Name the ranking criterion, of which a share is the partial AUC of a range."""
    if fpr_range is None:
        return "AUC"
    part = round(100 * share)
    # Of 0 % nothing is known of the rows yet.
    both = part if 0 < part < 100 else None
    return text("best_measure", range=fpr_range, share=both, rest=100 - part)


def alike(method: str) -> tuple[str, ...]:
    """List the settings that do not distinguish an entry from others."""
    own = ("library", "n_folds") if method == COMBINATION else ()
    return (*own, "random_state", "fpr_range")


@dataclasses.dataclass(frozen=True)
class Milestone:
    """The estimate of a method once settings of it were trained on all folds.

    Attributes
    ----------
    seconds : float
        Since the start.
    value : float
        The ranking criterion of the method, with settings chosen without the rows that are scored.
    method : str
    """

    seconds: float
    value: float
    method: str


@dataclasses.dataclass(frozen=True)
class RowCounts:
    """Numbers of rows of each class."""

    positives: int
    negatives: int

    @property
    def all(self) -> int:
        """Number of rows."""
        return self.positives + self.negatives


@dataclasses.dataclass(frozen=True)
class OperatingPoint:
    """A threshold on the held-out rows, with its rates there."""

    threshold: float
    fpr: float
    tpr: float


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The result of a search, one sentence for each attribute; empty if it does not apply.

    Attributes
    ----------
    best, threshold : str
        The best model with its figures; its decision threshold.
    rests : str
        The members of a combination.
    runner_up, settles : str
        The second, and the results of the tests.
    simpler : str
        The simplest method whose loss is small with confidence.
    choice : str
        Why the combination or a single method was selected.
    refit : str
        Which rows the exported model was trained on.
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
        """Return the sentences in reading order."""
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
        The requested range; None for the AUC.
    share : float
        Weight of the partial AUC of that range in the ranking criterion; the rest is the AUC's.
    budget : float or None
        Seconds; None without a limit.
    validation : Validation
        Which rows are held out.
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
        The current step.
    error : str
        Why it failed.
    best, simpler : str
        The runs of the selected entry, and of the simplest entry whose loss is small with
        confidence.
    point : OperatingPoint or None
        The threshold of the best model, at the end of the range.
    members : tuple of MemberShare
        Of the best model, if it is a combination.
    verdict : Verdict or None
    remarks : tuple of str
        What was not done, and how reliable the figures are.
    id : str
        A random identity.
    folds : int
        Of the training rows.
    refit : bool
        Whether the best model was refit on all labelled rows.
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
    refit: bool = False

    @classmethod
    def begun(cls, fpr_range: Band | None, **known: Any) -> Standings:
        """Return the standings of a search that begins now, with a new identity."""
        return cls(RunRecord.now(), fpr_range, id=uuid.uuid4().hex, **known)

    @property
    def key(self) -> str:
        """The name under which they are stored: ordered by time and unique."""
        return f"{self.created} {self.id}"

    @property
    def rule(self) -> roc.ThresholdRule:
        """The rule for the decision threshold: the end of the range."""
        return roc.ThresholdRule("fpr", fpr=(self.fpr_range or DEFAULT_BAND)[1])

    @property
    def fraction(self) -> float | None:
        """The share of the time limit that is used up; None before there are candidates."""
        return min(1.0, self.spent / self.budget) if self.budget and self.entries else None

    @property
    def left(self) -> float | None:
        """The seconds of the time limit that are left; None without a limit."""
        return None if not self.budget else max(0.0, self.budget - self.spent)

    def repeats(self, earlier: Standings) -> bool:
        """Whether an earlier search was tested on the same held-out rows."""
        rows, others = ((one.validation, one.train, one.held) for one in (self, earlier))
        return earlier.best != "" and rows == others

    def of_run(self, run: str) -> Standing | None:
        """Find the entry of a run."""
        return next((one for one in self.entries if run and one.run == run), None)

    def renamed(self, ids: Mapping[str, str]) -> Standings:
        """Replace ids of runs by those under which they are stored."""
        entries = tuple(
            dataclasses.replace(one, run=ids.get(one.run, one.run)) for one in self.entries
        )
        best, simpler = (ids.get(run, run) for run in (self.best, self.simpler))
        return dataclasses.replace(self, entries=entries, best=best, simpler=simpler)

    def broken_off(self, ended: str, error: str = "") -> Standings:
        """Return the standings of a search that was interrupted."""
        entries = tuple(
            dataclasses.replace(one, state=LEFT) if one.state in (WAITS, TRAINS) else one
            for one in self.entries
        )
        return dataclasses.replace(self, entries=entries, ended=ended, error=error, doing="")

    def as_json(self) -> dict[str, Any]:
        """Return the standings as plain data."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document

    @classmethod
    def from_json(cls, document: object) -> Standings:
        """Restore from :meth:`as_json`; ValueError if the structure is invalid."""
        return typed.convert(document, cls)
