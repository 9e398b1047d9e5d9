"""What runs will take of memory, told before they start."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from aucstudio.engine import METHODS, memory
from aucstudio.engine.cost import Cost
from aucstudio.engine.memory import largest_memory
from aucstudio.engine.params import InvalidSetting
from aucstudio.project.data.date_parts import count_taken
from aucstudio.project.data.preparing.levels import MAX_LEVELS
from aucstudio.project.data.preparing.preparation_choice import FREQUENCY, USUAL, PreparationChoice
from aucstudio.project.data.sparse_columns import is_sparse
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.sparse_fits import (
    cost_of_fit,
    must_be_written_out,
    stays_sparse,
    table_bytes,
)
from aucstudio.project.runs.tuning import Candidate, candidates, settings_words
from aucstudio.project.words import bytes_words

# Of control groups, version 2 and 1, as a container sees its own.
_LIMIT_FILES = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def check_size(experiment: Experiment, table: Table) -> None:
    """Refuse, before it starts, a run whose training part would not fit in memory.

    Raises
    ------
    InvalidSetting, InputError
        With what it would take and what to use instead.
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
    """Refuse runs that would not fit in memory beside each other, each with its own table.

    Parameters
    ----------
    experiments : sequence of Experiment
    table : Table
    processes : int
        How many runs go on at once.

    Raises
    ------
    InputError
        With what it would take.
    """
    fits = [largest_fit(one, one.data.seen(table))[0].bytes for one in experiments]
    together = sorted(fits, reverse=True)[:processes]
    taken = sum(together) + len(together) * table_bytes(table)
    whole = machine_memory()
    if taken > largest_memory(whole):
        raise InputError(
            f"{len(together)} runs at once would take about {bytes_words(taken)} of memory, and "
            f"this machine has {bytes_words(whole)}: run fewer at once",
            setting="jobs",
        )


def largest_fit(experiment: Experiment, table: Table) -> tuple[Cost, Candidate]:
    """Estimate the largest fit of a run.

    Returns
    -------
    cost : Cost
    candidate : mapping
        The candidate of the search that it belongs to; empty without a search.

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
    """Give positives, negatives and features of what one fit trains on."""
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
    """Give the bytes of memory that the machine has, or as many of them as a container may use.

    All of it, not what is free: much of what is taken at a moment is a cache that gives way.
    """
    return float(min([memory.machine_memory(), *_container_limits()]))


def _container_limits() -> Iterator[int]:
    for path in _LIMIT_FILES:
        with contextlib.suppress(OSError, ValueError):  # none, or "max"
            yield int(path.read_text(encoding="ascii"))
