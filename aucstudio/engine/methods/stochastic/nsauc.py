"""Descent on the hinge of drawn pairs or rows, on landmark features: NSAUC and NSVMSGD2.

Symbols: phi(x) Nystrom features of a row, or the row itself if the kernel is linear; x_i
positives, z_j negatives, m and n of them, N in all; M_ij = w.(phi(x_i) - phi(z_j)) margin;
lambda regularisation against the mean loss; w' = scale w weights among scaled features.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from aucstudio.engine.base import Array, Fit, Mask
from aucstudio.engine.blocks import Passes
from aucstudio.engine.features.embedding import embed_blocks
from aucstudio.engine.features.kernels import KernelSettings
from aucstudio.engine.features.nystrom import NystromMap, k_means, nystrom_map, rows_to_cluster
from aucstudio.engine.losses.pairs import PairHinge
from aucstudio.engine.methods.least_squares.block_moments import mean_variance
from aucstudio.engine.methods.stochastic.block_descent import BlockDescent, draw_partners
from aucstudio.engine.methods.stochastic.training import (
    ALL_ALIKE,
    LANDMARKS,
    SEARCH,
    Measure,
    StochasticClassifier,
)
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import param
from aucstudio.engine.solvers.stochastic import (
    Draw,
    Features,
    PairSteps,
    draw_pairs,
    draw_rows,
    search_rate,
)

_LARGEST = 1e100  # lambda in F's units; beyond it numbers overflow before scores mean anything


def _regularization(default: float) -> Any:
    return param(
        default,
        "Weight of |w|² against the mean loss; larger is smoother.",
        label="Regularisation",
        symbol="λ",
        low=0.0,
        low_open=True,
        log=True,
        grid=tuple(10.0**k for k in range(0, -9, -1)),
    )


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class _HingeDescent(StochasticClassifier):
    """A method that descends on a mean hinge loss with steps of size 1 / (lambda (t + t0))."""

    averaged: ClassVar[bool]

    regularization: float = _regularization(1e-3)

    def _learner(self, F: Features, positive: Mask, scale: float) -> PairSteps:
        rng = np.random.default_rng((self.random_state, SEARCH, 0))
        regularization, draw = self._scaled(scale), self._draw()
        rate = search_rate(F, draw(positive, rng), regularization)
        return PairSteps(F.shape[1], regularization, rate, draw, self.averaged)

    def _draw(self) -> Draw:
        return draw_pairs

    def _measure(self, positive: Mask, scale: float) -> Measure:
        return functools.partial(_regularised, self._loss(positive), self._scaled(scale))

    def _scaled(self, scale: float) -> float:
        """Give lambda against |w'|^2."""
        return min(self.regularization / scale / scale, _LARGEST)

    def _loss(self, positive: Mask) -> Callable[[Array], float]:
        hinge = PairHinge(positive)
        return lambda scores: hinge(scores)[0]


def _regularised(
    loss: Callable[[Array], float], regularization: float, w: Array, scores: Array
) -> float:
    return 0.5 * regularization * float(w @ w) + loss(scores)


