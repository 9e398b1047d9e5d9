"""The program's icons: one drawing each, in the theme's colour, sharp at every scale."""

import re

import numpy as np
import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QAction, QColor, QIcon
from PySide6.QtWidgets import QPushButton

from aucstudio.gui.common.theme import DARK, LIGHT, ON_ACCENT, coloured, icon
from aucstudio.project.resources import resource_path

NAMES = (
    "run",
    "stop",
    "tune",
    "open",
    "save",
    "export",
    "copy",
    "tear-off",
    "tile",
    "tile-below",
    "single",
    "help",
)


def inks(made, side, mode=QIcon.Mode.Normal, scale=1.0):
    """Return the opaque colours of an icon."""
    picture = made.pixmap(QSize(side, side), scale, mode).toImage()
    assert picture.width() == round(side * scale)
    pixels = [picture.pixelColor(x, y) for x in range(picture.width()) for y in range(side)]
    return [pixel.getRgb()[:3] for pixel in pixels if pixel.alpha() == 255]


def is_of(colour, found):
    """Return whether there are colours and all equal this one, up to rounding."""
    return bool(found) and np.abs(np.subtract(found, QColor(colour).getRgb()[:3])).max() <= 2


@pytest.mark.parametrize("name", NAMES)
def test_icon_has_one_colour_and_thin_lines(name):
    drawn = resource_path("icons", f"{name}.svg").read_text(encoding="utf-8")
    assert set(re.findall(r'(?:stroke|fill)="([^"]*)"', drawn)) <= {"none", "currentColor"}
    assert 'viewBox="0 0 16 16"' in drawn
    assert 'stroke-width="1.5"' in drawn
    assert b"currentColor" not in coloured(name, "#123456")


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_icon_is_drawn_for_each_screen_scale(window, scale):
    sizes = icon("run").availableSizes()
    assert QSize(round(16 * scale), round(16 * scale)) in sizes
    assert is_of(LIGHT.text, inks(icon("run"), 16, scale=scale))


def test_icons_follow_the_theme_and_the_enabled_state(window, table_file):
    window.open_now(table_file)
    run = window.findChild(QAction, "action_run")
    button = window.findChild(QPushButton, "strip_run")
    for theme in (DARK, LIGHT):
        window.set_theme(theme.name)
        assert is_of(theme.text, inks(run.icon(), 16))
        assert is_of(theme.neutral, inks(run.icon(), 16, QIcon.Mode.Disabled))
        assert is_of(theme.on_accent, inks(button.icon(), 16))
    assert is_of(LIGHT.on_accent, inks(icon("stop", ON_ACCENT), 24))
