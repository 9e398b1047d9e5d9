"""Check project, model and experiment files, and recover a damaged project into a new one."""

from __future__ import annotations

import contextlib
import dataclasses
import mmap
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aucstudio.notices.words import runs_words
from aucstudio.project import scratch
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.experiment_file import check_document
from aucstudio.project.runs.record import DONE, STOPPED, RunRecord, SplitResult
from aucstudio.project.scratch import BoundedCache
from aucstudio.project.store.model_file import load_model
from aucstudio.project.store.project.contents import Listing, read_contents, update_contents
from aucstudio.project.store.project.database import (
    FAILURES,
    ProjectSource,
    checksum,
    empty_project,
    parse,
)
from aucstudio.project.store.project.project_file import write_project
from aucstudio.project.store.project.run_documents import read_split, read_through

PROJECT, MODEL, EXPERIMENT = "project", "model", "experiment"
_KINDS = {".aucproj": PROJECT, ".aucmodel": MODEL, ".toml": EXPERIMENT}
_MOST_COMPLAINTS = 5
_KEPT_BYTES = 64 << 20


@dataclasses.dataclass(frozen=True)
class Repaired:
    """What a repair saved.

    Attributes
    ----------
    file : str
        The new project.
    runs : int
        In it, whole or with the splits that are.
    lost : tuple of str
        What could not be saved.
    """

    file: str
    runs: int
    lost: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Checked:
    """What a check found.

    Attributes
    ----------
    file : str
    kind : {"project", "model", "experiment"}
    problems : tuple of str
        One sentence each; none where the file is whole.
    runs : int or None
        Of a project: how many are whole.
    repaired : Repaired or None
    """

    file: str
    kind: str
    problems: tuple[str, ...]
    runs: int | None = None
    repaired: Repaired | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {"whole": not self.problems, **dataclasses.asdict(self)}

    def describe(self) -> str:
        """Return the outcome as text, one line per problem."""
        lines = [f"{self.file}: {problem}" for problem in self.problems]
        if not lines:
            runs = "" if self.runs is None else f" with {runs_words(self.runs)}"
            lines = [f"{self.file}: an intact {self.kind}{runs}"]
        if self.repaired is not None:
            lines += [f"not saved: {lost}" for lost in self.repaired.lost]
            lines.append(f"{self.repaired.file}: {runs_words(self.repaired.runs)} saved")
        return "\n".join(lines)


def check_file(
    path: str | Path, *, repair: bool = False, target: str | Path | None = None
) -> Checked:
    """Read everything in a file and return its problems.

    Parameters
    ----------
    repair : bool
        Whether to write what can be read of a damaged project into a new one.
    target : str or Path, optional
        The new project; see :func:`repair_project`.

    Raises
    ------
    InputError
        If there is no such file, its name does not say that it is one of ours, or it cannot be
        repaired.
    """
    path = Path(path)
    kind = _KINDS.get(path.suffix)
    if not path.is_file():
        raise input_error("file_absent", file=path)
    if kind is None:
        raise input_error("check_impossible", file=path, endings=", ".join(_KINDS))
    if repair and kind != PROJECT:
        raise input_error("repair_impossible", file=path, kind=kind)
    problems, runs = list[str](), 0 if kind == PROJECT else None
    try:
        if kind == PROJECT:
            problems, runs = _problems_of(path)
        elif kind == MODEL:
            load_model(path)
        else:
            check_document(path)
    except InputError as error:
        problems = [str(error)]
    repaired = repair_project(path, target) if repair and problems else None
    return Checked(str(path), kind, tuple(problems), runs, repaired)


def _problems_of(path: Path) -> tuple[list[str], int]:
    """Return the problems of a project that opens, and the number of whole runs."""
    # What an earlier reading found does not count.
    with contextlib.closing(ProjectSource(path, BoundedCache(_KEPT_BYTES))) as source:
        contents = read_contents(source)
        problems, whole = _faults(contents), 0
        for record in contents.records:
            try:
                read_through(record)
                whole += 1
            except InputError as error:
                problems.append(str(error))
        with source.reading() as database:
            try:
                found = database.execute(f"PRAGMA quick_check({_MOST_COMPLAINTS})").fetchall()
            except FAILURES as error:
                found = [(str(error),)]
    complaints = [" ".join(str(row[0]).split()) for row in found if row[0] != "ok"]
    return problems + [f"the database is damaged: {words}" for words in complaints], whole


def _faults(contents: Listing) -> list[str]:
    return [f"{run.title}: {run.what}" for run in contents.damaged] + contents.notes


# ----------------------------------------------------------------- repair


def repair_project(path: str | Path, target: str | Path | None = None) -> Repaired:
    """Write what can be read of a project into a new one; the damaged file is left as it is.

    Parameters
    ----------
    target : str or Path, optional
        Must not exist; by default beside the project, as NAME.repaired.aucproj.

    Raises
    ------
    InputError
    """
    path = Path(path)
    target = path.with_suffix(".repaired.aucproj") if target is None else Path(target)
    if target.exists():
        raise input_error("file_exists", file=target)
    with scratch.folder() as folder:
        try:
            count = _recover(path, folder / path.name)
        except (OSError, ValueError) as error:
            raise input_error("file_unreadable", file=path, reason=error) from error
        source = ProjectSource(folder / path.name, BoundedCache(_KEPT_BYTES))
        source.path = path
        with contextlib.closing(source):
            contents = read_contents(source)
            if not count or not (contents.records or contents.plan_version):
                raise input_error("nothing_to_repair", file=path)
            lost = _faults(contents)
            runs = {run.id: run for run in (_readable(r, lost) for r in contents.records)}
            verified = [one for run, one in contents.verifications.items() if run in runs]
            write_project(target, runs.values(), contents.plan, verified, contents.standings)
    return Repaired(str(target), len(runs), tuple(lost))


