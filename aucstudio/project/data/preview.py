"""Preview of the first rows of a file, and of the outer columns of a very wide one.

Columns are cut out before detection, so that 100,000 columns cost no more than the few shown.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import re
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from aucstudio.project import scratch
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.data.input_files import several
from aucstudio.project.data.parquet import count_rows
from aucstudio.project.data.readers.formats import BY_KEY, MATRIX, PARQUET, TEXT, Plain
from aucstudio.project.data.readers.reading import (
    Opening,
    chosen_parts,
    make_plain,
    naming,
    open_source,
    read_columns,
)
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import (
    ReadingListener,
    Table,
    numbers_in,
    parts_of,
    progress_reporter,
    with_choices,
    with_guessed_roles,
)
from aucstudio.project.data.text.codepages import guess_encoding
from aucstudio.project.data.text.delimited import ReadingProgress
from aucstudio.project.errors import InputError, input_error

# Files with more columns are cut; the number of columns kept at either end.
MOST_COLUMNS = 3_000
LEFT, RIGHT = 1_000, 50
# The rows of a preview, and most bytes that are read for them, in a very wide file and elsewhere.
ROWS = 2000
_WIDE_BYTES, _HEAD_BYTES = 1 << 26, 2 << 20
_LONGEST_LINE = 1 << 24
_MARKS = (b",", b"\t", b";", b"|")


class Narrow(NamedTuple):
    """The part of a wide file that was kept.

    Attributes
    ----------
    left, right, of : int
        Number of columns kept at either end, and of all columns.
    whole : bool
        Whether all rows were kept.
    """

    left: int
    right: int
    of: int
    whole: bool


def narrowed(path: Path, here: Path, delimiter: str = "") -> Narrow | None:
    """Write the first rows and outer columns of a file; None if it is not wide, or not plain.

    Names of these columns must be in the first row and unique: others depend on their position,
    which differs in the copy.

    Parameters
    ----------
    path, here : Path
        The file, and the copy to write.
    delimiter : str, optional
        The delimiter, if known.
    """
    with path.open("rb") as file:
        first = file.readline(_LONGEST_LINE)
        if len(first) <= MOST_COLUMNS:
            return None
        second = file.readline(_LONGEST_LINE)
        mark = delimiter.encode() or max(_MARKS, key=second.count)
        marks = second.count(mark)
        # In files of R the column of row names has no name.
        lacking = marks - first.count(mark)
        if marks < MOST_COLUMNS or lacking not in (0, 1):
            return None
        file.seek(len(first))
        lines, whole = [*_lines(file)], not file.read(1)
    if any(line.count(mark) != marks or b"\0" in line for line in lines):
        return None
    names = [name.strip(b' "\t\r\n') for name in first.split(mark)]
    counts, left = collections.Counter(names), LEFT - lacking
    cut = [_ends(first, mark, left), *(_ends(line, mark, LEFT) for line in lines)]
    if not all(name and counts[name] == 1 for name in (*names[:left], *names[-RIGHT:])):
        return None
    if any(piece.count(b'"') % 2 for piece in cut):
        return None  # a quoted cell is cut
    here.write_bytes(b"".join(cut))
    return Narrow(LEFT, RIGHT, marks + 1, whole)


def _lines(file: Iterable[bytes]) -> Iterator[bytes]:
    taken = 0
    for rows, line in enumerate(file, 1):
        yield line
        taken += len(line)
        if rows == ROWS or taken >= _WIDE_BYTES:
            return


def _ends(line: bytes, mark: bytes, left: int) -> bytes:
    line = line.rstrip(b"\r\n")
    return mark.join([*line.split(mark, left)[:left], *line.rsplit(mark, RIGHT)[-RIGHT:]]) + b"\n"


# The parts of a dialect that the user may set, unless the format determines them.
SETTINGS = ("delimiter", "encoding", "decimal", "quote", "skip", "missing", "limits", "strict")
# The first lines of these formats are a valid file.
_OF_LINES = ("csv", "svmlight")
_MOST_TRIES = 200
_WIDE_BOMS = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")


@dataclasses.dataclass(frozen=True, eq=False)
class Head:
    """The first rows of a file.

    Attributes
    ----------
    table : Table
    whole : bool
        Whether the file has no other rows.
    settings : frozenset of str
        The parts of the dialect that apply to this file.
    other_encoding : str
        An encoding nearly as likely as the detected one; empty if there is none.
    files : int
        Number of files that are read as one table; the rows are those of the first.
    problem : str
        Why these rows have no valid label; empty if they have. Checked again on the whole file.
    narrow : Narrow or None
        The columns that were taken of a very wide file; None if all were.
    """

    table: Table
    whole: bool
    settings: frozenset[str]
    other_encoding: str = ""
    files: int = 1
    problem: str = ""
    narrow: Narrow | None = None


class HeadReader:
    """Reads the first rows of a file by varying choices, on any thread.

    A file that has to be converted first, such as a workbook, is converted once per sheet.

    Parameters
    ----------
    path : Path
    folder : Path
        For temporary files.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self._path, self._folder = path, folder
        self._made: dict[tuple[tuple[str, Any], ...], tuple[Plain, frozenset[str]]] = {}
        self._making = threading.Lock()

    def read(
        self,
        choices: ImportChoices,
        progress: ReadingListener | None = None,
        *,
        every_column: bool = False,
    ) -> Head:
        """Read the first rows; of a very wide text the outer columns, unless all are requested.

        Raises
        ------
        InputError
            If the file cannot be read with these choices.
        """
        if not every_column:
            head = self._read(choices, progress, cut=True)
            # Columns without names are called by their position, which differs in the copy.
            if head.narrow is None or head.table.dialect.header:
                return head
        return self._read(choices, progress, cut=False)

    def _read(self, choices: ImportChoices, progress: ReadingListener | None, *, cut: bool) -> Head:
        files = several(self._path) or [self._path]
        given, report = parts_of(choices.dialect), progress_reporter(progress)
        folder, narrow = Path(tempfile.mkdtemp(dir=self._folder)), None
        try:
            inner = _unpacked_head(files[0], given, folder, report)
            if inner.form.key in _OF_LINES:
                inner.path, whole, narrow = _beginning(inner, given, folder, cut=cut)
                plain = inner.convert()
                known = frozenset[str]()
            else:
                plain, known = self._plain(files[0], given, inner.form.encodings, report)
                plain, whole = _cut(plain, folder)
            plain = dataclasses.replace(plain, numbers=numbers_in(choices.roles))
            bare = read_columns(plain, report, None)
            other = _other_encoding(plain, given)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        table, problem = _with_choices(bare, plain, choices, whole)
        settings = frozenset(SETTINGS) - known if plain.kind != MATRIX else frozenset[str]()
        if BY_KEY[plain.format].encodings:
            settings |= {"encoding"}
        return Head(table, whole, settings, other, len(files), problem, narrow)

    def _plain(
        self, path: Path, given: Mapping[str, Any], encodings: bool, report: Any
    ) -> tuple[Plain, frozenset[str]]:
        """Convert the file to a readable one, once per sheet and encoding."""
        parts = ("encoding", "sheet") if encodings else ("sheet",)
        once = {part: given[part] for part in parts if part in given}
        with self._making:
            if (key := tuple(once.items())) not in self._made:
                folder = Path(tempfile.mkdtemp(dir=self._folder))
                plain = make_plain(path, once, folder, report, None)
                self._made[key] = plain, frozenset(plain.given) - {*once}
            plain, known = self._made[key]
        fixed = {part: value for part, value in plain.given.items() if part in known}
        free = {part: value for part, value in given.items() if part != "sheet"}
        chosen = chosen_parts(given, plain.kind, BY_KEY[plain.format])
        return dataclasses.replace(plain, given={**free, **fixed}, chosen=chosen), known


