"""The one object with state: table, project, plan, runs, and the job in flight.

Views read it, call its verbs and listen to its signals; no view talks to another view.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QEventLoop, QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from aucstudio.engine import METHODS
from aucstudio.engine.monitor import Stopped
from aucstudio.gui.plan import Plan, RunLook
from aucstudio.gui.widgets import delayed, ticking
from aucstudio.project.errors import InputError
from aucstudio.project.execute import Look, Progress
from aucstudio.project.experiment import DataReference, Experiment, plan_experiment
from aucstudio.project.headless import progress_words, read_test_table
from aucstudio.project.job import Job, Outcome, RunJob, describe_failure, run_job
from aucstudio.project.prepare import Preparation
from aucstudio.project.record import FAILED, RunRecord
from aucstudio.project.split import Validation
from aucstudio.project.storage import ProjectFile
from aucstudio.project.table import Table, read_table
from aucstudio.project.workspace import new_unsaved_project, remember_recent

POLL_MILLISECONDS = 33


@dataclasses.dataclass(eq=False)
class LiveRun:
    """The run in flight, as far as the window knows it.

    Attributes
    ----------
    experiment : Experiment
    look : RunLook
        Name and colour it will keep.
    split, splits : int
    fraction : float or None
        Of the whole run.
    words : str
        What it is doing.
    points : list of (iteration, seconds, objective, gap)
        Of the fit under way.
    picture : Look or None
        The latest look at the scorer.
    preparation : Preparation or None
        Of the fit under way.
    stopping : bool
    """

    experiment: Experiment
    look: RunLook
    split: int = 0
    splits: int = 1
    fraction: float | None = None
    words: str = "starting"
    points: list[tuple[int, float, float, float]] = dataclasses.field(default_factory=list)
    picture: Look | None = None
    preparation: Preparation | None = None
    stopping: bool = False
    began: float = dataclasses.field(default_factory=time.monotonic)

    def hear(self, progress: Progress) -> None:
        """Take in one message of the job."""
        if progress.split != self.split:
            self.split, self.points, self.picture = progress.split, [], None
        self.splits, self.preparation = progress.splits, progress.preparation
        self.fraction, self.words = progress_words(progress)
        step = progress.step
        if step is not None and step.iteration > 0 and step.objective is not None:
            gap = np.nan if step.gap is None else step.gap
            self.points.append((step.iteration, progress.seconds, step.objective, gap))
        if progress.look is not None:
            self.picture = progress.look

    def seconds_left(self) -> float | None:
        """Estimate the time to go, once a share of the run is done."""
        if self.fraction is None or self.fraction < 0.02:
            return None
        return (time.monotonic() - self.began) * (1.0 / self.fraction - 1.0)


@dataclasses.dataclass(frozen=True, eq=False)
class ShownRun:
    """A finished run with how it is shown."""

    record: RunRecord
    look: RunLook


class Session(QObject):
    """State of one window.

    Signals
    -------
    table_changed
        Another table, or other roles.
    plan_changed
        Method, settings, validation.
    runs_changed
        A run came, or is shown differently.
    selection_changed
        Another run is chosen.
    band_changed
        The FPR range moved.
    live_changed
        The run in flight moved, began or ended.
    told : str
        A sentence for the status bar.
    failed : str, str
        A sentence and a traceback for a dialog.
    """

    table_changed = Signal()
    plan_changed = Signal()
    runs_changed = Signal()
    selection_changed = Signal()
    band_changed = Signal()
    live_changed = Signal()
    told = Signal(str)
    failed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.table: Table | None = None
        self.project: ProjectFile | None = None
        self.is_saved = False
        self.plan = Plan()
        self.records: dict[str, RunRecord] = {}
        self.unsaved: dict[str, str] = {}
        self.selected: str | None = None
        self.compared: str | None = None
        self.live: LiveRun | None = None
        self.queue: deque[tuple[Experiment, RunLook]] = deque()
        self.undo_stack = QUndoStack(self)
        self._job: RunJob | None = None
        self._loading: Job[tuple[float, str], Any] | None = None
        self._keeper = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aucstudio-keeper")
        self._poll = ticking(self, POLL_MILLISECONDS, self._on_poll)
        self._flush = delayed(self, 400, self._write_plan)

    # ------------------------------------------------------------- reading

    def shown_runs(self) -> list[ShownRun]:
        """List the runs of the list, oldest first."""
        return [
            ShownRun(self.records[run], look)
            for run, look in self.plan.looks.items()
            if run in self.records and not look.removed
        ]

    def checked_runs(self) -> list[ShownRun]:
        """List the runs that the views draw: checked, with at least one finished split."""
        return [run for run in self.shown_runs() if run.look.visible and run.record.splits]

    def run(self, run: str | None) -> ShownRun | None:
        """Give one run of the list by its id."""
        return next((shown for shown in self.shown_runs() if shown.record.id == run), None)

    @property
    def busy(self) -> bool:
        """Whether something can be stopped."""
        return self._job is not None or self._loading is not None

    @property
    def status(self) -> str:
        """Say whether everything is on disk."""
        if self.unsaved:
            return f"{len(self.unsaved)} run(s) not saved: {next(iter(self.unsaved.values()))}"
        if self.project is None:
            return ""
        if not self.is_saved:
            return (
                "Unsaved study: every finished run is kept and can be reopened from the start page"
            )
        return f"All runs saved in {self.project.path.name}"

    # ------------------------------------------------------------- editing

    def edit(self, plan: Plan, text: str, key: str = "") -> None:
        """Change the plan, undoably; edits in a row with the same key become one."""
        if plan != self.plan:
            self.undo_stack.push(_Edit(self, self.plan, plan, text, key))

    def put_plan(self, plan: Plan) -> None:
        """Show another plan and tell whoever looks at what changed."""
        old, self.plan = self.plan, plan
        if old.looks != plan.looks:
            self._mend_selection()
            self.runs_changed.emit()
        if old.band != plan.band:
            self.band_changed.emit()
        if (old.validation, old.method, old.params) != (plan.validation, plan.method, plan.params):
            self.plan_changed.emit()
        self._flush.start()

    def set_band(self, alpha: float, beta: float) -> None:
        """Move the FPR range."""
        self.edit(dataclasses.replace(self.plan, band=(alpha, beta)), "Move FPR range", "band")

    def set_look(self, run: str, text: str, **changes: Any) -> None:
        """Show a run differently."""
        self.edit(self.plan.with_look(run, **changes), text)

    def select(self, run: str | None) -> None:
        """Choose the run that the views are about."""
        if run != self.selected:
            self.selected = run
            self.selection_changed.emit()

    def compare_with(self, run: str | None) -> None:
        """Choose the second run, for comparison."""
        if run != self.compared:
            self.compared = run
            self.selection_changed.emit()

    def reuse_settings(self, run: str) -> None:
        """Put a run's settings back into the form."""
        experiment = self.records[run].experiment
        params = {**self.plan.params, experiment.method: dict(experiment.params)}
        plan = dataclasses.replace(
            self.plan, validation=experiment.validation, method=experiment.method, params=params
        )
        self.edit(plan, "Use settings of a run")

    def _mend_selection(self) -> None:
        listed = [shown.record.id for shown in self.shown_runs()]
        if self.selected not in listed:
            self.selected = listed[-1] if listed else None
            self.selection_changed.emit()
        if self.compared not in listed:
            self.compared = None

    # ------------------------------------------------------------- data

    def open_data(self, path: str | Path) -> Table:
        """Import a table and make it the data of a new study.

        Returns when the table is there; the window goes on answering meanwhile.

        Raises
        ------
        InputError
            If it cannot be read; everything stays as it was.
        """
        table: Table = self._load(lambda report: read_table(path, progress=report))
        self._start_study(table)
        remember_recent(table.path)
        return table

    def set_roles(self, **changes: Any) -> None:
        """Change label, positive class or column roles of the table; see Table.with_roles."""
        if self.table is not None:
            self.table = self.table.with_roles(**changes)
            self.table_changed.emit()
            self._flush.start()

    def _load(self, work: Callable[[Callable[[float, str], bool]], Any]) -> Any:
        """Run ``work`` on a thread while the event loop goes on; give or raise its outcome."""
        if self._loading is not None:
            raise InputError("another file is being read: wait for it, or press Stop")
        job: Job[tuple[float, str], Any] = Job(
            lambda post: work(lambda fraction, words: post((fraction, words)))
        )
        self._loading = job
        self.live_changed.emit()
        loop = QEventLoop()
        timer = ticking(loop, 10, lambda: loop.quit() if job.ended else None)
        job.start()
        timer.start()
        loop.exec()
        timer.stop()
        self._loading = None
        self.live_changed.emit()
        if job.error is not None:
            raise job.error
        return job.result

    def _start_study(self, table: Table) -> None:
        self._forget_runs()
        self.table = table
        self.project, self.is_saved = None, False
        self.table_changed.emit()

    def _forget_runs(self) -> None:
        self.stop()
        self._flush_now()
        self.records, self.unsaved = {}, {}
        self.undo_stack.clear()
        self.selected = self.compared = None
        self.put_plan(dataclasses.replace(self.plan, looks={}))
        self.runs_changed.emit()
        self.selection_changed.emit()

    # ------------------------------------------------------------- projects

    def open_project(self, path: str | Path) -> list[str]:
        """Open a project file.

        Returns
        -------
        warnings : list of str
            What to tell: a table that is gone, a run that was lost in flight.

        Raises
        ------
        InputError
            If it is no project, or of a newer format; everything stays as it was.
        """
        file, document, records, lost, table, trouble = self._load(
            lambda _report: _read_project(Path(path))
        )
        self._forget_runs()
        self.project, self.is_saved = file, not _is_unsaved(file.path)
        self.table = table
        self.records = {record.id: record for record in records}
        if "window" in document:
            plan = Plan.from_json(document["window"])
        else:
            plan = _first_plan(self.plan, records)
        self.put_plan(_with_all_looks(plan, records))
        self.selected = records[-1].id if records else None
        self.undo_stack.clear()
        self.table_changed.emit()
        self.runs_changed.emit()
        self.selection_changed.emit()
        remember_recent(file.path)
        return [*trouble, *(_lost_sentence(experiment) for experiment in lost)]

    def save_as(self, path: str | Path) -> None:
        """Save the project under a name and go on in that file.

        Raises
        ------
        InputError
            If it cannot be written; everything stays as it was.
        """
        if self.project is None:
            self.project = new_unsaved_project(self.table.path if self.table else None)
        self._flush_now()
        old = self.project
        saved = old.copy_to(path)
        for run in list(self.unsaved):
            record = saved.add_run(self.records[run])
            del self.unsaved[run]
            self.records[run] = dataclasses.replace(record, id=run)
        self.project = saved
        if not self.is_saved and _is_unsaved(old.path):
            with contextlib.suppress(OSError):
                old.path.unlink()
        self.is_saved = True
        self._write_plan()
        remember_recent(saved.path)
        self.told.emit(self.status)
        self.runs_changed.emit()

    def save_plan(self) -> None:
        """Put the plan down now; runs are on disk already."""
        self._flush_now()

    def _plan_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"window": self.plan.as_json()}
        if self.table is not None:
            with contextlib.suppress(InputError):
                data = DataReference.to_table(self.table)
                document["data"] = dataclasses.asdict(data) | {"roles": dict(data.roles)}
        return document

    def _write_plan(self) -> None:
        """Write the plan without holding up the window."""
        if self.project is not None:
            self._keeper.submit(self._put_down, self.project, self._plan_document())

    @staticmethod
    def _put_down(project: ProjectFile, document: dict[str, Any]) -> None:
        # A plan that cannot be written now is written again with the next change.
        with contextlib.suppress(InputError):
            project.set_plan(document)

    def _flush_now(self) -> None:
        self._flush.stop()
        self._write_plan()
        self._keeper.submit(lambda: None).result()

    # ------------------------------------------------------------- running

    def run_planned(self) -> None:
        """Start, or queue, a run of what the form says.

        Raises
        ------
        InputError, InvalidSetting
            If it cannot be run; nothing is started.
        """
        if self.table is None:
            raise InputError("open a table first", setting="data")
        data = DataReference.to_table(self.table)
        method = self.plan.method
        experiment = plan_experiment(
            data, method, self.plan.params.get(method, {}), self.plan.validation, self.plan.band
        )
        waiting = [look for _, look in self.queue] + ([self.live.look] if self.live else [])
        plan = self.plan
        for k, look in enumerate(waiting):
            plan = dataclasses.replace(plan, looks={**plan.looks, f"waiting {k}": look})
        look = RunLook(plan.free_name(METHODS[method].title), plan.free_colour())
        self.queue.append((experiment, look))
        self._start_next()

    def run_study(self, validation: Validation) -> None:
        """Queue a run of every method at its defaults, on the same rows."""
        chosen = self.plan.method
        for method in METHODS:
            params = {**self.plan.params, method: {}}
            self.put_plan(
                dataclasses.replace(self.plan, validation=validation, method=method, params=params)
            )
            self.run_planned()
        self.put_plan(dataclasses.replace(self.plan, method=chosen))

    def _start_next(self) -> None:
        if self._job is not None or not self.queue:
            self.live_changed.emit()
            return
        experiment, look = self.queue.popleft()
        try:
            test_table = self._get_ready(experiment)
        except (InputError, Stopped) as error:
            self.failed.emit(str(error), "")
            self._start_next()
            return
        assert self.table is not None
        self._job = run_job(experiment, self.table, test_table, self.project)
        self.live = LiveRun(experiment, look)
        self._job.start()
        self._poll.start()
        self.live_changed.emit()

    def _get_ready(self, experiment: Experiment) -> Table | None:
        """Make the project file and read the test table, where there is need; off this thread."""
        if self.project is not None and experiment.validation.scheme != "file":
            return None
        data = self.table.path if self.table else None

        def work(_report: object) -> tuple[ProjectFile, Table | None]:
            return self.project or new_unsaved_project(data), read_test_table(experiment)

        made: tuple[ProjectFile, Table | None] = self._load(work)
        if self.project is None:
            self.project = made[0]
            self._write_plan()
        return made[1]

    def stop(self) -> None:
        """Stop what runs and what waits; what is finished is kept."""
        self.queue.clear()
        if self._loading is not None:
            self._loading.stop()
        if self._job is not None:
            self._job.stop()
            if self.live is not None:
                self.live.stopping = True
        self.live_changed.emit()

    def close(self) -> None:
        """Stop and put everything down; takes about a second at most."""
        self.stop()
        if self._job is not None:
            self._job.wait(1.5)
            self._on_poll()
        self._flush_now()
        self._keeper.shutdown(wait=True)

    def _on_poll(self) -> None:
        job, live = self._job, self.live
        if job is None or live is None:
            self._poll.stop()
            return
        ended = job.ended
        messages = job.drain()
        for message in messages:
            live.hear(message)
        if ended:
            self._land(job, live)
        elif messages:
            self.live_changed.emit()

    def _land(self, job: RunJob, live: LiveRun) -> None:
        self._job, self.live = None, None
        self._poll.stop()
        if job.error is not None:
            self.failed.emit(*describe_failure(job.error))
        elif job.result is not None:
            self._take_in(job.result, live)
        self._start_next()

    def _take_in(self, outcome: Outcome, live: LiveRun) -> None:
        record = outcome.record
        if outcome.unsaved:
            self.unsaved[record.id] = outcome.unsaved
            self.failed.emit(outcome.unsaved, "")
        if live.experiment.data.sha256 != getattr(self.table, "sha256", None):
            # The table was replaced meanwhile: the run is in its own project, not in this one.
            return
        self.records[record.id] = record
        # Not an edit: undo must never take a finished run away.
        look = dataclasses.replace(live.look, visible=record.status != FAILED)
        self.put_plan(dataclasses.replace(self.plan, looks={**self.plan.looks, record.id: look}))
        self.select(record.id)
        self.told.emit(self.status)


