"""Scores of selected rows during training, at a bounded number of evaluations."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.engine.monitor import Step

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
Item = TypeVar("Item")

TRAINING = "training"


class Thinned(Generic[Item]):
    """At most ``limit`` items of a growing series, evenly spaced, the last one included.

    Whenever there are too many, every second item is dropped.

    Parameters
    ----------
    limit : int
        At least 2.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[Item] = []
        self._last: list[Item] = []
        self._stride, self._count = 1, 0

    def add(self, item: Item) -> None:
        """Append an item."""
        self._last = [item]
        if self._count % self._stride == 0:
            self._kept.append(item)
            self._last = []
            if len(self._kept) >= self._limit:
                self._last = [] if len(self._kept) % 2 else [item]
                self._kept = self._kept[::2]
                self._stride *= 2
        self._count += 1

    def __iter__(self) -> Iterator[Item]:
        return iter([*self._kept, *self._last])

    def __len__(self) -> int:
        return len(self._kept) + len(self._last)


@dataclasses.dataclass(frozen=True, eq=False)
class ScoresOnTheWay:
    """The scores of the same rows at several evaluations, and their areas.

    Attributes
    ----------
    positive : ndarray of bool, shape (n_rows,)
    scores : ndarray of float32, shape (n_looks, n_rows)
    weights : ndarray of shape (n_rows,) or None
        None if every row counts once.
    """

    positive: Mask
    scores: Floats
    weights: Array | None = None

    @property
    def is_ready(self) -> bool:
        """Whether :attr:`above` is computed already, so that areas take almost no time."""
        return "above" in self.__dict__ and self.weights is None

    @cached_property
    def above(self) -> Floats:
        """Share of the positives above each negative, the highest first; one row per evaluation.

        This is the height of the ROC curve over each negative's part of the FPR axis, ties
        included: every area is a weighted mean of it.
        """
        negatives = int(np.count_nonzero(~self.positive))
        if negatives in (0, len(self.positive)):
            return np.full((len(self.scores), 1), np.nan, dtype=np.float32)
        above = np.empty((len(self.scores), negatives), dtype=np.float32)
        for k, scores in enumerate(self.scores):
            above[k] = _heights(self.positive, scores)
        return above

    def auc(self) -> Array:
        """Return the AUC of each evaluation; NaN if a class has no rows."""
        if self.weights is not None:
            return self.pauc((0.0, 1.0))
        areas: Array = self.above.mean(axis=1, dtype=np.float64)
        return areas

    def pauc(self, band: tuple[float, float]) -> Array:
        """Return the partial AUC of each evaluation, normalised by the width of the band."""
        if self.weights is not None:
            return self._weighted_areas(band)
        weights = roc.rank_weights(self.above.shape[1], *band)
        used = np.flatnonzero(weights)
        areas: Array = self.above[:, used] @ weights[used] / weights.sum()
        return areas

    def _weighted_areas(self, band: tuple[float, float]) -> Array:
        """Return weighted areas of each evaluation; NaN if no row of a class counts.

        They are not cached: the scores are those of a sample of the rows.
        """
        assert self.weights is not None
        counts = (self.weights[self.positive].any(), self.weights[~self.positive].any())
        if not all(counts):
            return np.full(len(self.scores), np.nan)
        areas = (
            roc.partial_auc(self.positive, one, *band, weights=self.weights) for one in self.scores
        )
        return np.array([area.normalized for area in areas])


def _heights(positive: Mask, scores: Floats) -> Array:
    """Return the mean height of the ROC curve over each negative's part of the FPR axis."""
    s, t = np.sort(scores[positive]), np.sort(scores[~positive])
    below, at_most = roc.look_up(s, t)
    first, behind = np.searchsorted(t, t, "left"), np.searchsorted(t, t, "right")
    # Positives tied with several negatives: the curve climbs over all of these at one slope.
    climbed = (behind - np.arange(len(t)) - 0.5) / (behind - first)
    heights: Array = (len(s) - at_most + climbed * (at_most - below)) / len(s)
    return heights[::-1]


@dataclasses.dataclass(frozen=True, eq=False)
class Trajectory:
    """The stored evaluations of one fit, in order; the last is of the final scorer.

    Attributes
    ----------
    iteration : ndarray of int, shape (n_looks,)
    seconds : ndarray of float, shape (n_looks,)
        Time in the fit, without evaluations.
    train, held : ScoresOnTheWay
        Of a fixed sample of the training rows and of the held-out rows. ``held`` is empty if no
        rows were held out.
    """

    iteration: NDArray[np.int64]
    seconds: Array
    train: ScoresOnTheWay
    held: ScoresOnTheWay


@dataclasses.dataclass(frozen=True)
class Stage:
    """A stage of a fit.

    Attributes
    ----------
    name : str
    seconds : float
        Time in the fit at which it began, without evaluations.
    """

    name: str
    seconds: float


class StageLog:
    """Derives stages from steps: those before the first iteration, then training.

    A stage that returns between iterations is a part of training.
    """

    def __init__(self) -> None:
        self._before: list[Stage] = []
        self._training: Stage | None = None
        self._last = ""

    def add(self, step: Step, seconds: float) -> None:
        """Record one step."""
        if step.iteration > 0:
            self._begin_training(seconds)
        elif self._training is None:
            if step.stage != self._last:
                self._before.append(Stage(step.stage, seconds))
        else:
            self._take_back(step.stage)
        self._last = step.stage

    def stages(self) -> tuple[Stage, ...]:
        """Return the stages in order."""
        return (*self._before, self._training) if self._training else tuple(self._before)

    def _begin_training(self, seconds: float) -> None:
        # The first iteration is reported when it is done: without a stage before it, training
        # began with the fit.
        if self._training is None:
            self._training = Stage(TRAINING, seconds if self._before else 0.0)

    def _take_back(self, name: str) -> None:
        for k, stage in enumerate(self._before):
            if stage.name == name:
                self._training = Stage(TRAINING, stage.seconds if k else 0.0)
                del self._before[k:]
                return


def sample_rows(positive: Mask, most: int) -> Rows:
    """Choose at most so many rows, evenly spaced within each class, the classes balanced."""
    if len(positive) <= most:
        return np.arange(len(positive))
    classes = np.flatnonzero(positive), np.flatnonzero(~positive)
    smaller = min(most // 2, *map(len, classes))
    parts = []
    for rows in classes:
        size = smaller if len(rows) == min(map(len, classes)) else most - smaller
        parts.append(rows[np.linspace(0, len(rows) - 1, size).astype(np.intp)])
    return np.sort(np.concatenate(parts))
