"""The program on an X server with a window manager, moved by a real pointer.

Qt's own test events never leave the process: what a drag, a grab or a window manager does to a
click is seen only here.
"""

import contextlib
import importlib.util
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOOLS = ("Xvfb", "openbox", "xdotool")
PATIENCE = 60.0

pytestmark = pytest.mark.slow


def missing_parts():
    """What a real pointer needs and this machine lacks."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    spec = importlib.util.spec_from_file_location(
        "check_system", ROOT / "packaging" / "check_system.py"
    )
    check_system = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check_system)
    return missing + sorted(check_system.find_missing({"QT_QPA_PLATFORM": "xcb"}))


@contextlib.contextmanager
def started(command, **how):
    """A process that is ended whatever the test does."""
    process = subprocess.Popen(command, **how)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


class Program:
    """The program on a display, its pointer, and what it says of itself."""

    def __init__(self, process, environment):
        self._process, self._environment = process, environment
        self._said = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self):
        for line in self._process.stdout:
            self._said.put(json.loads(line))
        self._said.put(None)

    def wait_for(self, key):
        """The next thing of that kind; a program that ended or says nothing fails the test."""
        try:
            while (said := self._said.get(timeout=PATIENCE)) is not None:
                if key in said:
                    return said
        except queue.Empty:
            raise AssertionError(f"the program said nothing of its {key}") from None
        raise AssertionError("the program ended")

    def tabs(self):
        """Where the tabs are, once they can be seen."""
        while True:
            self._process.stdin.write("where\n")
            self._process.stdin.flush()
            found = self.wait_for("tabs")
            if found["seen"]:
                return found["tabs"]

    def move(self, *arguments):
        subprocess.run(
            ["xdotool", *map(str, arguments)], env=self._environment, check=True, timeout=PATIENCE
        )


@pytest.fixture(scope="module")
def display():
    if missing := missing_parts():
        pytest.skip(f"a real pointer needs {', '.join(missing)}, not installed here")
    server = ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1000x24", "-nolisten", "tcp"]
    with started(server, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as screen:
        number = screen.stdout.readline().strip()
        assert number, "the X server did not start"
        environment = os.environ | {"DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
        environment.pop("WAYLAND_DISPLAY", None)
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with started(["openbox"], env=environment, **silent):
            yield environment


@pytest.fixture
def program(display, table_file, tmp_path):
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = display | {"AUCSTUDIO_HOME": str(tmp_path / "home"), "PYTHONPATH": paths}
    command = [sys.executable, str(HERE / "probed_program.py"), str(table_file)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with started(command, env=environment, **pipes) as process:
        made = Program(process, environment)
        made.wait_for("focus")
        yield made


def test_each_click_on_a_tab_opens_its_page(program):
    tabs = program.tabs()
    names = list(tabs)
    assert len(names) > 5
    for name in [*names[1:], *reversed(names[:-1])]:
        x, y = tabs[name]
        program.move("mousemove", x, y, "click", 1)
        assert program.wait_for("page") == {"page": name}
        # Hover: a hand leaves along the tabs, over the picture and back.
        for dx, dy in ((4, 0), (12, 1), (24, 2), (40, 3), (30, 200), (24, 2)):
            program.move("mousemove", x + dx, y + dy)
