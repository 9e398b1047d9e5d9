"""ARFF files of Weka, and those of KEEL, whose inputs and outputs are told apart."""

from __future__ import annotations

import dataclasses
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from aucstudio.project.data.readers.format import NAMED_ROWS, Advance, Format, Wish, Written
from aucstudio.project.data.readers.rows import RowWriter
from aucstudio.project.errors import InputError

_TELL_EVERY = 5_000
_LONGEST_LINE = 10_000_000
_NUMBERS = {"numeric", "real", "integer"}
_TEXTS = {"string", "date"}
# A name or value in either quotation mark, or what reaches to the next separator.
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_NAME = re.compile(rf"\s*({_QUOTED}|[^\s{{\[]+)\s*(.*)", re.DOTALL)
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,]*)\s*(,|$)")
_MISSING = {"?", "<null>"}
_ESCAPES = {"n": "\n", "r": "\n", "t": "\t"}


@dataclasses.dataclass(frozen=True)
class Attribute:
    """A column as the header declares it; ``levels`` are those of a nominal one, else None."""

    name: str
    kind: str
    levels: tuple[str, ...] | None = None


@dataclasses.dataclass
class Header:
    """What stands above the data.

    Attributes
    ----------
    attributes : list of Attribute
    outputs : list of str
        What KEEL says is to be learnt.
    is_keel : bool
    lines : int
        Including that of ``@data``.
    """

    attributes: list[Attribute] = dataclasses.field(default_factory=list)
    outputs: list[str] = dataclasses.field(default_factory=list)
    is_keel: bool = False
    lines: int = 0


def _write(path: Path, target: Path, wish: Wish, tell: Advance) -> Written:
    size = max(path.stat().st_size, 1)
    encoding = wish.encoding or _encoding(path)
    with path.open("rb") as raw, RowWriter(target) as out:
        file = io.TextIOWrapper(raw, encoding, errors="replace")
        header = _read_header(path, file)
        weight = _weight_name(path, header)
        # Each row keeps its line, by which messages name it.
        out.blank(header.lines - 1)
        out.add([*(attribute.name for attribute in header.attributes), *weight])
        rows = 0
        for line, cells in _rows(path, file, header, weighted=bool(weight)):
            if cells is None:
                out.blank()
            else:
                out.add_data(cells)
                rows += 1
            if line % _TELL_EVERY == 0:
                tell(min(raw.tell() / size, 1.0))
    if not rows:
        raise InputError(f"{path} has no rows below @data; choose a file with data", file=str(path))
    return Written(
        known={**NAMED_ROWS, "skip": header.lines - 1},
        texts=tuple(a.name for a in header.attributes if a.kind in ("nominal", "string")),
        roles=_roles(header) | dict.fromkeys(weight, "weight"),
    )


def _weight_name(path: Path, header: Header) -> tuple[str, ...]:
    """Name the column of weights, where rows end in them; Weka writes them in braces."""
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
            for chunk in iter(lambda: file.readline(1 << 20), b""):
                chunk.decode("utf-8")
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8-sig"


def _roles(header: Header) -> dict[str, str]:
    """Name the label: KEEL says it, and ARFF has it last by custom."""
    if len(header.outputs) == 1 and header.outputs[0] in {a.name for a in header.attributes}:
        return {header.outputs[0]: "label"}
    last = header.attributes[-1]
    return {last.name: "label"} if last.levels is not None and not header.is_keel else {}


def _read_header(path: Path, file: TextIO) -> Header:
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
                header.outputs = [_bare(name) for name in rest.split(",") if name.strip()]
        elif word.startswith("@data"):
            break
    else:
        raise _wrong(path, header.lines, "the file ends before its @data line; it may be damaged")
    names = [attribute.name for attribute in header.attributes]
    if len(names) < 2:
        raise _wrong(path, header.lines, "fewer than two attributes are declared above @data")
    if len(set(names)) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise _wrong(path, header.lines, f"the attribute {twice!r} is declared twice; rename one")
    return header


