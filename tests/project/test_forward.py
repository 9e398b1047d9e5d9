"""Forward splits: no training row is later than a tested row."""

import csv
import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from aucstudio.cli import main
from aucstudio.engine import roc
from aucstudio.engine.crossfit import folds
from aucstudio.engine.inference import folds_interval, splits_test
from aucstudio.engine.methods import auc_ensemble
from aucstudio.notices import notice
from aucstudio.project.data.groups import Groups
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import (
    Validation,
    blocks_of,
    draw_splits,
    forward_parts,
    groups_left_out,
    splits_of,
    times_of,
)
from aucstudio.project.errors import InputError
from aucstudio.project.results.comparison import AUC, compare_runs
from aucstudio.project.results.summary import auc_summary, ranking
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.experiment_file import read_study, write_study
from aucstudio.project.runs.planning import DEFAULT_BAND, plan_on
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.work.parallel import evaluator_of
from tests.conftest import write_file

MONTHS = {"scheme": "forward", "time": "month", "folds": 4}
some_times = npst.arrays(
    float,
    st.integers(2, 60),
    elements=st.one_of(
        st.integers(-3, 9).map(float),
        st.integers(-(10**6), 10**6).map(lambda thousandths: thousandths / 1000),
        st.just(np.nan),
    ),
)


@pytest.mark.slow
@given(
    times=some_times,
    steps=st.integers(1, 6),
    gap=st.sampled_from([0.0, 1.0, 2.5]),
    window=st.sampled_from([0.0, 1.5, 4.0]),
    kinds=st.one_of(st.none(), st.integers(1, 8)),
    data=st.data(),
)
def test_every_step_trains_on_earlier_rows_and_tests_a_block(
    times, steps, gap, window, kinds, data
):
    codes = None
    if kinds is not None:
        codes = data.draw(npst.arrays(np.intp, len(times), elements=st.integers(0, kinds - 1)))
    parts = forward_parts(times, steps, gap, window, codes)
    known = np.flatnonzero(~np.isnan(times))
    if parts is None:
        assert len(np.unique(times[known])) <= steps
        return
    assert len(parts) == steps
    judged = np.concatenate([test for _, test in parts])
    first = times[parts[0][1]].min()
    # All rows from the first tested time on are tested once, and some rows are earlier.
    assert sorted(judged) == [i for i in known if times[i] >= first]
    assert (times[known] < first).any()
    for k, (train, test) in enumerate(parts):
        start = times[test].min()
        assert k == 0 or start > times[parts[k - 1][1]].max()  # equal times are never split
        # Brute force, row by row, in integer thousandths.
        ago = np.rint(1000 * (start - times))
        expected = [
            i
            for i in known
            if ago[i] > 0
            and ago[i] >= 1000 * gap
            and (window == 0 or ago[i] <= 1000 * (gap + window))
            and (codes is None or codes[i] not in set(codes[test]))
        ]
        assert train.tolist() == expected


@pytest.mark.parametrize("unit", [0.01, 0.1, 1 / 24])
def test_rows_at_gap_and_window_edges_survive_rounding(unit):
    ticks = np.arange(60)
    for start in (0.0, 100.0, 19_723.0):
        for train, test in forward_parts(start + ticks * unit, 4, 3 * unit, 7 * unit):
            latest = test[0] - 3
            np.testing.assert_array_equal(train, ticks[max(0, latest - 7) : latest + 1])


def test_blocks_have_about_equally_many_rows():
    times = np.random.default_rng(0).permutation(1000).astype(float)
    parts = forward_parts(times, 4)
    assert [len(test) for _, test in parts] == [200] * 4
    assert [len(train) for train, _ in parts] == [200, 400, 600, 800]
    # If one time has most of the rows, the others still form blocks.
    piled = np.r_[np.zeros(900), np.arange(1, 101)]
    parts = forward_parts(piled, 4)
    assert [len(test) for _, test in parts] == [1, 1, 1, 97]
    late = np.r_[np.arange(100), np.full(900, 200.0)]
    assert [len(test) for _, test in forward_parts(late, 3)][-1] == 900


