"""Words of the window's controls, by their object names.

The files of ``en/controls`` hold the ``text`` of a control, its ``tip``, ``name`` (for screen
readers; by default the text), ``hint`` (in an empty field), ``title`` (of a row in a form, or of a
column), ``choices`` (the text of each value of a list, or just its ``values``) and, of an action,
its ``key`` (or ``standard_key``, one of the platform) and its ``icon``.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

_FOLDER = Path(__file__).parent / "en" / "controls"


class ControlWords(TypedDict, total=False):
    """The words of one control."""

    text: str
    tip: str
    name: str
    hint: str
    title: str
    choices: Mapping[str, str]
    values: Sequence[str]
    sample: str
    key: str
    standard_key: str
    icon: str


@functools.cache
def _entries() -> dict[str, ControlWords]:
    found: dict[str, ControlWords] = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        found |= tomllib.loads(path.read_text(encoding="utf-8"))
    return found


def control_words(name: str) -> ControlWords:
    """Return the words of a control; none for one without an entry."""
    return _entries().get(name, {})
