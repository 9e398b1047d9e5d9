"""Which of very many columns move the scores of a model most, found by shuffling them in groups.

A linear model tells it by its weights. Else groups of columns, each column shuffled by itself, are
halved again and again, those that move the scores most: columns of no use are never looked at one
by one, and there are some thousand shuffles however many columns there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import LinearScorer, Scorer, score_rows

Array = NDArray[np.float64]

_MOST_ROWS = 500


def movers(
    scorer: Scorer,
    X: Array,
    groups: Sequence[slice],
    most: int,
    seed: int,
    listen: Callable[[float], None],
) -> list[int]:
    """Name the columns that move the scores most, in their own order.

    Parameters
    ----------
    scorer : Scorer
    X : ndarray of shape (rows, features)
        Prepared rows; of many, some are taken evenly.
    groups : sequence of slice
        The features of each column.
    most : int
        How many columns to name. Fewer are where the others move nothing.
    seed : int
    listen : callable
        Told the share done; may raise to stop.
    """
    if isinstance(scorer, LinearScorer):
        reach = np.square(scorer.weights * X.std(axis=0))
        return _largest({c: float(reach[part].sum()) for c, part in enumerate(groups)}, most)
    X = X[:: -(-len(X) // _MOST_ROWS)].copy()
    random, done = np.random.default_rng(seed), 0.0

    def pulse(_what: str, _fraction: float) -> None:
        listen(done)

    scores = score_rows(scorer, X, pulse)

    def moved(columns: range) -> float:
        features = np.concatenate([np.arange(groups[c].start, groups[c].stop) for c in columns])
        kept = X[:, features]
        X[:, features] = random.permuted(kept, axis=0)
        try:
            return float(np.square(score_rows(scorer, X, pulse) - scores).mean())
        finally:
            X[:, features] = kept

    width = 1 << (len(groups) - 1).bit_length()
    levels, heavy = width.bit_length() - 1, [0]
    for level in range(levels):
        width //= 2
        halves = [start for whole in heavy for start in (whole, whole + width)]
        far = {}
        for n, start in enumerate(halves):
            done = (level + n / len(halves)) / levels
            if columns := range(start, min(start + width, len(groups))):
                far[start] = moved(columns)
        heavy = _largest(far, most)
    return heavy


def _largest(found: dict[int, float], most: int) -> list[int]:
    """Name in their order what has the largest numbers above 0."""
    ranked = sorted((key for key in found if found[key] > 0.0), key=lambda key: -found[key])
    return sorted(ranked[:most])
