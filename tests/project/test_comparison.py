"""Comparison of runs: equal to direct engine calls, corrected by Holm, and exported."""

import csv
import dataclasses
import itertools
import math

import numpy as np
import pytest
import scipy.stats

from aucstudio.engine import inference, roc
from aucstudio.engine.monitor import Stopped
from aucstudio.notices import notice, text
from aucstudio.project.data.validation import Validation
from aucstudio.project.results import comparison
from aucstudio.project.results.comparison import Comparison, PairComparison, RunFigures
from aucstudio.project.results.forecast import growth_to_significance
from aucstudio.project.results.page import markdown_blocks, tables_as_csv, tables_as_latex
from aucstudio.project.results.report import comparison_tables
from aucstudio.project.results.summary import (
    WHOLE,
    Estimate,
    auc_summary,
    pauc_summary,
    tpr_summary,
    train_auc,
)
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment

BAND = (0.0, 0.2)


@pytest.fixture
def make_run(table):
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


@pytest.mark.parametrize("measure", [comparison.AUC, comparison.PAUC])
def test_single_split_uses_delongs_test(one, measure):
    (pair,) = comparison.compare_runs([("a", one[0]), ("b", one[1])], BAND, measure)
    a, b = (record.splits[0] for record in one)
    test, band = inference.auc_test, ()
    if measure == comparison.PAUC:
        test, band = inference.pauc_test, BAND
    found = test(a.test_positive, a.test_scores, b.test_scores, *band)
    assert (pair.a, pair.b, pair.refused) == ("a", "b", None)
    assert (pair.difference, pair.low, pair.high) == (found.difference, found.low, found.high)
    assert pair.p == pair.p_corrected == found.p


@pytest.mark.parametrize("measure", [comparison.AUC, comparison.PAUC])
def test_several_splits_use_the_corrected_t_test(several, measure):
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
    # Rows are held out repeatedly: 2.5 times their share exceeds n_test / n_train.
    factor = 1 / 4 + 2.5 * len(first.test_rows) / (len(first.test_rows) + len(first.train_rows))
    se = math.sqrt(factor * x.var(ddof=1))
    assert pair.difference == pytest.approx(x.mean(), abs=1e-12)
    assert pair.p == pytest.approx(2 * scipy.stats.t.sf(abs(x.mean()) / se, df=3))
    reach = scipy.stats.t.ppf(0.975, df=3) * se
    assert pair.low == pytest.approx(max(-1.0, x.mean() - reach))
    assert pair.high == pytest.approx(min(1.0, x.mean() + reach))


def test_equal_scores_do_not_differ(one, several):
    for record in (one[0], several[0]):
        (pair,) = comparison.compare_runs([("a", record), ("b", record)], BAND)
        assert (pair.difference, pair.p, pair.significant) == (0.0, 1.0, False)


def test_differences_without_variance_have_no_test(several):
    perfect = [split.test_positive * 1.0 for split in several[0].splits]
    flat = [np.zeros(len(scores)) for scores in perfect]
    a, b = with_scores(several[0], *perfect), with_scores(several[0], *flat)
    (pair,) = comparison.compare_runs([("a", a), ("b", b)], BAND)
    assert pair.difference == 0.5
    assert math.isnan(pair.p)
    assert math.isnan(pair.low)
    assert math.isnan(pair.high)


