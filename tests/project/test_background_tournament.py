"""A search in a child process: reports, stops, a killed process; finished runs are stored."""

import dataclasses
import json

import numpy as np
import psutil
import pytest

from aucstudio.engine.crossfit.members import Member
from aucstudio.engine.ensembles.selection import Criterion
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.store.check import repair_project
from aucstudio.project.store.project.project_file import ProjectFile, write_project
from aucstudio.project.tournament.background import (
    SearchLog,
    SearchStop,
    search_in_background,
)
from aucstudio.project.tournament.search import (
    SearchRequest,
    draw_held_out,
    find_best,
    held_out_once,
)
from aucstudio.project.tournament.standings import (
    JUDGED,
    LEFT,
    READY,
    TRAINS,
    WAITS,
    CriterionEstimate,
    Standings,
)
from tests.conftest import write_file
from tests.project.test_best import write_table

QUICK = (Member.of("logistic"), Member.of("auc-rls"))
# Slow settings, so that there is something to stop.
LONG = (Member.of("logistic"), Member.of("rankboost", n_rounds=100_000))


class MemoryProject:
    """A project file in memory; it assigns a different id to the first run."""

    def __init__(self, trouble=""):
        self.runs, self.standings, self.trouble = [], [], trouble

    def add_run_once(self, record):
        if not self.runs:
            record = dataclasses.replace(record, id=f"{record.id}-2")
        self.runs.append(record)
        return record

    def keep_standings(self, standings):
        self.standings.append(standings)
        return self.trouble


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = write_table(tmp_path_factory.mktemp("beside") / "t.csv")
    return read_table(path, label="label", positive="yes")


@pytest.fixture(scope="module")
def tournament(table):
    """Return the stored runs, the messages and the final standings of a whole tournament."""
    kept, messages = MemoryProject(), []
    order = SearchRequest(table, Validation(seed=1), (0.0, 0.3), 600.0, entrants=QUICK)
    return kept, messages, search_in_background(order, kept, SearchStop(), messages.append)


@pytest.mark.slow
def test_tournament_is_reported_from_first_fit_to_verdict(tournament):
    _, messages, end = tournament
    live = [one for one in messages if isinstance(one, Standings)]
    assert live[0].entries == ()
    assert {one.created for one in live} == {end.created}
    assert [one.spent for one in live] == sorted(one.spent for one in live)
    for one in live[:-1]:
        inner = [entry.inner.value for entry in one.entries if entry.inner is not None]
        assert inner == sorted(inner, reverse=True)
    assert end.ended == "done"
    assert end.entries[0].run == end.best
    assert end.verdict.sentences[0].startswith("The selected model is ")
    assert {entry.state for entry in end.entries} == {JUDGED}
    assert [one.seconds for one in end.course] == sorted(one.seconds for one in end.course)
    assert max(one.value for one in end.course) >= end.entries[0].inner.value - 1e-12
    assert end.held.all + end.train.all == 160
    assert end.point.fpr <= 0.3


@pytest.mark.slow
def test_reported_run_ids_are_those_stored(tournament):
    kept, messages, end = tournament
    ids = [record.id for record in kept.runs]
    assert [one.id for one in messages if isinstance(one, RunRecord)] == ids
    assert ids[0].endswith("-2")
    assert {entry.run for entry in end.entries} == set(ids)
    assert end.best in ids
    assert end.of_run(end.best) is end.entries[0]


def test_intervals_contain_values_and_optimism_is_their_difference(tournament):
    _, _, end = tournament
    for entry in end.entries:
        for found in (entry.inner, entry.held_out):
            assert found.low <= found.value <= found.high
        assert entry.optimism == entry.inner.value - entry.held_out.value


def test_standings_round_trip_as_json(tournament, tmp_path):
    _, _, end = tournament
    document = json.loads(json.dumps(end.as_json()))
    assert Standings.from_json(document).verdict == end.verdict
    project = ProjectFile.create(tmp_path / "p.aucproj")
    project.keep_standings(end.key, document)
    assert project.read().standings == {end.key: document}
    broken = document | {"entries": [{"method": 3}]}
    with pytest.raises(ValueError, match="method"):
        Standings.from_json(broken)


def test_repaired_project_keeps_the_standings(tournament, tmp_path):
    kept, _, end = tournament
    path, mended = tmp_path / "p.aucproj", tmp_path / "q.aucproj"
    write_project(path, kept.runs, {}, standings={end.key: end.as_json()})
    repair_project(path, mended)
    (found,) = ProjectFile(mended).read().standings.values()
    assert Standings.from_json(found).verdict == end.verdict


def test_standings_that_cannot_be_written_are_reported(table):
    order = SearchRequest(table, Validation(), None, 600.0)
    end = SearchLog(order, MemoryProject("the disk is full"), lambda _news: None).end("stopped")
    assert any("the disk is full" in remark for remark in end.remarks)


def run_until_ready(table, act, entrants=LONG):
    """Run a tournament; call ``act`` when the first entry is ready."""
    kept, stop = MemoryProject(), SearchStop()

    def on_message(messages):
        if isinstance(messages, Standings) and any(one.state == READY for one in messages.entries):
            act(stop)

    order = SearchRequest(table, Validation(seed=1), None, 600.0, entrants=entrants)
    return kept, search_in_background(order, kept, stop, on_message)


