"""One open study."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoStack

from aucstudio.gui.state.plan import Plan, RunLook, plan_document
from aucstudio.gui.state.project_handle import ProjectHandle
from aucstudio.gui.state.runner import Runner, TournamentRunner
from aucstudio.notices.words import runs_words
from aucstudio.project.data.table import Table
from aucstudio.project.results.thresholds import Stakes, Target, choose
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.settings_shown import names_with_settings
from aucstudio.project.runs.verification import Verification
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.store.workspace import is_unsaved
from aucstudio.project.tournament.standings import Standings


@dataclasses.dataclass(frozen=True)
class Focus:
    """Split, threshold, row and pair in focus within the selected run; the same in every view.

    Attributes
    ----------
    split : int
        Split of the selected run; every split has its own model and scale of scores.
    threshold : float
        The positive class is predicted above it; 0 is the model's own.
    target : Target
        Rule from which the threshold follows.
    row : int or None
        Number of a row of the table.
    pair : (int, int) or None
        Numbers of a positive and a negative row.
    """

    split: int = 0
    threshold: float = 0.0
    row: int | None = None
    pair: tuple[int, int] | None = None
    target: Target = dataclasses.field(default_factory=Target)

    def moved(
        self, record: RunRecord | None, stakes: Stakes, default: Target, changes: dict[str, Any]
    ) -> Focus:
        """Return the focus with changes.

        A given threshold is a typed one. A target gives the threshold on the scores of the split; a
        change of split applies the default target, that of the run.
        """
        focus = dataclasses.replace(self, **changes)
        if record is not None and focus.split >= len(record.splits):
            record = None
        if "threshold" in changes:
            value = focus.threshold
            target = Target.typed(record, focus.split, value) if record else Target()
            return dataclasses.replace(focus, target=target)
        if not {"target", "split"} & set(changes):
            return focus
        target = changes.get("target", default)
        threshold = choose(record, focus.split, target, stakes).threshold if record else 0.0
        return dataclasses.replace(focus, target=target, threshold=threshold)


@dataclasses.dataclass(frozen=True, eq=False)
class ShownRun:
    """A finished run with how it is shown."""

    record: RunRecord
    look: RunLook

    def is_of(self, table: Table | None) -> bool:
        """Return whether the run has scores and was made on a table."""
        record = self.record
        is_same = table is not None and record.experiment.data.sha256 == table.sha256
        return is_same and bool(record.splits)


class StudyState(QObject):
    """Table, file, plan, runs, focus and jobs of one study.

    A window replaces it as a whole. A late result carries its study and never reaches another one;
    runs that are running when the study is closed are stored in its own file.

    Attributes
    ----------
    table : Table or None
    home : ProjectHandle
        Stores its runs.
    is_saved : bool
        Whether the user has given its file a name.
    plan : Plan
    records : dict of str to RunRecord
        By id.
    selected, beside : str or None
        The selected run, and the chosen second run.
    alone : bool
        Whether the user has chosen to have no second run.
    awaited : object
        What the user started last, if no run was selected since: the look of a run, or the
        tournament. Its result is selected when it ends.
    focus : Focus
    undo_stack : QUndoStack
    runner : Runner
        Its running and waiting runs.
    tournament : TournamentRunner
    """

    def __init__(
        self,
        plan: Plan,
        table: Table | None = None,
        file: ProjectFile | None = None,
        records: Iterable[RunRecord] = (),
        verified: Mapping[str, Verification] | None = None,
        standings: Mapping[str, Standings] | None = None,
        selected: str | None = None,
    ) -> None:
        super().__init__()
        self.plan, self.table = plan, table
        self.records = {record.id: record for record in records}
        self.home = ProjectHandle(file, self.records.values(), verified, standings)
        self.is_saved = file is not None and not is_unsaved(file.path)
        listed = [shown.record.id for shown in self.shown_runs()] or list(self.records)
        self.selected = selected if selected in listed else next(reversed(listed), None)
        self._checked: tuple[list[tuple[RunRecord, RunLook]], list[ShownRun]] = [], []
        self.beside: str | None = None
        self.alone = False
        self.awaited: object = None
        self.focus = Focus()
        self.focus = self.pointed(split=0)
        self.undo_stack = QUndoStack(self)
        self.runner = Runner(self)
        self.tournament = TournamentRunner(self, self.home)

    @property
    def busy(self) -> bool:
        """Whether a run is running or waiting, or a search is running."""
        return self.runner.busy or self.tournament.busy

    @property
    def name(self) -> str:
        """Name of the file, or of the table."""
        if self.home.file is not None and self.is_saved:
            return self.home.file.path.stem
        return "a new study" if self.table is None else self.table.path.name

    @property
    def has_default_form(self) -> bool:
        """Whether the settings of the left column are the defaults."""
        return _form(self.plan) == _form(Plan())

    def is_at(self, path: Path) -> bool:
        """Return whether a file is the project file of the study."""
        file = self.home.file
        return file is not None and file.path.resolve() == path.resolve()

    # ------------------------------------------------------------- runs

    def shown_runs(self) -> list[ShownRun]:
        """Return the listed runs, oldest first."""
        return [
            ShownRun(self.records[run], look)
            for run, look in self.plan.looks.items()
            if run in self.records and not look.removed
        ]

    def checked_runs(self) -> list[ShownRun]:
        """Return the runs that views draw: checked, with at least one finished split.

        The names of runs of one method contain the settings in which they differ.
        """
        runs = [run for run in self.shown_runs() if run.look.visible and run.record.splits]
        looks = [(run.record, run.look) for run in runs]
        if looks != self._checked[0]:
            names = names_with_settings([(run.look.name, run.record) for run in runs])
            found = [
                ShownRun(run.record, dataclasses.replace(run.look, name=name))
                for run, name in zip(runs, names, strict=True)
            ]
            self._checked = looks, found
        return list(self._checked[1])

    def compared(self) -> str | None:
        """Return the second run: the chosen one, or the other one if two are checked."""
        if self.beside is not None or self.alone:
            return self.beside
        checked = [run.record.id for run in self.checked_runs()]
        if len(checked) != 2 or self.selected not in checked:
            return None
        return checked[0] if self.selected == checked[1] else checked[1]

    def run(self, run: str | None) -> ShownRun | None:
        """Return a listed run by its id."""
        record, look = self.records.get(run or ""), self.plan.looks.get(run or "")
        return None if record is None or look is None or look.removed else ShownRun(record, look)

    def pointed(self, **changes: Any) -> Focus:
        """Return the focus with changes; see :class:`Focus`."""
        record = self.records.get(self.selected or "")
        return self.focus.moved(record, self.plan.stakes, self.plan.target_of(record), changes)

    def leave_out(self, damaged: Iterable[str]) -> list[str]:
        """Remove runs that cannot be read; return them."""
        gone = [run for run in damaged if run in self.records]
        if gone:
            self.records = {run: one for run, one in self.records.items() if run not in gone}
            self.home.leave_out(gone)
        return gone

    # ------------------------------------------------------------- changes; each returns its fields

    def put_plan(self, plan: Plan) -> set[str]:
        """Show another plan."""
        old, self.plan = self.plan, plan
        changed = set[str]()
        if old.looks != plan.looks:
            changed |= {"runs"} | self.fix_selection()
        if old.band != plan.band:
            changed.add("band")
        if (old.stakes, old.target) != (plan.stakes, plan.target):
            changed.add("stakes")
        record = self.records.get(self.selected or "")
        target = plan.target_of(record)
        if "stakes" in changed or old.target_of(record) != target:
            changed |= self.point_at(target=target)
        if _form(old) != _form(plan):
            changed.add("plan")
        return changed

    def fix_selection(self) -> set[str]:
        """Select the last listed run if the selected one is not listed."""
        listed = [shown.record.id for shown in self.shown_runs()]
        if self.beside not in listed:
            self.beside = None
        if self.selected in listed:
            return set()
        self.selected = listed[-1] if listed else None
        return {"selection"} | self.point_at(split=0)

    def select(self, run: str | None) -> set[str]:
        """Select a run."""
        if run == self.selected:
            return set()
        self.selected, self.awaited = run, None
        # The threshold of one run means nothing for another; row and pair stay.
        return {"selection"} | self.point_at(split=0)

    def compare_with(self, run: str | None) -> set[str]:
        """Choose the second run for comparison; None for no second run."""
        before = self.compared()
        self.beside, self.alone = run, run is None
        return set() if self.compared() == before else {"selection"}

    def point_at(self, **changes: Any) -> set[str]:
        """Change the focus; see :class:`Focus`."""
        before, self.focus = self.focus, self.pointed(**changes)
        return set() if self.focus == before else {"focus"}

    # ------------------------------------------------------------- its file

    def document(self) -> Callable[[], dict[str, object]]:
        """Return a function that returns the present plan and table reference as plain data."""
        return functools.partial(plan_document, self.plan, self.table, self.selected)

    @property
    def status(self) -> str:
        """Whether everything is on disk, as a sentence."""
        unsaved, file = self.home.unsaved, self.home.file
        if unsaved:
            return f"{runs_words(len(unsaved))} not saved: {next(iter(unsaved.values()))}"
        if file is None:
            return ""
        if not self.is_saved:
            return (
                "Unsaved study: every finished run is kept and can be reopened from the start page"
            )
        return f"All runs saved in {file.path.name}"


def _form(plan: Plan) -> tuple[object, ...]:
    """Return the settings of the left column."""
    params = {method: settings for method, settings in plan.params.items() if settings}
    return plan.validation, plan.method, params, plan.tune_by, plan.preparation
