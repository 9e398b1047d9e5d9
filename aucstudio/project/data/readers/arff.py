"""ARFF files of Weka and KEEL."""

from __future__ import annotations

import functools
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.readers.arff_syntax import (
    Header,
    day_reader,
    known,
    pairs,
    read_header,
    values,
)
from aucstudio.project.data.readers.format import (
    MATRIX,
    NAMED_ROWS,
    Advance,
    ReadOptions,
    Written,
)
from aucstudio.project.data.readers.rows import RowWriter, first_parts
from aucstudio.project.data.roles import is_sure
from aucstudio.project.errors import input_error

if TYPE_CHECKING:
    from aucstudio.project.data.readers.arff_sparse import Gathering

_REPORT_EVERY = 5_000
_REMEMBERED = 100_000


def write(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    from aucstudio.project.data.readers.arff_sparse import Gathering

    encoding = options.encoding or _encoding(path)
    with path.open(encoding=encoding, errors="replace") as file:
        header = read_header(path, file)
    weight = _weight_name(path, header)
    roles = _roles(header) | dict.fromkeys(weight, "weight")
    if Gathering.takes(header, options.kinds):
        gathering = Gathering(header, weight)
        if _gather(path, encoding, header, gathering, report) and gathering.is_sparse:
            gathering.file().save(target)
            return Written(MATRIX, roles=roles)
    undeclared = _write_rows(path, encoding, header, weight, target, options, report)
    return Written(
        known={**NAMED_ROWS, "skip": header.lines - 1},
        remarks=() if options.kinds else tuple(_about_levels(undeclared)),
        texts=tuple(a.name for a in header.attributes if a.kind in ("nominal", "string")),
        roles=roles,
    )


def _gather(
    path: Path, encoding: str, header: Header, gathering: Gathering, report: Advance
) -> bool:
    """Gather sparse rows; return False at the first dense row."""
    width = len(header.attributes)
    for line, text, weight in _lines(path, encoding, header, bool(gathering.weight), report):
        if not text.startswith("{"):
            if text:
                return False
            continue
        gathering.add(line, pairs(path, line, text, width), weight)
    return True


def _write_rows(
    path: Path,
    encoding: str,
    header: Header,
    weight: tuple[str, ...],
    target: Path,
    options: ReadOptions,
    report: Advance,
) -> dict[str, Counter[str]]:
    """Write the rows as text; return undeclared levels by column."""
    rows, width = 0, len(header.attributes)
    levels = {k: {*a.levels, ""} for k, a in enumerate(header.attributes) if a.levels}
    days = {
        k: functools.lru_cache(_REMEMBERED)(day_reader(a.written))
        for k, a in enumerate(header.attributes)
        if a.written and options.kinds.get(a.name) != "text"
    }
    undeclared: dict[str, Counter[str]] = {}
    with RowWriter(target) as out:
        # Each row keeps its line number, which messages contain.
        out.blank(header.lines - 1)
        out.add([*(attribute.name for attribute in header.attributes), *weight])
        for line, text, own in _lines(path, encoding, header, bool(weight), report):
            if not text:
                out.blank()
                continue
            cells = _dense(text, width)
            if text.startswith("{"):
                cells = ["0" if not a.levels else a.levels[0] for a in header.attributes]
                for k, cell in pairs(path, line, text, width):
                    cells[k] = cell
            for k in days:
                cells[k : k + 1] = map(days[k], cells[k : k + 1])
            for k in levels:
                if k < len(cells) and cells[k] not in levels[k]:
                    undeclared.setdefault(header.attributes[k].name, Counter())[cells[k]] += 1
            out.add_data([*cells, own] if weight else cells)
            rows += 1
    if not rows:
        raise input_error("no_rows_below_data", file=path)
    return undeclared


def _about_levels(undeclared: Mapping[str, Counter[str]]) -> Iterator[Finding]:
    for name, counted in undeclared.items():
        yield found("format_undeclared_levels", name, levels=first_parts(counted))


def _weight_name(path: Path, header: Header) -> tuple[str, ...]:
    """Return the name of the weight column if rows end with a weight in braces, as in Weka."""
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
    """Return the label: KEEL declares it, in ARFF it is last by convention."""
    if len(header.outputs) == 1 and header.outputs[0] in {a.name for a in header.attributes}:
        return {header.outputs[0]: "label"}
    *others, last = header.attributes
    if last.levels is None or header.is_keel:
        return {}
    named = any(one.levels is not None and is_sure(one.name) for one in others)
    return {} if named and not is_sure(last.name) else {last.name: "label"}


def _lines(
    path: Path, encoding: str, header: Header, weighted: bool, report: Advance
) -> Iterator[tuple[int, str, str]]:
    """Yield number, text and weight of each line; the text of blank lines and comments is empty."""
    size = max(path.stat().st_size, 1)
    with path.open("rb") as raw, io.TextIOWrapper(raw, encoding, errors="replace") as file:
        for _ in range(header.lines):
            file.readline()
        for line, text in enumerate(file, header.lines + 1):
            if line % _REPORT_EVERY == 0:
                report(min(raw.tell() / size, 1.0))
            bare = text.strip()
            if bare.startswith("%"):
                bare = ""
            weight = _WEIGHT.search(bare) if weighted else None
            if weight:
                bare = bare[: weight.start()].rstrip()
            yield line, bare, weight[1] if weight else "1"


def _dense(text: str, width: int) -> list[str]:
    if "'" not in text and '"' not in text:
        separator = "," if "," in text or width == 1 else None
        return [known(cell.strip()) for cell in text.split(separator)]
    return [known(cell) for cell in values(text)]


_WEIGHT = re.compile(r"[,\s]\s*\{\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*\}\s*$")
