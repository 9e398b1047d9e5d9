"""What changes results is found in a table, and comes in the order of its consequence."""

import dataclasses
import itertools
import json
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
from aucstudio.project.data.finding import KINDS, Finding, ranked
from aucstudio.project.data.findings import separation
from aucstudio.project.data.findings.copies import met_again, repeated, shared
from aucstudio.project.data.findings.find import find
from aucstudio.project.data.findings.inspection import inspection
from aucstudio.project.data.findings.sentinels import find_sentinels
from aucstudio.project.data.findings.separation import ranked_area
from aucstudio.project.data.labels import alike, usual_spellings
from aucstudio.project.data.roles import guess_role
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.data.text.dialect import Dialect

RANDOM = np.random.default_rng(3)
X_RISING = [60 + k / 2 for k in range(40)]


def column(name, cells):
    values = np.array(cells, dtype=object if isinstance(cells[0], str | None) else float)
    if values.dtype == object:
        known = [cell for cell in cells if cell is not None]
        return Column.of_cells(name, values, len(cells) - len(known), len(set(known)))
    found = number_cells(values)
    return Column.of_cells(name, values, found.missing, found.distinct)


def table_of(label="y", sha256="a", file="data.csv", **columns):
    made = tuple(column(key, list(cells)) for key, cells in columns.items())
    table = Table(path=Path(file), format="csv", dialect=Dialect(), sha256=sha256, columns=made)
    return table.with_roles(label=label, positive="1") if label else table


def classes(rows, share=0.3):
    return (RANDOM.random(rows) < share).astype(float)


def found(table, kind):
    return [finding for finding in find(table) if finding.kind == kind]


# ------------------------------------------------------------------ the order


def test_findings_are_ranked_by_kind_then_by_rows_and_each_once():
    few, many = Finding("sentinel", "few", ("a",), 3), Finding("sentinel", "many", ("b",), 30)
    leak = Finding("leak", "leak", ("c",))
    assert ranked([few, leak, many, leak]) == (leak, many, few)
    assert len(set(KINDS)) == len(KINDS)


def test_equal_findings_about_many_columns_are_one():
    y = classes(300)
    cells = {f"c{k}": np.r_[RANDOM.normal(5, 1, 290), [999.0] * 10] for k in range(7)}
    (finding,) = found(table_of(**cells, y=y), "sentinel")
    assert (set(finding.columns), finding.values) == (set(cells), ("999",))
    cells.pop("c0"), cells.pop("c1")
    assert len(found(table_of(**cells, y=y), "sentinel")) == 5


def test_a_label_of_one_value_is_named():
    table = table_of(label=None, x=RANDOM.normal(size=40), outcome=["yes"] * 40)
    table = dataclasses.replace(table, columns=tuple(map(guess_role, table.columns)))
    assert [(f.code, f.columns) for f in found(table, "label")] == [
        ("label_of_one_value", ("outcome",))
    ]


def test_a_row_of_words_below_rows_of_numbers_is_a_transposed_table(tmp_path):
    genes = [",".join(f"{RANDOM.normal():.2f}" for _ in range(9)) for _ in range(20)]
    rows = [f"gene{k},{cells}" for k, cells in enumerate(genes)]
    kinds = ",".join(["case", "control"] * 4 + ["case"])
    path = tmp_path / "genes.csv"
    path.write_text(
        "\n".join([f"gene,{','.join(f's{k}' for k in range(9))}", *rows, f"class,{kinds}"])
    )
    assert "table_on_its_side" in [f.code for f in found(read_table(path), "header")]


def test_a_plain_table_has_nothing_to_ask_about():
    y = classes(400)
    assert find(table_of(a=RANDOM.normal(size=400), b=RANDOM.integers(0, 9, 400), y=y)) == ()


# ------------------------------------------------------------------ leaks


@settings(deadline=None)
@given(
    st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12),
    st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12),
)
def test_the_area_of_a_column_is_that_of_its_pairs(high, low):
    pairs = [(a > b) + 0.5 * (a == b) for a, b in itertools.product(high, low)]
    assert ranked_area(np.array(high), np.array(low)) == pytest.approx(np.mean(pairs))


def test_a_column_that_orders_the_classes_gives_the_label_away():
    y = classes(600)
    told = -(y * 10 + RANDOM.normal(size=600))
    (leak,) = found(table_of(told=told, other=RANDOM.normal(size=600), y=y), "leak")
    assert leak.columns == ("told",)
    assert "AUC 1" in leak.sentence or "AUC 0.999" in leak.sentence


