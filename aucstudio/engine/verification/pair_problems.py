"""Problems over all pairs, or the pairs chosen: hinge, squared hinge, least squares.

Symbols: P number of pairs, M margins, D_p = Z_i - Z_j difference of a pair, rho margin asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.verification.counting import (
    MOST_COMPARISONS,
    nearest_pairs,
    pulls,
    sum_over_pairs,
)
from aucstudio.engine.verification.problem import Array, Problem, Solved, no_rows, signs
from aucstudio.engine.verification.programme import Programme, most_rows
from aucstudio.engine.verification.space import UnverifiableError, squared_distances

Index = NDArray[np.intp]

_MOST_EXPLICIT = 2e10  # multiplications


class PairProblem(Problem):
    """A mean loss over pairs against half the square of the direction."""

    squared: ClassVar[bool] = False

    @property
    def rho(self) -> float:
        """The margin from which a pair costs nothing."""
        return float(self.params.get("margin", 1.0))

    @property
    def weight(self) -> float:
        """What the mean loss is multiplied by."""
        return self.C

    def loss(self, margins: Array) -> Array:
        """Give the loss of each margin."""
        left = np.maximum(self.rho - margins, 0.0)
        return np.asarray(left * left) if self.squared else left

    def slope(self, margins: Array) -> Array:
        """Give minus the derivative of the loss."""
        left = np.maximum(self.rho - margins, 0.0)
        return 2 * left if self.squared else (left > 0).astype(float)

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        if self.listed is not None:
            i, j = self.listed
            return norm / 2 + self.weight * float(np.mean(self.loss(scores[i] - scores[j])))
        s, t = self.pairs_of(scores)
        require_countable(len(s), len(t))
        return norm / 2 + self.weight * sum_over_pairs(s, t, self.loss, self.tell) / self.count

    @cached_property
    def listed(self) -> tuple[Index, Index] | None:
        """Rows of the pairs where not all count: those of nearest neighbours."""
        k = self.params.get("n_neighbors")
        return None if k is None else _neighbours(self.trained.X, self.positive, int(k))

    @property
    def count(self) -> int:
        """Give P."""
        if self.listed is not None:
            return len(self.listed[0])
        m = int(np.count_nonzero(self.positive))
        return m * (len(self.positive) - m)

    def metric(self, Z: Array) -> Array:
        """Give the matrix of the penalty, (r, r)."""
        return np.eye(Z.shape[1])

    def solve(self, scores: Array, intercept: float) -> Solved:
        """Solve the programme of explicit pairs, or bound it by the nearest ones.

        Pairs that do not fit are replaced by their tangents, below the loss: the optimum of what
        is left is a bound on the whole problem, and near where the tangents touch a sharp one.
        """
        Z = self.space.features
        most = most_rows(Z.shape[1])
        if most < 1:
            raise UnverifiableError("one step of an independent solver would take too long")
        q, constant, whole = np.zeros(Z.shape[1]), 0.0, self.count <= most
        c = self.weight / self.count
        if self.listed is not None:
            (i, j), whole = self.listed, True
            if self.count > most:
                raise UnverifiableError(f"{self.count:,} pairs are more than fit")
        elif whole:
            i, j = np.where(self.positive)[0], np.where(~self.positive)[0]
            i, j = np.repeat(i, len(j)), np.tile(j, len(i))
        else:
            i, j, q, constant = self._tangents(scores, Z, most)
        A = Z[i] - Z[j]
        t, costs = np.full(len(i), self.rho), np.full(len(i), c)
        H = self.metric(Z)
        found = self.run(Programme(H, q, A, t, costs, self.squared, *no_rows(len(q)), constant))
        again = Z @ found.u
        objective = self.value(again, 0.0, float(found.u @ H @ found.u))
        if whole:
            route = f"cvxopt on {self.count:,} explicit pairs"
        else:
            route = f"cvxopt on {len(i):,} of {self.count:,} pairs, the others by tangents"
        return Solved(route, objective, found.bound, again, whole)

    def _tangents(self, scores: Array, Z: Array, most: int) -> tuple[Index, Index, Array, float]:
        """Choose pairs to keep; give them, and slope and height of the sum of the others' tangents.

        The tangents touch at the scores given.
        """
        s, t = self.pairs_of(scores)
        require_countable(len(s), len(t))
        i, j = nearest_pairs(s, t, self.rho, most, self.tell)
        of_s, of_t = pulls(s, t, self.slope, self.tell)
        height = sum_over_pairs(s, t, lambda M: self.loss(M) + self.slope(M) * M, self.tell)
        margins = s[i] - t[j]
        slopes = self.slope(margins)
        of_s -= np.bincount(i, slopes, len(s))
        of_t -= np.bincount(j, slopes, len(t))
        height -= float(np.sum(self.loss(margins) + slopes * margins))
        c = self.weight / self.count
        p, n = np.where(self.positive)[0], np.where(~self.positive)[0]
        return p[i], n[j], -c * (of_s @ Z[p] - of_t @ Z[n]), c * height


class ExplicitPairHinge(PairProblem):
    """``1/2 |w|^2 + C mean (rho - M)_+``."""


class SpreadPairHinge(ExplicitPairHinge):
    """The same with the variances of the classes' scores in the penalty."""

    @property
    def _structure(self) -> float:
        return float(self.params.get("structure", 0.0))

    def norm(self, scores: Array) -> float:
        spread = sum(float(np.var(part)) for part in self.pairs_of(scores))
        return super().norm(scores) + self._structure * spread

    def metric(self, Z: Array) -> Array:
        S = np.eye(Z.shape[1])
        for part in self.pairs_of(Z):
            S += self._structure * np.atleast_2d(np.cov(part.T, bias=True))
        return S


