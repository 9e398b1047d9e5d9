"""Every method that reads rows in blocks returns the same model as in memory."""

import tracemalloc

import numpy as np
import pytest

from aucstudio.engine import METHODS, InvalidSetting, Stopped
from aucstudio.engine.blocks import Passes, mean_variance
from aucstudio.engine.methods.least_squares_systems import block_moments
from aucstudio.engine.roc import auc
from tests.engine.array_blocks import ArrayBlocks

ADDING_UP = [key for key, method in METHODS.items() if method.adds_up]
EXACT = {
    "auc-rls": {},
    "rank-svm": {"tol": 1e-12},
    "nbauc": {"n_landmarks": 30, "tol": 1e-10},
}


class Shuffled:
    """Blocks whose row numbers are in random order."""

    def __init__(self, X, positive, height, rng):
        self._X, self.positive, self.features = X, positive, X.shape[1]
        self._parts = np.array_split(rng.permutation(len(X)), -(-len(X) // height))

    def __len__(self):
        return len(self._parts)

    def block(self, k):
        return self._parts[k], self._X[self._parts[k]]

    def take(self, numbers):
        return self._X[numbers]


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(400, 6)) * rng.uniform(0.3, 3, 6)
    positive = X[:, 0] - 0.5 * X[:, 1] ** 2 + rng.normal(size=400) > 0.8
    return X, positive


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("key", EXACT)
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_fit_in_blocks_equals_fit_in_memory(key, offset, rows, rng):
    X, positive = rows
    X = X + offset if key != "nbauc" else X
    whole = METHODS[key](**EXACT[key]).fit(X, positive)
    parts = METHODS[key](**EXACT[key]).fit_blocks(Shuffled(X, positive, 37, rng))
    assert parts.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    scale = np.ptp(whole.train_scores_)
    np.testing.assert_allclose(parts.train_scores_, whole.train_scores_, atol=1e-6 * scale)
    assert auc(positive, parts.train_scores_) == pytest.approx(
        auc(positive, whole.train_scores_), abs=1e-9
    )
    assert parts.converged_
    assert parts.classes_.tolist() == [False, True]
    assert (parts.dual_gap_ is None) == (whole.dual_gap_ is None)
    np.testing.assert_array_equal(parts.predict(X), parts.decision_function(X) > 0)


def test_many_features_converge_in_blocks_as_in_memory(rng):
    X = rng.normal(size=(300, 260))
    positive = X[:, 0] + rng.normal(size=300) > 0.5
    whole = METHODS["rank-svm"](tol=1e-10).fit(X, positive)
    parts = METHODS["rank-svm"](tol=1e-10).fit_blocks(ArrayBlocks(X, positive, 64))
    assert parts.n_iter_ == whole.n_iter_
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-9)


def test_landmarks_in_blocks_equal_those_in_memory(rng):
    X = rng.normal(size=(20_500, 3))
    positive = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=len(X)) > 2.0
    method = METHODS["nbauc"](n_landmarks=8, tol=1e-7)
    whole = method.fit(X, positive).scorer_
    parts = method.fit_blocks(Shuffled(X, positive, 3_000, rng)).scorer_
    np.testing.assert_array_equal(parts.points, whole.points)
    np.testing.assert_allclose(parts(X[:50]), whole(X[:50]), rtol=1e-3)


@pytest.mark.slow
def test_stochastic_descent_in_one_block_equals_that_in_memory(rows, rng):
    X, positive = rows
    whole = METHODS["nsauc"](n_landmarks=20, n_epochs=2).fit(X, positive)
    parts = METHODS["nsauc"](n_landmarks=20, n_epochs=2).fit_blocks(
        Shuffled(X, positive, len(X), rng)
    )
    np.testing.assert_array_equal(parts.train_scores_, whole.train_scores_)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_stochastic_descent_over_blocks_approaches_the_optimum(kernel, is_sorted, rng):
    X = rng.normal(size=(3_000, 4))
    positive = X[:, 0] - X[:, 1] + rng.normal(size=len(X)) > 1.5
    if is_sorted:  # blocks of one class each
        X, positive = X[np.argsort(positive)], np.sort(positive)
    settings = {"kernel": kernel, "n_landmarks": 20, "n_epochs": 10}
    whole = METHODS["nsauc"](**settings).fit(X, positive)
    parts = METHODS["nsauc"](**settings).fit_blocks(ArrayBlocks(X, positive, 250))
    assert parts.n_iter_ == 10
    assert parts.objective_ == pytest.approx(whole.objective_, rel=0.01)
    again = METHODS["nsauc"](**settings).fit_blocks(ArrayBlocks(X, positive, 250))
    np.testing.assert_array_equal(again.train_scores_, parts.train_scores_)


def test_block_moments_match_numpy(rng):
    X = rng.normal(size=(500, 3)) + np.array([0.0, 1e7, -4.0])
    positive = rng.random(500) < 0.2
    passes = Passes(ArrayBlocks(X, positive, 60), lambda _: None)
    for found, rows in zip(block_moments(passes), (X[~positive], X[positive]), strict=True):
        np.testing.assert_allclose(found.origin + found.mean, rows.mean(axis=0), rtol=1e-12)
        expected = np.cov(rows.T, bias=True) * len(rows)
        np.testing.assert_allclose(found.scatter(), expected, rtol=1e-6, atol=1e-6)
    assert mean_variance(passes) == pytest.approx(X.var(), rel=1e-12)


