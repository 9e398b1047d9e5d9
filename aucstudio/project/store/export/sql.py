"""Export a model as a SQL statement for DuckDB and SQLite.

Only what both read alike is used: ``%`` on whole numbers, ``CASE``, ``CAST``, ``substr``. Days
count from 0000-03-01 within calendar formulas, so that nothing is negative.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from aucstudio.engine.calibration import TILT, Calibration, Sigmoid, Steps
from aucstudio.engine.ensembles.combined import CombinationScorer, ViewedScorer
from aucstudio.engine.features.splines import AdditiveScorer
from aucstudio.engine.scorers import EnsembleScorer, LinearScorer, inner_scorers
from aucstudio.project.data.preparing.preparation import (
    Array,
    CategoryFeatures,
    NumberFeature,
    Preparation,
    category_features,
    number_features,
)
from aucstudio.project.data.preparing.scales import MISSING
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.dates import CIRCLES, FARTHEST, TICKS, WHOLE, DatePart, around
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.errors import input_error
from aucstudio.project.runs.model import Model
from aucstudio.project.store.export.document import ScorerVisitor, date_inputs, describe, printable

MOST_NODES, MOST_FEATURES = 50_000, 1_500
_DEPTH = 7  # of nested cases: SQLite's parser holds a hundred symbols
_TABLE = "cases"


def check(model: Model) -> None:
    """Refuse a model that has no SQL statement.

    Raises
    ------
    InputError
        With the reason, and the formats that can hold the model.
    """
    _SqlWriter.check(model)
    scorers = [model.scorer, *inner_scorers(model.scorer)]
    nodes = sum(len(scorer.value) for scorer in scorers if isinstance(scorer, EnsembleScorer))
    features = len(model.preparation.feature_names)
    for count, most, what in (
        (nodes, MOST_NODES, "tree nodes"),
        (features, MOST_FEATURES, "prepared columns"),
    ):
        if count > most:
            raise input_error(
                "export_too_large", method=model.method, count=count, what=what, most=most
            )


def write(model: Model) -> bytes:
    """Write a model as a SQL statement.

    Raises
    ------
    InputError
        If the model has no SQL statement; see :func:`check`.
    """
    check(model)
    query, taken = SqlQuery(), set(model.preparation.columns)
    features = SqlColumns(query, model.preparation, model.schema, _TABLE).features()
    raw = _SqlWriter(query).visit(model.scorer, features)
    expression = query.select(f"{raw} + {number(model.intercept)}")
    score, predicted, probability = (
        identifier(_free(name, taken)) for name in ("score", "predicted", "probability")
    )
    outputs = [f"{_TABLE}.*", f"{_predicted(model, f'{_TABLE}.{score}')} AS {predicted}"]
    if model.calibration is not None:
        outputs.append(f"{_probability(model.calibration, f'{_TABLE}.{score}')} AS {probability}")
    statement = (
        f"SELECT {', '.join(outputs)}\nFROM (\nSELECT {_TABLE}.*,\n{expression} AS {score}\n"
        f"FROM {identifier(_TABLE)} AS {_TABLE}\n) AS {_TABLE}\n"
    )
    comments = "".join(f"-- {printable(line)}\n" for line in _comments(model))
    return (comments + statement).encode()


def _comments(model: Model) -> list[str]:
    lines = [
        *describe(model),
        f'Replace "{_TABLE}" in the last lines by the name of your table. It needs the columns '
        f"{', '.join(map(repr, model.preparation.columns))}.",
        "Numbers are stored as numbers, missing values as NULL.",
        "Dates are DATE, TIMESTAMP or texts such as 2023-01-31 12:30:00, in UTC and without a "
        "zone; times of day are TIME or texts such as 12:30:00.",
        "Runs in DuckDB and in SQLite 3.35 or newer with its mathematical functions.",
    ]
    return [*lines, *(f"{name!r}: {words}." for name, words in date_inputs(model).items())]


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no column has; databases ignore the case of letters."""
    known = {other.lower() for other in taken}
    while name in known:
        name += "_"
    return name


def _predicted(model: Model, score: str) -> str:
    positive, negative = text(model.positive), text(model.negative)
    if math.isinf(model.threshold):
        return negative if model.threshold > 0 else positive
    return f"CASE WHEN {score} > {number(model.threshold)} THEN {positive} ELSE {negative} END"


