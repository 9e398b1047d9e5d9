"""Joined spellings of a level are equivalent to one spelling, also in stored models."""

import json

import numpy as np
import pytest

from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.findings.find import find
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.experiment_file import read_study, write_study
from aucstudio.project.runs.planning import plan_on
from aucstudio.project.runs.scoring import score_file
from aucstudio.project.store.export import export_model
from aucstudio.project.store.model_file import load_model, save_model
from tests.conftest import write_file
from tests.project.test_export import graph_scores, load

SPELLINGS = {"Bern": ["Bern", "Bern", "bern", "BERN"], "Basel": ["Basel"], "Chur": ["Chur", "chur"]}


@pytest.fixture
def tables(tmp_path):
    """Write the same rows twice: in many spellings and in one."""
    random = np.random.default_rng(6)
    many, one = ["x,city,y"], ["x,city,y"]
    for k in range(240):
        city = list(SPELLINGS)[k % 3]
        y = int(random.random() < (0.7 if city == "Bern" else 0.3))
        x = f"{random.normal() + y / 2:.4f}"
        many.append(f"{x},{SPELLINGS[city][k // 3 % len(SPELLINGS[city])]},{y}")
        one.append(f"{x},{city},{y}")
    paths = tmp_path / "many.csv", tmp_path / "one.csv"
    for path, lines in zip(paths, (many, one), strict=True):
        path.write_text("\n".join(lines))
    return paths


def planned(table):
    return plan_on(table, "auc-rls", {}, Validation(test_size=0.5), (0.0, 0.1))


@pytest.mark.parametrize("read", [read_table, open_stream])
def test_run_with_joined_spellings_equals_one_spelling(tables, read):
    opened = [read(path, label="y", positive="1") for path in tables]
    many, one = opened[0].with_roles(same={"city": True}), opened[1]
    ours, theirs = (execute(planned(table), table).splits[0] for table in (many, one))
    np.testing.assert_allclose(ours.test_scores, theirs.test_scores, rtol=1e-12)
    assert set(ours.model.preparation.levels[0]) == set(SPELLINGS)
    for table in opened:
        getattr(table, "close", lambda: None)()


def test_joined_spellings_are_stored_in_experiment_and_model(tables, tmp_path):
    plain = read_table(tables[0], label="y", positive="1")
    table = plain.with_roles(same={"city": [["Bern", "bern", "BERN"], ["Chur", "chur"]]})
    experiment = planned(table)
    assert experiment.id != planned(plain).id
    again = Experiment.from_json(json.loads(json.dumps(experiment.as_json())))
    assert again.id == experiment.id
    assert again.data.open().same == table.same
    assert again.data.seen(plain).same == table.same
    assert planned(plain).data.seen(table).same == {}
    file = write_file(tmp_path / "study.toml", write_study([experiment], tmp_path))
    assert read_study(file).experiments[0].id == experiment.id
    save_model(execute(experiment, table).splits[0].model, tmp_path / "m.aucmodel")
    model, ours, theirs = load_model(tmp_path / "m.aucmodel"), [], []
    report = score_file(model, tables[0], lambda _n, _c, part: ours.extend(part))
    score_file(model, tables[1], lambda _n, _c, part: theirs.extend(part))
    assert ours == theirs
    assert report.unseen == {}


def test_exported_models_join_spellings(tables, tmp_path):
    table = read_table(tables[0], label="y", positive="1").with_roles(same={"city": True})
    model = execute(planned(table), table).splits[0].model
    expected = model.score(table)
    columns = {name: table.column(name).values.tolist() for name in ("x", "city")}
    scores = load(model, tmp_path)["score"](columns)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    export_model(model, "json", tmp_path / "model.json")
    (city,) = json.loads((tmp_path / "model.json").read_text())["preparation"]["categories"]
    assert ["Chur", "chur"] in city["same"]
    np.testing.assert_allclose(graph_scores(model, table, tmp_path), expected, rtol=1e-12)


def test_joined_spellings_are_no_longer_reported(tables):
    table = read_table(tables[0], label="y", positive="1")
    assert [f.columns for f in find(table) if f.kind == "spelling"] == [("city",)]
    joined = table.with_roles(same={"city": True})
    assert not [f for f in find(joined) if f.kind == "spelling"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("spellings = { city = 5 }", "data.spellings: expected true or false or a list"),
        ('missing = { x = "a" }', "data.missing: expected a list"),
        ('missing = { x = ["a"] }', "data.missing: expected a whole number or a number"),
        ("missing = { city = [-1] }", "holds text"),
        ("missing = { town = [-1] }", "has no column 'town'"),
        ('spellings = { city = [["Bern", "bern"], ["bern", "x"]] }', "keep one"),
    ],
)
def test_invalid_entries_of_an_experiment_file_are_named(tables, tmp_path, line, words):
    file = tmp_path / "study.toml"
    file.write_text(f'[data]\nfile = "many.csv"\n{line}\n[[runs]]\nmethod = "auc-rls"\n')
    with pytest.raises(InputError, match=words):
        read_study(file)
