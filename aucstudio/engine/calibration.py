"""Calibrated probabilities: maps fitted on held-out scores.

With s a score, u = (s - centre) / scale and a map f that never falls, the probability is

    (1 - TILT) f(u) + TILT t(u),   t(u) = (1 + v / (1 + |v|)) / 2,   v = sign(u) ln(1 + |u|).

The tilt t rises everywhere, so that of two scores the greater has the greater probability also
where f is flat, and beyond the scores that f was learnt from: calibration keeps the ranking. It
moves no probability by more than TILT. Two scores share one only where the floating-point numbers
between 0 and 1 cannot separate them: closer than about 1e-7 of their distance from the centre.

Symbols: m positives, n negatives; u standardised scores; z Platt's log-odds.
"""

from __future__ import annotations

import abc
import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array

TILT = 1e-6
_LARGEST = 1e150  # what is larger overflows with the first product
_FURTHEST = 1e100  # in units of the scale; squares of it are still finite


@dataclasses.dataclass(frozen=True, eq=False)
class Calibration(abc.ABC):
    """An increasing map from scores to probabilities.

    Attributes
    ----------
    kind : {"isotonic", "platt", "beta"}
    centre, scale : float
        What scores are measured from, and by.
    """

    kind: str
    centre: float
    scale: float

    form: ClassVar[str]

    def __call__(self, scores: Array) -> Array:
        """Return the probability of each score; shape (rows,)."""
        u = standardised(scores, self.centre, self.scale)
        v = np.sign(u) * np.log1p(np.abs(u))
        tilt = (1 + v / (1 + np.abs(v))) / 2
        probabilities: Array = (1 - TILT) * self._map(u) + TILT * tilt
        return probabilities

    @abc.abstractmethod
    def _map(self, u: Array) -> Array:
        """Return f(u)."""

    def settings(self) -> dict[str, float]:
        """Return the numbers of the map by name."""
        return {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name != "kind" and field.name not in self.arrays()
        }

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of the map by name."""
        return {}


@dataclasses.dataclass(frozen=True, eq=False)
class Sigmoid(Calibration):
    """A logistic function of the score with two slopes.

    With z = slope u + offset, f = sigmoid(shift + high ln(1 + exp(z)) - low ln(1 + exp(-z))).
    Platt's map is low = high = 1, shift = 0: f = sigmoid(z).
    """

    slope: float
    offset: float
    low: float = 1.0
    high: float = 1.0
    shift: float = 0.0

    form: ClassVar[str] = "sigmoid"

    def _map(self, u: Array) -> Array:
        z = self.slope * u + self.offset
        rising = self.high * np.logaddexp(0, z) - self.low * np.logaddexp(0, -z)
        shares: Array = scipy.special.expit(self.shift + rising)
        return shares


@dataclasses.dataclass(frozen=True, eq=False)
class Steps(Calibration):
    """Steps of an isotonic regression: linear between knots, level beyond the outer ones.

    Attributes
    ----------
    knots : ndarray
        Increasing, in units of u.
    values : ndarray
        Never falling; from 0 to 1.
    """

    knots: Array
    values: Array

    form: ClassVar[str] = "steps"

    def _map(self, u: Array) -> Array:
        return np.interp(u, self.knots, self.values)

    def arrays(self) -> dict[str, Array]:
        """Return knots and values."""
        return {"knots": self.knots, "values": self.values}


FORMS: dict[str, type[Sigmoid] | type[Steps]] = {"sigmoid": Sigmoid, "steps": Steps}


def standardised(scores: Array, centre: float, scale: float) -> Array:
    """Return u, which is finite whatever the scores are."""
    with np.errstate(over="ignore"):
        u = (np.asarray(scores, np.float64) - centre) / scale
    return np.clip(u, -_FURTHEST, _FURTHEST)


def restore_calibration(
    kind: str, form: str, settings: Mapping[str, float], arrays: Mapping[str, Array]
) -> Calibration:
    """Make a map of what :meth:`Calibration.settings` and :meth:`Calibration.arrays` gave.

    Raises
    ------
    ValueError
        If it would be no increasing map to probabilities.
    """
    made = FORMS.get(form)
    if made is None:
        raise ValueError(f"unknown form of calibration {form!r}")
    given: dict[str, Any] = {**settings, **arrays}
    names = {field.name for field in dataclasses.fields(made)} - {"kind"}
    if set(given) != names:
        raise ValueError("the numbers of the calibration do not fit its form")
    if not all(np.isfinite(value).all() for value in given.values()):
        raise ValueError("the numbers of the calibration are not all finite")
    if any((np.abs(value) > _LARGEST).any() for value in given.values()):
        raise ValueError(f"the calibration holds numbers beyond {_LARGEST}")
    positive = [given[name] for name in ("scale", "slope", "low", "high") if name in given]
    if min(positive) <= 0:
        raise ValueError("the calibration does not increase with the score")
    if made is Steps:
        _check_steps(given["knots"], given["values"])
    return made(kind, **given)


def _check_steps(knots: Array, values: Array) -> None:
    if knots.ndim != 1 or knots.shape != values.shape or not len(knots):
        raise ValueError("the calibration needs as many values as knots")
    if (np.diff(knots) <= 0).any() or (np.diff(values) < 0).any():
        raise ValueError("the calibration does not increase with the score")
    if values[0] < 0 or values[-1] > 1:
        raise ValueError("the values of the calibration are not probabilities")


_LEAST_SLOPE = 1e-6
_MOST_STEPS = 200


def calibrate(kind: str, positive: NDArray[np.bool_], scores: Array) -> Calibration:
    """Fit an increasing map from scores to probabilities.

    Parameters
    ----------
    kind : {"isotonic", "platt", "beta"}
        ``isotonic``: the shares of positives that rise with the score and are nearest in squares;
        shares of 0 and 1 become 1 / (n + 2) and (m + 1) / (m + 2). ``platt``: a logistic function
        of the score, fitted to Platt's targets 1 / (n + 2) and (m + 1) / (m + 2) in the place of
        0 and 1. ``beta``: beta calibration (Kull et al. 2017) of Platt's probability q, that is a
        logistic function of ln q and -ln(1 - q) with weights of at least 1e-6 each, fitted to the
        same targets; where both weights are 1, it is Platt's map.
    positive : ndarray of bool, shape (rows,)
    scores : ndarray, shape (rows,)
        Of rows that the scorer was not trained on.

    Raises
    ------
    ValueError
        If there is no such kind, a score is not finite, or a class has no row.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown calibration {kind!r}; choose one of {', '.join(KINDS)}")
    positive, scores = np.asarray(positive, bool), np.asarray(scores, np.float64)
    if positive.ndim != 1 or positive.shape != scores.shape:
        raise ValueError("calibration needs one class and one score per row")
    if not np.isfinite(scores).all():
        raise ValueError("calibration needs finite scores")
    if positive.all() or not positive.any():
        raise ValueError("calibration needs held-out rows of both classes")
    centre, scale = _measure(scores)
    return KINDS[kind](positive, standardised(scores, centre, scale), centre, scale)


