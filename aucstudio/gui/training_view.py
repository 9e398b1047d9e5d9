"""Training page."""

from __future__ import annotations

import pyqtgraph as pg

from aucstudio.gui.plotting import make_plot
from aucstudio.gui.session import Session
from aucstudio.gui.view import View


class TrainingView(View):
    """The Training page."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "training_view", "Training")
        self.plot = make_plot("training_plot", "", "")
        self.body.addWidget(self.plot)

    def figure(self) -> pg.PlotWidget:
        return self.plot
