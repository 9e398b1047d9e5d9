"""Conditions on the cells of a column, such as ``age >= 40; town = Bern; income missing``."""

from __future__ import annotations

import dataclasses
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from aucstudio.engine.arrays import Mask
from aucstudio.notices.words import suggestion
from aucstudio.project.data.columns import Column, by_windows, read_spelled, spell_cell
from aucstudio.project.errors import input_error

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
        """Mark the rows that meet it; a missing value meets no condition but ``missing``.

        Raises
        ------
        InputError
            If the column cannot be compared like this.
        """
        if self.test in (MISSING, KNOWN):
            return column.known() if self.test == KNOWN else ~column.known()
        if column.kind == "number":
            return self._of_numbers(column)
        if self.test not in ("=", "!=", CONTAINS):
            raise input_error("condition_of_text", column=self.column)
        if self.test == CONTAINS:
            wanted = self.value.casefold()
            return by_windows(
                column.values,
                lambda part: [cell is not None and wanted in cell.casefold() for cell in part],
            )
        equal = column.equals(self.value)
        return equal if self.test == "=" else ~equal & column.known()

    def _of_numbers(self, column: Column) -> Mask:
        if self.test == CONTAINS:
            raise input_error("condition_of_numbers", column=self.column)
        ends = self.value.split("..")
        values, bounds = column.values, [self._number(end, column) for end in ends]
        if len(ends) == 2 and self.test == "=":
            return np.asarray((values >= bounds[0]) & (values <= bounds[1]))
        marked: Mask = _COMPARED[self.test](values, bounds[0])
        return marked & ~np.isnan(values) if self.test == "!=" else marked

    def _number(self, text: str, column: Column) -> float:
        value = read_spelled(column, text)
        if math.isnan(value):
            value = read_spelled(column, text.replace("−", "-").replace(",", ""))
        if math.isnan(value) or len(self.value.split("..")) > 2:
            code = "condition_without_date" if column.is_date else "condition_without_number"
            raise input_error(code, column=self.column, value=self.value)
        return value


def read_conditions(text: str, columns: Mapping[str, Column]) -> tuple[Condition, ...]:
    """Read conditions separated by semicolons, all of which must hold.

    A text without a test is an identifier where a column has these.

    Raises
    ------
    InputError
        If a part is not a condition, names no column, or compares what cannot be compared.
    """
    # Semicolons in quotes separate nothing.
    parts = [part[1:] for part in re.findall(r';(?:[^";]|"[^"]*"?)*', f";{text}")]
    found = [_read(part, columns) for part in parts if part.strip()]
    for condition in found:
        condition.holds(columns[condition.column].part(slice(0)))
    return tuple(found)


def _read(part: str, columns: Mapping[str, Column]) -> Condition:
    found = _PART.fullmatch(part)
    named = next((column.name for column in columns.values() if column.identifies), None)
    if found is None and named is not None:
        return Condition(named, "=", _plain(part))
    if found is None:
        raise input_error("condition_invalid", text=part.strip())
    name = found["quoted"].replace('""', '"') if found["quoted"] else found["plain"].strip()
    if name not in columns:
        alike = [known for known in columns if known.casefold() == name.casefold()]
        if len(alike) != 1:
            hint = suggestion(name, columns)
            raise input_error("condition_column_unknown", column=name, hint=hint)
        name = alike[0]
    if found["state"]:
        return Condition(name, found["state"])
    if found["word"]:
        return Condition(name, CONTAINS, _plain(found["text"]))
    test, value = _SPELLED.get(found["test"], found["test"]), _plain(found["value"])
    if not value and not found["value"].strip():
        raise input_error("condition_without_value", column=name, text=part.strip())
    return Condition(name, test, value)


def _plain(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"')
    return text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def like_cell(column: Column, row: int, test: str = "=") -> Condition:
    """Make the condition that a row's cell fulfils, or another test against that cell."""
    value = column.values[row]
    if value is None or value != value:
        return Condition(column.name, MISSING if test == "=" else KNOWN)
    if column.kind == "text":
        return Condition(column.name, test, str(value))
    spelled = spell_cell(column, value)
    exact = read_spelled(column, spelled) == value
    return Condition(column.name, test, spelled if exact and column.is_date else repr(float(value)))
