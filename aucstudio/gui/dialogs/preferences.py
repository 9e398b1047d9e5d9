"""Preferences: theme, text size, range, parallel runs, figures."""

from __future__ import annotations

import os

from PySide6.QtWidgets import QDialogButtonBox, QWidget

from aucstudio.gui.common.buttons import answers, check_box
from aucstudio.gui.common.form import Fields, Form, RangeBox, choice_box, number_box, whole_box
from aucstudio.gui.common.layouts import STRETCH, down
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import label, show_note
from aucstudio.gui.state.preferences import FigureRules, PreferencesFile

_COLOURS = {True: "For print, on a white background", False: "As on screen"}
_FIELD = 200  # pixels of width


def figure_fields() -> Fields:
    """Make the fields of the size and style of pictures."""
    return Fields(
        width=number_box("figure_width", 20, 600, step=5, unit=" mm"),
        height=number_box("figure_height", 20, 600, step=5, unit=" mm"),
        font=number_box("figure_font", 4, 48, step=0.5, unit=" pt"),
        line=number_box("figure_line", 0.1, 10, step=0.25, decimals=2, unit=" pt"),
        light=choice_box("figure_colours", _COLOURS),
        dpi=whole_box("figure_dpi", 36, 2400, step=50, unit=" dpi"),
        caption=check_box("figure_caption"),
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
        most = max(os.cpu_count() or 1, now.runs_at_once)
        self.fields = Fields(
            theme=choice_box("preferences_theme"),
            text_size=whole_box("preferences_text_size", 100, 200, step=10, unit=" %"),
            runs_at_once=whole_box("preferences_at_once", 1, most),
            fpr_range=RangeBox("preferences_fpr"),
        )
        self.fields.write({field: getattr(now, field) for field in self.fields})
        self.figure = figure_fields()
        self.figure.write({field: getattr(now.figure, field) for field in self.figure})
        self.problem = label("", "error", wrap=True, name="preferences_problem")
        self._lay_out()
        self.fields["fpr_range"].valueChanged.connect(self._check)
        self._check()
        self.fields["theme"].setFocus()

    def _lay_out(self) -> None:
        form = Form()
        for heading, keys in (
            ("WINDOW", ("theme", "text_size")),
            ("RUNS", ("runs_at_once",)),
            ("NEW STUDIES", ("fpr_range",)),
        ):
            form.add_heading(heading)
            for key in keys:
                form.put(self.fields[key])
        form.addRow(self.problem)
        form.add_heading("FIGURES")
        for field in self.figure.values():
            field.setMinimumWidth(scaled(_FIELD))
            form.put(field)
        self.buttons = answers(self, "preferences", self.accept)
        self.lay_out(down(form, STRETCH), self.buttons)

    def _check(self) -> None:
        low, high = self.fields["fpr_range"].value()
        problem = "" if low < high else "The lower end must be below the upper end."
        show_note(self.problem, problem, "error")
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(low < high)

    def accept(self) -> None:
        """Store the preferences and close."""
        self._kept.put(**self.fields.read(), figure=FigureRules(**self.figure.read()))
        super().accept()
