"""What runs in a training process: experiments as they are ordered, told of as they go.

It answers, or it ends: whoever waits for an answer hears of the end.
"""

from __future__ import annotations

import dataclasses
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import IO

from aucstudio.engine import inference
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.runs.execute import NOT_ENOUGH_MEMORY, execute
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.record import RunRecord, SplitResult
from aucstudio.project.runs.watch import Progress
from aucstudio.project.work.parcels import receive, send
from aucstudio.project.work.threads import limit_threads

OUT_OF_MEMORY = 75
"""The exit status that says so."""

_BATCH_SECONDS = 0.01  # of thousands of steps a second, so many go together

Tables = tuple[AnyTable, AnyTable | None]


@dataclasses.dataclass(frozen=True, eq=False)
class Order:
    """An experiment, with its tables unless they are those of the order before.

    Libraries may use so many threads.
    """

    experiment: Experiment
    tables: Tables | None
    threads: int


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
    """Run experiments until the one who orders them is gone, or memory has run out."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    inbox, outbox = _Inbox(sys.stdin.buffer), _Outbox(answers)
    _load_compiler()
    _or_end(lambda: _work(inbox, outbox))


def _work(inbox: _Inbox, outbox: _Outbox) -> None:
    def tell(progress: Progress) -> bool:
        outbox.waiting.put(progress)
        return inbox.stop.is_set()

    tables: Tables | None = None
    threads = 0
    while True:
        order = inbox.orders.get()
        tables = order.tables or tables
        assert tables is not None
        if order.threads != threads:  # it takes some milliseconds
            threads = order.threads
            limit_threads(threads)
        outbox.waiting.put(execute(order.experiment, *tables, tell))


def _or_end(work: Callable[[], object]) -> None:
    """Do something without which there are no answers; the process ends with it."""
    try:
        work()
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except (EOFError, OSError):
        os._exit(0)  # whatever is trained, nobody waits for it
    except Exception:  # noqa: BLE001  (whatever it was, nobody may wait for ever)
        traceback.print_exc()
        os._exit(1)


def _load_compiler() -> None:
    """Load what the first run would otherwise wait for."""
    inference.pauc_interval([0, 0, 1, 1], [0.1, 0.3, 0.2, 0.4], 0.0, 0.5)


class _Inbox:
    """Reads orders, and whether the run under way is to stop."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self.stop = threading.Event()
        threading.Thread(target=_or_end, args=(lambda: self._read(stream),), daemon=True).start()

    def _read(self, stream: IO[bytes]) -> None:
        while True:
            thing: Order | Stop = receive(stream)
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
        threading.Thread(target=_or_end, args=(self._send,), daemon=True).start()

    def _send(self) -> None:
        while True:
            things = [self.waiting.get()]
            while not self.waiting.empty():
                things.append(self.waiting.get())
            send(self._stream, self._brief([t for t in things if isinstance(t, Progress)]))
            # A record ends a run: nothing comes after it before it has been heard.
            if isinstance(things[-1], RunRecord):
                send(self._stream, self._ended(things[-1]))
                if things[-1].error == NOT_ENOUGH_MEMORY:
                    raise MemoryError  # the next run begins with all that there is
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
