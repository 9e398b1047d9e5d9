"""The Compare page shows, orders, copies and saves what the engine computes."""

import csv
import dataclasses
import threading

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QApplication, QComboBox, QTableView

from aucstudio.engine import METHODS, roc
from aucstudio.gui.common import prompts
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.pages.compare import compare_view
from aucstudio.gui.pages.compare.compare_view import PICTURE, TABLES, CompareView, table_text
from aucstudio.gui.pages.compare.words import forecast_words, pair_sentence, tally_words
from aucstudio.notices import words
from aucstudio.project.data.validation import Validation
from aucstudio.project.results import comparison
from aucstudio.project.results.comparison import CORRECTION_NAMES, PairComparison
from aucstudio.project.results.forecast import growth_if_as_measured, growth_to_significance
from aucstudio.project.results.page import markdown_blocks, tables_as_csv, tables_as_latex
from aucstudio.project.results.report import comparison_tables
from aucstudio.project.results.summary import (
    auc_summary,
    pauc_summary,
    tpr_summary,
    train_auc,
)
from tests.gui.conftest import choose, make_record, on, points, put, shown, tick_texts

BAND = (0.0, 0.1)


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def view(session, open_view):
    """The page, comparing the whole AUC; its default is the partial AUC."""
    made = open_view(CompareView, session)
    assert made.measure_combo.currentData() == comparison.PAUC
    choose(made.measure_combo, comparison.AUC)
    return made


@pytest.fixture
def add(session):
    def add(name, weight=1.0, validation=None):
        settings = {"regularization": weight}
        return put(session, make_record(session.table, "auc-rls", settings, validation), name)

    return add


@pytest.fixture
def three(add):
    return {name: add(name, weight) for name, weight in (("a", 0.01), ("b", 10.0), ("c", 1e4))}


def tables(view):
    """Show the tables."""
    view.show_switch.choose(TABLES)
    return view.tables


def texts(model):
    return [
        [model.index(r, c).data() for c in range(model.columnCount())]
        for r in range(model.rowCount())
    ]


def test_a_pair_without_a_significant_difference_is_undecided(view, add, qtbot):
    add("a", 0.01)
    add("b", 100.0)
    shown(view, qtbot)
    (pair,) = view.shown.found.pairs
    assert not pair.significant
    assert not pair.alike
    assert tables(view).pairs_table.sheet.rows[0].cells[-1] == "undecided"


def test_item_models_pass_qts_model_checks(view, three, qtbot, qtmodeltester):
    shown(view, qtbot)
    qtmodeltester.check(tables(view).runs_table.sheet)
    qtmodeltester.check(tables(view).pairs_table.sheet)


def test_checked_runs_are_listed_best_first(view, three, qtbot):
    shown(view, qtbot)
    rows = texts(tables(view).runs_table.sheet)
    ranked = sorted(three, key=lambda name: auc_summary(three[name]).value, reverse=True)
    assert [row[0] for row in rows] == ranked
    for row in rows:
        record = three[row[0]]
        area, part = auc_summary(record), pauc_summary(record, BAND)
        rate = tpr_summary(record, BAND[1])
        assert row[1:7] == [
            cell
            for one in (area, part, rate)
            for cell in (f"{one.value:.3f}", f"{one.low:.3f}–{one.high:.3f}")
        ]
        assert row[9] == words.figure_words(train_auc(record) - area.value, "+")
        assert row[11] == "1"
    for row, standing in zip(rows, view.shown.found.standings(), strict=True):
        assert row[7] == f"{standing.wins}/{standing.ties}/{standing.losses}"
        assert float(row[8]) == pytest.approx(standing.mean_rank, abs=0.05)


@pytest.mark.parametrize("measure", [comparison.AUC, comparison.PAUC, comparison.TPR])
def test_pairs_match_the_engine(view, three, qtbot, measure):
    choose(view.findChild(QComboBox, "measure_combo"), measure)
    text = shown(view, qtbot)
    names = [row[0] for row in texts(tables(view).runs_table.sheet)]
    expected = comparison.compare_runs([(n, three[n]) for n in names], BAND, measure)
    assert view.shown.found.pairs == expected
    assert all(pair.difference >= 0 for pair in expected)
    first = texts(tables(view).pairs_table.sheet)[0]
    assert first[4] == words.p_number(expected[0].p)
    assert first[5] == words.p_number(expected[0].p_corrected)
    rows = len(three["a"].splits[0].test_rows)
    assert f"these {rows} rows" in text
    assert ("in FPR 0 … 0.1" in text) == (measure == comparison.PAUC)


