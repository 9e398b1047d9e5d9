"""Row weights: from a column of the table to curves, tests and files."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from aucstudio.cli import main
from aucstudio.engine import METHODS, inference, roc
from aucstudio.engine.crossfit.members import Member
from aucstudio.project.data.findings.find import find
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation, draw_splits
from aucstudio.project.errors import InputError
from aucstudio.project.results.comparison import compare_runs
from aucstudio.project.results.subgroups import subgroups
from aucstudio.project.results.summary import (
    auc_summary,
    measures,
    pauc_summary,
    tpr_summary,
    train_auc,
)
from aucstudio.project.results.thresholds import (
    Stakes,
    Target,
    ThresholdFigures,
    choose,
    counts_at,
    curve_of,
)
from aucstudio.project.runs.execute import execute, refit
from aucstudio.project.runs.final_model import held_out
from aucstudio.project.runs.planning import plan_on, planned_run, scored_by
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.runs.verification import verify_run
from aucstudio.project.store.check import repair_project
from aucstudio.project.store.model_file import save_model
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.tournament.search import SearchRequest, find_best
from aucstudio.project.tournament.verdict import verdict
from tests.conftest import write_file
from tests.project.test_project_damage import damage_run

ROWS = 240
BAND = (0.0, 0.2)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write a table whose weights affect the fit, with missing and zero weights."""
    rng = np.random.default_rng(8)
    y = rng.random(ROWS) < 0.4
    a, b = rng.normal(size=ROWS) + y, rng.normal(size=ROWS)
    w = rng.exponential(2.0, ROWS) * np.where((b > 0) == y, 1.0, 6.0)
    b = b + rng.normal(size=ROWS)
    cells = [f"{one:.6g}" for one in w]
    cells[3], cells[4], cells[10] = "", "", "0"
    path = tmp_path_factory.mktemp("weights") / "cases.csv"
    lines = [
        f"{one:.6g},{two:.6g},{weight},{'no' if k % 3 else 'yes'},{int(label)}"
        for k, (one, two, weight, label) in enumerate(zip(a, b, cells, y, strict=True))
    ]
    path.write_text("\n".join(["a,b,w,part,label", *lines]) + "\n")
    return path


def weighted(path, positive="1"):
    return read_table(path, label="label", positive=positive, roles={"w": "weight"})


def changed(written, tmp_path, change):
    """Write the table with changed cells of each row, given its number."""
    head, *lines = written.read_text().splitlines()
    rows = [line.split(",") for line in lines]
    for number, row in enumerate(rows, 1):
        change(number, row)
    return write_file(tmp_path / "changed.csv", "\n".join([head, *map(",".join, rows)]) + "\n")


def spoiled(written, tmp_path, weight):
    """Write the table with another weight in row 20."""

    def spoil(number, row):
        row[2] = weight if number == 20 else row[2]

    return changed(written, tmp_path, spoil)


@pytest.fixture(scope="module")
def table(written):
    return weighted(written)


def run(table, method="logistic", tuning=None, validation=None, **settings):
    validation = validation or Validation(test_size=0.4)
    record = execute(plan_on(table, method, settings, validation, BAND, tuning), table)
    assert record.error == ""
    return record


@pytest.fixture(scope="module")
def record(table):
    return run(table)


def test_weights_affect_training_and_every_measure(table, record):
    split = record.splits[0]
    weights = table.weights
    assert np.count_nonzero(weights == 0) == 3
    np.testing.assert_array_equal(split.train_weights, weights[split.train_rows])
    np.testing.assert_array_equal(split.test_weights, weights[split.test_rows])
    data = split.test_positive, split.test_scores
    expected = inference.delong_interval(*data, weights=split.test_weights)
    found = auc_summary(record)
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )
    part = inference.pauc_interval(*data, *BAND, weights=split.test_weights)
    assert pauc_summary(record, BAND).low == pytest.approx(part.low)
    assert measures(record, BAND)["auc"] == pytest.approx(found.value)
    train = split.train_positive, split.train_scores
    assert train_auc(record) == pytest.approx(roc.auc(*train, weights=split.train_weights))
    assert abs(found.value - roc.auc(*data)) > 0.005
    assert any(note.code == "weights_sampling" for note in record.notes)
    assert split.trajectory.held.auc()[-1] == pytest.approx(found.value, abs=1e-6)
    point = tpr_summary(record, 0.1)
    assert 0.0 < point.low < point.value < point.high < 1.0


