"""Boosting for the partial AUC: one curve per feature, built round by round.

Symbols: F scores; f weak learner, w weights of all of them, Omega their roughness; F_k the part of
feature k; g_i, p_j, r_j as in :mod:`~aucstudio.engine.losses.partial_auc`; u standardised value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aucstudio.engine.arrays import Array, Index, Mask, portions
from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.cost import FEWER_KNOTS, Cost, Work, cost_of
from aucstudio.engine.features.splines import AdditiveScorer, Basis, basis, weighted_scorer
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.losses.partial_auc import Fan, Range, derivatives, fan, smooth_area, widening
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.params import param
from aucstudio.notices import Notice, notice

Pause = Callable[[], None]
Steps = tuple[Index, Array]
Move = tuple[int, float, float]

_SHORT_LIST = 8  # on trial data as good as all, in a small part of the time
_HALVINGS = 8
_LEAST_RISE = 1e-9
_CELLS_PER_BLOCK = 1 << 21


class PAUCBoost(AUCClassifier):
    """Adds one smooth curve per feature; each round takes the one that raises the partial AUC most.

    Minimises ``smoothness * sum_k int F_k''(u)^2 du - pAUC_sigma(F)`` over additive scores
    F(x) = sum_k F_k(x_k), round by round, with ``pAUC_sigma = (1 / (m n)) sum_i g_i [sum_j p_j
    Phi(F(x_j) - F(z_i)) + sum_j r_j]``: the area between the rates alpha and beta, at most
    beta - alpha, with the step function of the pairs inside the range replaced by the normal
    distribution function. ``smoothness`` is the paper's lambda for sigma = 1, without loss of
    generality: sigma only sets the unit of F. u is the feature in standard deviations.

    F_k is a natural cubic spline. For features with up to 10 distinct values it is a step function
    without a penalty. Each round computes the Newton step of every weak learner, at most 1, at the
    present thresholds; where the second derivative has the wrong sign its absolute value is used.
    The 8 most promising steps are evaluated by the objective itself with new thresholds. The best
    one is taken if the objective falls; otherwise the steps are halved, and then the next 8 are
    tried. The first round, where all rows are tied, evaluates +1 and -1 times every learner. The
    objective falls with every round. It is not convex, and there is no certificate: ``dual_gap_``
    is None. Boosting by marker, the objective and its splines are those of the paper; steps and
    acceptance follow our reading of it.

    A missing value adds 0 to F, the mean of every weak learner. Where no learner is better than
    chance in the range, the range is widened to [0, 2 beta] and so on up to [0, 1];
    ``fpr_range_used_`` and ``notes_`` report it.

    Attributes
    ----------
    fpr_range_used_ : tuple of two floats

    References
    ----------
    Komori and Eguchi (BMC Bioinformatics 2010), A boosting method for maximizing the partial area
    under the ROC curve.

    Use when
    --------
    When single features have non-monotonic effects and a range of false-positive rates matters;
    shows one curve per feature.
    """

    fpr_range: tuple[float, float] = param((0.0, 0.1))
    smoothness: float = param(1e-3)
    n_rounds: int = param(100)
    n_knots: int = param(10, "boosting")

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N = positives + negatives
        cells = N * features * max(1, self.n_knots - 1)
        memory = 8.0 * (cells + max(cells, 2 * min(cells, _CELLS_PER_BLOCK)))
        work = Work(numbers=17 * cells + 800 * N, steps=20).times(self.n_rounds)
        return cost_of(N, memory, work, FEWER_KNOTS)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        bases, learners = [], [np.empty((0, len(X)))]
        for k, column in enumerate(X.T):
            monitor.stage("splines", k / X.shape[1])
            bases.append(basis(column, self.n_knots))
            learners.append(bases[-1].pieces(column))
        model = _Model(positive, bases, np.concatenate(learners).T, self.smoothness)
        asked = (float(self.fpr_range[0]), float(self.fpr_range[1]))
        for used in widening(asked):
            end = self._boost(model, used, monitor)
            if model.rounds or monitor.stopped:
                break
        self.fpr_range_used_ = used
        return Fit(
            model.scorer(),
            model.objective,
            n_iter=model.rounds,
            notes=_notes(asked, used, model.rounds, end),
        )

    def _boost(self, model: _Model, fpr_range: Range, monitor: Monitor) -> str:
        """Boost until the end; return the code of the reason if it comes early."""
        model.begin(fpr_range)
        try:
            while model.rounds < self.n_rounds:
                end = model.improve(lambda: monitor.stage("weak learners"))
                if end:
                    return end
                if monitor.step(
                    model.rounds, model.objective, total=self.n_rounds, scorer=model.scorer
                ):
                    break
        except Stopped:
            if not model.rounds:
                raise
        return ""


class _Model:
    """The current additive model: w, F and the objective."""

    def __init__(
        self, positive: Mask, bases: list[Basis], learners: Array, smoothness: float
    ) -> None:
        self._positive, self._bases, self._learners = positive, bases, learners
        self._smoothness = smoothness
        self._starts = np.cumsum([0] + [len(one) for one in bases])
        self._stiff = np.concatenate([np.diag(one.roughness) for one in bases])
        self._w, self._bent = np.zeros((2, len(self._stiff)))  # w and Omega w
        self._F = np.zeros(len(positive))
        self.rounds = 0

    def begin(self, fpr_range: Range) -> None:
        """Choose the range; nothing is ranked yet, and the area is that below the diagonal."""
        self._range = fpr_range
        self._value = (fpr_range[1] ** 2 - fpr_range[0] ** 2) / 2
        self._least_rise = _LEAST_RISE * (fpr_range[1] - fpr_range[0])

    @property
    def objective(self) -> float:
        """What is minimised."""
        return -self._value

    def improve(self, pause: Pause) -> str:
        """Do a round; say why if there is nothing more to do."""
        if self.rounds and not self._fan().p.any():
            return "boosting_without_positives"
        learners, steps = self._newton(pause) if self.rounds else self._first_steps()
        count = _SHORT_LIST if self.rounds else len(learners)
        for these in portions(len(learners), 1, count):
            best = self._best(learners[these], steps[these], pause)
            if best:
                self._take(*best)
                return ""
        return "boosting_without_gain"

    def _first_steps(self) -> Steps:
        """List every learner with both signs, since slopes are 0 where all rows are tied."""
        every = np.arange(len(self._w))
        return np.tile(every, 2), np.repeat([1.0, -1.0], len(every))

    def _newton(self, pause: Pause) -> Steps:
        """List the learners and their steps, those first of which most is expected."""
        parts, slopes = self._fan(), []
        for some in portions(len(self._w), len(self._F), _CELLS_PER_BLOCK):
            slopes.append(derivatives(self._F, self._positive, parts, self._learners[:, some]))
            pause()
        first, second = np.concatenate(slopes, axis=1)
        first -= 2 * self._smoothness * self._bent
        size = np.abs(second - 2 * self._smoothness * self._stiff)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.nan_to_num(np.clip(first / size, -1.0, 1.0))
        gains = first * steps - size * steps**2 / 2
        order = np.argsort(-gains, kind="stable")
        order = order[gains[order] > self._least_rise]
        return order, steps[order]

    def _best(self, learners: Index, steps: Array, pause: Pause) -> Move | None:
        """Find the learner, step and value that is best, once the steps are short enough."""
        for _ in range(_HALVINGS + 1):
            values = []
            for p, step in zip(learners, steps, strict=True):
                values.append(self._value_after(p, step))
                pause()
            if values and max(values) > self._value + self._least_rise:
                best = int(np.argmax(values))
                return int(learners[best]), float(steps[best]), values[best]
            steps = steps / 2
        return None

    def _value_after(self, p: int, step: float) -> float:
        F = self._F + step * self._learners[:, p]
        s, t = F[self._positive], F[~self._positive]
        rough = self._w @ self._bent + step * (2 * self._bent[p] + step * self._stiff[p])
        return smooth_area(s, t, fan(s, t, *self._range)) - self._smoothness * float(rough)

    def _take(self, p: int, step: float, value: float) -> None:
        k = int(np.searchsorted(self._starts, p, side="right")) - 1
        start, one = self._starts[k], self._bases[k]
        self._w[p] += step
        self._bent[start : start + len(one)] += step * one.roughness[p - start]
        self._F += step * self._learners[:, p]
        self._value = value
        self.rounds += 1

    def _fan(self) -> Fan:
        return fan(self._F[self._positive], self._F[~self._positive], *self._range)

    def scorer(self) -> AdditiveScorer:
        """Build the current scorer from the features in use."""
        weights = np.split(self._w, self._starts[1:-1])
        return weighted_scorer(self._bases, weights)


def _notes(asked: Range, used: Range, rounds: int, end: str) -> tuple[Notice, ...]:
    if not rounds:
        return (notice("no_learner"),)
    widened = (notice("range_widened_for_learners", asked=asked, used=used),)
    early = (notice(end, round=rounds),)
    return (*(widened if used != asked else ()), *(early if end else ()))
