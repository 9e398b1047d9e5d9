"""The ROC page against the engine and brute force."""

import dataclasses
import threading
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication

from aucstudio.engine import inference, roc
from aucstudio.gui.common import curve_figures, printing
from aucstudio.gui.common.plots.rate_axes import place
from aucstudio.gui.common.theme import DARK, LIGHT, run_colour
from aucstudio.gui.pages.roc import words as texts
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices import text
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.comparison import AUC, PAUC, compare_runs
from aucstudio.project.results.summary import auc_summary, pauc_summary
from aucstudio.project.runs.progress import Look
from tests.gui.conftest import PATIENCE, choose, make_record, set_running_job, shown
from tests.gui.roc_runs import (  # noqa: F401  (fixtures)
    BAND,
    named_in_legend,
    records,
    show,
    show_curve_kind,
    table,
    view,
)


def lines(view):
    return [np.array(drawn.item.getData()) for drawn in view.lines.drawn]


def turned(record):
    """Return the same run with negated scores."""
    splits = tuple(dataclasses.replace(s, test_scores=-s.test_scores) for s in record.splits)
    return dataclasses.replace(record, id=f"{record.id}-turned", splits=splits)


def brute_partial_auc(positive, scores, alpha, beta):
    """Return the trapezoid area on a fine grid of the curve built point by point."""
    order = np.unique(scores)[::-1]
    tpr = np.r_[0, [(scores[positive] >= t).mean() for t in order]]
    fpr = np.r_[0, [(scores[~positive] >= t).mean() for t in order]]
    edges = np.unique(np.r_[alpha, fpr[(fpr > alpha) & (fpr < beta)], beta])
    area = 0.0
    for low, high in pairwise(edges):
        middle = (low + high) / 2
        area += (high - low) * np.interp(middle, fpr, tpr)
    return area


def test_curve_matches_the_engine(view, session, records):
    show(session, records, "RLS", "Logistic")
    drawn = lines(view)
    assert len(drawn) == 2
    for line, name in zip(drawn, ("RLS", "Logistic"), strict=True):
        split = records[name].splits[0]
        corners = roc.roc_curve(split.test_positive, split.test_scores).corners()
        assert np.array_equal(line, [corners.fpr, corners.tpr])
    pens = [d.item.opts["pen"] for d in view.lines.drawn]
    assert [p.color() for p in pens] == [run_colour(LIGHT, k) for k in (0, 1)]
    assert pens[0].dashPattern() != pens[1].dashPattern()


def test_legend_names_runs_and_its_tooltip_lists_areas(view, session, records, qtbot):
    show(session, records, "RLS", "Logistic")
    assert named_in_legend(view) == ["RLS", "Logistic"]
    qtbot.waitUntil(lambda: not view.busy(), timeout=PATIENCE)  # the areas are computed
    tip = view.canvas.legend.toolTip()
    for name in ("RLS", "Logistic"):
        split = records[name].splits[0]
        found = inference.delong_interval(split.test_positive, split.test_scores)
        area = roc.partial_auc(split.test_positive, split.test_scores, *BAND)
        part = brute_partial_auc(split.test_positive, split.test_scores, *BAND) / 0.1
        for number in (
            *(f"{found.value:.3f}", f"{found.low:.3f}–{found.high:.3f}", f"{part:.3f}"),
            *(f"{area.raw:.4f}", f"{area.mcclish:.3f}", f"{area.negatives}"),
            *(f"{area.chance:.4f}", f"{area.maximum:.4f}"),
        ):
            assert f">{number}<" in tip


def test_legend_uses_a_free_corner_or_is_hidden(view, records):
    legend, box = view.canvas.legend, view.canvas.box

    def place():
        middle, room = legend.mapRectToParent(legend.boundingRect()).center(), box.rect().center()
        return middle.x() > room.x(), middle.y() > room.y()

    corners = {"roc": (1, 1), "precision": (1, 0), "gain": (1, 1), "lift": (1, 0), "cost": (0, 0)}
    for face, corner in corners.items():
        show_curve_kind(view, records, "RLS", face=face)
        assert place() == corner
    show_curve_kind(view, records, "RLS", face="roc")
    choose(view.choices.axis_combo, "log")
    QApplication.processEvents()
    assert place() == (0, 0)
    view.resize(260, 260)
    QApplication.processEvents()
    assert not legend.isVisible()
    assert [name for name, _look in view.plot.hidden_legend] == ["RLS"]


