"""Check and repair project, model and experiment files."""

from __future__ import annotations

import dataclasses
import mmap
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aucstudio.engine import DECLARED
from aucstudio.notices.words import runs_words
from aucstudio.project.bounded_cache import BoundedCache
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment_file import check_document
from aucstudio.project.runs.record import DONE, STOPPED, RunRecord
from aucstudio.project.store.files import cannot_write, creating
from aucstudio.project.store.model_file import load_model
from aucstudio.project.store.project.database import (
    FAILURES,
    SIZE,
    ProjectSource,
    checksum,
    empty_project,
    seal,
    unseal,
    write_contents,
)
from aucstudio.project.store.project.project_file import (
    STANDINGS,
    VERIFICATION,
    insert_document,
    read_contents,
    read_through,
)
from aucstudio.project.store.project.run_documents import required

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
        raise InputError(f"there is no file {path}: check the name", file=str(path))
    if kind is None:
        raise InputError(f"{path} cannot be checked: " + ", ".join(_KINDS), file=str(path))
    if repair and kind != PROJECT:
        raise InputError(f"a damaged {kind} cannot be repaired: create it again", file=str(path))
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
        raise InputError(f"{target} exists already: choose another name with -o", file=str(target))
    found = salvage(path)
    try:
        with creating(target) as partial:
            write_salvage(found, partial)
    except FileExistsError as error:
        raise InputError(f"{target} exists already", file=str(target)) from error
    except OSError as error:
        raise cannot_write(target, error) from error
    except sqlite3.Error as error:
        raise InputError(f"cannot write {target}: {error}", file=str(target)) from error
    lost = (*found.lost, *_problems_of(target)[0])
    return Repaired(str(target), len(found.runs), lost)


def _problems_of(path: Path) -> tuple[list[str], int]:
    """Return the problems of a project that opens, and the number of whole runs."""
    source = ProjectSource(
        path, BoundedCache(_KEPT_BYTES)
    )  # what an earlier reading found does not count
    contents = read_contents(source)
    problems = [f"{run.title}: {run.what}" for run in contents.damaged] + contents.notes
    broken = [problem for record in contents.records if (problem := _problem_of(record))]
    with source.reading() as database:
        try:
            found = database.execute(f"PRAGMA quick_check({_MOST_COMPLAINTS})").fetchall()
        except FAILURES as error:
            found = [(str(error),)]
    source.close()
    complaints = [" ".join(str(row[0]).split()) for row in found if row[0] != "ok"]
    problems += broken + [f"the database is damaged: {text}" for text in complaints]
    return problems, len(contents.records) - len(broken)


def _problem_of(record: RunRecord) -> str:
    try:
        read_through(record)
    except InputError as error:
        return str(error)
    return ""


Run = dict[str, Any]


