"""Rows of a group are never both trained on and tested."""

import contextlib
import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucstudio.engine.crossfit.folds import draw_folds
from aucstudio.notices import notice
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.groups import Groups
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation, draw_splits
from aucstudio.project.errors import InputError
from aucstudio.project.results.comparison import compare_runs
from aucstudio.project.runs import search as walk
from aucstudio.project.runs.execute import execute, refit, training_rows
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.experiment_file import read_study
from aucstudio.project.runs.planning import plan_experiment, planned_run
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.work.parallel import evaluator_of
from tests.conftest import write_file

GROUPED = {"patient": "group"}
FOLDS = Validation(scheme="folds", folds=4, repeats=2, seed=3)


def write_patients(path, rows=240, patients=40, extra=lambda i: {}, seed=0):
    """Write a table in which patients have several rows and a feature identifies each."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, patients, rows)
    base = rng.normal(size=patients)
    positive = rng.random(rows) < 1 / (1 + np.exp(-2 * base[own]))
    lines = []
    for i in range(rows):
        cells = {
            "patient": f"P{own[i]:03d}",
            "a": f"{base[own[i]] + 0.1 * rng.normal():.5f}",
            "b": f"{rng.normal():.5f}",
            "outcome": "yes" if positive[i] else "no",
        }
        cells |= extra(i)
        lines.append(cells)
    head = list(lines[0])
    text = [",".join(head), *(",".join(cells[name] for name in head) for cells in lines)]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def patients_file(tmp_path):
    return write_patients(tmp_path / "patients.csv")


def opened(path, roles=GROUPED):
    return read_table(path, label="outcome", positive="yes").with_roles(roles=roles)


def of_groups(codes):
    codes = np.asarray(codes, dtype=np.intp)
    return Groups(("patient",), np.unique(codes, return_inverse=True)[1].astype(np.intp))


@st.composite
def grouped_rows(draw):
    """Draw rows of two classes in groups, with each class in at least two groups."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    count, rows = draw(st.integers(2, 40)), draw(st.integers(4, 300))
    weight = rng.random(count) ** draw(st.sampled_from([0, 1, 4])) + 1e-9
    codes = rng.choice(count, rows, p=weight / weight.sum())
    chance = draw(st.sampled_from([0.03, 0.3, 0.5]))
    lean = np.clip(chance + draw(st.sampled_from([0.0, 0.5])) * rng.normal(size=count), 0, 1)
    positive = rng.random(rows) < lean[codes]
    # Ensure some rows of both classes in randomly chosen groups.
    anchors = rng.choice(count, (2, 2), replace=True) if count < 4 else rng.permutation(count)[:4]
    anchors = np.reshape(anchors, (2, 2))
    if anchors[0, 0] == anchors[0, 1] or anchors[1, 0] == anchors[1, 1]:
        anchors = np.array([[0, 1], [0, 1]])
    codes = np.concatenate([codes, anchors.ravel()])
    positive = np.concatenate([positive, [True, True, False, False]])
    order = rng.permutation(len(codes))
    return positive[order], of_groups(codes[order])


def check_disjoint_groups(split, groups, positive):
    assert not np.intersect1d(groups.codes[split.train], groups.codes[split.test]).size
    for rows in (split.train, split.test):
        assert positive[rows].any()
        assert not positive[rows].all()
    both = np.sort(np.concatenate([split.train, split.test]))
    np.testing.assert_array_equal(both, np.arange(len(positive)))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(grouped_rows(), st.floats(0.02, 0.98), st.integers(0, 2**31 - 1))
def test_hold_out_splits_no_group_and_keeps_both_classes(rows, share, seed):
    positive, groups = rows
    validation = Validation(test_size=share, repeats=2, seed=seed)
    splits = draw_splits(positive, validation, groups)
    again = draw_splits(positive, validation, groups)
    for split, other in zip(splits, again, strict=True):
        check_disjoint_groups(split, groups, positive)
        assert np.array_equal(split.test, other.test)


