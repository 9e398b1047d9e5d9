"""Kernel functions and their settings.

Symbols: k(x, z) kernel; gamma of scikit-learn's Gaussian exp(-gamma |x - z|^2), that is
sigma = 1 / sqrt(2 gamma); K Gram matrix.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Protocol

import numpy as np

from aucstudio.engine.arrays import Array
from aucstudio.engine.linalg import chunks
from aucstudio.engine.params import multiple, param

_ROWS_IN_CACHE = 128  # of a kernel matrix: their passes read the processor's cache


class Values(Protocol):
    """Kernel values against some rows."""

    def __call__(self, A: Array, out: Array | None = None) -> Array:
        """Compute k(a, b) for the rows of A, all at once."""


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel function with all its constants resolved.

    Attributes
    ----------
    kind : {"linear", "rbf", "poly"}
    gamma : float
        Width of the Gaussian and scale of the polynomial (gamma <x, z> + coef0)^degree.
    degree : int
    coef0 : float
    """

    kind: str = "linear"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0

    @property
    def is_linear(self) -> bool:
        return self.kind == "linear"

    def __call__(
        self, A: Array, B: Array, progress: Callable[[float], None] | None = None
    ) -> Array:
        """Compute k(a, b) for the rows of A against those of B, shape (len(A), len(B)).

        Rows are done in chunks that fit the processor's cache; ``progress`` is called after each.
        """
        values, K = self.against(B), np.empty((len(A), len(B)))
        for rows in chunks(len(A), most=_ROWS_IN_CACHE):
            values(A[rows], K[rows])
            if progress is not None:
                progress(rows.stop / len(A))
        return K

    def against(self, B: Array) -> Values:
        """Return k against the rows of B as a function of a chunk of rows and of where to write."""
        # Distances are taken about a point of the data: offsets far from 0 then cost no digits.
        centre = B.mean(axis=0) if self.kind == "rbf" and len(B) else np.zeros(B.shape[1])
        Bt = np.ascontiguousarray((B - centre).T)
        b2 = np.einsum("ij,ij->j", Bt, Bt)

        def values(A: Array, out: Array | None = None) -> Array:
            A = A - centre
            K = np.matmul(A, Bt, out=out)
            if self.kind == "rbf":
                K *= -2.0
                K += b2
                K += np.einsum("ij,ij->i", A, A)[:, None]
                np.maximum(K, 0.0, out=K)
                K *= -self.gamma
                np.exp(K, out=K)
            elif self.kind == "poly":
                K *= self.gamma
                K += self.coef0
                np.power(K, self.degree, out=K)
            return K

        return values


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class KernelSettings:
    """The settings shared by all methods that take a kernel.

    From code, ``kernel="precomputed"`` takes the matrix of kernel values of the training rows in
    place of X, and to score rows their kernel values with the training rows.
    """

    kernel: str = param("linear")
    gamma: float | str = param("scale")
    degree: int = param(3)
    coef0: float = param(1.0)

    def resolve_kernel(
        self, X: Array, given: Kernel | None = None, weights: Array | None = None
    ) -> Kernel:
        """Return the kernel with 'scale' and 'auto' resolved for the rows of X.

        The caller's own kernel values, if there are ``given`` ones, go before the settings.
        """
        return given or self.resolve_kernel_by(X.shape[1], lambda: _variance(X, weights))

    def resolve_kernel_by(self, features: int, variance: Callable[[], float]) -> Kernel:
        """Resolve without the rows; ``variance()`` returns that of all values."""
        gamma = self.gamma
        if self.kernel == "linear":
            gamma = 1.0
        if isinstance(gamma, str):
            word, factor = multiple(gamma)
            spread = variance() if word == "scale" else 1.0
            gamma = factor / (features * (spread if spread > 0 else 1.0))
        return Kernel(self.kernel, float(gamma), int(self.degree), float(self.coef0))


def _variance(X: Array, weights: Array | None) -> float:
    """Return the variance of all numbers in rows that may be weighted."""
    if weights is None:
        return float(X.var())
    mean = np.average(X.mean(axis=1), weights=weights)
    return float(np.average(((X - mean) ** 2).mean(axis=1), weights=weights))
