"""The weights of a combination, chosen on held-out rows.

Symbols: z scores of the members on a common scale, shape (members, rows); w weights.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from aucstudio.engine import roc
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.ensembles.selection import choose_weights
from aucstudio.engine.types import Array, Mask
from aucstudio.project.combination.parts import Counted, both_classes
from aucstudio.project.runs.experiments.experiment import Experiment


@dataclasses.dataclass(frozen=True, eq=False)
class ChosenWeights:
    """Weights, and the rows that chose them."""

    weights: Array
    positive: Mask
    z: Array
    counts: Array | None
    criterion: Criterion

    @property
    def threshold(self) -> float:
        total = self.weights @ self.z
        return roc.equal_error_threshold(self.positive, total, weights=self.counts)

    @property
    def objective(self) -> float:
        return 1.0 - self.criterion(self.positive, self.weights @ self.z, self.counts)


def choose(
    experiment: Experiment,
    rows: Counted,
    k: int,
    tell: Callable[[float], object],
) -> ChosenWeights:
    """Choose weights on some rows; those of one class give all members the same.

    Parameters
    ----------
    experiment : Experiment
        It says the range and where chance begins.
    rows : tuple
        Classes, scores and counts of the rows that choose.
    k : int
        Number of the split, from which chance goes on.
    tell : callable
        Told how much of the choice is made, 0 to 1.
    """
    positive, z, counts = rows
    equal = weigh_equally(experiment, rows)
    if not both_classes(positive, counts):
        return equal
    rng = np.random.default_rng((int(experiment.params["random_state"]), k))
    weights = choose_weights(z, positive, equal.criterion, rng, tell, row_weights=counts)
    return dataclasses.replace(equal, weights=weights)


def weigh_equally(experiment: Experiment, rows: Counted) -> ChosenWeights:
    """Weigh all members the same, as where no rows came before."""
    positive, z, counts = rows
    criterion = Criterion.of_range(experiment.params["fpr_range"], positive, counts)
    return ChosenWeights(np.full(len(z), 1.0 / len(z)), positive, z, counts, criterion)
