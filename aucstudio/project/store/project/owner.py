"""Who is training a run: a process that can be asked whether it lives."""

from __future__ import annotations

import datetime
import os
import secrets
import socket
import time
from typing import Annotated

import msgspec
import psutil

_TOKEN = secrets.token_hex(8)
_CLOCK_SECONDS = 2.0  # by which two readings of when a process began may differ
_FOREIGN_SECONDS = 7 * 24 * 3600.0


class Owner(msgspec.Struct, frozen=True):
    """A process.

    Attributes
    ----------
    pid : int
    started : float
        When the process began; numbers of processes are used again.
    host, token : str
        Where it runs, and what it alone knows.
    since : float
        When it began the run.
    """

    pid: Annotated[int, msgspec.Meta(gt=0, lt=1 << 31)]
    started: float
    host: Annotated[str, msgspec.Meta(max_length=255)]
    token: Annotated[str, msgspec.Meta(max_length=64)]
    since: float

    @classmethod
    def this(cls) -> Owner:
        """Give this very process."""
        pid = os.getpid()
        started = psutil.Process(pid).create_time()
        return cls(pid, started, socket.gethostname(), f"{_TOKEN}-{pid}", time.time())

    def key(self, run: str) -> str:
        """Name its entry of a run."""
        return f"{self.token}:{run}"

    @property
    def is_this(self) -> bool:
        """Whether it is this very process."""
        return self.token == f"{_TOKEN}-{os.getpid()}"

    def lives(self) -> bool:
        """Tell whether the process is there; one on another machine is believed for a week."""
        if self.is_this:
            return True
        if self.host != socket.gethostname():
            return 0 <= time.time() - self.since < _FOREIGN_SECONDS
        try:
            began: float = psutil.Process(self.pid).create_time()
        except psutil.NoSuchProcess:
            return False
        except psutil.Error:
            return True
        return abs(began - self.started) < _CLOCK_SECONDS

    def describe(self) -> str:
        """Say who it is and since when."""
        try:
            began = datetime.datetime.fromtimestamp(self.since).strftime("%Y-%m-%d %H:%M")
        except (OverflowError, OSError, ValueError):
            began = "long ago"
        here = "" if self.host == socket.gethostname() else f" on {self.host}"
        return f"process {self.pid}{here}, since {began}"
