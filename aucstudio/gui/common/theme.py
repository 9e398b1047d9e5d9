"""Colours, dashes, markers, icons and the style sheet, in light and dark.

The window has one accent colour, for what can be pressed or is selected. Only data has saturated
colours; a run keeps its colour, dash and marker in every view. Run colours suit people with colour
blindness (after Okabe and Ito) and are lighter on dark backgrounds; dash and marker alone
distinguish runs too.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from string import Template

from PySide6.QtCore import QByteArray, QObject, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAction,
    QColor,
    QFont,
    QFontInfo,
    QIcon,
    QPainter,
    QPainterPath,
    QPalette,
    QPixmap,
    QPolygonF,
    QTransform,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from aucstudio.project.resources import resource_path


def _polygon(corners: Iterable[tuple[float, float]]) -> QPainterPath:
    made = QPainterPath()
    made.addPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
    made.closeSubpath()
    return made


def _circle(radius: float) -> QPainterPath:
    made = QPainterPath()
    made.addEllipse(QPointF(), radius, radius)
    return made


def _square(half: float) -> QPainterPath:
    return _polygon([(-half, -half), (half, -half), (half, half), (-half, half)])


def _plus(length: float, half: float) -> QPainterPath:
    """Return a plus with arms of a length and half a width."""
    arm = [(-half, -half), (-half, -length), (half, -length)]
    turned = [arm]
    for _ in range(3):
        turned.append([(-y, x) for x, y in turned[-1]])
    return _polygon(corner for each in turned for corner in each)


def _star(outer: float, inner: float) -> QPainterPath:
    turns = [(radius, math.pi * k / 5) for k, radius in enumerate([outer, inner] * 5)]
    # The box is centred, the points are not.
    low = (outer - outer * math.cos(math.pi / 5)) / 2
    return _polygon((r * math.sin(turn), low - r * math.cos(turn)) for r, turn in turns)


_UP = _polygon([(-0.5, 0.42), (0.0, -0.5), (0.5, 0.42)])
_HOURGLASS = _polygon(
    [(-0.46, -0.5), (0.46, -0.5), (0.12, 0.0), (0.46, 0.5), (-0.46, 0.5), (-0.12, 0.0)]
)

# Markers of about equal weight within a square of side 1, with arms wide enough for an outline. No
# run has a diamond, which marks a best value or a mean.
SYMBOLS: tuple[QPainterPath, ...] = (
    _circle(0.46),
    _square(0.45),
    _UP,
    _plus(0.5, 0.18),
    QTransform().scale(1.0, -1.0).map(_UP),
    QTransform().rotate(45.0).map(_plus(0.54, 0.16)),
    _star(0.525, 0.26),
    _HOURGLASS,
)


@dataclasses.dataclass(frozen=True, eq=False)
class Theme:
    """The colour roles of one appearance.

    Attributes
    ----------
    window, card, field, line, text, muted, accent, on_accent, selection, danger, warning : str
        Chrome.
    grid, band, neutral, positive, negative, wrong : str
        Pictures: grid lines, FPR band, items of no run, the two classes, misranked pairs.
    runs : tuple of str
        Run colours in the order of their use.
    """

    name: str
    window: str
    card: str
    field: str
    line: str
    text: str
    muted: str
    accent: str
    on_accent: str
    selection: str
    danger: str
    warning: str
    grid: str
    band: str
    neutral: str
    positive: str
    negative: str
    wrong: str
    runs: tuple[str, ...]


_COLOURS = tomllib.loads(resource_path("themes", "colours.toml").read_text(encoding="utf-8"))
_PALETTE: dict[str, str] = _COLOURS.pop("palette")
LIGHT, DARK = (
    Theme(name=name, **(colours | {"runs": tuple(colours["runs"])}))
    for name, colours in _COLOURS.items()
)

DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (8.0, 4.0),
    (2.0, 3.0),
    (10.0, 4.0, 2.0, 4.0),
    (14.0, 4.0),
    (5.0, 2.0, 1.5, 2.0, 1.5, 2.0),
    (4.0, 6.0),
    (1.0, 1.5),
)


_STYLED = "aucstudio_styled"
_DESKTOP_FONT, _TEXT_SIZE = "aucstudio_desktop_font", "aucstudio_text_size"
_FIXED_WIDTH = "aucstudio_fixed_width"

# Text sizes as shares of the desktop's.
_TYPE = {"plain": 1.0, "small": 0.9, "tiny": 0.8, "title": 1.2, "figure": 1.6}
_LENGTHS = (5, 8, 10, 12, 14, 16)  # pixels, of signs in the style sheet that grow with the text
_DRAWN_AT = 10.0  # points; text size for which lengths in pixels are given


_GREYS = (0.45, 0.0, 0.3, 0.15)  # shares of the background


def run_colour(theme: Theme, index: int) -> QColor:
    """Colour of the index-th run; of negative indices greys, for lines that are no runs."""
    if index < 0:
        return mixed(theme.text, theme.card, _GREYS[-index % len(_GREYS)])
    return QColor(theme.runs[index % len(theme.runs)])


def run_dash(index: int) -> tuple[float, ...]:
    """Dash of the index-th run, as lengths in line widths; empty for a solid line."""
    # After the last colour the first one follows with another dash.
    return DASHES[(index + index // len(DASHES)) % len(DASHES)]


def run_symbol(index: int) -> QPainterPath:
    """Marker of the index-th run, within a square of side 1 around the origin."""
    # The marker shifts by two and the dash by one in each round: no two of 64 runs share both.
    return SYMBOLS[(index + 2 * (index // len(SYMBOLS))) % len(SYMBOLS)]


def current_theme() -> Theme:
    """Return the present theme."""
    application = QApplication.instance()
    chosen = application.property("aucstudio_theme") if application is not None else None
    return DARK if chosen == "dark" else LIGHT


@contextlib.contextmanager
def waiting_cursor() -> Iterator[None]:
    """Show the pointer of a busy program."""
    QApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
    try:
        yield
    finally:
        QApplication.restoreOverrideCursor()


def apply_theme(application: QApplication, choice: str = "system") -> bool:
    """Apply a theme and the text size to the application; return whether anything changes.

    Parameters
    ----------
    application : QApplication
    choice : str
        "system", "light" or "dark".
    """
    if choice == "system":
        dark = application.styleHints().colorScheme() == Qt.ColorScheme.Dark
    else:
        dark = choice == "dark"
    theme = DARK if dark else LIGHT
    application.setProperty("aucstudio_theme", theme.name)
    # Under a style sheet the name of the style is unknown, and setting it takes half a second.
    if not application.property(_STYLED):
        application.setStyle("Fusion")
        application.setProperty(_STYLED, True)
    sheet = Template(resource_path("themes", "style.qss").read_text(encoding="utf-8"))
    icons = resource_path("icons").as_posix()
    points = QApplication.font().pointSizeF()
    sizes = {name: f"{share * points:.2f}" for name, share in _TYPE.items()}
    sizes |= {f"px{pixels}": f"{scaled(pixels)}px" for pixels in _LENGTHS}
    # Qt draws a corner whose radius is more than half of the sign, border included, as a square.
    sizes["radio"] = f"{2 * scaled(8) - 2}px"
    sizes["radio_dot"] = f"{2 * (scaled(8) - scaled(5))}px"
    colours = dataclasses.asdict(theme)
    style = sheet.substitute(colours | sizes | {"icons": icons, "theme": theme.name})
    changes = style != application.styleSheet()
    if changes:
        # To replace a sheet takes five times as long as to remove it and to set another.
        application.setStyleSheet("")
    application.setPalette(_palette(theme))
    if changes:
        application.setStyleSheet(style)
    return changes


def set_text_size(application: QApplication, percent: int) -> None:
    """Set the text size in percent of the desktop's; :func:`apply_theme` then applies it."""
    desktop = application.property(_DESKTOP_FONT)
    if desktop is None:
        desktop = QFont(application.font())
        desktop.setPointSizeF(QFontInfo(desktop).pointSizeF())  # it may be given in pixels
        application.setProperty(_DESKTOP_FONT, desktop)
    if application.property(_TEXT_SIZE) != percent:
        application.setProperty(_TEXT_SIZE, percent)
        font = QFont(desktop)
        font.setPointSizeF(desktop.pointSizeF() * percent / 100)
        application.setFont(font)
        for widget in application.allWidgets():
            if (width := widget.property(_FIXED_WIDTH)) is not None:
                fix_width(widget, width)


