"""The exported model of a run."""

from __future__ import annotations

import numpy as np

from aucstudio.engine.roc import ThresholdRule, roc_curve
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.splitting.validation import LEAVE_PAIR_OUT
from aucstudio.project.runs.execute import refit
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.experiments.planning import PlannedRun
from aucstudio.project.runs.models.calibrating import calibrated
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.models.scoring import scores_of
from aucstudio.project.runs.record import RunRecord


def take_model(
    plan: PlannedRun,
    record: RunRecord,
    rule: ThresholdRule | None = None,
    calibration: str | None = None,
) -> Model:
    """Return the model to export.

    This is the validated model if the run has one split, and otherwise a refit on all labelled
    rows. The threshold is chosen on held-out rows in the first case and on the training rows in the
    second; the calibration always on held-out rows.
    """
    if len(record.splits) == 1:
        return validated_model(record, 0, rule, calibration)
    model = refit(plan.experiment, plan.table)
    if calibration is not None:
        model = calibrated(model, record, calibration)
    return rethresholded(model, plan.experiment, plan.table, rule)


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


def rethresholded(
    model: Model, experiment: Experiment, table: AnyTable, rule: ThresholdRule | None
) -> Model:
    """Choose the threshold of a model on the labelled rows of its table, if there is a rule."""
    if rule is None:
        return model
    table = experiment.data.seen(table)
    scores = scores_of(model, table)[table.labelled()]
    rows = table.is_positive(), scores, "the training rows"
    return model.with_threshold(rule, *rows, table.weights)


def with_carried_threshold(
    model: Model, record: RunRecord, table: AnyTable, rule: ThresholdRule
) -> Model:
    """Return a refit model with the threshold that a rule chooses on the held-out rows of a run.

    Scores of training rows are optimistic, and the refit model has no held-out rows. The threshold
    of the validated model is therefore carried over by rank: as many of its training rows lie above
    the threshold in the scores of both models.

    Parameters
    ----------
    model : Model
        Trained on all labelled rows.
    record : RunRecord
        Of one split.
    table : AnyTable
    rule : ThresholdRule
    """
    (split,) = record.splits
    held = split.test_positive, split.test_scores
    place = rule.place(roc_curve(*held, weights=split.test_weights))
    scores = scores_of(model, record.experiment.data.seen(table))[split.train_rows]
    before, after = np.sort(split.train_scores), np.sort(scores)
    carried = float(np.interp(place, before, after))
    words = f"where {rule.describe()} on the held-out rows, carried over from the validated model"
    return model.moved_to(carried, scores, words)