@pytest.mark.parametrize("scale", ["normalized", "raw", "mcclish"])
def test_partial_auc_is_shown_on_three_scales(view, session, records, scale):
    show(session, records, "RLS")
    view.choices.choose(area=scale)
    (run,) = session.checked_runs()
    split = records["RLS"].splits[0]
    area = getattr(roc.partial_auc(split.test_positive, split.test_scores, *BAND), scale)
    words = texts.range_words(run, BAND, view.choices.area)
    assert f"{curve_figures.SCALES[scale]} {curve_figures.area_words(area, scale)}" in words


def test_dragging_an_edge_updates_the_range_and_the_areas(view, session, records, qtbot):
    show(session, records, "RLS")
    line = view.lines.drawn[0].item
    view.canvas.band_item.lines[1].setValue(0.23456789)
    assert session.plan.band == (0.0, 0.23)
    assert view.choices.band_high.value() == 0.23
    split = records["RLS"].splits[0]
    area = roc.partial_auc(split.test_positive, split.test_scores, 0.0, 0.23)
    qtbot.waitUntil(lambda: not view.busy(), timeout=PATIENCE)
    assert f">{area.normalized:.3f}<" in view.canvas.legend.toolTip()
    assert view.lines.drawn[0].item is line  # the curves are not redrawn
    view.canvas.band_item.lines[0].setValue(0.9)  # against the other edge
    assert session.plan.band == (0.229, 0.23)
    assert session.undo_stack.count() == 1
    session.undo_stack.undo()
    assert session.plan.band == BAND
    assert view.canvas.band_item.getRegion() == BAND


def drag(item, start, end, first=True):
    item.mouseDragEvent(
        SimpleNamespace(
            button=lambda: Qt.MouseButton.LeftButton,
            accept=lambda: None,
            isStart=lambda: first,
            isFinish=lambda: not first,
            pos=lambda: QPointF(end, 0.5),
            buttonDownPos=lambda: QPointF(start, 0.5),
        )
    )


def test_moved_band_keeps_its_width(view, session):
    session.set_band(0.1, 0.3)
    drag(view.canvas.band_item, 0.2, 0.5)
    assert session.plan.band == (0.4, 0.6)
    drag(view.canvas.band_item, 0.2, 1.7, first=False)
    assert session.plan.band == (0.8, 1.0)
    drag(view.canvas.band_item, 0.2, -3.0, first=False)
    assert session.plan.band == (0.0, 0.2)


def test_range_fields_set_the_band_and_push_the_other_edge(view, session):
    view.choices.band_high.setValue(0.05)
    assert session.plan.band == (0.0, 0.05)
    assert view.canvas.band_item.getRegion() == (0.0, 0.05)
    view.choices.band_low.setValue(0.0123)
    assert session.plan.band == (0.0123, 0.05)
    assert view.choices.band_low.text() == "0.0123"
    view.choices.band_low.setValue(0.5)
    assert session.plan.band == (0.5, 0.5377)
    view.choices.band_high.setValue(0.2)
    assert session.plan.band == (0.1623, 0.2)
    view.choices.band_low.setValue(0.999)
    assert session.plan.band == (0.999, 1.0)


def test_band_set_elsewhere_is_shown_without_rounding(view, session):
    session.set_band(0.02, 0.123456)
    assert session.plan.band == (0.02, 0.123456)
    assert view.canvas.band_item.getRegion() == (0.02, 0.123456)
    assert view.choices.band_high.text() == "0.1235"
    assert session.undo_stack.count() == 1


@pytest.mark.parametrize(
    ("low", "high", "old", "fitted"),
    [
        (-0.3, 0.5, (0.0, 0.5), (0.0, 0.5)),
        (0.5, 0.5, (0.2, 0.5), (0.499, 0.5)),
        (0.2, 0.2, (0.2, 0.5), (0.2, 0.201)),
        (1.0, 1.0, (0.9, 1.0), (0.999, 1.0)),
        (0.0, 0.0, (0.0, 0.1), (0.0, 0.001)),
        (0.0, 0.0, (0.1, 0.2), (0.0, 0.001)),
        (0.123456, 0.99996, (0.1, 0.2), (0.1235, 1.0)),
    ],
)
def test_dragged_band_is_rounded_with_a_minimum_width(low, high, old, fitted):
    assert curve_figures.fit_band(low, high, old) == fitted


