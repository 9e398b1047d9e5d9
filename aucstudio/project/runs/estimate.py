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
from aucstudio.notices.words import bytes_words, rough_words
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.date_parts import count_taken
from aucstudio.project.data.preparing.preparation_choice import (
    FREQUENCY,
    USUAL,
    PreparationChoice,
)
from aucstudio.project.data.preparing.scales import MAX_LEVELS
from aucstudio.project.data.sparse_columns import COPIES, SparseColumn, is_sparse
from aucstudio.project.data.splitting.validation import LEAVE_PAIR_OUT, Validation
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.experiments.experiment import Band, Experiment
from aucstudio.project.runs.tuning import Candidate, Tuning, candidates, settings_words

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier

# Of control groups, version 2 and 1, in a container.
_LIMIT_FILES = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def check_size(experiment: Experiment, table: Table) -> None:
    """Refuse a run whose training part would not fit in memory, before it starts.

    Raises
    ------
    InvalidSetting, InputError
        With the memory it would take and what to use instead.
    """
    (cost, candidate), whole = largest_fit(experiment, table), machine_memory()
    if cost.bytes > largest_memory(whole):
        if is_sparse(table.columns) and not stays_sparse(experiment, table):
            raise InputError(must_be_written_out(experiment, table, cost, whole), setting="method")
        which = f" of the search ({settings_words(candidate)})" if candidate else ""
        raise InvalidSetting(
            cost.setting,
            f"one fit{which} would take about {bytes_words(cost.bytes)} of memory, and this "
            f"machine has {bytes_words(whole)}: {cost.advice}",
        )


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
    whole = machine_memory()
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


def machine_memory() -> float:
    """Return the bytes of memory of the machine, or those that a container may use.

    This is the total, not the free memory: much of the used memory is a cache that can be dropped.
    """
    return float(min([costs.machine_memory(), *_container_limits()]))


def _container_limits() -> Iterator[int]:
    for path in _LIMIT_FILES:
        with contextlib.suppress(OSError, ValueError):  # none, or "max"
            yield int(path.read_text(encoding="ascii"))


_BYTES_STORED = 2 * NUMBER  # of a number with its place


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
    cost = fit.estimate(*size)
    return dataclasses.replace(cost, bytes=cost.bytes + COPIES * NUMBER * rows * size[2])


def table_bytes(table: Table) -> float:
    """Return the memory of the cells of a table in bytes."""
    dense = sum(not isinstance(column, SparseColumn) for column in table.columns)
    return NUMBER * table.rows * dense + _BYTES_STORED * _stored(table)


def _stored(table: Table) -> int:
    blocks = {id(c.block): c.block for c in table.columns if isinstance(c, SparseColumn)}
    return sum(block.stored for block in blocks.values())


def must_be_written_out(experiment: Experiment, table: Table, cost: Cost, memory: float) -> str:
    """Return why a fit on a sparse table does not fit in memory, and which methods do."""
    method = DECLARED[experiment.method]
    why = method.title
    if experiment.validation.scheme == LEAVE_PAIR_OUT:
        why = "leave-pair-out"
    elif experiment.preparation.makes_ranks:
        why = "scaling by ranks"
    elif method.takes_sparse:
        why = f"{method.title} with these settings"
    return (
        f"{why} needs {table.path.name} as a dense table, zeros included: one fit would take "
        f"about {bytes_words(cost.bytes)} of memory, and this machine has "
        f"{bytes_words(memory)}. {sparse_methods()} work on the sparse table"
    )


def sparse_methods() -> str:
    """List the methods that take sparse rows."""
    *titles, last = (method.title for method in DECLARED.values() if method.takes_sparse)
    return f"{', '.join(titles)} and {last}, each with a linear kernel,"


# The table, the prepared training rows, and what reading or training adds.
_TIMES_IN_MEMORY = 3.0
_MOST_OF_MEMORY = 0.8
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_LEAST_BLOCK = 1_000


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
    needed, memory, remark = 0.0, machine_memory(), ""
    if not stream and block_size is None:
        needed = _TIMES_IN_MEMORY * _cell_bytes(Path(path))
        if needed <= _MOST_OF_MEMORY * memory:
            return read_table, ""
        remark = (
            f"{path} would take about {bytes_words(needed)} of memory, and this machine has "
            f"{bytes_words(memory)}"
        )
    if method is not None and method in DECLARED and not DECLARED[method].adds_up:
        able = ", ".join(key for key, other in DECLARED.items() if other.adds_up)
        reason = f"{remark}: " if remark else ""
        raise input_error(
            "method_needs_all_rows", file=path, reason=reason, method=method, able=able
        )
    from aucstudio.project.data.disk.stream import open_stream

    reader = functools.partial(open_stream, **given)
    return reader, f"{remark}: it stays on disk and is read in blocks" if remark else ""


def _cell_bytes(path: Path) -> float:
    """Estimate the memory of the cells of a table from the start of the file."""
    from aucstudio.project.data.readers.registry import PARQUET, recognise

    try:
        found, _ = recognise(path)
    except InputError:
        return 0.0  # the reader reports it
    if found is PARQUET:
        from aucstudio.project.data.parquet import count_cells

        return 8.0 * count_cells(path)
    # A cell of text is about as long as a double.
    return found.swelling * os.path.getsize(path)


def check_stream(experiment: Experiment) -> None:
    """Raise InputError if an experiment cannot be done with an out-of-memory table."""
    instead = "search on a sample of its rows and use the settings found"
    if experiment.weight is not None:
        what, setting = "rows cannot be weighted", "weight"
        instead = "give the column of weights another role, or train on a sample of the rows"
    elif experiment.validation.scheme == LEAVE_PAIR_OUT:
        what, setting = "leave-pair-out is impossible", "validation"
    elif experiment.tuning is not None:
        what, setting = "settings cannot be searched", "tune"
    else:
        return
    raise InputError(f"{what} on an out-of-memory table: {instead}", setting=setting)


