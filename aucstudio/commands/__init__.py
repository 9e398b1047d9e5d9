"""The commands of the command line, one module each.

A module defines ``add_options(parser)`` and ``run(options)``, which returns the exit status.
``NEEDS`` and ``EXCLUDES`` list options that need or exclude others. A module is imported only when
its command is used, so its help text is here.
"""

from __future__ import annotations

import argparse
import importlib
from types import ModuleType

# Name and help text, in the order of the help.
COMMANDS = {
    "inspect": "show how a table is imported",
    "train": "train and validate one method on a table",
    "best": "compare methods and settings within a time limit, and find the best model",
    "run": "run an experiment file",
    "compare": "compare the runs of a project, with intervals and tests",
    "combine": "combine finished runs of a project into one, without refitting",
    "verify": "check the runs of a project with independent solvers",
    "score": "apply a saved model to a table",
    "explain": "show how each column contributes to the score of one row",
    "export": "write a saved model for other programs",
    "check": "check a project, a model or an experiment file for damage",
    "methods": "list the methods and their settings, or show those of one",
    "demo": "run an example study, without a window",
}


def command(name: str) -> ModuleType:
    """Return the module of a command."""
    return importlib.import_module(f"{__name__}.{name}")


def run(name: str, options: argparse.Namespace) -> int:
    """Run a command, or a module that runs like one; returns the exit status."""
    status: int = command(name).run(options)
    return status
