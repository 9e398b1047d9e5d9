"""Readable numbers and words: ends of axes, labels, plurals, widths."""

import dataclasses

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QScrollArea

from aucstudio.engine import METHODS
from aucstudio.gui.common.plots import rate_axes as axes
from aucstudio.gui.common.plots.axes import BEYOND
from aucstudio.gui.common.table import ColumnSpec, TableModel, TableView
from aucstudio.gui.pages.compare.compare_view import CompareView
from aucstudio.gui.pages.roc.roc_view import RocView
from aucstudio.gui.pages.scores.score_plot import HeightAxis
from aucstudio.gui.pages.scores.worst_rows import band_sentence, number
from aucstudio.gui.panels.data_panel import DataPanel
from aucstudio.gui.panels.param_form import ParamForm
from aucstudio.gui.panels.welcome import WelcomePage
from tests.conftest import write_file
from tests.gui.conftest import choose, make_record, put

# ----------------------------------------------------------------- axes


def test_range_end_is_distinct_on_a_log_axis_of_few_rows():
    log, _ = axes.make_axes("log", 4, 5)
    across, up = axes.make_axes("probit", 4, 5)
    assert axes.place(log, 0.0) < axes.place(log, 0.1) < axes.place(log, 0.2)
    assert axes.ends(across) == axes.ends(up)  # so the chance line goes from corner to corner


def test_axis_end_labels_are_shown_and_titles_centred(table_session, open_view):
    put(table_session, make_record(table_session.table, "auc-rls"), "Run")
    view = open_view(RocView, table_session)
    view.resize(480, 480)
    for face in ("roc", "gain", "cost"):
        choose(view.choices.face_combo, face)
        QApplication.processEvents()
        for side in ("bottom", "left"):
            axis = view.plot.getAxis(side)
            room = axis.mapRectFromParent(axis.geometry())
            lies = side == "bottom"
            middle = axis.mapRectFromItem(axis.label, axis.label.boundingRect()).center()
            off = middle - room.center()
            assert abs(off.x() if lies else off.y()) <= 2, (face, side)
            # A number at the very end is within the area of the axis.
            end = room.right() if lies else room.top()
            beyond = axis.boundingRect()
            assert abs((beyond.right() if lies else beyond.top()) - end) >= BEYOND - 1e-6


def test_count_axis_has_integer_ticks(qapp):
    axis = HeightAxis("left")
    axis.setLogMode(x=False, y=True)
    levels = axis.tickValues(np.log10(0.7), np.log10(240), 500)
    texts = [axis.tickStrings(values, 1.0, spacing) for spacing, values in levels]
    assert texts == [["1", "10", "100"], ["2", "5", "20", "50", "200"]]


# ----------------------------------------------------------------- numbers in words


def test_scores_have_significant_digits_and_ranges_equal_decimals():
    assert [number(x) for x in (-9.67, 0.2, 12.5, 1500.0)] == ["−9.670", "0.2000", "12.50", "1500"]
    sentence = band_sentence((0.1, 0.2), (0.0297345, 0.37163))
    assert sentence == "The FPR range 0.1 … 0.2 lies at scores between 0.0297 and 0.3716."
    assert band_sentence((0.0, 0.1), (-5.4251, np.inf)).endswith("above −5.425.")


def test_long_setting_shows_its_first_digits(qtbot):
    form = ParamForm()
    qtbot.addWidget(form)
    form.set_method(METHODS["svm"])
    form.setValue({"C": 0.05555555555555555})
    assert form.findChild(QLineEdit, "param_C").cursorPosition() == 0


# ----------------------------------------------------------------- the table


def test_data_card_reports_each_fact_once(session, tmp_path, qtbot):
    lines = [f"{k},{'' if k == 3 else k % 7},{'' if k == 5 else 'pn'[k % 2]}" for k in range(40)]
    path = write_file(tmp_path / "few.csv", "\n".join(["a,b,y", *lines]) + "\n")
    panel = DataPanel(session)
    qtbot.addWidget(panel)
    session.files.open_now(path, "table")
    session.set_roles(roles={"a": "ignore"})
    facts = panel.findChild(QLabel, "data_facts")
    missing = "1 missing value in the columns used"
    assert (
        facts.text()
        == f"40 rows, 19 positive · 1 number · 1 ignored · {missing} (numbers: training median)"
    )
    notes = panel.findChild(QLabel, "data_routine_notes").text()
    assert notes.count("no label") == 1
    assert "1 row has no label and is not used in training" in notes
    assert "without" not in notes
    session.put_plan(dataclasses.replace(session.plan, method="gradient-boosting"))
    assert facts.text().endswith(f"{missing} (numbers: left to the method)")


def test_number_headers_are_right_aligned(qtbot):
    specs = (ColumnSpec("Name", str), ColumnSpec("Count", str, is_figure=True))
    model, role = TableModel(specs, None), Qt.ItemDataRole.TextAlignmentRole
    view = TableView("counts", "Counts", model, 24)
    qtbot.addWidget(view)
    model.show_items([7])
    for place, side in enumerate((Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)):
        assert model.headerData(place, Qt.Orientation.Horizontal, role) & side
        assert model.index(0, place).data(role) & side


def test_start_page_has_no_scroll_bar_if_it_fits(qtbot):
    page = WelcomePage()
    qtbot.addWidget(page)
    area = page.findChild(QScrollArea)
    page.resize(680, 900)
    with qtbot.waitExposed(page):
        page.show()
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0)


def test_empty_comparison_keeps_its_controls_and_shows_a_hint(table_session, open_view):
    view = open_view(CompareView, table_session)
    view.resize(700, 560)
    QApplication.processEvents()
    assert view.hint.isVisible()
    assert not view.pages.isVisible()
    assert view.show_switch.geometry().top() < 40
    assert view.sentence.geometry().bottom() > 500
    assert view.sentence.text().endswith("press Run to see how runs compare.")


def test_data_card_explains_missing_categories(session, tmp_path, qtbot):
    lines = [f"{k % 7},{'' if k == 3 else 'uv'[k % 2]},{'pn'[k % 2]}" for k in range(40)]
    path = write_file(tmp_path / "few.csv", "\n".join(["b,c,y", *lines]) + "\n")
    panel = DataPanel(session)
    qtbot.addWidget(panel)
    session.files.open_now(path, "table")
    facts = panel.findChild(QLabel, "data_facts").text()
    assert facts.endswith("1 missing value in the columns used (categories: a level of their own)")
