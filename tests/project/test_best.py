"""The search for the best model: selection on training rows, measures on held-out rows."""

import dataclasses
import json
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from aucstudio.cli import main
from aucstudio.engine import METHODS
from aucstudio.engine.cost import Cost
from aucstudio.engine.crossfit.fitting import CrossFit
from aucstudio.engine.crossfit.folds import best_alone, draw_folds, nested_scores
from aucstudio.engine.crossfit.members import Member, is_listed, read_list, write_list
from aucstudio.engine.ensembles.selection import Criterion
from aucstudio.engine.methods.logistic import Logistic
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.params import InvalidSetting
from aucstudio.notices import text
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation, draw_splits
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.settings_shown import differing_settings
from aucstudio.project.store.model_file import load_model
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.tournament import candidate_comparison, search
from aucstudio.project.tournament.candidate_comparison import Budget, CandidateComparison
from aucstudio.project.tournament.standings import (
    READY,
    TRAINS,
    UNABLE,
    WAITS,
    CriterionEstimate,
    Standing,
    Standings,
)
from aucstudio.project.tournament.verdict import (
    best_document,
    final_standings,
    leaderboard_text,
    search_remarks,
    verdict,
)
from tests.conftest import write_file

CASES = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

QUICK = [Member.of("logistic"), Member.of("auc-rls")]
HELD_OUT = Validation(test_size=0.3, seed=1)