def test_a_copy_of_the_label_is_told_from_a_good_column():
    y = classes(300)
    words = np.where(y == 1, "dead", "alive").astype(object)
    (leak,) = found(table_of(outcome=words, y=y), "leak")
    assert leak.sentence == "column outcome is a copy of the label y"


def test_a_code_that_determines_the_class_is_a_leak_although_its_numbers_have_no_order():
    code = RANDOM.integers(0, 9, 900).astype(float)
    y = np.isin(code, [2, 5, 7]).astype(float)
    assert [leak.columns for leak in found(table_of(code=code, y=y), "leak")] == [("code",)]


def test_levels_that_are_all_different_give_nothing_away():
    y = classes(400)
    names = np.array([f"name {k}" for k in range(400)], dtype=object)
    table = table_of(name=names, x=RANDOM.normal(size=400), y=y).with_roles(
        roles={"name": "category"}
    )
    assert not found(table, "leak")


def test_a_column_that_is_there_in_one_class_only_is_a_leak():
    y = classes(400)
    when = np.where(y == 1, RANDOM.integers(1, 90, 400).astype(float), np.nan)
    (leak,) = found(table_of(death=when, y=y), "leak")
    assert "only where the label is 1" in leak.sentence


def test_a_copy_of_the_label_that_differs_in_a_row_is_told():
    y = ["0", "1"] * 30
    flag = [float(value == "1") for value in y]
    flag[17] = 1.0 - flag[17]
    (leak,) = found(table_of(flag=flag, x=RANDOM.normal(size=60), y=y), "leak")
    assert leak.sentence == "column flag is a copy of the label y in all but 1 row of 60"
    flag[3] = 1.0 - flag[3]
    assert found(table_of(flag=flag, x=RANDOM.normal(size=60), y=y), "leak") == []


def test_a_rare_flag_is_no_copy_of_a_rare_label():
    y, flag = ["0"] * 1000, [0.0] * 1000
    for k in range(10):
        y[k * 90] = "1"
        flag[k * 90 if k < 6 else k * 90 + 1] = 1.0
    assert found(table_of(flag=flag, x=RANDOM.normal(size=1000), y=y), "leak") == []


def test_a_few_rows_that_happen_to_be_in_order_are_no_leak():
    y = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    assert not found(table_of(a=[1.0, 2, 3, 4, 5, 6], y=y), "leak")


@pytest.mark.parametrize("rows", [60_000, 300_000])
def test_a_leak_is_found_among_more_rows_than_the_sample(rows):
    y = classes(rows, 0.2)
    leaky, good = y + RANDOM.normal(size=rows) * 0.1, y + RANDOM.normal(size=rows)
    assert [f.columns for f in found(table_of(leaky=leaky, good=good, y=y), "leak")] == [("leaky",)]


# ------------------------------------------------------------------ sentinels


@pytest.mark.parametrize("value", [-999.0, 9999.0, 999.0, 99999.0, -9999.0, 1e20])
def test_a_repeated_number_far_outside_the_rest_is_a_sentinel(value):
    cells = np.r_[RANDOM.normal(50, 12, 300), [value] * 20]
    (sentinel,) = find_sentinels(column("a", list(cells)))
    assert (sentinel.value, sentinel.count) == (value, 20)


def test_several_sentinels_of_one_column_are_found():
    cells = np.r_[RANDOM.integers(18, 66, 300), [99] * 5, [98] * 4, [-99] * 3]
    assert {s.value for s in find_sentinels(column("age", list(map(float, cells))))} == {
        99,
        98,
        -99,
    }


def test_zero_is_asked_about_where_nothing_else_is_near():
    cells = np.r_[RANDOM.normal(32, 6, 700).clip(18, 60), np.zeros(11)]
    assert [s.value for s in find_sentinels(column("bmi", list(cells)))] == [0]


