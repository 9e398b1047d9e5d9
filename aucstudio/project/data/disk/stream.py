"""Tables beyond memory: in memory are the labels, and the block of rows that is looked at.

The rows of a Parquet file are read where they lie. A text file is read once and copied, as numbers
and texts, to a temporary folder, which takes about as much disk as the file.
"""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.cells import CellStore
from aucstudio.project.data.choices import check_role, find_class, one_class, with_role
from aucstudio.project.data.columns import Column, spell_number
from aucstudio.project.data.parquet import ParquetReader, fingerprint, infinite, is_parquet
from aucstudio.project.data.roles import guess_label, guess_positive
from aucstudio.project.data.table import (
    Progress,
    Table,
    no_label,
    role_notes,
    teller,
    without_label,
)
from aucstudio.project.data.text.delimited import Delimited, no_rows, open_delimited
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import literal
from aucstudio.project.data.text.reader import Reader
from aucstudio.project.data.text.rejects import Rejected
from aucstudio.project.errors import InputError

Mask = NDArray[np.bool_]

BLOCK_BYTES = 64_000_000
DUCK_BYTES = 256_000_000

_SAMPLE_ROWS, _SAMPLE_PIECES = 50_000, 25
_LABEL_WINDOW = 1_000_000
_MOST_CLASSES = 1_000


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class StreamedTable(Table):
    """A table that stays on disk; its columns hold no cells but say what they are.

    Counts of missing and of different cells are those of the rows that were looked at. Roles are
    settled when it is opened.

    Attributes
    ----------
    store : CellStore
        Where the cells are.
    release : finalize
        Removes the temporary folder; at the latest when nobody has the table any more.
    positives, known : ndarray of bool, shape (rows,)
        Which rows are positive, and which have a label.
    block_bytes : int
        Size of a block of prepared rows.
    stamp : tuple of int
        Size and time of the file when it was opened.
    """

    store: CellStore
    release: weakref.finalize[..., CellStore]
    positives: Mask
    known: Mask
    block_bytes: int
    stamp: tuple[int, int]

    @property
    def rows(self) -> int:
        """Rows, unlabelled ones included."""
        return len(self.known)

    def labelled(self) -> Mask:
        """Mark the rows that have a label, shape (rows,)."""
        return self.known

    def is_positive(self) -> Mask:
        """Mark the positive ones among the labelled rows, shape (labelled rows,)."""
        return self.positives[self.known]

    def height(self, features: int) -> int:
        """Give the rows of a block, if so many numbers are made of each."""
        return max(1, self.block_bytes // (8 * max(features, len(self.features), 1)))

    def window(self, start: int, stop: int, names: Sequence[str] | None = None) -> Table:
        """Read some rows as a table in memory, of the feature columns or of those named.

        Raises
        ------
        InputError
            If the file has changed since it was opened, or a number is infinite.
        """
        return self._read(names, lambda texts: self.store.window(texts, start, stop))

    def pick(self, rows: NDArray[np.intp]) -> Table:
        """Read the features of some thousand rows, in rising order; see :meth:`window`."""
        return self._read(None, lambda texts: self.store.rows(texts, rows))

    def _read(
        self,
        names: Sequence[str] | None,
        fetch: Callable[[dict[int, bool]], list[NDArray[Any]]],
    ) -> Table:
        if _stamp(self.path) != self.stamp:
            raise InputError(
                f"{self.path} has changed while it was read: train again", file=str(self.path)
            )
        wanted = set(self.feature_names if names is None else names)
        chosen = {k: column for k, column in enumerate(self.columns) if column.name in wanted}
        texts = {k: column.kind == "text" for k, column in chosen.items()}
        cells = fetch(texts)
        columns = []
        for column, values in zip(chosen.values(), cells, strict=True):
            if column.kind == "number" and np.isinf(values).any():
                raise infinite(self.path, column.name)
            columns.append(_filled(column, values))
        plain = {f.name: getattr(self, f.name) for f in dataclasses.fields(Table)}
        return Table(**{**plain, "columns": tuple(columns)})

    def windows(
        self, height: int, names: Sequence[str] | None = None
    ) -> Iterator[tuple[int, Table]]:
        """Read all rows, some at a time: the number of the first, and a table in memory."""
        for start in range(0, self.rows, height):
            yield start, self.window(start, min(start + height, self.rows), names)

    def close(self) -> None:
        """Let go of the file, and of its copy."""
        self.store.close()
        self.release()


def _filled(column: Column, values: NDArray[Any]) -> Column:
    filled = dataclasses.replace(column, values=values)
    return dataclasses.replace(filled, missing=int(np.count_nonzero(~filled.known())))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def open_stream(
    path: str | Path,
    *,
    label: str | None = None,
    positive: str | None = None,
    ignore: Sequence[str] = (),
    need_label: bool = True,
    dialect: Dialect | None = None,
    block_bytes: int = BLOCK_BYTES,
    progress: Progress | None = None,
) -> StreamedTable:
    """Open a table that stays on disk, and guess what has not been said about it.

    Guesses are those of :func:`~aucstudio.project.data.table.read_table` on up to 50,000
    rows here and there; a note says so. Classes are counted in full.

    Parameters
    ----------
    path, label, positive, ignore, need_label, dialect, progress
        As for :func:`~aucstudio.project.data.table.read_table`.
    block_bytes : int
        Bytes of a block of prepared rows; some three times that is in memory at a time.

    Raises
    ------
    InputError, Cancelled
        As for :func:`~aucstudio.project.data.table.read_table`.
    """
    path, stamp = Path(path), _stamp(Path(path))
    folder = tempfile.mkdtemp(prefix="aucstudio-")
    try:
        found = _open(path, dialect, Path(folder), progress)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    release = weakref.finalize(found.store, shutil.rmtree, folder, ignore_errors=True)
    try:
        bare = _looked_at(path, found, need_label)
        for name in ignore:
            check_role(path, bare.column(name), "ignore")
        bare = bare.with_roles(ignore=ignore)
        table = _settled(bare, found, label if need_label else None, positive, need_label)
    except BaseException:
        found.store.close()
        release()
        raise
    fields, known, positives = table
    streamed = StreamedTable(
        **fields,
        store=found.store,
        release=release,
        positives=positives,
        known=known,
        block_bytes=block_bytes,
        stamp=stamp,
    )
    notes = dict.fromkeys((*streamed.notes, *role_notes(streamed)))
    return dataclasses.replace(streamed, notes=tuple(notes))


@dataclasses.dataclass(frozen=True, eq=False)
class _Found:
    """A file whose cells can be fetched."""

    store: CellStore
    kind: str
    dialect: Dialect
    sha256: str
    names: list[str]
    numbers: dict[int, bool]
    rows: int
    rejected: list[Rejected]
    rejected_rows: int
    notes: list[str]


def _open(path: Path, dialect: Dialect | None, folder: Path, progress: Progress | None) -> _Found:
    tell = teller(progress)
    if is_parquet(path):
        sha256 = fingerprint(path, lambda part: tell(part, "looking at the file"))
        store = ParquetReader(path, folder, lambda _: None, memory=DUCK_BYTES)
        shape = store.shape
        return _Found(
            store, "parquet", Dialect(), sha256, shape.names, shape.numbers, shape.rows, [], 0, []
        )
    opened = open_delimited(path, dialect, folder, tell)
    reader = Reader(
        opened.source,
        folder,
        lambda part: tell(0.3 + 0.7 * part, "reading"),
        database=str(folder / "cells.duckdb"),
        memory=DUCK_BYTES,
    )
    try:
        kept = reader.keep(opened.forms)
        if not kept.rows:
            raise no_rows(path)
    except BaseException:
        reader.close()
        raise
    notes = list(opened.notes)
    if kept.rejected_rows:
        first = kept.rejected[0]
        notes.append(
            f"{kept.rejected_rows} rows left out, the first in line {first.line}: {first.reason}"
        )
    numbers = {k: form is not None for k, form in kept.forms.items()}
    return _Found(
        reader,
        "csv",
        opened.source.dialect,
        opened.sha256,
        opened.source.names,
        numbers,
        kept.rows,
        kept.rejected,
        kept.rejected_rows,
        notes,
    )


def _looked_at(path: Path, found: _Found, guess_roles: bool) -> Table:
    """Make a table of rows here and there, evenly spaced; all of them if they are few."""
    pieces = _SAMPLE_PIECES if found.rows > _SAMPLE_ROWS else 1
    height = min(found.rows, _SAMPLE_ROWS // pieces)
    starts = np.linspace(0, found.rows - height, pieces).astype(np.intp)
    texts = {k: not number for k, number in found.numbers.items()}
    parts = [found.store.window(texts, start, start + height) for start in starts.tolist()]
    columns = []
    for k, name in enumerate(found.names):
        values = np.concatenate([part[k] for part in parts])
        kind = "text" if texts[k] else "number"
        column = Column(name, "category" if texts[k] else "number", kind, values, 0, 0)
        known = values[column.known()]
        distinct = len(set(known.tolist()))
        columns.append(
            dataclasses.replace(column, missing=len(values) - len(known), distinct=distinct)
        )
    notes = list(found.notes)
    if found.rows > _SAMPLE_ROWS:
        notes.append(
            f"what columns hold was guessed from {pieces * height:,} of the {found.rows:,} rows"
        )
    seen = Delimited(
        found.dialect, found.sha256, columns, found.rejected, found.rejected_rows, notes
    )
    return without_label(path, found.kind, seen, guess_roles=guess_roles)


def _settled(
    bare: Table, found: _Found, label: str | None, positive: str | None, need_label: bool
) -> tuple[dict[str, Any], Mask, Mask]:
    """Settle the label; give the fields of the table, the labelled rows and the positive ones."""
    columns = tuple(dataclasses.replace(c, values=c.values[:0]) for c in bare.columns)
    fields = {f.name: getattr(bare, f.name) for f in dataclasses.fields(Table)}
    fields |= {"columns": columns}
    nothing = np.zeros(found.rows, dtype=bool)
    if not need_label:
        return fields, nothing, nothing
    guessed = ["label"] if label is None else []
    label = label or guess_label(bare.columns)
    if label is None:
        raise no_label(bare)
    column = bare.column(label)
    k = bare.columns.index(column)
    classes = _classes(bare.path, found.store, k, column)
    if positive is None:
        guessed.append("positive")
        positive = guess_positive(classes)
    else:
        positive = find_class(bare.path, column, classes, positive)
    if len(classes) < 2:
        raise one_class(bare.path, label, classes)
    known, positives = _marks(found, k, column, positive)
    unlabelled = found.rows - int(np.count_nonzero(known))
    fields |= {
        "columns": tuple(with_role(c, {}, label) for c in columns),
        "label": label,
        "positive": positive,
        "classes": classes,
        "unlabelled": unlabelled,
        "guessed": tuple(guessed) if positive is not None else (),
    }
    return fields, known, positives


def _classes(path: Path, store: CellStore, k: int, column: Column) -> dict[str, int]:
    counted = store.counts(k, _MOST_CLASSES + 1)
    if len(counted) > _MOST_CLASSES:
        raise InputError(
            f"column {column.name!r} of {path} has more than {_MOST_CLASSES:,} different values "
            "and cannot be the label; choose a column with few classes",
            file=str(path),
            column=column.name,
            setting="label",
        )
    if column.kind == "text":
        return {str(value): count for value, count in counted}
    return {spell_number(value): count for value, count in counted}


def _marks(found: _Found, k: int, column: Column, positive: str | None) -> tuple[Mask, Mask]:
    """Mark the rows with a label, and the positive ones among them."""
    wanted = positive or ""
    if column.kind == "text":
        known, equal = f"c{k} IS NOT NULL", f"coalesce(c{k} = {literal(wanted)}, false)"
    else:
        known = f"NOT isnan(c{k})"
        equal = f"c{k} = {float(wanted)!r}::DOUBLE" if wanted else "false"
    masks = np.empty((2, found.rows), dtype=bool)
    for start in range(0, found.rows, _LABEL_WINDOW):
        stop = min(start + _LABEL_WINDOW, found.rows)
        masks[:, start:stop] = found.store.expressions([known, equal], start, stop)
    return masks[0], masks[1]
