"""Difference vectors, their density and their ellipses against brute force."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.scorers import KernelScorer
from aucstudio.project.geometry import pairs
from aucstudio.project.geometry.pairs import (
    PAIRS_AS_DOTS,
    binned_density,
    difference_histogram,
    ellipse,
    pair_cloud,
    penalised_covariance,
    places_of,
)
from aucstudio.project.geometry.planes import Sample, across_score, kernel_features, score_plane


def make_sample(seed=0, rows=60, d=5, scores=True):
    rng = np.random.default_rng(seed)
    positive = np.arange(rows) % 3 == 0
    X = rng.normal(size=(rows, d)) @ rng.normal(size=(d, d)) + positive[:, None]
    weights = rng.normal(size=d)
    found = np.tanh(X @ weights) + 0.3 * X[:, 0] ** 2 if scores else None
    return Sample(X, positive, found, np.arange(rows)), weights


def all_differences(values, positive):
    return np.array([a - b for a in values[positive] for b in values[~positive]])


def test_few_pairs_are_dots_and_more_are_a_density():
    rng = np.random.default_rng(2)
    places = rng.normal(size=(PAIRS_AS_DOTS + 2, 2))
    few = pair_cloud(places[:-1], np.arange(PAIRS_AS_DOTS + 1) == 0)
    assert few.density is None
    expected = all_differences(places[:-1], np.arange(PAIRS_AS_DOTS + 1) == 0)
    assert_allclose(few.differences(few.rows), expected)
    many = pair_cloud(places, np.arange(PAIRS_AS_DOTS + 2) == 0)
    assert many.rows is None
    assert many.density.counts.sum() == many.pairs == PAIRS_AS_DOTS + 1


def test_cloud_has_the_mean_covariance_and_corners_of_all_pairs():
    sample, weights = make_sample(rows=90)
    places = score_plane(sample, weights, True).place(sample)
    z, cloud = all_differences(places, sample.positive), pair_cloud(places, sample.positive)
    assert_allclose(cloud.delta, z.mean(axis=0))
    assert_allclose(cloud.covariance, np.cov(z.T, bias=True))
    assert_allclose(np.stack([cloud.low, cloud.high]), [z.min(axis=0), z.max(axis=0)])
    rows = np.array([[0, 3], [1, 2]])
    assert_allclose(cloud.differences(rows), [places[0] - places[1], places[3] - places[2]])


@pytest.mark.parametrize("chunk", [1, 1000, 1 << 17])
def test_histogram_counts_all_pairs(monkeypatch, chunk):
    monkeypatch.setattr(pairs, "PAIRS_PER_CHUNK", chunk)
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(40, 2)), rng.normal(size=(70, 2))
    z = (a[:, None] - b[None]).reshape(-1, 2)
    low, high = z.min(axis=0), z.max(axis=0)
    expected = np.histogram2d(*z.T, bins=9, range=np.stack([low, high], axis=1))[0]
    assert_array_equal(difference_histogram(a, b, low, high, 9), expected)


def test_histogram_of_a_flat_cloud_keeps_every_pair():
    places = np.zeros((200, 2))
    places[:, 0] = np.arange(200)
    cloud = pair_cloud(places, np.arange(200) < 100)
    assert cloud.density.counts.sum() == 10_000


def brute_force_counts(a, b, step):
    """Return the counts of cell differences, pair by pair."""
    first = ((a - a.min(axis=0)) / step).astype(int)
    second = ((b - b.min(axis=0)) / step).astype(int)
    counts = np.zeros(first.max(axis=0) + second.max(axis=0) + 1, dtype=int)
    for i in first:
        for j in second:
            counts[tuple(i - j + second.max(axis=0))] += 1
    return counts


def test_binned_density_counts_every_pair_of_cells():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(60, 2)), rng.normal(1.0, 2.0, size=(45, 2))
    found = binned_density(a, b, 20)
    step = (np.ptp(a, axis=0) + np.ptp(b, axis=0)) / 20
    assert_array_equal(found.counts, brute_force_counts(a, b, step))
    assert_allclose(found.high - found.low, step * found.counts.shape)


def test_binned_density_moves_no_pair_by_more_than_a_cell():
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(80, 2)), rng.normal(1.0, 2.0, size=(70, 2))
    found = binned_density(a, b, 40)
    z = (a[:, None] - b[None]).reshape(-1, 2)
    for axis in range(2):
        step = (found.high - found.low)[axis] / found.counts.shape[axis]
        seen = found.counts.sum(axis=1 - axis).cumsum()
        edges = found.low[axis] + step * np.arange(1, len(seen) + 1)
        assert (seen >= [(z[:, axis] <= edge - 1.5 * step).sum() for edge in edges]).all()
        assert (seen <= [(z[:, axis] <= edge + 1.5 * step).sum() for edge in edges]).all()


def test_density_counts_ten_billion_pairs():
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=(100_000, 2)), rng.normal(size=(100_000, 2))
    counts = binned_density(a, b, 256).counts
    assert counts.sum() == 10**10
    assert counts.min() == 0


def test_more_pairs_than_the_limit_are_binned(monkeypatch):
    monkeypatch.setattr(pairs, "PAIRS_COUNTED", 10_000)
    places = np.random.default_rng(4).normal(size=(2020, 2))
    positive = np.arange(2020) < 20
    cloud = pair_cloud(places, positive)
    expected = binned_density(places[positive], places[~positive], 512)
    assert_array_equal(cloud.density.counts, expected.counts)
    assert cloud.density.counts.sum() == cloud.pairs == 40_000


def test_penalised_covariance_equals_that_of_whitened_differences():
    sample, _ = make_sample()
    z = all_differences(sample.X, sample.positive)
    sigma = np.cov(z.T, bias=True)
    root = np.linalg.inv(scipy.linalg.sqrtm(np.eye(5) + 3.0 * sigma))
    directions = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 2)))[0]
    expected = directions.T @ np.cov((z @ root).T, bias=True) @ directions
    assert_allclose(penalised_covariance(sample.X, sample.positive, directions, 3.0), expected)
    assert_allclose(
        penalised_covariance(sample.X, sample.positive, directions, 0.0),
        directions.T @ sigma @ directions,
    )
    wide = np.zeros((4, 1001))
    assert penalised_covariance(wide, np.arange(4) < 2, np.zeros((1001, 2)), 1.0) is None


def test_ellipse_lies_at_its_mahalanobis_distance():
    covariance, centre = np.array([[4.0, 1.5], [1.5, 1.0]]), np.array([3.0, -2.0])
    trace = ellipse(centre, covariance, 2.0)
    away = trace - centre
    assert_allclose(np.einsum("ij,ij->i", away @ np.linalg.inv(covariance), away), 4.0)
    assert_allclose(trace[0], trace[-1], atol=1e-12)
    assert_allclose(away[:-1].T @ away[:-1] / (len(trace) - 1), 2.0 * covariance)


def test_row_numbers_are_mapped_to_positions():
    sample, _ = make_sample(rows=4)
    shuffled = Sample(sample.X, sample.positive, None, np.array([40, 10, 30, 20]))
    found = places_of(shuffled, np.array([[10, 40, 10], [20, 30, 99]]))
    assert_array_equal(found, [[1, 0], [3, 2]])
    assert places_of(shuffled, np.empty((2, 0), dtype=np.int64)).shape == (2, 0)


def test_penalised_covariance_in_the_space_of_a_kernel():
    """Against c'KH(I + λHKH)⁻¹HKd for directions with coefficients c, d (SAUC-SVM, eq. 15)."""
    sample, _ = make_sample(rows=40)
    K = Kernel("rbf", 0.1)(sample.X, sample.X)
    scorer = KernelScorer(Kernel("rbf", 0.1), sample.X, np.random.default_rng(3).normal(size=40))
    across = across_score(sample, scorer, of_pairs=True)
    where = np.argmax((across.points[:, None] == sample.X[None]).all(axis=2), axis=1)
    coefficients = np.zeros((40, 2))
    coefficients[:, 0], coefficients[where, 1] = scorer.weights, across.weights
    H = np.zeros((40, 40))
    for rows in (np.flatnonzero(sample.positive), np.flatnonzero(~sample.positive)):
        m = len(rows)
        H[np.ix_(rows, rows)] = (np.eye(m) - 1.0 / m) / np.sqrt(m)
    right = np.linalg.solve(np.eye(40) + 5.0 * H @ K @ H, H @ K @ coefficients)
    expected = coefficients.T @ K @ H @ right
    found = penalised_covariance(*kernel_features(sample, scorer, across), 5.0)
    assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
