"""RankSVM, linear and with a kernel: the squared hinge of all pairs by Newton's method.

A method of the family is a set of features; everything else is done by :class:`PairNewton`.

Symbols: M_ij = f(x_i) - f(z_j) margin of positive i over negative j; phi(x) features, f(x) =
<w, phi(x)>; K kernel matrix of the rows.
"""

from __future__ import annotations

import dataclasses
import functools
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Protocol, Self

from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone

from aucstudio.engine.base import Array, AUCClassifier, Fit, Mask
from aucstudio.engine.blocks import Passes
from aucstudio.engine.cost import NO_KERNEL, NUMBER, Cost, Work, cost_of, kernel_matrix
from aucstudio.engine.features.feature_rows import centred, shift_for_digits
from aucstudio.engine.features.fourier import rows_for_mean
from aucstudio.engine.features.kernels import Kernel, KernelSettings
from aucstudio.engine.methods.settings import cost, tolerance
from aucstudio.engine.methods.structural.training import SAME_MEAN
from aucstudio.engine.monitor import Callback, Monitor
from aucstudio.engine.params import InvalidSetting, param
from aucstudio.engine.scorers import LinearScorer, Scorer, trimmed
from aucstudio.engine.solvers.cutting_plane import Rows
from aucstudio.engine.solvers.rank_designs import (
    MOST_SAMPLED_FEATURES,
    BlocksDesign,
    Design,
    KernelDesign,
    RowsDesign,
)
from aucstudio.engine.solvers.rank_newton import minimise

MOST_KERNEL_ROWS = 10_000

_NOTHING_GAINED = 1e-13


class Embedded(Protocol):
    """Training rows as features."""

    design: Design

    def scorer(self, w: Array) -> Scorer:
        """Give <w, phi(x)> as a function of rows."""


@dataclasses.dataclass
class _Bench:
    """What fits one after another have in common: features and the direction found last."""

    settings: object = None
    rows: Embedded | None = None
    weights: Array | None = None


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class PairNewton(AUCClassifier):
    """The settings, the fit and the path along C that the family shares.

    A subclass gives the rows as features.
    """

    family: ClassVar[str] = "RankSVM"
    path_setting: ClassVar[str] = "C"

    C: float
    tol: float = tolerance(1e-5, "Stop when the objective is this near to its optimum, relatively.")
    _bench: _Bench | None = dataclasses.field(default=None, init=False)

    @abstractmethod
    def _embed(self, X: Rows, monitor: Monitor) -> Embedded:
        """Make the features of the rows."""

    def _embed_blocks(self, rows: Passes, monitor: Monitor) -> Embedded:
        """Make the features of rows that come in blocks; see ``adds_up``."""
        raise NotImplementedError

    def _fit_blocks(self, rows: Passes, monitor: Monitor) -> Fit:
        if not self.adds_up:
            return super()._fit_blocks(rows, monitor)
        return self._solve(_Bench(rows=self._embed_blocks(rows, monitor)), rows.positive, monitor)

    def _fit(self, X: Rows, positive: Mask, monitor: Monitor) -> Fit:
        bench = self._bench or _Bench()
        settings = {**self.get_params(deep=False), "C": None}
        if bench.rows is None or settings != bench.settings:
            rows = self._embed(X, monitor)
            bench.settings, bench.rows, bench.weights = settings, rows, None
        return self._solve(bench, positive, monitor)

    def _solve(self, bench: _Bench, positive: Mask, monitor: Monitor) -> Fit:
        assert bench.rows is not None
        found = minimise(
            bench.rows.design,
            positive,
            float(self.C),
            tol=self.tol,
            monitor=monitor,
            scorer=bench.rows.scorer,
            start=bench.weights,
        )
        bench.weights = found.weights
        # P(0) = C: if no direction gets below that, w = 0 is the optimum.
        nothing = self.C - found.objective <= _NOTHING_GAINED * self.C and not monitor.stopped
        return Fit(
            bench.rows.scorer(found.weights),
            found.objective,
            n_iter=found.n_iter,
            gap=found.gap,
            # Nearer than asked for where w = 0 is nearly as good; that is no promise.
            needed=max(found.needed, self.tol * found.objective),
            notes=(SAME_MEAN,) if nothing else (),
        )

    def fit_path(
        self,
        X: ArrayLike,
        y: ArrayLike,
        name: str,
        values: Sequence[Any],
        *,
        callback: Callback | None = None,
    ) -> Iterator[Self]:
        """Fit a copy for each value of one setting, in their order, each from the one before.

        Along C, features or kernel matrix are made once.
        """
        bench = _Bench()
        for value in values:
            changes = {name: value} if name else {}
            yield clone(self).set_params(**changes)._fit_on(bench, X, y, callback)

    def _fit_on(self, bench: _Bench, X: ArrayLike, y: ArrayLike, callback: Callback | None) -> Self:
        self._bench = bench
        try:
            return self.fit(X, y, callback=callback)
        finally:
            self._bench = None


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


