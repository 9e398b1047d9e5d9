"""NSAUC: averaged stochastic descent on the hinge of random pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from aucstudio.engine.blocks import Passes, mean_variance
from aucstudio.engine.features.embedding import Embedding, embed_blocks
from aucstudio.engine.features.nystrom import NystromMap, k_means, nystrom_map, rows_to_cluster
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.methods.stochastic._training import (
    LANDMARKS,
    SEARCH,
    HingeDescent,
)
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.solvers.stochastic import Features, Learn, Learner, scores
from aucstudio.engine.types import Array, Index, Mask

PARTNERS = 10_000


@dataclasses.dataclass(frozen=True, eq=False)
class Partners:
    """Rows that stay in memory.

    Attributes
    ----------
    F : ndarray of float32, shape (count + 1, r)
        Their features, and the origin.
    positive : ndarray of bool, shape (count,)
    """

    F: Features
    positive: Mask


def draw_partners(rows: Passes, embedding: Embedding, rng: np.random.Generator) -> Partners:
    """Draw up to 10,000 rows of each class, all equally likely."""
    chosen = []
    for label in (True, False):
        members = np.flatnonzero(rows.positive == label)
        chosen.append(rng.permutation(members)[:PARTNERS])
    wanted = np.sort(np.concatenate(chosen))
    return Partners(embedding(rows.take(wanted)), rows.positive[wanted])


class BlockRows:
    """Rows in blocks, which an epoch of N steps visits in random order.

    A positive of the block at hand meets negative partners, a negative positive ones. As many
    steps begin with a positive as with a negative, and all rows of a class begin equally many on
    average; so all pairs with a partner are equally likely within an epoch, which takes two passes.

    Parameters
    ----------
    rows : Passes
    embedding : Embedding
    partners : Partners
    """

    def __init__(self, rows: Passes, embedding: Embedding, partners: Partners) -> None:
        self._rows, self._embedding = rows, embedding
        self._positives = np.flatnonzero(partners.positive)
        self._negatives = np.flatnonzero(~partners.positive)
        self._partners = partners.F[:-1]
        m = int(np.count_nonzero(rows.positive))
        self._leads = {True: len(rows) / 2 / m, False: len(rows) / 2 / (len(rows) - m)}

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

    title: ClassVar[str] = "NSAUC"
    in_words: ClassVar[str] = "Stochastic pairwise learning, averaged"
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
        kernel = settings.resolve_kernel_by(rows.features, lambda: mean_variance(rows))
        landmarks = k_means(sample, min(self.n_landmarks, len(sample)), rng, monitor)
        return nystrom_map(kernel, landmarks)
