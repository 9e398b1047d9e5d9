"""The Training page draws the recorded curve and reports how the training ended."""

import dataclasses
import warnings

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QLabel

from aucstudio.engine import roc
from aucstudio.engine.monitor import Step
from aucstudio.gui.common.plots.legend import Legend
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.training.training_view import TrainingView
from aucstudio.gui.pages.training.words import step_words
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.runner import LiveRun
from aucstudio.notices import text
from aucstudio.notices.words import power_words
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.summary import auc_summary, train_auc
from aucstudio.project.runs.progress import Look, Progress
from aucstudio.project.runs.record import ScoresDuringTraining, Stage, TrainingCurve
from tests.gui.conftest import choose, make_record, put, set_running_job, shown


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def view(session, open_view):
    return open_view(TrainingView, session)


@pytest.fixture
def add(session):
    def add(method="logistic", validation=None, name="Run", params=None, **changes):
        record = make_record(session.table, method, params, validation=validation)
        return put(session, dataclasses.replace(record, **changes), name)

    return add


def start_live(session, record, points, looks=()):
    live = LiveRun(record.experiment, RunLook("Flying", 3), points=points)
    for look in looks:
        live.looks.add(look)
    set_running_job(session, live)
    return live


def main_lines(lines):
    return [line for line in lines.drawn if line.is_main]


def steps(view, *, live=False):
    return main_lines(view.plots_.upper_lines[live])


def areas(view, *, live=False):
    return main_lines(view.plots_.lower_lines[live])


def companions(lines):
    return [line for line in lines.drawn if not line.is_main]


def show_objective(view):
    choose(view.upper_combo, "objective")


def look_at(split, scores, iteration):
    rows = slice(0, 40)
    return Look(
        split.test_positive,
        scores,
        split.model.scorer,
        iteration,
        iteration / 100,
        split.train_positive[rows],
        split.train_scores[rows],
    )


def test_line_matches_the_recorded_curve(view, add, qtbot):
    record = add()
    show_objective(view)
    shown(view, qtbot)
    curve = record.splits[0].curve
    (line,) = steps(view)
    np.testing.assert_array_equal(line.x, curve.iteration)
    np.testing.assert_array_equal(line.y, curve.objective)
    assert companions(view.plots_.upper_lines[0]) == []


def test_gap_is_the_remaining_improvement_as_a_share_of_the_objective(view, add, qtbot):
    curve = add().splits[0].curve
    shown(view, qtbot)
    (line,) = steps(view)
    share = curve.gap / abs(curve.objective)
    proven = share > np.finfo(float).eps
    np.testing.assert_array_equal(line.y, np.where(proven, share, np.nan))
    item = view.plots_.upper_lines[0].items[0]
    assert item.getData()[1][0] == pytest.approx(np.log10(share[0]))
    assert view.plots_.upper.getAxis("left").labelText == "Relative gap to optimum"
    # One line per run: only the dash distinguishes runs.
    assert companions(view.plots_.upper_lines[0]) == []
    held, train = areas(view)[0], companions(view.plots_.lower_lines[0])[0]
    assert held.pen.style() == train.pen.style()
    assert held.pen.width() > train.pen.width()


def test_run_without_proof_is_not_called_converged(view, add, qtbot):
    add("rankboost", name="Boosted")
    assert shown(view, qtbot).startswith("Boosted was trained to the end")
    record = add(name="Line")
    made_of = dataclasses.replace(record.experiment, members=("a", "b"))
    split = dataclasses.replace(record.splits[0], gap=None, n_iter=2, trajectory=None)
    put(
        view.session,
        dataclasses.replace(record, id="both", experiment=made_of, splits=(split,)),
        "Both",
    )
    assert "Both was made of finished runs; nothing was trained" in shown(view, qtbot)


