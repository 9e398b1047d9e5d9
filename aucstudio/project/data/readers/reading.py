"""Read a file of any format into columns."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.paths import fingerprint
from aucstudio.project.data.readers.format import (
    FILE,
    MATRIX,
    PARQUET,
    TEXT,
    Format,
    Kind,
    ReadOptions,
    Written,
)
from aucstudio.project.data.readers.registry import PARQUET as PARQUET_FORMAT
from aucstudio.project.data.readers.registry import recognise
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.text.delimited import Delimited, ReadingProgress, read_delimited
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.errors import InputError

# A packed file in an archive is the most that is meant.
_MOST_WRAPPINGS = 3
_WORDS = {
    "delimiter": "delimiter",
    "quote": "quotation mark",
    "decimal": "decimal mark",
    "encoding": "encoding",
    "header": "header row to choose",
    "skip": "lines to skip",
}


@dataclasses.dataclass(frozen=True)
class Plain:
    """A file that one of the readers takes: the one that was given, or what it was written as.

    Attributes
    ----------
    path : Path
    shown : Path
        The file that was given.
    kind : {"text", "parquet", "matrix"}
    format : str
        Key of the format.
    given : dict of part to value
        The parts of the dialect that are not to be guessed.
    chosen : tuple of str
        Those of them that a person set.
    remarks : tuple of Finding
    part : str
        The sheet, table or member; empty where there is one only.
    parts : tuple of str
    texts : tuple of str
        Columns that hold text, whatever their cells look like.
    numbers : frozenset of str
        Columns that a person says are of numbers, whatever their cells look like.
    roles : dict of str to str
        What the file says that columns are for.
    sha256 : str
        Of the file that was given; empty if the reader finds it.
    """

    path: Path
    shown: Path
    kind: Kind
    format: str
    given: dict[str, Any]
    chosen: tuple[str, ...] = ()
    remarks: tuple[Finding, ...] = ()
    part: str = ""
    parts: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    roles: dict[str, str] = dataclasses.field(default_factory=dict)
    sha256: str = ""
    numbers: frozenset[str] = frozenset()

    @property
    def kinds(self) -> dict[str, str]:
        """Columns of which it is said what they hold."""
        return {**dict.fromkeys(self.texts, "text"), **dict.fromkeys(self.numbers, "number")}

    @property
    def words(self) -> str:
        """Name the file, and the part of it that was read."""
        return f"{self.shown}, {self.part!r}" if self.part else str(self.shown)


def make_plain(
    path: Path,
    given: Mapping[str, Any],
    folder: Path,
    tell: ReadingProgress,
    schema: Schema | None,
) -> Plain:
    """Find the format of a file, and write it to ``folder`` as one that can be read if need be.

    Parameters
    ----------
    path : Path
    given : mapping of part to value
        What a person set, the sheet among it.
    folder : Path
    tell : callable
        Told the fraction done and what is being done; may raise to stop.
    schema : Schema or None
        Of the training table.

    Raises
    ------
    InputError
        If it is no table, or has no such sheet.
    """
    options = _options(given, schema)
    chosen = tuple(sorted(given))
    form, remarks = recognise(path)
    here, name, written, part = path, path.name, Written(), ""
    parts: tuple[str, ...] = ()
    wrappings: list[str] = []
    sha256 = ""
    while form.writer:
        if not (sha256 or form is PARQUET_FORMAT):
            sha256 = fingerprint(path, lambda share: tell(0.1 * share, "looking at the file"))
        if len(wrappings) == _MOST_WRAPPINGS:
            raise InputError(f"{path} is compressed too often; unpack it first", file=str(path))
        target = folder / f"plain{len(wrappings)}"
        written = write_as(form, path, here, target, options, tell)
        remarks += written.remarks
        if written.part:
            part, parts = written.part, written.parts
            options = dataclasses.replace(options, part="", usual="")
        if written.kind != FILE:
            here = target if target.exists() else here
            break
        wrappings.append(form.key)
        here, name = target, written.name
        with _naming(here, path, str(path)):
            form, more = recognise(here, name)
        remarks += more
    if wrappings:
        remarks.insert(0, found("format_packed", formats=" in ".join(reversed(wrappings))))
    if options.part:
        raise InputError(
            f"{path} is {form.title} and has one table only; leave the sheet {options.part!r} out",
            file=str(path),
            setting="sheet",
        )
    kind = written.kind if form.writer else TEXT
    known = _known(written)
    parts_given = {name: value for name, value in given.items() if name != "sheet"}
    _check_given(path, form, known, parts_given)
    return Plain(
        here,
        path,
        kind,
        form.key,
        {**parts_given, **known},
        chosen if kind == TEXT else tuple(part for part in chosen if part == "sheet"),
        tuple(remarks),
        part,
        parts,
        written.texts,
        written.roles,
        sha256,
    )


def _options(given: Mapping[str, Any], schema: Schema | None) -> ReadOptions:
    kinds: dict[str, str] = {}
    usual = ""
    if schema is not None:
        kinds = {column.name: column.kind for column in schema.columns if column.kind}
        usual = schema.dialect.sheet if schema.dialect is not None else ""
    sheet, encoding = str(given.get("sheet") or ""), str(given.get("encoding") or "")
    return ReadOptions(sheet, usual, encoding, kinds, strict=bool(given.get("strict")))


def write_as(
    found: Format, path: Path, here: Path, target: Path, options: ReadOptions, tell: ReadingProgress
) -> Written:
    """Write a file as another one; errors name the file that was given."""
    from aucstudio.project.data.readers.isolated import write_apart

    def advance(share: float) -> None:
        tell(0.1 + 0.4 * share, "unpacking" if found.key in PACKED else f"reading {found.key}")

    with _naming(here, path, str(path)):
        return write_apart(found, here, target, options, advance)


PACKED = {"gzip", "bzip2", "xz", "zstd", "zip", "tar"}


def _known(written: Written) -> dict[str, Any]:
    """Return what needs no guess of a dialect, in its own types."""
    parts = {field.name for field in dataclasses.fields(Dialect)}
    return {
        part: tuple(value) if isinstance(value, list) else value
        for part, value in written.known.items()
        if part in parts
    }


def _check_given(
    path: Path, found: Format, known: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    """Refuse parts of a dialect that a file does not have."""
    if not found.writer or found is PARQUET_FORMAT:
        return
    usual = {**dataclasses.asdict(Dialect()), **known}
    for part, value in given.items():
        free = part not in known if known else False
        if not free and value != usual.get(part) and not (part == "encoding" and found.encodings):
            raise InputError(
                f"{path} is {found.title}, which has no {_WORDS.get(part, part)}: leave it out",
                file=str(path),
                setting=part,
            )


@contextlib.contextmanager
def _naming(made: Path, path: Path, words: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        if str(made) == words or str(made) not in str(error):
            raise
        raise InputError(
            str(error).replace(str(made), words),
            file=str(path),
            line=error.line,
            column=error.column,
            setting=error.setting,
        ) from error


def naming(plain: Plain) -> contextlib.AbstractContextManager[None]:
    """Name the given file, not its converted copy, in errors."""
    return _naming(plain.path, plain.shown, plain.words)


def read_columns(plain: Plain, tell: ReadingProgress, schema: Schema | None) -> Delimited:
    """Read the columns of a file.

    Raises
    ------
    InputError
        If it cannot be read as a table of at least two columns and one row.
    """
    begin = 0.5 if plain.sha256 else 0.0

    def later(share: float, words: str) -> None:
        tell(begin + (1 - begin) * share, words)

    with naming(plain):
        found = _read(plain, later, schema)
    if schema is None and plain.texts:
        from aucstudio.project.data.parquet import about_texts

        texts = about_texts(c for c in found.columns if c.name in plain.texts)
        found = dataclasses.replace(found, findings=(*found.findings, *texts))
    return finished(plain, found)


def finished(plain: Plain, found: Delimited) -> Delimited:
    """Add what is known of the file that was given to what was read of it."""
    return dataclasses.replace(
        found,
        sha256=plain.sha256 or found.sha256,
        dialect=dataclasses.replace(found.dialect, sheet=plain.part),
        chosen=plain.chosen,
        findings=(*plain.remarks, *found.findings),
    )


def _read(plain: Plain, tell: ReadingProgress, schema: Schema | None) -> Delimited:
    if plain.kind == PARQUET:
        from aucstudio.project.data.parquet import read_parquet

        return read_parquet(plain.path, tell, schema)
    if plain.kind == MATRIX:
        from aucstudio.project.data.readers.sparse_file import read_sparse

        return read_sparse(plain.path, plain.shown, plain.sha256, schema)
    return read_delimited(plain.path, plain.given, tell, schema, plain.kinds)
