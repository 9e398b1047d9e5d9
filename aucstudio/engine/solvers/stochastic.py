"""Epochs of stochastic steps, and descent on hinge losses of random pairs.

Minimises lambda / 2 |w|^2 + E (1 - w.(f_i - f_j))_+ over pairs (i, j) that are drawn. A row alone
is a pair with the origin: (i, origin) if positive, (origin, j) if negative.

Symbols: F features of the rows, the last one the origin; w weights, v their mean; t steps done;
eta_t = 1 / (lambda (t + t0)) size of a step, eta_0 the first one, so that t0 = 1 / (lambda eta_0).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, Mask, portions
from aucstudio.engine.compiled import kernel
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.scorers import Scorer

Features = NDArray[np.float32]
Visits = tuple[NDArray, ...]
Draw = Callable[[Mask, np.random.Generator], Visits]
Learn = Callable[[Features, Visits], None]
Measure = Callable[[Array, Array], float]

_SKIP = 16  # steps between two shrinkings of w, and between two additions to its mean
WORK_PER_SLICE = 2e7
_OVERHEAD = 32  # of a step, in features
_SEARCH_PAIRS = 1_000
_SEARCH_REACH = 2.0**40
_ROWS_PER_CHUNK = 8_192


class Learner(Protocol):
    """A method that learns from one visit after another; ``work`` is the features a visit reads."""

    work: float

    @property
    def weights(self) -> Array:
        """The present iterate."""

    def draw(self, positive: Mask, rng: np.random.Generator) -> Visits:
        """Draw the visits of one epoch: arrays of one length."""

    def learn(self, F: Features, visits: Visits) -> None:
        """Make the steps of some visits; however they are cut, the result is the same."""


class VisitedRows(Protocol):
    """Rows that epochs visit."""

    def __len__(self) -> int:
        """Return the number of rows, which is that of the steps of an epoch."""

    def visit(self, learn: Learn, learner: Learner, rng: np.random.Generator) -> None:
        """Go through one epoch: call ``learn`` with features and visits of them."""

    def scores(self, w: Array, pause: Callable[[], None] | None) -> Array:
        """Score all rows; without ``pause`` nothing can stop it."""


@dataclasses.dataclass(frozen=True, eq=False)
class RowsInMemory:
    """Features of all rows.

    Attributes
    ----------
    F : ndarray of float32, shape (N + 1, r)
    positive : ndarray of bool, shape (N,)
    """

    F: Features
    positive: Mask

    def __len__(self) -> int:
        return len(self.positive)

    def visit(self, learn: Learn, learner: Learner, rng: np.random.Generator) -> None:
        learn(self.F, learner.draw(self.positive, rng))

    def scores(self, w: Array, pause: Callable[[], None] | None) -> Array:
        return scores(self.F, w, pause)[:-1]


@dataclasses.dataclass
class Training:
    """How far a learner has come; epoch e visits what a generator seeded with (seed, e) draws.

    Attributes
    ----------
    learner : Learner
    rows : VisitedRows
    epochs : int
        How many are to be completed.
    monitor : Monitor
        Receives each epoch, and the stage "epoch" within one.
    epoch, visited : int
        Complete epochs, and visits of the next one.
    best : ndarray of shape (r,) or None
        Weights of the smallest objective at the end of an epoch.
    objective : float
        Theirs.
    """

    learner: Learner
    rows: VisitedRows
    epochs: int
    monitor: Monitor
    epoch: int = 0
    visited: int = 0
    best: Array | None = None
    objective: float = np.inf

    def run(
        self,
        seed: int,
        measure: Measure,
        scorer: Callable[[Array], Scorer],
    ) -> tuple[Array, float]:
        """Train until all epochs are complete, or the monitor requests a stop.

        Parameters
        ----------
        seed : int
        measure : callable
            ``measure(weights, scores)`` is the objective.
        scorer : callable
            Makes a scorer of some weights for the monitor.

        Returns
        -------
        weights, objective
            The best at the end of an epoch; the present ones if not even the first is complete.

        Raises
        ------
        Stopped
            If the monitor requests a stop before the first step.
        """
        pause = functools.partial(self.monitor.stage, "scores")
        try:
            while self.epoch < self.epochs:
                self.rows.visit(
                    self._learn, self.learner, np.random.default_rng((seed, self.epoch))
                )
                w = self.learner.weights.copy()
                objective = measure(w, self.rows.scores(w, pause))
                self._note(w, objective)
                live = functools.partial(scorer, w)
                if self.monitor.step(self.epoch, objective, total=self.epochs, scorer=live):
                    break
        except Stopped:
            if self.epoch == self.visited == 0:
                raise
        if self.best is not None:
            return self.best, self.objective
        w = self.learner.weights.copy()
        return w, measure(w, self.rows.scores(w, None))

    def _learn(self, F: Features, visits: Visits) -> None:
        """Make the steps of some visits, in slices of some 20 ms."""
        step = max(1, int(WORK_PER_SLICE / (self.learner.work + _OVERHEAD)))
        for start in range(0, len(visits[0]), step):
            done = min(self.visited / len(self.rows), 1.0)
            self.monitor.stage("epoch", (self.epoch + done) / self.epochs)
            part = tuple(each[start : start + step] for each in visits)
            self.learner.learn(F, part)
            self.visited += len(part[0])

    def _note(self, w: Array, objective: float) -> None:
        self.epoch, self.visited = self.epoch + 1, 0
        if objective < self.objective:
            self.best, self.objective = w, objective


def scores(F: Features, w: Array, pause: Callable[[], None] | None = None) -> Array:
    """Return F w, shape (len(F),); ``pause`` is called between chunks."""
    w32, found = w.astype(np.float32), np.empty(len(F))
    for rows in portions(len(F), 1, _ROWS_PER_CHUNK):
        found[rows] = F[rows] @ w32
        if pause is not None:
            pause()
    return found


def draw_pairs(positive: Mask, rng: np.random.Generator) -> Visits:
    """Draw as many pairs of a positive and a negative as there are rows.

    The class of the first row is drawn first: which class is called positive decides nothing.
    """
    drawn = {}
    for one in (positive[0], not positive[0]):
        members = np.flatnonzero(positive == one)
        drawn[bool(one)] = members[rng.integers(len(members), size=len(positive))]
    return drawn[True], drawn[False]


def draw_rows(positive: Mask, rng: np.random.Generator, balanced: bool) -> Visits:
    """Draw as many rows as there are, both classes equally often if ``balanced``."""
    count = origin = len(positive)
    if not balanced:
        row = rng.integers(count, size=count)
        return np.where(positive[row], row, origin), np.where(positive[row], origin, row)
    first, second = draw_pairs(positive, rng)
    is_positive = rng.random(count) < 0.5
    return np.where(is_positive, first, origin), np.where(is_positive, origin, second)


class PairSteps:
    """SVMSGD2 on drawn pairs: steps of size 1 / (lambda (t + t0)), w shrunk every 16 steps.

    The shrinking multiplies by 1 - 16 / (t + t0) with t counted after the step; as t >= 16 then,
    the factor is positive whatever t0 is. The mean gives the iterate at t a weight in proportion
    to t: early ones count little though none is left out.

    Parameters
    ----------
    size : int
        Number of features.
    regularization : float
        lambda, positive.
    rate : float
        eta_0.
    draw : callable
        Draws an epoch.
    averaged : bool
        Whether the result is the mean of the iterates or the last one.

    References
    ----------
    Bordes, Bottou and Gallinari (2009), SVMSGD2; Khalid, Ray and Chitsaz, Scalable nonlinear AUC
    maximization methods, algorithm 3 (with the step subtracted); Lacoste-Julien, Schmidt and Bach
    (2012) for the growing weights of the mean.
    """

    def __init__(
        self, size: int, regularization: float, rate: float, draw: Draw, averaged: bool
    ) -> None:
        self._regularization, self.rate, self.work = regularization, rate, float(size)
        self._draw, self._averaged = draw, averaged
        self._w, self._mean, self._t = np.zeros(size), np.zeros(size), 0
        # Margins come from w in single precision, in which the features are: a third less time.
        self._short = np.zeros(size, dtype=np.float32)

    @property
    def weights(self) -> Array:
        return self._mean if self._averaged and self._t >= _SKIP else self._w

    def draw(self, positive: Mask, rng: np.random.Generator) -> Visits:
        return self._draw(positive, rng)

    def learn(self, F: Features, visits: Visits) -> None:
        first, second = visits
        constants = self._regularization, self.rate, self._t
        state = self._w, self._short, self._mean
        _pair_steps(F, first, second, *constants, *state, np.empty_like(self._short))
        self._t += len(first)


def search_rate(F: Features, visits: Visits, regularization: float) -> float:
    """Choose eta_0: double or halve from 1 while one pass over some pairs ends at a lower cost.

    Parameters
    ----------
    F : ndarray of float32, shape (N + 1, r)
    visits : two index arrays
        The pairs; the first 1,000 are used.
    regularization : float

    Returns
    -------
    float
        The lower end of the bracket (eta, 2 eta) where the search ends.
    """
    first, second = (part[:_SEARCH_PAIRS] for part in visits)

    def cost(rate: float) -> float:
        learner = PairSteps(F.shape[1], regularization, rate, draw_pairs, averaged=False)
        learner.learn(F, (first, second))
        w = learner.weights
        margins = (F[first] - F[second]) @ w
        return 0.5 * regularization * float(w @ w) + float(np.maximum(1 - margins, 0).mean())

    low, at_low, at_high = 1.0, cost(1.0), cost(2.0)
    if at_low <= at_high:
        while at_low < at_high and low > 1 / _SEARCH_REACH:
            low, at_high = low / 2, at_low
            at_low = cost(low)
        return low
    while at_high < at_low and low < _SEARCH_REACH:
        low, at_low = 2 * low, at_high
        at_high = cost(2 * low)
    return low


@kernel
def _pair_steps(
    F: Features,
    first: Index,
    second: Index,
    regularization: float,
    rate: float,
    done: int,
    w: Array,
    short: NDArray[np.float32],
    mean: Array,
    terms: NDArray[np.float32],
) -> None:
    for visit in range(len(first)):
        i, j, t = first[visit], second[visit], done + visit
        for k in range(len(w)):
            terms[k] = short[k] * (F[i, k] - F[j, k])
        if pairwise_sum(terms) < 1.0:
            step = rate / (1.0 + regularization * rate * t)
            for k in range(len(w)):
                w[k] += step * (F[i, k] - F[j, k])
                short[k] = w[k]
        t += 1
        if t % _SKIP == 0:
            before = 1.0 + regularization * rate * (t - _SKIP)
            kept = before / (1.0 + regularization * rate * t)
            share = 2.0 / (t // _SKIP + 1.0)
            for k in range(len(w)):
                w[k] *= kept
                short[k] = w[k]
                mean[k] += share * (w[k] - mean[k])


@kernel
def pairwise_sum(terms: NDArray[np.floating]) -> float:
    """Add up by halves, which a processor can do side by side; the terms are overwritten."""
    count = len(terms)
    while count > 8:
        half = (count + 1) // 2
        for k in range(count - half):
            terms[k] += terms[half + k]
        count = half
    added = 0.0
    for k in range(count):
        added += terms[k]
    return added
