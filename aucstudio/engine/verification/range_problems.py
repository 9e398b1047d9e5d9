"""The structural surrogates of the partial AUC, by cuts that are found by trying every place.

For each positive the best number r of negatives above it is found by trying all of them; no
isotonic regression, no sorting of positives. Positives share slacks by the group, which lets few
rounds of a small programme reach the optimum; each round's programme bounds it from below.

Symbols: v_(1) >= ... >= v_(n) scores of the negatives z_(j); g_j part of negative j inside
[alpha, beta], f_j part inside [0, beta]; r_i number of negatives that the worst ordering puts above
positive i.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.verification.counting import MOST_COMPARISONS
from aucstudio.engine.verification.problem import Array, Problem, Solved
from aucstudio.engine.verification.programme import Programme
from aucstudio.engine.verification.space import UnverifiableError

Index = NDArray[np.intp]

_MOST_GROUPS = 60
_MOST_ROUNDS = 80
_NEAR = 1e-7
_CELLS = 1 << 20
_MOST_WORK = 2e10


class StructuralRange(Problem):
    """``1/2 |w|^2 + C R(w)``, R the structural surrogate of 1 - pAUC."""

    rounding = 1e-5

    @property
    def range(self) -> tuple[float, float]:
        """The FPR range that was trained for in the end."""
        alpha, beta = self.trained.trained_range or self.params["fpr_range"]
        return float(alpha), float(beta)

    @cached_property
    def parts(self) -> tuple[Array, Array]:
        """G and f, shape (n,)."""
        n = int(np.count_nonzero(~self.positive))
        alpha, beta = self.range
        return inside(n, alpha, beta), np.ones(n)

    @cached_property
    def total(self) -> float:
        """M times the sum of g."""
        return float(np.count_nonzero(self.positive) * self.parts[0].sum())

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        return norm / 2 + self.C * self._risk(scores)

    def _risk(self, scores: Array) -> float:
        losses, _, _ = self.worst(scores)
        return float(losses.astype(np.longdouble).sum()) / self.total

    def worst(self, scores: Array) -> tuple[Array, Index, Index]:
        """Give the loss and r of each positive, and the order of the negatives."""
        s, t = self.pairs_of(scores)
        if len(s) * len(t) > MOST_COMPARISONS:
            raise UnverifiableError(f"{len(s) * len(t):,} places would take too long to try")
        g, f = self.parts
        order = np.argsort(-t, kind="stable")
        rising, mass = np.cumsum(g + f * t[order]), np.cumsum(f)
        losses, r = np.empty(len(s)), np.empty(len(s), np.intp)
        step = max(1, _CELLS // len(t))
        for start in range(0, len(s), step):
            part = slice(start, start + step)
            reached = rising[None, :] - s[part, None] * mass[None, :]
            r[part] = reached.argmax(axis=1) + 1
            losses[part] = reached.max(axis=1)
            self.tell("trying every place", min(1.0, (start + step) / len(s)))
        r[losses <= 0] = 0
        return np.maximum(losses, 0.0), r, order

    def solve(self, scores: Array, intercept: float) -> Solved:
        if not self.is_convex:
            raise UnverifiableError("this surrogate is not convex: it has no optimum to compare")
        Z = self.space.features
        m = int(np.count_nonzero(self.positive))
        work = _MOST_ROUNDS * (len(Z) * Z.shape[1] + m * (len(Z) - m))
        if work > _MOST_WORK or Z.shape[1] > 1_000:
            raise UnverifiableError(
                f"{len(Z):,} rows of {Z.shape[1]:,} features would take an independent solver hours"
            )
        groups = np.array_split(np.arange(m), min(m, _MOST_GROUPS))
        cuts = _Cuts(self, Z, groups)
        best, best_scores = np.inf, scores
        bound, at = 0.0, scores
        for k in range(_MOST_ROUNDS):
            cuts.add(at)
            found = self.run(cuts.programme())
            bound = max(bound, found.bound)
            at = Z @ found.u[: Z.shape[1]]
            objective = self.value(at, 0.0, float(found.u[: Z.shape[1]] @ found.u[: Z.shape[1]]))
            if objective < best:
                best, best_scores = objective, at
            self.tell("cutting planes", (k + 1) / _MOST_ROUNDS)
            if best - bound <= _NEAR * abs(best):
                break
        route = f"cutting planes by exhaustive search, cvxopt for each of {k + 1} programmes"
        return Solved(route, best, bound, best_scores)


class TightRange(StructuralRange):
    """The same for the tight surrogate, which looks at the negatives inside the range alone."""

    @property
    def is_convex(self) -> bool:
        alpha, _ = self.range
        return alpha == 0.0 or self.params["surrogate"] == "convex"

    @cached_property
    def parts(self) -> tuple[Array, Array]:
        n = int(np.count_nonzero(~self.positive))
        alpha, beta = self.range
        return inside(n, alpha, beta), inside(n, 0.0, beta)

    def _risk(self, scores: Array) -> float:
        if self.is_convex:
            return super()._risk(scores)
        # The difference of convex functions charges the pairs inside the range alone.
        s, t = self.pairs_of(scores)
        g, ranked = self.parts[0], -np.sort(-t)
        losses = np.maximum(1.0 - s[:, None] + ranked[None, :], 0.0) * g[None, :]
        return float(losses.astype(np.longdouble).sum()) / self.total


def inside(n: int, alpha: float, beta: float) -> Array:
    """Give the part of each of n negatives that lies inside a range: n times its length there."""
    edges = np.arange(n + 1)
    length = np.minimum(edges[1:], n * beta) - np.maximum(edges[:-1], n * alpha)
    return np.asarray(np.maximum(length, 0.0))


class _Cuts:
    """Planes below the risk: one for each group of positives and round."""

    def __init__(self, problem: StructuralRange, Z: Array, groups: list[Index]) -> None:
        self._problem, self._groups = problem, groups
        self._p, self._n = Z[problem.positive], Z[~problem.positive]
        L, r = len(groups), Z.shape[1]
        # A risk is at least 0.
        self._slopes = [np.zeros((L, r))]
        self._heights = [np.zeros(L)]

    def add(self, scores: Array) -> None:
        """Add the planes that touch the risk at some scores."""
        problem = self._problem
        _, places, order = problem.worst(scores)
        g, f = problem.parts
        weighted, mass = f[:, None] * self._n[order], np.append(0.0, np.cumsum(f))
        above = np.vstack([np.zeros(weighted.shape[1]), np.cumsum(weighted, axis=0)])
        gained = np.append(0.0, np.cumsum(g))
        slopes = above[places] - mass[places, None] * self._p
        parts = self._groups
        self._slopes.append(np.array([slopes[i].sum(axis=0) for i in parts]) / problem.total)
        self._heights.append(np.array([gained[places[i]].sum() for i in parts]) / problem.total)

    def programme(self) -> Programme:
        """Minimise 1/2 |w|^2 + C times the sum of the groups' slacks, over all planes."""
        r, L, rounds = self._p.shape[1], len(self._groups), len(self._slopes)
        H = np.zeros((r + L, r + L))
        H[:r, :r] = np.eye(r)
        q = np.append(np.zeros(r), np.full(L, self._problem.C))
        E = np.hstack([-np.vstack(self._slopes), np.tile(np.eye(L), (rounds, 1))])
        none = np.zeros((0, r + L))
        return Programme(
            H, q, none, np.zeros(0), np.zeros(0), False, E, np.concatenate(self._heights)
        )
