"""Computations of the Data page against brute force: row queries and column summaries."""

import dataclasses
import math
import statistics

import numpy as np
import pytest
from scipy import stats

from aucstudio.engine import roc
from aucstudio.engine.inference import delong_interval
from aucstudio.project.data.columns import Column
from aucstudio.project.data.findings.column_areas import SHARE, alone
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.store.scores_file import PLAIN, CsvForm
from aucstudio.project.survey.column_sets import PEARSON, SPEARMAN, correlate, gap_columns, map_gaps
from aucstudio.project.survey.columns import MOST_BARS, Classes, ColumnAreas, RankedColumn, sum_up
from aucstudio.project.survey.conditions import like_cell, read_conditions
from aucstudio.project.survey.rows import (
    FALSE_ALARM,
    HELD,
    MISRANKED,
    MISSED,
    TRAINED_ON,
    Query,
    ScoredRows,
    find_rows,
    save_rows,
    text_codes,
    wrong_pairs,
)
from tests.conftest import write_file


def numbers(name, values, role="number"):
    values = np.asarray(values, dtype=float)
    known = values[~np.isnan(values)]
    made = Column.of_cells(name, values, len(values) - len(known), len(np.unique(known)))
    return dataclasses.replace(made, role=role)


def texts(name, values):
    known = {value for value in values if value is not None}
    cells = np.array(values, dtype=object)
    return Column.of_cells(name, cells, list(values).count(None), len(known))


def made_classes(positive, known=None):
    positive = np.asarray(positive, dtype=bool)
    known = np.ones(len(positive), dtype=bool) if known is None else known
    return Classes(("yes", "no"), positive & known, known & ~positive)


@pytest.fixture
def columns():
    return {
        "age": numbers("age", [40, np.nan, 39.5, 41, -3]),
        "town": texts("town", ["Bern", None, "bern", "Basel; Stadt", '"x"']),
        "a = b": numbers("a = b", [1, 2, 3, 4, 5]),
        "contains": texts("contains", ["a", "b", "a", None, "c"]),
    }


# ------------------------------------------------------------- conditions


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("age >= 40", [0, 3]),
        ("age≥40", [0, 3]),
        ("AGE = 40", [0]),
        ("age != 40", [2, 3, 4]),
        ("age = 39..40", [0, 2]),
        ("age < −2", [4]),
        ("age missing", [1]),
        ("age known; age < 40", [2, 4]),
        ("town = Bern", [0]),
        ("town contains BER", [0, 2]),
        ('town = "Basel; Stadt"', [3]),
        ('town = """x"""', [4]),
        ("town != Bern", [2, 3, 4]),
        ('"a = b" > 3', [3, 4]),
        ('"contains" = a', [0, 2]),
        ("", [0, 1, 2, 3, 4]),
        (" ; ", [0, 1, 2, 3, 4]),
    ],
)
def test_conditions_select_the_expected_rows(columns, text, rows):
    found = np.ones(5, dtype=bool)
    for condition in read_conditions(text, columns):
        found &= condition.holds(columns[condition.column])
    assert np.flatnonzero(found).tolist() == rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("agee > 3", "no column 'agee'"),
        ("age", "is not a condition"),
        ("age > ", "has no value to compare"),
        ("age > old", "'old' is not a number"),
        ("age = 1..2..3", "is not a number"),
        ("age contains 4", "holds numbers"),
        ("town > Bern", "holds text"),
        ("age = nan", "is not a number"),
    ],
)
def test_invalid_conditions_are_refused(columns, text, words):
    with pytest.raises(InputError, match=words):
        read_conditions(text, columns)


def test_condition_round_trips_as_text(columns):
    for name, column in columns.items():
        for row in range(5):
            for test in ("=", "!="):
                condition = like_cell(column, row, test)
                assert read_conditions(str(condition), columns) == (condition,), name
                if test == "=":
                    assert condition.holds(column)[row]


# ------------------------------------------------------------- order


