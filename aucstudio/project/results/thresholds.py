"""Thresholds: counts, errors and cost at one, its choice by a rule, and its uncertainty.

A case is predicted positive where its score exceeds the threshold. Symbols: prior the share of
positives where the scorer will be used; miss the cost of one false negative, with that of one
false positive as the unit.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import re

import numpy as np

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array
from aucstudio.engine.params import read_decimal
from aucstudio.notices import Notice, notice
from aucstudio.project.data.table import Table
from aucstudio.project.errors import input_error
from aucstudio.project.results.summary import (
    LEVEL,
    WHOLE,
    Estimate,
    ranking,
    tpr_summary,
    trained_for,
)
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.record import RunRecord, SplitResult

OWN, TYPED, ALERTS = "own", "typed", "alerts"
BOUNDED = ("fpr", "tpr", "precision", ALERTS)
_FEW_CALLED = 10


@dataclasses.dataclass(frozen=True)
class Target:
    """Requirement of a threshold.

    Attributes
    ----------
    rule : str
        "own" is the model's own, "typed" a number that the user entered; else one of
        :data:`roc.RULES`.
    value : float
        The bound of the FPR, the TPR, the precision or the alerts of a day; or the number.
    run : str
    split : int
        On whose scale that number is.
    fpr : float
        FPR at that number, which thresholds on other scales aim at.
    """

    rule: str = OWN
    value: float = 0.0
    run: str = ""
    split: int = 0
    fpr: float = 0.0

    def __post_init__(self) -> None:
        if self.rule not in (OWN, TYPED, *roc.RULES):
            raise ValueError(f"unknown threshold rule {self.rule!r}")
        if not math.isfinite(self.value):
            raise ValueError(f"the threshold or its bound must be a number; it is {self.value}")

    @classmethod
    def typed(cls, record: RunRecord, split: int, value: float) -> Target:
        """Ask for a number on the scale of a split; 0 is the model's own."""
        if value == 0:
            return cls()
        curve = curve_of(record.splits[split])
        return cls(TYPED, value, record.id, split, float(curve.fpr[vertex_of(curve, value)]))

    def is_typed_on(self, record: RunRecord, split: int) -> bool:
        """Return whether it is a number on the scale of a split."""
        return self.rule == TYPED and (self.run, self.split) == (record.id, split)

    def as_rule(self, stakes: Stakes) -> roc.ThresholdRule | None:
        """Return the rule that any scores can be asked for; None leaves a threshold as it is.

        Raises
        ------
        InputError
            If alerts are counted per day and the number of cases per day is not set.
        """
        if self.rule == OWN:
            return None
        if self.rule == TYPED:
            return roc.ThresholdRule("fpr", fpr=self.fpr)
        if self.rule == ALERTS:
            if stakes.cases is None:
                raise input_error("cases_absent")
            share = min(1.0, self.value / stakes.cases)
            return roc.ThresholdRule(ALERTS, alerts=share, prior=stakes.prior)
        bound = {self.rule: self.value} if self.rule in BOUNDED else {}
        return roc.ThresholdRule(self.rule, cost_fn=stakes.miss, prior=stakes.prior, **bound)


def judged_range(record: RunRecord, band: Band) -> Band:
    """Return the FPR range that is shown or, of the whole curve, that a run was trained for."""
    return band if band != WHOLE else trained_for(record) or WHOLE


def range_end(record: RunRecord, band: Band) -> Target:
    """Return the target of the end of a run's range; the model's own for the whole curve."""
    end = judged_range(record, band)[1]
    return Target("fpr", end) if end < 1 else Target()


@dataclasses.dataclass(frozen=True)
class Choice:
    """The threshold that a target comes to; 0 with a problem where there is none."""

    threshold: float
    problem: str = ""


