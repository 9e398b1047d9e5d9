"""Online AUC maximisation on landmark features: the baselines that NSAUC is compared with.

Symbols as in :mod:`aucstudio.engine.methods.stochastic.training`; B+, B- buffers of rows; R radius.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

import numpy as np

from aucstudio.engine.base import Array, Mask
from aucstudio.engine.losses.pairs import PairHinge
from aucstudio.engine.methods.stochastic.training import Measure, StochasticClassifier
from aucstudio.engine.params import param
from aucstudio.engine.solvers.online import BufferedPairs, Saddle
from aucstudio.engine.solvers.stochastic import Features, Learner


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NOAM(StochasticClassifier):
    """Online AUC maximisation (OAM): each row is paired with buffered rows of the other class.

    Minimises ``mean_ij (1 - M_ij)_+`` over all pairs, as far as its steps do: none of them looks
    at that objective, which is computed at the end of each epoch. A row x of class y and a row b
    of the other class' buffer make a step of w along y (x - b). The sequential steps bring the
    margin to 1 if they may be as long: ``min(C_t / 2, (1 - M) / |x - b|^2)``, pair after pair; the
    gradient step is C_t / 2 for every pair whose margin is at most 1, all at once. ``C_t = C
    max(1, rows of the other class so far / buffer_size)``, as in the paper; it takes rows of unit
    norm, here the features are centred and scaled such that their mean square norm is 1. C
    therefore does not multiply a mean loss: smaller is smoother.

    The scorer is the mean of the iterates, or the last one, at the end of the epoch where the
    objective was least. There is no certificate: ``gap_`` is None.

    References
    ----------
    Zhao, Hoi, Jin and Yang (2011), Online AUC maximization; Khalid, Ray and Chitsaz (2018),
    Scalable nonlinear AUC maximization methods, section 5.2, for the features.
    """

    key: ClassVar[str] = "noam"
    title: ClassVar[str] = "NOAM"
    source: ClassVar[str] = (
        "Zhao, Hoi, Jin and Yang (ICML 2011), Online AUC maximization; "
        "Khalid, Ray and Chitsaz (2018), Scalable nonlinear AUC maximization methods"
    )
    summary: ClassVar[str] = (
        "Takes the rows one after another and compares each with a small sample of the other "
        "class, on features of a Gaussian kernel."
    )
    in_words: ClassVar[str] = "Rows one after another, with a buffer"
    use_when: ClassVar[str] = (
        "To study online learning: each row is looked at once. Other methods rank better "
        "where rows can be read again."
    )

    n_epochs: int = param(
        1,
        "How often training goes through all rows.",
        label="Epochs",
        low=1,
        log=True,
        grid=(1, 3, 10),
    )
    C: float = param(
        2.0**-6,
        "Length of the longest steps; smaller is smoother.",
        label="Step limit",
        symbol="C",
        low=0.0,
        low_open=True,
        log=True,
        grid=tuple(2.0**k for k in range(-14, 11, 2)),
    )
    buffer_size: int = param(
        100,
        "Rows of each class that are kept to make pairs with.",
        label="Buffer",
        symbol="|B|",
        low=1,
        high=2_000,
        log=True,
        grid=(50, 100, 200),
    )
    update: str = param(
        "sequential",
        "How a row learns from the buffer.",
        label="Update",
        choices={
            "sequential": "pair after pair, each as far as it takes",
            "gradient": "one step for all pairs together",
        },
    )
    average: bool = param(
        True, "Whether the mean of all iterates ranks, or the last one.", label="Average"
    )

    def _work_per_feature(self) -> float:
        return 2.0 + 0.5 * self.buffer_size

    def _learner(self, F: Features, positive: Mask, scale: float) -> Learner:
        capacity = min(self.buffer_size, len(positive))
        sequential = self.update == "sequential"
        return BufferedPairs(F.shape[1], capacity, self.C, sequential, self.average)

    def _measure(self, positive: Mask, scale: float) -> Measure:
        hinge = PairHinge(positive)
        return lambda w, scores: hinge(scores)[0]


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NSOLAM(StochasticClassifier):
    """Stochastic online AUC maximisation (SOLAM): the square loss of all pairs without pairs.

    Minimises ``mean_ij (1 - M_ij)^2`` subject to ``|w| <= radius``. For a large radius the
    solution is half that of AUC-RLS with regularization 0, whose margins are drawn towards 2. Each
    step looks at one row, by a saddle-point form of the loss; steps are ``zeta / sqrt(t)`` long on
    features scaled such that the longest row has length 1, as the paper takes it; ``radius``
    refers to the features as they are. The scorer is the mean of the iterates, each weighted by
    its step, at the end of the epoch where the objective was least. There is no certificate:
    ``gap_`` is None.

    References
    ----------
    Ying, Wen and Lyu (2016), Stochastic online AUC maximization; Khalid, Ray and Chitsaz (2018),
    Scalable nonlinear AUC maximization methods, section 5.2, for the features.
    """

    key: ClassVar[str] = "nsolam"
    title: ClassVar[str] = "NSOLAM"
    source: ClassVar[str] = (
        "Ying, Wen and Lyu (NIPS 2016), Stochastic online AUC maximization; "
        "Khalid, Ray and Chitsaz (2018), Scalable nonlinear AUC maximization methods"
    )
    summary: ClassVar[str] = (
        "Learns the square loss of all pairs from one row after another, without a buffer, on "
        "features of a Gaussian kernel."
    )
    in_words: ClassVar[str] = "Rows one after another, without a buffer"
    use_when: ClassVar[str] = (
        "To study online learning with the least memory. Other methods rank better where rows "
        "can be read again."
    )

    zeta: float = param(
        3.0,
        "Length of the first step; later ones are divided by the root of their number.",
        label="Step",
        symbol="ζ",
        low=0.0,
        low_open=True,
        log=True,
        grid=(1.0, 3.0, 10.0, 30.0, 100.0),
    )
    radius: float = param(
        10.0,
        "Largest size of the weights; smaller is smoother.",
        label="Radius",
        symbol="R",
        low=0.0,
        low_open=True,
        log=True,
        grid=tuple(10.0**k for k in range(-1, 6)),
    )

    def _learner(self, F: Features, positive: Mask, scale: float) -> Learner:
        kappa = float(np.sqrt(np.einsum("ij,ij->i", F, F).max())) or 1.0
        radius = self.radius * scale
        return Saddle(F.shape[1], float(positive.mean()), self.zeta, radius, kappa)

    def _measure(self, positive: Mask, scale: float) -> Measure:
        return functools.partial(_square_loss, positive)


def _square_loss(positive: Mask, w: Array, scores: Array) -> float:
    """Give mean_ij (1 - M_ij)^2 by means and variances of the classes."""
    s, t = scores[positive], scores[~positive]
    return float((1.0 - (s.mean() - t.mean())) ** 2 + s.var() + t.var())