def _attribute(path: Path, line: int, rest: str) -> Attribute:
    found = _NAME.match(rest)
    if found is None or not found[2].strip():
        raise _wrong(path, line, "an attribute needs a name and a type")
    name, kind = _bare(found[1]), found[2].strip()
    if kind.startswith("{"):
        levels = tuple(_values(kind[1:].partition("}")[0] if "'" not in kind else _inner(kind)))
        return Attribute(name, "nominal", levels)
    word = re.split(r"[\s\[{]", kind.lower(), maxsplit=1)[0]
    if word not in _NUMBERS | _TEXTS:
        raise _wrong(
            path,
            line,
            f"attribute {name!r} has the type {word!r}, which is not read; "
            "there are numeric, integer, real, string, date and lists of levels",
        )
    return Attribute(name, "number" if word in _NUMBERS else word)


def _inner(kind: str) -> str:
    return kind[1 : kind.rindex("}")] if "}" in kind else kind[1:]


def _rows(
    path: Path, file: TextIO, header: Header, *, weighted: bool
) -> Iterator[tuple[int, list[str] | None]]:
    """Give each line with its cells, the weight last; None for one that is blank or a comment."""
    for line, text in enumerate(file, header.lines + 1):
        bare = text.strip()
        if not bare or bare.startswith("%"):
            yield line, None
            continue
        weight = _WEIGHT.search(bare) if weighted else None
        if weight:
            bare = bare[: weight.start()].rstrip()
        if bare.startswith("{"):
            cells = _sparse(path, line, bare, header)
        else:
            cells = _dense(bare, len(header.attributes))
        yield line, [*cells, weight[1] if weight else "1"] if weighted else cells


def _dense(text: str, width: int) -> list[str]:
    if "'" not in text and '"' not in text:
        separator = "," if "," in text or width == 1 else None
        return [_known(cell.strip()) for cell in text.split(separator)]
    return [_known(cell) for cell in _values(text)]


def _sparse(path: Path, line: int, text: str, header: Header) -> list[str]:
    """Read ``{1 3.5, 4 yes}``: what is not given is zero, or the first level."""
    cells = ["0" if not a.levels else a.levels[0] for a in header.attributes]
    inner = text[1 : text.rindex("}")] if "}" in text else None
    if inner is None:
        raise _wrong(path, line, "a sparse row has no closing brace; the file may be damaged")
    for pair in re.findall(rf"[^,'\"]*(?:{_QUOTED})?[^,]*", inner):
        index, _, value = pair.strip().replace("\t", " ").partition(" ")
        if not pair.strip():
            continue
        if not (index.isascii() and index.isdigit()) or int(index) >= len(cells):
            raise _wrong(path, line, f"there is no attribute number {index!r}")
        cells[int(index)] = _known(_bare(value.strip()))
    return cells


def _values(text: str) -> Iterable[str]:
    place = 0
    while True:
        found = _VALUE.match(text, place)
        if found is None:  # text follows a quotation mark
            yield text[place:].strip()
            return
        yield _bare(found[1].strip())
        if not found[2]:
            return
        place = found.end()


def _known(cell: str) -> str:
    return "" if cell in _MISSING else cell


def _bare(text: str) -> str:
    """Take quotation marks and escapes away."""
    text = text.strip()
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"":
        return text
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1]).replace(
        "\n", " "
    )


def _wrong(path: Path, line: int, what: str) -> InputError:
    return InputError(f"{path}, line {line}: {what}", file=str(path), line=line)


_WEIGHT = re.compile(r"[,\s]\s*\{\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*\}\s*$")
_RELATION = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:%[^\r\n]*)?[\r\n]+)*[ \t]*@relation\b", re.I)
_ATTRIBUTES = re.compile(rb"^[ \t]*@(?:input|output)s?\b", re.I | re.M)


def _is_arff(path: Path, head: bytes) -> bool:
    if _RELATION.match(head):
        return True
    # A long comment may stand above.
    return path.suffix.lower() == ".arff" and head.lstrip().startswith(b"%")


def _is_keel(path: Path, head: bytes) -> bool:
    return _is_arff(path, head) and _ATTRIBUTES.search(head) is not None


def _format(key: str, title: str, plural: str, endings: tuple[str, ...], keel: bool) -> Format:
    return Format(
        key=key,
        title=title,
        plural=plural,
        endings=endings,
        recognises=_is_keel if keel else _is_arff,
        write=_write,
        encodings=True,
    )


FORMATS = (
    _format("keel", "a KEEL file", "ARFF and KEEL files", (".keel", ".dat"), True),
    _format("arff", "an ARFF file", "ARFF and KEEL files", (".arff",), False),
)
