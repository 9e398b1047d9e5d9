"""Permutation importance.

The importance of a column is the area with the column as it is, minus the area with its cells
permuted among the rows, the model as it was trained (Breiman 2001, for the error rate). The
columns that one category was encoded into are permuted together: it is the category that
matters, not one of its levels.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence

import numpy as np
import scipy

from aucstudio.engine import inference
from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.scorers import LinearScorer, Scorer, score_rows
from aucstudio.project.data.preparing.preparation import feature_groups
from aucstudio.project.data.table import Table
from aucstudio.project.geometry.planes import thinned
from aucstudio.project.results.summary import LEVEL, WHOLE, Scores
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord, SplitResult

MEASURES = ("auc", "pauc")
REPEATS = 10
MOST_ROWS = 20_000  # of a split; more add time and no precision
# Of more columns those that move the scores most are permuted, so many.
MOST_COLUMNS, KEPT_COLUMNS = 1_000, 200
_MOST_SEARCHED = 500  # rows that these are found by
_REPORT_SECONDS = 0.1

Placed = list[inference.Placements]
"""By AUC and by partial AUC."""


@dataclasses.dataclass(frozen=True, eq=False)
class Importance:
    """Loss of area by permuting each column.

    Attributes
    ----------
    columns : tuple of str
        Of the table; a category is one column.
    drops : ndarray of shape (splits, repeats, columns, 2)
        Loss of AUC and of partial AUC, the latter normalised by the band's width; NaN where it is
        not computed yet.
    areas : ndarray of shape (splits, 2)
        AUC and partial AUC of the rows as they are; NaN where they are not computed yet.
    test_fraction : float
        Share of the rows in the test part.
    rows, of_rows : int
        How many held-out rows of a split were scored, and how many there are.
    disjoint : bool
        Whether no row is held out twice.
    reach : ndarray of shape (repeats, columns, 2)
        By how much the loss of each permutation of a single split could differ on other rows: half
        the width of its interval. NaN where too few rows or groups were held out, and with several
        splits.
    of_columns : int
        How many columns there are: of very many only those that move the scores most are permuted.
    """

    columns: tuple[str, ...]
    drops: Array
    areas: Array
    test_fraction: float
    rows: int
    of_rows: int
    reach: Array
    disjoint: bool = False
    of_columns: int = 0

    @property
    def share(self) -> float:
        """The share of the permutations that are computed."""
        return 1.0 - float(np.isnan(self.drops[..., 0]).mean())

    @property
    def complete(self) -> bool:
        """Whether every permutation is computed."""
        return self.share == 1.0

    def copy(self) -> Importance:
        """Return what is computed so far, apart from what will be."""
        parts = {name: getattr(self, name).copy() for name in ("drops", "areas", "reach")}
        return dataclasses.replace(self, **parts)

    def enter(self, place: tuple[int, int, int], before: Placed, after: Placed) -> None:
        """Store the loss by a permutation: of a split, a repeat and a column."""
        split, *others = place
        self.areas[split] = [one.area for one in before]
        self.drops[place] = self.areas[split] - [one.area for one in after]
        if len(self.areas) == 1:
            self.reach[tuple(others)] = list(map(_reach, before, after))

    @property
    def _rounds(self) -> Mask:
        """Which repeats have all columns, shape (splits, repeats)."""
        return np.asarray(~np.isnan(self.drops[..., 0]).any(axis=2))

    @property
    def repeats(self) -> int:
        """How many permutations of all columns there are in the most of the splits."""
        return int(self._rounds.sum(axis=1).max())

    @property
    def splits(self) -> int:
        """How many splits have a permutation of all columns."""
        return int(self._rounds.any(axis=1).sum())

    def per_split(self, measure: str) -> Array:
        """Return the mean loss over permutations in each split that has any, (splits, columns).

        Until the first split has a permutation of all columns, it is NaN for the others.
        """
        drops = self.drops[: max(1, self.splits), :, :, MEASURES.index(measure)]
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nansum(drops, axis=1) / (~np.isnan(drops)).sum(axis=1))

    def summary(self, measure: str) -> tuple[Array, Array, Array]:
        """Return the mean loss of each column with the bounds of its interval.

        Over several splits the interval is the corrected resampled t. Over one split it is that
        of the paired difference of the areas (DeLong's components, groups as units), with the mean
        variance over the permutations. Simulated, 90 to 100 % of such intervals of 95 % held the
        loss of the population: fewest where 30 groups and an FPR range of 0.05 decide.

        Returns
        -------
        value, low, high : ndarray of shape (columns,)
        """
        values = self.per_split(measure)
        if len(values) > 1:
            found = [
                inference.splits_interval(
                    v, LEVEL, self.test_fraction, bounds=(-1.0, 1.0), disjoint=self.disjoint
                )
                for v in values.T
            ]
            low, high = np.array([[one.low, one.high] for one in found]).T
            return values.mean(axis=0), low, high
        which = MEASURES.index(measure)
        mean = values[0]
        reach = np.sqrt(np.square(self.reach[: max(1, self.repeats), :, which]).mean(axis=0))
        return mean, mean - reach, mean + reach


def permutation_importance(
    record: RunRecord,
    table: Table,
    band: Band,
    *,
    repeats: int = REPEATS,
    seed: int = 0,
    listen: Callable[[float], bool] = lambda _fraction: False,
    report: Callable[[Importance], object] = lambda _sofar: None,
    known: Importance | None = None,
    most_rows: int = MOST_ROWS,
) -> Importance:
    """Permute each column of the held-out rows, split by split, and score again.

    A permutation depends on the seed, split, repeat and column alone: fewer repeats give the
    first of more. Of very many columns those are permuted that move the scores of the first split
    most.

    Parameters
    ----------
    record : RunRecord
    table : Table
        The table of the held-out rows: the test file's, where the run was tested on one.
    band : (float, float)
        The FPR range of the partial AUC.
    repeats, seed : int
    listen : callable
        Receives the share done; stops if it returns True, and keeps what is finished.
    report : callable
        Receives what is computed so far, with the first column and some ten times a second.
    known : Importance, optional
        What was computed so far by an equal call; only the rest is computed.
    most_rows : int
        Of a split; of more as many are taken evenly.

    Raises
    ------
    InputError
        If the table lacks columns of the model.
    Stopped
        If the stop comes before the permutation of one column is finished.
    """
    # Each split decides which columns have an indicator or become a share.
    models = (split.model for split in record.splits)
    columns = tuple(dict.fromkeys(n for m in models for n in feature_groups(m.preparation)))
    held = _HeldOut(record.splits[0], table, band, columns, most_rows)
    chosen = held.columns_to_permute()
    found = known or _nothing_yet(record, held, [columns[c] for c in chosen], repeats, len(columns))
    found, reported = found.copy(), -np.inf

    def pulse() -> None:
        if listen(found.share):
            raise Stopped("permuting")

    try:
        for k, r, n in np.argwhere(np.isnan(found.drops[..., 0])).tolist():
            if held.split is not record.splits[k]:
                held = _HeldOut(record.splits[k], table, band, columns, most_rows)
            before = held.before(pulse)
            found.enter((k, r, n), before, held.permuted((seed, k, r, chosen[n]), pulse))
            if time.monotonic() - reported >= _REPORT_SECONDS:
                report(found.copy())
                reported = time.monotonic()
    except Stopped:
        if np.isnan(found.drops).all():
            raise
    return found


def _nothing_yet(
    record: RunRecord, held: _HeldOut, columns: Sequence[str], repeats: int, of_columns: int
) -> Importance:
    splits, measures = len(record.splits), len(MEASURES)
    drops = np.full((splits, repeats, len(columns), measures), np.nan)
    return Importance(
        tuple(columns),
        drops,
        np.full((splits, measures), np.nan),
        record.test_fraction,
        len(held.X),
        record.splits[0].n_test,
        np.full(drops.shape[1:], np.nan),
        record.experiment.validation.disjoint,
        of_columns,
    )


def _reach(before: inference.Placements, after: inference.Placements) -> float:
    """Return half the width of the interval of a difference of areas; NaN for too few rows."""
    if before.sampling.too_few:
        return float("nan")
    found = before.difference_variance(after)
    return float(scipy.special.stdtrit(found.degrees, (1 + LEVEL) / 2)) * found.se


class _HeldOut:
    """The held-out rows of a split, and their areas as they are, once computed."""

    _before: Placed | None = None

    def __init__(
        self,
        split: SplitResult,
        table: Table,
        band: Band,
        columns: tuple[str, ...],
        most_rows: int,
    ) -> None:
        kept = thinned(split.test_positive, most_rows)
        preparation = split.model.preparation
        self.split, self.X = split, preparation.apply(table, split.test_rows[kept])
        self._rows, self._band = Scores.of(split).at(kept), band
        groups = feature_groups(preparation)
        self.groups = [groups.get(name, slice(0, 0)) for name in columns]
        self.scorer = split.model.scorer

    def columns_to_permute(self) -> list[int]:
        """Return the columns, or of very many those that move the scores most."""
        if len(self.groups) <= MOST_COLUMNS:
            return list(range(len(self.groups)))
        return movers(self.scorer, self.X, self.groups, KEPT_COLUMNS) or [0]

    def before(self, pulse: Callable[[], None]) -> Placed:
        """Return AUC and partial AUC of the rows as they were."""
        self._before = self._before or self._placements(pulse)
        return self._before

    def _placements(self, pulse: Callable[[], None]) -> Placed:
        """Return AUC and partial AUC of the rows as they are now."""
        scores = score_rows(self.scorer, self.X, lambda _what, _fraction: pulse())
        ranking = self._rows._replace(scores=scores).ranking()
        return [inference.Placements(ranking, band) for band in (WHOLE, self._band)]

    def permuted(self, seed: tuple[int, int, int, int], pulse: Callable[[], None]) -> Placed:
        """Return AUC and partial AUC with a column permuted, the last part of the seed."""
        features = self.groups[seed[-1]]
        order = np.random.default_rng(seed).permutation(len(self.X))
        kept = self.X[:, features].copy()
        self.X[:, features] = kept[order]
        try:
            return self._placements(pulse)
        finally:
            self.X[:, features] = kept


def movers(scorer: Scorer, X: Array, groups: Sequence[slice], most: int) -> list[int]:
    """Return the columns that move the scores most, in their own order.

    For a linear scorer these have the largest shares of the variance of the score. For any other
    they have the largest correlations with it, also by their squared distance from the mean.

    Parameters
    ----------
    scorer : Scorer
    X : ndarray of shape (rows, features)
        Prepared rows; of many, some are taken evenly.
    groups : sequence of slice
        The features of each column.
    most : int
        How many columns to return. Fewer are where the others move nothing.
    """
    if isinstance(scorer, LinearScorer):
        shares = np.square(scorer.weights * X.std(axis=0))
    else:
        some = X[:: -(-len(X) // _MOST_SEARCHED)]
        apart = np.nan_to_num(some - np.nanmean(some, axis=0))
        scores = scorer(some)
        shares = np.maximum(_explained(apart, scores), _explained(apart**2, scores))
    moved = np.array([shares[group].sum() for group in groups])
    largest = np.argsort(-moved, kind="stable")[:most]
    return sorted(int(column) for column in largest if moved[column] > 0)


def _explained(X: Array, scores: Array) -> Array:
    """Return the squared correlation of each feature with scores; 0 for a constant feature."""
    X, scores = X - X.mean(axis=0), scores - scores.mean()
    sizes = np.square(X).sum(axis=0) * np.square(scores).sum()
    return np.asarray(np.square(scores @ X) / np.where(sizes > 0, sizes, 1.0))
