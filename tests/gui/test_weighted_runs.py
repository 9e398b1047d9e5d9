"""Pages show weighted figures of a weighted run, and name unweighted ones."""

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel

from aucstudio.engine import roc
from aucstudio.gui.pages.compare.compare_view import CompareView
from aucstudio.gui.pages.roc import words
from aucstudio.gui.pages.roc.bands import bounds_of
from aucstudio.gui.pages.roc.lines import FACES
from aucstudio.gui.pages.roc.roc_view import RocView
from aucstudio.gui.pages.scores.calibration_view import CalibrationView
from aucstudio.gui.pages.scores.scores_view import ScoresView
from aucstudio.gui.pages.training.training_view import TrainingView
from aucstudio.gui.panels.data_panel import DataPanel
from aucstudio.gui.panels.runs_panel import RunsPanel
from aucstudio.project.data.table import read_table
from aucstudio.project.results.calibration import estimate_calibration
from aucstudio.project.results.report import data_lines
from aucstudio.project.results.thresholds import Target
from tests.gui.conftest import card_lines, make_record, put, shown


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(4)
    y = rng.random(160) < 0.4
    a, w = rng.normal(size=160) + y, rng.exponential(2.0, 160)
    path = tmp_path_factory.mktemp("weighted") / "cases.csv"
    rows = (f"{one:.5f},{of:.4f},{int(label)}" for one, of, label in zip(a, w, y, strict=True))
    path.write_text("\n".join(["a,w,label", *rows]) + "\n")
    return read_table(path, label="label", positive="1", roles={"w": "weight"})


@pytest.fixture(scope="module")
def records(table):
    return {key: make_record(table, key) for key in ("auc-rls", "logistic")}


@pytest.fixture
def session(table_session, records):
    for name, record in records.items():
        put(table_session, record, name)
    return table_session


def test_roc_page_and_its_bands_are_weighted(session, records, open_view, qtbot):
    view = open_view(RocView, session)
    assert "Weighted by w." in shown(view, qtbot)
    runs = session.shown_runs()
    split = records["logistic"].splits[0]
    figure, _interval = words.figure_cells(FACES["roc"], runs[1])
    area = roc.auc(split.test_positive, split.test_scores, weights=split.test_weights)
    assert f"{area:.3f}" in figure
    for kind in ("pointwise", "kolmogorov", "bootstrap"):
        found = bounds_of(records["logistic"], kind)
        at = roc.tpr_at(records_curve(split), found.fpr)
        assert (found.low <= at + 1e-9).all()
        assert (at <= found.high + 1e-9).all()
    for face in FACES.values():
        x, y = face.path(roc.roc_curve(split.test_positive, split.test_scores,
                                       weights=split.test_weights))  # fmt: skip
        assert np.isfinite(x).all()
        assert np.isfinite(y).all()


def records_curve(split):
    return roc.roc_curve(split.test_positive, split.test_scores, weights=split.test_weights)


@pytest.mark.parametrize(
    ("page", "words"),
    [(ScoresView, "TPR"), (TrainingView, "AUC"), (CompareView, "weighted by w")],
)
def test_other_pages_name_the_weights(session, open_view, qtbot, page, words):
    view = open_view(page, session)
    assert words in shown(view, qtbot)


def test_threshold_card_counts_rows_and_weights_rates(session, records, open_view, qtbot):
    session.set_threshold(target=Target())
    view = open_view(ScoresView, session)
    shown(view, qtbot)
    split = records["logistic"].splits[0]
    called, weights, positive = split.test_scores > 0, split.test_weights, split.test_positive
    counted, rate = (view.findChild(QLabel, name).text() for name in ("count_tp", "rate_tpr"))
    assert counted == f"TP  {np.count_nonzero(called & positive)}"
    assert rate == f"{weights[called & positive].sum() / weights[positive].sum():.3f}"
    assert "Counts are rows; shares are weighted by w." in view.chooser.remarks.text()


def test_calibration_says_that_it_is_unweighted(session, records, open_view, qtbot):
    shown(open_view(CalibrationView, session), qtbot)
    assert "not weighted by w" in estimate_calibration(records["logistic"], "platt").rows


def test_data_card_names_the_weights(session, qtbot):
    panel = DataPanel(session)
    qtbot.addWidget(panel)
    panel.refresh()
    assert "rows weighted by w" in panel.facts.text()


def test_run_card_and_report_name_the_weights(session, records, qtbot):
    panel = RunsPanel(session)
    qtbot.addWidget(panel)
    (line,) = (line for line in card_lines(panel.details.settings) if line[0] == "Table")
    assert "weighted by w" in line[1]
    assert all("rows weighted by w; " in line for line in data_lines(records))
