"""NSOLAM: online AUC maximisation by the square loss, without a buffer."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from aucstudio.engine.losses.pairs import square_loss
from aucstudio.engine.methods.settings import POSITIVE
from aucstudio.engine.methods.stochastic._training import StochasticClassifier
from aucstudio.engine.params import param
from aucstudio.engine.solvers.online import Saddle
from aucstudio.engine.solvers.stochastic import Features, Learner, Measure
from aucstudio.engine.types import Mask


class NSOLAM(StochasticClassifier):
    """Minimises the squared loss of all pairs from one row at a time, without a buffer.

    Minimises ``mean_ij (1 - M_ij)^2`` subject to ``|w| <= radius``. For a large radius the
    solution is half that of AUC-RLS with regularization 0, whose margins approach 2. Each step
    uses one row, by a saddle-point form of the loss. Its size is ``zeta / sqrt(t)`` on features
    scaled so that the longest row has length 1, as in the paper; ``radius`` refers to the original
    features. The scorer is the mean of the iterates, weighted by their steps, at the end of the
    epoch with the lowest objective. There is no certificate: ``dual_gap_`` is None.

    References
    ----------
    Ying, Wen and Lyu (NIPS 2016), Stochastic online AUC maximization; Khalid, Ray and Chitsaz
    (2018), Scalable nonlinear AUC maximization methods.

    Section 5.2 of the latter, for the features.

    Use when
    --------
    To study online learning with minimal memory. Other methods rank better where rows can be read
    again.
    """

    title: ClassVar[str] = "NSOLAM"
    solves: ClassVar[str] = "stochastic least squares"
    in_words: ClassVar[str] = "Online AUC learning without a buffer"

    zeta: float = param(
        3.0,
        "Length of the first step; later ones are divided by the square root of their number.",
        label="Step",
        symbol="ζ",
        **POSITIVE,
        grid=(1.0, 3.0, 10.0, 30.0, 100.0),
    )
    radius: float = param(
        10.0,
        "Largest size of the weights; smaller is smoother.",
        label="Radius",
        symbol="R",
        **POSITIVE,
        grid=tuple(10.0**k for k in range(-1, 6)),
    )

    def _learner(self, F: Features, positive: Mask, scale: float) -> Learner:
        kappa = float(np.sqrt(np.einsum("ij,ij->i", F, F).max())) or 1.0
        radius = self.radius * scale
        return Saddle(F.shape[1], float(positive.mean()), self.zeta, radius, kappa)

    def _measure(self, positive: Mask, scale: float) -> Measure:
        return lambda w, scores: square_loss(positive, scores)
