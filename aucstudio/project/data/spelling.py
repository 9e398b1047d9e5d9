"""Names that differ in their spelling alone: yes, Yes and YES."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping


def alike(names: Iterable[str]) -> list[list[str]]:
    """Group names that differ in capitals, blanks and forms of letters only; two or more each."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_folded(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def usual_spellings(counts: Mapping[str, int]) -> list[list[str]]:
    """Group names that are spelled in several ways, the commonest spelling of each first."""
    return [sorted(group, key=lambda name: (-counts[name], name)) for group in alike(counts)]


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split()) or name
