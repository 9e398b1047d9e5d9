"""The application: theme, uncaught errors, first window."""

from __future__ import annotations

import functools
import gc
import logging
import os
import sys
import traceback
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from aucstudio import __version__
from aucstudio.gui.common.theme import apply_theme, set_text_size
from aucstudio.gui.main_window import MainWindow
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.state.timers import ticking
from aucstudio.gui.windows import the_windows
from aucstudio.project import scratch
from aucstudio.project.resources import resource_path
from aucstudio.project.store.project.checksums import DamagedError
from aucstudio.project.work import signals
from aucstudio.project.work.job import Job
from aucstudio.project.work.processes import the_processes
from aucstudio.project.work.submit import Place

_MILLISECONDS = 1000


class Collector(QObject):
    """Switches the automatic collector off, and collects by a timer what it would have collected.

    Parameters
    ----------
    parent : QObject
        Lives as long as there is something to collect: the application.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._modules = 0
        self._keep()
        ticking(self, _MILLISECONDS, self.collect_what_is_due).start()

    def collect_what_is_due(self) -> None:
        """Collect the oldest generation that is due."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        due = max((age for age in range(3) if counts[age] > thresholds[age]), default=-1)
        if due == 2 and len(sys.modules) > self._modules:
            self._keep()
        elif due >= 0:
            gc.collect(due)

    def collect_all(self) -> None:
        """Look through everything, as it may be once a window with all its data has gone."""
        gc.unfreeze()
        gc.collect()
        self._keep()

    def _keep(self) -> None:
        # To look through all that libraries have brought takes longer than a window may pause.
        self._modules = len(sys.modules)
        gc.freeze()


_SWITCH_SECONDS = 0.0005


def make_application(theme: str | None = None) -> QApplication:
    """Return the running QApplication, made and dressed as is preferred."""
    running = QApplication.instance()
    application = running if isinstance(running, QApplication) else QApplication(sys.argv[:1])
    application.setApplicationName("AUC Studio")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("aucstudio")
    application.setWindowIcon(QIcon(str(resource_path("icons", "aucstudio.svg"))))
    # Painting crosses between Python and Qt hundreds of times a frame; at each crossing a worker
    # may take the interpreter for this long.
    sys.setswitchinterval(_SWITCH_SECONDS)
    chosen = preferences().now
    set_text_size(application, chosen.text_size)
    apply_theme(application, theme or chosen.theme)
    return application


def create_window(path: str | Path | None = None, place: Place | None = None) -> MainWindow:
    """Make the main window on the running QApplication, open on a file if one is given.

    All of it is made at once, so that every page and control can be found by its name.

    Parameters
    ----------
    path : str or Path, optional
    place : Place, optional
        Where runs are made; without it, the processes that all windows have in common.
    """
    make_application()
    _load_the_rest()
    window = MainWindow(place or the_processes())
    assert window.views
    if path is not None:
        window.open_now(path)
    return window


def run_application(path: str | None = None, *, sample: bool = False) -> int:
    """Open the window and run until it is closed; return the exit status."""
    application = make_application()
    collector = Collector(application)
    window = MainWindow(the_processes())
    window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    window.destroyed.connect(collector.collect_all)
    application.styleHints().colorSchemeChanged.connect(lambda _scheme: _follow_desktop())
    _show_uncaught_errors()

    asked: list[int] = []

    def leave(status: int) -> None:
        # The last window that closes may end the loop before its status is told to it.
        asked.append(status)
        for one in list(the_windows().open):
            one.leave()
        application.exit(status)  # even if a dialog is open

    # A shell's Ctrl+C closes the window instead of being lost in the event loop. In a turn of its
    # own: a signal is heeded between any two lines of Python, in the middle of painting too.
    signals.call(lambda status: QTimer.singleShot(0, application, lambda: leave(status)))
    awake = ticking(application, 200, lambda: None)
    awake.start()
    window.show()
    if path is not None:
        QTimer.singleShot(0, window, lambda: window.open_path(path))
    elif sample:
        QTimer.singleShot(0, window, window.open_example)
    else:
        get_ready(window)
    status = application.exec()
    status = asked[-1] if asked else status
    the_processes().close()
    scratch.clear()
    # An uninterruptible library call may still run on a worker: it must not hold up the exit.
    logging.shutdown()
    sys.stdout.flush()
    os._exit(status)


def get_ready(window: MainWindow) -> None:
    """Make, behind the start page that is seen, what a study will be worked on with."""
    loading = _load_the_rest()

    def look() -> None:
        if loading.ended:
            waiting.stop()
            assert window.workplace

    waiting = ticking(window, 50, look)
    waiting.start()


@functools.cache
def _load_the_rest() -> Job[None, None]:
    """Load the methods, the compiler and what this thread computes with it, before a window waits.

    Nothing of Qt: what is not on its own thread would be in its way.
    """

    def load(_post: object) -> None:
        from aucstudio.engine import METHODS, inference

        assert all(METHODS.values())
        inference.pauc_interval([0, 0, 1, 1], [0.1, 0.3, 0.2, 0.4], 0.0, 0.5)

    job: Job[None, None] = Job(load)
    job.start()
    return job


def _follow_desktop() -> None:
    for window in the_windows().open[:1]:
        window.follow_desktop()


def _show_uncaught_errors() -> None:
    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        windows = the_windows().open
        if isinstance(error, DamagedError) and error.run is not None:
            holding = [one for one in windows if error.run in one.session.records]
            for window in holding:
                window.session.files.leave_out({error.run: str(error)})
            if holding:
                return
        details = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write(details)
        # The one that a person looks at, else the first.
        active = [one for one in windows if one.isActiveWindow()] or windows
        for window in active[:1]:
            window.messages.tell(f"Unexpected error: {error}", details)

    sys.excepthook = show
