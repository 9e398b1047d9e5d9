"""Turn any error into one sentence and an exit status."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

from aucstudio.console import OutputFailedError, complain, drop_output
from aucstudio.project.errors import InputError
from aucstudio.project.work import signals

DONE, RUN_FAILED, BAD_INPUT = 0, 1, 2

# Settings of how a file is read: errors about them do not name the option, as the window shows
# the same text.
_READING = frozenset(
    ("delimiter", "encoding", "decimal", "quote", "skip", "sheet", "missing", "strict", "written")
)


def guarded(command: Callable[[], int], debug: bool) -> int:
    """Run a command; return its exit status or that of its error.

    Parameters
    ----------
    command : callable
    debug : bool
        Whether to print the trace of what was raised.
    """
    try:
        try:
            status = command()
        finally:
            sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001  (the one place that lets nothing through)
        if debug and not isinstance(error, SystemExit):
            traceback.print_exception(error)
        status = _explained(error)
    return status


def _explained(error: BaseException) -> int:
    if isinstance(error, OutputFailedError):
        return _without_output(error.__cause__)
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else BAD_INPUT
    if isinstance(error, KeyboardInterrupt):
        return signals.exit_status()
    from aucstudio.engine.params import InvalidSetting  # not before: it loads numpy

    if isinstance(error, InputError | InvalidSetting):
        complain(_with_option(str(error), error.setting or ""))
        return BAD_INPUT
    if isinstance(error, MemoryError):
        complain(
            "there is not enough memory for this; close other programs, or keep the table on "
            "disk (--stream)"
        )
        return RUN_FAILED
    if isinstance(error, OSError) and error.filename is not None:
        complain(f"cannot use {os.fsdecode(error.filename)}: {_reason(error)}")
        return BAD_INPUT
    complain(
        f"unexpected error: {type(error).__name__}: {error}; run again with --debug to see the "
        "traceback"
    )
    return RUN_FAILED


def _with_option(text: str, setting: str) -> str:
    """Append the option that sets how a file is read, where the text is about that."""
    option = f"--{setting}"
    return f"{text} ({option})" if setting in _READING and option not in text else text


def _without_output(error: BaseException | None) -> int:
    drop_output()
    if isinstance(error, BrokenPipeError) or not isinstance(error, OSError):
        return DONE  # whoever read our output has seen enough
    complain(f"cannot write to the standard output: {_reason(error)}")
    return BAD_INPUT


def _reason(error: OSError) -> str:
    reason = error.strerror or str(error)
    return reason[:1].lower() + reason[1:]
