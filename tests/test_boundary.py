"""Every error ends in one sentence, and output survives any terminal or pipe."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys

import pytest

from aucstudio import console
from aucstudio.cli import main
from aucstudio.engine.params import InvalidSetting
from aucstudio.project.errors import InputError
from tests.conftest import write_table

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="of this system's devices")


@pytest.fixture
def raising(monkeypatch, capsys):
    """Run the command line with a command that raises."""

    def call(error, *more):
        def command(_):
            raise error

        monkeypatch.setattr("aucstudio.commands.inspect.run", command)
        status = main(["inspect", "table.csv", *more])
        return status, *capsys.readouterr()

    return call


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (InputError("t.csv has\nno rows"), 2, "aucstudio: t.csv has no rows\n"),
        (InputError("choose a delimiter", setting="delimiter"), 2, "delimiter (--delimiter)\n"),
        (InputError("give --decimal", setting="decimal"), 2, "aucstudio: give --decimal\n"),
        (InputError("C is too small", setting="C"), 2, "aucstudio: C is too small\n"),
        (InvalidSetting("C", "C must be positive"), 2, "aucstudio: C must be positive\n"),
        (MemoryError(), 1, "not enough memory"),
        (PermissionError(13, "Permission denied", "t.csv"), 2, "t.csv: permission denied"),
        (
            ValueError("broadcast"),
            1,
            "unexpected error: ValueError: broadcast; run again with --debug",
        ),
        (KeyError("age"), 1, "unexpected error: KeyError: 'age'"),
        (RecursionError("too deep"), 1, "unexpected error: RecursionError"),
        (OSError("odd"), 1, "unexpected error: OSError"),
        (BrokenPipeError(32, "Broken pipe"), 1, "unexpected error: BrokenPipeError"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_are_reported_in_one_sentence(raising, error, status, words):
    found, out, err = raising(error)
    assert (found, out) == (status, "")
    assert words in err
    assert err.count("\n") == bool(words)
    assert "Traceback" not in err


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_prints_the_traceback(monkeypatch, capsys, place):
    def command(_):
        raise KeyError("age")

    monkeypatch.setattr("aucstudio.commands.methods.run", command)
    words = ["--debug", "methods"] if place == "before" else ["methods", "--debug"]
    assert main(words) == 1
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "unexpected error: KeyError" in err


def test_internal_broken_pipe_is_an_error(raising):
    assert raising(BrokenPipeError(32, "Broken pipe"))[0] == console.RUN_FAILED


def test_quiet_hides_notes_but_not_errors(capsys):
    with console.session(quiet=True):
        console.note("one row is left out")
        console.complain("the file is not there")
        console.progress("run")(0.5, "half")
    assert capsys.readouterr().err == "aucstudio: the file is not there\n"
    with console.session():
        console.note("one row is left out")
    assert "left out" in capsys.readouterr().err


def test_control_characters_in_names_are_escaped(capsys):
    with console.session():
        console.say("column \x1b[2Jage\x07\n\tnext \x9b1m")
        console.complain("\x1b]0;title\x07")
    out, err = capsys.readouterr()
    assert out == "column \\x1b[2Jage\\x07\n\tnext \\x9b1m\n"
    assert err == "aucstudio: \\x1b]0;title\\x07\n"


# ------------------------------------------------------------------ in a process of its own


def start(*words, text=True, **how):
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    environment = os.environ | given.pop("env", {})
    command = [sys.executable, "-m", "aucstudio", *map(str, words)]
    return subprocess.run(command, text=text, env=environment, check=False, timeout=120, **given)


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("words", [["methods", "--json"], ["--help"]])
def test_full_standard_output_is_one_error_line(words):
    with open("/dev/full", "w") as full:
        done = start(*words, stdout=full)
    assert done.returncode == 2
    assert (
        done.stderr == "aucstudio: cannot write to the standard output: no space left on device\n"
    )


@LINUX
@pytest.mark.slow
def test_unwritable_standard_error_is_tolerated():
    with open("/dev/full", "w") as full:
        assert start("methods", "nothing-like-it", stderr=full).returncode == 2


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("words", ["methods --json", "--version"])
def test_closed_output_pipe_is_not_an_error(words):
    command = f"{sys.executable} -m aucstudio {words} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("words", ["methods", "methods --json", "--version", "train --help"])
def test_closed_standard_output_is_an_error(words):
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m aucstudio {words} >&-"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "standard output" in done.stderr
    assert done.stderr.count("\n") == 1


@LINUX
@pytest.mark.slow
def test_command_without_output_runs_with_closed_stdout(tmp_path):
    table, model = write_table(tmp_path / "t.csv"), tmp_path / "m.aucmodel"
    assert main(["train", str(table), "--method", "rls", "--save-model", str(model)]) == 0
    scores = tmp_path / "s.csv"
    words = f"{sys.executable} -m aucstudio score {model} {table} -o {scores} >&- <&-"
    assert subprocess.run(["bash", "-c", words], check=False).returncode == 0
    assert scores.read_text().startswith("row,score")


BIDI = "a\u202eb\u2066c\u200fd\u2028e"


def test_bidirectional_marks_are_escaped(capsys):
    with console.session():
        console.say(f"column {BIDI}")
        console.complain(f"column {BIDI}")
        console.say_json({"name": BIDI})
    out, err = capsys.readouterr()
    assert not set(out + err) & set("\u202e\u2066\u200f\u2028")
    assert "a\\u202eb" in out
    assert json.loads(out.partition("\n")[2])["name"] == BIDI


def test_scores_written_to_a_terminal_are_escaped(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        monkeypatch.setattr(sys, "stdout", stream)
        with console.session():
            sys.stdout.write(f"1,\x1b[31m{BIDI}\n")
    assert "\u202e" not in terminal.getvalue()
    assert "\x1b" not in terminal.getvalue()
    assert pipe.getvalue() == f"1,\x1b[31m{BIDI}\n"


@pytest.mark.slow
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_output_to_an_ascii_terminal_is_ascii(tmp_path, form):
    table = tmp_path / "size.csv"
    rows = "".join(f"{k},{'är €'[k % 2 :: 2]}😀\n" for k in range(40))
    table.write_text("Länge,Öffnung\n" + rows, encoding="utf-8")
    ascii_only = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = start("inspect", table, *form, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    if form:
        assert json.loads(done.stdout)["columns"][0]["name"] == "Länge"
    else:
        assert "L\\xe4nge" in done.stdout


@LINUX
@pytest.mark.slow
def test_undecodable_file_names_are_one_error_line(tmp_path):
    odd = os.fsencode(tmp_path) + b"/na\xefve.aucmodel"
    for words in (["score", "m" * 300, "t.csv"], ["x" * 300], ["inspect", "t" * 300]):
        done = start(*words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    command = [os.fsencode(sys.executable), b"-m", b"aucstudio", b"score", odd, b"t.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "na\\udcefve.aucmodel" in done.stderr


@LINUX
def test_progress_bar_fits_the_terminal(monkeypatch):
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with console.session():
            show = console.progress("auc-svm")
            for fraction in (None, 0.0, 0.25, 0.5, 1.0):
                show(fraction, "split 3 of 10: objective 0.123456, " + "a long word " * 20)
            show(0.75, "again")
            console.complain("done")
        terminal.flush()
        os.set_blocking(ours, False)
        pieces = []
        with contextlib.suppress(BlockingIOError):
            while True:
                pieces.append(os.read(ours, 1 << 16))
        output = b"".join(pieces).decode()
    os.close(ours)
    lines = [re.sub(r"\x1b\[[0-9;]*[A-Z]", "", line) for line in re.split(r"[\r\n]+", output)]
    assert max(map(len, lines)) <= 80
    assert any("25%" in line for line in lines)
    assert "aucstudio: done" in lines
