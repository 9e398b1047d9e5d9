"""Models made by hand: every kind of scorer, on numbers, a category of text and one of numbers."""

import dataclasses

import numpy as np

from aucstudio.engine.ensembles.combined import CombinationScorer, Part
from aucstudio.engine.ensembles.views import View, ViewedScorer
from aucstudio.engine.features.splines import AdditiveScorer
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.scorers import EnsembleScorer, FourierScorer, KernelScorer, LinearScorer
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.scales import MISSING
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.runs.model import Model

TEXT = (
    'y,x,zone,town\n1,0.7,1.0,north\n-2,,02.5,"so""uth\\"\n,1e1,,\n0.25,.2,7,\n0,-9,1,west\n'
    "2,1.5,1, north \n-1,-60,2.5,Atlantis\n99,0.4,,north\n"
)


def prepared(**changes):
    """Columns x and y with limits, and two categories; 7 features."""
    made = Preparation(
        numbers=("x", "y"),
        medians=np.array([0.5, -1.0]),
        means=np.array([0.1, 2.0]),
        scales=np.array([3.0, 0.7]),
        categories=("town", "zone"),
        levels=(("north", 'so"uth\\', MISSING), ("1", "2.5")),
        lows=np.array([-50.0, -np.inf]),
        highs=np.array([np.inf, 50.0]),
    )
    return dataclasses.replace(made, **changes)


def model_with(scorer, **changes):
    words = "out", "yes", "no", "rows by hand"
    columns = [ColumnSchema(name, "number", "number") for name in ("x", "y")]
    columns += [
        ColumnSchema("town", "category", "text"),
        ColumnSchema("zone", "category", "number"),
    ]
    schema = Schema((*columns, ColumnSchema("out", "label")))
    made = Model(prepared(), scorer, 0.25, "by-hand", {}, *words, schema=schema)
    return dataclasses.replace(made, **changes)


# Missing values go left, right, and against infinite thresholds; the second tree is one leaf.
TREES = EnsembleScorer(
    roots=np.array([0, 3, 4]),
    feature=np.array([0, 0, 0, 0, 1, 0, 0]),
    threshold=np.array([0.2, 0.0, 0.0, np.inf, np.inf, 0.0, 0.0]),
    left=np.array([1, 1, 2, 3, 5, 5, 6]),
    right=np.array([2, 1, 2, 3, 6, 5, 6]),
    value=np.array([0.0, -1.5, 2.5, 0.125, 0.0, 0.25, 8.0]),
    base=0.5,
    gaps_left=np.array([True, False, False, False, False, False, False]),
)
SHARE = EnsembleScorer(
    np.array([0]), np.zeros(3, dtype=np.intp), np.array([0.1, 0.0, 0.0]), np.array([1, 1, 2]),
    np.array([2, 1, 2]), np.array([0.0, 0.2, 0.9]), 0.0,
)  # fmt: skip
CUBICS = AdditiveScorer(
    np.array([1, 0]), np.array([2, 0]), np.array([-1.0, 0.5]), np.array([0.1, 0.2, 0.3, 0.4]),
    np.random.default_rng(3).normal(size=(4, 4)),
)  # fmt: skip
NOTHING = AdditiveScorer(
    *(np.zeros(0, dtype=np.intp) for _ in range(2)), np.zeros(0), np.zeros(0), np.zeros((0, 4))
)
VIEWED = ViewedScorer(
    LinearScorer(np.array([0.7, -0.2, 1.5, 3.0])),
    View(
        np.array([0, 1, 2, 0]), np.array([2.0, 1.0, 1.0, 0.0]), np.array([0.5, 0.0, 0.0, 0.0]),
        np.array([0.3, -0.2, 0.0, 1.0]),
    ),
)  # fmt: skip
POINTS, WEIGHTS = np.random.default_rng(5).normal(size=(3, 7)), np.array([0.3, -1.0, 0.9])
SCORERS = {
    "linear": LinearScorer(np.linspace(-1.0, 1.0, 7)),
    "linear kernel": KernelScorer(Kernel("linear"), POINTS, WEIGHTS),
    "rbf": KernelScorer(Kernel("rbf", gamma=0.2), POINTS, WEIGHTS),
    "poly": KernelScorer(Kernel("poly", gamma=0.3, degree=2), POINTS, WEIGHTS),
    "no points": KernelScorer(Kernel("rbf"), POINTS[:0], WEIGHTS[:0]),
    "fourier": FourierScorer(POINTS, np.array([0.1, -2.0, 5.0]), WEIGHTS),
    "trees": TREES,
    "additive": CUBICS,
    "no function": NOTHING,
    "viewed": VIEWED,
    "combination": CombinationScorer(
        (Part(TREES, 0.5), Part(CUBICS, -2.0), Part(VIEWED, 0.3), Part(SHARE, 1.5, 0.01)), -0.75
    ),
}
TAKE_GAPS = ("trees", "additive", "no function", "viewed", "combination")


def hand_model(name):
    """Return the model of a scorer; missing values stay missing where it can take them."""
    return model_with(SCORERS[name], preparation=prepared(keep_gaps=name in TAKE_GAPS))
