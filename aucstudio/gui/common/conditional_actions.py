"""Actions that are disabled with a reason when they are impossible."""

from __future__ import annotations

from PySide6.QtGui import QAction

from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.state.session import Session

_COMBINE = (
    "Combine the checked runs into one without refitting. Its weights are chosen on held-out "
    "rows, never on the rows that test it"
)


def offer_combination(action: QAction, session: Session) -> None:
    """Enable the verb that combines the checked runs where they can be, else say why not."""
    refusal = session.runs.why_not_combined()
    action.setEnabled(not refusal)
    plain_tooltip(action, f"{refusal[:1].upper()}{refusal[1:]}." if refusal else f"{_COMBINE}.")
