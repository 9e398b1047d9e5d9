"""Files of svmlight and libsvm: a class and the features that are not zero.

Every column that some row mentions becomes one of numbers, named after its index; what is not
mentioned is zero, in a later file too. Where few numbers are not zero only these are kept; else the
table is as large as its numbers written out, and one that would not fit into memory is refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.project.data.columns import Column
from aucstudio.project.data.gathering import number_cells
from aucstudio.project.data.readers.format import MATRIX, Advance, Format, Wish, Written
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.sparse_columns import SparseBlock
from aucstudio.project.errors import InputError
from aucstudio.project.words import bytes_words

if TYPE_CHECKING:
    from scipy import sparse

LABEL, QUERY = "label", "qid"
_MOST_OF_MEMORY = 0.4
# A number that is kept with its place takes half as much again as a cell.
MOST_FILLED = 1 / 3
_LINE = re.compile(
    r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?(?:\s+qid:[0-9]+)?((?:\s+[0-9]+:[^\s:]+)*)\s*(?:#.*)?"
)
_LINES = 20


def _write(path: Path, target: Path, _wish: Wish, tell: Advance) -> Written:
    from sklearn.datasets import load_svmlight_file

    with path.open("rb") as file:
        # The indices as they are: whether they begin at 0 or at 1 would be a guess.
        X, y, query = load_svmlight_file(file, query_id=True, zero_based=True)
    tell(0.9)
    if not len(y):
        raise InputError(f"{path} has no rows; choose a file with data", file=str(path))
    with target.open("wb") as out:
        np.savez(out, data=X.data, indices=X.indices, indptr=X.indptr, label=y, query=query)
    roles = {LABEL: "label"} | ({QUERY: "group"} if len(query) else {})
    return Written(MATRIX, roles=roles)


def read_columns(path: Path, shown: Path, schema: Schema | None) -> list[Column]:
    """Make columns of the numbers that were put down; ``shown`` is the file to name.

    Raises
    ------
    InputError
        If they would not fit into memory.
    """
    with np.load(path, allow_pickle=False) as found:
        label, query = found["label"], found["query"]
        indices = found["indices"]
        used = np.unique(indices)
        # Only columns that occur: an index may be in the billions.
        places = np.searchsorted(used, indices)
        names = [f"f{index}" for index in used.tolist()]
        names += _known_features(schema, names)
        shape = (len(label), len(names))
        X = scipy.sparse.csr_array((found["data"], places, found["indptr"]), shape=shape).tocsc()
    block = SparseBlock(X)
    columns = [_column(LABEL, label)]
    columns += [_column(QUERY, query.astype(float))] if len(query) else []
    if schema is None:
        _refuse_infinite(shown, columns, X, names)
    features = block.columns(names)
    if block.stored <= MOST_FILLED * len(label) * len(names):
        return columns + features
    _check_size(shown, *shape)
    return columns + [_column(column.name, column.values) for column in features]


def _refuse_infinite(
    path: Path, columns: list[Column], X: sparse.csc_array, names: list[str]
) -> None:
    strange = next((c.name for c in columns if np.isinf(c.values).any()), None)
    (places,) = np.nonzero(np.isinf(X.data))
    if strange is None and len(places):
        strange = names[int(np.searchsorted(X.indptr, places[0], "right")) - 1]
    if strange is not None:
        raise InputError(
            f"infinite value in column {strange!r} of {path}; leave it out of the row",
            file=str(path),
            column=strange,
        )


def _known_features(schema: Schema | None, names: list[str]) -> list[str]:
    """Name the features of the training table that no row mentions: they are zero."""
    have = set(names)
    known = () if schema is None else schema.names
    return [name for name in known if re.fullmatch("f[0-9]+", name) and name not in have]


def _check_size(path: Path, rows: int, columns: int) -> None:
    import psutil

    needed, memory = 8.0 * rows * columns, float(psutil.virtual_memory().total)
    if needed > _MOST_OF_MEMORY * memory:
        raise InputError(
            f"{path} has {rows:,} rows of {columns:,} features, which take {bytes_words(needed)} "
            f"written out, and this machine has {bytes_words(memory)}; keep fewer features or rows",
            file=str(path),
        )


def _column(name: str, values: NDArray[np.float64]) -> Column:
    cells = number_cells(values)
    return Column.of_cells(name, cells.values, cells.missing, cells.distinct)


def _is_svmlight(_path: Path, head: bytes) -> bool:
    """Tell whether the first lines are all of a class and pairs of index and value."""
    try:
        text = head.decode("ascii")
    except UnicodeDecodeError:
        return False
    lines = [line for line in text.split("\n")[:_LINES] if line.strip()]
    if len(head) == HEAD_BYTES and len(lines) > 1:
        lines = lines[:-1]
    lines = [line for line in lines if not line.lstrip().startswith("#")]
    found = [_LINE.fullmatch(line.strip()) for line in lines]
    return bool(found) and all(found) and any(one and one[1].count(":") > 1 for one in found)


# What a format is given of a file to be recognised.
HEAD_BYTES = 1 << 16

FORMATS = (
    Format(
        key="svmlight",
        title="an svmlight file",
        plural="svmlight files",
        endings=(".svm", ".svmlight", ".libsvm"),
        recognises=_is_svmlight,
        write=_write,
        apart=True,
        swelling=10.0,
    ),
)
