"""Models as SQL against the program itself: DuckDB and SQLite, missing values, dates, levels."""

import dataclasses
import datetime
import sqlite3

import duckdb
import numpy as np
import pytest

from aucstudio.engine.ensembles.combined import CombinationScorer, Part
from aucstudio.engine.ensembles.remapped import View, ViewedScorer
from aucstudio.engine.features.splines import AdditiveScorer
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.scorers import EnsembleScorer, FourierScorer, KernelScorer, LinearScorer
from aucstudio.project.data.date_parts import PARTS
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.preparation_choice import PreparationChoice
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiments.experiment import DataReference
from aucstudio.project.runs.experiments.planning import plan_experiment
from aucstudio.project.runs.models.calibrating import calibrated
from aucstudio.project.runs.models.model import Model
from aucstudio.project.store.export import FORMATS, export_model

ROWS = 240
EXACT = {"rtol": 1e-9, "atol": 1e-9}


def _cells(row):
    """Return a row: numbers with gaps and a far one, levels, a code, a date and a time of day."""
    rng = np.random.default_rng(row)
    day = datetime.datetime(1968, 12, 30) + datetime.timedelta(days=37 * row, seconds=977 * row)
    return {
        "dose": None if row % 11 == 3 else -999.0 if row % 17 == 5 else round(rng.normal(4, 2), 3),
        "age": int(rng.integers(20, 90)) if row % 7 else None,
        "town": ("Bern", "Chur", 'O\'Hara "x"', None)[row % 4] if row % 31 else "Basel",
        "zone": None if row % 13 == 1 else (1.0, 2.5, 30.0)[row % 3],
        "seen": None if row % 19 == 2 else day,
        "clock": None if row % 23 == 2 else (day + datetime.timedelta(minutes=row)).time(),
        "label": "yes" if (rng.normal() + row % 3 + (row % 4 == 1)) > 1.2 else "no",
    }


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return read_study(tmp_path_factory.mktemp("sql") / "study.csv")


def write_rows(path, rows):
    lines = [",".join(rows[0])]
    for row in rows:
        cells = ["" if cell is None else str(cell).replace('"', '""') for cell in row.values()]
        lines.append(",".join(f'"{cell}"' for cell in cells))
    path.write_text("\n".join(lines) + "\n")
    return path


def read_study(path):
    return read_table(
        write_rows(path, [_cells(row) for row in range(ROWS)]),
        label="label",
        positive="yes",
        roles={"zone": "category", "age": "number", "dose": "number"},
        absent={"dose": (-999.0,)},
        parts={"seen": tuple(PARTS), "clock": ("number", "hour-circle", "minute", "daytime")},
    )


def model_of(study, method, settings=None, **choices):
    reference = DataReference.to_table(study)
    plan = plan_experiment(reference, method, settings or {}, Validation(test_size=0.3), **choices)
    record = execute(plan, study)
    assert not record.error, record.error
    return record.splits[0].model


def new_rows():
    """Return rows to score: other gaps, levels and dates that training never had."""
    rows = [_cells(row) for row in range(ROWS, ROWS + 90)]
    for k, row in enumerate(rows):
        del row["label"]
        if k % 9 == 0:
            row["town"] = "Atlantis"
        if k % 10 == 0:
            row["zone"] = 7.0
        if k % 8 == 0:
            row["seen"] = datetime.datetime(2024, 2, 29, 23, 59, 59)
    return rows


def in_duckdb(rows, statement):
    connection = duckdb.connect()
    connection.execute(
        'CREATE TABLE cases (dose DOUBLE, age INTEGER, town VARCHAR, "zone" DOUBLE, '
        "seen TIMESTAMP, clock TIME)"
    )
    connection.executemany(
        "INSERT INTO cases VALUES (?, ?, ?, ?, ?, ?)", [list(row.values()) for row in rows]
    )
    return connection.execute(statement).fetchnumpy()


def in_sqlite(rows, statement):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE cases (dose REAL, age INTEGER, town, zone REAL, seen, clock)")
    cells = [
        [str(c) if isinstance(c, datetime.date | datetime.time) else c for c in row.values()]
        for row in rows
    ]
    connection.executemany("INSERT INTO cases VALUES (?, ?, ?, ?, ?, ?)", cells)
    cursor = connection.execute(statement)
    names = [described[0] for described in cursor.description]
    columns = zip(*cursor.fetchall(), strict=True)
    connection.close()
    return dict(zip(names, map(np.array, columns), strict=True))