def test_headline_reports_convergence_and_overfitting(view, add, qtbot):
    record = add(name="Calm")
    text = shown(view, qtbot)
    assert text.startswith(
        "Calm has converged; AUC 0.909 held-out (95 % 0.682–0.981), 0.897 training, "
        "not significantly different"
    )
    (split,) = record.splits
    split = dataclasses.replace(
        split, train_scores=split.train_positive.astype(float), converged=False
    )
    put(view.session, dataclasses.replace(record, id="heart", splits=(split,)), "Eager")
    text = shown(view, qtbot)
    assert "Eager did not converge; AUC 0.909 held-out" in text
    assert "1.000 training: 0.091 higher" in text
    assert "overfits" not in text


def of_overlapping_classes(positive, share):
    """Return scores by which a share of the positives is above all negatives."""
    places = np.flatnonzero(positive)
    scores = np.zeros(len(positive))
    scores[places[: round(share * len(places))]] = 1.0
    return scores


@pytest.mark.parametrize(
    ("method", "train_share", "overfits"),
    [("logistic", 0.6, False), ("logistic", 1.0, True), ("random-forest", 1.0, False)],
)
def test_only_a_clear_excess_on_training_rows_is_called_overfitting(
    view, add, qtbot, method, train_share, overfits
):
    """The AUC is 1/2 + share/2; a forest ranks its own rows well however it does on others."""
    record = add(method)
    (split,) = record.splits
    split = dataclasses.replace(
        split,
        train_scores=of_overlapping_classes(split.train_positive, train_share),
        test_scores=of_overlapping_classes(split.test_positive, 0.3),
    )
    changed = dataclasses.replace(record, id="changed", splits=(split,))
    put(view.session, changed, "Changed")
    text = shown(view, qtbot)
    high = auc_summary(changed).high
    assert f"{train_auc(changed):.3f} training: " in text
    assert train_auc(changed) > high
    assert ("overfits" in text) == overfits


def test_axis_can_show_seconds(view, add, qtbot):
    record = add()
    choose(view.x_combo, "seconds")
    shown(view, qtbot)
    split = record.splits[0]
    np.testing.assert_array_equal(steps(view)[0].x, split.curve.seconds)
    np.testing.assert_array_equal(areas(view)[0].x, split.trajectory.seconds)
    assert view.plots_.lower.getAxis("bottom").labelText == "Seconds"


def test_areas_match_the_stored_scores(view, session, add, qtbot):
    split = add("auc-svm").splits[0]
    shown(view, qtbot)
    (held,), (train,) = areas(view), companions(view.plots_.lower_lines[0])
    assert held.y[-1] == pytest.approx(roc.auc(split.test_positive, split.test_scores))
    assert train.y[-1] == pytest.approx(roc.auc(split.train_positive, split.train_scores))
    np.testing.assert_array_equal(held.x, split.trajectory.iteration)
    looks = split.trajectory.held
    expected = [roc.auc(looks.positive, scores) for scores in looks.scores]
    np.testing.assert_allclose(held.y, expected, atol=1e-6)


def test_partial_areas_follow_the_fpr_range(view, session, add, qtbot):
    add("auc-svm")
    choose(view.lower_combo, "pauc")
    for band in ((0.0, 0.1), (0.0, 0.5)):
        session.set_band(*band)
        qtbot.waitUntil(lambda: not session.is_band_moving)
        text = shown(view, qtbot)
        looks = session.run(session.selected).record.splits[0].trajectory.held
        expected = [roc.partial_auc(looks.positive, s, *band).normalized for s in looks.scores]
        np.testing.assert_allclose(areas(view)[0].y, expected, atol=1e-2)
        assert f"pAUC at FPR 0 … {band[1]:g}" in text


