"""Scores page."""

from __future__ import annotations

import pyqtgraph as pg

from aucstudio.gui.plotting import make_plot
from aucstudio.gui.session import Session
from aucstudio.gui.view import View


class ScoresView(View):
    """The Scores page."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "scores_view", "Scores")
        self.plot = make_plot("scores_plot", "", "")
        self.body.addWidget(self.plot)

    def figure(self) -> pg.PlotWidget:
        return self.plot
