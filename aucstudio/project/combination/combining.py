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
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import DECLARED, roc
from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.crossfit.fitting import log_odds_smoothing
from aucstudio.engine.crossfit.folds import draw_folds, nested_scores
from aucstudio.engine.ensembles.combined import Scale, View, combine, member_shares, seen_through
from aucstudio.engine.ensembles.selection import Criterion, choose_weights
from aucstudio.engine.monitor import Step, Stopped
from aucstudio.notices import Notice, notice
from aucstudio.project.combination.planning import FOLDS, Named, require_sharing
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.scales import KNOTS
from aucstudio.project.data.preparing.stored import arrays_of, settings_of
from aucstudio.project.data.validation import FORWARD
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.execute import refit
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.planning import PlannedRun
from aucstudio.project.runs.progress import Listener, Progress
from aucstudio.project.runs.record import DONE, RunRecord, SplitResult, TrainingCurve
from aucstudio.project.work.submit import GivenUp, Place


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
            parts = {k: part_of(self._runs, self._splits[k]) for k in places}
            for k in places:
                results.append(self._result(k, parts))
                self._report(k, None, results[-1])
        seconds = time.perf_counter() - began
        return RunRecord(self._experiment, DONE, tuple(results), created, seconds)

    def refit(self, table: AnyTable) -> Model:
        parts = [part_of(self._runs, splits) for splits in self._splits]
        chosen = self._choose(together(parts), 0)
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
            total = chosen.weights @ part.z
        elif forward:
            chosen = weigh_equally(self._experiment, part.all)
            total = chosen.weights @ part.z
        else:
            chosen = self._choose(part.all, k, (0, FOLDS + 1))
            total = self._second_level(k, part, chosen)
        model = self._combined(part, chosen)
        scores, seconds = total + model.intercept, time.perf_counter() - began
        return self._split(k, part, chosen, scores, model, seconds)

    def _choose(self, rows: Counted, k: int, stage: tuple[int, int] = (0, 1)) -> ChosenWeights:
        turn, turns = stage
        return choose(
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
            curve=_one_step(len(splits), seconds, objective),
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

    def _report_member(self, k: int, progress: Progress) -> object:
        """Report the refit of a member."""
        count = len(self._runs)
        return self._listen(dataclasses.replace(progress, split=k, splits=count, fit_of="member"))

    def _report(self, k: int, fraction: float | None, finished: SplitResult | None = None) -> None:
        step = None if fraction is None else Step(1, stage="choosing weights", fraction=fraction)
        message = Progress(k, len(self._splits), step, 0.0, None, finished=finished)
        if self._listen(message) and finished is None:
            raise Stopped("choosing weights")


def _one_step(members: int, seconds: float, objective: float) -> TrainingCurve:
    return TrainingCurve(
        np.array([members], dtype=np.int64),
        np.array([seconds]),
        np.array([objective]),
        np.array([np.nan]),
    )


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
    shares = member_shares(
        names,
        chosen.positive,
        chosen.z,
        chosen.weights,
        chosen.criterion,
        chosen.counts,
    )
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
        threshold_rule="as trained",
        schema=experiment.data.schema,
        calibration=None,
        calibrated_on="",
    )


def common_preparation(
    names: Sequence[str], preparations: Sequence[Preparation]
) -> tuple[Preparation, list[View | None]]:
    """Return one preparation for all, and the view of each; None if no view is needed.

    A cell beyond the limits of one preparation is missing for those without limits too.

    Raises
    ------
    InputError
        If runs prepare a column in incompatible ways; the sentence names the run.
    """
    first = preparations[0]
    if all(_same(first, other) for other in preparations):
        return first, [None] * len(preparations)
    _check(names, preparations)
    # A method that takes one column unchanged comes last: others have limits for it.
    order = sorted(preparations, key=lambda one: not np.isfinite(one.lows).any())
    common = _united(order)
    return common, [_view(one, common) for one in preparations]


def _same(a: Preparation, b: Preparation) -> bool:
    known, arrays = arrays_of(a), arrays_of(b)
    return (
        settings_of(a) == settings_of(b)
        and known.keys() == arrays.keys()
        and all(np.array_equal(array, arrays[name]) for name, array in known.items())
    )


def _check(names: Sequence[str], preparations: Sequence[Preparation]) -> None:
    """Refuse columns whose preparations differ by more than shift and scale."""
    known: dict[str, Any] = {}
    ranked = bool(len(preparations[0].knots))
    for run, one in zip(names, preparations, strict=True):
        if one.numbers and bool(len(one.knots)) != ranked:
            raise input_error("prepared_differently", column=one.numbers[0], run=run)
        for column, way in _ways(one):
            if known.setdefault(column, way) != way:
                raise input_error("prepared_differently", column=column, run=run)


