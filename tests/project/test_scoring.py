"""Scoring and its report: columns, levels, missing values, rejected rows, the AUC."""

import csv
import dataclasses
import json

import numpy as np
import pytest

from aucstudio.cli import main
from aucstudio.engine.inference import delong_interval
from aucstudio.engine.roc import ThresholdRule
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.preview import heading
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import Cancelled
from aucstudio.project.runs.execute import execute, refit
from aucstudio.project.runs.final_model import with_carried_threshold
from aucstudio.project.runs.planning import plan_on, read_test_table
from aucstudio.project.runs.scoring import read_to_score, score_file, score_table
from aucstudio.project.store.model_file import load_model, save_model
from tests.conftest import write_parquet
from tests.project.test_schema import trained, write_csv

HEADER = ["id", "age", "city", "dose", "outcome"]
CITIES = ["Bern", "Basel", "Genf"]


def rows_of(count, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(count):
        sick = k % 3 == 0
        dose = "" if k % 10 == 7 else f"{rng.normal() + sick:.3f}"
        city = CITIES[(k // 2 + sick) % 3]
        rows.append([f"{k:04d}", 20 + (7 * k) % 50, city, dose, "yes" if sick else "no"])
    return rows


@pytest.fixture(scope="module")
def model_path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scoring")
    model = trained(write_csv(folder / "train.csv", HEADER, rows_of(90)), id="ignore")
    save_model(model, folder / "m.aucmodel")
    return folder / "m.aucmodel"


@pytest.fixture
def later(tmp_path):
    def write(rows, header=HEADER):
        return write_csv(tmp_path / "later.csv", header, rows)

    return write


@pytest.fixture
def score(capsys, model_path):
    def call(path, *options):
        status = main(["score", str(model_path), str(path), *map(str, options)])
        out, err = capsys.readouterr()
        return status, out, err

    return call


def scored(out):
    return list(csv.DictReader(out.splitlines()))


@pytest.mark.parametrize("stream", [False, True])
def test_input_check_is_reported_in_json_and_text(score, later, tmp_path, stream):
    rows = rows_of(20)
    rows[3][2] = rows[4][2] = "Chur"
    rows[5][1] = ""
    rows[6][1] = "old"
    path = later([[*row, "words"] for row in rows], [*HEADER, "remark"])
    text = path.read_text().splitlines()
    text.insert(11, "1;2;3;4;5")
    path.write_text("\n".join(text))
    target = tmp_path / "scores.csv"
    status, out, err = score(path, "--json", "-o", target, "--id", "id", *["--stream"] * stream)
    assert status == 0
    found = json.loads(out)
    assert (found["rows"], found["scored"], found["file"]) == (21, 20, str(target))
    assert found["columns"] == {
        "matched": ["age", "city", "dose"],
        "ignored": ["id", "remark"],
        "missing": [],
    }
    assert found["unseen"] == {"city": {"count": 2, "values": ["Chur"]}}
    assert found["gaps"] == {"age": 2}
    assert found["unreadable"] == {"age": {"count": 1, "text": "old", "line": 8}}
    assert found["left_out"] == [{"row": 11, "line": 12, "reason": "5 cells instead of 6"}]
    assert found["auc"]["low"] < found["auc"]["value"] < found["auc"]["high"]
    lines = err.splitlines()
    assert all(line.startswith("aucstudio: ") for line in lines)
    for words in ("'Chur'", "'old' in line 8", "line 12 is left out", "'remark'", "AUC 0."):
        assert sum(words in line for line in lines) == 1, words
    written = scored(target.read_text())
    assert list(written[0]) == ["row", "id", "score", "threshold", "predicted"]
    assert [row["id"] for row in written] == [row[0] for row in rows]
    assert [int(row["row"]) for row in written] == [*range(1, 11), *range(12, 22)]


def test_reported_auc_matches_the_scores(score, later, model_path):
    path = later(rows_of(50, seed=4))
    status, out, _ = score(path, "--json")
    found = json.loads(out)
    positive = np.array([row[-1] == "yes" for row in rows_of(50, seed=4)])
    interval = delong_interval(positive, np.array(found["scores"]), 0.95)
    assert found["auc"]["low"] == pytest.approx(float(interval.low))
    assert found["predicted"].count("yes") == (np.array(found["scores"]) > 0).sum()
    assert found["file"] is None
    bare = [row[:-1] for row in rows_of(50, seed=4)]
    status, out, _ = score(later(bare, HEADER[:-1]), "--json")
    again = json.loads(out)
    assert status == 0
    assert again["auc"] is None
    assert again["scores"] == found["scores"]


def test_auc_needs_the_classes_of_the_model(score, later):
    rows = rows_of(20)
    for row in rows[:6]:
        row[-1] = row[-1].upper()
    status, out, _ = score(later(rows), "--json")
    found = json.loads(out)
    assert status == 0
    assert found["auc"] is None
    assert found["unseen"]["outcome"] == {"count": 6, "values": ["NO", "YES"]}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda k: "yes", "no AUC, as 'outcome' does not hold both classes"),
        (lambda k: "", "no AUC, as 'outcome' does not hold both classes"),
        (lambda k: ["no", "yes", "perhaps"][k % 3], "7 rows are neither 'yes' nor 'no' in"),
        (lambda k: f"{k}", "22 rows are neither 'yes' nor 'no' in 'outcome'"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_reason_for_a_missing_auc_is_reported(score, later, value, words, stream):
    rows = [[*row[:-1], value(k)] for k, row in enumerate(rows_of(22))]
    status, _, err = score(later(rows), *(["--stream"] if stream else []))
    assert (status, words in err) == (0, True), err


@pytest.mark.parametrize("stream", [False, True])
def test_label_of_many_values_does_not_prevent_scoring(score, later, stream):
    rows = [[*row[:-1], f"{k}"] for k, row in enumerate(rows_of(1100))]
    options = ["--stream"] if stream else []
    status, out, err = score(later(rows), *options)
    assert (status, len(scored(out))) == (0, 1100)
    assert "no AUC, as 'outcome' has too many values to hold classes" in err
    status, out, err = score(later(rows), "--label", "outcome", *options)
    assert (status, out) == (2, "")
    assert "cannot be the label" in err


def test_requested_label_is_compared_with_the_model_classes(score, later):
    header = [*HEADER[:-1], "seen"]
    rows = rows_of(21)
    status, out, _ = score(later(rows, header), "--label", "seen", "--json")
    assert (status, json.loads(out)["auc"] is None) == (0, False)
    for row in rows[:5]:
        row[-1] = "perhaps"
    status, out, err = score(later(rows, header), "--label", "seen", "--json")
    found = json.loads(out)
    assert (status, found["auc"]) == (0, None)
    assert found["unseen"]["seen"] == {"count": 5, "values": ["perhaps"]}
    status, out, err = score(later(rows, header), "--label", "sen")
    assert (status, out) == (2, "")
    assert "did you mean 'seen'?" in err


@pytest.mark.parametrize("output", [[], ["-o", "-"]])
def test_json_output_names_the_row_of_each_score(score, later, output):
    rows = rows_of(9)
    rows[2] = rows[2][:3]
    status, out, _ = score(later(rows), "--json", "--id", "id", *output)
    found = json.loads(out)
    assert status == 0
    assert found["row"] == [1, 2, 4, 5, 6, 7, 8, 9]
    assert found["id"] == [row[0] for k, row in enumerate(rows) if k != 2]
    assert len(found["scores"]) == len(found["predicted"]) == 8


def test_few_rows_of_rare_levels_are_scored(tmp_path, capsys):
    rows = rows_of(900)
    for k, row in enumerate(rows):
        row[2] = f"place {k % 110 if k < 400 else k}"
    roles = {"id": "ignore", "city": "category"}
    model = trained(write_csv(tmp_path / "train.csv", HEADER, rows), **roles)
    save_model(model, tmp_path / "m.aucmodel")
    path = write_csv(tmp_path / "t.csv", HEADER, rows[800:810])
    assert main(["score", str(tmp_path / "m.aucmodel"), str(path)]) == 0
    assert "10 rows with a level that is not in the training table" in capsys.readouterr().err


def test_mostly_missing_column_may_be_empty_in_few_rows(tmp_path, capsys):
    rows = rows_of(90)
    for k, row in enumerate(rows):
        row[3] = row[3] if k % 3 == 0 else ""
    model = trained(write_csv(tmp_path / "train.csv", HEADER, rows), id="ignore")
    save_model(model, tmp_path / "m.aucmodel")
    for count, status in [(6, 0), (60, 2)]:
        path = write_csv(tmp_path / "t.csv", HEADER, change(rows[:count], 3, ""))
        assert main(["score", str(tmp_path / "m.aucmodel"), str(path)]) == status
    assert "is empty in all rows" in capsys.readouterr().err


def change(rows, k, value):
    return [[*row[:k], value(row[k]) if callable(value) else value, *row[k + 1 :]] for row in rows]


@pytest.mark.parametrize(
    ("k", "value", "words"),
    [
        (2, str.upper, ["'city'", "'BASEL', 'BERN', 'GENF'", "'Bern'", "--allow-unknown"]),
        (1, "", ["'age'", "is empty in all rows"]),
        (1, "old", ["'age'", "'old'", "--allow-unreadable"]),
        (3, "1,5", ["'dose'", "'1,5'", "--decimal ,"]),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_column_without_known_values_is_refused(score, later, k, value, words, stream):
    path = later(change(rows_of(8), k, value))
    options = ["--stream"] if stream else []
    status, out, err = score(path, *options)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    for word in words:
        assert word in err
    status, out, err = score(path, *options, "--allow-unknown", HEADER[k])
    assert status == 0
    assert len(scored(out)) == 8


def test_few_rows_are_scored_with_any_values(score, later):
    status, out, err = score(later(change(rows_of(2), 2, "Chur")))
    assert status == 0
    assert len(scored(out)) == 2
    assert "'Chur'" in err


def test_absent_column_is_refused_with_a_suggestion(score, later):
    path = later(rows_of(3), ["id", "age", "City ", "dose", "outcome"])
    status, out, err = score(path)
    assert (status, out) == (2, "")
    assert "lacks column 'city'" in err
    assert "did you mean 'City'?" in err
    status, out, err = score(path, "--allow-unknown", "city", "--json")
    assert status == 0, err
    assert json.loads(out)["columns"]["missing"] == ["city"]
    status, _, err = score(path, "--allow-unknown", "town")
    assert status == 2
    assert "'town'" in err


def test_streamed_table_has_the_same_report(model_path, later):
    rows = rows_of(300, seed=2)
    rows[3][2], rows[9][1], rows[11][3] = "Chur", "old", ""
    path, model = later(rows), load_model(model_path)
    reports, scores = [], []
    for read in (read_table, lambda *a, **k: open_stream(*a, block_bytes=2_000, **k)):
        kept = []
        table = read_to_score(model, path, identifiers=("id",), read=read)
        reports.append(
            score_table(
                model, table, lambda *block, kept=kept: kept.append(block), identifiers=("id",)
            )
        )
        scores.append(np.concatenate([block[2] for block in kept]))
        assert np.concatenate([block[1]["id"] for block in kept]).tolist() == [
            row[0] for row in rows
        ]
        assert np.concatenate([block[0] for block in kept]).tolist() == [*range(1, 301)]
    table.close()
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-12, atol=1e-14)
    one, other = (report.as_json() for report in reports)
    assert one.pop("auc") == pytest.approx(other.pop("auc"))
    assert one == other


@pytest.mark.parametrize(
    ("missing", "rows", "reported"),
    [(18, 150, False), (400, 3_900, False), (40, 150, True), (1, 2, False)],
)
def test_only_a_relevant_rise_of_missing_values_is_reported(
    model_path, later, missing, rows, reported
):
    # In training the dose column has 9 missing values in 90 rows.
    lines = rows_of(rows)
    for k, line in enumerate(lines):
        line[3] = "" if k < missing else "0.5"
    model = load_model(model_path)
    report = score_table(model, read_to_score(model, later(lines)), lambda *_: None)
    assert ("dose" in report.gaps) == reported


@pytest.mark.parametrize("read", [read_table, open_stream])
def test_cells_far_outside_the_training_range_are_reported(model_path, later, read):
    rows = rows_of(40, seed=3)  # in training the age is from 20 to 69
    rows[4][1], rows[8][1], rows[20][1] = 480, 71, -60
    model = load_model(model_path)
    report = score_table(model, read_to_score(model, later(rows), read=read), lambda *_: None)
    (age,) = report.outside
    assert (age.column, age.count, age.value, age.row) == ("age", 2, 480.0, 5)
    assert report.far == ()
    assert "cells_outside" in [dict(one.values)["what"].code for one in report.notices()]


def test_run_notes_the_input_check_of_its_test_file(later, tmp_path):
    train = read_table(write_csv(tmp_path / "train.csv", HEADER, rows_of(90)))
    rows = rows_of(40, seed=7)
    rows[3][2], rows[9][1] = "Chur", "old"
    rows[11].append("one too many")
    rows[16][3] = "1e300"
    path = later(rows)
    validation = Validation(scheme="file", test_file=str(path))
    experiment = plan_on(train, "auc-rls", {}, validation, (0.0, 0.1))
    test = read_test_table(experiment)
    record = execute(experiment.tested_on(test), train, test)
    assert record.status == "done", record.error
    messages = [str(note) for note in record.notes if note.code == "test_file"]
    assert all(words.startswith("Test file later.csv: ") for words in messages)
    assert len(messages) == len(set(messages)) == 5
    for words in (
        "Column city: 1 row with a level that is not in the training table ('Chur')",
        "Column age: 1 cell without a readable number, counted as missing; the first is 'old'",
        "Column dose: 1 cell (1e+300, row 17) is too far from the others to compute with",
        "Missing values are more frequent than in training: 'age' 1 row",
        "1 row left out, the first in line 13: 6 cells instead of 5",
    ):
        assert sum(words in note for note in messages) == 1, (words, messages)
    clean = later(rows_of(40, seed=7))
    test = read_test_table(experiment)
    assert clean == path
    record = execute(experiment.tested_on(test), train, test)
    assert not any(note.code == "test_file" for note in record.notes)


def test_refit_model_uses_the_roles_of_its_run(tmp_path):
    table = read_table(write_csv(tmp_path / "train.csv", HEADER, rows_of(90)))
    experiment = plan_on(table, "auc-rls", {}, Validation(), (0.0, 0.1))
    expected = refit(experiment, table)
    changed = table.with_roles(ignore=["age"], label="outcome", positive="no")
    model = refit(experiment, changed)
    assert model.feature_columns == expected.feature_columns
    for name, array in expected.scorer.arrays().items():
        np.testing.assert_array_equal(model.scorer.arrays()[name], array)
    rule = ThresholdRule("fpr", fpr=0.2)
    record = execute(experiment, table)
    one, other = (with_carried_threshold(expected, record, t, rule) for t in (table, changed))
    assert (one.threshold, one.intercept) == (other.threshold, other.intercept)


def test_threshold_of_a_refit_model_leaves_out_splits_without_one(tmp_path):
    table = read_table(write_csv(tmp_path / "train.csv", HEADER, rows_of(90)))
    experiment = plan_on(table, "auc-rls", {}, Validation(scheme="folds", folds=3), (0.0, 0.1))
    record, model = execute(experiment, table), refit(experiment, table)
    rule, (first, *others) = ThresholdRule("fpr", fpr=0.2), record.splits
    lone = dataclasses.replace(first, test_positive=np.zeros_like(first.test_positive))
    partly = dataclasses.replace(record, splits=(lone, *others))
    without = dataclasses.replace(record, splits=tuple(others))
    found, expected = (with_carried_threshold(model, r, table, rule) for r in (partly, without))
    assert found.threshold == expected.threshold
    with pytest.raises(ValueError, match="one class"):
        with_carried_threshold(model, dataclasses.replace(record, splits=(lone,)), table, rule)


@pytest.mark.slow
@pytest.mark.parametrize(
    "validation", [Validation(test_size=0.3), Validation(scheme="folds", folds=4)]
)
def test_threshold_of_a_refit_model_keeps_its_rate_on_new_rows(tmp_path, validation):
    def drawn(count, seed):
        rng = np.random.default_rng(seed)
        sick = rng.random(count) < 0.2
        numbers = rng.normal(size=(count, 4)) + np.outer(sick, [1.0, 0.5, 0.0, 0.0])
        rows = [[*x, "yes" if y else "no"] for x, y in zip(numbers.round(4), sick, strict=True)]
        path = write_csv(tmp_path / f"{count}.csv", ["a", "b", "c", "d", "outcome"], rows)
        return read_table(path, label="outcome")

    table, later = drawn(800, 0), drawn(8_000, 1)
    experiment = plan_on(table, "random-forest", {"n_trees": 60}, validation, (0.0, 0.1))
    record, model = execute(experiment, table), refit(experiment, table)
    carried = with_carried_threshold(model, record, table, ThresholdRule("fpr", fpr=0.1))
    called = model.score(later) > carried.threshold
    # Negatives that the forest was trained on score so low that a third of new ones would exceed
    # the threshold which a tenth of them exceeds.
    assert 0.05 < called[~later.is_positive()].mean() < 0.16


def test_heading_lists_columns_without_reading_the_file(model_path, later, tmp_path):
    schema = load_model(model_path).schema
    path = later([[*row, "words"] for row in rows_of(5)], [*HEADER, "remark"])
    assert heading(path, schema) == (*HEADER, "remark")
    other = write_parquet(tmp_path / "later.parquet", f"FROM read_csv('{path}')")
    assert heading(other, schema) == (*HEADER, "remark")
    with pytest.raises(Cancelled):
        heading(path, schema, lambda _done, _words: True)


def test_scoring_reports_progress_and_can_be_stopped(model_path, later):
    model, path = load_model(model_path), later(rows_of(30))
    messages = []
    score_file(model, path, lambda *_: None, progress=lambda *message: messages.append(message))
    fractions = [fraction for fraction, _ in messages]
    assert fractions == sorted(fractions)
    assert messages[-1] == (1.0, "scoring")
    taken = []
    with pytest.raises(Cancelled):
        score_file(
            model, path, lambda *rows: taken.append(rows), progress=lambda _, w: w == "scoring"
        )
    assert taken == []


def test_all_unknown_columns_are_refused_together(score, later):
    rows = change(change(rows_of(8), 2, str.upper), 1, "")
    status, _, err = score(later(rows))
    assert status == 2
    assert "also 'city'" in err
    assert "--allow-unknown 'age' --allow-unknown 'city' scores" in err
    assert score(later(rows), "--allow-unknown", "age", "--allow-unknown", "city")[0] == 0


@pytest.mark.parametrize("reader", [read_table, open_stream])
def test_dates_after_training_are_reported_with_the_last_day(tmp_path, reader):
    def dated(day, count):
        return [
            [f"{day + k // 2:02d}.03.2025 0{k % 10}:30", *row[1:]]
            for k, row in enumerate(rows_of(count))
        ]

    header = ["seen", *HEADER[1:]]
    model = trained(write_csv(tmp_path / "train.csv", header, dated(1, 40)))
    path = write_csv(tmp_path / "later.csv", header, dated(20, 10))
    report = score_file(model, path, lambda *_: None, read=reader)
    late = report.later["seen"]
    assert (late.count, late.last_day) == (8, "2025-03-20")
    (sentence,) = (line for line in report.sentences() if "last training day" in line)
    assert "8 of 10 rows" in sentence
    assert "2025-03-20" in sentence
    same = score_file(model, tmp_path / "train.csv", lambda *_: None, read=reader)
    assert not same.later
