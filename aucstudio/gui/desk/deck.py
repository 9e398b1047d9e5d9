"""The deck of views: tabs, up to four tiles, or separate windows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import (
    QByteArray,
    QEvent,
    QMimeData,
    QPoint,
    QRect,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAction,
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
from PySide6.QtWidgets import QApplication, QSplitter, QTabBar, QWidget

from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import (
    RoomyTabs,
    card_around,
    down,
    named,
    on_some_screen,
    set_style,
)
from aucstudio.gui.desk.actions import ARRANGEMENTS, Actions, PageDeclaration, page_of
from aucstudio.gui.state.background import delayed


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
            set_style(self, "closer", not closer)

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


class Tile(RoomyTabs):
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
        self.currentChanged.connect(self._share_tabs)
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
        current, views, shown = self.currentWidget(), self.views(), set[str]()
        of_page: dict[PageDeclaration, list[str]] = {}
        for view in views:
            of_page.setdefault(page_of(view.objectName()), []).append(view.objectName())
        for page, names in of_page.items():
            front = self._fronts.get(page.key, "")
            if current is not None and current.objectName() in names:
                front = current.objectName()
            elif set(names) <= self._hidden:
                continue
            shown.add(front if front in names else names[0])
        for visible in (True, False):  # first those to show: else Qt changes the current tab
            for k, view in enumerate(views):
                if (view.objectName() in shown) == visible != self.isTabVisible(k):
                    self.setTabVisible(k, visible)
        for k, view in enumerate(views):
            page = page_of(view.objectName())
            here = [one for one in page.views if one.name in of_page[page]]
            self.setTabText(k, page.title if here[0].name == page.key else view.title)
            self.setTabToolTip(k, page.question)
            if isinstance(view, PageView):
                view.offer_views([(one.name, one.switch or one.title) for one in here])
        self._fit_bar()

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
        set_style(self.bar, "active", active)

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


# Two rows of two; tile k is in row k // 2 and column k % 2.
_TILES = (
    ("view_tabs", "Views"),
    ("view_tabs_beside", "Views on the right"),
    ("view_tabs_below", "Views below"),
    ("view_tabs_corner", "Views below at the right"),
)
_ACROSS, _DOWN = 1, 2
_TORN_SIZE = QSize(720, 560)
_LEAST_SIZE = QSize(320, 240)
_LEAST_VIEW = 240


class Deck(QWidget):
    """Shows every view once: in one of four tiles, or in a window of its own.

    Parameters
    ----------
    pages : sequence of Page
        In the order of their tabs. A placeholder is replaced by its page when it is first shown
        or requested.

    Signals
    -------
    active_changed
        Another view is active, or the arrangement changed. The active view is the one that is
        saved and copied.
    layout_changed
        The user changed the arrangement; emitted once for many changes.
    view_shown
        A view was brought forward at the user's request.
    """

    active_changed = Signal()
    layout_changed = Signal()
    view_shown = Signal()

    def __init__(self, pages: Sequence[Page]) -> None:
        super().__init__()
        self._views = {page.objectName(): page for page in pages}
        self.tiles = [Tile(name, accessible) for name, accessible in _TILES]
        self.windows: dict[str, TornOff] = {}
        self._home = dict.fromkeys(self._views, 0)
        self._active = self.pages[0].objectName()
        self._study = "AUC Studio"
        self._picture_actions: Sequence[QAction] = ()
        self._visited: list[str] = []  # pages that Back returns to, the latest last
        self._hidden: frozenset[str] = frozenset()
        self._changed_soon = delayed(self, 300, self.layout_changed.emit)
        self._lay_out()
        for page in self.pages:
            page.setMinimumWidth(_LEAST_VIEW)
            self._insert(page, 0)
            if isinstance(page, Placeholder):
                page.seen.connect(self._on_seen)
        self.tiles[0].setCurrentIndex(0)
        for tile in self.tiles:
            self._connect(tile)
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]
        self._on_moved()
        self._changed_soon.stop()

    def _lay_out(self) -> None:
        self.across = QSplitter(Qt.Orientation.Horizontal)
        self.columns = [TileColumn() for _ in range(2)]
        for k, column in enumerate(self.columns):
            column.addWidget(self.tiles[k])
            column.addWidget(self.tiles[k + _DOWN])
            self.across.addWidget(column)
        for splitter in self.splitters():
            splitter.setHandleWidth(8)
            splitter.setChildrenCollapsible(False)
            splitter.splitterMoved.connect(lambda *_: self._changed_soon.start())
        self.setLayout(down(self.across))

    def _connect(self, tile: Tile) -> None:
        tile.currentChanged.connect(lambda _index: self._activate(tile.currentWidget()))
        tile.tabBarClicked.connect(lambda index: self._activate(tile.widget(index)))
        tile.dropped.connect(lambda name: self._on_dropped(name, tile))
        tile.bar.dragged_out.connect(lambda name: self.tear_off(self._views[name]))
        tile.bar.customContextMenuRequested.connect(lambda point: self._on_menu(tile, point))

    # ------------------------------------------------------------- reading

    def splitters(self) -> list[QSplitter]:
        """List the splitters: between the columns, then within each."""
        return [self.across, *self.columns]

    def active(self) -> PageView:
        """Return the view that was last clicked; it is the one that is saved and copied."""
        return self.made(self._front())

    def made(self, page: Page) -> PageView:
        """Return a page; make it if it is a placeholder."""
        page = self._views[page.objectName()]
        if isinstance(page, PageView):
            return page
        view = page.make()
        view.setMinimumWidth(_LEAST_VIEW)
        view.let_controls_shrink()
        view.picture_verbs = self._picture_actions
        view.view_asked.connect(lambda name: self.show_view(self._views[name]))
        self._views[view.objectName()] = view
        tile = self.tile_of(page)
        if tile is not None:
            with QSignalBlocker(tile):  # the user has not turned a page
                tile.exchange(page, view)
        page.hide()
        page.setParent(None)  # else it would be found by its name
        page.deleteLater()
        return view

    def offer_in_pictures(self, actions: Sequence[QAction]) -> None:
        """Offer actions on pictures in the menus of all plots."""
        self._picture_actions = actions
        for view in self.made_views():
            view.picture_verbs = actions

    def made_views(self) -> list[PageView]:
        """List the pages that are no placeholders."""
        return [page for page in self.pages if isinstance(page, PageView)]

    def visible_views(self) -> Iterator[PageView]:
        """Return every view that is on the screen now."""
        views = self.made_views()
        return (v for v in views if v.isVisible() and not v.window().isMinimized())

    def tile_of(self, view: Page) -> Tile | None:
        """Return the tile of a view; None if it has a window of its own."""
        return next((tile for tile in self.tiles if tile.indexOf(view) >= 0), None)

    def can_leave(self, view: Page) -> bool:
        """Return whether a view may leave its tile; the first tile keeps one page."""
        tile = self.tile_of(view)
        return tile is not None and (tile is not self.tiles[0] or tile.count() > 1)

    def place(self, view: Page) -> int | None:
        """Return the number of the tile of a view; None if it has a window of its own."""
        tile = self.tile_of(view)
        return None if tile is None else self.tiles.index(tile)

    @property
    def pages(self) -> list[Page]:
        """The pages in the order of their tabs."""
        return list(self._views.values())

    def _front(self) -> Page:
        return self._views[self._active]

    def _find(self, name: object) -> Page | None:
        """Return the page of a name from a file, if there is one."""
        return self._views.get(name) if isinstance(name, str) else None

    # ------------------------------------------------------------- moving

    def show_view(self, view: Page) -> None:
        """Show a view at the user's request in front, wherever it is, and activate it."""
        self._bring_forward(view)
        self.view_shown.emit()

    def _bring_forward(self, view: Page) -> None:
        tile = self.tile_of(view)
        if tile is not None:
            tile.setCurrentWidget(view)
        else:
            window = self.windows[view.objectName()]
            window.raise_()
            window.activateWindow()
        self._activate(view)

    def visit(self, name: str) -> tuple[PageView, str]:
        """Show a page from which Back returns; return it and the title of the page before."""
        left, view = self._front(), self.made(self._views[name])
        if left.objectName() != name:
            self._visited = [one for one in self._visited if one != left.objectName()]
            self._visited.append(left.objectName())
        self.show_view(view)
        return view, left.title if self._visited else ""

    def go_back(self) -> None:
        """Show the page that was active before."""
        if self._visited:
            self.show_view(self._views[self._visited.pop()])

    def turn(self, view: Page, pages: int) -> None:
        """Show the page some tabs after a view in its tile; the first follows the last."""
        tile = self.tile_of(view)
        if tile is not None:
            views = tile.tabs()
            self.show_view(views[(views.index(view) + pages) % len(views)])

    def show_page(self, name: str) -> None:
        """Show a view; if its page is active already, the next view of the page."""
        view, front = self._views[name], self._front()
        tile = self.tile_of(view)
        if tile is not None and view.objectName() == page_of(name).key:
            same = tile.of_page(view)
            if front in same:
                view = same[(same.index(front) + 1) % len(same)]
            else:
                view = next((one for one in same if one in tile.tabs()), view)
        self.show_view(view)

    def hide_tabs(self, names: Collection[str]) -> None:
        """Hide the tabs of views that have nothing to show."""
        if frozenset(names) == self._hidden:
            return
        self._hidden = frozenset(names)
        front = self.tiles[0].currentWidget()
        if front.objectName() in self._hidden and self.tiles[0].count() > 1:
            self._bring_forward(next(v for v in self.tiles[0].views() if v is not front))
        for tile in self.tiles:
            tile.hide_tabs(names)

    def step(self, view: Page, step: int) -> None:
        """Move a view to the tile across (step 1) or in the other row (step 2)."""
        place = self.place(view)
        if place is not None and self.can_leave(view):
            self._move_to(view, place ^ step)

    def tear_off(self, page: Page, place: QRect | None = None) -> None:
        """Move a view into its own window; closing the window puts the view back."""
        view = self.made(page)
        tile = self.tile_of(view)
        if tile is None or not self.can_leave(view):
            return
        self._home[view.objectName()] = self.tiles.index(tile)
        corner = view.mapToGlobal(QPoint(48, 48))
        window = TornOff(view)
        self.windows[view.objectName()] = window
        window.setGeometry(on_some_screen(place or QRect(corner, _TORN_SIZE), _LEAST_SIZE))
        window.name_after(self._study)
        window.addActions(self.window().actions())
        window.closed.connect(self._put_back)
        window.activated.connect(self._activate)
        window.moved.connect(lambda _view: self._changed_soon.start())
        window.show()
        self._activate(view)
        self._on_moved()

    def all_in_one(self) -> None:
        """Put every view back into one row of tabs."""
        for view in self.pages:
            self._move_to(view, 0)
        self._bring_forward(self._front())

    def close_windows(self) -> None:
        """Put every view back without a signal."""
        self.all_in_one()
        self._changed_soon.stop()

    def show_side_by_side(self, names: Sequence[str]) -> None:
        """Show up to four views at once; unknown names are ignored."""
        known = [name for name in names if self._find(name) is not None]
        self.arrange({name: place for place, name in enumerate(known[: len(self.tiles)])})

    def side_by_side(self) -> list[str]:
        """Return the names of the views shown at once, for :meth:`show_side_by_side`."""
        shown = [tile.currentWidget().objectName() for tile in self.tiles if tile.count()]
        return shown if len(shown) > 1 else []

    def arrange(self, places: Mapping[str, int]) -> None:
        """Show views at once, each in the tile of a number."""
        self.all_in_one()
        for view, place in places.items():
            self._move_to(self._views[view], place)
        self._make_tiles_equal()
        for view in reversed(list(places)):
            self.show_view(self._views[view])

    def name_windows(self, study: str) -> None:
        """Set the study's name in the titles of the windows."""
        self._study = study
        for window in self.windows.values():
            window.name_after(study)

    # ------------------------------------------------------------- actions

    def connect_actions(self, actions: Actions) -> None:
        """Point actions at the active view."""
        self._actions = actions
        actions.connect_verbs(
            next_page=lambda: self.turn(self._front(), 1),
            previous_page=lambda: self.turn(self._front(), -1),
            back=self.go_back,
            tear_off=lambda: self.tear_off(self._front()),
            show_beside=lambda: self.step(self._front(), _ACROSS),
            show_below=lambda: self.step(self._front(), _DOWN),
            all_in_one=self.all_in_one,
        )
        actions.arrangement_chosen.connect(lambda name: self.arrange(ARRANGEMENTS[name]))
        actions.page_chosen.connect(self.show_page)

    def refresh_actions(self, actions: Actions, shown: bool) -> None:
        """Enable what can be done with the active view, if the deck is shown at all."""
        front = self._front()
        place, tile = self.place(front), self.tile_of(front)
        at_right, at_bottom = (place or 0) % 2 == 1, (place or 0) >= _DOWN
        actions.show_beside.setText("Show at the &left" if at_right else "Show &beside")
        actions.show_below.setText("Show abo&ve" if at_bottom else "Show belo&w")
        turns = shown and tile is not None and len(tile.tabs()) > 1
        is_scattered = any(self.place(view) != 0 for view in self.pages)
        actions.enable("tear_off show_beside show_below", shown and self.can_leave(front))
        actions.enable("next_page previous_page", turns)
        actions.enable("back", shown and bool(self._visited))
        actions.enable("all_in_one", shown and is_scattered)
        for action in (*actions.pages, *actions.arrangements):
            action.setEnabled(shown)

    def _on_menu(self, tile: Tile, point: QPoint) -> None:
        view = tile.widget(tile.bar.tabAt(point))
        if isinstance(view, Page):
            self.show_view(view)
            menu = self._actions.view_menu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(tile.bar.mapToGlobal(point))

    # ------------------------------------------------------------- storing

    def arrangement(self) -> dict[str, Any]:
        """Return the arrangement as plain data, for :meth:`restore`."""
        places = {view.objectName(): self.place(view) for view in self.pages}
        return {
            "tiles": {name: place for name, place in places.items() if place},
            "front": [tile.currentWidget().objectName() for tile in self.tiles if tile.count()],
            "active": self._active,
            "sizes": [splitter.sizes() for splitter in self.splitters()],
            "windows": {
                name: [*window.geometry().getRect(), self._home[name]]  # type: ignore[misc]
                for name, window in self.windows.items()
            },
        }

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Restore a stored arrangement of views; ignore invalid parts."""
        self.all_in_one()
        for name, place in _pairs(kept.get("tiles")):
            view = self._find(name)
            if view is not None and place in range(1, len(self.tiles)) and self.can_leave(view):
                self._move_to(view, place)
        for name, rect in _pairs(kept.get("windows")):
            view = self._find(name)
            if view is not None and _is_numbers(rect) and len(rect) == 5:
                self.tear_off(view, QRect(*rect[:4]))
                self._home[name] = rect[4] if rect[4] in range(len(self.tiles)) else 0
        for name in kept.get("front", ()):
            view = self._find(name)
            if view is not None and name not in self.windows:
                self._bring_forward(view)
        self._make_tiles_equal()
        for splitter, sizes in zip(self.splitters(), kept.get("sizes", ()), strict=False):
            if _is_numbers(sizes) and any(sizes):
                splitter.setSizes(sizes)
        active = self._find(kept.get("active")) or self.tiles[0].views()[0]
        if active.objectName() in self.windows:
            self._activate(active)
        else:
            self._bring_forward(active)
        self._changed_soon.stop()

    # ------------------------------------------------------------- inside

    def _on_seen(self, page: Page) -> None:
        if page in self.pages and page.isVisible():
            self.made(page)

    def _insert(self, view: Page, place: int) -> None:
        """Insert a view into a tile, at its place in the order of the views."""
        tile, rank = self.tiles[place], self.pages.index(view)
        before = sum(self.pages.index(other) < rank for other in tile.views())
        tile.insertTab(before, view, view.title)
        tile.setCurrentWidget(view)  # a moved page is hidden by its former tile

    def _move_to(self, view: Page, place: int) -> None:
        if view.objectName() in self.windows:
            self._home[view.objectName()] = place
            self.windows[view.objectName()].close()
        elif self.place(view) != place:
            self._insert(view, place)
            self._activate(view)
            self._on_moved()

    def _put_back(self, view: PageView) -> None:
        window = self.windows.pop(view.objectName())
        self._insert(view, self._home[view.objectName()])
        window.deleteLater()
        self._activate(view)
        self._on_moved()

    def _on_moved(self) -> None:
        """Hide empty tiles and emit the change."""
        for tile in self.tiles:
            tile.setVisible(tile.count() > 0)
        for k, column in enumerate(self.columns):
            column.setVisible(any(tile.count() for tile in self.tiles[k::2]))
        self._mark_active()
        self._changed_soon.start()
        self.active_changed.emit()

    def _make_tiles_equal(self) -> None:
        for splitter in self.splitters():
            splitter.setSizes([10_000, 10_000])

    def _mark_active(self) -> None:
        several = sum(tile.count() > 0 for tile in self.tiles) > 1 or bool(self.windows)
        for tile in self.tiles:
            tile.mark_active(not several or tile.currentWidget() is self._front())

    def _activate(self, view: QWidget | None) -> None:
        before = self._active
        if isinstance(view, Page):
            self._active = view.objectName()
            if (tile := self.tile_of(view)) is not None:
                tile.remember(view)
        self._mark_active()
        if self._active != before:
            self._changed_soon.start()
            self.active_changed.emit()

    def _on_dropped(self, name: str, tile: Tile) -> None:
        view = self._views[name]
        if self.can_leave(view):
            self._move_to(view, self.tiles.index(tile))

    def _on_focus(self, _old: QWidget | None, now: QWidget | None) -> None:
        while now is not None and not isinstance(now, PageView):
            now = now.parentWidget()
        if now is not None and now in self.pages:
            self._activate(now)


def _pairs(kept: object) -> list[tuple[str, Any]]:
    return list(kept.items()) if isinstance(kept, Mapping) else []


def _is_numbers(kept: object) -> bool:
    return isinstance(kept, list) and all(type(number) is int for number in kept)
