"""Merge the changes of two windows to one plan."""

from __future__ import annotations

from typing import Any

_ABSENT = object()


def merged(base: Any, ours: Any, theirs: Any) -> Any:
    """Join two plans that both came from ``base``; where both changed the same thing, ours stays.

    Plain data: what one side changed, added or took away is as that side has it.
    """
    if ours == base:
        return theirs
    if theirs == base or not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return ours
    known = base if isinstance(base, dict) else {}
    joined = {}
    for key in {**theirs, **ours}:
        sides = (known.get(key, _ABSENT), ours.get(key, _ABSENT), theirs.get(key, _ABSENT))
        value = merged(*sides)
        if value is not _ABSENT:
            joined[key] = value
    return joined