class _Edit(QUndoCommand):
    """A swap of plans; runs that came after the edit keep their look when it is undone."""

    def __init__(self, session: Session, old: Plan, new: Plan, text: str, key: str) -> None:
        super().__init__(text)
        self._session, self._old, self._new, self._key = session, old, new, key

    def id(self) -> int:
        return hash(self._key) % 2**30 if self._key else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _Edit) or other._key != self._key:
            return False
        self._new = other._new
        return True

    def redo(self) -> None:
        self._session.put_plan(self._with_later_runs(self._new))

    def undo(self) -> None:
        self._session.put_plan(self._with_later_runs(self._old))

    def _with_later_runs(self, plan: Plan) -> Plan:
        later = {
            run: look for run, look in self._session.plan.looks.items() if run not in plan.looks
        }
        return dataclasses.replace(plan, looks={**plan.looks, **later})


def _with_all_looks(plan: Plan, records: list[RunRecord]) -> Plan:
    """Give every record a look: one may have been stored just before the program was killed."""
    for record in records:
        if record.id not in plan.looks:
            title = METHODS[record.experiment.method].title
            look = RunLook(plan.free_name(title), plan.free_colour(), record.status != FAILED)
            plan = dataclasses.replace(plan, looks={**plan.looks, record.id: look})
    return plan


