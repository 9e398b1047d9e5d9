"""Ranges of the false positive rate that several methods train for."""

from __future__ import annotations

from collections.abc import Iterator

Range = tuple[float, float]


def widening(asked: Range) -> Iterator[Range]:
    """List the range asked for and then [0, 2 beta], [0, 4 beta], ... up to [0, 1]."""
    yield asked
    alpha, beta = asked
    while (alpha, beta) != (0.0, 1.0):
        alpha, beta = 0.0, min(1.0, 2 * beta)
        yield alpha, beta
