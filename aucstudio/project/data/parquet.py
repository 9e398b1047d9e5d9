"""Reading Parquet files through DuckDB: columns that have their types, and no dialect."""

from __future__ import annotations

import dataclasses
import glob
import hashlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import numpy as np

from aucstudio.project.data.cells import Cells, CellStore, Tell
from aucstudio.project.data.columns import Column
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.text.delimited import Delimited, set_aside
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import NumberFormat, literal, number_sql, text_sql
from aucstudio.project.data.text.rejects import Unreadable
from aucstudio.project.errors import InputError

_MAGIC = b"PAR1"
_CHUNK = 1 << 20
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")


def is_parquet(path: Path) -> bool:
    """Tell whether a file begins as Parquet files do; False if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


@dataclasses.dataclass(frozen=True)
class Shape:
    """The columns of a Parquet file.

    Attributes
    ----------
    names : list of str
    numbers : dict of int to bool
        Whether each column holds numbers.
    rows : int
    """

    names: list[str]
    numbers: dict[int, bool]
    rows: int


class ParquetReader(CellStore):
    """A Parquet file, opened in DuckDB as the view ``cells``; a context manager.

    Whole and fractional numbers are numbers; everything else is text, without the blanks around
    it, and missing where it is empty or one of the words that say so in a text file.

    Parameters
    ----------
    path : Path
    folder, tell, memory
        See :class:`CellStore`.
    schema : Schema, optional
        What the columns hold, whatever types they have here.

    Raises
    ------
    InputError
        If it cannot be read, or has less than two columns or no row.
    """

    def __init__(
        self,
        path: Path,
        folder: Path,
        tell: Tell,
        *,
        memory: int | None = None,
        schema: Schema | None = None,
    ) -> None:
        super().__init__(path, folder, tell, place="place", memory=memory)
        source = f"read_parquet({literal(glob.escape(str(path.absolute())))}"
        try:
            described = self._connection.execute(
                f"SELECT column_name, column_type FROM (DESCRIBE FROM {source}))"
            ).fetchall()
            self._source, self._described = source, described
            self._forms = _forms(described, schema)
            self._connection.execute(_view(source, described, self._forms))
            rows = int(self._one("SELECT count(*) FROM cells")[0])
        except duckdb.Error as error:
            self.close()
            raise self._unreadable(error) from error
        numbers = {k: form is not None for k, form in self._forms.items()}
        self.shape = Shape([name for name, _ in described], numbers, rows)
        self.settled = frozenset(k for k in numbers if schema is not None and numbers[k])
        if (len(described) < 2 and schema is None) or not rows:
            self.close()
            what = "one column only" if rows else "no rows"
            raise InputError(
                f"{path} has {what}; choose a file with a label column, features and rows",
                file=str(path),
            )

    def read(self) -> list[Cells]:
        """Read all columns; in those that are settled, infinite values are no numbers.

        Raises
        ------
        InputError
            If a number is infinite in another column.
        """
        cells = self._fetch(self.shape.numbers, self.shape.rows)
        for k, is_number in self.shape.numbers.items():
            if is_number and k not in self.settled and np.isinf(cells[k].values).any():
                raise infinite(self.shown, self.shape.names[k])
        return [cells[k] for k in sorted(cells)]

    def first_unreadable(self, counts: Mapping[int, int]) -> dict[str, Unreadable]:
        """Look for the first cell that is no number in each of some columns."""
        found = {}
        for k, count in counts.items():
            row = self._one(f"SELECT min({self.place}) FROM cells WHERE isinf(c{k})")[0]
            text = self._one(
                f"SELECT {_text(*self._described[k])} FROM {self._source}, file_row_number = true) "
                f"WHERE file_row_number = {row}"
            )[0]
            found[self.shape.names[k]] = Unreadable(count, str(text), None)
        return found

    def _drop(self) -> None:
        """Keep the view: it takes no memory."""


def _forms(
    described: list[tuple[str, str]], schema: Schema | None
) -> dict[int, NumberFormat | None]:
    """Give how the numbers of each column are written, were it one of texts; None for text."""
    forms = {
        k: NumberFormat() if _is_number(kind) else None for k, (_, kind) in enumerate(described)
    }
    known = {} if schema is None else schema.by_name
    for k, (name, _) in enumerate(described):
        if name in known and known[name].kind is not None:
            is_number = known[name].kind == "number"
            forms[k] = (known[name].number or NumberFormat()) if is_number else None
    return forms


def _view(
    source: str, described: list[tuple[str, str]], forms: Mapping[int, NumberFormat | None]
) -> str:
    columns = []
    for k, (name, kind) in enumerate(described):
        form = forms[k]
        if form is None:
            columns.append(f"{text_sql(_text(name, kind))} AS c{k}")
        elif _is_number(kind):
            columns.append(f"coalesce({_quoted(name)}::DOUBLE, 'nan'::DOUBLE) AS c{k}")
        else:
            columns.append(f"{number_sql(_text(name, kind), form)} AS c{k}")
    return (
        f"CREATE VIEW cells AS SELECT file_row_number AS place, {', '.join(columns)} "
        f"FROM {source}, file_row_number = true, hive_partitioning = false)"
    )


def _text(name: str, kind: str) -> str:
    """Write the expression that spells a cell as a text file would: whole numbers without .0."""
    column = _quoted(name)
    if not _is_number(kind) or kind.split("(")[0] not in ("FLOAT", "DOUBLE", "DECIMAL"):
        return f"{column}::VARCHAR"
    whole = f"({column} = floor({column}) AND abs({column}) < 1e15)"
    exact = column if kind in ("FLOAT", "DOUBLE") else f"{column}::DOUBLE"
    return f"CASE WHEN {whole} THEN {column}::BIGINT::VARCHAR ELSE {exact}::VARCHAR END"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _is_number(kind: str) -> bool:
    bare = kind.removeprefix("U")
    return bare.split("(")[0] in _NUMBERS


def infinite(path: Path, column: str) -> InputError:
    """Make the sentence for a column with an infinite value."""
    return InputError(
        f"infinite value in column {column!r} of {path}; make it missing or take the row out",
        file=str(path),
        column=column,
    )


def read_parquet(
    path: Path, tell: Callable[[float, str], None], schema: Schema | None = None
) -> Delimited:
    """Read a Parquet file; its dialect is the default one, which says nothing.

    With a ``schema``, what the cells are is taken from there.

    Raises
    ------
    InputError
        If the file cannot be read as a table of at least two columns and one row.
    """
    sha256 = fingerprint(path, lambda part: tell(0.2 * part, "looking at the file"))
    with (
        tempfile.TemporaryDirectory(prefix="aucstudio-", ignore_cleanup_errors=True) as folder,
        ParquetReader(
            path, Path(folder), lambda part: tell(0.2 + 0.8 * part, "reading"), schema=schema
        ) as reader,
    ):
        columns = _columns(reader.shape, reader.read())
        unreadable = reader.first_unreadable(set_aside(columns, reader.settled))
    missing = sum(column.missing for column in columns)
    notes = [f"{missing} cell{'s' if missing > 1 else ''} without a value"] if missing else []
    return Delimited(Dialect(), sha256, columns, [], 0, notes, unreadable=unreadable)


def _columns(shape: Shape, cells: list[Cells]) -> list[Column]:
    return [
        Column.of_cells(name, cells[k].values, cells[k].missing, cells[k].distinct)
        for k, name in enumerate(shape.names)
    ]


def fingerprint(path: Path, tell: Callable[[float], None]) -> str:
    """Give the SHA-256 of a file's bytes, as hexadecimal digits."""
    digest, done, size = hashlib.sha256(), 0, max(1, path.stat().st_size)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            done += len(chunk)
            tell(done / size)
    return digest.hexdigest()
