"""What stands in the deck for a page that nobody has looked at yet."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from aucstudio.gui.common.view import PageView


class StandIn(QWidget):
    """An empty page with the name and the title of one that is made when it is first seen.

    Parameters
    ----------
    name, title : str
        As those of the page.
    make : callable
        Gives the page.

    Signals
    -------
    seen : StandIn
        Comes after it has been shown, from the event loop.
    """

    seen = Signal(object)

    def __init__(self, name: str, title: str, make: Callable[[], PageView]) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.title = title
        self.make = make
        self._shown.connect(lambda: self.seen.emit(self), Qt.ConnectionType.QueuedConnection)

    _shown = Signal()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._shown.emit()


Page = PageView | StandIn
