"""Files of scores and other sheets: full digits, and no cell that runs as a formula.

It has the requested identifiers, and the probability if the model is calibrated. The score is the
model's raw score, which does not depend on the threshold.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import dataclasses
import itertools
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from aucstudio.project import scratch
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.input_files import literal, quoted
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text.dialect import DELIMITERS
from aucstudio.project.errors import input_error
from aucstudio.project.runs.model import Model
from aucstudio.project.store.files import written_atomically

if TYPE_CHECKING:
    from aucstudio.project.runs.input_check import ScoringReport

CSV, PARQUET = ".csv", ".parquet"
AS_INPUT = "input"  # CSV in the form that suits the program that wrote the scored table


class CsvForm(NamedTuple):
    """Delimiter, decimal mark, and whether a file begins with the mark of UTF-8.

    A spreadsheet reads a file without that mark in the code page of its computer.
    """

    delimiter: str = ","
    decimal: str = "."
    marked: bool = False


PLAIN, TABS = CsvForm(), CsvForm("\t")

_FIXED = ("row", "score", "threshold", "predicted", "probability")


@dataclasses.dataclass(frozen=True, eq=False)
class Block:
    """Rows of the file: identifiers by column; probabilities are None where there are none.

    ``form`` is that of :func:`csv_form` for the scored table.
    """

    numbers: NDArray[np.int64]
    identifiers: dict[str, NDArray[Any]]
    scores: NDArray[np.float64]
    threshold: float
    predicted: NDArray[np.str_]
    probabilities: NDArray[np.float64] | None
    form: CsvForm

    def columns(self) -> list[tuple[str, NDArray[Any]]]:
        """Return the columns of the file; an identifier may have the name of another column."""
        found = [
            ("row", self.numbers),
            *((name, cells.astype(object)) for name, cells in self.identifiers.items()),
            ("score", self.scores),
            ("threshold", np.full(len(self.scores), self.threshold)),
            ("predicted", self.predicted.astype(object)),
        ]
        made = self.probabilities
        return found if made is None else [*found, ("probability", made)]


Sink = Callable[[Block], object]


def score_into(sinks: Sequence[Sink], model: Model, table: str | Path, **how: Any) -> ScoringReport:
    """Score a table into several files at once, block by block.

    Parameters
    ----------
    sinks : sequence of Sink
    model : Model
    table : str or Path
    **how
        See :func:`~aucstudio.project.runs.scoring.score_file`.

    Raises
    ------
    InputError, Cancelled
        As that does.
    """
    from aucstudio.project.runs.scoring import score_file

    form = PLAIN
    read: Callable[..., AnyTable] = how.pop("read", read_table)

    def noting(*arguments: Any, **settings: Any) -> AnyTable:
        nonlocal form
        found = read(*arguments, **settings)
        form = csv_form(found)
        return found

    def take(numbers: NDArray[Any], named: dict[str, NDArray[Any]], scores: NDArray[Any]) -> None:
        predicted, probabilities = model.predicted(scores), model.probabilities(scores)
        block = Block(numbers, named, scores, model.threshold, predicted, probabilities, form)
        for sink in sinks:
            sink(block)

    return score_file(model, table, take, read=noting, **how)


@contextlib.contextmanager
def scores_sink(
    path: str | Path | None, identifiers: Sequence[str], probability: bool, as_input: bool = False
) -> Iterator[Sink]:
    """Open a sink for a file of scores.

    Parameters
    ----------
    path : str, Path or None
        Parquet if the name ends in .parquet, else CSV; None is the standard output.
    identifiers : sequence of str
        The columns of identifiers.
    probability : bool
        Whether blocks come with probabilities.
    as_input : bool
        Whether CSV is in the form of the scored table.
    """
    if path is None:
        yield csv_sink(sys.stdout, as_input)
    elif str(path).lower().endswith(PARQUET):
        with parquet_sink(path, identifiers, probability) as sink:
            yield sink
    else:
        with scores_file(path, marked=as_input) as file:
            yield csv_sink(file, as_input)


# ----------------------------------------------------------------- CSV


def csv_form(table: AnyTable) -> CsvForm:
    """Return the delimiter and the decimal mark of a table's file; plain CSV if it has none.

    It is marked as UTF-8 unless the table is plain CSV.
    """
    dialect, is_delimited = table.dialect, table.format == "csv" and not table.dialect.edges
    if not is_delimited or dialect.delimiter not in DELIMITERS:
        return PLAIN
    own = CsvForm(dialect.delimiter, dialect.decimal)
    return own._replace(marked=own != PLAIN or dialect.encoding not in ("utf-8", "ascii"))


def csv_sink(file: Writable, as_input: bool = False) -> Sink:
    """Return a sink that writes blocks of scores as CSV, in the form of the table if asked."""
    # The header is written before the first block: not at all if the table is refused.
    begun = False

    def sink(block: Block) -> None:
        nonlocal begun
        names, columns = zip(*block.columns(), strict=True)
        rows = zip(*(cells.tolist() for cells in columns), strict=True)
        header = [] if begun else [names]
        begun = True
        write_csv(file, itertools.chain(header, rows), block.form if as_input else PLAIN)

    return sink


@contextlib.contextmanager
def scores_file(path: str | Path, *, marked: bool = False) -> Iterator[Writable]:
    """Open a file for scores, which is written wholly or not at all; see :class:`CsvForm`."""
    with written_atomically(path) as file:
        # Unlike a TextIOWrapper this one does not close the file a second time when it fails.
        yield codecs.getwriter("utf-8-sig" if marked else "utf-8")(file)


# ----------------------------------------------------------------- Parquet


@contextlib.contextmanager
def parquet_sink(
    path: str | Path, identifiers: Sequence[str], probability: bool = False
) -> Iterator[Sink]:
    """Open a sink whose blocks of scores are in a Parquet file at the end, or not at all.

    Text is written unchanged, unlike in CSV, because no spreadsheet runs it. ``probability`` states
    whether blocks come with probabilities.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    import duckdb

    with scratch.folder() as folder, duckdb.connect(str(folder / "scores.duckdb")) as rows:
        carried = [f"{quoted(_free(name))} VARCHAR" for name in identifiers]
        given = ["probability DOUBLE"] if probability else []
        fixed = ["score DOUBLE", "threshold DOUBLE", "predicted VARCHAR"]
        columns = ["row BIGINT", *carried, *fixed, *given]
        rows.execute(f"CREATE TABLE scores ({', '.join(columns)})")

        def sink(block: Block) -> None:
            # DuckDB finds them by the name that they have here.
            blocks = {f"c{k}": cells for k, (_, cells) in enumerate(block.columns())}
            rows.execute(f"INSERT INTO scores SELECT {', '.join(blocks)} FROM blocks")

        try:
            yield sink
            made = folder / "scores.parquet"
            rows.execute("COPY scores TO " + literal(str(made)) + " (FORMAT parquet)")
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise input_error("not_written", file=path, reason=reason) from error
        copy_file(made, path)


