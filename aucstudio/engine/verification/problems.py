"""Problems that methods name in ``solves``: objective and independent solution.

Symbols: s_i, t_j scores of positives and negatives; M = s_i - t_j margin of a pair; w direction;
b constant; y = +-1 class; f = s + b; Z (N, r) features in which scorers are linear.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from aucstudio.engine.arrays import Array, Index, Mask, Rows, class_counts, portions
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.verification.counting import (
    Report,
    UnverifiableError,
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
from aucstudio.engine.verification.space import RemadeSpace, squared_distances
from aucstudio.notices import text

_MOST_PARTS = 60
MOST_NUMBERS = 4e6  # of a problem that a reference solver takes
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


@dataclasses.dataclass(frozen=True)
class Loss:
    """A loss of a margin; ``slope`` and ``curvature`` are those of a smooth one."""

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array] | None = None
    curvature: Callable[[Array], Array] | None = None


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


PROBLEMS: dict[str, type[Problem]] = {}
"""Each by the name under which a method knows it; empty for methods that state none."""


class Problem:
    """An objective; by default ``penalty |w|^2 + weight mean loss(M)`` over all pairs.

    Attributes
    ----------
    rounding : float
        Class attribute: the share of the objective that may be rounding of the fit.
    scale : str
        Class attribute: penalty and weight are 1/2 and C for "C", lambda and 1 for "lambda",
        lambda / 2 and 1 for "half lambda", and 0 and 1 where it is empty.
    convex : bool
        Whether the settings leave it convex, with one optimum to be found again.
    centred : bool
        Whether a shift of all features changes no optimum.
    has_constant : bool
        Whether the constant is part of the solution; if not, the threshold was chosen afterwards,
        and scores are compared without it.
    """

    rounding: ClassVar[float] = 1e-6
    scale: ClassVar[str] = "C"
    loss: ClassVar[Loss] = HINGE
    convex: bool = False
    centred: bool = True
    has_constant: bool = False

    def __init_subclass__(cls, *, solves: str) -> None:
        super().__init_subclass__()
        PROBLEMS[solves] = cls

    def __init__(self, trained: Trained, report: Report) -> None:
        self.trained, self.report = trained, report
        self.params, self.positive = trained.params, trained.positive
        self.y = np.where(self.positive, 1.0, -1.0)
        self.m, self.n = class_counts(self.positive)
        C, strength = (float(self.params.get(name, 1.0)) for name in ("C", "regularization"))
        scales = {"C": (0.5, C), "lambda": (strength, 1.0), "half lambda": (strength / 2, 1.0)}
        self.penalty, self.weight = scales.get(self.scale, (0.0, 1.0))

    @cached_property
    def space(self) -> RemadeSpace:
        """The features of the scorer."""
        trained = self.trained
        return RemadeSpace(trained.X, trained.params, trained.scorer, self.centred)

    def by_class(self, scores: Array) -> tuple[Array, Array]:
        """Split scores, or rows, by class."""
        return scores[self.positive], scores[~self.positive]

    def objective(self, scores: Array, intercept: float) -> float:
        """Count the objective of the scorer, whose scores without the intercept are given."""
        return self.value(scores, intercept, self.space.norm() if self.scale else 0.0)

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        """Count the objective, given |w|^2."""
        return self.penalty * norm + self.weight * self.risk(scores)

    def risk(self, scores: Array) -> float:
        """Count the mean loss."""
        return mean_over_pairs(*self.by_class(scores), self.loss.value, self.report)

    def solution(self, Z: Array) -> Optimum:
        """Return w in the features Z, followed by the constant if there is one.

        Raises
        ------
        UnverifiableError
            If it would not fit, or take hours.
        """
        raise UnverifiableError("no independent solver is available")

    def solve_margins(self, A: Array, costs: Array, H: Array) -> Optimum:
        """Minimise ``1/2 u'Hu + sum_k costs_k loss(A_k u)``."""
        K, r = A.shape
        if K * max(r, 100) > 100 * MOST_NUMBERS or K * r**2 > 2 * _MOST_WORK or r > 1_500:
            raise UnverifiableError(text("too_many_margins", margins=K, features=r))
        loss, slope, curvature = self.loss.value, self.loss.slope, self.loss.curvature
        if slope is None or curvature is None:
            return self.solve_hinges(A, np.ones(K), costs, H, np.zeros(r))

        def sums(M: Array) -> tuple[float, Array, Array]:
            return float(costs @ loss(M)), costs * slope(M), costs * curvature(M)

        return by_newton(H, sums, A, self.report)

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
        starts = _starts(len(A))

        def cuts(u: Array) -> tuple[Array, Array]:
            active = costs * (A @ u <= targets)
            slopes = np.add.reduceat(-active[:, None] * A, starts, axis=0)
            return slopes, np.add.reduceat(active * targets, starts)

        return by_cutting_planes(H, q, cuts, self.report, rows)

    def pair_differences(self, Z: Array) -> Array:
        """Return Z_i - Z_j of all pairs."""
        p, n = self.by_class(Z)
        if len(p) * n.size > 8 * MOST_NUMBERS:
            raise UnverifiableError(f"{len(p) * len(n):,} pairs are more than fit")
        return np.repeat(p, len(n), axis=0) - np.tile(n, (len(p), 1))