def test_every_split_has_a_line_and_one_is_emphasised(view, session, add, qtbot):
    record = add(validation=Validation(repeats=3))
    show_objective(view)
    text = shown(view, qtbot)
    assert [line.is_strong for line in steps(view)] == [True, False, False]
    for line, split in zip(steps(view), record.splits, strict=True):
        np.testing.assert_array_equal(line.y, split.curve.objective)
    assert len(areas(view)) == 3
    assert len(companions(view.plots_.lower_lines[0])) == 1
    assert text.startswith("Run has converged; AUC ")
    assert "Run, 3 fits: " in text
    assert " a fit." in text
    assert "Split 1: held-out AUC ends at " in text
    session.point_at(split=2)
    assert "Split 3: " in shown(view, qtbot)
    assert [line.is_strong for line in steps(view)] == [False, False, True]


def test_single_split_follows_the_focus(view, session, add, qtbot):
    record = add(validation=Validation(repeats=3))
    show_objective(view)
    shown(view, qtbot)
    choose(view.split_combo, 1)
    shown(view, qtbot)
    assert session.focus.split == 1
    np.testing.assert_array_equal(steps(view)[0].y, record.splits[1].curve.objective)
    assert len(steps(view)) == len(areas(view)) == 1
    session.point_at(split=2)
    shown(view, qtbot)
    assert view.split_combo.currentText() == "3 of 3"


def test_checked_runs_are_overlaid(view, session, add, qtbot):
    first, second = add("auc-svm", name="A"), add("rank-svm", name="B")
    shown(view, qtbot)
    view.grab()  # the ranges are updated on painting
    assert not any(plot.is_zoomed() or plot.reset_button.isVisible() for plot in view.plots())
    assert [line.course.run for line in steps(view)] == [first.id, second.id]
    session.set_look(first.id, "Hide", visible=False)
    shown(view, qtbot)
    assert [line.course.run for line in steps(view)] == [second.id]
    session.select(first.id)
    assert shown(view, qtbot).startswith("A has converged; ")
    assert [line.course.run for line in steps(view)] == [second.id, first.id]


def test_unlike_objectives_are_scaled_to_their_progress(view, session, add, qtbot):
    axis = view.plots_.upper.getAxis("left")
    show_objective(view)
    first = add("auc-svm", name="A")
    shown(view, qtbot)
    assert axis.labelText == "Objective"
    second = add("rank-svm", name="B")
    shown(view, qtbot)
    assert axis.labelText == "Scaled objective"
    for line, record in zip(steps(view), (first, second), strict=True):
        objective = record.splits[0].curve.objective
        low = objective.min()
        np.testing.assert_allclose(line.y, (objective - low) / (objective[0] - low))
    session.set_look(first.id, "Hide", visible=False)
    shown(view, qtbot)
    np.testing.assert_array_equal(steps(view)[0].y, second.splits[0].curve.objective)


def test_figure_data_matches_the_curve(view, session, add, qtbot):
    record = add("auc-svm", name="A")
    shown(view, qtbot)
    data = view.figure_data()
    assert set(map(len, data.values())) == {len(record.splits[0].curve.iteration)}
    split = record.splits[0]
    assert set(data["run"]) == {"A"}
    np.testing.assert_array_equal(data["split"], 1)
    np.testing.assert_array_equal(data["iteration"], split.curve.iteration)
    np.testing.assert_array_equal(data["objective"], split.curve.objective)
    np.testing.assert_array_equal(data["gap"], split.curve.gap)
    looked = np.isin(data["iteration"], split.trajectory.iteration)
    np.testing.assert_array_equal(np.isfinite(data["valid_auc"]), looked)
    np.testing.assert_array_equal(np.isfinite(data["train_pauc"]), looked)
    last = roc.partial_auc(split.test_positive, split.test_scores, *session.plan.band)
    assert data["valid_pauc"][-1] == pytest.approx(last.normalized, abs=1e-2)


