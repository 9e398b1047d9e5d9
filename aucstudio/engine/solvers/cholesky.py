"""Solve (A + shift I) x = b by a blocked Cholesky factorisation that can be stopped on the way.

numpy only: its linear algebra releases the interpreter, so a window stays alive beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.monitor import Monitor

Array = NDArray[np.float64]

BLOCK = 512
_FLOPS_PER_LOOK = 1.5e9


class Symmetric:
    """A positive semidefinite matrix that is solved in its own memory.

    The strict upper triangle and a copy of the diagonal keep the matrix; the lower triangle
    takes the factor. So a solution can be refined without a second square of numbers.

    Parameters
    ----------
    square : ndarray of shape (n, n)
        The matrix; overwritten.
    monitor : Monitor
        Heard between blocks, which is where a stop takes hold.
    """

    def __init__(self, square: Array, monitor: Monitor) -> None:
        self._square = square
        self._diagonal = square.diagonal().copy()
        self._monitor = monitor
        self._inverses: list[Array] = []

    def __matmul__(self, v: Array) -> Array:
        """Multiply the matrix (without any shift) by a vector."""
        product = self._diagonal * v
        for rows in _blocks(len(v)):
            self._monitor.stage("solving")
            corner = np.triu(self._square[rows, rows], 1)
            beside = self._square[rows, rows.stop :]
            product[rows] += corner @ v[rows] + corner.T @ v[rows] + beside @ v[rows.stop :]
            product[rows.stop :] += beside.T @ v[rows]
        return product

    def solve(self, shift: float, b: Array, noise: float = 0.0) -> Array:
        """Solve (A + shift I) x = b, in the least-norm sense where that is singular.

        Parameters
        ----------
        shift : float
            At least 0.
        b : ndarray of shape (n,)
        noise : float
            Size of the rounding errors in A: in a singular system, eigenvalues up to it count
            as 0 and their directions are left out.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        Stopped
            If the monitor wants to stop.
        """
        if shift > 0:
            try:
                self._factorise(shift)
            except np.linalg.LinAlgError:
                pass
            else:
                x = self._substitute(b)
                return x + self._substitute(b - self @ x - shift * x)
        return self._least_norm(shift, b, noise)

    def _factorise(self, shift: float) -> None:
        """Write the factor into the lower triangle, one block of columns after the other."""
        A = self._square
        np.fill_diagonal(A, self._diagonal + shift)
        for cols in _blocks(len(A)):
            self._monitor.stage("factorisation", (cols.start / len(A)) ** 2)
            done = A[cols, : cols.start]
            corner = np.linalg.cholesky(A[cols, cols] - done @ done.T)
            inverse = np.linalg.inv(corner)
            A[cols, cols] = corner + np.triu(A[cols, cols], 1)
            self._inverses.append(inverse)
            for rows in _panel(len(A), cols):
                A[rows, cols] = (A[rows, cols] - A[rows, : cols.start] @ done.T) @ inverse.T
                self._monitor.stage("factorisation", (cols.stop / len(A)) ** 2)

    def _substitute(self, b: Array) -> Array:
        """Solve with the factor: forwards, then backwards with its transpose."""
        x, blocks = b.copy(), list(_blocks(len(b)))
        for rows, inverse in zip(blocks, self._inverses, strict=True):
            self._monitor.stage("solving")
            x[rows] = inverse @ (x[rows] - self._square[rows, : rows.start] @ x[: rows.start])
        for rows, inverse in zip(blocks[::-1], self._inverses[::-1], strict=True):
            self._monitor.stage("solving")
            below = self._square[rows.stop :, rows]
            x[rows] = inverse.T @ (x[rows] - below.T @ x[rows.stop :])
        return x

    def _least_norm(self, shift: float, b: Array, noise: float) -> Array:
        np.fill_diagonal(self._square, self._diagonal)
        values, vectors = np.linalg.eigh(self._square, UPLO="U")
        floor = max(noise, len(b) * np.finfo(float).eps * values.max(initial=0.0))
        kept = values > floor
        parts = vectors[:, kept].T @ b / (values[kept] + shift)
        x: Array = vectors[:, kept] @ parts
        return x


def _blocks(n: int) -> Iterator[slice]:
    for start in range(0, n, BLOCK):
        yield slice(start, min(start + BLOCK, n))


def _panel(n: int, cols: slice) -> Iterator[slice]:
    """Cut the rows below a diagonal block so that each piece takes a few hundredths of a second."""
    height = max(64, int(_FLOPS_PER_LOOK / (2 * BLOCK * (cols.start + BLOCK))))
    for start in range(cols.stop, n, height):
        yield slice(start, min(start + height, n))
