"""The picture of feature space, against the scores and weights of the runs."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from aucstudio.engine.roc import equal_error_threshold
from aucstudio.engine.scorers import LinearScorer
from aucstudio.gui import feature_view
from aucstudio.gui.feature_view import FeatureView
from aucstudio.gui.live import LiveRun
from aucstudio.gui.theme import current_theme
from aucstudio.project.split import Validation
from aucstudio.project.watch import Look
from tests.conftest import write_table
from tests.gui.conftest import choose, points, settle, train


@pytest.fixture
def view(session, open_view):
    return open_view(FeatureView, session, (560, 420))


def on_line(line):
    """Two places on a line."""
    turn = np.radians(line.angle)
    foot = np.array([line.pos().x(), line.pos().y()])
    return foot + np.outer([-1.0, 2.0], [np.cos(turn), np.sin(turn)])


def rows_of(session, split, held_out=True):
    rows = split.test_rows if held_out else split.train_rows
    return split.model.preparation.apply(session.table, rows)


def test_empty_states_say_what_to_do(qtbot, session, view, table_file):
    settle(qtbot, view)
    assert "Open a table" in view.sentence.text()
    session.open_data(table_file)
    settle(qtbot, view)
    assert "press Run" in view.sentence.text()
    train(qtbot, session)
    session.table = None
    settle(qtbot, view)
    assert "table" in view.sentence.text()
    assert not view.positives.isVisible()


def test_score_plane_shows_both_classes_and_the_threshold(qtbot, session, view, table_file):
    session.open_data(table_file)
    split = train(qtbot, session).splits[0]
    settle(qtbot, view)
    w, X = split.coef, rows_of(session, split)
    score = X @ w / np.linalg.norm(w)
    assert_allclose(points(view.positives)[:, 0], score[split.test_positive])
    assert_allclose(points(view.negatives)[:, 0], score[~split.test_positive])
    (line,) = view._lines
    assert_allclose(on_line(line)[:, 0], -split.model.intercept / np.linalg.norm(w))
    assert view.positives.opts["symbol"] != view.negatives.opts["symbol"]
    theme = current_theme()
    for item, colour in ((view.positives, theme.positive), (view.negatives, theme.negative)):
        assert item.opts["brush"].color().name() == colour


def test_wrong_rows_are_ringed_and_counted(qtbot, session, view, table_file):
    session.open_data(table_file)
    split = train(qtbot, session).splits[0]
    settle(qtbot, view)
    wrong = (split.test_scores > 0) != split.test_positive
    assert wrong.any()
    score = rows_of(session, split) @ split.coef / np.linalg.norm(split.coef)
    assert_allclose(np.sort(points(view.wrong)[:, 0]), np.sort(score[wrong]))
    assert f"{wrong.sum()} of {len(wrong)} held-out rows" in view.sentence.text()
    missed, m = wrong[split.test_positive].sum(), split.test_positive.sum()
    assert f"{missed} of {m} positives missed" in view.sentence.text()


def test_training_rows_on_demand(qtbot, session, view, table_file):
    session.open_data(table_file)
    split = train(qtbot, session).splits[0]
    choose(view.rows_combo, False)
    settle(qtbot, view)
    assert_allclose(view.picture.sample.scores, split.train_scores)
    assert f"of {len(split.train_scores)} training rows" in view.sentence.text()


def test_feature_plane_has_the_decision_line_of_each_checked_run(qtbot, session, view, table_file):
    session.open_data(table_file)
    one, two = train(qtbot, session), train(qtbot, session, "logistic")
    session.select(one.id)
    choose(view.plane_combo, "features")
    settle(qtbot, view)
    X = rows_of(session, one.splits[0])
    i, j = np.argsort(-np.abs(one.splits[0].coef), kind="stable")[:2]
    assert_allclose(points(view.positives), X[one.splits[0].test_positive][:, [i, j]])
    assert len(view._lines) == 2
    for line, record in zip(view._lines, (two, one), strict=True):
        for place in on_line(line):
            x = X.mean(axis=0)
            x[[i, j]] = place
            value = x @ record.splits[0].coef + record.splits[0].model.intercept
            assert value == pytest.approx(0.0, abs=1e-9)
    session.set_look(two.id, "Hide", visible=False)
    settle(qtbot, view)
    assert len(view._lines) == 1


def test_principal_components(qtbot, session, view, table_file):
    session.open_data(table_file)
    split = train(qtbot, session).splits[0]
    choose(view.plane_combo, "components")
    settle(qtbot, view)
    X = rows_of(session, split)
    vectors = np.linalg.svd(X - X.mean(axis=0))[2][:2]
    expected = np.abs((X @ vectors.T)[split.test_positive])
    assert_allclose(np.abs(points(view.positives)), expected, atol=1e-9)
    assert view.plot.getAxis("left").labelText == "Principal component 2"


def test_kernel_run_has_its_score_and_no_line_elsewhere(qtbot, session, view, table_file):
    session.open_data(table_file)
    split = train(qtbot, session, "svm", kernel="rbf").splits[0]
    settle(qtbot, view)
    assert_allclose(points(view.positives)[:, 0], split.test_scores[split.test_positive])
    (line,) = view._lines
    assert_allclose(on_line(line)[:, 0], 0.0, atol=1e-12)
    choose(view.plane_combo, "features")
    settle(qtbot, view)
    assert not view._lines
    assert "not linear" in view.sentence.text()


def test_many_rows_are_thinned_but_all_counted(qtbot, session, view, table_file, monkeypatch):
    monkeypatch.setattr(feature_view, "POINTS_DRAWN", 20)
    session.open_data(table_file)
    split = train(qtbot, session).splits[0]
    settle(qtbot, view)
    assert len(points(view.positives)) + len(points(view.negatives)) == 20
    assert f"20 of {len(split.test_scores)} rows are drawn" in view.sentence.text()


def test_a_far_off_row_does_not_crowd_the_others(qtbot, session, view, tmp_path):
    path = write_table(tmp_path / "far.csv", rows=400)
    lines = path.read_text(encoding="utf-8").splitlines()
    far = [f"{k * 1e3}" + line[line.index(",") :] for k, line in enumerate(lines[1:4], 1)]
    path.write_text("\n".join([lines[0], *far, *lines[4:]]) + "\n", encoding="utf-8")
    session.open_data(path)
    record = train(qtbot, session)
    choose(view.plane_combo, "features")
    held = set(record.splits[0].test_rows) & {0, 1, 2}
    choose(view.rows_combo, bool(len(held) > 1))
    settle(qtbot, view)
    view.x_feature.setCurrentText("x0")
    settle(qtbot, view)
    assert "far-off rows" in view.sentence.text()
    (low, high), _ = view.plot.getViewBox().viewRange()
    assert high < view.picture.places[:, 0].max()
    assert low < np.median(view.picture.places[:, 0]) < high


def test_rows_of_a_test_file_are_not_here(qtbot, session, view, table_file, tmp_path):
    other = write_table(tmp_path / "other.csv", seed=1)
    session.open_data(table_file)
    validation = Validation("file", test_file=str(other))
    session.plan = dataclasses.replace(session.plan, validation=validation)
    split = train(qtbot, session).splits[0]
    settle(qtbot, view)
    assert_allclose(view.picture.sample.scores, split.train_scores)
    assert "test file" in view.sentence.text()


def test_the_live_line_moves(qtbot, session, view, table_file):
    session.open_data(table_file)
    record = train(qtbot, session)
    split, rng = record.splits[0], np.random.default_rng(0)
    choose(view.plane_combo, "features")
    settle(qtbot, view)
    X, (i, j) = rows_of(session, split), view.picture.plane.features
    for _ in range(2):
        weights = rng.normal(size=len(split.coef))
        live = LiveRun(record.experiment, session.run(record.id).look)
        live.preparation = split.model.preparation
        live.picture = Look(split.test_positive, X @ weights, LinearScorer(weights))
        session.live = live
        session.live_changed.emit()
        assert view.live_line.isVisible()
        threshold = equal_error_threshold(split.test_positive, X @ weights)
        for place in on_line(view.live_line):
            x = X.mean(axis=0)
            x[[i, j]] = place
            assert x @ weights == pytest.approx(threshold, abs=1e-9)
    session.live = None
    session.live_changed.emit()
    assert not view.live_line.isVisible()


def test_the_first_run_has_a_picture_while_it_trains(qtbot, session, view, table_file):
    session.open_data(table_file)
    record = train(qtbot, session)
    live = LiveRun(record.experiment, session.run(record.id).look)
    live.preparation = record.splits[0].model.preparation
    session.set_look(record.id, "Remove", removed=True)
    session.live = live
    session.live_changed.emit()
    settle(qtbot, view)
    assert len(points(view.positives)) == session.table.is_positive().sum()
    assert "is training" in view.sentence.text()
    assert not view.live_line.isVisible()
    assert not len(points(view.wrong))
    session.live = None


def test_names_for_automation(view):
    assert view.objectName() == "feature_view"
    assert view.title == "Feature space"
    names = {combo.objectName() for combo in (view.plane_combo, view.rows_combo)}
    assert names == {"feature_plane_combo", "feature_rows_combo"}
    assert all(combo.accessibleName() for combo in (view.plane_combo, view.x_feature))
