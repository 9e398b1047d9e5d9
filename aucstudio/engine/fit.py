"""Inputs and results of training: the context, the fit, and pairs held out.

Where the caller computed the kernel matrix, a row inside a fit is its number, and the kernel looks
the pair of numbers up: methods need not know. What comes out scores rows of kernel values with the
training rows.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.kernels import Kernel, Values
from aucstudio.engine.monitor import Callback, Monitor, Spread, Step, one_by_one
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.roc import equal_error_threshold, roc_curve
from aucstudio.engine.scorers import KernelScorer, LinearScorer, Scorer
from aucstudio.engine.solvers import Solution
from aucstudio.notices import Notice, notice, text


@dataclasses.dataclass(frozen=True)
class Fit:
    """The result of a method's ``_fit``.

    Attributes
    ----------
    scorer : Scorer
    objective : float
        Training objective of the scorer, as the method's docstring defines it.
    n_iter : int or None
    gap : float or None
        Upper bound on the objective minus its optimum.
    needed : float
        The requested gap.
    finished : bool
        Whether the method ended by its own rule, where that is no gap.
    lowest : float
        Lower bound on every objective of the method, which bounds the gap.
    intercept : float or None
        Constant that the method itself chose; None lets the threshold be chosen afterwards.
    support_pairs : tuple of two index arrays, optional
        Rows (positive, negative) of the pairs with a nonzero multiplier, strongest first.
    notes : tuple of Notice
        Facts the analyst should know.
    scores : ndarray of shape (n_samples,), optional
        Of the training rows by the scorer, where the method has them at hand.
    """

    scorer: Scorer
    objective: float
    n_iter: int | None = None
    gap: float | None = None
    needed: float = 0.0
    finished: bool = True
    lowest: float = 0.0
    intercept: float | None = None
    support_pairs: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None
    notes: tuple[Notice, ...] = ()
    scores: Array | None = None

    def __post_init__(self) -> None:
        if self.gap is not None:
            object.__setattr__(self, "gap", min(self.gap, self.objective - self.lowest))

    @classmethod
    def of(cls, scorer: Scorer, found: Solution, **more: Any) -> Self:
        """Make a fit of a solver's result."""
        certificate = {"n_iter": found.n_iter, "gap": found.gap, "needed": found.needed}
        return cls(scorer, found.objective, **(certificate | more))

    @property
    def converged(self) -> bool:
        """Whether the optimum is reached within the requested gap."""
        return self.finished and (self.gap is None or self.gap <= self.needed)

    def among_all(self, counted: Index) -> Self:
        """Number the rows of a fit as they were before those without weight were left out."""
        pairs = self.support_pairs
        if pairs is not None:
            pairs = counted[pairs[0]], counted[pairs[1]]
        return dataclasses.replace(self, scores=None, support_pairs=pairs)

    def shortfall(self) -> Notice:
        """Return how far from the optimum the fit may have ended."""
        if self.gap is None or not np.isfinite(self.gap) or self.objective <= 0:
            return notice("not_converged")
        share, asked = (100 * gap / self.objective for gap in (self.gap, max(self.needed, 0.0)))
        return notice("gap_too_large", reached=float(min(share, 100.0)), asked=float(asked))


Made = TypeVar("Made")


class Shared:
    """Whatever the fits of a path on the same rows make once for all settings but one."""

    def __init__(self) -> None:
        self._settings: object = None
        self._made: object = None

    def once(self, settings: object, make: Callable[[], Made]) -> Made:
        """Return what ``make`` returned last, unless the settings changed since."""
        if self._made is None or settings != self._settings:
            self._made = None  # the old one makes room for the new one
            self._made, self._settings = make(), settings
        return cast("Made", self._made)


@dataclasses.dataclass(frozen=True)
class Context:
    """The inputs of a fit other than rows and classes.

    Attributes
    ----------
    monitor : Monitor
        Receives the steps and knows whether to stop.
    given : Kernel or None
        Kernel values that the caller computed; rows are then numbers of rows, and this kernel
        replaces the method's own.
    shared : Shared
        What the fits of a path share; new for a single fit.
    kept : mapping or None
        Parts of the work that were done elsewhere, by their names; see ``Declared.in_parts``.
    groups : ndarray of shape (n_samples,) or None
        Rows of one group belong together, for methods that hold rows out.
    weights : ndarray of shape (n_samples,) or None
        What each row weighs, more than 0; None where every row counts once. Only methods that
        weigh rows are given any.
    spread : Spread
        Does what is independent of each other, side by side where the caller can.
    """

    monitor: Monitor
    given: Kernel | None = None
    shared: Shared = dataclasses.field(default_factory=Shared)
    kept: Mapping[Any, Any] | None = None
    groups: NDArray[Any] | None = None
    weights: Array | None = None
    spread: Spread = one_by_one


_SYMMETRIC = 1e-8
_NEGLIGIBLE = 1e-7  # of the trace: single precision makes eigenvalues as low as that


