"""Whole groups dealt out at random, the classes shared as evenly as groups allow."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

_ORDERS = 20
_CLOSE = 0.01


def draw_fold_numbers(positive: Mask, codes: Rows, folds: int, seed: int) -> Rows | None:
    """Deal groups into folds.

    Parameters
    ----------
    positive : ndarray of bool
    codes : ndarray of int
        The group of each row.
    folds : int
        No more than there are groups with rows of either class.
    seed : int

    Returns
    -------
    ndarray of int or None
        The fold of each row; None where a fold would lack a class.
    """
    drawn = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    numbers = np.empty(len(positive), dtype=np.intp)
    for fold, (_, test) in enumerate(drawn.split(positive, positive, codes)):
        if positive[test].all() or not positive[test].any():
            return None
        numbers[test] = fold
    return numbers


def draw_test_groups(counts: NDArray[np.intp], share: float, seed: tuple[int, int]) -> Mask:
    """Draw groups until they hold a share of each class, as nearly as whole groups can.

    Groups with as many rows of either class are alike. Of each kind the share of them, rounded
    down, is drawn. One more group of each kind may go either way: in some random order each goes
    where it brings the two shares nearer. That is done until both are within a hundredth, or in
    twenty orders, of which the best is kept.

    Parameters
    ----------
    counts : ndarray of int, shape (groups, 2)
        Rows of each group by class; either class lies within two groups at least.
    share : float
    seed : tuple of int

    Returns
    -------
    ndarray of bool, shape (groups,)
        The groups of the test part. Both parts have rows of either class.
    """
    rng = np.random.default_rng(seed)
    kinds, kind, members = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    kind = kind.ravel()
    shuffled = np.lexsort((rng.random(len(kind)), kind))
    place = np.empty(len(kind), dtype=np.intp)  # of each group among its kind
    place[shuffled] = np.arange(len(kind)) - (np.cumsum(members) - members)[kind[shuffled]]
    sure = np.floor(share * members).astype(np.intp)
    open_kinds = np.flatnonzero(sure < share * members)
    filling = _Filling(counts.sum(axis=0), share)
    best, least = None, np.inf
    for _ in range(_ORDERS):
        order = rng.permutation(open_kinds)
        chosen, error = filling.fill(sure @ kinds, kinds[order])
        if error < least:
            best, least = order[chosen], error
        if least <= _CLOSE:
            break
    drawn: Mask = place < sure[kind]
    if best is not None:
        also = np.zeros(len(kinds), dtype=bool)
        also[best] = True
        drawn |= also[kind] & (place == sure[kind])
    return drawn


class _Filling:
    """Adds groups to a test part one by one, while it comes nearer to its share of both classes."""

    def __init__(self, totals: NDArray[np.intp], share: float) -> None:
        self._positives, self._negatives = int(totals[0]), int(totals[1])
        self._share = share

    def fill(self, held: NDArray[np.intp], groups: NDArray[np.intp]) -> tuple[list[int], float]:
        """Give which groups are added to what is held, and how far off the shares are then."""
        p, n = held.tolist()
        chosen: list[int] = []
        waiting: list[tuple[int, int, int]] = []
        # Both classes in both parts first: nothing else counts before that.
        for k, (more_p, more_n) in enumerate(groups.tolist()):
            if self._lacking(p + more_p, n + more_n) < self._lacking(p, n):
                chosen.append(k)
                p, n = p + more_p, n + more_n
            else:
                waiting.append((k, more_p, more_n))
        error = self._error(p, n)
        for k, more_p, more_n in waiting:
            after = self._error(p + more_p, n + more_n)
            if after < error and not self._lacking(p + more_p, n + more_n):
                chosen.append(k)
                p, n, error = p + more_p, n + more_n, after
        return chosen, error

    def _lacking(self, p: int, n: int) -> int:
        return sum((not p, not n, p == self._positives, n == self._negatives))

    def _error(self, p: int, n: int) -> float:
        return math.hypot(p / self._positives - self._share, n / self._negatives - self._share)
