"""The runs of an experiment file: in turn, or at once through an executor or a cluster."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed

from threadpoolctl import threadpool_limits

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.runs.estimate import check_size_at_once
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.experiment_file import Study
from aucstudio.project.runs.planning import Plan
from aucstudio.project.runs.progress_words import elsewhere_words
from aucstudio.project.runs.record import STOPPED, RunRecord
from aucstudio.project.runs.rows import in_memory
from aucstudio.project.runs.watch import Elsewhere
from aucstudio.project.store.project_file import open_or_create
from aucstudio.project.work.cluster import connect
from aucstudio.project.work.gather import Gathered
from aucstudio.project.work.in_turn import Bar, run
from aucstudio.project.work.parallel import Told, run_tasks
from aucstudio.project.work.workers import WorkersLostError

Done = Callable[[int, RunRecord], None]


def run_study(
    study: Study,
    project: str | None,
    jobs: int,
    bar: Bar | None = None,
    cluster: str | None = None,
) -> list[RunRecord]:
    """Run an experiment file, one run after the other or several at once.

    Parameters
    ----------
    project : str, optional
        Project file to add the runs to, each as it ends.
    jobs : int
        Processes; 1 runs here, where an interrupt keeps the splits that are finished. More are
        refused where so many fits do not fit in memory together.
    cluster : str, optional
        Address of a Dask scheduler, whose workers take the splits in place of processes here.
    """
    test_table = study.test_table
    if cluster is not None:
        return run_on_cluster(study, test_table, cluster, project, bar)
    if jobs == 1:
        return _run_in_turn(study, test_table, project, bar)
    check_size_at_once(study.experiments, in_memory(study.table), jobs)
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
    study: Study, test_table: AnyTable | None, project: str | None, bar: Bar | None
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
    table: AnyTable,
    test_table: AnyTable | None,
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


def _alone(experiment: Experiment, table: AnyTable, test_table: AnyTable | None) -> RunRecord:
    with threadpool_limits(1):
        return execute(experiment, table, test_table)


def run_on_cluster(
    study: Study,
    test_table: AnyTable | None,
    address: str,
    project: str | None = None,
    bar: Bar | None = None,
) -> list[RunRecord]:
    """Run experiments on the workers of a Dask scheduler, by their splits and search tasks.

    An interrupt or a lost scheduler keeps the splits that are finished; the first run that a
    lost scheduler left unfinished has failed, and its error says so.

    Raises
    ------
    InputError
        If the cluster cannot be used; see :func:`aucstudio.project.work.cluster.connect`.
    """
    with connect(address) as workers:
        file = None if project is None else open_or_create(project)
        gathered = Gathered(study.experiments, None if file is None else file.add_run)
        count = sum(experiment.validation.splits for experiment in study.experiments)

        def hear(told: Told) -> None:
            gathered.add(told)
            if bar is not None:
                place = Elsewhere(told.fraction, gathered.splits, workers.where)
                bar(told.fraction, elsewhere_words(place, count, told.search))

        try:
            run_tasks(workers, study.experiments, study.table, test_table, hear)
        except KeyboardInterrupt:
            gathered.keep_rest()
        except WorkersLostError as lost:
            gathered.keep_rest(str(lost))
    return [gathered.records[number] for number in sorted(gathered.records)]
