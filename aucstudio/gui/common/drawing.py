"""Vector drawings: what a painter draws, recorded, and written as SVG, PNG or PDF.

Qt's SVG of a scene has lines in pixels of the screen and, after a clip within a clip, marks under
the wrong one; its SVG renderer knows no clips. Recorded marks are painted clip by clip instead.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QImage,
    QPageSize,
    QPaintDevice,
    QPaintEngine,
    QPaintEngineState,
    QPainter,
    QPainterPath,
    QPdfWriter,
    QPen,
    QPolygonF,
    QTextItem,
    QTransform,
)
from PySide6.QtSvg import QSvgGenerator

MM_PER_INCH = 25.4
_POINTS_PER_INCH = 72.0
_PDF_DPI = 1200
_SAME_COLOUR = 6  # largest difference of a channel between equal colours
_EMPTY_GROUP = re.compile(rb"<g [^>]*>\s*</g>\s*")


@dataclasses.dataclass(frozen=True, eq=False)
class Mark:
    """One shape, text or picture on a sheet.

    Attributes
    ----------
    clip : QRectF or None
        The visible part of the sheet.
    place : QTransform
        From the coordinates of the mark to those of the sheet.
    pen, brush, opacity
        How it is painted.
    shape : QPainterPath, (QPointF, str, QFont, float) or (QRectF, QImage)
        Of a text: place, words, font, and its size in the pixels of the sheet.
    """

    clip: QRectF | None
    place: QTransform
    pen: QPen
    brush: QBrush
    opacity: float
    shape: QPainterPath | tuple[QPointF, str, QFont, float] | tuple[QRectF, QImage]

    def paint(self, painter: QPainter, sheet: QTransform) -> None:
        """Paint the mark; ``sheet`` is the transform from the sheet to the device."""
        painter.setTransform(self.place * sheet)
        painter.setPen(self.pen)
        painter.setBrush(self.brush)
        painter.setOpacity(self.opacity)
        if isinstance(self.shape, QPainterPath):
            painter.drawPath(self.shape)
        elif len(self.shape) == 2:
            painter.drawImage(*self.shape)
        else:
            at, words, font, pixels = self.shape
            sized = QFont(font)
            sized.setPointSizeF(pixels * _POINTS_PER_INCH / painter.device().logicalDpiY())
            painter.setFont(sized)
            painter.drawText(at, words)


@dataclasses.dataclass(frozen=True, eq=False)
class Drawing:
    """Vector marks on a sheet of a physical size.

    Attributes
    ----------
    marks : sequence of Mark
    pixels : QSize
        The sheet in the coordinates of the marks, from 0, 0.
    size : QSizeF
        Width and height, in mm.
    title, description : str
    """

    marks: Sequence[Mark]
    pixels: QSize
    size: QSizeF
    title: str = ""
    description: str = ""

    def svg(self) -> bytes:
        """Write as SVG, sized in mm; text stays text."""
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
        generator.setOutputDevice(buffer)
        generator.setSize(self.pixels)
        generator.setViewBox(QRect(0, 0, self.pixels.width(), self.pixels.height()))
        generator.setTitle(self.title)
        generator.setDescription(self.description)
        self._paint_on(generator, QRectF(generator.viewBoxF()))
        written = bytes(buffer.data().data())
        width, height = self.size.width(), self.size.height()
        size = f'width="{width:g}mm" height="{height:g}mm"'.encode()
        written = re.sub(rb'width="[^"]*" height="[^"]*"', size, written, count=1)
        written = re.sub(rb'font-family="([^"]*)"', rb'font-family="\1, sans-serif"', written)
        # Groups of states in which nothing is painted, and groups that held only such.
        return _EMPTY_GROUP.sub(b"", _EMPTY_GROUP.sub(b"", written))

    def image(self, dpi: float) -> QImage:
        """Paint into an image, ``dpi`` pixels an inch."""
        wide = round(self.size.width() * dpi / MM_PER_INCH)
        high = round(self.size.height() * dpi / MM_PER_INCH)
        image = QImage(wide, high, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.white)
        image.setDotsPerMeterX(round(dpi / MM_PER_INCH * 1000))
        image.setDotsPerMeterY(round(dpi / MM_PER_INCH * 1000))
        self._paint_on(image, QRectF(0, 0, wide, high))
        return image

    def png(self, dpi: float) -> bytes:
        """Write as PNG that knows its resolution."""
        return png_bytes(self.image(dpi))

    def pdf(self, title: str = "") -> bytes:
        """Write as one page of PDF with its fonts inside."""
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        writer = QPdfWriter(buffer)
        writer.setResolution(_PDF_DPI)
        writer.setTitle(title)
        writer.setCreator("AUC Studio")
        writer.setPageSize(QPageSize(self.size, QPageSize.Unit.Millimeter))
        writer.setPageMargins(QMarginsF(0, 0, 0, 0))
        self._paint_on(writer, QRectF(0, 0, writer.width(), writer.height()))
        return bytes(buffer.data().data())

    def _paint_on(self, device: QPaintDevice, target: QRectF) -> None:
        painter = QPainter(device)
        self.paint(painter, target)
        painter.end()

    def paint(self, painter: QPainter, target: QRectF) -> None:
        """Paint the marks into a rectangle of a painter."""
        sheet = QTransform.fromScale(
            target.width() / self.pixels.width(), target.height() / self.pixels.height()
        )
        sheet *= QTransform.fromTranslate(target.x(), target.y()) * painter.transform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for clip, marks in itertools.groupby(self.marks, key=lambda mark: mark.clip):
            painter.save()
            if clip is not None:
                painter.setTransform(sheet)
                painter.setClipRect(clip)
            for mark in marks:
                mark.paint(painter, sheet)
            painter.restore()


def png_bytes(image: QImage) -> bytes:
    """Write an image as PNG."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


