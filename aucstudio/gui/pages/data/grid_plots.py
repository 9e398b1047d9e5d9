"""Grid pictures of missing values and correlations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QPointF, Signal
from PySide6.QtGui import QColor, QFontMetrics

from aucstudio.engine.types import Array
from aucstudio.gui.common.eliding import elided
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plots.readout import Readout
from aucstudio.gui.common.plotting import dress_plot, make_plot, pen
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.pages.data.words import pair_words
from aucstudio.project.survey.classes import Classes
from aucstudio.project.survey.correlation import Correlation
from aucstudio.project.survey.missing_pattern import GapMap
from aucstudio.project.words import class_words, percent_words

_MOST_NAMES = 40
_MOST_FIGURES = 12  # columns whose squares may have room for a number
_BESIDE_FIGURE = 6  # pixels of a square that its number leaves free
_DARK = 0.6  # a correlation whose square is dark
_NAME_WIDTH = 110
_STRIP = 0.03  # of the width
_INSIDE = 0.015  # of the height: how far the ends' numbers are from it
_FAINT = 0.12  # a line with a single gap among thousands is seen all the same


class CellMap(QObject):
    """A picture of squares with a read-out; a click chooses one.

    Signals
    -------
    clicked(int, int)
        Column and line of a square, the line counted from the top.
    """

    clicked = Signal(int, int)

    def __init__(self, name: str) -> None:
        self.plot: Plot = make_plot(name, "", "")
        super().__init__(self.plot)
        self.plot.showGrid(x=False, y=False)
        self.plot.getViewBox().invertY(True)
        self.image = pg.ImageItem()
        self.plot.addItem(self.image)
        self.readout = Readout(f"{name}_readout", "Square at the pointer", self.plot)
        self.plot.hovered.connect(self._on_hover)
        self.plot.clicked.connect(self._on_click)
        self._size = (0, 0)

    def draw(self, squares: NDArray[np.uint8]) -> None:
        """Draw colours, shape (columns, lines, 4)."""
        self._size = squares.shape[0], squares.shape[1]
        # Pyqtgraph cannot make a picture of nothing.
        self.image.setVisible(min(self._size) > 0)
        if min(self._size) > 0:
            self.image.setImage(squares, autoLevels=False, levels=(0, 255))
            self.image.setRect(0, 0, *self._size)
        self.readout.show_nothing()

    def words(self, _column: int, _line: int) -> str:
        """Describe what a square is."""
        return ""

    def name_columns(self, side: str, names: Sequence[str]) -> None:
        """Write names beside the squares; of many some, evenly spaced."""
        step = max(1, math.ceil(len(names) / _MOST_NAMES))
        metrics = QFontMetrics(self.plot.font())
        ticks = [
            (k + 0.5, elided(names[k], scaled(_NAME_WIDTH), metrics.horizontalAdvance))
            for k in range(0, len(names), step)
        ]
        self.plot.getAxis(side).setTicks([ticks])

    def _square(self, place: QPointF) -> tuple[int, int] | None:
        """Return column and line of the square at a place."""
        column, line = math.floor(place.x()), math.floor(place.y())
        inside = 0 <= column < self._size[0] and 0 <= line < self._size[1]
        return (column, line) if inside else None

    def _on_hover(self, place: QPointF | None) -> None:
        square = None if place is None else self._square(place)
        if place is None or square is None:
            self.readout.show_nothing()
        else:
            self.readout.show_at(self.plot, place, self.words(*square))

    def _on_click(self, place: QPointF) -> None:
        square = self._square(place)
        if square is not None:
            self.clicked.emit(*square)


class GapPicture(CellMap):
    """Rows by columns; what is dark is missing.

    Attributes
    ----------
    found : GapMap or None
    """

    def __init__(self) -> None:
        super().__init__("data_gaps_plot")
        self.found: GapMap | None = None
        self._classes: Classes | None = None
        self.strip = pg.ImageItem()
        self.plot.addItem(self.strip)

    def show(self, found: GapMap, classes: Classes | None) -> None:
        """Draw another map."""
        self.found, self._classes = found, classes
        dress_plot(self.plot)
        theme = current_theme()
        lines, columns = found.missing.shape
        share = np.where(found.missing > 0, _FAINT + (1 - _FAINT) * found.missing, 0.0)
        self.draw(_blend(theme.window, theme.accent, share.T))
        self._draw_strip(found, _STRIP * columns)
        self.name_columns("bottom", found.columns)
        ends = [(_INSIDE * lines, "1"), (lines * (1 - _INSIDE), f"{int(found.starts[-1]):,}")]
        self.plot.getAxis("left").setTicks([ends])
        self.plot.setLabel("left", "Rows, as in the sheet")
        left = -2.0 * _STRIP * columns if classes is not None else 0.0
        self.plot.set_whole((left, float(max(1, columns))), (0.0, float(max(1, lines))))

    def _draw_strip(self, found: GapMap, width: float) -> None:
        theme, known = current_theme(), np.isfinite(found.positive)
        self.strip.setVisible(bool(known.any()))
        if known.any():
            inks = _blend(theme.negative, theme.positive, np.nan_to_num(found.positive)[None])
            inks[0, ~known] = _rgba(theme.grid)
            self.strip.setImage(inks, autoLevels=False, levels=(0, 255))
            self.strip.setRect(-1.5 * width, 0, width, len(found.positive))

    def words(self, column: int, line: int) -> str:
        found = self.found
        assert found is not None
        first, last = int(found.starts[line]) + 1, int(found.starts[line + 1])
        lines = f"line {first:,}" if first == last else f"lines {first:,} to {last:,}"
        parts = [
            found.columns[column],
            f"{percent_words(found.missing[line, column])} missing",
            lines,
        ]
        if self._classes is not None and math.isfinite(found.positive[line]):
            share = percent_words(float(found.positive[line]))
            parts.append(f"{share} {class_words(self._classes.names[0])}")
        return "   ".join(parts)

    def data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        """Return the numbers behind the picture."""
        found = self.found
        if found is None or not found.missing.size:
            return {}
        lines, columns = found.missing.shape
        return {
            "column": list(found.columns) * lines,
            "from_line": np.repeat(found.starts[:-1] + 1, columns),
            "to_line": np.repeat(found.starts[1:], columns),
            "missing": found.missing.ravel(),
        }


class CorrelationPicture(CellMap):
    """Columns by columns.

    Attributes
    ----------
    found : Correlation or None
    """

    def __init__(self) -> None:
        super().__init__("data_correlation_plot")
        self.found: Correlation | None = None
        self.frame = pg.PlotCurveItem()
        self.plot.addItem(self.frame, ignoreBounds=True)
        self.figures: list[pg.TextItem] = []
        box = self.plot.getViewBox()
        for changed in (box.sigResized, box.sigRangeChanged):
            changed.connect(lambda *_: self._show_what_fits())

    def show(self, found: Correlation, pair: tuple[int, int] | None) -> None:
        """Draw another matrix, and mark a pair."""
        self.found = found
        dress_plot(self.plot)
        theme, values = current_theme(), found.values
        known = np.nan_to_num(values)
        squares = _blend(theme.field, theme.positive, np.maximum(known, 0))
        squares[known < 0] = _blend(theme.field, theme.negative, np.maximum(-known, 0))[known < 0]
        squares[np.isnan(values)] = _rgba(theme.line)
        self.draw(squares)
        self.name_columns("left", found.columns)
        numbers = [(k + 0.5, str(k + 1)) for k in range(len(found.columns))]
        self.plot.getAxis("bottom").setTicks([numbers])
        self.name_columns("left", [f"{name}  {k + 1}" for k, name in enumerate(found.columns)])
        size = float(max(1, len(found.columns)))
        self.plot.set_whole((0.0, size), (0.0, size))
        self._write(values if len(values) <= _MOST_FIGURES else values[:0])
        self.mark(pair)

    def _write(self, values: Array) -> None:
        """Write the numbers into squares that have room for them."""
        for figure in self.figures:
            self.plot.removeItem(figure)
        self.figures = []
        theme = current_theme()
        for (column, line), value in np.ndenumerate(values):
            if column == line or np.isnan(value):
                continue
            ink = theme.field if abs(value) > _DARK else theme.text
            text = f"{value:+.2f}".replace("-", "−")
            figure = pg.TextItem(text, color=ink, anchor=(0.5, 0.5))
            figure.setPos(column + 0.5, line + 0.5)
            self.plot.addItem(figure, ignoreBounds=True)
            self.figures.append(figure)
        self._show_what_fits()

    def _show_what_fits(self) -> None:
        """Show the numbers where squares are wide enough for all of them, else none."""
        wide = max((figure.boundingRect().width() for figure in self.figures), default=0.0)
        across, _down = self.plot.getViewBox().viewPixelSize()
        for figure in self.figures:
            figure.setVisible(across * (wide + _BESIDE_FIGURE) <= 1.0)

    def mark(self, pair: tuple[int, int] | None) -> None:
        """Frame a pair."""
        self.frame.setVisible(pair is not None)
        if pair is not None:
            x = np.array([0, 1, 1, 0, 0], dtype=float) + pair[0]
            y = np.array([0, 0, 1, 1, 0], dtype=float) + pair[1]
            self.frame.setData(x, y, pen=pen(current_theme().text, 2.0))

    def words(self, column: int, line: int) -> str:
        assert self.found is not None
        return pair_words(self.found, column, line)

    def data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        """Return the numbers behind the picture."""
        found = self.found
        if found is None or not found.values.size:
            return {}
        names = list(found.columns)
        return {
            "column": [name for name in names for _ in names],
            "other": names * len(names),
            "correlation": found.values.ravel(),
            "rows": found.rows.ravel(),
        }


def _rgba(colour: str) -> tuple[int, int, int, int]:
    ink = QColor(colour)
    return ink.red(), ink.green(), ink.blue(), 255


def _blend(low: str, high: str, share: Array) -> NDArray[np.uint8]:
    """Mix two colours; return the shape of the shares, with four values per square."""
    ends = np.array([_rgba(low), _rgba(high)], dtype=float)
    mixed: NDArray[np.uint8] = np.rint(
        ends[0] + np.clip(share, 0.0, 1.0)[..., None] * (ends[1] - ends[0])
    ).astype(np.uint8)
    return mixed
