"""Settings that several methods declare alike: the cost of a loss and the tolerance of a solver."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aucstudio.engine.params import param


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
        "The false-positive rates between which the area counts.",
        unit="shares of the negatives",
        label="FPR range",
        symbol="[α, β]",
        kind="range",
        low=0.0,
        high=1.0,
    )
