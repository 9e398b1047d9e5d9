"""Write typed rows as delimited text."""

from __future__ import annotations

import csv
import datetime
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aucstudio.project.data.columns import spell_number
from aucstudio.project.errors import input_error
from aucstudio.project.inputs import refuse_columns

_LOOK_EVERY = 10_000
_FREE_BYTES = 200_000_000
_HOUR = 3_600.0
# Most characters of a library's message.
_LONGEST = 200
# Three digits after a comma are ambiguous.
_WRITTEN = re.compile(
    r"\s*(?:(?P<share>[+-]?[0-9]{1,9}(?:[.,][0-9]{1,15})?)\s*%"
    r"|(?P<number>[+-]?(?:[0-9]{1,3}(?:[.][0-9]{3})+|[0-9]{1,9}),(?![0-9]{3}\s*$)[0-9]{1,15})\s*)"
)


class RowWriter:
    """Writes rows; a context manager. Equal values of all formats become equal texts.

    Parameters
    ----------
    target : Path
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        # Lone surrogates must not end the reading.
        self._file = target.open("w", encoding="utf-8", errors="replace", newline="")
        self._writer = csv.writer(self._file, lineterminator="\n")
        self._rows = self._widest = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, cells: Sequence[Any]) -> None:
        """Write a row; an empty one becomes a blank line."""
        spelled = list(map(spell, cells))
        if any(spelled):
            self._write(spelled)
        else:
            self.blank()

    def add_data(self, cells: Sequence[Any]) -> None:
        """Write a data row, even an empty one."""
        self._write(list(map(spell, cells)))

    def _write(self, spelled: list[str]) -> None:
        if len(spelled) > self._widest:
            self._widest = len(spelled)
            refuse_columns(self._target, self._widest)
        self._writer.writerow(spelled)
        self._rows += 1
        if self._rows % _LOOK_EVERY == 0:
            leave_room(self._target.parent)

    def blank(self, lines: int = 1) -> None:
        """Write blank lines."""
        self._file.write("\n" * lines)


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
        return "" if value != value else spell_number(value) if abs(value) < 1e308 * 10 else "inf"
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.timedelta):
        return spell_number(value.total_seconds() / _HOUR)
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def same_times(rows: Sequence[list[Any]]) -> None:
    """Add the time 00:00 to dates in columns whose other cells have a time."""
    timed = {k for row in rows for k, cell in enumerate(row) if isinstance(cell, datetime.datetime)}
    for row in rows if timed else ():
        for k in timed:
            if k < len(row) and type(row[k]) is datetime.date:
                row[k] = datetime.datetime.combine(row[k], datetime.time())


def same_numbers(rows: Sequence[list[Any]]) -> None:
    """Read numbers stored as text in columns of numbers: per cent and decimal commas."""
    found = [
        (k, row, match)
        for row in rows
        for k, cell in enumerate(row)
        if isinstance(cell, str)
        and ("%" in cell or "," in cell)
        and (match := _WRITTEN.fullmatch(cell))
    ]
    numbers = {
        k: [row[k] for row in rows if k < len(row) and type(row[k]) in (int, float)]
        for k in {k for k, _, _ in found}
    }
    for k, row, match in found:
        share, number = match["share"], match["number"]
        if share and numbers[k] and max(map(abs, numbers[k])) <= 1:
            row[k] = float(share.replace(",", ".")) / 100
        elif number and 2 * len(numbers[k]) > len(rows):
            row[k] = float(number.replace(".", "").replace(",", "."))


def first_parts(names: Iterable[str], most: int = 5) -> str:
    """Return the first names, quoted."""
    listed = [repr(name) for name in names]
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def brief(reason: str) -> str:
    """Shorten the message of a library to one line."""
    line = " ".join(reason.split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"
