"""The picture of difference vectors, against the scores and weights of the runs."""

import dataclasses

import numpy as np
import pyqtgraph as pg
import pytest
from numpy.testing import assert_allclose

from aucstudio.engine.roc import auc
from aucstudio.engine.scorers import LinearScorer
from aucstudio.gui.common.plotting import make_plot, style_plot
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.pages.planes.difference_view import DifferenceView
from aucstudio.gui.pages.planes.hyperplane import SideNames
from aucstudio.gui.pages.planes.subject import place_line
from aucstudio.gui.state.runner import LiveRun
from aucstudio.project.data.validation import Validation
from aucstudio.project.geometry import pairs
from aucstudio.project.runs.progress import Look
from tests.conftest import write_table
from tests.gui.conftest import add_run, choose, points, refresh_and_wait, set_running_job


@pytest.fixture
def view(session, open_view, table_file):
    session.files.open_now(table_file, "table")
    made = open_view(DifferenceView, session, (560, 420))
    choose(made.rows_combo, False)
    return made


def line_normal(line):
    """Return the unit normal of a line from its angle, and its signed distance from 0."""
    turn = np.radians(line.angle)
    normal = np.array([np.sin(turn), -np.cos(turn)])
    return normal, normal @ np.array([line.pos().x(), line.pos().y()])


def training_differences(session, record):
    split = record.splits[0]
    X = split.model.preparation.apply(session.table, split.train_rows)
    positive = split.train_positive
    return (X[positive][:, None] - X[~positive][None]).reshape(-1, X.shape[1])


def test_run_without_its_table_has_no_picture(qtbot, session, view):
    record = add_run(session)
    refresh_and_wait(qtbot, view)
    assert view.run_planes.chosen.line.isVisible()
    assert view.plot.isVisible()
    session.study.table = None
    refresh_and_wait(qtbot, view)
    assert "table" in view.sentence.text()
    assert not view.plot.isVisible()
    assert view.hint.isVisible()
    assert record.id == session.selected


def test_dots_are_differences_and_the_line_is_the_hyperplane(qtbot, session, view):
    record = add_run(session)
    refresh_and_wait(qtbot, view)
    z, w = training_differences(session, record), record.splits[0].coef
    assert len(z) <= pairs.PAIRS_AS_DOTS
    assert view.cloud.dots.isVisible()
    assert not view.cloud.density.isVisible()
    assert_allclose(points(view.cloud.dots)[:, 0], z @ w / np.linalg.norm(w))
    assert_allclose(points(view.cloud.mean), points(view.cloud.dots).mean(axis=0)[None])
    assert_allclose(points(view.cloud.origin), np.zeros((1, 2)))
    normal, distance = line_normal(view.run_planes.chosen.line)
    assert_allclose(np.abs(normal), [1.0, 0.0], atol=1e-12)
    assert distance == pytest.approx(0.0)
    assert not view.run_planes.chosen.margin.isVisible()
    tip = view.run_planes.chosen.shaft.getData()
    assert tip[0][1] > 0
    assert tip[1][1] == pytest.approx(0.0)
    assert not view.run_planes.compared.line.isVisible()
    assert view.plot.getAxis("bottom").labelText == (
        "Score of the positive − score of the negative (sd)"
    )


def test_sentence_counts_the_misranked_pairs_exactly(qtbot, session, view):
    view.errors_check.setChecked(True)
    record = add_run(session)
    refresh_and_wait(qtbot, view)
    split = record.splits[0]
    s, t = split.train_scores[split.train_positive], split.train_scores[~split.train_positive]
    wrong = int((s[:, None] < t[None]).sum())
    assert f"{wrong:,} of {len(s) * len(t):,} training pairs" in view.sentence.text()
    share = 1.0 - auc(split.train_positive, split.train_scores)
    assert f"1 − AUC = {share:.4f}" in view.sentence.text()
    drawn = np.vstack([points(kind.marks) for kind in (view.marked.wrong, view.marked.in_band)])
    assert len(drawn) == (s[:, None] <= t[None]).sum()
    assert (drawn[:, 0] <= 1e-9).all()


