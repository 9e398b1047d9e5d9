"""What a person changes in a session: the plan, the table's roles, what is pointed at."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QObject, Signal

from aucstudio.gui.state.focus import Focus
from aucstudio.gui.state.plan import Plan
from aucstudio.gui.state.plan_keeper import PlanKeeper, joined_plan
from aucstudio.gui.state.session_reading import SessionReading
from aucstudio.gui.state.study import Study
from aucstudio.gui.state.timers import delayed
from aucstudio.gui.state.undo import Edit, RolesEdit, ThresholdEdit
from aucstudio.project.data.table import Table
from aucstudio.project.results.choosing import Target

_KEEP_MILLISECONDS = 400
_REST_MILLISECONDS = 100
_STAKES = {"cases": "the number of cases", "prior": "the prior", "miss": "the cost of a miss"}


def _form(plan: Plan) -> tuple[object, ...]:
    """Return what the left column of the window edits."""
    return plan.validation, plan.method, plan.params, plan.tune_by, plan.preparation


class SessionEditing(SessionReading):
    """Edits of the study, undoable, and put down in its file."""

    _plan_joined = Signal(object, object, object)  # whose; what was sent, and kept

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._plan_joined.connect(self._take_over)
        self._keeper = PlanKeeper(self._plan_joined.emit)
        self._flush = delayed(self, _KEEP_MILLISECONDS, self._write_plan)
        self._rest = delayed(self, _REST_MILLISECONDS, self.band_rested.emit)

    # ------------------------------------------------------------- the plan

    def edit(self, plan: Plan, text: str, key: str = "") -> None:
        """Change the plan, undoably; edits in a row with the same key become one."""
        if plan != self.plan:
            self.undo_stack.push(Edit(self, plan, text, key))

    def put_plan(self, plan: Plan) -> None:
        """Show another plan and tell whoever looks at what changed."""
        old, self.study.plan = self.plan, plan
        if old.looks != plan.looks:
            if self.study.mend_selection():
                self.selection_changed.emit()
                self.point_at(split=0)
            self.runs_changed.emit()
        if old.band != plan.band:
            self.band_changed.emit()
            self._rest.start()
        if (old.stakes, old.target) != (plan.stakes, plan.target):
            moved = old.target != plan.target
            self.point_at(target=plan.target if moved else self.focus.target)
            self.stakes_changed.emit()
        if _form(old) != _form(plan):
            self.plan_changed.emit()
        self._flush.start()

    @property
    def is_band_moving(self) -> bool:
        """Whether the FPR range moved a moment ago, as it does while a person drags it."""
        return self._rest.isActive()

    def set_band(self, alpha: float, beta: float) -> None:
        """Move the FPR range."""
        self.edit(dataclasses.replace(self.plan, band=(alpha, beta)), "Move FPR range", "band")

    def set_look(self, run: str, text: str, **changes: Any) -> None:
        """Show a run differently."""
        self.set_looks((run,), text, **changes)

    def set_looks(self, runs: Iterable[str], text: str, key: str = "", **changes: Any) -> None:
        """Show several runs differently, which is one step to undo."""
        self.edit(self.plan.with_looks(runs, **changes), text, key)

    def weigh(self, **changes: Any) -> None:
        """Judge operating points for another prior or cost; see :class:`Stakes`."""
        stakes = dataclasses.replace(self.stakes, **changes)
        plan = dataclasses.replace(self.plan, stakes=stakes)
        text = ", ".join(_STAKES[name] for name in changes)
        self.edit(plan, f"Change {text}", f"stakes {text}")

    def use_everywhere(self, target: Target) -> None:
        """Ask a target of the threshold of every run, and keep it in the project."""
        self.edit(dataclasses.replace(self.plan, target=target), "Use threshold for all runs")

    def reuse_settings(self, run: str) -> None:
        """Put a run's settings back into the form."""
        self.edit(self.plan.set_as(self.records[run]), "Use settings of a run")

    # ------------------------------------------------------------- the table

    def set_roles(self, undo: str = "", /, **changes: Any) -> None:
        """Change label, positive class or column roles of the table, undoably.

        Parameters
        ----------
        undo : str
            What undo calls it, if not by what is changed.
        **changes
            See Table.with_roles.

        Raises
        ------
        InputError
            If the table cannot have these; see Table.with_roles.
        """
        if self.table is None:
            return
        words = {"label": "Change label", "positive": "Change positive class"}
        text = undo or words.get(next(iter(changes), ""), "Change column roles")
        self.undo_stack.push(RolesEdit(self, self.table.with_roles(**changes), text))

    def keep_from_methods(self, column: str) -> None:
        """Exclude a column from training, with undo."""
        if self.table is not None and self.table.column(column).role in ("number", "category"):
            self.set_roles(f"Learn nothing from {column}", roles={column: "ignore"})

    def put_table(self, table: Table | None) -> None:
        """Show the table with other roles; its rows are the same, a pair may be none any more."""
        self.study.table = table
        self.table_changed.emit()
        self.point_at(pair=None)
        self._flush.start()

    # ------------------------------------------------------------- pointing

    def select(self, run: str | None) -> None:
        """Choose the run that the views are about; who looks at an older one goes on doing so."""
        listed = [shown.record.id for shown in self.shown_runs()]
        self.study.follows = not listed or run in (None, listed[-1])
        if run != self.selected:
            self.study.selected = run
            self.selection_changed.emit()
            # A threshold means nothing on another run's scale; a row and a pair stay themselves.
            self.point_at(split=0)

    def compare_with(self, run: str | None) -> None:
        """Choose the second run, for comparison; with None there is none."""
        before = self.compared
        self.study.beside, self.study.alone = run, run is None
        if self.compared != before:
            self.selection_changed.emit()

    def point_at(self, **changes: Any) -> None:
        """Point at another split, threshold, target, row or pair; see :class:`Focus`."""
        focus = self.study.pointed(**changes)
        if focus != self.focus:
            self.study.focus = focus
            self.focus_changed.emit()

    def set_threshold(self, **changes: Any) -> None:
        """Point at another ``threshold`` or ``target`` of the chosen run, undoably."""
        focus = self.study.pointed(**changes)
        if focus != self.focus:
            self.undo_stack.push(ThresholdEdit(self, focus, "Move threshold"))

    def put_threshold(self, run: str | None, focus: Focus) -> None:
        """Choose a run and point at the split and the threshold of a focus.

        A run that is not listed any more is left alone; the row and the pair stay.
        """
        if self.run(run) is None:
            return
        self.select(run)
        placed = {name: getattr(focus, name) for name in ("split", "threshold", "target")}
        moved = dataclasses.replace(self.focus, **placed)
        if moved != self.focus:
            self.study.focus = moved
            self.focus_changed.emit()

    def show_rows(self, rows: Iterable[int] = (), part: str = "") -> None:
        """Show rows of the table in the page Data.

        Parameters
        ----------
        rows : iterable of int
            Their numbers; of a single one all others stay in sight.
        part : str
            Or what the chosen run made of them; see :mod:`aucstudio.project.survey.scored`.
        """
        self.rows_asked.emit(tuple(rows), part)

    @property
    def explains_rows(self) -> bool:
        """Whether the chosen run has a model, and the table of its rows is open."""
        run = self.run(self.selected)
        return (
            self.table is not None
            and run is not None
            and bool(run.record.splits)
            and run.record.experiment.data.sha256 == self.table.sha256
        )

    def explain_row(self, row: int) -> None:
        """Show in the page Model what moved the score of a row."""
        self.point_at(row=row)
        self.row_asked.emit()

    # ------------------------------------------------------------- keeping the plan

    def save_plan(self) -> None:
        """Put the plan down; returns when it is. Runs are on disk already."""
        self.keep_plan()
        self._keeper.wait()

    def keep_plan(self) -> None:
        """Begin to put the plan down."""
        self._flush.stop()
        self._write_plan()

    def _write_plan(self) -> None:
        """Write the plan without holding up the window."""
        if self.project is not None and not self._keeper.is_closed:
            self._keeper.write(self.study, self.project, self.study.document())

    def _take_over(self, study: Study, wanted: dict[str, Any], joined: dict[str, Any]) -> None:
        """Show what another window changed in the plan of the same project."""
        if self._keeper.is_closed or study is not self.study:
            return
        with contextlib.suppress(ValueError):
            self.put_plan(joined_plan(self.plan, wanted, joined))
            self.told.emit("Another window changed this project: what it changed is shown here too")
