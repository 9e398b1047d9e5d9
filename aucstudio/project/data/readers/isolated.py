"""Read foreign formats in a child process.

Libraries that read foreign files may hold the interpreter, take any amount of memory, or crash the
process. Here each of these becomes an error that names the file, within the limits of
:mod:`aucstudio.project.data.input_files`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import importlib
import signal
import sys
from pathlib import Path

from aucstudio.notices.words import bytes_words
from aucstudio.project.child_process import CallReporter, ChildEndedError, call
from aucstudio.project.data.finding import Finding, phrase
from aucstudio.project.data.input_files import InputLimits, limits_of
from aucstudio.project.data.readers.conversion import brief
from aucstudio.project.data.readers.formats import Advance, Format, ReadOptions, Written
from aucstudio.project.errors import InputError, input_error

# Exceptions of libraries that run out of memory; DuckDB has its own class.
_NO_MEMORY = ("MemoryError", "OutOfMemoryException")


class _DamagedError(Exception):
    """A library failed to read the file; the message has the reason."""


class _TooLargeError(Exception):
    """The file unpacks to more than the limit."""


_ANSWERS = (Written, Finding, InputError, _DamagedError, _TooLargeError, MemoryError, RuntimeError)


def write_apart(
    form: Format, path: Path, target: Path, options: ReadOptions, report: Advance
) -> Written:
    """Convert a file in another process; an exception of ``report`` ends the process.

    Raises
    ------
    InputError
        If the file cannot be read, or reading it exceeded a limit or ended the process.
    """
    limits = limits_of(path.stat().st_size)
    last = 0.0

    def advance(share: float) -> None:
        nonlocal last
        last = share

    def poll() -> bool:
        report(last)
        return False

    arguments = form.writer, path, target, dataclasses.replace(options, most=limits.written)
    prepare = functools.partial(_limit, limits)
    try:
        written: Written = call(
            _write, arguments, advance, poll, prepare=prepare, quiet=True, allowed=_ANSWERS
        )
    except _DamagedError as error:
        raise damaged(path, form, str(error)) from error
    except (ChildEndedError, MemoryError, _TooLargeError) as error:
        why = _why_ended(error, limits)
        raise input_error("format_unreadable", file=path, title=form.title, why=why) from error
    return written


def _why_ended(error: Exception, limits: InputLimits) -> str:
    """Return why a reader ended without a result."""
    status = error.status or 0 if isinstance(error, ChildEndedError) else 0
    if isinstance(error, MemoryError) or (isinstance(error, ChildEndedError) and error.no_memory):
        return phrase("reader_memory", memory=bytes_words(limits.memory))
    if isinstance(error, _TooLargeError):
        return phrase("reader_disk", written=bytes_words(limits.written))
    if status == -getattr(signal, "SIGXCPU", 0):
        return phrase("reader_time", seconds=limits.seconds)
    return phrase("reader_killed" if status == -getattr(signal, "SIGKILL", 0) else "reader_failed")


def damaged(path: Path, form: Format, reason: str) -> InputError:
    """Return the error for a file that a library failed to read."""
    return input_error("file_damaged", file=path, title=form.title, reason=brief(reason))


# ------------------------------------------------------------------ in the child process


def _write(
    writer: str, path: Path, target: Path, options: ReadOptions, report: CallReporter
) -> Written:
    """Convert a file; exceptions of libraries become one of a few errors."""
    last = 0.0

    def advance(share: float) -> None:
        nonlocal last
        if share >= last + 0.01:
            last = share
            report(share)

    try:
        module, function = writer.split(":")
        write = getattr(importlib.import_module(f"{__package__}.{module}"), function)
        written: Written = write(path, target, options, advance)
    except InputError as error:
        raise error.renamed(target, path, path) from None
    except EOFError:
        raise _DamagedError("its end is missing") from None
    except LookupError as error:
        if not options.encoding:
            raise _DamagedError(str(error)) from None
        raise input_error("encoding_unknown", encoding=options.encoding) from None
    except RecursionError:
        raise _DamagedError("it is nested too deeply") from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise _TooLargeError from None
        raise _DamagedError(str(error)) from None
    except BaseException as error:  # noqa: BLE001  (also panics of libraries)
        if type(error).__name__ in _NO_MEMORY:
            raise MemoryError from None
        raise _DamagedError(f"{error}" or type(error).__name__) from None
    return written


def _limit(limits: InputLimits) -> None:
    if sys.platform != "win32":
        import resource

        for limit, most in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_AS, limits.memory),
            (resource.RLIMIT_FSIZE, limits.written),
        ):
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(limit, (most, most))
        with contextlib.suppress(ValueError, OSError):
            # The soft limit sends a signal of its own, by which the reason is known.
            resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds + 5))
