"""Preprocessing choices: against scikit-learn, fitted on training rows only, and stored."""

import csv
import dataclasses
import json

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, RobustScaler, StandardScaler

from aucstudio.commands import train
from aucstudio.commands.options import command_parser
from aucstudio.engine import METHODS
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.preparing.preparation import (
    category_features,
    feature_groups,
    learn_preparation,
)
from aucstudio.project.data.preparing.preparation_choice import (
    IMPUTE,
    SCALE,
    USUAL,
    PreparationChoice,
)
from aucstudio.project.data.preparing.scales import RARE
from aucstudio.project.data.preparing.stored import arrays_of, restored, settings_of
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.explain.contributions import explain_pair
from aucstudio.project.explain.effects import score_curve
from aucstudio.project.explain.importance import permutation_importance
from aucstudio.project.explain.trees import FeatureUse, condition, side_by_side
from aucstudio.project.runs.execute import execute, refit
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.experiment_file import read_study, write_study
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.runs.record import same_scores
from aucstudio.project.runs.rows import learn
from aucstudio.project.store.export import export_model
from aucstudio.project.store.model_file import load_model, save_model
from aucstudio.project.store.project.run_documents import read_experiment
from tests.conftest import write_file, write_table
from tests.project.test_export import graph_scores, script_scores

EVERYTHING = PreparationChoice("mean", "quantile-normal", True, 5, "frequency")


def write_cells(path, columns):
    rows = len(next(iter(columns.values())))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*columns, "outcome"])
        for i in range(rows):
            cells = (column[i] for column in columns.values())
            spelled = ["" if c != c else repr(float(c)) for c in cells]
            writer.writerow([*spelled, "yes" if i % 3 == 0 else "no"])
    return path


@pytest.fixture(scope="module")
def cells():
    rng = np.random.default_rng(3)
    columns = {
        "random": rng.normal(size=90),
        "tied": rng.integers(0, 5, size=90).astype(float),
        "huge": rng.normal(size=90) * 1e200,
        "constant": np.full(90, 7.5),
        "gaps": np.where(rng.random(90) < 0.3, np.nan, rng.integers(0, 9, size=90)),
    }
    columns["constant"][0] = 7.5
    return columns


