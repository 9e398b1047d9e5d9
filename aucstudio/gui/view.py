"""The frame of every picture: controls above, the plot, and one plain sentence under it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from aucstudio.gui.plotting import dress_plot
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.widgets import delayed

_LEAST_COMBO = 64


class View(QWidget):
    """A page of the centre; draws only while it is seen, and once however much changed.

    Subclasses add controls to ``controls``, put their picture into ``body``, and implement
    ``refresh`` (state of the session) and, if they move during training, ``refresh_live``.

    Attributes
    ----------
    session : Session
    controls, body : QHBoxLayout
    sentence : QLabel
        What the picture shows, in one computed sentence.
    """

    def __init__(self, session: Session, name: str, title: str) -> None:
        super().__init__()
        self.session = session
        self.title = title
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.controls = QHBoxLayout()
        self.controls.setSpacing(8)
        self.body = QHBoxLayout()
        self.sentence = QLabel()
        self.sentence.setObjectName(f"{name}_sentence")
        self.sentence.setProperty("role", "sentence")
        self.sentence.setWordWrap(True)
        self.sentence.setMinimumHeight(40)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 0)
        layout.setSpacing(8)
        layout.addLayout(self.controls)
        layout.addLayout(self.body, stretch=1)
        layout.addWidget(self.sentence)
        self._stale = True
        self._soon = delayed(self, 0, self._refresh_if_stale)

    def figure(self) -> pg.PlotWidget:
        """Give the plot that is saved, copied and printed."""
        raise TypeError(f"{type(self).__name__} has no figure")

    def plots(self) -> list[pg.PlotWidget]:
        """List all plots of the page."""
        return [self.figure()]

    def figure_data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        """Give the numbers behind the picture: columns of equal length, in long form."""
        return {}

    def refresh(self) -> None:
        """Show the state of the session."""

    def refresh_live(self) -> None:
        """Show the run in flight, or take it away when there is none."""

    def busy(self) -> bool:
        """Tell whether the page still works on its picture in the background."""
        return False

    def mark_stale(self) -> None:
        """Refresh soon, or as soon as the page is seen."""
        self._stale = True
        if self.isVisible():
            self._soon.start()

    def retheme(self) -> None:
        """Take on the present theme."""
        for plot in self.plots():
            dress_plot(plot)
        self.mark_stale()

    def let_controls_shrink(self) -> None:
        """Let the lists above the picture give way in a narrow window."""
        for combo in self.findChildren(QComboBox):
            combo.setMinimumWidth(_LEAST_COMBO)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh_if_stale()
        self.refresh_live()

    def why_empty(self, run: ShownRun | None, what: str, soon: str, aim: str) -> str:
        """Say why the chosen run, if there is one, has no picture, and what to do about it."""
        live = self.session.live
        if run is not None:
            return f"{run.look.name} has no {what} to show. {run.record.error}".rstrip()
        if live is not None:
            return f"{live.look.name} is training; {soon}."
        if self.session.table is None:
            return f"Open a table and run a method to see {aim}."
        return f"No run yet: choose a method and press Run to see {aim}."

    def _refresh_if_stale(self) -> None:
        if self._stale:
            self._stale = False
            self.refresh()
