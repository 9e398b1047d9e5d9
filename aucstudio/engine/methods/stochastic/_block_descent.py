"""Descent on the hinge of drawn pairs where the rows come in blocks: NSAUC beyond memory.

A pair takes two rows from anywhere, and only one block is in memory. So some thousand rows of each
class, drawn once, stay there as partners: every pair has one row of the block and one partner.

Symbols: m, n numbers of positives and negatives, N = m + n; F features; w weights among them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from aucstudio.engine.blocks import Passes
from aucstudio.engine.features.embedding import Embedding
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
