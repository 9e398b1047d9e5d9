"""Cache static parts of a plot while others move.

Qt paints the pictures of items in a third of the time that the items take in Python, and without
the interpreter, for which work in the background would wait. Pyqtgraph paints every item anew in
each frame (github.com/pyqtgraph/pyqtgraph/issues/3362).
"""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterator

import pyqtgraph as pg
from PySide6.QtGui import QPixmapCache
from PySide6.QtWidgets import QGraphicsItem, QGraphicsScene

_KEPT_KILOBYTES = 96 * 1024


class Stillness:
    """Which items of a scene are painted from pictures; it holds on to no plot."""

    def __init__(self) -> None:
        self._moving: Container[QGraphicsItem] | None = None
        self._sorted: set[QGraphicsItem] = set()

    def keep(self, scene: QGraphicsScene, moving: Container[QGraphicsItem]) -> None:
        """Keep pictures of all items but these and their parts."""
        # All of a plot's pictures have to be there at once; Qt's own limit is less than two plots.
        QPixmapCache.setCacheLimit(_KEPT_KILOBYTES)
        self._moving, known = moving, self._sorted
        self._sorted = set(scene.items())
        for item in () if self._sorted == known else self._sorted:
            moves = item in moving or item.parentItem() in moving
            _keep(item, not moves and _is_painted(item))

    def end(self, scene: QGraphicsScene) -> None:
        """Paint every item as itself again."""
        if self._moving is not None:
            self._moving, self._sorted = None, set()
            for item in scene.items():
                _keep(item, False)

    @contextlib.contextmanager
    def suspended(self, scene: QGraphicsScene) -> Iterator[None]:
        """Paint every item as itself for a while."""
        moving = self._moving
        self.end(scene)
        yield
        if moving is not None:
            self.keep(scene, moving)


def _keep(item: QGraphicsItem, kept: bool) -> None:
    mode = QGraphicsItem.CacheMode
    wanted = mode.DeviceCoordinateCache if kept else mode.NoCache
    if item.cacheMode() != wanted:
        item.setCacheMode(wanted)


def _is_painted(item: QGraphicsItem) -> bool:
    """Return whether an item paints something itself."""
    if item.flags() & QGraphicsItem.GraphicsItemFlag.ItemHasNoContents:
        return False
    return isinstance(item, pg.AxisItem) or not item.isWidget()
