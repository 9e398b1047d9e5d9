"""Colours made of others."""

from __future__ import annotations

from PySide6.QtGui import QColor


def mixed(a: QColor | str, b: QColor | str, share: float) -> QColor:
    """Make the colour that is ``share`` of the way from one to another."""
    one, other = QColor(a), QColor(b)

    def part(p: int, q: int) -> int:
        return round((1 - share) * p + share * q)

    return QColor(
        part(one.red(), other.red()),
        part(one.green(), other.green()),
        part(one.blue(), other.blue()),
    )
