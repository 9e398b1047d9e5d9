"""Read a later file by a known schema.

Only its header is used, so that part of a file is read as the whole file is. If a column has
another notation, a person gives an example of its cells, or a factor.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.column_types import guess_form, is_ambiguous
from aucstudio.project.data.text.cutter import Cutter
from aucstudio.project.data.text.dialect import (
    DELIMITERS,
    Dialect,
    TextSample,
    column_names,
)
from aucstudio.project.data.text.header import joined_names
from aucstudio.project.data.text.numerals import (
    BLANKS,
    PER_CENT,
    NumberFormat,
    other_mark,
)
from aucstudio.project.data.text.separators import is_value, uncommented
from aucstudio.project.errors import InputError, input_error

# The lines that may be the header.
_TITLE_LINES = 30


def later_dialect(text: str, schema: Schema, encoding: str, given: Mapping[str, Any]) -> Dialect:
    """Return the dialect of a later file: the schema's, with the marks by which most names match.

    Parameters
    ----------
    text : str
        The first lines of the file.
    schema : Schema
        A schema with a dialect.
    encoding : str
    given : mapping of part to value
        The parts of the dialect that a person set.
    """
    assert schema.dialect is not None
    known = dataclasses.replace(schema.dialect, **{**given, "encoding": encoding})
    known.check()
    fits = _matching_names(text, schema, known)
    if fits < len(schema.columns):
        best = max(
            _candidates(text, known, given), key=lambda other: _matching_names(text, schema, other)
        )
        known = best if _matching_names(text, schema, best) > fits else known
    if "skip" not in given:
        # The table begins below blank lines.
        lines = text.split("\n")[known.skip : -1]
        blank = next((k for k, line in enumerate(lines) if line.strip()), len(lines))
        known = dataclasses.replace(known, skip=known.skip + blank)
    return known if not known.lower_rows else _without_rows_as_units(text, known)


def _without_rows_as_units(text: str, dialect: Dialect) -> Dialect:
    """Return a dialect without rows of units if data rows are among them."""
    count = dialect.upper_rows + 1
    below = _first_rows(text, dialect, count + dialect.lower_rows)[count:]
    are_rows = any(is_value(cell) for row in below for cell in row)
    return dataclasses.replace(dialect, lower_rows=0) if are_rows else dialect


def later_sample(text: str, dialect: Dialect) -> TextSample:
    """Return the header of a later file as a sample without rows; its width is the header's."""
    rows = _first_rows(text, dialect, dialect.upper_rows + 1)
    first = rows[-1] if rows else []
    for upper in reversed(rows[:-1]):
        first = joined_names(upper, first)
    width = len(first) + bool(dialect.header and dialect.short_header)
    # A placeholder for rows that begin with their name.
    body = [["name"] * width] if dialect.short_header == "first" else []
    return TextSample(first, body, width)