def write_table(path, rows=160, signal=1.0, seed=0, groups=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    y = signal * X[:, 0] + rng.normal(size=rows) > 0.3
    if signal == 0.0:
        y = rng.permutation(np.arange(rows) < rows // 2)
    cells = [
        [f"{v:.6f}" for v in row] + ["yes" if k else "no"] for row, k in zip(X, y, strict=True)
    ]
    names = ["a", "b", "c", "label"]
    if groups is not None:
        names.append("site")
        cells = [[*row, f"s{k % groups}"] for k, row in enumerate(cells)]
    path.write_text("\n".join(",".join(row) for row in [names, *cells]) + "\n")
    return path


def find_best(table, validation, fpr_range=None, *, folds=search.FOLDS, entrants=None, **more):
    request = search.SearchRequest(table, validation, fpr_range, folds=folds, entrants=entrants)
    return search.find_best(request, **more)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("best") / "t.csv")


@pytest.fixture(scope="module")
def table(file):
    return read_table(file, label="label", positive="yes")


@pytest.fixture(scope="module")
def board(table):
    return find_best(table, HELD_OUT, (0.0, 0.3), folds=3, entrants=QUICK)


def sentences_of(board):
    return verdict(board).sentences


def figures(board):
    """Return the cross-validated and held-out measure of each entry."""
    return [(one.title, one.inner.value, one.held_out.value) for one in board.entries]


class Clock:
    """A clock that returns zero for a number of calls and then one hour."""

    def __init__(self, looks):
        self.looks = looks

    def __call__(self):
        self.looks -= 1
        return 0.0 if self.looks >= 0 else 3600.0


@pytest.mark.slow
def test_entries_are_the_best_of_each_method_and_a_combination(board):
    assert {entry.method for entry in board.entries} == {"logistic", "auc-rls", "auc-ensemble"}
    inner = [entry.inner.value for entry in board.entries[1:]]
    assert inner == sorted(inner, reverse=True)
    assert board.best is board.entries[0]
    assert board.best.method == "auc-ensemble"
    assert board.ended == "done"
    assert not board.not_begun
    assert not board.failed


@pytest.mark.slow
def test_selection_does_not_use_the_held_out_rows(tmp_path, table, board):
    """Replacing the held-out rows by noise changes no choice."""
    (split,) = draw_splits(table.is_positive(), HELD_OUT, None)
    lines = table.path.read_text().splitlines()
    noise = np.random.default_rng(5).normal(size=(len(split.test), 3))
    for row, values in zip(split.test, noise, strict=True):
        label = lines[1 + row].rsplit(",", 1)[1]
        lines[1 + row] = ",".join([*(f"{v:.6f}" for v in values), label])
    path = write_file(tmp_path / "other.csv", "\n".join(lines) + "\n")
    other = read_table(path, label="label", positive="yes")
    found = find_best(other, HELD_OUT, (0.0, 0.3), folds=3, entrants=QUICK)
    inner, other = ([one[:2] for one in figures(result)] for result in (board, found))
    assert inner == other
    assert figures(found) != figures(board)


def test_verdict_states_the_corrected_p_value(board):
    """The interval of one difference may exclude zero although the corrected p is large."""
    (sentence,) = [one for one in sentences_of(board) if one.startswith("The runner-up")]
    assert "Holm-corrected p" in sentence
    assert f"({len(board.entries) - 1} tests)." in sentence


@pytest.mark.parametrize("method", ["logistic", "auc-ensemble"])
def test_entry_is_an_ordinary_repeatable_run(table, board, method):
    """Include the combination, whose members were trained only once."""
    record = board.records[method]
    again = execute(record.experiment, table)
    assert not again.error
    np.testing.assert_allclose(
        again.splits[0].test_scores, record.splits[0].test_scores, rtol=1e-12
    )
    np.testing.assert_array_equal(again.splits[0].test_rows, record.splits[0].test_rows)


def test_long_list_of_members_is_abbreviated(board):
    record = board.records["auc-ensemble"]
    many = dataclasses.replace(
        record.experiment,
        params={
            **record.params,
            "library": write_list([*QUICK, Member.of("svm"), Member.of("rls")]),
        },
    )
    shown = differing_settings(dataclasses.replace(record, experiment=many))
    assert "Logistic regression, AUC-RLS and 2 more" in shown


def test_optimism_is_inner_minus_held_out_measure(board):
    for entry in board.entries:
        (split,) = board.records[entry.method].splits
        outer = board.criterion(split.test_positive, split.test_scores)
        assert entry.optimism == pytest.approx(entry.inner.value - outer)


@pytest.mark.parametrize(("lead", "error", "single"), [(0.1, 0.04, True), (0.1, 0.06, False)])
def test_single_method_wins_only_if_it_leads_by_two_errors(table, monkeypatch, lead, error, single):
    monkeypatch.setattr(candidate_comparison, "lead_of", lambda *_: (lead, error))
    board = find_best(table, HELD_OUT, folds=3, entrants=QUICK)
    assert (board.best.method != "auc-ensemble") == single
    assert board.best is board.entries[0]
    assert (board.choice.lead, board.choice.error) == (lead, error)
    assert "combination" in verdict(board).choice
    document = best_document(board, table)
    assert document["choice"] == {"lead": lead, "error": error, "errors": 2.0}
    assert document["best"]["method"] == board.best.method


def test_returned_model_is_refit_on_all_rows(table, board):
    (split,) = board.record.splits
    assert board.model.trained_on.startswith(f"all {table.rows} labelled rows")
    assert len(split.train_rows) < table.rows
    assert f"{len(split.train_rows)} training rows" in verdict(board).refit
    refit, judged = board.model.score(table), split.model.score(table)
    assert not np.allclose(refit, judged)
    assert np.corrcoef(refit, judged)[0, 1] > 0.9


def test_nested_scores_of_the_best_of_many_are_not_optimistic():
    rng = np.random.default_rng(3)
    nested, highest = [], []
    for seed in range(40):
        positive = rng.permutation(np.arange(120) < 40)
        scores = rng.normal(size=(30, 120))
        folds = draw_folds(positive, None, 5, seed)

        def score(_, rows, held, scores=scores, positive=positive):
            return scores[best_alone(scores[:, rows], positive[rows], Criterion()), held]

        nested.append(Criterion()(positive, nested_scores(folds, score)))
        highest.append(max(Criterion()(positive, one) for one in scores))
    error = np.std(nested, ddof=1) / np.sqrt(len(nested))
    assert abs(np.mean(nested) - 0.5) < 3 * error
    assert np.mean(highest) > 0.58


def test_groups_widen_the_interval_of_an_estimate():
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(30), 6)
    positive = np.repeat(np.arange(30) < 12, 6)
    scores = np.repeat(rng.normal(size=30), 6) + 0.3 * rng.normal(size=180) + positive
    of_rows = CriterionEstimate.of(Criterion(), positive, scores)
    of_groups = CriterionEstimate.of(Criterion(), positive, scores, groups=groups)
    alone = CriterionEstimate.of(Criterion(), positive, scores, groups=np.arange(180))
    width = of_rows.high - of_rows.low
    assert of_groups.value == of_rows.value
    assert of_groups.high - of_groups.low > 1.5 * width
    assert alone.high - alone.low == pytest.approx(width, rel=0.25)


