"""Connect to a cluster."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QWidget,
)

from aucstudio.gui.common.layouts import STRETCH, across, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.widgets import (
    FIELD_MARGINS,
    dialog_buttons,
    label,
    named,
    primary,
    push_button,
    set_role,
)
from aucstudio.gui.state.session import Session

_EXAMPLE = "tcp://host:8786"
_ABOUT = (
    "Runs and searches are sent to the workers of a Dask scheduler until you disconnect or "
    "close the window. Anyone who can reach the scheduler can run code on its workers, and "
    "their results are trusted here: use only a scheduler that you control."
)
_AT_WORK = " A run is in progress: stop it or wait for it to finish before you disconnect."


class ClusterDialog(Dialog):
    """Connects to a scheduler, and disconnects from it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("cluster_dialog", "Cluster", parent)
        self.setMinimumWidth(560)
        self._session, self._link = session, session.runs.cluster
        self.words = label("", wrap=True, name="cluster_words")
        self.words.setAccessibleName("Connection status")
        self.words.setMinimumHeight(2 * self.words.fontMetrics().lineSpacing())
        self.buttons = dialog_buttons(QDialogButtonBox.StandardButton.Close, name="cluster")
        self.buttons.rejected.connect(self.reject)
        title, about = label("Work on other machines", "title"), label(_ABOUT, "muted", wrap=True)
        parts = (title, about, self._address_row(), self.words, STRETCH, self.buttons)
        self.setLayout(down(*parts, around=16))
        self._link.changed.connect(self.refresh)
        session.listen(self.refresh, "live")
        self.refresh()

    def _address_row(self) -> QHBoxLayout:
        title = label("&Scheduler")
        self.address = named(QLineEdit(self._link.address), "cluster_address", "Scheduler")
        self.address.setPlaceholderText(_EXAMPLE)
        plain_tooltip(self.address, f"Address of the Dask scheduler, such as {_EXAMPLE}")
        self.address.setTextMargins(*FIELD_MARGINS)
        title.setBuddy(self.address)
        self.toggle = primary(push_button("cluster_toggle", "&Connect", "", self._on_toggle))
        self.toggle.setDefault(True)
        self.address.textChanged.connect(self.refresh)
        return across(title, (self.address, 1), self.toggle)

    def refresh(self) -> None:
        """Show the state of the connection."""
        link = self._link
        engaged = link.connecting or link.workers is not None
        self.address.setReadOnly(engaged)
        text = "Cancel" if link.connecting else "Disconnect" if engaged else "Connect"
        self.toggle.setText(f"&{text}")
        self.toggle.setAccessibleName(text)
        at_work = link.workers is not None and self._session.live is not None
        self.toggle.setEnabled(not at_work and (engaged or bool(self._typed())))
        self.words.setText(link.words + (_AT_WORK if at_work else ""))
        set_role(self.words, "error" if link.trouble and not engaged else "")

    def _typed(self) -> str:
        return self.address.text().strip()

    def _on_toggle(self) -> None:
        if self._link.connecting or self._link.workers is not None:
            self._link.disconnect_from()
        else:
            self._link.connect_to(self._typed())
