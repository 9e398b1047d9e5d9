"""Menus, axes and rows follow a change of the text size in the running window."""

import pytest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QMenu,
    QPushButton,
    QRadioButton,
    QStyle,
    QStyleOptionButton,
    QTableView,
)

from aucstudio.gui.app import make_application
from aucstudio.gui.state.preferences import preferences


def seen(window):
    """Return the visible menus, the font sizes of the axis titles and the height of a row."""
    bar = window.menuBar()
    bar.adjustSize()
    places = {action.text(): bar.actionGeometry(action) for action in bar.actions()}
    fonts = {
        axis: window.deck.view("roc_view").figure().getAxis(axis).label.font().pointSizeF()
        for axis in ("left", "bottom")
    }
    table = window.deck.view("calibration_view")
    rows = table.findChild(QTableView, "calibration_table").verticalHeader().defaultSectionSize()
    return [text for text, place in places.items() if not place.isEmpty()], fonts, rows


def signs(window):
    """Return the sizes of a check box and of an icon, and the width of the longest menu."""
    box, button = window.findChild(QCheckBox), window.findChild(QPushButton, "strip_run")
    indicator = box.style().pixelMetric(QStyle.PixelMetric.PM_IndicatorWidth, None, box)
    (views,) = [menu for menu in window.findChildren(QMenu) if menu.title() == "&View"]
    return indicator, button.iconSize().width(), views.sizeHint().width()


@pytest.mark.parametrize("percent", [100, 130, 145, 200])
def test_a_radio_button_is_round(qtbot, percent, apply_style):
    make_application("light")
    apply_style(percent=percent)
    button = QRadioButton()
    qtbot.addWidget(button)
    button.resize(60, 60)
    for checked in (False, True):
        button.setChecked(checked)
        picture = button.grab().toImage()
        option = QStyleOptionButton()
        button.initStyleOption(option)
        sign = button.style().subElementRect(
            QStyle.SubElement.SE_RadioButtonIndicator, option, button
        )
        ratio = picture.devicePixelRatio()
        corner, edge = (
            picture.pixelColor(round(ratio * x), round(ratio * sign.top()))
            for x in (sign.left(), sign.center().x())
        )
        assert corner != edge


def test_window_follows_the_text_size(window, table_file, qtbot):
    window.resize(1440, 900)
    window.show()
    window.open_now(table_file)
    menus, fonts, rows = seen(window)
    indicator, icon, width = signs(window)
    preferences().put(text_size=200)
    qtbot.waitUntil(lambda: seen(window)[1]["left"] == 2 * fonts["left"])
    larger_menus, larger_fonts, larger_rows = seen(window)
    assert larger_menus == menus
    assert larger_fonts == {axis: 2 * size for axis, size in fonts.items()}
    assert larger_rows == pytest.approx(2 * rows, abs=rows * 0.3)
    larger_indicator, larger_icon, larger_width = signs(window)
    assert min(larger_indicator / indicator, larger_icon / icon) > 1.7
    assert larger_width < 2.2 * width  # one column, scrolled if the screen is too low
    preferences().put(text_size=100)
    qtbot.waitUntil(lambda: seen(window) == (menus, fonts, rows))
    assert QApplication.font().pointSizeF() == fonts["left"]
