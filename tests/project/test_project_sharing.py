"""Several programs on one project: creation, concurrent writers, running fits, plans."""

import dataclasses
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.store import files
from aucstudio.project.store.project.project_file import (
    ProjectFile,
    StalePlanError,
    merged_plans,
    open_or_create,
)
from aucstudio.project.store.project.unfinished_runs import Owner
from tests.conftest import write_file

MOST_SECONDS = 60


def started(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


# ------------------------------------------------------------------ creation

KILL_CREATORS = """
    import os, random, signal, sys, time
    from pathlib import Path
    from aucstudio.project.store.project.project_file import ProjectFile
    drawn = random.Random(1)
    for k in range(int(sys.argv[2])):
        folder = Path(sys.argv[1]) / str(k)
        folder.mkdir()
        creator = os.fork()
        if creator == 0:
            for number in range(10_000):
                ProjectFile.create(folder / f"{number}.aucproj")
        # Existing projects must be intact whenever the kill happens; wait longer on a busy machine.
        before, wanted = time.monotonic(), drawn.randrange(3)
        while len(os.listdir(folder)) < wanted:
            time.sleep(0.0005)
        time.sleep(drawn.uniform(0.0, 0.01 + (time.monotonic() - before) / 2))
        os.kill(creator, signal.SIGKILL)
        os.waitpid(creator, 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes as Unix does")
@pytest.mark.parametrize("times", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_creation_leaves_an_intact_project_or_none(tmp_path, times):
    process = started(KILL_CREATORS, tmp_path, times)
    process.communicate(timeout=5 * MOST_SECONDS)
    assert process.returncode == 0
    found = list(tmp_path.glob("*/[0-9]*"))
    assert len(found) > times // 4
    for path in found:
        assert ProjectFile.open(path).runs() == []
    for folder in tmp_path.iterdir():
        ProjectFile.create(folder / "next.aucproj")
    assert not list(tmp_path.glob("*/.*")), "something was left behind"


def test_creation_without_hard_links_is_atomic(tmp_path, monkeypatch):
    def refused(*_arguments, **_options):
        raise OSError("links are not supported")

    monkeypatch.setattr(os, "link", refused)
    path = tmp_path / "made.aucproj"
    assert ProjectFile.create(path).runs() == []
    assert [found.name for found in tmp_path.glob("*aucproj*")] == ["made.aucproj"]
    with pytest.raises(InputError, match="exists already"):
        ProjectFile.create(path)
    assert not list(tmp_path.glob(".*.part"))


def test_created_project_has_the_default_file_mode(tmp_path):
    mode = (write_file(tmp_path / "plain", "")).stat().st_mode
    ProjectFile.create(tmp_path / "p.aucproj")
    assert (tmp_path / "p.aucproj").stat().st_mode == mode


def test_second_of_two_creators_opens_the_project_of_the_first(tmp_path, monkeypatch):
    path = tmp_path / "raced.aucproj"
    create = files.create_file

    def beaten(target, data):
        create(target, data)  # by the other program
        ProjectFile(path).set_plan({"name": "the other's"})
        create(target, data)

    monkeypatch.setattr("aucstudio.project.store.project.project_file.create_file", beaten)
    assert open_or_create(path).plan() == {"name": "the other's"}


def test_project_is_created_at_the_target_of_a_link(tmp_path):
    link, target = tmp_path / "link.aucproj", tmp_path / "target.aucproj"
    link.symlink_to(target.name)
    open_or_create(link).set_plan({"name": "mine"})
    assert link.is_symlink()
    assert ProjectFile.open(target).plan() == open_or_create(link).plan() == {"name": "mine"}


def test_project_in_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot write"):
        ProjectFile.create(tmp_path / "absent" / "p.aucproj")


def test_journal_of_a_deleted_project_blocks_creation(tmp_path):
    path = tmp_path / "p.aucproj"
    journal = tmp_path / "p.aucproj-journal"
    journal.write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(600))
    with pytest.raises(
        InputError, match=r"p\.aucproj-journal remains from a deleted project of this name"
    ):
        ProjectFile.create(path)
    assert not path.exists()


def test_empty_leftover_journal_is_harmless(project):
    journal = project.path.with_name(project.path.name + "-journal")
    journal.write_bytes(bytes(512))
    assert ProjectFile.open(project.path).runs() == []
    project.set_plan({})
    assert not journal.exists()


# ------------------------------------------------------------------ writers at once

WRITE = """
    import dataclasses, sys
    from pathlib import Path
    from aucstudio.project.store.project.project_file import ProjectFile, open_or_create
    (template,) = ProjectFile.open(sys.argv[1]).runs()
    print("ready", flush=True)
    sys.stdin.readline()
    project = open_or_create(sys.argv[2])
    for k in range(int(sys.argv[3])):
        project.add_run(template)
"""


@pytest.mark.slow
def test_four_concurrent_writers_lose_nothing(project, plan, table, tmp_path):
    record = project.add_run(execute(plan(), table))
    shared, each = tmp_path / "shared.aucproj", 5
    writers = [started(WRITE, project.path, shared, each) for _ in range(4)]
    for writer in writers:
        assert writer.stdout.readline().strip() == "ready"
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=MOST_SECONDS)
        assert writer.returncode == 0
    contents = ProjectFile.open(shared).read()
    assert contents.damaged == []
    wanted = {record.id} | {f"{record.id}-{k}" for k in range(2, 4 * each + 1)}
    assert {run.id for run in contents.records} == wanted


def test_free_ids_are_chosen_under_the_lock(project, plan, table, monkeypatch):
    record = execute(plan(), table)
    from aucstudio.project.store.project import project_file

    held = []
    find = project_file.free_id

    def watched(taken, wanted):
        # While an id is chosen, no other process can write.
        other = project_file.connect(project.path, write=True)
        other.execute("PRAGMA busy_timeout = 0")
        try:
            other.execute("BEGIN IMMEDIATE")
        except project_file.sqlite3.OperationalError as error:
            held.append(str(error))
        finally:
            other.close()
        return find(taken, wanted)

    monkeypatch.setattr(project_file, "free_id", watched)
    project.add_run(record)
    assert held == ["database is locked"]


# ------------------------------------------------------------------ running fits


def test_run_of_an_ended_program_is_reported_once(project, plan, ended_owner):
    project.begin_run(plan("auc-svm"))
    ended_owner()
    assert [e.method for e in project.unfinished_runs().lost] == ["auc-svm"]
    assert project.unfinished_runs().lost == []


def test_run_of_this_program_is_not_lost(project, plan, table):
    project.begin_run(plan("auc-svm"))
    unfinished = project.unfinished_runs()
    assert (unfinished.lost, unfinished.elsewhere) == ([], [])
    project.forget_run(plan("auc-svm"))


TRAIN = """
    import sys
    from aucstudio.project.runs.experiment import Experiment
    from aucstudio.project.store.project.project_file import ProjectFile
    project = ProjectFile.open(sys.argv[1])
    (template,) = project.runs()
    project.begin_run(template.experiment)
    print("in progress", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.slow
def test_run_of_another_program_is_reported_and_kept(project, plan, table):
    from aucstudio.gui.state.study_reading import read_project

    record = project.add_run(execute(plan(), table))
    process = started(TRAIN, project.path)
    assert process.stdout.readline().strip() == "in progress"
    for _ in range(2):
        unfinished = project.unfinished_runs()
        assert unfinished.lost == []
        ((experiment, owner),) = unfinished.elsewhere
        assert experiment.id == record.experiment.id
        assert owner.pid == process.pid
        (warning,) = read_project(project.path).warnings
        assert "is being trained by another program" in warning
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=MOST_SECONDS)
    (warning,) = read_project(project.path).warnings
    assert "was running when the program last ended" in warning
    assert read_project(project.path).warnings == []


def test_owner_is_identified_by_more_than_its_process_id():
    owner = Owner.this()
    stranger = Owner(owner.pid, owner.started, owner.host, "another", owner.since)
    assert owner.lives()
    assert stranger.lives()  # the same process, by number and time
    assert not Owner(owner.pid, owner.started - 100, owner.host, "t", owner.since).lives()
    assert not Owner(2**22 + 1, owner.started, owner.host, "t", owner.since).lives()
    elsewhere = "not-" + socket.gethostname()
    assert Owner(1, 0.0, elsewhere, "t", time.time() - 3600).lives()
    assert not Owner(1, 0.0, elsewhere, "t", time.time() - 30 * 86400).lives()
    assert elsewhere in Owner(1, 0.0, elsewhere, "t", time.time()).describe()


# ------------------------------------------------------------------ plans


def test_plan_of_another_program_is_not_overwritten(project):
    one, other = ProjectFile.open(project.path), ProjectFile.open(project.path)
    assert one.plan() == other.plan() == {}
    one.set_plan({"name": "one"})
    with pytest.raises(StalePlanError):
        other.set_plan({"name": "other"})
    assert other.plan() == {"name": "one"}
    other.set_plan({"name": "other"})
    assert ProjectFile.open(project.path).plan() == {"name": "other"}


def test_merged_plan_keeps_the_changes_of_both():
    base = {"band": [0, 0.1], "looks": {"a": {"name": "A"}, "b": {"name": "B"}}, "layout": {}}
    ours = {"band": [0, 0.2], "looks": {"a": {"name": "A"}, "b": {"name": "mine"}}, "layout": {}}
    theirs = {
        "band": [0, 0.1],
        "looks": {"a": {"name": "A", "removed": True}, "b": {"name": "B"}, "c": {"name": "C"}},
    }
    assert merged_plans(base, ours, theirs) == {
        "band": [0, 0.2],
        "looks": {"a": {"name": "A", "removed": True}, "b": {"name": "mine"}, "c": {"name": "C"}},
    }
    assert merged_plans(base, ours, base) == ours
    assert merged_plans(base, base, theirs) == theirs
    assert merged_plans({"x": 1}, {"x": 2}, {"x": 3}) == {"x": 2}
    assert list(merged_plans({}, {"b": 1}, {"a": 1})) == ["a", "b"]


def test_record_with_a_taken_id_gets_a_new_one(project, plan, table):
    record = execute(plan(), table)
    project.add_run(record)
    assert project.add_run(dataclasses.replace(record, id=record.id)).id == f"{record.id}-2"