def choose(
    record: RunRecord, split: int, target: Target, stakes: Stakes, curve: roc.RocCurve | None = None
) -> Choice:
    """Find the threshold of a target on the held-out scores of a split, or on another curve."""
    if curve is None and target.is_typed_on(record, split):
        return Choice(target.value)
    try:
        rule = target.as_rule(stakes)
        if rule is None:
            return Choice(0.0)
        return Choice(rule.place(curve_of(record.splits[split]) if curve is None else curve))
    except ValueError as error:
        sentence = str(error).rstrip(".")
        return Choice(0.0, f"{sentence[0].upper()}{sentence[1:]}.")


def counts_at(curve: roc.RocCurve, threshold: float) -> Confusion:
    """Count what lies on which side of a threshold."""
    vertex = vertex_of(curve, threshold)
    rows, weighted = curve.behind or curve, None
    (m, n), tp, fp = curve.rows, int(rows.tp[vertex]), int(rows.fp[vertex])
    if curve.trials is not None:
        worth = curve.trials
        weighted = WeightedRates(
            float(curve.tpr[vertex]),
            float(curve.fpr[vertex]),
            curve.positives / (curve.positives + curve.negatives),
            *(float(of[vertex]) for of in (worth.tpr, worth.fpr, worth.precision, worth.alerts)),
        )
    return Confusion(tp, m - tp, fp, n - fp, weighted)


# ----------------------------------------------------------------- figures


def estimate_share(count: float, rows: float) -> Estimate:
    """Return a share of rows with Clopper–Pearson's interval; NaN without rows."""
    if not rows:
        return Estimate(math.nan, math.nan, math.nan)
    return Estimate(count / rows, *binomial_interval(count, rows))


@dataclasses.dataclass(frozen=True)
class ThresholdFigures:
    """Figures of a threshold.

    Attributes
    ----------
    counts : Confusion
    prior : float
        Share of positives that precision and alerts are of.
    tpr, fpr, precision, alerts : Estimate
        Alerts are the share of all cases that is predicted positive.
    """

    counts: Confusion
    prior: float
    tpr: Estimate
    fpr: Estimate
    precision: Estimate
    alerts: Estimate

    @classmethod
    def of(cls, counts: Confusion, prior: float | None = None) -> ThresholdFigures:
        """Compute them; without a prior for the share of positives among the rows.

        At another prior the intervals of precision and alerts combine those of both rates: of the
        logarithm of their ratio, and of their weighted sum. The rates are taken as independent,
        except in the alerts of grouped or weighted rows, where the margins are added.

        Source: Zou and Donner, Statistics in Medicine 27 (2008); Newcombe, Statistics in
        Medicine 20 (2001).
        """
        worth = counts.worth
        tpr = _estimate(worth.tpr, worth.positives)
        fpr = _estimate(worth.fpr, worth.negatives)
        if prior is not None and 0 < worth.prior < 1:
            precision = _precision_at(prior, tpr, fpr, worth)
            return cls(counts, prior, tpr, fpr, precision, _alerts_at(prior, tpr, fpr, counts))
        precision = _estimate(counts.precision, worth.called)
        return cls(counts, worth.prior, tpr, fpr, precision, _estimate(counts.alerts, worth.cases))

    @classmethod
    def of_run(cls, record: RunRecord, target: Target, stakes: Stakes) -> ThresholdFigures:
        """Compute means over the splits, each at its own threshold, without intervals.

        The TPR at an FPR has the interval of the run.
        """
        figures = cls.of(run_counts(record, target, stakes), stakes.prior)
        chosen = tpr_summary(record, target.value) if target.rule == "fpr" else figures.tpr
        if not math.isclose(chosen.value, figures.tpr.value):  # tied scores allow a lower FPR only
            return figures
        return dataclasses.replace(figures, tpr=chosen)


def run_counts(record: RunRecord, target: Target, stakes: Stakes) -> Confusion:
    """Add up the counts of the splits, each at its own threshold, and average their rates.

    Splits without a threshold are left out.
    """
    choices = [choose(record, k, target, stakes) for k in range(len(record.splits))]
    found = [
        counts_at(curve_of(split), choice.threshold)
        for split, choice in zip(record.splits, choices, strict=True)
        if not choice.problem or all(one.problem for one in choices)
    ]
    if len(record.splits) == 1:
        return found[0]
    tp, fn, fp, tn = np.sum([(one.tp, one.fn, one.fp, one.tn) for one in found], axis=0).tolist()
    worth = [one.worth for one in found]
    means = np.mean([(one.tpr, one.fpr, one.prior) for one in worth], axis=0).tolist()
    return Confusion(tp, fn, fp, tn, WeightedRates(*means))