@pytest.mark.slow
@settings(max_examples=75, deadline=None)
@given(grouped_rows(), st.integers(2, 6), st.integers(0, 1000))
def test_folds_split_no_group_and_test_every_row_once(rows, folds, seed):
    positive, groups = rows
    validation = Validation(scheme="folds", folds=folds, seed=seed, repeats=2)
    if groups.fewest(positive) < folds:
        with pytest.raises(InputError, match=r"patient|smaller class"):
            draw_splits(positive, validation, groups)
        return
    splits = []
    with contextlib.suppress(InputError):  # whole groups would leave a fold without a class
        splits = draw_splits(positive, validation, groups)
    if not splits:
        return
    again = draw_splits(positive, validation, groups)
    for split, other in zip(splits, again, strict=True):
        check_disjoint_groups(split, groups, positive)
        assert np.array_equal(split.test, other.test)
    for repeat in range(2):
        tested = np.concatenate([s.test for s in splits if s.repeat == repeat])
        assert sorted(tested) == list(range(len(positive)))


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.25, 0.5, 0.7]))
def test_many_groups_keep_the_class_shares(seed, share):
    rng = np.random.default_rng(seed)
    groups = of_groups(rng.integers(0, 150, 900))
    positive = rng.random(900) < 0.2 + 0.5 * rng.random(groups.count)[groups.codes]
    (split,) = draw_splits(positive, Validation(test_size=share, seed=seed % 1000), groups)
    for rows in (positive, ~positive):
        assert rows[split.test].sum() / rows.sum() == pytest.approx(share, abs=0.02)
    for split in draw_splits(positive, Validation(scheme="folds", seed=seed % 1000), groups):
        for rows in (positive, ~positive):
            assert rows[split.test].sum() / rows.sum() == pytest.approx(0.2, abs=0.05)


def test_repeats_and_seeds_draw_different_groups():
    rng = np.random.default_rng(0)
    groups = of_groups(rng.integers(0, 60, 400))
    positive = rng.random(400) < 0.3
    drawn = [
        split.test.tobytes()
        for seed in (0, 1)
        for split in draw_splits(positive, Validation(repeats=10, seed=seed), groups)
    ]
    assert len(set(drawn)) == 20


@pytest.mark.slow
def test_million_rows_in_groups_are_drawn_in_seconds():
    rng = np.random.default_rng(0)
    groups = of_groups(rng.integers(0, 100_000, 1_000_000))
    positive = rng.random(1_000_000) < 0.1
    (split,) = draw_splits(positive, Validation(test_size=0.3), groups)
    check_disjoint_groups(split, groups, positive)
    assert positive[split.test].sum() / positive.sum() == pytest.approx(0.3, abs=1e-3)
    for split in draw_splits(positive, Validation(scheme="folds"), groups):
        assert not np.intersect1d(groups.codes[split.train], groups.codes[split.test]).size
        assert positive[split.test].sum() / positive.sum() == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize(
    ("codes", "positive", "validation", "words"),
    [
        ([0, 0, 1, 1], [1, 0, 0, 0], Validation(test_size=0.5), "smaller class has 1 row,"),
        ([0, 0, 0, 1, 1], [1, 1, 0, 0, 0], Validation(), "in only 1 of 2 groups"),
        ([0, 0, 0, 0], [1, 1, 0, 0], Validation(), "in only 1 of 1 groups"),
        (
            [0, 0, 1, 1, 2, 2, 2, 2],
            [1, 0, 1, 0, 1, 0, 1, 0],
            Validation(scheme="folds", folds=4),
            "in only 3 of 3 groups; 4 folds, seed 0 needs 4",
        ),
        (
            [0, 1, 2, 3],
            [1, 1, 0, 0],
            Validation("leave-pair-out"),
            "leave-pair-out would train on other rows",
        ),
    ],
)
def test_splits_impossible_with_groups_are_refused(codes, positive, validation, words):
    with pytest.raises(InputError, match=words):
        draw_splits(np.array(positive, dtype=bool), validation, of_groups(codes))


# ------------------------------------------------------------------ which rows belong together


def test_groups_are_the_values_of_a_column(patients_file):
    table = opened(patients_file)
    names = table.column("patient").values
    codes = table.groups.codes
    assert table.groups.count == len(set(names))
    for i in range(0, 240, 7):
        assert np.array_equal(codes == codes[i], names == names[i])
    assert table.groups.describe() == f"grouped by patient ({len(set(names))} groups)"
    assert [c.name for c in table.features] == ["a", "b"]


def test_rows_sharing_a_value_in_either_column_form_a_group(tmp_path):
    path = tmp_path / "both.csv"
    path.write_text(
        "patient,clinic,x,outcome\n"
        "p1,1,0,yes\np1,2,1,no\np2,2,2,yes\np3,3,3,no\np4,,4,yes\n,3,5,no\n,,6,yes\n,,7,no\n"
        "p9,9,8,\n",
        encoding="utf-8",
    )
    table = opened(path, {"patient": "group", "clinic": "group"})
    # p1 and p2 share clinic 2; p3 and the unnamed patient share clinic 3; the others are alone.
    assert table.groups.codes.tolist() == [0, 0, 0, 1, 2, 1, 3, 4]
    assert table.groups.describe() == "grouped by patient and clinic (5 groups)"
    without = [(n.columns, n.rows) for n in table.notices if n.code == "rows_without_group"]
    assert (("patient",), 3) in without
    assert not any(
        "no group" in n
        for n in table.with_roles(roles={"patient": "ignore"}).notes
        if "patient" in n
    )


