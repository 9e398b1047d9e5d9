"""Base classes of the pictures of the page Model."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from aucstudio.gui.common.controls import ControlRow
from aucstudio.gui.common.layouts import down, holding
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.whiskers import WhiskerChart
from aucstudio.gui.common.widgets import named
from aucstudio.gui.state.background import Answer, Work
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices import text
from aucstudio.project.data.table import Table
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord, SplitResult

Columns = Mapping[str, Sequence[object] | NDArray[Any]]
Post = Callable[[Any], bool]
Found = TypeVar("Found")


@dataclasses.dataclass(frozen=True, eq=False)
class ModelSubject:
    """The run that the page shows.

    Attributes
    ----------
    run : ShownRun
    index : int
        The selected split.
    table : Table or None
        None if the table of the run is not open.
    band : (float, float)
    row : int or None
        The selected row of the table.
    threshold : float
        The positive class is predicted above it.
    """

    run: ShownRun
    index: int
    table: Table | None
    band: Band
    row: int | None = None
    threshold: float = 0.0

    @property
    def record(self) -> RunRecord:
        return self.run.record

    @property
    def split(self) -> SplitResult:
        return self.record.splits[self.index]

    @property
    def name(self) -> str:
        return self.run.look.name

    @property
    def key(self) -> tuple[object, ...]:
        """What identifies the record."""
        return self.record.id, self.record.created

    @property
    def data(self) -> Table:
        """The open table, with the scores that the run was trained on."""
        assert self.table is not None
        return self.record.experiment.data.with_scores(self.table)


class ModelPicture(QWidget, Generic[Found]):
    """One picture: its plot, its controls and its conclusion.

    Attributes
    ----------
    key, title : str
        Class attributes: its name in the list of pictures.
    tip, table, busy : str
        Class attributes: codes of texts: what it shows, what the table is needed for (empty if it
        is not needed), and what is computed.
    of_one_split : bool
        Class attribute: whether it shows the selected split only.
    keep : int
        Class attribute: number of cached results.
    pause : int
        Class attribute: milliseconds without a change before work on a changed request starts.
    plot : Plot
    row, bar : ControlRow, QWidget
        Its controls, for the row above the picture.
    found : object or None
        The result that is shown.
    """

    message = Signal(object)  # Statement or str
    key: ClassVar[str]
    title: ClassVar[str]
    tip: ClassVar[str]
    table: ClassVar[str] = ""
    busy: ClassVar[str] = ""
    of_one_split: ClassVar[bool] = False
    keep: ClassVar[int] = 1
    pause: ClassVar[int] = 0

    def __init__(self, plot: Plot, shown: QWidget | None = None) -> None:
        super().__init__()
        self.subject: ModelSubject | None = None
        self.found: Found | None = None
        self.plot = plot
        self.row = ControlRow()
        self.row.setContentsMargins(0, 0, 0, 0)
        self.bar = holding(self.row)
        self.setLayout(down(shown or plot))
        self._answer = Answer[Found](
            self, self._on_found, self.show_none, self._on_progress, self.keep
        )

    # ------------------------------------------------------------- for subclasses

    def suits(self, run: ShownRun) -> bool:
        """Return whether the picture applies to a run."""
        return True

    def request_key(self, subject: ModelSubject) -> tuple[object, ...]:
        """Return everything that the result depends on."""
        return subject.key

    def why_none(self, subject: ModelSubject) -> str:
        """Explain why there is no picture; empty if there is one."""
        return text(self.table) if self.table and subject.table is None else ""

    def known(self, subject: ModelSubject) -> Found | None:
        """Return the result if it needs no computation on another thread."""
        return None

    def work(self, subject: ModelSubject) -> Work[Found]:
        """Return the computation of the result, which runs on another thread."""
        raise NotImplementedError

    def draw(self, subject: ModelSubject, found: Found) -> None:
        """Draw a result and emit its conclusion."""
        raise NotImplementedError

    def data(self) -> Columns:
        """Return the numbers of the picture."""
        return {} if self.found is None else self.columns(self.found)

    def columns(self, found: Found) -> Columns:
        """Return the numbers of a result."""
        raise NotImplementedError

    # ------------------------------------------------------------- showing

    def show_subject(self, subject: ModelSubject) -> None:
        """Draw the picture of a run, now or when its result is computed."""
        self.subject = subject
        self.ask()

    def ask(self) -> None:
        """Show the result for the current settings."""
        subject = self.subject
        if subject is None:
            return
        if why := self.why_none(subject):
            self._answer.drop()
            self.show_none(why)
        elif (found := self.known(subject)) is not None:
            self._answer.drop()
            self._on_found(found)
        else:
            key, last = self.request_key(subject), self._answer.key
            if not self._answer.recall(key) and key != last:
                number = None if subject.row is None else subject.row + 1
                self.show_none(text(self.busy, name=subject.name, row=number))
                self._answer.ask(key, self.work(subject), pause=0 if last is None else self.pause)

    def redraw(self) -> None:
        """Draw the result again."""
        if self.subject is not None and self.found is not None:
            self.draw(self.subject, self.found)

    def show_none(self, sentence: str) -> None:
        """Clear the picture and explain why."""
        self.found = None
        self.clear()
        self.message.emit(sentence)

    def clear(self) -> None:
        """Draw nothing."""
        self.plot.clear()

    def name_at(self, place: QPoint) -> str:
        """Return what is at a position on the screen, by its name in the picture."""
        return ""

    def leave(self) -> None:
        """Cancel computations that are no longer shown."""
        self._answer.drop()
        self.subject = None

    def _on_found(self, found: Found) -> None:
        self.found = found
        self.redraw()

    def _on_progress(self, message: Any) -> None:
        """Show a message of the computation."""


class ChartPicture(ModelPicture[Found]):
    """A picture with a row for each column of the table, or for each member."""

    def __init__(self, chart: WhiskerChart) -> None:
        super().__init__(chart.plot, chart)
        self.chart = chart

    def name_at(self, place: QPoint) -> str:
        return self.chart.name_at(place)

    def clear(self) -> None:
        if self.subject is not None:
            self.chart.show_rows([], self.subject.run.look)


class LongPicture(ChartPicture[Found]):
    """A chart that shows what is computed so far, with buttons to stop and to continue.

    Attributes
    ----------
    unstarted : str
        Class attribute: code of the text if it was stopped before there was a result.
    """

    unstarted: ClassVar[str]

    def __init__(self, chart: WhiskerChart) -> None:
        super().__init__(chart)
        self._stopped = False

    def make_progress(self, prefix: str) -> None:
        """Add the progress bar and both buttons."""
        self.bar_done = self.row.put(named(QProgressBar(), f"{prefix}_progress", "Progress"))
        self.bar_done.setTextVisible(False)
        self.bar_done.setFixedWidth(64)
        self.stop_button = self.row.button(f"{prefix}_stop_button", verb=self._answer.stop)
        self.again_button = self.row.button(f"{prefix}_again_button", verb=self._on_again)
        self.show_progress()

    def is_complete(self, found: Found) -> bool:
        """Return whether nothing is left to compute."""
        raise NotImplementedError

    def ask(self) -> None:
        super().ask()
        self.show_progress()

    def redraw(self) -> None:
        self.show_progress()
        super().redraw()

    def show_none(self, sentence: str) -> None:
        self._stopped = not sentence
        super().show_none(sentence or text(self.unstarted))
        self.bar_done.setValue(0)
        self.show_progress()

    def show_progress(self) -> None:
        """Show the controls that apply now."""
        busy = self._answer.busy
        self.bar_done.setVisible(busy)
        self.stop_button.setVisible(busy)
        unfinished = self._stopped if self.found is None else not self.is_complete(self.found)
        self.again_button.setVisible(not busy and unfinished)

    def _on_progress(self, message: float | Found) -> None:
        if isinstance(message, float):
            self.bar_done.setValue(round(100 * message))
        else:
            self._on_found(message)

    def _on_again(self) -> None:
        if self.subject is not None:
            self._answer.forget(self.request_key(self.subject))
            self.ask()
