"""Descent on the hinge of drawn pairs where the rows come in blocks: NSAUC beyond memory.

A pair takes two rows from anywhere, and only one block is in memory. So some thousand rows of each
class, drawn once, stay there as partners: every pair has one row of the block and one partner.

Symbols: m, n numbers of positives and negatives, N = m + n; F features; w weights among them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from aucstudio.engine.blocks import Passes
from aucstudio.engine.features.embedding import Embedding
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.solvers.stochastic import Features, PairSteps, scores
from aucstudio.engine.types import Array, Index, Mask

Measure = Callable[[Array, Array], float]

PARTNERS = 10_000

_WORK_PER_SLICE = 2e7


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
    return Partners(embedding(rows.take(wanted), _silent), rows.positive[wanted])


def _silent(_: float) -> None:
    """Hear of progress that takes no time."""


class BlockDescent:
    """Epochs of N steps over blocks in random order.

    A positive of the block at hand meets negative partners, a negative positive ones. As many
    steps begin with a positive as with a negative, and all rows of a class begin equally many on
    average; so all pairs with a partner are equally likely within an epoch.

    Parameters
    ----------
    rows : Passes
    embedding : Embedding
    partners : Partners
    steps : PairSteps
    seed : int
    """

    def __init__(
        self,
        rows: Passes,
        embedding: Embedding,
        partners: Partners,
        steps: PairSteps,
        seed: int,
    ) -> None:
        self._rows, self._embedding, self._steps, self._seed = rows, embedding, steps, seed
        self._positives = np.flatnonzero(partners.positive)
        self._negatives = np.flatnonzero(~partners.positive)
        self._partners = partners.F[:-1]
        m = int(np.count_nonzero(rows.positive))
        self._leads = {True: len(rows) / 2 / m, False: len(rows) / 2 / (len(rows) - m)}

    def run(self, epochs: int, measure: Measure, monitor: Monitor) -> tuple[Array, float, int]:
        """Train; two passes an epoch.

        Returns
        -------
        weights, objective
            The best at the end of an epoch; the present ones if not even the first is complete.
        epochs : int
            Complete ones.

        Raises
        ------
        Stopped
            If the monitor wants to stop before the first step.
        """
        best: tuple[float, Array] | None = None
        done = 0
        try:
            while done < epochs:
                self._learn(np.random.default_rng((self._seed, done)), monitor)
                w = self._steps.weights.copy()
                objective = measure(w, self._scores(self._rows, w))
                done += 1
                if best is None or objective < best[0]:
                    best = objective, w
                scorer = functools.partial(self._embedding.scorer, w)
                if monitor.step(done, objective, total=epochs, scorer=scorer):
                    break
        except Stopped:
            if best is None and not self._steps.weights.any():
                raise
        if best is None:
            w = self._steps.weights.copy()
            best = measure(w, self._scores(self._rows.unwatched(), w)), w
        return best[1], best[0], done

    def _learn(self, rng: np.random.Generator, monitor: Monitor) -> None:
        """Do one epoch."""
        count, size = self._partners.shape
        slice_ = max(1, int(_WORK_PER_SLICE / size))
        order = rng.permutation(self._rows.blocks)
        for rows, X in self._rows.pieces(order, width=size):
            F = np.concatenate([self._partners, self._embedding(X, _silent)])
            first, second = self._pairs(self._rows.positive[rows], count, rng)
            for start in range(0, len(first), slice_):
                monitor.stage("epoch")
                part = slice(start, start + slice_)
                self._steps.learn(F, (first[part], second[part]))

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

    def _scores(self, passes: Passes, w: Array) -> Array:
        found = np.empty(len(passes))
        for rows, X in passes.pieces(width=len(w)):
            found[rows] = scores(self._embedding(X, _silent), w)[:-1]
        return found
