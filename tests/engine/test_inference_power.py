import math

import numpy as np
import pytest
from scipy import stats

from aucstudio.engine import inference


def test_worked_hanley_mcneil_error():
    # The paper's example: AUC 0.893 from 51 abnormal and 58 normal images, error 0.032.
    assert inference.auc_se(0.893, 51, 58, model="exponential") == pytest.approx(0.032, abs=1e-3)


@pytest.mark.parametrize("model", ["binormal", "exponential"])
def test_error_at_chance_is_that_of_the_rank_sum(model):
    m, n = 13, 29
    expected = math.sqrt((m + n + 1) / (12 * m * n))
    assert inference.auc_se(0.5, m, n, model=model) == pytest.approx(expected)


@pytest.mark.parametrize(("model", "area"), [("binormal", 0.85), ("exponential", 0.8)])
def test_error_is_that_of_repeated_sampling(model, area):
    rng = np.random.default_rng(0)
    m, n = 15, 25
    if model == "binormal":
        s = rng.normal(math.sqrt(2) * stats.norm.ppf(area), size=(6000, m, 1))
        t = rng.normal(size=(6000, 1, n))
    else:
        s = rng.exponential(area / (1 - area), size=(6000, m, 1))
        t = rng.exponential(size=(6000, 1, n))
    areas = (s > t).mean(axis=(1, 2))
    assert areas.mean() == pytest.approx(area, abs=0.005)
    assert areas.std() == pytest.approx(inference.auc_se(area, m, n, model=model), rel=0.03)


@pytest.mark.slow
def test_power_is_the_share_of_samples_in_which_the_test_rejects():
    rng = np.random.default_rng(1)
    m, n, areas = 60, 90, (0.86, 0.76)
    y = np.repeat([True, False], [m, n])
    shifts = math.sqrt(2) * stats.norm.ppf(areas)
    found, covariances = [], []
    for _ in range(800):
        scores = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=m + n)
        scores += shifts * y[:, None]
        found.append(inference.delong_test(y, *scores.T).p < 0.05)
        covariances.append(inference.delong_covariance(y, scores))
    (aa, ab), (_, bb) = np.mean(covariances, axis=0)
    correlation = ab / math.sqrt(aa * bb)
    power = inference.auc_power(*areas, m, n, correlation)
    assert np.mean(found) == pytest.approx(power, abs=0.05)
    # The same from what a pilot study of half as many rows would have said.
    assert inference.power_of(0.1, math.sqrt((aa + bb - 2 * ab) * 2) * math.sqrt(0.5)) == (
        pytest.approx(power, abs=0.03)
    )


@pytest.mark.parametrize("model", ["binormal", "exponential"])
@pytest.mark.parametrize("ratio", [0.3, 1.0, 9.0])
def test_sample_size_is_the_fewest_rows_that_reach_the_power(ratio, model):
    m, n = inference.auc_sample_size(0.8, 0.85, 0.9, ratio, 0.4, model=model)
    assert n == max(2, math.ceil(ratio * m))
    power = inference.auc_power(0.8, 0.85, m, n, 0.4, model=model)
    fewer = inference.auc_power(0.8, 0.85, m - 1, math.ceil(ratio * (m - 1)), 0.4, model=model)
    assert fewer < 0.9 <= power < 0.91


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_precision_is_reached_with_the_fewest_rows(level):
    m, n = inference.precision_sample_size(0.9, 0.03, 2.0, level=level)
    z = stats.norm.ppf((1 + level) / 2)
    assert z * inference.auc_se(0.9, m, n) <= 0.03
    assert z * inference.auc_se(0.9, m - 1, 2 * (m - 1)) > 0.03


def test_limits_of_power():
    assert inference.auc_power(0.8, 0.8, 50, 50, 0.3) == pytest.approx(0.05)
    assert inference.auc_power(0.8, 0.8, 50, 50, 1.0) == 0.0
    assert inference.auc_power(0.6, 0.99, 10_000, 10_000) == pytest.approx(1.0)
    assert inference.auc_power(0.8, 0.7, 40, 50) == inference.auc_power(0.7, 0.8, 40, 50)
    assert inference.difference_se(0.8, 0.8, 40, 50, 0.0) == pytest.approx(
        math.sqrt(2) * inference.auc_se(0.8, 40, 50)
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: inference.auc_se(1.0, 10, 10),
        lambda: inference.auc_se(0.8, 0, 10),
        lambda: inference.auc_se(0.8, 10, 10, model="cauchy"),
        lambda: inference.difference_se(0.8, 0.9, 10, 10, 1.5),
        lambda: inference.power_of(0.1, 0.0),
        lambda: inference.auc_power(0.8, 0.9, 10, 10, level=1.0),
        lambda: inference.auc_power(0.8, 0.8, 10, 10, 1.0, level=1.0),
        lambda: inference.auc_sample_size(0.8, 0.8),
        lambda: inference.auc_sample_size(0.8, 0.9, power=1.0),
        lambda: inference.auc_sample_size(0.8, 0.9, ratio=0.0),
        lambda: inference.auc_sample_size(0.8, 0.8 + 1e-9),
        lambda: inference.precision_sample_size(0.8, 0.0),
    ],
)
def test_what_cannot_be_planned_is_refused(call):
    with pytest.raises(ValueError, match=r"must|No number"):
        call()
