"""Intervals of mean areas over folds and over too few splits."""

import math

import numpy as np
import pytest
from scipy import stats

from aucstudio.engine import inference, roc
from tests.benchmarks import inference_folds as simulated
from tests.benchmarks.inference_grid import NORMAL

BAND = (0.0, 0.2)


def fold(seed, m, n, groups=None, mu=1.0):
    rng = np.random.default_rng(seed)
    y = np.repeat([True, False], [m, n])
    return roc.Ranking.of(y, rng.standard_normal(m + n) + mu * y, groups=groups)


def area(x, y, alpha, beta):
    """Integrate a polyline that is constant outside its ends."""
    at = np.linspace(alpha, beta, 2001)
    at = (at[1:] + at[:-1]) / 2
    return float(np.interp(at, x + 1e-12 * np.arange(len(x)), y).mean())


def staircases(ranking, rng):
    """Draw the lower and the upper area of a fold from uniform order statistics."""
    curve = ranking.curve
    along, up = (np.r_[0, np.sort(rng.random(k)), 1] for k in (len(ranking.t), len(ranking.s)))
    fp, tp = curve.fp.astype(int), curve.tp.astype(int)
    lower = area(along[np.minimum(fp + 1, len(along) - 1)], up[tp], *BAND)
    return lower, area(along[fp], up[np.minimum(tp + 1, len(up) - 1)], *BAND)


# --- definition of an interval over folds


@pytest.mark.slow
def test_fold_bounds_match_drawn_curves_averaged_over_folds():
    folds = [fold(k, 6, 20) for k in range(4)]
    rng = np.random.default_rng(9)
    lower, upper = np.mean([[staircases(one, rng) for one in folds] for _ in range(1500)], axis=1).T
    values = [roc.partial_auc_of(one.curve, *BAND).normalized for one in folds]
    place = (np.mean(values) - lower.mean()) / (upper - lower).mean()
    rows = [sum(found) for found in zip(*((4, 6 * v, 6 * (1 - v)) for v in values), strict=True)]
    # With alpha = 0 the upper bound also depends on negatives above few positives.
    above = sum(4 * (1 - v) for v in values)
    outward = [min(1.0, 2.5 * 2 / min(of)) for of in ((rows[0], rows[1]), (above, rows[2]))]
    low = np.quantile(lower + place * (1 - outward[0]) * (upper - lower), 0.025)
    high = np.quantile(lower + (place + (1 - place) * outward[1]) * (upper - lower), 0.975)
    found = inference.folds_interval(folds, *BAND)
    assert found.value == pytest.approx(np.mean(values))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.015)


def test_interval_of_one_fold_equals_the_plain_interval():
    one = fold(0, 20, 80)
    assert inference.folds_interval([one], *BAND) == inference.interval_of(one, *BAND, 0.95)


@pytest.mark.parametrize("band", [(0.0, 1.0), (0.0, 0.3)])
def test_variances_of_large_folds_add_up(band):
    folds, shares = [fold(k, 300, 500) for k in range(3)], np.array([0.2, 0.3, 0.5])
    alone = [inference.interval_of(one, *band, 0.95) for one in folds]
    value = float(shares @ [one.value for one in alone])
    auc = float(shares @ [one.auc for one in folds])
    # Each fold trains the models of the others.
    se = math.sqrt(shares**2 @ np.square([one.se for one in alone]) * (1 + 2 * (1 - auc)))
    found = inference.folds_interval(folds, *band, shares=10 * shares)
    assert (found.value, found.se) == pytest.approx((value, se))
    logit = math.log(found.high / (1 - found.high)) - math.log(value / (1 - value))
    assert logit == pytest.approx(stats.norm.ppf(0.975) * se / (value * (1 - value)))


@pytest.mark.parametrize("band", [BAND, (0.0, 1.0)])
def test_folds_of_very_few_rows_have_an_interval(band):
    found = inference.folds_interval([fold(k, 1, 12) for k in range(5)], *band)
    assert 0 <= found.low < found.value < found.high <= 1


def test_range_without_negatives_has_no_interval():
    found = inference.folds_interval([fold(k, 9, 12) for k in range(5)], 0.0, 0.01)
    assert math.isnan(found.low)
    assert found.reason


@pytest.mark.parametrize("shares", [None, [1.0, 1.0, 2.0]])
def test_perfect_folds_have_the_bounds_of_all_their_pairs(shares):
    found = inference.folds_interval(
        [fold(k, 5, 9, mu=50.0) for k in range(3)], 0, 1, shares=shares
    )
    pairs = 15 if shares is None else 10  # a fold of half the weight allows 5 / 0.5
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.025 ** (1 / pairs))
    tied = [roc.Ranking.of([True, False] * 6, np.zeros(12)) for _ in range(2)]
    found = inference.folds_interval(tied, 0.0, 1.0)
    assert found.low < 0.5 < found.high


def test_rounding_is_no_variance_between_splits():
    again = np.nextafter([1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0])
    assert math.isnan(inference.splits_interval(again, 0.95, 0.25).low)
    found = inference.splits_test([0.9, 0.7, 0.8], [0.8, 0.6, 0.7], 75, 25)
    assert found.difference == pytest.approx(0.1)
    assert math.isnan(found.p)


