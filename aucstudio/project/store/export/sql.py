"""Export a model as a SQL statement for DuckDB and SQLite.

Only what both read alike is used: ``%`` on whole numbers, ``CASE``, ``CAST``, ``substr``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from aucstudio.engine.calibration import TILT, Calibration, Sigmoid, Steps
from aucstudio.engine.ensembles.combined import CombinationScorer
from aucstudio.engine.ensembles.views import ViewedScorer
from aucstudio.engine.features.splines import AdditiveScorer
from aucstudio.engine.scorers import EnsembleScorer, LinearScorer, inner_scorers
from aucstudio.project.data.columns import free_name
from aucstudio.project.errors import input_error
from aucstudio.project.runs.model import Model
from aucstudio.project.store.export.document import (
    ScorerVisitor,
    describe,
    printable,
    special_inputs,
)
from aucstudio.project.store.export.sql_columns import SqlColumns
from aucstudio.project.store.export.sql_query import (
    SqlQuery,
    cases,
    identifier,
    number,
    on_lines,
    text,
    total,
)

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
    query = SqlQuery()
    # Databases ignore the case of letters.
    taken = {name.lower() for name in model.preparation.columns}
    features = SqlColumns(query, model.preparation, model.schema, _TABLE).features()
    raw = _SqlWriter(query).visit(model.scorer, features)
    expression = query.select(f"{raw} + {number(model.intercept)}")
    score, predicted, probability = (
        identifier(free_name(name, taken)) for name in ("score", "predicted", "probability")
    )
    outputs = [f"{_TABLE}.*", f"{_predicted(model, f'{_TABLE}.{score}')} AS {predicted}"]
    if model.calibration is not None:
        outputs.append(f"{_probability(model.calibration, f'{_TABLE}.{score}')} AS {probability}")
    statement = (
        f"SELECT {', '.join(outputs)}\nFROM (\nSELECT {_TABLE}.*,\n{expression} AS {score}\n"
        f"FROM {identifier(_TABLE)} AS {_TABLE}\n) AS {_TABLE}\n"
    )
    comments = [
        *describe(model),
        f'Replace "{_TABLE}" in the last lines by the name of your table. It needs the columns '
        f"{', '.join(map(repr, model.preparation.columns))}.",
        "Numbers are stored as numbers, missing values as NULL.",
        "Dates are DATE, TIMESTAMP or texts such as 2023-01-31 12:30:00, in UTC and without a "
        "zone; times of day are TIME or texts such as 12:30:00.",
        "Runs in DuckDB and in SQLite 3.35 or newer with its mathematical functions.",
        *(f"{name!r}: {words}." for name, words in special_inputs(model).items()),
    ]
    return ("".join(f"-- {printable(line)}\n" for line in comments) + statement).encode()


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
        share = on_lines(named, u, made.knots, made.values)
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
