"""Page area and side columns of a study.

All that is slow to load hangs on this module; a window that shows its start page has not loaded it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QWidget

from aucstudio.gui.common.layouts import STRETCH, down, holding, scrolled
from aucstudio.gui.common.view import PageView
from aucstudio.gui.desk.actions import Actions
from aucstudio.gui.desk.deck import Deck
from aucstudio.gui.desk.pages import VIEWS, ViewDeclaration
from aucstudio.gui.desk.side_columns import Sides
from aucstudio.gui.desk.tiles import StandIn
from aucstudio.gui.exports import Exports
from aucstudio.gui.panels.data_panel import DataPanel
from aucstudio.gui.panels.method_panel import MethodPanel
from aucstudio.gui.panels.runs.runs_panel import RunsPanel
from aucstudio.gui.panels.validation_panel import ValidationPanel
from aucstudio.gui.state.session import Session

DATA, MODEL = "data_view", "model_view"


class Workplace:
    """The columns and the pages of one window; a page is made when it is first seen.

    Parameters
    ----------
    window : QWidget
        Parent of the dialogs.
    session : Session
    verbs : Actions
    middle : QWidget
        What stands between the columns.
    """

    def __init__(self, window: QWidget, session: Session, verbs: Actions, middle: QWidget) -> None:
        self.data_panel = DataPanel(session)
        self.validation_panel = ValidationPanel(session)
        self.method_panel = MethodPanel(session, verbs.run, verbs.tune, verbs.find_best)
        self.runs_panel = RunsPanel(session)
        self.deck = Deck([_stand_in(session, view) for view in VIEWS])
        answers: Mapping[str, Callable[..., object]] = {
            "data": self._show_rows,
            "row": self._explain_row,
            "back": self.deck.go_back,
            "best": verbs.find_best.trigger,
            "export": verbs.export_model.trigger,
        }
        session.asked.connect(lambda what, about: answers[what](*about))
        self.exports = Exports(window, session, self.deck, verbs)
        self.sides = Sides(self._setup_column(), middle, self.runs_panel)

    def _show_rows(self, rows: tuple[int, ...], part: str) -> None:
        """Show rows of the table, or a part of it, in the page Data; Back leads back from there."""
        from aucstudio.gui.pages.data.data_view import DataView

        page, left = self.deck.visit(DATA)
        assert isinstance(page, DataView)
        page.show_rows(rows, part, left)

    def _explain_row(self) -> None:
        """Show in the page Model what moved the score of the row that is pointed at."""
        from aucstudio.gui.pages.model.model_view import ModelView

        page, _left = self.deck.visit(MODEL)
        assert isinstance(page, ModelView)
        page.show_row()

    def _setup_column(self) -> QScrollArea:
        panels = (self.data_panel, self.validation_panel, self.method_panel)
        column = holding(down(*panels, STRETCH, around=(0, 0, 6, 0)))
        area = scrolled(column)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Tab goes to the controls in it
        return area


def _stand_in(session: Session, declared: ViewDeclaration) -> StandIn:
    def make() -> PageView:
        module = importlib.import_module(f"aucstudio.gui.pages.{declared.module}")
        view: PageView = getattr(module, declared.kind)(session)
        return view

    return StandIn(declared.name, declared.title, make)
