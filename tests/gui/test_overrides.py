"""Errors in overridden methods: the program goes on and reports them."""

import subprocess
import sys

PROGRAM = """
import sys, types
from PySide6.QtWidgets import QApplication, QWidget
from aucstudio.gui.common.overrides import catch_errors_of_overrides

class Faulty(QWidget):
    def showEvent(self, event):
        return [][1]

Faulty.__module__ = "pages.faulty"
sys.modules["pages.faulty"] = types.SimpleNamespace(Faulty=Faulty)
catch_errors_of_overrides("pages")
application = QApplication([])
try:
    Faulty().show()
except IndexError as error:
    print("reported:", error)
"""


def test_error_of_c_code_in_an_override_does_not_end_the_program():
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout.split(":")[0]) == (0, "reported"), ended.stderr
