"""NSVMSGD2: stochastic descent on the hinge without averaging."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ClassVar

from aucstudio.engine.losses.row_hinge import mean_hinge
from aucstudio.engine.methods.stochastic._training import HingeDescent
from aucstudio.engine.params import param
from aucstudio.engine.solvers.stochastic import (
    Draw,
    draw_pairs,
    draw_rows,
)
from aucstudio.engine.types import Array, Mask


class NSVMSGD2(HingeDescent):
    """Learns from one random pair at a time on approximate kernel features, without averaging.

    Minimises ``regularization / 2 * |w|^2 + mean_ij (1 - M_ij)_+`` over all pairs, as NSAUC does
    and with the same steps. The scorer is the last iterate of the epoch with the lowest objective,
    as in the NSAUC paper. ``loss="rows"`` is SVMSGD2 as published, for single rows, with the loss
    ``mean_i (1 - y_i w.(phi(x_i) - mean phi))_+``. ``loss="balanced-rows"`` takes the mean of the
    mean losses of the classes. The published lambda is ``regularization``; there is no constant.

    There is no certificate (``dual_gap_`` is None): training ends after the given epochs.

    References
    ----------
    Bordes, Bottou and Gallinari (JMLR 2009), SGD-QN; Khalid, Ray and Chitsaz (2018), Scalable
    nonlinear AUC maximization methods.

    Careful quasi-Newton stochastic gradient descent; section 5.5 of the latter.

    Use when
    --------
    As a comparison for NSAUC; its result depends more on the seed.
    """

    title: ClassVar[str] = "NSVMSGD2"
    in_words: ClassVar[str] = "Stochastic pairwise learning, not averaged"
    averaged: ClassVar[bool] = False

    loss: str = param(
        "pairs",
        "What each step uses.",
        label="Loss",
        symbol="ℓ",
        choices={
            "pairs": "a positive against a negative: the AUC",
            "rows": "one row and its class, as the method was published",
            "balanced-rows": "one row and its class, both classes equally often",
        },
    )

    def _draw(self) -> Draw:
        if self.loss == "pairs":
            return draw_pairs
        return functools.partial(draw_rows, balanced=self.loss == "balanced-rows")

    def _loss(self, positive: Mask) -> Callable[[Array], float]:
        if self.loss == "pairs":
            return super()._loss(positive)
        return functools.partial(mean_hinge, positive, self.loss == "balanced-rows")
