"""The interval of the lowest-cost threshold against explicit resampling of curves."""

import numpy as np
import pytest

from aucstudio.engine import roc
from aucstudio.engine.inference import cost_threshold_interval, resamples
from aucstudio.engine.monitor import Stopped


def table(ties):
    rng = np.random.default_rng(5)
    y = rng.random(120) < 0.3
    scores = rng.normal(size=120) + 1.2 * y
    return y, np.round(2 * scores) / 2 if ties else scores


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("miss", "prior"), [(1.0, 0.3), (60.0, 0.0107), (1.0, 1e-5), (1e5, 0.4)])
def test_bounds_are_percentiles_of_cost_thresholds(ties, miss, prior):
    y, scores = table(ties)
    placed = []
    for _, positives, negatives in resamples(int(y.sum()), int((~y).sum()), 60, 0, None):
        for rows_m, rows_n in zip(positives, negatives, strict=True):
            found, missed = np.repeat(scores[y], rows_m), np.repeat(scores[~y], rows_n)
            drawn = np.append(found, missed)
            curve = roc.roc_curve(np.arange(len(drawn)) < len(found), drawn)
            placed.append(roc.cost_threshold(curve, 1.0, miss, prior))
    found = cost_threshold_interval(roc.Ranking.of(y, scores), 1.0, miss, prior, draws=60)
    np.testing.assert_allclose((found.low, found.high), np.quantile(placed, [0.025, 0.975]))
    assert found.value == roc.cost_threshold(roc.roc_curve(y, scores), 1.0, miss, prior)
    assert found.se == pytest.approx(np.std(placed, ddof=1))


def test_cost_threshold_interval_can_be_stopped():
    with pytest.raises(Stopped):
        cost_threshold_interval(
            roc.Ranking.of(*table(False)), 1.0, 1.0, 0.3, progress=lambda _: True
        )


@pytest.mark.parametrize("wrong", [{"prior": 0.0}, {"cost_fn": -1.0}, {"level": 1.0}, {"draws": 1}])
def test_values_out_of_range_are_refused(wrong):
    settings = {"cost_fp": 1.0, "cost_fn": 1.0, "prior": 0.3} | wrong
    with pytest.raises(ValueError, match="must"):
        cost_threshold_interval(roc.Ranking.of(*table(False)), **settings)
