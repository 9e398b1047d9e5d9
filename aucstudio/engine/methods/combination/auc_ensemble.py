"""AUC ensemble: the weighted sum of diverse methods that has the largest area on held-out rows.

Symbols: z_k scores of member k, held out in folds and put on a common scale; w_k its weight;
[alpha, beta] FPR range.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from aucstudio.engine import roc
from aucstudio.engine.base import AUCClassifier, Context, Fit
from aucstudio.engine.cost import NUMBER, Cost, Work, cost_of
from aucstudio.engine.ensembles.combined import CombinationScorer, combine
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.ensembles.scales import Scale
from aucstudio.engine.ensembles.selection import BAGS, STEPS, select, select_in_bags
from aucstudio.engine.ensembles.shares import member_shares
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.methods.baselines._forest import ForestClassifier
from aucstudio.engine.methods.combination._library import Member, is_listed, library, titles
from aucstudio.engine.monitor import Check, Monitor, Stopped
from aucstudio.engine.params import InvalidSetting, param
from aucstudio.engine.quiet import without_convergence_warnings
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.types import Array, Index, Mask
from aucstudio.engine.weighted import WeighsRows

_NONE_HELD_OUT = (
    "No rows could be held out so that both classes were left to train on: all members weigh the "
    "same, and their areas are those of training rows."
)

Folds = list[tuple[Index, Index]]
Task = tuple[Member, int]
Outcome = tuple[Scorer, Array] | ValueError | MemoryError


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
    the mean of the models of its folds. ``n_iter_`` counts the members.

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
            "quick": "about ten, that train quickly",
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
        work, seconds = 0.0, 0.0
        members = _able(self._members(N), *held)
        for estimator in members.values():
            cost = estimator.estimate(*held)
            work, seconds = max(work, cost.bytes), seconds + (cost.seconds or 0.0)
        own = cost_of(N, NUMBER * N * (features + 2.0 * len(members)) + work, Work())
        bags = BAGS * STEPS * len(members) * Work(numbers=100.0 * min(N, 20_000)).seconds
        return dataclasses.replace(
            own,
            seconds=(own.seconds or 0.0) + self.n_folds * seconds + bags,
            setting="library",
            advice="take the quick library, fewer folds or a sample of the rows",
        )

    def take(self, known: Mapping[Task, Outcome]) -> None:
        """Take over what was trained on the same rows and folds, which is not trained again."""
        self._known = dict(known)

    def _members(self, rows: int) -> list[Member]:
        return library(self.library, rows, self.random_state)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        folds = draw_folds(positive, context.groups, self.n_folds, self.random_state)
        largest = max(folds, key=lambda fold: len(fold[0]))[0]
        estimators = _able(self._members(len(X)), *_counts(positive[largest]), X.shape[1])
        criterion = Criterion.of_range(self.fpr_range, positive, context.weights)
        board = Board(X, positive, folds, estimators, criterion, context.monitor, context.weights)
        tasks = [(member, k) for member in board.taking_part for k in range(len(folds))]
        known = self.__dict__.get("_known", {})
        for task in [task for task in tasks if task in known]:
            board.enter(task, known[task])
        tasks = [task for task in tasks if task not in known]
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
            board.combined(weights),
            1.0 - board.reached(total),
            n_iter=len(weights),
            intercept=-roc.equal_error_threshold(board.positive, total, weights=board.weights),
            notes=board.notes,
        )


class Board:
    """What the members have come to so far; ``train`` alone is called on other threads.

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
        self.holds_out = len(folds) > 1
        self._estimators = {m: _with_one_width(e, X, weights) for m, e in estimators.items()}
        self._titles = titles(list(estimators))
        self._held = {member: np.empty(len(X)) for member in estimators}
        self._scorers: dict[Member, dict[int, Scorer]] = {member: {} for member in estimators}
        self.failed: dict[Member, str] = {}
        if weights is not None:
            unable = (m for m, one in estimators.items() if not one.takes_weights)
            self.failed = dict.fromkeys(unable, "it takes no row weights")
        self._done, self._total = 0, max(1, len(self.taking_part) * len(folds))
        self._counted = _class_shares(positive, folds, weights)
        self.ready: dict[Member, list[Scale]] = {}

    @property
    def taking_part(self) -> list[Member]:
        """List the members that are not known to fail."""
        return [member for member in self._estimators if member not in self.failed]

    def reached(self, scores: Array) -> float:
        """Give the criterion of scores of the rows."""
        return self.criterion(self.positive, scores, self.weights)

    def train(self, task: Task, check: Check) -> Outcome:
        """Train a member on all folds but one; gives its scorer and its scores of that one."""
        member, k = task
        train, held = self._folds[k]
        estimator = clone(self._estimators[member])
        try:
            with without_convergence_warnings():
                given = {} if self.weights is None else {"sample_weight": self.weights[train]}
                rows = self._X[train], self.positive[train]
                estimator.fit(*rows, callback=lambda _: check(), **given)
            return estimator.scorer_, estimator.scorer_(self._X[held])
        except (ValueError, MemoryError) as error:
            return error

    def look(self) -> bool:
        """Say how far things are; answers whether to stop."""
        self._monitor.stage("training members", self._done / self._total)
        return self._monitor.stopped

    def enter(self, task: Task, outcome: Outcome) -> bool:
        """Take in what a task gave; answers whether to stop."""
        member, k = task
        self._done += 1
        if isinstance(outcome, Exception):
            self.failed[member] = str(outcome) or "there is not enough memory"
        elif not np.isfinite(outcome[1]).all():
            self.failed[member] = "its scores are not finite"
        else:
            self._scorers[member][k], self._held[member][self._folds[k][1]] = outcome
        if len(self._scorers[member]) < len(self._folds):
            return False
        self.ready[member] = self._scales(member)
        return self._monitor.is_heard and self._tell()

    def _scales(self, member: Member) -> list[Scale]:
        """Learn the scale of each fold's model from the rows that it did not see.

        Scores of a ranking mean something beside each other only: models of two folds may differ
        by any constant. Shares mean the same in all folds.
        """
        scores, smoothing = self._held[member], _smoothing(self._estimators[member])
        if smoothing:
            return [Scale.learn(scores, smoothing, self.weights)] * len(self._folds)
        return [Scale.learn(scores[held], weights=self._counted[held]) for _, held in self._folds]

    def _tell(self) -> bool:
        scores = self.scores()
        weights = select(scores, self.positive, self.criterion, row_weights=self.weights)
        return self._monitor.step(
            len(scores),
            1.0 - self.reached(weights @ scores),
            total=len(self._estimators),
            scorer=lambda: self.combined(weights),
        )

    def tell_selection(self, fraction: float) -> None:
        """Say how far the last step is."""
        self._monitor.pulse("choosing weights", fraction)

    def scores(self) -> Array:
        """Give the held-out scores of the members that are ready on their common scale."""
        mapped = [self.scale_up(member) for member in self._in_order()]
        return np.array(mapped).reshape(len(mapped), len(self.positive))

    def _in_order(self) -> list[Member]:
        """List the members that are ready, in the order of the library, whoever was first."""
        return [member for member in self._estimators if member in self.ready]

    def combined(self, weights: Array) -> CombinationScorer:
        """Make the scorer of the members that are ready."""
        scores, trained = self.scores(), self._scorers
        names = [self._titles[member] for member in self._in_order()]
        shares = member_shares(names, self.positive, scores, weights, self.criterion, self.weights)
        members = [
            ([trained[member][k] for k in sorted(trained[member])], self.ready[member], weight)
            for member, weight in zip(self._in_order(), weights.tolist(), strict=True)
        ]
        return combine(members, shares)

    def held(self, member: Member, k: int) -> Array:
        """Give the scores of a fold by a member that was trained without it."""
        return self._held[member][self._folds[k][1]]

    def scale_up(self, member: Member) -> Array:
        """Give the held-out scores of all rows by a member that is ready, on the common scale."""
        mapped = np.empty(len(self.positive))
        for (_, held), scale in zip(self._folds, self.ready[member], strict=True):
            mapped[held] = scale(self._held[member][held])
        return mapped

    @property
    def notes(self) -> tuple[str, ...]:
        """Say which members are not there, and why."""
        absent = [member for member in self._estimators if member not in self.ready]
        reasons = {member: self.failed.get(member, "training was stopped") for member in absent}
        notes = [
            f"{self._titles[member]} takes no part: {reason}" for member, reason in reasons.items()
        ]
        return (*notes, *([] if self.holds_out else [_NONE_HELD_OUT]))

    def why_none(self) -> Exception:
        """Give what to raise where no member is ready."""
        if self.failed and not self._monitor.stopped:
            return ValueError(f"no member could be trained: {next(iter(self.failed.values()))}")
        return Stopped("training members")


