"""Explanation of the score of one row against exact Shapley values."""

import csv
import dataclasses
import itertools
import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from aucstudio.cli import main
from aucstudio.engine.ensembles.combined import CombinationScorer, Part
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.scorers import KernelScorer, LinearScorer, joined_trees
from aucstudio.notices import notice
from aucstudio.project.data.preparing.preparation import column_features
from aucstudio.project.data.text import dates
from aucstudio.project.errors import InputError
from aucstudio.project.explain.contributions import about, explain_row, score_headline
from aucstudio.project.explain.shapley import contributions
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.store.model_file import save_model
from tests.conftest import write_file


def exact_shapley_values(f, x, Z, columns):
    """Return Shapley values over all sets, with v(S) the mean over the background rows."""
    n = len(columns)
    value = {}
    for size in range(n + 1):
        for chosen in itertools.combinations(range(n), size):
            mixed = Z.copy()
            for k in chosen:
                mixed[:, columns[k]] = x[columns[k]]
            value[chosen] = float(f(mixed).mean())
    phi = np.zeros(n)
    for chosen in value:
        for k in set(range(n)) - set(chosen):
            weight = math.factorial(len(chosen)) * math.factorial(n - len(chosen) - 1)
            phi[k] += weight * (value[tuple(sorted((*chosen, k)))] - value[chosen])
    return phi / math.factorial(n)


def kernel_scorer(rng, d, points=12, gamma=0.2):
    return KernelScorer(
        Kernel("rbf", gamma=gamma), rng.normal(size=(points, d)), rng.normal(size=points)
    )


def test_sampled_contributions_match_exact_shapley_values():
    rng = np.random.default_rng(3)
    scorer, x, Z = kernel_scorer(rng, 6), rng.normal(size=6), rng.normal(size=(40, 6))
    # The third column has two features, like a category.
    columns = [np.array(at) for at in ([0], [1], [2, 3], [4], [5])]
    found = contributions(scorer, x, Z, columns, tolerance=0.01)
    expected = exact_shapley_values(scorer, x, Z, columns)
    assert not found.exact
    assert found.complete
    assert found.errors.max() <= 0.01 * scorer(Z).std()
    assert_allclose(found.values, expected, atol=4 * found.errors.max())
    assert_allclose(found.values.sum(), found.score - found.mean, atol=1e-12)
    again = contributions(scorer, x, Z, columns, tolerance=0.01)
    np.testing.assert_array_equal(again.values, found.values)


@pytest.mark.parametrize(("rows", "draws"), [(1000, 40), (30, 75), (12, 240)])
def test_standard_errors_match_the_variation_of_estimates(rows, draws):
    rng = np.random.default_rng(5)
    scorer, x, Z = kernel_scorer(rng, 5), rng.normal(size=5), rng.normal(size=(rows, 5))
    columns = [np.array([k]) for k in range(5)]
    expected = exact_shapley_values(scorer, x, Z, columns)
    away = []
    for seed in range(60):
        found = contributions(scorer, x, Z, columns, seed=seed, tolerance=0.0, most_draws=draws)
        assert len(found.noise) == draws
        away.append((found.values - expected) / found.errors)
        pair = [1, 3]
        assert found.error(pair) <= found.errors[pair].sum() + 1e-12
    assert 0.8 < np.sqrt(np.mean(np.square(away))) < 1.2


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("auc-rls", {}),
        ("pauc-boost", {}),
        ("rankboost", {"n_rounds": 30}),
        ("auc-split", {}),
        ("svm", {"kernel": "rbf"}),
    ],
)
def test_contributions_of_runs_match_exact_shapley_values(table, plan, method, settings):
    split = execute(plan(method, settings), table).splits[0]
    model, preparation = split.model, split.model.preparation
    row = int(split.test_rows[4])
    detail = explain_row(table, model, row, split.train_rows)
    columns = column_features(preparation)
    x = preparation.apply(table, np.array([row]))[0]
    Z = preparation.apply(table, split.train_rows)
    expected = exact_shapley_values(model.scorer, x, Z, list(columns.values()))
    assert detail.exact == (method in ("auc-rls", "pauc-boost", "rankboost"))
    slack = 4.5 * max(part.standard_error for part in detail.parts) + 1e-12
    slack = 1e-9 if detail.exact else slack
    by_column = {part.column: part.contribution for part in detail.parts}
    assert set(by_column) == {"x0", "x1", "x2", "x3", "town"}
    for name, phi in zip(columns, expected, strict=True):
        assert by_column[name] == pytest.approx(phi, abs=slack)
    assert sum(by_column.values()) == pytest.approx(detail.score - detail.mean, abs=1e-9)
    assert detail.score == pytest.approx(split.test_scores[4], abs=1e-12)
    assert detail.mean == pytest.approx(split.train_scores.mean(), abs=1e-9)
    sizes = [abs(part.contribution) for part in detail.parts]
    assert sizes == sorted(sizes, reverse=True)
    town = next(part for part in detail.parts if part.column == "town")
    assert town.value == table.column("town").values[row]
    assert town.usual.startswith("the same in ")


