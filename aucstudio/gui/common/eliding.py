"""Words shortened in their middle or at their end, to a width."""

from __future__ import annotations

from collections.abc import Callable


def elided(words: str, width: int, measure: Callable[[str], int]) -> str:
    """Cut a name in its middle so that it is at most ``width`` wide."""
    if measure(words) <= width:
        return words
    kept = len(words) - 1
    while kept > 2 and measure(_cut(words, kept)) > width:
        kept -= 1
    return _cut(words, kept)


def _cut(words: str, kept: int) -> str:
    # The ends tell names apart more often than the middle does.
    return f"{words[: (kept + 1) // 2]}…{words[len(words) - kept // 2 :]}"


def shortened(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"
