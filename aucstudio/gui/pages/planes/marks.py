"""Lines and marks of a picture in a plane."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray

from aucstudio.project.data.preparing.preparation import Preparation

Array = NDArray[np.float64]


def add_line(plot: pg.PlotWidget, z: float) -> pg.InfiniteLine:
    """Add a line that is not shown yet."""
    line = pg.InfiniteLine(movable=False)
    line.setZValue(z)
    line.setVisible(False)
    plot.addItem(line)
    return line


def add_curve(plot: pg.PlotWidget, z: float) -> pg.PlotCurveItem:
    """Add a curve without points yet."""
    curve = pg.PlotCurveItem()
    curve.setZValue(z)
    plot.addItem(curve)
    return curve


def add_marks(plot: pg.PlotWidget, symbol: str, size: int, z: float) -> pg.ScatterPlotItem:
    """Add marks that stand nowhere yet."""
    marks = pg.ScatterPlotItem(symbol=symbol, size=size)
    marks.setZValue(z)
    plot.addItem(marks)
    return marks


def place_line(line: pg.InfiniteLine, normal: Array, level: float) -> None:
    """Put a line where a·c = level for the normal a."""
    foot = normal * (level / float(normal @ normal))
    line.setPos((float(foot[0]), float(foot[1])))
    line.setAngle(float(np.degrees(np.arctan2(normal[0], -normal[1]))))
    line.setVisible(True)


def feature_words(preparation: Preparation, feature: int) -> str:
    """Name a prepared feature with its unit: numbers are in standard deviations, or as chosen."""
    name = preparation.feature_names[feature]
    is_number = feature < len(preparation.numbers)
    return f"{name} ({preparation.choice.unit if is_number else '0 or 1'})"
