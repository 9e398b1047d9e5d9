"""A window, or a session alone, that is closed whatever the test does; prompts are answered."""

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from aucstudio.gui import prompts
from aucstudio.gui.app import create_window, make_application
from aucstudio.gui.session import Session

PATIENCE = 30_000


class Answers:
    """Stands in for every dialog; remembers what was asked and said."""

    def __init__(self):
        self.open_path = None
        self.save_path = None
        self.text = None
        self.errors = []
        self.texts = []


@pytest.fixture(autouse=True)
def answers(monkeypatch):
    given = Answers()
    monkeypatch.setattr(prompts, "ask_open_path", lambda *_: given.open_path)
    monkeypatch.setattr(prompts, "ask_save_path", lambda *_: given.save_path)
    monkeypatch.setattr(prompts, "ask_text", lambda *_: given.text)
    monkeypatch.setattr(
        prompts, "show_error", lambda _parent, sentence, details="": given.errors.append(sentence)
    )
    monkeypatch.setattr(
        prompts, "show_text", lambda _parent, title, text: given.texts.append((title, text))
    )
    return given


@pytest.fixture
def session(qtbot):
    make_application("light")
    made = Session()
    yield made
    made.close()


@pytest.fixture
def window(qtbot):
    """The real window on the offscreen platform, shown."""
    make_application("light")
    made = create_window()
    made.set_theme("light")
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.close()
    made.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def run_to_end(qtbot):
    """Press Run and wait until nothing is under way."""

    def press(window):
        window.actions_.run.trigger()
        qtbot.waitUntil(lambda: not window.session.busy, timeout=PATIENCE)

    return press
