"""Nystrom features and k-means landmarks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aucstudio.engine import restore
from aucstudio.engine.features import k_means, nystrom_map
from aucstudio.engine.features.spaces import mapped
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.monitor import Monitor

GAUSSIAN = Kernel("rbf", gamma=0.3)


def rows(count=60, features=3, seed=0):
    return np.random.default_rng(seed).normal(size=(count, features))


def landmarks_of(X, count, seed=0):
    return k_means(X, count, np.random.default_rng(seed), Monitor())


def test_feature_products_equal_the_nystrom_approximation():
    X, U = rows(), rows(20, seed=1)
    phi = nystrom_map(GAUSSIAN, U)(X)
    E = GAUSSIAN(X, U)
    assert_allclose(phi @ phi.T, E @ np.linalg.pinv(GAUSSIAN(U, U)) @ E.T, atol=1e-8)


@pytest.mark.parametrize("kernel", [GAUSSIAN, Kernel("poly", 0.5, 2, 1.0)])
def test_all_rows_as_landmarks_reproduce_the_kernel(kernel):
    X = rows()
    phi = nystrom_map(kernel, X)(X)
    assert_allclose(phi @ phi.T, kernel(X, X), atol=1e-7)
    if kernel.kind == "poly":
        assert phi.shape[1] == 10  # the monomials of degree 2 at most of three features


def test_scorer_of_a_direction_is_linear_in_the_features():
    X, U = rows(), rows(20, seed=1)
    features = nystrom_map(GAUSSIAN, U)
    w = np.random.default_rng(2).normal(size=features.whitener.shape[1])
    scorer = features.scorer(w)
    assert_allclose(scorer(X), features(X) @ w, atol=1e-7)
    again = restore(scorer.kind, scorer.settings(), scorer.arrays())
    assert_array_equal(again(X), scorer(X))


def test_progress_is_reported_in_fractions(monkeypatch):
    monkeypatch.setattr("aucstudio.engine.monitor.STAGE_INTERVAL", 0.0)
    fractions = []
    watch = Monitor(lambda step: fractions.append(step.fraction))
    mapped(nystrom_map(GAUSSIAN, rows(5)), rows(1200), watch)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_landmarks_are_the_centres_of_separate_clouds():
    rng = np.random.default_rng(3)
    centres = 100 * np.arange(5)[:, None] * np.ones(2) + 1e6
    X = np.repeat(centres, 40, axis=0) + rng.normal(size=(200, 2))
    found = landmarks_of(X, 5)
    means = X.reshape(5, 40, 2).mean(axis=1)
    assert_allclose(found[np.argsort(found[:, 0])], means, rtol=1e-12)


def test_clusters_are_better_than_drawn_rows():
    X = rows(3000, 4)
    drawn = X[np.random.default_rng(0).choice(3000, 30, replace=False)]

    def inertia(U):
        return ((X[:, None] - U[None]) ** 2).sum(axis=2).min(axis=1).sum()

    assert inertia(landmarks_of(X, 30)) < 0.9 * inertia(drawn)


def test_landmarks_of_many_rows_depend_on_the_seed():
    X = rows(25_000, 2)
    one, two, other = landmarks_of(X, 10), landmarks_of(X, 10), landmarks_of(X, 10, seed=1)
    assert_array_equal(one, two)
    assert not np.array_equal(one, other)