def fix_width(widget: QWidget, pixels: int) -> None:
    """Fix a width in pixels for ordinary text; it follows the text size."""
    widget.setProperty(_FIXED_WIDTH, pixels)
    widget.setFixedWidth(scaled(pixels))


def scaled(pixels: int) -> int:
    """Return a length in pixels for the present text size, given that for ordinary text."""
    return round(pixels * max(1.0, QApplication.font().pointSizeF() / _DRAWN_AT))


def _palette(theme: Theme) -> QPalette:
    palette, disabled = QPalette(), QPalette.ColorGroup.Disabled
    for role, colour in _PALETTE.items():
        palette.setColor(QPalette.ColorRole[role], QColor(getattr(theme, colour)))
    for role in ("Text", "ButtonText", "WindowText"):
        palette.setColor(disabled, QPalette.ColorRole[role], QColor(theme.neutral))
    return palette


def mixed(a: QColor | str, b: QColor | str, share: float) -> QColor:
    """Return a colour between two; ``share`` is that of the second."""
    pairs = zip(QColor(a).getRgb()[:3], QColor(b).getRgb()[:3], strict=True)  # type: ignore[index]
    return QColor(*(round((1 - share) * p + share * q) for p, q in pairs))


# The theme's colour for an icon, by its background.
ON_CARD, ON_ACCENT = "text", "on_accent"

