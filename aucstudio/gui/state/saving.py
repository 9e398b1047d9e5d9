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
from aucstudio.project.store.project.checksums import DamagedError
from aucstudio.project.store.workspace import is_unsaved, remember_recent
from aucstudio.project.work.job import Job


@dataclasses.dataclass(eq=False)
class Save:
    """A study that is to be kept in another file.

    Attributes
    ----------
    study : Study
    path : Path
    document : callable
        Writes down plan and table as they were when saving was asked for.
    left_out : dict of str to str
        By id, why a run could not be saved, once it is done.
    """

    study: Study
    path: Path
    document: Callable[[], Mapping[str, Any]]
    left_out: dict[str, str] = dataclasses.field(default_factory=dict)
    cancelled: threading.Event = dataclasses.field(default_factory=threading.Event)

    def write(self, tell: Callable[[float], object] = lambda _share: None) -> None:
        """Write it; runs that cannot be read must not keep the others from being saved.

        Raises
        ------
        InputError
            If it cannot be written; everything stays as it was.
        Cancelled
        """

        def progress(share: float) -> None:
            tell(share)
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
        # A study that has a name now is not to be found again among those that have none.
        if old is not None and not was_saved and is_unsaved(old.path):
            with contextlib.suppress(OSError):
                if not same_file(old.path, self.path):
                    old.path.unlink()
        remember_recent(self.path)


class SaveAgain(Save):
    """A study whose file stays: what could not be written into it is tried once more."""

    def write(self, tell: Callable[[float], object] = lambda _share: None) -> None:
        """Write it; what still cannot be written stays noted with the study."""
        self.study.home.keep_unsaved()
        tell(1.0)


class Saver(QObject):
    """Saves one after the other; a save that was asked for is never overtaken.

    Attributes
    ----------
    changed : Signal
        It began, went on or ended.
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
        self._work = Background(self, self._land, self._hear)

    @property
    def words(self) -> str:
        """What is being saved; empty while nothing is."""
        return "" if self._present is None else f"saving {self._present.path.name}"

    @property
    def busy(self) -> bool:
        """Whether something is being saved."""
        return self._present is not None

    def save(self, save: Save, first: Callable[[], object]) -> None:
        """Save a study when its turn comes; ``first`` is done before, on the same thread."""
        self._waiting.append(save)
        if self._present is None:
            self._next(first)

    def cancel(self) -> None:
        """Leave what is being saved, and what waits; the files of before stay."""
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

    def _hear(self, fraction: float) -> None:
        self.fraction = fraction
        self.changed.emit()

    def _land(self, key: tuple[Save, Callable[[], object]], job: Job[float, None]) -> None:
        save, first = key
        self._present = None
        if self._waiting:
            self._next(first)
        self.changed.emit()
        if job.error is None:
            self.saved.emit(save)
        elif not isinstance(job.error, Cancelled):
            self.refused.emit(save, job.error)
