"""Kernel matrices computed by the caller.

Inside a fit a row is its number, and the kernel looks the pair of numbers up: methods need not
know. What comes out scores rows of kernel values with the training rows.
"""

from __future__ import annotations

import dataclasses
from typing import cast

import numpy as np

from aucstudio.engine.kernels import Kernel, Values
from aucstudio.engine.monitor import Callback, Step
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.scorers import KernelScorer, LinearScorer, Scorer
from aucstudio.engine.types import Array

_SYMMETRIC = 1e-8
_NEGLIGIBLE = 1e-7  # of the trace: single precision makes eigenvalues as low as that


@dataclasses.dataclass(frozen=True, eq=False)
class GivenKernel(Kernel):
    """A kernel known on the training rows alone.

    Attributes
    ----------
    matrix : ndarray of shape (n_samples, n_samples)
    """

    kind: str = "precomputed"
    matrix: Array = dataclasses.field(default_factory=lambda: np.zeros((0, 0)))

    def against(self, B: Array) -> Values:
        """Look up k for the row numbers in the only column of the rows."""
        columns = B[:, 0].astype(np.intp)

        def values(A: Array, out: Array | None = None) -> Array:
            found = self.matrix[np.ix_(A[:, 0].astype(np.intp), columns)]
            if out is None:
                return found
            out[:] = found
            return out

        return values


def given_kernel(K: Array) -> GivenKernel:
    """Take a kernel matrix of the training rows.

    Raises
    ------
    InvalidSetting
        If it is not square, not symmetric, or has eigenvalues below 0 beyond rounding.
    """
    if K.shape[0] != K.shape[1]:
        raise InvalidSetting(
            "kernel",
            f"a precomputed kernel takes the square matrix of all training rows; X is "
            f"{K.shape[0]} × {K.shape[1]}",
        )
    if not np.allclose(K, K.T, rtol=0.0, atol=_SYMMETRIC * float(np.abs(K).max())):
        raise InvalidSetting("kernel", "a precomputed kernel matrix must be symmetric; X is not")
    _require_positive(K)
    return GivenKernel(matrix=K)


def _require_positive(K: Array) -> None:
    """Refuse a matrix that no kernel has: training on it would minimise nothing."""
    least = _NEGLIGIBLE * float(np.abs(K.diagonal()).sum())
    try:
        np.linalg.cholesky(K + least * np.eye(len(K)))
    except np.linalg.LinAlgError:
        lowest = float(np.linalg.eigvalsh(K)[0])
        if lowest < -least or least == 0.0:
            raise InvalidSetting(
                "kernel",
                "a precomputed kernel matrix must have no eigenvalue below 0; the lowest of X is "
                f"{lowest:.3g}. Distances or other similarities have to be made a kernel first, "
                f"for example by adding {-lowest:.3g} to the diagonal",
            ) from None


def row_numbers(K: Array) -> Array:
    """Return a placeholder for the rows, shape (n_samples, 1)."""
    return np.arange(len(K), dtype=np.float64)[:, None]


def on_columns(scorer: Scorer, size: int) -> Scorer:
    """Turn weights of row numbers into weights of the columns of a kernel matrix."""
    found = cast("KernelScorer", scorer)
    weights = np.zeros(size)
    weights[found.points[:, 0].astype(np.intp)] = found.weights
    return LinearScorer(weights)


def callback_on_columns(callback: Callback | None, size: int) -> Callback | None:
    """Wrap a callback so that it receives scorers of kernel values."""
    if callback is None:
        return None

    def translate(step: Step) -> object:
        inner = step.scorer
        if inner is not None:
            step = dataclasses.replace(step, scorer=lambda: on_columns(inner(), size))
        return callback(step)

    return translate