def _measure(scores: Array) -> tuple[float, float]:
    """Return the median and half the width of the middle half, or of all where that is 0."""
    lower, centre, upper = np.quantile(scores / 4, [0.25, 0.5, 0.75]) * 4
    width = upper / 2 - lower / 2 or scores.max() / 2 - scores.min() / 2
    return float(centre), float(width) if width > 0 else 1.0


def _targets(positive: NDArray[np.bool_]) -> tuple[float, float]:
    m = int(positive.sum())
    return 1 / (len(positive) - m + 2), (m + 1) / (m + 2)


def _isotonic(positive: NDArray[np.bool_], u: Array, centre: float, scale: float) -> Steps:
    places, which, counts = np.unique(u, return_inverse=True, return_counts=True)
    shares = np.bincount(which, weights=positive) / counts
    found = scipy.optimize.isotonic_regression(shares, weights=counts)
    first, last = found.blocks[:-1], found.blocks[1:] - 1
    values = np.maximum.accumulate(np.clip(found.x[first], *_targets(positive)))
    # A block of one score has one knot.
    knots, kept = np.unique(np.stack([places[first], places[last]], axis=1), return_index=True)
    return Steps("isotonic", centre, scale, knots, np.repeat(values, 2)[kept])


def _platt(positive: NDArray[np.bool_], u: Array, centre: float, scale: float) -> Sigmoid:
    (slope,), offset = _fit_logistic(u[:, None], np.where(positive, *_targets(positive)[::-1]))
    return Sigmoid("platt", centre, scale, slope, offset)


