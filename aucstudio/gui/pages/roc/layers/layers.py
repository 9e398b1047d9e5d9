"""All layers, their menu entries and their panels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyqtgraph as pg
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QScrollArea

from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.threshold import CARD_WIDTH
from aucstudio.gui.common.widgets import STRETCH, down, make_action, scrolled
from aucstudio.gui.pages.roc.controls import choice_menu
from aucstudio.gui.pages.roc.layers.costs import CostLayer
from aucstudio.gui.pages.roc.layers.difference import DifferenceLayer
from aucstudio.gui.pages.roc.layers.isometrics import MEASURES, IsometricLayer
from aucstudio.gui.pages.roc.layers.operating_point import OperatingPointLayer
from aucstudio.gui.pages.roc.picture.line_labels import Crowd
from aucstudio.gui.pages.roc.picture.scene import Layer, Scene
from aucstudio.gui.state.session import Session

_AIR = 14  # for the scroll bar


class Layers:
    """Creates the layers with their menu entries and panels, and draws them.

    Attributes
    ----------
    point : OperatingPointLayer
    costs : CostLayer
    isometrics : IsometricLayer
    difference : DifferenceLayer
    side : QScrollArea
        The figures of the layers, next to the plot.
    """

    def __init__(
        self,
        plot: pg.PlotWidget,
        session: Session,
        menu: QMenu,
        changed: Callable[[], object],
        crowd: Crowd,
    ) -> None:
        self.point = OperatingPointLayer(plot, session)
        self.costs = CostLayer(plot, session)
        self.isometrics = IsometricLayer(plot, session, crowd)
        self.difference = DifferenceLayer(plot, session)
        self.layers: tuple[Layer, ...] = (
            self.isometrics,
            self.difference,
            self.costs,
            self.point,
        )
        self._changed = changed
        self.side = self._make_side()
        self._fill_menu(menu)
        self.difference.changed.connect(changed)

    def _make_side(self) -> QScrollArea:
        panels = self.point.panel, self.costs.panel, STRETCH
        column = down(*panels, gap=16, around=(0, 0, _AIR, 0))
        area = scrolled(column, "layer_figures", "Figures of the operating point")
        area.setFixedWidth(scaled(CARD_WIDTH) + _AIR)
        area.hide()
        return area

    # ------------------------------------------------------------- switches

    def _fill_menu(self, menu: QMenu) -> None:
        switches: tuple[tuple[str, str, str, Callable[[bool], object]], ...] = (
            (
                "operating_point_action",
                "&Operating point",
                "Point that slides along the selected curve; it sets the threshold of all views",
                partial(setattr, self.point, "enabled"),
            ),
            (
                "confusion_action",
                "Threshold and confusion &matrix",
                "Choose the operating point by a target, and see what it gets wrong",
                partial(setattr, self.point, "with_panel"),
            ),
            (
                "cost_action",
                "Prior and &cost",
                "The line of equal cost that touches the curve, and the point that costs least",
                partial(setattr, self.costs, "enabled"),
            ),
            (
                "difference_action",
                "&Difference of two runs",
                "The region between the chosen run and the one it is compared with",
                partial(setattr, self.difference, "enabled"),
            ),
        )
        for name, words, tip, switch in switches:
            action = make_action(menu, name, words, tip, checkable=True)
            action.setChecked(name == "operating_point_action" and self.point.enabled)
            action.toggled.connect(switch)
            action.toggled.connect(lambda _on: self._changed())
        titles = {
            key: measure.name[0].upper() + measure.name[1:] for key, measure in MEASURES.items()
        }
        kinds = {"none": ("None", "No such lines")}
        kinds |= {key: (title, f"Lines of equal {title}") for key, title in titles.items()}
        group = choice_menu(menu, "&Isometrics", "isometrics", kinds)
        group.triggered.connect(self._on_isometrics)

    def _on_isometrics(self, action: QAction) -> None:
        self.isometrics.enabled = action.data() in MEASURES
        if self.isometrics.enabled:
            self.isometrics.measure = action.data()
        self._changed()

    # ------------------------------------------------------------- showing

    def show(self, scene: Scene) -> None:
        """Draw all layers over the current picture."""
        for layer in self.layers:
            layer.show(scene)
        panels = self.point.panel, self.costs.panel
        # On a narrow page the plot has all the room.
        page = self.side.parentWidget()
        wide = page is not None and page.width() >= 2 * CARD_WIDTH
        self.side.setVisible(wide and not all(panel.isHidden() for panel in panels))

    def apply_theme(self) -> None:
        """Apply the current theme."""
        for layer in self.layers:
            layer.apply_theme()

    @property
    def words(self) -> str:
        """What the layers add to the sentence."""
        text = (self.point, self.costs, self.difference, self.isometrics)
        return " ".join(layer.words for layer in text if layer.words)
