import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aucstudio.engine import inference

# AUC of C4.5 with and without tuning of two parameters on 14 tables, after Demsar (2006).
TUNING = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],  # printed alike, but ranked second and third
        [0.957, 0.978, 0.946, 0.970],
    ]
)

# --- repeated splits


def test_splits_interval_is_the_corrected_t():
    values = [0.81, 0.84, 0.79, 0.86, 0.83]
    for disjoint, shared in ((True, 0.2 / 0.8), (False, 2.5 * 0.2)):
        found = inference.splits_interval(values, 0.9, 0.2, disjoint=disjoint)
        se = math.sqrt((1 / 5 + shared) * np.var(values, ddof=1))
        expected = stats.t(4, loc=np.mean(values), scale=se).interval(0.9)
        assert (found.value, found.se) == pytest.approx((np.mean(values), se))
        assert (found.low, found.high) == pytest.approx(expected)
    # Where nearly all rows are held out again and again the known correction is the larger one.
    assert inference.variance_factor(10, 0.9) == pytest.approx(0.1 + 9)


def test_splits_interval_without_correction_is_the_t_interval():
    values = [0.61, 0.58, 0.63, 0.55]
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    found = inference.splits_interval(values, 0.95, 1e-12)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_splits_interval_stays_within_its_bounds():
    assert inference.splits_interval([0.99, 0.8], 0.95, 0.3).high == 1.0
    found = inference.splits_interval([0.02, 0.01, 0.03], 0.95, 0.5, bounds=(-1.0, 1.0))
    assert found.low < 0


def test_splits_interval_of_one_split_is_open():
    found = inference.splits_interval([0.8], 0.95, 0.3)
    assert found.value == 0.8
    assert np.isnan([found.low, found.high, found.se]).all()


@pytest.mark.parametrize(
    ("values", "fraction"), [([], 0.2), ([np.nan, 0.5], 0.2), ([0.5, 0.6], 0.0), ([0.5, 0.6], 1.0)]
)
def test_splits_interval_refuses_bad_input(values, fraction):
    with pytest.raises(ValueError, match="must"):
        inference.splits_interval(values, 0.95, fraction)


def test_splits_test_is_the_interval_of_the_differences():
    a, b = [0.81, 0.84, 0.79, 0.86, 0.83], [0.80, 0.80, 0.80, 0.81, 0.81]
    found = inference.splits_test(a, b, 80, 20, 0.9)
    difference = np.subtract(a, b)
    interval = inference.splits_interval(difference, 0.9, 0.2, bounds=(-1, 1))
    assert (found.difference, found.low, found.high, found.se) == pytest.approx(
        (interval.value, interval.low, interval.high, interval.se)
    )
    # Without the share of test rows the statistic is that of the paired t-test.
    plain = stats.ttest_rel(a, b)
    assert found.z == pytest.approx(plain.statistic * math.sqrt(0.2 / (0.2 + 0.5)))
    assert found.p == pytest.approx(2 * stats.t(4).sf(found.z))
    assert inference.splits_test(a, b, 1e12, 1).p == pytest.approx(plain.pvalue)
    back = inference.splits_test(b, a, 80, 20)
    assert (back.z, back.p) == pytest.approx((-found.z, found.p))


def test_splits_test_without_variance():
    same = inference.splits_test([0.7, 0.8], [0.7, 0.8], 80, 20)
    assert (same.difference, same.low, same.high, same.z, same.p) == (0, 0, 0, 0, 1)
    for a, b in (([0.75, 1.0], [0.5, 0.75]), ([0.8], [0.7]), ([0.8], [0.8])):
        found = inference.splits_test(a, b, 80, 20)
        assert found.difference == pytest.approx(a[0] - b[0])
        assert np.isnan([found.low, found.high, found.z, found.p]).all()
        assert ("one split" in found.reason) == (len(a) == 1)
        assert found.reason


def test_splits_test_keeps_its_level_where_the_paired_t_test_does_not():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 100))  # how much better the first of two methods does on a row
    plain = corrected = 0
    for table in rows:
        tests = np.stack([rng.permutation(100)[:20] for _ in range(10)])
        means = table[tests].mean(axis=1)
        corrected += inference.splits_test(means, np.zeros(10), 80, 20).p < 0.05
        plain += stats.ttest_1samp(means, 0).pvalue < 0.05
    assert corrected / 400 < 0.08 < 0.2 < plain / 400


@pytest.mark.parametrize(
    ("a", "b", "sizes"),
    [
        ([0.5, 0.6], [0.5], (80, 20)),
        ([], [], (80, 20)),
        ([0.5, np.nan], [0.5, 0.5], (80, 20)),
        ([0.5, 0.6], [0.5, 0.5], (0, 20)),
        ([0.5, 0.6], [0.5, 0.5], (80, math.nan)),
    ],
)
def test_splits_test_refuses_bad_input(a, b, sizes):
    with pytest.raises(ValueError, match="must"):
        inference.splits_test(a, b, *sizes)


# --- corrections


def test_worked_corrections():
    p = [0.01, np.nan, 0.04, 0.03, 0.005]
    np.testing.assert_allclose(inference.bonferroni(p), [0.04, np.nan, 0.16, 0.12, 0.02])
    np.testing.assert_allclose(inference.holm(p), [0.03, np.nan, 0.06, 0.06, 0.02])
    assert inference.holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert inference.holm([]).size == inference.bonferroni([]).size == 0
    assert np.isnan(inference.holm([np.nan])).all()


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_is_the_closed_test_of_bonferroni(p):
    """Reject where every intersection that holds the hypothesis is rejected."""
    expected = [
        max(
            min(1.0, len(some) * min(p[i] for i in some))
            for size in range(1, len(p) + 1)
            for some in itertools.combinations(range(len(p)), size)
            if k in some
        )
        for k in range(len(p))
    ]
    np.testing.assert_allclose(inference.holm(p), expected, atol=1e-15)
    assert (inference.holm(p) <= inference.bonferroni(p) + 1e-15).all()


