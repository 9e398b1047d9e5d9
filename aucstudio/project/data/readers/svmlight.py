"""svmlight and libsvm files.

Every column that a row mentions becomes a column of numbers named after its index. Cells that are
not mentioned are zero, in later files too.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy

from aucstudio.project.data.readers.format import MATRIX, Advance, ReadOptions, Written
from aucstudio.project.data.readers.sparse_file import SparseFile
from aucstudio.project.errors import InputError, input_error

LABEL, QUERY = "label", "qid"


def write(path: Path, target: Path, _options: ReadOptions, report: Advance) -> Written:
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