def test_selected_run_is_compared_with_the_best_other_one(view, three, session, qtbot):
    shown(view, qtbot)
    session.compare_with(None)
    names = [run.look.name for run in view.shown.runs]
    for k, run in enumerate(view.shown.runs):
        session.select(run.record.id)
        text = shown(view, qtbot)
        first = next(pair for pair in view.shown.found.pairs if names[k] in (pair.a, pair.b))
        assert forecast_words(first, three["a"], 3) in text
        assert names[k] in text.partition(" on these ")[0]


@pytest.mark.parametrize("width", [420, 1200])
def test_tables_show_their_last_row_above_the_scroll_bar(view, three, qtbot, width):
    view.resize(width, 700)
    view.show_switch.choose(TABLES)
    shown(view, qtbot)
    for table in (view.tables.runs_table, view.tables.pairs_table):
        last = table.visualRect(table.model().index(table.model().rowCount() - 1, 0))
        qtbot.waitUntil(lambda t=table: t.verticalScrollBar().maximum() == 0)
        assert last.bottom() <= table.viewport().height()


def test_clicking_a_pair_selects_and_compares_its_runs(view, three, session, qtbot):
    shown(view, qtbot)
    tables(view).pairs_table.selectRow(2)
    pair = view.shown.found.pairs[2]
    chosen = [session.run(run).look.name for run in (session.selected, session.compared)]
    assert chosen == [pair.a, pair.b]
    text = shown(view, qtbot)
    assert text.startswith(f"{pair.better} ")
    assert f"{pair.a if pair.better == pair.b else pair.b} " in text
    assert forecast_words(pair, three["a"], 3) in text
    assert tables(view).pairs_table.currentIndex().row() == 2
    view.show_switch.choose(PICTURE)
    assert (
        view.picture.table.currentIndex().row(),
        view.picture.table.currentIndex().column(),
    ) == (
        1,
        2,
    )


def test_clicking_a_matrix_cell_compares_row_with_column_run(view, three, session, qtbot):
    shown(view, qtbot)
    view.picture.table.setCurrentIndex(view.picture.matrix.index(2, 0))
    ids = [run.record.id for run in view.shown.runs]
    assert (session.selected, session.compared) == (ids[2], ids[0])
    shown(view, qtbot)
    assert tables(view).pairs_table.currentIndex().row() == 1
    view.picture.table.setCurrentIndex(view.picture.matrix.index(1, 1))
    assert (session.selected, session.compared) == (ids[2], ids[0])


def test_selection_from_other_pages_is_marked_without_echo(view, three, session, qtbot):
    shown(view, qtbot)
    changes = []
    session.select(view.shown.runs[2].record.id)
    session.compare_with(view.shown.runs[0].record.id)
    on(session, "selection", lambda: changes.append(1))
    assert "significant" in shown(view, qtbot)
    assert tables(view).pairs_table.currentIndex().row() == 1
    view.show_switch.choose(PICTURE)
    assert [mark.isVisible() for mark in view.picture.forest.marks] == [True, True]
    assert [mark.rect().center().y() for mark in view.picture.forest.marks] == pytest.approx(
        [2.0, 0.0]
    )
    session.compare_with(None)
    shown(view, qtbot)
    assert not view.picture.forest.marks[1].isVisible()
    assert not view.picture.table.selectionModel().hasSelection()
    assert len(changes) == 1


# ----------------------------------------------------------------- the picture


@pytest.mark.parametrize("measure", [comparison.AUC, comparison.PAUC])
def test_forest_plot_matches_the_figures(view, three, qtbot, measure):
    choose(view.measure_combo, measure)
    shown(view, qtbot)
    areas = [run.measured(measure) for run in view.shown.found.runs]
    np.testing.assert_array_equal(
        points(view.picture.forest.dots), [(area.value, k) for k, area in enumerate(areas)]
    )
    for k, (whisker, area) in enumerate(zip(view.picture.forest.whiskers, areas, strict=True)):
        np.testing.assert_array_equal(points(whisker), [(area.low, k), (area.high, k)])
    assert len(view.picture.forest.splits.data) == 0
    chance = 0.5 if measure == comparison.AUC else sum(BAND) / 2
    assert view.picture.forest.chance.value() == chance
    assert f"chance {chance:.3f}" in view.figure().getAxis("bottom").labelText
    (left, right), _ = view.figure().getViewBox().viewRange()
    assert left < min(area.low for area in areas) < max(area.high for area in areas) < right