class PairSquares(PairProblem):
    """``1/2 |w|^2 + C mean (1 - M)_+^2``; some methods keep features in single precision."""

    squared = True
    rounding = 1e-5


class StochasticHinge(ExplicitPairHinge):
    """``lambda / 2 |w|^2 + mean (1 - M)_+``, on features in single precision; or that of rows."""

    rounding = 1e-3

    @property
    def _regularization(self) -> float:
        return float(self.params["regularization"])

    def objective(self, scores: Array, intercept: float) -> float:
        return self._regularization * super().objective(scores, intercept)

    @property
    def is_convex(self) -> bool:
        return self._looks_at == "pairs"

    @property
    def _looks_at(self) -> str:
        return str(self.params.get("loss", "pairs"))

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        if self._looks_at == "pairs":
            return super().value(scores, intercept, norm)
        lost = np.maximum(1.0 - signs(self.positive) * (scores - scores.mean()), 0.0)
        mean = float(lost.mean())
        if self._looks_at == "balanced-rows":
            mean = sum(float(part.mean()) for part in self.pairs_of(lost)) / 2
        return norm / 2 + self.weight * mean

    @property
    def weight(self) -> float:
        return 1.0 / self._regularization

    def solve(self, scores: Array, intercept: float) -> Solved:
        found, r = super().solve(scores, intercept), self._regularization
        return Solved(found.route, r * found.objective, r * found.bound, found.scores, found.whole)


