"""Frames of views: a tile with draggable tabs, and a separate window."""

from __future__ import annotations

from collections.abc import Callable, Collection

from PySide6.QtCore import QByteArray, QEvent, QMimeData, QPoint, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QCursor,
    QDrag,
    QDragEnterEvent,
    QDropEvent,
    QMouseEvent,
    QMoveEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QSplitter, QTabBar, QTabWidget, QWidget

from aucstudio.gui.common.layouts import down
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import card_around, named
from aucstudio.gui.desk.pages import page_of


class Placeholder(QWidget):
    """An empty page in place of one that is made when it is first shown.

    Parameters
    ----------
    name, title : str
        Those of the page.
    make : callable
        Returns the page.

    Signals
    -------
    seen : Placeholder
        Emitted from the event loop after it was shown.
    """

    seen = Signal(object)
    _shown = Signal()

    def __init__(self, name: str, title: str, make: Callable[[], PageView]) -> None:
        super().__init__()
        named(self, name, title)
        self.title = title
        self.make = make
        self._shown.connect(lambda: self.seen.emit(self), Qt.ConnectionType.QueuedConnection)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._shown.emit()


Page = PageView | Placeholder


_MIME = "application/x-aucstudio-view"
_BAR_LEFT = 4  # pixels, as in the style sheet
_NARROWER_BY = 10  # pixels of a tab, as in the style sheet
_MOST_HEIGHT = 600  # pixels that a window of 1000 × 700 has for its views


class _TileBar(QTabBar):
    """Tabs that can be dragged out; in a narrow tile they become narrower, then scroll.

    Signals
    -------
    dragged_out : str
        Name of a page whose tab was dropped outside of all windows.
    """

    dragged_out = Signal(str)

    def __init__(self, tile: Tile) -> None:
        super().__init__(tile)
        self._tile = tile
        self._pressed: QPoint | None = None

    def fit(self, room: int) -> None:
        """Make the tabs narrower if they are wider than some pixels."""
        closer = bool(self.property("closer"))
        shown = [k for k in range(self.count()) if self.isTabVisible(k)]
        hints = [self.tabSizeHint(k).width() for k in shown]
        if (sum(hints) + closer * _NARROWER_BY * len(hints) > room) != closer:
            _set_style(self, "closer", not closer)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        left = event.button() == Qt.MouseButton.LeftButton
        self._pressed = event.position().toPoint() if left else None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        self._pressed = None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        # The release may have gone to a tooltip, a menu or another window.
        if not event.buttons() & Qt.MouseButton.LeftButton:
            self._pressed = None
        if self._pressed is None:
            return
        distance = (event.position().toPoint() - self._pressed).manhattanLength()
        index = self.tabAt(self._pressed)
        if index < 0 or distance < 2 * QApplication.startDragDistance():
            return
        self._pressed = None
        self._drag(index)

    def _drag(self, index: int) -> None:
        name = self._tile.views()[index].objectName()
        data = QMimeData()
        data.setData(_MIME, QByteArray(name.encode()))
        drag = QDrag(self)
        drag.setMimeData(data)
        drag.setPixmap(self.grab(self.tabRect(index)))
        dropped = drag.exec(Qt.DropAction.MoveAction)
        if dropped == Qt.DropAction.IgnoreAction and QApplication.widgetAt(QCursor.pos()) is None:
            self.dragged_out.emit(name)