def test_support_pairs_are_ringed_and_the_margin_drawn(qtbot, session, view):
    record = add_run(session, "auc-svm", C=1.0)
    refresh_and_wait(qtbot, view)
    split = record.splits[0]
    assert split.support_pairs.shape[1] > 0
    X = split.model.preparation.apply(session.table, split.support_pairs[0])
    Z = X - split.model.preparation.apply(session.table, split.support_pairs[1])
    shown = Z[: pairs.SUPPORT_DRAWN]
    weight = np.linalg.norm(split.coef)
    assert_allclose(points(view.marked.support.marks)[:, 0], shown @ split.coef / weight)
    assert f"{len(Z.T[0]):,} support pairs" in view.sentence.text()
    # Correct pairs lie beyond the margin; it is drawn on one side of the hyperplane only.
    normal, distance = line_normal(view.run_planes.chosen.margin)
    assert abs(distance) == pytest.approx(1.0 / weight)
    assert np.sign(distance) * normal[0] > 0


@pytest.mark.slow
def test_two_feature_plane_shows_the_trace_of_the_hyperplane(qtbot, session, view):
    record = add_run(session)
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    w, names = record.splits[0].coef, record.splits[0].model.preparation.feature_names
    i, j = np.argsort(-np.abs(w), kind="stable")[:2]
    assert (view.x_feature.currentText(), view.y_feature.currentText()) == (names[i], names[j])
    assert view.x_feature.isVisible()
    z = training_differences(session, record)
    assert_allclose(points(view.cloud.dots), z[:, [i, j]])
    normal, distance = line_normal(view.run_planes.chosen.line)
    along = np.array([-normal[1], normal[0]])
    assert along @ w[[i, j]] == pytest.approx(0.0, abs=1e-12)
    assert distance == pytest.approx(0.0)
    view.x_feature.setCurrentText("x3")
    refresh_and_wait(qtbot, view)
    assert_allclose(points(view.cloud.dots)[:, 0], z[:, names.index("x3")])
    assert view.plot.getAxis("bottom").labelText == "Difference in x3 (sd)"


def test_choosing_the_same_feature_twice_swaps_the_axes(qtbot, session, view):
    add_run(session)
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    x, y = view.x_feature.currentText(), view.y_feature.currentText()
    view.x_feature.setCurrentText(y)
    refresh_and_wait(qtbot, view)
    assert (view.x_feature.currentText(), view.y_feature.currentText()) == (y, x)


