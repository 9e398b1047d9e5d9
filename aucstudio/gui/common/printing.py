"""Pictures for print: laid out in millimetres, with type and lines in points."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QByteArray, QMimeData, QPoint, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import QApplication

from aucstudio.gui.common.drawing import MM_PER_INCH, Drawing, Recorder
from aucstudio.gui.common.plots.paper import at_sizes
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plotting import SWATCH, paint_sample
from aucstudio.gui.common.theme import DARK, LIGHT, Theme, current_theme
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import bold
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.preferences import FigureRules
from aucstudio.project.errors import InputError
from aucstudio.project.store.files import write_atomically

POINTS_PER_INCH = 72.0
PRESETS: tuple[tuple[str, float, float], ...] = (
    ("One column", 85.0, 68.0),
    ("One and a half columns", 120.0, 90.0),
    ("Two columns", 170.0, 110.0),
    ("Slide", 254.0, 143.0),
)
SCREEN_DPI = 96.0
# Width of a run's line in the window in pixels; other widths are in proportion.
_RUN_LINE = 2.0
_MARGIN = 8.0  # pixels around title and caption
_EDGE = 4.0  # pixels around the picture

LegendEntry = tuple[str, RunLook | QPen]


class Sheet(FigureRules, frozen=True):
    """Size, style and title of a picture on paper; the title is not stored."""

    title: str = ""


def draw(view: PageView, sheet: Sheet) -> Drawing:
    """Draw the picture of a view on a sheet; the window does not change.

    Markers and margins scale with the text; lines have their own width.
    """
    font = QFontInfo(QApplication.font())
    width = sheet.line / (sheet.font / font.pixelSize())
    recorder = Recorder(
        _pixels(sheet),
        view.logicalDpiX(),
        width / (_RUN_LINE * view.devicePixelRatioF()),
        font.family(),
        _exchange(current_theme(), LIGHT) if sheet.light else {},
    )
    painter = QPainter(recorder)
    _paint(painter, view, sheet.title, view.sentence.text() if sheet.caption else "")
    painter.end()
    title = sheet.title or view.title
    size = QSizeF(sheet.width, sheet.height)
    return Drawing(recorder.marks, recorder.size(), size, title, view.sentence.text())


def fitting(view: PageView, sheet: Sheet) -> Sheet:
    """Return the sheet with a text size at which nothing of the picture is cut off."""
    room = QRectF(QPoint(), _pixels(sheet)).adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE)
    with _laid_out(view, room) as places:
        # A layout with too little room becomes larger than its plot.
        cramped = max(
            max(p.frame.width() / place.width(), p.frame.height() / place.height())
            for p, place in places
        )
    font = sheet.font if cramped < 1.01 else math.floor(10 * sheet.font / cramped) / 10
    return msgspec.structs.replace(sheet, font=font)


def _pixels(sheet: Sheet) -> QSize:
    """Return the size in pixels at which text of the window has the text size of the sheet."""
    pixel = sheet.font / QFontInfo(QApplication.font()).pixelSize()
    to_pixels = POINTS_PER_INCH / MM_PER_INCH / pixel
    return QSize(round(sheet.width * to_pixels), round(sheet.height * to_pixels))


def on_screen(view: PageView) -> Drawing:
    """Draw a view's picture as in the window."""
    area = _area(_plots(view), view)
    point = POINTS_PER_INCH / SCREEN_DPI
    to_mm = MM_PER_INCH / SCREEN_DPI
    sheet = Sheet(
        area.width() * to_mm,
        area.height() * to_mm,
        QFontInfo(QApplication.font()).pixelSize() * point,
        _RUN_LINE * point,
        light=False,
    )
    return draw(view, sheet)


def write_figure(drawing: Drawing, path: Path, sheet: Sheet) -> None:
    """Write a drawing in the format of the file's ending.

    Raises
    ------
    InputError
        If the ending is none of .png, .svg and .pdf, or the file cannot be written.
    """
    writers: dict[str, Callable[[], bytes]] = {
        ".png": lambda: drawing.png(sheet.dpi),
        ".svg": drawing.svg,
        ".pdf": lambda: drawing.pdf(sheet.title),
    }
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise InputError(
            f"a figure is saved as .png, .svg or .pdf; {path.name} has another ending",
            file=str(path),
        )
    write_atomically(path, writer())


def copy_to_clipboard(drawing: Drawing, dpi: float) -> None:
    """Copy a drawing: as an image, and as SVG for programs that know it."""
    data = QMimeData()
    data.setImageData(drawing.image(dpi))
    data.setData("image/svg+xml", QByteArray(drawing.svg()))
    QGuiApplication.clipboard().setMimeData(data)
    _clear_clipboard_at_exit()


@functools.cache
def _clear_clipboard_at_exit() -> None:
    """Clear the clipboard before Python ends, as Qt would crash later."""
    atexit.register(QGuiApplication.clipboard().clear)


