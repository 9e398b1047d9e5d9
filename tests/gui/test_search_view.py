"""The Search page draws the tested settings and applies them to the form."""

import dataclasses
import itertools

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from aucstudio.gui.common.theme import DARK, LIGHT
from aucstudio.gui.pages.search.pictures import sequential
from aucstudio.gui.pages.search.results import (
    over_splits,
    searched_settings,
)
from aucstudio.gui.pages.search.search_view import SearchView
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.runner import LiveRun
from aucstudio.project.data.validation import Validation
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.runs.tuning import Search, Tuning
from tests.gui.conftest import (
    choose,
    make_record,
    painted_ticks,
    points,
    put,
    set_running_job,
    shown,
    tick_texts,
)

C_GRID = tuple(10.0**k for k in range(-2, 5))
C_CANDIDATES = tuple({"C": C} for C in C_GRID)
# Areas by fold, with known means and spreads: C = 10 leads, 100 is close behind.
C_AREAS = np.array([0.70, 0.74, 0.78, 0.84, 0.83, 0.80, 0.75])[:, None] + np.array(
    [-0.04, -0.02, 0.0, 0.02, 0.04]
)


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def view(session, open_view):
    return open_view(SearchView, session)


def searched(candidates, areas, metric="auc", problems=None):
    return Search(metric, tuple(candidates), np.asarray(areas, dtype=float), problems or {}, 1.0)


@pytest.fixture
def add(session):
    """Add a run with the given searches to the list; its fit is real but untuned."""
    base = make_record(session.table, "auc-svm")

    def add(*searches, method="auc-svm", params=None, name="Run", **changes):
        metric = searches[0].metric if searches else "auc"
        experiment = plan_experiment(
            DataReference.to_table(session.table),
            method,
            params or {},
            Validation(),
            (0.0, 0.2),
            Tuning(metric),
        )
        made = dataclasses.replace(
            base, id=experiment.id, experiment=experiment, searches=searches, **changes
        )
        return put(session, made, name)

    return add


def c_search(areas=C_AREAS, **changes):
    return searched(C_CANDIDATES, areas, **changes)


def product(**grids):
    return [dict(zip(grids, values, strict=True)) for values in itertools.product(*grids.values())]


def leaf_search(areas_of=lambda k: 0.5 + 0.01 * k):
    """Return a search over all combinations of two settings; areas rise with the candidate."""
    grid = product(min_samples_leaf=(20, 10, 5), max_depth=(3, 5))
    spread = np.array([-0.01, 0.01])
    return searched(grid, [areas_of(k) + spread for k in range(len(grid))])


def heads(view):
    return [head.rstrip(" ▾▴") for head in view.table.sheet.heads]


def cells(view, column):
    model = view.table.sheet
    k = heads(view).index(column)
    return [model.index(row, k).data() for row in range(model.rowCount())]


def scene_place(picture, x, y):
    return picture.plot.getViewBox().mapViewToScene(QPointF(x, y))


def click(qtbot, picture, x, y):
    QApplication.processEvents()  # the view range is updated on painting
    plot = picture.plot
    place = plot.mapFromScene(scene_place(picture, x, y))
    qtbot.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place.x(), place.y()))


# ----------------------------------------------------------------- one setting


@pytest.mark.slow
def test_line_shows_the_search_of_the_record(view, session, qtbot):
    experiment = plan_experiment(
        DataReference.to_table(session.table), "auc-svm", {}, Validation(), (0.0, 0.3), Tuning()
    )
    record = put(session, execute(experiment, session.table))
    (found,) = record.searches
    shown(view, qtbot)
    x = [np.log10(one["C"]) for one in found.candidates]
    picture = view.profile
    np.testing.assert_allclose(points(picture.line), np.column_stack([x, found.means]))
    np.testing.assert_allclose(points(picture.means), np.column_stack([x, found.means]))
    np.testing.assert_allclose(picture.spread.opts["top"], found.errors)
    folds = points(picture.folds)
    np.testing.assert_allclose(folds[:, 1], found.areas.ravel())
    np.testing.assert_allclose(folds[:, 0], np.repeat(x, found.areas.shape[1]))
    np.testing.assert_allclose(points(picture.best), [[x[found.best], found.means[found.best]]])
    assert picture.plot.isVisible()
    assert not view.heat.plot.isVisible()


