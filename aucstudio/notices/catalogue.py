"""Texts of notices, and the formatting of their values."""

from __future__ import annotations

import functools
import math
import string
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

_FILE = Path(__file__).with_name("en.toml")


class CatalogueEntry(TypedDict):
    """An entry of the catalogue.

    ``text`` is a format string, ``kind`` that of a finding, and ``setting`` the one to correct.
    """

    severity: str
    text: str
    kind: str
    setting: str | None


@functools.cache
def entries() -> dict[str, CatalogueEntry]:
    """Return the catalogue by code."""
    return {
        code: CatalogueEntry(
            severity=found.get("severity", "info"),
            text=found["text"],
            kind=found.get("kind", ""),
            setting=found.get("setting"),
        )
        for code, found in tomllib.loads(_FILE.read_text("utf-8")).items()
    }


def entry(code: str) -> CatalogueEntry:
    """Return the entry of a code; raises KeyError where there is none."""
    return entries()[code]


def written(code: str, values: Mapping[str, Any]) -> str:
    """Return the text of a code with values filled in.

    Beside Python's own, format specifications are ``count NOUN`` (3 rows), ``one IS|ARE`` (by
    whether there is one), ``yes WORDS`` (if it is true), ``range`` (0 … 0.1), ``percent``
    (2.5 %), ``and`` and ``or`` (lists).
    """
    return _WRITER.vformat(entry(code)["text"], (), values)


class _Writer(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        name, _, argument = format_spec.partition(" ")
        write = _FORMATS.get(name)
        return format(value, format_spec) if write is None else write(value, argument)


def _count(value: float, noun: str) -> str:
    return f"{value:,.0f} {noun}{'' if value == 1 else 's'}"


def _range(value: Sequence[float], _: str) -> str:
    return f"{value[0]:g} … {value[1]:g}"


def _percent(value: float, _: str) -> str:
    return f"{100 * value:.2g} %" if math.isfinite(value) else "–"


def _joined(word: str) -> Callable[[Sequence[Any], str], str]:
    def write(values: Sequence[Any], _: str) -> str:
        *first, last = map(str, values)
        return f"{', '.join(first)} {word} {last}" if first else last

    return write


def _by_number(value: float, words: str) -> str:
    one, several = words.split("|")
    return one if value == 1 else several


_FORMATS: dict[str, Callable[[Any, str], str]] = {
    "count": _count,
    "one": _by_number,
    "yes": lambda value, words: words if value else "",
    "range": _range,
    "percent": _percent,
    "and": _joined("and"),
    "or": _joined("or"),
}
_WRITER = _Writer()