def test_peak_is_reported_only_if_significant(view, add, qtbot):
    record = add("auc-svm")
    split = record.splits[0]
    y = split.test_positive
    rng = np.random.default_rng(0)
    good, poor = (rng.normal(size=len(y)) + shift * y for shift in (4.0, 0.3))
    for last, words in ((poor, "peaked at "), (good - 1e-3 * y * np.arange(len(y)), "ends")):
        scores = np.stack([poor, good, last]).astype(np.float32)
        looks = dataclasses.replace(
            split.trajectory,
            iteration=np.array([1, 5, 9]),
            seconds=np.array([0.1, 0.5, 0.9]),
            held=ScoresDuringTraining(y, scores),
            train=ScoresDuringTraining(y, scores),
        )
        changed = dataclasses.replace(split, trajectory=looks)
        put(view.session, dataclasses.replace(record, id=words, splits=(changed,)))
        text = shown(view, qtbot)
        assert f"Held-out AUC {words}" in text
        assert ("in iteration 5 and ends at" in text) == (last is poor)


def test_stages_before_training_are_named(view, add, qtbot):
    record = add()
    split = record.splits[0]
    stages = (Stage("landmarks", 0.0), Stage("scores", 0.5), Stage("training", 0.51))
    curve = dataclasses.replace(split.curve, stages=stages)
    changed = dataclasses.replace(split, curve=curve)
    put(view.session, dataclasses.replace(record, id="staged", splits=(changed,)))
    assert "Before the first iteration: landmarks 0.50 s." in shown(view, qtbot)


def test_record_without_checkpoints_has_no_areas(view, add, qtbot):
    record = add()
    split = dataclasses.replace(record.splits[0], trajectory=None)
    put(view.session, dataclasses.replace(record, id="old", splits=(split,)))
    view.session.set_look(record.id, "Hide", visible=False)
    assert "No intermediate scores were stored" in shown(view, qtbot)
    assert not view.plots_.lower.isVisible()
    assert view.plots_.upper.getAxis("bottom").labelText == "Iteration"


def test_hovering_shows_iteration_and_checkpoint(view, session, add, qtbot):
    curve = add("auc-svm").splits[0].curve
    shown(view, qtbot)
    line, plots = areas(view)[0], view.plots_
    plots.lower.hovered.emit(QPointF(line.x[-1], line.y[-1]))
    assert f"AUC: held-out {line.y[-1]:.3f}, training " in view.readout.text()
    share = curve.gap[0] / abs(curve.objective[0])
    plots.upper.hovered.emit(QPointF(1.0, np.log10(share)))
    assert "iteration 1, " in view.readout.text()
    assert f"relative gap {power_words(share)}" in view.readout.text()
    plots.upper.hovered.emit(None)
    assert not view.readout.isVisible()
    assert view.key.text().startswith("Above: upper bound on the remaining improvement")


def test_one_step_solution_is_reported(view, add, qtbot):
    add("auc-rls", name="AUC-RLS")
    text = shown(view, qtbot)
    assert text.startswith("AUC-RLS was solved in one step; AUC ")
    assert "Objective " in text
    assert " ms. Held-out AUC ends at " in text
    assert "dual gap " in text
    assert not view.plots_.upper.isVisible()
    assert not view.plots_.lower.isVisible()
    hint = view.findChild(QLabel, "training_hint")
    assert "one step" in hint.text()
    assert abs(hint.geometry().center().x() - view.rect().center().x()) <= 1


def test_unreported_iterations_are_counted(view, add, qtbot):
    record = add()
    last = TrainingCurve(np.array([9]), np.zeros(1), np.ones(1), np.full(1, np.nan))
    split = dataclasses.replace(record.splits[0], curve=last, n_iter=9, trajectory=None)
    put(view.session, dataclasses.replace(record, id="quiet", splits=(split,)))
    text = shown(view, qtbot)
    assert "9 iterations" in text
    assert "reports no intermediate steps" in text


def test_early_stop_is_reported(view, add, qtbot):
    record = add()
    split = dataclasses.replace(record.splits[0], converged=False)
    put(view.session, dataclasses.replace(record, id="limit", splits=(split,)))
    assert "; stopped before reaching the tolerance." in shown(view, qtbot)
    put(view.session, dataclasses.replace(record, id="hand", splits=(split,), status="stopped"))
    assert "; stopped early by the user." in shown(view, qtbot)


