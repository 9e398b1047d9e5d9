import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta as beta_distribution
from scipy.stats import ks_2samp
from sklearn.isotonic import isotonic_regression
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
)

from aucstudio.engine import roc
from tests.engine.test_roc import columns, random_table

# Scores x1 + x2 of the small worked example: four positives, six negatives.
EXAMPLE_Y = np.array([1] * 4 + [0] * 6)
EXAMPLE = np.array([3.0, 4.0, 5.0, 2.0, 0.0, 2.0, 2.0, 0.0, 0.0, 3.0])

tables = st.lists(st.tuples(st.booleans(), st.integers(-6, 6)), min_size=2, max_size=40).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)
twelfths = st.tuples(st.integers(0, 11), st.integers(1, 12)).map(
    lambda cut: (cut[0] / 12, min(12, sum(cut)) / 12)
)


def vertices(y, score):
    """Vertices (FPR, TPR) of the curve in rational numbers, counted threshold by threshold."""
    m, n = int(y.sum()), int((~y).sum())
    points = [(Fraction(0), Fraction(0))]
    for cut in np.unique(score)[::-1]:
        chosen = score >= cut
        points.append((Fraction(int((chosen & ~y).sum()), n), Fraction(int((chosen & y).sum()), m)))
    return points


def clipped_area(points, x_range, floor=Fraction(0)):
    """Area between a floor and the curve over a range of x, edge by edge."""
    low, high = map(Fraction, x_range)
    total = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(points):
        left, right = max(x0, low), min(x1, high)
        if left >= right:
            continue
        slope = (y1 - y0) / (x1 - x0)
        if slope and y0 < floor < y1:
            left = max(left, x0 + (floor - y0) / slope)
        if left < right and y1 > floor:
            heights = y0 + slope * (left - x0), y0 + slope * (right - x0)
            total += (right - left) * (sum(heights) / 2 - floor)
    return float(total)


# --- the area over a range of TPR


@settings(deadline=None)
@given(tables, twelfths)
def test_area_by_tpr_is_exact(rows, band):
    y, score = columns(rows)
    turned = [(1 - tpr, 1 - fpr) for fpr, tpr in reversed(vertices(y, score))]
    expected = clipped_area(turned, (1 - Fraction(band[1]), 1 - Fraction(band[0])))
    area = roc.partial_auc_by_tpr(y, score, *band)
    assert area.raw == pytest.approx(expected, abs=1e-14)
    assert area == roc.partial_auc_by_tpr_of(roc.roc_curve(y, score), *band)


@settings(deadline=None)
@given(tables, twelfths)
def test_area_by_tpr_is_the_area_by_fpr_of_swapped_classes(rows, band):
    y, score = columns(rows)
    area = roc.partial_auc_by_tpr(y, score, *band)
    swapped = roc.partial_auc(~y, -score, 1 - band[1], 1 - band[0])
    for scale in ("raw", "maximum", "chance", "normalized", "mcclish"):
        assert getattr(area, scale) == pytest.approx(getattr(swapped, scale), abs=1e-12)
    assert (area.positives, area.of_positives) == (swapped.negatives, swapped.of_negatives)


@settings(deadline=None)
@given(tables, st.lists(st.integers(1, 19), max_size=4, unique=True))
def test_areas_by_tpr_add_up(rows, cuts):
    y, score = columns(rows)
    ends = [0.0, *sorted(cut / 20 for cut in cuts), 1.0]
    parts = [roc.partial_auc_by_tpr(y, score, *band).raw for band in pairwise(ends)]
    assert math.fsum(parts) == pytest.approx(roc.auc(y, score), abs=1e-13)


def test_area_by_tpr_at_its_landmarks():
    perfect = roc.partial_auc_by_tpr([0, 0, 1, 1], [1, 2, 3, 4], 0.2, 0.7)
    assert perfect.raw == perfect.maximum == pytest.approx(0.5)
    assert (perfect.normalized, perfect.mcclish) == (1, 1)
    tied = roc.partial_auc_by_tpr([0, 0, 1, 1], [1, 1, 1, 1], 0.2, 0.7)
    assert tied.raw == pytest.approx(tied.chance)
    assert tied.mcclish == pytest.approx(0.5)
    reversed_ = roc.partial_auc_by_tpr([1, 1, 0, 0], [1, 2, 3, 4], 0.5)
    assert reversed_.raw == 0
    assert reversed_.mcclish == pytest.approx((1 - 0.125 / 0.375) / 2)


