"""Planes below a convex risk, and the optimum of their model with a quadratic norm.

Symbols: a.w + b plane below the risk; A the matrix of the a; lam multipliers of the planes; D value
of the model's dual; mu weight of the proximal term.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Mask

_IDLE_ROUNDS = 50
_PRECISION = 1e-10
_RIDGE = 1e-13
_ROUNDING = 1e-15


class Cuts:
    """Planes below a risk, less those long out of use, with their Gram matrix and multipliers.

    They depend on the data and on the risk, not on C: another fit may reuse them.

    Parameters
    ----------
    n_features : int
    """

    def __init__(self, n_features: int) -> None:
        self._slopes = np.empty((0, n_features))
        self._offsets = np.empty(0)
        self._gram = np.empty((0, 0))
        self._multipliers = np.empty(0)
        self._idle = np.empty(0, dtype=int)

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, slope: Array, offset: float) -> None:
        """Add the plane slope.w + offset."""
        products = np.append(self._slopes @ slope, slope @ slope)
        gram = np.pad(self._gram, (0, 1))
        gram[-1], gram[:, -1] = products, products
        self._gram = gram
        self._slopes = np.vstack((self._slopes, slope))
        self._offsets = np.append(self._offsets, offset)
        self._multipliers = np.append(self._multipliers, 0.0)
        self._idle = np.append(self._idle, 0)

    def tilt(self, slope: Array, offset: float) -> None:
        """Follow the risk where slope.w + offset was added to it."""
        self._slopes = self._slopes + slope
        self._offsets = self._offsets + offset
        self._gram = self._slopes @ self._slopes.T

    def optimum(
        self, C: float, near: Array, mu: float, tolerance: float, stop: Callable[[], bool]
    ) -> tuple[Array, float]:
        """Minimise |w|^2 / 2 + C model(w) + mu |w - near|^2 / 2 through its dual.

        Parameters
        ----------
        C : float
        near : ndarray of shape (n_features,)
        mu : float
        tolerance : float
            How much the dual value may fall short: inexact multipliers bound all the same, and
            as long as the bound has further to rise, they cost few iterations and save much work.
        stop : callable
            Called now and then; True ends the search at the current point.

        Returns
        -------
        w : ndarray of shape (n_features,)
            -A'lam, the minimum of |w|^2 / 2 + lam.(A w + b); (w + mu near) / (1 + mu) is the
            minimum with the proximal term.
        D : float
            Lower bound of |w|^2 / 2 + C R(w) from the same multipliers, without the proximal
            term.
        """
        linear = (1 + mu) * self._offsets + mu * (self._slopes @ near)
        lam = solve_simplex(self._gram, linear, C, self._multipliers, (1 + mu) * tolerance, stop)
        w = -(lam @ self._slopes)
        bound = float(lam @ self._offsets - w @ w / 2)
        self._multipliers = lam
        self._idle = np.where(lam > 0.0, 0, self._idle + 1)
        if self._idle.max() > _IDLE_ROUNDS:
            self._keep(self._idle <= _IDLE_ROUNDS)
        return w, bound

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self._slopes, self._offsets = self._slopes[kept], self._offsets[kept]
        self._multipliers, self._idle = self._multipliers[kept], self._idle[kept]
        self._gram = self._gram[np.ix_(kept, kept)]


def _never() -> bool:
    return False


def solve_simplex(
    G: Array,
    b: Array,
    C: float,
    start: Array,
    tolerance: float = 0.0,
    stop: Callable[[], bool] = _never,
) -> Array:
    """Minimise lam'G lam / 2 - b'lam over lam >= 0, sum(lam) <= C.

    A primal active-set method from a feasible start: go to the optimum over the variables in
    use, drop the first that reaches 0, and when none does take in the one that promises most.
    It ends when the Frank-Wolfe gap, which bounds the distance to the optimum, is below the
    tolerance or 1e-10 of the objective, or where rounding lets the objective fall no further. A
    start that is nearly right costs few steps of O(k^3), k being the number of variables in use.

    Parameters
    ----------
    G : ndarray of shape (n, n)
        Positive semidefinite; may be singular (equal or parallel cuts).
    b : ndarray of shape (n,)
    C : float
        Greater than 0.
    start : ndarray of shape (n,)
        Multipliers >= 0 of sum at most C.
    tolerance : float
        Distance from the optimum that will do, in units of the objective.
    stop : callable
        Called before each step; True ends the search at the current point.

    Returns
    -------
    ndarray of shape (n,)
        Feasible in any case.
    """
    H = np.pad(G, (1, 0))
    offsets = np.concatenate(([0.0], b))
    lam = np.concatenate(([max(C - start.sum(), 0.0)], start))
    lam *= C / lam.sum()
    ridge = _RIDGE * H.diagonal().max() or 1.0
    enough = max(tolerance, _ROUNDING * C * np.abs(b).max())
    used, lowest = lam > 0, np.inf
    for _ in range(10 * len(lam) + 100):
        if stop():
            break
        if not _advance(H, H @ lam - offsets, ridge, lam, used):
            continue
        slope = H @ lam - offsets
        objective = (lam @ slope - lam @ offsets) / 2
        entering = int(slope.argmin())
        gap = lam @ slope - C * slope[entering]
        if gap <= max(_PRECISION * abs(objective), enough) or objective >= lowest:
            break
        lowest = objective
        used[entering] = True
    return lam[1:]


def _advance(H: Array, slope: Array, ridge: float, lam: Array, used: Mask) -> bool:
    """Step towards the optimum over the used variables; return whether it was reached.

    The ridge bends the step, not the problem: steps repeat until the true slopes agree.
    """
    index = np.flatnonzero(used)
    k = len(index)
    system = np.ones((k + 1, k + 1))
    system[:k, :k] = H[np.ix_(index, index)]
    system[:k, :k].flat[:: k + 1] += ridge
    system[k, k] = 0.0
    step = np.linalg.solve(system, np.append(-slope[index], 0.0))[:k]
    room = np.full(k, np.inf)
    np.divide(lam[index], -step, out=room, where=step < 0)
    first = int(room.argmin())
    lam[index] = np.maximum(lam[index] + min(room[first], 1.0) * step, 0.0)
    if room[first] < 1.0:
        lam[index[first]] = 0.0
    np.greater(lam, 0.0, out=used)
    return bool(room[first] >= 1.0)
