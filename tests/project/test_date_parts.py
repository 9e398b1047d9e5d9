"""Date parts as columns: against Python's calendar, and equal in memory, on disk and exported."""

import csv
import dataclasses
import datetime
import json
import math
import random
import re
import runpy
import subprocess
import sys
import time

import numpy as np
import openpyxl
import pytest

from aucstudio.engine import roc
from aucstudio.project.data import text as vocabulary
from aucstudio.project.data.columns import spell_cell
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.preparing.preparation import learn_preparation
from aucstudio.project.data.preparing.preparation_choice import PreparationChoice
from aucstudio.project.data.preparing.stored import arrays_of, settings_of
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.dates import (
    CIRCLES,
    PARTS,
    WHOLE,
    DatePart,
    date_part,
    part_columns,
)
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.explain.contributions import explain_pair, explain_row
from aucstudio.project.explain.effects import score_curve
from aucstudio.project.explain.importance import permutation_importance
from aucstudio.project.explain.trees import condition, read_tree
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference, Experiment
from aucstudio.project.runs.experiment_file import read_study, write_study
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.runs.scoring import score_file
from aucstudio.project.store.export import export_model
from aucstudio.project.store.model_file import load_model, save_model
from tests.conftest import write_file, write_parquet

CALENDAR = {
    "year": lambda d: d.year,
    "quarter": lambda d: (d.month + 2) // 3,
    "month": lambda d: d.month,
    "week": lambda d: d.isocalendar()[1],
    "day": lambda d: d.day,
    "yearday": lambda d: d.timetuple().tm_yday,
    "weekday": lambda d: d.isoweekday(),
    "weekend": lambda d: d.isoweekday() > 5,
    "hour": lambda d: d.hour,
    "minute": lambda d: d.minute,
    "daytime": lambda d: d.hour // 6,
}
ALL = tuple(PARTS)
LAYOUT = {"dmy": "%d.%m.%Y %H:%M", "mdy": "%m/%d/%Y %H:%M", "iso": "%Y-%m-%d %H:%M"}


def moments(count, first=1000, last=9998, seed=5):
    draw = random.Random(seed)
    for _ in range(count):
        day = datetime.datetime(draw.randint(first, last), 1, 1, tzinfo=datetime.UTC)
        seconds = draw.choice((0, 86_399, draw.randrange(86_400)))
        yield day + datetime.timedelta(days=draw.randrange(366), seconds=seconds)


@pytest.mark.parametrize("zone", [0, 330, -570])
def test_date_parts_match_the_calendar_over_centuries(zone):
    shift = datetime.timezone(datetime.timedelta(minutes=zone))
    known = list(moments(4000))
    cells = [dates.read(d.astimezone(shift).isoformat().lower(), "y-m-d") for d in known]
    for part, of in CALENDAR.items():
        expected = [float(of(d)) for d in known]
        np.testing.assert_array_equal(date_part(np.array(cells), part, clock=False), expected)
    for key, (first, steps) in CIRCLES.items():
        for turn, wave in (("sine", math.sin), ("cosine", math.cos)):
            turns = [2 * math.pi * (CALENDAR[key](d) - first) / steps for d in known]
            found = date_part(np.array(cells), f"{key} {turn}", clock=False)
            np.testing.assert_allclose(found, [wave(t) for t in turns], atol=1e-12)


def test_date_parts_of_leap_days_year_ends_and_invalid_dates():
    days = [
        (datetime.date(2024, 2, 29), 9, 60),
        (datetime.date(1900, 2, 28), 9, 59),
        (datetime.date(2021, 1, 3), 53, 3),
        (datetime.date(2018, 12, 31), 1, 365),
    ]
    cells = np.array([(day - datetime.date(1970, 1, 1)).days for day, *_ in days], dtype=float)
    assert date_part(cells, "week", clock=False).tolist() == [week for _, week, _ in days]
    assert date_part(cells, "yearday", clock=False).tolist() == [day for *_, day in days]
    strange = np.array([math.nan, math.inf, -math.inf, 1e300, -4e6])
    for part in (one for chosen in PARTS if chosen != WHOLE for one in part_columns(chosen)):
        assert np.isnan(date_part(strange, part, clock=False)).all()
    clocks = np.array(
        [dates.read(cell, "h:m") for cell in ("00:00", "5:59 pm", "24:10", "11:59:59")]
    )
    assert date_part(clocks, "hour", clock=True).tolist() == [0, 17, 0, 11]
    assert date_part(clocks, "minute", clock=True).tolist() == [0, 59, 10, 59]
    assert date_part(clocks, "daytime", clock=True).tolist() == [0, 2, 0, 1]