def test_training_uses_relative_weights(table, record):
    split = record.splits[0]
    X = split.model.preparation.apply(table, split.train_rows)
    weights = split.train_weights / split.train_weights[split.train_weights > 0].mean()
    again = METHODS["logistic"]().fit(X, split.train_positive, weights)
    np.testing.assert_allclose(again.train_scores_, split.train_scores)
    plain = METHODS["logistic"]().fit(X, split.train_positive)
    assert np.abs(plain.train_scores_ - split.train_scores).max() > 0.01


def test_unit_of_the_weights_does_not_change_results(written, tmp_path, record):
    def scale(_, row):
        row[2] = row[2] and str(float(row[2]) * 1000)

    again = run(weighted(changed(written, tmp_path, scale)))
    np.testing.assert_allclose(again.splits[0].test_scores, record.splits[0].test_scores, atol=1e-6)
    assert auc_summary(again).low == pytest.approx(auc_summary(record).low)


@pytest.mark.slow
def test_folds_searches_and_refits_are_weighted(table):
    five = run(table, validation=Validation("folds", folds=4), tuning=Tuning("auc", 3, 0))
    assert all(split.test_weights is not None for split in five.splits)
    plain = run(table.with_roles(roles={"w": "ignore"}), tuning=Tuning("auc", 3, 0))
    weighted = run(table, tuning=Tuning("auc", 3, 0))
    assert not np.allclose(plain.searches[0].areas, weighted.searches[0].areas)
    model = refit(weighted.experiment, table)
    assert model.schema.weight == "w"


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"auc-ensemble"}))
def test_methods_without_weight_support_refuse_weights(method, table):
    if METHODS[method].takes_weights:
        plan_on(table, method, {}, Validation(), BAND)
        return
    with pytest.raises(InputError, match="takes no row weights") as refused:
        plan_on(table, method, {}, Validation(), BAND)
    assert "Logistic regression" in str(refused.value)


def test_leave_pair_out_refuses_weights(table):
    with pytest.raises(InputError, match="counts every row once"):
        plan_on(table, "auc-rls", {}, Validation("leave-pair-out"), BAND)


def test_weighted_and_unweighted_runs_are_not_compared(table, record):
    other = run(table, "rank-svm")
    plain = run(table.with_roles(roles={"w": "ignore"}))
    pairs = compare_runs([("a", record), ("b", other), ("c", plain)], BAND)
    assert pairs[0].refused is None
    split, second = record.splits[0], other.splits[0]
    expected = inference.auc_test(
        split.test_positive, split.test_scores, second.test_scores, weights=split.test_weights
    )
    assert pairs[0].p == pytest.approx(expected.p)
    assert "weighted by w against unweighted" in str(pairs[1].refused)


def test_score_column_is_compared_with_weights(table, record):
    marker = run(scored_by(table, "a"), "marker")
    assert marker.splits[0].test_weights is not None
    (pair,) = compare_runs([("a", record), ("b", marker)], BAND)
    assert pair.refused is None
    assert np.isfinite(pair.p)


def test_thresholds_and_subgroups_are_weighted(table, record):
    split = record.splits[0]
    curve = curve_of(split)
    chosen = choose(record, 0, Target("fpr", 0.2), Stakes())
    counts = counts_at(curve, chosen.threshold)
    called = split.test_scores > chosen.threshold
    weights, negative = split.test_weights, ~split.test_positive
    rate = weights[called & negative].sum() / weights[negative].sum()
    assert counts.fpr == pytest.approx(rate)
    assert counts.fpr <= 0.2
    assert counts.fp == np.count_nonzero(called & negative & (weights > 0))
    figures = ThresholdFigures.of(counts)
    assert figures.fpr.low < rate < figures.fpr.high
    share = np.average(split.test_positive[called], weights=weights[called])
    assert figures.precision.value == pytest.approx(share)
    for group in subgroups(record, table, "part", BAND).groups:
        rows = np.array([table.column("part").values[r] == group.level for r in split.test_rows])
        data = split.test_positive[rows], split.test_scores[rows]
        assert group.auc.value == pytest.approx(roc.auc(*data, weights=weights[rows]))
        assert group.rows == np.count_nonzero(weights[rows])