def _ways(one: Preparation) -> Iterator[tuple[str, Any]]:
    for k, name in enumerate(one.numbers):
        curve = (one.knots[k].tobytes(), one.heights[k].tobytes()) if len(one.knots) else None
        shares = one.shares.get(name)
        absent, part = one.absent.get(one.source(name)), one.parts.get(name)
        yield name, ("number", absent, shares and dict(shares), curve, part)
    for name, levels in zip(one.categories, one.levels, strict=True):
        yield name, ("category", levels, one.same.get(name), name in one.rest)


def _united(order: Sequence[Preparation]) -> Preparation:
    """Take each column from the first preparation that has it."""
    numbers: dict[str, tuple[Preparation, int]] = {}
    levels: dict[str, tuple[str, ...]] = {}
    for one in order:
        for k, name in enumerate(one.numbers):
            numbers.setdefault(name, (one, k))
        for name, of in zip(one.categories, one.levels, strict=True):
            levels.setdefault(name, of)
    figures = {
        name: np.array([getattr(one, name)[k] for one, k in numbers.values()])
        for name in ("medians", "means", "scales", "lows", "highs")
    }
    ranked = any(len(one.knots) for one in order)
    curves = {
        name: np.array([getattr(one, name)[k] for one, k in numbers.values()]).reshape(-1, KNOTS)
        for name in (("knots", "heights") if ranked else ())
    }
    columns = dict.fromkeys(one.source(name) for name, (one, _) in numbers.items())
    marked = {name for one in order for name in one.indicated}
    return Preparation(
        numbers=tuple(numbers),
        categories=tuple(levels),
        levels=tuple(levels.values()),
        keep_gaps=True,
        absent=_all_of([one.absent for one in order]),
        same=_all_of([one.same for one in order]),
        indicated=tuple(name for name in columns if name in marked),
        rest=tuple(name for name in levels if any(name in one.rest for one in order)),
        shares=_all_of([one.shares for one in order]),
        parts=_all_of([one.parts for one in order]),
        choice=order[0].choice,
        keeps_zeros=False,
        **figures,
        **curves,
    )


def _all_of(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: value for part in reversed(parts) for name, value in part.items()}


def _view(one: Preparation, common: Preparation) -> View:
    places = {key: place for place, key in enumerate(_features(common))}
    columns = np.array([places[key] for key in _features(one)])
    count, rest = len(one.numbers), len(columns) - len(one.numbers)
    at = columns[:count]
    scales, means = common.scales[at], common.means[at]
    factors = scales / one.scales
    shifts = (means - one.means) / one.scales
    fills = np.full(count, np.nan)
    if not one.keep_gaps:
        fills = np.array([one.scaled(k, m)[0] for k, m in enumerate(one.medians[:, None].copy())])
    return View(
        columns,
        np.concatenate([factors, np.ones(rest)]),
        np.concatenate([shifts, np.zeros(rest)]),
        np.concatenate([fills, np.full(rest, np.nan)]),
    )


def _features(one: Preparation) -> Iterator[tuple[str, ...]]:
    """Name the prepared columns uniquely."""
    yield from (("number", name) for name in one.numbers)
    for name, levels in zip(one.categories, one.levels, strict=True):
        yield from (("level", name, level) for level in levels)
    yield from (("missing", name) for name in one.indicated)


Counted: TypeAlias = tuple[Mask, Array, Array | None]
"""Classes, scores on a common scale, and weights of rows; no weights if all rows count once."""


@dataclasses.dataclass(frozen=True, eq=False)
class SharedSplit:
    """The shared rows of the members in one split.

    Attributes
    ----------
    models : list of Model
    scales : list of Scale
    rows : ndarray of int
        Held out by all members.
    positive : ndarray of bool
    z : ndarray of shape (members, rows)
    counts : ndarray or None
        Weights of the rows; None if every row counts once.
    """

    models: list[Model]
    scales: list[Scale]
    rows: Index
    positive: Mask
    z: Array
    counts: Array | None

    @property
    def counting(self) -> Index:
        """List the rows of positive weight."""
        return np.arange(len(self.rows)) if self.counts is None else np.flatnonzero(self.counts)

    @property
    def all(self) -> Counted:
        """Return classes, scores and counts of all rows."""
        return self.positive, self.z, self.counts

    def some(self, rows: Index) -> Counted:
        """Return classes, scores and counts of some of the rows."""
        counts = None if self.counts is None else self.counts[rows]
        return self.positive[rows], self.z[:, rows], counts