@pytest.mark.parametrize(
    ("band", "positives"), [((0.9, 1.0), 2), ((0.71, 1.0), 6), ((0.05, 0.1), 1), ((0.0, 0.3), 6)]
)
def test_how_many_positives_decide(band, positives):
    y, score = np.arange(40) < 20, np.arange(40.0)
    assert roc.partial_auc_by_tpr(y, score, *band).positives == positives


@pytest.mark.parametrize("band", [(-0.1, 0.5), (0.5, 0.5), (0.6, 0.5), (0.0, 1.1), (np.nan, 1)])
def test_bad_tpr_ranges_are_refused(band):
    with pytest.raises(ValueError, match="TPR range"):
        roc.partial_auc_by_tpr(EXAMPLE_Y, EXAMPLE, *band)


# --- the two-way area


@pytest.mark.slow
@settings(deadline=None)
@given(tables, st.integers(1, 12), st.integers(0, 11))
def test_two_way_area_is_exact(rows, right, floor):
    y, score = columns(rows)
    corner = right / 12, floor / 12
    expected = clipped_area(vertices(y, score), (0, corner[0]), Fraction(corner[1]))
    area = roc.two_way_partial_auc(y, score, *corner)
    assert area.raw == pytest.approx(expected, abs=1e-14)
    assert 0 <= area.normalized <= 1
    assert area == roc.two_way_partial_auc_of(roc.roc_curve(y, score), *corner)


@pytest.mark.slow
@settings(deadline=None)
@given(tables, st.integers(1, 11))
def test_two_way_area_at_its_edges(rows, cut):
    y, score = columns(rows)
    rate = cut / 12
    whole = roc.two_way_partial_auc(y, score, 1.0, 0.0)
    assert whole.raw == pytest.approx(roc.auc(y, score), abs=1e-14)
    by_fpr = roc.two_way_partial_auc(y, score, rate, 0.0)
    assert by_fpr.raw == pytest.approx(roc.partial_auc(y, score, 0.0, rate).raw, abs=1e-14)
    by_tpr = roc.two_way_partial_auc(y, score, 1.0, rate)
    assert by_tpr.raw == pytest.approx(roc.partial_auc_by_tpr(y, score, rate).raw, abs=1e-14)


@pytest.mark.parametrize(("top", "bottom"), [(3, 5), (10, 1), (30, 20), (1, 1)])
def test_two_way_area_counts_pairs_of_top_negatives_and_bottom_positives(top, bottom):
    rng = np.random.default_rng(top)
    y = np.arange(50) < 20
    score = rng.normal(size=50) + 2 * y
    hard = np.sort(score[y])[:bottom][:, None] > np.sort(score[~y])[-top:]
    area = roc.two_way_partial_auc(y, score, top / 30, 1 - bottom / 20)
    assert area.raw == pytest.approx(hard.sum() / 600, abs=1e-14)
    assert area.normalized == pytest.approx(hard.mean(), abs=1e-12)
    assert (area.negatives, area.positives) == (top, bottom)


def test_two_way_area_at_its_landmarks():
    perfect = roc.two_way_partial_auc([0, 0, 1, 1], [1, 2, 3, 4], 0.2, 0.7)
    assert perfect.raw == perfect.maximum == pytest.approx(0.06)
    assert perfect.mcclish == 1
    for max_fpr, min_tpr, chance in [(0.6, 0.2, 0.08), (0.2, 0.6, 0.0)]:
        tied = roc.two_way_partial_auc([0, 0, 1, 1], [1, 1, 1, 1], max_fpr, min_tpr)
        assert tied.raw == pytest.approx(chance, abs=1e-15)
        assert tied.chance == pytest.approx(chance)
        assert tied.mcclish == pytest.approx(0.5)
    assert roc.two_way_partial_auc([0, 1], [1.0, 0.0], 0.9, 0.1).raw == 0


@pytest.mark.parametrize("corner", [(0, 0.5), (1.1, 0.5), (0.5, 1), (0.5, -0.1), (np.nan, 0)])
def test_bad_corners_are_refused(corner):
    with pytest.raises(ValueError, match="range needs"):
        roc.two_way_partial_auc(EXAMPLE_Y, EXAMPLE, *corner)


# --- coverage in words


