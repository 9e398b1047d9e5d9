"""Problems that methods name in ``solves``: objective and independent solution.

Symbols: s_i, t_j scores of positives and negatives; M = s_i - t_j margin of a pair; w direction;
b constant; y = +-1 class; f = s + b; Z (N, r) features in which scorers are linear.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from aucstudio.engine.scorers import Scorer
from aucstudio.engine.types import Array, Index, Mask, Rows
from aucstudio.engine.verification.counting import (
    Report,
    counted_area,
    mean_over_pairs,
    require_countable,
)
from aucstudio.engine.verification.optimum import (
    Optimum,
    by_cutting_planes,
    by_newton,
    least_squares,
)
from aucstudio.engine.verification.space import RemadeSpace, UnverifiableError, squared_distances

_MOST_PARTS = 60
_MOST_NUMBERS = 4e6
_MOST_WORK = 2e10
_CELLS = 1 << 20


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    """A fit as it is stored, and the rows it was fitted on.

    Attributes
    ----------
    method : str
        Key of the method.
    params : mapping
        All its settings.
    X : ndarray or CSR matrix of shape (N, d)
        Prepared training rows.
    positive : ndarray of bool, shape (N,)
    scorer : Scorer
    intercept : float
    scores : ndarray of shape (N,)
        Stored scores of the training rows, intercept included.
    objective : float
    gap : float or None
    trained_range : (float, float) or None
        The FPR range that was used in the end.
    weights : ndarray of shape (N,) or None
        Row weights of the fit.
    converged : bool
        Whether the fit is stored as converged.
    needed : float or None
        The requested gap; None where it is not known.
    """

    method: str
    params: Mapping[str, Any]
    X: Rows
    positive: Mask
    scorer: Scorer
    intercept: float
    scores: Array
    objective: float
    gap: float | None
    trained_range: tuple[float, float] | None = None
    weights: Array | None = None
    converged: bool = False
    needed: float | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Solved:
    """An independent solution: its counted objective, a lower bound, and training scores."""

    route: str
    objective: float
    bound: float
    scores: Array


@dataclasses.dataclass(frozen=True)
class Loss:
    """A loss of a margin; ``slope`` and ``curvature`` are needed where it is smooth."""

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array] | None = None
    curvature: Callable[[Array], Array] | None = None

    def sums(self, costs: Array) -> Callable[[Array], tuple[float, Array, Array]]:
        """Return the weighted sum over margins, with its derivatives in each margin."""
        slope, curvature = self.slope, self.curvature
        assert slope is not None
        assert curvature is not None
        return lambda M: (float(costs @ self.value(M)), costs * slope(M), costs * curvature(M))


def _share(M: Array) -> Array:
    return np.asarray(np.exp(-np.logaddexp(0.0, M)))


HINGE = Loss(lambda M: np.maximum(1.0 - M, 0.0))
SQUARED_HINGE = Loss(
    lambda M: np.maximum(1.0 - M, 0.0) ** 2,
    lambda M: -2.0 * np.maximum(1.0 - M, 0.0),
    lambda M: np.where(M < 1.0, 2.0, 0.0),
)
LOG_LOSS = Loss(
    lambda M: np.logaddexp(0.0, -M), lambda M: -_share(M), lambda M: _share(M) * _share(-M)
)


class Problem(abc.ABC):
    """The objective of some methods.

    Attributes
    ----------
    rounding : float
        Class attribute: the share of the objective that may be rounding of the fit.
    centred : bool
        Whether a shift of all features changes no optimum.
    has_constant : bool
        Whether the constant is part of the solution; if not, the threshold was chosen afterwards,
        and scores are compared without it.
    """

    rounding: ClassVar[float] = 1e-6
    loss: ClassVar[Loss] = HINGE
    centred: bool = True
    has_constant: bool = False

    def __init__(self, trained: Trained, report: Report) -> None:
        self.trained, self.report = trained, report
        self.params, self.positive = trained.params, trained.positive
        self.y = np.where(self.positive, 1.0, -1.0)
        self.C = float(self.params.get("C", 1.0))

    @cached_property
    def space(self) -> RemadeSpace:
        """The features of the scorer."""
        trained = self.trained
        return RemadeSpace(trained.X, trained.params, trained.scorer, self.centred)

    def by_class(self, scores: Array) -> tuple[Array, Array]:
        """Split scores, or rows, by class."""
        return scores[self.positive], scores[~self.positive]

    @abc.abstractmethod
    def objective(self, scores: Array, intercept: float) -> float:
        """Count the objective of the scorer, whose scores without the intercept are given."""


class Penalised(Problem):
    """An objective with a penalty on the direction of the scorer."""

    def objective(self, scores: Array, intercept: float) -> float:
        return self.value(scores, intercept, self.space.norm())

    @abc.abstractmethod
    def value(self, scores: Array, intercept: float, norm: float) -> float:
        """Count the objective, given |w|^2."""


class Convex(Penalised):
    """A problem that is solved again.

    Attributes
    ----------
    convex : bool
        Whether the settings leave it convex, with one optimum to be found again.
    """

    convex: bool = True

    def solve(self) -> Solved:
        """Solve the problem again.

        Raises
        ------
        UnverifiableError
        """
        Z = self.space.features
        found, r = self.solution(Z), Z.shape[1]
        w, b = found.u[:r], float(found.u[r]) if self.has_constant else 0.0
        scores = Z @ w
        objective = self.value(scores, b, float(w @ w))
        return Solved(found.route, objective, found.bound, scores + b)

    @abc.abstractmethod
    def solution(self, Z: Array) -> Optimum:
        """Return w in the features Z, followed by the constant if there is one."""

    def solve_margins(self, A: Array, costs: Array, H: Array) -> Optimum:
        """Minimise ``1/2 u'Hu + sum_k costs_k loss(A_k u)``."""
        K, r = A.shape
        if K * max(r, 100) > 100 * _MOST_NUMBERS or K * r**2 > 2 * _MOST_WORK or r > 1_500:
            raise UnverifiableError(
                f"{K:,} margins of {r:,} features are more than an independent solver takes"
            )
        if self.loss.slope is not None:
            return by_newton(H, self.loss.sums(costs), A, self.report)
        return self.solve_hinges(A, np.ones(K), costs, H, np.zeros(r))

    def solve_hinges(
        self,
        A: Array,
        targets: Array,
        costs: Array,
        H: Array,
        q: Array,
        rows: tuple[Array, Array] | None = None,
    ) -> Optimum:
        """Minimise ``1/2 u'Hu + q'u + sum_k costs_k (targets_k - A_k u)_+``."""
        parts = np.array_split(np.arange(len(A)), min(len(A), _MOST_PARTS))
        starts = np.array([part[0] for part in parts])

        def cuts(u: Array) -> tuple[Array, Array]:
            active = costs * (A @ u <= targets)
            slopes = np.add.reduceat(-active[:, None] * A, starts, axis=0)
            return slopes, np.add.reduceat(active * targets, starts)

        return by_cutting_planes(H, q, cuts, self.report, rows)