# ------------------------------------------------------------------ scorers


class _SqlWriter(ScorerVisitor[str]):
    """Writes scorers as expressions; each method takes the names of the features."""

    title = "SQL"

    def __init__(self, query: SqlQuery) -> None:
        self._query = query

    def linear(self, scorer: LinearScorer, features: Sequence[str]) -> str:
        weighted = zip(scorer.weights.tolist(), features, strict=True)
        return f"({total(f'{number(weight)} * {x}' for weight, x in weighted if weight)})"

    def trees(self, scorer: EnsembleScorer, features: Sequence[str]) -> str:
        terms = [term for root in scorer.roots.tolist() for term in _tree(scorer, root, features)]
        return f"({number(scorer.base)} + {total(terms)})"

    def additive(self, scorer: AdditiveScorer, features: Sequence[str]) -> str:
        terms, first = [], 0
        for c, (k, count) in enumerate(zip(scorer.feature, scorer.n_breaks, strict=True)):
            x = features[k]
            breaks = scorer.breaks[first : first + count].tolist()
            *pieces, last = (
                _cubic(x, float(scorer.origins[p]), scorer.coefficients[p])
                for p in range(first + c, first + c + count + 1)
            )
            places = [
                (f"{x} <= {number(b)}", piece) for b, piece in zip(breaks, pieces, strict=True)
            ]
            terms.append(cases([(f"{x} IS NULL", "0e0"), *places], last))
            first += count
        return f"({total(terms)})"

    def combination(self, scorer: CombinationScorer, features: Sequence[str]) -> str:
        terms = []
        for part in scorer.parts:
            score = self._query.named(self.visit(part.scorer, features))
            if part.smoothing:
                smoothing = number(part.smoothing)
                score = f"LN(({score} + {smoothing}) / (1 - {score} + {smoothing}))"
            terms.append(f"{number(part.factor)} * {score}")
        return f"({number(scorer.base)} + {total(terms)})"

    def viewed(self, scorer: ViewedScorer, features: Sequence[str]) -> str:
        view, seen = scorer.view, []
        rows = zip(view.columns, view.factors, view.shifts, view.fills, strict=True)
        for column, factor, shift, fill in rows:
            cell = features[column]
            if factor != 1.0 or shift != 0.0:
                cell = f"({cell} * {number(factor)} + {number(shift)})"
            filled = cell if math.isnan(fill) else f"COALESCE({cell}, {number(fill)})"
            seen.append(self._query.named(filled))
        return self.visit(scorer.scorer, seen)


def _tree(scorer: EnsembleScorer, root: int, features: Sequence[str]) -> list[str]:
    """Return terms that add up to a tree: its upper part, and what hangs below on paths of its own.

    Below the upper part every term is 0 except on its own path, so each is nested only so deep.
    """
    terms: list[str] = []
    waiting: list[tuple[int, tuple[str, ...]]] = [(root, ())]
    while waiting:
        node, path = waiting.pop()
        expression = _node(scorer, node, features, _DEPTH, path, waiting)
        terms.append(cases([(" AND ".join(path), expression)], "0e0") if path else expression)
    return terms


def _node(
    scorer: EnsembleScorer,
    node: int,
    features: Sequence[str],
    depth: int,
    path: tuple[str, ...],
    waiting: list[tuple[int, tuple[str, ...]]],
) -> str:
    left, right = int(scorer.left[node]), int(scorer.right[node])
    if left == node and right == node:
        return number(float(scorer.value[node]))
    if depth == 0:
        waiting.append((node, path))
        return "0e0"
    goes_left, goes_right = _split(scorer, node, features)
    lower = _node(scorer, left, features, depth - 1, (*path, goes_left), waiting)
    upper = _node(scorer, right, features, depth - 1, (*path, goes_right), waiting)
    return cases([(goes_left, lower)], upper)


def _split(scorer: EnsembleScorer, node: int, features: Sequence[str]) -> tuple[str, str]:
    """Return the conditions under which a row goes left and right."""
    x, limit = features[int(scorer.feature[node])], float(scorer.threshold[node])
    below, above = f"{x} <= {number(limit)}", f"{x} > {number(limit)}"
    if math.isinf(limit):
        below, above = f"{x} IS NOT NULL", "1 = 0"
        if limit < 0:
            below, above = above, below
    if scorer.gaps_left[node]:
        return f"({below} OR {x} IS NULL)", above
    return below, f"({above} OR {x} IS NULL)"


