"""Work on threads of its own, keyed results with a cache, and timers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from PySide6.QtCore import QObject, QTimer

from aucstudio.engine.monitor import Stopped
from aucstudio.project.work.job import Job, describe_failure


def ticking(parent: QObject, milliseconds: int, action: Callable[[], object]) -> QTimer:
    """Return a stopped timer that calls a function repeatedly."""
    timer = QTimer(parent)
    timer.setInterval(milliseconds)
    timer.timeout.connect(action)
    return timer


def delayed(parent: QObject, milliseconds: int, action: Callable[[], object]) -> QTimer:
    """Return a stopped timer that calls a function once, some time after its last start."""
    timer = ticking(parent, milliseconds, action)
    timer.setSingleShot(True)
    return timer


def stopping(post: Callable[[float], bool]) -> Callable[..., None]:
    """Return a function that posts progress, and raises Stopped if a stop is requested."""

    def report(part: float = 0.0) -> None:
        if post(part):
            raise Stopped("the request was cancelled")

    return report


class Turns(QObject):
    """Calls one function in each turn of the event loop, so that user events come between.

    Parameters
    ----------
    parent : QObject

    Attributes
    ----------
    waiting : deque of callable
        Functions that are still to be called.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.waiting: deque[Callable[[], object]] = deque()
        self._next = delayed(self, 0, self._take)

    def ask(self, *actions: Callable[[], object]) -> None:
        """Call functions soon, each once however often it is requested."""
        self.waiting.extend(action for action in actions if action not in self.waiting)
        self._next.start()

    def take_all(self) -> None:
        """Call the functions that wait now."""
        while self.waiting:
            self.waiting.popleft()()

    def _take(self) -> None:
        if self.waiting:
            self._next.start()
            self.waiting.popleft()()


# The picture of a short task changes at once instead of flickering.
_WAIT_SECONDS = 0.02
_POLL_MILLISECONDS = 15


class Background(QObject):
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
        super().__init__(parent)
        self._finished, self._report, self._patience = finished, report, patience
        self.key: object = None
        self._job: Job[Any, Any] | None = None
        self._poll = ticking(self, _POLL_MILLISECONDS, self._on_poll)

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
        Background.drop(self)
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


Value = TypeVar("Value")
Work = Callable[[Callable[[Any], bool]], Value]


class Answer(Background, Generic[Value]):
    """Computes one result at a time; cached results are shown at once.

    Parameters
    ----------
    parent : QObject
        Part of a page, which is busy while it computes.
    show : callable
        Called on the window's thread with a result.
    fail : callable, optional
        Called there with the error in words, empty after a stop. Without it, errors are raised.
    progress : callable, optional
        Called there with each message that the work reports.
    keep : int
        Number of cached results; the oldest is dropped first.

    Attributes
    ----------
    key : object
        Key of the latest request; None after it was dropped.
    """

    def __init__(
        self,
        parent: QObject,
        show: Callable[[Value], object],
        fail: Callable[[str], object] | None = None,
        progress: Callable[[Any], object] | None = None,
        keep: int = 1,
    ) -> None:
        super().__init__(parent, self._finish, progress)
        self._show, self._fail, self._keep = show, fail, keep
        self._kept: dict[object, Value] = {}
        self._pause = delayed(self, 0, self._begin)
        self._work: Work[Value] | None = None

    @property
    def busy(self) -> bool:
        """Whether a result is being computed, or will be after a pause."""
        return super().busy or self._pause.isActive()

    def ask(self, key: object, work: Work[Value], *, pause: int = 0) -> bool:
        """Show the result for a key; return whether it is still being computed.

        The same request is not computed twice, and not again after a failure, unless another
        one came between. A new request cancels the previous one.

        Parameters
        ----------
        key : object
            Everything that the result depends on.
        work : callable
            Called on another thread with a function that reports progress and returns True to
            request a stop.
        pause : int
            Milliseconds without another request before the work starts.
        """
        if not self.recall(key) and key != self.key:
            self.drop()
            self.key, self._work = key, work
            if pause:
                self._pause.start(pause)
            else:
                self._begin()
        return self.busy

    def recall(self, key: object) -> bool:
        """Show the result for a key if it is cached; return whether it is."""
        if key not in self._kept:
            return False
        self.drop()
        self.key = key
        self._present(key)
        return True

    def _present(self, key: object) -> None:
        """Show a cached result; if that fails, drop it and report the error."""
        try:
            self._show(self._kept[key])
        except Exception as error:
            del self._kept[key]
            if self._fail is not None:
                self._fail(describe_failure(error)[0])
            raise

    def drop(self) -> None:
        """Cancel the request; cached results stay."""
        self._pause.stop()
        super().drop()

    def forget(self, key: object = None) -> None:
        """Cancel the request, and drop one cached result or all of them."""
        self.drop()
        self._kept = {} if key is None else {k: v for k, v in self._kept.items() if k != key}

    def _begin(self) -> None:
        work, self._work = self._work, None
        assert work is not None
        # A new task drops the present one, which ``ask`` has done; the key stays.
        self.start(self.key, work)

    def _finish(self, key: object, job: Job[Any, Value]) -> None:
        if job.error is not None:
            if self._fail is None:
                raise job.error
            stopped = isinstance(job.error, Stopped)
            self._fail("" if stopped else describe_failure(job.error)[0])
            return
        if len(self._kept) >= self._keep:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = cast("Value", job.result)
        self._present(key)