def test_time_limit_starts_no_more_fits_and_returns_a_model(table):
    board = find_best(table, HELD_OUT, folds=3, entrants=QUICK, budget=Budget(60, clock=Clock(1)))
    (only,) = board.entries
    (other,) = {"logistic", "auc-rls"} - {only.method}
    assert board.best is only
    assert board.ended == "time"
    assert other in board.not_begun
    assert board.choice.lead is None
    assert any(METHODS[other].title in remark for remark in search_remarks(board))
    waiting = Standing(other, WAITS)
    live = dataclasses.replace(Standings.begun(None), entries=(*board.entries, waiting))
    (left,) = [one for one in final_standings(live, board).entries if one.method == other]
    assert left.why == text("best_entry_left", tried=False, stopped=False)


def test_reports_count_candidates_and_name_those_that_are_fitted(table, monkeypatch):
    doing, named, train = [], threading.Event(), CrossFit.train

    def watch(standings):
        doing.append(standings.doing)
        if any(member.text in standings.doing for member in QUICK):
            named.set()

    def wait(*of):
        assert named.wait(60)
        return train(*of)

    monkeypatch.setattr(CrossFit, "train", wait)
    find_best(table, HELD_OUT, folds=3, entrants=QUICK, watch=watch)
    assert doing[0].startswith("0 of 2 methods tried")


def test_each_method_is_tried_once_before_any_twice_those_for_the_range_first(table, monkeypatch):
    begun, train = {}, CrossFit.train

    def follow(self, task, check):
        begun[task[0]] = None
        return train(self, task, check)

    monkeypatch.setattr(CrossFit, "train", follow)
    monkeypatch.setattr(candidate_comparison, "processors", lambda: 1)
    of_trees = [Member.of("extra-trees", n_trees=50, random_state=seed) for seed in (1, 2)]
    ranged = Member.of("svm-pauc", fpr_range=(0.0, 0.02))
    entrants = [Member.of("logistic"), Member.of("auc-rls"), *of_trees, ranged]
    find_best(table, HELD_OUT, (0.0, 0.02), folds=3, entrants=entrants)
    methods = [member.method for member in begun]
    assert methods == ["logistic", "svm-pauc", "auc-rls", "extra-trees", "extra-trees"]


def test_course_has_the_estimates_of_the_leaderboard(table):
    updates = []
    two = [Member.of("auc-rls", regularization=weight) for weight in (0.01, 100.0)]
    entrants = [Member.of("logistic"), *two]
    find_best(table, HELD_OUT, folds=3, entrants=entrants, watch=updates.append)
    end = updates[-1]
    latest = {one.method: one.value for one in end.course}
    found = {one.method: one.inner.value for one in end.entries if one.run != end.best}
    assert found.items() <= latest.items()
    assert len(found.keys() & latest.keys()) >= 1


@pytest.mark.parametrize("looks", [4, 9, 15, 40, 80])
def test_search_returns_a_model_whenever_time_ends(table, looks):
    budget = Budget(60, clock=Clock(looks))
    board = find_best(table, HELD_OUT, folds=3, entrants=QUICK, budget=budget)
    assert board.best is not None
    assert (board.ended == "time") == bool(board.not_begun)
    assert (board.model is None) == bool(board.not_refit)


