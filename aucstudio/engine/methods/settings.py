"""Settings that several methods share: loss weight, tolerance, FPR range."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from aucstudio.engine.params import param

Range = tuple[float, float]


def cost(default: float, help: str, powers: Iterable[int]) -> Any:  # noqa: A002
    """Declare ``C``, the weight of a loss, with the powers of ten that a search tries."""
    return param(
        default,
        help,
        label="Cost",
        symbol="C",
        low=0.0,
        low_open=True,
        log=True,
        grid=tuple(10.0**k for k in powers),
    )


def tolerance(default: float, help: str) -> Any:  # noqa: A002
    """Declare ``tol``, how near to its optimum the objective has to come."""
    return param(
        default,
        help,
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
