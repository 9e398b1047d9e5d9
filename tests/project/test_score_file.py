"""Scores in a separate file, joined by an identifier, are ordinary runs."""

import dataclasses
import json

import numpy as np
import pytest

from aucstudio import cli
from aucstudio.project.data.score_file import join_scores, read_score_file
from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment_file import write_study
from aucstudio.project.store.project.project_file import ProjectFile
from tests.conftest import write_file
from tests.project.test_outside_scores import train, trained

ROWS = 90


@pytest.fixture
def patients(tmp_path):
    random = np.random.default_rng(3)
    lines = ["patient,x,y"]
    for k in range(ROWS):
        lines.append(f"p{k:03},{random.normal() + (k % 3 == 0):.4f},{int(k % 3 == 0)}")
    return write_file(tmp_path / "patients.csv", "\n".join(lines) + "\n")


def scores_of(k):
    return (k * 37) % 101 / 101 + (k % 3 == 0)


def write_scores(path, rows, header="patient,risk"):
    path.write_text("\n".join([header, *(f"p{k:03},{scores_of(k):.6f}" for k in rows)]) + "\n")
    return path


@pytest.fixture
def scores(tmp_path):
    """Write scores in another order, with one unknown row and without two of the table's rows."""
    order = np.random.default_rng(0).permutation(ROWS)
    rows = [int(k) for k in order if k not in (4, 60)]
    return write_scores(tmp_path / "scores.csv", [*rows, 500])


def refused(patients, capsys, *more):
    assert train(patients, *more) == 2
    return capsys.readouterr().err


def given(scores):
    return "--score-file", scores, "--score-column", "risk", "--id", "patient"


def test_scores_are_joined_to_the_rows_by_identifier(patients, scores, capsys, tmp_path):
    project = tmp_path / "p.aucproj"
    run = trained(patients, capsys, *given(scores), "--folds", 3, "--project", project)
    assert run["auc"]["value"] > 0.9
    assert any("Higher values mean positive" in note for note in run["notes"])
    assert any("Rows without a value of risk are not used" in note for note in run["notes"])
    (record,) = ProjectFile.open(project).runs()
    assert record.experiment.title == "risk"
    seen = np.concatenate([split.test_rows for split in record.splits])
    assert sorted(seen) == [k for k in range(ROWS) if k not in (4, 60)]
    for split in record.splits:
        expected = [round(scores_of(int(k)), 6) for k in split.test_rows]
        np.testing.assert_array_equal(split.test_scores, expected)


def test_matched_rows_are_counted(patients, scores):
    joined = join_scores(read_table(patients), read_score_file(scores), "risk", "patient")
    assert (joined.unscored, joined.unmatched) == (2, 1)
    assert joined.sentence().startswith("scores.csv has scores of 88 of 90 rows, matched by ")


def test_differing_identifier_names_must_be_given(patients, tmp_path, capsys):
    scores = write_scores(tmp_path / "s.csv", range(ROWS), "who,x")
    file = "--score-file", scores, "--score-column", "x"
    said = refused(patients, capsys, *file, "--id", "patient")
    assert "has no column 'patient': choose the column that identifies the rows" in said
    assert "(it has who, x)" in said
    run = trained(patients, capsys, *file, "--score-id", "who", "--id", "patient")
    assert run["auc"]["value"] > 0.9  # not the table's own column x
    said = refused(patients, capsys, *file)
    assert "choose the column that identifies the rows as in the score file" in said


def test_numeric_identifiers_match_in_any_spelling(tmp_path):
    rng = np.random.default_rng(1)
    lines = [f"{k},{rng.normal():.3f},{k % 2}" for k in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["case,x,y", *lines]) + "\n")
    lines = [f"{k}.0\t{k / 40}" for k in reversed(range(40))]
    (tmp_path / "s.tsv").write_text("\n".join(["case\ts", *lines]) + "\n")
    table = read_table(tmp_path / "t.csv", label="y")
    joined = join_scores(table, read_score_file(tmp_path / "s.tsv"), "s", "case")
    np.testing.assert_array_equal(joined.table.column("s").values, np.arange(40) / 40)


def test_dates_do_not_match_numeric_identifiers(tmp_path):
    days = [f"2010-01-{k + 1:02}" for k in range(30)]
    rows = [f"{day},{k * 7 % 5},{k % 2}" for k, day in enumerate(days)]
    table = read_table(
        write_file(tmp_path / "t.csv", "\n".join(["day,x,y", *rows]) + "\n"), label="y"
    )
    file = tmp_path / "s.csv"
    file.write_text("\n".join(["day,s", *(f"{14610 + k},{k / 30}" for k in range(30))]) + "\n")
    with pytest.raises(InputError, match=r"holds dates and .* plain numbers"):
        join_scores(table, read_score_file(file), "s", "day")
    file.write_text("\n".join(["day,s", *(f"2011-02-{k + 1:02},{k / 30}" for k in range(28))]))
    with pytest.raises(
        InputError, match=r"such as 2011-02-01, .* of the table 2010-01-01, 2010-01-02"
    ):
        join_scores(table, read_score_file(file), "s", "day")
    dotted = [f"{day[8:]}.01.2010,{k / 30}" for k, day in enumerate(days)]
    file.write_text("\n".join(["day,s", *dotted]) + "\n")
    joined = join_scores(table, read_score_file(file), "s", "day")
    np.testing.assert_array_equal(joined.table.column("s").values, np.arange(30) / 30)