def test_all_pairs_are_corrected_together(one, make_run):
    runs = [("a", one[0]), ("b", one[1]), ("c", make_run(10.0, Validation()))]
    pairs = comparison.compare_runs(runs, BAND)
    assert [(pair.a, pair.b) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    expected = inference.holm([pair.p for pair in pairs])
    np.testing.assert_array_equal([pair.p_corrected for pair in pairs], expected)
    runs[2] = ("c", make_run(0.01, Validation(seed=7)))
    pairs = comparison.compare_runs(runs, BAND)
    assert [bool(pair.refused) for pair in pairs] == [False, True, True]
    assert pairs[0].p_corrected == pairs[0].p  # refused pairs are not counted


def test_runs_with_other_columns_are_compared_with_a_notice(table, one):
    data = DataReference.to_table(table.with_roles(ignore=["x0", "x1"]))
    fewer = execute(plan_experiment(data, "auc-rls", {}, Validation(), BAND), table)
    (pair,) = comparison.compare_runs([("a", fewer), ("b", one[0])], BAND)
    more = notice("used_more_columns", run="b", count=2, columns=("x0", "x1"))
    assert pair.p >= 0
    assert pair.notices == pair.turned().notices == (more,)
    assert [found["code"] for found in pair.as_json()["notices"]] == ["used_more_columns"]
    assert comparison.compare_runs([("a", one[0]), ("b", one[1])], BAND)[0].notices == ()


def test_columns_read_differently_are_named(table, one):
    read = table.with_roles(absent={"x2": (0.0,)})
    found = comparison.other_columns("a", one[0].experiment, "the table", read)
    assert found == (notice("read_columns_differently", count=1, columns=("x2",)),)
    assert comparison.other_columns("a", one[0].experiment, "the table", table) == ()


def test_different_rows_are_refused(one, several, make_run):
    other_seed = make_run(0.01, Validation(seed=7))
    shorter = dataclasses.replace(several[1], splits=several[1].splits[:2])
    data = one[1].experiment.data
    data = dataclasses.replace(data, schema=dataclasses.replace(data.schema, sha256="0" * 64))
    elsewhere = dataclasses.replace(
        one[1], experiment=dataclasses.replace(one[1].experiment, data=data)
    )
    split = one[1].splits[0]
    moved = dataclasses.replace(split, test_rows=split.test_rows + 1)
    cases = [
        (one[0], other_seed, "split_differently"),
        (one[0], dataclasses.replace(one[1], splits=(moved,)), "scored_on_different_rows"),
        (several[0], shorter, "different_splits_finished"),
        (one[0], elsewhere, "trained_on_different_tables"),
    ]
    for a, b, code in cases:
        (pair,) = comparison.compare_runs([("a", a), ("b", b)], BAND)
        assert pair.refused.code == code
        assert math.isnan(pair.difference)
        assert math.isnan(pair.p_corrected)
        assert not pair.significant


def test_comparison_can_be_stopped(one):
    fractions = []

    def record_fraction(fraction):
        fractions.append(fraction)
        return True

    with pytest.raises(Stopped):
        comparison.compare_runs(
            [("a", one[0]), ("b", one[1]), ("c", one[0])], BAND, "auc", record_fraction
        )
    assert fractions == [1 / 3]


def test_run_figures_match_the_summaries(several):
    run = comparison.compared_figures("a", several[0], BAND)
    assert run.auc == auc_summary(several[0])
    assert run.pauc == pauc_summary(several[0], BAND)
    assert run.gap == train_auc(several[0]) - run.auc.value
    assert (run.splits, run.fit_seconds) == (4, several[0].fit_seconds)


# ----------------------------------------------------------------- corrections, standings


def of_differences(*values):
    """Return pairs of runs from (difference, p) in order; None makes a refused pair."""
    names = "abcdef"
    count = round((1 + math.sqrt(1 + 8 * len(values))) / 2)
    places = itertools.combinations(range(count), 2)
    return [
        PairComparison(names[i], names[j], refused="other rows")
        if value is None
        else PairComparison(names[i], names[j], value[0], value[0] - 0.1, value[0] + 0.1, value[1])
        for (i, j), value in zip(places, values, strict=True)
    ]


def of_areas(name, *areas, part=None):
    parts = areas if part is None else part
    auc, pauc = (Estimate(float(np.mean(x)), 0.0, 1.0, per_split=tuple(x)) for x in (areas, parts))
    return RunFigures(name, auc, pauc, pauc, 1.0, 0.1, len(areas))


@pytest.mark.parametrize(
    ("correction", "oracle"),
    [
        (comparison.HOLM, [0.04, 0.09, 0.06]),
        (comparison.BONFERRONI, [0.04, 0.27, 0.09]),
        (comparison.UNCORRECTED, [0.04 / 3, 0.09, 0.03]),
    ],
)
def test_p_values_are_corrected(correction, oracle):
    pairs = of_differences((0.1, 0.04 / 3), (0.1, 0.09), (0.1, 0.03))
    found = comparison.corrected(pairs, correction)
    assert [pair.p_corrected for pair in found] == pytest.approx(oracle)
    assert [pair.significant for pair in found] == [p < 0.05 for p in oracle]
    assert [pair.p for pair in found] == [pair.p for pair in pairs]
    # Corrected pairs can be corrected again by another method.
    assert comparison.corrected(found) == comparison.corrected(pairs)


def test_turned_pair_has_the_opposite_difference():
    (pair,) = comparison.corrected(of_differences((-0.2, 0.01)))
    turned = pair.turned()
    assert (turned.a, turned.b, turned.better) == ("b", "a", pair.better)
    assert (turned.difference, turned.low, turned.high) == pytest.approx((0.2, 0.1, 0.3))
    assert turned.turned() == pair


def test_json_names_the_correction():
    (pair,) = of_differences((0.1, 0.01))
    document = comparison.corrected([pair])[0].as_json()
    assert document["p_holm"] == 0.01
    assert "p_corrected" not in document
    assert "p_none" not in comparison.corrected([pair], comparison.UNCORRECTED)[0].as_json()
    assert PairComparison("a", "b", refused="why").as_json()["p"] is None


def test_wins_ties_losses_and_ranks():
    runs = [
        of_areas("a", 0.9, 0.8, 0.7),
        of_areas("b", 0.8, 0.8, 0.6),
        of_areas("c", 0.7, 0.9, 0.5),
        of_areas("d", 0.1, 0.2),
    ]
    pairs = of_differences((0.1, 0.001), (-0.1, 0.5), None, (-0.2, 0.002), None, None)
    found = Comparison(runs, comparison.corrected(pairs)).standings()
    assert [(s.wins, s.ties, s.losses) for s in found] == [
        (1, 1, 0),
        (0, 0, 2),
        (1, 1, 0),
        (0,) * 3,
    ]
    # Splits rank a, b, c as 1 2 3, then 2.5 2.5 1 (equal areas), then 1 2 3.
    assert [s.mean_rank for s in found[:3]] == pytest.approx([4.5 / 3, 6.5 / 3, 7 / 3])
    assert math.isnan(found[3].mean_rank)


def test_runs_that_rank_alike_count_once():
    """A copy of b changes neither the correction nor the ranks of the other runs."""
    ab, ac, bc = (0.1, 0.012), (0.2, 0.01), (0.1, 0.03)
    pairs = of_differences(ab, ab, ac, (0.0, 1.0), bc, bc)  # of a, b, its copy, and c
    pairs[3] = dataclasses.replace(pairs[3], alike=True)
    alone = comparison.corrected(of_differences(ab, ac, bc))
    found = comparison.corrected(pairs)
    of_a_b, of_a_c, of_b_c = (pair.p_corrected for pair in alone)
    expected = [of_a_b, of_a_b, of_a_c, 1.0, of_b_c, of_b_c]
    assert [pair.p_corrected for pair in found] == expected
    areas = [of_areas(name, area) for name, area in zip("abcd", (0.9, 0.8, 0.8, 0.7), strict=True)]
    assert [one.mean_rank for one in Comparison(areas, found).standings()] == [1, 2, 2, 3]


def test_mean_ranks_follow_the_measure():
    runs = [of_areas("a", 0.9, part=[0.2]), of_areas("b", 0.8, part=[0.3])]
    pairs = comparison.corrected(of_differences((0.1, 0.9)))
    assert [s.mean_rank for s in Comparison(runs, pairs, comparison.AUC).standings()] == [1, 2]
    assert [s.mean_rank for s in Comparison(runs, pairs, comparison.PAUC).standings()] == [2, 1]


def test_untested_pairs_are_not_ties():
    pairs = comparison.corrected([PairComparison("a", "b", 0.5)])
    standing, _ = Comparison([of_areas("a", 0.9), of_areas("b", 0.4)], pairs).standings()
    assert (standing.wins, standing.ties, standing.losses) == (0, 0, 0)


def tpr_pairs(runs, band=BAND):
    return comparison.compare_runs(list(zip("ab", runs, strict=True)), band, comparison.TPR)


@pytest.mark.parametrize("scheme", ["one", "several"])
def test_tpr_at_the_end_of_the_range_is_compared(scheme, request):
    runs = request.getfixturevalue(scheme)
    a, b = (comparison.compared_figures("a", run, BAND).measured(comparison.TPR) for run in runs)
    assert a == tpr_summary(runs[0], BAND[1])
    (pair,) = tpr_pairs(runs)
    assert pair.difference == pytest.approx(a.value - b.value)
    assert pair.low <= pair.difference <= pair.high
    assert 0 <= pair.p <= 1
    (turned,) = tpr_pairs(runs[::-1])
    assert turned.difference == -pair.difference


def test_tpr_of_equal_runs_is_alike(one):
    (pair,) = tpr_pairs((one[0], one[0]))
    assert pair.alike
    assert pair.p == 1


def test_tpr_at_fpr_1_is_not_tested(one):
    (pair,) = tpr_pairs(one, WHOLE)
    assert math.isnan(pair.p)
    assert pair.reason == text("tpr_at_one")


def test_training_for_another_range_is_detected(one):
    plain = comparison.compared_figures("a", one[0], BAND)
    assert plain.trained_for is None
    assert not plain.trained_elsewhere(BAND)
    for set_to, elsewhere in ((BAND, False), ((0.0, 0.05), True)):
        experiment = dataclasses.replace(
            one[0].experiment, method="svm-pauc", params={"fpr_range": list(set_to)}
        )
        run = comparison.compared_figures(
            "a", dataclasses.replace(one[0], experiment=experiment), BAND
        )
        assert run.trained_for == set_to
        assert run.trained_elsewhere(BAND) == elsewhere


# ----------------------------------------------------------------- forecasts


def open_pair(difference, se, quantile):
    reach = quantile * se
    pair = PairComparison("a", "b", difference, difference - reach, difference + reach, 0.2, 0.2)
    assert not pair.significant
    return pair


def share_significant(measured, critical, growth, draws=200_000):
    """Return the share of significant studies for true differences near the measured one."""
    rng = np.random.default_rng(0)
    true = measured + rng.standard_normal(draws)
    found = true * math.sqrt(growth) + rng.standard_normal(draws)
    return np.mean(np.abs(found) > critical)


@pytest.mark.parametrize("tests", [1, 15])
@pytest.mark.parametrize("difference", [-0.02, 0.001])
def test_forecast_growth_has_the_stated_assurance(tests, difference):
    pair = open_pair(difference, 0.015, scipy.stats.norm.ppf(0.975))
    growth = growth_to_significance(pair, 1, tests)
    critical = scipy.stats.norm.ppf(1 - 0.025 / tests)
    share = share_significant(difference / 0.015, critical, growth)
    assert share == pytest.approx(0.8, abs=0.005)


def test_uncorrected_forecast_ignores_the_number_of_pairs():
    pair = open_pair(0.02, 0.015, scipy.stats.norm.ppf(0.975))
    free = dataclasses.replace(pair, correction=comparison.UNCORRECTED)
    assert growth_to_significance(free, 1, 15) == growth_to_significance(pair, 1, 1)
    assert growth_to_significance(pair, 1, 15) > growth_to_significance(pair, 1, 1)


def test_forecast_of_splits_uses_students_quantile():
    pair = open_pair(0.02, 0.015, scipy.stats.t.ppf(0.975, 9))
    growth = growth_to_significance(pair, 10, 1)
    share = share_significant(0.02 / 0.015, scipy.stats.t.ppf(0.975, 9), growth)
    assert share == pytest.approx(0.8, abs=0.005)
    # Two splits can never pass a test as strict as this one.
    assert math.isinf(growth_to_significance(pair, 2, 15))


@pytest.mark.parametrize(
    "pair",
    [
        PairComparison("a", "b", refused="other rows"),
        PairComparison("a", "b", 0.5),
        PairComparison("a", "b", 0.0, 0.0, 0.0, 1.0, 1.0),
        PairComparison("a", "b", 0.2, 0.1, 0.3, 0.001, 0.001),
    ],
)
def test_significant_and_untested_pairs_have_no_forecast(pair):
    assert growth_to_significance(pair, 1, 1) is None


# ----------------------------------------------------------------- exports


@pytest.fixture
def tables(one):
    odd = "50 % & |more|"
    third = of_areas("c", 0.5)
    runs = [comparison.compared_figures(n, r, BAND) for n, r in zip(("a", odd), one, strict=True)]
    (pair,) = comparison.compare_runs([("a", one[0]), (odd, one[1])], BAND)
    reason = notice("trained_on_different_tables", files="a against b")
    refused = [PairComparison(n, "c", refused=reason) for n in ("a", odd)]
    return Comparison([*runs, third], [pair, *refused])


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_csv_export_is_exact(tables, delimiter):
    blocks = tables_as_csv(comparison_tables(tables), delimiter).split("\n\n")
    first, second = (list(csv.DictReader(b.splitlines(), delimiter=delimiter)) for b in blocks)
    assert [row["Run"] for row in first] == [run.name for run in tables.runs]
    for row, run, standing in zip(first, tables.runs, tables.standings(), strict=True):
        assert float(row["AUC"]) == run.auc.value
        assert float(row["pAUC low"]) == run.pauc.low
        assert float(row["Seconds per fit"]) == run.fit_seconds
        assert int(row["Splits"]) == 1
        counts = [int(row[head]) for head in ("Wins", "Ties", "Losses")]
        assert counts == [standing.wins, standing.ties, standing.losses]
    assert [row["Mean rank"] for row in first][2] == ""
    assert sorted(float(row["Mean rank"]) for row in first[:2]) in ([1.0, 2.0], [1.5, 1.5])
    assert float(second[0]["A - B"]) == tables.pairs[0].difference
    assert float(second[0]["Holm-corrected p"]) == tables.pairs[0].p_corrected
    assert (second[1]["p"], second[1]["Note"]) == ("", str(tables.pairs[1].refused))


def test_headers_name_the_correction(tables):
    for correction, head in ((comparison.BONFERRONI, "Bonferroni-corrected p"), ("none", "p,Note")):
        pairs = comparison.corrected(tables.pairs, correction)
        changed = dataclasses.replace(tables, pairs=pairs)
        assert head in tables_as_csv(comparison_tables(changed))


def test_markdown_has_a_cell_for_every_header(tables):
    text = markdown_blocks(comparison_tables(tables))
    lines = [line for line in text.splitlines() if line]
    cells = [line.replace("\\|", "¦")[2:-2].split(" | ") for line in lines]
    assert [len(row) for row in cells] == [18] * 5 + [8] * 5
    assert cells[3][0] == "50 % & ¦more¦"
    assert float(cells[2][1]) == round(tables.runs[0].auc.value, 3)
    assert cells[1][:2] == ["---", "---:"]


@pytest.mark.parametrize("booktabs", [False, True])
def test_latex_has_a_cell_for_every_column(tables, booktabs):
    text = tables_as_latex(comparison_tables(tables), booktabs=booktabs)
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == 2
    rows = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert [row.replace("\\&", "").count("&") + 1 for row in rows] == [18] * 4 + [8] * 4
    assert "50 \\% \\& |more|" in text
    assert f"{tables.runs[0].auc.value:.3f}" in rows[1]
    rules = ("\\toprule", "\\midrule", "\\bottomrule")
    assert [text.count(rule) for rule in rules] == ([2] * 3 if booktabs else [0] * 3)
    assert text.count("\\hline") == (0 if booktabs else 6)


def test_export_without_pairs_has_one_table(tables):
    assert len(comparison_tables(Comparison(tables.runs[:1], []))) == 1