def test_axes_show_label_symbol_measure_and_powers(view, add, qtbot):
    add(c_search(metric="pauc"))
    shown(view, qtbot)
    bottom, left = (view.profile.plot.getAxis(side) for side in ("bottom", "left"))
    assert bottom.labelText == "Cost C"
    assert left.labelText == "pAUC, FPR 0 … 0.2"
    assert tick_texts(bottom) == [
        "10⁻²",
        "10⁻¹",
        "10⁰",
        "10¹",
        "10²",
        "10³",
        "10⁴",
    ]


def test_sentence_names_the_best_setting_and_its_error(view, add, qtbot):
    add(c_search(), name="AUC-SVM, tuned")
    error = C_AREAS[3].std(ddof=1) / np.sqrt(5)
    near = sum(abs(row.mean() - 0.84) <= error for row in C_AREAS) - 1
    assert shown(view, qtbot) == (
        f"AUC-SVM, tuned: C = 10 ranks best in 5 folds (AUC: 0.840, standard error {error:.3f}). "
        f"{near} of the 6 others lies within one standard error of it."
    )


def test_best_setting_at_the_grid_edge_is_reported(view, add, qtbot):
    add(c_search(C_AREAS[::-1] + np.arange(7)[:, None]))
    assert "It lies on the edge of the grid: no C above 10000 was tested." in shown(view, qtbot)


def test_limit_of_a_setting_is_no_grid_edge(view, add, qtbot):
    grid = [{"l2_regularization": value} for value in (10.0, 1.0, 0.1, 0.0)]
    add(searched(grid, [[0.6], [0.7], [0.8], [0.9]]), method="gradient-boosting")
    text = shown(view, qtbot)
    assert "λ = 0 ranks best" in text
    assert "edge" not in text
    x = points(view.profile.means)[:, 0]
    assert x.tolist() == [1.0, 0.0, -1.0, -2.0]  # zero one step below the rest


@pytest.mark.slow
def test_ties_with_the_best_are_reported(view, add, qtbot):
    areas = C_AREAS.copy()
    areas[4] = areas[3]
    add(c_search(areas))
    text = shown(view, qtbot)
    assert "C = 10 ranks best" in text
    assert (
        "1 of the 6 others lies within one standard error of it, 1 of them level with it." in text
    )
    assert cells(view, "Rank")[:3] == ["1", "1", "3"]
    assert cells(view, "Remark")[:2] == ["best", "not significantly different from the best"]


def test_leave_pair_out_has_no_spread(view, add, qtbot):
    grid = [{"regularization": 2.0**k} for k in range(10, -21, -2)]
    add(searched(grid, np.linspace(0.9, 0.8, 16)[:, None], "leave-pair-out"), method="auc-rls")
    text = shown(view, qtbot)
    assert "λ = 1024 ranks best (leave-pair-out AUC: 0.900). It lies" in text
    assert heads(view) == ["Rank", "λ", "Area", "Remark"]
    assert view.profile.spread.opts["x"] is None
    low, high = view.profile.plot.getViewBox().viewRange()[1]
    assert low > 0.7
    assert high < 1.0


# ----------------------------------------------------------------- two settings and more


@pytest.mark.slow
def test_two_settings_are_drawn_as_a_heat_map(view, add, qtbot):
    found = leaf_search()
    add(found, method="auc-split")
    shown(view, qtbot)
    heat = view.heat
    assert heat.plot.isVisible()
    assert not view.profile.plot.isVisible()
    assert view.figure() is heat.plot
    # Across: 5, 10, 20 rows in a leaf; up: depth 3, 5.
    np.testing.assert_allclose(heat.values, found.means.reshape(3, 2)[::-1])
    assert heat.plot.getAxis("bottom").labelText == "Rows in a leaf"
    assert tick_texts(heat.plot.getAxis("bottom")) == ["5", "10", "20"]
    x, y = heat.best.getData()
    assert (x.min(), x.max(), y.min(), y.max()) == (-0.5, 0.5, 0.5, 1.5)
    np.testing.assert_array_equal(heat.cells.image, heat.values)
    assert heat.cells.getLevels().tolist() == [heat.values.min(), heat.values.max()]


