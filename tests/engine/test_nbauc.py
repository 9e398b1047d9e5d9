"""RankSVM on landmarks and on random Fourier features, and the maps themselves."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from aucstudio.engine.features import k_means, nystrom_map
from aucstudio.engine.features.spaces import mapped
from aucstudio.engine.fit import Context
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.methods.nbauc import MOST_BYTES, NBAUC, RFAUC, FourierScorer, fourier_map
from aucstudio.engine.methods.rank_svm import KernelRankSVM
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.roc import auc

BOTH = pytest.mark.parametrize(
    "method", [NBAUC(n_landmarks=40, gamma=0.3), RFAUC(n_components=60, gamma=0.3)], ids=["n", "f"]
)


def ring(count, seed=0, d=2):
    """Return positives inside a ball, which no direction ranks."""
    X = np.random.default_rng(seed).standard_normal((count, d))
    return X, ((X**2).sum(axis=1) < d / 2).astype(int)


# --- the maps --------------------------------------------------------------------------------


def test_fourier_kernel_error_falls_with_the_root_of_the_components():
    X, _ = ring(40, d=3)
    K = rbf_kernel(X, gamma=0.4)

    def error(D):
        squares = []
        for seed in range(12):
            phi = fourier_map(0.4, X.mean(axis=0), D, np.random.default_rng(seed))(X)
            squares.append(np.mean((phi @ phi.T - K) ** 2))
        return np.sqrt(np.mean(squares))

    assert error(1600) < 0.025
    assert error(25) / error(1600) == pytest.approx(8.0, rel=0.25)


def test_fourier_products_do_not_depend_on_the_origin():
    X, _ = ring(30)
    maps = [fourier_map(0.4, origin, 50, np.random.default_rng(1)) for origin in (X[0], X[1] + 9)]
    first, second = (phi(X) for phi in maps)
    assert first.shape == (30, 50)
    assert_allclose(first @ first.T, second @ second.T, atol=1e-12)


def test_fourier_scorer_equals_the_direction_in_feature_space():
    X, _ = ring(30)
    phi = fourier_map(0.4, X.mean(axis=0), 51, np.random.default_rng(1))
    w = np.random.default_rng(2).standard_normal(52)
    scorer = phi.scorer(w)
    assert_allclose(scorer(X), phi(X) @ w, atol=1e-12)
    assert_array_equal(scorer.frequencies, phi.frequencies)
    assert (scorer.kind, json.dumps(scorer.settings())) == ("fourier", "{}")
    assert_array_equal(FourierScorer(**scorer.arrays())(X), scorer(X))


@pytest.mark.parametrize("kind", ["landmarks", "waves"])
def test_mapped_rows_equal_features_up_to_a_constant_shift(kind):
    X, _ = ring(1_300)
    if kind == "landmarks":
        phi = nystrom_map(Kernel("rbf", 0.5), X[:12])
    else:
        phi = fourier_map(0.5, X.mean(axis=0), 30, np.random.default_rng(0))
    features = phi(X)
    exact = mapped(phi, X, Monitor()).matrix
    assert_allclose(np.ptp(features - exact, axis=0), 0.0, atol=1e-12)
    assert np.abs(exact.mean(axis=0)).max() < 0.1
    short = mapped(phi, X, Monitor(), np.float32).matrix
    assert short.dtype == np.float32
    assert_allclose(short, exact, atol=1e-4)


def test_close_landmarks_stay_in_double_precision():
    X, _ = ring(30)
    close = nystrom_map(Kernel("rbf", 1e-3), X)
    assert close.in_single() is close
    wide = nystrom_map(Kernel("rbf", 10.0), X[:5])
    assert wide.in_single().whitener.dtype == np.float32
    assert mapped(close, X, Monitor(), np.float32).matrix.dtype == np.float32


def test_batched_landmarks_are_as_good():
    X, _ = ring(3_000, d=4)

    def inertia(**more):
        U = k_means(X, 60, np.random.default_rng(0), Monitor(), 5, **more)
        assert U.shape == (60, 4)
        return ((X[:, None] - U[None]) ** 2).sum(axis=2).min(axis=1).sum()

    assert inertia(at_once=16, dtype=np.float32) < 1.05 * inertia()


def test_batches_find_every_distinct_row():
    X = np.repeat(ring(9)[0], 20, axis=0) + 1e6
    U = k_means(X, 50, np.random.default_rng(0), Monitor(), 2, at_once=4, dtype=np.float32)
    assert_allclose(np.unique(np.round(U, 6), axis=0), np.unique(np.round(X, 6), axis=0))


# --- the methods -----------------------------------------------------------------------------


@pytest.mark.parametrize("tol", [1e-5, 1e-9])
def test_all_rows_as_landmarks_equal_kernel_rank_svm(tol):
    X, y = ring(80)
    mapped = NBAUC(n_landmarks=100, gamma=0.7, C=300.0, tol=tol).fit(X, y)
    exact = KernelRankSVM(gamma=0.7, C=300.0, tol=1e-9).fit(X, y)
    assert mapped.objective_ == pytest.approx(exact.objective_, rel=max(2 * tol, 1e-6))
    a, b = mapped.scorer_(X), exact.scorer_(X)
    assert_allclose(a - a.mean(), b - b.mean(), atol=0.02 * b.std())


@BOTH
def test_non_linear_data_are_ranked(method):
    X, y = ring(1_500)
    X_test, y_test = ring(1_000, seed=1)
    fitted = method.fit(X, y)
    assert fitted.converged_
    assert auc(y_test, fitted.decision_function(X_test)) > 0.99


def test_default_width_equals_the_papers_on_standardised_data():
    X, y = ring(300, d=5)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    b = np.mean(((X - X.mean(axis=0)) ** 2).sum(axis=1))
    scorer = NBAUC(n_landmarks=10).fit(X, y).scorer_
    assert scorer.kernel.gamma == pytest.approx(1 / b, rel=1e-12)


@BOTH
def test_stages_are_reported_in_order_with_fractions(method, monkeypatch):
    monkeypatch.setattr("aucstudio.engine.monitor.STAGE_INTERVAL", 0.0)
    steps = []
    method.fit(*ring(1_200), callback=lambda step: steps.append((step.stage, step.fraction)))
    stages = [stage for stage, _ in steps]
    expected = ["landmarks", "features", "iterating", "scoring"]
    expected = expected if isinstance(method, NBAUC) else expected[1:]
    assert list(dict.fromkeys(stages)) == expected
    fractions = [fraction for stage, fraction in steps if stage == "features"]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


@pytest.mark.parametrize(
    ("method", "name"),
    [(NBAUC(n_landmarks=2_000), "n_landmarks"), (RFAUC(n_components=2_000), "n_components")],
)
def test_features_beyond_memory_are_refused(method, name):
    rows = np.broadcast_to(np.zeros(2), (10**7, 2))
    with pytest.raises(InvalidSetting, match=rf"80\.0 GB.*lower {name}") as refused:
        method._space(rows, np.zeros(1, dtype=bool), Context(Monitor()))
    assert refused.value.setting == name
    assert MOST_BYTES == 8e9
