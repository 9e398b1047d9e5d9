"""The widgets of a layout are found without items that outlive them."""

from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget, QWidgetItem
from shiboken6 import Shiboken

from aucstudio.gui.common.controls import WrappingRow
from aucstudio.gui.common.focus import order_tabs
from aucstudio.gui.common.layouts import across, down, empty, grid, members


def items_known_to_python():
    """Count the layout items that PySide keeps; one of a deleted widget hides a later object."""
    return sum(isinstance(one, QWidgetItem) for one in Shiboken.getAllValidWrappers())


def test_members_are_in_the_order_of_the_layout(qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    first, last, inner = QLabel("first"), QLabel("last"), across(QPushButton("inner"))
    page.setLayout(down(first, 8, inner, None, last))
    QLabel("elsewhere", page)
    assert members(page.layout()) == [first, inner, last]


def test_members_of_a_grid_are_in_reading_order(qtbot):
    page, made = QWidget(), grid(gaps=(0, 0), wide=0)
    qtbot.addWidget(page)
    last, first, second = QLabel("last"), QLabel("first"), QLabel("second")
    for widget, place in ((last, (1, 0)), (second, (0, 1)), (first, (0, 0))):
        made.addWidget(widget, *place)
    page.setLayout(made)
    assert members(page.layout()) == [first, second, last]


def test_ordering_wrapping_and_emptying_keep_no_items(qtbot):
    page, row = QWidget(), WrappingRow()
    qtbot.addWidget(page)
    for word in ("one", "two", "three"):
        row.addWidget(QPushButton(word))
    page.setLayout(down(row, QPushButton("below")))
    before = items_known_to_python()
    order_tabs(page.layout())
    page.resize(90, 200)
    page.show()
    qtbot.waitExposed(page)
    empty(row)
    QApplication.processEvents()
    assert row.count() == 0
    assert items_known_to_python() == before
