"""AUC ensemble: the weighted sum of diverse methods that has the largest area on held-out rows.

Symbols: z_k scores of member k, held out in folds and put on a common scale; w_k its weight;
[alpha, beta] FPR range.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import ClassVar

import numpy as np

from aucstudio.engine import roc
from aucstudio.engine.cost import NUMBER, Cost, Work, cost_of
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.ensembles.selection import BAGS, STEPS, select_in_bags
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.memory import machine_processors
from aucstudio.engine.methods.baselines._forest import ForestClassifier
from aucstudio.engine.methods.combination._board import (
    Board,
    Outcome,
    Task,
    able,
    counts,
    draw_folds,
    share_trees,
)
from aucstudio.engine.methods.combination._library import Member, is_listed, library
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.params import param
from aucstudio.engine.types import Array, Mask
from aucstudio.engine.weighted import WeighsRows


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class AUCEnsemble(WeighsRows):
    """The weighted sum of diverse methods with the largest area on rows that they did not see.

    Minimises ``1 - (1 - b) AUC(s) - b pAUC(s; alpha, beta)`` of ``s = sum_k w_k z_k`` over weights
    w_k that are not negative and sum to 1, where z_k are held-out scores of member k, pAUC is
    normalised, and b grows with the number d of rows that decide the range, ``b = d / (d + 50)``;
    without a range b is 0. The objective is that of the weights found, on the same held-out rows.

    Every member is trained once for each fold, on the other folds. Its scores of the fold are put
    on a common scale: mean 0 and standard deviation 1 over the rows held out, of log-odds where the
    member gives shares. Members then join one by one, each time the one with which the criterion is
    largest, one possibly several times; that is done in 20 bags of drawn rows, the mean counts,
    drawn towards equal weights where the rarer class has few rows. The scorer takes for each member
    the mean of the models of its folds. The trees of a forest are dealt over the folds, at least 50
    to each if it has so many. ``n_iter_`` counts the members.

    The search is greedy, and no certificate bounds the distance from the best weights. Weights
    were chosen on the held-out rows: the objective is too good an estimate for new rows. Groups, if
    given, are held out whole. Only members that can be trained on so many rows take part, and
    where rows are weighted those that take weights.

    The members, their weights and what each adds are in ``scorer_.members``.

    References
    ----------
    Caruana, Niculescu-Mizil, Crew, Ksikes (2004), Ensemble selection from libraries of models.
    """

    key: ClassVar[str] = "auc-ensemble"
    title: ClassVar[str] = "AUC ensemble"
    family: ClassVar[str] = "combination"
    source: ClassVar[str] = (
        "Caruana, Niculescu-Mizil, Crew and Ksikes (2004), Ensemble selection from libraries of "
        "models; on the AUC and the partial AUC"
    )
    summary: ClassVar[str] = (
        "Trains several methods and adds up their scores with the weights that rank held-out rows "
        "best."
    )
    in_words: ClassVar[str] = "Best combination of methods"
    shape: ClassVar[str] = "combination"
    use_when: ClassVar[str] = (
        "When the ranking itself matters most, and some minutes of training are no obstacle."
    )
    memorises: ClassVar[bool] = True
    one_sided: ClassVar[bool] = True
    follows_order: ClassVar[bool] = True
    counts_rows: ClassVar[bool] = True
    in_parts: ClassVar[bool] = True
    descends: ClassVar[bool] = False

    fpr_range: tuple[float, float] | None = param(
        None,
        "The false positive rates between which the area counts most.",
        label="FPR range",
        symbol="[α, β]",
        kind="range",
        low=0.0,
        high=1.0,
        none="the whole curve",
    )
    library: str = param(
        "quick",
        "Which methods take part.",
        label="Members",
        choices={
            "quick": "about a dozen, that train quickly",
            "thorough": "some twenty, with more settings",
        },
        from_code=("few",),
        also=is_listed,
        grid=("quick", "thorough"),
    )
    n_folds: int = param(
        5, "Parts of the rows, each held out once for the weights.", label="Folds", low=2, high=20
    )
    random_state: int = param(
        0, "Where the drawing of folds, trees and bags starts.", label="Seed", low=0
    )

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Say what a fit takes; see the base class."""
        N = positives + negatives
        share = (self.n_folds - 1) / self.n_folds
        held = int(share * positives), int(share * negatives), features
        work, seconds, models = 0.0, 0.0, 0.0
        members, _ = able(self._members(N), *held)
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
        bags = BAGS * STEPS * len(members) * Work(numbers=100.0 * min(N, 20_000)).seconds
        return dataclasses.replace(
            own,
            seconds=(own.seconds or 0.0) + self.n_folds * seconds + bags,
            setting="library",
            advice="take the quick library, fewer folds or a sample of the rows",
        )

    def _members(self, rows: int) -> list[Member]:
        return library(self.library, rows, self.random_state)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        folds = draw_folds(positive, context.groups, self.n_folds, self.random_state)
        largest = max(folds, key=lambda fold: len(fold[0]))[0]
        members = self._members(len(X))
        estimators, _ = able(members, *counts(positive[largest]), X.shape[1])
        dealt = {member: share_trees(one, len(folds)) for member, one in estimators.items()}
        criterion = Criterion.of_range(self.fpr_range, positive, context.weights)
        board = Board(X, positive, folds, dealt, criterion, context.monitor, context.weights)
        tasks = [(member, k) for member in board.taking_part for k in range(len(folds))]
        # What was trained on the same rows and folds is not trained again.
        known: dict[Task, Outcome] = context.kept or {}
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

    def _combined(self, board: Board) -> Fit:
        scores = board.scores()
        rng = np.random.default_rng((self.random_state, len(scores)))
        weights = np.full(len(scores), 1.0 / len(scores))
        if board.holds_out:
            told = board.tell_selection
            weights = select_in_bags(
                scores, board.positive, board.criterion, rng, told, row_weights=board.weights
            )
        total = weights @ scores
        return Fit(
            board.combined(weights, scores),
            1.0 - board.reached(total),
            n_iter=len(weights),
            intercept=-roc.equal_error_threshold(board.positive, total, weights=board.weights),
            notes=board.notes,
        )