def test_shaded_area_is_the_partial_auc_of_the_selected_run(view, session, records):
    show(session, records, "RLS", "Logistic", select=1)
    session.set_band(0.033, 0.471)
    x, y = view.canvas.shade_item.getData()
    split = records["Logistic"].splits[0]
    area = roc.partial_auc(split.test_positive, split.test_scores, 0.033, 0.471)
    assert np.trapezoid(y, x) == pytest.approx(area.raw, abs=1e-12)
    assert (x[0], x[-1]) == (0.033, 0.471)
    shade = view.canvas.shade_item.opts["brush"].color()
    assert shade.name() == run_colour(LIGHT, 1).name()
    session.select(records["RLS"].id)
    QApplication.processEvents()
    assert view.canvas.shade_item.opts["brush"].color().name() == run_colour(LIGHT, 0).name()


def test_readout_shows_the_nearest_vertex(view, session, records):
    show(session, records, "RLS")
    split = records["RLS"].splits[0]
    positive, scores = split.test_positive, split.test_scores
    # Scores must be greater, as everywhere: the threshold is between this row and the next.
    threshold = np.sort(scores)[::-1][29:31].mean()
    called = scores > threshold
    tp, fp = int((called & positive).sum()), int((called & ~positive).sum())
    m, n = int(positive.sum()), int((~positive).sum())
    place = view.canvas.box.mapViewToScene(QPointF(fp / n + 1e-5, tp / m - 1e-5))
    view.plot.scene().sigMouseMoved.emit(place)
    precision, recall = tp / (tp + fp), tp / m
    for words in (
        "RLS ",
        f"threshold {threshold:.4g}".replace("-", "−"),
        f"FPR {fp / n:.3f}",
        f"TPR {recall:.3f}",
        f"precision {precision:.3f}",
        f"F1 {2 * precision * recall / (precision + recall):.3f}",
        f"TP {tp} of {m}",
        f"FP {fp} of {n}",
    ):
        assert words in view.readout.text()
    assert view.canvas.marker.getData()[0][0] == fp / n
    view.plot.scene().sigMouseMoved.emit(QPointF(-5, -5))
    assert len(view.canvas.marker.getData()[0]) == 0
    assert view.readout.text() == ""
    assert not view.readout.isVisible()


def test_readout_at_the_origin_has_no_precision(view, session, records):
    show(session, records, "RLS")
    view.point_at(0.0, 0.0)
    assert "threshold above all scores" in view.readout.text()
    assert "precision –" in view.readout.text()


def test_unchecked_run_is_removed_from_the_picture(view, session, records):
    show(session, records, "RLS", "Logistic")
    session.set_look(records["RLS"].id, "Hide", visible=False)
    QApplication.processEvents()
    assert named_in_legend(view) == ["Logistic"]
    assert len(lines(view)) == 1
    assert len(view.canvas.shade_item.getData()[0]) == 0  # the selected run is the hidden one
    session.set_look(records["Logistic"].id, "Hide", visible=False)
    QApplication.processEvents()
    assert "tick or select a run" in view.canvas.hint.toPlainText()
    assert not view.sentence.text()  # the hint already says it
    assert not view.canvas.legend.isVisible()


def test_running_job_is_drawn_until_it_ends(view, session, records):
    show(session, records, "RLS")
    split = records["RLS"].splits[0]
    live = LiveRun(records["RLS"].experiment, RunLook("RankSVM", 3))
    set_running_job(session, live)
    assert (
        view.canvas.live_item.getData()[0] is None or len(view.canvas.live_item.getData()[0]) == 0
    )
    live.picture = Look(split.test_positive, np.zeros(len(split.test_scores)), None)
    set_running_job(session, session.live)
    assert len(view.canvas.live_item.getData()[0]) == 0  # no step was made yet
    assert "AUC 0.500" not in view.sentence.text()
    doing = text("live_before_curve", name="RankSVM", doing="starting")
    assert doing in view.sentence.text()
    legend = text("live_in_legend", name="RankSVM", doing="starting")
    assert named_in_legend(view) == ["RLS", legend]
    live.picture = Look(split.test_positive, split.test_scores**3, split.model.scorer)
    set_running_job(session, session.live)
    corners = roc.roc_curve(split.test_positive, split.test_scores**3).corners()
    assert np.array_equal(view.canvas.live_item.getData(), [corners.fpr, corners.tpr])
    area = roc.auc(split.test_positive, split.test_scores)
    part = roc.partial_auc(split.test_positive, split.test_scores, *BAND).normalized
    assert named_in_legend(view) == ["RLS", "RankSVM, training"]
    words = f"RankSVM is training: AUC {area:.3f}, pAUC {part:.3f}."
    assert words in view.sentence.text()
    live.picture = Look(split.test_positive, -split.test_scores, split.model.scorer)
    set_running_job(session, session.live)
    assert f"AUC {1 - area:.3f}" in view.sentence.text()
    set_running_job(session, None)
    assert len(view.canvas.live_item.getData()[0]) == 0
    assert named_in_legend(view) == ["RLS"]
    assert "training" not in view.sentence.text()