@pytest.mark.parametrize(
    ("n", "band", "sentence"),
    [
        (3000, (0, 0.001), "FPR ≤ 0.001 covers 3 negatives"),
        (250, (0.02, 0.2), "FPR 0.02 … 0.2 covers 45 negatives"),
        (100, (0.07, 0.29), "FPR 0.07 … 0.29 covers 22 negatives"),
        (100, (0, 0.01), "FPR ≤ 0.01 covers 1 negative"),
        (400, (0, 0.001), "FPR ≤ 0.001 covers part of one negative"),
        (10, (0.05, 0.12), "FPR 0.05 … 0.12 covers less than one negative"),
        (1000, (0, 0.000001), "FPR ≤ 1e-06 covers part of one negative"),
        (999, (0, 0.001), "FPR ≤ 0.001 covers 1 negative"),
        (996, (0, 0.001), "FPR ≤ 0.001 covers 1 negative"),
        (990, (0, 0.001), "FPR ≤ 0.001 covers part of one negative"),
        (3450, (0, 0.001), "FPR ≤ 0.001 covers 4 negatives"),
        (100, (0, 1 / 3), "FPR ≤ 0.333333 covers 34 negatives"),
        (123456, (0.5, 1), "FPR ≥ 0.5 covers 61,728 negatives"),
        (1000, (0, 1), "FPR ≤ 1 covers 1,000 negatives"),
    ],
)
def test_coverage_of_a_band(n, band, sentence):
    area = roc.partial_auc(np.arange(n + 1) < 1, np.zeros(n + 1), *band)
    assert area.coverage() == sentence
    assert area.of_negatives == n


def test_coverage_of_tpr_ranges_and_corners():
    y = np.arange(250) < 50
    assert roc.partial_auc_by_tpr(y, y, 0.9).coverage() == "TPR ≥ 0.9 covers 5 positives"
    both = roc.two_way_partial_auc(y, y, 0.001, 0.98)
    expected = "FPR ≤ 0.001 covers part of one negative, TPR ≥ 0.98 covers 1 positive"
    assert both.coverage() == expected


# --- H, AUCH, KS, Gini, EER


def loss_by_quadrature(y, score, a, b):
    """H from the least cost over all vertices at each cost share, integrated numerically."""
    points = np.array(vertices(y, score), dtype=float)
    pi1 = y.mean()
    density = beta_distribution(a, b).pdf

    def least(c, rates):
        return (c * (1 - pi1) * rates[:, 0] + (1 - c) * pi1 * (1 - rates[:, 1])).min()

    ends = np.array([[0.0, 0.0], [1.0, 1.0]])
    kinks = [k / 64 for k in range(65)]
    losses = [
        math.fsum(
            quad(lambda c, r=rates: least(c, r) * density(c), *cell, limit=200, epsabs=1e-13)[0]
            for cell in pairwise(kinks)
        )
        for rates in (points, ends)
    ]
    return 1 - losses[0] / losses[1]


@pytest.mark.parametrize("levels", [None, 1])
@pytest.mark.parametrize("costs", [(2.0, 2.0), (1.3, 4.0), None])
def test_h_measure_is_the_saved_share_of_the_expected_loss(levels, costs):
    y, score = random_table(11, size=25, levels=levels, share=0.3)
    a, b = costs or (1 + y.mean(), 2 - y.mean())
    expected = loss_by_quadrature(y, score, a, b)
    assert roc.h_measure(y, score, costs) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@settings(deadline=None)
@given(tables, st.floats(0.5, 5), st.floats(0.5, 5))
def test_h_measure_under_swapped_classes_and_on_the_hull(rows, a, b):
    y, score = columns(rows)
    h = roc.h_measure(y, score, (a, b))
    assert -1e-12 <= h <= 1
    assert roc.h_measure(~y, -score, (b, a)) == pytest.approx(h, abs=1e-11)
    assert roc.h_measure(~y, -score, None) == pytest.approx(
        roc.h_measure(y, score, None), abs=1e-11
    )
    cover = roc.hull(roc.roc_curve(y, score))
    assert roc.h_measure_of(cover, (a, b)) == h


@pytest.mark.parametrize("costs", [(0, 2), (2, -1), (np.nan, 2), (np.inf, 2)])
def test_bad_cost_distributions_are_refused(costs):
    with pytest.raises(ValueError, match="cost distribution"):
        roc.h_measure(EXAMPLE_Y, EXAMPLE, costs)


@pytest.mark.slow
@settings(deadline=None)
@given(tables)
def test_area_under_the_hull_is_the_auc_after_isotonic_calibration(rows):
    y, score = columns(rows)
    _, group = np.unique(score, return_inverse=True)
    weight = np.bincount(group).astype(float)
    share = np.bincount(group, weights=y) / weight
    calibrated = np.round(isotonic_regression(share, sample_weight=weight), 9)
    assert roc.auch(y, score) == pytest.approx(roc_auc_score(y, calibrated[group]), abs=1e-12)
    assert roc.auch(y, score) >= max(0.5, roc.auc(y, score))


