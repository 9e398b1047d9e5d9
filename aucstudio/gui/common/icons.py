"""Icons in the colour of the theme."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QObject, QRectF, Qt
from PySide6.QtGui import QAction, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton

from aucstudio.gui.common.theme import current_theme
from aucstudio.project.resources import resource_path

# The theme's colour for an icon, by its background.
ON_CARD, ON_ACCENT = "text", "on_accent"

# Side in pixels: 16 at 100, 150 and 200 %, and 24 at those.
_SIDES = (16, 24, 32, 36, 48)
_PROPERTY = "aucstudio_icon"


def icon(name: str, role: str = ON_CARD) -> QIcon:
    """Return the icon of a name in ``resources/icons``, in the present theme's colour."""
    theme = current_theme()
    made = QIcon()
    for mode, colour in (
        (QIcon.Mode.Normal, getattr(theme, role)),
        (QIcon.Mode.Disabled, theme.neutral),
    ):
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
