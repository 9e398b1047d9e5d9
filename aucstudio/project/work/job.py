"""A running job: thread, mailbox, stop flag and outcome.

The worker posts small messages and never waits; the caller polls. A fit stops at its next step. A
library call without steps cannot be interrupted: after a short grace the job ends without it, with
the results so far, and the later result of the call is dropped.
"""

from __future__ import annotations

import threading
import traceback
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from aucstudio.engine.monitor import Stopped
from aucstudio.project.runs.rows import limit_threads

Result = TypeVar("Result")
Message = TypeVar("Message")

MAILBOX = 256
GRACE = 0.7


class Job(Generic[Message, Result]):
    """Work on a background thread that can be polled and stopped.

    Parameters
    ----------
    work : callable
        ``work(post)`` does the work; ``post(message)`` returns True after a request to stop.
    leftover : callable, optional
        Returns the result so far or None, if the work does not stop within the grace.
    grace : float
        Seconds.

    Attributes
    ----------
    result : Result or None
    error : BaseException or None
        The exception of the work, :class:`~aucstudio.engine.monitor.Stopped` included.
    thread : Thread
        It runs on after the work was abandoned.
    """

    def __init__(
        self,
        work: Callable[[Callable[[Message], bool]], Result],
        leftover: Callable[[], Result | None] | None = None,
        grace: float = GRACE,
    ) -> None:
        self._work, self._leftover, self._grace = work, leftover, grace
        self._mail: deque[Message] = deque(maxlen=MAILBOX)
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._ending = threading.Lock()
        self.result: Result | None = None
        self.error: BaseException | None = None
        # A daemon, since a call that cannot be interrupted must not keep the program open.
        self.thread = threading.Thread(target=self._run, name="aucstudio-job", daemon=True)

    def start(self) -> None:
        """Start the work; at most once."""
        self.thread.start()

    def stop(self) -> None:
        """Request a stop; the job ends within a second in any case."""
        if self._stop.is_set() or self._ended.is_set():
            return
        self._stop.set()
        timer = threading.Timer(self._grace, self._give_up)
        timer.daemon = True
        timer.start()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; return whether the job has ended."""
        return self._ended.wait(seconds)

    def drain(self) -> list[Message]:
        """Remove and return the waiting messages, oldest first."""
        taken = []
        while self._mail:
            taken.append(self._mail.popleft())
        return taken

    def _post(self, message: Message) -> bool:
        if self._ended.is_set():
            raise Stopped("cancelled: the result is no longer needed")
        self._mail.append(message)
        return self._stop.is_set()

    def _run(self) -> None:
        try:
            # One processor stays free for the window.
            with limit_threads():
                result = self._work(self._post)
        except Exception as error:  # noqa: BLE001  (every error is passed to the caller)
            self._end(None, error)
        else:
            self._end(result, None)

    def _give_up(self) -> None:
        if self._ended.is_set():
            return
        result = None if self._leftover is None else self._leftover()
        self._end(result, Stopped("abandoned") if result is None else None)

    def _end(self, result: Result | None, error: BaseException | None) -> None:
        with self._ending:
            if not self._ended.is_set():
                self.result, self.error = result, error
                self._ended.set()


def describe_failure(error: BaseException) -> tuple[str, str]:
    """Return the error of a job as a sentence and as a traceback for a bug report."""
    trace = "".join(traceback.format_exception(error))
    return str(error) or type(error).__name__, trace
