"""Precision-recall, gain, lift and cost curves against scikit-learn, brute force and the engine."""

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from sklearn.metrics import average_precision_score, precision_recall_curve

from aucstudio.engine import inference, roc
from aucstudio.gui.common import curve_figures
from aucstudio.gui.common.plots.rate_axes import nearest
from aucstudio.gui.pages.roc import words
from aucstudio.gui.pages.roc.lines import FACES, shapes_of
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.runner import LiveRun
from aucstudio.notices.words import percent_words
from aucstudio.project.runs.progress import Look
from tests.gui.conftest import choose, set_running_job, shown
from tests.gui.roc_runs import (  # noqa: F401  (fixtures)
    named_in_legend,
    records,
    show_curve_kind,
    table,
    view,
)


def held_out(record, split=0):
    return record.splits[split].test_positive, record.splits[split].test_scores


def tied(rows=400):
    rng = np.random.default_rng(5)
    y = rng.random(rows) < 0.3
    return roc.roc_curve(y, np.round(y + rng.normal(size=rows), 1))


def test_precision_and_recall_match_scikit_learn(records):
    y, scores = held_out(records["RLS"])
    recall, precision = shapes_of(records["RLS"], FACES["precision"]).average.points
    theirs = precision_recall_curve(y, scores, drop_intermediate=False)
    assert np.allclose(recall[1:], theirs[1][-2::-1])
    assert np.allclose(precision[1:], theirs[0][-2::-1])
    (curve,) = curve_figures.run_curves(records["RLS"]).curves
    assert FACES["precision"].figure(curve) == pytest.approx(average_precision_score(y, scores))


@pytest.mark.parametrize("key", ["precision", "gain", "lift"])
def test_curve_between_points_interpolates_ties(key):
    """Along a segment of ties, an equal share of both classes is predicted positive."""
    curve, face = tied(), FACES[key]
    x, y = face.path(curve)
    assert (np.diff(x) >= 0).all()
    for k in (3, 10, 20):
        share = np.linspace(0, 1, 7)
        tp = curve.tp[k] + share * (curve.tp[k + 1] - curve.tp[k])
        fp = curve.fp[k] + share * (curve.fp[k + 1] - curve.fp[k])
        rows = (tp + fp) / (curve.tp[-1] + curve.fp[-1])
        found = tp / curve.positives
        expected = {
            "precision": (found, tp / (tp + fp)),
            "gain": (rows, found),
            "lift": (rows, found / rows),
        }[key]
        assert np.interp(expected[0], x, y) == pytest.approx(expected[1], abs=2e-3)
        if key != "precision":
            assert face.height(curve, expected[0]) == pytest.approx(expected[1])


@pytest.mark.parametrize("key", ["gain", "lift"])
def test_gain_and_lift_are_quoted_where_the_fpr_range_ends(view, records, key):
    show_curve_kind(view, records, "RLS", face=key)
    (curve,) = curve_figures.run_curves(records["RLS"]).curves
    for end in (0.02, 0.3):
        view.session.set_band(0.0, end)
        QApplication.processEvents()
        value = FACES[key].height(curve, np.array([end]))[0]
        assert f"top {percent_words(end)} of rows" in view.sentence.text()
        assert f"{value:.3f}" in view.sentence.text()


def test_gain_and_lift_count_the_first_tenth_of_the_rows():
    rng = np.random.default_rng(2)
    y, scores = rng.random(500) < 0.2, rng.normal(size=500)
    scores += y
    curve = roc.roc_curve(y, scores)
    found = y[np.argsort(-scores)[:50]].sum() / y.sum()
    assert FACES["gain"].figure(curve) == pytest.approx(found)
    assert FACES["lift"].figure(curve) == pytest.approx(10 * found)