def test_the_axes_can_be_exchanged(view, add, qtbot):
    found = leaf_search()
    add(found, method="auc-split")
    shown(view, qtbot)
    choose(view.along_combo, "max_depth")
    np.testing.assert_allclose(view.heat.values, found.means.reshape(3, 2)[::-1].T)
    assert view.heat.plot.getAxis("bottom").labelText == "Depth"
    assert view.heat.plot.getAxis("left").labelText == "Rows in a leaf"


def test_cells_that_were_not_tested_are_blank(view, add, qtbot):
    whole = leaf_search()
    areas = whole.areas.copy()
    areas[4:] = np.nan
    add(dataclasses.replace(whole, areas=areas), method="auc-split", status="stopped")
    assert "stopped after 8 of 12 fits" in shown(view, qtbot)
    assert np.isnan(view.heat.values[0]).all()
    assert np.isfinite(view.heat.values[1:]).all()
    assert "Blank: not tested" in view.heat.plot.frame.title.text


@pytest.mark.slow
def test_colour_scale_has_ticks_at_their_values(view, add, qtbot):
    add(leaf_search(), method="auc-split")
    shown(view, qtbot)
    ticks = painted_ticks(view.heat.plot.getAxis("right"))
    low, high = np.nanmin(view.heat.values), np.nanmax(view.heat.values)
    assert [text for _, text in ticks] == ["0.500", "0.512", "0.525", "0.538", "0.550"]
    for place, text in ticks:
        assert (place + 0.5) / 2 == pytest.approx((float(text) - low) / (high - low), abs=0.02)


def test_sampled_grid_shows_the_best_at_each_value(view, add, qtbot):
    grid = product(gamma=(0.25, 1.0, 4.0), regularization=(1.0, 4.0))[:-1]
    means = [0.7, 0.6, 0.8, 0.9, 0.5]
    add(searched(grid, [[m - 0.01, m + 0.01] for m in means]), method="auc-rls")
    shown(view, qtbot)
    assert view.profile.plot.isVisible()
    np.testing.assert_allclose(points(view.profile.line)[:, 1], [0.7, 0.9, 0.5])
    np.testing.assert_allclose(np.sort(points(view.profile.means)[:, 1]), np.sort(means))
    assert len(view.profile.spread.opts["x"]) == 3
    choose(view.along_combo, "regularization")
    np.testing.assert_allclose(points(view.profile.line)[:, 1], [0.8, 0.9])
    assert view.profile.plot.getAxis("bottom").labelText == "Regularisation λ"


def test_categorical_settings_are_drawn_without_a_line(view, add, qtbot):
    grid = product(class_weight=(None, "balanced"), C=(1.0, 10.0), gamma=(0.25, 1.0))
    add(searched(grid, np.linspace(0.6, 0.9, 8)[:, None]), method="svm")
    shown(view, qtbot)
    assert view.along_combo.currentData() == "C"  # numbers first
    choose(view.along_combo, "class_weight")
    places, texts = zip(*painted_ticks(view.profile.plot.getAxis("bottom")), strict=True)
    assert texts == ("none", "balanced")
    np.testing.assert_allclose(places, (0.0, 1.0), atol=0.01)
    assert view.profile.line.xData is None or not len(view.profile.line.xData)
    assert cells(view, "Class weights")[0] == "balanced"


# ----------------------------------------------------------------- several splits


def test_all_splits_show_the_average(view, add, qtbot):
    other = c_search(np.roll(C_AREAS, -1, axis=0))
    third = c_search(C_AREAS + 0.01)
    record = add(c_search(), other, third)
    text = shown(view, qtbot)
    assert [view.split_combo.itemText(k) for k in range(4)] == [
        "All splits",
        "Split 1",
        "Split 2",
        "Split 3",
    ]
    means = np.array([found.means for found in record.searches])
    np.testing.assert_allclose(points(view.profile.means)[:, 1], means.mean(axis=0))
    np.testing.assert_allclose(
        view.profile.spread.opts["top"], means.std(axis=0, ddof=1) / np.sqrt(3)
    )
    assert "C = 10 ranks best over 3 splits" in text
    assert "2 chose C = 10, 1 chose C = 1." in text
    by_setting = dict(zip(cells(view, "C"), cells(view, "Chosen"), strict=True))
    assert by_setting["10"] == "2 of 3"
    assert by_setting["1"] == "1 of 3"
    assert by_setting["100"] == "–"
    choose(view.split_combo, 1)
    np.testing.assert_allclose(points(view.profile.means)[:, 1], other.means)
    assert "C = 1 ranks best in 5 folds" in view.sentence.text()
    assert "Chosen" not in heads(view)


