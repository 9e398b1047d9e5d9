"""A small dense quadratic programme over a simplex: the dual of a cutting-plane model.

Symbols: G Gram matrix of the cuts' directions, b their offsets, lam their multipliers; variable 0
takes up what the others leave of the sum C.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aucstudio.engine.types import Array, Mask

_PRECISION = 1e-10
_RIDGE = 1e-13
_ROUNDING = 1e-15


def _never() -> bool:
    return False


def solve(
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
        Asked before each step; True ends the search where it is.

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
    """Step towards the optimum over the used variables; tell whether it was reached.

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
