"""Save a picture: size, type, lines and colours, with a preview."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QDialogButtonBox, QLineEdit, QWidget

from aucstudio.gui.common import printing, prompts
from aucstudio.gui.common.buttons import answers, push_button
from aucstudio.gui.common.drawing import MM_PER_INCH, Drawing
from aucstudio.gui.common.form import Form, choice_box
from aucstudio.gui.common.layouts import STRETCH, down
from aucstudio.gui.common.printing import PRESETS, Sheet
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.theme import set_icon
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import label, named, show_note
from aucstudio.gui.dialogs.preferences import figure_fields
from aucstudio.gui.state.background import delayed
from aucstudio.gui.state.preferences import FigureRules, preferences
from aucstudio.gui.state.session import Session
from aucstudio.project.errors import InputError

_FILTERS = "PDF (*.pdf);;SVG (*.svg);;PNG (*.png)"
_BUTTON = QDialogButtonBox.StandardButton
_PREVIEW = QSize(440, 400)


class ExportFigureDialog(Dialog):
    """Asks for the size and style of a picture, shows it, and saves or copies it."""

    def __init__(self, session: Session, view: PageView, parent: QWidget) -> None:
        super().__init__("export_figure_dialog", f"Save picture: {view.title}", parent)
        self._session, self._view = session, view
        self._soon = delayed(self, 60, self._show_preview)
        self.preview = named(_Preview(), "figure_preview")
        self.words = label("", "muted", wrap=True, name="figure_words")
        form = down(self._make_form(), self.words, STRETCH)
        both = self.beside((self.preview, 1), form, gap=16)
        self.lay_out(both, self._make_buttons())
        rules = preferences().now.figure
        self.fields.write({key: getattr(rules, key) for key in self.fields})
        self._name_size()
        self._show_preview()

    # ------------------------------------------------------------- controls

    def _make_form(self) -> Form:
        sizes: dict[object, str] = {
            (width, height): f"{name}, {width:.0f} × {height:.0f} mm"
            for name, width, height in PRESETS
        }
        self.preset = choice_box("figure_preset", sizes | {None: "Other size"})
        self.title = named(QLineEdit(), "figure_title")
        self.fields = figure_fields()
        self.preset.activated.connect(self._on_preset)
        self.title.textChanged.connect(lambda _text: self._soon.start())
        self.fields.connect(self._on_edited)
        return Form(self.preset, *self.fields.values(), self.title)

    def _on_edited(self, key: str) -> None:
        if key in ("width", "height"):
            self._name_size()
        self._soon.start()

    def _make_buttons(self) -> QDialogButtonBox:
        self.copy = push_button("figure_copy_button", verb=self._on_copy)
        set_icon(self.copy, "copy")
        self.buttons = answers(self, "figure", self._on_save, "&Save…", _BUTTON.Save)
        self.buttons.addButton(self.copy, QDialogButtonBox.ButtonRole.ActionRole)
        return self.buttons

    # ------------------------------------------------------------- state

    def sheet(self) -> Sheet:
        """Return the settings."""
        return Sheet(**self.fields.read(), title=self.title.text().strip())

    def _on_preset(self) -> None:
        size = self.preset.currentData()
        if size is not None:
            self.fields.write(dict(zip(("width", "height"), size, strict=True)))
            self._soon.start()

    def _name_size(self) -> None:
        """Show which of the preset sizes the fields have."""
        sizes = [(width, height) for _, width, height in PRESETS]
        present = (self.fields["width"].value(), self.fields["height"].value())
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
        show_note(self.words, words)

    def _draw(self) -> tuple[Drawing, Sheet]:
        fitted = printing.fitting(self._view, self.sheet())
        return printing.draw(self._view, fitted), fitted

    # ------------------------------------------------------------- actions

    def _on_save(self) -> None:
        name = f"{self._view.title.lower()}.pdf"
        path = prompts.ask_save_path(self, "Save the picture", name, _FILTERS)
        if not path:
            return
        drawing, sheet = self._draw()
        try:
            printing.write_figure(drawing, Path(path), sheet)
        except InputError as error:
            show_note(self.words, str(error), "error")
            return
        self._remember()
        self._session.message.emit(f"Saved {path}")
        self.accept()

    def _on_copy(self) -> None:
        drawing, sheet = self._draw()
        printing.copy_to_clipboard(drawing, sheet.dpi)
        self._remember()
        show_note(self.words, "Copied as image and as SVG.")

    def _remember(self) -> None:
        preferences().put(figure=FigureRules(**self.fields.read()))


class _Preview(QWidget):
    """Shows a drawing as large as possible."""

    def __init__(self) -> None:
        super().__init__()
        self._drawing: Drawing | None = None
        self.setMinimumSize(_PREVIEW / 2)

    def sizeHint(self) -> QSize:
        return _PREVIEW

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
