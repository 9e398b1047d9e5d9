"""Convex quadratic programmes of margins, by cvxopt's interior point.

    minimise 1/2 u'Hu + q'u + sum_k c_k loss(t_k - A_k u)   subject to   E u >= f

with the hinge ``(x)_+`` or the square ``(x)_+^2``; each row of A has a slack of its own. cvxopt
takes the steps and judges them; only its linear systems are solved here, slacks eliminated, so
that a programme of K rows in r unknowns costs O(K r^2) a step and O(K r) memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Array = NDArray[np.float64]

_STEPS = 25  # of an interior point, for estimates
_MOST_NUMBERS = 4e6
_MOST_MULTIPLICATIONS = 1e11
_TOLERANCE = 1e-11
_ENOUGH = 1e-6


@dataclasses.dataclass(frozen=True, eq=False)
class Programme:
    """What is to be minimised.

    Attributes
    ----------
    H : ndarray of shape (r, r)
    q : ndarray of shape (r,)
    A : ndarray of shape (K, r)
    t, c : ndarray of shape (K,)
    squared : bool
    E, f : ndarray of shape (L, r) and (L,)
    constant : float
        Added to the objective.
    """

    H: Array
    q: Array
    A: Array
    t: Array
    c: Array
    squared: bool
    E: Array
    f: Array
    constant: float = 0.0


@dataclasses.dataclass(frozen=True, eq=False)
class Optimum:
    """What cvxopt found.

    Attributes
    ----------
    u : ndarray of shape (r,)
    objective, bound : float
        Primal and dual objective.
    """

    u: Array
    objective: float
    bound: float


class NotSolvedError(ArithmeticError):
    """cvxopt ended without a solution."""


def most_rows(unknowns: int) -> int:
    """Say how many rows with a slack a programme may have here."""
    r = max(1, unknowns)
    return int(min(_MOST_NUMBERS / r, _MOST_MULTIPLICATIONS / _STEPS / r**2))


def solve(programme: Programme, tell: Callable[[str, float], None]) -> Optimum:
    """Minimise; ``tell`` hears of every step.

    Raises
    ------
    NotSolvedError
    """
    from cvxopt import matrix, solvers

    scale, p = _scaled(programme)
    system = _System(p, tell)
    r, K = p.A.shape[1], len(p.A)
    q = matrix(np.concatenate([p.q, np.zeros(K) if p.squared else p.c]))
    h = matrix(np.concatenate([-p.t, np.zeros(0 if p.squared else K), -p.f]))
    options = {"show_progress": False, "abstol": 1e-14, "reltol": _TOLERANCE, "feastol": 1e-10}
    options |= {"maxiters": 100, "refinement": 2}
    try:
        done = solvers.coneqp(
            system.quadratic,
            q,
            system.constraints,
            h,
            {"l": h.size[0], "q": [], "s": []},
            kktsolver=system.factor,
            options=options,
        )
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
        raise NotSolvedError(f"cvxopt ended with {type(error).__name__}: {error}") from error
    value, bound = (done[name] for name in ("primal objective", "dual objective"))
    near = value is not None and bound is not None
    if not near or value - bound > _ENOUGH * max(abs(value), 1e-300):
        raise NotSolvedError("cvxopt came to no optimum")
    u = scale * np.array(done["x"]).ravel()[:r]
    return Optimum(u, float(value) + p.constant, float(bound) + p.constant)


def _scaled(p: Programme) -> tuple[Array, Programme]:
    """Give the programme in unknowns of ordinary size, and what makes the unknowns of them."""
    size = p.H.diagonal() + p.c @ (p.A * p.A) + np.einsum("ij,ij->j", p.E, p.E)
    scale = 1 / np.sqrt(np.where(size > 0, size, 1.0))
    H = scale[:, None] * p.H * scale
    return scale, dataclasses.replace(p, H=H, q=scale * p.q, A=p.A * scale, E=p.E * scale)


class _System:
    """The programme as cvxopt asks for it: x = (u, slacks), rows z = (margins, slacks, E)."""

    def __init__(self, programme: Programme, tell: Callable[[str, float], None]) -> None:
        self._p, self._tell = programme, tell
        self._r, self._K = programme.A.shape[1], len(programme.A)
        self._steps = 0
        self._curve = 2 * programme.c if programme.squared else np.zeros(self._K)

    def _parts(self, z: Array) -> tuple[Array, Array, Array]:
        """Cut rows of constraints into margins, slacks and E; squares have no rows of slacks."""
        slacks = 0 if self._p.squared else self._K
        return z[: self._K], z[self._K : self._K + slacks], z[self._K + slacks :]

    def quadratic(self, x: Any, y: Any, alpha: float = 1.0, beta: float = 0.0) -> None:
        """Y := alpha P x + beta y."""
        u, slack = _view(x)[: self._r], _view(x)[self._r :]
        into = _view(y)
        into *= beta
        into[: self._r] += alpha * (self._p.H @ u)
        into[self._r :] += alpha * self._curve * slack

    def constraints(
        self, x: Any, y: Any, alpha: float = 1.0, beta: float = 0.0, trans: str = "N"
    ) -> None:
        """Y := alpha G x + beta y, or the same with G'."""
        p, given, into = self._p, _view(x), _view(y)
        into *= beta
        if trans == "N":
            u, slack = given[: self._r], given[self._r :]
            margins, slacks, hard = self._parts(into)
            margins -= alpha * (p.A @ u + slack)
            if not p.squared:
                slacks -= alpha * slack
            hard -= alpha * (p.E @ u)
            return
        margins, slacks, hard = self._parts(given)
        into[: self._r] -= alpha * (margins @ p.A + hard @ p.E)
        into[self._r :] -= alpha * margins
        if not p.squared:
            into[self._r :] -= alpha * slacks

    def factor(self, W: Any) -> Callable[[Any, Any, Any], None]:
        """Factor the system of one scaling, and give what solves it."""
        self._steps += 1
        self._tell("solving again", 1.0 - 0.9**self._steps)
        p = self._p
        d = _view(W["d"]).copy()
        of_margin, of_slack, of_hard = (1 / part**2 for part in self._parts(d))
        total = self._curve + of_margin
        if not p.squared:
            total = total + of_slack
        left = of_margin * (1 - of_margin / total)
        S = p.H + p.A.T @ (left[:, None] * p.A) + p.E.T @ (of_hard[:, None] * p.E)
        factor = _factored(S)

        def solved(x: Any, y: Any, z: Any) -> None:
            u, slack = _view(x)[: self._r], _view(x)[self._r :]
            margins, slacks, hard = self._parts(_view(z))
            right = slack - of_margin * margins
            if not p.squared:
                right = right - of_slack * slacks
            share = of_margin * (margins + right / total)
            pull = u - share @ p.A - (of_hard * hard) @ p.E
            du = linalg.cho_solve(factor, pull, check_finite=False)
            along = p.A @ du
            dslack = (right - of_margin * along) / total
            u[:], slack[:] = du, dslack
            d_margin, d_slack, d_hard = self._parts(d)
            margins[:] = -(along + dslack + margins) / d_margin
            if not p.squared:
                slacks[:] = -(dslack + slacks) / d_slack
            hard[:] = -(p.E @ du + hard) / d_hard

        return solved


def _factored(S: Array) -> tuple[Array, bool]:
    size = float(np.abs(S.diagonal()).max()) or 1.0
    for power in (-np.inf, *range(-16, -6)):
        try:
            factor: tuple[Array, bool] = linalg.cho_factor(
                S + 10.0**power * size * np.eye(len(S)), lower=True, check_finite=False
            )
        except np.linalg.LinAlgError:
            continue
        return factor
    raise np.linalg.LinAlgError("the system is singular")


def _view(x: Any) -> Array:
    """See a cvxopt matrix as a flat array, without a copy."""
    seen: Array = np.frombuffer(x, dtype=np.float64) if x.size[0] else np.zeros(0)
    return seen