# Side in pixels: 16 at 100, 150 and 200 %, and 24 at those.
_SIDES = (16, 24, 32, 36, 48)
_PROPERTY = "aucstudio_icon"


def icon(name: str, role: str = ON_CARD) -> QIcon:
    """Return the icon of a name in ``resources/icons``, in the present theme's colour."""
    theme = current_theme()
    return _drawn(name, getattr(theme, role), theme.neutral)


@cache
def _drawn(name: str, normal: str, disabled: str) -> QIcon:
    made = QIcon()
    for mode, colour in ((QIcon.Mode.Normal, normal), (QIcon.Mode.Disabled, disabled)):
        renderer = QSvgRenderer(QByteArray(coloured(name, colour)))
        for side in _SIDES:
            made.addPixmap(_pixmap(renderer, side), mode)
    return made


def set_icon(holder: QAction | QAbstractButton, name: str, role: str = ON_CARD) -> None:
    """Set the icon of an action or a button in the colour of the theme."""
    holder.setProperty(_PROPERTY, [name, role])
    holder.setIcon(icon(name, role))


def refresh_icons(root: QObject) -> None:
    """Draw the icons of all actions and buttons of an object in the colours of the theme."""
    holders: list[QAction | QAbstractButton] = [*root.findChildren(QAction)]
    for holder in [*holders, *root.findChildren(QAbstractButton)]:
        name_and_role = holder.property(_PROPERTY)
        if name_and_role:
            holder.setIcon(icon(*name_and_role))


def coloured(name: str, colour: str) -> bytes:
    """Return an icon's SVG with its one colour put in."""
    drawn = resource_path("icons", f"{name}.svg").read_text(encoding="utf-8")
    return drawn.replace("currentColor", colour).encode()


def _pixmap(renderer: QSvgRenderer, side: int) -> QPixmap:
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    renderer.render(painter, QRectF(0, 0, side, side))
    painter.end()
    return picture
