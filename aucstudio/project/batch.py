"""The runs of an experiment file: in turn, or at once through an executor."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed

from threadpoolctl import threadpool_limits

from aucstudio.project.execute import execute
from aucstudio.project.experiment import Experiment
from aucstudio.project.experiment_file import Study
from aucstudio.project.headless import Bar, Plan, open_or_create, read_test_table, run
from aucstudio.project.record import STOPPED, RunRecord
from aucstudio.project.table import Table

Done = Callable[[int, RunRecord], None]


def run_study(
    study: Study, project: str | None, jobs: int, bar: Bar | None = None
) -> list[RunRecord]:
    """Run an experiment file, one run after the other or several at once.

    Parameters
    ----------
    project : str, optional
        Project file to add the runs to, each as it ends.
    jobs : int
        Processes; 1 runs here, where an interrupt keeps the splits that are finished.
    """
    test_table = read_test_table(study.experiments[0])
    if jobs == 1:
        return _run_in_turn(study, test_table, project, bar)
    file = None if project is None else open_or_create(project)
    count = len(study.experiments)
    records: dict[int, RunRecord] = {}

    def done(k: int, record: RunRecord) -> None:
        records[k] = record if file is None else file.add_run(record)
        if bar is not None:
            bar(len(records) / count, f"{len(records)} of {count} runs")

    with process_pool(jobs) as executor, contextlib.suppress(KeyboardInterrupt):
        run_all(study.experiments, study.table, test_table, executor, done)
    return [records[k] for k in sorted(records)]


def _run_in_turn(
    study: Study, test_table: Table | None, project: str | None, bar: Bar | None
) -> list[RunRecord]:
    records: list[RunRecord] = []
    for k, experiment in enumerate(study.experiments):
        shifted = None if bar is None else shifted_bar(bar, k, len(study.experiments), experiment)
        records.append(run(Plan(experiment, study.table, test_table), project, shifted))
        if records[-1].status == STOPPED:
            break
    return records


def shifted_bar(bar: Bar, k: int, count: int, experiment: Experiment) -> Bar:
    """Make the bar of one run out of several."""

    def show(fraction: float | None, words: str) -> None:
        whole = (k + (fraction or 0.0)) / count
        bar(whole, f"{experiment.method} {words}")

    return show


def process_pool(jobs: int) -> Executor:
    """Make an executor of so many processes, each with libraries on a single thread."""
    # Fresh processes: a fork of one that holds threads may hang.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context)


def run_all(
    experiments: Sequence[Experiment],
    table: Table,
    test_table: Table | None,
    executor: Executor,
    done: Done,
) -> None:
    """Execute experiments on an executor; ``done`` hears of each as it ends, in any order.

    Raises
    ------
    KeyboardInterrupt
        As it comes; what is done has been told, what is not begun is cancelled.
    """
    futures: dict[Future[RunRecord], int] = {
        executor.submit(_alone, experiment, table, test_table): k
        for k, experiment in enumerate(experiments)
    }
    try:
        for future in as_completed(futures):
            done(futures[future], future.result())
    except BaseException:
        for future in futures:
            future.cancel()
        raise


def _alone(experiment: Experiment, table: Table, test_table: Table | None) -> RunRecord:
    with threadpool_limits(1):
        return execute(experiment, table, test_table)