@pytest.mark.parametrize("method", ["auc-rls", "auc-split"])
def test_background_rows_count_by_their_weights(table, plan, method):
    split = execute(plan(method), table).splits[0]
    weights = np.arange(len(split.train_rows)) % 4.0
    row, often = int(split.test_rows[4]), np.repeat(split.train_rows, weights.astype(int))
    weighted = explain_row(table, split.model, row, split.train_rows, weights=weights)
    repeated = explain_row(table, split.model, row, often)
    slack = 0.005 * np.std(split.train_scores) + 4 * max(p.standard_error for p in repeated.parts)
    for name in {part.column for part in repeated.parts}:
        found = [p.contribution for d in (weighted, repeated) for p in d.parts if p.column == name]
        assert found[0] == pytest.approx(found[1], abs=slack)
    assert weighted.mean == pytest.approx(repeated.mean, abs=slack)
    assert weighted.by_weight
    assert weighted.of_rows == np.count_nonzero(weights)
    counted = np.count_nonzero(weights)
    found = about(weighted)
    assert notice("compared_by_weight", background=10_000, of_rows=counted) in found
    assert (notice("contributions_exact") in found) == weighted.exact


@pytest.mark.parametrize("method", ["auc-rls", "pauc-boost", "auc-split"])
def test_sums_of_terms_use_all_rows_and_others_name_their_sample(table, plan, method):
    split = execute(plan(method), table).splits[0]
    row, rows = int(split.test_rows[4]), np.resize(split.train_rows, 10_001)
    detail = explain_row(table, split.model, row, rows)
    uses_all = method != "auc-split"
    assert detail.background == (len(rows) if uses_all else 10_000)
    assert ("10,000" in score_headline(detail, row + 1, "others")) != uses_all
    if uses_all:
        preparation = split.model.preparation
        scores = split.model.scorer(preparation.apply(table, rows)) + split.model.intercept
        assert detail.mean == pytest.approx(scores.mean(), abs=1e-9)
        total = sum(part.contribution for part in detail.parts)
        assert total == pytest.approx(detail.score - detail.mean, abs=1e-9)


def test_missing_indicator_belongs_to_its_column(table, plan):
    experiment = plan()
    marked = dataclasses.replace(experiment.preparation, indicators=True)
    experiment = dataclasses.replace(experiment, preparation=marked)
    split = execute(experiment, table).splits[0]
    assert split.model.preparation.indicated == ("x1",)
    row = 5  # without x1
    detail = explain_row(table, split.model, row, split.train_rows)
    weights, names = split.coef, split.model.preparation.feature_names
    X = split.model.preparation.apply(table, np.r_[row, split.train_rows])
    moved = weights * (X[0] - X[1:].mean(axis=0))
    both = moved[names.index("x1")] + moved[names.index("x1 = missing")]
    part = next(part for part in detail.parts if part.column == "x1")
    assert part.contribution == pytest.approx(both)
    assert part.value == "missing"


def test_error_of_merged_contributions_is_that_of_their_sum():
    rng = np.random.default_rng(8)
    scorer, x, Z = (
        kernel_scorer(rng, 12, gamma=0.05),
        rng.normal(size=12),
        rng.normal(size=(50, 12)),
    )
    columns = [np.array([k]) for k in range(12)]
    found = contributions(scorer, x, Z, columns)
    assert found.error(list(range(12))) == pytest.approx(0.0, abs=1e-12)  # the sum is known
    for k in range(12):
        assert found.error([k]) == pytest.approx(found.errors[k])


def test_sums_of_linear_scores_and_stumps_are_explained_exactly(table, plan):
    trees = execute(plan("rankboost", {"n_rounds": 10}), table).splits[0].model.scorer
    rng = np.random.default_rng(0)
    d = int(trees.feature.max()) + 1
    twice = joined_trees([trees, trees], 0.5)
    shared = dataclasses.replace(trees, roots=np.repeat(trees.roots, 2))  # each tree counts twice
    columns = [np.array([k]) for k in range(d)]
    x, Z = rng.normal(size=d), rng.normal(size=(25, d))
    for inner in (twice, shared):
        scorer = CombinationScorer((Part(inner, 0.5), Part(LinearScorer(rng.normal(size=d)))), 2.0)
        found = contributions(scorer, x, Z, columns)
        assert found.exact
        assert_allclose(found.values, exact_shapley_values(scorer, x, Z, columns), atol=1e-10)
    linked = CombinationScorer((Part(kernel_scorer(rng, d)),))
    assert not contributions(linked, x, Z, columns).exact


def test_stop_keeps_an_incomplete_explanation():
    rng = np.random.default_rng(1)
    scorer, x, Z = kernel_scorer(rng, 4), rng.normal(size=4), rng.normal(size=(20, 4))
    columns = [np.array([k]) for k in range(4)]
    with pytest.raises(Stopped):
        contributions(scorer, x, Z, columns, listen=lambda _share, _sofar: True)
    fractions = []

    def after_one(share, sofar):
        fractions.append(share)
        return sofar is not None

    found = contributions(scorer, x, Z, columns, tolerance=0.0, listen=after_one)
    assert not found.complete
    assert_allclose(found.values.sum(), found.score - found.mean, atol=1e-12)
    assert fractions == sorted(fractions)
    assert max(fractions) <= 1


