"""Pages of missing values and correlations: a grid of squares, computed in the background."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QColor, QFontMetrics
from PySide6.QtWidgets import QWidget

from aucstudio.engine.arrays import Array
from aucstudio.gui.common.form import choice_box
from aucstudio.gui.common.layouts import down
from aucstudio.gui.common.plain_text import elided
from aucstudio.gui.common.plots.plot import Readout
from aucstudio.gui.common.plotting import make_plot, pen, style_plot
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import hint_label, named
from aucstudio.gui.pages.data.row_query import FoundRows
from aucstudio.gui.state.background import Answer, stopping
from aucstudio.notices import text
from aucstudio.notices.words import score_words
from aucstudio.project.data.table import Table
from aucstudio.project.survey.column_sets import (
    Correlation,
    GapMap,
    correlate,
    gap_columns,
    map_gaps,
    most_telling,
)
from aucstudio.project.survey.columns import Classes

Columns = Mapping[str, Sequence[object] | NDArray[Any]]

_MOST_NAMES = 40
_MOST_FIGURES = 12  # columns whose squares may have room for a number
_BESIDE_FIGURE = 6  # pixels of a square that its number leaves free
_DARK = 0.6  # a correlation whose square is dark
_NAME_WIDTH, _LEAST_NAME = 110, 48
_STRIP = 0.03  # of the width
_INSIDE = 0.015  # of the height: how far the ends' numbers are from it
_FAINT = 0.12  # opacity of a line with one missing value among thousands


class GridPage(QWidget):
    """A grid of coloured squares, or a hint in its place.

    A subclass draws the result of its request, and describes and selects squares.

    Attributes
    ----------
    concluded : Signal(object)
        The conclusion has changed: a Statement or str.
    plot : Plot
    found : object or None
        The result that is drawn.
    """

    concluded = Signal(object)

    def __init__(self, name: str, accessible: str) -> None:
        super().__init__()
        named(self, name, accessible)
        self.plot = make_plot(f"{name}_plot", "", "")
        self.plot.frame.show_grid(x=False, y=False)
        self.plot.getViewBox().invertY(True)
        self.image = pg.ImageItem()
        self.plot.addItem(self.image)
        self.readout = Readout(f"{name}_plot_readout", "Square at the pointer", self.plot)
        self.readout.watch(self.plot, lambda place: self._at(place, self.describe) or "")
        self.plot.clicked.connect(lambda place: self._at(place, self.select))
        self.hint = hint_label(f"{name}_hint")
        self.hint.hide()
        self.setLayout(down((self.plot, 1), (self.hint, 1)))
        self.found: Any = None
        self._size = (0, 0)
        self._answer = Answer[Any](self, self._on_found, self.concluded.emit)

    @abstractmethod
    def draw(self, found: Any) -> str:
        """Draw a result; return the hint in place of the grid, empty if there is a grid."""

    @abstractmethod
    def conclusion(self, found: Any) -> Statement:
        """State what the grid shows."""

    @abstractmethod
    def describe(self, column: int, line: int) -> str:
        """Describe a square."""

    @abstractmethod
    def select(self, column: int, line: int) -> None:
        """Select a square that was clicked."""

    def forget(self) -> None:
        """Cancel the request and drop its result."""
        self._answer.forget()

    def ask(self, key: Any, work: Any) -> None:
        """Compute and draw the grid, unless it is drawn."""
        if key == self._answer.key:
            self.conclude()
        elif self._answer.ask(key, work):
            self.concluded.emit("Computing…")

    def conclude(self) -> None:
        """Emit the conclusion of a finished grid."""
        if self.found is not None and not self._answer.busy:
            self.concluded.emit(self.conclusion(self.found))

    def restyle(self) -> None:
        """Draw the grid in the current theme."""
        if self.found is not None:
            style_plot(self.plot)
            hint = self.draw(self.found)
            self.hint.setText(hint)
            self.hint.setVisible(bool(hint))
            self.plot.setVisible(not hint)

    def _on_found(self, found: Any) -> None:
        self.found = found
        self.restyle()
        self.conclude()

    def draw_squares(self, squares: NDArray[np.uint8]) -> None:
        """Draw colours, shape (columns, lines, 4)."""
        self._size = squares.shape[0], squares.shape[1]
        _paint(self.image, squares, 0.0, float(self._size[0]))
        self.readout.show_nothing()

    def name_columns(self, side: str, names: Sequence[str], length: float = math.inf) -> None:
        """Write names next to the squares; of many names, evenly spaced ones.

        Names beside each other share a length in pixels.
        """
        least = max(len(names) / _MOST_NAMES, len(names) * scaled(_LEAST_NAME) / length)
        step = max(1, math.ceil(least))
        each = length * step / max(1, len(names)) - _BESIDE_FIGURE
        width, room = QFontMetrics(self.plot.font()).horizontalAdvance, scaled(_NAME_WIDTH)
        places = range(0, len(names), step)
        ticks = [(k + 0.5, elided(names[k], int(min(room, each)), width)) for k in places]
        self.plot.getAxis(side).setTicks([ticks])

    def _at(self, place: QPointF, act: Any) -> Any:
        """Call a function with column and line of the square at a place, if there is one."""
        column, line = math.floor(place.x()), math.floor(place.y())
        inside = 0 <= column < self._size[0] and 0 <= line < self._size[1]
        return act(column, line) if inside else None


class GapPage(GridPage):
    """Missing values in the shown rows, in their order; missing is dark.

    Signals
    -------
    clicked(int, str)
        A row of the table, and a column.
    """

    clicked = Signal(int, str)

    def __init__(self) -> None:
        super().__init__("data_gaps", "Missing values")
        self._left_out = 0
        self.strip = pg.ImageItem()
        self.plot.addItem(self.strip)
        self.plot.getViewBox().sigResized.connect(self._name_below)

    @property
    def _rows(self) -> FoundRows:
        """The rows of the drawn grid."""
        rows = self._answer.key
        assert isinstance(rows, FoundRows)
        return rows

    def show_found(self, rows: FoundRows) -> None:
        """Show the missing values of rows."""
        columns = rows.asked.table.columns
        chosen = gap_columns(columns)
        self._left_out = sum(column.missing > 0 for column in columns) - len(chosen)

        def work(post: Any) -> GapMap:
            return map_gaps(chosen, rows.rows, rows.classes, stopping(post))

        self.ask(rows, work)

    def _name_below(self) -> None:
        """Name the columns below the squares, as their width allows."""
        if self.found is not None:
            width = self.plot.getViewBox().width() / (1 + 2 * _STRIP)
            self.name_columns("bottom", self.found.columns, max(1.0, width))

    def draw(self, found: GapMap) -> str:
        theme = current_theme()
        lines, columns = found.missing.shape
        share = np.where(found.missing > 0, _FAINT + (1 - _FAINT) * found.missing, 0.0)
        self.draw_squares(_blend(theme.window, theme.accent, share.T))
        width, known = _STRIP * columns, np.isfinite(found.positive)
        inks = _blend(theme.negative, theme.positive, np.nan_to_num(found.positive)[None])
        inks[0, ~known] = _rgba(theme.grid)
        _paint(self.strip, inks if known.any() else inks[:0], -1.5 * width, width)
        self._name_below()
        ends = [(_INSIDE * lines, "1"), (lines * (1 - _INSIDE), f"{int(found.starts[-1]):,}")]
        self.plot.getAxis("left").setTicks([ends])
        self.plot.setLabel("left", "Rows, as in the sheet")
        left = -2.0 * width if known.any() else 0.0
        self.plot.set_whole((left, float(max(1, columns))), (0.0, float(max(1, lines))))
        if not found.columns:
            return text("data_gaps_nothing")
        return "" if found.missing.size else text("data_gaps_no_rows")

    def conclusion(self, found: GapMap) -> Statement:
        if not found.columns:
            return Statement(text("data_gaps_none"))
        lines, rows = len(found.starts) - 1, len(self._rows.rows)
        shares = found.missing.mean(axis=0) if lines else found.missing.sum(axis=0)
        worst = int(shares.argmax())
        many, share = len(found.columns) + self._left_out, float(shares[worst])
        return Statement(
            text("data_gaps_worst", columns=many, worst=found.columns[worst], share=share),
            text(
                "data_gaps_more",
                lacking=found.rows,
                rows=rows,
                each=round(rows / lines) if lines and rows > lines else None,
                left_out=self._left_out or None,
            ),
        )

    def describe(self, column: int, line: int) -> str:
        found, classes = self.found, self._rows.classes
        first, last = int(found.starts[line]) + 1, int(found.starts[line + 1])
        has_class = classes is not None and math.isfinite(found.positive[line])
        return text(
            "data_gaps_square",
            column=found.columns[column],
            missing=float(found.missing[line, column]),
            first=first,
            last=last if last > first else None,
            share=float(found.positive[line]) if has_class else None,
            positive="" if classes is None else classes.names[0],
        )

    def select(self, column: int, line: int) -> None:
        row = self._rows.rows[self.found.starts[line]]
        self.clicked.emit(int(row), self.found.columns[column])

    def data(self) -> Columns:
        """Return the numbers of the grid."""
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


class CorrelationPage(GridPage):
    """Correlations between the columns of numbers.

    Signals
    -------
    clicked(str)
        A column; its pair is framed.
    """

    clicked = Signal(str)

    def __init__(self) -> None:
        super().__init__("data_correlation", "Correlation of columns")
        self.kind_combo = choice_box("data_correlation_combo")
        self.kind_combo.hide()
        self.kind_combo.currentIndexChanged.connect(
            lambda _index: None if self._of is None else self.show_table(*self._of)
        )
        self._of: tuple[Table, Classes | None] | None = None
        self._pair: tuple[int, int] | None = None
        self._columns = 0
        self.frame = pg.PlotCurveItem()
        self.plot.addItem(self.frame, ignoreBounds=True)
        self.figures: list[pg.TextItem] = []
        box = self.plot.getViewBox()
        for changed in (box.sigResized, box.sigRangeChanged):
            changed.connect(lambda *_: self._show_what_fits())

    @property
    def _kind(self) -> str:
        return str(self.kind_combo.currentData())

    def show_table(self, table: Table, classes: Classes | None) -> None:
        """Show the correlations of a table."""
        self._of, kind = (table, classes), self._kind
        columns = [column for column in table.columns if column.role == "number"]
        self._columns = len(columns)

        def work(post: Any) -> Correlation:
            stop = stopping(post)
            return correlate(most_telling(columns, classes, stop), kind, stop)

        self.ask((table, kind), work)

    def forget(self) -> None:
        super().forget()
        self._pair = None

    def draw(self, found: Correlation) -> str:
        theme, values = current_theme(), found.values
        known = np.nan_to_num(values)
        squares = _blend(theme.field, theme.positive, known)
        squares[known < 0] = _blend(theme.field, theme.negative, -known)[known < 0]
        squares[np.isnan(values)] = _rgba(theme.line)
        self.draw_squares(squares)
        numbers = [(k + 0.5, str(k + 1)) for k in range(len(found.columns))]
        self.plot.getAxis("bottom").setTicks([numbers])
        self.name_columns("left", [f"{name}  {k + 1}" for k, name in enumerate(found.columns)])
        size = float(max(1, len(found.columns)))
        self.plot.set_whole((0.0, size), (0.0, size))
        self._write(values if len(values) <= _MOST_FIGURES else values[:0])
        self._mark()
        return text("data_correlation_nothing") if len(found.columns) < 2 else ""

    def _write(self, values: Array) -> None:
        """Write the numbers into squares that have room for them."""
        self.plot.removeItem(*self.figures)
        self.figures = []
        theme = current_theme()
        for (column, line), value in np.ndenumerate(values):
            if column != line and not np.isnan(value):
                ink = theme.field if abs(value) > _DARK else theme.text
                figure = pg.TextItem(score_words(value, "+.2f"), color=ink, anchor=(0.5, 0.5))
                figure.setPos(column + 0.5, line + 0.5)
                self.figures.append(figure)
        self.plot.addItem(*self.figures, ignoreBounds=True)
        self._show_what_fits()

    def _show_what_fits(self) -> None:
        """Show the numbers if the squares are wide enough for all."""
        wide = max((figure.boundingRect().width() for figure in self.figures), default=0.0)
        across, _down = self.plot.getViewBox().viewPixelSize()
        for figure in self.figures:
            figure.setVisible(across * (wide + _BESIDE_FIGURE) <= 1.0)

    def _mark(self) -> None:
        """Frame the selected pair."""
        self.frame.setVisible(self._pair is not None)
        if self._pair is not None:
            x = np.array([0, 1, 1, 0, 0], dtype=float) + self._pair[0]
            y = np.array([0, 0, 1, 1, 0], dtype=float) + self._pair[1]
            self.frame.setData(x, y, pen=pen(current_theme().text, 2.0))

    def conclusion(self, found: Correlation) -> Statement:
        if len(found.columns) < 2:
            return Statement(text("data_correlation_none"))
        sizes = np.abs(found.values)
        np.fill_diagonal(sizes, np.nan)
        if self._pair is None and np.isnan(sizes).all():
            return Statement(text("data_correlation_no_rows"))
        column, line = self._pair or np.unravel_index(np.nanargmax(sizes), sizes.shape)
        pair, is_strongest = self.describe(int(column), int(line)), self._pair is None
        left_out, rows = self._columns > len(found.columns), self._of[0].rows if self._of else 0
        more = text(
            "data_correlation_more",
            kind=self._kind,
            seen=found.looked_at if found.looked_at < rows else None,
            rows=rows,
            columns=self._columns if left_out else None,
        )
        return Statement(
            text("data_correlation_pair", pair=pair, strongest=is_strongest), more.strip()
        )

    def describe(self, column: int, line: int) -> str:
        names, value = self.found.columns, self.found.values[column, line]
        if column == line:
            return str(names[column])
        return text(
            "data_pair",
            one=names[column],
            other=names[line],
            value=None if math.isnan(value) else score_words(value, "+.2f"),
            rows=int(self.found.rows[column, line]),
            unknown=math.isnan(value),
        )

    def select(self, column: int, line: int) -> None:
        self._pair = column, line
        self._mark()
        self.conclude()
        self.clicked.emit(self.found.columns[line])

    def data(self) -> Columns:
        """Return the numbers of the grid."""
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


def _paint(image: pg.ImageItem, squares: NDArray[np.uint8], left: float, width: float) -> None:
    """Draw squares into an image of some width; pyqtgraph cannot draw an empty one."""
    image.setVisible(squares.size > 0)
    if squares.size:
        image.setImage(squares, autoLevels=False, levels=(0, 255))
        image.setRect(left, 0, width, squares.shape[1])


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
