"""Tables to score in another notation or out of range are refused with a remedy."""

import csv
import json

import numpy as np
import pytest

from aucstudio.cli import main
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.preparing.acceptance import how_far
from aucstudio.project.data.schema import ColumnRange, ColumnSchema, Schema
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text.later_files import Remedy, remedy_for
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.errors import InputError
from aucstudio.project.store.model_file import load_model, save_model
from tests.conftest import write_parquet
from tests.project.test_schema import trained, write_csv
from tests.project.test_tested_on import planned

HEADER = ["x", "people", "share", "outcome"]
ROWS = 134
GROUPED = NumberFormat(grouped=True)


def rows_of(count=ROWS):
    rng = np.random.default_rng(2)
    x = rng.uniform(0.02, 98, count) + 20 * (np.arange(count) % 3 == 0)
    people = rng.integers(1001, 90_000, count)
    share = rng.uniform(0.1, 0.9, count)
    return [[x[k], int(people[k]), share[k], "yes" if k % 3 == 0 else "no"] for k in range(count)]


def point(x, people, share, y):
    return [f"{x:.3f}", people, f"{share:.3f}", y]


def comma(x, people, share, y):
    """Write numbers with a decimal comma and points between thousands."""
    x, share = (f"{v:.3f}".replace(".", ",") for v in (x, share))
    return [x, f"{people:,}".replace(",", "."), share, y]


def grouped(rows):
    """Write large decimals so that the file has thousands separators and decimals."""
    whole = [comma(*row) for row in rows]
    for cells, row in zip(whole, rows, strict=True):
        cells[0] = f"{90 * row[0]:,.3f}".translate(str.maketrans(",.", ".,"))
    return whole


@pytest.fixture
def model(tmp_path):
    def make(rows):
        save_model(
            trained(write_csv(tmp_path / "train.csv", HEADER, rows)), tmp_path / "m.aucmodel"
        )
        return tmp_path / "m.aucmodel"

    return make


@pytest.fixture
def score(tmp_path, capsys):
    def call(path, *options):
        status = main(["score", str(tmp_path / "m.aucmodel"), str(path), *options])
        out, err = capsys.readouterr()
        return status, [float(row["score"]) for row in csv.DictReader(out.splitlines())], err

    return call


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_decimal_point_is_not_read_as_thousands_separator(model, score, tmp_path, stream):
    rows = rows_of()
    model(grouped(rows))
    how = ["--stream"] if stream else []
    _, truth, _ = score(tmp_path / "train.csv", *how)
    later = [[f"{90 * row[0]:.3f}", *point(*row)[1:]] for row in rows]
    small = [k for k, row in enumerate(rows) if row[0] < 1.0 or row[0] > 11.2]
    assert len(small) > 100
    path = write_csv(tmp_path / "later.csv", HEADER, later)
    status, scores, err = score(path, *how)
    assert (status, scores) == (2, [])
    assert "'x'" in err
    assert "--decimal ." in err
    assert "--allow-unreadable 'x'" in err
    status, scores, _ = score(path, *how, "--decimal", ".")
    assert status == 0
    assert scores == pytest.approx(truth, abs=1e-9)


