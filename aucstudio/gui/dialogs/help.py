"""Help pages: the story from ``resources/help``, the tables of settings from the declarations."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from aucstudio import __version__
from aucstudio.engine import METHODS
from aucstudio.engine.catalogue import AIMS, FAMILIES, shape_words
from aucstudio.engine.params import Param, declared_params
from aucstudio.gui.common.widgets import dialog_buttons, named
from aucstudio.gui.dialogs.help_finder import HelpFinder
from aucstudio.project.resources import resource_path
from aucstudio.project.words import range_words

TITLES = {
    "manual": "Manual",
    "methods": "Methods and settings",
    "whatsnew": "What is new",
    "about": "About AUC Studio",
}


_CLOSE = QDialogButtonBox.StandardButton.Close
_SIZE, _SMALL = (760, 640), (560, 320)


def help_page(name: str) -> str:
    """Give a help page as Markdown."""
    if name == "methods":
        return "\n\n".join(_method_page(key) for key in METHODS)
    text = resource_path("help", f"{name}.md").read_text(encoding="utf-8")
    return text.replace("{version}", __version__)


def _method_page(key: str) -> str:
    method = METHODS[key]
    rows = [_setting_row(declared) for declared in declared_params(method).values()]
    head = ["| Setting | Symbol | Values | Default | |", "|---|---|---|---|---|"]
    text = [
        f"## {method.title}",
        f"**{method.in_words}.** {method.summary}",
        f"Trains for {AIMS[method.trains_for]}; {shape_words(method)}. {method.use_when}",
        method.weights_words(),
        f"*{FAMILIES[method.family]}; {method.source}*",
    ]
    return "\n\n".join([*text, "\n".join([*head, *rows])])


def _setting_row(declared: Param) -> str:
    default = declared.none if declared.default is None else declared.spell(declared.default)
    if declared.kind == "range" and declared.default is not None:
        default = range_words(declared.default)
    cells = [declared.label, declared.symbol, declared.allowed(), default, declared.help]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


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
