import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from aucstudio.engine import inference, roc
from aucstudio.engine.monitor import Stopped

EXAMPLE_Y = np.array([1] * 4 + [0] * 6)
EXAMPLE = np.array([3.0, 4.0, 5.0, 2.0, 0.0, 2.0, 2.0, 0.0, 0.0, 3.0])

tables = st.lists(
    st.tuples(st.booleans(), st.integers(-4, 4), st.integers(-4, 4)), min_size=4, max_size=30
).filter(lambda rows: 2 <= sum(row[0] for row in rows) <= len(rows) - 2)


def columns(rows):
    y, a, b = zip(*rows, strict=True)
    return np.array(y), np.array(a, dtype=float), np.array(b, dtype=float)


def random_table(seed, size=80, levels=None, share=0.4):
    rng = np.random.default_rng(seed)
    y = rng.random(size) < share
    a = rng.normal(size=size) + y
    b = a + rng.normal(size=size)
    if levels:
        a, b = np.round(a * levels), np.round(b * levels)
    return y, a, b


def kernel(y, score):
    s, t = score[y][:, None], score[~y][None, :]
    return (s > t) + 0.5 * (s == t)


def brute_covariance(y, *scores):
    parts = [kernel(y, score) for score in scores]
    by_class = [np.atleast_2d(np.cov([part.mean(axis=axis) for part in parts])) for axis in (1, 0)]
    return by_class[0] / y.sum() + by_class[1] / (~y).sum()


def brute_pauc_variance(y, score, alpha, beta):
    """Return the variance of the normalised area by loops over the components."""
    positives, negatives = score[y], sorted(score[~y], reverse=True)
    n = len(negatives)
    g = [max(0.0, min(j + 1, n * beta) - max(j, n * alpha)) for j in range(n)]
    in_band = [t for t, weight in zip(negatives, g, strict=True) if weight > 1e-12]
    psi10 = [
        sum(w * ((s > t) + 0.5 * (s == t)) for w, t in zip(g, negatives, strict=True)) / n
        for s in positives
    ]
    moved = [min(max(t, in_band[-1]), in_band[0]) for t in negatives]
    psi01 = [float(np.mean((positives > t) + 0.5 * (positives == t))) for t in moved]
    variance = np.var(psi10, ddof=1) / len(positives) + np.var(psi01, ddof=1) / n
    return variance / (beta - alpha) ** 2


def same(result, expected):
    for field in ("difference", "low", "high", "z", "p"):
        assert getattr(result, field) == pytest.approx(getattr(expected, field), abs=1e-12)


# --- DeLong


@pytest.mark.slow
def test_worked_example():
    found = inference.delong_interval(EXAMPLE_Y, EXAMPLE)
    assert found.value == 43 / 48
    assert found.se**2 == pytest.approx(0.0097800926, abs=5e-11)
    assert (found.method, found.level, found.reason) == ("order statistics, 1000 draws", 0.95, "")
    # Ten rows are little evidence: the drawn bounds are wider than the standard error suggests.
    assert 0.35 < found.low < 0.5
    assert 0.99 < found.high <= 1.0


@pytest.mark.parametrize("levels", [None, 1])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_delong_variance_equals_that_of_the_placements(levels, share):
    y, score, _ = random_table(1, levels=levels, share=share)
    found = inference.delong_interval(y, score, 0.9)
    assert found.value == roc.auc(y, score)
    assert found.se**2 == pytest.approx(brute_covariance(y, score)[0, 0], rel=1e-12)


def test_many_rows_use_the_logit_scale():
    y, score, _ = random_table(21, size=1200)
    whole, part = (
        inference.delong_interval(y, score),
        inference.pauc_interval(y, score, 0, 0.5, 0.9),
    )
    for found in (whole, part):
        z = stats.norm.ppf((1 + found.level) / 2) * found.se / (found.value * (1 - found.value))
        centre = math.log(found.value / (1 - found.value))
        for end, bound in ((centre - z, found.low), (centre + z, found.high)):
            assert bound == pytest.approx(1 / (1 + math.exp(-end)), rel=1e-12)
        assert "logit scale" in found.method


