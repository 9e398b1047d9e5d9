"""Shorten text in the middle or at the end."""

from __future__ import annotations

from collections.abc import Callable

_ALIKE = 4  # letters of a common beginning


def elided(words: str, width: int, measure: Callable[[str], int]) -> str:
    """Cut a name in its middle so that it is at most ``width`` wide."""
    if measure(words) <= width:
        return words
    kept = len(words) - 1
    while kept > 2 and measure(_cut(words, kept)) > width:
        kept -= 1
    return _cut(words, kept)


def _cut(words: str, kept: int) -> str:
    # The ends distinguish names more often than the middle.
    return f"{words[: (kept + 1) // 2]}…{words[len(words) - kept // 2 :]}"


def told_apart(first: str, second: str, width: int, measure: Callable[[str], int]) -> list[str]:
    """Shorten two names in their common part, so that they stay distinct."""
    begin_alike = first[:_ALIKE] == second[:_ALIKE]
    cut = _without_beginning if begin_alike else _without_end
    found = []
    for name in (first, second):
        kept = len(name)
        while kept > 2 and measure(cut(name, kept)) > width:
            kept -= 1
        found.append(cut(name, kept))
    return found


def _without_beginning(name: str, kept: int) -> str:
    return name if kept == len(name) else f"…{name[len(name) - kept :]}"


def _without_end(name: str, kept: int) -> str:
    return name if kept == len(name) else f"{name[:kept]}…"


def shortened(name: str) -> str:
    """Return a name with at most 28 letters."""
    return name if len(name) <= 28 else f"{name[:27]}…"
