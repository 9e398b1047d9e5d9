"""The support vector machine with a kernel: decomposition, then Newton's method on the free rows.

Minimises 1/2 |f|^2 + sum_i c_i (1 - y_i (f_i + b))_+ by its dual,
min 1/2 beta^T K beta - y^T beta subject to sum_i beta_i = 0, 0 <= y_i beta_i <= c_i. Steps on pairs
of rows within a small working set find which rows are at a bound; one system of equations then
gives the coefficients of all others, where steps on pairs would take most of their time.

Symbols: beta coefficients of the rows, K kernel matrix, f = K beta scores without the constant b,
v = y - f. At the optimum v_i >= b where beta_i can fall and v_i <= b where it can rise; the largest
v of rows that can rise less the smallest of rows that can fall is the violation. Free rows are
those that can do both.

Joachims (1999), Making large-scale SVM learning practical; Fan, Chen and Lin (2005), Working set
selection using second order information; Scheinberg (2006), An efficient implementation of an
active set method for SVMs.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.compiled import kernel
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.linalg import cholesky, chunks
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.solvers import Solution

_USUAL_ROWS = 256  # of a working set
_MOST_ROWS = 512  # of one that the free rows do not fit in otherwise
_FEW_ROWS = 400  # so many make one working set
_INNER_SHARE = 0.1  # of the violation, to which a working set is solved
_STEPS_PER_SET = 20_000  # some hundredths of a second
_FIRST_TRY = 1e-3  # violation at which Newton's method is tried
_NEXT_TRY = 1e-2  # of the last one, where it failed
_MOST_NEWTON_STEPS = 8
_PATIENCE = 300_000  # steps in which the gap has to fall to this share, or it will not
_LEAST_FALL = 0.9
_FLATNESS = 1e-12  # least curvature along a pair of rows
_PRECISION = float(np.finfo(np.float64).eps)
CACHED_NUMBERS = 125_000_000  # kernel values that are kept: a gigabyte
_ROWS_PER_CHUNK = 64


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class RowCoefficients(Solution):
    """A function in the span of the rows' kernels, with its constant.

    Attributes
    ----------
    coefficients : ndarray of shape (N,)
        beta.
    scores : ndarray of shape (N,)
        f, without the constant.
    b : float
        The constant.
    """

    coefficients: Array
    scores: Array
    b: float


class KernelRows:
    """Rows of a kernel matrix, computed when they are first used.

    The oldest are dropped, all at once, where they exceed a gigabyte.

    Parameters
    ----------
    X : ndarray of shape (N, d)
    kernel : Kernel
    pause : callable
        Called between chunks of rows.
    """

    def __init__(self, X: Array, kernel: Kernel, pause: Callable[[], None]) -> None:
        self._X, self._values, self._pause = X, kernel.against(X), pause
        self.capacity = min(len(X), max(CACHED_NUMBERS // len(X), 2 * _MOST_ROWS))
        self.values = np.empty((self.capacity, len(X)))
        self.place = np.full(len(X), -1)
        self._used = 0

    def load(self, rows: Index) -> None:
        """Compute the values of rows that are missing; at most ``capacity`` of them."""
        missing = rows[self.place[rows] < 0]
        if self._used + len(missing) > self.capacity:
            self.place[:], self._used, missing = -1, 0, rows
        for part in chunks(len(missing), most=_ROWS_PER_CHUNK):
            some = missing[part]
            here = slice(self._used, self._used + len(some))
            self._values(self._X[some], self.values[here])
            self.place[some], self._used = np.arange(here.start, here.stop), here.stop
            self._pause()

    def block(self, rows: Index) -> Array:
        """Return the kernel values among some rows, shape (len(rows), len(rows))."""
        self.load(rows)
        return _block(self.values, self.place, rows)

    def subtract(self, rows: Index, coefficients: Array, v: Array) -> None:
        """Subtract from v the scores of a sum of kernels of rows."""
        for part in chunks(len(rows), most=_MOST_ROWS):
            self.load(rows[part])
            _subtract(self.values, self.place, rows[part], coefficients[part], v)


def solve_kernel_hinge(
    rows: KernelRows,
    positive: Mask,
    costs: Array,
    *,
    tol: float,
    monitor: Monitor,
    scorer: Callable[[Array], Scorer],
) -> RowCoefficients:
    """Solve until the violation is below ``tol`` or rounding, steps gain little, or a stop.

    Parameters
    ----------
    rows : KernelRows
    positive : ndarray of bool, shape (N,)
    costs : ndarray of shape (N,)
        c, positive.
    tol : float
        Violation at which to end, and so the error of the scores, whose margin is 1.
    monitor : Monitor
    scorer : callable
        Makes a scorer from beta; called only if the monitor's listener wants one.

    Raises
    ------
    Stopped
        If the monitor stops it before there is a function.
    """
    state, steps, iteration = _State(rows, positive, costs), 0, 0
    attempt, tried = _FIRST_TRY, 0
    patience, checked, gap = max(_PATIENCE, 20 * len(costs)), 0, np.inf
    try:
        while (violation := state.violation) > max(tol, state.rounding):
            if violation <= attempt or steps - tried > state.steps_per_system:
                attempt = min(attempt, _NEXT_TRY * violation) if attempt > tol else 0.0
                tried = steps
                if state.solve_free_rows(tol / 2):
                    break
                continue
            if steps - checked > patience:
                before, gap, checked = gap, min(gap, state.measure().gap), steps
                if gap > _LEAST_FALL * before:
                    break
            steps += state.solve_working_set(max(_INNER_SHARE * violation, tol / 2))
            iteration += 1
            if monitor.has_callback:
                found = state.measure()
                live = functools.partial(scorer, found.coefficients)
                if monitor.step(iteration, found.objective, gap=found.gap, scorer=live):
                    break
    except Stopped:
        if not state.beta.any():
            raise
    if not monitor.stopped:
        state.recompute()
    return dataclasses.replace(state.measure(), n_iter=iteration)


class _State:
    """The coefficients and what is left of the labels."""

    def __init__(self, rows: KernelRows, positive: Mask, costs: Array) -> None:
        self._rows, self._costs = rows, costs
        self._y = np.where(positive, 1.0, -1.0)
        self._low, self._high = np.where(positive, 0.0, -costs), np.where(positive, costs, 0.0)
        self.beta, self._v = np.zeros(len(costs)), self._y.copy()
        self._working, self._size = np.empty(0, np.intp), _USUAL_ROWS
        self._largest = 0.0  # kernel value of a row with itself

    @property
    def _ends(self) -> tuple[Array, Array]:
        """V where beta can rise, else -inf; v where it can fall, else inf."""
        rising = np.where(self.beta < self._high, self._v, -np.inf)
        return rising, np.where(self.beta > self._low, self._v, np.inf)

    @property
    def _free(self) -> Mask:
        return (self.beta > self._low) & (self.beta < self._high)

    @property
    def violation(self) -> float:
        rising, falling = self._ends
        return float(rising.max() - falling.min())

    @property
    def rounding(self) -> float:
        """How precisely the scores are known."""
        return _PRECISION * self._largest * float(np.abs(self.beta).sum())

    @property
    def steps_per_system(self) -> float:
        """How many steps take as long as the system of the free rows, and not nothing."""
        free = np.count_nonzero(self._free)
        return max(float(free) ** 3 / (3 * _MOST_ROWS), _STEPS_PER_SET)

    def measure(self) -> RowCoefficients:
        """Return the function as it stands, with its duality gap."""
        rising, falling = self._ends
        free = np.isfinite(rising) & np.isfinite(falling)
        b = float(self._v[free].mean() if free.any() else (rising.max() + falling.min()) / 2)
        scores = self._y - self._v
        square = float(self.beta @ scores)
        hinge = float(self._costs @ np.maximum(1.0 - self._y * (scores + b), 0.0))
        objective, bound = square / 2 + hinge, float(np.abs(self.beta).sum()) - square / 2
        return RowCoefficients(
            coefficients=self.beta.copy(),
            scores=scores,
            b=b,
            objective=objective,
            gap=max(0.0, objective - max(bound, 0.0)),
        )

    def solve_working_set(self, tol: float) -> int:
        """Minimise over some rows, the others fixed; return the number of steps."""
        self._working = self._choose()
        few = np.count_nonzero(self._free) <= _USUAL_ROWS
        self._size = _USUAL_ROWS if few else _MOST_ROWS
        self._rows.load(self._working)
        values, place = self._rows.values, self._rows.place
        own = np.abs(values[place[self._working], self._working])
        self._largest = max(self._largest, float(own.max()))
        bounds = self._low, self._high
        return _descend(values, place, self._working, self._v, self.beta, *bounds, tol)

    def _choose(self) -> Index:
        """Choose rows of the largest violations, and rows of the last working set."""
        if len(self.beta) <= _FEW_ROWS:
            return np.arange(len(self.beta))
        if not len(self._working):
            halves = (np.flatnonzero(self._y == sign) for sign in (1.0, -1.0))
            count = self._size // 2
            return np.concatenate([half[:: max(1, -(-len(half) // count))] for half in halves])
        (rising, falling), count = self._ends, self._size // 4
        middle = (rising.max() + falling.min()) / 2
        up = np.argpartition(-rising, count - 1)[:count]
        down = np.argpartition(falling, count - 1)[:count]
        taken = np.zeros(len(self.beta), dtype=bool)
        taken[up[rising[up] > middle]] = taken[down[falling[down] < middle]] = True
        chosen, last = np.flatnonzero(taken), self._working[~taken[self._working]]
        bound = (self.beta[last] == self._low[last]) | (self.beta[last] == self._high[last])
        last = last[np.argsort(bound, kind="stable")]
        return np.concatenate([chosen, last[: self._size - len(chosen)]])

    def solve_free_rows(self, tol: float) -> bool:
        """Solve for all free rows at once; return whether that led to the optimum.

        Rows that would pass a bound are fixed there, and rows that should leave theirs are freed,
        until no such rows are left. While they get fewer, few steps are needed.
        """
        beta, v, left = self.beta.copy(), self._v.copy(), len(self.beta)
        free = np.flatnonzero(self._free)
        for _ in range(_MOST_NEWTON_STEPS):
            if not 0 < len(free) <= self._rows.capacity:
                return False
            system = cholesky(self._rows.block(free))
            from_v, from_one = system.substitute(np.stack([v[free], np.ones(len(free))], axis=1)).T
            b = float((from_v.sum() + beta.sum()) / from_one.sum())
            aim = beta[free] + from_v - b * from_one
            moved = np.clip(aim, self._low[free], self._high[free])
            self._rows.subtract(free, moved - beta[free], v)
            beta[free] = moved
            wrong = (v > b + tol) & (beta < self._high) | (v < b - tol) & (beta > self._low)
            stays = aim == moved
            if not wrong.any() and stays.all():
                self.beta, self._v = beta, v
                return True
            wrong[free] = False
            freed = np.flatnonzero(wrong)
            before, left = left, len(freed) + int(np.count_nonzero(~stays))
            if not 0 < left < before:
                return False
            free = np.sort(np.concatenate([free[stays], freed]))
        return False

    def recompute(self) -> None:
        """Compute the scores from the coefficients, without the rounding of all steps."""
        used = np.flatnonzero(self.beta)
        v = self._y.copy()
        self._rows.subtract(used, self.beta[used], v)
        self._v = v


@kernel
def _block(values: Array, place: Index, rows: Index) -> Array:
    block = np.empty((len(rows), len(rows)))
    for a in range(len(rows)):
        line = values[place[rows[a]]]
        for b in range(len(rows)):
            block[a, b] = line[rows[b]]
    return block


@kernel
def _subtract(values: Array, place: Index, rows: Index, coefficients: Array, v: Array) -> None:
    for a in range(len(rows)):
        coefficient, line = coefficients[a], values[place[rows[a]]]
        if coefficient != 0.0:
            for t in range(len(v)):
                v[t] -= coefficient * line[t]


@kernel
def _descend(
    values: Array,
    place: Index,
    rows: Index,
    v: Array,
    beta: Array,
    low: Array,
    high: Array,
    tol: float,
) -> int:
    """Move pairs of the rows, each time the pair that gains most with the largest violator."""
    K, x, w, own = _block(values, place, rows), beta[rows], v[rows], np.empty(len(rows))
    floor, ceiling = low[rows], high[rows]
    rising, falling, gain = np.empty(len(rows)), np.empty(len(rows)), np.empty(len(rows))
    for t in range(len(rows)):
        own[t] = K[t, t]
    # Each loop does one thing, so that the compiler makes vector operations of it.
    for step_count in range(_STEPS_PER_SET):  # noqa: B007  (returned)
        for t in range(len(rows)):
            rising[t] = w[t] if x[t] < ceiling[t] else -np.inf
        for t in range(len(rows)):
            falling[t] = -w[t] if x[t] > floor[t] else -np.inf
        i = _place_of_largest(rising)
        top, mine = rising[i], K[i]
        if not top + falling[_place_of_largest(falling)] > tol:
            break
        for t in range(len(rows)):
            apart = max(top + falling[t], 0.0)
            gain[t] = apart * apart / max(own[i] + own[t] - 2.0 * mine[t], _FLATNESS)
        j = _place_of_largest(gain)
        up, down, others = ceiling[i] - x[i], x[j] - floor[j], K[j]
        step = (top - w[j]) / max(own[i] + own[j] - 2.0 * mine[j], _FLATNESS)
        step = min(step, up, down)
        x[i] = ceiling[i] if step == up else x[i] + step
        x[j] = floor[j] if step == down else x[j] - step
        for t in range(len(rows)):
            w[t] -= step * (mine[t] - others[t])
    _subtract(values, place, rows, x - beta[rows], v)
    beta[rows] = x
    return step_count


@kernel
def _place_of_largest(values: Array) -> int:
    best = 0
    for t in range(1, len(values)):
        if values[t] > values[best]:
            best = t
    return best