# --- over pairs


class RangeHinge(Problem, solves="structural partial AUC"):
    """``1/2 |w|^2 + C R(w)``, R the structural surrogate of 1 - pAUC in the range trained for.

    For each positive the number r of negatives that the worst ordering puts above it is found by
    trying all of them. g_j is the part of negative j, in falling order, inside [alpha, beta]; the
    tight surrogate charges the negatives inside [0, beta] alone.
    """

    rounding = 1e-5
    convex = True
    whole: ClassVar[bool] = False
    tight: ClassVar[bool] = False

    def __init__(self, trained: Trained, report: Report) -> None:
        super().__init__(trained, report)
        band = (0.0, 1.0) if self.whole else trained.trained_range or self.params["fpr_range"]
        alpha, beta = map(float, band)
        self.convex = not self.tight or alpha == 0.0 or self.params["surrogate"] == "convex"
        self.margin = float(self.params.get("margin", 1.0))
        self.inside = _inside(self.n, alpha, beta)
        self.charged = _inside(self.n, 0.0, beta) if self.tight else np.ones(self.n)
        self.total = self.m * float(self.inside.sum())

    def risk(self, scores: Array) -> float:
        """Count R."""
        if self.convex:
            losses = self._worst(scores)[0]
        else:
            s, t = self.by_class(scores)
            losses = np.maximum(1.0 - s[:, None] - np.sort(-t)[None, :], 0.0) * self.inside[None, :]
        return float(losses.astype(np.longdouble).sum()) / self.total

    def _worst(self, scores: Array) -> tuple[Array, Index, Index]:
        """Return the loss and r of each positive, and the order of the negatives."""
        s, t = self.by_class(scores)
        require_countable(len(s), len(t))
        order = np.argsort(-t, kind="stable")
        rising = np.cumsum(self.margin * self.inside + self.charged * t[order])
        mass = np.cumsum(self.charged)
        losses, r = np.empty(len(s)), np.empty(len(s), np.intp)
        for part in portions(len(s), len(t), _CELLS):
            reached = rising[None, :] - s[part, None] * mass[None, :]
            r[part], losses[part] = reached.argmax(axis=1) + 1, reached.max(axis=1)
            self.report("exhaustive search", part.stop / len(s))
        r[losses <= 0] = 0
        return np.maximum(losses, 0.0), r, order

    def quadratic(self, Z: Array) -> Array:
        """Return the matrix of the penalty, (r, r)."""
        return np.eye(Z.shape[1])

    def solution(self, Z: Array) -> Optimum:
        r = Z.shape[1]
        if 80 * (Z.size + self.m * self.n) > _MOST_WORK or r > 1_000:
            raise UnverifiableError(text("too_long_to_solve", rows=len(Z), features=r))
        p, n = self.by_class(Z)
        starts, share = _starts(self.m), self.weight / self.total
        mass = np.append(0.0, np.cumsum(self.charged))
        gained = self.margin * np.append(0.0, np.cumsum(self.inside))

        def cuts(u: Array) -> tuple[Array, Array]:
            _, places, order = self._worst(Z @ u)
            above = np.cumsum(self.charged[:, None] * n[order], axis=0)
            slopes = np.vstack([np.zeros(r), above])[places] - mass[places, None] * p
            heights = np.add.reduceat(gained[places], starts)
            return share * np.add.reduceat(slopes, starts, axis=0), share * heights

        return by_cutting_planes(self.quadratic(Z), np.zeros(r), cuts, self.report)


