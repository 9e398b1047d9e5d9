"""A keyed result computed in the background, with cache and progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from PySide6.QtCore import QObject

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.state.background import Background
from aucstudio.project.work.job import Job, describe_failure

Value = TypeVar("Value")


class Answer(Generic[Value]):
    """Asks for what a picture shows: kept answers come at once, others when they are ready.

    Parameters
    ----------
    parent : QObject
        Answers are worked out as long as it lives.
    show : callable
        Called on the window's thread with an answer.
    fail : callable, optional
        Called there with a sentence where there is none, an empty one where the work was stopped.
        Without it an error is raised: it is a defect.
    hear : callable, optional
        Called there with each message that the work posts.
    keep : int
        How many answers are kept; the oldest goes first.

    Attributes
    ----------
    key : object
        The question that was asked last; None once it was dropped.
    """

    def __init__(
        self,
        parent: QObject,
        show: Callable[[Value], object],
        fail: Callable[[str], object] | None = None,
        hear: Callable[[Any], object] | None = None,
        keep: int = 1,
    ) -> None:
        self._show, self._fail, self._keep = show, fail, keep
        self._kept: dict[object, Value] = {}
        self._work = Background(parent, self._land, hear)
        self.key: object = None

    @property
    def busy(self) -> bool:
        """Whether an answer is being computed."""
        return self._work.busy

    def ask(self, key: object, work: Callable[[Callable[[Any], bool]], Value]) -> bool:
        """Show the answer to a question; return whether it is still being computed.

        Another question that is being worked out is dropped; one that failed is not tried again
        before another is asked.

        Parameters
        ----------
        key : object
            What the answer depends on.
        work : callable
            Called on another thread with what it reports to; that returns True to stop it.
        """
        if not self.recall(key) and key != self._work.key:
            self.key = key
            self._work.start(key, work)
        return self._work.busy

    def recall(self, key: object) -> bool:
        """Show the answer to a question if it is kept; return whether it is."""
        if key not in self._kept:
            return False
        self._work.drop()
        self.key = key
        self._show(self._kept[key])
        return True

    def stop(self) -> None:
        """Ask the work to end now; what it has to give is still shown."""
        self._work.stop()

    def drop(self) -> None:
        """Stop what is no longer asked for; kept answers stay."""
        self._work.drop()
        self.key = None

    def forget(self, key: object = None) -> None:
        """Drop the question, and one answer or all of them."""
        self.drop()
        self._kept = {} if key is None else {k: v for k, v in self._kept.items() if k != key}

    def _land(self, key: object, job: Job[Any, Value]) -> None:
        if job.error is not None:
            if self._fail is None:
                raise job.error
            stopped = isinstance(job.error, Stopped)
            self._fail("" if stopped else describe_failure(job.error)[0])
            return
        if len(self._kept) >= self._keep:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = cast("Value", job.result)
        self._show(self._kept[key])


class Asker:
    """Mixin of widgets that ask for results computed in the background."""

    _answers: tuple[Answer[Any], ...] = ()

    def answer(
        self,
        show: Callable[[Any], object],
        fail: Callable[[str], object] | None = None,
        hear: Callable[[Any], object] | None = None,
        keep: int = 1,
    ) -> Answer[Any]:
        """Make what answers one question at a time; see :class:`Answer`."""
        made = Answer[Any](cast("QObject", self), show, fail, hear, keep)
        self._answers = (*self._answers, made)
        return made

    def busy(self) -> bool:
        """Return whether an answer is being computed."""
        return any(one.busy for one in self._answers)

    def drop_questions(self) -> None:
        """Stop computations that are no longer shown."""
        for one in self._answers:
            one.drop()

    def forget_answers(self) -> None:
        """Drop all questions and answers: they would keep records of another study."""
        for one in self._answers:
            one.forget()
