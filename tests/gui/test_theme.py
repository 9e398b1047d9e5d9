import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QToolButton,
    QWidget,
)

from aucstudio.gui.common.theme import DARK, DASHES, LIGHT, apply_theme, run_colour, run_dash

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def luminance(colour):
    def linear(channel):
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(c) for c in QColor(colour).getRgbF()[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@THEMES
def test_run_looks_are_distinct(theme):
    count = len(theme.runs) * len(DASHES)
    looks = {(run_colour(theme, k).name(), run_dash(k)) for k in range(count)}
    assert len(looks) == count


def test_fields_have_the_same_height(qapp, qtbot):
    apply_theme(qapp, "light")
    fields = [kind() for kind in (QComboBox, QLineEdit, QSpinBox, QDoubleSpinBox)]
    for field in fields:
        qtbot.addWidget(field)
    assert len({field.sizeHint().height() for field in fields}) == 1


@THEMES
def test_text_has_enough_contrast(theme):
    for text, ground in itertools.product((theme.text, theme.muted), (theme.window, theme.card)):
        assert contrast(text, ground) >= 4.5
    assert contrast(theme.on_accent, theme.accent) >= 4.5
    assert contrast(theme.danger, theme.card) >= 4.5


@THEMES
def test_lines_have_enough_contrast(theme):
    for colour in (*theme.runs, theme.positive, theme.negative, theme.wrong):
        assert contrast(colour, theme.card) >= 3.0, colour


def test_changing_the_theme_does_not_set_the_style_again(session, monkeypatch):
    application = QApplication.instance()
    styles = []
    monkeypatch.setattr(type(application), "setStyle", lambda _self, name: styles.append(name))
    for choice in ("dark", "light", "dark", "light"):
        apply_theme(application, choice)
    assert styles == []
    assert application.style().metaObject().className() == "QStyleSheetStyle"


@pytest.mark.parametrize("segment", [False, True])
def test_focused_control_looks_different(qapp, qtbot, segment):
    apply_theme(qapp, "light")
    window = QWidget()
    button = QPushButton("one", window) if segment else QToolButton(window)
    button.setCheckable(segment)
    button.setChecked(segment)
    button.setProperty("segment", segment)
    other = QPushButton(window)
    other.move(80, 0)
    qtbot.addWidget(window)
    window.show()
    other.setFocus()
    before = button.grab().toImage()
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(button.hasFocus)
    assert button.grab().toImage() != before
