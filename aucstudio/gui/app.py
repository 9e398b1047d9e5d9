"""The application: theme, uncaught errors, the one window."""

from __future__ import annotations

import functools
import logging
import os
import sys
import traceback
from pathlib import Path
from types import TracebackType

import pyqtgraph as pg
from PySide6.QtCore import QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from aucstudio import __version__
from aucstudio.engine import inference
from aucstudio.gui.common import prompts
from aucstudio.gui.common.theme import apply_theme
from aucstudio.gui.main_window import MainWindow
from aucstudio.gui.state.timers import ticking
from aucstudio.project import scratch
from aucstudio.project.resources import resource_path
from aucstudio.project.store.project.sealed import DamagedError
from aucstudio.project.work import signals
from aucstudio.project.work.job import Job
from aucstudio.project.work.place import Place
from aucstudio.project.work.processes import the_processes

_SWITCH_SECONDS = 0.0005


def make_application(theme: str = "system") -> QApplication:
    """Give the running QApplication, made and dressed if need be."""
    running = QApplication.instance()
    application = running if isinstance(running, QApplication) else QApplication(sys.argv[:1])
    application.setApplicationName("AUC Studio")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("aucstudio")
    application.setWindowIcon(QIcon(str(resource_path("icons", "aucstudio.svg"))))
    pg.setConfigOptions(antialias=True)
    # Painting crosses between Python and Qt hundreds of times a frame; at each crossing a worker
    # may take the interpreter for this long.
    sys.setswitchinterval(_SWITCH_SECONDS)
    apply_theme(application, theme)
    return application


def create_window(path: str | Path | None = None, place: Place | None = None) -> MainWindow:
    """Make the main window on the running QApplication, open on a file if one is given.

    Parameters
    ----------
    path : str or Path, optional
    place : Place, optional
        Where runs are made; without it, the processes that all windows have in common.
    """
    make_application()
    _get_ready_to_compare()
    window = MainWindow(place or the_processes())
    if path is not None:
        window.open_path(path)
    return window


def run_application(path: str | None = None, *, sample: bool = False) -> int:
    """Open the window and run until it is closed; gives the exit status."""
    application = make_application()
    window = create_window()
    application.styleHints().colorSchemeChanged.connect(lambda _scheme: window.follow_desktop())
    _show_uncaught_errors(window)

    def leave(status: int) -> None:
        window.close()
        application.exit(status)  # even if a dialog is open

    # A shell's Ctrl+C closes the window instead of being lost in the event loop.
    signals.call(leave)
    awake = ticking(window, 200, lambda: None)
    awake.start()
    window.show()
    if path is not None:
        QTimer.singleShot(0, lambda: window.open_path(path))
    elif sample:
        QTimer.singleShot(0, window.open_example)
    status = application.exec()
    the_processes().close()
    scratch.clear()
    # An uninterruptible library call may still run on a worker: it must not hold up the exit.
    logging.shutdown()
    sys.stdout.flush()
    os._exit(status)


@functools.cache
def _get_ready_to_compare() -> None:
    """Load the compiler and what this thread computes with it, before a window has to wait."""
    y, score = [0, 0, 1, 1], [0.1, 0.3, 0.2, 0.4]
    Job(lambda _post: inference.pauc_interval(y, score, 0.0, 0.5)).start()


def _show_uncaught_errors(window: MainWindow) -> None:
    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, DamagedError) and error.run in window.session.records:
            window.session.leave_out({error.run: str(error)})
            return
        details = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write(details)
        prompts.show_error(window, f"Something went wrong that should not have: {error}", details)

    sys.excepthook = show
