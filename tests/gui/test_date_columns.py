"""Dates in the window: shown and filtered as dates, and split into parts."""

import datetime
import itertools

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from aucstudio.gui.common.column_controls import DatePartsButton
from aucstudio.gui.common.plots.axes import date_ticks
from aucstudio.gui.common.rows_model import GAP
from aucstudio.gui.dialogs.importing import ImportPreview
from aucstudio.gui.pages.data.column_list import Overview
from aucstudio.gui.pages.data.data_view import DataView
from aucstudio.gui.state.preferences import preferences
from aucstudio.project.data.table import read_table
from aucstudio.project.survey.conditions import like_cell, read_conditions
from aucstudio.project.survey.rows import tab_separated
from tests.gui.conftest import shown

# The offscreen platform cannot raise a popup.
pytestmark = pytest.mark.qt_log_ignore("does not support", extend=True)

FIRST = datetime.datetime(2019, 12, 30, 6, 30, tzinfo=datetime.UTC)


@pytest.fixture
def file(tmp_path):
    """Days, clock times and months of 80 rows; the first day is missing."""
    path = tmp_path / "visits.csv"
    lines = ["came,at,since,x,y"]
    for k in range(80):
        day = FIRST + datetime.timedelta(hours=31 * k)
        came = day.strftime("%d.%m.%Y %H:%M") if k else ""
        lines.append(f"{came},{day:%H:%M},{day:%b %Y},{k % 7}.5,{k % 3 == 0:d}")
    path.write_text("\n".join(lines) + "\n")
    return path


def tick(button, part):
    """Open the list, tick a part, and close it, as a user does."""
    button.list.popup(button.mapToGlobal(button.rect().bottomLeft()))
    action = button.findChild(type(button.list.actions()[0]), f"{button.objectName()}_{part}")
    place = button.list.actionGeometry(action).center()
    QTest.mouseClick(button.list, Qt.MouseButton.LeftButton, pos=place)
    assert button.list.isVisible()  # the list stays open after one tick
    QTest.keyClick(button.list, Qt.Key.Key_Escape)


@pytest.fixture
def dialog(session, qtbot, file):
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(1240, 840)
    made = ImportPreview(session, file, None, parent)
    with qtbot.waitExposed(made):
        made.open()
    qtbot.waitUntil(lambda: not made.busy)
    yield made
    made.reject()


def test_preview_shows_dates_and_offers_their_parts(dialog, qtbot, file):
    model = dialog.sheet.model()
    assert [model.index(1, k).data() for k in range(3)] == ["2019-12-31 13:30", "13:30", "2019-12"]
    assert model.index(0, 0).data() == GAP
    dialog.resize(1600, 900)  # columns out of view have no button
    heads = dialog.sheet.cards.heads
    qtbot.waitUntil(lambda: {0, 1, 2} <= heads.keys())
    assert [k for k in sorted(heads) if not heads[k].parts.isHidden()] == [0, 1, 2]
    at = [a.objectName() for a in heads[1].parts.list.actions()]
    assert at == [
        f"import_parts_1_{p}" for p in ("number", "hour", "hour-circle", "minute", "daytime")
    ]
    tick(heads[0].parts, "weekday")
    qtbot.waitUntil(lambda: not dialog.busy)
    assert dialog.choices.parts == {"came": ("number", "weekday")}
    assert dialog.sheet.rows.table.parts == {"came": ("number", "weekday")}
    assert heads[0].parts.text() == "1 part"
    read = dialog.choices.read(file)
    assert read.parts == {"came": ("number", "weekday")}
    # With all ticks removed, dates are used as one number.
    tick(heads[0].parts, "weekday")
    qtbot.waitUntil(lambda: not dialog.busy)
    assert dialog.choices.parts == {}