@pytest.mark.parametrize(("key", "passes"), [("auc-rls", 2), ("nsauc", 2 + 2 * 3 + 1)])
def test_each_block_is_read_the_documented_number_of_times(key, passes, rng):
    X, read = rng.normal(size=(300, 4)), []
    positive = X[:, 0] > 0.5

    class Counted(ArrayBlocks):
        def block(self, k):
            read.append(k)
            return super().block(k)

    settings = {"n_epochs": 3, "n_landmarks": 10} if key == "nsauc" else {}
    METHODS[key](**settings).fit_blocks(Counted(X, positive, 50))
    assert read.count(5) == passes


@pytest.mark.slow
@pytest.mark.parametrize("key", ADDING_UP)
def test_peak_memory_depends_on_the_block_size(key):
    height, features, count = 10_000, 40, 15

    class GeneratedBlocks:
        """A table of 48 MB that is generated block by block."""

        features = 40
        positive = np.arange(height * count) % 3 == 0

        def __len__(self):
            return count

        def block(self, k):
            numbers = np.arange(k * height, (k + 1) * height)
            X = np.random.default_rng(k).normal(size=(height, features))
            X[:, 0] += self.positive[numbers]
            return numbers, X

        def take(self, numbers):
            return np.random.default_rng(99).normal(size=(len(numbers), features))

    settings = {
        "auc-rls": {},
        "rank-svm": {"tol": 1e-2},
        "nbauc": {"n_landmarks": 10, "tol": 1e-1, "C": 0.1, "gamma": 0.01},
        "nsauc": {"n_landmarks": 10, "n_epochs": 1, "gamma": 0.01},
    }[key]
    blocks = GeneratedBlocks()
    METHODS[key](**settings).fit_blocks(ArrayBlocks(np.eye(8), np.arange(8) < 3, 4))  # compile
    tracemalloc.start()
    try:
        METHODS[key](**settings).fit_blocks(blocks)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    block, per_row = 8 * height * features, 130 * height * count
    assert peak < 3 * block + per_row + 15e6


@pytest.mark.parametrize("key", ADDING_UP)
def test_invalid_blocks_are_refused(key, rows):
    X, positive = rows
    method = METHODS[key]()
    with pytest.raises(ValueError, match="one class only"):
        method.fit_blocks(ArrayBlocks(X, np.ones(len(X), bool), 50))
    gap = X.copy()
    gap[321, 2] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        method.fit_blocks(ArrayBlocks(gap, positive, 50))
    with pytest.raises(InvalidSetting):
        METHODS[key](**{"regularization" if key in ("auc-rls", "nsauc") else "C": -1}).fit_blocks(
            ArrayBlocks(X, positive, 50)
        )


@pytest.mark.parametrize("key", ADDING_UP)
def test_rows_that_change_between_passes_are_refused(key, rows):
    X, positive = rows

    class Shrinking(ArrayBlocks):
        read = 0

        def block(self, k):
            self.read += 1
            rows, X = super().block(k)
            return (rows, X) if self.read <= 8 or k < 7 else (rows[:-1], X[:-1])

    with pytest.raises(ValueError, match="changed while it was being read"):
        METHODS[key]().fit_blocks(Shrinking(X, positive, 50))


def test_methods_that_need_all_rows_refuse_blocks(rows):
    X, positive = rows
    for key in ("svm-auc", "rf-auc", "nsvmsgd2", "kernel-rank-svm", "rls"):
        with pytest.raises(InvalidSetting, match="all rows in memory"):
            METHODS[key]().fit_blocks(ArrayBlocks(X, positive, 50))
    with pytest.raises(InvalidSetting, match="linear kernel"):
        METHODS["auc-rls"](kernel="rbf").fit_blocks(ArrayBlocks(X, positive, 50))


@pytest.mark.parametrize("key", ["rank-svm", "nbauc", "nsauc"])
def test_stopped_fit_keeps_the_current_iterate(key, rows):
    X, positive = rows
    method = METHODS[key]()
    method.fit_blocks(ArrayBlocks(X, positive, 50), callback=lambda step: step.iteration == 1)
    assert not method.converged_
    assert auc(positive, method.train_scores_) > 0.6


@pytest.mark.parametrize("key", ["rank-svm", "nsauc"])
def test_fit_can_be_stopped_while_reading_rows(key, rows, monkeypatch):
    monkeypatch.setattr("aucstudio.engine.monitor.STAGE_INTERVAL", 0.0)
    X, positive = rows
    steps = []

    def stop_inside(step):
        steps.append(step)
        return any(s.iteration >= 1 for s in steps) and step.stage == "reading rows"

    method = METHODS[key]().fit_blocks(ArrayBlocks(X, positive, 50), callback=stop_inside)
    assert steps[-1].stage == "reading rows"
    assert not method.converged_
    assert auc(positive, method.train_scores_) > 0.6
    with pytest.raises(Stopped):
        METHODS[key]().fit_blocks(ArrayBlocks(X, positive, 50), callback=lambda _: True)
