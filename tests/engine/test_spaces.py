"""Properties that every space of training rows has."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from aucstudio.engine.blocks import Passes
from aucstudio.engine.features import Identity, Shifted, nystrom_map
from aucstudio.engine.features.spaces import (
    BlockVectors,
    Expansion,
    NumberedSpace,
    Vectors,
    chosen,
    exact,
    mapped,
)
from aucstudio.engine.kernels import Kernel, KernelSettings
from aucstudio.engine.methods.nbauc import fourier_map
from aucstudio.engine.monitor import Monitor
from tests.engine.array_blocks import ArrayBlocks

X = np.random.default_rng(0).normal(size=(60, 4)) + 3.0
WIDE = np.random.default_rng(1).normal(size=(20, 45))
RBF = Kernel("rbf", 0.3)
WAVES = fourier_map(0.3, X.mean(axis=0), 30, np.random.default_rng(2))


def passes():
    return Passes(ArrayBlocks(X, np.arange(60) < 20, 17), lambda _: None)


SPACES = {
    "rows": lambda: (X, Vectors(X)),
    "sparse rows": lambda: (X, Vectors(sparse.csr_array(X))),
    "wide rows": lambda: (WIDE, exact(WIDE, Kernel(), Monitor())),
    "factor": lambda: (X, exact(X, RBF, Monitor())),
    "shifted factor": lambda: (X, chosen(X, KernelSettings(kernel="rbf"), None, Monitor())),
    "landmarks": lambda: (X, mapped(nystrom_map(RBF, X[:12]), X, Monitor())),
    "waves": lambda: (X, mapped(WAVES, X, Monitor())),
    "single precision": lambda: (X, mapped(WAVES, X, Monitor(), np.float32)),
    "blocks": lambda: (X, BlockVectors(passes(), Shifted(Identity(), X.mean(axis=0)))),
    "blocks of waves": lambda: (X, BlockVectors(passes(), Shifted.about(WAVES, X, np.float64))),
    "kernel": lambda: (X, Expansion.of(X, RBF, Monitor())),
    "dual": lambda: (X, exact(X, RBF, Monitor()).dual()),
}
every_space = pytest.mark.parametrize("name", list(SPACES))


def tolerance(name):
    return {"atol": 1e-4} if name == "single precision" else {"atol": 1e-7}


@every_space
def test_scores_equal_the_scorers_up_to_a_constant(name):
    rows, space = SPACES[name]()
    w = np.random.default_rng(3).normal(size=space.size)
    apart = space.scores(w) - space.scorer(w)(rows)
    assert_allclose(apart, apart.mean(), **tolerance(name))


@every_space
def test_combine_is_the_transpose_of_scores(name):
    _, space = SPACES[name]()
    rng = np.random.default_rng(4)
    w, c = rng.normal(size=space.size), rng.normal(size=len(space.scores(np.zeros(space.size))))
    combined = space.combine(c)
    scores = space.scores(w)
    assert c @ scores == pytest.approx(space.inner(combined, w, scores), abs=1e-3)
    assert space.square(w) == pytest.approx(space.inner(w, w, scores))


@every_space
def test_samples_and_power_sums_match_the_vectors(name):
    _, space = SPACES[name]()
    if not isinstance(space, NumberedSpace):
        return
    count = len(space.scores(np.zeros(space.size)))
    F = space.take(np.arange(count))
    F = F.toarray() if sparse.issparse(F) else F.astype(float)
    weights = np.random.default_rng(5).normal(size=(2, count))
    sums, squares = space.power_sums(weights, lambda: None)
    assert_allclose(sums, weights @ F, **tolerance(name))
    assert_allclose(squares, weights @ F**2, **tolerance(name))