@pytest.mark.slow
@settings(deadline=None)
@given(tables)
def test_variances_and_covariances_match_brute_force(rows):
    y, a, b = columns(rows)
    one, other = (inference.Placements(roc.Ranking.of(y, of), (0.0, 1.0)) for of in (a, b))
    expected = brute_covariance(y, a, b)
    assert one.variance.se**2 == pytest.approx(expected[0, 0], abs=1e-14)
    apart = expected[0, 0] + expected[1, 1] - 2 * expected[0, 1]
    assert one.difference_variance(other).se ** 2 == pytest.approx(apart, abs=1e-14)


@pytest.mark.parametrize("levels", [None, 1])
def test_paired_test_follows_the_covariances(levels):
    y, a, b = random_table(3, levels=levels)
    covariance = brute_covariance(y, a, b)
    se = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    found = inference.delong_test(y, a, b, 0.9)
    assert found.difference == roc.auc(y, a) - roc.auc(y, b)
    assert found.se == pytest.approx(se, rel=1e-10)
    assert found.z == pytest.approx(found.difference / se, rel=1e-10)
    assert found.p == pytest.approx(2 * stats.norm.sf(abs(found.z)), rel=1e-10)
    assert found.high - found.low == pytest.approx(2 * stats.norm.ppf(0.95) * se)
    same(inference.pauc_test(y, a, b, 0.0, 1.0, 0.9), found)


@pytest.mark.parametrize("band", [(0.0, 1.0), (0.0, 0.3), (0.2, 0.7)])
def test_equal_rankings_do_not_differ(band):
    y, a, _ = random_table(5)
    for other in (a, np.exp(a)):
        for test in (inference.pauc_test, inference.bootstrap_test):
            found = test(y, a, other, *band)
            assert (found.difference, found.z, found.p, found.se) == (0.0, 0.0, 1.0, 0.0)
            assert found.low < 0 < found.high


def test_test_without_variance_uses_the_sign_test_on_disjoint_pairs():
    y = np.array([True] * 5 + [False] * 8)
    score = y.astype(float)
    found = inference.delong_test(y, score, -score)
    assert (found.difference, found.se, found.high) == (1.0, 0.0, 1.0)
    assert found.p == pytest.approx(stats.binomtest(5, 5).pvalue)
    assert found.z == pytest.approx(stats.norm.isf(found.p / 2))
    assert inference.delong_test(y, -score, score).z == pytest.approx(-found.z)


# --- too little variance, too little data


@pytest.mark.parametrize("sign", [1, -1])
def test_perfect_ranking_gets_binomial_bounds(sign):
    y = np.array([True] * 12 + [False] * 7)
    score = sign * (y + np.linspace(0, 0.5, 19))
    found = inference.delong_interval(y, score)
    hits = 7 if sign > 0 else 0
    expected = stats.binomtest(hits, 7).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert "7 trials" in found.method
    assert inference.bootstrap_interval(y, score, draws=50).low == found.low


def test_equal_scores_get_wide_bounds_round_one_half():
    for interval in (inference.delong_interval, inference.bootstrap_interval):
        found = interval([0, 1] * 10, np.ones(20))
        assert (found.value, found.se) == (0.5, 0.0)
        assert found.low == pytest.approx(0.5 * 0.025**0.1)
        assert found.high == pytest.approx(1 - found.low)
    found = inference.bootstrap_interval([0, 1] * 10, np.ones(20), 0.1, 0.4)
    assert found.se == 0
    assert found.low < 0.25 < found.high