def later_forms(names: list[str], schema: Schema, given: Mapping[str, Any]) -> dict[int, Any]:
    """Return the format of each column; None for text, and for unknown columns.

    A decimal mark that a person set holds for all columns; the other mark then groups thousands.
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
            form = form.with_limits(given.get("limits", form.limits))
        forms[k] = form
    return forms


def _candidates(text: str, known: Dialect, given: Mapping[str, Any]) -> Iterator[Dialect]:
    """Yield other dialects of the same columns, likeliest first."""
    marks = "".join(dict.fromkeys(known.delimiter + DELIMITERS))
    quotes = dict.fromkeys([known.quote, '"', "'"])
    lines = range(min(text.count("\n") + 1, _TITLE_LINES)) if known.header else []
    delimiters = [given["delimiter"]] if "delimiter" in given else [*marks]
    quoted = [given["quote"]] if "quote" in given else [*quotes]
    skips = [given["skip"]] if "skip" in given else [*dict.fromkeys([known.skip, *lines])]
    for skip, delimiter, quote in itertools.product(skips, delimiters, quoted):
        yield dataclasses.replace(known, skip=skip, delimiter=delimiter, quote=quote)


def _matching_names(text: str, schema: Schema, dialect: Dialect) -> int:
    """Count the names of the schema in the header, if read in a dialect."""
    sample = later_sample(text, dialect)
    if not dialect.header:
        return len(schema.columns) if sample.width == len(schema.columns) else 0
    names, _ = column_names(sample, dataclasses.replace(dialect, header=True))
    return len(set(names) & set(schema.names))


def _first_rows(text: str, dialect: Dialect, count: int) -> list[list[str]]:
    lines = text.split("\n")[dialect.skip :]
    if dialect.comment and lines and lines[0].lstrip().startswith(dialect.comment):
        lines[0] = uncommented(lines[0], dialect.comment)
    rows = Cutter(dialect).rows(lines)
    return [[cell.strip(BLANKS) for cell in row] for _, row in itertools.islice(rows, count)]


@dataclasses.dataclass(frozen=True)
class Remedy:
    """An option that makes a column of a later file readable.

    Attributes
    ----------
    setting : {"decimal", "missing", "written", "scale"}
    value : str
        The decimal mark, the spelling of a missing value, an example of a cell, or a factor.
    """

    setting: str
    value: str

    def of_column(self, name: str) -> str:
        """Return the value, with the name of the column if the setting is for one column."""
        return f"{name}={self.value}" if self.is_of_column else self.value

    @property
    def is_of_column(self) -> bool:
        """Whether the setting is for one column."""
        return self.setting in ("written", "scale")


def remedy_for(
    texts: Sequence[str], column: ColumnSchema, dialect: Dialect | None, *, some_known: bool
) -> Remedy | None:
    """Return the option that makes unreadable cells of a column readable; None if unknown.

    Parameters
    ----------
    texts : sequence of str
        Some of the cells.
    column : ColumnSchema
        The column of the training file.
    dialect : Dialect or None
        The dialect of the training file.
    some_known : bool
        Whether other cells of the column were read.
    """
    mark = "." if dialect is None else dialect.decimal
    trained = column.number or NumberFormat(mark)
    if not trained.layout:
        marks = trained.decimal, other_mark(trained.decimal)
        forms = [dataclasses.replace(trained, decimal=mark, grouped=True) for mark in marks]
        if fitting := [form for form in forms if form.matches_all(texts)]:
            # 1,266 is a fraction if training had numbers up to 100.
            far = [sum(_distance(column, form.read(text)) for text in texts) for form in fitting]
            return Remedy("decimal", fitting[far.index(min(far))].decimal)
    if not any(c.isdigit() for text in texts for c in text):
        return Remedy("missing", texts[0]) if len(texts) == 1 and some_known else None
    for example in sorted(texts, key=len, reverse=True):
        try:
            made = form_like(example, column, (trained.decimal, other_mark(trained.decimal)))
        except InputError:
            continue
        if sum(map(made.matches, texts)) > len(texts) / 2:
            return Remedy("written", example)
    return None


def form_like(example: str, column: ColumnSchema, marks: Sequence[str]) -> NumberFormat:
    """Return the format of a column of a later file from an example of its cells.

    If several formats fit, the one that reads the number nearest to the training range is chosen.

    Parameters
    ----------
    example : str
        A cell of the column.
    column : ColumnSchema
        The column of the training file.
    marks : sequence of str
        The possible decimal marks.

    Raises
    ------
    InputError
        If the cell is not a number or date as in training, has another unit, or can be read in
        several ways.
    """
    example, trained = example.strip(), column.number or NumberFormat(marks[0])
    forms = [form for mark in marks for form in _forms_of(example, trained, mark)]
    if not forms:
        what = "a date" if trained.dated else "a number"
        unit = f" in {trained.affix!r}" if trained.affix else ""
        raise input_error("cell_unfit", column=column.name, cell=example, what=what + unit)
    near = [_distance(column, form.read(example)) for form in forms]
    nearest = [form for form, far in zip(forms, near, strict=True) if far == min(near)]
    if len({form.read(example) for form in nearest}) > 1:
        raise input_error("cell_ambiguous", column=column.name, cell=example)
    return nearest[0]


def _forms_of(example: str, trained: NumberFormat, mark: str) -> list[NumberFormat]:
    """Return the formats that a cell may have with a decimal mark."""
    if trained.dated:
        layouts = [dates.DIGITS.get(len(example), ""), *dates.LAYOUTS]
        forms = [NumberFormat(mark, layout=layout) for layout in layouts if layout]
        matching = [form for form in forms if form.matches(example)]
        likeliest = matching[:1]
        # Days and months may be swapped.
        return [*likeliest, *(f for f in matching if is_ambiguous(likeliest[0], [example]))]
    made = guess_form([example], mark)
    if made is None or made.dated or (trained.affix and made.affix not in ("", trained.affix)):
        return []
    scales = [_PER.get(trained.affix, 1.0) / _PER.get(made.affix, 1.0), 1.0]
    return [dataclasses.replace(made, grouped=True, scale=s) for s in dict.fromkeys(scales)]


def _distance(column: ColumnSchema, value: float) -> float:
    """Return the distance of a number from the training range, in widths of the range."""
    if column.range is None:
        return 0.0
    low, high = column.range.low, column.range.high
    width = (high - low) or abs(high) or 1.0
    return round(max(low - value, value - high, 0.0) / width, 9)


# How 1 is written.
_PER = dict(zip(PER_CENT, (100.0, 1000.0), strict=True))
