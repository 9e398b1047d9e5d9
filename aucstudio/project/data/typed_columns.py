"""The columns of a typed file as expressions of DuckDB.

Numbers, dates and times are cast. Texts are classified like those of a text file, unless the file
declares them as text.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aucstudio.project.data.cells import hold_digits
from aucstudio.project.data.input_files import literal
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.numerals import NumberFormat

if TYPE_CHECKING:
    import duckdb

# Types of whole numbers that a double may not represent exactly.
LONG_INTEGER = re.compile(r"U?(BIGINT|HUGEINT)|DECIMAL\([0-9]+,\s*0\)")
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")
_FRACTIONAL = ("FLOAT", "DOUBLE", "DECIMAL")
# In UTC, independent of the time zone of this machine.
_ZONED = {"TIMESTAMP WITH TIME ZONE": "{} AT TIME ZONE 'UTC'", "TIME WITH TIME ZONE": "{}::TIME"}


@dataclasses.dataclass(frozen=True)
class TypedColumns:
    """The columns c0, c1, ... of a typed file.

    Attributes
    ----------
    connection : DuckDBPyConnection
        Where the relation can be read.
    file : str
        Its name as an SQL literal.
    paths : tuple of str
        The place of each column in the file.
    relation : str
        The query of the columns, with the number of each row, counted from 0, as ``place``.
    types : tuple of str
        Their types in DuckDB.
    texts_declared : bool
        Whether the file declares all its texts as text.
    spelled : frozenset of int
        The columns that are classified by their texts.
    """

    connection: duckdb.DuckDBPyConnection
    file: str
    paths: tuple[str, ...]
    relation: str
    types: tuple[str, ...]
    texts_declared: bool
    spelled: frozenset[int] = frozenset()

    def is_free(self, k: int, declared: str) -> bool:
        """Return whether the texts of a column decide what it is, if a kind is ``declared``."""
        if is_typed(kind := self.types[k]):
            return not (self.texts_declared or layout_of(kind))
        return declared == "number" or not (self.texts_declared or declared)

    def text(self, k: int) -> str:
        """Return the expression of a cell as text, with whole numbers without .0."""
        cell, kind = f"c{k}", self.types[k]
        if kind == "JSON":
            # A cast would put texts in quotation marks.
            return f"({cell} ->> '$')"
        if kind.split("(")[0] not in _FRACTIONAL or LONG_INTEGER.fullmatch(kind):
            return f"{cell}::VARCHAR"
        whole = f"({cell} = floor({cell}) AND abs({cell}) < 1e15)"
        exact = cell if kind in ("FLOAT", "DOUBLE") else f"{cell}::DOUBLE"
        return f"CASE WHEN {whole} THEN {cell}::BIGINT::VARCHAR ELSE {exact}::VARCHAR END"

    def number(self, k: int, form: NumberFormat, words: frozenset[str]) -> str | None:
        """Return the expression of a number or date; None if Python must read its text.

        Parameters
        ----------
        k : int
        form : NumberFormat
        words : frozenset of str
            The spellings of missing values, in lower case.
        """
        cell, kind = f"c{k}", self.types[k]
        if layout_of(kind) != form.layout or not is_typed(kind):
            return None
        if form.layout:
            cell = _ZONED.get(kind, "{}").format(cell)
            unit = 3600.0 if form.layout == dates.CLOCK else 86400.0
            as_time = cell if form.layout == dates.CLOCK else f"({cell})::TIMESTAMP"
            value = f"epoch({as_time}) / {unit}::DOUBLE"
        else:
            value = f"{cell}::DOUBLE"
        if hold_digits(words):
            listed = ", ".join(map(literal, sorted(words)))
            is_known = f"NOT list_contains([{listed}], lower({self.text(k)}))"
            value = f"CASE WHEN {is_known} THEN {value} END"
        return f"coalesce({value}, 'nan'::DOUBLE)"

    def unbounded(self, query: Callable[[str], list[tuple[Any, ...]]]) -> frozenset[int]:
        """Return the columns that may contain infinite numbers; ``query`` runs a statement."""
        places = {path: k for k, path in enumerate(self.paths)}
        paths = query(
            f"SELECT DISTINCT path_in_schema FROM parquet_metadata({self.file}) WHERE "
            "coalesce(stats_min_value LIKE '%inf%' OR stats_max_value LIKE '%inf%', true)"
        )
        found = {places.get(path, places.get(path.replace(", ", "."), -1)) for (path,) in paths}
        texts = {k for k, kind in enumerate(self.types) if not is_number_type(kind)}
        return frozenset(found | texts) - {-1}


def is_number_type(kind: str) -> bool:
    """Return whether a type of DuckDB is one of numbers."""
    return kind.removeprefix("U").split("(")[0] in _NUMBERS


def is_typed(kind: str) -> bool:
    """Return whether cells of a type are numbers, dates or times."""
    return is_number_type(kind) or bool(layout_of(kind))


def layout_of(kind: str) -> str:
    """Return the layout in which dates and times of a type are written; empty for other types."""
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return dates.ISO
    return dates.CLOCK if kind.split(" ")[0] == "TIME" else ""