@pytest.mark.slow
def test_gentle_stop_tests_the_finished_models(table):
    kept, end = run_until_ready(table, lambda stop: stop.gently.set())
    assert end.ended == "stopped"
    assert end.of_run(end.best).method == "auc-ensemble"
    assert [record.id for record in kept.runs] == [end.best]
    assert not {entry.state for entry in end.entries} & {WAITS, TRAINS}


@pytest.mark.slow
def test_immediate_stop_keeps_the_last_report(table):
    kept, end = run_until_ready(table, lambda stop: stop.at_once.set())
    assert end.ended == "stopped"
    assert "before any model was tested" in end.error
    assert {one.method: one.state for one in end.entries}["logistic"] == READY
    assert {one.method: one.state for one in end.entries}["auc-ensemble"] == LEFT
    assert kept.standings[-1] == end
    assert not kept.runs


def children():
    """Return the tournament processes that this process started."""
    name = "aucstudio.project.tournament"
    return [one for one in psutil.Process().children() if name in " ".join(one.cmdline())]


@pytest.mark.slow
def test_killed_process_keeps_the_finished_entries(table):
    kept, end = run_until_ready(table, lambda _stop: [one.kill() for one in children()])
    assert end.ended == "failed"
    assert "ended unexpectedly (SIGKILL)" in end.error
    assert {one.method: one.state for one in end.entries}["logistic"] == READY
    assert kept.standings[-1] == end


def test_training_rows_of_one_class_are_refused(tmp_path):
    """All positives belong to one group, which is either held out or trained on as a whole."""
    rows = [f"{k},g{k % 8},{'yes' if k % 8 == 0 else 'no'}" for k in range(80)]
    path = write_file(tmp_path / "g.csv", "\n".join(["a,site,label", *rows]) + "\n")
    table = read_table(path, label="label", positive="yes", roles={"site": "group"})
    with pytest.raises(InputError, match="group"):
        draw_held_out(table, Validation())


def test_tournament_uses_the_hold_out_of_the_study():
    own = Validation(test_size=0.4, seed=3)
    assert held_out_once(own) is own
    drawn = held_out_once(Validation(scheme="folds", seed=5))
    assert (drawn.scheme, drawn.splits, drawn.seed) == ("holdout", 1, 5)


def test_interval_of_a_blended_criterion_is_the_mean_of_its_parts():
    rng = np.random.default_rng(0)
    positive = np.arange(200) < 60
    scores = rng.normal(size=200) + positive
    whole, part, blend = (
        CriterionEstimate.of(Criterion(0.0, 0.2, share), positive, scores)
        for share in (0.0, 1.0, 0.5)
    )
    for end in ("low", "value", "high"):
        mean = (getattr(whole, end) + getattr(part, end)) / 2
        assert getattr(blend, end) == pytest.approx(mean)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "positives", "seeds"), [(400, 200, 8), (2000, 20, 12)])
def test_held_out_measures_of_random_labels_centre_on_one_half(tmp_path, rows, positives, seeds):
    """Include the best entry, whose cross-validated measure is optimistic."""
    outer, optimism, claims = [], [], 0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        label = rng.permutation(np.arange(rows) < positives)
        lines = [
            f"{a:.5f},{b:.5f},{c:.5f},{'yes' if k else 'no'}"
            for (a, b, c), k in zip(rng.normal(size=(rows, 3)), label, strict=True)
        ]
        path = write_file(tmp_path / f"{seed}.csv", "\n".join(["a,b,c,label", *lines]) + "\n")
        table = read_table(path, label="label", positive="yes")
        ends = []
        order = SearchRequest(table, Validation(test_size=0.4, seed=seed), entrants=QUICK)
        find_best(order, watch=ends.append)
        end = ends[-1]
        best = end.of_run(end.best)
        outer.append(best.held_out.value)
        optimism.append(best.optimism)
        claims += any(one.behind is not None and one.behind.is_significant for one in end.entries)
    error = np.std(outer, ddof=1) / np.sqrt(seeds)
    assert abs(np.mean(outer) - 0.5) < 3 * error
    assert np.mean(optimism) > -2 * error
    assert claims <= seeds // 4


def test_searches_started_in_the_same_second_are_both_stored(table, tmp_path, monkeypatch):
    monkeypatch.setattr(RunRecord, "now", lambda: "2026-01-01T10:00:00+00:00")
    project, order = (
        ProjectFile.create(tmp_path / "p.aucproj"),
        SearchRequest(table, Validation(), None, 600.0),
    )
    for error in ("one", "other"):
        end = SearchLog(order, MemoryProject(), lambda _news: None).end("failed", error)
        project.keep_standings(end.key, end.as_json())
    kept = project.read().standings
    assert {one["error"] for one in kept.values()} == {"one", "other"}
    assert all(Standings.from_json(one).key == name for name, one in kept.items())


@pytest.mark.slow
def test_time_limit_counts_from_the_first_candidate(table, monkeypatch):
    with monkeypatch.context() as clock:
        clock.setattr("time.time", lambda: 0.0)  # a process that takes years to start
        order = SearchRequest(table, Validation(seed=1), (0.0, 0.3), 600.0, entrants=QUICK)
    end = search_in_background(order, MemoryProject(), SearchStop(), lambda _message: None)
    assert end.ended == "done"
    assert end.spent < 600.0
