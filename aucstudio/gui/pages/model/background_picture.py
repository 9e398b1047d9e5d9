"""Base class of views that are computed in the background."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

from PySide6.QtWidgets import QProgressBar

from aucstudio.gui.common.whiskers import WhiskerChart
from aucstudio.gui.common.widgets import named
from aucstudio.gui.pages.model.model_picture import ModelPicture, ModelSubject

Found = TypeVar("Found")
Question = tuple[Any, ...]


class WorkedOut(ModelPicture, Generic[Found]):
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
        super().__init__(chart)
        self.chart = chart
        self.found: Found | None = None
        self._answer = self.answer(self._on_found, self._on_failed, self._hear, self.remembered)

    def make_working_controls(
        self, prefix: str, stop: tuple[str, str], again: tuple[str, str]
    ) -> None:
        """Add the bar and both buttons; of each button its accessible name and its tip."""
        self.bar_done = self.row.put(named(QProgressBar(), f"{prefix}_progress", "Progress"))
        self.bar_done.setTextVisible(False)
        self.bar_done.setFixedWidth(64)
        self.stop_button, self.again_button = (
            self.row.button(f"{prefix}_{name}_button", words, tip, verb)
            for name, words, tip, verb in (
                ("stop", "S&top", stop[1], self._answer.stop),
                ("again", "&Go on", again[1], self._on_again),
            )
        )
        self.stop_button.setAccessibleName(stop[0])
        self.again_button.setAccessibleName(again[0])

    def leave(self) -> None:
        super().leave()
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
        work: Callable[[Callable[[Any], bool]], Found],
        sentence: str,
    ) -> None:
        """Compute in the background; keep the conclusion until there is a new one."""
        self.found = None
        self.bar_done.setValue(0)
        if self._answer.ask(self.question(subject), work):
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
        busy = self._answer.busy
        self.bar_done.setVisible(busy)
        self.stop_button.setVisible(busy)
        self.again_button.setVisible(not busy and not self.is_complete())

    def _hear(self, message: Any) -> None:
        self.bar_done.setValue(round(100 * message))

    def _on_again(self) -> None:
        if self.subject is not None:
            self._answer.forget(self.question(self.subject))
            self.begin(self.subject)

    def _on_found(self, found: Found) -> None:
        self.found = found
        self.draw()

    def _on_failed(self, words: str) -> None:
        self.show_none(words or self.unstarted)
        if not words:
            self.again_button.setVisible(True)
