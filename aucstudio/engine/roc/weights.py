"""Row weights, groups and the sampling design.

A pair weighs the product of the weights of its rows. A weight of 0 is the same as no row. Shares,
areas and measures do not depend on the scale of the weights or on their kind; inference does:

- ``sampling``: the inverse probability with which the row was drawn. The row is one observation.
- ``frequency``: the number of equal rows that the row replaces. Each of them is an observation.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Self, TypedDict

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.compiled import kernel
from aucstudio.engine.types import Array, Index, Mask

SAMPLING, FREQUENCY = "sampling", "frequency"
WEIGHT_KINDS = (SAMPLING, FREQUENCY)
_MOST_REPEATS = 100_000_000


class Sampled(TypedDict, total=False):
    """The keyword arguments of :meth:`Ranking.of`: which class is positive, and the sampling."""

    positive: object
    weights: ArrayLike | None
    weight_kind: str
    groups: ArrayLike | None


def check_weights(weights: ArrayLike, positive: Mask) -> Array:
    """Return the weights of rows, one for each.

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


def repeats(weights: Array) -> Index:
    """Return the numbers of rows that frequency weights count.

    Raises
    ------
    ValueError
        Unless all are whole numbers, of at most 100 million rows together.
    """
    if (weights != np.floor(weights)).any():
        raise ValueError(
            "Frequency weights count rows and must be whole numbers; "
            f"{weights[weights != np.floor(weights)][0]:g} is not."
        )
    if weights.sum() > _MOST_REPEATS:
        raise ValueError(
            f"Frequency weights may count {_MOST_REPEATS:,} rows at most; these count "
            f"{weights.sum():,.0f}."
        )
    return weights.astype(np.intp)


def group_codes(groups: ArrayLike, rows: int) -> Index:
    """Return the group of each row as a number from 0.

    Parameters
    ----------
    groups : array-like of shape (rows,)
        One label a row: numbers or texts.
    rows : int

    Raises
    ------
    ValueError
        Unless there is one label for each row, and none is missing.
    """
    labels: NDArray[Any] = np.asarray(groups)
    if labels.shape != (rows,):
        raise ValueError(
            f"There must be one group for each row; groups has the shape {labels.shape}, there "
            f"are {rows} rows."
        )
    if labels.dtype.kind == "O":
        # Equal labels of any type; a missing one differs from itself.
        known: dict[object, int] = {}
        missing = [label is None or label != label for label in labels.tolist()]
        codes = np.array([known.setdefault(one, len(known)) for one in labels.tolist()], np.intp)
    else:
        missing = (labels != labels).tolist() if labels.dtype.kind in "fcM" else [False]
        codes = np.unique(labels, return_inverse=True)[1].astype(np.intp)
    if any(missing):
        raise ValueError(
            f"groups has no label in row {missing.index(True)}; a row that belongs to no group "
            "needs a label of its own."
        )
    return codes


def effective_rows(weights: Array) -> float:
    """Return how many rows of equal weight say as much: (sum w)^2 / sum w^2; 0 for none."""
    squares = float(weights @ weights)
    return float(weights.sum()) ** 2 / squares if squares else 0.0


def effective_trials(hit: Mask, weights: Array | None = None, groups: Index | None = None) -> float:
    """Return the number of independent trials that a share of rows is worth.

    Binomial bounds hold for a share of weighted or grouped rows with the trials that have its
    variance: p (1 - p) / v, with the variance v of a ratio of sums over groups, and multiplied by
    the squared ratio of the normal and Student's quantile for so many groups. They are at least
    the effective number of groups, and at most that of rows.

    Source: Korn and Graubard, Survey Methodology 24 (1998).

    Parameters
    ----------
    hit : ndarray of bool, shape (rows,)
        Which rows count for the share.
    weights : ndarray of shape (rows,), optional
    groups : ndarray of int, shape (rows,), optional
        Numbers from 0.

    Returns
    -------
    float
        0 without rows of some weight.
    """
    each = np.ones(len(hit)) if weights is None else weights
    if groups is None or not each.any():
        return effective_rows(each)
    order = np.argsort(~hit, kind="stable")
    ends = np.array([np.count_nonzero(hit)])
    return float(trials_at(groups[order], each[order], ends)[0])


