"""How a later file is written that holds columns of a known schema: only its header is looked at.

Nothing here depends on the rows below the header, so that a part of a file is read as the whole.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.text.dialect import DELIMITERS, Dialect, TextSample, column_names
from aucstudio.project.data.text.layout import joined_names
from aucstudio.project.data.text.missing import BLANKS
from aucstudio.project.data.text.numerals import NumberFormat, guess_format
from aucstudio.project.data.text.records import Cutter
from aucstudio.project.data.text.separators import is_value, uncommented

# Lines among which the header is looked for.
_TITLE_LINES = 30


def later_dialect(text: str, schema: Schema, encoding: str, given: Mapping[str, Any]) -> Dialect:
    """Find the dialect of a later file: the schema's, but for marks under which more names fit.

    Parameters
    ----------
    text : str
        The first lines of the file.
    schema : Schema
        Whose dialect is known.
    encoding : str
    given : mapping of part to value
        The parts of the dialect that a person set.
    """
    assert schema.dialect is not None
    known = dataclasses.replace(schema.dialect, **{**given, "encoding": encoding})
    known.check()
    fits = _held(text, schema, known)
    if fits < len(schema.columns):
        best = max(_candidates(text, known, given), key=lambda other: _held(text, schema, other))
        known = best if _held(text, schema, best) > fits else known
    known = known if "skip" in given else _past_blank_lines(text, known)
    return known if not known.lower_rows else _without_rows_as_units(text, known)


def _without_rows_as_units(text: str, dialect: Dialect) -> Dialect:
    """Count units below the names no longer where rows of cells stand there."""
    count = dialect.upper_rows + 1
    below = _first_rows(text, dialect, count + dialect.lower_rows)[count:]
    are_rows = any(is_value(cell) for row in below for cell in row)
    return dataclasses.replace(dialect, lower_rows=0) if are_rows else dialect


def _past_blank_lines(text: str, dialect: Dialect) -> Dialect:
    lines = text.split("\n")
    skip = dialect.skip
    while skip < len(lines) - 1 and not lines[skip].strip():
        skip += 1
    return dataclasses.replace(dialect, skip=skip)


def later_sample(text: str, dialect: Dialect) -> TextSample:
    """Return the header of a later file as a sample without rows; its width is the header's."""
    first = _first_row(text, dialect)
    width = len(first) + bool(dialect.header and dialect.short_header)
    # One row stands for those of a file whose rows begin with their name.
    body = [["name"] * width] if dialect.short_header == "first" else []
    return TextSample(first, body, width)


def later_forms(names: list[str], schema: Schema, given: Mapping[str, Any]) -> dict[int, Any]:
    """Return how the numbers of each column are written; None for text, and for columns not known.

    A decimal mark that a person set holds for all columns; the other one then groups thousands.
    """
    known = schema.by_name
    forms: dict[int, NumberFormat | None] = {}
    for k, name in enumerate(names):
        column = known.get(name, ColumnSchema(name, kind="text"))
        form = None
        if column.kind == "number":
            mark = schema.dialect.decimal if schema.dialect else "."
            form = column.number or NumberFormat(mark)
            if "decimal" in given and not form.layout:
                form = dataclasses.replace(form, decimal=given["decimal"], grouped=True)
        forms[k] = form
    return forms


def guessed_forms(
    names: list[str], schema: Schema, sample: TextSample, decimal: str
) -> dict[int, NumberFormat | None]:
    """Return how numbers are written where the schema knows kinds at most, and no formats.

    That is all there is of an earlier program: formats are guessed as that program did.
    """
    kinds = {column.name: column.kind for column in schema.columns}
    forms: dict[int, NumberFormat | None] = {}
    for k, name in enumerate(names):
        kind = kinds.get(name)
        form = None if kind == "text" else guess_format(sample.column(k), decimal)
        forms[k] = NumberFormat(decimal) if form is None and kind == "number" else form
    return forms


def _candidates(text: str, known: Dialect, given: Mapping[str, Any]) -> Iterator[Dialect]:
    """List other ways to write the same columns, the likelier ones first."""
    marks = "".join(dict.fromkeys(known.delimiter + DELIMITERS))
    quotes = dict.fromkeys([known.quote, '"', "'"])
    lines = range(min(text.count("\n") + 1, _TITLE_LINES)) if known.header else []
    delimiters = [given["delimiter"]] if "delimiter" in given else [*marks]
    quoted = [given["quote"]] if "quote" in given else [*quotes]
    skips = [given["skip"]] if "skip" in given else [*dict.fromkeys([known.skip, *lines])]
    for skip, delimiter, quote in itertools.product(skips, delimiters, quoted):
        yield dataclasses.replace(known, skip=skip, delimiter=delimiter, quote=quote)


def _held(text: str, schema: Schema, dialect: Dialect) -> int:
    """Count the names of the schema that the header holds, read in a dialect."""
    sample = later_sample(text, dialect)
    if not dialect.header:
        return len(schema.columns) if sample.width == len(schema.columns) else 0
    names, _ = column_names(sample, dataclasses.replace(dialect, header=True))
    return len(set(names) & set(schema.names))


def _first_row(text: str, dialect: Dialect) -> list[str]:
    """Return the names as they stand in the header."""
    rows = _first_rows(text, dialect, dialect.upper_rows + 1)
    names = rows[-1] if rows else []
    for upper in reversed(rows[:-1]):
        names = joined_names(upper, names)
    return names


def _first_rows(text: str, dialect: Dialect, count: int) -> list[list[str]]:
    lines = text.split("\n")[dialect.skip :]
    if dialect.comment and lines and lines[0].lstrip().startswith(dialect.comment):
        lines[0] = uncommented(lines[0], dialect.comment)
    rows = Cutter(dialect).rows(lines)
    return [[cell.strip(BLANKS) for cell in row] for _, row in itertools.islice(rows, count)]