def test_rows_are_sorted_stably_with_missing_values_last(table):
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 5, table.rows).astype(float)
    cells[::7] = np.nan
    words = [None if np.isnan(v) else "ba€z"[int(v) % 4] * (1 + int(v)) for v in cells]
    for column in (numbers("n", cells), texts("t", words)):
        known = [k for k in range(table.rows) if not np.isnan(cells[k])]
        gaps = [k for k in range(table.rows) if np.isnan(cells[k])]
        for down in (False, True):
            found = find_rows(
                table, Query(order=column.name, descending=down), {column.name: column}
            )
            key = column.values.__getitem__
            # Python's sort is stable in both directions.
            assert found.tolist() == sorted(known, key=key, reverse=down) + gaps


def test_text_codes_follow_the_sort_order():
    values = np.array(["b", None, "a", "é", "b", "B"], dtype=object)
    np.testing.assert_array_equal(text_codes(values), [2, np.nan, 1, 3, 2, 0])
    assert not len(text_codes(values[:0]))


def test_queries_select_classes_and_parts_of_a_run(table):
    data = DataReference.to_table(table)
    record = execute(plan_experiment(data, "auc-rls", {}, Validation()), table)
    split, columns = record.splits[0], {c.name: c for c in table.columns}
    scored = ScoredRows.of(record, 0, table.rows)
    find = lambda **asked: find_rows(table, Query(**asked), columns, scored)  # noqa: E731
    assert find(part=HELD).tolist() == sorted(split.test_rows)
    assert find(part=TRAINED_ON).tolist() == sorted(split.train_rows)
    assert (
        find(of_class="yes").tolist()
        == np.flatnonzero(table.column("outcome").values == "yes").tolist()
    )
    called = split.test_scores > 0.1
    wrong = {FALSE_ALARM: called & ~split.test_positive, MISSED: ~called & split.test_positive}
    for part, mask in wrong.items():
        assert find(part=part, threshold=0.1).tolist() == sorted(split.test_rows[mask])
    pairs = brute_force_pairs(split.test_positive, split.test_scores)
    assert find(part=MISRANKED).tolist() == sorted(split.test_rows[pairs > 0])
    np.testing.assert_array_equal(scored.wrong_pairs[split.test_rows], pairs)
    np.testing.assert_array_equal(scored.scores[split.train_rows], split.train_scores)
    assert find_rows(table, Query(part=HELD), columns, None).tolist() == []


def brute_force_pairs(positive, scores):
    margin = np.where(positive[:, None], 1, -1) * (scores[:, None] - scores)
    return ((positive[:, None] != positive) & (margin < 0)).sum(axis=1)


def test_wrong_pairs_exclude_ties():
    rng = np.random.default_rng(3)
    positive, scores = rng.random(60) < 0.4, rng.integers(0, 6, 60).astype(float)
    np.testing.assert_array_equal(
        wrong_pairs(positive, scores), brute_force_pairs(positive, scores)
    )


# ------------------------------------------------------------- summaries


def test_statistics_of_numbers_match_the_standard_library():
    rng = np.random.default_rng(0)
    values = rng.normal(5, 2, 300)
    values[rng.random(300) < 0.1] = np.nan
    positive = rng.random(300) < 0.3
    found = sum_up(numbers("x", values), made_classes(positive))
    for name, mask in (("All rows", np.ones(300, bool)), ("yes", positive), ("no", ~positive)):
        known = [float(v) for v in values[mask] if not math.isnan(v)]
        figures = found.groups[name]
        assert (figures.rows, figures.missing) == (mask.sum(), mask.sum() - len(known))
        assert figures.mean == pytest.approx(statistics.mean(known))
        assert figures.sd == pytest.approx(statistics.stdev(known))
        assert figures.median == statistics.median(known)
        assert (figures.low, figures.high) == (min(known), max(known))
    known = ~np.isnan(values)
    assert found.area == delong_interval(positive[known], values[known])
    assert roc.auc_of(found.curve) == roc.auc(positive[known], values[known])


def test_number_codes_of_missing_values_are_missing():
    values = [1.0, -999.0, 3.0, 2.0, np.nan, 8.0]
    column = dataclasses.replace(numbers("x", values), absent=(-999.0,))
    classes = made_classes([True, False, True, False, True, False])
    found = sum_up(column, classes)
    figures = found.groups["All rows"]
    assert (figures.rows, figures.missing, figures.low, figures.high) == (6, 2, 1.0, 8.0)
    assert found.area.value == 0.25  # of 1 and 3 against 2 and 8
    assert found.distribution.shares.shape[1] == 4


