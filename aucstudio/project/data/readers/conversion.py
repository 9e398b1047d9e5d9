"""Convert rows of other formats to delimited text, and choose the part of a file to convert."""

from __future__ import annotations

import csv
import datetime
import itertools
import math
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from aucstudio.notices.words import listed, suggestion
from aucstudio.project.data.columns import spell_number
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.input_files import refuse_columns
from aucstudio.project.data.readers.formats import (
    NAMED_ROWS,
    PARQUET,
    ROWS,
    Advance,
    ReadOptions,
    Written,
)
from aucstudio.project.errors import input_error

# Tables of fewer columns are often settings or lists of codes.
WIDE = 3
_REPORT_EVERY = 5_000
_FREE_BYTES = 200_000_000
_HOUR = 3_600.0
# Most characters of a library's message.
_LONGEST = 200
# What a message says of the copy of a file that is read, and of the statement that reads it.
_OWN = re.compile(r' in file "[^"]*",?|\s+LINE 1: .*', re.S)


def leave_room(folder: Path) -> None:
    """Raise InputError before a disk is full.

    Raises
    ------
    InputError
    """
    if shutil.disk_usage(folder).free < _FREE_BYTES:
        raise input_error("disk_full")


def spell(value: Any) -> str:
    """Return the text of a value in a text file; empty if missing."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return "" if math.isnan(value) else "inf" if math.isinf(value) else spell_number(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.timedelta):
        return spell_number(value.total_seconds() / _HOUR)
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def write_rows(
    target: Path,
    rows: Iterable[Sequence[Any] | None],
    total: int,
    report: Advance,
    *,
    named: bool,
) -> None:
    """Write rows as text; equal values of all formats become equal texts.

    Parameters
    ----------
    target : Path
    rows : iterable of sequences, or None for blank lines
    total : int
        Their number.
    report : callable
    named : bool
        Whether the first row holds the names; otherwise the first rows may be anything, and empty
        rows become blank lines.
    """
    widest = 0
    # Lone surrogates must not end the reading.
    with target.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for count, row in enumerate(rows):
            if count % _REPORT_EVERY == 0:
                leave_room(target.parent)
                report(min(count / max(total, 1), 1.0))
            cells = [*map(spell, row or ())]
            if row is None or not (named or any(cells)):
                file.write("\n")
                continue
            if len(cells) > widest:
                widest = len(cells)
                refuse_columns(target, widest)
            writer.writerow(cells)


def written_part(
    target: Path,
    what: str,
    names: Sequence[str],
    name: str,
    rows: Sequence[Sequence[Any]],
    report: Advance,
) -> Written:
    """Write the rows of the part ``name`` of several as text; see :func:`pick_part`."""
    write_rows(target, rows, len(rows), lambda share: report(0.5 + 0.5 * share), named=False)
    return Written(
        known=dict(ROWS),
        remarks=tuple(about_parts(what, name, names)),
        part=name,
        parts=tuple(names),
    )


def typed_rows(*remarks: Finding, **more: Any) -> Written:
    """Return the result of a conversion to Parquet; ``texts`` is None if all texts are declared."""
    known = dict(NAMED_ROWS)
    if more.get("texts", ()) is None:
        known["strict"] = False  # there is no row that cannot be read
    return Written(PARQUET, known=known, remarks=remarks, **more)


def pick_part(
    path: Path,
    what: str,
    names: Sequence[str],
    options: ReadOptions,
    is_table: Callable[[str], bool],
    is_aside: Callable[[str], bool] = lambda _name: False,
) -> str:
    """Choose a part of a file: the requested one, that of the training table, or the first table.

    Parameters
    ----------
    path : Path
    what : str
        "sheet", "table" or "member".
    names : sequence of str
        All parts.
    options : ReadOptions
    is_table : callable
        Returns whether the part of a name is a table.
    is_aside : callable
        Returns whether a table is unlikely to be the data; it is chosen only if there is no other.

    Raises
    ------
    InputError
        If there is no such part, or no part is a table.
    """
    if options.part and options.part not in names:
        raise input_error(
            "part_unknown",
            file=path,
            what=what,
            part=options.part,
            parts=listed([*map(repr, names)]) or "none",
            hint=suggestion(options.part, names),
        )
    for wanted in (options.part, options.usual):
        if wanted in names:
            return wanted
    tables = filter(is_table, names)
    chosen = next(tables, None)
    if chosen is None:
        raise input_error("parts_without_table", file=path, what=what)
    return next(itertools.filterfalse(is_aside, itertools.chain([chosen], tables)), chosen)


def holds_table(rows: Sequence[Sequence[Any]]) -> bool:
    """Return whether at least two rows have at least two cells."""
    return sum(sum(map(bool, row)) > 1 for row in rows) > 1


def about_parts(what: str, part: str, parts: Sequence[str]) -> list[Finding]:
    """Return a remark on the part that was read, if there are several."""
    others = [name for name in parts if name != part]
    if not others:
        return []
    names = first_parts(others)
    return [found("format_part", what=what, part=part, count=len(others), others=names)]


def first_parts(names: Iterable[str]) -> str:
    """Return the first names, quoted."""
    return listed([*map(repr, names)], 5)


def brief(reason: str) -> str:
    """Shorten the message of a library to one line, without its own file and statement."""
    line = " ".join(_OWN.sub("", reason).split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"
