"""Thresholds chosen for a target on a run's scores, and the intervals of their rates."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import beta

from aucstudio.engine import roc
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.thresholds import (
    Choice,
    Confusion,
    Stakes,
    Target,
    ThresholdFigures,
    choose,
    counts_at,
    curve_of,
    estimate_share,
    threshold_remarks,
)
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment

HERE = Stakes()


@pytest.fixture(scope="module")
def record(table_once):
    plan = plan_experiment(
        DataReference.to_table(table_once), "rls", {}, Validation(test_size=0.5, repeats=2)
    )
    return execute(plan, table_once)


def called(split, threshold):
    return split.test_scores > threshold


@pytest.mark.parametrize(
    "target",
    [
        Target("fpr", 0.05),
        Target("tpr", 0.9),
        Target("precision", 0.6),
        Target("cost"),
        Target("equal-error"),
        Target("min-max"),
    ],
)
def test_target_yields_a_threshold_for_each_split(record, target):
    places = []
    for k, split in enumerate(record.splits):
        found = choose(record, k, target, HERE)
        rule = target.as_rule(HERE)
        assert found == Choice(rule.place(curve_of(split)))
        places.append(found.threshold)
    assert places[0] != places[1]


def test_default_threshold_is_zero(record):
    assert choose(record, 0, Target(), HERE) == Choice(0.0)
    assert Target.typed(record, 0, 0.0) == Target()


def test_typed_threshold_keeps_its_fpr_on_other_splits(record):
    value = float(np.median(record.splits[1].test_scores))
    target = Target.typed(record, 1, value)
    split = record.splits[1]
    assert target.fpr == called(split, value)[~split.test_positive].mean()
    assert choose(record, 1, target, HERE) == Choice(value)
    other = record.splits[0]
    there = choose(record, 0, target, HERE).threshold
    alarms = called(other, there)[~other.test_positive].mean()
    assert alarms <= target.fpr < alarms + 1 / (~other.test_positive).sum()


def test_alerts_per_day_set_the_threshold(record):
    target, split = Target("alerts", 12.0), record.splits[0]
    without = choose(record, 0, target, HERE)
    assert without == Choice(0.0, "Enter the number of cases per day.")
    place = choose(record, 0, target, Stakes(cases=100.0)).threshold
    share = called(split, place).mean()
    assert share <= 0.12 < share + 1 / len(split.test_scores) + 1e-12
    # More alerts than cases: every row is predicted positive.
    everybody = choose(record, 0, target, Stakes(cases=3.0)).threshold
    assert called(split, everybody).all()


def test_unreachable_target_reports_the_best(record):
    split = record.splits[0]
    upside_down = dataclasses.replace(split, test_scores=-split.test_scores)
    record = dataclasses.replace(record, splits=[upside_down])
    found = choose(record, 0, Target("precision", 0.999), Stakes(prior=1e-5))
    assert found.threshold == 0.0
    assert found.problem.startswith("No threshold on these rows has precision ≥ 0.999; the best is")
    bad = choose(record, 0, Target("fpr", 1.5), HERE)
    assert "must lie within [0, 1]" in bad.problem


def test_one_class_has_no_threshold(record):
    split = record.splits[0]
    alone = dataclasses.replace(split, test_positive=np.zeros_like(split.test_positive))
    lone = dataclasses.replace(record, splits=[alone])
    assert "one class only" in choose(lone, 0, Target("fpr", 0.1), HERE).problem


@pytest.mark.parametrize("data", [{"rule": "best"}, {"value": math.nan}, {"value": math.inf}])
def test_invalid_target_is_refused(data):
    with pytest.raises(ValueError, match="threshold"):
        Target(**data)


def test_counts_use_scores_above_the_threshold(record):
    split, y = record.splits[0], record.splits[0].test_positive
    for t in (-9.0, 0.0, float(split.test_scores[3]), 9.0):
        above = called(split, t)
        expected = [(above & y).sum(), (~above & y).sum(), (above & ~y).sum(), (~above & ~y).sum()]
        found = counts_at(curve_of(split), t)
        assert [found.tp, found.fn, found.fp, found.tn] == expected


# ----------------------------------------------------------------- figures


def exact(count, rows, level=0.95):
    tail = (1 - level) / 2
    low = beta.ppf(tail, count, rows - count + 1) if count else 0.0
    high = beta.ppf(1 - tail, count + 1, rows - count) if count < rows else 1.0
    return count / rows, low, high


def test_intervals_of_rates_are_exact():
    figures = ThresholdFigures.of(Confusion(30, 10, 5, 155))
    for rate, expected in (
        (figures.tpr, exact(30, 40)),
        (figures.fpr, exact(5, 160)),
        (figures.precision, exact(30, 35)),
        (figures.alerts, exact(35, 200)),
    ):
        assert (rate.value, *rate.bounds) == pytest.approx(expected, abs=1e-12)
    assert figures.prior == 0.2


def test_precision_and_alerts_follow_the_given_prior():
    prior = 0.001
    figures = ThresholdFigures.of(Confusion(30, 10, 5, 155), prior)
    (tpr, tpr_low, tpr_high), (fpr, fpr_low, fpr_high) = exact(30, 40), exact(5, 160)
    # Margins of the logarithms of both rates, and of the terms of the sum, added as squares.
    low = tpr / fpr / math.exp(math.hypot(math.log(tpr / tpr_low), math.log(fpr_high / fpr)))
    high = tpr / fpr * math.exp(math.hypot(math.log(tpr_high / tpr), math.log(fpr / fpr_low)))
    expected = [prior * ratio / (prior * ratio + 1 - prior) for ratio in (tpr / fpr, low, high)]
    assert (figures.precision.value, *figures.precision.bounds) == pytest.approx(expected)
    share = prior * tpr + (1 - prior) * fpr
    below = math.hypot(prior * (tpr - tpr_low), (1 - prior) * (fpr - fpr_low))
    above = math.hypot(prior * (tpr_high - tpr), (1 - prior) * (fpr_high - fpr))
    found = (figures.alerts.value, *figures.alerts.bounds)
    assert found == pytest.approx((share, share - below, share + above))


@pytest.mark.parametrize(
    ("m", "n", "tpr", "fpr", "prior"),
    [(20, 100, 0.6, 0.1, 0.01), (10, 30, 0.5, 0.2, 0.3), (200, 2000, 0.8, 0.01, 0.02)],
)
def test_intervals_at_another_prior_cover(m, n, tpr, fpr, prior):
    rng, held, draws = np.random.default_rng(1), np.zeros(2), 3000
    alerts = prior * tpr + (1 - prior) * fpr
    for tp, fp in zip(rng.binomial(m, tpr, draws), rng.binomial(n, fpr, draws), strict=True):
        found = ThresholdFigures.of(Confusion(tp, m - tp, fp, n - fp), prior)
        held += [
            found.precision.low <= prior * tpr / alerts <= found.precision.high,
            found.alerts.low <= alerts <= found.alerts.high,
        ]
    assert (held / draws >= 0.945).all()


@pytest.mark.slow
@pytest.mark.parametrize("are_pure", [True, False], ids=["groups-of-one-class", "mixed-groups"])
def test_intervals_of_grouped_rows_cover(are_pure):
    def drawn(rng, groups, size=5):
        group = np.repeat(np.arange(groups), size)
        y = rng.random(groups if are_pure else len(group)) < 0.3
        y = y[group] if are_pure else y
        scores = (rng.normal(size=groups)[group] + rng.normal(size=len(group))) / 2**0.5
        return y, group, scores + 1.2 * y

    rng, held, draws = np.random.default_rng(2), np.zeros(4), 600
    y, _, scores = drawn(rng, 100_000)
    above = scores > 0.9
    truth = above[y].mean(), above[~y].mean(), y[above].mean(), above.mean()
    for _ in range(draws):
        y, group, scores = drawn(rng, 40)
        counts = counts_at(roc.roc_curve(y, scores, groups=group), 0.9)
        found = ThresholdFigures.of(counts)
        rates = found.tpr, found.fpr, found.precision, found.alerts
        held += [rate.low <= value <= rate.high for rate, value in zip(rates, truth, strict=True)]
    assert (held / draws >= 0.93).all()


@pytest.mark.parametrize("prior", [None, 0.01])
@pytest.mark.parametrize(
    "counts", [(0, 0, 3, 4), (2, 1, 0, 0), (0, 5, 0, 9), (1, 0, 0, 9), (0, 1, 9, 0), (0, 0, 0, 0)]
)
def test_rates_without_rows_are_undefined(counts, prior):
    figures = ThresholdFigures.of(Confusion(*counts), prior)
    tp, fn, fp, tn = counts
    for rate, rows in (
        (figures.tpr, tp + fn),
        (figures.fpr, fp + tn),
        (figures.precision, tp + fp),
    ):
        assert math.isnan(rate.value) == (rows == 0)
        if rows:
            assert 0 <= rate.low <= rate.value <= rate.high <= 1
    assert math.isnan(estimate_share(0, 0).low)


def test_fpr_interval_covers_at_a_tuned_threshold():
    # Uniform negatives: the true FPR of a threshold t is 1 - t.
    rng, held, draws = np.random.default_rng(5), 0, 2000
    y = np.arange(60) < 20
    for _ in range(draws):
        scores = rng.random(60)
        scores[y] = np.sqrt(scores[y])
        curve = roc.roc_curve(y, scores)
        t = roc.ThresholdRule("fpr", fpr=0.1).place(curve)
        rate = ThresholdFigures.of(counts_at(curve, t)).fpr
        held += rate.low <= 1 - min(t, 1.0) <= rate.high
    assert held / draws >= 0.95


# ----------------------------------------------------------------- remarks


def codes(target, counts, stakes=HERE):
    figures = ThresholdFigures.of(Confusion(*counts), stakes.prior)
    return [found.code for found in threshold_remarks(target, stakes, figures)]


FEW, TUNED, COUNTS = "too_few_rows_for_bound", "threshold_tuned", (40, 5, 40, 900)
KNOWN = "interval_accounts_for_choice"


@pytest.mark.parametrize(
    ("target", "counts", "stakes", "expected"),
    [
        (Target("fpr", 0.01), (5, 5, 0, 31), HERE, [FEW, KNOWN]),
        (Target("fpr", 1 / 31), (5, 5, 1, 30), HERE, [KNOWN]),
        (Target("tpr", 0.95), (10, 0, 5, 9), HERE, [FEW, KNOWN]),
        (Target("alerts", 1.0), (1, 5, 0, 9), Stakes(cases=1000.0), [FEW, KNOWN]),
        (Target("fpr", 0.0), (0, 5, 0, 9), HERE, ["no_row_predicted_positive"]),
        (Target("precision", 0.9), (3, 5, 0, 9), HERE, ["few_rows_predicted_positive", TUNED]),
        (Target(), COUNTS, HERE, []),
        (Target("alerts", 9.0), COUNTS, Stakes(cases=100.0), [KNOWN]),
        (Target("alerts", 9.0), COUNTS, Stakes(prior=0.001, cases=100.0), [TUNED]),
        (Target("cost"), COUNTS, HERE, [TUNED]),
        (Target("typed", 0.3, "run", 0, 0.1), COUNTS, HERE, ["threshold_may_be_tuned"]),
    ],
)
def test_limits_of_a_threshold_choice_are_noted(target, counts, stakes, expected):
    assert codes(target, counts, stakes) == expected
