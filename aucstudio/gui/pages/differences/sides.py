"""What lies on either side of the upright line of equal scores, written into the picture."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg

from aucstudio.gui.common.theme import current_theme

_AIR = 6.0  # pixels


class SideNames:
    """Two texts at the upper ends of both sides of x = 0, as far as there is room for them.

    Attributes
    ----------
    wrong, right : TextItem
    """

    def __init__(self, plot: pg.PlotWidget) -> None:
        self.wrong, self.right = pg.TextItem(anchor=(1, 0)), pg.TextItem(anchor=(0, 0))
        self._box = plot.getViewBox()
        self._shown = False
        for text in (self.wrong, self.right):
            text.setZValue(28)
            plot.addItem(text, ignoreBounds=True)
        self.hide()
        self._box.sigTransformChanged.connect(self._place)
        self._box.sigResized.connect(self._place)

    def show(self, misranked: float) -> None:
        """Show which share of the pairs is ranked wrongly, and which right."""
        theme, self._shown = current_theme(), True
        self.wrong.setText(f"← ranked wrongly: {_percent(misranked)}", color=theme.wrong)
        self.right.setText(f"ranked right: {_percent(1.0 - misranked)} →", color=theme.text)
        for text in (self.wrong, self.right):
            text.fill = pg.mkBrush(theme.card)
        self._place()

    def hide(self) -> None:
        """Return no text."""
        self._shown = False
        for text in (self.wrong, self.right):
            text.setVisible(False)

    def _place(self, *_changed: Any) -> None:
        if not self._shown:
            return
        (left, end), (_, top) = self._box.viewRange()
        across, up = self._box.viewPixelSize()
        for text, side, room in ((self.wrong, -1.0, 0.0 - left), (self.right, 1.0, end)):
            wide = text.boundingRect().width() + _AIR
            text.setVisible(bool(room >= wide * across))
            text.setPos(side * _AIR * across, top - _AIR * up)


def _percent(share: float) -> str:
    """Write a share so that some is never none, and most never all."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %"
