"""The Training page draws what was recorded, and says how the training ended."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox, QLabel

from aucstudio.engine import roc
from aucstudio.gui.live import LiveRun
from aucstudio.gui.plan import RunLook
from aucstudio.gui.training_view import TrainingView, power_words
from aucstudio.project.record import TrainingCurve
from aucstudio.project.split import Validation
from aucstudio.project.watch import Look
from tests.gui.conftest import make_record, put, shown


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def view(session, open_view):
    return open_view(TrainingView, session)


@pytest.fixture
def add(session):
    def add(method="logistic", validation=None, name="Run", **changes):
        record = make_record(session.table, method, validation=validation)
        return put(session, dataclasses.replace(record, **changes), name)

    return add


def start_live(session, record, points, picture=None):
    session.live = LiveRun(record.experiment, RunLook("Flying", 3), points=points, picture=picture)
    session.live_changed.emit()
    return session.live


def test_lines_are_the_recorded_curve(view, add, qtbot):
    record = add()
    shown(view, qtbot)
    curve = record.splits[0].curve
    (line,), (gap_line,) = view.lines, view.gap_lines
    np.testing.assert_array_equal(line.xData, curve.iteration)
    np.testing.assert_array_equal(line.yData, curve.objective)
    np.testing.assert_array_equal(gap_line.yData, curve.gap)
    _, log_gap = gap_line.getData()
    assert log_gap[0] == pytest.approx(np.log10(curve.gap[0]))


def test_seconds_instead_of_iterations(view, add, qtbot):
    record = add()
    view.findChild(QComboBox, "x_combo").setCurrentText("Seconds")
    shown(view, qtbot)
    np.testing.assert_array_equal(view.lines[0].xData, record.splits[0].curve.seconds)
    assert view.gap_plot.getAxis("bottom").labelText == "Seconds"


def test_every_split_has_a_line(view, add, qtbot):
    record = add(validation=Validation(repeats=3))
    text = shown(view, qtbot)
    assert len(view.lines) == len(view.gap_lines) == 3
    for line, split in zip(view.lines, record.splits, strict=True):
        np.testing.assert_array_equal(line.yData, split.curve.objective)
    assert text.startswith("Run, 3 fits: ")
    assert " a fit." in text


def test_sentence_tells_the_recorded_figures(view, add, qtbot):
    split = add().splits[0]
    text = shown(view, qtbot)
    assert f"{split.n_iter} iterations" in text
    relative = power_words(split.gap / split.objective)
    assert f"proven within {relative} of the optimum" in text
    assert "stopped early" not in text


def test_one_step_says_so(view, add, qtbot):
    add("auc-rls", name="AUC-RLS")
    text = shown(view, qtbot)
    assert text.startswith("AUC-RLS is solved in one step: objective ")
    assert text.endswith(" ms.")
    assert "certificate " in text
    assert view.lines == []
    assert not view.plot.isVisible()
    assert "One step" in view.findChild(QLabel, "training_hint").text()


def test_unseen_iterations_are_no_single_step(view, add, qtbot):
    record = add("svm")
    text = shown(view, qtbot)
    assert f"{record.splits[0].n_iter:,} iterations" in text
    assert "shows no steps on the way" in text


def test_stopped_early(view, add, qtbot):
    record = add()
    split = dataclasses.replace(record.splits[0], converged=False)
    put(view.session, dataclasses.replace(record, id="limit", splits=(split,)))
    assert "; stopped early: the certificate was not reached." in shown(view, qtbot)
    put(view.session, dataclasses.replace(record, id="hand", splits=(split,), status="stopped"))
    assert "; stopped early, by hand." in shown(view, qtbot)


def test_no_certificate_no_second_plot(view, add, qtbot):
    record = add()
    n = len(record.splits[0].curve.gap)
    curve = dataclasses.replace(record.splits[0].curve, gap=np.full(n, np.nan))
    split = dataclasses.replace(record.splits[0], curve=curve, gap=None)
    put(view.session, dataclasses.replace(record, id="bare", splits=(split,)))
    text = shown(view, qtbot)
    assert not view.gap_plot.isVisible()
    assert view.plot.getAxis("bottom").labelText == "Iteration"
    assert "proven" not in text


def test_zero_gap_is_left_out_of_the_logarithm(view, add, qtbot):
    record = add()
    curve = TrainingCurve(
        np.arange(1, 4), np.arange(3) / 10, np.array([3.0, 2.0, 1.0]), np.array([1.0, 0.1, 0.0])
    )
    split = dataclasses.replace(record.splits[0], curve=curve, gap=0.0, n_iter=3)
    put(view.session, dataclasses.replace(record, id="exact", splits=(split,)))
    assert "proven optimal" in shown(view, qtbot)
    np.testing.assert_array_equal(view.gap_lines[0].yData, [1.0, 0.1, np.nan])


def test_empty_states_say_what_to_do(view, session, qtbot):
    assert "press Run" in shown(view, qtbot)
    session.table = None
    view.mark_stale()
    assert shown(view, qtbot).startswith("Open a table")


def test_failed_run_says_why(view, add, qtbot):
    add(splits=(), status="failed", error="the kernel matrix is too large")
    assert shown(view, qtbot).endswith("the kernel matrix is too large")


def test_run_in_flight(view, add, session, qtbot):
    record = add()
    points = [(1, 0.01, 5.0, 2.0), (2, 0.02, 4.0, 0.5)]
    live = start_live(session, record, points)
    np.testing.assert_array_equal(view.lines[0].yData, [5.0, 4.0])
    assert view.sentence.text().startswith("Flying is training: iteration 2, objective 4.00")
    assert "proven within 12 % of the optimum" in view.sentence.text()
    live.points.append((3, 0.03, 3.5, 0.1))
    session.live_changed.emit()
    np.testing.assert_array_equal(view.lines[0].xData, [1, 2, 3])
    np.testing.assert_array_equal(view.gap_lines[0].yData, [2.0, 0.5, 0.1])
    session.live = None
    session.live_changed.emit()
    np.testing.assert_array_equal(view.lines[0].yData, record.splits[0].curve.objective)


def test_very_many_live_points_are_thinned_to_the_last(view, add, session):
    points = [(k, k / 100, 1.0 + 1 / k, np.nan) for k in range(1, 20_001)]
    start_live(session, add(), points)
    drawn = view.lines[0].xData
    assert len(drawn) <= 5_000
    assert drawn[0] == 1
    assert drawn[-1] == 20_000


def test_live_auc_is_kept_while_the_fit_is_the_same(view, add, session):
    record = add()
    split = record.splits[0]
    looks = [
        Look(split.test_positive, scores, split.model.scorer)
        for scores in (split.test_scores[::-1].copy(), split.test_scores)
    ]
    areas = [roc.auc(look.positive, look.scores) for look in looks]
    live = start_live(session, record, [(1, 0.01, 5.0, 2.0)], looks[0])
    session.live_changed.emit()
    live.points.append((2, 0.02, 4.0, 1.0))
    live.picture = looks[1]
    session.live_changed.emit()
    assert view.live_auc == [(1, areas[0]), (2, areas[1])]
    words = f"held-out AUC {areas[1]:.3f}, {areas[0]:.3f} at first"
    assert view.readout.text() == f"Flying: {words}"
    live.split, live.points, live.picture = 1, [(1, 0.01, 5.0, 2.0)], None
    session.live_changed.emit()
    assert view.live_auc == []


def test_the_chosen_run_can_be_kept_in_view(view, add, session, qtbot):
    record = add()
    start_live(session, record, [(1, 0.01, 5.0, 2.0), (2, 0.02, 4.0, 0.5)])
    assert view.follow_check.isVisible()
    view.follow_check.click()
    shown(view, qtbot)
    np.testing.assert_array_equal(view.lines[0].yData, record.splits[0].curve.objective)


def test_another_theme_redraws(view, add, qtbot):
    add()
    shown(view, qtbot)
    view.retheme()
    shown(view, qtbot)
    assert len(view.lines) == 1


def test_power_words():
    assert power_words(2e-7) == "2·10⁻⁷"
    assert power_words(0.0) == "0"