def _estimate(share: float, trials: float) -> Estimate:
    return Estimate(share) if math.isnan(trials) else estimate_share(share * trials, trials)


def _precision_at(prior: float, tpr: Estimate, fpr: Estimate, worth: WeightedRates) -> Estimate:
    """Estimate the precision at a prior from both rates."""
    value = point_measures(tpr.value, fpr.value, prior)["precision"]
    if math.isnan(value) or not tpr.known:
        return Estimate(value)
    if not (tpr.value and fpr.value):
        # Without a logarithm: both rates within intervals of 97.5 %, which holds 95 % at least.
        level = 1 - (1 - LEVEL) / 2
        up = binomial_interval(worth.tpr * worth.positives, worth.positives, level)
        along = binomial_interval(worth.fpr * worth.negatives, worth.negatives, level)
        corners = (up[0], along[1]), (up[1], along[0])
        low, high = (point_measures(*corner, prior)["precision"] for corner in corners)
        return Estimate(value, low, high)
    down = math.hypot(math.log(tpr.value / tpr.low), math.log(fpr.high / fpr.value))
    up_to = math.hypot(math.log(tpr.high / tpr.value), math.log(fpr.value / fpr.low))
    odds = (1 - prior) / prior * fpr.value / tpr.value
    return Estimate(value, 1 / (1 + odds * math.exp(down)), 1 / (1 + odds * math.exp(-up_to)))


def _alerts_at(prior: float, tpr: Estimate, fpr: Estimate, counts: Confusion) -> Estimate:
    """Estimate the share of cases that is predicted positive at a prior."""
    value = prior * tpr.value + (1 - prior) * fpr.value
    together = math.hypot if counts.weighted is None else operator.add
    below = together(prior * (tpr.value - tpr.low), (1 - prior) * (fpr.value - fpr.low))
    above = together(prior * (tpr.high - tpr.value), (1 - prior) * (fpr.high - fpr.value))
    return Estimate(value, value - below, value + above)


def threshold_remarks(target: Target, stakes: Stakes, figures: ThresholdFigures) -> list[Notice]:
    """Return the limits of a threshold choice on these rows."""
    counts = figures.counts
    called = counts.tp + counts.fp
    if target.rule == OWN:
        return []
    found = _resolution(target, stakes, counts)
    if not called:
        return [notice("no_row_predicted_positive"), *found]
    if target.rule == "precision" and called < _FEW_CALLED:
        found.append(notice("few_rows_predicted_positive", count=called))
    return [*found, _caveat(target, stakes, figures)] if figures.fpr.known else found


def _resolution(target: Target, stakes: Stakes, counts: Confusion) -> list[Notice]:
    """Return whether a single row is more than a bound allows."""
    m, n = counts.tp + counts.fn, counts.fp + counts.tn
    allowed, rows, rows_of = {
        "fpr": (target.value, n, "negatives"),
        "tpr": (1 - target.value, m, "positives"),
        ALERTS: (target.value / (stakes.cases or math.inf), m + n, "rows"),
    }.get(target.rule, (0.0, 0, ""))
    if not rows or not 0 < allowed < (1 - 1e-9) / rows:
        return []
    return [notice("too_few_rows_for_bound", rows_of=rows_of, rows=rows, share=1 / rows)]


def _caveat(target: Target, stakes: Stakes, figures: ThresholdFigures) -> Notice:
    # With k negatives above it, a threshold placed among the negatives has a true FPR between the
    # k-th and the next uniform order statistic: their quantiles are Clopper–Pearson bounds.
    known = {"fpr": ["FPR"], "tpr": ["TPR"], ALERTS: ["alerts"] * (stakes.prior is None)}
    if rates := known.get(target.rule):
        of_run = ["TPR"] * bool(figures.tpr.per_split)
        return notice("interval_accounts_for_choice", rates=[*rates, *of_run])
    return notice("threshold_may_be_tuned" if target.rule == TYPED else "threshold_tuned")


