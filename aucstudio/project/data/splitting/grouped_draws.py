"""Random splits of whole groups, balanced by class."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

_ORDERS = 20
_CLOSE = 0.01


def draw_fold_numbers(
    positive: Mask, codes: Rows, counts: NDArray[np.intp], folds: int, seed: int
) -> Rows | None:
    """Assign groups to folds.

    Groups with equal class counts are spread evenly; scikit-learn assigns only the last few of each
    kind so that classes are balanced, because it is slow for many groups.

    Parameters
    ----------
    positive : ndarray of bool
    codes : ndarray of int
        The group of each row.
    counts : ndarray of int, shape (groups, 2)
        Rows of each group by class; each class is in at least as many groups as there are folds.
    folds : int
    seed : int

    Returns
    -------
    ndarray of int or None
        The fold of each row; None if a fold would lack a class.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    alike = _Alike(counts, np.random.default_rng(seed))
    # At least one group per fold of each kind is left to scikit-learn, so that no class is short.
    dealt = np.maximum(alike.members // folds - 1, 0) * folds
    numbers = (alike.place % folds)[codes]
    left = np.flatnonzero((alike.place >= dealt[alike.kind])[codes])
    drawn = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    parts = drawn.split(positive[left], positive[left], codes[left])
    for fold, (_, test) in enumerate(parts):
        numbers[left[test]] = fold
    held = np.zeros((folds, 2), dtype=bool)
    held[numbers, positive.astype(np.intp)] = True
    return numbers if held.all() else None


def draw_test_groups(counts: NDArray[np.intp], share: float, seed: tuple[int, int]) -> Mask:
    """Draw groups that together hold a share of each class, as closely as whole groups can.

    Groups with equal class counts are of one kind. Of each kind the share of groups, rounded down,
    is drawn. One more group of each kind is assigned in random order to the part where it brings
    the shares closer. This is repeated until both shares are within a hundredth, at most in twenty
    orders; the best one is kept.

    Parameters
    ----------
    counts : ndarray of int, shape (groups, 2)
        Rows of each group by class; each class is in at least two groups.
    share : float
    seed : tuple of int

    Returns
    -------
    ndarray of bool, shape (groups,)
        The groups of the test part. Both parts have rows of both classes.
    """
    rng = np.random.default_rng(seed)
    alike = _Alike(counts, rng)
    kinds, kind, members, place = alike.kinds, alike.kind, alike.members, alike.place
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


class _Alike:
    """Groups by kind, that is by equal class counts, in random order.

    Attributes
    ----------
    kinds : ndarray of int, shape (kinds, 2)
        Rows by class.
    members : ndarray of int, shape (kinds,)
        Number of groups of each kind.
    kind, place : ndarray of int, shape (groups,)
        The kind of each group, and its position among those of its kind.
    """

    def __init__(self, counts: NDArray[np.intp], rng: np.random.Generator) -> None:
        self.kinds, kind, self.members = np.unique(
            counts, axis=0, return_inverse=True, return_counts=True
        )
        self.kind = kind.ravel()
        shuffled = np.lexsort((rng.random(len(counts)), self.kind))
        first = np.cumsum(self.members) - self.members
        self.place = np.empty(len(counts), dtype=np.intp)
        self.place[shuffled] = np.arange(len(counts)) - first[self.kind[shuffled]]


class _Filling:
    """Adds groups to a test part while its share of both classes comes closer to the aim."""

    def __init__(self, totals: NDArray[np.intp], share: float) -> None:
        self._positives, self._negatives = int(totals[0]), int(totals[1])
        self._share = share

    def fill(self, held: NDArray[np.intp], groups: NDArray[np.intp]) -> tuple[list[int], float]:
        """Return the added groups, and the remaining error of the shares."""
        p, n = held.tolist()
        chosen: list[int] = []
        waiting: list[tuple[int, int, int]] = []
        # First of all both parts need both classes.
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
