"""Compare runs: figures, pairwise tests and wins.

One held-out part is compared by DeLong's paired test, as few rows allow (for the partial AUC, by
its components);
several splits by the corrected resampled t test on the differences split by split. The p-values
are corrected over all pairs that can be compared. The tests of pairs are independent, so that
workers may make them.

Splits of one table share rows, so their ranks are described (a mean) and not tested: Friedman's
and Nemenyi's tests take the tables they rank over to be independent.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import DECLARED, inference
from aucstudio.engine.params import declared_params
from aucstudio.notices import Notice
from aucstudio.project.results.comparability import difference
from aucstudio.project.results.pair_tests import FractionListener, pair_tests
from aucstudio.project.results.summary import (
    LEVEL,
    Summary,
    auc_summary,
    number,
    pauc_summary,
    train_auc,
)
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.work.cluster import Cluster

Named = tuple[str, RunRecord]

AUC, PAUC = "auc", "pauc"
HOLM, BONFERRONI, UNCORRECTED = "holm", "bonferroni", "none"
CORRECTION_NAMES = {HOLM: "Holm", BONFERRONI: "Bonferroni", UNCORRECTED: "None"}
_CORRECT: Mapping[str, Callable[[list[float]], Iterable[float]]] = {
    HOLM: inference.holm,
    BONFERRONI: inference.bonferroni,
    UNCORRECTED: iter,
}
_DECIMALS = 12  # beyond these equal areas may differ by rounding


@dataclasses.dataclass(frozen=True)
class RunFigures:
    """The row of one run.

    Attributes
    ----------
    name : str
    auc, pauc : Summary
        Held out; the partial AUC is normalised by the band's width.
    train_auc : float
    fit_seconds : float
    splits : int
    trained_for : (float, float) or None
        The FPR range that the method was set to; None where it takes none.
    weight : str
        The column that weighs the rows; empty where every row counts once.
    """

    name: str
    auc: Summary
    pauc: Summary
    train_auc: float
    fit_seconds: float
    splits: int
    trained_for: Band | None = None
    weight: str = ""

    @property
    def gap(self) -> float:
        """By how much the AUC is higher on the training rows."""
        return self.train_auc - self.auc.value

    def measured(self, measure: str) -> Summary:
        """Return one of the two areas."""
        return self.auc if measure == AUC else self.pauc

    def trained_elsewhere(self, band: Band) -> bool:
        """Return whether the method was set to another FPR range than ``band``."""
        return self.trained_for is not None and not np.allclose(
            self.trained_for, band, rtol=0, atol=1e-9
        )


@dataclasses.dataclass(frozen=True, slots=True)
class PairComparison:
    """Two runs on the same rows, or why they cannot be compared.

    Attributes
    ----------
    a, b : str
    difference, low, high : float
        Measure of ``a`` minus that of ``b`` with its 95 % interval.
    p, p_corrected : float
        Two-sided; the second corrected for all pairs compared at once.
    refused : Notice or None
        Why nothing was computed; the numbers are NaN then.
    correction : {"holm", "bonferroni", "none"}
    reason : str
        Why a difference was computed but not tested; empty where it was.
    alike : bool
        Whether both rank every pair identically, so that there is nothing to test.
    """

    a: str
    b: str
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_corrected: float = math.nan
    refused: Notice | None = None
    correction: str = HOLM
    reason: str = ""
    alike: bool = False

    @property
    def significant(self) -> bool:
        """Whether the difference is significant after the correction."""
        return inference.is_significant(self.p_corrected, LEVEL)

    @property
    def better(self) -> str:
        """Name of the run that ranks better."""
        return self.a if self.difference >= 0 else self.b

    def turned(self) -> PairComparison:
        """Return the same comparison from the other run's side."""
        return dataclasses.replace(
            self,
            a=self.b,
            b=self.a,
            difference=-self.difference,
            low=-self.high,
            high=-self.low,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as plain data; the corrected p is named after its correction."""
        values: dict[str, Any] = {one.name: getattr(self, one.name) for one in _FIELDS_OF_PAIRS}
        correction, p = values.pop("correction"), values.pop("p_corrected")
        if correction != UNCORRECTED:
            values[f"p_{correction}"] = p
        values["refused"] = str(self.refused or "")
        return {k: number(v) if isinstance(v, float) else v for k, v in values.items()}


_FIELDS_OF_PAIRS = dataclasses.fields(PairComparison)


@dataclasses.dataclass(frozen=True)
class WinCount:
    """How one run does against all others.

    Attributes
    ----------
    wins, ties, losses : int
        Pairs that it wins significantly, that are not significant, and that it loses significantly.
    mean_rank : float
        Over splits, among the runs scored on the same rows; 1 is best, and equal areas share
        their mean. NaN where there is no other such run.
    """

    wins: int
    ties: int
    losses: int
    mean_rank: float


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Runs with every pair of them, in the order of :func:`itertools.combinations`.

    Attributes
    ----------
    runs : sequence of RunFigures
    pairs : sequence of PairComparison
    measure : {"auc", "pauc"}
        What the pairs and the ranks are about.
    """

    runs: Sequence[RunFigures]
    pairs: Sequence[PairComparison]
    measure: str = AUC

    def places(self) -> Iterator[tuple[int, int, PairComparison]]:
        """Return every pair with the places of its two runs."""
        places = itertools.combinations(range(len(self.runs)), 2)
        return ((i, j, pair) for (i, j), pair in zip(places, self.pairs, strict=True))

    def standings(self) -> list[WinCount]:
        """Count wins, ties and losses of each run, and rank it over the splits."""
        count = len(self.runs)
        tally = np.zeros((count, 3), dtype=int)
        peers = np.eye(count, dtype=bool)
        for i, j, pair in self.places():
            peers[i, j] = peers[j, i] = not pair.refused
            if pair.significant:
                won, lost = (i, j) if pair.difference >= 0 else (j, i)
                tally[won, 0] += 1
                tally[lost, 2] += 1
            elif not math.isnan(pair.p):
                tally[[i, j], 1] += 1
        ranks = [self._mean_rank(k, np.flatnonzero(peers[k])) for k in range(count)]
        return [
            WinCount(int(wins), int(ties), int(losses), rank)
            for (wins, ties, losses), rank in zip(tally, ranks, strict=True)
        ]

    def _mean_rank(self, k: int, peers: NDArray[np.intp]) -> float:
        if len(peers) < 2:
            return math.nan
        values = np.array([self.runs[j].measured(self.measure).per_split for j in peers])
        values = np.round(values, _DECIMALS)
        own = values[peers.tolist().index(k)]
        ranks = (values > own).sum(axis=0) + ((values == own).sum(axis=0) + 1) / 2
        return float(np.where(np.isnan(values).any(axis=0), math.nan, ranks).mean())


def run_figures(name: str, record: RunRecord, band: Band) -> RunFigures:
    """Compute the figures of one run from its stored scores."""
    return RunFigures(
        name,
        auc_summary(record),
        pauc_summary(record, band),
        train_auc(record),
        record.fit_seconds,
        len(record.splits),
        trained_for(record),
        record.experiment.weight or "",
    )


def trained_for(record: RunRecord) -> Band | None:
    """Return the FPR range that a run's method was set to, or None where it takes none."""
    declared = declared_params(DECLARED[record.experiment.method]).get("fpr_range")
    if declared is None:
        return None
    asked = record.params.get("fpr_range", declared.default)
    return None if asked is None else (float(asked[0]), float(asked[1]))


def compare_runs(
    runs: Sequence[Named],
    band: Band,
    measure: str = AUC,
    progress: FractionListener | None = None,
    workers: Cluster | None = None,
) -> list[PairComparison]:
    """Compare every run with every later one.

    Parameters
    ----------
    runs : sequence of (name, record)
        Each with at least one finished split.
    band : (float, float)
    measure : {"auc", "pauc"}
        Which area; the partial one is normalised by the band's width.
    progress : callable, optional
        Receives the fraction done after every pair; stops if it returns True.
    workers : Cluster, optional
        Make the tests, if these are worth sending; by default they are made in this process.

    Raises
    ------
    Stopped
        If ``progress`` returned True.
    WorkersLostError
        If the workers were lost.
    """
    band = (0.0, 1.0) if measure == AUC else band
    pairs = list(itertools.combinations(runs, 2))
    refusals = [difference(a, b) for (_, a), (_, b) in pairs]
    sound = [(a, b) for ((_, a), (_, b)), why in zip(pairs, refusals, strict=True) if not why]
    tests = iter(pair_tests(sound, band, progress, workers))
    found = [
        PairComparison(a, b, refused=refused) if refused else _compared(a, b, next(tests))
        for ((a, _), (b, _)), refused in zip(pairs, refusals, strict=True)
    ]
    return corrected(found)


def _compared(a: str, b: str, test: inference.TestResult) -> PairComparison:
    found = test.difference, test.low, test.high, test.p
    # Other rankings of the same area have a standard error.
    alike = test.difference == 0.0 and test.se == 0.0
    return PairComparison(a, b, *found, reason=test.reason, alike=alike)


def corrected(pairs: Sequence[PairComparison], correction: str = HOLM) -> list[PairComparison]:
    """Correct the p-values of all pairs at once; those without one do not count.

    Parameters
    ----------
    pairs : sequence of PairComparison
    correction : {"holm", "bonferroni", "none"}
    """
    values = _CORRECT[correction]([pair.p for pair in pairs])
    return [
        dataclasses.replace(pair, p_corrected=float(p), correction=correction)
        for pair, p in zip(pairs, values, strict=True)
    ]
