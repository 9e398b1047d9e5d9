"""Runs that would come out the same: found before a run is made once more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aucstudio.engine import DECLARED
from aucstudio.engine.params import declared_params
from aucstudio.project.data.splitting.validation import FILE
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.record import DONE, RunRecord


def find_twin(experiment: Experiment, records: Iterable[RunRecord]) -> RunRecord | None:
    """Find the last whole run whose scores an experiment would give again, number for number.

    What a run on a test file gives is not known before the file has been read again, so such an
    experiment has no twin.
    """
    if experiment.validation.scheme == FILE:
        return None
    same = (
        record
        for record in records
        if record.status == DONE and same_scores(experiment, record.experiment)
    )
    return next(reversed(list(same)), None)


def same_scores(a: Experiment, b: Experiment) -> bool:
    """Tell whether two experiments are bound to give the same scores of the same rows.

    Where the files lie does not matter, nor a setting that the others make meaningless, nor the
    FPR range that figures are read in, unless settings are searched by it.
    """
    return (
        a.method == b.method
        and a.tuning == b.tuning
        and a.members == b.members
        and a.preparation == b.preparation
        and a.validation.identity() == b.validation.identity()
        and _meant(a) == _meant(b)
        and (a.tuning is None or a.band == b.band)
        and a.data.sha256 == b.data.sha256
        and a.data.identity() == b.data.identity()
    )


def _meant(experiment: Experiment) -> Mapping[str, Any]:
    known, params = declared_params(DECLARED[experiment.method]), experiment.params
    return {
        name: v for name, v in params.items() if name not in known or known[name].matters(params)
    }