@pytest.mark.parametrize(("clock", "chosen"), [("", ()), ("", ("hour",)), (" 06:30", ())])
def test_dates_without_a_time_offer_no_hours(qtbot, tmp_path, clock, chosen):
    path = tmp_path / "days.csv"
    rows = [f"2024-01-{k + 1:02},{k % 3 == 0:d}" for k in range(28)]
    path.write_text("\n".join(["day,y", f"2023-12-31{clock},1", *rows]) + "\n")
    button = DatePartsButton("parts")
    qtbot.addWidget(button)
    button.show_column(read_table(path, parts={"day": chosen}).column("day"))
    offered = {action.objectName() for action in button.list.actions()}
    assert "parts_weekday" in offered
    assert ("parts_hour" in offered) == bool(clock or chosen)
    assert ("parts_daytime" in offered) == bool(clock)
    assert button.ticked() == chosen


def test_parts_of_columns_read_without_dates_are_dropped(dialog, file):
    choices = type(dialog.choices)(parts={"came": ("weekday",), "x": ("year",)})
    assert choices.read(file).parts == {"came": ("weekday",)}


def test_date_parts_are_remembered_per_file(window, file, qtbot, answers):
    answers.open_path = str(file)
    for parts in ({}, {"came": ("weekday",)}):
        window.actions_.import_data.trigger()
        made = window.findChildren(ImportPreview)[-1]
        qtbot.waitUntil(lambda made=made: not made.busy)
        assert made.choices.parts == parts
        made.sheet.cards.parts_chosen.emit("came", ("weekday",))
        qtbot.waitUntil(lambda made=made: not made.busy)
        QTest.mouseClick(made.open_button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not window.session.files.opener.busy)
        assert window.session.table.parts == {"came": ("weekday",)}
    assert preferences().now.imports[0].choices.parts == {"came": ("weekday",)}


@pytest.fixture
def view(session, open_view, qtbot, file):
    session.files.open_now(file, "table")
    made = open_view(DataView, session, (1100, 700))
    shown(made, qtbot)
    return made


def test_data_page_shows_and_filters_dates(view, qtbot):
    model = view.sheet.model_
    line = model.columns.index(next(c for c in model.columns if c.name == "came"))
    assert model.index(1, line).data() == "2019-12-31 13:30"
    assert model.headerData(line, Qt.Orientation.Horizontal) == "came\nnumber · date · 1 missing"
    view.filters.field.setText("came >= 01.04.2020; at = 00:00..12:00; since = 2020-04")
    QTest.keyClick(view.filters.field, Qt.Key.Key_Return)
    shown(view, qtbot)
    days = [FIRST + datetime.timedelta(hours=31 * k) for k in range(80)]
    wanted = [k for k, d in enumerate(days) if (d.month, d.year) == (4, 2020) and d.hour <= 12]
    assert [k for k in wanted if not (days[k].hour == 12 and days[k].minute)] == model.rows.tolist()
    view.filters.field.setText("came >= soon")
    QTest.keyClick(view.filters.field, Qt.Key.Key_Return)
    shown(view, qtbot)
    assert "'soon' is not a date, and column 'came' holds dates" in view.filters.problem.text()


def test_card_summarises_dates_and_changes_their_parts(view, qtbot, session):
    view.point_column("came")
    shown(view, qtbot)
    assert view.card.role_combo.currentText() == "Date"  # as in the import preview
    labels = {line: view.findChild(QLabel, f"data_figure_{line}_0") for line in range(1, 8)}
    cells = {line: label.text() for line, label in labels.items()}
    assert cells[6] == "2019-12-31"
    assert cells[7] == (FIRST + datetime.timedelta(hours=31 * 79)).date().isoformat()
    assert cells[5].endswith(" d")
    assert labels[6].toolTip() != ""
    assert [words for _, words in drawn_dates(view.card.spread.plot)] == [
        *("2020-01", "2020-02", "2020-03", "2020-04")
    ]
    assert view.card.spread.data()["from"][0] == "2019-12-31 13:30"
    assert "as one number" in view.card.why.text()
    tick(view.card.parts_button, "month-circle")
    assert session.table.parts == {"came": ("number", "month-circle")}
    shown(view, qtbot)
    assert "as one number" not in view.card.why.text()
    assert view.card.parts_button.text() == "1 part"
    session.undo_stack.undo()
    assert session.table.parts == {}
    view.point_column("x")
    assert view.card.parts_button.isHidden()


