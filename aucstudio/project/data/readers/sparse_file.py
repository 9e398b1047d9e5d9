"""Intermediate file of sparse tables, and svmlight files, which are converted to one.

Only non-zero numbers are stored if they are few; otherwise the table is dense, and refused if it
would not fit into memory.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import scipy

from aucstudio.engine.cost import machine_memory
from aucstudio.notices.words import bytes_words
from aucstudio.project.data.columns import Column
from aucstudio.project.data.readers.formats import MATRIX, Advance, ReadOptions, Written
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.sparse_columns import SparseBlock
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.contents import Unreadable
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.import_notices import about_unreadable
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.typed import decode

if TYPE_CHECKING:
    from scipy import sparse


MOST_OF_MEMORY = 0.4  # for a file that is read as a dense table
# A stored number with its index takes 1.5 times the memory of a dense cell.
MOST_FILLED = 1 / 3


@dataclasses.dataclass(frozen=True)
class SparseTable:
    """A table whose cells are in a sparse matrix with a column for each of its columns.

    Attributes
    ----------
    names : list of str
    dense : list of str
        Columns of numbers that are not sparse.
    levels : dict of str to list
        Columns of text: the levels, None for a missing cell, by the codes in the matrix.
    implied : str
        Pattern of the names of columns that are zero if a later file does not mention them.
    unreadable : dict of str to Unreadable
    """

    names: list[str]
    dense: list[str] = dataclasses.field(default_factory=list)
    levels: dict[str, list[str | None]] = dataclasses.field(default_factory=dict)
    implied: str = ""
    unreadable: dict[str, Unreadable] = dataclasses.field(default_factory=dict)

    def save(self, target: Path, cells: sparse.csc_array) -> None:
        """Write the file, to be read by :func:`read_sparse`."""
        with target.open("wb") as out:
            np.savez(
                out,
                about=np.frombuffer(msgspec.json.encode(self), np.uint8),
                shape=cells.shape,
                data=cells.data,
                indices=cells.indices,
                indptr=cells.indptr,
            )


def _load(path: Path) -> tuple[SparseTable, sparse.csc_array]:
    with np.load(path, allow_pickle=False) as found:
        parts = (found["data"], found["indices"], found["indptr"])
        about = decode(found["about"].tobytes(), SparseTable)
        return about, scipy.sparse.csc_array(parts, shape=tuple(found["shape"]))


def read_sparse(path: Path, shown: Path, schema: Schema | None) -> Table:
    """Read a sparse table without roles; ``shown`` is the file to name.

    Raises
    ------
    InputError
        If it would not fit into memory.
    """
    about, X = _load(path)
    if schema is None:
        _refuse_infinite(shown, X, about.names)
    lacking = _implied(schema, about)
    names = [*about.names, *lacking]
    X.resize(X.shape[0], len(names))
    sparse = [k for k, name in enumerate(names) if name not in {*about.dense, *about.levels}]
    block = SparseBlock(X[:, sparse])
    features: list[Column] = list(block.columns([names[k] for k in sparse]))
    if block.stored > MOST_FILLED * block.height * len(sparse):
        _check_size(shown, block.height, len(sparse))
        features = [Column.of_cells(column.name, column.values) for column in features]
    by_name = {column.name: column for column in features}
    for k, name in enumerate(names):
        if name in about.levels:
            levels = np.array(about.levels[name], dtype=object)
            codes = X[:, [k]].toarray()[:, 0].astype(np.intp)
            by_name[name] = Column.of_cells(name, levels[codes])
        elif name not in by_name:
            by_name[name] = Column.of_cells(name, X[:, [k]].toarray()[:, 0])
    findings = tuple(about_unreadable(about.unreadable))
    columns = [by_name[name] for name in names]
    return Table(
        path=shown,
        format="",
        dialect=Dialect(),
        columns=tuple(columns),
        remarks=findings,
        unreadable=about.unreadable,
    )


def _implied(schema: Schema | None, about: SparseTable) -> list[str]:
    """Return the features of the training table that no row mentions: they are zero."""
    if schema is None or not about.implied:
        return []
    have, pattern = set(about.names), re.compile(about.implied)
    return [name for name in schema.names if name not in have and pattern.fullmatch(name)]


def _refuse_infinite(path: Path, X: sparse.csc_array, names: Sequence[str]) -> None:
    (places,) = np.nonzero(np.isinf(X.data))
    if len(places):
        column = names[int(np.searchsorted(X.indptr, places[0], "right")) - 1]
        raise input_error("infinite_value", file=path, column=column)


def _check_size(path: Path, rows: int, columns: int) -> None:
    needed, memory = 8.0 * rows * columns, machine_memory()
    if needed > MOST_OF_MEMORY * memory:
        raise input_error(
            "dense_too_large",
            file=path,
            rows=rows,
            columns=columns,
            size=bytes_words(needed),
            memory=bytes_words(memory),
        )


# ------------------------------------------------------------- svmlight and libsvm

# Every column that a row mentions becomes a column of numbers named after its index. Cells that are
# not mentioned are zero, in later files too.
LABEL, QUERY = "label", "qid"


def write_svmlight(path: Path, target: Path, _options: ReadOptions, report: Advance) -> Written:
    from sklearn.datasets import load_svmlight_file

    with path.open("rb") as file:
        try:
            # Indices are kept: whether they begin at 0 or 1 is not known.
            X, y, query = load_svmlight_file(file, query_id=True, zero_based=True)
        except ValueError as error:
            raise _with_several_labels(path) or error from error
    report(0.9)
    if not len(y):
        raise input_error("no_rows", file=path)
    dense = {LABEL: y} | ({QUERY: query.astype(float)} if len(query) else {})
    # Only columns that occur, because an index may be in the billions.
    used = np.unique(X.indices)
    parts = (X.data, np.searchsorted(used, X.indices), X.indptr)
    beside = np.stack([*dense.values()], axis=1)
    cells = [beside, scipy.sparse.csr_array(parts, shape=(len(y), len(used)))]
    names = [*dense, *(f"f{index}" for index in used.tolist())]
    about = SparseTable(names, [*dense], implied="f[0-9]+")
    about.save(target, scipy.sparse.hstack(cells, format="csc"))
    return Written(MATRIX, roles=dict(zip(dense, ("label", "group"), strict=False)))


def _with_several_labels(path: Path) -> InputError | None:
    """Return the error for a file whose rows have several labels; None if they have not."""
    with path.open("rb") as file:
        for line, text in enumerate(file, 1):
            if b"," in text.split(b" ", 1)[0]:
                return input_error("several_labels", file=path, line=line)
    return None
