"""Settings that several methods share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from aucstudio.engine.params import param

Range = tuple[float, float]


POSITIVE: dict[str, Any] = {"low": 0.0, "low_open": True, "log": True}
COUNTS = (50, 100, 200, 400, 800, 1_600)
"Numbers of features that a search tries."

_PAIR_LOSS = "Weight of the mean pair loss against the size of the weights."


def cost(default: float, powers: Iterable[int], help: str = _PAIR_LOSS) -> Any:  # noqa: A002
    """Declare ``C``, the weight of a loss, with the powers of ten that a search tries."""
    grid = tuple(10.0**k for k in powers)
    return param(default, help, label="Cost", symbol="C", grid=grid, **POSITIVE)


def regularization(default: float, loss: str, grid: Iterable[float], **bounds: Any) -> Any:
    """Declare ``regularization``, the weight of |w|² against a mean loss."""
    return param(
        default,
        f"Weight of |w|² against the mean {loss}; larger is smoother.",
        label="Regularisation",
        symbol="λ",
        grid=tuple(grid),
        **{"low": 0.0, "log": True, **bounds},
    )


def landmark_count(**more: Any) -> Any:
    """Declare ``n_landmarks``, the number of cluster centres."""
    return param(
        400,
        "Cluster centres that approximate the kernel of all rows.",
        unit="rows",
        label="Landmarks",
        symbol="v",
        low=1,
        high=2_000,
        log=True,
        grid=COUNTS,
        **more,
    )


def tolerance(default: float) -> Any:
    """Declare ``tol``, how near to its optimum the objective has to come."""
    return param(
        default,
        "Relative distance to the optimal objective at which training stops.",
        unit="shares of the objective",
        label="Tolerance",
        symbol="ε",
        low=0.0,
        low_open=True,
        high=0.1,
        log=True,
    )


def counted_range() -> Any:
    """Declare ``fpr_range``, the false-positive rates between which an area counts."""
    return param(
        (0.0, 0.1),
        "Range of false-positive rates whose area is maximised.",
        unit="shares of the negatives",
        label="FPR range",
        symbol="[α, β]",
        kind="range",
        low=0.0,
        high=1.0,
    )


def widening(asked: Range) -> Iterator[Range]:
    """List the range asked for and then [0, 2 beta], [0, 4 beta], ... up to [0, 1]."""
    yield asked
    alpha, beta = asked
    while (alpha, beta) != (0.0, 1.0):
        alpha, beta = 0.0, min(1.0, 2 * beta)
        yield alpha, beta
