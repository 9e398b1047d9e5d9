"""The columns beside the pictures; in a narrow window both share one, as pages."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QTabWidget, QWidget

from aucstudio.gui.common.widgets import named

NARROW = 1160
_LEFT, _RIGHT = 328, 408


class Sides(QSplitter):
    """Set up at the left, look in the middle, compare at the right.

    Narrower than ``NARROW`` pixels the run list is a second page of the left column: a picture
    squeezed between two columns would show nothing.

    Attributes
    ----------
    setup, middle, runs : QWidget
    left : QTabWidget
        Holds ``setup``, and ``runs`` while the window is narrow.
    """

    def __init__(self, setup: QWidget, middle: QWidget, runs: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setHandleWidth(8)
        self.setup, self.middle, self.runs = setup, middle, runs
        self.left = named(QTabWidget(), "side_tabs", "Set-up and runs")
        self.left.setDocumentMode(True)
        self.left.tabBar().setDrawBase(False)
        self.left.setMinimumWidth(_LEFT)
        self.left.setMaximumWidth(420)
        self.left.addTab(setup, "Set-up")
        for widget in (self.left, middle, runs):
            self.addWidget(widget)
        self._shown = {setup: True, runs: True}
        self._at_work = True
        self._narrow = False
        self.setStretchFactor(1, 1)
        self.setCollapsible(1, False)
        self.setSizes([_LEFT, 800, _RIGHT])
        self._arrange()

    def show_setup(self, shown: bool) -> None:
        """Show or hide what is set up."""
        self._show(self.setup, shown)

    def show_runs(self, shown: bool) -> None:
        """Show or hide the runs."""
        self._show(self.runs, shown)

    def at_work(self, working: bool) -> None:
        """Show the columns only while there is a study to work on."""
        if working != self._at_work:
            self._at_work = working
            self._arrange()

    def _show(self, side: QWidget, shown: bool) -> None:
        self._shown[side] = shown
        self._arrange()
        if shown and self.left.indexOf(side) >= 0:
            self.left.setCurrentWidget(side)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < NARROW
        if narrow != self._narrow:
            self._narrow = narrow
            self._move_runs()
            self._arrange()
            if not narrow:  # a hidden page would get no room
                self.setSizes([_LEFT, self.width() - _LEFT - _RIGHT, _RIGHT])

    def _move_runs(self) -> None:
        if self._narrow:
            self.left.addTab(self.runs, "Runs")
        else:
            self.left.removeTab(self.left.indexOf(self.runs))
            self.addWidget(self.runs)

    def _arrange(self) -> None:
        setup, runs = (self._at_work and self._shown[side] for side in (self.setup, self.runs))
        self.left.tabBar().setVisible(self._narrow and setup and runs)
        self.left.setTabVisible(0, setup)
        if self._narrow:
            self.left.setTabVisible(1, runs)
            self.left.setVisible(setup or runs)
        else:
            self.left.setVisible(setup)
            self.runs.setVisible(runs)
