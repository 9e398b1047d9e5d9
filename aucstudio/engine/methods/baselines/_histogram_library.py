"""scikit-learn's histogram boosting, watched tree by tree: the one place that uses private names.

Made for scikit-learn 1.9. What another version lacks is said by name, and no result is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

MADE_FOR = "1.9"
MOST_LEVELS = 255

Levels = NDArray[np.uint8]


class LeveledBoosting(HistGradientBoostingClassifier):
    """The library's method, given the levels of its rows, so that it need not look for them.

    What it would find is the same. ``fit`` wants rows only for their number and their labels.
    """

    def take_levels(self, levels: Levels, counts: list[int]) -> None:
        """Take the level of each cell, ``MOST_LEVELS`` for a gap, and the count of each feature."""
        self._levels, self._counts, self._are_used = levels, np.array(counts), False

    def _bin_data(self, *_: Any, **__: Any) -> Levels:
        # A table of all levels, the last one repeated, is enough to show to the library.
        mapper = _private(self, "_bin_mapper")
        mapper.fit(np.minimum(np.arange(MOST_LEVELS)[:, None], self._counts - 1))
        if _private(mapper, "missing_values_bin_idx_") != MOST_LEVELS:
            raise _mismatch("the level of a gap")
        self._are_used = True
        return self._levels

    @property
    def has_trees(self) -> bool:
        """Whether a tree has grown yet."""
        if not self._are_used:
            raise _mismatch("_bin_data")
        return bool(_private(self, "_predictors"))

    @property
    def baseline(self) -> float:
        """The score of all rows before the first tree."""
        return float(_private(self, "_baseline_prediction")[0, 0])

    @property
    def last_tree(self) -> NDArray[Any]:
        """The nodes of the tree that grew last; its splits lie between levels."""
        nodes: NDArray[Any] = _private(_private(self, "_predictors")[-1][0], "nodes")
        return nodes

    def last_values(self) -> NDArray[np.float64]:
        """Give what that tree adds to the score of each row; one compiled loop."""
        predict = _private(_private(self, "_predictors")[-1][0], "predict_binned")
        values: NDArray[np.float64] = predict(self._levels, MOST_LEVELS, 1)
        return values


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