def test_histogram_counts_every_cell_or_the_omitted_ones():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=2000), [1e9, -1e9, 1e308, np.nan]])
    positive = rng.random(len(values)) < 0.5
    found = sum_up(numbers("x", values), made_classes(positive)).distribution
    assert (found.below, found.above) == (1, 2)
    assert found.edges[0] > -10
    assert found.edges[-1] < 10
    for line, mask in zip(found.shares, (positive, ~positive), strict=True):
        known = values[mask & ~np.isnan(values)]
        expected = np.histogram(known, found.edges)[0] / len(known)
        np.testing.assert_allclose(line, expected)
    even = sum_up(numbers("x", rng.random(500)), None).distribution
    assert (even.below, even.above) == (0, 0)
    assert even.shares.sum() == pytest.approx(1.0)


def test_few_distinct_values_have_a_bar_each():
    positive = np.array([True, True, False, False, False])
    found = sum_up(numbers("n", [1, 2, 2, 2.5, np.nan]), made_classes(positive)).distribution
    assert found.names == ("1", "2", "2.5")
    np.testing.assert_allclose(found.shares, [[0.5, 0.5, 0], [0, 0.5, 0.5]])
    found = sum_up(texts("t", ["b", "a", "b", None, "c"]), made_classes(positive))
    assert found.distribution.names == ("a", "b", "c")  # by falling share of positives
    np.testing.assert_allclose(found.distribution.shares, [[0.5, 0.5, 0], [0, 0.5, 0.5]])
    assert found.groups["no"].missing == 1
    assert found.by == SHARE


def test_most_frequent_of_many_texts_have_bars():
    values = [f"v{k:03}" for k in range(100)] + ["common"] * 5
    found = sum_up(texts("t", values), None).distribution
    assert len(found.names) == MOST_BARS
    assert found.names[0] == "common"
    assert found.others == 101 - MOST_BARS
    assert found.shares.max() == pytest.approx(5 / 105)  # no bar of all others


def test_texts_that_separate_the_classes_have_bars():
    positive = np.arange(3000) % 30 == 0
    values = [f"v{k % 59:02}" for k in range(3000)]
    for k in np.flatnonzero(positive)[:40]:
        values[k] = "rare but telling"
    found = sum_up(texts("t", values), made_classes(positive)).distribution
    assert found.names[0] == "rare but telling"
    assert (len(found.names), found.others) == (MOST_BARS, 60 - MOST_BARS)
    assert found.shares.max() == found.shares[0, 0] == pytest.approx(0.4)


@pytest.mark.parametrize(
    "values", [[np.nan] * 4, [7.0] * 4, [1e308, -1e308, 0, 1], [np.nan, 1, 1, 1]]
)
def test_degenerate_columns_are_summarised(values):
    found = sum_up(numbers("x", values), made_classes([True, False, True, False]))
    assert np.isfinite(found.distribution.shares).all()
    assert found.groups["All rows"].rows == 4


def test_levels_are_ranked_by_out_of_fold_positive_share(tmp_path):
    rng = np.random.default_rng(5)
    towns = rng.choice(["a", "b", "c", None], 400).tolist()
    positive = rng.random(400) < np.array([{"a": 0.2, "b": 0.7}.get(t, 0.4) for t in towns])
    ranked = RankedColumn.of(texts("t", towns), made_classes(positive))
    share = {t: np.mean(positive[[o == t for o in towns]]) for t in ["a", "b", "c", None]}
    assert ranked.area() == pytest.approx(roc.auc(positive, [share[t] for t in towns]), abs=0.03)
    assert RankedColumn.of(texts("t", [None] * 400), made_classes(positive)) is None
    codes = {"a": 7, "b": 3, "c": 5, None: ""}
    rows = [f"{t or ''},{codes[t]},{int(one)}" for t, one in zip(towns, positive, strict=True)]
    path = write_file(tmp_path / "t.csv", "\n".join(["town,code,y", *rows]) + "\n")
    table = read_table(path).with_roles(roles={"code": "category"}, label="y", positive="1")
    found = {name: one.area for name, one in alone(table).items()}  # as reported by inspect
    assert found["town"] == found["code"] == ranked.area()
    assert RankedColumn.of(table.column("code"), Classes.of(table)).area() == ranked.area()


