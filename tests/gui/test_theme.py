import itertools

import pyqtgraph as pg
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QTabBar,
    QTableWidget,
    QToolButton,
    QTreeWidget,
    QWidget,
)

from aucstudio.gui.common.plots.legend import CornerLegend, Legend
from aucstudio.gui.common.plotting import make_plot, style_plot
from aucstudio.gui.common.theme import (
    DARK,
    DASHES,
    LIGHT,
    apply_theme,
    current_theme,
    run_colour,
    run_dash,
)
from aucstudio.gui.state.plan import RunLook

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


@pytest.mark.parametrize("kind", [Legend, CornerLegend])
def test_words_in_pictures_follow_theme_and_text_size(qapp, qtbot, kind):
    plot = make_plot("plot", "", "")
    qtbot.addWidget(plot)
    plot.resize(600, 400)
    words, legend = pg.TextItem("row 7"), kind(plot)
    plot.addItem(words)
    legend.explain([("one", RunLook("one", 0))])
    apply_theme(qapp, "dark")
    font = QFont(qapp.font())
    font.setPointSizeF(1.5 * font.pointSizeF())
    words.setFont(font)
    legend.fit()  # as when the style of the window changes its layout
    legend.explain([("one", RunLook("one", 0))])
    style_plot(plot)
    (_sample, label), *_ = legend.items
    assert label.colour.name() == current_theme().text
    assert words.textItem.font().pointSizeF() == qapp.font().pointSizeF()
    apply_theme(qapp, "light")


def segment_button():
    button = QPushButton("one")
    button.setCheckable(True)
    button.setChecked(True)
    button.setProperty("segment", True)
    return button


def tab_bar():
    bar = QTabBar()
    bar.addTab("one")
    return bar


@pytest.mark.parametrize(
    "make",
    [
        *(segment_button, tab_bar, QToolButton, QCheckBox, QRadioButton, QListWidget),
        *(lambda: QTableWidget(2, 2), QTreeWidget, QPlainTextEdit),
    ],
)
def test_focused_control_looks_different(qapp, qtbot, make):
    apply_theme(qapp, "light")
    window = QWidget()
    control, other = make(), QPushButton(window)
    control.setParent(window)
    control.resize(80, 40)
    other.move(90, 0)
    qtbot.addWidget(window)
    window.show()
    other.setFocus()
    before = control.grab().toImage()
    control.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(control.hasFocus)
    assert control.grab().toImage() != before