@pytest.mark.parametrize("y", [[1, 0, 0, 0], [0, 1, 1, 1]])
def test_one_row_in_a_class_has_no_bounds(y):
    a, b = [2.0, 1.0, 3.0, 0.0], [0.0, 1.0, 2.0, 3.0]
    for interval in (inference.delong_interval, inference.bootstrap_interval):
        found = interval(y, a)
        assert found.value == roc.auc(y, a)
        assert np.isnan([found.low, found.high, found.se]).all()
    for test in (inference.delong_test, inference.bootstrap_test):
        found = test(y, a, b)
        assert found.difference == roc.auc(y, a) - roc.auc(y, b)
        assert np.isnan([found.low, found.high, found.se, found.z, found.p]).all()


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 95, math.nan])
def test_invalid_levels_are_refused(level):
    y, a, b = random_table(6)
    for call in (
        lambda: inference.delong_interval(y, a, level),
        lambda: inference.pauc_interval(y, a, 0, 0.1, level),
        lambda: inference.delong_test(y, a, b, level),
        lambda: inference.pauc_test(y, a, b, 0, 0.1, level),
        lambda: inference.bootstrap_interval(y, a, level=level),
        lambda: inference.bootstrap_test(y, a, b, level=level),
        lambda: inference.splits_interval([0.5, 0.6], level, 0.2),
    ):
        with pytest.raises(ValueError, match="level"):
            call()


def test_invalid_scores_and_bands_are_refused():
    y, a, b = random_table(6)
    with pytest.raises(ValueError, match="equal length"):
        inference.delong_test(y, a, b[:-1])
    with pytest.raises(ValueError, match="finite"):
        inference.delong_interval(y, np.where(y, np.nan, a))
    with pytest.raises(ValueError, match="alpha < beta"):
        inference.pauc_interval(y, a, 0.2, 0.1)
    with pytest.raises(ValueError, match="draws"):
        inference.bootstrap_interval(y, a, draws=1)


# --- partial areas


@pytest.mark.parametrize("band", [(0.0, 0.2), (0.1, 0.4), (0.5, 1.0), (0.03, 0.05)])
@pytest.mark.parametrize("levels", [None, 1])
def test_partial_variance_follows_its_definition(levels, band):
    y, score, _ = random_table(8, levels=levels)
    found = inference.pauc_interval(y, score, *band)
    assert found.value == roc.partial_auc(y, score, *band).normalized
    se = inference.Placements(roc.Ranking.of(y, score), band).variance.se
    assert se**2 == pytest.approx(brute_pauc_variance(y, score, *band), rel=1e-10)


def test_whole_band_is_delong():
    y, score, _ = random_table(9, levels=1)
    found, expected = inference.pauc_interval(y, score, 0, 1), inference.delong_interval(y, score)
    assert (found.value, found.low, found.high, found.se) == pytest.approx(
        (expected.value, expected.low, expected.high, expected.se)
    )


@pytest.mark.parametrize("levels", [None, 1])
@pytest.mark.parametrize("beta", [0.05, 0.3])
def test_partial_auc_matches_scikit_learn_after_mcclish(beta, levels):
    y, score, _ = random_table(16, size=300, levels=levels)
    normalized = inference.pauc_interval(y, score, 0.0, beta).value
    mcclish = (1 + (normalized * beta - beta**2 / 2) / (beta - beta**2 / 2)) / 2
    assert mcclish == pytest.approx(roc_auc_score(y, score, max_fpr=beta), abs=1e-13)


