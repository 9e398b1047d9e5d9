"""Results by subgroup: areas with intervals, and a test for equal areas."""

import json

import numpy as np
import pytest

from aucstudio import cli
from aucstudio.engine import inference, roc
from aucstudio.project.data.table import read_table
from aucstudio.project.results.subgroups import lowest_threshold, part_rows, read_cuts, subgroups
from aucstudio.project.store.project.project_file import ProjectFile
from tests.conftest import write_file

BAND = (0.0, 0.1)


@pytest.fixture
def sites(tmp_path):
    """Write a table in which x ranks the rows of site b but not of site a."""
    random = np.random.default_rng(8)
    path = tmp_path / "sites.csv"
    lines = ["x,site,y"]
    for k in range(600):
        y, site = int(random.random() < 0.4), "ab"[k % 2]
        x = random.normal() + 2.5 * y * (site == "b")
        lines.append(f"{x:.5f},{site if k % 50 else ''},{y}")
    path.write_text("\n".join(lines) + "\n")
    return path


def run_on(sites, tmp_path, *scheme):
    project = tmp_path / "p.aucproj"
    words = ["train", str(sites), "--score-column", "x", "--label", "y", "--quiet"]
    assert cli.main([*words, *map(str, scheme), "--project", str(project)]) == 0
    return project


