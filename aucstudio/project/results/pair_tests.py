"""Tests of all pairs of runs as independent calls."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from aucstudio.engine import inference, roc
from aucstudio.project.data.splitting.validation import FORWARD
from aucstudio.project.results.common_rows import Scores, common_scores
from aucstudio.project.results.summary import LEVEL, ranking, same_rows
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord, SplitResult
from aucstudio.project.work.cluster import Cluster, answers

FractionListener = Callable[[float], object]
# Rows scored over all pairs, from which on the tests take longer than sending the scores.
_WORTH_SENDING = 1_000_000


def pair_tests(
    pairs: Sequence[tuple[RunRecord, RunRecord]],
    band: Band,
    progress: FractionListener | None = None,
    workers: Cluster | None = None,
) -> list[inference.TestResult]:
    """Test pairs of runs that were scored on the same rows.

    Parameters
    ----------
    pairs : sequence of (RunRecord, RunRecord)
    band : (float, float)
        (0, 1) for the AUC.
    progress : callable, optional
    workers : Cluster, optional
        Get the pairs as tasks, where the tests take longer than sending the scores.

    Returns
    -------
    list of TestResult
    """
    whole = [same_rows(*pair) for pair in pairs]
    records = {id(record): record for pair in itertools.compress(pairs, whole) for record in pair}
    scored: dict[int, Any] = {key: _Scored.of(record, band) for key, record in records.items()}
    rows = sum(split.n_test for record, _ in pairs for split in record.splits)
    if rows < _WORTH_SENDING:
        workers = None
    if workers is not None:
        scored = {key: workers.hold(one) for key, one in scored.items()}
    calls: list[Any] = [
        (_test, scored[id(a)], scored[id(b)]) if alike else (_test, *_Scored.of_common(a, b, band))
        for (a, b), alike in zip(pairs, whole, strict=True)
    ]
    return answers(workers, calls, progress)


@dataclasses.dataclass(frozen=True, eq=False)
class _Scored:
    """What a test needs of a run.

    Attributes
    ----------
    splits : list of SplitResult or Scores
    sizes : (float, float)
        Rows that the first split trains on, and rows held out.
    band : (float, float)
    disjoint : bool
        Whether no row is held out twice.
    """

    splits: list[SplitResult | Scores]
    sizes: tuple[float, float]
    band: Band
    disjoint: bool

    @classmethod
    def of(cls, record: RunRecord, band: Band) -> _Scored:
        once = record.experiment.validation.disjoint
        return cls(list(record.splits), record.sizes, band, once)

    @classmethod
    def of_common(cls, a: RunRecord, b: RunRecord, band: Band) -> tuple[_Scored, _Scored]:
        """Return two runs on the rows that both scored."""
        one, other = map(list, zip(*common_scores(a, b), strict=True))
        forward = a.experiment.validation.scheme == FORWARD
        held = [len(part.positive) for part in (one if forward else one[:1])]
        sizes = a.sizes[0], sum(held) / len(held)
        once = a.experiment.validation.disjoint
        return cls(one, sizes, band, once), cls(other, sizes, band, once)

    def __getstate__(self) -> dict[str, Any]:
        """Travel with scores alone: sorted they are again where they arrive."""
        held_out = [
            Scores.of(split) if isinstance(split, SplitResult) else split for split in self.splits
        ]
        rest = {"sizes": self.sizes, "band": self.band, "disjoint": self.disjoint}
        return {"splits": held_out, **rest}

    @cached_property
    def placements(self) -> inference.Placements:
        """Return what the test of the only split needs; the same for every other run."""
        return inference.Placements(self._ranking(self.splits[0]), self.band)

    @cached_property
    def areas(self) -> list[float]:
        """Return the area of each split."""
        return [roc.area(self._ranking(split), *self.band) for split in self.splits]

    def _ranking(self, split: SplitResult | Scores) -> roc.Ranking:
        return ranking(split) if isinstance(split, SplitResult) else split.ranking()


def _test(a: _Scored, b: _Scored) -> inference.TestResult:
    if len(a.splits) > 1:
        return inference.splits_test(a.areas, b.areas, *a.sizes, LEVEL, disjoint=a.disjoint)
    return a.placements.test(b.placements, LEVEL)
