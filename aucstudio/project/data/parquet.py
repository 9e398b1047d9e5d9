"""Reading Parquet files through DuckDB: columns that have their types, and no dialect."""

from __future__ import annotations

import dataclasses
import glob
import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np

from aucstudio.project.data.cells import Cells, CellStore, Tell
from aucstudio.project.data.columns import Column
from aucstudio.project.data.text.delimited import Delimited
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import literal, text_sql
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

    Raises
    ------
    InputError
        If it cannot be read, or has less than two columns or no row.
    """

    def __init__(self, path: Path, folder: Path, tell: Tell, *, memory: int | None = None) -> None:
        super().__init__(path, folder, tell, place="place", memory=memory)
        source = f"read_parquet({literal(glob.escape(str(path.absolute())))}"
        try:
            described = self._connection.execute(
                f"SELECT column_name, column_type FROM (DESCRIBE FROM {source}))"
            ).fetchall()
            self._connection.execute(_view(source, described))
            rows = int(self._one("SELECT count(*) FROM cells")[0])
        except duckdb.Error as error:
            self.close()
            raise self._unreadable(error) from error
        numbers = {k: _is_number(kind) for k, (_, kind) in enumerate(described)}
        self.shape = Shape([name for name, _ in described], numbers, rows)
        if len(described) < 2 or not rows:
            self.close()
            what = "one column only" if rows else "no rows"
            raise InputError(
                f"{path} has {what}; choose a file with a label column, features and rows",
                file=str(path),
            )

    def read(self) -> list[Cells]:
        """Read all columns.

        Raises
        ------
        InputError
            If a number is infinite.
        """
        cells = self._fetch(self.shape.numbers, self.shape.rows)
        for k, is_number in self.shape.numbers.items():
            if is_number and np.isinf(cells[k].values).any():
                raise infinite(self.shown, self.shape.names[k])
        return [cells[k] for k in sorted(cells)]

    def _drop(self) -> None:
        """Keep the view: it takes no memory."""


def _view(source: str, described: list[tuple[str, str]]) -> str:
    columns = []
    for k, (name, kind) in enumerate(described):
        column = '"' + name.replace('"', '""') + '"'
        if _is_number(kind):
            columns.append(f"coalesce({column}::DOUBLE, 'nan'::DOUBLE) AS c{k}")
        else:
            columns.append(f"{text_sql(f'{column}::VARCHAR')} AS c{k}")
    return (
        f"CREATE VIEW cells AS SELECT file_row_number AS place, {', '.join(columns)} "
        f"FROM {source}, file_row_number = true, hive_partitioning = false)"
    )


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


def read_parquet(path: Path, tell: Callable[[float, str], None]) -> Delimited:
    """Read a Parquet file; its dialect is the default one, which says nothing.

    Raises
    ------
    InputError
        If the file cannot be read as a table of at least two columns and one row.
    """
    sha256 = fingerprint(path, lambda part: tell(0.2 * part, "looking at the file"))
    with (
        tempfile.TemporaryDirectory(prefix="aucstudio-", ignore_cleanup_errors=True) as folder,
        ParquetReader(path, Path(folder), lambda part: tell(0.2 + 0.8 * part, "reading")) as reader,
    ):
        columns = _columns(reader.shape, reader.read())
    missing = sum(column.missing for column in columns)
    notes = [f"{missing} cell{'s' if missing > 1 else ''} without a value"] if missing else []
    return Delimited(Dialect(), sha256, columns, [], 0, notes)


def _columns(shape: Shape, cells: list[Cells]) -> list[Column]:
    return [
        Column(
            name,
            "number" if shape.numbers[k] else "category",
            "number" if shape.numbers[k] else "text",
            cells[k].values,
            cells[k].missing,
            cells[k].distinct,
        )
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
