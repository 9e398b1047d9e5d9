"""The problems that methods name in ``solves``."""

from __future__ import annotations

from aucstudio.engine.verification.pair_problems import (
    ExplicitPairHinge,
    PairLeastSquares,
    PairSquares,
    SpreadPairHinge,
    StochasticHinge,
    StochasticLeastSquares,
)
from aucstudio.engine.verification.problem import Problem
from aucstudio.engine.verification.range_problems import StructuralRange, TightRange
from aucstudio.engine.verification.row_problems import (
    ExplicitRowHinge,
    ExplicitTwoMargins,
    LogLoss,
    RowLeastSquares,
    RowSquares,
)
from aucstudio.engine.verification.scored_problems import (
    AreaLost,
    ExponentialPairs,
    MeanLogLoss,
    MeanPairHinge,
    PartialAreaLost,
    Unstated,
)

PROBLEMS: dict[str, type[Problem]] = {
    "": Unstated,
    "pair hinge": ExplicitPairHinge,
    "pair hinge with class spread": SpreadPairHinge,
    "squared pair hinge": PairSquares,
    "pair least squares": PairLeastSquares,
    "structural partial AUC": StructuralRange,
    "tight partial AUC": TightRange,
    "two margins": ExplicitTwoMargins,
    "row hinge": ExplicitRowHinge,
    "squared row hinge": RowSquares,
    "row least squares": RowLeastSquares,
    "log-loss": LogLoss,
    "stochastic hinge": StochasticHinge,
    "stochastic least squares": StochasticLeastSquares,
    "mean pair hinge": MeanPairHinge,
    "exponential pair loss": ExponentialPairs,
    "area lost": AreaLost,
    "partial area lost": PartialAreaLost,
    "mean log-loss": MeanLogLoss,
}
"""Each by the name under which a method knows it; empty for methods that state none."""
