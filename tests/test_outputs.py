"""Where ``-o`` and ``--save-model`` write, and which files they never overwrite."""

import json
import os
import shutil
import stat
import subprocess
import sys
import threading

import pytest

from aucstudio.cli import main
from tests.conftest import write_file, write_table

PATIENCE = 60.0
HEADER = "row,score,"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A table and a model of it, made once."""
    folder = tmp_path_factory.mktemp("trained")
    table = write_table(folder / "t.csv")
    model = folder / "m.aucmodel"
    assert main(["train", str(table), "--method", "auc-rls", "--save-model", str(model)]) == 0
    return table, model


@pytest.fixture
def files(trained, tmp_path):
    """Copies that a test may change."""
    return [str(shutil.copy(path, tmp_path / path.name)) for path in trained]


def refused(run, *arguments):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("how", ["itself", "symbolic", "hard"])
def test_scores_never_overwrite_input_files(run, files, tmp_path, which, how):
    table, model = files
    name = files[which]
    output = name if how == "itself" else str(tmp_path / "other name")
    if how != "itself":
        {"symbolic": os.symlink, "hard": os.link}[how](name, output)
    with open(name, "rb") as file:
        before = file.read()
    assert "that this command reads" in refused(run, "score", model, table, "-o", output)
    with open(name, "rb") as file:
        assert file.read() == before


def test_export_never_overwrites_its_model(run, files):
    _, model = files
    assert "reads" in refused(run, "export", model, "--to", "json", "-o", model)


@pytest.mark.parametrize("what", ["table", "test file", "project", "standard output"])
def test_saved_model_never_overwrites_files_of_its_run(run, files, tmp_path, what):
    table, _ = files
    other = write_table(tmp_path / "test.csv", seed=3)
    project = tmp_path / "p.aucproj"
    more = {"test file": ["--test-file", other], "project": ["--project", project]}.get(what, [])
    target = {"table": table, "test file": other, "project": project, "standard output": "-"}[what]
    err = refused(run, "train", table, "--method", "auc-rls", "--save-model", target, *more)
    assert ("standard output" if what == "standard output" else "reads") in err
    assert not project.exists()


@pytest.mark.parametrize("command", ["best", "train"])
@pytest.mark.parametrize("where", ["there", "absent/m.aucmodel", "file/m.aucmodel", "loop"])
def test_unwritable_model_path_is_rejected_before_training(run, files, tmp_path, command, where):
    table, _ = files
    (tmp_path / "file").write_text("")
    (tmp_path / "there").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    method = ["--method", "auc-rls"] if command == "train" else []
    project = tmp_path / "p.aucproj"
    how = [*method, "--save-model", tmp_path / where, "--project", project]
    assert "cannot write" in refused(run, command, table, *how)
    assert not project.exists()


def test_hyphen_writes_to_standard_output(run, files, tmp_path, monkeypatch):
    table, model = files
    monkeypatch.chdir(tmp_path)
    plain = run("score", model, table)
    assert plain[1].startswith(HEADER)
    assert run("score", model, table, "-o", "-") == plain
    assert run("score", model, table, "-o", "-", "--json") == run("score", model, table, "--json")
    status, out, err = run("export", model, "--to", "json", "-o", "-")
    assert (status, err) == (0, "")
    assert json.loads(out)
    assert not (tmp_path / "-").exists()


@pytest.mark.slow
def test_exported_script_never_overwrites_its_table(run, files, tmp_path):
    table, model = files
    script = tmp_path / "m.py"
    assert run("export", model, "--to", "script", "-o", script)[0] == 0

    def score(*arguments):
        command = [sys.executable, str(script), table, *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=tmp_path
        )

    done = score("-o", table)
    assert done.returncode == 2
    assert "would replace this table" in done.stderr
    assert "Traceback" not in done.stderr
    assert score("-o", "-").stdout.startswith(HEADER)
    assert not (tmp_path / "-").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes there")
def test_scores_are_written_to_a_named_pipe(run, files, tmp_path):
    table, model = files
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()), daemon=True)
    reader.start()
    assert run("score", model, table, "-o", pipe)[:2] == (0, "")
    reader.join(PATIENCE)
    assert found == [run("score", model, table)[1]]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_full_device_is_one_error_line(run, files):
    table, model = files
    for command in (["score", model, table], ["export", model, "--to", "json"]):
        err = refused(run, *command, "-o", "/dev/full")
        assert "cannot write /dev/full: no space left on device" in err


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no name for the standard output")
def test_dev_stdout_is_written_without_being_replaced(files, tmp_path):
    """Write into a pipe, and after the content of a file that the shell appends to."""
    table, model = files
    command = [sys.executable, "-m", "aucstudio", "score", model, table, "-o", "/dev/stdout"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.startswith(HEADER)
    log = write_file(tmp_path / "log", "before\n")
    with log.open("a") as file:
        subprocess.run(command, stdout=file, check=True, timeout=PATIENCE)
    assert log.read_text() == "before\n" + done.stdout
