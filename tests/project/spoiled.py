"""Faults that a test plants in a training process before it serves."""

import sys

from aucstudio.engine import METHODS
from aucstudio.project import child_process


def no_memory_for_the_end():
    """Run out of memory at the last message of a run."""
    send = child_process.send

    def fail_at_the_end(stream, thing):
        if thing.ended:
            raise MemoryError
        send(stream, thing)

    child_process.send = fail_at_the_end


def no_memory_for_an_order():
    """Run out of memory while an order is read."""

    def fail(_stream):
        raise MemoryError

    child_process.receive = fail


def a_bug_in_sending():
    """Fail unexpectedly at each message."""

    def fail(_stream, _thing):
        raise KeyError("nobody thought of that")

    child_process.send = fail


def gibberish():
    """Write an invalid message and end."""

    def fail(stream, _thing):
        stream.write(b"gibberish")
        stream.flush()
        sys.stdout.flush()
        raise EOFError

    child_process.send = fail


def no_memory_for_fits():
    """Run out of memory in a fit."""

    def fail(*_arguments):
        raise MemoryError

    METHODS["auc-rls"]._fit = fail
