"""Table formats, declared in ``formats.toml``, and how a file's format is recognised.

Every format is converted to delimited text or to typed columns (Parquet) first, and one reader
takes both. Numbers, dates and times of typed columns are read as they are; texts are classified, so
that a later file in any format is read by the same schema.

A file is recognised by its first bytes, not by its ending. These functions are called for every
file, so they import no reader and read little.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.input_files import require_file
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.scan import encoding_of
from aucstudio.project.errors import input_error
from aucstudio.project.typed import Sendable

# Receives the fraction done; may raise to stop.
Advance = Callable[[float], None]

TEXT: Final = "text"
PARQUET: Final = "parquet"
# The key of the names of columns in a converted Parquet file: DuckDB would rename x beside X.
NAMES: Final = "aucstudio.names"
MATRIX: Final = "matrix"
FILE: Final = "file"
Kind = Literal["text", "parquet", "matrix", "file"]

# Dialect of the converted rows of a format without text dialect.
_PARTS = ("encoding", "delimiter", "quote", "decimal", "short_header", "escape", "comment", "edges")
ROWS: Mapping[str, Any] = {part: getattr(Dialect, part) for part in _PARTS}
NAMED_ROWS = {**ROWS, "header": True, "skip": 0, "upper_rows": 0, "lower_rows": 0}

# Bytes of a file that are examined.
_HEAD_BYTES = 1 << 16
_FLAGS = re.IGNORECASE | re.DOTALL | re.MULTILINE
_SVMLIGHT_LINE = re.compile(
    r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?(?:,[0-9.]+)*(?:\s+qid:[0-9]+)?((?:\s+[0-9]+:[^\s:]+)*)\s*(?:#.*)?"
)
_SVMLIGHT_LINES = 20


@dataclasses.dataclass(frozen=True)
class ReadOptions:
    """Which part of a file is read, and how.

    Attributes
    ----------
    part : str
        The sheet, table or member that the user chose; empty for none.
    usual : str
        The part that the training table was read from; preferred if the file has it.
    encoding : str
        The encoding that the user chose; empty for none.
    kinds : dict of str to str
        Kinds of the columns of the training table, "number" or "text"; empty without one.
    enough : int
        Number of bytes of an unpacked file that suffices; 0 for all.
    strict : bool
        Whether one unreadable row refuses the file.
    most : int
        Largest number of bytes of all texts of typed columns together.
    """

    part: str = ""
    usual: str = ""
    encoding: str = ""
    kinds: dict[str, str] = dataclasses.field(default_factory=dict)
    enough: int = 0
    strict: bool = False
    most: int = 1 << 62


@dataclasses.dataclass(frozen=True)
class Written(Sendable):
    """The result of converting a file.

    Attributes
    ----------
    kind : {"text", "parquet", "matrix", "file"}
        "matrix" for a sparse table; "file" if it was only unpacked and must be recognised.
    known : dict of part to value
        The parts of the dialect that are known.
    remarks : tuple of Finding
    part : str
        The sheet, table or member that was read; empty if there is only one.
    parts : tuple of str
        All sheets, tables or members.
    texts : tuple of str or None
        Columns declared as text, whatever their cells look like; None if all texts are.
    roles : dict of str to str
        Roles that the file declares.
    name : str
        Name of an unpacked file.
    """

    kind: Kind = "text"
    known: dict[str, Any] = dataclasses.field(default_factory=dict)
    remarks: tuple[Finding, ...] = ()
    part: str = ""
    parts: tuple[str, ...] = ()
    texts: tuple[str, ...] | None = ()
    roles: dict[str, str] = dataclasses.field(default_factory=dict)
    name: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plain(Written):
    """A file that one of the readers takes: the given one, or what it was converted to.

    Attributes
    ----------
    path : Path
    shown : Path
        The given file.
    format : str
        Key of the format.
    given : dict of part to value
        The parts of the dialect that are not detected.
    chosen : tuple of str
        Those of them that the user set.
    numbers : frozenset of str
        Columns that the user declared as numbers.
    rows : int
        Number of rows that are read of a typed file; 0 for all.
    """

    path: Path
    shown: Path
    format: str
    given: dict[str, Any]
    chosen: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    rows: int = 0

    @property
    def kinds(self) -> dict[str, str]:
        """Columns whose kind is known."""
        texts = dict.fromkeys(self.texts or (), "text")
        return {**texts, **dict.fromkeys(self.numbers, "number")}

    @property
    def words(self) -> str:
        """Name the file, and the part of it that was read."""
        return f"{self.shown}, {self.part!r}" if self.part else str(self.shown)


Write = Callable[[Path, Path, ReadOptions, Advance], Written]


@dataclasses.dataclass(frozen=True)
class Format:
    """A format of tables, as declared in ``formats.toml``.

    Attributes
    ----------
    key : str
        Name in the output of ``inspect``.
    title : str
        Name in messages: "an Excel workbook".
    plural : str
        Name in file dialogs: "Excel workbooks".
    endings, begins : tuple of str
    offset : int
    pattern : str
    writer : str
        ``module:function`` of this package that converts the file in a process of its own; empty
        if it is read directly. It may raise anything, and take any memory and time. The module is
        imported only there.
    swelling : float
        Estimated ratio of the memory of the cells to the size of the file.
    part : str
        What ``--sheet`` selects: "sheet", "table" or "member"; empty if it has one table.
    encodings : bool
        Whether an encoding can be set.
    """

    key: str
    title: str
    plural: str
    endings: tuple[str, ...]
    begins: tuple[str, ...] = ()
    offset: int = 0
    pattern: str = ""
    writer: str = ""
    swelling: float = 1.0
    part: str = ""
    encodings: bool = False


def _is_workbook(path: Path, _text: str) -> bool:
    """Recognise a workbook of Excel in a zip archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return False
    return not names.isdisjoint(("xl/workbook.xml", "xl/workbook.bin"))


