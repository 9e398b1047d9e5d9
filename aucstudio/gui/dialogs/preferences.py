"""Preferences: theme, text size, range, parallel runs, figures."""

from __future__ import annotations

import os

import msgspec
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QDialogButtonBox,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from aucstudio.gui.common.form import (
    Form,
    choice_box,
    edge_box,
    number_box,
    range_row,
    whole_box,
)
from aucstudio.gui.common.layouts import STRETCH, down, holding
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import (
    answers,
    label,
    named,
    tell,
)
from aucstudio.gui.state.preferences import PreferencesFile

FIGURE_COLOURS = {True: "For print, on a white background", False: "As on screen"}
_THEMES = {"system": "As the desktop", "light": "Light", "dark": "Dark"}
_FIELD = 200  # pixels of width
_OF_SCREEN = 0.9  # the most that the dialog takes
_BUTTON = QDialogButtonBox.StandardButton
_POLICY = QSizePolicy.Policy


class PreferencesDialog(Dialog):
    """Shows the preferences, and changes them all at once with OK."""

    def __init__(self, kept: PreferencesFile, parent: QWidget | None = None) -> None:
        super().__init__("preferences_dialog", "Preferences", parent)
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
        self.theme = choice_box("preferences_theme", "Theme", _THEMES)
        self.theme.setCurrentIndex(self.theme.findData(now.theme))
        self.text_size = whole_box(
            "preferences_text_size", "Text size", 100, 200, value=now.text_size, step=10, unit=" %"
        )
        most = max(os.cpu_count() or 1, now.runs_at_once)
        self.at_once = whole_box(
            "preferences_at_once", "Runs at once", 1, most, value=now.runs_at_once
        )
        self.low = edge_box("preferences_fpr_low", "Lower end of the FPR range", 0.0, 1.0)
        self.high = edge_box("preferences_fpr_high", "Upper end of the FPR range", 0.0, 1.0)
        for box, end in zip((self.low, self.high), now.fpr_range, strict=True):
            box.setValue(end)
        self.problem = label("", "error", wrap=True, name="preferences_problem")

    def _lay_out(self) -> None:
        self._rows = Form()
        self._rows.add_heading("WINDOW")
        self._rows.add("&Theme", self.theme)
        self._rows.add("Text &size", self.text_size)
        self._rows.add_heading("RUNS")
        self._rows.add("&Runs at once", self.at_once)
        self._rows.add_heading("NEW STUDIES")
        self._rows.add("&FPR range", range_row(self.low, self.high))
        self._rows.addRow(self.problem)
        self._rows.add_heading("FIGURES")
        for title, field in (
            ("&Width", self.width_mm),
            ("&Height", self.height_mm),
            ("Te&xt", self.font_points),
            ("&Line width", self.line_points),
            ("C&olours", self.colours),
            ("R&esolution", self.dpi),
            ("", self.caption),
        ):
            field.setMinimumWidth(scaled(_FIELD))
            self._rows.add(title, field)
        self.buttons = answers(self, "preferences", self.accept)
        # On a low screen the fields are scrolled; the buttons stay in view.
        below = down(self.buttons, around=(16, 0, 16, 16))
        self.setLayout(down((self._scrolled(), 1), below))

    def _scrolled(self) -> QScrollArea:
        inner = holding(down(self._rows, STRETCH, around=(16, 16, 16, 8)))
        inner.setSizePolicy(_POLICY.Preferred, _POLICY.Minimum)  # scrolled, never squeezed
        self.area = named(_WholeArea(inner), "preferences_area", "Preferences")
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        return self.area

    def _make_figure_fields(self) -> None:
        rules = self._kept.now.figure
        self.width_mm = number_box(
            "preferences_width", "Width of a figure", 20, 600, value=rules.width, unit=" mm"
        )
        self.height_mm = number_box(
            "preferences_height", "Height of a figure", 20, 600, value=rules.height, unit=" mm"
        )
        self.font_points = number_box(
            "preferences_font", "Font size", 4, 48, value=rules.font, unit=" pt"
        )
        self.line_points = number_box(
            "preferences_line", "Line width", 0.1, 10, value=rules.line, unit=" pt"
        )
        self.dpi = whole_box(
            "preferences_dpi", "Dots per inch of a PNG", 36, 2400, value=rules.dpi, unit=" dpi"
        )
        self.colours = choice_box("preferences_colours", "Colours of a figure", FIGURE_COLOURS)
        self.colours.setCurrentIndex(self.colours.findData(rules.light))
        words = "Conclusion as caption"
        self.caption = named(QCheckBox("Conclusion as &caption"), "preferences_caption", words)
        self.caption.setChecked(rules.caption)

    def _check(self) -> None:
        sound = self.low.value() < self.high.value()
        tell(self.problem, "" if sound else "The lower end must be below the upper end.", "error")
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
