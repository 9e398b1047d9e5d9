"""Non-linear ROC axes: transforms, ticks, curves, ranges, bands and the inset."""

import dataclasses
import itertools

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication
from scipy.stats import norm

from aucstudio.engine import inference, roc
from aucstudio.gui.common import curve_figures
from aucstudio.gui.common.plots import rate_axes as axes
from aucstudio.gui.pages.roc import words
from aucstudio.gui.pages.roc.bands import NONE, bounds_of
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.data.validation import FOLDS, Validation
from aucstudio.project.results.summary import tpr_summary
from tests.gui.conftest import choose, make_record, shown
from tests.gui.roc_runs import BAND, records, show, table, view  # noqa: F401  (fixtures)


def use_axis(view, kind):
    choose(view.choices.axis_combo, kind)
    QApplication.processEvents()


def drawn_bands(view):
    return [item for item in view.layers.bands.areas if item.isVisible()]


def counts(record):
    positive = record.splits[0].test_positive
    return int(positive.sum()), int((~positive).sum())


# ----------------------------------------------------------------- axes alone


@pytest.mark.parametrize("kind", ["log", "probit"])
def test_axis_transform_is_invertible(kind):
    for axis, rows in zip(axes.make_axes(kind, 40, 250), (250, 40), strict=True):
        rates = np.r_[0.0, np.linspace(0.5 / rows, 1 - 0.5 / rows, 99)[1:-1], 1.0]
        assert np.allclose(axis.backward(axis.forward(rates)), rates, atol=1e-12)
        assert (np.diff(axis.forward(rates)) > 0).all()


def test_rates_0_and_1_are_placed_half_a_row_inside():
    log, _ = axes.make_axes("log", 40, 250)
    assert axes.place(log, 0.0) == axes.place(log, 0.001) == np.log10(0.002)
    across, up = axes.make_axes("probit", 40, 250)
    assert axes.ends(across) == pytest.approx((norm.ppf(0.002), norm.ppf(0.998)))
    assert axes.place(up, 1.0) == pytest.approx(norm.ppf(1 - 0.0125))


@pytest.mark.parametrize("kind", ["log", "probit"])
def test_slanted_lines_follow_the_axis_and_steps_stay_steps(kind):
    along, up = axes.make_axes(kind, 500, 500)
    x, y = axes.placed(np.array([0.0, 0.4, 0.4, 1.0]), np.array([0.0, 0.6, 0.8, 1.0]), along, up)
    grid = np.linspace(0.002, 0.39, 200)
    drawn = np.interp(along.forward(grid), x, y)
    (low, high) = axes.ends(up)
    assert np.abs(drawn - up.forward(1.5 * grid)).max() < 2e-3 * (high - low)
    jump = (y > axes.place(up, 0.601)) & (y < axes.place(up, 0.799))
    assert set(x[jump]) <= {axes.place(along, 0.4)}


@pytest.mark.parametrize("kind", ["log", "probit"])
@pytest.mark.parametrize("part", [(0.0, 1.0), (0.3, 0.5), (0.4, 0.42), (0.95, 1.0)])
def test_ticks_are_few_apart_and_at_round_rates(qapp, kind, part):
    axis, _ = axes.make_axes(kind, 300, 4000)
    item = axes.RateAxis("bottom")
    item.show_axis(axis)
    left, right = axes.ends(axis)
    low, high = (left + share * (right - left) for share in part)
    [(_, places)] = item.tickValues(low, high, 600)
    assert 3 <= len(places) <= 14
    assert all(low - 1e-9 <= place <= high + 1e-9 for place in places)
    assert np.diff(places).min() >= 44 * (high - low) / 600 - 1e-9
    words = item.tickStrings(places, 1.0, 1.0)
    assert len(set(words)) == len(words)
    for word, place in zip(words, places, strict=True):
        rate = float(word.removesuffix(" %")) / (100 if kind == "probit" else 1)
        assert axes.place(axis, rate) == pytest.approx(place, abs=1e-6)


