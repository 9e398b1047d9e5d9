"""The Data page: filtered and sorted rows, columns, missing values, correlations, navigation."""

import csv
import dataclasses

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from aucstudio.engine import roc
from aucstudio.gui.common.rows_model import GAP, RowsModel
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.data.column_card import area_sentence, short_figure
from aucstudio.gui.pages.data.data_view import COLUMNS, CORRELATION, GAPS, ROWS, DataView
from aucstudio.gui.pages.data.row_query import Asked, Finder, RowFilter
from aucstudio.gui.pages.data.rows_sheet import show_found
from aucstudio.gui.state.background import Answer
from aucstudio.notices.controls import control_words
from aucstudio.project.data.columns import Column
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.survey.columns import Classes, sum_up
from aucstudio.project.survey.rows import FALSE_ALARM, HELD, MISRANKED, MISSED
from tests.conftest import with_cells, write_file
from tests.gui.conftest import choose, make_record, pick, put, shown, trigger

DOWN = Qt.SortOrder.DescendingOrder
UP = Qt.SortOrder.AscendingOrder


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def view(session, open_view, qtbot):
    made = open_view(DataView, session, (1100, 700))
    look(made, qtbot, ROWS)
    return made


def test_page_opens_on_columns_with_the_card_column_marked(session, open_view, qtbot):
    made = open_view(DataView, session, (1100, 700))
    shown(made, qtbot)
    marked = {index.row() for index in made.overview.list.selectedIndexes()}
    assert made.shows == COLUMNS
    assert made.column == next(iter(session.table.features)).name
    assert len(marked) == 1


def test_card_offers_to_read_values_beyond_a_limit(session, open_view, qtbot, tmp_path):
    path = tmp_path / "doses.csv"
    lines = [f"{'<1.8' if k % 8 == 0 else 2 + k * 0.37},{k % 3},{k % 2}" for k in range(80)]
    path.write_text("\n".join(["dose,x,y", *lines]), encoding="utf-8")
    session.files.open_now(path, "table")
    made = open_view(DataView, session, (1100, 700))
    shown(made, qtbot)
    made.point_column("dose")
    assert made.card.limits.isVisible()
    assert made.card.limits.text().startswith("10 cells beyond a limit")
    qtbot.waitUntil(lambda: made.card.inside.width() <= made.card.viewport().width())
    with qtbot.waitSignal(session.asked) as asked:
        made.card.limits.click()
    assert asked.args[0] == "import"
    made.point_column("x")
    assert not made.card.limits.isVisible()


def rows(view):
    return view.sheet.model_.rows.tolist()


def cell(view, line, name):
    model = view.sheet.model_
    return model.index(line, model.column_of(name)).data()


def look(view, qtbot, what):
    choose(view.show_combo, what)
    return shown(view, qtbot)


def with_missing_values(table, rows):
    table = with_cells(table, rows, np.nan)
    columns = tuple(dataclasses.replace(c, missing=int((~c.known()).sum())) for c in table.columns)
    return dataclasses.replace(table, columns=columns)


def filter_by(view, qtbot, text):
    view.filters.field.setText(text)
    QTest.keyClick(view.filters.field, Qt.Key.Key_Return)
    return shown(view, qtbot)


# ------------------------------------------------------------- rows


def test_cells_match_the_table_with_the_label_first(view, table):
    model = view.sheet.model_
    assert rows(view) == list(range(table.rows))
    assert [c.name for c in model.columns] == ["outcome", "x0", "x1", "x2", "x3", "town"]
    for line in (0, 5, table.rows - 1):
        for column in table.columns:
            value = column.values[line]
            text = cell(view, line, column.name)
            if isinstance(value, str):
                assert text == value
            else:
                assert text == GAP if np.isnan(value) else float(text.replace("−", "-")) == value
    assert cell(view, 5, "x1") == GAP
    yes = sum(value == "yes" for value in table.column("outcome").values)
    no = table.rows - yes
    assert view.sentence.text().startswith(f"All {table.rows} rows: {yes} yes and {no} no.")
    head = model.headerData(model.column_of("x1"), Qt.Orientation.Horizontal)
    assert head == f"x1\nnumber · {table.column('x1').missing} missing"


