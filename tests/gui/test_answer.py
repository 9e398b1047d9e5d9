"""The answer to one question at a time: cached by its key, dropped when another is asked."""

import contextlib
import threading

import pytest
from PySide6.QtCore import QObject

from aucstudio.gui.state.background import Answer
from aucstudio.project.errors import InputError


@pytest.fixture
def asked(qtbot):
    """An answer that caches two results, with the results it showed and the errors it reported."""
    parent = QObject()
    shown, said = [], []
    yield Answer(parent, shown.append, said.append, keep=2), shown, said
    parent.deleteLater()


def test_cached_answers_are_reused_and_the_oldest_is_evicted(asked, qtbot):
    answer, shown, _said = asked
    worked = []

    def ask(key):
        answer.ask(key, lambda _post: worked.append(key) or key)

    for key in ("a", "b", "a", "c", "a"):
        ask(key)
        qtbot.waitUntil(lambda: not answer.busy)
    assert shown == ["a", "b", "a", "c", "a"]
    assert worked == ["a", "b", "c", "a"]


def test_outdated_answer_is_not_shown(asked, qtbot):
    answer, shown, _said = asked
    gate = threading.Event()
    assert answer.ask("slow", lambda _post: gate.wait(10) and "slow")
    answer.ask("quick", lambda _post: "quick")
    gate.set()
    qtbot.waitUntil(lambda: not answer.busy)
    assert shown == ["quick"]


def test_failure_is_reported_and_not_retried_for_the_same_key(asked, qtbot):
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


def test_result_that_cannot_be_shown_is_a_failure(qtbot):
    parent, said, worked = QObject(), [], []

    def show(result):
        raise ValueError(f"no picture of {result}")

    answer = Answer(parent, show, said.append)
    with qtbot.capture_exceptions() as raised:
        with contextlib.suppress(ValueError):
            answer.ask("odd", lambda _post: worked.append(1) or "odd")
        qtbot.waitUntil(lambda: bool(said))
        answer.ask("odd", lambda _post: worked.append(1) or "odd")  # as a page does on its return
        qtbot.waitUntil(lambda: not answer.busy)
    assert len(raised) <= 1
    assert (len(said), len(worked)) == (1, 1)
    assert "no picture of odd" in said[0]
    parent.deleteLater()
