"""The layers over the ROC curves, on every kind of axes, against the engine and brute force."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel

from aucstudio.engine import inference, roc
from aucstudio.gui.common.curve_figures import run_curves
from aucstudio.gui.common.plots import rate_axes as axes
from aucstudio.gui.common.plotting import make_plot
from aucstudio.gui.pages.roc import overlays
from aucstudio.gui.pages.roc.costs import CostLayer, hull_of, prior_at, prior_step
from aucstudio.gui.pages.roc.operating_point import OperatingPointLayer
from aucstudio.gui.pages.roc.overlays import DifferenceLayer, IsometricLayer, Scene
from aucstudio.gui.pages.roc.roc_view import RocView
from aucstudio.notices import text
from aucstudio.notices.words import p_words
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.thresholds import Target, expected_cost
from tests.gui.conftest import expose, make_record, on, points, put

KINDS = ("linear", "log", "probit")


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def plot(qtbot):
    return expose(qtbot, make_plot("layers_plot", "FPR", "TPR"), 500, 500)


@pytest.fixture
def scene(session, plot):
    """Build the scene of the session's runs on one kind of axes, whole or zoomed."""

    def scene(kind="linear", window=None):
        runs = tuple(session.checked_runs())
        split = runs[0].record.splits[0]
        n = int((~split.test_positive).sum())
        x, y = axes.make_axes(kind, int(split.test_positive.sum()), n)
        window = window or (*axes.ends(x), *axes.ends(y))
        plot.getViewBox().setRange(xRange=window[:2], yRange=window[2:], padding=0)
        return Scene(
            runs,
            session.run(session.selected),
            session.run(session.compared),
            session.focus,
            session.plan.band,
            x,
            y,
            window,
        )

    return scene


def add(session, method="auc-rls", name="Run", **changes):
    return put(session, make_record(session.table, method, **changes), name)


# ------------------------------------------------------------- operating point


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threshold", [-0.8, 0.0, 0.37, 1e6, -1e6])
def test_point_is_at_the_rates_of_the_threshold(session, plot, scene, kind, threshold):
    split = add(session).splits[0]
    session.set_threshold(threshold=threshold)
    layer = OperatingPointLayer(plot, session)
    shown = scene(kind)
    layer.show(shown)
    called, y = split.test_scores > threshold, split.test_positive
    assert layer.point.tpr == pytest.approx(called[y].mean())
    assert layer.point.fpr == pytest.approx(called[~y].mean())
    place = [axes.place(shown.x, called[~y].mean()), axes.place(shown.y, called[y].mean())]
    np.testing.assert_allclose(points(layer.handle), [place])


def test_card_counts_rows_and_ten_thousand_cases(session, plot, scene):
    split = add(session).splits[0]
    session.set_threshold(threshold=0.2)
    session.weigh(prior=0.001)
    layer = OperatingPointLayer(plot, session)
    layer.show(scene())
    called, y = split.test_scores > 0.2, split.test_positive
    tpr, fpr = called[y].mean(), called[~y].mean()

    def text(name):
        return layer.panel.findChild(QLabel, name).text()

    assert text("count_tp") == f"TP  {(called & y).sum()}"
    assert text("count_fp") == f"FP  {(called & ~y).sum()}"
    assert float(text("cases_tp")) == pytest.approx(10 * tpr, rel=0.02)
    assert float(text("cases_fp").replace(",", "")) == pytest.approx(9990 * fpr, rel=0.01)
    precision = 10 * tpr / (10 * tpr + 9990 * fpr)
    assert text("rate_precision") == f"{precision:.2g}"
    assert text("rate_accuracy") == f"{0.001 * tpr + 0.999 * (1 - fpr):.3f}"
    assert float(text("rate_alerts").split()[0]) == pytest.approx(1 * tpr + 999 * fpr, rel=0.01)
    assert "1 in 1,000" in text("cases_caption")


