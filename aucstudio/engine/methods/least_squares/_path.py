"""AUC-RLS at many values of the regularisation from one eigendecomposition.

Symbols as in ``least_squares``: R K R = V G V' once, then a = R V (G + lambda)^-1 V' R Y.
"""

from __future__ import annotations

import numpy as np

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.methods.least_squares._systems import eigensystem, ordered_gram, pair_mixing
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.types import Array, Mask

_EPS = float(np.finfo(float).eps)


class AUCRLSPath:
    """What :class:`~aucstudio.engine.AUCRLS` finds with a kernel, as a function of lambda.

    Takes O(N^3) once, in one call that cannot be interrupted, and O(N^2) for each value.

    Parameters
    ----------
    data : ndarray
        Rows of shape (n_samples, n_features) if ``kernel`` is given, else their Gram matrix,
        which is kept as it is.
    positive : ndarray of shape (n_samples,)
        True for the positives; at least one of each class.
    kernel : Kernel, optional
    monitor : Monitor, optional
        Heard while the matrices are prepared.

    References
    ----------
    Pahikkala, Airola, Suominen, Boberg, Salakoski (2008), Efficient AUC maximization with
    regularized least-squares; eq. 8.
    """

    def __init__(
        self,
        data: Array,
        positive: Mask,
        kernel: Kernel | None = None,
        monitor: Monitor | None = None,
    ) -> None:
        monitor = monitor or Monitor()
        self._mixing, target = pair_mixing(positive)
        K = ordered_gram(data, self._mixing.order, kernel, monitor)
        noise = len(K) * _EPS * self._mixing.size * float(np.abs(K.diagonal()).max())
        self._mixing.both_sides(K, monitor)
        self._values, self._vectors = eigensystem(K, noise)
        self._parts: Array = self._vectors.T @ target

    def coefficients(self, regularization: float) -> Array:
        """Give the weights of the rows, shape (n_samples,); at 0 those of least norm."""
        kept = self._values > 0
        parts = np.zeros_like(self._parts)
        parts[kept] = self._parts[kept] / (self._values[kept] + regularization)
        if regularization > 0:
            parts[~kept] = self._parts[~kept] / regularization
        return self._mixing.weights(self._vectors @ parts)

    def scores(self, K: Array, regularization: float) -> Array:
        """Score rows from their kernel values with the training rows.

        Parameters
        ----------
        K : ndarray of shape (n_rows, n_samples)
        regularization : float

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        scores: Array = K @ self.coefficients(regularization)
        return scores
