"""Work beside the window: its key goes with it and comes back; what was overtaken is not heard."""

import threading
from typing import ClassVar

from PySide6.QtCore import QObject

from aucstudio.gui.common.view import PageView
from aucstudio.gui.state.background import Background


def test_an_answer_comes_with_what_was_asked(qtbot):
    owner, answers = QObject(), []
    work = Background(owner, lambda key, job: answers.append((key, job.result)))
    work.start("quick", lambda _post: 1)
    qtbot.waitUntil(lambda: not work.busy)
    assert answers == [("quick", 1)]
    assert work.key == "quick"  # it need not be asked for again


def test_what_was_overtaken_is_not_heard(qtbot):
    owner, answers, gate = QObject(), [], threading.Event()
    work = Background(owner, lambda key, job: answers.append((key, job.result)))
    work.start("slow", lambda _post: gate.wait())
    work.start("next", lambda _post: 2)
    gate.set()
    qtbot.waitUntil(lambda: not work.busy)
    assert answers == [("next", 2)]


def test_what_is_dropped_has_no_key_any_more(qtbot):
    owner, answers, gate = QObject(), [], threading.Event()
    work = Background(owner, lambda key, job: answers.append(key))
    work.start("slow", lambda _post: gate.wait())
    work.drop()
    gate.set()
    assert work.key is None
    assert not work.busy
    assert answers == []


def test_a_page_updates_a_part_when_visible_and_is_refreshed_as_a_whole_when_hidden(session, qtbot):
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
