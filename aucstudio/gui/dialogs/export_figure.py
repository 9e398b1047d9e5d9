"""Save a picture: size, type, lines and colours, with a preview."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialogButtonBox,
    QDoubleSpinBox,
    QLineEdit,
    QPushButton,
    QWidget,
)

from aucstudio.gui.common import printing, prompts
from aucstudio.gui.common.drawing import MM_PER_INCH, Drawing
from aucstudio.gui.common.form import Form, choice_box, number_box, whole_box
from aucstudio.gui.common.icons import set_icon
from aucstudio.gui.common.layouts import STRETCH, across, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.printing import PRESETS, Sheet
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import (
    answers,
    label,
    named,
    tell,
)
from aucstudio.gui.dialogs.preferences import FIGURE_COLOURS
from aucstudio.gui.state.session import Session
from aucstudio.gui.state.timers import delayed
from aucstudio.project.errors import InputError

_FILTERS = "PDF (*.pdf);;SVG (*.svg);;PNG (*.png)"
_BUTTON = QDialogButtonBox.StandardButton
_PREVIEW = QSize(440, 400)


class ExportFigureDialog(Dialog):
    """Asks how a view's picture is to be put on paper, shows it, saves or copies it."""

    def __init__(self, session: Session, view: PageView, parent: QWidget) -> None:
        super().__init__("export_figure_dialog", f"Save picture: {view.title}", parent)
        self._session, self._view = session, view
        self._soon = delayed(self, 60, self._show_preview)
        self.preview = named(_Preview(), "figure_preview", "Preview of the picture")
        self.words = label("", "muted", wrap=True, name="figure_words")
        form = down(self._make_form(), self.words, STRETCH)
        both = across((self.preview, 1), form, gap=16)
        self.setLayout(down((both, 1), self._make_buttons(), gap=16, around=16))
        self._put(printing.last_sheet())
        self._show_preview()

    # ------------------------------------------------------------- controls

    def _make_form(self) -> Form:
        sizes: dict[object, str] = {
            (width, height): f"{name}, {width:.0f} × {height:.0f} mm"
            for name, width, height in PRESETS
        }
        self.preset = choice_box("figure_preset", "Size", sizes | {None: "Other size"})
        self.width_mm = _length("figure_width", "Width", 30.0, 500.0, 5.0, " mm")
        self.height_mm = _length("figure_height", "Height", 20.0, 500.0, 5.0, " mm")
        self.font_pt = _length("figure_font", "Font size", 4.0, 24.0, 0.5, " pt")
        self.line_pt = _length("figure_line", "Line width", 0.25, 4.0, 0.25, " pt")
        self.colours = choice_box("figure_colours", "Colours", FIGURE_COLOURS)
        self.dpi = whole_box("figure_dpi", "Resolution of a PNG", 72, 1200, step=50, unit=" dpi")
        self.title = named(QLineEdit(), "figure_title", "Title")
        self.title.setPlaceholderText("none")
        words = "Conclusion as caption"
        self.caption = named(QCheckBox("Conclusion as &caption"), "figure_caption", words)
        self._listen()
        return Form(
            ("Si&ze", self.preset),
            ("&Width", self.width_mm),
            ("&Height", self.height_mm),
            ("Te&xt", self.font_pt),
            ("&Line width", self.line_pt),
            ("C&olours", self.colours),
            ("&Resolution", self.dpi, "Dots per inch of a PNG; SVG and PDF are vector formats"),
            ("&Title", self.title, "Shown above the picture"),
            ("", self.caption, "Prints the page's conclusion below the picture"),
        )

    def _listen(self) -> None:
        self.preset.activated.connect(self._on_preset)
        for box in (self.width_mm, self.height_mm):
            box.valueChanged.connect(self._name_size)
        for box in (self.width_mm, self.height_mm, self.font_pt, self.line_pt):
            box.valueChanged.connect(lambda _value: self._soon.start())
        self.dpi.valueChanged.connect(lambda _value: self._soon.start())
        self.colours.currentIndexChanged.connect(lambda _index: self._soon.start())
        self.title.textChanged.connect(lambda _text: self._soon.start())
        self.caption.toggled.connect(lambda _on: self._soon.start())

    def _make_buttons(self) -> QDialogButtonBox:
        self.copy = QPushButton("&Copy")
        set_icon(self.copy, "copy")
        self.copy.clicked.connect(self._on_copy)
        self.buttons = answers(self, "figure", self._on_save, "&Save…", _BUTTON.Save)
        self.buttons.addButton(self.copy, QDialogButtonBox.ButtonRole.ActionRole)
        named(self.copy, "figure_copy_button", "Copy")
        return self.buttons

    # ------------------------------------------------------------- state

    def sheet(self) -> Sheet:
        """Return what is set."""
        return Sheet(
            self.width_mm.value(),
            self.height_mm.value(),
            self.font_pt.value(),
            self.line_pt.value(),
            bool(self.colours.currentData()),
            self.dpi.value(),
            self.title.text().strip(),
            self.caption.isChecked(),
        )

    def _put(self, sheet: Sheet) -> None:
        self.width_mm.setValue(sheet.width)
        self.height_mm.setValue(sheet.height)
        self.font_pt.setValue(sheet.font)
        self.line_pt.setValue(sheet.line)
        self.colours.setCurrentIndex(self.colours.findData(sheet.light))
        self.dpi.setValue(sheet.dpi)
        self.title.setText(sheet.title)
        self.caption.setChecked(sheet.caption)
        self._name_size()

    def _on_preset(self) -> None:
        size = self.preset.currentData()
        if size is not None:
            with QSignalBlocker(self.preset):
                self.width_mm.setValue(size[0])
                self.height_mm.setValue(size[1])
            self._name_size()

    def _name_size(self) -> None:
        """Show which of the known sizes the two fields hold."""
        sizes = [(width, height) for _, width, height in PRESETS]
        present = (self.width_mm.value(), self.height_mm.value())
        self.preset.setCurrentIndex(sizes.index(present) if present in sizes else len(sizes))

    def _show_preview(self) -> None:
        sheet = self.sheet()
        drawing, fitted = self._draw()
        self.preview.show_drawing(drawing)
        pixels = " × ".join(
            f"{mm * sheet.dpi / MM_PER_INCH:,.0f}" for mm in (sheet.width, sheet.height)
        )
        words = f"A PNG has {pixels} pixels."
        if fitted.font < sheet.font:
            words += f" Text is set in {fitted.font:g} pt, the largest that fits this size."
        tell(self.words, words)

    def _draw(self) -> tuple[Drawing, Sheet]:
        fitted = printing.fitting(self._view, self.sheet())
        return printing.draw(self._view, fitted), fitted

    # ------------------------------------------------------------- verbs

    def _on_save(self) -> None:
        name = f"{self._view.title.lower()}.pdf"
        path = prompts.ask_save_path(self, "Save the picture", name, _FILTERS)
        if not path:
            return
        drawing, sheet = self._draw()
        try:
            printing.write_figure(drawing, Path(path), sheet)
        except InputError as error:
            tell(self.words, str(error), "error")
            return
        self._remember()
        self._session.told.emit(f"Saved {path}")
        self.accept()

    def _on_copy(self) -> None:
        drawing, sheet = self._draw()
        printing.copy_to_clipboard(drawing, sheet.dpi)
        self._remember()
        tell(self.words, "Copied as image and as SVG.")

    def _remember(self) -> None:
        printing.remember_sheet(self.sheet())


class _Preview(QWidget):
    """Shows a drawing as large as there is room, on the grey of a desk."""

    def __init__(self) -> None:
        super().__init__()
        self._drawing: Drawing | None = None
        self.setMinimumSize(_PREVIEW)

    def show_drawing(self, drawing: Drawing) -> None:
        """Show another drawing."""
        self._drawing = drawing
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._drawing is None:
            return
        size = self._drawing.size.scaled(self.size().toSizeF(), Qt.AspectRatioMode.KeepAspectRatio)
        sheet = QRectF(0, 0, size.width() - 2, size.height() - 2)
        sheet.moveCenter(QRectF(self.rect()).center())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._drawing.paint(painter, sheet)
        painter.setPen(self.palette().mid().color())
        painter.drawRect(sheet)
        painter.end()


def _length(
    name: str, words: str, least: float, most: float, step: float, unit: str
) -> QDoubleSpinBox:
    decimals = 2 if step < 0.5 else 1
    box = number_box(name, words, least, most, step=step, decimals=decimals, unit=unit)
    plain_tooltip(box, f"{words}, {least:g} … {most:g}{unit}")
    return box
