"""Estimate the memory of runs before they start."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aucstudio.engine import DECLARED, METHODS
from aucstudio.engine import cost as costs
from aucstudio.engine.cost import NUMBER, Cost, largest_memory
from aucstudio.engine.params import InvalidSetting
from aucstudio.notices import text
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import is_sparse
from aucstudio.project.data.preparing.preparation_choice import (
    FREQUENCY,
    USUAL,
    PreparationChoice,
)
from aucstudio.project.data.preparing.scales import MAX_LEVELS
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.data.text.dates import count_taken
from aucstudio.project.data.validation import LEAVE_PAIR_OUT, Validation
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.tuning import Candidate, Tuning, candidates, settings_words

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier


# Of control groups, version 2 and 1, in a container.
CONTAINER_LIMIT_FILES = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
_BYTES_STORED = 2 * NUMBER  # of a number with its place
# The table, the prepared training rows, and what reading or training adds.
_TIMES_IN_MEMORY = 3.0
_MOST_OF_MEMORY = 0.8
_LEAST_BLOCK = 1_000


def check_size(experiment: Experiment, table: Table) -> None:
    """Refuse a run whose training part would not fit in memory, before it starts.

    Raises
    ------
    InvalidSetting, InputError
        With the memory it would take and what to use instead.
    """
    (cost, candidate), whole = largest_fit(experiment, table), memory_limit()
    if cost.bytes > largest_memory(whole):
        if is_sparse(table.columns) and not stays_sparse(experiment, table):
            raise _needs_dense(experiment, table, cost, whole)
        which, taken, advice = settings_words(candidate), cost.bytes, cost.advice
        words = text("fit_too_large", which=which, taken=taken, memory=whole, advice=advice)
        raise InvalidSetting(cost.setting, words)


def check_size_at_once(experiments: Sequence[Experiment], table: Table, processes: int) -> None:
    """Refuse runs that would not fit in memory at the same time, each with its own table.

    Parameters
    ----------
    experiments : sequence of Experiment
    table : Table
    processes : int
        How many runs are executed at once.

    Raises
    ------
    InputError
        With the memory they would take.
    """
    fits = [largest_fit(one, one.data.seen(table))[0].bytes for one in experiments]
    together = sorted(fits, reverse=True)[:processes]
    taken = sum(together) + len(together) * table_bytes(table)
    whole = memory_limit()
    if taken > largest_memory(whole):
        raise input_error("runs_too_large_at_once", count=len(together), taken=taken, whole=whole)


def largest_fit(experiment: Experiment, table: Table) -> tuple[Cost, Candidate]:
    """Estimate the largest fit of a run.

    Returns
    -------
    cost : Cost
    candidate : mapping
        The candidate of the search with this fit; empty without a search.

    Raises
    ------
    InvalidSetting
        If the method refuses the table's size with every candidate.
    """
    size = training_size(
        experiment.validation, table, experiment.data.positive, experiment.preparation
    )
    method, params = METHODS[experiment.method], experiment.params
    tuning = experiment.tuning
    sparse = stays_sparse(experiment, table)
    tried: list[Candidate] = [{}]
    if tuning is not None:
        tried = [*candidates(method, params, tuning.seed)]
    fits: list[tuple[Cost, Candidate]] = []
    refusals = []
    for candidate in tried:
        fit = method(**{**params, **candidate})
        try:
            fit.check_size(*size)
        except InvalidSetting as refusal:
            refusals.append(refusal)
        else:
            fits.append((cost_of_fit(fit, size, table, sparse=sparse), candidate))
    if not fits:
        raise refusals[0]
    return max(fits, key=lambda fit: fit[0].bytes)


def training_size(
    validation: Validation,
    table: Table,
    positive: str,
    preparation: PreparationChoice = USUAL,
) -> tuple[int, int, int]:
    """Return the positives, negatives and features of one fit."""
    share, positives = validation.train_share, table.classes[positive]
    negatives = sum(table.classes.values()) - positives
    features = sum(
        count_taken(column)
        if column.role == "number"
        else _most_columns(column.distinct, preparation)
        for column in table.features
    )
    if preparation.indicators:
        features += sum(column.role == "number" and column.missing > 0 for column in table.features)
    return max(1, round(share * positives)), max(1, round(share * negatives)), features


def _most_columns(levels: int, preparation: PreparationChoice) -> int:
    if levels > MAX_LEVELS and preparation.many_levels == FREQUENCY and not preparation.rare:
        return 1
    return min(levels, MAX_LEVELS)


def memory_limit() -> float:
    """Return the bytes of memory of the machine, or those that a container may use.

    This is the total, not the free memory: much of the used memory is a cache that can be dropped.
    """
    return float(min([costs.machine_memory(), *_container_limits()]))


def _container_limits() -> Iterator[int]:
    for path in CONTAINER_LIMIT_FILES:
        with contextlib.suppress(OSError, ValueError):  # none, or "max"
            yield int(path.read_text(encoding="ascii"))


def stays_sparse(experiment: Experiment, table: AnyTable) -> bool:
    """Return whether every fit of an experiment takes the rows of a table as a sparse matrix."""
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
    """Return whether a method takes sparse rows at every setting that is tried."""
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
    """Estimate the cost of a fit on (positives, negatives, features) of a table.

    Parameters
    ----------
    sparse : bool
        Whether it takes the rows as a sparse matrix; otherwise a sparse table is made dense.
    """
    if not is_sparse(table.columns):
        return fit.estimate(*size)
    rows = size[0] + size[1]
    if sparse:
        share = rows / max(table.rows, 1)
        return fit.estimate_sparse(*size, share * _stored(table))
    from aucstudio.project.data.sparse_columns import COPIES

    cost = fit.estimate(*size)
    return dataclasses.replace(cost, bytes=cost.bytes + COPIES * NUMBER * rows * size[2])


def table_bytes(table: Table) -> float:
    """Return the memory of the cells of a table in bytes."""
    dense = sum(not column.sparse for column in table.columns)
    return NUMBER * table.rows * dense + _BYTES_STORED * _stored(table)


def _stored(table: Table) -> int:
    if not is_sparse(table.columns):
        return 0
    from aucstudio.project.data.sparse_columns import stored_cells

    return stored_cells(table.columns)


def _needs_dense(experiment: Experiment, table: Table, cost: Cost, memory: float) -> InputError:
    """Return the error of a fit on a sparse table that does not fit in memory."""
    method = DECLARED[experiment.method]
    why = method.title
    if experiment.validation.scheme == LEAVE_PAIR_OUT:
        why = "leave-pair-out"
    elif experiment.preparation.makes_ranks:
        why = "scaling by ranks"
    elif method.takes_sparse:
        why = f"{method.title} with these settings"
    return input_error(
        "needs_dense_table",
        why=why,
        name=table.path.name,
        taken=cost.bytes,
        memory=memory,
        able=[other.title for other in DECLARED.values() if other.takes_sparse],
    )


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def read_size(text: str) -> int:
    """Read a size such as 64M, in bytes.

    Raises
    ------
    InputError
        If it is not a size, or less than 1 kB.
    """
    found = re.fullmatch(r"([0-9]+)([KMG]?)B?", text.strip().upper())
    size = int(found[1]) * _UNITS[found[2]] if found else 0
    if size < _LEAST_BLOCK:
        raise input_error("no_block_size", text=text)
    return size


def table_reader(
    path: str | Path, method: str | None, stream: bool, block_size: str | None
) -> tuple[Callable[..., AnyTable], str]:
    """Choose the reader of a table.

    Parameters
    ----------
    path : str or Path
    method : str or None
        The method to be trained; None for rows to be scored.
    stream : bool
        Whether the table stays on disk, whatever its size.
    block_size : str or None
        Size of a block of an out-of-memory table.

    Returns
    -------
    reader : callable
    remark : str
        Why the table stays on disk although this was not requested; empty otherwise.

    Raises
    ------
    InputError
        If the method needs all rows in memory and the table stays on disk.
    """
    given: dict[str, Any] = {} if block_size is None else {"block_bytes": read_size(block_size)}
    needed, memory, remark = 0.0, memory_limit(), ""
    if not stream and block_size is None:
        needed = _TIMES_IN_MEMORY * _cell_bytes(Path(path))
        if needed <= _MOST_OF_MEMORY * memory:
            return read_table, ""
        remark = text("table_too_large", path=path, needed=needed, memory=memory)
    if method is not None and method in DECLARED and not DECLARED[method].adds_up:
        able = ", ".join(key for key, other in DECLARED.items() if other.adds_up)
        raise input_error("method_needs_all_rows", file=path, why=remark, method=method, able=able)
    from aucstudio.project.data.disk.stream import open_stream

    reader = functools.partial(open_stream, **given)
    return reader, text("stays_on_disk", why=remark)


def _cell_bytes(path: Path) -> float:
    """Estimate the memory of the cells of a table from the start of the file."""
    from aucstudio.project.data.readers.formats import PARQUET_FORMAT, recognise

    try:
        found, _ = recognise(path)
    except InputError:
        return 0.0  # the reader reports it
    if found is PARQUET_FORMAT:
        from aucstudio.project.data.parquet import count_cells

        return 8.0 * count_cells(path)
    # A cell of text is about as long as a double.
    return found.swelling * os.path.getsize(path)


def check_stream(experiment: Experiment) -> None:
    """Raise InputError if an experiment cannot be done with an out-of-memory table."""
    if experiment.weight is not None:
        raise input_error("stream_weights")
    if experiment.validation.scheme == LEAVE_PAIR_OUT:
        raise input_error("stream_pairs")
    if experiment.tuning is not None:
        raise input_error("stream_tuning")
