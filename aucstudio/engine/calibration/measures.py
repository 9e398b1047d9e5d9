"""Proper scoring rules and their decomposition.

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
from numpy.typing import NDArray

from aucstudio.engine.types import Array

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
