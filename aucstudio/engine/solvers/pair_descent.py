"""Coordinate descent for the box-constrained dual of a pairwise hinge problem under a kernel.

Solves min_a 1/2 a^T W Q W a - rho 1^T W a subject to 0 <= a <= c, with Q = A K A^T never formed: A
is the incidence matrix of :mod:`aucstudio.engine.losses.pairs`, W the weights of the pairs, K the
kernel matrix of the rows that take part. Its primal is
min_f 1/2 |f|^2 + c sum_pairs W (rho - M)_+ with f = sum_l beta_l k(x_l, .). There is no equality
constraint, so that a single multiplier can move.

A visit to a pair takes O(1) time, a move O(N); memory is K and O(pairs). Descent stalls where a
very large c meets an ill-conditioned K. So it gives up after as long as an interior point would
have taken, and hands over to that: at worst, the choice costs about twice the time.

Symbols: a multipliers, beta = A^T W a coefficients of the rows, u weights of the rows, s = K beta
their scores, M = A s; a pair (i, j) has slope rho - (s_i - s_j) and curvature
q = k_ii - 2 k_ij + k_jj in the dual; P, P - gap primal and dual value.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from aucstudio.engine.arrays import Array, Index
from aucstudio.engine.compiled import kernel
from aucstudio.engine.linalg import chunks, kernel_factor, product
from aucstudio.engine.losses.pairs import Pairs
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.solvers.pair_interior_point import PairSolution, solve_box_qp

MakeScorer = Callable[[Array], Scorer]

# Work is counted in steps along a row of K.
_WORK_PER_VISIT = 8
WORK_PER_SLICE = 3e7  # at most; some 20 to 50 ms
_GROWTH = 1.2  # of slices: few looks at the certificate, and little work after it holds
_WORK_PER_REFRESH = 8  # for each entry of K: computing all scores afresh then adds an eighth
_LEAST_LIMIT = 3e8
_SHARE = 0.1  # of the last sweep's largest gain: a smaller gain waits for a later sweep
_FLATNESS = 1e-15  # of the largest kernel value: a curvature as small as this is rounding
_PAIRS_PER_BLOCK = 1 << 18


def solve_pair_descent(
    pairs: Pairs,
    K: Array,
    c: float,
    *,
    margin: float = 1.0,
    tol: float = 1e-6,
    monitor: Monitor,
    scorer: MakeScorer,
    limit: float | None = None,
) -> PairSolution:
    """Solve by sweeps that move a multiplier where much is to be gained, or else another way.

    Parameters
    ----------
    pairs : Pairs
        Over the N rows of K, at least one pair.
    K : ndarray of shape (N, N)
        Positive semidefinite, in C order; overwritten if the interior point takes over.
    c : float
        Constant of one pair's loss.
    margin : float
        rho, positive.
    tol : float
        Stop at gap <= tol * objective.
    monitor : Monitor
    scorer : callable
        Makes a scorer from beta; called only if the monitor's listener wants one.
    limit : float, optional
        Steps along rows of K after which to give up. By default N^3: an interior point makes some
        20 N^3 multiplications in all, but in blocks, which are about 20 times as quick.

    Returns
    -------
    PairSolution
        The iterate of the smallest objective, whether or not a stop or rounding came before the
        tolerance. Its ``n_iter`` counts computations of the certificate: one after each slice of
        work, or after an interior point's step.
    """
    limit = max(_LEAST_LIMIT, float(len(K)) ** 3) if limit is None else limit
    begin = Descent(pairs, K, c, margin, tol, functools.partial(monitor.stage, "pairs"))
    first = _descend(begin, limit, monitor, scorer)
    if first.converged or monitor.stopped:
        return first
    onward = _Onward(monitor, first, scorer)
    try:
        second = _solve_inside(pairs, K, c, margin, tol, onward, scorer)
    except Stopped:
        return first
    return _joined(first, second, tol)


def _solve_inside(
    pairs: Pairs,
    K: Array,
    c: float,
    margin: float,
    tol: float,
    monitor: Monitor,
    scorer: MakeScorer,
) -> PairSolution:
    """Solve by the interior point, on a factor of the kernel matrix."""
    monitor.stage("factorising")
    factor = kernel_factor(K)
    done = solve_box_qp(
        pairs,
        factor.F,
        c,
        margin=margin,
        tol=tol,
        monitor=monitor,
        scorer=lambda w, beta: scorer(factor.represent(w, beta)),
    )
    accurate = factor.represent(done.weights, done.coefficients)
    return dataclasses.replace(done, coefficients=accurate)


def _descend(descent: Descent, limit: float, monitor: Monitor, scorer: MakeScorer) -> PairSolution:
    pause = functools.partial(monitor.stage, "scores")
    iteration, done, stopped = 0, False, False
    while not (done or stopped or descent.at_rest or descent.work > limit):
        descent.advance()
        iteration += 1
        try:
            best = descent.measure(pause if descent.is_stale else None)
            if best.converged and not descent.is_fresh:
                best = descent.measure(pause)
        except Stopped:
            break
        done = best.converged
        live = functools.partial(scorer, best.coefficients)
        stopped = monitor.step(iteration, best.objective, gap=best.gap, scorer=live)
    return dataclasses.replace(descent.best, n_iter=iteration)


class Descent:
    """The iterate, its scores, and the best of the iterates seen."""

    def __init__(
        self,
        pairs: Pairs,
        K: Array,
        c: float,
        margin: float,
        tol: float,
        pause: Callable[[], None],
    ) -> None:
        self._pairs, self._K, self._c, self._margin, self._tol = pairs, K, c, margin, tol
        self._i, self._j = pairs.rows(np.arange(pairs.count))
        self._u = pairs.row_weights
        self._q = _curvatures(K, self._i, self._j, pause)
        self._a, self._s = np.zeros(pairs.count), np.zeros(len(K))
        self._walk = np.zeros(3)
        self.best = PairSolution(multipliers=self._a.reshape(pairs.shape), coefficients=self._s)
        self._bound = 0.0
        self._per_refresh = _WORK_PER_REFRESH * (K.size + _WORK_PER_VISIT * pairs.count)
        self._slice = min(WORK_PER_SLICE, self._per_refresh)
        self.work = self._fresh_at = 0.0
        self.at_rest = False

    @property
    def is_stale(self) -> bool:
        """Whether it is time to rid the scores of what their updates have lost to rounding."""
        return self.at_rest or self.work - self._fresh_at >= self._per_refresh

    @property
    def is_fresh(self) -> bool:
        """Whether the scores were computed from the present multipliers themselves."""
        return self.work == self._fresh_at

    def advance(self) -> None:
        """Do one slice of work."""
        problem = self._K, self._i, self._j, self._u, self._q, self._margin, self._c
        left = _sweep(*problem, self._a, self._s, self._walk, self._slice)
        self.work += self._slice - left
        self.at_rest = left > 0.0
        self._slice = min(WORK_PER_SLICE, _GROWTH * self._slice)

    def measure(self, refresh: Callable[[], None] | None) -> PairSolution:
        """Return the best iterate so far with its certificate.

        Given ``refresh``, the scores are computed afresh, and it is called between blocks.
        """
        pairs, a = self._pairs, self._a.reshape(self._pairs.shape)
        beta = pairs.adjoint(a)
        if refresh is not None:
            self._refresh(beta, refresh)
        square, hinge = float(beta @ self._s), 0.0
        for part in pairs.parts():
            short = self._margin - pairs.margins(self._s, part)
            hinge += pairs.total(np.maximum(short, 0.0), part)
        objective = 0.5 * square + self._c * hinge
        self._bound = max(self._bound, self._margin * pairs.total(a) - 0.5 * square)
        if objective < self.best.objective:
            self.best = PairSolution(multipliers=a.copy(), coefficients=beta, objective=objective)
        gap = max(self.best.objective - self._bound, 0.0)
        needed = self._tol * self.best.objective
        self.best = dataclasses.replace(self.best, gap=gap, needed=needed)
        return self.best

    def _refresh(self, beta: Array, pause: Callable[[], None]) -> None:
        self._s, self._fresh_at = product(self._K, beta, pause), self.work


def _curvatures(K: Array, i: Index, j: Index, pause: Callable[[], None]) -> Array:
    """Return q of each pair, above 0: a pair without curvature then goes to a bound in one move."""
    diagonal, q = K.diagonal(), np.empty(len(i))
    floor = max(_FLATNESS * float(diagonal.max()), float(np.finfo(np.float64).tiny))
    for part in chunks(len(i), most=_PAIRS_PER_BLOCK):
        first, second = i[part], j[part]
        q[part] = diagonal[first] + diagonal[second] - 2.0 * K[first, second]
        pause()
    np.maximum(q, floor, out=q)
    return q


@kernel
def _sweep(
    K: Array,
    i: Index,
    j: Index,
    u: Array,
    q: Array,
    margin: float,
    c: float,
    a: Array,
    s: Array,
    walk: Array,
    work: float,
) -> float:
    """Walk round and round the pairs; move a multiplier to its best place if that gains enough.

    ``walk`` holds where to go on, the gain that is enough, and the largest gain met in this
    sweep. Returns the work left over: positive only if a whole sweep found nothing to gain.
    """
    p, enough, largest = int(walk[0]), walk[1], walk[2]
    while work > 0.0:
        slope = margin - (s[i[p]] - s[j[p]])
        weight = u[i[p]] * u[j[p]]
        moved = min(max(a[p] + slope / (weight * q[p]), 0.0), c)
        step = weight * (moved - a[p])
        gain = step * (slope - 0.5 * step * q[p])
        largest = max(largest, gain)
        work -= _WORK_PER_VISIT
        if gain > enough:
            a[p] = moved
            upper, lower = K[i[p]], K[j[p]]
            for row in range(len(s)):
                s[row] += step * (upper[row] - lower[row])
            work -= len(s)
        p += 1
        if p == len(a):
            if largest == 0.0:
                break
            p, enough, largest = 0, _SHARE * largest, 0.0
    walk[0], walk[1], walk[2] = p % len(a), enough, largest
    return max(work, 0.0)


class _Onward(Monitor):
    """A second solver's reports, counted on from a first one's and never worse than its result."""

    def __init__(self, monitor: Monitor, first: PairSolution, scorer: MakeScorer) -> None:
        super().__init__()
        self._monitor, self._first, self._scorer = monitor, first, scorer

    def step(
        self,
        iteration: int,
        objective: float,
        *,
        gap: float | None = None,
        total: int | None = None,
        scorer: Callable[[], Scorer] | None = None,
    ) -> bool:
        first = self._first
        if objective >= first.objective:
            scorer = functools.partial(self._scorer, first.coefficients)
        bound = max(first.bound, objective - gap) if gap is not None else first.bound
        best = min(objective, first.objective)
        return self._monitor.step(first.n_iter + iteration, best, gap=best - bound, scorer=scorer)

    def stage(self, name: str, fraction: float | None = None) -> None:
        self._monitor.stage(name, fraction)


def _joined(first: PairSolution, second: PairSolution, tol: float) -> PairSolution:
    """Return the better of two iterates, with the better of their bounds."""
    best = min(first, second, key=lambda solution: solution.objective)
    gap = max(best.objective - max(first.bound, second.bound), 0.0)
    return dataclasses.replace(
        best, gap=gap, needed=tol * best.objective, n_iter=first.n_iter + second.n_iter
    )
