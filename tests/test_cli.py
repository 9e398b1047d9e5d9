import csv
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from aucstudio.commands import COMMANDS
from aucstudio.engine import METHODS
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation, draw_splits
from aucstudio.project.errors import InputError
from aucstudio.project.store.model_file import load_model
from aucstudio.project.store.project.project_file import ProjectFile
from tests.conftest import write_file, write_table

CASES = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def test_methods_as_json_lists_every_declared_setting(run):
    status, out, err = run("methods", "--json")
    listed = json.loads(out)
    assert status == 0
    assert err == ""
    assert [method["id"] for method in listed] == list(METHODS)
    svm = next(method for method in listed if method["id"] == "auc-svm")
    C = next(setting for setting in svm["parameters"] if setting["name"] == "C")
    assert C["low"] == 0.0
    assert C["low_open"]
    assert C["help"]


@pytest.mark.slow
def test_methods_describes_one_method(run, printed, refused):
    status, out, _ = run("methods", "auc-rls")
    assert status == 0
    assert out.startswith("auc-rls  ")
    assert "regularization" in out
    assert "svm-pauc" not in out
    assert [method["id"] for method in printed("methods", "auc-rls")] == ["auc-rls"]
    assert "did you mean 'auc-rls'?" in refused("methods", "auc-rsl")


@pytest.mark.parametrize(("words", "expected"), CASES["misspelt"])
def test_misspelt_words_get_a_suggestion(refused, words, expected):
    err = refused(*words)
    assert expected in err
    assert err.count("\n") == 1


def test_double_hyphen_ends_the_options(refused):
    err = refused("inspect", "--json", "--", "--metod.csv")
    assert "--metod.csv" in err
    assert "option" not in err


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_option_has_help(run, command):
    _, words, _ = run(*command.split(), "--help")
    usage, *parts = words.split("\n\n")
    assert usage.startswith(f"usage: aucstudio {command}")
    assert not parts[0].startswith("options:")  # a description comes first
    lines = words.splitlines()
    for line, following in itertools.pairwise([*lines, ""]):
        if re.match(r"  \S", line) and not re.search(r"\S {2,}\S", line) and "COMMAND" not in line:
            assert following.startswith(" " * 20), line


def test_train_prints_label_and_positive_class(run, table_file):
    text = table_file.read_text().splitlines()
    text[3] = text[3].rpartition(",")[0] + ","
    table_file.write_text("\n".join(text) + "\n1,2\n")
    command = ("train", table_file, "--method", "auc-rls")
    _, out, _ = run(*command)
    first = out.splitlines()[0]
    assert first.startswith("label outcome, positive class yes (the label and the class guessed): ")
    assert first.endswith(" of 159 rows; 2 rows left out")
    _, out, _ = run(*command, "--label", "outcome", "--positive", "no")
    assert out.splitlines()[0].startswith("label outcome, positive class no: ")


def test_methods_as_text(run):
    status, out, _ = run("methods")
    assert status == 0
    assert "svm-pauc" in out
    assert all(method.weights_words() in out for method in METHODS.values())


def test_missing_in_treats_numbers_as_missing(run, tmp_path, printed, refused):
    path = tmp_path / "absent.csv"
    rows = "".join(f"{-999 if k % 5 == 0 else k % 7},{k % 11},{k % 2}\n" for k in range(60))
    path.write_text(f"age,a=b,y\n{rows}", encoding="utf-8")
    options = ("--label", "y", "--missing-in", "age=-999,-1", "--missing-in", "a=b=10")
    assert not any(
        "-999" in finding["sentence"] for finding in printed("inspect", path, *options)["findings"]
    )
    assert "-999" in run("inspect", path, "--label", "y", "--json")[1]
    status, _, _ = run("train", path, "--method", "rls", *options, "--json")
    assert status == 0
    for wrong in ("age", "age=", "=3", "age=x"):
        err = refused("inspect", path, "--missing-in", wrong)
        assert f"--missing-in takes COL=NUMBER, such as age=-999; it is {wrong!r}" in err
    assert run("inspect", path, "--missing-in", "size=3")[0] == 2


