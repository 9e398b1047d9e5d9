"""Numeric missing-value codes such as -999 are treated like empty cells everywhere."""

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

ABSENT = {"a": [-999, 9999], "c": [-1]}


@pytest.fixture
def tables(tmp_path):
    """Write the same rows twice: with missing-value codes and with empty cells."""
    random = np.random.default_rng(4)
    rows = [["a", "b", "c", "y"]]
    for k in range(200):
        y = int(random.random() < 0.4)
        a = {0: "-999", 1: "9999"}.get(k % 11, f"{random.normal() + y:.4f}")
        c = "-1" if k % 7 == 0 else str(random.integers(0, 50))
        rows.append([a, f"{random.normal() + y:.4f}", c, str(y)])
    coded, empty = tmp_path / "coded.csv", tmp_path / "empty.csv"
    coded.write_text("\n".join(map(",".join, rows)))
    for row in rows[1:]:
        row[0] = "" if row[0] in ("-999", "9999") else row[0]
        row[2] = "" if row[2] == "-1" else row[2]
    empty.write_text("\n".join(map(",".join, rows)))
    return coded, empty


def planned(table, method="auc-rls"):
    return plan_on(table, method, {}, Validation(test_size=0.5), (0.0, 0.1))


@pytest.mark.parametrize("method", ["auc-rls", "gradient-boosting"])
def test_run_with_missing_codes_equals_run_with_empty_cells(tables, method):
    coded, empty = (read_table(path, label="y", positive="1") for path in tables)
    coded = coded.with_roles(absent=ABSENT)
    ours, theirs = (execute(planned(table, method), table).splits[0] for table in (coded, empty))
    np.testing.assert_array_equal(ours.test_scores, theirs.test_scores)


def test_streamed_run_with_missing_codes_equals_empty_cells(tables):
    opened = [open_stream(path, label="y", positive="1") for path in tables]
    try:
        coded, empty = opened[0].with_roles(absent=ABSENT), opened[1]
        ours, theirs = (execute(planned(table), table).splits[0] for table in (coded, empty))
        np.testing.assert_array_equal(ours.test_scores, theirs.test_scores)
    finally:
        for table in opened:
            table.close()


def test_missing_codes_are_stored_in_experiment_and_model(tables, tmp_path):
    plain = read_table(tables[0], label="y", positive="1")
    table = plain.with_roles(absent=ABSENT)
    experiment = planned(table)
    assert experiment.id != planned(plain).id
    assert "absent" not in json.dumps(planned(plain).as_json())
    again = Experiment.from_json(json.loads(json.dumps(experiment.as_json())))
    assert again.id == experiment.id
    assert again.data.open().absent == {"a": (-999.0, 9999.0), "c": (-1.0,)}
    assert again.data.seen(plain).absent == table.absent
    assert planned(plain).data.seen(table).absent == {}
    file = write_file(tmp_path / "study.toml", write_study([experiment], tmp_path))
    assert read_study(file).experiments[0].id == experiment.id
    model = execute(experiment, table).splits[0].model
    save_model(model, tmp_path / "m.aucmodel")
    loaded, scores = load_model(tmp_path / "m.aucmodel"), []
    score_file(loaded, tables[0], lambda _n, _c, part: scores.extend(part))
    expected = []
    score_file(loaded, tables[1], lambda _n, _c, part: expected.extend(part), label=None)
    assert scores == expected


def test_exported_models_apply_missing_codes(tables, tmp_path):
    table = read_table(tables[0], label="y", positive="1").with_roles(absent=ABSENT)
    model = execute(planned(table), table).splits[0].model
    expected = model.score(table)
    columns = {name: table.column(name).values.tolist() for name in "abc"}
    scores = load(model, tmp_path)["score"](columns)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    export_model(model, "json", tmp_path / "model.json")
    numbers = json.loads((tmp_path / "model.json").read_text())["preparation"]["numbers"]
    assert [one.get("missing") for one in numbers] == [[-999.0, 9999.0], None, [-1.0]]
    np.testing.assert_allclose(graph_scores(model, table, tmp_path), expected, rtol=1e-12)


def test_treated_missing_codes_are_no_longer_reported(tables):
    table = read_table(tables[0], label="y", positive="1")
    (finding,) = [f for f in find(table) if f.kind == "sentinel" and f.columns == ("a",)]
    assert set(finding.values) == {"-999", "9999"}
    treated = table.with_roles(absent={"a": map(float, finding.values)})
    assert not [f for f in find(treated) if f.columns == ("a",)]


def test_missing_codes_of_a_text_column_are_refused(tmp_path):
    path = write_file(tmp_path / "t.csv", "city,y\n" + "Bern,1\nBasel,0\n" * 20)
    with pytest.raises(InputError, match=r"'city' .* holds text"):
        read_table(path).with_roles(absent={"city": [-1]})
