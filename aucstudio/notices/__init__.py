"""Texts of the program, one catalogue a language, and the formatting of their values.

``text("too_few", rows=3)`` returns the text of the code ``too_few``; ``notice(...)`` and
``input_error(...)`` take a code and values likewise. A language is a folder of TOML files, one a
room, and a code has one entry in it: ``too_few = "Only {rows:count row}."`` at the top of a file,
or, for notices and errors, a table with ``text``, ``severity`` ("warning" if the fact puts a result
in doubt, "error", else "info"), ``kind`` (of a finding) and ``setting`` (the one to correct).
A part in square brackets is left out if a value in it is None, False or empty:
``about [{seconds:rough} and ]{size:bytes}``. Beside Python's own, formats of values are

- numbers: ``figure`` and ``figure +`` (0.931), ``interval`` of two (0.931–0.968), ``p`` (p = 0.41),
  ``setting`` (10⁻⁷), ``range`` of two (0 … 0.1), ``percent`` (2.5 %), ``count row`` (3 rows),
  ``count class|classes``, ``seconds`` (0.52 s), ``rough`` (2 min), ``elapsed`` (1 h 3 min),
  ``bytes`` (12 MB);
- texts: ``class`` (“+”), ``and``, ``or`` (a, b and c), ``listed`` (a, b, c and 4 more);
- choices: ``one row is|rows are`` by whether a number is 1, ``yes WORDS`` and ``no WORDS`` by
  whether a value is true, ``case auc=AUC|pauc=partial AUC`` by the value itself; their values do
  not decide on a part in brackets.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import string
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sized
from pathlib import Path
from typing import Any, TypedDict

from aucstudio.notices import words

INFO, WARNING, ERROR = "info", "warning", "error"

_FOLDER = Path(__file__).with_name("en")
_CHOICE = re.compile(r"(yes|no|case) ")
_OPTIONAL = re.compile(r"\[([^][]*\{[^][]*)\]")


class CatalogueEntry(TypedDict):
    """An entry of the catalogue; a text that is no notice has an empty severity."""

    severity: str
    text: str
    kind: str
    setting: str | None


@functools.cache
def entries() -> dict[str, CatalogueEntry]:
    """Return the catalogue by code."""
    found: dict[str, CatalogueEntry] = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        for code, entry in tomllib.loads(path.read_text("utf-8")).items():
            if code in found:
                raise ValueError(f"two texts have the code {code}")
            is_notice = isinstance(entry, dict)
            found[code] = CatalogueEntry(
                severity=entry.get("severity", "info") if is_notice else "",
                text=entry["text"] if is_notice else entry,
                kind=entry.get("kind", "") if is_notice else "",
                setting=entry.get("setting") if is_notice else None,
            )
    return found


def entry(code: str) -> CatalogueEntry:
    """Return the entry of a code; raises KeyError where there is none."""
    return entries()[code]


def text(code: str, /, **values: Any) -> str:
    """Return the text of a code with values filled in."""
    kept = functools.partial(_optional_part, values)
    return _WRITER.vformat(_OPTIONAL.sub(kept, entry(code)["text"]), (), values)


@dataclasses.dataclass(frozen=True)
class Notice:
    """A fact about a result.

    Attributes
    ----------
    code : str
        What kind of fact it is: an entry of the catalogue.
    values : tuple of (str, value)
        What the text of the catalogue takes: texts, numbers, tuples of them, or other notices.
    """

    code: str
    values: tuple[tuple[str, Any], ...] = ()

    @property
    def severity(self) -> str:
        """Return "warning" if the fact puts a result in doubt, else "info"."""
        return entry(self.code)["severity"]

    @property
    def text(self) -> str:
        """Return the text of the catalogue with the values filled in."""
        return text(self.code, **dict(self.values))

    def __str__(self) -> str:
        return self.text

    def document(self) -> dict[str, Any]:
        """Return code and values as plain data."""
        return {"code": self.code, "values": {k: _plain(v) for k, v in self.values}}

    def as_json(self) -> dict[str, Any]:
        """Return code, severity, values and text as plain data."""
        return self.document() | {"severity": self.severity, "text": self.text}


def notice(code: str, **values: Any) -> Notice:
    """Return a notice of the catalogue's entry ``code``."""
    return Notice(code, tuple(values.items()))


def texts(notices: Iterable[Notice]) -> tuple[str, ...]:
    """Return the text of each notice, without repeated notices."""
    return tuple(found.text for found in dict.fromkeys(notices))


def read_notice(document: Mapping[str, Any]) -> Notice:
    """Return the notice of a document.

    Raises
    ------
    ValueError
        If the code is unknown, or its text takes values that are not there.
    """
    code, values = document.get("code"), document.get("values")
    if not isinstance(code, str) or not isinstance(values, Mapping):
        raise ValueError("a notice must have a code and values")
    try:
        found = Notice(code, tuple((str(name), _read(value)) for name, value in values.items()))
        found.text  # noqa: B018  (fails here what could not be shown later)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"the notice {code!r} is unknown or incomplete") from error
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Notice):
        return value.document()
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return read_notice(value)
    return tuple(_read(each) for each in value) if isinstance(value, list) else value


def _optional_part(values: Mapping[str, Any], part: re.Match[str]) -> str:
    """Return the words in square brackets, unless they have no value."""
    found = (values[name] for name in _names_in(part[1]))
    absent = any(value is None or value is False or _is_empty(value) for value in found)
    return "" if absent else part[1]


@functools.cache
def _names_in(part: str) -> list[str]:
    """Return the names of the values that decide on a part in brackets."""
    fields = string.Formatter().parse(part)
    names = (name for _, name, spec, _ in fields if name and not _CHOICE.match(spec or ""))
    return [re.split(r"[.[]", name)[0] for name in names]


def _is_empty(value: Any) -> bool:
    return isinstance(value, Sized) and not len(value)


class _Writer(string.Formatter):
    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion == "r" and isinstance(value, str):
            value = re.sub(r"\s*[\r\n]+\s*", " ", value)  # a name stays on one line
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        name, _, argument = format_spec.partition(" ")
        write = _FORMATS.get(name)
        return format(value, format_spec) if write is None else write(value, argument)


def _count(value: float, noun: str) -> str:
    return words.counted(value, *noun.split("|"))


def _by_number(value: float, words: str) -> str:
    one, several = words.split("|")
    return one if value == 1 else several


def _case(value: object, cases: str) -> str:
    return dict(case.split("=", 1) for case in cases.split("|"))[str(value)]


_FORMATS: dict[str, Callable[[Any, str], str]] = {
    "figure": words.figure_words,
    "interval": lambda value, _: words.interval_words(*value),
    "p": lambda value, _: words.p_words(value),
    "setting": lambda value, _: words.setting_words(value),
    "range": lambda value, _: words.range_words(value),
    "percent": lambda value, _: words.percent_words(value),
    "count": _count,
    "seconds": lambda value, _: words.seconds_words(value),
    "rough": lambda value, _: words.rough_words(value),
    "elapsed": lambda value, _: words.elapsed_words(value),
    "bytes": lambda value, _: words.bytes_words(value),
    "class": lambda value, _: words.class_words(value),
    "and": lambda values, _: words.joined(values, "and"),
    "or": lambda values, _: words.joined(values, "or"),
    "listed": lambda values, _: words.listed(values),
    "one": _by_number,
    "yes": lambda value, then: then if value else "",
    "no": lambda value, then: "" if value else then,
    "case": _case,
}
_WRITER = _Writer()