@pytest.mark.parametrize("percent", [100, 200])
def test_ticks_do_not_collide_in_any_size_of_text(qapp, apply_style, percent):
    apply_style(percent=percent)
    item = axes.RateAxis("bottom")
    item.show_axis(axes.ROOT)
    [(_, places)] = item.tickValues(0.0, 0.5, 600)
    words = item.tickStrings(places, 1.0, 1.0)
    width = QFontMetricsF(qapp.font()).horizontalAdvance
    marks = sorted(zip(places, map(width, words), strict=True))
    for (left, wide), (right, wider) in itertools.pairwise(marks):
        assert 1200 * (right - left) > (wide + wider) / 2


def test_log_axis_has_ticks_at_zero_and_the_decades(qapp):
    axis, _ = axes.make_axes("log", 300, 4000)
    item = axes.RateAxis("bottom")
    item.show_axis(axis)
    [(_, places)] = item.tickValues(*axes.ends(axis), 600)
    assert {"0", "0.001", "0.01", "0.1", "1"} <= set(item.tickStrings(places, 1.0, 1.0))


# ----------------------------------------------------------------- the picture on them


@pytest.mark.parametrize("kind", ["log", "probit"])
def test_curve_matches_the_engine_on_every_axis(view, session, records, kind):
    show(session, records, "RLS")
    use_axis(view, kind)
    split = records["RLS"].splits[0]
    curve = roc.roc_curve(split.test_positive, split.test_scores).corners()
    along, up = axes.make_axes(kind, *counts(records["RLS"]))
    drawn = np.column_stack(view.lines.drawn[0].item.getData())
    corners = np.column_stack([along.forward(curve.fpr), up.forward(curve.tpr)])
    for corner in corners:  # further points may be between them
        assert np.abs(drawn - corner).sum(axis=1).min() < 1e-9
    assert (np.diff(drawn, axis=0) >= 0).all()


def test_probit_axes_match_the_detection_error_tradeoff(view, session, records):
    show(session, records, "RLS")
    use_axis(view, "probit")
    split = records["RLS"].splits[0]
    curve = roc.roc_curve(split.test_positive, split.test_scores)
    # Rates half a row away from 0 and 1, where the quantiles would be infinite.
    m, n = curve.positives, curve.negatives
    x = norm.ppf(np.clip(curve.fpr, 0.5 / n, 1 - 0.5 / n))
    misses = norm.ppf(np.clip(1 - curve.tpr, 0.5 / m, 1 - 0.5 / m))
    points = view.lines.drawn[0].points
    assert np.allclose(points[0], x)
    assert np.allclose(points[1], -misses)


@pytest.mark.parametrize("kind", ["log", "probit"])
def test_range_edge_is_dragged_on_every_axis(view, session, records, kind):
    show(session, records, "RLS")
    use_axis(view, kind)
    item = view.canvas.band_item
    assert item.band() == pytest.approx(BAND)
    item.lines[1].setValue(axes.place(view.canvas.along, 0.25))
    assert session.plan.band == (0.0, 0.25)
    item.lines[0].setValue(axes.place(view.canvas.along, 0.05))
    assert session.plan.band == (0.05, 0.25)
    session.set_band(0.02, 0.5)
    assert item.band() == pytest.approx((0.02, 0.5))
    use_axis(view, "linear")
    assert item.getRegion() == (0.02, 0.5)
    assert session.plan.band == (0.02, 0.5)


@pytest.mark.parametrize("kind", ["linear", "log", "probit"])
def test_zoom_shows_the_range_alone(view, session, records, qtbot, kind):
    show(session, records, "RLS")
    use_axis(view, kind)
    session.set_band(0.1, 0.4)
    qtbot.mouseClick(view.choices.zoom_button, Qt.MouseButton.LeftButton)
    left, right = view.canvas.box.viewRange()[0]
    ends = [axes.place(view.canvas.along, edge) for edge in (0.1, 0.4)]
    air = 0.08 * (ends[1] - ends[0])
    assert (left, right) == pytest.approx((ends[0] - air, ends[1] + air))