def salvage(path: Path) -> Salvage:
    """Find what can be read of a project, whatever is wrong with it.

    Raises
    ------
    InputError
        If there is nothing of a project in the file.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
            found = Salvage()
            for number, row in rows(held):  # type: ignore[arg-type]
                found.take(number, row)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}", file=str(path)) from error
    if not found.runs and not found.plan_version:
        raise InputError(f"{path} has no project data that could be saved", file=str(path))
    found.leave_out_incomplete()
    return found


def write_salvage(found: Salvage, path: Path) -> None:
    """Write a project of what was found; ``path`` must not exist.

    Raises
    ------
    sqlite3.Error, OSError
    """
    path.write_bytes(empty_project())
    database = sqlite3.connect(path, isolation_level=None)
    try:
        database.execute("BEGIN IMMEDIATE")
        for position, (run, document) in enumerate(found.runs.values(), start=1):
            sealed = seal(document, "record", position, run)
            database.execute("INSERT INTO records VALUES (?, ?, ?, ?)", (position, run, *sealed))
        used = {
            bytes.fromhex(key)
            for _, document in found.runs.values()
            for split in document["splits"]
            for key in split["parts"].values()
        }
        for key in used:
            database.execute("INSERT INTO blobs VALUES (?, ?)", (key, found.blobs[key]))
        kept = {run for run, _ in found.runs.values()}
        for kind, named in found.documents.items():
            for name, document in sorted(named.items()):
                if kind == STANDINGS or name in kept:
                    insert_document(database, kind, name, document)
        plan = seal({"version": 1, "plan": found.plan}, "plan")
        database.execute("INSERT INTO documents VALUES ('plan', ?, ?)", plan)
        write_contents(database, runs=len(found.runs), plan=1)
        database.execute("COMMIT")
    finally:
        database.close()


class Salvage:
    """What can be read of a project.

    Attributes
    ----------
    runs : dict of position to (id, document)
    lost : list of str
        What could not be kept, a sentence each.
    blobs : dict of checksum to bytes
    plan : dict
        The one written last.
    documents : dict of str to dict
        Results of verifying runs and of searches, each by name.
    """

    def __init__(self) -> None:
        self.runs: dict[int, tuple[str, Run]] = {}
        self.lost: list[str] = []
        self.blobs: dict[bytes, bytes] = {}
        self.plan: dict[str, Any] = {}
        self.plan_version = 0
        self.documents: dict[str, dict[str, dict[str, Any]]] = {VERIFICATION: {}, STANDINGS: {}}

    def take(self, number: int, row: tuple[Any, ...]) -> None:
        """Store a row if it is intact and belongs to a project."""
        try:
            match row:
                case (None, str(run), bytes(data), bytes(found)):
                    self.runs[number] = run, unseal(data, found, "record", number, run)
                case ("plan", bytes(data), bytes(found)):
                    plan = unseal(data, found, "plan")
                    if plan["version"] >= self.plan_version:
                        self.plan_version, self.plan = plan["version"], plan["plan"]
                case (str(title), bytes(data), bytes(found)):
                    kind, _, name = title.partition(" ")
                    self.documents[kind][name] = unseal(data, found, kind, name)
                case (bytes(found), bytes(data)) if len(found) == SIZE and checksum(data) == found:
                    self.blobs[found] = data
        except (ValueError, TypeError, KeyError):
            return

    def leave_out_incomplete(self) -> None:
        """Leave out runs and splits that refer to something that is not there."""
        for position, (run, document) in sorted(self.runs.items()):
            try:
                experiment = document["experiment"]
                method = DECLARED.get(experiment["method"])
                title = experiment.get("name") or (method.title if method else run)
                document["splits"] = list(self._whole_splits(document, f"{title} ({run})"))
            except (KeyError, TypeError, AttributeError):
                self.lost.append(f"run {position} ({run}) has an invalid structure")
                del self.runs[position]
        self.runs = dict(sorted(self.runs.items()))

    def _whole_splits(self, document: Run, title: str) -> Iterator[dict[str, Any]]:
        for k, split in enumerate(list(document["splits"])):
            wanted = split["parts"]
            parts = {n: key for n, key in wanted.items() if bytes.fromhex(key) in self.blobs}
            needed = required(wanted)
            missing = [name for name in needed if name not in parts]
            if missing:
                self.lost.append(f"{title}, split {k + 1}: {', '.join(missing)}")
                if document["status"] == DONE:
                    document["status"] = STOPPED
                continue
            if len(parts) < len(wanted):
                self.lost.append(f"{title}, split {k + 1}: its training progress")
                parts = {n: key for n, key in parts.items() if n in needed}
            yield split | {"parts": parts}


Value = int | str | bytes | float | None
PAGE = 4096  # of every project that this program has written
_LEAF = 0x0D
_HEADER = 100
_MOST_CELLS = PAGE // 4
_MOST_COLUMNS = 8
_WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def rows(file: bytes) -> Iterator[tuple[int, tuple[Value, ...]]]:
    """Yield every row that can be read, with its number."""
    for start in range(0, len(file) - PAGE + 1, PAGE):
        page = file[start : start + PAGE]
        head = _HEADER if start == 0 else 0
        if page[head] != _LEAF:
            continue
        count = min(int.from_bytes(page[head + 3 : head + 5], "big"), _MOST_CELLS)
        for place in struct.unpack(f">{count}H", page[head + 8 : head + 8 + 2 * count]):
            try:
                yield _row(file, page, place)
            except (ValueError, IndexError):
                continue  # a cell that is no row, or not a whole one


def _row(file: bytes, page: bytes, place: int) -> tuple[int, tuple[Value, ...]]:
    size, place = _varint(page, place)
    number, place = _varint(page, place)
    return number, _record(_payload(file, page, place, size))


def _payload(file: bytes, page: bytes, place: int, size: int) -> bytes:
    """Put the bytes of a row together, which long ones have on pages of their own."""
    if size > len(file):
        raise ValueError("longer than the file")
    most, least = PAGE - 35, (PAGE - 12) * 32 // 255 - 23
    local = size
    if size > most:
        local = least + (size - least) % (PAGE - 4)
        local = local if local <= most else least
    if place + local > PAGE:
        raise ValueError("beyond its page")
    parts, rest = [page[place : place + local]], size - local
    following = int.from_bytes(page[place + local : place + local + 4], "big") if rest else 0
    while rest > 0:
        start = (following - 1) * PAGE
        if start < 0 or start + PAGE > len(file):
            raise ValueError("a page is missing")
        taken = min(rest, PAGE - 4)
        parts.append(file[start + 4 : start + 4 + taken])
        following, rest = int.from_bytes(file[start : start + 4], "big"), rest - taken
    return b"".join(parts)


def _record(payload: bytes) -> tuple[Value, ...]:
    end, place = _varint(payload, 0)
    if end > len(payload):
        raise ValueError("no row")
    values: list[Value] = []
    at = end
    while place < end:
        kind, place = _varint(payload, place)
        value, at = _value(payload, at, kind)
        values.append(value)
        if len(values) > _MOST_COLUMNS:
            raise ValueError("no row of ours")
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    width = _WIDTHS.get(kind, 8 if kind == 7 else (kind - 12) // 2)
    if kind in (10, 11) or at + width > len(payload):
        raise ValueError("no value")
    data = payload[at : at + width]
    if kind in _WIDTHS:
        return int.from_bytes(data, "big", signed=True), at + width
    if kind == 7:
        return float(struct.unpack(">d", data)[0]), at + width
    return (data.decode(errors="replace") if kind % 2 else data), at + width


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for _ in range(8):
        byte = data[place]
        place += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place
    return value << 8 | data[place], place + 1