def write_days(path, layout="dmy", rows=160, gaps=True):
    """Write a table whose label depends on weekend and hour, with old and missing dates."""
    draw = random.Random(2)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["admitted", "x", "label"])
        for k, d in enumerate(moments(rows, 1880, 2030, seed=1)):
            case = (d.isoweekday() > 5 or d.hour < 5) != (draw.random() < 0.1)
            cell = "" if gaps and k % 17 == 3 else d.strftime(LAYOUT[layout])
            out.writerow([cell, f"{draw.random():.3f}", int(case)])
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write_days(tmp_path_factory.mktemp("days") / "days.csv")


def days(path, parts=ALL):
    return read_table(path, label="label", positive="1", parts={"admitted": parts})


def model_of(table, method="auc-rls", preparation=None, **settings):
    plan = plan_experiment(
        DataReference.to_table(table), method, settings, Validation(test_size=0.4)
    )
    if preparation is not None:
        plan = Experiment.from_json({**plan.as_json(), "preparation": preparation.given()})
    return execute(plan, table)


def scores(model, path):
    found = []
    score_file(model, path, lambda _rows, _cells, part: found.append(part))
    return np.concatenate(found)


def test_date_becomes_a_column_for_each_part(file):
    table = days(file, ["weekend", "number", "hour-circle"])
    assert table.column("admitted").parts == ("number", "weekend", "hour-circle")
    rows = np.arange(table.rows)
    learnt = learn_preparation(table, rows, PreparationChoice(indicators=True))
    names = ["admitted", "admitted: weekend", "admitted: hour sine", "admitted: hour cosine"]
    assert learnt.feature_names == [*names, "x", "admitted = missing"]
    assert learnt.columns == ("admitted", "x")
    X = learnt.apply(table)
    missing = np.isnan(table.column("admitted").values)
    np.testing.assert_array_equal(X[:, -1], missing)
    weekend = learnt.in_own_unit(1, X[:, 1])
    expected = [float(d.isoweekday() > 5) for d in moments(table.rows, 1880, 2030, seed=1)]
    np.testing.assert_allclose(weekend[~missing], np.array(expected)[~missing], atol=1e-12)
    assert np.unique(np.round(weekend[missing], 9)).tolist() == [0.0]
    same = days(file, [WHOLE])
    assert same.column("admitted").parts == ()
    assert learn_preparation(same, rows).numbers == ("admitted", "x")


def test_missing_code_dates_have_no_parts(file):
    table = days(file, ["weekday"])
    first = float(table.column("admitted").values[0])
    table = table.with_roles(absent={"admitted": [first]})
    learnt = learn_preparation(table, np.arange(table.rows), PreparationChoice(indicators=True))
    assert learnt.apply(table)[0, -1] == 1.0


