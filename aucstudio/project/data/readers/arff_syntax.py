"""Syntax of ARFF files."""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from aucstudio.project.errors import InputError, input_error

_LONGEST_LINE = 10_000_000
_NUMBERS = {"numeric", "real", "integer"}
_TEXTS = {"string", "date"}
# A quoted name or value, or one that ends at the next separator.
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_NAME = re.compile(rf"\s*({_QUOTED}|[^\s{{\[]+)\s*(.*)", re.DOTALL)
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,]*)\s*(,|$)")
_PAIR = re.compile(rf"[^,'\"]*(?:{_QUOTED})?[^,]*")
_MISSING = {"?", "<null>"}
_ESCAPES = {"n": "\n", "r": "\n", "t": "\t"}


@dataclasses.dataclass(frozen=True)
class Attribute:
    """A declared column.

    Attributes
    ----------
    name : str
    kind : {"number", "nominal", "string", "date"}
    levels : tuple of str or None
        Levels of a nominal column.
    written : str
        Java pattern of dates; empty for the default.
    """

    name: str
    kind: str
    levels: tuple[str, ...] | None = None
    written: str = ""


@dataclasses.dataclass
class Header:
    """Header of the file.

    Attributes
    ----------
    attributes : list of Attribute
    outputs : list of str
        Labels that KEEL declares.
    is_keel : bool
    lines : int
        Number of lines, including that of ``@data``.
    """

    attributes: list[Attribute] = dataclasses.field(default_factory=list)
    outputs: list[str] = dataclasses.field(default_factory=list)
    is_keel: bool = False
    lines: int = 0


def read_header(path: Path, file: TextIO) -> Header:
    """Read the header up to ``@data``.

    Raises
    ------
    InputError
        If it is incomplete, or declares an unsupported type.
    """
    header = Header()
    for line in iter(lambda: file.readline(_LONGEST_LINE), ""):
        header.lines += 1
        word, _, rest = line.strip().partition(" ")
        word, _, more = word.partition("\t")
        word, rest = word.lower(), f"{more} {rest}".strip()
        if word == "@attribute":
            header.attributes.append(_attribute(path, header.lines, rest))
        elif word in ("@input", "@inputs", "@output", "@outputs"):
            header.is_keel = True
            if word.startswith("@output"):
                header.outputs = [bare(name) for name in rest.split(",") if name.strip()]
        elif word.startswith("@data"):
            break
    else:
        raise wrong(path, header.lines, "the file ends before its @data line; it may be damaged")
    names = [attribute.name for attribute in header.attributes]
    if len(names) < 2:
        raise wrong(path, header.lines, "fewer than two attributes are declared above @data")
    if len(set(names)) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise wrong(path, header.lines, f"the attribute {twice!r} is declared twice; rename one")
    return header


def _attribute(path: Path, line: int, rest: str) -> Attribute:
    found = _NAME.match(rest)
    if found is None or not found[2].strip():
        raise wrong(path, line, "an attribute needs a name and a type")
    name, kind = bare(found[1]), found[2].strip()
    if kind.startswith("{"):
        levels = tuple(values(kind[1:].partition("}")[0] if "'" not in kind else _inner(kind)))
        return Attribute(name, "nominal", levels)
    word = re.split(r"[\s\[{]", kind.lower(), maxsplit=1)[0]
    if word not in _NUMBERS | _TEXTS:
        raise wrong(
            path,
            line,
            f"attribute {name!r} has the unsupported type {word!r}; supported are numeric, "
            "integer, real, string, date and lists of levels",
        )
    written = bare(kind[len(word) :]) if word == "date" else ""
    return Attribute(name, "number" if word in _NUMBERS else word, written=written)


def _inner(kind: str) -> str:
    return kind[1 : kind.rindex("}")] if "}" in kind else kind[1:]


def pairs(path: Path, line: int, text: str, width: int) -> Iterator[tuple[int, str]]:
    """Yield the attributes, counted from 0, and the cells of a sparse row.

    Raises
    ------
    InputError
        If the closing brace or an attribute is missing.
    """
    if "}" not in text:
        raise wrong(path, line, "a sparse row has no closing brace; the file may be damaged")
    inner = text[1 : text.rindex("}")]
    is_quoted = "'" in inner or '"' in inner
    for pair in _PAIR.findall(inner) if is_quoted else inner.split(","):
        parts = pair.split(None, 1)
        if not parts:
            continue
        index, cell = parts[0], parts[1].rstrip() if len(parts) > 1 else ""
        if not (index.isascii() and index.isdigit()) or int(index) >= width:
            raise wrong(path, line, f"there is no attribute number {index!r}")
        yield int(index), known(bare(cell) if is_quoted else cell)


def values(text: str) -> Iterable[str]:
    """Yield the cells of a row without quotation marks."""
    place = 0
    while True:
        found = _VALUE.match(text, place)
        if found is None:  # text follows a quotation mark
            yield text[place:].strip()
            return
        yield bare(found[1].strip())
        if not found[2]:
            return
        place = found.end()


def known(cell: str) -> str:
    """Return a cell; empty if it is a mark of a missing value."""
    return "" if cell in _MISSING else cell


def bare(text: str) -> str:
    """Remove quotation marks and escapes."""
    text = text.strip()
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"":
        return text
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1]).replace(
        "\n", " "
    )


def day_reader(written: str) -> Callable[[str], str]:
    """Return a function that converts dates of a Java SimpleDateFormat pattern to ISO 8601.

    Cells that do not match, and all cells of an unsupported pattern, are unchanged.
    """
    tokens = [found[0] for found in _JAVA.finditer(written)]
    quoted = [token.strip("'") if "'" in token else _directive(token) for token in tokens]
    if "".join(tokens) != written or None in quoted:
        return str
    form = "".join(map(str, quoted))

    def read(cell: str) -> str:
        try:
            day = datetime.datetime.strptime(cell, form)
        except ValueError:
            return cell
        return day.isoformat(" ") if "%H" in form or "%I" in form else day.date().isoformat()

    return read


def _directive(token: str) -> str | None:
    return _DIRECTIVES.get(token) if token.isalpha() else token


_DIRECTIVES = {
    "yyyy": "%Y",
    "yy": "%y",
    "MMM": "%b",
    "MM": "%m",
    "M": "%m",
    "dd": "%d",
    "d": "%d",
    "HH": "%H",
    "H": "%H",
    "hh": "%I",
    "h": "%I",
    "mm": "%M",
    "m": "%M",
    "ss": "%S",
    "s": "%S",
    "SSS": "%f",
    "a": "%p",
}
_JAVA = re.compile(r"'[^']*'|([A-Za-z])\1*|[^A-Za-z']")


def wrong(path: Path, line: int, what: str) -> InputError:
    """Return the error for an invalid line."""
    return input_error("line_invalid", file=path, line=line, what=what)
