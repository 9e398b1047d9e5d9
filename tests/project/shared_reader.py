"""One process that reads the foreign files of all tests, instead of one process a file.

Starting a reader takes longer than reading a small file. Only the start is saved: calls, answers,
limits of memory and written bytes, and the report of a crash are those of the program.
"""

import functools
import os

from aucstudio.project import child_process
from aucstudio.project.data.input_files import InputLimits, limits_of
from aucstudio.project.data.readers import isolated
from aucstudio.project.errors import InputError

_ALL_TESTS_SECONDS = 3_600
_OF_THE_FUNCTION = (InputError, isolated._DamagedError, isolated._TooLargeError, RuntimeError)


class SharedReader:
    """Takes the place of ``child_process.call`` in the module of the readers."""

    def __init__(self):
        usual = limits_of(0)
        self._limits = InputLimits(usual.memory, _ALL_TESTS_SECONDS, usual.written)
        self._least = usual
        self._child = None

    def __call__(self, function, arguments, report, stop, *, prepare, quiet, allowed):
        """Call a function of the readers, in a process of its own if the test lowers a limit."""
        (limits,) = prepare.args
        lowered = any(
            mine < its for mine, its in zip(*map(_figures, (limits, self._least)), strict=True)
        )
        if lowered or not os.path.isabs(arguments[1]):
            return child_process.call(
                function, arguments, report, stop, prepare=prepare, quiet=quiet, allowed=allowed
            )
        if self._child is None or not self._child.alive:
            limit = functools.partial(isolated._limit, self._limits)
            self._child = child_process.ChildProcess(
                isolated.__name__, limit, quiet=quiet, allowed=allowed
            )
        try:
            return self._child.call(function, arguments, report, stop)
        except _OF_THE_FUNCTION:
            raise
        except BaseException:  # the process may be at work still
            self.close()
            raise

    def close(self):
        """End the process."""
        if self._child is not None:
            self._child.close()
            self._child = None


def _figures(limits):
    return limits.memory, limits.seconds, limits.written