def test_cost_curve_is_the_minimum_over_thresholds():
    curve, face = tied(), FACES["cost"]
    mix = np.linspace(0, 1, 41)
    every = mix[:, None] * (1 - curve.tpr) + (1 - mix[:, None]) * curve.fpr
    assert face.height(curve, mix) == pytest.approx(every.min(axis=1))
    fine = np.linspace(0, 1, 20_001)
    assert face.figure(curve) == pytest.approx(np.trapezoid(face.height(curve, fine), fine))


@pytest.mark.parametrize("key", ["precision", "gain", "lift", "cost"])
def test_splits_are_averaged_at_each_place(records, key):
    record, face = records["RLS x4"], FACES[key]
    shape = shapes_of(record, face).average
    known = curve_figures.run_curves(record).curves
    x = shape.points[0][:: max(len(shape.points[0]) // 40, 1)]
    heights = np.stack([face.height(curve, x) for curve in known])
    at = np.searchsorted(shape.points[0], x)
    assert shape.points[1][at] == pytest.approx(heights.mean(axis=0))
    assert shape.spread[at] == pytest.approx(heights.std(axis=0, ddof=1))


@pytest.mark.parametrize("key", list(FACES))
def test_every_curve_kind_has_its_axes_legend_and_sentence(view, records, key, qtbot):
    show_curve_kind(view, records, "RLS", "Logistic", face=key)
    face = FACES[key]
    axes = {side: view.plot.getAxis(side).labelText for side in ("bottom", "left")}
    assert axes == {"bottom": face.x_title, "left": face.y_title}
    for drawn, name in zip(view.lines.drawn, ("RLS", "Logistic"), strict=True):
        curve = curve_figures.run_curves(records[name]).curves[0]
        path = curve.corners() if key == "roc" else curve
        assert np.array_equal(drawn.item.getData(), face.path(path))
        assert name in named_in_legend(view)
        figure = f">{face.figure(curve):.3f}<"  # with intervals, which take a moment
        qtbot.waitUntil(lambda figure=figure: figure in view.canvas.legend.toolTip())
    assert f">{face.figure_title}<" in view.canvas.legend.toolTip()
    is_roc = key == "roc"
    assert view.canvas.band_item.isVisible() == is_roc
    assert view.choices.axis_combo.isVisible() == is_roc
    assert view.scene().face == key
    assert ("in the range" in shown(view, qtbot)) == is_roc
    (left, right), (bottom, top) = view.canvas.box.viewRange()
    for drawn in view.lines.drawn:
        x, y = drawn.line.x, drawn.line.y
        assert left < x.min()
        assert right > x.max()
        assert bottom < y.min()
        assert top > y.max()


def test_sentence_names_the_best_run_and_the_chance_level(view, records):
    show_curve_kind(view, records, "RLS", "Logistic", face="precision")
    figures = {n: average_precision_score(*held_out(records[n])) for n in ("RLS", "Logistic")}
    best = max(figures, key=figures.get)
    sentence = view.sentence.text()
    assert sentence.startswith(best) or "and" in sentence.split(" have ")[0]
    assert f"{figures[best]:.3f}" in sentence
    share = held_out(records["RLS"])[0].mean()
    assert f"Chance gives {share:.3f}, the share of positives." in sentence
    show_curve_kind(view, records, "RLS", face="cost")
    assert view.sentence.text().startswith("RLS: mean cost ")


def test_mean_over_splits_has_the_corrected_interval(view, records):
    show_curve_kind(view, records, "RLS x4", face="precision")
    figures = [average_precision_score(*held_out(records["RLS x4"], k)) for k in range(4)]
    found = inference.splits_interval(figures, 0.95, test_fraction=0.5)
    tooltip = view.canvas.legend.toolTip()
    assert f">{found.value:.3f}<" in tooltip
    assert f">{found.low:.3f}–{found.high:.3f}<" in tooltip
    assert "means over splits" in view.sentence.text()


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("precision", ("threshold", "precision", "TP ")),
        ("gain", ("share of positives found", "threshold")),
        ("lift", ("lift", "threshold")),
        ("cost", ("expected cost",)),
    ],
)
def test_readout_shows_values_of_every_curve_kind(view, records, key, words):
    show_curve_kind(view, records, "RLS", face=key)
    across, up = view.lines.drawn[0].points
    view.point_at(across[2], up[2])
    for word in words:
        assert word in view.readout.text()
    assert view.canvas.marker.getData()[0][0] == across[2]
    show_curve_kind(view, records, "RLS x4", face=key)
    view.point_at(0.4, 0.4)
    assert "over 4 splits" in view.readout.text()