def _is_svmlight(_path: Path, text: str) -> bool:
    """Return whether all first lines consist of a class and pairs of index and value."""
    if not text.isascii():
        return False
    lines = [line for line in text.split("\n")[:_SVMLIGHT_LINES] if line.strip()]
    if len(text) == _HEAD_BYTES and len(lines) > 1:
        lines = lines[:-1]
    lines = [line for line in lines if not line.lstrip().startswith("#")]
    found = [_SVMLIGHT_LINE.fullmatch(line.strip()) for line in lines]
    return bool(found) and all(found) and any(one and one[1].count(":") > 1 for one in found)


# Further tests of formats that have no bytes of their own.
_TESTS: dict[str, Callable[[Path, str], bool]] = {
    "excel": _is_workbook,
    "svmlight": _is_svmlight,
}


def _read_formats() -> Iterator[Format]:
    for key, about in DECLARED["formats"].items():
        for name in ("begins", "endings"):
            about[name] = tuple(about.get(name, ()))
        yield Format(key, **about)


DECLARED = tomllib.loads(Path(__file__).with_name("formats.toml").read_text(encoding="utf-8"))
# The first format that recognises a file is used; text accepts all others.
FORMATS = tuple(_read_formats())
BY_KEY = {form.key: form for form in FORMATS}
TEXT_FORMAT, PARQUET_FORMAT = BY_KEY["csv"], BY_KEY["parquet"]


def _recognises(form: Format, path: Path, text: str) -> bool:
    if form.pattern and re.match(form.pattern, text, _FLAGS):
        return True
    if text.startswith(form.begins, form.offset):
        return form.key not in _TESTS or _TESTS[form.key](path, text)
    return False


def recognise(path: Path, name: str = "") -> tuple[Format, list[Finding]]:
    """Find the format of a file by its bytes.

    Parameters
    ----------
    path : Path
    name : str
        Its original name, if it is a temporary copy.

    Returns
    -------
    Format
    list of Finding
        A remark if the ending of its name is misleading.

    Raises
    ------
    InputError
        If it does not exist, cannot be read, or is not a table.
    """
    require_file(path)
    named = name or path.name
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise input_error("file_forbidden", file=path, reason=error.strerror) from error
    text = head.decode(encoding_of(head) or "latin-1", "replace").removeprefix("\ufeff")
    form = next((form for form in FORMATS if _recognises(form, path, text)), TEXT_FORMAT)
    if form is TEXT_FORMAT:
        _refuse_foreign(path, text)
    ending = Path(named).suffix.lower()
    by_name = [form for form in FORMATS if ending in form.endings]
    if by_name and form not in by_name:
        if form is TEXT_FORMAT and "\0" in text:
            suffix, title = Path(named).suffix, by_name[0].title
            raise input_error("file_unlike_ending", file=path, ending=suffix, title=title)
        if head.strip():
            return form, [found("format_ending", title=form.title, name=named)]
    return form, []


def _refuse_foreign(path: Path, text: str) -> None:
    """Raise InputError for a file that is known to be no table."""
    for begin, what in DECLARED["foreign"].items():
        if text.startswith(begin):
            raise input_error("file_is_no_table", file=path, what=what)
    for pattern, what in DECLARED["foreign_texts"].items():
        if re.match(pattern, text, _FLAGS):
            raise input_error("file_is_no_table", file=path, what=what)


def endings() -> list[str]:
    """Return all endings, those of text first."""
    ordered = (TEXT_FORMAT, *FORMATS[:-1])
    return list(dict.fromkeys(ending for form in ordered for ending in form.endings))


def dialog_filter() -> str:
    """Return the filter of a file dialog: all tables, each kind, all files."""
    kinds: dict[str, list[str]] = {}
    for form in (TEXT_FORMAT, *FORMATS[:-1]):
        kinds.setdefault(form.plural, []).extend(form.endings)
    listed = [("Tables", endings()), *kinds.items()]
    filters = [f"{name} ({' '.join(f'*{end}' for end in ends)})" for name, ends in listed]
    return ";;".join([*filters, "All files (*)"])
