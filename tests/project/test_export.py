"""Exported models against the model itself: every method, scorer type and unusual cells."""

import ast
import csv
import dataclasses
import json
import math
import subprocess
import sys

import numpy as np
import pytest

from aucstudio.engine import METHODS
from aucstudio.engine.scorers import LinearScorer, Scorer
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text.dates import LAYOUTS, taken
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.store.export import FORMATS, export_model
from aucstudio.project.store.model_file import load_model, save_model
from tests.conftest import small_settings, write_file, write_table
from tests.project.hand_models import SCORERS, TEXT, hand_model, model_with, prepared

KERNELS = {
    f"auc-rls {kernel}": ("auc-rls", {"kernel": kernel, "gamma": 0.1}) for kernel in ("rbf", "poly")
}
TRAINED = {key: (key, small_settings(key)) for key in METHODS} | KERNELS
SPELLINGS = {"1": " 1.50 ", "2": "?", "3": "1e-3", "4": "NaN", "5": "-.25", "6": "+2."}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return read_table(write_table(tmp_path_factory.mktemp("study") / "study.csv"))


@pytest.fixture(scope="module")
def odd_file(tmp_path_factory):
    return write_odd_file(tmp_path_factory.mktemp("odd") / "odd.csv")


def write_odd_file(path):
    """Write rows to score: missing values and numbers in many spellings, unseen levels."""
    rng = np.random.default_rng(7)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["town", "note", "x3", "x2", "x1", "x0"])
        for i in range(40):
            cells = [f"{value:.4f}" for value in rng.normal(size=4)]
            cells[i % 4] = SPELLINGS.get(str(i), cells[i % 4])
            town = ("north", "south", "Atlantis", "", "N/A", " north ")[i % 6]
            writer.writerow([town, 'a "b", c', *cells])
    return path


@pytest.fixture(scope="module")
def trained(study):
    """Train each method once."""
    models = {}

    def model_of(name):
        if name not in models:
            method, settings = TRAINED[name]
            validation = Validation(test_size=0.5)
            plan = plan_experiment(DataReference.to_table(study), method, settings, validation)
            models[name] = execute(plan, study).splits[0].model
        return models[name]

    return model_of


@pytest.fixture(params=SCORERS)
def handmade_model(request):
    return hand_model(request.param)


@pytest.fixture
def hand_file(tmp_path):
    return write_file(tmp_path / "hand.csv", TEXT)


# ------------------------------------------------------------------ script


def run_script(script, *arguments):
    """Run in an isolated environment with the standard library and installed packages only."""
    return subprocess.run(
        [sys.executable, "-I", str(script), *map(str, arguments)], capture_output=True, text=True
    )


def complaints(done):
    """Return the standard error of a script without the counts of levels that are new."""
    lines = done.stderr.splitlines(keepends=True)
    return "".join(line for line in lines if "that training did not have" not in line)


def script_scores(model, file, tmp_path):
    script = tmp_path / "exported.py"
    export_model(model, "script", script)
    done = run_script(script, file)
    assert (done.returncode, complaints(done)) == (0, "")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [int(row["row"]) for row in rows] == list(range(1, len(rows) + 1))
    scores = np.array([float(row["score"]) for row in rows])
    expected = np.where(scores > model.threshold, model.positive, model.negative)
    assert [row["predicted"] for row in rows] == expected.tolist()
    assert {float(row["threshold"]) for row in rows} == {model.threshold}
    return scores


