"""Delimited text files, and the words they are written with, from ``vocabulary.toml``."""

from __future__ import annotations

import functools
import re
import tomllib
from pathlib import Path
from typing import Any


@functools.cache
def _sections() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8"))


def words(section: str, name: str) -> list[str]:
    """Return a list of words, or of regular expressions."""
    return list(_sections()[section][name])


def section(section: str) -> dict[str, Any]:
    """Return a whole section."""
    return _sections()[section]


def any_of(section: str, *names: str) -> str:
    """Return the regular expression of any entry of some lists."""
    return "|".join(word for name in names for word in words(section, name))


def compiled(section: str, *names: str) -> re.Pattern[str]:
    """Compile the regular expression of any entry of some lists."""
    return re.compile(any_of(section, *names))
