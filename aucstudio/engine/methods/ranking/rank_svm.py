"""RankSVM, linear: the squared hinge of all pairs of the rows themselves."""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

from scipy import sparse

from aucstudio.engine.base import Array, Context
from aucstudio.engine.blocks import Passes
from aucstudio.engine.cost import NUMBER, Cost, cost_of
from aucstudio.engine.features.feature_rows import centred, shift_for_digits
from aucstudio.engine.features.fourier import rows_for_mean
from aucstudio.engine.methods.ranking._newton import Embedded, PairNewton, newton
from aucstudio.engine.methods.settings import cost
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.scorers import LinearScorer, Scorer
from aucstudio.engine.solvers.cutting_plane import Rows
from aucstudio.engine.solvers.rank_designs import (
    BlocksDesign,
    Design,
    RowsDesign,
)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class RankSVM(PairNewton):
    """Linear RankSVM: the squared hinge of all pairs, by Newton's method on sorted scores.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))^2`` over all pairs of a
    positive and a negative, f(x) = <w, x>. Papers sum over the pairs: C_paper = C / (m n), and
    C_paper = 2 C / (m n) where they write C / 2 before the sum.

    No pair is formed: O(N log N + N d) for a step within an iteration. ``gap_`` bounds how far
    ``objective_`` is from the optimum. Where the classes have the same mean, w = 0 is the
    optimum for every C; ``notes_`` says so. Rows may come in blocks: two passes over them for a
    step within an iteration, one more for the iteration, and one to begin with.

    Parameters
    ----------
    C : float
        Weight of the mean pair loss.
    tol : float
        Relative gap to reach.

    References
    ----------
    Chapelle and Keerthi (2010), Efficient algorithms for ranking with SVMs (PRSVM+); Lee and Lin
    (2014), Large-scale linear RankSVM.
    """

    key: ClassVar[str] = "rank-svm"
    title: ClassVar[str] = "RankSVM"
    adds_up: ClassVar[bool] = True
    source: ClassVar[str] = (
        "Chapelle and Keerthi (Information Retrieval 2010), "
        "Efficient algorithms for ranking with SVMs"
    )
    summary: ClassVar[str] = (
        "Squared margin violations of all positive–negative pairs, linear; a few Newton steps, "
        "however many pairs."
    )
    in_words: ClassVar[str] = "Linear ranking machine"
    use_when: ClassVar[str] = (
        "The linear method for many rows, up to millions: its time hardly grows with the "
        "number of pairs."
    )

    C: float = cost(
        10.0, "Weight of the mean pair loss against the size of the weights.", range(-2, 5)
    )

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Say what a fit takes; see the base class."""
        N, d = positives + negatives, features
        return cost_of(N, *newton(N, d, NUMBER))

    def _embed(self, X: Rows, context: Context) -> Embedded:
        return _LinearRows(X, context.monitor)

    def _embed_blocks(self, rows: Passes, monitor: Monitor) -> Embedded:
        return _LinearBlocks(rows)

    def _takes_sparse(self) -> bool:
        return True


class _LinearRows:
    """The rows themselves, less their mean where that saves digits."""

    def __init__(self, X: Rows, monitor: Monitor) -> None:
        self.design: Design = RowsDesign(X if sparse.issparse(X) else centred(X))
        monitor.stage("features", 1.0)

    def scorer(self, w: Array) -> Scorer:
        return LinearScorer(w)


class _LinearBlocks:
    """The same of rows that come in blocks."""

    def __init__(self, rows: Passes) -> None:
        mean = shift_for_digits(rows.take(rows_for_mean(len(rows))))
        features = _unchanged if mean is None else functools.partial(_less, mean)
        self.design: Design = BlocksDesign(rows, rows.features, features)

    def scorer(self, w: Array) -> Scorer:
        return LinearScorer(w)


def _unchanged(X: Array) -> Array:
    return X


def _less(mean: Array, X: Array) -> Array:
    return X - mean
