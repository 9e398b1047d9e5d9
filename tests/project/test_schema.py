"""A row is read equally in any file: later files are read by the schema alone."""

import csv
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aucstudio.cli import main
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import refit
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.runs.scoring import read_to_score, scores_of
from aucstudio.project.store.model_file import load_model, save_model
from tests.conftest import write_file, write_parquet

HEADER = ["code", "flag", "price", "dose", "when", "word", "outcome"]
ROWS = 60


def training_rows(comma):
    """Return difficult rows: codes, booleans, decimal commas, thousands separators, quotes."""
    rng = np.random.default_rng(1)
    rows = []
    for k in range(ROWS):
        sick = k % 3 == 0
        price = f"{1_000 + 37 * k:,}".replace(",", "." if comma else ",")
        dose = f"{rng.normal() + sick:.4f}".replace(".", "," if comma else ".")
        rows.append(
            [
                ["01", "02", "1A"][k % 3 if k % 5 else 1],
                "TRUE" if (k + sick) % 2 else "FALSE",
                price,
                "NA" if k % 11 == 4 else dose,
                f"2024-01-{1 + k % 28:02d}",
                ['say "so"', "a;b,c", "none", " x "][(k // 2) % 4],
                "yes" if sick else "no",
            ]
        )
    return rows


def write_csv(path, header, rows, delimiter=";", encoding="utf-8"):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([header, *rows])
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def trained(path, method="auc-rls", **roles):
    table = read_table(path, label="outcome", positive="yes", roles=roles)
    data = DataReference.to_table(table)
    return refit(plan_experiment(data, method, {}, Validation()), table)


@pytest.fixture(scope="module", params=["comma", "point"])
def study(request, tmp_path_factory):
    """Return a model and its training rows, with decimal commas or points."""
    folder = tmp_path_factory.mktemp(request.param)
    rows = training_rows(request.param == "comma")
    model = trained(write_csv(folder / "train.csv", HEADER, rows), when="ignore")
    save_model(model, folder / "m.aucmodel")
    return load_model(folder / "m.aucmodel"), rows, folder / "m.aucmodel"


def scores_in(model, path, read=read_table):
    table = read_to_score(model, path, read=read)
    try:
        return scores_of(model, table)
    finally:
        if read is open_stream:
            table.close()


def unseen_cells(cells):
    """Draw cells that were unseen in training."""
    return st.sampled_from([*cells, "", "NA", "abc", "1e300", "-0", "007", "1,5", "1.5", "TRUE"])


LATER = st.lists(
    st.tuples(
        unseen_cells(["01", "02", "1A", "2", "1"]),
        unseen_cells(["TRUE", "FALSE", "true", "yes"]),
        unseen_cells(["1.234", "1,234", "12", "999999999", "1 234"]),
        unseen_cells(["0,5", "0.5", "-1,25", "12.5"]),
        unseen_cells(["2024-01-01", "7"]),
        unseen_cells(['say "so"', "a;b,c", "line\nbreak", "x"]),
        st.sampled_from(["yes", "no", ""]),
    ).map(list),
    min_size=2,
    max_size=12,
)


@pytest.mark.slow
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(later=LATER, data=st.data())
def test_row_score_does_not_depend_on_other_rows(study, later, data):
    model, rows, _ = study
    later = later + data.draw(st.lists(st.sampled_from(rows), max_size=5))
    order = data.draw(st.permutations(range(len(later))))
    kept = sorted(order[: data.draw(st.integers(1, len(later)))])
    delimiter = data.draw(st.sampled_from([";", "\t", "|"]))
    columns = data.draw(st.permutations(range(len(HEADER))))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"

        def scores(numbers, places=None, mark=";", read=read_table):
            places = places or [*range(len(HEADER))]
            header = [HEADER[k] for k in places]
            cells = [[later[n][k] for k in places] for n in numbers]
            return scores_in(model, write_csv(path, header, cells, mark), read)

        whole = scores(range(len(later)))
        assert np.isfinite(whole).all()
        size = 1e-12 * np.abs(whole).max()
        np.testing.assert_allclose(scores(order), whole[list(order)], rtol=1e-12, atol=size)
        np.testing.assert_allclose(scores(kept), whole[kept], rtol=1e-12, atol=size)
        one = scores(kept[:1], columns, delimiter)
        np.testing.assert_allclose(one, whole[kept[:1]], rtol=1e-12, atol=size)
        streamed = scores(kept, read=open_stream)
        np.testing.assert_allclose(streamed, whole[kept], rtol=1e-12, atol=size)


HOSTILE = [
    *["", " ", "NA", "n/a", "null", "?", "none", "-", "--", ".", "nan", "nan(5)", "inf"],
    *["1", "01", "1.0", "+1", "+-5", "-0", "1e5", "1E+5", "1e400", "1e-400", "0x1F"],
    *["1_000", "1d5", "1.234", "1,234", "1.234,5", "1,234.5", "1 234", "1'234", "12,34"],
    *["1.23.4", ",5", ".5", "5,", "5.", "1e", "e5", "-Infinity", "12345678901234567890"],
    *["1\u00a0234", "\u00bd", "\uff11\uff12", "\u2212 5", "\u22125", "TRUE", "true", "1A"],
    *["02", "abc", 'say "so"', "a;b,c", "line\nbreak", "=1+1", "'quoted'", " x "],
]


@pytest.mark.slow
def test_long_and_short_files_have_equal_scores(study, tmp_path):
    model, rows, _ = study
    usual = rows[1]
    later = [[*usual[:k], cell, *usual[k + 1 :]] for k in range(6) for cell in HOSTILE]
    many = later * (2_600 // len(later) + 1)
    whole = scores_in(model, write_csv(tmp_path / "whole.csv", HEADER, many))
    assert len(whole) == len(many) > 2_500
    short = scores_in(model, write_csv(tmp_path / "short.csv", HEADER, later))
    scale = 1e-12 * np.abs(whole).max()
    for start in range(0, len(many), len(later)):
        part = slice(start, start + len(later))
        np.testing.assert_allclose(whole[part], short, rtol=1e-12, atol=scale)
    for k in range(0, len(later), 7):
        one = scores_in(model, write_csv(tmp_path / "one.csv", HEADER, later[k : k + 1]))
        assert one == pytest.approx(short[k], rel=1e-12, abs=scale), later[k]


def test_command_scores_single_rows_like_the_whole_file(study, tmp_path, capsys):
    model, rows, saved = study
    whole = scores_in(model, write_csv(tmp_path / "whole.csv", HEADER, rows))
    for k in (0, 7, 14):
        one = write_csv(tmp_path / "one.csv", HEADER, [rows[k]])
        assert main(["score", str(saved), str(one)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "row,score,threshold,predicted"
        assert float(lines[1].split(",")[1]) == pytest.approx(whole[k], rel=1e-12)


def test_code_column_stays_text_in_later_files(tmp_path):
    codes = ["01", "02", "1A"] * 20
    rows = [[code, k, "no" if k % 3 else "yes"] for k, code in enumerate(codes)]
    model = trained(write_csv(tmp_path / "t.csv", ["code", "x", "outcome"], rows))
    assert model.schema.by_name["code"].levels == ("01", "02", "1A")
    later = tmp_path / "later.csv"
    both = scores_in(model, write_csv(later, ["code", "x"], [["01", 3], ["1A", 4]]))
    alone = scores_in(model, write_csv(later, ["code", "x"], [["01", 3], ["02", 4]]))
    assert alone[0] == both[0]


def test_parquet_numbers_match_text_levels_of_training(tmp_path):
    rows = [[k % 3 + 1, k / 4, "yes" if k % 3 else "no"] for k in range(30)]
    rows[0][0] = "1A"
    model = trained(write_csv(tmp_path / "t.csv", ["code", "x", "outcome"], rows))
    cells = "(i % 3 + 1)::DOUBLE AS code, (i / 4)::VARCHAR AS x"
    path = write_parquet(tmp_path / "t.parquet", f"SELECT {cells} FROM range(30) t(i)")
    table = read_to_score(model, path)
    assert table.column("code").values[:3].tolist() == ["1", "2", "3"]
    expected = scores_in(
        model, write_csv(tmp_path / "c.csv", ["code", "x"], [[k % 3 + 1, k / 4] for k in range(30)])
    )
    np.testing.assert_allclose(scores_of(model, table), expected, rtol=1e-12)
    np.testing.assert_allclose(scores_in(model, path, open_stream), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("A title of the sheet\n\n", ""), ("sep=;\n", ""), ("", "\r")]
)
def test_header_is_found_below_other_lines(study, tmp_path, before, after):
    model, rows, _ = study
    plain = write_csv(tmp_path / "plain.csv", HEADER, rows)
    moved = tmp_path / "moved.csv"
    moved.write_bytes((before + plain.read_text().replace("\n", after + "\n")).encode())
    assert scores_in(model, moved).tolist() == scores_in(model, plain).tolist()


def test_r_row_names_are_read_like_in_training(tmp_path):
    lines = ["a,b,outcome", *(f"r{k},{k},{k % 7},{'yes' if k % 3 else 'no'}" for k in range(30))]
    path = write_file(tmp_path / "r.csv", "\n".join(lines))
    model = trained(path)
    assert model.schema.dialect.short_header == "first"
    whole = scores_in(model, path)
    path.write_text("\n".join([lines[0], lines[5]]))
    assert scores_in(model, path) == pytest.approx(whole[4], rel=1e-12)


def test_training_encoding_is_used_unless_the_bytes_contradict(tmp_path):
    rows = [["Zürich" if k % 2 else "Bern", k, "yes" if k % 3 else "no"] for k in range(40)]
    header = ["city", "x", "outcome"]
    model = trained(write_csv(tmp_path / "t.csv", header, rows, encoding="cp1252"))
    for encoding in ("cp1252", "utf-8", "utf-16"):
        later = write_csv(tmp_path / "later.csv", header, rows[1:2], encoding=encoding)
        table = read_to_score(model, later)
        assert table.column("city").values.tolist() == ["Zürich"]


def test_schema_round_trips_as_json(study):
    schema = study[0].schema
    document = json.loads(json.dumps(schema.as_json()))
    assert Schema.from_json(document) == schema
    assert schema.by_name["price"].number.grouped
    assert schema.by_name["code"].kind == "text"


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"columns": 3},
        {"columns": [{"name": 3}]},
        {"columns": [{"name": "a", "role": "king"}]},
        {"columns": [{"name": "a"}, {"name": "a"}]},
        {"columns": [], "dialect": {"delimiter": ""}},
        {"columns": [{"name": "a", "number": {"decimal": 1}}]},
    ],
)
def test_damaged_schema_is_refused(document):
    with pytest.raises(InputError):
        Schema.from_json(document)


def test_reference_reopens_the_table_with_the_same_dialect(tmp_path):
    path = write_csv(tmp_path / "t.csv", HEADER, training_rows(True))
    table = read_table(path, dialect={"decimal": "."}, label="outcome", roles={"code": "group"})
    assert table.schema.chosen == ("decimal",)
    again = DataReference.to_table(table).open()
    assert [column.kind for column in again.columns] == [column.kind for column in table.columns]
    assert again.schema.dialect == table.schema.dialect


def test_table_read_without_the_schema_is_refused(study, tmp_path):
    model, rows, _ = study
    few = [row for row in rows if row[0] != "1A"]
    table = read_table(write_csv(tmp_path / "t.csv", HEADER, few), need_label=False)
    with pytest.raises(InputError, match="with the model's schema"):
        model.score(table)


def test_default_fields_are_not_stored():
    column = ColumnSchema("a", "number", "number", NumberFormat(","))
    schema = Schema((column,), dialect=Dialect(decimal=","))
    assert schema.as_json() == {
        "columns": [{"name": "a", "role": "number", "kind": "number", "number": {"decimal": ","}}],
        "dialect": {"decimal": ","},
    }
    assert Schema.from_json(schema.as_json()) == schema