class Tile(QTabWidget):
    """One tile of the deck; the views of one page that are here share a tab.

    Signals
    -------
    dropped : str
        Name of a page whose tab was dropped here.
    """

    dropped = Signal(str)

    def __init__(self, name: str, accessible: str) -> None:
        super().__init__()
        named(self, name, accessible)
        self.bar = named(_TileBar(self), f"{name}_bar", accessible)
        self.setTabBar(self.bar)
        self.setDocumentMode(True)
        self.bar.setDrawBase(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        self.setUsesScrollButtons(True)
        self.bar.setSelectionBehaviorOnRemove(QTabBar.SelectionBehavior.SelectPreviousTab)
        self.bar.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setAcceptDrops(True)
        self.currentChanged.connect(self._on_current)
        self._fronts: dict[str, str] = {}  # the view shown last, by page
        self._hidden: frozenset[str] = frozenset()

    def views(self) -> list[Page]:
        """List the pages from left to right."""
        pages = [self.widget(k) for k in range(self.count())]
        return [page for page in pages if isinstance(page, Page)]

    def tabs(self) -> list[Page]:
        """List the views that have a tab, from left to right."""
        return [view for k, view in enumerate(self.views()) if self.isTabVisible(k)]

    def of_page(self, view: Page) -> list[Page]:
        """List the views here that belong to the page of a view."""
        page = page_of(view.objectName())
        return [other for other in self.views() if page_of(other.objectName()) is page]

    def remember(self, view: Page) -> None:
        """Show this view when its page is shown again."""
        self._fronts[page_of(view.objectName()).key] = view.objectName()

    def hide_tabs(self, names: Collection[str]) -> None:
        """Hide the tabs of views, unless one of them is in front."""
        self._hidden = frozenset(names)
        self._share_tabs()

    def _share_tabs(self) -> None:
        """Show one tab for each page: of its view in front, or of the view shown last."""
        current = self.currentWidget()
        shown: set[str] = set()
        for view in self.views():
            page = page_of(view.objectName())
            names = [other.objectName() for other in self.of_page(view)]
            front = self._fronts.get(page.key, "")
            if current is not None and current.objectName() in names:
                front = current.objectName()
            elif set(names) <= self._hidden:
                continue
            shown.add(front if front in names else names[0])
        for visible in (True, False):  # first those to show: else Qt changes the current tab
            for k, view in enumerate(self.views()):
                if (view.objectName() in shown) == visible != self.isTabVisible(k):
                    self.setTabVisible(k, visible)
        for k, view in enumerate(self.views()):
            page = page_of(view.objectName())
            whole = any(other.objectName() == page.key for other in self.of_page(view))
            self.setTabText(k, page.title if whole else view.title)
            self.setTabToolTip(k, page.question)
            if isinstance(view, PageView):
                here = [other.objectName() for other in self.of_page(view)]
                view.offer_views(
                    [(one.name, one.switch or one.title) for one in page.views if one.name in here]
                )
        self._fit_bar()

    def _on_current(self) -> None:
        self._share_tabs()
        self.updateGeometry()

    def exchange(self, old: Page, new: Page) -> None:
        """Replace a page by another."""
        # Insert first: scrolled tabs would jump under the pointer if there were one tab less.
        is_front, index = old is self.currentWidget(), self.indexOf(old)
        self.insertTab(index, new, new.title)
        if is_front:
            self.setCurrentIndex(index)
        self.removeTab(index + 1)

    def mark_active(self, active: bool) -> None:
        """Show whether the active view is here."""
        if self.bar.property("active") != active:
            _set_style(self.bar, "active", active)

    def minimumSizeHint(self) -> QSize:
        """Return the room that the page in front and the tabs need."""
        return room_of_current(self) or super().minimumSizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit_bar()
        super().resizeEvent(event)

    def tabInserted(self, index: int) -> None:
        super().tabInserted(index)
        self._share_tabs()

    def tabRemoved(self, index: int) -> None:
        super().tabRemoved(index)
        self._share_tabs()

    def _fit_bar(self) -> None:
        self.bar.fit(self.width() - _BAR_LEFT)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasFormat(_MIME):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if event.mimeData().hasFormat(_MIME):
            event.acceptProposedAction()
            self.dropped.emit(bytes(event.mimeData().data(_MIME).data()).decode())


class TileColumn(QSplitter):
    """Tiles below each other that never make a window higher than a small screen."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Vertical)

    def minimumSizeHint(self) -> QSize:
        needed = super().minimumSizeHint()
        needed.setHeight(min(needed.height(), _MOST_HEIGHT))
        return needed


class TornOff(QWidget):
    """A window of its own for one view.

    Signals
    -------
    closed, activated, moved : PageView
    """

    closed = Signal(object)
    activated = Signal(object)
    moved = Signal(object)

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

    def closeEvent(self, event: QCloseEvent) -> None:
        event.accept()
        self.closed.emit(self.view)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self.activated.emit(self.view)

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self.moved.emit(self.view)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.moved.emit(self.view)


def room_of_current(tabs: QTabWidget) -> QSize | None:
    """Return the least room of the page in front with its tabs; None without a page."""
    if not tabs.count():
        return None
    page = tabs.currentWidget()
    needed = page.minimumSizeHint().expandedTo(page.minimumSize())
    return needed + QSize(0, tabs.tabBar().sizeHint().height())


def _set_style(widget: QWidget, state: str, value: bool) -> None:
    """Set a property that the style sheet uses."""
    widget.setProperty(state, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