def test_unfinished_split_is_left_out_of_the_mean():
    partial = C_AREAS.copy()
    partial[3:, 4] = np.nan
    found = over_splits([c_search(), c_search(C_AREAS + 0.02), c_search(partial)])
    np.testing.assert_allclose(found.means, C_AREAS.mean(axis=1) + 0.01)


# ----------------------------------------------------------------- stopped, problems, empty


def test_stopped_search_reports_its_progress(view, add, qtbot):
    areas = C_AREAS.copy()
    areas[:, 2:] = np.nan
    areas[4:, 1] = np.nan
    record = add(c_search(areas), splits=(), status="stopped")
    text = shown(view, qtbot)
    assert text.startswith("Run: the search was stopped after 11 of 35 fits; C = 10 led on ")
    assert record.searches[0].leader == 3
    np.testing.assert_allclose(points(view.profile.means)[:, 1], np.nanmean(areas, axis=1))
    hollow = [item.brush().color().name() for item in view.profile.means.points()]
    assert set(hollow[:4]) != {LIGHT.card}
    assert set(hollow[4:]) == {LIGHT.card}
    assert cells(view, "Folds").count("2 of 5") == 4


@pytest.mark.slow
def test_failed_candidates_are_reported(view, add, qtbot):
    areas = C_AREAS.copy()
    areas[6] = np.nan
    add(c_search(areas, problems={6: "C is too large for this table"}))
    assert "1 of 7 candidates could not be tested: C is too large for this table." in shown(
        view, qtbot
    )
    assert cells(view, "Remark")[-1] == "C is too large for this table"
    assert cells(view, "Mean")[-1] == "–"
    view.table.selectRow(6)
    assert view.readout.text() == "C = 10000: C is too large for this table"
    mean = heads(view).index("Mean")
    view.table.sortByColumn(mean, Qt.SortOrder.AscendingOrder)
    assert cells(view, "Mean")[-1] == "–"  # last either way


def test_empty_states_show_the_next_step(view, add, session, qtbot):
    assert "press Tune" in shown(view, qtbot)
    untuned = make_record(session.table, "auc-svm")
    together = dataclasses.replace(untuned.experiment, members=("a", "b"))
    put(session, dataclasses.replace(untuned, id="both", experiment=together), "Both")
    assert shown(view, qtbot) == (
        "Both was made of finished runs: each of them can be tuned separately."
    )
    put(session, untuned, "AUC-SVM")
    assert shown(view, qtbot) == (
        "AUC-SVM was not tuned: press Tune in the method card to search its settings."
    )
    assert view.findChild(QLabel, "search_hint").isVisible()
    assert not view.use_button.isVisible()
    add(c_search(np.full((7, 5), np.nan)), splits=(), status="stopped", name="Early")
    assert "Early was stopped before any candidate was tested" in shown(view, qtbot)
    add(splits=(), status="failed", error="no settings could be searched: too few rows", name="Bad")
    assert shown(view, qtbot).endswith("No settings could be searched: too few rows.")
    session.study.table = None
    session.put_plan(dataclasses.replace(session.plan, looks={}))
    view.mark_stale()
    assert shown(view, qtbot).startswith("Open a table")


# ----------------------------------------------------------------- interaction


def test_selection_of_rows_and_points_is_in_sync(view, add, qtbot):
    add(c_search())
    shown(view, qtbot)
    assert view.chosen == 3
    assert view.table.currentIndex().row() == 0
    view.table.selectRow(view.table.sheet.shown.index(5))
    np.testing.assert_allclose(points(view.profile.ring), [[3.0, 0.80]])
    click(qtbot, view.profile, 0.0, 0.78)
    assert view.chosen == 2
    assert view.table.sheet.shown[view.table.currentIndex().row()] == 2
    assert view.readout.text().startswith(
        "0.780, standard error 0.014 with C = 1 (5 folds, rank 4 "
    )


def test_click_selects_a_heat_map_cell(view, add, qtbot):
    add(leaf_search(), method="auc-split")
    shown(view, qtbot)
    click(qtbot, view.heat, 2.2, 0.9)  # 20 rows, depth 5
    assert view.chosen == 1
    np.testing.assert_allclose(points(view.heat.ring), [[2.0, 1.0]])
    click(qtbot, view.heat, 2.6, 0.9)  # beside the cells
    assert view.chosen == 1