def test_date_parts_go_through_inspect_train_and_score(run, tmp_path, printed, refused):
    path = tmp_path / "days.csv"
    rows = "".join(f"{k % 28 + 1:02d}.{k % 12 + 1:02d}.20{k % 9 + 10},{k % 2}\n" for k in range(90))
    path.write_text(f"a=b,y\n{rows}", encoding="utf-8")
    options = ("--label", "y", "--date-parts", "a=b=Weekday, month", "--date-parts", "a=b=number")
    column = printed("inspect", path, *options)["columns"][0]
    assert column["parts"] == ["number", "month", "weekday"]
    assert column["range"] == ["2010-01-01", "2018-12-16"]
    words = run("inspect", path, *options)[1]
    assert "dates 2010-01-01 to 2018-12-16, used as number, month, weekday" in words
    project, model = tmp_path / "p.aucproj", tmp_path / "m.aucmodel"
    saved = ("--project", project, "--save-model", model)
    assert run("train", path, "--method", "rls", *options, *saved)[0] == 0
    assert run("verify", project)[0] == 0  # which reads the table again by its schema
    kept = next(iter(ProjectFile.open(project).runs())).splits[0].model
    assert kept.preparation.numbers == ("a=b", "a=b: month", "a=b: weekday")
    scores = [tmp_path / name for name in ("memory.csv", "disk.csv")]
    for target, more in zip(scores, ((), ("--stream",)), strict=True):
        assert run("score", model, path, "-o", target, *more)[0] == 0
    assert scores[0].read_text() == scores[1].read_text()
    for wrong in ("age", "age=", "=year"):
        assert f"it is {wrong!r}" in refused("inspect", path, "--date-parts", wrong)
    status, _, err = run("inspect", path, "--date-parts", "a=b=hours")
    assert (status, "did you mean 'hour'?" in err) == (2, True)


def test_inspect_lists_columns_and_roles(run, table_file):
    status, out, _ = run("inspect", table_file, "--json")
    found = json.loads(out)
    assert status == 0
    assert found["rows"] == 160
    assert found["label"] == "outcome"
    assert found["positive"] == "yes"
    assert found["delimiter"] == ","
    assert {c["name"]: c["role"] for c in found["columns"]}["town"] == "category"
    status, out, _ = run("inspect", table_file)
    assert status == 0
    columns = [line for line in out.splitlines() if " distinct, " in line]
    assert len({line.index(":") for line in columns}) > 1  # names differ in length
    roles = [len(line) - len(line.partition(":")[2].lstrip()) for line in columns]
    assert len(set(roles)) == 1


def test_train_json_reports_params_and_areas(run, table_file, tmp_path):
    model = tmp_path / "m.aucmodel"
    status, out, err = run(
        "train", table_file, "--method", "auc-svm", "--set", "C=2", "--set", "kernel=rbf",
        "--test-size", "0.5", "--seed", "3", "--save-model", model, "--json",
    )  # fmt: skip
    assert status == 0
    assert err == ""
    document = json.loads(out)
    assert document["data"]["rows"] == 160
    assert document["data"]["features"] == 5
    result = document["runs"][0]
    assert result["params"]["C"] == 2.0
    assert result["status"] == "done"
    assert result["n_train"] == result["n_test"] == 80
    assert result["auc"]["low"] <= result["auc"]["value"] <= result["auc"]["high"]
    assert result["pauc"]["range"] == [0.0, 0.1]
    assert result["pauc"]["normalized"] == pytest.approx(result["pauc"]["raw"] / 0.1)


