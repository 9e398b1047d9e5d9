"""Comparison of runs: equal to direct calls of the engine, corrected by Holm, exported whole."""

import csv
import dataclasses
import math

import numpy as np
import pytest
import scipy.stats

from aucstudio.engine import inference, roc
from aucstudio.engine.monitor import Stopped
from aucstudio.project import comparison, words
from aucstudio.project.comparison import PairComparison, as_csv, as_latex, as_markdown
from aucstudio.project.execute import execute
from aucstudio.project.experiment import DataReference, plan_experiment
from aucstudio.project.split import Validation
from aucstudio.project.summary import auc_summary, pauc_summary, train_auc
from aucstudio.project.table import read_table

BAND = (0.0, 0.2)


@pytest.fixture
def make_run(table_file):
    table = read_table(table_file)

    def make(weight, validation):
        settings = {"regularization": weight}
        data = DataReference.to_table(table)
        return execute(plan_experiment(data, "auc-rls", settings, validation, BAND), table)

    return make


def with_scores(record, *scores):
    splits = tuple(
        dataclasses.replace(split, test_scores=np.asarray(new, dtype=float))
        for split, new in zip(record.splits, scores, strict=True)
    )
    return dataclasses.replace(record, splits=splits)


@pytest.fixture
def one(make_run):
    return make_run(0.01, Validation()), make_run(100.0, Validation())


@pytest.fixture
def several(make_run):
    scheme = Validation(repeats=4, test_size=0.4)
    return make_run(0.01, scheme), make_run(1000.0, scheme)


def test_one_split_is_delongs_test(one):
    (pair,) = comparison.compare_runs([("a", one[0]), ("b", one[1])], BAND)
    a, b = (record.splits[0] for record in one)
    found = inference.delong_test(a.test_positive, a.test_scores, b.test_scores)
    assert (pair.a, pair.b, pair.refused) == ("a", "b", "")
    assert (pair.difference, pair.low, pair.high) == (found.difference, found.low, found.high)
    assert pair.p == pair.p_holm == found.p


def test_one_split_partial_area(one):
    (pair,) = comparison.compare_runs([("a", one[0]), ("b", one[1])], BAND, comparison.PAUC)
    a, b = (record.splits[0] for record in one)
    found = inference.pauc_test(a.test_positive, a.test_scores, b.test_scores, *BAND)
    assert (pair.difference, pair.low, pair.high, pair.p) == (
        found.difference,
        found.low,
        found.high,
        found.p,
    )


@pytest.mark.parametrize("measure", [comparison.AUC, comparison.PAUC])
def test_several_splits_take_the_corrected_t(several, measure):
    (pair,) = comparison.compare_runs([("a", several[0]), ("b", several[1])], BAND, measure)
    band = (0.0, 1.0) if measure == comparison.AUC else BAND
    x = np.array(
        [
            roc.partial_auc(s.test_positive, s.test_scores, *band).normalized
            - roc.partial_auc(t.test_positive, t.test_scores, *band).normalized
            for s, t in zip(several[0].splits, several[1].splits, strict=True)
        ]
    )
    first = several[0].splits[0]
    factor = 1 / 4 + len(first.test_rows) / len(first.train_rows)
    se = math.sqrt(factor * x.var(ddof=1))
    assert pair.difference == pytest.approx(x.mean(), abs=1e-12)
    assert pair.p == pytest.approx(2 * scipy.stats.t.sf(abs(x.mean()) / se, df=3))
    reach = scipy.stats.t.ppf(0.975, df=3) * se
    assert pair.low == pytest.approx(max(-1.0, x.mean() - reach))
    assert pair.high == pytest.approx(min(1.0, x.mean() + reach))


def test_same_scores_are_level(one, several):
    for record in (one[0], several[0]):
        (pair,) = comparison.compare_runs([("a", record), ("b", record)], BAND)
        assert (pair.difference, pair.p, pair.settled) == (0.0, 1.0, False)


def test_equal_differences_leave_no_variance_to_judge_by(several):
    perfect = [split.test_positive * 1.0 for split in several[0].splits]
    flat = [np.zeros(len(scores)) for scores in perfect]
    a, b = with_scores(several[0], *perfect), with_scores(several[0], *flat)
    (pair,) = comparison.compare_runs([("a", a), ("b", b)], BAND)
    assert pair.difference == 0.5
    assert math.isnan(pair.p)
    assert math.isnan(pair.low)
    assert math.isnan(pair.high)
    assert comparison.verdict(pair) == "too little to tell by"


