"""Read a file of any format into columns."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.paths import fingerprint
from aucstudio.project.data.readers.format import (
    MATRIX,
    PARQUET,
    TEXT,
    Format,
    ReadOptions,
    Written,
)
from aucstudio.project.data.readers.registry import PARQUET as PARQUET_FORMAT
from aucstudio.project.data.readers.registry import recognise
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.delimited import ReadingProgress, read_delimited
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.errors import InputError, input_error

# Most levels of packing.
_MOST_WRAPPINGS = 3
_WORDS = {
    "delimiter": "delimiter",
    "quote": "quotation mark",
    "decimal": "decimal mark",
    "encoding": "encoding",
    "header": "header row to choose",
    "skip": "lines to skip",
}


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
    sha256 : str
        Of the given file; empty if the reader computes it.
    """

    path: Path
    shown: Path
    format: str
    given: dict[str, Any]
    chosen: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    sha256: str = ""

    @property
    def kinds(self) -> dict[str, str]:
        """Columns whose kind is known."""
        return {**dict.fromkeys(self.texts, "text"), **dict.fromkeys(self.numbers, "number")}

    @property
    def words(self) -> str:
        """Name the file, and the part of it that was read."""
        return f"{self.shown}, {self.part!r}" if self.part else str(self.shown)


class Inner(NamedTuple):
    """The innermost file of a packed one, or the file itself.

    Attributes
    ----------
    path : Path
    form : Format
    options : ReadOptions
        Without the part that was found while unpacking.
    remarks : list of Finding
    part, parts
        See :class:`Written`.
    """

    path: Path
    form: Format
    options: ReadOptions
    remarks: list[Finding]
    part: str = ""
    parts: tuple[str, ...] = ()


def make_plain(
    path: Path,
    given: Mapping[str, Any],
    folder: Path,
    report: ReadingProgress,
    schema: Schema | None,
) -> Plain:
    """Find the format of a file, and convert it in ``folder`` to one that can be read.

    Parameters
    ----------
    path : Path
    given : mapping of part to value
        What the user set, the sheet among it.
    folder : Path
    report : callable
        Receives the fraction done and what is being done; may raise to stop.
    schema : Schema or None
        Of the training table.

    Raises
    ------
    InputError
        If it is no table, or has no such sheet.
    """
    form, _ = recognise(path)
    sha256 = ""
    if form.writer and form is not PARQUET_FORMAT:
        sha256 = fingerprint(path, lambda share: report(0.1 * share, "looking at the file"))
    inner = unpack(path, options_of(given, schema), folder, report)
    return convert(path, inner, given, folder, report, sha256)


def unpack(path: Path, options: ReadOptions, folder: Path, report: ReadingProgress) -> Inner:
    """Recognise a file, and unpack what is packed to ``folder``."""
    form, remarks = recognise(path)
    inner = Inner(path, form, options, remarks)
    wrappings: list[str] = []
    while inner.form.key in PACKED:
        if len(wrappings) == _MOST_WRAPPINGS:
            raise input_error("packed_too_often", file=path)
        target = folder / f"unpacked{len(wrappings)}"
        written = write_as(inner.form, path, inner.path, target, inner.options, report)
        wrappings.append(inner.form.key)
        with _naming(target, path, str(path)):
            form, remarks = recognise(target, written.name)
        remarks = [*inner.remarks, *written.remarks, *remarks]
        inner = inner._replace(path=target, form=form, remarks=remarks)
        if written.part:
            options = dataclasses.replace(inner.options, part="", usual="")
            inner = inner._replace(options=options, part=written.part, parts=written.parts)
    if wrappings:
        packed = found("format_packed", formats=" in ".join(reversed(wrappings)))
        inner = inner._replace(remarks=[packed, *inner.remarks])
    return inner


def convert(
    path: Path,
    inner: Inner,
    given: Mapping[str, Any],
    folder: Path,
    report: ReadingProgress,
    sha256: str = "",
) -> Plain:
    """Convert a file to one that can be read, if it is not; ``path`` is the one to name."""
    here, form, options, remarks, part, parts = inner
    written = Written()
    if form.writer:
        target = folder / "converted"
        written = write_as(form, path, here, target, options, report)
        here = target if target.exists() else here
    if options.part and not written.part:
        raise input_error("sheet_absent", file=path, title=form.title, part=options.part)
    known = _known(written)
    parts_given = {name: value for name, value in given.items() if name != "sheet"}
    _check_given(path, form, known, parts_given)
    chosen = (name for name in sorted(given) if name == "sheet" or written.kind == TEXT)
    facts = vars(written) | {
        "remarks": (*remarks, *written.remarks),
        "part": written.part or part,
        "parts": written.parts or parts,
    }
    return Plain(
        **facts,
        path=here,
        shown=path,
        format=form.key,
        given={**parts_given, **known},
        chosen=tuple(chosen),
        sha256=sha256,
    )


