"""The one object with state: table, project, plan, runs, and the job in flight.

Views read it, call its verbs and listen to its signals; no view talks to another view.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from aucstudio.engine.params import InvalidSetting
from aucstudio.gui.state.background import run_beside
from aucstudio.gui.state.cluster_link import ClusterLink
from aucstudio.gui.state.focus import Focus
from aucstudio.gui.state.live import LiveRun
from aucstudio.gui.state.plan import Plan, RunLook
from aucstudio.gui.state.runner import Runner
from aucstudio.gui.state.stakes import Stakes
from aucstudio.gui.state.study import (
    PlanKeeper,
    ProjectHandle,
    RunReader,
    Study,
    joined_plan,
    plan_document,
    read_study,
)
from aucstudio.gui.state.timers import Turns, delayed
from aucstudio.gui.state.undo import Edit
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.errors import InputError
from aucstudio.project.results.summary import work_out
from aucstudio.project.runs import experiment_file, planning
from aucstudio.project.runs.estimate import check_size, check_size_at_once
from aucstudio.project.runs.experiment import DataReference, Experiment
from aucstudio.project.runs.grouping import check_groups
from aucstudio.project.runs.planning import plan_experiment, read_test_table
from aucstudio.project.runs.record import FAILED, RunRecord
from aucstudio.project.runs.rows import in_memory
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.store.files import same_file
from aucstudio.project.store.project.project_file import ProjectFile, write_project
from aucstudio.project.store.project.sealed import DamagedError
from aucstudio.project.store.workspace import is_unsaved, new_unsaved_project, remember_recent
from aucstudio.project.words import runs_words
from aucstudio.project.work.gather import Spread
from aucstudio.project.work.job import Job
from aucstudio.project.work.place import Place
from aucstudio.project.work.processes import Here
from aucstudio.project.work.submit import Outcome, RunTask, submit

_MOST_TOLD = 5


@dataclasses.dataclass(frozen=True, eq=False)
class ShownRun:
    """A finished run with how it is shown."""

    record: RunRecord
    look: RunLook


def _form(plan: Plan) -> tuple[object, ...]:
    """Give what the left column of the window edits."""
    return plan.validation, plan.method, plan.params, plan.tune_by


class Session(QObject):
    """State of one window; each signal says what has changed.

    Parameters
    ----------
    parent : QObject, optional
    place : Place, optional
        Where runs are made; without it, on a thread of this process.
    """

    table_changed = Signal()  # another table, or other roles
    plan_changed = Signal()  # method, settings, validation
    runs_changed = Signal()  # a run came, or is shown differently
    selection_changed = Signal()  # another run is chosen
    band_changed = Signal()  # the FPR range moved
    focus_changed = Signal()  # another split, threshold, row or pair is pointed at
    stakes_changed = Signal()  # positives are as rare, or a miss costs as much, as somewhere else
    live_changed = Signal()  # the run in flight moved, began or ended
    told = Signal(str)  # a sentence for the status bar
    failed = Signal(str, str)  # a sentence and a traceback for a dialog
    _damage_found = Signal(object)  # sentences by run
    _plan_joined = Signal(object, object)  # another window had changed it: what was sent, and kept

    def __init__(self, parent: QObject | None = None, place: Place | None = None) -> None:
        super().__init__(parent)
        self._place = place or Here()
        self.table: Table | None = None
        self._home: ProjectHandle | None = None
        self.is_saved = False
        self.plan = Plan()
        self.records: dict[str, RunRecord] = {}
        self.selected: str | None = None
        self._beside: str | None = None
        self._alone = False
        self.focus = Focus()
        self.undo_stack = QUndoStack(self)
        self.turns = Turns(self)
        self.cluster = ClusterLink(self)
        self._loading: Job[tuple[float, str], Any] | None = None
        self._plan_joined.connect(self._take_over)
        self._damage_found.connect(self.leave_out)
        self._reader = RunReader(self._damage_found.emit)
        self._keeper = PlanKeeper(self._plan_joined.emit)
        self._flush = delayed(self, 400, self._write_plan)
        self._runner = Runner(self, self._begin, self._fits)
        self._runner.changed.connect(self.live_changed)
        self._runner.failed.connect(self.failed)
        self._runner.ended.connect(self._take_in)

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
    def project(self) -> ProjectFile | None:
        """The file that runs and plan are kept in; None before there is something to keep."""
        return None if self._home is None else self._home.file

    @property
    def unsaved(self) -> Mapping[str, str]:
        """By id, why a run could not be written into the file."""
        return {} if self._home is None else self._home.unsaved

    @property
    def compared(self) -> str | None:
        """The second run: the one that was chosen, else the other one if two are checked."""
        if self._beside is not None or self._alone:
            return self._beside
        checked = [run.record.id for run in self.checked_runs()]
        if len(checked) != 2 or self.selected not in checked:
            return None
        return checked[0] if self.selected == checked[1] else checked[1]

    @property
    def stakes(self) -> Stakes:
        """The prior and the cost that operating points are weighed by."""
        return self.plan.stakes

    @property
    def live(self) -> LiveRun | None:
        """The run in flight, the first one if there are several."""
        return self._runner.live

    @property
    def flights(self) -> list[LiveRun]:
        """The runs in flight, the first one first."""
        return self._runner.flights

    @property
    def queue(self) -> deque[tuple[Experiment, RunLook]]:
        """What waits for them to end."""
        return self._runner.queue

    @property
    def busy(self) -> bool:
        """Whether something can be stopped."""
        return self._runner.busy or self._loading is not None

    @property
    def status(self) -> str:
        """Say whether everything is on disk."""
        if self.unsaved:
            return f"{runs_words(len(self.unsaved))} not saved: {next(iter(self.unsaved.values()))}"
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
            self.undo_stack.push(Edit(self, plan, text, key))

    def put_plan(self, plan: Plan) -> None:
        """Show another plan and tell whoever looks at what changed."""
        old, self.plan = self.plan, plan
        if old.looks != plan.looks:
            self._mend_selection()
            self.runs_changed.emit()
        if old.band != plan.band:
            self.band_changed.emit()
        if old.stakes != plan.stakes:
            self.stakes_changed.emit()
        if _form(old) != _form(plan):
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
            # A threshold means nothing on another run's scale; a row and a pair stay themselves.
            self.point_at(split=0)

    def point_at(self, **changes: Any) -> None:
        """Point at another split, threshold, row or pair; see :class:`Focus`.

        Another split takes the threshold back to the model's own.
        """
        if "split" in changes and "threshold" not in changes:
            changes["threshold"] = 0.0
        focus = dataclasses.replace(self.focus, **changes)
        if focus != self.focus:
            self.focus = focus
            self.focus_changed.emit()

    def weigh(self, **changes: Any) -> None:
        """Judge operating points for another prior or cost; see :class:`Stakes`."""
        stakes = dataclasses.replace(self.stakes, **changes)
        plan = dataclasses.replace(self.plan, stakes=stakes)
        self.edit(plan, "Change prior and cost", "stakes")

    def compare_with(self, run: str | None) -> None:
        """Choose the second run, for comparison; with None there is none."""
        before, self._beside, self._alone = self.compared, run, run is None
        if self.compared != before:
            self.selection_changed.emit()

    def reuse_settings(self, run: str) -> None:
        """Put a run's settings back into the form."""
        self.edit(self.plan.set_as(self.records[run]), "Use settings of a run")

    def _mend_selection(self) -> None:
        listed = [shown.record.id for shown in self.shown_runs()]
        if self.selected not in listed:
            self.selected = listed[-1] if listed else None
            self.selection_changed.emit()
        if self._beside not in listed:
            self._beside = None

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
        run_beside(job)
        self._loading = None
        self.live_changed.emit()
        if job.error is not None:
            raise job.error
        return job.result

    def _start_study(self, table: Table) -> None:
        self._forget_runs()
        self.table = table
        self.table_changed.emit()

    def _forget_runs(self) -> None:
        self.stop()
        self._reader.stop()
        self._flush_now()
        self._home, self.is_saved = None, False
        self.records = {}
        self.undo_stack.clear()
        self.selected = self._beside = None
        self._alone = False
        self.put_plan(dataclasses.replace(self.plan, looks={}, stakes=Stakes()))
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
        study: Study = self._load(lambda _report: read_study(Path(path)))
        self._forget_runs()
        self._home = ProjectHandle(study.file, study.records)
        self.is_saved = not is_unsaved(study.file.path)
        self.table = study.table
        self.records = {record.id: record for record in study.records}
        self.put_plan(study.plan(self.plan))
        self.selected = next(reversed(self.records), None)
        self.undo_stack.clear()
        self.table_changed.emit()
        self.runs_changed.emit()
        self.selection_changed.emit()
        remember_recent(study.file.path)
        self._reader.start(study.unread)
        return study.warnings

    def leave_out(self, damaged: Mapping[str, str]) -> None:
        """Take runs out of the list that proved to be damaged, and say so."""
        new = [run for run in damaged if run in self.records]
        if not new:
            return
        self.records = {run: one for run, one in self.records.items() if run not in damaged}
        if self._home is not None:
            self._home.leave_out(new)
        self._mend_selection()
        self.runs_changed.emit()
        shown = "\n\n".join(damaged[run] for run in new[:_MOST_TOLD])
        more = len(new) - _MOST_TOLD
        self.failed.emit(shown + (f"\n\n{more} more runs are damaged." if more > 0 else ""), "")

    def save_as(self, path: str | Path) -> None:
        """Save the project under a name and go on in that file, runs under way included.

        It is written from what is here: the file of before may be gone or damaged.

        Raises
        ------
        InputError
            If it cannot be written; everything stays as it was.
        """
        self._keeper.wait()
        path, old = Path(path), self.project
        document = plan_document(self.plan, self.table)
        if self._home is None:
            self._home = ProjectHandle(write_project(path, (), document))
        else:
            self._move_home(path, document)
        self._flush.stop()
        if (
            old is not None
            and not self.is_saved
            and is_unsaved(old.path)
            and not same_file(old.path, path)
        ):
            with contextlib.suppress(OSError):
                old.path.unlink()
        self.is_saved = True
        remember_recent(path)
        self.told.emit(self.status)
        self.runs_changed.emit()

    def _move_home(self, path: Path, document: dict[str, Any]) -> None:
        assert self._home is not None
        while True:
            try:
                self._home.move_to(path, document)
            except DamagedError as error:
                # It cannot be saved, and must not keep the others from it.
                if error.run not in self.records:
                    raise
                self.leave_out({error.run: str(error)})
            else:
                return

    def save_plan(self) -> None:
        """Put the plan down now; runs are on disk already."""
        self._flush_now()

    def _write_plan(self) -> None:
        """Write the plan without holding up the window."""
        if self.project is not None:
            self._keeper.write(self.project, plan_document(self.plan, self.table))

    def _take_over(self, wanted: dict[str, Any], joined: dict[str, Any]) -> None:
        """Show what another window changed in the plan of the same project."""
        if self._keeper.is_closed:
            return
        with contextlib.suppress(ValueError):
            self.put_plan(joined_plan(self.plan, wanted, joined))
            self.told.emit("Another window changed this project: what it changed is shown here too")

    def _flush_now(self) -> None:
        self._flush.stop()
        self._write_plan()
        self._keeper.wait()

    # ------------------------------------------------------------- running

    def run_planned(self, *, tuned: bool = False) -> None:
        """Start, or queue, a run of what the form says.

        Parameters
        ----------
        tuned : bool
            Whether settings are searched first, by the plan's measure.

        Raises
        ------
        InputError, InvalidSetting
            If it cannot be run; nothing is started.
        """
        if self.table is None:
            raise InputError("open a table first", setting="data")
        data = DataReference.to_table(self.table)
        plan, method = self.plan, self.plan.method
        tuning = Tuning(plan.tune_by, seed=plan.validation.seed) if tuned else None
        experiment = plan_experiment(
            data, method, plan.params.get(method, {}), plan.validation, plan.band, tuning
        )
        check_size(experiment, self.table)
        check_groups(plan.validation, self.table)
        self._queue(experiment)
        self._runner.start_next()

    def open_experiments(self, path: str | Path) -> experiment_file.ExperimentFile:
        """Open an experiment file: its table as a new study, and all its runs, queued.

        Raises
        ------
        InputError
            If it cannot be read; everything stays as it was.
        """
        study: experiment_file.ExperimentFile = self._load(
            lambda _: experiment_file.read_study(path)
        )
        self._start_study(in_memory(study.table))
        first = study.experiments[0]
        params = {run.method: dict(run.params) for run in reversed(study.experiments)}
        self.put_plan(
            dataclasses.replace(
                self.plan,
                validation=first.validation,
                band=first.band,
                method=first.method,
                params={**self.plan.params, **params},
            )
        )
        for experiment in study.experiments:
            self._queue(experiment)
        self._runner.start_next()
        remember_recent(Path(path))
        return study

    def _queue(self, experiment: Experiment) -> None:
        look = self.plan.free_look(experiment.title, self._runner.waiting())
        self.queue.append((experiment, look))

    def _begin(self, experiment: Experiment, look: RunLook) -> tuple[RunTask, LiveRun]:
        test_table = self._get_ready(experiment)
        assert self.table is not None
        if test_table is not None:
            experiment = experiment.tested_on(test_table)
        plan = planning.PlannedRun(experiment, self.table, test_table)
        workers = self.cluster.workers
        place = self._place if workers is None else Spread(workers)
        task = submit(plan, place, self._home, work_out)
        return task, LiveRun(experiment, look, self._home)

    def _fits(self, experiment: Experiment, beside: Sequence[Experiment]) -> bool:
        """Tell whether a run fits in memory beside others."""
        if self.table is None or self.cluster.workers is not None:
            return True
        together = [experiment, *beside]
        try:
            check_size_at_once(together, self.table, len(together))
        except (InputError, InvalidSetting):
            return False
        return True

    def run_at_once(self, count: int) -> None:
        """Have so many runs in flight at a time, from the next one on."""
        self._runner.at_once = self._place.at_once = count
        self._runner.start_next()

    def _get_ready(self, experiment: Experiment) -> Table | None:
        """Make the project file and read the test table, where there is need; off this thread."""
        if self.project is not None and experiment.validation.scheme != "file":
            return None
        data = self.table.path if self.table else None

        def work(_report: object) -> tuple[ProjectFile, Table | None]:
            return self.project or new_unsaved_project(data), read_test_table(experiment)

        made: tuple[ProjectFile, Table | None] = self._load(work)
        if self._home is None:
            self._home = ProjectHandle(made[0])
            self._write_plan()
        return made[1]

    def stop(self) -> None:
        """Stop what runs and what waits; what is finished is kept."""
        self.queue.clear()
        if self._loading is not None:
            self._loading.stop()
        self._runner.stop()
        self.live_changed.emit()

    def close(self) -> None:
        """Stop and put everything down; takes about a second at most."""
        self.stop()
        self._reader.stop()
        self._runner.finish()
        self._flush_now()
        self._keeper.close()
        self.cluster.close()

    def _take_in(self, outcome: Outcome, live: LiveRun) -> None:
        record, home = outcome.record, live.home
        unsaved = outcome.unsaved or ("" if home is None else home.unsaved.get(record.id, ""))
        if unsaved:
            self.failed.emit(unsaved, "")
        if home is not self._home:
            # Another study was opened meanwhile: the run is in its own project, not in this one.
            return
        self.records[record.id] = record
        # Not an edit: undo must never take a finished run away.
        look = dataclasses.replace(live.look, visible=record.status != FAILED)
        self.put_plan(dataclasses.replace(self.plan, looks={**self.plan.looks, record.id: look}))
        self.select(record.id)
        self.told.emit(self.status)
