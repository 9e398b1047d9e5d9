"""scikit-learn's histogram boosting, monitored tree by tree; the only use of its private names.

Made for scikit-learn 1.9, to which the program's requirements hold it: a minor release may change
what is used here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from aucstudio.engine.methods.settings import MOST_LEVELS

Levels = NDArray[np.uint8]
Scores = NDArray[np.float64]
Nodes = NDArray[Any]
Receive = Callable[[Scores, list[Nodes]], None]


class LeveledBoosting(HistGradientBoostingClassifier):
    """The library's method, given the levels of its rows, so that it need not look for them.

    What it would find is the same. ``fit`` wants rows only for their number and their labels.
    """

    def take_levels(self, levels: Levels, counts: list[int], receive: Receive) -> None:
        """Store the training data and the receiver of messages.

        Parameters
        ----------
        levels : ndarray of uint8, shape (N, d)
            The level of each cell, ``MOST_LEVELS`` for a gap.
        counts : list of int
            Levels of each feature.
        receive : callable
            Called before the first tree and after each with the scores of the rows, which the
            library itself goes on with, and with the nodes of all trees so far; their splits lie
            between levels.
        """
        self._levels, self._counts, self._receive = levels, np.array(counts), receive

    def _bin_data(self, *_: Any, **__: Any) -> Levels:
        # A table of all levels, the last one repeated, is enough to show to the library.
        self._bin_mapper.fit(np.minimum(np.arange(MOST_LEVELS)[:, None], self._counts - 1))
        return self._levels

    def _check_early_stopping_loss(self, raw_predictions: Scores, *_: Any, **__: Any) -> bool:
        # Called after each tree to decide whether to continue: the way to watch at no cost.
        trees = [of_step[0].nodes for of_step in self._predictors]
        self._receive(raw_predictions[:, 0], trees)
        return False
