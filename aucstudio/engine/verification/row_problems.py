"""Problems over rows with a constant: SVMs, least squares on labels, log-loss, two margins.

Symbols: y_i = +-1 class, c_i cost of row i, f_i = s_i + b.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from scipy import optimize

from aucstudio.engine.verification.pair_problems import least_squares
from aucstudio.engine.verification.problem import Array, Problem, Solved, no_rows, signs
from aucstudio.engine.verification.programme import Programme, most_rows
from aucstudio.engine.verification.space import UnverifiableError


class RowProblem(Problem):
    """``1/2 |w|^2 + C sum c_i loss(y_i f_i)``."""

    squared: ClassVar[bool] = False
    has_constant = True

    @property
    def costs(self) -> Array:
        """C c_i."""
        weights = self.params.get("class_weight")
        here = self.positive
        shares = np.array([np.mean(~here), np.mean(here)])
        if weights is None:
            each = np.ones(2)
        elif isinstance(weights, Mapping):
            raise UnverifiableError("class weights given as a mapping are not known here")
        else:
            each = 0.5 / shares
        return np.asarray(self.C * each[here.astype(int)])

    def loss(self, margins: Array) -> Array:
        """Give the loss of each margin."""
        left = np.maximum(1.0 - margins, 0.0)
        return np.asarray(left * left) if self.squared else left

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        margins = signs(self.positive) * (scores + intercept)
        losses = (self.costs * self.loss(margins)).astype(np.longdouble)
        return norm / 2 + float(losses.sum())

    def solve(self, scores: Array, intercept: float) -> Solved:
        Z, y = self.space.features, signs(self.positive)
        if len(Z) > most_rows(Z.shape[1] + 1):
            raise UnverifiableError(
                f"{len(Z):,} rows of {Z.shape[1]:,} features are more than such a solver takes"
            )
        r = Z.shape[1]
        H = np.diag(np.append(np.ones(r), 0.0))
        A = y[:, None] * np.hstack([Z, np.ones((len(Z), 1))])
        q, ones = np.zeros(r + 1), np.ones(len(Z))
        found = self.run(Programme(H, q, A, ones, self.costs, self.squared, *no_rows(r + 1)))
        w, b = found.u[:r], float(found.u[r])
        again = Z @ w
        objective = self.value(again, b, float(w @ w))
        return Solved(f"cvxopt on the {len(Z):,} rows", objective, found.bound, again + b)


class ExplicitRowHinge(RowProblem):
    """The ordinary SVM, which libsvm solves to a thousandth."""


class RowSquares(RowProblem):
    """The SVM with squared slack."""

    squared = True


class LogLoss(RowProblem):
    """Logistic regression, by a trust region with the whole matrix of second derivatives."""

    def loss(self, margins: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -margins))

    def solve(self, scores: Array, intercept: float) -> Solved:
        Z, y, costs = self.space.features, signs(self.positive), self.costs
        r = Z.shape[1]
        if r > 1_500 or len(Z) * r**2 > 4e10:
            raise UnverifiableError(
                f"{len(Z):,} rows of {r:,} features are more than such a solver takes"
            )
        F = np.hstack([Z, np.ones((len(Z), 1))])
        shrunk = np.append(np.ones(r), 0.0)

        def value(u: Array) -> float:
            self.tell("solving again", 0.5)
            return float(shrunk @ u**2 / 2 + costs @ self.loss(y * (F @ u)))

        def share(u: Array) -> Array:
            return _expit(-y * (F @ u))

        def slope(u: Array) -> Array:
            return shrunk * u - (costs * y * share(u)) @ F

        def bend(u: Array) -> Array:
            p = share(u)
            return np.diag(shrunk) + F.T @ ((costs * p * (1 - p))[:, None] * F)

        scale = float(np.abs(slope(np.zeros(r + 1))).max()) or 1.0
        found = optimize.minimize(
            value,
            np.zeros(r + 1),
            jac=slope,
            hess=bend,
            method="trust-exact",
            options={"gtol": 1e-11 * scale, "maxiter": 500},
        )
        u = np.asarray(found.x)
        again, b = Z @ u[:r], float(u[r])
        objective = self.value(again, b, float(u[:r] @ u[:r]))
        route = f"scipy's trust region on the {len(Z):,} rows"
        return Solved(route, objective, self._bound(u, F), again + b)

    def _bound(self, u: Array, F: Array) -> float:
        """Give the dual objective at the multipliers of a solution, the classes balanced."""
        y, costs = signs(self.positive), self.costs
        p = _expit(-y * (F @ u))
        sums = [float((costs * p)[here].sum()) for here in (self.positive, ~self.positive)]
        p = p * np.where(self.positive, *(min(sums) / max(total, 1e-300) for total in sums))
        w = (costs * p * y) @ F[:, :-1]
        inner = np.clip(p, 1e-300, 1 - 1e-16)
        entropy = -inner * np.log(inner) - (1 - inner) * np.log1p(-inner)
        return float(costs @ entropy - w @ w / 2)


class RowLeastSquares(Problem):
    """``mean (y - f)^2 + lambda |w|^2``, with a constant or without."""

    @property
    def centred(self) -> bool:  # type: ignore[override]
        """Without a constant it matters where the features have their zero."""
        return bool(self.params["fit_intercept"])

    @property
    def has_constant(self) -> bool:  # type: ignore[override]
        """Without one, scores are compared as they are."""
        return bool(self.params["fit_intercept"])

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        b = intercept if self.params["fit_intercept"] else 0.0
        errors = (signs(self.positive) - scores - b).astype(np.longdouble)
        return float((errors * errors).mean()) + float(self.params["regularization"]) * norm

    def solve(self, scores: Array, intercept: float) -> Solved:
        Z, y = self.space.features, signs(self.positive)
        if Z.size > 3e7 or len(Z) * Z.shape[1] ** 2 > 4e10:
            raise UnverifiableError(f"{len(Z):,} rows of {Z.shape[1]:,} features are more than fit")
        self.tell("solving again", 0.0)
        b = float(y.mean()) if self.params["fit_intercept"] else 0.0
        w = least_squares(Z, y - b, float(self.params["regularization"]))
        again = Z @ w
        objective = self.value(again, b, float(w @ w))
        route = f"least squares of the {len(Z):,} rows, by singular values"
        return Solved(route, objective, objective, again + b)


class ExplicitTwoMargins(Problem):
    """``1/2 |w|^2 - mu rho + C1 sum (1 - f)_+ + C2 sum (rho - f)_+ + C3 sum (1 + f)_+``."""

    @property
    def _costs(self) -> tuple[float, float, float, float]:
        p, m = self.params, int(np.count_nonzero(self.positive))
        mu = float(p["mu"])
        return self.C, mu / (float(p["nu"]) * m), self.C * float(p["class_ratio"]), mu

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        """Count it at the best constants for the scores: some value makes a margin exact."""
        s, t = self.pairs_of(scores)
        C1, C2, C3, mu = self._costs

        def lowest(
            places: Array, terms: list[tuple[float, Array]], slope: float
        ) -> tuple[float, float]:
            values = slope * places
            for cost, at in terms:
                values = values + cost * np.array([np.maximum(at - b, 0.0).sum() for b in places])
            return float(values.min()), float(places[values.argmin()])

        ends = np.concatenate([1.0 - s, -1.0 - t])
        # (1 + t + b)_+ = (-1 - t - b)_+ + (1 + t + b)
        rise, base = C3 * len(t), C3 * float((1.0 + t).sum())
        free = [(C1, 1.0 - s), (C3, -1.0 - t)]
        outer, b = lowest(ends, free, rise - mu)
        # With tau = rho - b: -mu tau + C2 sum (tau - s)_+ by the places tau = s.
        taus = np.array([C2 * np.maximum(tau - s, 0.0).sum() - mu * tau for tau in s])
        tau = float(s[taus.argmin()])
        if tau + b >= 1.0:
            return norm / 2 + outer + base + float(taus.min())
        tight, _ = lowest(ends, [(C1 + C2, 1.0 - s), (C3, -1.0 - t)], rise)
        return norm / 2 + tight + base - mu

    def solve(self, scores: Array, intercept: float) -> Solved:
        Z, p = self.space.features, self.positive
        r, m = Z.shape[1], int(np.count_nonzero(p))
        n = len(Z) - m
        if 2 * len(Z) > most_rows(r + 2):
            raise UnverifiableError(
                f"{len(Z):,} rows of {r:,} features are more than such a solver takes"
            )
        C1, C2, C3, mu = self._costs
        one, no = np.ones((m, 1)), np.zeros((m, 1))
        A = np.vstack(
            [
                np.hstack([Z[p], one, no]),
                np.hstack([Z[p], one, -one]),
                np.hstack([-Z[~p], -np.ones((n, 1)), np.zeros((n, 1))]),
            ]
        )
        t, c = np.repeat([1.0, 0.0, 1.0], [m, m, n]), np.repeat([C1, C2, C3], [m, m, n])
        H = np.diag(np.append(np.ones(r), [0.0, 0.0]))
        q, E = np.zeros(r + 2), np.zeros((1, r + 2))
        q[-1], E[0, -1] = -mu, 1.0
        found = self.run(Programme(H, q, A, t, c, False, E, np.ones(1)))
        w = found.u[:r]
        again = Z @ w
        objective = self.value(again, 0.0, float(w @ w))
        return Solved(f"cvxopt on the {len(Z):,} rows", objective, found.bound, again)


def _expit(x: Array) -> Array:
    return np.exp(-np.logaddexp(0.0, -x))