def _cubic(x: str, origin: float, coefficients: np.ndarray) -> str:
    t, (*lower, value) = f"({x} - {number(origin)})", map(number, coefficients.tolist())
    for part in reversed(lower):
        value = f"({value} * {t} + {part})"
    return value


# ------------------------------------------------------------------ probabilities


def _probability(made: Calibration, score: str) -> str:
    """Return the probability of a score; see :mod:`aucstudio.engine.calibration`."""
    query = SqlQuery()
    named = query.named
    far = f"({score} - {number(made.centre)}) / {number(made.scale)}"
    u = named(cases([(f"{far} > 1e100", "1e100"), (f"{far} < -1e100", "-1e100")], far))
    v = named(f"CASE WHEN {u} < 0 THEN -1e0 ELSE 1e0 END * LN(ABS({u}) + 1)")
    tilt = f"(1 + {v} / (1 + ABS({v}))) / 2e0"
    if isinstance(made, Sigmoid):
        share = _sigmoid(named, u, made)
    else:
        assert isinstance(made, Steps)
        share = _on_lines(named, u, made.knots, made.values)
    return query.select(f"{number(1 - TILT)} * ({share}) + {number(TILT)} * {tilt}")


def _softplus(z: str) -> str:
    """Return ln(1 + exp(z)), which does not overflow."""
    return f"(CASE WHEN {z} > 0 THEN {z} ELSE 0e0 END + LN(EXP(-ABS({z})) + 1))"


def _sigmoid(named: Callable[[str], str], u: str, made: Sigmoid) -> str:
    z = named(f"{u} * {number(made.slope)} + {number(made.offset)}")
    low = named(f"-{z}")
    eta = named(
        f"-({number(made.high)} * {_softplus(z)} - {number(made.low)} * {_softplus(low)} + "
        f"{number(made.shift)})"
    )
    return f"EXP(-{_softplus(eta)})"


def _on_lines(named: Callable[[str], str], cells: str, knots: Array, heights: Array) -> str:
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
    return f"'{_writable(value).replace(chr(39), chr(39) * 2)}'"


def identifier(name: str) -> str:
    """Return a quoted column name.

    Raises
    ------
    InputError
        If the name cannot be part of a SQL file.
    """
    return f'"{_writable(name).replace(chr(34), chr(34) * 2)}"'


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


def looked_up(value: str, results: Mapping[str, str], default: str) -> list[tuple[str, str]]:
    """Return conditions that a text is one of some, by their results."""
    grouped: dict[str, list[str]] = {}
    for key, result in results.items():
        if result != default:
            grouped.setdefault(result, []).append(key)
    return [(f"{value} IN ({', '.join(keys)})", result) for result, keys in grouped.items()]


_EPOCH = 719_468  # days from 0000-03-01 to 1970-01-01


