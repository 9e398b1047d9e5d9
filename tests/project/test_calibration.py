"""Calibration of runs: nested estimates, stored with models, in every export."""

import csv
import dataclasses
import json

import duckdb
import numpy as np
import pytest

from aucstudio.cli import main
from aucstudio.engine.calibration import KINDS, calibrate
from aucstudio.engine.roc import ThresholdRule, auc
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import Cancelled, InputError
from aucstudio.project.results.calibration import (
    AS_IT_STANDS,
    estimate_calibration,
    probabilities_of,
)
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.final_model import (
    HeldOut,
    calibrated,
    caution,
    held_out,
    validated_model,
)
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.store import model_file
from aucstudio.project.store.export import export_model
from tests.project.test_export import load, run_graph, run_script


def run_on(table, validation, method="auc-rls"):
    plan = plan_experiment(DataReference.to_table(table), method, {}, validation)
    return execute(plan, table)


@pytest.fixture(scope="module")
def folds(table_once):
    return run_on(table_once, Validation("folds", folds=5))


@pytest.fixture(scope="module")
def half(table_once):
    return run_on(table_once, Validation(test_size=0.5))


def noise(rows, seed=0):
    rng = np.random.default_rng(seed)
    return HeldOut(rng.random(rows) < 0.3, rng.normal(size=rows), np.zeros(rows, np.intp))


# ------------------------------------------------------------------ the estimate


def test_each_held_out_row_is_used_once(table_once, folds):
    repeated = run_on(table_once, Validation("folds", folds=3, repeats=2))
    for record in (folds, repeated):
        rows = held_out(record)
        assert len(rows.scores) == table_once.rows
        assert rows.split.max() < record.experiment.validation.folds
    assert len(held_out(repeated, 4).scores) == len(repeated.splits[4].test_rows)


def test_row_is_calibrated_without_its_own_fold(folds):
    rows = held_out(folds)
    found = probabilities_of(rows, "isotonic")
    fold = rows.split == 2
    other = rows.positive.copy()
    other[fold] ^= True
    changed = probabilities_of(dataclasses.replace(rows, positive=other), "isotonic")
    assert np.array_equal(found[fold], changed[fold])
    assert not np.array_equal(found[~fold], changed[~fold])


@pytest.mark.parametrize("kind", KINDS)
def test_brier_score_on_noise_is_not_optimistic(kind):
    rows = noise(400)
    p = probabilities_of(rows, kind)
    flattering = calibrate(kind, rows.positive, rows.scores)(rows.scores)
    share = rows.positive.mean()
    honest = np.mean((p - rows.positive) ** 2)
    assert honest > 0.99 * share * (1 - share)
    assert honest > np.mean((flattering - rows.positive) ** 2)


@pytest.mark.parametrize("kind", [AS_IT_STANDS, *KINDS])
def test_calibrated_run_has_measures(folds, kind):
    found = estimate_calibration(folds, kind)
    assert found.diagram.rows.sum() == len(found.probabilities)
    assert 0 < found.brier.value < 0.5
    assert np.isfinite(found.log.value)
    assert 0 <= found.error < 0.5
    assert json.loads(json.dumps(found.as_json()))["map"] == kind
    assert "Brier score" in found.sentence()


def test_few_rows_are_cautioned_or_refused():
    assert "Platt or beta" in caution("isotonic", np.arange(200) < 20)
    assert caution("platt", np.arange(200) < 20) == ""
    one = HeldOut(np.arange(30) < 1, np.arange(30.0), np.zeros(30, np.intp))
    with pytest.raises(InputError, match="smaller class has 1"):
        probabilities_of(one, "platt")


def test_calibration_can_be_stopped(folds):
    with pytest.raises(Cancelled):
        estimate_calibration(folds, "platt", lambda: True)


def test_calibration_of_leave_pair_out_is_refused(table_once):
    record = run_on(table_once, Validation("leave-pair-out"))
    with pytest.raises(InputError, match="holds out no rows"):
        held_out(record)


# ------------------------------------------------------------------ the model


@pytest.mark.parametrize("kind", KINDS)
def test_moved_threshold_does_not_change_probabilities(half, table_once, kind):
    as_trained = validated_model(half, 0, None, kind)
    moved = validated_model(half, 0, ThresholdRule.parse("fpr=0.1"), kind)
    assert moved.threshold != as_trained.threshold
    scores = as_trained.score(table_once)
    np.testing.assert_array_equal(moved.score(table_once), scores)
    np.testing.assert_array_equal(moved.probabilities(scores), as_trained.probabilities(scores))
    assert "80 held-out rows" in moved.calibrated_on


@pytest.mark.parametrize("kind", KINDS)
def test_calibrated_model_is_stored(half, table_once, tmp_path, kind):
    model, path = validated_model(half, 0, None, kind), tmp_path / "m.aucmodel"
    model_file.save_model(model, path)
    again = model_file.load_model(path)
    scores = model.score(table_once)
    assert np.array_equal(again.probabilities(scores), model.probabilities(scores))
    assert auc(scores > 0, again.probabilities(scores)) == 1
    assert again.calibrated_on == model.calibrated_on


