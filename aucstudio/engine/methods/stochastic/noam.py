"""NOAM: online AUC maximisation with a buffer, on landmark features."""

from __future__ import annotations

from typing import ClassVar

from aucstudio.engine.losses.pairs import PairHinge
from aucstudio.engine.methods.settings import POSITIVE
from aucstudio.engine.methods.stochastic._training import StochasticClassifier
from aucstudio.engine.params import param
from aucstudio.engine.solvers.online import BufferedPairs
from aucstudio.engine.solvers.stochastic import Features, Learner, Measure
from aucstudio.engine.types import Mask


class NOAM(StochasticClassifier):
    """Compares each row with a small sample of the other class, on approximate kernel features.

    Minimises ``mean_ij (1 - M_ij)_+`` over all pairs approximately: no step uses that objective,
    which is computed at the end of each epoch. A row x of class y and a row b of the other class'
    buffer move w along y (x - b). A sequential step brings the margin to 1 where its limit allows:
    ``min(C_t / 2, (1 - M) / |x - b|^2)``, pair after pair. A gradient step is C_t / 2 for every
    pair whose margin is at most 1, all at once. ``C_t = C max(1, rows of the other class so far /
    buffer_size)``, as in the paper, which assumes rows of unit norm; here the features are centred
    and scaled to a mean square norm of 1. C does not multiply a mean loss: smaller is smoother.

    The scorer is the mean of the iterates, or the last one, of the epoch with the lowest
    objective. There is no certificate: ``dual_gap_`` is None.

    References
    ----------
    Zhao, Hoi, Jin and Yang (ICML 2011), Online AUC maximization; Khalid, Ray and Chitsaz (2018),
    Scalable nonlinear AUC maximization methods.

    Section 5.2 of the latter, for the features.

    Use when
    --------
    To study online learning: each row is seen once. Other methods rank better where rows can be
    read again.
    """

    title: ClassVar[str] = "NOAM"
    solves: ClassVar[str] = "mean pair hinge"
    in_words: ClassVar[str] = "Online AUC learning with a buffer"

    n_epochs: int = param(
        1,
        "Passes over the training rows.",
        unit="passes over the rows",
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
        **POSITIVE,
        grid=tuple(2.0**k for k in range(-14, 11, 2)),
    )
    buffer_size: int = param(
        100,
        "Rows of each class kept in the buffer, with which new rows form pairs.",
        unit="rows of each class",
        label="Buffer",
        symbol="|B|",
        low=1,
        high=2_000,
        log=True,
        grid=(50, 100, 200),
    )
    update: str = param(
        "sequential",
        "How a row is compared with the buffer.",
        label="Update",
        choices={
            "sequential": "pair by pair, each with the step it needs",
            "gradient": "one step for all its pairs together",
        },
    )
    average: bool = param(
        True, "Whether the score is the mean of all iterates or the last one.", label="Average"
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