_PATIENCE = 1800.0  # seconds of a run that may be recommended
_FEW_ROWS = 3000  # their kernel matrix is small
_FEWEST_FOR_KERNELS = 150
_FEWEST_FOR_TREES = 500
_FEWEST_IN_RANGE = 5  # negatives of the training part


@dataclasses.dataclass(frozen=True)
class Outlook:
    """The estimated cost of a run of one method.

    Attributes
    ----------
    fits : int
        Number of fits of the run.
    cost : Cost or None
        Of one fit; None if the table is too large for the method.
    problem : str
        Why the run is impossible; empty if it is possible.
    """

    fits: int
    cost: Cost | None = None
    problem: str = ""

    @property
    def seconds(self) -> float | None:
        """Time of the run, if it can be estimated."""
        if self.cost is None or self.cost.seconds is None:
            return None
        return self.fits * self.cost.seconds

    @property
    def words(self) -> str:
        """The time as a short text."""
        if self.problem:
            return "too large" if self.cost is None else "too large here"
        return "–" if self.seconds is None else f"about {rough_words(self.seconds)}"

    @property
    def details(self) -> str:
        """The cost, or why the run is impossible, as a sentence."""
        if self.problem or self.cost is None:
            return self.problem
        several = f"{self.fits} fits: " if self.fits > 1 else ""
        return several + self.cost.words


Settings = Callable[[str], Mapping[str, Any]]
Sizes = tuple[int, int, int]


def outlooks(table: Table, validation: Validation, settings: Settings) -> dict[str, Outlook]:
    """Estimate a run of every method on a table that has two classes.

    Parameters
    ----------
    table : Table
    validation : Validation
    settings : callable
        Returns the settings of a method, given its id.
    """
    assert table.positive is not None
    size, memory = training_size(validation, table, table.positive), machine_memory()
    found = {key: _outlook(key, settings(key), validation, size, memory, table) for key in METHODS}
    if table.weight is None:
        return found
    unable = f"Takes no row weights, and column {table.weight} weighs the rows."
    return {
        key: one
        if METHODS[key].takes_weights
        else dataclasses.replace(one, problem=one.problem or unable)
        for key, one in found.items()
    }


def _outlook(
    key: str,
    settings: Mapping[str, Any],
    validation: Validation,
    size: Sizes,
    memory: float,
    table: Table,
) -> Outlook:
    method, fits = METHODS[key], validation.splits
    fit = method(**settings)
    try:
        fit.check_size(*size)
    except InvalidSetting as refusal:
        return Outlook(fits, problem=f"Too large for this method: {refusal}")
    sparse = validation.scheme != LEAVE_PAIR_OUT and fits_sparse(key, settings, None, USUAL, table)
    cost = cost_of_fit(fit, size, table, sparse=sparse)
    if cost.bytes > largest_memory(memory):
        return Outlook(
            fits,
            problem=f"Too large for this computer: one fit would take about "
            f"{bytes_words(cost.bytes)} of memory, and there are {bytes_words(memory)}. "
            f"Instead: {cost.advice}.",
        )
    if validation.scheme == LEAVE_PAIR_OUT and not method.leaves_pairs_out:
        return Outlook(
            fits,
            cost,
            "Leave-pair-out would train this method once for every pair; choose another scheme.",
        )
    return Outlook(fits, cost)


def start_here(
    table: Table, validation: Validation, band: Band, found: Mapping[str, Outlook]
) -> dict[str, str]:
    """Suggest methods for a table, with the reasons.

    Parameters
    ----------
    table : Table
        With two classes.
    validation : Validation
    band : (float, float)
        The FPR range of interest.
    found : mapping of method id to Outlook
        The result of :func:`outlooks`.
    """
    assert table.positive is not None
    size = training_size(validation, table, table.positive)
    reasons: dict[str, str] = {}
    for key, reason in _suggestions(table, size, band):
        seconds = found[key].seconds
        if not found[key].problem and (seconds is None or seconds <= _PATIENCE):
            reasons.setdefault(key, reason)
    return reasons


def _suggestions(table: Table, size: Sizes, band: Band) -> Iterator[tuple[str, str]]:
    positives, negatives, _features = size
    rows, counted = positives + negatives, f"{positives + negatives:,} training rows"
    if rows <= _FEW_ROWS:
        yield "auc-rls", f"{counted}: closed-form solution; tuning adds almost no time."
    else:
        yield "rank-svm", f"{counted}, {positives * negatives:,} pairs: few iterations even so."
    low, high = band
    if band != (0.0, 1.0):
        inside = round((high - low) * negatives)
        if inside >= _FEWEST_IN_RANGE:
            yield (
                "svm-pauc",
                f"Trains for the range of interest, FPR {low:g} … {high:g}: "
                f"{inside:,} training negatives lie in it.",
            )
    if _FEWEST_FOR_KERNELS <= rows <= _FEW_ROWS:
        yield "kernel-rank-svm", "Non-linear boundaries: shows whether a linear one is enough."
    elif rows > _FEW_ROWS:
        yield (
            "nbauc",
            f"Non-linear boundaries with {counted}: shows whether a linear one is enough.",
        )
    missing = sum(column.missing for column in table.features)
    if missing and rows >= _FEWEST_FOR_KERNELS:
        yield "gradient-boosting", f"{missing:,} missing values: used directly, not filled in."
    elif rows >= _FEWEST_FOR_TREES:
        yield "gradient-boosting", "A strong baseline on tables."
    else:
        yield "logistic", f"Only {counted}: a simple baseline that needs few."
