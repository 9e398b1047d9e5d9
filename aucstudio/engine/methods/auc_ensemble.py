"""AUC ensemble: the weighted sum of diverse methods that ranks held-out rows best.

Symbols: z_k scores of member k, held out in folds and put on a common scale; w_k its weight;
[alpha, beta] FPR range.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array, Mask, class_counts
from aucstudio.engine.base import WeighsRows
from aucstudio.engine.cost import NUMBER, Cost, Work, cost_of, machine_processors
from aucstudio.engine.crossfit.fitting import CrossFit, Outcome, Task, able, share_trees
from aucstudio.engine.crossfit.folds import draw_folds
from aucstudio.engine.crossfit.members import Member, is_listed, library
from aucstudio.engine.ensembles.selection import BAGS, STEPS, Criterion, choose_weights
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.methods.forest import ForestClassifier
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.params import param


class AUCEnsemble(WeighsRows):
    """Trains several methods and adds their scores with the weights that rank held-out rows best.

    Minimises approximately ``1 - (1 - b) AUC(s) - b pAUC(s; alpha, beta)`` of the combination
    ``s = sum_k w_k z_k``, where z_k are held-out scores of member k, the weights w_k are not
    negative and sum to 1, pAUC is normalised, and b grows with the number d of rows that decide the
    range, ``b = d / (d + 50)``; without a range b is 0.

    Every member is trained once for each fold, on the other folds. Its scores of the fold are put
    on a common scale: mean 0 and standard deviation 1 over the held-out rows, computed on log-odds
    where the member returns shares. The weights are those of a logistic regression of the class on
    the scores z_k, not negative and shrunk towards equal weights; the fewer rows the rarer class
    has, the stronger the shrinkage. With a range they are averaged with weights selected for the
    objective: in 20 bags of drawn rows, the member that lowers the objective most is added
    repeatedly. The scorer uses the mean of the fold models of each member. The trees of a forest
    are divided among the folds, at least 50 to each if it has so many. ``n_iter_`` counts the
    members.

    Members that accept missing values (NaN) receive them. For the others they are filled with the
    median of the column and marked by an indicator column. Where no training row has one,
    ``decision_function`` accepts none either.

    No certificate bounds the distance of the weights from the best ones. They are chosen on the
    held-out rows, and the objective is an optimistic estimate for new rows. Groups, if given, are
    held out whole. Only members that can be trained on so many rows take part and, for weighted
    rows, only those that accept weights.

    The members, their weights and what each adds are in ``scorer_.members``; ``has_missing_`` is
    whether a training row had a missing value.

    References
    ----------
    Breiman (1996), Stacked regressions; Caruana, Niculescu-Mizil, Crew and Ksikes (2004), Ensemble
    selection from libraries of models; on the AUC and the partial AUC.

    Use when
    --------
    When ranking quality matters most and a few minutes of training are acceptable.
    """

    fpr_range: tuple[float, float] | None = param(None, "ensemble")
    library: str = param("quick", also=is_listed)
    n_folds: int = param(5)
    random_state: int = param(0, "ensemble")

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N = positives + negatives
        share = (self.n_folds - 1) / self.n_folds
        held = int(share * positives), int(share * negatives), features
        work, seconds, models = 0.0, 0.0, 0.0
        members, _ = able(self._members(N, features), *held)
        for estimator in members.values():
            dealt = share_trees(estimator, self.n_folds)
            cost = dealt.estimate(*held)
            work, seconds = max(work, cost.bytes), seconds + (cost.seconds or 0.0)
            if isinstance(dealt, ForestClassifier):
                models += self.n_folds * dealt.model_bytes(sum(held[:2]))
        # Each of those that train side by side has rows of its own.
        at_once = min(machine_processors(), max(1, self.n_folds * len(members)))
        fits = at_once * (work + share * NUMBER * N * features)
        own = cost_of(N, 2.0 * NUMBER * N * len(members) + models + fits, Work())
        looks = BAGS * STEPS * len(members) * (self.fpr_range is not None)
        bags = looks * Work(numbers=100.0 * min(N, 20_000)).seconds
        return dataclasses.replace(
            own,
            seconds=(own.seconds or 0.0) + self.n_folds * seconds + bags,
            setting="library",
            advice="take the quick library, fewer folds or a sample of the rows",
        )

    def _train(self, *rows: Any, **settings: Any) -> Self:
        self.__dict__.pop("has_missing_", None)
        return super()._train(*rows, **settings)

    def _demands(self) -> dict[str, Any]:
        """Return what scikit-learn checks of X: no missing values if no training row had one."""
        known = {} if getattr(self, "has_missing_", True) else {"ensure_all_finite": True}
        return super()._demands() | known

    def _members(self, rows: int, features: int) -> list[Member]:
        return library(self.library, rows, self.random_state, features)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        self.has_missing_ = bool(np.isnan(X).any())
        folds = draw_folds(positive, context.groups, self.n_folds, self.random_state)
        largest = max(folds, key=lambda fold: len(fold[0]))[0]
        members = self._members(*X.shape)
        estimators, _ = able(members, *class_counts(positive[largest]), X.shape[1])
        dealt = {member: share_trees(one, len(folds)) for member, one in estimators.items()}
        criterion = Criterion.of_range(self.fpr_range, positive, context.weights)
        board = CrossFit(X, positive, folds, dealt, criterion, context.monitor, context.weights)
        tasks = [(member, k) for member in board.taking_part for k in range(len(folds))]
        # What was trained on the same rows and folds is not trained again.
        known: Mapping[Task, Outcome] = context.kept or {}
        for task in [task for task in tasks if task in known]:
            board.enter(task, known[task])
        tasks = [] if context.monitor.stopped else [task for task in tasks if task not in known]
        with contextlib.suppress(Stopped):
            for task, outcome in context.spread(board.train, tasks, board.look):
                if board.enter(task, outcome):
                    break
        if not board.ready:
            raise board.why_none()
        return self._combined(board)

    def _combined(self, board: CrossFit) -> Fit:
        scores = board.scores()
        rng = np.random.default_rng((self.random_state, len(scores)))
        weights = np.full(len(scores), 1.0 / len(scores))
        if board.holds_out:
            report = board.report_selection
            weights = choose_weights(
                scores, board.positive, board.criterion, rng, report, row_weights=board.weights
            )
        total = weights @ scores
        return Fit(
            board.combined(weights, scores),
            1.0 - board.reached(total),
            n_iter=len(weights),
            intercept=-roc.equal_error_threshold(
                roc.roc_curve(board.positive, total, weights=board.weights)
            ),
            notes=board.notes,
        )
