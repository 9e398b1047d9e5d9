"""A screen with a window manager, the program on it, and real pointer and key events.

Qt's own test events never leave the process: the effect of a drag, a grab or a window manager on a
click or a key is tested only here. Tests never sleep: they wait for a state of the program.
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
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOOLS = ("Xvfb", "openbox", "xdotool", "setpriv")
PATIENCE = 120.0
MOST_TABS = 80
COMPLAINTS = "complaints.txt"  # standard error of the program
_SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
# A test that times out cannot end the processes it started.
_BOUND = ("setpriv", "--pdeathsig", "TERM")


def missing_parts():
    """Return the programs that a real pointer needs and this machine lacks."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    spec = importlib.util.spec_from_file_location(
        "check_system", ROOT / "packaging" / "check_system.py"
    )
    check_system = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check_system)
    return missing + sorted(check_system.find_missing({"QT_QPA_PLATFORM": "xcb"}))


@contextlib.contextmanager
def started(command, **how):
    """Run a process that always ends with the test."""
    process = subprocess.Popen([*_BOUND, *map(str, command)], **how)
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


@contextlib.contextmanager
def screen(width, height):
    """Start an X server with a window manager; yield the environment for programs on it."""
    if missing := missing_parts():
        pytest.skip(f"a real pointer needs {', '.join(missing)}, not installed here")
    size = f"{width}x{height}x24"
    server = ["Xvfb", "-displayfd", "1", "-screen", "0", size, "-nolisten", "tcp"]
    with started(server, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as shown:
        number = shown.stdout.readline().strip()
        assert number, "the X server did not start"
        environment = os.environ | {"DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
        environment.pop("WAYLAND_DISPLAY", None)
        with started(["openbox"], env=environment, **_SILENT):
            yield environment


@contextlib.contextmanager
def program(environment, folder, *arguments):
    """Start the program on a screen, with its home and failure screenshots in a folder."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = environment | {
        "AUCSTUDIO_HOME": str(folder / "home"),
        "PYTHONPATH": paths,
        "PYTHONFAULTHANDLER": "1",
    }
    command = [sys.executable, HERE / "probed_program.py", *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (folder / COMPLAINTS).open("w+") as complaints:
        with started(command, env=environment, stderr=complaints, **pipes) as process:
            hand = Hand(process, environment, folder)
            hand.until("window", "main_window")
            hand.until("whole", True)
            yield hand
        complaints.seek(0)
        said = complaints.read()
        assert not said, f"the program wrote to standard error: {said}"


class Hand:
    """A user at the screen: looks, points, types, and waits for a state of the program.

    Parameters
    ----------
    process : Popen
        Of the probed program.
    environment : dict
    folder : Path
        Where a screenshot is saved when a wait fails.
    """

    def __init__(self, process, environment, folder):
        self._process, self._environment, self._folder = process, environment, folder
        self._said = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self._process.stdout:
            self._said.put(line)
        self._said.put(None)

    # ------------------------------------------------------------- looking

    def ask(self, question, *about):
        """Return the probe's answer; fail if the program ended or does not answer."""
        try:
            self._process.stdin.write(json.dumps([question, *about]) + "\n")
            self._process.stdin.flush()
            said = self._said.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"no answer to {question} {about}") from None
        except BrokenPipeError:
            said = None
        assert said is not None, (
            f"the program ended with {self.ended()} before it answered {question} {about}: "
            f"{(self._folder / COMPLAINTS).read_text()}"
        )
        return json.loads(said)

    def wait(self, what, holds, question, *about):
        """Ask until an answer satisfies a condition; return it."""
        end = time.monotonic() + PATIENCE
        while not holds(found := self.ask(question, *about)):
            if time.monotonic() > end:
                picture = self._folder / "screen.png"
                self.ask("picture", str(picture))
                raise AssertionError(
                    f"waited for {what}; there was {found}, the desk was {self.ask('desk')}; "
                    f"picture in {picture}"
                )
        return found

    def until(self, key, value):
        """Wait until a value of the window's state is as given."""
        return self.wait(f"{key} to be {value!r}", lambda desk: desk.get(key) == value, "desk")

    def wait_until_idle(self):
        """Wait until no job is running and the page is up to date."""
        return self.until("idle", True)

    def place(self, question, *about):
        """Wait until something can be clicked and has stopped moving; return its place."""
        before = []

        def holds(found):
            before.append(found)
            if found is None or not (found["enabled"] and found["reached"]):
                return False
            return len(before) > 1 and before[-2] == found

        return self.wait(f"{question} {about} to be clickable", holds, question, *about)

    def ended(self):
        """Wait until the program has ended by itself; return its exit status."""
        return self._process.wait(PATIENCE)

    # ------------------------------------------------------------- pointing

    def do(self, *arguments):
        """Run xdotool."""
        subprocess.run(
            ["xdotool", *map(str, arguments)], env=self._environment, check=True, timeout=PATIENCE
        )

    def click_at(self, place):
        self.do("mousemove", place["x"], place["y"], "click", 1)

    def click(self, name):
        """Click on a widget."""
        self.click_at(self.place("widget", name))

    def click_tab(self, page):
        """Click on a page's tab, and wait until it is in front and up to date."""
        self.wait("the tabs", lambda tabs: tabs[page]["reached"], "tabs")
        self.click_at(self.ask("tabs")[page])
        self.until("page", page)
        self.wait_until_idle()

    def choose(self, *entries):
        """Choose from the menus, starting at the menu bar."""
        for entry in entries:
            self.click_at(self.place("entry", entry))

    def tick(self, view, text):
        """Tick a row of a list."""
        self.click_at(self.place("item", view, text)["box"])
        self.wait(f"{text} to be ticked", lambda row: row["checked"], "item", view, text)

    def drag(self, start, end, steps=8):
        """Press at one place, move, and release at another."""
        self.do("mousemove", start["x"], start["y"], "mousedown", 1)
        for k in range(1, steps + 1):
            across, down = (start[a] + (end[a] - start[a]) * k // steps for a in "xy")
            self.do("mousemove", across, down)
        self.do("mouseup", 1)

    # ------------------------------------------------------------- typing

    def press(self, *keys):
        self.do("key", *keys)

    def type(self, text):
        self.do("type", "--delay", 1, text)

    def tab_to(self, name):
        """Press Tab until a widget has the focus."""
        for _ in range(MOST_TABS):
            desk = self.ask("desk")
            if desk["focus"] == name:
                return
            self.press("Tab")
            self.wait(
                f"Tab to leave {desk['focus']}",
                lambda now, before=desk["moves"]: now["moves"] > before,
                "desk",
            )
        raise AssertionError(f"{MOST_TABS} Tabs do not lead to {name}")

    def fill(self, name, text):
        """Replace the text of the focused field."""
        self.until("focus", name)
        self.press("ctrl+a")
        self.type(text)
        self.wait(
            f"{name} to say {text}", lambda field: field and field["text"] == text, "widget", name
        )

    def answer_with_file(self, path):
        """Type a path into the dialog that asks for a file."""
        self.fill("fileNameEdit", str(path))
        self.press("Return")
        self.wait("the file dialog to go", lambda desk: desk.get("focus") != "fileNameEdit", "desk")