@pytest.fixture
def dated_file(tmp_path):
    """Write a table whose rows are not in time order, with missing times."""
    rng = np.random.default_rng(4)
    path = tmp_path / "dated.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["x0", "x1", "month", "day", "clinic", "outcome"])
        for i in range(240):
            month = int(rng.integers(0, 12))
            positive = rng.random() < 0.35
            day = "" if i % 60 == 7 else f"2024-{month + 1:02d}-{int(rng.integers(1, 28)):02d}"
            x = rng.normal(size=2) + positive
            cells = [f"{x[0]:.4f}", f"{x[1]:.4f}", month, day, f"c{int(rng.integers(0, 40))}"]
            writer.writerow([*cells, "yes" if positive else "no"])
    return path


@pytest.fixture
def dated(dated_file):
    return read_table(dated_file, label="outcome", roles={"clinic": "ignore", "day": "ignore"})


def run(table, validation, method="auc-rls", tuning=None):
    experiment = plan_on(table, method, {}, Validation(**validation), (0.0, 0.1), tuning)
    return execute(experiment, table)


def test_forward_run_reports_its_tested_rows(dated):
    record = run(dated, MONTHS)
    assert record.status == "done"
    months = dated.column("month").values
    first = min(months[split.test_rows].min() for split in record.splits)
    for split in record.splits:
        assert months[split.train_rows].max() < months[split.test_rows].min()
    judged = np.concatenate([split.test_rows for split in record.splits])
    never = int((months < first).sum())
    assert len(judged) == len(set(judged)) == dated.rows - never
    said = " ".join(map(str, record.notes))
    assert f"{len(judged):,} rows from {first:g} on are tested in 4 steps" in said
    assert f"The first {never} rows, before {first:g}, are never tested" in said
    assert notice("forward_trains_on_time", column="month") in record.notes
    assert record.experiment.validation.disjoint
    assert record.experiment.validation.describe() == "4 steps forward by month"


@pytest.mark.parametrize("roles", [{}, {"clinic": "group"}])
def test_inner_hold_out_uses_blocks_of_time(dated, monkeypatch, roles):
    drawn = []
    draw = folds.draw_folds
    monkeypatch.setattr(
        auc_ensemble, "draw_folds", lambda *given: drawn.append(given[1]) or draw(*given)
    )
    table = dated.with_roles(roles=roles)
    settings = {"library": "logistic", "n_folds": 2}
    how = Validation("forward", time="month", folds=2)
    record = execute(plan_on(table, "auc-ensemble", settings, how, DEFAULT_BAND), table)
    assert record.status == "done"
    inner = "forward_inner_groups" if roles else "forward_inner_blocks"
    assert inner in {note.code for note in record.notes}
    assert not {note.code for note in run(dated, MONTHS).notes} & {
        "forward_inner_groups",
        "forward_inner_blocks",
    }
    if not roles:
        for split, blocks in zip(record.splits, drawn, strict=True):
            months = dated.column("month").values[split.train_rows]
            assert len(np.unique(blocks)) >= 2
            assert (np.diff(blocks[np.argsort(months)]) >= 0).all()
            assert all(len(np.unique(blocks[months == month])) == 1 for month in months)


