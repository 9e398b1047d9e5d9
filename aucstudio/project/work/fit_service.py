"""What runs in the training process: experiments as they are ordered, told of as they go."""

from __future__ import annotations

import dataclasses
import os
import queue
import signal
import sys
import threading
import time
from typing import IO

from threadpoolctl import threadpool_limits

from aucstudio.engine import inference
from aucstudio.project.data.prepare import Preparation
from aucstudio.project.data.table import Table
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.record import RunRecord, SplitResult
from aucstudio.project.runs.watch import Progress
from aucstudio.project.work.parcels import receive, send

_BATCH_SECONDS = 0.01  # of thousands of steps a second, so many go together

Tables = tuple[Table, Table | None]


@dataclasses.dataclass(frozen=True, eq=False)
class Order:
    """An experiment, with its tables unless they are those of the order before."""

    experiment: Experiment
    tables: Tables | None


@dataclasses.dataclass(frozen=True, eq=False)
class Stop:
    """The wish that the run under way ends."""


@dataclasses.dataclass(frozen=True, eq=False)
class End:
    """A run has ended.

    Attributes
    ----------
    record : RunRecord
        Without its splits, all of which have been told of.
    kept : tuple of int
        Which of those are the record's.
    """

    record: RunRecord
    kept: tuple[int, ...]


Answer = list[Progress] | End
"""In a list, no preparation stands for the one before."""


def serve() -> None:
    """Run experiments until the one who orders them is gone."""
    # The terminal's Ctrl+C is for the program that started this one, and that will end it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    inbox, outbox = _Inbox(sys.stdin.buffer), _Outbox(answers)

    def tell(progress: Progress) -> bool:
        outbox.waiting.put(progress)
        return inbox.stop.is_set()

    _load_compiler()
    tables: Tables | None = None
    # One processor stays with the window.
    with threadpool_limits(max(1, (os.cpu_count() or 1) - 1)):
        while True:
            order = inbox.orders.get()
            tables = order.tables or tables
            assert tables is not None
            outbox.waiting.put(execute(order.experiment, *tables, tell))


def _load_compiler() -> None:
    """Load what the first run would otherwise wait for."""
    inference.pauc_interval([0, 0, 1, 1], [0.1, 0.3, 0.2, 0.4], 0.0, 0.5)


class _Inbox:
    """Reads orders, and whether the run under way is to stop."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self.stop = threading.Event()
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: IO[bytes]) -> None:
        while True:
            try:
                thing: Order | Stop = receive(stream)
            except EOFError:
                os._exit(0)  # whatever is trained, nobody waits for it
            if isinstance(thing, Stop):
                self.stop.set()
            else:
                # A stop that came too late for the run before is none for this one.
                self.stop.clear()
                self.orders.put(thing)


class _Outbox:
    """Sends what is told from a thread of its own: what trains does not wait for who reads."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.waiting: queue.SimpleQueue[Progress | RunRecord] = queue.SimpleQueue()
        self._stream = stream
        self._finished: list[SplitResult] = []
        self._preparation: Preparation | None = None
        threading.Thread(target=self._send, daemon=True).start()

    def _send(self) -> None:
        while True:
            things = [self.waiting.get()]
            while not self.waiting.empty():
                things.append(self.waiting.get())
            send(self._stream, self._brief([t for t in things if isinstance(t, Progress)]))
            # A record ends a run: nothing comes after it before it has been heard.
            if isinstance(things[-1], RunRecord):
                send(self._stream, self._ended(things[-1]))
            else:
                time.sleep(_BATCH_SECONDS)

    def _brief(self, told: list[Progress]) -> list[Progress]:
        """Leave out looks that have been overtaken, and what was sent before."""
        looks = [k for k, progress in enumerate(told) if progress.look is not None]
        brief = []
        for k, progress in enumerate(told):
            known = progress.preparation is self._preparation
            self._preparation = progress.preparation
            self._finished += [progress.finished] if progress.finished is not None else []
            brief.append(
                dataclasses.replace(
                    progress,
                    look=progress.look if k in looks[-1:] else None,
                    preparation=None if known else progress.preparation,
                )
            )
        return brief

    def _ended(self, record: RunRecord) -> End:
        kept = tuple(
            next(k for k, found in enumerate(self._finished) if found is split)
            for split in record.splits
        )
        self._finished, self._preparation = [], None
        return End(dataclasses.replace(record, splits=()), kept)
