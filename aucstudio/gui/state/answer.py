"""The answer to one question at a time, worked out beside the window and kept by its key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject

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
    fail : callable
        Called there with a sentence where there is none.
    keep : int
        How many answers are kept; the oldest goes first.
    """

    def __init__(
        self,
        parent: QObject,
        show: Callable[[Value], object],
        fail: Callable[[str], object],
        keep: int = 1,
    ) -> None:
        self._show, self._fail, self._keep = show, fail, keep
        self._kept: dict[object, Value] = {}
        self._work = Background(parent, self._land)

    @property
    def busy(self) -> bool:
        """Whether an answer is being worked out."""
        return self._work.busy

    def ask(self, key: object, work: Callable[[Callable[[Any], bool]], Value]) -> bool:
        """Show the answer to a question; True if it is still being worked out.

        Another question that is being worked out is dropped; one that failed is not tried again
        before another is asked.

        Parameters
        ----------
        key : object
            What the answer depends on.
        work : callable
            Called on another thread with what it reports to; that returns True to stop it.
        """
        if key in self._kept:
            self._work.drop()
            self._show(self._kept[key])
        elif key != self._work.key:
            self._work.start(key, work)
        return self._work.busy

    def drop(self) -> None:
        """Stop what is no longer asked for; kept answers stay."""
        self._work.drop()

    def forget(self) -> None:
        """Drop the question and all answers: they are of another study."""
        self._work.drop()
        self._kept.clear()

    def _land(self, key: object, job: Job[Any, Value]) -> None:
        if job.error is not None or job.result is None:
            self._fail(describe_failure(job.error or RuntimeError())[0])
            return
        if len(self._kept) >= self._keep:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = job.result
        self._show(job.result)
