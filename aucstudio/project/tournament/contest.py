"""The contest within the training rows: who is trained on which folds, and who goes on.

First every method with its usual settings, on all folds. Then settings of the best methods by
successive halving: all of them on one fold, the best third on the next, and the best of these on
the folds that are left. What was trained once is kept, also for the combination.

Jamieson and Talwalkar (2016), Non-stochastic best arm identification and hyperparameter
optimization.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import METHODS
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.ensembles.selection import select_in_bags
from aucstudio.engine.methods.combination._board import (
    Board,
    Outcome,
    Task,
    able,
    counts,
    draw_folds,
)
from aucstudio.engine.methods.combination._library import Member
from aucstudio.engine.monitor import Check, Monitor
from aucstudio.project.runs.side_by_side import side_by_side
from aucstudio.project.tournament.budget import Budget
from aucstudio.project.tournament.candidates import of_method, settings_of
from aucstudio.project.tournament.standings import Estimate
from aucstudio.project.words import counted

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Tell = Callable[[str, float | None], object]

_REFINED = 4  # methods whose settings are tried
_KEPT = 3  # one of so many goes on
_BAGS = 5  # of the selections that only judge the combination


@dataclasses.dataclass(eq=False)
class Contest:
    """What has been trained on the training rows.

    Attributes
    ----------
    X : ndarray of shape (N, d)
    positive : ndarray of bool, shape (N,)
    groups : ndarray or None
    weights : ndarray or None
        Of the rows, all above 0.
    criterion : Criterion
    openers : list of Member
        The simplest first.
    folds, seed : int
    budget : Budget
    tell : callable
        Hears in words what is done, and the share of the time that is gone.
    entrants : list of Member
        All openers, those among them that the rows are too many for.
    course : list of (float, Member)
        Who had been trained on all folds after how many seconds.
    """

    X: Array
    positive: Mask
    groups: NDArray[Any] | None
    weights: Array | None
    criterion: Criterion
    openers: list[Member]
    folds: int
    seed: int
    budget: Budget
    tell: Tell

    def __post_init__(self) -> None:
        self._folds = draw_folds(self.positive, self.groups, self.folds, self.seed)
        self.seconds: dict[Task, float] = {}
        self.outcomes: dict[Task, Outcome] = {}
        self.not_begun: list[Member] = []
        self.course: list[tuple[float, Member]] = []
        self._estimates: dict[Member, Estimate] = {}
        self.entrants = self.openers
        unable = [] if self.weights is None else [m for m in self.openers if not _weighs(m)]
        self.openers = [opener for opener in self.openers if opener not in unable]
        variants = {opener: settings_of(opener, self.seed) for opener in self.openers}
        everyone = [*self.openers, *(one for of in variants.values() for one in of)]
        made, too_large = able(everyone, *counts(self.positive), self.X.shape[1])
        self._unfit = too_large | dict.fromkeys(unable, "it takes no row weights")
        self._variants = {k: [one for one in of if one in made] for k, of in variants.items()}
        self.openers = [opener for opener in self.openers if opener in made]
        field = self.X, self.positive, self._folds, made, self.criterion
        self.board = Board(*field, Monitor(), self.weights)

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self._folds)

    @property
    def ready(self) -> list[Member]:
        """List those that are trained on all folds, openers first."""
        everyone = [*self.openers, *(one for of in self._variants.values() for one in of)]
        return [member for member in everyone if member in self.board.ready]

    @property
    def failed(self) -> dict[Member, str]:
        """Why some never will be trained."""
        return {**self._unfit, **self.board.failed}

    def play(self) -> None:
        """Train, for as long as the budget lasts."""
        for k, opener in enumerate(self.openers):
            self._train([opener], range(self.n_folds), always=k == 0)
        best = sorted(self.methods(), key=lambda method: -self.measure(self.best_of(method)))
        chosen = [opener for opener in self.openers if opener.method in best[:_REFINED]]
        self._halve([one for opener in chosen for one in self._variants[opener]])

    def _halve(self, pool: list[Member]) -> None:
        done = 0
        while pool and done < self.n_folds:
            # From the third rung on there is nothing to gain by waiting.
            until = done + 1 if done < 2 else self.n_folds
            self._train(pool, range(done, until))
            done = until
            pool = [one for one in pool if all((one, k) in self.outcomes for k in range(done))]
            pool = sorted(pool, key=lambda one: -self._rung(one, done))
            pool = pool[: max(2, len(pool) // _KEPT)]

    def _rung(self, member: Member, count: int) -> float:
        """Average the criterion over the first folds that have both classes."""
        found = []
        for k in range(count):
            rows = self._folds[k][1]
            positive = self.positive[rows]
            if 0 < np.count_nonzero(positive) < len(positive):
                held, weights = self.board.held(member, k), self._weights_of(rows)
                found.append(self.criterion(positive, held, weights))
        return float(np.mean(found)) if found else -np.inf

    def _train(self, members: Sequence[Member], folds: Iterable[int], always: bool = False) -> None:
        numbers = list(folds)
        tasks = [(member, k) for k in numbers for member in members]

        def work(task: Task, check: Check) -> tuple[Outcome, float] | None:
            if task[0] in self.board.failed or (not always and self._is_over()):
                return None
            began = self.budget.clock()
            return self.board.train(task, check), self.budget.clock() - began

        for task, found in side_by_side(work, tasks, self.budget.stopped):
            if found is None:
                continue
            outcome, self.seconds[task] = found
            self.board.enter(task, outcome)
            if task[0] not in self.board.failed:
                self.outcomes[task] = outcome
            if task[0] in self.board.ready:
                self.course.append((self.budget.spent, task[0]))
            share = min(1.0, self.budget.spent / self.budget.seconds)
            self.tell(f"{counted(len(self.outcomes), 'fit')}, {task[0].text}", share or None)
        absent = [m for m in members if any((m, k) not in self.outcomes for k in numbers)]
        self.not_begun += [member for member in absent if member not in self.board.failed]

    def _is_over(self) -> bool:
        best = [self.best_of(method) for method in self.methods()]
        return self.budget.is_over(sum(self.fit_seconds(member) for member in best))

    def fit_seconds(self, member: Member) -> float:
        """Average the time of a fit."""
        return float(np.mean([self.seconds[member, k] for k in range(self.n_folds)]))

    def methods(self) -> list[str]:
        """List the methods that are trained on all folds, the simplest first."""
        return list(dict.fromkeys(member.method for member in self.ready))

    def best_of(self, method: str) -> Member:
        """Give the settings of a method that did best on held-out rows; the usual win a tie."""
        return max(of_method(self.ready, method), key=self.measure)

    def measure(self, member: Member) -> float:
        """Give the criterion on the scores held out in the folds."""
        return self.estimate(member).value

    def estimate(self, member: Member) -> Estimate:
        """Give the same with its interval; computed once."""
        if member not in self._estimates:
            self._estimates[member] = self.estimated(self.board.scale_up(member))
        return self._estimates[member]

    def estimated(self, scores: Array) -> Estimate:
        """Give the criterion of scores of the training rows, with its interval."""
        return Estimate.of(self.criterion, self.positive, scores, self.weights)

    def _weights_of(self, rows: NDArray[np.intp]) -> Array | None:
        return None if self.weights is None else self.weights[rows]

    def spent_on(self, method: str) -> float:
        """Add up the time of all fits of a method."""
        return sum(s for (one, _), s in self.seconds.items() if one.method == method)

    def tried(self, method: str) -> int:
        """Count the settings of a method that were trained on any fold."""
        return len({one for one, _ in self.outcomes if one.method == method})

    def combine(self) -> Array:
        """Give held-out scores of the combination, weights chosen without the rows judged."""
        scores = np.array([self.board.scale_up(member) for member in self.ready])
        total = np.empty(len(self.positive))
        for k, (train, held) in enumerate(self._folds):
            rng = np.random.default_rng((self.seed, k))
            part = scores[:, train], self.positive[train], self.criterion, rng
            weights = select_in_bags(*part, bags=_BAGS, row_weights=self._weights_of(train))
            total[held] = weights @ scores[:, held]
        return total


def _weighs(member: Member) -> bool:
    return METHODS[member.method].takes_weights
