"""In-place linear algebra with LAPACK, and work in chunks.

LAPACK through scipy holds the interpreter's lock for as long as a call takes. Fits run in a process
of their own, which is ended if it has to be; those over blocks, which share the window's, solve
systems as large as the features are many.

Symbols: A positive semidefinite (n x n); L lower triangular factor, A = L L^T; K kernel matrix
(N x N); F its factor (N x r), K = F F^T.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
import scipy

from aucstudio.engine.arrays import Array, Index

RANK_TOLERANCE = 1e-12
WORK_PER_CHUNK = 1e9  # multiplications; some hundredths of a second
COPY = 1000  # time to move a number through memory, in multiplications

_LEAST = 16
_ROWS_OF_PRODUCTS, _NUMBERS_OF_PRODUCTS = 1_024, 50_000  # fewer spend their time on adding up
_SCORE_TOLERANCE = 1e-6


def nothing() -> None:
    """Do nothing between two chunks of work."""


def chunks(count: int, cost: float = 1.0, most: int = 512) -> Iterator[slice]:
    """Cut a count into slices of at most ``most``, fewer if each takes ``cost`` multiplications.

    What is done for a slice then takes some hundredths of a second, and its temporaries are small.
    """
    step = int(np.clip(WORK_PER_CHUNK / max(1.0, cost), min(_LEAST, most), most))
    return (slice(start, min(count, start + step)) for start in range(0, count, step))


def product(A: Array, B: Array, pause: Callable[[], None] = nothing) -> Array:
    """Return A B in chunks of rows; ``pause`` is called after each."""
    C = np.empty((len(A), *B.shape[1:]))
    for rows in chunks(len(A), B.size, 8_192):
        np.matmul(A[rows], B, out=C[rows])
        pause()
    return C


def gram(F: Array, weights: Array | None = None, pause: Callable[[], None] = nothing) -> Array:
    """Return F^T diag(weights) F, shape (r, r), weights >= 0; ``pause`` is called on the way."""
    r = F.shape[1]
    square = np.zeros((r, r))
    for rows in chunks(len(F), most=max(_ROWS_OF_PRODUCTS, _NUMBERS_OF_PRODUCTS // max(1, r))):
        Z = F[rows] if weights is None else F[rows] * np.sqrt(weights[rows, None])
        square += Z.T @ Z
        pause()
    return square


class Symmetric:
    """A positive semidefinite matrix and, in the same memory, its Cholesky factor.

    The strict upper triangle and a copy of the diagonal keep the matrix; the lower triangle takes
    the factor. So a solution can be refined without a second square of numbers.

    Parameters
    ----------
    square : ndarray of shape (n, n)
        The matrix, both triangles of it; overwritten.
    """

    def __init__(self, square: Array) -> None:
        self._square = np.ascontiguousarray(square)
        self._diagonal = self._square.diagonal().copy()
        self._of_factor = self._diagonal
        self._is_factorised = False

    def __matmul__(self, v: Array) -> Array:
        """Multiply the matrix (without any shift) by a vector."""
        np.fill_diagonal(self._square, self._diagonal)
        if not len(v):
            return v.copy()
        # What LAPACK reads column by column is the transpose: its lower triangle is our upper one.
        found: Array = scipy.linalg.blas.dsymv(1.0, self._square.T, v, lower=1)
        return found

    def factorise(self, shift: float = 0.0) -> None:
        """Write the factor of A + shift I into the lower triangle.

        Raises
        ------
        LinAlgError
            If that is not positive definite to rounding, or not finite.
        """
        if self._is_factorised:
            self.restore()
        np.fill_diagonal(self._square, self._diagonal + shift)
        self._is_factorised = True
        _, info = scipy.linalg.lapack.dpotrf(self._square.T, lower=0, clean=0, overwrite_a=1)
        self._of_factor = self._square.diagonal().copy()
        if info or not np.isfinite(self._of_factor).all():
            raise np.linalg.LinAlgError("the matrix is not positive definite")

    @property
    def factor(self) -> Array:
        """L, as a matrix of its own."""
        np.fill_diagonal(self._square, self._of_factor)
        return np.tril(self._square)

    def substitute(self, b: Array) -> Array:
        """Solve L L^T x = b."""
        np.fill_diagonal(self._square, self._of_factor)
        if not len(b):
            return b.copy()  # which LAPACK refuses
        x: Array = scipy.linalg.lapack.dpotrs(self._square.T, b, lower=0)[0]
        return x

    def whitener(self) -> Array:
        """Return the upper triangular T = L^-T: T T^T is the inverse of what was factorised."""
        np.fill_diagonal(self._square, self._of_factor)
        return np.triu(scipy.linalg.lapack.dtrtri(self._square.T, lower=0)[0])

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
        """
        if shift > 0:
            try:
                self.factorise(shift)
            except np.linalg.LinAlgError:
                pass
            else:
                x = self.substitute(b)
                return x + self.substitute(b - self @ x - shift * x)
        return self._least_norm(shift, b, noise)

    def _least_norm(self, shift: float, b: Array, noise: float) -> Array:
        np.fill_diagonal(self._square, self._diagonal)
        values, vectors = np.linalg.eigh(self._square, UPLO="U")
        floor = max(noise, len(b) * np.finfo(float).eps * values.max(initial=0.0))
        kept = values > floor
        parts = vectors[:, kept].T @ b / (values[kept] + shift)
        x: Array = vectors[:, kept] @ parts
        return x

    def restore(self) -> None:
        """Restore the matrix in the lower triangle."""
        for rows in chunks(len(self._square)):
            above = slice(0, rows.start)
            self._square[rows, above] = self._square[above, rows].T
            corner = np.triu(self._square[rows, rows], 1)
            self._square[rows, rows] = corner + corner.T
        self._is_factorised = False


