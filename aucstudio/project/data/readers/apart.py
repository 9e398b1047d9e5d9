"""Every file of a foreign format is written as plain rows in a process of its own.

Libraries that read what others wrote may hold the interpreter, take any amount of memory, or end
the process over damaged bytes. Here each of these becomes a sentence about the file, under the
limits of :mod:`aucstudio.project.inputs`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import importlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from aucstudio.project.child_process import child_command
from aucstudio.project.data.readers.format import PARQUET, Advance, Format, Wish, Written
from aucstudio.project.data.readers.rows import brief
from aucstudio.project.errors import InputError
from aucstudio.project.inputs import Limits, limits_of
from aucstudio.project.words import bytes_words

Messages = queue.SimpleQueue[dict[str, Any] | None]

_LISTEN_SECONDS = 0.05
_ENDING_SECONDS = 2.0
# What libraries call running out of memory; DuckDB has a class of its own.
_NO_MEMORY = ("MemoryError", "OutOfMemoryException")


def write_apart(form: Format, path: Path, target: Path, wish: Wish, tell: Advance) -> Written:
    """Write a file in another process; an exception from ``tell`` ends the process.

    Raises
    ------
    InputError
        If the file cannot be read, or reading it exceeded a limit or ended the process.
    """
    assert form.write is not None
    limits = limits_of(path.stat().st_size)
    order = {
        "module": form.write.__module__,
        "format": form.key,
        "path": str(path),
        "target": str(target),
        "wish": dataclasses.asdict(wish),
        "limits": dataclasses.asdict(limits),
    }
    process = subprocess.Popen(
        child_command(__name__),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="surrogateescape",
        # What a terminal's keys send is for the program alone, which then ends this process.
        process_group=None if sys.platform == "win32" else 0,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    said: Messages = queue.SimpleQueue()
    ear = threading.Thread(target=_hear, args=(process.stdout, said), daemon=True)
    try:
        ear.start()
        with contextlib.suppress(OSError):  # it has ended, which the end of its answers reports
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
        answer = _answer(said, tell)
        if not answer:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_ENDING_SECONDS)
    finally:
        process.kill()
        process.wait()
        ear.join()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
    return _understood(answer, process.returncode, limits, form, path)


def _answer(said: Messages, tell: Advance) -> dict[str, Any]:
    """Wait for the last message; an empty one if the process ended without."""
    share = 0.0
    while True:
        tell(share)
        try:
            message = said.get(timeout=_LISTEN_SECONDS)
        except queue.Empty:
            continue
        if message is None:
            return {}
        if "share" not in message:
            return message
        share = float(message["share"])


def _hear(pipe: IO[str], said: Messages) -> None:
    with contextlib.suppress(ValueError, OSError):
        for line in pipe:
            said.put(json.loads(line))
    said.put(None)


def _understood(
    answer: dict[str, Any], status: int, limits: Limits, form: Format, path: Path
) -> Written:
    if "written" in answer:
        fields = answer["written"]
        tuples = {k: tuple(v) for k, v in fields.items() if isinstance(v, list)}
        return Written(**{**fields, **tuples})
    if "refused" in answer:
        raise InputError(**answer["refused"])
    if "failed" in answer:
        raise damaged(path, form, answer["failed"])
    raise InputError(
        f"{path} cannot be read as {form.title}: {_why_ended(answer, status, limits)}",
        file=str(path),
    )


def _why_ended(answer: dict[str, Any], status: int, limits: Limits) -> str:
    """Return why a reader ended without a result."""
    if "memory" in answer:
        return (
            f"reading it takes more than {bytes_words(limits.memory)} of memory, as no table of "
            "its size should; it may be damaged"
        )
    if "large" in answer:
        return f"it unpacks to {bytes_words(limits.written)} or more, as no table does"
    if status == -getattr(signal, "SIGXCPU", 0):
        return (
            f"reading it takes more than {limits.seconds} s of processor time, as no table of its "
            "size should; it may be damaged, or hold a view that never ends"
        )
    if status == -getattr(signal, "SIGKILL", 0):
        return "the process that read it was ended; there may not be enough memory"
    return "it is damaged: the library that reads it failed over its bytes"


def damaged(path: Path, form: Format, reason: str) -> InputError:
    """Make the sentence for a file over which a library failed."""
    return InputError(
        f"{path} cannot be read as {form.title}; it may be damaged ({brief(reason)})",
        file=str(path),
    )


# ------------------------------------------------------------- in the other process


def serve() -> None:
    """Carry out the order on the standard input; end with the process that sent it."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogateescape")
    os.dup2(2, 1)  # what a library prints is no answer
    source = os.fdopen(os.dup(0), encoding="utf-8", errors="surrogateescape")
    order = json.loads(source.readline())
    threading.Thread(target=_end_with, args=(source,), daemon=True).start()
    limits = Limits(**order["limits"])
    _limit(limits)

    def send(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    last = 0.0

    def tell(share: float) -> None:
        nonlocal last
        if share >= last + 0.01:
            last = share
            send({"share": share})

    send(_carried_out(order, limits, tell))
    os._exit(0)


def _carried_out(order: dict[str, Any], limits: Limits, tell: Advance) -> dict[str, Any]:
    """Write the file; return the answer."""
    path, wish = order["path"], Wish(**order["wish"])
    try:
        formats = importlib.import_module(order["module"]).FORMATS
        write = next(form.write for form in formats if form.key == order["format"])
        target = Path(order["target"])
        written = write(Path(path), target, wish, tell)
        if written.kind == PARQUET:
            from aucstudio.project.data.readers.parquet_file import refuse_long_texts

            refuse_long_texts(target if target.exists() else Path(path), target.parent, limits)
        return {"written": dataclasses.asdict(written)}
    except InputError as error:
        sentence = str(error).replace(order["target"], path)
        return {"refused": {"message": sentence, **vars(error), "file": path}}
    except EOFError:
        return {"failed": "its end is missing"}
    except LookupError as error:
        if not wish.encoding:
            return {"failed": str(error)}
        sentence = f"unknown encoding {wish.encoding!r}; use a name such as utf-8 or cp1252"
        return {"refused": {"message": sentence, "setting": "encoding"}}
    except RecursionError:
        return {"failed": "it is nested too deeply"}
    except OSError as error:
        return {"large": True} if error.errno == errno.EFBIG else {"failed": str(error)}
    except BaseException as error:  # noqa: BLE001  (also what a library raises as its panic)
        if type(error).__name__ in _NO_MEMORY:
            return {"memory": True}
        return {"failed": f"{error}" or type(error).__name__}


def _end_with(source: IO[str]) -> None:
    source.read()
    os._exit(1)


def _limit(limits: Limits) -> None:
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
            # The first limit ends the process by a signal of its own, which tells why.
            resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds + 5))
