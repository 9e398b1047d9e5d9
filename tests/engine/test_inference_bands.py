import math

import numpy as np
import pytest
from scipy import stats

from aucstudio.engine import inference, roc
from aucstudio.engine.inference.bands import largest_deviations

BANDS = [inference.kolmogorov_band, inference.bootstrap_band, inference.pointwise_band]
DENSE = np.sort(stats.norm.sf(np.linspace(-5, 7, 400)))


def binormal(seed, m, n, shift, levels=None):
    rng = np.random.default_rng(seed)
    y = np.repeat([True, False], [m, n])
    score = rng.normal(size=m + n) + shift * y
    return y, np.round(score * levels) if levels else score


def true_tpr(fpr, shift):
    return stats.norm.cdf(shift + stats.norm.ppf(fpr))


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("shape", [(30, 50, 1.0, None), (5, 9, 1.0, 1), (20, 10, 50.0, None)])
def test_bands_contain_the_estimate_and_do_not_decrease(band, shape):
    y, score = binormal(1, *shape)
    ranking, grid = roc.Ranking.of(y, score), np.linspace(0, 1, 31)
    found = band(ranking, grid=grid)
    assert found.low.shape == found.high.shape == (31,)
    assert (np.diff(found.low) >= 0).all()
    assert (np.diff(found.high) >= 0).all()
    assert found.low[0] == 0
    assert found.high[-1] == 1
    inside = roc.tpr_at(roc.roc_curve(y, score), found.fpr[1:-1])
    assert (found.low[1:-1] <= inside).all()
    assert (inside <= found.high[1:-1]).all()
    wider = band(ranking, 0.99, grid=grid)
    assert wider.low.sum() < found.low.sum()
    assert wider.high.sum() >= found.high.sum()


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "shift"), [((30, 40), 1.0), ((40, 40), 3.0)])
def test_simultaneous_bands_cover_the_whole_true_curve(shape, shift):
    true = true_tpr(DENSE, shift)
    held = np.zeros(2)
    for seed in range(150):
        y, score = binormal(seed, *shape, shift)
        found = [
            inference.kolmogorov_band(roc.Ranking.of(y, score), 0.9, grid=DENSE),
            inference.bootstrap_band(roc.Ranking.of(y, score), 0.9, grid=DENSE, draws=100),
        ]
        held += [((b.low <= true) & (true <= b.high)).all() for b in found]
    assert (held / 150 >= 0.87).all()


@pytest.mark.slow
def test_pointwise_band_covers_each_point():
    grid = np.array([0.01, 0.05, 0.1, 0.3, 0.6])
    true = true_tpr(grid, 1.2)
    left = np.zeros((2, 5))
    for seed in range(400):
        found = inference.pointwise_band(
            roc.Ranking.of(*binormal(seed, 60, 80, 1.2)), 0.9, grid=grid
        )
        left += [true < found.low, true > found.high]
    # Expect 20 misses on each side; three standard deviations more are 33.
    assert left.max() <= 33
    assert left.sum(axis=0).mean() > 8  # and is not as wide as a simultaneous band


def test_pointwise_band_at_a_known_threshold_is_the_mid_p_interval():
    y = np.repeat([True, False], [20, 200_000])
    positives = np.where(np.arange(20) < 13, 1.0, -1.0)
    score = np.append(positives, stats.norm.ppf((np.arange(200_000) + 0.5) / 200_000))
    found = inference.pointwise_band(roc.Ranking.of(y, score), 0.9, grid=[0.5])

    def mid_p(share):
        return stats.binom.sf(13, 20, share) + stats.binom.pmf(13, 20, share) / 2

    assert mid_p(found.low[0]) == pytest.approx(0.05, abs=1e-4)
    assert mid_p(found.high[0]) == pytest.approx(0.95, abs=1e-4)


