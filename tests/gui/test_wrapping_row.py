"""A row of controls that wraps to further lines."""

from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from aucstudio.gui.app import make_application
from aucstudio.gui.common.controls import WrappingRow


def resize(widget, width, height=200):
    widget.resize(width, height)
    QApplication.processEvents()


def test_minimum_height_includes_all_wrapped_lines(qtbot):
    make_application("light")
    page = QWidget()
    qtbot.addWidget(page)
    row = WrappingRow(page)
    row.setContentsMargins(0, 0, 0, 0)
    for name in ("one button", "another button", "a third button"):
        row.addWidget(QPushButton(name))
    with qtbot.waitExposed(page):
        page.show()
    resize(page, row.sizeHint().width() + 20)
    line = row.minimumSize().height()
    resize(page, row.sizeHint().width() - 20)
    assert row.minimumSize().height() == 2 * line + row.spacing()
    resize(page, row.sizeHint().width() + 20)
    assert row.minimumSize().height() == line


def test_grouped_controls_wrap_together(qtbot):
    make_application("light")
    page = QWidget()
    qtbot.addWidget(page)
    row = WrappingRow(page)
    row.setContentsMargins(0, 0, 0, 0)
    first, low, high = (QPushButton(name) for name in ("first button", "low", "high"))
    for button in (first, low, high):
        row.addWidget(button)
    row.keep_together(low)
    with qtbot.waitExposed(page):
        page.show()
    resize(page, row.sizeHint().width() - 20)
    assert first.y() < low.y() == high.y()
