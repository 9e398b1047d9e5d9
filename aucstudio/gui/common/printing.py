"""Pictures for print: laid out in millimetres, with type and lines in points."""

from __future__ import annotations

import atexit
import base64
import contextlib
import copy
import dataclasses
import functools
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QIODevice,
    QMarginsF,
    QMimeData,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    QSizeF,
    Qt,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QFontMetricsF,
    QGuiApplication,
    QImage,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPen,
    QTransform,
)
from PySide6.QtSvg import QSvgGenerator, QSvgRenderer
from PySide6.QtWidgets import QApplication

from aucstudio.gui.common.plots.paper import at_sizes
from aucstudio.gui.common.plotting import SWATCH, paint_sample
from aucstudio.gui.common.theme import DARK, LIGHT, Theme, current_theme
from aucstudio.gui.common.view import PageView
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.preferences import FigureRules
from aucstudio.project.errors import InputError
from aucstudio.project.store.files import write_atomically

MM_PER_INCH = 25.4
_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_PDF_DPI = 1200
_SAME_COLOUR = 6  # largest difference of a channel between equal colours

ET.register_namespace("", _SVG)
ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")


@dataclasses.dataclass(frozen=True, eq=False)
class Drawing:
    """Vector marks on a sheet of a physical size.

    Attributes
    ----------
    root : Element
        An SVG document whose marks lie in one coordinate system, from 0, 0.
    size : QSizeF
        Width and height, in mm.
    """

    root: ET.Element
    size: QSizeF

    def svg(self) -> bytes:
        """Write as SVG, sized in mm; text stays text."""
        root = copy.deepcopy(self.root)
        for mark in root.iter():
            if "font-family" in mark.attrib:
                mark.set("font-family", f"{mark.attrib['font-family']}, sans-serif")
        body: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
        return body

    def image(self, dpi: float) -> QImage:
        """Paint into an image, ``dpi`` pixels an inch."""
        wide = round(self.size.width() * dpi / MM_PER_INCH)
        high = round(self.size.height() * dpi / MM_PER_INCH)
        image = QImage(wide, high, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.white)
        image.setDotsPerMeterX(round(dpi / MM_PER_INCH * 1000))
        image.setDotsPerMeterY(round(dpi / MM_PER_INCH * 1000))
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint(painter, QRectF(0, 0, wide, high))
        painter.end()
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
        painter = QPainter(writer)
        self.paint(painter, QRectF(0, 0, writer.width(), writer.height()))
        painter.end()
        return bytes(buffer.data().data())

    def paint(self, painter: QPainter, target: QRectF) -> None:
        """Paint the marks into a rectangle of a painter."""
        # QSvgRenderer does not support clipping, so marks are painted clip by clip.
        whole = QRectF(*_numbers(self.root.attrib["viewBox"]))
        to_target = QTransform.fromTranslate(target.x(), target.y())
        to_target.scale(target.width() / whole.width(), target.height() / whole.height())
        clips = _clips(self.root)
        for clip, part in _parts(self.root):
            painter.save()
            if clip in clips:
                painter.setClipRect(to_target.mapRect(clips[clip]))
            QSvgRenderer(QByteArray(ET.tostring(part))).render(painter, target)
            painter.restore()


