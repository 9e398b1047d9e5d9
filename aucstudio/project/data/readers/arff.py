"""ARFF files of Weka and KEEL."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import io
import itertools
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TextIO

import numpy as np
import scipy

from aucstudio.project.data import text as vocabulary
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.readers.conversion import first_parts, write_rows
from aucstudio.project.data.readers.formats import (
    MATRIX,
    NAMED_ROWS,
    Advance,
    ReadOptions,
    Written,
)
from aucstudio.project.data.readers.sparse_file import MOST_FILLED, SparseTable
from aucstudio.project.data.roles import is_sure
from aucstudio.project.data.text.contents import Unreadable
from aucstudio.project.data.text.numerals import (
    BLANKS,
    MISSING_NUMBER,
    MISSING_TEXT,
    NumberCells,
    NumberFormat,
)
from aucstudio.project.errors import InputError, input_error

_REPORT_EVERY = 5_000
_REMEMBERED = 100_000
_LONGEST_LINE = 10_000_000
_NUMBERS, _TEXTS = ("numeric", "real", "integer"), ("string", "date")
# A quoted name or value, or one that ends at the next separator.
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_NAME = re.compile(rf"\s*({_QUOTED}|[^\s{{\[]+)\s*(.*)", re.DOTALL)
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,]*)\s*(,|$)")
_PAIR = re.compile(rf"[^,'\"]*(?:{_QUOTED})?[^,]*")
_MISSING = {"?", "<null>"}
_WEIGHT = re.compile(r"[,\s]\s*\{\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*\}\s*$")
# Parts of Java's patterns of dates.
_JAVA = re.compile(r"'[^']*'|([A-Za-z])\1*|[^A-Za-z']")


@dataclasses.dataclass(frozen=True)
class Attribute:
    """A declared column.

    Attributes
    ----------
    name : str
    kind : {"number", "nominal", "string", "date"}
    levels : tuple of str
        Levels of a nominal column.
    written : str
        Java pattern of dates; empty for the default.
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    written: str = ""

    @property
    def omitted(self) -> str:
        """The cell that sparse rows omit."""
        return self.levels[0] if self.levels else "0"


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
    weight : tuple of str
        Name of the weight column, if rows end with a weight in braces, as in Weka.
    """

    attributes: list[Attribute] = dataclasses.field(default_factory=list)
    outputs: list[str] = dataclasses.field(default_factory=list)
    is_keel: bool = False
    lines: int = 0
    weight: tuple[str, ...] = ()


# A row: its line, its text (empty for blank lines and comments), and its weight.
Line = tuple[int, str, str]


def write(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    encoding = options.encoding or _encoding(path)
    with path.open(encoding=encoding, errors="replace") as file:
        header = _read_header(path, file)
    header.weight = _weight_name(path, header)
    roles = _roles(header) | dict.fromkeys(header.weight, "weight")
    lines = _lines(path, encoding, header, report)
    if _may_be_sparse(header, options.kinds) and _save_sparse(path, lines, header, target):
        return Written(MATRIX, roles=roles)
    undeclared: dict[str, Counter[str]] = {}
    lines = _lines(path, encoding, header, report)
    rows = _rows(path, lines, header, options.kinds, undeclared)
    write_rows(target, rows, 0, lambda _share: None, named=True)
    return Written(
        known={**NAMED_ROWS, "skip": header.lines - 1},
        remarks=() if options.kinds else tuple(_about_levels(undeclared)),
        texts=tuple(a.name for a in header.attributes if a.kind in ("nominal", "string")),
        roles=roles,
    )


def _rows(
    path: Path,
    lines: Iterable[Line],
    header: Header,
    kinds: Mapping[str, str],
    undeclared: dict[str, Counter[str]],
) -> Iterator[list[str] | None]:
    """Yield names and rows, each in its own line; count undeclared levels by column."""
    attributes, is_empty = header.attributes, True
    levels = {k: {*a.levels, ""} for k, a in enumerate(attributes) if a.levels}
    days = {
        k: functools.lru_cache(_REMEMBERED)(day_reader(a.written))
        for k, a in enumerate(attributes)
        if a.written and kinds.get(a.name) != "text"
    }
    # Each row keeps its line number, which messages contain.
    yield from itertools.repeat(None, header.lines - 1)
    yield [*(attribute.name for attribute in attributes), *header.weight]
    for line, text, weight in lines:
        if not text:
            yield None
            continue
        cells = _dense(text, len(attributes))
        if text.startswith("{"):
            cells = [attribute.omitted for attribute in attributes]
            for k, cell in _pairs(path, line, text, len(attributes)):
                cells[k] = cell
        for k in days:
            cells[k : k + 1] = map(days[k], cells[k : k + 1])
        for k in levels:
            if k < len(cells) and cells[k] not in levels[k]:
                undeclared.setdefault(attributes[k].name, Counter())[cells[k]] += 1
        yield [*cells, weight] if header.weight else cells
        is_empty = False
    if is_empty:
        raise input_error("no_rows_below_data", file=path)


def _about_levels(undeclared: Mapping[str, Counter[str]]) -> Iterator[Finding]:
    for name, counted in undeclared.items():
        yield found("format_undeclared_levels", name, levels=first_parts(counted))


def _weight_name(path: Path, header: Header) -> tuple[str, ...]:
    with path.open("rb") as file:
        lines = itertools.islice(file, header.lines, None)
        ends = (line.decode("latin-1") for line in lines if line.rstrip().endswith(b"}"))
        if not any(map(_WEIGHT.search, ends)):
            return ()
    taken = {attribute.name for attribute in header.attributes}
    return ("weight of the row" if "weight" in taken else "weight",)


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        try:
            for line in file:
                line.decode("utf-8")
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8-sig"


def _roles(header: Header) -> dict[str, str]:
    """Return the label: KEEL declares it, in ARFF it is last by convention."""
    *others, last = header.attributes
    if len(header.outputs) == 1 and header.outputs[0] in {a.name for a in header.attributes}:
        return {header.outputs[0]: "label"}
    if not last.levels or header.is_keel:
        return {}
    named = any(one.levels and is_sure(one.name) for one in others)
    return {} if named and not is_sure(last.name) else {last.name: "label"}


def _lines(path: Path, encoding: str, header: Header, report: Advance) -> Iterator[Line]:
    """Yield number, text and weight of each line below the header."""
    size = max(path.stat().st_size, 1)
    with path.open("rb") as raw, io.TextIOWrapper(raw, encoding, errors="replace") as file:
        for line, text in enumerate(itertools.islice(file, header.lines, None), header.lines + 1):
            if line % _REPORT_EVERY == 0:
                report(min(raw.tell() / size, 1.0))
            bare = "" if text.lstrip().startswith("%") else text.strip()
            weight = _WEIGHT.search(bare) if header.weight else None
            if weight:
                yield line, bare[: weight.start()].rstrip(), weight[1]
            else:
                yield line, bare, "1"


# ------------------------------------------------------------- sparse rows


def _may_be_sparse(header: Header, kinds: Mapping[str, str]) -> bool:
    """Return whether sparse rows of these attributes can be stored as a matrix.

    Dates are read from text, and so are columns whose kind differs from that of the training table,
    given by ``kinds``.
    """
    own = {a.name: "number" if a.kind == "number" else "text" for a in header.attributes}
    is_as_before = all(kinds.get(name, kind) == kind for name, kind in own.items())
    has_dates = any(a.kind == "date" for a in header.attributes)
    return "number" in own.values() and is_as_before and not has_dates


def _save_sparse(path: Path, lines: Iterable[Line], header: Header, target: Path) -> bool:
    """Write rows such as ``{1 3.5, 4 yes}`` as a matrix; omitted cells are zero or the first level.

    Return whether all rows are sparse, and few of their numbers are not zero. A cell of text is
    stored as the number of its level.
    """
    attributes, names = header.attributes, [*(a.name for a in header.attributes), *header.weight]
    levels = {k: {a.omitted: 0} for k, a in enumerate(attributes) if a.kind != "number"}
    numbers = defaultdict[int, NumberCells](lambda: NumberCells(NumberFormat(), MISSING_NUMBER))
    others: dict[int, tuple[str, int]] = {}
    data, indices, ends = array("d"), array("i"), array("q", [0])
    for line, text, weight in lines:
        if not text:
            continue
        if not text.startswith("{"):
            return False
        cells: dict[int, float] = {}
        for k, cell in _pairs(path, line, text, len(attributes)):
            if k in levels:
                cells[k] = levels[k].setdefault(cell, len(levels[k]))
                continue
            cells[k] = numbers[k].read(cell)
            if np.isinf(cells[k]):
                cells[k] = np.nan
                others.setdefault(k, (cell, line))
        cells |= dict.fromkeys(range(len(attributes), len(names)), float(weight))
        indices.extend(cells)
        data.extend(cells.values())
        ends.append(len(data))
    shape = rows, _ = len(ends) - 1, len(names)
    X = scipy.sparse.csr_array((np.array(data), np.array(indices), np.array(ends)), shape=shape)
    is_number = np.array([k < len(attributes) and k not in levels for k in range(len(names))])
    stored = np.count_nonzero(is_number[X.indices])
    if not rows or stored > MOST_FILLED * rows * is_number.sum():
        return False
    texts = {names[k]: [*map(_level, found)] for k, found in levels.items()}
    unreadable = {
        names[k]: Unreadable(numbers[k].count_others, *first, numbers[k].listed())
        for k, first in others.items()
    }
    about = SparseTable(names, [*header.weight], texts, unreadable=unreadable)
    about.save(target, X.tocsc())
    return True


def _level(cell: str) -> str | None:
    bare = cell.strip(BLANKS)
    return None if bare.lower() in MISSING_TEXT else bare


# ------------------------------------------------------------- syntax


def _read_header(path: Path, file: TextIO) -> Header:
    """Read the header up to ``@data``.

    Raises
    ------
    InputError
        If it is incomplete, or declares an unsupported type.
    """
    header = Header()
    for line in iter(lambda: file.readline(_LONGEST_LINE), ""):
        header.lines += 1
        word, rest = [*line.strip().split(None, 1), "", ""][:2]
        word = word.lower()
        if word == "@attribute":
            header.attributes.append(_attribute(path, header.lines, rest))
        elif word in ("@input", "@inputs", "@output", "@outputs"):
            header.is_keel = True
            if word.startswith("@output"):
                header.outputs = [_bare(name) for name in rest.split(",") if name.strip()]
        elif word.startswith("@data"):
            break
    else:
        raise _wrong(path, header.lines, "the file ends before its @data line; it may be damaged")
    names = Counter(attribute.name for attribute in header.attributes)
    if names.total() < 2:
        raise _wrong(path, header.lines, "fewer than two attributes are declared above @data")
    if twice := next((name for name, count in names.items() if count > 1), None):
        raise _wrong(path, header.lines, f"the attribute {twice!r} is declared twice; rename one")
    return header


def _attribute(path: Path, line: int, rest: str) -> Attribute:
    found = _NAME.match(rest)
    if found is None or not found[2].strip():
        raise _wrong(path, line, "an attribute needs a name and a type")
    name, kind = _bare(found[1]), found[2].strip()
    if kind.startswith("{"):
        inner = kind[1:].rpartition("}")[0] if "'" in kind else kind[1:].partition("}")[0]
        return Attribute(name, "nominal", tuple(_values(inner or kind[1:])))
    word = re.split(r"[\s\[{]", kind.lower(), maxsplit=1)[0]
    if word not in _NUMBERS + _TEXTS:
        raise _wrong(
            path,
            line,
            f"attribute {name!r} has the unsupported type {word!r}; supported are numeric, "
            "integer, real, string, date and lists of levels",
        )
    written = _bare(kind[len(word) :]) if word == "date" else ""
    return Attribute(name, "number" if word in _NUMBERS else word, written=written)


def _pairs(path: Path, line: int, text: str, width: int) -> Iterator[tuple[int, str]]:
    """Yield the attributes, counted from 0, and the cells of a sparse row.

    Raises
    ------
    InputError
        If the closing brace or an attribute is missing.
    """
    if "}" not in text:
        raise _wrong(path, line, "a sparse row has no closing brace; the file may be damaged")
    inner = text[1 : text.rindex("}")]
    is_quoted = "'" in inner or '"' in inner
    for pair in _PAIR.findall(inner) if is_quoted else inner.split(","):
        index, cell = [*pair.split(None, 1), "", ""][:2]
        if not index:
            continue
        if not (index.isascii() and index.isdigit()) or int(index) >= width:
            raise _wrong(path, line, f"there is no attribute number {index!r}")
        yield int(index), _known(_bare(cell) if is_quoted else cell.rstrip())


def _dense(text: str, width: int) -> list[str]:
    """Return the cells of a row."""
    if "'" not in text and '"' not in text:
        separator = "," if "," in text or width == 1 else None
        return [_known(cell.strip()) for cell in text.split(separator)]
    return [_known(cell) for cell in _values(text)]


def _values(text: str) -> Iterator[str]:
    """Yield the cells of a row without quotation marks."""
    place = 0
    while found := _VALUE.match(text, place):
        yield _bare(found[1])
        if not found[2]:
            return
        place = found.end()
    yield text[place:].strip()  # text follows a quotation mark


def _known(cell: str) -> str:
    """Return a cell; empty if it is a mark of a missing value."""
    return "" if cell in _MISSING else cell


def _bare(text: str) -> str:
    """Remove quotation marks and escapes."""
    text = text.strip()
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"":
        return text
    return re.sub(r"\\(.)", lambda found: " " if found[1] in "nrt" else found[1], text[1:-1])


def day_reader(written: str) -> Callable[[str], str]:
    """Return a function that converts dates of a Java SimpleDateFormat pattern to ISO 8601.

    Cells that do not match, and all cells of an unsupported pattern, are unchanged.
    """
    directives = vocabulary.section("java_dates")
    tokens = [found[0] for found in _JAVA.finditer(written)]
    form = "".join(
        directives.get(token, "?") if token.isalpha() else token.strip("'") for token in tokens
    )
    if "".join(tokens) != written or "?" in form:
        return str

    def read(cell: str) -> str:
        try:
            day = datetime.datetime.strptime(cell, form)
        except ValueError:
            return cell
        return day.isoformat(" ") if "%H" in form or "%I" in form else day.date().isoformat()

    return read


def _wrong(path: Path, line: int, what: str) -> InputError:
    """Return the error for an invalid line."""
    return input_error("line_invalid", file=path, line=line, what=what)
