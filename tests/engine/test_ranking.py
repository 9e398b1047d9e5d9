"""Measures computed from scores sorted once equal those computed separately."""

import numpy as np
import pytest

from aucstudio.engine import inference, roc
from aucstudio.engine.arrays import ascending, by_digits


def tables():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows = int(rng.integers(6, 80))
        y = rng.random(rows) < rng.choice([0.2, 0.5, 0.8])
        y[:2], y[2:4] = True, False
        levels = int(rng.choice([2, 5, 1000]))
        yield y, rng.integers(0, levels, rows) + 0.8 * levels * rng.random() * y


@pytest.mark.parametrize("band", [(0.0, 1.0), (0.0, 0.13), (0.2, 0.61)])
def test_every_measure_equals_that_of_the_whole_curve(band):
    for y, score in tables():
        ranking = roc.Ranking.of(y, score)
        assert ranking.auc == roc.auc(y, score)
        whole = roc.describe(roc.roc_curve(y, score), band)
        assert roc.describe(ranking.curve, band) == pytest.approx(whole, abs=1e-12)
        thinned, full = ranking.curve, roc.roc_curve(y, score)
        np.testing.assert_allclose(
            np.interp(full.fp + full.tp, thinned.fp + thinned.tp, thinned.tp), full.tp
        )
        assert thinned.thresholds[0] == np.inf
        for fp, tp, cut in zip(thinned.fp, thinned.tp, thinned.thresholds, strict=True):
            assert (fp, tp) == (np.sum(~y & (score >= cut)), np.sum(y & (score >= cut)))


@pytest.mark.parametrize("band", [(0.0, 1.0), (0.0, 0.2)])
def test_placements_of_one_scorer_serve_all_its_tests(band):
    for y, score in tables():
        other = score[::-1].copy()
        a, b = (inference.Placements(roc.Ranking.of(y, of), band) for of in (score, other))
        (a10, a01), (b10, b01) = a.paired[1], b.paired[1]
        variance = sum((x - z).var(ddof=1) / len(x) for x, z in ((a10, b10), (a01, b01)))
        se = a.difference_variance(b).se
        assert se == pytest.approx(np.sqrt(variance), rel=1e-9, abs=1e-15)
        if band == (0.0, 1.0):
            assert a.delong(b).se == se
        assert a.test(a).p == 1.0
        assert a.test(a).se == 0.0
        found = inference.interval_of(roc.Ranking.of(y, score), *band, 0.95)
        direct = inference.pauc_interval(y, score, *band)
        assert (found.value, found.se) == pytest.approx(
            (direct.value, direct.se), abs=1e-12, nan_ok=True
        )


def many(kind):
    rng = np.random.default_rng(5)
    size = 60_000
    if kind == "any":
        return rng.standard_normal(size) * 10.0 ** rng.integers(-300, 300, size)
    if kind == "ties":
        return rng.integers(-3, 4, size) / 2
    if kind == "close":
        return 1.0 + rng.integers(0, 1000, size) * np.finfo(np.float64).eps
    if kind == "tiny":
        return rng.integers(-5, 6, size) * np.finfo(np.float64).smallest_subnormal
    if kind == "equal":
        return np.full(size, -2.5)
    if kind == "single":
        return rng.standard_normal(size).astype(np.float32)
    return rng.standard_normal(2 * size)[::2]


@pytest.mark.parametrize("kind", ["any", "ties", "close", "tiny", "equal", "single", "strided"])
def test_radix_sort_equals_comparison_sort(kind):
    values = many(kind)
    order, found = ascending(values)
    np.testing.assert_array_equal(found, np.sort(values))
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(values[order], found)
    np.testing.assert_array_equal(np.sort(order), np.arange(len(values)))
    if kind != "single":
        np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))


def test_radix_sort_places_nan_last():
    values = np.array([np.nan, 3.0, -np.nan, -np.inf, np.inf, -0.0, 0.0])
    order, found = by_digits(values)
    assert order.tolist()[:5] == [3, 5, 6, 1, 4]
    assert set(order[5:]) == {0, 2}
    assert np.isnan(found[5:]).all()