@pytest.mark.slow
def test_one_row_is_refused_like_many(model, score, tmp_path):
    rows = rows_of()
    model(grouped(rows))
    _, truth, _ = score(tmp_path / "train.csv")
    for k in range(0, 30, 3):
        later = [f"{90 * rows[k][0]:.3f}", *point(*rows[k])[1:]]
        path = write_csv(tmp_path / "one.csv", HEADER, [later])
        status, _, err = score(path)
        assert status == 2
        assert "--decimal ." in err
        assert score(path, "--decimal", ".")[1] == pytest.approx([truth[k]], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_thousands_separators_absent_in_training_are_refused(model, score, tmp_path, stream):
    rows = rows_of()
    model([point(*row) for row in rows])
    how = ["--stream"] if stream else []
    later = [[f"{x:.3f}", f"{n:,}", f"{s:.3f}", y] for x, n, s, y in rows]
    path = write_csv(tmp_path / "later.csv", HEADER, later)
    status, _, err = score(path, *how)
    assert status == 2
    assert "'people'" in err
    assert "--decimal . reads it" in err
    _, truth, _ = score(tmp_path / "train.csv", *how)
    assert score(path, *how, "--decimal", ".")[1] == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize(("highest", "mark"), [(118.0, ","), (90_000.0, ".")])
def test_advised_decimal_mark_follows_the_training_range(highest, mark):
    known = ColumnRange(1.5, highest, 2.0, 50.0, 100.0, 0.9)
    column = ColumnSchema("x", kind="number", number=NumberFormat(), range=known)
    advised = remedy_for(["1,266", "35,070"], column, None, some_known=False)
    assert advised == Remedy("decimal", mark)


@pytest.mark.slow
def test_thousands_points_are_not_read_as_decimal_points(model, score, tmp_path):
    rows = rows_of()
    model([point(*row) for row in rows])
    _, truth, _ = score(tmp_path / "train.csv")
    for some in (rows, rows[4:5]):
        later = [[f"{x:.0f}", comma(x, n, s, y)[1], f"{s:.0f}", y] for x, n, s, y in some]
        path = write_csv(tmp_path / "later.csv", HEADER, later)
        status, _, err = score(path)
        assert status == 2, err
        assert "'people'" in err
        assert "--decimal , reads it" in err
    later = [[*comma(*row)] for row in rows]
    path = write_csv(tmp_path / "later.csv", HEADER, later)
    assert score(path, "--decimal", ",")[1] == pytest.approx(truth, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_up_to_a_tenth_of_a_column_may_be_unreadable(model, score, tmp_path, stream):
    model([point(*row) for row in rows_of()])
    how = ["--stream"] if stream else []
    for bad, expected in ((10, 0), (11, 2)):
        rows = [point(*row) for row in rows_of(100)]
        for k in range(bad):
            rows[9 * k][0] = f"x{k}"
        path = write_csv(tmp_path / "later.csv", HEADER, rows)
        assert score(path, *how)[0] == expected
    assert "11 of 100 cells" in score(path, *how)[2]
    status, scores, err = score(path, *how, "--allow-unreadable", "x")
    assert (status, len(scores)) == (0, 100)
    assert "11 rows" in err


def test_words_for_missing_values_are_accepted(model, score, tmp_path):
    model([point(*row) for row in rows_of()])
    path = write_csv(tmp_path / "one.csv", HEADER, [["not available", 4000, "0.5", "yes"]])
    status, scores, err = score(path)
    assert (status, len(scores)) == (0, 1)
    assert "'not available'" in err


def test_unreadable_cells_known_from_training_are_accepted(model, score, tmp_path):
    rows = [point(*row) for row in rows_of()]
    for k in range(0, ROWS, 4):
        rows[k][0] = "below 5"
    model(rows)
    assert load_model(tmp_path / "m.aucmodel").schema.by_name["x"].unreadable == 34
    assert score(tmp_path / "train.csv")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_only_whole_columns_out_of_range_are_refused(model, score, tmp_path, stream):
    model([point(*row) for row in rows_of()])
    how = ["--stream"] if stream else []
    rows = [point(*row) for row in rows_of()]
    rows[3][0], rows[5][1] = "9e7", "1000000000"
    path = write_csv(tmp_path / "later.csv", HEADER, rows)
    assert score(path, *how)[0] == 0
    large = [[f"{100 * x:.3f}", n, f"{s:.3f}", y] for x, n, s, y in rows_of()]
    path = write_csv(tmp_path / "later.csv", HEADER, large)
    status, _, err = score(path, *how)
    assert status == 2
    assert "--scale x=0.01 reads it; --allow-range 'x'" in err
    _, truth, _ = score(tmp_path / "train.csv", *how)
    assert score(path, *how, "--scale", "x=0.01")[1] == pytest.approx(truth, abs=1e-3)
    status, scores, _ = score(path, *how, "--allow-range", "x")
    assert status == 0
    assert not np.allclose(scores, truth)


@pytest.mark.slow
def test_range_of_a_typed_file_is_checked(model, score, tmp_path):
    model([point(*row) for row in rows_of()])
    large = f"SELECT x * 1000 AS x, people, share, outcome FROM '{tmp_path / 'train.csv'}'"
    path = write_parquet(tmp_path / "later.parquet", large)
    status, _, err = score(path)
    assert status == 2
    assert "--allow-range 'x'" in err
    assert "reads it" not in err
    assert score(path, "--allow-range", "x")[0] == 0


def test_json_lists_allowed_columns_and_refusal_prints_nothing(model, tmp_path, capsys):
    model([point(*row) for row in rows_of()])
    rows = [[f"{1000 * x:.3f}", n, f"{s:.3f}", y] for x, n, s, y in rows_of(8)]
    path = str(write_csv(tmp_path / "later.csv", HEADER, rows))
    words = ["score", str(tmp_path / "m.aucmodel"), path, "--json"]
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert main([*words, "--allow-range", "x"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["allowed"] == {"unknown": [], "unreadable": [], "range": ["x"]}
    assert found["threshold"] == load_model(tmp_path / "m.aucmodel").threshold


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--written", "x"], "COL=CELL"),
        (["--written", "z=5"], "'z'"),
        (["--written", "x=red"], "'red' is not a number"),
        (["--scale", "x=big"], "COL=FACTOR"),
        (["--scale", "x=0"], "COL=FACTOR"),
        (["--scale", "outcome=2"], "'outcome'"),
        (["--allow-range", "z"], "'z'"),
        (["--allow-unreadable", "outcome"], "'outcome'"),
    ],
)
def test_options_for_unsuitable_columns_are_refused(model, score, tmp_path, options, word):
    model([point(*row) for row in rows_of()])
    status, _, err = score(tmp_path / "train.csv", *options)
    assert status == 2
    assert word in err


@pytest.mark.slow
def test_explained_row_is_read_with_the_given_decimal_mark(model, tmp_path, capsys, refused):
    rows = rows_of()
    model([point(*row) for row in rows])
    other = [[*comma(*row)] for row in rows]
    path = str(write_csv(tmp_path / "later.csv", HEADER, other))
    words = ["explain", str(tmp_path / "m.aucmodel"), path, "--row", "3", "--json"]
    assert "--decimal ," in refused(*words)
    assert main([*words, "--decimal", ","]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main([*words[:2], str(tmp_path / "train.csv"), *words[3:]]) == 0
    assert found["score"] == pytest.approx(json.loads(capsys.readouterr().out)["score"], abs=1e-9)


@pytest.mark.parametrize("change", [comma, lambda x, *rest: [f"{1000 * x:.3f}", *rest]])
def test_test_file_in_another_notation_is_refused(tmp_path, change):
    train = write_csv(tmp_path / "train.csv", HEADER, [point(*row) for row in rows_of()])
    test = write_csv(tmp_path / "t.csv", HEADER, [change(*row) for row in rows_of()])
    with pytest.raises(
        InputError, match=("save the test file in the format of the training table")
    ):
        planned(train, test)


def test_column_ranges_agree_in_memory_and_on_disk(tmp_path):
    rows = [point(*row) for row in rows_of()]
    rows[7][0] = "-999"
    path = write_csv(tmp_path / "t.csv", HEADER, rows)
    here = read_table(path, absent={"x": (-999.0,)})
    disk = open_stream(path, absent={"x": (-999.0,)})
    try:
        assert here.schema.by_name["x"] == disk.schema.by_name["x"]
        assert here.ranges() == disk.ranges()
    finally:
        disk.close()
    found = here.schema.by_name["x"].range
    cells = np.array([float(row[0]) for row in rows if row[0] != "-999"])
    assert (found.low, found.high) == (cells.min(), cells.max())
    assert found.lower < found.middle < found.upper
    assert Schema.from_json(json.loads(json.dumps(here.schema.as_json()))) == here.schema


def range_of(cells):
    return ColumnRange.of(np.array(cells, float), min(cells), max(cells))


@pytest.mark.parametrize(
    ("trained", "later"),
    [
        (range(2019, 2024), [2027]),  # years go on
        ([0.0, 0.1, 2.0, 900.0], [2000.0]),
        (range(18, 90), [45.5]),
        ([-3.0, 0.5, 3.0], [8.0]),
        (range(18, 90), [float("nan")]),
    ],
)
def test_numbers_slightly_outside_the_range_are_accepted(trained, later):
    assert how_far(range_of(trained), np.array(later, float), GROUPED) is None


@pytest.mark.parametrize(
    ("trained", "later"),
    [
        ([290.0, 300.0], [22.0]),  # kelvin, degrees Celsius
        ([0.05, 0.4, 0.9], [40.0]),
        ([5.0, 40.0, 90.0], [0.4]),
        (range(1000, 10_000), [8.616]),
        (np.arange(0.001, 1e6, 733.017), [54_720.0]),
    ],
)
def test_numbers_on_another_scale_are_reported(trained, later):
    assert how_far(range_of(trained), np.array(later, float), GROUPED) is not None