class SqlColumns:
    """Columns of a table as the features that a method sees.

    Parameters
    ----------
    query : Query
    learnt : Preparation
    schema : Schema
    table : str
        What the table is called in the query.
    """

    def __init__(self, query: SqlQuery, learnt: Preparation, schema: Schema, table: str) -> None:
        self._query, self._learnt, self._table = query, learnt, table
        self._known = schema.by_name
        self._gaps = sorted((schema.dialect or Dialect()).text_words | {""})

    def features(self) -> list[str]:
        """Return the names of the prepared columns, in the order of ``feature_names``."""
        named, marks, numbers = self._query.named, {}, []
        for one in number_features(self._learnt):
            cells = self._share(one) if one.shares is not None else self._near(one)
            if one.is_marked:
                marks[one.column] = f"CASE WHEN {cells} IS NULL THEN 1e0 ELSE 0e0 END"
            if one.shares is None and not self._learnt.keep_gaps:
                cells = f"COALESCE({cells}, {number(one.median)})"
            numbers.append(named(self._scaled(one, cells)))
        coded = [
            named(f"CASE WHEN {place} = {j} THEN 1e0 ELSE 0e0 END")
            for one in category_features(self._learnt)
            for place in [self._place(one)]
            for j in range(len(one.levels))
        ]
        return [*numbers, *coded, *(named(marks[name]) for name in self._learnt.indicated)]

    # ------------------------------------------------------------------ cells

    def _column(self, name: str) -> str:
        return f"{self._table}.{identifier(name)}"

    def _cells(self, one: NumberFeature) -> str:
        """Return a number before limits and scales; missing values are NULL."""
        cells = self._query.named(self._plain(one.column))
        if one.absent:
            words = ", ".join(map(number, one.absent))
            cells = self._query.named(f"CASE WHEN {cells} IN ({words}) THEN NULL ELSE {cells} END")
        return cells if one.part is None else self._query.named(self._part(cells, one.part))

    def _plain(self, source: str) -> str:
        """Return the number in a cell, or the days or hours of a date or a time."""
        form = self._known[source].number if source in self._known else None
        layout = form.dated if form is not None else ""
        layout = next(
            (
                dates.CLOCK if part.clock else dates.ISO
                for part in self._learnt.parts.values()
                if part.column == source
            ),
            layout,
        )
        column = self._column(source)
        if not layout or layout in dates.DURATIONS:
            return f"CAST({column} AS DOUBLE)"
        written = self._query.named(f"CAST({column} AS VARCHAR)")
        return self._hours(written) if layout == dates.CLOCK else self._days(written)

    def _hours(self, written: str) -> str:
        seconds = _seconds(written, 1)
        return f"CASE WHEN substr({written}, 3, 1) = ':' THEN ({seconds}) / 3600e0 END"

    def _days(self, written: str) -> str:
        named = self._query.named
        is_date = f"substr({written}, 5, 1) = '-' AND substr({written}, 8, 1) = '-'"
        year, month, day = (
            named(f"CASE WHEN {is_date} THEN CAST(substr({written}, {at}) AS DOUBLE) END")
            for at in ("1, 4", "6, 2", "9, 2")
        )
        seconds = named(f"CASE WHEN {is_date} THEN {_seconds(written, 12)} END")
        first = named(f"CASE WHEN {month} <= 2 THEN {year} - 1 ELSE {year} END")
        turned = named(f"153 * (CASE WHEN {month} > 2 THEN {month} - 3 ELSE {month} + 9 END) + 2")
        days = f"{_years(first)} + {floor_ratio(turned, 5)} + {day} - {_EPOCH + 1}"
        return f"(({days}) * 86400 + {seconds}) / 86400e0"

    def _near(self, one: NumberFeature) -> str:
        """Return a cell that is neither missing nor beyond the limits, else NULL."""
        cells = self._cells(one)
        low, high = max(one.low, -LARGEST), min(one.high, LARGEST)
        inside = f"{cells} BETWEEN {number(low)} AND {number(high)}"
        return self._query.named(f"CASE WHEN {inside} THEN {cells} END")

    def _scaled(self, one: NumberFeature, cells: str) -> str:
        if one.curve is not None:
            return _on_lines(self._query.named, cells, *one.curve)
        unit = one.unit
        within = cells if unit == 1 else f"{cells} / {number(unit)}"
        return f"({within} - {number(one.mean / unit)}) / {number(one.scale / unit)}"

    # ------------------------------------------------------------------ levels

    def _place(self, one: CategoryFeatures) -> str:
        """Return the index of a category's level; -1 for any other text."""
        places = {key: str(place) for key, place in one.places.items()}
        return self._matched(one.name, places, str(one.rest))

    def _share(self, one: NumberFeature) -> str:
        shares = {key: number(share) for key, share in (one.shares or {}).items()}
        return self._matched(one.name, shares, number(0.0))

    def _matched(self, name: str, results: dict[str, str], default: str) -> str:
        column = self._column(name)
        missing = results.get(MISSING, default)
        kind = self._known[name].kind if name in self._known else None
        if kind == "number":
            value = self._query.named(f"CAST({column} AS DOUBLE)")
            keys = {number(float(key)): r for key, r in results.items() if _is_number(key)}
            gap = f"{value} IS NULL OR NOT {value} <= {number(LARGEST)}"
        else:
            value = self._query.named(f"TRIM(CAST({column} AS VARCHAR))")
            keys = {text(key): result for key, result in results.items()}
            gap = f"{value} IS NULL OR LOWER({value}) IN ({', '.join(map(text, self._gaps))})"
        conditions = [(gap, missing), *looked_up(value, keys, default)]
        return self._query.named(cases(conditions, default))

    # ------------------------------------------------------------------ dates

    def _part(self, cells: str, part: DatePart) -> str:
        """Return a part of days since 1970-01-01, or of hours of a day."""
        if part.part == WHOLE:
            return cells
        key, _, turn = part.part.partition(" ")
        found = self._query.named(self._calendar(cells, key, part.clock))
        if not turn:
            return found
        values, heights = around(key)
        assert len(values) == CIRCLES[key][1]
        column = heights[:, int(turn == "cosine")]
        matches = [
            (f"{found} = {number(value)}", number(height))
            for value, height in zip(values.tolist(), column.tolist(), strict=True)
        ]
        return cases(matches, "NULL")

    def _calendar(self, cells: str, key: str, clock: bool) -> str:
        named = self._query.named
        ticks = TICKS // 24 if clock else TICKS
        known = f"ABS({cells}) < {number(FARTHEST)}"
        tick = named(
            f"CASE WHEN {known} THEN ROUND({cells} * {number(ticks)}) + {number(_EPOCH * TICKS)} "
            "END"
        )
        of_day = named(f"{tick} % {TICKS}")
        hour = named(floor_ratio(of_day, TICKS // 24))
        if key == "hour":
            return hour
        if key == "daytime":
            return floor_ratio(hour, 6)
        if key == "minute":
            return floor_ratio(named(f"{of_day} % {TICKS // 24}"), TICKS // 1440)
        day = named(f"({tick} - {of_day}) / {number(TICKS)}")
        weekday = named(f"({day} + 2) % 7 + 1")
        if key == "weekday":
            return weekday
        if key == "weekend":
            return f"CASE WHEN {weekday} > 5 THEN 1e0 WHEN {weekday} <= 5 THEN 0e0 END"
        if key == "week":  # that of its Thursday
            yearday = self._yearday(named(f"{day} - {weekday} + 4"))
            return f"{floor_ratio(named(f'{yearday} - 1'), 7)} + 1"
        year, month, of_month = self._date(day)
        return {
            "year": year,
            "quarter": f"{floor_ratio(f'{month} - 1', 3)} + 1",
            "month": month,
            "day": of_month,
            "yearday": self._yearday(day),
        }[key]

    def _date(self, day: str) -> tuple[str, str, str]:
        """Return year, month and day of the month of days from 0000-03-01."""
        named = self._query.named
        # At most one year too many, which then begins after the day.
        guess = named(floor_ratio(f"10000 * {day} + 14780", 3_652_425))
        year = named(f"CASE WHEN {day} < {_years(guess)} THEN {guess} - 1 ELSE {guess} END")
        since = named(f"{day} - ({_years(year)})")
        turned = named(floor_ratio(f"5 * {since} + 2", 153))
        month = named(f"CASE WHEN {turned} < 10 THEN {turned} + 3 ELSE {turned} - 9 END")
        whole = named(f"{year} + CASE WHEN {month} <= 2 THEN 1 WHEN {month} > 2 THEN 0 END")
        return whole, month, named(f"{since} - {floor_ratio(f'153 * {turned} + 2', 5)} + 1")

    def _yearday(self, day: str) -> str:
        before = self._query.named(f"{self._date(day)[0]} - 1")
        return self._query.named(f"{day} - ({_years(before)} + 306) + 1")


def _years(years: str) -> str:
    """Return the days in years that begin in March, counted from 0000-03-01."""
    quarters = f"{floor_ratio(years, 4)} - {floor_ratio(years, 100)} + {floor_ratio(years, 400)}"
    return f"365 * {years} + {quarters}"


def _seconds(written: str, start: int) -> str:
    """Return the seconds of a time ``HH:MM[:SS[.fff]]`` within a text; 0 where there is none."""
    hour, minute = (f"CAST(substr({written}, {at}, 2) AS DOUBLE)" for at in (start, start + 3))
    second = f"CAST(substr({written}, {start + 6}) AS DOUBLE)"
    return (
        f"CASE WHEN length({written}) >= {start + 4} THEN 3600 * {hour} + 60 * {minute} ELSE 0e0 "
        f"END + CASE WHEN length({written}) >= {start + 7} THEN {second} ELSE 0e0 END"
    )


def _is_number(key: str) -> bool:
    try:
        return math.isfinite(float(key))
    except ValueError:
        return False