class _KernelRows:
    """The rows in the kernel's own space."""

    def __init__(self, X: Array, kernel: Kernel, monitor: Monitor) -> None:
        self._kernel, self._points = kernel, centred(X) if kernel.is_linear else X
        look = functools.partial(monitor.stage, "kernel matrix")
        self.design: Design = KernelDesign(kernel(self._points, self._points, look))

    def scorer(self, w: Array) -> Scorer:
        return trimmed(self._kernel, self._points, w)


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

    def _embed(self, X: Rows, monitor: Monitor) -> Embedded:
        return _LinearRows(X, monitor)

    def _embed_blocks(self, rows: Passes, monitor: Monitor) -> Embedded:
        return _LinearBlocks(rows)

    def _takes_sparse(self) -> bool:
        return True


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class KernelRankSVM(KernelSettings, PairNewton):
    """RankSVM with a kernel, exact: the squared hinge of all pairs in the kernel's own space.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))^2`` over all pairs of a
    positive and a negative, with f = sum_l beta_l k(row_l, .) and |w|^2 = beta' K beta. Papers
    sum over the pairs: C_paper = C / (m n).

    Newton's method runs in the kernel's space, on the weights beta: every step of its conjugate
    gradients is one product with K. For up to 10,000 rows; NBAUC is the approximation for more.

    Parameters
    ----------
    kernel, gamma, degree, coef0
        See :class:`~aucstudio.engine.features.kernels.KernelSettings`.
    C : float
        Weight of the mean pair loss.
    tol : float
        Relative gap to reach.

    Raises
    ------
    InvalidSetting
        For more rows.

    References
    ----------
    Kuo, Lee and Lin (2014), Large-scale kernel RankSVM; Chapelle and Keerthi (2010).
    """

    key: ClassVar[str] = "kernel-rank-svm"
    title: ClassVar[str] = "Kernel RankSVM"
    source: ClassVar[str] = "Kuo, Lee and Lin (SDM 2014), Large-scale kernel RankSVM"
    summary: ClassVar[str] = (
        "RankSVM with the whole kernel matrix: curved borders, exact, for up to 10,000 rows."
    )
    in_words: ClassVar[str] = "Kernel ranking machine, exact"
    use_when: ClassVar[str] = (
        "Curved borders on up to some thousand rows, where an approximation is not wanted."
    )

    kernel: str = param(
        "rbf",
        "How two rows are compared.",
        label="Kernel",
        symbol="k",
        choices={
            "rbf": "Gaussian: near rows score alike",
            "poly": "polynomial: products of features",
            "linear": "a weight for each feature",
        },
        from_code=("precomputed",),
    )
    C: float = cost(
        100.0, "Weight of the mean pair loss against the size of the weights.", range(-1, 6)
    )

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Say what a fit takes; see the base class."""
        N = positives + negatives
        work = kernel_matrix(N, features) + Work(numbers=28.0 * N**2 + 3000.0 * N, steps=300)
        return cost_of(N, NUMBER * (1.0 * N**2 + N * features), work, NO_KERNEL)

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices beyond memory; see the base class."""
        rows = positives + negatives
        if rows > MOST_KERNEL_ROWS:
            raise InvalidSetting(
                "kernel",
                f"this kernel needs the {rows:,} × {rows:,} matrix of all rows, "
                f"{8 * rows**2 / 1e9:.1f} GB; beyond {MOST_KERNEL_ROWS:,} rows take the method "
                "nbauc, which does with n_landmarks of them, or rank-svm, which is linear",
            )

    def _embed(self, X: Array, monitor: Monitor) -> Embedded:
        return _KernelRows(X, self.settle_kernel(X), monitor)


def newton(rows: int, features: int, bytes_of_number: int) -> tuple[float, Work]:
    """Give the memory and the work of Newton's method, features themselves aside."""
    cells = float(rows) * features
    work = Work(numbers=3.0 * bytes_of_number * cells + 1500.0 * rows, steps=300)
    if features > MOST_SAMPLED_FEATURES and bytes_of_number == NUMBER:
        return 2.0 * NUMBER * min(rows, 4_096) * features + 120.0 * rows, work
    sample = min(rows, max(1_000, 32 * features))
    return 2.0 * bytes_of_number * sample * features + 120.0 * rows, work