def test_two_levels_have_their_exact_auc():
    rng = np.random.default_rng(3)
    positive = rng.random(1001) < 0.1
    stopped = rng.random(1001) < np.where(positive, 0.8, 0.02)
    column = texts("t", np.where(stopped, "yes", "no").tolist())
    assert RankedColumn.of(column, made_classes(positive)).area() == roc.auc(positive, stopped)


@pytest.mark.parametrize("levels", [2, 30, 400, 500])
def test_uninformative_levels_have_an_auc_of_one_half(levels):
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        names = [f"name {k}" for k in rng.integers(levels, size=400)]
        found.append(RankedColumn.of(texts("t", names), made_classes(rng.random(400) < 0.3)).area())
    assert abs(np.mean(found) - 0.5) < 4 * np.std(found) / np.sqrt(40) + 0.01


def test_aucs_of_visible_columns_are_computed_first(table):
    classes = Classes.of(table)
    areas, order = ColumnAreas(table.columns, lambda: classes), []
    areas.wanted = (3, 1)

    def stop_after_three(column):
        order.append(column)
        return len(order) == 3

    areas.find(stop_after_three)
    assert order == [3, 1, 0]
    areas.find(lambda column: order.append(column) or False)
    assert sorted(order) == list(range(len(table.columns)))
    assert areas.done.all()
    for k, column in enumerate(table.columns):
        if column.role == "label":
            assert np.isnan(areas.found[k])
        else:
            assert areas.found[k] == RankedColumn.of(column, classes).area()


def test_classes_exclude_unlabelled_rows(table):
    label = table.column("outcome").values.copy()
    label[:3] = None
    columns = tuple(
        dataclasses.replace(c, values=label) if c.role == "label" else c for c in table.columns
    )
    found = Classes.of(dataclasses.replace(table, columns=columns))
    assert found.names == ("yes", "no")
    np.testing.assert_array_equal(found.positive, label == "yes")
    np.testing.assert_array_equal(found.negative, label == "no")
    assert Classes.of(dataclasses.replace(table, label=None)) is None


# ------------------------------------------------------------- missing values and correlation


def test_missing_value_map_shows_shares_of_rows():
    rng = np.random.default_rng(2)
    cells = rng.random((103, 3))
    cells[rng.random((103, 3)) < 0.3] = np.nan
    columns = [numbers(f"x{k}", cells[:, k]) for k in range(3)]
    rows, positive = rng.permutation(103)[:90], rng.random(103) < 0.4
    known = rng.random(103) < 0.9
    found = map_gaps(columns, rows, made_classes(positive, known), most=8)
    assert found.starts[0] == 0
    assert found.starts[-1] == 90
    for line in range(8):
        there = rows[found.starts[line] : found.starts[line + 1]]
        np.testing.assert_allclose(found.missing[line], np.isnan(cells[there]).mean(axis=0))
        labelled = there[known[there]]
        assert found.positive[line] == pytest.approx(positive[labelled].mean())
    assert found.rows == np.isnan(cells[rows]).any(axis=1).sum()
    assert map_gaps(columns, rows[:0], None).missing.shape == (0, 3)


def test_map_shows_columns_with_most_missing_values():
    gaps = [3, 0, 1, 5]
    columns = [numbers(f"x{k}", [np.nan] * n + [1.0] * (6 - n)) for k, n in enumerate(gaps)]
    assert [c.name for c in gap_columns(columns, most=2)] == ["x0", "x3"]


