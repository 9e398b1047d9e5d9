"""Verbs that can be done now and then: enabled with what they do, else with the reason."""

from __future__ import annotations

from PySide6.QtGui import QAction

from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.state.session import Session

_COMBINE = (
    "One run of all checked ones, without training again. Its weights are chosen on held-out rows, "
    "never on the rows that test it"
)


def offer_combination(action: QAction, session: Session) -> None:
    """Enable the verb that combines the checked runs where they can be, else say why not."""
    refusal = session.why_not_combined()
    action.setEnabled(not refusal)
    plain_tooltip(action, f"{refusal[:1].upper()}{refusal[1:]}." if refusal else f"{_COMBINE}.")
