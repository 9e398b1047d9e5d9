"""A file is written as plain rows in a process of its own, which may die without harm.

Libraries that read what others wrote may hold the interpreter, take any amount of memory, or end
the process over damaged bytes. Here that is a sentence about the file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from aucstudio.project.data.readers.format import Advance, Format, Wish, Written
from aucstudio.project.errors import InputError

Messages = queue.SimpleQueue[dict[str, Any] | None]

_LISTEN_SECONDS = 0.05
_MOST_OF_MEMORY = 0.7
_BASE_MEMORY, _TIMES_ITS_SIZE = 3_000_000_000, 200
# Ten times of what the slowest format takes.
_BASE_SECONDS, _BYTES_A_SECOND = 20, 50_000
_LONGEST = 200
_SERVE = "import sys; sys.path[:] = {path!r}; from {module} import serve; serve()"


def write_apart(form: Format, path: Path, target: Path, wish: Wish, tell: Advance) -> Written:
    """Write a file in another process; what ``tell`` raises ends that.

    Raises
    ------
    InputError
        If the file cannot be read, or reading it ended the process.
    """
    import psutil

    size = path.stat().st_size
    memory = int(_MOST_OF_MEMORY * psutil.virtual_memory().total)
    order = {
        "format": form.key,
        "path": str(path),
        "target": str(target),
        "wish": dataclasses.asdict(wish),
        # Damaged sizes can ask for anything: what is allowed goes by the size of the file.
        "memory": min(memory, _BASE_MEMORY + _TIMES_ITS_SIZE * size),
        "seconds": _BASE_SECONDS + size // _BYTES_A_SECOND,
    }
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE.format(path=sys.path, module=__name__)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="surrogateescape",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    said: Messages = queue.SimpleQueue()
    ear = threading.Thread(target=_hear, args=(process.stdout, said), daemon=True)
    try:
        ear.start()
        with contextlib.suppress(OSError):  # it is gone, and says so by saying nothing
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
        answer = _answer(said, tell)
    finally:
        process.kill()
        process.wait()
        ear.join()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
    return _understood(answer, form, path)


def _answer(said: Messages, tell: Advance) -> dict[str, Any]:
    """Wait for the last word; an empty one if the process ended without."""
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


def _understood(answer: dict[str, Any], form: Format, path: Path) -> Written:
    if "written" in answer:
        fields = answer["written"]
        tuples = {k: tuple(v) for k, v in fields.items() if isinstance(v, list)}
        return Written(**{**fields, **tuples})
    if "refused" in answer:
        raise InputError(**answer["refused"])
    if answer.get("memory") or not answer:
        raise InputError(
            f"{path} cannot be read as {form.title}: it is damaged, or takes more memory or time "
            "than a table of its size should",
            file=str(path),
        )
    raise damaged(path, form, answer["failed"])


def damaged(path: Path, form: Format, reason: str) -> InputError:
    """Make the sentence for a file over which a library failed."""
    return InputError(
        f"{path} cannot be read as {form.title}; it may be damaged ({brief(reason)})",
        file=str(path),
    )


def brief(reason: str) -> str:
    """Put what a library said on one line, not too long."""
    line = " ".join(reason.split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"


# ------------------------------------------------------------- in the other process


def serve() -> None:
    """Carry out the order that comes in on the standard input; ends with whoever gave it."""
    from aucstudio.project.data.readers.registry import BY_KEY

    out = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogateescape")
    os.dup2(2, 1)  # what a library prints is no answer
    source = os.fdopen(os.dup(0), encoding="utf-8", errors="surrogateescape")
    order = json.loads(source.readline())
    threading.Thread(target=_end_with, args=(source,), daemon=True).start()
    _limit(order["memory"], order["seconds"])

    def say(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    last = 0.0

    def tell(share: float) -> None:
        nonlocal last
        if share >= last + 0.01:
            last = share
            say({"share": share})

    write = BY_KEY[order["format"]].write
    assert write is not None
    try:
        written = write(Path(order["path"]), Path(order["target"]), Wish(**order["wish"]), tell)
        answer: dict[str, Any] = {"written": dataclasses.asdict(written)}
    except InputError as error:
        answer = {"refused": {"message": str(error), **vars(error)}}
    except MemoryError:
        answer = {"memory": True}
    except BaseException as error:  # noqa: BLE001  (also what a library raises as its panic)
        answer = {"failed": f"{error}" or type(error).__name__}
    say(answer)
    os._exit(0)


def _end_with(source: IO[str]) -> None:
    source.read()
    os._exit(1)


def _limit(memory: int, seconds: int) -> None:
    if sys.platform != "win32":
        import resource

        limits = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_CPU: seconds,
            resource.RLIMIT_AS: memory,
        }
        for limit, most in limits.items():
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(limit, (most, most))