def test_kolmogorov_band_is_the_union_of_the_rectangles():
    y, score = binormal(2, 40, 60, 1.0, levels=2)
    curve = roc.roc_curve(y, score)
    dx, dy = (stats.kstwo.ppf(math.sqrt(0.95), k) for k in (60, 40))
    found = inference.kolmogorov_band(roc.Ranking.of(y, score), grid=[0.05, 0.3, 0.5, 0.9])
    along = np.linspace(0, 1, 20_001)  # every segment, finely
    place = along * (len(curve.fpr) - 1)
    x = np.interp(place, np.arange(len(curve.fpr)), curve.fpr)
    tpr = np.interp(place, np.arange(len(curve.fpr)), curve.tpr)
    for at, low, high in zip(found.fpr, found.low, found.high, strict=True):
        meets = (np.abs(x - at) <= dx) & (at > 0)
        reached_low = 0.0 if at < dx else max(0.0, tpr[meets].min() - dy)
        reached_high = 1.0 if at + dx >= 1 else min(1.0, tpr[meets].max() + dy)
        assert (low, high) == pytest.approx((reached_low, reached_high), abs=2e-3)


def test_deviation_is_the_smallest_band_around_the_resampled_curve():
    y, score = binormal(3, 12, 15, 1.0)
    curve = roc.roc_curve(y, score)
    m, n = 12, 15
    found = largest_deviations(roc.Ranking.of(y, score), 20, 7, None)
    rng = np.random.default_rng(7)
    drawn = [rng.integers(0, size, (20, size), dtype=np.int32) for size in (m, n)]
    s, t = np.sort(score[y])[::-1], np.sort(score[~y])[::-1]
    label = np.repeat([True, False], [m, n])
    for c, i, j in zip(found, *drawn, strict=True):
        other = roc.roc_curve(label, np.append(s[i], t[j]))

        def covers(c, other=other):
            # No vertex of either curve lies beyond the other curve after its displacement.
            dx, dy = c / math.sqrt(n), c / math.sqrt(m)
            return all(
                inside(curve, other.fpr + sign * dx, other.tpr - sign * dy, sign)
                and inside(other, curve.fpr + sign * dx, curve.tpr - sign * dy, sign)
                for sign in (1, -1)
            )

        assert covers(c + 1e-9)
        assert not covers(c - 1e-6)


def inside(curve, x, tpr, sign):
    """Return whether points lie below (sign 1) or above (-1) the curve, or on it."""
    kept = (x >= 0) & (x <= 1)
    upper = roc.tpr_at(curve, x[kept])
    if sign > 0:
        return (tpr[kept] <= upper + 1e-12).all()
    left = np.nextafter(x[kept], -1)
    lower = np.where(left >= 0, roc.tpr_at(curve, np.maximum(left, 0)), 0.0)
    return (tpr[kept] >= lower - 1e-12).all()


def test_bands_of_separated_classes_have_positive_width():
    y, score = binormal(4, 50, 30, 100.0)
    found = inference.bootstrap_band(roc.Ranking.of(y, score))
    c = math.log(40) / math.sqrt(30)
    expected = np.where(found.fpr > c / math.sqrt(30), 1 - c / math.sqrt(50), 0.0)
    assert found.low == pytest.approx(expected)
    assert (found.high == 1).all()
    point = inference.pointwise_band(roc.Ranking.of(y, score), grid=[0.0, 0.5])
    assert point.low[0] == 0.0
    assert point.low[1] == pytest.approx(0.05 ** (1 / 50), abs=1e-5)


def test_thinning_long_curves_hardly_changes_the_band():
    y, score = binormal(5, 3000, 5000, 1.0)
    curve = roc.roc_curve(y, score)
    few = curve.thinned(1000)
    assert len(few.fp) <= 1000
    assert (few.fp[0], few.fp[-1], few.tp[-1]) == (0, 5000, 3000)
    c = np.quantile(largest_deviations(roc.Ranking.of(y, score), 500, 0, None), 0.95)
    # Twice the quantile of Kolmogorov's limit would cover any curve, half of it none.
    assert 0.6 < c < 1.36


@pytest.mark.parametrize("band", BANDS)
def test_invalid_level_and_grid_are_refused(band):
    y, score = binormal(7, 20, 20, 1.0)
    ranking = roc.Ranking.of(y, score)
    with pytest.raises(ValueError, match="level"):
        band(ranking, 1.0)
    with pytest.raises(ValueError, match="within"):
        band(ranking, grid=[0.5, 1.5])
