"""The undo commands: a swap of plans, of thresholds, or of what the columns of the table are."""

from __future__ import annotations

import dataclasses
from typing import Protocol

from PySide6.QtGui import QUndoCommand

from aucstudio.gui.state.focus import Focus
from aucstudio.gui.state.plan import Plan
from aucstudio.project.data.table import Table


class Planned(Protocol):
    """Whatever has a plan and a table and can be given others."""

    @property
    def plan(self) -> Plan: ...

    @property
    def table(self) -> Table | None: ...

    def put_plan(self, plan: Plan) -> None:
        """Show another plan."""

    def put_table(self, table: Table | None) -> None:
        """Show the table with other roles."""


class Edit(QUndoCommand):
    """A swap of plans; runs that came after the edit keep their look when it is undone.

    Where the views are is no edit, and stays as it is.

    Edits in a row with the same key become one.
    """

    def __init__(self, edited: Planned, new: Plan, text: str, key: str = "") -> None:
        super().__init__(text)
        self._edited, self._old, self._new, self._key = edited, edited.plan, new, key

    def id(self) -> int:
        return hash(self._key) % 2**30 if self._key else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, Edit) or other._key != self._key:
            return False
        self._new = other._new
        return True

    def redo(self) -> None:
        self._edited.put_plan(self._with_later_runs(self._new))

    def undo(self) -> None:
        self._edited.put_plan(self._with_later_runs(self._old))

    def _with_later_runs(self, plan: Plan) -> Plan:
        present = self._edited.plan.looks
        later = {run: look for run, look in present.items() if run not in plan.looks}
        layout = self._edited.plan.layout
        return dataclasses.replace(plan, looks={**plan.looks, **later}, layout=layout)


class Pointed(Protocol):
    """Whatever has a chosen run and a threshold in it, and can be given others."""

    @property
    def selected(self) -> str | None: ...

    @property
    def focus(self) -> Focus: ...

    def put_threshold(self, run: str | None, focus: Focus) -> None:
        """Choose a run and point at the split and the threshold of a focus."""


class ThresholdEdit(QUndoCommand):
    """A swap of thresholds of one run; moves of one threshold in a row become one."""

    def __init__(self, pointed: Pointed, new: Focus, text: str) -> None:
        super().__init__(text)
        self._pointed, self._run = pointed, pointed.selected
        self._old, self._new = pointed.focus, new

    def id(self) -> int:
        return hash(("threshold", self._run, self._new.split)) % 2**30

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, ThresholdEdit) or other.id() != self.id():
            return False
        self._new = other._new
        return True

    def redo(self) -> None:
        self._pointed.put_threshold(self._run, self._new)

    def undo(self) -> None:
        self._pointed.put_threshold(self._run, self._old)


class RolesEdit(QUndoCommand):
    """A swap of the label, the positive class or the roles of the columns; the rows stay."""

    def __init__(self, edited: Planned, new: Table, text: str) -> None:
        super().__init__(text)
        self._edited, self._old, self._new = edited, edited.table, new

    def redo(self) -> None:
        self._edited.put_table(self._new)

    def undo(self) -> None:
        self._edited.put_table(self._old)