def test_third_click_on_a_header_undoes_the_sorting(view, table, qtbot):
    header = view.sheet.horizontalHeader()
    values = table.column("x1").values
    place = view.sheet.model_.column_of("x1")
    for expected in (
        np.argsort(values, kind="stable"),
        np.argsort(-values, kind="stable"),
        np.arange(table.rows),
    ):
        at = QPoint(header.sectionViewportPosition(place) + 20, header.height() // 2)
        QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)
        shown(view, qtbot)
        assert rows(view) == expected.tolist()
    assert view.column == "x1"
    # A row keeps its number of the table after sorting.
    view.sheet.sorting.emit("x0", True)
    shown(view, qtbot)
    first = int(np.argmax(table.column("x0").values))
    head = view.sheet.model_.headerData(0, Qt.Orientation.Vertical)
    assert head == str(first + 1)


def test_sorting_scrolls_to_the_top_and_keeps_the_selection(view, table, qtbot):
    last = int(np.argmax(table.column("x0").values))
    view.show_rows((last,))
    for descending in (False, True):
        view.sheet.sorting.emit("x0", descending)
        shown(view, qtbot)
        assert view.sheet.rowAt(1) == 0
        assert view.sheet.place()[0] == last  # it stays selected


def test_correlation_numbers_are_hidden_if_they_do_not_fit(view, qtbot):
    look(view, qtbot, CORRELATION)
    picture = view.correlation
    figures = picture.figures
    assert figures
    assert all(figure.isVisible() for figure in figures)
    picture.plot.setMaximumWidth(150)
    qtbot.waitUntil(lambda: not any(figure.isVisible() for figure in figures))


def test_conditions_filter_rows_and_errors_are_shown(view, table, qtbot):
    x0, town = table.column("x0").values, table.column("town").values
    filter_by(view, qtbot, "x0 > 0.5; town = north")
    expected = np.flatnonzero((x0 > 0.5) & (town == "north")).tolist()
    assert rows(view) == expected
    assert view.filters.count.text() == f"{len(expected)} of {table.rows} rows"
    filter_by(view, qtbot, "x9 > 0.5")
    assert "no column 'x9'" in view.filters.problem.text()
    assert view.filters.problem.isVisible()
    assert rows(view) == expected  # the last valid result stays
    filter_by(view, qtbot, "x0 > 99")
    assert rows(view) == []
    assert not view.filters.problem.isVisible()
    assert view.sentence.text().startswith(f"None of {table.rows} rows")
    filter_by(view, qtbot, "")
    assert len(rows(view)) == table.rows


@pytest.mark.parametrize("roles", [{}, {"who": "id"}])
def test_row_is_found_by_its_identifier_which_stays_in_sight(
    session, open_view, qtbot, tmp_path, roles
):
    path = tmp_path / "people.csv"
    lines = [f"{k % 3 == 0:d},{k % 7}.5,P-{1000 + k}" for k in range(60)]
    path.write_text("\n".join(["sick,x,who", *lines]) + "\n")
    session.files.open_now(path, "table")
    session.set_roles(roles=roles)
    view = open_view(DataView, session, (1100, 700))
    look(view, qtbot, ROWS)
    filter_by(view, qtbot, "P-1041; x < 7")
    assert rows(view) == [41]
    head = view.sheet.model_.headerData(0, Qt.Orientation.Vertical)
    assert "P-1041" in head
    assert "42" in head


def test_cell_menu_adds_conditions(view, table, qtbot):
    model = view.sheet.model_

    def pick_action(line, name, action):
        trigger(view.sheet.cell_menu(model.index(line, model.column_of(name))), action)
        shown(view, qtbot)

    town = table.column("town").values
    pick_action(3, "town", "data_like_action")
    assert rows(view) == np.flatnonzero(town == town[3]).tolist()
    row, x0 = rows(view)[2], table.column("x0").values
    pick_action(2, "x0", "data_more_action")
    assert rows(view) == np.flatnonzero((town == town[3]) & (x0 >= x0[row])).tolist()
    assert view.filters.field.text() == f"town = {town[3]}; x0 >= {float(x0[row])!r}"
    filter_by(view, qtbot, "")
    pick_action(5, "x1", "data_like_action")
    assert rows(view) == np.flatnonzero(np.isnan(table.column("x1").values)).tolist()
    trigger(view.sheet.head_menu(model.column_of("x1")), "data_known_action")
    shown(view, qtbot)
    assert rows(view) == []


