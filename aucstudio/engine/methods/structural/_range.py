"""Support vector machines for the area under a chosen part of the ROC curve.

Symbols: [alpha, beta] FPR range; losses as in :mod:`~aucstudio.engine.losses.structural`.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from typing import ClassVar

from aucstudio.engine.fit import Fit
from aucstudio.engine.losses import Risk
from aucstudio.engine.methods.settings import Range, counted_range, widening
from aucstudio.engine.methods.structural._training import RiskMinimiser, StructuralSVM
from aucstudio.engine.solvers.solution import Direction
from aucstudio.engine.types import Mask
from aucstudio.notices import Notice, notice


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class RangeSVM(StructuralSVM):
    """A structural method for a range of FPR, which is widened where nothing can be learnt in it.

    Attributes
    ----------
    fpr_range_used_ : tuple of two floats
    """

    family: ClassVar[str] = "partial AUC"
    one_sided: ClassVar[bool] = True

    fpr_range: tuple[float, float] = counted_range()

    @abstractmethod
    def _risk(self, positive: Mask, alpha: float, beta: float) -> Risk:
        """Return the method's surrogate of 1 - pAUC."""

    def _asked(self) -> Range:
        alpha, beta = self.fpr_range
        return float(alpha), float(beta)

    def _solve(self, search: RiskMinimiser) -> Fit:
        found, used = self._widened(search)
        self.fpr_range_used_ = used
        return search.fit(found, notes(self._asked(), used, search.ranks_nothing(found.weights)))

    def _widened(self, search: RiskMinimiser) -> tuple[Direction, Range]:
        """Minimise the surrogate over the range asked for, or the first wider one that ranks."""
        for used in widening(self._asked()):
            found = self._over(search, used)
            if search.monitor.stopped or not search.ranks_nothing(found.weights):
                break
        return found, used

    def _over(self, search: RiskMinimiser, used: Range) -> Direction:
        """Minimise the surrogate over a range; w = 0 only where it is known to be best.

        At a large C the planes near w = 0 can be so many that the search stalls there. Another
        start leads away from it, or a small C shows that 0 is best: the subgradients at 0 are
        the same for every C.
        """
        name, risk = (type(self).key, used), self._risk(search.positive, *used)
        found = search.minimise(name, risk)
        if not self._in_doubt(search, found):
            return found
        whole = search.minimise((type(self).key, (0.0, 1.0)), self._risk(search.positive, 0.0, 1.0))
        found = search.minimise(name, risk, whole.weights)
        if self._in_doubt(search, found):
            found = search.settle_origin(name, risk)
        return found

    @staticmethod
    def _in_doubt(search: RiskMinimiser, found: Direction) -> bool:
        stopped = search.monitor.stopped
        return search.ranks_nothing(found.weights) and not (found.converged or stopped)


def notes(asked: Range, used: Range, nothing: bool) -> tuple[Notice, ...]:
    """Return what became of the range."""
    if nothing:
        return (notice("no_direction"),)
    if used != asked:
        return (notice("range_widened", asked=asked, used=used),)
    return ()
