"""Page area and side columns of a study.

This module imports everything that is slow to load; a window on its start page has not loaded it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from aucstudio.gui.common.focus import focus_within
from aucstudio.gui.common.layouts import STRETCH, down, scrolled
from aucstudio.gui.common.overrides import catch_errors_of_overrides
from aucstudio.gui.common.view import PageView
from aucstudio.gui.desk.actions import VIEWS, Actions, ViewDeclaration
from aucstudio.gui.desk.deck import Deck
from aucstudio.gui.desk.side_columns import Sides
from aucstudio.gui.exports import Exports
from aucstudio.gui.panels.data_panel import DataPanel
from aucstudio.gui.panels.method_panel import MethodPanel
from aucstudio.gui.panels.runs_panel import RunsPanel
from aucstudio.gui.panels.validation_panel import ValidationPanel
from aucstudio.gui.state.background import Turns
from aucstudio.gui.state.session import Session

DATA, MODEL = "data_view", "model_view"


class Workplace:
    """The columns and the pages of one window; a page is made when it is first shown.

    It is complete when all turns of ``making`` are taken.

    Parameters
    ----------
    window : QWidget
        Parent of the dialogs.
    session : Session
    actions : Actions
    middle : QWidget
        Shown between the columns.
    """

    def __init__(
        self, window: QWidget, session: Session, actions: Actions, middle: QWidget
    ) -> None:
        for package in ("aucstudio.gui", "pyqtgraph"):
            catch_errors_of_overrides(package)
        self._window, self._session, self._actions = window, session, actions
        self.making = Turns(window)
        self.making.ask(self._make_setup, self._make_runs, self._make_deck)
        self.making.ask(partial(self._lay_out, middle), self._connect)

    def _make_setup(self) -> None:
        session, actions = self._session, self._actions
        self.data_panel = DataPanel(session)
        self.validation_panel = ValidationPanel(session)
        self.method_panel = MethodPanel(session, actions.run, actions.tune, actions.find_best)
        panels = self.data_panel, self.validation_panel, self.method_panel
        self._setup = scrolled(down(*panels, STRETCH, around=(0, 0, 6, 0)))
        self._setup.setParent(self._window)

    def _make_runs(self) -> None:
        self.runs_panel = RunsPanel(self._session)
        self.runs_panel.setParent(self._window)

    def _make_deck(self) -> None:
        self.deck = Deck({view.name: partial(_make, self._session, view) for view in VIEWS})
        self.deck.setParent(self._window)
        self.exports = Exports(self._window, self._session, self.deck, self._actions)

    def _lay_out(self, middle: QWidget) -> None:
        self.sides = Sides(self._setup, middle, self.runs_panel)

    def _connect(self) -> None:
        actions = self._actions
        handlers: Mapping[str, Callable[..., object]] = {
            "data": self._show_rows,
            "columns": self._show_columns,
            "row": self._explain_row,
            "import": self.data_panel.import_asked.emit,
            "back": self.deck.go_back,
            "run": actions.run.trigger,
            "best": actions.find_best.trigger,
            "export": actions.export_model.trigger,
        }
        self._session.asked.connect(lambda what, about: handlers[what](*about))
        self.deck.view_shown.connect(self.sides.show_middle)
        data, validation, method = self.data_panel, self.validation_panel, self.method_panel
        for number, (panel, part, field) in enumerate(
            (
                (data, data, data.label_combo),
                (validation, validation, validation.fields["scheme"]),
                (method, method, method.combo),
                (method, method.form, None),  # the first setting
            ),
            1,
        ):
            go = partial(self._go_to_card, panel, part, field)
            QShortcut(QKeySequence(f"Alt+{number}"), self._window, go)

    def _go_to_card(self, panel: QWidget, part: QWidget, field: QWidget | None) -> None:
        """Show a card of the set-up from its title, and move the focus to a field of it."""
        self.sides.show_side("setup", True)
        focus_within(part, field)
        self._setup.verticalScrollBar().setValue(panel.y())

    def _show_rows(self, rows: tuple[int, ...], part: str) -> None:
        """Show rows of the table, or a part of it, in the page Data; Back returns from there."""
        page, left = self.deck.visit(DATA)
        _as_any(page).show_rows(rows, part, left)

    def _show_columns(self) -> None:
        """Show the list of columns in the page Data."""
        page, left = self.deck.visit(DATA)
        _as_any(page).show_columns(left)

    def _explain_row(self) -> None:
        """Show in the page Model what moved the score of the chosen row."""
        page, _left = self.deck.visit(MODEL)
        _as_any(page).show_row()


def _as_any(page: PageView) -> Any:
    """Return a page of a class that is not imported before it is needed."""
    return page


def _make(session: Session, declared: ViewDeclaration) -> PageView:
    module = importlib.import_module(f"aucstudio.gui.pages.{declared.module}")
    catch_errors_of_overrides("aucstudio.gui")
    view: PageView = getattr(module, declared.kind)(session)
    return view
