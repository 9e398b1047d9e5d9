"""What one fit of a structural method leaves for the next: features, cuts and a direction."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.features.spaces import Vectors, chosen
from aucstudio.engine.fit import Context
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.solvers.cuts import Cuts
from aucstudio.engine.types import Array, Mask, Rows

_KEPT_NUMBERS = 1 << 22
_BYTES_PER_CHUNK = 1 << 24


@dataclasses.dataclass(frozen=True, eq=False)
class WarmStart:
    """What a fit leaves for later ones.

    Attributes
    ----------
    mark : bytes
        Digest of the features and the classes of the rows.
    weights : ndarray of shape (r,)
        Direction found, among the features.
    cuts : mapping of risk to Cuts
        The planes that the optimum rests on. They do not depend on C.
    scorer : Scorer
        That of the direction.
    n_features : int
        Of the rows.
    """

    mark: bytes
    weights: Array
    cuts: Mapping[Hashable, Cuts]
    scorer: Scorer | None
    n_features: int


class Workbench:
    """What fits one after another have in common: features, cuts of each risk, last direction.

    Parameters
    ----------
    warm : WarmStart, optional
        What another fit left, to go on from.
    """

    space: Vectors
    cuts: dict[Hashable, Cuts]

    def __init__(self, warm: WarmStart | None = None) -> None:
        self.cuts = {}
        self.weights: Array | None = None
        self._mark, self._n_features = b"", 0
        self._scorer: Scorer | None = None
        self._settings: tuple[object, ...] | None = None
        if warm is not None:
            self._mark, self.weights = warm.mark, warm.weights
            self.cuts = {risk: copy.copy(cuts) for risk, cuts in warm.cuts.items()}
            self._scorer, self._n_features = warm.scorer, warm.n_features

    def prepare(
        self,
        kernel: KernelSettings,
        n_landmarks: int | None,
        X: Rows,
        positive: Mask,
        context: Context,
    ) -> None:
        """Get ready for a fit on rows that are the same whenever this is called.

        Raises
        ------
        ValueError
            If the start was fitted with another number of features.
        """
        if self._n_features and self._n_features != X.shape[1]:
            raise ValueError(
                f"the start was fitted with {self._n_features} features; X has {X.shape[1]}."
            )
        settings = (kernel.kernel, kernel.gamma, kernel.degree, kernel.coef0, n_landmarks)
        if settings == self._settings:
            return
        self.space = chosen(X, kernel, n_landmarks, context.monitor, context.given, context.weights)
        self._n_features, self._settings = X.shape[1], settings
        mark = _digest(self.space.matrix, positive, context.monitor)
        if mark != self._mark:
            self.cuts = {}
            self.weights = None if self._scorer is None else self.space.direction(self._scorer)
        self._mark = mark

    def keep(self, weights: Array) -> Scorer:
        """Put down the direction found, and give its scorer."""
        self.weights, self._scorer = weights, self.space.scorer(weights)
        return self._scorer

    def warm_start(self) -> WarmStart:
        """Give what is worth keeping, unless it is large."""
        in_use = {risk: cuts.in_use() for risk, cuts in self.cuts.items()}
        small = sum(cuts.size for cuts in in_use.values()) <= _KEPT_NUMBERS
        weights = np.zeros(0) if self.weights is None else self.weights
        cuts = in_use if small else {}
        return WarmStart(self._mark, weights, cuts, self._scorer, self._n_features)


def _digest(features: Rows, positive: Mask, monitor: Monitor) -> bytes:
    """Digest every number of the features, and the classes.

    The features, not the rows they were made of: rounding may turn a factor of the same kernel
    into another one, for which the cuts would be false.
    """
    digest = hashlib.sha256(repr(features.shape).encode())
    digest.update(positive.tobytes())
    for part in _parts(features):
        step = max(1, _BYTES_PER_CHUNK * len(part) // max(1, part.nbytes))
        for start in range(0, len(part), step):
            digest.update(np.ascontiguousarray(part[start : start + step]).data)
            monitor.stage("features", start / len(part))
    return digest.digest()


def _parts(features: Rows) -> tuple[NDArray[Any], ...]:
    if isinstance(features, np.ndarray):
        return (features,)
    return features.indptr, features.indices, features.data
