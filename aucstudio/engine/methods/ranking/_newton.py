"""Newton training that the RankSVM methods share.

A method of the family is a set of features; everything else is done by :class:`PairNewton`.

Symbols: M_ij = f(x_i) - f(z_j) margin of positive i over negative j; phi(x) features, f(x) =
<w, phi(x)>; K kernel matrix of the rows.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from typing import ClassVar

from aucstudio.engine.blocks import Passes
from aucstudio.engine.cost import NUMBER, Work
from aucstudio.engine.features.spaces import Space
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.methods.settings import tolerance
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.solvers.rank_newton import MOST_SAMPLED_FEATURES, minimise
from aucstudio.engine.types import Array, Mask, Rows
from aucstudio.engine.weighted import WeighsRows
from aucstudio.notices import notice

_NOTHING_GAINED = 1e-13


@dataclasses.dataclass
class _Bench:
    """What the fits of a path share: features and the direction found last."""

    space: Space
    weights: Array | None = None


class PairNewton(WeighsRows):
    """The settings, the fit and the path along C that the family shares.

    A subclass gives the rows as vectors.
    """

    family: ClassVar[str] = "RankSVM"
    solves: ClassVar[str] = "squared pair hinge"
    path_setting: ClassVar[str] = "C"
    wants_margin: ClassVar[bool] = True

    C: float
    tol: float = tolerance(1e-5)

    @abstractmethod
    def _space(self, X: Rows, positive: Mask, context: Context) -> Space:
        """Return the rows as vectors."""

    @abstractmethod
    def _block_space(self, rows: Passes, monitor: Monitor) -> Space:
        """Return rows that come in blocks as vectors; see ``adds_up``."""

    def _fit_blocks(self, rows: Passes, context: Context) -> Fit:
        if not self.adds_up:
            return super()._fit_blocks(rows, context)
        space = self._block_space(rows, context.monitor)
        return self._solve(_Bench(space), rows.positive, context.monitor)

    def _fit(self, X: Rows, positive: Mask, context: Context) -> Fit:
        settings = {**self.get_params(deep=False), "C": None}
        bench = context.shared.once(settings, lambda: _Bench(self._space(X, positive, context)))
        return self._solve(bench, positive, context.monitor, context.weights)

    def _solve(
        self, bench: _Bench, positive: Mask, monitor: Monitor, weights: Array | None = None
    ) -> Fit:
        found = minimise(
            bench.space,
            positive,
            float(self.C),
            tol=self.tol,
            monitor=monitor,
            scorer=bench.space.scorer,
            start=bench.weights,
            weights=weights,
        )
        bench.weights = found.weights
        # P(0) = C: if no direction gets below that, w = 0 is the optimum.
        nothing = self.C - found.objective <= _NOTHING_GAINED * self.C and not monitor.stopped
        return Fit.of(
            bench.space.scorer(found.weights),
            found,
            # Nearer than asked for where w = 0 is nearly as good; that is no promise.
            needed=max(found.needed, self.tol * found.objective),
            notes=(notice("no_direction"),) if nothing else (),
        )


def newton(rows: int, features: int, bytes_of_number: int) -> tuple[float, Work]:
    """Return the memory and the work of Newton's method, features themselves aside."""
    cells = float(rows) * features
    work = Work(numbers=3.0 * bytes_of_number * cells + 1500.0 * rows, steps=300)
    if features > MOST_SAMPLED_FEATURES and bytes_of_number == NUMBER:
        return 2.0 * NUMBER * min(rows, 4_096) * features + 120.0 * rows, work
    sample = min(rows, max(1_000, 32 * features))
    return 2.0 * bytes_of_number * sample * features + 120.0 * rows, work
