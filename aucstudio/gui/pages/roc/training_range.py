"""Whether the chosen method trains for the FPR range that is shown."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QAction

from aucstudio.engine import METHODS
from aucstudio.gui.common.curves import band_words
from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.state.plan import RANGE
from aucstudio.gui.state.session import Session


class TrainingRange:
    """Keeps a switch in step with the plan: the same link as the method's form has."""

    def __init__(self, session: Session, action: QAction) -> None:
        self._session, self._action = session, action
        action.triggered.connect(self.set)

    def show(self) -> None:
        """Show whether the chosen method trains for the range shown, if it takes one."""
        plan = self._session.plan
        title, range_ = METHODS[plan.method].title, plan.settings(plan.method).get(RANGE)
        with QSignalBlocker(self._action):
            self._action.setEnabled(range_ is not None)
            self._action.setChecked(plan.is_linked(plan.method))
        if range_ is None:
            words = f"{title} trains for the whole ROC curve"
        elif plan.is_linked(plan.method):
            words = f"{title} trains for the range shown, wherever that is moved"
        else:
            words = f"{title} trains for a range of its own, {band_words(range_)}"
        plain_tooltip(self._action, words)

    def set(self, linked: bool) -> None:
        """Let the chosen method train for the range shown, or for a range of its own."""
        plan = self._session.plan
        words = "Train in the shown range" if linked else "Train for a range of its own"
        self._session.edit(plan.with_link(plan.method, linked), words)
