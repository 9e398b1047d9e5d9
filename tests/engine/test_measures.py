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
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score

from aucstudio.engine import roc
from tests.engine.test_roc import columns, random_table

# Scores x1 + x2 of the small worked example: four positives, six negatives.
EXAMPLE_Y = np.array([1] * 4 + [0] * 6)
EXAMPLE = np.array([3.0, 4.0, 5.0, 2.0, 0.0, 2.0, 2.0, 0.0, 0.0, 3.0])

tables = st.lists(st.tuples(st.booleans(), st.integers(-6, 6)), min_size=2, max_size=40).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


def vertices(y, score):
    """Return the vertices (FPR, TPR) of the curve as fractions, threshold by threshold."""
    m, n = int(y.sum()), int((~y).sum())
    points = [(Fraction(0), Fraction(0))]
    for cut in np.unique(score)[::-1]:
        chosen = score >= cut
        points.append((Fraction(int((chosen & ~y).sum()), n), Fraction(int((chosen & y).sum()), m)))
    return points


# --- H, AUCH, KS, Gini, EER


def loss_by_quadrature(y, score, a, b):
    """Return H from the least cost over all vertices, integrated over the cost share."""
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
def test_h_measure_is_the_saved_share_of_the_expected_loss(levels):
    y, score = random_table(11, size=25, levels=levels, share=0.3)
    expected = loss_by_quadrature(y, score, 2.0, 2.0)
    assert roc.h_measure(roc.roc_curve(y, score)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@settings(deadline=None)
@given(tables)
def test_h_measure_is_invariant_to_class_swap_and_hull(rows):
    y, score = columns(rows)
    h = roc.h_measure(roc.roc_curve(y, score))
    assert -1e-12 <= h <= 1
    assert roc.h_measure(roc.roc_curve(~y, -score)) == pytest.approx(h, abs=1e-11)
    assert roc.h_measure(roc.hull(roc.roc_curve(y, score))) == h


@pytest.mark.slow
@settings(deadline=None)
@given(tables)
def test_hull_area_is_the_auc_after_isotonic_calibration(rows):
    y, score = columns(rows)
    _, group = np.unique(score, return_inverse=True)
    weight = np.bincount(group).astype(float)
    share = np.bincount(group, weights=y) / weight
    calibrated = np.round(isotonic_regression(share, sample_weight=weight), 9)
    assert roc.auc_of(roc.hull(roc.roc_curve(y, score))) == pytest.approx(
        roc_auc_score(y, calibrated[group]), abs=1e-12
    )
    assert roc.auc_of(roc.hull(roc.roc_curve(y, score))) >= max(0.5, roc.auc(y, score))


@pytest.mark.slow
@settings(deadline=None)
@given(tables)
def test_ks_is_the_greatest_distance_of_the_classes(rows):
    y, score = columns(rows)
    found = roc.ks(roc.roc_curve(y, score))
    peer = ks_2samp(score[y], score[~y], alternative="less", method="asymp")
    assert found == pytest.approx(max(0.0, peer.statistic), abs=1e-14)


@settings(deadline=None)
@given(tables)
def test_curve_crosses_the_falling_diagonal_at_the_equal_error_rate(rows):
    y, score = columns(rows)
    rate = roc.equal_error_rate(roc.roc_curve(y, score))
    points = vertices(y, score)
    for (x0, y0), (x1, y1) in pairwise(points):
        before, after = x0 + y0 - 1, x1 + y1 - 1
        if before < 0 <= after:
            crossing = x0 + (x1 - x0) * before / (before - after)
            assert rate == pytest.approx(float(crossing), abs=1e-15)
    assert roc.equal_error_rate(roc.roc_curve(~y, -score)) == pytest.approx(rate, abs=1e-15)
    assert roc.equal_error_rate(roc.roc_curve(y, -score)) == pytest.approx(1 - rate, abs=1e-15)


# --- precision and recall


@pytest.mark.parametrize("levels", [None, 1, 4])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_precision_recall_points_match_scikit_learn(levels, share):
    y, score = random_table(12, size=200, levels=levels, share=share)
    peer_precision, peer_recall, _ = precision_recall_curve(y, score)
    recall, precision = roc.precision_recall(roc.roc_curve(y, score))
    np.testing.assert_allclose(recall, peer_recall[::-1], atol=1e-15)
    np.testing.assert_allclose(precision[1:], peer_precision[-2::-1], atol=1e-15)
    assert precision[0] == precision[1]


@pytest.mark.slow
@settings(deadline=None)
@given(tables)
def test_average_precision_matches_scikit_learn(rows):
    y, score = columns(rows)
    expected = average_precision_score(y, score)
    assert roc.average_precision(roc.roc_curve(y, score)) == pytest.approx(expected, abs=1e-14)


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
def test_description_contains_each_measure(levels):
    y, score = random_table(14, levels=levels)
    area = roc.partial_auc(y, score, 0.05, 0.3)
    expected = {
        "auc": roc.auc(y, score),
        "gini": 2 * roc.auc(y, score) - 1,
        "pauc": area.raw,
        "pauc_normalized": area.normalized,
        "pauc_mcclish": area.mcclish,
        "pauc_negatives": area.negatives,
        "auch": roc.auc_of(roc.hull(roc.roc_curve(y, score))),
        "h": roc.h_measure(roc.roc_curve(y, score)),
        "ks": roc.ks(roc.roc_curve(y, score)),
        "eer": roc.equal_error_rate(roc.roc_curve(y, score)),
        "ap": roc.average_precision(roc.roc_curve(y, score)),
    }
    found = roc.describe(roc.roc_curve(y, score), (0.05, 0.3))
    assert list(found) == list(expected)
    assert found == expected
    assert all(type(value) is float for value in found.values())