@pytest.mark.parametrize("kind", [SPEARMAN, PEARSON])
def test_correlations_match_scipy(kind):
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 9, (200, 4)).astype(float)
    cells[:, 1] = cells[:, 0] ** 3 + rng.normal(size=200) * 1e6
    cells[:, 3] = 1e8 + 0.001 * cells[:, 2]
    found = correlate([numbers(f"x{k}", cells[:, k]) for k in range(4)], kind)
    of_scipy = stats.spearmanr if kind == SPEARMAN else stats.pearsonr
    for i in range(4):
        for j in range(4):
            expected = of_scipy(cells[:, i], cells[:, j]).statistic
            assert found.values[i, j] == pytest.approx(expected, abs=1e-6)


def test_correlations_use_pairwise_complete_rows():
    rng = np.random.default_rng(1)
    cells = rng.normal(size=(100, 3))
    cells[:, 1] += cells[:, 0]
    cells[rng.random((100, 3)) < 0.2] = np.nan
    cells[:, 2] = 5.0
    found = correlate([numbers(f"x{k}", cells[:, k]) for k in range(3)], PEARSON)
    both = ~np.isnan(cells[:, :2]).any(axis=1)
    expected = stats.pearsonr(cells[both, 0], cells[both, 1]).statistic
    assert found.values[0, 1] == pytest.approx(expected, abs=1e-12)
    assert found.rows[0, 1] == both.sum()
    assert np.isnan(found.values[2]).all()
    few = correlate([numbers("a", [1, 2, np.nan]), numbers("b", [1, 2, 3])], SPEARMAN)
    assert np.isnan(few.values[0, 1])


@pytest.mark.parametrize(
    "choice",
    [{"positive": ["2", "3"]}, {"positive": ">= 2"}, {"positive": "2", "merge": [["2", "3"]]}],
)
def test_joined_classes_are_joined_in_column_aucs(tmp_path, choice):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{k % 4 + k / 100},{k % 4}\n" for k in range(60)))
    table = read_table(path).with_roles(label="y", **choice)
    found = Classes.of(table)
    assert found.positive.tolist() == [k % 4 >= 2 for k in range(60)]
    assert found.negative.tolist() == [k % 4 < 2 for k in range(60)]
    assert RankedColumn.of(table.column("x"), found).area() == 1.0


def test_saved_cells_are_written_as_they_were_read(tmp_path):
    columns = [numbers("id", [799854.0, 77.0]), numbers("x", [0.5, np.nan])]
    path, form = tmp_path / "rows.csv", CsvForm(";", ",", marked=True)
    save_rows(path, columns, np.arange(2), np.arange(1, 3), None, form, lambda _done: None)
    assert path.read_text("utf-8-sig").splitlines() == ["row;id;x", "1;799854;0,5", "2;77;"]


def test_saved_percentages_are_read_by_the_schema_of_the_table(tmp_path):
    path, saved = tmp_path / "t.csv", tmp_path / "rows.csv"
    path.write_text("x,y\n" + "".join(f"{k / 10 - 1} %,{k % 2}\n" for k in range(40)))
    table = read_table(path, label="y")
    how = table.file_rows, None, PLAIN, lambda _done: None
    save_rows(saved, table.columns, np.arange(table.rows), *how)
    again = read_table(saved, schema=table.schema)
    np.testing.assert_array_equal(again.column("x").values, table.column("x").values)
    assert not again.unreadable


def test_dates_used_by_their_parts_are_ranked_by_the_best_part(tmp_path):
    rng = np.random.default_rng(5)
    path, hours = tmp_path / "t.csv", rng.integers(0, 24, 3000)
    likely = np.where(np.isin(hours, (1, 2, 14)), 0.6, 0.1)
    lines = [
        f"2024-{1 + k % 12:02d}-{1 + k % 28:02d} {hour:02d}:30,{int(rng.random() < likely[k])}"
        for k, hour in enumerate(hours.tolist())
    ]
    path.write_text("at,y\n" + "\n".join(lines))
    table = read_table(path, label="y", positive="1", parts={"at": ["weekday", "hour-circle"]})
    summary = sum_up(table.column("at"), Classes.of(table))
    assert summary.by == "hour"
    assert summary.area.value > 0.7
    assert summary.area.value == alone(table)["at"].area
    whole = read_table(path, label="y", positive="1")
    assert abs(alone(whole)["at"].area - 0.5) < 0.05
