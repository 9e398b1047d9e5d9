"""The state of a session: its study, the edits of it, and the notification of views.

Views read the session, call its methods and listen to its fields; no view calls another view.
"""

from __future__ import annotations

import contextlib
import dataclasses
import weakref
from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoGroup

from aucstudio.gui.state.background import Turns, delayed
from aucstudio.gui.state.plan import Plan, PlanKeeper, RunLook, joined_plan
from aucstudio.gui.state.study import ShownRun, StudyState
from aucstudio.notices import text
from aucstudio.notices.controls import control_words
from aucstudio.project.data.table import Table
from aucstudio.project.results.thresholds import Target

FIELDS = frozenset(
    {
        "table",  # another table, or other roles
        "plan",  # method, settings, validation
        "runs",  # a run was added, or is shown differently
        "selection",  # another run is selected
        "band",  # the FPR range moved
        "band_rested",  # it moved and then stayed for a moment: a drag paused or ended
        "focus",  # another split, threshold, row or pair is in focus
        "stakes",  # costs and prior, or the threshold of every run
        "live",  # a run started, progressed, ended or was queued
        "best",  # a search for the best model started, progressed or ended
    }
)
_KEEP_MILLISECONDS = 400
_REST_MILLISECONDS = 100
_STAKES = {"cases": "the number of cases", "prior": "the prior", "miss": "the cost of a miss"}


Value = TypeVar("Value")


class _OfStudy(Generic[Value]):
    """An attribute of the open study, read through the session."""

    def __init__(self, read: Callable[[StudyState], Value]) -> None:
        self._read = read

    def __get__(self, session: SessionState, _owner: type) -> Value:
        return self._read(session.study)