def draw_folds(positive: Mask, groups: NDArray[Any] | None, count: int, seed: int) -> Folds:
    """Deal the rows into folds, each class evenly, groups whole; fewer where a class is small.

    Where no row can be held out so that both classes are left, the one fold trains on all rows.
    """
    units = [len(np.unique(part)) for part in _by_class(positive, groups)]
    count = min(count, *units)
    everything = np.arange(len(positive))
    if count < 2:
        return [(everything, everything)]
    draw = StratifiedKFold if groups is None else StratifiedGroupKFold
    drawn = draw(count, shuffle=True, random_state=seed).split(positive, positive, groups)
    folds = [fold for fold in drawn if all(_counts(positive[fold[0]]))]
    whole = sum(len(held) for _, held in folds) == len(positive)
    return folds if whole else [(everything, everything)]


def _class_shares(positive: Mask, folds: Folds, each: Array | None = None) -> Array:
    """Weigh rows so that in every fold the classes count as they do among all rows."""
    own = np.ones(len(positive)) if each is None else each
    weights = np.empty(len(positive))
    for _, held in folds:
        for of_class in (positive, ~positive):
            here = held[of_class[held]]
            if len(here):
                weights[here] = own[here] * (own[of_class].sum() / own[here].sum())
    return weights


def _by_class(positive: Mask, groups: NDArray[Any] | None) -> Iterator[NDArray[Any]]:
    units = np.arange(len(positive)) if groups is None else groups
    yield units[positive]
    yield units[~positive]


def _counts(positive: Mask) -> tuple[int, int]:
    m = int(np.count_nonzero(positive))
    return m, len(positive) - m


def _able(
    members: Sequence[Member], positives: int, negatives: int, features: int
) -> dict[Member, AUCClassifier]:
    """Make the methods of the members that so many rows are not too many for."""
    from aucstudio.engine import METHODS

    able = {}
    for member in members:
        estimator = METHODS[member.method](**dict(member.params))
        with contextlib.suppress(InvalidSetting):
            estimator.check_size(positives, negatives, features)
            able[member] = estimator
    return able


def _with_one_width(estimator: AUCClassifier, X: Array, weights: Array | None) -> AUCClassifier:
    """Settle a kernel's width on all rows, so that the models of all folds share one kernel."""
    if estimator.get_params().get("gamma") != "scale":
        return estimator
    width = KernelSettings(kernel="rbf", gamma="scale").settle_kernel(X, weights=weights).gamma
    settled: AUCClassifier = clone(estimator).set_params(gamma=width)
    return settled


def _smoothing(estimator: AUCClassifier) -> float:
    return 1.0 / estimator.n_trees if isinstance(estimator, ForestClassifier) else 0.0
