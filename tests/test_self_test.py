"""The self-test of an installation, and the child processes of a packaged program."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aucstudio.commands import self_test
from aucstudio.project import child_process

ROOT = Path(__file__).resolve().parent.parent
PARTS = ["files", "read", "train", "tune", "score", "export", "check", "verify", "window"]


@pytest.fixture
def packaged(tmp_path):
    """A program that behaves like a packaged one: ``sys.executable`` is the program itself."""
    program = tmp_path / "aucstudio"
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "sys.frozen, sys.executable = True, __file__\n"
        "from aucstudio.__main__ import main\n"
        "raise SystemExit(main())\n"
    )
    program.chmod(0o755)
    # Its compiled code is of another build and must not be mixed with that of the checkout.
    alone = {"NUMBA_CACHE_DIR": str(tmp_path / "code"), "NUMBA_DISABLE_JIT": "1"}

    def start(*arguments):
        return subprocess.run(
            [program, *arguments],
            env={**os.environ, **alone},
            capture_output=True,
            text=True,
            timeout=240,
        )

    return start


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a script is a program elsewhere only")
def test_packaged_program_passes_its_self_test(packaged):
    done = packaged("--self-test")
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[1].rstrip(":") for line in lines if line.startswith("ok ")] == PARTS
    assert lines[-1] == "passed"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a script is a program elsewhere only")
@pytest.mark.parametrize("arguments", [["-c", "print(1)"], ["-m", "multiprocessing"], ["-I"]])
def test_packaged_program_rejects_interpreter_options(packaged, arguments):
    # A library may try this; opening a window here would start further ones.
    assert packaged(*arguments).returncode == 2


def test_failed_part_is_named(monkeypatch, capsys):
    def broken(_folder):
        raise OSError("no such library")

    monkeypatch.setattr(self_test, "PARTS", {"files": lambda _folder: "there", "read": broken})
    assert self_test.run(argparse.Namespace()) == 1
    _head, *lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["ok", "FAILED"]
    assert "no such library" in lines[1]
    assert "read" in lines[-1]


def test_packaged_program_starts_child_processes_by_option(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "AUC Studio.exe"))
    service = "aucstudio.project.work.processes"
    expected = [child_process.CHILD_OPTION, service, "17"]
    assert child_process.child_command(service, 17) == [sys.executable, *expected]
    # The desktop program has no standard streams; the console program beside it has.
    (tmp_path / "aucstudio.exe").touch()
    assert child_process.child_command(service, 17) == [str(tmp_path / "aucstudio.exe"), *expected]


@pytest.mark.parametrize("service", ["os", "aucstudio_plugin.service"])
def test_only_own_modules_run_as_child_processes(service):
    with pytest.raises(ValueError, match="not a module of this program"):
        child_process.serve([service, "0"])
