"""The Scores page: densities of both classes, and a threshold whose errors are counted."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLabel, QPushButton

from aucstudio.gui.live import LiveRun
from aucstudio.gui.plan import RunLook
from aucstudio.gui.scores_view import ScoresView
from aucstudio.project.distribution import Distribution, bin_edges
from aucstudio.project.split import Validation
from aucstudio.project.watch import Look
from tests.gui.conftest import make_record, put, shown


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def view(session, open_view):
    return open_view(ScoresView, session)


@pytest.fixture
def add(session):
    def add(validation=None, name="Run", **changes):
        record = make_record(session.table, validation=validation)
        return put(session, dataclasses.replace(record, **changes), name)

    return add


def counted(view):
    """Read the confusion matrix off the window."""
    texts = [view.findChild(QLabel, f"count_{name}").text() for name in ("tp", "fn", "fp", "tn")]
    return [int(text.split()[1].replace(",", "")) for text in texts]


def brute_force(split, threshold):
    called = split.test_scores > threshold
    positive = split.test_positive
    return [
        int((called & positive).sum()),
        int((~called & positive).sum()),
        int((called & ~positive).sum()),
        int((~called & ~positive).sum()),
    ]


def test_curves_are_densities_over_common_bins(view, add, qtbot):
    split = add().splits[0]
    shown(view, qtbot)
    for item, of_class in zip(
        view.curves, (split.test_positive, ~split.test_positive), strict=True
    ):
        edges, heights = item.xData, item.yData
        counts = heights * np.diff(edges) * of_class.sum()
        expected, _ = np.histogram(split.test_scores[of_class], edges)
        np.testing.assert_allclose(counts, expected, atol=1e-9)
        assert (heights * np.diff(edges)).sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(view.curves[0].xData, view.curves[1].xData)


def test_own_threshold_counts_as_predict_does(view, add, qtbot):
    split = add(name="AUC-RLS").splits[0]
    text = shown(view, qtbot)
    tp, fn, fp, tn = brute_force(split, 0.0)
    assert counted(view) == [tp, fn, fp, tn]
    assert text.startswith(f"At its own threshold, 0, AUC-RLS misses {fn} of {tp + fn} yes")
    assert f"takes {fp} of {fp + tn} no for yes" in text
    assert view.findChild(QLabel, "rate_tpr").text() == f"{tp / (tp + fn):.3f}"
    assert view.findChild(QLabel, "rate_fpr").text() == f"{fp / (fp + tn):.3f}"
    assert view.findChild(QLabel, "rate_precision").text() == f"{tp / (tp + fp):.3f}"


def test_dragging_the_line_recounts(view, add, qtbot):
    split = add().splits[0]
    shown(view, qtbot)
    for threshold in (-0.7, 0.31, float(np.sort(split.test_scores)[20])):
        view.line.setValue(threshold)
        assert counted(view) == brute_force(split, threshold)
    assert view.findChild(QDoubleSpinBox, "threshold_box").value() == round(threshold, 4)


def test_threshold_beyond_all_scores(view, add, qtbot):
    split = add().splits[0]
    shown(view, qtbot)
    view.line.setValue(1e6)
    assert counted(view) == brute_force(split, 1e6)
    assert view.findChild(QLabel, "rate_precision").text() == "–"
    assert "precision" not in view.sentence.text()
    view.line.setValue(-1e6)
    assert counted(view) == brute_force(split, -1e6)


def test_spin_box_and_button_move_the_line(view, add, qtbot):
    split = add().splits[0]
    shown(view, qtbot)
    box = view.findChild(QDoubleSpinBox, "threshold_box")
    box.setValue(-0.25)
    assert view.line.value() == -0.25
    assert counted(view) == brute_force(split, -0.25)
    assert "At threshold −0.25 " in view.sentence.text()
    view.findChild(QPushButton, "own_threshold_button").click()
    assert view.line.value() == 0.0
    assert not view.own_button.isEnabled()


def test_threshold_stays_until_another_run_is_chosen(view, add, qtbot):
    first = add()
    shown(view, qtbot)
    view.set_threshold(0.5)
    view.mark_stale()
    shown(view, qtbot)
    assert view.line.value() == 0.5
    add(Validation(seed=1))
    shown(view, qtbot)
    assert view.line.value() == 0.0
    assert view.session.selected != first.id


@pytest.mark.parametrize("threshold", [-9.0, -1.0, 0.0, 0.123, 1.0, 9.0])
def test_wrong_parts_hold_the_area_beyond_the_threshold(threshold):
    rng = np.random.default_rng(3)
    positive = rng.random(300) < 0.4
    found = Distribution.of(positive, np.append(rng.normal(size=298) + positive[:298], [-1.0, 1.0]))
    below, above = found.wrong_parts(threshold)
    edges, (tall, low) = found.edges, found.heights
    share = np.clip((threshold - edges[:-1]) / np.diff(edges), 0, 1)
    masses = [float((np.diff(x) * y).sum()) for x, y in (below, above)]
    assert masses[0] == pytest.approx(float((tall * np.diff(edges) * share).sum()))
    assert masses[1] == pytest.approx(float((low * np.diff(edges) * (1 - share)).sum()))


def test_several_splits_are_offered(view, add, qtbot):
    record = add(Validation(repeats=3))
    shown(view, qtbot)
    combo = view.findChild(QComboBox, "scores_split_combo")
    assert combo.isVisible()
    assert combo.count() == 3
    combo.setCurrentIndex(2)
    shown(view, qtbot)
    assert counted(view) == brute_force(record.splits[2], 0.0)
    add()
    shown(view, qtbot)
    assert not combo.isVisible()


def test_class_names_are_those_of_the_data(view, add, qtbot):
    add()
    shown(view, qtbot)
    assert view.findChild(QLabel, "actual_positive").text() == "is yes"
    assert view.findChild(QLabel, "called_negative").text() == "called no"
    title = view.plot.getPlotItem().titleLabel.text
    assert "</span> yes" in title
    assert "</span> no" in title


def test_run_in_flight_shows_distributions_alone(view, add, session, qtbot):
    record = add()
    shown(view, qtbot)
    split = record.splits[0]
    scores = split.test_scores * 3 + 1
    look = Look(split.test_positive, scores, split.model.scorer)
    session.live = LiveRun(record.experiment, RunLook("Flying", 2), picture=look)
    session.live_changed.emit()
    heights, edges = np.histogram(scores[split.test_positive], bin_edges(scores), density=True)
    np.testing.assert_allclose(view.curves[0].yData, heights)
    np.testing.assert_array_equal(view.curves[0].xData, edges)
    assert not view.readout.isVisible()
    assert not view.line.isVisible()
    assert view.sentence.text().startswith("Flying is training")
    session.live = None
    session.live_changed.emit()
    assert counted(view) == brute_force(split, 0.0)
    assert view.line.isVisible()


def test_the_chosen_run_can_be_kept_in_view(view, add, session, qtbot):
    record = add()
    split = record.splits[0]
    look = Look(split.test_positive, split.test_scores * 9, split.model.scorer)
    session.live = LiveRun(record.experiment, RunLook("Flying", 2), picture=look)
    session.live_changed.emit()
    view.follow_check.click()
    shown(view, qtbot)
    assert view.readout.isVisible()
    assert view.curves[0].xData[-1] == pytest.approx(split.test_scores.max())


def test_empty_states_say_what_to_do(view, add, session, qtbot):
    assert "press Run" in shown(view, qtbot)
    assert not view.plot.isVisible()
    session.table = None
    view.mark_stale()
    assert shown(view, qtbot).startswith("Open a table")


def test_failed_run_says_why(view, add, qtbot):
    add(splits=(), status="failed", error="not enough memory")
    assert shown(view, qtbot) == "Run has no scores to show. not enough memory"


def test_bins_of_equal_and_of_spread_scores():
    assert np.isfinite(bin_edges(np.zeros(5))).all()
    assert np.all(np.diff(bin_edges(np.full(5, 1e9))) > 0)
    rng = np.random.default_rng(0)
    assert 21 <= len(bin_edges(rng.standard_cauchy(5_000))) <= 61


def test_another_theme_redraws(view, add, qtbot):
    add()
    shown(view, qtbot)
    view.retheme()
    assert "At its own threshold" in shown(view, qtbot)