@pytest.mark.parametrize("of_table", [False, True])
def test_duplicate_identifiers_are_refused(patients, scores, capsys, of_table):
    path = patients if of_table else scores
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[3]]) + "\n")
    said = refused(patients, capsys, *given(scores))
    name = lines[3].split(",")[0]
    assert f"column 'patient' of {path}" in said
    assert f"{name!r} in rows 3 and {len(lines)}" in said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("patient,risk\nq1,1\nq2,2\n", "has a score in"),
        ("patient,risk\np001,high\np002,low\n", "holds text and cannot be a score"),
        ("patient,other\np001,1\np002,2\n", "has no column 'risk'"),
    ],
    ids=["no row", "text", "no column"],
)
def test_unsuitable_score_files_are_refused(patients, scores, capsys, text, sentence):
    scores.write_text(text)
    said = refused(patients, capsys, *given(scores))
    assert sentence in said
    assert str(scores) in said


def test_incomplete_score_file_options_are_refused(patients, scores, capsys):
    assert "--score-column" in refused(
        patients, capsys, "--method", "auc-rls", "--score-file", scores
    )
    said = refused(patients, capsys, "--score-column", "x", "--score-id", "patient")
    assert "--score-id needs --score-file" in said
    said = refused(patients, capsys, *given(scores), "--test-file", patients)
    assert "not to those of a test file" in said


def test_run_id_follows_the_content_of_the_score_file(patients, scores, capsys, tmp_path):
    project = tmp_path / "p.aucproj"
    first = trained(patients, capsys, *given(scores), "--project", project)
    moved = scores.rename(tmp_path / "moved.csv")
    assert trained(patients, capsys, *given(moved))["id"] == first["id"]
    lines = moved.read_text().splitlines()
    name, _, _ = lines[7].partition(",")
    moved.write_text("\n".join([*lines[:7], f"{name},0.5", *lines[8:]]) + "\n")
    assert trained(patients, capsys, *given(moved))["id"] != first["id"]
    (record,) = ProjectFile.open(project).runs()
    table = record.experiment.data
    with pytest.raises(InputError, match=r"scores\.csv"):
        table.open()  # the score file is gone
    changed = dataclasses.replace(table.scores[0], path=str(moved))
    experiment = dataclasses.replace(
        record.experiment, data=dataclasses.replace(table, scores=(changed,))
    )
    again = execute(experiment, read_table(patients, label="y"))
    assert again.status == "failed"
    assert "has changed since the run of its scores was made" in again.error


def test_experiment_file_repeats_a_score_file_run(patients, scores, capsys, tmp_path, printed):
    project = tmp_path / "p.aucproj"
    first = trained(
        patients, capsys, *given(scores), "--higher-is-positive", "--folds", 3, "--project", project
    )
    (record,) = ProjectFile.open(project).runs()
    path = write_file(tmp_path / "again.toml", write_study([record.experiment], tmp_path))
    again = printed("run", path, "--quiet")["runs"][0]
    assert again["id"] == first["id"]
    assert again["auc"] == first["auc"]


def test_score_file_run_can_be_compared_and_combined(
    patients, scores, capsys, tmp_path, printed, refused
):
    project, model = tmp_path / "p.aucproj", tmp_path / "m.aucmodel"
    train(patients, "--method", "auc-rls", "--ignore", "patient", "--project", project)
    train(patients, *given(scores), "--project", project)
    (pair,) = printed("compare", project)["pairs"]["auc"]
    assert not pair["refused"]
    combined = ["combine", str(project), "AUC-RLS", "risk", "--save-model", str(model), "--json"]
    assert cli.main(combined) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["auc"]["value"] > 0.9
    assert "lacks column 'risk'" in refused("score", model, patients)


def test_equally_named_scores_of_two_files_are_not_combined(
    patients, scores, capsys, tmp_path, refused
):
    project = tmp_path / "p.aucproj"
    trained(patients, capsys, *given(scores), "--project", project)
    other = write_scores(tmp_path / "other.csv", range(5, ROWS))
    trained(patients, capsys, *given(other), "--project", project)
    one, two = (record.id for record in ProjectFile.open(project).runs())
    assert "come from different files, and both are called 'risk'" in refused(
        "combine", project, one, two
    )
