"""Compare page."""

from __future__ import annotations

import pyqtgraph as pg

from aucstudio.gui.session import Session
from aucstudio.gui.view import View


class CompareView(View):
    """The Compare page."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "compare_view", "Compare")

    def plots(self) -> list[pg.PlotWidget]:
        return []