def scored_by_program(model, rows, folder):
    path = write_rows(folder / "new.csv", rows)
    return model.score(read_table(path, need_label=False, schema=model.schema))


def check(model, folder):
    rows = new_rows()
    expected = scored_by_program(model, rows, folder)
    assert np.ptp(expected) > 0
    export_model(model, "sql", folder / "model.sql")
    statement = (folder / "model.sql").read_text(encoding="utf-8")
    for run in (in_duckdb, in_sqlite):
        found = run(rows, statement)
        np.testing.assert_allclose(found["score"].astype(float), expected, **EXACT)
        assert found["predicted"].tolist() == model.predicted(expected).tolist()
        assert found["age"].tolist()[1:6] == [row["age"] for row in rows[1:6]]
        if model.calibration is not None:
            probabilities = found["probability"].astype(float)
            np.testing.assert_allclose(probabilities, model.probabilities(expected), **EXACT)


LINEAR = ("auc-rls", "logistic")
TREES = ("gradient-boosting", "auc-split", "rankboost")
ADDITIVE = ("additive-logistic", "pauc-boost")


@pytest.mark.slow
@pytest.mark.parametrize("method", [*LINEAR, *TREES, *ADDITIVE])
def test_sql_scores_as_the_program(study, tmp_path, method):
    check(model_of(study, method), tmp_path)


CHOICES = {
    "ranks": PreparationChoice(scale="quantile", impute="mean", rare=0.1),
    "normal ranks": PreparationChoice(scale="quantile-normal"),
    "marked": PreparationChoice(scale="robust", indicators=True, impute="most-frequent"),
    "as it is": PreparationChoice(scale="none"),
}


@pytest.mark.slow
@pytest.mark.parametrize("choice", CHOICES)
def test_sql_prepares_as_was_chosen(study, tmp_path, choice):
    check(model_of(study, "rls", preparation=CHOICES[choice]), tmp_path)


@pytest.mark.slow
def test_deep_trees_are_split_into_terms(study, tmp_path):
    model = model_of(study, "random-forest", {"n_trees": 20})
    assert isinstance(model.scorer, EnsembleScorer)
    check(model, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["platt", "beta", "isotonic"])
def test_sql_calibrates(study, tmp_path, kind):
    plan = plan_experiment(DataReference.to_table(study), "rls", {}, Validation(test_size=0.4))
    record = execute(plan, study)
    check(calibrated(record.splits[0].model, record, kind), tmp_path)


# ------------------------------------------------------------------ by hand


def prepared(keep_gaps=True, names=("x", "y")):
    return Preparation(
        names,
        np.array([0.5, -1.0]),
        np.array([0.1, 2.0]),
        np.array([3.0, 0.7]),
        ("town",),
        (("north", "(missing)"),),
        keep_gaps=keep_gaps,
        lows=np.array([-50.0, -np.inf]),
        highs=np.array([np.inf, 50.0]),
    )


def model_with(scorer, **changes):
    made = Model(prepared(), scorer, 0.25, "by-hand", {}, "out", "yes", "no", "rows by hand")
    return dataclasses.replace(made, **changes)


TREES_BY_HAND = EnsembleScorer(
    roots=np.array([0, 3, 4]),
    feature=np.array([0, 0, 0, 0, 1, 0, 0]),
    threshold=np.array([0.2, 0.0, 0.0, np.inf, np.inf, 0.0, 0.0]),
    left=np.array([1, 1, 2, 3, 5, 5, 6]),
    right=np.array([2, 1, 2, 3, 6, 5, 6]),
    value=np.array([0.0, -1.5, 2.5, 0.125, 0.0, 0.25, 8.0]),
    base=0.5,
    gaps_left=np.array([True, False, False, False, False, False, False]),
)
CUBICS = AdditiveScorer(
    np.array([1, 0]),
    np.array([2, 0]),
    np.array([-1.0, 0.5]),
    np.array([0.1, 0.2, 0.3, 0.4]),
    np.random.default_rng(3).normal(size=(4, 4)),
)
FILLED = View(
    np.array([0, 1, 2, 0]),
    np.array([2.0, 1.0, 1.0, 0.0]),
    np.array([0.5, 0.0, 0.0, 0.0]),
    np.array([0.3, -0.2, 0.0, 1.0]),
)
LINE = LinearScorer(np.array([0.7, -0.2, 1.5, 3.0]))
SHARE = EnsembleScorer(
    np.array([0]),
    np.array([0, 0, 0]),
    np.array([0.1, 0.0, 0.0]),
    np.array([1, 1, 2]),
    np.array([2, 1, 2]),
    np.array([0.0, 0.2, 0.9]),
    0.0,
)
BY_HAND = {
    "trees": TREES_BY_HAND,
    "additive": CUBICS,
    "nothing": AdditiveScorer(
        np.zeros(0, dtype=np.intp),
        np.zeros(0, dtype=np.intp),
        np.zeros(0),
        np.zeros(0),
        np.zeros((0, 4)),
    ),
    "viewed": ViewedScorer(LINE, FILLED),
    "combination": CombinationScorer(
        (
            Part(TREES_BY_HAND, 0.5),
            Part(CUBICS, -2.0),
            Part(ViewedScorer(LINE, FILLED), 0.3),
            Part(SHARE, 1.5, smoothing=0.01),
        ),
        base=-0.75,
    ),
}
CELLS = {"x": [1.5, None, -60.0, 0.4], "y": [2.0, -1.0, None, 99.0]}
TOWNS = ["north", None, "Atlantis", " north "]


