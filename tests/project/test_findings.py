"""Findings about a table that affect results, ranked by their consequences."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucstudio import cli
from aucstudio.notices import notice
from aucstudio.project.data.cells import number_cells
from aucstudio.project.data.columns import Column
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.finding import FORMAT, KINDS, Finding, ranked
from aucstudio.project.data.findings import column_areas
from aucstudio.project.data.findings.column_areas import ranked_area
from aucstudio.project.data.findings.copies import met_again, repeated, shared
from aucstudio.project.data.findings.find import find
from aucstudio.project.data.findings.inspection import inspection
from aucstudio.project.data.findings.sentinels import find_sentinels
from aucstudio.project.data.input_files import FileStamp
from aucstudio.project.data.labels import equal_spellings, usual_spellings
from aucstudio.project.data.roles import guess_role
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.data.text.dialect import Dialect
from tests.conftest import write_file

RANDOM = np.random.default_rng(3)
X_RISING = [60 + k / 2 for k in range(40)]


def column(name, cells):
    values = np.array(cells, dtype=object if isinstance(cells[0], str | None) else float)
    if values.dtype == object:
        known = [cell for cell in cells if cell is not None]
        return Column.of_cells(name, values, len(cells) - len(known), len(set(known)))
    found = number_cells(values)
    return Column.of_cells(name, values, found.missing, found.distinct)


def table_of(label="y", file="data.csv", **columns):
    made = tuple(column(key, list(cells)) for key, cells in columns.items())
    path = Path(file)
    files = (FileStamp.of(path),)
    table = Table(path=path, format="csv", dialect=Dialect(), columns=made, files=files)
    return table.with_roles(label=label, positive="1") if label else table


def classes(rows, share=0.3):
    return (RANDOM.random(rows) < share).astype(float)


def found(table, kind):
    return [finding for finding in find(table) if finding.kind == kind]


# ------------------------------------------------------------------ the order


def test_findings_are_ranked_by_kind_and_rows_without_repeats():
    few, many = Finding("sentinel", "few", ("a",), 3), Finding("sentinel", "many", ("b",), 30)
    leak = Finding("leak", "leak", ("c",))
    assert ranked([few, leak, many, leak]) == (leak, many, few)
    assert len(set(KINDS)) == len(KINDS)


def test_equal_findings_about_many_columns_are_merged():
    y = classes(300)
    cells = {f"c{k}": np.r_[RANDOM.normal(5, 1, 290), [999.0] * 10] for k in range(7)}
    (finding,) = found(table_of(**cells, y=y), "sentinel")
    assert (set(finding.columns), finding.values) == (set(cells), ("999",))
    cells.pop("c0"), cells.pop("c1")
    assert len(found(table_of(**cells, y=y), "sentinel")) == 5


def test_label_of_one_value_is_reported():
    table = table_of(label=None, x=RANDOM.normal(size=40), outcome=["yes"] * 40)
    table = dataclasses.replace(table, columns=tuple(map(guess_role, table.columns)))
    assert [(f.code, f.columns) for f in found(table, "label")] == [
        ("label_of_one_value", ("outcome",))
    ]


def test_plain_table_has_no_findings():
    y = classes(400)
    assert find(table_of(a=RANDOM.normal(size=400), b=RANDOM.integers(0, 9, 400), y=y)) == ()


# ------------------------------------------------------------------ layouts

TURNED = [["age", *range(20, 28)], ["dose", *(k + 0.5 for k in range(8))], ["y", *"uvuvuvuv"]]
GENES = [[f"gene{k}", *RANDOM.normal(size=9).round(2)] for k in range(20)]
SITES = [[k, k + 0.5, "uv"[k % 2], "", *((f"S{k}", k) if k < 4 else ("", ""))] for k in range(20)]
# The rows of a file, and the finding about its layout.
LAYOUTS = {
    "a second table": ([["a", "b", "y", "", "site", "n"], *SITES], {"table_to_the_right"}),
    "gaps": ([["a", "y", "n", "m"], *([k, "uv"[k % 2], *[k if k % 3 else ""] * 2]
              for k in range(20))], set()),
    "a short column": ([["a", "y", "n", "m"], *([k, "uv"[k % 2], k, k if k < 4 else ""]
                        for k in range(20))], set()),
    "an empty column": ([["a", "y", "n", "m"], *([k, "uv"[k % 2], "", k] for k in range(20))],
                        set()),
    "transposed": (TURNED, {"table_on_its_side"}),
    "transposed back": ([*zip(*TURNED, strict=True)], set()),
    "words below numbers": (
        [["gene", *(f"s{k}" for k in range(9))], *GENES, ["class", *["case", "control"] * 4, "x"]],
        {"table_on_its_side"}),
}  # fmt: skip


@pytest.mark.parametrize("kind", LAYOUTS)
def test_unusual_layout_of_a_file_is_reported(kind, tmp_path):
    path, (rows, expected) = tmp_path / "data.csv", LAYOUTS[kind]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    codes = {finding.code for finding in find(read_table(path))}
    assert codes & {"table_to_the_right", "table_on_its_side"} == expected


# ------------------------------------------------------------------ single findings

Y = (np.arange(600) % 10 < 3).astype(float)
FLAGS = ["0", "1"] * 30
EVERY = np.arange(400.0)


def flag(*wrong):
    """Return the label of 60 rows as numbers, flipped in the given rows."""
    return [
        float(one == "1") if k not in wrong else float(one == "0") for k, one in enumerate(FLAGS)
    ]


def rare(rows, moved=0):
    cells = np.zeros(1000)
    cells[np.arange(10) * 90 + (np.arange(10) >= rows) * moved] = 1.0
    return cells


# Columns, and the codes of findings with the columns that they are about.
SINGLE = {
    "ordered classes": ({"a": -(Y * 10 + RANDOM.normal(size=600)), "y": Y},
        {"separates_classes": "a"}),
    "copy": ({"a": np.where(Y == 1, "dead", "alive").astype(object), "y": Y},
        {"copy_of_label": "a"}),
    "copy but a row": ({"a": flag(17), "y": FLAGS}, {"nearly_the_label": "a"}),
    "copy but two rows": ({"a": flag(3, 17), "y": FLAGS}, {}),
    "copy but few of the many": ({"a": (np.arange(1000) < 103) * 1.0,
        "y": (np.arange(1000) < 100) * 1.0}, {"nearly_the_label": "a"}),
    "copy but some of the rare": ({"a": (np.arange(1000) < 97) * 1.0,
        "y": (np.arange(1000) < 100) * 1.0}, {}),
    "rare flag": ({"a": rare(6, 1), "y": rare(10)}, {}),
    "levels": ({"a": (c := RANDOM.integers(0, 9, 900)), "y": np.isin(c, [2, 5, 7]) * 1.0},
               {"separates_classes": "a", "better_as_category": "a"}),
    "known in a class": ({"a": np.where(Y == 1, RANDOM.integers(1, 90, 600), np.nan), "y": Y},
                         {"known_in_one_class": "a"}),
    "few rows in order": ({"a": [1, 2, 3, 4, 5, 6.5], "y": [0, 0, 0, 0, 1, 1.0]}, {}),
    "counter": ({"a": EVERY * 3 + 7, "y": Y[:400]}, {"follows_rows": "a"}),
    "counter of few rows": ({"a": np.arange(12) / 10, "y": [0.0, 1.0] * 6}, {"follows_rows": "a"}),
    "account": ({"a": RANDOM.permutation(400) + 1000.0, "y": Y[:400]},
        {"different_in_each_row": "a"}),
    "seconds": ({"a": RANDOM.integers(1_500_000_000, 1_600_000_000, 400), "y": Y[:400]},
                {"moments_as_numbers": "a"}),
    "days": ({"a": 20200100.0 + RANDOM.integers(1, 29, 400), "y": Y[:400]},
        {"moments_as_numbers": "a"}),
    "prices": ({"a": RANDOM.choice(10_000_000, 300, replace=False), "y": Y[:300]}, {}),
    "shuffled": ({"a": [3.5, 1.5, 7.5, 2.5, 9.5, 4.5, 0.5, 8.5, 5.5, 6.5], "y": [0.0, 1.0] * 5},
        {}),
    "identifier again": ({"id": np.arange(80) % 60, "y": [0.0, 1.0] * 40}, {"names_things": "id"}),
    "sign": ({"a": ["rs1", "rs2", "rs1", "."] * 9, "y": Y[:36]}, {"sign_may_be_missing": "a"}),
    "unknown": ({"a": ["x", "y", "z", "Unknown"] * 9, "y": Y[:36]}, {"sign_may_be_missing": "a"}),
    "strands": ({"a": ["+", "-", "+", "-"] * 9, "y": Y[:36]}, {}),
    "weight near 1": ({"weight": [0.8, 1.2] * 30, "y": Y[:60]}, {"may_be_weights": "weight"}),
    "weight far": ({"weight": [80.0, 91.0] * 30, "y": Y[:60]}, {}),
    "body weight": ({"body_weight": [2.0, 3.5, 1.5, 4.0] * 9, "y": Y[:36]}, {}),
    **{name: ({name: RANDOM.random(60) * 900 + 1, "y": Y[:60]}, {"may_be_weights": name})
       for name in ("FINALWT", "fnlwgt", "perwt", "person_weight", "sample_weight")},
    "superwt": ({"superwt": RANDOM.random(60) * 900 + 1, "y": Y[:60]}, {}),
    "counts": ({"children": RANDOM.integers(0, 6, 90), "y": classes(90, 0.4)}, {}),
    "shares": ({"type_share": RANDOM.random(90), "y": classes(90, 0.4)}, {}),
    "two rows each": ({"region": np.arange(90) % 45, "y": classes(90, 0.4)}, {}),
    "two codes": ({"sex_code": 1.0 + np.arange(90) % 2, "y": classes(90, 0.4)}, {}),
    "few codes agree": ({name: RANDOM.integers(0, 3, 500) for name in "abc"} | {"y": Y[:500]}, {}),
}  # fmt: skip


@pytest.mark.parametrize("kind", SINGLE)
def test_columns_have_the_expected_findings(kind):
    columns, expected = SINGLE[kind]
    cells = {name: [c if isinstance(c, str) else float(c) for c in values]
             for name, values in columns.items()}  # fmt: skip
    reported = [
        f for f in find(table_of(**cells)) if f.kind not in ("positive", "label", "missing")
    ]
    reported = {f.code: f.columns for f in reported}
    assert reported == {code: (name,) for code, name in expected.items()}


# ------------------------------------------------------------------ leaks


@settings(deadline=None)
@given(
    st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12),
    st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12),
)
def test_auc_of_a_column_equals_that_of_its_pairs(high, low):
    pairs = [(a > b) + 0.5 * (a == b) for a, b in itertools.product(high, low)]
    assert ranked_area(np.sort(high), np.sort(low)) == pytest.approx(np.mean(pairs))


def test_all_different_levels_are_not_a_leak():
    y = classes(400)
    names = np.array([f"name {k}" for k in range(400)], dtype=object)
    table = table_of(name=names, x=RANDOM.normal(size=400), y=y).with_roles(
        roles={"name": "category"}
    )
    assert not found(table, "leak")


@pytest.mark.parametrize("rows", [60_000, 300_000])
def test_leak_is_found_in_tables_larger_than_the_sample(rows):
    y = classes(rows, 0.2)
    leaky, good = y + RANDOM.normal(size=rows) * 0.1, y + RANDOM.normal(size=rows)
    assert [f.columns for f in found(table_of(leaky=leaky, good=good, y=y), "leak")] == [("leaky",)]


# ------------------------------------------------------------------ sentinels


WHOLE = RANDOM.integers(18, 66, 300)
ANSWERS = [1, 2, 3, 1, 2, 3, 1, 2, 3, 0] * 6
SENTINELS = {
    **{f"far {v}": (np.r_[RANDOM.normal(50, 12, 300), [v] * 20], {v: 20})
       for v in (-999, 9999, 999, 99999, -9999, 1e20)},
    "several": (np.r_[WHOLE, [99] * 5, [98] * 4, [-99] * 3], {99: 5, 98: 4, -99: 3}),
    "zero far below": (np.r_[RANDOM.normal(32, 6, 700).clip(18, 60), np.zeros(11)], {0: 11}),
    "zero apart": (np.r_[np.zeros(200), RANDOM.gamma(3.0, 45.0, 300).round() + 14], {0: 200}),
    "zero below intensities": (np.r_[np.zeros(20), RANDOM.uniform(4e7, 1e9, 16).round()], {0: 20}),
    "commonest -1": (np.r_[RANDOM.integers(1, 800, 300), np.full(500, -1)], {-1: 500}),
    "-1 below": ([*X_RISING, *[-1.0] * 3], {-1: 3}),
    "once": ([*np.arange(0, 50.0), 999.0], {999: 1}),
    "only negative codes": ([*range(20, 60), -9, -9, -8], {-9: 2, -8: 1}),
    "codes": ([1, 2, -9, 1] * 9, {-9: 9}),
    "weather": ([*X_RISING, -327.68, -327.68], {-327.68: 2}),
    "far off": ([*X_RISING, *[-5000.0] * 3], {-5000: 3}),
    "9 among answers": ([9, *ANSWERS, 9, 9], {9: 3}),
    "steps of rain": (np.r_[np.zeros(200), (RANDOM.exponential(3.0, 300) * 5).round() / 5 + 0.2],
        {}),
    "rare gains": (np.r_[np.zeros(4000), (RANDOM.exponential(9e3, 300) + 114).round()], {}),
    "amounts": (np.r_[np.zeros(200), RANDOM.exponential(100.0, 300)], {}),
    "percentages": (np.arange(0, 101.0).repeat(3), {}),
    "ages": (np.arange(18, 100.0).repeat(2), {}),
    "degrees": (np.arange(-20, 35.0).repeat(4), {}),
    "once and near": (np.r_[np.arange(0, 400.0), 999.0], {}),
    "a flag": ([0, 1] * 50, {}),
    "few codes": ([1, 2, 3, 5] * 30, {}),
    "mostly no amount": (np.r_[np.zeros(900), RANDOM.lognormal(8, 1.5, 100)], {}),
    "counts": (RANDOM.poisson(3, 500), {}),
    "around zero": (np.r_[RANDOM.normal(size=200), -1.0, -1.0], {}),
    "long tail": (RANDOM.lognormal(6, 2, 2000).round(), {}),
    "changes": (range(-9, 30), {}),
    "fractions": ([-9.0, -9.0, *(k + 0.5 for k in range(30))], {}),
    "not far": ([*X_RISING, *[-40.0] * 3], {}),
    "fractions above -1": ([*np.linspace(0.1, 4, 40), *[-1.0] * 3], {}),
    "three signs": ([1, 0, -1] * 9, {}),
    "mostly codes": ([1, -8, -9] * 9, {}),
    "answers": (ANSWERS, {}),
    "grades up to 9": (np.arange(60) % 10, {}),
    "rooms": ([1, 2, 3, 4, 5, 6, 7, 9, 9, 9] * 6, {}),
}  # fmt: skip


@pytest.mark.parametrize("kind", SENTINELS)
def test_missing_value_codes_are_distinguished_from_measurements(kind):
    cells, expected = SENTINELS[kind]
    sentinels = find_sentinels(column("a", list(map(float, cells))))
    assert {sentinel.value: sentinel.count for sentinel in sentinels} == expected


def test_missing_cells_do_not_hide_a_sentinel():
    cells = [float("nan")] * 50 + list(RANDOM.normal(5, 1, 200)) + [-999.0] * 9
    (finding,) = found(table_of(a=cells, y=classes(259)), "sentinel")
    assert (finding.columns, finding.rows, finding.values) == (("a",), 9, ("-999",))


def test_repeated_first_day_of_a_calendar_is_reported(tmp_path):
    path = tmp_path / "births.csv"
    days = [f"19{50 + k}-03-1{k % 9}" for k in range(20)] + ["1900-01-01"] * 4
    rows = "".join(f"{day},{k},{'uv'[k % 2]}\n" for k, day in enumerate(days))
    path.write_text("birth,x,y\n" + rows)
    (finding,) = found(read_table(path), "sentinel")
    assert finding.sentence.startswith("1900-01-01 in column birth (4 cells")
    path.write_text("birth,x,y\n" + rows.replace("1900-01-01", "1949-12-31"))
    assert found(read_table(path), "sentinel") == []


# ------------------------------------------------------------------ rows of one cell


def test_rows_with_only_a_first_cell_are_reported(tmp_path):
    path = tmp_path / "wards.csv"
    rows = "".join(f"p{k},{k},{'uv'[k % 2]}\n" for k in range(5))
    path.write_text(f"patient,crp,died\n{rows}Ward 1,,\n{rows}Ward 2,,\n")
    (reported,) = [f for f in found(read_table(path), "missing") if f.columns == ("patient",)]
    assert reported.rows == 2
    assert "'Ward 1', 'Ward 2'; these may be headings" in reported.sentence


# ------------------------------------------------------------------ copies


rows_of_cells = st.lists(
    st.tuples(
        st.sampled_from([0.0, -0.0, 1.0, float("nan"), 2.5]),
        st.sampled_from(["x", "y", None]),
        st.sampled_from([1.0, 2.0]),
    ),
    min_size=1,
    max_size=40,
)


def columns_of(rows):
    a, b, c = zip(*rows, strict=True)
    text = Column.of_cells("b", np.array(b, dtype=object), b.count(None), len(set(b) - {None}))
    return [column("a", list(a)), text, column("c", list(c))]


@settings(max_examples=60, deadline=None)
@given(rows_of_cells, rows_of_cells)
def test_repeated_rows_match_brute_force_counts(ours, theirs):
    same, others = (
        [tuple("nan" if cell != cell else cell for cell in row) for row in rows]
        for rows in (ours, theirs)
    )
    expected = [k for k, row in enumerate(same) if same.count(row) > 1]
    again, numbers = repeated(columns_of(ours), np.arange(len(ours)))
    assert again.tolist() == expected
    assert set(numbers.tolist()) == {*range(len({same[k] for k in expected}))}
    met = met_again(columns_of(ours), columns_of(theirs))
    assert met == sum(row in same for row in others)


def measured(rows):
    return {"a": RANDOM.normal(size=rows), "b": RANDOM.normal(size=rows), "y": classes(rows)}


def test_repeated_rows_are_reported_with_label_conflicts():
    cells = measured(300)
    doubled = {name: np.r_[values, values[:30]] for name, values in cells.items()}
    doubled["y"][300:305] = 1 - doubled["y"][300:305]
    (finding,) = found(table_of(**doubled), "duplicates")
    assert finding.rows == 30
    grouped = table_of(**doubled, who=np.r_[np.arange(300.0), np.arange(30.0)])
    assert not found(grouped.with_roles(roles={"who": "group"}), "duplicates")
    assert "10 identical rows have different labels" in finding.sentence


def test_test_rows_also_in_training_are_counted(tmp_path):
    train, other = measured(200), measured(100)
    test = {name: np.r_[other[name], train[name][:7]] for name in train}
    own, of_test = tmp_path / "train.csv", tmp_path / "test.csv"
    own.write_text("a")
    of_test.write_text("b")
    learnt = table_of(**train, file=own)
    found = shared(learnt, table_of(**test, file=of_test))
    assert found == notice("test_rows_in_training", rows=7, total=107, file="test.csv")
    assert shared(learnt, table_of(**other, file=of_test)) is None
    assert shared(learnt, learnt).code == "test_file_is_training_file"


def test_run_notes_test_rows_used_in_training(tmp_path, capsys):
    lines = [f"{RANDOM.normal():.4f},{k % 2}" for k in range(60)]
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("\n".join(["x,y", *lines]))
    test.write_text("\n".join(["x,y", *lines[:8], "9.1,0", "9.2,1"]))
    words = ["train", str(train), "--method", "auc-rls", "--quiet", "--test-file"]
    assert cli.main([*words, str(test)]) == 0
    assert "8 of the 10 rows of test.csv are also training rows" in capsys.readouterr().out
    assert cli.main([*words, str(train)]) == 0
    assert "is the training file itself" in capsys.readouterr().out


# ------------------------------------------------------------------ spellings


def test_spelling_variants_of_classes_and_levels_are_found():
    y = np.array(["yes", "Yes", "no", "YES", "no", "no"] * 30, dtype=object)
    city = np.array(["Bern", "bern ", "Basel", "Chur", "Genf", "Genf"] * 30, dtype=object)
    table = table_of(label=None, city=city, x=RANDOM.normal(size=180), y=y).with_roles(label="y")
    label, level = sorted(found(table, "spelling"), key=lambda finding: -finding.rows)
    assert (label.columns, label.rows) == (("y",), 60)
    assert (level.columns, level.rows) == (("city",), 30)


def test_only_spelling_variants_are_joined():
    assert equal_spellings(["+", "-", "1", "-1", "a b", "ab", "straße", "Bern"]) == []
    assert equal_spellings(["STRASSE", "straße"]) == [["STRASSE", "straße"]]
    assert usual_spellings({"No": 3, "no": 5, "yes": 2}) == [["no", "No"]]


# ------------------------------------------------------------------ identifiers and groups


@pytest.mark.parametrize(
    ("name", "cell", "codes"),
    [
        ("household", "H{:05}", ["names_things"]),
        ("hh", "H{:05}", ["values_repeat"]),
        ("remark", "{0} and {0}", []),
    ],
)
def test_ignored_texts_of_few_rows_each_are_suggested_as_group(tmp_path, name, cell, codes):
    lines = [f"{cell.format(k * 5 // 8)},{k % 7},{k % 3 % 2}" for k in range(900)]
    (tmp_path / "t.csv").write_text("\n".join([f"{name},x,y", *lines]) + "\n")
    table = read_table(tmp_path / "t.csv", label="y")
    assert table.column(name).why == "ignored_texts"
    assert [finding.code for finding in found(table, "group")] == codes


def test_patient_column_is_suggested_as_group():
    who = RANDOM.integers(0, 40, 400).astype(float)
    table = table_of(patient_id=who, ward=who % 3, y=classes(400))
    (finding,) = found(table, "group")
    assert finding.columns == ("patient_id",)
    assert not found(table.with_roles(roles={"patient_id": "group"}), "group")
    table = table_of(patient_id=who, site=EVERY % 40.0, y=classes(400))
    assert len(found(table, "group")) == 2
    assert not found(table.with_roles(roles={"patient_id": "group"}), "group")


@pytest.mark.parametrize(
    "name", ["haushalt", "site", "Schule", "ménage", "customer_no", "Kunde Nr"]
)
def test_whole_numbers_that_name_persons_or_places_are_suggested_as_group(name):
    table = table_of(**{name: RANDOM.integers(0, 40, 400).astype(float)}, y=classes(400))
    (finding,) = found(table, "group")
    assert finding.code == "names_things"


DRAWN = np.random.default_rng(7)
MACHINES = np.array([f"M-{k % 40:03}" for k in range(400)], dtype=object)
SKEWED = (120 * np.random.default_rng(5).random(400) ** 1.2).astype(int)
CUSTOMERS = np.array([f"K{k:05}" for k in SKEWED], dtype=object)
PLACES = np.array([f"place {'abcdefghij'[k % 10] * (1 + k % 3)}" for k in range(400)], dtype=object)


@pytest.mark.parametrize(
    ("name", "cells", "things"),
    [
        ("Maschine", MACHINES, 40),
        ("machine", EVERY % 40 + 100.0, 40),
        ("hh", np.repeat(np.arange(1.0, 101.0), 4), 100),
        ("hh", np.repeat(np.arange(1.0, 101.0), 4)[DRAWN.permutation(400)], None),
        ("Kunden-Nr", CUSTOMERS, len(set(CUSTOMERS))),
        ("Kunden-Nr", np.array([cell.lstrip("K0") for cell in CUSTOMERS], dtype=object), None),
        ("Maschine", MACHINES[DRAWN.integers(0, 400, 400) // 40], None),  # few values
        ("place", PLACES, None),
        ("age", np.clip(DRAWN.normal(50, 12, 400).round(), 18, 90), None),
        ("age", DRAWN.integers(18, 90, 400).astype(float), None),
        ("zip", DRAWN.geometric(0.03, 400) + 10000.0, None),
        ("zip", DRAWN.integers(10000, 99999, 400).astype(float), None),
        ("amount", DRAWN.integers(1, 40, 400) * 50.0, None),
        ("weather_code", EVERY % 40 + 100.0, None),
        ("branch_code", EVERY % 40 + 100.0, 40),
    ],
)
def test_values_with_several_rows_each_are_suggested_as_group(name, cells, things):
    table = table_of(**{name: cells}, x=DRAWN.normal(size=400), y=Y[:400])
    findings = [finding for finding in find(table) if finding.code == "values_repeat"]
    assert [dict(finding.facts)["things"] for finding in findings] == ([things] if things else [])
    if things:
        assert findings[0].columns == (name,)
        grouped = table.with_roles(roles={name: "group"})
        assert "values_repeat" not in {finding.code for finding in find(grouped)}


@pytest.mark.parametrize("in_order", [True, False])
def test_dates_that_order_the_rows_are_reported(tmp_path, in_order):
    days = [f"2024-0{1 + k // 20}-{1 + k % 20 // 2 + 10}" for k in range(80)]
    days = days if in_order else days[::-1]
    lines = [f"{day},{DRAWN.normal():.3f},{k % 3 % 2}" for k, day in enumerate(days)]
    (tmp_path / "t.csv").write_text("\n".join(["day,x,y", *lines]) + "\n")
    codes = {finding.code for finding in find(read_table(tmp_path / "t.csv"))}
    assert ("rows_in_time_order" in codes) == in_order


# ------------------------------------------------------------------ the label


def test_detected_or_rare_positive_class_is_reported():
    y = np.array(["sick"] * 4 + ["well"] * 200, dtype=object)
    table = table_of(label=None, x=RANDOM.normal(size=204), y=y).with_roles(label="y")
    assert "only 4 rows" in found(table, "label")[0].sentence
    assert "sick was detected as the positive class" in found(table, "positive")[0].sentence
    assert found(table.with_roles(label=False), "label")


# ------------------------------------------------------------------ files


@pytest.fixture
def awkward(tmp_path):
    y = classes(300)
    rows = [f"{k},{-999 if k % 20 == 0 else RANDOM.normal():.4f},{v:.0f}" for k, v in enumerate(y)]
    return write_file(tmp_path / "awkward.csv", "\n".join(["counter,a,y", *rows]))


def test_inspect_lists_findings_first_as_text_and_json(awkward, capsys, printed):
    assert cli.main(["inspect", str(awkward)]) == 0
    lines = capsys.readouterr().out.splitlines()
    reported = [line for line in lines if line.startswith("finding")]
    assert [line.split(":")[0] for line in reported][:2] == [
        "finding (sentinel)",
        "finding (identifier)",
    ]
    assert lines.index(reported[-1]) < next(k for k, line in enumerate(lines) if "AUC" in line)
    document = printed("inspect", awkward)
    assert document["findings"][0]["kind"] == "sentinel"
    by_name = {one["name"]: one for one in document["columns"]}
    assert by_name["y"] == {
        "name": "y", "role": "label", "kind": "number", "guessed": True, "reason": "",
        "missing": 0, "distinct": 2, "auc": None, "auc_by": None,
    }  # fmt: skip
    assert 0 <= by_name["a"]["auc"] <= 1


def test_findings_on_disk_equal_those_in_memory(awkward):
    whole, disk = read_table(awkward), open_stream(awkward)
    try:
        ours = {(f.kind, f.columns) for f in find(whole) if f.kind in ("sentinel", "positive")}
        assert ours == {(f.kind, f.columns) for f in find(disk)}
        assert inspection(disk)["columns"][1]["auc"] == inspection(whole)["columns"][1]["auc"]
    finally:
        disk.close()


def test_inspection_computes_each_column_auc_once(tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    draw = np.random.default_rng(0)
    rows = [f"{a:.4f},{b:.4f},{'uv'[k % 2]}" for k, (a, b) in enumerate(draw.normal(size=(90, 2)))]
    path.write_text("a,b,y\n" + "\n".join(rows) + "\n")
    counted = []

    def area(high, low):
        counted.append(len(high))
        return ranked_area(high, low)

    monkeypatch.setattr(column_areas, "ranked_area", area)
    document = inspection(read_table(path))
    assert counted == [45, 45]
    assert {c["name"] for c in document["columns"] if c["auc"] is not None} == {"a", "b"}


@pytest.mark.parametrize(
    "name", ["kunde", "Lp.", "N° questionnaire", "#", "번호", "患者ID", "caseid", "CASE", "MRN"]
)
def test_distinct_numbers_in_id_columns_are_identifiers(name):
    numbers = [float(k) for k in RANDOM.permutation(20) + 1000]
    assert guess_role(column(name, numbers)).role == "ignore"
    assert guess_role(column(name, [*numbers[:-1], numbers[0]])).role == "number"
    assert guess_role(column(name, [k + 0.5 for k in numbers])).role == "number"


@pytest.mark.parametrize("name", ["Kunden", "PAID", "covid", "cases", "n_samples", "tidal", "x"])
def test_counts_are_not_identifiers(name):
    assert guess_role(column(name, [float(k) for k in range(40, 60)])).role == "number"


@pytest.mark.parametrize("every", [400, 150])
@pytest.mark.parametrize("role", ["number", "category"])
def test_column_that_alone_finds_most_positives_is_reported(role, every):
    y = np.arange(1000) % 10 == 0
    flag = np.where(y, np.arange(1000) % 7 != 0, np.arange(1000) % every == 1)
    cells = flag.astype(float) if role == "number" else np.array(["no", "yes"], object)[flag * 1]
    others = {f"x{k}": RANDOM.normal(size=1000) + y for k in range(3)}
    table = table_of(y=y * 1.0, flag=cells, **others)
    (finding,) = (one for one in find(table) if one.code == "finds_alone")
    assert finding.columns == ("flag",)
    assert dict(finding.facts)["tpr"] == pytest.approx(100 * flag[y].mean())
    assert dict(finding.facts)["fpr"] == pytest.approx(flag[~y].mean())
    # A peer of a strong marker makes it plausible; weak columns are no reason to ask.
    peer = {"peer": (flag & (np.arange(1000) % 3 > 0)) * 1.0}
    for columns in (others, {**others, "flag": cells, **peer}):
        table = table_of(y=y * 1.0, **columns)
        assert "finds_alone" not in {one.code for one in find(table)}


def test_texts_without_repeats_are_ignored():
    names = [f"{word} of the house" for word in "abcdefghijkl"]
    table = table_of(who=names, y=[0.0, 1.0] * 6)
    assert table.column("who").role == "category"  # as a user may choose
    assert guess_role(table.column("who")).role == "ignore"
    assert guess_role(column("who", [*names[:-1], names[0]])).role == "category"


def test_iso_dates_are_not_spreadsheet_days(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("date,y\n" + "".join(f"2020-01-{k:02d},{'uv'[k % 2]}\n" for k in range(1, 20)))
    assert not any("spreadsheets" in note for note in read_table(path).notes)


def test_class_that_may_be_a_missing_code_is_reported():
    said = [f.sentence for f in find(table_of(y=["0", "1", "-9", "0"] * 9, x=[*range(36)]))]
    assert "class “-9” of the label y may mean a missing value: 9 rows" in said


@pytest.mark.parametrize("name", ["product_code", "ZipCode", "PLZ", "job", "商品コード", "Region"])
def test_few_integers_in_a_code_column_are_reported(name):
    random = np.random.default_rng(1)
    numbers = random.choice([101.0, 205.0, 307.0, 411.0, 502.0], 60)
    table = table_of(**{name: numbers, "x": random.normal(size=60)}, y=random.random(60) < 0.4)
    (finding,) = found(table, "kind")
    assert finding.columns == (name,)
    assert finding.sentence == (
        f"column {name} has 5 different whole numbers, 101, 205, 307, 411 and others: make it a "
        "category if these are codes"
    )


def test_numbers_that_rank_better_as_categories_are_reported():
    random = np.random.default_rng(2)
    ward, visits = random.integers(1, 8, 600), random.integers(1, 8, 600)
    ill = random.random(600) < np.where(np.isin(ward, [1, 4, 7]), 0.7, 0.2)
    old = random.random(600) < visits / 8
    table = table_of(ward=ward, visits=visits, y=ill)
    (finding,) = found(table, "kind")
    assert finding.columns == ("ward",)
    assert "better as a category (AUC alone 0.7" in finding.sentence
    assert "if its 7 different numbers are codes" in finding.sentence
    assert not found(table_of(ward=ward, visits=visits, y=old), "kind")  # in order


def test_random_labels_report_no_codes():
    random = np.random.default_rng(4)
    columns = {f"n{k}": random.integers(0, 9, 300) for k in range(60)}
    assert len(found(table_of(**columns, y=random.random(300) < 0.3), "kind")) <= 1


def test_columns_of_one_value_or_empty_are_categories():
    random = np.random.default_rng(5)
    y = random.random(80) < 0.4
    table = table_of(
        ticked=["x" if k % 3 == 0 else None for k in range(80)],
        flag=[1.0 if k % 4 == 0 else np.nan for k in range(80)],
        closed=["cancelled" if one else None for one in y],
        once=["x", *[None] * 79],
        x=random.normal(size=80),
        y=y,
    )
    table = dataclasses.replace(
        table, columns=tuple(guess_role(c) if c.name != "y" else c for c in table.columns)
    )
    roles = {column.name: column.role for column in table.columns}
    assert roles["ticked"] == roles["flag"] == roles["closed"] == "category"
    assert roles["once"] == "ignore"
    reported = [finding.sentence for finding in found(table, "kind")]
    assert "column ticked holds 'x' or nothing; nothing counts as a level" in reported
    assert "column flag holds 1 or nothing; nothing counts as a level" in reported
    assert [finding.columns for finding in found(table, "leak")] == [("closed",)]


def test_inspection_lists_dates_with_their_role(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text(
        "d,x,y\n" + "".join(f"2024-01-{k:02d},{k % 7}.5,{'ab'[k % 2]}\n" for k in range(1, 29))
    )
    read = read_table(path)
    first, second, _ = inspection(read)["columns"]
    assert (first["role"], first["kind"], second["role"]) == ("date", "date", "number")
    ignored, *_ = inspection(read.with_roles(ignore=["d"]))["columns"]
    assert (ignored["role"], ignored["kind"]) == ("ignore", "date")


def test_category_of_hundreds_of_texts_is_a_finding(tmp_path):
    units = ["nM", "µM"]
    lines = [f"{k % 300 / 7:.2f} {units[k % 2]},{k % 90},{k % 2}" for k in range(800)]
    path = write_file(tmp_path / "doses.csv", "\n".join(["dose,zip,y", *lines]))
    table = read_table(path, label="y")
    assert table.column("dose").role == "category"
    found = [finding for finding in find(table) if finding.code == "many_levels"]
    assert [finding.columns for finding in found] == [("dose",)]
    assert dict(found[0].facts)["distinct"] == table.column("dose").distinct


def treated(leak, role):
    """Return a column that is known, or says "yes", where a leak is; its numbers mean nothing."""
    if role == "category":
        return np.array(["no", "yes"], object)[leak * 1]
    return np.where(leak, RANDOM.gamma(2, 3, len(leak)), np.nan)


@pytest.mark.parametrize(
    ("role", "code"), [("number", "presence_separates"), ("category", "finds_alone")]
)
def test_column_that_is_known_or_said_after_the_outcome_is_reported(role, code):
    y = np.arange(6000) % 27 == 0
    leak = np.where(y, np.arange(6000) % 20 != 0, np.arange(6000) % 28 == 1)
    markers = {f"x{k}": RANDOM.normal(size=6000) + 1.7 * y for k in range(3)}
    table = table_of(y=y * 1.0, treated=treated(leak, role), **markers)
    (finding,) = found(table, "leak")
    assert (finding.code, finding.columns) == (code, ("treated",))
    area = 0.5 + (leak[y].mean() - leak[~y].mean()) / 2
    (document,) = (c for c in inspection(table)["columns"] if c["name"] == "treated")
    assert document["auc"] == pytest.approx(area)
    assert document["auc_by"] == ("presence" if role == "number" else "share")
    weak = treated(leak & (np.arange(6000) % 2 > 0), role)
    assert not found(table_of(y=y * 1.0, treated=weak, **markers), "leak")


def test_clear_dates_are_noted_and_no_finding(tmp_path):
    path = tmp_path / "dates.csv"
    for written, kind in (("2024-{:02}-{:02}", FORMAT), ("{:02}/{:02}/2024", "kind")):
        rows = [written.format(1 + k % 12, 1 + k % 11) + f",{k % 3 > 1:d}" for k in range(60)]
        path.write_text("\n".join(["day,y", *rows]) + "\n")
        table = read_table(path)
        (dated,) = (one for one in table.notices if one.code == "import_dates")
        assert dated.kind == kind
        assert (dated in find(table)) == (kind != FORMAT)


def test_number_code_of_missing_values_that_reveals_the_label_is_reported(tmp_path):
    y = np.arange(900) % 5 == 0
    known = np.where(y, np.arange(900) % 150 != 0, np.arange(900) % 59 == 1)
    cells = np.where(known, RANDOM.integers(1, 90, 900), -999)
    path = tmp_path / "coded.csv"
    path.write_text("\n".join(["a,y", *(f"{a},{b:d}" for a, b in zip(cells, y, strict=True))]))
    choices = {"label": "y", "absent": {"a": [-999]}}
    disk = open_stream(path, **choices)
    try:
        for table in (read_table(path, **choices), disk):
            (finding,) = (one for one in find(table) if one.kind == "leak")
            assert (finding.code, finding.columns) == ("presence_separates", ("a",))
            assert [c["auc_by"] for c in inspection(table)["columns"]] == ["presence", None]
    finally:
        disk.close()


def test_column_without_its_codes_is_counted_again():
    coded = dataclasses.replace(column("a", [1.0, 2.0, -9.0, -9.0, np.nan]), absent=(-9.0,))
    assert (coded.missing, coded.distinct) == (1, 3)
    decoded = coded.decoded()
    assert (decoded.missing, decoded.distinct) == (3, 2)


@pytest.mark.parametrize("name", ["Charge Nr.", "numéro du lot", "x7"])
def test_values_in_adjacent_rows_are_suggested_as_group(name):
    rows = np.repeat(np.arange(100), DRAWN.integers(4, 13, 100))[:-3]
    words = np.array([f"b{k * 7919 % 100:02d}x" for k in range(100)], dtype=object)
    ordered = np.array([f"CH-{k:06d}" for k in range(100)], dtype=object)
    towns = np.array([f"{a}{b}dorf" for a in "abcdefghij" for b in "aeiou"], dtype=object)
    y = np.arange(len(rows)) % 3 == 0
    for cells, things in ((words[rows], 100), (ordered[rows], 100), (towns[rows // 2], None)):
        table = table_of(**{name: cells}, x=DRAWN.normal(size=len(rows)), y=y * 1.0)
        found = [one for one in find(table) if one.kind == "group"]
        assert [dict(one.facts)["things"] for one in found] == ([things] if things else [])


def test_numbers_for_missing_values_are_not_sought_in_a_leak():
    y = np.arange(400) % 20 == 0
    late = np.where(y, DRAWN.normal(18, 4, 400).round(1), 0.0)
    late[:20:19] = 0.0
    other = np.where(np.arange(400) % 5 == 0, 0.0, DRAWN.normal(60, 4, 400).round(1))
    rest = {f"x{k}": DRAWN.normal(size=400) for k in range(4)}
    findings = find(table_of(late=late, other=other, **rest, y=y * 1.0))
    leaks = [one.columns for one in findings if one.kind == "leak"]
    numbers = [one.columns for one in findings if one.kind == "sentinel"]
    assert (leaks, numbers) == ([("late",)], [("other",)])
