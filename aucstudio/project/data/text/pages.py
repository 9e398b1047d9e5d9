"""Reports that were printed page by page: the head of a page comes again on each one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from aucstudio.project.data.text.markup import Rewrite

_FEED = "\f"
_DIGITS = re.compile("[0-9]+")
# Lines of a head that may hold the number of the page, or a time.
_TITLES = 3


def find_pages(text: str) -> tuple[Rewrite, str] | None:
    """Find form feeds before lines that are, but for their numbers, the first ones of the file."""
    first, *later = [page.split("\n") for page in text.lstrip(_FEED).split(_FEED)]
    if not later or not all(_common(first, page) for page in later):
        return None
    head = first[: max(_common(first, page) for page in later)]
    return lambda lines: _without_heads(lines, head), "the heads of later pages are left out"


def _common(first: Sequence[str], page: Sequence[str]) -> int:
    """Count the lines that two pages begin with."""
    pairs = enumerate(zip(first, page, strict=False))
    return sum(1 for _ in itertools.takewhile(lambda one: _is_same(one[0], *one[1]), pairs))


def _is_same(place: int, line: str, other: str) -> bool:
    """Return whether a line of a head comes again; in its titles numbers may differ."""
    one, two = line.strip(), other.strip()
    return one == two or (place < _TITLES and _DIGITS.sub("0", one) == _DIGITS.sub("0", two))


def _without_heads(lines: Iterable[str], head: Sequence[str]) -> Iterator[str]:
    """Make the heads of pages but the first blank lines."""
    place = len(head)
    for k, line in enumerate(lines):
        if k and line.startswith(_FEED):
            place = 0
        is_head = place < len(head) and _is_same(place, line, head[place])
        place = place + 1 if is_head else len(head)
        yield "\n" if is_head else line
