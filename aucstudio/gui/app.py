"""The application: theme, uncaught errors, first window."""

from __future__ import annotations

import functools
import gc
import importlib
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
from aucstudio.gui.state.background import Turns, ticking
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.windows import the_windows
from aucstudio.project import scratch
from aucstudio.project.resources import resource_path
from aucstudio.project.store.project.database import DamagedError
from aucstudio.project.work import signals
from aucstudio.project.work.job import Job
from aucstudio.project.work.processes import the_processes

_MILLISECONDS = 1000


class Collector(QObject):
    """Collects garbage on the window's thread, by a timer in place of the automatic collector."""

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
        """Collect every generation, as after a window with its data has been deleted."""
        gc.unfreeze()
        gc.collect()
        self._keep()

    def _keep(self) -> None:
        # Collecting the objects of all libraries takes longer than a window may pause.
        self._modules = len(sys.modules)
        gc.freeze()


_SWITCH_SECONDS = 0.0005
# What the workplace needs, without and with Qt.
_PLAIN_LIBRARIES = (
    *("pydoc", "xml.etree.ElementTree"),
    *("aucstudio.project.data.preview", "aucstudio.project.results.calibration"),
)
_QT_LIBRARIES = (
    *("PySide6.QtCore", "PySide6.QtGui", "PySide6.QtWidgets"),
    *("pyqtgraph", "aucstudio.gui.common.view", "aucstudio.gui.exports", "aucstudio.gui.workplace"),
)


def make_application(theme: str | None = None) -> QApplication:
    """Return the running QApplication in the preferred style; make it if there is none."""
    running = QApplication.instance()
    application = running if isinstance(running, QApplication) else QApplication(sys.argv[:1])
    application.setApplicationName("AUC Studio")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("aucstudio")
    application.setWindowIcon(QIcon(str(resource_path("icons", "aucstudio.svg"))))
    # A frame switches hundreds of times between Python and Qt; each time another thread may hold
    # the interpreter for this long.
    sys.setswitchinterval(_SWITCH_SECONDS)
    chosen = preferences().now
    set_text_size(application, chosen.text_size)
    apply_theme(application, theme or chosen.theme)
    return application


def create_window(path: str | Path | None = None) -> MainWindow:
    """Make the main window on the running QApplication and open a file if one is given.

    All pages are made at once, so that every control can be found by its name.
    """
    make_application()
    _load_the_rest()
    window = MainWindow(the_processes())
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
        # The last window that closes may end the loop before the status is set.
        asked.append(status)
        for one in list(the_windows().open):
            one.leave()
        application.exit(status)  # even if a dialog is open

    # Ctrl+C in a shell closes the windows. A signal interrupts Python even while it is painting,
    # so the windows close in a later turn of the event loop.
    signals.handle_signals(lambda status: QTimer.singleShot(0, application, lambda: leave(status)))
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
    # An uninterruptible library call on a thread must not delay the exit.
    logging.shutdown()
    sys.stdout.flush()
    os._exit(status)


def get_ready(window: MainWindow) -> None:
    """Make the workplace while the start page is shown."""
    loading, turns = _load_the_rest(), Turns(window)

    def look() -> None:
        if loading.ended:
            waiting.stop()
            loads = (functools.partial(_load_classes, library) for library in _QT_LIBRARIES)
            turns.ask(*loads, window.begin_workplace)

    waiting = ticking(window, 50, look)
    waiting.start()


def _load_classes(library: str) -> None:
    """Load a library; PySide makes a class at its first use, and pyqtgraph uses all of them."""
    loaded = importlib.import_module(library)
    assert all(hasattr(loaded, name) for name in dir(loaded))


@functools.cache
def _load_the_rest() -> Job[None, None]:
    """Load the methods and the compiler on a thread; Qt may be loaded on the main one only."""

    def load(_post: object) -> None:
        from aucstudio.engine import METHODS, inference

        for library in _PLAIN_LIBRARIES:
            importlib.import_module(library)
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
        # The active window shows the error, or the first one.
        active = [one for one in windows if one.isActiveWindow()] or windows
        for window in active[:1]:
            window.messages.add(f"Unexpected error: {error}", details)

    sys.excepthook = show
