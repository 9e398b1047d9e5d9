"""Declared groups and frequency weights affect every measure of a run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from aucstudio.cli import main
from aucstudio.engine import inference, roc
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.results.calibration import estimate_calibration
from aucstudio.project.results.comparison import compare_runs
from aucstudio.project.results.subgroups import subgroups
from aucstudio.project.results.summary import auc_summary, pauc_summary, tpr_summary
from aucstudio.project.results.thresholds import (
    Stakes,
    Target,
    ThresholdFigures,
    counts_at,
    curve_of,
    threshold_remarks,
)
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.planning import plan_on
from aucstudio.project.store.project.project_file import ProjectFile

BAND = (0.0, 0.3)
GROUPS, SIZE = 100, 6


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write patients with several similar rows each, all of one class."""
    rng = np.random.default_rng(3)
    y = rng.random(GROUPS) < 0.5
    signal = rng.normal(size=(2, GROUPS)) + 0.8 * y
    lines = []
    for k in range(GROUPS):
        for visit in range(SIZE):
            a, b = signal[:, k] + 0.1 * rng.normal(size=2)
            site = "north" if visit % 2 else "south"
            lines.append(f"p{k},{a:.5f},{b:.5f},{site},{visit % 3},{int(y[k])}")
    path = tmp_path_factory.mktemp("units") / "visits.csv"
    path.write_text("\n".join(["patient,a,b,site,n,label", *lines]) + "\n")
    return path


def opened(path, **roles):
    named = {"patient": "ignore", "site": "ignore", "n": "ignore"} | roles
    return read_table(path, label="label", positive="1", roles=named)


def run(table, method="logistic", **settings):
    record = execute(plan_on(table, method, settings, Validation(test_size=0.5), BAND, None), table)
    assert record.error == ""
    return record


@pytest.fixture(scope="module")
def grouped(written):
    return opened(written, patient="group")


@pytest.fixture(scope="module")
def record(grouped):
    return run(grouped)


def width(found):
    return found.high - found.low


def alone(split):
    """Return labels and scores of a split as if the rows were independent."""
    return split.test_positive, split.test_scores


def test_every_interval_of_a_run_accounts_for_groups(record):
    (split,) = record.splits
    assert len(np.unique(split.test_groups)) == GROUPS // 2
    data = alone(split)
    for found, plain in (
        (auc_summary(record), inference.delong_interval(*data)),
        (pauc_summary(record, BAND), inference.pauc_interval(*data, *BAND)),
    ):
        assert found.value == pytest.approx(plain.value)
        assert width(found) > 1.6 * width(plain)
    point, plain = (
        tpr_summary(record, 0.2),
        inference.pointwise_band(roc.Ranking.of(*data), grid=[0.2]),
    )
    assert width(point) > 1.3 * float(plain.high[0] - plain.low[0])
    figures = ThresholdFigures.of(counts_at(curve_of(split), 0.0))
    rows = np.count_nonzero(split.test_positive)
    assert figures.tpr.high - figures.tpr.low > 1.5 * 2 * 1.96 * (0.25 / rows) ** 0.5 * 0.7
    maps = estimate_calibration(record, "platt").diagram
    assert (maps.high - maps.low).mean() > 0.3


def test_tpr_at_an_fpr_has_one_interval(record):
    figures = ThresholdFigures.of_run(record, Target("fpr", 0.2), Stakes())
    assert figures.tpr == tpr_summary(record, 0.2)
    remarks = threshold_remarks(Target("fpr", 0.2), Stakes(), figures)
    assert list(dict(remarks[-1].values)["rates"]) == ["FPR", "TPR"]


def test_comparisons_account_for_groups(grouped, record):
    other = run(grouped, "rls", regularization=100.0)
    worse = run(opened(grouped.path, patient="group", b="ignore"))
    (pair,) = compare_runs([("one", record), ("other", worse)], BAND)
    plain = inference.auc_test(
        record.splits[0].test_positive, record.splits[0].test_scores, worse.splits[0].test_scores
    )
    assert pair.difference == pytest.approx(plain.difference)
    assert width(pair) > 1.6 * width(plain)
    (part,) = compare_runs([("one", record), ("other", other)], BAND, "pauc")
    assert part.difference == part.difference


def test_subgroups_sharing_groups_are_compared_as_dependent(written, record, grouped):
    found = subgroups(record, grouped, "site", BAND)
    assert [group.rows for group in found.groups] == [150, 150]
    (split,) = record.splits
    plain = inference.delong_interval(split.test_positive[::2], split.test_scores[::2])
    assert width(found.groups[0].auc) > 1.3 * width(plain)
    assert 0.0 <= found.p_auc <= 1.0


def test_command_reports_wider_intervals_with_groups(written, capsys):
    def trained(*options):
        words = ["train", str(written), "--method", "rls", "--label", "label", "--positive", "1"]
        words += ["--ignore", "site", "--test-size", "0.5", "--json", *options]
        assert main(words) == 0
        return json.loads(capsys.readouterr().out)["runs"][0]

    kept, ignored = (trained(role, "patient", "--ignore", "n") for role in ("--group", "--ignore"))
    assert kept["test_groups"] == [GROUPS // 2]
    assert "test_groups" not in ignored
    widths = [one["auc"]["high"] - one["auc"]["low"] for one in (kept, ignored)]
    assert widths[0] > 1.5 * widths[1]
    counted = trained("--ignore", "patient", "--weight", "n", "--weight-kind", "frequency")
    assert (counted["weight"], counted["weight_kind"]) == ("n", "frequency")


def test_groups_and_weight_kinds_are_stored_in_a_project(tmp_path, record, written):
    counted = run(opened(written, n="frequency"))
    path = tmp_path / "units.aucproj"
    project = ProjectFile.create(path)
    for one in (record, counted):
        project.add_run(one)
    stored = {one.id: one for one in ProjectFile.open(path).runs()}
    again, also = stored[record.id], stored[counted.id]
    np.testing.assert_array_equal(again.splits[0].test_groups, record.splits[0].test_groups)
    assert auc_summary(again) == auc_summary(record)
    assert also.splits[0].weight_kind == "frequency"
    assert auc_summary(also) == auc_summary(counted)


def test_frequencies_count_rows_and_sampling_weights_do_not(written):
    counted, sampled = run(opened(written, n="frequency")), run(opened(written, n="weight"))
    assert counted.id != sampled.id
    (split,) = counted.splits
    rows = np.repeat(np.arange(split.n_test), split.test_weights.astype(int))
    expected = inference.delong_interval(split.test_positive[rows], split.test_scores[rows])
    found = auc_summary(counted)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-6)
    assert width(auc_summary(sampled)) > 1.1 * width(found)
    assert "weights_frequency" in {note.code for note in counted.notes}


def test_fractional_frequencies_are_refused(written):
    halves = written.with_name("halves.csv")
    halves.write_text(written.read_text().replace(",2,", ",2.5,"))
    with pytest.raises(InputError) as error:
        opened(halves, n="frequency").weights  # noqa: B018  (read when it is asked for)
    assert (error.value.column, error.value.setting) == ("n", "weight_kind")
