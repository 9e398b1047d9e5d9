"""Connection to a cluster."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.state.background import Background, ticking
from aucstudio.notices import text
from aucstudio.notices.words import as_sentence
from aucstudio.project.work.cluster import Cluster, open_cluster
from aucstudio.project.work.job import Job, describe_failure

_WATCH_MILLISECONDS = 1000


class ClusterLink(QObject):
    """The connection of a session to a Dask scheduler, if any.

    Attributes
    ----------
    address : str
        Address of the last request.
    workers : Cluster or None
        None without a connection.
    trouble : str
        Why the connection failed or ended.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.address = ""
        self.workers: Cluster | None = None
        self.trouble = ""
        self._connecting = Background(self, self._on_connected)
        self._looking = Background(self, lambda *_ended: self.changed.emit())
        self._watch = ticking(self, _WATCH_MILLISECONDS, self._look)

    @property
    def connecting(self) -> bool:
        """Whether a connection is being made."""
        return self._connecting.busy

    @property
    def words(self) -> str:
        """The state in a sentence."""
        if self.connecting:
            return f"Connecting to {self.address}…"
        if self.workers is not None:
            there = self.workers.standing
            found = {"workers": there.workers, "threads": there.threads}
            return text("cluster_connected", address=self.workers.address, **found)
        return self.trouble or text("cluster_not_connected")

    def connect_to(self, address: str) -> None:
        """Start to connect; ``changed`` is emitted with the outcome."""
        self.disconnect_from()
        self.address, self.trouble = address, ""
        self._connecting.start(address, lambda post: _open(address, post))
        self.changed.emit()

    def disconnect_from(self) -> None:
        """End the connection or the attempt; runs on the cluster are lost."""
        self._connecting.drop()
        self._release("")
        self.changed.emit()

    def close(self) -> None:
        """End the connection, and wait for it a moment."""
        self._connecting.drop()
        closing = self._release("")
        if closing is not None:
            closing.wait(1.0)

    def _on_connected(self, _address: str, job: Job[None, Cluster]) -> None:
        if job.error is not None:
            self.trouble = as_sentence(describe_failure(job.error)[0])
        else:
            self.workers = job.result
            self._watch.start()
        self.changed.emit()

    def _look(self) -> None:
        """Check whether the scheduler still answers, and count its workers."""
        if self.workers is None or self._looking.busy:
            return
        if self.workers.alive:
            self._looking.start(self.workers, functools.partial(_look, self.workers))
        else:
            self._release(text("cluster_lost", address=self.workers.address))
            self.changed.emit()

    def _release(self, trouble: str) -> Job[None, None] | None:
        self._watch.stop()
        self._looking.drop()
        self.trouble, cluster, self.workers = trouble, self.workers, None
        if cluster is None:
            return None
        # Closing waits for a scheduler that does not answer.
        closing: Job[None, None] = Job(lambda _post: cluster.close())
        closing.start()
        return closing


def _look(cluster: Cluster, _post: object) -> None:
    cluster.look()


def _open(address: str, post: Callable[[Any], bool]) -> Cluster:
    cluster = open_cluster(address)
    try:
        is_cancelled = post(None)
    except Stopped:
        is_cancelled = True
    if is_cancelled:
        cluster.close()
        raise Stopped("connecting")
    return cluster
