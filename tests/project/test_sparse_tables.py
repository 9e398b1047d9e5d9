"""Sparse tables are stored, prepared, trained on and scored without their zeros."""

from __future__ import annotations

import dataclasses
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from aucstudio.cli import main
from aucstudio.engine import METHODS
from aucstudio.project.data import sparse_columns
from aucstudio.project.data.findings.find import find
from aucstudio.project.data.preparing.preparation import learn_preparation
from aucstudio.project.data.preparing.preparation_choice import IMPUTE, SCALE, PreparationChoice
from aucstudio.project.data.preparing.scales import learn_number
from aucstudio.project.data.preparing.sparse import learn_rare, sparse_rows
from aucstudio.project.data.preparing.stored import arrays_of, restored, settings_of
from aucstudio.project.data.readers import sparse_file
from aucstudio.project.data.sparse_columns import SparseBlock, SparseColumn, gathered, in_rows
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs import estimate
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment, plan_on
from aucstudio.project.runs.scoring import read_to_score, scores_of
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.store.model_file import load_model, save_model
from aucstudio.project.survey.column_sets import most_telling
from aucstudio.project.survey.columns import Classes, RankedColumn
from aucstudio.project.survey.conditions import Condition, read_conditions
from tests.conftest import write_file

LINEAR = [key for key, method in METHODS.items() if method.takes_sparse]