def test_arrow_keys_step_along_the_curve(session, plot, scene):
    split = add(session).splits[0]
    curve = roc.roc_curve(split.test_positive, split.test_scores)
    layer = OperatingPointLayer(plot, session)
    on(session, "focus", lambda: layer.show(scene()))
    layer.show(scene())
    start = layer.point.vertex

    def press(key, modifiers=Qt.KeyboardModifier.NoModifier):
        QApplication.sendEvent(plot, QKeyEvent(QEvent.Type.KeyPress, key, modifiers))

    press(Qt.Key.Key_Right)
    assert layer.point.vertex == start + 1
    press(Qt.Key.Key_A)
    assert layer.point.vertex == start + 1
    press(Qt.Key.Key_Down)
    press(Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert layer.point.vertex == start - 10
    called = split.test_scores > session.focus.threshold
    assert called[split.test_positive].sum() == curve.tp[start - 10]
    assert called[~split.test_positive].sum() == curve.fp[start - 10]


def test_every_vertex_can_be_reached(session, plot, scene):
    split = add(session).splits[0]
    layer = OperatingPointLayer(plot, session)
    layer.show(scene())
    curve = layer.point.curve
    for vertex in range(len(curve.tp)):
        layer.handle.dragged.emit(float(curve.fpr[vertex]), float(curve.tpr[vertex]))
        called = split.test_scores > session.focus.threshold
        counts = called[split.test_positive].sum(), called[~split.test_positive].sum()
        assert counts == (curve.tp[vertex], curve.fp[vertex])


def test_only_a_click_near_the_curve_places_the_point(session, plot, scene):
    add(session)
    layer = OperatingPointLayer(plot, session)
    layer.show(scene())
    box, trace = plot.getViewBox(), layer.point.trace

    class Click:
        def __init__(self, x, y):
            self.at = box.mapViewToScene(QPointF(x, y))

        def scenePos(self):
            return self.at

        def double(self):
            return False

        def isAccepted(self):
            return False

        def button(self):
            return Qt.MouseButton.LeftButton

    plot.scene().sigMouseClicked.emit(Click(0.9, 0.1))
    assert session.focus.target == Target("fpr", 0.1)
    plot.scene().sigMouseClicked.emit(Click(float(trace.x[20]), float(trace.y[20])))
    layer.show(scene())
    assert (layer.point.fpr, layer.point.tpr) == (trace.x[20], trace.y[20])


def test_point_on_an_average_curve_keeps_the_fpr_of_the_split(session, plot, scene):
    record = add(session, validation=Validation(repeats=4))
    session.set_threshold(split=2, threshold=0.1)
    layer = OperatingPointLayer(plot, session)
    layer.show(scene())
    split = record.splits[2]
    fpr = (split.test_scores[~split.test_positive] > 0.1).mean()
    heights = [float(roc.tpr_at(curve, [fpr])[0]) for curve in run_curves(record).curves]
    assert layer.point.fpr == pytest.approx(fpr)
    assert layer.point.tpr == pytest.approx(np.mean(heights))
    layer.move_to(0.25)
    negatives = split.test_scores[~split.test_positive]
    assert (negatives > session.focus.threshold).mean() <= 0.25
    lower = negatives[negatives <= session.focus.threshold].max()
    assert (negatives >= lower).mean() > 0.25


def test_layers_are_empty_without_a_run_or_roc_curve(qtbot, session, plot, scene):
    add(session)
    layers = [kind(plot, session) for kind in (OperatingPointLayer, CostLayer, IsometricLayer)]
    qtbot.addWidget(layers[1].panel)
    for layer in layers:
        layer.enabled = True
        layer.show(dataclasses.replace(scene(), face="cost"))
        assert layer.words == ""
    assert layers[0].point is None
    assert not layers[1].line.isVisible()
    assert layers[2].levels == []
    layers[0].show(dataclasses.replace(scene(), runs=(), chosen=None))
    assert not layers[0].handle.isVisible()


# ------------------------------------------------------------- costs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("prior", "miss"), [(0.3, 1.0), (0.02, 40.0), (1e-6, 1.0), (0.5, 0.05)])
def test_best_point_has_the_least_expected_cost(qtbot, session, plot, scene, kind, prior, miss):
    split = add(session).splits[0]
    session.weigh(prior=prior, miss=miss)
    layer = CostLayer(plot, session)
    qtbot.addWidget(layer.panel)
    layer.enabled = True
    layer.show(scene(kind))
    curve = roc.roc_curve(split.test_positive, split.test_scores)
    costs = 10_000 * ((1 - prior) * curve.fpr + miss * prior * (1 - curve.tpr))
    assert layer.best.cost == pytest.approx(costs.min())
    assert layer.best.nobody == pytest.approx(10_000 * miss * prior)
    assert layer.best.everybody == pytest.approx(10_000 * (1 - prior))
    layer.go_to_best()
    called, y = split.test_scores > session.focus.threshold, split.test_positive
    here = expected_cost(called[y].mean(), called[~y].mean(), prior, miss)
    assert here == pytest.approx(costs.min())


@pytest.mark.parametrize("kind", KINDS)
def test_cost_line_touches_the_hull_from_above(qtbot, session, plot, scene, kind):
    add(session)
    session.weigh(prior=0.2, miss=2.0)
    layer = CostLayer(plot, session)
    qtbot.addWidget(layer.panel)
    layer.enabled = True
    shown = scene(kind)
    layer.show(shown)
    x, y = layer.line.getData()
    fpr, tpr = shown.x.backward(x), shown.y.backward(y)
    # Rates beyond the ends of a non-linear axis are drawn at its ends.
    inside = (fpr > 0) & (tpr > 0) & (tpr < 1) | (kind == "linear")
    costs = expected_cost(tpr, fpr, 0.2, 2.0)[inside]
    np.testing.assert_allclose(costs, layer.best.cost, rtol=1e-6)
    trace = run_curves(shown.chosen.record).average
    assert (expected_cost(trace.y, trace.x, 0.2, 2.0) >= layer.best.cost - 1e-9).all()
    assert inside.sum() > (50 if kind != "linear" else 1)


def test_hull_of_an_average_curve_is_on_or_above_it(session):
    trace = run_curves(add(session, validation=Validation(repeats=3))).average
    x, y = hull_of(trace)
    dx, dy = np.diff(x), np.diff(y)
    assert (dx[:-1] * dy[1:] < dy[:-1] * dx[1:]).all()
    assert (np.interp(trace.x, x, y) >= trace.y - 1e-12).all()
    on = {*zip(trace.x.tolist(), trace.y.tolist(), strict=True)}
    assert set(zip(x.tolist(), y.tolist(), strict=True)) <= on


def test_prior_and_cost_are_parsed_and_shown(qtbot, session, plot, scene):
    record = add(session)
    layer = CostLayer(plot, session)
    qtbot.addWidget(layer.panel)
    layer.enabled = True
    on(session, "stakes", lambda: layer.show(scene()))
    layer.show(scene())
    panel = layer.panel
    share = session.table.is_positive().mean()
    assert panel.prior_field.text() == f"{100 * share:.3g} %"
    assert panel.whose.text() == "as in the data"
    assert layer.prior() == pytest.approx(share)
    panel.prior_field.editingFinished.emit()
    assert session.stakes.prior is None
    for typed, prior in (("1 in 5000", 2e-4), ("0.02 %", 2e-4), ("0.0007", 7e-4)):
        panel.prior_field.setText(typed)
        panel.prior_field.editingFinished.emit()
        assert session.stakes.prior == pytest.approx(prior)
    panel.prior_field.setText("often")
    panel.prior_field.editingFinished.emit()
    assert "'often'" in panel.problem.text()
    assert session.stakes.prior == pytest.approx(7e-4)
    panel.miss_field.setText("25")
    panel.miss_field.editingFinished.emit()
    assert session.stakes.miss == 25
    panel.prior_slider.setValue(0)
    assert session.stakes.prior == 1e-6
    panel.table_button.click()
    assert session.stakes.prior is None
    assert record.splits


@pytest.mark.parametrize("prior", [1e-6, 3e-4, 0.02, 0.5, 0.99])
def test_prior_slider_is_logarithmic(prior):
    assert prior_at(prior_step(prior)) == pytest.approx(prior, rel=0.02)


def test_best_threshold_has_an_interval(session, plot, scene, qtbot):
    add(session)
    layer = CostLayer(plot, session)
    qtbot.addWidget(layer.panel)
    layer.enabled = True
    layer.show(scene())
    qtbot.waitUntil(lambda: "95 %" in layer.panel.sure.text())
    assert "500 draws" in layer.panel.sure.text()


# ------------------------------------------------------------- isometrics


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("measure", list(overlays.MEASURES))
def test_isometrics_are_lines_of_equal_value(session, plot, scene, kind, measure):
    add(session)
    session.weigh(prior=0.1)
    layer = IsometricLayer(plot, session)
    layer.enabled, layer.measure = True, measure
    shown = scene(kind)
    layer.show(shown)
    x, y = layer.lines.getData()
    ends = np.flatnonzero(np.isnan(x))
    assert len(ends) == len(layer.levels) >= 3
    for level, part in zip(layer.levels, np.split(np.column_stack([x, y]), ends), strict=False):
        part = part[~np.isnan(part[:, 0])]
        fpr, tpr = shown.x.backward(part[:, 0]), shown.y.backward(part[:, 1])
        # Rates beyond the ends of a non-linear axis are mapped to exactly 0 or 1.
        inside = (fpr > shown.x.low) & (fpr < shown.x.high) & (tpr > shown.y.low) & (tpr < 0.999)
        values = overlays.MEASURES[measure](tpr[inside], fpr[inside], 9.0)
        np.testing.assert_allclose(values, level, rtol=1e-6, atol=1e-9)
    assert [item.toPlainText() for item in layer.labels if item.isVisible()] == [
        f"{level:.3g}".replace("-", "−") for level in layer.levels
    ]


def test_isometrics_follow_the_zoom_and_the_prior(session, plot, scene):
    add(session)
    layer = IsometricLayer(plot, session)
    layer.enabled, layer.measure = True, "precision"
    layer.show(scene())
    whole = layer.levels
    layer.show(scene(window=(0.0, 0.05, 0.4, 0.6)))
    assert layer.levels != whole
    x, y = layer.lines.getData()
    assert np.nanmax(x) <= 0.05
    assert np.nanmin(y) >= 0.4
    zoomed = layer.levels
    session.weigh(prior=1e-4)
    layer.show(scene(window=(0.0, 0.05, 0.4, 0.6)))
    assert layer.levels != zoomed
    assert "1 in 10,000" in layer.words


@pytest.mark.parametrize(
    ("ends", "levels"),
    [((0.0, 1.0, 0.5), [0.2, 0.4, 0.6, 0.8]), ((0.0, 1.0, 1e-4), None), ((0.5, 0.5, 0.5), [])],
)
def test_isometric_levels_are_round(ends, levels):
    found = overlays.round_levels(*ends)
    if levels is not None:
        assert found == levels
    else:
        mantissas = {f"{level:e}"[0] for level in found}
        assert mantissas <= {"1", "2", "5"}
        assert found == sorted(found)


# ------------------------------------------------------------- difference


def area_of(path):
    """Return the sum of the signed areas of a filled path."""
    polygons = path.toFillPolygon()
    corners = np.array([(p.x(), p.y()) for p in polygons])
    x, y = corners.T
    return 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))


