"""Behaviour shared by all pages: empty states, failed runs, themes, names for automation."""

import dataclasses
import importlib

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QToolButton,
    QWidget,
)

from aucstudio.gui.common.theme import DARK, LIGHT
from aucstudio.gui.desk.actions import VIEWS
from tests.gui.conftest import make_record, put, refresh_and_wait, shown

CONTROLS = QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit


@pytest.fixture(params=[view for view in VIEWS if view.name != "best_view"], ids=lambda v: v.name)
def page(request, table_session, open_view):
    module = importlib.import_module(f"aucstudio.gui.pages.{request.param.module}")
    return open_view(getattr(module, request.param.kind), table_session)


def words_of(page, qtbot):
    return shown(page, qtbot) + page.figure().accessibleDescription()


def test_empty_page_shows_the_next_step(page, table_session, qtbot):
    if page.objectName() != "data_view":
        words = words_of(page, qtbot)
        assert any(next_step in words for next_step in ("No run yet", "No search yet"))
    table_session.study.table = None
    table_session.notify({"table"})
    assert "Open a table" in words_of(page, qtbot)


def test_page_shows_the_error_of_a_failed_run(page, table_session, qtbot):
    if page.objectName() in ("roc_view", "compare_view", "data_view"):
        pytest.skip("shows the checked runs or the table")
    failed = dataclasses.replace(
        make_record(table_session.table), splits=(), status="failed", error="out of memory"
    )
    put(table_session, failed, "Mine")
    words = words_of(page, qtbot)
    assert "Mine" in words
    assert "ut of memory." in words


def test_changing_the_theme_keeps_the_content(page, table_session, qtbot, apply_style):
    put(table_session, make_record(table_session.table))
    before, numbers = words_of(page, qtbot), page.figure_data()
    apply_style("dark")
    page.restyle()
    refresh_and_wait(qtbot, page)
    assert words_of(page, qtbot) == before
    np.testing.assert_equal(page.figure_data(), numbers)
    for plot in page.plots():
        assert plot.backgroundBrush().color().name() == DARK.card != LIGHT.card


def is_reached(widget):
    return widget is not None and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


def test_controls_and_plots_have_names_and_tab_follows_the_reading_order(
    page, table_session, qtbot
):
    put(table_session, make_record(table_session.table))
    shown(page, qtbot)
    assert page.accessibleName() == page.title
    for control in page.findChildren(QWidget):
        if isinstance(control, CONTROLS) and control.isVisibleTo(page):
            assert control.objectName(), control
            label = getattr(control, "text", str)()
            assert control.accessibleName() or label, control.objectName()
    assert all(plot.objectName() for plot in page.plots())
    order, widget = [], page
    while (widget := widget.nextInFocusChain()) is not page:
        order.append(widget)
    export = page.findChild(QToolButton, f"{page.objectName()}_export_button")
    plot, more = page.figure(), page.sentence.more_button
    assert order.index(export) < order.index(plot) < order.index(more)
    controls = page.controls
    first = [controls.itemAt(k).widget() for k in range(controls.count())]
    assert all(order.index(one) < order.index(export) for one in first if is_reached(one))
