"""Choose a threshold by a rule, with its uncertainty.

A case is predicted positive where its score exceeds the threshold.
"""

from __future__ import annotations

import dataclasses
import math

from aucstudio.engine import roc
from aucstudio.notices import Notice, notice
from aucstudio.project.errors import InputError
from aucstudio.project.results.deployment import Stakes
from aucstudio.project.results.distribution import Confusion, WeightedRates
from aucstudio.project.results.operating_points import (
    binomial_interval,
    curve_of,
    point_measures,
    vertex_of,
)
from aucstudio.project.results.summary import LEVEL, Estimate
from aucstudio.project.runs.record import RunRecord

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
                raise InputError("enter the number of cases per day", setting="cases")
            share = min(1.0, self.value / stakes.cases)
            return roc.ThresholdRule(ALERTS, alerts=share, prior=stakes.prior)
        bound = {self.rule: self.value} if self.rule in BOUNDED else {}
        return roc.ThresholdRule(self.rule, cost_fn=stakes.miss, prior=stakes.prior, **bound)


@dataclasses.dataclass(frozen=True)
class Choice:
    """The threshold that a target comes to; 0 with a problem where there is none."""

    threshold: float
    problem: str = ""


def choose(
    record: RunRecord, split: int, target: Target, stakes: Stakes, curve: roc.Curve | None = None
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


def counts_at(curve: roc.Curve, threshold: float) -> Confusion:
    """Count what lies on which side of a threshold."""
    vertex = vertex_of(curve, threshold)
    rows, weighted = curve.behind or curve, None
    (m, n), tp, fp = curve.rows, int(rows.tp[vertex]), int(rows.fp[vertex])
    if curve.behind is not None or curve.trials is not None:
        sizes = roc.reflect(curve).effective(), curve.effective()
        if curve.trials is not None:
            sizes = float(curve.trials[0][vertex]), float(curve.trials[1][vertex])
        weighted = WeightedRates(
            float(curve.tpr[vertex]),
            float(curve.fpr[vertex]),
            *sizes,
            curve.positives / (curve.positives + curve.negatives),
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

        At another prior the interval of precision and alerts is that of the rectangle of both
        rates' intervals at 97.5 %, which holds 95 % at least.
        """
        m: float = counts.tp + counts.fn
        n: float = counts.fp + counts.tn
        tp: float = counts.tp
        fp: float = counts.fp
        called = tp + fp
        if (weighted := counts.weighted) is not None:
            m, n = weighted.positives, weighted.negatives
            tp, fp = m * weighted.tpr, n * weighted.fpr
            prior = weighted.prior if prior is None else prior
        rates = estimate_share(tp, m), estimate_share(fp, n)
        if prior is None or not (m and n):
            precision, alerts = estimate_share(tp, called), estimate_share(called, m + n)
            return cls(counts, m / (m + n) if m + n else math.nan, *rates, precision, alerts)
        level = 1 - (1 - LEVEL) / 2
        up = binomial_interval(tp, m, level)
        along = binomial_interval(fp, n, level)
        points = [(counts.tpr, counts.fpr), (up[0], along[1]), (up[1], along[0])]
        value, low, high = (point_measures(*point, prior)["precision"] for point in points)
        precision = Estimate(value, low, high) if called else estimate_share(0, 0)
        pairs = [points[0], (up[0], along[0]), (up[1], along[1])]
        value, low, high = (prior * tpr + (1 - prior) * fpr for tpr, fpr in pairs)
        return cls(counts, prior, *rates, precision, Estimate(value, low, high))


def remarks(target: Target, stakes: Stakes, figures: ThresholdFigures) -> list[Notice]:
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
    return [*found, _caveat(target, stakes)]


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


def _caveat(target: Target, stakes: Stakes) -> Notice:
    # With k negatives above it, a threshold placed among the negatives has a true FPR between the
    # k-th and the next uniform order statistic: their quantiles are Clopper–Pearson bounds.
    known = {"fpr": "FPR", "tpr": "TPR"} | ({} if stakes.prior is not None else {ALERTS: "alerts"})
    if target.rule in known:
        return notice("interval_accounts_for_choice", rate=known[target.rule])
    return notice("threshold_may_be_tuned" if target.rule == TYPED else "threshold_tuned")
