"""The side columns, which become pages in narrow windows."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QSplitter, QWidget

from aucstudio.gui.common.focus import focus_within
from aucstudio.gui.common.layouts import RoomyTabs
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import named
from aucstudio.gui.state.background import delayed
from aucstudio.gui.state.preferences import preferences

# Pixels, for ordinary text.
_LEFT, _RIGHT, _SLIM_RIGHT, _WIDEST_LEFT = 328, 408, 296, 420
_MIDDLE = 680  # of a picture with its tabs and its controls in one row each
_LEAST_MIDDLE = 560
NARROW = _LEFT + _MIDDLE + _SLIM_RIGHT
_SINGLE = _LEFT + _LEAST_MIDDLE
_UNBOUND = (1 << 24) - 1  # Qt's QWIDGETSIZE_MAX
_NAME = "sides"


class Sides(QSplitter):
    """Set-up at the left, pictures in the middle, runs at the right.

    In a window narrower than ``NARROW`` pixels the run list is a page of the left column. With
    large text the pictures are another page, as they would be too narrow between two columns.

    Signals
    -------
    shown_changed : (str, bool)
        "setup" or "runs", and whether it is shown.

    Attributes
    ----------
    setup, middle, runs : QWidget
    left : QTabWidget
        Has ``setup``, and the widgets without a column.
    """

    shown_changed = Signal(str, bool)

    def __init__(self, setup: QWidget, middle: QWidget, runs: QWidget) -> None:
        # With its parent from the start, each part is styled once.
        super().__init__(Qt.Orientation.Horizontal, middle.parentWidget())
        self.resize(middle.window().size())  # no column moves when it is laid out
        named(self, _NAME, "Columns")
        self.setHandleWidth(8)
        self.setup, self.middle, self.runs = setup, middle, runs
        self.left = named(RoomyTabs(), "side_tabs")
        self.left.setDocumentMode(True)
        self.left.tabBar().setDrawBase(False)
        for widget in (self.left, middle, runs):
            self.addWidget(widget)
        self.left.addTab(setup, "Set-up")
        self._sides = {"setup": setup, "runs": runs}
        self._shown = {setup: True, runs: True}
        self._at_work = True
        self._inside: tuple[QWidget, ...] = ()
        self._soon = delayed(self, 0, self._fit)
        self._chosen = list(preferences().now.splitters.get(_NAME, ()))
        self.setStretchFactor(1, 1)
        self.setCollapsible(1, False)
        self.splitterMoved.connect(self._keep_sizes)
        self._fit()

    def show_side(self, name: str, shown: bool) -> None:
        """Show or hide a column, by its name; one that is a page comes to the front."""
        side = self._sides[name]
        self._shown[side] = shown
        self._arrange()
        if shown and self.left.indexOf(side) >= 0:
            self.left.setCurrentWidget(side)
        self.shown_changed.emit(name, shown)

    def is_shown(self, name: str) -> bool:
        """Return whether a column is shown while a study is open, by its name."""
        return self._shown[self._sides[name]]

    def call(self, name: str, main: QWidget | None = None) -> None:
        """Show a column and move the focus to it, to its main control if there is one."""
        self.show_side(name, True)
        focus_within(self._sides[name], main)

    def step(self, step: int) -> None:
        """Move the focus to the next (1) or the previous (-1) of set-up, runs and pictures."""
        parts = [*(side for side, shown in self._shown.items() if shown), self.middle]
        focus = QApplication.focusWidget()
        here = [k for k, part in enumerate(parts) if focus and part.isAncestorOf(focus)]
        part = parts[((here or [-1 if step > 0 else 0])[0] + step) % len(parts)]
        if self.left.indexOf(part) >= 0:
            self.left.setCurrentWidget(part)
        focus_within(part)

    def at_work(self, working: bool) -> None:
        """Show the columns only while a study is open."""
        if working != self._at_work:
            self._at_work = working
            self._fit()

    def show_middle(self) -> None:
        """Show the pictures if they are a page of the left column."""
        if self.middle in self._inside:
            self.left.setCurrentWidget(self.middle)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            # Moving a column deletes a handle of the splitter. Qt would crash while it applies a
            # style sheet, as it holds a list of widgets.
            self._soon.start()

    def _fit(self) -> None:
        """Place each widget in a column or on a page of the left one, depending on the width."""
        inside: tuple[QWidget, ...] = ()
        if self._at_work and self.width() < scaled(NARROW):
            inside = (self.runs,)
        if self._at_work and self.width() < scaled(_SINGLE):
            inside = (self.runs, self.middle)
        single = self.middle in inside
        self.left.setMinimumWidth(scaled(_LEFT))
        if inside != self._inside:
            # A limit would hold for the splitter while the column is alone.
            self.left.setMaximumWidth(_UNBOUND)
            self._move(inside)
        self.left.setMaximumWidth(_UNBOUND if single else scaled(_WIDEST_LEFT))
        self._arrange()
        if not single:
            self.setSizes(
                self._default_sizes() if inside else self._chosen or self._default_sizes()
            )

    def _default_sizes(self) -> list[int]:
        """Return default widths; the list of runs shrinks before the picture."""
        left, free = scaled(_LEFT), self.width() - scaled(_LEFT + _MIDDLE)
        if self._inside:
            return [left, max(1, self.width() - left)]
        right = max(scaled(_SLIM_RIGHT), min(scaled(_RIGHT), free))
        return [left, max(1, self.width() - left - right), right]

    def _move(self, inside: tuple[QWidget, ...]) -> None:
        self._inside, focus = inside, self.window().focusWidget()
        front = self.left.currentWidget()
        for page in (self.runs, self.middle):
            if (index := self.left.indexOf(page)) >= 0:
                self.left.removeTab(index)
        for place, page in ((1, self.middle), (2, self.runs)):
            if page not in inside:
                self.insertWidget(place, page)
                page.setVisible(True)
        for page, title in ((self.runs, "Runs"), (self.middle, "Pictures")):
            if page in inside:
                self.left.addTab(page, title)
        if self.middle in inside or front in inside:
            self.left.setCurrentWidget(self.middle if self.middle in inside else front)
        if focus is not None:  # a page that is moved loses it
            focus.setFocus()

    def _arrange(self) -> None:
        shown = {side: self._at_work and wanted for side, wanted in self._shown.items()}
        shown[self.middle] = True
        pages = [self.setup, *self._inside]
        for page in pages:
            self.left.setTabVisible(self.left.indexOf(page), shown[page])
        has_tabs = sum(shown[page] for page in pages) > 1
        self.left.tabBar().setVisible(has_tabs)
        # A tab widget passes the focus to its bar; a hidden bar would trap Tab.
        focus = Qt.FocusPolicy.TabFocus if has_tabs else Qt.FocusPolicy.NoFocus
        self.left.setFocusPolicy(focus)
        self.left.setVisible(any(shown[page] for page in pages))
        if self.runs not in self._inside:
            self.runs.setVisible(shown[self.runs])

    def _keep_sizes(self) -> None:
        if not self._inside and self._at_work:
            self._chosen = self.sizes()
            preferences().put_in("splitters", _NAME, tuple(self._chosen))