def cholesky(S: Array) -> Symmetric:
    """Factorise a positive definite matrix, to be used through :meth:`Symmetric.substitute`.

    Where rounding has made it indefinite, as little as makes it definite is added to the diagonal:
    the factor then belongs to a matrix within rounding of S.

    Parameters
    ----------
    S : ndarray of shape (r, r)
        Overwritten.

    Raises
    ------
    LinAlgError
        If it is not finite.
    """
    S = np.ascontiguousarray(S)
    system, added, jitter = Symmetric(S), 0.0, 1e-15 * float(np.trace(S))
    while True:
        try:
            system.factorise(added)
        except np.linalg.LinAlgError:
            system.restore()
            if not np.isfinite(jitter) or not np.isfinite(S).all():
                raise
            added = 10.0 * added or jitter or 1e-15
        else:
            return system


@dataclasses.dataclass(frozen=True, eq=False)
class KernelFactor:
    """A factor of a kernel matrix.

    Attributes
    ----------
    F : ndarray of shape (N, r)
        K = F F^T.
    L : ndarray of shape (r, r)
        F[pivots], which is lower triangular.
    pivots : ndarray of int, shape (r,)
        The data rows that span the others.
    remainder : float
        Largest entry of K - F F^T; rows and columns of pivots have none.
    """

    F: Array
    L: Array
    pivots: Index
    remainder: float

    def represent(self, w: Array, near: Array) -> Array:
        """Return row weights beta with F^T beta = w, by correcting nearly right ones.

        A solver's w can be more accurate than the sum F^T beta, where large terms cancel. Where
        the remainder could show in the scores, the pivots take all the weight.
        """
        visible = self.remainder * np.abs(near).sum() > _SCORE_TOLERANCE
        near = np.zeros_like(near) if visible else near
        beta = near.copy()
        left = w - self.F.T @ near
        beta[self.pivots] += scipy.linalg.solve_triangular(
            self.L, left, lower=True, trans=True, check_finite=False
        )
        return beta


def kernel_factor(K: Array) -> KernelFactor:
    """Factor a positive semidefinite matrix by Cholesky with complete pivoting.

    Parameters
    ----------
    K : ndarray of shape (N, N)
        Overwritten.

    Returns
    -------
    KernelFactor
        Up to a semidefinite remainder whose diagonal is nowhere larger than 1e-12 of K's largest
        entry; of rank 0 if K = 0.
    """
    rest = K.diagonal().copy()
    floor = RANK_TOLERANCE * float(rest.max())
    if not floor > 0.0:
        empty = np.empty((len(K), 0))
        return KernelFactor(empty, empty[:0], np.empty(0, np.intp), max(float(rest.max()), 0.0))
    K = np.ascontiguousarray(K)
    _, order, rank, _ = scipy.linalg.lapack.dpstrf(K.T, tol=floor, lower=0, overwrite_a=1)
    order = order.astype(np.intp) - 1
    F = np.empty((len(K), rank))
    for rows in chunks(len(K), COPY * rank):
        F[order[rows]] = np.tril(K[rows, :rank], rows.start)
    rest -= np.einsum("ij,ij->i", F, F)
    remainder = max(float(rest[order[rank:]].max(initial=0.0)), 0.0)
    return KernelFactor(F, np.tril(K[:rank, :rank]), order[:rank], remainder)
