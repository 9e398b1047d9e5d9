"""Ctrl+C while the program is still being loaded, with a real process."""

import os
import signal
import subprocess
import sys

import pytest

# The import of the command line, in the midst of which the terminal asks for an end.
PROGRAM = """
import os, runpy, signal, sys

class Asked:
    def find_spec(self, name, path=None, target=None):
        if name == "aucstudio.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Asked())
sys.argv = ["aucstudio", "methods"]
runpy.run_module("aucstudio", run_name="__main__")
"""


@pytest.mark.skipif(os.name == "nt", reason="a signal of POSIX")
def test_ctrl_c_while_the_program_is_loaded_shows_no_trace():
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=False)
    assert ended.returncode == -signal.SIGINT
    assert ended.stderr == b""
