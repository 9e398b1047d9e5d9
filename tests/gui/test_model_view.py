"""The pictures of a model, against the model's own arrays."""

import dataclasses
import itertools
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pyqtgraph import TextItem

from aucstudio.gui.common.plain_text import elided
from aucstudio.gui.pages.model import charts
from aucstudio.gui.pages.model.model_view import ModelView
from aucstudio.gui.pages.model.tree import place
from aucstudio.notices import text
from aucstudio.project.data.validation import Validation
from aucstudio.project.explain.effects import coefficients
from aucstudio.project.explain.importance import permutation_importance
from aucstudio.project.explain.trees import Node
from tests.gui.conftest import (
    choose,
    make_record,
    pick,
    points,
    put,
    refresh_and_wait,
    shown,
    tick_texts,
)

TWICE = Validation("holdout", test_size=0.5, repeats=2)


@pytest.fixture
def view(table_session, open_view):
    return open_view(ModelView, table_session, (728, 640))


def offered(view):
    return [view.picture_combo.itemData(k) for k in range(view.picture_combo.count())]


def choose_picture(qtbot, view, key):
    """Choose a picture as a user does."""
    pick(view.picture_combo, key)
    qtbot.waitUntil(lambda: not view.busy())
    return view.part


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "params", "pictures"),
    [
        ("auc-rls", {}, ["coefficients", "importance", "row"]),
        ("svm", {"kernel": "rbf"}, ["importance", "curves", "row"]),
        ("pauc-boost", {}, ["importance", "curves", "row"]),
        ("auc-split", {}, ["importance", "curves", "tree", "row"]),
        ("gradient-boosting", {}, ["importance", "curves", "use", "tree", "row"]),
        ("auc-ensemble", {"library": "few"}, ["members", "importance", "curves", "row"]),
    ],
)
def test_only_applicable_pictures_are_offered(qtbot, table_session, view, method, params, pictures):
    put(table_session, make_record(table_session.table, method, params))
    table_session.point_at(row=3)
    refresh_and_wait(qtbot, view)
    assert offered(view) == pictures
    for key in pictures:
        part = choose_picture(qtbot, view, key)
        assert part is view.part
        assert part.isVisible()
        assert view.figure() is part.plot
        assert view.sentence.text()
        lengths = {len(column) for column in view.figure_data().values()}
        assert len(lengths) == 1
        assert lengths.pop() > 0


def test_weights_are_means_over_splits_with_each_split(qtbot, table_session, view):
    record = put(table_session, make_record(table_session.table, validation=TWICE))
    refresh_and_wait(qtbot, view)
    chart = view.part.chart
    for k, (place_, row) in enumerate(zip(points(chart.dots), chart.rows, strict=True)):
        own = [
            split.coef[split.model.preparation.feature_names.index(row.name)]
            for split in record.splits
        ]
        assert place_[0] == row.value == pytest.approx(np.mean(own))
        assert chart.rows.splits[:, k].tolist() == own
    sizes = [abs(row.value) for row in chart.rows]
    assert sizes == sorted(sizes, reverse=True)
    assert chart.rows[0].name in view.sentence.text()
    assert tick_texts(chart.plot.getAxis("left")) == [row.name for row in chart.rows]
    data = view.figure_data()
    k = next(i for i, name in enumerate(data["feature"]) if name == "x0")
    scale = np.mean([split.model.preparation.scales[0] for split in record.splits])
    assert data["weight_per_unit"][k] == pytest.approx(record.splits[0].coef[0] / scale)
    found = coefficients(record.splits)
    column, (count, share) = next(iter(found.of_columns.items()))
    words = text("model_weights_column", column=column, count=count, share=100 * share)
    assert words in view.sentence.text()
    tips = [row.tip for row in chart.rows if row.name.startswith(f"{column} = ")]
    assert len(tips) == count
    assert all(words in tip for tip in tips)


@pytest.mark.slow
def test_importance_matches_the_project_layer(qtbot, table_session, view):
    record = put(table_session, make_record(table_session.table, validation=TWICE))
    refresh_and_wait(qtbot, view)
    part = choose_picture(qtbot, view, "importance")
    band = table_session.plan.band
    expected = permutation_importance(record, table_session.table, band)
    for measure in ("auc", "pauc"):
        choose(part.measure_combo, measure)
        value, low, high = expected.summary(measure)
        for row in part.chart.rows:
            c = expected.columns.index(row.name)
            assert_allclose([row.value, row.low, row.high], [value[c], low[c], high[c]])
        best = expected.columns[int(value.argmax())]
        assert view.sentence.text().startswith(best)
    data = view.figure_data()
    assert_allclose(data["auc_loss"], expected.drops[..., 0].ravel())
    assert not part.stop_button.isVisible()


