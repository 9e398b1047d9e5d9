"""Increasing maps from scores to probabilities.

With s a score, u = (s - centre) / scale and a map f that never falls, the probability is

    (1 - TILT) f(u) + TILT t(u),   t(u) = (1 + v / (1 + |v|)) / 2,   v = sign(u) ln(1 + |u|).

The tilt t rises everywhere, so that of two scores the greater has the greater probability also
where f is flat, and beyond the scores that f was learnt from: calibration keeps the ranking. It
moves no probability by more than TILT. Two scores share one only where the floating-point numbers
between 0 and 1 cannot separate them: closer than about 1e-7 of their distance from the centre.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import scipy

from aucstudio.engine.types import Array

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


def restore(
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
