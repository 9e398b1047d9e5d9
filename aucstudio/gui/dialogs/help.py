"""The window that shows pages of the user guide."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from aucstudio.gui.common.widgets import dialog_buttons, named
from aucstudio.gui.dialogs.help_finder import HelpFinder
from aucstudio.project import guide

TITLES = {
    "manual": "User guide",
    "methods": "Methods and settings",
    "whatsnew": "What is new",
    "about": "About AUC Studio",
}


_CLOSE = QDialogButtonBox.StandardButton.Close
_SIZE, _SMALL = (760, 640), (560, 320)


def help_page(name: str) -> str:
    """Return a help page as Markdown."""
    return guide.page(name)


class HelpDialog(QDialog):
    """Shows one page."""

    def __init__(self, parent: QWidget, name: str) -> None:
        super().__init__(parent)
        self.setObjectName("help_dialog")
        self.setWindowTitle(TITLES[name])
        self.resize(*(_SMALL if name == "about" else _SIZE))
        self.browser = named(QTextBrowser(), "help_text", TITLES[name])
        self.browser.setOpenExternalLinks(True)
        self.browser.document().setDocumentMargin(16)
        self.browser.setMarkdown(help_page(name))
        buttons = dialog_buttons(_CLOSE, name="help")
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        if name != "about":
            self.finder = HelpFinder(self.browser)
            layout.addWidget(self.finder)
            # Enter goes to the next place found; Esc closes.
            buttons.button(_CLOSE).setAutoDefault(False)
        layout.addWidget(self.browser)
        layout.addWidget(buttons)
        self.browser.setFocus()


def show_help(parent: QWidget, name: str) -> None:
    """Open a help page beside the window."""
    dialog = HelpDialog(parent, name)
    dialog.finished.connect(dialog.deleteLater)
    dialog.show()
