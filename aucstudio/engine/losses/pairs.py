"""Positive-negative pairs: selection, sums and mean hinge loss.

Pairs are never compared through difference vectors. With one row (i, j) for each pair, the
incidence matrix A has +1 at positive row i and -1 at negative row j, so A s gives margins, and
A^T diag(D) A is a weighted graph Laplacian on the data rows.

Symbols: s, t scores of positives and negatives; M = A s margins; m, n class sizes; N data rows;
F (N x r) any row features; a, D one number for each pair; W diagonal matrix of the weights of the
pairs, the identity where every pair counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy

from aucstudio.engine.arrays import (
    MANY,
    Array,
    Index,
    Mask,
    ascending,
    portions,
    sums_below,
    sums_from,
)
from aucstudio.engine.compiled import kernel
from aucstudio.engine.linalg import nothing

ALL = slice(None)
PAIRS_PER_PART = 1 << 14  # a handful of temporaries of this size stay in the processor's cache
FLOPS_PER_BLOCK = 2e9  # of a Gram matrix, between two pauses
QUERIES_PER_CHUNK = 1024  # rows whose neighbours are found between two reports


class AllPairs:
    """Every positive with every negative; pair arrays are m x n matrices.

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    weights : ndarray of shape (N,), optional
        Of the rows: a pair weighs the product of both.
    """

    def __init__(self, positive: Mask, weights: Array | None = None) -> None:
        self._positives = np.flatnonzero(positive)
        self._negatives = np.flatnonzero(~positive)
        self.n_rows = len(positive)
        self.shape = (len(self._positives), len(self._negatives))
        self.count = self.shape[0] * self.shape[1]
        self.row_weights = np.ones(self.n_rows) if weights is None else weights
        self._p, self._q = self.row_weights[self._positives], self.row_weights[self._negatives]
        self.weight = float(self._p.sum() * self._q.sum())

    def total(self, values: Array, part: slice = ALL) -> float:
        """Return the sum over the pairs, each times its weight."""
        return float(self._p[part] @ values @ self._q)

    def parts(self) -> Iterator[slice]:
        """Cut the positives into slices."""
        return portions(*self.shape, PAIRS_PER_PART)

    def margins(self, scores: Array, part: slice = ALL) -> Array:
        """Return s_i - t_j as a matrix."""
        return np.subtract.outer(scores[self._positives[part]], scores[self._negatives])

    def adjoint(self, values: Array, part: slice = ALL) -> Array:
        """Return weighted row sums at the positives and minus column sums at the negatives."""
        sums, p = np.zeros(self.n_rows), self._p[part]
        sums[self._positives[part]] = p * (values @ self._q)
        sums[self._negatives] = -self._q * (p @ values)
        return sums

    def weighted_gram(self, D: Array, F: Array, pause: Callable[[], None] = nothing) -> Array:
        """Return F^T A^T W diag(D) A F from products with the m x n matrix D."""
        p, q = self._p[:, None], self._q[:, None]

        def across(G: Array) -> Array:
            moved = np.empty_like(G)
            moved[self._positives] = p * (D @ (q * G[self._negatives]))
            moved[self._negatives] = q * (D.T @ (p * G[self._positives]))
            return moved

        return _laplacian_gram(np.abs(self.adjoint(D)), across, F, pause)

    def rows(self, chosen: Index) -> tuple[Index, Index]:
        """Return the positive and negative data rows of pairs, by their flat position."""
        i, j = np.divmod(chosen, self.shape[1])
        return self._positives[i], self._negatives[j]


class PairList:
    """A list of pairs; pair arrays are vectors.

    Parameters
    ----------
    rows_pos, rows_neg : ndarray of int, shape (count,)
        Data rows of each pair.
    n_rows : int
        N, the number of data rows.
    """

    def __init__(self, rows_pos: Index, rows_neg: Index, n_rows: int) -> None:
        self._pos = np.asarray(rows_pos, dtype=np.intp)
        self._neg = np.asarray(rows_neg, dtype=np.intp)
        self.n_rows = n_rows
        self.shape = (len(self._pos),)
        self.count = len(self._pos)
        self.row_weights, self.weight = np.ones(n_rows), float(self.count)

    def total(self, values: Array, part: slice = ALL) -> float:
        """Return the sum over the pairs, each of which counts once."""
        return float(values.sum())

    def parts(self) -> Iterator[slice]:
        """Cut the list into slices."""
        return portions(self.count, 1, PAIRS_PER_PART)

    def margins(self, scores: Array, part: slice = ALL) -> Array:
        """Return s_i - t_j for each pair of the list."""
        margins: Array = scores[self._pos[part]] - scores[self._neg[part]]
        return margins

    def adjoint(self, values: Array, part: slice = ALL) -> Array:
        """Add each pair's number at its positive, subtract it at its negative."""
        return self._sum_at(self._pos[part], values) - self._sum_at(self._neg[part], values)

    def _sum_at(self, rows: Index, values: Array) -> Array:
        sums = np.bincount(rows, weights=values, minlength=self.n_rows)
        return np.asarray(sums, dtype=np.float64)

    def weighted_gram(self, D: Array, F: Array, pause: Callable[[], None] = nothing) -> Array:
        """Return F^T A^T diag(D) A F from products with a sparse N x N matrix."""
        size = (self.n_rows, self.n_rows)
        W = scipy.sparse.coo_array((D, (self._pos, self._neg)), shape=size).tocsr()
        W = (W + W.T).tocsr()
        degree = self._sum_at(self._pos, D) + self._sum_at(self._neg, D)
        return _laplacian_gram(degree, lambda G: W @ G, F, pause)

    def rows(self, chosen: Index) -> tuple[Index, Index]:
        """Return the positive and negative data rows of pairs, by their position."""
        return self._pos[chosen], self._neg[chosen]

    def compact(self) -> tuple[Index, PairList]:
        """Return the data rows that take part, sorted, and the same pairs over those rows alone."""
        used, places = np.unique(np.concatenate([self._pos, self._neg]), return_inverse=True)
        return used, PairList(places[: self.count], places[self.count :], len(used))