@pytest.mark.slow
def test_sentence_says_if_no_column_matters_significantly(qtbot, table_session, view):
    put(table_session, make_record(table_session.table))
    refresh_and_wait(qtbot, view)
    part = choose_picture(qtbot, view, "importance")
    noise = np.zeros_like(part.found.drops)
    noise[:, 0::2], noise[:, 1::2] = 0.2, -0.1
    wide, narrow = np.full_like(noise[0], 0.4), np.full_like(noise[0], 0.01)
    part.found = dataclasses.replace(part.found, drops=noise, reach=wide)
    part.redraw()
    first = part.chart.rows[0]
    assert first.low < 0 < first.value
    assert "not significantly" in view.sentence.text()
    # A loss that is below 0 in every permutation is not above 0 either.
    noise[:, :, 1:] += 0.5
    noise[:, :, 0] = np.array([-0.02, -0.03] * (noise.shape[1] // 2))[:, None]
    part.found = dataclasses.replace(part.found, drops=noise, reach=narrow)
    part.redraw()
    assert all(row.high < 0 or row.low > 0 for row in part.chart.rows)
    assert "loss of 1 of" in view.sentence.text()
    losses = dataclasses.replace(part.found, drops=np.full_like(noise, -0.1))
    part.found = losses
    part.redraw()
    assert "No column matters" in view.sentence.text()
    part.repeats_box.setValue(40)  # more are being shuffled, which may change the order
    part.found = losses
    part.redraw()
    assert view.sentence.text().startswith(text("model_importance_few"))
    part.found = dataclasses.replace(part.found, drops=noise, reach=narrow)
    part.redraw()
    assert "over rows" in part.plot.getAxis("bottom").labelText


@pytest.mark.slow
def test_importance_is_recomputed_for_other_settings(qtbot, table_session, view):
    record = put(table_session, make_record(table_session.table))
    table_session.set_band(0.0, 0.3)
    refresh_and_wait(qtbot, view)
    part = choose_picture(qtbot, view, "importance")
    assert part.measure_combo.currentData() == "pauc"
    choose(part.measure_combo, "auc")
    table_session.set_band(0.2, 0.9)
    view.refresh()
    assert part.found is None
    assert not part.data()
    assert "Shuffling" in view.sentence.text()
    refresh_and_wait(qtbot, view)
    assert part.measure_combo.currentData() == "auc"  # the user's choice is kept
    choose(part.measure_combo, "pauc")
    expected = permutation_importance(record, table_session.table, (0.2, 0.9)).summary("pauc")[0]
    assert_allclose(sorted(row.value for row in part.chart.rows), sorted(expected))
    assert "0.2 … 0.9" in part.plot.getAxis("bottom").labelText
    part.repeats_box.setValue(3)
    assert part.found is None
    qtbot.waitUntil(lambda: not view.busy() and part.found is not None)
    assert part.found.repeats == 3


@pytest.mark.slow
def test_stopped_importance_is_partial_and_can_be_resumed(qtbot, table_session, view):
    put(table_session, make_record(table_session.table, "auc-split", validation=TWICE))
    refresh_and_wait(qtbot, view)
    part = choose_picture(qtbot, view, "importance")
    whole = part.found
    part.repeats_box.setValue(200)
    qtbot.waitUntil(lambda: part.stop_button.isVisible() and part.bar_done.value() > 0)
    part.stop_button.click()
    qtbot.waitUntil(lambda: not view.busy())
    assert part.found is not None
    assert not part.found.complete
    assert_allclose(part.found.drops[0, 0], whole.drops[0, 0])
    assert "Stopped" in view.sentence.text()
    assert part.again_button.isVisible()
    part.repeats_box.setValue(10)
    qtbot.waitUntil(lambda: not view.busy())
    assert part.found is whole
    assert not part.again_button.isVisible()


@pytest.mark.slow
def test_importance_appears_column_by_column_and_goes_on_after_another_run(
    qtbot, table_session, view, monkeypatch
):
    go, starts = threading.Event(), []

    def waiting(*data, listen, report, known, **options):
        def wait(sofar):
            report(sofar)
            while not (go.is_set() or listen(0.5)):
                go.wait(0.01)

        starts.append(known)
        return permutation_importance(*data, listen=listen, report=wait, known=known, **options)

    monkeypatch.setattr(charts, "permutation_importance", waiting)
    record = put(table_session, make_record(table_session.table), "One")
    refresh_and_wait(qtbot, view)
    pick(view.picture_combo, "importance")
    part = view.part
    qtbot.waitUntil(lambda: part.found is not None)
    assert len(part.chart.rows) == 1
    assert "so far" in view.sentence.text()
    assert part.stop_button.isVisible()
    assert not part.again_button.isVisible()
    other = dataclasses.replace(record, id="other")
    put(table_session, other, "Other")
    qtbot.waitUntil(lambda: len(starts) == 2)
    table_session.select(record.id)
    qtbot.waitUntil(lambda: len(starts) == 3)
    go.set()
    qtbot.waitUntil(lambda: not view.busy() and part.found is not None and part.found.complete)
    assert [known is None for known in starts] == [True, True, False]
    assert np.isfinite(starts[-1].drops[0, 0, 0]).all()
    assert "so far" not in view.sentence.text()
    done = part.found
    table_session.select("other")
    qtbot.waitUntil(lambda: not view.busy() and part.found is not done and part.found.complete)
    table_session.select(record.id)
    qtbot.waitUntil(lambda: part.found is done)
    assert len(starts) == 4


@pytest.mark.slow
@pytest.mark.qt_log_ignore("raise", "grabbing", "propagateSizeHints")
def test_menu_of_a_column_ignores_it_and_runs_again(qtbot, table_session, view):
    asked = []
    table_session.asked.connect(lambda what, _about: asked.append(what))
    record = put(table_session, make_record(table_session.table, "auc-split"))
    refresh_and_wait(qtbot, view)
    part = choose_picture(qtbot, view, "importance")
    name = part.chart.rows[1].name
    place = part.plot.place_of(0.0, 1.0).toPoint()

    def pick(action):
        menu = view.show_menu(part.plot, part.plot.mapToGlobal(place))
        next(one for one in menu.actions() if one.objectName() == action).trigger()
        menu.close()

    pick("model_ignore_action")
    assert table_session.table.column(name).role == "ignore"
    assert asked == []
    table_session.undo_stack.undo()
    pick("model_ignore_run_action")
    assert table_session.table.column(name).role == "ignore"
    assert table_session.plan.method == record.experiment.method
    assert asked == ["run"]


@pytest.mark.slow
def test_score_curves_follow_the_selected_split(qtbot, table_session, view):
    record = put(table_session, make_record(table_session.table, "pauc-boost", validation=TWICE))
    refresh_and_wait(qtbot, view)
    part = choose_picture(qtbot, view, "curves")
    spans = part.found.spans
    assert part.found.column == max(spans, key=spans.get)
    assert part.column_combo.itemData(0) == part.found.column
    choose(part.column_combo, "x1")
    qtbot.waitUntil(lambda: not view.busy())
    assert part.found.column == "x1"
    for curve, split in zip(part.found.curves, record.splits, strict=True):
        learnt = split.model.preparation
        u = (curve.x - learnt.means[1]) / learnt.scales[1]
        term = split.model.scorer.component(1, u)
        assert_allclose(curve.y, term - term.mean(), atol=1e-9)
    assert view.split_combo.isVisible()
    view.split_combo.setCurrentIndex(1)
    shown(view, qtbot)
    assert table_session.focus.split == 1
    assert view.split_combo.currentIndex() == 1


def test_levels_are_ranked_rows(qtbot, table_session, view):
    put(table_session, make_record(table_session.table, "pauc-boost", validation=TWICE))
    refresh_and_wait(qtbot, view)
    part = choose_picture(qtbot, view, "curves")
    choose(part.column_combo, "town")
    qtbot.waitUntil(lambda: not view.busy())
    own, rows = part.found.curves[0], part.chart.rows
    assert dict(zip(rows.names, rows.value, strict=True)) == dict(
        zip(own.levels, own.y, strict=True)
    )
    assert list(rows.value) == sorted(rows.value, reverse=True)
    assert len(rows.splits) == 2
    assert view.figure() is part.chart.plot
    choose(part.column_combo, "x1")
    qtbot.waitUntil(lambda: not view.busy())
    assert view.figure() is part.plot


def test_tree_counts_the_rows_of_each_leaf(qtbot, table_session, view):
    record = put(table_session, make_record(table_session.table, "auc-split"))
    refresh_and_wait(qtbot, view)
    part = choose_picture(qtbot, view, "tree")
    split = record.splits[0]
    leaves = [p for p in part.placed.walk() if not p.children]
    assert sum(p.node.positives for p in leaves) == split.train_positive.sum()
    assert sum(p.node.negatives for p in leaves) == (~split.train_positive).sum()
    assert sorted(p.y for p in leaves) == list(range(len(leaves)))
    part.levels_box.setValue(1)
    assert len(list(part.placed.walk())) == 3
    assert "1 of" in view.sentence.text()
    assert part.found.condition in view.sentence.text()


@pytest.mark.slow
@pytest.mark.parametrize("percent", [100, 200])
def test_nodes_of_a_tree_do_not_overlap(qtbot, table_session, view, percent, apply_style):
    forest = {"n_trees": 5, "min_samples_leaf": 1}
    put(table_session, make_record(table_session.table, "random-forest", forest))
    apply_style(percent=percent)
    view.resize(1200, 420)
    view.restyle()
    refresh_and_wait(qtbot, view)
    part = choose_picture(qtbot, view, "tree")
    qtbot.waitUntil(lambda: part.placed is not None)
    part.plot.grab()
    nodes = [item for item in part.plot.items() if isinstance(item, TextItem)]
    boxes = [item.mapRectToScene(item.boundingRect()) for item in nodes]
    for one, other in itertools.combinations(boxes, 2):
        assert one.intersected(other).height() <= 4


def test_tree_of_an_ensemble_can_be_chosen(qtbot, table_session, view):
    record = put(table_session, make_record(table_session.table, "gradient-boosting"))
    refresh_and_wait(qtbot, view)
    part = choose_picture(qtbot, view, "tree")
    scorer = record.splits[0].model.scorer
    assert part.tree_box.maximum() == len(scorer.roots)
    part.tree_box.setValue(3)
    qtbot.waitUntil(lambda: not view.busy())
    assert part.found.index == scorer.roots[2]


def test_run_without_its_table_asks_to_open_it(qtbot, table_session, view):
    put(table_session, make_record(table_session.table, "auc-split"))
    table_session.study.table = None
    refresh_and_wait(qtbot, view)
    for key in offered(view):
        choose_picture(qtbot, view, key)
        assert "Open the table" in view.sentence.text()
    assert not view.row_part.row_box.isEnabled()


def test_parent_node_is_centred_above_its_children():
    leaf = Node(1, 1, 1, 1, 0.0, "", False, 1)
    root = Node(0, 0, 2, 2, np.nan, "a ≤ 1", False, 2, leaf, dataclasses.replace(leaf, index=2))
    placed = place(root, 5)
    assert [child.y for child in placed.children] == [0, 1]
    assert placed.y == 0.5
    assert place(root, 0).folded


def test_long_names_keep_both_ends():
    assert elided("short", 10, len) == "short"
    cut = elided("a_very_long_column_name", 11, len)
    assert len(cut) <= 11
    assert cut.startswith("a_ver")
    assert cut.endswith("name")


@pytest.mark.slow
def test_members_are_listed_with_their_weights(qtbot, table_session, view):
    record = make_record(table_session.table, "auc-ensemble", {"library": "few"}, TWICE)
    put(table_session, record)
    refresh_and_wait(qtbot, view)
    part = choose_picture(qtbot, view, "members")
    members = [{m.title: m for m in split.model.scorer.members} for split in record.splits]
    assert len(members) == 2
    for k, row in enumerate(part.chart.rows):
        weights = [100 * found[row.name].weight for found in members]
        assert row.value == pytest.approx(np.mean(weights))
        assert part.chart.rows.splits[:, k].tolist() == weights
    assert [row.value for row in part.chart.rows] == sorted(
        (row.value for row in part.chart.rows), reverse=True
    )
    assert part.chart.rows[0].name in view.sentence.text()
    assert sum(part.data()["weight"]) == pytest.approx(2.0)
