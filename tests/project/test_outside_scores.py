"""Runs of given scores: a column of the table or of a file."""

import json

import numpy as np
import pytest

from aucstudio import cli
from aucstudio.engine import inference, roc
from aucstudio.notices import notice
from aucstudio.project.data.table import read_table
from aucstudio.project.results.summary import cautions
from aucstudio.project.store.project.project_file import ProjectFile


@pytest.fixture
def patients(tmp_path):
    random = np.random.default_rng(3)
    path = tmp_path / "patients.csv"
    lines = ["x,other,marker,y"]
    for k in range(120):
        y = k % 3 == 0
        x, low = random.normal() + y, 1e6 * (random.normal() - 2 * y)
        lines.append(f"{x:.4f},{random.normal():.4f},{low:.3f},{int(y)}")
    path.write_text("\n".join(lines) + "\n")
    return path


def train(patients, *more):
    return cli.main(["train", str(patients), "--label", "y", "--quiet", *map(str, more)])


def trained(patients, capsys, *more):
    assert train(patients, "--json", *more) == 0
    return json.loads(capsys.readouterr().out)["runs"][0]


def with_missing_markers(patients, gaps):
    lines = patients.read_text().splitlines()
    for k in gaps:
        cells = lines[k + 1].split(",")
        lines[k + 1] = ",".join([*cells[:2], "", cells[3]])
    patients.write_text("\n".join(lines) + "\n")


def test_score_column_is_used_in_the_detected_direction(patients, capsys, tmp_path):
    project = tmp_path / "p.aucproj"
    run = trained(patients, capsys, "--score-column", "marker", "--folds", 4, "--project", project)
    table = read_table(patients, label="y")
    values, positive = table.column("marker").values, table.is_positive()
    assert any("Lower values mean positive" in note for note in run["notes"])
    (record,) = ProjectFile.open(project).runs()
    assert record.experiment.title == "marker"
    for split in record.splits:
        np.testing.assert_array_equal(split.test_scores, -values[split.test_rows])
        assert roc.auc(split.test_positive, split.test_scores) == roc.auc(
            positive[split.test_rows], -values[split.test_rows]
        )


def test_given_direction_is_used(patients, capsys):
    found = trained(patients, capsys, "--score-column", "marker")
    higher = trained(patients, capsys, "--score-column", "marker", "--higher-is-positive")
    lower = trained(patients, capsys, "--score-column", "marker", "--lower-is-positive")
    assert found["auc"]["value"] == lower["auc"]["value"] == 1.0 - higher["auc"]["value"] > 0.7


def test_score_column_is_compared_on_the_common_rows(patients, capsys, tmp_path, printed):
    with_missing_markers(patients, range(0, 120, 7))
    project = tmp_path / "p.aucproj"
    folds = "--folds", 3, "--repeats", 2, "--project", project
    trained(patients, capsys, "--method", "auc-rls", "--ignore", "marker", *folds)
    run = trained(patients, capsys, "--score-column", "marker", *folds)
    assert any("Rows without a value of marker are not used" in note for note in run["notes"])
    learnt, marker = ProjectFile.open(project).runs()
    table = read_table(patients, label="y")
    known = ~np.isnan(table.column("marker").values)
    differences = []
    for a, b in zip(learnt.splits, marker.splits, strict=True):
        np.testing.assert_array_equal(b.test_rows, a.test_rows[known[a.test_rows]])
        both = known[a.test_rows]
        area = roc.auc(a.test_positive[both], a.test_scores[both])
        differences.append(area - roc.auc(b.test_positive, b.test_scores))
    document = printed("compare", project, "--quiet")
    pair = document["pairs"]["auc"][0]
    assert not pair["refused"]
    assert pair["difference"] == pytest.approx(np.mean(differences), abs=1e-12)
    assert 0 < pair["p"] <= 1


