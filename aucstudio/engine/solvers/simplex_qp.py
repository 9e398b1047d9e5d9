"""A small dense quadratic programme over a simplex: the dual of a cutting-plane model.

Symbols: G Gram matrix of the cuts' directions, b their offsets, lam their multipliers; the slack
is C - sum(lam); M inverse of G over the multipliers in use.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_PRECISION = 1e-10
_RIDGE = 1e-13
_ROUNDING = 1e-15


def solve(G: Array, b: Array, C: float, start: Array, tolerance: float = 0.0) -> Array:
    """Minimise lam'G lam / 2 - b'lam over lam >= 0, sum(lam) <= C.

    A primal active-set method from a feasible start: go to the optimum over the multipliers in
    use, drop the first that reaches 0, and when none does take in the one that promises most.
    It ends when the Frank-Wolfe gap, which bounds the distance to the optimum, is below the
    tolerance or 1e-10 of the objective, or where rounding lets the objective fall no further.
    A step costs O(n k), k being the number of multipliers in use.

    Parameters
    ----------
    G : ndarray of shape (n, n)
        Positive semidefinite; may be singular (equal or parallel cuts).
    b : ndarray of shape (n,)
    C : float
        Greater than 0.
    start : ndarray of shape (n,)
        Multipliers >= 0 of sum at most C; the nearer to the optimum, the fewer steps.
    tolerance : float
        Absolute distance from the optimum that will do.

    Returns
    -------
    ndarray of shape (n,)
        Feasible in any case.
    """
    face = _Face(G, C, start)
    enough = max(tolerance, _ROUNDING * C * np.abs(b).max())
    best, lowest, renewed = start, np.inf, False
    slope = face.slope(b)
    for _ in range(10 * len(b) + 100):
        whole = face.advance(slope)
        slope = face.slope(b)
        if not whole:
            continue
        objective = float(face.lam @ (slope - b)) / 2
        if objective < lowest:
            best, lowest, renewed = face.lam.copy(), objective, False
        elif renewed:
            break
        else:
            face, renewed = _Face(G, C, best), True
            slope = face.slope(b)
        gap = face.lam @ slope - C * min(slope.min(), 0.0)
        if gap <= max(enough, _PRECISION * abs(objective)):
            break
        face.take_in(slope)
    return best


class _Face:
    """The multipliers in use, and the inverse M kept up to date with them.

    M is that of G with a small ridge on its diagonal. This and rounding bend a step, not the
    problem: slopes are always those of G, and steps repeat until they agree.
    """

    def __init__(self, G: Array, C: float, start: Array) -> None:
        self._G, self._C = G, C
        self._ridge = _RIDGE * float(G.diagonal().max()) or 1.0
        self._slack = bool(start.sum() < C * (1 - _PRECISION))
        self.lam = start.copy() if self._slack else start * (C / start.sum())
        self._index = np.flatnonzero(self.lam)
        inner = G[np.ix_(self._index, self._index)]
        self._inverse = np.linalg.inv(inner + self._ridge * np.eye(len(inner)))

    def slope(self, b: Array) -> Array:
        return self._G[:, self._index] @ self.lam[self._index] - b

    def advance(self, slope: Array) -> bool:
        """Step towards the optimum over what is in use; tell whether it was reached."""
        step = -(self._inverse @ slope[self._index])
        if not self._slack:
            unit = self._inverse.sum(axis=1)
            step -= unit * (step.sum() / unit.sum())
        lam, growth = self.lam[self._index], step.sum()
        room = np.full(len(step) + 1, np.inf)
        np.divide(lam, -step, out=room[:-1], where=step < 0.0)
        if self._slack and growth > 0.0:
            room[-1] = (self._C - lam.sum()) / growth
        first = int(room.argmin())
        self.lam[self._index] = np.maximum(lam + min(room[first], 1.0) * step, 0.0)
        if room[first] >= 1.0:
            return True
        self._drop(first)
        return False

    def _drop(self, place: int) -> None:
        if place == len(self._index):
            self._slack = False
            return
        self.lam[self._index[place]] = 0.0
        rest = np.delete(np.arange(len(self._index)), place)
        row, pivot = self._inverse[place, rest], self._inverse[place, place]
        self._inverse = self._inverse[np.ix_(rest, rest)] - np.outer(row, row / pivot)
        self._index = self._index[rest]

    def take_in(self, slope: Array) -> None:
        """Put to use what lowers the objective fastest: a multiplier, or the slack."""
        j = int(slope.argmin())
        if slope[j] > 0.0:
            self._slack = True
        elif j not in self._index:
            self._insert(j)

    def _insert(self, j: int) -> None:
        k = len(self._index)
        column = self._inverse @ self._G[self._index, j]
        pivot = self._G[j, j] + self._ridge - self._G[self._index, j] @ column
        ratio = np.append(column, -1.0)
        grown = np.outer(ratio, ratio / max(pivot, self._ridge))
        grown[:k, :k] += self._inverse
        self._inverse, self._index = grown, np.append(self._index, j)
