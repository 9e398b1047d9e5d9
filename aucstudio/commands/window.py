"""Start the window."""

from __future__ import annotations

import argparse
import os
import sys

from aucstudio.console import BAD_INPUT, complain
from aucstudio.project import scratch
from aucstudio.project.work import signals


def run(options: argparse.Namespace) -> int:
    """Open the window on a file, on an example study or empty; return the exit status."""
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
    """Return whether Qt finds a screen; without one it ends the program by a signal."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
