"""Descent on the hinge of drawn pairs, with a mean of the steps."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from aucstudio.engine.blocks import Passes, mean_variance
from aucstudio.engine.features.embedding import embed_blocks
from aucstudio.engine.features.nystrom import NystromMap, k_means, nystrom_map, rows_to_cluster
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.methods.stochastic._block_descent import BlockRows, draw_partners
from aucstudio.engine.methods.stochastic._hinge_descent import HingeDescent
from aucstudio.engine.methods.stochastic._training import (
    LANDMARKS,
    SEARCH,
)
from aucstudio.engine.monitor import Monitor


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NSAUC(HingeDescent):
    """Stochastic nonlinear AUC maximisation: descent on the pair hinge, one drawn pair a step.

    Minimises ``regularization / 2 * |w|^2 + mean_ij (1 - M_ij)_+`` over all pairs of a positive
    and a negative, on features phi of k-means landmarks (Nystrom), or on the rows themselves if
    the kernel is linear. The paper's lambda is ``regularization``, which is 1 / C for methods
    whose C multiplies the mean pair loss, and 1 / (C m n) where C multiplies a sum.

    An epoch is N steps, N being the number of rows; each draws a pair, all equally likely. Steps
    are 1 / (regularization (t + t0)) long; t0 is found by trying first steps on 1,000 pairs. The
    scorer is the mean of the iterates, each with a weight in proportion to t, at the end of
    the epoch where the objective was least; the objective is computed exactly, over all pairs.
    There is no certificate: ``dual_gap_`` is None, and the number of epochs decides.

    Rows may come in blocks, which are visited in random order: two passes an epoch and two to
    begin with. Up to 10,000 rows of each class, drawn once, then stay in memory as partners, and
    every pair has one of them; the result is not the same as in memory, but for a single block.

    References
    ----------
    Khalid, Ray and Chitsaz (2018), Scalable nonlinear AUC maximization methods, algorithm 3, with
    the step subtracted and a mean that forgets the beginning.
    """

    key: ClassVar[str] = "nsauc"
    title: ClassVar[str] = "NSAUC"
    source: ClassVar[str] = (
        "Khalid, Ray and Chitsaz (2018), Scalable nonlinear AUC maximization methods"
    )
    summary: ClassVar[str] = (
        "Learns from one random pair at a time, on approximate kernel features, and averages "
        "the steps. For large tables."
    )
    in_words: ClassVar[str] = "Stochastic pairwise learning, averaged"
    use_when: ClassVar[str] = (
        "Very many rows with non-linear boundaries; the result depends slightly on the seed."
    )
    adds_up: ClassVar[bool] = True
    wants_margin: ClassVar[bool] = True
    averaged: ClassVar[bool] = True

    def _fit_blocks(self, rows: Passes, context: Context) -> Fit:
        monitor = context.monitor
        if rows.blocks == 1:
            numbers, X = rows.block(0)
            return self._fit(X[np.argsort(numbers)], rows.positive, context)
        embedding = embed_blocks(rows, self._block_map(rows, monitor))
        rng = np.random.default_rng((self.random_state, SEARCH, 1))
        partners = draw_partners(rows, embedding, rng)
        steps = self._learner(partners.F, partners.positive, embedding.scale)
        return self._train_on(
            BlockRows(rows, embedding, partners), steps, embedding, rows.positive, monitor
        )

    def _block_map(self, rows: Passes, monitor: Monitor) -> NystromMap | None:
        if self.kernel == "linear":
            return None
        rng = np.random.default_rng((self.random_state, LANDMARKS))
        sample = rows.take(rows_to_cluster(len(rows), rng))
        settings = KernelSettings(kernel=self.kernel, gamma=self.gamma)
        kernel = settings.settle_kernel_by(rows.features, lambda: mean_variance(rows))
        landmarks = k_means(sample, min(self.n_landmarks, len(sample)), rng, monitor)
        return nystrom_map(kernel, landmarks)
