"""Card of a column: role, distribution by class and AUC."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QScrollArea,
    QWidget,
)

from aucstudio.gui.common.column_controls import DatePartsButton
from aucstudio.gui.common.plain_text import PlainLabel, elided, plain_tooltip, told_apart
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import (
    STRETCH,
    ElidedCombo,
    ElidedLabel,
    across,
    down,
    label,
    make_buddy,
    named,
    show_note,
)
from aucstudio.gui.pages.data.distribution_plot import ColumnRoc, DistributionPlot
from aucstudio.gui.pages.data.words import area_sentence, spread_words
from aucstudio.project.data.columns import NUMERIC_ROLES, ColumnInfo
from aucstudio.project.data.text import dates
from aucstudio.project.survey.columns import ColumnSummary, Figures

WIDTH = 272
_DATES = 36
_AIR = 14  # for the scroll bar
_HEAD_WIDTH = 56
_MOST_SIGNS = 8  # of a number in a cell
_ROLES = {
    "number": "Number",
    "category": "Category",
    "group": "Group",
    "id": "Identifier",
    "weight": "Weight",
    "frequency": "Frequency",
    "ignore": "Ignored",
    "label": "Label",
}
_FIGURES = (
    ("rows", "Rows"),
    ("missing", "Missing"),
    ("mean", "Mean"),
    ("median", "Median"),
    ("sd", "SD"),
    ("low", "Minimum"),
    ("high", "Maximum"),
)


class ColumnCard(QScrollArea):
    """Summary of a column.

    Attributes
    ----------
    role_combo : QComboBox
    spread : DistributionPlot
    roc : ColumnRoc
    summary : ColumnSummary or None
    has_dates : bool
        Whether the table has columns of dates, whose figures take more room.

    Signals
    -------
    role_chosen(str, str)
        A column and its new role.
    parts_chosen(str, tuple)
        A column of dates, and its date parts to use as features.
    """

    role_chosen = Signal(str, str)
    parts_chosen = Signal(str, tuple)

    def __init__(self) -> None:
        super().__init__()
        named(self, "data_card", "Column at the pointer")
        self.summary: ColumnSummary | None = None
        self.has_dates = False
        self._column: ColumnInfo | None = None
        self.title = ElidedLabel()
        self.title.setObjectName("data_column_title")
        self.title.setProperty("role", "title")
        self.facts = label("", "muted", wrap=True, name="data_column_facts")
        self.role_combo = named(ElidedCombo(), "data_role_combo", "Role of the column")
        self.parts_button = DatePartsButton("data_parts_button")
        self.parts_button.chosen.connect(self.parts_chosen)
        self.why = label("", "muted", wrap=True, name="data_column_why")
        self.problem = label("", "error", wrap=True, name="data_role_problem")
        self.spread, self.roc = DistributionPlot(), ColumnRoc()
        self.spread_told = label("", "muted", wrap=True, name="data_spread_words")
        self.area = label("", wrap=True, name="data_column_area")
        self._heads: list[QLabel] = []
        self._cells: dict[tuple[int, int], QLabel] = {}
        self.inside, self.figures = QWidget(), QWidget()
        self._lay_out()
        self.role_combo.activated.connect(self._on_role)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.show_column(None)

    def _lay_out(self) -> None:
        role = across(make_buddy("Role", self.role_combo), (self.role_combo, 1), self.parts_button)
        self._lay_out_figures()
        texts = self.title, self.facts, role, self.why, self.problem
        pictures = self.figures, self.spread.plot, self.spread_told, self.area, self.roc.plot
        self.inside.setLayout(down(*texts, *pictures, STRETCH, around=(0, 0, _AIR, 0)))
        self.setWidget(self.inside)

    def _lay_out_figures(self) -> None:
        grid = QGridLayout(self.figures)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        for line, words in enumerate(("", *(words for _attribute, words in _FIGURES))):
            self._heads.append(label(words, "muted"))
            grid.addWidget(self._heads[-1], line, 0)
            for place in range(3):
                cell = PlainLabel()
                cell.setObjectName(f"data_figure_{line}_{place}")
                cell.setAlignment(Qt.AlignmentFlag.AlignRight)
                grid.addWidget(cell, line, place + 1)
                self._cells[line, place] = cell
        for place in range(1, 4):
            grid.setColumnStretch(place, 1)

    # ------------------------------------------------------------- showing

    def show_column(self, column: ColumnInfo | None) -> None:
        """Show the facts of a column before its summary is computed."""
        before, self._column = self._column, column
        same = before is not None and column is not None and before.name == column.name
        self.inside.setVisible(column is not None)
        if column is None:
            return
        self.title.setText(column.name)
        plain_tooltip(self.title, column.name)
        kind = "dates" if column.is_date else "numbers" if column.kind == "number" else "texts"
        values = f"{column.distinct:,} different {kind}"
        self.facts.setText(f"{values} · {column.missing:,} missing")
        self._offer_roles(column)
        self.parts_button.setVisible(DatePartsButton.fits(column))
        if DatePartsButton.fits(column):
            self.parts_button.show_column(column)
        why = column.reason or ("The role was detected from the cells." if column.guessed else "")
        show_note(self.why, why[:1].upper() + why[1:])
        show_note(self.problem, "")
        if not same:
            self.show_summary(None)

    def _offer_roles(self, column: ColumnInfo) -> None:
        self.role_combo.clear()
        is_label = column.role == "label"
        for role, words in _ROLES.items():
            fits = role not in NUMERIC_ROLES or column.kind == "number"
            if fits and (role == "label") == is_label:
                self.role_combo.addItem(words, role)
        self.role_combo.setCurrentIndex(max(0, self.role_combo.findData(column.role)))
        self.role_combo.setEnabled(not is_label)
        plain_tooltip(
            self.role_combo,
            "Another label is chosen in the Data card"
            if is_label
            else "Role of the column in training; can be undone",
        )

    def show_summary(self, summary: ColumnSummary | None) -> None:
        """Show the figures of the column; empty while they are computed."""
        self.summary = summary
        self.spread.show(summary)
        self.roc.show(summary)
        self.figures.setVisible(summary is not None)
        show_note(self.spread_told, "" if summary is None else spread_words(summary))
        show_note(self.area, "" if summary is None else area_sentence(summary).text, "")
        if summary is not None:
            self._fill(summary)

    def _fill(self, summary: ColumnSummary) -> None:
        theme = current_theme()
        inks = (theme.text, theme.positive, theme.negative)
        groups = [*summary.groups.items(), ("", None), ("", None)][:3]
        names, room = [name for name, _ in groups], scaled(_HEAD_WIDTH)
        width = QFontMetrics(self._cells[0, 0].font()).horizontalAdvance
        shown = [elided(names[0], room, width), *told_apart(names[1], names[2], room, width)]
        for place, (name, figures) in enumerate(groups):
            head = self._cells[0, place]
            head.setText(shown[place])
            plain_tooltip(head, name)
            head.setStyleSheet(f"color: {inks[place]}; font-weight: 600")
            for line, (attribute, _words) in enumerate(_FIGURES, 1):
                cell = self._cells[line, place]
                cell.setText(_figure(figures, attribute, summary.layout))
                plain_tooltip(cell, _whole(figures, attribute, summary.layout))
        has_figures = summary.kind == "number"
        for (line, _place), cell in self._cells.items():
            cell.setVisible(has_figures or line < 3)
        for words in self._heads[3:]:
            words.setVisible(has_figures)

    def show_problem(self, text: str) -> None:
        """Show why a role is not possible."""
        show_note(self.problem, text, "error")
        if self._column is not None:
            self.role_combo.setCurrentIndex(max(0, self.role_combo.findData(self._column.role)))

    def least_width(self) -> int:
        """Return the least width without elided text."""
        return scaled(WIDTH + _DATES if self.has_dates else WIDTH)

    def _on_role(self) -> None:
        role = self.role_combo.currentData()
        if self._column is not None and role != self._column.role:
            self.role_chosen.emit(self._column.name, role)


def _figure(figures: Figures | None, attribute: str, layout: str) -> str:
    if figures is None:
        return ""
    value = getattr(figures, attribute)
    if isinstance(value, int):
        return f"{value:,}"
    if layout and not math.isnan(value):
        if attribute == "sd":
            return f"{_short(value)} {'h' if layout == dates.CLOCK else 'd'}"
        # Days within a few of each other differ in their times.
        text = dates.spell(value, layout)
        return text[-5:] if figures.high - figures.low < 1 and " " in text else text[:10]
    return "–" if math.isnan(value) else _short(value).replace("-", "−")


def _whole(figures: Figures | None, attribute: str, layout: str) -> str:
    """Return a date with its time if a figure is a date."""
    value = math.nan if figures is None else getattr(figures, attribute)
    is_date = layout and attribute not in ("rows", "missing", "sd") and not math.isnan(value)
    return dates.spell(value, layout) if is_date else ""


def _short(value: float) -> str:
    """Write a number with up to four significant digits, as the width of a cell allows."""
    if 1e4 <= abs(value) < 1e6:
        return f"{value:,.0f}"
    sentences = [f"{value:.{digits}g}" for digits in (4, 3, 2)]
    return next((text for text in sentences if len(text) <= _MOST_SIGNS), sentences[-1])
