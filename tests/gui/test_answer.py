"""The answer to one question at a time: kept by its key, dropped when another is asked."""

import threading

import pytest
from PySide6.QtCore import QObject

from aucstudio.gui.state.background import Answer
from aucstudio.project.errors import InputError


@pytest.fixture
def asked(qtbot):
    """An answer that keeps two, with what it showed and what it said."""
    parent = QObject()
    shown, said = [], []
    yield Answer(parent, shown.append, said.append, keep=2), shown, said
    parent.deleteLater()


def test_a_kept_answer_comes_at_once_and_the_oldest_goes_first(asked, qtbot):
    answer, shown, _said = asked
    worked = []

    def ask(key):
        answer.ask(key, lambda _post: worked.append(key) or key)

    for key in ("a", "b", "a", "c", "a"):
        ask(key)
        qtbot.waitUntil(lambda: not answer.busy)
    assert shown == ["a", "b", "a", "c", "a"]
    assert worked == ["a", "b", "c", "a"]


def test_what_is_no_longer_asked_for_is_not_shown(asked, qtbot):
    answer, shown, _said = asked
    gate = threading.Event()
    assert answer.ask("slow", lambda _post: gate.wait(10) and "slow")
    answer.ask("quick", lambda _post: "quick")
    gate.set()
    qtbot.waitUntil(lambda: not answer.busy)
    assert shown == ["quick"]


def test_a_failure_is_said_and_not_tried_again_before_another_question(asked, qtbot):
    answer, shown, said = asked
    tried = []

    def fail(_post):
        tried.append(1)
        raise InputError("the file is gone")

    for _ in range(2):
        answer.ask("lost", fail)
        qtbot.waitUntil(lambda: not answer.busy)
    assert (shown, len(said), len(tried)) == ([], 1, 1)
    assert "the file is gone" in said[0]
    answer.ask("found", lambda _post: 1)
    answer.ask("lost", fail)
    qtbot.waitUntil(lambda: not answer.busy)
    assert len(tried) == 2