def test_hovering_shows_a_candidate(view, add, qtbot):
    add(c_search())
    shown(view, qtbot)
    QApplication.processEvents()
    scene = view.profile.plot.scene()
    scene.sigMouseMoved.emit(scene_place(view.profile, 3.02, 0.80))
    assert view.hover.text() == "0.800, standard error 0.014 with C = 1000 (5 folds, rank 3 of 7)"
    assert " with C = 10 (" in view.readout.text()  # the selected one stays
    scene.sigMouseMoved.emit(scene_place(view.profile, 3.5, 0.9))
    assert not view.hover.isVisible()
    scene.sigMouseMoved.emit(scene_place(view.profile, 3.02, 0.80))
    assert view.hover.isVisible()
    QApplication.sendEvent(view.profile.plot, QEvent(QEvent.Type.Leave))
    assert not view.hover.isVisible()


def test_sorting_a_column_keeps_the_selection(view, add, qtbot):
    add(c_search())
    shown(view, qtbot)
    view.table.selectRow(view.table.sheet.shown.index(6))
    header = view.table.horizontalHeader()
    column = heads(view).index("C")
    place = QPoint(header.sectionViewportPosition(column) + 8, header.height() // 2)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert sorted(cells(view, "C"), key=lambda text: view.table.sheet.shown) == cells(view, "C")
    assert view.table.sheet.shown in ([*range(7)], [*range(6, -1, -1)])
    assert view.chosen == 6
    assert view.table.sheet.shown[view.table.currentIndex().row()] == 6
    assert view.table.sheet.heads[column][-1] in "▾▴"


def test_settings_of_a_candidate_are_applied_with_undo(view, add, session, qtbot):
    add(c_search(), params={"kernel": "poly"})
    shown(view, qtbot)
    before = session.plan
    assert before.method != "auc-svm"
    view.table.selectRow(view.table.sheet.shown.index(5))
    qtbot.mouseClick(view.findChild(QPushButton, "use_candidate_button"), Qt.MouseButton.LeftButton)
    assert session.plan.method == "auc-svm"
    assert session.plan.params["auc-svm"]["C"] == 1000.0
    assert session.plan.params["auc-svm"]["kernel"] == "poly"
    session.undo_stack.undo()
    assert session.plan == before


# ----------------------------------------------------------------- live


def update_running_job(session, record, search, **changes):
    look = RunLook("Flying", 2)
    set_running_job(session, LiveRun(record.experiment, look, search=search, **changes))
    return session.live


def test_running_search_is_updated(view, add, session, qtbot):
    record = add(c_search())
    shown(view, qtbot)
    areas = np.full_like(C_AREAS, np.nan)
    areas[:3, 0] = C_AREAS[:3, 0]
    live = update_running_job(session, record, c_search(areas.copy()))
    assert view.sentence.text() == (
        "Flying is searching: 3 of 35 fits done; C = 1 leads so far (AUC: 0.740)."
    )
    np.testing.assert_allclose(points(view.profile.means)[:, 1], C_AREAS[:3, 0])
    assert view.follow_check.isVisible()
    drawn = view.standing
    live.search = c_search(areas.copy())
    set_running_job(session, session.live)
    assert view.standing is drawn  # no new result
    areas[:, 0], areas[:5, 1] = C_AREAS[:, 0], C_AREAS[:5, 1]
    live.search = c_search(areas.copy())
    set_running_job(session, session.live)
    np.testing.assert_allclose(points(view.profile.means)[:, 1], np.nanmean(areas, axis=1))
    assert "12 of 35 fits done; C = 10 leads so far" in view.sentence.text()
    live.stopping = True
    set_running_job(session, session.live)
    assert view.sentence.text().startswith("Flying is stopping: 12 of 35")
    set_running_job(session, None)
    np.testing.assert_allclose(points(view.profile.means)[:, 1], C_AREAS.mean(axis=1))
    assert not view.follow_check.isVisible()


@pytest.mark.parametrize("method", ["auc-svm", "auc-split"])
def test_search_without_results_shows_its_size(view, add, session, method):
    whole = c_search() if method == "auc-svm" else leaf_search()
    record = add(whole, method=method)
    update_running_job(
        session, record, dataclasses.replace(whole, areas=np.full_like(whole.areas, np.nan))
    )
    size = whole.areas.size
    assert view.sentence.text() == f"Flying is searching: 0 of {size} fits done."
    assert view.chosen is None
    assert not view.use_button.isEnabled()
    assert view.readout.text() == ""
    assert set(cells(view, "Mean")) == {"–"}
    areas = np.where(np.arange(size).reshape(whole.areas.shape) < 1, whole.areas, np.nan)
    session.live.search = dataclasses.replace(whole, areas=areas)
    set_running_job(session, session.live)
    assert view.chosen == 0
    (selected,) = view.table.selectionModel().selectedRows()
    assert view.table.sheet.shown[selected.row()] == 0


def test_sentence_says_which_settings_are_trained(view, add, session):
    update_running_job(session, add(c_search()), c_search(), split=1, splits=4)
    assert view.sentence.text().startswith("Flying: C = 10 ranks best in 5 folds")
    assert view.sentence.text().endswith("It trains with these now, split 2 of 4.")


def test_selected_run_can_be_kept_in_view(view, add, session, qtbot):
    record = add(c_search())
    update_running_job(session, record, c_search(C_AREAS[::-1]))
    np.testing.assert_allclose(points(view.profile.means)[:, 1], C_AREAS[::-1].mean(axis=1))
    view.follow_check.click()
    shown(view, qtbot)
    np.testing.assert_allclose(points(view.profile.means)[:, 1], C_AREAS.mean(axis=1))


def test_selection_is_kept_during_the_search(view, add, session):
    live = update_running_job(
        session, add(c_search()), c_search(np.where(np.arange(5) < 2, C_AREAS, np.nan))
    )
    view.table.selectRow(view.table.sheet.shown.index(6))
    live.search = c_search(np.where(np.arange(5) < 3, C_AREAS, np.nan))
    set_running_job(session, session.live)
    assert view.chosen == 6
    assert view.table.sheet.shown[view.table.currentIndex().row()] == 6


# ----------------------------------------------------------------- looks and figures


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_colour_scale_is_monotonic(theme):
    shades = sequential(theme).map(np.linspace(0, 1, 9), mode="qcolor")
    steps = np.diff([0.30 * c.redF() + 0.59 * c.greenF() + 0.11 * c.blueF() for c in shades])
    assert np.all(steps < 0) if theme is LIGHT else np.all(steps > 0)


def test_the_page_fits_a_narrow_window(view, add, qtbot):
    grid = product(
        class_weight=(None, "balanced"),
        learning_rate=(0.01, 0.1),
        max_iter=(30, 1000),
        max_leaf_nodes=(3, 63),
        min_samples_leaf=(50, 5),
        l2_regularization=(10.0, 0.0),
    )
    areas = np.linspace(0.6, 0.8, 64)[:, None] + np.array([-0.01, 0.01])
    found = searched(grid, areas, "pauc")
    add(found, found, method="gradient-boosting")
    view.let_controls_shrink()
    view.resize(640, 560)
    shown(view, qtbot)
    assert view.minimumSizeHint().width() <= 640
    assert view.width() == 640
    plot = view.profile.plot
    picture = plot.frame.sceneBoundingRect()
    assert picture.width() <= plot.width() + 1
    assert view.table.viewport().height() >= 3 * 26


def test_relative_widths_are_sorted_by_size():
    grid = [{"gamma": value} for value in ("scale*4", "scale/256", "scale", "scale/4", "scale*16")]
    (setting,) = searched_settings("auc-rls", grid)
    assert list(setting.values) == ["scale/256", "scale/4", "scale", "scale*4", "scale*16"]
    ticks = [(0.0, "÷256"), (1.0, "÷4"), (2.0, "scale"), (3.0, "×4"), (4.0, "×16")]
    assert setting.ticks() == ticks


def test_ticks_of_many_powers_are_decades():
    grid = [{"regularization": 2.0**k} for k in range(10, -21, -2)]
    (setting,) = searched_settings("auc-rls", grid)
    ticks = setting.ticks()
    assert [text for _, text in ticks] == ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰", "10²"]
    assert [place for place, _ in ticks] == [-6, -4, -2, 0, 2]
    assert setting.title == "Regularisation λ"