@given(times=some_times, data=st.data(), most=st.integers(2, 12))
def test_time_blocks_have_both_classes_and_split_no_time(times, data, most):
    positive = data.draw(npst.arrays(bool, len(times)))
    codes = blocks_of(times, positive, most)
    known = ~np.isnan(times)
    if codes is None:
        return
    order = np.argsort(times, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    assert all(len(set(codes[times == time])) == 1 for time in times[known])
    assert 2 <= codes.max() + 1 <= most
    for block in range(codes.max() + 1):
        assert 0 < positive[codes == block].sum() < (codes == block).sum()


def test_gaps_and_windows_of_dates_are_reported_in_days(dated):
    how = {"scheme": "forward", "time": "day", "folds": 3, "gap": 20.0, "window": 90.0}
    record = run(dated, how)
    days = dated.column("day").values
    for split in record.splits:
        start = days[split.test_rows].min()
        trained = days[split.train_rows]
        assert trained.max() <= start - 20
        assert trained.min() >= start - 110
    assert "before 2024-0" in " ".join(map(str, record.notes))
    assert notice("forward_gap", gap=20.0, unit="days of day") in record.notes
    assert notice("forward_window", window=90.0, unit="days of day") in record.notes
    assert notice("forward_missing", rows=4, column="day") in record.notes
    assert "forward_trains_on_time" not in {note.code for note in record.notes}


def test_tested_groups_are_excluded_from_training(dated):
    table = dated.with_roles(roles={"clinic": "group"})
    record = run(table, MONTHS)
    clinics = table.column("clinic").values
    for split in record.splits:
        assert not set(clinics[split.train_rows]) & set(clinics[split.test_rows])
    assert notice("forward_groups", columns=("clinic",)) in record.notes


def test_rows_that_groups_leave_out_are_counted(dated):
    table = dated.with_roles(roles={"clinic": "group"})
    validation = Validation(**MONTHS)
    found = groups_left_out(table, validation)
    facts, positive = dict(found.values), table.is_positive()
    kept, earlier = splits_of(table, validation), splits_of(dated, validation)
    assert facts["rows"] == tuple(len(split.train) for split in kept)
    assert facts["of"] == tuple(len(split.train) for split in earlier)
    assert facts["positives"] == tuple(int(positive[split.train].sum()) for split in kept)
    assert (found.code, found.severity) == ("forward_groups_few", "warning")
    assert found in run(table, MONTHS).notes
    assert groups_left_out(dated, validation) is None
    assert groups_left_out(table, Validation("folds")) is None


def test_groups_that_recur_in_every_block_are_named_as_the_cause():
    rows = np.arange(240)
    groups = Groups(("machine",), rows % 12)
    with pytest.raises(InputError) as caught:
        draw_splits(rows % 5 == 0, Validation("forward", time="day"), groups, rows / 4)
    assert caught.value.code == "forward_groups_recur"
    assert "machine" in str(caught.value)
    assert len(draw_splits(rows % 5 == 0, Validation("forward", time="day"), None, rows / 4)) == 5


def test_tuning_uses_forward_splits(dated):
    record = run(dated, MONTHS, "rls", Tuning("auc", folds=3))
    assert record.status == "done"
    months = dated.column("month").values
    for k in range(len(record.splits)):
        judge = evaluator_of(record.experiment, dated, k)
        assert judge.folds == record.searches[k].areas.shape[1]
        for train, test in judge.splits:
            assert months[judge.rows[train]].max() < months[judge.rows[test]].min()
    # The first step trains on one block of few months, so its search has fewer steps.
    assert [search.areas.shape[1] for search in record.searches][-1] == 3


@pytest.mark.parametrize(
    ("changes", "said", "setting"),
    [
        ({"time": ""}, "no time column", "time"),
        ({"time": "year"}, "year", None),
        ({"time": "clinic"}, "holds texts", "time"),
        ({"time": "outcome"}, "is the label", "time"),
        ({"folds": 12}, "12 different times", "folds"),
        ({"gap": 500.0}, "trains on rows of one class only, or none; choose", "folds"),
        ({"gap": -1.0}, "gap must be a number of at least 0", "gap"),
        ({"window": float("nan")}, "window must be", "window"),
    ],
)
def test_invalid_forward_settings_are_refused(dated, changes, said, setting):
    with pytest.raises(InputError, match=said) as caught:
        splits_of(dated, Validation(**{**MONTHS, **changes}))
    if setting is not None:
        assert caught.value.setting == setting


def test_possible_number_of_steps_is_reported():
    times = np.arange(40.0)
    positive = (times % 10) < 2
    with pytest.raises(InputError, match="choose 3 steps"):
        draw_splits(positive, Validation("forward", folds=9, time="t"), None, times)


def test_experiments_of_other_schemes_keep_their_identity(dated):
    plain = plan_on(dated, "auc-rls", {}, Validation(folds=4, scheme="folds"), (0.0, 0.1))
    document = plain.as_json()
    assert not {"time", "gap", "window"} & set(document["validation"])
    left = dataclasses.replace(plain.validation, time="month", gap=3.0)
    other = dataclasses.replace(plain, validation=left)
    assert other.id == plain.id
    assert other.rows_of() == plain.rows_of()
    ahead = [
        dataclasses.replace(plain, validation=Validation(**{**MONTHS, **changes})).id
        for changes in ({}, {"gap": 1.0}, {"window": 2.0}, {"time": "day"}, {"folds": 3})
    ]
    assert len({*ahead, plain.id}) == 6
    again = Experiment.from_json(json.loads(json.dumps(other.as_json())))
    assert again.validation == left


def test_experiment_files_and_commands_declare_forward_splits(dated, dated_file, tmp_path, printed):
    how = Validation(**MONTHS, gap=1.0, window=6.0)
    experiment = plan_on(dated, "auc-rls", {}, how, (0.0, 0.1))
    path = write_file(tmp_path / "ahead.toml", write_study([experiment], tmp_path))
    assert read_study(path).experiments[0].id == experiment.id
    brief = '[data]\nfile = "dated.csv"\n[validation]\ntime = "month"\nfolds = 4\n'
    path.write_text(f'format = 1\n{brief}[[runs]]\nmethod = "auc-rls"\n', encoding="utf-8")
    assert read_study(path).experiments[0].validation == Validation(**MONTHS)
    words = f"--method auc-rls --label {experiment.data.label} --time month --steps 4".split()
    words += ["--positive", experiment.data.positive, "--gap", "1", "--window", "6"]
    document = printed("--quiet", "train", dated_file, *words)
    assert len(document["runs"][0]["auc"]["per_split"]) == 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--gap", "3"], "--gap needs --time"),
        (["--time", "month", "--repeats", "2"], "--repeats"),
        (["--time", "month", "--folds", "3"], "not allowed with"),
        (["--time", "clinic"], "holds texts"),
    ],
)
def test_conflicting_options_are_refused(dated_file, capsys, given, said):
    try:
        status = main(["train", str(dated_file), "--method", "auc-rls", *given])
    except SystemExit as end:
        status = end.code
    assert status == 2
    assert said in capsys.readouterr().err


def test_missing_value_codes_are_not_times(dated):
    table = dated.with_roles(absent={"month": [0.0]})
    times = times_of(table, "month")
    assert np.isnan(times).sum() == (dated.column("month").values == 0).sum()


def test_tests_use_the_mean_size_of_the_steps(dated):
    record = run(dated, MONTHS)
    train, test = record.sizes
    assert train == np.mean([len(split.train_rows) for split in record.splits])
    areas = [roc.auc(split.test_positive, split.test_scores) for split in record.splits]
    found = auc_summary(record)
    expected = folds_interval([ranking(split) for split in record.splits], 0.0, 1.0)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    other = run(dated, MONTHS, "rls")
    (pair,) = compare_runs([("a", record), ("b", other)], (0.0, 0.1), AUC)
    others = [roc.auc(split.test_positive, split.test_scores) for split in other.splits]
    assert pair.p == splits_test(areas, others, train, test, disjoint=True).p
    folds = run(dated, {"scheme": "folds", "folds": 3})
    assert folds.sizes == (len(folds.splits[0].train_rows), len(folds.splits[0].test_rows))
