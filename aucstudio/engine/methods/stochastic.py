"""Stochastic and online methods on landmark features: NSAUC, NSVMSGD2, NOAM and NSOLAM.

Symbols: phi(x) Nystrom features of a row, or the row itself if the kernel is linear; N rows; F
features centred and scaled, w' = scale w the weights among them.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from aucstudio.engine.arrays import Array, Index, Mask, class_counts
from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.blocks import Passes, mean_variance
from aucstudio.engine.cost import FEWER_LANDMARKS, Cost, Work, cluster_bytes, cost_of, landmarks
from aucstudio.engine.features import NystromMap, k_means, nystrom_map, rows_to_cluster
from aucstudio.engine.features.embedding import Embedding, embed, embed_blocks
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.losses.hinges import mean_hinge
from aucstudio.engine.losses.pairs import PairHinge, square_loss
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import param
from aucstudio.engine.solvers.online import BufferedPairs, Saddle
from aucstudio.engine.solvers.stochastic import (
    Draw,
    Features,
    Learn,
    Learner,
    Measure,
    PairSteps,
    RowsInMemory,
    Training,
    VisitedRows,
    draw_pairs,
    draw_rows,
    scores,
    search_rate,
)
from aucstudio.notices import notice

# What a seed decides: landmarks and the search for the first step; epochs have pairs of numbers.
LANDMARKS, SEARCH = 0, 1
_LARGEST = 1e100  # lambda in F's units; beyond it numbers overflow before scores mean anything


class StochasticClassifier(AUCClassifier):
    """The settings, the features and the epochs that the stochastic methods share."""

    kernel: str = param("rbf", "stochastic")
    gamma: float | str = param("scale", "stochastic")
    n_landmarks: int = param(400, "stochastic")
    n_epochs: int = param(10)
    random_state: int = param(0, "stochastic")

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d, step = positives + negatives, features, self._numbers_per_visit()
        if self.kernel == "linear":
            work = Work(numbers=N * (d * step + 120)).times(self.n_epochs)
            return cost_of(N, 4.0 * N * d + 8192 * d, work)
        v = min(self.n_landmarks, N)
        memory = 4 * N * v + 8192 * v + 24 * v**2 + 0.3 * cluster_bytes(N, d, 1)
        work = Work(numbers=N * (v * step + 120)).times(self.n_epochs)
        work += landmarks(N, d, v, rounds=10, at_once=1)
        return cost_of(N, memory, work, FEWER_LANDMARKS)

    def _numbers_per_visit(self) -> float:
        """Return how many numbers a step takes for each feature."""
        return 2.0

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

    def _map(self, rows: Array | Passes, monitor: Monitor) -> NystromMap | None:
        """Make the map of landmarks for rows in memory or in blocks."""
        if self.kernel == "linear":
            return None
        rng = np.random.default_rng((self.random_state, LANDMARKS))
        settings = KernelSettings(kernel=self.kernel, gamma=self.gamma)
        if isinstance(rows, Passes):
            X = rows.take(rows_to_cluster(len(rows), rng))
            kernel = settings.resolve_kernel_by(rows.features, lambda: mean_variance(rows))
        else:
            X, kernel = rows, settings.resolve_kernel(rows)
        return nystrom_map(kernel, k_means(X, min(self.n_landmarks, len(X)), rng, monitor))


class HingeDescent(StochasticClassifier):
    """A method that descends on a mean hinge loss with steps of size 1 / (lambda (t + t0))."""

    averaged: ClassVar[bool]

    regularization: float = param(1e-3, "stochastic")

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


PARTNERS = 10_000


def draw_partners(rows: Passes, embedding: Embedding, rng: np.random.Generator) -> RowsInMemory:
    """Draw up to 10,000 rows of each class, all equally likely."""
    chosen = []
    for label in (True, False):
        members = np.flatnonzero(rows.positive == label)
        chosen.append(rng.permutation(members)[:PARTNERS])
    wanted = np.sort(np.concatenate(chosen))
    return RowsInMemory(embedding(rows.take(wanted)), rows.positive[wanted])


class BlockRows:
    """Rows in blocks, which an epoch of N steps visits in random order.

    A positive of the block at hand meets negative partners, a negative positive ones. As many
    steps begin with a positive as with a negative, and all rows of a class begin equally many on
    average; so all pairs with a partner are equally likely within an epoch, which takes two passes.

    Parameters
    ----------
    rows : Passes
    embedding : Embedding
    partners : RowsInMemory
    """

    def __init__(self, rows: Passes, embedding: Embedding, partners: RowsInMemory) -> None:
        self._rows, self._embedding = rows, embedding
        self._positives = np.flatnonzero(partners.positive)
        self._negatives = np.flatnonzero(~partners.positive)
        self._partners = partners.F[:-1]
        m, n = class_counts(rows.positive)
        self._leads = {True: len(rows) / 2 / m, False: len(rows) / 2 / n}

    def __len__(self) -> int:
        return len(self._rows)

    def visit(self, learn: Learn, learner: Learner, rng: np.random.Generator) -> None:
        """Do one epoch; the pairs are drawn here, whatever the learner would draw."""
        count, size = self._partners.shape
        for rows, X in self._rows.pieces(rng.permutation(self._rows.blocks), width=size):
            F = np.concatenate([self._partners, self._embedding(X)])
            learn(F, self._pairs(self._rows.positive[rows], count, rng))

    def scores(self, w: Array, pause: Callable[[], None] | None) -> Array:
        """Score all rows in one pass."""
        passes = self._rows if pause is not None else self._rows.unwatched()
        found = np.empty(len(passes))
        for rows, X in passes.pieces(width=len(w)):
            found[rows] = scores(self._embedding(X), w)[:-1]
        return found

    def _pairs(self, positive: Mask, offset: int, rng: np.random.Generator) -> tuple[Index, Index]:
        """Draw the steps of some rows: numbers in F, where they come after the partners."""
        drawn = {}
        for label, partners in ((True, self._negatives), (False, self._positives)):
            members = np.flatnonzero(positive == label)
            share = self._leads[label] * len(members)
            steps = int(share) + int(rng.random() < share % 1.0)
            row = offset + members[rng.integers(len(members), size=steps)] if steps else members[:0]
            drawn[label] = row, partners[rng.integers(len(partners), size=len(row))]
        first = np.concatenate([drawn[True][0], drawn[False][1]])
        second = np.concatenate([drawn[True][1], drawn[False][0]])
        order = rng.permutation(len(first))
        return first[order], second[order]


class NSAUC(HingeDescent):
    """Learns from one random pair at a time on approximate kernel features; averages the steps.

    Minimises ``regularization / 2 * |w|^2 + mean_ij (1 - M_ij)_+`` over all pairs of a positive
    and a negative, on features phi of k-means landmarks (Nystrom), or on the rows themselves if
    the kernel is linear. The paper's lambda is ``regularization``, which is 1 / C for methods
    whose C multiplies the mean pair loss, and 1 / (C m n) where C multiplies a sum.

    An epoch has one step per row; each step draws a pair at random. Its size is
    1 / (regularization (t + t0)), where t0 is found by trying first steps on 1,000 pairs. The
    scorer is the mean of the iterates, weighted in proportion to t, at the end of the epoch with
    the lowest objective. The objective is computed exactly, over all pairs. There is no
    certificate (``dual_gap_`` is None): training ends after the given epochs.

    Rows may come in blocks, which are visited in random order: two passes per epoch and two at
    the start. Up to 10,000 rows of each class, drawn once, stay in memory as partners, and every
    pair contains one of them. The result differs from that in memory unless there is one block.

    References
    ----------
    Khalid, Ray and Chitsaz (2018), Scalable nonlinear AUC maximization methods.

    Algorithm 3, with the step subtracted and a mean that forgets the beginning.

    Use when
    --------
    Very many rows with non-linear boundaries; the result depends slightly on the seed.
    """

    averaged: ClassVar[bool] = True

    def _fit_blocks(self, rows: Passes, context: Context) -> Fit:
        monitor = context.monitor
        if rows.blocks == 1:
            numbers, X = rows.block(0)
            return self._fit(X[np.argsort(numbers)], rows.positive, context)
        embedding = embed_blocks(rows, self._map(rows, monitor))
        rng = np.random.default_rng((self.random_state, SEARCH, 1))
        partners = draw_partners(rows, embedding, rng)
        steps = self._learner(partners.F, partners.positive, embedding.scale)
        return self._train_on(
            BlockRows(rows, embedding, partners), steps, embedding, rows.positive, monitor
        )


class NSVMSGD2(HingeDescent):
    """Learns from one random pair at a time on approximate kernel features, without averaging.

    Minimises ``regularization / 2 * |w|^2 + mean_ij (1 - M_ij)_+`` over all pairs, as NSAUC does
    and with the same steps. The scorer is the last iterate of the epoch with the lowest objective,
    as in the NSAUC paper. ``loss="rows"`` is SVMSGD2 as published, for single rows, with the loss
    ``mean_i (1 - y_i w.(phi(x_i) - mean phi))_+``. ``loss="balanced-rows"`` takes the mean of the
    mean losses of the classes. The published lambda is ``regularization``; there is no constant.

    There is no certificate (``dual_gap_`` is None): training ends after the given epochs.

    References
    ----------
    Bordes, Bottou and Gallinari (JMLR 2009), SGD-QN; Khalid, Ray and Chitsaz (2018), Scalable
    nonlinear AUC maximization methods.

    Careful quasi-Newton stochastic gradient descent; section 5.5 of the latter.

    Use when
    --------
    As a comparison for NSAUC; its result depends more on the seed.
    """

    averaged: ClassVar[bool] = False

    loss: str = param("pairs")

    def _draw(self) -> Draw:
        if self.loss == "pairs":
            return draw_pairs
        return functools.partial(draw_rows, balanced=self.loss == "balanced-rows")

    def _loss(self, positive: Mask) -> Callable[[Array], float]:
        if self.loss == "pairs":
            return super()._loss(positive)
        return functools.partial(mean_hinge, positive, self.loss == "balanced-rows")


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

    n_epochs: int = param(1, "online")
    C: float = param(2.0**-6, "online")
    buffer_size: int = param(100)
    update: str = param("sequential")
    average: bool = param(True)

    def _numbers_per_visit(self) -> float:
        return 2 + 0.5 * self.buffer_size

    def _learner(self, F: Features, positive: Mask, scale: float) -> Learner:
        capacity = min(self.buffer_size, len(positive))
        sequential = self.update == "sequential"
        return BufferedPairs(F.shape[1], capacity, self.C, sequential, self.average)

    def _measure(self, positive: Mask, scale: float) -> Measure:
        hinge = PairHinge(positive)
        return lambda w, scores: hinge(scores)[0]


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

    zeta: float = param(3.0)
    radius: float = param(10.0)

    def _learner(self, F: Features, positive: Mask, scale: float) -> Learner:
        kappa = float(np.sqrt(np.einsum("ij,ij->i", F, F).max())) or 1.0
        radius = self.radius * scale
        return Saddle(F.shape[1], float(positive.mean()), self.zeta, radius, kappa)

    def _measure(self, positive: Mask, scale: float) -> Measure:
        return lambda w, scores: square_loss(positive, scores)