class SlowClock:
    """A clock that a test advances."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_time_is_reserved_for_refitting_the_winner(table, monkeypatch):
    """A member takes 12 s in folds and about 20 s on all rows; two exceed the budget of 70 s."""
    clock = SlowClock()
    train = CrossFit.train

    def slow(self, task, check):
        clock.now += 4.0
        return train(self, task, check)

    monkeypatch.setattr(CrossFit, "train", slow)
    monkeypatch.setattr(candidate_comparison, "processors", lambda: 1)
    monkeypatch.setattr(search, "refit", lambda *_: None)
    monkeypatch.setattr(search, "with_carried_threshold", lambda *_: None)
    many = [Member.of("logistic", C=float(k)) for k in (1, 2, 3, 4, 5)]
    budget = Budget(70.0, clock=clock)
    board = find_best(table, HELD_OUT, folds=3, entrants=many, budget=budget)
    assert 12.0 <= board.spent <= 30.0
    assert board.ended == "time"
    assert not board.not_refit


def test_large_table_is_compared_on_a_sample_of_rows_and_tested_on_all(tmp_path, monkeypatch):
    table = read_table(write_table(tmp_path / "l.csv", 2000), label="label", positive="yes")
    sizes, fit = [], Logistic.fit

    def follow(self, X, y, **more):
        sizes.append(len(X))
        return fit(self, X, y, **more)

    def estimate(self, positives, negatives, features):
        return Cost(0.0, (positives + negatives) / 50)

    monkeypatch.setattr(Logistic, "fit", follow)
    monkeypatch.setattr(Logistic, "estimate", estimate)
    monkeypatch.setattr(candidate_comparison, "processors", lambda: 1)
    clock = SlowClock()  # by which fits take no time
    one = [Member.of("logistic")]
    board = find_best(table, HELD_OUT, folds=3, entrants=one, budget=Budget(30.0, clock=clock))
    train = board.records["logistic"].splits[0].n_train
    assert train == sizes[3] == 1400
    # One row of eight: a smaller sample would have too few positives.
    assert all(rows == pytest.approx(train * 2 / 3 / 8, abs=6) for rows in sizes[:3])
    assert board.ended == "done"


def test_models_of_a_sample_leave_the_choice_to_single_methods(table, monkeypatch):
    monkeypatch.setattr(CandidateComparison, "sampling", lambda *_: 2)
    monkeypatch.setattr(candidate_comparison, "lead_of", lambda *_: (-1.0, 0.01))
    board = find_best(table, HELD_OUT, folds=3, entrants=QUICK)
    assert set(board.records) == {"logistic", "auc-rls", "auc-ensemble"}
    assert board.best.method != "auc-ensemble"
    assert board.model is not None


def test_fit_interrupted_by_the_time_limit_is_excluded(table, monkeypatch):
    clock = SlowClock()
    train = CrossFit.train

    def endless(self, task, check):
        if task[0].method == "rankboost":
            while not check():
                clock.now += 1.0
        return train(self, task, check)

    monkeypatch.setattr(CrossFit, "train", endless)
    few = [Member.of("logistic"), Member.of("rankboost")]
    board = find_best(table, HELD_OUT, folds=3, entrants=few, budget=Budget(60.0, clock=clock))
    assert board.spent <= 60.0
    assert [one.method for one in board.entries] == ["logistic"]
    assert any("rankboost" in text for text in board.not_begun)


def test_stop_combines_the_finished_members(table):
    ready = []

    def watch(standings):
        ready.extend(one for one in standings.entries if one.state == READY)

    budget = Budget(stopped=lambda: bool(ready))
    board = find_best(table, HELD_OUT, folds=3, entrants=QUICK, budget=budget, watch=watch)
    assert board.ended == "stopped"
    assert board.best.method == "auc-ensemble"
    assert board.members
    assert any(text.endswith("on the held-out rows") for text in board.not_begun)
    assert board.model is None
    assert "stopped" in board.not_refit


def test_stop_during_held_out_tests_keeps_the_combination(table):
    doing = []
    budget = Budget(stopped=lambda: any(one.startswith("held-out rows") for one in doing))
    given = {"budget": budget, "watch": lambda standings: doing.append(standings.doing)}
    board = find_best(table, HELD_OUT, folds=3, entrants=QUICK, **given)
    assert "auc-ensemble" in board.records
    assert board.ended == "stopped"


@pytest.fixture
def interruptible():
    """Restore the default SIGINT handler, which some shells disable."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupted_command_prints_a_stopped_result(interruptible, file, monkeypatch, capsys):
    def interrupted(*_):
        os.kill(os.getpid(), signal.SIGINT)
        return QUICK

    monkeypatch.setattr(search, "library", interrupted)
    assert main(["best", str(file), "--label", "label", "--positive", "yes", "--json"]) == 130
    document = json.loads(capsys.readouterr().out)
    assert document["ended"] == "stopped"
    assert document["best"] is None
    assert document["leaderboard"] == []


