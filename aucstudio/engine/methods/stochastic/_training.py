"""What the stochastic methods share: landmark features, epochs of single steps, and going on.

Symbols: phi(x) Nystrom features of a row, or the row itself if the kernel is linear; N rows; F
features centred and scaled, w' = scale w the weights among them.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

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
from aucstudio.engine.monitor import Callback, Monitor
from aucstudio.engine.params import param
from aucstudio.engine.solvers.stochastic import Features, Learner, Training
from aucstudio.engine.types import Array, Mask
from aucstudio.notices import notice

Measure = Callable[[Array, Array], float]

# What a seed decides: landmarks and the search for the first step; epochs have pairs of numbers.
LANDMARKS, SEARCH = 0, 1


@dataclasses.dataclass(frozen=True, eq=False)
class TrainingState:
    """What a fit leaves so that training can go on.

    Attributes
    ----------
    embedding : Embedding
    training : Training
    positive : ndarray of bool, shape (N,)
    """

    embedding: Embedding
    training: Training
    positive: Mask


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class StochasticClassifier(AUCClassifier):
    """The settings, the features and the epochs that the stochastic methods share.

    Attributes
    ----------
    progress_ : TrainingState
    """

    family: ClassVar[str] = "stochastic"
    follows_order: ClassVar[bool] = True
    counts_rows: ClassVar[bool] = True

    kernel: str = param(
        "rbf",
        "How two rows are compared.",
        label="Kernel",
        symbol="k",
        choices={
            "linear": "a weight for each feature",
            "rbf": "Gaussian: near rows score alike",
        },
    )
    gamma: float | str = width({"kernel": ("rbf",)})
    n_landmarks: int = param(
        400,
        "Cluster centres that approximate the kernel of all rows.",
        unit="rows",
        label="Landmarks",
        symbol="v",
        low=1,
        high=2_000,
        log=True,
        when={"kernel": ("rbf",)},
        grid=(50, 100, 200, 400, 800, 1600),
    )
    n_epochs: int = param(
        10,
        "How often training goes through as many rows or pairs as there are rows.",
        unit="passes over the rows",
        label="Epochs",
        symbol="T / N",
        low=1,
        log=True,
        grid=(1, 3, 10, 30, 100),
    )
    random_state: int = param(
        0, "Decides the landmarks and the order of the steps.", label="Seed", low=0
    )

    @abstractmethod
    def _learner(self, F: Features, positive: Mask, scale: float) -> Learner:
        """Make the learner that begins."""

    @abstractmethod
    def _measure(self, positive: Mask, scale: float) -> Measure:
        """Give the objective as a function of w' and the scores of the rows."""

    def fit_more(
        self, X: ArrayLike, y: ArrayLike, epochs: int, *, callback: Callback | None = None
    ) -> Self:
        """Train for more epochs from where the last fit ended, or was stopped.

        The result is to the last bit that of one fit with as many epochs in all; a stopped epoch
        is finished first and counts. Settings changed since count for nothing.

        Parameters
        ----------
        X, y : array-like
            The rows of that fit in the same order, and their labels.
        epochs : int
            At least 1.
        callback : callable, optional
            As for :meth:`fit`.

        Raises
        ------
        NotFittedError
            If nothing was fitted yet.
        ValueError
            If ``epochs`` is less than 1, or the rows cannot be those of the fit.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "progress_")
        if epochs < 1:
            raise ValueError(f"epochs must be at least 1; it is {epochs}")
        return self._train(X, y, callback, (self.progress_, epochs))

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        if context.kept is None:
            embedding, F = embed(X, self._map(X, monitor), _embedding_stage(monitor))
            learner = self._learner(F, positive, embedding.scale)
            training, epochs = Training(learner, self.random_state), self.n_epochs
        else:
            progress, more = context.kept
            _require_same(progress, X, positive)
            embedding, training = progress.embedding, copy.deepcopy(progress.training)
            epochs = training.epoch + more
            F = embedding(X, _embedding_stage(monitor))
        measure = self._measure(positive, embedding.scale)
        w, objective = training.run(F, positive, epochs, measure, monitor, embedding.scorer)
        self.progress_ = TrainingState(embedding, training, positive)
        notes = () if embedding.spread else (notice("rows_equal"),)
        return Fit(embedding.scorer(w), objective, n_iter=training.epoch, notes=notes)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Say what a fit takes; see the base class."""
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
        kernel = KernelSettings(kernel=self.kernel, gamma=self.gamma).settle_kernel(X)
        rng = np.random.default_rng((self.random_state, LANDMARKS))
        landmarks = k_means(X, min(self.n_landmarks, len(X)), rng, monitor)
        return nystrom_map(kernel, landmarks)


def _embedding_stage(monitor: Monitor) -> Callable[[float], None]:
    return functools.partial(monitor.stage, "features")


def _require_same(progress: TrainingState, X: Array, positive: Mask) -> None:
    features = progress.embedding.features_in
    if X.shape[1] != features or not np.array_equal(positive, progress.positive):
        raise ValueError(
            f"training can only go on with the rows it began with: {len(progress.positive)} "
            f"rows of {features} features, each with the same label"
        )