def test_objective_replaces_the_gap_without_a_certificate(view, add, qtbot):
    record = add()
    objective = np.array([3.0, 1.0, 2.0])
    curve = TrainingCurve(np.arange(1, 4), np.arange(3) / 10, objective, np.full(3, np.nan))
    split = dataclasses.replace(record.splits[0], curve=curve, gap=None, trajectory=None)
    put(view.session, dataclasses.replace(record, id="bare", splits=(split,)))
    view.session.set_look(record.id, "Hide", visible=False)
    text = shown(view, qtbot)
    np.testing.assert_array_equal(steps(view)[0].y, objective)
    assert companions(view.plots_.upper_lines[0]) == []
    assert "proven" not in text
    assert view.upper_combo.currentText() == "Objective"
    assert not view.upper_combo.isEnabled()
    assert "remaining improvement" not in view.key.text()
    # With a certified run added, the gap is shown again, for that run only.
    view.session.set_look(record.id, "Seen", visible=True)
    view.session.select(record.id)
    shown(view, qtbot)
    assert view.upper_combo.currentText() == "Gap to optimum"
    assert "remaining improvement" in view.key.text()
    seen = {line.course.run: bool(np.isfinite(line.y).any()) for line in steps(view)}
    assert seen == {record.id: True, "bare": False}
    upper, lower = (plot.getViewBox().viewRange()[0] for plot in view.plots())
    assert upper == pytest.approx(lower, rel=0.02)
    show_objective(view)
    shown(view, qtbot)
    assert {line.course.run for line in steps(view)} == {record.id, "bare"}


def test_zero_gap_is_left_out_of_the_log_axis(view, add, qtbot):
    record = add()
    curve = TrainingCurve(
        np.arange(1, 4), np.arange(3) / 10, np.array([3.0, 2.0, 1.0]), np.array([1.0, 0.1, 0.0])
    )
    split = dataclasses.replace(record.splits[0], curve=curve, gap=0.0, n_iter=3)
    put(view.session, dataclasses.replace(record, id="exact", splits=(split,)))
    view.session.set_look(record.id, "Hide", visible=False)
    assert "proven optimal" in shown(view, qtbot)
    (line,) = steps(view)
    np.testing.assert_array_equal(line.y, [1.0 / 3.0, 0.1 / 2.0, np.nan])


def test_scale_of_the_gap_leaves_no_dot_without_a_logarithm(view, add, session, qtbot):
    # A run of one step is a dot, whose objective has a logarithm only above 0.
    line = add(name="Line")
    curve = TrainingCurve(np.array([1]), np.zeros(1), np.array([-1.0]), np.array([np.nan]))
    dot = dataclasses.replace(line.splits[0], curve=curve, gap=None, trajectory=None)
    put(session, dataclasses.replace(line, id="dot", splits=(dot,)), "Dot")
    shown(view, qtbot)
    session.select(line.id)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown(view, qtbot)
        for item in view.plots_.upper.items():
            item.boundingRect()
    assert view.plots_.upper.getAxis("left").logMode


def test_running_job_is_drawn_over_the_finished_run(view, add, session, qtbot):
    record = add()
    show_objective(view)
    shown(view, qtbot)
    live = start_live(session, record, [(1, 0.01, 5.0, 2.0), (2, 0.02, 4.0, 0.5)])
    np.testing.assert_array_equal(steps(view, live=True)[0].y, [5.0, 4.0])
    assert view.sentence.text().startswith("Flying is training: iteration 2, objective 4.00")
    assert "proven within 12 % of the optimum" in view.sentence.text()
    # The finished run stays drawn below it.
    np.testing.assert_array_equal(steps(view)[0].y, record.splits[0].curve.objective)
    before = view.plots_.upper_lines[0].drawn
    live.points.append((3, 0.03, 3.5, 0.1))
    set_running_job(session, session.live)
    qtbot.waitUntil(lambda: len(steps(view, live=True)[0].x) == 3)
    assert view.plots_.upper_lines[0].drawn is before
    set_running_job(session, None)
    qtbot.waitUntil(lambda: steps(view, live=True) == [])
    assert view.sentence.text().startswith("Run has converged; ")