def _readable(record: RunRecord, lost: list[str]) -> RunRecord:
    """Return a run with the splits that can be read, and note the others."""
    splits = [split for split in (_whole(split, lost) for split in record.splits) if split]
    is_whole = len(splits) == len(record.splits) or record.status != DONE
    status = record.status if is_whole else STOPPED
    return dataclasses.replace(record, splits=tuple(splits), status=status)


def _whole(split: SplitResult, lost: list[str]) -> SplitResult | None:
    """Return a split that can be read, without its trajectory if that is damaged."""
    try:
        read_split(split)
        return split
    except InputError as error:
        lost.append(str(error))
    try:
        return dataclasses.replace(split, trajectory=None)
    except InputError:
        return None


_INSERT: dict[tuple[Any, ...], str] = {
    (None, str, bytes, bytes): "records VALUES (?, ?, ?, ?)",
    (str, bytes, bytes): "documents VALUES (?, ?, ?)",
    (bytes, bytes): "blobs VALUES (?, ?)",
}


def _recover(path: Path, target: Path) -> int:
    """Write a database with all rows that a damaged file still holds, and count them."""
    target.write_bytes(empty_project())
    count = newest = 0
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages,
        contextlib.closing(sqlite3.connect(target)) as database,
        database,
    ):
        for number, row in _rows(pages):
            table = _INSERT.get(tuple(None if value is None else type(value) for value in row))
            if table is None or row[0] == "contents":
                continue
            is_whole = _is_whole(number, row)
            if row[0] == "plan" and is_whole:
                # Free pages may hold earlier ones.
                version = parse(row[1])["version"]
                is_whole, newest = version >= newest, max(version, newest)
            # A row that is damaged is reported, where there is no other in its place.
            values = (number, *row[1:]) if row[0] is None else row
            action = "REPLACE" if is_whole else "IGNORE"
            count += database.execute(f"INSERT OR {action} INTO {table}", values).rowcount
        update_contents(database)
    return count


def _is_whole(number: int, row: tuple[Any, ...]) -> bool:
    if len(row) == 2:
        return bool(checksum(row[1]) == row[0])
    place = ("record", number, row[1]) if row[0] is None else row[0].split(" ", 1)
    return bool(checksum(row[-2], *place) == row[-1])


# ----------------------------------------------------------------- pages of SQLite

Pages = bytes | mmap.mmap
Value = int | str | bytes | float | None
_PAGE = 4096  # of every project that this program has written
_LEAF, _HEADER = 0x0D, 100
_MOST_CELLS, _MOST_COLUMNS = _PAGE // 4, 8
_WIDTHS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}  # of the types that are integers


def _rows(file: Pages) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield every row of a table that can be read, with its number.

    Source: Database File Format, sqlite.org/fileformat.html, sections 1.6 and 2.1.
    """
    for start in range(0, len(file) - _PAGE + 1, _PAGE):
        page = file[start : start + _PAGE]
        head = _HEADER if start == 0 else 0
        if page[head] != _LEAF:
            continue
        count = min(int.from_bytes(page[head + 3 : head + 5], "big"), _MOST_CELLS)
        for place in struct.unpack(f">{count}H", page[head + 8 : head + 8 + 2 * count]):
            # A cell that is no row, or not a whole one, is left out.
            with contextlib.suppress(ValueError, IndexError):
                size, at = _varint(page, place)
                number, at = _varint(page, at)
                yield number, _record(_payload(file, page, at, size))


def _payload(file: Pages, page: bytes, place: int, size: int) -> bytes:
    """Put the bytes of a row together, which long ones have on pages of their own."""
    most, least = _PAGE - 35, (_PAGE - 12) * 32 // 255 - 23
    local = size
    if size > most:
        local = least + (size - least) % (_PAGE - 4)
        local = local if local <= most else least
    if size > len(file) or place + local > _PAGE:
        raise ValueError("beyond its page or file")
    parts, rest = [page[place : place + local]], size - local
    following = int.from_bytes(page[place + local : place + local + 4], "big")
    while rest > 0:
        start = (following - 1) * _PAGE
        if start < 0 or start + _PAGE > len(file):
            raise ValueError("a page is missing")
        parts.append(file[start + 4 : start + 4 + min(rest, _PAGE - 4)])
        following, rest = int.from_bytes(file[start : start + 4], "big"), rest - len(parts[-1])
    return b"".join(parts)


def _record(payload: bytes) -> tuple[Value, ...]:
    end, place = _varint(payload, 0)
    values: list[Value] = []
    at = end
    while place < end:
        kind, place = _varint(payload, place)
        width = _WIDTHS.get(kind, (kind - 12) // 2)
        if width < 0 or at + width > len(payload) or len(values) == _MOST_COLUMNS:
            raise ValueError("no row of ours")
        data = payload[at : at + width]
        if kind == 0:
            values.append(None)
        elif kind in _WIDTHS:
            values.append(int.from_bytes(data, "big", signed=True))
        else:
            values.append(data.decode(errors="replace") if kind % 2 else data)
        at += width
    return tuple(values)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for _ in range(8):
        byte = data[place]
        place += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place
    return value << 8 | data[place], place + 1