def test_splits_are_averaged_or_drawn_separately(view, session, records, qtbot):
    assert not view.choices.curve_combo.isVisible()
    show(session, records, "RLS x4")
    assert view.choices.curve_combo.isVisible()
    splits = records["RLS x4"].splits
    known = [roc.roc_curve(s.test_positive, s.test_scores) for s in splits]
    fpr, tpr, sd = roc.vertical_average(known)
    assert np.array_equal(lines(view)[0], [fpr, tpr])
    k = len(fpr) // 2
    view.point_at(fpr[k], tpr[k])
    assert f"mean TPR {tpr[k]:.3f} (sd {sd[k]:.3f} over" in view.readout.text()
    areas = [roc.partial_auc_of(curve, *BAND).normalized for curve in known]
    qtbot.waitUntil(lambda: not view.busy())
    assert f">{np.mean(areas):.3f}<" in view.canvas.legend.toolTip()
    view.choices.curve_combo.setCurrentIndex(1)
    QApplication.processEvents()
    drawn = lines(view)
    assert len(drawn) == 4
    for line, curve in zip(drawn, known, strict=True):
        assert np.array_equal(line, [curve.corners().fpr, curve.corners().tpr])
    view.point_at(0.0, 1.0)
    assert "split " in view.readout.text()


def test_hint_shows_the_next_step(view, session, records, table):
    assert "Open a table" in view.canvas.hint.toPlainText()
    session.study.table = table
    session.notify({"table"})
    QApplication.processEvents()
    assert "press Run to see its ROC curve" in view.canvas.hint.toPlainText()
    assert view.canvas.hint.isVisible()
    assert not view.sentence.text()
    set_running_job(session, LiveRun(records["RLS"].experiment, RunLook("RLS", 0)))
    assert "RLS is training: starting" in view.canvas.hint.toPlainText()
    set_running_job(session, None)


def test_sentence_about_one_run(view, session, records, qtbot):
    show(session, records, "RLS")
    area, part = auc_summary(records["RLS"]), pauc_summary(records["RLS"], BAND)
    sentence = shown(view, qtbot)
    assert f"AUC {area.value:.3f} (95 % {area.low:.3f}–{area.high:.3f})" in sentence
    assert f"pAUC {part.value:.3f} (95 % {part.low:.3f}–{part.high:.3f}) in FPR 0 … 0.1" in sentence
    negatives = int((~records["RLS"].splits[0].test_positive).sum())
    assert f"{int(np.ceil(negatives / 10))} negatives in the range: too few" in sentence
    assert "A random ranking has a pAUC of 0.050 there." in sentence
    session.set_band(0.0, 1.0)
    assert f"{negatives} negatives in the range." in shown(view, qtbot)
    assert "few" not in shown(view, qtbot)
    assert "pAUC" not in shown(view, qtbot)


def test_sentence_compares_the_two_best_on_the_same_rows(view, session, records, qtbot):
    show(session, records, "RLS", "Logistic")
    a, b = (records[name].splits[0] for name in ("RLS", "Logistic"))
    test = inference.pauc_test(a.test_positive, a.test_scores, b.test_scores, *BAND)
    sentence = shown(view, qtbot)
    leader = "RLS" if test.difference > 0 else "Logistic"
    assert f"{leader} is " in sentence or "are level" in sentence
    assert f"p = {test.p:.2f}" in sentence
    assert sentence.count("significant") == 1
    assert ("not significant" in sentence) == (test.p >= 0.05)