def test_splits_are_dots_below_their_run(view, add, qtbot):
    add("a", 0.01, Validation(repeats=3))
    add("b", 1e4, Validation(repeats=3))
    shown(view, qtbot)
    values = [value for run in view.shown.found.runs for value in run.auc.per_split]
    dots = points(view.picture.forest.splits)
    assert dots[:, 0].tolist() == values
    assert np.floor(dots[:, 1]).tolist() == [0, 0, 0, 1, 1, 1]
    data = view.figure_data()
    assert data["run"] == [run.name for run in view.shown.found.runs for _ in range(4)]
    assert data["split"] == ["all", 1, 2, 3] * 2
    assert data["value"][1:4] == values[:3]
    assert data["low"][0] == view.shown.found.runs[0].auc.low
    assert np.isnan(data["high"][1])


def test_numbers_of_the_tables_have_the_pairs(view, three, qtbot):
    shown(view, qtbot)
    view.show_switch.choose(TABLES)
    data, found = view.figure_data(), view.shown.found
    runs = len(found.runs)
    assert data["run"] == [run.name for run in found.runs] + [pair.a for pair in found.pairs]
    assert data["minus_run"][runs:] == [pair.b for pair in found.pairs]
    assert data["value"][runs:] == [pair.difference for pair in found.pairs]
    assert data["p_corrected"][runs:] == [pair.p_corrected for pair in found.pairs]


def test_row_height_follows_the_text_size(view, three, qtbot, apply_style):
    shown(view, qtbot)

    def heights():
        view.show_switch.choose(PICTURE)
        forest = view.picture.forest.plot.minimumHeight()
        return [forest, tables(view).runs_table.minimumHeight()]

    before = heights()
    apply_style(percent=200)
    view.restyle()
    shown(view, qtbot)
    assert heights() >= [1.6 * height for height in before]


def test_clicking_a_row_of_the_forest_compares_its_run(view, three, session, qtbot):
    shown(view, qtbot)
    plot, box = view.figure(), view.figure().getViewBox()
    keys = Qt.KeyboardModifier
    for row, held in ((1, keys.NoModifier), (2, keys.ControlModifier)):
        at = plot.mapFromScene(box.mapViewToScene(QPointF(box.viewRect().center().x(), row)))
        qtbot.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, held, at)
    ids = [run.record.id for run in view.shown.runs]
    assert (session.selected, session.compared) == (ids[1], ids[2])


def test_matrix_shows_differences_and_p_values(view, three, qtbot):
    shown(view, qtbot)
    model, pairs = view.picture.matrix, view.shown.found.pairs
    assert (model.rowCount(), model.columnCount()) == (3, 4)
    places = {(0, 1): pairs[0], (0, 2): pairs[1], (1, 2): pairs[2]}
    for (i, j), pair in places.items():
        for at, seen in (((i, j), pair), ((j, i), pair.turned())):
            difference, p = model.index(*at).data().split("\n")
            assert difference == words.figure_words(seen.difference, "+")
            assert p == words.p_number(pair.p_corrected)
    assert model.index(1, 1).data() is None
    standing = view.shown.found.standings()[0]
    assert model.index(0, 3).data() == (
        f"{standing.wins}/{standing.ties}/{standing.losses}\nrank 1"
    )


def test_significant_cells_are_bold_and_tinted_as_the_better_run(view, three, qtbot):
    shown(view, qtbot)
    found = view.shown.found
    pairs = [dataclasses.replace(pair, p_corrected=0.5) for pair in found.pairs]
    pairs[1] = dataclasses.replace(pairs[1], difference=0.2, p_corrected=0.001)
    looks = [run.look for run in view.shown.runs]
    view.picture.matrix.show_comparison(
        dataclasses.replace(view.shown, found=dataclasses.replace(found, pairs=pairs))
    )
    for at in ((0, 2), (2, 0)):
        assert view.picture.matrix.index(*at).data(Qt.ItemDataRole.FontRole).bold()
        tint = view.picture.matrix.index(*at).data(Qt.ItemDataRole.BackgroundRole)
        better = colour_of(looks[0])
        assert (tint.red(), tint.green(), tint.blue()) == better
    assert view.picture.matrix.index(0, 1).data(Qt.ItemDataRole.FontRole) is None
    assert view.picture.matrix.index(0, 1).data(Qt.ItemDataRole.BackgroundRole) is None