@dataclasses.dataclass(frozen=True, eq=False)
class GivenKernel(Kernel):
    """A kernel known on the training rows alone.

    Attributes
    ----------
    matrix : ndarray of shape (n_samples, n_samples)
    """

    kind: str = "precomputed"
    matrix: Array = dataclasses.field(default_factory=lambda: np.zeros((0, 0)))

    def against(self, B: Array) -> Values:
        """Look up k for the row numbers in the only column of the rows."""
        columns = B[:, 0].astype(np.intp)

        def values(A: Array, out: Array | None = None) -> Array:
            found = self.matrix[np.ix_(A[:, 0].astype(np.intp), columns)]
            if out is None:
                return found
            out[:] = found
            return out

        return values


def given_kernel(K: Array) -> GivenKernel:
    """Take a kernel matrix of the training rows.

    Raises
    ------
    InvalidSetting
        If it is not square, not symmetric, or has eigenvalues below 0 beyond rounding.
    """
    if K.shape[0] != K.shape[1]:
        raise InvalidSetting(
            "kernel", text("kernel_matrix_not_square", rows=K.shape[0], columns=K.shape[1])
        )
    if not np.allclose(K, K.T, rtol=0.0, atol=_SYMMETRIC * float(np.abs(K).max())):
        raise InvalidSetting("kernel", "a precomputed kernel matrix must be symmetric; X is not")
    _require_positive(K)
    return GivenKernel(matrix=K)


def _require_positive(K: Array) -> None:
    """Refuse a matrix that no kernel has: training on it would minimise nothing."""
    least = _NEGLIGIBLE * float(np.abs(K.diagonal()).sum())
    try:
        np.linalg.cholesky(K + least * np.eye(len(K)))
    except np.linalg.LinAlgError:
        lowest = float(np.linalg.eigvalsh(K)[0])
        if lowest < -least or least == 0.0:
            raise InvalidSetting(
                "kernel", text("kernel_matrix_indefinite", lowest=lowest, added=-lowest)
            ) from None


def row_numbers(K: Array) -> Array:
    """Return a placeholder for the rows, shape (n_samples, 1)."""
    return np.arange(len(K), dtype=np.float64)[:, None]


def on_columns(scorer: Scorer, size: int) -> Scorer:
    """Turn weights of row numbers into weights of the columns of a kernel matrix."""
    found = cast("KernelScorer", scorer)
    weights = np.zeros(size)
    weights[found.points[:, 0].astype(np.intp)] = found.weights
    return LinearScorer(weights)


def callback_on_columns(callback: Callback | None, size: int) -> Callback | None:
    """Wrap a callback so that it receives scorers of kernel values."""
    if callback is None:
        return None

    def translate(step: Step) -> object:
        inner = step.scorer
        if inner is not None:
            step = dataclasses.replace(step, scorer=lambda: on_columns(inner(), size))
        return callback(step)

    return translate


_is_quiet = contextvars.ContextVar("is_quiet", default=False)


@contextlib.contextmanager
def without_convergence_warnings() -> Iterator[None]:
    """Suppress the warning of fits on this thread that they did not converge.

    Warning filters belong to the whole process: fits that overlap on several threads could not
    restore them.
    """
    token = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(token)


def warn_of_convergence(message: str, stacklevel: int) -> None:
    """Warn that a fit did not converge, as scikit-learn does, unless this thread is quiet."""
    if _is_quiet.get():
        return
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel + 1)


@dataclasses.dataclass(frozen=True, eq=False)
class PairsHeldOut:
    """How every pair of a positive and a negative came out when trained without the two.

    Attributes
    ----------
    beaten : ndarray of shape (n_positives,)
        For each positive the number of negatives that it outscored in their pair, ties one half.
    above : ndarray of shape (n_negatives,)
        For each negative the number of positives that outscored it, ties one half.
    """

    beaten: Array
    above: Array

    @property
    def auc(self) -> float:
        """The share of pairs in order: the leave-pair-out AUC."""
        return float(self.beaten.sum()) / (len(self.beaten) * len(self.above))

    def placements(self, positive: Mask) -> Array:
        """Return scores whose ROC curve is that of the positives' places among the negatives.

        Scores of different pairs come from different functions and cannot be put on one scale;
        how many negatives a positive outscores can. The negatives, those that win most on top,
        take the scores 1, ..., n; a positive that outscores k of them in its pairs scores just
        above k. The AUC of these scores is exactly :attr:`auc`; 0 is their equal-error point.

        Parameters
        ----------
        positive : ndarray of bool, shape (n_samples,)
            The rows, in the order in which both counts were made.
        """
        scores = np.empty(len(positive))
        scores[positive] = self.beaten + 0.5
        order = np.argsort(-self.above, kind="stable")
        scores[np.flatnonzero(~positive)[order]] = np.arange(1.0, len(order) + 1.0)
        return scores - equal_error_threshold(roc_curve(positive, scores))
