"""Work on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from aucstudio.gui.state.timers import ticking
from aucstudio.project.work.job import Job

# The picture of a short task changes at once instead of flickering.
_WAIT_SECONDS = 0.02
_POLL_MILLISECONDS = 15


class Background:
    """One background task at a time; only the latest request is answered.

    Parameters
    ----------
    parent : QObject
        Lives as long as the work is watched.
    finished : callable
        Called with the key and the ended job on the window's thread.
    report : callable, optional
        Called there with each message that the work posts.
    patience : float
        Seconds that ``start`` waits for the result before it returns.

    Attributes
    ----------
    key : object
        Key of the last task; None before the first one and after ``drop``.
    """

    def __init__(
        self,
        parent: QObject,
        finished: Callable[[Any, Job[Any, Any]], object],
        report: Callable[[Any], object] | None = None,
        patience: float = _WAIT_SECONDS,
    ) -> None:
        self._finished, self._report, self._patience = finished, report, patience
        self.key: object = None
        self._job: Job[Any, Any] | None = None
        self._poll = ticking(parent, _POLL_MILLISECONDS, self._on_poll)

    @property
    def busy(self) -> bool:
        """Whether a task is running."""
        return self._job is not None

    def start(self, key: object, work: Callable[[Callable[[Any], bool]], Any]) -> None:
        """Start a task in place of the present one; a short one has finished on return.

        Parameters
        ----------
        key : object
            Passed to ``finished``.
        work : callable
            Called on another thread with a function that posts messages and returns True to stop.
        """
        self.drop()
        self.key, self._job = key, Job(work)
        self._job.start()
        self._job.wait(self._patience)
        self._on_poll()
        if self.busy:
            self._poll.start()

    def drop(self) -> None:
        """Stop the task and ignore its result."""
        self.stop()
        self.key = self._job = None
        self._poll.stop()

    def stop(self) -> None:
        """Request a stop; the result so far is still returned."""
        if self._job is not None:
            self._job.stop()

    def finish(self, seconds: float | None = None) -> None:
        """Wait until the task has finished, for some seconds at most."""
        if self._job is not None:
            self._job.wait(seconds)
            self._on_poll()

    def _on_poll(self) -> None:
        job = self._job
        if job is None:
            return
        ended = job.ended
        if self._report is not None:
            for message in job.drain():
                self._report(message)
        if ended and job is self._job:
            self._job = None
            self._poll.stop()
            self._finished(self.key, job)