def copy_file(file: Path, target: str | Path) -> None:
    """Copy a file; the target is there wholly or not at all."""
    with file.open("rb") as scores, written_atomically(target) as saved:
        shutil.copyfileobj(scores, saved)


def _free(identifier: str) -> str:
    """Return a name for a column of identifiers that is not that of a fixed column."""
    taken = identifier.casefold() in _FIXED
    return f"{identifier} (identifier)" if taken else identifier


# A spreadsheet takes text that begins so for a formula, which may call programs or send cells.
_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?[%‰]?")


class Writable(Protocol):
    """What text can be written to."""

    def write(self, text: str, /) -> Any:
        """Write it."""


def write_csv(target: Writable, rows: Iterable[Iterable[object]], form: CsvForm = PLAIN) -> None:
    """Write rows of numbers and text as CSV.

    Numbers read back to what they are; None and NaN are empty. Text that a spreadsheet would run
    as a formula begins with an apostrophe; text that is a number, such as -1, does not.
    """
    writer = csv.writer(_Lines(target), delimiter=form.delimiter, lineterminator="\r\n")
    writer.writerows([_cell(value, form.decimal) for value in row] for row in rows)


class _Lines:
    """Ends rows plainly; that the writer ends them with both makes it quote both inside cells."""

    def __init__(self, target: Writable) -> None:
        self._target = target

    def write(self, row: str) -> None:
        self._target.write(f"{row[:-2]}\n")


def _cell(value: object, decimal: str) -> object:
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or plain != plain:
        return ""
    if isinstance(plain, float):
        return repr(plain).replace(".", decimal)
    if isinstance(plain, str) and _FORMULA.match(plain) and not _NUMBER.fullmatch(plain):
        return f"'{plain}"
    return plain
