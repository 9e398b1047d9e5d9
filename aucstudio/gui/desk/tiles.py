"""Tiles of the deck and the windows of torn-off views."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QMoveEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSplitter, QStackedWidget, QTabBar, QWidget

from aucstudio.gui.common.focus import press_focused
from aucstudio.gui.common.layouts import across, card_around, down, least_size
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import named, set_style
from aucstudio.gui.desk.actions import page_of

_BAR_LEFT = 4  # pixels
EQUAL = (10_000, 10_000)  # sizes of a splitter
_TWO_COLUMNS = 660  # pixels that two columns of tiles need
_NARROWER_BY = 10  # pixels of a tab, as in the style sheet


class _Blank(QWidget):
    """What a tile shows until its view is made."""

    seen = Signal()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.seen.emit()


class _Views(QStackedWidget):
    """Views of which only the one in front asks for room, as a low screen has none for others."""

    def minimumSizeHint(self) -> QSize:
        return least_size(self.currentWidget())


class Tile(QWidget):
    """One tile of the deck: a row of tabs above the view in front.

    In a narrow tile tabs become narrower, then scroll.

    Signals
    -------
    chosen : str
        Name of the view whose tab was clicked.
    menu_asked : (str, QPoint)
        Name of the view, and the position on the screen.
    view_needed
        The tile is on the screen and its view is not made yet.
    """

    chosen = Signal(str)
    menu_asked = Signal(str, QPoint)
    view_needed = Signal()

    def __init__(self, name: str, accessible: str) -> None:
        super().__init__()
        named(self, name, accessible)
        self.bar = named(QTabBar(), f"{name}_bar", accessible)
        self.bar.setDrawBase(False)
        self.bar.setElideMode(Qt.TextElideMode.ElideNone)
        self.bar.setExpanding(False)
        self.bar.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.bar.customContextMenuRequested.connect(self._on_menu)
        self.bar.currentChanged.connect(lambda index: self.chosen.emit(self.bar.tabData(index)))
        self.bar.tabBarClicked.connect(self._on_click)
        self._blank, self._views = _Blank(), _Views()
        self._blank.seen.connect(self.view_needed)
        self._views.setProperty("role", "pane")
        self._views.addWidget(self._blank)
        self._views.currentChanged.connect(self._views.updateGeometry)
        bar = across(_BAR_LEFT, (self.bar, 1), gap=0)
        self.setLayout(down(bar, (self._views, 1), gap=0))
        self._tabs: list[tuple[str, str]] = []

    @property
    def names(self) -> list[str]:
        """Names of the views that have a tab, from left to right."""
        return [name for name, _title in self._tabs]

    def show_tabs(self, tabs: list[tuple[str, str]], front: str) -> None:
        """Show tabs, each with the name of its view and a title, and choose one."""
        with QSignalBlocker(self.bar):
            if tabs != self._tabs:
                self._tabs = tabs
                while self.bar.count():
                    self.bar.removeTab(0)
                for k, (name, title) in enumerate(tabs):
                    self.bar.addTab(title)
                    self.bar.setTabData(k, name)
                    self.bar.setTabToolTip(k, page_of(name).question)
            if front:
                self.bar.setCurrentIndex(self.names.index(front))
        self._fit_bar()

    def hold(self, view: QWidget) -> None:
        """Take a view into the tile, without showing it."""
        if self._views.indexOf(view) < 0:
            self._views.addWidget(view)

    def show_front(self, view: QWidget | None) -> None:
        """Show a view of the tile; nothing if it has another one or is not made yet."""
        self._views.setCurrentIndex(0 if view is None else max(0, self._views.indexOf(view)))

    def shows(self, view: QWidget | None) -> bool:
        """Return whether a view is in front."""
        return self._views.currentWidget() is view

    @property
    def lacks_view(self) -> bool:
        """Whether the tile is on the screen without its view."""
        return self._blank.isVisible()

    def _on_click(self, index: int) -> None:
        # A click on the tab in front activates its view.
        if index >= 0 and index == self.bar.currentIndex():
            self.chosen.emit(self.bar.tabData(index))

    def _on_menu(self, point: QPoint) -> None:
        if (index := self.bar.tabAt(point)) >= 0:
            self.menu_asked.emit(self.bar.tabData(index), self.bar.mapToGlobal(point))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit_bar()
        super().resizeEvent(event)

    def _fit_bar(self) -> None:
        """Make the tabs narrower if they are wider than the tile."""
        closer, count = bool(self.bar.property("closer")), self.bar.count()
        wide = sum(self.bar.tabSizeHint(k).width() for k in range(count))
        if (wide + closer * _NARROWER_BY * count > self.width() - _BAR_LEFT) != closer:
            set_style(self.bar, "closer", not closer)


class TileArea(QScrollArea):
    """The tiles in two columns, or all below each other where two columns have no room.

    It scrolls where the window is too low for the pictures.

    Parameters
    ----------
    across : QSplitter
        The columns of tiles.
    """

    def __init__(self, across: QSplitter) -> None:
        super().__init__()
        named(self, "deck_area", "Pictures")
        self._across = across
        self._widths: list[int] = []  # of the columns, while they are below each other
        self.setWidget(across)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Tab goes to the controls in it
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def widths(self) -> list[int]:
        """Return the widths of the columns, or those that they will have beside each other."""
        return self._widths or self._across.sizes()

    def minimumSizeHint(self) -> QSize:
        return QSize(self._across.minimumSizeHint().width(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        sides, is_wide = Qt.Orientation, self.width() >= scaled(_TWO_COLUMNS)
        if is_wide != (self._across.orientation() == sides.Horizontal):
            before = self._across.sizes()
            self._across.setOrientation(sides.Horizontal if is_wide else sides.Vertical)
            self._across.setSizes(self._widths if is_wide and any(self._widths) else EQUAL)
            self._widths = [] if is_wide else before
        super().resizeEvent(event)


class TornOff(QWidget):
    """A window of its own for one view.

    Signals
    -------
    closed, activated : str
        Name of the view.
    moved
    """

    closed = Signal(str)
    activated = Signal(str)
    moved = Signal()

    def __init__(self, view: PageView) -> None:
        super().__init__(None, Qt.WindowType.Window)
        named(self, f"{view.objectName()}_window", view.title)
        self.view = view
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setLayout(down(card_around(view), around=8))
        view.show()

    def name_after(self, study: str) -> None:
        """Set the view's title and the study's name as the title of the window."""
        self.setWindowTitle(f"{self.view.title} — {study}")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_focused(self, event):
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        event.accept()
        self.closed.emit(self.view.objectName())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self.activated.emit(self.view.objectName())

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self.moved.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.moved.emit()
