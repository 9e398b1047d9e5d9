"""Held-out scores of the members on a common scale, and weights chosen on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import DECLARED, roc
from aucstudio.engine.arrays import Array, Index, Mask, class_counts
from aucstudio.engine.crossfit.fitting import log_odds_smoothing
from aucstudio.engine.ensembles.combined import Scale
from aucstudio.engine.ensembles.selection import Criterion, choose_weights
from aucstudio.project.combination.planning import Named
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.record import SplitResult


@dataclasses.dataclass(frozen=True, eq=False)
class MemberScores:
    """Rows with the scores of all members.

    Attributes
    ----------
    positive : ndarray of bool
    z : ndarray of shape (members, rows)
        On a common scale.
    counts : ndarray or None
        Weights of the rows; None if every row counts once.
    """

    positive: Mask
    z: Array
    counts: Array | None

    @property
    def counting(self) -> Index:
        """List the rows of positive weight."""
        return np.flatnonzero(np.ones(len(self.positive)) if self.counts is None else self.counts)

    @property
    def have_both_classes(self) -> bool:
        """Whether rows of both classes count."""
        return all(class_counts(self.positive[self.counting]))

    def some(self, rows: Index) -> MemberScores:
        """Return some of the rows."""
        counts = None if self.counts is None else self.counts[rows]
        return MemberScores(self.positive[rows], self.z[:, rows], counts)


@dataclasses.dataclass(frozen=True, eq=False)
class SharedSplit(MemberScores):
    """The shared rows of the members in one split.

    Attributes
    ----------
    models : list of Model
    scales : list of Scale
    rows : ndarray of int
        Held out by all members.
    """

    models: list[Model]
    scales: list[Scale]
    rows: Index


def on_common_scale(runs: Sequence[Named], splits: Sequence[SplitResult]) -> SharedSplit:
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
    if not MemberScores(positive, np.array(raw), counts).have_both_classes:
        raise input_error("shared_rows_of_one_class")
    raw = [own_scores(model, scores) for model, scores in zip(models, raw, strict=True)]
    scales = [Scale.learn(s, _smoothing(m), counts) for s, m in zip(raw, models, strict=True)]
    z = np.array([scale(scores) for scale, scores in zip(scales, raw, strict=True)])
    return SharedSplit(positive, z, counts, models, scales, rows)


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


def together(parts: Sequence[SharedSplit]) -> MemberScores:
    """Return the rows of several splits."""
    counts = [part.counts for part in parts if part.counts is not None]
    return MemberScores(
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
    rows: MemberScores
    criterion: Criterion

    @property
    def threshold(self) -> float:
        rows, total = self.rows, self.weights @ self.rows.z
        return roc.equal_error_threshold(roc.roc_curve(rows.positive, total, weights=rows.counts))

    @property
    def objective(self) -> float:
        rows = self.rows
        return 1.0 - self.criterion(rows.positive, self.weights @ rows.z, rows.counts)


def member_weights(
    experiment: Experiment,
    rows: MemberScores,
    k: int,
    report: Callable[[float], object],
) -> ChosenWeights:
    """Choose weights on some rows; equal weights if they are of one class.

    Parameters
    ----------
    experiment : Experiment
        Defines the range and the random seed.
    rows : MemberScores
        To choose on.
    k : int
        Number of the split, which is part of the random seed.
    report : callable
        Called with the fraction that is done.
    """
    equal = weigh_equally(experiment, rows)
    if not rows.have_both_classes:
        return equal
    rng = np.random.default_rng((int(experiment.params["random_state"]), k))
    given = rows.z, rows.positive, equal.criterion, rng, report
    weights = choose_weights(*given, row_weights=rows.counts)
    return dataclasses.replace(equal, weights=weights)


def weigh_equally(experiment: Experiment, rows: MemberScores) -> ChosenWeights:
    """Return equal weights for all members."""
    criterion = Criterion.of_range(experiment.params["fpr_range"], rows.positive, rows.counts)
    return ChosenWeights(np.full(len(rows.z), 1.0 / len(rows.z)), rows, criterion)