def test_zeros_are_asked_about_where_the_other_numbers_begin_far_from_them():
    zeros, insulin = [0.0] * 200, RANDOM.gamma(3.0, 45.0, 300).round() + 14
    (asked,) = find_sentinels(column("x", [*zeros, *insulin]))
    assert (asked.value, asked.count) == (0.0, 200)
    # Of few numbers that are large: intensities of which the least are far above a count.
    intensities = RANDOM.uniform(4e7, 1e9, 16).round()
    assert find_sentinels(column("x", [*zeros[:20], *intensities]))[0].count == 20
    # Rain comes in steps, gains of capital are rare, and small amounts are near zero.
    rain, gains, amounts = (RANDOM.exponential(size, 300) for size in (3.0, 9e3, 100.0))
    assert find_sentinels(column("x", [*zeros, *((rain * 5).round() / 5 + 0.2)])) == []
    assert find_sentinels(column("x", [*zeros * 20, *(gains + 114).round()])) == []
    assert find_sentinels(column("x", [*zeros, *amounts])) == []


def test_minus_one_is_asked_about_where_it_is_the_commonest_and_only_negative_number():
    days = np.r_[RANDOM.integers(1, 800, 300), np.full(500, -1)].astype(float)
    assert [s.value for s in find_sentinels(column("pdays", list(days)))] == [-1]


def test_what_is_far_off_and_looks_like_one_is_asked_about_once_too():
    (sentinel,) = find_sentinels(column("a", [*np.arange(0, 50.0), 999.0]))
    assert (sentinel.value, sentinel.count) == (999, 1)


@pytest.mark.parametrize(
    "cells",
    [
        np.arange(0, 101.0).repeat(3),  # percentages, 99 among them
        np.arange(18, 100.0).repeat(2),  # ages up to 99
        np.r_[np.arange(-20, 35.0).repeat(4)],  # degrees, -9 and -1 among them
        np.r_[np.arange(0, 400.0), 999.0],  # once, and not so far off
        np.array([0.0, 1.0] * 50),  # a code
        np.array([1.0, 2.0, 3.0, 5.0] * 30),
        np.r_[np.zeros(900), RANDOM.lognormal(8, 1.5, 100)],  # amounts, mostly none
        RANDOM.poisson(3, 500).astype(float),  # counts
        np.r_[RANDOM.normal(size=200), -1.0, -1.0],
        RANDOM.lognormal(6, 2, 2000).round(),  # incomes have long tails
    ],
)
def test_legitimate_numbers_are_no_sentinels(cells):
    assert find_sentinels(column("a", list(cells))) == []


def test_missing_cells_do_not_hide_a_sentinel():
    cells = [float("nan")] * 50 + list(RANDOM.normal(5, 1, 200)) + [-999.0] * 9
    (finding,) = found(table_of(a=cells, y=classes(259)), "sentinel")
    assert (finding.columns, finding.rows, finding.values) == (("a",), 9, ("-999",))


def test_the_first_day_of_a_calendar_is_asked_about_where_it_comes_again(tmp_path):
    path = tmp_path / "births.csv"
    days = [f"19{50 + k}-03-1{k % 9}" for k in range(20)] + ["1900-01-01"] * 4
    rows = "".join(f"{day},{k},{'uv'[k % 2]}\n" for k, day in enumerate(days))
    path.write_text("birth,x,y\n" + rows)
    (finding,) = found(read_table(path), "sentinel")
    assert finding.sentence.startswith("1900-01-01 in column birth (4 cells")
    path.write_text("birth,x,y\n" + rows.replace("1900-01-01", "1949-12-31"))
    assert found(read_table(path), "sentinel") == []


# ------------------------------------------------------------------ rows of one cell


def test_rows_with_their_first_cell_alone_are_told(tmp_path):
    path = tmp_path / "wards.csv"
    rows = "".join(f"p{k},{k},{'uv'[k % 2]}\n" for k in range(5))
    path.write_text(f"patient,crp,died\n{rows}Ward 1,,\n{rows}Ward 2,,\n")
    (told,) = [f for f in found(read_table(path), "missing") if f.columns == ("patient",)]
    assert told.rows == 2
    assert "'Ward 1', 'Ward 2'; these may be headings" in told.sentence


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


@settings(max_examples=60, deadline=None)
@given(rows_of_cells)
def test_rows_that_occur_again_are_those_that_a_count_finds(rows):
    same = [tuple("nan" if cell != cell else cell for cell in row) for row in rows]
    expected = [k for k, row in enumerate(same) if same.count(row) > 1]
    a, b, c = zip(*rows, strict=True)
    text = np.array(b, dtype=object)
    columns = [
        column("a", list(a)),
        Column.of_cells("b", text, b.count(None), len(set(b) - {None})),
        column("c", list(c)),
    ]
    again, prints = repeated(columns, np.arange(len(rows)))
    assert again.tolist() == expected
    assert len(set(prints.tolist())) == len({same[k] for k in expected})