Pairs = AllPairs | PairList
"""A set of pairs over N data rows; numbers for the pairs come as an array of its ``shape``."""


def _laplacian_gram(
    degree: Array, across: Callable[[Array], Array], F: Array, pause: Callable[[], None]
) -> Array:
    """Compute F^T (diag(degree) - W) F, where ``across(G)`` is W G, W symmetric."""
    r = F.shape[1]
    gram = np.empty((r, r))
    width = int(np.clip(FLOPS_PER_BLOCK / max(1, F.size), 16, 256))
    for columns in portions(r, 1, width):
        start = columns.start
        G = np.ascontiguousarray(F[:, columns])
        gram[start:, columns] = F[:, start:].T @ (degree[:, None] * G - across(G))
        gram[columns, start:] = gram[start:, columns].T
        pause()
    return gram


class PairHinge:
    """Mean hinge over all pairs, mean_ij (margin - M_ij)_+, as a function of the scores.

    One sort and no pairs: O(N log N) time, O(N) memory, exact (Joachims 2005; 2006).

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    margin : float
    weights : ndarray of shape (N,), optional
        Of the rows: a pair weighs the product of both, and the mean is weighted.
    """

    def __init__(self, positive: Mask, margin: float = 1.0, weights: Array | None = None) -> None:
        self._positives = np.flatnonzero(positive)
        self._negatives = np.flatnonzero(~positive)
        self._margin, self._is_weighted = margin, weights is not None
        self._weights = np.ones(len(positive)) if weights is None else weights
        of_class = self._weights[self._positives], self._weights[self._negatives]
        self._total = float(of_class[0].sum() * of_class[1].sum())

    def __call__(self, scores: Array) -> tuple[float, Array]:
        """Return the mean loss and its gradient with respect to the scores, shape (N,)."""
        # Both sides sorted: the search then walks through memory instead of jumping.
        rising, s = ascending(scores[self._positives])
        order, t = ascending(scores[self._negatives])
        gradient = np.empty(len(scores))
        positives, negatives = self._positives[rising], self._negatives[order]
        if self._is_weighted or len(scores) < MANY:
            p, q = self._weights[positives], self._weights[negatives]
            loss = _add_up(s, t, positives, negatives, p, q, self._margin, gradient)
        else:
            loss = _walk_both(s, t, positives, negatives, self._margin, gradient)
        gradient /= self._total
        return max(float(loss) / self._total, 0.0), gradient

    def hardest(self, scores: Array, most: int) -> tuple[Index, Index]:
        """List the pairs that violate the margin, smallest first, at most ``most`` of them.

        The a-th lowest positive and the b-th highest negative have (a + 1)(b + 1) - 1 pairs with
        no larger margin before them: few candidates are left, however many pairs there are.

        Returns
        -------
        rows_pos, rows_neg : index arrays of equal length
        """
        rising = self._positives[_lowest(scores[self._positives], most)]
        falling = self._negatives[_lowest(-scores[self._negatives], most)]
        reach = np.minimum(most // np.arange(1, len(rising) + 1), len(falling))
        i = np.repeat(rising, reach)
        j = falling[np.arange(len(i)) - np.repeat(np.cumsum(reach) - reach, reach)]
        margins = scores[i] - scores[j]
        order = np.argsort(margins, kind="stable")[:most]
        order = order[margins[order] < self._margin]
        return i[order], j[order]


def _add_up(
    s: Array,
    t: Array,
    positives: Index,
    negatives: Index,
    p: Array,
    q: Array,
    margin: float,
    gradient: Array,
) -> float:
    """Return the weighted sum of the hinge of all pairs of sorted scores, and fill in its gradient.

    Negative of rank k violates positive i exactly if k >= first[i]. The running sums of the weights
    p and q of both classes follow from this one search: a second one could round a margin of
    exactly 1 the other way.
    """
    first = np.searchsorted(t, s - margin, side="right")
    per_positive = p * sums_from(q)[first]
    steps = np.diff(first, prepend=0, append=len(t))
    per_negative = q * np.repeat(sums_below(p), steps)
    gradient[positives], gradient[negatives] = -per_positive, per_negative
    return float(per_positive @ (margin - s) + per_negative @ t)


@kernel
def _walk_both(
    s: Array, t: Array, positives: Index, negatives: Index, margin: float, gradient: Array
) -> float:
    """Do what :func:`_add_up` does without weights in one walk through both, for many rows."""
    m, n, k, loss = len(s), len(t), 0, 0.0
    for i in range(m):
        bound = s[i] - margin
        while k < n and t[k] <= bound:
            gradient[negatives[k]] = i
            loss += i * t[k]
            k += 1
        gradient[positives[i]] = k - n
        loss += (n - k) * (margin - s[i])
    for rest in range(k, n):
        gradient[negatives[rest]] = m
        loss += m * t[rest]
    return loss


def square_loss(positive: Mask, scores: Array) -> float:
    """Return mean_ij (1 - M_ij)^2 by means and variances of the classes."""
    s, t = scores[positive], scores[~positive]
    return float((1.0 - (s.mean() - t.mean())) ** 2 + s.var() + t.var())


def _lowest(values: Array, count: int) -> Index:
    """Return the places of the lowest values, in ascending order; ties in the order of the rows."""
    if count >= len(values):
        return np.argsort(values, kind="stable")
    bound = np.partition(values, count - 1)[count - 1]
    candidates = np.flatnonzero(values <= bound)
    return candidates[np.argsort(values[candidates], kind="stable")][:count]


def neighbour_pairs(
    X: Array, positive: Mask, k: int, progress: Callable[[float], None] | None = None
) -> PairList:
    """Choose pairs near the border between the classes.

    A positive takes part if it is among the k nearest positives of some negative; it is paired
    with each of its k nearest negatives. This is the sampling of the ROC-SVM and SAUC-SVM papers.

    Parameters
    ----------
    X : ndarray of shape (N, d)
    positive : ndarray of bool, shape (N,)
    k : int
        Capped by the size of each class.
    progress : callable, optional
        Receives the fraction done, now and then.

    Returns
    -------
    PairList
        Ordered by positive row, nearest negative first. Among equally distant rows the search's
        own order decides; it is the same in every run.
    """
    report = progress or (lambda fraction: None)
    positives, negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
    Z = X - X.mean(axis=0)  # distances far from the origin lose digits
    near = _nearest(Z[positives], Z[negatives], k, lambda done: report(0.5 * done))
    chosen = positives[np.unique(near)]
    found = _nearest(Z[negatives], Z[chosen], k, lambda done: report(0.5 + 0.5 * done))
    return PairList(np.repeat(chosen, found.shape[1]), negatives[found.ravel()], len(X))


def _nearest(among: Array, queries: Array, k: int, report: Callable[[float], None]) -> Index:
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=min(k, len(among))).fit(among)
    found = []
    for rows in portions(len(queries), 1, QUERIES_PER_CHUNK):
        found.append(search.kneighbors(queries[rows], return_distance=False))
        report(rows.stop / len(queries))
    return np.concatenate(found)
