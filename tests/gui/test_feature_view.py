"""The picture of feature space, against the scores and weights of the runs."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PySide6.QtCore import QPointF

from aucstudio.engine.roc import equal_error_threshold, roc_curve
from aucstudio.engine.scorers import LinearScorer
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.planes import feature_view
from aucstudio.gui.pages.planes.feature_view import FeatureView
from aucstudio.gui.state.runner import LiveRun
from aucstudio.project.data.validation import Validation
from aucstudio.project.examples import make_study
from aucstudio.project.geometry.score_map import CELLS
from aucstudio.project.results.thresholds import Target
from aucstudio.project.runs.progress import Look
from tests.conftest import write_file, write_table
from tests.gui.conftest import add_run, choose, points, refresh_and_wait, set_running_job, train

pytestmark = pytest.mark.slow


@pytest.fixture
def view(session, open_view, table_file):
    session.files.open_now(table_file, "table")
    session.use_everywhere(Target())
    return open_view(FeatureView, session, (560, 420))


def on_line(line):
    """Return two points of a line."""
    turn = np.radians(line.angle)
    foot = np.array([line.pos().x(), line.pos().y()])
    return foot + np.outer([-1.0, 2.0], [np.cos(turn), np.sin(turn)])


def lines_of(view):
    return [one.item for one in view.boundaries.drawn.values() if one.is_line]


def rows_of(session, split, held_out=True):
    rows = split.test_rows if held_out else split.train_rows
    return split.model.preparation.apply(session.table, rows)


def test_score_plane_shows_both_classes_and_the_threshold(qtbot, session, view):
    split = add_run(session).splits[0]
    refresh_and_wait(qtbot, view)
    w, X = split.coef, rows_of(session, split)
    score = X @ w / np.linalg.norm(w)
    assert_allclose(points(view.marks.positives)[:, 0], score[split.test_positive])
    assert_allclose(points(view.marks.negatives)[:, 0], score[~split.test_positive])
    (line,) = lines_of(view)
    assert_allclose(on_line(line)[:, 0], -split.model.intercept / np.linalg.norm(w))
    assert view.marks.positives.opts["symbol"] != view.marks.negatives.opts["symbol"]
    theme = current_theme()
    for item, colour in (
        (view.marks.positives, theme.positive),
        (view.marks.negatives, theme.negative),
    ):
        assert item.opts["brush"].color().name() == colour


def test_wrong_rows_are_ringed_and_counted(qtbot, session, view):
    split = add_run(session).splits[0]
    refresh_and_wait(qtbot, view)
    wrong = (split.test_scores > 0) != split.test_positive
    assert wrong.any()
    score = rows_of(session, split) @ split.coef / np.linalg.norm(split.coef)
    assert_allclose(np.sort(points(view.marks.wrong)[:, 0]), np.sort(score[wrong]))
    assert f"{wrong.sum()} of {len(wrong)} held-out rows" in view.sentence.text()
    missed, m = wrong[split.test_positive].sum(), split.test_positive.sum()
    assert f"{missed} of {m} positives are missed" in view.sentence.text()


def test_training_rows_can_be_shown(qtbot, session, view):
    split = add_run(session).splits[0]
    choose(view.rows_combo, False)
    refresh_and_wait(qtbot, view)
    assert_allclose(view.picture.sample.scores, split.train_scores)
    assert f"of {len(split.train_scores)} training rows" in view.sentence.text()


def test_feature_plane_has_the_decision_line_of_each_checked_run(qtbot, session, view):
    one, two = add_run(session), add_run(session, "logistic")
    session.select(one.id)
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    X = rows_of(session, one.splits[0])
    numbers = len(one.splits[0].model.preparation.numbers)
    i, j = np.argsort(-np.abs(one.splits[0].coef[:numbers]), kind="stable")[:2]
    assert_allclose(points(view.marks.positives), X[one.splits[0].test_positive][:, [i, j]])
    assert len(lines_of(view)) == 2
    for line, record in zip(lines_of(view), (two, one), strict=True):
        for place in on_line(line):
            x = X.mean(axis=0)
            x[[i, j]] = place
            value = x @ record.splits[0].coef + record.splits[0].model.intercept
            assert value == pytest.approx(0.0, abs=1e-9)
    session.set_look(two.id, "Hide", visible=False)
    refresh_and_wait(qtbot, view)
    assert len(lines_of(view)) == 1


def test_principal_component_plane_has_labelled_axes(qtbot, session, view):
    split = add_run(session).splits[0]
    choose(view.plane_combo, "components")
    refresh_and_wait(qtbot, view)
    X = rows_of(session, split)
    vectors = np.linalg.svd(X - X.mean(axis=0))[2][:2]
    expected = np.abs((X @ vectors.T)[split.test_positive])
    assert_allclose(np.abs(points(view.marks.positives)), expected, atol=1e-9)
    assert view.plot.getAxis("left").labelText == "Principal component 2 (sd)"


def test_kernel_run_has_its_score_as_an_axis(qtbot, session, view):
    split = add_run(session, "svm", kernel="rbf").splits[0]
    refresh_and_wait(qtbot, view)
    assert_allclose(points(view.marks.positives)[:, 0], split.test_scores[split.test_positive])
    (line,) = lines_of(view)
    assert_allclose(on_line(line)[:, 0], 0.0, atol=1e-12)


def on_curve(item):
    x, y = item.getData()
    return np.column_stack([x, y])


def test_checked_non_linear_runs_have_contours(qtbot, session, view):
    records = [add_run(session, "svm", kernel="rbf"), add_run(session, "pauc-boost")]
    records.append(add_run(session))
    session.select(records[0].id)
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    assert len(lines_of(view)) == 1
    X = rows_of(session, records[0].splits[0])
    i, j = view.picture.plane.features
    span = np.ptp(X[:, i])
    for record in records[:2]:
        model = record.splits[0].model
        ends = on_curve(view.boundaries.drawn[record.id].item)
        assert len(ends) > 10
        rows = np.tile(X.mean(axis=0), (len(ends), 1))
        rows[:, [i, j]] = ends
        around = []
        for step in (-1, 1):
            for axis in (i, j):
                beside = rows.copy()
                beside[:, axis] += step * span / 60
                around.append(model.scorer(beside) + model.intercept)
        # Close to each end of the contour, the score has both signs.
        assert ((np.min(around, axis=0) <= 1e-9) & (np.max(around, axis=0) >= -1e-9)).all()
    assert "at their means" in view.sentence.text()


def test_threshold_moves_only_the_boundary_of_the_selected_run(qtbot, session, view):
    one, two = add_run(session), add_run(session, "logistic")
    session.select(one.id)
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    before = {key: on_line(b.item) for key, b in view.boundaries.drawn.items()}
    session.set_threshold(threshold=0.2)
    refresh_and_wait(qtbot, view)
    assert_allclose(on_line(view.boundaries.drawn[two.id].item), before[two.id])
    X, split = rows_of(session, one.splits[0]), one.splits[0]
    for place in on_line(view.boundaries.drawn[one.id].item):
        x = X.mean(axis=0)
        x[list(view.picture.plane.features)] = place
        assert x @ split.coef + split.model.intercept == pytest.approx(0.2, abs=1e-9)
    wrong = (split.test_scores > 0.2) != split.test_positive
    assert len(points(view.marks.wrong)) == wrong.sum()
    assert "this threshold" in view.sentence.text()


def test_shading_shows_the_score_of_the_selected_run(qtbot, session, view):
    record = add_run(session, "svm", kernel="rbf")
    choose(view.plane_combo, "components")
    refresh_and_wait(qtbot, view)
    found = view.mapper.maps[record.id]
    assert found.cell == CELLS[-1]
    assert view.shading.image.isVisible()
    X, model = rows_of(session, record.splits[0]), record.splits[0].model
    D = view.picture.plane.directions
    a, b = len(found.x) // 3, len(found.y) // 4
    place = np.array([found.x[a], found.y[b]])
    row = X.mean(axis=0) + D @ (place - D.T @ X.mean(axis=0))
    assert found.scores[a, b] == pytest.approx(model.scorer(row[None])[0] + model.intercept)
    rect = view.shading.image.mapRectToParent(view.shading.image.boundingRect())
    dx = found.x[1] - found.x[0]
    assert rect.left() == pytest.approx(found.x[0] - dx / 2)
    view.shade_check.setChecked(False)
    refresh_and_wait(qtbot, view)
    assert not view.shading.image.isVisible()


def test_zoom_recomputes_the_score_map(qtbot, session, view):
    record = add_run(session, "svm", kernel="rbf")
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    view.plot.getViewBox().setRange(xRange=(-0.5, 0.5), yRange=(-0.5, 0.5), padding=0)
    assert view.busy()
    refresh_and_wait(qtbot, view)
    found = view.mapper.maps[record.id]
    assert (found.x[0], found.x[-1]) == pytest.approx((-0.5, 0.5))
    assert found.cell == CELLS[-1]


def test_positives_below_the_band_are_marked(qtbot, session, view):
    split = add_run(session).splits[0]
    session.set_band(0.0, 0.2)
    refresh_and_wait(qtbot, view)
    negatives = np.sort(split.test_scores[~split.test_positive])[::-1]
    last = negatives[int(np.ceil(0.2 * len(negatives))) - 1]
    lost = split.test_positive & (split.test_scores < last)
    assert lost.any()
    assert len(points(view.marks.lost)) == lost.sum()
    assert f"{lost.sum()} positives below all negatives" in view.sentence.text()


def test_rows_of_support_pairs_are_ringed(qtbot, session, view):
    split = add_run(session, "svm-pauc").splits[0]
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    used = np.unique(split.support_pairs)
    X = rows_of(session, split, held_out=False)
    if 0 < len(used) <= len(split.train_rows) / 2:
        places = X[np.isin(split.train_rows, used)][:, list(view.picture.plane.features)]
        assert_allclose(points(view.supports), places)
        view.support_check.setChecked(False)
        refresh_and_wait(qtbot, view)
    assert not len(points(view.supports))


def test_support_vectors_of_a_kernel_are_ringed(qtbot, session, view):
    split = add_run(session, "svm", kernel="rbf", C=100.0).splits[0]
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    vectors = split.model.scorer.points
    few = len(vectors) <= len(split.train_rows) / 2
    i, j = view.picture.plane.features
    expected = vectors[:, [i, j]] if few else np.empty((0, 2))
    assert_allclose(points(view.supports), expected)


def test_click_selects_a_row_and_shows_its_cells(qtbot, session, view):
    split = add_run(session).splits[0]
    refresh_and_wait(qtbot, view)
    place = int(split.test_scores.argmax())
    row = int(split.test_rows[place])
    where = view.picture.places[place]
    view.plot.hovered.emit(QPointF(*where))
    assert view.marks.readout.text().startswith(f"Row {row + 1}:")
    assert view.marks.readout.isVisible()
    view.plot.clicked.emit(QPointF(*where))
    assert session.focus.row == row
    assert_allclose(points(view.marks.pointed), [where])
    assert view.panel.isVisible()
    assert f"Row {row + 1:,}" in view.panel.heading.text()
    cell = next(column for column in session.table.columns if column.name == "town")
    assert f"town {cell.values[row]}" in view.panel.cells.text()
    view.panel.close_button.click()
    assert session.focus.row is None
    assert not view.panel.isVisible()
    assert not len(points(view.marks.pointed))


def test_row_selected_in_another_view_is_marked(qtbot, session, view):
    split = add_run(session).splits[0]
    refresh_and_wait(qtbot, view)
    session.point_at(row=int(split.test_rows[3]))
    assert_allclose(points(view.marks.pointed), [view.picture.places[3]])
    session.point_at(row=int(split.train_rows[0]))
    assert not len(points(view.marks.pointed))
    assert "not among the rows drawn" in view.panel.heading.text()


def test_missing_values_are_drawn_at_the_median_with_a_notice(qtbot, session, view):
    split = add_run(session, "auc-split").splits[0]
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    gaps = np.isnan(rows_of(session, split)).sum()
    assert gaps
    assert "training median" in view.sentence.text()
    assert np.isfinite(view.picture.places).all()


def test_figure_data_has_a_row_per_point(qtbot, session, view):
    split = add_run(session).splits[0]
    refresh_and_wait(qtbot, view)
    data = view.figure_data()
    assert_allclose(data["row"], split.test_rows + 1)
    assert_allclose(data["score"], split.test_scores)
    assert_allclose(np.column_stack([data["x"], data["y"]]), view.picture.places)
    assert {len(column) for column in data.values()} == {len(split.test_rows)}


def test_running_non_linear_method_has_a_contour(qtbot, session, view):
    record = add_run(session, "svm", kernel="rbf")
    split = record.splits[0]
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    live = LiveRun(record.experiment, session.run(record.id).look)
    live.preparation = split.model.preparation
    scores = split.test_scores - split.model.intercept
    live.picture = Look(split.test_positive, scores, split.model.scorer)
    set_running_job(session, live)
    qtbot.waitUntil(view.live_contour.curve.isVisible)
    assert len(on_curve(view.live_contour.curve)) > 2
    assert not view.live_line.isVisible()
    set_running_job(session, None)
    assert not view.live_contour.curve.isVisible()


def test_many_rows_are_drawn_as_regions(qtbot, session, view, monkeypatch):
    monkeypatch.setattr(feature_view, "POINTS_DRAWN", 20)
    monkeypatch.setattr(feature_view, "FEW_OF_CLASS", 15)
    add_run(session)
    refresh_and_wait(qtbot, view)
    # Eleven positives are few enough to be drawn; the negatives are a region.
    assert len(points(view.marks.positives)) == 11
    assert not len(points(view.marks.negatives))
    assert not view.rows_check.isChecked()
    assert not any(item.isVisible() for item in view.shapes.positives)
    assert all(item.isVisible() for item in view.shapes.negatives)
    assert "of 40 held-out rows" in view.sentence.text()
    assert "Half of the rows of each class" in view.caption.text()
    view.rows_check.click()
    refresh_and_wait(qtbot, view)
    assert len(points(view.marks.positives)) + len(points(view.marks.negatives)) == 20
    assert "20 of 40 rows are drawn as points" in view.caption.text()
    assert "of 40 held-out rows" in view.sentence.text()


def test_outlying_row_does_not_set_the_axis_range(qtbot, session, view, tmp_path):
    path = write_table(tmp_path / "far.csv", rows=400)
    lines = path.read_text(encoding="utf-8").splitlines()
    far = [f"{k * 1e3}" + line[line.index(",") :] for k, line in enumerate(lines[1:4], 1)]
    path.write_text("\n".join([lines[0], *far, *lines[4:]]) + "\n", encoding="utf-8")
    session.files.open_now(path, "table")
    record = add_run(session)
    choose(view.plane_combo, "features")
    held = set(record.splits[0].test_rows) & {0, 1, 2}
    choose(view.rows_combo, bool(len(held) > 1))
    refresh_and_wait(qtbot, view)
    view.x_feature.setCurrentText("x0")
    refresh_and_wait(qtbot, view)
    assert "distant row" in view.sentence.text()
    (low, high), _ = view.plot.getViewBox().viewRange()
    assert high < view.picture.places[:, 0].max()
    assert low < np.median(view.picture.places[:, 0]) < high


def test_rows_of_a_test_file_cannot_be_selected(qtbot, session, view, tmp_path):
    other = write_table(tmp_path / "other.csv", seed=1)
    validation = Validation("file", test_file=str(other))
    session.study.plan = dataclasses.replace(session.plan, validation=validation)
    split = train(qtbot, session).splits[0]
    refresh_and_wait(qtbot, view)
    assert_allclose(view.picture.sample.scores, split.test_scores)
    assert f"of {len(split.test_rows):,} held-out rows" in view.sentence.text()
    session.point_at(row=0)
    assert not view.panel.isVisible()
    assert not len(points(view.marks.pointed))
    choose(view.rows_combo, False)
    refresh_and_wait(qtbot, view)
    assert_allclose(view.picture.sample.scores, split.train_scores)
    assert view.panel.isVisible()


def test_live_line_follows_the_running_job(qtbot, session, view):
    record = add_run(session)
    split, rng = record.splits[0], np.random.default_rng(0)
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    X, (i, j) = rows_of(session, split), view.picture.plane.features
    for _ in range(2):
        weights = rng.normal(size=len(split.coef))
        live = LiveRun(record.experiment, session.run(record.id).look)
        live.preparation = split.model.preparation
        live.picture = Look(split.test_positive, X @ weights, LinearScorer(weights))
        set_running_job(session, live)
        assert view.live_line.isVisible()
        threshold = equal_error_threshold(roc_curve(split.test_positive, X @ weights))
        for place in on_line(view.live_line):
            x = X.mean(axis=0)
            x[[i, j]] = place
            assert x @ weights == pytest.approx(threshold, abs=1e-9)
    set_running_job(session, None)
    assert not view.live_line.isVisible()


def test_first_run_has_a_picture_during_training(qtbot, session, view):
    record = add_run(session)
    live = LiveRun(record.experiment, session.run(record.id).look)
    live.preparation = record.splits[0].model.preparation
    session.set_look(record.id, "Remove", removed=True)
    set_running_job(session, live)
    refresh_and_wait(qtbot, view)
    assert len(points(view.marks.positives)) == session.table.is_positive().sum()
    assert "is training" in view.sentence.text()
    assert not view.live_line.isVisible()
    assert not len(points(view.marks.wrong))
    set_running_job(session, None)


def test_two_gaussians_study_opens_on_figure_1(qtbot, session, view, tmp_path):
    session.files.open_now(make_study("two-gaussians", tmp_path), "experiments")
    qtbot.waitUntil(lambda: len(session.shown_runs()) == 2 and not session.busy, timeout=30_000)
    refresh_and_wait(qtbot, view)
    plain, leaning = (run.record.splits[0] for run in session.shown_runs())
    assert view.picture.plane.features == (0, 1)
    assert [one.run.look.name for one in view.boundaries.drawn.values()] == ["AUC-SVM", "SAUC-SVM"]
    for one, split in zip(view.boundaries.drawn.values(), (plain, leaning), strict=True):
        foot = np.array([one.item.pos().x(), one.item.pos().y()])
        assert split.coef @ foot + split.model.intercept == pytest.approx(0.0, abs=1e-9)
    for held_out, rows in ((True, leaning.test_rows), (False, leaning.train_rows)):
        choose(view.rows_combo, held_out)
        refresh_and_wait(qtbot, view)
        assert len(view.picture.places) == len(rows)
    wrong = ((plain.train_scores > 0) != plain.train_positive).sum()
    assert f"AUC-SVM puts {wrong} of them on the wrong side" in view.sentence.text()


def test_chosen_plane_is_kept_per_table(qtbot, session, view, tmp_path):
    two = tmp_path / "two.csv"
    rng = np.random.default_rng(0)
    rows = [f"{a},{b},{'pn'[int(a + b > 0)]}" for a, b in rng.normal(size=(60, 2)).round(3)]
    two.write_text("\n".join(["a,b,class", *rows]), encoding="utf-8")
    session.files.open_now(two, "table")
    add_run(session)
    refresh_and_wait(qtbot, view)
    assert view.picture.plane.features == (0, 1)
    choose(view.plane_combo, "score")
    add_run(session)
    refresh_and_wait(qtbot, view)
    assert view.picture.plane.kind == "score"


def test_rings_shrink_with_their_number(qtbot, session, view):
    add_run(session)
    refresh_and_wait(qtbot, view)
    session.set_threshold(threshold=1e9)
    missed = view.marks.wrong.data["size"]
    positives = int(view.picture.sample.positive.sum())
    assert len(missed) == positives
    session.set_threshold(threshold=-1e9)
    false = view.marks.wrong.data["size"]
    assert len(false) == len(view.picture.sample.positive) - positives > positives
    assert false[0] <= missed[0]


def test_rare_class_is_drawn_stronger(qtbot, session, view, tmp_path):
    lines = [f"{np.sin(k):.3f},{np.cos(k):.3f},{'no' if k % 12 else 'yes'}" for k in range(120)]
    session.files.open_now(write_file(tmp_path / "rare.csv", "\n".join(["a,b,y", *lines])), "table")
    add_run(session)
    refresh_and_wait(qtbot, view)
    rare, common = view.marks.positives.opts, view.marks.negatives.opts
    assert rare["size"] > common["size"]
    assert rare["brush"].color().alpha() > common["brush"].color().alpha()
