"""What a person chooses for all studies: theme, size of text, range, runs at once, figures."""

from __future__ import annotations

import os

import msgspec
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common.widgets import (
    dialog_buttons,
    field_label,
    fields_grid,
    label,
    named,
    tell,
)
from aucstudio.gui.state.preferences import PreferencesFile

_THEMES = {"system": "As the desktop", "light": "Light", "dark": "Dark"}
_BUTTON = QDialogButtonBox.StandardButton


class PreferencesDialog(QDialog):
    """Shows the preferences, and changes them all at once with OK."""

    def __init__(self, kept: PreferencesFile, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("preferences_dialog")
        self.setWindowTitle("Preferences")
        self._kept = kept
        now = kept.now
        self.theme = named(QComboBox(), "preferences_theme", "Theme")
        for key, words in _THEMES.items():
            self.theme.addItem(words, key)
        self.theme.setCurrentIndex(self.theme.findData(now.theme))
        self.text_size = _whole("preferences_text_size", "Text size", (100, 200), now.text_size)
        self.text_size.setSuffix(" %")
        self.text_size.setSingleStep(10)
        most = max(os.cpu_count() or 1, now.runs_at_once)
        self.at_once = _whole("preferences_at_once", "Runs at once", (1, most), now.runs_at_once)
        self.low = _share("preferences_fpr_low", "Lower end of the FPR range", now.fpr_range[0])
        self.high = _share("preferences_fpr_high", "Upper end of the FPR range", now.fpr_range[1])
        self.problem = label("", "error", wrap=True, name="preferences_problem")
        self._make_figure_fields()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(label("WINDOW", "heading"))
        layout.addLayout(_form(("&Theme", self.theme), ("Text &size", self.text_size)))
        layout.addWidget(label("NEW STUDIES", "heading"))
        layout.addLayout(_form(("&FPR from", self.low), ("to", self.high)))
        layout.addWidget(self.problem)
        layout.addLayout(_form(("&Runs at once", self.at_once)))
        layout.addWidget(label("FIGURES", "heading"))
        layout.addLayout(
            _form(
                ("&Width", self.width_mm),
                ("&Height", self.height_mm),
                ("T&ype", self.font_points),
                ("&Lines", self.line_points),
                ("PNG", self.dpi),
            )
        )
        layout.addWidget(self.light)
        layout.addWidget(self.caption)
        self.buttons = dialog_buttons(_BUTTON.Ok, _BUTTON.Cancel, name="preferences")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout.addWidget(self.buttons)
        for box in (self.low, self.high):
            box.valueChanged.connect(self._check)
        self._check()

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
        self.dpi = _whole("preferences_dpi", "Pixels an inch", (36, 2400), rules.dpi)
        self.dpi.setSuffix(" dpi")
        self.light = named(QCheckBox("In light &colours"), "preferences_light", "In light colours")
        self.light.setChecked(rules.light)
        self.caption = named(
            QCheckBox("With the sentence &below"), "preferences_caption", "With the sentence below"
        )
        self.caption.setChecked(rules.caption)

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
            light=self.light.isChecked(),
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


def _form(*fields: tuple[str, QWidget]) -> QGridLayout:
    grid = fields_grid()
    for row, (words, field) in enumerate(fields):
        title = field_label(words)
        title.setBuddy(field)
        grid.addWidget(title, row, 0)
        beside = QHBoxLayout()
        beside.addWidget(field)
        beside.addStretch(1)
        grid.addLayout(beside, row, 1)
    return grid


def _whole(name: str, accessible: str, bounds: tuple[int, int], value: int) -> QSpinBox:
    box = named(QSpinBox(), name, accessible)
    box.setRange(*bounds)
    box.setValue(value)
    return box


def _length(name: str, accessible: str, low: float, high: float, value: float) -> QDoubleSpinBox:
    box = named(QDoubleSpinBox(), name, accessible)
    box.setDecimals(1)
    box.setRange(low, high)
    box.setValue(value)
    return box


def _share(name: str, accessible: str, value: float) -> QDoubleSpinBox:
    box = named(QDoubleSpinBox(), name, accessible)
    box.setDecimals(3)
    box.setSingleStep(0.01)
    box.setRange(0.0, 1.0)
    box.setValue(value)
    return box