def png_bytes(image: QImage) -> bytes:
    """Write an image as PNG."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def read_drawing(
    svg: bytes, size: QSizeF, line_scale: float, family: str, colours: Mapping[str, str]
) -> Drawing:
    """Read the output of QSvgGenerator.

    Parameters
    ----------
    svg : bytes
    size : QSizeF
        Of the sheet, in mm.
    line_scale : float
        Factor on the width of every line.
    family : str
        Font family that replaces the desktop's alias.
    colours : mapping of str to str
        Colours to replace, as ``#rrggbb``.
    """
    root = ET.fromstring(svg)
    root.set("width", f"{size.width():g}mm")
    root.set("height", f"{size.height():g}mm")
    _mend_clips(root)
    for group in root.iter(f"{{{_SVG}}}g"):
        _flatten(group)
        _scale_lines(group, line_scale)
    _drop_empty(root)
    for mark in root.iter():
        mark.attrib.pop("vector-effect", None)
        if "font-family" in mark.attrib:
            mark.set("font-family", family)
        for paint in ("fill", "stroke", "stop-color"):
            if mark.get(paint) in colours:
                mark.set(paint, colours[mark.attrib[paint]])
        if colours and _HREF in mark.attrib:
            mark.set(_HREF, _recoloured(mark.attrib[_HREF], colours))
    return Drawing(root, size)


# ----------------------------------------------------------------- geometry


def _mend_clips(root: ET.Element) -> None:
    """Assign the right clip to every mark.

    When a painter restores an outer clip, QSvgGenerator leaves the following marks under the inner
    one. It writes one group without a clip when it releases the old one, and another for each clip
    that is in force again. These groups are counted here.
    """
    outer = root.find(f"{{{_SVG}}}g")
    assert outer is not None
    held: list[str] = []
    known: set[str] = set()
    free = 0  # groups without a clip in a row
    for group in outer:
        clip = group.get("clip-path")
        if clip is None:
            free += 1
            continue
        held = held[: _depth(free, len(held))]
        free = 0
        if clip not in known:
            known.add(clip)
            held.append(clip)
        if held:
            group.set("clip-path", held[-1])
        else:
            del group.attrib["clip-path"]


def _depth(free: int, depth: int) -> int:
    """Return the number of clips in force after some groups without a clip."""
    if 0 < free <= depth:
        return free - 1
    while free > 0 and depth > 0:  # more than one clip was restored
        depth -= 1
        free -= depth + 1
    return depth


def _flatten(group: ET.Element) -> None:
    """Remove the transform of a group: apply it to the coordinates of lines, keep it on others."""
    written = group.attrib.pop("transform", None)
    if written is None:
        return
    transform = QTransform(*_numbers(written))
    for mark in group:
        kind = mark.tag.rpartition("}")[2]
        if mark.get("vector-effect") == "non-scaling-stroke" and kind in _COORDINATES:
            if kind == "rect":
                x, y, w, h = (float(mark.attrib.pop(key)) for key in ("x", "y", "width", "height"))
                mark.tag = f"{{{_SVG}}}polygon"
                mark.set("points", f"{x},{y} {x + w},{y} {x + w},{y + h} {x},{y + h}")
            key = _COORDINATES[kind]
            mark.set(key, _map_points(mark.attrib[key], transform))
        elif not transform.isIdentity():
            mark.set("transform", written)


_COORDINATES = {"path": "d", "polyline": "points", "polygon": "points", "rect": "points"}


def _numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", text)]


def _map_points(text: str, transform: QTransform) -> str:
    """Transform the points of a list or of a path with absolute coordinates."""

    def mapped(found: re.Match[str]) -> str:
        point = transform.map(QPointF(float(found[1]), float(found[2])))
        return f"{point.x():.6g},{point.y():.6g}"

    return re.sub(r"(-?[\d.]+(?:e[-+]?\d+)?),(-?[\d.]+(?:e[-+]?\d+)?)", mapped, text)


def _drop_empty(root: ET.Element) -> None:
    """Remove empty paths, and groups without marks."""
    group = f"{{{_SVG}}}g"
    for parent in reversed(list(root.iter(group))):
        for child in list(parent):
            if child.get("d") == "" or (child.tag == group and not len(child)):
                parent.remove(child)


def _scale_lines(group: ET.Element, factor: float) -> None:
    for key in ("stroke-width", "stroke-dasharray", "stroke-dashoffset"):
        written = group.get(key)
        if written and written != "none":
            group.set(key, ",".join(f"{number * factor:.4g}" for number in _numbers(written)))


# ----------------------------------------------------------------- painting


def _clips(root: ET.Element) -> dict[str, QRectF]:
    """Return the rectangle of each clip; plots clip only to rectangles."""
    clips = {}
    for clip in root.iter(f"{{{_SVG}}}clipPath"):
        numbers = np.array(_numbers(clip[0].attrib.get("d", ""))).reshape(-1, 2)
        ends = (numbers.min(axis=0), numbers.max(axis=0)) if len(numbers) else ((0, 0), (0, 0))
        clips[f"url(#{clip.attrib['id']})"] = QRectF(*(QPointF(*map(float, end)) for end in ends))
    return clips


def _parts(root: ET.Element) -> Iterator[tuple[str, ET.Element]]:
    """Split a document into documents of successive marks with the same clip."""
    outer = root.find(f"{{{_SVG}}}g")
    assert outer is not None
    clip, made = "", None
    for group in outer:
        if made is None or group.get("clip-path", "") != clip:
            if made is not None:
                yield clip, made
            clip = group.get("clip-path", "")
            made = ET.Element(root.tag, root.attrib)
            inner = ET.SubElement(made, outer.tag, outer.attrib)
        inner.append(group)
    if made is not None:
        yield clip, made


def _recoloured(href: str, colours: Mapping[str, str]) -> str:
    """Replace colours in an embedded picture."""
    head, _, body = href.partition(",")
    image = QImage.fromData(base64.b64decode(body)).convertToFormat(QImage.Format.Format_RGBA8888)
    pixels = np.frombuffer(image.bits(), np.uint8).reshape(image.height(), image.width(), 4)
    made = pixels.copy()
    channels = {one: QColor(one).getRgb()[:3] for pair in colours.items() for one in pair}  # type: ignore[index]
    for old, new in colours.items():
        near = np.abs(pixels[..., :3].astype(int) - channels[old]).max(axis=-1) <= _SAME_COLOUR
        made[near, :3] = channels[new]
    done = QImage(made.data, image.width(), image.height(), QImage.Format.Format_RGBA8888)
    return f"{head},{base64.b64encode(png_bytes(done)).decode()}"


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
    svg = _record(view, _pixels(sheet), sheet.title, view.sentence.text() if sheet.caption else "")
    width = sheet.line / (sheet.font / font.pixelSize())
    colours = _exchange(current_theme(), LIGHT) if sheet.light else {}
    return read_drawing(
        svg,
        QSizeF(sheet.width, sheet.height),
        width / (_RUN_LINE * view.devicePixelRatioF()),
        font.family(),
        colours,
    )


def fitting(view: PageView, sheet: Sheet) -> Sheet:
    """Return the sheet with a text size at which nothing of the picture is cut off."""
    room = QRectF(QPoint(), _pixels(sheet)).adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE)
    with _laid_out(view, room) as places:
        # A layout with too little room becomes larger than its plot.
        cramped = max(
            max(p.plotItem.width() / place.width(), p.plotItem.height() / place.height())
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


def _record(view: PageView, size: QSize, title: str, caption: str) -> bytes:
    """Paint title, picture and caption, ``size`` pixels in all, as Qt's SVG."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(QPoint(), size))
    generator.setResolution(view.logicalDpiX())
    generator.setTitle(title or view.title)
    generator.setDescription(view.sentence.text())
    painter = QPainter(generator)
    theme = current_theme()
    painter.fillRect(QRect(QPoint(), size), QColor(theme.card))
    painter.setPen(QColor(theme.text))
    bold = QFont(QApplication.font())
    bold.setBold(True)
    room = QRectF(QPoint(), size)
    above = _write(painter, bold, title, room, Qt.AlignmentFlag.AlignTop)
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
    painter.end()
    return bytes(buffer.data().data())


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


def _plots(view: PageView) -> list[pg.PlotWidget]:
    return [plot for plot in view.plots() if plot.isVisibleTo(view)] or [view.figure()]


def _area(plots: list[pg.PlotWidget], view: PageView) -> QRect:
    """Return the rectangle around plots, in the view."""
    area = QRect()
    for plot in plots:
        area = area.united(QRect(plot.mapTo(view, QPoint()), plot.size()))
    return area


@contextlib.contextmanager
def _laid_out(view: PageView, room: QRectF) -> Iterator[list[tuple[pg.PlotWidget, QRectF]]]:
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