def test_sentence_reports_a_significant_difference(records):
    """Compare a run with its own scores negated."""
    best = records["RLS"]
    runs = [ShownRun(turned(best), RunLook("Wrong", 0)), ShownRun(best, RunLook("Right", 1))]
    said = texts.roc_sentence(runs, (0.0, 0.5))
    test = inference.pauc_test(
        best.splits[0].test_positive,
        best.splits[0].test_scores,
        -best.splits[0].test_scores,
        0.0,
        0.5,
    )
    lead = f"{test.difference:.3f}"
    assert said.headline == f"In FPR 0 … 0.5, Right is {lead} higher than Wrong: significant."
    assert "p < 0.001." in said.more
    assert f"Wrong (AUC {1 - auc_summary(best).value:.3f}) ranks in reverse" in said.more


def test_sentence_names_columns_that_only_one_run_used(records, table):
    fewer = make_record(table.with_roles(ignore=["x0"]), validation=Validation(test_size=0.5))
    runs = [ShownRun(records["RLS"], RunLook("Leak", 0)), ShownRun(fewer, RunLook("Clean", 1))]
    said = texts.roc_sentence(runs, BAND)
    assert said.headline.endswith(" Leak used 1 additional column (x0).")


def test_sentence_over_splits_tests_paired_differences(records):
    a, b = records["RLS x4"], records["Logistic x4"]
    runs = [ShownRun(a, RunLook("RLS", 0)), ShownRun(b, RunLook("Logistic", 1))]
    differences = np.array(
        [
            brute_partial_auc(s.test_positive, s.test_scores, *BAND)
            - brute_partial_auc(t.test_positive, t.test_scores, *BAND)
            for s, t in zip(a.splits, b.splits, strict=True)
        ]
    )
    differences *= np.sign(differences.mean()) / 0.1
    found = inference.splits_interval(differences, 0.95, test_fraction=0.5, bounds=(-1, 1))
    sentence = texts.roc_sentence(runs, BAND).text
    assert found.low < 0
    interval = f"{found.low:.3f} to {found.high:.3f}".replace("-", "−")
    assert f"Mean of 4 splits, 95 % {interval}, p = " in sentence
    assert "in the smallest split" in sentence


def noisy(record, noise, seed):
    """Return the record with scores of known quality: its labels plus normal noise."""
    (split,) = record.splits
    draws = np.random.default_rng(seed).normal(size=(2, len(split.test_scores)))
    scores = split.test_positive + draws[0] + noise * draws[1]
    changed = dataclasses.replace(split, test_scores=scores)
    return dataclasses.replace(record, id=f"noisy{noise}{seed}", splits=(changed,))


@pytest.mark.slow
def test_sentence_and_compare_page_agree_on_significance(records):
    """A difference significant as a single pair may not be after correction for several pairs."""
    found = set()
    for seed in range(40):
        made = [noisy(records["RLS"], noise, seed) for noise in (0.0, 1.0, 1.02)]
        runs = [ShownRun(record, RunLook(f"Run {k}", k)) for k, record in enumerate(made)]
        named = [(run.look.name, run.record) for run in runs]
        for measure, band in ((AUC, (0.0, 1.0)), (PAUC, (0.0, 0.5))):
            pairs = compare_runs(named, band, measure)
            areas = [pauc_summary(record, band).value for record in made]
            best = set(np.argsort(areas)[-2:].tolist())
            (pair,) = (p for p in pairs if {int(p.a[-1]), int(p.b[-1])} == best)
            sentence = texts.roc_sentence(runs, band).text
            assert (": significant." in sentence) == pair.significant
            assert "Holm-corrected p" in sentence
            found.add((pair.significant, pair.p < 0.05))
    assert found == {(True, True), (False, True), (False, False)}


def test_too_few_rows_are_not_tested(records):
    best = records["RLS"]
    runs = [ShownRun(turned(best), RunLook("Wrong", 0)), ShownRun(best, RunLook("Right", 1))]
    band = (0.0, 0.015)
    sentence = texts.roc_sentence(runs, band).text
    reason = compare_runs([(r.look.name, r.record) for r in runs], band, PAUC)[0].reason
    assert reason.endswith(" in the range")
    assert f": not significant. No test: {reason}." in sentence
    alone = texts.roc_sentence(runs[1:], (0.0, 0.001)).text
    assert "(no interval: less than one negative in the range)" in alone


def test_runs_on_different_rows_are_not_tested(records):
    runs = [ShownRun(records[n], RunLook(n, k)) for k, n in enumerate(("RLS", "Logistic x4"))]
    sentence = texts.roc_sentence(runs, BAND).text
    assert "on different test rows" in sentence
    assert "significant" not in sentence


