"""Lines and marks in a plane."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg

from aucstudio.engine.types import Array
from aucstudio.gui.common.plain_text import elided
from aucstudio.gui.pages.planes.subject import Subject
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.geometry.planes import COMPONENTS, Plane


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
    """Add marks without a position."""
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


_TITLE_LETTERS = 44


def axis_words(subject: Subject, plane: Plane, axis: int, of_pairs: bool) -> tuple[str, str]:
    """Name an axis (0 right, 1 up) of a plane of rows or of pairs, and explain the name."""
    if plane.features is not None:
        return _feature(subject, plane.features[axis], of_pairs)
    if plane.kind == COMPONENTS:
        return _component(subject, axis + 1, of_pairs)
    return _spread(subject, plane) if axis else _along(subject, plane, of_pairs)


def _feature(subject: Subject, feature: int, of_pairs: bool) -> tuple[str, str]:
    name = feature_words(subject.preparation, feature)
    what = f"Positive minus negative: {name}." if of_pairs else f"{name}."
    words = subject.preparation.choice.in_units
    unit = (
        f"{words[:1].upper()}{words[1:]}."
        if feature < len(subject.preparation.numbers)
        else "1 where a row has this level, else 0."
    )
    short = elided(name, _TITLE_LETTERS, len)
    return f"Difference in {short}" if of_pairs else short, f"{what}\n{unit}"


def _component(subject: Subject, number: int, of_pairs: bool) -> tuple[str, str]:
    sd = subject.preparation.choice.unit
    most = "most" if number == 1 else "most across the first one"
    if of_pairs:
        title = f"Principal component {number} of the differences ({sd})"
        return title, f"Direction in which the differences vary {most}."
    title = f"Principal component {number} ({sd})"
    return title, f"The direction in which the rows vary {most}."


def _along(subject: Subject, plane: Plane, of_pairs: bool) -> tuple[str, str]:
    sd = subject.preparation.choice.unit
    if of_pairs:
        tip = "Right of 0 a pair is ranked correctly: its positive row scores higher."
        if not plane.is_straight:
            return "Score of the positive − score of the negative", tip
        return _of_weights(subject, f"Score of the positive − score of the negative ({sd})", tip)
    if not plane.is_straight:
        return "Score", "The score of each row, f(x)."
    return _of_weights(subject, f"Score ({sd})", "The further right, the higher the score.")


def _of_weights(subject: Subject, title: str, tip: str) -> tuple[str, str]:
    choice = subject.preparation.choice
    if subject.run is None:
        return (
            f"From the negatives' mean to the positives' ({choice.unit})",
            "The direction of the mean difference: no finished run has another direction.",
        )
    unit = f"Along the weights w, {choice.in_units}."
    return title, f"{tip}\n{unit}"


def _spread(subject: Subject, plane: Plane) -> tuple[str, str]:
    sd = subject.preparation.choice.unit
    tip = "Of all directions that do not change the score, the one in which rows vary most."
    if plane.across is not None:
        return "Widest direction at equal score (kernel)", f"{tip}\nIn the space of the kernel."
    if len(subject.preparation.feature_names) == 1 and plane.is_straight:
        return "No other feature", "There is only one feature: all rows lie on a line."
    if not plane.is_straight:
        return f"Widest direction at equal score ({sd})", (
            "Direction in which rows vary most, after removing what correlates with the score."
        )
    if subject.run is None:
        return (
            f"Widest direction across it ({sd})",
            "The direction in which rows vary most across it.",
        )
    return f"Widest direction at equal score ({sd})", tip
