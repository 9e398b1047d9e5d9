"""A running job: thread, mailbox, stop flag and outcome.

The worker posts small messages and never waits; whoever watches polls. A stop is seen by the
fit at its next step. A library call that takes no steps cannot be interrupted: after a short
grace the job ends without it, with what was finished before, and what the call later returns
is dropped.
"""

from __future__ import annotations

import threading
import traceback
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from aucstudio.engine.monitor import Stopped
from aucstudio.project.runs.parallel_parts import limit_threads

Result = TypeVar("Result")
Message = TypeVar("Message")

MAILBOX = 256
GRACE = 0.7
NO_GRACE = 0.1  # for one library call, which no waiting makes answer


class Job(Generic[Message, Result]):
    """Work on a background thread that can be watched and stopped.

    Parameters
    ----------
    work : callable
        ``work(post)`` does the work; ``post(message)`` answers True once a stop is wished.
    leftover : callable, optional
        Gives the result to settle for when the work does not answer a stop within the grace.
    grace : float
        Seconds.

    Attributes
    ----------
    result : Result or None
    error : BaseException or None
        What the work raised, :class:`~aucstudio.engine.monitor.Stopped` included.
    """

    def __init__(
        self,
        work: Callable[[Callable[[Message], bool]], Result],
        leftover: Callable[[], Result] | None = None,
        grace: float = GRACE,
    ) -> None:
        self._work, self._leftover, self._grace = work, leftover, grace
        self._mail: deque[Message] = deque(maxlen=MAILBOX)
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._settling = threading.Lock()
        self.result: Result | None = None
        self.error: BaseException | None = None
        # A daemon: a call that cannot be interrupted must not keep the program from closing.
        self._thread = threading.Thread(target=self._run, name="aucstudio-job", daemon=True)

    def start(self) -> None:
        """Begin; at most once."""
        self._thread.start()

    def stop(self) -> None:
        """Ask the work to stop; the job ends within a second, come what may."""
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
        """Wait for the end; True if it came."""
        return self._ended.wait(seconds)

    def drain(self) -> list[Message]:
        """Take the messages that came since last time, oldest first."""
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
            # One processor stays with the window; more threads than processors only get in
            # each other's way.
            with limit_threads():
                result = self._work(self._post)
        except Exception as error:  # noqa: BLE001  (whatever it was, the watcher must hear of it)
            self._settle(None, error)
        else:
            self._settle(result, None)

    def _give_up(self) -> None:
        if self._ended.is_set():
            return
        result = None if self._leftover is None else self._leftover()
        self._settle(result, Stopped("abandoned") if result is None else None)

    def _settle(self, result: Result | None, error: BaseException | None) -> None:
        with self._settling:
            if not self._ended.is_set():
                self.result, self.error = result, error
                self._ended.set()


def describe_failure(error: BaseException) -> tuple[str, str]:
    """Return a job's error as one sentence and as a traceback for a bug report."""
    trace = "".join(traceback.format_exception(error))
    return str(error) or type(error).__name__, trace
