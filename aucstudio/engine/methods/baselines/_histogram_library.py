"""scikit-learn's histogram boosting, watched tree by tree: the one place that uses private names.

Made for scikit-learn 1.9. What another version lacks is said by name, and no result is given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

MADE_FOR = "1.9"
MOST_LEVELS = 255

Levels = NDArray[np.uint8]
Scores = NDArray[np.float64]
Nodes = NDArray[Any]
Hear = Callable[[Scores, list[Nodes]], None]


class LeveledBoosting(HistGradientBoostingClassifier):
    """The library's method, given the levels of its rows, so that it need not look for them.

    What it would find is the same. ``fit`` wants rows only for their number and their labels.
    """

    def take_levels(self, levels: Levels, counts: list[int], hear: Hear) -> None:
        """Take what to train on, and who hears of it.

        Parameters
        ----------
        levels : ndarray of uint8, shape (N, d)
            The level of each cell, ``MOST_LEVELS`` for a gap.
        counts : list of int
            Levels of each feature.
        hear : callable
            Called before the first tree and after each with the scores of the rows, which the
            library itself goes on with, and with the nodes of all trees so far; their splits lie
            between levels.
        """
        self._levels, self._counts, self._are_used = levels, np.array(counts), False
        self._hear, self._is_heard = hear, False

    def fit(self, *args: Any, **kwargs: Any) -> LeveledBoosting:
        super().fit(*args, **kwargs)
        if not self._is_heard:
            raise _mismatch("_check_early_stopping_loss")
        return self

    def _bin_data(self, *_: Any, **__: Any) -> Levels:
        # A table of all levels, the last one repeated, is enough to show to the library.
        mapper = _private(self, "_bin_mapper")
        mapper.fit(np.minimum(np.arange(MOST_LEVELS)[:, None], self._counts - 1))
        if _private(mapper, "missing_values_bin_idx_") != MOST_LEVELS:
            raise _mismatch("the level of a gap")
        self._are_used = True
        return self._levels

    def _check_early_stopping_loss(self, raw_predictions: Scores, *_: Any, **__: Any) -> bool:
        # Called after each tree, to tell whether to go on: the way to watch at no cost.
        if not self._are_used:
            raise _mismatch("_bin_data")
        trees = [_private(of_step[0], "nodes") for of_step in _private(self, "_predictors")]
        self._hear(raw_predictions[:, 0], trees)
        self._is_heard = True
        return False


def _private(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError:
        raise _mismatch(name) from None


def _mismatch(name: str) -> RuntimeError:
    return RuntimeError(
        f"gradient boosting was made for scikit-learn {MADE_FOR}; version {sklearn.__version__} "
        f"differs in {name}: install scikit-learn {MADE_FOR}"
    )
