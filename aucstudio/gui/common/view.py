"""The frame of a page view: controls, picture and conclusion."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence, Set
from functools import partial
from typing import Any, ClassVar

from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QSize, Signal
from PySide6.QtGui import QAction, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QGraphicsItem,
    QHBoxLayout,
    QLabel,
    QLayout,
    QMenu,
    QToolButton,
    QWidget,
)

from aucstudio.gui.common.buttons import make_action
from aucstudio.gui.common.controls import ControlRow, Segments, SplitCombo
from aucstudio.gui.common.focus import order_tabs
from aucstudio.gui.common.layouts import TOP, across, down, holding, scrolled
from aucstudio.gui.common.plots.plot import Plot, plot_menu
from aucstudio.gui.common.plotting import style_plot
from aucstudio.gui.common.sentence import Sentence
from aucstudio.gui.common.theme import scaled, set_icon
from aucstudio.gui.common.widgets import hint_label, named
from aucstudio.gui.state.background import Answer, Turns
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.results.page import Block
from aucstudio.project.survey.rows import FALSE_ALARM, MISSED

_LEAST_COMBO = 64
_LEAST_PICTURE = 160  # pixels of height


class PageView(QWidget):
    """A page of the centre; it is refreshed while it is visible, once for several changes.

    A subclass adds controls to ``controls``, calls ``set_content`` with its pictures, and
    implements ``refresh`` and, if it shows the run in progress, ``refresh_live``. What takes long
    to make is asked of ``making`` in steps; what a step makes has a parent when the step ends.

    Attributes
    ----------
    listens_to : mapping of str to str
        Class attribute: maps a field of the session to the method that handles its change:
        ``mark_stale``, ``follow_live``, or a method that updates a part of a visible page.
    session : Session
    making : Turns
        Of making its parts.
    controls, body : QHBoxLayout
    pictures : sequence of Plot
        All plots of the page.
    axes : sequence of QComboBox
        Lists of axes, which are repeated in the menu of a plot.
    content, hint : QWidget, QLabel
        The pictures, and the text in their place if there are none.
    follow_check : QCheckBox
        Whether to show the run in progress, on pages that can.
    sentence : Sentence
        The conclusion: one sentence, and details on demand.
    shows_threshold : bool
        Class attribute: whether the page shows the threshold and its errors.
    is_stale : bool
        Whether the page is to be refreshed, soon if it is visible.
    lacks, soon, aim : str
        Class attributes, for an empty page: what the selected run does not have, what follows
        while a run is training, and what the page shows.
    picture_verbs : sequence of QAction
        Actions of the window on the picture and its numbers, for the menu of a plot.
    view_asked : Signal(str)
        Another view of the same page was chosen.
    """

    view_asked = Signal(str)
    pictures: Sequence[Plot] = ()
    axes: Sequence[QComboBox] = ()
    content: QWidget
    hint: QLabel
    follow_check: QCheckBox

    listens_to: ClassVar[Mapping[str, str]] = {
        "table": "mark_stale",
        "runs": "mark_stale",
        "selection": "mark_stale",
        "live": "follow_live",
    }

    shows_threshold: ClassVar = False
    lacks: ClassVar[str] = ""
    soon: ClassVar[str] = ""
    aim: ClassVar[str] = ""

    def __init__(self, session: Session, name: str, title: str) -> None:
        super().__init__()
        self.session = session
        self.title = title
        session.changed.connect(self._on_session_changed)
        named(self, name, title)
        self._short_name = name.removesuffix("_view")
        self.controls = ControlRow()
        self.body = QHBoxLayout()
        self.sentence = Sentence(f"{name}_sentence")
        self.switch = Segments(f"{name}_switch", "View of the page")
        self.switch.chosen.connect(self.view_asked)
        self.controls.addWidget(self.switch)
        top = across((self.controls, 1), (self._make_export_button(), TOP))
        self.frame = down(top, (self.body, 1), self.sentence, around=(8, 8, 8, 0))
        self.setLayout(self.frame)
        self.picture_verbs: Sequence[QAction] = ()
        self.is_stale = self._is_new = True
        self.making = Turns(self)

    def _on_session_changed(self, fields: Set[str]) -> None:
        handlers = {self.listens_to[field] for field in fields & self.listens_to.keys()}
        if "mark_stale" in handlers:
            self.mark_stale()
        for handler in sorted(handlers - {"mark_stale", "follow_live"}):
            self.update_part(getattr(self, handler))
        if "follow_live" in handlers:
            self.follow_live()

    def update_part(self, update: Callable[[], object]) -> None:
        """Update a part of a visible page; a hidden page is refreshed as a whole later."""
        if not self.is_stale:
            update() if self.isVisible() else self.mark_stale()

    def set_content(self, layout: QLayout, hint: str, *, scrolls: bool = False) -> None:
        """Set the pictures of the page, and the text in their place until they are shown.

        A page that scrolls keeps the least heights of its pictures where it is low.
        """
        self.content = holding(layout)
        if scrolls:
            area = scrolled(self.content)
            area.setFrameShape(QFrame.Shape.NoFrame)
            self.content = area
        self.hint = hint_label(f"{self._short_name}_hint")
        self.hint.setText(hint)
        for part in (self.hint, self.content):
            part.hide()  # show_content shows one of them
            self.body.addWidget(part, stretch=1)

    def show_content(self, shown: bool) -> None:
        """Show the pictures, or the text in their place."""
        self.content.setVisible(shown)
        self.hint.setVisible(not shown)
        layout = self.layout()
        if layout is not None:
            layout.activate()  # fit_page reads the sizes of the pictures

    def busy(self) -> bool:
        """Return whether a part of the page is being computed, or will be after a drag."""
        is_waiting = "band_rested" in self.listens_to and self.session.is_band_moving
        is_waiting |= self.is_stale and self.isVisible()
        return is_waiting or any(answer.busy for answer in self.findChildren(Answer))

    def forget_answers(self) -> None:
        """Cancel all computations and drop their results, which may hold records of other runs."""
        for answer in self.findChildren(Answer):
            answer.forget()

    def seen_runs(self) -> list[ShownRun]:
        """List the checked runs and, last, the selected run, which the conclusion describes."""
        chosen, checked = self.session.run(self.session.selected), self.session.checked_runs()
        if chosen is None or not chosen.record.splits:
            return checked
        return [*(run for run in checked if run.record.id != chosen.record.id), chosen]

    def choose_split(self, name: str) -> SplitCombo:
        """Add the choice of the split that the session is about."""
        combo: SplitCombo = self.controls.splits(
            name, lambda: self.session.point_at(split=combo.currentIndex())
        )
        return combo

    def offer_following(self) -> None:
        """Add the choice between the run in progress and the selected run."""
        check = named(QCheckBox(), f"{self._short_name}_follow_check", like="follow_check")
        check.setChecked(True)
        check.hide()
        self.follow_check = self.controls.put(check)
        self.follow_check.toggled.connect(self.mark_stale)

    def can_follow(self, live: LiveRun) -> bool:
        """Return whether the page can show this run in progress."""
        return False

    def followed(self) -> LiveRun | None:
        """Offer to follow the run in progress; return it if it is followed."""
        live = self.session.live
        offered = live is not None and self.can_follow(live)
        self.follow_check.setVisible(offered)
        return live if offered and self.follow_check.isChecked() else None

    def _make_export_button(self) -> QToolButton:
        name = self.objectName()
        button = named(QToolButton(), f"{name}_export_button", like="export_button_of_view")
        set_icon(button, "export")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = named(QMenu(button), f"{name}_export_menu", "Export")
        menu.aboutToShow.connect(partial(self._fill_export_menu, menu))
        button.setMenu(menu)
        return button

    def _fill_export_menu(self, menu: QMenu) -> None:
        menu.clear()
        menu.addActions([*self.picture_verbs])
        own = self.exports()
        if own:
            menu.addSeparator()
            menu.addActions([*own])

    def exports(self) -> Sequence[QAction]:
        """List the exports of this page besides the picture and its numbers."""
        return ()

    def offer_views(self, views: Sequence[tuple[str, str]]) -> None:
        """Offer the views that share a tab, by name and title; this is one of them."""
        self.switch.offer(views, self.objectName())

    def figure(self) -> Plot:
        """Return the plot to save, copy or print: the first visible one."""
        seen = (plot for plot in self.pictures if plot.isVisibleTo(self))
        return next(seen, self.pictures[0])

    def plots(self) -> list[Plot]:
        """List all plots of the page."""
        return list(self.pictures)

    def show_menu(self, plot: Plot, place: QPoint) -> QMenu:
        """Open the menu of a plot at a position on the screen."""
        menu = self.menu_of(plot)
        menu.popup(place)
        return menu

    def menu_of(self, plot: Plot) -> QMenu:
        """Make the menu of a plot."""
        menu = plot_menu(plot, self.picture_verbs, self.axes)
        for words, rows, part in self.rows_in_data():
            name = f"plot_data_{part.replace(' ', '_') or 'row'}_action"
            make_action(menu, name, words, verb=partial(self.session.show_rows, rows, part))
        for row in self._rows_to_explain():
            words, verb = f"Explain row {row + 1:,}", partial(self.session.explain_row, row)
            make_action(menu, f"plot_explain_{row}_action", words, verb=verb)
        return menu

    def rows_in_data(self) -> Sequence[tuple[str, tuple[int, ...], str]]:
        """List the rows that the menu of a plot offers to show on the page Data.

        Returns
        -------
        offered : sequence of (str, tuple of int, str)
            Text; and rows or a part of the table, as ``Session.show_rows`` takes them.
        """
        focus, table = self.session.focus, self.session.table
        offered: list[tuple[str, tuple[int, ...], str]] = []
        if table is not None and focus.row is not None and focus.row < table.rows:
            offered.append((f"Show row {focus.row + 1:,} in Data", (focus.row,), ""))
        if table is not None and focus.pair is not None and max(focus.pair) < table.rows:
            offered.append(("Show the pair in Data", focus.pair, ""))
        run = self.session.run(self.session.selected)
        if self.shows_threshold and table is not None and run is not None and run.record.splits:
            offered.append(("Show false positives in Data", (), FALSE_ALARM))
            offered.append(("Show missed positives in Data", (), MISSED))
        return offered

    def _rows_to_explain(self) -> list[int]:
        """List the selected row and the rows of the selected pair."""
        focus, table = self.session.focus, self.session.table
        if table is None or not self.session.explains_rows:
            return []
        rows = [*(() if focus.row is None else (focus.row,)), *(focus.pair or ())]
        return [row for row in dict.fromkeys(rows) if row < table.rows]

    def footnote(self) -> str:
        """Explain marks that have no label in the picture."""
        return ""

    def figure_data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        """Return the numbers of the picture: columns of equal length, in long form."""
        return {}

    def report_blocks(self) -> Sequence[Block]:
        """Return the results on this page for a report on the study."""
        return ()

    def refresh(self) -> None:
        """Show the state of the session."""

    def refresh_live(self) -> None:
        """Show the run in progress, or remove it when there is none."""

    def follow_live(self) -> None:
        """Show the run in progress soon, if the page is visible."""
        if self.isVisible() and not self.window().isMinimized():
            self.session.turns.ask(self.refresh_live)

    def moving(self) -> Container[QGraphicsItem]:
        """Return the items that change with the run in progress."""
        return ()

    def keep_still(self) -> None:
        """Paint static items from cached pictures while a run is in progress."""
        flying = self.session.live is not None
        for plot in self.plots():
            plot.keep_still(self.moving() if flying else None)

    def mark_stale(self) -> None:
        """Refresh soon, or when the page becomes visible."""
        self.is_stale = True
        if self.isVisible():
            self.session.turns.ask(self._refresh_if_stale)

    def restyle(self) -> None:
        """Apply the current theme."""
        for plot in self.plots():
            style_plot(plot)
        self.fit_page()  # the text may have another size
        self.mark_stale()

    def let_controls_shrink(self) -> None:
        """Shrink the lists above the picture in a narrow window."""
        for combo in self.findChildren(QComboBox):
            combo.setMinimumWidth(_LEAST_COMBO)

    def fit_page(self) -> None:
        """Fit the page to its size."""

    def minimumSizeHint(self) -> QSize:
        # A lower window scrolls, rather than squeezing the picture.
        needed, picture = super().minimumSizeHint(), self.body.minimumSize().height()
        return needed + QSize(0, max(0, scaled(_LEAST_PICTURE) - picture))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.sentence.fit()  # its lines depend on the height of the page too
        if not self.making.waiting:  # the first size comes before the page is shown
            self.fit_page()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_new:
            self._is_new = False
            self.making.take_all()
            if (layout := self.layout()) is not None:
                order_tabs(layout)
            for plot in self.plots():
                plot.menu_asked.connect(partial(self.show_menu, plot))
            self.fit_page()
            self.mark_stale()  # to fill it takes another turn of the event loop
        else:
            self._refresh_if_stale()
        self.follow_live()

    def why_empty(self, run: ShownRun | None = None, soon: str = "") -> str:
        """Explain why a run, if given, has no picture, and what to do or what follows."""
        live, aim = self.session.live, self.aim
        if run is not None:
            error = run.record.error
            why = f" {error[0].upper()}{error[1:].rstrip('.')}." if error else ""
            return f"{run.look.name} has no {self.lacks}.{why}"
        if live is not None:
            return f"{live.look.name} is training; {soon or self.soon}."
        if any(one.record.splits for one in self.session.shown_runs()):
            return f"No run is chosen: tick or select a run in the list to see {aim}."
        if self.session.table is None:
            return f"Open a table and run a method to see {aim}."
        return f"No run yet: choose a method and press Run to see {aim}."

    def _refresh_if_stale(self) -> None:
        if self.is_stale:
            self.is_stale = False
            self.refresh()
            self.keep_still()
