"""Variance of a (partial) AUC by sampling design: independent, weighted or grouped rows.

Symbols: psi10 and psi01 the components of the positives and of the negatives: one number a row,
whose variances add up to the area's. On [0, 1] they are DeLong's V10 and V01. Areas are
normalised, pAUC / (beta - alpha). Where rows come in groups, groups are the sampling units.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array, Index

LEAST_GROUPS = 5
"""Groups with rows of a class for an interval or a test, where rows come in groups."""

_ONE_WEIGHT = "the weights of a class carry less information than two rows"
_FEW_GROUPS = f"the rows of a class come from fewer than {LEAST_GROUPS} groups of some weight"
# Effective groups of a class from which on no few groups decide: this share of all, or so many.
_EVEN, _PLENTY = 0.5, 30

Components = tuple[Array, Array]


def components_of(ranking: roc.Ranking, alpha: float, beta: float) -> Components:
    """Compute the components of an area over a range of FPR, in ascending order of the scores.

    They are the influences of the rows on the area. psi10 is the weight of the negatives below a
    positive that lie in the range, ties one half; psi01 the share of the positives above a
    negative, which is moved to the nearest one inside the range first (the winsorised placement).
    """
    below, at_most = ranking.weight_below(ranking.below), ranking.weight_below(ranking.at_most)
    n = len(ranking.t)
    under = ranking.weight_below(np.arange(n + 1))
    low, high = (roc.position(under[-1].item(), 1.0 - share) for share in (beta, alpha))
    psi10 = np.add(np.clip(below, low, high), np.clip(at_most, low, high), dtype=np.float64)
    psi10 = (psi10 - 2 * low) / (2 * (high - low))
    of_s = ranking.weights and ranking.weights[0]
    total = len(ranking.s) if of_s is None else of_s.sum()
    # A positive is above the negative of ascending rank j where it has more than j below it.
    found = np.bincount(ranking.below, of_s, minlength=n + 1)
    found = found + np.bincount(ranking.at_most, of_s, minlength=n + 1)
    psi01 = (1 - np.cumsum(found[:n]) / (2 * total)) / (beta - alpha)
    lowest = min(int(np.searchsorted(under[1:], low, "right")), n - 1)
    highest = max(int(np.searchsorted(under[:-1], high, "left")) - 1, lowest)
    psi01[:lowest], psi01[highest:] = psi01[lowest], psi01[highest]
    return psi10, psi01


@dataclasses.dataclass(frozen=True)
class Variance:
    """The variance of an area or of a difference of areas, and what it is made of.

    Attributes
    ----------
    positives, negatives : float
        What each class adds. NaN with fewer than two rows, or groups, in a class.
    shared : float
        What groups add that have rows of both classes: twice the covariance of the two.
    degrees : float
        Welch's and Satterthwaite's degrees of freedom.
    sizes : (float, float)
        Positives and negatives. Weighted rows and rows in groups count as the number of
        independent rows of equal weight with the same variance.
    widening : float
        By how much ``se`` exceeds what groups show each for itself, where few hold most rows.
    """

    positives: float
    negatives: float
    shared: float
    degrees: float
    sizes: tuple[float, float]
    widening: float = 1.0

    @property
    def se(self) -> float:
        """The standard error."""
        return math.sqrt(max(self.positives + self.negatives + self.shared, 0.0))


@dataclasses.dataclass(frozen=True, eq=False)
class Sampling:
    """How the rows of both classes were sampled; pairs of arrays, in ascending order of a score.

    Attributes
    ----------
    rows : (int, int)
        Positives and negatives.
    shares : (ndarray, ndarray) or None
        What each row has of the weight of its class, where rows are weighted.
    units : (ndarray of int, ndarray of int) or None
        The group of each row, where rows come in groups.
    """

    rows: tuple[int, int]
    shares: tuple[Array, Array] | None = None
    units: tuple[Index, Index] | None = None

    @classmethod
    def of(cls, ranking: roc.Ranking) -> Sampling:
        """Read it off sorted scores."""
        shares = None
        if ranking.weights is not None:
            of_s, of_t = ranking.weights
            shares = of_s / of_s.sum(), of_t / of_t.sum()
        return cls((len(ranking.s), len(ranking.t)), shares, ranking.units)

    def in_row_order(self, ranking: roc.Ranking) -> Sampling:
        """Return the same with the rows of a ranking in row order."""
        shares = self.shares and ranking.in_row_order(*self.shares)
        return Sampling(self.rows, shares, self.units and ranking.in_row_order(*self.units))

    @cached_property
    def singles(self) -> tuple[float, float]:
        """Positives and negatives, weighted rows as rows of equal weight, groups ignored."""
        if self.shares is None:
            return self.rows
        of_s, of_t = map(roc.effective_rows, self.shares)
        return of_s, of_t

    @cached_property
    def group_shares(self) -> tuple[Array, Array]:
        """What each group has of the weight of either class."""
        of_s, of_t = (self._sums(np.ones(rows), k) for k, rows in enumerate(self.rows))
        return of_s, of_t

    @cached_property
    def groups(self) -> tuple[float, float]:
        """Groups with positives and with negatives, as groups of equal share; else the singles."""
        if self.units is None:
            return self.singles
        of_s, of_t = map(roc.effective_rows, self.group_shares)
        return of_s, of_t

    @property
    def too_few(self) -> str:
        """Why there are too few rows or groups for an interval or a test; empty otherwise."""
        if min(self.rows) < 2:
            return "a class has fewer than two rows"
        if self.clustered:
            count = min(map(np.count_nonzero, self.group_shares))
            few = count < LEAST_GROUPS or min(self.groups) < 2
            return _FEW_GROUPS if few else ""
        return _ONE_WEIGHT if min(self.singles) < 2 else ""

    @property
    def clustered(self) -> bool:
        """Whether rows come in groups."""
        return self.units is not None

    def _sums(self, values: Array, k: int) -> Array:
        """Sum values of a class by group, each times the share of its row."""
        assert self.units is not None
        count = 1 + max(int(units.max()) for units in self.units)
        sums = np.bincount(self.units[k], self.share(k) * values, minlength=count)
        return np.asarray(sums, dtype=np.float64)

    def variance(self, psi: Components, other: Components | None = None) -> Variance:
        """Estimate the variance of an area, or of its difference from another, by components.

        Rows in groups: Obuchowski's variance of clustered ROC data, the sum over groups of the
        squared sums of their components about the mean, with the factor I / (I - 1) for I groups
        (I of a class for what that class adds, I of all for the products of both). Weighted rows
        or groups are divided by 1 - their share instead, which is the same where they are equal.
        Without groups and weights it is DeLong's.

        Source: Obuchowski, Biometrics 53 (1997); weights by linearisation.
        """
        if min(self.rows) < 2 or min(self.groups) <= 1:
            return Variance(math.nan, math.nan, 0.0, math.nan, self.groups)
        apart = psi if other is None else (psi[0] - other[0], psi[1] - other[1])
        if self.units is not None:
            return self._clustered(apart)
        parts = self._alone(apart[0], 0), self._alone(apart[1], 1)
        spread = sum(v**2 / (size - 1) for v, size in zip(parts, self.singles, strict=True))
        degrees = sum(parts) ** 2 / spread if spread else math.nan
        return Variance(*parts, 0.0, degrees, self.singles)

    def _alone(self, of_class: Array, k: int) -> float:
        """Compute what a class adds where every row is its own unit."""
        # Taking one value off first makes the variance of equal numbers exactly 0.
        off, rows = of_class - of_class[0], self.rows[k]
        if self.shares is None:
            off -= off.mean()
            return float(off @ off) / (rows * (rows - 1))
        off -= self.shares[k] @ off
        return float((self.shares[k] * off) ** 2 @ (1 / (1 - self.shares[k])))

    def _clustered(self, psi: Components) -> Variance:
        sums, parts, sizes = [], [], []
        offs = [off - self.share(k) @ off for k, off in enumerate(of - of[0] for of in psi)]
        for k, off in enumerate(offs):
            sums.append(self._sums(off, k))
            parts.append(float(self._correction(k) @ sums[-1] ** 2))
            single, groups = self.singles[k], self.groups[k]
            alone = self._alone(psi[k], k)
            by_design = single * alone / parts[-1] if parts[-1] > 0 else groups
            sizes.append(float(np.clip(by_design, groups, single)))
        count = np.count_nonzero(sum(self.group_shares))
        shared = 2 * count / (count - 1) * float(sums[0] @ sums[1])
        squares = [
            of**2 * rho + of * (1 - rho) / single
            for of, single, rho in zip(
                self.group_shares, self.singles, self._correlations(sizes), strict=True
            )
        ]
        expected = [of / of.sum() for of in squares]
        degrees = _degrees(parts, expected)
        found = Variance(parts[0], parts[1], shared, degrees, (sizes[0], sizes[1]))
        few = [
            groups < min(_EVEN * np.count_nonzero(of_class), _PLENTY)
            for groups, of_class in zip(self.groups, self.group_shares, strict=True)
        ]
        return self._homogeneous(few, offs, sums, found, expected) if any(few) else found

    def share(self, k: int) -> Array:
        """Return what each row of a class (0 the positives) has of its weight."""
        rows = self.rows[k]
        return np.full(rows, 1 / rows) if self.shares is None else self.shares[k]

    def _correlations(self, sizes: Sequence[float]) -> list[float]:
        """Return the correlation within groups that the design effect of either class shows."""
        found = []
        for single, size, groups in zip(self.singles, sizes, self.groups, strict=True):
            rows = single / groups  # in a group, on average over rows
            found.append(min((single / size - 1) / (rows - 1), 1.0) if rows > 1 + 1e-9 else 1.0)
        return found

    def _homogeneous(
        self,
        few: Sequence[bool],
        offs: Sequence[Array],
        sums: Sequence[Array],
        found: Variance,
        expected: list[Array],
    ) -> Variance:
        """Replace what a class adds, where few large groups decide it, by equally variable groups.

        One group's square is a poor estimate of its own variance. If group effects are equally
        distributed, all groups estimate the variance together: a one-way analysis of variance of
        the group means, each counted once. The larger of both variances is used.
        """
        means, spreads, parts = [], [], [found.positives, found.negatives]
        assert self.units is not None
        for k, (of_class, units) in enumerate(zip(self.group_shares, self.units, strict=True)):
            there = of_class > 0
            mean = np.divide(sums[k], of_class, out=np.zeros(len(of_class)), where=there)
            within = self.share(k) @ (offs[k] - mean[units]) ** 2
            count, single = np.count_nonzero(there), self.singles[k]
            within *= single / max(single - count, 1.0)
            rows = of_class[there] * single
            centred = np.where(there, mean - mean[there].mean(), 0.0)
            between = centred @ centred / (count - 1) - within * np.mean(np.reciprocal(rows))
            spreads.append(max(float(between), 0.0))
            means.append(centred)
            if few[k]:
                parts[k] = float(spreads[-1] * (of_class @ of_class) + within / single)
                expected[k] = there / count
        both = (self.group_shares[0] > 0) & (self.group_shares[1] > 0)
        together = float(means[0] @ means[1]) / max(int(np.count_nonzero(both)) - 1, 1)
        most = math.sqrt(spreads[0] * spreads[1])
        together = min(max(together, -most), most)
        shared = 2 * together * float(self.group_shares[0] @ self.group_shares[1])
        shared = shared if all(few) else found.shared
        degrees = _degrees(parts, expected)
        model = Variance(parts[0], parts[1], shared, degrees, found.sizes)
        if not model.se > found.se > 0:
            return dataclasses.replace(found, degrees=degrees)
        return dataclasses.replace(model, widening=model.se / found.se)

    def _correction(self, k: int) -> Array:
        """Return the factor of each group's square, for the mean was fitted to it too."""
        of_group = self.group_shares[k]
        if self.shares is not None:
            return 1 / (1 - of_group)
        count = np.count_nonzero(of_group)
        return np.full(len(of_group), count / (count - 1))


def _degrees(parts: Sequence[float], expected: Sequence[Array]) -> float:
    """Compute degrees of freedom of a sum over groups in both classes.

    ``expected`` has what each group is expected to add to the part of its class, as shares.
    """
    total = sum(parts)
    if not total > 0:
        return min(float(1 / (of @ of)) for of in expected) - 1.0
    spread = sum(
        part**2 / (1 / float(of @ of) - 1) for part, of in zip(parts, expected, strict=True)
    )
    spread += 2 * parts[0] * parts[1] * float(expected[0] @ expected[1])
    return total**2 / spread
