"""What can be read of a session: the study that is open, and how it is shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoGroup, QUndoStack

from aucstudio.gui.state.focus import Focus
from aucstudio.gui.state.live import LiveRun
from aucstudio.gui.state.plan import Plan
from aucstudio.gui.state.runner import Waiting
from aucstudio.gui.state.study import ShownRun, Study
from aucstudio.gui.state.timers import Turns
from aucstudio.project.data.table import Table
from aucstudio.project.results.stakes import Stakes
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.store.project.project_file import ProjectFile


class SessionReading(QObject):
    """The study of a window and the signals that say what has changed.

    Attributes
    ----------
    study : Study
        The one that is open; swapped whole.
    turns : Turns
    undo_group : QUndoGroup
        Its active stack is that of the study.
    """

    study_changed = Signal()  # another study is open
    table_changed = Signal()  # another table, or other roles
    plan_changed = Signal()  # method, settings, validation
    runs_changed = Signal()  # a run came, or is shown differently
    selection_changed = Signal()  # another run is chosen
    band_changed = Signal()  # the FPR range moved
    band_rested = Signal()  # it moved, and has not moved again for a moment: a drag paused or ended
    focus_changed = Signal()  # another split, threshold, row or pair is pointed at
    stakes_changed = Signal()  # where scores will be used, or the threshold of every run, changed
    live_changed = Signal()  # a run in progress moved, began or ended; another one waits
    tournament_changed = Signal()  # a tournament moved, began or ended
    best_asked = Signal()  # the best model is to be looked for
    export_asked = Signal()  # the chosen run's model is to be taken away
    rows_asked = Signal(object, str)  # rows of the table, or a part of it, are to be seen in Data
    row_asked = Signal()  # what moved the score of the row that is pointed at is to be seen
    back_asked = Signal()  # the page that was left for Data is to be seen again
    told = Signal(str)  # a sentence for the status bar
    failed = Signal(str, str)  # a sentence and a traceback for the message bar

    study: Study

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.turns = Turns(self)
        self.undo_group = QUndoGroup(self)

    # ------------------------------------------------------------- the study

    @property
    def table(self) -> Table | None:
        """The table, with the roles of its columns."""
        return self.study.table

    @property
    def plan(self) -> Plan:
        """What the form says, and how runs are shown."""
        return self.study.plan

    @property
    def records(self) -> dict[str, RunRecord]:
        """The finished runs by id."""
        return self.study.records

    @property
    def focus(self) -> Focus:
        """What is pointed at."""
        return self.study.focus

    @property
    def stakes(self) -> Stakes:
        """The prior and the cost that operating points are weighed by."""
        return self.plan.stakes

    @property
    def undo_stack(self) -> QUndoStack:
        """The edits of this study."""
        return self.study.undo_stack

    @property
    def project(self) -> ProjectFile | None:
        """The file that runs and plan are kept in; None before there is something to keep."""
        return self.study.home.file

    @property
    def is_saved(self) -> bool:
        """Whether that is a file with a name that a person gave it."""
        return self.study.is_saved

    @property
    def unsaved(self) -> Mapping[str, str]:
        """By id, why a run could not be written into the file."""
        return self.study.home.unsaved

    @property
    def status(self) -> str:
        """State whether everything is on disk."""
        return self.study.status

    # ------------------------------------------------------------- its runs

    def shown_runs(self) -> list[ShownRun]:
        """List the runs of the list, oldest first."""
        return self.study.shown_runs()

    def checked_runs(self) -> list[ShownRun]:
        """List the runs that the views draw: checked, with at least one finished split."""
        return self.study.checked_runs()

    def run(self, run: str | None) -> ShownRun | None:
        """Return one run of the list by its id."""
        record, look = self.records.get(run or ""), self.plan.looks.get(run or "")
        return None if record is None or look is None or look.removed else ShownRun(record, look)

    @property
    def selected(self) -> str | None:
        """The run that the views are about."""
        return self.study.selected

    @property
    def compared(self) -> str | None:
        """The second run: the one that was chosen, else the other one if two are checked."""
        return self.study.compared()

    @property
    def live(self) -> LiveRun | None:
        """The run in progress, the first one if there are several."""
        return self.study.runner.live

    @property
    def flights(self) -> list[LiveRun]:
        """The runs in progress, the first one first."""
        return self.study.runner.flights

    @property
    def queue(self) -> deque[Waiting]:
        """What waits for them to end."""
        return self.study.runner.queue