def row_hinge(positive: Mask, balanced: bool, scores: Array) -> float:
    """Give the mean over the rows of (1 - y_i f_i)_+, or the mean of the means of the classes."""
    loss = np.maximum(1.0 - np.where(positive, scores, -scores), 0.0)
    if balanced:
        return 0.5 * float(loss[positive].mean() + loss[~positive].mean())
    return float(loss.mean())


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NSAUC(_HingeDescent):
    """Stochastic nonlinear AUC maximisation: descent on the pair hinge, one drawn pair a step.

    Minimises ``regularization / 2 * |w|^2 + mean_ij (1 - M_ij)_+`` over all pairs of a positive
    and a negative, on features phi of k-means landmarks (Nystrom), or on the rows themselves if
    the kernel is linear. The paper's lambda is ``regularization``, which is 1 / C for methods
    whose C multiplies the mean pair loss, and 1 / (C m n) where C multiplies a sum.

    An epoch is N steps, N being the number of rows; each draws a pair, all equally likely. Steps
    are 1 / (regularization (t + t0)) long; t0 is found by trying first steps on 1,000 pairs. The
    scorer is the mean of the iterates, each with a weight in proportion to t, at the end of
    the epoch where the objective was least; the objective is computed exactly, over all pairs.
    There is no certificate: ``gap_`` is None, and the number of epochs decides.

    Rows may come in blocks, which are visited in random order: two passes an epoch and two to
    begin with. Up to 10,000 rows of each class, drawn once, then stay in memory as partners, and
    every pair has one of them; the result is not the same as in memory, but for a single block.
    :meth:`fit_more` is not possible afterwards.

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
        "Learns from one random pair after another, on features of a Gaussian kernel; the mean "
        "of all steps ranks. For tables of many rows."
    )
    in_words: ClassVar[str] = "Random pairs with a mean of steps"
    use_when: ClassVar[str] = (
        "Very many rows and curved borders; the result depends a little on the seed."
    )
    adds_up: ClassVar[bool] = True
    averaged: ClassVar[bool] = True

    def _fit_blocks(self, rows: Passes, monitor: Monitor) -> Fit:
        if rows.blocks == 1:
            numbers, X = rows.block(0)
            return self._fit(X[np.argsort(numbers)], rows.positive, monitor)
        if hasattr(self, "progress_"):
            del self.progress_  # fit_more needs rows in memory
        embedding = embed_blocks(rows, self._block_map(rows, monitor))
        rng = np.random.default_rng((self.random_state, SEARCH, 1))
        partners = draw_partners(rows, embedding, rng)
        steps = self._learner(partners.F, partners.positive, embedding.scale)
        descent = BlockDescent(rows, embedding, partners, steps, self.random_state)
        measure = self._measure(rows.positive, embedding.scale)
        w, objective, epochs = descent.run(self.n_epochs, measure, monitor)
        notes = () if embedding.spread else (ALL_ALIKE,)
        return Fit(embedding.scorer(w), objective, n_iter=epochs, notes=notes)

    def _block_map(self, rows: Passes, monitor: Monitor) -> NystromMap | None:
        if self.kernel == "linear":
            return None
        rng = np.random.default_rng((self.random_state, LANDMARKS))
        sample = rows.take(rows_to_cluster(len(rows), rng))
        settings = KernelSettings(kernel=self.kernel, gamma=self.gamma)
        kernel = settings.settle_kernel_by(rows.features, lambda: mean_variance(rows))
        landmarks = k_means(sample, min(self.n_landmarks, len(sample)), rng, monitor)
        return nystrom_map(kernel, landmarks)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NSVMSGD2(_HingeDescent):
    """SVMSGD2 on landmark features: the steps of NSAUC without their mean.

    Minimises ``regularization / 2 * |w|^2 + mean_ij (1 - M_ij)_+`` over all pairs, as NSAUC does
    and with the same steps; the scorer is an iterate itself, that at the end of the epoch where
    the objective was least. This is how the NSAUC paper uses it. With ``loss="rows"`` it is
    SVMSGD2 as published, for single rows: the loss is ``mean_i (1 - y_i w.(phi(x_i) -
    mean phi))_+``; with ``"balanced-rows"`` it is the mean of the mean losses of the classes. The
    published lambda is ``regularization``; there is no constant.

    There is no certificate: ``gap_`` is None, and the number of epochs decides.

    References
    ----------
    Bordes, Bottou and Gallinari (2009), SGD-QN: careful quasi-Newton stochastic gradient descent;
    Khalid, Ray and Chitsaz (2018), Scalable nonlinear AUC maximization methods, section 5.5.
    """

    key: ClassVar[str] = "nsvmsgd2"
    title: ClassVar[str] = "NSVMSGD2"
    source: ClassVar[str] = (
        "Bordes, Bottou and Gallinari (JMLR 2009), SGD-QN; "
        "Khalid, Ray and Chitsaz (2018), Scalable nonlinear AUC maximization methods"
    )
    summary: ClassVar[str] = (
        "Learns from one random pair after another, on features of a Gaussian kernel, without "
        "taking a mean: the yardstick for NSAUC."
    )
    in_words: ClassVar[str] = "Random pairs without a mean"
    use_when: ClassVar[str] = "To compare with NSAUC; its result depends more on the seed."
    averaged: ClassVar[bool] = False

    loss: str = param(
        "pairs",
        "What a step looks at.",
        label="Loss",
        symbol="ℓ",
        choices={
            "pairs": "a positive against a negative: the AUC",
            "rows": "one row and its class, as the method was published",
            "balanced-rows": "one row and its class, both classes equally often",
        },
    )

    def _draw(self) -> Draw:
        if self.loss == "pairs":
            return draw_pairs
        return functools.partial(draw_rows, balanced=self.loss == "balanced-rows")

    def _loss(self, positive: Mask) -> Callable[[Array], float]:
        if self.loss == "pairs":
            return super()._loss(positive)
        return functools.partial(row_hinge, positive, self.loss == "balanced-rows")