def test_level_of_zero_weight_rows_is_left_out(written, tmp_path):
    def empty(number, row):
        row[2:4] = ("0", "void") if number % 5 == 1 else row[2:4]

    table = weighted(changed(written, tmp_path, empty))
    found = subgroups(run(table), table, "part", BAND)
    assert {group.level for group in found.groups} == {"yes", "no"}


def test_zero_weight_rows_are_not_used_for_calibration(table):
    record = run(table, validation=Validation(scheme="folds", folds=4))
    rows = held_out(record)
    assert len(rows.positive) == len(rows.scores) == len(rows.split) == ROWS - 3
    assert rows.positive.sum() == table.is_positive()[table.weights > 0].sum()
    assert "each counted once, not weighted by w" in rows.words()


def test_weights_are_stored_with_the_run(table, record, tmp_path):
    path = tmp_path / "kept.aucproj"
    ProjectFile.create(path).add_run(record)
    (stored,) = ProjectFile.open(path).runs()
    split, before = stored.splits[0], record.splits[0]
    np.testing.assert_array_equal(split.test_weights, before.test_weights)
    np.testing.assert_array_equal(split.train_weights, before.train_weights)
    assert auc_summary(stored) == auc_summary(record)
    assert stored.experiment.weight == "w"
    np.testing.assert_allclose(split.trajectory.held.auc(), before.trajectory.held.auc())


@pytest.mark.parametrize("lost", ["test_weights", "train_weights", "looks.train_scores"])
def test_run_without_its_weights_is_not_repaired_as_unweighted(record, tmp_path, lost):
    path = tmp_path / "kept.aucproj"
    ProjectFile.create(path).add_run(record)
    damage_run(path, lost)
    repaired = repair_project(path)
    splits = [split for run in ProjectFile(repaired.file).runs() for split in run.splits]
    if lost == "looks.train_scores":
        assert splits[0].test_weights is not None
    else:
        assert splits == []


def test_weighted_run_is_verified_by_refitting(table, record):
    found = verify_run(record, 0, lambda *_: None, table).found
    assert found.faults == ()
    assert found.repeated == 0.0
    assert len(found.areas) == 4
    first = record.splits[0]
    heavier = dataclasses.replace(first, train_weights=first.train_weights**2)
    spoiled = dataclasses.replace(record, splits=(heavier,))
    assert verify_run(spoiled, 0, lambda *_: None, table).found.faults


# --- invalid weights -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "said"), [("-2.5", "below 0"), ("1e+300", "too large"), ("1e-200", "too close to 0")]
)
def test_invalid_weights_are_refused_with_their_row(written, tmp_path, record, capsys, cell, said):
    path, model = spoiled(written, tmp_path, cell), tmp_path / "m.aucmodel"
    message = f"row 20 has {cell}, which is {said}"
    table = weighted(path)
    experiment = plan_on(table, "logistic", {}, Validation(), BAND)
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        planned_run(experiment, table)
    assert caught.value.column == "w"
    failed = execute(experiment, table)
    assert (failed.status, message in failed.error) == ("failed", True)
    save_model(record.splits[0].model, model)
    assert main(["explain", str(model), str(path), "--row", "9"]) == 2
    assert message in capsys.readouterr().err
    (finding,) = [one for one in find(table) if one.code == "bad_weights"]
    assert "row 20" in finding.sentence


def test_missing_and_zero_weights_are_reported(table):
    message = [one.sentence for one in find(table) if one.kind == "weight"]
    assert any("2 rows have no weight in column w" in sentence for sentence in message)
    assert any("1 row has the weight 0 in column w" in sentence for sentence in message)


@pytest.mark.parametrize("cell", ["inf", "heavy", "", "0"])
def test_run_notes_rows_without_weight(written, tmp_path, cell):
    path = spoiled(written, tmp_path, cell)
    notes = run(weighted(path)).notes
    (note,) = (note for note in notes if note.code == "weightless_rows")
    assert 20 in dict(note.values)["rows"]