def measured(rows):
    return {"a": RANDOM.normal(size=rows), "b": RANDOM.normal(size=rows), "y": classes(rows)}


def test_repeated_rows_are_counted_and_their_labels_compared():
    cells = measured(300)
    doubled = {name: np.r_[values, values[:30]] for name, values in cells.items()}
    doubled["y"][300:305] = 1 - doubled["y"][300:305]
    (finding,) = found(table_of(**doubled), "duplicates")
    assert finding.rows == 30
    assert "10 identical rows have different labels" in finding.sentence


def test_copies_in_one_group_are_never_divided():
    cells = measured(300)
    doubled = {name: np.r_[values, values[:30]] for name, values in cells.items()}
    doubled["who"] = np.r_[np.arange(300.0), np.arange(30.0)]
    table = table_of(**doubled).with_roles(roles={"who": "group"})
    assert not found(table, "duplicates")


def test_rows_of_a_few_codes_agree_by_chance():
    cells = {name: RANDOM.integers(0, 3, 500).astype(float) for name in "abc"}
    assert not found(table_of(**cells, y=classes(500)), "duplicates")


def test_rows_to_test_on_that_are_trained_on_are_counted():
    train, other = measured(200), measured(100)
    test = {name: np.r_[other[name], train[name][:7]] for name in train}
    found = shared(table_of(**train), table_of(**test, sha256="b", file="test.csv"))
    assert found == notice("test_rows_in_training", rows=7, total=107, file="test.csv")
    assert shared(table_of(**train), table_of(**other, sha256="b")) is None
    assert shared(table_of(**train), table_of(**train)).code == "test_file_is_training_file"


@settings(max_examples=40, deadline=None)
@given(rows_of_cells, rows_of_cells)
def test_rows_of_two_tables_that_agree_are_those_that_a_loop_finds(ours, theirs):
    def columns(rows):
        a, b, c = zip(*rows, strict=True)
        text = Column.of_cells("b", np.array(b, dtype=object), 0, len(set(b)))
        return [column("a", list(a)), text, column("c", list(c))]

    def plain(rows):
        return [tuple("nan" if cell != cell else cell for cell in row) for row in rows]

    expected = sum(row in plain(ours) for row in plain(theirs))
    assert met_again(columns(ours), columns(theirs)) == expected


def test_a_run_says_that_its_test_file_was_trained_on(tmp_path, capsys):
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


def test_spellings_of_a_class_and_of_a_level_are_found():
    y = np.array(["yes", "Yes", "no", "YES", "no", "no"] * 30, dtype=object)
    city = np.array(["Bern", "bern ", "Basel", "Chur", "Genf", "Genf"] * 30, dtype=object)
    table = table_of(label=None, city=city, x=RANDOM.normal(size=180), y=y).with_roles(label="y")
    label, level = sorted(found(table, "spelling"), key=lambda finding: -finding.rows)
    assert (label.columns, label.rows) == (("y",), 60)
    assert (level.columns, level.rows) == (("city",), 30)


def test_a_sign_among_words_is_asked_about():
    words = ["rs1", "rs2", "rs1", "."] * 9
    (asked,) = found(table_of(snp=words, y=["0", "1"] * 18), "kind")
    assert asked.sentence == "'.' in column snp (9 cells) may mean a missing value"
    strands = ["+", "-", "+", "-"] * 9
    assert found(table_of(strand=strands, y=["0", "1"] * 18), "kind") == []


def test_names_that_differ_in_more_than_their_spelling_stay_apart():
    assert alike(["+", "-", "1", "-1", "a b", "ab", "straße", "Bern"]) == []
    assert alike(["STRASSE", "straße"]) == [["STRASSE", "straße"]]
    assert usual_spellings({"No": 3, "no": 5, "yes": 2}) == [["no", "No"]]


# ------------------------------------------------------------------ identifiers and groups


def test_a_counter_a_number_of_an_account_and_a_moment_are_no_measurements():
    n = 400
    y = classes(n)
    names = {
        "order": np.arange(n) * 3.0 + 7,
        "account": RANDOM.permutation(n) + 1000.0,
        "stamp": RANDOM.integers(1_500_000_000, 1_600_000_000, n).astype(float),
        "day": 20200100.0 + RANDOM.integers(1, 29, n),
    }
    table = table_of(**names, amount=RANDOM.normal(size=n), y=y)
    assert {f.columns[0] for f in found(table, "identifier")} == set(names)


