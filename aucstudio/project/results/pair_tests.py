"""The test of every pair of runs, as calls that know nothing of each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import inference, roc
from aucstudio.project.results.summary import LEVEL, WHOLE
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.work.workers import Workers, answers

Progress = Callable[[float], object]
Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Test = tuple[float, float, float, float]
"""Difference, its interval's ends, p value."""

# Rows scored over all pairs, from which on the tests take longer than sending the scores.
_WORTH_SENDING = 1_000_000


def pair_tests(
    pairs: Sequence[tuple[RunRecord, RunRecord]],
    band: Band,
    progress: Progress | None = None,
    workers: Workers | None = None,
) -> list[Test]:
    """Test pairs of runs that were scored on the same rows.

    Parameters
    ----------
    pairs : sequence of (RunRecord, RunRecord)
    band : (float, float)
        (0, 1) for the AUC.
    progress : callable, optional
    workers : Workers, optional
        Get the pairs as tasks, where the tests take longer than sending the scores.

    Returns
    -------
    list of (difference, low, high, p)
    """
    records = {id(record): record for pair in pairs for record in pair}
    scored: dict[int, Any] = {key: _Scored.of(record) for key, record in records.items()}
    rows = sum(len(split.test_rows) for record, _ in pairs for split in record.splits)
    if rows < _WORTH_SENDING:
        workers = None
    if workers is not None:
        scored = {key: workers.hold(one) for key, one in scored.items()}
    calls = [(_test, scored[id(a)], scored[id(b)], band) for a, b in pairs]
    return answers(workers, calls, progress)


@dataclasses.dataclass(frozen=True, eq=False)
class _Scored:
    """What a test needs of a run.

    Attributes
    ----------
    held_out : list of (positive, scores)
        Of each split.
    sizes : (int, int)
        Rows that the first split trains on, and rows held out.
    """

    held_out: list[tuple[Mask, Array]]
    sizes: tuple[int, int]

    @classmethod
    def of(cls, record: RunRecord) -> _Scored:
        first = record.splits[0]
        held_out = [(split.test_positive, split.test_scores) for split in record.splits]
        return cls(held_out, (len(first.train_rows), len(first.test_rows)))


def _test(a: _Scored, b: _Scored, band: Band) -> Test:
    if len(a.held_out) > 1:
        ours, theirs = ([_area(*split, band) for split in run.held_out] for run in (a, b))
        found = inference.splits_test(ours, theirs, *a.sizes, LEVEL)
    elif band == WHOLE:
        found = inference.delong_test(*a.held_out[0], b.held_out[0][1], LEVEL)
    else:
        found = inference.pauc_test(*a.held_out[0], b.held_out[0][1], *band, LEVEL)
    return found.difference, found.low, found.high, found.p


def _area(positive: Mask, scores: Array, band: Band) -> float:
    if band == WHOLE:
        return roc.auc(positive, scores)
    return roc.partial_auc(positive, scores, *band).normalized
