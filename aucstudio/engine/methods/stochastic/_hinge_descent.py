"""Descent on the hinge of drawn pairs or rows, on landmark features: NSAUC and NSVMSGD2.

Symbols: phi(x) Nystrom features of a row, or the row itself if the kernel is linear; x_i
positives, z_j negatives, m and n of them, N in all; M_ij = w.(phi(x_i) - phi(z_j)) margin;
lambda regularisation against the mean loss; w' = scale w weights among scaled features.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from aucstudio.engine.losses.pairs import PairHinge
from aucstudio.engine.methods.stochastic._training import (
    SEARCH,
    StochasticClassifier,
)
from aucstudio.engine.params import param
from aucstudio.engine.solvers.stochastic import (
    Draw,
    Features,
    Measure,
    PairSteps,
    draw_pairs,
    search_rate,
)
from aucstudio.engine.types import Array, Mask

_LARGEST = 1e100  # lambda in F's units; beyond it numbers overflow before scores mean anything


def _regularization(default: float) -> Any:
    return param(
        default,
        "Weight of |w|² against the mean loss; larger is smoother.",
        label="Regularisation",
        symbol="λ",
        low=0.0,
        low_open=True,
        log=True,
        grid=tuple(10.0**k for k in range(0, -9, -1)),
    )


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class HingeDescent(StochasticClassifier):
    """A method that descends on a mean hinge loss with steps of size 1 / (lambda (t + t0))."""

    averaged: ClassVar[bool]
    solves: ClassVar[str] = "stochastic hinge"

    regularization: float = _regularization(1e-3)

    def _learner(self, F: Features, positive: Mask, scale: float) -> PairSteps:
        rng = np.random.default_rng((self.random_state, SEARCH, 0))
        regularization, draw = self._scaled(scale), self._draw()
        rate = search_rate(F, draw(positive, rng), regularization)
        return PairSteps(F.shape[1], regularization, rate, draw, self.averaged)

    def _draw(self) -> Draw:
        return draw_pairs

    def _measure(self, positive: Mask, scale: float) -> Measure:
        return functools.partial(_regularised, self._loss(positive), self._scaled(scale))

    def _scaled(self, scale: float) -> float:
        """Return lambda against |w'|^2."""
        return min(self.regularization / scale / scale, _LARGEST)

    def _loss(self, positive: Mask) -> Callable[[Array], float]:
        hinge = PairHinge(positive)
        return lambda scores: hinge(scores)[0]


def _regularised(
    loss: Callable[[Array], float], regularization: float, w: Array, scores: Array
) -> float:
    return 0.5 * regularization * float(w @ w) + loss(scores)
