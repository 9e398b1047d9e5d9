"""Extreme cells are reported and treated as missing; columns of any scale are kept."""

import json
import tracemalloc

import numpy as np
import pytest

from aucstudio.cli import main
from aucstudio.engine import METHODS
from aucstudio.engine.roc import auc
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.preparing.preparation import learn_preparation
from aucstudio.project.data.preparing.stored import arrays_of, restored, settings_of
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.runs.rows import far_cells
from aucstudio.project.store.export import export_model
from aucstudio.project.store.model_file import load_model, save_model
from tests.conftest import small_settings
from tests.project.test_export import graph_scores, script_scores

ROWS = 160
STATA = 8.98846567431158e307


def write(path, columns):
    lines = [",".join(columns)]
    lines += [
        ",".join(cell if isinstance(cell, str) else repr(cell) for cell in row)
        for row in zip(*columns.values(), strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def study(**changes):
    """Return two informative columns and a noise column; ``changes`` edits columns."""
    rng = np.random.default_rng(1)
    positive = rng.random(ROWS) < 0.4
    columns = {
        "income": (rng.normal(size=ROWS) + 1.2 * positive).tolist(),
        "age": (rng.normal(size=ROWS) + positive).tolist(),
        "noise": rng.normal(size=ROWS).tolist(),
        "y": np.where(positive, "yes", "no").tolist(),
    }
    for name, change in changes.items():
        columns[name] = change(columns[name])
    return columns


def at(places, value):
    def change(cells):
        return [value if k in places else cell for k, cell in enumerate(cells)]

    return change


def times(factor):
    return lambda cells: [factor * cell for cell in cells]


def labels(cells):
    return ["b" if k == 1 else "a" for k in range(len(cells))]


def learnt(table, **settings):
    return learn_preparation(table, np.arange(table.rows), **settings)


# Preparation


@pytest.mark.parametrize(
    "cells",
    [
        [5.0] * 40,
        [0.0] * 99 + [1.0],
        [1.0] * 60 + [0.0] * 40,
        [0.0] * 99 + [1e300],
        [0.0] * 60 + [3.0] * 30 + [1e9] * 10,
        [1.7e9 + k for k in range(50)] + [2.5e9],
        [10.0**k for k in range(-8, 9)],
        [0.3] * 30 + [0.1 + 0.2] * 30 + [1.0, 50.0],
        [1e300 * k for k in range(1, 40)],
        [5e-324 * k for k in range(40)],
        [-1.7e308, -1e308, 1e308, 1.7e308],
    ],
)
def test_columns_of_any_scale_have_no_far_cells(tmp_path, cells):
    path = write(tmp_path / "t.csv", {"x": cells, "y": labels(cells)})
    table = read_table(path, roles={"x": "number"})
    found = learnt(table)
    assert far_cells(found, table) == ()
    X = found.apply(table)[:, 0]
    assert np.isfinite(X).all()
    assert len(np.unique(X)) == len({f"{cell:.12g}" for cell in cells})
    assert (np.diff(X[np.argsort(cells)]) >= 0).all()
    if len(set(cells)) > 1:
        # The mean of denormal numbers is rounded to one of them.
        atol = 1e-6 if max(cells) > 1e-300 else 0.05
        np.testing.assert_allclose([X.mean(), X.std()], [0, 1], atol=atol)


@pytest.mark.parametrize(
    ("cells", "far"),
    [
        ([*range(50), STATA], [50]),
        ([-STATA, *range(50)], [0]),
        ([*range(30), STATA, *range(9), STATA, STATA], [30, 40, 41]),
        ([0.0] * 90 + [1.0, 2.0, 3.0, 1e30], [93]),
        ([7.0] * 90 + [8.0, 1e30], [91]),
        ([1e-300 * k for k in range(40)] + [1.0], [40]),
        ([1.7e9 + k for k in range(50)] + [1e300], [50]),
    ],
)
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_extreme_cell_is_treated_as_missing(tmp_path, cells, far, where):
    path = write(tmp_path / "t.csv", {"x": cells, "y": labels(cells)})
    table = read_table(path, roles={"x": "number"})
    other = [cell for k, cell in enumerate(cells) if k not in far]
    emptied = ["" if k in far else cell for k, cell in enumerate(cells)]
    rest = {"x": emptied, "y": labels(cells)}
    clean = read_table(write(tmp_path / "rest.csv", rest), roles={"x": "number"})
    if where == "disk":
        stream = open_stream(path, roles={"x": "number"}, block_bytes=200)
        found = learn_preparation(stream, np.arange(len(cells)))
        (named,) = far_cells(found, stream)
        stream.close()
    else:
        found = learnt(table)
        (named,) = far_cells(found, table)
    assert (named.column, named.count, named.row) == ("x", len(far), far[0] + 1)
    assert named.value == cells[far[0]]
    X = found.apply(table)
    assert len(np.unique(np.delete(X[:, 0], far))) == len(set(other))
    filled = (found.medians - found.means) / found.scales
    np.testing.assert_array_equal(X[far, 0], filled.repeat(len(far)))
    keeps = restored({**settings_of(found), "keep_gaps": True}, arrays_of(found))
    assert np.isnan(keeps.apply(table)[far, 0]).all()
    # All but the median is fitted as if the cell were empty.
    np.testing.assert_allclose(found.scales, learnt(clean).scales, rtol=0.1)


@pytest.mark.parametrize(
    "cells",
    [
        # A computed rare attribute: rounding errors in place of zeros.
        [(-1) ** k * 1e-17 * (1 + k % 3) for k in range(80)] + [1.0] * 20,
        [0.001 * k for k in range(70)] + [1e30 * k for k in range(30)],
    ],
)
def test_values_of_many_cells_are_not_far(tmp_path, cells):
    path = write(tmp_path / "t.csv", {"x": cells, "y": labels(cells)})
    table = read_table(path, roles={"x": "number"})
    found = learnt(table)
    assert far_cells(found, table) == ()
    assert found.apply(table)[-1, 0] > found.apply(table)[0, 0]


def test_impossibly_large_values_are_far_at_any_frequency(tmp_path):
    cells = [0.1 * k for k in range(80)] + [STATA] * 20
    table = read_table(write(tmp_path / "t.csv", {"x": cells, "y": labels(cells)}))
    (named,) = far_cells(learnt(table), table)
    assert (named.count, named.row) == (20, 81)


def test_prepared_row_does_not_depend_on_other_rows(tmp_path):
    table = read_table(
        write(tmp_path / "t.csv", study(income=at([3, 70], STATA), age=times(1e300)))
    )
    found = learn_preparation(table, np.arange(100))
    whole = found.apply(table)
    for rows in ([3], [70, 2], range(150, 90, -7)):
        np.testing.assert_array_equal(found.apply(table, np.array(rows)), whole[list(rows)])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"income": at([5], STATA)},
        {"income": times(1e300), "age": times(1e-300), "noise": times(5e-324 * 2**20)},
        {"income": lambda cells: [1.0 * (c > 1.5) for c in cells], "age": at([1, 2], -1e200)},
        {"noise": lambda cells: [1.0 * (c > -3) for c in cells]},
    ],
)
@pytest.mark.parametrize("block_bytes", [700, 10**6])
def test_limits_on_disk_equal_those_in_memory(tmp_path, changes, block_bytes):
    path = write(tmp_path / "t.csv", study(**changes))
    roles = dict.fromkeys(("income", "age", "noise"), "number")
    table, stream = (
        read_table(path, roles=roles),
        open_stream(path, roles=roles, block_bytes=block_bytes),
    )
    rows = np.random.default_rng(0).permutation(ROWS)[:101]
    whole, parts = learn_preparation(table, rows), learn_preparation(stream, rows)
    assert far_cells(whole, table) == far_cells(parts, stream)
    stream.close()
    for name in ("medians", "lows", "highs"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    np.testing.assert_allclose(
        parts.means / whole.units, whole.means / whole.units, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(parts.scales, whole.scales, rtol=1e-9)


# Methods

WILD = {
    "one huge cell": ({"income": at([16], STATA)}, True),
    "huge cells in all columns": (
        {"income": at([16], 1e300), "age": at([3, 80], -1e308), "noise": at([99], 1e36)},
        True,
    ),
    "a column at 1e300": ({"income": times(1e300)}, False),
    "a column at 1e-300": ({"income": times(1e-300)}, False),
    "a column of denormals": ({"income": times(5e-324 * 2**20)}, False),
    "a column at 1e307": ({"income": times(1e307)}, False),
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Return a function that runs a method on a table once: the AUC and the notes of the run."""
    folder, tables, found = tmp_path_factory.mktemp("far"), {}, {}

    def run(method, name):
        if name not in tables:
            changes, _ = WILD.get(name, ({}, False))
            path = write(folder / f"{len(tables)}.csv", study(**changes))
            tables[name] = read_table(path, label="y", positive="yes")
        if (method, name) not in found:
            table = tables[name]
            small = small_settings(method)
            data = DataReference.to_table(table)
            record = execute(plan_experiment(data, method, small, Validation(test_size=0.5)), table)
            assert record.status == "done", record.error
            (split,) = record.splits
            scores = np.concatenate([split.train_scores, split.test_scores])
            assert len(np.unique(scores)) > 3 or method == "auc-split"
            area = auc(split.test_positive, split.test_scores)
            found[method, name] = area, [note.code for note in record.notes]
        return found[method, name]

    return run


@pytest.mark.slow
# Methods that use scores as given are excluded.
@pytest.mark.parametrize("method", [key for key in METHODS if not METHODS[key].as_given])
@pytest.mark.parametrize("wild", WILD)
def test_every_method_is_robust_to_far_cells(outcome, method, wild):
    _, has_far = WILD[wild]
    (before, notes), (after, noted) = outcome(method, "clean"), outcome(method, wild)
    assert abs(after - before) < 0.05, (before, after)
    assert not any(code.startswith("far_cell") for code in notes)
    assert any(code.startswith("far_cell") for code in noted) == has_far


def test_run_notes_the_far_cell_and_its_row(tmp_path):
    path = write(tmp_path / "t.csv", study(income=at([16], STATA)))
    path.write_text(path.read_text().replace("\n", "\n1,2\n", 1))
    table = read_table(path, label="y")
    validation = Validation("folds", folds=3)
    record = execute(
        plan_experiment(DataReference.to_table(table), "auc-rls", {}, validation), table
    )
    said = [str(note) for note in record.notes if note.code.startswith("far_cell")]
    assert said == [
        "Column income: 1 cell (8.98847e+307, row 18) is too far from the others to compute with "
        "and is taken as missing."
    ]


# Stored and exported models


@pytest.fixture
def wild_model(tmp_path):
    columns = study(income=at([16, 40], STATA), age=times(1e300), noise=times(5e-324 * 2**30))
    path = write(tmp_path / "t.csv", columns)
    table = read_table(path, label="y", positive="yes")
    given = plan_experiment(DataReference.to_table(table), "auc-rls", {}, Validation(test_size=0.5))
    model = execute(given, table).splits[0].model
    scores = model.score(table)
    assert len(np.unique(scores)) > ROWS - 5
    return path, table, model, scores


def test_model_file_stores_the_limits(wild_model, tmp_path):
    _, table, model, scores = wild_model
    save_model(model, tmp_path / "m.aucmodel")
    np.testing.assert_array_equal(load_model(tmp_path / "m.aucmodel").score(table), scores)


def test_script_applies_the_limits(wild_model, tmp_path):
    path, _, model, scores = wild_model
    np.testing.assert_allclose(script_scores(model, path, tmp_path), scores, rtol=1e-12)


def test_onnx_graph_applies_the_limits(wild_model, tmp_path):
    _, table, model, scores = wild_model
    np.testing.assert_allclose(graph_scores(model, table, tmp_path), scores, rtol=1e-10)


def test_json_document_contains_the_limits(wild_model, tmp_path):
    _, _, model, _ = wild_model
    export_model(model, "json", tmp_path / "m.json")
    (income, *_) = json.loads((tmp_path / "m.json").read_text())["preparation"]["numbers"]
    assert (income["low"], income["high"]) == (
        model.preparation.lows[0],
        model.preparation.highs[0],
    )


def test_scoring_reports_far_cells(wild_model, tmp_path, capsys):
    path, _, model, _ = wild_model
    save_model(model, tmp_path / "m.aucmodel")
    assert main(["score", str(tmp_path / "m.aucmodel"), str(path), "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["far"] == [
        {"column": "income", "count": 2, "value": STATA, "row": 17}
    ]
    assert "Column income: 2 cells (the first 8.98847e+307, row 17) are too far" in said.err


# Memory of long texts


@pytest.mark.slow
def test_one_long_text_does_not_inflate_memory(tmp_path):
    texts = ["x" * 5_000, *["ab", "cd"] * 5_000]
    columns = {"text": texts, "y": [str(k % 2) for k in range(len(texts))]}
    path = write(tmp_path / "t.csv", columns)
    table = read_table(path, label="y", roles={"text": "category"})
    found = learnt(table)
    assert found.levels == (("ab", "cd", "x" * 5_000),)
    assert found.apply(table)[0].tolist() == [0.0, 0.0, 1.0]
    tracemalloc.start()
    learnt(table).apply(table)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * len(texts)
