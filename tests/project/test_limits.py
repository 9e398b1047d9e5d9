"""Values beyond a limit, such as <1.8, are missing, the limit, or half of it."""

import csv

import numpy as np
import openpyxl
import pytest

from aucstudio.cli import main
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiment_file import read_study, write_study
from aucstudio.project.runs.planning import plan_on
from aucstudio.project.runs.scoring import read_to_score, scores_of
from aucstudio.project.store.export.document import special_inputs
from aucstudio.project.store.model_file import load_model
from tests.conftest import write_file
from tests.project.test_export import run_script

RANDOM = np.random.default_rng(11)
DOSES = [f"{value:.1f}" for value in RANDOM.lognormal(2, 1, 400)]
DOSES[20], DOSES[80], DOSES[150], DOSES[399] = "<1.8", "≤ 2", ">=99", "< 1.8"
PLACES = [20, 80, 150, 399]
WAYS = {None: [np.nan] * 4, "limit": [1.8, 2, 99, 1.8], "half": [0.9, 1, 99, 0.9]}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "doses.csv"
    lines = [f"{dose},{k % 7},{(k + k // 9) % 2}" for k, dose in enumerate(DOSES)]
    path.write_text("\n".join(["dose,x,y", *lines]) + "\n", encoding="utf-8")
    return path


def dialect(limits):
    return None if limits is None else {"limits": limits}


@pytest.mark.parametrize("limits", WAYS)
@pytest.mark.parametrize("read", [read_table, open_stream])
@pytest.mark.parametrize("ending", ["csv", "long", "xlsx"])
def test_values_beyond_a_limit_are_read_as_chosen(path, limits, read, ending):
    if ending == "long":  # too long for the reader of small files
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join([*lines, *lines[1:] * 10]), encoding="utf-8")
    if ending == "xlsx":
        book = openpyxl.Workbook()
        for row in csv.reader(path.read_text(encoding="utf-8").splitlines()):
            book.active.append([float(c) if c.replace(".", "").isdigit() else c for c in row])
        path = path.with_suffix(".xlsx")
        book.save(path)
    table = read(path, dialect=dialect(limits))
    read_as = table.pick(np.array(PLACES), ["dose"]).columns[0].values
    np.testing.assert_allclose(read_as, WAYS[limits])
    times = 11 if ending == "long" else 1
    assert table.limited == {"dose": (4 * times, limits or "")}
    again = read_table(path, schema=table.schema)
    np.testing.assert_array_equal(again.column("dose").values[PLACES], read_as)


def test_unknown_way_is_refused(path):
    with pytest.raises(InputError) as refused:
        read_table(path, dialect={"limits": "double"})
    assert refused.value.code == "limits_unknown"


def test_scores_and_exports_read_limits_as_training_did(path, tmp_path, capsys):
    model, script = tmp_path / "m.aucmodel", tmp_path / "m.py"
    train = ["train", path, "--method", "auc-rls", "--limits", "half", "--save-model", model]
    assert main([*map(str, train), "--quiet"]) == 0
    later = write_file(tmp_path / "later.csv", "dose,x\n<3,1\n>3,1\n≤ 2.5,0\n4,2\n")
    assert main(["score", str(model), str(later), "-o", str(tmp_path / "s.csv")]) == 0
    assert "3 values beyond a limit, read as half of the limit" in capsys.readouterr().err
    plain = write_file(tmp_path / "plain.csv", "dose,x\n1.5,1\n3,1\n1.25,0\n4,2\n")
    known = load_model(model)
    expected = scores_of(known, read_to_score(known, plain))
    np.testing.assert_array_equal(scores_of(known, read_to_score(known, later)), expected)
    otherwise = scores_of(known, read_to_score(known, later, dialect={"limits": "limit"}))
    assert otherwise[0] == scores_of(known, read_to_score(known, plain, dialect=None))[1]
    assert "half of the limit" in special_inputs(known)["dose"]
    assert main(["export", str(model), "--to", "script", "-o", str(script), "--quiet"]) == 0
    done = run_script(script, later)
    assert done.stderr == ""
    scored = [float(row["score"]) for row in csv.DictReader(done.stdout.splitlines())]
    np.testing.assert_allclose(scored, expected, rtol=1e-12)


def test_experiment_file_keeps_the_choice(path, tmp_path):
    table = read_table(path, label="y", dialect={"limits": "half"})
    experiment = plan_on(table, "auc-rls", {}, Validation(), (0.0, 0.1))
    target = write_file(tmp_path / "study.toml", write_study([experiment], tmp_path))
    assert 'limits = "half"' in target.read_text(encoding="utf-8")
    (again,) = read_study(target).experiments
    assert again.id == experiment.id
    assert (
        again.id != plan_on(read_table(path, label="y"), "auc-rls", {}, Validation(), (0, 0.1)).id
    )


def test_scores_have_the_marks_of_the_input_on_request(path, tmp_path):
    model, table, scores = (tmp_path / name for name in ("m.aucmodel", "later.csv", "s.csv"))
    train = ["train", path, "--method", "auc-rls", "--save-model", model, "--quiet"]
    assert main([*map(str, train)]) == 0
    table.write_text("dose;x\n3,5;1\n4,5;0\n2,5;3\n", encoding="utf-8")
    score = ["score", str(model), str(table), "-o", str(scores), "--decimal", ","]
    for option, mark in (((), ","), (("--as-input",), ";")):
        assert main([*score, *option]) == 0
        head, first, *_ = scores.read_text(encoding="utf-8-sig").splitlines()
        assert head.split(mark)[:2] == ["row", "score"]
        assert ("," in first.split(mark)[1]) == bool(option)
