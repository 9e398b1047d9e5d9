"""Linear RankSVM."""

from __future__ import annotations

from typing import ClassVar

import scipy

from aucstudio.engine.blocks import Passes
from aucstudio.engine.cost import NUMBER, Cost, cost_of
from aucstudio.engine.features.maps import (
    Identity,
    Shifted,
    centred,
    rows_for_mean,
    shift_for_digits,
)
from aucstudio.engine.features.spaces import BlockVectors, Space, Vectors
from aucstudio.engine.fit import Context
from aucstudio.engine.methods.ranking._newton import PairNewton, newton
from aucstudio.engine.methods.settings import cost
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.types import Mask, Rows


class RankSVM(PairNewton):
    """Minimises the squared hinge loss of all positive–negative pairs with a linear score.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))^2`` over all pairs of a
    positive and a negative, f(x) = <w, x>. Papers sum over the pairs: C_paper = C / (m n), and
    C_paper = 2 C / (m n) where they write C / 2 before the sum.

    No pair is formed: O(N log N + N d) for a step within an iteration. ``dual_gap_`` bounds how far
    ``objective_`` is from the optimum. Where the classes have the same mean, w = 0 is the
    optimum for every C; ``notes_`` says so. Rows may come in blocks: two passes over them for a
    step within an iteration, one more for the iteration, and one to begin with.

    References
    ----------
    Chapelle and Keerthi (Information Retrieval 2010), Efficient algorithms for ranking with SVMs.

    PRSVM+; Lee and Lin (2014), Large-scale linear RankSVM.

    Use when
    --------
    The linear method for many rows, up to millions: its time hardly depends on the number of
    pairs.
    """

    title: ClassVar[str] = "RankSVM"
    takes_sparse: ClassVar[bool] = True
    adds_up: ClassVar[bool] = True
    in_words: ClassVar[str] = "Linear RankSVM"

    C: float = cost(10.0, range(-2, 5))

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        return cost_of(N, *newton(N, d, NUMBER))

    def _space(self, X: Rows, positive: Mask, context: Context) -> Space:
        space = Vectors(X if scipy.sparse.issparse(X) else centred(X, context.weights))
        context.monitor.stage("features", 1.0)
        return space

    def _block_space(self, rows: Passes, monitor: Monitor) -> Space:
        mean = shift_for_digits(rows.take(rows_for_mean(len(rows))))
        return BlockVectors(rows, Shifted(Identity(), mean))
