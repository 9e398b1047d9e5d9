"""Verifying a run beside the window: in a process of its own, for cvxopt holds the interpreter."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
from collections.abc import Callable
from typing import IO, Any

from aucstudio.engine.monitor import Stopped
from aucstudio.project.errors import InputError
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.verification import Verification, verify_run
from aucstudio.project.work import verify_service
from aucstudio.project.work.parcels import receive, send
from aucstudio.project.work.processes import start_service

Post = Callable[[tuple[str, float]], bool]

_LISTEN_SECONDS = 0.05


def verify_beside(record: RunRecord, split: int, post: Post) -> Verification:
    """Verify one split of a run; called on a thread of the window's.

    Parameters
    ----------
    record : RunRecord
    split : int
        From 0.
    post : callable
        Called with what is being done and how far it is; answers whether to stop.

    Raises
    ------
    InputError
        If it cannot be verified: its table is gone, has changed, or does not fit.
    Stopped
    """
    try:
        process = start_service(verify_service)
    except (OSError, RuntimeError):
        process = None
    if process is None:
        return verify_run(record, split, _teller(post))
    assert process.stdin is not None
    assert process.stdout is not None
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
    hearing = threading.Thread(target=_hear, args=(process.stdout, answers), daemon=True)
    try:
        hearing.start()
        with contextlib.suppress(OSError):  # it is gone, and the end of its answers says so
            send(process.stdin, (record, split))
        return _wait(process, answers, post)
    finally:
        process.kill()
        process.wait()
        hearing.join()
        with contextlib.suppress(OSError):
            process.stdin.close()


def _teller(post: Post) -> Callable[[str, float], None]:
    def tell(stage: str, share: float) -> None:
        if post((stage, share)):
            raise Stopped("verification")

    return tell


def _wait(
    process: subprocess.Popen[bytes], answers: queue.SimpleQueue[Any], post: Post
) -> Verification:
    told = "starting", 0.0
    while True:
        if post(told):
            raise Stopped("verification")
        with contextlib.suppress(queue.Empty):
            answer = answers.get(timeout=_LISTEN_SECONDS)
            if isinstance(answer, Verification):
                return answer
            if isinstance(answer, str):
                raise InputError(answer)
            if answer is None:
                raise InputError(
                    f"the process that verified ended unexpectedly (exit status {process.wait()}): "
                    "there may not be enough memory"
                )
            told = answer


def _hear(pipe: IO[bytes], answers: queue.SimpleQueue[Any]) -> None:
    with contextlib.suppress(EOFError, OSError), pipe:
        while True:
            answers.put(receive(pipe))
    answers.put(None)