def with_invalid_calibration(model, **changes):
    made = dataclasses.replace(model.calibration, **changes)
    return model_file.model_to_bytes(dataclasses.replace(model, calibration=made))


@pytest.mark.parametrize(
    "changes",
    [
        {"knots": np.zeros((2, 2)), "values": np.zeros((2, 2))},
        {"knots": np.array([2.0, 1.0]), "values": np.array([0.0, 1.0])},
        {"knots": np.array([1, 2]), "values": np.array([0, 1])},
        {"values": np.array([0.5])},
        {"scale": -1.0},
    ],
)
def test_invalid_stored_calibration_is_refused(half, changes):
    model = validated_model(half, 0, None, "isotonic")
    with pytest.raises(InputError, match="is damaged"):
        model_file.model_from_bytes(with_invalid_calibration(model, **changes), "m")


# ------------------------------------------------------------------ exports


def odd_scores(model):
    centre, scale = model.calibration.centre, model.calibration.scale
    grid = np.concatenate([np.linspace(-4, 4, 101), [-1e6, -50.0, 50.0, 1e6]])
    return centre + scale * grid


@pytest.mark.parametrize("kind", KINDS)
def test_exported_script_and_json_return_the_probabilities(
    half, table_once, table_file, tmp_path, kind
):
    model, script = validated_model(half, 0, None, kind), tmp_path / "model.py"
    export_model(model, "script", script)
    done = run_script(script, table_file)
    assert (done.returncode, done.stderr) == (0, "")
    found = [float(row["probability"]) for row in csv.DictReader(done.stdout.splitlines())]
    expected = model.probabilities(model.score(table_once))
    np.testing.assert_allclose(found, expected, atol=1e-9)
    loaded, scores = load(model, tmp_path), odd_scores(model)
    np.testing.assert_allclose(
        loaded["probability"](scores), model.probabilities(scores), atol=1e-9
    )
    # The document contains the numbers of the script and explains their use.
    export_model(model, "json", tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    assert document["calibration"] == loaded["MODEL"]["calibration"]
    assert any("probability = " in line for line in document["how"])


def test_script_without_calibration_writes_no_probability(half, table_file, tmp_path):
    export_model(half.splits[0].model, "script", tmp_path / "model.py")
    done = run_script(tmp_path / "model.py", table_file)
    assert done.stdout.startswith("row,score,threshold,predicted\n")


@pytest.mark.parametrize("kind", KINDS)
def test_onnx_export_returns_the_probabilities(half, table_once, tmp_path, kind):
    model = validated_model(half, 0, None, kind)
    score, probability = run_graph(model, table_once, tmp_path, "score", "probability")
    np.testing.assert_allclose(probability, model.probabilities(score), rtol=0, atol=1e-9)


# ------------------------------------------------------------------ the command line


@pytest.fixture
def command(capsys):
    def call(*words):
        status = main(list(map(str, words)))
        out, err = capsys.readouterr()
        return status, out, err

    return call


@pytest.mark.parametrize("scheme", [["--test-size", "0.5"], ["--folds", "4"]])
def test_command_trains_and_scores_a_calibrated_model(command, table_file, tmp_path, scheme):
    model, scores = tmp_path / "m.aucmodel", tmp_path / "scores.csv"
    given = ["--method", "auc-rls", "--save-model", model, "--calibrate", "beta", "--json"]
    status, out, err = command("train", table_file, *given, *scheme)
    assert status == 0, err
    assert json.loads(out)["calibration"]["map"] == "beta"
    assert "held-out rows" in err
    status, _, err = command("score", model, table_file, "-o", scores)
    assert status == 0
    assert "probabilities by beta calibration on" in err
    assert "hold where positives are as frequent" in err
    rows = list(csv.DictReader(scores.read_text().splitlines()))
    assert list(rows[0]) == ["row", "score", "threshold", "predicted", "probability"]
    p = np.array([float(row["probability"]) for row in rows])
    s = np.array([float(row["score"]) for row in rows])
    assert np.array_equal(np.argsort(p), np.argsort(s))
    status, out, _ = command("score", model, table_file, "--json")
    assert json.loads(out)["probabilities"] == p.tolist()
    status, _, err = command("score", model, table_file, "-o", tmp_path / "scores.parquet")
    assert status == 0, err
    stored = duckdb.sql(f"SELECT probability FROM '{tmp_path / 'scores.parquet'}' ORDER BY row")
    assert [value for (value,) in stored.fetchall()] == p.tolist()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--calibrate", "plat"], "--save-model"),
        (["--calibrate", "plat", "--save-model", "m.aucmodel"], "did you mean"),
        (["--calibrate", "platt", "--save-model", "m", "--leave-pair-out"], "--leave-pair-out"),
    ],
)
def test_invalid_calibration_options_are_refused_before_training(command, table_file, words, said):
    status, out, err = command("train", table_file, "--method", "auc-rls", *words)
    assert (status, out) == (2, "")
    assert said in err


def test_calibration_on_one_held_out_class_is_refused(half):
    split = dataclasses.replace(
        half.splits[0], test_positive=np.zeros_like(half.splits[0].test_positive)
    )
    with pytest.raises(InputError, match="both classes"):
        calibrated(split.model, dataclasses.replace(half, splits=(split,)), "platt")
