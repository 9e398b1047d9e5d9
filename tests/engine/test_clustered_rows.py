"""Inference for grouped rows and for frequency weights."""

import math

import numpy as np
import pytest
from scipy import stats

from aucstudio.engine import inference, reliability, roc

BANDS = [(0.0, 1.0), (0.0, 0.2), (0.1, 0.5)]


def table(seed=0, groups=80, rows=300, icc=0.5, levels=None):
    """Draw labels, groups of unequal sizes that mix classes, and two scores."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, rows)
    y = rng.random(rows) < 0.4
    scores = math.sqrt(icc) * rng.normal(size=(2, groups))[:, group]
    scores += math.sqrt(1 - icc) * rng.normal(size=(2, rows)) + y
    return y, group, np.round(scores * levels) if levels else scores


def obuchowski(y, group, *scores):
    """Sum pairs for the variance of clustered data; of two scores, that of their difference."""
    kernels = [(s[y][:, None] > s[~y][None]) + 0.5 * (s[y][:, None] == s[~y][None]) for s in scores]
    kernel = kernels[0] - kernels[1] if len(kernels) > 1 else kernels[0]
    (m, n), area = kernel.shape, kernel.mean()
    of_s, of_t = kernel.mean(axis=1) - area, kernel.mean(axis=0) - area
    known = np.unique(group)
    p = np.array([of_s[group[y] == one].sum() for one in known])
    q = np.array([of_t[group[~y] == one].sum() for one in known])
    counts = len(np.unique(group[y])), len(np.unique(group[~y])), len(known)
    of_p, of_q, of_both = (count / (count - 1) for count in counts)
    return of_p * p @ p / m**2 + of_q * q @ q / n**2 + 2 * of_both * p @ q / (m * n)


def same(found, expected, rel=1e-9):
    for name in ("low", "high", "se"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=rel)


@pytest.mark.parametrize("levels", [None, 2])
@pytest.mark.parametrize("seed", range(3))
def test_variance_equals_obuchowskis(seed, levels):
    y, group, (a, b) = table(seed, levels=levels)
    found = inference.delong_interval(y, a, groups=group)
    assert found.value == roc.auc(y, a)
    assert found.se**2 == pytest.approx(obuchowski(y, group, a), rel=1e-10)
    test = inference.delong_test(y, a, b, groups=group)
    assert test.se**2 == pytest.approx(obuchowski(y, group, a, b), rel=1e-10)
    assert test.z == pytest.approx(test.difference / test.se)


def test_rates_are_worth_the_trials_of_their_variance():
    y, group, (a, _) = table(4, groups=60, rows=400, levels=2)
    weights = np.random.default_rng(1).random(len(y)) + 0.5
    curve = roc.roc_curve(y, a, weights=weights, groups=group)
    normal = stats.norm.ppf(0.975)
    for k in range(1, len(curve.thresholds) - 1):
        called = a >= curve.thresholds[k]
        for name, hit, rows in (
            ("tpr", called, y),
            ("fpr", called, ~y),
            ("precision", y, called),
            ("alerts", called, np.ones(len(y), bool)),
        ):
            parts = np.bincount(group[rows], (weights * hit)[rows], 60)
            wholes = np.bincount(group[rows], weights[rows], 60)
            p, count = parts.sum() / wholes.sum(), np.count_nonzero(wholes)
            spread = ((parts - p * wholes) ** 2).sum() / wholes.sum() ** 2 * count / (count - 1)
            bounds = [one.sum() ** 2 / (one**2).sum() for one in (wholes, weights[rows])]
            exact = p * (1 - p) / spread if 0 < p < 1 else 0.0
            worth = min(max(exact, bounds[0]), bounds[1])
            worth *= (normal / stats.t.ppf(0.975, count - 1)) ** 2
            assert getattr(curve.trials, name)[k] == pytest.approx(worth, rel=1e-9), (name, k)


@pytest.mark.parametrize("band", BANDS)
def test_repeated_rows_within_a_group_add_no_information(band):
    y, _, (a, b) = table(1, rows=400)
    rows = np.repeat(np.arange(400), 3)
    once = inference.pauc_interval(y, a, *band)
    same(inference.pauc_interval(y[rows], a[rows], *band, groups=rows), once)
    independent = inference.pauc_interval(y[rows], a[rows], *band)
    assert independent.high - independent.low < 0.7 * (once.high - once.low)
    test = inference.pauc_test(y, a, b, *band)
    repeated = inference.pauc_test(y[rows], a[rows], b[rows], *band, groups=rows)
    assert (repeated.z, repeated.p) == pytest.approx((test.z, test.p), rel=1e-6)


@pytest.mark.parametrize("band", BANDS)
def test_row_order_and_group_names_do_not_change_inference(band):
    y, group, (a, b) = table(2, levels=3)
    order = np.random.default_rng(0).permutation(len(y))
    names = np.array([f"{(7 * k) % 83}" for k in range(80)])
    moved = y[order], a[order]
    found = inference.pauc_interval(*moved, *band, groups=names[group[order]])
    expected = inference.pauc_interval(y, a, *band, groups=group)
    # Random draws are assigned to groups in the order of their names.
    assert (found.value, found.reason) == (expected.value, expected.reason)
    assert found.low == pytest.approx(expected.low, abs=0.1 * (expected.high - expected.low))
    se = inference.delong_test(*moved, b[order], groups=names[group[order]]).se
    assert se == pytest.approx(inference.delong_test(y, a, b, groups=group).se, rel=1e-9)


def test_groups_widen_bands_and_bootstrap_intervals():
    y, _, (a, b) = table(3, rows=150)
    rows = np.repeat(np.arange(150), 4)
    y, a, b = y[rows], a[rows], b[rows]
    for call in (
        lambda **of: inference.bootstrap_interval(y, a, draws=300, **of),
        lambda **of: inference.bootstrap_test(y, a, b, draws=300, **of),
        lambda **of: inference.cost_threshold_interval(
            roc.Ranking.of(y, a, **of), 1, 2, 0.4, draws=200
        ),
    ):
        assert call(groups=rows).se > 1.5 * call().se
    for band in (inference.pointwise_band, inference.kolmogorov_band, inference.bootstrap_band):
        found, plain = (
            band(roc.Ranking.of(y, a, groups=of), grid=[0.2, 0.5]) for of in (rows, None)
        )
        assert (found.high - found.low > 1.4 * (plain.high - plain.low)).all()


def test_few_groups_give_a_reason_in_place_of_bounds():
    y, group, (a, b) = table(4, groups=4)
    for found in (
        inference.delong_interval(y, a, groups=group),
        inference.pauc_interval(y, a, 0.0, 0.2, groups=group),
        inference.bootstrap_interval(y, a, groups=group, draws=10),
        inference.auc_test(y, a, b, groups=group),
        inference.pauc_test(y, a, b, 0.0, 0.2, groups=group),
    ):
        assert math.isnan(found.low)
        assert "groups" in found.reason
    assert np.isnan(inference.pointwise_band(roc.Ranking.of(y, a, groups=group)).low).all()


@pytest.mark.parametrize(
    ("groups", "words"),
    [([0] * 299, "one group for each row"), ([None, *range(299)], "row 0"), ([[0] * 300], "shape")],
)
def test_bad_groups_are_refused(groups, words):
    y, _, (a, b) = table()
    for call in (
        lambda: inference.delong_interval(y, a, groups=groups),
        lambda: inference.auc_test(y, a, b, groups=groups),
        lambda: inference.bootstrap_interval(y, a, groups=groups, draws=10),
    ):
        with pytest.raises(ValueError, match=words):
            call()


# --- weights


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("grouped", [False, True])
def test_frequency_weight_equals_repeated_rows(band, grouped):
    y, group, (a, b) = table(5)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    counted = {"weights": times, "weight_kind": "frequency", "groups": group if grouped else None}
    repeated = {"groups": group[rows] if grouped else None}
    found = inference.pauc_interval(y, a, *band, **counted)
    same(found, inference.pauc_interval(y[rows], a[rows], *band, **repeated), rel=1e-6)
    test = inference.pauc_test(y, a, b, *band, **counted)
    expected = inference.pauc_test(y[rows], a[rows], b[rows], *band, **repeated)
    assert (test.z, test.p) == pytest.approx((expected.z, expected.p), rel=1e-6)
    if not grouped:
        sampled = inference.pauc_interval(y, a, *band, weights=times)
        assert sampled.value == pytest.approx(found.value, abs=1e-12)
        assert sampled.high - sampled.low > 1.2 * (found.high - found.low)


def test_invalid_frequencies_and_weight_kinds_are_refused():
    y, _, (a, _) = table()
    weights = np.ones(300)
    with pytest.raises(ValueError, match="weight_kind"):
        inference.delong_interval(y, a, weights=weights, weight_kind="survey")
    with pytest.raises(ValueError, match="whole numbers"):
        inference.delong_interval(y, a, weights=weights / 2, weight_kind="frequency")
    with pytest.raises(ValueError, match="at most"):
        inference.delong_interval(y, a, weights=weights * 1e6, weight_kind="frequency")


def test_standard_error_of_weighted_groups_matches_the_jackknife():
    y, group, (a, _) = table(6)
    weights = np.random.default_rng(1).exponential(size=len(y))
    found = inference.delong_interval(y, a, weights=weights, groups=group)
    area, total = roc.auc(y, a, weights=weights), 0.0
    for one in np.unique(group):
        left = np.where(group == one, 0.0, weights)
        total += (roc.auc(y, a, weights=left) - area) ** 2
    # The jackknife divides by the shares that are left of both classes.
    assert found.se == pytest.approx(math.sqrt(total), rel=0.03)


def test_pointwise_band_with_equal_weights_matches_unweighted():
    y, _, (a, _) = table(7, rows=2000)
    even = inference.pointwise_band(
        roc.Ranking.of(y, a, weights=np.full(2000, 3.0)), grid=[0.1, 0.5]
    )
    plain = inference.pointwise_band(roc.Ranking.of(y, a), grid=[0.1, 0.5])
    assert even.low == pytest.approx(plain.low, abs=0.01)
    assert even.high == pytest.approx(plain.high, abs=0.01)


# --- rates and shares


def test_effective_trials_follow_the_variance_of_the_share():
    rng = np.random.default_rng(8)
    hit = rng.random(240) < 0.3
    assert roc.effective_trials(hit) == 240
    rows = np.repeat(np.arange(60), 4)
    cautious = (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 59)) ** 2
    assert roc.effective_trials(hit[rows], None, rows) == pytest.approx(60 * cautious, rel=0.03)
    assert roc.effective_trials(np.ones(240, bool), None, rows) == pytest.approx(60 * cautious)


def test_reliability_bars_count_groups():
    rng = np.random.default_rng(9)
    p = rng.random(200)
    positive = rng.random(200) < p
    rows = np.repeat(np.arange(200), 5)
    once = reliability.reliability(positive, p, 5)
    found = reliability.reliability(positive[rows], p[rows], 5, groups=rows)
    assert found.share == pytest.approx(once.share)
    assert (found.high - found.low > 0.95 * (once.high - once.low)).all()
    plain = reliability.reliability(positive[rows], p[rows], 5)
    assert (plain.high - plain.low < 0.6 * (once.high - once.low)).all()


def test_subgroups_that_share_groups_are_correlated():
    y, _, (a, _) = table(10, rows=200)
    label = np.arange(200)

    def area(shift, labels):
        ranking = roc.Ranking.of(y, a + shift * y, groups=label)
        return inference.GroupArea.of([ranking], 0.0, 1.0, labels)

    independent = inference.equality_test([area(0.0, None), area(0.6, None)])
    shared = inference.equality_test([area(0.0, [label]), area(0.6, [label])])
    assert shared < 0.1 * independent
    others = inference.equality_test([area(0.0, [label]), area(0.6, [label + 200])])
    assert others == pytest.approx(independent)


def test_uneven_groups_of_negatives_leave_what_positives_decide():
    """Forty positives of as many groups decide; most negatives come from few large groups."""
    rng = np.random.default_rng(0)
    sizes = np.maximum(1, rng.lognormal(0.0, 1.8, 400).astype(int))
    group = np.append(np.arange(40), np.repeat(np.arange(400), sizes))
    y = np.arange(len(group)) < 40
    # Negatives of small groups rank higher than others.
    score = rng.normal(size=len(group)) + np.where(y, 2.5, np.append(sizes, sizes)[group] < 3)
    grouped, single = (
        inference.delong_interval(y, score, groups=of) for of in (group, np.arange(len(group)))
    )
    assert grouped.high - grouped.low < 1.3 * (single.high - single.low)


# --- coverage and level


@pytest.mark.slow
def test_grouped_intervals_cover_and_tests_keep_their_level():
    from tests.benchmarks import inference_groups as grid

    for name in ("40 x 5", "12 x 10 mixed"):
        found = np.array([grid.measured(*one, grid.AUC) for one in grid.samples(name, 250)])
        true = grid.truth(grid.DESIGNS[name], grid.AUC, found[:, 0])
        held, _, level, absent = grid.figures(found, true)
        assert held > 0.91
        assert level < 0.095
        assert absent < 0.05