@pytest.mark.slow
@settings(deadline=None)
@given(tables)
def test_ks_is_the_greatest_distance_of_the_classes(rows):
    y, score = columns(rows)
    found = roc.ks(y, score)
    peer = ks_2samp(score[y], score[~y], alternative="less", method="asymp")
    assert found.value == pytest.approx(max(0.0, peer.statistic), abs=1e-14)
    rates = (score[~y] > found.threshold).mean(), (score[y] > found.threshold).mean()
    assert rates == (found.fpr, found.tpr)
    assert found.value == pytest.approx(found.tpr - found.fpr, abs=1e-15)
    best = [float(fpr) for fpr, tpr in vertices(y, score) if tpr - fpr >= found.value - 1e-12]
    assert found.fpr == min(best)


@settings(deadline=None)
@given(tables)
def test_curve_crosses_the_falling_diagonal_at_the_equal_error_rate(rows):
    y, score = columns(rows)
    rate = roc.equal_error_rate(y, score)
    points = vertices(y, score)
    for (x0, y0), (x1, y1) in pairwise(points):
        before, after = x0 + y0 - 1, x1 + y1 - 1
        if before < 0 <= after:
            crossing = x0 + (x1 - x0) * before / (before - after)
            assert rate == pytest.approx(float(crossing), abs=1e-15)
    assert roc.equal_error_rate(~y, -score) == pytest.approx(rate, abs=1e-15)
    assert roc.equal_error_rate(y, -score) == pytest.approx(1 - rate, abs=1e-15)


def test_worked_example():
    assert roc.gini(EXAMPLE_Y, EXAMPLE) == pytest.approx(19 / 24)
    assert roc.auch(EXAMPLE_Y, EXAMPLE) == pytest.approx(43 / 48)  # the curve is concave
    assert roc.equal_error_rate(EXAMPLE_Y, EXAMPLE) == pytest.approx(3 / 14)
    assert roc.ks(EXAMPLE_Y, EXAMPLE) == roc.KolmogorovSmirnov(
        pytest.approx(7 / 12), pytest.approx(1 / 6), 0.75, 2.5
    )


# --- precision and recall


@pytest.mark.parametrize("levels", [None, 1, 4])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_precision_recall_points_are_scikit_learns(levels, share):
    y, score = random_table(12, size=200, levels=levels, share=share)
    peer_precision, peer_recall, _ = precision_recall_curve(y, score)
    recall, precision = roc.precision_recall(roc.roc_curve(y, score))
    np.testing.assert_allclose(recall, peer_recall[::-1], atol=1e-15)
    np.testing.assert_allclose(precision[1:], peer_precision[-2::-1], atol=1e-15)
    assert precision[0] == precision[1]


@pytest.mark.slow
@settings(deadline=None)
@given(tables)
def test_average_precision_is_scikit_learns(rows):
    y, score = columns(rows)
    expected = average_precision_score(y, score)
    assert roc.average_precision(y, score) == pytest.approx(expected, abs=1e-14)


def area_by_quadrature(points, m, n):
    """Integrate precision over recall along straight segments of counts."""
    total = 0.0
    for (x0, y0), (x1, y1) in pairwise(points):
        fp, run, tp, rise = n * float(x0), n * float(x1 - x0), m * float(y0), m * float(y1 - y0)

        def precision(u, fp=fp, run=run, tp=tp, rise=rise):
            return (tp + u * rise) / (tp + u * rise + fp + u * run)

        total += rise / m * quad(precision, 0, 1, epsabs=1e-13)[0]
    return total


@settings(deadline=None, max_examples=50)
@given(tables)
def test_precision_recall_area_integrates_interpolated_counts(rows):
    y, score = columns(rows)
    expected = area_by_quadrature(vertices(y, score), y.sum(), (~y).sum())
    assert roc.precision_recall_area(y, score) == pytest.approx(expected, abs=1e-10)


def test_precision_recall_area_keeps_its_digits_with_rare_positives():
    fp = np.array([0, 10**6, 10**6 + 7, 10**6 + 7, 10**7])
    tp = np.array([0, 0, 1, 2, 5])
    curve = roc.Curve(fp, tp, np.append(np.inf, -np.arange(4.0)))
    points = list(zip(fp / 10**7, tp / 5, strict=True))
    expected = area_by_quadrature(points, 5, 10**7)
    assert roc.precision_recall_area_of(curve) == pytest.approx(expected, rel=1e-9)


