"""Background work: answers arrive with their key, and outdated answers are dropped."""

import threading
from typing import ClassVar

from PySide6.QtCore import QObject

from aucstudio.gui.common.view import PageView
from aucstudio.gui.state.background import Background


def test_answer_arrives_with_its_key(qtbot):
    owner, answers = QObject(), []
    work = Background(owner, lambda key, job: answers.append((key, job.result)))
    work.start("quick", lambda _post: 1)
    qtbot.waitUntil(lambda: not work.busy)
    assert answers == [("quick", 1)]
    assert work.key == "quick"  # it need not be requested again


def test_outdated_answer_is_dropped(qtbot):
    owner, answers, gate = QObject(), [], threading.Event()
    work = Background(owner, lambda key, job: answers.append((key, job.result)))
    work.start("slow", lambda _post: gate.wait())
    work.start("next", lambda _post: 2)
    gate.set()
    qtbot.waitUntil(lambda: not work.busy)
    assert answers == [("next", 2)]


def test_cancelled_work_has_no_key(qtbot):
    owner, answers, gate = QObject(), [], threading.Event()
    work = Background(owner, lambda key, job: answers.append(key))
    work.start("slow", lambda _post: gate.wait())
    work.drop()
    gate.set()
    assert work.key is None
    assert not work.busy
    assert answers == []


def test_page_updates_partly_if_visible_and_fully_after_hiding(session, qtbot):
    class Page(PageView):
        listens_to: ClassVar = {**PageView.listens_to, "focus": "show_focus"}
        calls: ClassVar = []

        def show_focus(self):
            self.calls.append("focus")

        def refresh(self):
            self.calls.append("all")

    page = Page(session, "some_view", "Some")
    qtbot.addWidget(page)
    session.point_at(row=3)
    assert page.calls == []
    with qtbot.waitExposed(page):
        page.show()
    session.point_at(row=4)
    assert page.calls == ["all", "focus"]
    page.hide()
    session.point_at(row=5)
    page.show()
    session.notify({"selection"})
    qtbot.waitUntil(lambda: page.calls == ["all", "focus", "all", "all"])
