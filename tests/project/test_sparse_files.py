"""Several sparse files are joined into one sparse table."""

import pytest

from aucstudio.project.data.input_files import join
from aucstudio.project.data.sparse_columns import SparseColumn
from aucstudio.project.data.table import read_table


def cells(table):
    return {
        c.name: [None if v is None or v != v else v for v in c.values.tolist()]
        for c in table.columns
    }


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
