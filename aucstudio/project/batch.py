"""The runs of an experiment file: in turn, or at once through an executor or a cluster."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed

from threadpoolctl import threadpool_limits

from aucstudio.project.cluster import ClusterLostError, connect, run_splits
from aucstudio.project.execute import execute
from aucstudio.project.experiment import Experiment
from aucstudio.project.experiment_file import Study
from aucstudio.project.headless import Bar, Plan, open_or_create, read_test_table, run
from aucstudio.project.record import DONE, FAILED, STOPPED, RunRecord
from aucstudio.project.storage import ProjectFile
from aucstudio.project.table import Table

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
        Processes; 1 runs here, where an interrupt keeps the splits that are finished.
    cluster : str, optional
        Address of a Dask scheduler, whose workers take the splits in place of processes here.
    """
    test_table = read_test_table(study.experiments[0])
    if cluster is not None:
        return run_on_cluster(study, test_table, cluster, project, bar)
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


def run_on_cluster(
    study: Study,
    test_table: Table | None,
    address: str,
    project: str | None = None,
    bar: Bar | None = None,
) -> list[RunRecord]:
    """Run experiments on the workers of a Dask scheduler, split by split.

    An interrupt or a lost scheduler keeps the splits that are finished; the first run that a
    lost scheduler left unfinished has failed, and its error says so.

    Raises
    ------
    InputError
        If the cluster cannot be used; see :func:`aucstudio.project.cluster.connect`.
    """
    with connect(address) as client:
        gathered = _Gathered(study, None if project is None else open_or_create(project), bar)
        try:
            run_splits(study.experiments, study.table, test_table, client, gathered.add)
        except KeyboardInterrupt:
            gathered.keep_rest()
        except ClusterLostError as lost:
            gathered.keep_rest(str(lost))
    return [gathered.records[number] for number in sorted(gathered.records)]


class _Gathered:
    """Records of splits as they come in, joined to records of runs as these are whole."""

    def __init__(self, study: Study, file: ProjectFile | None, bar: Bar | None) -> None:
        self.experiments, self.file, self.bar = study.experiments, file, bar
        self.parts: list[dict[int, RunRecord]] = [{} for _ in study.experiments]
        self.records: dict[int, RunRecord] = {}

    def add(self, number: int, k: int, part: RunRecord) -> None:
        self.parts[number][k] = part
        if len(self.parts[number]) == self.experiments[number].validation.splits:
            self._keep(number, _join(self.experiments[number], self.parts[number]))
        if self.bar is not None:
            came = sum(map(len, self.parts))
            count = sum(experiment.validation.splits for experiment in self.experiments)
            self.bar(came / count, f"{came} of {count} splits")

    def keep_rest(self, error: str = "") -> None:
        """Keep what there is of runs that will not be whole; the first of them bears the error."""
        for number, experiment in enumerate(self.experiments):
            if number in self.records or not (self.parts[number] or error):
                continue
            record = _join(experiment, self.parts[number])
            if error:
                record = dataclasses.replace(record, status=FAILED, error=error)
                error = ""
            self._keep(number, record)

    def _keep(self, number: int, record: RunRecord) -> None:
        self.records[number] = record if self.file is None else self.file.add_run(record)


def _join(experiment: Experiment, parts: Mapping[int, RunRecord]) -> RunRecord:
    """Make the record of a run from those of its splits.

    Parameters
    ----------
    parts : mapping of int to RunRecord
        By number of the split; where some are missing and none failed, the run was stopped.

    Returns
    -------
    RunRecord
        Its seconds are those of its splits added up: what one worker would have taken.
    """
    ordered = [parts[k] for k in sorted(parts)]
    failed = next((part for part in ordered if part.status == FAILED), None)
    whole = DONE if len(ordered) == experiment.validation.splits else STOPPED
    return RunRecord.made(
        experiment,
        whole if failed is None else FAILED,
        [split for part in ordered for split in part.splits],
        min((part.created for part in ordered), default=RunRecord.now()),
        sum(part.seconds for part in ordered),
        "" if failed is None else failed.error,
        "" if failed is None else failed.traceback,
        [search for part in ordered for search in part.searches],
    )
