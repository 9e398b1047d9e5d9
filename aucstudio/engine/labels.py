"""Labels and groups as callers give them, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.types import Mask


def check_groups(groups: ArrayLike, rows: int) -> NDArray[Any]:
    """Return one group for each row.

    Raises
    ------
    ValueError
        If there are more or fewer.
    """
    found = np.asarray(groups)
    if found.shape != (rows,):
        raise ValueError(f"groups must name one group for each of the {rows} rows.")
    return found


def two_classes(y: NDArray[Any]) -> tuple[NDArray[Any], Mask]:
    """Return the two classes, sorted, and which rows are of the second.

    Raises
    ------
    ValueError
        If there are more or fewer classes.
    """
    if y.dtype == np.bool_:  # nothing to sort
        classes = np.flatnonzero(np.array([not y.all(), y.any()])).astype(bool)
    else:
        classes = np.unique(y)
    if len(classes) == 2 and y.dtype.kind in "biuUS":
        return classes, y == classes[1]
    from sklearn.utils.multiclass import check_classification_targets, type_of_target

    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}."
        )
    if len(classes) < 2:
        raise ValueError(f"y holds one class only ({classes[0]!r}); two are needed to rank.")
    return classes, y == classes[1]
