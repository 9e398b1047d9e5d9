"""Expressions and intermediate results of SQL that DuckDB and SQLite read alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from aucstudio.engine.arrays import Array
from aucstudio.project.data.input_files import literal, quoted
from aucstudio.project.errors import input_error

LARGEST = 1.7976931348623157e308
_PREFIX = "auc_"
_NAME = re.compile(rf"\b{_PREFIX}\d+\b")
_TERMS = 100  # of a sum without brackets: databases limit how deep an expression is


def number(value: float) -> str:
    """Return a literal of type double: without an exponent, DuckDB reads a decimal."""
    text = repr(float(value))
    exact = text if "e" in text else f"{text}e0"
    return f"({exact})" if value < 0 else exact


def text(value: str) -> str:
    """Return a text literal.

    Raises
    ------
    InputError
        If the text cannot be part of a SQL file.
    """
    return literal(_writable(value))


def identifier(name: str) -> str:
    """Return a quoted column name.

    Raises
    ------
    InputError
        If the name cannot be part of a SQL file.
    """
    return quoted(_writable(name))


def _writable(value: str) -> str:
    if "\0" in value or value.encode("utf-8", "replace").decode() != value:
        raise input_error("export_name_unfit", name=value)
    return value


def total(terms: Iterable[str]) -> str:
    """Return the sum of terms; 0 of none."""
    groups = list(terms)
    if not groups:
        return number(0.0)
    while len(groups) > _TERMS:
        parts = (groups[k : k + _TERMS] for k in range(0, len(groups), _TERMS))
        groups = [f"({' + '.join(part)})" for part in parts]
    return " + ".join(groups)


def floor_ratio(whole: str, divisor: int) -> str:
    """Return the quotient of a whole number that is not negative, rounded down."""
    return f"(({whole}) - ({whole}) % {divisor}) / {number(divisor)}"


def cases(conditions: Sequence[tuple[str, str]], default: str) -> str:
    """Return a ``CASE`` of conditions and results."""
    if not conditions:
        return default
    lines = "".join(f" WHEN {condition} THEN {result}" for condition, result in conditions)
    return f"CASE{lines} ELSE {default} END"


class SqlQuery:
    """Intermediate results with names, computed before the expression that uses them.

    Results that depend on others are in a later stage: ``WITH stage0 AS (…), stage1 AS (…)``.
    Stages are not nested, as SQLite's parser holds no more than a hundred open symbols. They are
    materialised, as SQLite would put each expression in the place of its name, again and again.
    """

    def __init__(self) -> None:
        self._levels: dict[str, int] = {}
        self._stages: list[list[str]] = []
        self._known: dict[str, str] = {}

    def named(self, expression: str) -> str:
        """Return the name of a result; equal expressions share it."""
        if _NAME.fullmatch(expression):
            return expression
        if expression not in self._known:
            level = max((self._levels[name] + 1 for name in _NAME.findall(expression)), default=0)
            name = f"{_PREFIX}{len(self._levels)}"
            self._levels[name] = level
            self._known[expression] = name
            while len(self._stages) <= level:
                self._stages.append([])
            self._stages[level].append(f"{expression} AS {name}")
        return self._known[expression]

    def select(self, expression: str) -> str:
        """Return the whole expression: one value of one row."""
        if not self._stages:
            return f"({expression})"
        stages = []
        for k, stage in enumerate(self._stages):
            earlier, source = (["*"], f"\nFROM {_PREFIX}stage{k - 1}") if k else ([], "")
            results = ",\n".join([*earlier, *stage])
            stages.append(f"{_PREFIX}stage{k} AS MATERIALIZED (SELECT\n{results}{source})")
        last = f"{_PREFIX}stage{len(self._stages) - 1}"
        return f"(WITH {', '.join(stages)}\nSELECT {expression}\nFROM {last})"


def on_lines(named: Callable[[str], str], cells: str, knots: Array, heights: Array) -> str:
    """Return the height on the lines between knots, level beyond the outer ones; in halves."""
    x, (first, last) = named(cells), map(number, knots[[0, -1]])
    inside = f"CASE WHEN {x} < {first} THEN {first} WHEN {x} > {last} THEN {last} ELSE {x} END"
    if len(knots) == 1:
        return f"{x} * 0e0 + {number(heights[0])}"
    x, halves, rises = named(inside), knots / 2, np.diff(heights)
    widths = np.diff(halves)
    pieces = [
        f"{number(height)} + ({x} / 2e0 - {number(half)}) / {number(width or 1.0)} * {number(rise)}"
        for height, half, width, rise in zip(heights, halves, widths, rises, strict=False)
    ]
    conditions = [f"{x} < {number(knot)}" for knot in knots[1:-1]]
    return cases(list(zip(conditions, pieces, strict=False)), pieces[-1])
