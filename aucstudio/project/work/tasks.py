"""What workers are asked to do for a split: candidates of its search, parts of its fit, the fit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from aucstudio.engine.monitor import Check
from aucstudio.project.data.table import Table
from aucstudio.project.runs.execute import execute_split, failure, training_rows
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.search import Judge, Task
from aucstudio.project.runs.tuning import Search
from aucstudio.project.work.workers import alone

Tables = tuple[Table, Table | None]
Judged = tuple[list[tuple[int, float | str]], float]


def judge_of(experiment: Experiment, table: Table, k: int) -> Judge:
    """Make what judges candidates of the search of a split."""
    if experiment.tuning is None:
        raise ValueError("nothing is to be tuned")
    seen = experiment.data.seen(table)
    rows = training_rows(experiment, seen, k)
    params, tuning = experiment.params, experiment.tuning
    how = experiment.preparation, experiment.validation
    return Judge(experiment.method, params, tuning, seen, rows, experiment.band, *how)


def judge(experiment: Experiment, tables: Tables, k: int, task: Task) -> Judged | RunRecord:
    """Judge candidates of a search, and say how long it took."""
    alone()
    began = time.perf_counter()
    try:
        found = list(judge_of(experiment, tables[0], k).outcomes(task))
    except Exception as error:  # noqa: BLE001  (a search that fails fails the run, as it does here)
        return failure(experiment, error)
    return found, time.perf_counter() - began


def list_parts(
    experiment: Experiment, tables: Tables, k: int, searched: Search | None
) -> list[Any] | RunRecord:
    """List the parts of a fit, or give the record of one that fails before it comes to them."""
    return _parts(experiment, tables, k, searched, ())[0]


def make_part(
    experiment: Experiment, tables: Tables, k: int, searched: Search | None, part: Any
) -> Any:
    """Do one part of a fit; a fit is given what came of them as ``kept``."""
    parts, made = _parts(experiment, tables, k, searched, (part,))
    return parts if isinstance(parts, RunRecord) else made[part]


def fit(
    experiment: Experiment,
    tables: Tables,
    k: int,
    searched: Search | None,
    kept: Mapping[Any, Any] | None,
) -> RunRecord:
    """Fit a split to its record."""
    alone()
    return execute_split(experiment, *tables, k, searched, kept=kept)


def _parts(
    experiment: Experiment, tables: Tables, k: int, searched: Search | None, wanted: Sequence[Any]
) -> tuple[list[Any] | RunRecord, dict[Any, Any]]:
    alone()
    listed: list[Any] | None = None
    made: dict[Any, Any] = {}

    def spread(
        work: Callable[[Any, Check], Any], parts: Sequence[Any], _check: Check
    ) -> Iterator[Any]:
        # None is handed to the fit, which ends here: it has nothing to go on with.
        nonlocal listed
        listed = list(parts)
        made.update((part, work(part, lambda: False)) for part in wanted)
        return iter(())

    record = execute_split(experiment, *tables, k, searched, spread=spread)
    return (record if listed is None else listed), made