def part_of(runs: Sequence[Named], splits: Sequence[SplitResult]) -> SharedSplit:
    """Convert the held-out scores of all members to a common scale that ignores the classes.

    Raises
    ------
    InputError
        If the rows held out by all are of one class, or a run lacks its model.
    """
    rows = splits[0].test_rows
    for split in splits[1:]:
        rows = np.intersect1d(rows, split.test_rows)
    models = [_model_of(*given) for given in zip(runs, splits, strict=True)]
    raw = [of_rows(split.test_rows, split.test_scores, rows) for split in splits]
    positive = of_rows(splits[0].test_rows, splits[0].test_positive, rows)
    counts = known_of_rows(splits[0].test_rows, splits[0].test_weights, rows)
    if not both_classes(positive, counts):
        raise input_error("shared_rows_of_one_class")
    raw = [own_scores(model, scores) for model, scores in zip(models, raw, strict=True)]
    scales = [Scale.learn(s, _smoothing(m), counts) for s, m in zip(raw, models, strict=True)]
    z = np.array([scale(scores) for scale, scores in zip(scales, raw, strict=True)])
    return SharedSplit(models, scales, rows, positive, z, counts)


def _model_of(run: Named, split: SplitResult) -> Model:
    name, _ = run
    try:
        return split.model
    except ValueError as error:
        raise InputError(f"{name} has no model: {error}", setting="runs") from error


def mean_scale(scales: Sequence[Scale]) -> Scale:
    """Average the scales of a member's splits, whose link is the same."""
    shift, spread = (float(np.mean([getattr(s, n) for s in scales])) for n in ("shift", "spread"))
    return Scale(scales[0].smoothing, shift, spread)


def both_classes(positive: Mask, counts: Array | None) -> bool:
    """Return whether rows of both classes count."""
    there = positive if counts is None else positive[counts > 0]
    return bool(there.any() and not there.all())


def together(parts: Sequence[SharedSplit]) -> Counted:
    """Return classes, scores and counts of the rows of several splits."""
    counts = [part.counts for part in parts if part.counts is not None]
    return (
        np.concatenate([part.positive for part in parts]),
        np.concatenate([part.z for part in parts], axis=1),
        np.concatenate(counts) if counts else None,
    )


def known_of_rows(rows: Index, values: NDArray[Any] | None, wanted: Index) -> NDArray[Any] | None:
    """Return the values of some of the rows; None if there are no values."""
    return None if values is None else of_rows(rows, values, wanted)


def of_rows(rows: Index, values: NDArray[Any], wanted: Index) -> NDArray[Any]:
    """Return the values of some of the rows, which need not be sorted."""
    order = np.argsort(rows, kind="stable")
    return values[order[np.searchsorted(rows, wanted, sorter=order)]]


def own_scores(model: Model, scores: Array) -> Array:
    """Return the scores of a model's scorer from stored ones, which include its intercept."""
    own = scores - model.intercept
    return np.clip(own, 0.0, 1.0) if _smoothing(model) else own


def _smoothing(model: Model) -> float:
    return log_odds_smoothing(DECLARED[model.method], model.params)


@dataclasses.dataclass(frozen=True, eq=False)
class ChosenWeights:
    """Weights, and the rows on which they were chosen."""

    weights: Array
    positive: Mask
    z: Array
    counts: Array | None
    criterion: Criterion

    @property
    def threshold(self) -> float:
        total = self.weights @ self.z
        return roc.equal_error_threshold(roc.roc_curve(self.positive, total, weights=self.counts))

    @property
    def objective(self) -> float:
        return 1.0 - self.criterion(self.positive, self.weights @ self.z, self.counts)


def choose(
    experiment: Experiment,
    rows: Counted,
    k: int,
    report: Callable[[float], object],
) -> ChosenWeights:
    """Choose weights on some rows; equal weights if they are of one class.

    Parameters
    ----------
    experiment : Experiment
        Defines the range and the random seed.
    rows : tuple
        Classes, scores and weights of the rows to choose on.
    k : int
        Number of the split, which is part of the random seed.
    report : callable
        Called with the fraction that is done.
    """
    positive, z, counts = rows
    equal = weigh_equally(experiment, rows)
    if not both_classes(positive, counts):
        return equal
    rng = np.random.default_rng((int(experiment.params["random_state"]), k))
    weights = choose_weights(z, positive, equal.criterion, rng, report, row_weights=counts)
    return dataclasses.replace(equal, weights=weights)


def weigh_equally(experiment: Experiment, rows: Counted) -> ChosenWeights:
    """Return equal weights for all members."""
    positive, z, counts = rows
    criterion = Criterion.of_range(experiment.params["fpr_range"], positive, counts)
    return ChosenWeights(np.full(len(z), 1.0 / len(z)), positive, z, counts, criterion)
