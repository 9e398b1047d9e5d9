"""The deck of views: tabs, up to four tiles, or separate windows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QWidget

from aucstudio.gui.common.focus import focus_within
from aucstudio.gui.common.layouts import Panes, down, on_some_screen
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import set_style
from aucstudio.gui.desk.actions import ARRANGEMENTS, PAGES, VIEWS, Actions, page_of
from aucstudio.gui.desk.tiles import EQUAL, Tile, TileArea, TornOff
from aucstudio.gui.state.background import Turns, delayed

_TITLES = {view.name: view.title for view in VIEWS}


# Two rows of two; tile k is in row k // 2 and column k % 2.
_TILES = (
    ("view_tabs", "Views"),
    ("view_tabs_beside", "Views on the right"),
    ("view_tabs_below", "Views below"),
    ("view_tabs_corner", "Views below at the right"),
)
_ACROSS, _DOWN = 1, 2
_TORN_SIZE, _LEAST_SIZE = QSize(720, 560), QSize(320, 240)
_LEAST_VIEW = 240


class Deck(QWidget):
    """Shows every view once: in one of four tiles, or in a window of its own.

    What is shown follows from the tile of each view and from the order in which the views were
    last used: of each tile the latest is in front, and the latest of all is the active one, which
    is saved and copied.

    Parameters
    ----------
    makers : mapping of str to callable
        Makes a view by its name, when it is first shown or requested. In the order of the tabs.

    Attributes
    ----------
    names : tuple of str
        Of all views.
    windows : dict of str to TornOff
        Views that have a window of their own.

    Signals
    -------
    active_changed
        Another view is active, or the arrangement changed.
    layout_changed
        The user changed the arrangement; emitted once for many changes.
    view_shown
        A view was brought forward at the user's request.
    """

    active_changed = Signal()
    layout_changed = Signal()
    view_shown = Signal()

    def __init__(self, makers: Mapping[str, Callable[[], PageView]]) -> None:
        super().__init__()
        self.names = tuple(makers)
        self._makers = makers
        self._begun: dict[str, PageView] = {}  # parts of which are not made yet
        self._made: dict[str, PageView] = {}
        self._tile = dict.fromkeys(self.names, 0)  # also of a view with a window of its own
        self._recent = list(self.names)  # the latest first
        self._hidden: frozenset[str] = frozenset()
        self._visited: list[str] = []  # views that Back returns to, the latest last
        self.windows: dict[str, TornOff] = {}
        self._study = "AUC Studio"
        self._picture_actions: Sequence[QAction] = ()
        self._changed_soon = delayed(self, 300, self.layout_changed.emit)
        self._turns = Turns(self)
        self.tiles = [Tile(name, accessible) for name, accessible in _TILES]
        self._lay_out()
        for tile in self.tiles:
            tile.chosen.connect(self._activate)
            tile.menu_asked.connect(self._on_menu)
            tile.view_needed.connect(lambda: self._turns.ask(self._make_next))
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]
        self._sync()

    def _lay_out(self) -> None:
        self.across, self.columns = Panes(Qt.Orientation.Horizontal), [Panes(), Panes()]
        for k, column in enumerate(self.columns):
            column.addWidget(self.tiles[k])
            column.addWidget(self.tiles[k + _DOWN])
            self.across.addWidget(column)
        for splitter in self.splitters():
            splitter.splitterMoved.connect(lambda *_: self._changed_soon.start())
        self.area = TileArea(self.across)
        self.setLayout(down(self.area))

    # ------------------------------------------------------------- reading

    def splitters(self) -> list[Panes]:
        """List the splitters: between the columns, then within each."""
        return [self.across, *self.columns]

    def active(self) -> PageView:
        """Return the view that was last used; it is the one that is saved and copied."""
        return self.view(self._recent[0])

    def view(self, name: str) -> PageView:
        """Return a view; make it if it was not needed before."""
        if name not in self._made:
            view = self._begin(name)
            view.making.take_all()
            self._made[name] = self._begun.pop(name)
            view.setMinimumWidth(_LEAST_VIEW)
            view.let_controls_shrink()
            view.picture_verbs = self._picture_actions
            view.view_asked.connect(self.bring_forward)
            self._sync()
        return self._made[name]

    def _begin(self, name: str) -> PageView:
        """Return a view whose parts may not be made yet; the deck owns it."""
        if name not in self._begun:
            self._begun[name] = self._makers[name]()
            self._begun[name].setParent(self)
        return self._begun[name]

    def _make_next(self) -> None:
        """Make and show the view of one tile on the screen; the next one in another turn."""
        lacking = [k for k, tile in enumerate(self.tiles) if tile.lacks_view]
        if lacking:
            self._turns.ask(self._make_next)
            name = self.in_tile(lacking[0])[0]
            is_begun = name in self._begun
            if name in self._made:
                self.tiles[lacking[0]].show_front(self._made[name])
            elif not self._begin(name).making.waiting and is_begun:
                self.view(name)

    def offer_in_pictures(self, actions: Sequence[QAction]) -> None:
        """Offer actions on pictures in the menus of all plots."""
        self._picture_actions = actions
        for view in self.made_views():
            view.picture_verbs = actions

    def made_views(self) -> list[PageView]:
        """List the views that have been made, in the order of their tabs."""
        return [self._made[name] for name in self.names if name in self._made]

    def visible_views(self) -> Iterator[PageView]:
        """Return every view that is on the screen now."""
        views = self.made_views()
        return (v for v in views if v.isVisible() and not v.window().isMinimized())

    def place(self, name: str) -> int | None:
        """Return the number of the tile of a view; None if it has a window of its own."""
        return None if name in self.windows else self._tile[name]

    def in_tile(self, place: int) -> list[str]:
        """List the views of a tile, the one in front first."""
        return [name for name in self._recent if self.place(name) == place]

    def can_leave(self, name: str) -> bool:
        """Return whether a view may leave its tile; the first tile keeps one view."""
        place = self.place(name)
        return place is not None and (place != 0 or len(self.in_tile(0)) > 1)

    # ------------------------------------------------------------- showing

    def show_view(self, view: PageView) -> None:
        """Show a view at the user's request."""
        self.bring_forward(view.objectName())

    def bring_forward(self, name: str) -> None:
        """Show a view at the user's request in front, wherever it is, and activate it."""
        if name in self.windows:
            self.windows[name].raise_()
            self.windows[name].activateWindow()
        self._activate(name)
        if (place := self.place(name)) is not None:
            self.area.ensureWidgetVisible(self.tiles[place])
        self.view_shown.emit()

    def visit(self, name: str) -> tuple[PageView, str]:
        """Show a view from which Back returns; return it and the title of the view before."""
        left = self._recent[0]
        if left != name:
            self._visited = [*(one for one in self._visited if one != left), left]
        self.bring_forward(name)
        return self.view(name), _TITLES[left] if self._visited else ""

    def go_back(self) -> None:
        """Show the view that was active before."""
        if self._visited:
            self.bring_forward(self._visited.pop())

    def turn(self, tabs: int) -> None:
        """Show the view some tabs after the active one in its tile; the first follows the last."""
        name = self._recent[0]
        if (place := self.place(name)) is not None:
            names = self.tiles[place].names
            self.bring_forward(names[(names.index(name) + tabs) % len(names)])

    def show_page(self, name: str) -> None:
        """Show a view and move the focus to it.

        The name of a page stands for its view used last, or for the next one if that has the focus.
        """
        active, focus = self._made.get(self._recent[0]), QApplication.focusWidget()
        page, place = page_of(name), self.place(name)
        if name == page.key and place is not None:
            here = [view.name for view in page.views if self.place(view.name) == place]
            front = min(here, key=self._recent.index)
            step = active is not None and focus is not None and active.isAncestorOf(focus)
            name = here[(here.index(front) + (step and front == self._recent[0])) % len(here)]
        self.bring_forward(name)
        self._focus_active() if name in self._made else self._turns.ask(self._focus_active)

    def _focus_active(self) -> None:
        focus_within(self.active())

    def hide_tabs(self, names: Collection[str]) -> None:
        """Hide the tabs of views that have nothing to show, unless they are requested."""
        if frozenset(names) != self._hidden:
            self._hidden = frozenset(names)
            self._recent.sort(key=self._hidden.__contains__)
            self._sync()
            self.active_changed.emit()

    # ------------------------------------------------------------- moving

    def step(self, step: int) -> None:
        """Move the active view to the tile across (step 1) or in the other row (step 2)."""
        name = self._recent[0]
        if self.can_leave(name):
            self._put(name, self._tile[name] ^ step)
            self._on_moved()

    def tear_off(self, name: str, place: QRect | None = None) -> None:
        """Move a view into its own window; closing the window puts the view back."""
        if not self.can_leave(name):
            return
        view = self.view(name)
        corner = view.mapToGlobal(QPoint(48, 48))
        self.tiles[self._tile[name]].show_front(None)
        window = self.windows[name] = TornOff(view)
        window.setGeometry(on_some_screen(place or QRect(corner, _TORN_SIZE), _LEAST_SIZE))
        window.name_after(self._study)
        window.addActions(self.window().actions())
        window.closed.connect(self._on_closed)
        window.activated.connect(self._activate)
        window.moved.connect(self._changed_soon.start)
        self._put(name, self._tile[name])
        self._on_moved()
        window.show()

    def all_in_one(self) -> None:
        """Put every view back into one row of tabs."""
        self._gather()
        self._on_moved()

    def close_windows(self) -> None:
        """Put every view back without a signal."""
        self._gather()
        self._sync()

    def show_side_by_side(self, names: Sequence[str]) -> None:
        """Show up to four views at once; unknown names are ignored."""
        known = [name for name in names if name in self._tile]
        self.arrange({name: place for place, name in enumerate(known[: len(self.tiles)])})

    def side_by_side(self) -> list[str]:
        """Return the names of the views shown at once, for :meth:`show_side_by_side`."""
        shown = self._fronts()
        return shown if len(shown) > 1 else []

    def arrange(self, places: Mapping[str, int]) -> None:
        """Show views at once, each in the tile of a number; the first one is active."""
        self._gather()
        for name in reversed(list(places)):
            self._put(name, places[name])
        self._on_moved()
        self._make_tiles_equal()
        self.view_shown.emit()

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
            next_page=lambda: self.turn(1),
            previous_page=lambda: self.turn(-1),
            back=self.go_back,
            tear_off=lambda: self.tear_off(self._recent[0]),
            show_beside=lambda: self.step(_ACROSS),
            show_below=lambda: self.step(_DOWN),
            all_in_one=self.all_in_one,
        )
        actions.arrangement_chosen.connect(lambda name: self.arrange(ARRANGEMENTS[name]))
        actions.page_chosen.connect(self.show_page)

    def refresh_actions(self, actions: Actions, shown: bool) -> None:
        """Enable what can be done with the active view, if the deck is shown at all."""
        front = self._recent[0]
        place = self.place(front)
        at_right, at_bottom = (place or 0) % 2 == 1, (place or 0) >= _DOWN
        actions.show_beside.setText("Show at the &left" if at_right else "Show &beside")
        actions.show_below.setText("Show abo&ve" if at_bottom else "Show belo&w")
        turns = shown and place is not None and len(self.tiles[place].names) > 1
        is_scattered = any(self.place(name) != 0 for name in self.names)
        actions.enable("tear_off show_beside show_below", shown and self.can_leave(front))
        actions.enable("next_page previous_page", turns)
        actions.enable("back", shown and bool(self._visited))
        actions.enable("all_in_one", shown and is_scattered)
        for action in (*actions.pages, *actions.arrangements):
            action.setEnabled(shown)

    def _on_menu(self, name: str, at: QPoint) -> None:
        self.bring_forward(name)
        self._actions.view_menu(self).popup(at)

    # ------------------------------------------------------------- storing

    def arrangement(self) -> dict[str, Any]:
        """Return the arrangement as plain data, for :meth:`restore`."""
        return {
            "tiles": {name: place for name in self.names if (place := self.place(name))},
            "front": self._fronts(),
            "active": self._recent[0],
            "sizes": [self.area.widths(), *(column.sizes() for column in self.columns)],
            "windows": {
                name: [*window.geometry().getRect(), self._tile[name]]  # type: ignore[misc]
                for name, window in self.windows.items()
            },
        }

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Restore a stored arrangement of views; ignore invalid parts."""
        self._gather()
        tiles = range(len(self.tiles))
        for name, place in _pairs(kept.get("tiles")):
            if name in self._tile and place in tiles and self.can_leave(name):
                self._put(name, place)
        for name, rect in _pairs(kept.get("windows")):
            if name in self._tile and _is_numbers(rect) and len(rect) == 5 and rect[4] in tiles:
                self._put(name, rect[4])
                self.tear_off(name, QRect(*rect[:4]))
        first = next(name for name in self.names if self.place(name) == 0)
        active = kept.get("active") if kept.get("active") in self.names else first
        for name in (*kept.get("front", ()), active):
            if name in self.names:
                self._put(name, self._tile[name])
        self._on_moved()
        self._make_tiles_equal()
        for splitter, sizes in zip(self.splitters(), kept.get("sizes", ()), strict=False):
            if _is_numbers(sizes) and any(sizes):
                splitter.setSizes(sizes)
        self._changed_soon.stop()

    # ------------------------------------------------------------- inside

    def _fronts(self) -> list[str]:
        """List the views in front of the tiles."""
        return [names[0] for k in range(len(self.tiles)) if (names := self.in_tile(k))]

    def _put(self, name: str, place: int) -> None:
        """Place a view in a tile as the one used last; :meth:`_sync` then shows it."""
        self._tile[name] = place
        self._recent.remove(name)
        self._recent.insert(0, name)

    def _gather(self) -> None:
        """Place every view in the first tile; their order of use stays."""
        for name in list(self.windows):
            self._put_back(name)
        self._tile = dict.fromkeys(self.names, 0)

    def _put_back(self, name: str) -> None:
        """Take a view out of its window, which is deleted."""
        window = self.windows.pop(name)
        self.tiles[self._tile[name]].hold(window.view)
        window.hide()
        window.deleteLater()

    def _on_closed(self, name: str) -> None:
        if name in self.windows:
            self._put_back(name)
            self._put(name, self._tile[name])
            self._on_moved()

    def _activate(self, name: str) -> None:
        if name != self._recent[0]:
            self._put(name, self._tile[name])
            self._on_moved()

    def _on_moved(self) -> None:
        self._sync()
        self._changed_soon.start()
        self.active_changed.emit()

    def _sync(self) -> None:
        """Show each view where it is placed."""
        several = len(self._fronts()) + len(self.windows) > 1
        held = [(tile, self.in_tile(k)) for k, tile in enumerate(self.tiles)]
        for tile, names in held:
            tile.setVisible(bool(names))
            tile.show_tabs(self._tabs(names), names[0] if names else "")
            # Before a view leaves: else Qt shows another one in its place.
            front = self._made.get(names[0]) if names else None
            tile.show_front(front if tile.shows(front) else None)
            set_style(tile.bar, "active", not several or names[:1] == self._recent[:1])
        for tile, names in held:
            for view in [self._made[name] for name in names if name in self._made]:
                tile.hold(view)
            front = self._made.get(names[0]) if names else None
            # The views of other tiles follow, each in a turn of its own.
            is_shown = names[:1] == self._recent[:1] or tile.shows(front)
            tile.show_front(front if is_shown else None)
        for k, column in enumerate(self.columns):
            column.setVisible(bool(self.in_tile(k) or self.in_tile(k + _DOWN)))
        for name, view in self._made.items():
            beside = self.in_tile(self._tile[name]) if name not in self.windows else [name]
            same = [one for one in page_of(name).views if one.name in beside]
            view.offer_views([(one.name, one.switch or one.title) for one in same])

    def _make_tiles_equal(self) -> None:
        for splitter in self.splitters():
            splitter.setSizes(EQUAL)

    def _tabs(self, names: list[str]) -> list[tuple[str, str]]:
        """Return the tabs of a tile by its views: of each page the one used last, and a title."""
        listed = [name for name in names if name not in self._hidden or name == names[0]]
        shown = {page_of(name): name for name in reversed(listed)}
        return [
            (shown[page], page.title if page.key in names else _TITLES[shown[page]])
            for page in PAGES
            if page in shown
        ]

    def _on_focus(self, _old: QWidget | None, now: QWidget | None) -> None:
        while now is not None and not isinstance(now, PageView):
            now = now.parentWidget()
        # A view that comes back from its window may keep the focus while it is hidden.
        if now is not None and now.isVisible() and self._made.get(now.objectName()) is now:
            self._activate(now.objectName())


def _pairs(kept: object) -> list[tuple[str, Any]]:
    return list(kept.items()) if isinstance(kept, Mapping) else []


def _is_numbers(kept: object) -> bool:
    return isinstance(kept, list) and all(type(number) is int for number in kept)