def test_whole_numbers_that_are_all_different_by_chance_are_measurements():
    cells = RANDOM.choice(10_000_000, 300, replace=False).astype(float)
    assert not found(table_of(price=cells, y=classes(300)), "identifier")


def test_a_column_that_names_patients_is_offered_as_group():
    who = RANDOM.integers(0, 40, 400).astype(float)
    table = table_of(patient_id=who, ward=who % 3, y=classes(400))
    (finding,) = found(table, "group")
    assert finding.columns == ("patient_id",)
    assert not found(table.with_roles(roles={"patient_id": "group"}), "group")


# ------------------------------------------------------------------ the label


def test_what_is_guessed_or_few_about_the_label_is_said():
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
    path = tmp_path / "awkward.csv"
    path.write_text("\n".join(["counter,a,y", *rows]))
    return path


def test_inspect_tells_findings_first_as_text_and_as_json(awkward, capsys):
    assert cli.main(["inspect", str(awkward)]) == 0
    lines = capsys.readouterr().out.splitlines()
    told = [line for line in lines if line.startswith("finding")]
    assert [line.split(":")[0] for line in told][:2] == [
        "finding (sentinel)",
        "finding (identifier)",
    ]
    assert lines.index(told[-1]) < next(k for k, line in enumerate(lines) if "AUC" in line)
    assert cli.main(["inspect", str(awkward), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["findings"][0]["kind"] == "sentinel"
    by_name = {one["name"]: one for one in document["columns"]}
    assert by_name["y"] == {
        "name": "y", "role": "label", "kind": "number", "guessed": True, "reason": "",
        "missing": 0, "distinct": 2, "auc": None,
    }  # fmt: skip
    assert 0 <= by_name["a"]["auc"] <= 1


def test_findings_of_a_table_on_disk_are_those_that_some_rows_show(awkward):
    whole, disk = read_table(awkward), open_stream(awkward)
    try:
        ours = {(f.kind, f.columns) for f in find(whole) if f.kind in ("sentinel", "positive")}
        assert ours == {(f.kind, f.columns) for f in find(disk)}
        assert inspection(disk)["columns"][1]["auc"] == inspection(whole)["columns"][1]["auc"]
    finally:
        disk.close()


def test_another_table_beside_is_told(tmp_path):
    path = tmp_path / "data.csv"
    rows = [f"{k},{k}.5,{'uv'[k % 2]},,{f'S{k},{k}' if k < 4 else ','}" for k in range(20)]
    path.write_text("a,b,y,,site,n\n" + "\n".join(rows) + "\n")
    sentences = [finding.sentence for finding in find(read_table(path))]
    assert (
        "columns site, n end in row 4 of 20: they may belong to a second table to the right"
    ) in sentences


@pytest.mark.parametrize(
    "rows",
    [
        # Cells are missing here and there, or one column ends, or all do.
        [f"{k},{k}.5,{'uv'[k % 2]},{k if k % 3 else ''},{k if k % 3 else ''}" for k in range(20)],
        [f"{k},{k}.5,{'uv'[k % 2]},{k},{k if k < 4 else ''}" for k in range(20)],
        [f"{k},{k}.5,{'uv'[k % 2]},,{k}" for k in range(20)],
    ],
)
def test_missing_cells_are_no_other_table(tmp_path, rows):
    path = tmp_path / "data.csv"
    path.write_text("a,b,y,n,m\n" + "\n".join(rows) + "\n")
    assert not any("another table" in f.sentence for f in find(read_table(path)))


def test_a_table_on_its_side_is_told(tmp_path):
    path = tmp_path / "data.csv"
    lines = [
        ["age", *(str(20 + k) for k in range(8))],
        ["dose", *(f"{k}.5" for k in range(8))],
        ["y", *("uv" * 4)],
    ]
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    assert any("may be transposed" in f.sentence for f in find(read_table(path)))
    standing = ["".join(f"{','.join(row)}\n" for row in zip(*lines, strict=True))]
    path.write_text("".join(standing))
    assert not any("its side" in f.sentence for f in find(read_table(path)))


def test_inspection_ranks_by_each_column_once(tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    draw = np.random.default_rng(0)
    rows = [f"{a:.4f},{b:.4f},{'uv'[k % 2]}" for k, (a, b) in enumerate(draw.normal(size=(90, 2)))]
    path.write_text("a,b,y\n" + "\n".join(rows) + "\n")
    ranked_columns = []
    plain = separation.area_of

    def area_of(column, rows):
        ranked_columns.append(column.name)
        return plain(column, rows)

    monkeypatch.setattr(separation, "area_of", area_of)
    document = inspection(read_table(path))
    assert sorted(ranked_columns) == ["a", "b"]
    assert {c["name"] for c in document["columns"] if c["auc"] is not None} == {"a", "b"}


def test_a_counter_of_few_rows_is_asked_about():
    table = table_of(no=np.arange(12) + 1, time=np.arange(12) / 10, y=[0.0, 1.0] * 6)
    assert {f.columns[0] for f in found(table, "identifier")} == {"no", "time"}
    shuffled = RANDOM.permutation(12) + 0.5
    assert not found(table_of(x=shuffled, y=[0.0, 1.0] * 6), "identifier")


def test_negative_codes_among_measured_whole_numbers_are_asked_about():
    months = [*range(20, 60), -9, -9, -8]
    assert {s.value for s in find_sentinels(column("months", list(map(float, months))))} == {-9, -8}
    assert find_sentinels(column("change", [*map(float, range(-9, 30))])) == []
    assert find_sentinels(column("z", [-9.0, -9.0, *(k + 0.5 for k in range(30))])) == []


@pytest.mark.parametrize("name", ["FINALWT", "fnlwgt", "perwt", "person_weight"])
def test_weights_of_surveys_are_asked_about(name):
    (asked,) = found(table_of(y=classes(60), **{name: RANDOM.random(60) * 900 + 1}), "weight")
    assert name in asked.sentence
    assert not found(table_of(y=classes(60), superwt=RANDOM.random(60) * 900 + 1), "weight")


def test_a_number_far_below_all_others_that_comes_again_is_asked_about():
    assert [s.value for s in find_sentinels(column("t", [*X_RISING, -327.68, -327.68]))] == [
        -327.68
    ]
    assert [s.value for s in find_sentinels(column("t", [*X_RISING, *[-5000.0] * 3]))] == [-5000]
    assert find_sentinels(column("t", [*X_RISING, *[-40.0] * 3])) == []
    assert [s.value for s in find_sentinels(column("ct", [*X_RISING, *[-1.0] * 3]))] == [-1]
    assert find_sentinels(column("z", [*np.linspace(0.1, 4, 40), *[-1.0] * 3])) == []


@pytest.mark.parametrize(
    "name",
    ["kunde", "Lp.", "N° questionnaire", "#", "번호", "患者ID", "caseid", "CASE", "MRN"],
)
def test_names_of_things_with_another_number_in_each_row_are_identifiers(name):
    numbers = [float(k) for k in RANDOM.permutation(20) + 1000]
    assert guess_role(column(name, numbers)).role == "ignore"
    assert guess_role(column(name, [*numbers[:-1], numbers[0]])).role == "number"
    assert guess_role(column(name, [k + 0.5 for k in numbers])).role == "number"


@pytest.mark.parametrize("name", ["Kunden", "PAID", "covid", "cases", "n_samples", "tidal", "x"])
def test_how_many_things_there_are_is_no_identifier(name):
    assert guess_role(column(name, [float(k) for k in range(40, 60)])).role == "number"


def test_texts_that_never_come_again_are_no_levels():
    names = [f"{word} of the house" for word in "abcdefghijkl"]
    table = table_of(who=names, y=[0.0, 1.0] * 6)
    assert table.column("who").role == "category"  # as a person may say
    assert guess_role(table.column("who")).role == "ignore"
    assert guess_role(column("who", [*names[:-1], names[0]])).role == "category"


def test_an_identifier_that_comes_again_in_few_rows_is_asked_about():
    found = find(table_of(y=["0", "1"] * 40, id=[k % 60 for k in range(80)]))
    assert [one.columns for one in found if one.kind == "group"] == [("id",)]


def test_a_column_that_may_weigh_the_rows_is_asked_about():
    y = ["0", "1"] * 10
    near, far = [0.8, 1.2] * 10, [80.0, 91.0] * 10
    found = find(table_of(y=y, weight=near, x=far))
    assert [one.columns for one in found if one.kind == "weight"] == [("weight",)]
    assert not [one for one in find(table_of(y=y, weight=far, x=near)) if one.kind == "weight"]


def test_what_is_called_a_weight_of_samples_is_asked_about_whatever_its_mean():
    weights = [2.0, 3.5, 1.5, 4.0] * 9
    (asked,) = found(table_of(sample_weight=weights, y=["0", "1"] * 18), "weight")
    assert "may hold row weights, because of its name" in asked.sentence
    assert found(table_of(body_weight=weights, y=["0", "1"] * 18), "weight") == []


def test_days_are_no_days_of_a_spreadsheet(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("date,y\n" + "".join(f"2020-01-{k:02d},{'uv'[k % 2]}\n" for k in range(1, 20)))
    assert not any("spreadsheets" in note for note in read_table(path).notes)


def test_a_negative_number_among_codes_is_asked_about_and_so_is_such_a_class():
    codes = [1.0, 2.0, -9.0, 1.0] * 9
    (asked,) = find_sentinels(column("x", codes))
    assert (asked.value, asked.count) == (-9.0, 9)
    assert find_sentinels(column("x", [1.0, 0.0, -1.0] * 9)) == []
    assert find_sentinels(column("x", [1.0, -8.0, -9.0] * 9)) == []
    said = [f.sentence for f in find(table_of(y=["0", "1", "-9", "0"] * 9, x=[*range(36)]))]
    assert "class “-9” of the label y may mean a missing value: 9 rows" in said


@pytest.mark.parametrize("name", ["product_code", "ZipCode", "PLZ", "job", "商品コード", "Region"])
def test_few_whole_numbers_that_are_called_a_code_are_asked_about(name):
    random = np.random.default_rng(1)
    numbers = random.choice([101.0, 205.0, 307.0, 411.0, 502.0], 60)
    table = table_of(**{name: numbers, "x": random.normal(size=60)}, y=random.random(60) < 0.4)
    (finding,) = found(table, "kind")
    assert finding.columns == (name,)
    assert finding.sentence == (
        f"column {name} has 5 different whole numbers, 101, 205, 307, 411 and others: make it a "
        "category if these are codes"
    )


def test_numbers_that_rank_better_as_levels_may_be_codes():
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


def test_counts_scores_and_few_rows_are_no_codes():
    random = np.random.default_rng(3)
    table = table_of(
        children=random.integers(0, 6, 90),
        type_share=random.random(90),
        region=np.arange(90) % 45,  # two rows each
        sex_code=1.0 + np.arange(90) % 2,
        y=random.random(90) < 0.4,
    )
    assert not found(table, "kind")


def test_labels_of_chance_make_no_codes():
    random = np.random.default_rng(4)
    columns = {f"n{k}": random.integers(0, 9, 300) for k in range(60)}
    assert len(found(table_of(**columns, y=random.random(300) < 0.3), "kind")) <= 1


def test_what_holds_one_value_or_nothing_is_a_category():
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
    told = [finding.sentence for finding in found(table, "kind")]
    assert "column ticked holds 'x' or nothing; nothing counts as a level" in told
    assert "column flag holds 1 or nothing; nothing counts as a level" in told
    assert [finding.columns for finding in found(table, "leak")] == [("closed",)]


def test_9_beside_answers_of_one_digit_is_asked_about():
    answers = np.arange(60.0) % 4
    assert not find_sentinels(column("kids", answers))
    answers[::12] = 9
    (sentinel,) = find_sentinels(column("kids", answers))
    assert (sentinel.value, sentinel.count) == (9, 5)
    assert not find_sentinels(column("grade", np.arange(60.0) % 10))  # 9 ends them
    assert not find_sentinels(column("rooms", [1.0, 2, 3, 4, 5, 6, 7, 9, 9, 9] * 6))


def test_dates_have_that_role_in_what_inspect_tells(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text(
        "d,x,y\n" + "".join(f"2024-01-{k:02d},{k % 7}.5,{'ab'[k % 2]}\n" for k in range(1, 29))
    )
    read = read_table(path)
    first, second, _ = inspection(read)["columns"]
    assert (first["role"], first["kind"], second["role"]) == ("date", "date", "number")
    ignored, *_ = inspection(read.with_roles(ignore=["d"]))["columns"]
    assert (ignored["role"], ignored["kind"]) == ("ignore", "date")