CASES = 10_000
_DRAWS = 100, 500
_ROWS_DRAWN = 20_000_000  # at most, before fewer resamples are drawn
LEAST_PRIOR = 1e-6


def data_prior(record: RunRecord, table: Table | None = None) -> float:
    """Return the share of positives of the table that a run is of; else of its first split."""
    data = record.experiment.data
    if data.schema.weight is not None:
        split = record.splits[0]
        positive = np.append(split.train_positive, split.test_positive)
        weights = [part for part in (split.train_weights, split.test_weights) if part is not None]
        return float(np.average(positive, weights=np.concatenate(weights)))
    if table is not None and table.sha256 == data.sha256 and table.label == data.label:
        return table.classes[data.positive] / sum(table.classes.values())
    split = record.splits[0]
    return float(np.append(split.train_positive, split.test_positive).mean())


def curve_of(split: SplitResult) -> roc.RocCurve:
    """Return the held-out ROC curve of a split."""
    return ranking(split).curve


def vertex_of(curve: roc.RocCurve, threshold: float) -> int:
    """Find the vertex that a threshold reaches: its rows are those with score > threshold."""
    ascending = curve.thresholds[::-1]
    return len(ascending) - int(np.searchsorted(ascending, threshold, "right")) - 1


def binomial_interval(count: float, trials: float, level: float = LEVEL) -> tuple[float, float]:
    """Bound the share behind ``count`` of ``trials`` by :func:`~roc.binomial_bounds`."""
    low, high = roc.binomial_bounds(count, trials, level)
    return float(low[0]), float(high[0])


def case_counts(tpr: float, fpr: float, prior: float) -> tuple[float, float, float, float]:
    """Count TP, FN, FP and TN that :data:`CASES` cases hold on average."""
    m, n = CASES * prior, CASES * (1 - prior)
    return m * tpr, m * (1 - tpr), n * fpr, n * (1 - fpr)


def point_measures(tpr: float, fpr: float, prior: float) -> dict[str, float]:
    """Compute precision, F1 and accuracy at a prior; NaN where nothing is called positive."""
    skew = roc.skew_of(prior)
    measures = {"precision": roc.precision, "f1": roc.f_measure, "accuracy": roc.accuracy}
    return {name: float(measure(tpr, fpr, skew)) for name, measure in measures.items()}


def expected_cost(tpr: Array | float, fpr: Array | float, prior: float, miss: float) -> Array:
    """Compute the expected cost of :data:`CASES` cases, in false positives; elementwise."""
    return np.asarray(CASES * ((1 - prior) * fpr + miss * prior * (1 - tpr)), np.float64)