def colour_of(look):
    return run_colour(current_theme(), look.colour).getRgb()[:3]


def test_switch_shows_the_picture_or_the_tables(view, three, qtbot):
    shown(view, qtbot)
    assert (view.picture.table.isVisible(), view.tables.pairs_table.isVisible()) == (True, False)
    view.show_switch.choose(TABLES)
    assert (view.picture.table.isVisible(), view.tables.pairs_table.isVisible()) == (False, True)
    view.show_switch.choose(PICTURE)
    assert view.figure().isVisible()


def test_only_the_shown_page_is_filled(view, three, qtbot):
    shown(view, qtbot)
    sheets = view.tables.runs_table.sheet, view.tables.pairs_table.sheet
    assert [view.picture.matrix.rowCount(), *(sheet.rowCount() for sheet in sheets)] == [3, 0, 0]
    view.show_switch.choose(TABLES)
    assert [sheet.rowCount() for sheet in sheets] == [3, 3]


def test_every_cell_of_the_matrix_shows_its_whole_difference(view, three, add, session, qtbot):
    add("d", 0.0101)
    table = view.picture.table
    for runs in (4, 3):
        shown(view, qtbot)
        assert table.model().rowCount() == runs
        assert all(table.columnWidth(k) >= table.sizeHintForColumn(k) for k in range(runs + 1))
        session.set_look(three["b"].id, "Hide", visible=False)


@pytest.mark.parametrize("percent", [100, 125])
def test_cells_of_the_matrix_show_small_p_values(view, three, qtbot, percent, apply_style):
    apply_style(percent=percent)
    shown(view, qtbot)
    found = view.shown.found
    pairs = [dataclasses.replace(pair, p_corrected=1e-5, difference=0.6) for pair in found.pairs]
    found = dataclasses.replace(found, pairs=pairs)
    view.picture.matrix.show_comparison(dataclasses.replace(view.shown, found=found))
    view.fit_page()
    table = view.picture.table
    assert all(table.columnWidth(k) >= table.sizeHintForColumn(k) for k in range(3))


def test_page_does_not_say_there_is_nothing_while_it_compares(view, add, qtbot, monkeypatch):
    empty, real, gate = view.hint.text(), compare_view.compare_checked, threading.Event()

    def slow(*asked):
        gate.wait(5)
        return real(*asked)

    monkeypatch.setattr(compare_view, "compare_checked", slow)
    add("a")
    qtbot.waitUntil(lambda: view.hint.text() != empty)
    assert view.hint.isVisible()
    gate.set()
    shown(view, qtbot)
    assert not view.hint.isVisible()


@pytest.mark.parametrize("percent", [100, 150])
def test_tables_show_whole_names_at_any_text_size(view, add, qtbot, percent, apply_style):
    names = ["Additive logistic regression (2)", "Kernel RankSVM, random Fourier features"]
    for name, weight in zip(names, (0.01, 1e4), strict=True):
        add(name, weight)
    apply_style(percent=percent)
    view.resize(560, 640)
    view.restyle()
    shown(view, qtbot)
    view.show_switch.choose(TABLES)
    QApplication.processEvents()
    for table, columns in ((view.tables.runs_table, (0,)), (view.tables.pairs_table, (0, 1))):
        for column in columns:
            assert table.columnWidth(column) >= QTableView.sizeHintForColumn(table, column)
    runs = view.tables.runs_table
    hidden = [k for k in range(runs.sheet.columnCount()) if runs.isColumnHidden(k)]
    assert hidden
    assert runs.hidden_button.isVisible()
    qtbot.mouseClick(runs.hidden_button, Qt.MouseButton.LeftButton)
    assert not any(map(runs.isColumnHidden, hidden))
    assert runs.columnWidth(0) >= QTableView.sizeHintForColumn(runs, 0)
    assert runs.horizontalScrollBar().maximum() > 0


