"""The weights of a running job on the Model page, against its current scorer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PySide6.QtWidgets import QGraphicsItem

from aucstudio.engine.scorers import LinearScorer
from aucstudio.gui.pages.model.charts import MOST_ROWS
from aucstudio.gui.pages.model.model_view import ModelView
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.runner import LiveRun
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.runs.progress import Look
from tests.gui.conftest import (
    make_record,
    pick,
    points,
    put,
    refresh_and_wait,
    set_running_job,
    tick_texts,
)


@pytest.fixture
def view(table_session, open_view):
    return open_view(ModelView, table_session, (728, 640))


@pytest.fixture
def record(table_session):
    return make_record(table_session.table, validation=Validation(repeats=2))


@pytest.fixture
def update_running_job(table_session, record):
    """Make the running job report a scorer, some seconds into its fit."""

    def update_running_job(weights, seconds=0.0, split=0, scorer=None):
        live = table_session.live
        if live is None:
            live = LiveRun(record.experiment, RunLook("Flying", 2), splits=2)
            set_running_job(table_session, live)
        live.split = split
        live.preparation = record.splits[split].model.preparation
        held = record.splits[split].test_positive
        scorer = scorer or LinearScorer(np.asarray(weights, dtype=float))
        live.picture = Look(held, np.zeros(len(held)), scorer, seconds=seconds)
        set_running_job(table_session, table_session.live)
        return live

    return update_running_job


def drawn(view):
    chart = view.weights.chart
    values = points(chart.dots)[:, 0]
    assert_allclose(values, [row.value for row in chart.rows])
    return {row.name: row.value for row in chart.rows}


def expected(record, weights):
    return dict(zip(record.splits[0].model.preparation.feature_names, weights, strict=True))


def test_weights_follow_the_running_job(view, record, update_running_job):
    rng = np.random.default_rng(0)
    count = len(record.splits[0].coef)
    for k in range(3):
        weights = rng.normal(size=count)
        update_running_job(weights, seconds=1.0 + 0.1 * k)
        assert view.part is view.weights
        assert view.weights.isVisible()
        assert drawn(view) == pytest.approx(expected(record, weights))
        largest = record.splits[0].model.preparation.feature_names[np.abs(weights).argmax()]
        assert view.sentence.text().startswith("Flying is training, split 1 of 2: ")
        assert f"{largest} has the largest weight so far" in view.sentence.text()
        low, high = view.figure().getViewBox().viewRange()[0]
        assert low < weights.min()
        assert weights.max() < high


def test_rows_are_reordered_rarely(view, record, update_running_job):
    count = len(record.splits[0].coef)
    falling = np.arange(count, 0.0, -1.0)
    names = record.splits[0].model.preparation.feature_names

    def rows():
        return [row.name for row in view.weights.chart.rows]

    update_running_job(falling, seconds=1.0)
    assert rows() == list(names)
    update_running_job(falling[::-1], seconds=1.5)
    assert rows() == list(names)
    assert drawn(view) == pytest.approx(expected(record, falling[::-1]))
    update_running_job(falling[::-1], seconds=2.0)
    assert rows() == list(names)[::-1]
    update_running_job(falling, seconds=0.1, split=1)
    assert rows() == list(record.splits[1].model.preparation.feature_names)
    assert "split 2 of 2" in view.sentence.text()


def test_update_repaints_only_the_dots(view, record, update_running_job):
    weights = np.linspace(-1.0, 1.0, len(record.splits[0].coef))
    update_running_job(weights, seconds=1.0)
    chart = view.weights.chart
    before = chart.plot.getViewBox().viewRange(), tick_texts(chart.plot.getAxis("left"))
    update_running_job(weights / 2, seconds=1.1)
    assert (chart.plot.getViewBox().viewRange(), tick_texts(chart.plot.getAxis("left"))) == before
    assert chart.dots.cacheMode() == QGraphicsItem.CacheMode.NoCache
    kept = QGraphicsItem.CacheMode.DeviceCoordinateCache
    assert chart.plot.getAxis("left").cacheMode() == kept
    messages = []
    view.weights.message.connect(messages.append)
    set_running_job(view.session, view.session.live)
    assert messages == []


def test_figure_data_matches_the_current_weights(view, record, update_running_job):
    rng = np.random.default_rng(1)
    for seconds, split in ((1.0, 0), (1.2, 0), (0.1, 1)):
        weights = rng.normal(size=len(record.splits[0].coef))
        update_running_job(weights, seconds=seconds, split=split)
        data = view.figure_data()
        at = dict(zip(data["feature"], data["weight_per_sd"], strict=True))
        assert at == pytest.approx(expected(record, weights))
        k = data["feature"].index("x0")
        scale = record.splits[split].model.preparation.scales[0]
        assert data["weight_per_unit"][k] == pytest.approx(weights[0] / scale)
        assert set(data["split"]) == {split + 1}


def test_finished_run_replaces_the_live_weights(
    view, record, update_running_job, table_session, qtbot
):
    update_running_job(np.ones(len(record.splits[0].coef)))
    put(table_session, record, "Ended")
    set_running_job(table_session, None)
    refresh_and_wait(qtbot, view)
    mean = np.mean([split.coef for split in record.splits], axis=0)
    assert drawn(view) == pytest.approx(expected(record, mean))
    assert "has the largest weight in Ended" in view.sentence.text()
    assert view.picture_combo.isVisible()
    assert not view.follow_check.isVisible()


def test_weights_are_kept_between_two_fits(view, record, update_running_job):
    weights = np.arange(1.0, len(record.splits[0].coef) + 1)
    live = update_running_job(weights)
    live.split, live.picture = 1, None
    set_running_job(view.session, view.session.live)
    assert drawn(view) == pytest.approx(expected(record, weights))
    assert view.weights.isVisible()


def test_selected_run_can_be_kept_in_view(view, record, update_running_job, table_session, qtbot):
    put(table_session, record, "Chosen")
    refresh_and_wait(qtbot, view)
    update_running_job(np.full(len(record.splits[0].coef), 7.0))
    assert view.sentence.text().startswith("Flying")
    assert view.follow_check.isVisible()
    view.follow_check.click()
    refresh_and_wait(qtbot, view)
    assert "Chosen" in view.sentence.text()
    assert view.picture_combo.isVisible()


def test_running_job_does_not_replace_another_picture(
    view, record, update_running_job, table_session, qtbot
):
    put(table_session, record, "Chosen")
    refresh_and_wait(qtbot, view)
    pick(view.picture_combo, "importance")
    qtbot.waitUntil(lambda: not view.busy())
    update_running_job(np.full(len(record.splits[0].coef), 7.0))
    assert view.part.key == "importance"
    assert not view.follow_check.isVisible()


def test_scorer_without_weights_shows_an_empty_page(
    view, record, update_running_job, table_session
):
    other = make_record(table_session.table, "auc-split").splits[0].model.scorer
    update_running_job(None, scorer=other)
    assert not view.weights.isVisible()
    assert view.sentence.text() == (
        "Flying is training; the contributions of columns appear when it ends."
    )
    assert view.figure_data() == {}


def test_non_finite_weights_are_ignored(view, record, update_running_job):
    weights = np.ones(len(record.splits[0].coef))
    update_running_job(weights)
    update_running_job(np.full(len(weights), np.nan))
    assert drawn(view) == pytest.approx(expected(record, weights))
    update_running_job(0 * weights)
    assert "All weights are still 0" in view.sentence.text()


def test_only_the_largest_of_many_weights_are_drawn(table_session, open_view, tmp_path):
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(40, MOST_ROWS + 20))
    table_session.study.table = read_table(write_wide(tmp_path / "wide.csv", rows))
    record = make_record(table_session.table)
    view = open_view(ModelView, table_session, (728, 640))
    weights = rng.normal(size=MOST_ROWS + 20)
    live = LiveRun(record.experiment, RunLook("Wide", 0))
    live.preparation = record.splits[0].model.preparation
    held = record.splits[0].test_positive
    live.picture = Look(held, np.zeros(len(held)), LinearScorer(weights))
    set_running_job(table_session, live)
    largest = np.sort(np.abs(weights))[::-1][:MOST_ROWS]
    assert_allclose(np.abs(list(drawn(view).values())), largest)
    assert f"Of {len(weights)} weights the {MOST_ROWS}" in view.sentence.text()
    assert len(view.figure_data()["feature"]) == len(weights)


def write_wide(path, rows):
    names = [f"c{k}" for k in range(rows.shape[1])]
    lines = [",".join([*names, "label"])]
    for k, row in enumerate(rows):
        lines.append(",".join([*(f"{value:.6g}" for value in row), "no" if k % 3 else "yes"]))
    path.write_text("\n".join(lines))
    return path