def test_filled_regions_add_up_to_the_auc_difference(session, plot, scene):
    a, b = add(session), add(session, "svm", "Other")
    session.compare_with(a.id)
    layer = DifferenceLayer(plot)
    layer.enabled = True
    shown = scene()
    layer.show(shown)
    of_b, of_a = (run_curves(record).average for record in (b, a))
    grid = (np.arange(200_000) + 0.5) / 200_000
    gap = np.interp(grid, *of_b.corners) - np.interp(grid, *of_a.corners)
    leads = area_of(layer.fills[0].path()), area_of(layer.fills[1].path())
    assert leads[0] == pytest.approx(np.maximum(gap, 0).mean(), abs=1e-4)
    assert leads[1] == pytest.approx(np.maximum(-gap, 0).mean(), abs=1e-4)
    auc = [roc.auc(r.splits[0].test_positive, r.splits[0].test_scores) for r in (b, a)]
    assert leads[0] - leads[1] == pytest.approx(auc[0] - auc[1], abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_filled_outline_follows_both_curves(session, scene, kind):
    a, b = add(session), add(session, "svm", "Other")
    shown = scene(kind)
    traces = [run_curves(record).average for record in (a, b)]
    fpr, *heights = overlays.between(shown, *traces)
    assert (np.diff(fpr) >= 0).all()
    for found, trace in zip(heights, traces, strict=True):
        inner = np.setdiff1d(fpr, trace.x)
        at = np.searchsorted(fpr, inner)
        np.testing.assert_allclose(found[at], np.interp(inner, trace.x, trace.y), atol=1e-12)


def test_difference_is_tested_as_by_the_engine(session, plot, scene, qtbot):
    a, b = add(session, name="One"), add(session, "svm", "Other")
    session.compare_with(a.id)
    session.set_band(0.0, 0.5)
    layer = DifferenceLayer(plot)
    layer.enabled = True
    layer.show(scene())
    with qtbot.waitSignal(layer.changed):
        pass
    one, other = b.splits[0], a.splits[0]
    data = one.test_positive, one.test_scores, other.test_scores
    whole, part = inference.delong_test(*data), inference.pauc_test(*data, 0.0, 0.5)
    sure = f"no test: {part.reason}" if part.reason else f"paired {p_words(part.p)}"
    assert sure in layer.words
    assert f"{abs(whole.difference):.3f} (DeLong, p = " in layer.words
    area = roc.partial_auc(*data[:2], 0, 0.5).raw - roc.partial_auc(data[0], data[2], 0, 0.5).raw
    assert f"{area:+.3f}".replace("-", "−") in layer.words


def test_difference_layer_explains_how_to_choose_a_second_run(session, plot, scene):
    add(session)
    layer = DifferenceLayer(plot)
    layer.enabled = True
    layer.show(scene())
    assert layer.missing == text("choose_a_second_run")
    assert not layer.fills[0].isVisible()
    session.compare_with(session.selected)
    layer.show(scene())
    assert not layer.fills[0].isVisible()


def test_page_says_first_what_a_difference_lacks(session, open_view, qtbot):
    for k in range(3):
        add(session, name=f"Run {k}")
    view = open_view(RocView, session)
    qtbot.waitUntil(lambda: not view.busy())
    view.choices.switches["difference_action"].trigger()
    assert view.sentence.headline.accessibleName() == text("choose_a_second_run")


# ------------------------------------------------------------- places, and the page


def test_layers_are_switched_in_the_menu(session, open_view, qtbot):
    add(session)
    view = open_view(RocView, session)
    menu = view.choices.show_menu
    session.set_threshold(threshold=0.4)
    assert "At threshold 0.4 Run has TPR" in view.sentence.text()
    assert not view.layers.side.isVisible()
    menu.findChild(QAction, "confusion_action").trigger()
    assert view.layers.side.isVisible()
    menu.findChild(QAction, "cost_action").trigger()
    assert view.layers.costs.panel.isVisible()
    assert "cost least" in view.sentence.text()
    menu.findChild(QAction, "isometrics_f_action").trigger()
    assert view.layers.isometrics.levels
    menu.findChild(QAction, "isometrics_none_action").trigger()
    assert not view.layers.isometrics.levels
    menu.findChild(QAction, "operating_point_action").trigger()
    assert not view.layers.point.handle.isVisible()
    qtbot.waitUntil(lambda: not view.busy())
    view.restyle()


def test_hidden_page_shows_the_current_threshold_when_shown(session, open_view, qtbot):
    add(session)
    view = open_view(RocView, session)
    view.hide()
    session.set_threshold(threshold=0.4)
    view.show()
    qtbot.waitUntil(lambda: view.layers.point.point.threshold == 0.4)
