"""The exported model of a run."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import class_counts
from aucstudio.engine.calibration import KINDS, Calibration, calibrate
from aucstudio.engine.roc import ThresholdRule, roc_curve
from aucstudio.notices.words import percent_words, suggestion
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.validation import LEAVE_PAIR_OUT
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.execute import refit
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.planning import PlannedRun
from aucstudio.project.runs.progress import Listener
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.scoring import scores_of

FEW_FOR_STEPS = 100


def take_model(
    plan: PlannedRun,
    record: RunRecord,
    rule: ThresholdRule | None = None,
    calibration: str | None = None,
    listen: Listener | None = None,
) -> Model:
    """Return the model to export.

    This is the validated model if the run has one split, and otherwise a refit on all labelled
    rows. Threshold and calibration are chosen on held-out rows; see :func:`with_carried_threshold`.
    ``listen`` is called as by :func:`~aucstudio.project.runs.execute.refit`.
    """
    if len(record.splits) == 1:
        return validated_model(record, 0, rule, calibration)
    model = refit(plan.experiment, plan.table, listen)
    if calibration is not None:
        model = calibrated(model, record, calibration)
    return with_carried_threshold(model, record, plan.table, rule)


def validated_model(
    record: RunRecord, split: int, rule: ThresholdRule | None, calibration: str | None = None
) -> Model:
    """Return the model of a split, with a threshold chosen on its held-out rows if there is a rule.

    With leave-pair-out no row is held out from the model, and its training rows are used.
    """
    result = record.splits[split]
    model = result.model
    if calibration is not None:
        model = calibrated(model, record, calibration, split)
    if rule is None:
        return model
    if record.experiment.validation.scheme == LEAVE_PAIR_OUT:
        rows = result.train_positive, result.train_scores, "the training rows"
        return model.with_threshold(rule, *rows, result.train_weights)
    rows = result.test_positive, result.test_scores, "the held-out rows"
    return model.with_threshold(rule, *rows, result.test_weights)


def with_carried_threshold(
    model: Model, record: RunRecord, table: AnyTable, rule: ThresholdRule | None
) -> Model:
    """Return a refit model with the threshold that a rule chooses on the held-out rows of a run.

    Scores of training rows are optimistic, and the refit model has no held-out rows. The threshold
    of the model of each split is therefore carried over by rank: as many of its training rows lie
    above the threshold in the scores of both models. Several splits give the mean of those on which
    the rule has a threshold. With leave-pair-out no row is held out, and the training rows decide.

    Parameters
    ----------
    model : Model
        Trained on all labelled rows.
    record : RunRecord
    table : AnyTable
    rule : ThresholdRule or None
        None leaves the threshold as it is.

    Raises
    ------
    ValueError
        If the rule has no threshold on any split.
    """
    if rule is None:
        return model
    seen = record.experiment.data.seen(table)
    scores = scores_of(model, seen)
    if record.experiment.validation.scheme == LEAVE_PAIR_OUT:
        rows = seen.is_positive(), scores[seen.labelled()], "the training rows"
        return model.with_threshold(rule, *rows, seen.weights)
    places, problems = [], []
    for split in record.splits:
        held = split.test_positive, split.test_scores
        try:
            place = rule.place(roc_curve(*held, weights=split.test_weights))
        except ValueError as error:
            problems.append(error)
            continue
        before, after = np.sort(split.train_scores), np.sort(scores[split.train_rows])
        places.append(np.interp(place, before, after))
    if not places:
        raise problems[0]
    made = "model" if len(places) == 1 else "models"
    words = f"where {rule.describe()} on the held-out rows, carried over from the validated {made}"
    return model.moved_to(float(np.mean(places)), scores[seen.labelled()], words)


@dataclasses.dataclass(frozen=True, eq=False)
class HeldOut:
    """One score for each held-out row; arrays of equal length.

    Attributes
    ----------
    positive : ndarray of bool
    scores : ndarray of float
    split : ndarray of int
        The first split that held the row out.
    weight : str or None
        The column of weights of the run. A calibration ignores it, but leaves out rows of weight 0.
    groups : ndarray of int or None
        The group of each row, if the run has groups.
    """

    positive: NDArray[np.bool_]
    scores: NDArray[np.float64]
    split: NDArray[np.intp]
    weight: str | None = None
    groups: NDArray[np.intp] | None = None

    def words(self) -> str:
        """Describe the rows."""
        share = percent_words(float(self.positive.mean()))
        once = "" if self.weight is None else f", each counted once, not weighted by {self.weight}"
        return f"{len(self.positive):,} held-out rows, {share} of them positive{once}"


def check_kind(kind: str) -> str:
    """Return the name of a calibration; InputError if it is unknown."""
    if kind not in KINDS:
        near = suggestion(kind, KINDS) or f"; choose one of {', '.join(KINDS)}"
        raise InputError(f"there is no calibration {kind!r}{near}", setting="calibrate")
    return kind


def held_out(record: RunRecord, split: int | None = None) -> HeldOut:
    """Collect the held-out scores of one split, or of all splits, each row once.

    Raises
    ------
    InputError
        If the run has none.
    """
    if record.experiment.validation.scheme == LEAVE_PAIR_OUT:
        raise input_error("pairs_do_not_calibrate")
    chosen = range(len(record.splits)) if split is None else [split]
    parts = [record.splits[k] for k in chosen]
    if not parts:
        raise InputError("the run has no held-out scores to calibrate on", setting="calibrate")
    _, first = np.unique(np.concatenate([part.test_rows for part in parts]), return_index=True)
    first.sort()
    weights = [
        np.ones(part.n_test) if part.test_weights is None else part.test_weights for part in parts
    ]
    first = first[np.concatenate(weights)[first] > 0]
    sizes = [len(part.test_rows) for part in parts]
    groups = [part.test_groups for part in parts if part.test_groups is not None]
    return HeldOut(
        np.concatenate([part.test_positive for part in parts])[first],
        np.concatenate([part.test_scores for part in parts])[first],
        np.repeat(np.asarray(chosen, np.intp), sizes)[first],
        record.experiment.weight,
        np.concatenate(groups)[first] if len(groups) == len(parts) else None,
    )


def fit_calibration(
    kind: str, positive: NDArray[np.bool_], scores: NDArray[np.float64]
) -> Calibration:
    """Fit a calibration; InputError states why it cannot be fitted."""
    try:
        return calibrate(check_kind(kind), positive, scores)
    except ValueError as error:
        raise InputError(str(error), setting="calibrate") from error


def calibrated(
    model: Model,
    record: RunRecord,
    kind: str,
    split: int | None = None,
) -> Model:
    """Return a model with a calibration.

    Parameters
    ----------
    model : Model
        The model of a split, or a refit model, for which the held-out scores of the splits are
        used.
    record : RunRecord
    kind : {"isotonic", "platt", "beta"}
    split : int, optional
        The split whose model it is.

    Raises
    ------
    InputError
        If there are no rows to fit it on.
    """
    rows = held_out(record, split)
    made = fit_calibration(kind, rows.positive, rows.scores)
    return dataclasses.replace(model, calibration=made, calibrated_on=rows.words())


def caution(kind: str, positive: NDArray[np.bool_]) -> str:
    """Return a caution against a kind on these rows; empty if there is none."""
    fewest = min(class_counts(positive))
    if kind == "isotonic" and fewest < FEW_FOR_STEPS:
        return (
            "Isotonic calibration overfits where rows are few, and the smaller class has "
            f"{fewest}: Platt or beta calibration is more stable."
        )
    return ""