class TightRange(RangeHinge, solves="tight partial AUC"):
    """The same for the tight surrogate; the difference of convex functions is not convex."""

    tight = True


class PairHingeProblem(RangeHinge, solves="pair hinge"):
    """``1/2 |w|^2 + C mean (rho - M)_+``: the whole range, or the pairs of nearest neighbours.

    With ``structure`` the variances of the classes' scores are in the penalty.
    """

    rounding = 1e-6
    whole = True

    @property
    def _structure(self) -> float:
        return float(self.params.get("structure", 0.0))

    @cached_property
    def listed(self) -> tuple[Index, Index] | None:
        """Rows of the pairs, where not all count."""
        k = self.params.get("n_neighbors")
        return None if k is None else _neighbours(self.space.rows, self.positive, int(k))

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        spread = sum(float(np.var(part)) for part in self.by_class(scores))
        return super().value(scores, intercept, norm + self._structure * spread)

    def risk(self, scores: Array) -> float:
        def loss(M: Array) -> Array:
            return np.maximum(self.margin - M, 0.0)

        if self.listed is not None:
            i, j = self.listed
            return float(np.mean(loss(scores[i] - scores[j])))
        return mean_over_pairs(*self.by_class(scores), loss, self.report)

    def quadratic(self, Z: Array) -> Array:
        covariances = (np.atleast_2d(np.cov(part.T, bias=True)) for part in self.by_class(Z))
        spread = sum(covariances) if self._structure else 0.0
        return np.asarray(np.eye(Z.shape[1]) + self._structure * spread)

    def solution(self, Z: Array) -> Optimum:
        if self.listed is None:
            return super().solution(Z)
        i, j = self.listed
        P, r = len(i), Z.shape[1]
        if P * r > MOST_NUMBERS:
            raise UnverifiableError(f"{P:,} pairs are more than fit")
        targets, costs = np.full(P, self.margin), np.full(P, self.weight / P)
        return self.solve_hinges(Z[i] - Z[j], targets, costs, self.quadratic(Z), np.zeros(r))


class PairSquares(Problem, solves="squared pair hinge"):
    """``1/2 |w|^2 + C mean (1 - M)_+^2``; some methods keep features in single precision."""

    rounding = 1e-5
    loss = SQUARED_HINGE
    convex = True

    def solution(self, Z: Array) -> Optimum:
        D = self.pair_differences(Z)
        return self.solve_margins(D, np.full(len(D), self.weight / len(D)), np.eye(Z.shape[1]))


class PairLeastSquares(Problem, solves="pair least squares"):
    """``mean (2 - M)^2 + lambda |w|^2``."""

    loss = Loss(lambda M: (2.0 - M) ** 2)
    scale = "lambda"
    convex = True

    def solution(self, Z: Array) -> Optimum:
        D = self.pair_differences(Z)
        return least_squares(D, np.full(len(D), 2.0), self.penalty, "pairs")


# --- over rows


class RowHinge(Problem, solves="row hinge"):
    """``1/2 |w|^2 + C sum c_i loss(y_i f_i)``: the ordinary SVM."""

    has_constant = True
    convex = True

    @property
    def costs(self) -> Array:
        """C c_i."""
        return np.asarray(self.weight * _class_costs(self.positive, self.params))

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        losses = self.loss.value(self.y * (scores + intercept)).astype(np.longdouble)
        return self.penalty * norm + float((self.costs * losses).sum())

    def solution(self, Z: Array) -> Optimum:
        # Parts of one class each bound the constant from both sides.
        order = np.argsort(self.y, kind="stable")
        A = (self.y[:, None] * np.hstack([Z, np.ones((len(Z), 1))]))[order]
        H = np.diag(np.append(np.ones(Z.shape[1]), 0.0))
        return self.solve_margins(A, self.costs[order], H)


class RowSquares(RowHinge, solves="squared row hinge"):
    """The SVM with squared slack."""

    loss = SQUARED_HINGE


class LogLoss(RowHinge, solves="log-loss"):
    """Logistic regression."""

    loss = LOG_LOSS


class MeanLogLoss(RowHinge, solves="mean log-loss"):
    """The weighted mean of the log-loss, of a method that approaches no optimum."""

    loss = LOG_LOSS
    scale = ""
    convex = False

    @property
    def costs(self) -> Array:
        costs = super().costs
        return np.asarray(costs / costs.sum())