@pytest.mark.parametrize("p", [[1.1], [-0.1], [np.inf], [[0.1, 0.2]]])
def test_what_is_no_probability_is_refused(p):
    for correct in (inference.holm, inference.bonferroni):
        with pytest.raises(ValueError, match="within"):
            correct(p)


# --- tables


def test_published_friedman_and_nemenyi():
    found = inference.friedman(TUNING)
    np.testing.assert_allclose(found.mean_ranks, [3.143, 2.0, 2.893, 1.964], atol=5e-4)
    statistic, p = stats.friedmanchisquare(*TUNING.T)
    assert (found.chi2, found.p_chi2) == pytest.approx((statistic, p))
    assert pytest.approx(13 * statistic / (14 * 3 - statistic)) == found.F
    assert found.p == pytest.approx(stats.f(3, 39).sf(found.F))
    after = inference.nemenyi(TUNING)
    assert after.critical_difference == pytest.approx(1.25, abs=5e-3)
    assert inference.nemenyi(TUNING, 0.9).critical_difference == pytest.approx(1.12, abs=5e-3)
    assert after.p[0, 3] == after.p[3, 0]
    assert np.diag(after.p) == pytest.approx(np.ones(4))
    ranks = after.mean_ranks
    apart = np.abs(ranks[:, None] - ranks) > after.critical_difference
    np.testing.assert_array_equal(after.p < 0.05, apart)


@pytest.mark.parametrize(
    ("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (7, 2.949), (10, 3.164)]
)
def test_published_critical_values(k, q):
    found = inference.nemenyi(np.random.default_rng(0).random((9, k)))
    assert found.critical_difference == pytest.approx(q * math.sqrt(k * (k + 1) / 54), abs=1e-3)


def test_friedman_where_all_agree_or_nothing_differs():
    agreed = inference.friedman(np.arange(3) + np.zeros((4, 3)))
    assert agreed.mean_ranks.tolist() == [3, 2, 1]
    assert math.inf == agreed.F
    assert agreed.p == pytest.approx(6.0**-3)
    level = inference.friedman(np.ones((4, 3)))
    assert (level.chi2, level.F, level.p, level.p_chi2) == (0, 0, 1, 1)
    assert (inference.nemenyi(np.ones((4, 3))).p == 1).all()


def signed_rank_by_enumeration(difference):
    ranks = stats.rankdata(np.abs(difference))[difference != 0]
    won = ranks[difference[difference != 0] > 0].sum()
    sums = [np.dot(signs, ranks) for signs in itertools.product([0, 1], repeat=len(ranks))]
    return min(1.0, 2 * min(np.mean(np.array(sums) <= won), np.mean(np.array(sums) >= won)))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_wilcoxon_with_ties_and_zeros_is_exact(differences):
    difference = np.array(differences) / 10
    found = inference.wilcoxon(0.3 + difference, np.full(len(difference), 0.3))
    assert found.p == pytest.approx(signed_rank_by_enumeration(np.array(differences)))
    counts = [(np.array(differences) > 0).sum(), (np.array(differences) < 0).sum()]
    assert [found.better, found.worse] == counts
    assert found.better + found.worse + found.equal == len(differences)


@pytest.mark.parametrize(("size", "how"), [(30, "exact"), (100, "exact"), (150, "approx")])
def test_wilcoxon_is_scipys_without_ties(size, how):
    rng = np.random.default_rng(size)
    a, b = rng.random(size), rng.random(size) + 0.05
    expected = stats.wilcoxon(a, b, method=how, correction=False)
    found = inference.wilcoxon(a, b)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.statistic == pytest.approx(
        stats.wilcoxon(a, b, alternative="greater", method=how).statistic
    )


def test_wilcoxon_of_equal_methods():
    for size in (5, 200):
        assert inference.wilcoxon(np.ones(size), np.ones(size)).p == 1.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: inference.friedman([[0.5, 0.6]]),
        lambda: inference.friedman([[0.5], [0.6]]),
        lambda: inference.friedman([[0.5, np.nan], [0.6, 0.7]]),
        lambda: inference.nemenyi([0.5, 0.6]),
        lambda: inference.wilcoxon([0.5], [0.5, 0.6]),
        lambda: inference.wilcoxon([], []),
        lambda: inference.wilcoxon([np.inf], [0.5]),
        lambda: inference.nemenyi(TUNING, 95),
    ],
)
def test_tables_with_too_little_are_refused(call):
    with pytest.raises(ValueError, match=r"must|needed"):
        call()


# --- the same rows


def test_the_same_rows_pass():
    inference.check_same_rows([3, 1, 2], [1, 0, 1], np.array([3, 1, 2]), [True, False, True])
    inference.check_same_rows(["a", "b"], [1, 0], ["a", "b"], [1, 0])


@pytest.mark.parametrize(
    ("rows", "y", "reason"),
    [
        ([1, 2, 4], [1, 0, 1], "1 row only in the first, 1 row only in the second"),
        ([1, 2], [1, 0], "1 row only in the first, 0 rows only in the second"),
        ([1, 3, 2], [1, 1, 0], "in another order"),
        ([1, 2, 3, 3], [1, 0, 1, 1], "more than once"),
        ([1, 2, 3], [0, 0, 0], "the labels of 2 rows differ"),
    ],
)
def test_other_rows_are_refused_with_the_reason(rows, y, reason):
    with pytest.raises(inference.NotSameRows, match=reason):
        inference.check_same_rows([1, 2, 3], [1, 0, 1], rows, y)
