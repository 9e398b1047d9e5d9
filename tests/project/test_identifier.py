"""An identifier column is shown with the scores and never used as a feature."""

import csv

import duckdb
import numpy as np
import pytest

from aucstudio import cli
from aucstudio.project.data.table import read_table
from aucstudio.project.store.model_file import load_model


@pytest.fixture
def patients(tmp_path):
    random = np.random.default_rng(2)
    path = tmp_path / "patients.csv"
    rows = [f"{k:04d},{random.normal() + k % 2:.3f},{k % 2}" for k in range(80)]
    path.write_text("\n".join(["who,x,y", *rows]))
    return path


@pytest.fixture
def model(patients, tmp_path):
    target = tmp_path / "m.aucmodel"
    words = ["train", str(patients), "--method", "auc-rls", "--id", "who", "--quiet"]
    assert cli.main([*words, "--save-model", str(target)]) == 0
    return target


def test_identifier_is_not_a_feature(model):
    loaded = load_model(model)
    assert loaded.feature_columns == ("x",)
    assert loaded.schema.identifiers == ("who",)


def test_scores_keep_the_identifier_as_written(model, patients, tmp_path):
    out = tmp_path / "scores.csv"
    assert cli.main(["score", str(model), str(patients), "-o", str(out), "--quiet"]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["who"] for row in rows] == [f"{k:04d}" for k in range(80)]


def test_table_without_the_identifier_is_scored(model, tmp_path):
    table, out = tmp_path / "later.csv", tmp_path / "scores.csv"
    table.write_text("x,z\n1,0\n2,0\n3,0\n")
    assert cli.main(["score", str(model), str(table), "-o", str(out), "--quiet"]) == 0
    assert [row["who"] for row in csv.DictReader(out.read_text().splitlines())] == ["", "", ""]


def test_inspect_shows_the_identifier_role(patients, printed):
    columns = printed("inspect", patients, "--id", "who")["columns"]
    assert columns[0]["role"] == "id"
    assert columns[0]["auc"] is None


def test_scores_keep_several_identifiers(tmp_path, printed):
    random, path, out = np.random.default_rng(3), tmp_path / "visits.csv", tmp_path / "s.csv"
    rows = [f"{k // 2:03d},v{k % 2},{random.normal() + k % 3:.3f},{k % 2}" for k in range(80)]
    path.write_text("\n".join(["score,visit,x,y", *rows]))
    model, ids = str(tmp_path / "m.aucmodel"), ["--id", "score", "--id", "visit"]
    words = ["train", str(path), "--method", "auc-rls", *ids, "--quiet", "--save-model", model]
    assert cli.main(words) == 0
    for name in ("s.csv", "s.parquet"):
        out = tmp_path / name
        assert cli.main(["score", model, str(path), "-o", str(out), "--quiet"]) == 0
    header, *written = csv.reader((tmp_path / "s.csv").read_text().splitlines())
    assert header == ["row", "score", "visit", "score", "threshold", "predicted"]
    assert [row[1:3] for row in written] == [line.split(",")[:2] for line in rows]
    assert duckdb.sql(f"FROM '{out}'").columns[1:3] == ["score (identifier)", "visit"]
    found = printed("score", model, path, "--quiet")
    assert found["ids"]["visit"] == [f"v{k % 2}" for k in range(80)]


def test_second_role_of_a_column_is_refused(patients, refused):
    assert "given two roles" in refused("inspect", patients, "--id", "who", "--group", "who")


@pytest.mark.parametrize(
    ("cells", "role"),
    [
        ([f"P{k:02d}" for k in range(12)], "ignore"),
        (["P00", "P00", *(f"P{k:02d}" for k in range(2, 12))], "category"),
        (["Q1", *(f"P{k:02d}" for k in range(1, 11))], "category"),
        ([f"P{k:02d}" for k in range(11)] + [""], "ignore"),
        (["<5", "<6", "<7", "<8", "<9", "<10"] * 2, "category"),
    ],
)
def test_numbered_words_without_repeats_are_identifiers(tmp_path, cells, role):
    path = tmp_path / "few.csv"
    rows = [f"{cell},{k * 1.7 % 5:.2f},{k % 2}" for k, cell in enumerate(cells)]
    path.write_text("\n".join(["code,x,y", *rows]))
    column = read_table(path).column("code")
    assert column.role == role
    assert (column.why == "ignored_identifier") == (role == "ignore")