def test_readout_is_the_same_on_every_axis(view, session, records):
    show(session, records, "RLS")
    vertex = 20
    readouts = []
    for kind in axes.KINDS:
        use_axis(view, kind)
        across, up = view.lines.drawn[0].points
        view.point_at(across[vertex], up[vertex])
        readouts.append(view.readout.text())
    assert readouts[0] == readouts[1] == readouts[2]
    assert "threshold" in readouts[0]


# ----------------------------------------------------------------- inset, bands, training range


def test_inset_magnifies_the_range_and_follows_it(view, session, records):
    show(session, records, "RLS", "Logistic")
    inset = view.canvas.inset
    assert not inset.isVisible()
    view.choices.inset_action.trigger()
    assert inset.isVisible()
    assert inset.seen[:2] == BAND
    session.set_band(0.1, 0.4)
    left, right, bottom, top = inset.seen
    assert (left, right) == (0.1, 0.4)
    known = [curve_figures.run_curves(records[name]).curves[0] for name in ("RLS", "Logistic")]
    assert bottom == pytest.approx(min(roc.tpr_at(c, 0.1).min() for c in known), abs=0.05)
    assert top == pytest.approx(max(roc.tpr_at(c, 0.4).max() for c in known), abs=0.05)
    assert inset.lines == view.lines.drawn
    assert not inset.sceneBoundingRect().intersects(view.canvas.legend.sceneBoundingRect())
    assert not inset.place(QRectF(0, 0, 200, 150), 0.0)
    view.choices.inset_action.trigger()
    assert not inset.isVisible()


def test_inset_paints_lines_only_within_the_range(view, session, records):
    """The corners of the inset are the edges of the range: lines are painted only between them."""
    show(session, records, "RLS")
    view.choices.inset_action.trigger()
    QApplication.processEvents()
    image = view.plot.grab().toImage()
    inset = view.canvas.inset
    plot = inset.mapRectToScene(inset.plot_rect())
    ratio = image.devicePixelRatio()
    corner = view.plot.mapFromScene(plot.bottomRight() - QPointF(6, 6))
    free = image.pixelColor(round(corner.x() * ratio), round(corner.y() * ratio))
    assert free.lightness() > 240
    assert inset.boundingRect().contains(inset.plot_rect())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pointwise", "kolmogorov"])
def test_confidence_band_matches_the_engine(view, session, records, qtbot, kind):
    show(session, records, "RLS")
    view.choices.choose(confidence=kind)
    qtbot.waitUntil(lambda: not view.busy())
    split = records["RLS"].splits[0]
    make = {"pointwise": inference.pointwise_band, "kolmogorov": inference.kolmogorov_band}[kind]
    (found,) = view.layers.bands.found
    expected = make(roc.Ranking.of(split.test_positive, split.test_scores), grid=found.fpr)
    assert np.array_equal([found.low, found.high], [expected.low, expected.high])
    assert set(inference.bands.GRID) <= set(found.fpr)
    assert len(drawn_bands(view)) == 1
    box = drawn_bands(view)[0].path().boundingRect()
    assert (box.left(), box.right()) == (0.0, 1.0)
    assert box.top() == pytest.approx(expected.low.min())
    assert f"Band: {found.words}." in view.sentence.text()
    for axis in ("log", "probit"):
        use_axis(view, axis)
        box = drawn_bands(view)[0].path().boundingRect()
        assert (box.left(), box.right()) == pytest.approx(axes.ends(view.canvas.along))
        assert box.bottom() == pytest.approx(axes.place(view.canvas.up, expected.high.max()))
    view.choices.choose(confidence=NONE)
    assert drawn_bands(view) == []
    assert "Band:" not in view.sentence.text()