def test_single_split_uses_the_paired_test_on_common_rows(patients, capsys, tmp_path, printed):
    with_missing_markers(patients, range(0, 120, 5))
    project = tmp_path / "p.aucproj"
    held = "--test-size", 0.5, "--project", project
    trained(patients, capsys, "--method", "rank-svm", "--ignore", "marker", *held)
    trained(patients, capsys, "--score-column", "marker", *held)
    a, b = (record.splits[0] for record in ProjectFile.open(project).runs())
    both = np.isin(a.test_rows, b.test_rows)
    expected = inference.auc_test(b.test_positive, a.test_scores[both], b.test_scores)
    pair = printed("compare", project, "--quiet")["pairs"]["auc"][0]
    assert (pair["difference"], pair["p"]) == pytest.approx((expected.difference, expected.p))


def test_test_file_uses_its_own_score_column(patients, capsys, tmp_path):
    other = tmp_path / "later.csv"
    other.write_text("x,other,marker,y\n1,1,-5,1\n1,1,3,0\n1,1,,1\n1,1,4,0\n1,1,3.5,1\n")
    run = trained(patients, capsys, "--score-column", "marker", "--test-file", other)
    assert run["auc"]["value"] == 0.75
    assert any("1 held-out row." in note for note in run["notes"])


def test_model_of_a_score_column_needs_only_that_column(patients, tmp_path):
    model, out = tmp_path / "m.aucmodel", tmp_path / "s.csv"
    assert train(patients, "--score-column", "marker", "--save-model", model) == 0
    (tmp_path / "new.csv").write_text("marker\n5\n-7\n2e9\n")
    words = ["score", str(model), str(tmp_path / "new.csv"), "-o", str(out), "--quiet"]
    assert cli.main(words) == 0
    scores = [float(line.split(",")[1]) for line in out.read_text().splitlines()[1:]]
    assert scores == [-5.0, 7.0, -2e9]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--score-column", "y"], "is the label and cannot be a score"),
        (["--score-column", "markr"], "marker"),
        (["--method", "auc-rls", "--lower-is-positive"], "needs --score-column"),
        (["--score-column", "marker", "--tune", "auc"], "cannot be combined with --score-column"),
        (["--score-column", "site"], "holds text and cannot be a score"),
    ],
)
def test_unsuitable_score_columns_are_refused(patients, words, message, capsys):
    lines = patients.read_text().splitlines()
    sites = ["site", *("ab"[k % 2] for k in range(len(lines) - 1))]
    patients.write_text("\n".join(map(",".join, zip(lines, sites, strict=True))))
    assert train(patients, *words) == 2
    assert message in capsys.readouterr().err


def test_class_without_scores_is_a_clear_error(patients, capsys):
    with_missing_markers(patients, range(0, 120, 3))
    assert train(patients, "--score-column", "marker") == 1
    assert "has no value in the positive or in the negative rows" in capsys.readouterr().err


def with_markers(patients, text_of):
    """Rewrite the marker of each row."""
    head, *lines = patients.read_text().splitlines()
    cells = [line.split(",") for line in lines]
    rows = [",".join([a, b, text_of(k, y), y]) for k, (a, b, _, y) in enumerate(cells)]
    patients.write_text("\n".join([head, *rows]) + "\n")


def test_marker_that_copies_the_label_is_reported(patients, capsys, tmp_path):
    project = tmp_path / "p.aucproj"
    with_markers(patients, lambda _, y: f"{7 - 2 * int(y)}")
    run = trained(patients, capsys, "--score-column", "marker", "--project", project)
    assert run["auc"]["value"] == 1.0
    (record,) = ProjectFile.open(project).runs()
    (caution,) = cautions(record)
    assert caution == notice("column_separates", column="marker")


def test_scores_near_the_largest_double_are_ranked(patients, capsys):
    with_markers(patients, lambda k, y: f"{1.5 - int(y) - k / 100:.3f}e308")
    run = trained(patients, capsys, "--score-column", "marker")
    assert 0.5 < run["auc"]["value"] < 1.0
