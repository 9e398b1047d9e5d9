"""Sparse rows of ARFF stay sparse; several sparse files are joined into one sparse table."""

import numpy as np
import pytest

from aucstudio.project.data.input_files import join
from aucstudio.project.data.readers import arff
from aucstudio.project.data.readers.formats import MATRIX, ReadOptions
from aucstudio.project.data.sparse_columns import SparseColumn
from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from tests.conftest import write_file

HEAD = (
    "@relation r\n"
    + "".join(f"@attribute w{k} numeric\n" for k in range(6))
    + "@attribute town {Bern, 'St. Gallen'}\n@attribute y {no,yes}\n@data\n"
)
ROWS = (
    "{0 1.5, 7 yes}\n% a comment\n{}\n{2 ?, 6 'St. Gallen'}, {2}\n{2 abc, 4 -3}\n{1 0, 7 yes}\n"
    "{5 2, 6 ?}\n{0 abc}\n"
)


@pytest.fixture
def path(tmp_path):
    return write_file(tmp_path / "thin.arff", HEAD + ROWS)


def cells(table):
    return {
        c.name: [None if v is None or v != v else v for v in c.values.tolist()]
        for c in table.columns
    }


def test_sparse_rows_of_arff_stay_sparse(path):
    table = read_table(path)
    assert [c.name for c in table.columns if isinstance(c, SparseColumn)] == [
        f"w{k}" for k in range(6)
    ]
    assert cells(table) == {
        "w0": [1.5, 0, 0, 0, 0, 0, None],
        "w1": [0] * 7,
        "w2": [0, 0, None, None, 0, 0, 0],
        "w3": [0] * 7,
        "w4": [0, 0, 0, -3, 0, 0, 0],
        "w5": [0, 0, 0, 0, 0, 2, 0],
        "town": ["Bern", "Bern", "St. Gallen", "Bern", "Bern", None, "Bern"],
        "y": ["yes", "no", "no", "no", "yes", "no", "no"],
        "weight": [1, 1, 2, 1, 1, 1, 1],
    }
    assert (table.label, table.weight) == ("y", "weight")
    top = HEAD.count("\n")
    lines = {name: (one.text, one.line) for name, one in table.unreadable.items()}
    assert lines == {"w0": ("abc", top + 8), "w2": ("abc", top + 5)}


def test_zeros_of_sparse_rows_are_not_written(tmp_path):
    path, target = tmp_path / "wide.arff", tmp_path / "converted"
    width, rows = 5_000, 100
    names = "".join(f"@attribute w{k} numeric\n" for k in range(width))
    path.write_text(f"@relation r\n{names}@attribute y {{a,b}}\n@data\n" + "{7 1, 9 2}\n" * rows)
    written = arff.write(path, target, ReadOptions(), lambda _: None)
    assert written.kind == MATRIX
    assert target.stat().st_size < width * rows / 2


def test_rows_of_arff_with_most_cells_given_become_a_plain_table(tmp_path):
    path = tmp_path / "filled.arff"
    given = [", ".join(f"{k} {10 * row + k + 1}" for k in range(6)) for row in range(5)]
    path.write_text(HEAD + "".join(f"{{{row}, 7 yes}}\n" for row in given) + "{3 -3}\n")
    table = read_table(path)
    assert not any(isinstance(c, SparseColumn) for c in table.columns)
    assert cells(table)["w3"] == [4, 14, 24, 34, 44, -3]
    assert cells(table)["w4"] == [5, 15, 25, 35, 45, 0]
    assert cells(table)["y"] == ["yes"] * 5 + ["no"]


def test_a_later_sparse_file_is_read_by_the_schema(path, tmp_path):
    schema = read_table(path).schema
    later = write_file(tmp_path / "later.arff", HEAD + "{3 7}\n1,2,3,4,5,6,Bern,yes\n")
    read = read_table(later, schema=schema)
    assert cells(read)["w3"] == [7, 4]
    later.write_text(HEAD + "{3 7}\n{7 yes}\n")
    assert cells(read_table(later, schema=schema))["w0"] == [0, 0]


def test_what_is_no_attribute_is_told_with_its_line(path):
    path.write_text(HEAD + "{0 1}\n{9 1}\n")
    with pytest.raises(InputError, match="line 12: there is no attribute number '9'"):
        read_table(path)


@pytest.mark.slow
def test_several_sparse_files_are_joined_sparsely(tmp_path):
    one, two = tmp_path / "one.svm", tmp_path / "two.svm"
    one.write_text("1 3:2 5:1\n-1 40:1\n-1 5:4\n")
    two.write_text("-1 3:1\n1 5:0 7:2\n")
    table = read_table(join([one, two]))
    features = [c for c in table.columns if c.name.startswith("f") and c.name != "file"]
    assert all(isinstance(c, SparseColumn) for c in features)
    assert len({id(c.block) for c in features}) == 1
    assert cells(table) == {
        "label": [1, -1, -1, -1, 1],
        "f3": [2, 0, 0, 1, 0],
        "f5": [1, 0, 4, 0, 0],
        "f40": [0, 1, 0, 0, 0],
        "f7": [0, 0, 0, 0, 2],
        "file": ["one.svm"] * 3 + ["two.svm"] * 2,
    }


@pytest.mark.slow
def test_sparse_and_dense_files_are_joined_sparsely(tmp_path):
    one, two = tmp_path / "one.svm", tmp_path / "two.svm"
    one.write_text("".join(f"{k % 2} {k}:1 {k + 1}:0\n" for k in range(1, 9)))
    two.write_text("".join(f"{k % 2} {' '.join(f'{j}:2' for j in range(1, 9))}\n" for k in (1, 2)))
    table = read_table(join([one, two]))
    column = table.column("f3")
    assert isinstance(column, SparseColumn)
    assert column.values.tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 2, 2]


def test_numbers_in_one_sparse_file_and_text_in_the_other_are_refused(tmp_path):
    one, two = tmp_path / "one.arff", tmp_path / "two.arff"
    rows = "".join(f"{{{k % 5} 2}}\n" for k in range(10))
    one.write_text(HEAD + rows)
    two.write_text(HEAD.replace("w3 numeric", "w3 {1,2}") + rows)
    with pytest.raises(InputError, match=r"one.arff has numbers in column 'w3', which is text"):
        read_table(join([one, two]))


def test_rows_without_any_number_are_a_table(tmp_path):
    table = read_table(write_file(tmp_path / "empty.arff", HEAD + "{}\n{7 yes}\n" * 3 + "{}\n"))
    assert table.classes == {"no": 4, "yes": 3}
    assert np.all(table.column("w0").values == 0)