def run_both(statement, names=("x", "y")):
    """Run a statement on four rows in both databases; returns two lists of rows."""
    found = []
    quoted = [name.replace('"', '""') for name in names]
    for connect in (duckdb.connect, sqlite3.connect):
        connection = connect(":memory:")
        columns = f'"{quoted[0]}" DOUBLE, "{quoted[1]}" DOUBLE, town TEXT'
        connection.execute(f"CREATE TABLE cases ({columns})")
        rows = [list(row) for row in zip(*CELLS.values(), TOWNS, strict=True)]
        connection.executemany("INSERT INTO cases VALUES (?, ?, ?)", rows)
        found.append(connection.execute(statement).fetchall())
        connection.close()
    return found


@pytest.mark.parametrize("name", BY_HAND)
def test_every_kind_of_scorer_in_sql(name, tmp_path):
    model = model_with(BY_HAND[name])
    table = tmp_path / "hand.csv"
    lines = zip(*CELLS.values(), TOWNS, strict=True)
    rows = [",".join("" if cell is None else str(cell) for cell in line) for line in lines]
    table.write_text("\n".join(["x,y,town", *rows]) + "\n")
    expected = model.score(read_table(table, need_label=False))
    for found in run_both(FORMATS["sql"].write(model).decode()):
        assert [row[-1] for row in found] == model.predicted(expected).tolist()
        np.testing.assert_allclose([row[-2] for row in found], expected, **EXACT)


def test_names_cannot_become_statements():
    names = ('x" FROM cases; DROP TABLE cases; --', "score")
    words = dict.fromkeys(("label", "positive", "negative", "trained_on"), "it's\n; DROP TABLE x")
    model = model_with(LINE, preparation=prepared(keep_gaps=False, names=names), **words)
    for found in run_both(FORMATS["sql"].write(model).decode(), names):
        assert len(found) == 4
        assert {row[-1] for row in found} == {"it's\n; DROP TABLE x"}


def test_a_score_on_the_far_side_of_every_threshold_has_one_class():
    for threshold, expected in ((np.inf, "no"), (-np.inf, "yes")):
        model = model_with(LINE, preparation=prepared(keep_gaps=False), threshold=threshold)
        for found in run_both(FORMATS["sql"].write(model).decode()):
            assert {row[-1] for row in found} == {expected}


POINTS = np.ones((3, 4))
REFUSED = {
    "kernel": KernelScorer(Kernel("rbf"), POINTS, np.ones(3)),
    "fourier": CombinationScorer((Part(FourierScorer(POINTS, np.ones(3), np.ones(3))),)),
    "tree nodes": EnsembleScorer(
        *(np.zeros(1, dtype=np.intp), np.zeros(60_000, dtype=np.intp), np.zeros(60_000)),
        *(np.arange(60_000), np.arange(60_000), np.zeros(60_000), 0.0),
    ),
    "prepared columns": LinearScorer(np.zeros(4)),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_sql_cannot_hold_is_refused_with_the_reason(reason, tmp_path):
    model = model_with(REFUSED[reason])
    if reason == "prepared columns":
        levels = ((*map(str, range(2_000)),),)
        model = dataclasses.replace(
            model, preparation=dataclasses.replace(prepared(), levels=levels)
        )
    assert reason in FORMATS["sql"].refusal(model)
    with pytest.raises(InputError, match=reason) as refused:
        export_model(model, "sql", tmp_path / "model.sql")
    assert refused.value.setting == "to"
    assert not (tmp_path / "model.sql").exists()
    assert FORMATS["script"].refusal(model) == ""
