"""The import of a delimited text file, from its bytes to its columns."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from aucstudio.project import scratch
from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.text.dialect import (
    Dialect,
    TextSample,
    column_names,
    detect_dialect,
    parse_sample,
    short_header,
)
from aucstudio.project.data.text.encoding import (
    Scan,
    guess_encoding,
    head_of,
    plain_copy,
    scan,
)
from aucstudio.project.data.text.numerals import (
    LOOKALIKES,
    MISSING_NUMBER,
    MISSING_TEXT,
    formats,
    guess_format,
)
from aucstudio.project.data.text.reader import Contents, Formats, Reader
from aucstudio.project.data.text.rejects import (
    Numbers,
    Rejected,
    Source,
    Unreadable,
    first_unreadable,
)
from aucstudio.project.data.text.reread import (
    guessed_forms,
    later_dialect,
    later_forms,
    later_sample,
)
from aucstudio.project.data.text.short import is_short, read_short
from aucstudio.project.errors import InputError

# Told the fraction done and what is being done; may raise to stop.
ReadingProgress = Callable[[float, str], None]

_NAMES = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", " ": "blanks"}
_ZEROS = re.compile("0[0-9]+")
# A column is worth a word if it would be one of numbers but for a few cells.
_NEARLY = 0.8


@dataclasses.dataclass(frozen=True, eq=False)
class Delimited:
    """What a delimited file holds, before anything is decided about roles.

    Attributes
    ----------
    dialect : Dialect
    sha256 : str
    columns : list of Column
        With the role "number" or "category", after their kind.
    rejected : list of Rejected
        The first hundred.
    rejected_rows : int
    notes : list of str
    chosen : tuple of str
        The parts of the dialect that a person set.
    unreadable : dict of str to Unreadable
        By column, what is no number where the schema says that numbers are.
    row_numbers : ndarray of int64, shape (rows,), or None
        Which data rows of the file the rows are, counted from 1; None if none was left out.
    findings : tuple of Finding
        What changes results; each is told as a note as well.
    """

    dialect: Dialect
    sha256: str
    columns: list[Column]
    rejected: list[Rejected]
    rejected_rows: int
    notes: list[str]
    chosen: tuple[str, ...] = ()
    unreadable: dict[str, Unreadable] = dataclasses.field(default_factory=dict)
    row_numbers: Numbers | None = None
    findings: tuple[Finding, ...] = ()


def read_delimited(
    path: Path,
    given: Mapping[str, Any],
    tell: ReadingProgress,
    schema: Schema | None = None,
    texts: Collection[str] = (),
) -> Delimited:
    """Read a delimited text file, whose dialect is detected but for what is ``given``.

    With a ``schema``, what the cells are is taken from there; without, ``texts`` names columns of
    texts, whatever their cells look like.

    Raises
    ------
    InputError
        If the file cannot be read as a table of at least two columns and one row.
    """
    with scratch.folder() as temporary:
        opened = open_delimited(path, given, temporary, tell, schema, texts)
        source, forms, settled = opened.source, opened.forms, opened.settled
        contents = read_short(source, forms, settled) if opened.short else None
        if contents is None:
            with Reader(
                source, temporary, lambda part: tell(0.3 + 0.7 * part, "reading")
            ) as reader:
                contents = reader.read(forms, settled)
        columns = _columns(source.names, contents)
        strange = set_aside(columns, settled)
        unreadable = first_unreadable(source, strange, forms)
    tell(1.0, "reading")
    if not len(columns[0].values):
        raise no_rows(path)
    notes = [*opened.notes, *_notes(columns, contents, opened.sample)]
    return Delimited(
        opened.source.dialect,
        opened.sha256,
        columns,
        contents.rejected,
        contents.rejected_rows,
        notes,
        opened.chosen,
        unreadable,
        contents.row_numbers,
        opened.findings,
    )


def set_aside(columns: list[Column], settled: Iterable[int]) -> dict[int, int]:
    """Make infinite cells missing in some columns; returns how many there were in each."""
    counts = {}
    for k in settled:
        strange = np.isinf(columns[k].values)
        if counted := int(np.count_nonzero(strange)):
            columns[k].values[strange] = np.nan
            missing = columns[k].missing + counted
            columns[k] = dataclasses.replace(columns[k], missing=missing)
            counts[k] = counted
    return counts


@dataclasses.dataclass(frozen=True, eq=False)
class Opened:
    """A delimited file that was looked at, ready to be read.

    Attributes
    ----------
    source : Source
    sha256 : str
    sample : TextSample
    forms : dict of int to NumberFormat or None
        What the sample promises of each column.
    notes : list of str
    chosen : tuple of str
        The parts of the dialect that a person set.
    settled : frozenset of int
        Columns of numbers that remain so whatever their cells are.
    short : bool
        Whether the file has few rows.
    findings : tuple of Finding
    """

    source: Source
    sha256: str
    sample: TextSample
    forms: Formats
    notes: list[str]
    chosen: tuple[str, ...] = ()
    settled: frozenset[int] = frozenset()
    short: bool = False
    findings: tuple[Finding, ...] = ()


def open_delimited(
    path: Path,
    given: Mapping[str, Any],
    folder: Path,
    tell: ReadingProgress,
    schema: Schema | None = None,
    texts: Collection[str] = (),
) -> Opened:
    """Look at a delimited text file; a copy that DuckDB can read goes to ``folder`` if it must.

    Raises
    ------
    InputError
        If it is no table of at least two columns.
    """
    found = scan(path, lambda part: tell(0.2 * part, "looking at the file"))
    encoding = _encoding(found, given, schema)
    plain = path
    if not (found.uniform and found.encoding == "utf-8" and _is_utf8(encoding)):
        plain = plain_copy(
            path, encoding, folder, lambda part: tell(0.2 + 0.1 * part, f"decoding {encoding}")
        )
    text, whole = head_of(plain)
    if schema is not None and schema.dialect is not None:
        dialect = later_dialect(text, schema, encoding, given)
        sample = later_sample(text, dialect)
    else:
        dialect = detect_dialect(text, whole, encoding, given)
        sample = parse_sample(text, whole, dialect)
        _check(path, dialect, sample)
        if dialect.header:
            dialect = dataclasses.replace(dialect, short_header=short_header(sample))
    names, notes = column_names(sample, dialect.header)
    lookalikes = found.lookalikes if plain is path else LOOKALIKES
    source = Source(plain, path, dialect, names, found.lines, lookalikes)
    notes = [*_dialect_notes(dialect, found.encoding), *notes]
    forms, settled = _forms(names, sample, dialect, schema, given)
    if schema is None:
        forms |= {k: None for k, name in enumerate(names) if name in texts}
    chosen = tuple(sorted(given))
    short = is_short(text, whole, plain.stat().st_size)
    return Opened(source, found.sha256, sample, forms, notes, chosen, settled, short)


def _encoding(found: Scan, given: Mapping[str, Any], schema: Schema | None) -> str:
    known = given.get("encoding") or found.encoding
    if known is None and schema is not None and schema.dialect is not None:
        known = None if _is_utf8(schema.dialect.encoding) else schema.dialect.encoding
    return known or guess_encoding(found.odd)


def _forms(
    names: list[str],
    sample: TextSample,
    dialect: Dialect,
    schema: Schema | None,
    given: Mapping[str, Any],
) -> tuple[Formats, frozenset[int]]:
    if schema is None:
        return _formats(sample, dialect), frozenset()
    if schema.dialect is None:
        forms = guessed_forms(names, schema, sample, dialect.decimal)
    else:
        forms = later_forms(names, schema, given)
    sure = {column.name for column in schema.columns if column.kind is not None}
    return forms, frozenset(k for k, form in forms.items() if form and names[k] in sure)


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig", "ascii")


def _check(path: Path, dialect: Dialect, sample: TextSample) -> None:
    if sample.width < 2:
        raise InputError(
            f"{path} has one column only; a table has its cells separated by commas, semicolons, "
            "tabs or vertical bars",
            file=str(path),
            setting="delimiter",
        )
    if dialect.header and any(sample.first[sample.width :]):
        line = dialect.skip + 1
        raise InputError(
            f"{path}, line {line}: the header row has {len(sample.first)} names, but most rows "
            f"have {sample.width} cells; make them equal",
            file=str(path),
            line=line,
        )


def no_rows(path: Path) -> InputError:
    return InputError(
        f"{path} has a header row and nothing below it; choose a file with data",
        file=str(path),
    )


def _formats(sample: TextSample, dialect: Dialect) -> Formats:
    return {k: guess_format(sample.column(k), dialect.decimal) for k in range(sample.width)}


def _columns(names: list[str], contents: Contents) -> list[Column]:
    return [
        Column.of_cells(name, cells.values, cells.missing, cells.distinct, contents.forms[k])
        for k, (name, cells) in enumerate(zip(names, contents.cells, strict=True))
    ]


def _dialect_notes(dialect: Dialect, certain: str | None) -> list[str]:
    notes = []
    if certain is None:
        notes.append(f"the encoding is not UTF-8; read as {dialect.encoding}")
    elif certain != "utf-8":
        notes.append(f"encoding {dialect.encoding}")
    if dialect.skip:
        plural = "s" if dialect.skip > 1 else ""
        notes.append(f"{dialect.skip} line{plural} before the table skipped")
    if dialect.delimiter != ",":
        name = _NAMES.get(dialect.delimiter, repr(dialect.delimiter))
        notes.append(f"cells are separated by {name}")
    if dialect.decimal == ",":
        notes.append("decimal comma")
    return notes


def _notes(columns: list[Column], contents: Contents, sample: TextSample) -> list[str]:
    numbers = [k for k, form in contents.forms.items() if form]
    notes = [
        _about(
            [columns[k].name for k in numbers if _is_grouped(k, contents)],
            "has thousands marks in its numbers",
            "have thousands marks in their numbers",
        ),
        _about(
            [columns[k].name for k in numbers if _has_codes(sample.column(k))],
            "holds codes with leading zeros, read as numbers",
            "hold codes with leading zeros, read as numbers",
        ),
        *_missing_notes(columns, sample),
        *_stray_notes(columns, contents, sample),
    ]
    if contents.rejected_rows:
        plural = "s" if contents.rejected_rows > 1 else ""
        notes.append(
            f"{contents.rejected_rows} row{plural} left out, the first in line "
            f"{contents.rejected[0].line}: {contents.rejected[0].reason}"
        )
    return [note for note in notes if note]


def _is_grouped(k: int, contents: Contents) -> bool:
    form = contents.forms[k]
    return form is not None and form.grouped


def _has_codes(cells: list[str]) -> bool:
    return any(cell[0] == "0" and _ZEROS.fullmatch(cell) for cell in cells if cell)


def _about(names: list[str], one: str, several: str) -> str:
    """Say something about columns; nothing if there are none."""
    if not names:
        return ""
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"column {shown} {one}" if len(names) == 1 else f"columns {shown} {several}"


def _missing_notes(columns: list[Column], sample: TextSample) -> list[str]:
    """Name the words that were taken for missing values, as far as the sample shows them."""
    words: dict[str, None] = {}
    for k, column in enumerate(columns):
        if column.missing:
            spelled = sample.column(k)
            words |= dict.fromkeys(cell for cell in spelled if _is_word(cell, column.kind))
    total = sum(column.missing for column in columns)
    if not total:
        return []
    also = f", spelled {', '.join(map(repr, words))} or empty" if words else ""
    return [f"{total} cell{'s' if total > 1 else ''} without a value{also}"]


def _is_word(cell: str, kind: str) -> bool:
    words = MISSING_NUMBER if kind == "number" else MISSING_TEXT
    return cell != "" and cell.lower() in words


def _stray_notes(columns: list[Column], contents: Contents, sample: TextSample) -> list[str]:
    strays = {
        k: _stray(sample.column(k)) for k, form in contents.forms.items() if form is None
    } | contents.strays
    return [
        f"column {columns[k].name} is read as text, because {cell!r} in it is not a number"
        for k, cell in sorted(strays.items())
        if cell
    ]


def _stray(cells: list[str]) -> str:
    """Find the cell that spoils a column of numbers; empty if it is text anyway."""
    known = [cell for cell in cells if cell.lower() not in MISSING_NUMBER]
    other = [cell for cell in known if not any(form.matches(cell) for form in formats("."))]
    return other[0] if other and len(other) <= (1 - _NEARLY) * len(known) else ""
