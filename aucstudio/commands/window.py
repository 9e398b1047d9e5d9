"""Start the window. The only module of the commands that imports Qt."""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import sys
from pathlib import Path

from aucstudio.boundary import BAD_INPUT
from aucstudio.console import complain
from aucstudio.project import scratch
from aucstudio.project.work import signals


def run(options: argparse.Namespace) -> int:
    """Open the window on a file, on a sample study or empty; returns the exit status."""
    if not _has_display():
        complain(
            "the window needs a display; aucstudio --help lists the commands that work without one"
        )
        return BAD_INPUT
    signals.end_at_once()  # until there is a window to close
    scratch.sweep()
    from aucstudio.project.work.processes import the_processes

    the_processes()  # get ready while the window does
    from aucstudio.gui.app import run_application

    return run_application(options.file, sample=options.sample)


def _has_display() -> bool:
    """Return whether Qt would find a screen; without one it would end the program by a signal."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def is_installed() -> bool:
    """Return whether there is Qt."""
    return importlib.util.find_spec("PySide6") is not None


def save_pictures(project: Path, folder: Path) -> list[Path]:
    """Save a picture of each page of a project, and a report that shows them, without a display."""
    from aucstudio.gui.pictures import save_pictures

    return list(save_pictures(project, folder).values())


def painted(project: Path) -> tuple[int, int, int, int]:
    """Show a window on a project without a display.

    Returns
    -------
    width, height, runs, colours : int
        The size of its picture, how many runs it shows, and in how many colours.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtWidgets import QApplication

    from aucstudio.gui.app import create_window
    from aucstudio.gui.pictures import prepare, settle
    from aucstudio.project.work.processes import the_processes

    prepare("light")
    window = create_window(project)
    window.show()
    settle(window)
    shown = len(window.session.shown_runs())
    picture = window.grab().toImage()
    places = zip(range(0, picture.width(), 7), itertools.cycle(range(0, picture.height(), 11)))
    colours = {picture.pixel(*place) for place in places}
    window.close()
    QApplication.processEvents()
    the_processes().close()
    return picture.width(), picture.height(), shown, len(colours)
