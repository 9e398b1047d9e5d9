"""The FPR range as the interval that the chosen method trains for."""

from __future__ import annotations

import dataclasses

import numpy as np
from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QAction

from aucstudio.engine import METHODS
from aucstudio.engine.params import declared_params
from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.state.session import Session

NAME = "fpr_range"


class TrainingRange:
    """Keeps a switch in step with the plan: on where the method trains in the range shown."""

    def __init__(self, session: Session, action: QAction) -> None:
        self._session, self._action = session, action
        action.triggered.connect(self.set)

    def show(self) -> None:
        """Show whether the chosen method trains in the range shown, if it takes one."""
        plan = self._session.plan
        method = METHODS[plan.method]
        declared = declared_params(method).get(NAME)
        with QSignalBlocker(self._action):
            self._action.setEnabled(declared is not None)
            if declared is None:
                self._action.setChecked(False)
                plain_tooltip(self._action, f"{method.title} trains for the whole ROC curve")
                return
            range_ = plan.params.get(plan.method, {}).get(NAME, declared.default)
            self._action.setChecked(bool(np.allclose(range_, plan.band, rtol=0, atol=1e-9)))
            plain_tooltip(
                self._action,
                f"Sets the FPR range of {method.title}, now {range_[0]:g} … {range_[1]:g}, "
                "to the range shown here",
            )

    def set(self) -> None:
        """Let the chosen method train in the range shown."""
        plan = self._session.plan
        settings = {**plan.params.get(plan.method, {}), NAME: plan.band}
        if declared_params(METHODS[plan.method])[NAME].default == plan.band:
            del settings[NAME]
        params = {**plan.params, plan.method: settings}
        self._session.edit(dataclasses.replace(plan, params=params), "Train in the shown range")
        self.show()