def test_class_choice_filters_rows(view, table, qtbot):
    combo = view.filters.class_combo
    assert [combo.itemText(k) for k in range(combo.count())] == ["All classes", "no", "yes"]
    combo.setCurrentIndex(2)
    combo.activated.emit(2)
    shown(view, qtbot)
    assert rows(view) == np.flatnonzero(table.column("outcome").values == "yes").tolist()


def test_scores_of_runs_are_shown_and_filter_rows(view, session, table, qtbot):
    folds = Validation(scheme="folds", folds=3)
    record = put(session, make_record(table, validation=folds), "Least squares")
    put(session, make_record(table, "logistic"), "Logistic")
    session.select(record.id)
    session.point_at(split=1)
    shown(view, qtbot)
    split = record.splits[1]
    names = [column.name for column in view.sheet.model_.columns[:4]]
    assert names == ["outcome", "Least squares", "wrong pairs", "Logistic"]
    row = int(split.test_rows[0])
    shown_score = float(cell(view, row, "Least squares").replace("−", "-"))
    assert shown_score == pytest.approx(split.test_scores[0], abs=5e-4)
    assert len({len(cell(view, k, "Least squares").partition(".")[2]) for k in range(20)}) == 1
    assert (view.split_combo.isVisible(), view.split_combo.currentIndex()) == (True, 1)

    def part(what):
        combo = view.filters.part_combo
        pick(combo, what)
        text = shown(view, qtbot)
        return sorted(rows(view)), text

    found, text = part(HELD)
    assert found == sorted(split.test_rows)
    assert "split 2 of Least squares" in text
    threshold = session.focus.threshold
    called = split.test_scores > threshold
    assert part(FALSE_ALARM)[0] == sorted(split.test_rows[called & ~split.test_positive])
    assert part(MISSED)[0] == sorted(split.test_rows[~called & split.test_positive])
    session.set_threshold(threshold=threshold + 0.4)  # the rows follow the threshold
    shown(view, qtbot)
    missed = ~(split.test_scores > threshold + 0.4) & split.test_positive
    assert sorted(rows(view)) == sorted(split.test_rows[missed])
    margins = (
        split.test_scores[split.test_positive][:, None] - split.test_scores[~split.test_positive]
    )
    worst = {*split.test_rows[split.test_positive][(margins < 0).any(axis=1)]}
    worst |= {*split.test_rows[~split.test_positive][(margins < 0).any(axis=0)]}
    assert part(MISRANKED)[0] == sorted(worst)
    filter_by(view, qtbot, '"wrong pairs" >= 1; Logistic > 0')
    assert set(rows(view)) <= worst
    # Without the run, its filter and column are gone, and the page reports it.
    session.set_looks(list(session.plan.looks), "Take out", removed=True)
    shown(view, qtbot)
    assert "no column" in view.filters.problem.text()
    assert view.filters.row_filter.part == "all"


