"""A screen with a window manager, the program on it, and a hand: its pointer and its keys.

Qt's own test events never leave the process: what a drag, a grab or a window manager does to a
click or a key is seen only here. Nothing is slept for: a hand waits until the program says so.
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
COMPLAINTS = "complaints.txt"  # what the program says on standard error
_SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
# A test that is broken off for its time has no chance to end what it started.
_BOUND = ("setpriv", "--pdeathsig", "TERM")


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
    """An X server with a window manager; gives the environment of programs on it."""
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
    """The program on a screen, with its home and its pictures of failures in a folder."""
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
        assert not said, f"the program complained: {said}"


class Hand:
    """A person at the screen: looks, points, types, and waits until something is to be seen.

    Parameters
    ----------
    process : Popen
        Of the probed program.
    environment : dict
    folder : Path
        Where the screen's picture is left when a wait fails.
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
        """What the probe answers; a program that ended or says nothing fails the test."""
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
        """Ask until an answer is as it should be; give it."""
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
        """Wait until the desk says that of itself."""
        return self.wait(f"{key} to be {value!r}", lambda desk: desk.get(key) == value, "desk")

    def settled(self):
        """Wait until nothing is under way and the page shows what there is."""
        return self.until("settled", True)

    def place(self, question, *about):
        """Wait until something can be clicked and stands still; give where."""
        before = []

        def holds(found):
            before.append(found)
            if found is None or not (found["enabled"] and found["reached"]):
                return False
            return len(before) > 1 and before[-2] == found

        return self.wait(f"{question} {about} to be clickable", holds, question, *about)

    def ended(self):
        """Wait until the program has ended by itself; give its status."""
        return self._process.wait(PATIENCE)

    # ------------------------------------------------------------- pointing

    def do(self, *arguments):
        """Have xdotool do something."""
        subprocess.run(
            ["xdotool", *map(str, arguments)], env=self._environment, check=True, timeout=PATIENCE
        )

    def click_at(self, place):
        self.do("mousemove", place["x"], place["y"], "click", 1)

    def click(self, name):
        """Click on a widget."""
        self.click_at(self.place("widget", name))

    def click_tab(self, page):
        """Click on a page's tab, and wait until it is in front and settled."""
        self.wait("the tabs", lambda tabs: tabs[page]["reached"], "tabs")
        self.click_at(self.ask("tabs")[page])
        self.until("page", page)
        self.settled()

    def choose(self, *entries):
        """Choose from the menus, from the menu bar on."""
        for entry in entries:
            self.click_at(self.place("entry", entry))

    def tick(self, view, text):
        """Tick a row of a list."""
        self.click_at(self.place("item", view, text)["box"])
        self.wait(f"{text} to be ticked", lambda row: row["checked"], "item", view, text)

    def drag(self, start, end, steps=8):
        """Press at one place, move, let go at another."""
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
        """Press Tab until a widget has the keyboard."""
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
        """Type into the field that has the keyboard, in place of what it says."""
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
