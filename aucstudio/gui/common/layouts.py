"""Horizontal and vertical layouts in one call."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QScrollArea, QVBoxLayout, QWidget

from aucstudio.gui.common.widgets import named

Around = int | tuple[int, int, int, int]
Item = QWidget | QLayout
Part = Item | int | tuple[Item, int | Qt.AlignmentFlag] | None
Box = TypeVar("Box", bound=QBoxLayout)

STRETCH = None  # takes the remaining room
TOP, LEFT = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignLeft


def across(*parts: Part, gap: int = 8, around: Around = 0) -> QHBoxLayout:
    """Return a layout of parts side by side.

    Parameters
    ----------
    parts : QWidget, QLayout, int, tuple or None
        A number is a space in pixels; None takes the remaining room. A tuple is a part with its
        stretch or its alignment.
    gap : int
        Pixels between the parts.
    around : int or tuple of int
        Pixels around them: left, top, right, bottom.
    """
    return _filled(QHBoxLayout(), parts, gap, around)


def down(*parts: Part, gap: int = 8, around: Around = 0) -> QVBoxLayout:
    """Return a layout of parts below each other; see :func:`across`."""
    return _filled(QVBoxLayout(), parts, gap, around)


def scrolled(inner: QWidget | QLayout, name: str = "", accessible: str = "") -> QScrollArea:
    """Return an area that scrolls a widget or a layout vertically."""
    made = named(QScrollArea(), name, accessible)
    made.setWidget(inner if isinstance(inner, QWidget) else holding(inner))
    made.setWidgetResizable(True)
    made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return made


def holding(layout: QLayout) -> QWidget:
    """Make a widget that holds a layout."""
    made = QWidget()
    made.setLayout(layout)
    return made


def _filled(box: Box, parts: tuple[Part, ...], gap: int, around: Around) -> Box:
    box.setSpacing(gap)
    edges = (around,) * 4 if isinstance(around, int) else around
    box.setContentsMargins(*edges)
    for part in parts:
        if part is None:
            box.addStretch(1)
        elif isinstance(part, int):
            box.addSpacing(part)
        elif isinstance(part, tuple):
            _add(box, *part)
        else:
            _add(box, part, 0)
    return box


def _add(box: QBoxLayout, item: Item, how: int | Qt.AlignmentFlag) -> None:
    is_side = isinstance(how, Qt.AlignmentFlag)  # also a number
    if isinstance(item, QLayout):
        box.addLayout(item, 0 if is_side else how)
    else:
        box.addWidget(item, 0 if is_side else how)
    if is_side:
        box.setAlignment(item, Qt.AlignmentFlag(how))
