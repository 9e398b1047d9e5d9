"""When a sparse table is trained on as it is, and when its zeros have to be written out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aucstudio.engine import DECLARED
from aucstudio.engine.cost import NUMBER, Cost
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation_choice import PreparationChoice
from aucstudio.project.data.sparse_columns import COPIES, SparseColumn, is_sparse
from aucstudio.project.data.splitting.validation import LEAVE_PAIR_OUT
from aucstudio.project.data.table import Table
from aucstudio.project.runs.tuning import Tuning, candidates
from aucstudio.project.words import bytes_words

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier
    from aucstudio.project.runs.experiments.experiment import Experiment

_BYTES_STORED = 2 * NUMBER  # of a number with its place


def stays_sparse(experiment: Experiment, table: AnyTable) -> bool:
    """Tell whether every fit of an experiment takes the rows of a table as a sparse matrix."""
    pairs_out = experiment.validation.scheme == LEAVE_PAIR_OUT
    return not pairs_out and fits_sparse(
        experiment.method, experiment.params, experiment.tuning, experiment.preparation, table
    )


def fits_sparse(
    method: str,
    params: Mapping[str, Any],
    tuning: Tuning | None,
    preparation: PreparationChoice,
    table: AnyTable,
) -> bool:
    """Tell whether a method, at every setting that is tried, takes the rows as a sparse matrix."""
    known = DECLARED[method]
    if not known.takes_sparse or not is_sparse(table.columns) or preparation.makes_ranks:
        return False
    if any(0.0 in column.absent or column.parts for column in table.features):
        return False
    if tuning is not None and tuning.metric == LEAVE_PAIR_OUT:
        return False
    tried = [{}] if tuning is None else candidates(known, params, tuning.seed)
    return all(known(**{**params, **candidate}).stays_sparse() for candidate in tried)


def cost_of_fit(
    fit: AUCClassifier, size: tuple[int, int, int], table: Table, *, sparse: bool
) -> Cost:
    """Say what a fit on so many positives, negatives and features of a table takes.

    Parameters
    ----------
    sparse : bool
        Whether it takes the rows as a sparse matrix; else a sparse table is written out for it.
    """
    if not is_sparse(table.columns):
        return fit.estimate(*size)
    rows = size[0] + size[1]
    if sparse:
        share = rows / max(table.rows, 1)
        return fit.estimate_sparse(*size, share * _stored(table))
    cost = fit.estimate(*size)
    return dataclasses.replace(cost, bytes=cost.bytes + COPIES * NUMBER * rows * size[2])


def table_bytes(table: Table) -> float:
    """Say what the cells of a table take."""
    dense = sum(not isinstance(column, SparseColumn) for column in table.columns)
    return NUMBER * table.rows * dense + _BYTES_STORED * _stored(table)


def _stored(table: Table) -> int:
    blocks = {id(c.block): c.block for c in table.columns if isinstance(c, SparseColumn)}
    return sum(block.stored for block in blocks.values())


def must_be_written_out(experiment: Experiment, table: Table, cost: Cost, memory: float) -> str:
    """Say why a fit on a sparse table does not fit into memory, and what does."""
    method = DECLARED[experiment.method]
    why = method.title
    if experiment.validation.scheme == LEAVE_PAIR_OUT:
        why = "leave-pair-out"
    elif experiment.preparation.makes_ranks:
        why = "scaling by ranks"
    elif method.takes_sparse:
        why = f"{method.title} with these settings"
    return (
        f"{why} needs the zeros of {table.path.name} written out: one fit would take about "
        f"{bytes_words(cost.bytes)} of memory, and this machine has {bytes_words(memory)}. "
        f"{sparse_methods()} leave them out"
    )


def sparse_methods() -> str:
    """Name the methods that take sparse rows."""
    *titles, last = (method.title for method in DECLARED.values() if method.takes_sparse)
    return f"{', '.join(titles)} and {last}, each with a linear kernel,"
