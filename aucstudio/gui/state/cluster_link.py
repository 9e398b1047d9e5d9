"""Connection to a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.timers import ticking
from aucstudio.project.work.cluster import Cluster, open_cluster
from aucstudio.project.work.job import Job, describe_failure

_WATCH_MILLISECONDS = 1000


class ClusterLink(QObject):
    """A connection of this session to a Dask scheduler, or none.

    Attributes
    ----------
    address : str
        The last one that was asked for.
    workers : Cluster or None
        Who does the work while there is a connection.
    trouble : str
        Why there is none, where one was asked for.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.address = ""
        self.workers: Cluster | None = None
        self.trouble = ""
        self._connecting = Background(self, self._land)
        self._looking = Background(self, lambda *_ended: self.changed.emit())
        self._watch = ticking(self, _WATCH_MILLISECONDS, self._look)

    @property
    def connecting(self) -> bool:
        """Whether a connection is being made."""
        return self._connecting.busy

    @property
    def words(self) -> str:
        """Describe the state in a sentence."""
        if self.connecting:
            return f"Connecting to {self.address}…"
        if self.workers is not None:
            there = self.workers.standing
            count = f"{there.workers} worker{'' if there.workers == 1 else 's'}"
            threads = f"{there.threads} thread{'' if there.threads == 1 else 's'}"
            return f"Connected to {self.workers.address}: {count} with {threads} in all."
        return self.trouble or "Not connected: runs use this machine."

    def connect_to(self, address: str) -> None:
        """Start to connect; ``changed`` is emitted with the outcome."""
        self.disconnect_from()
        self.address, self.trouble = address, ""
        self._connecting.start(address, lambda post: _open(address, post))
        self.changed.emit()

    def disconnect_from(self) -> None:
        """End the connection, or the attempt at one; what runs there is lost."""
        self._connecting.drop()
        self._let_go("")
        self.changed.emit()

    def close(self) -> None:
        """End the connection with the session; waits for it a moment."""
        self._connecting.drop()
        leaving = self._let_go("")
        if leaving is not None:
            leaving.wait(1.0)

    def _land(self, _address: str, job: Job[None, Cluster]) -> None:
        if job.error is not None:
            self.trouble = _sentence(job.error)
        else:
            self.workers = job.result
            self._watch.start()
        self.changed.emit()

    def _look(self) -> None:
        """See whether the scheduler is still there, and who works for it."""
        if self.workers is None or self._looking.busy:
            return
        if self.workers.alive:
            self._looking.start(self.workers, _each_time(self.workers))
        else:
            self._let_go(
                f"Connection to the Dask scheduler at {self.workers.address} lost. Check the "
                "scheduler and connect again; until then runs use this machine."
            )
            self.changed.emit()

    def _let_go(self, trouble: str) -> Job[None, None] | None:
        self._watch.stop()
        self._looking.drop()
        self.trouble, cluster, self.workers = trouble, self.workers, None
        if cluster is None:
            return None
        # A scheduler that does not answer may take its time over a farewell.
        leaving: Job[None, None] = Job(lambda _post: cluster.close())
        leaving.start()
        return leaving


def _open(address: str, post: Callable[[Any], bool]) -> Cluster:
    cluster = open_cluster(address)
    try:
        unwanted = post(None)
    except Stopped:
        unwanted = True
    if unwanted:
        cluster.close()
        raise Stopped("connecting")
    return cluster


def _each_time(cluster: Cluster) -> Callable[[Any], None]:
    return lambda _post: cluster.look()


def _sentence(error: BaseException) -> str:
    sentence = describe_failure(error)[0]
    return f"{sentence[:1].upper()}{sentence[1:]}{'' if sentence.endswith('.') else '.'}"
