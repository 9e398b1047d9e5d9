"""Files of svmlight and libsvm: a class and the features that are not zero.

Every column that some row mentions becomes one of numbers, named after its index; what is not
mentioned is zero, in a later file too. The table is as large as its numbers written out, and one
that would not fit into memory is refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.columns import Column
from aucstudio.project.data.gathering import number_cells
from aucstudio.project.data.readers.format import MATRIX, Advance, Format, Wish, Written
from aucstudio.project.data.schema import Schema
from aucstudio.project.errors import InputError
from aucstudio.project.words import bytes_words

LABEL, QUERY = "label", "qid"
_MOST_OF_MEMORY = 0.4
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
    from scipy.sparse import csr_array

    with np.load(path, allow_pickle=False) as found:
        label, query = found["label"], found["query"]
        indices = found["indices"]
        width = int(indices.max(initial=0)) + 1
        used = np.unique(indices)
        # Only columns that occur: an index may be in the billions.
        places = np.searchsorted(used, indices)
        shape = (len(label), len(used))
        known = _known_features(schema, used, width)
        _check_size(shown, len(label), len(used) + len(known))
        X = csr_array((found["data"], places, found["indptr"]), shape=shape).tocsc()
    columns = [_column(LABEL, label)]
    columns += [_column(QUERY, query.astype(float))] if len(query) else []
    for k, index in enumerate(used.tolist()):
        values = np.zeros(len(label))
        part = slice(X.indptr[k], X.indptr[k + 1])
        values[X.indices[part]] = X.data[part]
        columns.append(_column(f"f{index}", values))
    columns += [_column(name, np.zeros(len(label))) for name in known]
    strange = next((c for c in columns if np.isinf(c.values).any()), None)
    if strange is not None and schema is None:
        raise InputError(
            f"infinite value in column {strange.name!r} of {shown}; leave it out of the row",
            file=str(shown),
            column=strange.name,
        )
    return columns


def _known_features(schema: Schema | None, used: NDArray[Any], width: int) -> list[str]:
    """Name the features of the training table that no row mentions: they are zero."""
    if schema is None:
        return []
    have = {f"f{index}" for index in used.tolist()}
    return [name for name in schema.names if re.fullmatch("f[0-9]+", name) and name not in have]


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
