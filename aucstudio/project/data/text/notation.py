"""Another notation of a column of numbers or dates: how a person names it, and what it comes to.

A person shows a cell as it is written in the later file, or a factor.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aucstudio.project.data.text import dates
from aucstudio.project.data.text.column_types import guess_form, is_ambiguous
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import PER_CENT, NumberFormat, other_mark
from aucstudio.project.errors import InputError

if TYPE_CHECKING:
    from aucstudio.project.data.schema import ColumnSchema


@dataclasses.dataclass(frozen=True)
class Remedy:
    """What a person can say of a later file to make a column readable.

    Attributes
    ----------
    setting : {"decimal", "missing", "written", "scale"}
    value : str
        The decimal mark, a word for a missing value, a cell as an example, or a factor.
    """

    setting: str
    value: str

    def of_column(self, name: str) -> str:
        """Return the value with the name of the column, where the setting is of one column."""
        return f"{name}={self.value}" if self.is_of_column else self.value

    @property
    def is_of_column(self) -> bool:
        """Whether it is said of one column, not of the whole table."""
        return self.setting in ("written", "scale")


def remedy_for(
    texts: Sequence[str], column: ColumnSchema, dialect: Dialect | None, *, some_known: bool
) -> Remedy | None:
    """Return what makes unreadable cells of a column readable; None if that is not known.

    Parameters
    ----------
    texts : sequence of str
        Some of the cells.
    column : ColumnSchema
        As it was in training.
    dialect : Dialect or None
        Of the training file.
    some_known : bool
        Whether other cells of the column could be read.
    """
    mark = "." if dialect is None else dialect.decimal
    trained = column.number or NumberFormat(mark)
    if not trained.layout:
        for decimal in (trained.decimal, other_mark(trained.decimal)):
            if dataclasses.replace(trained, decimal=decimal, grouped=True).matches_all(texts):
                return Remedy("decimal", decimal)
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
    """Return the format of a later column, some cell of which is given.

    Where its marks or a sign of per cent leave a choice, the number that lies nearest to the range
    of training decides.

    Parameters
    ----------
    example : str
        A cell of the later column.
    column : ColumnSchema
        As it was in training.
    marks : sequence of str
        The decimal marks that are possible.

    Raises
    ------
    InputError
        If the cell is no number or date as those of training, has another unit, or can be read in
        several ways.
    """
    example, trained = example.strip(), column.number or NumberFormat(marks[0])
    forms = [form for mark in marks for form in _forms_of(example, trained, mark)]
    if not forms:
        what = "a date" if trained.dated else "a number"
        beside = f" in {trained.affix!r}" if trained.affix else ""
        raise _unfit(column, f"{example!r} is not {what}{beside}")
    near = [_distance(column, form.read(example)) for form in forms]
    nearest = [form for form, far in zip(forms, near, strict=True) if far == min(near)]
    if len({form.read(example) for form in nearest}) > 1:
        raise _unfit(column, f"{example!r} can be read in several ways; take another cell")
    return nearest[0]


def _forms_of(example: str, trained: NumberFormat, mark: str) -> list[NumberFormat]:
    """Return the formats that a cell may have, given the decimal mark."""
    if trained.dated:
        layouts = [dates.DIGITS.get(len(example), ""), *dates.LAYOUTS]
        forms = [NumberFormat(mark, layout=layout) for layout in layouts if layout]
        matching = [form for form in forms if form.matches(example)]
        likeliest = matching[:1]
        # Days and months may be the other way round.
        return [*likeliest, *(f for f in matching if is_ambiguous(likeliest[0], [example]))]
    made = guess_form([example], mark)
    if made is None or made.dated or (trained.affix and made.affix not in ("", trained.affix)):
        return []
    scales = [_PER.get(trained.affix, 1.0) / _PER.get(made.affix, 1.0), 1.0]
    return [dataclasses.replace(made, grouped=True, scale=s) for s in dict.fromkeys(scales)]


def _distance(column: ColumnSchema, value: float) -> float:
    """Return how far a number lies outside the range of training, in its widths."""
    if column.range is None:
        return 0.0
    low, high = column.range.low, column.range.high
    width = (high - low) or abs(high) or 1.0
    return round(max(low - value, value - high, 0.0) / width, 9)


# What 1 is written as.
_PER = dict(zip(PER_CENT, (100.0, 1000.0), strict=True))


def _unfit(column: ColumnSchema, what: str) -> InputError:
    return InputError(
        f"column {column.name!r} cannot be read in this notation: {what}",
        column=column.name,
        setting="written",
    )
