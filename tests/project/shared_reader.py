"""One process that reads the foreign files of all tests, instead of one process a file.

Starting a reader takes longer than reading a small file. Only the start is saved: calls, answers,
limits of memory and written bytes, and the report of a crash are those of the program.
"""

import dataclasses
import functools
import os
import threading

from aucstudio.project import child_process
from aucstudio.project.data.input_files import limits_of
from aucstudio.project.data.readers import isolated

_SECONDS_OF_ALL_TESTS = 3_600


class SharedReader:
    """Takes the place of ``child_process.call`` in the module of the readers."""

    def __init__(self):
        self._limits = limits_of(0)
        self._child = None
        self._lock = threading.Lock()

    def __call__(self, function, arguments, report, stop, *, prepare, quiet, allowed):
        """Call a reader; in a process of its own if a test lowers a limit or the path is relative.

        The shared process has a working folder of its own.
        """
        (limits,) = prepare.args
        pairs = zip(*map(dataclasses.astuple, (limits, self._limits)), strict=True)
        if any(given < default for given, default in pairs) or not os.path.isabs(arguments[1]):
            return child_process.call(
                function, arguments, report, stop, prepare=prepare, quiet=quiet, allowed=allowed
            )
        with self._lock:
            if self._child is None or not self._child.alive:
                self._child = self._start(prepare.func, quiet, allowed)
            try:
                return self._child.call(function, arguments, report, stop)
            except BaseException as error:
                if isinstance(error, MemoryError) or not isinstance(error, allowed):
                    self.close()  # the process may still be working
                raise

    def _start(self, limit, quiet, allowed):
        limits = dataclasses.replace(self._limits, seconds=_SECONDS_OF_ALL_TESTS)
        prepare = functools.partial(limit, limits)
        return child_process.ChildProcess(isolated.__name__, prepare, quiet=quiet, allowed=allowed)

    def close(self):
        """End the process."""
        if self._child is not None:
            self._child.close()
            self._child = None
