"""Child processes that run a service of this program: how they are started, and how they end.

Everything that starts the program a second time uses :func:`child_command`. A packaged program has
no interpreter beside it, and ``sys.executable`` is the program itself: a child that were started as
``sys.executable -c`` would open a second window.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

CHILD_OPTION = "--run-child-process"
"""First argument of a packaged program that is to run a service and nothing else."""

_PACKAGE = __name__.split(".")[0]
_PR_SET_PDEATHSIG = 1


def child_command(service: str, parent: int = 0) -> list[str]:
    """Return the command that runs ``serve()`` of a module in a new process.

    Parameters
    ----------
    service : str
        Full name of a module of this program.
    parent : int
        Process id. The child is killed when the thread of that process that started it ends; 0 if
        the child ends in another way.
    """
    if getattr(sys, "frozen", False):
        return [_packaged_program(), CHILD_OPTION, service, str(parent)]
    arguments = [service, str(parent)]
    code = f"import sys; sys.path[:] = {sys.path!r}; import {__name__} as c; c.serve({arguments!r})"
    return [sys.executable, "-c", code]


def _packaged_program() -> str:
    # On Windows the program for the desktop has no standard streams; the one beside it does.
    program = Path(sys.executable)
    console = program.with_name(_PACKAGE + program.suffix)
    return str(console if console.is_file() else program)


def serve(arguments: Sequence[str]) -> None:
    """Run a service in this process.

    Parameters
    ----------
    arguments : sequence of str
        Module and parent, as :func:`child_command` passes them.

    Raises
    ------
    ValueError
        If they do not name a module of this program.
    """
    service, parent = arguments
    if not service.startswith(f"{_PACKAGE}."):
        raise ValueError(f"{service!r} is not a module of this program")
    if int(parent):
        end_with(int(parent))
    importlib.import_module(service).serve()


def end_with(parent: int) -> None:
    """Have this process killed when the thread that started it ends.

    Where the system cannot do that, the end of the standard input ends the process.

    Parameters
    ----------
    parent : int
        The process that started this one.
    """
    # The terminal's Ctrl+C is for the program that started this one, which then ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(0)  # the parent ended before the call above