def test_live_areas_match_the_checkpoints(view, add, session, qtbot):
    record = add()
    split = record.splits[0]
    looks = [
        look_at(split, split.test_scores[::-1].copy(), 1),
        look_at(split, split.test_scores, 2),
    ]
    expected = [roc.auc(look.positive, look.scores) for look in looks]
    live = start_live(session, record, [(1, 0.01, 5.0, 2.0), (2, 0.02, 4.0, 1.0)], looks)
    qtbot.waitUntil(lambda: bool(areas(view, live=True)))
    line = areas(view, live=True)[0]
    np.testing.assert_array_equal(line.x, [1, 2])
    np.testing.assert_allclose(line.y, expected, atol=1e-6)
    words = f"Held-out AUC {expected[1]:.3f}, {expected[0]:.3f} at first."
    assert view.sentence.text().endswith(words)
    choose(view.lower_combo, "pauc")
    shown(view, qtbot)
    for band in ((0.0, 0.2), (0.1, 0.5)):
        session.set_band(*band)
        qtbot.waitUntil(lambda: not session.is_band_moving)
        expected = [roc.partial_auc(k.positive, k.scores, *band).normalized for k in looks]
        np.testing.assert_allclose(areas(view, live=True)[0].y, expected, atol=1e-2)
    assert len(live.looks) == 2


def test_next_fit_starts_a_new_curve(session):
    experiment = make_record(session.table).experiment
    live = LiveRun(experiment, RunLook("Flying", 0))
    preparation = None
    for split in (0, 1):
        for iteration in (1, 2):
            step = Step(iteration, objective=1.0 / iteration)
            live.update(Progress(split, 2, step, 0.1 * iteration, preparation))
        assert [point[0] for point in live.points] == [1, 2]
        assert live.stages.stages() == (Stage("training", 0.0),)


def test_many_live_points_are_thinned(view, add, session, qtbot):
    points = [(k, k / 100, 1.0 + 1 / k, np.nan) for k in range(1, 20_001)]
    start_live(session, add(), points)
    qtbot.waitUntil(lambda: len(steps(view, live=True)) == 1)
    drawn = steps(view, live=True)[0].x
    assert len(drawn) <= 5_000
    assert drawn[0] == 1
    assert drawn[-1] == 20_000


def legends(view):
    items = [item for plot in view.plots() for item in plot.frame.childItems()]
    return [item for item in items if isinstance(item, Legend) and item.items]


def test_legend_follows_the_theme(qtbot, view, add, apply_style):
    add()
    view.resize(760, 760)
    shown(view, qtbot)
    apply_style("dark")
    view.restyle()
    shown(view, qtbot)
    (legend,) = legends(view)
    for _sample, name in legend.items:
        assert name.colour.name() == current_theme().text


def test_sentence_names_the_split_of_the_areas(qtbot, view, add, session):
    add(validation=Validation("folds", folds=3))
    session.point_at(split=1)
    assert "in split 2 of 3" in shown(view, qtbot)


def test_one_legend_is_above_both_plots(qtbot, view, add):
    one, two = add(name="One"), add("svm-pauc", name="Two")
    view.resize(760, 760)
    shown(view, qtbot)
    (legend,) = legends(view)
    assert [name.text for _sample, name in legend.items] == [
        "One",
        "Two",
        "held-out rows",
        "training rows",
    ]
    above = view.plots_.upper.getViewBox().sceneBoundingRect().top()
    assert legend.sceneBoundingRect().bottom() <= above + 1
    assert {one.id, two.id} == {line.course.run for line in areas(view)}


