"""Views of prepared rows: which columns a scorer looks at, scaled or filled in.

Members of a combination may have learnt from other columns, on other scales, or with missing
values filled in. Rows come prepared in one way; each member looks at them in its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index
from aucstudio.engine.scorers import Scorer

INNER = "inner"  # what names of arrays and settings of the scorer behind a view begin with


@dataclasses.dataclass(frozen=True, eq=False)
class View:
    """Which columns a scorer looks at, and how.

    Attributes
    ----------
    columns : ndarray of int, shape (p,)
    factors, shifts : ndarray of shape (p,)
        ``factor * x + shift`` is what the scorer sees.
    fills : ndarray of shape (p,)
        What it sees where x is missing; NaN where that stays missing.
    """

    columns: Index
    factors: Array
    shifts: Array
    fills: Array

    def __call__(self, X: Array) -> Array:
        """Return the rows as the scorer sees them."""
        seen: Array = X[:, self.columns]
        if not self._keeps_scales:
            seen = seen * self.factors + self.shifts
        missing = np.isnan(seen)
        return np.where(missing, self.fills, seen) if missing.any() else seen

    def behind(self, first: View) -> View:
        """Return the composition with a view that is applied first."""
        factors, there = self.factors, self.columns
        fills = factors * first.fills[there] + self.shifts
        return View(
            first.columns[there],
            factors * first.factors[there],
            factors * first.shifts[there] + self.shifts,
            np.where(np.isnan(fills), self.fills, fills),
        )

    @property
    def identity(self) -> tuple[bytes, ...]:
        """Return a key that is equal for views that show the same."""
        arrays = self.columns, self.factors, self.shifts, self.fills
        return tuple(array.tobytes() for array in arrays)

    @property
    def _keeps_scales(self) -> bool:
        return bool((self.factors == 1.0).all() and (self.shifts == 0.0).all())


@dataclasses.dataclass(frozen=True, eq=False)
class ViewedScorer(Scorer):
    """Scores rows as a view shows them.

    In files, the arrays and settings of the scorer behind it are called ``inner.name``, and its
    kind ``inner.scorer``.
    """

    scorer: Scorer
    view: View
    kind: ClassVar[str] = "viewed"
    layout: ClassVar[Mapping[str, str]] = {
        "columns": "int p",
        "factors": "float p",
        "shifts": "float p",
        "fills": "float p",
    }

    def __call__(self, X: Array) -> Array:
        return self.scorer(self.view(X))

    @property
    def within(self) -> tuple[Scorer, ...]:
        return (self.scorer,)

    def arrays(self) -> dict[str, NDArray[Any]]:
        own = {name: getattr(self.view, name) for name in self.layout}
        inner = self.scorer.arrays()
        return own | {f"{INNER}.{name}": array for name, array in inner.items()}

    def settings(self) -> dict[str, Any]:
        inner = {"scorer": self.scorer.kind, **self.scorer.settings()}
        return {f"{INNER}.{name}": value for name, value in inner.items()}


def scaled_view(factors: Array) -> View:
    """Return the view of all columns, each times its factor."""
    count = len(factors)
    return View(np.arange(count), factors, np.zeros(count), np.full(count, np.nan))


def filled_view(X: Array) -> View | None:
    """Return the view of rows with missing values filled in and marked; None where none is missing.

    A missing value becomes the median of its column (0 where all are missing). Each column with
    missing values in X gets an indicator column, which is 1 where the value is missing.
    """
    missing = np.isnan(X)
    marked = np.flatnonzero(missing.any(axis=0))
    if not len(marked):
        return None
    count = X.shape[1]
    known = (column[~gaps] for column, gaps in zip(X.T, missing.T, strict=True))
    fills = [float(np.median(values)) if len(values) else 0.0 for values in known]
    return View(
        np.concatenate([np.arange(count), marked]),
        # A known value times 0 is 0; a missing one stays missing, and becomes 1.
        np.concatenate([np.ones(count), np.zeros(len(marked))]),
        np.zeros(count + len(marked)),
        np.concatenate([fills, np.ones(len(marked))]),
    )


def seen(scorer: Scorer, view: View) -> ViewedScorer:
    """Return a scorer that looks at rows through a view."""
    if isinstance(scorer, ViewedScorer):
        return ViewedScorer(scorer.scorer, scorer.view.behind(view))
    return ViewedScorer(scorer, view)