def test_saved_model_reproduces_the_reported_auc(run, table_file, tmp_path, printed):
    other = write_table(tmp_path / "other.csv", rows=90, seed=5)
    model, scores = tmp_path / "m.aucmodel", tmp_path / "scores.csv"
    status, out, _ = run(
        "train", table_file, "--method", "logistic", "--test-file", other,
        "--save-model", model, "--json",
    )  # fmt: skip
    assert status == 0
    reported = json.loads(out)["runs"][0]["auc"]["value"]
    assert printed("score", model, other, "-o", scores)["rows"] == 90
    with scores.open() as file:
        rows = list(csv.DictReader(file))
    values = np.array([float(row["score"]) for row in rows])
    table = read_table(other)
    assert roc_auc_score(table.is_positive(), values) == pytest.approx(reported, abs=1e-12)
    assert {row["predicted"] for row in rows} <= {"yes", "no"}
    status, out, _ = run("score", model, other)
    assert out.splitlines()[0] == "row,score,threshold,predicted"
    assert float(out.splitlines()[1].split(",")[1]) == values[0]


@pytest.mark.slow
def test_train_with_folds_and_repeats_fills_the_project(run, table_file, tmp_path):
    project = tmp_path / "p.aucproj"
    for method in ("auc-rls", "svm-pauc"):
        status, out, _ = run(
            "train", table_file, "--method", method, "--folds", "4", "--repeats", "2",
            "--fpr-range", "0,0.3", "--project", project, "--json",
        )  # fmt: skip
        assert status == 0
    result = json.loads(out)["runs"][0]
    assert len(result["auc"]["per_split"]) == 8
    assert result["auc"]["value"] == pytest.approx(np.mean(result["auc"]["per_split"]))
    # A method with a range setting trains for the range it is evaluated in.
    assert result["params"]["fpr_range"] == [0.0, 0.3]
    assert [r.experiment.method for r in ProjectFile.open(project).runs()] == [
        "auc-rls",
        "svm-pauc",
    ]


def test_compare_reports_differences_and_p_values(run, table_file, tmp_path):
    project = tmp_path / "p.aucproj"
    for method in ("auc-rls", "logistic"):
        run("train", table_file, "--method", method, "--test-size", "0.5", "--project", project)
    status, out, _ = run("compare", project, "--json")
    document = json.loads(out)
    assert status == 0
    assert [r["method"] for r in document["runs"]] == ["auc-rls", "logistic"]
    pair = document["pairs"]["auc"][0]
    values = sorted((r["auc"]["value"] for r in document["runs"]), reverse=True)
    assert pair["difference"] == pytest.approx(values[0] - values[1])
    assert 0.0 <= pair["p"] <= pair["p_holm"] <= 1.0
    status, out, _ = run("compare", project)
    assert status == 0
    assert "pAUC in FPR 0 … 0.1" in out
    assert run("compare", table_file)[0] == 2


def test_compare_adds_ids_to_runs_of_the_same_name(run, table_file, tmp_path):
    project = tmp_path / "p.aucproj"
    for seed in (0, 1):
        marker = ("--score-column", "x0", "--seed", seed, "--project", project)
        assert run("train", table_file, *marker)[0] == 0
    ids = [record.id for record in ProjectFile.open(project).runs()]
    status, out, _ = run("compare", project)
    assert status == 0
    assert all(f"| x0 ({one}) |" in out for one in ids)
    document = json.loads(run("compare", project, "--json")[1])
    assert [one["name"] for one in document["runs"]] == [f"x0 ({one})" for one in ids]


def test_absent_interval_is_printed_as_a_dash(run, tmp_path):
    path = tmp_path / "small.csv"
    lines = [f"{k * 7 % 12},{int(k > 7)}" for k in range(12)]
    path.write_text("\n".join(["x,y", *lines]) + "\n")
    status, out, _ = run("train", path, "--method", "auc-rls")
    assert status == 0
    assert "–" in out
    assert "nan" not in out