@pytest.mark.slow
def test_delong_variance_matches_repeated_sampling_and_the_bootstrap():
    rng = np.random.default_rng(12)
    y = np.repeat([True, False], [60, 40])
    scores = rng.normal(size=(2000, 100)) + 1.2 * y
    parts = [inference.Placements(roc.Ranking.of(y, score), (0.0, 1.0)) for score in scores]
    true, variances = stats.norm.cdf(1.2 / math.sqrt(2)), [one.variance.se**2 for one in parts]
    assert np.mean([one.area for one in parts]) == pytest.approx(true, abs=0.004)
    empirical = np.var([one.area for one in parts], ddof=1)
    assert np.mean(variances) == pytest.approx(empirical, rel=0.1)
    # Drawing the bounds takes most of the time: fewer tables. Of 600, 93 % is two deviations low.
    found = [inference.delong_interval(y, score) for score in scores[:600]]
    assert np.mean([one.low <= true <= one.high for one in found]) > 0.93
    drawn = [
        inference.bootstrap_interval(y, score, draws=200, seed=k).se ** 2
        for k, score in enumerate(scores[:200])
    ]
    assert np.mean(drawn) == pytest.approx(np.mean(variances[:200]), rel=0.05)


@pytest.mark.slow
def test_partial_test_matches_repeated_sampling():
    rng = np.random.default_rng(11)
    y = np.repeat([True, False], [60, 90])
    shared = rng.normal(size=(500, 150)) + y
    a, b = (shared + rng.normal(size=shared.shape) for _ in range(2))
    z = [inference.pauc_test(y, *pair, 0.0, 0.3).z for pair in zip(a, b, strict=True)]
    assert abs(np.mean(z)) < 0.1
    assert np.std(z) == pytest.approx(1.0, abs=0.08)


# --- bootstrap


@pytest.mark.parametrize("band", [(0.0, 1.0), (0.0, 0.2), (0.15, 0.6)])
@pytest.mark.parametrize("levels", [None, 1])
def test_bootstrap_areas_are_those_of_the_drawn_rows(levels, band):
    y, score, _ = random_table(12, size=40, levels=levels)
    found = inference.bootstrap_interval(y, score, *band, draws=20, seed=3)
    sizes = int(y.sum()), int((~y).sum())
    areas = []
    for _, positives, negatives in inference.resamples(*sizes, 20, 3, None):
        for of_s, of_t in zip(positives, negatives, strict=True):
            drawn = np.append(
                np.repeat(np.sort(score[y]), of_s), np.repeat(np.sort(score[~y]), of_t)
            )
            label = np.arange(len(drawn)) < of_s.sum()
            areas.append(roc.partial_auc(label, drawn, *band).normalized)
    assert found.se == pytest.approx(np.std(areas, ddof=1), rel=1e-9)
    assert (found.low, found.high) == pytest.approx(np.quantile(areas, [0.025, 0.975]), rel=1e-9)


@pytest.mark.parametrize("band", [(0.0, 1.0), (0.0, 0.3)])
def test_bootstrap_agrees_with_the_analytic_interval(band):
    y, a, b = random_table(13, size=600)
    drawn = inference.bootstrap_interval(y, a, *band)
    exact = inference.pauc_interval(y, a, *band)
    assert drawn.value == pytest.approx(exact.value, abs=1e-14)
    assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=0.25 * exact.se)
    assert drawn.se == pytest.approx(exact.se, rel=0.1)
    pair, reference = inference.bootstrap_test(y, a, b, *band), inference.pauc_test(y, a, b, *band)
    assert pair.difference == pytest.approx(reference.difference, abs=1e-14)
    assert pair.se == pytest.approx(reference.se, rel=0.1)
    assert (pair.low, pair.high) == pytest.approx(
        (reference.low, reference.high), abs=0.3 * reference.se
    )
    assert pair.z == pytest.approx(pair.difference / pair.se)


def test_bootstrap_reports_progress_and_stops():
    y, a, b = random_table(15, size=1000)
    fractions = []
    inference.bootstrap_interval(y, a, draws=500, progress=fractions.append)
    assert len(fractions) > 1
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    fractions.clear()

    def stop(fraction):
        fractions.append(fraction)
        return True

    with pytest.raises(Stopped):
        inference.bootstrap_test(y, a, b, draws=500, progress=stop)
    assert len(fractions) == 1