class PairLeastSquares(Problem):
    """``mean (2 - M)^2 + lambda |w|^2``."""

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        s, t = self.pairs_of(scores)
        require_countable(len(s), len(t))
        total = sum_over_pairs(s, t, lambda M: (2.0 - M) ** 2, self.tell)
        return total / (len(s) * len(t)) + float(self.params["regularization"]) * norm

    def solve(self, scores: Array, intercept: float) -> Solved:
        Z = self.space.features
        p, n = np.where(self.positive)[0], np.where(~self.positive)[0]
        P = len(p) * len(n)
        if P * Z.shape[1] ** 2 > _MOST_EXPLICIT or P * Z.shape[1] > 3e7:
            return self._bounded(scores, Z, p, n)
        self.tell("solving again", 0.0)
        D = Z[np.repeat(p, len(n))] - Z[np.tile(n, len(p))]
        w = least_squares(D, np.full(P, 2.0), float(self.params["regularization"]))
        again = Z @ w
        objective = self.value(again, 0.0, float(w @ w))
        return Solved(
            f"least squares of {P:,} explicit pairs, by singular values",
            objective,
            objective,
            again,
        )

    def _bounded(self, scores: Array, Z: Array, p: Index, n: Index) -> Solved:
        """Bound the optimum by the gradient, counted over all pairs: lambda |w|^2 is curved."""
        strength = float(self.params["regularization"])
        if strength <= 0:
            raise UnverifiableError(
                f"{len(p) * len(n):,} pairs do not fit, and without regularisation nothing bounds "
                "the distance from the optimum"
            )
        s, t = self.pairs_of(scores)
        of_s, of_t = pulls(s, t, lambda M: 2 * (2.0 - M), self.tell)
        pull = (of_s @ Z[p] - of_t @ Z[n]) / (len(p) * len(n))
        w = np.linalg.lstsq(Z, scores - scores.mean(), rcond=None)[0]
        gradient = 2 * strength * w - pull
        objective = self.value(scores, 0.0, self.norm(scores))
        bound = objective - float(gradient @ gradient) / (4 * strength)
        route = f"gradient counted over {len(p) * len(n):,} pairs"
        return Solved(route, objective, bound, scores, whole=False)


class StochasticLeastSquares(Problem):
    """``mean (1 - M)^2`` within a radius: counted, not solved."""

    rounding = 1e-3
    convex = False

    def objective(self, scores: Array, intercept: float) -> float:
        s, t = self.pairs_of(scores)
        require_countable(len(s), len(t))
        return sum_over_pairs(s, t, lambda M: (1.0 - M) ** 2, self.tell) / (len(s) * len(t))


def least_squares(D: Array, target: Array, strength: float) -> Array:
    """Minimise mean (target - D w)^2 + strength |w|^2, least in norm, by singular values."""
    r = D.shape[1]
    A = np.vstack([D / np.sqrt(len(D)), np.sqrt(strength) * np.eye(r)])
    b = np.concatenate([target / np.sqrt(len(D)), np.zeros(r)])
    w: Array = np.linalg.lstsq(A, b, rcond=None)[0]
    return w


def require_countable(m: int, n: int) -> None:
    """Refuse pairs that would take too long to count."""
    if m * n > MOST_COMPARISONS:
        raise UnverifiableError(f"{m * n:,} pairs would take too long to count one by one")


def _neighbours(X: Array, positive: NDArray[np.bool_], k: int) -> tuple[Index, Index]:
    """Pair each positive that is near some negative with its nearest negatives."""
    p, n = np.where(positive)[0], np.where(~positive)[0]
    if len(p) * len(n) > 3e7:
        raise UnverifiableError(f"{len(p) * len(n):,} distances are more than fit")
    far = squared_distances(X[p], X[n])
    taking = np.unique(_nearest(far.T, k))
    partners = _nearest(far[taking], k)
    return p[np.repeat(taking, partners.shape[1])], n[partners.ravel()]


def _nearest(far: Array, k: int) -> Index:
    """Give the k nearest of each row; equal distances at the end would leave the choice open."""
    k = min(k, far.shape[1])
    order = np.argsort(far, axis=1, kind="stable")
    if k < far.shape[1]:
        last, following = (np.take_along_axis(far, order[:, [at]], 1) for at in (k - 1, k))
        if (following - last <= 1e-9 * following).any():
            raise UnverifiableError("equal distances leave open which neighbours make the pairs")
    return np.asarray(order[:, :k])
