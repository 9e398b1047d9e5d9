"""Comparison on the training rows: members trained in folds, and the selection.

Every member is trained on all folds or not begun. Single methods and the combination of all
members are compared on scores of rows that had no part in any choice, see
:mod:`aucstudio.engine.crossfit.nested`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import threading
import time
from collections.abc import Callable

import numpy as np

from aucstudio.engine import DECLARED, METHODS
from aucstudio.engine.crossfit.fitting import CrossFit, Outcome, Task, able, share_trees
from aucstudio.engine.crossfit.folds import counts, draw_folds
from aucstudio.engine.crossfit.members import Member
from aucstudio.engine.crossfit.nested import best_alone, lead_of, nested_scores
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.ensembles.selection import BAGS, STEPS, choose_weights
from aucstudio.engine.monitor import Check, Monitor, Stopped
from aucstudio.engine.roc import SAMPLING
from aucstudio.engine.types import Array, Index, Mask
from aucstudio.project.runs.parallel_parts import processors, side_by_side
from aucstudio.project.tournament.standings import Estimate
from aucstudio.project.words import counted

Tell = Callable[[str, float | None], object]

ERRORS = 2.0
"""Standard errors by which a single method must lead the combination to be handed over."""

_MARGIN = 1.2  # of what comes after the contest: predictions miss, and machines have other work
CLOSING = 0.5
"""Seconds for intervals and tests."""

_OVERHEAD = 0.05  # seconds of a fit that its estimate leaves out
_BAGS = 5  # of the selections that only judge the combination


@dataclasses.dataclass(frozen=True)
class Selection:
    """What is handed over: a single method, or the combination.

    Attributes
    ----------
    member : Member or None
        The single method with its settings; None for the combination.
    inner : Estimate
        The criterion of what is handed over, on rows that had no part in the choice.
    lead : float or None
        The criterion of the best single method minus that of the combination, both nested; None
        where there is nothing to compare.
    error : float or None
        Standard error of the lead.
    """

    member: Member | None
    inner: Estimate
    lead: float | None = None
    error: float | None = None


@dataclasses.dataclass(eq=False)
class Contest:
    """What has been trained on the training rows.

    Attributes
    ----------
    X : ndarray of shape (N, d)
    positive : ndarray of bool, shape (N,)
    groups : ndarray of int or None
    weights : ndarray or None
        Of the rows, all above 0.
    criterion : Criterion
    entrants : list of Member
        The most important first; the fastest is trained before all others.
    folds, seed : int
    budget : Budget
    growth : float
        Time of training everything once more in the end, relative to the time in the contest; 0
        where nothing is trained again.
    tell : callable
        Called with what is being done, and the share of the time that is over.
    declared : ndarray or None
        The weights as the table has them, whose scale matters to frequencies.
    weight_kind : {"sampling", "frequency"}
    course : list of (float, Member)
        Members that were trained on all folds, and after how many seconds.
    """

    X: Array
    positive: Mask
    groups: Index | None
    weights: Array | None
    criterion: Criterion
    entrants: list[Member]
    folds: int
    seed: int
    budget: Budget
    growth: float
    tell: Tell
    declared: Array | None = None
    weight_kind: str = SAMPLING

    def __post_init__(self) -> None:
        self._folds = draw_folds(self.positive, self.groups, self.folds, self.seed)
        self.seconds: dict[Task, float] = {}
        self.outcomes: dict[Task, Outcome] = {}
        self.not_begun: list[Member] = []
        self.course: list[tuple[float, Member]] = []
        self._estimates: dict[tuple[Member, ...], Estimate] = {}
        made, too_large = able(self.entrants, *counts(self.positive), self.X.shape[1])
        unable = [] if self.weights is None else self.entrants
        unable = [m for m in unable if not DECLARED[m.method].takes_weights]
        self._unfit = too_large | dict.fromkeys(unable, "it takes no row weights")
        dealt = {
            member: share_trees(made[member], self.n_folds)
            for member in self.entrants
            if member not in self._unfit
        }
        field = self.X, self.positive, self._folds, dealt, self.criterion
        self.board = CrossFit(*field, Monitor(), self.weights)
        largest = max((len(train) for train, _ in self._folds), default=0) / len(self.positive)
        m, n = (round(largest * count) for count in counts(self.positive))
        self._expected = {
            member: _OVERHEAD + (one.estimate(m, n, self.X.shape[1]).seconds or 0.0)
            for member, one in dealt.items()
        }
        self._admitted: dict[Member, bool] = {}
        self._lock, self._at_once = threading.Lock(), processors()
        self._a_look = _seconds_of_a_look(self.criterion, self.positive)
        self._after = 0.0

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self._folds)

    @property
    def ready(self) -> list[Member]:
        """List the members that are trained on all folds, in the order of the library."""
        return [member for member in self.entrants if member in self.board.ready]

    @property
    def failed(self) -> dict[Member, str]:
        """Why some members cannot be trained."""
        return {**self._unfit, **self.board.failed}

    # ------------------------------------------------------------- training

    def play(self) -> None:
        """Train members until all are trained or the time is over; the first is always trained."""
        fastest = min(self._expected, key=lambda member: self._expected[member], default=None)
        order = sorted(self._expected, key=lambda member: member != fastest)
        tasks = [(member, k) for member in order for k in range(self.n_folds)]
        for task, found in side_by_side(self._work, tasks, self.budget.stopped):
            if found is None or task[0] in self.board.failed:
                continue
            outcome, self.seconds[task] = found
            self.board.enter(task, outcome)
            if task[0] not in self.board.failed:
                self.outcomes[task] = outcome
            if task[0] in self.board.ready:
                self.course.append((self.budget.spent, task[0]))
                self._after = self._time_after()
            share = min(1.0, self.budget.spent / self.budget.seconds)
            self.tell(f"{counted(len(self.outcomes), 'fit')}, {task[0].text}", share or None)
        known = {*self.board.ready, *self.failed}
        self.not_begun = [member for member in self.entrants if member not in known]

    def _work(self, task: Task, check: Check) -> tuple[Outcome, float] | None:
        member = task[0]
        if not self._admit(member):
            return None
        is_first = next(iter(self._admitted)) == member

        def over() -> bool:
            return check() or (not is_first and self.budget.is_over(self._after))

        began = self.budget.clock()
        try:
            outcome = self.board.train(task, over)
        except Stopped:  # before there was anything to score with
            return None
        # What was stopped half-way is not entered.
        return None if over() else (outcome, self.budget.clock() - began)

    def _admit(self, member: Member) -> bool:
        """Decide once whether a member can be trained on all folds within the time."""
        with self._lock:
            if member not in self._admitted:
                own = self._time_of(member)
                under_way = [m for m, yes in self._admitted.items() if yes and m not in self.ready]
                left = sum(self._time_of(m) for m in under_way) + own
                needed = (1.0 + self.growth) * left + self._after
                is_first = not self._admitted
                self._admitted[member] = is_first or not self.budget.is_over(needed)
            return self._admitted[member] and member not in self.board.failed

    def _time_of(self, member: Member) -> float:
        """Predict the seconds of training a member on the folds that are left."""
        known = dict(self.seconds)
        own = [seconds for (one, _), seconds in known.items() if one == member]
        expected = sum(self._expected[one] for one, _ in known)
        pace = sum(known.values()) / expected if known else 1.0
        a_fit = float(np.mean(own)) if own else pace * self._expected[member]
        return (self.n_folds - len(own)) * a_fit / self._at_once

    def _time_after(self) -> float:
        """Predict the seconds of what comes after: judging, and training the winner once more."""
        fits = [self.seconds[member, k] for member in self.ready for k in range(self.n_folds)]
        judging = [self.seconds_alone(self.best_of(method)) for method in self.methods()]
        again = self.growth * sum(fits) / self._at_once
        # Weights are chosen for the nested estimate, for the judged model, and for the final one.
        bags = (self.n_folds * _BAGS + (1.0 + self.growth) * BAGS) * (self.criterion.share > 0.0)
        looks = bags * STEPS * len(self.ready) * self._a_look
        return _MARGIN * (again + sum(judging) + looks) + CLOSING

    def fit_seconds(self, member: Member) -> float:
        """Average the time of a fit."""
        return float(np.mean([self.seconds[member, k] for k in range(self.n_folds)]))

    def seconds_alone(self, member: Member) -> float:
        """Predict the seconds of training a member as it is on all training rows."""
        method = METHODS[member.method](**dict(member.params))
        expected = method.estimate(*counts(self.positive), self.X.shape[1]).seconds or 0.0
        factor = (_OVERHEAD + expected) / self._expected[member]
        return factor * self.fit_seconds(member)

    def spent_on(self, method: str) -> float:
        """Add up the time of all fits of a method."""
        return sum(s for (one, _), s in self.seconds.items() if one.method == method)

    def tried(self, method: str) -> int:
        """Count the settings of a method that were trained on any fold."""
        return len({one for one, _ in self.outcomes if one.method == method})

    # ------------------------------------------------------------- judging

    def methods(self) -> list[str]:
        """List the methods that are trained on all folds, in the order of the library."""
        return list(dict.fromkeys(member.method for member in self.ready))

    def of_method(self, method: str) -> list[Member]:
        """List the members of a method that are trained on all folds."""
        return [member for member in self.ready if member.method == method]

    def best_of(self, method: str) -> Member:
        """Return the settings of a method with the highest criterion; the first wins a tie."""
        return max(self.of_method(method), key=self.measure)

    def measure(self, member: Member) -> float:
        """Return the criterion of one member on the scores held out in the folds."""
        return self._alone((member,)).value

    def estimate(self, method: str) -> Estimate:
        """Estimate the criterion of a method, its settings chosen without the rows tested."""
        return self._alone(tuple(self.of_method(method)))

    def choose(self) -> Selection:
        """Decide what is handed over, by the training rows alone.

        The combination, unless the best single method leads it by :data:`ERRORS` standard errors.
        """
        ready = self.ready
        best = max(ready, key=self.measure)
        if len(ready) == 1:
            return Selection(best, self._alone((best,)))
        single, combined = self._nested(tuple(ready)), self._combination
        rows = self.criterion, self.positive, single, combined, self.weights, self.groups
        lead, error = lead_of(*rows)
        if lead > ERRORS * error:
            return Selection(best, self._alone(tuple(ready)), lead, error)
        return Selection(None, self.combined, lead, error)

    @functools.cached_property
    def combined(self) -> Estimate:
        """Criterion of the combination, with weights chosen without the rows tested."""
        return self._estimated(self._combination)

    @functools.cached_property
    def _combination(self) -> Array:
        scores = self._scores(tuple(self.ready))

        def score(k: int, rows: Index, held: Index) -> Array:
            rng, weights = np.random.default_rng((self.seed, k)), self._weights_of(rows)
            part = scores[:, rows], self.positive[rows], self.criterion, rng
            chosen = choose_weights(*part, bags=_BAGS, row_weights=weights)
            return np.asarray(chosen @ scores[:, held])

        return nested_scores(self._folds, score)

    def _alone(self, members: tuple[Member, ...]) -> Estimate:
        """Estimate the criterion of the best of some members, chosen without the rows tested."""
        if members not in self._estimates:
            self._estimates[members] = self._estimated(self._nested(members))
        return self._estimates[members]

    def _nested(self, members: tuple[Member, ...]) -> Array:
        scores = self._scores(members)
        if len(members) == 1:
            return np.asarray(scores[0])

        def score(_: int, rows: Index, held: Index) -> Array:
            part = scores[:, rows], self.positive[rows], self.criterion, self._weights_of(rows)
            return np.asarray(scores[best_alone(*part), held])

        return nested_scores(self._folds, score)

    def _scores(self, members: tuple[Member, ...]) -> Array:
        return np.array([self.board.scale_up(member) for member in members])

    def _estimated(self, scores: Array) -> Estimate:
        sampled = self.declared, self.weight_kind, self.groups
        return Estimate.of(self.criterion, self.positive, scores, *sampled)

    def _weights_of(self, rows: Index) -> Array | None:
        return None if self.weights is None else self.weights[rows]


def _seconds_of_a_look(criterion: Criterion, positive: Mask) -> float:
    """Measure the time of computing the criterion once."""
    scores = np.linspace(0.0, 1.0, len(positive))
    criterion(positive, scores)  # the first call may compile it
    began = time.perf_counter()
    criterion(positive, scores)
    return time.perf_counter() - began


@dataclasses.dataclass(eq=False)
class Budget:
    """The time to be spent.

    Attributes
    ----------
    seconds : float
    stopped : callable
        Returns whether a person wants it to end.
    clock : callable
        Returns seconds.
    head_start : float
        Seconds that were spent before.
    """

    seconds: float = math.inf
    stopped: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic
    head_start: float = 0.0

    def __post_init__(self) -> None:
        self._began = self.clock()

    @property
    def limit(self) -> float | None:
        """The seconds; None without a limit."""
        return self.seconds if math.isfinite(self.seconds) else None

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return self.head_start + self.clock() - self._began

    def is_over(self, reserve: float = 0.0) -> bool:
        """Return whether nothing more may begin; ``reserve`` seconds are needed afterwards."""
        return self.stopped() or self.spent + reserve >= self.seconds