def test_precision_recall_area_of_the_worst_ranking():
    y = np.arange(50) < 20
    lowest = 1 + 0.6 * math.log(0.6) / 0.4
    assert roc.precision_recall_area(y, -1.0 * y) == pytest.approx(lowest, abs=1e-15)
    assert roc.precision_recall_area(y, np.arange(50.0)) == pytest.approx(lowest, abs=1e-13)


# --- other axes


@pytest.mark.slow
@settings(deadline=None)
@given(tables)
def test_cost_curve_is_the_least_cost_of_any_vertex(rows):
    y, score = columns(rows)
    mix, cost = roc.cost_curve(roc.roc_curve(y, score))
    assert (mix[0], cost[0], mix[-1], cost[-1]) == (0, 0, 1, 0)
    assert (np.diff(mix) >= 0).all()
    fpr, tpr = np.array(vertices(y, score), dtype=float).T
    grid = np.linspace(0, 1, 41)[1:-1]
    least = (grid[:, None] * (1 - tpr) + (1 - grid[:, None]) * fpr).min(axis=1)
    np.testing.assert_allclose(np.interp(grid, mix, cost), least, atol=1e-12)


@pytest.mark.slow
@settings(deadline=None)
@given(tables)
def test_gain_and_lift_count_rows(rows):
    y, score = columns(rows)
    chosen = [score >= cut for cut in np.unique(score)[::-1]]
    share, found = roc.gain(roc.roc_curve(y, score))
    assert (share[0], found[0], share[-1], found[-1]) == (0, 0, 1, 1)
    np.testing.assert_allclose(share[1:], [part.mean() for part in chosen])
    np.testing.assert_allclose(found[1:], [part[y].mean() for part in chosen])
    share, times = roc.lift(roc.roc_curve(y, score))
    np.testing.assert_allclose(times, [y[part].mean() / y.mean() for part in chosen], atol=1e-14)
    assert len(share) == len(times)


# --- all at once


@pytest.mark.parametrize("levels", [None, 1])
def test_description_holds_each_measure(levels):
    y, score = random_table(14, levels=levels)
    area = roc.partial_auc(y, score, 0.05, 0.3)
    expected = {
        "auc": roc.auc(y, score),
        "gini": roc.gini(y, score),
        "pauc": area.raw,
        "pauc_normalized": area.normalized,
        "pauc_mcclish": area.mcclish,
        "pauc_negatives": area.negatives,
        "auch": roc.auch(y, score),
        "h": roc.h_measure(y, score),
        "ks": roc.ks(y, score).value,
        "eer": roc.equal_error_rate(y, score),
        "ap": roc.average_precision(y, score),
    }
    found = roc.describe(y, score, (0.05, 0.3))
    assert list(found) == list(expected)
    assert found == expected
    assert all(type(value) is float for value in found.values())
    assert roc.describe(~y, score, (0.05, 0.3), positive=False) == expected


@pytest.mark.parametrize("size", [1, 2, 30])
@pytest.mark.parametrize(
    ("sign", "expected"),
    [
        (1, {"auc": 1, "gini": 1, "pauc_normalized": 1, "auch": 1, "h": 1, "ks": 1, "eer": 0}),
        (0, {"auc": 0.5, "gini": 0, "pauc_mcclish": 0.5, "auch": 0.5, "h": 0, "ks": 0, "eer": 0.5}),
        (-1, {"auc": 0, "gini": -1, "pauc": 0, "auch": 0.5, "h": 0, "ks": 0, "eer": 1}),
    ],
)
def test_degenerate_rankings(size, sign, expected):
    y = np.repeat([True, False], size)
    found = roc.describe(y, sign * y.astype(float), (0.0, 0.2))
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-14)
    assert found["ap"] == (1.0 if sign > 0 else 0.5)


@pytest.mark.parametrize(
    "measure",
    [
        *(roc.gini, roc.auch, roc.ks, roc.equal_error_rate, roc.h_measure),
        *(roc.average_precision, roc.precision_recall_area),
    ],
)
def test_measures_refuse_bad_tables_and_take_a_positive_label(measure):
    with pytest.raises(ValueError, match="one class only"):
        measure([1, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="NaN"):
        measure([0, 1], [0.1, np.nan])
    y, score = random_table(15)
    assert measure(np.where(y, "a", "b"), score, positive="a") == measure(y, score)