# ----------------------------------------------------------------- drawing


def _paint(painter: QPainter, view: PageView, title: str, caption: str) -> None:
    """Paint title, picture and caption on a sheet."""
    size = QSize(painter.device().width(), painter.device().height())
    theme = current_theme()
    painter.fillRect(QRect(QPoint(), size), QColor(theme.card))
    painter.setPen(QColor(theme.text))
    room = QRectF(QPoint(), size)
    above = _write(painter, bold(QApplication.font()), title, room, Qt.AlignmentFlag.AlignTop)
    # The footnote explains marks of the picture.
    words = "\n".join(part for part in (view.footnote(), caption) if part)
    below = _write(painter, QApplication.font(), words, room, Qt.AlignmentFlag.AlignBottom)
    room.adjust(_EDGE, above or _EDGE, -_EDGE, -(below or _EDGE))
    with _laid_out(view, room) as places:
        hidden = [entry for plot, _ in places for entry in plot.hidden_legend]
    room.adjust(0, 0, 0, -_write_legend(painter, hidden, room))
    with _laid_out(view, room) as places:
        for plot, place in places:
            plot.render(painter, place, plot.viewport().rect())


def _write(
    painter: QPainter, font: QFont, text: str, room: QRectF, side: Qt.AlignmentFlag
) -> float:
    """Write a text at the top or the bottom; return its height."""
    if not text:
        return 0.0
    flags = int((side | Qt.AlignmentFlag.AlignLeft).value) | int(Qt.TextFlag.TextWordWrap.value)
    inner = room.adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
    painter.setFont(font)
    painter.drawText(inner, flags, text)
    needed = QFontMetricsF(font, painter.device()).boundingRect(inner, flags, text)
    return needed.height() + 1.5 * _MARGIN


def _write_legend(painter: QPainter, entries: Sequence[LegendEntry], room: QRectF) -> float:
    """Write a legend that has no room in the picture at the bottom; return its height."""
    painter.setFont(QApplication.font())
    metrics = QFontMetricsF(QApplication.font(), painter.device())
    line, sample = 1.25 * metrics.height(), float(SWATCH.width())
    inner = room.adjusted(_MARGIN, 0, -_MARGIN, 0)
    places, left, row = [], 0.0, 0
    for words, _drawn in entries:
        wide = sample + _MARGIN / 2 + metrics.horizontalAdvance(words)
        if left and left + wide > inner.width():
            left, row = 0.0, row + 1
        places.append((left, row))
        left += wide + 2 * _MARGIN
    height = (row + 1) * line + _MARGIN / 2 if entries else 0.0
    for (words, drawn), (left, row) in zip(entries, places, strict=True):
        x, y = inner.left() + left, room.bottom() - height + _MARGIN / 2 + row * line
        area = QRectF(x, y, sample, line)
        if isinstance(drawn, QPen):
            painter.setPen(drawn)
            middle = area.center().y()
            painter.drawLine(QPointF(area.left(), middle), QPointF(area.right(), middle))
        else:
            paint_sample(painter, area, drawn)
        painter.setPen(QColor(current_theme().text))
        text = area.adjusted(sample + _MARGIN / 2, 0, inner.width(), 0)
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, words)
    return height


def _plots(view: PageView) -> list[Plot]:
    return [plot for plot in view.plots() if plot.isVisibleTo(view)] or [view.figure()]


def _area(plots: list[Plot], view: PageView) -> QRect:
    """Return the rectangle around plots, in the view."""
    area = QRect()
    for plot in plots:
        area = area.united(QRect(plot.mapTo(view, QPoint()), plot.size()))
    return area


@contextlib.contextmanager
def _laid_out(view: PageView, room: QRectF) -> Iterator[list[tuple[Plot, QRectF]]]:
    """Resize the plots of a view to a rectangle for a while, without repainting the window."""
    plots = _plots(view)
    whole = _area(plots, view)
    sx, sy = room.width() / whole.width(), room.height() / whole.height()
    places = []
    for plot in plots:
        at = plot.mapTo(view, QPoint()) - whole.topLeft()
        place = QRectF(at.x() * sx, at.y() * sy, plot.width() * sx, plot.height() * sy)
        places.append((plot, place.translated(room.topLeft())))
    view.setUpdatesEnabled(False)
    try:
        with at_sizes([(plot, place.size().toSize()) for plot, place in places]):
            yield places
    finally:
        view.setUpdatesEnabled(True)


def _exchange(old: Theme, new: Theme) -> dict[str, str]:
    """Map the colours of one appearance to those of another."""
    assert {old, new} <= {LIGHT, DARK}
    if old is new:
        return {}
    roles = [field.name for field in dataclasses.fields(Theme)]
    pairs = {
        getattr(old, role): getattr(new, role) for role in roles if role not in ("name", "runs")
    }
    return dict(zip(old.runs, new.runs, strict=True)) | pairs
