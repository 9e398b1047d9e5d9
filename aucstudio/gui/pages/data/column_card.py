"""Card of a column: role, distribution by class and ROC curve."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QGridLayout, QScrollArea, QWidget

from aucstudio.engine.arrays import Array
from aucstudio.gui.common.buttons import push_button
from aucstudio.gui.common.column_controls import DatePartsButton, role_words
from aucstudio.gui.common.layouts import LEFT, STRETCH, across, down, holding
from aucstudio.gui.common.plain_text import PlainLabel, distinguishable, elided, plain_tooltip
from aucstudio.gui.common.plots.roc_sketch import RocSketch, outline
from aucstudio.gui.common.plotting import faded, make_plot, pen, style_plot
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import (
    ElidedCombo,
    label,
    make_buddy,
    named,
    show_note,
)
from aucstudio.notices import text
from aucstudio.notices.words import counted
from aucstudio.project.data.columns import NUMERIC_ROLES, ROLES, Column
from aucstudio.project.data.findings.column_areas import PRESENCE, SHARE, VALUE
from aucstudio.project.data.text import dates
from aucstudio.project.survey.columns import ColumnSummary, Distribution, Figures

WIDTH = 272
_AIR, _GAP = 14, 8  # for the scroll bar; between figures
_HEAD_WIDTH = 56
_MOST_SIGNS = 8  # of a number in a cell
_HEIGHT, _ROC_HEIGHT, _BAR = 150, 170, 20
_NAME_WIDTH = 104
_FILL = 56
_FIGURES = {
    "rows": "Rows",
    "missing": "Missing",
    "mean": "Mean",
    "median": "Median",
    "sd": "SD",
    "low": "Minimum",
    "high": "Maximum",
}
_COUNTS = ("rows", "missing")


class ColumnCard(QScrollArea):
    """Summary of a column.

    Attributes
    ----------
    role_combo : QComboBox
    spread : DistributionPlot
    roc : RocSketch
    summary : ColumnSummary or None
    has_dates : bool
        Whether the table has columns of dates, whose figures take more room.

    Signals
    -------
    role_chosen(str, str)
        A column and its new role.
    parts_chosen(str, tuple)
        A column of dates, and its date parts to use as features.
    limits_asked
        Choose how values beyond a limit are read.
    """

    role_chosen = Signal(str, str)
    parts_chosen = Signal(str, tuple)
    limits_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        named(self, "data_card", "Column at the pointer")
        self.summary: ColumnSummary | None = None
        self.has_dates = False
        self._column: Column | None = None
        self.title = label("", "title", elided=True, name="data_column_title")
        self.facts = label("", "muted", wrap=True, name="data_column_facts")
        self.role_combo = named(ElidedCombo(), "data_role_combo")
        self.role_combo.activated.connect(self._on_role)
        self.parts_button = DatePartsButton("data_parts_button")
        self.parts_button.chosen.connect(self.parts_chosen)
        self.why = label("", "muted", wrap=True, name="data_column_why")
        self.limits = push_button("data_limits_button", verb=self.limits_asked.emit)
        self.limits.setProperty("link", True)
        self.problem = label("", "error", wrap=True, name="data_role_problem")
        self.figures = FigureGrid()
        self.spread, self.roc = DistributionPlot(), RocSketch("data_column_roc_plot")
        self.roc.plot.setFixedHeight(scaled(_ROC_HEIGHT))
        self.spread_told = label("", "muted", wrap=True, name="data_spread_words")
        self.area = label("", wrap=True, name="data_column_area")
        role = across(make_buddy("Role", self.role_combo), (self.role_combo, 1), self.parts_button)
        texts = self.title, self.facts, role, self.why, (self.limits, LEFT), self.problem
        pictures = self.figures, self.spread.plot, self.spread_told, self.area, self.roc.plot
        self.inside = holding(down(*texts, *pictures, STRETCH, around=(0, 0, _AIR, 0)))
        self.setWidget(self.inside)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.show_column(None)

    # ------------------------------------------------------------- showing

    def show_column(
        self, column: Column | None, beyond: int = 0, way: str = "", used: str = ""
    ) -> None:
        """Show the facts of a column before its summary is computed.

        ``beyond`` counts its cells beyond a limit, which are read in a ``way`` of NumberFormat;
        ``used`` states which of its levels are used.
        """
        before, self._column = self._column, column
        self.inside.setVisible(column is not None)
        if column is None:
            return
        self.title.setText(column.name)
        plain_tooltip(self.title, column.name)
        self._show_facts(column.missing)
        self._offer_roles(column)
        self.parts_button.show_column(column)
        why = column.reason or (text("data_role_guessed") if column.guessed else "")
        is_days = DatePartsButton.fits(column) and column.layout != dates.CLOCK
        as_number = text("data_date_as_number") if is_days and not column.parts else ""
        show_note(self.why, f"{why[:1].upper()}{why[1:]} {as_number}{used}".strip())
        self.limits.setVisible(beyond > 0)
        self.limits.setText(text("data_beyond_limits", cells=beyond, way=way))
        show_note(self.problem, "")
        if before is None or before.name != column.name:
            self.show_summary(None)

    def _show_facts(self, missing: int) -> None:
        if (column := self._column) is not None:
            kind = "date" if column.is_date else column.kind
            facts = {"distinct": column.distinct, "missing": missing}
            self.facts.setText(text("data_column_facts", kind=kind, **facts))

    def _offer_roles(self, column: Column) -> None:
        self.role_combo.clear()
        is_label = column.role == "label"
        for role in ROLES:
            fits = role not in NUMERIC_ROLES or column.kind == "number"
            if fits and (role == "label") == is_label:
                self.role_combo.addItem(role_words(role, column), role)
        self.role_combo.setCurrentIndex(max(0, self.role_combo.findData(column.role)))
        self.role_combo.setEnabled(not is_label)
        plain_tooltip(self.role_combo, text("data_label_tip" if is_label else "data_role_tip"))

    def show_summary(self, summary: ColumnSummary | None) -> None:
        """Show the figures of the column; empty while they are computed."""
        self.summary = summary
        self.spread.show(summary)
        curve = None if summary is None else summary.curve
        self.roc.plot.setVisible(curve is not None)
        if curve is not None:
            self.roc.show([(*outline(curve), pen(current_theme().accent, 2.0))], None)
        self.figures.setVisible(summary is not None)
        show_note(self.spread_told, "" if summary is None else spread_words(summary))
        show_note(self.area, "" if summary is None else area_sentence(summary).text, "")
        if summary is not None:
            self.figures.show_summary(summary)
            self._show_facts(summary.groups["All rows"].missing)

    def show_problem(self, words: str) -> None:
        """Show why a role is not possible."""
        show_note(self.problem, words, "error")
        if self._column is not None:
            self.role_combo.setCurrentIndex(max(0, self.role_combo.findData(self._column.role)))

    def least_width(self) -> int:
        """Return the least width without elided text."""
        room = self.fontMetrics().horizontalAdvance
        dates = room(_FIGURES["high"]) + 3 * (_GAP + room("0000-00-00")) + 2 * _AIR
        return max(scaled(WIDTH), dates if self.has_dates else 0)

    def _on_role(self) -> None:
        role = self.role_combo.currentData()
        if self._column is not None and role != self._column.role:
            self.role_chosen.emit(self._column.name, role)


class FigureGrid(QWidget):
    """Figures of all rows and of the rows of each class."""

    def __init__(self) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(_GAP)
        grid.setVerticalSpacing(2)
        self._cells = {(line, place): PlainLabel() for line in range(8) for place in range(4)}
        for (line, place), cell in self._cells.items():
            cell.setObjectName(f"data_figure_{line}_{place - 1}" if place else "")
            if place:
                cell.setAlignment(Qt.AlignmentFlag.AlignRight)
                grid.setColumnStretch(place, 1)
            elif line:
                cell.setText(list(_FIGURES.values())[line - 1])
                cell.setProperty("role", "muted")
            grid.addWidget(cell, line, place)

    def show_summary(self, summary: ColumnSummary) -> None:
        """Show the figures of a column; texts have counts only."""
        theme, room = current_theme(), scaled(_HEAD_WIDTH)
        groups = [*summary.groups.items(), ("", None), ("", None)][:3]
        width = QFontMetrics(self._cells[0, 1].font()).horizontalAdvance
        first, *names = (name for name, _ in groups)
        shown = [first, *distinguishable(names[0], names[1], room, width)]
        inks = (theme.text, theme.positive, theme.negative)
        for place, (name, figures) in enumerate(groups, 1):
            self._cells[0, place].setText(shown[place - 1])
            self._cells[0, place].setStyleSheet(f"color: {inks[place - 1]}; font-weight: 600")
            plain_tooltip(self._cells[0, place], name)
            for line, attribute in enumerate(_FIGURES, 1):
                words, whole = _figure(figures, attribute, summary.layout)
                self._cells[line, place].setText(words)
                plain_tooltip(self._cells[line, place], whole)
        for (line, _place), cell in self._cells.items():
            cell.setVisible(summary.kind == "number" or line <= len(_COUNTS))


def _figure(figures: Figures | None, attribute: str, layout: str) -> tuple[str, str]:
    """Return a figure as it fits a cell, and a date with its time."""
    if figures is None:
        return "", ""
    value = getattr(figures, attribute)
    if attribute in _COUNTS:
        return f"{value:,}", ""
    if math.isnan(value) or not layout:
        return short_figure(value), ""
    if attribute == "sd":
        return f"{short_figure(value)} {'h' if layout == dates.CLOCK else 'd'}", ""
    # Days within a few of each other differ in their times.
    whole = dates.date_text(value, layout)
    is_time = figures.high - figures.low < 1 and " " in whole
    return whole[-5:] if is_time else whole[:10], whole


def short_figure(value: float) -> str:
    """Write a number with up to four significant digits, as the width of a cell allows."""
    if math.isnan(value):
        return "–"
    texts = [f"{value:.{digits}g}" for digits in (4, 3, 2)]
    short = next((one for one in texts if len(one) <= _MOST_SIGNS), texts[-1])
    return (f"{value:,.0f}" if 1e4 <= abs(value) < 1e6 else short).replace("-", "−")


def area_sentence(summary: ColumnSummary) -> Statement:
    """State the AUC of a column as a score."""
    area = summary.area
    if area is None:
        return Statement(text("data_no_area") if summary.class_names else "")
    positive, negative = summary.class_names
    interval = None if math.isnan(area.low) else (area.low, area.high)
    separates = not area.low <= 0.5 <= area.high
    code = "data_area" if separates else "data_no_separation"
    by = summary.by if summary.by in (VALUE, SHARE, PRESENCE) else "part"
    facts = {"positive": positive, "negative": negative, "by": by, "part": summary.by}
    head = text(code, **facts, area=area.value, interval=interval)
    if summary.by == VALUE and (interval is None or not separates):
        return Statement(head)
    more = text(f"data_area_by_{by}", high=area.value >= 0.5, positive=positive)
    return Statement(head, more)


def column_sentence(summary: ColumnSummary) -> Statement:
    """State the result of a column."""
    area = area_sentence(summary)
    if not area.headline:
        return Statement(text("data_column_distinct", name=summary.name, count=summary.distinct))
    return Statement(f"{summary.name}: {area.headline}", area.more)


def spread_words(summary: ColumnSummary) -> str:
    """State what the picture of a distribution omits."""
    found = summary.distribution
    if not found.shares.size:
        return text("data_no_value")
    if found.others:
        classes = bool(summary.class_names)
        return text("data_levels_not_drawn", others=found.others, classes=classes)
    ends = (found.below, "below"), (found.above, "above")
    outside = [f"{counted(count, 'value')} {side}" for count, side in ends if count]
    return text("data_not_drawn", outside=outside) if outside else ""


class DistributionPlot:
    """Histograms by class, or a bar per value.

    Attributes
    ----------
    plot : Plot
    summary : ColumnSummary or None
    """

    def __init__(self) -> None:
        self.plot = make_plot("data_distribution_plot", "", "")
        self.summary: ColumnSummary | None = None

    def show(self, summary: ColumnSummary | None) -> None:
        """Draw another column, or none."""
        self.summary = summary
        style_plot(self.plot)
        self.plot.clear()
        found = None if summary is None else summary.distribution
        self.plot.setVisible(found is not None and found.shares.size > 0)
        if summary is None or found is None or not found.shares.size:
            return
        theme, bars = current_theme(), found.edges is None
        inks = [theme.positive, theme.negative] if summary.class_names else [theme.neutral]
        share = "Share of the class" if len(inks) > 1 else "Share of the rows"
        self.plot.getAxis("left").setTicks(None)
        self.plot.getAxis("bottom").show_dates("" if bars else summary.layout)
        for side, is_share in (("left", not bars), ("bottom", bars)):
            self.plot.setLabel(side, share if is_share else "")
        self.plot.frame.show_grid(x=bars, y=not bars)
        top = 1.05 * (float(found.shares.max()) or 1.0)
        height = _HEIGHT
        if found.edges is None:
            self._draw_bars(found, inks)
            self.plot.set_whole((0.0, top), (-0.6, len(found.names) - 0.4))
            height = max(height, _BAR * len(found.names) + 40)
        else:
            self._draw_bins(found.edges, found.shares, inks)
            low, high = float(found.edges[0]), float(found.edges[-1])
            self.plot.set_whole((low, high), (0.0, top))
        self.plot.setFixedHeight(scaled(height))

    def _draw_bins(self, edges: Array, shares: Array, inks: Sequence[str]) -> None:
        for line, ink in zip(shares, inks, strict=True):
            brush, drawn = faded(ink, _FILL), pen(ink, 1.5)
            steps = {"stepMode": "center", "fillLevel": 0.0}
            self.plot.addItem(pg.PlotCurveItem(edges, line, pen=drawn, brush=brush, **steps))

    def _draw_bars(self, found: Distribution, inks: Sequence[str]) -> None:
        count, height = len(found.names), 0.8 / len(inks)
        # The first value on top, and in it the positives.
        places = np.arange(count)[::-1].astype(float)
        for k, (line, ink) in enumerate(zip(found.shares, inks, strict=True)):
            bottom = places + height * (len(inks) / 2 - 1 - k)
            look = {"pen": pen(ink, 1.0), "brush": faded(ink, 3 * _FILL)}
            sides = {"x0": np.zeros(count), "y0": bottom, "height": np.full(count, height)}
            self.plot.addItem(pg.BarGraphItem(width=line, **sides, **look))
        width, room = QFontMetrics(self.plot.font()).horizontalAdvance, scaled(_NAME_WIDTH)
        cut = [elided(name, room, width) for name in found.names]
        self.plot.getAxis("left").setTicks([list(zip(places, cut, strict=True))])

    def data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        """Return the numbers of the picture."""
        if self.summary is None:
            return {}
        found, names = self.summary.distribution, self.summary.class_names or ("all rows",)
        count = found.shares.shape[1]
        columns: dict[str, Sequence[object] | NDArray[Any]] = {
            "column": [self.summary.name] * count * len(names),
            "class": [name for name in names for _ in range(count)],
        }
        if found.edges is None:
            columns["value"] = list(found.names) * len(names)
        else:
            edges: list[object] = found.edges.tolist()
            if self.summary.layout:
                edges = [
                    dates.date_text(edge, self.summary.layout) for edge in found.edges.tolist()
                ]
            columns["from"], columns["to"] = edges[:-1] * len(names), edges[1:] * len(names)
        columns["share"] = found.shares.ravel()
        return columns