def options_of(given: Mapping[str, Any], schema: Schema | None, enough: int = 0) -> ReadOptions:
    """Return how a file is to be read; see :class:`ReadOptions`."""
    kinds: dict[str, str] = {}
    usual = ""
    if schema is not None:
        kinds = {column.name: column.kind for column in schema.columns if column.kind}
        usual = schema.dialect.sheet if schema.dialect is not None else ""
    sheet, encoding = str(given.get("sheet") or ""), str(given.get("encoding") or "")
    return ReadOptions(sheet, usual, encoding, kinds, enough, strict=bool(given.get("strict")))


def write_as(
    found: Format,
    path: Path,
    here: Path,
    target: Path,
    options: ReadOptions,
    report: ReadingProgress,
) -> Written:
    """Convert a file; errors name the given file."""
    from aucstudio.project.data.readers.isolated import write_apart

    def advance(share: float) -> None:
        report(0.1 + 0.4 * share, "unpacking" if found.key in PACKED else f"reading {found.key}")

    with _naming(here, path, str(path)):
        return write_apart(found, here, target, options, advance)


PACKED = {"gzip", "bzip2", "xz", "zstd", "zip", "tar"}


def _known(written: Written) -> dict[str, Any]:
    """Return the known parts of the dialect, in their own types."""
    parts = {field.name for field in dataclasses.fields(Dialect)}
    return {
        part: tuple(value) if isinstance(value, list) else value
        for part, value in written.known.items()
        if part in parts
    }


def _check_given(
    path: Path, found: Format, known: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    """Raise InputError for parts of a dialect that the format does not have."""
    if not found.writer or found is PARQUET_FORMAT:
        return
    usual = {**dataclasses.asdict(Dialect()), **known}
    for part, value in given.items():
        free = part not in known if known else False
        if not free and value != usual.get(part) and not (part == "encoding" and found.encodings):
            raise input_error(
                "setting_absent",
                file=path,
                setting=part,
                title=found.title,
                what=_WORDS.get(part, part),
            )


@contextlib.contextmanager
def _naming(made: Path, path: Path, words: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        if str(made) == words or str(made) not in str(error):
            raise
        raise error.renamed(made, words, path) from error


def naming(plain: Plain) -> contextlib.AbstractContextManager[None]:
    """Name the given file instead of its converted copy in errors."""
    return _naming(plain.path, plain.shown, plain.words)


def read_columns(plain: Plain, report: ReadingProgress, schema: Schema | None) -> Table:
    """Read a file as a table without roles.

    Raises
    ------
    InputError
        If it cannot be read as a table of at least two columns and one row.
    """
    begin = 0.5 if plain.sha256 else 0.0

    def later(share: float, words: str) -> None:
        report(begin + (1 - begin) * share, words)

    with naming(plain):
        table = finished(plain, _read(plain, later, schema))
    if schema is None and plain.texts:
        from aucstudio.project.data.parquet import about_texts

        texts = about_texts(c for c in table.columns if c.name in plain.texts)
        table = dataclasses.replace(table, remarks=(*table.remarks, *texts))
    return table


def finished(plain: Plain, table: Table) -> Table:
    """Add what is known of the given file to a table read from its copy."""
    return dataclasses.replace(
        table,
        path=plain.shown,
        format=plain.format,
        sheets=plain.parts,
        sha256=plain.sha256 or table.sha256,
        dialect=dataclasses.replace(table.dialect, sheet=plain.part),
        chosen=plain.chosen,
        remarks=(*plain.remarks, *table.remarks),
    )


def _read(plain: Plain, report: ReadingProgress, schema: Schema | None) -> Table:
    if plain.kind == PARQUET:
        from aucstudio.project.data.parquet import read_parquet

        return read_parquet(plain.path, report, schema)
    if plain.kind == MATRIX:
        from aucstudio.project.data.readers.sparse_file import read_sparse

        return read_sparse(plain.path, plain.shown, plain.sha256, schema)
    return read_delimited(plain.path, plain.given, report, schema, plain.kinds)
