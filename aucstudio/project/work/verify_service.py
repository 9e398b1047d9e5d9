"""What runs in a process that verifies one run: told of as it goes, and ended with its owner."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import IO, Any

from aucstudio.project.runs.execute import failure_sentence
from aucstudio.project.runs.verification import verify_run
from aucstudio.project.work.parcels import receive, send
from aucstudio.project.work.threads import limit_threads

TELL_SECONDS = 0.1


def serve() -> None:
    """Verify the run that is ordered: send (stage, share) at times, then a result or a sentence."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    record, split = receive(sys.stdin.buffer)
    threading.Thread(target=_end_with, args=(sys.stdin.buffer,), daemon=True).start()
    said = 0.0

    def tell(stage: str, share: float) -> None:
        nonlocal said
        if time.monotonic() - said > TELL_SECONDS:
            said = time.monotonic()
            send(answers, (stage, share))

    limit_threads(max(1, (os.cpu_count() or 1) - 1))
    answer: Any
    try:
        answer = verify_run(record, split, tell)
    except Exception as error:  # noqa: BLE001  (whatever it was, the window must hear of it)
        answer = failure_sentence(error)
    send(answers, answer)


def _end_with(orders: IO[bytes]) -> None:
    """End where nobody waits any more."""
    orders.read(1)
    os._exit(0)
