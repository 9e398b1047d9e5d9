"""Shapley values of columns.

Symbols: x the row; z a background row; f score; v(S) mean over all z of f with the columns S taken
from x and the others from z; phi_k Shapley value of column k in the game v: the mean over all
orders of the columns of what v gains where k comes in. Their sum is f(x) - mean f(z). Columns are
exchanged by hand, whatever goes together in the data ("interventional").

If f is a sum of terms of one column each, phi_k is the mean gain by exchanging column k alone. For
any other f they are sampled: a background row and an order of the columns are drawn, columns are
exchanged in this order and in its reverse, and what f gains at each step is one draw of all phi at
once. The draws' sum is f(x) - f(z), whose mean over all background rows is known, so the draws are
regressed on it: the estimates then sum to what they should, and vary less.

Strumbelj and Kononenko (2010), An efficient explanation of individual classifications using game
theory; Janzing, Minorics and Bloebaum (2020), Feature relevance quantification in explainable AI.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from aucstudio.engine.arrays import Array, Index
from aucstudio.engine.features.splines import AdditiveScorer
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.scorers import LinearScorer, Scorer, score_rows

SumOfTerms = LinearScorer | AdditiveScorer  # of single features, by its form

TOLERANCE = 0.01  # of the standard deviation of the background's scores
LEAST_DRAWS, MOST_DRAWS = 32, 4_000
_MOST_SCORES = 4_000_000  # rows that are scored in all
_BATCH = 64  # draws between two looks at the error
_CELLS = 1 << 18  # of rows that are scored at once
_ROUNDING = 1e-9  # of a sum of gains, relative to the largest score
_FEWEST = 8  # draws that an error can be estimated from
_FEWEST_AGAIN = 30  # repeated rows, to estimate how draws differ within one


@dataclasses.dataclass(frozen=True, eq=False)
class Contributions:
    """Contribution of each column to a score.

    Attributes
    ----------
    values : ndarray of shape (columns,)
        They sum to ``score - mean``.
    score : float
        f(x).
    mean : float
        Mean of f over the background rows.
    noise : ndarray of shape (draws, columns)
        What each draw differs from the values by, once regressed; empty where they are exact.
    starts : ndarray of int, shape (draws,)
        The background row of each draw.
    background : int
        How many background rows there are.
    complete : bool
        Whether the errors are as small as was asked for, or the draws as many as allowed; False
        after a stop.
    """

    values: Array
    score: float
    mean: float
    noise: Array
    starts: Index = dataclasses.field(default_factory=lambda: np.empty(0, dtype=np.intp))
    background: int = 0
    complete: bool = True

    @property
    def exact(self) -> bool:
        """Whether nothing was drawn."""
        return not len(self.noise)

    def error(self, columns: Sequence[int] | Index) -> float:
        """Return the standard error of the sum of some columns; 0 where it is exact."""
        sums = self.noise[:, columns].sum(axis=1, keepdims=True)
        return float(_standard_errors(sums, self.starts, self.background)[0])

    @property
    def errors(self) -> Array:
        """Standard error of each value, shape (columns,)."""
        return _standard_errors(self.noise, self.starts, self.background)


def _standard_errors(noise: Array, starts: Index, rows: int) -> Array:
    """Return the standard errors of means of draws, shape (columns,).

    Each background row comes once before any comes again, so that what differs between the rows
    adds nothing once all of them have come equally often. That is known as soon as enough of them
    have come again; before, it is counted in full.
    """
    draws = len(noise)
    if not draws:
        return np.zeros(noise.shape[1])
    both = (noise**2).sum(axis=0) / max(1, draws - 2)
    times = np.bincount(starts, minlength=rows)
    again = draws - np.count_nonzero(times)
    if again < _FEWEST_AGAIN:
        return np.asarray(np.sqrt(both / draws))
    sums = np.zeros((rows, noise.shape[1]))
    np.add.at(sums, starts, noise)
    own = sums[starts] / times[starts][:, None]
    within = ((noise - own) ** 2).sum(axis=0) / again
    between, rest = np.maximum(both - within, 0.0), draws % rows
    variance = within / draws + between * rest * (1 - rest / rows) / draws**2
    return np.asarray(np.sqrt(variance))


Listener = Callable[[float, Contributions | None], bool]


def contributions(
    scorer: Scorer,
    row: Array,
    background: Array,
    columns: Sequence[Index],
    *,
    seed: int = 0,
    tolerance: float = TOLERANCE,
    most_draws: int = MOST_DRAWS,
    listen: Listener = lambda _fraction, _sofar: False,
) -> Contributions:
    """Compute the Shapley values of the columns, exactly where the score is a sum of terms.

    Parameters
    ----------
    scorer : Scorer
    row : ndarray of shape (d,)
        Prepared.
    background : ndarray of shape (N, d)
    columns : sequence of ndarray of int
        The prepared features of each column of the table.
    seed : int
        With the same seed and without a stop, the same values.
    tolerance : float
        The standard error to end at, in standard deviations of the background's scores.
    most_draws : int
        Fewer are made where there are many columns.
    listen : callable
        Receives the share done and the values so far; stops if it returns True, and keeps what is
        known by then.

    Raises
    ------
    Stopped
        If stopped before anything is known.
    """

    def pulse(_what: str, fraction: float) -> None:
        if listen(0.1 * fraction, None):
            raise Stopped("explaining")

    others = score_rows(scorer, background, pulse)
    score, mean = float(scorer(row[None])[0]), float(others.mean())
    if isinstance(scorer, SumOfTerms):
        moved = _moved_terms(scorer, row, background)
        values = np.array([moved[features].sum() for features in columns])
        return Contributions(values, score, mean, np.empty((0, len(columns))))
    if len(background) * len(columns) <= _MOST_SCORES:
        alone = _exchanged_alone(scorer, row, background, others, columns, pulse)
        if alone is not None:
            return Contributions(alone, score, mean, np.empty((0, len(columns))))
    walks = _Walks(scorer, row, background, others, columns, seed)
    return _drawn(walks, score, mean, tolerance * float(others.std()), most_draws, listen)


def _moved_terms(scorer: SumOfTerms, row: Array, background: Array) -> Array:
    """Return by how much the term of each feature differs from its mean, shape (d,)."""
    if isinstance(scorer, LinearScorer):
        return np.asarray(scorer.weights * (row - background.mean(axis=0)))
    moved = np.zeros(len(row))
    for k in np.unique(scorer.feature).tolist():
        own, others = (scorer.component(k, X[:, k]) for X in (row[None], background))
        moved[k] = own[0] - others.mean()
    return moved


def _exchanged_alone(
    scorer: Scorer,
    row: Array,
    background: Array,
    others: Array,
    columns: Sequence[Index],
    pulse: Callable[[str, float], None],
) -> Array | None:
    """Return the mean gain by exchanging each column alone; None if these do not add up.

    They add up for every background row only if the score is a sum of terms of single columns,
    as far as these rows tell.
    """
    score, sums = float(scorer(row[None])[0]), np.zeros(len(columns))
    slack = _ROUNDING * max(abs(score), float(np.abs(others).max()))
    some = max(1, _CELLS // (len(columns) * background.shape[1]))
    for start in range(0, len(background), some):
        pulse("explaining", 1.0)
        rows, scores = background[start : start + some], others[start : start + some]
        mixed = np.repeat(rows[None], len(columns), axis=0)
        for exchanged, at in zip(mixed, columns, strict=True):
            exchanged[:, at] = row[at]
        gains = scorer(mixed.reshape(-1, rows.shape[1])).reshape(len(columns), -1) - scores
        if (np.abs(scores + gains.sum(axis=0) - score) > slack).any():
            return None
        sums += gains.sum(axis=1)
    return sums / len(background)


class _Walks:
    """Ways from background rows to the row, column by column, in random orders."""

    def __init__(
        self,
        scorer: Scorer,
        row: Array,
        background: Array,
        others: Array,
        columns: Sequence[Index],
        seed: int,
    ) -> None:
        self._scorer, self._row, self._score = scorer, row, float(scorer(row[None])[0])
        self._background, self._others = background, others
        self._random = np.random.default_rng(seed)
        self._waiting: list[int] = []
        self.columns, self.rows = len(columns), len(background)
        # Features of no column never move: their column is behind the last one.
        self._owner = np.full(background.shape[1], self.columns)
        for k, at in enumerate(columns):
            self._owner[at] = k

    def draw(self, count: int, stop: Callable[[], None]) -> tuple[Array, Index]:
        """Return the score's gain by each column, (count, columns), and the starting rows."""
        n = self.columns
        starts = np.array([self._next() for _ in range(count)])
        orders = np.array([self._random.permutation(n) for _ in range(count)])
        gains = np.zeros((count, n))
        lines = np.arange(count)[:, None]
        for order in (orders, orders[:, ::-1]):
            place = np.full((count, n + 1), n)
            place[lines, order] = np.arange(n)
            path = np.empty((count, n + 1))
            path[:, 0], path[:, n] = self._others[starts], self._score
            path[:, 1:n] = self._on_the_way(starts, place[:, self._owner], stop)
            gains[lines, order] += 0.5 * np.diff(path, axis=1)
        return gains, starts

    def _next(self) -> int:
        """Draw a background row; none comes again before all have come."""
        if not self._waiting:
            self._waiting = self._random.permutation(len(self._background)).tolist()
        return self._waiting.pop()

    def _on_the_way(self, starts: Index, place: Index, stop: Callable[[], None]) -> Array:
        """Score the rows with 1, 2, ... columns exchanged, shape (starts, columns - 1)."""
        steps = self.columns - 1
        scores = np.empty(len(starts) * steps)
        some = max(1, _CELLS // self._background.shape[1])
        for first in range(0, len(scores), some):
            stop()
            walk, step = np.divmod(np.arange(first, min(first + some, len(scores))), steps)
            moved = place[walk] <= step[:, None]
            mixed = np.where(moved, self._row, self._background[starts[walk]])
            scores[first : first + some] = self._scorer(mixed)
        return scores.reshape(len(starts), steps)


def _drawn(
    walks: _Walks, score: float, mean: float, aim: float, most: int, listen: Listener
) -> Contributions:
    """Draw until the largest error is within the aim, or there are draws enough."""
    gains, starts = np.empty((0, walks.columns)), np.empty(0, dtype=np.intp)
    allowed = int(np.clip(_MOST_SCORES // (2 * walks.columns), LEAST_DRAWS, max(most, LEAST_DRAWS)))
    # Fewer draws are made between two looks where one takes long.
    batch = int(np.clip(_CELLS // (2 * walks.columns**2), 1, _BATCH))
    done = 0.1
    found: Contributions | None = None

    def stop() -> None:
        if listen(done, None):
            raise Stopped("explaining")

    try:
        while True:
            count = min(batch, allowed - len(gains))
            more, began = walks.draw(count, stop)
            gains, starts = np.concatenate([gains, more]), np.concatenate([starts, began])
            done = 0.1 + 0.9 * len(gains) / allowed
            if len(gains) < _FEWEST:
                continue
            values, noise = _regressed(gains, score - mean)
            found = Contributions(values, score, mean, noise, starts, walks.rows)
            worst = float(found.errors.max(initial=0.0))
            if len(gains) >= allowed or (len(gains) >= LEAST_DRAWS and worst <= aim):
                return found
            near = min(1.0, aim / worst) ** 2 if worst > 0 else 1.0
            done = 0.1 + 0.9 * max(len(gains) / allowed, min(near, len(gains) / LEAST_DRAWS))
            if listen(done, found):
                raise Stopped("explaining")
    except Stopped:
        if found is None:
            raise
        return dataclasses.replace(found, complete=False)


def _regressed(gains: Array, known: float) -> tuple[Array, Array]:
    """Return the mean of the draws, given their known sum, and what each draw adds to it."""
    sums, centre = gains.sum(axis=1), gains.mean(axis=0)
    aside, apart = sums - sums.mean(), gains - centre
    spread = float(aside @ aside)
    # Where all sums are equal, so is the one that is known, but for rounding.
    share = apart.T @ aside / spread if spread > 0 else np.full(len(centre), 1 / len(centre))
    return centre + share * (known - sums.mean()), apart - np.outer(aside, share)
