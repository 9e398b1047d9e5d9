"""Writing to a path treats links, modes, pipes and devices like a shell."""

import os
import stat
import subprocess
import sys
import threading

import pytest

from aucstudio.project.errors import InputError
from aucstudio.project.store.files import (
    refuse_own_input,
    replacing,
    write_atomically,
    written_atomically,
)
from tests.conftest import write_file

PATIENCE = 20.0
not_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="no modes and no pipes there")


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "out"
    made.mkdir()
    return made


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def read_in_background(path):
    """Start a reader at the other end of a pipe; return it and the list it fills."""
    found = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
    reader.start()
    return reader, found


def test_link_is_followed_and_kept(folder):
    (folder / "real.csv").write_text("old")
    (folder / "link.csv").symlink_to("real.csv")
    (folder / "link of link.csv").symlink_to(folder / "link.csv")
    write_atomically(folder / "link of link.csv", "new")
    assert (folder / "real.csv").read_text() == "new"
    assert os.readlink(folder / "link.csv") == "real.csv"
    assert names(folder) == ["link of link.csv", "link.csv", "real.csv"]


def test_dangling_link_creates_its_target(folder):
    (folder / "elsewhere").mkdir()
    (folder / "link.csv").symlink_to("elsewhere/new.csv")
    write_atomically(folder / "link.csv", "new")
    assert (folder / "elsewhere" / "new.csv").read_text() == "new"
    assert (folder / "link.csv").is_symlink()


def test_circular_links_are_refused(folder):
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    with pytest.raises(InputError, match="too many levels of symbolic links"):
        write_atomically(folder / "a", "new")


@not_on_windows
@pytest.mark.parametrize("kept", [0o600, 0o640, 0o666, 0o755])
def test_replaced_file_keeps_its_mode(folder, kept):
    path = write_file(folder / "table.csv", "old")
    path.chmod(kept)
    with written_atomically(path) as file:
        (partial,) = folder.glob(".*")
        assert mode(partial) & ~kept == 0
        file.write(b"new")
    assert mode(path) == kept
    assert path.read_text() == "new"


@not_on_windows
def test_new_file_has_the_mode_of_the_umask(folder):
    before = os.umask(0o027)
    try:
        write_atomically(folder / "new.csv", "new")
    finally:
        os.umask(before)
    assert mode(folder / "new.csv") == 0o640


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only root gives files away")
def test_replaced_file_keeps_its_owner(folder):
    path = write_file(folder / "table.csv", "old")
    os.chown(path, 12345, 23456)
    write_atomically(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_read_only_file_is_not_replaced(folder, monkeypatch):
    path = write_file(folder / "table.csv", "old")
    path.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anything
    with pytest.raises(InputError, match="permission denied"):
        write_atomically(path, "new")
    assert path.read_text() == "old"


@not_on_windows
def test_pipe_is_written_directly(folder):
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    (folder / "link").symlink_to(pipe)
    for path in (pipe, folder / "link"):
        reader, found = read_in_background(pipe)
        write_atomically(path, "through")
        reader.join(PATIENCE)
        assert found == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(folder) == ["link", "pipe"]


@not_on_windows
def test_pipe_is_never_replaced(folder):
    os.mkfifo(folder / "pipe")
    with pytest.raises(OSError, match="not a regular file"), replacing(folder / "pipe"):
        raise AssertionError("there is nothing to make")
    assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_full_device_is_reported_and_kept(folder):
    (folder / "full").symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"cannot write .*full: no space left on device"):
        write_atomically(folder / "full", "x" * 100_000)
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no names for open files")
def test_open_file_descriptor_is_appended_to(folder):
    """Behave like the shell for ``-o /dev/fd/3 3>> log``."""
    log = write_file(folder / "log", "before\n")
    with log.open("ab") as file:
        for path in (f"/dev/fd/{file.fileno()}", f"/proc/self/fd/{file.fileno()}"):
            write_atomically(path, "new\n")
        file.write(b"after\n")
    assert log.read_text() == "before\nnew\nnew\nafter\n"
    assert names(folder) == ["log"]


def test_longest_possible_name_is_written(folder):
    path = folder / ("ä" * 100 + "x" * 55)
    write_atomically(path, "new")
    assert path.read_text() == "new"


@pytest.mark.parametrize("error", [ValueError("bad"), KeyboardInterrupt(), OSError(28, "No space")])
def test_failed_write_keeps_the_old_file_and_no_leftovers(folder, error):
    path = write_file(folder / "table.csv", "old")
    expected = InputError if isinstance(error, OSError) else type(error)

    def write():
        with written_atomically(path) as file:
            file.write(b"half of it")
            raise error

    with pytest.raises(expected):
        write()
    assert path.read_text() == "old"
    assert names(folder) == ["table.csv"]


def test_writing_to_a_folder_is_refused(folder):
    with pytest.raises(InputError, match="is a directory"):
        write_atomically(folder, "new")


def test_output_to_the_own_input_is_refused_by_any_name(folder, monkeypatch):
    read = write_file(folder / "table.csv", "cells")
    (folder / "link.csv").symlink_to(read)
    os.link(read, folder / "hard.csv")
    monkeypatch.chdir(folder)
    for name in (read, "table.csv", "./table.csv", "link.csv", "hard.csv", "../out/table.csv"):
        with pytest.raises(InputError, match="that this command reads"):
            refuse_own_input(name, "model", read)
    refuse_own_input("other.csv", "model", read)
    refuse_own_input(None, read)
    refuse_own_input("-", read)
    # A project that does not exist yet is compared by name.
    with pytest.raises(InputError, match="that this command reads"):
        refuse_own_input("new.aucproj", None, folder / "new.aucproj")


def test_output_to_the_own_input_in_other_case_is_refused(folder):
    read = write_file(folder / "table.csv", "cells")
    if not (folder / "TABLE.CSV").exists():
        pytest.skip("this file system tells upper from lower case")
    with pytest.raises(InputError, match="that this command reads"):
        refuse_own_input(folder / "TABLE.CSV", read)


KILLED = """
import os, sys
from pathlib import Path
from aucstudio.project.store.files import written_atomically
with written_atomically(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    {then}
"""


def start_writer(path, then):
    return subprocess.Popen(
        [sys.executable, "-c", KILLED.format(then=then), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


@not_on_windows
def test_partial_files_of_killed_processes_are_removed(folder):
    wait = "os.write(1, b'x'); sys.stdin.read()"
    killed, alive = (start_writer(folder / name, wait) for name in ("one.csv", "two.csv"))
    for process in (killed, alive):
        assert process.stdout.read(1) == b"x"
    killed.kill()
    killed.wait(PATIENCE)
    assert len(names(folder)) == 2
    foreign = [".one.csv.123456789abc.part", ".one.csv.00000000-1-12345678.part", "one.csv.part"]
    for name in foreign:
        (folder / name).write_text("somebody else's")
    write_atomically(folder / "three.csv", "new")
    left = set(names(folder)) - {*foreign, "three.csv"}
    # The file of the process still writing, and all foreign files, remain.
    assert [name.startswith(".two.csv.") for name in left] == [True]
    assert {*foreign} <= set(names(folder))
    alive.communicate(timeout=PATIENCE)
    assert set(names(folder)) == {*foreign, "two.csv", "three.csv"}
    assert (folder / "two.csv").read_text() == "half"
    for process in (killed, alive):
        for pipe in (process.stdin, process.stdout):
            pipe.close()