def test_preparation_on_disk_equals_that_in_memory(file):
    table = days(file)
    with_blocks = open_stream(
        file, label="label", positive="1", parts={"admitted": ALL}, block_bytes=4000
    )
    rows = np.arange(0, table.rows, 2)
    here, there = learn_preparation(table, rows), learn_preparation(with_blocks, rows)
    assert settings_of(here) == settings_of(there)
    for name, array in arrays_of(here).items():
        np.testing.assert_allclose(arrays_of(there)[name], array, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("scale", ["standard", "quantile", "none"])
def test_every_export_scores_like_the_model(file, tmp_path, scale):
    table = days(file)
    choice = PreparationChoice(indicators=True, scale=scale)
    model = model_of(table, preparation=choice).splits[0].model
    save_model(model, tmp_path / "m.aucmodel")
    again = load_model(tmp_path / "m.aucmodel")
    assert again.schema.parts == {"admitted": ALL}
    expected = model.score(table)
    np.testing.assert_array_equal(again.score(table), expected)
    export_model(again, "script", tmp_path / "m.py")
    done = subprocess.run(
        [sys.executable, "-I", tmp_path / "m.py", file], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = [float(row["score"]) for row in csv.DictReader(done.stdout.splitlines())]
    np.testing.assert_allclose(found, expected, rtol=1e-12)

    export_model(again, "json", tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    listed = {number["name"]: number for number in document["preparation"]["numbers"]}
    assert listed["admitted: week"]["part"] == {"column": "admitted", "part": "week"}
    explanations = "\n".join(document["how"])
    assert "The cell of 'admitted' is: days since 1970-01-01 in UTC" in explanations
    assert (
        "'admitted: weekday' is: 1 for Monday to 7 for Sunday; from the column admitted"
        in explanations
    )


def test_script_reads_timestamps_bit_for_bit(tmp_path):
    path = tmp_path / "t.csv"
    draw = random.Random(3)
    # Near 1970 a double resolves every digit of a second.
    cells = (
        f"1970-01-01T{k % 24:02d}:43:14.{draw.randrange(10**9):09d}-04:00,{k},{k % 2}"
        for k in range(200)
    )
    path.write_text("at,x,y\n" + "\n".join(cells))
    table = read_table(path, label="y", positive="1")
    model = model_of(table).splits[0].model
    export_model(model, "script", tmp_path / "m.py")
    script = runpy.run_path(str(tmp_path / "m.py"))
    with path.open(encoding="utf-8") as file:
        texts = [row["at"] for row in csv.DictReader(file)]
    read = script["read_numbers"]("at", texts, ".")
    np.testing.assert_array_equal(read, table.column("at").values)


def test_script_reads_dates_in_another_layout(file, tmp_path):
    model = model_of(days(file, ["number", "weekend"])).splits[0].model
    export_model(model, "script", tmp_path / "m.py")
    later = write_days(tmp_path / "later.csv", "mdy")

    def run(*options):
        command = [sys.executable, "-I", tmp_path / "m.py", later, *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = run()
    assert (done.returncode, done.stdout) == (2, "")
    assert '(try --date "admitted=m/d/y")' in done.stderr
    expected = model.score(days(file, ["number", "weekend"]))
    for layout in ("m/d/y", "admitted=m/d/y"):
        done = run("--date", layout)
        assert (done.returncode, done.stderr) == (0, "")
        found = [float(row["score"]) for row in csv.DictReader(done.stdout.splitlines())]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    for unknown in ("x=m/d/y", "admitted=h:m"):
        done = run("--date", unknown)
        assert (done.returncode, done.stdout) == (2, "")
        assert "such as d.m.y" in done.stderr
        assert "Columns of dates: admitted" in done.stderr


def test_script_reads_month_names_of_all_languages(tmp_path):
    path = tmp_path / "t.csv"
    cells = [f"{k % 28 + 1}. {('März', 'Oktober', 'Mai')[k % 3]} 2014" for k in range(60)]
    path.write_text("at,y\n" + "".join(f"{cell},{k % 2}\n" for k, cell in enumerate(cells)))
    table = read_table(path, label="y", positive="1")
    export_model(model_of(table).splits[0].model, "script", tmp_path / "m.py")
    script = runpy.run_path(str(tmp_path / "m.py"))
    read = script["read_numbers"]("at", cells, ".")
    np.testing.assert_array_equal(read, table.column("at").values)
    assert script["MONTHS"] == tuple(vocabulary.words("dates", "months"))


def test_forward_note_appears_only_for_parts_that_grow_with_time(file):
    validation = Validation(scheme="forward", time="admitted", folds=3)
    for parts, is_beyond in (((WHOLE,), True), (("weekday", "year"), True), (("hour",), False)):
        table = days(file, parts)
        plan = plan_experiment(DataReference.to_table(table), "auc-rls", {}, validation)
        codes = [note.code for note in execute(plan, table).notes]
        assert "forward" in codes
        assert ("forward_trains_on_time" in codes) == is_beyond


def test_onnx_graph_takes_each_part_as_an_input(file, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    table = days(file, ["month-circle", "weekend", "hour"])
    model = model_of(table).splits[0].model
    export_model(model, "onnx", tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    inputs = pytest.importorskip("onnx").load(tmp_path / "m.onnx").graph.input
    explanations = json.loads(session.get_modelmeta().custom_metadata_map["inputs"])
    assert explanations["admitted: weekend"].startswith(
        "1 on Saturday and Sunday, else 0; from the column"
    )
    cells = table.column("admitted").values
    given = {
        one.name: (
            table.column("x").values
            if one.name == "x"
            else date_part(cells, one.name.partition(": ")[2], clock=False)
        )[:, None]
        for one in session.get_inputs()
    }
    assert set(explanations) == set(given) - {"x"}
    assert {one.name: one.doc_string for one in inputs} == {"x": "", **explanations}
    score = session.run(["score"], given)[0]
    np.testing.assert_allclose(np.ravel(score), model.score(table), rtol=1e-10)


def test_experiment_files_keep_the_date_parts(file, tmp_path):
    table = days(file, ["weekday", "hour"])
    record = model_of(table)
    plain = model_of(days(file, [WHOLE])).experiment
    experiment = record.experiment
    assert experiment.id != plain.id
    assert Experiment.from_json(experiment.as_json()) == experiment
    again = experiment.data.open()
    assert again.parts == {"admitted": ("weekday", "hour")}
    assert experiment.data.seen(read_table(file, label="label")).parts == again.parts
    assert plain.data.seen(again).parts == {}
    path = write_file(tmp_path / "study.toml", write_study([experiment], tmp_path))
    assert read_study(path).experiments[0].id == experiment.id


@pytest.mark.slow
def test_table_to_score_is_read_with_the_same_parts(file, tmp_path):
    model = model_of(days(file)).splits[0].model
    expected = model.score(days(file))
    np.testing.assert_array_equal(scores(model, file), expected)
    for layout, name in (("iso", "days.csv"), ("iso", "days.parquet"), ("dmy", "days.xlsx")):
        other = as_format(write_days(tmp_path / "other.csv", layout), tmp_path / name)
        np.testing.assert_array_equal(scores(model, other), expected, err_msg=str(other))
    # Only the layout of the training table distinguishes day from month.
    swapped = write_days(tmp_path / "swapped.csv", "mdy", gaps=False)
    seen = read_table(swapped, need_label=False, schema=model.schema)
    days_read = [d for d in moments(160, 1880, 2030, seed=1) if d.day <= 12]
    assert seen.column("admitted").missing == 160 - len(days_read)
    assert seen.unreadable["admitted"].count == 160 - len(days_read)


def as_format(source, path):
    """Write a table of texts in a format with typed dates."""
    if path.suffix == ".parquet":
        cells = f"SELECT * REPLACE (admitted::TIMESTAMP AS admitted) FROM read_csv('{source}')"
        write_parquet(path, cells)
    elif path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for k, row in enumerate(csv.reader(source.read_text().splitlines())):
            day = row[0]
            # Excel has no days before 1900.
            if k and day and int(day[6:10]) > 1900:
                day = datetime.datetime.strptime(day, LAYOUT["dmy"])
            book.active.append([day or None, *(float(c) if k else c for c in row[1:])])
        book.save(path)
    else:
        path.write_bytes(source.read_bytes())
    return path


@pytest.mark.parametrize("reader", [read_table, open_stream])
def test_date_and_time_types_of_parquet_are_read(tmp_path, reader):
    path = tmp_path / "t.parquet"
    kinds = {
        "day": "DATE '1850-02-28' + i::INT",
        "moment": "TIMESTAMP '2024-02-29 23:30:00.25' + i::INT * INTERVAL 1 HOUR",
        "zoned": "TIMESTAMPTZ '2024-02-29 23:30:00+02:00' + i::INT * INTERVAL 1 HOUR",
        "clock": "TIME '08:15:30' + i::INT * INTERVAL 1 MINUTE",
        "gap": "CASE WHEN i > 30 THEN DATE '2024-01-01' END",
        "y": "i % 2",
    }
    cells = ", ".join(f"{sql} AS {name}" for name, sql in kinds.items())
    write_parquet(path, f"SELECT {cells} FROM range(40) t(i)")
    table = reader(path, label="y", parts={"clock": ["hour"], "day": ["number", "year"]})
    assert [c.is_date for c in table.columns] == [True, True, True, True, True, False]
    (_, window), *_ = table.windows(100, [c.name for c in table.columns])
    first = {c.name: spell_cell(c, c.values[35]) for c in window.columns[:5]}
    assert first["day"] == "1850-04-04"
    assert first["moment"] == "2024-03-02 10:30"
    assert first["zoned"] == "2024-03-02 08:30"
    assert first["clock"] == "08:50:30"
    assert first["gap"] == "2024-01-01"
    assert window.column("gap").missing == 31 or np.isnan(window.column("gap").values).sum() == 31
    again = reader(path, schema=table.schema)
    assert again.parts == {"clock": ("hour",), "day": ("number", "year")}
    assert again.schema.as_json() == table.schema.as_json()


@pytest.mark.parametrize("reader", [read_table, open_stream])
def test_parquet_dates_do_not_depend_on_the_time_zone(tmp_path, monkeypatch, reader):
    path = tmp_path / "t.parquet"
    # Until 1893 clocks in Berlin were 53 minutes and 28 seconds ahead of Greenwich.
    cells = "TIMESTAMPTZ '1850-01-01 12:00:00+00' + i::INT * INTERVAL 1 DAY AS moment, i % 2 AS y"
    clock = "(TIME '22:15' + i::INT * INTERVAL 1 MINUTE)::TIMETZ AS clock"
    write_parquet(path, f"SELECT {cells}, {clock} FROM range(40) t(i)")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        table = reader(path, label="y")
        (_, window), *_ = table.windows(100, ["moment", "clock"])
    finally:
        monkeypatch.undo()
        time.tzset()
    moments_read, clocks = (column.values for column in window.columns)
    noon = (datetime.date(1850, 1, 1) - datetime.date(1970, 1, 1)).days + 0.5
    np.testing.assert_array_equal(moments_read, noon + np.arange(40))
    np.testing.assert_allclose(clocks, 22.25 + np.arange(40) / 60, rtol=1e-15)


@pytest.mark.parametrize("reader", [read_table, open_stream])
def test_parquet_column_names_do_not_clash_with_internal_ones(tmp_path, reader):
    cells = "DATE '2024-01-01' + i::INT AS T, 5 * i AS c0, 7 * i AS place, i % 2 AS y"
    path = write_parquet(tmp_path / "t.parquet", f"SELECT {cells} FROM range(40) t(i)")
    table = reader(path, label="y")
    (_, window), *_ = table.windows(100, ["T", "c0", "place"])
    assert [column.values[1] for column in window.columns] == [19724.0, 5.0, 7.0]


def test_numeric_column_is_not_accepted_as_dates(tmp_path):
    file = write_days(tmp_path / "days.csv", gaps=False)
    model = model_of(days(file)).splits[0].model
    odd = write_file(tmp_path / "numbers.csv", "admitted,x\n" + "17000,0.5\n" * 40)
    with pytest.raises(InputError, match="none of its cells can be read as dates"):
        scores(model, odd)
    numbers = "SELECT 20200131 AS admitted, 0.5 AS x FROM range(40)"
    with pytest.raises(InputError, match="none of its cells can be read as dates"):
        scores(model, write_parquet(tmp_path / "n.parquet", numbers))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"admitted": ["wekday"]}, "did you mean 'weekday'"),
        ({"x": ["year"]}, "column 'x' of .* holds no dates"),
        ({"label": ["year"]}, "column 'label' of .* holds no dates"),
        ({"gone": ["year"]}, "has no column 'gone'"),
    ],
)
def test_parts_of_unsuitable_columns_are_refused(file, parts, words):
    with pytest.raises(InputError, match=words):
        read_table(file, label="label", parts=parts)


def test_times_and_months_have_only_their_own_parts(tmp_path):
    path = tmp_path / "t.csv"
    lines = (f"{k % 24}:15,2020-{k % 12 + 1:02d},{k % 9},{k % 2}" for k in range(60))
    path.write_text("at,month,x,y\n" + "\n".join(lines))
    table = read_table(path, label="y", parts={"at": ["hour", "daytime"], "month": ["quarter"]})
    learnt = learn_preparation(table, np.arange(60))
    hours = learnt.in_own_unit(0, learnt.apply(table)[:, 0])
    np.testing.assert_allclose(hours, np.arange(60) % 24, atol=1e-9)
    with pytest.raises(InputError, match="'year' is no part of times of day alone"):
        read_table(path, label="y", parts={"at": ["year"]})
    with pytest.raises(InputError, match="'weekday' is no part of months alone"):
        read_table(path, label="y", parts={"month": ["weekday"]})


def test_part_named_like_another_column_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    lines = (f"2020-{k % 12 + 1:02d}-01,{k % 9},{k % 2}" for k in range(60))
    path.write_text("day,day: month,y\n" + "\n".join(lines))
    with pytest.raises(InputError, match="has a column 'day: month' already"):
        read_table(path, label="y", parts={"day": ["month"]})


def test_unknown_part_in_a_schema_is_refused(file):
    document = days(file).schema.as_json()
    document["columns"][0]["parts"] = ["century"]
    with pytest.raises(InputError, match="column 'admitted' has parts century"):
        Schema.from_json(document)


def test_explanations_cover_each_date_part(file):
    table = days(file, ["weekend", "hour-circle"])
    record = model_of(table)
    model = record.splits[0].model
    found = permutation_importance(record, table, (0.0, 1.0), repeats=2)
    assert found.columns == ("admitted: weekend", "admitted: hour-circle", "x")
    X = model.preparation.apply(table)
    curve = score_curve(model, X, "admitted: hour-circle")
    assert curve.x.tolist() == list(range(24))
    whole = model_of(days(file, [WHOLE, "year"])).splits[0].model
    assert score_curve(whole, whole.preparation.apply(table), "admitted").layout == "d.m.y"
    assert score_curve(whole, whole.preparation.apply(table), "admitted: year").layout == ""
    assert curve.y[2] > curve.y[12]
    pair = explain_pair(table, model, (0, 1))
    cells = {part.column: part.cells for part in pair.parts}
    assert cells["admitted: hour-circle"] == cells["admitted: weekend"]
    assert pair.interplay == pytest.approx(0.0, abs=1e-9)
    row = explain_row(table, model, 0, np.arange(table.rows))
    assert {part.column for part in row.parts} == {"admitted", "x"}
    assert sum(part.contribution for part in row.parts) == pytest.approx(row.score - row.mean)


def test_tree_conditions_show_dates(file):
    table = days(file, [WHOLE, "hour"])
    split = model_of(table, "gradient-boosting").splits[0]
    learnt, layouts = split.model.preparation, split.model.schema.layouts
    assert layouts == {"admitted": "d.m.y"}
    start = (np.array([0.0]) - learnt.means[0]) / learnt.scales[0]  # 1970-01-01, prepared
    assert condition(learnt, 0, float(start[0]), layouts).startswith("admitted ≤ 1970-01-01")
    assert condition(learnt, 1, 0.0, layouts).startswith("admitted: hour ≤ ")
    rows = learnt.apply(table, split.train_rows)
    root = read_tree(split.model.scorer, 0, learnt, rows, split.train_positive, layouts)
    assert "≤" in root.condition


@pytest.mark.parametrize("clock", ["", " 06:30"])
def test_tree_conditions_on_days_have_no_time(tmp_path, clock):
    path = tmp_path / "days.csv"
    rows = [f"2024-{1 + k % 12:02}-{1 + k % 28:02}{clock},{k % 12 > 5:d}" for k in range(120)]
    path.write_text("\n".join(["day,y", *rows]) + "\n")
    table = read_table(path, label="y")
    split = model_of(table, "auc-split").splits[0]
    learnt, layouts = split.model.preparation, split.model.schema.layouts
    rows = learnt.apply(table, split.train_rows)
    root = read_tree(split.model.scorer, 0, learnt, rows, split.train_positive, layouts)
    assert (":" in root.condition) == bool(clock)


def test_tree_condition_on_a_day_names_that_day(file):
    learnt = learn_preparation(days(file, [WHOLE]), np.arange(10))
    scaled = {"means": np.array([12_345.678]), "scales": np.array([1_234.5])}
    learnt = dataclasses.replace(learnt, numbers=("day",), **scaled)
    all_days = np.arange("1980-01-01", "2030-01-01", 7, dtype="datetime64[D]")
    prepared = (all_days.astype(float) - learnt.means[0]) / learnt.scales[0]
    shown = [condition(learnt, 0, day, {"day": "d.m.y"}, {0}) for day in prepared.tolist()]
    assert shown == [f"day ≤ {day}" for day in all_days.astype(str)]


@pytest.mark.parametrize("method", ["gradient-boosting", "auc-rls"])
def test_date_parts_improve_the_auc(file, method):
    plain, parted = (model_of(days(file, p)) for p in ([WHOLE], ["weekend", "hour"]))
    of_splits = [roc.auc(s.test_positive, s.test_scores) for r in (parted, plain) for s in r.splits]
    assert of_splits[0] > of_splits[1] + 0.1


@pytest.mark.parametrize("part", ["month", "weekday", "hour"])
def test_described_rule_of_a_circle_gives_its_numbers(part):
    cells = np.arange(18_000, 18_400) + 0.37
    plain = DatePart("d", part).of(cells)
    for turn, function in (("sine", np.sin), ("cosine", np.cos)):
        circle = DatePart("d", f"{part} {turn}")
        found = re.match(
            rf"{turn} of 2π \({part} − (\d)\) / (\d+), rounded to twelve", circle.words
        )
        first, steps = map(int, found.groups())
        expected = np.round(function(2 * np.pi * (plain - first) / steps), 12)
        np.testing.assert_array_equal(circle.of(cells), expected)
        assert circle.words.endswith(DatePart("d", part).words)
