"""Preferences: theme, text size, range, parallel runs, figures."""

from __future__ import annotations

import os

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QCheckBox, QDialogButtonBox, QScrollArea, QSizePolicy, QWidget

from aucstudio.gui.common.form import Fields, Form, RangeBox, choice_box, number_box, whole_box
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import STRETCH, answers, down, holding, label, named, show_note
from aucstudio.gui.state.preferences import FigureRules, PreferencesFile

_COLOURS = {True: "For print, on a white background", False: "As on screen"}
_THEMES = {"system": "As the desktop", "light": "Light", "dark": "Dark"}
_TITLES = {"theme": "&Theme", "text_size": "Text &size", "runs_at_once": "&Runs at once"}
FIGURE_TITLES = {
    "width": "&Width",
    "height": "&Height",
    "font": "Te&xt",
    "line": "&Line width",
    "light": "C&olours",
    "dpi": "R&esolution",
    "caption": "",
}
_FIELD = 200  # pixels of width
_OF_SCREEN = 0.9  # the most that the dialog takes
_POLICY = QSizePolicy.Policy


def figure_fields(prefix: str) -> Fields:
    """Make the fields of the settings of exported figures; see FigureRules."""
    caption = QCheckBox("Conclusion as &caption")
    return Fields(
        width=number_box(f"{prefix}_width", "Width", 20, 600, step=5, unit=" mm"),
        height=number_box(f"{prefix}_height", "Height", 20, 600, step=5, unit=" mm"),
        font=number_box(f"{prefix}_font", "Font size", 4, 48, step=0.5, unit=" pt"),
        line=number_box(f"{prefix}_line", "Line width", 0.1, 10, step=0.25, decimals=2, unit=" pt"),
        light=choice_box(f"{prefix}_colours", "Colours", _COLOURS),
        dpi=whole_box(f"{prefix}_dpi", "Resolution of a PNG", 36, 2400, step=50, unit=" dpi"),
        caption=named(caption, f"{prefix}_caption", "Conclusion as caption"),
    )


class PreferencesDialog(Dialog):
    """Shows the preferences, and changes them all at once with OK.

    Attributes
    ----------
    fields : Fields
        Theme, text size, runs at once and the FPR range, by the names of the preferences.
    figure : Fields
    """

    def __init__(self, kept: PreferencesFile, parent: QWidget | None = None) -> None:
        super().__init__("preferences_dialog", "Preferences", parent)
        self._kept, now = kept, kept.now
        name, most = "preferences", max(os.cpu_count() or 1, kept.now.runs_at_once)
        ends = "Lower end of the FPR range", "Upper end of the FPR range"
        self.fields = Fields(
            theme=choice_box(f"{name}_theme", "Theme", _THEMES),
            text_size=whole_box(f"{name}_text_size", "Text size", 100, 200, step=10, unit=" %"),
            runs_at_once=whole_box(f"{name}_at_once", "Runs at once", 1, most),
            fpr_range=RangeBox(f"{name}_fpr", *ends),
        )
        self.fields.write({field: getattr(now, field) for field in self.fields})
        self.figure = figure_fields(name)
        self.figure.write({field: getattr(now.figure, field) for field in self.figure})
        self.problem = label("", "error", wrap=True, name="preferences_problem")
        self._lay_out()
        # Qt takes two thirds of the screen at most, on its own.
        self.resize(self.sizeHint().boundedTo(self.screen().availableSize() * _OF_SCREEN))
        self.fields["fpr_range"].valueChanged.connect(self._check)
        self._check()

    def _lay_out(self) -> None:
        form = Form()
        for heading, keys in (("WINDOW", ("theme", "text_size")), ("RUNS", ("runs_at_once",))):
            form.add_heading(heading)
            for key in keys:
                form.add(_TITLES[key], self.fields[key])
        form.add_heading("NEW STUDIES")
        form.add("&FPR range", self.fields["fpr_range"])
        form.addRow(self.problem)
        form.add_heading("FIGURES")
        for key, title in FIGURE_TITLES.items():
            self.figure[key].setMinimumWidth(scaled(_FIELD))
            form.add(title, self.figure[key])
        self.buttons = answers(self, "preferences", self.accept)
        # On a low screen the fields are scrolled; the buttons stay in view.
        inner = holding(down(form, STRETCH, around=(16, 16, 16, 8)))
        inner.setSizePolicy(_POLICY.Preferred, _POLICY.Minimum)  # scrolled, never squeezed
        self.area = named(_WholeArea(inner), "preferences_area", "Preferences")
        below = down(self.buttons, around=(16, 0, 16, 16))
        self.setLayout(down((self.area, 1), below))

    def _check(self) -> None:
        low, high = self.fields["fpr_range"].value()
        problem = "" if low < high else "The lower end must be below the upper end."
        show_note(self.problem, problem, "error")
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(low < high)

    def accept(self) -> None:
        """Store the preferences and close."""
        self._kept.put(**self.fields.read(), figure=FigureRules(**self.figure.read()))
        super().accept()


class _WholeArea(QScrollArea):
    """A scroll area that asks for the room of all that is in it."""

    def __init__(self, inner: QWidget) -> None:
        super().__init__()
        self._inner = inner
        self.setWidget(inner)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def sizeHint(self) -> QSize:
        return self._inner.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return QSize(self._inner.minimumSizeHint().width(), super().minimumSizeHint().height())