def _beta(positive: NDArray[np.bool_], u: Array, centre: float, scale: float) -> Sigmoid:
    first = _platt(positive, u, centre, scale)
    z = first.slope * u + first.offset
    features = np.stack([-np.logaddexp(0, -z), np.logaddexp(0, z)], axis=1)
    targets = np.where(positive, *_targets(positive)[::-1])
    (low, high), shift = _fit_logistic(features, targets)
    return Sigmoid("beta", centre, scale, first.slope, first.offset, low, high, shift)


KINDS: dict[str, Callable[[NDArray[np.bool_], Array, float, float], Calibration]] = {
    "isotonic": _isotonic,
    "platt": _platt,
    "beta": _beta,
}


# ------------------------------------------------------------------ logistic regression


def _fit_logistic(features: Array, targets: Array) -> tuple[list[float], float]:
    """Minimise the log loss over weights that are at least the least slope, and a constant.

    The problem is convex with a bound or two: the best solution over all sets of weights at
    their bound, of those within the bounds, is the solution.
    """
    count = features.shape[1]
    best, least = np.zeros(count + 1), np.inf
    for size in range(count + 1):
        for bound in itertools.combinations(range(count), size):
            weights, loss = _newton(features, targets, bound)
            if loss < least and (weights[:count] >= (1 - 1e-9) * _LEAST_SLOPE).all():
                best, least = weights, loss
        if least < np.inf and size == 0:
            break
    return best[:count].tolist(), float(best[count])


def _newton(features: Array, targets: Array, bound: Sequence[int]) -> tuple[Array, float]:
    """Minimise with some weights at the bound, the others free."""
    X = np.column_stack([features, np.ones(len(features))])
    lengths = np.sqrt(np.mean(X**2, axis=0))
    lengths[lengths == 0] = 1.0
    X /= lengths
    w = np.zeros(X.shape[1])
    w[list(bound)] = _LEAST_SLOPE * lengths[list(bound)]
    free = [k for k in range(len(w)) if k not in bound]
    F = X[:, free]
    loss = _loss(X @ w, targets)
    for _ in range(_MOST_STEPS):
        shares = scipy.special.expit(X @ w)
        gradient = F.T @ (shares - targets) / len(X)
        hessian = (F * (shares * (1 - shares))[:, None]).T @ F / len(X)
        hessian[np.diag_indices(len(free))] += 1e-13
        step = np.linalg.solve(hessian, -gradient)
        expected = -float(gradient @ step)
        if expected <= 1e-20:
            break
        length, before = 1.0, loss
        while True:
            further = w.copy()
            further[free] += length * step
            loss = _loss(X @ further, targets)
            if loss <= before - 1e-4 * length * expected or length < 1e-12:
                break
            length /= 2
        if loss >= before:
            loss = before
            break
        w = further
    return np.asarray(w / lengths), loss


def _loss(eta: Array, targets: Array) -> float:
    return float(np.mean(np.logaddexp(0, eta) - targets * eta))