class SessionState(QObject):
    """The open study, the methods that change it, and the signals of changes.

    Parameters
    ----------
    parent : QObject, optional

    Attributes
    ----------
    study : StudyState
        The open study; replaced as a whole.
    left : list of StudyState
        Studies that were closed while they have running work.
    turns : Turns
    undo_group : QUndoGroup
        Its active stack is the one of the study.
    table : Table or None
        With the roles of its columns.
    plan : Plan
        Settings of the form, and how runs are shown.
    records : dict of str to RunRecord
        The finished runs by id.
    focus : Focus
    stakes : Stakes
        Prior and costs of operating points.
    undo_stack : QUndoStack
    project : ProjectFile or None
        None before there is something to store.
    unsaved : mapping of str to str
        Why runs could not be written into the file, by id.
    selected, compared : str or None
        The selected run, and the second one.
    live, running, queue
        The first running run, all of them in the order of their start, and the waiting ones.
    """

    changed = Signal(object)  # the FIELDS that changed
    study_shown = Signal(object)  # another study is open
    asked = Signal(str, object)  # a page or a dialog to show, and its arguments
    message = Signal(str)  # a sentence for the status bar
    informed = Signal(str)  # a fact for the message bar
    failed = Signal(str, str)  # a sentence and a traceback for the message bar

    plan_joined = Signal(object, object, object)  # study, plan as sent, plan as stored

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.turns, self.undo_group = Turns(self), QUndoGroup(self)
        self.plan_joined.connect(self._take_over)
        self.keeper = PlanKeeper(self.plan_joined.emit)
        self.keep_soon = delayed(self, _KEEP_MILLISECONDS, self.keep_plan)
        self._rest = delayed(self, _REST_MILLISECONDS, lambda: self.notify({"band_rested"}))
        self.left: list[StudyState] = []
        self.study = StudyState(Plan())
        self._notified: Table | None = None  # the table that listeners know
        self.undo_group.indexChanged.connect(lambda _index: self._notify_table())

    def swap(self, study: StudyState) -> None:
        """Show another study."""
        self.study, self._notified = study, study.table
        study.setParent(self)
        self.study_shown.emit(study)
        self.undo_group.setActiveStack(study.undo_stack)
        self.notify(FIELDS)

    def listen(self, answer: Callable[[], object], *fields: str) -> None:
        """Call a method of a QObject when one of some fields changes, while the object lives."""
        assert FIELDS.issuperset(fields)
        _Listener(self, answer, frozenset(fields))

    def notify(self, fields: Set[str]) -> None:
        """Notify listeners that fields have changed, if any."""
        if fields:
            self.changed.emit(fields)

    # ------------------------------------------------------------- the study

    table = _OfStudy(lambda study: study.table)
    plan = _OfStudy(lambda study: study.plan)
    records = _OfStudy(lambda study: study.records)
    focus = _OfStudy(lambda study: study.focus)
    stakes = _OfStudy(lambda study: study.plan.stakes)
    undo_stack = _OfStudy(lambda study: study.undo_stack)
    project = _OfStudy(lambda study: study.home.file)
    unsaved = _OfStudy(lambda study: study.home.unsaved)
    selected = _OfStudy(lambda study: study.selected)
    compared = _OfStudy(lambda study: study.compared())
    live = _OfStudy(lambda study: study.runner.live)
    running = _OfStudy(lambda study: list(study.runner.running))
    queue = _OfStudy(lambda study: study.runner.queue)

    @property
    def studies(self) -> tuple[StudyState, ...]:
        """The open study, and closed ones with running work."""
        return self.study, *self.left

    @property
    def trains(self) -> bool:
        """Whether a run or a search is running or waiting in any study."""
        return any(study.busy for study in self.studies)

    # ------------------------------------------------------------- its runs

    def shown_runs(self) -> list[ShownRun]:
        """Return the listed runs, oldest first."""
        return self.study.shown_runs()

    def checked_runs(self) -> list[ShownRun]:
        """Return the runs that views draw: checked, with at least one finished split."""
        return self.study.checked_runs()

    def run(self, run: str | None) -> ShownRun | None:
        """Return a listed run by its id."""
        return self.study.run(run)

    # ------------------------------------------------------------- the plan

    def edit(self, plan: Plan, text: str, key: str = "") -> None:
        """Change the plan with undo; successive edits with the same key are one step."""
        if plan != self.plan:
            self.undo_stack.push(_Swap(self._put_edited, self.plan, plan, text, key))

    def change(self, text: str, key: str = "", /, **changes: Any) -> None:
        """Change fields of the plan with undo; see :meth:`edit`."""
        self.edit(dataclasses.replace(self.plan, **changes), text, key)

    def validate(self, undo: str = "Change validation", /, **changes: Any) -> None:
        """Change how rows are held out, with undo; successive edits of a field are one step."""
        validation = dataclasses.replace(self.plan.validation, **changes)
        self.change(undo, f"{undo} {next(iter(changes))}", validation=validation)

    def _put_edited(self, plan: Plan) -> None:
        """Show the plan of an edit; later runs stay as they are and views in their place."""
        now = self.plan
        looks = {run: look for run, look in now.looks.items() if run not in plan.looks}
        targets = {run: target for run, target in now.targets.items() if run not in plan.looks}
        looks, targets = {**plan.looks, **looks}, {**targets, **plan.targets}
        self.put_plan(dataclasses.replace(plan, looks=looks, targets=targets, layout=now.layout))
        restored = (k for k, look in plan.looks.items() if now.looks.get(k, look).removed)
        if (run := next((k for k in restored if not plan.looks[k].removed), None)) is not None:
            self.select(run)

    def put_plan(self, plan: Plan) -> None:
        """Show another plan, without undo."""
        changed = self.study.put_plan(plan)
        self.notify(changed)
        if "band" in changed:
            self._rest.start()
        self.keep_soon.start()

    def put_looks(self, study: StudyState, looks: Mapping[str, RunLook]) -> None:
        """Change the looks of runs without undo, which must never remove a finished run."""
        plan = dataclasses.replace(study.plan, looks=looks)
        if study is self.study:
            self.put_plan(plan)
        else:  # names and colours are stored in the file of the study
            study.plan = plan
            self.keep(study)

    @property
    def is_band_moving(self) -> bool:
        """Whether the FPR range moved a moment ago, as while it is dragged."""
        return self._rest.isActive()

    def set_band(self, alpha: float, beta: float) -> None:
        """Move the FPR range."""
        self.change("Move FPR range", "band", band=(alpha, beta))

    def train_in_range(self, linked: bool) -> None:
        """Train the method of the form for the FPR range, or for a range of its own."""
        words = "Train in this range" if linked else "Train for its own range"
        self.edit(self.plan.with_link(self.plan.method, linked), words)

    def set_look(self, run: str, text: str, **changes: Any) -> None:
        """Show a run differently."""
        self.set_looks((run,), text, **changes)

    def set_looks(self, runs: Iterable[str], text: str, key: str = "", **changes: Any) -> None:
        """Show several runs differently, as one step of undo."""
        self.edit(self.plan.with_looks(runs, **changes), text, key)

    def weigh(self, **changes: Any) -> None:
        """Change the prior or the costs; see :class:`Stakes`."""
        stakes = dataclasses.replace(self.stakes, **changes)
        names = ", ".join(_STAKES[name] for name in changes)
        self.change(f"Change {names}", f"stakes {names}", stakes=stakes)

    def use_everywhere(self, target: Target) -> None:
        """Use a target for the threshold of every run, and store it in the project."""
        self.change("Use threshold for all runs", target=target, targets={})

    def reuse_settings(self, run: str) -> None:
        """Put the settings of a run into the form."""
        before = self.plan.validation
        self.edit(self.plan.set_as(self.records[run]), "Use settings of a run")
        if self.plan.validation != before:
            scheme = control_words("scheme_combo")["choices"][self.plan.validation.scheme]
            self.message.emit(text("validation_of_run", scheme=scheme))

    # ------------------------------------------------------------- the table

    def set_roles(self, undo: str = "", /, **changes: Any) -> None:
        """Change label, positive class or column roles of the table, with undo.

        Parameters
        ----------
        undo : str
            Text of undo; by default it follows from the changes.
        **changes
            See Table.with_roles.

        Raises
        ------
        InputError
            If the roles are impossible; see Table.with_roles.
        """
        if self.table is None:
            return
        words = {"label": "Change label", "positive": "Change positive class"}
        what = undo or words.get(next(iter(changes), ""), "Change column roles")
        new = self.table.with_roles(**changes)
        self.undo_stack.push(_Swap(partial(setattr, self.study, "table"), self.table, new, what))
        self.message.emit(text("done_with_undo", what=what))

    def keep_from_methods(self, column: str) -> None:
        """Exclude a column from training, with undo."""
        if self.table is not None and self.table.column(column).role in ("number", "category"):
            self.set_roles(f"Ignore {column}", roles={column: "ignore"})

    def put_table(self, table: Table | None) -> None:
        """Show the table with other roles; the pair in focus is dropped."""
        self.study.table = self._notified = table
        self.keep_soon.start()
        self.notify({"table"} | self.study.point_at(pair=None))

    def _notify_table(self) -> None:
        """Show the table of an edit, once the stack of undo lists the edit."""
        if self.table is not self._notified:
            self.put_table(self.table)

    # ------------------------------------------------------------- focus

    def select(self, run: str | None) -> None:
        """Select a run."""
        self.notify(self.study.select(run))

    def compare_with(self, run: str | None) -> None:
        """Choose the second run for comparison; None for no second run."""
        self.notify(self.study.compare_with(run))

    def point_at(self, **changes: Any) -> None:
        """Change the split, threshold, target, row or pair in focus; see :class:`Focus`."""
        self.notify(self.study.point_at(**changes))

    def set_threshold(self, **changes: Any) -> None:
        """Change the ``threshold`` or ``target`` of the selected run, with undo."""
        focus, run = self.study.pointed(**changes), self.selected or ""
        if (record := self.records.get(run)) is None:
            return

        def put(target: Target) -> None:
            self.put_plan(self.plan.with_target(record, target))
            if self.run(run) is not None:
                self.notify(self.study.select(run) | self.study.point_at(split=focus.split))

        key = f"threshold {run} {focus.split}"
        old = self.plan.target_of(record)
        if focus.target != old:
            self.undo_stack.push(_Swap(put, old, focus.target, "Move threshold", key))

    def show_rows(self, rows: Iterable[int] = (), part: str = "") -> None:
        """Show rows of the table in the page Data.

        Parameters
        ----------
        rows : iterable of int
            Their numbers; around a single row all others stay visible.
        part : str
            Or an outcome of the selected run; see :mod:`aucstudio.project.survey.rows`.
        """
        self.asked.emit("data", (tuple(rows), part))

    @property
    def explains_rows(self) -> bool:
        """Whether the selected run has a model, and its table is open."""
        run = self.run(self.selected)
        return run is not None and run.is_of(self.table)

    def explain_row(self, row: int) -> None:
        """Show in the page Model what moved the score of a row."""
        self.point_at(row=row)
        self.asked.emit("row", ())

    # ------------------------------------------------------------- storing the plan

    def save_plan(self) -> None:
        """Write the plan and wait; runs are on disk already."""
        self.keep_plan()
        self.keeper.wait()

    def keep_plan(self) -> None:
        """Start to write the plan on a thread."""
        self.keep_soon.stop()
        if self.study.home.file is None and self.study.busy:  # its first run makes the file
            self.keep_soon.start()
        elif not self.keeper.is_closed:
            self.keep(self.study)

    def keep(self, study: StudyState) -> None:
        """Start to write the plan of a study into its file, if it has one."""
        if study.home.file is not None:
            self.keeper.write(study, study.home.file, study.document())

    def _take_over(self, study: StudyState, wanted: dict[str, Any], joined: dict[str, Any]) -> None:
        """Show changes of another window to the plan of the same project."""
        if self.keeper.is_closed or study is not self.study:
            return
        with contextlib.suppress(ValueError):
            self.put_plan(joined_plan(self.plan, wanted, joined))
            self.message.emit("Another window changed this project; its changes are shown here")


class _Swap(QUndoCommand):
    """Replaces a plan, a table or a threshold; successive edits with the same key are merged."""

    def __init__(
        self, put: Callable[[Any], object], old: object, new: object, text: str, key: str = ""
    ) -> None:
        super().__init__(text)
        self._put, self._old, self._new, self._key = put, old, new, key

    def id(self) -> int:
        return hash(self._key) % 2**30 if self._key else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _Swap) or other._key != self._key:
            return False
        self._new = other._new
        return True

    def redo(self) -> None:
        self._put(self._new)

    def undo(self) -> None:
        self._put(self._old)


class _Listener(QObject):
    """Calls a method when fields of a session change, while its object lives."""

    def __init__(
        self, session: SessionState, answer: Callable[[], object], fields: frozenset[str]
    ) -> None:
        owner = getattr(answer, "__self__", None)
        assert isinstance(owner, QObject)
        super().__init__(owner)
        self._answer, self._fields = weakref.WeakMethod(answer), fields
        session.changed.connect(self._on_changed)

    def _on_changed(self, changed: Set[str]) -> None:
        answer = self._answer()
        if answer is not None and self._fields & changed:
            answer()