class Recorder(QImage):
    """A sheet that records what is painted on it, with lines, fonts and colours as on paper.

    Parameters
    ----------
    pixels : QSize
    dpi : int
        Dots per inch for which the painted fonts are meant.
    line_scale : float
        Factor on the width of every line.
    family : str
        Font family that replaces the desktop's alias.
    colours : mapping of str to str
        Colours to replace, as ``#rrggbb``.

    Attributes
    ----------
    marks : list of Mark
    """

    def __init__(
        self, pixels: QSize, dpi: int, line_scale: float, family: str, colours: Mapping[str, str]
    ) -> None:
        super().__init__(pixels, QImage.Format.Format_RGB32)
        self.setDotsPerMeterX(round(dpi / MM_PER_INCH * 1000))
        self.setDotsPerMeterY(round(dpi / MM_PER_INCH * 1000))
        self.marks: list[Mark] = []
        self._engine = _Engine(self.marks, dpi, line_scale, family, colours)

    def paintEngine(self) -> QPaintEngine:
        return self._engine


class _Engine(QPaintEngine):
    """Adds marks; the base class makes paths and polygons of all other shapes."""

    def __init__(
        self,
        marks: list[Mark],
        dpi: int,
        line_scale: float,
        family: str,
        colours: Mapping[str, str],
    ) -> None:
        super().__init__(QPaintEngine.PaintEngineFeature.AllFeatures)
        self._marks, self._dpi, self._line_scale = marks, dpi, line_scale
        self._family, self._colours = family, colours

    def begin(self, _device: QPaintDevice) -> bool:
        return True

    def end(self) -> bool:
        return True

    def type(self) -> QPaintEngine.Type:
        return QPaintEngine.Type.User

    def updateState(self, _state: QPaintEngineState) -> None:
        """Do nothing: the state is read when something is drawn."""

    def drawPath(self, path: QPainterPath) -> None:
        self._add_path(path, self.painter().brush())

    def drawPolygon(self, points: Any, mode: QPaintEngine.PolygonDrawMode) -> None:
        path, modes = QPainterPath(), QPaintEngine.PolygonDrawMode
        path.addPolygon(QPolygonF([QPointF(point) for point in points]))
        if mode == modes.PolylineMode:
            self._add_path(path, QBrush())
            return
        if mode == modes.WindingMode:
            path.setFillRule(Qt.FillRule.WindingFill)
        path.closeSubpath()
        self._add_path(path, self.painter().brush())

    def drawTextItem(self, at: Any, item: QTextItem) -> None:
        font = QFont(item.font())
        font.setFamily(self._family)
        pixels = float(font.pixelSize())
        if pixels < 0:
            pixels = font.pointSizeF() * self._dpi / _POINTS_PER_INCH
        self._add((at, item.text(), font, pixels), self.painter().combinedTransform())

    def drawPixmap(self, place: Any, picture: Any, part: Any) -> None:
        image = _recoloured(picture.toImage().copy(part.toRect()), self._colours)
        self._add((place, image), self.painter().combinedTransform())

    def _add_path(self, path: QPainterPath, brush: QBrush) -> None:
        place, pen = self.painter().combinedTransform(), QPen(self.painter().pen())
        if not pen.isCosmetic():
            pen.setWidthF(pen.widthF() * abs(place.determinant()) ** 0.5)
        pen.setCosmetic(False)
        pen.setWidthF((pen.widthF() or 1.0) * self._line_scale)
        # The shape is moved instead of the painter, which would distort its line.
        self._add(place.map(path), QTransform(), pen, brush)

    def _add(
        self, shape: Any, place: QTransform, pen: QPen | None = None, brush: QBrush | None = None
    ) -> None:
        painter, clip = self.painter(), None
        if painter.hasClipping():
            clip = painter.combinedTransform().mapRect(painter.clipBoundingRect())
        pen, brush = QPen(pen or painter.pen()), QBrush(brush or Qt.BrushStyle.NoBrush)
        for tool in (pen, brush):
            tool.setColor(self._replaced(tool.color()))
        self._marks.append(Mark(clip, place, pen, brush, painter.opacity(), shape))

    def _replaced(self, colour: QColor) -> QColor:
        """Return a colour or the one in its place, with the same opacity."""
        made = QColor(self._colours.get(colour.name(), colour.name()))
        made.setAlpha(colour.alpha())
        return made


def _recoloured(picture: QImage, colours: Mapping[str, str]) -> QImage:
    """Replace colours in a picture."""
    if not colours:
        return picture
    image = picture.convertToFormat(QImage.Format.Format_RGBA8888)
    pixels = np.frombuffer(image.bits(), np.uint8).reshape(image.height(), image.width(), 4)
    before = pixels[..., :3].astype(int)
    channels = {one: QColor(one).getRgb()[:3] for pair in colours.items() for one in pair}  # type: ignore[index]
    for old, new in colours.items():
        near = np.abs(before - channels[old]).max(axis=-1) <= _SAME_COLOUR
        pixels[near, :3] = channels[new]
    return image