@pytest.mark.parametrize("sampled", ["groups", "weights"])
def test_reason_names_what_leaves_too_few_negatives(sampled):
    rng, y = np.random.default_rng(2), np.arange(640) < 40
    scores = rng.standard_normal(640)
    groups, weights = np.arange(640) % 20, np.where(np.arange(640) % 20, 0.01, 50.0)
    rows = {"groups": groups} if sampled == "groups" else {"weights": weights}
    folds = [roc.Ranking.of(y, scores, **rows) for _ in range(2)]
    found = inference.folds_interval(folds, 0.0, 0.01)
    assert found.reason == f"the {sampled} leave less than one independent negative in the range"


def test_grouped_rows_count_once_per_group():
    alone = [fold(k, 40, 120) for k in range(3)]
    repeated = []
    for one in alone:
        y = np.repeat([True, False], [40, 120])
        scores = np.concatenate(one.in_row_order(one.s, one.t))
        times = np.repeat(np.arange(160), 4)
        repeated.append(roc.Ranking.of(y[times], scores[times], groups=times))
    once, grouped = (inference.folds_interval(of, *BAND) for of in (alone, repeated))
    assert grouped.value == pytest.approx(once.value)
    assert grouped.high - grouped.low > 0.9 * (once.high - once.low)


# --- coverage


@pytest.mark.slow
@pytest.mark.parametrize("signal", [0.0, 1.0, 3.3], ids=["none", "medium", "AUC .988"])
def test_auc_over_folds_of_refitted_models_has_coverage(signal):
    # Without signal the variances of the folds alone cover in .86; near 1, with four repeats, the
    # corrected resampled t interval in .88.
    rng, held, draws = np.random.default_rng(0), 0, 100
    shift, y = np.full(5, signal / math.sqrt(5)), np.arange(100) < 40
    for _ in range(draws):
        X, folds, truths = rng.standard_normal((100, 5)) + np.outer(y, shift), [], []
        place = np.concatenate([rng.permutation(count) % 5 for count in (40, 60)])
        for train in (place != k for k in range(5)):
            a, b = X[train & y], X[train & ~y]
            weights = np.linalg.solve(np.cov(a.T) + np.cov(b.T), a.mean(axis=0) - b.mean(axis=0))
            folds.append(roc.Ranking.of(y[~train], X[~train] @ weights))
            truths.append(stats.norm.cdf(weights @ shift / np.linalg.norm(weights) / math.sqrt(2)))
        found = inference.folds_interval(folds, 0.0, 1.0)
        held += found.low <= np.mean(truths) <= found.high
    assert held / draws >= 0.95 - 2 * math.sqrt(0.95 * 0.05 / draws)


@pytest.mark.slow
@pytest.mark.parametrize("design", [(10, 100, 5), (20, 60, 5), (20, 100, 10), (50, 500, 5)])
@pytest.mark.parametrize("auc", [0.76, 0.92])
def test_partial_auc_over_folds_has_coverage(design, auc):
    # Normal bounds from added variances covered it in .45 to .72 of the first three designs.
    covered = simulated.folds_coverage(*design, NORMAL, auc, 60)[1]
    assert covered >= 0.95 - 3.5 * math.sqrt(0.95 * 0.05 / 60)


@pytest.mark.slow
@pytest.mark.parametrize("fpr", [0.1, 0.2])
def test_tpr_interval_of_tied_scores_covers_and_is_narrow(fpr):
    covered, width = simulated.tied_coverage(200, 2000, 1.0, fpr, 150)
    assert covered >= 0.95 - 3.5 * math.sqrt(0.95 * 0.05 / 150)
    assert width < 0.16  # binomial bounds over a whole tie have width .39


# --- too few splits


@pytest.mark.parametrize("values", [[0.4], [0.4, 0.4], [0.3, 0.5]])
def test_two_splits_have_no_interval(values):
    found = inference.splits_interval(values, 0.95, 0.25)
    assert found.value == pytest.approx(np.mean(values))
    assert np.isnan([found.low, found.high, found.se]).all()
    assert found.reason


def test_splits_without_variance_have_no_interval():
    found = inference.splits_interval([0.4] * 5, 0.95, 0.25)
    assert found.value == pytest.approx(0.4)
    assert math.isnan(found.low)
    assert found.reason
    assert found.reason != inference.splits_interval([0.4, 0.4], 0.95, 0.25).reason


def test_two_splits_have_no_test():
    found = inference.splits_test([0.8, 0.9], [0.7, 0.75], 75, 25)
    assert found.difference == pytest.approx(0.125)
    assert np.isnan([found.low, found.high, found.z, found.p]).all()
    assert found.reason
    alike = inference.splits_test([0.8, 0.9], [0.8, 0.9], 75, 25)
    assert math.isnan(alike.p)
    assert inference.splits_test([0.8, 0.9, 0.7], [0.7, 0.75, 0.7], 75, 25).p > 0
