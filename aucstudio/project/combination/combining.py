"""Record of a combination: weights, and a nested estimate.

If the runs have several splits, the weights of a split are chosen on the held-out rows of the
others. If there is one split, its held-out rows are divided into folds with whole groups, and each
fold is scored with weights chosen on the others; the model has the weights chosen on all of them.
No row is scored with weights that it helped to choose. A model refit on all rows has the weights
chosen on all held-out rows.

Symbols: z scores of the members on a common scale, shape (members, rows); w weights.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Sequence

import msgspec
import numpy as np

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.crossfit.folds import draw_folds, nested_scores
from aucstudio.engine.ensembles.combined import combine, member_shares, seen_through
from aucstudio.engine.monitor import Step, Stopped
from aucstudio.notices import Notice, notice
from aucstudio.project.combination.member_scores import (
    ChosenWeights,
    MemberScores,
    SharedSplit,
    known_of_rows,
    mean_scale,
    member_weights,
    of_rows,
    on_common_scale,
    own_scores,
    together,
    weigh_equally,
)
from aucstudio.project.combination.planning import FOLDS, Named, require_sharing
from aucstudio.project.combination.preparations import common_preparation
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.validation import FORWARD
from aucstudio.project.errors import input_error
from aucstudio.project.runs.execute import refit
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.model import AS_TRAINED, Model
from aucstudio.project.runs.planning import PlannedRun
from aucstudio.project.runs.progress import Listener, Progress
from aucstudio.project.runs.record import DONE, RunRecord, SplitResult, TrainingCurve
from aucstudio.project.work.submit import GivenUp, Place

_CHOOSING = "choosing weights"


def combine_runs(
    experiment: Experiment,
    runs: Sequence[Named],
    table: AnyTable | None = None,
    listen: Listener = lambda _progress: False,
) -> RunRecord:
    """Combine finished runs to a record; nothing is trained but the weights.

    Parameters
    ----------
    experiment : Experiment
        As :func:`~aucstudio.project.combination.planning.plan_combination` made it.
    runs : sequence of (name, record)
    table : Table, optional
        Of the held-out rows; its groups stay whole where these are divided into folds.
    listen : callable, optional
        Called with :class:`Progress`; a true answer stops.

    Raises
    ------
    InputError
        If they share no held-out rows, a model cannot be read, or columns are prepared in
        incompatible ways; the sentence names the run.
    Stopped
        If ``listen`` asked to stop.
    """
    require_sharing(runs)
    runs = sorted(runs, key=lambda run: run[1].experiment.id)
    return _Combination(experiment, runs, table, listen).record()


def refit_combination(
    experiment: Experiment, runs: Sequence[Named], table: AnyTable, listen: Listener | None = None
) -> Model:
    """Refit the members on all labelled rows and combine them into the exported model.

    The weights are chosen on all held-out rows. The scale of a member is the mean of the scales of
    its splits.

    Parameters
    ----------
    experiment, runs
        As for :func:`combine_runs`.
    table : Table
    listen : callable, optional
        Called with :class:`Progress`; a true answer stops.

    Raises
    ------
    InputError
        As for :func:`combine_runs`.
    Stopped
        If ``listen`` asked to stop.
    """
    runs = sorted(runs, key=lambda run: run[1].experiment.id)
    listen = listen or (lambda _progress: False)
    return _Combination(experiment, runs, table, listen).refit(table)


class _Combination:
    def __init__(
        self,
        experiment: Experiment,
        runs: Sequence[Named],
        table: AnyTable | None,
        listen: Listener,
    ) -> None:
        self._experiment, self._runs, self._table, self._listen = experiment, runs, table, listen
        self._names = [name for name, _ in runs]
        self._splits = list(zip(*(record.splits for _, record in runs), strict=True))

    def record(self) -> RunRecord:
        created, began = RunRecord.now(), time.perf_counter()
        repeats: dict[int, list[int]] = {}
        for k, (first, *_) in enumerate(self._splits):
            repeats.setdefault(first.repeat, []).append(k)
        results: list[SplitResult] = []
        for places in repeats.values():
            parts = {k: on_common_scale(self._runs, self._splits[k]) for k in places}
            for k in places:
                results.append(self._result(k, parts))
                self._report(k, None, results[-1])
        seconds = time.perf_counter() - began
        return RunRecord(self._experiment, DONE, tuple(results), created, seconds)

    def refit(self, table: AnyTable) -> Model:
        parts = [on_common_scale(self._runs, splits) for splits in self._splits]
        chosen = member_weights(self._experiment, together(parts), 0, self._report_choice)
        models = [
            refit(record.experiment, table, functools.partial(self._report_member, k))
            for k, (_, record) in enumerate(self._runs)
        ]
        scales = zip(*(part.scales for part in parts), strict=True)
        part = dataclasses.replace(parts[0], models=models, scales=list(map(mean_scale, scales)))
        return self._combined(part, chosen)

    def _result(self, k: int, parts: dict[int, SharedSplit]) -> SplitResult:
        began, part = time.perf_counter(), parts[k]
        forward = self._experiment.validation.scheme == FORWARD
        others = [p for place, p in parts.items() if (place < k if forward else place != k)]
        if others:
            chosen = self._choose(together(others), k)
        elif forward:
            chosen = weigh_equally(self._experiment, part)
        else:
            chosen = self._choose(part, k, (0, FOLDS + 1))
        is_apart = forward or bool(others)
        total = chosen.weights @ part.z if is_apart else self._second_level(k, part, chosen)
        model = self._combined(part, chosen)
        scores, seconds = total + model.intercept, time.perf_counter() - began
        return self._split(k, part, chosen, scores, model, seconds)

    def _choose(self, rows: MemberScores, k: int, stage: tuple[int, int] = (0, 1)) -> ChosenWeights:
        turn, turns = stage
        return member_weights(
            self._experiment, rows, k, lambda share: self._report(k, (turn + share) / turns)
        )

    def _combined(self, part: SharedSplit, chosen: ChosenWeights) -> Model:
        return combined_model(self._experiment, self._names, part, chosen)

    def _second_level(self, k: int, part: SharedSplit, chosen: ChosenWeights) -> Array:
        """Score each fold of the held-out rows with weights chosen on the others."""
        there = part.counting
        codes = self._groups_of(part.rows[there])
        seed = int(self._experiment.params["random_state"])
        folds = draw_folds(part.positive[there], codes, FOLDS, seed)
        if len(folds) < 2:
            raise input_error("too_few_to_weigh")
        # Rows of weight 0 are in no figure and in no choice.
        total = chosen.weights @ part.z
        target = float(np.std(total)) or 1.0

        def score(fold: int, choosing: Index, held: Index) -> Array:
            stage = fold + 1, len(folds) + 1
            found = self._choose(part.some(there[choosing]), k, stage)
            # Sums with other weights have another spread and are rescaled.
            spread = float(np.std(found.weights @ part.z)) or 1.0
            return np.asarray(found.weights @ part.z[:, there[held]] / spread * target)

        total[there] = nested_scores(folds, score)
        return total

    def _groups_of(self, rows: Index) -> Index | None:
        """Number the groups of some rows of the table."""
        if self._table is None or self._table.groups is None:
            return None
        places = np.searchsorted(np.flatnonzero(self._table.labelled()), rows)
        return self._table.groups.part(places).codes

    def _split(
        self,
        k: int,
        part: SharedSplit,
        chosen: ChosenWeights,
        scores: Array,
        model: Model,
        seconds: float,
    ) -> SplitResult:
        splits = self._splits[k]
        train, positive, trained = self._training(splits, part, chosen, model.intercept)
        objective = chosen.objective
        made = notice("combined", runs=len(splits))
        course = np.array([seconds]), np.array([objective]), np.array([np.nan])
        return SplitResult(
            repeat=splits[0].repeat,
            fold=splits[0].fold,
            train_rows=train,
            test_rows=part.rows,
            train_positive=positive,
            test_positive=part.positive,
            train_scores=trained,
            test_scores=scores,
            model=model,
            curve=TrainingCurve(np.array([len(splits)]), *course),
            fit_seconds=seconds,
            objective=objective,
            gap=None,
            n_iter=len(splits),
            converged=True,
            support_pairs=np.empty((2, 0), dtype=np.int64),
            notes=(made, self._how(splits[0].repeat)),
            trajectory=None,
            train_weights=known_of_rows(splits[0].train_rows, splits[0].train_weights, train),
            test_weights=part.counts,
            test_groups=known_of_rows(splits[0].test_rows, splits[0].test_groups, part.rows),
            weight_kind=splits[0].weight_kind,
        )

    def _how(self, repeat: int) -> Notice:
        """Return a notice of the rows on which the weights were chosen."""
        if self._experiment.validation.scheme == FORWARD:
            return notice("combined_on_earlier_splits")
        several = sum(first.repeat == repeat for first, *_ in self._splits) > 1
        return notice("combined_on_other_splits" if several else "combined_on_other_rows")

    def _training(
        self,
        splits: Sequence[SplitResult],
        part: SharedSplit,
        chosen: ChosenWeights,
        intercept: float,
    ) -> tuple[Index, Mask, Array]:
        """Return the rows that all members trained on, and the scores of the combination."""
        rows = splits[0].train_rows
        for split in splits[1:]:
            rows = np.intersect1d(rows, split.train_rows)
        total = np.full(len(rows), intercept)
        members = zip(splits, part.models, part.scales, chosen.weights.tolist(), strict=True)
        for split, model, scale, weight in members:
            raw = of_rows(split.train_rows, split.train_scores, rows)
            total += weight * scale(own_scores(model, raw))
        return rows, of_rows(splits[0].train_rows, splits[0].train_positive, rows), total

    def _report_choice(self, _share: float) -> None:
        """Report that the weights of a refit are chosen, which are those of no single split."""
        step = Step(0, stage=_CHOOSING)
        if self._listen(Progress(0, 1, step, 0.0, None)):
            raise Stopped(_CHOOSING)

    def _report_member(self, k: int, progress: Progress) -> object:
        """Report the refit of a member."""
        count = len(self._runs)
        return self._listen(dataclasses.replace(progress, split=k, splits=count, fit_of="member"))

    def _report(self, k: int, fraction: float | None, finished: SplitResult | None = None) -> None:
        step = None if fraction is None else Step(1, stage=_CHOOSING, fraction=fraction)
        message = Progress(k, len(self._splits), step, 0.0, None, finished=finished)
        if self._listen(message) and finished is None:
            raise Stopped(_CHOOSING)


class Combining(Place):
    """Combines finished runs.

    Parameters
    ----------
    runs : sequence of (name, record)
    """

    def __init__(self, runs: Sequence[Named]) -> None:
        self._runs = {record.experiment.id: (name, record) for name, record in runs}

    def execute(self, plan: PlannedRun, listen: Listener, given_up: GivenUp) -> RunRecord:
        """Combine the members of an experiment; see :meth:`Place.execute`."""
        experiment = plan.experiment
        members = [self._runs[member] for member in experiment.members]
        # Roles may have changed since the runs.
        table = (
            experiment.data.seen(plan.table)
            if plan.test_table is None
            else experiment.as_test(plan.test_table)
        )
        return combine_runs(experiment, members, table, listen)


def combined_model(
    experiment: Experiment, names: Sequence[str], part: SharedSplit, chosen: ChosenWeights
) -> Model:
    """Join the models of the members to one, with the equal-error threshold.

    Raises
    ------
    InputError
        If members prepare a column in incompatible ways; the sentence names the run.
    """
    preparation, views = common_preparation(names, [m.preparation for m in part.models])
    by_view: dict[tuple[bytes, ...], list[int]] = {}
    for place, view in enumerate(views):
        by_view.setdefault(() if view is None else view.identity, []).append(place)
    groups = []
    for places in by_view.values():
        members = [
            ([part.models[m].scorer], [part.scales[m]], float(chosen.weights[m])) for m in places
        ]
        groups.append(seen_through(combine(members), views[places[0]]))
    rows, known = chosen.rows, (chosen.weights, chosen.criterion, chosen.rows.counts)
    shares = member_shares(names, rows.positive, rows.z, *known)
    scorer = dataclasses.replace(
        groups[0],
        parts=tuple(p for one in groups for p in one.parts),
        base=sum(one.base for one in groups),
        members=tuple(shares),
    )
    return dataclasses.replace(
        part.models[0],
        preparation=preparation,
        scorer=scorer,
        intercept=-chosen.threshold,
        method=experiment.method,
        params=msgspec.to_builtins(dict(experiment.params)),
        threshold=0.0,
        threshold_rule=AS_TRAINED,
        schema=experiment.data.schema,
        calibration=None,
        calibrated_on="",
    )
