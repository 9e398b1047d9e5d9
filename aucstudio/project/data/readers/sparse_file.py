"""Intermediate file of sparse tables, and svmlight files, which are converted to one.

Only non-zero numbers are stored if they are few; otherwise the table is dense, and refused if it
would not fit into memory.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.notices.words import bytes_words
from aucstudio.project.data.cells import number_cells
from aucstudio.project.data.columns import Column
from aucstudio.project.data.parquet import typed_table
from aucstudio.project.data.readers.format import MATRIX, Advance, ReadOptions, Written
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.sparse_columns import SparseBlock
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.contents import Unreadable
from aucstudio.project.data.text.import_notices import about_unreadable
from aucstudio.project.errors import InputError, input_error

if TYPE_CHECKING:
    from scipy import sparse

Text = tuple[str | None, ...]

_MOST_OF_MEMORY = 0.4
# A stored number with its index takes 1.5 times the memory of a dense cell.
MOST_FILLED = 1 / 3


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class SparseFile:
    """A table of sparse columns of numbers, and some other columns.

    Attributes
    ----------
    names : sequence of str
        All columns, in order.
    features : sequence of str
        Columns of the matrix.
    matrix : CSR matrix of shape (rows, features)
    numbers : dict of str to ndarray of shape (rows,)
        Other columns of numbers.
    texts : dict of str to tuple of levels and ndarray of shape (rows,)
        Columns of text: the levels, None for a missing cell, and the code of each cell.
    implied : str
        Pattern of the names of columns that are zero if a later file does not mention them.
    unreadable : dict of str to Unreadable
    """

    names: Sequence[str]
    features: Sequence[str]
    matrix: sparse.csr_array
    numbers: Mapping[str, NDArray[np.float64]] = dataclasses.field(default_factory=dict)
    texts: Mapping[str, tuple[Text, NDArray[np.int32]]] = dataclasses.field(default_factory=dict)
    implied: str = ""
    unreadable: Mapping[str, Unreadable] = dataclasses.field(default_factory=dict)

    def save(self, target: Path) -> None:
        """Write the file, to be read by :func:`read_sparse`."""
        about = {
            "names": list(self.names),
            "features": list(self.features),
            "numbers": list(self.numbers),
            "texts": {name: levels for name, (levels, _) in self.texts.items()},
            "implied": self.implied,
            "unreadable": {k: dataclasses.asdict(one) for k, one in self.unreadable.items()},
        }
        columns = [*self.numbers.values(), *(codes for _, codes in self.texts.values())]
        beside: dict[str, Any] = {f"beside{k}": values for k, values in enumerate(columns)}
        X = self.matrix
        with target.open("wb") as out:
            np.savez(
                out,
                about=np.frombuffer(json.dumps(about).encode(), np.uint8),
                data=X.data,
                indices=X.indices,
                indptr=X.indptr,
                **beside,
            )


def _load(path: Path) -> SparseFile:
    with np.load(path, allow_pickle=False) as found:
        about = json.loads(found["about"].tobytes())
        numbers, texts = about["numbers"], about["texts"]
        beside = [found[f"beside{k}"] for k in range(len(numbers) + len(texts))]
        shape = (len(found["indptr"]) - 1, len(about["features"]))
        parts = (found["data"], found["indices"], found["indptr"])
        return SparseFile(
            names=about["names"],
            features=about["features"],
            matrix=scipy.sparse.csr_array(parts, shape=shape),
            numbers=dict(zip(numbers, beside, strict=False)),
            texts={
                name: (tuple(levels), codes)
                for (name, levels), codes in zip(texts.items(), beside[len(numbers) :], strict=True)
            },
            implied=about["implied"],
            unreadable={
                name: Unreadable(**{**one, "spellings": tuple(map(tuple, one["spellings"]))})
                for name, one in about["unreadable"].items()
            },
        )


def read_sparse(path: Path, shown: Path, sha256: str, schema: Schema | None) -> Table:
    """Read a sparse table without roles; ``shown`` is the file to name.

    Raises
    ------
    InputError
        If it would not fit into memory.
    """
    found = _load(path)
    lacking = _implied(schema, found)
    X = found.matrix.tocsc()
    X.resize(X.shape[0], X.shape[1] + len(lacking))
    names = [*found.features, *lacking]
    beside = {name: _of_numbers(name, values) for name, values in found.numbers.items()}
    beside |= {name: _of_texts(name, *cells) for name, cells in found.texts.items()}
    if schema is None:
        _refuse_infinite(shown, [beside[name] for name in found.numbers], X, names)
    block = SparseBlock(X)
    features: list[Column] = list(block.columns(names))
    if block.stored > MOST_FILLED * block.height * len(names):
        _check_size(shown, block.height, len(names))
        features = [_of_numbers(column.name, column.values) for column in features]
    by_name = beside | {column.name: column for column in features}
    findings = tuple(about_unreadable(found.unreadable))
    columns = [by_name[name] for name in (*found.names, *lacking)]
    return typed_table(shown, "", sha256, columns, findings, found.unreadable)


def _implied(schema: Schema | None, found: SparseFile) -> list[str]:
    """Return the features of the training table that no row mentions: they are zero."""
    if schema is None or not found.implied:
        return []
    have, pattern = set(found.names), re.compile(found.implied)
    return [name for name in schema.names if name not in have and pattern.fullmatch(name)]


def _refuse_infinite(
    path: Path, columns: Sequence[Column], X: sparse.csc_array, names: Sequence[str]
) -> None:
    infinite = next((c.name for c in columns if np.isinf(c.values).any()), None)
    (places,) = np.nonzero(np.isinf(X.data))
    if infinite is None and len(places):
        infinite = names[int(np.searchsorted(X.indptr, places[0], "right")) - 1]
    if infinite is not None:
        raise input_error("infinite_value", file=path, column=infinite)


def _check_size(path: Path, rows: int, columns: int) -> None:
    import psutil

    needed, memory = 8.0 * rows * columns, float(psutil.virtual_memory().total)
    if needed > _MOST_OF_MEMORY * memory:
        raise input_error(
            "dense_too_large",
            file=path,
            rows=rows,
            columns=columns,
            size=bytes_words(needed),
            memory=bytes_words(memory),
        )


def _of_numbers(name: str, values: NDArray[np.float64]) -> Column:
    cells = number_cells(values)
    return Column.of_cells(name, cells.values, cells.missing, cells.distinct)


def _of_texts(name: str, levels: Text, codes: NDArray[np.int32]) -> Column:
    values = np.array([*levels, None], dtype=object)[codes]
    listed = values.tolist()
    return Column.of_cells(name, values, listed.count(None), len(set(listed) - {None}))


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
    # Only columns that occur, because an index may be in the billions.
    used = np.unique(X.indices)
    parts = (X.data, np.searchsorted(used, X.indices), X.indptr)
    features = [f"f{index}" for index in used.tolist()]
    numbers = {LABEL: y} | ({QUERY: query.astype(float)} if len(query) else {})
    SparseFile(
        names=[*numbers, *features],
        features=features,
        matrix=scipy.sparse.csr_array(parts, shape=(len(y), len(used))),
        numbers=numbers,
        implied="f[0-9]+",
    ).save(target)
    roles = {LABEL: "label"} | ({QUERY: "group"} if len(query) else {})
    return Written(MATRIX, roles=roles)


def _with_several_labels(path: Path) -> InputError | None:
    """Return the error for a file whose rows have several labels; None if they have not."""
    with path.open("rb") as file:
        for line, text in enumerate(file, 1):
            if b"," in text.split(b" ", 1)[0]:
                return input_error("several_labels", file=path, line=line)
    return None