def test_compare_needs_a_finished_run(run, tmp_path, refused):
    from aucstudio.project.store.project.project_file import ProjectFile

    project = tmp_path / "new.aucproj"
    ProjectFile.create(project)
    assert "no finished run to compare" in refused("compare", project)
    status, out, _ = run("compare", project, "--json")
    assert (status, json.loads(out)["runs"]) == (0, [])


def test_tuning_reports_the_chosen_settings(run, table_file, tmp_path, printed):
    model = tmp_path / "model.aucmodel"
    command = (
        "train", table_file, "--method", "auc-rls", "--tune", "leave-pair-out", "--folds", "3",
        "--save-model", model,
    )  # fmt: skip
    (result,) = printed(*command)["runs"]
    assert result["tuning"]["metric"] == "leave-pair-out"
    assert len(result["tuning"]["chosen"]) == 3
    assert load_model(model).params["regularization"] in [
        candidate["regularization"] for candidate in result["tuning"]["searches"][0]["candidates"]
    ]
    _, out, _ = run(*command)
    assert out.count("tuned: regularization = ") == 3


def test_train_with_leave_pair_out(printed, table_file):
    (result,) = printed(
        "train", table_file, "--method", "rls", "--set", "kernel=rbf", "--leave-pair-out"
    )["runs"]
    assert result["validation"]["scheme"] == "leave-pair-out"
    assert result["n_train"] == result["n_test"] == 160
    assert any("leave-pair-out" in note.lower() for note in result["notes"])


@pytest.mark.parametrize(("rule", "bound"), [("fpr=0.1", 0.1), ("fpr=0", 0.0)])
def test_saved_model_keeps_the_requested_fpr(run, table_file, tmp_path, rule, bound):
    model = tmp_path / "model.aucmodel"
    status, _, _ = run(
        "train", table_file, "--method", "auc-rls", "--test-size", "0.5", "--threshold", rule,
        "--save-model", model,
    )  # fmt: skip
    assert status == 0
    saved = load_model(model)
    assert (
        saved.threshold_rule
        == f"where the false-positive rate is at most {bound:g} on the held-out rows"
    )
    table = read_table(table_file)
    (split,) = draw_splits(table.is_positive(), Validation(test_size=0.5))
    called = saved.score(table)[split.test] > saved.threshold
    negative = ~table.is_positive()[split.test]
    assert bound - 1 / negative.sum() < called[negative].mean() <= bound


def test_experiment_file_reproduces_the_numbers_of_train(run, table_file, tmp_path):
    text = '[data]\nfile = "study.csv"\n[[runs]]\nmethod = "auc-rls"\n[[runs]]\nmethod = "svm"\n'
    (tmp_path / "two.toml").write_text(text)
    project = tmp_path / "two.aucproj"
    status, out, err = run("run", tmp_path / "two.toml", "--project", project, "--json")
    assert (status, err) == (0, "")
    results = json.loads(out)["runs"]
    assert [result["method"] for result in results] == ["auc-rls", "svm"]
    alone = json.loads(run("train", table_file, "--method", "svm", "--json")[1])["runs"][0]
    assert results[1]["auc"] == alone["auc"]
    assert run("compare", project)[0] == 0
    assert "svm" in run("run", tmp_path / "two.toml")[1].lower()


@pytest.mark.parametrize(("text", "arguments", "names"), CASES["bad_experiments"])
def test_invalid_experiment_files_are_one_error_line(
    refused, table_file, tmp_path, text, arguments, names
):
    assert names in refused("run", write_file(tmp_path / "bad.toml", text), *arguments)


@pytest.mark.parametrize(("arguments", "names"), CASES["bad_usage"])
def test_invalid_usage_is_one_error_line(refused, table_file, arguments, names):
    assert names in refused("train", table_file, *arguments, "--json")