def load(model, tmp_path):
    path = tmp_path / "loaded.py"
    export_model(model, "script", path)
    names = {"__name__": "loaded"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    return names


def columns_of(path):
    rows = list(csv.DictReader(path.read_text().splitlines()))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_script_of_every_scorer_type_scores_like_the_model(handmade_model, hand_file, tmp_path):
    expected = handmade_model.score(read_table(hand_file, need_label=False))
    scores = load(handmade_model, tmp_path)["score"](columns_of(hand_file))
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


def test_script_imports_only_numpy_and_the_standard_library(trained, tmp_path):
    for name in ("auc-rls", "gradient-boosting"):
        path = tmp_path / "model.py"
        export_model(trained(name), "script", path)
        imported = {
            alias.name if isinstance(node, ast.Import) else node.module
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert {part.split(".")[0] for part in imported} <= sys.stdlib_module_names | {"numpy"}


def test_script_scores_typed_and_text_cells_equally(tmp_path):
    model = model_with(SCORERS["linear"])
    score = load(model, tmp_path)["score"]
    texts = {"x": ["1.5", ""], "y": ["2", "-"], "town": ["north", "na"], "zone": ["1.0", "2.5"]}
    plain = {"x": [1.5, None], "y": [2, math.nan], "town": ["north", None], "zone": [1, 2.5]}
    comma = texts | {"x": ["1,5", ""], "zone": ["1,0", "2,50"]}
    np.testing.assert_array_equal(score(plain), score(texts))
    np.testing.assert_array_equal(score(comma, decimal=","), score(texts))


def test_long_codes_are_compared_as_text(tmp_path):
    code = "1234567890123456789"
    preparation = dataclasses.replace(prepared(), levels=(("north",), (code,)))
    scorer = LinearScorer(np.array([0.0, 0.0, 0.0, 1.0]))
    score = load(model_with(scorer, preparation=preparation), tmp_path)["score"]
    columns = {"x": [0, 0], "y": [0, 0], "town": ["a", "b"], "zone": [code, code[:-1] + "8"]}
    np.testing.assert_array_equal(score(columns), [1.25, 0.25])


@pytest.mark.parametrize(
    ("header", "row", "words"),
    [
        ("x,y,town", "1,2,north", "missing: zone"),
        ("x,y,town,zone", "1,two,north,1", "column y, row 1: 'two'"),
        ("x,y,town,zone", "1,inf,north,1", "column y, row 1: 'inf'"),
        ("x;y;town;zone", "1,5;1;north;1", "decimal mark '.'"),
        ("x,y,town,zone", "1,2\n1,2\n1,2,north,1", "--delimiter"),
    ],
)
def test_script_reports_what_is_wrong_with_a_table(tmp_path, header, row, words):
    script, table = tmp_path / "model.py", tmp_path / "t.csv"
    export_model(model_with(SCORERS["linear"]), "script", script)
    table.write_text(f"{header}\n{row}\n")
    done = run_script(script, table)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_script_writes_the_identifiers_beside_the_scores(tmp_path):
    script, table = tmp_path / "model.py", tmp_path / "t.csv"
    schema = Schema((ColumnSchema("id", "id", "text"),))
    model = dataclasses.replace(model_with(SCORERS["linear"]), schema=schema)
    export_model(model, "script", script)
    table.write_text("id,x,y,town,zone\nr0,1,2,north,1\n")
    assert run_script(script, table).stdout.startswith("row,id,score")
    assert run_script(script, table, "--keep", "x").stdout.startswith("row,x,score")
    table.write_text("x,y,town,zone\n1,2,north,1\n")
    assert run_script(script, table).stdout.startswith("row,score")


def test_script_counts_single_unreadable_cells_as_missing_and_keeps_columns(tmp_path):
    script, table, scores = (tmp_path / name for name in ("model.py", "t.csv", "scores.csv"))
    model = model_with(SCORERS["linear"])
    export_model(model, "script", script)
    table.write_text("id,x,y,town,zone\n" + "".join(f"r{k},{k},2,north,1\n" for k in range(5)))
    table.write_text(table.read_text() + "r5,<1.2,2,north,1\n=r6,n/a!,2,west,1\n")
    done = run_script(script, table, "--keep", "id", "-o", scores)
    assert (done.returncode, complaints(done).count("\n")) == (0, 1)
    assert "column x, row 6: '<1.2'" in done.stderr
    assert "2 such cells count as missing" in done.stderr
    rows = [*csv.DictReader(scores.read_text().splitlines())]
    assert [row["id"] for row in rows] == ["r0", "r1", "r2", "r3", "r4", "r5", "'=r6"]
    empty = tmp_path / "empty.csv"
    empty.write_text(table.read_text().replace("<1.2", "").replace("n/a!", ""))
    expected = model.score(read_table(empty, need_label=False))
    np.testing.assert_allclose([float(row["score"]) for row in rows], expected, rtol=1e-12)
    done = run_script(script, table, "--strict")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert "'nothing'" in run_script(script, table, "--keep", "nothing").stderr


def test_script_scores_a_table_without_a_column_if_allowed(tmp_path):
    script, table, whole = (tmp_path / name for name in ("model.py", "t.csv", "whole.csv"))
    export_model(model_with(SCORERS["linear"]), "script", script)
    table.write_text("x,town,zone\n" + "".join(f"{k},north,1\n" for k in range(5)))
    whole.write_text("x,y,town,zone\n" + "".join(f"{k},,north,1\n" for k in range(5)))
    refused = run_script(script, table)
    assert refused.returncode == 2
    assert "--allow-unknown" in refused.stderr
    done = run_script(script, table, "--allow-unknown", "y")
    assert (done.returncode, done.stdout) == (0, run_script(script, whole).stdout)
    assert "'nothing'" in run_script(script, table, "--allow-unknown", "nothing").stderr


def test_script_reads_other_dialects_and_skips_broken_rows(tmp_path):
    script, table, scores = (tmp_path / name for name in ("model.py", "t.csv", "scores.csv"))
    model = model_with(SCORERS["linear"])
    export_model(model, "script", script)
    table.write_text(
        "x;y;town;zone\n1,5;2;north;1\n3;4\n\n0;-1,25;west;2,5\n", encoding="utf-8-sig"
    )
    done = run_script(script, table, "--decimal", ",", "-o", scores)
    assert (done.returncode, done.stdout) == (0, "")
    assert complaints(done).count("\n") == 1
    assert "line 3 is left out" in done.stderr
    found = [float(row["score"]) for row in csv.DictReader(scores.read_text().splitlines())]
    expected = model.score(read_table(table, need_label=False))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.fixture
def german(tmp_path):
    """A table in cp1252 with semicolons, decimal commas, thousands, units and dates."""
    rng = np.random.default_rng(3)
    path, lines = tmp_path / "kredite.csv", ["Datum;Einkommen;Höhe;Laufzeit;Stufe;Ort;Ausfall"]
    for i in range(120):
        income, size = rng.uniform(1_000, 99_000), rng.uniform(100, 9_000)
        grouped = f"{income:,.2f}".translate(str.maketrans(",.", ".,"))
        date = f"{rng.integers(1, 29):02}.{rng.integers(1, 13):02}.2021"
        amount, months = f"{size:.2f}".replace(".", ","), f"{rng.integers(1, 5) * 12} Monate"
        place = ("Süd", "Nord", "Köln")[i % 3]
        cells = [date, grouped if i % 9 else "", amount, months, ("1,5", "2,25")[i % 2], place]
        lines.append(";".join([*cells, "ja" if size + rng.normal(0, 2_000) > 5_000 else "nein"]))
    path.write_text("\n".join(lines) + "\n", encoding="cp1252")
    return path


def test_a_script_reads_tables_in_the_format_of_the_training_table(german, tmp_path):
    table = read_table(german).with_roles(roles={"Stufe": "category"})
    plan = plan_experiment(DataReference.to_table(table), "auc-rls", {}, Validation(test_size=0.5))
    model = execute(plan, table).splits[0].model
    assert {"Datum", "Einkommen", "Höhe", "Laufzeit"} <= set(model.preparation.numbers)
    expected = model.score(read_table(german, need_label=False))
    np.testing.assert_allclose(script_scores(model, german, tmp_path), expected, atol=1e-9)
    # The same table, in Unicode.
    text = german.read_text(encoding="cp1252")
    for encoding in ("utf-8", "utf-8-sig"):
        german.write_text(text, encoding=encoding)
        np.testing.assert_allclose(script_scores(model, german, tmp_path), expected, atol=1e-9)
    german.write_text(text.replace(";", "|"), encoding="utf-16")
    script = tmp_path / "exported.py"
    done = run_script(script, german)
    assert (done.returncode, done.stdout) == (2, "")
    done = run_script(script, german, "--encoding", "utf-16", "--delimiter", "|")
    found = [float(row["score"]) for row in csv.DictReader(done.stdout.splitlines())]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert "no-such" in run_script(script, german, "--encoding", "no-such").stderr


@pytest.mark.slow
def test_script_finds_the_header_and_lists_few_broken_rows(tmp_path):
    script, table = tmp_path / "model.py", tmp_path / "t.csv"
    export_model(model_with(SCORERS["linear"]), "script", script)
    torn = "1,2\n" * 30
    table.write_text("Export of May\n\nx,y,town,zone\n" + "1,2,north,1\n" * 40 + torn)
    done = run_script(script, table)
    assert (done.returncode, done.stdout.count("\n")) == (0, 41)
    assert done.stderr.count("is left out") == 10
    assert "so are 20 more lines" in done.stderr
    done = run_script(script, table, "--delimiter", "ab")
    assert (done.returncode, done.stdout) == (2, "")
    assert "one character" in done.stderr


def written(rows=60):
    """Return a table with money, dates, times, footnote marks, percentages and fractions."""
    lines = ["Betrag;Tag;Zeit;Wert;Anteil;Zahl;y"]
    for k in range(rows):
        money = f"{(k * 7919) % 5000 + 1000:,}".replace(",", ".") + f",{k % 100:02d} €"
        mark = ("", "*", "[3]", " H")[k % 12] if k % 12 < 4 else ""
        day = f"{k % 28 + 1:02d}.{k % 12 + 1:02d}.{2019 + k % 4}"
        clock = f"{k % 12 + 1}:{k % 60:02d} {'ap'[k % 2]}m"
        cells = [money, day, clock, f"{k * 37 % 101},5{mark}", f"{k * 13 % 97} %", f"{k % 9},25"]
        lines.append(";".join([*cells, "uv"[k * k % 7 < 3]]))
    return "\n".join(lines) + "\n"


@pytest.mark.slow
def test_script_reads_numbers_and_dates_in_the_training_format(tmp_path):
    table, script, scores = (tmp_path / name for name in ("t.csv", "model.py", "scores.csv"))
    table.write_text(written(), encoding="utf-8")
    study = read_table(table, label="y")
    assert [column.role for column in study.columns[:-1]] == ["number"] * 6
    plan = plan_experiment(DataReference.to_table(study), "rls", {}, Validation(test_size=0.5))
    model = execute(plan, study).splits[0].model
    expected = model.score(read_table(table, need_label=False, schema=model.schema))
    export_model(model, "script", script)
    done = run_script(script, table, "--decimal", ",", "-o", scores)
    assert (done.returncode, complaints(done)) == (0, "")
    found = [float(row["score"]) for row in csv.DictReader(scores.read_text().splitlines())]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    table.write_text(written().replace("02.02.2020", "31.02.2020"), encoding="utf-8")
    words = "column Tag, row 2: '31.02.2020' is not written as this column was"
    for options, status in (([], 0), (["--strict"], 2)):
        done = run_script(script, table, "--decimal", ",", *options)
        assert done.returncode == status
        assert words in done.stderr
    table.write_text(written().replace("02.02.2020", "k. A."), encoding="utf-8")
    done = run_script(script, table, "--decimal", ",")
    assert "'k. A.' is not a number or a date; " in done.stderr


SPELLED = [
    "1.234,5", "1,234.5", "1'234", "-0.5", "(5)", "5-", "$5", "-5 $", "5 € [2]", "1.5D+03",
    "1.5e3", "٣", "３．５", "1,23,456.5", "−2", "–2", "1 m²", "2020-01-31", "31.01.2020",
    "1/31/2020 5:30 pm", "31JAN20:10:00:01.5", "2020-01-31T10:00:00+02:00", "20200131",
    "Jan 31, 2020", "2020年1月31日", "2020.01.31.", "2020-02", "Jan-20", "Jan 2020", "13:30",
    "5 pm", "12:15:30 am", "5 %", "inf", "5 months", "1 month", "1e999", "x", "1.234,-", "5.\u2013",
    "20231201120000", "2023/12/01 12:00:00 pm GMT+1", "2024-Q2", "Q3 2024", "1Q2024", "2020-W53",
    "2021-W53",
]  # fmt: skip


@pytest.mark.slow
def test_script_reads_every_number_format_like_the_program(tmp_path):
    forms = [
        *(NumberFormat(mark, True, dressed, a) for mark in ".," for dressed in (False, True)
          for a in ("", "€", "$", "%", "months", "m²")),
        *(NumberFormat(layout=layout) for layout in LAYOUTS),
    ]  # fmt: skip
    seen = set()
    for one, other in zip(forms, [*forms[1:], forms[0]], strict=True):
        columns = [ColumnSchema(n, kind="number", number=f) for n, f in (("x", one), ("y", other))]
        model = model_with(SCORERS["linear"], schema=Schema(tuple(columns)))
        read = load(model, tmp_path)["read_cell"]
        for form, name in ((one, "x"), (other, "y")):
            # A script may accept non-ASCII digits where the program does not.
            for cell in (c for c in SPELLED if form.dressed or form.layout or c.isascii()):
                expected = form.read(cell) if form.matches(cell) else math.inf
                found = read(name, cell, ".")
                assert found == (expected if math.isfinite(expected) else None), (form, cell)
                seen |= {cell} if found is not None else set()
    assert {"inf", "1e999", "x", "5 pm", "2021-W53"} == set(SPELLED) - seen


NASTY = '"""\nraise SystemExit("ran")\n\\'


def test_names_cannot_become_code(tmp_path):
    made = dataclasses.replace(prepared(), numbers=(NASTY, "{y}"), categories=("'", "\ud800"))
    words = dict.fromkeys(("method", "label", "positive", "negative", "trained_on"), NASTY)
    model = model_with(SCORERS["linear"], preparation=made, params={NASTY: NASTY}, **words)
    loaded = load(dataclasses.replace(model, threshold_rule=NASTY + '"'), tmp_path)
    assert loaded["MODEL"]["positive"] == NASTY
    assert loaded["wanted"]() == [NASTY, "{y}", "'", "\ud800"]
    assert 'raise SystemExit("ran")' in loaded["__doc__"]


# ------------------------------------------------------------------ JSON


def numbers_of(value):
    """Return a document with non-finite numbers restored from their names."""
    if isinstance(value, dict):
        return {k: inner if k == "gaps" else numbers_of(inner) for k, inner in value.items()}
    if isinstance(value, list):
        return [numbers_of(inner) for inner in value]
    return float(value) if value in ("inf", "-inf", "nan") else value


def document_scores(model, file, tmp_path):
    """Return scores by the JSON document of a model, with the functions of a script."""
    export_model(model, "json", tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    script = load(model_with(SCORERS["linear"]), tmp_path)
    script["MODEL"] = numbers_of(json.loads(text, parse_constant=pytest.fail))
    return script["score"](columns_of(file))


def test_json_export_describes_the_model(trained, tmp_path):
    path = tmp_path / "model.json"
    model = trained("auc-rls")
    export_model(model, "json", path)
    document = json.loads(path.read_text())
    assert (document["format"], document["method"]) == (1, "auc-rls")
    assert (document["positive"], document["negative"]) == ("yes", "no")
    assert document["scorer"]["weights"] == model.scorer.weights.tolist()
    assert any("weights[k] * x[k]" in sentence for sentence in document["how"])


# ------------------------------------------------------------------ ONNX


def spelled(cell):
    if cell is None or cell != cell:
        return ""
    return cell if isinstance(cell, str) else f"{cell:.15g}"


def run_graph(model, table, tmp_path, *outputs):
    """Return outputs of the graph of a model for the rows of a table."""
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    path = tmp_path / "model.onnx"
    export_model(model, "onnx", path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    columns = {column.name: column.values for column in table.columns}
    dates = [column for column in table.columns if column.is_date]
    columns |= {part.name: part.of(c.values) for c in dates for part in taken(c)}
    feed = {}
    for given in session.get_inputs():
        cells = columns[given.name.rstrip("_")]
        if given.type == "tensor(double)":
            feed[given.name] = cells.astype(np.float64)[:, None]
        else:
            texts = [spelled(cell) for cell in cells.tolist()]
            feed[given.name] = np.array(texts, dtype=object)[:, None]
    return session.run(outputs, feed)


def graph_scores(model, table, tmp_path):
    score, predicted = run_graph(model, table, tmp_path, "score", "predicted")
    assert score.shape == predicted.shape == (table.rows,)
    expected = np.where(score > model.threshold, model.positive, model.negative)
    assert predicted.tolist() == expected.tolist()
    return score


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize(
    ("scores_of", "relative", "absolute"),
    [(script_scores, 1e-12, 1e-12), (document_scores, 1e-12, 1e-12), (graph_scores, 1e-11, 1e-12)],
)
def test_every_export_scores_like_its_model(
    trained, odd_file, tmp_path, name, scores_of, relative, absolute
):
    table = read_table(odd_file, need_label=False)
    scores = scores_of(trained(name), table if scores_of is graph_scores else odd_file, tmp_path)
    np.testing.assert_allclose(scores, trained(name).score(table), rtol=relative, atol=absolute)


@pytest.mark.parametrize("scores_of", [document_scores, graph_scores])
def test_json_and_onnx_of_every_scorer_type_score_like_the_model(
    handmade_model, hand_file, tmp_path, scores_of
):
    table = read_table(hand_file, need_label=False)
    scores = scores_of(handmade_model, table if scores_of is graph_scores else hand_file, tmp_path)
    np.testing.assert_allclose(scores, handmade_model.score(table), rtol=1e-11, atol=1e-12)


@pytest.mark.slow
def test_exported_scores_do_not_depend_on_the_threshold(trained, odd_file, tmp_path):
    table = read_table(odd_file, need_label=False)
    own = trained("auc-rls")
    expected = own.score(table)
    other = own.moved_to(float(np.quantile(expected, 0.8)), expected, "set by the user")
    assert 0 < (expected > other.threshold).sum() < (expected > own.threshold).sum()
    for k, model in enumerate((own, other)):
        folder = tmp_path / str(k)
        folder.mkdir()
        save_model(model, folder / "m.aucmodel")
        again = load_model(folder / "m.aucmodel")
        assert (again.threshold, again.threshold_rule) == (model.threshold, model.threshold_rule)
        np.testing.assert_array_equal(again.score(table), expected)
        np.testing.assert_allclose(script_scores(model, odd_file, folder), expected, atol=1e-9)
        np.testing.assert_allclose(graph_scores(model, table, folder), expected, atol=1e-9)
        export_model(model, "json", folder / "m.json")
        document = json.loads((folder / "m.json").read_text(encoding="utf-8"))
        assert document["threshold"] == model.threshold
        assert document["intercept"] == own.intercept


def test_columns_named_like_the_outputs_are_exported(hand_file, tmp_path):
    made = dataclasses.replace(prepared(), numbers=("score", "predicted"), categories=(), levels=())
    model = model_with(LinearScorer(np.array([1.0, -2.0])), preparation=made)
    table = read_table(
        write_file(tmp_path / "t.csv", "score,predicted\n1,2\n,4\n"), need_label=False
    )
    np.testing.assert_allclose(graph_scores(model, table, tmp_path), model.score(table))


def test_missing_onnx_names_the_extra_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"pip install 'aucstudio\[onnx\]'"):
        export_model(model_with(SCORERS["linear"]), "onnx", tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------ refusals


class Oracle(Scorer):
    kind = "oracle"

    def __call__(self, X):
        return np.zeros(len(X))


REFUSALS = [
    *((Oracle(), key, "model", "'oracle'") for key in FORMATS),
    (SCORERS["linear"], "abacus", "model", r"abacus.*\(there are script, onnx, sql, json\)"),
    (SCORERS["linear"], "json", "absent/model.json", "cannot write"),
]


@pytest.mark.parametrize(("scorer", "key", "name", "words"), REFUSALS)
def test_unsupported_export_is_refused(tmp_path, scorer, key, name, words):
    with pytest.raises(InputError, match=words):
        export_model(model_with(scorer), key, tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_ensemble_with_missing_values_is_exported(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 3))
    y = X[:, 0] + rng.normal(size=90) > 0
    absent = rng.random((90, 3)) < [0.0, 0.3, 0.1]
    cells = [
        ",".join(["" if gap else f"{v:.6f}" for v, gap in zip(*row, strict=True)])
        for row in zip(X, absent, strict=True)
    ]
    file = tmp_path / "gaps.csv"
    lines = (f"{row},{'yes' if k else 'no'}" for row, k in zip(cells, y, strict=True))
    file.write_text("\n".join(["a,b,c,label", *lines]) + "\n")
    table = read_table(file, label="label", positive="yes")
    members = "logistic; scaled-rank-svm C=10; gradient-boosting max_iter=10; additive-logistic"
    experiment = plan_experiment(
        DataReference.to_table(table),
        "auc-ensemble",
        {"library": members, "n_folds": 3},
        Validation(),
    )
    record = execute(experiment, table)
    assert not record.error
    model = record.splits[0].model
    expected = model.score(table)
    assert np.isfinite(expected).all()
    for scores in (
        script_scores(model, file, tmp_path),
        document_scores(model, file, tmp_path),
        graph_scores(model, table, tmp_path),
    ):
        np.testing.assert_allclose(np.ravel(scores), expected, rtol=1e-5, atol=1e-5)


def test_script_counts_levels_that_training_did_not_have(trained, study, tmp_path):
    script, table = tmp_path / "exported.py", tmp_path / "later.csv"
    model = trained("logistic")
    export_model(model, "script", script)
    names = model.feature_columns
    category = model.preparation.categories[0]
    level = model.preparation.levels[0][0]
    cells = [{name: level if name == category else "1" for name in names} for _ in range(3)]
    cells[0][category] = cells[2][category] = "nowhere"
    lines = [",".join(names), *(",".join(row[name] for name in names) for row in cells)]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run_script(script, table)
    assert f"column {category}: 2 rows have levels that training did not have" in done.stderr
    assert "('nowhere')" in done.stderr


def test_script_knows_all_levels_of_the_training(tmp_path):
    path, script = tmp_path / "t.csv", tmp_path / "exported.py"
    rows = [f"{k % 7},B{k * 7 % 151},{'uv'[k % 5 < 2]}" for k in range(600)]
    path.write_text("\n".join(["x,branch,y", *rows]) + "\n")
    table = read_table(path, label="y")
    plan = plan_experiment(DataReference.to_table(table), "auc-rls", {}, Validation(test_size=0.5))
    export_model(execute(plan, table).splits[0].model, "script", script)
    assert run_script(script, path).stderr == ""
    path.write_text("\n".join(["x,branch,y", *rows, "1,nowhere,u"]) + "\n")
    found = run_script(script, path).stderr
    assert "1 row has a level that training did not have" in found
    assert "'nowhere'" in found


def test_script_leaves_out_totals_as_the_command_line_does(tmp_path):
    path, script = tmp_path / "t.csv", tmp_path / "exported.py"
    rows = [f"C{k},{k * 37 % 101},{k % 9},{'uv'[k % 5 < 2]}" for k in range(80)]
    path.write_text("\n".join(["id,x,z,y", *rows, "Total:,4000,,"]) + "\n")
    table = read_table(path, label="y")
    plan = plan_experiment(DataReference.to_table(table), "auc-rls", {}, Validation(test_size=0.5))
    export_model(execute(plan, table).splits[0].model, "script", script)
    done = run_script(script, path)
    assert done.stdout.count("\n") == 1 + table.rows == 81
    assert "the last row is left out" in done.stderr
    path.write_text("\n".join(["id,x,z,y", *rows, "Tot,40,,"]) + "\n")
    assert run_script(script, path).stdout.count("\n") == 82