@pytest.mark.parametrize("correction", CORRECTION_NAMES)
def test_correction_changes_only_the_corrected_p_values(
    view, three, qtbot, monkeypatch, correction
):
    view.show_switch.choose(TABLES)
    shown(view, qtbot)
    before = view.shown.found.pairs
    monkeypatch.setattr(compare_view, "compare_checked", None)  # nothing is tested again
    choose(view.correction_combo, correction)
    text = shown(view, qtbot)
    assert view.shown.found.pairs == comparison.corrected(before, correction)
    assert view.tables.pairs_table.isColumnHidden(5) == (correction == comparison.UNCORRECTED)
    assert not view.tables.pairs_table.isColumnHidden(4) or correction != comparison.UNCORRECTED
    said = {
        "holm": "Holm-corrected",
        "bonferroni": "Bonferroni-corrected",
        "none": "uncorrected.",
    }
    assert said[correction] in text


def test_runs_trained_for_another_range_are_marked(view, session, qtbot):
    for name, range_ in (("here", BAND), ("elsewhere", (0.0, 0.5))):
        record = make_record(session.table, "svm-pauc", {"fpr_range": range_})
        put(session, record, name)
    shown(view, qtbot)
    names = {row[0] for row in texts(tables(view).runs_table.sheet)}
    assert names == {"here", "elsewhere †"}
    assert view.footnote() == (
        "† Not trained for the FPR range shown, 0 … 0.1: elsewhere for 0 … 0.5"
    )
    session.set_band(0.0, 0.5)
    shown(view, qtbot)
    assert "here for 0 … 0.1" in view.footnote()


def test_unchecked_runs_are_removed(view, three, session, qtbot):
    shown(view, qtbot)
    session.set_look(three["b"].id, "Hide", visible=False)
    shown(view, qtbot)
    assert sorted(row[0] for row in texts(tables(view).runs_table.sheet)) == ["a", "c"]
    assert tables(view).pairs_table.sheet.rowCount() == 1
    view.show_switch.choose(PICTURE)
    session.set_look(three["a"].id, "Hide", visible=False)
    assert "Tick a second run" in shown(view, qtbot)
    assert not view.picture.table.isVisible()
    session.set_look(three["c"].id, "Hide", visible=False)
    assert shown(view, qtbot).startswith("No run is chosen")
    assert not view.save_tables.isEnabled()


def test_runs_on_different_splits_are_not_compared(view, add, qtbot):
    add("a")
    add("b", validation=Validation(seed=5))
    text = shown(view, qtbot)
    assert "cannot be compared: split differently" in text
    row = texts(tables(view).pairs_table.sheet)[0]
    assert row[2:6] == ["–"] * 4
    assert "seed 5" in row[6]


def test_comparable_runs_are_compared_and_others_named(view, add, session, qtbot):
    chosen, alike = add("a", 0.01), add("b", 1e4)
    add("c", 10.0, validation=Validation(seed=5))
    session.select(chosen.id)
    said = shown(view, qtbot)
    assert "cannot be compared" not in said
    assert "Not compared with c: split differently" in said
    assert "rerun one of them with the validation and groups of the other." in said
    session.compare_with(alike.id)
    assert "Not compared with c" in shown(view, qtbot)