class RowLeastSquares(Problem, solves="row least squares"):
    """``mean (y - f)^2 + lambda |w|^2``; with a constant the origin of the features is free."""

    scale = "lambda"
    convex = True

    def __init__(self, trained: Trained, report: Report) -> None:
        super().__init__(trained, report)
        self.has_constant = self.centred = bool(self.params["fit_intercept"])

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        errors = self.y - scores - (intercept if self.has_constant else 0.0)
        return float((errors.astype(np.longdouble) ** 2).mean()) + self.penalty * norm

    def solution(self, Z: Array) -> Optimum:
        if Z.size > 3e7 or Z.size * Z.shape[1] > 2 * _MOST_WORK:
            raise UnverifiableError(f"{len(Z):,} rows of {Z.shape[1]:,} features are more than fit")
        b = float(self.y.mean()) if self.has_constant else 0.0
        found = least_squares(Z, self.y - b, self.penalty, "rows")
        return dataclasses.replace(found, u=np.append(found.u, b))


class TwoMarginsProblem(Problem, solves="two margins"):
    """``1/2 |w|^2 - mu rho + C1 sum (1 - f)_+ + C2 sum (rho - f)_+ + C3 sum (1 + f)_+``."""

    convex = True

    @property
    def _costs(self) -> tuple[float, float, float, float]:
        p, C = self.params, self.weight
        mu = float(p["mu"])
        return C, mu / (float(p["nu"]) * self.m), C * float(p["class_ratio"]), mu

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
        groups, r = [self.m, self.m, self.n], Z.shape[1]
        if 2 * len(Z) * (r + 2) > MOST_NUMBERS:
            raise UnverifiableError(text("too_many_rows_to_solve", rows=len(Z), features=r))
        C1, C2, C3, mu = self._costs
        signs = np.repeat([[1.0, 0.0], [1.0, -1.0], [-1.0, 0.0]], groups, axis=0)
        A = np.hstack([np.vstack([p, p, -n]), signs])
        targets, costs = np.repeat([1.0, 0.0, 1.0], groups), np.repeat([C1, C2, C3], groups)
        q, E = np.zeros(r + 2), np.zeros((1, r + 2))
        q[-1], E[0, -1] = -mu, 1.0
        H = np.diag(np.append(np.ones(r), [0.0, 0.0]))
        return self.solve_hinges(A, targets, costs, H, q, (E, np.ones(1)))


# --- without one optimum to compare with: counted from the scores alone


class StochasticPairs(Problem, solves="mean pair hinge"):
    """``mean (1 - M)_+``, on features in single precision."""

    rounding = 1e-3
    scale = ""


class StochasticSquares(StochasticPairs, solves="stochastic least squares"):
    """``mean (1 - M)^2``, on features in single precision."""

    loss = Loss(lambda M: (1.0 - M) ** 2)


class ExponentialPairs(Problem, solves="exponential pair loss"):
    """``mean exp(-M)``."""

    scale = ""
    loss = Loss(lambda M: np.exp(-M))


class StochasticHinge(Problem, solves="stochastic hinge"):
    """``lambda / 2 |w|^2 + mean (1 - M)_+``, on features in single precision; or that of rows."""

    rounding = 1e-3
    scale = "half lambda"

    def risk(self, scores: Array) -> float:
        kind = self.params.get("loss", "pairs")
        if kind == "pairs":
            return super().risk(scores)
        losses = self.loss.value(self.y * (scores - scores.mean()))
        parts = self.by_class(losses) if kind == "balanced-rows" else (losses,)
        return float(np.mean([part.mean() for part in parts]))


class AreaLost(Problem, solves="area lost"):
    """``1 - pAUC`` over the range trained for, the whole one where the method has none."""

    scale = ""

    def risk(self, scores: Array) -> float:
        alpha, beta = self.params.get("fpr_range", (0.0, 1.0))
        require_countable(len(scores), self.n)
        return 1.0 - counted_area(self.positive, scores, (float(alpha), float(beta)), self.report)


class Unstated(Problem, solves=""):
    """A method that does not name its objective."""

    def objective(self, scores: Array, intercept: float) -> float:
        raise UnverifiableError("no independent way to compute this objective is available")


def _starts(count: int) -> Index:
    """Return where the parts of so many hinges begin that share a slack."""
    return np.array([part[0] for part in np.array_split(np.arange(count), min(count, _MOST_PARTS))])


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