def test_zoom_button_zooms_to_the_range_and_back(view, session, records, qtbot):
    show(session, records, "RLS")
    session.set_band(0.2, 0.4)
    qtbot.mouseClick(view.choices.zoom_button, Qt.MouseButton.LeftButton)
    (left, right), _ = view.canvas.box.viewRange()
    assert (left, right) == pytest.approx((0.184, 0.416))
    assert "out" in view.choices.zoom_button.text()
    view.plot.scene().sigMouseClicked.emit(SimpleNamespace(double=lambda: True))
    assert view.canvas.box.viewRange()[0] == pytest.approx([-0.02, 1.02])
    assert "in" in view.choices.zoom_button.text()
    view.canvas.box.setRange(xRange=(-3, 3), padding=0)
    assert view.canvas.box.viewRange()[0] == pytest.approx([-0.02, 1.02])


def test_changing_the_theme_keeps_the_curves(view, session, records, apply_style):
    show(session, records, "RLS", "Logistic")
    before, names = lines(view), named_in_legend(view)
    apply_style("dark")
    view.restyle()
    QApplication.processEvents()
    assert all(np.array_equal(a, b) for a, b in zip(before, lines(view), strict=True))
    assert named_in_legend(view) == names
    assert view.lines.drawn[0].item.opts["pen"].color() == run_colour(DARK, 0)
    assert view.plot.backgroundBrush().color().name() == DARK.card
    apply_style()
    view.restyle()


def test_hidden_page_draws_nothing(view, session, records):
    view.hide()
    show(session, records, "RLS")
    session.set_band(0.1, 0.2)
    assert view.lines.drawn == []
    view.show()
    assert len(lines(view)) == 1
    assert view.canvas.band_item.getRegion() == (0.1, 0.2)


def test_long_curves_are_computed_in_the_background(session, view, table, qtbot, monkeypatch):
    record = make_record(table, "rls")
    threads, real, gate = [], curve_figures.curve_of, threading.Event()

    def traced(*data, **options):
        threads.append(threading.current_thread())
        gate.wait(5)
        return real(*data, **options)

    monkeypatch.setattr(curve_figures, "curve_of", traced)
    monkeypatch.setattr(curve_figures, "MOST_AT_ONCE", 10)
    show(session, {"Many": record}, "Many")
    assert view.busy()
    assert view.sentence.text() == "Drawing the curves…"
    gate.set()
    qtbot.waitUntil(lambda: len(view.lines.drawn) == 1)
    assert threads
    assert threading.main_thread() not in threads


@pytest.mark.parametrize("count", [2, 9, 14])
def test_saved_picture_names_every_run(view, session, records, count):
    names = [f"Method {k + 1}" for k in range(count)]
    runs = {name: dataclasses.replace(records["RLS"], id=name) for name in names}
    show(session, runs, *names)
    drawing = printing.draw(view, printing.fitting(view, printing.Sheet()))
    svg = drawing.svg().decode()
    assert [name for name in names if f">{name}<" not in svg] == []


@pytest.mark.parametrize(
    ("held", "high"),
    [(Qt.KeyboardModifier.NoModifier, 0.2), (Qt.KeyboardModifier.AltModifier, 0.2043)],
)
def test_dragged_edge_snaps_to_round_rates_unless_alt_is_held(
    view, session, monkeypatch, held, high
):
    monkeypatch.setattr(QApplication, "keyboardModifiers", lambda: held)
    view.canvas.band_item.lines[1].setPos(0.2043)
    assert session.plan.band == (0.0, high)
    assert view.canvas.band_item.getRegion() == (0.0, high)


def test_dragged_range_snaps_its_start_and_keeps_its_width(view, session):
    session.set_band(0.1, 0.3456)
    drag(view.canvas.band_item, 0.2, 0.5037)
    low, high = session.plan.band
    assert low == 0.4
    assert high - low == pytest.approx(0.2456)


@pytest.mark.parametrize("axis", ["log", "probit"])
def test_snap_rates_are_finer_where_the_axis_is_stretched(view, session, records, axis):
    show(session, records, "RLS")
    choose(view.choices.axis_combo, axis)
    view.refresh()
    session.set_band(0.0, 0.1)
    view.canvas.band_item.lines[1].setPos(place(view.canvas.along, 0.0163))
    assert abs(session.plan.band[1] - 0.0163) < 0.003  # on a linear axis it would be 0.02
