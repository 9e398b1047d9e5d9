"""RankBoost: boosted threshold learners for the ranking of positives above negatives.

Symbols: x_i the m positives, z_j the n negatives; F scores; h_t learner of round t, 0 or 1;
D(i, j) = u_i g_j weight of a pair, u_i ~ exp(-F(x_i)), g_j ~ exp(F(z_j)), each adding up to 1;
a = sum_i u_i h(x_i), b = sum_j g_j h(z_j); W+ = a (1 - b), W- = (1 - a) b; r = W+ - W- = a - b;
alpha weight of a learner; Z_t what a round multiplies the objective by.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.base import WeighsRows
from aucstudio.engine.cost import Cost, Work, cost_of
from aucstudio.engine.features.stumps import SAME, Stump, StumpSearch
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.params import param
from aucstudio.engine.scorers import EnsembleScorer
from aucstudio.notices import notice

# exp(2 |alpha|) at most, for a learner without a mistake. A limit that grew with the number of
# rows would make a row of weight 2 differ from a row twice.
_MOST_ODDS = 1e4


class RankBoost(WeighsRows):
    """Adds threshold rules on single features; later ones focus on pairs still ranked wrongly.

    Minimises ``mean_ij exp(-(F(x_i) - F(z_j)))`` over sums ``F = sum_t alpha_t h_t`` of learners
    ``h(x) = 1(x_k > theta)``, one learner a round; the paper's loss is the sum over the pairs,
    m n times as large. Each round takes the learner of the largest ``|r|`` among all thresholds
    of all features. The objective falls in every round, and the training AUC is at least
    ``1 - objective_ = 1 - prod_t Z_t``. There is no certificate: ``dual_gap_`` is None, and the
    number of rounds decides, unless one learner separates the classes or nothing falls any more.

    ``|alpha|`` is at most ``ln(10,000) / 2``, which a learner without a mistake would exceed. A
    missing value (NaN) counts as above or below every threshold of its feature, whichever makes
    ``|r|`` larger; below if no training row has a missing value there.

    References
    ----------
    Freund, Iyer, Schapire and Singer (JMLR 2003), An efficient boosting algorithm for combining
    preferences.

    RankBoost.B, its threshold learners with a default for gaps, both rules for alpha.

    Use when
    --------
    Features with odd scales, outliers or missing values: it only asks whether a feature exceeds a
    threshold.
    """

    n_rounds: int = param(200, "stumps")
    alpha_rule: str = param("bound")

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d, rounds = positives + negatives, features, self.n_rounds
        work = Work(numbers=N * d * (100 + 1.3 * rounds), steps=3 * rounds)
        return cost_of(N, 6.0 * N * d + 7000.0 * d, work)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        boost = _Boosting(X, positive, self.alpha_rule, monitor, context.weights)
        try:
            while boost.n_rounds < self.n_rounds and boost.advance():
                if monitor.step(
                    boost.n_rounds, boost.objective, total=self.n_rounds, scorer=boost.scorer
                ):
                    break
        except Stopped:
            if not boost.n_rounds:
                raise
        notes = () if boost.n_rounds else (notice("no_threshold"),)
        return Fit(
            boost.scorer(), boost.objective, boost.n_rounds, notes=notes, scores=boost.scores
        )


@dataclasses.dataclass(frozen=True)
class _Standing:
    """Scores of the training rows, positives first, and what follows from them.

    Attributes
    ----------
    scores : ndarray of shape (N,)
        F.
    potential : ndarray of shape (N,)
        u at positives, -g at negatives.
    log_loss : float
        Logarithm of the mean pair loss.
    """

    scores: Array
    potential: Array
    log_loss: float


def _stand(scores: Array, m: int, shares: Array | None = None) -> _Standing:
    """Weigh the pairs; ``shares`` are those of the rows in the weight of their classes."""
    # Shifted so that the largest weight is exp(0): none overflows, and not all underflow.
    lowest, highest = scores[:m].min(), scores[m:].max()
    potential = np.empty(len(scores))
    u, g = potential[:m], potential[m:]
    np.exp(np.subtract(lowest, scores[:m], out=u), out=u)
    np.exp(np.subtract(scores[m:], highest, out=g), out=g)
    if shares is not None:
        potential *= shares
    of_u, of_g = float(u.sum()), float(g.sum())
    of_all = (len(u), len(g)) if shares is None else (1, 1)
    log_loss = math.log(of_u / of_all[0]) + math.log(of_g / of_all[1]) + float(highest - lowest)
    u /= of_u
    g /= -of_g
    return _Standing(scores, potential, log_loss)


class _Boosting:
    """The learners so far."""

    def __init__(
        self,
        X: Array,
        positive: Mask,
        rule: str,
        monitor: Monitor,
        weights: Array | None = None,
    ) -> None:
        self._search = StumpSearch(X, positive, lambda done: monitor.stage("sorting", done))
        self._pause: Callable[[float], None] = functools.partial(monitor.stage, "searching")
        self._rule = rule
        self._m = int(positive.sum())
        self._alphas: dict[tuple[int, float, bool], float] = {}
        self._shares = None
        if weights is not None:
            shares = weights[self._search.rows]
            shares[: self._m] /= shares[: self._m].sum()
            shares[self._m :] /= shares[self._m :].sum()
            self._shares = shares
        self._now = _stand(np.zeros(len(positive)), self._m, self._shares)
        self._separated = False
        self.n_rounds = 0

    @property
    def objective(self) -> float:
        """Mean pair loss of the scorer."""
        return math.exp(self._now.log_loss)

    @property
    def scores(self) -> Array:
        """The scores of the rows in their own order."""
        scores = np.empty(len(self._now.scores))
        scores[self._search.rows] = self._now.scores
        return scores

    def advance(self) -> bool:
        """Do one round; False if there is nothing more to gain."""
        if self._separated:
            return False
        stump = self._search.best(self._now.potential, self._pause)
        if stump is None:
            return False
        alpha = self._alpha(stump)
        scores = self._now.scores.copy()
        scores[stump.above] += alpha
        new = _stand(scores, self._m, self._shares)
        if new.log_loss >= self._now.log_loss:
            return False
        learner = (stump.feature, stump.threshold, stump.gaps_above)
        self._alphas[learner] = self._alphas.get(learner, 0.0) + alpha
        self._now = new
        self._separated = abs(stump.r) >= 1.0 - SAME
        self.n_rounds += 1
        return True

    def _alpha(self, stump: Stump) -> float:
        up, down = 1.0 + stump.r, 1.0 - stump.r
        if self._rule == "exact":
            above = self._now.potential[stump.above]
            a, b = np.maximum(above, 0.0).sum(), np.maximum(-above, 0.0).sum()
            up, down = a * max(1.0 - b, 0.0), b * max(1.0 - a, 0.0)
        up, down = max(up, down / _MOST_ODDS), max(down, up / _MOST_ODDS)
        return 0.5 * math.log(up / down)

    def scorer(self) -> EnsembleScorer:
        """Make trees of one node and two leaves; a learner taken several times is one tree."""
        count = len(self._alphas)
        root, none = np.arange(0, 3 * count, 3), np.zeros(count)
        feature, threshold, gaps_above = np.array(list(self._alphas)).reshape(count, 3).T
        alpha = np.array(list(self._alphas.values()))

        def nodes(at_root: NDArray[Any], below: NDArray[Any], above: NDArray[Any]) -> NDArray[Any]:
            return np.column_stack([at_root, below, above]).ravel()

        return EnsembleScorer(
            roots=root,
            feature=nodes(feature, none, none).astype(np.intp),
            threshold=nodes(threshold, none, none),
            left=nodes(root + 1, root + 1, root + 2),
            right=nodes(root + 2, root + 1, root + 2),
            value=nodes(none, none, alpha),
            base=0.0,
            gaps_left=nodes(gaps_above == 0, none, none).astype(bool),
        )
