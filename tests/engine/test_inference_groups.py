"""The test for equal areas in disjoint groups of rows."""

import math

import numpy as np
import pytest
import scipy

from aucstudio.engine import roc
from aucstudio.engine.inference import GroupArea, Placements, equality_test

BAND = (0.0, 0.1)


def ranking(random, m, n, shift=1.0, spread=1.0, weights=None):
    scores = np.append(spread * random.standard_normal(m) + shift, random.standard_normal(n))
    return roc.Ranking.of(np.arange(m + n) < m, scores, weights=weights)


def known(value, se, rows=100):
    """Return an area with equal variance from positives and negatives."""
    return GroupArea(value, (se**2 / 2, se**2 / 2), (rows, rows), rows)


def logit(value, se, rows=100):
    """Return the continuity-corrected logit of an area and its standard error."""
    value = (value * rows + 0.5) / (rows + 1)
    return math.log(value / (1 - value)), se / (value * (1 - value))


def test_two_groups_are_compared_by_the_difference_of_logits():
    (a, se_a), (b, se_b) = logit(0.8, 0.03), logit(0.7, 0.03)
    # Rows of the second group have less variance on this scale: the pooled variance is used.
    se_b = max(se_b, math.sqrt((se_a**2 + se_b**2) / 2))
    z = (a - b) / np.hypot(se_a, se_b)
    found = equality_test([known(0.8, 0.03), known(0.7, 0.03)])
    assert found == pytest.approx(2 * scipy.stats.norm.sf(z), rel=1e-12)


def test_row_variance_is_at_least_the_pooled_one():
    sure, unsure = known(0.9, 0.001, rows=9), known(0.7, 0.1, rows=109)
    (a, se_a), (b, se_b) = logit(0.9, 0.001, 9), logit(0.7, 0.1, 109)
    of_row = (9 * se_a**2 * 8 + 109 * se_b**2 * 108) / 116
    z = (a - b) / math.sqrt(of_row / 9 + se_b**2)
    assert equality_test([sure, unsure]) == pytest.approx(2 * scipy.stats.norm.sf(z), rel=1e-12)


@pytest.mark.parametrize("weights", [None, np.ones(980)])
@pytest.mark.parametrize("band", [(0.0, 1.0), BAND])
def test_group_area_and_variance_equal_those_of_placements(weights, band):
    one = ranking(np.random.default_rng(0), 80, 900, weights=weights)
    found = GroupArea.of([one], *band)
    se = Placements(one, band).variance.se
    assert found.value == pytest.approx(roc.partial_auc_of(one.curve, *band).normalized)
    assert math.sqrt(sum(found.variances)) == pytest.approx(se, rel=1e-9)
    assert found.sizes == pytest.approx((80, 900))
    assert found.speaks


def test_folds_are_weighted_by_their_pairs():
    random = np.random.default_rng(1)
    folds = [ranking(random, 10, 30), ranking(random, 20, 40)]
    parts = [GroupArea.of([fold], 0.0, 1.0) for fold in folds]
    found = GroupArea.of(folds, 0.0, 1.0)
    shares = np.array([300, 800]) / 1100
    assert found.value == pytest.approx(shares @ [part.value for part in parts])
    assert found.variances == pytest.approx(shares**2 @ [part.variances for part in parts])
    assert found.sizes == (30, 70)


@pytest.mark.parametrize(
    ("sizes", "band", "enough"),
    [
        ((4, 90), (0, 1), False),
        ((5, 5), (0, 1), True),
        ((1, 9), (0, 1), False),
        ((90, 20), BAND, False),
        ((90, 30), BAND, True),
    ],
)
def test_groups_with_too_few_rows_are_not_tested(sizes, band, enough):
    random = np.random.default_rng(2)
    area = GroupArea.of([ranking(random, *sizes)], *band)
    assert area.speaks == enough
    many = GroupArea.of([ranking(random, 90, 90)], *band)
    assert math.isnan(equality_test([area, many])) != enough
    assert math.isnan(equality_test([area]))


def test_perfectly_ranked_groups_alone_are_not_tested():
    random = np.random.default_rng(3)
    best = [GroupArea.of([ranking(random, 8, 30, shift=99.0)], 0.0, 1.0) for _ in range(3)]
    assert math.isnan(equality_test(best))
    worse = GroupArea.of([ranking(random, 40, 40, shift=0.0)], 0.0, 1.0)
    assert equality_test([*best, worse]) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "shift"),
    [
        ([(6, 60), (200, 2000)], 1.0),
        ([(8, 100)] * 10, 2.5),
        ([(20, 200)] * 12, 2.5),
        ([(40, 80)] * 3, 0.7),
    ],
)
@pytest.mark.parametrize("band", [(0.0, 1.0), BAND])
def test_equal_groups_rarely_differ_significantly(groups, shift, band):
    random = np.random.default_rng(4)
    low = 0
    for _ in range(200):
        areas = [GroupArea.of([ranking(random, m, n, shift)], *band) for m, n in groups]
        low += equality_test(areas) < 0.05
    assert low <= 20  # more than 20 rejections of 200 at 5 % have probability 1/900
