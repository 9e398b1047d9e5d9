"""SQL exports in DuckDB and SQLite against the program: missing values, dates, levels."""

import dataclasses
import datetime
import sqlite3

import duckdb
import numpy as np
import pytest

from aucstudio.engine.ensembles.combined import CombinationScorer, Part
from aucstudio.engine.scorers import EnsembleScorer
from aucstudio.project.data.preparing.preparation_choice import PreparationChoice
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text.dates import PARTS
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.final_model import calibrated
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.store.export import FORMATS, export_model
from tests.conftest import write_file
from tests.project.hand_models import SCORERS, TEXT, hand_model, model_with, prepared

ROWS = 240
EXACT = {"rtol": 1e-9, "atol": 1e-9}


def _cells(row):
    """Return a row: numbers with missing and extreme values, levels, a code, a date and a time."""
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
    """Return rows to score with missing values, levels and dates unseen in training."""
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
def test_sql_scores_like_the_program(study, tmp_path, method):
    check(model_of(study, method), tmp_path)


CHOICES = {
    "ranks": PreparationChoice(scale="quantile", impute="mean", rare=0.1),
    "normal ranks": PreparationChoice(scale="quantile-normal"),
    "marked": PreparationChoice(scale="robust", indicators=True, impute="most-frequent"),
    "as it is": PreparationChoice(scale="none"),
}


@pytest.mark.slow
@pytest.mark.parametrize("choice", CHOICES)
def test_sql_applies_the_preparation_choices(study, tmp_path, choice):
    check(model_of(study, "rls", preparation=CHOICES[choice]), tmp_path)


@pytest.mark.slow
def test_deep_trees_are_split_into_terms(study, tmp_path):
    model = model_of(study, "random-forest", {"n_trees": 20})
    assert isinstance(model.scorer, EnsembleScorer)
    check(model, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["platt", "beta", "isotonic"])
def test_sql_applies_the_calibration(study, tmp_path, kind):
    plan = plan_experiment(DataReference.to_table(study), "rls", {}, Validation(test_size=0.4))
    record = execute(plan, study)
    check(calibrated(record.splits[0].model, record, kind), tmp_path)


# ------------------------------------------------------------------ by hand


SQL_SCORERS = ("linear", "trees", "additive", "no function", "viewed", "combination")


@pytest.fixture
def hand_table(tmp_path):
    return read_table(write_file(tmp_path / "hand.csv", TEXT), need_label=False)


def run_both(model, table):
    """Run the statement of a model on a table in both databases; returns two lists of rows."""
    found, statement = [], FORMATS["sql"].write(model).decode()
    names = [*model.preparation.numbers, "zone", "town"]
    towns = [line.rpartition(",")[2] for line in TEXT.splitlines()[1:]]
    towns[1] = 'so"uth\\'
    numbers = [table.column(name).values.tolist() for name in ("x", "y", "zone")]
    rows = [
        [None if cell != cell else cell for cell in row]
        for row in zip(*numbers, towns, strict=True)
    ]
    columns = [f"""{'"' + name.replace('"', '""') + '"'} DOUBLE""" for name in names[:-1]]
    for connect in (duckdb.connect, sqlite3.connect):
        connection = connect(":memory:")
        connection.execute(f"CREATE TABLE cases ({', '.join(columns)}, town TEXT)")
        connection.executemany("INSERT INTO cases VALUES (?, ?, ?, ?)", rows)
        found.append(connection.execute(statement).fetchall())
        connection.close()
    return found


@pytest.mark.parametrize("name", SQL_SCORERS)
def test_every_supported_scorer_type_scores_in_sql(name, hand_table):
    model = hand_model(name)
    expected = model.score(hand_table)
    for found in run_both(model, hand_table):
        assert [row[-1] for row in found] == model.predicted(expected).tolist()
        np.testing.assert_allclose([row[-2] for row in found], expected, **EXACT)


def test_names_cannot_become_statements(hand_table):
    names = ('x" FROM cases; DROP TABLE cases; --', "score")
    words = dict.fromkeys(("label", "positive", "negative", "trained_on"), "it's\n; DROP TABLE x")
    model = model_with(SCORERS["linear"], preparation=prepared(numbers=names), **words)
    for found in run_both(model, hand_table):
        assert len(found) == hand_table.rows
        assert {row[-1] for row in found} == {"it's\n; DROP TABLE x"}


def test_infinite_thresholds_predict_one_class(hand_table):
    for threshold, expected in ((np.inf, "no"), (-np.inf, "yes")):
        model = model_with(SCORERS["linear"], threshold=threshold)
        for found in run_both(model, hand_table):
            assert {row[-1] for row in found} == {expected}


REFUSED = {
    "kernel": SCORERS["rbf"],
    "fourier": CombinationScorer((Part(SCORERS["fourier"]),)),
    "tree nodes": EnsembleScorer(
        *(np.zeros(1, dtype=np.intp), np.zeros(60_000, dtype=np.intp), np.zeros(60_000)),
        *(np.arange(60_000), np.arange(60_000), np.zeros(60_000), 0.0),
    ),
    "prepared columns": SCORERS["linear"],
}


@pytest.mark.parametrize("reason", REFUSED)
def test_models_unsupported_by_sql_are_refused_with_a_reason(reason, tmp_path):
    model = model_with(REFUSED[reason])
    if reason == "prepared columns":
        levels = ((*map(str, range(2_000)),), ("1",))
        model = dataclasses.replace(
            model, preparation=dataclasses.replace(prepared(), levels=levels)
        )
    assert reason in FORMATS["sql"].refusal(model)
    with pytest.raises(InputError, match=reason) as refused:
        export_model(model, "sql", tmp_path / "model.sql")
    assert refused.value.setting == "to"
    assert not (tmp_path / "model.sql").exists()
    assert FORMATS["script"].refusal(model) == ""
