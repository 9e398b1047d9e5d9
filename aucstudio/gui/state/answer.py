"""A keyed result computed in the background, with cache and progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from PySide6.QtCore import QObject

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.timers import delayed
from aucstudio.project.work.job import Job, describe_failure

Value = TypeVar("Value")
Work = Callable[[Callable[[Any], bool]], Value]


class Answer(QObject, Generic[Value]):
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
        super().__init__(parent)
        self._show, self._fail, self._keep = show, fail, keep
        self._kept: dict[object, Value] = {}
        self._background = Background(self, self._finish, progress)
        self._pause = delayed(self, 0, self._start)
        self._work: Work[Value] | None = None
        self.key: object = None

    @property
    def busy(self) -> bool:
        """Whether a result is being computed, or will be after a pause."""
        return self._background.busy or self._pause.isActive()

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
                self._start()
        return self.busy

    def recall(self, key: object) -> bool:
        """Show the result for a key if it is cached; return whether it is."""
        if key not in self._kept:
            return False
        self.drop()
        self.key = key
        self._show(self._kept[key])
        return True

    def stop(self) -> None:
        """Request a stop; the result so far is still shown."""
        self._background.stop()

    def drop(self) -> None:
        """Cancel the request; cached results stay."""
        self._pause.stop()
        self._background.drop()
        self.key = None

    def forget(self, key: object = None) -> None:
        """Cancel the request, and drop one cached result or all of them."""
        self.drop()
        self._kept = {} if key is None else {k: v for k, v in self._kept.items() if k != key}

    def _start(self) -> None:
        work, self._work = self._work, None
        assert work is not None
        self._background.start(self.key, work)

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
        self._show(self._kept[key])
