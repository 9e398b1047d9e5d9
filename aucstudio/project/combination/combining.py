"""The record of a combination: weights of finished runs, and an estimate at a second level.

Where the runs have several splits, the weights of a split are chosen on the rows that the others
held out. Where all held-out rows are of one split, these are dealt into folds, groups whole, and
each fold is scored with the weights that the others chose; the model has those that all chose.
No row is judged with weights that it had a part in. A model of all rows, which judges none, has
the weights that all held-out rows choose.

Symbols: z scores of the members on a common scale, shape (members, rows); w weights.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import METHODS, roc
from aucstudio.engine.ensembles.combined import combine
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.ensembles.scales import Scale
from aucstudio.engine.ensembles.selection import select_in_bags
from aucstudio.engine.ensembles.shares import member_shares
from aucstudio.engine.ensembles.viewed import View, seen_through
from aucstudio.engine.methods.baselines._forest import ForestClassifier
from aucstudio.engine.methods.combination._board import draw_folds
from aucstudio.engine.monitor import Step, Stopped
from aucstudio.engine.types import Array, Index, Mask
from aucstudio.project.combination.planning import FOLDS
from aucstudio.project.combination.preparations import PreparationsDifferError, common_preparation
from aucstudio.project.combination.sharing import Named, require_sharing
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.splitting.groups import Groups
from aucstudio.project.data.splitting.validation import FORWARD
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import refit
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.record import DONE, RunRecord, SplitResult, TrainingCurve
from aucstudio.project.runs.watch import Listener, Progress

_ACROSS = "Weights were chosen on the rows that the other splits held out, never on those judged."
_FORWARD = (
    "Weights were chosen on the held-out rows of earlier splits, never on later ones; in the first "
    "split all members weigh the same."
)
_WITHIN = (
    "Each held-out row was scored with weights that were chosen on the other held-out rows; the "
    "model has the weights that all of them chose."
)


@dataclasses.dataclass(frozen=True, eq=False)
class _Part:
    """What the members have in common in one split.

    Attributes
    ----------
    models : list of Model
    scales : list of Scale
    rows : ndarray of int
        Held out by all.
    positive : ndarray of bool
    z : ndarray of shape (members, rows)
    counts : ndarray or None
        How much each row counts; None where all count once.
    """

    models: list[Model]
    scales: list[Scale]
    rows: Index
    positive: Mask
    z: Array
    counts: Array | None

    @property
    def counting(self) -> Index:
        """List the rows that do not weigh nothing."""
        return np.arange(len(self.rows)) if self.counts is None else np.flatnonzero(self.counts)

    def some(self, rows: Index) -> tuple[Mask, Array, Array | None]:
        """Give classes, scores and counts of some of the rows."""
        return self.positive[rows], self.z[:, rows], _some(self.counts, rows)


@dataclasses.dataclass(frozen=True, eq=False)
class _Chosen:
    """Weights, and the rows that chose them."""

    weights: Array
    positive: Mask
    z: Array
    counts: Array | None
    criterion: Criterion

    @property
    def threshold(self) -> float:
        total = self.weights @ self.z
        return roc.equal_error_threshold(self.positive, total, weights=self.counts)

    @property
    def objective(self) -> float:
        return 1.0 - self.criterion(self.positive, self.weights @ self.z, self.counts)


def combine_runs(
    experiment: Experiment,
    runs: Sequence[Named],
    groups_of: Callable[[Index], Groups | None] = lambda rows: None,
    listen: Listener = lambda _progress: False,
) -> RunRecord:
    """Combine finished runs to a record; nothing is trained but the weights.

    Parameters
    ----------
    experiment : Experiment
        As :func:`~aucstudio.project.combination.planning.plan_combination` made it.
    runs : sequence of (name, record)
    groups_of : callable
        Gives the groups of held-out rows, asked for where these have to be dealt into folds.
    listen : callable, optional
        Called with :class:`Progress`; a true answer stops.

    Raises
    ------
    InputError
        If they share no held-out rows, a model cannot be read, or columns are prepared in ways
        that no model sees together; the sentence names the run.
    Stopped
        If ``listen`` asked to.
    """
    require_sharing(runs)
    runs = sorted(runs, key=lambda run: run[1].experiment.id)
    return _Combining(experiment, runs, groups_of, listen).record()


def combine_anew(
    experiment: Experiment, runs: Sequence[Named], table: AnyTable, listen: Listener | None = None
) -> Model:
    """Train the members once more, on all labelled rows, and combine them: a model to take away.

    All held-out rows choose the weights. The scale of a member is the mean of those of its splits.

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
        If ``listen`` asked to.
    """
    runs = sorted(runs, key=lambda run: run[1].experiment.id)
    heard = listen or (lambda _progress: False)
    return _Combining(experiment, runs, lambda rows: None, heard).anew(table)


class _Combining:
    def __init__(
        self,
        experiment: Experiment,
        runs: Sequence[Named],
        groups_of: Callable[[Index], Groups | None],
        listen: Listener,
    ) -> None:
        self._experiment, self._runs = experiment, runs
        self._groups_of, self._listen = groups_of, listen
        self._names = [name for name, _ in runs]
        self._splits = list(zip(*(record.splits for _, record in runs), strict=True))

    def record(self) -> RunRecord:
        created, began = RunRecord.now(), time.perf_counter()
        repeats: dict[int, list[int]] = {}
        for k, (first, *_) in enumerate(self._splits):
            repeats.setdefault(first.repeat, []).append(k)
        results: list[SplitResult] = []
        for places in repeats.values():
            parts = {k: self._part(self._splits[k]) for k in places}
            for k in places:
                results.append(self._result(k, parts))
                self._tell(k, None, results[-1])
        seconds = time.perf_counter() - began
        return RunRecord.made(self._experiment, DONE, results, created, seconds)

    def anew(self, table: AnyTable) -> Model:
        parts = [self._part(splits) for splits in self._splits]
        chosen = self._choose(*_together(parts), 0, (0, 1))
        models = [refit(record.experiment, table, self._listen) for _, record in self._runs]
        scales = zip(*(part.scales for part in parts), strict=True)
        whole = dataclasses.replace(parts[0], models=models, scales=list(map(_mean_scale, scales)))
        return self._combined(whole, chosen)[0]

    def _part(self, splits: Sequence[SplitResult]) -> _Part:
        """Put the held-out scores of all members on a common scale, which no class has a say in."""
        rows = splits[0].test_rows
        for split in splits[1:]:
            rows = np.intersect1d(rows, split.test_rows)
        models = [self._model(*given) for given in zip(self._runs, splits, strict=True)]
        raw = [_of_rows(split.test_rows, split.test_scores, rows) for split in splits]
        positive = _of_rows(splits[0].test_rows, splits[0].test_positive, rows)
        counts = _known_weights(splits[0].test_rows, splits[0].test_weights, rows)
        if not _both_classes(positive, counts):
            raise InputError(
                "the rows that all of these runs held out are of one class: leave out the run that "
                "sets most rows aside",
                setting="runs",
            )
        raw = [_own(model, scores) for model, scores in zip(models, raw, strict=True)]
        scales = [Scale.learn(s, _smoothing(m), counts) for s, m in zip(raw, models, strict=True)]
        z = np.array([scale(scores) for scale, scores in zip(scales, raw, strict=True)])
        return _Part(models, scales, rows, positive, z, counts)

    def _model(self, run: Named, split: SplitResult) -> Model:
        name, _ = run
        try:
            return split.model
        except ValueError as error:
            raise InputError(f"{name} lacks its model: {error}", setting="runs") from error

    def _choose(
        self, positive: Mask, z: Array, counts: Array | None, k: int, stage: tuple[int, int]
    ) -> _Chosen:
        """Choose weights on some rows."""
        criterion = Criterion.of_range(self._experiment.params["fpr_range"], positive, counts)
        rng = np.random.default_rng((int(self._experiment.params["random_state"]), k))
        turn, turns = stage

        def pulse(fraction: float) -> None:
            self._tell(k, (turn + fraction) / turns)

        weights = np.full(len(z), 1.0 / len(z))
        if _both_classes(positive, counts):
            weights = select_in_bags(z, positive, criterion, rng, pulse, row_weights=counts)
        return _Chosen(weights, positive, z, counts, criterion)

    def _equal(self, part: _Part) -> _Chosen:
        """Weigh all members the same, where no rows came before."""
        criterion = Criterion.of_range(
            self._experiment.params["fpr_range"], part.positive, part.counts
        )
        weights = np.full(len(part.z), 1.0 / len(part.z))
        return _Chosen(weights, part.positive, part.z, part.counts, criterion)

    def _result(self, k: int, parts: dict[int, _Part]) -> SplitResult:
        began, part = time.perf_counter(), parts[k]
        forward = self._experiment.validation.scheme == FORWARD
        others = [p for place, p in parts.items() if (place < k if forward else place != k)]
        if others:
            chosen = self._choose(*_together(others), k, (0, 1))
            total = chosen.weights @ part.z
        elif forward:
            chosen = self._equal(part)
            total = chosen.weights @ part.z
        else:
            chosen = self._choose(part.positive, part.z, part.counts, k, (0, FOLDS + 1))
            total = self._second_level(k, part, chosen)
        model, intercept = self._combined(part, chosen)
        return self._split(k, part, chosen, total + intercept, model, time.perf_counter() - began)

    def _second_level(self, k: int, part: _Part, chosen: _Chosen) -> Array:
        """Score each fold of the held-out rows with the weights that the others chose."""
        there = part.counting
        groups = self._groups_of(part.rows[there])
        codes = None if groups is None else groups.codes
        seed = int(self._experiment.params["random_state"])
        folds = draw_folds(part.positive[there], codes, FOLDS, seed)
        if len(folds) < 2:
            raise InputError(
                "the held-out rows have too few of one class, or too few groups of it, to choose "
                "weights on some and judge them on others: hold out more rows, or use folds",
                setting="runs",
            )
        # What weighs nothing is judged by nobody, and has no part in a choice.
        total = chosen.weights @ part.z
        whole = float(np.std(total)) or 1.0
        for fold, (choosing, held) in enumerate(folds):
            stage = fold + 1, len(folds) + 1
            found = self._choose(*part.some(there[choosing]), k, stage)
            # Sums with other weights spread otherwise: brought on one scale by all rows.
            spread = float(np.std(found.weights @ part.z)) or 1.0
            total[there[held]] = found.weights @ part.z[:, there[held]] / spread * whole
        return total

    def _combined(self, part: _Part, chosen: _Chosen) -> tuple[Model, float]:
        preparation, views = self._preparation(part.models)
        by_view: dict[int, list[int]] = {}
        for place, view in enumerate(views):
            by_view.setdefault(_first_alike(views, view), []).append(place)
        whole = []
        for places in by_view.values():
            members = [
                ([part.models[m].scorer], [part.scales[m]], float(chosen.weights[m]))
                for m in places
            ]
            whole.append(seen_through(combine(members), views[places[0]]))
        shares = member_shares(
            self._names,
            chosen.positive,
            chosen.z,
            chosen.weights,
            chosen.criterion,
            chosen.counts,
        )
        scorer = dataclasses.replace(
            whole[0],
            parts=tuple(p for one in whole for p in one.parts),
            base=sum(one.base for one in whole),
            members=tuple(shares),
        )
        first = part.models[0]
        intercept = -chosen.threshold
        model = dataclasses.replace(
            first,
            preparation=preparation,
            scorer=scorer,
            intercept=intercept,
            method=self._experiment.method,
            params=_plain(self._experiment.params),
            threshold="as trained",
            schema=self._experiment.data.schema,
            calibration=None,
            calibrated_on="",
        )
        return model, intercept

    def _preparation(self, models: Sequence[Model]) -> tuple[Preparation, list[View | None]]:
        try:
            return common_preparation([model.preparation for model in models])
        except PreparationsDifferError as error:
            raise InputError(
                f"{self._names[error.place]} prepares column {error.column!r} in another way than "
                "the other runs, and no one model can do both: leave it out, or run it again with "
                "the preparation of the others",
                column=error.column,
                setting="runs",
            ) from error

    def _split(
        self, k: int, part: _Part, chosen: _Chosen, scores: Array, model: Model, seconds: float
    ) -> SplitResult:
        splits = self._splits[k]
        train, positive, trained = self._training(splits, part, chosen, model.intercept)
        objective = chosen.objective
        made = f"{len(splits)} finished runs were combined; none was trained again."
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
            train_weights=_known_weights(splits[0].train_rows, splits[0].train_weights, train),
            test_weights=part.counts,
        )

    def _how(self, repeat: int) -> str:
        """Say which rows chose the weights."""
        if self._experiment.validation.scheme == FORWARD:
            return _FORWARD
        several = sum(first.repeat == repeat for first, *_ in self._splits) > 1
        return _ACROSS if several else _WITHIN

    def _training(
        self, splits: Sequence[SplitResult], part: _Part, chosen: _Chosen, intercept: float
    ) -> tuple[Index, Mask, Array]:
        """Give the rows that all members trained on, and what the combination makes of them."""
        rows = splits[0].train_rows
        for split in splits[1:]:
            rows = np.intersect1d(rows, split.train_rows)
        total = np.full(len(rows), intercept)
        members = zip(splits, part.models, part.scales, chosen.weights.tolist(), strict=True)
        for split, model, scale, weight in members:
            raw = _of_rows(split.train_rows, split.train_scores, rows)
            total += weight * scale(_own(model, raw))
        return rows, _of_rows(splits[0].train_rows, splits[0].train_positive, rows), total

    def _tell(self, k: int, fraction: float | None, finished: SplitResult | None = None) -> None:
        step = None if fraction is None else Step(1, stage="choosing weights", fraction=fraction)
        told = Progress(k, len(self._splits), step, 0.0, None, finished=finished)
        if self._listen(told) and finished is None:
            raise Stopped("choosing weights")


def _mean_scale(scales: Sequence[Scale]) -> Scale:
    """Average the scales of a member's splits, whose link is the same."""
    shift, spread = (float(np.mean([getattr(s, n) for s in scales])) for n in ("shift", "spread"))
    return Scale(scales[0].smoothing, shift, spread)