def test_stop_before_the_first_fit_returns_no_model(table):
    board = find_best(table, HELD_OUT, entrants=QUICK, budget=Budget(stopped=lambda: True))
    assert board.best is None
    assert list(sentences_of(board)) == ["No method was tested on the held-out rows."]
    assert best_document(board, table)["best"] is None


@pytest.mark.slow
def test_failed_method_is_reported(table, monkeypatch):
    def too_much(self, *_):
        raise MemoryError

    monkeypatch.setattr(METHODS["auc-rls"], "_fit", too_much)
    board = find_best(table, HELD_OUT, folds=3, entrants=QUICK)
    assert [entry.method for entry in board.entries if entry.method == "auc-rls"] == []
    assert any(text.startswith("auc-rls: ") for text in board.failed)


@pytest.mark.slow
def test_groups_are_not_split(tmp_path):
    path = write_table(tmp_path / "g.csv", groups=12)
    table = read_table(path, label="label", positive="yes", roles={"site": "group"})
    board = find_best(table, HELD_OUT, folds=3, entrants=QUICK)
    codes = np.arange(160) % 12
    for record in board.records.values():
        (split,) = record.splits
        assert not set(codes[split.train_rows]) & set(codes[split.test_rows])


def test_too_few_rows_are_refused(tmp_path):
    path = write_file(tmp_path / "few.csv", "a,label\n1,yes\n2,no\n3,no\n4,no\n5,yes\n6,no\n")
    table = read_table(path, label="label", positive="yes")
    with pytest.raises(InputError, match="Find the best needs more rows"):
        find_best(table, Validation(test_size=0.5), entrants=QUICK)


@pytest.mark.slow
def test_simpler_method_is_offered_only_without_a_large_loss(tmp_path):
    table = read_table(write_table(tmp_path / "t.csv", seed=4), label="label", positive="yes")
    board = find_best(table, HELD_OUT, folds=3, entrants=[Member.of("auc-rls"), *QUICK[:1]])
    first, other = board.entries[:2]
    assert board.rank(first) > max(map(board.rank, board.entries[1:]))

    def with_lead(difference, low, high):
        lead = dataclasses.replace(other.behind, difference=difference, low=low, high=high)
        return dataclasses.replace(board, entries=(first, dataclasses.replace(other, behind=lead)))

    for difference, low, high, offered in (
        (0.005, -0.005, 0.015, True),
        (0.0, -0.1, 0.1, False),  # too few rows: the loss may be 10 points
        (0.2, 0.19, 0.21, False),
        (-0.2, -0.3, -0.1, True),
        (0.0, None, None, False),
    ):
        found = with_lead(difference, low, high)
        assert (found.simplest is not None) == offered
        assert (verdict(found).simpler != "") == offered
    assert "at most 1.5 points" in verdict(with_lead(0.005, -0.005, 0.0149)).simpler
    assert "as good or better" in verdict(with_lead(-0.027, -0.055, 0.001)).simpler