@pytest.mark.slow
def test_many_pairs_are_drawn_as_a_density(qtbot, session, view, tmp_path):
    session.files.open_now(write_table(tmp_path / "more.csv", rows=320), "table")
    record = add_run(session)
    refresh_and_wait(qtbot, view)
    z = training_differences(session, record)
    assert len(z) > pairs.PAIRS_AS_DOTS
    assert not view.cloud.dots.isVisible()
    assert view.cloud.density.isVisible()
    assert view.picture.extra.cloud.density.counts.sum() == len(z)
    x = z @ record.splits[0].coef / np.linalg.norm(record.splits[0].coef)
    area = view.cloud.density.mapRectToParent(view.cloud.density.boundingRect())
    # The image leaves room for the smoothed edges.
    assert area.left() < x.min() < x.max() < area.right()
    image = view.cloud.density.image
    cells = area.left() + (np.arange(len(image)) + 0.5) * area.width() / len(image)
    assert (image[cells < 0] <= 0).all()
    assert (image[cells > 0] >= 0).all()
    assert image.max() == pytest.approx(1.0)
    opaque = view.cloud.density.lut[:, 3].astype(int)
    assert opaque[len(opaque) // 2] == 0
    assert (np.diff(opaque[len(opaque) // 2 :]) >= 0).all()
    assert view.sides.right.isVisible()
    assert f"{100 * (x > 0).mean():.1f} %" in view.sides.right.toPlainText()
    assert "training pairs" in view.sides.wrong.toPlainText()
    assert "unweighted" not in view.sides.right.toPlainText()
    view.sides.show(0.25, "training", weighted=True)
    assert "unweighted" in view.sides.right.toPlainText()


def test_errors_and_spread_can_be_switched_on(qtbot, session, view):
    add_run(session)
    refresh_and_wait(qtbot, view)
    marked, cloud = view.marked, view.cloud
    assert not len(points(marked.wrong.marks)) + len(points(marked.in_band.marks))
    assert not cloud.ellipses[0].isVisible()
    listed = [text.text for _, text in view.legend.items]
    assert listed[-2:] == ["ranked correctly", "ranked wrongly"]
    view.resize(900, 800)
    view.errors_check.setChecked(True)
    view.spread_check.setChecked(True)
    refresh_and_wait(qtbot, view)
    assert len(points(marked.wrong.marks))
    assert len(points(marked.in_band.marks))
    assert cloud.ellipses[0].isVisible()
    assert len(view.legend.items) == len(listed) + 4
    # Dots show it by their colour at once.
    scores, rows = view.picture.sample.scores, view.picture.extra.cloud.rows
    red = np.array([brush.color().name() for brush in cloud.dots.data["brush"]])
    wrong = scores[rows[0]] <= scores[rows[1]]
    assert set(red[wrong]) == {current_theme().wrong}
    assert set(red[~wrong]) == {current_theme().muted}


def test_caption_explains_what_a_dot_is(qtbot, session, view):
    add_run(session)
    refresh_and_wait(qtbot, view)
    assert view.caption.isVisible()
    assert view.caption.text() == (
        "Each dot is one pair: a positive row minus a negative row. Right of the line the positive "
        "scores higher: the pair is ranked correctly."
    )
    # Two features of many do not determine how a pair is ranked.
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    assert "ranked correctly" not in view.caption.text()
    assert not view.sides.right.isVisible()
    assert len({brush.color().name() for brush in view.cloud.dots.data["brush"]}) == 2


def test_invalid_pair_is_not_shown(qtbot, session, view):
    record = add_run(session)
    refresh_and_wait(qtbot, view)
    split = record.splits[0]
    first, second = split.train_rows[~split.train_positive][:2].tolist()
    for pair in ((first, second), (first, session.table.rows + 10), (-1, first)):
        session.point_at(pair=pair)
        assert view.panel.isHidden()
        assert not len(points(view.marked.chosen))
    session.point_at(pair=(int(split.train_rows[split.train_positive][0]), first))
    assert not view.panel.isHidden()


@pytest.mark.slow
def test_running_kernel_method_has_its_own_picture(qtbot, session, view):
    record = add_run(session)
    curved = add_run(session, "svm", kernel="rbf")
    session.select(record.id)
    refresh_and_wait(qtbot, view)
    split = curved.splits[0]
    live = LiveRun(curved.experiment, session.run(curved.id).look)
    live.preparation = split.model.preparation
    scorer = split.model.scorer
    scores = scorer(live.preparation.apply(session.table, split.test_rows))
    live.picture = Look(split.test_positive, scores, scorer, iteration=1)
    set_running_job(session, live)
    qtbot.waitUntil(lambda: view.subject.is_live and not view.busy())
    sample = view.picture.sample
    assert_allclose(sample.scores, scorer(sample.X))
    assert_allclose(view.picture.places[:, 0], sample.scores)
    assert view.live_line.isVisible()
    assert not view.run_planes.chosen.line.isVisible()
    assert view.follow_check.isVisible()
    assert view.sentence.text().startswith(f"{live.look.name} is training")
    assert "No picture of it" not in view.sentence.text()
    # With "follow" off, the sentence names the selected run as the one shown.
    view.follow_check.setChecked(False)
    refresh_and_wait(qtbot, view)
    assert view.subject.run.record.id == record.id
    assert not view.live_line.isVisible()
    said = view.sentence.text()
    assert f"The picture shows {view.subject.name}; {live.look.name} has no line in it" in said
    view.follow_check.setChecked(True)
    refresh_and_wait(qtbot, view)
    set_running_job(session, None)
    refresh_and_wait(qtbot, view)
    assert view.subject.run.record.id == record.id


@pytest.mark.slow
def test_compared_run_keeps_its_colour_and_the_angle_is_shown(qtbot, session, view):
    one, two = add_run(session), add_run(session, "logistic")
    session.select(one.id)
    refresh_and_wait(qtbot, view)
    choose(view.compare_combo, two.id)
    refresh_and_wait(qtbot, view)
    assert session.compared == two.id
    a, b = one.splits[0].coef, two.splits[0].coef
    turned = np.degrees(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))
    assert f"{turned:.1f}°" in view.sentence.text()
    look = session.run(two.id).look
    assert view.run_planes.compared.line.pen.color() == run_colour(current_theme(), look.colour)
    names = [name for name, _pen in view.run_planes.entries()]
    assert len(names) == len(set(names))  # each run once
    normal, _ = line_normal(view.run_planes.compared.line)
    trace = view.picture.plane.directions.T @ b
    assert abs(normal @ trace) == pytest.approx(np.linalg.norm(trace))
    choose(view.compare_combo, None)
    refresh_and_wait(qtbot, view)
    assert session.compared is None
    assert not view.run_planes.compared.line.isVisible()


def test_kernel_run_has_no_hyperplane(qtbot, session, view):
    record = add_run(session, "svm", kernel="rbf")
    refresh_and_wait(qtbot, view)
    split = record.splits[0]
    s, t = split.train_scores[split.train_positive], split.train_scores[~split.train_positive]
    assert_allclose(points(view.cloud.dots)[:, 0], np.subtract.outer(s, t).ravel())
    normal, _ = line_normal(view.run_planes.chosen.line)
    assert_allclose(np.abs(normal), [1.0, 0.0], atol=1e-12)
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    assert not view.run_planes.chosen.line.isVisible()
    assert "no straight hyperplane" in view.sentence.text()


def test_split_combo_changes_the_pairs_shown(qtbot, session, view):
    validation = Validation(test_size=0.5, repeats=2)
    session.study.plan = dataclasses.replace(session.plan, validation=validation)
    record = add_run(session)
    refresh_and_wait(qtbot, view)
    assert view.split_combo.isVisible()
    first = view.sentence.text()
    choose(view.split_combo, 1)
    refresh_and_wait(qtbot, view)
    assert session.focus.split == 1
    assert view.sentence.text() != first
    split = record.splits[1]
    assert_allclose(view.picture.sample.scores, split.train_scores)
    session.point_at(split=0)
    qtbot.waitUntil(lambda: view.sentence.text() == first)
    assert view.split_combo.currentIndex() == 0


def live_run(session, record, weights):
    split = record.splits[0]
    live = LiveRun(record.experiment, session.run(record.id).look)
    live.preparation = split.model.preparation
    X = live.preparation.apply(session.table, split.test_rows)
    live.picture = Look(split.test_positive, X @ weights, LinearScorer(weights))
    return live


def test_live_hyperplane_is_drawn_over_a_finished_run(qtbot, session, view):
    record = add_run(session)
    refresh_and_wait(qtbot, view)
    assert not view.live_line.isVisible()
    rng = np.random.default_rng(0)
    for _ in range(2):
        weights = rng.normal(size=len(record.splits[0].coef))
        set_running_job(session, live_run(session, record, weights))
        assert view.live_line.isVisible()
        normal, distance = line_normal(view.live_line)
        trace = view.picture.plane.directions.T @ weights
        assert abs(normal @ trace) == pytest.approx(np.linalg.norm(trace))
        assert distance == pytest.approx(0.0)
        look = session.live.picture
        s, t = look.scores[look.positive], look.scores[~look.positive]
        wrong = f"{(s[:, None] < t[None]).sum():,} of {len(s) * len(t):,} held-out pairs"
        assert wrong in view.sentence.text()
    session.live.split, session.live.splits = 1, 3
    view.live_moved(session.live, None)
    assert "held-out pairs of split 2 of 3" in view.sentence.text()
    set_running_job(session, None)
    assert not view.live_line.isVisible()
    assert "so far" not in view.sentence.text()


def test_live_margin_moves_with_its_hyperplane(qtbot, session, view):
    record = add_run(session, "auc-svm", C=1.0)
    refresh_and_wait(qtbot, view)
    weights = 2.0 * record.splits[0].coef
    set_running_job(session, live_run(session, record, weights))
    normal, distance = line_normal(view.run_planes.live.margin)
    trace = view.picture.plane.normal(weights)
    assert distance * normal @ trace == pytest.approx(1.0)
    set_running_job(session, None)
    assert not view.run_planes.live.margin.isVisible()
    assert not view.run_planes.live.head.isVisible()


@pytest.mark.slow
def test_first_run_has_a_picture_during_training(qtbot, session, view):
    record = add_run(session)
    live = live_run(session, record, record.splits[0].coef)
    session.set_look(record.id, "Remove", removed=True)
    refresh_and_wait(qtbot, view)
    assert "press Run" in view.sentence.text()
    set_running_job(session, live)
    qtbot.waitUntil(lambda: not view.busy())
    assert "is training" in view.sentence.text()
    assert view.live_line.isVisible()
    assert not view.run_planes.chosen.line.isVisible()
    assert "Training and held-out rows are shown together." in view.caption.text()
    labelled = session.table.is_positive()
    assert view.picture.extra.cloud.pairs == labelled.sum() * (~labelled).sum()
    before = view.picture
    set_running_job(session, session.live)
    assert view.picture is before
    set_running_job(session, None)
    assert not view.live_line.isVisible()
    assert "press Run" in view.sentence.text()


def test_name_along_the_line_is_hidden_if_it_does_not_fit(qtbot, session, view):
    add_run(session)
    view.resize(560, 900)
    refresh_and_wait(qtbot, view)
    name = view.run_planes.chosen.name
    assert name.isVisible()
    # The height of the picture depends on the lines of its sentence.
    spare = view.height() - view.plot.getViewBox().height()
    view.resize(560, int(spare + name.textItem.boundingRect().width()))
    refresh_and_wait(qtbot, view)
    assert view.plot.getViewBox().height() < name.textItem.boundingRect().width() + 40
    assert not name.isVisible()


@pytest.mark.parametrize("normal", [(1.0, 2.0), (-1.0, 2.0), (1.0, -2.0), (-1.0, 0.0)])
def test_label_along_a_line_is_upright(qtbot, normal):
    line = pg.InfiniteLine()
    place_line(line, np.array(normal), 0.0)
    assert -90.0 < line.angle <= 90.0
    turn = np.radians(line.angle)
    assert np.dot(normal, (np.cos(turn), np.sin(turn))) == pytest.approx(0.0)


def test_labels_beside_the_hyperplane_follow_the_text_size(qtbot, apply_style):
    plot = make_plot("sides", "", "")
    qtbot.addWidget(plot)
    names = SideNames(plot)
    names.show(0.2, "held-out")
    before = names.wrong.textItem.font().pointSizeF()
    apply_style(percent=200)
    style_plot(plot)
    names.show(0.2, "held-out")
    assert names.wrong.textItem.font().pointSizeF() == 2 * before