def test_text_and_second_weight_columns_are_refused(written):
    with pytest.raises(InputError, match="holds text and cannot be the weight"):
        read_table(written, label="label", roles={"part": "weight"})
    with pytest.raises(InputError, match="only one column can weight the rows"):
        read_table(written, label="label", roles={"w": "weight", "a": "weight"})


def test_class_without_weight_is_an_error(written, tmp_path):
    def lift(_, row):
        row[2] = "0" if row[4] == "1" else row[2]

    table = weighted(changed(written, tmp_path, lift))
    record = execute(plan_on(table, "logistic", {}, Validation(), BAND), table)
    assert "no positive row of the training part has a weight" in record.error


def test_test_file_needs_the_weight_column(written, table, tmp_path):
    lines = [line.split(",") for line in written.read_text().splitlines()]
    bare = tmp_path / "bare.csv"
    bare.write_text("\n".join(",".join(c for k, c in enumerate(r) if k != 2) for r in lines) + "\n")

    def planned_on(file):
        validation = Validation("file", test_file=str(file))
        return planned_run(plan_on(table, "logistic", {}, validation, BAND), table)

    with pytest.raises(InputError, match="no column 'w'"):
        planned_on(bare)
    planned = planned_on(written)
    record = execute(planned.experiment, planned.table, planned.test_table)
    assert record.splits[0].test_weights is not None


@pytest.mark.slow
def test_tournament_uses_row_weights(tmp_path):
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(3)
    lines = ["a,b,w,label"]
    for k in range(240):
        positive = k % 3 == 0
        a, b = rng.normal(np.array([1.2, 0.4]) * positive)
        lines.append(f"{a:.4f},{b:.4f},{k % 4},{'yes' if positive else 'no'}")
    path.write_text("\n".join(lines) + "\n")
    table = weighted(path, "yes")
    few = [Member.of("logistic"), Member.of("rls"), Member.of("svm-pauc")]
    board = find_best(SearchRequest(table, Validation(), entrants=few))
    assert set(board.records) == {"logistic", "rls", "auc-ensemble"}
    (held,) = board.record.splits
    count = np.count_nonzero(held.test_weights)
    assert count < held.n_test
    assert f"on {count} rows (" in verdict(board).best
    assert any("svm-pauc" in said and "weights" in said for said in board.failed)
    for entry in board.entries:
        (split,) = board.records[entry.method].splits
        kept = split.test_positive, split.test_scores, split.test_weights
        assert entry.held_out.value == board.criterion(*kept)
        twice = np.repeat(np.arange(len(kept[0])), kept[2].astype(int))
        assert entry.held_out.value == pytest.approx(
            board.criterion(kept[0][twice], kept[1][twice])
        )
    combination = board.records["auc-ensemble"]
    again = execute(combination.experiment, table).splits[0]
    (split,) = combination.splits
    np.testing.assert_allclose(again.test_scores, split.test_scores, rtol=1e-9)


def test_class_of_weight_zero_is_refused_before_a_search(tmp_path):
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(3)
    validation, positive = Validation(seed=2), np.arange(120) % 3 == 0
    (split,) = draw_splits(positive, validation)
    weights = np.ones(120)
    weights[[row for row in split.test if positive[row]]] = 0.0
    rows = zip(rng.normal(size=120), weights, positive, strict=True)
    lines = ["a,w,label", *(f"{a:.4f},{w:g},{'yes' if p else 'no'}" for a, w, p in rows)]
    path.write_text("\n".join(lines) + "\n")
    table = weighted(path, "yes")
    with pytest.raises(InputError, match="no positive row of the held-out part has a weight"):
        find_best(SearchRequest(table, validation))
    tested = Validation("file", test_file=str(_without_weight(path)))
    with pytest.raises(InputError, match="no positive row of the test file has a weight"):
        find_best(SearchRequest(table, tested))


def _without_weight(path):
    """Write the rows of a file with positives of weight 0 to another file; return it."""
    target = path.with_name("tested.csv")
    target.write_text(path.read_text().replace(",1,yes", ",0,yes"))
    return target
