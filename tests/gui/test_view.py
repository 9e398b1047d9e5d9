"""Shared by all pages: wrapping controls, elided combo boxes and sentences."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common.controls import WrappingRow
from aucstudio.gui.common.layouts import scrolled
from aucstudio.gui.common.sentence import Sentence, Statement
from aucstudio.gui.common.widgets import ElidedCombo
from tests.gui.conftest import expose

WORDS = "The first run leads the second by 0.030 in the range: not significant. "
CLAUSE = "the first run leads the second by 0.030 in the range of interest " * 6


def make_controls(texts):
    row, parts = WrappingRow(), []
    row.setSpacing(8)
    for text in texts:
        combo = QComboBox()
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        combo.addItems([text, "something far longer than what is chosen"])
        label = QLabel(f"&{text}")
        label.setBuddy(combo)
        parts += [label, combo]
    parts.append(QPushButton("Zoom"))
    for part in parts:
        row.addWidget(part)
    row.insertStretch(len(parts) - 1, 1)
    return row, parts


@pytest.fixture
def page(qtbot):
    holder = QWidget()
    row, parts = make_controls(["One", "Two", "Three"])
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.addLayout(row)
    column.addStretch(1)
    expose(qtbot, holder)
    return holder, row, parts


def place(page, width):
    page[0].resize(width, 400)
    page[0].layout().activate()
    return [part.geometry() for part in page[2]]


def test_wide_row_is_one_line_with_a_stretch(page):
    places = place(page, 1600)
    assert len({spot.center().y() for spot in places}) == 1
    assert places[-1].right() == 1599
    assert page[1].heightForWidth(1600) == max(part.sizeHint().height() for part in page[2])


def test_combo_boxes_shrink_before_the_row_wraps(page):
    hints = sum(part.sizeHint().width() for part in page[2]) + 8 * 6
    places = place(page, hints - 60)
    assert len({spot.center().y() for spot in places}) == 1
    for part, spot in zip(page[2], places, strict=True):
        if isinstance(part, QComboBox):
            assert spot.width() < part.sizeHint().width()
            assert spot.width() > part.fontMetrics().horizontalAdvance(part.currentText())


def test_labels_are_hidden_before_the_row_wraps(page):
    line = max(part.sizeHint().height() for part in page[2])
    narrow = next(w for w in range(200, 1600, 5) if page[1].heightForWidth(w) == line)
    places = place(page, narrow)
    assert [spot.isEmpty() for spot in places] == [True, False] * 3 + [False]
    assert len({spot.center().y() for spot in places if not spot.isEmpty()}) == 1
    assert not any(spot.isEmpty() for spot in place(page, 1600))


@pytest.mark.parametrize("width", [250, 200, 150])
def test_narrow_row_wraps_without_cutting_controls(page, width):
    places = place(page, width)
    shown = [spot for spot in places if not spot.isEmpty()]
    assert len({spot.center().y() for spot in shown}) > 1
    assert page[0].width() == width
    whole = QRect(0, 0, width, page[1].heightForWidth(width))
    for k, spot in enumerate(shown):
        assert whole.contains(spot)
        assert not any(spot.intersects(other) for other in shown[:k])
    for label, combo in zip(places[:6:2], places[1:6:2], strict=True):
        # A label stays beside its combo box, or all labels are hidden.
        assert label.isEmpty() or label.center().y() == combo.center().y()


def test_hidden_controls_take_no_space(page):
    before = page[1].heightForWidth(240)
    for part in page[2][2:]:
        part.hide()
    assert page[1].heightForWidth(240) < before


@pytest.mark.parametrize("mode", [Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideMiddle])
def test_narrow_combo_box_elides_its_text(qtbot, mode):
    long, cut = ElidedCombo(), ElidedCombo()
    text = "a name of a class that nobody would want to read · 192 · 8 %"
    long.elided = mode
    long.addItem(text)
    metrics = long.fontMetrics()
    shorter = {metrics.elidedText(text, mode, room) for room in range(40, 160)}
    pictures = []
    for combo in (long, cut):
        qtbot.addWidget(combo)
        combo.resize(160, 28)
    for words in shorter:
        cut.clear()
        cut.addItem(words)
        pictures.append(cut.grab().toImage())
    assert long.grab().toImage() in pictures
    assert long.currentText() == text


@pytest.fixture
def sentence(qtbot):
    holder = QWidget()
    made = Sentence("some_sentence")
    column = QVBoxLayout(holder)
    column.addStretch(1)
    column.addWidget(made)
    qtbot.addWidget(holder)
    holder.setStyleSheet("QLabel { padding: 4px; }")  # the theme's
    holder.resize(400, 800)
    with qtbot.waitExposed(holder):
        holder.show()
    return holder, made


def test_sentence_has_a_constant_height(qtbot, sentence):
    holder, made = sentence
    made.setText("Short.")
    holder.layout().activate()
    before = made.height()
    assert before <= 3 * made.fontMetrics().lineSpacing() + 20
    for words in (Statement(WORDS, WORDS * 8), Statement(), Statement("Short.", "More.")):
        made.setText(words)
        assert made.text() == words.text
        assert made.minimumSizeHint().height() == made.sizeHint().height()
        holder.layout().activate()
        assert made.height() == before
        assert made.headline.height() >= made.headline.sizeHint().height()


def test_elided_headline_is_in_its_tooltip_and_in_more(qtbot, sentence):
    holder, made = sentence
    made.setText(CLAUSE)
    assert made.headline.text().count("\n") == 3
    assert made.headline.text().endswith("…")
    assert made.headline.toolTip() == made.text() == CLAUSE
    qtbot.mouseClick(made.more_button, Qt.MouseButton.LeftButton)
    assert made.rest.text().replace("\u00a0", " ").split() == made.text().split()
    holder.resize(8000, 800)
    qtbot.waitUntil(lambda: made.headline.toolTip() == "")
    assert made.headline.text() == CLAUSE


def test_headline_ends_with_a_whole_clause(sentence):
    holder, made = sentence
    made.setText("A is 0.1 higher than B (95 % −0.031 to 0.142); the rest of it is not certain.")
    seen = set()
    for width in range(150, 500, 10):
        holder.resize(width, 240)
        holder.layout().activate()
        seen.add(made.headline.text().replace("\n", " ").replace("\u00a0", " "))
    assert {one for one in seen if "−0.031" in one} == {one for one in seen if "0.142)" in one}
    assert all(one.endswith((".", "…")) for one in seen)


@pytest.mark.parametrize(("kind", "stops"), [(QPushButton, False), (QLabel, True)])
def test_tab_stops_at_a_scrolled_text_but_not_around_controls(qtbot, kind, stops):
    area = scrolled(kind("words"))
    expose(qtbot, area, 200, 100)
    assert (area.focusPolicy() != Qt.FocusPolicy.NoFocus) is stops


def test_opened_rest_is_scrolled_into_view(qtbot):
    made, column, area = Sentence("low_sentence"), QVBoxLayout(), QScrollArea()
    holder = QWidget()
    column.setContentsMargins(0, 0, 0, 0)
    column.addSpacing(600)
    column.addWidget(made)
    holder.setLayout(column)
    area.setWidget(holder)
    area.setWidgetResizable(True)
    expose(qtbot, area, 400, 300)
    made.setText(Statement("Short.", WORDS * 8))
    bar = area.verticalScrollBar()
    made.more_button.click()
    qtbot.waitUntil(lambda: 0 < bar.value() == bar.maximum())


def test_headline_has_more_lines_on_a_tall_page(sentence):
    holder, made = sentence
    made.setText(CLAUSE)
    for width, height, lines in ((300, 800, 4), (290, 240, 2), (400, 800, 4)):
        holder.resize(width, height)
        holder.layout().activate()
        assert made.headline.text().count("\n") == lines - 1


@pytest.mark.parametrize("height", [800, 160])
def test_more_button_shows_the_rest_over_the_picture(qtbot, sentence, height):
    holder, made = sentence
    holder.resize(700, height)
    made.setText("It is so.")
    assert not made.more_button.isVisible()
    made.setText(Statement("It is so.", "And so."))
    holder.layout().activate()
    folded = made.geometry()
    made.more_button.setFocus()
    qtbot.keyClick(made.more_button, Qt.Key.Key_Space)
    for more in ("And so.", WORDS * 12, "Less."):
        made.setText(Statement("It is so.", more))
        holder.layout().activate()
        assert made.rest.isVisible()
        assert made.rest.text().replace("\u00a0", " ").split() == more.split()
        assert made.geometry() == folded  # the picture keeps its size
        assert made.sheet.geometry().bottom() < folded.top()
        assert made.sheet.y() >= 0
    shown = made.rest.visibleRegion().boundingRect().height()
    assert shown >= made.rest.heightForWidth(made.rest.width())
    made.setText(Statement("It is so.", ""))
    assert not made.sheet.isVisible()
    assert made.more_button.isVisible()  # it can be folded again
    made.setText(Statement("It is so.", "And so."))
    assert made.sheet.isVisible()
    qtbot.keyClick(made.more_button, Qt.Key.Key_Escape)
    assert not made.sheet.isVisible()


def test_first_sentence_is_the_headline():
    said = Statement.of("", "One.", "", "Two.").then("", "Three.")
    assert said == Statement("One.", "Two. Three.")
    assert said.text == "One. Two. Three."
    assert Statement().then("", "Only.") == Statement("Only.")