def test_verdict_without_interval_reports_too_few_rows(tmp_path):
    lines = ["a,label", *(f"{k % 7},{'yes' if k % 30 == 0 else 'no'}" for k in range(100))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    table = read_table(tmp_path / "t.csv", label="label", positive="yes")
    said = sentences_of(find_best(table, Validation(), entrants=QUICK[:1]))[0]
    assert "(1 positive)" in said
    assert said.count("(too few rows for an interval)") == 2


def test_member_lists_round_trip_as_text():
    members = [
        Member.of("logistic", C=0.1, class_weight="balanced"),
        Member.of("svm-pauc", fpr_range=(0.0, 0.1)),
        Member.of("rankboost"),
    ]
    assert read_list(write_list(members)) == members
    for wrong in ["", "nothing", "logistic D=1", "logistic C=-1", "auc-ensemble", "logistic;"]:
        assert not is_listed(wrong)
        with pytest.raises(InvalidSetting):
            METHODS["auc-ensemble"](library=wrong).fit(np.eye(4), [0, 1, 0, 1])


def test_entry_names_settings_like_the_form():
    params = {"class_weight": "balanced", "C": 0.1, "random_state": 3}
    shown = Standing("logistic", "ready", params).name.replace("\N{NO-BREAK SPACE}", " ")
    assert shown == "Logistic regression (Class weights = balanced, C = 0.1)"
    comparison_title = Standing("logistic", "ready", params, "class_weight = balanced").title
    assert comparison_title == "logistic (class_weight = balanced)"


@pytest.mark.slow
def test_test_file_is_held_out_from_selection(tmp_path, table):
    boards, tables = [], []
    for seed, sign in ((5, 1.0), (6, -1.0)):
        path = write_table(tmp_path / f"later{seed}.csv", rows=60, seed=seed, signal=sign)
        tables.append(read_table(path, label="label", positive="yes"))
        tested = Validation(scheme="file", test_file=str(path))
        boards.append(find_best(table, tested, (0.0, 0.3), folds=3, entrants=QUICK))
    one, other = boards
    chosen = [[(e.method, e.settings, e.inner) for e in board.entries] for board in boards]
    assert chosen[0] == chosen[1]
    assert len(one.entries) == 3
    assert one.best.held_out.value > 0.5 > other.best.held_out.value
    for record in one.records.values():
        (split,) = record.splits
        assert len(split.train_rows) == table.rows
        np.testing.assert_array_equal(split.test_positive, tables[0].is_positive())
        again = execute(record.experiment, table, tables[0])
        np.testing.assert_array_equal(again.splits[0].test_scores, split.test_scores)
    assert "on 60 rows of later5.csv (" in sentences_of(one)[0]


@pytest.mark.slow
def test_test_rows_used_in_training_are_reported(tmp_path, file, table):
    head, *lines = file.read_text().splitlines()
    (tmp_path / "again.csv").write_text("\n".join([head, *lines[:40]]) + "\n")
    for path, said in (
        (file, "the training file itself"),
        (tmp_path / "again.csv", "40 of the 40 rows"),
    ):
        tested = Validation(scheme="file", test_file=str(path))
        board = find_best(table, tested, entrants=QUICK[:1])
        assert any(said in note for note in board.notes)
        assert ", some of which were trained on." in sentences_of(board)[0]


def test_unsuitable_test_file_is_refused_before_training(tmp_path, table):
    path = write_file(tmp_path / "other.csv", "a,b,label\n1,2,yes\n2,1,no\n")
    tested, messages = Validation(scheme="file", test_file=str(path)), []
    with pytest.raises(InputError, match="c"):
        find_best(table, tested, entrants=QUICK, watch=messages.append)
    assert not messages


@pytest.mark.slow
def test_command_accepts_a_test_file(tmp_path, file, monkeypatch, printed, refused):
    monkeypatch.setattr(search, "library", lambda *_: QUICK)
    later = write_table(tmp_path / "later.csv", rows=60, seed=5)
    options = ["--folds", "3", "--label", "label", "--positive", "yes", "--test-file", str(later)]
    document = printed("best", file, *options)
    assert "rows of later.csv" in document["says"][0]
    assert "not allowed with" in refused("best", file, *options, "--test-size", "0.5")


@pytest.mark.slow
def test_command_prints_stores_and_saves_results(tmp_path, file, monkeypatch, capsys):
    monkeypatch.setattr(search, "library", lambda *_: QUICK)
    project, model = tmp_path / "p.aucproj", tmp_path / "m.aucmodel"
    options = ["--fpr-range", "0,0.2", "--folds", "3", "--label", "label", "--positive", "yes"]
    keep = ["--project", str(project), "--save-model", str(model), "--json"]
    assert main(["best", str(file), *options, *keep]) == 0
    document = json.loads(capsys.readouterr().out)
    runs = {record.id: record for record in ProjectFile(project).runs()}
    assert {one["run"] for one in document["leaderboard"]} == set(runs)
    best = document["best"]
    (kept,) = ProjectFile(project).read().standings.values()
    standings = Standings.from_json(kept)
    assert (standings.ended, standings.best) == ("done", best["run"])
    assert {one.run for one in standings.entries} == set(runs)
    assert list(standings.verdict.sentences) == document["says"]
    assert best["run"] == document["leaderboard"][0]["run"]
    assert document["leaderboard"][0]["behind"] is None
    saved = load_model(model)
    (split,) = runs[best["run"]].splits
    table = read_table(file, label="label", positive="yes")
    assert best["trained_on"] == saved.trained_on
    assert saved.trained_on.startswith("all 160 labelled rows")
    assert best["threshold"]["fpr"] <= 0.2
    # The threshold is transferred by rank: the same share of training rows is predicted positive.
    called = saved.score(table)[split.train_rows] > saved.threshold
    judged = split.train_scores > best["threshold"]["threshold"]
    assert called.mean() == pytest.approx(judged.mean(), abs=0.02)

    assert main(["best", str(file), *options]) == 0
    said = capsys.readouterr().out
    assert "optimism" in said
    assert "The selected model is " in said


@pytest.mark.slow
def test_result_that_cannot_be_stored_is_printed(tmp_path, file, monkeypatch, capsys):
    def refuse(self, *_what):
        raise InputError(f"cannot read or write the project {self.path}: the disk is full")

    monkeypatch.setattr(search, "library", lambda *_: QUICK[:1])
    monkeypatch.setattr(ProjectFile, "keep_standings", refuse)
    project, model = tmp_path / "p.aucproj", tmp_path / "m.aucmodel"
    options = ["--label", "label", "--positive", "yes", "--project", str(project), "--json"]
    assert main(["best", str(file), *options, "--save-model", str(model)]) == 2
    said = capsys.readouterr()
    assert "the disk is full" in said.err
    document = json.loads(said.out)
    assert "the disk is full" in document["unsaved"]
    assert model.exists()
    assert len(ProjectFile(project).runs()) == len(document["runs"])


@pytest.mark.parametrize(("options", "words"), CASES["wrong_options"])
def test_invalid_options_are_refused_in_one_line(file, refused, options, words):
    said = refused("best", file, *options)
    assert words in said
    assert said.count("\n") == 1


def test_leaderboard_table_has_a_line_per_entry(board):
    lines = leaderboard_text(board).splitlines()
    assert len(lines) == 3 + len(board.entries)
    assert lines[0].startswith("Ranking criterion: ")
    assert "pAUC" in lines[0]


@pytest.fixture
def order(monkeypatch):
    """List the methods as they are tested on the held-out rows, and the refit among them."""
    steps, test, refit = [], search.execute, search.refit

    def tested(experiment, *rows, **more):
        steps.append(experiment.method)
        return test(experiment, *rows, **more)

    monkeypatch.setattr(search, "execute", tested)
    monkeypatch.setattr(search, "refit", lambda *of: steps.append("refit") or refit(*of))
    return steps


def test_fast_entries_are_tested_before_a_refit_that_runs_out_of_time(table, monkeypatch, order):
    clock = SlowClock()

    def refit(_experiment, _table, over):
        order.append("refit")
        while not over():
            clock.now += 1.0
        raise Stopped

    monkeypatch.setattr(search, "refit", refit)
    budget = Budget(60.0, clock=clock)
    board = find_best(table, HELD_OUT, folds=3, entrants=QUICK, budget=budget)
    assert order[-1] == "refit"
    assert set(order[:-1]) == set(board.records) == {"logistic", "auc-rls", "auc-ensemble"}
    assert not board.untested


def test_combination_is_tested_after_the_refit_of_a_single_method(table, monkeypatch, order):
    monkeypatch.setattr(candidate_comparison, "lead_of", lambda *_: (0.1, 0.01))
    board = find_best(table, HELD_OUT, folds=3, entrants=QUICK)
    assert set(order[: order.index("refit")]) == {"logistic", "auc-rls"}
    assert "auc-ensemble" in board.records


def test_slow_entries_wait_until_the_selected_one_is_refit(table, monkeypatch, order):
    """Testing a member would leave no time for the refit of the selected combination."""
    clock = SlowClock()
    monkeypatch.setattr(
        CandidateComparison, "seconds_of_test", lambda _self, name: 30.0 * (name == "auc-rls")
    )
    monkeypatch.setattr(CandidateComparison, "seconds_of_refit", lambda *_: 30.0)
    monkeypatch.setattr(CandidateComparison, "seconds_after", lambda _: 1.0)
    budget = Budget(60.0, clock=clock)
    board = find_best(table, HELD_OUT, folds=3, entrants=QUICK, budget=budget)
    assert order[:3] == ["logistic", "auc-ensemble", "refit"]
    assert "auc-rls" in board.records
    assert board.model is not None


def test_methods_without_row_weights_are_known_before_the_search(table, tmp_path):
    head, *lines = table.path.read_text().splitlines()
    rows = [f"{head},w", *(f"{line},{1 + k % 3}" for k, line in enumerate(lines))]
    (tmp_path / "w.csv").write_text("\n".join(rows) + "\n")
    weighted = read_table(tmp_path / "w.csv", label="label", positive="yes", roles={"w": "weight"})
    updates, ranged = [], Member.of("svm-pauc", fpr_range=(0.0, 0.3))
    entrants = [Member.of("logistic"), ranged]
    find_best(weighted, HELD_OUT, folds=3, entrants=entrants, watch=updates.append)
    for standings in (updates[0], updates[-1]):
        (entry,) = [one for one in standings.entries if one.method == "svm-pauc"]
        assert entry.state == UNABLE
        assert "row weights" in entry.why


def test_a_candidate_that_is_being_fitted_is_in_training(table, monkeypatch):
    states, train, seen = [], CrossFit.train, threading.Event()

    def watch(standings):
        states.extend((one.state, one.tried) for one in standings.entries)
        if (TRAINS, 0) in states:
            seen.set()

    def wait(*of):
        assert seen.wait(60)
        return train(*of)

    monkeypatch.setattr(CrossFit, "train", wait)
    find_best(table, HELD_OUT, folds=3, entrants=QUICK[:1], watch=watch)


def test_searches_on_the_same_held_out_rows_are_counted(table):
    updates = []
    find_best(table, HELD_OUT, folds=3, entrants=QUICK[:1], watch=updates.append)
    other = dataclasses.replace(updates[-1], validation=Validation(test_size=0.3, seed=2))
    request = search.SearchRequest(
        table, HELD_OUT, entrants=QUICK[:1], folds=3, earlier=[updates[-1], other]
    )
    board = search.find_best(request)
    assert board.earlier == 1
    assert "already used by 1 earlier search." in verdict(board).best


def test_remarks_use_the_words_of_settings(board):
    members = [Member.of("gradient-boosting", learning_rate=0.05, max_iter=200).text]
    left = dataclasses.replace(board, not_begun=members, failed=[f"{members[0]}: why"])
    words = "Gradient boosting (η = 0.05, Trees = 200)"
    remarks = [one.replace("\N{NO-BREAK SPACE}", " ") for one in search_remarks(left)]
    assert sum(words in one for one in remarks) == 2
