"""Compare candidates on the training rows: fit members in folds, then select.

A member is fitted on all folds or not at all. Single methods and the combination of all members
are compared on scores of rows that were used for no selection, see
:mod:`aucstudio.engine.crossfit.folds`. Where one member of each method would not fit into the time,
all are trained on the same sample of the rows of each fold, and score all of its held-out rows;
half of the time then remains for fits on all rows.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import threading
import time
import timeit
from collections import Counter
from collections.abc import Callable

import numpy as np

from aucstudio.engine import METHODS
from aucstudio.engine.arrays import Array, Index, Mask, class_counts
from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.crossfit.fitting import CrossFit, Outcome, Task, able, share_trees
from aucstudio.engine.crossfit.folds import (
    best_alone,
    draw_folds,
    fewest_units,
    fold_numbers,
    lead_of,
    nested_scores,
)
from aucstudio.engine.crossfit.members import Member
from aucstudio.engine.ensembles.selection import (
    BAGS,
    MOST_ROWS,
    STEPS,
    Criterion,
    choose_weights,
)
from aucstudio.engine.monitor import Check, Monitor, Stopped
from aucstudio.engine.roc import SAMPLING
from aucstudio.project.runs.rows import in_threads, processors
from aucstudio.project.tournament.standings import (
    COMBINATION,
    FAILED,
    READY,
    TRAINS,
    UNABLE,
    WAITS,
    CriterionEstimate,
    Milestone,
    Standing,
    alike,
)

Report = Callable[[str], object]

ERRORS = 2.0
"""Standard errors by which a single method must lead the combination to be selected."""

MARGIN = 1.2  # of the time after the comparison: predictions miss, and other programs run
CLOSING = 0.5
"""Seconds for intervals and tests."""

_OVERHEAD = 0.05  # seconds of a fit that its estimate leaves out
_BAGS = 5  # of the selections that only estimate the combination
_SHARE = 0.5  # of the time for models of a sample of the rows; the rest is for fits on all
_UNKNOWN = 2.0  # times the estimates: scoring the other rows, and programs that begin to run
_FEWEST = 60  # rows, or groups with rows, of a class in such a sample


@dataclasses.dataclass(frozen=True)
class Selection:
    """A single method or the combination.

    Attributes
    ----------
    member : Member or None
        The single method with its settings; None for the combination.
    inner : CriterionEstimate
        The criterion of the selected model, on rows that were used for no selection.
    lead : float or None
        The criterion of the best single method minus that of the combination, both nested; None
        if there is nothing to compare.
    error : float or None
        Standard error of the lead.
    """

    member: Member | None
    inner: CriterionEstimate
    lead: float | None = None
    error: float | None = None


@dataclasses.dataclass(eq=False)
class CandidateComparison:
    """Fits on the training rows, and estimates from their held-out scores.

    Attributes
    ----------
    X : ndarray of shape (N, d)
    positive : ndarray of bool, shape (N,)
    groups : ndarray of int or None
    weights : ndarray or None
        Of the rows, all above 0.
    criterion : Criterion
    entrants : list of Member
        The most important first, which decides where the order of fits leaves a choice.
    folds, seed : int
    budget : Budget
    growth : float
        Time of the final refit of everything, relative to the time of the comparison; 0 without a
        refit.
    report : callable
        Called with the current step.
    declared : ndarray or None
        The weights in the scale of the table, which matters to frequencies.
    weight_kind : {"sampling", "frequency"}
    pace : float
        Seconds by the clock that this machine takes for one of computing.
    course : list of Milestone
        The estimate of a method whenever one of its members was fitted on all folds.
    every : int
        Models are trained on one row of so many, 1 for all rows.
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
    report: Report
    declared: Array | None = None
    weight_kind: str = SAMPLING
    pace: float = 1.0

    def __post_init__(self) -> None:
        self._folds = draw_folds(self.positive, self.groups, self.folds, self.seed)
        self.seconds: dict[Task, float] = {}
        self.outcomes: dict[Task, Outcome] = {}
        self.not_begun: list[Member] = []
        self.course: list[Milestone] = []
        self._estimates: dict[tuple[Member, ...], CriterionEstimate] = {}
        made, self._unfit = able(self.entrants, *class_counts(self.positive), self.X.shape[1])
        estimators = {member: share_trees(one, self.n_folds) for member, one in made.items()}
        self._at_once = processors()
        self.every = self.sampling(estimators)
        folds = self._folds
        if self.every > 1:
            # With the seed of the folds the sample would be rows of one fold.
            drawn = fold_numbers(self.positive, self.groups, self.every, self.seed + 1) == 0
            folds = [(train[drawn[train]], held) for train, held in folds]
        rows = self.X, self.positive, folds
        self.fits = CrossFit(*rows, estimators, self.criterion, Monitor(), self.weights)
        self._unfit |= self.fits.failed  # by then those that take no weights
        self._expected = {
            member: self._expectation(one, self.every)
            for member, one in estimators.items()
            if member not in self.fits.failed
        }
        self._admitted: dict[Member, bool] = {}
        self._under_way: dict[Task, None] = {}
        self._lock = threading.Lock()
        self._after = 0.0

    def sampling(self, estimators: dict[Member, AUCClassifier]) -> int:
        """Choose the sample so that one member of each method fits into its share of the time."""
        firsts = {member.method: one for member, one in reversed(estimators.items())}.values()
        fits, every = _UNKNOWN * self.pace * self.n_folds / self._at_once, 1
        left, share = self.budget.seconds - self.budget.spent, 1.0 / (1.0 + self.growth)
        most = fewest_units(self.positive, self.groups) // _FEWEST
        while fits * sum(self._expectation(one, every) for one in firsts) > share * left:
            every, share = 2 * every, _SHARE
            if every > most:
                return every // 2
        return every

    def _expectation(self, estimator: AUCClassifier, every: int) -> float:
        """Predict the seconds of a fit on one row of so many of those of a fold."""
        largest = max((len(train) for train, _ in self._folds), default=0) / len(self.positive)
        m, n = (round(largest * count / every) for count in class_counts(self.positive))
        return _OVERHEAD + (estimator.estimate(m, n, self.X.shape[1]).seconds or 0.0)

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self._folds)

    @property
    def ready(self) -> list[Member]:
        """List the members that are fitted on all folds, in the order of the library."""
        return [member for member in self.entrants if member in self.fits.ready]

    @property
    def failed(self) -> dict[Member, str]:
        """Why some members cannot be fitted."""
        return {**self._unfit, **self.fits.failed}

    # ------------------------------------------------------------- fitting

    def run(self) -> None:
        """Fit members until all are fitted or the time is over; the first is always fitted."""
        tasks = [(member, k) for member in self._order() for k in range(self.n_folds)]
        for task, found in in_threads(self._fit, tasks, self._look):
            if found is None or task[0] in self.fits.failed:
                continue
            outcome, self.seconds[task] = found
            self.fits.enter(task, outcome)
            if task[0] not in self.fits.failed:
                self.outcomes[task] = outcome
            if task[0] in self.fits.ready:
                method, spent = task[0].method, self.budget.spent
                value = self._alone(tuple(self.of_method(method))).value
                self.course.append(Milestone(spent, value, method))
                self._after = self.seconds_after()
        self.not_begun = [member for member in self.entrants if member not in self._known]

    def _order(self) -> list[Member]:
        """Order members: the fastest, then one of each method, then a second one of each.

        Among these come those that train for the range, then those that need the least time; of
        models of a sample those that need the least time, so that many methods are tried.
        """
        turns, keys = Counter[str](), {}
        for member, seconds in self._expected.items():
            ranged = self.criterion.share > 0 and "fpr_range" in dict(member.params)
            ranged &= self.every == 1
            keys[member] = turns[member.method], not ranged, round(seconds, 1)
            turns[member.method] += 1
        fastest = min(keys, key=lambda member: keys[member][2], default=None)
        return sorted(keys, key=lambda member: (member != fastest, keys[member]))

    @property
    def _known(self) -> set[Member]:
        return {*self.fits.ready, *self.failed}

    def _look(self) -> bool:
        """Report what is done and what is being fitted; return whether the user stopped it."""
        with self._lock:
            now = list(dict.fromkeys(member.text for member, _ in self._under_way))
        methods = {member.method for member in self.entrants}
        done = f"{len(self.methods())} of {len(methods)} methods tried"
        self.report(" · ".join([done, *now]))
        return self.budget.stopped()

    def _fit(self, task: Task, check: Check) -> tuple[Outcome, float] | None:
        member = task[0]
        if not self._admit(member):
            return None
        is_first = next(iter(self._admitted)) == member

        def over() -> bool:
            return check() or (not is_first and self.budget.is_over(self._after))

        began = self.budget.clock()
        try:
            with self._lock:
                self._under_way[task] = None
            outcome = self.fits.train(task, over)
        except Stopped:  # before there was a scorer
            return None
        finally:
            with self._lock:
                del self._under_way[task]
        # A fit that was cut short is not entered.
        return None if over() else (outcome, self.budget.clock() - began)

    def _admit(self, member: Member) -> bool:
        """Decide once whether a member can be fitted on all folds within the time."""
        with self._lock:
            if member not in self._admitted:
                own = self._time_of(member)
                under_way = [m for m, yes in self._admitted.items() if yes and m not in self.ready]
                left = sum(self._time_of(m) for m in under_way) + own
                needed = (1.0 + (self.growth if self.every == 1 else 0.0)) * left + self._after
                is_first = not self._admitted
                self._admitted[member] = is_first or not self.budget.is_over(needed)
            return self._admitted[member] and member not in self.fits.failed

    def _time_of(self, member: Member) -> float:
        """Predict the seconds of fitting a member on its remaining folds."""
        known = dict(self.seconds)
        own = [seconds for (one, _), seconds in known.items() if one == member]
        expected = sum(self._expected[one] for one, _ in known)
        pace = sum(known.values()) / expected if known else self.pace
        a_fit = float(np.mean(own)) if own else pace * self._expected[member]
        return (self.n_folds - len(own)) * a_fit / self._at_once

    def seconds_after(self) -> float:
        """Predict the seconds that the tests and the final refit will take."""
        testing = sum(map(self.seconds_of_test, (*self.methods(), COMBINATION)))
        nested = self._seconds_of_choice(self.n_folds * _BAGS)
        refit = max(map(self.seconds_of_refit, (*self.methods(), COMBINATION)))
        after = MARGIN * (testing + nested + refit) + CLOSING
        return after if self.every == 1 else min(after, (1.0 - _SHARE) * self.budget.seconds)

    def seconds_of_refit(self, method: str) -> float:
        """Predict the seconds of refitting a method, or the combination, on all labelled rows."""
        if method != COMBINATION:
            return self.growth * self.seconds_of_test(method)
        if self.every > 1:  # which is not done
            return 0.0
        fits = [self.seconds[member, k] for member in self.ready for k in range(self.n_folds)]
        return self.growth * (sum(fits) / self._at_once + self._seconds_of_choice(BAGS))

    def _seconds_of_choice(self, bags: int) -> float:
        """Predict the seconds of choosing weights."""
        evaluations = bags * STEPS * len(self.ready) * (self.criterion.share > 0.0)
        return evaluations * self._evaluation

    def seconds_of_test(self, name: str) -> float:
        """Predict the seconds of fitting a method on all training rows, or combining the folds."""
        if name == COMBINATION:
            return self._seconds_of_choice(BAGS)
        member = self.best_of(name)
        method = METHODS[member.method](**dict(member.params))
        expected = method.estimate(*class_counts(self.positive), self.X.shape[1]).seconds or 0.0
        factor = (_OVERHEAD + expected) / self._expected[member]
        return factor * float(np.mean([self.seconds[member, k] for k in range(self.n_folds)]))

    # ----------------------------------------------------------- selecting

    def methods(self) -> list[str]:
        """List the methods that are fitted on all folds, in the order of the library."""
        return list(dict.fromkeys(member.method for member in self.ready))

    def of_method(self, method: str) -> list[Member]:
        """List the members of a method that are fitted on all folds."""
        return [member for member in self.ready if member.method == method]

    def best_of(self, method: str) -> Member:
        """Return the settings of a method with the highest criterion; the first wins a tie."""
        return max(self.of_method(method), key=self.measure)

    def measure(self, member: Member) -> float:
        """Return the criterion of one member on the scores held out in the folds."""
        return self._alone((member,)).value

    def standing(self, method: str) -> Standing:
        """Return the current state of a method with its best settings."""
        seconds = sum(s for (one, _), s in self.seconds.items() if one.method == method)
        tried = len({one for one, _ in self.outcomes if one.method == method})
        if ready := tuple(self.of_method(method)):
            params = self.best_of(method).params
            hidden = alike(method)
            settings = ", ".join(f"{n} = {v}" for n, v in params if n not in hidden)
            inner = self._alone(ready)
            return Standing(method, READY, dict(params), settings, tried, inner, seconds=seconds)
        own = [one for one in self.entrants if one.method == method]
        reasons = [self.failed[one] for one in own if one in self.failed]
        why = reasons[0] if len(reasons) == len(own) else ""
        unfit = all(one in self._unfit for one in own)
        begun = tried or any(member.method == method for member, _ in dict(self._under_way))
        state = UNABLE if unfit else FAILED if why else TRAINS if begun else WAITS
        return Standing(method, state, dict(own[0].params), "", tried, seconds=seconds, why=why)

    def choose(self) -> Selection:
        """Select the final model by the training rows alone.

        The combination, unless the best single method leads it by :data:`ERRORS` standard errors.
        Of models of a sample the best single one for which there is time, if there is one: it is
        yet to be trained on all rows.
        """
        ready = self.ready
        timely = [m for m in ready if self.every > 1 and not self._is_too_slow(m)]
        best = max(timely or ready, key=self.measure)
        if timely or len(ready) == 1:
            return Selection(best, self._alone((best,)))
        single, combined = self._nested(tuple(ready)), self._combination
        rows = self.criterion, self.positive, single, combined, self.weights, self.groups
        lead, error = lead_of(*rows)
        if lead > ERRORS * error:
            return Selection(best, self._alone(tuple(ready)), lead, error)
        return Selection(None, self.combined, lead, error)

    def _is_too_slow(self, member: Member) -> bool:
        """Return whether no time is left for a fit of a method on all training rows."""
        return self.budget.is_over(MARGIN * self.seconds_of_test(member.method) + CLOSING)

    @functools.cached_property
    def combined(self) -> CriterionEstimate:
        """Criterion of the combination, with weights chosen without the rows that are scored."""
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

    def _alone(self, members: tuple[Member, ...]) -> CriterionEstimate:
        """Estimate the best of some members, chosen without the rows that are scored."""
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
        return np.array([self.fits.scale_up(member) for member in members])

    def _estimated(self, scores: Array) -> CriterionEstimate:
        sampled = self.declared, self.weight_kind, self.groups
        return CriterionEstimate.of(self.criterion, self.positive, scores, *sampled)

    @functools.cached_property
    def _evaluation(self) -> float:
        """The seconds of computing the criterion of a bag: the least, as the first may compile."""
        classes = (np.flatnonzero(of)[:MOST_ROWS] for of in (self.positive, ~self.positive))
        rows = np.concatenate([*classes])
        scores, positive = np.linspace(0.0, 1.0, len(rows)), self.positive[rows]
        return min(timeit.repeat(lambda: self.criterion(positive, scores), number=1))

    def _weights_of(self, rows: Index) -> Array | None:
        return None if self.weights is None else self.weights[rows]


@dataclasses.dataclass(eq=False)
class Budget:
    """The time limit of a search.

    Attributes
    ----------
    seconds : float
    stopped : callable
        Returns whether the user stopped the search.
    clock : callable
        Returns seconds.
    """

    seconds: float = math.inf
    stopped: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._began = self.clock()

    @property
    def limit(self) -> float | None:
        """The seconds; None without a limit."""
        return self.seconds if math.isfinite(self.seconds) else None

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return self.clock() - self._began

    def is_over(self, reserve: float = 0.0) -> bool:
        """Return whether nothing more may begin; ``reserve`` seconds are needed afterwards."""
        return self.stopped() or self.spent + reserve >= self.seconds
