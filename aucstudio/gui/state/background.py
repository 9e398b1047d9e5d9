"""Work on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from aucstudio.gui.state.timers import ticking
from aucstudio.project.work.job import Job

# Shorter work is waited for: the picture then changes at once instead of flickering.
_WAIT_SECONDS = 0.02
_POLL_MILLISECONDS = 15


class Background:
    """One background task at a time; only the latest request is answered.

    Parameters
    ----------
    parent : QObject
        Lives as long as the work is watched.
    land : callable
        Called with the key and the ended job on the window's thread.
    hear : callable, optional
        Called there with each message that the work posts.

    Attributes
    ----------
    key : object
        What was begun last, under way or landed; None before, and once it was dropped.
    """

    def __init__(
        self,
        parent: QObject,
        land: Callable[[Any, Job[Any, Any]], object],
        hear: Callable[[Any], object] | None = None,
    ) -> None:
        self._land, self._hear = land, hear
        self.key: object = None
        self._job: Job[Any, Any] | None = None
        self._poll = ticking(parent, _POLL_MILLISECONDS, self._on_poll)

    @property
    def busy(self) -> bool:
        """Whether work is under way."""
        return self._job is not None

    def start(self, key: object, work: Callable[[Callable[[Any], bool]], Any]) -> None:
        """Begin; short work has landed when this returns.

        Parameters
        ----------
        key : object
            What is asked for: given back with the answer.
        work : callable
        """
        self.drop()
        self.key, self._job = key, Job(work)
        self._job.start()
        self._job.wait(_WAIT_SECONDS)
        self._on_poll()
        if self.busy:
            self._poll.start()

    def drop(self) -> None:
        """Stop what is no longer wanted; its late answer goes unheard."""
        self.stop()
        self.key = self._job = None
        self._poll.stop()

    def stop(self) -> None:
        """Request a stop; the result so far is still returned."""
        if self._job is not None:
            self._job.stop()

    def finish(self) -> None:
        """Wait for the work and return its result."""
        if self._job is not None:
            self._job.wait()
            self._on_poll()

    def _on_poll(self) -> None:
        job = self._job
        if job is None:
            return
        ended = job.ended
        if self._hear is not None:
            for message in job.drain():
                self._hear(message)
        if ended and job is self._job:
            self._job = None
            self._poll.stop()
            self._land(self.key, job)