def _unpacked_head(
    path: Path, given: Mapping[str, Any], folder: Path, report: ReadingProgress
) -> Opening:
    """Recognise a file; of a packed one unpack the beginning, if that is a file of lines."""
    opening = Opening(path, given, folder, report, enough=_HEAD_BYTES + 1)
    try:
        opening.unpack()
    except InputError:
        # Reading the whole file reports what is wrong.
        return Opening(path, given, folder, report)
    return opening


def _cut(plain: Plain, folder: Path) -> tuple[Plain, bool]:
    """Cut a converted file to its first rows; return whether these are all."""
    if plain.kind == TEXT:
        with naming(plain):
            here, whole = _first_lines(plain.path, folder / plain.path.name)
        return dataclasses.replace(plain, path=here), whole
    if plain.kind != PARQUET:
        return plain, True
    # The reader reports what is wrong with a file whose rows cannot be counted.
    return dataclasses.replace(plain, rows=ROWS), count_rows(plain.path) <= ROWS


def _beginning(
    inner: Opening, given: Mapping[str, Any], folder: Path, *, cut: bool
) -> tuple[Path, bool, Narrow | None]:
    """Copy the first rows of a text file; of a very wide one, some columns."""
    here = folder / f"first-{inner.path.name}"
    if cut and inner.form.key == "csv":
        narrow = narrowed(inner.path, here, str(given.get("delimiter", "")))
        if narrow is not None:
            return here, narrow.whole, narrow
    return *_first_lines(inner.path, here), None