def test_selected_cells_are_copied_as_tab_separated_text(view, table, qtbot):
    sheet, model = view.sheet, view.sheet.model_
    place = model.column_of("x0")
    flags = QItemSelectionModel.SelectionFlag
    for line, column in ((1, place), (1, place + 1), (5, place), (5, place + 1)):
        sheet.selectionModel().select(model.index(line, column), flags.Select)
    QTest.keyClick(sheet, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    shown(view, qtbot)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "x0\tx1"
    first = [table.column(name).values[1] for name in ("x0", "x1")]
    assert [float(text) for text in lines[1].split("\t")] == first
    assert lines[2].split("\t")[1] == ""
    sheet.clearSelection()
    sheet.setCurrentIndex(model.index(2, model.column_of("town")))
    view.sheet.copy()
    shown(view, qtbot)
    assert QGuiApplication.clipboard().text() == table.column("town").values[2]


@pytest.mark.slow
def test_saved_rows_escape_formulas(view, session, table, qtbot, answers, tmp_path):
    towns = table.column("town").values.copy()
    towns[0] = "=cmd()"
    columns = tuple(
        dataclasses.replace(c, values=towns) if c.name == "town" else c for c in table.columns
    )
    session.put_table(dataclasses.replace(table, columns=columns))
    filter_by(view, qtbot, "town contains cmd")
    answers.save_path = str(tmp_path / "rows.csv")
    view.save_button.click()
    shown(view, qtbot)
    with open(answers.save_path, newline="", encoding="utf-8-sig") as file:
        head, line = csv.reader(file)
    assert head == ["row", "outcome", "x0", "x1", "x2", "x3", "town"]
    assert line[0] == "1"
    assert line[-1] == "'=cmd()"
    assert float(line[2]) == table.column("x0").values[0]
    answers.save_path = str(tmp_path / "gone" / "rows.csv")
    errors = []
    session.failed.connect(lambda text, _trace: errors.append(text))
    view.save_button.click()
    shown(view, qtbot)
    assert "rows.csv" in errors[0]


def test_saved_rows_have_their_part_and_the_marks_of_the_input(
    view, session, table, qtbot, answers, tmp_path
):
    dialect = dataclasses.replace(table.dialect, delimiter=";", decimal=",")
    session.put_table(dataclasses.replace(table, dialect=dialect))
    record = make_record(table)
    put(session, record, "A run")
    shown(view, qtbot)
    parts = {int(row) + 1: "training" for row in record.splits[0].train_rows}
    parts |= {int(row) + 1: "held out" for row in record.splits[0].test_rows}
    kinds = [("CSV for spreadsheets (*.csv)", ";", ","), ("CSV (*.csv)", ",", ".")]
    for kind, delimiter, decimal in kinds:
        answers.save_path, answers.save_format = str(tmp_path / "rows.csv"), kind
        view.save_button.click()
        shown(view, qtbot)
        with open(answers.save_path, newline="", encoding="utf-8-sig") as file:
            head, *lines = csv.reader(file, delimiter=delimiter)
        assert head[:2] == ["row", "part"]
        assert {int(line[0]): line[1] for line in lines} == parts
        scores = [line[head.index("A run")] for line in lines]
        held = record.splits[0].test_rows[0]
        assert float(scores[held].replace(decimal, ".")) == record.splits[0].test_scores[0]
        assert decimal in scores[held]


# ------------------------------------------------------------- columns


def test_column_that_separates_nothing_is_stated(table):
    rng = np.random.default_rng(4)
    column = Column.of_cells("noise", rng.normal(size=table.rows), 0, table.rows)
    summary = sum_up(dataclasses.replace(column, role="number"), Classes.of(table))
    assert summary.area.low < 0.5 < summary.area.high
    stated = area_sentence(summary)
    assert stated.headline.startswith(f"AUC alone {summary.area.value:.3f} (95 % ")
    assert stated.headline.endswith("does not separate yes from no.")
    assert not stated.more


@pytest.mark.slow
def test_card_summarises_the_current_column(view, session, table, qtbot):
    model = view.sheet.model_
    view.sheet.setCurrentIndex(model.index(4, model.column_of("x1")))
    shown(view, qtbot)
    assert session.focus.row == 4
    summary, values = view.card.summary, table.column("x1").values
    known = ~np.isnan(values)
    positive = table.column("outcome").values == "yes"
    assert view.card.title.text() == "x1"
    assert summary.area.value == roc.auc(positive[known], values[known])
    assert f"AUC alone {summary.area.value:.3f}" in view.card.area.text()
    missing, mean = (view.findChild(QLabel, f"data_figure_{at}").text() for at in ("2_0", "3_1"))
    assert missing == str((~known).sum())
    assert mean == f"{values[known & positive].mean():.4g}"
    x, y = view.card.roc.lines[0].getData()
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    data = view.figure_data()
    assert sum(data["share"]) == pytest.approx(2.0)
    view.point_column("town")
    shown(view, qtbot)
    assert view.card.spread.summary.distribution.names == ("north", "south")
    view.point_column("outcome")
    shown(view, qtbot)
    assert view.card.summary.area is None
    assert not view.card.role_combo.isEnabled()


@pytest.mark.slow
def test_role_changed_in_the_card_can_be_undone(view, session, qtbot):
    view.point_column("x2")
    shown(view, qtbot)
    combo = view.card.role_combo
    assert {combo.itemData(k) for k in range(combo.count())} == {
        "number",
        "category",
        "group",
        "id",
        "weight",
        "frequency",
        "ignore",
    }
    before = view.card.summary
    pick(combo, "ignore")
    shown(view, qtbot)
    assert session.table.column("x2").role == "ignore"
    assert view.card.role_combo.currentData() == "ignore"
    assert view.card.summary is before  # the cells are the same
    session.undo_stack.undo()
    shown(view, qtbot)
    assert session.table.column("x2").role == "number"
    assert view.card.role_combo.currentData() == "number"


@pytest.mark.slow
def test_columns_are_listed_and_sorted_by_auc(view, session, table, qtbot):
    look(view, qtbot, COLUMNS)
    listed = view.overview
    positive = table.column("outcome").values == "yes"
    areas = {}
    for name in ("x0", "x2", "x3"):
        areas[name] = roc.auc(positive, table.column(name).values)
    header = listed.list.horizontalHeader()
    header.setSortIndicator(1, DOWN)
    shown(view, qtbot)
    names = [listed.model.index(k, 0).data() for k in range(6)]
    assert names[0] == "x0"
    assert names[-1] == "outcome"  # it has no AUC
    written = {listed.model.index(k, 0).data(): listed.model.index(k, 1).data() for k in range(6)}
    for name, area in areas.items():
        assert written[name] == f"{area:.3f}"
    header.setSortIndicator(0, UP)
    shown(view, qtbot)
    assert [listed.model.index(k, 0).data() for k in range(3)] == ["outcome", "town", "x0"]
    listed.search.setText("TOWN")
    qtbot.waitUntil(lambda: listed.model.rowCount() == 1)
    listed.list.setCurrentIndex(listed.model.index(0, 0))
    text = shown(view, qtbot)
    assert text.startswith("town: AUC alone")
    assert "ranks yes above no" in text
    assert "ordered by their share of yes in the other half of the rows" in text
    # Another role keeps the computed areas; another label does not.
    known = listed.areas
    session.set_roles(roles={"x3": "ignore"})
    shown(view, qtbot)
    assert listed.areas is known
    session.set_roles(label="town")
    shown(view, qtbot)
    assert listed.areas is not known
    assert listed.areas.done.all()


@pytest.mark.slow
def test_visible_columns_are_computed_first_in_a_wide_table(session, open_view, qtbot, table):
    rng = np.random.default_rng(0)
    label = table.column("outcome")
    few = [
        Column.of_cells(f"gene {k}", values, 0, table.rows)
        for k, values in enumerate(rng.normal(size=(100_000, table.rows)).astype(np.float32))
    ]
    session.study.table = dataclasses.replace(table, columns=(label, *few))
    view = open_view(DataView, session, (1100, 700))
    qtbot.waitUntil(lambda: view.found is not None)
    choose(view.show_combo, COLUMNS)
    qtbot.waitUntil(lambda: view.overview.model.rowCount() == 100_001)
    listed = view.overview
    listed.list.scrollToBottom()
    # Visible columns are computed first, long before all are done.
    qtbot.waitUntil(lambda: bool(listed.areas.done[-1]))
    assert not listed.areas.done.all()
    choose(view.show_combo, ROWS)
    assert not any(answer.busy for answer in listed.findChildren(Answer))


# ------------------------------------------------------------- pictures


@pytest.mark.slow
def test_click_on_the_missing_value_map_opens_the_cell(view, session, table, qtbot):
    session.put_table(with_missing_values(table, [7, 90]))
    shown(view, qtbot)
    view.sheet.sorting.emit(None, True)
    text = look(view, qtbot, GAPS)
    assert text.startswith("4 columns have missing values, most of them x1")
    found = view.gaps.found
    assert found.columns == ("x0", "x1", "x2", "x3")
    assert found.missing[table.rows - 1 - 7].tolist() == [1, 1, 1, 1]
    assert view.gaps.strip.isVisible()
    words = view.gaps.describe(0, table.rows - 1 - 90)
    assert words.startswith("x0   100 % missing")
    view.gaps.plot.clicked.emit(QPointF(2.5, table.rows - 1 - 7 + 0.5))
    shown(view, qtbot)
    assert view.shows == ROWS
    assert view.sheet.place() == (7, "x2")
    assert session.focus.row == 7
    filter_by(view, qtbot, "x0 known; x1 known")
    assert look(view, qtbot, GAPS).startswith("4 columns have missing values")


def test_table_without_missing_values_shows_a_message(view, session, table, qtbot):
    full = tuple(c for c in table.columns if not c.missing)
    session.put_table(dataclasses.replace(table, columns=full))
    assert look(view, qtbot, GAPS) == "No column has a missing value."
    assert view.gaps.hint.isVisible()
    assert not view.gaps.plot.isVisible()


@pytest.mark.slow
@pytest.mark.parametrize("what", [GAPS, CORRELATION])
def test_pictures_follow_the_theme(view, session, table, qtbot, what, apply_style):
    if what == GAPS:
        session.put_table(with_missing_values(table, [7, 90]))
        shown(view, qtbot)
    look(view, qtbot, what)
    picture = view.gaps if what == GAPS else view.correlation
    light = picture.image.image.copy()
    apply_style("dark")
    view.restyle()
    shown(view, qtbot)
    assert not np.array_equal(picture.image.image, light)
    apply_style()
    view.restyle()
    shown(view, qtbot)
    np.testing.assert_array_equal(picture.image.image, light)


def test_column_width_follows_the_text_size(view, qtbot, apply_style):
    look(view, qtbot, ROWS)
    before = view.sheet.columnWidth(0)
    apply_style(percent=200)
    view.restyle()
    shown(view, qtbot)
    assert view.sheet.columnWidth(0) > 1.5 * before
    assert view.card.minimumWidth() in (0, view.card.least_width())
    apply_style()
    assert view.sheet.columnWidth(0) == before


@pytest.mark.slow
def test_correlations_are_shown_and_selected_by_click(view, table, qtbot):
    look(view, qtbot, CORRELATION)
    picture = view.correlation
    assert picture.found.columns == ("x0", "x1", "x2", "x3")
    for kind in ("pearson", "spearman"):
        choose(view.correlation.kind_combo, kind)
        shown(view, qtbot)
        data = view.figure_data()
        assert len(data["correlation"]) == 16
    pearson = np.corrcoef(table.column("x0").values, table.column("x3").values)[0, 1]
    choose(view.correlation.kind_combo, "pearson")
    shown(view, qtbot)
    assert picture.found.values[0, 3] == pytest.approx(pearson)
    written = [figure.toPlainText() for figure in picture.figures]
    assert len(written) == 12
    assert f"{pearson:+.2f}".replace("-", "−") in written
    scene = picture.plot.getViewBox().mapViewToScene(QPointF(0.5, 3.5))
    picture.plot.scene().sigMouseMoved.emit(scene)
    assert picture.readout.text().startswith(f"x0 and x3: {pearson:+.2f}".replace("-", "−"))
    place = picture.plot.mapFromScene(scene)
    QTest.mouseClick(picture.plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
    text = shown(view, qtbot)
    assert text.startswith("x0 and x3:")
    assert picture.frame.isVisible()
    assert view.column == "x3"


def test_saved_figure_is_the_picture_shown(view, qtbot):
    plots = {}
    for what in (ROWS, COLUMNS, GAPS, CORRELATION):
        look(view, qtbot, what)
        plots[what] = view.figure()
        assert plots[what] in view.plots()
        assert view.figure_data()
    assert len(set(plots.values())) == 3


# ------------------------------------------------------------- other states


def test_page_without_a_table_asks_to_open_one(session, open_view, qtbot, table):
    session.study.table = None
    view = open_view(DataView, session)
    assert "Open a table" in shown(view, qtbot)
    assert view.hint.isVisible()
    assert not view.sheet.isVisible()
    session.put_table(table)
    shown(view, qtbot)
    assert len(rows(view)) == table.rows
    session.put_table(None)
    assert "Open a table" in shown(view, qtbot)
    assert rows(view) == []
    assert not view.card.isVisible()


@pytest.mark.slow
def test_table_without_a_label_shows_rows_and_columns(view, session, table, qtbot):
    session.put_table(table.with_roles(label=False))
    assert shown(view, qtbot) == f"All {table.rows} rows."
    assert view.card.summary.area is None
    for what in (COLUMNS, GAPS, CORRELATION):
        assert look(view, qtbot, what)


def test_opening_another_study_resets_the_page(view, session, table, qtbot, tmp_path):
    path = write_file(tmp_path / "other.csv", "a,b,label\n1,2,x\n3,4,y\n5,6,y\n")
    filter_by(view, qtbot, "x0 > 0")
    view.sheet.sorting.emit("x0", False)
    session.files.open_now(path, "table")
    shown(view, qtbot)
    assert view.filters.field.text() == ""
    assert rows(view) == [0, 1, 2]
    assert view.column == "a"
    assert view.card.summary.name == "a"


@pytest.mark.slow
def test_markup_in_cells_and_names_is_shown_as_text(session, open_view, qtbot, tmp_path):
    path = tmp_path / "strange.csv"
    long = "x" * 5_000
    path.write_text(
        f"<b>a</b>,q; r,label\n<i>1</i>,1,x\n{long},2,y\nc,,y\nd,3,x\n", encoding="utf-8"
    )
    session.study.table = read_table(path)
    view = open_view(DataView, session, (1100, 700))
    shown(view, qtbot)
    assert cell(view, 0, "<b>a</b>") == "<i>1</i>"
    assert len(cell(view, 1, "<b>a</b>")) <= 200
    view.point_column("<b>a</b>")
    shown(view, qtbot)
    assert view.card.title.text() == "<b>a</b>"
    model = view.sheet.model_
    trigger(view.sheet.cell_menu(model.index(0, model.column_of("q; r"))), "data_more_action")
    shown(view, qtbot)
    assert view.filters.field.text() == '"q; r" >= 1.0'
    assert rows(view) == [0, 1, 3]


def test_narrow_page_shows_the_card_below_the_column_list(view, qtbot):
    assert view.card.isVisible()
    view.resize(500, 700)
    QApplication.processEvents()
    assert not view.card.isVisible()
    look(view, qtbot, COLUMNS)
    assert view.card.isVisible()
    assert view.card.y() > view.overview.y()


# ------------------------------------------------------------- navigation


@pytest.fixture
def show_page(window, table_file, qtbot):
    """Return a page of a window with a run by name, once it is shown and up to date."""
    window.open_now(table_file)
    put(window.session, make_record(window.session.table), "AUC-RLS")

    def page(name):
        view = window.deck.view(name)
        window.deck.show_view(view)
        shown(view, qtbot)
        return view

    return page


def test_worst_row_opens_in_data_and_back_returns(window, show_page, qtbot):
    scores = show_page("scores_view")
    scores.worst.list.setCurrentIndex(scores.worst.list.sheet.index(0, 0))
    row = int(scores.worst.worst.rows[0])
    window.findChild(QPushButton, "worst_data_button").click()
    data = window.deck.view("data_view")
    shown(data, qtbot)
    assert window.deck.active() is data
    assert data.sheet.place()[0] == row
    others = data.show_combo, data.explain_button, data.save_button
    places = [other.x() for other in others]
    data.back_button.hide()
    data.controls.activate()
    assert [other.x() for other in others] == places
    data.back_button.show()
    assert len(rows(data)) == window.session.table.rows
    assert data.back_button.text() == "Back to Scores"
    data.back_button.click()
    assert window.deck.active() is scores
    assert not window.actions_.back.isEnabled()


def test_pair_opens_its_rows_and_hiding_filters_are_cleared(window, show_page, qtbot):
    data = show_page("data_view")
    filter_by(data, qtbot, "x0 > 100")
    differences = show_page("difference_view")
    differences.pointing.step(1)
    pair = window.session.focus.pair
    shown(differences, qtbot)
    window.findChild(QPushButton, "pair_data_button").click()
    shown(data, qtbot)
    assert sorted(rows(data)) == sorted(pair)
    assert data.sentence.text().startswith("2 of 160 rows: 1 yes and 1 no.")
    assert window.actions_.back.isEnabled()
    window.actions_.back.trigger()
    assert window.deck.active() is differences
    # A single row is shown among the others; filters that hide it are cleared.
    other = next(k for k in range(160) if k not in pair)
    window.session.show_rows((other,))
    shown(data, qtbot)
    qtbot.waitUntil(lambda: data.sheet.place()[0] == other)
    assert len(rows(data)) == 160


@pytest.mark.parametrize("name", ["roc_view", "scores_view"])
def test_plot_menu_opens_misclassified_rows(window, show_page, qtbot, name):
    view = show_page(name)
    window.session.point_at(row=3)
    menu = view.menu_of(view.figure())
    offered = {a.objectName(): a for a in menu.actions() if "Data" in a.text()}
    assert set(offered) == {
        "plot_data_row_action",
        "plot_data_false_positive_action",
        "plot_data_missed_positive_action",
    }
    offered["plot_data_missed_positive_action"].trigger()
    menu.deleteLater()
    data = window.deck.active()
    shown(data, qtbot)
    split = window.session.run(window.session.selected).record.splits[0]
    missed = split.test_positive & ~(split.test_scores > window.session.focus.threshold)
    assert sorted(rows(data)) == sorted(split.test_rows[missed])


def test_short_figures_of_columns():
    expected = {39731.4: "39,731", 1.2345e7: "1.23e+07", -0.00123456: "−0.00123", 3.14159: "3.142"}
    assert {value: short_figure(value) for value in expected} == expected


def test_rows_are_coloured_by_class_once_it_is_chosen(session, tmp_path, qtbot):
    path = tmp_path / "three.csv"
    path.write_text("x,kind\n" + "".join(f"{k},{'abc'[k % 3]}\n" for k in range(30)))
    session.files.open_now(path, "table")
    session.set_roles(label="kind")
    finder, model = Finder(), RowsModel(session)
    inks = []
    for positive in (None, ["a", "b"]):
        if positive:
            session.set_roles(positive=positive)
        asked = Asked.of(session, session.table, RowFilter())
        show_found(model, finder.find(asked, lambda _share: False))
        cells = [model.index(k, model.column_of("kind")) for k in range(3)]
        inks.append([cell.data(Qt.ItemDataRole.ForegroundRole) for cell in cells])
    assert inks[0] == [None] * 3
    theme = current_theme()
    wanted = [theme.positive, theme.positive, theme.negative]
    assert [ink.name() for ink in inks[1]] == [QColor(colour).name() for colour in wanted]


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_every_role_fits_in_its_column(view, apply_style, percent):
    apply_style(percent=percent)
    listed, words = view.overview.list, control_words("column_role")["choices"].values()
    longest = max(map(listed.fontMetrics().horizontalAdvance, words))
    assert listed.columnWidth(4) >= longest + 12


def test_card_follows_a_file_that_is_read_again(session, open_view, qtbot, tmp_path):
    path = tmp_path / "doses.csv"
    lines = [f"{'<1.8' if k % 8 == 0 else 2 + k * 0.37},{k % 3},{k % 2}" for k in range(80)]
    path.write_text("\n".join(["dose,x,y", *lines]), encoding="utf-8")
    made = open_view(DataView, session, (1100, 700))
    for dialect, missing in ({}, 10), ({"limits": "limit"}, 0):
        session.put_table(read_table(path, label="y", dialect=dialect))
        made.point_column("dose")
        shown(made, qtbot)
        assert made.card.summary.groups["All rows"].missing == missing
