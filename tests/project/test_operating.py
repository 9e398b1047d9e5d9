"""Operating points: vertices, intervals, costs and formats against scipy and brute force."""

import numpy as np
import pytest
from scipy.stats import beta

from aucstudio.engine import roc
from aucstudio.engine.roc import cut_at
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.results.thresholds import (
    amount_words,
    binomial_interval,
    case_counts,
    data_prior,
    draws_for,
    expected_cost,
    model_at,
    point_measures,
    read_share,
    share_words,
    vertex_of,
)
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment


@pytest.fixture
def record(table):
    return execute(plan_experiment(DataReference.to_table(table), "rls", {}, Validation()), table)


def test_vertex_is_found_by_its_threshold():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3 == 0
    scores = rng.integers(-5, 6, 60) / 4.0
    curve = roc.roc_curve(y, scores)
    for vertex in range(len(curve.tp)):
        assert vertex_of(curve, cut_at(curve, vertex)) == vertex
    for threshold in (-9.0, -1.25, 0.1, 0.25, 9.0):
        vertex = vertex_of(curve, threshold)
        assert curve.tp[vertex] == (scores > threshold)[y].sum()
        assert curve.fp[vertex] == (scores > threshold)[~y].sum()


@pytest.mark.parametrize(("count", "trials"), [(0, 7), (7, 7), (3, 7), (1, 500), (499, 500)])
def test_binomial_bounds_are_exact(count, trials):
    # Clopper and Pearson's bounds are quantiles of beta distributions.
    low = beta.ppf(0.025, count, trials - count + 1) if count else 0.0
    high = beta.ppf(0.975, count + 1, trials - count) if count < trials else 1.0
    assert binomial_interval(count, trials) == pytest.approx((low, high), abs=1e-11)


def test_interval_of_no_trials_is_0_to_1():
    assert binomial_interval(0, 0) == (0.0, 1.0)


def test_counts_measures_and_cost_at_a_prior():
    tp, fn, fp, tn = case_counts(0.8, 0.1, 0.02)
    assert (tp, fn, fp, tn) == pytest.approx((160, 40, 980, 8820))
    found = point_measures(0.8, 0.1, 0.02)
    assert found["precision"] == pytest.approx(tp / (tp + fp))
    assert found["f1"] == pytest.approx(2 * tp / (2 * tp + fp + fn))
    assert found["accuracy"] == pytest.approx((tp + tn) / 10_000)
    assert np.isnan(point_measures(0.0, 0.0, 0.02)["precision"])
    assert float(expected_cost(0.8, 0.1, 0.02, 25.0)) == pytest.approx(fp + 25 * fn)


def test_prior_is_the_share_of_positives_in_the_data(record, table):
    share = table.is_positive().mean()
    assert data_prior(record, table) == pytest.approx(share)
    assert data_prior(record) == pytest.approx(share)


def test_large_tables_use_fewer_bootstrap_draws():
    assert [draws_for(rows) for rows in (100, 40_000, 100_000, 10**7)] == [500, 500, 200, 100]


def test_moved_model_predicts_by_the_new_threshold(record, table):
    split = record.splits[0]
    ordered = np.sort(split.test_scores)
    for threshold in (-0.3, 0.0, float(ordered[9]), float(ordered[-1]), float(ordered[0])):
        model = model_at(split, threshold)
        scores = model.score(table)[split.test_rows]
        np.testing.assert_array_equal(scores, split.model.score(table)[split.test_rows])
        called = model.predicted(scores) == model.positive
        np.testing.assert_array_equal(called, split.test_scores > threshold)
        assert model.threshold == pytest.approx(threshold, abs=1e-6)
        assert "set by the user" in model.threshold_rule


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("0.0002", 2e-4),
        ("0.02 %", 2e-4),
        ("0.02%", 2e-4),
        ("0,02 %", 2e-4),
        ("1 in 5000", 2e-4),
        ("1 in 5,000", 2e-4),
        ("1:5000", 2e-4),
        ("one in 4", 0.25),
        ("1 in 1000000", 1e-6),
        (" 50 % ", 0.5),
    ],
)
def test_shares_are_parsed(text, share):
    assert read_share(text) == pytest.approx(share)


@pytest.mark.parametrize(
    "text", ["", "rare", "0", "1", "120 %", "1 in 0", "0,0,2 %", "-0.1", "nan"]
)
def test_invalid_share_texts_are_refused(text):
    with pytest.raises(InputError, match="share of positives") as caught:
        read_share(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("share", [0.373, 0.08, 0.01, 0.0024, 2e-4, 1e-6, 0.9999])
def test_share_round_trips_as_text(share):
    assert read_share(share_words(share)) == pytest.approx(share, rel=5e-3)


def test_shares_and_amounts_are_formatted():
    assert share_words(0.373) == "37.3 %"
    assert share_words(2e-4) == "1 in 5,000"
    assert [amount_words(x) for x in (0, 0.0234, 4.5, 12.34, 1234.5, float("nan"))] == [
        *("0", "0.023", "4.5", "12.3"),
        *("1,234", "–"),
    ]
