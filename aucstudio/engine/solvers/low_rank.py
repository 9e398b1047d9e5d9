"""Cholesky factors of large matrices, made block by block so that work can be stopped between.

Symbols: K positive semidefinite kernel matrix (N x N); F its factor (N x r), K = F F^T; S
positive definite (r x r); L lower triangular.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.monitor import Monitor

Array = NDArray[np.float64]
Index = NDArray[np.intp]

RANK_TOLERANCE = 1e-12
_SCORE_TOLERANCE = 1e-6
_PANEL = 64
_ROWS = 512
_FLOPS_PER_BLOCK = 8e9


@dataclasses.dataclass(frozen=True, eq=False)
class KernelFactor:
    """A factor of a kernel matrix.

    Attributes
    ----------
    F : ndarray of shape (N, r)
        K = F F^T.
    pivots : ndarray of int, shape (r,)
        The data rows that span the others; F[pivots] is lower triangular.
    remainder : float
        Largest entry of K - F F^T; rows and columns of pivots have none.
    """

    F: Array
    pivots: Index
    remainder: float

    def represent(self, w: Array, near: Array) -> Array:
        """Give row weights beta with F^T beta = w, by correcting nearly right ones.

        A solver's w can be more accurate than the sum F^T beta, where large terms cancel. Where
        the remainder could show in the scores, the pivots take all the weight.
        """
        visible = self.remainder * np.abs(near).sum() > _SCORE_TOLERANCE
        near = np.zeros_like(near) if visible else near
        beta = near.copy()
        beta[self.pivots] += _solve_transposed(self.F[self.pivots], w - self.F.T @ near)
        return beta


def kernel_factor(K: Array, monitor: Monitor) -> KernelFactor:
    """Factor a positive semidefinite matrix by Cholesky with complete pivoting.

    Parameters
    ----------
    K : ndarray of shape (N, N)
        Overwritten.
    monitor : Monitor
        Hears of each panel as stage "factorising".

    Returns
    -------
    KernelFactor
        Up to a semidefinite remainder whose diagonal is nowhere larger than 1e-12 of K's largest
        entry; of rank 0 if K = 0.

    Raises
    ------
    Stopped
        If the callback wants to stop.
    """
    N, rank = len(K), 0
    F, order, rest = np.zeros((N, N)), np.arange(N), K.diagonal().copy()
    floor = RANK_TOLERANCE * rest.max()
    while rank < N and rest[rank:].max() > max(floor, 0.0):
        pause = functools.partial(monitor.stage, "factorising", rank / N)
        first, rank = rank, _factor_panel(K, F, order, rest, rank, floor, pause)
        _update_rest(K, F[:, first:rank], rank, pause)
    in_data_order = np.empty((N, rank))
    for start in range(0, N, _ROWS):
        rows = slice(start, start + _ROWS)
        in_data_order[order[rows]] = F[rows, :rank]
        monitor.stage("factorising", 1.0)
    remainder = float(rest[rank:].max(initial=0.0))
    return KernelFactor(in_data_order, order[:rank], remainder)


def _factor_panel(
    K: Array,
    F: Array,
    order: Index,
    rest: Array,
    first: int,
    floor: float,
    pause: Callable[[], None],
) -> int:
    """Add a panel of columns to F, largest remaining diagonal first; return the new rank."""
    last = min(first + _PANEL, len(K))
    for j in range(first, last):
        p = j + int(np.argmax(rest[j:]))
        if rest[p] <= floor:
            return j
        pause()
        _swap(K, F, order, rest, first, j, p)
        pivot = np.sqrt(rest[j])
        below = slice(j + 1, None)
        F[j, j] = pivot
        F[below, j] = (K[below, j] - F[below, first:j] @ F[j, first:j]) / pivot
        rest[below] -= F[below, j] ** 2
    return last


def _swap(K: Array, F: Array, order: Index, rest: Array, first: int, j: int, p: int) -> None:
    if j == p:
        return
    there, back = [j, p], [p, j]
    order[there], rest[there], F[there] = order[back], rest[back], F[back]
    K[there, first:] = K[back, first:]
    K[first:, there] = K[first:, back]


def _update_rest(K: Array, panel: Array, rank: int, pause: Callable[[], None]) -> None:
    below = panel[rank:]
    for start in range(0, len(below), _ROWS):
        rows = below[start : start + _ROWS]
        K[rank + start : rank + start + len(rows), rank:] -= rows @ below.T
        pause()


def cholesky(S: Array, pause: Callable[[], None]) -> Array:
    """Factor a positive definite matrix, S = L L^T.

    Where rounding has made a pivot negative, as little as makes it positive is added to the
    diagonal: the factor then belongs to a matrix within rounding of S.

    Parameters
    ----------
    S : ndarray of shape (r, r)
        Symmetric; overwritten with L below the diagonal, leftovers above.
    pause : callable
        Called between blocks.

    Returns
    -------
    ndarray of shape (r, r)
        S itself, to be used through :func:`cholesky_solve`.
    """
    jitter = 1e-15 * float(np.trace(S))
    for here, below in _blocks(S):
        start = here.start
        S[start:, here] -= S[start:, :start] @ S[here, :start].T
        S[here, here] = _cholesky_with_jitter(S[here, here], jitter)
        S[below, here] = np.linalg.solve(S[here, here], S[below, here].T).T
        pause()
    return S


def _cholesky_with_jitter(S: Array, jitter: float) -> Array:
    added = 0.0
    while True:
        try:
            return np.asarray(np.linalg.cholesky(S + added * np.eye(len(S))), dtype=np.float64)
        except np.linalg.LinAlgError:
            if not np.isfinite(S).all():
                raise
            added = 10.0 * added or jitter


def cholesky_solve(L: Array, b: Array) -> Array:
    """Solve L L^T x = b for a factor that :func:`cholesky` made, shape (r,)."""
    x = b.copy()
    for here, _ in _blocks(L):
        before = slice(0, here.start)
        x[here] = np.linalg.solve(L[here, here], x[here] - L[here, before] @ x[before])
    return _solve_transposed(L, x)


def _solve_transposed(L: Array, b: Array) -> Array:
    x = b.copy()
    for here, below in reversed(_blocks(L)):
        x[here] = np.linalg.solve(L[here, here].T, x[here] - L[below, here].T @ x[below])
    return x


def _blocks(L: Array) -> list[tuple[slice, slice]]:
    """Cut the rows into blocks (each with what lies below), narrower if they are very long."""
    width = int(np.clip(_FLOPS_PER_BLOCK / max(1, L.size), 32, 128))
    return [(slice(i, i + width), slice(i + width, None)) for i in range(0, len(L), width)]
