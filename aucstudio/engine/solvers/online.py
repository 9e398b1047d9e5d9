"""Online AUC maximisation with a buffer (OAM) and as a saddle point (SOLAM).

Symbols: F features of the rows; x the row of a step, y = +-1 its class; w weights. OAM: b row of
the other class' buffer, tau size of its step, C_t = C max(1, N_-y / capacity), N_-y rows of that
class met so far. SOLAM: p share of positives; a, b means of the scores of the classes, alpha their
difference; zeta / sqrt(t) size of a step; R bound on |w|; kappa largest |x|.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.compiled import kernel
from aucstudio.engine.solvers.stochastic import Features, Visits, pairwise_sum

_SAME_POINT = 1e-6  # of the squares: a squared distance below this is rounding


class BufferedPairs:
    """OAM: each row makes pairs with the rows of the other class in a buffer.

    A buffer is a uniform sample of the rows of its class met so far (reservoir). The rows in
    it are also kept column by column, so that all products with a row are found side by side, and
    with all products among themselves: a step then moves the margins of the pairs that follow
    without touching a feature.

    Parameters
    ----------
    size : int
        Number of features.
    capacity : int
        Rows in each of the two buffers.
    C : float
    sequential : bool
        One pair after another, each by a passive-aggressive step; else by one gradient step for
        all pairs of the row.
    averaged : bool
        Whether the result is the mean of the iterates or the last one.

    References
    ----------
    Zhao, Hoi, Jin and Yang (2011), Online AUC maximization.
    """

    def __init__(
        self, size: int, capacity: int, C: float, sequential: bool, averaged: bool
    ) -> None:
        self._C, self._sequential, self._averaged = C, sequential, averaged
        self.rows = np.full((2, capacity), -1)
        self._columns = np.zeros((2, size, capacity), dtype=np.float32)
        self._gram = np.zeros((2, capacity, capacity), dtype=np.float32)
        self._seen = np.zeros(2, dtype=np.intp)
        self._w, self._mean = np.zeros(size), np.zeros(size)
        self.work = float(capacity * (3 * size + capacity))

    @property
    def weights(self) -> Array:
        return self._mean if self._averaged else self._w

    def draw(self, positive: Mask, rng: np.random.Generator) -> Visits:
        """Draw an order of the rows, and the chances that decide who stays in the buffers."""
        order = rng.permutation(len(positive))
        return order, positive[order].astype(np.intp), rng.random(len(positive))

    def learn(self, F: Features, visits: Visits) -> None:
        order, own, chances = visits
        state = self.rows, self._columns, self._gram, self._seen, self._w, self._mean
        _buffered_steps(F, order, own, chances, self._C, self._sequential, *state)


class Saddle:
    """SOLAM: the square loss of all pairs as a saddle point over single rows.

    The square loss ``mean_ij (1 - M_ij)^2`` is, but for constants, the mean over the rows of
    ``(1 - p) (w.x - a)^2 - 2 (1 + alpha) (1 - p) w.x`` at positives and
    ``p (w.x - b)^2 + 2 (1 + alpha) p w.x`` at negatives, less ``p (1 - p) alpha^2``, at its
    minimum over a and b and its maximum over alpha. Steps descend in (w, a, b) and ascend in
    alpha; |w| <= R, |a| and |b| <= R kappa, |alpha| <= 2 R kappa are restored after each. The
    result is the mean of the iterates, each weighted by its step. The rows are taken as if the
    longest had length 1, which is what a step of zeta / sqrt(t) is meant for.

    Parameters
    ----------
    size : int
    share : float
        p, which is known here; the paper counts it on the way.
    zeta, radius, kappa : float

    Attributes
    ----------
    w, centre : ndarray
        The present iterate: w, and a, b and alpha.

    References
    ----------
    Ying, Wen and Lyu (2016), Stochastic online AUC maximization.
    """

    def __init__(self, size: int, share: float, zeta: float, radius: float, kappa: float) -> None:
        self._constants = share, zeta, radius, kappa
        self.w, self._mean = np.zeros(size), np.zeros(size)
        self.centre = np.zeros(3)
        self._sums = np.zeros(3)
        self.work = 2.0 * size

    @property
    def weights(self) -> Array:
        return self._mean

    def draw(self, positive: Mask, rng: np.random.Generator) -> Visits:
        """Draw an order of the rows."""
        order = rng.permutation(len(positive))
        return order, positive[order]

    def learn(self, F: Features, visits: Visits) -> None:
        order, positive = visits
        state = self.centre, self._sums, self.w, self._mean
        _saddle_steps(F, order, positive, *self._constants, *state, np.empty(F.shape[1]))


@kernel
def _buffered_steps(
    F: Features,
    order: Index,
    classes: Index,
    chances: Array,
    C: float,
    sequential: bool,
    rows: Index,
    columns: NDArray[np.float32],
    gram: NDArray[np.float32],
    seen: Index,
    w: Array,
    mean: Array,
) -> None:
    capacity = rows.shape[1]
    taus, terms = np.empty(capacity), np.empty(len(w))
    by_x, by_w = np.empty(capacity, np.float32), np.empty(capacity, np.float32)
    for visit in range(len(order)):
        x, own = order[visit], classes[visit]
        other, y = 1 - own, 2.0 * own - 1.0
        seen[own] += 1
        place = seen[own] - 1 if seen[own] <= capacity else int(chances[visit] * seen[own])
        if place < capacity:
            rows[own, place] = x
            _buffer(F, x, place, columns[own], gram[own])
        filled = min(seen[other], capacity)
        if filled > 0:
            _products(F, x, w, columns[other], filled, by_x, by_w)
            for k in range(len(w)):
                terms[k] = w[k] * F[x, k]
            score = pairwise_sum(terms)
            for k in range(len(w)):
                terms[k] = F[x, k] * F[x, k]
            limit = 0.5 * C * max(1.0, seen[other] / capacity)
            if sequential:
                _one_by_one(
                    y, score, pairwise_sum(terms), by_x, by_w, gram[other], limit, taus[:filled]
                )
            else:
                for b in range(filled):
                    taus[b] = y * limit if y * (score - by_w[b]) <= 1.0 else 0.0
            _move(F, x, rows[other], taus[:filled], w)
        share = 1.0 / (seen[0] + seen[1])
        for k in range(len(w)):
            mean[k] += share * (w[k] - mean[k])


@kernel
def _one_by_one(
    y: float,
    score: float,
    square: float,
    by_x: NDArray[np.float32],
    by_w: NDArray[np.float32],
    gram: NDArray[np.float32],
    limit: float,
    taus: Array,
) -> None:
    """Find the steps of pairs one after another; ``by_w`` follows w, though w has not moved yet."""
    for b in range(len(taus)):
        taus[b] = 0.0
        loss = 1.0 - y * (score - by_w[b])
        distance = square - 2.0 * by_x[b] + gram[b, b]
        if loss > 0.0 and distance > _SAME_POINT * (square + gram[b, b]):
            taus[b] = y * min(limit, loss / distance)
            score += taus[b] * (square - by_x[b])
            tau = np.float32(taus[b])
            for c in range(b + 1, len(taus)):
                by_w[c] += tau * (by_x[c] - gram[b, c])


@kernel
def _buffer(
    F: Features, x: int, place: int, columns: NDArray[np.float32], gram: NDArray[np.float32]
) -> None:
    """Put row x in a place of a buffer, and its products with the rows there."""
    capacity = len(gram)
    for b in range(capacity):
        gram[place, b] = 0.0
    for k in range(len(columns)):
        value = F[x, k]
        columns[k, place] = value
        for b in range(capacity):
            gram[place, b] += value * columns[k, b]
    for b in range(capacity):
        gram[b, place] = gram[place, b]


@kernel
def _products(
    F: Features,
    x: int,
    w: Array,
    columns: NDArray[np.float32],
    filled: int,
    by_x: NDArray[np.float32],
    by_w: NDArray[np.float32],
) -> None:
    """Multiply row x and w with all rows of a buffer."""
    by_x[:] = 0.0
    by_w[:] = 0.0
    for k in range(len(w)):
        value, weight = F[x, k], np.float32(w[k])
        for b in range(filled):
            by_x[b] += value * columns[k, b]
            by_w[b] += weight * columns[k, b]


@kernel
def _move(F: Features, x: int, rows: Index, taus: Array, w: Array) -> None:
    """Add sum_b tau_b (x - b) to w."""
    moved = taus.sum()
    for k in range(len(w)):
        w[k] += moved * F[x, k]
    for b in range(len(taus)):
        if taus[b] != 0.0:
            for k in range(len(w)):
                w[k] -= taus[b] * F[rows[b], k]


@kernel
def _saddle_steps(
    F: Features,
    order: Index,
    positive: Mask,
    share: float,
    zeta: float,
    radius: float,
    kappa: float,
    centre: Array,
    sums: Array,
    w: Array,
    mean: Array,
    terms: Array,
) -> None:
    """Make a step for each row; ``sums`` holds t, the sum of the steps and a bound on |w|."""
    a, b, alpha = centre
    t, steps, reach = sums
    spread = share * (1.0 - share)
    for visit in range(len(order)):
        x = order[visit]
        for k in range(len(w)):
            terms[k] = w[k] * F[x, k]
        score = pairwise_sum(terms)
        t += 1.0
        eta = zeta / np.sqrt(t)
        if positive[visit]:
            slope = 2.0 * (1.0 - share) * (score - a - 1.0 - alpha)
            rise = -2.0 * (1.0 - share) * score - 2.0 * spread * alpha
            a += eta * 2.0 * (1.0 - share) * (score - a)
        else:
            slope = 2.0 * share * (score - b + 1.0 + alpha)
            rise = 2.0 * share * score - 2.0 * spread * alpha
            b += eta * 2.0 * share * (score - b)
        limit = radius * kappa
        a, b = min(max(a, -limit), limit), min(max(b, -limit), limit)
        alpha = min(max(alpha + eta * rise, -2.0 * limit), 2.0 * limit)
        step = eta * slope / kappa**2
        steps += eta
        part = eta / steps
        for k in range(len(w)):
            w[k] -= step * F[x, k]
        reach += abs(step) * kappa
        if reach > radius:  # only then can |w| be: it need not be computed at every step
            for k in range(len(w)):
                terms[k] = w[k] * w[k]
            reach = np.sqrt(pairwise_sum(terms))
            if reach > radius:
                for k in range(len(w)):
                    w[k] *= radius / reach
                reach = radius
        for k in range(len(w)):
            mean[k] += part * (w[k] - mean[k])
    centre[0], centre[1], centre[2] = a, b, alpha
    sums[0], sums[1], sums[2] = t, steps, reach
