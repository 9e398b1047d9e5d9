"""Row conditions such as ``age >= 40; town = Bern; income missing``."""

from __future__ import annotations

import dataclasses
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.notices.words import suggestion
from aucstudio.project.data.columns import Column, read_spelled
from aucstudio.project.errors import InputError

Mask = NDArray[np.bool_]

MISSING, KNOWN, CONTAINS = "missing", "known", "contains"
_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_SPELLED = {"≠": "!=", "≤": "<=", "≥": ">=", "==": "="}
_PART = re.compile(
    r"""\s*(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^"<>=!≠≤≥]*?))\s*
    (?:(?P<test><=|>=|!=|==|[<>=≠≤≥])\s*(?P<value>.*)
      |\b(?P<word>contains)\s+(?P<text>.+)|\b(?P<state>missing|known))\s*""",
    re.VERBOSE | re.DOTALL,
)
_SPECIAL = re.compile(r"""[";<>=!≠≤≥]|\b(contains|missing|known)\b|^\s|\s$|^$""")
_WINDOW = 50_000


@dataclasses.dataclass(frozen=True)
class Condition:
    """One condition on the cells of a column.

    Attributes
    ----------
    column : str
    test : str
        One of = != < > <= >=, "contains", "missing" or "known".
    value : str
        What cells are compared with; for = of numbers also a range, as 20..30, both ends included.
    """

    column: str
    test: str
    value: str = ""

    def __str__(self) -> str:
        name = _quoted(self.column) if _SPECIAL.search(self.column) else self.column
        if self.test in (MISSING, KNOWN):
            return f"{name} {self.test}"
        value = self.value
        value = _quoted(value) if re.search(r'^"|;|^\s|\s$|^$', value) else value
        return f"{name} {self.test} {value}"

    def holds(self, column: Column) -> Mask:
        """Mark the rows that it holds for; a missing value meets no condition but ``missing``.

        Raises
        ------
        InputError
            If the column cannot be compared so.
        """
        if self.test in (MISSING, KNOWN):
            known = by_windows(column.values, _known)
            return ~known if self.test == MISSING else known
        return self._of_text(column) if column.kind == "text" else self._of_numbers(column)

    def _of_numbers(self, column: Column) -> Mask:
        if self.test == CONTAINS:
            raise InputError(
                f"column {self.column!r} holds numbers: compare them with =, <, > or a range such "
                "as 20..30",
                column=self.column,
            )
        ends = self.value.split("..")
        values, bounds = column.values, [self._number(end, column) for end in ends]
        if len(ends) == 2 and self.test == "=":
            within: Mask = (values >= bounds[0]) & (values <= bounds[1])
            return within
        marked: Mask = _COMPARED[self.test](values, bounds[0])
        return marked & ~np.isnan(values) if self.test == "!=" else marked

    def _number(self, text: str, column: Column) -> float:
        value = read_spelled(column, text)
        if math.isnan(value):
            value = read_spelled(column, text.replace("−", "-").replace(",", ""))
        if math.isnan(value) or len(self.value.split("..")) > 2:
            what = (
                "date, and column {0!r} holds dates, as 2020-01-31"
                if column.is_date
                else ("number, and column {0!r} holds numbers")
            )
            raise InputError(
                f"{self.value!r} is not a {what.format(self.column)}",
                column=self.column,
            )
        return value

    def _of_text(self, column: Column) -> Mask:
        if self.test not in ("=", "!=", CONTAINS):
            raise InputError(
                f"column {self.column!r} holds text: use =, != or contains",
                column=self.column,
            )
        wanted = self.value.casefold()
        if self.test == CONTAINS:
            return by_windows(
                column.values,
                lambda part: np.array(
                    [cell is not None and wanted in cell.casefold() for cell in part], dtype=bool
                ),
            )
        equal = by_windows(column.values, lambda part: np.equal(part, self.value).astype(bool))
        return equal if self.test == "=" else ~equal & by_windows(column.values, _known)


def by_windows(values: NDArray[Any], mark: Callable[[NDArray[Any]], Mask]) -> Mask:
    """Mark cells some at a time: one pass over objects in C would hold the GIL throughout."""
    if values.dtype != object:
        return mark(values)
    marks = np.empty(len(values), dtype=bool)
    for start in range(0, len(values), _WINDOW):
        part = slice(start, start + _WINDOW)
        marks[part] = mark(values[part])
    return marks


def _known(values: NDArray[Any]) -> Mask:
    if values.dtype == object:
        present: Mask = np.not_equal(values, np.array(None)).astype(bool)
        return present
    known: Mask = ~np.isnan(values)
    return known


def read_conditions(text: str, columns: Mapping[str, Column]) -> tuple[Condition, ...]:
    """Read conditions separated by semicolons, all of which must hold.

    Raises
    ------
    InputError
        If a part is no condition, or names no column, or compares what cannot be compared.
    """
    found = [_read(part, columns) for part in _parts(text) if part.strip()]
    for condition in found:
        column = columns[condition.column]
        condition.holds(column.part(slice(0)))
    return tuple(found)


def _parts(text: str) -> list[str]:
    """Cut at semicolons outside quotes."""
    return [part[1:] for part in re.findall(r';(?:[^";]|"[^"]*"?)*', f";{text}")]


def _read(part: str, columns: Mapping[str, Column]) -> Condition:
    found = _PART.fullmatch(part)
    if found is None:
        raise InputError(
            f"{part.strip()!r} is not a condition: write a column and a test, such as "
            "age >= 40, town = Bern, name contains ann, income missing"
        )
    plain, quoted = found["plain"], found["quoted"]
    name = quoted.replace('""', '"') if quoted else plain.strip()
    if name not in columns:
        alike = [known for known in columns if known.casefold() == name.casefold()]
        if len(alike) != 1:
            raise InputError(
                f"there is no column {name!r}" + suggestion(name, columns), column=name
            )
        name = alike[0]
    if found["state"]:
        return Condition(name, found["state"])
    if found["word"]:
        return Condition(name, CONTAINS, _plain(found["text"]))
    test, value = _SPELLED.get(found["test"], found["test"]), _plain(found["value"])
    if not value and not found["value"].strip():
        raise InputError(f"{part.strip()!r} has no value to compare {name!r} with", column=name)
    return Condition(name, test, value)


def _plain(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"')
    return text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
