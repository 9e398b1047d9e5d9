"""Weights of rows: a pair weighs the product of the weights of its rows.

A whole weight is the same as so many rows; a weight of 0 as none. Shares, areas and measures do
not depend on the scale of the weights.
"""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.types import Array, Mask


def check_weights(weights: ArrayLike, positive: Mask) -> Array:
    """Give the weights of rows, one for each.

    Raises
    ------
    ValueError
        Unless every weight is finite and not negative, and some of each class are greater than 0.
    """
    checked = np.asarray(weights, dtype=np.float64)
    if checked.shape != positive.shape:
        raise ValueError(
            f"There must be one weight for each row; the weights have the shape {checked.shape}, "
            f"the rows {positive.shape}."
        )
    if not (np.isfinite(checked) & (checked >= 0)).all():
        raise ValueError("Every weight must be a finite number that is not negative.")
    for of_class, name in ((positive, "positive"), (~positive, "negative")):
        if not checked[of_class].any():
            raise ValueError(f"All weights of the {name} class are zero.")
    return checked


def effective_rows(weights: Array) -> float:
    """Tell how many rows of equal weight say as much: (sum w)^2 / sum w^2; 0 for none."""
    squares = float(weights @ weights)
    return float(weights.sum()) ** 2 / squares if squares else 0.0


@dataclasses.dataclass(frozen=True, eq=False)
class Behind:
    """What stands behind the sums of weights at the vertices of a curve.

    Attributes
    ----------
    fp, tp : ndarray of int, shape (n_vertices,)
        Rows predicted positive.
    fp_squares, tp_squares : ndarray of shape (n_vertices,)
        Sums of their squared weights.
    """

    fp: NDArray[np.int64]
    tp: NDArray[np.int64]
    fp_squares: Array
    tp_squares: Array

    def at(self, kept: Mask) -> Self:
        """Give those of some of the vertices."""
        return dataclasses.replace(
            self, **{f.name: getattr(self, f.name)[kept] for f in dataclasses.fields(self)}
        )

    def reflected(self) -> Self:
        """Swap the classes, as :func:`~aucstudio.engine.roc.reflect` does."""
        fp, tp, fp_squares, tp_squares = (
            sums[-1] - sums[::-1] for sums in (self.tp, self.fp, self.tp_squares, self.fp_squares)
        )
        return type(self)(fp, tp, fp_squares, tp_squares)
