import numpy as np
import pytest

from aucstudio.project.data.preparing.preparation import learn_preparation
from aucstudio.project.data.preparing.scales import MISSING
from aucstudio.project.data.preparing.stored import arrays_of, restored, settings_of
from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from tests.conftest import with_cells, write_file


def test_numbers_are_imputed_and_scaled_by_training_rows(table):
    rows = np.arange(0, table.rows, 2)
    preparation = learn_preparation(table, rows)
    X = preparation.apply(table, rows)
    column = next(c for c in table.columns if c.name == "x1")
    cells = column.values[rows]
    filled = np.where(np.isnan(cells), np.nanmedian(cells), cells)
    expected = (filled - filled.mean()) / filled.std()
    np.testing.assert_allclose(X[:, preparation.feature_names.index("x1")], expected, atol=1e-12)
    # Changing rows outside the training part does not change the preparation.
    changed = with_cells(table, np.arange(1, table.rows, 2), 1e6)
    again = learn_preparation(changed, rows)
    np.testing.assert_array_equal(again.means, preparation.means)


def test_categories_become_one_column_per_level(table):
    preparation = learn_preparation(table, np.arange(table.rows))
    X = preparation.apply(table)
    names = preparation.feature_names
    town = next(c for c in table.columns if c.name == "town").values
    for level in ("north", "south"):
        np.testing.assert_array_equal(X[:, names.index(f"town = {level}")], town == level)


def test_unseen_and_missing_levels_of_a_category(tmp_path):
    def table_of(cells):
        path = tmp_path / f"{'-'.join(map(str, cells))}.csv"
        rows = [f"{k * 0.37 + 0.1},{cell},{'ab'[k % 2]}" for k, cell in enumerate(cells)]
        path.write_text("x,kind,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
        return read_table(path)

    preparation = learn_preparation(
        table_of(["red", "red", "", "blue", "red", "blue"]), np.arange(6)
    )
    assert preparation.levels == (("red", "blue", MISSING),)
    X = preparation.apply(table_of(["green", "blue", "", "red", "red", "red"]))
    np.testing.assert_array_equal(
        X[:, 1:], [[0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0]]
    )


def test_constant_and_empty_columns_stay_finite(tmp_path):
    path = tmp_path / "flat.csv"
    rows = [f"{k % 7}.5,100000000.1,,{'yes' if k % 3 else 'no'}" for k in range(30)]
    path.write_text("a,flat,empty,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    table = read_table(path)
    roles = {c.name: "number" for c in table.columns if c.name in ("a", "flat")}
    table = table.with_roles(roles=roles)
    X = learn_preparation(table, np.arange(20)).apply(table)
    assert np.isfinite(X).all()


def test_restored_preparation_gives_the_same_matrix(table):
    preparation = learn_preparation(table, np.arange(40))
    again = restored(settings_of(preparation), arrays_of(preparation))
    np.testing.assert_array_equal(again.apply(table), preparation.apply(table))


def test_table_with_unsuitable_columns_is_refused_by_name(table, tmp_path):
    preparation = learn_preparation(table, np.arange(table.rows))
    lacking = write_file(tmp_path / "lacking.csv", "x0,x1,x3,town\n1,2,3,north\n4,5,6.5,south\n")
    with pytest.raises(InputError, match=r"lacking\.csv lacks column 'x2'"):
        preparation.apply(read_table(lacking, need_label=False))
    words = write_file(
        tmp_path / "words.csv", "x0,x1,x2,x3,town\n1,2,high,3,north\n4,5,low,6,south\n"
    )
    with pytest.raises(InputError, match=r"column 'x2' of words\.csv holds text"):
        preparation.apply(read_table(words, need_label=False))