def test_dates_are_copied_and_used_in_conditions(file):
    table = read_table(file, label="y")
    came, at, since = table.columns[:3]
    text = tab_separated([came, at, since], np.array([0, 1]), lambda _: None)
    assert text == "came\tat\tsince\n\t06:30\t2019-12\n2019-12-31 13:30\t13:30\t2019-12\n"
    condition = like_cell(came, 1, ">=")
    assert str(condition) == "came >= 2019-12-31 13:30"
    by_name = {column.name: column for column in table.columns}
    assert read_conditions(str(condition), by_name) == (condition,)
    assert condition.holds(came).sum() == 79
    assert like_cell(since, 1).holds(since).sum() == 2


def test_column_list_shows_dates(file, qtbot):
    listed = Overview()
    qtbot.addWidget(listed)
    listed.show_table(read_table(file, label="y"), lambda: None)
    assert [listed.model.index(0, place).data() for place in (5, 7)] == [
        "Date",
        "·, 2019-12-31 13:30, 2020-01-01 20:30",
    ]


@pytest.mark.parametrize(
    "ends",
    [
        ("1850-03-01", "2019-02-01"),
        ("2018-07-20", "2020-01-20"),
        ("2020-01-01", "2020-01-20"),
        ("0002-01-01", "9998-12-31"),
        ("2020-02-28", "2020-03-02"),
    ],
)
def test_date_axis_ticks_are_round_and_few(ends):
    low, high = (
        float(datetime.date.fromisoformat(end).toordinal() - datetime.date(1970, 1, 1).toordinal())
        for end in ends
    )
    found = date_ticks(low, high, "y-m-d")
    assert 1 < len(found) <= 6
    assert all(low <= place <= high for place, _ in found)
    assert len({label for _, label in found}) == len(found)


@pytest.mark.parametrize(("most", "expected"), [(4, 3), (3, 3), (2, 2), (1, 1)])
def test_months_on_a_narrow_axis_are_inside_of_it(most, expected):
    first = datetime.date(2025, 1, 1).toordinal() - datetime.date(1970, 1, 1).toordinal()
    found = date_ticks(first + 0.01, first + 119.9, "d.m.y", most)
    assert len(found) == expected
    assert all(place > first for place, _ in found)
    assert all(len(words) == 7 for _, words in found)


def drawn_dates(plot):
    """Return the labels of the horizontal axis: the middle in pixels, and the text."""
    plot.grab()
    axis = plot.getAxis("bottom")
    (low, high), size = plot.getViewBox().viewRange()[0], axis.width()
    ((_, places),) = axis.tickValues(low, high, size)
    words = axis.tickStrings(places, 1.0, 1.0)
    middles = [(place - low) / (high - low) * size for place in places]
    return list(zip(middles, words, strict=True))


def test_dates_on_an_axis_never_run_together(view, qtbot):
    view.point_column("came")
    shown(view, qtbot)
    plot, counts = view.card.spread.plot, []
    measure = QFontMetricsF(QApplication.font()).horizontalAdvance
    for width in (110, 180, 600):
        plot.setFixedWidth(width)
        drawn = drawn_dates(plot)
        for (at, words), (after, others) in itertools.pairwise(drawn):
            assert at + measure(words) / 2 < after - measure(others) / 2
        counts.append(len(drawn))
    assert counts == sorted(counts)
    assert counts[0] >= 1
    assert counts[-1] > counts[0]


@pytest.mark.parametrize(("low", "high"), [(0.0, 23.9), (8.0, 9.5), (10.0, 10.1)])
def test_hour_axis_ticks_are_round_and_few(low, high):
    found = date_ticks(low, high, "h:m")
    assert 1 < len(found) <= 5
    assert all(low <= place <= high and ":" in words for place, words in found)


def test_only_date_columns_used_as_numbers_have_parts(file):
    table = read_table(file, label="y")
    assert DatePartsButton.fits(table.column("came"))
    assert not DatePartsButton.fits(table.column("x"))
    ignored = table.with_roles(roles={"came": "ignore"})
    assert not DatePartsButton.fits(ignored.column("came"))
