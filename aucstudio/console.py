"""Output of the command line: results to standard output, messages to standard error.

Text never fails because of the terminal's encoding and never controls the terminal: names come from
files. :func:`guarded` turns any error of a command into one sentence and an exit status.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any, TextIO, cast

from aucstudio.project.errors import InputError
from aucstudio.project.work import signals

DONE, RUN_FAILED, BAD_INPUT = 0, 1, 2

# Settings of how a file is read: errors about them do not name the option, as the window shows
# the same text.
_READING = frozenset(
    (
        *("delimiter", "encoding", "decimal", "quote", "skip", "sheet", "missing", "limits"),
        *("strict", "written"),
    )
)

Progress = Callable[[float | None, str], None]

# What works a terminal, and what turns the direction of text round or ends its lines.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]"
)
_BAR = "{desc} [{bar:24}] {percentage:3.0f}% {postfix}"
_NO_BAR = "{desc} {postfix}"


class _State:
    """What lasts for one command."""

    quiet = False
    bar: Any = None


class OutputFailedError(Exception):
    """Standard output cannot be written; the cause is the error."""


class _Results:
    """Standard output whose failures can be distinguished from those of other files."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def buffer(self) -> _Results:
        """Standard output for bytes."""
        return _Results(self._stream.buffer)

    def write(self, what: str | bytes) -> int:
        if isinstance(what, str) and self._stream.isatty():
            what = _plain(what)
        try:
            return int(self._stream.write(what))
        except OSError as error:
            raise OutputFailedError from error

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            raise OutputFailedError from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Closed(io.TextIOBase):
    """Standard output that was closed before the program began; nothing can be written to it."""

    @property
    def buffer(self) -> _Closed:
        return self

    def write(self, _what: object) -> int:
        raise OSError(errno.EBADF, "it was closed before the program began")


@contextlib.contextmanager
def session(quiet: bool = False) -> Iterator[None]:
    """Make the streams ready for a command; ``quiet`` leaves out progress and notes."""
    _State.quiet, _State.bar = quiet, None
    before = sys.stdout, sys.stderr
    _occupy_streams()
    sys.stdout = cast("TextIO", _Results(_Closed() if before[0] is None else _ready(before[0])))
    sys.stderr = _ready(sys.stderr)
    try:
        yield
    finally:
        if _State.bar is not None:
            _State.bar.close()
        _State.quiet, _State.bar = False, None
        sys.stdout, sys.stderr = before


def _occupy_streams() -> None:
    """Open the null device in place of streams that are closed: a file would take their number."""
    for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            try:
                os.fstat(number)
            except OSError:
                nowhere = os.open(os.devnull, os.O_RDWR)
                if nowhere != number:
                    os.dup2(nowhere, number)
                    os.close(nowhere)


def _ready(stream: TextIO | None) -> TextIO:
    if stream is None:  # closed before we began
        return open(os.devnull, "w", encoding="utf-8")
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream


def drop_output() -> None:
    """Redirect standard output to nothing.

    What is left of it would end the interpreter in a trace.
    """
    with contextlib.suppress(OSError):  # a stream of a test is no file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def say(text: str) -> None:
    """Print a part of the result."""
    _clear_bar()
    sys.stdout.write(_plain(text) + "\n")


def say_json(document: Any) -> None:
    """Print one JSON document, in ASCII where the terminal knows no more."""
    _clear_bar()
    ascii_only = "utf" not in (sys.stdout.encoding or "utf-8").lower()
    # Written at once: of a wide table it would be written in millions of pieces.
    text = json.dumps(document, indent=2, ensure_ascii=ascii_only, allow_nan=False)
    # As JSON writes them itself: they mean the same to whoever reads the document.
    text = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    sys.stdout.write(text + "\n")


def complain(sentence: str) -> None:
    """Show what is wrong, in one line."""
    _clear_bar()
    # If nothing can be written, the exit status remains.
    with contextlib.suppress(OSError):
        sys.stderr.write(f"aucstudio: {_plain(' '.join(sentence.split()))}\n")


def note(sentence: str) -> None:
    """Show a remark unless quiet output was requested."""
    if not _State.quiet:
        complain(sentence)


def progress(title: str) -> Progress:
    """Make a bar on standard error; one that shows nothing if that is no terminal, or in quiet."""
    if _State.quiet or not sys.stderr.isatty():
        return lambda _fraction, _text: None
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # no thread that would move a bar without news
    bar = _State.bar = tqdm(
        total=1.0,
        desc=_plain(title),
        file=sys.stderr,
        leave=False,
        dynamic_ncols=True,
        bar_format=_BAR,
    )

    def show(fraction: float | None, text: str) -> None:
        bar.bar_format = _NO_BAR if fraction is None else _BAR
        bar.n = fraction or 0.0
        bar.set_postfix_str(_plain(text), refresh=False)
        if fraction == 1.0:
            bar.clear()
        else:
            bar.refresh()

    return show


def _clear_bar() -> None:
    if _State.bar is not None:
        _State.bar.clear()


def _plain(text: str) -> str:
    return _CONTROL.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


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
