"""Landmark features and epochs that the stochastic methods share.

Symbols: phi(x) Nystrom features of a row, or the row itself if the kernel is linear; N rows; F
features centred and scaled, w' = scale w the weights among them.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.cost import (
    FEWER_LANDMARKS,
    NUMBER,
    Cost,
    Work,
    cluster_bytes,
    cost_of,
    landmarks,
)
from aucstudio.engine.features.embedding import Embedding, embed
from aucstudio.engine.features.nystrom import NystromMap, k_means, nystrom_map
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.kernels import KernelSettings, width
from aucstudio.engine.losses.pairs import PairHinge
from aucstudio.engine.methods.settings import landmark_count, regularization
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import param
from aucstudio.engine.solvers.stochastic import (
    Draw,
    Features,
    Learner,
    Measure,
    PairSteps,
    RowsInMemory,
    Training,
    VisitedRows,
    draw_pairs,
    search_rate,
)
from aucstudio.engine.types import Array, Mask
from aucstudio.notices import notice

# What a seed decides: landmarks and the search for the first step; epochs have pairs of numbers.
LANDMARKS, SEARCH = 0, 1
_LARGEST = 1e100  # lambda in F's units; beyond it numbers overflow before scores mean anything


class StochasticClassifier(AUCClassifier):
    """The settings, the features and the epochs that the stochastic methods share."""

    family: ClassVar[str] = "stochastic"
    follows_order: ClassVar[bool] = True
    counts_rows: ClassVar[bool] = True

    kernel: str = param(
        "rbf",
        "Kernel function.",
        label="Kernel",
        symbol="k",
        choices={
            "linear": "a weight for each feature",
            "rbf": "Gaussian: near rows score alike",
        },
    )
    gamma: float | str = width({"kernel": ("rbf",)})
    n_landmarks: int = landmark_count(when={"kernel": ("rbf",)})
    n_epochs: int = param(
        10,
        "Passes over the training rows (or as many pairs).",
        unit="passes over the rows",
        label="Epochs",
        symbol="T / N",
        low=1,
        log=True,
        grid=(1, 3, 10, 30, 100),
    )
    random_state: int = param(
        0, "Random seed of the landmarks and of the order of steps.", label="Seed", low=0
    )

    @abstractmethod
    def _learner(self, F: Features, positive: Mask, scale: float) -> Learner:
        """Make the learner that begins."""

    @abstractmethod
    def _measure(self, positive: Mask, scale: float) -> Measure:
        """Return the objective as a function of w' and the scores of the rows."""

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        embedding, F = embed(X, self._map(X, monitor), functools.partial(monitor.stage, "features"))
        learner = self._learner(F, positive, embedding.scale)
        return self._train_on(RowsInMemory(F, positive), learner, embedding, positive, monitor)

    def _train_on(
        self,
        rows: VisitedRows,
        learner: Learner,
        embedding: Embedding,
        positive: Mask,
        monitor: Monitor,
    ) -> Fit:
        """Train for all epochs."""
        measure = self._measure(positive, embedding.scale)
        training = Training(learner, rows, self.n_epochs, monitor)
        w, objective = training.run(self.random_state, measure, embedding.scorer)
        notes = () if embedding.spread else (notice("rows_equal"),)
        return Fit(embedding.scorer(w), objective, n_iter=training.epoch, notes=notes)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, linear = positives + negatives, self.kernel == "linear"
        v = features if linear else min(self.n_landmarks, N)
        work = Work(numbers=float(N) * (v * self._work_per_feature() + 120.0)).times(self.n_epochs)
        memory = 4.0 * N * v + 1024.0 * NUMBER * v
        if linear:
            return cost_of(N, memory, work)
        work += landmarks(N, features, v, rounds=10, at_once=1)
        memory += NUMBER * 3.0 * v**2 + 0.3 * cluster_bytes(N, features, 1)
        return cost_of(N, memory, work, FEWER_LANDMARKS)

    def _work_per_feature(self) -> float:
        """Count how many numbers one step passes over for each feature."""
        return 2.0

    def _map(self, X: Array, monitor: Monitor) -> NystromMap | None:
        if self.kernel == "linear":
            return None
        kernel = KernelSettings(kernel=self.kernel, gamma=self.gamma).resolve_kernel(X)
        rng = np.random.default_rng((self.random_state, LANDMARKS))
        landmarks = k_means(X, min(self.n_landmarks, len(X)), rng, monitor)
        return nystrom_map(kernel, landmarks)


class HingeDescent(StochasticClassifier):
    """A method that descends on a mean hinge loss with steps of size 1 / (lambda (t + t0))."""

    averaged: ClassVar[bool]
    solves: ClassVar[str] = "stochastic hinge"

    regularization: float = regularization(
        1e-3, "loss", (10.0**k for k in range(0, -9, -1)), low_open=True
    )

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
        """Return lambda against |w'|^2."""
        return min(self.regularization / scale / scale, _LARGEST)

    def _loss(self, positive: Mask) -> Callable[[Array], float]:
        hinge = PairHinge(positive)
        return lambda scores: hinge(scores)[0]


def _regularised(
    loss: Callable[[Array], float], regularization: float, w: Array, scores: Array
) -> float:
    return 0.5 * regularization * float(w @ w) + loss(scores)
