"""A notice as data, document and text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from aucstudio.notices import catalogue

INFO, WARNING, ERROR = "info", "warning", "error"


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
        return catalogue.entry(self.code)["severity"]

    @property
    def text(self) -> str:
        """Return the text of the catalogue with the values filled in."""
        return catalogue.written(self.code, dict(self.values))

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
