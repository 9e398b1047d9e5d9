"""The cutting-plane model of a risk: the highest of the planes below it that were seen so far.

Symbols: (a, b) a cut, R(w) >= a.w + b; A the matrix of the a; lam multipliers of the cuts; D value
of the model's dual, a lower bound of min |w|^2 / 2 + C R(w); mu weight of the proximal term.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.solvers import simplex_qp
from aucstudio.engine.types import Array

_IDLE_ROUNDS = 50


class Cuts:
    """Planes below a risk, less those long out of use, with their Gram matrix and multipliers.

    They depend on the data and on the risk, not on C: another fit may reuse them.

    Parameters
    ----------
    n_features : int
    """

    def __init__(self, n_features: int) -> None:
        self._slopes = np.empty((0, n_features))
        self._offsets = np.empty(0)
        self._gram = np.empty((0, 0))
        self._multipliers = np.empty(0)
        self._idle = np.empty(0, dtype=int)

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, slope: Array, offset: float) -> None:
        """Add the plane slope.w + offset."""
        products = np.append(self._slopes @ slope, slope @ slope)
        gram = np.pad(self._gram, (0, 1))
        gram[-1], gram[:, -1] = products, products
        self._gram = gram
        self._slopes = np.vstack((self._slopes, slope))
        self._offsets = np.append(self._offsets, offset)
        self._multipliers = np.append(self._multipliers, 0.0)
        self._idle = np.append(self._idle, 0)

    def tilt(self, slope: Array, offset: float) -> None:
        """Follow the risk where slope.w + offset was added to it."""
        self._slopes = self._slopes + slope
        self._offsets = self._offsets + offset
        self._gram = self._slopes @ self._slopes.T

    def optimum(
        self, C: float, near: Array, mu: float, tolerance: float, stop: Callable[[], bool]
    ) -> tuple[Array, float]:
        """Minimise |w|^2 / 2 + C model(w) + mu |w - near|^2 / 2 through its dual.

        Parameters
        ----------
        C : float
        near : ndarray of shape (n_features,)
        mu : float
        tolerance : float
            How much the dual value may fall short: inexact multipliers bound all the same, and
            as long as the bound has further to rise, they cost few iterations and save much work.
        stop : callable
            Asked now and then; True ends the search where it is.

        Returns
        -------
        w : ndarray of shape (n_features,)
            -A'lam, the minimum of |w|^2 / 2 + lam.(A w + b); (w + mu near) / (1 + mu) is what
            was asked for.
        D : float
            Lower bound of |w|^2 / 2 + C R(w) from the same multipliers, without the proximal
            term.
        """
        linear = (1 + mu) * self._offsets + mu * (self._slopes @ near)
        lam = simplex_qp.solve(self._gram, linear, C, self._multipliers, (1 + mu) * tolerance, stop)
        w = -(lam @ self._slopes)
        bound = float(lam @ self._offsets - w @ w / 2)
        self._multipliers = lam
        self._idle = np.where(lam > 0.0, 0, self._idle + 1)
        if self._idle.max() > _IDLE_ROUNDS:
            self._keep(self._idle <= _IDLE_ROUNDS)
        return w, bound

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self._slopes, self._offsets = self._slopes[kept], self._offsets[kept]
        self._multipliers, self._idle = self._multipliers[kept], self._idle[kept]
        self._gram = self._gram[np.ix_(kept, kept)]
