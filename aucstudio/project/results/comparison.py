"""Compare runs: figures, pairwise tests and wins.

One held-out part is compared by DeLong's paired test, as few rows allow (for the partial AUC, by
its components; for the TPR at an FPR, by those of a narrow range around it);
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
from functools import cached_property
from pathlib import PurePath
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import inference, roc
from aucstudio.engine.roc import FREQUENCY
from aucstudio.notices import Notice, notice, text
from aucstudio.project.data.columns import ColumnChoices
from aucstudio.project.data.validation import FORWARD
from aucstudio.project.results.summary import (
    DECIMALS,
    LEVEL,
    WHOLE,
    Estimate,
    Scores,
    around,
    auc_summary,
    common_scores,
    comparable,
    is_elsewhere,
    pauc_summary,
    ranking,
    same_rows,
    tpr_summary,
    train_auc,
    trained_for,
)
from aucstudio.project.runs.experiment import Band, DataReference, Experiment
from aucstudio.project.runs.record import RunRecord, SplitResult
from aucstudio.project.typed import plain
from aucstudio.project.work.cluster import Cluster, call_all

Named = tuple[str, RunRecord]
Run = TypeVar("Run")  # the name or the place of a run

AUC, PAUC, TPR = "auc", "pauc", "tpr"
HOLM, BONFERRONI, UNCORRECTED = "holm", "bonferroni", "none"
CORRECTION_NAMES = {HOLM: "Holm", BONFERRONI: "Bonferroni", UNCORRECTED: "None"}
_CORRECT: Mapping[str, Callable[[list[float]], Iterable[float]]] = {
    HOLM: inference.holm,
    BONFERRONI: inference.bonferroni,
    UNCORRECTED: iter,
}


def range_of(measure: str, band: Band) -> Band:
    """Return the range over which a measure is the mean TPR; of no width for the TPR itself."""
    return {AUC: WHOLE, PAUC: band, TPR: (band[1], band[1])}[measure]


def measure_words(measure: str, band: Band) -> str:
    """Name a measure with its range or its FPR: ``pAUC in FPR 0 … 0.1``."""
    return text("compared_measure", measure=measure, band=band, fpr=band[1])


@dataclasses.dataclass(frozen=True)
class RunFigures:
    """The row of one run.

    Attributes
    ----------
    name : str
    auc, pauc, tpr : Estimate
        Held out; the partial AUC is normalised by the band's width, the TPR is at its end.
    train_auc : float
    fit_seconds : float
    splits : int
    trained_for : (float, float) or None
        The FPR range that the method was set to; None where it takes none.
    weight : str
        The column that weighs the rows; empty where every row counts once.
    """

    name: str
    auc: Estimate
    pauc: Estimate
    tpr: Estimate
    train_auc: float
    fit_seconds: float
    splits: int
    trained_for: Band | None = None
    weight: str = ""

    @property
    def gap(self) -> float:
        """By how much the AUC is higher on the training rows."""
        return self.train_auc - self.auc.value

    def measured(self, measure: str) -> Estimate:
        """Return the figure of a measure."""
        return {AUC: self.auc, PAUC: self.pauc, TPR: self.tpr}[measure]

    def trained_elsewhere(self, band: Band) -> bool:
        """Return whether the method was set to another FPR range than ``band``."""
        return is_elsewhere(self.trained_for, band)


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
    notices : tuple of Notice
        How the columns that the two runs used differ.
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
    notices: tuple[Notice, ...] = ()

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
        values: dict[str, Any] = plain(self, "correction", "p_corrected")
        if self.correction != UNCORRECTED:
            values[f"p_{self.correction}"] = plain(self.p_corrected)
        return values | {"refused": str(self.refused or "")}


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
    measure : {"auc", "pauc", "tpr"}
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
        peers, first = np.eye(count, dtype=bool), _firsts(self.places())
        for i, j, pair in self.places():
            peers[i, j] = peers[j, i] = not pair.refused
            if pair.significant:
                won, lost = (i, j) if pair.difference >= 0 else (j, i)
                tally[won, 0] += 1
                tally[lost, 2] += 1
            elif not math.isnan(pair.p):
                tally[[i, j], 1] += 1
        # Runs that rank every pair alike have one place.
        peers[:, [*first]] = False
        own = [first.get(k, k) for k in range(count)]
        ranks = [self._mean_rank(k, np.flatnonzero(peers[k])) for k in own]
        return [
            WinCount(int(wins), int(ties), int(losses), rank)
            for (wins, ties, losses), rank in zip(tally, ranks, strict=True)
        ]

    def _mean_rank(self, k: int, peers: NDArray[np.intp]) -> float:
        if len(peers) < 2:
            return math.nan
        values = np.array([self.runs[j].measured(self.measure).per_split for j in peers])
        values = np.round(values, DECIMALS)
        own = values[peers.tolist().index(k)]
        ranks = (values > own).sum(axis=0) + ((values == own).sum(axis=0) + 1) / 2
        return float(np.where(np.isnan(values).any(axis=0), math.nan, ranks).mean())


def compared_figures(name: str, record: RunRecord, band: Band) -> RunFigures:
    """Compute the figures of one run from its stored scores."""
    return RunFigures(
        name,
        auc_summary(record),
        pauc_summary(record, band),
        tpr_summary(record, band[1]),
        train_auc(record),
        record.fit_seconds,
        len(record.splits),
        trained_for(record),
        record.experiment.weight or "",
    )


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
    measure : {"auc", "pauc", "tpr"}
        Which area, the partial one normalised by the band's width; or the TPR at the band's end.
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
    band = range_of(measure, band)
    pairs = list(itertools.combinations(runs, 2))
    refusals = [difference(a, b) for (_, a), (_, b) in pairs]
    sound = [(a, b) for ((_, a), (_, b)), why in zip(pairs, refusals, strict=True) if not why]
    tests = iter(pair_tests(sound, band, progress, workers))
    found = [
        PairComparison(a[0], b[0], refused=refused) if refused else _compared(a, b, next(tests))
        for (a, b), refused in zip(pairs, refusals, strict=True)
    ]
    return corrected(found)


def pair_headline(pair: PairComparison, measure: str, rows: str) -> str:
    """State which run of a pair ranks better on these rows, or that neither does significantly."""
    where = measure.partition(" ")[2]
    if pair.refused or math.isnan(pair.p):
        why = pair.refused or pair.reason or text("too_few_to_test")
        return text("pair_not_compared", pair=pair, rows="" if pair.refused else rows, why=why)
    if pair.alike:
        return text("pair_alike", pair=pair, rows=rows, where=where)
    ahead = pair if pair.difference >= 0 else pair.turned()
    code = "pair_significant" if pair.significant else "pair_not_significant"
    return text(code, pair=ahead, rows=rows, where=where)


def rows_words(record: RunRecord) -> str:
    """Describe the rows that a run was scored on."""
    splits, weight = record.splits, record.experiment.weight
    rows = len(splits[0].test_rows) if len(splits) == 1 else None
    return text("these_rows", rows=rows, splits=len(splits), several=rows is None, weight=weight)


def _compared(a: Named, b: Named, test: inference.TestResult) -> PairComparison:
    found = test.difference, test.low, test.high, test.p
    # Other rankings of the same area have a standard error.
    alike = test.difference == 0.0 and test.se == 0.0
    (name, one), (other_name, other) = a, b
    given, schema = other.experiment.is_given, other.experiment.data.schema
    notices = () if given else other_columns(name, one.experiment, other_name, schema)
    pair = PairComparison(name, other_name, *found, reason=test.reason, alike=alike)
    return dataclasses.replace(pair, notices=notices)


def corrected(pairs: Sequence[PairComparison], correction: str = HOLM) -> list[PairComparison]:
    """Correct the p-values of all pairs at once.

    Those without one do not count; of runs that rank every pair alike the first counts.

    Parameters
    ----------
    pairs : sequence of PairComparison
    correction : {"holm", "bonferroni", "none"}
    """
    first = _firsts((pair.a, pair.b, pair) for pair in pairs)
    runs = [frozenset(first.get(run, run) for run in (pair.a, pair.b)) for pair in pairs]
    counts = [first.keys().isdisjoint((pair.a, pair.b)) for pair in pairs]
    tested = [pair.p if own else math.nan for pair, own in zip(pairs, counts, strict=True)]
    values = list(_CORRECT[correction](tested))
    known = {of: p for of, p, own in zip(runs, values, counts, strict=True) if own}
    return [
        dataclasses.replace(
            pair, p_corrected=float(p if own else known.get(of, pair.p)), correction=correction
        )
        for pair, of, p, own in zip(pairs, runs, values, counts, strict=True)
    ]


def _firsts(places: Iterable[tuple[Run, Run, PairComparison]]) -> dict[Run, Run]:
    """Map each run that ranks every pair as an earlier one does to the first of these."""
    found: dict[Run, Run] = {}
    for a, b, pair in places:
        if pair.alike and a != b:
            found.setdefault(b, found.get(a, a))
    return found


REMEDIES = {
    "trained_on_different_tables": "on the same table",
    "tested_on_different_tables": "with the test file of the other",
    "made_for_different_classes": "for the same class",
    "split_differently": "with the validation and groups of the other",
    "weighted_differently": "with the weights of the other",
}
"""How one of two runs has to be repeated; other differences have no remedy."""


def planned_difference(a: RunRecord, b: RunRecord) -> Notice | None:
    """Return how the planned rows of two runs differ, without reading scores; None if equal."""
    data, other = a.experiment.data, b.experiment.data
    if data.sha256 != other.sha256:
        return notice("trained_on_different_tables", files=_files(data, other))
    test, other_test = a.experiment.test, b.experiment.test
    if test is not None and other_test is not None:
        if test.sha256 != other_test.sha256:
            return notice("tested_on_different_tables", files=_files(test, other_test))
    elif (test or other_test) and a.experiment.validation.scheme == b.experiment.validation.scheme:
        return notice("test_file_not_recorded")
    for code, describe in (
        ("made_for_different_classes", lambda made: f"{made.data.label} = {made.data.positive}"),
        ("split_differently", lambda made: made.validation.describe()),
        ("split_differently", _grouping),
        ("weighted_differently", _weighing),
    ):
        first, second = describe(a.experiment), describe(b.experiment)
        if first != second:
            return notice(code, first=first, second=second)
    return None


def other_columns(
    name: str, made: Experiment, other_name: str, other: ColumnChoices
) -> tuple[Notice, ...]:
    """Return how the features of a run differ from those of another schema or of a table."""
    own, others = made.data.schema.feature_reading, other.feature_reading
    if made.is_given or own == others:
        return ()
    more = tuple(one for one in own if one not in others)
    fewer = tuple(one for one in others if one not in own)
    changed = tuple(one for one, read in own.items() if others.get(one, read) != read)
    found = (
        ("used_more_columns", {"run": name, "count": len(more), "columns": more}),
        ("used_more_columns", {"run": other_name, "count": len(fewer), "columns": fewer}),
        ("read_columns_differently", {"count": len(changed), "columns": changed}),
    )
    return tuple(notice(code, **values) for code, values in found if values["columns"])


def difference(a: RunRecord, b: RunRecord) -> Notice | None:
    """Return how the scored rows of two runs differ; None if they can be compared."""
    if same_rows(a, b):
        return None
    if planned := planned_difference(a, b):
        return planned
    if len(a.splits) != len(b.splits):
        return notice("different_splits_finished", first=len(a.splits), second=len(b.splits))
    if any(one.experiment.is_given or one.experiment.members for one in (a, b)):
        return None if comparable(a, b) else notice("too_few_common_rows")
    found = filter(None, map(_split_difference, a.splits, b.splits))
    return next(found, notice("scored_on_different_rows", only_first=0, only_second=0))


def _split_difference(a: SplitResult, b: SplitResult) -> Notice | None:
    rows, others = a.test_rows, b.test_rows
    if not np.array_equal(rows, others):
        only_a, only_b = np.setdiff1d(rows, others).size, np.setdiff1d(others, rows).size
        if only_a or only_b:
            return notice("scored_on_different_rows", only_first=only_a, only_second=only_b)
        repeated = len(rows) != len(others)
        return notice("some_rows_scored_twice" if repeated else "rows_in_another_order")
    count = int(np.count_nonzero(a.test_positive != b.test_positive))
    return notice("labels_differ", count=count) if count else None


def _files(a: DataReference, b: DataReference) -> str:
    first, second = PurePath(a.path).name, PurePath(b.path).name
    same = first == second
    return f"{first} has changed in the meantime" if same else f"{first} against {second}"


def _weighing(made: Experiment) -> str:
    if made.weight is None:
        return "unweighted"
    counted = made.weight_kind == FREQUENCY
    return f"counted by {made.weight}" if counted else f"weighted by {made.weight}"


def _grouping(made: Experiment) -> str:
    columns = " and ".join(made.data.groups)
    return f"grouped by {columns}" if columns else "not grouped"


FractionListener = Callable[[float], object]
# Rows scored over all pairs, from which on the tests take longer than sending the scores.
WORTH_SENDING = 1_000_000


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
        (0, 1) for the AUC; of no width for the TPR at an FPR.
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
    if rows < WORTH_SENDING:
        workers = None
    if workers is not None:
        scored = {key: workers.hold(one) for key, one in scored.items()}
    calls: list[Any] = [
        (_test, scored[id(a)], scored[id(b)]) if alike else (_test, *_Scored.of_common(a, b, band))
        for (a, b), alike in zip(pairs, whole, strict=True)
    ]
    return call_all(workers, calls, progress)


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
        band = self.band if self.fpr is None else around(self.fpr)
        return inference.Placements(self._ranking(self.splits[0]), band)

    @property
    def fpr(self) -> float | None:
        """Return the FPR whose TPR is compared; None for an area."""
        return self.band[1] if self.band[0] == self.band[1] else None

    @cached_property
    def values(self) -> list[float]:
        """Return the area of each split, or its TPR."""
        rankings = map(self._ranking, self.splits)
        if self.fpr is None:
            return [roc.area(one, *self.band) for one in rankings]
        return [float(roc.tpr_at(one.curve, self.fpr)) for one in rankings]

    def _ranking(self, split: SplitResult | Scores) -> roc.Ranking:
        return ranking(split) if isinstance(split, SplitResult) else split.ranking()


def _test(a: _Scored, b: _Scored) -> inference.TestResult:
    if a.fpr == 1:
        none, reason = math.nan, text("tpr_at_one")
        return inference.TestResult(0.0, none, none, none, none, LEVEL, none, reason)
    if len(a.splits) > 1:
        return inference.splits_test(a.values, b.values, *a.sizes, LEVEL, disjoint=a.disjoint)
    found = a.placements.test(b.placements, LEVEL)
    if a.fpr is None:
        return found
    value = a.values[0] - b.values[0]
    low, high = min(found.low, value), max(found.high, value)
    return dataclasses.replace(found, difference=value, low=low, high=high)
