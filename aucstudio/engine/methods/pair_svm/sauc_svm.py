"""SAUC-SVM: AUC-SVM with a penalty on the spread of scores within the classes.

Symbols: Sigma covariance of all difference vectors, the sum of the class covariances with divisors
m and n; lambda its weight; K kernel matrix of all rows, K = F F^T; R centring within classes over
the class sizes, so that Sigma = F^T R F; L L^T = I + lambda Sigma, T = L^-T; v = L^T w solver's
direction, |v|^2 = |w|^2 + lambda w' Sigma w; beta = A^T a, c weights of the data rows.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from aucstudio.engine.cost import refuse_beyond_memory
from aucstudio.engine.features.spaces import Expansion, Vectors
from aucstudio.engine.fit import Context
from aucstudio.engine.linalg import COPY, cholesky, chunks, gram, product
from aucstudio.engine.methods.pair_svm._training import PairSVM
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import param
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.types import Array, Index, Mask, Rows


class SAUCSVM(PairSVM):
    """AUC-SVM with a penalty on the spread of scores within each class; for sampled pairs.

    Minimises ``1/2 |w|^2 + structure / 2 w' Sigma w + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))``
    over the pairs used, f(x) = <w, phi(x)>. Sigma is the covariance of the difference vectors of
    all pairs, used or not: w' Sigma w is the variance of the positives' scores plus that of the
    negatives' (divisors m and n).

    It is the AUC-SVM of the kernel K (I + structure R K)^-1, which is what is solved, on a factor
    of it; the scorer is stored in terms of the ordinary kernel. With ``structure`` 0 it is AUC-SVM.

    References
    ----------
    Wang, Chen and Xue, Structure-embedded AUC-SVM.

    Eqs. 7 to 20. Eq. 20 lacks a lambda, and the inverses of eqs. 17 to 20 do not exist as printed.

    Use when
    --------
    Few rows or few sampled pairs: it also uses the spread of the rows within each class.
    """

    title: ClassVar[str] = "SAUC-SVM"
    solves: ClassVar[str] = "pair hinge with class spread"
    in_words: ClassVar[str] = "Pairwise SVM with class structure"

    structure: float = param(
        1.0,
        "Weight of the spread of the scores within the classes; 0 is AUC-SVM.",
        label="Structure",
        symbol="λ",
        low=0.0,
        log=True,
        grid=tuple(10.0**k for k in range(3, -4, -1)),
    )

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices beyond memory; neighbours use few rows, the covariance all."""
        if self.structure > 0 and self.kernel != "linear":
            what = f"the covariance of {positives + negatives:,} rows under this kernel"
            refuse_beyond_memory(self.estimate(positives, negatives, features), what)
        super().check_size(positives, negatives, features)

    def _copies(self) -> float:
        return super()._copies() + (0.0 if self.structure == 0 else 2.0)

    def _kernel_numbers(self, used: int, rows: int) -> float:
        return super()._kernel_numbers(used, rows) if self.structure == 0 else 4.6 * rows**2

    def _space(self, X: Array, positive: Mask, rows: Index, context: Context) -> Vectors:
        if self.structure == 0:
            return super()._space(X, positive, rows, context)
        base = super()._space(X, positive, np.arange(len(X)), context)
        T = _whitener(base.matrix, positive, self.structure, context.monitor)
        F = base.matrix if len(rows) == len(X) else base.matrix[rows]
        whitened = product(F, T, functools.partial(context.monitor.stage, "whitening"))
        return Vectors(whitened, _Whitened(base, T, positive, self.structure, rows))

    def _kernel_space(self, X: Array, positive: Mask, rows: Index, context: Context) -> Expansion:
        if self.structure == 0:
            return super()._kernel_space(X, positive, rows, context)
        look = functools.partial(context.monitor.stage, "kernel matrix")
        return self._space(X, positive, rows, context).dual(look)

    def _space_of_all(self, X: Rows, positive: Mask, context: Context) -> Vectors:
        if self.structure == 0:
            return super()._space_of_all(X, positive, context)
        return self._space(X, positive, np.arange(len(X)), context)


@dataclasses.dataclass(frozen=True, eq=False)
class _Whitened:
    """Directions v among rows that T has made, as directions w = T v among the rows before."""

    base: Vectors
    T: Array
    positive: Mask
    structure: float
    rows: Index

    def scorer(self, v: Array, near: Array | None = None) -> Scorer:
        w = self.T @ v
        if near is None:
            return self.base.scorer(w)
        c = -self.structure * _spread(self.base.scores(w), self.positive)
        c[self.rows] += near
        return self.base.scorer(w, c)


def _whitener(F: Array, positive: Mask, weight: float, monitor: Monitor) -> Array:
    """Return T with T T^T = (I + lambda Sigma)^-1, shape (r, r), upper triangular."""
    pause = functools.partial(monitor.stage, "class covariance")
    S = weight * _covariance(F, positive, pause)
    S[np.diag_indices_from(S)] += 1.0
    pause()
    return cholesky(S).whitener()


def _covariance(F: Array, positive: Mask, pause: Callable[[], None]) -> Array:
    """Return Sigma = F^T R F, shape (r, r)."""
    Z, r = np.empty_like(F), F.shape[1]
    for rows in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        parts = [rows[chunk] for chunk in chunks(len(rows), COPY * r)]
        mean = np.zeros(r)
        for part in parts:
            mean += F[part].sum(axis=0) / len(rows)
            pause()
        for part in parts:
            Z[part] = (F[part] - mean) / np.sqrt(len(rows))
            pause()
    return gram(Z, pause=pause)


def _spread(scores: Array, positive: Mask) -> Array:
    """Apply R: take each score from the mean of its class, divide by the size of the class."""
    spread = np.empty_like(scores)
    for rows in (positive, ~positive):
        spread[rows] = (scores[rows] - scores[rows].mean()) / np.count_nonzero(rows)
    return spread
