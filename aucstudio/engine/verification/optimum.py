"""Independent solutions of convex problems: cutting planes by cvxopt, Newton by scipy.

Symbols: u unknowns, shape (r,); H (r, r) and q (r,) of the penalty 1/2 u'Hu + q'u.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from scipy import optimize

from aucstudio.engine.arrays import Array
from aucstudio.engine.verification.counting import Report, UnverifiableError

_MOST_ROUNDS = 100
_NEAR = 1e-7
_OPTIONS = {
    "show_progress": False,
    "abstol": 1e-14,
    "reltol": 1e-11,
    "feastol": 1e-10,
    "refinement": 2,
}

Cuts = Callable[[Array], tuple[Array, Array]]
"""Return slopes (L, r) and heights (L,) of planes that touch the L parts of a risk at u."""


@dataclasses.dataclass(frozen=True, eq=False)
class Optimum:
    """A solution, a lower bound on the optimum, and how both were found."""

    u: Array
    bound: float
    route: str


def by_cutting_planes(
    H: Array, q: Array, cuts: Cuts, report: Report, rows: tuple[Array, Array] | None = None
) -> Optimum:
    """Minimise ``1/2 u'Hu + q'u + risk(u)``, subject to ``E u >= f`` if rows = (E, f) are given.

    The risk is a sum of L convex parts of at least 0, each bounded below by planes; every round
    solves the problem of the planes so far, which bounds the whole one from below.

    Raises
    ------
    UnverifiableError
    """
    r = len(q)
    E, f = rows = rows or (np.zeros((0, r)), np.zeros(0))
    u, best_u = np.zeros(r), np.zeros(r)
    best, bound = np.inf, -np.inf
    planes: list[tuple[Array, Array]] = []
    for k in range(_MOST_ROUNDS):
        slopes, heights = cuts(u)
        objective = float(u @ H @ u / 2 + q @ u + (heights + slopes @ u).sum())
        if objective < best and (E @ u >= f - 1e-7).all():
            best, best_u = objective, u
        if np.isfinite(best) and best - bound <= _NEAR * abs(best):
            break
        planes.append((slopes, heights))
        report("cutting planes", k / _MOST_ROUNDS)
        u, low = _lowest_of_planes(H, q, rows, planes)
        bound = max(bound, low)
    return Optimum(best_u, bound, f"cutting planes, cvxopt for each of {k} programmes")


def _lowest_of_planes(
    H: Array, q: Array, rows: tuple[Array, Array], planes: list[tuple[Array, Array]]
) -> tuple[Array, float]:
    """Minimise over u and one slack for each part; return u and the dual objective."""
    from cvxopt import matrix, solvers

    r, (E, f), L = len(q), rows, len(planes[0][1])
    slopes, heights = (np.concatenate(part) for part in zip(*planes, strict=True))
    size = H.diagonal() + np.einsum("ij,ij->j", slopes, slopes)
    scale = 1 / np.sqrt(np.where(size > 0, size, 1.0))
    above = np.hstack([slopes * scale, -np.tile(np.eye(L), (len(planes), 1))])
    G = np.vstack(
        [
            above,
            np.hstack([np.zeros((L, r)), -np.eye(L)]),
            np.hstack([-E * scale, np.zeros((len(f), L))]),
        ]
    )
    h = np.concatenate([-heights, np.zeros(L), -f])
    P = np.zeros((r + L, r + L))
    P[:r, :r] = scale[:, None] * H * scale
    parts = P, np.append(scale * q, np.ones(L)), G, h
    try:
        done = solvers.qp(*(matrix(part) for part in parts), options=_OPTIONS)
    except (ArithmeticError, ValueError) as error:
        raise UnverifiableError(f"cvxopt ended with {type(error).__name__}: {error}") from error
    value, low = done["primal objective"], done["dual objective"]
    if value is None or low is None or value - low > 1e-6 * max(abs(value), 1e-300):
        raise UnverifiableError("cvxopt found no optimum")
    return scale * np.array(done["x"]).ravel()[:r], float(low)


def by_newton(
    H: Array,
    loss: Callable[[Array], tuple[float, Array, Array]],
    A: Array,
    report: Report,
) -> Optimum:
    """Minimise ``1/2 u'Hu + loss(A u)`` for a smooth loss, which returns value, slope, curvature.

    H is diagonal or positive definite; where it has a row of zeros, as for a constant, the slope
    along it vanishes at the solution. The bound follows from the curvature of the penalty.
    """

    def value(u: Array) -> float:
        report("solving again", 0.5)
        return float(u @ H @ u / 2 + loss(A @ u)[0])

    def slope(u: Array) -> Array:
        return np.asarray(H @ u + loss(A @ u)[1] @ A)

    def curvature(u: Array) -> Array:
        return np.asarray(H + A.T @ (loss(A @ u)[2][:, None] * A))

    start = np.zeros(len(H))
    scale = float(np.abs(slope(start)).max()) or 1.0
    u = np.asarray(
        optimize.minimize(
            value,
            start,
            jac=slope,
            hess=curvature,
            method="trust-exact",
            options={"gtol": 1e-11 * scale, "maxiter": 500},
        ).x
    )
    left, penalised = slope(u), H.diagonal() > 0
    inner, outer = left[penalised], left[~penalised]
    lowered = inner @ np.linalg.solve(H[np.ix_(penalised, penalised)], inner) / 2
    lowered += np.abs(outer) @ (1.0 + np.abs(u[~penalised]))
    return Optimum(u, value(u) - float(lowered), "scipy's trust region")


def least_squares(D: Array, target: Array, strength: float, what: str) -> Optimum:
    """Minimise mean (target - D w)^2 + strength |w|^2, least in norm, by singular values."""
    r = D.shape[1]
    A = np.vstack([D / np.sqrt(len(D)), np.sqrt(strength) * np.eye(r)])
    b = np.concatenate([target / np.sqrt(len(D)), np.zeros(r)])
    w = np.linalg.lstsq(A, b, rcond=None)[0]
    bound = float(np.mean((target - D @ w) ** 2) + strength * (w @ w))
    return Optimum(w, bound, f"least squares of {len(D):,} {what}, by singular values")
