"""What a person chooses for all studies: theme, size of text, range, runs at once, figures."""

from __future__ import annotations

import os

import msgspec
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common.edge_box import make_edge_box
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import (
    FIELD_MARGINS,
    dialog_buttons,
    field_label,
    fields_grid,
    label,
    named,
    primary,
    tell,
)
from aucstudio.gui.state.preferences import PreferencesFile

_THEMES = {"system": "As the desktop", "light": "Light", "dark": "Dark"}
_FIELD, _HEADING = 200, 32  # pixels: width of a field, height of a heading
_OF_SCREEN = 0.9  # the most that the dialog takes
_BUTTON = QDialogButtonBox.StandardButton
_POLICY = QSizePolicy.Policy


class PreferencesDialog(QDialog):
    """Shows the preferences, and changes them all at once with OK."""

    def __init__(self, kept: PreferencesFile, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("preferences_dialog")
        self.setWindowTitle("Preferences")
        self._kept = kept
        self._make_window_fields()
        self._make_figure_fields()
        self._lay_out()
        # Qt takes two thirds of the screen at most, on its own.
        room = self.screen().availableSize() * _OF_SCREEN
        self.resize(self.sizeHint().boundedTo(room))
        for box in (self.low, self.high):
            box.valueChanged.connect(self._check)
        self._check()

    def _make_window_fields(self) -> None:
        now = self._kept.now
        self.theme = named(QComboBox(), "preferences_theme", "Theme")
        for key, words in _THEMES.items():
            self.theme.addItem(words, key)
        self.theme.setCurrentIndex(self.theme.findData(now.theme))
        self.text_size = _whole("preferences_text_size", "Text size", (100, 200), now.text_size)
        self.text_size.setSuffix(" %")
        self.text_size.setSingleStep(10)
        most = max(os.cpu_count() or 1, now.runs_at_once)
        self.at_once = _whole("preferences_at_once", "Runs at once", (1, most), now.runs_at_once)
        self.low = make_edge_box("preferences_fpr_low", "Lower end of the FPR range", 0.0, 1.0)
        self.high = make_edge_box("preferences_fpr_high", "Upper end of the FPR range", 0.0, 1.0)
        for box, end in zip((self.low, self.high), now.fpr_range, strict=True):
            box.setValue(end)
        self.problem = label("", "error", wrap=True, name="preferences_problem")

    def _lay_out(self) -> None:
        fpr = QHBoxLayout()
        fpr.setSpacing(8)
        for part in (self.low, label("…"), self.high):
            fpr.addWidget(part)
        fpr.addStretch(1)
        self._rows = fields_grid()
        self._rows.setColumnMinimumWidth(1, scaled(_FIELD))
        self._add_heading("WINDOW")
        self._add("&Theme", self.theme)
        self._add("Text &size", self.text_size)
        self._add_heading("RUNS")
        self._add("&Runs at once", self.at_once)
        self._add_heading("NEW STUDIES")
        self._add("&FPR range", self.low, fpr)
        self._rows.addWidget(self.problem, self._rows.rowCount(), 0, 1, 2)
        self._add_heading("FIGURES")
        self._add("&Width", self.width_mm)
        self._add("&Height", self.height_mm)
        self._add("Te&xt", self.font_points)
        self._add("&Line width", self.line_points)
        self._add("C&olours", self.colours)
        self._add("R&esolution", self.dpi)
        self._rows.addWidget(self.caption, self._rows.rowCount(), 1)
        self.buttons = dialog_buttons(_BUTTON.Ok, _BUTTON.Cancel, name="preferences")
        primary(self.buttons.button(_BUTTON.Ok))
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        # On a low screen the fields are scrolled; the buttons stay in view.
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 16)
        layout.addWidget(self._scrolled(), stretch=1)
        below = QHBoxLayout()
        below.setContentsMargins(16, 0, 16, 0)
        below.addWidget(self.buttons)
        layout.addLayout(below)

    def _scrolled(self) -> QScrollArea:
        inner = QWidget()
        inner.setSizePolicy(_POLICY.Preferred, _POLICY.Minimum)  # scrolled, never squeezed
        column = QVBoxLayout(inner)
        column.setContentsMargins(16, 16, 16, 8)
        column.addLayout(self._rows)
        column.addStretch(1)
        self.area = named(_WholeArea(inner), "preferences_area", "Preferences")
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        return self.area

    def _make_figure_fields(self) -> None:
        rules = self._kept.now.figure
        self.width_mm = _length("preferences_width", "Width of a figure", 20, 600, rules.width)
        self.height_mm = _length("preferences_height", "Height of a figure", 20, 600, rules.height)
        for box in (self.width_mm, self.height_mm):
            box.setSuffix(" mm")
        self.font_points = _length("preferences_font", "Size of the type", 4, 48, rules.font)
        self.line_points = _length("preferences_line", "Width of a line", 0.1, 10, rules.line)
        for box in (self.font_points, self.line_points):
            box.setSuffix(" pt")
        self.dpi = _whole("preferences_dpi", "Dots per inch of a PNG", (36, 2400), rules.dpi)
        self.dpi.setSuffix(" dpi")
        self.colours = named(QComboBox(), "preferences_colours", "Colours of a figure")
        self.colours.addItem("For print, on white", True)
        self.colours.addItem("As on screen", False)
        self.colours.setCurrentIndex(self.colours.findData(rules.light))
        words = "Sentence below as caption"
        self.caption = named(QCheckBox("Sentence below as &caption"), "preferences_caption", words)
        self.caption.setChecked(rules.caption)

    def _add_heading(self, words: str) -> None:
        row = self._rows.rowCount()
        self._rows.setRowMinimumHeight(row, scaled(_HEADING if row > 1 else 0))
        bottom = Qt.AlignmentFlag.AlignBottom
        self._rows.addWidget(label(words, "heading"), row, 0, 1, 2, bottom)

    def _add(self, words: str, field: QWidget, beside: QHBoxLayout | None = None) -> None:
        row = self._rows.rowCount()
        title = field_label(words)
        title.setBuddy(field)
        self._rows.addWidget(title, row, 0)
        if beside is None:
            self._rows.addWidget(field, row, 1)
        else:
            self._rows.addLayout(beside, row, 1)

    def _check(self) -> None:
        sound = self.low.value() < self.high.value()
        tell(self.problem, "" if sound else "The range has to begin below its end.", "error")
        self.buttons.button(_BUTTON.Ok).setEnabled(sound)

    def accept(self) -> None:
        figure = msgspec.structs.replace(
            self._kept.now.figure,
            width=self.width_mm.value(),
            height=self.height_mm.value(),
            font=self.font_points.value(),
            line=self.line_points.value(),
            dpi=self.dpi.value(),
            light=self.colours.currentData(),
            caption=self.caption.isChecked(),
        )
        self._kept.put(
            theme=self.theme.currentData(),
            text_size=self.text_size.value(),
            runs_at_once=self.at_once.value(),
            fpr_range=(self.low.value(), self.high.value()),
            figure=figure,
        )
        super().accept()


class _WholeArea(QScrollArea):
    """A scroll area that asks for the room of all that is in it."""

    def __init__(self, inner: QWidget) -> None:
        super().__init__()
        self._inner = inner
        self.setWidget(inner)
        self.setWidgetResizable(True)

    def sizeHint(self) -> QSize:
        return self._inner.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return QSize(self._inner.minimumSizeHint().width(), super().minimumSizeHint().height())


def _whole(name: str, accessible: str, bounds: tuple[int, int], value: int) -> QSpinBox:
    box = named(QSpinBox(), name, accessible)
    box.lineEdit().setTextMargins(*FIELD_MARGINS)
    box.setRange(*bounds)
    box.setValue(value)
    return box


def _length(name: str, accessible: str, low: float, high: float, value: float) -> QDoubleSpinBox:
    box = named(QDoubleSpinBox(), name, accessible)
    box.lineEdit().setTextMargins(*FIELD_MARGINS)
    box.setDecimals(1)
    box.setRange(low, high)
    box.setValue(value)
    return box