@pytest.fixture(scope="module")
def numbers(cells, tmp_path_factory):
    path = write_cells(tmp_path_factory.mktemp("numbers") / "numbers.csv", cells)
    return read_table(path, roles=dict.fromkeys(cells, "number"))


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Return a table of numbers with missing values, towns with rare levels, and 150 codes."""
    path = tmp_path_factory.mktemp("mixed") / "mixed.csv"
    rng = np.random.default_rng(5)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "pay", "town", "code", "outcome"])
        for i in range(400):
            town = rng.choice(["A", "B", "C", "D", ""], p=[0.5, 0.3, 0.186, 0.004, 0.01])
            age = "" if i % 7 == 0 else f"{rng.normal(40, 9):.3f}"
            code = f"c{int(rng.random() ** 2 * 150)}"
            positive = rng.random() < 0.3 + 0.2 * (town == "A")
            cells = [age, f"{np.exp(rng.normal()):.4f}", town, code, "yes" if positive else "no"]
            writer.writerow(cells)
    roles = {"age": "number", "pay": "number", "town": "category", "code": "category"}
    return read_table(path, roles=roles)


def reference(scale, impute, train, rows):
    """Prepare rows with scikit-learn; the columns are scaled so that squares do not overflow."""
    words = {"most-frequent": "most_frequent"}
    pipes = {
        "standard": StandardScaler(),
        "robust": RobustScaler(),
        "min-max": MinMaxScaler(),
        "quantile": QuantileTransformer(n_quantiles=len(train)),
        "none": None,
    }
    imputer = SimpleImputer(strategy=words.get(impute, impute)).fit(train)
    filled = imputer.transform(train), imputer.transform(rows)
    return filled[1] if pipes[scale] is None else pipes[scale].fit(filled[0]).transform(filled[1])


@pytest.mark.parametrize("impute", IMPUTE)
@pytest.mark.parametrize("scale", [scale for scale in SCALE if scale != "quantile-normal"])
def test_prepared_numbers_match_scikit_learn(numbers, cells, scale, impute):
    train = np.arange(0, 90, 2)
    choice = PreparationChoice(impute, scale)
    learnt = learn_preparation(numbers, train, choice)
    found = learnt.apply(numbers, train)
    scaled = np.column_stack(list(cells.values()))
    unit = np.where(np.array(list(cells)) == "huge", 1e200, 1.0)
    expected = reference(scale, impute, scaled[train] / unit, scaled[train] / unit)
    if scale == "none":
        expected = expected * unit
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_interpolated_quantiles_match_scikit_learn(numbers, cells):
    """Without ties the interpolation is unique."""
    train, others = np.arange(0, 90, 2), np.arange(1, 90, 2)
    learnt = learn_preparation(numbers, train, PreparationChoice(scale="quantile"))
    k = learnt.numbers.index("random")
    ours = learnt.apply(numbers, others)[:, k]
    theirs = QuantileTransformer(n_quantiles=45).fit(cells["random"][train, None])
    np.testing.assert_allclose(ours, theirs.transform(cells["random"][others, None])[:, 0])


def test_normal_quantiles_are_bounded_at_the_ends(numbers, cells):
    learnt = learn_preparation(numbers, np.arange(90), PreparationChoice(scale="quantile-normal"))
    X = learnt.apply(numbers)
    k = learnt.numbers.index("random")
    inner = np.argsort(cells["random"])[1:-1]
    theirs = QuantileTransformer(n_quantiles=90, output_distribution="normal")
    expected = theirs.fit_transform(cells["random"][:, None])[:, 0]
    np.testing.assert_allclose(X[inner, k], expected[inner], rtol=1e-9, atol=1e-9)
    assert np.abs(X).max() < 2.6
    assert not X[:, learnt.numbers.index("constant")].any()


def test_equal_quartiles_fall_back_to_the_standard_deviation(tmp_path):
    """Most cells of a rare attribute are 0, so the standard deviation is used."""
    rare = np.zeros(60)
    rare[:5] = 1000.0
    table = read_table(write_cells(tmp_path / "r.csv", {"x": rare, "y": np.arange(60.0)}))
    learnt = learn_preparation(table, np.arange(60), PreparationChoice(scale="robust"))
    assert learnt.scales[0] == pytest.approx(rare.std())
    assert learnt.means[0] == 0


@pytest.mark.parametrize("scale", SCALE)
def test_largest_doubles_are_prepared(tmp_path, scale):
    values = np.array([-1.6e308, -1e308, 1e308, 1.7e308] * 5)
    table = read_table(write_cells(tmp_path / "h.csv", {"x": values}), roles={"x": "number"})
    learnt = learn_preparation(table, np.arange(20), PreparationChoice("mean", scale))
    X = learnt.apply(table)
    assert np.isfinite(X).all()
    assert len(np.unique(X)) == 4


def test_indicators_mark_missing_values_of_training_columns(mixed):
    rows = np.arange(400)
    with_gaps = learn_preparation(mixed, rows, PreparationChoice(indicators=True))
    assert with_gaps.feature_names[-1] == "age = missing"
    np.testing.assert_array_equal(with_gaps.apply(mixed)[:, -1], rows % 7 == 0)
    known = np.flatnonzero(rows % 7)
    assert not learn_preparation(mixed, known, PreparationChoice(indicators=True)).indicated


def test_methods_that_take_missing_values_keep_them(mixed):
    choice = PreparationChoice("mean", "quantile", indicators=True)
    learnt = learn_preparation(mixed, np.arange(400), choice, keep_gaps=True)
    np.testing.assert_array_equal(np.isnan(learnt.apply(mixed)[:, 0]), np.arange(400) % 7 == 0)


def test_rare_and_unknown_levels_share_one_feature(mixed):
    learnt = learn_preparation(mixed, np.arange(400), PreparationChoice(rare=0.05))
    levels = dict(zip(learnt.categories, learnt.levels, strict=True))["town"]
    assert {*levels} == {"A", "B", "C", RARE}
    (places,) = [one.places for one in category_features(learnt) if one.name == "town"]
    assert "D" not in places
    X = learnt.apply(mixed)
    first = len(learnt.numbers)
    assert (X[:, first : first + 4].sum(axis=1) == 1).all()
    town = mixed.column("town").values
    few = np.array([text not in ("A", "B", "C") for text in town.tolist()])
    np.testing.assert_array_equal(X[:, first + levels.index(RARE)], few)


def test_many_levels_are_encoded_by_frequency(mixed):
    train = np.arange(300)
    choice = PreparationChoice(scale="none", many_levels="frequency")
    learnt = learn_preparation(mixed, train, choice)
    assert learnt.numbers == ("age", "pay", "code")
    code = mixed.column("code").values.tolist()
    share = [code[:300].count(text) / 300 for text in code]
    np.testing.assert_allclose(learnt.apply(mixed)[:, 2], share)
    assert any(s == 0 for s in share[300:])


@pytest.mark.parametrize("choice", [EVERYTHING, PreparationChoice("most-frequent", "robust")])
def test_preparation_ignores_held_out_rows(mixed, choice):
    train = np.arange(0, 400, 2)
    before = learn_preparation(mixed, train, choice)
    columns = []
    for column in mixed.columns:
        values = column.values.copy()
        if column.role in ("number", "category"):
            values[1::2] = 1e6 if column.role == "number" else "other"
        columns.append(dataclasses.replace(column, values=values))
    after = learn_preparation(dataclasses.replace(mixed, columns=tuple(columns)), train, choice)
    assert settings_of(before) == settings_of(after)
    for name, array in arrays_of(before).items():
        np.testing.assert_array_equal(array, arrays_of(after)[name])


# ------------------------------------------------------------------ stored


def plan(table, choice, method="auc-rls"):
    reference = DataReference.to_table(table)
    return plan_experiment(reference, method, {}, Validation(test_size=0.5), preparation=choice)


def test_preparation_choice_changes_the_experiment_id(mixed):
    usual, same = plan(mixed, USUAL), plan(mixed, PreparationChoice(rare=0))
    assert usual.id == same.id
    assert "preparation" not in usual.as_json()
    other = plan(mixed, PreparationChoice(scale="robust"))
    assert other.id != usual.id
    assert not same_scores(usual, other)
    assert read_experiment(json.loads(json.dumps(other.as_json()))) == other


def test_unknown_preparation_choice_in_a_project_is_refused(mixed):
    document = plan(mixed, PreparationChoice(scale="robust")).as_json()
    for wrong in ({"scale": "rbust"}, {"scale": 3}, {"rare": -1.0}, {"colour": 1}):
        with pytest.raises((InputError, ValueError)):
            read_experiment({**document, "preparation": wrong})


def test_experiment_files_keep_choices(mixed, tmp_path):
    plans = [plan(mixed, EVERYTHING), plan(mixed, USUAL, "rank-svm")]
    text = write_study(plans, tmp_path)
    path = write_file(tmp_path / "study.toml", text)
    assert [one.id for one in read_study(path).experiments] == [one.id for one in plans]
    path.write_text(text.replace('"quantile-normal"', '"quantil"'), encoding="utf-8")
    with pytest.raises(InputError, match="quantil"):
        read_study(path)
    path.write_text(text.replace("impute", "imput"), encoding="utf-8")
    with pytest.raises(InputError, match=r"unknown key 'imput' in .*preparation.*impute"):
        read_study(path)


def test_command_line_parses_every_choice():
    words = "train t.csv --method auc-rls --impute mean --scale quantile-normal --indicators"
    options = f"{words} --rare 5 --many-levels frequency".split()
    for given, choice in [(options, EVERYTHING), (options[:4], USUAL)]:
        document = train.document_of(command_parser().parse_args(given))
        assert PreparationChoice(**document["preparation"]) == choice


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"impute": "mode"}, "impute is one of"),
        ({"scale": "quantiles"}, "did you mean"),
        ({"rare": 1.5}, "rare is a share"),
        ({"rare": float("nan")}, "rare is a share"),
        ({"many_levels": "hash"}, "many levels is one of"),
    ],
)
def test_invalid_choices_are_refused_by_name(given, words):
    with pytest.raises(InputError, match=words) as refusal:
        PreparationChoice(**given)
    assert refusal.value.setting in given


CHOICES = [
    EVERYTHING,
    PreparationChoice("most-frequent", "quantile", rare=0.05),
    PreparationChoice("mean", "robust", True, 0.05, "frequency"),
    PreparationChoice(scale="min-max", indicators=True, many_levels="frequency"),
    PreparationChoice(scale="none", rare=10),
]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auc-rls", "gradient-boosting"])
@pytest.mark.parametrize("choice", CHOICES, ids=PreparationChoice.describe)
def test_stored_and_exported_models_score_like_the_model(mixed, tmp_path, choice, method):
    experiment = plan(mixed, choice, method)
    model = execute(experiment, mixed).splits[0].model
    odd = odd_rows(tmp_path / "odd.csv")
    table = read_table(odd, need_label=False, schema=model.schema)
    expected = model.score(table)
    save_model(model, tmp_path / "kept.aucmodel")
    loaded = load_model(tmp_path / "kept.aucmodel")
    np.testing.assert_array_equal(loaded.score(table), expected)
    np.testing.assert_allclose(script_scores(model, odd, tmp_path), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        formula_inputs(model, table, tmp_path), model.preparation.apply(table)
    )
    np.testing.assert_allclose(graph_scores(model, table, tmp_path), expected, rtol=1e-5, atol=1e-7)


def odd_rows(path):
    rows = [
        ["", "1.5", "A", "c3"],
        ["40", "", "D", "c149"],
        ["-1e3", "1e6", "", ""],
        ["33.25", "0.0", "Atlantis", "never seen"],
        ["41.5", "2.25", "B", "c0"],
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["age", "pay", "town", "code"], *rows])
    return path


def formula_inputs(model, table, tmp_path):
    """Prepare rows by the JSON document alone."""
    path = tmp_path / "model.json"
    export_model(model, "json", path)
    how = json.loads(path.read_text(encoding="utf-8"))["preparation"]
    columns = {column.name: column.values.tolist() for column in table.columns}
    rows = []
    for i in range(table.rows):
        x, gaps = [], {}
        for number in how["numbers"]:
            cell = columns[number["name"]][i]
            if "shares" in number:
                cell = number["shares"].get("(missing)" if cell is None else cell, 0.0)
            elif not float(number["low"]) <= cell <= float(number["high"]):
                cell = np.nan
            gaps[number["name"]] = float(cell != cell)
            if cell != cell and not how["keep_gaps"]:
                cell = number["median"]
            if "knots" in number:
                inside = np.clip(cell, number["knots"][0], number["knots"][-1])
                x.append(np.interp(inside, number["knots"], number["heights"]))
            else:
                x.append((cell - number["mean"]) / number["scale"])
        for category in how["categories"]:
            cell = columns[category["name"]][i]
            cell = "(missing)" if cell is None else cell
            if category.get("rest") and cell not in category["levels"]:
                cell = "(rare)"
            x += [float(cell == level) for level in category["levels"]]
        rows.append([*x, *(gaps[name] for name in how.get("indicated", ()))])
    return np.array(rows)


def test_damaged_preparation_of_a_model_is_refused(mixed):
    learnt = learn_preparation(mixed, np.arange(400), PreparationChoice("mean", "quantile", True))
    settings, arrays = settings_of(learnt), arrays_of(learnt)
    wrong = [
        (settings | {"indicated": ["town"]}, arrays),
        (settings | {"rest": ["town"]}, arrays),
        (settings | {"shares": {"age": {"x": 2.0}}}, arrays),
        (settings, arrays | {"knots": arrays["knots"][:, ::-1]}),
        (settings, arrays | {"knots": arrays["knots"][:, :-1]}),
        (settings, {name: array for name, array in arrays.items() if name != "heights"}),
    ]
    for changed in wrong:
        with pytest.raises(ValueError, match="preprocessing"):
            restored(*changed)
    assert settings_of(restored(settings, arrays)) == settings


def test_refit_uses_the_preparation_choice(mixed):
    experiment = plan(mixed, PreparationChoice(scale="min-max"))
    model = refit(experiment, mixed)
    X = model.preparation.apply(mixed)
    assert (X.min(), X.max()) == (0, 1)


@pytest.mark.parametrize("method", ["auc-rls", "rankboost"])
def test_explanations_cover_every_prepared_feature(mixed, method):
    record = execute(plan(mixed, EVERYTHING, method), mixed)
    model, rows = record.splits[0].model, np.flatnonzero(mixed.labelled())
    X = model.preparation.apply(mixed, rows)
    groups = feature_groups(model.preparation)
    assert sum(part.stop - part.start for part in groups.values()) == X.shape[1]
    for column in groups:
        curve = score_curve(model, X, column)
        assert np.isfinite(curve.y).all()
        assert len(curve.x) == len(curve.y)
    ages = np.array([30.0, 40.0, 50.0])
    k = model.preparation.numbers.index("age")
    there = model.preparation.scaled(k, ages.copy())
    np.testing.assert_allclose(model.preparation.in_own_unit(k, there), ages)
    assert condition(model.preparation, X.shape[1] - 1, 0.5) == "age ≠ missing"
    detail = explain_pair(mixed, model, (0, 1))
    assert all(np.isfinite(part.contribution) for part in detail.parts)


# ------------------------------------------------------------------ on disk


@pytest.mark.parametrize(
    "choice",
    [
        PreparationChoice("mean", "standard", True, 0.05, "frequency"),
        PreparationChoice("median", "none", True),
        PreparationChoice("most-frequent", "robust"),
        PreparationChoice("median", "quantile"),
    ],
)
def test_preparation_on_disk_equals_that_in_memory(tmp_path, mixed, choice):
    roles = {"age": "number", "pay": "number", "town": "category", "code": "category"}
    on_disk = open_stream(mixed.path, roles=roles, block_bytes=4_000)
    rows = np.arange(0, 400, 3)
    method = METHODS["auc-rls"]
    ours, theirs = (learn(method, table, rows, choice) for table in (on_disk, mixed))
    assert settings_of(ours) == settings_of(theirs)
    for name, array in arrays_of(theirs).items():
        np.testing.assert_allclose(arrays_of(ours)[name], array, rtol=1e-12, atol=1e-300)


def test_importance_over_splits_with_different_columns(tmp_path):
    """A single missing value has an indicator only if its row is used for training."""
    path = write_table(tmp_path / "one.csv")
    text = path.read_text().replace(",,", ",0.5,").splitlines()
    text[1] = ",".join(["", *text[1].split(",")[1:]])
    path.write_text("\n".join(text))
    table = read_table(path)
    choice, folds = PreparationChoice(indicators=True), Validation(scheme="folds", folds=3)
    reference = DataReference.to_table(table)
    record = execute(plan_experiment(reference, "auc-rls", {}, folds, preparation=choice), table)
    marked = [bool(split.model.preparation.indicated) for split in record.splits]
    assert sorted(marked) == [False, True, True]
    found = permutation_importance(record, table, (0.0, 0.1), repeats=2)
    assert found.columns[-1] == "x0 = missing"
    assert np.isfinite(found.drops).all()


def test_feature_use_of_splits_with_different_columns_is_aligned():
    one = FeatureUse(("age", "pay"), np.array([3, 1]), np.array([0.75, 0.25]))
    other = FeatureUse(
        ("age", "pay", "age = missing"), np.array([1, 0, 2]), np.array([0.5, 0, 0.5])
    )
    first, second = side_by_side([one, other])
    assert first.columns == second.columns == other.columns
    assert (first.splits.tolist(), first.gain.tolist()) == ([3, 1, 0], [0.75, 0.25, 0.0])
    assert second.splits.tolist() == [1, 0, 2]