def test_constant_score_has_zero_contributions():
    still = KernelScorer(Kernel("rbf", gamma=1.0), np.zeros((1, 3)), np.zeros(1))
    columns = [np.array([0]), np.array([1, 2])]
    found = contributions(still, np.ones(3), np.zeros((5, 3)), columns)
    assert_allclose(found.values, 0.0)
    one = contributions(
        kernel_scorer(np.random.default_rng(2), 1), np.ones(1), np.zeros((5, 1)), columns[:1]
    )
    assert_allclose(one.values, one.score - one.mean)


def test_table_without_a_model_column_is_refused(table, plan):
    split = execute(plan(), table).splits[0]
    without = dataclasses.replace(table, columns=tuple(c for c in table.columns if c.name != "x2"))
    with pytest.raises(InputError, match="x2"):
        explain_row(without, split.model, 0, split.train_rows)


@pytest.fixture
def model_file(table, plan, tmp_path):
    path = tmp_path / "found.aucmodel"
    save_model(execute(plan(), table).splits[0].model, path)
    return path


def explained(capsys, *arguments):
    assert main(["--quiet", "explain", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_command_explains_a_row_of_a_file(model_file, table_file, tmp_path, capsys):
    document = json.loads(explained(capsys, model_file, table_file, "--row", 6, "--json"))
    parts = document["contributions"]
    assert document["row"] == 6
    assert document["exact"]
    assert parts[0]["contribution"] == max((p["contribution"] for p in parts), key=abs)
    total = sum(part["contribution"] for part in parts)
    assert total == pytest.approx(document["score"] - document["mean"], abs=1e-9)
    assert next(part for part in parts if part["column"] == "x1")["value"] == "missing"
    out = tmp_path / "parts.csv"
    text = explained(capsys, model_file, table_file, "--row", 6, "-o", out)
    assert text.startswith("Row 6 scores ")
    assert "x0" in text
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["contribution"]) for row in rows] == [p["contribution"] for p in parts]


def test_background_can_be_another_table(model_file, table_file, tmp_path, capsys):
    lines = table_file.read_text(encoding="utf-8").splitlines()
    few = write_file(tmp_path / "few.csv", "\n".join([lines[0], *lines[1:9]]) + "\n")
    against = ["--row", 20, "--background", few, "--json"]
    document = json.loads(explained(capsys, model_file, table_file, *against))
    assert document["background"] == 8
    assert document["compared_with"] == str(few)
    assert main(["explain", str(model_file), str(few), "--row", "2"]) == 0
    assert "--background" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--row", "5000"], "no row 5,000: its rows are 1 to 160"),
        (["--row", "0"], "at least 1"),
        (["--row", "3", "--seed", "-1"], "seed must be at least 0"),
        ([], "--row"),
    ],
)
def test_invalid_row_numbers_are_refused(model_file, table_file, capsys, given, said):
    try:
        status = main(["explain", str(model_file), str(table_file), *given])
    except SystemExit as end:
        status = end.code
    assert status == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "layout", "said"),
    [
        (0.0, "y-m-d", "1970-01-01"),
        (19723.5, "d.m.y", "2024-01-01 12:00"),
        (-1.0, "y-m", "1969-12-31"),
        (13.5, "h:m", "13:30"),
        (0.25 + 1 / 86400, "y-m-d", "1970-01-01 06:00:01"),
        (-1e12, "y-m-d", "-1e+12"),
    ],
)
def test_date_numbers_are_formatted_as_dates(value, layout, said):
    assert dates.date_text(value, layout) == said
    if not said.startswith("-"):
        assert dates.read(said, "h:m" if layout == "h:m" else "y-m-d") == pytest.approx(value)


def test_typical_values_are_described_as_the_model_sees_them(table, plan):
    columns = tuple(
        dataclasses.replace(column, role="category", values=np.round(column.values))
        if column.name == "x1"
        else column
        for column in table.columns
    )
    coded = dataclasses.replace(table, columns=columns)
    experiment = dataclasses.replace(plan(), data=DataReference.to_table(coded))
    split = execute(experiment, coded).splits[0]
    background = split.train_rows
    cells = coded.column("x1").values[background]
    own = coded.column("x1").values[0]
    for row, share in ((0, np.mean(cells == own)), (5, np.isnan(cells).mean())):
        detail = explain_row(coded, split.model, row, background)
        usual = {part.column: part.usual for part in detail.parts}
        assert usual["x1"] == f"the same in {100 * share:.0f} %"
        mean = table.column("x0").values[background].mean()
        assert usual["x0"] == f"mean {mean:.4g}".replace("-", "−")


def test_row_compared_with_itself_has_zero_contributions(table, plan):
    split = execute(plan(), table).splits[0]
    detail = explain_row(table, split.model, 3, np.array([3]))
    assert all(part.contribution == 0 for part in detail.parts)
    assert score_headline(detail, 4, "the others").endswith("as the others on average.")
    assert notice("contributions_exact") in about(detail)
