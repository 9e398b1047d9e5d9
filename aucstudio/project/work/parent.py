"""The end of a process with the one that started it, whatever it is doing."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """Have this process killed when the thread that started it is gone.

    Where the system cannot do that, the end of standard input has to do.

    Parameters
    ----------
    parent : int
        The process that started this one.
    """
    # The terminal's Ctrl+C is for the program that started this one, and that will end it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(0)  # it was gone before that
