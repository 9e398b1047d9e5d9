"""Base class of methods that take row weights."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.monitor import Callback


class WeighsRows(AUCClassifier):
    """A method that can let some rows count more than others.

    A row of weight 2 is a row twice, one of weight 0 is not there, and a pair weighs the product of
    the weights of its rows. So the scale of the weights is without effect on a loss that is a mean
    over pairs or rows, and moves the balance with ``C`` where it is a sum over rows
    (``counts_rows``). A method that keeps this only approximately says why in ``weights_differ``;
    the others keep it to rounding, or to the tolerance of their solver.
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