def test_columns_that_form_a_single_group_are_refused(tmp_path):
    path = write_patients(
        tmp_path / "chain.csv", extra=lambda i: {"clinic": f"c{i % 2}"}, patients=5
    )
    table = opened(path, {"patient": "group", "clinic": "group"})
    with pytest.raises(InputError, match=r"patient and clinic .* 1 of 1 groups"):
        draw_splits(table.is_positive(), Validation(), table.groups)


@pytest.mark.slow
def test_groups_on_disk_equal_those_in_memory(tmp_path):
    path = write_patients(
        tmp_path / "s.csv", extra=lambda i: {"ward": "" if i % 9 == 0 else str(i // 3 % 30)}
    )
    for roles in (GROUPED, {"ward": "group"}, {**GROUPED, "ward": "group"}):
        streamed = open_stream(path, label="outcome", positive="yes", block_bytes=1_000)
        try:
            on_disk = streamed.with_roles(roles=roles).groups
        finally:
            streamed.close()
        in_memory = opened(path, roles).groups
        assert np.array_equal(on_disk.codes, in_memory.codes)
        assert on_disk.values == in_memory.values


# ------------------------------------------------------------------ runs


def planned(table, validation, method="auc-rls", tuning=None, params=None):
    data = DataReference.to_table(table)
    return plan_experiment(data, method, params or {}, validation, tuning=tuning)


def patients_of(table, rows):
    return set(table.column("patient").values[rows])


@pytest.mark.parametrize("validation", [Validation(repeats=3), FOLDS], ids=["holdout", "folds"])
def test_no_patient_is_trained_on_and_tested(patients_file, validation):
    table = opened(patients_file)
    record = execute(planned(table, validation), table)
    assert record.status == "done", record.error
    assert len(record.splits) == validation.splits
    for k, split in enumerate(record.splits):
        assert not patients_of(table, split.train_rows) & patients_of(table, split.test_rows)
        # A worker that runs one split alone draws the same rows.
        alone = execute(record.experiment, table, only=k).splits[0]
        assert np.array_equal(alone.test_rows, split.test_rows)
        rows = training_rows(record.experiment, table, k)
        assert np.array_equal(rows, split.train_rows)
    assert record.notes[0].code == "groups_kept"


@pytest.mark.parametrize("where", ["here", "worker", "refit"])
def test_tuning_splits_no_patient(patients_file, monkeypatch, where):
    table = opened(patients_file)
    experiment = planned(table, Validation(), tuning=Tuning("auc", folds=3))
    parts = []
    learn = walk.learn

    def watched(method, seen, rows, choice, **more):
        parts.append(patients_of(seen, rows))
        return learn(method, seen, rows, choice, **more)

    monkeypatch.setattr(walk, "learn", watched)
    if where == "here":
        record = execute(experiment, table)
        assert record.status == "done", record.error
        trained = training_rows(experiment, table, 0)
    elif where == "worker":
        judge, trained = evaluator_of(experiment, table, 0), training_rows(experiment, table, 0)
        assert judge.folds == 3
        for task in judge.tasks():
            assert [*judge.outcomes(task)]
    else:
        refit(experiment, table)
        trained = np.arange(table.rows)
    everyone = patients_of(table, trained)
    assert len(parts) == 3
    # Each patient is held out by exactly one fold, with all rows.
    assert sorted(p for part in parts for p in everyone - part) == sorted(everyone)


def test_tuning_uses_fewer_folds_or_is_refused(tmp_path):
    path = tmp_path / "few.csv"
    lines = [f"p{i // 6},{i % 7},{'yes' if i % 2 else 'no'}" for i in range(24)]
    path.write_text("patient,x,outcome\n" + "\n".join(lines) + "\n", encoding="utf-8")
    table = opened(path)
    experiment = planned(table, Validation(test_size=0.5), tuning=Tuning("auc", folds=5))
    record = execute(experiment, table)
    assert record.status == "done", record.error
    assert record.searches[0].areas.shape[1] == 2
    experiment = planned(table, Validation(test_size=0.75), tuning=Tuning("auc", folds=5))
    record = execute(experiment, table)
    assert record.status == "failed"
    assert "two groups of patient with training rows of each class" in record.error


def test_leave_pair_out_with_groups_is_refused_early(patients_file):
    table = opened(patients_file)
    with pytest.raises(InputError, match="rows of one patient must stay together") as caught:
        planned(table, Validation("leave-pair-out"))
    assert caught.value.setting == "validation"
    with pytest.raises(InputError, match="tune by auc or pauc") as caught:
        planned(table, Validation(), tuning=Tuning("leave-pair-out"))
    assert caught.value.setting == "tune"


def test_repeats_that_draw_the_same_groups_are_reported(tmp_path):
    path = tmp_path / "clinics.csv"
    lines = [f"c{int(i**0.5)},{i % 7},{'yes' if i % 3 else 'no'}" for i in range(1, 25)]
    path.write_text("patient,x,outcome\n" + "\n".join(lines) + "\n", encoding="utf-8")
    table = opened(path)
    record = execute(planned(table, Validation(test_size=0.3, repeats=30)), table)
    assert record.status == "done", record.error
    assert record.notes[-1].code == "repeats_alike"


# ------------------------------------------------------------------ test files


def test_test_file_with_training_patients_is_refused(tmp_path, patients_file):
    half = patients_file.read_text(encoding="utf-8").splitlines()
    other = tmp_path / "other.csv"
    shared = [line for line in half[1:] if line.startswith(("P001", "P002"))]
    renamed = [line.replace("P", "Q", 1) for line in half[1:80]]
    other.write_text("\n".join([half[0], *renamed, *shared]) + "\n", encoding="utf-8")
    validation = Validation("file", test_file=str(other))
    table = opened(patients_file)
    with pytest.raises(InputError, match=r"^2 of the 39 values of patient .*\(P001, P002\)"):
        planned_run(planned(table, validation), table)
    experiment = planned(table, validation)
    record = execute(experiment, table, opened(other, {}))
    assert record.status == "failed"
    assert "P001, P002" in record.error
    other.write_text("\n".join([half[0], *renamed]) + "\n", encoding="utf-8")
    record = execute(experiment, table, opened(other, {}))
    assert record.status == "done", record.error
    assert record.notes[0] == notice("groups_apart_in_file", columns=("patient",))


def test_test_file_without_the_group_column_is_noted(tmp_path, patients_file):
    lines = [line.split(",", 1)[1] for line in patients_file.read_text("utf-8").splitlines()]
    other = write_file(tmp_path / "bare.csv", "\n".join(lines) + "\n")
    table = opened(patients_file)
    experiment = planned(table, Validation("file", test_file=str(other)))
    record = execute(experiment, table, opened(other, {}))
    assert record.status == "done", record.error
    assert record.notes[0] == notice("groups_unknown_in_file", columns=("patient",))


def test_experiment_file_with_too_few_groups_is_refused(tmp_path):
    path = write_patients(tmp_path / "p.csv", patients=3)
    study = tmp_path / "study.toml"
    study.write_text(
        f"[data]\nfile = {json.dumps(path.name)}\nlabel = 'outcome'\npositive = 'yes'\n"
        "roles = { patient = 'group' }\n[validation]\nscheme = 'folds'\nfolds = 5\n"
        "[[runs]]\nmethod = 'auc-rls'\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError, match="of 3 groups; 5 folds, seed 0 needs 5"):
        read_study(study)


def test_groups_survive_transfer_to_another_process(patients_file):
    import io

    from aucstudio.project.pickle_stream import receive, send

    table = opened(patients_file)
    codes = table.groups.codes
    stream = io.BytesIO()
    send(stream, table)
    stream.seek(0)
    assert np.array_equal(receive(stream).groups.codes, codes)
    assert dataclasses.replace(table).groups.count == table.groups.count


def test_runs_with_different_groups_are_not_compared(patients_file):
    tables = opened(patients_file), opened(patients_file, {"patient": "ignore"})
    assert tables[1].groups is None
    runs = [
        (name, execute(planned(t, Validation()), t)) for name, t in zip("ab", tables, strict=True)
    ]
    assert runs[0][1].experiment.id != runs[1][1].experiment.id
    (pair,) = compare_runs(runs, (0.0, 0.1))
    assert pair.refused == notice(
        "split_differently", first="grouped by patient", second="not grouped"
    )


def test_folds_of_very_many_groups_are_balanced():
    rng = np.random.default_rng(1)
    groups, positive = rng.integers(0, 20_000, 75_000), rng.random(75_000) < 0.008
    drawn = draw_folds(positive, groups, 10, 0)
    assert sorted(np.concatenate([held for _, held in drawn])) == list(range(75_000))
    for fitted, held in drawn:
        assert not np.isin(groups[held], groups[fitted]).any()
        assert abs(positive[held].sum() - positive.sum() / 10) <= 2
        assert abs(len(held) - 7500) < 75
