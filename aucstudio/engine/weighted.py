"""Base class of methods that take row weights."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.monitor import Callback


class WeighsRows(AUCClassifier):
    """A method that can let some rows count more than others.

    A row of weight 2 counts as two equal rows, a row of weight 0 is left out, and a pair has the
    product of the weights of its rows. The scale of the weights has no effect on a mean over pairs
    or rows; in a sum over rows it acts like ``C`` (``counts_rows``). A method that does this only
    approximately gives the reason in ``weights_differ``; the others do so to rounding, or to the
    tolerance of their solver.
    """

    takes_weights: ClassVar[bool] = True

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callback | None = None,
        **options: Any,
    ) -> Self:
        """Train on the rows of X; see :meth:`AUCClassifier.fit`.

        Parameters
        ----------
        X, y, callback, options
            As there.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs: finite, not negative, and some of each class greater than 0.

        Raises
        ------
        ValueError
            For other weights, and as there.
        """
        return self._train(X, y, callback, sample_weight=sample_weight, **options)
