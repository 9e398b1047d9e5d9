"""Accuracy of calibrated probabilities: proper scores, their parts and reliability.

A score S of probabilities p splits exactly (Dimitriadis, Gneiting and Jordan 2021) into

    S(p) = miscalibration - discrimination + uncertainty,

S(p) - S(c), S(r) - S(c) and S(r), with c the isotonic regression of the classes on p and r the
share of positives: no bins to choose. The parts are 0 or more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.arrays import Array
from aucstudio.engine.roc import binomial_bounds, effective_trials, group_codes

Score = Callable[[NDArray[np.bool_], Array], float]


@dataclasses.dataclass(frozen=True)
class Decomposed:
    """A proper score, less is better, and its parts."""

    value: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def brier_score(positive: NDArray[np.bool_], probabilities: Array) -> float:
    """Return the mean squared distance of the probabilities from 1 and 0."""
    return float(np.mean((probabilities - positive) ** 2))


def log_score(positive: NDArray[np.bool_], probabilities: Array) -> float:
    """Return the mean of -ln of the probability that was given to what came true."""
    with np.errstate(divide="ignore"):
        return -float(np.mean(np.log(np.where(positive, probabilities, 1 - probabilities))))


def decompose(score: Score, positive: NDArray[np.bool_], probabilities: Array) -> Decomposed:
    """Split a score into miscalibration, discrimination and uncertainty."""
    _, which, counts = np.unique(probabilities, return_inverse=True, return_counts=True)
    shares = np.bincount(which, weights=positive) / counts
    calibrated = scipy.optimize.isotonic_regression(shares, weights=counts).x[which]
    # An average of ones may exceed 1 by rounding.
    calibrated = np.clip(calibrated, 0, 1)
    value, best = score(positive, probabilities), score(positive, calibrated)
    uncertainty = score(positive, np.full(len(positive), np.mean(positive)))
    return Decomposed(value, value - best, uncertainty - best, uncertainty)


MOST_BINS, LEAST_BINS = 10, 3
LEAST_IN_BIN = 20
LEAST_IN_CLASS = 10


@dataclasses.dataclass(frozen=True, eq=False)
class Reliability:
    """Rows in bins of about equal count, by rising probability; arrays of a value a bin.

    Attributes
    ----------
    rows, positives : ndarray of int
    lowest, highest, mean : ndarray
        Of the probabilities in a bin.
    share : ndarray
        Of positives among the rows.
    low, high : ndarray
        Of that share: all bars together hold the true shares with probability ``level``.
    """

    rows: NDArray[np.int64]
    positives: NDArray[np.int64]
    lowest: Array
    highest: Array
    mean: Array
    share: Array
    low: Array
    high: Array


def reliability(
    positive: NDArray[np.bool_],
    probabilities: Array,
    bins: int | None = None,
    level: float = 0.95,
    *,
    groups: ArrayLike | None = None,
    halvings: int = 0,
) -> Reliability:
    """Count positives in bins of about equal count; equal probabilities share a bin.

    Parameters
    ----------
    positive : ndarray of bool, shape (rows,)
    probabilities : ndarray, shape (rows,)
    bins : int, optional
        At most so many; as many as hold 20 rows each, ten at most, if not given.
    level : float
        Of all intervals together: each is exact at level ** (1 / bins), for rows of different
        bins are independent (Šidák).
    groups : array-like of shape (rows,), optional
        Labels of the groups that rows were sampled in: the rows of a bin then count as the
        independent trials that its share is worth, see :func:`~roc.effective_trials`.
    halvings : int
        How often the last bin is halved at most, each half of 20 rows or more: where positives are
        rare, only the highest probabilities matter.

    Raises
    ------
    ValueError
        If there is no row, or a row has no group.
    """
    if not len(positive):
        raise ValueError("a reliability diagram needs rows")
    count = min(bins or MOST_BINS, max(len(positive) // LEAST_IN_BIN, 1))
    order = np.argsort(probabilities, kind="stable")
    ordered = np.asarray(probabilities, np.float64)[order]
    last = len(ordered) // count >> np.arange(1, halvings + 1)
    halves = len(ordered) - last[last >= LEAST_IN_BIN]
    edges = np.append(np.arange(1, count) * len(ordered) // count, halves)
    # An edge within equal probabilities moves to their first.
    starts = np.unique([0, *np.searchsorted(ordered, ordered[edges], "left")])
    rows = np.diff([*starts, len(ordered)])
    positives = np.add.reduceat(np.asarray(positive, np.int64)[order], starts)
    trials: Array = rows.astype(np.float64)
    if groups is not None:
        units, hit = group_codes(groups, len(order))[order], np.asarray(positive)[order]
        parts = zip(starts.tolist(), (starts + rows).tolist(), strict=True)
        trials = np.array([effective_trials(hit[a:b], None, units[a:b]) for a, b in parts])
    low, high = binomial_bounds(positives / rows * trials, trials, level ** (1 / len(rows)))
    return Reliability(
        rows,
        positives,
        ordered[starts],
        ordered[starts + rows - 1],
        np.add.reduceat(ordered, starts) / rows,
        positives / rows,
        low,
        high,
    )


def calibration_error(positive: NDArray[np.bool_], probabilities: Array) -> tuple[float, str]:
    """Return the expected calibration error, or NaN and the reason where rows are too few.

    It is the mean distance between share and mean probability of the bins, by their rows. Chance
    alone keeps it above 0: compare it between maps, not with 0.
    """
    m = int(np.sum(positive))
    fewest, least = min(m, len(positive) - m), LEAST_BINS * LEAST_IN_BIN
    if len(positive) < least:
        return float("nan"), f"{len(positive)} rows are too few: it takes {least}"
    if fewest < LEAST_IN_CLASS:
        return float("nan"), f"{fewest} rows of a class are too few: it takes {LEAST_IN_CLASS}"
    found = reliability(positive, probabilities)
    return float(np.sum(found.rows * np.abs(found.share - found.mean)) / found.rows.sum()), ""
