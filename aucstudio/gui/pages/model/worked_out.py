"""A picture of whiskers that takes a while: worked out beside the window, kept, and stopped."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

from PySide6.QtWidgets import QProgressBar, QPushButton

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.whiskers import WhiskerChart
from aucstudio.gui.common.widgets import named
from aucstudio.gui.pages.model.part import ModelPicture, ModelSubject
from aucstudio.gui.state.background import Background
from aucstudio.project.work.job import Job, describe_failure

Answer = TypeVar("Answer")
Question = tuple[Any, ...]


class WorkedOut(ModelPicture, Generic[Answer]):
    """A chart, a progress bar, and buttons that stop the work and go on with it.

    Attributes
    ----------
    remembered : int
        Class attribute: how many answers are kept.
    unstarted : str
        Class attribute: what is said if it was stopped before there was anything.
    found : object or None
        The answer that is shown.
    """

    remembered: ClassVar[int]
    unstarted: ClassVar[str]

    def __init__(self, chart: WhiskerChart) -> None:
        super().__init__()
        self.chart = chart
        self.plot = chart.plot
        self.box.addWidget(chart)
        self.found: Answer | None = None
        self._known: dict[Question, Answer] = {}
        self._work = Background(self, self._land, self._hear)

    def make_working_controls(
        self, prefix: str, stop: tuple[str, str], again: tuple[str, str]
    ) -> None:
        """Add the bar and both buttons; of each button its accessible name and its tip."""
        self.bar_done = named(QProgressBar(), f"{prefix}_progress", "Progress")
        self.bar_done.setTextVisible(False)
        self.bar_done.setFixedWidth(64)
        self.stop_button = named(QPushButton("S&top"), f"{prefix}_stop_button", stop[0])
        plain_tooltip(self.stop_button, stop[1])
        self.stop_button.clicked.connect(self._work.stop)
        self.again_button = named(QPushButton("&Go on"), f"{prefix}_again_button", again[0])
        plain_tooltip(self.again_button, again[1])
        self.again_button.clicked.connect(self._on_again)
        for control in (self.bar_done, self.stop_button, self.again_button):
            self.add_control(control)

    def busy(self) -> bool:
        return self._work.busy

    def leave(self) -> None:
        self._work.drop()
        self.subject = None

    @abstractmethod
    def question(self, subject: ModelSubject) -> Question:
        """Return what an answer depends on."""

    @abstractmethod
    def begin(self, subject: ModelSubject) -> None:
        """Start to work out the answer, with :meth:`work_out`."""

    @abstractmethod
    def is_complete(self) -> bool:
        """Return whether nothing is left to go on with."""

    @abstractmethod
    def draw(self) -> None:
        """Draw what is found, if anything is."""

    def work_out(
        self,
        subject: ModelSubject,
        work: Callable[[Callable[[Any], bool]], Answer],
        sentence: str,
    ) -> None:
        """Work beside the window; the sentence stands until there is something to show."""
        self.found = None
        self.bar_done.setValue(0)
        self._work.start(self.question(subject), work)
        if self._work.busy:
            self.chart.show_rows([], subject.run.look)
            self.told.emit(sentence)
        self.show_state()

    def show_none(self, sentence: str) -> None:
        """Show an empty chart and say why."""
        self.found = None
        if self.subject is not None:
            self.chart.show_rows([], self.subject.run.look)
        self.show_state()
        self.told.emit(sentence)

    def show_state(self) -> None:
        """Show the controls that mean something now."""
        busy = self._work.busy
        self.bar_done.setVisible(busy)
        self.stop_button.setVisible(busy)
        self.again_button.setVisible(not busy and not self.is_complete())

    def _hear(self, message: Any) -> None:
        self.bar_done.setValue(round(100 * message))

    def _on_again(self) -> None:
        if self.subject is not None:
            self._known.pop(self.question(self.subject), None)
            self.begin(self.subject)

    def _land(self, key: Question, job: Job[Any, Answer]) -> None:
        if isinstance(job.error, Stopped):
            self.show_none(self.unstarted)
            self.again_button.setVisible(True)
        elif job.error is not None:
            self.show_none(describe_failure(job.error)[0])
        elif job.result is not None:
            self.found = job.result
            if len(self._known) >= self.remembered:
                del self._known[next(iter(self._known))]
            self._known[key] = job.result
            self.draw()
