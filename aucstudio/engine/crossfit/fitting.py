"""Train members in folds: held-out scores, common scales, weighted sums.

Symbols: z_k scores of member k, held out in folds and put on a common scale; w_k its weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.crossfit.folds import Folds, fold_weights
from aucstudio.engine.crossfit.members import Member, titles
from aucstudio.engine.ensembles.combined import (
    AS_IT_IS,
    CombinationScorer,
    Scale,
    combine,
    member_shares,
)
from aucstudio.engine.ensembles.selection import Criterion, select
from aucstudio.engine.ensembles.views import filled_view, seen
from aucstudio.engine.fit import without_convergence_warnings
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.monitor import Check, Monitor, Stopped
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.scorers import Scorer
from aucstudio.notices import Notice, notice

# Of fewer trees, held-out scores would make a forest look worse than the mean of all folds is.
_FEWEST_TREES = 50

Task = tuple[Member, int]
Outcome = tuple[Scorer, Array] | ValueError | MemoryError


class CrossFit:
    """Members trained in folds so far; ``train`` alone is called on other threads.

    Attributes
    ----------
    positive : ndarray of bool
    criterion : Criterion
    holds_out : bool
        Whether there are rows to hold out.
    ready : dict of Member to list of Scale
        Those that are trained on all folds.
    failed : dict of Member to str
        Why others never will be.
    weights : ndarray or None
        Of the rows: members that do not take them take no part.
    """

    def __init__(
        self,
        X: Array,
        positive: Mask,
        folds: Folds,
        estimators: dict[Member, AUCClassifier],
        criterion: Criterion,
        monitor: Monitor,
        weights: Array | None = None,
    ) -> None:
        self.positive, self.criterion, self.weights = positive, criterion, weights
        self._X, self._folds, self._monitor = X, folds, monitor
        self._filled = filled_view(X)
        self.holds_out = len(folds) > 1
        self._estimators = {
            m: _with_one_width(e, self._seen(e, X), weights) for m, e in estimators.items()
        }
        self._titles = titles(list(estimators))
        self._held = {member: np.empty(len(X)) for member in estimators}
        self._scorers: dict[Member, dict[int, Scorer]] = {member: {} for member in estimators}
        self._joined: dict[Member, Scorer] = {}
        self.failed: dict[Member, str] = {}
        if weights is not None:
            unable = (m for m, one in estimators.items() if not one.takes_weights)
            self.failed = dict.fromkeys(unable, "it takes no row weights")
        self._done, self._total = 0, max(1, len(self.taking_part) * len(folds))
        self._counted = fold_weights(positive, folds, weights)
        self.ready: dict[Member, list[Scale]] = {}
        self._reported = 0

    @property
    def taking_part(self) -> list[Member]:
        """List the members that are not known to fail."""
        return [member for member in self._estimators if member not in self.failed]

    def reached(self, scores: Array) -> float:
        """Return the criterion of scores of the rows."""
        return self.criterion(self.positive, scores, self.weights)

    def train(self, task: Task, check: Check) -> Outcome:
        """Train a member on all folds but one; returns its scorer and its scores of that one."""
        from sklearn.base import clone

        member, k = task
        train, held = self._folds[k]
        estimator = clone(self._estimators[member])
        try:
            with without_convergence_warnings():
                given = {} if self.weights is None else {"sample_weight": self.weights[train]}
                rows = self._seen(estimator, self._X[train]), self.positive[train]
                estimator.fit(*rows, callback=lambda _: check(), **given)
            scorer = estimator.scorer_
            if self._filled is not None and not estimator.takes_missing:
                scorer = seen(scorer, self._filled)
            return scorer, scorer(self._X[held])
        except (ValueError, MemoryError) as error:
            return error

    def _seen(self, estimator: AUCClassifier, X: Array) -> Array:
        """Return rows as a member sees them: without missing values, unless it takes these."""
        if self._filled is None or estimator.takes_missing:
            return X
        return self._filled(X)

    def look(self) -> bool:
        """Report progress; return whether to stop."""
        self._monitor.stage("training members", self._done / self._total)
        return self._monitor.stopped

    def enter(self, task: Task, outcome: Outcome) -> bool:
        """Store the result of a task; return whether to stop."""
        member, k = task
        self._done += 1
        if isinstance(outcome, Exception):
            self.failed[member] = str(outcome) or "there is not enough memory"
        elif not np.isfinite(outcome[1]).all():
            self.failed[member] = "its scores are not finite"
        else:
            self._scorers[member][k], self._held[member][self._folds[k][1]] = outcome
        if len(self._scorers[member]) == len(self._folds):
            self.ready[member] = self._scales(member)
        return self._report()

    def _report(self) -> bool:
        """Report the members that are ready, in the order of the library; answers whether to stop.

        Which of them is trained first depends on how busy the machine is; a member is reported once
        all members before it are decided, so that the reports do not.
        """
        order = list(self._estimators)
        while self._reported < len(order) and not self._monitor.stopped:
            member = order[self._reported]
            if member not in self.ready and member not in self.failed:
                break
            self._reported += 1
            if member in self.ready and self._monitor.has_callback:
                self._report_members([m for m in order[: self._reported] if m in self.ready])
        return self._monitor.stopped

    def _scales(self, member: Member) -> list[Scale]:
        """Fit the scale of each fold's model on the rows that it did not see.

        Scores of a ranking are relative: models of two folds may differ by any constant. Shares
        mean the same in all folds.
        """
        scores, smoothing = self._held[member], self._smoothing(member)
        if smoothing:
            return [Scale.learn(scores, smoothing, self.weights)] * len(self._folds)
        return [Scale.learn(scores[held], weights=self._counted[held]) for _, held in self._folds]

    def _smoothing(self, member: Member) -> float:
        estimator = self._estimators[member]
        return log_odds_smoothing(type(estimator), estimator.get_params(deep=False))

    def _report_members(self, members: list[Member]) -> None:
        scores = self._scores_of(members)
        weights = select(scores, self.positive, self.criterion, row_weights=self.weights)
        self._monitor.step(
            len(members),
            1.0 - self.reached(weights @ scores),
            total=len(self._estimators),
            scorer=lambda: self._combined(members, weights, scores),
        )

    def report_selection(self, fraction: float) -> None:
        """Report progress of the last step."""
        self._monitor.pulse("choosing weights", fraction)

    def scores(self) -> Array:
        """Return the held-out scores of the members that are ready on their common scale."""
        return self._scores_of(self._in_order())

    def _scores_of(self, members: list[Member]) -> Array:
        mapped = [self.scale_up(member) for member in members]
        return np.array(mapped).reshape(len(mapped), len(self.positive))

    def _in_order(self) -> list[Member]:
        """List the finished members in the order of the library."""
        return [member for member in self._estimators if member in self.ready]

    def combined(self, weights: Array, scores: Array | None = None) -> CombinationScorer:
        """Return the scorer of the members that are ready, whose scores may be known already."""
        return self._combined(
            self._in_order(), weights, self.scores() if scores is None else scores
        )

    def _combined(self, members: list[Member], weights: Array, scores: Array) -> CombinationScorer:
        names = [self._titles[member] for member in members]
        known = weights, self.criterion, self.weights
        shares = member_shares(names, self.positive, scores, *known)
        parts = (
            ([self._of_all_folds(member)], [AS_IT_IS], weight)
            for member, weight in zip(members, weights.tolist(), strict=True)
        )
        return combine(parts, shares)

    def _of_all_folds(self, member: Member) -> Scorer:
        """Make the models of all folds one, which takes their place: they can be large."""
        if member not in self._joined:
            folds = self._scorers.pop(member)
            scorers = [folds[k] for k in sorted(folds)]
            self._joined[member] = combine([(scorers, self.ready[member], 1.0)])
        return self._joined[member]

    def held(self, member: Member, k: int) -> Array:
        """Return the scores of a fold by a member that was trained without it."""
        return self._held[member][self._folds[k][1]]

    def scale_up(self, member: Member) -> Array:
        """Return the held-out scores of all rows by a member that is ready, on the common scale."""
        mapped = np.empty(len(self.positive))
        for (_, held), scale in zip(self._folds, self.ready[member], strict=True):
            mapped[held] = scale(self._held[member][held])
        return mapped

    @property
    def notes(self) -> tuple[Notice, ...]:
        """Return which members are absent, and why."""
        absent = [member for member in self._estimators if member not in self.ready]
        notes = [
            notice("member_failed", member=self._titles[member], reason=str(self.failed[member]))
            if member in self.failed
            else notice("member_stopped", member=self._titles[member])
            for member in absent
        ]
        return (*notes, *([] if self.holds_out else [notice("nothing_held_out")]))

    def why_none(self) -> Exception:
        """Return what to raise where no member is ready."""
        if self.failed and not self._monitor.stopped:
            reason = next(iter(self.failed.values()))
            return InvalidSetting("library", f"no member could be trained: {reason}")
        return Stopped("training members")


def able(
    members: Iterable[Member], positives: int, negatives: int, features: int
) -> tuple[dict[Member, AUCClassifier], dict[Member, str]]:
    """Make the methods of the members that so many rows are not too many for.

    Beside them, why the others can take no part.
    """
    from aucstudio.engine import METHODS

    made, too_large = {}, {}
    for member in members:
        estimator = METHODS[member.method](**dict(member.params))
        try:
            estimator.check_size(positives, negatives, features)
            made[member] = estimator
        except InvalidSetting as error:
            too_large[member] = str(error)
    return made, too_large


def share_trees(estimator: AUCClassifier, folds: int) -> AUCClassifier:
    """Deal the trees of a forest over the folds, whose models all count in the mean.

    Each fold grows enough of them for its held-out scores to be steady.
    """
    from sklearn.base import clone

    if not estimator.averages_trees:
        return estimator
    trees = int(estimator.get_params(deep=False)["n_trees"])
    share = max(math.ceil(trees / folds), min(trees, _FEWEST_TREES))
    dealt: AUCClassifier = clone(estimator).set_params(n_trees=share)
    return dealt


def _with_one_width(estimator: AUCClassifier, X: Array, weights: Array | None) -> AUCClassifier:
    """Choose a kernel's width on all rows, so that the models of all folds share one kernel."""
    from sklearn.base import clone

    if estimator.get_params().get("gamma") != "scale":
        return estimator
    width = KernelSettings(kernel="rbf", gamma="scale").resolve_kernel(X, weights=weights).gamma
    resolved: AUCClassifier = clone(estimator).set_params(gamma=width)
    return resolved


def log_odds_smoothing(method: type[AUCClassifier], params: Mapping[str, Any]) -> float:
    """Return what smooths the log-odds of a method's scores; 0 where these are no shares."""
    return 1.0 / int(params["n_trees"]) if method.averages_trees else 0.0
