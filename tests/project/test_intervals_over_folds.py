"""The intervals of runs over several splits."""

import json

import numpy as np
import pytest

from aucstudio.engine import inference, roc
from aucstudio.notices import WARNING
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.comparison import compare_runs
from aucstudio.project.results.documents import results_table
from aucstudio.project.results.report import write_report
from aucstudio.project.results.summary import (
    auc_summary,
    pauc_summary,
    range_notices,
    run_as_json,
    tpr_summary,
)
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.planning import plan_on

BAND = (0.0, 0.2)


def rankings(record, repeat=0):
    return [
        roc.Ranking.of(split.test_positive, split.test_scores)
        for split in record.splits
        if split.repeat == repeat
    ]


@pytest.fixture(scope="module")
def sentence():
    return inference.splits_interval([0.4, 0.5], 0.95, 0.5).reason


def test_areas_over_folds_have_the_interval_of_the_engine(table, plan):
    record = execute(plan(scheme="folds", folds=4), table)
    for found, band in ((pauc_summary(record, BAND), BAND), (auc_summary(record), (0.0, 1.0))):
        expected = inference.folds_interval(rankings(record), *band)
        assert (found.value, found.low, found.high) == pytest.approx(
            (expected.value, expected.low, expected.high)
        )


def test_tpr_over_folds_has_the_interval_of_the_area_around_its_fpr(table, plan):
    record = execute(plan(scheme="folds", folds=4), table)
    found = tpr_summary(record, 0.2)
    expected = inference.folds_interval(rankings(record), 0.198, 0.202)
    curves = [ranking.curve for ranking in rankings(record)]
    assert found.value == pytest.approx(np.mean([float(roc.tpr_at(c, 0.2)) for c in curves]))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.low < found.value < found.high


@pytest.mark.slow
@pytest.mark.parametrize("levels", [None, 1], ids=["distinct", "tied"])
def test_intervals_of_tpr_over_folds_cover_and_are_narrower_than_by_splits(levels):
    def drawn(rng, positives, negatives):
        y = np.arange(positives + negatives) < positives
        scores = rng.normal(size=len(y)) + 1.5 * y
        return y, np.round(scores * levels) if levels else scores

    rng, held, widths, draws = np.random.default_rng(0), 0, [], 100
    truth = float(roc.tpr_at(roc.roc_curve(*drawn(rng, 200_000, 200_000)), 0.1))
    for _ in range(draws):
        y, scores = drawn(rng, 100, 500)
        folds = np.concatenate([rng.permutation(count) % 5 for count in (100, 500)])
        parts = [roc.Ranking.of(y[folds == k], scores[folds == k]) for k in range(5)]
        found = inference.folds_interval(parts, 0.098, 0.102)
        values = [float(roc.tpr_at(part.curve, 0.1)) for part in parts]
        t = inference.splits_interval(values, 0.95, 0.2, disjoint=True)
        held += found.low <= truth <= found.high
        widths.append((found.high - found.low, t.high - t.low))
    assert held / draws >= 0.92
    found, by_t = np.nanmean(widths, axis=0)
    assert found < 0.8 * by_t


def test_few_negatives_in_the_range_are_warned_of(table, plan):
    record = execute(plan(scheme="folds", folds=5), table)
    negatives = min(int((~split.test_positive).sum()) for split in record.splits)
    few = (0.0, 3.5 / negatives)
    (found,) = range_notices(record, few)
    assert (found.code, found.severity) == ("few_negatives_in_range", WARNING)
    assert [one["code"] for one in run_as_json(record, few)["pauc"]["notices"]] == [found.code]
    assert str(found) in results_table([record], few)
    assert range_notices(record, (0.0, 0.9)) == []
    assert range_notices(record, (0.0, 1.0)) == []


def test_bounds_of_repeats_are_averaged(table, plan):
    record = execute(plan(scheme="folds", folds=3, repeats=2), table)
    found = pauc_summary(record, BAND)
    alone = [inference.folds_interval(rankings(record, k), *BAND) for k in (0, 1)]
    assert found.low == pytest.approx(np.mean([one.low for one in alone]))
    assert found.high == pytest.approx(np.mean([one.high for one in alone]))
    assert len(found.per_split) == 6


@pytest.mark.parametrize("sampled", [{}, {"w": "weight"}], ids=["plain", "weighted"])
@pytest.mark.parametrize("scheme", [{"folds": 5}, {"folds": 3}, {"repeats": 3, "test_size": 0.4}])
def test_perfect_splits_have_exact_bounds(tmp_path, sampled, scheme):
    rng, y = np.random.default_rng(0), np.arange(60) % 3 == 0
    rows = zip(y + 0.1 * rng.random(60), rng.lognormal(size=60), y.astype(int), strict=True)
    path = tmp_path / "apart.csv"
    path.write_text("a,w,label\n" + "\n".join(f"{a},{w},{label}" for a, w, label in rows))
    table = read_table(path, label="label", positive="1", roles={"w": "ignore"} | sampled)
    validation = Validation(**({"scheme": "folds"} if "folds" in scheme else {}), **scheme)
    record = execute(plan_on(table, "auc-rls", {}, validation, BAND, None), table)
    found = auc_summary(record)
    assert found.value == found.high == 1.0
    assert 0.1 < found.low < 0.95


def test_two_splits_have_no_interval_but_a_reason(table, plan, tmp_path, sentence):
    runs = [execute(plan(method, scheme="folds", folds=2), table) for method in ("rls", "logistic")]
    for found in (auc_summary(runs[0]), pauc_summary(runs[0], BAND), tpr_summary(runs[0], 0.1)):
        assert np.isnan([found.low, found.high]).all()
        assert found.reason == sentence
    document = json.loads(json.dumps(run_as_json(runs[0], BAND)))
    for measure in ("auc", "pauc"):
        assert document[measure]["low"] is None
        assert document[measure]["high"] is None
        assert document[measure]["reason"] == sentence
    (pair,) = compare_runs([("a", runs[0]), ("b", runs[1])], BAND)
    assert np.isnan([pair.low, pair.high, pair.p]).all()
    assert pair.reason == sentence
    assert sentence in results_table(runs, BAND)
    write_report(tmp_path / "report.html", {"a": runs[0]}, BAND, {})
    assert sentence in (tmp_path / "report.html").read_text(encoding="utf-8")