def test_output_name_without_repair_is_rejected(refused, tmp_path):
    assert "--repair" in refused("check", tmp_path / "p.aucproj", "-o", tmp_path / "q.aucproj")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "bad.csv"),
        (b"", "bad.csv"),
        (b"\x00\x01\x02\x03" * 100, "bad.csv"),
        (b"only\n1\n2\n", "bad.csv"),
        (b"x,label\n1,a\n2,a\n3,a\n", "label"),
        (b"x,label\n1,a\n2,b\n3,c\n4,a\n5,b\n6,c\n", "positive"),
        (b"x,z,label\n1,2,a\n3\n4,5,b\n6\n7\n", "line 3"),
    ],
)
def test_invalid_tables_are_one_error_line(refused, tmp_path, content, words):
    path = tmp_path / "bad.csv"
    if content is not None:
        path.write_bytes(content)
    assert words in refused("train", path, "--method", "auc-rls")


@pytest.fixture
def model_file(run, table_file, tmp_path):
    model = tmp_path / "m.aucmodel"
    run("train", table_file, "--method", "auc-rls", "--save-model", model)
    return model


def test_exported_script_writes_the_same_scores(run, table_file, model_file, tmp_path):
    script = tmp_path / "scores.py"
    assert run("export", model_file, "--to", "script", "-o", script) == (0, "", "")
    _, expected, _ = run("score", model_file, table_file)
    done = subprocess.run(
        [sys.executable, "-I", str(script), str(table_file)],
        capture_output=True,
        text=True,
        check=True,
    )
    rows, expected_rows = (list(csv.DictReader(t.splitlines())) for t in (done.stdout, expected))
    assert list(rows[0]) == ["row", "score", "threshold", "predicted"]
    for row, expected_row in zip(rows, expected_rows, strict=True):
        assert float(row.pop("score")) == pytest.approx(float(expected_row.pop("score")), rel=1e-12)
        assert row == expected_row


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"--to": "pmml"}, "'pmml'"),
        ({"model": "absent.aucmodel"}, "absent.aucmodel"),
        ({"model": __file__}, "not an AUC Studio model"),
        ({"-o": "absent/folder/model.json"}, "cannot write"),
    ],
)
def test_failed_export_is_one_error_line(refused, model_file, tmp_path, changes, words):
    chosen = {"model": model_file, "--to": "json", "-o": tmp_path / "model.json"} | changes
    model = chosen.pop("model")
    assert words in refused("export", model, *[part for pair in chosen.items() for part in pair])
    assert not (tmp_path / "model.json").exists()


def test_results_are_printed_if_the_model_cannot_be_saved(run, table_file, tmp_path, monkeypatch):
    project, folder = tmp_path / "p.aucproj", tmp_path / "goes"
    folder.mkdir()
    take_off = ProjectFile.add_run

    def add_and_delete_the_folder(self, record):
        folder.rmdir()
        return take_off(self, record)

    monkeypatch.setattr(ProjectFile, "add_run", add_and_delete_the_folder)
    status, out, err = run(
        "train", table_file, "--method", "auc-rls", "--project", project,
        "--save-model", folder / "m.aucmodel",
    )  # fmt: skip
    assert status == 2
    assert "cannot write" in err
    assert "AUC-RLS" in out
    assert len(ProjectFile.open(project).runs()) == 1


@pytest.fixture
def full_disk(monkeypatch):
    """A project that can be created and opened, but no run can be added."""

    def refuse(self, _record):
        raise InputError(f"cannot read or write the project {self.path}: the disk is full")

    monkeypatch.setattr(ProjectFile, "add_run", refuse)