def test_all_pairs_are_corrected_together(one, make_run):
    runs = [("a", one[0]), ("b", one[1]), ("c", make_run(10.0, Validation()))]
    pairs = comparison.compare_runs(runs, BAND)
    assert [(pair.a, pair.b) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    expected = inference.holm([pair.p for pair in pairs])
    np.testing.assert_array_equal([pair.p_holm for pair in pairs], expected)


def test_different_rows_are_refused(one, several, make_run):
    other_seed = make_run(0.01, Validation(seed=7))
    shorter = dataclasses.replace(several[1], splits=several[1].splits[:2])
    data = dataclasses.replace(one[1].experiment.data, sha256="0" * 64)
    elsewhere = dataclasses.replace(
        one[1], experiment=dataclasses.replace(one[1].experiment, data=data)
    )
    split = one[1].splits[0]
    moved = dataclasses.replace(split, test_rows=split.test_rows + 1)
    cases = [
        (one[0], other_seed, f"against {Validation(seed=7).describe()}"),
        (one[0], dataclasses.replace(one[1], splits=(moved,)), "scored on different rows"),
        (several[0], shorter, "4 against 2"),
        (one[0], elsewhere, "different tables"),
    ]
    for a, b, reason in cases:
        (pair,) = comparison.compare_runs([("a", a), ("b", b)], BAND)
        assert reason in pair.refused
        assert math.isnan(pair.difference)
        assert math.isnan(pair.p_holm)
        assert not pair.settled


def test_refused_pairs_do_not_count_in_the_correction(one, make_run):
    runs = [("a", one[0]), ("b", one[1]), ("c", make_run(0.01, Validation(seed=7)))]
    pairs = comparison.compare_runs(runs, BAND)
    assert pairs[0].p_holm == pairs[0].p
    assert pairs[1].refused
    assert pairs[2].refused


def test_progress_stops(one):
    heard = []

    def listen(fraction):
        heard.append(fraction)
        return True

    with pytest.raises(Stopped):
        comparison.compare_runs([("a", one[0]), ("b", one[1]), ("c", one[0])], BAND, "auc", listen)
    assert heard == [1 / 3]


def test_figures_are_those_of_the_summary(several):
    run = comparison.run_figures("a", several[0], BAND)
    assert run.auc == auc_summary(several[0])
    assert run.pauc == pauc_summary(several[0], BAND)
    assert run.gap == train_auc(several[0]) - run.auc.value
    assert (run.splits, run.fit_seconds) == (4, several[0].fit_seconds)


# ----------------------------------------------------------------- exports


@pytest.fixture
def tables(one):
    odd = "50 % & |more|"
    runs = [comparison.run_figures(n, r, BAND) for n, r in zip(("a", odd), one, strict=True)]
    pairs = comparison.compare_runs([("a", one[0]), (odd, one[1])], BAND)
    return runs, [*pairs, PairComparison("a", "c", refused="trained on different tables")]


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_csv_reads_back_exactly(tables, delimiter):
    runs, pairs = tables
    blocks = as_csv(runs, pairs, delimiter).split("\n\n")
    first, second = (list(csv.DictReader(b.splitlines(), delimiter=delimiter)) for b in blocks)
    assert [row["Run"] for row in first] == [run.name for run in runs]
    for row, run in zip(first, runs, strict=True):
        assert float(row["AUC"]) == run.auc.value
        assert float(row["pAUC low"]) == run.pauc.low
        assert float(row["Seconds per fit"]) == run.fit_seconds
        assert int(row["Splits"]) == 1
    assert float(second[0]["A - B"]) == pairs[0].difference
    assert float(second[0]["p (Holm)"]) == pairs[0].p_holm
    assert (second[1]["p"], second[1]["Note"]) == ("", pairs[1].refused)


def test_markdown_has_a_cell_for_every_head(tables):
    runs, pairs = tables
    text = as_markdown(runs, pairs)
    lines = [line for line in text.splitlines() if line]
    cells = [line.replace("\\|", "¦")[2:-2].split(" | ") for line in lines]
    assert [len(row) for row in cells] == [10] * 4 + [8] * 4
    assert cells[3][0] == "50 % & ¦more¦"
    assert float(cells[2][1]) == round(runs[0].auc.value, 3)
    assert cells[1][:2] == ["---", "---:"]


def test_latex_has_a_cell_for_every_column(tables):
    runs, pairs = tables
    text = as_latex(runs, pairs)
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == 2
    rows = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert [row.replace("\\&", "").count("&") + 1 for row in rows] == [10] * 3 + [8] * 3
    assert "50 \\% \\& |more|" in text
    assert f"{runs[0].auc.value:.3f}" in rows[1]


def test_no_pairs_no_second_table(tables):
    runs, _ = tables
    assert "A - B" not in as_csv(runs[:1], [])
    assert as_latex(runs[:1], []).count("tabular") == 2


def test_words():
    assert words.p_words(0.41) == "p = 0.41"
    assert words.p_words(0.0004) == "p < 0.001"
    assert words.p_words(0.0123) == "p = 0.012"
    assert words.figure_words(-0.0001, "+") == "0.000"
    assert words.figure_words(0.0123, "+") == "+0.012"
    assert words.interval_words(-0.006, 0.014) == "−0.006 … 0.014"
    assert words.interval_words(math.nan, math.nan) == "–"
    assert comparison.verdict(PairComparison("a", "b", -0.1, -0.2, -0.05, 0.01, 0.02)) == (
        "b is better"
    )
    assert comparison.verdict(PairComparison("a", "b", 0.1)) == "too little to tell by"
