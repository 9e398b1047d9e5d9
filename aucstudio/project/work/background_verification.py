"""Verifying a run beside the window: in a child process, because cvxopt holds the interpreter."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable

from aucstudio.engine.monitor import Stopped
from aucstudio.project.child_process import ChildProcess
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import failure_sentence
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.side_by_side import limit_threads
from aucstudio.project.runs.verification import Verification, verify_run

Post = Callable[[tuple[str, float]], bool]


def verify_in_background(record: RunRecord, split: int, post: Post) -> Verification:
    """Verify one split of a run; called on a thread of the window's.

    Parameters
    ----------
    record : RunRecord
    split : int
        From 0.
    post : callable
        Called with what is being done and how far it is; returns whether to stop.

    Raises
    ------
    InputError
        If it cannot be verified: its table is gone, has changed, or does not fit.
    Stopped
    """
    last = "starting", 0.0

    def report(stage: str, share: float) -> None:
        nonlocal last
        last = stage, share

    def tell(stage: str, share: float) -> None:
        if post((stage, share)):
            raise Stopped("verification")

    prepare = functools.partial(limit_threads, max(1, (os.cpu_count() or 1) - 1))
    try:
        child = ChildProcess(verify_run.__module__, prepare)
    except (OSError, RuntimeError):
        return verify_run(record, split, tell)
    with child:
        try:
            found: Verification = child.call(
                verify_run, (record, split), report, kill=lambda: post(last)
            )
        except (InputError, Stopped):
            raise
        except Exception as error:
            raise InputError(failure_sentence(error)) from error
        return found
