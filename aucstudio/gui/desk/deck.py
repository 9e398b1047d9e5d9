"""The deck of views: tabs, up to four tiles, or separate windows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QPoint, QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QHBoxLayout, QSplitter, QWidget

from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.window_positions import on_some_screen
from aucstudio.gui.desk.actions import ARRANGEMENTS, Actions
from aucstudio.gui.desk.pages import page_of
from aucstudio.gui.desk.tiles import Page, StandIn, Tile, TileColumn, TornOff
from aucstudio.gui.state.timers import delayed

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
        In the order of their tabs. What stands in for a page is exchanged when the page is seen,
        or asked for.

    Signals
    -------
    active_changed
        Another view is the one that is saved and copied, or the views lie otherwise.
    layout_changed
        A person has moved something; comes once for many moves.
    """

    active_changed = Signal()
    layout_changed = Signal()

    def __init__(self, pages: Sequence[Page]) -> None:
        super().__init__()
        self.pages = list(pages)
        self.tiles = [Tile(name, accessible) for name, accessible in _TILES]
        self.windows: dict[str, TornOff] = {}
        self._home = {page.objectName(): 0 for page in pages}
        self._active = self.pages[0].objectName()
        self._study = "AUC Studio"
        self._picture_verbs: Sequence[QAction] = ()
        self._left: list[str] = []  # pages that were left for another one, the last one last
        self._soon = delayed(self, 300, self.layout_changed.emit)
        self._lay_out()
        self._withheld: frozenset[str] = frozenset()
        for page in self.pages:
            page.setMinimumWidth(_LEAST_VIEW)
            self._put(page, 0)
            if isinstance(page, StandIn):
                page.seen.connect(self._on_seen)
        self.tiles[0].setCurrentIndex(0)
        for tile in self.tiles:
            tile.currentChanged.connect(lambda _index, tile=tile: self._on_current(tile))
            tile.tabBarClicked.connect(lambda index, tile=tile: self._on_clicked(tile, index))
            tile.dropped.connect(lambda name, tile=tile: self._on_dropped(name, tile))
            tile.bar.dragged_out.connect(lambda name: self.tear_off(self._named(name)))
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]
        self._settle()
        self._soon.stop()

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
            splitter.splitterMoved.connect(lambda *_: self._soon.start())
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.across)

    # ------------------------------------------------------------- reading

    def splitters(self) -> list[QSplitter]:
        """List the splitters: between the columns, then within each."""
        return [self.across, *self.columns]

    def active(self) -> PageView:
        """Return the view that was last clicked into; it is the one that is saved and copied."""
        return self.made(self._front())

    def made(self, page: Page) -> PageView:
        """Return a page; it is made if it never was."""
        page = self._named(page.objectName())
        if isinstance(page, PageView):
            return page
        view = page.make()
        view.setMinimumWidth(_LEAST_VIEW)
        view.let_controls_shrink()
        view.picture_verbs = self._picture_verbs
        view.view_asked.connect(lambda name: self.show_view(self._named(name)))
        self.pages[self.pages.index(page)] = view
        tile = self.tile_of(page)
        if tile is not None:
            with QSignalBlocker(tile):  # nobody has turned a page
                tile.exchange(page, view)
        page.hide()
        page.setParent(None)  # else it would be found by its name
        page.deleteLater()
        return view

    def offer_in_pictures(self, verbs: Sequence[QAction]) -> None:
        """Offer what is done with a picture in the menus of all plots, made already or not."""
        self._picture_verbs = verbs
        for view in self.made_views():
            view.picture_verbs = verbs

    def made_views(self) -> list[PageView]:
        """List the pages that have been made."""
        return [page for page in self.pages if isinstance(page, PageView)]

    def visible_views(self) -> Iterator[PageView]:
        """Return every view that is on the screen now."""
        views = self.made_views()
        return (v for v in views if v.isVisible() and not v.window().isMinimized())

    def tile_of(self, view: Page) -> Tile | None:
        """Return the tile a view is in; None if it is torn off."""
        return next((tile for tile in self.tiles if tile.indexOf(view) >= 0), None)

    def can_leave(self, view: Page) -> bool:
        """Return whether a view may leave its tile; the first tile keeps one page."""
        tile = self.tile_of(view)
        return tile is not None and (tile is not self.tiles[0] or tile.count() > 1)

    def place(self, view: Page) -> int | None:
        """Return the number of the tile a view is in; None if it is torn off."""
        tile = self.tile_of(view)
        return None if tile is None else self.tiles.index(tile)

    # ------------------------------------------------------------- moving

    def show_view(self, view: Page) -> None:
        """Show a view in front, wherever it is, and activate it."""
        tile = self.tile_of(view)
        if tile is not None:
            tile.setCurrentWidget(view)
        else:
            window = self.windows[view.objectName()]
            window.raise_()
            window.activateWindow()
        self._make_active(view)

    def visit(self, name: str) -> tuple[PageView, str]:
        """Show a page temporarily; return it and the title of the page it covers."""
        left, view = self._front(), self.made(self._named(name))
        if left.objectName() != name:
            self._left = [one for one in self._left if one != left.objectName()]
            self._left.append(left.objectName())
        self.show_view(view)
        return view, left.title if self._left else ""

    def go_back(self) -> None:
        """Show the page that was active before."""
        if self._left:
            self.show_view(self._named(self._left.pop()))

    def turn(self, view: Page, pages: int) -> None:
        """Go so many pages on in the tile of a view; after the last one comes the first."""
        tile = self.tile_of(view)
        if tile is not None:
            views = tile.tabs()
            self.show_view(views[(views.index(view) + pages) % len(views)])

    def show_page(self, name: str) -> None:
        """Show a view; if its page is active already, the next view of the page."""
        view, front = self._named(name), self._front()
        tile = self.tile_of(view)
        beside = [] if tile is None else tile.of_page(view)
        if front in beside and view.objectName() == page_of(name).key:
            view = beside[(beside.index(front) + 1) % len(beside)]
        elif tile is not None and view.objectName() == page_of(name).key:
            view = next((one for one in beside if one in tile.tabs()), view)
        self.show_view(view)

    def withhold(self, names: Collection[str]) -> None:
        """Show no tab for views that have nothing to show; one that is in front is left."""
        if frozenset(names) == self._withheld:
            return
        self._withheld = frozenset(names)
        front = self.tiles[0].currentWidget()
        if front.objectName() in self._withheld and self.tiles[0].count() > 1:
            self.show_view(next(v for v in self.tiles[0].views() if v is not front))
        for tile in self.tiles:
            tile.withhold(names)

    def step(self, view: Page, step: int) -> None:
        """Move a view to the tile across (step 1) or in the other row (step 2)."""
        place = self.place(view)
        if place is not None and self.can_leave(view):
            self._move_to(view, place ^ step)

    def tear_off(self, page: Page, place: QRect | None = None) -> None:
        """Move a view into its own window; closing that puts the view back."""
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
        window.activated.connect(self._make_active)
        window.moved.connect(lambda _view: self._soon.start())
        window.show()
        self._make_active(view)
        self._settle()

    def all_in_one(self) -> None:
        """Put every view back into one row of tabs."""
        for view in self.pages:
            self._move_to(view, 0)
        self.show_view(self._front())

    def gather(self) -> None:
        """Put every view back without a signal: the window closes."""
        self.all_in_one()
        self._soon.stop()

    def arrange(self, name: str) -> None:
        """Arrange the views by name."""
        self._lay_beside(ARRANGEMENTS[name])

    def show_side_by_side(self, names: Sequence[str]) -> None:
        """Show up to four views at once; names that are unknown are passed over."""
        known = [view.objectName() for name in names if (view := self._known(name)) is not None]
        self._lay_beside({name: place for place, name in enumerate(known[: len(self.tiles)])})

    def side_by_side(self) -> list[str]:
        """Name the views that are seen at once, as :meth:`show_side_by_side` takes them."""
        shown = [tile.currentWidget().objectName() for tile in self.tiles if tile.count()]
        return shown if len(shown) > 1 else []

    def _lay_beside(self, front: Mapping[str, int]) -> None:
        self.all_in_one()
        for view, place in front.items():
            self._move_to(self._named(view), place)
        self._halve()
        for view in reversed(list(front)):
            self.show_view(self._named(view))

    def name_windows(self, study: str) -> None:
        """Put the study's name at the top of the windows."""
        self._study = study
        for window in self.windows.values():
            window.name_after(study)

    # ------------------------------------------------------------- actions

    def obey(self, verbs: Actions) -> None:
        """Do what the actions say, with the active view."""
        self._verbs = verbs
        verbs.next_page.triggered.connect(lambda: self.turn(self._front(), 1))
        verbs.previous_page.triggered.connect(lambda: self.turn(self._front(), -1))
        verbs.back.triggered.connect(self.go_back)
        verbs.tear_off.triggered.connect(lambda: self.tear_off(self._front()))
        verbs.show_beside.triggered.connect(lambda: self.step(self._front(), _ACROSS))
        verbs.show_below.triggered.connect(lambda: self.step(self._front(), _DOWN))
        verbs.all_in_one.triggered.connect(self.all_in_one)
        verbs.arrangement_chosen.connect(self.arrange)
        verbs.page_chosen.connect(self.show_page)
        for tile in self.tiles:
            tile.bar.customContextMenuRequested.connect(
                lambda point, tile=tile: self._on_menu(tile, point)
            )

    def refresh_verbs(self, verbs: Actions, shown: bool) -> None:
        """Offer what can be done with the active view, if the deck is shown at all."""
        place = self.place(self._front())
        free = shown and self.can_leave(self._front())
        for action in (verbs.tear_off, verbs.show_beside, verbs.show_below):
            action.setEnabled(free)
        at_right, at_bottom = (place or 0) % 2 == 1, (place or 0) >= _DOWN
        verbs.show_beside.setText("Show at the &left" if at_right else "Show &beside")
        verbs.show_below.setText("Show abo&ve" if at_bottom else "Show belo&w")
        tile = self.tile_of(self._front())
        for action in (verbs.next_page, verbs.previous_page):
            action.setEnabled(shown and tile is not None and len(tile.tabs()) > 1)
        for action in verbs.pages:
            action.setEnabled(shown)
        verbs.back.setEnabled(shown and bool(self._left))
        scattered = any(self.place(view) != 0 for view in self.pages)
        verbs.all_in_one.setEnabled(shown and scattered)
        for action in verbs.arrangements:
            action.setEnabled(shown)

    def _on_menu(self, tile: Tile, point: QPoint) -> None:
        view = tile.widget(tile.bar.tabAt(point))
        if isinstance(view, Page):
            self.show_view(view)
            menu = self._verbs.view_menu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(tile.bar.mapToGlobal(point))

    # ------------------------------------------------------------- keeping

    def arrangement(self) -> dict[str, Any]:
        """Write where everything is as plain data, for :meth:`restore`."""
        return {
            "tiles": {
                v.objectName(): p for v in self.pages if (p := self.place(v)) not in (None, 0)
            },
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
            view = self._known(name)
            if view is not None and place in range(1, len(self.tiles)) and self.can_leave(view):
                self._move_to(view, place)
        for name, rect in _pairs(kept.get("windows")):
            view = self._known(name)
            if view is not None and _is_numbers(rect) and len(rect) == 5:
                self.tear_off(view, QRect(*rect[:4]))
                self._home[name] = rect[4] if rect[4] in range(len(self.tiles)) else 0
        for name in kept.get("front", ()):
            view = self._known(name)
            if view is not None and view.objectName() not in self.windows:
                self.show_view(view)
        self._halve()
        for splitter, sizes in zip(self.splitters(), kept.get("sizes", ()), strict=False):
            if _is_numbers(sizes) and any(sizes):
                splitter.setSizes(sizes)
        active = self._known(kept.get("active")) or self.tiles[0].views()[0]
        if active.objectName() in self.windows:
            self._make_active(active)
        else:
            self.show_view(active)
        self._soon.stop()

    def _front(self) -> Page:
        return self._named(self._active)

    def _known(self, name: object) -> Page | None:
        return next((view for view in self.pages if view.objectName() == name), None)

    def _named(self, name: str) -> Page:
        return next(view for view in self.pages if view.objectName() == name)

    # ------------------------------------------------------------- inside

    def _on_seen(self, page: Page) -> None:
        if page in self.pages and page.isVisible():
            self.made(page)

    def _put(self, view: Page, place: int) -> None:
        """Put a view into a tile, at its place in the order of the views."""
        tile = self.tiles[place]
        rank = self.pages.index(view)
        before = sum(self.pages.index(other) < rank for other in tile.views())
        tile.insertTab(before, view, view.title)
        # A page that is moved comes hidden out of its former place.
        tile.setCurrentWidget(view)

    def _move_to(self, view: Page, place: int) -> None:
        if view.objectName() in self.windows:
            self._home[view.objectName()] = place
            self.windows[view.objectName()].close()
        elif self.place(view) != place:
            self._put(view, place)
            self._make_active(view)
            self._settle()

    def _put_back(self, view: PageView) -> None:
        window = self.windows.pop(view.objectName())
        self._put(view, self._home[view.objectName()])
        window.deleteLater()
        self._make_active(view)
        self._settle()

    def _settle(self) -> None:
        """Hide empty tiles and notify."""
        for tile in self.tiles:
            tile.setVisible(tile.count() > 0)
        for k, column in enumerate(self.columns):
            column.setVisible(any(tile.count() for tile in self.tiles[k::2]))
        self._mark()
        self._soon.start()
        self.active_changed.emit()

    def _halve(self) -> None:
        """Make all tiles equally large."""
        for splitter in self.splitters():
            splitter.setSizes([10_000, 10_000])

    def _mark(self) -> None:
        several = sum(tile.count() > 0 for tile in self.tiles) > 1 or bool(self.windows)
        for tile in self.tiles:
            tile.mark_active(not several or tile.currentWidget() is self._front())

    def _make_active(self, view: Page) -> None:
        if (tile := self.tile_of(view)) is not None:
            tile.remember(view)
        if view.objectName() != self._active:
            self._active = view.objectName()
            self._mark()
            self._soon.start()
            self.active_changed.emit()

    def _on_current(self, tile: Tile) -> None:
        view = tile.currentWidget()
        if isinstance(view, Page):
            self._make_active(view)
        self._mark()

    def _on_clicked(self, tile: Tile, index: int) -> None:
        view = tile.widget(index)
        if isinstance(view, Page):
            self._make_active(view)

    def _on_dropped(self, name: str, tile: Tile) -> None:
        view = self._named(name)
        if self.can_leave(view):
            self._move_to(view, self.tiles.index(tile))

    def _on_focus(self, _old: QWidget | None, now: QWidget | None) -> None:
        while now is not None and not isinstance(now, PageView):
            now = now.parentWidget()
        if now is not None and now in self.pages:
            self._make_active(now)


def _pairs(kept: object) -> list[tuple[str, Any]]:
    return list(kept.items()) if isinstance(kept, Mapping) else []


def _is_numbers(kept: object) -> bool:
    return isinstance(kept, list) and all(type(number) is int for number in kept)
