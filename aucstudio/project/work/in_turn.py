"""A run without a window, on a thread that an interrupt can leave."""

from __future__ import annotations

from collections.abc import Callable

from aucstudio.project.errors import InputError
from aucstudio.project.runs.planning import Plan
from aucstudio.project.runs.progress_words import progress_words
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.store.project_file import open_or_create
from aucstudio.project.work.job import RunJob, run_job

Bar = Callable[[float | None, str], None]

_POLL_SECONDS = 0.05


def run(plan: Plan, project: str | None = None, bar: Bar | None = None) -> RunRecord:
    """Run a plan to its record, on a thread that an interrupt can leave.

    Parameters
    ----------
    project : str, optional
        Project file to add the run to; made if it is not there.
    bar : callable, optional
        Told the fraction done and a few words.
    """
    file = None if project is None else open_or_create(project)
    job = run_job(plan.experiment, plan.table, plan.test_table, file)
    job.start()
    while not job.ended:
        try:
            job.wait(_POLL_SECONDS)
            _show(job, bar)
        except KeyboardInterrupt:
            job.stop()
    _show(job, bar)
    if job.error is not None:
        raise job.error
    if job.result is None:
        raise RuntimeError("the job ended without a record")
    if job.result.unsaved:
        raise InputError(job.result.unsaved, file=project)
    return job.result.record


def _show(job: RunJob, bar: Bar | None) -> None:
    messages = job.drain()
    if bar is not None and messages:
        bar(*progress_words(messages[-1]))
    if bar is not None and job.ended:
        bar(1.0, "")