def draws_for(rows: int) -> int:
    """Return the number of resamples for a number of rows."""
    return int(np.clip(_ROWS_DRAWN // rows, *_DRAWS))


def model_at(split: SplitResult, threshold: float) -> Model:
    """Return the model of a split with a threshold that was typed in."""
    return split.model.moved_to(threshold, split.test_scores, "set by the user")


# ----------------------------------------------------------------- words

_ONE_IN = re.compile(r"(?:1|one)\s*(?:in|of|:|/)\s*(.+)", re.IGNORECASE)


def read_rate(text: str, what: str) -> float:
    """Read a rate from 0 to 1: ``0.01``, ``1 %`` or ``1 in 100``.

    Raises
    ------
    InputError
        If it has another ending.
    """
    share = _number_of(text)
    if share is None or not 0 <= share <= 1:
        raise input_error("rate_invalid", what=what, given=text)
    return share


def read_share(text: str) -> float:
    """Read a share of positives: ``0.0002``, ``0.02 %`` or ``1 in 5000``.

    Raises
    ------
    InputError
        If it has another ending, or not between 1 in a million and 0.999999.
    """
    share = _number_of(text)
    # "1 in 1000000" may be less than the bound by rounding alone.
    if share is None or not LEAST_PRIOR * (1 - 1e-9) <= share <= 1 - LEAST_PRIOR:
        raise input_error("prior_invalid", given=text)
    return share


def _number_of(text: str) -> float | None:
    plain = text.strip()
    one_in = _ONE_IN.fullmatch(plain)
    try:
        if one_in:
            return 1 / float(re.sub(r"[ ,]", "", one_in[1]))
        return read_decimal(plain[:-1]) / 100 if plain.endswith("%") else read_decimal(plain)
    except (ValueError, ZeroDivisionError):
        return None


def share_words(share: float) -> str:
    """Write a share as 37.3 %, and below a hundredth as 1 in 5,000."""
    if share >= 0.01:
        return f"{100 * share:.3g} %" if share < 0.999 else f"{100 * share:.6g} %"
    return f"1 in {float(f'{1 / share:.4g}'):,.0f}"


def amount_words(count: float) -> str:
    """Write an average count with three digits, whole from 100 on."""
    if math.isnan(count):
        return "–"
    if count >= 99.95 or count == 0:
        return f"{count:,.0f}"
    return f"{count:.1f}" if count >= 9.995 else f"{count:.2g}"


@dataclasses.dataclass(frozen=True)
class WeightedRates:
    """Rates at a threshold where rows are weighted or grouped, or means over splits.

    Attributes
    ----------
    tpr, fpr : float
    prior : float
        Share of the positives in the whole weight.
    positives, negatives, called, cases : float
        Number of independent rows of equal weight that the TPR, the FPR, the precision and the
        share of alerts are worth; NaN of a mean over splits, which has no interval.
    """

    tpr: float
    fpr: float
    prior: float
    positives: float = math.nan
    negatives: float = math.nan
    called: float = math.nan
    cases: float = math.nan


@dataclasses.dataclass(frozen=True)
class Confusion:
    """Counts at a threshold: a row is predicted positive where its score exceeds it.

    Attributes
    ----------
    tp, fn, fp, tn : int
        Rows (unweighted).
    weighted : WeightedRates or None
        Rates, if rows are weighted or grouped, or the counts are sums over splits.
    """

    tp: int
    fn: int
    fp: int
    tn: int
    weighted: WeightedRates | None = None

    @property
    def worth(self) -> WeightedRates:
        """The rates and the rows that they are worth."""
        m, n = self.tp + self.fn, self.fp + self.tn
        rows = _ratio(m, m + n), m, n, self.tp + self.fp, m + n
        return self.weighted or WeightedRates(self.tpr, self.fpr, *rows)

    @property
    def tpr(self) -> float:
        """NaN where there is no positive."""
        return self.weighted.tpr if self.weighted else _ratio(self.tp, self.tp + self.fn)

    @property
    def fpr(self) -> float:
        """NaN where there is no negative."""
        return self.weighted.fpr if self.weighted else _ratio(self.fp, self.fp + self.tn)

    @property
    def precision(self) -> float:
        """NaN where nothing is predicted positive."""
        called = self.tp + self.fp
        if self.weighted is not None and called:
            of = self.weighted
            found, alarms = of.prior * of.tpr, (1 - of.prior) * of.fpr
            return _ratio(found, found + alarms)
        return _ratio(self.tp, called)

    @property
    def alerts(self) -> float:
        """Share of all cases that is predicted positive."""
        if (of := self.weighted) is not None:
            return of.prior * of.tpr + (1 - of.prior) * of.fpr
        return _ratio(self.tp + self.fp, self.tp + self.fn + self.fp + self.tn)


def _ratio(count: float, of: float) -> float:
    return count / of if of else math.nan


@dataclasses.dataclass(frozen=True)
class Stakes:
    """What operating points are weighed by; the same in every view.

    Attributes
    ----------
    prior : float or None
        Share of positives; None is that of the data.
    miss : float
        Cost of a missed positive, with that of a false alarm as the unit.
    cases : float or None
        Cases a day, where alerts are counted by the day.
    """

    prior: float | None = None
    miss: float = 1.0
    cases: float | None = None
