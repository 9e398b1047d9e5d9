"""Save a study on a thread."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from aucstudio.gui.state.background import Background
from aucstudio.gui.state.study import Study
from aucstudio.project.errors import Cancelled
from aucstudio.project.store.files import same_file
from aucstudio.project.store.project.database import DamagedError
from aucstudio.project.store.workspace import is_unsaved, remember_recent
from aucstudio.project.work.job import Job


@dataclasses.dataclass(eq=False)
class Save:
    """A request to save a study in another file.

    Attributes
    ----------
    study : Study
    path : Path
    document : callable
        Returns the plan and the table as they were at the time of the request.
    left_out : dict of str to str
        Why runs could not be saved, by id; filled by ``write``.
    """

    study: Study
    path: Path
    document: Callable[[], Mapping[str, Any]]
    left_out: dict[str, str] = dataclasses.field(default_factory=dict)
    cancelled: threading.Event = dataclasses.field(default_factory=threading.Event)

    def write(self, report: Callable[[float], object] = lambda _share: None) -> None:
        """Write the file; runs that cannot be read are left out.

        Raises
        ------
        InputError
            If it cannot be written; the earlier file stays.
        Cancelled
        """

        def progress(share: float) -> None:
            report(share)
            if self.cancelled.is_set():
                raise Cancelled

        home, old, was_saved = self.study.home, self.study.home.file, self.study.is_saved
        while True:
            try:
                home.move_to(self.path, self.document(), progress)
            except DamagedError as error:
                if error.run is None or error.run in self.left_out:
                    raise
                self.left_out[error.run] = str(error)
                home.leave_out([error.run])
            else:
                break
        # A study with a name is no longer listed among the unsaved ones.
        if old is not None and not was_saved and is_unsaved(old.path):
            with contextlib.suppress(OSError):
                if not same_file(old.path, self.path):
                    old.path.unlink()
        remember_recent(self.path)


class SaveAgain(Save):
    """A request to write again what could not be written into the present file."""

    def write(self, report: Callable[[float], object] = lambda _share: None) -> None:
        """Write the runs; those that still cannot be written stay with the study."""
        self.study.home.keep_unsaved()
        report(1.0)


class Saver(QObject):
    """Saves studies one after the other, in the order of the requests.

    Attributes
    ----------
    changed : Signal
        A save started, progressed or ended.
    saved : Signal(Save)
    refused : Signal(Save, Exception)
    fraction : float
    """

    changed = Signal()
    saved = Signal(object)
    refused = Signal(object, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.fraction = 0.0
        self._present: Save | None = None
        self._waiting: deque[Save] = deque()
        self._work = Background(self, self._on_finished, self._on_progress)

    @property
    def words(self) -> str:
        """What is being saved; empty if nothing."""
        return "" if self._present is None else f"saving {self._present.path.name}"

    @property
    def busy(self) -> bool:
        """Whether something is being saved."""
        return self._present is not None

    def save(self, save: Save, first: Callable[[], object]) -> None:
        """Queue a save; ``first`` is called before it on the same thread."""
        self._waiting.append(save)
        if self._present is None:
            self._next(first)

    def cancel(self) -> None:
        """Abandon the present save and the waiting ones; the earlier files stay."""
        self._waiting.clear()
        if self._present is not None:
            self._present.cancelled.set()

    def finish(self) -> None:
        """Wait until everything is saved."""
        while self._present is not None:
            self._work.finish()

    def _next(self, first: Callable[[], object]) -> None:
        save = self._present = self._waiting.popleft()

        def work(post: Callable[[float], bool]) -> None:
            first()
            save.write(post)

        self.fraction = 0.0
        self._work.start((save, first), work)
        self.changed.emit()

    def _on_progress(self, fraction: float) -> None:
        self.fraction = fraction
        self.changed.emit()

    def _on_finished(self, key: tuple[Save, Callable[[], object]], job: Job[float, None]) -> None:
        save, first = key
        self._present = None
        if self._waiting:
            self._next(first)
        self.changed.emit()
        if job.error is None:
            self.saved.emit(save)
        elif not isinstance(job.error, Cancelled):
            self.refused.emit(save, job.error)