def _both_classes(positive: Mask, counts: Array | None) -> bool:
    """Tell whether rows of both classes count."""
    there = positive if counts is None else positive[counts > 0]
    return bool(there.any() and not there.all())


def _together(parts: Sequence[_Part]) -> tuple[Mask, Array, Array | None]:
    """Give classes, scores and counts of the rows of several splits."""
    counts = [part.counts for part in parts if part.counts is not None]
    return (
        np.concatenate([part.positive for part in parts]),
        np.concatenate([part.z for part in parts], axis=1),
        np.concatenate(counts) if counts else None,
    )


def _some(counts: Array | None, rows: Index) -> Array | None:
    return None if counts is None else counts[rows]


def _known_weights(rows: Index, weights: Array | None, wanted: Index) -> Array | None:
    return None if weights is None else _of_rows(rows, weights, wanted)


def _of_rows(rows: Index, values: NDArray[Any], wanted: Index) -> NDArray[Any]:
    """Give the values of some of the rows, which need not be sorted."""
    order = np.argsort(rows, kind="stable")
    return values[order[np.searchsorted(rows, wanted, sorter=order)]]


def _own(model: Model, scores: Array) -> Array:
    """Give the scores of a model's scorer from those kept, which have its intercept."""
    own = scores - model.intercept
    return np.clip(own, 0.0, 1.0) if _smoothing(model) else own


def _smoothing(model: Model) -> float:
    """Tell by how much log-odds of a model's shares are smoothed; 0 for scores that are none."""
    method = METHODS[model.method]
    return 1.0 / int(model.params["n_trees"]) if issubclass(method, ForestClassifier) else 0.0


def _first_alike(views: Sequence[View | None], view: View | None) -> int:
    for place, other in enumerate(views):
        if other is view:
            return place
        if other is None or view is None:
            continue
        names = [field.name for field in dataclasses.fields(View)]
        pairs = [(getattr(other, name), getattr(view, name)) for name in names]
        if all(np.array_equal(a, b, equal_nan=True) for a, b in pairs):
            return place
    raise AssertionError("a view is like itself")


def _one_step(members: int, seconds: float, objective: float) -> TrainingCurve:
    return TrainingCurve(
        np.array([members], dtype=np.int64),
        np.array([seconds]),
        np.array([objective]),
        np.array([np.nan]),
    )


def _plain(params: Any) -> dict[str, Any]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in params.items()}