def _first_lines(path: Path, here: Path) -> tuple[Path, bool]:
    """Copy the first whole rows of a text file; return whether these are all."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
            more = bool(file.read(1))
    except OSError as error:
        raise input_error("file_unreadable", file=path, reason=error.strerror) from error
    width = 4 if head.startswith(_WIDE_BOMS) else 2 if b"\0" in head[:1000] else 1
    mark = rb"\r(?!\n)" if b"\n" not in head else rb"\n"
    ends = [m.end() for m in itertools.islice(re.finditer(mark, head), ROWS + 1)]
    ends = [-(-end // width) * width for end in ends]
    if not ends or (not more and len(ends) <= ROWS):
        if not more:
            return path, True
        here.write_bytes(head)  # one very long line
        return here, False
    here.write_bytes(head[: _outside_quotes(head, ends)])
    return here, False


def _outside_quotes(head: bytes, ends: list[int]) -> int:
    """Return the last line end that seems to be outside quoted cells."""
    for end in reversed(ends[-_MOST_TRIES:]):
        if head.count(b'"', 0, end) % 2 == 0:
            return end
    return ends[-1]


def _other_encoding(plain: Plain, given: Mapping[str, Any]) -> str:
    if plain.kind != TEXT or ("encoding" in plain.given and "encoding" not in given):
        return ""
    content = plain.path.read_bytes()[:_HEAD_BYTES]
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if b"\0" in content[:1000]:
            return ""
        lines = [line for line in content.splitlines() if not line.isascii()]
        guess = guess_encoding(b"\n".join(lines)[:65536])
        return guess.other if given.get("encoding") != guess.other else guess.encoding
    return ""


def _with_choices(
    bare: Table, plain: Plain, choices: ImportChoices, whole: bool
) -> tuple[Table, str]:
    """Assign roles; a label that is invalid in the first rows may be valid in the whole file."""
    columns = tuple(with_guessed_roles(bare.columns))
    bare = dataclasses.replace(bare, columns=columns)
    choices = choices.among(column.name for column in columns)
    merge = choices.merge or None
    try:
        table = with_choices(bare, columns, plain.roles, roles=choices.roles, merge=merge)
        return choices.finish(table), ""
    except InputError as error:
        if whole or error.setting not in ("label", "merge"):
            raise
        roles = plain.roles | choices.roles
        others = {name: role for name, role in roles.items() if role != "label"}
        return bare.with_roles(label=False, roles=others), str(error)


def heading(
    path: str | Path, schema: Schema, progress: ReadingListener | None = None
) -> tuple[str, ...]:
    """Return the column names of a file that is to be read by a schema.

    Parameters
    ----------
    path : str or Path
    schema : Schema
    progress : callable, optional
        Receives the fraction done and what is being done; returning True stops it.

    Raises
    ------
    InputError
        If the file is not a table.
    Cancelled
        If ``progress`` asked to stop.
    """
    path, report = Path(path), progress_reporter(progress)
    with scratch.folder() as folder:
        plain = make_plain(path, {}, folder, report, schema)
        with naming(plain):
            if plain.kind == MATRIX:
                return tuple(column.name for column in read_columns(plain, report, schema).columns)
            return tuple(open_source(plain, folder, report, schema).names)
