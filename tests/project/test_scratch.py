"""Temporary folders of a process, removed with it or by the next process."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from aucstudio.project import scratch
from aucstudio.project.errors import InputError

OWNER = """
import sys
from aucstudio.project import scratch
(scratch.make_folder() / "copy.csv").write_text("secret")
print("made", flush=True)
{then}
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Set a temporary folder for this test and its processes, without own folders in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(scratch, "own_folders", {})
    yield folder
    scratch.clear()


def start(then="sys.stdin.read()"):
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(then=then)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "made\n"
    return process


def end(process):
    process.stdin.close()
    process.wait(60)
    process.stdout.close()


def copies(folder):
    return list(folder.rglob("copy.csv"))


def test_process_has_one_folder_that_is_removed_with_it(temporary):
    with scratch.folder() as first, scratch.folder() as second:
        assert first.parent == second.parent
        assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700
        assert f"-{os.getpid()}-" in first.parent.name
    assert not first.exists()
    scratch.clear()
    assert not list(temporary.iterdir())
    # Another one is created when needed.
    assert scratch.make_folder().is_dir()


@pytest.mark.slow
def test_folders_of_ended_processes_are_removed(temporary):
    first, second = start("pass"), start()
    end(first)
    second.send_signal(signal.SIGKILL)
    end(second)
    assert len(copies(temporary)) == 1
    alive = start()
    scratch.sweep()
    assert len(copies(temporary)) == 1
    end(alive)
    assert not list(temporary.iterdir())


def test_foreign_folders_are_not_removed(temporary):
    other = temporary / "aucstudio-notes"
    other.mkdir()
    foreign = temporary / "aucstudio-00000000-1-12345678"  # of another machine
    foreign.mkdir()
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("mine")
    ended = f"aucstudio-{scratch.owner_name()[:8]}-{2**22 + 1}-12345678"
    (temporary / ended).symlink_to(elsewhere)
    scratch.sweep()
    assert (elsewhere / "mine").read_text() == "mine"
    assert other.is_dir()
    assert foreign.is_dir()


def test_forked_process_removes_nothing(temporary, monkeypatch):
    folder = scratch.make_folder()
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        scratch.clear()
    assert folder.is_dir()


def test_removed_folder_is_created_again(temporary):
    scratch.remove(scratch.make_folder().parent)
    assert scratch.make_folder().is_dir()


def test_full_disk_is_a_clear_error(temporary, monkeypatch):
    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    with pytest.raises(InputError, match="temporary folder: no space left on device"):
        scratch.make_folder()
