"""The Scores page: densities of both classes, and a threshold whose errors are counted."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QMenu,
    QPushButton,
    QTableView,
)

from aucstudio.engine import roc
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.threshold import CARD_WIDTH
from aucstudio.gui.pages.scores.score_plot import COUNTS, FEW_ROWS
from aucstudio.gui.pages.scores.scores_view import ScoresView
from aucstudio.gui.pages.scores.worst_rows import FIRST, Worst, threshold_sentence
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.runner import LiveRun
from aucstudio.project.data.validation import Validation
from aucstudio.project.explain.contributions import cell_words
from aucstudio.project.results.score_distribution import ScoreDistribution, bin_edges
from aucstudio.project.results.thresholds import TYPED, Confusion
from aucstudio.project.runs.progress import Look
from tests.gui.conftest import make_record, put, set_running_job, shown


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def view(session, open_view):
    return open_view(ScoresView, session)


@pytest.fixture
def add(session):
    def add(validation=None, name="Run", **changes):
        record = make_record(session.table, validation=validation)
        return put(session, dataclasses.replace(record, **changes), name)

    return add


def counted(view):
    """Return the confusion matrix shown in the window."""
    texts = [view.findChild(QLabel, f"count_{name}").text() for name in ("tp", "fn", "fp", "tn")]
    return [int(text.split()[1].replace(",", "")) for text in texts]


def brute_force(split, threshold):
    called = split.test_scores > threshold
    positive = split.test_positive
    return [
        int((called & positive).sum()),
        int((~called & positive).sum()),
        int((called & ~positive).sum()),
        int((~called & ~positive).sum()),
    ]


def test_curves_are_densities_over_common_bins(view, add, qtbot):
    split = add().splits[0]
    shown(view, qtbot)
    for item, of_class in zip(
        view.curves, (split.test_positive, ~split.test_positive), strict=True
    ):
        edges, heights = item.xData, item.yData
        counts = heights * np.diff(edges) * of_class.sum()
        expected, _ = np.histogram(split.test_scores[of_class], edges)
        np.testing.assert_allclose(counts, expected, atol=1e-9)
        assert (heights * np.diff(edges)).sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(view.curves[0].xData, view.curves[1].xData)


def test_default_threshold_counts_match_predict(view, add, qtbot):
    split = add(name="AUC-RLS").splits[0]
    view.set_threshold(0.0)
    text = shown(view, qtbot)
    tp, fn, fp, tn = brute_force(split, 0.0)
    assert counted(view) == [tp, fn, fp, tn]
    assert text.startswith(f"At the default threshold 0, AUC-RLS misses {fn} of {tp + fn} yes")
    assert f"wrongly flags {fp} of {fp + tn} no" in text
    assert view.findChild(QLabel, "rate_tpr").text() == f"{tp / (tp + fn):.3f}"
    assert view.findChild(QLabel, "rate_fpr").text() == f"{fp / (fp + tn):.3f}"
    assert view.findChild(QLabel, "rate_precision").text() == f"{tp / (tp + fp):.3f}"


def test_dragging_the_threshold_updates_the_counts(view, add, qtbot):
    split = add().splits[0]
    shown(view, qtbot)
    for threshold in (-0.7, 0.31, float(np.sort(split.test_scores)[20])):
        view.line.setValue(threshold)
        assert counted(view) == brute_force(split, threshold)
    assert view.findChild(QDoubleSpinBox, "threshold_box").value() == round(threshold, 4)


def test_threshold_beyond_all_scores_has_no_precision(view, add, qtbot):
    split = add().splits[0]
    shown(view, qtbot)
    view.line.setValue(1e6)
    assert counted(view) == brute_force(split, 1e6)
    assert view.findChild(QLabel, "rate_precision").text() == "–"
    assert "precision" not in view.sentence.text()
    view.line.setValue(-1e6)
    assert counted(view) == brute_force(split, -1e6)


def test_spin_box_and_button_move_the_threshold(view, add, qtbot):
    split = add().splits[0]
    shown(view, qtbot)
    box = view.findChild(QDoubleSpinBox, "threshold_box")
    box.setValue(-0.25)
    assert view.line.value() == -0.25
    assert counted(view) == brute_force(split, -0.25)
    assert "At threshold −0.2500, " in view.sentence.text()
    view.findChild(QPushButton, "own_threshold_button").click()
    assert view.line.value() == 0.0
    assert not view.own_button.isEnabled()


@pytest.mark.slow
def test_threshold_is_kept_until_another_run_is_selected(view, add, qtbot):
    first = add()
    shown(view, qtbot)
    view.set_threshold(0.5)
    view.mark_stale()
    shown(view, qtbot)
    assert view.line.value() == 0.5
    add(Validation(seed=1))
    shown(view, qtbot)
    assert view.line.value() == view.session.focus.threshold != 0.5
    assert view.session.selected != first.id


@pytest.mark.parametrize("threshold", [-9.0, -1.0, 0.0, 0.123, 1.0, 9.0])
def test_misclassified_areas_lie_beyond_the_threshold(threshold):
    rng = np.random.default_rng(3)
    positive = rng.random(300) < 0.4
    found = ScoreDistribution.of(
        positive, np.append(rng.normal(size=298) + positive[:298], [-1.0, 1.0])
    )
    below, above = found.wrong_parts(threshold)
    edges, (tall, low) = found.edges, found.heights
    share = np.clip((threshold - edges[:-1]) / np.diff(edges), 0, 1)
    masses = [float((np.diff(x) * y).sum()) for x, y in (below, above)]
    assert masses[0] == pytest.approx(float((tall * np.diff(edges) * share).sum()))
    assert masses[1] == pytest.approx(float((low * np.diff(edges) * (1 - share)).sum()))


def test_split_can_be_chosen(view, add, qtbot):
    record = add(Validation(repeats=3))
    shown(view, qtbot)
    combo = view.findChild(QComboBox, "scores_split_combo")
    assert combo.isVisible()
    assert combo.count() == 3
    combo.setCurrentIndex(2)
    shown(view, qtbot)
    assert counted(view) == brute_force(record.splits[2], view.session.focus.threshold)
    add()
    shown(view, qtbot)
    assert not combo.isVisible()


def test_class_names_come_from_the_data(view, add, qtbot):
    add()
    shown(view, qtbot)
    assert view.findChild(QLabel, "actual_positive").text() == "is yes"
    assert view.findChild(QLabel, "called_negative").text() == "predicted\nno"
    legend = view.picture.legend
    assert [words.text for _, words in legend.items] == ["yes", "no", "wrong side"]


def test_plot_does_not_overlap_the_figures(view, add, qtbot):
    add()
    view.resize(560, 700)
    shown(view, qtbot)
    view.picture.name_classes(("a class with a long name", "another class with one"))
    assert view.side.isVisible()
    assert view.plot.frame.size().width() <= view.plot.width()


def test_running_job_shows_only_distributions(view, add, session, qtbot):
    record = add()
    shown(view, qtbot)
    split = record.splits[0]
    scores = split.test_scores * 3 + 1
    look = Look(split.test_positive, scores, split.model.scorer)
    set_running_job(session, LiveRun(record.experiment, RunLook("Flying", 2), picture=look))
    heights, edges = np.histogram(scores[split.test_positive], bin_edges(scores), density=True)
    np.testing.assert_allclose(view.curves[0].yData, heights)
    np.testing.assert_array_equal(view.curves[0].xData, edges)
    assert not view.readout.isVisible()
    assert not view.line.isVisible()
    assert view.sentence.text().startswith("Flying is training")
    set_running_job(session, None)
    assert counted(view) == brute_force(split, session.focus.threshold)
    assert view.line.isVisible()


def test_selected_run_can_be_kept_in_view(view, add, session, qtbot):
    record = add()
    split = record.splits[0]
    look = Look(split.test_positive, split.test_scores * 9, split.model.scorer)
    set_running_job(session, LiveRun(record.experiment, RunLook("Flying", 2), picture=look))
    view.follow_check.click()
    shown(view, qtbot)
    assert view.readout.isVisible()
    assert view.curves[0].xData[-1] == pytest.approx(split.test_scores.max())


def test_bins_of_constant_and_of_heavy_tailed_scores():
    assert np.isfinite(bin_edges(np.zeros(5))).all()
    assert np.all(np.diff(bin_edges(np.full(5, 1e9))) > 0)
    rng = np.random.default_rng(0)
    assert 21 <= len(bin_edges(rng.standard_cauchy(5_000))) <= 61


# ------------------------------------------------------------- shared focus


@pytest.mark.slow
def test_threshold_split_and_row_follow_the_focus(view, add, session, qtbot):
    record = add(Validation(repeats=3))
    shown(view, qtbot)
    session.set_threshold(split=1, threshold=0.2)
    shown(view, qtbot)
    assert view.split_combo.currentIndex() == 1
    assert view.line.value() == 0.2
    assert counted(view) == brute_force(record.splits[1], 0.2)
    view.line.setValue(-0.4)
    assert session.focus.threshold == -0.4
    assert session.focus.split == 1
    view.split_combo.setCurrentIndex(2)
    assert (session.focus.split, session.focus.target.rule) == (2, TYPED)  # at the same FPR
    assert session.focus.target.value == -0.4
    shown(view, qtbot)
    row = int(record.splits[2].test_rows[5])
    session.point_at(row=row)
    assert view.picture.row_line.isVisible()
    assert view.picture.row_line.value() == record.splits[2].test_scores[5]
    missing = np.setdiff1d(np.arange(session.table.rows), record.splits[2].test_rows)[0]
    session.point_at(row=int(missing))
    assert not view.picture.row_line.isVisible()
    assert "not held out in this split" in view.worst.about.text()


@pytest.mark.slow
def test_worst_rows_are_listed_and_selectable(view, add, session, qtbot):
    split = add().splits[0]
    shown(view, qtbot)
    worst = view.worst
    worst.more.click()
    y, scores = split.test_positive, split.test_scores
    order = np.argsort(scores[y])
    np.testing.assert_array_equal(worst.worst.rows, split.test_rows[y][order])
    pairs = [(scores[~y] > s).sum() for s in scores[y][order]]
    np.testing.assert_array_equal(worst.worst.pairs, pairs)
    assert worst.list.sheet.rows[0].cells[0] == f"{worst.worst.rows[0] + 1:,}"
    worst.list.selectRow(2)
    assert session.focus.row == worst.worst.rows[2]
    cells = dict(row.cells for row in worst.sheet.sheet.rows)
    assert next(iter(cells)) == "outcome"
    assert cells["outcome"] == "yes"
    assert float(cells["x0"].replace("−", "-")) == pytest.approx(
        session.table.columns[0].values[worst.worst.rows[2]], rel=1e-5
    )
    worst.side.setCurrentIndex(1)
    np.testing.assert_array_equal(worst.worst.scores, np.sort(scores[~y])[::-1][:100])
    worst.side.setCurrentIndex(2)
    np.testing.assert_array_equal(worst.worst.scores, np.sort(scores)[::-1][:100])
    assert [worst.list.isColumnHidden(k) for k in range(4)] == [False, False, False, True]
    classes = [row.cells[2] for row in worst.list.sheet.rows]
    assert classes == ["yes" if of else "no" for of in y[np.argsort(-scores)][:100]]
    worst.list.selectRow(0)
    assert session.focus.row == worst.worst.rows[0]
    assert worst.explain_button.isVisible()


def test_misranked_pairs_of_the_rows_add_up_to_the_auc(add):
    split = add().splits[0]
    m, n = int(split.test_positive.sum()), int((~split.test_positive).sum())
    wrong = (1 - roc.auc(split.test_positive, split.test_scores)) * m * n
    for positive in (True, False):
        assert Worst.of(split, positive, most=m + n).pairs.sum() == pytest.approx(wrong)


def test_fpr_range_is_shaded_between_its_thresholds(view, add, session, qtbot):
    split = add().splits[0]
    session.set_band(0.1, 0.4)
    shown(view, qtbot)
    view.show_band()
    low, high = view.picture.band_item.getRegion()
    negatives = split.test_scores[~split.test_positive]
    n = len(negatives)
    assert (negatives > low).sum() == int(n * 0.4 + 1e-9)
    assert (negatives > high).sum() == int(n * 0.1 + 1e-9)
    assert "FPR range 0.1 … 0.4 lies at scores between" in view.sentence.text()
    session.set_band(0.0, 1.0)
    view.show_band()
    assert "FPR range" not in view.sentence.text()


@pytest.mark.slow
def test_few_rows_are_drawn_as_single_marks(view, add, qtbot):
    split = add().splits[0]
    shown(view, qtbot)
    for rug, of_class in zip(
        view.picture.rugs, (split.test_positive, ~split.test_positive), strict=True
    ):
        x = rug.getData()[0]
        few = of_class.sum() <= FEW_ROWS
        marked = np.sort(split.test_scores[of_class]) if few else []
        np.testing.assert_array_equal([] if x is None else x[::2], marked)


@pytest.mark.slow
def test_counts_have_a_logarithmic_axis(view, add, qtbot):
    split = add().splits[0]
    shown(view, qtbot)
    view.scale_combo.setCurrentIndex(1)
    for item, of_class in zip(
        view.curves, (split.test_positive, ~split.test_positive), strict=True
    ):
        counts, _ = np.histogram(split.test_scores[of_class], item.xData)
        expected = np.where(counts, np.log10(np.maximum(counts, 1)), COUNTS.floor)
        np.testing.assert_allclose(item.yData, expected, atol=1e-9)
    view.line.setValue(0.3)
    below = view.picture.wrong_curves[0]
    np.testing.assert_allclose(below.yData, view.curves[0].yData[: len(below.yData)])
    above = view.picture.wrong_curves[1]
    np.testing.assert_allclose(above.yData, view.curves[1].yData[-len(above.yData) :])


def test_figure_data_lists_every_score(view, add, qtbot):
    record = add(Validation(repeats=2), name="Mine")
    shown(view, qtbot)
    data = view.figure_data()
    assert list(data) == ["run", "split", "class", "score", "row"]
    assert {len(column) for column in data.values()} == {
        sum(len(split.test_rows) for split in record.splits)
    }
    first, second = record.splits
    k = len(first.test_rows)
    assert data["score"][k:] == second.test_scores.tolist()
    assert data["row"][:k] == (first.test_rows + 1).tolist()
    assert [name == "yes" for name in data["class"][:k]] == first.test_positive.tolist()
    assert set(data["run"]) == {"Mine"}
    assert data["split"][k - 1 : k + 1] == [1, 2]


@pytest.mark.slow
def test_narrow_page_hides_the_figures(view, add, qtbot):
    add()
    shown(view, qtbot)
    assert view.side.isVisible()
    view.resize(400, 500)
    assert not view.side.isVisible()


def test_class_names_that_are_signs_are_quoted():
    headline = threshold_sentence("Run", 0.0, Confusion(5, 1, 2, 8), ("+", "-")).headline
    assert (
        headline
        == "At the default threshold 0, Run misses 1 of 6 “+” and wrongly flags 2 of 10 “-”."
    )


@pytest.fixture
def low_view(view, add, qtbot):
    """Show a page that is too low for its figures."""
    view.resize(1300, 420)
    add()
    shown(view, qtbot)
    qtbot.waitUntil(lambda: view.side.verticalScrollBar().maximum() > 100)
    return view


def takes_wheel(field):
    place = field.rect().center()
    event = QWheelEvent(
        QPointF(place),
        QPointF(field.mapToGlobal(place)),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(field, event)  # Qt passes only real events on to the area
    return event.isAccepted()


def test_wheel_over_the_figures_changes_no_choice(low_view):
    for field in (low_view.worst.side, low_view.chooser.rule):
        before = field.currentIndex()
        assert not takes_wheel(field)
        assert field.currentIndex() == before
    assert takes_wheel(low_view.scale_combo)  # outside of the area
    assert low_view.scale_combo.currentIndex() == 1


def test_worst_rows_are_named_by_the_identifier(view, add, session, qtbot):
    add()
    name = session.table.columns[0].name
    session.set_roles(roles={name: "id"})
    shown(view, qtbot)
    worst = view.worst
    assert worst.list.sheet.heads[0] == name
    column = session.table.column(name)
    cells = [row.cells[0] for row in worst.list.sheet.rows]
    assert cells == [cell_words(column, row) for row in worst.worst.rows.tolist()]
    worst.list.selectRow(1)
    number = f"Row {worst.worst.rows[1] + 1:,} ({cells[1]})"
    assert view.picture.row_line.label.format == worst.about.text() == number
    shown_columns = [k for k in range(4) if not worst.list.isColumnHidden(k)]
    for k in shown_columns[1:]:  # only a name may be elided
        assert worst.list.columnWidth(k) >= QTableView.sizeHintForColumn(worst.list, k)


def test_worst_rows_have_room_on_a_low_page_with_large_text(view, add, qtbot, apply_style):
    apply_style(percent=150)
    view.resize(1300, 420)
    add()
    shown(view, qtbot)
    rows = view.worst.list
    qtbot.waitUntil(lambda: rows.viewport().height() >= 4 * rows.rowHeight(0))


@pytest.mark.parametrize("reason", ["ShortcutFocusReason", "TabFocusReason"])
def test_focused_field_is_scrolled_into_view(low_view, qtbot, reason):
    low_view.activateWindow()
    low_view.scale_combo.setFocus()
    qtbot.waitUntil(low_view.scale_combo.hasFocus)
    low_view.side.verticalScrollBar().setValue(0)
    field = low_view.worst.side
    assert field.visibleRegion().isEmpty()
    field.setFocus(Qt.FocusReason[reason])
    qtbot.waitUntil(field.hasFocus)
    assert field.visibleRegion().boundingRect() == field.rect()


@pytest.mark.qt_log_ignore("raise", "grabbing", "propagateSizeHints")
def test_menu_of_a_worst_row_explains_it(low_view, qtbot):
    worst, asked, session = low_view.worst, [], low_view.session
    session.asked.connect(lambda what, _about: asked.append((what, session.focus.row)))
    worst.list.selectRow(1)
    place = worst.list.visualRect(worst.list.currentIndex()).center()
    worst.list.customContextMenuRequested.emit(place)
    worst.list.findChild(QAction, "worst_explain_action").trigger()
    assert asked == [("row", worst.worst.rows[1])]
    worst.findChild(QMenu, "worst_menu").close()


def test_figures_are_not_cut_with_larger_text(view, add, qtbot, apply_style):
    view.resize(1300, 1000)
    add()
    shown(view, qtbot)
    narrow = view.readout.width()
    apply_style(percent=150)
    qtbot.waitUntil(lambda: view.readout.width() == scaled(CARD_WIDTH) > narrow)
    assert view.readout.minimumSizeHint().width() <= view.readout.width() < view.side.width()
    apply_style()
    assert view.readout.width() == narrow


def test_rows_by_score_scroll_with_the_page_only(view, add, session, qtbot):
    view.resize(1300, 600)
    add()
    shown(view, qtbot)
    lists = view.worst.list, view.worst.sheet
    view.worst.list.selectRow(1)
    qtbot.waitUntil(view.worst.sheet.isVisible)
    view.worst.more.click()
    assert view.worst.list.sheet.rowCount() > FIRST
    qtbot.waitUntil(lambda: [one.verticalScrollBar().maximum() for one in lists] == [0, 0])


def test_more_shows_whole_lines_of_the_conclusion(view, add, qtbot):
    view.resize(900, 700)
    add()
    shown(view, qtbot)
    view.sentence.more_button.click()
    rest = view.sentence.rest
    qtbot.waitUntil(
        lambda: rest.visibleRegion().boundingRect().height() >= rest.heightForWidth(rest.width())
    )
