"""Weighted curves, areas and intervals against explicit pairs and repeated rows."""

from __future__ import annotations

import numpy as np
import pytest

from aucstudio.engine import inference, roc

BANDS = [(0.0, 1.0), (0.0, 0.1), (0.2, 0.35), (0.55, 1.0), (0.0, 0.01)]


def table(seed, rows=60, levels=12, whole=False):
    """Return tied scores of both classes with weights, some of them 0."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) < rows // 3)
    score = rng.integers(0, levels, rows) / 4 + y
    weights = rng.integers(0, 4, rows).astype(float) if whole else rng.exponential(2.0, rows)
    weights[rng.integers(0, rows, 4)] = 0.0
    return y, score, weights


def by_pairs(y, score, weights):
    s, t = score[y], score[~y]
    right = (s[:, None] > t) + 0.5 * (s[:, None] == t)
    return float(weights[y] @ right @ weights[~y] / (weights[y].sum() * weights[~y].sum()))


def by_thresholds(y, score, weights, alpha, beta):
    """Return the area of the polyline over all thresholds, piece by piece."""
    area, before = 0.0, (0.0, 0.0)
    for threshold in np.unique(score)[::-1]:
        called = score >= threshold
        here = tuple(weights[of & called].sum() / weights[of].sum() for of in (~y, y))
        left, right = max(before[0], alpha), min(here[0], beta)
        if right > left:
            slope = (here[1] - before[1]) / (here[0] - before[0])
            area += (right - left) * (before[1] + slope * ((left + right) / 2 - before[0]))
        before = here
    return area


@pytest.mark.parametrize("seed", range(6))
def test_weighted_auc_weights_pairs_by_the_product(seed):
    y, score, weights = table(seed)
    expected = by_pairs(y, score, weights)
    assert roc.auc(y, score, weights=weights) == pytest.approx(expected, rel=1e-12)
    ranking = roc.Ranking.of(y, score, weights=weights)
    assert ranking.auc == pytest.approx(expected, rel=1e-12)
    assert roc.auc_of(ranking.curve) == pytest.approx(expected, rel=1e-12)
    assert roc.auc(y, score, weights=1e-9 * weights) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("seed", range(4))
def test_weighted_partial_auc_equals_the_weighted_polyline(seed, band):
    y, score, weights = table(seed)
    expected = by_thresholds(y, score, weights, *band)
    found = roc.partial_auc(y, score, *band, weights=weights)
    assert found.raw == pytest.approx(expected, rel=1e-11, abs=1e-14)
    ranked = roc.Ranking.of(y, score, weights=weights)
    assert roc.partial_auc_of(ranked.curve, *band).raw == pytest.approx(expected, abs=1e-13)
    assert 1 <= found.negatives <= found.of_negatives == np.count_nonzero(weights[~y])


@pytest.mark.parametrize("seed", range(6))
def test_integer_weights_equal_repeated_rows_in_every_measure(seed):
    y, score, weights = table(seed, whole=True)
    again = np.repeat(np.arange(len(y)), weights.astype(int))
    one = roc.roc_curve(y, score, weights=weights)
    other = roc.roc_curve(y[again], score[again])
    for name in ("fp", "tp", "thresholds"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    ours, theirs = roc.describe(one, (0.1, 0.4)), roc.describe(other, (0.1, 0.4))
    for name in set(ours) - {"pauc_negatives"}:
        assert ours[name] == pytest.approx(theirs[name], rel=1e-12), name
    for rule in ("equal-error", "fpr=0.2", "tpr=0.7", "precision=0.6", "alerts=0.3", "cost=1:3"):
        made = roc.ThresholdRule.parse(rule)
        assert made.place(one) == made.place(other)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda w, y: w[:-1], "one weight for each row"),
        (lambda w, y: np.where(np.arange(len(w)) == 3, -1.0, w), "not negative"),
        (lambda w, y: np.where(np.arange(len(w)) == 3, np.nan, w), "finite"),
        (lambda w, y: np.where(y, 0.0, w), "of the positive class are zero"),
        (lambda w, y: np.where(y, w, 0.0), "of the negative class are zero"),
    ],
)
def test_invalid_weights_are_refused(spoil, words):
    y, score, weights = table(0)
    for use in (roc.auc, roc.roc_curve, roc.Ranking.of):
        with pytest.raises(ValueError, match=words):
            use(y, score, weights=spoil(weights, y))


# --- intervals and tests ---------------------------------------------------------------------


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("rows", [60, 900])
def test_equal_weights_yield_the_unweighted_interval_and_test(band, rows):
    y, score, _ = table(1, rows=rows, levels=40)
    other = score + np.random.default_rng(0).normal(size=rows)
    equal = np.full(rows, 4.0)  # without rounding, the same curves are drawn
    plain = inference.pauc_interval(y, score, *band)
    weighted = inference.pauc_interval(y, score, *band, weights=equal)
    np.testing.assert_allclose(
        (weighted.value, weighted.low, weighted.high, weighted.se),
        (plain.value, plain.low, plain.high, plain.se),
        rtol=1e-6,
    )
    assert weighted.reason == plain.reason
    a = inference.pauc_test(y, score, other, *band)
    b = inference.pauc_test(y, score, other, *band, weights=equal)
    np.testing.assert_allclose((b.difference, b.z, b.p), (a.difference, a.z, a.p), rtol=1e-6)


def test_weighted_standard_error_matches_the_jackknife():
    rng = np.random.default_rng(3)
    y = np.arange(400) % 3 == 0
    score, weights = rng.normal(size=400) + y, rng.exponential(1.0, 400)
    area, total = roc.auc(y, score, weights=weights), 0.0
    for of_class in (np.flatnonzero(y), np.flatnonzero(~y)):
        for row in of_class:
            left = weights.copy()
            left[row] = 0.0
            share = weights[row] / weights[of_class].sum()
            total += (1 - share) * (roc.auc(y, score, weights=left) - area) ** 2
    se = inference.delong_interval(y, score, weights=weights).se
    assert se == pytest.approx(np.sqrt(total), rel=1e-9)


@pytest.mark.parametrize("band", [(0.0, 1.0), (0.0, 0.3)])
def test_bootstrap_draws_rows_with_their_weights(band):
    rng = np.random.default_rng(3)
    y = np.arange(240) % 3 == 0
    score, weights = rng.normal(size=240) + y, rng.exponential(1.0, 240)
    weights[:6] = 0.0
    plain = inference.bootstrap_interval(y, score, *band, draws=300)
    equal = inference.bootstrap_interval(y, score, *band, draws=300, weights=np.full(240, 2.0))
    assert (equal.low, equal.high) == pytest.approx((plain.low, plain.high), rel=1e-9)
    drawn = inference.bootstrap_interval(y, score, *band, draws=400, weights=weights)
    known = inference.pauc_interval(y, score, *band, weights=weights)
    assert drawn.se == pytest.approx(known.se, rel=0.2)
    better = inference.bootstrap_test(y, score + 2 * y, score, *band, draws=200, weights=weights)
    assert better.p < 0.01
    costs = [
        inference.cost_threshold_interval(
            roc.Ranking.of(y, score, weights=of), 1, 3, 0.3, draws=200
        )
        for of in (None, np.full(240, 5.0), weights)
    ]
    assert (costs[0].low, costs[0].high) == (costs[1].low, costs[1].high)
    assert costs[2].value == roc.cost_threshold(roc.roc_curve(y, score, weights=weights), 1, 3, 0.3)
    assert costs[2].low <= costs[2].value <= costs[2].high


def test_weights_with_little_information_have_no_interval():
    y, score, _ = table(1)
    weights = np.where(y, 1.0, 1e-9)
    weights[np.flatnonzero(~y)[0]] = 1.0
    found = inference.delong_interval(y, score, weights=weights)
    assert np.isnan(found.low)
    assert "less information than two rows" in found.reason
    few = inference.pauc_interval(y, score, 0.0, 0.05, weights=np.ones(60))
    spread = np.random.default_rng(0).lognormal(0, 2, 60)
    fewer = inference.pauc_interval(y, score, 0.0, 0.05, weights=spread)
    assert not few.reason
    assert "less than one independent negative" in fewer.reason


def test_weighted_test_of_equal_and_better_scores():
    rng = np.random.default_rng(3)
    y = np.arange(300) % 3 == 0
    score, weights = rng.normal(size=300) + y, rng.exponential(1.0, 300)
    same = inference.pauc_test(y, score, 2 * score, 0.0, 1.0, weights=weights)
    assert (same.z, same.p) == (0.0, 1.0)
    for band in BANDS[:3]:
        better = inference.pauc_test(y, score + 3 * y, score, *band, weights=weights)
        assert better.p < 1e-3
        assert better.difference > 0