def test_nearest_point_matches_brute_force(view, records):
    for key in ("roc", "precision", "lift"):
        show_curve_kind(view, records, "RLS", face=key)
        drawn = view.lines.drawn[0]
        x, y = drawn.points
        rng = np.random.default_rng(1)
        for at in rng.random((40, 2)) * [1.0, y.max()]:
            pixel = 0.002, 0.004
            distance = np.hypot((x - at[0]) / pixel[0], (y - at[1]) / pixel[1])
            assert nearest((x, y), at, pixel)[0] == pytest.approx(distance.min())


@pytest.mark.parametrize("key", list(FACES))
def test_figure_data_matches_the_curves(view, records, key):
    show_curve_kind(view, records, "RLS", "RLS x4", face=key)
    choose(view.choices.curve_combo, "every")
    QApplication.processEvents()
    data = view.figure_data()
    across, up = FACES[key].names
    assert list(data) == ["run", "split", across, up, "threshold"]
    assert len({len(column) for column in data.values()}) == 1
    where = [r == "RLS x4" and s == 3 for r, s in zip(data["run"], data["split"], strict=True)]
    curve = curve_figures.run_curves(records["RLS x4"]).curves[2]
    x, y = FACES[key].points(curve)
    assert np.array_equal(np.array(data[across])[where], x)
    assert np.array_equal(np.array(data[up])[where], y)
    cuts = np.array(data["threshold"])[where]
    if key == "cost":
        assert np.isnan(cuts).all()
    else:
        # A case is predicted positive if its score is greater, as everywhere.
        split = records["RLS x4"].splits[2]
        called = split.test_scores[:, None] > cuts
        assert np.array_equal(called[split.test_positive].sum(axis=0), curve.tp)
        assert np.array_equal(called[~split.test_positive].sum(axis=0), curve.fp)


def test_figure_data_of_an_average_has_no_threshold(view, records):
    show_curve_kind(view, records, "RLS x4", face="roc")
    data = view.figure_data()
    average = curve_figures.run_curves(records["RLS x4"]).average
    assert np.array_equal(data["fpr"], average.x)
    assert np.array_equal(data["tpr"], average.y)
    assert set(data["split"]) == {0}
    assert np.isnan(data["threshold"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("key", list(FACES))
@pytest.mark.parametrize("kind", ["linear", "log"])
def test_running_job_is_drawn_as_every_curve_kind(view, records, key, kind):
    show_curve_kind(view, records, "RLS", face=key)
    choose(view.choices.axis_combo, kind)
    QApplication.processEvents()
    y, scores = held_out(records["RLS"])
    live = LiveRun(records["RLS"].experiment, RunLook("RankSVM", 3))
    live.picture = Look(y, scores**3, records["RLS"].splits[0].model.scorer)
    set_running_job(view.session, live)
    finished, running = view.lines.drawn[0].item.getData(), view.canvas.live_item.getData()
    assert np.array_equal(finished, running)  # the same order of the rows
    figure = words.figure_cells(FACES[key], view.session.run(records["RLS"].id))[0]
    assert f" is training: {FACES[key].figure_title} {figure}" in view.sentence.text()
    set_running_job(view.session, None)
    assert len(view.canvas.live_item.getData()[0]) == 0