def test_runs_that_cannot_be_compared_are_below_a_line(view, add, session, qtbot):
    other = Validation(seed=5)
    made = {name: add(name, weight) for name, weight in (("a", 1e4), ("b", 1e5))}
    made["c"] = add("c", 0.01, validation=other)
    shown(view, qtbot)
    forest = view.picture.forest
    assert {run.name for run in view.shown.found.runs[:2]} == {"a", "b"}
    assert view.shown.starts == (2,)
    line, words = forest.remarks
    heights = [y for _, y in points(forest.dots)]
    assert heights[1] < line.value() == words.pos().y() < heights[2]
    names = tick_texts(forest.plot.getAxis("left"))
    assert names[2] == "c"
    session.select(made["a"].id)
    shown(view, qtbot)
    box, x = forest.plot.getViewBox(), forest.dots.getData()[0][2]
    at = forest.plot.mapFromScene(box.mapViewToScene(QPointF(x, heights[2])))
    qtbot.mouseClick(forest.plot.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert session.selected == made["c"].id
    session.set_look(made["c"].id, "Hide", visible=False)
    shown(view, qtbot)
    assert not forest.remarks


def test_six_runs_need_no_scroll_bar(view, add, session, qtbot):
    made = [add(f"Gradient boosting ({k})", 10.0**k) for k in range(6)]
    view.resize(664, 640)
    for _ in range(2):
        shown(view, qtbot)
        QApplication.processEvents()
        for bar in (view.picture.table.verticalScrollBar, view.picture.table.horizontalScrollBar):
            assert bar().maximum() == 0
        session.set_looks([one.id for one in made[:4]], "Hide", visible=False)
        shown(view, qtbot)
        session.undo_stack.undo()


def test_runs_of_one_method_are_named_with_their_settings(view, add, qtbot):
    title = METHODS["auc-rls"].title
    add(title, 0.01)
    add(f"{title} (2)", 100.0)
    text = shown(view, qtbot)
    names = [row[0] for row in texts(tables(view).runs_table.sheet)]
    assert sorted(name.replace("\N{NO-BREAK SPACE}", " ") for name in names) == [
        f"{title} (2, λ = 100)",
        f"{title} (λ = 0.01)",
    ]
    assert all(name in text for name in names)


def test_runs_over_several_splits_are_compared(view, add, qtbot):
    scheme = Validation(repeats=3)
    records = [add("a", 0.01, scheme), add("b", 1e4, scheme)]
    assert "on these 3 splits" in shown(view, qtbot)
    named = dict(zip("ab", records, strict=True))
    names = [row[0] for row in texts(tables(view).runs_table.sheet)]
    assert view.shown.found.pairs == comparison.compare_runs([(n, named[n]) for n in names], BAND)


def test_clicking_a_table_row_selects_the_run(view, three, session, qtbot):
    shown(view, qtbot)
    view.show_switch.choose(TABLES)
    place = view.tables.runs_table.visualRect(view.tables.runs_table.sheet.index(0, 0)).center()
    qtbot.mouseClick(view.tables.runs_table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert session.selected == view.shown.runs[0].record.id


def test_run_unchecked_during_a_hidden_comparison_is_removed(
    view, three, session, qtbot, monkeypatch
):
    shown(view, qtbot)
    real, gate = compare_view.compare_checked, threading.Event()

    def slow(*asked):
        gate.wait(5)
        return real(*asked)

    monkeypatch.setattr(compare_view, "compare_checked", slow)
    session.set_band(0.0, 0.3)
    qtbot.waitUntil(view.busy)
    view.hide()
    session.set_look(view.shown.runs[0].record.id, "Hide", visible=False)
    gate.set()
    qtbot.waitUntil(lambda: not view.busy())
    view.show()
    shown(view, qtbot)
    assert len(view.shown.runs) == len(three) - 1


def test_runs_with_identical_scores_are_alike(view, add, session, qtbot):
    record = add(name="One")
    put(session, dataclasses.replace(record, id="again"), "Same")
    text = shown(view, qtbot)
    assert "rank these 40 rows identically. Both runs order every pair identically" in text
    assert "95 %" not in text
    (pair,) = view.shown.found.pairs
    assert pair.alike
    assert tables(view).pairs_table.sheet.rows[0].cells[3] == "–"
    assert tables(view).pairs_table.sheet.rows[0].cells[-1] == "alike"


def test_tables_are_copied_as_text(view, three, qtbot):
    shown(view, qtbot)
    view.findChild(QAction, "copy_tables").trigger()
    text = QGuiApplication.clipboard().text()
    rows = list(csv.DictReader(text.split("\n\n")[0].splitlines(), delimiter="\t"))
    assert float(rows[0]["AUC"]) == view.shown.found.runs[0].auc.value


@pytest.mark.parametrize(
    ("ending", "writer"),
    [("csv", tables_as_csv), ("md", markdown_blocks), ("tex", tables_as_latex)],
)
def test_tables_are_saved_in_every_format(
    view, three, qtbot, monkeypatch, tmp_path, ending, writer
):
    shown(view, qtbot)
    target = tmp_path / f"table.{ending}"
    monkeypatch.setattr(prompts, "ask_save_path", lambda *_: str(target))
    view.findChild(QAction, "save_tables").trigger()
    tables = comparison_tables(view.shown.found)
    assert target.read_text(encoding="utf-8").strip() == writer(tables).strip()
    latex = table_text(tmp_path / "a.booktabs.tex", view.shown.found)
    assert latex == tables_as_latex(tables, booktabs=True)


def test_failed_save_of_tables_is_reported(view, three, qtbot, monkeypatch, tmp_path):
    shown(view, qtbot)
    said = []
    view.session.failed.connect(lambda sentence, _trace: said.append(sentence))
    for path in (tmp_path / "table.docx", tmp_path / "nowhere" / "table.csv"):
        monkeypatch.setattr(prompts, "ask_save_path", lambda *_, path=path: str(path))
        view.save_tables.trigger()
    monkeypatch.setattr(prompts, "ask_save_path", lambda *_: None)
    view.save_tables.trigger()
    assert len(said) == 2
    assert "table.docx has another ending" in said[0]
    assert "cannot write" in said[1]


def test_pair_sentences():
    pair = PairComparison("AUC-RLS", "AUC-SVM", 0.004, -0.006, 0.014, 0.2, 0.41)
    assert pair_sentence(pair, "AUC", "these 143 rows") == Statement(
        "AUC-RLS and AUC-SVM do not differ significantly on these 143 rows.",
        "AUC difference 0.004, 95 % −0.006 to 0.014, p = 0.20, Holm-corrected p = 0.41.",
    )
    worse = PairComparison("a", "b", -0.05, -0.08, -0.02, 0.0001, 0.0002)
    assert pair_sentence(worse, "AUC", "these 9 rows") == Statement(
        "b ranks better than a on these 9 rows.",
        "AUC difference 0.050, 95 % 0.020–0.080, p < 0.001, Holm-corrected p < 0.001.",
    )
    untested = pair_sentence(PairComparison("a", "b", 0.5), "AUC", "these 3 rows")
    assert "too few" in untested.headline


def test_forecast_counts_the_positives_needed(add):
    record, splits = add("a"), add("b", validation=Validation(repeats=6))
    pair = PairComparison("a", "b", 0.02, -0.02, 0.06, 0.3, 0.3)
    here = int(record.splits[0].test_positive.sum())
    text = forecast_words(pair, record, 3)
    for place, forecast in enumerate((growth_if_as_measured, growth_to_significance), 1):
        exact = here * forecast(pair, 1, 3)
        count = int(text.split("about ")[place].split()[0].replace(",", ""))
        assert exact <= count < 1.1 * exact
    assert "80 %" in text
    assert f"rests on {here} held-out positives" in text
    split = splits.splits[0]
    whole = int(split.test_positive.sum() + split.train_positive.sum())
    forecast = forecast_words(pair, splits, 3)
    assert f"rests on {whole} positives in the table" in forecast
    assert forecast_words(pair, splits, 10**6) == (
        "6 splits are too few for one of 1000000 pairs to be significant: use more splits."
    )
    assert forecast_words(PairComparison("a", "b", 0.2, 0.1, 0.3, 0.01, 0.01), record, 1) == ""


def test_tally_counts_significant_pairs():
    pairs = [PairComparison("a", "b", 0.1, 0.0, 0.2, p) for p in (0.01, 0.02, 0.9)]
    assert tally_words(comparison.corrected(pairs)) == (
        "2 of 3 pairs differ after Holm's correction."
    )
    assert tally_words(comparison.corrected(pairs, comparison.BONFERRONI)) == (
        "1 of 3 pairs differ after Bonferroni's correction."
    )
    assert "one in 20 would differ by chance" in tally_words(
        comparison.corrected(pairs, comparison.UNCORRECTED)
    )
    assert tally_words(pairs[:1]) == ""
    silent = PairComparison("a", "b", 0.1, reason="only 2 negatives in the range")
    assert tally_words(comparison.corrected([*pairs, silent])) == (
        "2 of 3 pairs differ after Holm's correction; 1 not comparable."
    )
    said = pair_sentence(silent, "pAUC", "these 90 rows")
    assert "these 90 rows: only 2 negatives in the range." in said.headline
    assert not silent.significant


def test_unfinished_run_is_listed_last_with_its_splits(view, session, add, qtbot):
    whole = make_record(session.table, "auc-rls", {}, Validation("folds", folds=3))
    best = max(whole.splits, key=lambda split: roc.auc(split.test_positive, split.test_scores))
    plan = dataclasses.replace(whole.experiment, params={"regularization": 1.5})
    stopped = dataclasses.replace(whole, experiment=plan, splits=(best,), status="stopped", id="")
    put(session, whole, whole.experiment.title)
    put(session, stopped, f"{whole.experiment.title} (2)")
    shown(view, qtbot)
    first, last = (row[0] for row in texts(tables(view).runs_table.sheet))
    assert "1 of 3 splits" not in first
    assert "1 of 3 splits" in last
