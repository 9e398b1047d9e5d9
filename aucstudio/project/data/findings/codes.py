"""Whole numbers that may be codes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from aucstudio.project.data.columns import Column, spell_number
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.findings.separation import (
    MOST_CODES,
    SampledRows,
    area_of_levels,
    sampled,
)
from aucstudio.project.data.roles import is_named_identifier, words_of
from aucstudio.project.data.sparse_columns import SparseColumn
from aucstudio.project.data.table import Table

# Two numbers have no order that matters.
_FEWEST, _ROWS_EACH = 3, 3
_SHOWN = 4
_CALLED = {
    "code", "codes", "cd", "type", "typ", "tipo", "kind", "category", "categoria", "kategorie",
    "zip", "plz", "postal", "naics", "sic", "icd", "drg", "soc", "isco", "region", "zone",
    "district", "county", "province", "state", "country", "land", "branch", "filiale", "store",
    "shop", "site", "center", "centre", "clinic", "hospital", "dept", "department", "division",
    "team", "sector", "industry", "branche", "occupation", "occ", "job", "profession", "beruf",
    "race", "ethnicity", "ethnic", "religion", "marital", "colour", "color", "channel", "device",
    "product", "sku", "brand", "vendor", "supplier", "carrier", "species", "soil", "crop",
    "cluster", "batch", "operator", "machine", "код", "тип", "κωδικός", "kod", "código", "codigo",
    "codice", "região", "región", "région",
}  # fmt: skip
_ENDINGS = ("code", "代码", "代碼", "类型", "類型", "区分", "コード", "種類", "종류", "코드")
# Least gain in area of levels over numbers, absolute and in standard errors.
_GAIN, _ERRORS = 0.05, 3.0


def codes(table: Table) -> Iterator[Finding]:
    """Find features of few whole numbers named like codes, or better as levels."""
    sample = sampled(table)
    for column in table.features:
        if column.role != "number" or not _may_be_codes(column):
            continue
        first = _first(column)
        more: dict[str, object]
        better = None if sample is None else _areas(column, sample)
        if better is not None:
            code, more = "better_as_category", {"numbers": better[0], "levels": better[1]}
        elif _is_called(column.name):
            others = " and others" if column.distinct > _SHOWN else ""
            code, more = "named_like_codes", {"first": ", ".join(first) + others}
        else:
            continue
        known, distinct = column.height - column.missing, column.distinct
        yield found(code, column.name, rows=known, values=first, distinct=distinct, **more)


def _is_called(name: str) -> bool:
    words = words_of(name)
    return not _CALLED.isdisjoint(words) or any(word.endswith(_ENDINGS) for word in words)


def _may_be_codes(column: Column) -> bool:
    if isinstance(column, SparseColumn) or column.is_date or is_named_identifier(column.name):
        return False  # identifiers have a finding of their own
    most = min(MOST_CODES, (column.height - column.missing) // _ROWS_EACH)
    has_few = column.different.exceeds(_FEWEST - 1) and not column.different.exceeds(most)
    return has_few and column.is_integer()


def _areas(column: Column, sample: SampledRows) -> tuple[float, float] | None:
    """Return the areas of numbers, in the better direction, and of levels, if these are better."""
    numbers, levels = sample.area(column), area_of_levels(column, sample.rows)
    if numbers is None or levels is None:
        return None
    numbers = max(numbers, 1 - numbers)
    m, n = len(sample.rows.positive), len(sample.rows.negative)
    error = math.sqrt((m + n + 1) / (12 * m * n))
    return (numbers, levels) if levels - numbers > max(_GAIN, _ERRORS * error) else None


def _first(column: Column) -> tuple[str, ...]:
    values = np.unique(column.values[column.known()])
    return tuple(spell_number(float(value)) for value in values[:_SHOWN])