def test_low_page_shows_only_the_areas(view, add, qtbot):
    add()
    shown(view, qtbot)
    assert view.plots_.upper.isVisible()
    assert view.key.isVisible()
    view.resize(500, 380)
    shown(view, qtbot)
    assert not view.plots_.upper.isVisible()
    assert not view.key.isVisible()
    assert view.plots_.lower.height() > 100


def test_steps_of_an_ensemble_are_members(session, view, qtbot):
    record = make_record(session.table, "logistic")
    ensemble = dataclasses.replace(record.experiment, method="auc-ensemble", params={})
    curve = TrainingCurve(np.arange(1, 5), *(np.arange(4.0, 0.0, -1.0) for _ in range(3)))
    split = dataclasses.replace(record.splits[0], curve=curve)
    put(session, dataclasses.replace(record, experiment=ensemble, splits=(split,)), "Members")
    shown(view, qtbot)
    assert view.plots_.upper.getAxis("bottom").is_whole
    assert view.plots_.lower.getAxis("bottom").labelText == "Member"
    (line,) = steps(view)
    assert line.dots
    assert step_words(line.course, 2).startswith("member 3")


def test_after_the_last_split_a_step_is_named_until_the_run_ends():
    done, words = Progress(0, 1, None, 0.0, None).describe()
    assert done is None
    assert words
    assert len(Progress(1, 2, None, 0.0, None).describe()[1]) > len("split 2 of 2")


def test_both_plots_show_the_same_iterations_after_a_run_without_steps(view, session, add, qtbot):
    record = add("auc-svm", name="Solver")
    (split,) = record.splits
    y, last = split.test_positive, {}
    for name, steps_, ends in (("steps", 4, (1, 2, 4)), ("looks", 0, (1, 50, 100))):
        held = ScoresDuringTraining(y, np.stack([split.test_scores] * 3).astype(np.float32))
        times = {"iteration": np.array(ends), "seconds": np.array(ends) / 100}
        looks = dataclasses.replace(split.trajectory, **times, held=held, train=held)
        curve = TrainingCurve(*(np.arange(1.0, steps_ + 1.0) for _ in range(4)))
        changed = dataclasses.replace(split, curve=curve, trajectory=looks)
        last[name] = put(session, dataclasses.replace(record, id=name, splits=(changed,)), name)
    both = list(last.values())
    session.set_look(record.id, "Hide", visible=False)
    for hidden in ((1,), (0,), ()):
        for k, run in enumerate(both):
            session.set_look(run.id, "Show", visible=k not in hidden)
        session.select(both[hidden != (1,)].id)
        shown(view, qtbot)
        view.grab()  # the ranges are updated on painting
    upper, lower = (plot.getViewBox().viewRange()[0] for plot in view.plots())
    assert upper == pytest.approx(lower)
    assert upper[1] > 100
    assert not any(plot.is_zoomed() for plot in view.plots())


@pytest.mark.parametrize(("method", "explained"), [("svm-pauc", True), ("logistic", False)])
def test_rising_bound_of_a_widened_range_is_explained(view, add, session, method, explained, qtbot):
    record = make_record(session.table, method)
    lines = np.arange(3), np.arange(3.0), np.array([10.0, 10.0, 5.0])
    for gaps, rises in (([6.0, 3.0, 1.0], False), ([3.0, 6.0, 1.0], True)):
        curve = TrainingCurve(*lines, np.array(gaps), ())
        splits = tuple(dataclasses.replace(split, curve=curve) for split in record.splits)
        add(method, splits=splits)
        session.set_look(session.selected, "Check", visible=False)
        for run in session.checked_runs():
            session.set_look(run.record.id, "Check", visible=False)
        shown(view, qtbot)
        words = {yes: text("training_key", above="distance", widened=yes) for yes in (True, False)}
        assert view.key.text() == words[rises and explained]