def test_bootstrap_band_contains_the_curve(records):
    found = bounds_of(records["RLS"], "simultaneous")
    split = records["RLS"].splits[0]
    tpr = roc.tpr_at(roc.roc_curve(split.test_positive, split.test_scores), found.fpr)
    assert ((found.low <= tpr) & (tpr <= found.high)).all()
    assert "simultaneous" in found.words


@pytest.mark.parametrize("name", ["RLS x4", "folds"])
def test_band_over_splits_agrees_with_the_card(records, table, name):
    record = records.get(name) or make_record(table, validation=Validation(FOLDS, folds=3))
    found = bounds_of(record, "pointwise")
    for k in (5, 12, 20):
        expected = tpr_summary(record, float(found.fpr[k]))
        assert (found.low[k], found.high[k]) == expected.bounds
    assert (found.fpr[-1], found.low[-1], found.high[-1]) == (1, 1, 1)
    assert "pointwise" in found.words
    assert f"{len(record.splits)} splits" in found.words


def test_two_splits_have_no_band(records):
    two = dataclasses.replace(records["RLS x4"], id="two", splits=records["RLS x4"].splits[:2])
    assert not len(bounds_of(two, "pointwise").fpr)


@pytest.mark.slow
def test_only_the_selected_of_many_runs_has_a_band(view, session, records, qtbot):
    many = {f"run {k}": dataclasses.replace(records["RLS"], id=f"r{k}") for k in range(4)}
    show(session, many, *many)
    view.choices.choose(confidence="pointwise")
    qtbot.waitUntil(lambda: not view.busy())
    assert len(drawn_bands(view)) == 1


def test_link_action_ties_the_range_setting_to_the_fpr_range(view, session, records):
    action = view.choices.train_action
    assert not action.isEnabled()
    assert "whole ROC curve" in action.toolTip()
    session.edit(dataclasses.replace(session.plan, method="svm-pauc"), "Choose method")
    assert action.isEnabled()
    assert action.isChecked()
    session.set_band(0.05, 0.2)
    assert action.isChecked()
    assert session.plan.settings("svm-pauc") == {"fpr_range": (0.05, 0.2)}
    action.trigger()
    session.set_band(0.0, 0.3)
    assert not action.isChecked()
    assert "0.05 … 0.2" in action.toolTip()
    assert session.plan.settings("svm-pauc") == {"fpr_range": (0.05, 0.2)}
    action.trigger()
    assert session.plan.settings("svm-pauc") == {"fpr_range": (0.0, 0.3)}
    session.undo_stack.undo()
    assert not action.isChecked()


def test_run_trained_for_another_range_is_marked(view, session, records, qtbot):
    show(session, records, "RLS", "SVM-pAUC")
    assert "SVM-pAUC was trained for FPR 0 … 0.3: not the range shown." in shown(view, qtbot)
    assert view.footnote() == "SVM-pAUC was trained for FPR 0 … 0.3: not the range shown."
    session.set_band(0.0, 0.3)
    assert "trained" not in shown(view, qtbot)
    assert view.footnote() == ""
    assert not words.trained_elsewhere(records["RLS"], (0.5, 0.6))


def test_long_curves_are_compared_in_the_background(view, session, records, qtbot):
    rng = np.random.default_rng(0)
    positive = rng.random(30_000) < 0.2
    split = dataclasses.replace(
        records["RLS"].splits[0],
        test_rows=np.arange(30_000),
        test_positive=positive,
        test_scores=positive + rng.normal(size=30_000),
    )
    long = dataclasses.replace(records["RLS"], id="long", splits=(split,))
    show(session, {"Long": long}, "Long")
    qtbot.waitUntil(lambda: not view.busy())
    assert shown(view, qtbot).startswith(
        words.roc_sentence([ShownRun(long, RunLook("Long", 0))], BAND).text
    )
