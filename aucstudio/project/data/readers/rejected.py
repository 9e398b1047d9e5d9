"""Write the rows of a text file that were left out, with the reasons."""

from __future__ import annotations

import csv
import dataclasses
import itertools
from pathlib import Path

from aucstudio.project import scratch
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.readers.reading import make_plain, naming
from aucstudio.project.data.text.contents import Source
from aucstudio.project.data.text.delimited import open_delimited
from aucstudio.project.data.text.rows import walk_rows
from aucstudio.project.errors import input_error


def write_rejected(table: AnyTable, target: str | Path) -> int:
    """Write the rejected rows as CSV: line, reason and text.

    Parameters
    ----------
    table : AnyTable
        A table of a text file, packed or not, which is read again.
    target : str or Path

    Returns
    -------
    int
        The number of rows that were written.

    Raises
    ------
    InputError
        If the file is missing or no text file, or ``target`` cannot be written.
    """
    if table.format != "csv":
        raise input_error("rejected_not_text", file=table.path)
    with scratch.folder() as folder:
        source = _opened_again(table, folder)
        reasons = {row.line: row.reason for row in walk_rows(source) if row.reason}
        try:
            _write_lines(source, reasons, Path(target))
        except OSError as error:
            raise input_error("not_written", file=target, reason=error.strerror) from error
    return len(reasons)


def _opened_again(table: AnyTable, folder: Path) -> Source:
    """Unpack the file and detect the layout again; if it differs, read with the stored dialect.

    A container is only removed if the delimiter is not given.
    """
    given = {f.name: getattr(table.dialect, f.name) for f in dataclasses.fields(table.dialect)}
    member = given.pop("sheet")
    chosen = {name: value for name, value in given.items() if name in table.chosen}
    if member:
        chosen["sheet"] = member
    plain = make_plain(table.path, chosen, folder, _ignore, None)
    with naming(plain):
        source = open_delimited(plain.path, plain.given, folder, _ignore)
        if dataclasses.replace(source.dialect, sheet=member) == table.dialect:
            return source
        return open_delimited(plain.path, given, folder, _ignore)


def _ignore(_share: float, _what: str) -> None:
    """Report no progress."""


def _write_lines(source: Source, reasons: dict[int, str], target: Path) -> None:
    last = max(reasons, default=0)
    with (
        source.path.open(encoding="utf-8-sig", newline="\n") as file,
        target.open("w", encoding="utf-8", newline="") as written,
    ):
        writer = csv.writer(written, lineterminator="\n")
        writer.writerow(["line", "reason", "text"])
        for number, line in enumerate(itertools.islice(file, last), 1):
            if number in reasons:
                writer.writerow([number, reasons[number], line.rstrip("\r\n")])