def test_model_is_saved_if_the_project_cannot_be_written(run, table_file, tmp_path, full_disk):
    project, model = tmp_path / "p.aucproj", tmp_path / "m.aucmodel"
    status, out, err = run(
        "train", table_file, "--method", "auc-rls", "--project", project,
        "--save-model", model, "--json",
    )  # fmt: skip
    assert status == 2
    assert err == (
        "aucstudio: the run of auc-rls is unsaved: cannot read or write the project "
        f"{project}: the disk is full\n"
    )
    (result,) = json.loads(out)["runs"]
    assert (result["status"], result["model"]) == ("done", str(model))
    assert "the disk is full" in result["unsaved"]
    assert load_model(model).method == "auc-rls"


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_unsaved_run_does_not_stop_the_next(run, table_file, tmp_path, full_disk, jobs):
    text = '[data]\nfile = "study.csv"\n[[runs]]\nmethod = "auc-rls"\n[[runs]]\nmethod = "rls"\n'
    (tmp_path / "two.toml").write_text(text)
    project = tmp_path / "p.aucproj"
    status, out, err = run(
        "run", tmp_path / "two.toml", "--project", project, "--jobs", jobs, "--json"
    )
    assert status == 2
    assert [result["status"] for result in json.loads(out)["runs"]] == ["done", "done"]
    assert err.count(" is unsaved: ") == err.count("\n") == 2


def test_results_are_printed_if_the_refit_fails(run, table_file, tmp_path, monkeypatch):
    def no_memory(*_arguments):
        raise MemoryError

    monkeypatch.setattr("aucstudio.project.runs.final_model.refit", no_memory)
    status, out, err = run(
        "train", table_file, "--method", "auc-rls", "--folds", "3",
        "--save-model", tmp_path / "m.aucmodel", "--json",
    )  # fmt: skip
    assert status == 2
    assert len(json.loads(out)["runs"][0]["auc"]["per_split"]) == 3
    assert "not enough memory" in err


def test_failed_run_exits_with_1_and_its_error(run, table_file):
    status, out, err = run("train", table_file, "--method", "auc-rls", "--folds", "100", "--json")
    assert status == 1
    assert json.loads(out)["runs"][0]["status"] == "failed"
    assert "fewer folds" in err


def test_version_and_help(run):
    from aucstudio import __version__

    assert run("--version")[:2] == (0, f"aucstudio {__version__}\n")
    status, out, _ = run("--help")
    assert status == 0
    assert "train" in out


def test_missing_display_is_one_error_line(refused, table_file, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    err = refused(table_file)
    assert "needs a display" in err
    assert err.count("\n") == 1


def test_row_weights_go_through_train_compare_and_score(run, tmp_path, refused):
    rng = np.random.default_rng(2)
    y = rng.random(200) < 0.4
    columns = {"a": rng.normal(size=200) + y, "w": rng.exponential(2.0, 200), "y": y.astype(int)}
    data, project = tmp_path / "t.csv", tmp_path / "p.aucproj"
    rows = zip(*(map(str, cells.tolist()) for cells in columns.values()), strict=True)
    data.write_text("\n".join([",".join(columns), *map(",".join, rows)]) + "\n")
    given = (data, "--label", "y", "--weight", "w", "--quiet")
    model = tmp_path / "m.aucmodel"
    status, out, _ = run(
        "train",
        *given,
        "--method",
        "logistic",
        "--project",
        project,
        "--save-model",
        model,
        "--json",
    )
    (weighted,) = json.loads(out)["runs"]
    assert (status, weighted["weight"]) == (0, "w")
    (record,) = ProjectFile(project).runs()
    split = record.splits[0]
    area = roc_auc_score(split.test_positive, split.test_scores, sample_weight=split.test_weights)
    assert weighted["auc"]["value"] == pytest.approx(area)
    status, out, _ = run("compare", project)
    assert "Weighted by" in out
    status, out, err = run("score", model, data)
    assert "each row counted once, not by w" in err
    for command, words in (
        (("train", *given, "--method", "svm-pauc"), "takes no row weights"),
        (("train", *given, "--method", "rank-svm", "--stream"), "cannot be weighted"),
        (("train", *given, "--method", "rls", "--leave-pair-out"), "counts every row once"),
    ):
        assert words in refused(*command)
