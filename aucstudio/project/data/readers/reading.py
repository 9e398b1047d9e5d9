"""Read a file of any format into columns."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from aucstudio.project import scratch
from aucstudio.project.data.finding import found
from aucstudio.project.data.readers.formats import (
    BY_KEY,
    MATRIX,
    PARQUET_FORMAT,
    TEXT,
    Format,
    Kind,
    Plain,
    ReadOptions,
    Written,
    recognise,
)
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.contents import Source
from aucstudio.project.data.text.delimited import ReadingProgress, open_delimited, read_source
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.errors import InputError, input_error

# Most levels of packing.
_MOST_WRAPPINGS = 3
_WORDS = {
    "quote": "quotation mark",
    "decimal": "decimal mark",
    "header": "header row to choose",
    "skip": "lines to skip",
}


class Opening:
    """A file on its way to one that a reader takes.

    Parameters
    ----------
    path : Path
    given : mapping of part to value
        What the user set, the sheet among it.
    folder : Path
        Where the file is unpacked and converted.
    report : callable
        Receives the fraction done and what is being done; may raise to stop.
    schema : Schema, optional
        Of the training table.
    enough : int
        Number of bytes of an unpacked file that suffices; 0 for all.

    Attributes
    ----------
    path : Path
        The innermost file of a packed one, or the file itself.
    form : Format
        Its format.

    Raises
    ------
    InputError
        If the file is no table.
    """

    def __init__(
        self,
        path: Path,
        given: Mapping[str, Any],
        folder: Path,
        report: ReadingProgress,
        schema: Schema | None = None,
        enough: int = 0,
    ) -> None:
        self.path, self._shown, self._folder, self._report = path, path, folder, report
        self._given = {name: value for name, value in given.items() if name != "sheet"}
        known = schema or Schema(())
        self._chosen = {*given, *known.chosen}
        kinds = {column.name: column.kind for column in known.columns if column.kind}
        usual, self._decimal = (d.sheet, d.decimal) if (d := known.dialect) else ("", "")
        sheet, encoding = str(given.get("sheet") or ""), str(given.get("encoding") or "")
        strict = bool(given.get("strict"))
        self._options = ReadOptions(sheet, usual, encoding, kinds, enough, strict=strict)
        self.form, remarks = recognise(path)
        self._remarks = tuple(remarks)
        self._part, self._parts = "", tuple[str, ...]()

    def unpack(self) -> None:
        """Unpack what is packed."""
        wrappings: list[str] = []
        while self.form.key in PACKED:
            if len(wrappings) == _MOST_WRAPPINGS:
                raise input_error("packed_too_often", file=self._shown)
            wrappings.append(self.form.key)
            target = self._folder / f"unpacked{len(wrappings)}"
            written = self._write(target, "unpacking")
            with _naming(target, self._shown, str(self._shown)):
                self.form, remarks = recognise(target, written.name)
            self.path, self._remarks = target, (*self._remarks, *written.remarks, *remarks)
            if written.part:
                self._options = dataclasses.replace(self._options, part="", usual="")
                self._part, self._parts = written.part, written.parts
        if wrappings:
            packed = found("format_packed", formats=" in ".join(reversed(wrappings)))
            self._remarks = (packed, *self._remarks)

    def convert(self) -> Plain:
        """Convert the file to one that can be read, if it is not."""
        written, path = Written(), self.path
        if self.form.writer:
            target = self._folder / "converted"
            written = self._write(target, f"reading {self.form.key}")
            path = target if target.exists() else path
        if self._options.part and not written.part:
            title, part = self.form.title, self._options.part
            raise input_error("sheet_absent", file=self._shown, title=title, part=part)
        self._check_given(written.known)
        # If the decimal mark is that of training, each column keeps its notation.
        known = {k: v for k, v in written.known.items() if (k, v) != ("decimal", self._decimal)}
        facts = vars(written) | {
            "remarks": (*self._remarks, *written.remarks),
            "part": written.part or self._part,
            "parts": written.parts or self._parts,
        }
        return Plain(
            **facts,
            path=path,
            shown=self._shown,
            format=self.form.key,
            given={**self._given, **known},
            chosen=chosen_parts(self._chosen, written.kind, self.form),
        )

    def _write(self, target: Path, what: str) -> Written:
        """Unpack or convert the file in another process; errors name the given file."""
        from aucstudio.project.data.readers.isolated import write_apart

        def advance(share: float) -> None:
            self._report(0.1 + 0.4 * share, what)

        with _naming(self.path, self._shown, str(self._shown)):
            return write_apart(self.form, self.path, target, self._options, advance)

    def _check_given(self, known: Mapping[str, Any]) -> None:
        """Raise InputError for parts of a dialect that the format does not have."""
        if not self.form.writer or self.form is PARQUET_FORMAT:
            return
        fixed = known if known else dataclasses.asdict(Dialect())
        for part, value in self._given.items():
            is_free = part == "encoding" and self.form.encodings
            if part in fixed and value != fixed[part] and not is_free:
                raise input_error(
                    "setting_absent",
                    file=self._shown,
                    setting=part,
                    title=self.form.title,
                    what=_WORDS.get(part, part),
                )


def chosen_parts(given: Iterable[str], kind: Kind, form: Format) -> tuple[str, ...]:
    """Return the given parts of a dialect that apply to a file of a kind and format."""
    apply = {"sheet", "missing", "strict", "limits", *(["encoding"] if form.encodings else [])}
    return tuple(sorted(part for part in given if kind == TEXT or part in apply))


def make_plain(
    path: Path,
    given: Mapping[str, Any],
    folder: Path,
    report: ReadingProgress,
    schema: Schema | None,
    numbers: frozenset[str] = frozenset(),
) -> Plain:
    """Find the format of a file, and convert it to one that can be read; see :class:`Opening`."""
    opening = Opening(path, given, folder, report, schema)
    opening.unpack()
    return dataclasses.replace(opening.convert(), numbers=numbers)


PACKED = {"gzip", "bzip2", "xz", "zstd", "zip", "tar"}


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
    begin = 0.0 if plain.path == plain.shown else 0.5

    def later(share: float, words: str) -> None:
        report(begin + (1 - begin) * share, words)

    with naming(plain):
        table = with_file_facts(plain, _read(plain, later, schema))
    if schema is None and plain.texts != ():
        from aucstudio.project.data.parquet import about_texts

        known = plain.texts
        texts = about_texts(c for c in table.columns if known is None or c.name in known)
        table = dataclasses.replace(table, remarks=(*table.remarks, *texts))
    return table


def with_file_facts(plain: Plain, table: Table) -> Table:
    """Add what is known of the given file to a table read from its copy."""
    return dataclasses.replace(
        table,
        path=plain.shown,
        format=plain.format,
        sheets=plain.parts,
        dialect=dataclasses.replace(table.dialect, sheet=plain.part),
        chosen=plain.chosen,
        remarks=(*plain.remarks, *table.remarks),
    )


def _read(plain: Plain, report: ReadingProgress, schema: Schema | None) -> Table:
    if plain.kind == MATRIX:
        from aucstudio.project.data.readers.sparse_file import read_sparse

        return read_sparse(plain.path, plain.shown, schema)
    with scratch.folder() as folder:
        return read_source(open_source(plain, folder, report, schema), folder, report)


def open_source(
    plain: Plain, folder: Path, report: ReadingProgress, schema: Schema | None
) -> Source:
    """Detect the layout of a text file, or describe the columns of a typed one.

    Raises
    ------
    InputError
        If it is not a table of at least two columns.
    """
    if plain.kind == TEXT:
        source = open_delimited(plain.path, plain.given, folder, report, schema, plain.kinds)
        return dataclasses.replace(source, is_sheet=BY_KEY[plain.format].part == "sheet")
    from aucstudio.project.data.parquet import open_typed

    return open_typed(plain, folder, report, schema)