def _read_project(path: Path) -> tuple[Any, ...]:
    file = ProjectFile.open(path)
    document, records = file.plan(), file.runs()
    table, trouble = None, []
    data = _reference(document, records)
    if data is not None:
        try:
            table = data.open()
        except InputError as error:
            trouble.append(f"{error}. The finished runs are all here.")
    return file, document, records, file.lost_in_flight(), table, trouble


def _reference(document: dict[str, Any], records: list[RunRecord]) -> DataReference | None:
    """Find which table a project is about: its plan says, or the last run of a script's project."""
    if "data" in document:
        data = dict(document["data"])
        return DataReference(**data | {"roles": tuple(data["roles"].items())})
    return records[-1].experiment.data if records else None


def _first_plan(plan: Plan, records: list[RunRecord]) -> Plan:
    """Set the form of a project that no window has seen to what its last run was made with."""
    if not records:
        return plan
    last = records[-1].experiment
    params = {**plan.params, last.method: dict(last.params)}
    return Plan(last.validation, last.method, params, last.band)


def _lost_sentence(experiment: Experiment) -> str:
    title = METHODS[experiment.method].title
    return f"{title} was running when the program last ended; it is lost and can be run again."


def _is_unsaved(path: Path) -> bool:
    from aucstudio.project.workspace import unsaved_folder

    return path.parent == unsaved_folder()