# --- over pairs


class RangeHinge(Convex):
    """``1/2 |w|^2 + C R(w)``, R the structural surrogate of 1 - pAUC in the range trained for.

    For each positive the number r of negatives that the worst ordering puts above it is found by
    trying all of them. g_j is the part of negative j, in falling order, inside [alpha, beta].
    """

    rounding = 1e-5

    @property
    def band(self) -> tuple[float, float]:
        """The FPR range that was trained for in the end."""
        alpha, beta = self.trained.trained_range or self.params["fpr_range"]
        return float(alpha), float(beta)

    @property
    def margin(self) -> float:
        """The margin from which a pair costs nothing."""
        return 1.0

    @cached_property
    def inside(self) -> Array:
        """g, shape (n,)."""
        return _inside(int((~self.positive).sum()), *self.band)

    @cached_property
    def charged(self) -> Array:
        """Part of each negative whose margin counts, shape (n,)."""
        return np.ones(len(self.inside))

    @cached_property
    def total(self) -> float:
        """M times the sum of g."""
        return float(np.count_nonzero(self.positive) * self.inside.sum())

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        return norm / 2 + self.C * self.risk(scores)

    def risk(self, scores: Array) -> float:
        """Count R."""
        return float(self._worst(scores)[0].astype(np.longdouble).sum()) / self.total

    def _worst(self, scores: Array) -> tuple[Array, Index, Index]:
        """Return the loss and r of each positive, and the order of the negatives."""
        s, t = self.by_class(scores)
        require_countable(len(s), len(t))
        order = np.argsort(-t, kind="stable")
        rising = np.cumsum(self.margin * self.inside + self.charged * t[order])
        mass, step = np.cumsum(self.charged), max(1, _CELLS // len(t))
        losses, r = np.empty(len(s)), np.empty(len(s), np.intp)
        for start in range(0, len(s), step):
            part = slice(start, start + step)
            reached = rising[None, :] - s[part, None] * mass[None, :]
            r[part], losses[part] = reached.argmax(axis=1) + 1, reached.max(axis=1)
            self.report("exhaustive search", min(1.0, (start + step) / len(s)))
        r[losses <= 0] = 0
        return np.maximum(losses, 0.0), r, order

    def penalty(self, Z: Array) -> Array:
        """Return the matrix of the penalty, (r, r)."""
        return np.eye(Z.shape[1])

    def solution(self, Z: Array) -> Optimum:
        m, r = int(np.count_nonzero(self.positive)), Z.shape[1]
        if 80 * (Z.size + m * (len(Z) - m)) > _MOST_WORK or r > 1_000:
            raise UnverifiableError(
                f"{len(Z):,} rows with {r:,} features would take an independent solver hours"
            )
        p, n = self.by_class(Z)
        parts = np.array_split(np.arange(m), min(m, _MOST_PARTS))
        starts = np.array([part[0] for part in parts])
        mass = np.append(0.0, np.cumsum(self.charged))
        gained = self.margin * np.append(0.0, np.cumsum(self.inside))

        def cuts(u: Array) -> tuple[Array, Array]:
            _, places, order = self._worst(Z @ u)
            above = np.cumsum(self.charged[:, None] * n[order], axis=0)
            slopes = np.vstack([np.zeros(r), above])[places] - mass[places, None] * p
            share = self.C / self.total
            return (
                share * np.add.reduceat(slopes, starts, axis=0),
                share * np.add.reduceat(gained[places], starts),
            )

        return by_cutting_planes(self.penalty(Z), np.zeros(r), cuts, self.report)


class TightRange(RangeHinge):
    """The same for the tight surrogate, which charges the negatives inside the range alone."""

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether the surrogate is; the difference of convex functions is not."""
        return self.band[0] == 0.0 or self.params["surrogate"] == "convex"

    @cached_property
    def charged(self) -> Array:
        return _inside(len(self.inside), 0.0, self.band[1])

    def risk(self, scores: Array) -> float:
        if self.convex:
            return super().risk(scores)
        s, t = self.by_class(scores)
        losses = np.maximum(1.0 - s[:, None] - np.sort(-t)[None, :], 0.0) * self.inside[None, :]
        return float(losses.astype(np.longdouble).sum()) / self.total


class PairHingeProblem(RangeHinge):
    """``1/2 |w|^2 + C mean (rho - M)_+``: the whole range, or the pairs of nearest neighbours."""

    rounding = 1e-6

    @property
    def band(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def margin(self) -> float:
        return float(self.params.get("margin", 1.0))

    @cached_property
    def listed(self) -> tuple[Index, Index] | None:
        """Rows of the pairs, where not all count."""
        k = self.params.get("n_neighbors")
        return None if k is None else _neighbours(self.space.rows, self.positive, int(k))

    def risk(self, scores: Array) -> float:
        def loss(M: Array) -> Array:
            return np.maximum(self.margin - M, 0.0)

        if self.listed is not None:
            i, j = self.listed
            return float(np.mean(loss(scores[i] - scores[j])))
        return mean_over_pairs(*self.by_class(scores), loss, self.report)

    def solution(self, Z: Array) -> Optimum:
        if self.listed is None:
            return super().solution(Z)
        i, j = self.listed
        P, r = len(i), Z.shape[1]
        if P * r > _MOST_NUMBERS:
            raise UnverifiableError(f"{P:,} pairs are more than fit")
        targets, costs = np.full(P, self.margin), np.full(P, self.C / P)
        return self.solve_hinges(Z[i] - Z[j], targets, costs, self.penalty(Z), np.zeros(r))


class SpreadPairHinge(PairHingeProblem):
    """The same with the variances of the classes' scores in the penalty."""

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        spread = sum(float(np.var(part)) for part in self.by_class(scores))
        return super().value(scores, intercept, norm + self._structure * spread)

    @property
    def _structure(self) -> float:
        return float(self.params.get("structure", 0.0))

    def penalty(self, Z: Array) -> Array:
        covariances = (np.atleast_2d(np.cov(part.T, bias=True)) for part in self.by_class(Z))
        return np.asarray(np.eye(Z.shape[1]) + self._structure * sum(covariances))


class PairSquares(Convex):
    """``1/2 |w|^2 + C mean (1 - M)_+^2``; some methods keep features in single precision."""

    rounding = 1e-5
    loss = SQUARED_HINGE

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        mean = mean_over_pairs(*self.by_class(scores), self.loss.value, self.report)
        return norm / 2 + self.C * mean

    def solution(self, Z: Array) -> Optimum:
        D = self.pair_differences(Z)
        return self.solve_margins(D, np.full(len(D), self.C / len(D)), np.eye(Z.shape[1]))

    def pair_differences(self, Z: Array) -> Array:
        """Return Z_i - Z_j of all pairs."""
        p, n = self.by_class(Z)
        if len(p) * n.size > 8 * _MOST_NUMBERS:
            raise UnverifiableError(f"{len(p) * len(n):,} pairs are more than fit")
        return np.repeat(p, len(n), axis=0) - np.tile(n, (len(p), 1))


class PairLeastSquares(PairSquares):
    """``mean (2 - M)^2 + lambda |w|^2``."""

    rounding = 1e-6

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        s, t = self.by_class(scores)
        mean = mean_over_pairs(s, t, lambda M: (2.0 - M) ** 2, self.report)
        return mean + float(self.params["regularization"]) * norm

    def solution(self, Z: Array) -> Optimum:
        D, strength = self.pair_differences(Z), float(self.params["regularization"])
        w = least_squares(D, np.full(len(D), 2.0), strength)
        bound = float(np.mean((2.0 - D @ w) ** 2) + strength * (w @ w))
        return Optimum(w, bound, f"least squares of {len(D):,} pairs, by singular values")


# --- over rows


class RowHinge(Convex):
    """``1/2 |w|^2 + C sum c_i loss(y_i f_i)``: the ordinary SVM."""

    has_constant = True

    @property
    def costs(self) -> Array:
        """C c_i."""
        return np.asarray(self.C * _class_costs(self.positive, self.params))

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        losses = self.loss.value(self.y * (scores + intercept)).astype(np.longdouble)
        return norm / 2 + float((self.costs * losses).sum())

    def solution(self, Z: Array) -> Optimum:
        # Parts of one class each bound the constant from both sides.
        order = np.argsort(self.y, kind="stable")
        A = (self.y[:, None] * np.hstack([Z, np.ones((len(Z), 1))]))[order]
        H = np.diag(np.append(np.ones(Z.shape[1]), 0.0))
        return self.solve_margins(A, self.costs[order], H)


class RowSquares(RowHinge):
    """The SVM with squared slack."""

    loss = SQUARED_HINGE


class LogLoss(RowHinge):
    """Logistic regression."""

    loss = LOG_LOSS


class RowLeastSquares(Convex):
    """``mean (y - f)^2 + lambda |w|^2``, with a constant or without."""

    @property
    def has_constant(self) -> bool:  # type: ignore[override]
        """Whether there is one."""
        return bool(self.params["fit_intercept"])

    @property
    def centred(self) -> bool:  # type: ignore[override]
        """Whether the origin of the features is free: only with a constant."""
        return self.has_constant

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        errors = self.y - scores - (intercept if self.has_constant else 0.0)
        squares = float((errors.astype(np.longdouble) ** 2).mean())
        return squares + float(self.params["regularization"]) * norm

    def solution(self, Z: Array) -> Optimum:
        if Z.size > 3e7 or Z.size * Z.shape[1] > 2 * _MOST_WORK:
            raise UnverifiableError(f"{len(Z):,} rows of {Z.shape[1]:,} features are more than fit")
        b = float(self.y.mean()) if self.has_constant else 0.0
        strength = float(self.params["regularization"])
        w = least_squares(Z, self.y - b, strength)
        bound = float(np.mean((self.y - b - Z @ w) ** 2) + strength * (w @ w))
        route = f"least squares of {len(Z):,} rows, by singular values"
        return Optimum(np.append(w, b), bound, route)


class TwoMarginsProblem(Convex):
    """``1/2 |w|^2 - mu rho + C1 sum (1 - f)_+ + C2 sum (rho - f)_+ + C3 sum (1 + f)_+``."""

    @property
    def _costs(self) -> tuple[float, float, float, float]:
        p, m = self.params, int(np.count_nonzero(self.positive))
        mu = float(p["mu"])
        return self.C, mu / (float(p["nu"]) * m), self.C * float(p["class_ratio"]), mu

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        """Count it at the best constants for the scores: some value makes a margin exact."""
        s, t = self.by_class(scores)
        C1, C2, C3, mu = self._costs

        def losses(b: float, rho: float) -> float:
            of_s = C1 * np.maximum(1.0 - s - b, 0.0) + C2 * np.maximum(rho - s - b, 0.0)
            return float(of_s.sum() + C3 * np.maximum(1.0 + t + b, 0.0).sum() - mu * rho)

        places = np.concatenate([1.0 - s, -1.0 - t])
        # With tau = rho - b, the terms of tau and of b part: each is least at a place of its own.
        taus = [C2 * np.maximum(tau - s, 0.0).sum() - mu * tau for tau in s]
        tau = float(s[int(np.argmin(taus))])
        free = min(places, key=lambda b: losses(b, tau + b))
        if tau + free >= 1.0:
            return norm / 2 + losses(free, tau + free)
        return norm / 2 + min(losses(b, 1.0) for b in places)

    def solution(self, Z: Array) -> Optimum:
        p, n = self.by_class(Z)
        m, r = len(p), Z.shape[1]
        if 2 * len(Z) * (r + 2) > _MOST_NUMBERS:
            raise UnverifiableError(
                f"{len(Z):,} rows of {r:,} features are more than an independent solver takes"
            )
        C1, C2, C3, mu = self._costs
        signs = np.repeat([[1.0, 0.0], [1.0, -1.0], [-1.0, 0.0]], [m, m, len(n)], axis=0)
        A = np.hstack([np.vstack([p, p, -n]), signs])
        targets = np.repeat([1.0, 0.0, 1.0], [m, m, len(n)])
        costs = np.repeat([C1, C2, C3], [m, m, len(n)])
        q, E = np.zeros(r + 2), np.zeros((1, r + 2))
        q[-1], E[0, -1] = -mu, 1.0
        H = np.diag(np.append(np.ones(r), [0.0, 0.0]))
        return self.solve_hinges(A, targets, costs, H, q, (E, np.ones(1)))


# --- without one optimum to compare with: counted from the scores alone


class MeanOverPairs(Problem):
    """The mean of a loss over all pairs."""

    def objective(self, scores: Array, intercept: float) -> float:
        return mean_over_pairs(*self.by_class(scores), self.loss.value, self.report)


class StochasticPairs(MeanOverPairs):
    """``mean (1 - M)_+``, on features in single precision."""

    rounding = 1e-3


class StochasticSquares(StochasticPairs):
    """``mean (1 - M)^2``, on features in single precision."""

    loss = Loss(lambda M: (1.0 - M) ** 2)


class ExponentialPairs(MeanOverPairs):
    """``mean exp(-M)``."""

    loss = Loss(lambda M: np.exp(-M))


class StochasticHinge(Penalised):
    """``lambda / 2 |w|^2 + mean (1 - M)_+``, on features in single precision; or that of rows."""

    rounding = 1e-3

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        kind = self.params.get("loss", "pairs")
        if kind == "pairs":
            mean = mean_over_pairs(*self.by_class(scores), self.loss.value, self.report)
        else:
            losses = self.loss.value(self.y * (scores - scores.mean()))
            balanced = sum(float(part.mean()) for part in self.by_class(losses)) / 2
            mean = balanced if kind == "balanced-rows" else float(losses.mean())
        return float(self.params["regularization"]) / 2 * norm + mean


class AreaLost(Problem):
    """``1 - pAUC`` over the range trained for, the whole one where the method has none."""

    def objective(self, scores: Array, intercept: float) -> float:
        alpha, beta = self.params.get("fpr_range", (0.0, 1.0))
        require_countable(len(scores), int(np.count_nonzero(~self.positive)))
        band = float(alpha), float(beta)
        return 1.0 - counted_area(self.positive, scores, band, self.report)


class MeanLogLoss(Problem):
    """The weighted mean of the log-loss."""

    def objective(self, scores: Array, intercept: float) -> float:
        costs = _class_costs(self.positive, self.params)
        losses = LOG_LOSS.value(self.y * (scores + intercept)).astype(np.longdouble)
        return float((costs * losses).sum() / costs.sum())


class Unstated(Problem):
    """A method that does not name its objective."""

    def objective(self, scores: Array, intercept: float) -> float:
        raise UnverifiableError("no independent way to compute this objective is available")


def _inside(n: int, alpha: float, beta: float) -> Array:
    """Return the part of each of n negatives inside a range: n times its length there."""
    edges = np.arange(n + 1)
    length = np.minimum(edges[1:], n * beta) - np.maximum(edges[:-1], n * alpha)
    return np.asarray(np.maximum(length, 0.0))


def _class_costs(positive: Mask, params: Mapping[str, Any]) -> Array:
    """Return the cost of each row by the setting ``class_weight``."""
    weights = params.get("class_weight")
    if isinstance(weights, Mapping):
        raise UnverifiableError("class weights given as a mapping are not supported")
    if weights is None:
        return np.ones(len(positive))
    return np.where(positive, 0.5 / np.mean(positive), 0.5 / np.mean(~positive))


def _neighbours(X: Array, positive: Mask, k: int) -> tuple[Index, Index]:
    """Pair each positive that is near some negative with its nearest negatives."""
    p, n = np.where(positive)[0], np.where(~positive)[0]
    if len(p) * len(n) > 3e7:
        raise UnverifiableError(f"{len(p) * len(n):,} distances are more than fit")
    distances = squared_distances(X[p], X[n])
    near = np.unique(_nearest(distances.T, k))
    partners = _nearest(distances[near], k)
    return p[np.repeat(near, partners.shape[1])], n[partners.ravel()]


def _nearest(distances: Array, k: int) -> Index:
    """Return the k nearest of each row; equal distances at the end leave the choice open."""
    k = min(k, distances.shape[1])
    order = np.argsort(distances, axis=1, kind="stable")
    if k < distances.shape[1]:
        last, following = np.take_along_axis(distances, order[:, k - 1 : k + 1], 1).T
        if (following - last <= 1e-9 * following).any():
            raise UnverifiableError("equal distances leave the choice of neighbours open")
    return np.asarray(order[:, :k])


PROBLEMS: dict[str, type[Problem]] = {
    "": Unstated,
    "pair hinge": PairHingeProblem,
    "pair hinge with class spread": SpreadPairHinge,
    "squared pair hinge": PairSquares,
    "pair least squares": PairLeastSquares,
    "structural partial AUC": RangeHinge,
    "tight partial AUC": TightRange,
    "two margins": TwoMarginsProblem,
    "row hinge": RowHinge,
    "squared row hinge": RowSquares,
    "row least squares": RowLeastSquares,
    "log-loss": LogLoss,
    "stochastic hinge": StochasticHinge,
    "stochastic least squares": StochasticSquares,
    "mean pair hinge": StochasticPairs,
    "exponential pair loss": ExponentialPairs,
    "area lost": AreaLost,
    "partial area lost": AreaLost,
    "mean log-loss": MeanLogLoss,
}
"""Each by the name under which a method knows it; empty for methods that state none."""
