"""CSV for spreadsheets: full digits, and no cell that runs as a formula."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

# A spreadsheet takes text that begins so for a formula, which may call programs or send cells.
_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Writable(Protocol):
    """What text can be written to."""

    def write(self, text: str, /) -> Any:
        """Write it."""


def write_rows(target: Writable, rows: Iterable[Iterable[object]], delimiter: str = ",") -> None:
    """Write rows of numbers and text as CSV.

    Numbers read back to what they are; None and NaN are empty. Text that a spreadsheet would run
    as a formula begins with an apostrophe; text that is a number, such as -1, does not.
    """
    writer = csv.writer(_Lines(target), delimiter=delimiter, lineterminator="\r\n")
    writer.writerows([_cell(value) for value in row] for row in rows)


class _Lines:
    """Ends rows plainly; that the writer ends them with both makes it quote both inside cells."""

    def __init__(self, target: Writable) -> None:
        self._target = target

    def write(self, row: str) -> None:
        self._target.write(f"{row[:-2]}\n")


def _cell(value: object) -> object:
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or plain != plain:
        return ""
    if isinstance(plain, float):
        return repr(plain)
    if isinstance(plain, str) and _FORMULA.match(plain) and not _NUMBER.fullmatch(plain):
        return f"'{plain}"
    return plain