def binomial_bounds(
    count: ArrayLike, trials: ArrayLike, level: float = 0.95
) -> tuple[Array, Array]:
    """Bound the shares behind ``count`` of ``trials`` exactly; elementwise.

    Without trials the bounds are 0 and 1. Counts and trials need not be whole.
    Source: Clopper and Pearson, Biometrika 26 (1934).
    """
    found, of = np.broadcast_arrays(*np.atleast_1d(count, trials))
    rest, tail = np.maximum(of - found, 0.0), (1 - level) / 2
    # At a share of 0 or 1 the bound is known, and any shape will do.
    low = scipy.special.betaincinv(np.where(found > 0, found, 1.0), rest + 1, tail)
    high = scipy.special.betaincinv(found + 1, np.where(rest > 0, rest, 1.0), 1 - tail)
    return np.where(found > 0, low, 0.0), np.where(rest > 0, high, 1.0)


def trials_at(groups: Index, weights: Array, ends: NDArray[np.int64]) -> Array:
    """Return the effective trials of the share of the first so many rows.

    Parameters
    ----------
    groups, weights : ndarray of shape (rows,)
    ends : ndarray of int
        Ascending numbers of rows.
    """
    of_group = np.asarray(np.bincount(groups, weights), dtype=np.float64)
    total, count = weights.sum(), np.count_nonzero(of_group)
    shares = effective_rows(of_group)
    spread = _group_squares(groups, weights, ends, of_group)
    p = np.append(0.0, np.cumsum(weights))[ends] / total
    single = effective_rows(weights)
    if count < 2:
        return np.full(len(ends), min(1.0, single))
    variance = spread / total**2 * count / (count - 1)
    trials = np.full(len(ends), shares)
    known = (p > 0) & (p < 1) & (variance > 0)
    trials[known] = np.clip(p[known] * (1 - p[known]) / variance[known], shares, single)
    normal, student = scipy.special.ndtri(0.975), scipy.special.stdtrit(count - 1, 0.975)
    return np.asarray(trials * (normal / student) ** 2)


@kernel
def _group_squares(
    groups: Index, weights: Array, ends: NDArray[np.int64], of_group: Array
) -> Array:
    """Sum over groups the squares of what they have of the first rows beyond their part of all."""
    total = of_group.sum()
    all_squares = (of_group**2).sum()
    sums = np.zeros(len(of_group))
    squares, products, reached, row = 0.0, 0.0, 0.0, 0
    found = np.empty(len(ends))
    for k in range(len(ends)):
        while row < ends[k]:
            group, weight = groups[row], weights[row]
            squares += 2 * sums[group] * weight + weight**2
            products += weight * of_group[group]
            sums[group] += weight
            reached += weight
            row += 1
        share = reached / total
        found[k] = max(squares - 2 * share * products + share**2 * all_squares, 0.0)
    return found


@dataclasses.dataclass(frozen=True, eq=False)
class Behind:
    """Cumulative weights behind the vertices of a curve.

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
        """Return those of some of the vertices."""
        return dataclasses.replace(
            self, **{f.name: getattr(self, f.name)[kept] for f in dataclasses.fields(self)}
        )

    def reflected(self) -> Self:
        """Swap the classes, as :func:`~aucstudio.engine.roc.reflect` does."""
        fp, tp, fp_squares, tp_squares = (
            sums[-1] - sums[::-1] for sums in (self.tp, self.fp, self.tp_squares, self.fp_squares)
        )
        return type(self)(fp, tp, fp_squares, tp_squares)
