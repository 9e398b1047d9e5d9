"""Pairs in the picture of difference vectors: those in the FPR range, and pointing at them."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont

from aucstudio.engine.roc import auc, band_ranks
from aucstudio.gui.common.plotting import pen
from aucstudio.gui.pages.planes.difference_view import DifferenceView
from aucstudio.project.data.validation import Validation
from aucstudio.project.examples import make_sample, make_study
from aucstudio.project.explain.contributions import explain_pair
from aucstudio.project.geometry.pairs import (
    ellipse,
    pair_cloud,
    pair_frame,
    penalised_covariance,
)
from tests.conftest import write_table
from tests.gui.conftest import add_run, choose, points, refresh_and_wait, train

pytestmark = pytest.mark.slow


@pytest.fixture
def view(session, open_view):
    made = open_view(DifferenceView, session, (640, 560))
    choose(made.rows_combo, False)
    made.errors_check.setChecked(True)
    return made


@pytest.fixture
def record(qtbot, session, view, table_file):
    session.files.open_now(table_file, "table")
    made = add_run(session)
    refresh_and_wait(qtbot, view)
    return made


def place_of(view, pair):
    """Return the place in the plane of a pair of row numbers."""
    numbers = view.picture.sample.numbers.tolist()
    i, j = (numbers.index(row) for row in pair)
    return view.picture.places[i] - view.picture.places[j]


def worst_pair(record):
    """Return the row numbers of the pair with the lowest margin, by brute force."""
    split = record.splits[0]
    positive, scores = split.train_positive, split.train_scores
    margins = np.subtract.outer(scores[positive], scores[~positive])
    i, j = np.unravel_index(margins.argmin(), margins.shape)
    return int(split.train_rows[positive][i]), int(split.train_rows[~positive][j])


# ------------------------------------------------------------------------ the FPR range


def misranked_pairs(record, band):
    """Count the misranked pairs whose negative has a rank in the range, by brute force."""
    split = record.splits[0]
    s = split.train_scores[split.train_positive]
    t = np.sort(split.train_scores[~split.train_positive])[::-1]
    first, last = band_ranks(len(t), *band)
    inside = t[first - 1 : last]
    return (s[:, None] < inside[None]).sum(), len(inside)


def test_misranked_pairs_in_the_fpr_range_are_counted(session, view, record, qtbot):
    for band in ((0.0, 0.1), (0.2, 0.5)):
        session.set_band(*band)
        count, negatives = misranked_pairs(record, band)
        qtbot.waitUntil(lambda text=f"{count:,} of these errors": text in view.sentence.text())
        assert f"{negatives} negatives in the FPR range {band[0]:g} … {band[1]:g}" in (
            view.sentence.text()
        )
        assert len(points(view.marked.in_band.marks)) == count


def test_misranked_pairs_are_marked_inside_or_outside_the_range(session, view, record, qtbot):
    split = record.splits[0]
    share = 1.0 - auc(split.train_positive, split.train_scores)
    wrong, inside = points(view.marked.wrong.marks), points(view.marked.in_band.marks)
    assert len(wrong) + len(inside) == round(share * view.picture.extra.cloud.pairs)
    session.set_band(0.0, 1.0)
    qtbot.waitUntil(lambda: not session.is_band_moving)
    assert not len(points(view.marked.wrong.marks))
    assert len(points(view.marked.in_band.marks)) == len(wrong) + len(inside)
    assert "these errors" not in view.sentence.text()


def test_hidden_page_shows_the_new_range_when_shown(qtbot, session, view, record):
    view.hide()
    session.set_band(0.0, 1.0)
    view.show()
    qtbot.waitUntil(lambda: "these errors" not in view.sentence.text())


# ------------------------------------------------------------------------ pointing


def test_hovering_a_pair_shows_both_rows(session, view, record):
    pair = worst_pair(record)
    place = QPointF(*place_of(view, pair))
    view.plot.hovered.emit(place)
    split = record.splits[0]
    scores = [split.train_scores[split.train_rows.tolist().index(row)] for row in pair]
    words = view.pointing.readout.text()
    for row, score in zip(pair, scores, strict=True):
        assert f"row {row + 1:,}: score {score:.4g}".replace("-", "−") in words
    assert "ranked wrongly" in words
    assert_allclose(points(view.marked.hovered), [place_of(view, pair)])
    view.plot.hovered.emit(QPointF(-1e6, 0.0))
    assert not len(points(view.marked.hovered))
    assert not view.pointing.readout.isVisible()
    view.plot.hovered.emit(place)
    assert view.pointing.readout.isVisible()
    view.plot.hovered.emit(None)
    assert not view.pointing.readout.isVisible()
    assert not len(points(view.marked.hovered))


def test_clicking_a_pair_selects_it_and_shows_its_rows(qtbot, session, view, record):
    pair = worst_pair(record)
    view.plot.clicked.emit(QPointF(*place_of(view, pair)))
    assert session.focus.pair == pair
    assert view.panel.isVisible()
    qtbot.waitUntil(lambda: not view.busy())
    model = record.splits[0].model
    expected = explain_pair(session.table, model, pair)
    # As text, because NaN does not equal itself.
    assert repr(view.panel.detail) == repr(expected)
    shown = [row.cells for row in view.panel.table.sheet.rows]
    assert [cells[0] for cells in shown] == [part.column for part in expected.parts]
    assert [cells[1:3] for cells in shown] == [part.cells for part in expected.parts]
    assert expected.parts[0].column in view.panel.message.text()
    assert_allclose(points(view.marked.chosen), [place_of(view, pair)])


def test_click_away_from_pairs_changes_nothing(session, view, record):
    view.plot.clicked.emit(QPointF(-1e5, 1e5))
    assert session.focus.pair is None
    assert not view.panel.isVisible()


def test_keys_and_buttons_step_through_the_worst_pairs(qtbot, session, view, record):
    split = record.splits[0]
    positive, scores = split.train_positive, split.train_scores
    margins = np.sort(np.subtract.outer(scores[positive], scores[~positive]).ravel())

    def margin():
        rows = split.train_rows.tolist()
        i, j = (rows.index(row) for row in session.focus.pair)
        return scores[i] - scores[j]

    view.worst_button.click()
    assert session.focus.pair == worst_pair(record)
    for expected in margins[1:4]:
        qtbot.keyClick(view, Qt.Key.Key_F8)
        assert margin() == expected
    qtbot.keyClick(view, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert margin() == margins[2]
    buttons = {b.objectName(): b for b in view.panel.findChildren(type(view.worst_button))}
    buttons["pair_next_button"].click()
    assert margin() == margins[3]
    buttons["pair_previous_button"].click()
    assert margin() == margins[2]
    view.worst_button.click()
    qtbot.keyClick(view, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert margin() == margins[0]
    buttons["pair_close_button"].click()
    assert session.focus.pair is None
    assert not view.panel.isVisible()
    assert not len(points(view.marked.chosen))


def test_pair_selected_on_another_page_is_ringed(qtbot, session, view, record):
    split = record.splits[0]
    pair = (
        int(split.train_rows[split.train_positive][0]),
        int(split.train_rows[~split.train_positive][0]),
    )
    session.point_at(pair=pair)
    assert_allclose(points(view.marked.chosen), [place_of(view, pair)])
    assert view.panel.isVisible()
    qtbot.waitUntil(lambda: not view.busy())


def test_pairs_of_the_selected_row_are_marked(session, view, record):
    split = record.splits[0]
    at = int(np.flatnonzero(split.train_positive)[0])
    row, s = int(split.train_rows[at]), split.train_scores[at]
    session.point_at(row=row)
    t = split.train_scores[~split.train_positive]
    marked = points(view.marked.of_row.marks)
    expected = view.picture.places[at] - view.picture.places[~split.train_positive]
    assert_allclose(np.sort(marked[:, 0]), np.sort(expected[:, 0]))
    words = [text.text for _, text in view.legend.items]
    assert f"row {row + 1:,}: {(s <= t).sum()} of {len(t)} wrong" in words
    held_out = int(split.test_rows[0])
    session.point_at(row=held_out)
    assert not len(points(view.marked.of_row.marks))
    assert len(view.legend.items) == len(words) - 1


def test_pairs_of_the_selected_row_follow_the_rows_shown(qtbot, session, view, record):
    split = record.splits[0]
    session.point_at(row=int(split.train_rows[np.flatnonzero(split.train_positive)[-1]]))
    refresh_and_wait(qtbot, view)
    assert points(view.marked.of_row.marks).size
    choose(view.rows_combo, True)
    refresh_and_wait(qtbot, view)
    assert not points(view.marked.of_row.marks).size  # the row is not held out
    held_out = int(split.test_rows[np.flatnonzero(split.test_positive)[0]])
    session.point_at(row=held_out)
    refresh_and_wait(qtbot, view)
    assert points(view.marked.of_row.marks).shape[0] == (~split.test_positive).sum()


def test_moving_the_threshold_does_not_redraw_the_selection(session, view, record, monkeypatch):
    calls = []
    monkeypatch.setattr(view.pointing, "follow", lambda *_: calls.append(1))
    session.set_threshold(threshold=0.3)
    assert not calls
    session.point_at(row=3)
    assert calls == [1]


# ------------------------------------------------------------------------ rows and runs


def test_held_out_pairs_come_from_the_test_rows(qtbot, session, view, record):
    choose(view.rows_combo, True)
    refresh_and_wait(qtbot, view)
    split = record.splits[0]
    s, t = split.test_scores[split.test_positive], split.test_scores[~split.test_positive]
    wrong = int((s[:, None] < t[None]).sum())
    assert f"{wrong:,} of {len(s) * len(t):,} held-out pairs" in view.sentence.text()
    assert_array_equal(view.picture.sample.numbers, split.test_rows)


def test_sentence_counts_errors_of_the_compared_run(qtbot, session, view, record):
    other = add_run(session, "logistic")
    session.select(record.id)
    session.compare_with(other.id)
    refresh_and_wait(qtbot, view)
    split = other.splits[0]
    s, t = split.train_scores[split.train_positive], split.train_scores[~split.train_positive]
    name = session.run(other.id).look.name
    assert f"{name} ranks {(s[:, None] < t[None]).sum():,} of them wrongly" in view.sentence.text()


def test_all_checked_runs_are_drawn_on_demand(qtbot, session, view, record):
    second, third = add_run(session, "logistic"), add_run(session, "svm", kernel="rbf")
    fourth = add_run(session, "rls")
    session.select(record.id)
    session.compare_with(second.id)
    refresh_and_wait(qtbot, view)
    assert not view.run_planes.others
    view.all_check.setChecked(True)
    refresh_and_wait(qtbot, view)
    # One run is selected, one compared, and one is not linear.
    assert len(view.run_planes.others) == 1
    names = [text.text for _, text in view.legend.items]
    assert session.run(fourth.id).look.name in names
    assert session.run(third.id).look.name not in names


def test_pairs_with_missing_values_are_drawn(qtbot, session, view, tmp_path):
    session.files.open_now(write_table(tmp_path / "gaps.csv", rows=240), "table")
    record = add_run(session, "gradient-boosting", max_iter=10)
    for plane in ("score", "features", "components"):
        choose(view.plane_combo, plane)
        refresh_and_wait(qtbot, view)
        assert np.isfinite(view.picture.places).all()
        assert "missing values are drawn at the training median" in view.sentence.text()
    assert_array_equal(view.picture.sample.scores, record.splits[0].train_scores)


def test_figure_data_matches_the_pairs_drawn(session, view, record):
    data = view.figure_data()
    columns = list(data)
    assert columns[:4] == ["positive row", "negative row", "x", "y"]
    assert len({len(data[name]) for name in columns}) == 1
    split = record.splits[0]
    assert len(data["x"]) == view.picture.extra.cloud.pairs
    scores = dict(zip((split.train_rows + 1).tolist(), split.train_scores, strict=True))
    first, second = data["positive row"], data["negative row"]
    wrong = [scores[i] <= scores[j] for i, j in zip(first.tolist(), second.tolist(), strict=True)]
    assert_array_equal(data["misranked"], wrong)
    inside = data["in FPR range"] & data["misranked"]
    assert inside.sum() == len(points(view.marked.in_band.marks))
    pair = int(first[0]) - 1, int(second[0]) - 1
    assert_allclose([data["x"][0], data["y"][0]], place_of(view, pair))


def test_figure_data_is_empty_without_a_picture(view):
    assert view.figure_data() == {}


# ------------------------------------------------------------------------ the paper's figures


@pytest.fixture
def gaussians(qtbot, session, view, tmp_path):
    """AUC-SVM and SAUC-SVM on two Gaussians, tested on a file of their own."""
    trained, tested = make_sample("two-gaussians", tmp_path)
    session.files.open_now(trained, "table")
    session.set_roles(label="class", positive="plus")
    validation = Validation(scheme="file", test_file=str(tested))
    session.study.plan = dataclasses.replace(session.plan, validation=validation)
    plain = train(qtbot, session, "auc-svm", C=1000.0)
    leaning = train(qtbot, session, "sauc-svm", C=1000.0, structure=100.0)
    session.compare_with(plain.id)
    choose(view.plane_combo, "features")
    refresh_and_wait(qtbot, view)
    return plain.splits[0], leaning.splits[0]


def test_figure_2_shows_both_hyperplanes_and_the_ellipses(view, gaussians):
    plain, leaning = gaussians
    sample = view.picture.sample
    z = (sample.X[sample.positive][:, None] - sample.X[~sample.positive][None]).reshape(-1, 2)
    order = list(view.picture.plane.features)
    assert_allclose(
        np.sort(points(view.cloud.dots), axis=0), np.sort(z[:, order], axis=0), atol=1e-12
    )
    for line, split in (
        (view.run_planes.chosen.line, leaning),
        (view.run_planes.compared.line, plain),
    ):
        turn = np.radians(line.angle)
        assert split.coef[order] @ [np.cos(turn), np.sin(turn)] == pytest.approx(0.0, abs=1e-9)
    sigma = np.cov(z[:, order].T, bias=True)
    trace = ellipse(z[:, order].mean(axis=0), sigma, 1.0)
    assert_allclose(np.column_stack(view.cloud.ellipses[0].getData()), trace, atol=1e-9)
    after = penalised_covariance(sample.X, sample.positive, view.picture.plane.directions, 100.0)
    trace = ellipse(z[:, order].mean(axis=0), after, 1.0)
    assert_allclose(np.column_stack(view.cloud.penalised[0].getData()), trace, atol=1e-9)
    # The structure turns the hyperplane towards the long axis of the differences.
    axis = np.linalg.eigh(sigma)[1][:, -1]
    tilt = [abs(s.coef[order] @ axis) / np.linalg.norm(s.coef) for s in (plain, leaning)]
    assert tilt[1] < tilt[0]


def test_figure_2b_shows_the_pairs_of_the_test_file(qtbot, session, view, gaussians):
    plain, leaning = gaussians
    choose(view.rows_combo, True)
    refresh_and_wait(qtbot, view)
    assert_array_equal(view.picture.sample.scores, leaning.test_scores)
    s, t = plain.test_scores[plain.test_positive], plain.test_scores[~plain.test_positive]
    wrong = (s[:, None] < t[None]).sum()
    assert f"AUC-SVM ranks {wrong:,} of them wrongly" in view.sentence.text()
    assert f"{len(s) * len(t):,} held-out pairs" in view.sentence.text()
    assert not len(points(view.marked.support.marks))
    assert not view.cloud.penalised[0].isVisible()
    # Rows of the test file are not rows of the table, so none is selected.
    view.plot.clicked.emit(QPointF(*points(view.cloud.dots)[0]))
    session.point_at(row=0, pair=(0, 1))
    assert not len(points(view.marked.of_row.marks))
    assert not len(points(view.marked.chosen))
    assert not view.worst_button.isVisible()
    assert not view.panel.isVisible()


def test_changed_test_file_is_reported(qtbot, session, view, gaussians):
    path = session.run(session.selected).record.experiment.validation.test_file
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines[:-5])
    choose(view.rows_combo, True)
    refresh_and_wait(qtbot, view)
    assert "two-gaussians-test.csv has changed since" in view.sentence.text()
    assert not view.plot.isVisible()


def test_two_gaussians_study_opens_on_figure_2b(qtbot, session, open_view, tmp_path):
    view = open_view(DifferenceView, session, (640, 560))
    session.files.open_now(make_study("two-gaussians", tmp_path), "experiments")
    qtbot.waitUntil(lambda: len(session.shown_runs()) == 2 and not session.busy, timeout=30_000)
    refresh_and_wait(qtbot, view)
    plain, leaning = (run.record.splits[0] for run in session.shown_runs())
    assert view.picture.plane.features == (0, 1)
    for line, split in (
        (view.run_planes.chosen.line, leaning),
        (view.run_planes.compared.line, plain),
    ):
        assert line.isVisible()
        turn = np.radians(line.angle)
        assert split.coef @ [np.cos(turn), np.sin(turn)] == pytest.approx(0.0, abs=1e-9)
        assert_allclose([line.pos().x(), line.pos().y()], 0.0, atol=1e-12)
    assert "SAUC-SVM: none of 4,000 held-out pairs is ranked wrongly" in view.sentence.text()
    assert "AUC-SVM ranks 2 of them wrongly" in view.sentence.text()
    # The result does not depend on which of the two is selected.
    session.select(session.shown_runs()[0].record.id)
    refresh_and_wait(qtbot, view)
    assert "AUC-SVM: 2 of 4,000 held-out pairs are ranked wrongly" in view.sentence.text()
    assert "SAUC-SVM ranks 0 of them wrongly" in view.sentence.text()


def test_outlying_pairs_do_not_set_the_axis_range():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(2_000, 2))
    places[0] = 1e3, 0.0
    positive = np.arange(2_000) % 2 == 0
    low, high = pair_frame(pair_cloud(places, positive), positive)
    z = (places[positive][:, None] - places[~positive][None]).reshape(-1, 2)
    assert ((z >= low) & (z <= high)).all(axis=1).mean() == pytest.approx(0.999, abs=1e-6)
    assert high[0] < 20
    few = places[1:21]
    cloud = pair_cloud(few, positive[1:21])
    assert_allclose(pair_frame(cloud, positive[1:21]), [cloud.low, cloud.high])


def test_legend_follows_the_text_size(view, record, qapp):
    usual = qapp.font()
    heights = []
    try:
        for share in (1, 2):
            font = QFont(usual)
            font.setPointSizeF(share * usual.pointSizeF())
            qapp.setFont(font)
            view.legend.explain([("a run", pen("k"))])
            (_, text), *_others = view.legend.items
            heights.append(text.font().pointSizeF())
    finally:
        qapp.setFont(usual)
    assert heights[1] > 1.7 * heights[0]


def test_legend_entries_do_not_overlap_before_painting(view, record):
    names = [f"a run with a rather long name, number {k}" for k in range(5)]
    view.legend.explain([(name, pen("k")) for name in names])
    places = [text.mapRectToScene(text.rect()) for _, text in view.legend.items]
    assert not any(a.intersects(b) for k, a in enumerate(places) for b in places[:k])
    plot = view.plot.getViewBox().sceneBoundingRect()
    assert all(place.bottom() <= plot.top() + 1 for place in places)
