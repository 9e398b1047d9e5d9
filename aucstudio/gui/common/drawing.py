"""Vector marks of a picture in millimetres, written as SVG, PNG or PDF.

Plots draw lines whose width does not scale, and so does the SVG of Qt. On paper a line has a width
in points. The marks are therefore transformed into one coordinate system, in which widths, dashes
and colours can be changed and everything can be drawn at any size.
"""

from __future__ import annotations

import base64
import copy
import dataclasses
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping

import numpy as np
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QPageSize, QPainter, QPdfWriter, QTransform
from PySide6.QtSvg import QSvgRenderer

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
        whole = _view_box(self.root)
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
    transform = QTransform(*_affine(_numbers(written)))
    for mark in group:
        kind = mark.tag.rpartition("}")[2]
        if mark.get("vector-effect") == "non-scaling-stroke" and kind in _MAPPED:
            _MAPPED[kind](mark, transform)
        elif not transform.isIdentity():
            mark.set("transform", written)


def _affine(numbers: list[float]) -> tuple[float, ...]:
    a, b, c, d, x, y = numbers
    return a, b, 0.0, c, d, 0.0, x, y, 1.0


def _numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", text)]


def _map_points(text: str, transform: QTransform) -> str:
    """Transform the points of a list or of a path with absolute coordinates."""

    def mapped(found: re.Match[str]) -> str:
        point = transform.map(QPointF(float(found[1]), float(found[2])))
        return f"{point.x():.6g},{point.y():.6g}"

    return re.sub(r"(-?[\d.]+(?:e[-+]?\d+)?),(-?[\d.]+(?:e[-+]?\d+)?)", mapped, text)


def _map_path(mark: ET.Element, transform: QTransform) -> None:
    mark.set("d", _map_points(mark.attrib["d"], transform))


def _map_poly(mark: ET.Element, transform: QTransform) -> None:
    mark.set("points", _map_points(mark.attrib["points"], transform))


def _map_rect(mark: ET.Element, transform: QTransform) -> None:
    x, y, w, h = (float(mark.attrib.pop(key)) for key in ("x", "y", "width", "height"))
    corners = f"{x},{y} {x + w},{y} {x + w},{y + h} {x},{y + h}"
    mark.tag = f"{{{_SVG}}}polygon"
    mark.set("points", _map_points(corners, transform))


_MAPPED = {"path": _map_path, "polyline": _map_poly, "polygon": _map_poly, "rect": _map_rect}


def _drop_empty(root: ET.Element) -> None:
    """Remove groups without marks and empty paths."""
    for parent in list(root.iter(f"{{{_SVG}}}g")):
        for child in list(parent):
            if child.get("d") == "":
                parent.remove(child)
    for parent in reversed(list(root.iter(f"{{{_SVG}}}g"))):
        for child in list(parent):
            if child.tag == f"{{{_SVG}}}g" and not len(child):
                parent.remove(child)


def _scale_lines(group: ET.Element, factor: float) -> None:
    for key in ("stroke-width", "stroke-dasharray", "stroke-dashoffset"):
        written = group.get(key)
        if written and written != "none":
            group.set(key, ",".join(f"{number * factor:.4g}" for number in _numbers(written)))


# ----------------------------------------------------------------- painting


def _view_box(root: ET.Element) -> QRectF:
    return QRectF(*_numbers(root.attrib["viewBox"]))


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
    for old, new in colours.items():
        near = np.abs(pixels[..., :3].astype(int) - _channels(old)).max(axis=-1) <= _SAME_COLOUR
        made[near, :3] = _channels(new)
    done = QImage(made.data, image.width(), image.height(), QImage.Format.Format_RGBA8888)
    return f"{head},{base64.b64encode(png_bytes(done)).decode()}"


def _channels(colour: str) -> tuple[int, int, int]:
    known = QColor(colour)
    return known.red(), known.green(), known.blue()