def rows_of(count=240, width=120, density=0.06, seed=0):
    """Return sparse rows, the last one empty, with a zero column and dependent labels."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((count, width), density=density, rng=rng, format="lil")
    y = rng.random(count) < 0.3
    X[:, :8] = np.where(rng.random((count, 8)) < 0.05 + 0.2 * y[:, None], 1.5, 0.0)
    X[:, 8] = np.round(rng.normal(size=(count, 1)) * (rng.random((count, 1)) < 0.5), 1).ravel()
    X[:, 9], X[-1] = 0.0, 0.0
    X = X.tocsr()
    X.data = np.round(X.data, 3)  # as the file spells them
    return X, np.where(y, 1, -1)


def write(path, X, y):
    dump_svmlight_file(sparse.csr_matrix(X), y, str(path), zero_based=False)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write(tmp_path_factory.mktemp("sparse") / "texts.svm", *rows_of())


@pytest.fixture(scope="module")
def sparse_table(path):
    return read_table(path)


def dense(table):
    """Return the same table in dense form."""
    columns = tuple(column.holding(column.values) for column in table.columns)
    return dataclasses.replace(table, columns=columns)


def experiment(table, method="logistic", validation=None, tuning=None, choice=None, **settings):
    data = DataReference.to_table(table)
    more = {} if choice is None else {"preparation": choice}
    scheme = validation or Validation()
    return plan_experiment(data, method, settings, scheme, tuning=tuning, **more)


# ------------------------------------------------------------------ columns


@pytest.mark.slow
def test_only_non_zero_cells_are_stored(sparse_table):
    X, _ = rows_of()
    features = [column for column in sparse_table.columns if column.name != "label"]
    assert all(isinstance(column, SparseColumn) for column in features)
    assert sparse_table.rows == 240
    for column in features:
        cells = X[:, [int(column.name[1:]) - 1]].toarray().ravel()
        whole = column.holding(column.values)
        np.testing.assert_array_equal(column.values, cells)
        assert [column.at(row) for row in (0, 7, 239)] == cells[[0, 7, 239]].tolist()
        assert column.distinct == len(np.unique(cells))
        assert (column.counts, column.is_integer()) == (whole.counts, whole.is_integer())
        assert column.zeros == np.count_nonzero(cells == 0)
    np.testing.assert_array_equal(
        gathered(features).toarray(), np.column_stack([c.values for c in features])
    )


@pytest.mark.slow
def test_missing_cells_and_explicit_zeros_are_read(tmp_path):
    path = tmp_path / "s.svm"
    path.write_text("1 1:nan 9:0\n-1 2:1\n-1 3:1\n1\n-1 4:2\n" + "-1\n1 1:5\n" * 4)
    table = read_table(path)
    first = table.column("f1")
    assert isinstance(first, SparseColumn)
    assert (first.missing, first.distinct) == (1, 2)
    np.testing.assert_array_equal(np.flatnonzero(~first.known()), [0])
    assert first.counts == {0.0: 8, 5.0: 4}
    assert table.column("f9").role == "ignore"  # the same in all rows


@pytest.mark.slow
def test_file_of_few_zeros_is_read_densely(tmp_path, monkeypatch):
    path = tmp_path / "s.svm"
    path.write_text("".join(f"{k % 2} 1:{k + 1} 2:{k * 7 % 5 + 1} 3:1\n" for k in range(30)))
    assert not any(isinstance(c, SparseColumn) for c in read_table(path).columns)
    monkeypatch.setattr(sparse_file, "MOST_OF_MEMORY", 1e-12)
    with pytest.raises(InputError, match=r"s\.svm has 30 rows of 3 features"):
        read_table(path)


@pytest.mark.slow
def test_infinite_cells_are_refused_with_their_column(tmp_path):
    path = write_file(tmp_path / "s.svm", "1 1:1\n-1 2:1\n1 3:1 4:inf\n" + "-1 5:1\n" * 20)
    with pytest.raises(InputError, match=r"infinite value in column 'f4'"):
        read_table(path)


@pytest.mark.slow
def test_row_selection_shares_one_sparse_block(sparse_table):
    columns = in_rows(sparse_table.columns, slice(10, 20))
    assert all(isinstance(c, SparseColumn) for c in columns[1:])
    assert len({id(c.block) for c in columns[1:]}) == 1
    for part, whole in zip(columns, sparse_table.columns, strict=True):
        np.testing.assert_array_equal(part.values, whole.values[10:20])


# ------------------------------------------------------------------ preprocessing


def unusual_columns(count=400):
    """Return columns that can be prepared together, and others that cannot."""
    rng = np.random.default_rng(3)
    few = rng.random((count, 14)) < 0.04
    X = np.where(few, np.round(rng.normal(size=few.shape), 2), 0.0)
    X[:, 1] = np.where(few[:, 1], 1.0, 0.0)  # ties
    X[:, 2] = 0.0
    X[3, 3] = np.nan
    X[4, 4] = 1e40  # too far from the others
    X[:, 5] *= 1e-200
    X[:, 6] *= 1e200
    X[:, 7] = rng.normal(size=count)  # dense
    X[:, 8] = np.where(rng.random(count) < 0.6, 3.0, 0.0)
    X[:, 9] = np.abs(X[:, 9])
    X[:, 10] = -np.abs(X[:, 10])
    X[:, 11] = np.where(np.arange(count) == 5, 4.0, 0.0)
    X[:, 12] *= 5e-324
    X[:, 13] = np.where(np.arange(count) < count // 10, 2.0, 0.0)  # a tenth
    names = [f"f{k}" for k in range(X.shape[1])]
    return SparseBlock(sparse.csc_array(X)).columns(names), X


@pytest.mark.parametrize("scale", SCALE)
@pytest.mark.parametrize("impute", IMPUTE)
def test_joint_preparation_equals_column_by_column(scale, impute):
    columns, X = unusual_columns()
    choice = PreparationChoice(impute=impute, scale=scale)
    for rows in (np.arange(400), np.arange(1, 400, 3), np.arange(2)):
        found = learn_rare(columns, rows, choice)
        assert bool(found) != choice.makes_ranks
        for k, column in enumerate(columns):
            if column.name not in found:
                continue
            alone = learn_number(X[rows, k], choice)
            np.testing.assert_allclose(
                found[column.name].figures, alone.figures, rtol=1e-13, atol=1e-16
            )
            assert found[column.name].missing == alone.missing


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["standard", "robust", "min-max", "none"])
def test_sparse_rows_equal_the_prepared_rows(sparse_table, scale):
    roles = {"f3": "category", "f4": "category", "f9": "number"}
    table = sparse_table.with_roles(roles=roles, absent={"f1": [1.5]})
    choice = PreparationChoice(scale=scale, indicators=True)
    some = np.random.default_rng(0).permutation(table.rows)[:150]
    learnt = learn_preparation(table, some[:90], choice, keep_zeros=True)
    assert (learnt.means == 0).all()
    assert learnt.indicated == ("f1",)
    found = sparse_rows(learnt, table, some)
    assert found.shape == (150, len(learnt.feature_names))
    np.testing.assert_array_equal(found.toarray(), learnt.apply(table, some))
    np.testing.assert_array_equal(found.toarray(), learnt.apply(dense(table), some))
    np.testing.assert_array_equal(
        found.toarray(), sparse_rows(learnt, dense(table), some).toarray()
    )


def test_far_and_missing_cells_get_the_training_median():
    columns, X = unusual_columns()
    table = dataclasses.replace(read_by_columns(columns), label=None)
    rows = np.arange(400)
    learnt = learn_preparation(table, rows, keep_zeros=True)
    np.testing.assert_array_equal(
        sparse_rows(learnt, table, rows).toarray(), learnt.apply(table, rows)
    )
    assert np.isfinite(sparse_rows(learnt, table, rows).data).all()
    assert X.shape[1] == len(learnt.numbers)


def read_by_columns(columns):
    return Table(path=Path("made.svm"), format="svmlight", dialect=Dialect(), columns=(*columns,))


# ------------------------------------------------------------------ training and scoring


@pytest.mark.slow
@pytest.mark.parametrize("method", LINEAR)
def test_sparse_run_equals_the_dense_run(sparse_table, method):
    settings = {"tol": 1e-9} if "tol" in METHODS[method]().get_params() else {}
    record = execute(experiment(sparse_table, method, **settings), sparse_table)
    assert record.status == "done", record.error
    (result,) = record.splits
    assert result.model.preparation.keeps_zeros
    full = dense(sparse_table)
    np.testing.assert_allclose(
        result.model.score(full)[result.test_rows], result.test_scores, rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(
        result.model.score(sparse_table)[result.test_rows], result.test_scores
    )
    X = result.model.preparation.apply(full, result.train_rows)
    fitted = METHODS[method](**{**record.experiment.params}).fit(X, result.train_positive)
    there, here = fitted.train_scores_, result.train_scores
    assert record.splits[0].objective == pytest.approx(fitted.objective_, rel=3e-4)
    np.testing.assert_allclose(
        here - here.mean(), there - there.mean(), atol=5e-2 * np.std(there) + 1e-8
    )


# Logistic regression stops at a gap; how near to the optimum depends on the machine's products.
@pytest.mark.parametrize(
    ("method", "tolerance"), [("logistic", 1e-6), ("rls", 1e-8), ("auc-rls", 1e-8)]
)
def test_exact_methods_have_equal_scores_in_sparse_and_dense_form(sparse_table, method, tolerance):
    record = execute(experiment(sparse_table, method), sparse_table)
    (result,) = record.splits
    X = result.model.preparation.apply(dense(sparse_table), result.train_rows)
    fitted = METHODS[method](**record.experiment.params).fit(X, result.train_positive)
    np.testing.assert_allclose(
        result.train_scores, fitted.train_scores_, atol=tolerance, rtol=tolerance
    )


def test_centring_changes_only_the_constant(sparse_table):
    found = execute(experiment(sparse_table, "auc-rls"), sparse_table).splits[0]
    usual = execute(experiment(dense(sparse_table), "auc-rls"), dense(sparse_table)).splits[0]
    assert not usual.model.preparation.keeps_zeros
    np.testing.assert_allclose(
        found.test_scores - found.test_scores.mean(),
        usual.test_scores - usual.test_scores.mean(),
        atol=1e-8,
    )


@pytest.mark.slow
def test_folds_and_tuning_stay_sparse(sparse_table, monkeypatch):
    def refuse(*_):
        raise AssertionError("written out")

    monkeypatch.setattr(sparse_columns, "written_out", refuse)
    plan = experiment(
        sparse_table, "logistic", Validation("folds", folds=3), Tuning("auc", folds=2)
    )
    record = execute(plan, sparse_table)
    assert (record.status, len(record.splits)) == ("done", 3), record.error


@pytest.mark.slow
def test_later_sparse_files_are_read_by_the_schema(sparse_table, tmp_path):
    X, y = rows_of(60, 150, seed=5)  # with features unseen in training
    later = write(tmp_path / "later.svm", X[:, :150], y)
    plan = experiment(sparse_table, "logistic", Validation("file", test_file=str(later)))
    record = execute(
        plan, sparse_table, read_table(later, label="label", schema=sparse_table.schema)
    )
    assert record.status == "done", record.error
    model = record.splits[0].model
    scores = scores_of(model, read_to_score(model, later))
    np.testing.assert_array_equal(scores, record.splits[0].test_scores)
    table = tmp_path / "later.csv"
    names = [f"f{k + 1}" for k in range(150)]
    lines = [",".join(names), *(",".join(map(repr, row)) for row in X.toarray().tolist())]
    table.write_text("\n".join(lines) + "\n")
    np.testing.assert_allclose(
        scores_of(model, read_to_score(model, table)), scores, rtol=1e-10, atol=1e-12
    )


def test_model_file_stores_sparse_preparation(sparse_table, tmp_path):
    model = execute(experiment(sparse_table), sparse_table).splits[0].model
    save_model(model, tmp_path / "m.aucmodel")
    again = load_model(tmp_path / "m.aucmodel")
    assert again.preparation.keeps_zeros
    np.testing.assert_array_equal(again.score(sparse_table), model.score(sparse_table))
    learnt = model.preparation
    said = settings_of(learnt)
    moved = {**arrays_of(learnt), "means": np.ones(len(learnt.means))}
    with pytest.raises(ValueError, match="does not keep zeros"):
        restored(said, moved)


@pytest.mark.parametrize(
    ("method", "settings", "why"),
    [
        ("random-forest", {}, "Random forest needs texts.svm as a dense table"),
        ("svm", {"kernel": "rbf"}, "SVM with these settings needs texts.svm as a dense table"),
        (
            "auc-svm",
            {"n_neighbors": 3},
            "AUC-SVM with these settings needs texts.svm as a dense table",
        ),
    ],
)
def test_dense_methods_are_refused_if_memory_is_too_small(
    sparse_table, monkeypatch, method, settings, why
):
    scheme = Validation()
    plan_on(sparse_table, method, settings, scheme, (0.0, 0.1))
    fit = METHODS[method](**settings)
    bare = fit.estimate(58, 134, 118).bytes
    monkeypatch.setattr(estimate, "memory_limit", lambda: 1.01 * bare / 0.8)
    with pytest.raises(InputError, match=why) as told:
        plan_on(sparse_table, method, settings, scheme, (0.0, 0.1))
    assert "Logistic regression" in str(told.value)
    assert "SVM-pAUC" in str(told.value)
    assert told.value.setting == "method"
    plan_on(sparse_table, "logistic", {}, scheme, (0.0, 0.1))


def test_ranks_and_leave_pair_out_use_dense_rows(sparse_table):
    ranked = execute(
        experiment(sparse_table, choice=PreparationChoice(scale="quantile")), sparse_table
    )
    pairs = execute(experiment(sparse_table, "auc-rls", Validation("leave-pair-out")), sparse_table)
    for record in (ranked, pairs):
        assert record.status == "done", record.error
        assert not record.splits[0].model.preparation.keeps_zeros


def test_rows_too_large_in_dense_form_are_refused(sparse_table, monkeypatch):
    model = execute(experiment(sparse_table), sparse_table).splits[0].model
    monkeypatch.setattr(sparse_columns, "machine_memory", lambda: 1e5)
    with pytest.raises(InputError, match=r"texts\.svm is sparse: 240 rows of 119 features"):
        model.preparation.apply(sparse_table, for_fit=True)
    monkeypatch.undo()
    monkeypatch.setattr(sparse_columns, "MOST_TO_LOOK_AT", 1e5)
    model.preparation.apply(sparse_table, for_fit=True)
    model.preparation.apply(sparse_table, np.arange(5))
    with pytest.raises(InputError, match="a preview may take at most"):
        model.preparation.apply(sparse_table)
    model.score(sparse_table)


@pytest.mark.slow
def test_memory_follows_the_non_zero_cells(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.random_array((4000, 8000), density=0.001, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=8000) + 0.1 * rng.normal(size=4000) > 0.5, 1, -1)
    path = write(tmp_path / "wide.svm", X, y)
    first = read_table(write(tmp_path / "first.svm", X[:200], y[:200]))
    execute(experiment(first), first)  # load modules once
    tracemalloc.start()
    try:
        table = read_table(path)
        record = execute(experiment(table), table)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert record.status == "done", record.error
    assert taken < 0.25 * 8 * 4000 * 8000


# ------------------------------------------------------------------ the command line


@pytest.mark.slow
def test_commands_accept_sparse_files(path, tmp_path, capsys, printed):
    model, project, scores = (tmp_path / name for name in ("m.aucmodel", "p.aucproj", "s.csv"))
    assert printed("inspect", path)["rows"] == 240
    train = ["train", str(path), "--method", "rank-svm", "--project", str(project), "--json"]
    assert main([*train, "--save-model", str(model)]) == 0
    capsys.readouterr()
    assert main(["score", str(model), str(path), "-o", str(scores)]) == 0
    assert len(scores.read_text().splitlines()) == 241
    (found,) = printed("verify", project)["runs"]
    assert found["agrees"]
    assert found["found"]["faults"] == []
    assert found["found"]["solved"] is not None


# ------------------------------------------------------------------ findings


def test_findings_match_those_of_the_dense_table(sparse_table):
    """Use a column that is non-zero in one class only, and one with missing-value codes."""
    X, y = rows_of(900, 30, seed=2)
    rng = np.random.default_rng(0)
    cells = X.toarray()
    cells[:, 20] = np.where(y > 0, 2.5, 0.0)
    cells[:, 21] = np.where(rng.random(900) < 0.1, np.round(rng.random(900), 3), 0.0)
    cells[rng.permutation(900)[:5], 21] = -999.0
    block = SparseBlock(sparse.csc_array(cells))
    columns = tuple(block.columns([f"f{k}" for k in range(30)]))
    label = sparse_table.column("label").holding(y.astype(float))
    label = dataclasses.replace(label, role="number")
    table = dataclasses.replace(read_by_columns((label, *columns)), label=None)
    table = table.with_roles(label="label", positive="1")
    found = {(one.kind, one.columns) for one in find(table)}
    usual = {(one.kind, one.columns) for one in find(dense(table))}
    assert ("leak", ("f20",)) in found
    assert ("sentinel", ("f21",)) in found
    # Zeros are normal in a sparse table.
    assert found == {one for one in usual if one[0] != "sentinel" or one[1] == ("f21",)}


def test_sparse_columns_can_be_label_and_inspected(sparse_table):
    table = sparse_table.with_roles(label="f2", roles={"label": "ignore"})
    assert sum(table.classes.values()) == table.rows
    classes = Classes.of(table)
    assert classes is not None
    assert classes.positive.sum() + classes.negative.sum() == table.rows
    column, whole = table.column("f9"), dense(table).column("f9")
    found, usual = (RankedColumn.of(one, classes) for one in (column, whole))
    assert found is not None
    assert usual is not None
    assert found.area() == usual.area()
    assert [one.name for one in most_telling(table.features, classes, most=5)] == [
        one.name for one in most_telling(dense(table).features, classes, most=5)
    ]
    assert Condition("f9", ">", "0").holds(column).tolist() == (whole.values > 0).tolist()
    assert read_conditions("f9 > 0", {"f9": column})
    record = execute(experiment(table, "rank-svm"), table)
    assert record.status == "done", record.error