def found_by(project, column, capsys):
    capsys.readouterr()
    assert cli.main(["compare", str(project), "--by", column, "--json", "--quiet"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["subgroups"]
    return found


def test_subgroup_aucs_match_the_rows_of_each_level(sites, tmp_path, capsys):
    project = run_on(sites, tmp_path, "--test-size", 0.5)
    found = found_by(project, "site", capsys)
    (split,) = ProjectFile.open(project).runs()[0].splits
    values = read_table(sites, label="y").column("site").values[split.test_rows]
    for group, level in zip(found["groups"], ["a", "b", "(missing)"], strict=True):
        rows = values == (None if level == "(missing)" else level)
        expected = inference.delong_interval(split.test_positive[rows], split.test_scores[rows])
        assert group["level"] == level
        assert group["auc"]["value"] == pytest.approx(expected.value, abs=1e-12)
        assert group["auc"]["low"] == pytest.approx(expected.low, abs=1e-12)
        negatives = split.test_scores[rows & ~split.test_positive]
        assert np.mean(negatives > group["threshold"]) <= 0.1
    assert found["p_auc"] < 1e-4


def test_subgroup_aucs_of_folds_are_weighted_by_pairs(sites, tmp_path):
    (record,) = ProjectFile.open(run_on(sites, tmp_path, "--folds", 3, "--repeats", 2)).runs()
    table = read_table(sites, label="y")
    found = subgroups(record, table, "site", BAND)
    group = found.groups[1]
    values = table.column("site").values
    areas, pairs = [], []
    for split in record.splits[:3]:
        rows = values[split.test_rows] == "b"
        positive = split.test_positive[rows]
        areas.append(roc.auc(positive, split.test_scores[rows]))
        pairs.append(positive.sum() * (~positive).sum())
    assert group.auc.value == pytest.approx(np.average(areas, weights=pairs), abs=1e-12)
    assert np.isnan(group.threshold)
    assert group.auc.low < group.auc.value < group.auc.high
    assert sum(g.positives + g.negatives for g in found.groups) == 600


def test_levels_of_few_rows_are_not_tested(sites, tmp_path, capsys):
    project = run_on(sites, tmp_path)
    (record,) = ProjectFile.open(project).runs()
    found = subgroups(record, read_table(sites, label="y"), "site", BAND)
    few = [group for group in found.groups if min(group.positives, group.negatives) < 5]
    assert (len(few), len(found.groups), found.silent) == (1, 3, 1)
    assert found.silent_pauc >= 1
    capsys.readouterr()
    assert cli.main(["compare", str(project), "--by", "site", "--quiet"]) == 0
    assert "1 with too few rows left out" in capsys.readouterr().out


def test_invalid_subgroup_options_are_refused(sites, tmp_path, capsys, refused):
    project = run_on(sites, tmp_path)
    wrong = (
        (["--by", "sit"], "no column 'sit'"),
        (["--by", "x", "--cuts", "9e9"], "only one group"),
        (["--by", "site", "--cuts", "3"], "holds text"),
        (["--by", "x", "--cuts", "low"], "cut points are up to 19 numbers"),
        (["--cuts", "3"], "--cuts needs --by"),
    )
    for words, said in wrong:
        assert said in refused("compare", project, *words, "--quiet")
    assert cli.main(["compare", str(project), "--by", "site", "--quiet"]) == 0
    assert "by site" in capsys.readouterr().out


def test_numeric_levels_are_in_numeric_order(sites, tmp_path, capsys):
    lines = sites.read_text().splitlines()
    wards = ["ward", *(str((2, 10, 1)[k % 3]) for k in range(len(lines) - 1))]
    sites.write_text("\n".join(map(",".join, zip(lines, wards, strict=True))))
    found = found_by(run_on(sites, tmp_path), "ward", capsys)
    assert [group["level"] for group in found["groups"]] == ["1", "2", "10"]


def test_numeric_column_is_split_at_quartiles_or_cut_points(sites):
    table = read_table(sites, label="y")
    values = table.column("x").values
    found = part_rows(table, "x")
    assert len(found.names) == 4
    counts = np.bincount(found.part)
    assert (abs(counts - len(values) / 4) <= 1).all()
    cut = part_rows(table, "x", (-0.5, 1.0, 1e9))
    assert cut.names == ("below -0.5", "-0.5 to below 1", "1 and above")
    expected = (values >= -0.5).astype(int) + (values >= 1.0)
    assert cut.part.tolist() == expected.tolist()


def test_rare_levels_are_merged_and_missing_ones_separate(tmp_path):
    path = tmp_path / "many.csv"
    towns = [f"t{k}" for k in range(30) for _ in range(k + 1)]
    lines = [f"{town},{k % 2}" for k, town in enumerate(towns)]
    path.write_text("town,y\n" + "\n".join([*lines, ",1", ",0"]) + "\n")
    table = read_table(path, label="y")
    found = part_rows(table, "town")
    assert len(found.names) == 20
    assert found.names[-2:] == ("(others)", "(missing)")
    assert found.merged == 12
    assert set(found.names[:-2]) == {f"t{k}" for k in range(12, 30)}
    for row, town in enumerate(table.column("town").values):
        name = found.names[found.part[row]]
        assert name == {None: "(missing)"}.get(town, town if town in found.names else "(others)")


def test_levels_named_like_special_groups_are_distinct(tmp_path):
    levels = ["(others)", "(missing)", *(f"l{k:02}" for k in range(30))]
    cells = [level for level in levels[:2] for _ in range(5)] + levels + [""] * 4
    lines = [f"{k},{cell},{k % 2}" for k, cell in enumerate(cells)]
    (tmp_path / "t.csv").write_text("\n".join(["x,site,y", *lines]) + "\n")
    table = read_table(tmp_path / "t.csv", label="y")
    found = part_rows(table, "site")
    assert len(set(found.names)) == len(found.names)
    counts = dict(zip(found.names, np.bincount(found.part).tolist(), strict=True))
    assert counts["(others)"] == counts["(missing)"] == 6
    assert (counts["((others))"], counts["((missing))"]) == (found.merged, 4)


def test_subgroup_rates_use_the_thresholds_of_the_run(sites, tmp_path):
    (record,) = ProjectFile.open(run_on(sites, tmp_path, "--folds", 3)).runs()
    table = read_table(sites, label="y")
    thresholds = [0.1, 0.4, 0.9]
    found = subgroups(record, table, "site", BAND, thresholds=thresholds)
    values = table.column("site").values
    for group in found.groups[:2]:
        tp = fp = 0
        for split, at in zip(record.splits, thresholds, strict=True):
            called = (split.test_scores > at) & (values[split.test_rows] == group.level)
            tp += int((called & split.test_positive).sum())
            fp += int((called & ~split.test_positive).sum())
        assert group.tpr.value == pytest.approx(tp / group.positives)
        assert group.fpr.value == pytest.approx(fp / group.negatives)
        assert group.tpr.low <= group.tpr.value <= group.tpr.high
        fpr, tpr = group.curve
        assert (fpr[0], tpr[-1]) == (0, 1)
        assert np.trapezoid(tpr, fpr) == pytest.approx(group.auc.value, abs=0.01)
    # By default each split's threshold respects the range over all its negatives.
    usual = subgroups(record, table, "site", BAND)
    negatives = sum(group.negatives for group in usual.groups)
    called = sum(round(group.fpr.value * group.negatives) for group in usual.groups)
    assert called / negatives <= BAND[1]
    assert usual.groups[2].few


@pytest.mark.parametrize(
    ("text", "cuts"), [("40, 65", (40, 65)), ("−1;2.5 2.5", (-1, 2.5)), ("", ())]
)
def test_cut_points_are_parsed(text, cuts):
    assert read_cuts(text) == cuts


@pytest.mark.parametrize("weights", [None, np.ones(100)])
def test_threshold_of_a_range_is_robust_to_rounding(weights):
    scores = np.random.default_rng(1).permutation(100).astype(float)
    for allowed in range(1, 100):  # 100 * 0.29 is 28.999999999999996
        threshold = lowest_threshold(scores, allowed / 100, weights)
        assert np.count_nonzero(scores > threshold) == allowed


def test_levels_named_for_few_rows_are_those_left_out_of_the_test(tmp_path):
    """A level of 5 to 9 rows of a class is named, counted and left out; its areas are shown."""
    random, lines = np.random.default_rng(2), ["x,site,y"]
    for site, count in (("a", 240), ("b", 240), ("c", 28)):
        lines += [f"{random.normal() + y:.5f},{site},{y}" for y in (0, 1) for _ in range(count)]
    path = write_file(tmp_path / "levels.csv", "\n".join(lines) + "\n")
    (record,) = ProjectFile.open(run_on(path, tmp_path)).runs()
    table = read_table(path, label="y")
    found = subgroups(record, table, "site", BAND)
    assert [group.few for group in found.groups] == [False, False, True]
    assert min(found.groups[2].positives, found.groups[2].negatives) >= 5
    assert found.silent == 1
    assert found.groups[2].auc.known
