"""The layers over the ROC curves, their switches in the menu, and their figures beside the plot."""

from __future__ import annotations

from collections.abc import Callable

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QScrollArea, QVBoxLayout, QWidget

from aucstudio.gui.common.confusion import CARD_WIDTH
from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import named
from aucstudio.gui.pages.roc.layers.costs import CostLayer
from aucstudio.gui.pages.roc.layers.difference import DifferenceLayer
from aucstudio.gui.pages.roc.layers.isometrics import MEASURES, IsometricLayer
from aucstudio.gui.pages.roc.layers.operating_point import OperatingPointLayer
from aucstudio.gui.pages.roc.picture.line_labels import Crowd
from aucstudio.gui.pages.roc.picture.scene import Layer, Scene
from aucstudio.gui.state.session import Session

_AIR = 14  # for the scroll bar


class Layers:
    """Makes the layers, lets a person switch them, and tells them what the picture shows.

    Attributes
    ----------
    point : OperatingPointLayer
    costs : CostLayer
    isometrics : IsometricLayer
    difference : DifferenceLayer
    side : QScrollArea
        The figures of the layers; goes beside the plot.
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
        session.stakes_changed.connect(changed)

    def _make_side(self) -> QScrollArea:
        column = QWidget()
        layout = QVBoxLayout(column)
        # Words wrap in the width of the panels, and are as high as they are there.
        layout.setContentsMargins(0, 0, _AIR, 0)
        layout.setSpacing(16)
        layout.addWidget(self.point.panel)
        layout.addWidget(self.costs.panel)
        layout.addStretch(1)
        area = named(QScrollArea(), "layer_figures", "Figures of the operating point")
        area.setWidget(column)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFixedWidth(scaled(CARD_WIDTH) + _AIR)
        area.hide()
        return area

    # ------------------------------------------------------------- switches

    def _fill_menu(self, menu: QMenu) -> None:
        self._switch(
            menu,
            "&Operating point",
            "operating_point_action",
            "A point to slide along the chosen curve; it is the threshold of all views",
            self.point,
        )
        matrix = _action(
            menu,
            "Threshold and confusion &matrix",
            "confusion_action",
            "Choose the operating point by a target, and see what it gets wrong",
        )
        matrix.toggled.connect(self._on_matrix)
        self._switch(
            menu,
            "Prior and &cost",
            "cost_action",
            "The line of equal cost that touches the curve, and the point that costs least",
            self.costs,
        )
        self._switch(
            menu,
            "&Difference of two runs",
            "difference_action",
            "The region between the chosen run and the one it is compared with",
            self.difference,
        )
        self._add_isometrics(menu)

    def _switch(
        self,
        menu: QMenu,
        title: str,
        name: str,
        meaning: str,
        layer: OperatingPointLayer | CostLayer | DifferenceLayer,
    ) -> None:
        def toggle(on: bool) -> None:
            layer.enabled = on
            self._changed()

        action = _action(menu, title, name, meaning)
        action.setChecked(layer.enabled)
        action.toggled.connect(toggle)

    def _add_isometrics(self, menu: QMenu) -> None:
        part = menu.addMenu("&Isometrics")
        part.setToolTipsVisible(True)
        group = QActionGroup(part)
        titles = {"none": "None"} | {
            key: measure.name[0].upper() + measure.name[1:] for key, measure in MEASURES.items()
        }
        for key, title in titles.items():
            meaning = f"Lines of equal {title}" if key in MEASURES else "No such lines"
            action = _action(part, title, f"isometrics_{key}_action", meaning)
            action.setData(key)
            action.setChecked(key == "none")
            group.addAction(action)
        group.triggered.connect(self._on_isometrics)

    def _on_matrix(self, on: bool) -> None:
        self.point.with_panel = on
        self._changed()

    def _on_isometrics(self, action: QAction) -> None:
        self.isometrics.enabled = action.data() in MEASURES
        if self.isometrics.enabled:
            self.isometrics.measure = action.data()
        self._changed()

    # ------------------------------------------------------------- showing

    def show(self, scene: Scene) -> None:
        """Draw all for what the picture shows now."""
        for layer in self.layers:
            layer.show(scene)
        panels = self.point.panel, self.costs.panel
        # A page that is narrow belongs to the plot.
        page = self.side.parentWidget()
        wide = page is not None and page.width() >= 2 * CARD_WIDTH
        self.side.setVisible(wide and not all(panel.isHidden() for panel in panels))

    def dress(self) -> None:
        """Take on the present theme."""
        for layer in self.layers:
            layer.dress()

    @property
    def words(self) -> str:
        """What the layers add to the sentence."""
        said = (self.point, self.costs, self.difference, self.isometrics)
        return " ".join(layer.words for layer in said if layer.words)

    @property
    def busy(self) -> bool:
        """Whether a figure is still being worked out."""
        return self.costs.busy or self.difference.busy


def _action(menu: QMenu, title: str, name: str, meaning: str) -> QAction:
    action = QAction(title, menu)
    action.setObjectName(name)
    action.setCheckable(True)
    plain_tooltip(action, meaning)
    menu.addAction(action)
    return action
